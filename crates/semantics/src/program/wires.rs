//! Bundles and their wires: where the fields of their headers stand.

use mokume_base::Span;

use super::{Binary, BundleId, Expr, LayerId, Name, Param, WireId};

#[derive(Clone, Debug)]
pub struct Bundle {
    pub name: Name,
    pub params: Vec<Param>,
    /// Top to bottom.
    pub parts: Vec<Use>,
    pub wire: Option<WireId>,
    /// Without a wire, its headers are laid out together.
    pub compressed: bool,
}

/// A layer or bundle with its arguments: for each parameter one, defaults filled in.
#[derive(Clone, Debug)]
pub struct Use {
    pub of: Definition,
    pub args: Vec<Expr>,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Definition {
    Layer(LayerId),
    Bundle(BundleId),
}

#[derive(Clone, Debug)]
pub struct Wire {
    pub name: Name,
    pub big: bool,
    pub items: Vec<WireItem>,
}

#[derive(Clone, Debug)]
pub enum WireItem {
    Field(WireField),
    /// `on`: the number of the field in order of appearance.
    Choice {
        on: u32,
        arms: Vec<WireArm>,
        span: Span,
    },
    /// There if the comparisons hold.
    Optional {
        when: Vec<(WireExpr, Binary, WireExpr)>,
        items: Vec<WireItem>,
        span: Span,
    },
    Options(WireOptions),
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
    pub items: Vec<WireItem>,
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
    pub kind: (Name, u8),
    pub length: (Name, u8),
    /// Octets of an option: `length * times + plus`.
    pub times: u64,
    pub plus: u64,
    pub until: WireExpr,
    pub pad: u32,
    pub arms: Vec<WireOption>,
    /// An option without an arm is passed over, not refused.
    pub skips: bool,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct WireOption {
    pub kind: u64,
    pub span: Span,
    pub what: OptionForm,
}

#[derive(Clone, Debug)]
pub enum OptionForm {
    End,
    Single,
    /// `Layer.has_mss` or `Layer.Alternative.has_mss` says whether it is there.
    Known {
        present: WireValue,
        items: Vec<WireItem>,
    },
}

#[derive(Clone, Debug)]
pub struct WireArm {
    pub tag: u64,
    /// `Layer.Variant`, or `Variant` alone; resolved against the bundle's layers when a bundle uses the wire.
    pub selects: Option<(Option<Name>, Name)>,
    pub items: Vec<WireItem>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct WireField {
    /// By order of appearance in the wire, arms included.
    pub index: u32,
    pub name: Name,
    pub width: u8,
    pub big: bool,
    pub value: WireValue,
    pub constraints: Vec<(WireExpr, Binary, WireExpr)>,
    /// The packet ends after its value and so many octets more.
    pub trims: Option<u64>,
}

#[derive(Clone, Debug)]
pub enum WireValue {
    Constant(u64),
    /// `Layer.field` or `Layer.Variant.field`, `* times + plus`.
    Header {
        layer: Name,
        variant: Option<Name>,
        field: Name,
        times: u64,
        plus: u64,
    },
    Computed(WireExpr),
    /// What a choice depends on.
    Tag,
    Unread,
    /// Unread, and written as it was read when what came up goes down again.
    Preserved,
}

#[derive(Clone, Debug)]
pub enum WireExpr {
    Number(u64),
    Field(u32),
    PacketSize,
    HeaderSize,
    PayloadSize,
    HeaderChecksum,
    PacketChecksum,
    Binary { op: Binary, a: Box<WireExpr>, b: Box<WireExpr> },
}
