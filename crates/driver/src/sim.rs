//! `mokume sim`: runs a file's network in virtual time, and makes its record.

#[cfg(test)]
mod again;
mod against;
mod alone;
mod casts;
mod on_the_way;
mod overseer;
mod rounds;
pub mod seeds;
pub mod shrink;
mod stacks;
mod tallies;
mod watch;

use std::collections::btree_map::{BTreeMap, Entry};
use std::collections::BTreeSet;
use std::sync::Arc;

use mokume_base::world::World;
use mokume_base::{render, Diagnostic, Span};
use mokume_interpret::{Instance, Observed};
use mokume_lower::Protocols;
use mokume_reaction::{Accounts, Automaton, Datum, Machine, Output, PortId};
use mokume_record::{Event, Kind};
use mokume_script::{PortEvent, Written};
use mokume_semantics::program::{self, Name, Network};
pub use mokume_simulate::Keep;
use mokume_simulate::{
    Again, Called, Clock, Clocked, Host, Ill, Medium, Mishap, Much, Outage, Partition, Record, RecordedEvent, Restless,
    Simulation, Unfulfilled, Why,
};

use crate::chosen::{chosen, Things};
use crate::compile::{self, Checked, Compiled};
use crate::failure::Failure;
use crate::machines::frame_event;
use crate::machines::{self, Backend, Noted};
use crate::record::{self, Namer, Ran};

pub use alone::Applications;
pub use on_the_way::OnTheWay;
use overseer::Overseen;
pub use overseer::Overseer;
use tallies::Wrong;
pub use watch::Failed;
use watch::{Events, Watcher};

/// The stack, by number, whose hosts are watched, and how.
pub type Watched<'a> = (u32, Noted<'a>);

/// A finished run.
pub struct Run {
    /// The network's name.
    pub name: String,
    pub seed: u64,
    pub backend: Backend,
    pub keep: Keep,
    pub hosts: Vec<HostRun>,
    pub media: Vec<String>,
    pub records: Vec<Record>,
    /// Virtual nanoseconds.
    pub until: u64,
    /// Expectations that were not met, the earliest first.
    pub failed: Vec<Failed>,
    /// The places of `when` lines whose outputs never came, `demo.mok:7`.
    pub unmet: Vec<String>,
    /// The random fates of frames, if recorded.
    pub noted: Vec<(u64, Mishap)>,
    /// If it ended early: when, and why.
    pub restless: Option<(u64, Restless)>,
}

/// One host of a run: its stack, and its accounts.
pub struct HostRun {
    pub name: String,
    pub automaton: Automaton,
    pub written: Arc<Written>,
    pub accounts: Accounts,
}

/// The network of this name, or the only one.
pub fn choose<'c>(checked: &'c Checked, name: Option<&str>) -> Result<&'c Network, Failure> {
    let networks = &checked.program.networks;
    let things = Things {
        names: networks.iter().map(|network| &network.name).collect(),
        sources: &checked.sources,
        roots: &checked.roots,
        one: "network",
        none: "write `network Name { host a = Stack(…) … }`",
        several: "choose one with `--network NAME`",
        names_all: false,
    };
    let default = checked.manifest.defaults.network.as_deref();
    chosen(&things, name, default).map(|index| &networks[index])
}

/// A network that can be run, any number of times.
pub struct Prepared<'a> {
    pub checked: &'a Checked,
    pub network: &'a Network,
    compiled: &'a BTreeMap<u32, Compiled>,
    events: Events,
    media: Vec<Medium>,
    backend: Backend,
    /// The back end that it is compared with.
    against: Option<Backend>,
}

/// How to run a prepared network.
pub struct How {
    pub seed: u64,
    pub keep: Keep,
    pub weather: Sky,
}

/// The source of a run's weather.
#[derive(Clone)]
pub enum Sky {
    /// Random, from the seed and the links' options.
    Seeded,
    /// The same, and recorded in [`Run::noted`].
    Noted,
    /// Calm, with the least delay, except for these mishaps.
    Calm(Vec<Mishap>),
}

impl<'a> Prepared<'a> {
    /// `compiled` has the network's stacks by number.
    pub fn new(
        checked: &'a Checked,
        network: &'a Network,
        compiled: &'a BTreeMap<u32, Compiled>,
        backend: Backend,
    ) -> Result<Self, Failure> {
        let events = Events::of(&checked.program, network, &|stack| {
            compiled.get(&stack).map(|compiled| (&compiled.composed, &compiled.protocols))
        });
        let events = events.map_err(|wrong| failure_of(checked, wrong))?;
        let media = network.links.iter().map(|link| medium(network, compiled, link)).collect::<Result<Vec<_>, _>>()?;
        Ok(Prepared { checked, network, compiled, events, media, backend, against: None })
    }

    /// Runs it from start to end. `progress` is told the time.
    pub fn run(&self, how: How, world: &dyn World, progress: &mut dyn FnMut(u64)) -> Result<Run, Failure> {
        self.run_by(self.backend, how, world, progress)
    }

    fn run_by(
        &self,
        backend: Backend,
        how: How,
        world: &dyn World,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Run, Failure> {
        let (network, compiled) = (self.network, self.compiled);
        let makes = Makes { network, compiled, watched: None, made: None, backend, seed: how.seed };
        let run = self.run_with(makes.hosts(world)?, makes.outages(world)?, how, (progress, None))?;
        Ok(Run { backend, ..run })
    }

    /// The same on the interpreter, with the hosts of one stack watched.
    pub fn watched(
        &self,
        how: How,
        watched: Watched<'_>,
        world: &dyn World,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Run, Failure> {
        let (network, compiled, backend) = (self.network, self.compiled, Backend::Interpreter);
        let makes = Makes { network, compiled, watched: Some(watched), made: None, backend, seed: how.seed };
        self.run_with(makes.hosts(world)?, makes.outages(world)?, how, (progress, None))
    }

    /// The same on the interpreter, with an observer for each host.
    pub fn observed(&self, how: How, observed: &dyn Fn(usize) -> Observed, world: &dyn World) -> Result<Run, Failure> {
        let (network, compiled, backend) = (self.network, self.compiled, Backend::Interpreter);
        let made = |host: usize, mut instance: Instance| -> Box<dyn Machine> {
            instance.watch(observed(host));
            Box::new(instance)
        };
        let makes = Makes { network, compiled, watched: None, made: Some(&made), backend, seed: how.seed };
        self.run_with(makes.hosts(world)?, makes.outages(world)?, how, (&mut |_| {}, None))
    }

    /// The same on the interpreter, with an overseer.
    pub fn overseen(&self, how: How, overseer: &dyn Overseer, world: &dyn World) -> Result<Run, Failure> {
        let (network, compiled, backend) = (self.network, self.compiled, Backend::Interpreter);
        let made = |host: usize, instance: Instance| overseer.machine(host, instance);
        let makes = Makes { network, compiled, watched: None, made: Some(&made), backend, seed: how.seed };
        let (hosts, outages) = (makes.hosts(world)?, makes.outages(world)?);
        self.run_with(hosts, outages, how, (&mut |at| overseer.time(at), Some(overseer)))
    }

    /// The clock of a host.
    pub fn clock(&self, host: usize) -> Clock {
        let own = self.network.clocks.iter().find(|clock| clock.host as usize == host);
        own.map_or(Clock::default(), |clock| Clock { ahead: clock.ahead, gains: clock.gains })
    }

    /// A stack of the network, compiled.
    pub fn stack(&self, stack: program::StackId) -> &'a Compiled {
        &self.compiled[&stack.0]
    }

    fn run_with(
        &self,
        hosts: Vec<Host>,
        outages: Vec<Outage>,
        how: How,
        (progress, overseer): (&mut dyn FnMut(u64), Option<&dyn Overseer>),
    ) -> Result<Run, Failure> {
        let mishaps = self.mishaps(&how.weather);
        let (seed, keep) = (how.seed, how.keep);
        let looks = self.network.tallies.iter().map(|tally| tally.until).collect();
        let mut simulation = self.simulation(hosts, how, mishaps.clone()).failing(outages).looking(looks);
        let automata = self.automata();
        let mut watcher = Watcher::new(&self.events, self.network, &automata);
        let mut overseen = Overseen { watcher: &mut watcher, overseer };
        let records = simulation.run_watched(self.network.until, &mut overseen, progress).to_vec();
        let restless = simulation.restless().cloned().map(|why| (simulation.now(), why));
        for host in &simulation.hosts {
            machines::check_room(&*host.machine, &format!("host `{}`", host.name))?;
        }
        for (host, machine) in simulation.ended() {
            machines::check_room(&**machine, &format!("host `{}`", simulation.hosts[*host].name))?;
        }
        let hosts: Vec<HostRun> = simulation
            .hosts
            .iter()
            .zip(&self.network.hosts)
            .enumerate()
            .map(|(number, (host, described))| HostRun {
                name: host.name.clone(),
                automaton: self.compiled[&described.stack.0].composed.clone(),
                written: self.compiled[&described.stack.0].written.clone(),
                accounts: simulation.accounts(number),
            })
            .collect();
        let show = |host: usize, output: &Output| hosts[host].output(output.port, output.event, &output.args);
        let written = |host: usize| &*self.compiled[&self.network.hosts[host].stack.0].written;
        let mut failed = watcher.failed(&self.checked.sources, (&show, &written));
        failed.extend(watcher.broken(&self.checked.sources, self.network.until));
        let accounts = |at: u64, host: usize| simulation.accounts_at(at, host);
        let wrong = self.events.tallies.wrong(self.network, &automata, &accounts);
        failed.extend(wrong.into_iter().map(|wrong| self.miscounted(wrong)));
        failed.extend(simulation.unfulfilled().into_iter().map(|what| self.unfulfilled(&mishaps, what)));
        failed.sort_by_key(|failed| failed.at);
        let media = simulation.media.iter().map(|medium| medium.name.clone()).collect();
        let noted = simulation.noted().to_vec();
        let (name, backend, until) = (self.network.name.text.clone(), self.backend, self.network.until);
        let sources = &self.checked.sources;
        let place =
            |span: Span| format!("{}:{}", sources.file(span.file).name, sources.line_column(span.file, span.start).0);
        let unmet = watcher.unmet().into_iter().map(place).collect();
        Ok(Run { name, seed, backend, keep, hosts, media, records, until, failed, unmet, noted, restless })
    }

    /// The record of a run that kept everything, with names.
    pub fn record(&self, run: &Run) -> record::Run {
        let hosts = self.network.hosts.iter().map(|host| (host.name.text.as_str(), &self.compiled[&host.stack.0]));
        let mut namer = Namer::new(hosts, run.media.iter().cloned());
        let (kind, name, seed, backend) = (Kind::Network, run.name.as_str(), run.seed, run.backend);
        let head = namer.head(&Ran { kind, name, place: None, seed, backend });
        if run.keep == Keep::Steps {
            namer = namer.with_steps(&self.checked.sources);
        }
        let mut events: Vec<Event> = run.records.iter().cloned().map(|record| namer.event(record)).collect();
        let sources = namer.take_sources();
        let failed = |failed: &Failed| mokume_record::Failed {
            at: failed.at,
            place: failed.place.clone(),
            wanted: failed.wanted.clone(),
            found: failed.found.clone(),
        };
        let failed = run.failed.iter().map(failed).collect();
        let at = run.restless.as_ref().map_or(run.until, |(at, _)| *at);
        let last = events.last().map_or(0, |event| event.id);
        events.push(record::end(last, at, failed, run.restless_text()));
        record::Run { head, sources, events }
    }

    /// The mishaps: first those of the weather, then those of the network's text, with their places.
    fn mishaps(&self, weather: &Sky) -> Vec<(Mishap, Option<Span>)> {
        let own = faults(self.network, &self.automata());
        let own = own.into_iter().map(|(mishap, span)| (mishap, Some(span)));
        match weather {
            Sky::Seeded | Sky::Noted => own.collect(),
            Sky::Calm(mishaps) => mishaps.iter().cloned().map(|mishap| (mishap, None)).chain(own).collect(),
        }
    }

    fn miscounted(&self, wrong: Wrong<'_>) -> Failed {
        let Wrong { tally, is_too_much, found } = wrong;
        let sources = &self.checked.sources;
        let (place, wanted) = (watch::place(sources, tally.span), watch::text(sources, tally.span));
        Failed { at: tally.until, place, wanted, is_too_much, found, ..Failed::default() }
    }

    fn unfulfilled(&self, mishaps: &[(Mishap, Option<Span>)], what: Unfulfilled) -> Failed {
        let (place, at, found) = match what {
            Unfulfilled::NoFrame { mishap, sent } => {
                let frames = if sent == 1 { "frame" } else { "frames" };
                (mishap, self.network.until, format!("there is no such frame: the device sent {sent} {frames}"))
            }
            Unfulfilled::NoBit { mishap, at, bit, octets } => {
                (mishap, at, format!("the frame has {octets} octets, and no bit {bit}"))
            }
        };
        let (mishap, span) = &mishaps[place];
        let (place, wanted) = match span {
            Some(span) => (watch::place(&self.checked.sources, *span), watch::text(&self.checked.sources, *span)),
            None => (String::new(), shrink::line(self, mishap)),
        };
        Failed { at, place, wanted, found, ..Failed::default() }
    }

    fn simulation(&self, hosts: Vec<Host>, how: How, mishaps: Vec<(Mishap, Option<Span>)>) -> Simulation {
        let mut media = self.media.clone();
        if let Sky::Calm(_) = &how.weather {
            media.iter_mut().for_each(|medium| medium.weather = medium.weather.calm());
        }
        let mishaps = mishaps.into_iter().map(|(mishap, _)| mishap).collect();
        let script = self.events.script();
        let simulation = Simulation::new(hosts, media, script, how.seed).keeping(how.keep);
        let simulation = simulation.parted(partitions(self.network)).befallen(mishaps);
        match how.weather {
            Sky::Noted => simulation.noting(),
            Sky::Seeded | Sky::Calm(_) => simulation,
        }
    }

    /// The composed stacks of the hosts.
    pub(crate) fn automata(&self) -> Vec<&'a Automaton> {
        self.network.hosts.iter().map(|host| &self.compiled[&host.stack.0].composed).collect()
    }
}

impl HostRun {
    /// `udp.accepted(session 3, 10.0.0.1, 4000, 10.0.0.2, 7)`
    pub fn output(&self, port: PortId, event: u32, args: &[Datum]) -> String {
        let output = &self.automaton.ports[port.index()].outputs[event as usize];
        self.call(PortEvent::output(port, output), args)
    }

    fn input(&self, port: PortId, event: u32, args: &[Datum]) -> String {
        let input = &self.automaton.ports[port.index()].inputs[event as usize];
        self.call(PortEvent::input(port, input), args)
    }

    fn call(&self, event: PortEvent<'_>, args: &[Datum]) -> String {
        let port = &self.automaton.ports[event.port.index()].name;
        format!("{port}.{}{}", event.name, record::arguments(&self.automaton, &self.written, event, args))
    }
}

impl Run {
    fn restless_text(&self) -> Option<String> {
        let name = |host: usize| self.hosts.get(host).map_or("?", |host| &host.name);
        self.restless.as_ref().map(|(at, why)| restless(*at, why, name))
    }

    /// The cause of a report, for people: `as frame #3 came`.
    fn brought_by(&self, cause: Option<u64>) -> String {
        let found = cause.and_then(|cause| self.records.iter().find(|record| record.id == cause));
        match found.map(|record| &record.what) {
            Some(RecordedEvent::Started { .. }) => "as it started".to_string(),
            Some(RecordedEvent::Restarted { .. }) => "as it began again".to_string(),
            Some(RecordedEvent::Woken { .. }) => "as a timer was due".to_string(),
            Some(RecordedEvent::Arrived { number, .. }) => format!("as frame #{number} came"),
            Some(RecordedEvent::Input { host, port, event, args, .. }) => {
                format!("on {}", self.hosts[*host].input(*port, *event, args))
            }
            _ => String::new(),
        }
    }

    /// Fails if the run ended early.
    pub fn come_to_rest(self) -> Result<Run, Failure> {
        let help = self.restless.as_ref().map(|(_, why)| restless_help(why));
        match self.restless_text() {
            Some(text) => Err(Failure::of_program(text, help.unwrap_or_default())),
            None => Ok(self),
        }
    }
}

/// What may be changed if a run ended early.
fn restless_help(why: &Restless) -> &'static str {
    match why {
        Restless::Many { answers: false, .. } => {
            "send less often, or give the link a `rate` and a `queue`, so that it loses what is too much"
        }
        Restless::Many { .. } => {
            "does each frame bring about more than one, by `duplicate`, by three or more hosts that answer each other, or by an answer of several \
             frames? A longer `delay` only lets it take longer"
        }
        Restless::Hurried { by, .. } if !by.is_empty() => {
            "do hosts answer each other over a link whose `delay` is some nanoseconds, or does each frame bring about more than one?"
        }
        Restless::AtOnce { .. } | Restless::Hurried { .. } => {
            "is there a timer of 0 s or of some nanoseconds, a `later` that calls itself, a `when` that brings itself about, or do hosts answer each \
             other over a link without `delay`?"
        }
    }
}

/// `a, b and c`; the first few of many.
fn all_of(names: &[String]) -> String {
    match names {
        [] => "a host".to_string(),
        [one] => one.clone(),
        [some @ .., last] if names.len() <= NAMED => format!("{} and {last}", some.join(", ")),
        many => format!("{} and {} more", many[..NAMED - 1].join(", "), many.len() + 1 - NAMED),
    }
}

/// The most hosts that are named.
const NAMED: usize = 6;

/// The message for a run that ended early.
fn restless<'a>(at: u64, why: &Restless, name: impl Fn(usize) -> &'a str) -> String {
    let named = |hosts: &BTreeSet<usize>| {
        let names: Vec<String> = hosts.iter().map(|host| format!("`{}`", name(*host))).collect();
        all_of(&names)
    };
    match why {
        Restless::AtOnce { by, hosts, last } => {
            let (all, are) = (named(hosts), if hosts.len() == 1 { "is" } else { "are" });
            let what = match by {
                Again::Due => format!("{all} {are} due again at once, for ever"),
                Again::Frames => format!("frames are answered by frames at this time without end, by {all}"),
                Again::Events => {
                    format!("{all} {are} called at this time without end, each call brought about by another")
                }
            };
            let event = |called: &Called| {
                let host = name(called.host);
                match called.why {
                    Why::Frame(number) => format!("frame #{number} comes to `{host}`"),
                    Why::Due => format!("a timer or `later` of `{host}` is due"),
                    Why::Input => format!("`{host}` gets an input"),
                }
            };
            let last: Vec<String> = last.iter().map(event).collect();
            format!("the network does not come to rest at {at} ns: {what}; the last calls: {}", last.join(", "))
        }
        Restless::Many { at_once, frames, answers, hosts } => {
            let are = match at_once {
                true => "arrive at this time, all sent earlier",
                false => "are on their way",
            };
            let what = match answers {
                true => format!("frames multiply, by the answers of {}", named(hosts)),
                false => format!("they are sent by {}", named(hosts)),
            };
            format!("the network does not come to rest at {at} ns: {frames} frames {are}: {what}")
        }
        Restless::Hurried { host, much, within, by } => {
            let host = name(*host);
            let much = match much {
                Much::Calls(calls) => format!("was called {calls} times"),
                Much::Effects(effects) => format!("sent, put out and reported {effects} times"),
            };
            let by = match by.is_empty() {
                true => String::new(),
                false => format!(", by frames that {} answered frames with", named(by)),
            };
            format!("the network makes no headway at {at} ns: host `{host}` {much} within {within} ns{by}")
        }
    }
}

fn failure_of(checked: &Checked, wrong: Diagnostic) -> Failure {
    let place = wrong
        .primary
        .as_ref()
        .map_or(String::new(), |label| format!("{}: ", watch::place(&checked.sources, label.span)));
    Failure::of_program(format!("{place}{}", wrong.message), wrong.helps.join("; "))
}

/// What is needed to make the machines of hosts.
struct Makes<'m> {
    network: &'m Network,
    /// The network's stacks by number.
    compiled: &'m BTreeMap<u32, Compiled>,
    watched: Option<Watched<'m>>,
    /// Makes the machine of a host, by its number, from an instance of its layers.
    made: Option<&'m dyn Fn(usize, Instance) -> Box<dyn Machine>>,
    backend: Backend,
    seed: u64,
}

impl Makes<'_> {
    /// The hosts of the network, each with its own machine and seed.
    fn hosts(&self, world: &dyn World) -> Result<Vec<Host>, Failure> {
        let mut hosts = Vec::new();
        for (number, host) in self.network.hosts.iter().enumerate() {
            let machine = self.machine(number, &host.settings, 0, world)?;
            let automaton = &self.compiled[&host.stack.0].composed;
            let frame_events = (0..automaton.ports.len())
                .filter_map(|port| Some((PortId::from(port), frame_event(&automaton.ports[port])?)))
                .collect();
            hosts.push(Host {
                name: host.name.text.clone(),
                machine,
                frame_events,
                turned_down: [automaton.within_credit(), automaton.within_length()].concat(),
            });
        }
        Ok(hosts)
    }

    /// The crashes and restarts; each restart has a new machine, whose seed depends on the life.
    fn outages(&self, world: &dyn World) -> Result<Vec<Outage>, Failure> {
        let mut outages = Vec::new();
        let mut lives = vec![0; self.network.hosts.len()];
        for outage in &self.network.outages {
            let host = outage.host as usize;
            let again = match &outage.again {
                Some(settings) => {
                    lives[host] += 1;
                    Some(self.machine(host, settings, lives[host], world)?)
                }
                None => None,
            };
            outages.push(Outage { host, at: outage.at, again });
        }
        Ok(outages)
    }

    fn machine(
        &self,
        host: usize,
        settings: &[(Name, Vec<u64>)],
        life: u64,
        world: &dyn World,
    ) -> Result<Box<dyn Machine>, Failure> {
        let stack = self.network.hosts[host].stack.0;
        let compiled = &self.compiled[&stack];
        let params = host_parameters(compiled, settings, host)?;
        let seed = self.seed.wrapping_add(host as u64).wrapping_add(life << 32);
        let machine = match (self.watched.filter(|(watched, _)| *watched == stack), self.made) {
            (Some((_, noted)), _) => machines::watched(compiled, &params, seed, noted),
            (None, Some(made)) => made(host, machines::layers(compiled, &params, seed)),
            (None, None) => machines::machine(compiled, self.backend, &params, seed, self.longest(), world)?,
        };
        let clock = self.network.clocks.iter().find(|clock| clock.host as usize == host);
        Ok(match clock {
            Some(clock) => Box::new(Clocked::new(machine, Clock { ahead: clock.ahead, gains: clock.gains })),
            None => machine,
        })
    }

    /// The most octets of a message in an input.
    fn longest(&self) -> u32 {
        let steps = self.network.script.iter().map(|(_, _, step)| step);
        let steps = steps.chain(self.network.whens.iter().map(|when| &when.step));
        let longest = steps.map(program::Step::longest).max().unwrap_or(0);
        u32::try_from(longest).unwrap_or(u32::MAX).clamp(2048, u32::MAX - 512)
    }
}

/// Compiles each stack of a network once.
pub fn stacks(checked: &Checked, network: &Network, world: &dyn World) -> (BTreeMap<u32, Compiled>, Vec<Diagnostic>) {
    let mut all = BTreeMap::new();
    let mut diagnostics = Vec::new();
    for host in &network.hosts {
        let Entry::Vacant(place) = all.entry(host.stack.0) else { continue };
        let (compiled, found) = compile::compile(checked, host.stack, world);
        diagnostics.extend(found);
        place.insert(compiled);
    }
    // Stacks have layers in common, and these their mistakes.
    render::sort(&mut diagnostics);
    (all.into_iter().filter_map(|(stack, compiled)| Some((stack, compiled?))).collect(), diagnostics)
}

/// The same for a network that can be run; else the errors of its stacks or of its steps.
pub fn sound_stacks(
    checked: &Checked,
    network: &Network,
    world: &dyn World,
) -> Result<BTreeMap<u32, Compiled>, Vec<Diagnostic>> {
    let (stacks, diagnostics) = stacks(checked, network, world);
    if compile::has_errors(&diagnostics) {
        return Err(diagnostics);
    }
    let wrong =
        wrong_steps(checked, network, &|stack| stacks.get(&stack).map(|stack| (&stack.composed, &stack.protocols)));
    if wrong.is_empty() {
        Ok(stacks)
    } else {
        Err(wrong)
    }
}

fn partitions(network: &Network) -> Vec<Partition> {
    let hosts = |of: &[u32]| of.iter().map(|host| *host as usize).collect();
    let partition = |cut: &mokume_semantics::program::Partition| Partition {
        hosts: hosts(&cut.hosts),
        from: cut.from,
        until: cut.until,
    };
    network.partitions.iter().map(partition).collect()
}

fn host_parameters(stack: &Compiled, settings: &[(Name, Vec<u64>)], number: usize) -> Result<Vec<u64>, Failure> {
    let set = mokume_lower::settings(&stack.composed, settings);
    let names = stack.composed.params.iter().map(|param| param.name.as_str());
    let macs: Vec<&str> = names.filter(|name| name.ends_with(".mac")).collect();
    let given = |name: &str| {
        let found = set.iter().find(|(known, _)| known == name).map(|(_, word)| *word);
        // Each device has its own station address: routers tell their links apart by it.
        let device = || macs.iter().position(|known| *known == name);
        found.or_else(|| Some(0x0200_0000_0001 + ((device()? as u64) << 16) + number as u64))
    };
    machines::parameters(&stack.composed, &stack.written, &[], &given)
}

/// The port of a host's device.
fn device(automaton: &Automaton, device: u32) -> Option<PortId> {
    record::devices(automaton).get(device as usize).copied()
}

/// The faults of single frames in the network's text, with their places.
fn faults(network: &Network, automata: &[&Automaton]) -> Vec<(Mishap, Span)> {
    let member = |(host, of): (u32, u32)| Some((host as usize, device(automata[host as usize], of)?));
    let ill = |what: &program::Mishap| match *what {
        program::Mishap::Lost => Ill::Lost,
        program::Mishap::Late(late) => Ill::Late(late),
        program::Mishap::Turned(bit) => Ill::Turned(bit),
        program::Mishap::Twice(late) => Ill::Twice(late),
    };
    let mishap = |fault: &program::FrameFault| {
        let to = fault.to.map(member);
        let from = member(fault.from)?;
        let to = if let Some(to) = to { Some(to?) } else { None };
        Some((Mishap { from, number: fault.number, to, what: fault.what.iter().map(ill).collect() }, fault.span))
    };
    network.faults.iter().filter_map(mishap).collect()
}

fn medium(
    network: &Network,
    compiled: &BTreeMap<u32, Compiled>,
    link: &program::NetworkLink,
) -> Result<Medium, Failure> {
    let members = link
        .devices
        .iter()
        .map(|(host, of)| {
            let automaton = &compiled[&network.hosts[*host as usize].stack.0].composed;
            device(automaton, *of)
                .map(|port| (*host as usize, port))
                .ok_or_else(|| Failure::of_program("a link names a device that its host does not have", "see `stack`"))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let weather = crate::weather::of(link);
    Ok(Medium { name: link.name.text.clone(), members, weather })
}

/// Reports inputs and outputs that do not fit their host's stack; hosts without an automaton are skipped.
pub fn wrong_steps<'a>(
    checked: &Checked,
    network: &Network,
    compiled: &dyn Fn(u32) -> Option<(&'a Automaton, &'a Protocols)>,
) -> Vec<Diagnostic> {
    Events::wrong(&checked.program, network, compiled)
}
