"""Looks for the weather that breaks a promise: a layer that sends each message three times, and the first seed with which none arrives."""

import mokume

stack = mokume.Stack.of_text(
    """
    use thin
    /// Sends all thrice: surely one will arrive.
    worker Thrice {
        on send(msg) {
            below.send(msg.share())
            below.send(msg.share())
            below.send(msg)
        }
        on deliver(msg) { above.deliver(msg) }
    }
    stack Hopeful(device: Device) {
        ports = Fcfs over thrice
        thrice = Thrice over device
        export ports
    }
    """
)


def holds(seed: int) -> bool:
    network = mokume.Network(seed)
    a, b = network.host("a", stack), network.host("b", stack)
    network.link(a.device, b.device, weather="loss 20 % delay 1 ms")
    b.ports.bind(1, 80)
    a.ports.send_to(9, 80, "hear me")
    network.run("10 ms")
    return bool(b.ports.take("deliver_from"))


first = next(seed for seed in range(1, 10_000) if not holds(seed))
print(f"seed {first}: all three were lost")
assert not holds(first) and all(holds(seed) for seed in range(1, first))
