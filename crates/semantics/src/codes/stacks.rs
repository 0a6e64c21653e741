//! M07: stacks.

codes! {
    UNKNOWN_BELOW = "M0701", "a layer that the stack does not have",
    "`over` and `with` name layers and devices of the same stack.",
    "worker Plain { }
stack Short(device: Device) { plain = Plain over devcie }",
    "worker Plain { }
stack Short(device: Device) { plain = Plain over device }";

    OVER_CYCLE = "M0702", "layers that stand on themselves",
    "Going down from any layer of a stack one comes to a device.",
    "worker Plain { }
stack Round(device: Device) {
    one = Plain over two
    two = Plain over one
}",
    "worker Plain { }
stack Straight(device: Device) {
    one = Plain over two
    two = Plain over device
}";

    UNKNOWN_KEY = "M0703", "a key that the layer below does not have",
    "A layer is bound to the whole key of the multiplexor that it stands on. For a bundle that is its topmost layer.",
    "multiplexor Ports { key { port: u16 } }
endpoint Echo { on deliver(msg) from flow { below.send(msg) to flow } }
stack Plain(device: Device) {
    ports = Ports over device
    echo = Echo over ports[prot: 7]
}",
    "multiplexor Ports { key { port: u16 } }
endpoint Echo { on deliver(msg) from flow { below.send(msg) to flow } }
stack Plain(device: Device) {
    ports = Ports over device
    echo = Echo over ports[port: 7]
}";

    NO_SERVICE = "M0704", "a service that nobody serves",
    "What a layer uses, a layer that `with` names must serve.",
    "service Log { note(size: u32) }
worker Noted {
    uses Log as log
    on send(msg) {
        log.note(msg.size)
        below.send(msg)
    }
}
stack Plain(device: Device) { noted = Noted over device }",
    "service Log { note(size: u32) }
worker Noted {
    uses Log as log
    on send(msg) {
        log.note(msg.size)
        below.send(msg)
    }
}
worker Logger {
    serves Log
    entity { counter octets }
    on log.note(size) { count octets size }
}
stack Plain(device: Device) {
    noted = Noted over logger with logger
    logger = Logger over device
}";

    UNUSED_WITH = "M0705", "a `with` that is not needed",
    "`with` names who serves what the layer uses, and nobody else.",
    "worker Plain { }
stack Short(device: Device) {
    upper = Plain over lower with lower
    lower = Plain over device
}",
    "worker Plain { }
stack Short(device: Device) {
    upper = Plain over lower
    lower = Plain over device
}";

    NOT_PUBLISHED = "M0706", "a value that nobody below publishes",
    "`below.x` is what the nearest layer below that publishes `x` says. Here none does, down to the device.",
    "worker Summed { publish both: u32 = below.pseudo_sum + 1 }
stack Plain(device: Device) { summed = Summed over device }",
    "worker Summed { publish both: u32 = below.pseudo_sum + 1 }
worker Sum { publish pseudo_sum: u32 = 17 }
stack Plain(device: Device) {
    summed = Summed over sum
    sum = Sum over device
}";

    UNKNOWN_EXPORT = "M0707", "an export that is not possible",
    "An exported layer of the stack becomes an application port. Nothing stands on an endpoint.",
    "multiplexor Ports { key { port: u16 } }
stack Plain(device: Device) {
    ports = Ports over device
    export port
}",
    "multiplexor Ports { key { port: u16 } }
stack Plain(device: Device) {
    ports = Ports over device
    export ports
}";

    SETTING = "M0731", "a stack's setting that is not possible",
    "A stack may say how many `sessions` a scope has room for that names no number, how many `outputs` a reaction may have
before what wants to settle waits for a reaction of its own, to what multiple of time its timers round up (`tick`),
and which ports keep one `order` among them.",
    "worker Plain { }
stack Two(device: Device) {
    outputs 0
    app = Plain over device
    export app
}",
    "worker Plain { }
stack Two(device: Device) {
    outputs 16
    app = Plain over device
    export app
}";

    SHAPE_ORDER = "M0708", "a layer on an endpoint",
    "An endpoint ends the flows that come to it: nothing stands on it.",
    "worker Plain { }
endpoint Echo { on deliver(msg) from flow { below.send(msg) to flow } }
bundle Wrong = Plain / Echo",
    "worker Plain { }
endpoint Echo { on deliver(msg) from flow { below.send(msg) to flow } }
bundle Right = Echo / Plain";

    SAME_KEY = "M0709", "two layers on one key",
    "A multiplexor gives a message to the layer that is bound to its key; two cannot have it.",
    "multiplexor Ports { key { port: u16 } }
endpoint Echo { on deliver(msg) from flow { below.send(msg) to flow } }
stack Plain(device: Device) {
    ports = Ports over device
    one = Echo over ports[port: 7]
    two = Echo over ports[port: 7]
}",
    "multiplexor Ports { key { port: u16 } }
endpoint Echo { on deliver(msg) from flow { below.send(msg) to flow } }
stack Plain(device: Device) {
    ports = Ports over device
    one = Echo over ports[port: 7]
    two = Echo over ports[port: 8]
}";

    NO_SESSIONS = "M0711", "sessions or flow traffic that are not there",
    "Devices and routers offer flow traffic, workers with a `session` scope offer sessions, multiplexors both. A layer stands where its own kind is offered.",
    "worker Numbered {
    session { var sent: u32 = 0 }
    on send(msg) {
        sent += 1
        below.send(msg)
    }
}
endpoint Echo { on deliver(msg) from flow { below.send(msg) to flow } }
stack Plain(device: Device) {
    numbered = Numbered over device
    echo = Echo over numbered
}",
    "worker Numbered {
    entity { var sent: u32 = 0 }
    on send(msg) {
        sent += 1
        below.send(msg)
    }
}
endpoint Echo { on deliver(msg) from flow { below.send(msg) to flow } }
stack Plain(device: Device) {
    numbered = Numbered over device
    echo = Echo over numbered
}";

    CROWDED = "M0712", "two layers on what carries one",
    "Only a multiplexor has many above: it knows by the key which of them a message is for.",
    "worker Plain { }
stack Short(device: Device) {
    one = Plain over device
    two = Plain over device
}",
    "worker Plain { }
multiplexor Ports { key { port: u16 } }
stack Short(device: Device) {
    ports = Ports over device
    one = Plain over ports[port: 1]
    two = Plain over ports[port: 2]
}";

    NO_FLOW_PART = "M0714", "a part of a flow that nobody below makes",
    "The parts of a flow are the addresses of the nearest router below and the keys of the multiplexors above that. A key that a layer is bound to is no longer part of its flows.",
    "multiplexor Ports { key { port: u16 } }
endpoint Gate {
    on deliver(msg) from flow { if flow.remote.host == 0 { drop msg: nobody } else { below.send(msg) to flow } }
}
stack Plain(device: Device) {
    ports = Ports over device
    gate = Gate over ports
}",
    "multiplexor Ports { key { port: u16 } }
endpoint Gate {
    on deliver(msg) from flow { if flow.remote.port == 0 { drop msg: nobody } else { below.send(msg) to flow } }
}
stack Plain(device: Device) {
    ports = Ports over device
    gate = Gate over ports
}";

    NO_HANDLER = "M0715", "an event that nobody handles",
    "An event of the layers' own passes through layers that do not handle it. Going down it would end at the device, which does not know it.",
    "worker Asker {
    on send(msg) {
        below.hurry(3)
        below.send(msg)
    }
}
stack Plain(device: Device) { asker = Asker over device }",
    "worker Asker {
    on send(msg) {
        below.hurry(3)
        below.send(msg)
    }
}
worker Hurried {
    entity { var speed: u32 = 0 }
    on hurry(by: u32) { speed += by }
}
stack Plain(device: Device) {
    asker = Asker over hurried
    hurried = Hurried over device
}";

    UNREACHED = "M0791", "a handler that no stack reaches",
    "No stack here that has the layer has another that emits the event: the handler is dead weight, or a layer is missing.",
    "worker Hurried {
    entity { var speed: u32 = 0 }
    on hurry(by: u32) from above { speed += by }
}
stack Plain(device: Device) { hurried = Hurried over device }",
    "worker Asker {
    on send(msg) {
        below.hurry(3)
        below.send(msg)
    }
}
worker Hurried {
    entity { var speed: u32 = 0 }
    on hurry(by: u32) from above { speed += by }
}
stack Plain(device: Device) {
    asker = Asker over hurried
    hurried = Hurried over device
}";
}
