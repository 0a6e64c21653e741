//! What is out of range, and what a layer begins and never ends.

codes! {
    TOO_LATE = "M0375", "a step after the network's end",
    "A network runs until the time that it says. What is asked for later never happens.",
    "worker Plain { }
stack S(device: Device) {
    app = Plain over device
    export app
}
network N {
    host a = S()
    host b = S()
    link lan { a.device, b.device }
    at 3 s  a.app.send_to(\"x\")
    until 2 s
}",
    "worker Plain { }
stack S(device: Device) {
    app = Plain over device
    export app
}
network N {
    host a = S()
    host b = S()
    link lan { a.device, b.device }
    at 1 s  a.app.send_to(\"x\")
    until 2 s
}";

    LONELY_LINK = "M0376", "nobody at the other side",
    "A link joins two devices or more, and a partition leaves hosts on both sides.",
    "worker Plain { }
stack S(device: Device) {
    app = Plain over device
    export app
}
network N {
    host a = S()
    link lan { a.device }
    until 2 s
}",
    "worker Plain { }
stack S(device: Device) {
    app = Plain over device
    export app
}
network N {
    host a = S()
    host b = S()
    link lan { a.device, b.device }
    until 2 s
}";

    DIVIDES_BY_ZERO = "M0370", "a division by zero",
    "A divisor that is always zero is a mistake. One that may be is reported when it happens, and the result is 0.",
    "fn half(a: u32) -> u32 { return a / 0 }",
    "fn half(a: u32) -> u32 { return a / 2 }";

    SHIFTED_AWAY = "M0371", "a shift that leaves nothing",
    "A value of n bits has none left behind a shift by n or more. Where the result needs more bits, the value is widened first.",
    "fn high(a: u32) -> u64 { return (a << 40) as u64 }",
    "fn high(a: u32) -> u64 { return (a as u64) << 40 }";

    BEYOND_THE_END = "M0372", "an index behind the end",
    "An array of n elements has the indices 0 to n - 1. A constant one that is not among them is never right.",
    "worker Plain {
    entity { array last: [u32; 4] }
    on send(msg) {
        last[4] = msg.size
        below.send(msg)
    }
}",
    "worker Plain {
    entity { array last: [u32; 4] }
    on send(msg) {
        last[3] = msg.size
        below.send(msg)
    }
}";

    BEYOND_MEMORY = "M0373", "a size beyond all memory",
    "All memory is taken when a stack starts: every capacity is paid for, used or not. `mokume size` shows the bill.",
    "worker Plain {
    entity { map seen: [u32 -> u32; 4_000_000_000] }
    on send(msg) {
        seen[msg.size] = 1 or {
            drop msg: full
            return
        }
        below.send(msg)
    }
}",
    "worker Plain {
    entity { map seen: [u32 -> u32; 4000] }
    on send(msg) {
        seen[msg.size] = 1 or {
            drop msg: full
            return
        }
        below.send(msg)
    }
}";

    COUNTER_WRITTEN = "M0374", "a loop's counter that is assigned",
    "The variable of a `for` takes each value of the range once, whatever its block does.",
    "fn first(a: u32) -> u32 {
    for i in 0 .. 4 limit 4 {
        if a == i { i = 4 }
    }
    return 0
}",
    "fn first(a: u32) -> u32 {
    for i in 0 .. 4 limit 4 {
        if a == i { return i }
    }
    return 0
}";

    CHECKSUM_WIDTH = "M0377", "a checksum of another width",
    "The checksum of RFC 1071 is a sum of 16-bit words, so its field has 16 bits.",
    "wire W big { sum: u8 = checksum(packet) }",
    "wire W big { sum: u16 = checksum(packet) }";

    NOT_INVERTIBLE = "M0378", "a field that cannot be read back",
    "What is written must be what is read: a field that is the same for every value, or that no value fits, says nothing.",
    "worker Plain {
    header { n: u8 }
    on send(msg) { below.send(msg, n: 1) }
    on deliver(msg, n) { if n == 1 { above.deliver(msg) } else { drop msg: odd } }
}
wire W big { n: u8 = Plain.n + 300 }",
    "worker Plain {
    header { n: u8 }
    on send(msg) { below.send(msg, n: 1) }
    on deliver(msg, n) { if n == 1 { above.deliver(msg) } else { drop msg: odd } }
}
wire W big { n: u16 = Plain.n + 300 }";

    NO_PACKET_PASSES = "M0379", "constraints that no packet meets",
    "What stands behind `where` must be true of every packet that is accepted. If it never is, the layer hears nothing.",
    "wire W big { length: u8 = size(packet)  where length > 300 }",
    "wire W big { length: u8 = size(packet)  where length > 30 }";

    UNHEARD_TIMER = "M0518", "a timer that nobody hears",
    "A timer that is started and expires without a handler does nothing. As a flag for a span of time it is asked for: `running t`.",
    "worker Plain {
    entity { timer rest }
    on send(msg) {
        start rest after 20 ms
        below.send(msg)
    }
}",
    "worker Plain {
    entity { timer rest }
    on send(msg) {
        if running rest {
            drop msg: too_soon
            return
        }
        start rest after 20 ms
        below.send(msg)
    }
}";

    NEVER_STARTED = "M0519", "a timer that is never started",
    "A handler of a timer that nothing starts never runs.",
    "worker Plain {
    entity { timer rest }
    on expiry rest { }
}",
    "worker Plain {
    entity { timer rest }
    on start { start rest after 1 s }
    on expiry rest { start rest after 1 s }
}";

    UNTAKEN = "M0520", "an alternative that is sent and never taken",
    "Both ends run the same layer. An alternative without a handler passes on as if it had no header, or is used up if it goes alone.",
    "worker Plain {
    header { Data { n: u8 } with message | Probe }
    on send(msg) {
        below.send(Probe)
        below.send(msg, Data { n: 1 })
    }
    on deliver(msg, Data { n }) { if n == 1 { above.deliver(msg) } else { drop msg: odd } }
}",
    "worker Plain {
    header { Data { n: u8 } with message | Probe }
    entity { counter probes }
    on send(msg) {
        below.send(Probe)
        below.send(msg, Data { n: 1 })
    }
    on deliver(msg, Data { n }) { if n == 1 { above.deliver(msg) } else { drop msg: odd } }
    on deliver(Probe) { count probes }
}";

    UNUSED_ALTERNATIVE = "M0521", "an alternative that is never used",
    "An alternative that the layer neither sends nor takes only makes its header longer.",
    "worker Plain {
    header { Data { n: u8 } with message | Probe }
    on send(msg) { below.send(msg, Data { n: 1 }) }
    on deliver(msg, Data { n }) { if n == 1 { above.deliver(msg) } else { drop msg: odd } }
}",
    "worker Plain {
    header { n: u8 }
    on send(msg) { below.send(msg, n: 1) }
    on deliver(msg, n) { if n == 1 { above.deliver(msg) } else { drop msg: odd } }
}";
}
