//! Options whose length determines the number of elements: `decode(encode(x)) = x` for every number of elements,
//! packets with a wrong length are refused, and a codec with two exchanged elements is found.

use mokume_base::{FileId, Random};
use mokume_reaction::*;
use mokume_wire::{decode, encode, HeaderValue};

const TEXT: &str = "automaton lists
header w.Hdr { words: u8, blocks: u8, l0: u16, r0: u16, l1: u16, r1: u16, l2: u16, r2: u16 }
reason w.short
reason w.length
layer w
class w.E capacity 1 {
}
wire w big {
  headers w.Hdr
  short w.short
  field words: 8 from w.Hdr.words
  options kind: 8 length: 8 * 1 + 0 big until packet_size() pad 1 malformed w.length {
    case 5 if w.Hdr.blocks repeat w.Hdr.blocks from 0 each 2 {
      field left: 16 from w.Hdr.l0
      field right: 16 from w.Hdr.r0
      field left: 16 from w.Hdr.l1
      field right: 16 from w.Hdr.r1
      field left: 16 from w.Hdr.l2
      field right: 16 from w.Hdr.r2
    }
  }
}
";

fn automaton() -> Automaton {
    let parsed = text::parse(FileId(0), TEXT);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics.first());
    let wrong = verify::diagnose(&parsed.automaton, &parsed.places);
    assert!(wrong.is_empty(), "{:?}", wrong.first());
    parsed.automaton
}

/// A header with this many elements; the others are zero.
fn header(random: &mut Random, count: usize) -> HeaderValue {
    let mut fields = vec![random.word() & 0xff, count as u64];
    fields.extend((0..6).map(|at| if at < 2 * count { random.word() & 0xffff } else { 0 }));
    HeaderValue { header: HeaderId(0), variant: VariantId(0), fields }
}

/// What is wrong with an encoder, if anything.
fn difference(encoder: &Automaton, decoder: &Automaton) -> Option<String> {
    let mut random = Random::new(3);
    for round in 0..400 {
        let said = header(&mut random, round % 4);
        let packet = encode(encoder, WireId(0), std::slice::from_ref(&said), &[]);
        let size = if round % 4 == 0 { 1 } else { 3 + 4 * (round % 4) };
        let heard = decode(decoder, WireId(0), &packet.octets);
        let same = heard.as_ref().is_ok_and(|heard| heard.headers == [said.clone()]);
        if packet.narrow || packet.octets.len() != size || !same {
            return Some(format!("{said:?} becomes {packet:02x?} becomes {heard:?}"));
        }
    }
    None
}

#[test]
fn every_number_of_elements_comes_back() {
    let automaton = automaton();
    assert_eq!(difference(&automaton, &automaton), None);
    assert_eq!(text::parse(FileId(0), &text::print(&automaton)).automaton, automaton, "the text says it all");
}

#[test]
fn elements_that_are_exchanged_are_found() {
    let (right, mut wrong) = (automaton(), automaton());
    let Some(WireItem::Options(options)) = wrong.wires[0].items.last_mut() else { panic!("options") };
    let OptionArm::Known { items, .. } = &mut options.arms[0] else { panic!("an option with elements") };
    let (WireItem::Field(mut first), WireItem::Field(mut second)) = (items[0].clone(), items[2].clone()) else {
        panic!("fields")
    };
    std::mem::swap(&mut first.value, &mut second.value);
    (items[0], items[2]) = (WireItem::Field(first), WireItem::Field(second));
    assert!(difference(&wrong, &right).is_some());
}

#[test]
fn a_length_that_no_elements_have_is_refused() {
    let automaton = automaton();
    let count = |packet: &[u8]| decode(&automaton, WireId(0), packet).map(|decoded| decoded.headers[0].fields[1]);
    let reason = |packet: &[u8]| count(packet).map_err(|refusal| (refusal.reason, refusal.bit));
    let malformed = ReasonId(1);
    assert_eq!(reason(&[1, 5, 2]), Ok(0));
    assert_eq!(reason(&[1, 5, 6, 0, 1, 0, 2]), Ok(1));
    assert_eq!(reason(&[1, 5, 5, 0, 1, 0]), Err((malformed, 16)), "half an element");
    assert_eq!(reason(&[1, 5, 6, 0, 1, 0]), Err((malformed, 16)), "beyond the packet");
    let mut four = vec![1, 5, 18];
    four.resize(19, 0);
    assert_eq!(reason(&four), Err((malformed, 16)), "more than there may be");
}

/// Of two options of a kind the later counts, with all its elements: nothing of the earlier remains.
#[test]
fn the_later_of_two_counts_alone() {
    let automaton = automaton();
    let packet = [1, 5, 10, 0, 1, 0, 2, 0, 3, 0, 4, 5, 6, 0, 7, 0, 8];
    let heard = decode(&automaton, WireId(0), &packet).expect("both are well formed");
    assert_eq!(heard.headers[0].fields, [1, 1, 7, 8, 0, 0, 0, 0]);
}

/// Too many elements are reported, and only the allowed ones are written.
#[test]
fn too_many_are_reported() {
    let automaton = automaton();
    let mut said = header(&mut Random::new(5), 3);
    said.fields[1] = 9;
    let packet = encode(&automaton, WireId(0), &[said], &[]);
    assert!(packet.narrow);
    assert_eq!(packet.octets.len(), 15);
}
