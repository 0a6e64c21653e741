//! `mokume debug`: a run of a network or a test that can be stopped, forwards and backwards.
//!
//! Keeps: observing changes nothing, and a run depends only on the program and the seed. So the moments of a run can be
//! numbered, and going back means running again up to an earlier one.

mod below;
mod conditions;
mod facts;
mod hosts;
mod kept;
mod locals;
mod lookup;
mod moves;
mod points;
mod published;
mod shown;
mod target;
mod variable;

use std::collections::BTreeMap;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use mokume_base::world::World;
use mokume_interpret::{Cause, Moment, Observed, Observer, What};
use mokume_reaction::{HandlerId, PortKind, SourceId};

use crate::failure::Failure;

pub use conditions::{unknown_name, Condition, Hits};
pub(crate) use facts::event_of;
use facts::{is_head, Texts};
pub use facts::{Facts, HostFacts};
use hosts::{lock, Hosting, Hosts, Overseeing};
pub use mokume_base::time;
pub use moves::{By, End, Go, Why};
pub use points::{Only, Point, Points, Where};
pub use shown::{Stopped, Variable};
pub use target::Target;

/// The user's side: decides at each stop, and is told what happens in between.
pub trait Front: Send {
    /// The run has stopped before what happens at this moment.
    fn stopped(&mut self, at: &Stopped<'_>, points: &mut Points) -> Go;

    /// A log point prints a text on the way forwards; the run continues.
    fn said(&mut self, host: &str, point: u32, text: &str) {
        let _ = (host, point, text);
    }

    /// A host crashes, or begins anew, on the way forwards; the run continues.
    fn turned(&mut self, host: &str, at: u64, begins: bool) {
        let _ = (host, at, begins);
    }

    /// The run has ended.
    fn ended(&mut self, end: &End, facts: &Facts, points: &mut Points) -> Go;

    /// Asked now and then while the run goes on: whether it shall stop where it is.
    fn interrupts(&mut self) -> bool {
        false
    }
}

/// The current place in a run, by which steps are measured.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Spot {
    /// The number of moments before this one.
    count: u64,
    /// The number of handlers that had begun.
    instant: u64,
    depth: usize,
}

/// What the run is heading for.
#[derive(Clone, Copy, Debug)]
enum Mode {
    /// Forwards from a spot.
    Forward(By, Spot),
    /// To the moment of this number; and why it stops there.
    To(u64, Why),
    /// Searches the last such moment before a spot.
    Search { by: By, from: Spot, found: Option<(u64, Why)> },
}

/// A planted fault, for tests of tests.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A step skips a statement.
    Skips,
    /// A step backwards ends one moment too early.
    TooFar,
}

/// After so many moments the front is asked whether the run shall stop.
const ASKED_EACH: u64 = 64;

/// A flag that Ctrl-C sets; twice before somebody has taken it back, it ends the process. An error if signals cannot be had.
pub fn interrupted() -> std::io::Result<Arc<AtomicBool>> {
    use signal_hook::consts::SIGINT;
    let flag = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register_conditional_shutdown(SIGINT, 130, Arc::clone(&flag))?;
    signal_hook::flag::register(SIGINT, Arc::clone(&flag))?;
    Ok(flag)
}

/// The panic payload that abandons a run. It is not an error.
struct GivenUp;

struct Engine {
    facts: Arc<Facts>,
    front: Box<dyn Front>,
    points: Points,
    mode: Mode,
    spot: Spot,
    /// The last statement of each running piece of code, the innermost last.
    running: Vec<SourceId>,
    /// The texts of the handlers that have run, by host.
    texts: BTreeMap<(usize, HandlerId), Texts>,
    fault: Option<Fault>,
    hosts: Hosts,
    /// Where the user was when he went back: there he returns to if he interrupts it.
    home: Option<u64>,
    /// Whether the front has quit.
    is_over: bool,
}

/// Receives the moments of one host.
struct Host {
    number: usize,
    engine: Arc<Mutex<Engine>>,
}

impl Observer for Host {
    fn see(&mut self, moment: &Moment<'_>) {
        lock(&self.engine).see(self.number, moment);
    }
}

/// Runs a target under a front's control, until the front quits.
pub fn run(target: &Target<'_>, front: Box<dyn Front>, world: &dyn World) -> Result<(), Failure> {
    run_faulty(target, front, world, None)
}

/// The same, with a planted fault.
#[doc(hidden)]
pub fn run_faulty(
    target: &Target<'_>,
    front: Box<dyn Front>,
    world: &dyn World,
    fault: Option<Fault>,
) -> Result<(), Failure> {
    let engine = Arc::new(Mutex::new(Engine {
        facts: target.facts(),
        front,
        points: Points::default(),
        mode: Mode::To(1, Why::Beginning),
        spot: Spot::default(),
        running: Vec::new(),
        texts: BTreeMap::new(),
        fault,
        hosts: Hosts::new(&target.clocks()),
        home: None,
        is_over: false,
    }));
    let observed = |number: usize| -> Observed { Arc::new(Mutex::new(Host { number, engine: Arc::clone(&engine) })) };
    let overseer = Overseeing { engine: Arc::clone(&engine), observed: &observed };
    loop {
        lock(&engine).begin();
        match catch_unwind(AssertUnwindSafe(|| target.run((&observed, &overseer), world))) {
            Ok(Ok(end)) => lock(&engine).ended(&end),
            // A run that never rests ends there, and can be looked at.
            Ok(Err(failure)) if lock(&engine).spot.count > 0 => {
                lock(&engine).ended(&End { failed: vec![format!("{}: {}", failure.message, failure.help)] });
            }
            Ok(Err(failure)) => return Err(failure),
            Err(thrown) if thrown.is::<GivenUp>() => {}
            Err(thrown) => resume_unwind(thrown),
        }
        if lock(&engine).is_over {
            // The machines know the engine, and it them.
            lock(&engine).hosts.begin();
            return Ok(());
        }
    }
}

impl Hosting for Engine {
    fn hosts(&mut self) -> &mut Hosts {
        &mut self.hosts
    }

    fn turned(&mut self, host: usize, begins: bool) {
        self.hosts.turned(host, begins);
        if matches!(self.mode, Mode::Forward(..)) {
            self.front.turned(&self.facts.hosts[host].name, self.hosts.shown(host), begins);
        }
    }
}

impl Engine {
    fn begin(&mut self) {
        self.spot = Spot::default();
        self.points.begin();
        self.hosts.begin();
    }

    /// Called at every moment of every host, in order.
    fn see(&mut self, host: usize, moment: &Moment<'_>) {
        self.spot.count += 1;
        let facts = Arc::clone(&self.facts);
        let texts = self.texts.entry((host, moment.handler));
        let texts = *texts.or_insert_with(|| facts.texts_of(moment.automaton(), moment.handler));
        match moment.what {
            What::Begins => (self.spot.instant, self.spot.depth) = (self.spot.instant + 1, 0),
            // With several texts, it is not yet known which one applies.
            What::Statement(_) if texts.are_several && is_head(&facts, moment) => {}
            _ => self.spot.depth = moment.frames().iter().map(|frame| moment.depth(frame)).sum(),
        }
        let goes_on = self.goes_on(moment);
        let here = self.spot;
        let point = if goes_on { None } else { self.met(host, moment, texts) };
        let is_asked = self.spot.count.is_multiple_of(ASKED_EACH) && self.front.interrupts();
        let asked = if self.home.is_some() { Why::AskedOnTheWayBack } else { Why::Asked };
        // If the run goes on as before, the moment may still be one to stop at.
        if is_asked && !matches!(self.stop(host, moment, asked), Go::Same | Go::Home) {
            return;
        }
        match self.mode {
            Mode::To(number, why) if here.count == number => {
                self.stop(host, moment, why);
            }
            Mode::To(..) => {}
            Mode::Forward(by, from) => {
                if let Some(why) = self.is_meant(by, from, (moment, texts), point) {
                    self.stop(host, moment, why);
                }
            }
            Mode::Search { from, found, .. } if here.count >= from.count => self.turn_to(found),
            Mode::Search { by, from, found } => {
                let found = self.is_meant(by, from, (moment, texts), point).map(|why| (here.count, why)).or(found);
                self.mode = Mode::Search { by, from, found };
            }
        }
    }

    /// Whether a statement goes on behind a call, where points have been met before.
    fn goes_on(&mut self, moment: &Moment<'_>) -> bool {
        let (What::Statement(source), Some(own)) = (moment.what, self.spot.depth.checked_sub(1)) else {
            if moment.what == What::Begins {
                self.running.clear();
            }
            return false;
        };
        let goes_on = self.running.len() > self.spot.depth && self.running.get(own) == Some(&source);
        self.running.resize(self.spot.depth, source);
        self.running[own] = source;
        goes_on
    }

    /// The point at a moment; log texts are printed only on the way forwards. Every run evaluates every moment, so that
    /// points are met equally often.
    fn met(&mut self, host: usize, moment: &Moment<'_>, texts: Texts) -> Option<u32> {
        let (facts, hosts, count) = (Arc::clone(&self.facts), &self.hosts, self.spot.count);
        let here = || Stopped::new((&facts, hosts), host, moment, (Why::Stepped, count));
        let met = self.points.met(&facts, (host, moment, texts), (count, &here));
        if matches!(self.mode, Mode::Forward(..)) {
            met.said.iter().for_each(|(point, text)| self.front.said(&facts.hosts[host].name, *point, text));
        }
        met.stops
    }

    /// Ends a search: abandons the run, and lets the next one go to what was found.
    fn turn_to(&mut self, found: Option<(u64, Why)>) {
        self.mode = self.aimed(found);
        resume_unwind(Box::new(GivenUp));
    }

    fn aimed(&self, found: Option<(u64, Why)>) -> Mode {
        let (number, why) = found.unwrap_or((1, Why::Beginning));
        let too_far = u64::from(self.fault == Some(Fault::TooFar) && number > 1);
        Mode::To(number - too_far, why)
    }

    /// Whether a moment is one at which a kind of step stops; when going backwards, `from` is where it began.
    fn is_meant(&self, by: By, from: Spot, (moment, texts): (&Moment<'_>, Texts), point: Option<u32>) -> Option<Why> {
        let is_statement =
            matches!(moment.what, What::Statement(_)) && !(texts.are_several && is_head(&self.facts, moment));
        let is_other = self.spot.instant != from.instant;
        let is_skipped = self.fault == Some(Fault::Skips) && self.spot.count.is_multiple_of(7);
        let is_stepped = match by {
            By::Statement => is_statement && !is_skipped,
            By::Over => is_statement && (is_other || self.spot.depth <= from.depth),
            By::Out => is_statement && (is_other || self.spot.depth < from.depth),
            By::Reaction => moment.what == What::Begins && begins_reaction(moment),
            By::Frame => moment.what == What::Begins && is_frame(moment),
            By::Point => false,
        };
        let point = || point.map(Why::Point);
        match is_stepped {
            true => Some(Why::Stepped),
            // On the way forwards points count for any kind of step; a step backwards is as long as requested.
            false if by == By::Point || matches!(self.mode, Mode::Forward(..)) => point(),
            false => None,
        }
    }

    fn stop(&mut self, host: usize, moment: &Moment<'_>, why: Why) -> Go {
        let stopped = Stopped::new((&self.facts, &self.hosts), host, moment, (why, self.spot.count));
        let go = self.front.stopped(&stopped, &mut self.points);
        if self.turned(go) {
            resume_unwind(Box::new(GivenUp));
        }
        go
    }

    fn ended(&mut self, end: &End) {
        match self.mode {
            // There was nothing more to find.
            Mode::Search { found, .. } => {
                self.mode = self.aimed(found);
            }
            Mode::To(..) | Mode::Forward(..) => loop {
                // After the last moment.
                self.spot = Spot { count: self.spot.count + 1, instant: self.spot.instant + 1, depth: 0 };
                let go = self.front.ended(end, &self.facts, &mut self.points);
                if self.turned(go) {
                    return;
                }
            },
        }
    }

    /// Applies the front's decision; returns whether the current run must be abandoned for it.
    fn turned(&mut self, go: Go) -> bool {
        // A handler that begins has not called anything yet.
        let from = Spot { depth: self.spot.depth.max(1), ..self.spot };
        (self.mode, self.is_over) = match go {
            Go::On => (Mode::Forward(By::Point, from), false),
            Go::Forward(by) => (Mode::Forward(by, from), false),
            Go::Back(by) => (Mode::Search { by, from, found: None }, false),
            Go::Restart => (Mode::To(1, Why::Beginning), false),
            Go::Home => (self.home.map_or(self.mode, |home| Mode::To(home, Why::Home)), false),
            Go::Same => (self.mode, false),
            Go::Quit => (self.mode, true),
        };
        match go {
            Go::Back(_) => self.home = Some(from.count),
            Go::Home | Go::Same => {}
            Go::On | Go::Forward(_) | Go::Restart | Go::Quit => self.home = None,
        }
        if go == Go::Restart {
            self.points.restart();
        }
        matches!(go, Go::Back(_) | Go::Restart | Go::Quit)
    }
}

/// Whether a handler begins a reaction, instead of being part of one.
fn begins_reaction(moment: &Moment<'_>) -> bool {
    matches!(moment.cause, Cause::Start | Cause::Input(_) | Cause::Expiry | Cause::Later)
}

fn is_frame(moment: &Moment<'_>) -> bool {
    let is_device = |port: mokume_reaction::PortId| {
        moment.automaton().ports.get(port.index()).is_some_and(|port| port.kind == PortKind::Device)
    };
    matches!(moment.cause, Cause::Input(port) if is_device(port))
}
