//! The codes of everything that can be wrong with an automaton, with the page that `mokume explain` shows for each.

use mokume_base::Code;

/// A code's page; `example` is an automaton, or a part of one, that earns the code.
#[derive(Clone, Copy, Debug)]
pub struct CodePage {
    pub code: Code,
    pub title: &'static str,
    pub page: &'static str,
    pub example: &'static str,
}

macro_rules! codes {
    ($($name:ident $code:literal $title:literal $page:literal $example:literal)*) => {
        $(#[doc = $title] pub const $name: Code = Code($code);)*

        /// All codes of this crate, in order.
        pub const CODES: &[CodePage] = &[
            $(CodePage { code: $name, title: $title, page: $page, example: $example },)*
        ];
    };
}

codes! {
    SYNTAX "M0801" "a line that cannot be read"
        "Each line of an automaton's text is one declaration or one operation. The message says what was expected where."
        "class seq.S capacity 64 on seq.E {   ; `in` belongs before the parent"
    UNKNOWN "M0802" "a name that nothing has"
        "Names are declared in the same text, in any order: layers, classes, cells, headers, reasons, ports, wires, functions. Values are defined in their body."
        "drop m, seq.stall   ; only `seq.stale` is declared"
    TWICE "M0803" "a name or a thing that is there twice"
        "Names are unique in their table; values and labels are unique in their body."
        "n = get s.next\nn = get s.last"
    NUMBER "M0804" "a number that does not fit"
        "A number must fit the type of the place where it stands."
        "credit: u4 = 16"
    LITERAL "M0805" "a literal whose type is not known"
        "A literal takes its type from where it stands. Where that says nothing, the literal says it."
        "big = lt 1, 2   ; write lt 1:u32, 2"
    UNENDED "M0806" "a block that does not end, or goes on behind its end"
        "A block is operations and then one line that leaves it: return, jump, br, or an operation that branches."
        "go:\n  set s.next, n\nhold:"
    OBJECT "M0807" "no object, or none of this kind"
        "A cell, a parent or an event belongs to an object: a value of type `@class`."
        "n = get m.next   ; `m` is a message"
    TYPE "M0810" "a value of another type than belongs here"
        "Every operand has the type that its operation, cell, header, event or block parameter asks for. Nothing is converted silently: `cast` converts."
        "set s.next, n   ; `next` is seq32 and `n` is u32"
    COUNT "M0811" "more or fewer than belong here"
        "An operation, an event, a header and a block each have their number of operands and results."
        "emit b.send(m, m2)   ; `send` takes one message"
}
