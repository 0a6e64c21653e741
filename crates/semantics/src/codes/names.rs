//! M02: names.

codes! {
    UNKNOWN_NAME = "M0201", "a name that stands for nothing here",
    "A name is a local of the handler, state of the layer, a parameter, or a constant or function of the file or of what it uses. State is declared in a scope.",
    "worker Numbered {
    header { seq: u32 }
    entity { var next: u32 = 0 }
    on send(msg) { below.send(msg, seq: nxet) }
}",
    "worker Numbered {
    header { seq: u32 }
    entity { var next: u32 = 0 }
    on send(msg) { below.send(msg, seq: next) }
}";

    UNKNOWN_TYPE = "M0202", "an unknown type",
    "Types are `bool`, `u1` … `u64`, `seq1` … `seq64`, `Duration`, `Instant`, `Message`, and the records, enums and aliases that the file sees.",
    "record Pair { left: int32, right: u32 }",
    "record Pair { left: u32, right: u32 }";

    UNKNOWN_LAYER = "M0203", "an unknown layer or bundle",
    "A bundle or stack is put together from layers and bundles that its file holds or uses.",
    "worker Plain { on send(msg) { below.send(msg) } }
bundle Both = Plain / Plane",
    "worker Plain { on send(msg) { below.send(msg) } }
bundle Both = Plain / Plain";

    UNKNOWN_MODULE = "M0204", "an unknown module or file",
    "`use name` is a module of the library; `use \"name.mok\"` is a file beside this one.",
    "use \"no_such_file.mok\"",
    "// Nothing to use.";

    DEFINED_TWICE = "M0205", "something is there twice",
    "A name stands for one thing in a file, a layer, a record or a list of parameters.",
    "record Pair { left: u32, left: u32 }",
    "record Pair { left: u32, right: u32 }";

    UNKNOWN_FIELD = "M0206", "an unknown field",
    "A record, an object and a device have the parts that they were declared with.",
    "record Pair { left: u32, right: u32 }
fn sum(p: Pair) -> u32 { return p.left + p.rihgt }",
    "record Pair { left: u32, right: u32 }
fn sum(p: Pair) -> u32 { return p.left + p.right }";

    UNKNOWN_PARAMETER = "M0207", "an unknown parameter",
    "An argument with a name is for the parameter of that name.",
    "worker Credit(grant: u16 = 32) { publish room: u16 = grant }
bundle Flow = Credit(grnat: 8)",
    "worker Credit(grant: u16 = 32) { publish room: u16 = grant }
bundle Flow = Credit(grant: 8)";

    UNKNOWN_OPERATION = "M0208", "an unknown service or operation",
    "A layer handles and emits the operations of the services that it serves (by the service's name in small letters) or uses (by the name behind `as`).",
    "service Resolve { ask(next_hop: u32)  out known(next_hop: u32, link: u48) }
endpoint Asker {
    uses Resolve as resolve
    on start { resolve.aks(10.0.0.1) }
}",
    "service Resolve { ask(next_hop: u32)  out known(next_hop: u32, link: u48) }
endpoint Asker {
    uses Resolve as resolve
    on start { resolve.ask(10.0.0.1) }
}";

    UNKNOWN_ATTRIBUTE = "M0209", "an unknown attribute",
    "Attributes of messages are declared in a file, so that layers that know nothing of each other mean the same one.",
    "attribute ttl: u8 = 64
worker Hops {
    reads ttl
    on deliver(msg) { if msg.tll == 0 { drop msg: expired } else { above.deliver(msg) } }
}",
    "attribute ttl: u8 = 64
worker Hops {
    reads ttl
    on deliver(msg) { if msg.ttl == 0 { drop msg: expired } else { above.deliver(msg) } }
}";

    UNKNOWN_STACK = "M0210", "an unknown stack or host",
    "A test names a stack, a network names stacks for its hosts and hosts for its links.",
    "endpoint Echo { on deliver(msg) from flow { below.send(msg) to flow } }
stack Plain(device: Device) { echo = Echo over device }
test \"nothing comes back of nothing\" { stack Plane(device) }",
    "endpoint Echo { on deliver(msg) from flow { below.send(msg) to flow } }
stack Plain(device: Device) { echo = Echo over device }
test \"nothing comes back of nothing\" { stack Plain(device) }";

    UNKNOWN_PUBLISHED = "M0211", "a value that no layer publishes",
    "`below.x` reads what some layer below publishes under that name; `mtu`, `mac` and `credit` are everywhere.",
    "worker Length { publish mtu: u32 = below.mut - 2 }",
    "worker Length { publish mtu: u32 = below.mtu - 2 }";

    UNKNOWN_VARIANT = "M0212", "an unknown name of an enum, or alternative of a header",
    "An enum has the names, and a header the alternatives, that they were declared with.",
    "enum Kind: u8 { Ask, Tell }
const FIRST: Kind = Kind.Aks",
    "enum Kind: u8 { Ask, Tell }
const FIRST: Kind = Kind.Ask";

    NO_FUNCTION = "M0213", "an unknown function or operation",
    "Functions are those of the layer, of the file and of what it uses; messages, places and services have their own operations. Events are emitted with their direction.",
    "worker Summed {
    header { sum: u16 }
    on send(msg) { below.send(msg, sum: fold61(msg.sum16())) }
}",
    "worker Summed {
    header { sum: u16 }
    on send(msg) { below.send(msg, sum: fold16(msg.sum16())) }
}";

    UNKNOWN_ITEM = "M0214", "the wrong kind of item",
    "Where a service or a wire is named, only a service or a wire will do.",
    "worker Plain { serves Resolve }",
    "service Resolve { ask(next_hop: u32) }
worker Plain {
    serves Resolve
    on resolve.ask(_next_hop) { }
}";

    UNKNOWN_EVENT = "M0215", "an unknown event",
    "The events of the language are `send`, `deliver`, `open`, `opened`, `failed`, `listen`, `bind`, `unlisten`, `accepted`, `unmatched`, `close`, `abort`, `closed`, `start`, `settle` and `expiry`. Any other name is an event of the layers' own, which somebody must emit.",
    "worker Plain { on delvier(msg) { above.deliver(msg) } }",
    "worker Plain { on deliver(msg) { above.deliver(msg) } }";

    UNKNOWN_FLOW_PART = "M0216", "an unknown part of a flow",
    "A flow has two ends, `local` and `remote`, and each has the parts that the layers below made: addresses and keys. A symmetric key belongs to both.",
    "multiplexor Ports {
    key { port: u16 }
    on unmatched(msg) from flow { if flow.port == 7 { drop msg: no_echo } else { drop msg: unmatched } }
}",
    "multiplexor Ports {
    key { port: u16 }
    on unmatched(msg) from flow { if flow.local.port == 7 { drop msg: no_echo } else { drop msg: unmatched } }
}";

    UNKNOWN_PORT = "M0217", "an unknown port",
    "A stack's ports are its devices and the layers that it exports.",
    "multiplexor Ports { key { port: u16 } }
stack Plain(device: Device) {
    ports = Ports over device
    export ports
}
test \"a listener\" {
    stack Plain(device)
    prots.bind(1, 7)
}",
    "multiplexor Ports { key { port: u16 } }
stack Plain(device: Device) {
    ports = Ports over device
    export ports
}
test \"a listener\" {
    stack Plain(device)
    ports.bind(1, 7)
}";

    UNKNOWN_HANDLE = "M0218", "a handle that nothing has bound",
    "A test binds a handle with `?s` where an output has one, and names it with `s` from then on.",
    "multiplexor Ports { key { port: u16 } }
stack Plain(device: Device) {
    ports = Ports over device
    export ports
}
test \"a session\" {
    stack Plain(device)
    ports.open(1, 7, 8)
    => ports.opened(1, ?session)
    ports.close(sesion)
}",
    "multiplexor Ports { key { port: u16 } }
stack Plain(device: Device) {
    ports = Ports over device
    export ports
}
test \"a session\" {
    stack Plain(device)
    ports.open(1, 7, 8)
    => ports.opened(1, ?session)
    ports.close(session)
}";

    CIRCLE = "M0219", "a definition that leads back to itself",
    "A constant, a type, a record and a bundle are made of others; one that holds itself would have no end.",
    "const A: u32 = B + 1
const B: u32 = A + 1",
    "const A: u32 = 1
const B: u32 = A + 1";

    UNUSED_STATE = "M0291", "state that is never used",
    "State costs octets in every instance. A name that begins with `_` says that this is meant.",
    "worker Plain { entity { var seen: u32 = 0 } }",
    "worker Plain {
    entity { var seen: u32 = 0 }
    on send(msg) {
        seen += 1
        below.send(msg)
    }
}";

    UNUSED_PARAMETER = "M0292", "a parameter that is never used",
    "A parameter that changes nothing misleads who sets it. A name that begins with `_` says that this is meant.",
    "worker Plain(limit: u32) { }",
    "worker Plain(limit: u32) { limit send: limit }";

    UNUSED_SERVICE = "M0293", "a service that is never used",
    "Every stack must name a server for what a layer uses; a layer that emits and handles none of its operations does not use it.",
    "service Errors { fail(msg: Message) }
worker Plain { uses Errors as errors }",
    "service Errors { fail(msg: Message) }
worker Plain {
    uses Errors as errors
    on deliver(msg) { errors.fail(msg) }
}";
}
