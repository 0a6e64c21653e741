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
    KIND "M0812" "an operation on a cell of another kind"
        "`get` and `set` work on values and arrays, `arm` on timers, `take` and `give` on quotas, `keep` and `takeout` on messages, `find` on maps."
        "take s.next, 1 then ok else full   ; `next` is a seq32"
    UNDEFINED "M0813" "a value that is not defined on every way to its use"
        "A value's definition comes before its use on every way from the entry. What differs between ways is passed as an argument of a block."
        "    br c left, right\n  left:\n    n = get s.next\n    jump end\n  right:\n    jump end\n  end:\n    set s.next, n"
    LEAK "M0814" "a message that is not given away"
        "Messages are linear: on every way through a handler each is emitted, put out, kept, joined, dropped or consumed exactly once. Two ways that meet must hold the same messages."
        "handler seq.S.deliver(s, m: msg) {\n    return   ; what became of `m`?\n}"
    USED_TWICE "M0815" "a message that is used after it was given away"
        "A message that was given away is gone, and so is one that was pushed onto: the result is the message from then on."
        "m1 = push m, seq.Hdr{seq: n}\nemit b.send(m)   ; `m1` is the message now"
    UNBOUNDED "M0816" "a loop without a bound"
        "Handlers end: every cycle of blocks goes through a block with `bound n`, and none through the entry. Entered once more than its bound, the loop is left by a report."
        "again:\n    br c again, done"
    FOREIGN_WRITE "M0817" "a write to another layer's object"
        "A handler writes the cells of its own layer, and the cells that a link to a neighbour names. For anything else it emits an event."
        "set b.credit, 0   ; in a handler of the layer above"
    FOREIGN_READ "M0818" "a read of another layer's cell"
        "A neighbour's state is read through functions that it publishes, at the reader's own turn."
        "k = get b.credit   ; write: k = call credit.S.room(b)"
    EFFECT "M0819" "an effect where none is allowed"
        "Functions compute; published ones read their own layer's cells too. They have no messages, no effects, no recursion, and end by `yield`; handlers end by `return`."
        "function twice(n: u32) -> (u32) {\n    n1 = call twice(n)\n    yield n1\n}"
    NO_HANDLER "M0820" "an event that nothing handles"
        "An emission, an input of a port, a timer and a settle limit each have a handler of that class."
        "emit b.sned(m)"
    OWN_LAYER "M0821" "an event for the own layer"
        "A handler is never re-entered, so a layer does not send itself events: it works on all its objects directly, or asks for a reaction of its own by `later`."
        "emit c.grant(n)   ; `c` is of the same layer"
    PORT "M0822" "an input that does not fit its handler"
        "An input of a port has the parameters of its handler; for a class that is not a unique one, the object comes first."
        "in send(m: msg) -> seq.S.send   ; which session?"
    SIZE "M0823" "a size or a number without sense"
        "Capacities, sizes, quotas, ticks, bounds and limits are at least 1; widths are 1 to 64; probabilities are 0 to 1."
        "class seq.S capacity 0 in seq.E {"
    PARENT "M0824" "a parent that cannot be one"
        "An object ends with its parent, which is of the same layer; a class is not inside itself; a quota is of the class or one around it."
        "class seq.S capacity 4 in credit.E {"
    LINK "M0825" "a link that does not fit its cells"
        "A link joins classes of two layers by cells that refer to the other side; only the one below of `1:1` knows the one above."
        "link seq.S.next = credit.S.above 1:1   ; `next` is a number"
    NOT_DEFINED "M0826" "an operation or a kind that does not exist for this type"
        "Arithmetic and order are for numbers; references and reasons are only equal or not; cells of one value, keys, headers and attributes hold what can be copied."
        "c = lt s, t   ; two objects"
    LATER "M0827" "an event that cannot come later"
        "`later` needs a queue at its target: `handler seq.S.send(s, m: msg) later 4 {`."
        "later b.send(m) then ok else full   ; the handler has no `later n`"
    CASES "M0828" "cases that do not fit"
        "A `switch` has each number once; a `match` has each variant of its header once."
        "match m, credit.Hdr { Data -> data(..) }   ; and Grant?"
    DANGLING "M0829" "an identifier that refers to nothing"
        "Only a program that makes automata can do this: an index beyond its table. The text form cannot say it."
        "OpKind::Param { param: ParamId(7) }   // with two params"
    WIRE_FIELD "M0830" "a field of a wire that cannot be"
        "Fields have 1 to 64 bits and are numbered in the order in which they stand, arms included."
        "field port: 0 from udp.Hdr.port"
    WIRE_COVER "M0831" "a header's field without a place, or with two"
        "On every way through a wire's choices each field of the headers it carries has exactly one place; else decoding would not be the inverse of encoding."
        "wire W big {\n  headers seq.Hdr\n  short W.short\n}"
    WIRE_ARMS "M0832" "arms that do not fit their choice"
        "Tags are distinct, and arms that select variants of a header stand for all of them."
        "case 0 select credit.Hdr.Data {\n}   ; and Grant?"
    WIRE_NAME "M0833" "a field that is not there"
        "A choice is on a field that comes before it; constraints and computed values name fields of the same wire."
        "choice kind else W.unknown {   ; before `field kind: 8 tag`"
    WIRE_TRIM "M0834" "more than one end of the packet"
        "At most one field says how long the packet is."
        "field length: 16 computed packet_size() else W.length trims   ; and a second one"
    WIRE_OCTETS "M0835" "a header that does not end on an octet"
        "Packets are octets: on every way the bits add up to whole ones. An order of octets is for fields of whole octets."
        "field flags: 3 reserved   ; and nothing behind it"
    COMPOSITION "M0836" "a composition that does not fit the stack"
        "Merged classes are linked 1:1 in that order, each is merged once, and queued channels are sorted."
        "merged seq.S, seq.S"
}
