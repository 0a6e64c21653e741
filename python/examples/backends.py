"""The same events into the reference interpreter and into generated C: what comes out is the same."""

import shutil
import sys
from pathlib import Path

import mokume

if not shutil.which("cc"):
    print("no C compiler")
    sys.exit(77)

stack = mokume.Stack(Path(__file__).parents[2] / "examples" / "host.mok")


def run(backend: str):
    network = mokume.Network(seed=5)
    hosts = [network.host(name, stack, {"address": f"10.0.0.{number}/24"}, backend) for number, name in enumerate("ab", 1)]
    network.link(*(host.device for host in hosts), weather="loss 20 % delay 1 ms .. 9 ms")
    a = hosts[0]
    a.udp.bind(0, 0x0A000001, 5000)
    for number in range(20):
        network.at(f"{number * 10} ms", lambda: a.udp.send_to(0x0A000001, 5000, 0x0A000002, 7, bytes(100)))
    network.run("5 s")
    return network.frames, [str(event) for event in a.udp.take()], a.accounts


interpreted, compiled = run("interpreter"), run("c")
assert interpreted == compiled
print(f"{len(interpreted[0])} frames and {len(interpreted[1])} events, the same of both")
