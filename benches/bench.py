#!/usr/bin/env python3
"""Instructions from public entry to return, by callgrind: 64 sessions in random order, addresses set at run time.

`all` is a whole call with a message of so many octets; `rest` is what is left without touching the payload: the intercept of
the line through 0, 512 and 1400 octets. Instructions are the same from run to run; time is not measured here.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

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


def instructions(program, arguments, size, entry):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--toggle-collect={entry}",
               program, *arguments, str(size)]
    done = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        stop(f"{program.name}: {done.stderr.strip()[-400:]}")
    return int(found.group(1)) / CALLS


def intercept(points):
    n = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    return mean_y - slope * mean_x


def main():
    parser = argparse.ArgumentParser(description="What a call costs, in instructions.")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        stop("valgrind is needed: `apt install valgrind`")
    if not MOKUME.exists():
        stop("target/release/mokume is not built: `cargo build --release`")
    if options.format == "text":
        print(f"{'row':<16} {'0 octets':>10} {'512':>10} {'1400':>10} {'rest':>10}   instructions a call")
    for row, source, stack, driver, arguments, entry in ROWS:
        program = build(source, stack, driver)
        points = [(size, instructions(program, arguments, size, entry)) for size in SIZES]
        rest = intercept(points)
        if options.format == "json":
            for size, count in points:
                print(json.dumps({"table": "calls", "row": row, "unit": "instructions", "bytes": size, "part": "all", "mokume": round(count, 1)}))
            print(json.dumps({"table": "calls", "row": row, "unit": "instructions", "bytes": 0, "part": "rest", "mokume": round(rest, 1)}))
        else:
            print(f"{row:<16} " + " ".join(f"{count:>10.0f}" for _, count in points) + f" {rest:>10.0f}")


main()
