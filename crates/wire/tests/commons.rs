//! Choices by common values: `decode(encode(x)) = x`, and for accepted packets `encode(decode(p)) = p`, on random wires
//! of several headers; and faults that these laws find.

use mokume_base::Random;
use mokume_reaction::*;
use mokume_wire::{decode, encode, HeaderValue};

const WIRE: WireId = WireId(0);
const WIRES: u64 = 2000;

/// Up to three headers, the last with up to three alternatives; some fields have a common value.
struct Made {
    automaton: Automaton,
    commons: Vec<WireCommon>,
}

fn make(seed: u64) -> Made {
    let mut random = Random::new(seed);
    let reasons = ["short", "path"].iter().map(|name| Reason { name: name.to_string() }).collect();
    let mut automaton = Automaton { reasons, ..Automaton::default() };
    let mut commons = Vec::new();
    let headers = 1 + random.below(3) as usize;
    for place in 0..headers {
        let variants = if place + 1 == headers { 1 + random.below(3) as usize } else { 1 };
        let header = HeaderId::from(place);
        let variants = (0..variants).map(|variant| {
            let field = |at: u64| {
                let width = [1, 3, 8, 13, 16, 32][random.below(6) as usize];
                if random.below(2) == 0 {
                    let (variant, value) = (VariantId::from(variant), random.word() & ((1 << width) - 1));
                    commons.push(WireCommon { header, variant, field: at as u32, value });
                }
                (format!("f{at}"), Type::U(width))
            };
            Variant { name: format!("V{variant}"), fields: (0..3).map(field).collect() }
        });
        let variants = variants.collect();
        automaton.headers.push(Header { name: format!("h{place}"), variants });
    }
    let wire = wire(&automaton, &commons);
    automaton.wires.push(wire);
    Made { automaton, commons }
}

/// Arms that omit common values, then arms with all fields.
fn wire(automaton: &Automaton, commons: &[WireCommon]) -> Wire {
    let last = HeaderId::from(automaton.headers.len() - 1);
    let variants = automaton.headers[last.index()].variants.len();
    let (mut arms, mut next) = (Vec::new(), 1);
    for is_common in [true, false] {
        for variant in (0..variants).map(VariantId::from) {
            let here = |common: &&WireCommon| common.header != last || common.variant == variant;
            let left: Vec<WireCommon> = commons.iter().filter(here).filter(|_| is_common).copied().collect();
            if is_common && left.is_empty() {
                continue;
            }
            let items = items(automaton, (last, variant), &left, &mut next);
            arms.push(WireArm { tag: arms.len() as u64, selects: vec![(last, variant)], commons: left, items });
        }
    }
    let items = vec![
        WireItem::Field(field(0, 8, FieldValue::Tag)),
        WireItem::Choice { on: FieldIndex(0), arms, unknown: ReasonId(1) },
    ];
    let headers = (0..automaton.headers.len()).map(HeaderId::from).collect();
    Wire { name: "w".into(), headers, endian: Endian::Little, items, short: ReasonId(0) }
}

fn items(
    automaton: &Automaton,
    (last, variant): (HeaderId, VariantId),
    left: &[WireCommon],
    next: &mut u32,
) -> Vec<WireItem> {
    let (mut items, mut bits) = (Vec::new(), 0);
    let mut add = |width: u8, value| {
        items.push(WireItem::Field(field(*next, width, value)));
        *next += 1;
        bits += u32::from(width);
    };
    for header in (0..automaton.headers.len()).map(HeaderId::from) {
        let variant = if header == last { variant } else { VariantId(0) };
        let fields = &automaton.headers[header.index()].variants[variant.index()].fields;
        for (at, (_, ty)) in fields.iter().enumerate() {
            let field = at as u32;
            if !left.iter().any(|common| (common.header, common.field) == (header, field)) {
                let value = FieldValue::Header { header, variant, field, times: 1, plus: 0, otherwise: None };
                add(ty.width(automaton), value);
            }
        }
    }
    let missing = bits.next_multiple_of(8) - bits;
    if missing > 0 {
        items.push(WireItem::Field(field(*next, missing as u8, FieldValue::Reserved)));
        *next += 1;
    }
    items
}

fn field(index: u32, width: u8, value: FieldValue) -> WireField {
    let (index, name, endian) = (FieldIndex(index), format!("w{index}"), Endian::Little);
    WireField { index, name, width, endian, value, constraints: Vec::new(), trims_packet: false, trims_plus: 0 }
}

/// Header values that are the common ones two times in three.
fn headers(made: &Made, random: &mut Random) -> Vec<HeaderValue> {
    let is_common = random.below(3) > 0;
    let of = |place: usize| {
        let header = HeaderId::from(place);
        let variants = &made.automaton.headers[place].variants;
        let variant = VariantId::from(random.below(variants.len() as u64) as usize);
        let value = |(at, (_, ty)): (usize, &(String, Type))| {
            let same = |c: &&WireCommon| (c.header, c.variant, c.field) == (header, variant, at as u32);
            let known = made.commons.iter().find(same).filter(|_| is_common || random.below(2) == 0);
            known.map_or(random.word() & ((1 << ty.width(&made.automaton)) - 1), |common| common.value)
        };
        let fields = variants[variant.index()].fields.iter().enumerate().map(value).collect();
        HeaderValue { header, variant, fields }
    };
    (0..made.automaton.headers.len()).map(of).collect()
}

#[test]
fn what_is_encoded_is_decoded_and_common_packets_are_shorter() {
    let mut shorter = 0;
    for seed in 0..WIRES {
        let made = make(seed);
        assert!(verify_wires(&made.automaton), "seed {seed}");
        let mut random = Random::new(seed ^ 0xdead);
        let mut sizes = std::collections::BTreeSet::new();
        for _ in 0..6 {
            let headers = headers(&made, &mut random);
            let packet = encode(&made.automaton, WIRE, &headers, b"rest");
            assert!(!packet.narrow, "seed {seed}");
            let decoded =
                decode(&made.automaton, WIRE, &packet.octets).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
            assert_eq!(decoded.headers, headers, "seed {seed}");
            assert_eq!(&packet.octets[decoded.payload], b"rest");
            sizes.insert(packet.octets.len());
        }
        shorter += u64::from(sizes.len() > 1);
    }
    assert!(shorter > WIRES / 2, "{shorter}");
}

/// Whether the verifier finds no fault of the wire itself: the automaton has nothing else.
fn verify_wires(automaton: &Automaton) -> bool {
    let faults = verify(automaton);
    let about = |text: &str| text.contains("wire") || text.contains("arm") || text.contains("common");
    !faults.iter().any(|fault| about(&fault.message))
}

/// How many accepted packets, random and corrupted, are not encoded to themselves; and how many were accepted.
fn not_themselves(change: impl Fn(&mut Wire)) -> (u64, u64) {
    let (mut accepted, mut wrong) = (0, 0);
    for seed in 0..WIRES {
        let made = make(seed);
        let mut reader = made.automaton.clone();
        change(&mut reader.wires[0]);
        let mut random = Random::new(seed ^ 0xbeef);
        for _ in 0..6 {
            let headers = headers(&made, &mut random);
            let mut packet = encode(&made.automaton, WIRE, &headers, b"").octets;
            // Another path, or another value.
            packet[0] = random.below(7) as u8;
            packet.resize(random.below(30) as usize, 0);
            for common in made.commons.iter().take(random.below(3) as usize) {
                let at = random.below(packet.len().max(1) as u64) as usize;
                packet.get_mut(at).into_iter().for_each(|octet| *octet = common.value as u8);
            }
            let Ok(decoded) = decode(&reader, WIRE, &packet) else { continue };
            accepted += 1;
            let again = encode(&made.automaton, WIRE, &decoded.headers, &packet[decoded.payload.clone()]).octets;
            let head = decoded.payload.start;
            // The last octet of a header may have open bits.
            wrong += u64::from(again.len() != packet.len() || again[..head.max(1) - 1] != packet[..head.max(1) - 1]);
        }
    }
    (accepted, wrong)
}

#[test]
fn what_is_accepted_is_encoded_to_itself() {
    let (accepted, wrong) = not_themselves(|_| ());
    assert!(accepted > WIRES, "{accepted}");
    assert_eq!(wrong, 0);
}

/// A decoder that reads another common value than the encoder omits, and one that does not check for shorter forms.
#[test]
fn planted_faults_are_found() {
    let arms = |wire: &mut Wire, change: &dyn Fn(&mut WireArm)| {
        let Some(WireItem::Choice { arms, .. }) = wire.items.last_mut() else { panic!("a choice") };
        arms.iter_mut().for_each(change);
    };
    let (_, wrong) = not_themselves(|wire| arms(wire, &|arm| arm.commons.iter_mut().for_each(|c| c.value ^= 1)));
    assert!(wrong > 100, "{wrong}");
}

/// A packet that uses the long form where a short one exists is refused; a decoder that does not check for shorter
/// forms accepts it.
#[test]
fn what_is_longer_than_needed_is_refused() {
    let (mut refused, mut taken) = (0, 0);
    for seed in 0..WIRES {
        let made = make(seed);
        let mut long = made.automaton.clone();
        let Some(WireItem::Choice { arms, .. }) = long.wires[0].items.last_mut() else { panic!("a choice") };
        arms.retain(|arm| arm.commons.is_empty());
        let mut random = Random::new(seed);
        let headers = headers(&made, &mut random);
        let packet = encode(&long, WIRE, &headers, b"").octets;
        if encode(&made.automaton, WIRE, &headers, b"").octets[0] != packet[0] {
            refused += u64::from(decode(&made.automaton, WIRE, &packet).is_err());
            taken += u64::from(decode(&long, WIRE, &packet).is_ok());
        }
    }
    assert!(taken > WIRES / 3, "{taken}");
    assert_eq!(refused, taken);
}
