#!/usr/bin/env python3
"""TCP through loss, doubles and disorder, with many seeds: `weather.py [SEEDS [BACKEND]]`, 50 on the interpreter if nothing is said.

Runs the networks of `tests/library/tcp_weather.mok`. Their endpoints look at every octet: a run is good if both ends have heard the
whole stream once, and nothing else. Then those of `tests/library/tcp_disorder.mok`, of which it also says the median of the virtual times.
"""

import re
import statistics
import subprocess
import sys

from common import MOKUME, ROOT, report

FILE = "tests/library/tcp_weather.mok"
NETWORKS = ["Rain", "Storm", "Slow", "Small"]
DISORDER = "tests/library/tcp_disorder.mok"
DISORDERED = ["Disorder", "Overtaken", "Both"]
UNITS = {"s": 1000, "ms": 1, "µs": 0.001}


def sim(file, network, seed, backend, *more):
    command = [str(MOKUME), "sim", file, "--network", network, "--seed", str(seed), "--backend", backend, *more]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def judge(done, seed):
    """What went wrong with this seed; nothing if all was well."""
    wrong = re.findall(r"(\d+)  (talks\.(?:wrong|cut|failed))", done.stdout)
    whole = re.findall(r"(\d+)  talks\.whole", done.stdout)
    if done.returncode != 0:
        return f"seed {seed}: ended with {done.returncode}: {done.stderr[-300:]}"
    if wrong or whole != ["1", "1"]:
        return f"seed {seed}: {wrong or f'whole at {len(whole)} ends'}"
    return None


def last(done):
    """When the last thing happened that the log tells, in milliseconds of virtual time."""
    time, unit = done.stdout.partition("\nnetwork `")[0].rstrip().split("\n")[-1].split()[:2]
    return float(time) * UNITS[unit]


def disorder(network, count, backend):
    runs = [sim(DISORDER, network, seed, backend, "--log") for seed in range(1, count + 1)]
    faults = [fault for fault in map(judge, runs, range(1, count + 1)) if fault]
    times = sorted(last(done) for done in runs)
    took = f"1 MiB in {statistics.median(times):.0f} ms, {times[-1]:.0f} at worst" if times else "nothing"
    report(not faults, f"{network}, {backend}: {count - len(faults)} of {count} seeds, {took}", "; ".join(faults[:5]))
    return len(faults)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    backend = sys.argv[2] if len(sys.argv) > 2 else "interpreter"
    bad = 0
    for network in NETWORKS:
        faults = [fault for fault in (judge(sim(FILE, network, seed, backend), seed) for seed in range(1, count + 1)) if fault]
        report(not faults, f"{network}, {backend}: {count - len(faults)} of {count} seeds", "; ".join(faults[:5]))
        bad += len(faults)
    for network in DISORDERED:
        bad += disorder(network, count, backend)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
