//! A differential driver: random, structure-aware sequences of events on two machines of one stack, compared step by step.
//!
//! Arguments come from their types, from constants of the stack, from handles and messages seen in outputs (sent back as
//! they are, or changed), and from packets that a wire of the stack encodes. Everything follows from the seed; a
//! difference is made shorter before it is shown. Which machines are compared is the caller's choice.

use std::collections::HashMap;
use std::fmt;

use mokume_reaction::*;
use mokume_wire::HeaderValue;

/// How much is tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Drive {
    /// The first sequence's seed; sequence `i` has seed `seed + i`.
    pub seed: u64,
    pub sequences: u64,
    /// Events and passings of time in one sequence.
    pub steps: u32,
    /// Octets of a message, at most.
    pub longest: usize,
}

impl Default for Drive {
    fn default() -> Self {
        Drive { seed: 1, sequences: 100, steps: 40, longest: 600 }
    }
}

/// A call that brings about more than so many outputs and reports ends its sequence unjudged: real machines have less
/// room than the interpreter.
const RUNAWAY: usize = 1000;

/// One call of a machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    Input { now: u64, port: PortId, event: u32, args: Vec<Datum> },
    Advance { now: u64 },
}

/// The first place where two machines differ, after shortening.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    pub seed: u64,
    pub params: Vec<u64>,
    pub steps: Vec<Step>,
    /// The place in `steps`; 0 is the start, 1 the first step.
    pub step: usize,
    pub reference: String,
    pub subject: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {} params {:?}, step {} of:", self.seed, self.params, self.step)?;
        for (place, step) in self.steps.iter().enumerate() {
            writeln!(f, "  {}: {step:?}", place + 1)?;
        }
        write!(f, "  reference: {}\n  subject:   {}", self.reference, self.subject)
    }
}

/// A machine that is judged.
pub trait Subject: Machine {
    /// It ran out of memory that the reference has, or has otherwise left what can be judged.
    fn is_beyond(&self) -> bool {
        false
    }

    /// Grows when it does what it never did before, over all instances: what brought that about is tried again, changed.
    fn progress(&self) -> u64 {
        0
    }
}

/// What was tried without a difference.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    pub sequences: u64,
    pub steps: u64,
    pub outputs: u64,
    pub reports: u64,
    pub refused: u64,
    /// Sequences in which the subject had less memory than was asked for.
    pub beyond: u64,
}

/// Runs the sequences on pairs of new machines: `reference(params, seed)`, `subject(params, seed)`. A sequence in which
/// the subject is beyond judgement ends, and is counted.
pub fn drive<R: Machine, S: Subject>(
    automaton: &Automaton,
    options: Drive,
    mut reference: impl FnMut(&[u64], u64) -> R,
    mut subject: impl FnMut(&[u64], u64) -> S,
) -> Result<Summary, Box<Difference>> {
    let mut summary = Summary::default();
    let constants = constants(automaton);
    let mut corpus = Corpus::default();
    for seed in (0..options.sequences).map(|place| options.seed.wrapping_add(place)) {
        let mut source = Source::new(automaton, &constants, &mut corpus, options, seed);
        let params = source.params();
        let (mut first, mut second) = (reference(&params, seed), subject(&params, seed));
        let mut steps = Vec::new();
        let mut found = compare(&first.start(0), &second.start(0), &first, &second);
        while found.is_none() && steps.len() < options.steps as usize {
            let step = source.step(first.next_deadline());
            let (expected, actual) = (act(&mut first, &step), act(&mut second, &step));
            steps.push(step);
            summary.note(&expected);
            if is_runaway(&expected) {
                break;
            }
            found = compare(&expected, &actual, &first, &second);
            source.learn(&expected);
            source.keep_if_new(second.progress());
        }
        summary.sequences += 1;
        if found.is_some() && second.is_beyond() {
            summary.beyond += 1;
        } else if found.is_some() {
            let pair = || (reference(&params, seed), subject(&params, seed));
            return Err(Box::new(shorten(seed, &params, steps, pair)));
        }
    }
    Ok(summary)
}

impl Summary {
    fn note(&mut self, outcome: &Outcome) {
        self.steps += 1;
        self.outputs += outcome.outputs.len() as u64;
        self.reports += outcome.reports.len() as u64;
        self.refused += u64::from(outcome.refused);
    }
}

fn act(machine: &mut impl Machine, step: &Step) -> Outcome {
    match step {
        Step::Input { now, port, event, args } => machine.input(*now, *port, *event, args),
        Step::Advance { now } => machine.advance(*now),
    }
}

fn is_runaway(outcome: &Outcome) -> bool {
    outcome.outputs.len() + outcome.reports.len() > RUNAWAY
}

/// What differs: of the outcomes, of the next deadlines, of the accounts.
fn compare(a: &Outcome, b: &Outcome, first: &impl Machine, second: &impl Machine) -> Option<(String, String)> {
    if let Some(found) = outcomes(a, b) {
        return Some(found);
    }
    let (a, b) = (first.next_deadline(), second.next_deadline());
    if a != b {
        return Some((format!("next deadline {a:?}"), format!("next deadline {b:?}")));
    }
    let (a, b) = (first.accounts(), second.accounts());
    (a != b).then(|| (format!("{a:?}"), format!("{b:?}")))
}

/// The first output that differs, else the first report, else the refusal.
fn outcomes(a: &Outcome, b: &Outcome) -> Option<(String, String)> {
    let show = |list: usize, text: Option<String>| text.unwrap_or(format!("nothing ({list} in all)"));
    for place in 0..a.outputs.len().max(b.outputs.len()) {
        let (left, right) = (a.outputs.get(place), b.outputs.get(place));
        if left != right {
            let text = |list: &Outcome, one: Option<&Output>| show(list.outputs.len(), one.map(|o| format!("{o:?}")));
            return Some((text(a, left), text(b, right)));
        }
    }
    for place in 0..a.reports.len().max(b.reports.len()) {
        let (left, right) = (a.reports.get(place), b.reports.get(place));
        if left != right {
            let text =
                |l: &Outcome, one: Option<&(Report, String)>| show(l.reports.len(), one.map(|r| format!("{r:?}")));
            return Some((text(a, left), text(b, right)));
        }
    }
    (a.refused != b.refused).then(|| (format!("refused {}", a.refused), format!("refused {}", b.refused)))
}

type Found = (usize, String, String);

fn replay<R: Machine, S: Subject>((mut first, mut second): (R, S), steps: &[Step]) -> Option<Found> {
    if let Some((a, b)) = compare(&first.start(0), &second.start(0), &first, &second) {
        return Some((0, a, b));
    }
    for (place, step) in steps.iter().enumerate() {
        let (a, b) = (act(&mut first, step), act(&mut second, step));
        if is_runaway(&a) {
            return None;
        }
        if let Some((a, b)) = compare(&a, &b, &first, &second).filter(|_| !second.is_beyond()) {
            return Some((place + 1, a, b));
        }
    }
    None
}

/// Leaves steps out while a difference remains: halves first, then one by one.
fn shorten<R: Machine, S: Subject>(
    seed: u64,
    params: &[u64],
    mut steps: Vec<Step>,
    mut pair: impl FnMut() -> (R, S),
) -> Difference {
    let mut found = replay(pair(), &steps).unwrap_or((steps.len(), "?".into(), "? (not seen again)".into()));
    steps.truncate(found.0);
    let mut size = steps.len() / 2;
    while size > 0 {
        let mut place = 0;
        while place + size <= steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(place..place + size);
            match replay(pair(), &fewer) {
                Some(smaller) => {
                    fewer.truncate(smaller.0);
                    (steps, found) = (fewer, smaller);
                }
                None => place += size,
            }
        }
        size /= 2;
    }
    Difference { seed, params: params.to_vec(), steps, step: found.0, reference: found.1, subject: found.2 }
}

/// Constants that the stack's bodies and wires mention: values that open doors.
fn constants(automaton: &Automaton) -> Vec<u64> {
    let bodies = automaton.handlers.iter().map(|handler| &handler.body);
    let bodies = bodies.chain(automaton.functions.iter().map(|function| &function.body));
    let mut found: Vec<u64> = automaton.params.iter().filter_map(|param| param.default).collect();
    for block in bodies.flat_map(|body| &body.blocks) {
        found.extend(block.ops.iter().filter_map(|op| match op.kind {
            OpKind::Const { value, .. } => Some(value),
            _ => None,
        }));
        if let Terminator::Switch { cases, .. } = &block.end {
            found.extend(cases.iter().map(|(value, _)| *value));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    fn pick<'s, T>(&mut self, list: &'s [T]) -> Option<&'s T> {
        let place = self.below(list.len());
        list.get(place)
    }
}

/// Where steps come from.
struct Source<'a> {
    automaton: &'a Automaton,
    constants: &'a [u64],
    corpus: &'a mut Corpus,
    /// Packets of the step at hand.
    fresh: Vec<Packet>,
    options: Drive,
    random: Random,
    now: u64,
    inputs: Vec<(PortId, u32)>,
    handles: HashMap<ClassId, Vec<Handle>>,
    messages: Vec<Vec<u8>>,
    /// Words seen in outputs, and parameters.
    words: Vec<u64>,
}

impl<'a> Source<'a> {
    fn new(automaton: &'a Automaton, constants: &'a [u64], corpus: &'a mut Corpus, options: Drive, seed: u64) -> Self {
        let ports = automaton.ports.iter().enumerate();
        let inputs = ports.flat_map(|(port, p)| (0..p.inputs.len()).map(move |event| (port.into(), event as u32)));
        Source {
            automaton,
            constants,
            corpus,
            fresh: Vec::new(),
            options,
            random: Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d)),
            now: 0,
            inputs: inputs.collect(),
            handles: HashMap::new(),
            messages: Vec::new(),
            words: Vec::new(),
        }
    }

    /// Mostly the defaults.
    fn params(&mut self) -> Vec<u64> {
        let mut params = Vec::new();
        for param in &self.automaton.params {
            let value = match param.default {
                Some(value) if self.random.chance(80) => value,
                _ => self.scalar(param.ty),
            };
            params.push(value);
        }
        self.words.extend(&params);
        params
    }

    fn step(&mut self, deadline: Option<u64>) -> Step {
        let (port, event) = match self.random.pick(&self.inputs) {
            Some(input) if !self.random.chance(20) => *input,
            _ => {
                self.pass(deadline);
                return Step::Advance { now: self.now };
            }
        };
        if self.random.chance(20) {
            self.now = self.now.saturating_add(self.random.next() % 1_000_000);
        }
        self.fresh.clear();
        let automaton = self.automaton;
        let input = &automaton.ports[port.index()].inputs[event as usize];
        let args = input.params.iter().map(|(_, ty)| self.datum(*ty)).collect();
        Step::Input { now: self.now, port, event, args }
    }

    /// Time passes: to the next deadline, to just before it, a little or a lot.
    fn pass(&mut self, deadline: Option<u64>) {
        let near = deadline.filter(|deadline| *deadline >= self.now);
        self.now = match (self.random.below(8), near) {
            (0..=3, Some(deadline)) => deadline,
            (4, Some(deadline)) => deadline.saturating_sub(1).max(self.now),
            (5, Some(deadline)) => deadline.saturating_add(self.random.next() % 3_000_000_000),
            (6, _) => self.now.saturating_add(self.random.next() % 100_000_000_000),
            _ => self.now.saturating_add(self.random.next() % 10_000_000),
        };
    }

    fn learn(&mut self, outcome: &Outcome) {
        for output in &outcome.outputs {
            let signature = &self.automaton.ports[output.port.index()].outputs[output.event as usize];
            for (datum, (_, ty)) in output.args.iter().zip(&signature.params) {
                match (datum, ty) {
                    (Datum::Handle(handle), Type::Ref(class)) if *handle != Handle::NULL => {
                        let known = self.handles.entry(*class).or_default();
                        if !known.contains(handle) {
                            known.push(*handle);
                        }
                    }
                    (Datum::Word(word), _) => remember(&mut self.words, *word, 64, &mut self.random),
                    (Datum::Message(octets), _) => {
                        remember(&mut self.messages, octets.clone(), 32, &mut self.random);
                    }
                    _ => {}
                }
            }
        }
    }

    fn datum(&mut self, ty: Type) -> Datum {
        match ty {
            Type::Msg => Datum::Message(self.message()),
            Type::Ref(class) => Datum::Handle(self.handle(class)),
            scalar => Datum::Word(self.scalar(scalar)),
        }
    }

    fn handle(&mut self, class: ClassId) -> Handle {
        let known = self.handles.get(&class).map_or(&[][..], |known| known);
        match self.random.below(20) {
            0 => Handle::NULL,
            1 => Handle { object: self.random.below(4) as u32, generation: self.random.below(2) as u32 },
            // The newest most of the time: the older ones may have ended.
            2..=9 => known.last().copied().unwrap_or(Handle { object: 0, generation: 0 }),
            _ => self.random.pick(known).copied().unwrap_or(Handle { object: 0, generation: 0 }),
        }
    }

    fn scalar(&mut self, ty: Type) -> u64 {
        let width = ty.width(self.automaton);
        let all = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
        if let Type::Enum(id) = ty {
            let names = &self.automaton.enums[id.index()].names;
            return self.random.pick(names).map_or(0, |(_, value)| *value);
        }
        if ty == Type::Reason {
            return self.random.below(self.automaton.reasons.len()) as u64;
        }
        // Mostly the very value, sometimes beside it.
        let edge = match self.random.below(10) {
            0 => 1,
            1 => u64::MAX,
            _ => 0,
        };
        let value = match self.random.below(10) {
            0..=1 => self.random.next() % 5,
            2..=3 => self.random.pick(self.constants).copied().unwrap_or(0).wrapping_add(edge),
            4..=6 => self.random.pick(&self.words).copied().unwrap_or(1).wrapping_add(edge),
            7 => all.wrapping_sub(self.random.next() % 4),
            8 => (all >> 1).wrapping_add(edge),
            _ => self.random.next(),
        };
        value & all
    }

    fn message(&mut self) -> Vec<u8> {
        let has_wires = !self.automaton.wires.is_empty();
        let mut octets = match self.random.below(10) {
            0..=2 if !self.messages.is_empty() => self.random.pick(&self.messages).cloned().unwrap_or_default(),
            3..=8 if has_wires => {
                let packet = self.packet();
                let octets = packet.encode(self.automaton);
                self.fresh.push(packet);
                octets
            }
            _ => self.octets(),
        };
        match self.random.below(8) {
            0 => self.change(&mut octets),
            // As a network does that pads what is short.
            1 => octets.extend(std::iter::repeat_n(0, 1 + self.random.below(20))),
            _ => {}
        }
        octets.truncate(self.options.longest);
        octets
    }

    fn octets(&mut self) -> Vec<u8> {
        let size = match self.random.below(10) {
            0 => 0,
            1..=7 => self.random.below(24),
            _ => self.random.below(self.options.longest),
        };
        (0..size).map(|_| self.random.next() as u8).collect()
    }

    /// Headers that wires of the stack put around octets: new ones; or kept, or seen, ones with a few changes.
    fn packet(&mut self) -> Packet {
        let known = match self.random.below(3) {
            0 => self.random.pick(&self.corpus.packets).cloned(),
            1 => self.random.pick(&self.messages).map(|octets| Packet::read(self.automaton, octets)),
            _ => None,
        };
        let known = known.map(|packet| if self.random.chance(40) { packet.reflected(self.automaton) } else { packet });
        let Some(mut packet) = known else {
            let mut packet = Packet { payload: self.octets(), ..Packet::default() };
            (0..=self.random.below(3)).for_each(|_| self.wrap(&mut packet));
            return packet;
        };
        (0..self.random.below(4)).for_each(|_| self.change_packet(&mut packet));
        packet
    }

    /// One more wire around the packet.
    fn wrap(&mut self, packet: &mut Packet) {
        let wire = WireId::from(self.random.below(self.automaton.wires.len()));
        let headers = self.automaton.wires[wire.index()].headers.clone();
        packet.around.push((wire, headers.into_iter().map(|header| self.header(header)).collect()));
    }

    fn change_packet(&mut self, packet: &mut Packet) {
        let place = self.random.below(packet.around.len());
        let what = self.random.below(10);
        if packet.around.is_empty() || what == 0 {
            return self.wrap(packet);
        }
        match what {
            1 => drop(packet.around.remove(place)),
            2 => packet.payload = self.octets(),
            3 => {
                // The innermost of what is there, with another inside.
                let outer = std::mem::take(&mut packet.around);
                self.wrap(packet);
                packet.around.extend(outer);
            }
            _ => {
                let header = self.random.below(packet.around[place].1.len());
                let Some(mut header) = packet.around[place].1.get(header).cloned() else { return };
                self.change_header(&mut header);
                let headers = &mut packet.around[place].1;
                if let Some(old) = headers.iter_mut().find(|old| old.header == header.header) {
                    *old = header;
                }
            }
        }
    }

    /// Another variant, another value, or two values of one type exchanged (as a sender's and a receiver's are).
    fn change_header(&mut self, header: &mut HeaderValue) {
        let variants = &self.automaton.headers[header.header.index()].variants;
        let fields = &variants[header.variant.index()].fields;
        let (a, b) = (self.random.below(fields.len()), self.random.below(fields.len()));
        match self.random.below(5) {
            0 if variants.len() > 1 => *header = self.header(header.header),
            1..=2 if a != b && fields[a].1 == fields[b].1 => header.fields.swap(a, b),
            _ if !fields.is_empty() => header.fields[a] = self.scalar(fields[a].1),
            _ => {}
        }
    }

    /// Packets that brought something new about are worth another try.
    fn keep_if_new(&mut self, progress: u64) {
        if progress > self.corpus.progress {
            self.corpus.progress = progress;
            for packet in std::mem::take(&mut self.fresh) {
                remember(&mut self.corpus.packets, packet, 256, &mut self.random);
            }
        }
    }

    fn header(&mut self, header: HeaderId) -> HeaderValue {
        let variants = &self.automaton.headers[header.index()].variants;
        let variant = self.random.below(variants.len());
        let fields = variants.get(variant).map_or(&[][..], |variant| &variant.fields);
        let fields = fields.iter().map(|(_, ty)| self.scalar(*ty)).collect();
        HeaderValue { header, variant: variant.into(), fields }
    }

    fn change(&mut self, octets: &mut Vec<u8>) {
        for _ in 0..=self.random.below(3) {
            let place = self.random.below(octets.len());
            match self.random.below(7) {
                0 => octets.truncate(place),
                1 => octets.extend((0..self.random.below(9)).map(|n| n as u8)),
                2 if !octets.is_empty() => octets[place] ^= 1 << self.random.below(8),
                3 if !octets.is_empty() => octets[place] = octets[place].wrapping_add(1),
                4 if !octets.is_empty() => octets[place] = [0, 1, 0x7f, 0x80, 0xff][self.random.below(5)],
                5 if !octets.is_empty() => drop(octets.remove(place)),
                _ => octets.insert(place, self.random.next() as u8),
            }
        }
    }
}

/// Octets with headers around them, the innermost first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Packet {
    payload: Vec<u8>,
    around: Vec<(WireId, Vec<HeaderValue>)>,
}

impl Packet {
    fn encode(&self, automaton: &Automaton) -> Vec<u8> {
        self.around.iter().fold(self.payload.clone(), |octets, (wire, headers)| {
            mokume_wire::encode(automaton, *wire, headers, &octets).octets
        })
    }

    /// As a peer would answer: neighbouring fields of one type, as source and destination are, change places.
    fn reflected(mut self, automaton: &Automaton) -> Packet {
        for header in self.around.iter_mut().flat_map(|(_, headers)| headers) {
            let fields = &automaton.headers[header.header.index()].variants[header.variant.index()].fields;
            let mut place = 0;
            while place + 1 < fields.len() {
                let alike = fields[place].1 == fields[place + 1].1 && fields[place].1.width(automaton) >= 8;
                if alike {
                    header.fields.swap(place, place + 1);
                }
                place += if alike { 2 } else { 1 };
            }
        }
        self
    }

    /// What the stack's wires read in octets, as deep as they go.
    fn read(automaton: &Automaton, octets: &[u8]) -> Packet {
        let mut packet = Packet { payload: octets.to_vec(), around: Vec::new() };
        while packet.around.len() < 4 {
            let wires = (0..automaton.wires.len()).map(WireId::from);
            let read = wires.map(|wire| (wire, mokume_wire::decode(automaton, wire, &packet.payload)));
            let found = read.filter_map(|(wire, decoded)| Some((wire, decoded.ok()?)));
            // A wire that takes nothing off would be read for ever.
            let Some((wire, decoded)) = found.into_iter().find(|(_, decoded)| decoded.payload.start > 0) else { break };
            packet.payload = packet.payload[decoded.payload].to_vec();
            packet.around.insert(0, (wire, decoded.headers));
        }
        packet
    }
}

/// What is kept from sequence to sequence.
#[derive(Default)]
struct Corpus {
    packets: Vec<Packet>,
    progress: u64,
}

fn remember<T>(list: &mut Vec<T>, value: T, most: usize, random: &mut Random) {
    match list.len() < most {
        true => list.push(value),
        false => {
            let place = random.below(most);
            list[place] = value;
        }
    }
}
