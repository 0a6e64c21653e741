"""Two stacks on real UDP sockets of this machine: `poll` moves the time of the machine's clock."""

import socket
from pathlib import Path

import mokume


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


stack = mokume.Stack(Path(__file__).parents[2] / "examples" / "host.mok")
ports = [free_port(), free_port()]
hosts = []
for number, (own, other) in enumerate([ports, ports[::-1]], 1):
    host = stack.start(set={"address": f"10.0.0.{number}/24", "device.mac": f"02:00:00:00:00:0{number}"})
    host.attach_device("device", f"udp:127.0.0.1:{own},127.0.0.1:{other}")
    hosts.append(host)
a, b = hosts
a.udp.bind(0, 0x0A000001, 5000)
a.udp.send_to(0x0A000001, 5000, 0x0A000002, 7, "over a socket")
heard = None
for _ in range(200):
    for host in hosts:
        host.poll("5 ms")
    heard = heard or a.udp.next("deliver_from")
    if heard:
        break
assert heard and heard.message == b"over a socket"
print(heard)
