"""What went over a line, as a capture, taken apart field by field."""

import tempfile
from pathlib import Path

import mokume

stack = mokume.Stack(Path(__file__).parents[2] / "examples" / "host.mok")
network = mokume.Network()
a = network.host("a", stack, {"address": "10.0.0.1/24"})
b = network.host("b", stack, {"address": "10.0.0.2/24"})
network.link(a.device, b.device)
a.udp.send_to(0x0A000001, 5000, 0x0A000002, 7, "what is this?")
network.run("1 s")

with tempfile.TemporaryDirectory() as folder:
    network.pcap(Path(folder) / "seen.pcap")
    packets = mokume.dissect(Path(folder) / "seen.pcap")
# Without a file, too, and with a filter.
assert packets == mokume.dissect(network.pcap())
questions = mokume.dissect(network.pcap(), filter="udp and not refused")
print(len(packets), "packets,", len(questions), "of UDP")
print([layer["name"] for layer in questions[0]["layers"]])
assert len(questions) == 2 <= len(packets)
