//! M035, M053, M054 and M074: layers over several others, points, and what ends where in a stack's graph.

codes! {
    WHICH_BELOW = "M0530", "which of the layers below is meant",
    "A router that says `below several path` stands on one layer or on many: it names the one it means, as `below[i].mtu` and `to flow(path: i)`. Every other layer stands on one.",
    "router Choose {
    below several path
    on send(msg) { below.send(msg) }
}",
    "router Choose {
    below several path
    on send(msg) { below.send(msg) to flow(path: 0) }
}";

    OTHER_SIDE = "M0531", "a flow of the other side of a layer",
    "Above a router flows have the addresses that it makes, below it those that it asks for; above a multiplexor they have its key, below it not. So a flow of one side is none of the other.",
    "router Stations {
    address { station: u8 }
    below address { host: u32 }
    on send(msg) to flow { below.send(msg) to flow }
}",
    "router Stations {
    address { station: u8 }
    below address { host: u32 }
    on send(msg) to flow { below.send(msg) to flow(remote: flow.remote.station) }
}";

    WITH_WHOM = "M0350", "a session that does not say with whom",
    "A session is one flow, pinned: what is sent in it goes to one remote end. So `open` names each part of that end, and none of them is 0. To hear anybody is a listener's: `listen` makes a session of each who comes, `bind` brings the messages with their flows.",
    "multiplexor Ports { key { port: u16 } }
endpoint Asks {
    session { }
    on start { below.open(local.port: 80) }
    on deliver(msg) { consume msg: heard }
}
stack Asking(device: Device) {
    ports = Ports over device
    asks  = Asks over ports
}",
    "multiplexor Ports { key { port: u16 } }
endpoint Asks {
    session { }
    on start { below.open(remote.port: 80) }
    on deliver(msg) { consume msg: heard }
}
stack Asking(device: Device) {
    ports = Ports over device
    asks  = Asks over ports
}";

    BEYOND_BELOW = "M0352", "a layer below that is not there",
    "A router over several names the layers below it by numbers from 0, in the order of the stack; `below.count` is how many there are.",
    "router Choose {
    below several path
    publish mtu: u32 = min(below[0].mtu, below[2].mtu)
    on send(msg) { below.send(msg) to flow(path: 0) }
}
stack Two(one: Device, other: Device) {
    both = Choose over (one, other)
    export both
}",
    "router Choose {
    below several path
    publish mtu: u32 = min(below[0].mtu, below[1].mtu)
    on send(msg) { below.send(msg) to flow(path: 0) }
}
stack Two(one: Device, other: Device) {
    both = Choose over (one, other)
    export both
}";

    TO_ALL_BELOW = "M0353", "a message for all layers below",
    "An event of a layer's own goes from a router over several to each of the layers below it. A message has one way; a share for each is sent by itself, `to flow(path: i)`.",
    "worker Hears { on turn(msg: Message) from above { drop msg: seen } }
router Choose {
    below several path
    on send(msg) { below.turn(msg) }
}",
    "worker Hears { on turn(size: u32) from above { } }
router Choose {
    below several path
    on send(msg) {
        below.turn(msg.size)
        below.send(msg) to flow(path: 0)
    }
}";

    UNLIKE_BELOW = "M0740", "layers below one router whose flows differ",
    "To a router over several layers they all look alike: their flows have the same parts, of the same types.",
    "multiplexor Ports { key { port: u16 } }
worker Plain { }
router Choose {
    below several path
    on send(msg) { below.send(msg) to flow(path: 0) }
}
stack Two(one: Device, other: Device) {
    ports = Ports over one
    plain = Plain over other
    both = Choose over (ports, plain)
    export both
}",
    "worker Plain { }
router Choose {
    below several path
    on send(msg) { below.send(msg) to flow(path: 0) }
}
stack Two(one: Device, other: Device) {
    first = Plain over one
    second = Plain over other
    both = Choose over (first, second)
    export both
}";

    UNSAID = "M0741", "a value that differs between the layers below",
    "What a router over several layers does not publish, nobody above it can read: only `mtu` and `credit` are the smallest of those below. It says what it means: `publish mac: u48 = below[0].mac`.",
    "router Choose {
    below several path
    on send(msg) { below.send(msg) to flow(path: 0) }
}
worker Named {
    entity { var own: u48 = 0 }
    on start { own = below.mac }
}
stack Two(one: Device, other: Device) {
    both = Choose over (one, other)
    named = Named over both
    export named
}",
    "router Choose {
    below several path
    publish mac: u48 = below[0].mac
    on send(msg) { below.send(msg) to flow(path: 0) }
}
worker Named {
    entity { var own: u48 = 0 }
    on start { own = below.mac }
}
stack Two(one: Device, other: Device) {
    both = Choose over (one, other)
    named = Named over both
    export named
}";
}
