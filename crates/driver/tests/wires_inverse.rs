//! Every wire of the library, and of the tests: `decode(encode(x)) = x`, and for accepted packets `encode(decode(p)) =
//! p`, on values at the limits and mutated packets, with the reference's codec; generated C agrees, octet by octet.
//!
//! What a wire leaves open, these laws leave open too: bits not read, octets after the trim, options that are skipped
//! or in another order. Then `encode(decode(p))` must decode to the same; the line of the wire says so.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::mirror::{Mirror, PACKET, PORT, WIRE};
use mokume_base::world::RealWorld;
use mokume_base::Random;
use mokume_driver::{compile, StackId};
use mokume_emit_c::{Build, BuildError, CMachine, CProgram, Memory};
use mokume_reaction::*;
use mokume_wire::{decode, encode, read, HeaderValue};

/// Of each kind, for each wire, with the reference's codec; every tenth goes to C as well. `MOKUME_VALUES` overrides
/// it: the campaign uses more.
const VALUES: u64 = 10_000;
const IN_C: u64 = 10;

/// A value at the limits of its width, small, or random; `known` are numbers that the wire names.
fn value(random: &mut Random, width: u8, known: &[u64]) -> u64 {
    let most = u64::MAX >> (64 - u32::from(width.clamp(1, 64)));
    most & match random.place(8) {
        0 => 0,
        1 => 1,
        2 => most,
        3 => most - 1,
        4 => random.place(64) as u64,
        5 | 6 if !known.is_empty() => *random.one_of(known),
        _ => random.word(),
    }
}

fn payload(random: &mut Random) -> Vec<u8> {
    let size = if random.place(20) == 0 { random.place(300) } else { random.place(48) };
    (0..size).map(|_| random.word() as u8).collect()
}

/// Every wire once, by its definition: the same wire in several stacks counts once.
fn mirrors() -> &'static [Mirror] {
    static ALL: OnceLock<Vec<Mirror>> = OnceLock::new();
    ALL.get_or_init(all)
}

fn all() -> Vec<Mirror> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found: BTreeMap<String, Mirror> = BTreeMap::new();
    for folder in ["tests/library", "tests/program", "examples", "library/dissect"] {
        let entries = std::fs::read_dir(root.join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
        let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        files.sort();
        for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "mok")) {
            let name = file.to_string_lossy().into_owned();
            let short = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let checked =
                compile::check(&RealWorld, std::slice::from_ref(&name)).unwrap_or_else(|e| panic!("{name}: {e}"));
            for index in 0..checked.program.stacks.len() {
                let lowered =
                    mokume_lower::lower(&checked.program, &checked.sources, StackId(index as u32), &Default::default());
                let Some(automaton) = lowered.0 else { continue };
                for wire in 0..automaton.wires.len() {
                    let mirror = Mirror::of(&short, &automaton, WireId::from(wire));
                    found.entry(said(&mirror)).or_insert(mirror);
                }
            }
        }
    }
    found.into_values().collect()
}

/// The definition of a wire, without the numbers of its stack: equal for equal wires.
fn said(mirror: &Mirror) -> String {
    let (mut wire, headers) = (mirror.automaton.wires[0].clone(), &mirror.automaton.headers);
    let carried: Vec<Header> = wire.headers.iter().map(|header| headers[header.index()].clone()).collect();
    let mut text = format!("{:?}", (wire.endian, &wire.items));
    for (place, header) in wire.headers.drain(..).enumerate() {
        text = text.replace(&format!("header: HeaderId({})", header.0), &format!("header: {place}"));
    }
    let mut said = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("ReasonId(") {
        said += &rest[..at];
        rest = rest[at..].split_once(')').map_or("", |(_, rest)| rest);
    }
    let variants: Vec<_> = carried.into_iter().map(|header| header.variants).collect();
    format!("{said}{rest}{variants:?}")
}

#[derive(Default)]
struct Seen {
    said: u64,
    narrow: u64,
    refused_values: u64,
    accepted: u64,
    exact: u64,
    refused: u64,
    reasons: BTreeMap<ReasonId, u64>,
    in_c: u64,
}

/// The wire, and what judges it; a planted fault is in `encoder` or in the C program only.
struct Trial<'a> {
    mirror: &'a Mirror,
    encoder: &'a Automaton,
    c: Option<&'a mut CMachine>,
    random: Random,
    known: Vec<u64>,
    values: u64,
    seen: Seen,
}

impl Trial<'_> {
    fn run(mut self) -> Result<Seen, String> {
        let mut c = self.c.take();
        if let Some(c) = &mut c {
            c.start(0);
        }
        for round in 0..self.values {
            let to_c = if round % IN_C == 0 { c.as_deref_mut() } else { None };
            self.round(to_c)?;
        }
        Ok(self.seen)
    }

    fn headers(&mut self, say: usize) -> Vec<HeaderValue> {
        let automaton = &self.mirror.automaton;
        let pairs = automaton.wires[0].headers.iter().zip(&self.mirror.says[say]);
        let mut headers = Vec::new();
        for (header, variant) in pairs {
            let types = &automaton.headers[header.index()].variants[variant.index()].fields;
            let mut fields = Vec::new();
            for (_, ty) in types {
                fields.push(match ty {
                    // The values of an enumeration are its named numbers only.
                    Type::Enum(id) => {
                        let names = &automaton.enums[id.index()].names;
                        self.random.one_of(names).1
                    }
                    ty => value(&mut self.random, ty.width(automaton), &self.known),
                });
            }
            headers.push(HeaderValue { header: *header, variant: *variant, fields });
        }
        self.as_commonly(&mut headers);
        headers
    }

    /// Half of the time: a field that an arm of the last choice leaves out gets the value that it has there.
    fn as_commonly(&mut self, headers: &mut [HeaderValue]) {
        let Some(WireItem::Choice { arms, .. }) = self.mirror.automaton.wires[0].items.last() else { return };
        if self.random.place(2) == 0 {
            return;
        }
        for common in &self.random.one_of(arms).commons {
            let same = |value: &&mut HeaderValue| (value.header, value.variant) == (common.header, common.variant);
            if let Some(value) = headers.iter_mut().find(same) {
                value.fields[common.field as usize] = common.value;
            }
        }
    }

    fn round(&mut self, c: Option<&mut CMachine>) -> Result<(), String> {
        let say = self.random.place(self.mirror.says.len());
        let (headers, mut payload) = (self.headers(say), payload(&mut self.random));
        if fills(&self.mirror.automaton.wires[0].items) {
            payload.clear();
        }
        let packet = encode(self.encoder, WIRE, &headers, &payload);
        self.value(&headers, &payload, &packet)?;
        let mutated = self.mutated(&packet.octets);
        self.packet(&mutated)?;
        let Some(c) = c else { return Ok(()) };
        self.seen.in_c += 2;
        let args: Vec<Datum> = std::iter::once(Datum::Message(payload))
            .chain(headers.iter().flat_map(|header| header.fields.iter().map(|field| Datum::Word(*field))))
            .collect();
        let out = c.input(0, PORT, say as u32 + 1, &args);
        let reported = out.reports.iter().any(|(report, _)| *report == Report::Narrow);
        if octets(&out) != Some(&packet.octets) || reported != packet.narrow {
            return Err(format!("C encodes {headers:?} to {out:?}, the reference to {packet:?}"));
        }
        self.packet_in_c(c, &mutated)
    }

    /// `decode(encode(x)) = x`, with zeros for what the packet does not contain.
    fn value(&mut self, headers: &[HeaderValue], payload: &[u8], packet: &mokume_wire::Encoded) -> Result<(), String> {
        if packet.narrow {
            self.seen.narrow += 1;
            return Ok(());
        }
        let automaton = &self.mirror.automaton;
        let decoded = match decode(automaton, WIRE, &packet.octets) {
            Ok(decoded) => decoded,
            Err(refusal) if self.may_refuse(refusal.reason) => {
                self.seen.refused_values += 1;
                return Ok(());
            }
            Err(refusal) => return Err(format!("{headers:?} becomes {:02x?}: {refusal:?}", packet.octets)),
        };
        let zeroed = |(was, is): (&HeaderValue, &HeaderValue)| {
            was.header == is.header
                && was.variant == is.variant
                && was.fields.iter().zip(&is.fields).enumerate().all(|(at, (was, now))| {
                    was == now || *now == 0 && self.is_optional((is.header, is.variant, at as u32))
                })
        };
        let behind = &packet.octets[decoded.payload.clone()];
        // A header's own length may be less than what is there: the rest is padding.
        let same = behind == payload || self.trims_by_header() && payload.starts_with(behind);
        if !headers.iter().zip(&decoded.headers).all(zeroed) || !same {
            return Err(format!("{headers:?} becomes {:02x?} becomes {decoded:?}", packet.octets));
        }
        let again = encode(automaton, WIRE, &decoded.headers, behind);
        if again.octets != packet.octets[..decoded.payload.end] || again.narrow {
            return Err(format!("{:02x?} is encoded again to {:02x?}", packet.octets, again.octets));
        }
        self.seen.said += 1;
        Ok(())
    }

    /// Whether a constraint, or a choice on a value, may refuse some values of the headers.
    fn may_refuse(&self, reason: ReasonId) -> bool {
        let wire = &self.mirror.automaton.wires[0];
        let constrained = WireItem::fields(&wire.items).into_iter().flat_map(|field| &field.constraints);
        let says_more = (self.trims_by_header() || reaches(&wire.items)) && reason == wire.short;
        constrained.into_iter().any(|constraint| constraint.otherwise == reason) || says_more
    }

    fn trims_by_header(&self) -> bool {
        let fields = WireItem::fields(&self.mirror.automaton.wires[0].items);
        fields.into_iter().any(|field| field.trims_packet && matches!(field.value, FieldValue::Header { .. }))
    }

    fn is_optional(&self, place: (HeaderId, VariantId, u32)) -> bool {
        optional_fields(&self.mirror.automaton.wires[0].items, false).contains(&place)
    }

    fn mutated(&mut self, packet: &[u8]) -> Vec<u8> {
        let mut packet = packet.to_vec();
        for _ in 0..self.random.place(4) {
            let size = packet.len();
            match self.random.place(6) {
                0 => packet.truncate(self.random.place(size + 1)),
                1 => packet.extend((0..self.random.place(6)).map(|_| 0xee)),
                2 if size > 0 => packet[self.random.place(size)] = self.random.word() as u8,
                3 if size > 0 => packet[self.random.place(size)] = 0,
                _ if size > 0 => packet[self.random.place(size)] ^= 1 << self.random.place(8),
                _ => {}
            }
        }
        packet
    }

    /// `encode(decode(p)) = p` if all of it was read; the result decodes to the same in any case.
    fn packet(&mut self, packet: &[u8]) -> Result<(), String> {
        let automaton = &self.mirror.automaton;
        let looked = read(automaton, WIRE, packet);
        let decoded = match looked.decoding {
            Ok(decoded) => decoded,
            Err(refusal) => {
                if refusal.bit > packet.len() * 8 {
                    return Err(format!("{packet:02x?}: refused at bit {}", refusal.bit));
                }
                self.seen.refused += 1;
                *self.seen.reasons.entry(refusal.reason).or_default() += 1;
                return Ok(());
            }
        };
        self.seen.accepted += 1;
        let again = encode(self.encoder, WIRE, &decoded.headers, &packet[decoded.payload.clone()]);
        let is_open = |seen: &mokume_wire::Seen| {
            seen.value != 0
                && seen.field.is_some_and(|field| matches!(field.value, FieldValue::Reserved | FieldValue::Placed))
        };
        let open = looked.fields.iter().any(is_open) || has_options(&automaton.wires[0].items);
        if !open {
            self.seen.exact += 1;
            if again.octets != packet[..decoded.payload.end] {
                return Err(format!("{packet:02x?} is accepted, and encoded to {:02x?}", again.octets));
            }
            return Ok(());
        }
        match decode(automaton, WIRE, &again.octets) {
            Ok(twice)
                if twice.headers == decoded.headers
                    && again.octets[twice.payload.clone()] == packet[decoded.payload.clone()] =>
            {
                Ok(())
            }
            other => Err(format!("{packet:02x?} is accepted, and encoded to {:02x?}: {other:?}", again.octets)),
        }
    }

    fn packet_in_c(&self, c: &mut CMachine, packet: &[u8]) -> Result<(), String> {
        let automaton = &self.mirror.automaton;
        let before = dropped(c);
        let out = c.input(0, PORT, PACKET, &[Datum::Message(packet.to_vec())]);
        match decode(automaton, WIRE, packet) {
            Ok(decoded) => {
                let again = encode(automaton, WIRE, &decoded.headers, &packet[decoded.payload]).octets;
                match octets(&out) == Some(&again) {
                    true => Ok(()),
                    false => Err(format!("{packet:02x?}: C makes {out:?}, the reference {again:02x?}")),
                }
            }
            Err(refusal) => {
                let mut wanted = before;
                *wanted.entry(refusal.reason).or_default() += 1;
                match out.outputs.is_empty() && dropped(c) == wanted {
                    true => Ok(()),
                    false => Err(format!("{packet:02x?}: the reference refuses it with {refusal:?}, C makes {out:?}")),
                }
            }
        }
    }
}

fn octets(outcome: &Outcome) -> Option<&Vec<u8>> {
    match outcome.outputs.as_slice() {
        [Output { args, .. }] => args.iter().find_map(|arg| match arg {
            Datum::Message(octets) => Some(octets),
            _ => None,
        }),
        _ => None,
    }
}

fn dropped(c: &CMachine) -> BTreeMap<ReasonId, u64> {
    c.accounts().dropped.into_iter().collect()
}

fn has_options(items: &[WireItem]) -> bool {
    items.iter().any(|item| matches!(item, WireItem::Options(_)) || item.inner().into_iter().any(has_options))
}

/// Whether options or elements go up to the packet's end, so that there is no payload.
fn fills(items: &[WireItem]) -> bool {
    items.iter().any(|item| match item {
        WireItem::Options(options) => options.until == WireExpression::PacketSize,
        WireItem::List(list) if list.to_end.is_some() => true,
        item => item.inner().into_iter().any(fills),
    })
}

fn reaches(items: &[WireItem]) -> bool {
    items.iter().any(|item| matches!(item, WireItem::Reach(_)) || item.inner().into_iter().any(reaches))
}

/// Header fields that are zero in some packets.
fn optional_fields(items: &[WireItem], inside: bool) -> Vec<(HeaderId, VariantId, u32)> {
    let mut found = Vec::new();
    for item in items {
        match item {
            WireItem::Field(field) => {
                if let (true, FieldValue::Header { header, variant, field, .. }) = (inside, &field.value) {
                    found.push((*header, *variant, *field));
                }
            }
            item => {
                let within = inside || !matches!(item, WireItem::Choice { .. });
                if let WireItem::Options(options) = item {
                    found.extend(options.arms.iter().filter_map(counted));
                }
                item.inner().into_iter().for_each(|items| found.extend(optional_fields(items, within)));
            }
        }
    }
    found
}

/// The count of a repeated option: without the option, there are no elements.
fn counted(arm: &OptionArm) -> Option<(HeaderId, VariantId, u32)> {
    let OptionArm::Known { header, variant, repeat: Some(repeat), .. } = arm else { return None };
    Some((*header, *variant, repeat.count))
}

/// Constants and tags of the wire, and neighbouring numbers.
fn known(wire: &Wire) -> Vec<u64> {
    fn numbers(expression: &WireExpression, found: &mut Vec<u64>) {
        use WireExpression as E;
        match expression {
            E::Number(number) => found.push(*number),
            E::Add(a, b) | E::Sub(a, b) | E::Mul(a, b) | E::Div(a, b) => {
                numbers(a, found);
                numbers(b, found);
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    let mut walk = vec![&wire.items[..]];
    while let Some(items) = walk.pop() {
        for item in items {
            match item {
                WireItem::Field(field) => field.constraints.iter().for_each(|constraint| {
                    numbers(&constraint.left, &mut found);
                    numbers(&constraint.right, &mut found);
                }),
                WireItem::Optional { when, .. } => when.iter().for_each(|test| numbers(&test.right, &mut found)),
                WireItem::Choice { arms, .. } => found.extend(arms.iter().map(|arm| arm.tag)),
                _ => {}
            }
            walk.extend(item.inner());
        }
    }
    found
}

fn program(mirrors: &[&Automaton]) -> Option<Arc<CProgram>> {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wires");
    let composed: Vec<Automaton> = mirrors
        .iter()
        .map(|automaton| mokume_compose::compose(automaton, Default::default()).automaton.expect("it composes"))
        .collect();
    let compiler = mokume_testkit::quick_compiler();
    let build = Build { optimize: 0, compiler, ..Build::new(&RealWorld, cache) };
    match CProgram::build(&composed.iter().collect::<Vec<_>>(), &build) {
        Ok(program) => Some(Arc::new(program)),
        Err(BuildError::Toolchain(mokume_emit_c::Failure::NoCompiler { command })) => {
            println!("SKIPPED: there is no C compiler `{command}`");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn machine(program: &Arc<CProgram>, place: usize) -> CMachine {
    // The longest header, and as much again for a packet: the head room is for all elements of its lists.
    let memory = Memory { buffers: 64, buffer_octets: 4096, messages: 64, outputs: 16, reports: 16 };
    CMachine::new(program, place, &[], 0, memory).unwrap_or_else(|error| panic!("{error}"))
}

fn try_wire(mirror: &Mirror, encoder: &Automaton, c: Option<&mut CMachine>, values: u64) -> Result<Seen, String> {
    let known = known(&mirror.automaton.wires[0]);
    Trial { mirror, encoder, c, random: Random::new(7), known, values, seen: Seen::default() }.run()
}

#[test]
fn what_is_encoded_is_decoded_and_what_is_accepted_is_encoded_to_itself() {
    let values = std::env::var("MOKUME_VALUES").ok().and_then(|text| text.parse().ok()).unwrap_or(VALUES);
    let mirrors = mirrors();
    let program = program(&mirrors.iter().map(|mirror| &mirror.automaton).collect::<Vec<_>>());
    let (mut wrong, mut in_c) = (Vec::new(), 0);
    for (place, mirror) in mirrors.iter().enumerate() {
        let mut c = program.as_ref().map(|program| machine(program, place));
        match try_wire(mirror, &mirror.automaton, c.as_mut(), values) {
            Ok(seen) => {
                in_c += seen.in_c;
                println!(
                    "{}: {} values said, {} too wide, {} not allowed; {} packets accepted, {} of them written to the \
                     octet, {} refused for {} reasons; {} in C",
                    mirror.of,
                    seen.said,
                    seen.narrow,
                    seen.refused_values,
                    seen.accepted,
                    seen.exact,
                    seen.refused,
                    seen.reasons.len(),
                    seen.in_c
                );
                // A wire with too few tries is not tested.
                if seen.said < values / 100 || seen.accepted < values / 100 {
                    wrong.push(format!("{}: too little was tried", mirror.of));
                }
            }
            Err(difference) => wrong.push(format!("{}: {difference}", mirror.of)),
        }
    }
    println!("FIGURE: wires inverse: {} wires, {values} values and packets each, {in_c} in C, tested", mirrors.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(mirrors.len() > 20, "{}", mirrors.len());
}

/// Changes the first header field, at any depth: one more than it should be, or another byte order.
fn plant(items: &mut [WireItem], fault: &dyn Fn(&mut WireField)) -> bool {
    items.iter_mut().any(|item| match item {
        WireItem::Field(field) if matches!(field.value, FieldValue::Header { .. }) => {
            fault(field);
            true
        }
        WireItem::Field(_) | WireItem::Reach(_) => false,
        WireItem::Choice { arms, .. } => arms.iter_mut().any(|arm| plant(&mut arm.items, fault)),
        WireItem::Optional { items, .. } => plant(items, fault),
        WireItem::List(list) => list.elements.iter_mut().any(|element| plant(element, fault)),
        WireItem::Options(options) => options.arms.iter_mut().any(|arm| match arm {
            OptionArm::Known { items, .. } => plant(items, fault),
            _ => false,
        }),
    })
}

#[test]
fn planted_faults_are_found() {
    let mirrors = mirrors();
    let more = |field: &mut WireField| {
        if let FieldValue::Header { plus, .. } = &mut field.value {
            *plus += 1;
        }
    };
    let mut faulty = Vec::new();
    let (mut planted, mut found) = (0, 0);
    for mirror in mirrors {
        let mut automaton = mirror.automaton.clone();
        if !plant(&mut automaton.wires[0].items, &more) {
            continue;
        }
        planted += 1;
        found += u64::from(try_wire(mirror, &automaton, None, 2000).is_err());
        faulty.push((mirror, automaton));
    }
    println!("a field one too large in the encoder: {found} of {planted}");
    assert!(planted > 20 && found == planted, "{found} of {planted}");

    let Some(program) = program(&faulty.iter().map(|(_, automaton)| automaton).collect::<Vec<_>>()) else { return };
    let seen = |(place, (mirror, _)): (usize, &(&Mirror, Automaton))| {
        try_wire(mirror, &mirror.automaton, Some(&mut machine(&program, place)), 2000).is_err()
    };
    let found = faulty.iter().enumerate().filter(|wire| seen(*wire)).count();
    println!("FIGURE: wires inverse, planted: a field one too large in C alone: {found} of {} wires", faulty.len());
    assert_eq!(found, faulty.len());
}
