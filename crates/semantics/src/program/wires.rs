//! Bundles and their wires: where the fields of their headers stand.

use mokume_base::{Form, Span};

use super::{Binary, BundleId, Expr, LayerId, Name, Param, WireId};

/// Layers that act as one.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// `_` for one without a name.
    pub name: Name,
    /// Its `///` lines, joined by newlines; empty for one without a name.
    pub docs: String,
    /// Values; its parts name them by index.
    pub params: Vec<Param>,
    /// Top to bottom.
    pub parts: Vec<Use>,
    /// What carries all of its headers.
    pub wire: Option<WireId>,
    /// Without a wire, its headers are laid out together.
    pub compressed: bool,
}

/// A layer or bundle with its arguments: for each parameter one, defaults filled in.
#[derive(Clone, Debug)]
pub struct Use {
    /// Which layer or bundle.
    pub of: Definition,
    /// Of constants and of the parameters of what it stands in.
    pub args: Vec<Expr>,
    /// Where it is named.
    pub span: Span,
}

/// A layer or a bundle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Definition {
    /// Without bundles around it.
    Layer(LayerId),
    /// With all its parts.
    Bundle(BundleId),
}

/// How headers lie in packets.
#[derive(Clone, Debug)]
pub struct Wire {
    /// As `encoded` names it.
    pub name: Name,
    /// The byte order of fields that do not say theirs.
    pub big: bool,
    /// From the front of the packet on.
    pub items: Vec<WireItem>,
    /// Fields whose types say how their values are written, by name.
    pub written: Vec<(String, Form)>,
    /// What packets of tests have in fields that they do not name, by the fields' names.
    pub defaults: Vec<(String, WireDefault)>,
    /// Fields that a checksum of the wire behind this one counts.
    pub pseudo: Vec<Name>,
    /// Nothing in it was refused; else what it lacks may be what was.
    pub whole: bool,
}

/// What a packet of a test has in a field that it does not name.
#[derive(Clone, Debug)]
pub enum WireDefault {
    /// A number, a size, a checksum.
    Of(WireExpr),
    /// The checksum of the packet and of the pseudo header: what the wire in front says, and the packet's size.
    PseudoChecksum,
}

/// A part of a packet.
#[derive(Clone, Debug)]
pub enum WireItem {
    /// A number of so many bits.
    Field(WireField),
    /// `on`: the number of the field in order of appearance.
    Choice {
        /// A field whose value is [`WireValue::Tag`].
        on: u32,
        /// One for each number of the tag.
        arms: Vec<WireArm>,
        /// Of the tag's name.
        span: Span,
    },
    /// There if the comparisons hold.
    Optional {
        /// All of them.
        when: Vec<(WireExpr, Binary, WireExpr)>,
        /// What is there then.
        items: Vec<WireItem>,
        /// The whole of it.
        span: Span,
    },
    /// Parts that say themselves what they are and how long.
    Options(WireOptions),
    /// The elements of a vector.
    Each(WireEach),
    /// The header reaches to this octet, into the message.
    Reach(WireExpr, Span),
}

/// The elements of a vector in a header, as many as there are. Fields of `items` name parts of an element with `*` for its
/// number: `blocks.*.left`, in a list within a list `records.*.sources.*.high`.
#[derive(Clone, Debug)]
pub struct WireEach {
    /// The vector's length, `blocks.length`.
    pub length: WireValue,
    /// They go on to the packet's end: nothing in front counts them.
    pub to_end: bool,
    /// Of one element: fields, constants, and lists that it counts.
    pub items: Vec<WireItem>,
    /// The whole of it.
    pub span: Span,
}

impl WireEach {
    /// Where what stands behind begins is not known from the number of elements alone.
    pub fn moves(&self) -> bool {
        self.to_end || self.items.iter().any(|item| matches!(item, WireItem::Each(_)))
    }
}

/// Options, each with its kind and length in front.
#[derive(Clone, Debug)]
pub struct WireOptions {
    /// The field in front of each option that says what it is: name, and bits, 8, 16 or 32.
    pub kind: (Name, u8),
    /// The field behind it that says how long it is.
    pub length: (Name, u8),
    /// Octets of an option: `length * times + plus`.
    pub times: u64,
    /// In octets.
    pub plus: u64,
    /// Where they end, in octets from the packet's front.
    pub until: WireExpr,
    /// Of what stands behind `until`.
    pub until_at: Span,
    /// They are filled up to a multiple of so many octets, from 1 to 256.
    pub pad: u32,
    /// What fills them up stands in front of them: options of this kind, which is a `single`; else zeros stand behind them.
    pub pads_with: Option<u64>,
    /// One for each kind.
    pub arms: Vec<WireOption>,
    /// An option without an arm is passed over, not refused.
    pub skips: bool,
    /// The whole of it.
    pub span: Span,
}

/// An option of one kind.
#[derive(Clone, Debug)]
pub struct WireOption {
    /// Its number, which no other has.
    pub kind: u64,
    /// Of the number.
    pub span: Span,
    /// What it holds.
    pub what: OptionForm,
}

/// What an option holds.
#[derive(Clone, Debug)]
pub enum OptionForm {
    /// Nothing: no other follows.
    End,
    /// Nothing, not even a length.
    Single,
    /// `Layer.has_mss` or `Layer.Alternative.has_mss` says whether it is there.
    Known {
        /// A `bool` of a header, or a vector that is not empty.
        present: WireValue,
        /// Behind kind and length: fields alone, the last of them perhaps a list.
        items: Vec<WireItem>,
    },
}

/// What a packet holds if the tag has a number.
#[derive(Clone, Debug)]
pub struct WireArm {
    /// It fits the field.
    pub tag: u64,
    /// `Layer.Variant`, or `Variant` alone; resolved against the bundle's layers when a bundle uses the wire.
    pub selects: Option<(Option<Name>, Name)>,
    /// Not known behind the choice.
    pub items: Vec<WireItem>,
    /// Of the alternative, or of the number.
    pub span: Span,
}

/// A field of a packet.
#[derive(Clone, Debug)]
pub struct WireField {
    /// By order of appearance in the wire, arms included.
    pub index: u32,
    /// Unique on each path.
    pub name: Name,
    /// In bits, from 1 to 64.
    pub width: u8,
    /// The first octet holds the highest bits. Of fields in whole octets.
    pub big: bool,
    /// What is written, and what must be read.
    pub value: WireValue,
    /// A packet that breaks one is refused.
    pub constraints: Vec<(WireExpr, Binary, WireExpr)>,
    /// The packet ends after its value and so many octets more.
    pub trims: Option<u64>,
}

/// What a field holds.
#[derive(Clone, Debug)]
pub enum WireValue {
    /// Another number refuses the packet.
    Constant(u64),
    /// `Layer.field` or `Layer.Variant.field`, `* times + plus`.
    Header {
        /// By its name in the bundle.
        layer: Name,
        /// Of a header with alternatives.
        variant: Option<Name>,
        /// Parts of vectors with dots: `blocks.length`, `blocks.*.left`.
        field: Name,
        /// What the packet holds is so many times the field …
        times: u64,
        /// … and so much more.
        plus: u64,
    },
    /// From sizes, sums and earlier fields; checked when it is read.
    Computed(WireExpr),
    /// What a choice depends on.
    Tag,
    /// Written as zero, and not looked at.
    Unread,
    /// Unread, and written as it was read when what came up goes down again.
    Preserved,
}

/// A number that a wire computes.
#[derive(Clone, Debug)]
pub enum WireExpr {
    /// As written.
    Number(u64),
    /// An earlier field, by its index.
    Field(u32),
    /// Octets of all: headers and payload.
    PacketSize,
    /// Octets of the wire's own headers.
    HeaderSize,
    /// Octets behind them.
    PayloadSize,
    /// The Internet checksum (RFC 1071) of the headers.
    HeaderChecksum,
    /// That of all.
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
