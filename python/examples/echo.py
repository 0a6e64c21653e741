"""UDP between two hosts of the library, over Ethernet: names of events and of what they take, and messages counted."""

import ipaddress
from pathlib import Path

import mokume

stack = mokume.Stack(Path(__file__).parents[2] / "examples" / "host.mok")
print(stack, "takes", stack.parameters)
print("at udp go in:", stack.events("udp")["send_to"])

network = mokume.Network(seed=7)
a = network.host("a", stack, {"address": "10.0.0.1/24"})
b = network.host("b", stack, {"address": "10.0.0.2/24"})
network.link(a.device, b.device, weather="delay 500 us .. 2 ms")

own, peer = ipaddress.ip_address("10.0.0.1"), ipaddress.ip_address("10.0.0.2")
a.udp.bind(user=0, local_host=own, local_port=5000)
a.udp.send_to(local_host=own, local_port=5000, remote_host=peer, remote_port=7, msg="anybody there?")
assert network.run_until(lambda: a.udp.next("deliver_from"), most="1 s")

print(f"answered after {network.now / 1e6:.3f} ms, by {len(network.frames)} frames seen")
assert "echo.unmatched" not in b.accounts["dropped"], b.accounts
