//! Layouts of wires as text without the names of a stack, and their hash: both ends of a wire must have equal ones.
//!
//! Keeps: the same source gives the same layout, whatever else is in the stack, and for every back end and optimisation
//! level.

use super::{print, print_wire};
use crate::*;

/// The headers of a wire and the places of their fields. Headers are named by their number in the wire; reasons are
/// left out.
pub fn layout(automaton: &Automaton, wire: WireId) -> String {
    let mut wire = automaton.wires[wire.index()].clone();
    wire.name = "w".into();
    let mut bare = Automaton { enums: automaton.enums.clone(), ..Automaton::default() };
    bare.headers.clone_from(&automaton.headers);
    for (place, header) in wire.headers.iter().enumerate() {
        bare.headers[header.index()].name = format!("h{place}");
    }
    bare.reasons = vec![Reason { name: "r".into() }; automaton.reasons.len()];
    let headers = wire.headers.iter().map(|header| print::header(&bare, &bare.headers[header.index()]));
    let enums = bare.enums.iter().enumerate().filter(|(at, _)| carries(&bare, &wire, *at));
    let enums = enums.map(|(_, found)| print::enumeration(found));
    enums.chain(headers).chain([print_wire::wire(&bare, &wire)]).collect()
}

fn carries(automaton: &Automaton, wire: &Wire, of: usize) -> bool {
    let fields = wire.headers.iter().flat_map(|header| &automaton.headers[header.index()].variants);
    fields.flat_map(|variant| &variant.fields).any(|(_, ty)| matches!(ty, Type::Enum(id) if id.index() == of))
}

/// FNV-1a of 32 bits over these layouts, in this order. It detects accidental differences, not attacks.
pub fn layout_hash(automaton: &Automaton, wires: &[WireId]) -> u32 {
    let texts = wires.iter().map(|wire| layout(automaton, *wire));
    texts
        .flat_map(String::into_bytes)
        .fold(0x811c_9dc5, |hash, octet| (hash ^ u32::from(octet)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = include_str!("../../../../tests/reaction/form/wire_parts.ra");

    fn hashes(text: &str) -> Vec<u32> {
        let mut sources = mokume_base::SourceMap::default();
        let file = sources.add("layout.ra", text);
        let automaton = crate::text::parse(file, text).automaton;
        (0..automaton.wires.len()).map(|wire| layout_hash(&automaton, &[WireId::from(wire)])).collect()
    }

    #[test]
    fn names_of_the_stack_do_not_matter_and_every_bit_does() {
        let plain = hashes(TEXT);
        assert_eq!(hashes(&TEXT.replace("c.Hdr", "other.Hdr").replace("c.path", "c.way")), plain);
        // Changes: the common value, a width, an order, a name, one more alternative.
        let changes = [
            ("where c.Hdr.Data.more = 0", "where c.Hdr.Data.more = 1"),
            ("field next: 16 from", "field next: 24 from"),
            ("field next: 16 from", "field next: 16 big from"),
            ("next", "upto"),
            ("Ack{next: u16}", "Ack{next: u15}"),
        ];
        for (from, to) in changes {
            let changed = hashes(&TEXT.replace(from, to));
            assert_eq!(changed[..2], plain[..2], "{from}");
            assert_ne!(changed[2], plain[2], "{from}");
        }
    }
}
