//! `mokume sim`: a file's network in virtual time, as records, a capture and a chart.

use std::collections::BTreeMap;
use std::sync::Arc;

use mokume_base::world::World;
use mokume_base::Diagnostic;
use mokume_draw::{Chart, Direction, Event, MessageId, Unit};
use mokume_reaction::{Accounts, Automaton, Datum, Handle, PortId, Type};
use mokume_script::Written;
use mokume_semantics::program::{Name, Network, Step};
pub use mokume_simulate::Keep;
use mokume_simulate::{Fate, Host, Medium, Partition, Record, RecordedEvent, ScriptedInput, Simulation, Weather};

use crate::compile::{self, Checked, Compiled};
use crate::devices::capture::{CaptureWriter, LinkType};
use crate::failure::Failure;
use crate::labels::{text_of, Labels};
use crate::machines::{self, Backend};
use crate::run::frame_event;

/// A finished run.
pub struct Run {
    pub hosts: Vec<HostRun>,
    pub media: Vec<String>,
    pub records: Vec<Record>,
    /// Virtual nanoseconds.
    pub until: u64,
}

/// One host of a run: what it ran, and what became of its messages.
pub struct HostRun {
    pub name: String,
    pub automaton: Automaton,
    pub written: Arc<Written>,
    pub accounts: Accounts,
}

/// Which network is meant.
pub fn choose<'c>(checked: &'c Checked, name: Option<&str>) -> Result<&'c Network, Failure> {
    let networks = &checked.program.networks;
    let own: Vec<&Network> =
        networks.iter().filter(|network| checked.roots.contains(&network.name.span.file)).collect();
    let names = own.iter().map(|network| network.name.text.as_str()).collect::<Vec<_>>().join(", ");
    match name.or(checked.manifest.defaults.network.as_deref()) {
        Some(name) => networks
            .iter()
            .find(|network| network.name.text == name)
            .ok_or_else(|| Failure::of_use(format!("there is no network `{name}`"), format!("there are: {names}"))),
        None => match own.as_slice() {
            [one] => Ok(one),
            [] => Err(Failure::of_use("the file has no network", "write `network Name { host a = Stack(…) … }`")),
            _ => Err(Failure::of_use(
                format!("the file has several networks: {names}"),
                "choose one with `--network NAME`",
            )),
        },
    }
}

/// Runs it. `compiled` has the network's stacks by number.
pub fn run(
    checked: &Checked,
    network: &Network,
    compiled: &BTreeMap<u32, Compiled>,
    backend: Backend,
    seed: u64,
    keep: Keep,
    world: &dyn World,
    progress: &mut dyn FnMut(u64),
) -> Result<Run, Failure> {
    let hosts = hosts(network, compiled, backend, seed, world)?;
    let media = network.links.iter().map(|link| medium(network, compiled, link)).collect::<Result<Vec<_>, _>>()?;
    let script = script(checked, network, compiled)?;
    let mut simulation = Simulation::new(hosts, media, script, seed).keeping(keep).parted(partitions(network));
    let records = simulation.run(network.until, progress).to_vec();
    if simulation.is_restless() {
        return Err(Failure::of_program(
            format!(
                "the network does not come to rest at {} ns: a host is due again at once, for ever",
                simulation.now()
            ),
            "is there a timer of 0 s, or a `later` that calls itself?",
        ));
    }
    for host in &simulation.hosts {
        machines::check_room(&*host.machine, &format!("host `{}`", host.name))?;
    }
    let hosts = simulation
        .hosts
        .iter()
        .zip(&network.hosts)
        .map(|(host, described)| HostRun {
            name: host.name.clone(),
            automaton: compiled[&described.stack.0].composed.clone(),
            written: compiled[&described.stack.0].written.clone(),
            accounts: host.machine.accounts(),
        })
        .collect();
    let media = simulation.media.iter().map(|medium| medium.name.clone()).collect();
    Ok(Run { hosts, media, records, until: network.until })
}

/// The hosts of a network, each with a machine and a seed of its own.
fn hosts(
    network: &Network,
    compiled: &BTreeMap<u32, Compiled>,
    backend: Backend,
    seed: u64,
    world: &dyn World,
) -> Result<Vec<Host>, Failure> {
    let mut hosts = Vec::new();
    for (number, host) in network.hosts.iter().enumerate() {
        let stack = &compiled[&host.stack.0];
        let params = host_parameters(stack, &host.settings, number)?;
        let machine = machines::machine(stack, backend, &params, seed.wrapping_add(number as u64), 2048, world)?;
        let automaton = &stack.composed;
        let frame_events = (0..automaton.ports.len())
            .filter_map(|port| Some((PortId::from(port), frame_event(&automaton.ports[port])?)))
            .collect();
        hosts.push(Host { name: host.name.text.clone(), machine, frame_events, seen_handles: Vec::new() });
    }
    Ok(hosts)
}

/// Compiles each stack of a network once.
pub fn stacks(
    checked: &Checked,
    network: &Network,
    world: &dyn World,
) -> (BTreeMap<u32, Compiled>, Vec<mokume_base::Diagnostic>) {
    let mut all = BTreeMap::new();
    let mut diagnostics = Vec::new();
    for host in &network.hosts {
        if !all.contains_key(&host.stack.0) {
            let (compiled, found) = compile::compile(checked, host.stack, world);
            diagnostics.extend(found);
            if let Some(compiled) = compiled {
                all.insert(host.stack.0, compiled);
            }
        }
    }
    (all, diagnostics)
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
    let given = |name: &str| {
        let found = set.iter().find(|(known, _)| known == name).map(|(_, word)| *word);
        found.or_else(|| name.ends_with(".mac").then_some(0x0200_0000_0001 + number as u64))
    };
    machines::parameters(&stack.composed, &stack.written, &[], &given)
}

fn medium(
    network: &Network,
    compiled: &BTreeMap<u32, Compiled>,
    link: &mokume_semantics::program::NetworkLink,
) -> Result<Medium, Failure> {
    let members = link
        .devices
        .iter()
        .map(|(host, device)| {
            let automaton = &compiled[&network.hosts[*host as usize].stack.0].composed;
            let ports =
                automaton.ports.iter().enumerate().filter(|(_, port)| port.kind == mokume_reaction::PortKind::Device);
            let port = ports.map(|(index, _)| PortId::from(index)).nth(*device as usize);
            port.map(|port| (*host as usize, port))
                .ok_or_else(|| Failure::of_program("a link names a device that its host does not have", "see `stack`"))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let weather = Weather {
        loss: link.loss,
        duplicate: link.duplicate,
        reorder: link.reorder,
        corrupt: link.corrupt,
        delay: link.delay,
    };
    Ok(Medium { name: link.name.text.clone(), members, weather })
}

fn script(
    checked: &Checked,
    network: &Network,
    compiled: &BTreeMap<u32, Compiled>,
) -> Result<Vec<ScriptedInput>, Failure> {
    let mut inputs = Vec::new();
    for (at, host, step) in &network.script {
        let automaton = &compiled[&network.hosts[*host as usize].stack.0].composed;
        let input = mokume_lower::input(&checked.program, automaton, step, &seen).map_err(|diagnostic| {
            Failure::of_program(
                format!("{}: {}", place(&checked.sources, step), diagnostic.message),
                diagnostic.helps.join("; "),
            )
        })?;
        let host = *host as usize;
        inputs.push(ScriptedInput { at: *at, host, port: input.port, event: input.event, args: input.args });
    }
    Ok(inputs)
}

/// Steps that do not fit the stack of their host; hosts without an automaton are left out.
pub fn wrong_steps<'a>(
    checked: &Checked,
    network: &Network,
    automaton: &dyn Fn(u32) -> Option<&'a Automaton>,
) -> Vec<Diagnostic> {
    let wrong = |(_, host, step): &(u64, u32, Step)| {
        let of = automaton(network.hosts.get(*host as usize)?.stack.0)?;
        mokume_lower::input(&checked.program, of, step, &seen).err()
    };
    network.script.iter().filter_map(wrong).collect()
}

fn place(sources: &mokume_base::SourceMap, step: &Step) -> String {
    let (line, column) = sources.line_column(step.span.file, step.span.start);
    format!("{}:{line}:{column}", sources.file(step.span.file).name)
}

/// `s1`, `s2`, …: the host's first, second, … session that an output has shown.
fn seen(name: &str) -> Option<Datum> {
    let number: u32 = name.strip_prefix('s')?.parse().ok()?;
    Some(Datum::Handle(Handle { object: ScriptedInput::SEEN, generation: number.checked_sub(1)? }))
}

/// What was on the media, in order of time, each frame once.
pub fn capture(run: &Run, name: &str) -> Result<u64, Failure> {
    let private = |host: &HostRun| LinkType::of(&host.automaton) == LinkType::Private;
    let link = if run.hosts.iter().any(private) { LinkType::Private } else { LinkType::Ethernet };
    let mut writer = CaptureWriter::create(name, link)?;
    let mut count = 0;
    for record in &run.records {
        if let RecordedEvent::Sent { frame, .. } = &record.what {
            writer.write(record.at, frame)?;
            count += 1;
        }
    }
    writer.flush()?;
    Ok(count)
}

/// The run as a sequence chart.
pub fn chart(run: &Run, title: &str) -> Chart {
    let names: Vec<&str> = run.hosts.iter().map(|host| host.name.as_str()).collect();
    let labels: Vec<Labels<'_>> = run.hosts.iter().map(|host| Labels::new(&host.automaton)).collect();
    let mut chart = Chart::new(title, Unit::Nanoseconds, &names);
    let mut numbers = BTreeMap::new();
    let mut next = 0;
    for record in &run.records {
        match &record.what {
            RecordedEvent::Sent { host, number, frame, fates, .. } => {
                for (to, fate) in fates {
                    let message = MessageId(next);
                    next += 1;
                    numbers.insert((*number, *to), message);
                    chart.push(
                        record.at,
                        Event::Send { from: *host, to: *to, message, label: labels[*host].label(frame) },
                    );
                    if *fate == Fate::Lost {
                        chart.push(record.at, Event::Lose { message });
                    }
                }
            }
            RecordedEvent::Arrived { host, number, .. } => {
                if let Some(message) = numbers.get(&(*number, *host)) {
                    chart.push(record.at, Event::Receive { message: *message });
                }
            }
            RecordedEvent::Input { host, port, event, args, .. } => {
                let text = run.hosts[*host].input(*port, *event, args);
                chart.push(record.at, Event::Call { at: *host, direction: Direction::In, label: text });
            }
            RecordedEvent::Output { host, port, event, args } => {
                let text = run.hosts[*host].output(*port, *event, args);
                chart.push(record.at, Event::Call { at: *host, direction: Direction::Out, label: text });
            }
            RecordedEvent::Reported { host, report, place } => {
                chart.push(record.at, Event::Violation { label: format!("{}: {report:?} at {place}", names[*host]) });
            }
        }
    }
    chart
}

impl HostRun {
    /// `udp.bind(1, 10.0.0.1, 4000)`
    fn input(&self, port: PortId, event: u32, args: &[Datum]) -> String {
        let known = &self.automaton.ports[port.index()];
        let input = &known.inputs[event as usize];
        format!(
            "{}.{}{}",
            known.name,
            input.event,
            arguments(&self.automaton, &self.written, port, &input.params, args)
        )
    }

    /// `udp.accepted(session 3, 10.0.0.1, 4000, 10.0.0.2, 7)`
    pub fn output(&self, port: PortId, event: u32, args: &[Datum]) -> String {
        let known = &self.automaton.ports[port.index()];
        let output = &known.outputs[event as usize];
        format!(
            "{}.{}{}",
            known.name,
            output.event,
            arguments(&self.automaton, &self.written, port, &output.params, args)
        )
    }
}

/// `(1, "hello", session 3, 10.0.0.1)`: what goes with an event of a port, whose parameters `params` are.
pub fn arguments(
    automaton: &Automaton,
    written: &Written,
    port: PortId,
    params: &[(String, Type)],
    args: &[Datum],
) -> String {
    let word = |at: usize| match args.get(at) {
        Some(Datum::Word(word)) => Some(*word),
        Some(Datum::Handle(_) | Datum::Message(_)) | None => None,
    };
    let other = |at: usize| match args.get(at) {
        Some(Datum::Word(word)) => word.to_string(),
        Some(Datum::Handle(Handle::NULL)) => "null".to_string(),
        Some(Datum::Handle(handle)) => format!("session {}", handle.object),
        Some(Datum::Message(octets)) => text_of(octets),
        None => "?".to_string(),
    };
    format!("({})", written.arguments(automaton, port, params, &word, &other).join(", "))
}

/// One line of a run's log.
pub struct LogLine {
    pub at: u64,
    pub host: String,
    pub text: String,
}

impl LogLine {
    /// The line for scripts; `at` is in nanoseconds since the start.
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({ "at": self.at, "host": self.host, "event": self.text })
    }
}

/// Every event of a run.
pub fn log(run: &Run) -> Vec<LogLine> {
    run.records
        .iter()
        .map(|record| {
            let (host, text) = log_text(run, &record.what);
            LogLine { at: record.at, host: run.hosts[host].name.clone(), text }
        })
        .collect()
}

fn log_text(run: &Run, what: &RecordedEvent) -> (usize, String) {
    let refused = |refused: bool| if refused { " REFUSED" } else { "" };
    match what {
        RecordedEvent::Sent { host, medium, number, frame, fates, .. } => {
            let fates: Vec<String> = fates
                .iter()
                .map(|(to, fate)| match fate {
                    Fate::Lost => format!("{} lost", run.hosts[*to].name),
                    Fate::Arrives(times) => format!("{} ×{}", run.hosts[*to].name, times.len()),
                })
                .collect();
            (*host, format!("sends #{number} on {}: {} octets ({})", run.media[*medium], frame.len(), fates.join(", ")))
        }
        RecordedEvent::Arrived { host, number, refused: no, .. } => {
            (*host, format!("receives #{number}{}", refused(*no)))
        }
        RecordedEvent::Input { host, port, event, args, refused: no } => {
            (*host, format!("<- {}{}", run.hosts[*host].input(*port, *event, args), refused(*no)))
        }
        RecordedEvent::Output { host, port, event, args } => {
            (*host, format!("-> {}", run.hosts[*host].output(*port, *event, args)))
        }
        RecordedEvent::Reported { host, report, place } => (*host, format!("REPORT {report:?} at {place}")),
    }
}
