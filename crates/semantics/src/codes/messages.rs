//! M04: messages.

codes! {
    LEAK = "M0401", "a message that leaks",
    "A message is a value that is given away exactly once on every path: sent, delivered, kept, joined, dropped or consumed. Where it is not wanted, say so: what is dropped is counted.",
    "worker Filter {
    on deliver(msg) { if msg.size > 4 { above.deliver(msg) } }
}",
    "worker Filter {
    on deliver(msg) { if msg.size > 4 { above.deliver(msg) } else { drop msg: short } }
}";

    GIVEN_TWICE = "M0402", "a message that is given away twice",
    "What was given away belongs to another. `msg.share()` makes a second message of the same octets, at the cost of a head.",
    "worker Echo {
    on deliver(msg) {
        above.deliver(msg)
        below.send(msg)
    }
}",
    "worker Echo {
    on deliver(msg) {
        above.deliver(msg.share())
        below.send(msg)
    }
}";

    USED_AFTER = "M0403", "a message that is used after it was given away",
    "Who has the message now may have changed it. Read what you need before.",
    "worker Counted {
    entity { var octets: u32 = 0 }
    on send(msg) {
        below.send(msg)
        octets += msg.size
    }
}",
    "worker Counted {
    entity { var octets: u32 = 0 }
    on send(msg) {
        octets += msg.size
        below.send(msg)
    }
}";

    GIVEN_IN_LOOP = "M0404", "a message that is given away in a loop",
    "The second round of the loop has none. Share it in the loop, and give the last one away behind it.",
    "worker Twice {
    on send(msg) { for i in 0 .. 2 limit 2 { below.send(msg) } }
}",
    "worker Twice {
    on send(msg) {
        for i in 0 .. 2 limit 2 { below.send(msg.share()) }
        drop msg: sent
    }
}";

    PATHS_DISAGREE = "M0405", "a message that may be gone already",
    "Behind an `if`, all branches that come there must agree whether the message is still held. Mostly a `return` is missing.",
    "worker Filter {
    on deliver(msg) {
        if msg.size < 4 { drop msg: short }
        above.deliver(msg)
    }
}",
    "worker Filter {
    on deliver(msg) {
        if msg.size < 4 {
            drop msg: short
            return
        }
        above.deliver(msg)
    }
}";

    THROWN_AWAY = "M0406", "a message that is made and thrown away",
    "`share`, `received` and `message` make new messages; each must be given away like any other.",
    "worker Plain {
    on send(msg) {
        msg.share()
        below.send(msg)
    }
}",
    "worker Plain {
    on send(msg) {
        below.send(msg.share())
        below.send(msg)
    }
}";

    OVERWRITTEN = "M0407", "a message that is overwritten",
    "The message that the name holds would be lost without being counted.",
    "worker Plain {
    on send(msg) {
        msg = message(\"another\")
        below.send(msg)
    }
}",
    "worker Plain {
    on send(msg) {
        drop msg: replaced
        msg = message(\"another\")
        below.send(msg)
    }
}";

    NO_MESSAGE = "M0408", "no message where one is needed",
    "Only messages are sent, delivered, dropped and consumed.",
    "worker Numbered {
    header { seq: u32 }
    entity { var next: u32 = 0 }
    on send(msg) { below.send(next, seq: 1)  drop msg: lost }
}",
    "worker Numbered {
    header { seq: u32 }
    entity { var next: u32 = 0 }
    on send(msg) { below.send(msg, seq: next) }
}";

    MESSAGE_STORED = "M0409", "a message where only values can be",
    "A variable could be copied or forgotten, and a message may not. Messages are kept in places, which are part of the pool's sum.",
    "worker Plain { session { var last: Message = message() } }",
    "worker Plain {
    entity { quota kept: 1 }
    session { messages last: 1 from kept }
    on send(msg) {
        if last.holds(0) {
            below.send(msg)
            return
        }
        take kept or {
            drop msg: busy
            return
        }
        last.put(0, msg)
    }
}";

    UNDECLARED = "M0410", "an attribute that the layer does not declare",
    "Who reads and writes an attribute is declared, so that one that nobody reads costs nothing.",
    "attribute ttl: u8 = 64
worker Hops {
    on send(msg) {
        msg.ttl = 3
        below.send(msg)
    }
}",
    "attribute ttl: u8 = 64
worker Hops {
    writes ttl
    on send(msg) {
        msg.ttl = 3
        below.send(msg)
    }
}";
}
