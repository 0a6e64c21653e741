#!/usr/bin/env python3
"""TCP between two of our hosts through all that a link may do to frames: `links.py [SEEDS [SEEDS_IN_C]]`, for each network.

Runs the networks of `tests/library/tcp_faults.mok`: every octet right, every session closed clean. 770 seeds of each on the
interpreter are 10,010 in all, and 200 in C beside them if nothing is said. `Third` also says how often there was text on the third segment.
"""

import concurrent.futures
import json
import re
import subprocess
import sys
import time

from common import MOKUME, ROOT, report

FILE = "tests/library/tcp_faults.mok"
NETWORKS = re.findall(r"^network (\w+)", (ROOT / FILE).read_text(), re.M)
LIMIT = 1800


def sim(*arguments):
    try:
        return subprocess.run([str(MOKUME), "sim", FILE, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired as error:
        return subprocess.CompletedProcess(error.cmd, 124, "", f"not done after {LIMIT} s")


def network(name, backend, seeds, first=1, jobs=2):
    began = time.monotonic()
    done = sim("--network", name, "--seeds", str(seeds), "--seed", str(first), "--jobs", str(jobs), "--backend", backend)
    took = time.monotonic() - began
    summary = re.search(r"\d+ seeds from .* passed, .*", done.stdout)
    why = (summary.group(0) if summary else "") + "".join(re.findall(r"\nnetwork \w+Seed\d+ .*", done.stdout, re.S))[:2000]
    report(done.returncode == 0, f"{name}, {backend}: {seeds} seeds from {first} on, {took:.0f} s", why or done.stderr[-300:])


def third(seeds=2600, wanted=1000):
    """How often the segment that begins the session at who listens brings text, and the first of it (not that behind it, which may overtake)."""
    def one(seed):
        done = sim("--network", "Third", "--seed", str(seed), "--format", "json")
        hosts = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"consumed"')]
        return done.returncode == 0 and any(host["consumed"].get("app.third") for host in hosts)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        count = sum(pool.map(one, range(1, seeds + 1)))
    report(count >= wanted, f"text on the third segment with {count} of {seeds} seeds", f"at least {wanted} belong there")


def main():
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 770
    in_c = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    for name in NETWORKS:
        network(name, "interpreter", seeds)
    # Seeds in C run one after the other in a process.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: network(name, "c", in_c, 100_001, 1), NETWORKS if in_c else []))
    third()


if __name__ == "__main__":
    main()
    import common
    sys.exit(1 if common.failures else 0)
