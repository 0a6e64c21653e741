//! What became of messages before an expected output did not come: frames that were lost or are still under way, and messages that
//! layers dropped.

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::world::World;
use mokume_record::{arguments, Arg, Event, Loss, Lost, Value, What};

use super::{Failed, How, Keep, Prepared, Run, Sky};
use crate::failure::Failure;
use crate::record;

/// What was lost or dropped, or had not arrived yet, each with its time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OnTheWay {
    /// The last that were: frames with a message of an application first, and what was on its way to the expecting host
    /// before other things; of each the earliest first.
    pub shown: Vec<(u64, String)>,
    /// How many there were in all.
    pub all: usize,
    /// Hosts that no link joins to another.
    pub apart: Vec<String>,
}

/// What happened, each with its time.
type Things = Vec<(u64, String)>;

/// What became of something on its way, and whom it was for.
struct Found {
    at: u64,
    /// Whether it was for the host whose output is missing.
    near: bool,
    /// Whether it was a frame with a message of an application in it.
    carries: bool,
    text: String,
}

/// Messages that applications sent.
struct Sent<'r>(BTreeSet<&'r [u8]>);

impl<'r> Sent<'r> {
    /// The most that are looked for, and the fewest octets of one: fewer are in a frame by chance.
    const MOST: usize = 256;
    const FEWEST: usize = 3;

    fn of(run: &'r record::Run) -> Sent<'r> {
        let inputs = run.events.iter().filter_map(|event| match &event.what {
            What::Input { args, refused: false, .. } => Some(args),
            _ => None,
        });
        let messages = inputs.flat_map(|args| messages(args)).filter(|octets| octets.len() >= Self::FEWEST);
        let mut sent = BTreeSet::new();
        for message in messages {
            if sent.len() < Self::MOST {
                sent.insert(message);
            }
        }
        Sent(sent)
    }

    fn is_in(&self, frame: &[u8]) -> bool {
        self.0.iter().any(|message| frame.windows(message.len()).any(|part| part == *message))
    }
}

/// The most things that are shown.
const MOST: usize = 4;

/// The most frames of a run that is made once more to see what was lost; a longer one takes too much memory.
const FRAMES: u64 = 200_000;

impl Prepared<'_> {
    /// The record of a run in which expected outputs did not come, made once more if the run did not keep it; `None` if it is
    /// not needed, or the run is too long.
    pub fn kept(&self, run: &Run, world: &dyn World) -> Result<Option<record::Run>, Failure> {
        let frames: u64 = run.hosts.iter().map(|host| host.accounts.received).sum();
        if !run.failed.iter().any(Failed::is_missing) || run.restless.is_some() {
            return Ok(None);
        }
        match run.keep {
            Keep::All | Keep::Steps => Ok(Some(self.record(run))),
            Keep::Reports if frames > FRAMES => Ok(None),
            Keep::Reports => {
                let how = How { seed: run.seed, keep: Keep::All, weather: Sky::Seeded };
                Ok(Some(self.record(&self.run(how, world, &mut |_| {})?)))
            }
        }
    }

    /// What was lost or dropped before an expected output did not come; `None` for other failures.
    pub fn on_the_way(&self, record: &record::Run, failed: &Failed) -> Option<OnTheWay> {
        let index = failed.expectation.filter(|_| failed.is_missing())?;
        let host = self.network.expectations[index].output.host as usize;
        let is_joined = |host: u32| {
            let mut links = self.network.links.iter().map(|link| &link.devices).filter(|devices| devices.len() > 1);
            links.any(|devices| devices.iter().any(|(joined, _)| *joined == host))
        };
        let hosts = (0..).zip(&self.network.hosts).filter(|(number, _)| !is_joined(*number));
        let apart = hosts.map(|(_, host)| host.name.text.clone()).collect();
        Some(OnTheWay { apart, ..on_the_way(record, &self.network.hosts[host].name.text, failed.at) })
    }
}

impl Failed {
    /// Whether it is an expected output that came too seldom, or not at all.
    pub fn is_missing(&self) -> bool {
        self.expectation.is_some() && !self.is_too_much
    }
}

/// What was lost or dropped in a run up to a time, for an output of a host.
fn on_the_way(run: &record::Run, host: &str, until: u64) -> OnTheWay {
    let others = record::ignored(run);
    let mut frames: Frames = BTreeMap::new();
    let sent = Sent::of(run);
    let mut all: Vec<Found> = Vec::new();
    for event in run.events.iter().filter(|event| event.at <= until) {
        let at = event.host.as_deref().unwrap_or_default();
        let mut found = |at: u64, to: &str, frame: &[u8], text: String| {
            all.push(Found { at, near: to == host, carries: sent.is_in(frame), text });
        };
        match &event.what {
            What::Sends { frame, about, lost, copies, octets, .. } => {
                for copy in copies.iter().filter(|copy| copy.at > until) {
                    let text = format!("#{frame} {about} from {at} to {}: still under way, it would arrive", copy.to);
                    found(copy.at, &copy.to, octets, text);
                }
                frames.insert(*frame, (at, about.as_str(), octets.as_slice()));
                for Lost { to, by } in lost {
                    found(event.at, to, octets, format!("#{frame} {about} from {at} to {to}: {}", words(*by)));
                }
            }
            What::Misses { frame } => {
                let (from, about, octets) = frames.get(frame).copied().unwrap_or_default();
                found(event.at, at, octets, format!("#{frame} {about} from {from} to {at}: {at} had crashed"));
            }
            What::Drops(_) if event.cause.is_some_and(|cause| others.contains(&cause)) => {}
            What::Drops(ended) => {
                let times = if ended.count == 1 { String::new() } else { format!(", {} messages", ended.count) };
                let places = match ended.places.is_empty() {
                    true => String::new(),
                    false => format!(" ({})", ended.places.join(", ")),
                };
                let (of, octets) = of(run, &frames, event);
                found(event.at, at, octets, format!("{of}{at} dropped it: {}{places}{times}", ended.reason));
            }
            What::Gone { count } => {
                let (of, octets) = of(run, &frames, event);
                let messages = if *count == 1 { "a message" } else { "messages" };
                found(event.at, at, octets, format!("{of}{messages} of {at} went with their session or object"));
            }
            What::Input { port, name, args, refused: true } => {
                found(
                    event.at,
                    at,
                    message_of(args),
                    format!("{at}.{port}.{name}{}: {at} refused it", arguments(args)),
                );
            }
            What::Receives { frame, refused: true, .. } => {
                let (from, about, octets) = frames.get(frame).copied().unwrap_or_default();
                let text = format!("#{frame} {about} from {from} to {at}: {at} had no room for it");
                found(event.at, at, octets, text);
            }
            _ => {}
        }
    }
    let mut shown: Things = Vec::new();
    for (carries, near) in [(true, true), (true, false), (false, true), (false, false)] {
        let like = all.iter().filter(|found| (found.carries, found.near) == (carries, near));
        let mut last: Things =
            like.rev().take(MOST - shown.len()).map(|found| (found.at, found.text.clone())).collect();
        last.reverse();
        shown.extend(last);
    }
    OnTheWay { shown, all: all.len(), apart: Vec::new() }
}

/// The sender of each frame, what it is about, and its octets.
type Frames<'r> = BTreeMap<u64, (&'r str, &'r str, &'r [u8])>;

/// What an event in a host is of, as far as the record says: the frame that came, with its octets, or the application's
/// call.
fn of<'r>(run: &'r record::Run, frames: &Frames<'r>, event: &Event) -> (String, &'r [u8]) {
    match event.cause.and_then(|cause| run.event(cause)).map(|cause| &cause.what) {
        Some(What::Receives { frame, octets, .. }) => {
            let (from, about, sent) = frames.get(frame).copied().unwrap_or_default();
            let changed = if octets.is_some() { ", changed on its way" } else { "" };
            (format!("#{frame} {about} from {from}{changed}: "), octets.as_deref().unwrap_or(sent))
        }
        Some(What::Input { port, name, args, .. }) => (format!("{port}.{name}{}: ", arguments(args)), message_of(args)),
        Some(What::Wakes) => ("a message as a timer rang: ".to_string(), &[]),
        _ => ("a message: ".to_string(), &[]),
    }
}

/// The messages among the arguments of an application's call.
fn messages(args: &[Arg]) -> impl Iterator<Item = &[u8]> {
    args.iter().filter_map(|arg| match &arg.value {
        Value::Message { octets } => Some(octets.as_slice()),
        _ => None,
    })
}

/// The first of these; empty if there is none.
fn message_of(args: &[Arg]) -> &[u8] {
    messages(args).next().unwrap_or_default()
}

fn words(by: Loss) -> &'static str {
    match by {
        Loss::Weather => "lost by the weather",
        Loss::Partition => "cut off by a partition",
        Loss::Queue => "lost at a full queue",
    }
}
