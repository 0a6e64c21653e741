//! Headers without a wire: records in native layout, which follows from the source alone (docs/language.md, section 8).

use mokume_reaction::{Automaton, HeaderId, Type, VariantId};

/// The places of the fields of one alternative, in octets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    pub offsets: Vec<u32>,
    pub size: u32,
    pub align: u32,
}

/// Octets of a scalar: the smallest of 1, 2, 4 and 8 that holds it. 0 for types that never travel.
pub fn octets_of(automaton: &Automaton, ty: Type) -> u32 {
    match ty.width(automaton) {
        0 => 0,
        1..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        _ => 8,
    }
}

/// The layout of a record: fields in order, each aligned to its size; the whole to the largest. A choice of records
/// begins with its tag, one octet.
pub fn record(automaton: &Automaton, header: HeaderId, variant: VariantId) -> Record {
    let variants = &automaton.headers[header.index()].variants;
    let (mut size, mut align, mut offsets) = (u32::from(variants.len() > 1), 1, Vec::new());
    for (_, ty) in &variants[variant.index()].fields {
        let octets = octets_of(automaton, *ty).max(1);
        size = size.next_multiple_of(octets);
        offsets.push(size);
        size += octets;
        align = align.max(octets);
    }
    Record { offsets, size: size.next_multiple_of(align), align }
}

/// The octets of the largest alternative.
pub fn size(automaton: &Automaton, header: HeaderId) -> u32 {
    let variants = 0..automaton.headers[header.index()].variants.len();
    variants.map(|variant| record(automaton, header, VariantId::from(variant)).size).max().unwrap_or(0)
}

/// The most octets of a packet head that a wire writes.
pub fn wire_size(automaton: &Automaton, wire: mokume_reaction::WireId) -> u32 {
    bits(&automaton.wires[wire.index()].items).div_ceil(8)
}

fn bits(items: &[mokume_reaction::WireItem]) -> u32 {
    let item = |item: &mokume_reaction::WireItem| match item {
        mokume_reaction::WireItem::Field(field) => u32::from(field.width),
        mokume_reaction::WireItem::Options(options) => {
            let arms = options.arms.iter().map(|arm| 8 * (options.head() + arm.octets()));
            arms.sum::<u32>() + 8 * (options.end() + options.pad)
        }
        mokume_reaction::WireItem::List(list) => list.elements.iter().map(|element| bits(element)).sum(),
        item => item.inner().into_iter().map(bits).max().unwrap_or(0),
    };
    items.iter().map(item).sum()
}
