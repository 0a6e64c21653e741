#!/usr/bin/env python3
"""Instructions from public entry to return, by callgrind: 64 sessions in random order, addresses set at run time.

`all` is a whole call with a message of so many octets; `rest` is what is left without touching the payload: the intercept of
the line through 0, 512 and 1400 octets. Instructions are the same from run to run.

`thin layers`: one stack with a layer and without, two hosts, 256 messages of 64 octets one after the other, 10 ms apart; the
difference is the layer's. `deliver` is all that the frames of a message cost at both hosts, acknowledgements included; `timers` what
runs between messages. `tcp`: two instances of one host joined by their frames, 64 sessions in random order (`benches/tcp.c`); `round trip` is all calls
of both ends for a question and an answer, `bulk` all calls of both ends for a full segment, `rate` octets a second of bulk in memory beside the
kernel's own loopback, in turns. `compile`: CPU time of `mokume build` over every stack of the library's tests, front end to C.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
MOKUME = pathlib.Path(os.environ.get("MOKUME", ROOT / "target/release/mokume"))
WORK = ROOT / "target" / "bench"
CALLS = 64 * 64
SIZES = [0, 512, 1400]
# gcc's vectoriser of straight-line code joins a changing counter and a constant into one store, which then stalls.
FLAGS = ["-std=c11", "-O3", "-march=x86-64-v3", "-fno-tree-slp-vectorize", "-g"]
ROWS = [
    ("udp out", ROOT / "examples/host.mok", "Host", "udp.c", ["out"], "Host_udp_send"),
    ("udp in", ROOT / "examples/host.mok", "Host", "udp.c", ["in"], "Host_device_frame"),
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


def stop(message):
    print(f"bench: {message}", file=sys.stderr)
    sys.exit(2)


def build(source, stack, driver):
    folder = WORK / stack
    folder.mkdir(parents=True, exist_ok=True)
    made = subprocess.run([MOKUME, "build", source, "--stack", stack, "--emit", "c", "-o", folder], capture_output=True, text=True)
    if made.returncode:
        stop(f"mokume build {source}: {made.stderr.strip()}")
    program = folder / pathlib.Path(driver).stem
    cc = os.environ.get("CC", "cc")
    # The stack and the runtime are one unit of translation, as a user would embed them; the caller is another.
    (folder / "unit.c").write_text(f'#include "mokume.c"\n#include "{stack}.c"\n')
    command = [cc, *FLAGS, "-I", folder, "-I", HERE, HERE / driver, folder / "unit.c", "-o", program]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        stop(f"{cc}: {made.stderr.strip()[:400]}")
    return program


def instructions(program, arguments, size, entry, calls=CALLS):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--toggle-collect={entry}",
               program, *arguments, str(size)]
    done = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        stop(f"{program.name}: {done.stderr.strip()[-400:]}")
    return int(found.group(1)) / calls


def counted(program, what, size):
    """Instructions of what `tcp.c` counts, and how often it did it."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=counted", program, what, str(size)]
    done = subprocess.run(command, capture_output=True, text=True)
    found, calls = re.search(r"Collected : (\d+)", done.stderr), re.search(r"calls (\d+)", done.stdout)
    if done.returncode or not found or not calls:
        stop(f"{program.name} {what}: {done.stderr.strip()[-400:]}")
    return int(found.group(1)) / int(calls.group(1))


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


def intercept(points):
    n = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    return mean_y - slope * mean_x


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
        program = build(source, stack, driver)
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
        points = [(size, counted(program, what, size)) for size in sizes]
        rest = intercept(points) if len(points) > 1 else points[0][1]
        if form == "json":
            for size, count in points:
                print(json.dumps({"table": "tcp", "row": row, "unit": "instructions", "bytes": size, "part": "all", "mokume": round(count, 1)}))
            print(json.dumps({"table": "tcp", "row": row, "unit": "instructions", "bytes": 0, "part": "rest", "mokume": round(rest, 1)}))
        else:
            shown = [f"{count:>10.0f}" for _, count in points] if len(points) > 1 else ["", f"{points[0][1]:>10.0f}", ""]
            print(f"{row:<16} " + " ".join(f"{part:>10}" for part in shown) + f" {rest:>10.0f}")
    bulk = counted(program, "bulk", BULK_MEBIBYTES)
    rates = [(float(subprocess.run([program, "time", str(RATE_MEBIBYTES)], capture_output=True, text=True, check=True).stdout),
              loopback(RATE_MEBIBYTES)) for _ in range(TURNS)]
    ours, kernel = (statistics.median(turn[way] for turn in rates) for way in [0, 1])
    if form == "json":
        print(json.dumps({"table": "tcp", "row": "tcp bulk", "unit": "instructions", "bytes": 1448, "part": "all", "mokume": round(bulk, 1)}))
        print(json.dumps({"table": "tcp", "row": "tcp bulk", "unit": "octets a second", "mokume": round(ours), "loopback": round(kernel)}))
    else:
        print(f"{'tcp bulk':<16} {bulk:.0f} instructions a segment of 1448 octets; in memory {ours / 1e6:.0f} MB/s, "
              f"the kernel's loopback {kernel / 1e6:.0f} MB/s (medians of {TURNS}, in turns)")


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
    parser.add_argument("--table", choices=["all", "calls", "tcp", "thin", "compile"], default="all")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        stop("valgrind is needed: `apt install valgrind`")
    if not MOKUME.exists():
        stop("target/release/mokume is not built: `cargo build --release`")
    for table, show in [("calls", calls), ("tcp", tcp), ("thin", layers), ("compile", compiling)]:
        if options.table in ("all", table):
            show(options.format)


main()
