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

/// A piece of a packet, in the order of the octets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WireItem {
    Field(WireField),
    /// By an earlier field (or, if `on` is a [`FieldValue::Tag`], setting it): other items and header variants.
    Choice {
        on: FieldIndex,
        arms: Vec<WireArm>,
        unknown: ReasonId,
    },
    /// There if all the comparisons of earlier fields hold. Header fields in it are zero in a packet without it.
    Optional {
        when: Vec<WireTest>,
        items: Vec<WireItem>,
    },
    /// The last item on its way.
    Options(WireOptions),
    /// Behind it are only other lists.
    List(WireList),
    /// The header reaches to this octet of the packet, for its size and checksum; what lies between the items and it is
    /// part of the message. The last item on its way.
    Reach(WireExpression),
}

impl WireItem {
    /// The lists of items inside.
    pub fn inner(&self) -> Vec<&[WireItem]> {
        match self {
            WireItem::Field(_) | WireItem::Reach(_) => Vec::new(),
            WireItem::Choice { arms, .. } => arms.iter().map(|arm| &arm.items[..]).collect(),
            WireItem::Optional { items, .. } => vec![items],
            WireItem::Options(options) => options.arms.iter().map(|arm| arm.items()).collect(),
            WireItem::List(list) => list.elements.iter().map(|element| &element[..]).collect(),
        }
    }

    /// All fields, in order.
    pub fn fields(items: &[WireItem]) -> Vec<&WireField> {
        let mut found = Vec::new();
        for item in items {
            match item {
                WireItem::Field(field) => found.push(field),
                item => item.inner().into_iter().for_each(|items| found.extend(WireItem::fields(items))),
            }
        }
        found
    }
}

/// Elements one behind the other, whose sizes may differ: fields, and lists that a field of the same element counts. As many
/// are written as the header's field `count` says. Header fields of elements that are not there are zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WireList {
    pub header: HeaderId,
    pub variant: VariantId,
    pub count: u32,
    /// The elements go on to the packet's end, and the decoder counts them; what goes on behind the last that there may be
    /// is refused with this. Else a field in front holds `count`.
    pub to_end: Option<ReasonId>,
    /// Alike, and as many as there may be.
    pub elements: Vec<Vec<WireItem>>,
}

impl WireList {
    /// How many elements there may be.
    pub fn most(&self) -> u64 {
        self.elements.len() as u64
    }
}

/// A comparison of earlier fields: neither computed ones nor sizes, so that encoder and decoder agree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WireTest {
    pub left: WireExpression,
    pub compare: crate::Compare,
    pub right: WireExpression,
}

/// Parts that each begin with their kind, and but for [`OptionArm::End`] and [`OptionArm::Single`] with their length
/// behind it. Written in the order of the arms; read in any order, and of two of one kind the later counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WireOptions {
    pub kind: OptionPart,
    /// Octets of the option, kind and length included: `length * times + plus`.
    pub length: OptionPart,
    pub times: u64,
    pub plus: u64,
    pub endian: Endian,
    /// The octet of the packet at which they end, for the decoder.
    pub until: WireExpression,
    /// The encoder fills the header up to a multiple of so many octets.
    pub pad: u32,
    /// The kind of an [`OptionArm::Single`] of one octet with which it does, in front of the options; none: with zeros behind them.
    pub pads_with: Option<u64>,
    pub arms: Vec<OptionArm>,
    /// What an option of a kind that no arm has is refused for; none if it is skipped.
    pub unknown: Option<ReasonId>,
    /// A length that the option cannot have, or that goes beyond `until`.
    pub malformed: ReasonId,
}

/// Kind or length: whole octets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OptionPart {
    pub name: String,
    pub width: u8,
}

/// One kind of option, as a list of options knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OptionArm {
    /// The list ends here; what follows up to its end is not looked at.
    End { kind: u64 },
    /// The kind alone; never written.
    Single { kind: u64 },
    /// Written if a field of a header is not zero; read, it is one, unless it is the number of elements.
    Known {
        kind: u64,
        header: HeaderId,
        variant: VariantId,
        field: u32,
        items: Vec<WireItem>,
        repeat: Option<OptionRepeat>,
    },
}

/// The items of an option from `from` on are elements of `each` items, alike; so many are there as the header's field `count`
/// says. Read, it is as many as the option's length has room for; the header fields of the others are zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OptionRepeat {
    pub count: u32,
    pub from: u32,
    pub each: u32,
}

impl OptionArm {
    /// The number that stands in the packet for this kind of option.
    pub fn kind(&self) -> u64 {
        match self {
            OptionArm::End { kind } | OptionArm::Single { kind } | OptionArm::Known { kind, .. } => *kind,
        }
    }

    /// Fields only.
    pub fn items(&self) -> &[WireItem] {
        match self {
            OptionArm::Known { items, .. } => items,
            _ => &[],
        }
    }

    /// What of it is repeated.
    pub fn repeat(&self) -> Option<OptionRepeat> {
        match self {
            OptionArm::Known { repeat, .. } => *repeat,
            _ => None,
        }
    }

    /// Octets of the items that are always there, octets of an element, and how many elements there may be.
    pub fn measures(&self) -> (u32, u32, u32) {
        let octets =
            |items: &[WireItem]| WireItem::fields(items).iter().map(|field| u32::from(field.width)).sum::<u32>() / 8;
        let Some(repeat) = self.repeat() else { return (self.octets(), 0, 0) };
        let (fixed, elements) = self.items().split_at((repeat.from as usize).min(self.items().len()));
        let each = elements.get(..repeat.each as usize).unwrap_or(elements);
        (octets(fixed), octets(each).max(1), elements.len() as u32 / repeat.each.max(1))
    }

    /// Octets of its fields, which are whole octets together; of all elements.
    pub fn octets(&self) -> u32 {
        WireItem::fields(self.items()).iter().map(|field| u32::from(field.width)).sum::<u32>() / 8
    }
}

impl WireOptions {
    /// Octets of kind and length.
    pub fn head(&self) -> u32 {
        u32::from(self.kind.width / 8 + self.length.width / 8)
    }
}

/// A field by its order of appearance in the wire, arms included, from 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FieldIndex(pub u32);

/// One alternative of a choice, taken by its tag.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WireArm {
    pub tag: u64,
    /// The variants of headers that this arm stands for; headers with one variant need no mention.
    pub selects: Vec<(HeaderId, VariantId)>,
    /// Header fields that are not in the packet, because on this arm they have these values: the encoder takes the first
    /// arm that fits, the decoder refuses one that could have been said by an arm before it. Only in a choice on a
    /// [`FieldValue::Tag`] that is the wire's last item, with fields alone in its arms.
    pub commons: Vec<WireCommon>,
    pub items: Vec<WireItem>,
}

/// A header's field and the value that an arm stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WireCommon {
    pub header: HeaderId,
    pub variant: VariantId,
    pub field: u32,
    pub value: u64,
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
    /// Octets that the value does not count: at most 32 bits.
    pub trims_plus: u64,
}

/// Who says what a field holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FieldValue {
    /// Always this; anything else is refused with the reason.
    Constant { value: u64, otherwise: ReasonId },
    /// A header's field, `wire = field * times + plus`; what does not divide, or is no value of the field's type, is refused with
    /// `otherwise`.
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

/// A comparison that every accepted packet keeps; one that does not is refused with the reason `otherwise`.
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
