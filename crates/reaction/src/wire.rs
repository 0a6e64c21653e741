//! Where the fields of a bundle's headers go in a packet.
//!
//! A wire stands for a total decoder and its inverse; `mokume-wire` runs it, the back ends translate it.

use crate::{Endian, HeaderId, ReasonId, VariantId};

/// The packet: `items` in order, then the message's octets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wire {
    pub name: String,
    /// The headers it carries: the one on top of the message (the lowest layer's) first.
    pub headers: Vec<HeaderId>,
    pub endian: Endian,
    pub items: Vec<WireItem>,
    /// The packet ends before the item at hand does.
    pub short: ReasonId,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WireItem {
    Field(WireField),
    /// By an earlier field (or, if `on` is a [`FieldValue::Tag`], setting it): other items and header variants.
    Choice {
        on: FieldIndex,
        arms: Vec<WireArm>,
        unknown: ReasonId,
    },
}

/// A field by its order of appearance in the wire, arms included, from 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FieldIndex(pub u32);

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WireArm {
    pub tag: u64,
    /// The variants of headers that this arm stands for; headers with one variant need no mention.
    pub selects: Vec<(HeaderId, VariantId)>,
    pub items: Vec<WireItem>,
}

/// Bits in order: the first field of an octet is its high bits. Fields of whole octets that start on one use `endian`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WireField {
    pub index: FieldIndex,
    pub name: String,
    /// 1 to 64.
    pub width: u8,
    pub endian: Endian,
    pub value: FieldValue,
    /// Checked by the decoder, in order, once all that they name is known.
    pub constraints: Vec<WireConstraint>,
    /// The packet ends after this many octets (the field's value, counted from the packet's start); more is cut off.
    pub trims_packet: bool,
}

/// Who says what a field holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FieldValue {
    /// Always this; anything else is refused with the reason.
    Constant { value: u64, otherwise: ReasonId },
    /// A header's field, `wire = field * times + plus`; what does not divide is refused with `otherwise`.
    Header { header: HeaderId, variant: VariantId, field: u32, times: u64, plus: u64, otherwise: Option<ReasonId> },
    /// Written and checked by the wire itself.
    Computed { expression: WireExpression, otherwise: ReasonId },
    /// The tag of the choice that names it.
    Tag,
    /// A place for a layer below the encoding point: zero when encoded, not looked at when decoded.
    Placed,
    /// Zero when encoded; not looked at when decoded.
    Reserved,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WireConstraint {
    pub left: WireExpression,
    pub compare: crate::Compare,
    pub right: WireExpression,
    pub otherwise: ReasonId,
}

/// In u64, without wrapping in any sensible use; sizes are octets. `PacketSize` is after the trim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WireExpression {
    Number(u64),
    Field(FieldIndex),
    PacketSize,
    HeaderSize,
    PayloadSize,
    Add(Box<WireExpression>, Box<WireExpression>),
    Sub(Box<WireExpression>, Box<WireExpression>),
    Mul(Box<WireExpression>, Box<WireExpression>),
    Div(Box<WireExpression>, Box<WireExpression>),
    /// The internet checksum (RFC 1071) of the encoded header, of which this field is zero meanwhile.
    HeaderChecksum,
    /// The same over the whole packet.
    PacketChecksum,
}
