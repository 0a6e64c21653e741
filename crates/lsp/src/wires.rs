//! The positions of a wire's fields, as far as they are the same in every packet.

use mokume_base::Span;
use mokume_semantics::program::{OptionForm, Program, WireItem, WireValue};

/// A field of a wire. Positions are in bits from the front of the packet.
pub struct Placed<'p> {
    pub wire: &'p str,
    /// The field's own name.
    pub name: Span,
    /// The header's field that it carries, as the wire names it.
    pub carries: Option<Span>,
    /// Its first bit; `None` after something of variable length.
    pub from: Option<u64>,
    pub width: u64,
}

impl Placed<'_> {
    /// The position for people, with the wire: `octets 2 to 3`, `octet 0, bits 4 to 7`.
    pub fn show(&self) -> String {
        match self.place() {
            Some(place) => format!("{place} of `{}`", self.wire),
            None => format!("in `{}`, behind what may be longer or shorter", self.wire),
        }
    }

    /// The position without the wire; `None` if it varies between packets.
    pub fn place(&self) -> Option<String> {
        let from = self.from?;
        let (first, last) = (from / 8, (from + self.width.max(1) - 1) / 8);
        Some(match (from % 8, self.width % 8) {
            (0, 0) if first == last => format!("octet {first}"),
            (0, 0) => format!("octets {first} to {last}"),
            (bit, _) if first == last && self.width == 1 => format!("octet {first}, bit {bit}"),
            (bit, _) if first == last => format!("octet {first}, bits {bit} to {}", bit + self.width - 1),
            (bit, _) => format!("octet {first}, bit {bit}, to octet {last}, bit {}", (from + self.width - 1) % 8),
        })
    }
}

/// All fields of all wires.
pub fn placed(program: &Program) -> Vec<Placed<'_>> {
    let mut all = Vec::new();
    for wire in &program.wires {
        walk(&wire.name.text, &wire.items, Some(0), &mut all);
    }
    all
}

/// The bit after the items; `None` if it varies between packets.
fn walk<'p>(wire: &'p str, items: &[WireItem], mut at: Option<u64>, all: &mut Vec<Placed<'p>>) -> Option<u64> {
    for item in items {
        at = match item {
            WireItem::Field(field) => {
                let width = u64::from(field.width);
                let carries = if let WireValue::Header { field, .. } = &field.value { Some(field.span) } else { None };
                all.push(Placed { wire, name: field.name.span, carries, from: at, width });
                at.map(|at| at + width)
            }
            WireItem::Choice { arms, .. } => {
                let ends: Vec<_> = arms.iter().map(|arm| walk(wire, &arm.items, at, all)).collect();
                let first = ends.first().copied().flatten();
                first.filter(|first| ends.iter().all(|end| *end == Some(*first)))
            }
            WireItem::Optional { items, .. } => {
                walk(wire, items, at, all);
                None
            }
            WireItem::Options(options) => {
                for arm in &options.arms {
                    if let OptionForm::Known { items, .. } = &arm.what {
                        walk(wire, items, None, all);
                    }
                }
                None
            }
            WireItem::Each(each) => {
                walk(wire, &each.items, None, all);
                None
            }
            WireItem::Reach(..) => None,
        };
    }
    at
}
