//! Wires on a path: encoders put fields in front of a message, decoders read them in place.
//!
//! A packet that a decoder would refuse has no path; the order of refusals does not matter. It must keep: what is read
//! and written is what `mokume-wire` reads and writes.

mod decode;
mod encode;

use mokume_reaction::{Automaton, Binary, Compare, FieldIndex, HeaderId, Type, VariantId, WireExpression, WireTest};

use crate::graph::{Node, U64};
use crate::region::{Followed, Region};

/// A field that was laid out or read.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    /// Its first bit.
    pub(super) at: u64,
    pub(super) width: u8,
    pub(super) value: Node,
}

pub(super) type Header = (HeaderId, VariantId, Vec<Node>);

/// What expressions may refer to.
pub(super) struct Facts {
    pub(super) slots: Vec<Option<Slot>>,
    /// Numbers of octets, as `u64`s; `None` while they are unknown.
    pub(super) packet_size: Option<Node>,
    pub(super) header_size: Option<Node>,
}

impl Facts {
    pub(super) fn set(&mut self, index: FieldIndex, slot: Slot) {
        let index = index.0 as usize;
        if self.slots.len() <= index {
            self.slots.resize(index + 1, None);
        }
        self.slots[index] = Some(slot);
    }

    pub(super) fn slot(&self, index: FieldIndex) -> Option<Slot> {
        self.slots.get(index.0 as usize).copied().flatten()
    }
}

pub(super) fn zeros(region: &mut Region, header: HeaderId, variant: VariantId) -> Header {
    let automaton = region.automaton;
    let variants = &automaton.headers[header.index()].variants;
    let fields = variants.get(variant.index()).map_or(&[][..], |variant| &variant.fields);
    let fields = fields.iter().map(|(_, ty)| region.graph.constant(*ty, 0)).collect();
    (header, variant, fields)
}

pub(super) fn type_of(automaton: &Automaton, header: HeaderId, variant: VariantId, field: u32) -> Type {
    automaton.headers[header.index()].variants[variant.index()].fields[field as usize].1
}

/// Whether it is a checksum, which is handled separately; sizes and fields are expressions.
pub(super) fn is_checksum(expression: &WireExpression) -> bool {
    matches!(expression, WireExpression::HeaderChecksum | WireExpression::PacketChecksum)
}

impl Region<'_> {
    pub(super) fn long(&mut self, node: Node) -> Node {
        self.graph.cast(node, U64)
    }

    /// An expression in `u64`, as wires compute; `None` while a size is unknown. Not for checksums.
    pub(super) fn evaluate(&mut self, expression: &WireExpression, facts: &Facts) -> Followed<Node> {
        use WireExpression as E;
        let unknown = "a wire counts with a size that is not known yet";
        Ok(match expression {
            E::Number(value) => self.number(U64, *value),
            E::Field(index) => match facts.slot(*index) {
                Some(slot) => self.long(slot.value),
                None => self.number(U64, 0),
            },
            E::PacketSize => return facts.packet_size.map_or_else(|| self.no(unknown), Ok),
            E::HeaderSize => return facts.header_size.map_or_else(|| self.no(unknown), Ok),
            E::PayloadSize => match (facts.packet_size, facts.header_size) {
                (Some(packet), Some(header)) => self.graph.binary(Binary::SubWrap, packet, header),
                _ => return self.no(unknown),
            },
            E::Add(a, b) | E::Sub(a, b) | E::Mul(a, b) | E::Div(a, b) => {
                let (a, b) = (self.evaluate(a, facts)?, self.evaluate(b, facts)?);
                let op = match expression {
                    E::Add(..) => Binary::AddWrap,
                    E::Sub(..) => Binary::SubWrap,
                    E::Mul(..) => Binary::MulWrap,
                    _ => {
                        let zero = self.number(U64, 0);
                        let divides = self.graph.compare(Compare::Ne, b, zero);
                        self.guard(divides)?;
                        Binary::Div
                    }
                };
                self.graph.binary(op, a, b)
            }
            E::HeaderChecksum | E::PacketChecksum => return self.no("a wire counts with a checksum"),
        })
    }

    pub(super) fn is_met(&mut self, test: &WireTest, facts: &Facts) -> Followed<Node> {
        let (left, right) = (self.evaluate(&test.left, facts)?, self.evaluate(&test.right, facts)?);
        Ok(self.graph.compare(test.compare, left, right))
    }

    pub(super) fn all(&mut self, conditions: Vec<Node>) -> Node {
        let mut all = self.graph.truth(true);
        for condition in conditions {
            all = self.graph.binary(Binary::And, all, condition);
        }
        all
    }

    pub(super) fn at_most(&mut self, value: Node, most: u64) -> Followed<()> {
        let ty = self.graph.ty(value);
        let most = self.number(ty, most);
        let fits = self.graph.compare(Compare::Le, value, most);
        self.guard(fits)
    }

    pub(super) fn is(&mut self, value: Node, wanted: u64) -> Node {
        let ty = self.graph.ty(value);
        let wanted = self.number(ty, wanted);
        self.graph.compare(Compare::Eq, value, wanted)
    }
}
