//! M0550 to M0579: types of layers, events of one's own, back-pressure.

codes! {
    SIGNATURE_PART = "M0550", "a part that no signature has",
    "A signature says what comes out above a layer: `unit`, `boundaries`, events that go `down` or `up`, parts of flows, published values, attributes, vocabularies. Events of the language have their direction.",
    "signature Exact { boundaries exactly }",
    "signature Exact { boundaries exact }";

    SIGNATURE_DISAGREES = "M0551", "a signature that says two things about one name",
    "What a signature includes is part of it. A name that two included signatures share is one thing, so it has one type.",
    "signature Narrow { publish room: u8 }
signature Wide { publish room: u32 }
signature Both { include Narrow, Wide }",
    "signature Narrow { publish room: u32 }
signature Wide { publish room: u32 }
signature Both { include Narrow, Wide }";

    UNMET_NEED = "M0552", "a layer over something other than it needs",
    "`needs S` says what must come up from below a layer, `gives S` what comes out above it. What a layer in between does not mention passes through it.",
    "signature Summed { publish pseudo_sum(flow): u32 }
worker Checks { needs Summed }
worker Plain { }
stack One(device: Device) {
    app = Checks over plain
    plain = Plain over device
    export app
}",
    "signature Summed { publish pseudo_sum(flow): u32 }
worker Checks { needs Summed }
worker Sums { publish pseudo_sum(flow): u32 = 7 }
stack One(device: Device) {
    app = Checks over sums
    sums = Sums over device
    export app
}";

    PADDED = "M0553", "exact boundaries over padded ones",
    "A link may lengthen short messages. A layer that needs the length of what was sent says `needs exact`; a bundle whose wire trims, or a layer that says `gives exact`, puts an end to padding.",
    "worker Fills { gives padded }
worker Exactly { needs exact }
stack One(device: Device) {
    app = Exactly over fills
    fills = Fills over device
    export app
}",
    "worker Fills { gives padded }
worker Exactly { needs exact }
worker Cuts { gives exact }
stack One(device: Device) {
    app = Exactly over cuts
    cuts = Cuts over fills
    fills = Fills over device
    export app
}";

    EMPTY_GIFT = "M0554", "a layer that does not give what it says",
    "`gives S` is a promise about all that comes out above a layer, from itself or through it from below. It is checked wherever the layer stands.",
    "signature Summed { publish pseudo_sum(flow): u32 }
worker Sums { gives Summed }
stack One(device: Device) {
    app = Sums over device
    export app
}",
    "signature Summed { publish pseudo_sum(flow): u32 }
worker Sums {
    gives Summed
    publish pseudo_sum(flow): u32 = 7
}
stack One(device: Device) {
    app = Sums over device
    export app
}";

    HIGHER_PARAMETER = "M0555", "a parameter of a kind that this cannot have",
    "Layers and bundles may have functions as parameters, bundles also layers. Who applies them to functions and layers gets one made for these; nothing is looked up while the stack runs.",
    "worker Upper(Lower: worker) { }",
    "worker Upper { }
bundle Both(Lower: worker) = Upper / Lower";

    HIGHER_ARGUMENT = "M0556", "a function or layer that does not fit",
    "What is given for a parameter that is a function has exactly its type; for one that is a layer it has the shape (`worker`, `multiplexor`, `router`, `endpoint`, `layer` for any), or says that it gives the signature.",
    "worker Upper { }
multiplexor Ports { key { port: u16 } }
bundle Both(Lower: worker) = Upper / Lower
stack One(device: Device) {
    app = Both(Ports) over device
    export app
}",
    "worker Upper { }
worker Plain { }
bundle Both(Lower: worker) = Upper / Lower
stack One(device: Device) {
    app = Both(Plain) over device
    export app
}";

    VOCABULARY_WAY = "M0557", "an event of a vocabulary in the other direction",
    "A vocabulary says for each of its events whether it goes down or up.",
    "vocabulary Presence { up known(who: u8) }
worker Tells {
    speaks Presence
    on start { below.known(1) }
}",
    "vocabulary Presence { up known(who: u8) }
worker Tells {
    speaks Presence
    on start { above.known(1) }
}";

    NO_ORIGIN = "M0559", "an event that has no origin",
    "A layer that speaks a vocabulary and waits for one of its events is asleep where nobody emits it.",
    "vocabulary Presence { up known(who: u8) }
worker Hears {
    speaks Presence
    entity { counter heard }
    on known(who) { count heard who }
}
stack One(device: Device) {
    app = Hears over device
    export app
}",
    "vocabulary Presence { up known(who: u8) }
worker Hears {
    speaks Presence
    entity { counter heard }
    on known(who) { count heard who }
}
worker Tells {
    speaks Presence
    on start { above.known(1) }
}
stack One(device: Device) {
    app = Hears over tells
    tells = Tells over device
    export app
}";

    LOCAL_REASON = "M0560", "a reason that no other layer has",
    "What a layer drops for is its own business; `failed(reason)` and services carry reasons to others. The standard ones (bad_address, no_route, refused, reset, timed_out, too_big, no_room, gone) and those of vocabularies are the same in all layers; others are never equal.",
    "worker Watches {
    session { counter late }
    on failed(reason) {
        if reason == tardy { count late }
        pass
    }
}",
    "worker Watches {
    session { counter late }
    on failed(reason) {
        if reason == timed_out { count late }
        pass
    }
}";

    NEVER_CHANGES = "M0561", "a change that never comes",
    "`on change below.x` runs when a layer below publishes another value of `x` than before. What a device publishes is fixed at the start.",
    "worker Follows {
    entity { counter changes }
    on change below.mtu { count changes }
}
stack One(device: Device) {
    app = Follows over device
    export app
}",
    "worker Follows {
    entity { counter changes }
    on change below.mtu { count changes }
}
worker Varies {
    entity { var most: u32 = 100 }
    publish mtu: u32 = most
    on send(msg) {
        most = msg.size
        below.send(msg)
    }
}
stack One(device: Device) {
    app = Follows over varies
    varies = Varies over device
    export app
}";

    BEYOND_CREDIT = "M0562", "sending beyond the credit",
    "`limit send` says how many messages a layer takes. Who sends more on every way through a handler is refused; where it depends on what happens, an application's port drops what is beyond as `no_credit`.",
    "worker Twice {
    on send(msg) {
        below.send(msg.share())
        below.send(msg)
    }
}
worker One { limit send: 1 }
stack Both(device: Device) {
    app = Twice over one
    one = One over device
    export app
}",
    "worker Twice {
    on send(msg) {
        if below.credit > 1 { below.send(msg.share()) }
        below.send(msg)
    }
}
worker One { limit send: 1 }
stack Both(device: Device) {
    app = Twice over one
    one = One over device
    export app
}";

    BEYOND_MTU = "M0563", "a message larger than what is below can carry",
    "`publish mtu` says how large a message may be that is sent to a layer. One whose octets stand in the program and are more is refused; others are looked at when they are sent, by the layer that says so.",
    "worker Small { publish mtu: u32 = min(below.mtu, 4) }
worker Greets { on start { below.send(message(\"hello\")) } }
stack One(device: Device) {
    app = Greets over small
    small = Small over device
    export app
}",
    "worker Small { publish mtu: u32 = min(below.mtu, 4) }
worker Greets { on start { below.send(message(\"hi\")) } }
stack One(device: Device) {
    app = Greets over small
    small = Small over device
    export app
}";
}
