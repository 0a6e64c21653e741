#!/usr/bin/env python3
"""TCP between two of our hosts through all that a link may do to frames: `links.py [SEEDS [SEEDS_IN_C]]`, for each network.

Runs the networks of `tests/library/tcp_faults.mok`: every octet right, every session closed clean. 770 seeds of each on the
interpreter are 10,010 in all, and 200 in C beside them if nothing is said. In eight networks the opener is `eager`: the handshake's last
acknowledgement carries text. In three of these each seed runs by itself, and it is counted how often the other end's session began with
that text: at least 1,000 times belong there.
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
# Where it is counted. A process for each seed takes four times as long as one for all.
COUNTED = ["Third", "Bursts", "Few"]
LIMIT = 1800


def sim(*arguments):
    try:
        return subprocess.run([str(MOKUME), "sim", FILE, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired as error:
        return subprocess.CompletedProcess(error.cmd, 124, "", f"not done after {LIMIT} s")


def network(name, backend, seeds, first=1, jobs=2):
    """All seeds in one process."""
    began = time.monotonic()
    done = sim("--network", name, "--seeds", str(seeds), "--seed", str(first), "--jobs", str(jobs), "--backend", backend)
    took = time.monotonic() - began
    summary = re.search(r"\d+ seeds from .* passed, .*", done.stdout)
    why = (summary.group(0) if summary else "") + "".join(re.findall(r"\nnetwork \w+Seed\d+ .*", done.stdout, re.S))[:2000]
    report(done.returncode == 0, f"{name}, {backend}: {seeds} seeds from {first} on, {took:.0f} s", why or done.stderr[-300:])


def began_with_text(host):
    """Whether a session of this host began with a segment that had the first octets of the stream (not one behind it, which may overtake)."""
    return host["consumed"].get("app.third", 0) > 0


def counted(name, seeds):
    """A process for each seed, so that its accounts can be read. In how many of them who listens began with text."""
    def one(seed):
        done = sim("--network", name, "--seed", str(seed), "--format", "json", "--backend", "interpreter")
        hosts = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"consumed"')]
        listens = [host for host in hosts if host["host"] == "b"]
        return done.returncode == 0 and len(listens) == 1, any(map(began_with_text, listens))

    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(one, range(1, seeds + 1)))
    took = time.monotonic() - began
    failed = [seed for seed, (good, _) in enumerate(runs, 1) if not good]
    third = sum(good and text for good, text in runs)
    report(not failed, f"{name}, interpreter: {seeds} seeds from 1 on, text on the third segment of {third}, {took:.0f} s", f"failed: {failed[:20]}")
    return third


def main():
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 770
    in_c = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    third = 0
    for name in NETWORKS:
        if name in COUNTED:
            third += counted(name, seeds)
        else:
            network(name, "interpreter", seeds)
    wanted = min(1000, seeds)
    report(third >= wanted, f"text on the third segment in {third} of {seeds * len(NETWORKS)} runs", f"at least {wanted} belong there")
    # Seeds in C run one after the other in a process.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: network(name, "c", in_c, 100_001, 1), NETWORKS if in_c else []))


if __name__ == "__main__":
    main()
    import common
    sys.exit(1 if common.failures else 0)
