//! M03: types and values.

codes! {
    MISMATCH = "M0301", "a value of another type",
    "A value goes where its own type is wanted; a number also where a wider one is. `seqN`, `Duration`, `Instant` and enums are kept apart from numbers, and a cast goes from one to the other.",
    "worker Plain {
    session { timer quiet }
    on send(msg) {
        start quiet after 20
        below.send(msg)
    }
    on expiry quiet { }
}",
    "worker Plain {
    session { timer quiet }
    on send(msg) {
        start quiet after 20 ms
        below.send(msg)
    }
    on expiry quiet { }
}";

    TOO_BIG = "M0302", "a constant that does not fit",
    "A number takes the type of where it stands, and must fit it.",
    "const LIMIT: u8 = 300",
    "const LIMIT: u16 = 300";

    BAD_OPERANDS = "M0303", "an operator that does not take these types",
    "Both operands are numbers of the same kind. Conditions are joined with `and`, `or`, `not`; an instant and a duration give an instant; two instants give a duration.",
    "fn newer(a: seq32, b: u32) -> bool { return a > b }",
    "fn newer(a: seq32, b: u32) -> bool { return a > b as seq32 }";

    NARROWS = "M0304", "a wider value without a cast",
    "Fewer bits may not hold the value: say what is to happen. `as u8` reports what does not fit, `as% u8` keeps the low bits.",
    "fn low(x: u32) -> u8 { return x }",
    "fn low(x: u32) -> u8 { return x as% u8 }";

    WRONG_COUNT = "M0305", "too many or too few",
    "A function, an event, a key and an index take as many values as they were declared with.",
    "fn double(x: u32) -> u32 { return x + x }
const FOUR: u32 = min(1, 2, 3)",
    "fn double(x: u32) -> u32 { return x + x }
const FOUR: u32 = min(1, 2)";

    MISSING_ARGUMENT = "M0306", "something is missing",
    "A parameter without a default needs a value, an event what it carries, an object its capacity.",
    "worker Length(extra: u32) { publish mtu: u32 = below.mtu - extra }
bundle Short = Length",
    "worker Length(extra: u32) { publish mtu: u32 = below.mtu - extra }
bundle Short = Length(extra: 2)";

    NO_SCALAR = "M0307", "no scalar where one is needed",
    "Fields of headers, keys, addresses and maps are scalars: `bool`, `uN`, `seqN`, `Duration`, `Instant` and enums.",
    "record Pair { left: u32, right: u32 }
worker Plain { header { both: Pair } }",
    "worker Plain { header { left: u32, right: u32 } }";

    NOT_EXHAUSTIVE = "M0308", "a `match` that forgets values",
    "A `match` says what happens for every value; `else` takes the rest.",
    "enum Kind: u8 { Ask, Tell }
fn is_ask(kind: Kind) -> bool {
    match kind {
        Kind.Ask => { return true }
    }
    return false
}",
    "enum Kind: u8 { Ask, Tell }
fn is_ask(kind: Kind) -> bool {
    match kind {
        Kind.Ask => { return true }
        else => { return false }
    }
}";

    CASE_TWICE = "M0309", "a case that is never reached",
    "The first arm that fits is taken, so a second one for the same value never is.",
    "fn name(x: u8) -> u8 {
    match x {
        1 => { return 10 }
        1 => { return 20 }
        else => { return 0 }
    }
}",
    "fn name(x: u8) -> u8 {
    match x {
        1 => { return 10 }
        2 => { return 20 }
        else => { return 0 }
    }
}";

    NOT_CONSTANT = "M0310", "a value that is not known before the start",
    "Constants, sizes and keys in stacks are known before the first input: they are made of numbers, constants and parameters.",
    "const BEGIN: Instant = now",
    "worker Plain {
    session { var begin: Instant = now }
    publish age: Duration = now - begin
}";

    NO_CAST = "M0311", "a cast that does not exist",
    "Casts go between numbers of all kinds, and from an enum to its number. Not every number has a name, so the way back is a `match`.",
    "enum Kind: u8 { Ask, Tell }
fn kind(x: u8) -> Kind { return x as Kind }",
    "enum Kind: u8 { Ask, Tell }
fn kind(x: u8) -> Kind { return if x == 0 { Kind.Ask } else { Kind.Tell } }";

    NOT_ASSIGNABLE = "M0312", "an assignment to what does not change",
    "State, locals, elements and attributes change; parameters of layers and constants do not, and another layer's state is its own.",
    "worker Credit(grant: u16 = 32) {
    on send(msg) {
        grant = 8
        below.send(msg)
    }
}",
    "worker Credit(grant: u16 = 32) {
    entity { var left: u16 = grant }
    on send(msg) {
        left = 8
        below.send(msg)
    }
}";

    CONSTANT_SET = "M0313", "a constant of an object that is set too late",
    "A `const` in a scope is set where the object begins: in its declaration, `on start`, `on open` or `on accepted`.",
    "worker Plain {
    session { const first: u32 = 0 }
    on send(msg) {
        first = msg.size
        below.send(msg)
    }
}",
    "worker Plain {
    session { var first: u32 = 0 }
    on send(msg) {
        first = msg.size
        below.send(msg)
    }
}";

    NO_VALUE = "M0314", "no value where one is needed",
    "A function with a result gives it on every path; an `if` used as a value has two branches with one value each; operations of services give nothing back.",
    "fn sign(x: u32) -> u32 {
    if x > 0 { return 1 }
}",
    "fn sign(x: u32) -> u32 {
    if x > 0 { return 1 }
    return 0
}";

    WRONG_STATE = "M0315", "state of another kind",
    "Timers are started and stopped, quotas taken and given, counters counted, maps looked up. Only variables are values.",
    "worker Plain {
    session { timer quiet }
    on send(msg) { if quiet { drop msg: waiting } else { below.send(msg) } }
    on expiry quiet { }
}",
    "worker Plain {
    session { timer quiet }
    on send(msg) { if running quiet { drop msg: waiting } else { below.send(msg) } }
    on expiry quiet { }
}";

    NO_TYPE = "M0316", "a type that must be written",
    "A parameter's type is written, unless the event says what it is; a random number is as wide as what it is for.",
    "fn double(x) -> u32 { return x + x }",
    "fn double(x: u32) -> u32 { return x + x }";

    RECURSION = "M0317", "a function that calls itself",
    "A stack's memory is known before it starts, so nothing recurs. A loop with a limit does what recursion would.",
    "fn down(x: u32) -> u32 { return if x == 0 { 0 } else { down(x - 1) } }",
    "fn down(x: u32) -> u32 {
    let left = x
    while left > 0 limit 32 { left -= 1 }
    return left
}";

    MUST_LEAVE = "M0318", "what happens without room is not said",
    "Containers have a capacity. The block behind `or` says what happens beyond it, and leaves: what follows relies on the room.",
    "worker Plain {
    entity { quota kept: 8 }
    on send(msg) {
        take kept or { count_it() }
        below.send(msg)
    }
    fn count_it() { }
}",
    "worker Plain {
    entity { quota kept: 8 }
    on send(msg) {
        take kept or {
            drop msg: busy
            return
        }
        below.send(msg)
    }
}";

    FIELDS_MISSING = "M0319", "a record without some of its fields",
    "A record is given with all its fields.",
    "record Pair { left: u32, right: u32 }
const ONE: Pair = Pair { left: 1 }",
    "record Pair { left: u32, right: u32 }
const ONE: Pair = Pair { left: 1, right: 0 }";

    UNUSED_VALUE = "M0320", "a value that nobody uses",
    "A statement has an effect. `x == 1` alone compares and does nothing; `x = 1` assigns.",
    "worker Plain {
    entity { var sent: u32 = 0 }
    on send(msg) {
        sent + 1
        below.send(msg)
    }
}",
    "worker Plain {
    entity { var sent: u32 = 0 }
    on send(msg) {
        sent += 1
        below.send(msg)
    }
}";

    EMPTY_SIZE = "M0321", "room for nothing",
    "A container, a limit or a capacity of 0 holds nothing and runs never.",
    "worker Plain {
    entity { array seen: [u32; 0] }
    on send(msg) {
        seen[0] = msg.size
        below.send(msg)
    }
}",
    "worker Plain {
    entity { array seen: [u32; 1] }
    on send(msg) {
        seen[0] = msg.size
        below.send(msg)
    }
}";

    UNREACHABLE = "M0390", "code that is never reached",
    "What stands behind a `return` on every path never runs.",
    "fn double(x: u32) -> u32 {
    return x + x
    return x
}",
    "fn double(x: u32) -> u32 { return x + x }";
}
