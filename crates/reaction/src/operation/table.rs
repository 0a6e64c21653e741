//! The table of operations: one line each. A new operation is a line here, and an arm in each crate that runs,
//! translates, explores or proves; nothing else in this crate.
//!
//! A line has the operation's name, its text ([`super::template`]), its fields with their [`Kind`], its results, and
//! its [`Effects`]. A fallible operation also has, after `/`, what it gives when it refuses.

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

            /// The operation of a row, with these contents of its fields; `None` if they are of other kinds.
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
            // Whether arithmetic may report depends on the operator.
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
        /// Both operands have one type; so has the result.
        Binary "{op} {a}, {b}" { op: Arithmetic, a: Operand, b: Operand } -> [First] { REPORTS };
        /// Both operands have one type.
        Compare "{op} {a}, {b}" { op: Comparison, a: Compared, b: Compared } -> [Truth] {};
        /// Logical on `bool`, bitwise on numbers.
        Not "not {a}" { a: Bits } -> [First] {};
        /// `if c { a } else { b }`; not on messages.
        Select "select {c}, {a}, {b}" { c: Truth, a: Alike, b: Alike } -> [Alike] {};
        /// Converts to another scalar type: keeps the low bits, or extends with zeros.
        Cast "cast {a} to {to}" { a: Scalar, to: ScalarType } -> [Named] {};
        Param "param {param}" { param: Param } -> [Param] {};
        /// Nanoseconds; constant in a reaction.
        Now "now" {} -> [Word64] {};
        Call "call {function}({args})" { function: Function, args: Arguments } -> [Results] { READS | REPORTS };
        /// Calls a procedure; its effects are the handler's.
        Run "run {procedure}({args})" { procedure: Procedure, args: Arguments } -> [Results]
            { READS | WRITES | EMITS | REPORTS | COUNTS | TAKES };
        /// A random number from the object's own stream.
        Sample "sample {ty} from {object}" { ty: ScalarType, object: Own } -> [Named] { READS | WRITES };
        /// The one object of a unique class.
        Unique "unique {class}" { class: UniqueClass } -> [Reference] {};
        /// The parent of `object`.
        Parent "parent {object}" { object: Object } -> [Enclosing] { READS };
        /// Whether the object is alive: not `null`, and not ended.
        Lives "lives {object}" { object: Object } -> [Truth] { READS };

        // -- arrays as values: none of these reports; an index counts items, from 0
        /// The values in order, then zeros.
        Pack "pack {ty}({values})" { ty: ArrayType, values: Items } -> [Named] {};
        /// The item at the index; zero beyond the end.
        Item "item {array}[{index}]" { array: Array, index: Count } -> [Item] {};
        /// The array with one item replaced; unchanged if the index is beyond the end.
        SetItem "set.item {array}[{index}], {value}" { array: Array, index: Count, value: Item } -> [First] {};
        /// As many items as `ty` has, from an index on; items beyond the end are zero.
        Slice "slice {array}[{index}] to {ty}" { array: Array, index: Count, ty: ArrayType } -> [Named] {};
        /// The array with items replaced by those of `with`, from an index to the end at most.
        Splice "splice {array}[{index}], {with}" { array: Array, index: Count, with: Array } -> [First] {};

        // -- cells; `object` is a reference to an object of the cell's class, never null
        Get "get {object}.{cell}" { object: Object, cell: ScalarCell } -> [Element] { READS };
        Set "set {object}.{cell}, {value}" { object: Object, cell: ScalarCell, value: Element } -> [] { WRITES };
        /// An index beyond the array is reported, and the result is 0.
        GetAt "get {object}.{cell}[{index}]" { object: Object, cell: ArrayCell, index: Count } -> [Element] { READS | REPORTS };
        /// An index beyond the array is reported, and nothing is written.
        SetAt "set {object}.{cell}[{index}], {value}" { object: Object, cell: ArrayCell, index: Count, value: Element } -> []
            { WRITES | REPORTS };
        /// All items of an array, as a value.
        GetAll "get.all {object}.{cell}" { object: Object, cell: ArrayCell } -> [Whole] { READS };
        SetAll "set.all {object}.{cell}, {value}" { object: Object, cell: ArrayCell, value: Whole } -> [] { WRITES };
        /// `deadline` in nanoseconds, rounded up to the tick; replaces an earlier deadline.
        Arm "arm {object}.{cell}, {deadline}" { object: Object, cell: TimerCell, deadline: Word64 } -> [] { WRITES };
        Disarm "disarm {object}.{cell}" { object: Object, cell: TimerCell } -> [] { WRITES };
        IsArmed "armed {object}.{cell}" { object: Object, cell: TimerCell } -> [Truth] { READS };
        /// Adds to a counter.
        Count "count {object}.{cell}, {amount}" { object: Object, cell: CounterCell, amount: Count } -> [] { WRITES };
        /// Gives units back to a quota; more than was taken is reported.
        Give "give {object}.{cell}, {amount}" { object: Object, cell: QuotaCell, amount: Word32 } -> [] { WRITES | REPORTS };
        /// Takes units from a quota that has them, which a path has checked; else reports, and takes nothing.
        Spend "spend {object}.{cell}, {amount}" { object: Object, cell: QuotaCell, amount: Word32 } -> [] { WRITES | REPORTS };
        /// The units left in a quota.
        Left "left {object}.{cell}" { object: Object, cell: QuotaCell } -> [Word32] { READS };
        /// Puts a message into a place, which must be empty; else reports, and drops the old message as `gone`.
        Keep "keep {object}.{cell}[{index}], {message}" { object: Object, cell: MessagesCell, index: Word32, message: Message } -> []
            { WRITES | REPORTS | COUNTS };
        /// Consumes the message in a place, and counts its end; does nothing if the place is empty.
        ConsumeHeld "consume.held {object}.{cell}[{index}], {reason}"
            { object: Object, cell: MessagesCell, index: Word32, reason: ReasonName } -> [] { WRITES | REPORTS | COUNTS };
        /// Takes out the message in a place that holds one, which a path has checked; else reports, and gives a new message
        /// without octets.
        TakeHeld "take.held {object}.{cell}[{index}]" { object: Object, cell: MessagesCell, index: Word32 } -> [Message]
            { WRITES | REPORTS | TAKES };
        /// Whether a place holds a message.
        Holds "holds {object}.{cell}[{index}]" { object: Object, cell: MessagesCell, index: Word32 } -> [Truth] { READS | REPORTS };
        /// How many of this event wait for reactions of their own, of all objects.
        Waiting "waiting {target}.{event}" { target: Object, event: QueuedEvent } -> [Word32] { READS };
        /// Queues an event for a reaction of its own, for which a path has checked that there is room; else reports, and
        /// drops its messages as `gone`.
        Defer "defer {target}.{event}({args})" { target: Object, event: QueuedEvent, args: EventArguments } -> []
            { WRITES | REPORTS | COUNTS };
        /// Ends an object and its children: timers stop, held messages are dropped as `gone`. Freed after the reaction.
        Release "release {object}" { object: Own } -> [] { WRITES | COUNTS | ENDS };
        /// Makes the object settle once more in this reaction.
        Again "again {object}" { object: Settling } -> [] { WRITES };

        // -- messages
        /// A new message with these octets.
        NewMessage "message {octets}" { octets: Octets } -> [Message] { TAKES };
        /// Puts these octets in front of the message's.
        Front "front {message}, {octets}" { message: Message, octets: Octets } -> [Message] {};
        Push "push {message}, {variant}{fields}" { message: Message, header: Header, variant: Variant, fields: Fields } -> [Message] {};
        /// Takes off a header of one variant. Results: the message, then its fields.
        Pop "pop {message}, {variant}" { message: Message, header: Header, variant: Variant } -> [Message, Fields] {};
        /// Turns the wire's headers into octets. A value that does not fit in its field is reported and truncated.
        Encode "encode {message}, {wire}" { message: Message, wire: Wire } -> [Message] { REPORTS };
        /// The size in octets, without headers that are not encoded yet.
        Size "size {message}" { message: Borrowed } -> [Word32] {};
        /// Keeps the first `size` octets; if there are fewer, reports and keeps all.
        Trim "trim {message}, {size}" { message: Message, size: Word32 } -> [Message] { REPORTS };
        /// Removes the first `size` octets; if there are fewer, reports and leaves none.
        Skip "skip {message}, {size}" { message: Message, size: Word32 } -> [Message] { REPORTS };
        /// The first `at` octets, and the rest; both have the attributes.
        Split "split {message}, {at}" { message: Message, at: Word32 } -> [Message, Message] { REPORTS | TAKES };
        /// Appends the second's octets to the first's. Octets beyond [`LONGEST_MESSAGE`](crate::LONGEST_MESSAGE) are
        /// cut off and reported.
        Join "join {first}, {second}" { first: Message, second: Message } -> [Message] { REPORTS | COUNTS };
        /// A copy of the message: the same headers, octets and attributes.
        Share "share {message}" { message: Borrowed } -> [Message] { TAKES };
        /// The octets of the packet that the message came in, as the wire received it, as a new message; empty if it
        /// came in none.
        Received "received {message}, {wire}" { message: Borrowed, wire: Wire } -> [Message] { TAKES };
        /// Marks the message as received by the wire: its present octets are the packet that `received` gives.
        Meet "meet {message}, {wire}" { message: Message, wire: Wire } -> [Message] {};
        /// Reads an unsigned number at an octet; beyond the end, reports and gives 0.
        Load "load.{field} {message}, {at}" { field: Field, message: Borrowed, at: Word32 } -> [Field] { REPORTS };
        /// Writes a number at an octet; beyond the end, reports and writes nothing.
        Store "store.{field} {message}, {at}, {value}" { field: Field, message: Message, at: Word32, value: Content } -> [Message]
            { REPORTS };
        /// The sum of the octets as big-endian u16s (an odd last one padded), modulo 2^32.
        Sum16 "sum16 {message}" { message: Borrowed } -> [Word32] {};
        /// The same sum over `size` octets from `at`; octets beyond the end are ignored.
        SumPart "sum16.part {message}, {at}, {size}" { message: Borrowed, at: Word32, size: Word32 } -> [Word32] {};
        /// Folded to 16 bits with end-around carry.
        Fold16 "fold16 {a}" { a: Word32 } -> [Word16] {};
        /// Calls a function in C: numbers, and perhaps a message whose octets it may change and extend by at most
        /// `grows`. Results: the message, then the function's result, which depends on the arguments only.
        Native "native {symbol}({args})< on {message} grows {grows}>< to {result}>"
            { symbol: Symbol, args: Numbers, message: PerhapsMessage, grows: Growth, result: PerhapsType } -> [Native] {};
        GetAttribute "get.attribute {message}, {attribute}" { message: Borrowed, attribute: Attribute } -> [Attribute] {};
        /// The message with another value of the attribute.
        SetAttribute "set.attribute {message}, {attribute}, {value}"
            { message: Message, attribute: Attribute, value: AttributeValue } -> [Message] {};

        // -- what leaves the handler
        /// Emits an event to an object of another layer; `target` must not be null. If the target has ended, messages
        /// are dropped as `gone`.
        Emit "emit {target}.{event}({args})" { target: Neighbour, event: Event, args: EventArguments } -> [] { EMITS };
        /// The same, to the object that a cell of the sender refers to when the emission is carried out.
        EmitBy "emit.by {object}.{cell}.{event}({args})"
            { object: Own, cell: LinkCell, event: Event, args: EventArguments } -> [] { READS | EMITS };
        /// Emits an event at a port, by index in [`crate::Port::outputs`].
        Out "out {port}.{event}({args})" { port: Port, event: Output, args: OutputArguments } -> [] { EMITS };
        /// Drops a message, and counts it.
        Drop "drop {message}, {reason}" { message: Message, reason: ReasonName } -> [] { COUNTS };
        /// The same, for a reason that is a value.
        DropFor "drop {message} for {reason}" { message: Message, reason: Reason } -> [] { COUNTS };
        /// Consumes a message that did its work, and counts it.
        Consume "consume {message}, {reason}" { message: Message, reason: ReasonName } -> [] { COUNTS };
    }
}

operations! {
    /// Operations that may refuse. Such an operation ends its block ([`crate::Terminator::Try`]). On success its
    /// results are the first arguments of `then`; on refusal, what it gives is passed first to `otherwise`.
    Fallible {
        /// Turns octets into the wire's headers; a refusal has a reason.
        Decode "decode {message}, {wire}" { message: Message, wire: Wire } -> [Message] / [Message, Reason] {};
        /// Checks and trims the octets as `Decode` would, but does not decode them (a layer below the encoding point
        /// reads them first).
        Validate "validate {message}, {wire}" { message: Message, wire: Wire } -> [Message] / [Message, Reason] {};
        /// The fields of the topmost header, which stays; refuses if it is another header.
        Peek "peek {message}, {variant}" { message: Borrowed, header: Header, variant: Variant } -> [Fields] / [] {};
        /// The values of a key; refuses if the key is not in the map.
        Find "find {object}.{cell}[{key}]" { object: Object, cell: MapCell, key: Key } -> [Values] / [] { READS };
        /// Sets the values of a key; refuses if the key is new and the map is full.
        Insert "insert {object}.{cell}[{key}]{values}" { object: Object, cell: MapCell, key: Key, values: MapValues } -> [] / []
            { WRITES };
        /// Removes a key and gives its values; refuses if the key is not in the map.
        Remove "remove {object}.{cell}[{key}]" { object: Object, cell: MapCell, key: Key } -> [Values] / [] { READS | WRITES };
        /// A new object in `parent` (absent for a class without a parent); refuses if the class is full.
        New "new {class}< in {parent}>" { class: OwnClass, parent: Parent } -> [Reference] / [] { WRITES };
        /// The oldest living object of the class in `parent`.
        First "first {class}< in {parent}>" { class: OwnClass, parent: Parent } -> [Reference] / [] { READS };
        /// The next younger object with the same parent.
        Next "next {object}" { object: Own } -> [Fellow] / [] { READS };
        /// Takes units from a quota; refuses if too few are left.
        Take "take {object}.{cell}, {amount}" { object: Object, cell: QuotaCell, amount: Word32 } -> [] / [] { WRITES };
        /// Takes out the message in a place.
        TakeOut "takeout {object}.{cell}[{index}]" { object: Object, cell: MessagesCell, index: Word32 } -> [Message] / []
            { WRITES | REPORTS };
        /// A copy of the message in a place.
        ShareHeld "shareheld {object}.{cell}[{index}]" { object: Object, cell: MessagesCell, index: Word32 } -> [Message] / []
            { READS | REPORTS | TAKES };
        /// Calls a procedure that may refuse and give its arguments back.
        TryRun "tryrun {procedure}({args})" { procedure: Refusing, args: Arguments } -> [Results] / [Refused]
            { READS | WRITES | EMITS | REPORTS | COUNTS | TAKES };
        /// The result of a memo; refuses if the memo's condition does not hold. Only in paths.
        Recall "recall {memo}({args})" { memo: Memo, args: Arguments } -> [Results] / [] { READS };
        /// Queues an event for a reaction of its own, before other inputs; refuses if the queue is full, and the
        /// handler keeps the messages.
        Later "later {target}.{event}({args})" { target: Object, event: QueuedEvent, args: EventArguments } -> [] / []
            gives_back { EMITS };
    }
}
