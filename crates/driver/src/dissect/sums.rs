//! Checksums over more than a wire's own packet: they also include fields of the preceding wires (`pseudo`).
//!
//! May assume: the packet is complete.

use mokume_reaction::{Automaton, FieldIndex, WireExpression, WireId, WireItem};
use mokume_semantics::program::{Program, WireDefault};
use mokume_wire::by_fields::sum_of;
use mokume_wire::Read;

/// A wrong checksum; `bit` counts from the beginning of the packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrongSum {
    pub field: String,
    pub bit: usize,
    pub right: u64,
}

/// What the checksums of a stack's wires include.
#[derive(Default)]
pub struct Sums {
    /// By wire: the field that is such a checksum, and the fields that the checksum of the next wire includes.
    of: Vec<(Option<String>, Vec<String>)>,
}

/// What the preceding wires contribute, the nearest last; empty if one of them contributes nothing.
#[derive(Default)]
pub struct Under {
    fields: Vec<(String, u64)>,
    /// Whether one of them has octets that no wire reads: other values may count instead, as the last address of a route.
    is_unread: bool,
}

impl Under {
    /// Adds a wire that precedes what follows.
    pub fn add(&mut self, sums: &Sums, wire: WireId, read: &Read<'_>) {
        let counted = &sums.of[wire.index()].1;
        if counted.is_empty() {
            self.fields.clear();
            self.is_unread = false;
        }
        self.is_unread |= read.passed_over;
        for name in counted {
            let Some(seen) = read.fields.iter().find(|seen| seen.name == name) else { continue };
            // An extension replaces what follows it.
            self.fields.retain(|(known, _)| known != name);
            self.fields.push((name.clone(), seen.value));
        }
    }

    /// Notes octets that layers take off, and that no wire reads.
    pub fn take_off(&mut self, octets: &[u8]) {
        self.is_unread |= octets.iter().any(|octet| *octet != 0);
    }
}

impl Sums {
    /// The checksums of all wires of a stack.
    pub fn of(program: &Program, automaton: &Automaton) -> Sums {
        let of = automaton.wires.iter().map(|wire| {
            let name = wire.name.rsplit('.').next().unwrap_or_default();
            let Some(source) = program.wires.iter().find(|source| source.name.text == name) else {
                return (None, Vec::new());
            };
            let is_sum = |(_, default): &&(String, WireDefault)| matches!(default, WireDefault::PseudoChecksum);
            let field = source.defaults.iter().find(is_sum).map(|(field, _)| field.clone());
            (field, source.pseudo.iter().map(|name| name.text.clone()).collect())
        });
        Sums { of: of.collect() }
    }

    /// No checksums.
    pub fn none(automaton: &Automaton) -> Sums {
        Sums { of: vec![(None, Vec::new()); automaton.wires.len()] }
    }

    /// The field of a wire that is such a checksum, and the fields that the checksum of the next wire includes.
    pub fn names(&self, wire: WireId) -> (Option<String>, Vec<String>) {
        self.of.get(wire.index()).cloned().unwrap_or_default()
    }

    /// The wrong checksum of a packet of this wire, if it is certainly wrong. A field of 0 means that there is no checksum.
    pub fn wrong(&self, wire: WireId, read: &Read<'_>, packet: &[u8], under: &Under, start: usize) -> Option<WrongSum> {
        let field = self.of[wire.index()].0.as_ref()?;
        let seen = read.fields.iter().find(|seen| seen.name == field && seen.width == 16 && seen.bit % 16 == 0)?;
        if seen.value == 0 || under.fields.is_empty() || under.is_unread {
            return None;
        }
        let word = |pair: &[u8]| u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0));
        let own: u64 = packet.chunks(2).map(word).sum();
        let pseudo: u64 = under.fields.iter().map(|(_, value)| sum_of(*value)).sum();
        let mut sum = own - seen.value + pseudo + sum_of(packet.len() as u64);
        while sum >> 16 != 0 {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        let right = !sum & 0xffff;
        // 0 and 0xffff are the same number in this arithmetic.
        let is_right = seen.value == right || (seen.value == 0xffff && right == 0);
        (!is_right).then(|| WrongSum { field: field.clone(), bit: start * 8 + seen.bit, right })
    }

    /// Whether a field is computed from its whole packet.
    pub fn is_of_packet(&self, automaton: &Automaton, wire: WireId, field: FieldIndex) -> bool {
        let wire = &automaton.wires[wire.index()];
        let fields = WireItem::fields(&wire.items);
        let Some(found) = fields.into_iter().find(|known| known.index == field) else { return false };
        matches!(&found.value, mokume_reaction::FieldValue::Computed { expression, .. } if sums_packet(expression))
    }
}

fn sums_packet(expression: &WireExpression) -> bool {
    matches!(expression, WireExpression::PacketChecksum)
}
