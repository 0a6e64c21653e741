//! The table of operations: one line each. A new operation is a line here, and an arm in each of those who run,
//! translate, explore and prove; nothing else in this crate.
//!
//! A line says the operation's name, how it is written ([`super::template`]), its fields with their [`Kind`], what it gives,
//! and its [`Effects`]. A fallible operation also says, behind `/`, what it gives where it is refused.

use super::kinds::{data, Data};
use super::{Effects, Given, Kind, Operation, Row, Slot};
use crate::Value;

macro_rules! operations {
    ($(#[$about:meta])* $enum:ident {
        $($(#[$doc:meta])* $name:ident $text:literal { $($field:ident: $kind:ident),* } -> [$($given:ident),*]
            $(/ [$($refused:ident),*])? $($back:ident)? { $($effect:ident)|* };)*
    }) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Debug)]
        pub enum $enum { $($(#[$doc])* $name { $($field: data::$kind),* },)* }

        impl $enum {
            /// The lines of the table.
            pub const ROWS: &'static [Row] = &[$(Row {
                name: stringify!($name),
                text: $text,
                fields: &[$((stringify!($field), Kind::$kind)),*],
                results: &[$(Given::$given),*],
                otherwise: &[$($(Given::$refused),*)?],
                gives_back: operations!(@back $($back)?),
                effects: Effects::empty()$(.union(Effects::$effect))*,
            },)*];

            fn number(&self) -> usize {
                #[allow(clippy::enum_variant_names)]
                enum Discriminant { $($name,)* }
                match self { $($enum::$name { .. } => Discriminant::$name as usize,)* }
            }

            /// The operation of a line, with these fields; none if they are not of its kinds.
            pub fn of_slots(row: usize, slots: Vec<Slot<'_>>) -> Option<$enum> {
                #[allow(unused_mut)]
                let mut slots = slots.into_iter();
                let mut place = 0..;
                $(if place.next() == Some(row) {
                    return Some($enum::$name { $($field: Data::of_slot(slots.next()?)?),* });
                })*
                None
            }
        }

        impl Operation for $enum {
            fn row(&self) -> &'static Row {
                &Self::ROWS[self.number()]
            }

            fn slots(&self) -> Vec<Slot<'_>> {
                match self { $($enum::$name { $($field),* } => vec![$($field.slot()),*],)* }
            }

            fn for_each_operand(&self, f: &mut dyn FnMut(Value)) {
                match self { $($enum::$name { $($field),* } => { $($field.each(f);)* })* }
            }

            fn for_each_operand_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
                match self { $($enum::$name { $($field),* } => { $($field.each_mut(f);)* })* }
            }

            fn effects(&self) -> Effects {
                operations!(@effects $enum, self)
            }
        }
    };
    (@back) => { false };
    (@back gives_back) => { true };
    (@effects OpKind, $self:ident) => {
        match $self {
            // Whether arithmetic may report depends on what it is.
            OpKind::Binary { op, .. } if !op.may_report() => Effects::empty(),
            other => other.row().effects,
        }
    };
    (@effects Fallible, $self:ident) => { $self.row().effects };
}

operations! {
    /// Operations that do not branch. Messages that are *borrowed* stay usable; all others are used up.
    OpKind {
        // -- values
        /// A scalar, or a reason by its number.
        Const "=" { ty: ConstantType, value: Number } -> [Named] {};
        /// The reference to nothing.
        Null "=" { class: Class } -> [Reference] {};
        /// Both of one type; the result has it too.
        Binary "{op} {a}, {b}" { op: Arithmetic, a: Operand, b: Operand } -> [First] { REPORTS };
        /// Both of one type.
        Compare "{op} {a}, {b}" { op: Comparison, a: Compared, b: Compared } -> [Truth] {};
        /// Logical on `bool`, bitwise on numbers.
        Not "not {a}" { a: Bits } -> [First] {};
        /// `if c { a } else { b }`; not on messages.
        Select "select {c}, {a}, {b}" { c: Truth, a: Alike, b: Alike } -> [Alike] {};
        /// To another scalar type: the low bits, or filled up with zeros.
        Cast "cast {a} to {to}" { a: Scalar, to: ScalarType } -> [Named] {};
        Param "param {param}" { param: Param } -> [Param] {};
        /// Nanoseconds; constant in a reaction.
        Now "now" {} -> [Word64] {};
        Call "call {function}({args})" { function: Function, args: Arguments } -> [Results] { READS | REPORTS };
        /// What the procedure does, the handler does here.
        Run "run {procedure}({args})" { procedure: Procedure, args: Arguments } -> [Results]
            { READS | WRITES | EMITS | REPORTS | COUNTS | TAKES };
        /// A random number from the object's own stream.
        Sample "sample {ty} from {object}" { ty: ScalarType, object: Own } -> [Named] { READS | WRITES };
        /// The one object of a unique class.
        Unique "unique {class}" { class: UniqueClass } -> [Reference] {};
        /// The object that `object` was made in.
        Parent "parent {object}" { object: Object } -> [Enclosing] { READS };
        /// Whether the object is there: not `null`, and not ended.
        Lives "lives {object}" { object: Object } -> [Truth] { READS };

        // -- arrays as values: none of these reports; an index is of items, from 0
        /// The values in order; behind them zeros.
        Pack "pack {ty}({values})" { ty: ArrayType, values: Items } -> [Named] {};
        /// Beyond the end: zero.
        Item "item {array}[{index}]" { array: Array, index: Count } -> [Item] {};
        /// The array with another item; beyond the end: as it was.
        SetItem "set.item {array}[{index}], {value}" { array: Array, index: Count, value: Item } -> [First] {};
        /// So many items from a place on; those beyond the end are zero.
        Slice "slice {array}[{index}] to {ty}" { array: Array, index: Count, ty: ArrayType } -> [Named] {};
        /// The array with another's items from a place on, as many as there are to the end.
        Splice "splice {array}[{index}], {with}" { array: Array, index: Count, with: Array } -> [First] {};

        // -- cells; `object` is a reference to an object of the cell's class, never null
        Get "get {object}.{cell}" { object: Object, cell: ScalarCell } -> [Element] { READS };
        Set "set {object}.{cell}, {value}" { object: Object, cell: ScalarCell, value: Element } -> [] { WRITES };
        /// An index beyond the array is reported and reads 0.
        GetAt "get {object}.{cell}[{index}]" { object: Object, cell: ArrayCell, index: Count } -> [Element] { READS | REPORTS };
        /// An index beyond the array is reported and writes nothing.
        SetAt "set {object}.{cell}[{index}], {value}" { object: Object, cell: ArrayCell, index: Count, value: Element } -> []
            { WRITES | REPORTS };
        /// All items of an array, as a value.
        GetAll "get.all {object}.{cell}" { object: Object, cell: ArrayCell } -> [Whole] { READS };
        SetAll "set.all {object}.{cell}, {value}" { object: Object, cell: ArrayCell, value: Whole } -> [] { WRITES };
        /// `deadline` in nanoseconds, rounded up to the tick; replaces an earlier one.
        Arm "arm {object}.{cell}, {deadline}" { object: Object, cell: TimerCell, deadline: Word64 } -> [] { WRITES };
        Disarm "disarm {object}.{cell}" { object: Object, cell: TimerCell } -> [] { WRITES };
        IsArmed "armed {object}.{cell}" { object: Object, cell: TimerCell } -> [Truth] { READS };
        /// Adds to a counter.
        Count "count {object}.{cell}, {amount}" { object: Object, cell: CounterCell, amount: Count } -> [] { WRITES };
        /// Gives back to a quota; more than was taken is reported.
        Give "give {object}.{cell}, {amount}" { object: Object, cell: QuotaCell, amount: Word32 } -> [] { WRITES | REPORTS };
        /// Takes from a quota that has so much, as a path knows; else it is reported, and nothing is taken.
        Spend "spend {object}.{cell}, {amount}" { object: Object, cell: QuotaCell, amount: Word32 } -> [] { WRITES | REPORTS };
        /// What is left of a quota.
        Left "left {object}.{cell}" { object: Object, cell: QuotaCell } -> [Word32] { READS };
        /// Puts a message into a place that must be empty; else it is reported and the old one dropped as `gone`.
        Keep "keep {object}.{cell}[{index}], {message}" { object: Object, cell: MessagesCell, index: Word32, message: Message } -> []
            { WRITES | REPORTS | COUNTS };
        /// The message in a place did its work, and its end is counted; where none is, nothing happens.
        ConsumeHeld "consume.held {object}.{cell}[{index}], {reason}"
            { object: Object, cell: MessagesCell, index: Word32, reason: ReasonName } -> [] { WRITES | REPORTS | COUNTS };
        /// Whether a place holds a message.
        Holds "holds {object}.{cell}[{index}]" { object: Object, cell: MessagesCell, index: Word32 } -> [Truth] { READS | REPORTS };
        /// Ends an object and those in it: timers stop, held messages are dropped as `gone`; freed after the reaction.
        Release "release {object}" { object: Own } -> [] { WRITES | COUNTS | ENDS };
        /// The object settles once more in this reaction.
        Again "again {object}" { object: Settling } -> [] { WRITES };

        // -- messages
        /// A new message of these octets.
        NewMessage "message {octets}" { octets: Octets } -> [Message] { TAKES };
        /// These octets in front of the message's.
        Front "front {message}, {octets}" { message: Message, octets: Octets } -> [Message] {};
        Push "push {message}, {variant}{fields}" { message: Message, header: Header, variant: Variant, fields: Fields } -> [Message] {};
        /// Takes off a header of one variant: the message, then its fields.
        Pop "pop {message}, {variant}" { message: Message, header: Header, variant: Variant } -> [Message, Fields] {};
        /// The wire's headers become octets. A field too narrow for its value is reported and truncated.
        Encode "encode {message}, {wire}" { message: Message, wire: Wire } -> [Message] { REPORTS };
        /// In octets; headers that are not encoded are not counted.
        Size "size {message}" { message: Borrowed } -> [Word32] {};
        /// Keeps the first `size` octets; more than there are is reported and keeps all.
        Trim "trim {message}, {size}" { message: Message, size: Word32 } -> [Message] { REPORTS };
        /// Takes the first `size` octets away; more than there are is reported and leaves none.
        Skip "skip {message}, {size}" { message: Message, size: Word32 } -> [Message] { REPORTS };
        /// The first `at` octets, and the rest; attributes go with both.
        Split "split {message}, {at}" { message: Message, at: Word32 } -> [Message, Message] { REPORTS | TAKES };
        /// The second's octets behind the first's. What is beyond [`LONGEST_MESSAGE`](crate::LONGEST_MESSAGE) is reported and cut off.
        Join "join {first}, {second}" { first: Message, second: Message } -> [Message] { REPORTS | COUNTS };
        /// A second message of the same headers, octets and attributes.
        Share "share {message}" { message: Borrowed } -> [Message] { TAKES };
        /// The octets of the packet in which the message came, as the wire met it, as a new message; empty if it came in none.
        Received "received {message}, {wire}" { message: Borrowed, wire: Wire } -> [Message] { TAKES };
        /// The wire has met the message: its octets, as they are, are the packet that `received` gives.
        Meet "meet {message}, {wire}" { message: Message, wire: Wire } -> [Message] {};
        /// An unsigned number at an octet; beyond the end is reported and reads 0.
        Load "load.{field} {message}, {at}" { field: Field, message: Borrowed, at: Word32 } -> [Field] { REPORTS };
        /// Beyond the end is reported and writes nothing.
        Store "store.{field} {message}, {at}, {value}" { field: Field, message: Message, at: Word32, value: Content } -> [Message]
            { REPORTS };
        /// Sum of the octets as big-endian u16s (an odd last one padded), modulo 2^32.
        Sum16 "sum16 {message}" { message: Borrowed } -> [Word32] {};
        /// The same of so many octets from a place on; those beyond the end are not there.
        SumPart "sum16.part {message}, {at}, {size}" { message: Borrowed, at: Word32, size: Word32 } -> [Word32] {};
        /// Folded to 16 bits with end-around carry.
        Fold16 "fold16 {a}" { a: Word32 } -> [Word16] {};
        /// A function in C: numbers, then the octets of a message, which it may change and make longer by at most `grows`. The
        /// results: the message, then the function's. What it gives depends on nothing but what it is given.
        Native "native {symbol}({args})< on {message} grows {grows}>< to {result}>"
            { symbol: Symbol, args: Numbers, message: PerhapsMessage, grows: Growth, result: PerhapsType } -> [Native] {};
        GetAttribute "get.attribute {message}, {attribute}" { message: Borrowed, attribute: Attribute } -> [Attribute] {};
        /// The message with another value of the attribute.
        SetAttribute "set.attribute {message}, {attribute}, {value}"
            { message: Message, attribute: Attribute, value: AttributeValue } -> [Message] {};

        // -- what leaves the handler
        /// An event for an object of another layer; `target` must not be null. If it has ended: dropped as `gone`.
        Emit "emit {target}.{event}({args})" { target: Neighbour, event: Event, args: EventArguments } -> [] { EMITS };
        /// The same, for the object that a cell of the sender refers to when the emission is carried out.
        EmitBy "emit.by {object}.{cell}.{event}({args})"
            { object: Own, cell: LinkCell, event: Event, args: EventArguments } -> [] { READS | EMITS };
        /// The event of a port, by index in [`crate::Port::outputs`].
        Out "out {port}.{event}({args})" { port: Port, event: Output, args: OutputArguments } -> [] { EMITS };
        /// The end of a message, counted.
        Drop "drop {message}, {reason}" { message: Message, reason: ReasonName } -> [] { COUNTS };
        /// The same, for a reason that is a value.
        DropFor "drop {message} for {reason}" { message: Message, reason: Reason } -> [] { COUNTS };
        /// The end of a message that did its work, counted.
        Consume "consume {message}, {reason}" { message: Message, reason: ReasonName } -> [] { COUNTS };
    }
}

operations! {
    /// Operations that may refuse. One ends a block ([`crate::Terminator::Try`]): where it is not refused its results come first
    /// in `then`, else what it gives then comes first in `otherwise`.
    Fallible {
        /// Octets become the wire's headers; refused for a reason.
        Decode "decode {message}, {wire}" { message: Message, wire: Wire } -> [Message] / [Message, Reason] {};
        /// Checks the octets as `Decode` would and trims them, but leaves them octets (a layer below the encoding point looks
        /// at them first).
        Validate "validate {message}, {wire}" { message: Message, wire: Wire } -> [Message] / [Message, Reason] {};
        /// The fields of the header on top, which stays; refused if that is no such header.
        Peek "peek {message}, {variant}" { message: Borrowed, header: Header, variant: Variant } -> [Fields] / [] {};
        /// The values of a key; refused if the map does not have it.
        Find "find {object}.{cell}[{key}]" { object: Object, cell: MapCell, key: Key } -> [Values] / [] { READS };
        /// Replaces the values of a key that is there; refused when the map is full.
        Insert "insert {object}.{cell}[{key}]{values}" { object: Object, cell: MapCell, key: Key, values: MapValues } -> [] / []
            { WRITES };
        /// The values that were there.
        Remove "remove {object}.{cell}[{key}]" { object: Object, cell: MapCell, key: Key } -> [Values] / [] { READS | WRITES };
        /// A new object in `parent` (none for a class without a parent).
        New "new {class}< in {parent}>" { class: OwnClass, parent: Parent } -> [Reference] / [] { WRITES };
        /// The oldest living object of the class in `parent`.
        First "first {class}< in {parent}>" { class: OwnClass, parent: Parent } -> [Reference] / [] { READS };
        /// The next younger one with the same parent.
        Next "next {object}" { object: Own } -> [Fellow] / [] { READS };
        /// From a quota; refused if not so much is left.
        Take "take {object}.{cell}, {amount}" { object: Object, cell: QuotaCell, amount: Word32 } -> [] / [] { WRITES };
        /// The message held in a place.
        TakeOut "takeout {object}.{cell}[{index}]" { object: Object, cell: MessagesCell, index: Word32 } -> [Message] / []
            { WRITES | REPORTS };
        /// A share of the message held in a place.
        ShareHeld "shareheld {object}.{cell}[{index}]" { object: Object, cell: MessagesCell, index: Word32 } -> [Message] / []
            { READS | REPORTS | TAKES };
        /// The same as `run`, of a procedure that may give back what it was given.
        TryRun "tryrun {procedure}({args})" { procedure: Refusing, args: Arguments } -> [Results] / [Refused]
            { READS | WRITES | EMITS | REPORTS | COUNTS | TAKES };
        /// What a memo gives; refused where the memo does not hold. Paths alone do this.
        Recall "recall {memo}({args})" { memo: Memo, args: Arguments } -> [Results] / [] { READS };
        /// An event in a reaction of its own, before other inputs; refused when its queue is full: the messages are still ours.
        Later "later {target}.{event}({args})" { target: Object, event: QueuedEvent, args: EventArguments } -> [] / []
            gives_back { EMITS };
    }
}
