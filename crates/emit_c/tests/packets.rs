//! Random wires in C, against the reference's codec: values that are encoded, and packets that are decoded, as they are,
//! cut, and changed. And how long the C of wires becomes.
//!
//! `MOKUME_SEEDS=100..500` uses other seeds, `SANITIZE=1` builds the C with sanitizers, `SHOW=1` prints the wires.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use mokume_base::{FileId, Random, RealWorld};
use mokume_compose::compose;
use mokume_emit_c::{
    emit, Build, BuildError, CMachine, CProgram, Failure, Generated, Memory, Options, Sanitize, Transport, FUNCTIONS,
};
use mokume_reaction::*;
use mokume_testkit::{packets, quick_compiler, seeds};
use mokume_wire::trial::Trial;
use mokume_wire::{decode, encode};

const SEEDS: std::ops::Range<u64> = 0..120;
/// Values said to each stack, each followed by a packet.
const ROUNDS: u64 = 250;
/// Stacks in one program.
const TOGETHER: u64 = 40;

const WIRE: WireId = WireId(0);
/// The wire of all fields.
const ALL: WireId = WireId(1);
const PORT: PortId = PortId(0);

fn automaton(seed: u64) -> Automaton {
    let written = packets(seed);
    if std::env::var("SHOW").is_ok() {
        println!("--- {seed}\n{written}");
    }
    let parsed = text::parse(FileId(0), &written);
    let faults = verify::diagnose(&parsed.automaton, &parsed.places);
    let fault = parsed.diagnostics.iter().chain(&faults).next();
    assert!(fault.is_none(), "seed {seed}: {fault:?}\n{written}");
    compose(&parsed.automaton, Default::default()).automaton.expect("it composes")
}

fn octets(outcome: &Outcome) -> Option<&Vec<u8>> {
    let [Output { args, .. }] = outcome.outputs.as_slice() else { return None };
    args.iter().find_map(|arg| match arg {
        Datum::Message(octets) => Some(octets),
        _ => None,
    })
}

fn dropped(c: &CMachine) -> BTreeMap<ReasonId, u64> {
    c.accounts().dropped.into_iter().collect()
}

/// What was tried of a stack.
#[derive(Default)]
struct Tried {
    narrow: u64,
    accepted: u64,
    refused: u64,
}

struct Trials<'a> {
    automaton: &'a Automaton,
    trial: Trial<'a>,
    c: CMachine,
    random: Random,
    tried: Tried,
}

impl Trials<'_> {
    fn all(mut self) -> Result<Tried, String> {
        self.c.start(0);
        for _ in 0..ROUNDS {
            let packet = self.value()?;
            self.packet(&packet)?;
            let changed = self.changed(packet);
            self.packet(&changed)?;
        }
        Ok(self.tried)
    }

    fn value(&mut self) -> Result<Vec<u8>, String> {
        let say = self.random.place(self.trial.says.len());
        let headers = self.trial.headers_of(say, &mut self.random);
        let payload = self.trial.payload(say, &mut self.random);
        let packet = encode(self.automaton, WIRE, &headers, &payload);
        let args: Vec<Datum> = std::iter::once(Datum::Message(payload))
            .chain(headers.iter().flat_map(|header| header.fields.iter().map(|field| Datum::Word(*field))))
            .collect();
        let out = self.c.input(0, PORT, say as u32 + 1, &args);
        let reported = out.reports.iter().any(|(report, _)| *report == Report::Narrow);
        self.tried.narrow += u64::from(packet.narrow);
        match octets(&out) == Some(&packet.octets) && reported == packet.narrow {
            true => Ok(packet.octets),
            false => Err(format!("C encodes {headers:?} to {out:x?}, the reference to {packet:x?}")),
        }
    }

    fn packet(&mut self, packet: &[u8]) -> Result<(), String> {
        let mut wanted = dropped(&self.c);
        let out = self.c.input(0, PORT, 0, &[Datum::Message(packet.to_vec())]);
        let decoded = decode(self.automaton, WIRE, packet);
        let agree = match &decoded {
            Ok(decoded) => {
                self.tried.accepted += 1;
                let again = encode(self.automaton, ALL, &decoded.headers, &packet[decoded.payload.clone()]).octets;
                octets(&out) == Some(&again)
            }
            Err(refusal) => {
                self.tried.refused += 1;
                *wanted.entry(refusal.reason).or_default() += 1;
                out.outputs.is_empty() && dropped(&self.c) == wanted
            }
        };
        match agree {
            true => Ok(()),
            false => Err(format!("{packet:02x?}: the reference reads {decoded:x?}, C makes {out:x?}")),
        }
    }

    fn changed(&mut self, mut packet: Vec<u8>) -> Vec<u8> {
        for _ in 0..1 + self.random.place(2) {
            let size = packet.len();
            match self.random.place(4) {
                0 => packet.truncate(self.random.place(size + 1)),
                1 => packet.extend((0..self.random.place(6)).map(|_| 0xee)),
                2 if size > 0 => packet[self.random.place(size)] = self.random.place(4) as u8,
                _ if size > 0 => packet[self.random.place(size)] ^= 1 << self.random.place(8),
                _ => {}
            }
        }
        packet
    }
}

/// A change of the C of wires.
type Change = fn(&str) -> String;

fn program(automata: &[Automaton], change: Change, compiler: Option<String>) -> Option<Arc<CProgram>> {
    let generated = automata.iter().enumerate().map(|(place, automaton)| {
        let prefix = format!("s{place}_{}", automaton.name);
        let mut generated = c(automaton, &Options { prefix, functions: FUNCTIONS.to_owned(), ..Options::default() });
        generated.source = change(&generated.source);
        generated
    });
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("packets");
    let build = match std::env::var_os("SANITIZE") {
        Some(_) => {
            let (sanitize, transport) = (Sanitize::AddressUndefined, Transport::Process);
            Build { optimize: 1, sanitize, transport, ..Build::new(&RealWorld, cache) }
        }
        None => Build { optimize: 0, compiler, ..Build::new(&RealWorld, cache) },
    };
    match CProgram::compile(&automata.iter().collect::<Vec<_>>(), generated.collect(), &build) {
        Ok(program) => Some(Arc::new(program)),
        Err(BuildError::Toolchain(Failure::NoCompiler { command })) => {
            println!("SKIPPED: there is no C compiler `{command}`");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn c(automaton: &Automaton, options: &Options) -> Generated {
    emit(automaton, options).unwrap_or_else(|error| panic!("{error}"))
}

/// The differences of some stacks, of whose C something is changed; `None` without a C compiler.
fn differences(seeds: std::ops::Range<u64>, change: Change) -> Option<(Tried, Vec<String>)> {
    let (mut all, mut wrong) = (Tried::default(), Vec::new());
    let seeds: Vec<u64> = seeds.collect();
    for seeds in seeds.chunks(TOGETHER as usize) {
        let automata: Vec<Automaton> = seeds.iter().map(|seed| automaton(*seed)).collect();
        let program = program(&automata, change, quick_compiler())?;
        for (place, (seed, automaton)) in seeds.iter().zip(&automata).enumerate() {
            let memory = Memory { buffers: 64, buffer_octets: 2048, messages: 64, outputs: 16, reports: 16 };
            let c = CMachine::new(&program, place, &[], 0, memory).unwrap_or_else(|error| panic!("{error}"));
            let trial = Trial::new(automaton, WIRE);
            let trials = Trials { automaton, trial, c, random: Random::new(*seed), tried: Tried::default() };
            match trials.all() {
                Ok(tried) => {
                    all.narrow += tried.narrow;
                    all.accepted += tried.accepted;
                    all.refused += tried.refused;
                }
                Err(difference) => wrong.push(format!("seed {seed}: {difference}")),
            }
        }
    }
    Some((all, wrong))
}

#[test]
fn random_wires_are_read_and_written_as_the_reference_does() {
    let seeds = seeds(SEEDS);
    let count = seeds.end - seeds.start;
    let Some((tried, wrong)) = differences(seeds, |text| text.to_owned()) else { return };
    println!(
        "FIGURE: random wires: {count}, {} values too wide, {} packets accepted, {} refused",
        tried.narrow, tried.accepted, tried.refused
    );
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(tried.accepted > count * ROUNDS / 4 && tried.refused > count * ROUNDS / 4);
}

/// The quick compiler warns of little; with the usual one each warning is an error.
#[test]
fn random_wires_are_compiled_without_warnings() {
    program(&(0..8).map(automaton).collect::<Vec<_>>(), |text| text.to_owned(), None);
}

/// Each form in which ways meet, and how the C says it; `#` is a number.
const FORMS: &[(&str, &str)] = &[
    ("a part that may be there", "skip += #;"),
    ("a part within a part", "bool here# = here# && "),
    ("a part that shares an octet", "memset(packet, 0, "),
    ("a variant that is open", " kind# = #; "),
    ("an arm of several", "uint32_t arm# = #;"),
    ("an arm that decides a tag", "uint64_t tag# = "),
    ("a choice within a part", "if (here#) { if ("),
    ("a rule that waits", "there# = true;"),
    ("a sum that may be there", "; skip# = skip;"),
    ("a sum behind parts", "uint32_t skip# = skip;"),
    ("options behind parts", "uint32_t head = # + skip; while"),
    ("elements behind parts", "uint32_t head = # + skip; uint64_t"),
    ("the end of the header behind parts", "uint64_t reach = "),
];

/// Whether the text has the pattern.
fn has(text: &str, pattern: &str) -> bool {
    let (first, parts) = pattern.split_once('#').map_or((pattern, None), |(first, rest)| (first, Some(rest)));
    text.match_indices(first).any(|(at, _)| {
        let mut rest = &text[at + first.len()..];
        parts.into_iter().flat_map(|parts| parts.split('#')).all(|part| {
            let behind = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
            let is_number = behind.len() < rest.len();
            rest = behind.strip_prefix(part).unwrap_or_default();
            is_number && behind.starts_with(part)
        })
    })
}

#[test]
fn random_wires_have_each_form_in_which_ways_meet() {
    let source = |seed| c(&automaton(seed), &Options::default()).source;
    let texts: Vec<String> = SEEDS.map(|seed| source(seed).split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let mut seldom: Vec<&str> = Vec::new();
    for (form, written) in FORMS {
        let count = texts.iter().filter(|text| has(text, written)).count();
        println!("FIGURE: random wires: {form}: {count} of {} wires", texts.len());
        seldom.extend((count < 3).then_some(*form));
    }
    assert!(seldom.is_empty(), "hardly tried: {seldom:?}");
}

/// Each line is changed by itself; `None` leaves it as it is.
fn lines(text: &str, change: impl Fn(&str) -> Option<String>) -> String {
    text.lines().map(|line| change(line).unwrap_or_else(|| line.to_owned()) + "\n").collect()
}

/// The line without what begins with `from`, and goes on to `to`.
fn without(line: &str, from: &str, to: &str) -> Option<String> {
    let (before, rest) = line.split_once(from)?;
    let (_, behind) = rest.split_once(to)?;
    Some(format!("{before}{behind}"))
}

/// Whether the line is `name# = #;`.
fn sets(line: &str, name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|letter| letter.is_ascii_digit());
    let parts = line.trim().strip_prefix(name).and_then(|rest| rest.strip_suffix(';')?.split_once(" = "));
    parts.is_some_and(|(place, value)| {
        is_number(place) && is_number(value.trim_start_matches("UINT64_C(").trim_end_matches(')'))
    })
}

/// What is in front of the zero of a field of a part, or of its header's.
fn zero(line: &str) -> Option<&str> {
    line.strip_suffix(" = 0;").filter(|before| before.trim().starts_with("uint64_t f"))
}

/// What the generator could leave out where ways meet.
const FAULTS: &[(&str, Change)] = &[
    ("a rule that waits does not ask whether its part is there", |text| {
        lines(text, |line| {
            let (before, rest) = line.split_once("if (there")?;
            Some(format!("{before}if ({}", rest.split_once(" && ")?.1))
        })
    }),
    ("a variant is that in front of the choice", |text| lines(text, |line| sets(line, "kind").then(String::new))),
    ("a tag is not set", |text| lines(text, |line| sets(line, "tag").then(String::new))),
    ("an arm is not set", |text| lines(text, |line| sets(line, "arm").then(String::new))),
    ("what is not read is not zero", |text| lines(text, |line| zero(line).map(|before| format!("{before} = 1;")))),
    ("octets that are shared are not cleared", |text| lines(text, |line| without(line, "memset(packet, 0, ", ";"))),
    ("the last part in an octet has all of it", |text| {
        lines(text, |line| {
            let (place, value) = line.trim().split_once(" = (uint8_t)(")?;
            Some(format!("{place} = (uint8_t)({}", value.strip_prefix(place)?.strip_prefix(" | ")?))
        })
    }),
    ("a part counts where it is not there", |text| {
        lines(text, |line| without(line, "(here", " ? ").map(|line| line.replace(" : 0);", ";")))
    }),
    ("a part within a part does not ask for that", |text| {
        lines(text, |line| {
            let (name, condition) = line.split_once(" = here").filter(|(name, _)| name.contains("bool here"))?;
            Some(format!("{name} = {}", condition.split_once(" && ")?.1))
        })
    }),
    ("what is not there is too wide", |text| {
        lines(text, |line| without(line, "narrow |= here", " && ").map(|line| line.replacen("f", "narrow |= f", 1)))
    }),
    ("a sum does not know what is in front of it", |text| {
        lines(text, |line| {
            let (before, rest) = line.split_once(" + 8 * skip")?;
            Some(format!("{before}{}", rest.trim_start_matches(|letter: char| letter.is_ascii_digit())))
        })
    }),
    ("the place of a sum is not noted", |text| {
        lines(text, |line| (line.trim().starts_with("skip") && line.ends_with(" = skip;")).then(String::new))
    }),
    ("what is read has its place as if no part were in front", |text| text.replace(" + skip)", ")")),
    ("octets of a part are not passed", |text| lines(text, |line| line.contains(" skip += ").then(String::new))),
    ("a part that is not there is written", |text| text.replace("if (here", "if (1 || here")),
];

#[test]
fn planted_faults_are_found() {
    let seeds: Vec<u64> = SEEDS.step_by(TOGETHER as usize).collect();
    for (fault, change) in FAULTS {
        let mut found = 0;
        for first in &seeds {
            let Some((_, wrong)) = differences(*first..first + TOGETHER, *change) else { return };
            found += wrong.len();
            if found > 0 {
                break;
            }
        }
        println!("FIGURE: random wires, planted: {fault}: found in {found} wires");
        assert!(found > 0, "not found: {fault}");
    }
}

/// A wire with `count` parts that may be there, each with these items, and others behind them. `#` is a number.
fn parts(count: usize, part: &str, behind: &str) -> usize {
    let mut fields = vec!["last: u8".to_owned()];
    let mut items = String::new();
    for place in 0..count {
        fields.extend([format!("b{place}: u8"), format!("a{place}: u16"), format!("c{place}: u8")]);
        fields.extend((0..3).map(|element| format!("e{element}_{place}: u8")));
        items += &format!("field b{place}: 8 from w.H.b{place}\n");
    }
    for place in 0..count {
        items += &part.replace('#', &place.to_string());
    }
    let written = format!(
        "automaton growing\ntick 1\nheader w.H {{ {}, has: bool, size: u16 }}\nreason w.short\nreason w.bad\nlayer w\n\
         class w.E capacity 1 {{\n}}\nport device device {{\n  in frame(m: msg) -> w.E.frame\n  out frame(m: msg)\n}}\n\
         wire w big {{\nheaders w.H\nshort w.short\n{items}{behind}}}\nhandler w.E.frame(e, m: msg) {{\n    drop m, w.short\n    return\n}}\n",
        fields.join(", "),
    );
    let parsed = text::parse(FileId(0), &written);
    assert!(parsed.diagnostics.is_empty(), "{:?}\n{written}", parsed.diagnostics.first());
    c(&parsed.automaton, &Options::default()).source.len()
}

const FLAG: &str = "optional b# == 1 {\nfield a#: 16 from w.H.a#\n}\n";
const VECTOR: &str = "optional b# == 1 {\nfield c#: 8 from w.H.c#\noptional c# > 0 {\nfield e0_#: 8 from w.H.e0_#\n\
                      optional c# > 1 {\nfield e1_#: 8 from w.H.e1_#\noptional c# > 2 {\nfield e2_#: 8 from w.H.e2_#\n}\n}\n}\n}\n";
const CHOICE: &str =
    "choice b# else w.bad {\ncase 1 {\nfield a#: 16 from w.H.a#\n}\ncase 2 {\nfield c#: 8 from w.H.c#\n}\n}\n";
const OPTIONS: &str =
    "options kind: 8 length: 8 * 1 + 0 big until (b0 * 4) pad 4 malformed w.bad {\nend 0\ncase 2 if w.H.has {\n\
                       field o: 16 from w.H.size\n}\n}\n";
const LIST: &str = "list w.H.last to end else w.bad {\nelement {\nfield l: 16 from w.H.size\n}\n}\n";
const SUM: &str = "field sum: 16 computed packet_checksum() else w.bad\n";

/// The C grows by as much with each part. Before ways met, each part with a vector made it five times as long, each other one
/// twice.
#[test]
fn c_grows_with_the_parts_of_a_wire_and_not_with_the_ways() {
    let mut wrong = Vec::new();
    for (name, part, behind) in [
        ("flags", FLAG, ""),
        ("vectors", VECTOR, ""),
        ("choices", CHOICE, ""),
        ("flags before options", FLAG, OPTIONS),
        ("vectors before options", VECTOR, OPTIONS),
        ("flags before elements to the end", FLAG, LIST),
        ("vectors before elements to the end", VECTOR, LIST),
        ("choices before a sum", CHOICE, SUM),
    ] {
        let sizes = [3, 5, 8, 16].map(|count| parts(count, part, behind));
        println!("FIGURE: octets of C of a wire with 3, 5, 8, 16 {name}: {sizes:?}");
        let each = (sizes[1] - sizes[0]) / 2;
        if sizes[2] - sizes[1] > 3 * each + each / 2 || sizes[3] - sizes[2] > 8 * each + each {
            wrong.push(format!("{name}: {sizes:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Ways that cannot meet are bounded: arms that end within an octet, where none may fit.
#[test]
fn c_that_would_be_too_long_is_refused() {
    let arm = |tag: u64, field: &str| format!("case {tag} {{\nfield {field}: 4 = {tag} else w.bad\n}}\n");
    let choice = format!("choice b# else w.bad {{\n{}{}}}\nfield y#: 4 = 1 else w.bad\n", arm(1, "x#"), arm(2, "z#"));
    assert!(parts(4, &choice, "") < 500_000);
    let refused = std::panic::catch_unwind(|| parts(16, &choice, "")).expect_err("it is too long");
    let said = refused.downcast_ref::<String>().expect("why");
    assert!(said.contains("wire `w`: too many ways lead through its choices"), "{said}");
}
