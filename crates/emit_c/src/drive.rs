//! A differential driver: runs random, structure-aware sequences of events on two machines of one stack, and compares
//! them step by step.
//!
//! Arguments come from their types, from constants of the stack, from handles and messages seen in outputs (sent back
//! unchanged, or changed), and from packets that a wire of the stack encodes. Sequences may begin with lessons, and may
//! have a sibling at the other end of the devices. The seed determines everything. A difference is shortened before it
//! is shown. The caller chooses which machines are compared.

mod lesson;
mod packet;
mod sibling;
mod source;
mod step;

use std::fmt;

use mokume_reaction::*;

use lesson::Corpus;
pub use lesson::{Lesson, Taught};
use sibling::Sibling;
use source::Source;
use step::{act, BUSY};
pub use step::{AccountsCompared, Drive, Step};

/// A call with more outputs and reports than this ends its sequence without a verdict: real machines have less room
/// than the interpreter.
const RUNAWAY: usize = 1000;

/// The first difference of two machines, after shortening.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    pub seed: u64,
    pub params: Vec<u64>,
    pub steps: Vec<Step>,
    /// The index in `steps`; 0 is the start, 1 the first step.
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
    /// Whether it ran out of memory that the reference has, or cannot be judged for another reason.
    fn is_beyond(&self) -> bool {
        false
    }

    /// A number that grows when it does something new, over all instances; the driver then tries variations of the
    /// sequence.
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
    /// Sequences in which the subject had less memory than needed.
    pub beyond: u64,
    /// Sequences that ended early, after [`BUSY`] reactions.
    pub busy: u64,
}

/// Runs the sequences on pairs of new machines: `reference(params, seed)`, `subject(params, seed)`. A sequence in which
/// the subject cannot be judged ends, and is counted.
pub fn drive<R: Machine, S: Subject>(
    automaton: &Automaton,
    options: Drive,
    reference: impl FnMut(&[u64], u64) -> R,
    subject: impl FnMut(&[u64], u64) -> S,
) -> Result<Summary, Box<Difference>> {
    drive_from(automaton, options, &[], reference, subject)
}

/// [`drive`] with lessons to begin with.
pub fn drive_from<R: Machine, S: Subject>(
    automaton: &Automaton,
    options: Drive,
    lessons: &[Lesson],
    reference: impl FnMut(&[u64], u64) -> R,
    subject: impl FnMut(&[u64], u64) -> S,
) -> Result<Summary, Box<Difference>> {
    drive_while(automaton, options, lessons, &mut |_| true, (reference, subject))
}

/// [`drive_from`] as long as `goes_on` says so, which is asked before each sequence how many there were.
pub fn drive_while<R: Machine, S: Subject>(
    automaton: &Automaton,
    options: Drive,
    lessons: &[Lesson],
    goes_on: &mut dyn FnMut(u64) -> bool,
    (mut reference, mut subject): (impl FnMut(&[u64], u64) -> R, impl FnMut(&[u64], u64) -> S),
) -> Result<Summary, Box<Difference>> {
    let mut summary = Summary::default();
    let constants = constants(automaton);
    let mut corpus = Corpus::default();
    for place in 0..options.sequences {
        if !goes_on(place) {
            break;
        }
        let seed = options.seed.wrapping_add(place);
        summary.sequences += 1;
        let mut source = Source::new(automaton, &constants, lessons, &mut corpus, options, seed);
        let (params, taught) = source.begin(place);
        let seed = taught.unwrap_or(seed);
        let (first, second) = (reference(&params, seed), subject(&params, seed));
        let sibling =
            (!source.is_exact() && options.siblings > 0 && source.random.percent(options.siblings)).then(|| {
                let machine = reference(&source.sibling_params(&params), !seed);
                Sibling::new(machine, automaton, &mut source.random)
            });
        let mut sequence = Sequence { source, params, seed, first, second, sibling, steps: Vec::new() };
        if sequence.differs(options, &mut summary) {
            let Sequence { params, steps, .. } = sequence;
            let pair = || (reference(&params, seed), subject(&params, seed));
            return Err(Box::new(shorten((options, seed), &params, steps, pair)));
        }
    }
    Ok(summary)
}

/// One sequence on two new machines, and its inputs so far.
struct Sequence<'a, R, S> {
    source: Source<'a>,
    params: Vec<u64>,
    /// The seed of the machines.
    seed: u64,
    first: R,
    second: S,
    sibling: Option<Sibling<R>>,
    steps: Vec<Step>,
}

impl<R: Machine, S: Subject> Sequence<'_, R, S> {
    /// Runs it, up to the first difference if there is one. If the subject cannot be judged, it is only counted.
    fn differs(&mut self, options: Drive, summary: &mut Summary) -> bool {
        let found = self.run(options, summary);
        if found && self.second.is_beyond() {
            summary.beyond += 1;
            return false;
        }
        found
    }

    /// Whether a difference was found; false if the sequence ends without a verdict.
    fn run(&mut self, options: Drive, summary: &mut Summary) -> bool {
        let bursts = self.source.random.word() % 1000 < options.bursts;
        let burst = if bursts { self.source.begin_burst() } else { 0 };
        let (started, also) = (self.first.start(0), self.second.start(0));
        let mut found = compare(&started, &also, &self.first, &self.second, options).is_some();
        self.source.learn(&started);
        self.hear(0, &started);
        let most = (options.steps + burst) as usize + self.source.planned();
        while !found && self.steps.len() < most {
            let (expected, actual) = self.step();
            summary.note(&expected);
            if is_runaway(&expected) {
                return false;
            }
            found = compare(&expected, &actual, &self.first, &self.second, options).is_some();
            self.source.learn(&expected);
            self.source.keep_if_new(self.second.progress(), (&self.params, self.seed), &self.steps);
            if self.first.reactions() > BUSY {
                summary.busy += 1;
                break;
            }
            self.hear(self.source.now, &expected);
        }
        found || accounts(&self.first, &self.second).is_some()
    }

    /// Passes the reference's outputs to the sibling, if there is one.
    fn hear(&mut self, now: u64, outcome: &Outcome) {
        self.sibling.iter_mut().for_each(|sibling| sibling.hear(now, outcome, &mut self.source));
    }

    /// Makes the next step, on both machines.
    fn step(&mut self) -> (Outcome, Outcome) {
        let source = &mut self.source;
        let delivered = self.sibling.as_mut().and_then(|sibling| sibling.deliver(source.now, &mut source.random));
        let step = delivered.unwrap_or_else(|| source.step(self.first.next_deadline()));
        let both = (act(&mut self.first, &step), act(&mut self.second, &step));
        self.steps.push(step);
        both
    }
}

impl Summary {
    fn note(&mut self, outcome: &Outcome) {
        self.steps += 1;
        self.outputs += outcome.outputs.len() as u64;
        self.reports += outcome.reports.len() as u64;
        self.refused += u64::from(outcome.refused);
    }
}

fn is_runaway(outcome: &Outcome) -> bool {
    outcome.outputs.len() + outcome.reports.len() > RUNAWAY
}

/// The difference, if any: in the outcomes, the next deadlines, or the accounts.
fn compare(
    a: &Outcome,
    b: &Outcome,
    first: &impl Machine,
    second: &impl Machine,
    options: Drive,
) -> Option<(String, String)> {
    if let Some(found) = outcomes(a, b) {
        return Some(found);
    }
    let (a, b) = (first.next_deadline(), second.next_deadline());
    if options.deadlines && a != b {
        return Some((format!("next deadline {a:?}"), format!("next deadline {b:?}")));
    }
    if options.accounts == AccountsCompared::AtTheEnd {
        None
    } else {
        accounts(first, second)
    }
}

fn accounts(first: &impl Machine, second: &impl Machine) -> Option<(String, String)> {
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

fn replay<R: Machine, S: Subject>(options: Drive, (mut first, mut second): (R, S), steps: &[Step]) -> Option<Found> {
    let options = Drive { accounts: AccountsCompared::AfterEachStep, ..options };
    if let Some((a, b)) = compare(&first.start(0), &second.start(0), &first, &second, options) {
        return Some((0, a, b));
    }
    for (place, step) in steps.iter().enumerate() {
        let (a, b) = (act(&mut first, step), act(&mut second, step));
        if is_runaway(&a) {
            return None;
        }
        if let Some((a, b)) = compare(&a, &b, &first, &second, options).filter(|_| !second.is_beyond()) {
            return Some((place + 1, a, b));
        }
    }
    None
}

/// Leaves steps out while a difference remains: halves first, then one by one.
fn shorten<R: Machine, S: Subject>(
    (options, seed): (Drive, u64),
    params: &[u64],
    mut steps: Vec<Step>,
    mut pair: impl FnMut() -> (R, S),
) -> Difference {
    let mut found = replay(options, pair(), &steps).unwrap_or((steps.len(), "?".into(), "? (not seen again)".into()));
    steps.truncate(found.0);
    let mut size = steps.len() / 2;
    while size > 0 {
        let mut place = 0;
        while place + size <= steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(place..place + size);
            match replay(options, pair(), &fewer) {
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

/// Constants in the stack's bodies and wires: values that lead to new behaviour.
fn constants(automaton: &Automaton) -> Vec<u64> {
    let mut found: Vec<u64> = automaton.params.iter().filter_map(|param| param.default).collect();
    for block in automaton.bodies().flat_map(|body| &body.blocks) {
        found.extend(block.ops.iter().filter_map(|op| match op.kind {
            OpKind::Const { value, .. } => Some(value),
            _ => None,
        }));
        if let Terminator::Switch { cases, .. } = &block.terminator {
            found.extend(cases.iter().map(|(value, _)| *value));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
