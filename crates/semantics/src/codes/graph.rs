//! M053, M054 and M074: layers over several others, points, and what ends where in a stack's graph.

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

    LISTENS_LOCALLY = "M0532", "a listener that names the other end",
    "`listen`, `bind` and `unlisten` name a local address and key, or leave them open; messages and sessions come from anybody.",
    "multiplexor Ports { key { port: u16 } }
endpoint Serves {
    on start { below.bind(local.port: 80, remote.port: 7) }
    on deliver(msg) { consume msg: heard }
}",
    "multiplexor Ports { key { port: u16 } }
endpoint Serves {
    on start { below.bind(local.port: 80) }
    on deliver(msg) from flow {
        if flow.remote.port == 7 { consume msg: heard } else { drop msg: unknown }
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
