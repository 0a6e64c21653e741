//! M033 and M034: containers, functions that may refuse, functions in C.

codes! {
    REFUSAL_UNMET = "M0330", "what happens when a call is refused is not said",
    "A function that says `or refuse` may have no room, or nothing to give. It then gives the messages among its arguments back; the block behind `or` says what becomes of them, and `if let` takes the value where there is one.",
    "worker Waits {
    entity { var room: u32 = 1 }
    fn enter() or refuse {
        if room == 0 { refuse }
        room -= 1
    }
    on send(msg) {
        enter()
        below.send(msg)
    }
}",
    "worker Waits {
    entity { var room: u32 = 1 }
    fn enter() or refuse {
        if room == 0 { refuse }
        room -= 1
    }
    on send(msg) {
        enter() or {
            drop msg: full
            return
        }
        below.send(msg)
    }
}";

    REFUSES_NOT = "M0331", "`refuse` in a function that does not say so",
    "Who calls a function must know whether it may refuse. It says so in its head, behind the parameters or the result: `or refuse`.",
    "worker Waits {
    entity { var room: u32 = 1 }
    fn enter() {
        if room == 0 { refuse }
        room -= 1
    }
    on send(msg) {
        enter()
        below.send(msg)
    }
}",
    "worker Waits {
    entity { var room: u32 = 1 }
    fn enter() or refuse {
        if room == 0 { refuse }
        room -= 1
    }
    on send(msg) {
        enter() or {
            drop msg: full
            return
        }
        below.send(msg)
    }
}";

    REFUSED_NAMELESS = "M0332", "a message without a name is given to a function that may refuse",
    "When the function refuses, the message comes back, and must have a name to come back to. Bind it with `let` first.",
    "worker Copies {
    entity { messages kept: 1 }
    fn keep(msg: Message) or refuse {
        if kept.holds(0) { refuse }
        kept.put(0, msg)
    }
    on send(msg) {
        keep(msg.share()) or { return }
        below.send(msg)
    }
}",
    "worker Copies {
    entity { messages kept: 1 }
    fn keep(msg: Message) or refuse {
        if kept.holds(0) { refuse }
        kept.put(0, msg)
    }
    on send(msg) {
        let copy = msg.share()
        keep(copy) or {
            drop copy: full
            drop msg: full
            return
        }
        below.send(msg)
    }
}";

    CONTAINER_TYPES = "M0333", "a container with other types than it asks for",
    "A container names a type for each name between `<` and `>` of its declaration.",
    "container cell<T>() { array item: [T; 1] }
worker Keeps {
    entity { cell<u32, u8> last() }
    on send(msg) { below.send(msg) }
}",
    "container cell<T>() { array item: [T; 1] }
worker Keeps {
    entity { cell<u32> last() }
    on send(msg) { below.send(msg) }
}";

    CONTAINER_MEMBER = "M0334", "what a container does not have",
    "A container is state and functions. Events come to layers; what a container has to say, its functions give back.",
    "container cell<T>() {
    array item: [T; 1]
    on settle limit 1 { item[0] = 0 }
}
worker Keeps {
    entity { cell<u32> last() }
    on send(msg) {
        below.send(msg)
    }
}",
    "container cell<T>() {
    array item: [T; 1]
    fn clear() { item[0] = 0 }
}
worker Keeps {
    entity { cell<u32> last() }
    on send(msg) {
        below.send(msg)
    }
}";

    CONTAINER_UNKNOWN = "M0335", "a container has no such function",
    "A container is used by its functions; the page on state in `docs/language.md` lists those of the library.",
    "container cell<T>() {
    array item: [T; 1]
    fn get() -> T { return item[0] }
}
worker Keeps {
    entity { cell<u32> last() }
    on send(msg) {
        if last.fetch() == 0 { drop msg: early } else { below.send(msg) }
    }
}",
    "container cell<T>() {
    array item: [T; 1]
    fn get() -> T { return item[0] }
}
worker Keeps {
    entity { cell<u32> last() }
    on send(msg) {
        if last.get() == 0 { drop msg: early } else { below.send(msg) }
    }
}";

    CONTAINER_WALK = "M0336", "a container that cannot be walked over",
    "`for x in c` asks the container for `size()`, a `u32`, and for `at(i)`, which gives an element or refuses.",
    "container cell<T>() {
    array item: [T; 1]
    fn get() -> T { return item[0] }
}
worker Sums {
    entity {
        cell<u32> last()
        var sum: u32 = 0
    }
    on send(msg) {
        for x in last limit 1 { sum += x }
        below.send(msg)
    }
}",
    "container cell<T>() {
    array item: [T; 1]
    fn size() -> u32 { return 1 }
    fn at(i: u32) -> T or refuse {
        if i > 0 { refuse }
        return item[0]
    }
}
worker Sums {
    entity {
        cell<u32> last()
        var sum: u32 = 0
    }
    on send(msg) {
        for x in last limit 1 { sum += x }
        below.send(msg)
    }
}";

    QUOTA_WANTED = "M0337", "a container that takes from a quota, and is given none",
    "A container that keeps messages may take a unit of a quota for each by itself: `quota` in its code is the one that the declaration names behind `from`.",
    "container cell() {
    messages held: 1
    fn put(msg: Message) or refuse {
        take quota or { refuse }
        held.put(0, msg)
    }
}
worker Keeps {
    entity { cell last() }
    on send(msg) {
        last.put(msg) or { drop msg: full }
    }
}",
    "container cell() {
    messages held: 1
    fn put(msg: Message) or refuse {
        take quota or { refuse }
        held.put(0, msg)
    }
}
worker Keeps {
    entity {
        quota kept: 1
        cell last() from kept
    }
    on send(msg) {
        last.put(msg) or { drop msg: full }
    }
}";

    DATA_PARTS = "M0343", "an enum's value without its parts, or with others",
    "A name of an enum may have parts: `Circle(radius: u32)`. A value gives each of them a value, a pattern a name for each, in order.",
    "enum Shape: u8 { Nothing, Circle(radius: u32) }
fn unit() -> Shape { return Shape.Circle }",
    "enum Shape: u8 { Nothing, Circle(radius: u32) }
fn unit() -> Shape { return Shape.Circle(1) }";

    DATA_IN_VALUE = "M0344", "an enum with data is matched where a constant is wanted",
    "The parts of a value are bound in code; a constant or an argument in a stack has none.",
    "enum Shape: u8 { Nothing, Circle(radius: u32) }
const SIZE: u32 = match Shape.Circle(3) { Shape.Circle(r) => { r }  else => { 0 } }",
    "enum Shape: u8 { Nothing, Circle(radius: u32) }
fn size(s: Shape) -> u32 { return match s { Shape.Circle(r) => { r }  else => { 0 } } }
worker Sizes {
    entity { var size: u32 = 0 }
    on send(msg) {
        size = size(Shape.Circle(3))
        below.send(msg)
    }
}";

    EXTERN_TYPES = "M0340", "what a function in C cannot be given or give",
    "A function in C is given numbers (records of them too) and at most one message, whose octets it may change in place; it gives one number, or nothing.",
    "extern fn sum(a: Message, b: Message) -> u32 from \"sum.c\" { return a.size + b.size }",
    "extern fn sum(a: Message) -> u32 from \"sum.c\" { return a.size }";

    EXTERN_FILE = "M0341", "a function in C without its file",
    "The file in C stands beside the one that declares the function, or in the same module of the library; it is compiled with the stack.",
    "extern fn twice(a: u32) -> u32 { return a +% a }",
    "extern fn twice(a: u32) -> u32 from \"twice.c\" { return a +% a }";
}
