//! `decode(encode(x)) = x`, and for accepted packets `encode(decode(p)) = p`, on random wires; and faults that these
//! laws find.

use mokume_base::Random;
use mokume_reaction::*;
use mokume_wire::{decode, encode, HeaderValue};

/// A random wire of up to two headers, one of them possibly a choice, with constants, sizes, checksums and open bits.
struct Maker {
    random: Random,
    automaton: Automaton,
    fields: u32,
}

const WIRE: WireId = WireId(0);

impl Maker {
    fn make(seed: u64) -> Automaton {
        let mut maker = Maker { random: Random::new(seed), automaton: Automaton::default(), fields: 0 };
        let reasons = ["short", "unknown", "constant", "divides", "size", "sum", "rule"];
        maker.automaton.reasons = reasons.iter().map(|name| Reason { name: name.to_string() }).collect();
        let plain = maker.header(1);
        let mut items = maker.header_items(plain, VariantId(0));
        let mut headers = vec![plain];
        if maker.random.percent(60) {
            let variants = 2 + maker.random.below(2) as usize;
            let choice = maker.header(variants);
            headers.insert(0, choice);
            items.extend(maker.choice(choice, variants));
        }
        if maker.random.percent(50) {
            items.push(maker.size_field());
        }
        if maker.random.percent(50) {
            items.push(maker.checksum());
        }
        let endian = maker.endian();
        let items = maker.whole_octets(items);
        maker.automaton.wires.push(Wire { name: "w".into(), headers, endian, items, short: ReasonId(0) });
        maker.automaton
    }

    fn endian(&mut self) -> Endian {
        if self.random.percent(50) {
            Endian::Big
        } else {
            Endian::Little
        }
    }

    fn header(&mut self, variants: usize) -> HeaderId {
        let id = HeaderId::from(self.automaton.headers.len());
        let variants = (0..variants).map(|number| {
            let fields = 1 + self.random.below(3);
            let field = |place| (format!("f{place}"), Type::U(1 + self.random.below(40) as u8));
            Variant { name: format!("V{number}"), fields: (0..fields).map(field).collect() }
        });
        let variants = variants.collect();
        self.automaton.headers.push(Header { name: format!("h{}", id.0), variants });
        id
    }

    fn field(&mut self, width: u8, value: FieldValue) -> WireField {
        let index = FieldIndex(self.fields);
        self.fields += 1;
        let endian = self.endian();
        WireField {
            index,
            name: format!("x{}", index.0),
            width,
            endian,
            value,
            constraints: Vec::new(),
            trims_packet: false,
            trims_plus: 0,
        }
    }

    fn header_items(&mut self, header: HeaderId, variant: VariantId) -> Vec<WireItem> {
        let mut items = Vec::new();
        let fields = self.automaton.headers[header.index()].variants[variant.index()].fields.clone();
        for (place, (_, ty)) in fields.iter().enumerate() {
            if self.random.percent(20) {
                let open = if self.random.percent(50) { FieldValue::Placed } else { FieldValue::Reserved };
                let width = 1 + self.random.below(16) as u8;
                items.push(WireItem::Field(self.field(width, open)));
            }
            if self.random.percent(20) {
                let width = 1 + self.random.below(16) as u8;
                let value = self.random.word() & ((1 << width) - 1);
                let constant = FieldValue::Constant { value, otherwise: ReasonId(2) };
                items.push(WireItem::Field(self.field(width, constant)));
            }
            let (times, plus) = if self.random.percent(30) { (4, 3) } else { (1, 0) };
            // Room for the product and the sum.
            let extra = if times == 1 { self.random.below(8) as u8 } else { 3 };
            let value = FieldValue::Header {
                header,
                variant,
                field: place as u32,
                times,
                plus,
                otherwise: (times > 1 || extra > 0).then_some(ReasonId(3)),
            };
            items.push(WireItem::Field(self.field(ty.width(&self.automaton) + extra, value)));
        }
        items
    }

    fn choice(&mut self, header: HeaderId, variants: usize) -> Vec<WireItem> {
        let tag = self.field(6, FieldValue::Tag);
        let on = tag.index;
        let arms = (0..variants).map(|variant| WireArm {
            tag: variant as u64 * 5,
            selects: vec![(header, variant.into())],
            commons: Vec::new(),
            items: self.header_items(header, variant.into()),
        });
        let arms = arms.collect();
        vec![WireItem::Field(tag), WireItem::Choice { on, arms, unknown: ReasonId(1) }]
    }

    fn size_field(&mut self) -> WireItem {
        let expression = match self.random.below(3) {
            0 => WireExpression::PacketSize,
            1 => WireExpression::Add(WireExpression::PayloadSize.into(), WireExpression::Number(2).into()),
            _ => WireExpression::HeaderSize,
        };
        let trims = expression == WireExpression::PacketSize && self.random.percent(60);
        let mut field = self.field(16, FieldValue::Computed { expression, otherwise: ReasonId(4) });
        field.trims_packet = trims;
        let least = WireExpression::Number(1);
        let constraint = WireConstraint {
            left: WireExpression::Field(field.index),
            compare: Compare::Ge,
            right: least,
            otherwise: ReasonId(6),
        };
        field.constraints.push(constraint);
        WireItem::Field(field)
    }

    fn checksum(&mut self) -> WireItem {
        let expression =
            if self.random.percent(50) { WireExpression::HeaderChecksum } else { WireExpression::PacketChecksum };
        WireItem::Field(self.field(16, FieldValue::Computed { expression, otherwise: ReasonId(5) }))
    }

    /// Fills the header up to whole octets on every way through it, and puts the checksum on an even octet if there is
    /// no choice.
    fn whole_octets(&mut self, items: Vec<WireItem>) -> Vec<WireItem> {
        let mut padded = Vec::new();
        let mut bits = 0usize;
        for item in items {
            match item {
                WireItem::Field(field) => {
                    bits += usize::from(field.width);
                    padded.push(WireItem::Field(field));
                }
                WireItem::Choice { on, arms, unknown } => {
                    let arms =
                        arms.into_iter().map(|arm| WireArm { items: self.whole_octets_after(bits, arm.items), ..arm });
                    padded.push(WireItem::Choice { on, arms: arms.collect(), unknown });
                    bits = 0;
                }
                other => padded.push(other),
            }
        }
        self.pad(bits, &mut padded);
        padded
    }

    fn whole_octets_after(&mut self, before: usize, mut items: Vec<WireItem>) -> Vec<WireItem> {
        let width = |item: &WireItem| match item {
            WireItem::Field(field) => usize::from(field.width),
            _ => 0,
        };
        let bits = before + items.iter().map(width).sum::<usize>();
        self.pad(bits, &mut items);
        items
    }

    fn pad(&mut self, bits: usize, items: &mut Vec<WireItem>) {
        if !bits.is_multiple_of(8) {
            let field = self.field((8 - bits % 8) as u8, FieldValue::Reserved);
            items.push(WireItem::Field(field));
        }
    }
}

fn random_headers(automaton: &Automaton, random: &mut Random) -> Vec<HeaderValue> {
    let value = |header: &HeaderId| {
        let variants = &automaton.headers[header.index()].variants;
        let variant = random.below(variants.len() as u64) as usize;
        let fields = variants[variant].fields.iter();
        let fields = fields.map(|(_, ty)| random.word() & ((1 << ty.width(automaton)) - 1)).collect();
        HeaderValue { header: *header, variant: variant.into(), fields }
    };
    automaton.wires[0].headers.iter().map(value).collect()
}

fn payload(random: &mut Random) -> Vec<u8> {
    (0..random.below(40)).map(|_| random.word() as u8).collect()
}

const WIRES: u64 = 3000;

#[test]
fn what_is_encoded_is_decoded() {
    for seed in 0..WIRES {
        let automaton = Maker::make(seed);
        let mut random = Random::new(seed ^ 0xdead);
        for _ in 0..4 {
            let (headers, payload) = (random_headers(&automaton, &mut random), payload(&mut random));
            let packet = encode(&automaton, WIRE, &headers, &payload);
            assert!(!packet.narrow, "seed {seed}");
            let decoded =
                decode(&automaton, WIRE, &packet.octets).unwrap_or_else(|reason| panic!("seed {seed}: {reason:?}"));
            assert_eq!(decoded.headers, headers, "seed {seed}");
            assert_eq!(packet.octets[decoded.payload], payload, "seed {seed}");
        }
    }
}

/// The packet with zeros in the bits that the wire leaves open, by the place of its fields; packets are compared in
/// this form.
fn with_open_bits_zero(automaton: &Automaton, packet: &[u8], headers: &[HeaderValue]) -> Vec<u8> {
    let mut octets = packet.to_vec();
    let mut at = 0;
    let mut walk = vec![automaton.wires[0].items.iter()];
    while let Some(items) = walk.last_mut() {
        match items.next() {
            None => {
                walk.pop();
            }
            Some(WireItem::Choice { arms, .. }) => {
                let taken = |arm: &&WireArm| {
                    arm.selects
                        .iter()
                        .all(|(h, v)| headers.iter().any(|value| value.header == *h && value.variant == *v))
                };
                walk.push(arms.iter().find(taken).expect("an arm").items.iter());
            }
            Some(WireItem::Field(field)) => {
                if matches!(field.value, FieldValue::Placed | FieldValue::Reserved) {
                    for bit in at..at + usize::from(field.width) {
                        octets[bit / 8] &= !(1 << (7 - bit % 8));
                    }
                }
                at += usize::from(field.width);
            }
            Some(_) => {}
        }
    }
    octets
}

/// Counts accepted packets; an accepted packet must be encoded to itself.
fn check_accepted(automaton: &Automaton, packet: &[u8], seed: u64) -> u64 {
    let Ok(decoded) = decode(automaton, WIRE, packet) else { return 0 };
    let trimmed = &packet[..decoded.payload.end];
    let open = with_open_bits_zero(automaton, trimmed, &decoded.headers);
    // A checksum covers open bits, too: only packets in which they are zero determine what the encoder must write.
    if open != trimmed {
        return 0;
    }
    let again = encode(automaton, WIRE, &decoded.headers, &packet[decoded.payload]);
    assert_eq!(again.octets, trimmed, "seed {seed}");
    1
}

#[test]
fn what_is_accepted_is_encoded_to_itself() {
    let mut accepted = 0;
    for seed in 0..WIRES {
        let automaton = Maker::make(seed);
        let mut random = Random::new(seed ^ 0xbeef);
        for _ in 0..6 {
            let (headers, payload) = (random_headers(&automaton, &mut random), payload(&mut random));
            let mut packet = encode(&automaton, WIRE, &headers, &payload).octets;
            for _ in 0..random.below(4) {
                let at = random.below(packet.len() as u64) as usize;
                packet[at] ^= 1 << random.below(8);
            }
            accepted += check_accepted(&automaton, &packet, seed);
            packet.extend([0xee; 3]);
            accepted += check_accepted(&automaton, &packet, seed);
        }
    }
    println!("{accepted} packets accepted");
    assert!(accepted > WIRES);
}

#[test]
fn no_packet_is_too_short_or_too_strange() {
    for seed in 0..WIRES {
        let automaton = Maker::make(seed);
        let mut random = Random::new(seed ^ 0xcafe);
        let packet = encode(&automaton, WIRE, &random_headers(&automaton, &mut random), &payload(&mut random)).octets;
        for size in 0..packet.len() {
            if let Ok(decoded) = decode(&automaton, WIRE, &packet[..size]) {
                assert!(decoded.payload.end <= size && decoded.payload.start <= decoded.payload.end, "seed {seed}");
            }
        }
        let noise: Vec<u8> = (0..random.below(60)).map(|_| random.word() as u8).collect();
        let _ = decode(&automaton, WIRE, &noise);
    }
}

/// Changes the first field anywhere that `wanted` accepts.
fn change(items: &mut [WireItem], wanted: &dyn Fn(&WireField) -> bool, change_field: &dyn Fn(&mut WireField)) -> bool {
    items.iter_mut().any(|item| match item {
        WireItem::Field(field) if wanted(field) => {
            change_field(field);
            true
        }
        WireItem::Field(_) => false,
        WireItem::Choice { arms, .. } => arms.iter_mut().any(|arm| change(&mut arm.items, wanted, change_field)),
        _ => false,
    })
}

/// Encodes with one wire and decodes with another; returns how many of the wires with such a field show the difference.
fn found(wanted: impl Fn(&WireField) -> bool, change_field: impl Fn(&mut WireField)) -> (u64, u64) {
    let (mut planted, mut found) = (0, 0);
    for seed in 0..500 {
        let automaton = Maker::make(seed);
        let mut faulty = automaton.clone();
        if !change(&mut faulty.wires[0].items, &wanted, &change_field) {
            continue;
        }
        planted += 1;
        let mut random = Random::new(seed);
        let differs = (0..8).any(|_| {
            let (headers, payload) = (random_headers(&automaton, &mut random), payload(&mut random));
            let packet = encode(&faulty, WIRE, &headers, &payload).octets;
            match decode(&automaton, WIRE, &packet) {
                Ok(decoded) => decoded.headers != headers || packet[decoded.payload] != payload,
                Err(_) => true,
            }
        });
        found += u64::from(differs);
    }
    (planted, found)
}

#[test]
fn planted_faults_are_found() {
    let swap = |field: &mut WireField| {
        field.endian = if field.endian == Endian::Big { Endian::Little } else { Endian::Big };
    };
    let size =
        |field: &WireField| matches!(&field.value, FieldValue::Computed { expression: WireExpression::PacketSize, .. });
    let (planted, seen) = found(size, swap);
    println!("byte order of a size: {seen} of {planted}");
    // Only a field that starts on an octet has a byte order.
    assert!(planted > 20 && seen > planted * 4 / 10);

    let checksum = |field: &WireField| {
        use WireExpression::{HeaderChecksum, PacketChecksum};
        matches!(&field.value, FieldValue::Computed { expression: HeaderChecksum | PacketChecksum, .. })
    };
    let unwritten = |field: &mut WireField| field.value = FieldValue::Reserved;
    let (planted, seen) = found(checksum, unwritten);
    println!("checksum not written: {seen} of {planted}");
    assert!(planted > 20 && seen > planted * 9 / 10);

    let scaled = |field: &WireField| matches!(&field.value, FieldValue::Header { times: 4, .. });
    let unscaled = |field: &mut WireField| {
        if let FieldValue::Header { plus, .. } = &mut field.value {
            *plus += 4;
        }
    };
    let (planted, seen) = found(scaled, unscaled);
    println!("wrong offset of a scaled field: {seen} of {planted}");
    assert!(planted > 20 && seen > planted * 9 / 10);
}
