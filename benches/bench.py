#!/usr/bin/env python3
"""Instructions from public entry to return, by callgrind: 64 sessions in random order, addresses set at run time.

`all` is a whole call with a message of so many octets, what the program does with what leaves included, except where calls return it (`returned`); `rest` is what is left without touching the payload: the intercept of
the line through 0, 512 and 1400 octets. Instructions are the same from run to run.

`thin layers`: one stack with a layer and without, two hosts, 256 messages of 64 octets one after the other, 10 ms apart; the
difference is the layer's. `deliver` is all that the frames of a message cost at both hosts, acknowledgements included; `timers` what
runs between messages. `tcp`: two instances of one host joined by their frames, 64 sessions in random order (`benches/tcp.c`); `round trip` is all calls
of both ends for a question and an answer, `bulk` all calls of both ends for a full segment, `rate` octets a second of bulk in memory beside the
kernel's own loopback, in turns. `stacks`: 4 and 10 thin layers, 4 octets, and Promela++'s sliding window, 16 octets, the common path (`stacks/`). `workloads`: seeded runs with lost, damaged and padded frames, answers from
callbacks, openings and closings (`udp_workload.c`, `tcp_workload.c`): instructions of each entry, calls from within its callbacks among it, and a digest of all that came out. `peers`: `beside.py`; `groups`: `groups.py`; `passes`: `passes.py`;
`editor`: `editor.py`.
`compile`: CPU time of `mokume build` over every stack of the library's tests, front end to C.
"""

import argparse
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import time

import beside
import editor
import groups
import method
import passes
from method import HERE, MOKUME, ROOT, WORK, build, collected, counted, intercept, run, stop

CALLS = 64 * 64
SIZES = [0, 512, 1400]
ROWS = [
    ("udp out", ROOT / "examples/host.mok", "Host", "udp.c", ["out"], "Host_udp_send"),
    ("udp out in parts", ROOT / "examples/host.mok", "Host", "udp.c", ["parts"], "Host_udp_send"),
    ("udp out returned", ROOT / "examples/host.mok", "Host", "udp.c", ["out"], "Host_udp_send_returned"),
    ("udp out batched", ROOT / "examples/host.mok", "Host", "udp.c", ["out"], "Host_udp_send_batch"),
    ("udp in", ROOT / "examples/host.mok", "Host", "udp.c", ["in"], "Host_device_frame"),
    ("udp in returned", ROOT / "examples/host.mok", "Host", "udp.c", ["in"], "Host_device_frame_returned"),
    ("udp in batched", ROOT / "examples/host.mok", "Host", "udp.c", ["in"], "Host_device_frame_batch"),
    ("udp6 out", HERE / "udp6.mok", "Host6", "udp6.c", ["out"], "Host6_udp6_send"),
    ("udp6 in", HERE / "udp6.mok", "Host6", "udp6.c", ["in"], "Host6_device_frame"),
    ("sequencer send", HERE / "sequencer.mok", "Numbered", "sequencer.c", [], "Numbered_users_send"),
]

# The name, what `tcp.c` is told, octets.
TCP = [("tcp data out", "data-out", [1, 512, 1400]), ("tcp data in", "data-in", [1, 512, 1400]), ("tcp ack out", "ack-out", [512]),
       ("tcp ack in", "ack-in", [512]), ("tcp round trip", "trip", [1, 512, 1400])]
BULK_MEBIBYTES, RATE_MEBIBYTES, TURNS = 4, 256, 5

THIN = ["Trace", "Sequencer", "Checksum16", "Crc32", "Length", "Framing", "Priority", "TokenBucket", "Heartbeat", "Batch", "Repeat",
        "Compress(4)", "Fragment", "StopAndWait", "GoBackN", "CreditMessages", "CreditOctets"]
PARTS = [("send", "Thin_users_send"), ("deliver", "Thin_device_frame"), ("timers", "Thin_advance")]
MESSAGES, OCTETS = 256, 64

# The row, its stack, its program, its entries.
WORKLOADS = [("udp workload", ROOT / "examples/host.mok", "udp_workload.c", ["send", "frame", "advance", "open", "close"]),
             ("tcp workload", HERE / "tcp.mok", "tcp_workload.c", ["send", "frame", "advance", "open", "close", "grant"])]
SEED = 1

# The row, its stack, what stands in place of the generated C, how that is made where `--fuse` does not say it.
STACKS = [("sliding by queue", "Sliding", None, ["--uncomposed"]), ("sliding by calls", "Sliding", None, ["--fuse=0"]), ("sliding", "Sliding", None, None),
          ("sliding by hand", "Sliding", "stacks/sliding_by_hand.c", None), ("four", "Four", None, None), ("ten", "Ten", None, None),
          ("four returned", "Four", None, ["--fuse=2", "--returned"]), ("ten returned", "Ten", None, ["--fuse=2", "--returned"]),
          ("ten by hand", "Ten", "stacks/ten_by_hand.c", None)]


def instructions(program, arguments, size, entry, calls=CALLS):
    return collected([entry], [program, *arguments, str(size)], program.name)[0] / calls


def loopback(mebibytes):
    """Octets a second between two sockets of the kernel's on loopback."""
    block, total = bytes(1 << 18), mebibytes << 20
    server = socket.create_server(("127.0.0.1", 0))
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        with socket.create_connection(server.getsockname()) as plug:
            for _ in range(total // len(block)):
                plug.sendall(block)
        os._exit(0)
    plug, _ = server.accept()
    room, heard = bytearray(1 << 18), 0
    while part := plug.recv_into(room):
        heard += part
    took = time.monotonic() - began
    os.waitpid(child, 0)
    return heard / took


def thin(layer):
    """Instructions a message in a stack with this layer, or with none."""
    below = f"    layer = {layer} over device\n" if layer else ""
    source = WORK / "thin.mok"
    WORK.mkdir(parents=True, exist_ok=True)
    over = "layer" if layer else "device"
    source.write_text(f"use thin\n\nstack Thin(device: Device) {{\n{below}    users = Fcfs over {over}\n    export users\n}}\n")
    program = build(source, "Thin", "thin.c")
    return [instructions(program, [], OCTETS, entry, MESSAGES) for _, entry in PARTS]


def compile_time():
    """Seconds of CPU, and how many stacks."""
    stacks = [(file, name) for file in sorted((ROOT / "tests/library").glob("*.mok"))
              for name in re.findall(r"^stack (\w+)", file.read_text(), re.M)]
    before = os.times()
    for file, name in stacks:
        made = subprocess.run([MOKUME, "build", file, "--stack", name, "--emit", "c", "-o", WORK / "library"], capture_output=True, text=True)
        if made.returncode:
            stop(f"mokume build {file}: {made.stderr.strip()}")
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system, len(stacks)


def calls(form):
    if form == "text":
        print(f"{'row':<16} {'0 octets':>10} {'512':>10} {'1400':>10} {'rest':>10}   instructions a call")
    for row, source, stack, driver, arguments, entry in ROWS:
        entries = {"returned": "--returned", "batch": "--batched"}.get(entry.rsplit("_", 1)[1])
        way = ["--fuse", method.FUSE, entries] if entries else None
        program = build(source, stack, driver, way=way)
        points = [(size, instructions(program, arguments, size, entry)) for size in SIZES]
        rest = intercept(points)
        if form == "json":
            for size, count in points:
                print(json.dumps({"table": "calls", "row": row, "unit": "instructions", "bytes": size, "part": "all", "mokume": round(count, 1)}))
            print(json.dumps({"table": "calls", "row": row, "unit": "instructions", "bytes": 0, "part": "rest", "mokume": round(rest, 1)}))
        else:
            print(f"{row:<16} " + " ".join(f"{count:>10.0f}" for _, count in points) + f" {rest:>10.0f}")


def tcp(form):
    program = build(HERE / "tcp.mok", "Host", "tcp.c")
    if form == "text":
        print(f"\n{'row':<16} " + " ".join(f"{size:>10}" for size in [1, 512, 1400]) + f" {'rest':>10}   instructions, by octets")
    for row, what, sizes in TCP:
        points = [(size, counted([program, what, str(size)], f"tcp {what}")) for size in sizes]
        rest = intercept(points) if len(points) > 1 else points[0][1]
        if form == "json":
            for size, count in points:
                print(json.dumps({"table": "tcp", "row": row, "unit": "instructions", "bytes": size, "part": "all", "mokume": round(count, 1)}))
            print(json.dumps({"table": "tcp", "row": row, "unit": "instructions", "bytes": 0, "part": "rest", "mokume": round(rest, 1)}))
        else:
            shown = [f"{count:>10.0f}" for _, count in points] if len(points) > 1 else ["", f"{points[0][1]:>10.0f}", ""]
            print(f"{row:<16} " + " ".join(f"{part:>10}" for part in shown) + f" {rest:>10.0f}")
    bulk = counted([program, "bulk", str(BULK_MEBIBYTES)], "tcp bulk")
    rates = [(float(subprocess.run([program, "time", str(RATE_MEBIBYTES)], capture_output=True, text=True, check=True).stdout),
              loopback(RATE_MEBIBYTES)) for _ in range(TURNS)]
    ours, kernel = (statistics.median(turn[way] for turn in rates) for way in [0, 1])
    if form == "json":
        print(json.dumps({"table": "tcp", "row": "tcp bulk", "unit": "instructions", "bytes": 1448, "part": "all", "mokume": round(bulk, 1)}))
        print(json.dumps({"table": "tcp", "row": "tcp bulk", "unit": "octets a second", "mokume": round(ours), "loopback": round(kernel)}))
    else:
        print(f"{'tcp bulk':<16} {bulk:.0f} instructions a segment of 1448 octets; in memory {ours / 1e6:.0f} MB/s, "
              f"the kernel's loopback {kernel / 1e6:.0f} MB/s (medians of {TURNS}, in turns)")


def workloads(form):
    if form == "text":
        print(f"\n{'workload':<16} {'calls':>10} {'a call':>10}   instructions, by entry; what came out by its digest")
    for row, source, driver, entries in WORKLOADS:
        program = build(source, "Host", driver)
        for entry in entries:
            collect, said = collected(["counted", "aside"], [program, str(SEED), entry], row)
            called, digest = int(re.search(r"^calls (\d+)", said, re.M).group(1)), re.search(r"^digest (\w+)", said, re.M).group(1)
            if form == "json":
                print(json.dumps({"table": "workloads", "row": row, "unit": "instructions", "part": entry, "calls": called,
                                  "mokume": round(collect / called, 1), "digest": digest}))
            else:
                print(f"{row + ' ' + entry:<20} {called:>6} {collect / called:>10.0f}   {digest}")


def stacks(form):
    if form == "text":
        print(f"\n{'thin stack':<16} {'send':>10} {'deliver':>10} {'timers':>10} {'ns':>10}   instructions a call with 4 octets (sliding: 16); time of a message at both ends; the workload's digest")
    programs = {row: build(HERE / f"stacks/{stack.lower()}.mok", stack, f"stacks/{stack.lower()}.c", unit, way) for row, stack, unit, way in STACKS}
    turns = [{row: float(run([program, "time", "none"], row)) for row, program in programs.items()} for _ in range(TURNS)]
    digests = {}
    for row, stack, *_ in STACKS:
        program, octets = programs[row], 16 if stack == "Sliding" else 4
        counts = [counted([program, "path", entry], row, ["counted", "aside", "keep_aside"]) for entry in ["send", "frame", "advance"]]
        took = statistics.median(turn[row] for turn in turns)
        digest = re.search(r"^digest (\w+)", run([program, str(SEED), "none"], row), re.M).group(1)
        if digests.setdefault(stack, digest) != digest:
            stop(f"{row} does not do what the stack does")
        if form == "json":
            for name, count in zip(["send", "deliver", "timers"], counts):
                print(json.dumps({"table": "stacks", "row": row, "unit": "instructions", "bytes": octets, "part": name, "mokume": round(count, 1), "digest": digest}))
            print(json.dumps({"table": "stacks", "row": row, "unit": "ns a message", "bytes": octets, "part": "all", "mokume": round(took, 2), "digest": digest}))
        else:
            print(f"{row:<16} " + " ".join(f"{count:>10.0f}" for count in counts) + f" {took:>10.1f}   {digest}")


def layers(form):
    base = thin(None)
    if form == "text":
        print(f"\n{'thin layer':<16} " + " ".join(f"{name:>10}" for name, _ in PARTS) + f"   instructions a message of {OCTETS} octets, more than without")
        print(f"{'(without)':<16} " + " ".join(f"{count:>10.0f}" for count in base))
    for layer in THIN:
        more = [count - least for count, least in zip(thin(layer), base)]
        if form == "json":
            for (name, _), count in zip(PARTS, more):
                print(json.dumps({"table": "thin layers", "row": layer, "unit": "instructions", "bytes": OCTETS, "part": name, "mokume": round(count, 1)}))
        else:
            print(f"{layer:<16} " + " ".join(f"{count:>10.0f}" for count in more))


def compiling(form):
    seconds, stacks = compile_time()
    if form == "json":
        print(json.dumps({"table": "compile", "row": "library", "unit": "seconds of CPU", "stacks": stacks, "mokume": round(seconds, 2)}))
    else:
        print(f"\ncompile: {stacks} stacks of the library, front end to C: {seconds:.2f} s of CPU")


def main():
    parser = argparse.ArgumentParser(description="What a call costs, in instructions.")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("--fuse", choices=["0", "1", "2"], default="2", help="as `mokume build` has it")
    parser.add_argument("--table", choices=["all", "calls", "tcp", "thin", "stacks", "workloads", "compile", "peers", "groups", "passes", "editor"], default="all")
    parser.add_argument("--only-read", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only_read:
        return
    method.FUSE = options.fuse
    if not shutil.which("valgrind"):
        stop("valgrind is needed: `apt install valgrind`")
    if not MOKUME.exists():
        stop("target/release/mokume is not built: `cargo build --release`")
    for table, show in [("calls", calls), ("tcp", tcp), ("thin", layers), ("stacks", stacks), ("workloads", workloads), ("compile", compiling), ("peers", beside.peers), ("groups", groups.groups), ("passes", passes.passes), ("editor", editor.editor)]:
        if options.table in ("all", table):
            show(options.format)


main()
