//! Lists of elements of different sizes, with a count in front or up to the packet's end: `decode(encode(x)) = x` for
//! every number of elements, packets that are cut off or miscounted are refused, and a codec that exchanges elements is
//! found.

use mokume_base::FileId;
use mokume_reaction::*;
use mokume_wire::{decode, encode, read, HeaderValue};

/// Two groups of two members, with a note after them; with counts in front, or without counts.
fn text(counted: bool) -> String {
    let element = |group: usize| {
        let member = |member| {
            format!("        element {{\n          field member: 16 from w.Hdr.m{group}{member}\n        }}\n")
        };
        format!(
            "    element {{\n      field kind: 4 from w.Hdr.k{group}\n      field size: 4 from w.Hdr.s{group} * 2\n        require \
             %{} <= 4 else w.size\n      list w.Hdr.s{group} {{\n{}{}      }}\n      field note: 8 from w.Hdr.n{group}\n    }}\n",
            if counted { 1 + 5 * group + 1 } else { 5 * group + 1 },
            member(0),
            member(1)
        )
    };
    let (count, list) = match counted {
        true => ("  field count: 8 from w.Hdr.count\n    require count <= 2 else w.count\n", "list w.Hdr.count"),
        false => ("", "list w.Hdr.count to end else w.count"),
    };
    format!(
        "automaton lists
header w.Hdr {{ count: u8, k0: u4, s0: u8, m00: u16, m01: u16, n0: u8, k1: u4, s1: u8, m10: u16, m11: u16, n1: u8 }}
reason w.short
reason w.count
reason w.size
layer w
class w.E capacity 1 {{
}}
wire w big {{
  headers w.Hdr
  short w.short
{count}  {list} {{
{}{}  }}
}}
",
        element(0),
        element(1)
    )
}

fn automaton(counted: bool) -> Automaton {
    let parsed = text::parse(FileId(0), &text(counted));
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics.first());
    let wrong = verify::diagnose(&parsed.automaton, &parsed.places);
    assert!(wrong.is_empty(), "{:?}", wrong.first());
    parsed.automaton
}

/// Every number of groups, and of members in each.
fn headers() -> Vec<HeaderValue> {
    let mut found = Vec::new();
    for (groups, first, second) in (0..27).map(|at| (at % 3, at / 3 % 3, at / 9)) {
        let group = |place: u64, members: u64| {
            let there = u64::from(groups > place);
            let member = |at: u64| there * u64::from(members > at) * (0x101 * (4 * place + at + 1));
            [there * (place + 5), there * members, member(0), member(1), there * (place + 9)]
        };
        let fields = [vec![groups], group(0, first).to_vec(), group(1, second).to_vec()].concat();
        found.push(HeaderValue { header: HeaderId(0), variant: VariantId(0), fields });
    }
    found
}

fn difference(encoder: &Automaton, decoder: &Automaton, counted: bool) -> Option<String> {
    headers().into_iter().find_map(|said| {
        let packet = encode(encoder, WireId(0), std::slice::from_ref(&said), &[]);
        let size = u64::from(counted) + 2 * (said.fields[0] + said.fields[2] + said.fields[7]);
        let heard = decode(decoder, WireId(0), &packet.octets);
        let same = heard.as_ref().is_ok_and(|heard| heard.headers == [said.clone()]);
        let wrong = packet.narrow || packet.octets.len() as u64 != size || !same;
        wrong.then(|| format!("{said:?} becomes {packet:02x?} becomes {heard:?}"))
    })
}

#[test]
fn every_number_of_elements_in_every_element_comes_back() {
    for counted in [true, false] {
        let automaton = automaton(counted);
        assert_eq!(difference(&automaton, &automaton, counted), None);
        assert_eq!(text::parse(FileId(0), &text::print(&automaton)).automaton, automaton, "the text says it all");
    }
}

#[test]
fn elements_that_are_exchanged_are_found() {
    for counted in [true, false] {
        let (right, mut wrong) = (automaton(counted), automaton(counted));
        let Some(WireItem::List(list)) = wrong.wires[0].items.last_mut() else { panic!("a list") };
        let Some(WireItem::List(inner)) = list.elements[1].get_mut(2) else { panic!("a list within") };
        inner.elements.reverse();
        assert!(difference(&wrong, &right, counted).is_some());
    }
}

#[test]
fn what_is_cut_off_or_counted_otherwise_is_refused() {
    let (short, count, size) = (ReasonId(0), ReasonId(1), ReasonId(2));
    let refused = |counted, packet: &[u8]| {
        let reason = |refusal: mokume_wire::Refusal| (refusal.reason, refusal.bit);
        decode(&automaton(counted), WireId(0), packet).map(|_| ()).map_err(reason)
    };
    assert_eq!(refused(true, &[1, 0x52, 0, 7, 9]), Ok(()));
    assert_eq!(refused(true, &[3, 0x50, 9]), Err((count, 0)));
    assert_eq!(refused(true, &[1, 0x56, 0, 7, 0, 7, 0, 7, 9]), Err((size, 12)));
    assert_eq!(refused(true, &[1, 0x51, 0, 7, 9]), Err((short, 12)), "half a member: without a reason of its own");
    assert_eq!(refused(true, &[2, 0x52, 0, 7, 9, 0x50]), Err((short, 48)));
    assert_eq!(refused(true, &[1, 0x54, 0, 7, 0]), Err((short, 32)));
    assert_eq!(refused(false, &[]), Ok(()));
    assert_eq!(refused(false, &[0x52, 0, 7, 9]), Ok(()));
    assert_eq!(refused(false, &[0x52, 0, 7]), Err((short, 24)));
    assert_eq!(refused(false, &[0x50, 9, 0x50, 9, 0x50]), Err((count, 32)), "more than there may be");
}

/// A packet whose fields are named one by one, as a test names them, is the packet; of those that are left out lists follow.
#[test]
fn what_is_named_field_by_field_is_the_packet() {
    use mokume_wire::by_fields::{write, Known};
    for counted in [true, false] {
        let automaton = automaton(counted);
        for said in headers() {
            let packet = encode(&automaton, WireId(0), &[said], &[]).octets;
            let fields = read(&automaton, WireId(0), &packet).fields;
            let all: Vec<_> = fields.iter().map(|seen| (seen.name.to_string(), Some(seen.value))).collect();
            let written = |given: &[(String, Option<u64>)]| {
                write(&automaton, WireId(0), &Known { given, defaults: &[], pseudo: 0 }, &[])
            };
            assert_eq!(written(&all).as_ref(), Ok(&packet), "{all:?}");
            // How long the outer list is follows from what is in it.
            let inner: Vec<_> = all.iter().filter(|(name, _)| name != "count").cloned().collect();
            assert_eq!(written(&inner).as_ref(), Ok(&packet), "{inner:?}");
            // So is which members a group has, from where they stand.
            let rows: Vec<_> = inner.iter().filter(|(name, _)| name != "size").cloned().collect();
            assert_eq!(written(&rows).as_ref(), Ok(&packet), "{rows:?}");
            // Or from the sizes, if each field of all groups stands together.
            let mut columns = inner.clone();
            columns.sort_by_key(|(name, _)| name.clone());
            assert_eq!(written(&columns).as_ref(), Ok(&packet), "{columns:?}");
        }
        let two = [("member".to_string(), Some(7)), ("member".to_string(), Some(9))];
        let written = write(&automaton, WireId(0), &Known { given: &two, defaults: &[], pseudo: 0 }, &[]).unwrap();
        assert_eq!(written[usize::from(counted)..], [4, 0, 7, 0, 9, 0], "one element, and all of it");
    }
}

/// Behind a list that is counted stands the message; behind one to the packet's end nothing.
#[test]
fn the_message_begins_where_the_last_element_ends() {
    let automaton = automaton(true);
    let packet = [1, 0x52, 0, 7, 9, b'm', b's', b'g'];
    let heard = read(&automaton, WireId(0), &packet);
    assert_eq!(heard.decoding.expect("well formed").payload, 5..8);
    assert_eq!(heard.fields.iter().map(|seen| seen.bit).collect::<Vec<_>>(), [0, 8, 12, 16, 32]);
}

/// The head room of a message is enough for all elements.
#[test]
fn the_largest_head_has_all_elements() {
    for counted in [true, false] {
        let automaton = automaton(counted);
        let largest = headers().into_iter().map(|said| encode(&automaton, WireId(0), &[said], &[]).octets.len());
        assert_eq!(mokume_wire::native::wire_size(&automaton, WireId(0)) as usize, largest.max().unwrap_or(0));
    }
}

#[test]
fn too_many_are_reported() {
    for counted in [true, false] {
        let automaton = automaton(counted);
        let mut said = headers().pop().expect("a header");
        said.fields[2] = 3;
        assert!(encode(&automaton, WireId(0), &[said], &[]).narrow);
    }
}
