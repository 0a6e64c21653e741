//! `mokume run`: a stack on devices, until it is stopped.

use std::sync::atomic::AtomicBool;
use std::sync::Arc;

use mokume_base::world::World;
use mokume_base::SourceMap;
use mokume_reaction::{Accounts, Automaton, Machine, Output, Port, PortId};
use mokume_record::Kind;
use mokume_simulate::{Befell, Recorded, Weather};

use crate::compile::Compiled;
use crate::devices::capture::{CaptureWriter, LinkType};
use crate::devices::weather::Weathered;
use crate::devices::{self, Device};
use crate::dissect::link;
use crate::failure::Failure;
use crate::lines as spoken;
use crate::live::{self, Attached, Live, Said, Traffic, Until, Voice};
use crate::machines::{self, frame_event, Backend};
use crate::record::{self, Lines, Namer, Ran};
use crate::settings;
use crate::weather;

/// The options of the command line.
pub struct Request {
    pub devices: Vec<String>,
    pub set: Vec<(String, String)>,
    pub backend: Backend,
    pub seed: u64,
    pub nanoseconds: Option<u64>,
    pub pcap: Option<String>,
    /// The record file.
    pub record: Option<String>,
    /// The sources of the stack, if steps of layers are recorded.
    pub steps: Option<SourceMap>,
    /// `--weather`, each with the device in front if there are several.
    pub weather: Vec<String>,
    /// The event for each line of the standard input.
    pub lines: Option<String>,
}

/// The result of a run.
pub struct Report {
    pub traffic: Traffic,
    pub accounts: Accounts,
    pub reports: u64,
    /// By device: what the weather did to incoming and outgoing frames.
    pub weather: Vec<(String, [Befell; 2])>,
}

/// Runs until the time is over, a signal comes, or all captures have been played. `ready` is called when frames can be
/// received, with what to say of the devices; `heard` gets outputs of application ports, `said` reports.
pub fn run(
    compiled: &Compiled,
    request: &Request,
    world: &dyn World,
    ready: &mut dyn FnMut(&[String]),
    heard: &mut dyn FnMut(u64, &Output),
    said: &mut dyn FnMut(u64, &str),
) -> Result<Report, Failure> {
    let mut opened = open(compiled, request, world)?;
    let saying = |text: &String| spoken::Lines::new(&compiled.composed, &compiled.written, text);
    let mut speaker = request.lines.as_ref().map(saying).transpose()?;
    if speaker.is_some() {
        // Lines of input come in real time, even with captures.
        opened.live = opened.live.in_real_time();
    }
    let voice = speaker.as_mut().map(|speaker| speaker as &mut dyn Voice);
    let mut lines = request.record.as_deref().map(|name| Lines::open(world, name, false)).transpose()?;
    let mut reports = 0;
    ready(&opened.notes);
    let until = Until { nanoseconds: request.nanoseconds, stop: stop_on_signals()? };
    let mut hear = |at: u64, what: Said<'_>| match what {
        Said::Output(output) => heard(at, output),
        Said::Report(what) => {
            reports += 1;
            said(at, what);
        }
    };
    match &mut lines {
        Some(lines) => recorded(compiled, request, (&mut opened, lines), (&until, voice), &mut hear)?,
        None => live::run(opened.machine.as_mut(), &mut opened.live, &until, voice, &mut hear)?,
    }
    if let Some(unsent) = speaker.and_then(|speaker| speaker.unsent()) {
        hear(opened.live.now(), Said::Report(&unsent));
    }
    opened.report(&compiled.composed, reports)
}

/// Runs, and records what happens.
fn recorded(
    compiled: &Compiled,
    request: &Request,
    (opened, lines): (&mut Opened, &mut Lines),
    (until, voice): (&Until, Option<&mut (dyn Voice + '_)>),
    hear: &mut dyn FnMut(u64, Said<'_>),
) -> Result<(), Failure> {
    let automaton = &compiled.composed;
    let mut namer = Namer::of_stack(compiled);
    let (kind, name, seed, backend) = (Kind::Stack, automaton.name.as_str(), request.seed, request.backend);
    lines.head(&namer.head(&Ran { kind, name, place: None, seed, backend }));
    if let Some(sources) = &request.steps {
        namer = namer.with_steps(sources);
        opened.machine.trace();
    }
    let sink = Box::new(|record| record::write_down(record, &mut namer, lines));
    let mut machine = Recorded::new(opened.machine.as_mut(), record::devices(automaton), sink);
    let ran = live::run(&mut machine, &mut opened.live, until, voice, hear);
    let (last, at) = machine.last();
    drop(machine);
    lines.event(&record::end(last, at, Vec::new(), None));
    ran.and(lines.settle())
}

/// A stack on its devices that has not been started.
pub struct Opened {
    pub machine: Box<dyn Machine>,
    pub live: Live,
    /// What people should know of the devices.
    pub notes: Vec<String>,
}

impl Opened {
    /// The result; fails if the machine ran out of room.
    pub fn report(self, automaton: &Automaton, reports: u64) -> Result<Report, Failure> {
        machines::check_room(self.machine.as_ref(), "the stack")?;
        let named = |(port, befell): (PortId, _)| (automaton.ports[port.index()].name.clone(), befell);
        let weather = self.live.befell().into_iter().map(named).collect();
        Ok(Report { traffic: self.live.traffic, accounts: self.machine.accounts(), reports, weather })
    }
}

/// Opens the devices, and makes the machine with the settings and the devices' properties.
pub fn open(compiled: &Compiled, request: &Request, world: &dyn World) -> Result<Opened, Failure> {
    let automaton = &compiled.composed;
    let skies = skies(automaton, &request.weather, world)?;
    let mut attached = attach(automaton, &request.devices)?;
    let longest = attached.iter().map(|(attached, _)| attached.device.largest() + 18).max().unwrap_or(1536).max(2048);
    let given = |name: &str| {
        let (device, what) = name.rsplit_once('.')?;
        let (found, label) =
            attached.iter().find(|(attached, _)| automaton.ports[attached.port.index()].name == device)?;
        match what {
            "mac" => Some(devices::default_mac(label)),
            "mtu" => Some(u64::from(found.device.largest())),
            _ => None,
        }
    };
    let params = machines::parameters(automaton, &compiled.written, &request.set, &given)?;
    let machine = machines::machine(compiled, request.backend, &params, request.seed, longest, world)?;
    let capture =
        request.pcap.as_deref().map(|name| CaptureWriter::create(name, LinkType::of(automaton))).transpose()?;
    let beneath = |attached: Attached| match skies.iter().find(|(port, _)| *port == attached.port) {
        Some((port, weather)) => {
            // Independent of the stack's randomness, and different for each device.
            let seed = mokume_base::random::mix(request.seed ^ (port.index() as u64 + 1));
            Attached { device: Box::new(Weathered::new(attached.device, *weather, seed)), ..attached }
        }
        None => attached,
    };
    let notes = attached.iter().filter_map(|(attached, _)| attached.device.note()).collect();
    let devices: Vec<Attached> = attached.drain(..).map(|(attached, _)| beneath(attached)).collect();
    Ok(Opened { machine, live: Live::new(devices, capture, world.now()), notes })
}

/// The effects of a device's weather, for people.
pub fn weather_lines(device: &str, [came, went]: &[Befell; 2]) -> Vec<String> {
    let line = |way: &str, befell: &Befell| {
        let Befell { frames, lost, full, twice, late, turned, coming } = befell;
        format!(
            "weather at {device}, {way}: {frames} frames, {lost} lost, {full} found no room, {twice} twice, {late} late, {turned} with a \
             bit turned, {coming} still under way"
        )
    };
    vec![line("in", came), line("out", went)]
}

/// A flag that becomes true at the first signal that asks us to end, or tells that our reader is gone, so that captures
/// are complete.
pub fn stop_on_signals() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGTERM};
    for signal in [SIGHUP, SIGINT, SIGPIPE, SIGTERM] {
        signal_hook::flag::register(signal, stop.clone())
            .map_err(|error| Failure::of_use(format!("signals cannot be caught: {error}"), "use `--for`"))?;
    }
    Ok(stop)
}

/// Opens the named devices and connects each to its port; every device port of the stack needs one.
fn attach(automaton: &Automaton, texts: &[String]) -> Result<Vec<(Attached, String)>, Failure> {
    let ports = device_ports(automaton);
    if ports.is_empty() {
        return Err(Failure::of_use(
            "the stack has no device, so nothing can reach it",
            "give it a parameter `device: Device`",
        ));
    }
    let mut kinds: Vec<(usize, devices::Kind)> = Vec::new();
    for text in texts {
        let (name, kind) = devices::parse(text)?;
        let (port, described) = port_named(&ports, "--device", name.as_deref())?;
        if kinds.iter().any(|(known, _)| *known == port) {
            return Err(Failure::of_use(format!("device `{}` is given twice", described.name), "leave one out"));
        }
        kinds.push((port, kind));
    }
    for (port, described) in &ports {
        if !kinds.iter().any(|(known, _)| known == port) {
            return Err(Failure::of_use(
                format!("device `{}` of the stack is not given", described.name),
                format!("write `--device {}=tap:mok0`, `…=udp:127.0.0.1:7001` or `…=pcap:FILE`", described.name),
            ));
        }
    }
    let mut attached = Vec::new();
    for (port, kind) in kinds {
        let described = &automaton.ports[port];
        let frame_event = frame_event(described)
            .ok_or_else(|| Failure::of_program("the device's port takes no frames", "please report this"))?;
        let device = device_for(automaton, &described.name, &kind)?;
        attached.push((Attached { port: PortId::from(port), frame_event, device }, kind.label()));
    }
    Ok(attached)
}

/// Opens a device for the stack's device of that name. Refuses a capture whose frames are of another link.
pub fn device_for(automaton: &Automaton, name: &str, kind: &devices::Kind) -> Result<Box<dyn Device>, Failure> {
    let device = devices::open(kind)?;
    match device.link().filter(|link| !LinkType::fits(*link, automaton, name)) {
        None => Ok(device),
        Some(link) => Err(Failure::of_use(
            format!(
                "`{}` holds packets of link type {}, and `{name}` takes those of {}",
                kind.label(),
                link::name(link),
                link::name(LinkType::Ethernet.number())
            ),
            "`mokume dissect` reads such a capture; a stack without that layer can take it as its device",
        )),
    }
}

/// The requested weather, by the port of its device.
fn skies(automaton: &Automaton, texts: &[String], world: &dyn World) -> Result<Vec<(PortId, Weather)>, Failure> {
    let ports = device_ports(automaton);
    let mut skies: Vec<(PortId, Weather)> = Vec::new();
    for text in texts {
        let (name, words) = match text.split_once('=') {
            Some((name, words)) => (Some(name.trim()), words),
            None => (None, text.as_str()),
        };
        let (port, described) = port_named(&ports, "--weather", name)?;
        if skies.iter().any(|(known, _)| *known == PortId::from(port)) {
            return Err(Failure::of_use(format!("device `{}` has two weathers", described.name), "leave one out"));
        }
        skies.push((PortId::from(port), weather::read(words, world)?));
    }
    Ok(skies)
}

fn device_ports(automaton: &Automaton) -> Vec<(usize, &Port)> {
    crate::record::devices(automaton).into_iter().map(|port| (port.index(), &automaton.ports[port.index()])).collect()
}

/// The device port of this name, or the only one.
fn port_named<'a>(ports: &[(usize, &'a Port)], option: &str, name: Option<&str>) -> Result<(usize, &'a Port), Failure> {
    let found = match name {
        Some(name) => ports.iter().find(|(_, port)| port.name == name),
        None if ports.len() == 1 => ports.first(),
        None => None,
    };
    let names = || ports.iter().map(|(_, port)| port.name.as_str()).collect::<Vec<_>>().join(", ");
    found.copied().ok_or_else(|| match name {
        Some(name) => Failure::of_use(format!("the stack has no device `{name}`"), format!("it has: {}", names())),
        None => Failure::of_use(
            "the stack has several devices",
            format!("say which: `{option} NAME=…` with NAME of {}", names()),
        ),
    })
}

/// Splits `--set NAME=VALUE`.
pub fn setting(text: &str) -> Result<(String, String), Failure> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => Ok((name.to_string(), value.to_string())),
        _ => Err(Failure::of_use(format!("`{text}` sets nothing"), "write `--set NAME=VALUE`")),
    }
}

/// Parses `--for 10s`.
pub fn duration(text: &str) -> Result<u64, Failure> {
    settings::duration(text)
        .ok_or_else(|| Failure::of_use(format!("`{text}` is no duration"), "write `10s`, `500ms` or `2min`"))
}
