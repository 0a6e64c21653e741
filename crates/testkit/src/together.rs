//! Drives two machines of one automaton with the same random inputs, and returns the first difference with the inputs
//! that led to it.

use mokume_reaction::{Automaton, Datum, Handle, Machine, Outcome, Output, PortId, Type};

use mokume_base::Random;

/// The number of sent messages that are remembered.
const SEEN: usize = 4;

/// The inputs up to the difference, and what differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    pub inputs: Vec<String>,
    pub what: String,
}

/// Values that inputs use beside random numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hints {
    pub messages: Vec<Vec<u8>>,
    pub words: Vec<u64>,
}

/// Plays `steps` random inputs on both machines. Outputs are compared in order within each group of ports; reports by
/// kind and order; then refusals, accounts, and the next deadline.
pub fn together(
    automaton: &Automaton,
    first: &mut dyn Machine,
    second: &mut dyn Machine,
    seed: u64,
    steps: usize,
) -> Option<Difference> {
    together_by(automaton, (first, second), seed, steps, &Hints::default())
}

/// [`together`] with hints.
pub fn together_by(
    automaton: &Automaton,
    (first, second): (&mut dyn Machine, &mut dyn Machine),
    seed: u64,
    steps: usize,
    hints: &Hints,
) -> Option<Difference> {
    let (random, seen, inputs, messages) = (Random::new(seed), Vec::new(), Vec::new(), Vec::new());
    let mut play = Play { automaton, hints, random, now: 0, seen, inputs, messages };
    let (a, b) = (first.start(0), second.start(0));
    let mut what = play.compare(first, second, &a, &b);
    for _ in 0..steps {
        if what.is_some() {
            break;
        }
        let (a, b) = play.step(first, second);
        what = play.compare(first, second, &a, &b);
    }
    what.map(|what| Difference { inputs: play.inputs, what })
}

struct Play<'a> {
    automaton: &'a Automaton,
    hints: &'a Hints,
    random: Random,
    now: u64,
    /// Handles that outputs have shown.
    seen: Vec<Handle>,
    inputs: Vec<String>,
    /// The last messages that came out; they may be sent back as frames.
    messages: Vec<Vec<u8>>,
}

impl Play<'_> {
    fn step(&mut self, first: &mut dyn Machine, second: &mut dyn Machine) -> (Outcome, Outcome) {
        self.now += self.random.one_of(&[0, 1, 500_000, 3_000_000, 7_777_777]);
        let ports = &self.automaton.ports;
        let inputs: Vec<(usize, usize)> =
            (0..ports.len()).flat_map(|port| (0..ports[port].inputs.len()).map(move |event| (port, event))).collect();
        if inputs.is_empty() || self.random.percent(15) {
            self.inputs.push(format!("advance to {}", self.now));
            return (first.advance(self.now), second.advance(self.now));
        }
        let (port, event) = *self.random.one_of(&inputs);
        let input = &ports[port].inputs[event];
        let args: Vec<Datum> = input.params.iter().map(|(_, ty)| self.datum(*ty)).collect();
        self.inputs.push(format!("at {}: {}.{}({args:?})", self.now, ports[port].name, input.event));
        let (port, event) = (PortId::from(port), event as u32);
        (first.input(self.now, port, event, &args), second.input(self.now, port, event, &args))
    }

    fn datum(&mut self, ty: Type) -> Datum {
        match ty {
            Type::Msg if !self.hints.messages.is_empty() && self.random.percent(40) => {
                Datum::Message(self.random.one_of(&self.hints.messages).clone())
            }
            Type::Msg if self.random.percent(70) => Datum::Message(self.seen_before()),
            Type::Msg => Datum::Message((0..self.random.place(20)).map(|_| self.random.word() as u8).collect()),
            Type::Ref(_) if self.seen.is_empty() || self.random.percent(5) => Datum::Handle(Handle::NULL),
            Type::Ref(_) => Datum::Handle(*self.random.one_of(&self.seen)),
            Type::Reason => Datum::Word(0),
            Type::Enum(id) => {
                let names = &self.automaton.enums[id.index()].names;
                Datum::Word(names.get(self.random.place(names.len())).map_or(0, |(_, value)| *value))
            }
            scalar => {
                let width = scalar.width(self.automaton);
                // Small numbers are repeated, so that one input finds what another left.
                let hint = !self.hints.words.is_empty() && self.random.percent(50);
                let word = match self.random.place(4) {
                    _ if hint => *self.random.one_of(&self.hints.words),
                    0 | 1 => self.random.below(4),
                    2 => self.random.word(),
                    _ => u64::MAX - self.random.below(3),
                };
                Datum::Word(word & (u64::MAX >> (64 - u32::from(width.max(1)))))
            }
        }
    }

    /// A message that came out: usually unchanged, else with an octet changed, added or removed.
    fn seen_before(&mut self) -> Vec<u8> {
        let mut octets = self.random.pick(&self.messages).cloned().unwrap_or_default();
        let place = self.random.place(octets.len());
        match self.random.place(12) {
            0 | 1 if !octets.is_empty() => octets[place] ^= 1 << self.random.place(8),
            2 if !octets.is_empty() => octets[place] = self.random.word() as u8,
            3 => octets.truncate(place),
            4 => drop(octets.pop()),
            5 => octets.extend((0..self.random.place(5)).map(|octet| octet as u8)),
            _ => {}
        }
        octets
    }

    fn compare(&mut self, first: &dyn Machine, second: &dyn Machine, a: &Outcome, b: &Outcome) -> Option<String> {
        for output in &a.outputs {
            for arg in &output.args {
                match arg {
                    Datum::Handle(handle) if *handle != Handle::NULL => self.seen.push(*handle),
                    Datum::Message(octets) => {
                        self.messages.push(octets.clone());
                        if self.messages.len() > SEEN {
                            self.messages.remove(0);
                        }
                    }
                    _ => {}
                }
            }
        }
        let groups = |outcome: &Outcome| {
            let mut outputs: Vec<Output> = outcome.outputs.clone();
            outputs.sort_by_key(|output| self.automaton.ports[output.port.index()].group);
            outputs
        };
        let reports = |outcome: &Outcome| outcome.reports.iter().map(|(report, _)| *report).collect::<Vec<_>>();
        if groups(a) != groups(b) {
            return Some(format!("outputs:\n  {:?}\n  {:?}", groups(a), groups(b)));
        }
        if reports(a) != reports(b) {
            return Some(format!("reports:\n  {:?}\n  {:?}", a.reports, b.reports));
        }
        if a.refused != b.refused {
            return Some(format!("refused: {} and {}", a.refused, b.refused));
        }
        if first.accounts() != second.accounts() {
            return Some(format!("accounts:\n  {:?}\n  {:?}", first.accounts(), second.accounts()));
        }
        let deadlines = (first.next_deadline(), second.next_deadline());
        (deadlines.0 != deadlines.1).then(|| format!("next deadline: {:?} and {:?}", deadlines.0, deadlines.1))
    }
}
