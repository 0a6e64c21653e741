//! Where the fields of a bundle's headers go in a packet.
//!
//! A wire defines a total decoder and its inverse. `mokume-wire` runs it; the back ends translate it.

use crate::{Endian, HeaderId, ReasonId, VariantId};

/// The packet: `items` in order, then the message's octets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wire {
    pub name: String,
    /// The headers that it carries, the topmost header of the message (that of the lowest layer) first.
    pub headers: Vec<HeaderId>,
    pub endian: Endian,
    pub items: Vec<WireItem>,
    /// The reason for a packet that ends within an item.
    pub short: ReasonId,
}

/// A piece of a packet, in the order of the octets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WireItem {
    Field(WireField),
    /// Other items and header variants, selected by an earlier field. (If `on` is a [`FieldValue::Tag`], the choice
    /// sets it.)
    Choice {
        on: FieldIndex,
        arms: Vec<WireArm>,
        unknown: ReasonId,
    },
    /// Present if all comparisons of earlier fields hold. In a packet without it, its header fields are zero.
    Optional {
        when: Vec<WireTest>,
        items: Vec<WireItem>,
    },
    /// Options; the last item on its path.
    Options(WireOptions),
    /// A list; only other lists may follow.
    List(WireList),
    /// The header extends to this octet of the packet, for its size and checksum; what lies between the items and that
    /// octet is part of the message. The last item on its path.
    Reach(WireExpression),
}

impl WireItem {
    /// The nested lists of items.
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

/// Elements one after the other, whose sizes may differ: fields, and lists that a field of the same element counts. The
/// header's field `count` says how many are written. Header fields of absent elements are zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WireList {
    pub header: HeaderId,
    pub variant: VariantId,
    pub count: u32,
    /// If set, the elements go on to the packet's end, and the decoder counts them; a packet with more than the most
    /// elements is rejected for this reason. Else an earlier field holds `count`.
    pub to_end: Option<ReasonId>,
    /// All elements that there may be, alike.
    pub elements: Vec<Vec<WireItem>>,
}

impl WireList {
    /// The most elements.
    pub fn most(&self) -> u64 {
        self.elements.len() as u64
    }
}

/// A comparison of earlier fields. They are neither computed nor sizes, so that encoder and decoder agree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WireTest {
    pub left: WireExpression,
    pub compare: crate::Compare,
    pub right: WireExpression,
}

/// Parts that each begin with their kind, followed by their length except for [`OptionArm::End`] and
/// [`OptionArm::Single`]. Written in the order of the arms; read in any order. If a kind occurs twice, the later one
/// counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WireOptions {
    pub kind: OptionPart,
    /// The length field: the option's octets, kind and length included, are `length * times + plus`.
    pub length: OptionPart,
    pub times: u64,
    pub plus: u64,
    pub endian: Endian,
    /// The octet of the packet at which the options end, for the decoder.
    pub until: WireExpression,
    /// The encoder pads the header to a multiple of this many octets.
    pub pad: u32,
    /// The kind of the [`OptionArm::Single`] of one octet that it pads with, in front of the options; `None`: it pads
    /// with zeros after them.
    pub pads_with: Option<u64>,
    /// The kind of the [`OptionArm::End`] that the encoder writes behind the options, in front of zeros; `None`: where
    /// they end is known without it.
    pub ends_with: Option<u64>,
    pub arms: Vec<OptionArm>,
    /// The reason to reject an option of an unknown kind; `None`: such an option is skipped.
    pub unknown: Option<ReasonId>,
    /// The reason for a length that the option cannot have, or that goes beyond `until`.
    pub malformed: ReasonId,
}

/// Kind or length: whole octets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OptionPart {
    pub name: String,
    pub width: u8,
}

/// One kind of option in a list of options.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OptionArm {
    /// Ends the list; the decoder ignores what follows up to `until`.
    End { kind: u64 },
    /// Only the kind, without a length; never written.
    Single { kind: u64 },
    /// Written if the header's field is not zero. Reading sets that field to one, unless it is the number of elements.
    Known {
        kind: u64,
        header: HeaderId,
        variant: VariantId,
        field: u32,
        items: Vec<WireItem>,
        repeat: Option<OptionRepeat>,
    },
}

/// The items of an option from `from` on are equal elements of `each` items; the header's field `count` says how many.
/// The decoder reads as many as the option's length has room for; the header fields of absent elements are zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OptionRepeat {
    pub count: u32,
    pub from: u32,
    pub each: u32,
}

impl OptionArm {
    /// The number of this kind of option in the packet.
    pub fn kind(&self) -> u64 {
        match self {
            OptionArm::End { kind } | OptionArm::Single { kind } | OptionArm::Known { kind, .. } => *kind,
        }
    }

    /// Its items; all are fields.
    pub fn items(&self) -> &[WireItem] {
        match self {
            OptionArm::Known { items, .. } => items,
            _ => &[],
        }
    }

    /// Its repeated elements.
    pub fn repeat(&self) -> Option<OptionRepeat> {
        match self {
            OptionArm::Known { repeat, .. } => *repeat,
            _ => None,
        }
    }

    /// Octets of the items that are always present, octets of an element, and the most elements.
    pub fn measures(&self) -> (u32, u32, u32) {
        let octets =
            |items: &[WireItem]| WireItem::fields(items).iter().map(|field| u32::from(field.width)).sum::<u32>() / 8;
        let Some(repeat) = self.repeat() else { return (self.octets(), 0, 0) };
        let (fixed, elements) = self.items().split_at((repeat.from as usize).min(self.items().len()));
        let each = elements.get(..repeat.each as usize).unwrap_or(elements);
        (octets(fixed), octets(each).max(1), elements.len() as u32 / repeat.each.max(1))
    }

    /// Octets of all its fields, with all elements; always whole octets.
    pub fn octets(&self) -> u32 {
        WireItem::fields(self.items()).iter().map(|field| u32::from(field.width)).sum::<u32>() / 8
    }
}

impl WireOptions {
    /// Octets of kind and length.
    pub fn head(&self) -> u32 {
        u32::from(self.kind.width / 8 + self.length.width / 8)
    }

    /// Whether they go on to the packet's end, so that no message stands behind them.
    pub fn fill(&self) -> bool {
        self.until == WireExpression::PacketSize
    }

    /// Octets of the kind that ends them, if it is written.
    pub fn end(&self) -> u32 {
        self.ends_with.map_or(0, |_| u32::from(self.kind.width / 8))
    }
}

/// A field by its order of appearance in the wire, arms included, from 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FieldIndex(pub u32);

/// One alternative of a choice, selected by its tag.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WireArm {
    pub tag: u64,
    /// The variants of headers that select this arm; headers with one variant are not mentioned.
    pub selects: Vec<(HeaderId, VariantId)>,
    /// Header fields that are not in the packet because on this arm they have these values. The encoder takes the first
    /// arm that fits; the decoder rejects a packet that an earlier arm could express. Only in a choice on a
    /// [`FieldValue::Tag`] that is the wire's last item, with only fields in its arms.
    pub commons: Vec<WireCommon>,
    pub items: Vec<WireItem>,
}

/// A header's field, and the value that it has on an arm.
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
    /// The packet ends after this many octets (the field's value, counted from the packet's start); the decoder cuts
    /// off the rest.
    pub trims_packet: bool,
    /// Octets to add to the value for `trims_packet`: at most 32 bits.
    pub trims_plus: u64,
}

/// Where the value of a field comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FieldValue {
    /// Always this value; a packet with another one is rejected.
    Constant { value: u64, otherwise: ReasonId },
    /// A header's field, `wire = field * times + plus`. A value that does not divide, or that is no value of the
    /// field's type, is rejected with `otherwise`.
    Header { header: HeaderId, variant: VariantId, field: u32, times: u64, plus: u64, otherwise: Option<ReasonId> },
    /// The wire itself computes and checks it.
    Computed { expression: WireExpression, otherwise: ReasonId },
    /// The tag of the choice that names it.
    Tag,
    /// A place that a layer below the encoding point fills in: zero when encoded, ignored when decoded.
    Placed,
    /// Zero when encoded; ignored when decoded.
    Reserved,
}

/// A comparison that must hold in every packet; a packet in which it does not is rejected with the reason `otherwise`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WireConstraint {
    pub left: WireExpression,
    pub compare: crate::Compare,
    pub right: WireExpression,
    pub otherwise: ReasonId,
}

/// Computed in u64; does not wrap in sensible use. Sizes are octets. `PacketSize` is the size after the trim.
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
    /// The internet checksum (RFC 1071) of the encoded header, with this field taken as zero.
    HeaderChecksum,
    /// The same over the whole packet.
    PacketChecksum,
}
