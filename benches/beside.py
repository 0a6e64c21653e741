"""Our stacks beside lwIP and smoltcp, each by one program (`peers/harness.c`) and one interface (`peers/peer.h`).

lwIP 2.1.3 comes as Debian's source package (`peers/fetch`), smoltcp 0.14 as the crate that `peers/Cargo.lock` pins; who has neither gets one line and our rows alone.
A stack's row counts only after its smoke run: payloads arrive as they were, checksums of all frames are right, damaged frames are not delivered.
Instructions: callgrind, inside the calls, without what puts a frame aside for the other end. Times: medians of TURNS, in turns, each stack once a turn.
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys

from method import CC, FLAGS, HERE, MOKUME, WORK, counted, generate, intercept, run

PEERS = HERE / "peers"
FOLDER = WORK / "peers"
HARNESS = FOLDER / "harness"
OBJECT = ["-g", "-fPIC", "-fvisibility=hidden", "-shared", "-I", PEERS]
V3 = "-march=x86-64-v3"
LWIP = ["core/*.c", "core/ipv4/etharp.c", "core/ipv4/icmp.c", "core/ipv4/ip4.c", "core/ipv4/ip4_addr.c", "core/ipv4/ip4_frag.c", "netif/ethernet.c"]
# The phase of `harness.c`, octets.
PHASES = [("udp-out", [0, 512, 1400]), ("udp-in", [0, 512, 1400]), ("data-out", [1, 512, 1400]), ("data-in", [1, 512, 1400]),
          ("ack-out", [512]), ("ack-in", [512]), ("trip", [1, 512, 1400])]
# The phase, its size (mebibytes of bulk), what the figure is.
RATES = [("time-udp", 1, "ns a datagram out and in"), ("time-udp", 1400, "ns a datagram out and in"), ("time-trip", 1, "ns a round trip"),
         ("time-bulk", 256, "octets a second")]
BULK_MEBIBYTES, TURNS = 4, 5


def ours():
    generate(PEERS / "both.mok", "Host", FOLDER / "ours")
    unit = FOLDER / "ours" / "peer.c"
    unit.write_text('#include "unit.c"\n#include "ours.c"\n')
    for name, flags in [("mokume", FLAGS), ("mokume-size", ["-std=c11", "-Os"])]:
        run([CC, "-w", *flags, *OBJECT, "-I", FOLDER / "ours", unit, "-o", FOLDER / f"{name}.so"], CC)


def lwip():
    """Whether it is there; one line says why not."""
    got = subprocess.run([PEERS / "fetch", FOLDER / "lwip"], capture_output=True, text=True)
    if got.returncode:
        print(f"bench: no lwIP: {got.stderr.strip()}", file=sys.stderr)
        return False
    source = FOLDER / "lwip" / "src"
    files = [file for pattern in LWIP for file in sorted(source.glob(pattern))]
    for name, flags in [("lwip -O2", ["-O2"]), ("lwip -O3", ["-O3", "-flto", V3]), ("lwip-size", ["-Os", "-flto", "-ffunction-sections", "-Wl,--gc-sections"])]:
        run([CC, *flags, *OBJECT, "-I", PEERS / "lwip", "-I", source / "include", PEERS / "lwip/peer.c", *files, "-o", FOLDER / f"{name}.so"], CC)
    return True


def smoltcp():
    """Whether it is there; one line says why not."""
    environment = {**os.environ, "RUSTFLAGS": "-C target-cpu=x86-64-v3", "CARGO_TARGET_DIR": str(FOLDER / "smoltcp")}
    if not shutil.which("cargo"):
        print("bench: no smoltcp: there is no cargo here", file=sys.stderr)
        return False
    for profile, name in [("release", "smoltcp"), ("size", "smoltcp-size")]:
        made = subprocess.run(["cargo", "build", "--locked", "--quiet", "--profile", profile, "--manifest-path", PEERS / "Cargo.toml"],
                              capture_output=True, text=True, env=environment)
        if made.returncode:
            print(f"bench: no smoltcp: {made.stderr.strip().splitlines()[-1]}", file=sys.stderr)
            return False
        shutil.copy(FOLDER / "smoltcp" / profile / "libsmoltcp_peer.so", FOLDER / f"{name}.so")
    return True


def command(stack, phase, size, sessions):
    return [HARNESS, *(FOLDER / f"{stack} {end}.so" for end in "ab"), phase, str(size), str(sessions)]


def stacks():
    """What is there and does what it should."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    ours()
    run([CC, "-std=c11", "-O2", "-g", "-I", FOLDER / "ours", "-I", HERE, "-I", PEERS, PEERS / "harness.c", "-ldl", "-o", HARNESS], CC)
    names = ["mokume"] + (["lwip -O2", "lwip -O3"] if lwip() else []) + (["smoltcp"] if smoltcp() else [])
    for name in names:
        for end in "ab":
            shutil.copy(FOLDER / f"{name}.so", FOLDER / f"{name} {end}.so")
        for sessions in [1, 64]:
            run(command(name, "smoke", 0, sessions), f"{name} does not do what it should")
    return names


def instructions(name, phase, size, sessions):
    return counted(command(name, phase, size, sessions), f"{name} {phase}", ["counted", "store"])


def text_octets(name):
    """Octets of text at -Os; of smoltcp's object what has its name, for Rust's own library is in it, too."""
    if name == "smoltcp":
        symbols = run(["nm", "--print-size", "--demangle", FOLDER / "smoltcp-size.so"], "nm")
        return sum(int(line.split()[1], 16) for line in symbols.splitlines() if re.match(r"\w+ \w+ [tT] .*smoltcp", line))
    sections = run(["size", "-A", FOLDER / f"{name.split()[0]}-size.so"], "size")
    return int(re.search(r"^\.text\s+(\d+)", sections, re.M).group(1))


def session_octets(name):
    """Octets of a session of TCP, without its buffers."""
    if name == "mokume":
        said = run([MOKUME, "size", PEERS / "both.mok", "--stack", "Host"], "mokume size")
        return sum(int(octets) for octets in re.findall(r"^tcp\.\S*\.S +(\d+)", said, re.M))
    return int(run(command(name, "octets", 0, 1), name))


def rows(names):
    """One by one: the row, its unit, octets, the part, sessions, the figure of each stack."""
    for sessions in [1, 64]:
        for phase, sizes in PHASES:
            found = {name: [(size, instructions(name, phase, size, sessions)) for size in sizes] for name in names}
            for at, size in enumerate(sizes):
                yield phase, "instructions", size, "all", sessions, {name: points[at][1] for name, points in found.items()}
            if len(sizes) > 1:
                yield phase, "instructions", 0, "rest", sessions, {name: intercept(points) for name, points in found.items()}
    yield "bulk", "instructions", 1448, "all", 1, {name: instructions(name, "bulk", BULK_MEBIBYTES, 1) for name in names}
    for phase, size, unit in RATES:
        turns = [{name: float(run(command(name, phase, size, 1), f"{name} {phase}")) for name in names} for _ in range(TURNS)]
        yield phase, unit, size if phase != "time-bulk" else 1448, "all", 1, {name: statistics.median(turn[name] for turn in turns) for name in names}
    yield "text at -Os", "octets", 0, "all", 1, {name: text_octets(name) for name in names if name != "lwip -O2"}
    yield "a session of TCP", "octets", 0, "all", 1, {name: session_octets(name) for name in names if name != "lwip -O2"}


def ratio(unit, figures):
    """Ours to the best of the others: how often as much we take, or how often as fast they are."""
    others = [figure for name, figure in figures.items() if name != "mokume"]
    if not others:
        return ""
    best = figures["mokume"] / min(others) if unit != "octets a second" else max(others) / figures["mokume"]
    return f"{best:.2f}"


def peers(form):
    names = stacks()
    if form == "text":
        print(f"\n{'beside peers':<18}{'octets':>7}{'sessions':>9}" + "".join(f"{name:>12}" for name in names) + "   ours to the best")
    for row, unit, size, part, sessions, figures in rows(names):
        if form == "json":
            kept = {name: round(figure, 1) for name, figure in figures.items()}
            print(json.dumps({"table": "peers", "row": row, "unit": unit, "bytes": size, "part": part, "sessions": sessions, **kept}), flush=True)
            continue
        scale, shown = (1e6, "MB/s") if unit == "octets a second" else (1, unit)
        print(f"{row + (' rest' if part == 'rest' else ''):<18}{size if part == 'all' else '':>7}{sessions:>9}"
              + "".join(f"{figures[name] / scale:>12.0f}" if name in figures else f"{'':>12}" for name in names)
              + f"{ratio(unit, figures):>8}   {shown}", flush=True)
