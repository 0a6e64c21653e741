"""What each pass saves: instructions of a call with all passes left out, with one more from row to row, and with one left out alone.

After HIPPCO's tables, which add one optimisation after the other. All rows are plain builds: what is usual is what
comes with Mokume. `text` is the code of the stack of the first two columns and of the runtime at -Os.
"""

import json
import re
import subprocess

from method import CC, FLAGS, HERE, MOKUME, ROOT, WORK, collected, counted, run, stop

# The column, its stack, its name, its program, what this is told, the entry that counts; none: what the program counts itself.
COLUMNS = [
    ("udp out", ROOT / "examples/host.mok", "Host", "udp.c", ["out", "0"], "Host_udp_send"),
    ("udp in", ROOT / "examples/host.mok", "Host", "udp.c", ["in", "0"], "Host_device_frame"),
    ("ten send", HERE / "stacks/ten.mok", "Ten", "stacks/ten.c", ["path", "send"], None),
    ("ten deliver", HERE / "stacks/ten.mok", "Ten", "stacks/ten.c", ["path", "frame"], None),
    ("window send", HERE / "stacks/sliding.mok", "Sliding", "stacks/sliding.c", ["path", "send"], None),
    ("window deliver", HERE / "stacks/sliding.mok", "Sliding", "stacks/sliding.c", ["path", "frame"], None),
    ("tcp out", HERE / "tcp.mok", "Host", "tcp.c", ["data-out", "1"], None),
    ("tcp in", HERE / "tcp.mok", "Host", "tcp.c", ["data-in", "1"], None),
]
CALLS = 64 * 64


def names():
    """The passes, in the order in which they run: the command lists them where it is told one that there is not."""
    said = subprocess.run([MOKUME, "path", ROOT / "examples/host.mok", "--pass", "?=off"], capture_output=True, text=True).stderr
    found = re.findall(r"^  ([a-z-]+) {2,}", said, re.M)
    return found or stop("`mokume path --pass` does not list its passes")


def built(column, how):
    """The program of a column, of a stack built so."""
    _, source, stack, driver, _, _ = column
    folder = WORK / "passes" / source.stem
    folder.mkdir(parents=True, exist_ok=True)
    run([MOKUME, "build", source, "--stack", stack, *how, "--emit", "c", "-o", folder], f"mokume build {source}")
    (folder / "unit.c").write_text(f'#include "mokume.c"\n#include "{stack}.c"\n')
    program = folder / "program"
    run([CC, *FLAGS, "-I", folder, "-I", HERE, HERE / driver, folder / "unit.c", "-o", program], CC)
    return program


def text():
    """Octets of code of the first column's stack."""
    folder = WORK / "passes" / COLUMNS[0][1].stem
    run([CC, "-std=c11", "-Os", "-I", folder, "-c", folder / "unit.c", "-o", folder / "small.o"], CC)
    said = run(["size", folder / "small.o"], "size")
    return int(said.splitlines()[1].split()[0])


def measured(how):
    """A row: what each column counts, and the text."""
    counts, program, of = [], None, None
    for column in COLUMNS:
        name, source, _, _, words, entry = column
        if of != source:
            program, of = built(column, how), source
        if entry:
            counts.append(collected([entry], [program, *words], name)[0] / CALLS)
        else:
            toggles = ["counted", "aside", "keep_aside"] if words[0] == "path" else ["counted"]
            counts.append(counted([program, *words], name, toggles))
    return counts, text()


def rows(passes):
    """What a row is called, and how it is built."""
    yield "layers", ["--fuse", "0"]
    off = list(passes)
    without = lambda left: ["--fuse", "2", *(word for name in left for word in ("--pass", f"{name}=off"))]
    yield "paths, no pass", without(off)
    for name in passes:
        off.remove(name)
        yield f"and {name}", without(off)
    for name in passes:
        yield f"all but {name}", without([name])


def passes(form):
    if form == "text":
        print(f"\n{'passes':<22} " + " ".join(f"{name:>{max(8, len(name))}}" for name, *_ in COLUMNS) + f" {'text':>8}   instructions a call; octets of host.mok at -Os")
    for row, how in rows(names()):
        counts, octets = measured(how)
        if form == "json":
            for (name, *_), count in zip(COLUMNS, counts):
                print(json.dumps({"table": "passes", "row": row, "unit": "instructions", "part": name, "mokume": round(count, 1)}), flush=True)
            print(json.dumps({"table": "passes", "row": row, "unit": "octets", "part": "text", "mokume": octets}), flush=True)
        else:
            shown = " ".join(f"{count:>{max(8, len(name))}.0f}" for (name, *_), count in zip(COLUMNS, counts))
            print(f"{row:<22} {shown} {octets:>8}", flush=True)
