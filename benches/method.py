"""How instructions are counted and times compared: what `bench.py` and `beside.py` share."""

import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
MOKUME = pathlib.Path(os.environ.get("MOKUME", ROOT / "target/release/mokume"))
WORK = ROOT / "target" / "bench"
CC = os.environ.get("CC", "cc")
# gcc's vectoriser of straight-line code joins a changing counter and a constant into one store, which then stalls.
FLAGS = ["-std=c11", "-O3", "-march=x86-64-v3", "-fno-tree-slp-vectorize", "-g"]
# Whether paths stand in front of the handlers: `--fuse`.
FUSE = "0"
VALGRIND = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]


def stop(message):
    print(f"bench: {message}", file=sys.stderr)
    sys.exit(2)


def run(command, what):
    """What it says; the end of this program, with its last words, if it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        stop(f"{what}: {done.stderr.strip()[-400:]}")
    return done.stdout


def generate(source, stack, folder, way=None):
    """The C of a stack, and `unit.c`: the stack and the runtime are one unit of translation, as a user would embed them. Where what is usual
    stands beside the stack, its paths go by that. `way` stands in place of both."""
    folder.mkdir(parents=True, exist_ok=True)
    by = []
    usual = source.with_name(f"{source.stem}_usual.mok")
    if way is None and FUSE != "0" and usual.exists():
        by = ["--profile", folder / "usual.profile"]
        run([MOKUME, "profile", usual, "--stack", stack, "-o", by[1]], f"mokume profile {usual}")
    run([MOKUME, "build", source, "--stack", stack, *(way or ["--fuse", FUSE, *by]), "--emit", "c", "-o", folder], f"mokume build {source}")
    (folder / "unit.c").write_text(f'#include "mokume.c"\n#include "{stack}.c"\n')


def build(source, stack, driver, unit=None, way=None):
    """A program of a stack, generated or by hand (`unit`), and of a caller, which is another unit. With `--returned` in the way the caller uses
    the entries that return what leaves last; with `--batched` those that take 32 calls."""
    folder = WORK / "".join([stack, *(way or [])])
    generate(source, stack, folder, way)
    program = folder / (pathlib.Path(unit or driver).stem)
    flags = [*FLAGS, *(define for option, define in [("--returned", "-DRETURNED"), ("--batched", "-DBATCHED=32")] if option in (way or []))]
    run([CC, *flags, "-I", folder, "-I", HERE, HERE / driver, HERE / unit if unit else folder / "unit.c", "-o", program], CC)
    return program


def collected(toggles, command, what):
    """Instructions inside the functions that are named, and what the program said."""
    done = subprocess.run([*VALGRIND, *(f"--toggle-collect={name}" for name in toggles), *command], capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        stop(f"{what}: {done.stderr.strip()[-400:]}")
    return int(found.group(1)), done.stdout


def counted(command, what, toggles=("counted",)):
    """Instructions of what a program counts by `counted`, and says how often it did."""
    instructions, said = collected(toggles, command, what)
    calls = re.search(r"calls (\d+)", said)
    return instructions / int(calls.group(1)) if calls else stop(f"{what}: it does not say how many calls")


def intercept(points):
    n = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    return mean_y - slope * mean_x
