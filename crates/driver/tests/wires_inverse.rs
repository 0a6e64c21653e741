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
use mokume_wire::trial::Fate;
use mokume_wire::{decode, encode, read, HeaderValue};

/// Of each kind, for each wire, with the reference's codec; every tenth goes to C as well. `MOKUME_VALUES` overrides
/// it: the campaign uses more.
const VALUES: u64 = 10_000;
const IN_C: u64 = 10;

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
    trial: mokume_wire::trial::Trial<'a>,
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

    fn round(&mut self, c: Option<&mut CMachine>) -> Result<(), String> {
        let say = self.random.place(self.mirror.says.len());
        let (headers, payload) =
            (self.trial.headers_of(say, &mut self.random), self.trial.payload(say, &mut self.random));
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

    /// `decode(encode(x)) = x`.
    fn value(&mut self, headers: &[HeaderValue], payload: &[u8], packet: &mokume_wire::Encoded) -> Result<(), String> {
        match self.trial.judge(headers, payload, packet) {
            Ok(Fate::Narrow) => self.seen.narrow += 1,
            Ok(Fate::Refused) => self.seen.refused_values += 1,
            Ok(Fate::Same) => self.seen.said += 1,
            Err(misread) => return Err(format!("{headers:?} becomes {:02x?}: {misread:?}", packet.octets)),
        }
        Ok(())
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
    let trial = mokume_wire::trial::Trial::new(&mirror.automaton, WIRE);
    Trial { mirror, encoder, c, random: Random::new(7), trial, values, seen: Seen::default() }.run()
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
