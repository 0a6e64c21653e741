//! Wires.

use super::{child, children, choice, has_word, node, Expr, Name, Path, Type};

choice! {
    /// A member of a wire or of an arm.
    WireMember {
        Field(WireField), Where(WireWhere), Trim(WireTrim), Choice(WireChoice), Optional(WireOptional),
        Options(WireOptions), Reach(WireReach), Each(WireEach), Default(WireDefault), Pseudo(WirePseudo),
    }
}

node! {
    /// `wire Rfc768 big { … }`
    Wire = WIRE;
    /// `{ … }`
    WireBody = WIRE_BODY;
    /// `length: u16 little = Length.octets + 8`
    WireField = WIRE_FIELD;
    /// `where length >= 8`
    WireWhere = WIRE_WHERE;
    /// `trim packet to length`
    WireTrim = WIRE_TRIM;
    /// `default 64`, `default checksum(packet, pseudo)`
    WireDefault = WIRE_DEFAULT;
    /// `pseudo source, destination, protocol`
    WirePseudo = WIRE_PSEUDO;
    /// `choice kind { … }`
    WireChoice = WIRE_CHOICE;
    /// `1 => Data { … }`
    WireArm = WIRE_ARM;
    /// `optional when flag == 1 { … }`
    WireOptional = WIRE_OPTIONAL;
    /// `options kind: u8 length: u8 = size(option) until words * 4 pad 4 { … }`
    WireOptions = WIRE_OPTIONS;
    /// `2 => Layer.has_mss { … }`, `0 => end`, `else => skip`
    WireOption = WIRE_OPTION;
    /// `header to words * 4`
    WireReach = WIRE_REACH;
    /// `each block in Layer.blocks { … }`
    WireEach = WIRE_EACH;
}

/// The word behind the arrow of an option.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OptionWord {
    /// `end`: no option follows.
    End,
    /// `single`: the kind alone, without a length.
    Single,
    /// `skip`, behind `else`.
    Skip,
    /// `refuse`, behind `else`.
    Refuse,
}

/// A byte order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ByteOrder {
    /// `big`
    Big,
    /// `little`
    Little,
}

pub(super) fn byte_order(node: &crate::kinds::SyntaxNode) -> Option<ByteOrder> {
    if has_word(node, "big") {
        return Some(ByteOrder::Big);
    }
    has_word(node, "little").then_some(ByteOrder::Little)
}

fn members(node: &crate::kinds::SyntaxNode) -> Vec<WireMember> {
    child::<WireBody>(node).map_or(Vec::new(), |body| children(&body.0))
}

impl Wire {
    /// Its name in `encoded`.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The documentation in front of it.
    pub fn doc(&self) -> String {
        super::doc_of(&self.0)
    }
    /// The byte order of fields that do not give their own; big if absent.
    pub fn byte_order(&self) -> Option<ByteOrder> {
        byte_order(&self.0)
    }
    /// The members, in order.
    pub fn members(&self) -> Vec<WireMember> {
        members(&self.0)
    }
}

impl WireField {
    /// Its name in later parts of the wire.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The type behind the colon.
    pub fn ty(&self) -> Option<Type> {
        child(&self.0)
    }
    /// The byte order, if it differs from the wire's.
    pub fn byte_order(&self) -> Option<ByteOrder> {
        byte_order(&self.0)
    }
    /// The value; `None` for the field that a `choice` depends on.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// Whether readers of a packet ignore it.
    pub fn is_unread(&self) -> bool {
        has_word(&self.0, "unread")
    }
    /// Whether a message that came up and goes down again keeps the value that was read.
    pub fn is_preserved(&self) -> bool {
        has_word(&self.0, "preserved")
    }
}

impl WireDefault {
    /// The value of the preceding field in packets of tests.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl WirePseudo {
    /// The fields of the wire that it names.
    pub fn fields(&self) -> Vec<Name> {
        children(&self.0)
    }
}

impl WireWhere {
    /// A comparison, or several joined by `and`.
    pub fn condition(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl WireTrim {
    /// The number of octets of the packet that count.
    pub fn to(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl WireChoice {
    /// The earlier field that it depends on.
    pub fn field(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The arms, in order.
    pub fn arms(&self) -> Vec<WireArm> {
        children(&self.0)
    }
}

impl WireArm {
    /// The number in front of the arrow.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// `Data`, or `Layer.Data`
    pub fn alternative(&self) -> Option<Path> {
        child(&self.0)
    }
    /// The members, in order.
    pub fn members(&self) -> Vec<WireMember> {
        members(&self.0)
    }
}

impl WireOptional {
    /// The condition under which the part is present.
    pub fn condition(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// The members, in order.
    pub fn members(&self) -> Vec<WireMember> {
        members(&self.0)
    }
}

impl WireEach {
    /// The name of an element.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// `Layer.blocks`
    pub fn of(&self) -> Option<Path> {
        child(&self.0)
    }
    /// `until size(packet)`: the end of elements that no field counts.
    pub fn until(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// The members of one element.
    pub fn members(&self) -> Vec<WireMember> {
        members(&self.0)
    }
}

impl WireReach {
    /// The octet up to which the header reaches.
    pub fn to(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl WireOptions {
    /// The field that begins each option and says its kind.
    pub fn kind(&self) -> Option<WireField> {
        children(&self.0).into_iter().next()
    }
    /// The field behind it that gives the option's length.
    pub fn length(&self) -> Option<WireField> {
        children(&self.0).into_iter().nth(1)
    }
    /// The end of the last option.
    pub fn until(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// The options are padded to a multiple of this many octets.
    pub fn pad(&self) -> Option<Expr> {
        has_word(&self.0, "pad").then(|| children(&self.0).into_iter().nth(1)).flatten()
    }
    /// Whether the padding is in front of the options.
    pub fn pads_first(&self) -> bool {
        has_word(&self.0, "first")
    }
    /// The arms, in order.
    pub fn arms(&self) -> Vec<WireOption> {
        children(&self.0)
    }
}

impl WireOption {
    /// `None` for `else`.
    pub fn kind(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// Whether it is the arm for all other kinds.
    pub fn is_else(&self) -> bool {
        has_word(&self.0, "else")
    }
    /// The word that stands instead of members.
    pub fn word(&self) -> Option<OptionWord> {
        use OptionWord::*;
        let words = [("end", End), ("single", Single), ("skip", Skip), ("refuse", Refuse)];
        words.into_iter().find(|(word, _)| has_word(&self.0, word)).map(|(_, word)| word)
    }
    /// `Layer.has_mss`
    pub fn present(&self) -> Option<Path> {
        child(&self.0)
    }
    /// The members, in order.
    pub fn members(&self) -> Vec<WireMember> {
        members(&self.0)
    }
}
