//! Records of runs: turns what simulation and devices record into names of the program; files; charts, logs and
//! captures.
//!
//! Keeps: the same run has the same record, whichever back end runs the stacks.

mod apart;
mod file;
mod page;
mod show;
mod steps;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use mokume_base::SourceMap;
use mokume_reaction::border::plain_name;
use mokume_reaction::{
    Automaton, Datum, Fallible, Handle, LayerId, OpKind, PortId, PortKind, ReasonId, SourceId, Type,
};
use mokume_record::packet::Packet;
use mokume_record::{Arg, Copy, Ended, Event, Failed, Head, Host, Kind, Loss, Lost, Value, What, VERSION};
pub use mokume_script::PortEvent;
use mokume_script::Written;
use mokume_simulate::{Ending, Fate, Record, RecordedEvent};

use crate::compile::Compiled;
use crate::devices::capture::LinkType;
use crate::dissect::link::Front;
use crate::dissect::{self, Dissection, Dissector};
use crate::machines::Backend;

pub use apart::{apart, comparable, first_state_difference, line, Apart};
pub use file::{read, Lines};
use mokume_record::steps::Source;
pub use mokume_record::{Run, SCHEMA};
pub use page::page;
pub use show::{capture, chart, first_difference, log, Part};
pub(crate) use show::{first_difference_of_all, ignored};
use steps::Files;

/// What was run, for the head of a record.
pub struct Ran<'a> {
    pub kind: Kind,
    pub name: &'a str,
    /// The place of a test.
    pub place: Option<String>,
    pub seed: u64,
    pub backend: Backend,
}

/// A host, and the names for its events.
struct Side<'a> {
    name: &'a str,
    automaton: &'a Automaton,
    /// The uncomposed layers, in whose terms steps are recorded.
    layers: &'a Automaton,
    written: &'a Written,
    /// For summaries of its frames.
    dissector: Rc<Dissector>,
    /// By reason, what ends messages for it.
    enders: BTreeMap<(ReasonId, bool), Enders>,
}

/// The layers that end messages for a reason, and the places.
#[derive(Clone, Default)]
struct Enders {
    layers: Vec<String>,
    places: Vec<String>,
}

/// A host, and the name of one of its devices.
type At<'a> = (usize, &'a str);

/// Makes events of records: numbers become names.
pub struct Namer<'a> {
    hosts: Vec<Side<'a>>,
    media: Vec<String>,
    /// Frames that were sent and may still arrive: by which host, on which device, and their octets.
    sent: BTreeMap<u64, (usize, String, Vec<u8>)>,
    /// If steps are recorded: the source files that they refer to.
    files: Option<Files<'a>>,
}

impl<'a> Namer<'a> {
    /// Hosts and media are in the order of the simulation.
    pub fn new(
        hosts: impl IntoIterator<Item = (&'a str, &'a Compiled)>,
        media: impl IntoIterator<Item = String>,
    ) -> Namer<'a> {
        let mut known: Vec<(&Compiled, Rc<Dissector>)> = Vec::new();
        let mut sides = Vec::new();
        for (name, compiled) in hosts {
            let found = known.iter().find(|(of, _)| std::ptr::eq(*of, compiled)).map(|(_, found)| Rc::clone(found));
            let dissector = found.unwrap_or_else(|| Rc::new(dissect::of_compiled(compiled)));
            known.push((compiled, Rc::clone(&dissector)));
            let (automaton, written) = (&compiled.composed, &*compiled.written);
            let layers = &compiled.uncomposed;
            sides.push(Side { name, automaton, layers, written, dissector, enders: BTreeMap::new() });
        }
        Namer { hosts: sides, media: media.into_iter().collect(), sent: BTreeMap::new(), files: None }
    }

    /// Records steps, too, and fields of frames; `sources` are the files of the stacks.
    pub fn with_steps(mut self, sources: &'a SourceMap) -> Self {
        self.files = Some(Files::new(sources));
        self
    }

    /// The source files that events have referred to since the last time.
    pub fn take_sources(&mut self) -> Vec<Source> {
        self.files.as_mut().map_or_else(Vec::new, Files::take)
    }

    /// For one stack: its devices are the media.
    pub fn of_stack(compiled: &'a Compiled) -> Namer<'a> {
        let automaton = &compiled.composed;
        let media = devices(automaton).into_iter().map(|port| automaton.ports[port.index()].name.clone());
        Namer::new([(automaton.name.as_str(), compiled)], media)
    }

    /// The head of a record.
    pub fn head(&self, ran: &Ran<'_>) -> Head {
        let is_private = |side: &Side<'_>| LinkType::of(side.automaton) == LinkType::Private;
        let link = if self.hosts.iter().any(is_private) { LinkType::Private } else { LinkType::Ethernet };
        let lowest = |side: &Side<'_>| side.dissector.lowest();
        let host = |side: &Side<'_>| Host {
            name: side.name.to_string(),
            stack: side.automaton.name.clone(),
            lowest: lowest(side),
        };
        Head {
            record: VERSION,
            kind: ran.kind,
            name: ran.name.to_string(),
            place: ran.place.clone(),
            seed: ran.seed,
            backend: ran.backend.name().to_string(),
            link: link.number(),
            hosts: self.hosts.iter().map(host).collect(),
            media: self.media.clone(),
        }
    }

    /// A simulation's record as an event with names.
    pub fn event(&mut self, record: Record) -> Event {
        let Record { id, cause, at, what, did } = record;
        let side = &self.hosts[what.host()];
        let host = Some(side.name.to_string());
        let did = did.filter(|_| self.files.is_some()).map(|did| Box::new(steps::did(side.layers, side.written, *did)));
        self.files.iter_mut().zip(&did).for_each(|(files, did)| files.name(did));
        Event { id, cause, at, host, what: self.what(what), did }
    }

    fn what(&mut self, what: RecordedEvent) -> What {
        let port_name = |side: &Side<'_>, port: PortId| side.automaton.ports[port.index()].name.clone();
        match what {
            RecordedEvent::Started { .. } => What::Starts,
            RecordedEvent::Woken { .. } => What::Wakes,
            RecordedEvent::Input { host, port, event, args: data, refused } => {
                let side = &self.hosts[host];
                let input = &side.automaton.ports[port.index()].inputs[event as usize];
                let args = args(side.automaton, side.written, PortEvent::input(port, input), &data);
                What::Input { port: port_name(side, port), name: input.event.clone(), args, refused }
            }
            RecordedEvent::Output { host, port, event, args: data } => {
                let side = &self.hosts[host];
                let output = &side.automaton.ports[port.index()].outputs[event as usize];
                let args = args(side.automaton, side.written, PortEvent::output(port, output), &data);
                What::Output { port: port_name(side, port), name: output.event.clone(), args }
            }
            RecordedEvent::Sent { host, port, medium, number, frame, fates } => {
                let side = &self.hosts[host];
                let port = port_name(side, port);
                let dissection = side.dissector.dissect(&frame, side.dissector.frame_of(&port));
                let by = self.refused_by((host, &port), &dissection, &frame, &fates);
                let about = [dissection.label(&frame), by].concat();
                let packet = self.files.is_some().then(|| Box::new(dissect::json::of_packet(&dissection)));
                let (copies, lost) = self.fates(fates);
                if !copies.is_empty() {
                    self.sent.insert(number, (host, port.clone(), frame.clone()));
                }
                What::Sends {
                    frame: number,
                    port,
                    medium: self.media[medium].clone(),
                    about,
                    octets: frame,
                    copies,
                    lost,
                    packet,
                }
            }
            RecordedEvent::Arrived { host, port, number, frame, refused } => {
                let sent = self.sent.get(&number);
                let sender =
                    sent.filter(|(_, _, octets)| *octets == frame).map(|(sender, port, _)| (*sender, port.as_str()));
                let port = port_name(&self.hosts[host], port);
                let packet = self.files.is_some().then(|| self.received((host, &port), sender, &frame)).flatten();
                let dissector = &self.hosts[host].dissector;
                let label = || dissector.dissect(&frame, dissector.frame_of(&port)).label(&frame);
                // A test or a device outside has fed it.
                let about = sent.is_none().then(label);
                let octets = sender.is_none().then_some(frame);
                What::Receives { frame: number, port, about, octets, refused, packet }
            }
            RecordedEvent::Ended { host, how, reason, count } => {
                let side = &mut self.hosts[host];
                let (automaton, layers) = (side.automaton, side.layers);
                let enders = side
                    .enders
                    .entry((reason, how == Ending::Dropped))
                    .or_insert_with(|| enders((automaton, layers, &side.written.refusals), reason, how))
                    .clone();
                let reason = automaton.reasons[reason.index()].name.clone();
                let ended = Ended { reason, count, layers: enders.layers, places: enders.places };
                match how {
                    Ending::Dropped => What::Drops(ended),
                    Ending::Consumed => What::Consumes(ended),
                }
            }
            RecordedEvent::Gone { count, .. } => What::Gone { count },
            RecordedEvent::Unheard { number, .. } => What::Misses { frame: number },
            RecordedEvent::Crashed { .. } => What::Crashes,
            RecordedEvent::Restarted { .. } => What::Restarts,
            RecordedEvent::Reported { report, place, .. } => What::Reports { report: report.word().to_string(), place },
        }
    }

    /// A frame as the receiver's stack reads it; `None` if it came from `sender` as it was sent, and the sender's stack reads it in the same way.
    fn received(&self, receiver: At<'_>, sender: Option<At<'_>>, frame: &[u8]) -> Option<Box<Packet>> {
        let packet = |(host, port): At<'_>| {
            let dissector = &self.hosts[host].dissector;
            dissect::json::of_packet(&dissector.dissect(frame, dissector.frame_of(port)))
        };
        let is_same = |sender: At<'_>| {
            sender.1 == receiver.1 && Rc::ptr_eq(&self.hosts[sender.0].dissector, &self.hosts[receiver.0].dissector)
        };
        match sender {
            Some(sender) if is_same(sender) => None,
            Some(sender) => Some(packet(receiver)).filter(|read| *read != packet(sender)).map(Box::new),
            None => Some(Box::new(packet(receiver))),
        }
    }

    /// Who refuses a frame of those that it reaches whole, in words; `dissection` is that by the sender's stack.
    fn refused_by(
        &self,
        (sender, port): At<'_>,
        dissection: &Dissection,
        frame: &[u8],
        fates: &[((usize, PortId), Fate)],
    ) -> String {
        let of = |side: &Side<'_>, front: Front| (std::ptr::from_ref(side.automaton), front);
        let side = &self.hosts[sender];
        let mut known = vec![(of(side, side.dissector.frame_of(port)), dissection.is_refused())];
        let mut by = Vec::new();
        for ((to, device), fate) in fates {
            let Fate::Arrives(_) = fate else { continue };
            let side = &self.hosts[*to];
            let front = side.dissector.frame_of(&side.automaton.ports[device.index()].name);
            let is_refused = match known.iter().find(|(stack, _)| *stack == of(side, front)) {
                Some((_, is_refused)) => *is_refused,
                None => {
                    let is_refused = side.dissector.dissect(frame, front).is_refused();
                    known.push((of(side, front), is_refused));
                    is_refused
                }
            };
            if is_refused && !by.contains(&side.name) {
                by.push(side.name);
            }
        }
        match by.is_empty() {
            true => String::new(),
            false => format!(" (refused by {})", by.join(", ")),
        }
    }

    fn fates(&self, fates: Vec<((usize, PortId), Fate)>) -> (Vec<Copy>, Vec<Lost>) {
        let (mut copies, mut lost) = (Vec::new(), Vec::new());
        for ((to, _), fate) in fates {
            let to = self.hosts[to].name.to_string();
            match fate {
                Fate::Lost(why) => lost.push(Lost { to, by: loss(why) }),
                Fate::Arrives(coming) => {
                    let copy = |coming: mokume_simulate::record::Coming| Copy {
                        to: to.clone(),
                        at: coming.at,
                        turned: coming.turned,
                    };
                    copies.extend(coming.into_iter().map(copy));
                }
            }
        }
        (copies, lost)
    }
}

fn loss(loss: mokume_simulate::Loss) -> Loss {
    match loss {
        mokume_simulate::Loss::Weather => Loss::Weather,
        mokume_simulate::Loss::Partition => Loss::Partition,
        mokume_simulate::Loss::Queue => Loss::Queue,
    }
}

/// Writes an event, after the source files that it refers to.
pub fn write_down(record: Record, namer: &mut Namer<'_>, lines: &mut Lines) {
    let event = namer.event(record);
    lines.sources(&namer.take_sources());
    lines.event(&event);
}

/// The end of a run, after the event of this number.
pub fn end(last: u64, at: u64, failed: Vec<Failed>, restless: Option<String>) -> Event {
    Event { id: last + 1, cause: None, at, host: None, what: What::Ends { failed, restless }, did: None }
}

/// `(1, "hello", session 3, 10.0.0.1)`: the arguments of a port's event.
pub fn arguments(automaton: &Automaton, written: &Written, event: PortEvent<'_>, data: &[Datum]) -> String {
    mokume_record::arguments(&args(automaton, written, event, data))
}

/// The ports of a stack whose messages are frames.
pub fn devices(automaton: &Automaton) -> Vec<PortId> {
    let ports = automaton.ports.iter().enumerate();
    ports.filter(|(_, port)| port.kind == PortKind::Device).map(|(at, _)| PortId::from(at)).collect()
}

/// The arguments of a port's event.
fn args(automaton: &Automaton, written: &Written, event: PortEvent<'_>, data: &[Datum]) -> Vec<Arg> {
    let params = event.params;
    let mut found = Vec::new();
    for group in written.groups(event) {
        // An input that could not be made has fewer.
        let places = group.first..group.first + group.count;
        if places.end > data.len() {
            break;
        }
        let words: Option<Vec<u64>> = data[places.clone()].iter().map(word).collect();
        if let (Some(form), Some(numbers)) = (group.form, words) {
            let (name, written) = (name_of(&params[places]), form.write(&numbers));
            found.push(Arg { name, value: Value::Number { numbers, written } });
            continue;
        }
        for at in places {
            let (name, ty) = &params[at];
            let value = match &data[at] {
                Datum::Word(word) => {
                    Value::Number { numbers: vec![*word], written: mokume_script::scalar(automaton, *ty, *word) }
                }
                Datum::Handle(Handle::NULL) => Value::NoSession,
                Datum::Handle(Handle { object, generation }) => {
                    Value::Session { object: *object, generation: *generation }
                }
                Datum::Message(octets) => Value::Message { octets: octets.clone() },
            };
            found.push(Arg { name: plain_name(name), value });
        }
    }
    found
}

fn word(datum: &Datum) -> Option<u64> {
    match datum {
        Datum::Word(word) => Some(*word),
        Datum::Handle(_) | Datum::Message(_) => None,
    }
}

/// `host` from `host_high` and `host_low`.
fn name_of(params: &[(String, Type)]) -> String {
    let Some(((first, _), others)) = params.split_first() else { return String::new() };
    let same = |name: &str| first.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
    let length = others.iter().map(|(name, _)| same(name)).min().unwrap_or(first.len());
    let common = first.get(..length).unwrap_or(first);
    plain_name(common.trim_end_matches(['_', '.']))
}

/// A value without its notation, as in the log.
pub(crate) fn datum(datum: &Datum) -> String {
    match datum {
        Datum::Word(word) => word.to_string(),
        Datum::Handle(Handle::NULL) => "null".to_string(),
        Datum::Handle(handle) => mokume_record::session(handle.object, handle.generation),
        Datum::Message(octets) => mokume_record::text_of(octets),
    }
}

/// What ends messages for a reason: the statements that name it; for a wire's reason, which no statement names, the layers that read by the
/// wire, and the field that refuses, where that is known.
fn enders(
    (automaton, layers, refusals): (&Automaton, &Automaton, &BTreeMap<String, String>),
    reason: ReasonId,
    how: Ending,
) -> Enders {
    let name = &automaton.reasons[reason.index()].name;
    let is_its = |wire: &mokume_reaction::Wire| name.strip_prefix(&wire.name).is_some_and(|rest| rest.starts_with('.'));
    let (mut named, mut decoded) = (Found::default(), Found::default());
    for (layer, body) in automaton.code() {
        let reads = body.attempts().any(|attempt| match attempt {
            Fallible::Decode { wire, .. } | Fallible::Validate { wire, .. } => is_its(&automaton.wires[wire.index()]),
            _ => false,
        });
        for op in body.blocks.iter().flat_map(|block| &block.ops) {
            match &op.kind {
                OpKind::Drop { reason: of, .. } if *of == reason && how == Ending::Dropped => {
                    named.add(layer, op.source);
                }
                OpKind::Consume { reason: of, .. } | OpKind::ConsumeHeld { reason: of, .. }
                    if *of == reason && how == Ending::Consumed =>
                {
                    named.add(layer, op.source);
                }
                OpKind::DropFor { .. } if reads => decoded.add(layer, op.source),
                _ => {}
            }
        }
    }
    let field = refusals.get(name).filter(|_| named.layers.is_empty() && !decoded.layers.is_empty());
    if let Some(field) = field {
        return Enders { places: vec![field.clone()], ..decoded.told(automaton) };
    }
    let found = if named.layers.is_empty() { decoded } else { named };
    match found.layers.is_empty() {
        true => decided(layers, name).told(layers),
        false => found.told(automaton),
    }
}

/// The statements that drop a message for a reason that is a value, and may be this one.
fn decided(layers: &Automaton, name: &str) -> Found {
    let mut found = Found::default();
    let is_it = |reason: &ReasonId| layers.reasons.get(reason.index()).is_some_and(|reason| reason.name == name);
    for (layer, body) in layers.code() {
        for op in body.ops() {
            let OpKind::DropFor { reason, .. } = op.kind else { continue };
            let origins = mokume_dissect::reasons::origins(body, reason);
            if origins.other || origins.named.iter().any(is_it) {
                found.add(layer, op.source);
            }
        }
    }
    found
}

#[derive(Default)]
struct Found {
    layers: BTreeSet<LayerId>,
    places: BTreeSet<SourceId>,
}

impl Found {
    fn told(&self, automaton: &Automaton) -> Enders {
        let place = |source: &SourceId| {
            let source = automaton.sources.get(source.index())?;
            Some(format!("{}:{}", source.file, source.line))
        };
        let places: BTreeSet<String> = self.places.iter().filter_map(place).collect();
        let layers = self.layers.iter().map(|layer| automaton.layers[layer.index()].name.clone());
        Enders { layers: layers.collect(), places: places.into_iter().collect() }
    }

    fn add(&mut self, layer: LayerId, source: Option<SourceId>) {
        self.layers.insert(layer);
        self.places.extend(source);
    }
}
