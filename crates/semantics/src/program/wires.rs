//! Bundles and their wires: the places of header fields.

use mokume_base::{Form, Span};

use super::{Binary, BundleId, Expr, LayerId, Name, Param, WireId};

/// Layers that are used as one.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// The name; `_` if it has none.
    pub name: Name,
    /// Its `///` lines, joined by newlines; empty for one without a name.
    pub docs: String,
    /// The parameters that are values; parts name them by index.
    pub params: Vec<Param>,
    /// The parts, top to bottom.
    pub parts: Vec<Use>,
    /// The wire that carries all of its headers.
    pub wire: Option<WireId>,
    /// If there is no wire: its headers share one compressed layout.
    pub compressed: bool,
}

/// A layer or bundle with an argument for each parameter, defaults filled in.
#[derive(Clone, Debug)]
pub struct Use {
    /// The layer or bundle.
    pub of: Definition,
    /// The arguments: constants, and parameters of the enclosing definition.
    pub args: Vec<Expr>,
    /// The place where it is named.
    pub span: Span,
}

/// A layer or a bundle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Definition {
    /// A single layer.
    Layer(LayerId),
    /// A bundle with all its parts.
    Bundle(BundleId),
}

/// The layout of headers in packets.
#[derive(Clone, Debug)]
pub struct Wire {
    /// The name, as in `encoded`.
    pub name: Name,
    /// The byte order of fields that do not give their own.
    pub big: bool,
    /// The items, from the front of the packet.
    pub items: Vec<WireItem>,
    /// Fields with a notation, by name.
    pub written: Vec<(String, Form)>,
    /// The values, in packets of tests, of fields that the test does not name.
    pub defaults: Vec<(String, WireDefault)>,
    /// Fields that the checksum of the next wire in a packet includes.
    pub pseudo: Vec<Name>,
    /// Whether nothing in it was refused; else what is missing may have been refused.
    pub whole: bool,
}

/// The value, in a packet of a test, of a field that the test does not name.
#[derive(Clone, Debug)]
pub enum WireDefault {
    /// A number, a size, a checksum.
    Of(WireExpr),
    /// The checksum of the packet and of the pseudo header: the fields that the preceding wire provides, and the
    /// packet's size.
    PseudoChecksum,
}

/// A part of a packet.
#[derive(Clone, Debug)]
pub enum WireItem {
    /// A number of so many bits.
    Field(WireField),
    /// Other items for each value of a tag.
    Choice {
        /// The number, in order of appearance, of a field with the value [`WireValue::Tag`].
        on: u32,
        /// One arm for each number of the tag.
        arms: Vec<WireArm>,
        /// The place of the tag's name.
        span: Span,
    },
    /// Items that are present if the comparisons hold.
    Optional {
        /// The comparisons; all must hold.
        when: Vec<(WireExpr, Binary, WireExpr)>,
        /// The items.
        items: Vec<WireItem>,
        /// The place of the whole part.
        span: Span,
    },
    /// Options, which carry their own kind and length.
    Options(WireOptions),
    /// The elements of a vector.
    Each(WireEach),
    /// The header extends to this octet, into the message.
    Reach(WireExpr, Span),
}

/// The elements of a vector in a header, as many as it has. Fields of `items` name parts of an element with `*` for its
/// number: `blocks.*.left`, or in a nested list `records.*.sources.*.high`.
#[derive(Clone, Debug)]
pub struct WireEach {
    /// The vector's length, `blocks.length`.
    pub length: WireValue,
    /// The elements extend to the packet's end; no field in front counts them.
    pub to_end: bool,
    /// The items of one element: fields, constants, and lists that it counts.
    pub items: Vec<WireItem>,
    /// The place of the whole part.
    pub span: Span,
}

impl WireItem {
    /// The fields of choices and optional parts, too, in order; not those of options and of elements.
    pub fn fields(items: &[WireItem]) -> Vec<&WireField> {
        let mut fields = Vec::new();
        for item in items {
            match item {
                WireItem::Field(field) => fields.push(field),
                WireItem::Choice { arms, .. } => {
                    fields.extend(arms.iter().flat_map(|arm| WireItem::fields(&arm.items)))
                }
                WireItem::Optional { items, .. } => fields.extend(WireItem::fields(items)),
                WireItem::Options(_) | WireItem::Each(_) | WireItem::Reach(..) => {}
            }
        }
        fields
    }
}

impl WireExpr {
    /// Whether it names the field with this number.
    pub fn names(&self, index: u32) -> bool {
        match self {
            WireExpr::Field(known) => *known == index,
            WireExpr::Binary { a, b, .. } => a.names(index) || b.names(index),
            _ => false,
        }
    }
}

impl WireEach {
    /// Whether the place of what follows depends on more than the number of elements.
    pub fn moves(&self) -> bool {
        self.to_end || self.items.iter().any(|item| matches!(item, WireItem::Each(_)))
    }
}

/// Options, each beginning with its kind and length.
#[derive(Clone, Debug)]
pub struct WireOptions {
    /// The field with the option's kind: name, and bits, 8, 16 or 32.
    pub kind: (Name, u8),
    /// The field with its length: name, and bits.
    pub length: (Name, u8),
    /// Octets of an option: `length * times + plus`.
    pub times: u64,
    /// See `times`.
    pub plus: u64,
    /// The end of the options, in octets from the packet's front.
    pub until: WireExpr,
    /// The place of the expression behind `until`.
    pub until_at: Span,
    /// The options are padded to a multiple of this many octets, from 1 to 256.
    pub pad: u32,
    /// If set, the padding consists of options of this kind, a `single`, in front; else of zeros behind.
    pub pads_with: Option<u64>,
    /// If set, an option of this kind, an `end`, is written behind the others: nothing else says where they end.
    pub ends_with: Option<u64>,
    /// One arm for each kind.
    pub arms: Vec<WireOption>,
    /// Whether options without an arm are skipped; else such a packet is rejected.
    pub skips: bool,
    /// The place of the whole part.
    pub span: Span,
}

/// An option of one kind.
#[derive(Clone, Debug)]
pub struct WireOption {
    /// The number of its kind, which no other arm has.
    pub kind: u64,
    /// The place of the number.
    pub span: Span,
    /// Its content.
    pub what: OptionForm,
}

/// The content of an option.
#[derive(Clone, Debug)]
pub enum OptionForm {
    /// No content; the list ends here.
    End,
    /// No content, and no length.
    Single,
    /// `Layer.has_mss` or `Layer.Alternative.has_mss` says whether it is present.
    Known {
        /// A `bool` of a header, or a vector, which is present if it is not empty.
        present: WireValue,
        /// The items behind kind and length: only fields; the last may be a list.
        items: Vec<WireItem>,
    },
}

/// The content of a packet in which the tag has this number.
#[derive(Clone, Debug)]
pub struct WireArm {
    /// The number, which fits the field.
    pub tag: u64,
    /// `Layer.Variant`, or `Variant` alone; resolved when a bundle uses the wire.
    pub selects: Option<(Option<Name>, Name)>,
    /// The items; not visible behind the choice.
    pub items: Vec<WireItem>,
    /// The place of the alternative, or of the number.
    pub span: Span,
}

/// A field of a packet.
#[derive(Clone, Debug)]
pub struct WireField {
    /// The number in order of appearance in the wire, arms included.
    pub index: u32,
    /// The name, unique on each path.
    pub name: Name,
    /// The width in bits, from 1 to 64.
    pub width: u8,
    /// Whether the first octet has the highest bits; for fields of whole octets.
    pub big: bool,
    /// The value to write, and to expect when reading.
    pub value: WireValue,
    /// Comparisons that a packet must satisfy, or it is rejected.
    pub constraints: Vec<(WireExpr, Binary, WireExpr)>,
    /// If set, the packet ends after the field's value plus this many octets.
    pub trims: Option<u64>,
}

/// The value of a field.
#[derive(Clone, Debug)]
pub enum WireValue {
    /// A constant; a packet with another value is rejected.
    Constant(u64),
    /// `Layer.field` or `Layer.Variant.field`, `* times + plus`.
    Header {
        /// The layer's name in the bundle.
        layer: Name,
        /// The alternative, for a header with alternatives.
        variant: Option<Name>,
        /// The field; parts of vectors with dots: `blocks.length`, `blocks.*.left`.
        field: Name,
        /// The packet has the field times this …
        times: u64,
        /// … plus this.
        plus: u64,
    },
    /// Computed from sizes, sums and earlier fields; checked when read.
    Computed(WireExpr),
    /// The tag of a choice.
    Tag,
    /// Written as zero, and ignored when read.
    Unread,
    /// Ignored when read; a message that came up and goes down again keeps the value.
    Preserved,
}

/// A number that a wire computes.
#[derive(Clone, Debug)]
pub enum WireExpr {
    /// As written.
    Number(u64),
    /// An earlier field, by its index.
    Field(u32),
    /// The octets of the whole packet: headers and payload.
    PacketSize,
    /// Octets of the wire's own headers.
    HeaderSize,
    /// The octets behind the headers.
    PayloadSize,
    /// The Internet checksum (RFC 1071) of the headers.
    HeaderChecksum,
    /// The Internet checksum of the whole packet.
    PacketChecksum,
    /// `+ - * /`, in 64 bits.
    Binary {
        /// One of these four.
        op: Binary,
        /// The left operand.
        a: Box<WireExpr>,
        /// The right operand.
        b: Box<WireExpr>,
    },
}
