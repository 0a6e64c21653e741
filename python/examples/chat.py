"""A stack of a layer of one's own over the library's, put together in Python; two hosts, joined in virtual time."""

import mokume

SHOUT = """
/// Says of each message whether it was loud.
worker Shout {
    header { loud: bool }
    on send(msg) { below.send(msg, loud: true) }
    on deliver(msg, loud) { if loud { above.deliver(msg) } else { drop msg: quiet } }
}
"""

stack = (
    mokume.Graph("Chat")
    .module("thin")
    .source(SHOUT, "shout.mok")
    .parameter("device", "Device")
    .layer("ports", "Fcfs", over="shout")
    .layer("shout", "Shout", over="sums")
    .layer("sums", "Checksum16", over="device")
    .export("ports")
    .check()
)

network = mokume.Network()
a, b = network.host("a", stack), network.host("b", stack)
network.link(a.device, b.device, weather="delay 1 ms")

b.ports.bind(1, 80)
network.at("5 ms", lambda: a.ports.send_to(9, 80, "hello"))
network.run("10 ms")

heard = b.ports.next("deliver_from")
print(heard)
assert heard.message == b"hello" and heard.at == 6_000_000

# What is wrong is refused as a file would be, with the way out.
try:
    mokume.Graph("Wrong").parameter("device", "Device").layer("odd", "Nonsense", over="device").check()
except mokume.Failure as failure:
    print(failure)
