//! M05: shapes and handlers.

codes! {
    EVENT_SHAPE = "M0501", "an event that never comes to this shape",
    "Nothing stands above an endpoint, so nobody sends through it. Only a multiplexor looks for the layer that a message is for, so only it meets an unmatched one. Sessions are of workers, multiplexors and endpoints: a router hears of none, a multiplexor ends and begins its own, and an endpoint without a `session` scope has none.",
    "endpoint Echo { on send(msg) { below.send(msg) } }",
    "endpoint Echo { on deliver(msg) from flow { below.send(msg) to flow } }";

    HIDDEN_FLOW = "M0502", "a part of a flow that this shape does not see",
    "A worker sees neither addresses nor keys, so that it works over anything; a multiplexor sees its own key, a router the addresses that it makes and asks for, an endpoint the whole flow.",
    "worker Plain { on send(msg) { below.send(msg) to flow() } }",
    "worker Plain { on send(msg) { below.send(msg) } }";

    ROUTER_SENDS = "M0503", "a router that does not handle `send`",
    "A router finds a way for each message by its address; nobody can do that for it.",
    "router Stations { address { station: u48 } }",
    "router Stations {
    address { station: u48 }
    header { source: u48, destination: u48 }
    on send(msg) to flow { below.send(msg, source: below.mac, destination: flow.remote.station) to flow() }
    on deliver(msg, source, destination) { above.deliver(msg) from flow(local: destination, remote: source) }
}";

    HANDLER_PARAMS = "M0504", "parameters that the event does not have",
    "A handler of `deliver` names the message first, then fields of its own header, or one of its alternatives. Other events have the parameters that the language or the service gives them.",
    "worker Numbered {
    header { seq: u32 }
    on send(msg) { below.send(msg, seq: 0) }
    on deliver(msg, number) { above.deliver(msg) }
}",
    "worker Numbered {
    header { seq: u32 }
    on send(msg) { below.send(msg, seq: 0) }
    on deliver(msg, seq) { if seq == 0 { above.deliver(msg) } else { drop msg: late } }
}";

    HEADER_FIELDS = "M0505", "header fields that are not given exactly",
    "A layer that sends gives every field of its header, once, by name; of a header with alternatives it says which one.",
    "worker Numbered {
    header { seq: u32, urgent: bool }
    on send(msg) { below.send(msg, seq: 0) }
}",
    "worker Numbered {
    header { seq: u32, urgent: bool }
    on send(msg) { below.send(msg, seq: 0, urgent: false) }
}";

    SHAPE_MEMBER = "M0506", "a member that this shape does not have",
    "A key belongs to a multiplexor, an address to a router, `session below` to a multiplexor over sessions; a router has no sessions.",
    "worker Ports { key { port: u16 } }",
    "multiplexor Ports { key { port: u16 } }";

    OUT_OF_SIGHT = "M0507", "state that this handler cannot see",
    "A handler sees the state of the object it runs for and of those around it. `start`, services and timers of the entity run for the entity: there is no session at hand.",
    "worker Plain {
    session { var sent: u32 = 0 }
    on start { sent = 1 }
}",
    "worker Plain {
    entity { var sent: u32 = 0 }
    on start { sent = 1 }
}";

    SERVICE_WAY = "M0508", "an operation of a service in the wrong direction",
    "Who uses a service asks, who serves it answers with its `out` operations: each handles what the other emits.",
    "service Resolve { ask(next_hop: u32)  out known(next_hop: u32, link: u48) }
endpoint Asker {
    uses Resolve as resolve
    on start { resolve.known(10.0.0.1, 02:00:00:00:00:01) }
}",
    "service Resolve { ask(next_hop: u32)  out known(next_hop: u32, link: u48) }
endpoint Asker {
    uses Resolve as resolve
    on start { resolve.ask(10.0.0.1) }
}";

    WITH_MESSAGE = "M0509", "an alternative with or without its message",
    "An alternative that is declared `with message` carries one; the others go alone.",
    "worker Reliable {
    header { Data { seq: u32 } with message | Ack { next: u32 } }
    on send(msg) { below.send(msg, Ack { next: 1 }) }
}",
    "worker Reliable {
    header { Data { seq: u32 } with message | Ack { next: u32 } }
    on send(msg) {
        below.send(Ack { next: 1 })
        below.send(msg, Data { seq: 1 })
    }
}";

    MISPLACED = "M0510", "a statement in the wrong place",
    "`pass` stands in handlers of events from above and below, `again` in `settle`, `accept` in `unmatched`; `to` belongs to `below.send`, `from` to `above.deliver`; `or` to what may have no room.",
    "worker Plain {
    session { timer quiet }
    on send(msg) {
        start quiet after 1 s
        below.send(msg)
    }
    on expiry quiet { pass }
}",
    "worker Plain {
    session { timer quiet }
    on send(msg) {
        start quiet after 1 s
        pass
    }
    on expiry quiet { fail: timed_out }
}";

    HANDLER_TWICE = "M0511", "two handlers for one event",
    "One event, one handler; of `deliver` one for each alternative of the header.",
    "worker Plain {
    on send(msg) { below.send(msg) }
    on send(msg) { drop msg: closed }
}",
    "worker Plain {
    on send(msg) { below.send(msg) }
    on deliver(msg) { above.deliver(msg) }
}";

    NO_LATER = "M0512", "`later` without a handler",
    "`later name(…)` runs the layer's own handler `on name(…)` in a reaction of its own.",
    "worker Plain {
    on send(msg) {
        later turn(msg) or {
            drop msg: busy
            return
        }
    }
}",
    "worker Plain {
    on send(msg) {
        later turn(msg) or {
            drop msg: busy
            return
        }
    }
    on turn(msg) { above.deliver(msg) }
}";

    NOTHING_ABOVE = "M0513", "something of the layer above",
    "An endpoint has nothing above it, and no layer reads what the layer above knows: values are published upwards.",
    "endpoint Echo { on deliver(msg) { above.deliver(msg) } }",
    "endpoint Echo { on deliver(msg) { below.send(msg) } }";

    SHAPE_NEEDS = "M0514", "a member that this shape must have",
    "A multiplexor tells the layers above it apart by its key; a router makes the addresses of flows.",
    "multiplexor Ports { }",
    "multiplexor Ports { key { port: u16 } }";

    WRONG_WAY = "M0515", "an event that is emitted the wrong way",
    "`send`, `open`, `listen`, `close` and their like go down; `deliver`, `failed`, `closed` go up.",
    "worker Plain { on send(msg) { above.send(msg) } }",
    "worker Plain { on send(msg) { below.send(msg) } }";

    NO_FLOW = "M0516", "a router that does not name the flow",
    "Flows above a router are made of its own addresses, and only it knows them.",
    "router Stations {
    address { station: u48 }
    header { source: u48, destination: u48 }
    on send(msg) to flow { below.send(msg, source: below.mac, destination: flow.remote.station) to flow() }
    on deliver(msg, source, destination) { if source != destination { above.deliver(msg) } else { drop msg: own } }
}",
    "router Stations {
    address { station: u48 }
    header { source: u48, destination: u48 }
    on send(msg) to flow { below.send(msg, source: below.mac, destination: flow.remote.station) to flow() }
    on deliver(msg, source, destination) { above.deliver(msg) from flow(local: destination, remote: source) }
}";

    NOT_SERVED = "M0517", "a served operation without a handler",
    "Who serves a service handles each operation that its users may ask; `out` operations are its own to emit.",
    "service Log { note(size: u32)  clear() }
worker Logger {
    serves Log
    entity { var total: u32 = 0 }
    on log.note(size) { total += size }
}",
    "service Log { note(size: u32)  clear() }
worker Logger {
    serves Log
    entity { var total: u32 = 0 }
    on log.note(size) { total += size }
    on log.clear { total = 0 }
}";
}
