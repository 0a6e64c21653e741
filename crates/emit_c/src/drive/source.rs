//! The source of steps: lessons, what is known of the stack (types, constants, wires), and what it did before.

use std::collections::VecDeque;

use rustc_hash::FxHashMap as HashMap;

use mokume_base::Random;
use mokume_reaction::*;
use mokume_wire::HeaderValue;

use super::lesson::{remember, Corpus, Lesson, Taught};
use super::packet::Packet;
use super::step::{Drive, Step};

/// The largest number of places in a container that bursts fill.
const BURST: u32 = 300;

/// How often a step is repeated.
const NEARBY: u32 = 24;

/// The source of steps.
pub(super) struct Source<'a> {
    pub automaton: &'a Automaton,
    constants: &'a [u64],
    lessons: &'a [Lesson],
    corpus: &'a mut Corpus,
    /// The rest of the current lesson.
    plan: VecDeque<Taught>,
    /// Whether the lesson is played unchanged.
    pub whole: bool,
    /// An input that is repeated, with the number of repetitions left.
    burst: Option<(PortId, u32, u32)>,
    /// The last step of the lesson, which is repeated, with the number of repetitions left.
    nearby: Option<(Taught, u32)>,
    /// Packets of the current step.
    fresh: Vec<Packet>,
    options: Drive,
    pub random: Random,
    pub now: u64,
    inputs: Vec<(PortId, u32)>,
    pub handles: HashMap<ClassId, Vec<Handle>>,
    messages: Vec<Vec<u8>>,
    /// Words seen in outputs, and parameters.
    words: Vec<u64>,
}

impl<'a> Source<'a> {
    /// The source of a sequence, with its own random numbers.
    pub fn new(
        automaton: &'a Automaton,
        constants: &'a [u64],
        lessons: &'a [Lesson],
        corpus: &'a mut Corpus,
        options: Drive,
        seed: u64,
    ) -> Self {
        let ports = automaton.ports.iter().enumerate();
        let inputs = ports.flat_map(|(port, p)| (0..p.inputs.len()).map(move |event| (port.into(), event as u32)));
        Source {
            automaton,
            constants,
            lessons,
            corpus,
            plan: VecDeque::new(),
            whole: false,
            burst: None,
            nearby: None,
            fresh: Vec::new(),
            options,
            random: Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d)),
            now: 0,
            inputs: inputs.collect(),
            handles: HashMap::default(),
            messages: Vec::new(),
            words: Vec::new(),
        }
    }

    /// The parameters and seed of a lesson, or usually the defaults. `place` is the number of the sequence.
    pub fn begin(&mut self, place: u64) -> (Vec<u64>, Option<u64>) {
        let lesson = self.whole_lesson(place).or_else(|| self.choose_lesson());
        let (params, seed) = lesson.unwrap_or_else(|| (self.fresh_params(), None));
        self.words.extend(&params);
        (params, seed)
    }

    /// The next lesson with a seed, in `whole` of 100 places, evenly spread.
    fn whole_lesson(&mut self, place: u64) -> Option<(Vec<u64>, Option<u64>)> {
        let turn = |place: u64| place * self.options.whole / 100;
        let turn = Some(turn(place)).filter(|now| turn(place + 1) > *now)?;
        let seeded = self.lessons.iter().filter(|lesson| lesson.seed.is_some());
        let all = seeded.clone().count().max(1);
        let lesson = seeded.clone().nth(turn as usize % all)?;
        self.whole = true;
        self.plan = lesson.steps.iter().cloned().collect();
        Some((lesson.params.clone(), lesson.seed))
    }

    /// Whether the lesson is played unchanged, to its end.
    pub fn is_exact(&self) -> bool {
        self.whole || self.nearby.is_some()
    }

    /// How many steps of a lesson are left.
    pub fn planned(&self) -> usize {
        self.plan.len()
    }

    fn choose_lesson(&mut self) -> Option<(Vec<u64>, Option<u64>)> {
        if self.lessons.is_empty() || self.random.percent(10) {
            return None;
        }
        let learned = self.random.percent(50) && !self.corpus.lessons.is_empty();
        let list = if learned { &self.corpus.lessons } else { self.lessons };
        let lesson = self.random.pick(list)?.clone();
        let all = lesson.steps.len();
        let played = if self.random.percent(70) { all } else { self.random.place(all + 1) };
        let nearby = lesson.seed.is_some() && self.options.nearby > 0 && self.random.percent(self.options.nearby);
        let played = match nearby {
            true if learned => all,
            true => self.random.place(all + 1),
            false => played,
        };
        let last = lesson.steps[..played].last().filter(|_| nearby);
        self.nearby = last.map(|last| (last.clone(), NEARBY));
        self.plan = lesson.steps.into_iter().take(played).collect();
        for _ in 0..4 {
            let other = self.random.pick(self.lessons).and_then(|lesson| self.random.pick(&lesson.steps));
            self.messages.extend(other.into_iter().flat_map(Taught::messages).cloned());
        }
        self.messages.extend(self.plan.iter().flat_map(Taught::messages).take(8).cloned());
        Some((lesson.params, lesson.seed))
    }

    fn fresh_params(&mut self) -> Vec<u64> {
        let mut params = Vec::new();
        for param in &self.automaton.params {
            let value = match param.default {
                Some(value) if self.random.percent(80) => value,
                _ => self.scalar(param.ty),
            };
            params.push(value);
        }
        params
    }

    /// The parameters of the other end: the same, or the next addresses.
    pub fn sibling_params(&mut self, params: &[u64]) -> Vec<u64> {
        if self.random.percent(50) {
            return params.to_vec();
        }
        let long = |at: usize| self.automaton.params[at].ty.width(self.automaton) >= 32;
        params.iter().enumerate().map(|(at, value)| if long(at) { value.wrapping_add(1) } else { *value }).collect()
    }

    /// The next step. `deadline`: when a timer of the machines is due next.
    pub fn step(&mut self, deadline: Option<u64>) -> Step {
        self.fresh.clear();
        while self.is_exact() || !self.random.percent(10) {
            let Some(taught) = self.plan.pop_front() else { break };
            if let Some(step) = self.taught(taught) {
                return step;
            }
        }
        if let Some(step) = self.again(deadline) {
            return step;
        }
        if let Some((port, event, left @ 1..)) = self.burst {
            self.burst = Some((port, event, left - 1));
            return self.input_of(port, event);
        }
        if self.inputs.is_empty() || self.random.percent(20) {
            self.pass(deadline);
            return Step::Advance { now: self.now };
        }
        if self.random.percent(20) {
            self.now = self.now.saturating_add(self.random.word() % 1_000_000);
        }
        self.input()
    }

    /// The last step of the lesson, unchanged or changed in one thing; in between time passes, or something else comes.
    fn again(&mut self, deadline: Option<u64>) -> Option<Step> {
        let (last, left @ 1..) = self.nearby.take()? else { return None };
        self.nearby = Some((last.clone(), left - 1));
        let Taught::Input { port, event, args } = last else {
            self.pass(deadline);
            return Some(Step::Advance { now: self.now });
        };
        let what = self.random.place(20);
        if what == 0 {
            self.pass(deadline);
            return Some(Step::Advance { now: self.now });
        }
        if what <= 2 && !self.inputs.is_empty() {
            return Some(self.input());
        }
        let params = &self.automaton.ports[port.index()].inputs[event as usize].params;
        let changed = (what <= 12).then(|| self.random.place(params.len()));
        let mut now = Vec::new();
        for (place, ((_, ty), arg)) in params.iter().zip(args).enumerate() {
            now.push(match arg {
                Some(Datum::Message(octets)) if changed == Some(place) => Datum::Message(self.beside(octets)),
                Some(Datum::Word(word)) if changed == Some(place) && self.random.percent(50) => {
                    let width = ty.width(self.automaton);
                    let bit = 1 << self.random.place(width.clamp(1, 64) as usize);
                    Datum::Word(word ^ bit)
                }
                Some(datum) if changed != Some(place) => datum,
                _ => self.datum(*ty),
            });
        }
        Some(Step::Input { now: self.now, port, event, args: now })
    }

    /// A message with one header, one octet or the size changed, or with two words changed so that sums of words stay
    /// the same.
    fn beside(&mut self, mut octets: Vec<u8>) -> Vec<u8> {
        let place = self.random.place(octets.len());
        match self.random.place(16) {
            10.. if octets.len() >= 4 => self.balance(&mut octets),
            0..=5 if !self.automaton.wires.is_empty() => {
                let mut packet = Packet::read(self.automaton, &octets);
                self.change_packet(&mut packet);
                octets = packet.encode(self.automaton);
                self.fresh.push(packet);
            }
            6 => octets.truncate(place),
            7 => octets.extend((0..self.random.place(self.options.longest)).map(|n| n as u8)),
            8 if !octets.is_empty() => octets[place] = self.random.word() as u8,
            9 if !octets.is_empty() => octets[place] ^= 1 << self.random.place(8),
            _ => octets.push(0),
        }
        octets.truncate(self.options.longest);
        octets
    }

    /// Adds a number to one 16-bit word and subtracts it from another near it, in the arithmetic of the internet
    /// checksum.
    fn balance(&mut self, octets: &mut [u8]) {
        let first = self.random.place(octets.len() - 1);
        let near = 2 * (1 + self.random.place(10));
        let second = if self.random.percent(50) { first.checked_sub(near) } else { Some(first + near) };
        let Some(second) = second.filter(|second| second + 1 < octets.len()) else { return };
        let add = match self.random.place(3) {
            0 => 1 << self.random.place(16),
            1 => self.random.word() as u16,
            _ => u16::MAX - (1 << self.random.place(16)),
        };
        for (place, add) in [(first, add), (second, !add)] {
            let word = u16::from_be_bytes([octets[place], octets[place + 1]]);
            let (sum, over) = word.overflowing_add(add);
            octets[place..place + 2].copy_from_slice(&(sum + u16::from(over)).to_be_bytes());
        }
    }

    /// The next step of a lesson, usually unchanged; some are left out.
    fn taught(&mut self, taught: Taught) -> Option<Step> {
        if !self.is_exact() && self.random.percent(4) {
            return None;
        }
        let change = !self.is_exact() && self.random.percent(12);
        match taught {
            Taught::After(duration) => {
                let duration = if change { self.random.word() % (2 * duration).max(1) } else { duration };
                self.now = self.now.saturating_add(duration);
                Some(Step::Advance { now: self.now })
            }
            Taught::Input { port, event, args } => {
                let automaton = self.automaton;
                let params = &automaton.ports[port.index()].inputs[event as usize].params;
                let changed = change.then(|| self.random.place(params.len()));
                let args = params.iter().zip(args).enumerate().map(|(place, ((_, ty), arg))| match arg {
                    Some(Datum::Message(octets)) if changed == Some(place) => Datum::Message(self.varied(octets)),
                    Some(datum) if changed != Some(place) => datum,
                    _ => self.datum(*ty),
                });
                let args = args.collect();
                Some(Step::Input { now: self.now, port, event, args })
            }
        }
    }

    /// A message of a lesson with changed headers or octets.
    fn varied(&mut self, mut octets: Vec<u8>) -> Vec<u8> {
        if !self.automaton.wires.is_empty() && self.random.percent(60) {
            let mut packet = Packet::read(self.automaton, &octets);
            (0..=self.random.place(2)).for_each(|_| self.change_packet(&mut packet));
            octets = packet.encode(self.automaton);
            self.fresh.push(packet);
        } else {
            self.change(&mut octets);
        }
        octets.truncate(self.options.longest);
        octets
    }

    /// Begins to repeat one thing until containers are full: as often as the longest class has places.
    pub fn begin_burst(&mut self) -> u32 {
        let most = self.automaton.classes.iter().map(|class| class.capacity).max().unwrap_or(0).min(BURST);
        let (port, event) = self.random.pick(&self.inputs).copied().unwrap_or((PortId(0), 0));
        self.burst = Some((port, event, most + most / 4 + 8));
        most + most / 4 + 8
    }

    /// Any input, now.
    pub fn input(&mut self) -> Step {
        let (port, event) = self.random.pick(&self.inputs).copied().unwrap_or((PortId(0), 0));
        self.input_of(port, event)
    }

    fn input_of(&mut self, port: PortId, event: u32) -> Step {
        let automaton = self.automaton;
        let input = &automaton.ports[port.index()].inputs[event as usize];
        let args = input.params.iter().map(|(_, ty)| self.datum(*ty)).collect();
        Step::Input { now: self.now, port, event, args }
    }

    /// Lets time pass: to the next deadline, to just before it, a little or a lot.
    fn pass(&mut self, deadline: Option<u64>) {
        let near = deadline.filter(|deadline| *deadline >= self.now);
        self.now = match (self.random.place(8), near) {
            (0..=3, Some(deadline)) => deadline,
            (4, Some(deadline)) => deadline.saturating_sub(1).max(self.now),
            (5, Some(deadline)) => deadline.saturating_add(self.random.word() % 3_000_000_000),
            (6, _) => self.now.saturating_add(self.random.word() % 100_000_000_000),
            _ => self.now.saturating_add(self.random.word() % 10_000_000),
        };
    }

    /// Learns handles, messages and words from outputs.
    pub fn learn(&mut self, outcome: &Outcome) {
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
        match self.random.place(20) {
            0 => Handle::NULL,
            1 => Handle { object: self.random.place(4) as u32, generation: self.random.place(2) as u32 },
            // Usually the newest: the older ones may have ended.
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
            return self.random.place(self.automaton.reasons.len()) as u64;
        }
        // Usually the value itself, sometimes one next to it.
        let edge = match self.random.place(10) {
            0 => 1,
            1 => u64::MAX,
            _ => 0,
        };
        let value = match self.random.place(10) {
            0..=1 => self.random.word() % 5,
            2..=3 => self.random.pick(self.constants).copied().unwrap_or(0).wrapping_add(edge),
            4..=6 => self.random.pick(&self.words).copied().unwrap_or(1).wrapping_add(edge),
            7 => all.wrapping_sub(self.random.word() % 4),
            8 => (all >> 1).wrapping_add(edge),
            _ => self.random.word(),
        };
        value & all
    }

    fn message(&mut self) -> Vec<u8> {
        let has_wires = !self.automaton.wires.is_empty();
        let mut octets = match self.random.place(10) {
            0..=2 if !self.messages.is_empty() => self.random.pick(&self.messages).cloned().unwrap_or_default(),
            3..=8 if has_wires => {
                let packet = self.packet();
                let octets = packet.encode(self.automaton);
                self.fresh.push(packet);
                octets
            }
            _ => self.octets(),
        };
        match self.random.place(8) {
            0 => self.change(&mut octets),
            // Like a network that pads short frames.
            1 => octets.extend(std::iter::repeat_n(0, 1 + self.random.place(20))),
            _ => {}
        }
        octets.truncate(self.options.longest);
        octets
    }

    fn octets(&mut self) -> Vec<u8> {
        let size = match self.random.place(10) {
            0 => 0,
            1..=7 => self.random.place(24),
            _ => self.random.place(self.options.longest),
        };
        (0..size).map(|_| self.random.word() as u8).collect()
    }

    /// Headers for octets, from wires of the stack: new ones, or kept or seen ones with a few changes.
    fn packet(&mut self) -> Packet {
        let known = match self.random.place(3) {
            0 => self.random.pick(&self.corpus.packets).cloned(),
            1 => self.random.pick(&self.messages).map(|octets| Packet::read(self.automaton, octets)),
            _ => None,
        };
        let known = known.map(|packet| if self.random.percent(40) { packet.reflected(self.automaton) } else { packet });
        let Some(mut packet) = known else {
            let mut packet = Packet { payload: self.octets(), ..Packet::default() };
            (0..=self.random.place(3)).for_each(|_| self.wrap(&mut packet));
            return packet;
        };
        (0..self.random.place(4)).for_each(|_| self.change_packet(&mut packet));
        packet
    }

    /// Adds one more wire around the packet.
    fn wrap(&mut self, packet: &mut Packet) {
        let wire = WireId::from(self.random.place(self.automaton.wires.len()));
        let headers = self.automaton.wires[wire.index()].headers.clone();
        packet.around.push((wire, headers.into_iter().map(|header| self.header(header)).collect()));
    }

    fn change_packet(&mut self, packet: &mut Packet) {
        let place = self.random.place(packet.around.len());
        let what = self.random.place(10);
        if packet.around.is_empty() || what == 0 {
            return self.wrap(packet);
        }
        match what {
            1 => drop(packet.around.remove(place)),
            2 => packet.payload = self.octets(),
            3 => {
                // The innermost of the existing headers, with another inside.
                let outer = std::mem::take(&mut packet.around);
                self.wrap(packet);
                packet.around.extend(outer);
            }
            _ => {
                let header = self.random.place(packet.around[place].1.len());
                let Some(mut header) = packet.around[place].1.get(header).cloned() else { return };
                self.change_header(&mut header);
                let headers = &mut packet.around[place].1;
                if let Some(old) = headers.iter_mut().find(|old| old.header == header.header) {
                    *old = header;
                }
            }
        }
    }

    /// Chooses another variant or another value, or swaps two values of one type (such as sender and receiver).
    fn change_header(&mut self, header: &mut HeaderValue) {
        let variants = &self.automaton.headers[header.header.index()].variants;
        let fields = &variants[header.variant.index()].fields;
        let (a, b) = (self.random.place(fields.len()), self.random.place(fields.len()));
        match self.random.place(5) {
            0 if variants.len() > 1 => *header = self.header(header.header),
            1..=2 if a != b && fields[a].1 == fields[b].1 => header.fields.swap(a, b),
            _ if !fields.is_empty() => header.fields[a] = self.scalar(fields[a].1),
            _ => {}
        }
    }

    /// See [`Corpus::keep_if_new`].
    pub fn keep_if_new(&mut self, progress: u64, of: (&[u64], u64), steps: &[Step]) {
        self.corpus.keep_if_new(progress, &mut self.fresh, of, steps, &mut self.random);
    }

    fn header(&mut self, header: HeaderId) -> HeaderValue {
        let variants = &self.automaton.headers[header.index()].variants;
        let variant = self.random.place(variants.len());
        let fields = variants.get(variant).map_or(&[][..], |variant| &variant.fields);
        let fields = fields.iter().map(|(_, ty)| self.scalar(*ty)).collect();
        HeaderValue { header, variant: variant.into(), fields }
    }

    fn change(&mut self, octets: &mut Vec<u8>) {
        for _ in 0..=self.random.place(3) {
            let place = self.random.place(octets.len());
            match self.random.place(7) {
                0 => octets.truncate(place),
                1 => octets.extend((0..self.random.place(9)).map(|n| n as u8)),
                2 if !octets.is_empty() => octets[place] ^= 1 << self.random.place(8),
                3 if !octets.is_empty() => octets[place] = octets[place].wrapping_add(1),
                4 if !octets.is_empty() => octets[place] = [0, 1, 0x7f, 0x80, 0xff][self.random.place(5)],
                5 if !octets.is_empty() => drop(octets.remove(place)),
                _ => octets.insert(place, self.random.word() as u8),
            }
        }
    }
}
