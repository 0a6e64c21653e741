#!/usr/bin/env python3
"""TCP through loss, doubles and disorder, with many seeds: `weather.py [SEEDS [BACKEND]]`, 50 on the interpreter if nothing is said.

Runs the networks of `tests/library/tcp_weather.mok`. Their endpoints look at every octet: a run is good if both ends have heard the
whole stream once, and nothing else.
"""

import re
import subprocess
import sys

from common import MOKUME, ROOT, report

FILE = "tests/library/tcp_weather.mok"
NETWORKS = ["Rain", "Storm", "Slow", "Small"]


def run(network, seed, backend):
    """What went wrong with this seed; nothing if all was well."""
    command = [str(MOKUME), "sim", FILE, "--network", network, "--seed", str(seed), "--backend", backend]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    wrong = re.findall(r"(\d+)  (talks\.(?:wrong|cut|failed))", done.stdout)
    whole = re.findall(r"(\d+)  talks\.whole", done.stdout)
    if done.returncode != 0:
        return f"seed {seed}: ended with {done.returncode}: {done.stderr[-300:]}"
    if wrong or whole != ["1", "1"]:
        return f"seed {seed}: {wrong or f'whole at {len(whole)} ends'}"
    return None


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    backend = sys.argv[2] if len(sys.argv) > 2 else "interpreter"
    bad = 0
    for network in NETWORKS:
        faults = [fault for fault in (run(network, seed, backend) for seed in range(1, count + 1)) if fault]
        report(not faults, f"{network}, {backend}: {count - len(faults)} of {count} seeds", "; ".join(faults[:5]))
        bad += len(faults)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
