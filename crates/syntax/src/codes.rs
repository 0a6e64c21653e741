//! The codes of this crate's diagnostics, each with its page for `mokume explain`.
//!
//! A page says what is wrong and why, and shows a wrong and a right example; the tests read both.

use mokume_base::Code;

macro_rules! codes {
    ($($name:ident = $code:literal, $title:literal, $why:literal, $wrong:literal, $right:literal;)*) => {
        $(#[doc = $title] pub const $name: Code = Code($code);)*
        /// Code, title and page of every diagnostic of this crate.
        pub static CODES: &[(&str, &str, &str)] = &[$((
            $code,
            $title,
            concat!($why, "\n\nWrong:\n\n```wrong\n", $wrong, "\n```\n\nRight:\n\n```right\n", $right, "\n```\n"),
        )),*];
    };
}

codes! {
    UNREADABLE = "M0001", "a character that begins no token",
    "The language is written with letters, digits, `_`, double quotes and the signs of its operators. Comments begin with `//`.",
    "# the port of echo\nconst ECHO: u16 = 7",
    "// the port of echo\nconst ECHO: u16 = 7";

    OPEN_STRING = "M0002", "a string without an end",
    "A string ends on the line it begins on. Strings side by side are one string, so a long one may go over several lines.",
    "test \"nothing happens { }",
    "test \"nothing happens\" { }";

    BAD_NUMBER = "M0003", "a number that is none",
    "Numbers are decimal (`42`, `1_000`) or hexadecimal (`0x2a`), and fit 64 bits. A duration is a number and a unit, as two words.",
    "const PATIENCE: Duration = 20ms",
    "const PATIENCE: Duration = 20 ms";

    BAD_ADDRESS = "M0004", "an address that is none",
    "Numbers joined by dots are an address: four parts, each from 0 to 255, and behind a `/` a prefix length up to 32. There are no decimal fractions: use a smaller unit.",
    "const GATEWAY: u32 = 10.0.1",
    "const GATEWAY: u32 = 10.0.0.1";

    BAD_OCTETS = "M0005", "an octet string with a part that is no octet",
    "Between the quotes of `x\"…\"` stand pairs of hexadecimal digits, a pair for each octet; blanks may stand between octets.",
    "test \"a frame\" {\n    device.frame(x\"0 ff\")\n}",
    "test \"a frame\" {\n    device.frame(x\"00 ff\")\n}";

    BAD_ESCAPE = "M0006", "an unknown escape in a string",
    "The escapes are `\\n`, `\\r`, `\\t`, `\\0`, `\\\"`, `\\\\` and `\\x41`. Other octets are easier to write as `x\"…\"`.",
    "test \"a bell\" {\n    app.send(1, \"\\a\")\n}",
    "test \"a bell\" {\n    app.send(1, \"\\x07\")\n}";

    FOREIGN_COMMENT = "M0007", "a comment of another language",
    "Comments begin with `//` and end with their line; `///` documents the item below it.",
    "/* the port of echo */\nconst ECHO: u16 = 7",
    "/// The port of echo.\nconst ECHO: u16 = 7";

    EXPECTED = "M0100", "something else was expected here",
    "What stands here does not go on with what stands before it. The message says what may follow.",
    "worker Numbered {\n    limit send credit\n}",
    "worker Numbered {\n    limit send: credit\n}";

    EXPECTED_EXPRESSION = "M0101", "an expression was expected",
    "Here stands a value: a name, a number, a call, a record. It begins on the line of the `=` or word before it; only within brackets, and behind an operator, does an expression go on in the next line.",
    "const LIMIT: u16 =",
    "const LIMIT: u16 = 512";

    UNCLOSED = "M0102", "a bracket without its partner",
    "Every `{`, `(` and `[` is closed. The place shown is the opening one: its partner is missing before the place named with it.",
    "worker Echo {\n    on send(msg) {\n        below.send(msg\n    }\n}",
    "worker Echo {\n    on send(msg) {\n        below.send(msg)\n    }\n}";

    UNOPENED = "M0103", "a closing bracket without its partner",
    "Nothing is open where this bracket closes. Often a `}` further up is one too many.",
    "worker Echo {\n}\n}",
    "worker Echo {\n}";

    UNKNOWN_ITEM = "M0104", "no item of a file begins like this",
    "At the top of a file stand items: `use const type record enum attribute service fn worker multiplexor router endpoint bundle wire stack network test`. Members such as `on` and `session` stand in a layer.",
    "wroker Echo { }",
    "worker Echo { }";

    UNKNOWN_MEMBER = "M0105", "no member of a layer begins like this",
    "In a layer stand members: `header key address entity point session object publish limit serves uses reads writes fn on`. State stands in a scope: `session { … }` for each session, `entity { … }` once.",
    "worker Numbered {\n    var next: u32 = 0\n}",
    "worker Numbered {\n    session { var next: u32 = 0 }\n}";

    UNKNOWN_STATE = "M0106", "no kind of state begins like this",
    "In a scope or object stands state: `var const timer quota counter array map messages`.",
    "worker Numbered {\n    session { next: u32 = 0 }\n}",
    "worker Numbered {\n    session { var next: u32 = 0 }\n}";

    UNKNOWN_STATEMENT = "M0107", "no statement begins like this",
    "A statement is a call, a change, or begins with its keyword: `let if match while for return pass drop consume fail accept take give count start stop remove end again later`.",
    "worker Quiet {\n    on send(msg) { dorp msg: quiet }\n}",
    "worker Quiet {\n    on send(msg) { drop msg: quiet }\n}";

    SEMICOLON = "M0108", "a semicolon",
    "Statements and fields end with their line, or at the next one; nothing needs a `;` (only the types of arrays and maps have one, in front of their size).",
    "worker Echo {\n    on send(msg) { below.send(msg); }\n}",
    "worker Echo {\n    on send(msg) { below.send(msg) }\n}";

    FOREIGN_OPERATOR = "M0109", "an operator of another language",
    "The logical operators are the words `and`, `or`, `not`; a count goes up with `+= 1`; a new name is made by `let x = e`; parts are chosen with `.`; a choice between values is `if c { a } else { b }`.",
    "fn both(a: bool, b: bool) -> bool { return a && b }",
    "fn both(a: bool, b: bool) -> bool { return a and b }";

    WRONG_ARROW = "M0110", "`->` and `=>` mixed up",
    "`->` stands before the type of a result. `=>` stands before what happens: in an arm, and before the outputs of a test.",
    "fn twice(a: u32) => u32 { return a + a }",
    "fn twice(a: u32) -> u32 { return a + a }";

    TOO_DEEP = "M0111", "nested too deeply",
    "Blocks, brackets and operators nest to a bounded depth, so that no file exhausts the compiler. Give parts names with `let`, or move them to a `fn`.",
    "const DEEP: bool = !!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!true",
    "const DEEP: bool = !true";

    EXPECTED_TYPE = "M0112", "a type was expected",
    "Names of state, fields and parameters have their type behind a `:`. Types are `bool`, `u1` … `u64`, `seq1` … `seq64`, `Duration`, `Instant`, `Message`, `[u32; 8]`, `[u32 -> u48; 64]` and names of your own.",
    "const ECHO = 7",
    "const ECHO: u16 = 7";

    TEST_NOTATION = "M0113", "`?x` and `_` outside of a test",
    "In a test `?s` binds a handle and `_` is any value. In a `match`, the arm for all other values is `else`.",
    "fn known(kind: u8) -> bool {\n    match kind {\n        1 => { return true }\n        _ => { return false }\n    }\n}",
    "fn known(kind: u8) -> bool {\n    match kind {\n        1 => { return true }\n        else => { return false }\n    }\n}";

    EXPECTED_BLOCK = "M0114", "a block was expected",
    "What is done under a condition, in a loop, in an arm or by a handler stands in braces, even a single statement.",
    "fn least(a: u32, b: u32) -> u32 {\n    if a < b return a\n    return b\n}",
    "fn least(a: u32, b: u32) -> u32 {\n    if a < b { return a }\n    return b\n}";

    CHAINED_COMPARISON = "M0115", "comparisons in a chain",
    "A comparison gives a `bool`, which is not compared again. Join two comparisons with `and`.",
    "fn within(a: u32, b: u32, c: u32) -> bool { return a < b < c }",
    "fn within(a: u32, b: u32, c: u32) -> bool { return a < b and b < c }";

    MISSING_SEPARATOR = "M0116", "a separator is missing",
    "Arguments, parameters and names in lists have a `,` between them; so have the fields of a record on one line.",
    "record Pair { left: u32 right: u32 }",
    "record Pair { left: u32, right: u32 }";

    ASSIGN_IN_CONDITION = "M0117", "`=` where it gives no value",
    "`=` changes something and is no value. `==` compares; `if let v = m[k]` looks something up; `name: value` names an argument or a field.",
    "fn is_ask(kind: u8) -> bool {\n    if kind = 1 { return true }\n    return false\n}",
    "fn is_ask(kind: u8) -> bool {\n    if kind == 1 { return true }\n    return false\n}";

    NO_NEGATION = "M0118", "a minus sign in front of a value",
    "The numbers `uN` are not negative, so there is no sign. The two's complement of `x` is `0 -% x`.",
    "fn opposite(x: u32) -> u32 { return -x }",
    "fn opposite(x: u32) -> u32 { return 0 -% x }";

    UNKNOWN_STEP = "M0119", "no step of a test or network begins like this",
    "A test's steps are `stack …`, `port.event(…)`, `=> port.event(…)`, `=> nothing`, `dropped reason 1`, `consumed reason 1` and `after 20 ms`; a network's are `host`, `link`, `at`, `partition` and `until`.",
    "test \"quiet\" {\n    stack Quiet(device)\n    wait 20 ms\n    => nothing\n}",
    "test \"quiet\" {\n    stack Quiet(device)\n    after 20 ms\n    => nothing\n}";

    MISSING_LIMIT = "M0120", "a loop without a limit",
    "Every reaction ends: a loop says how many rounds it makes at most, and ends there.",
    "fn log2(x: u32) -> u32 {\n    for i in 0 .. 32 { if x >> i == 1 { return i } }\n    return 0\n}",
    "fn log2(x: u32) -> u32 {\n    for i in 0 .. 32 limit 32 { if x >> i == 1 { return i } }\n    return 0\n}";

    UNKNOWN_WIRE_MEMBER = "M0121", "no part of a wire begins like this",
    "In a wire stand fields (`source: u16 = Ports.source`), constraints (`where length >= 8`), `trim packet to length` and `choice kind { … }`.",
    "wire Plain big {\n    pad 8\n}",
    "wire Plain big {\n    pad: u8 = 0 unread\n}";

    UNKNOWN_STACK_MEMBER = "M0122", "no part of a stack begins like this",
    "In a stack stand layers with their names (`udp = Udp over ip[protocol: 17] with icmp`) and `export name`.",
    "stack Host(device: Device) {\n    ethernet: Ethernet(device.mac) over device\n}",
    "stack Host(device: Device) {\n    ethernet = Ethernet(device.mac) over device\n}";

    OTHER_UNIT = "M0364", "a unit of another language",
    "Durations have the units `ns`, `us`, `ms`, `s` and `min`.",
    "worker W {\n    entity { timer t }\n    on send(msg) {\n        start t after 20 msec\n        below.send(msg)\n    }\n    on expiry t { }\n}",
    "worker W {\n    entity { timer t }\n    on send(msg) {\n        start t after 20 ms\n        below.send(msg)\n    }\n    on expiry t { }\n}";
}
