"""How much arrives of what is sent over a bad line, by the weather: the same seed, the same answer."""

from pathlib import Path

import mokume

stack = mokume.Stack.of_text(
    """
    use thin
    stack Plain(device: Device) {
        ports = Fcfs over sums
        sums = Checksum16 over device
        export ports
    }
    """
)


def arrived(weather: str, seed: int = 1, count: int = 200) -> int:
    network = mokume.Network(seed)
    a, b = network.host("a", stack), network.host("b", stack)
    network.link(a.device, b.device, weather=weather)
    b.ports.bind(1, 80)
    for number in range(count):
        network.at(f"{number} ms", lambda number=number: a.ports.send_to(9, 80, number.to_bytes(4, "big")))
    network.run("1 s")
    return len(b.ports.take("deliver_from"))


for weather in ("", "loss 10 %", "loss 10 % duplicate 10 %", "corrupt 20 %", "delay 1 ms .. 50 ms"):
    print(f"{weather or 'fine':<26} {arrived(weather)} of 200")
assert arrived("") == 200
assert arrived("loss 10 %") == arrived("loss 10 %") < 200
# Frames with turned bits are dropped by their sum.
assert arrived("corrupt 20 %") < 200
