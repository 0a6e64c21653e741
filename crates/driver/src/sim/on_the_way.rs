//! What became of messages before an expected output did not come: frames that were lost or are still under way, and messages that
//! layers dropped.

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::world::World;
use mokume_record::{arguments, Event, Loss, Lost, What};

use super::{Failed, How, Keep, Prepared, Run, Sky};
use crate::failure::Failure;
use crate::record;

/// What was lost or dropped, or had not arrived yet, each with its time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OnTheWay {
    /// The last that were, the earliest first; what was on its way to the expecting host goes before other things.
    pub shown: Vec<(u64, String)>,
    /// How many there were in all.
    pub all: usize,
    /// Hosts that no link joins to another.
    pub apart: Vec<String>,
}

/// What happened, each with its time.
type Things = Vec<(u64, String)>;

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
    // Frames that the lowest layers of one host drop are for another, where several hosts receive them.
    let others = record::ignored(run);
    let mut shared: BTreeSet<u64> = BTreeSet::new();
    let is_for_others = |shared: &BTreeSet<u64>, cause: u64| {
        let frame = run.event(cause).and_then(|cause| match &cause.what {
            What::Receives { frame, .. } => Some(*frame),
            _ => None,
        });
        others.contains(&cause) && frame.is_some_and(|frame| shared.contains(&frame))
    };
    let mut frames: BTreeMap<u64, (&str, &str)> = BTreeMap::new();
    // What was on its way to the host, and the rest.
    let (mut near, mut far): (Things, Things) = (Vec::new(), Vec::new());
    for event in run.events.iter().filter(|event| event.at <= until) {
        let at = event.host.as_deref().unwrap_or_default();
        let mut found = |when: u64, to: &str, text: String| {
            if to == host { &mut near } else { &mut far }.push((when, text));
        };
        match &event.what {
            What::Sends { frame, about, lost, copies, .. } => {
                for copy in copies.iter().filter(|copy| copy.at > until) {
                    let text = format!("#{frame} {about} from {at} to {}: still under way, it would arrive", copy.to);
                    found(copy.at, &copy.to, text);
                }
                frames.insert(*frame, (at, about.as_str()));
                let receivers = copies.iter().map(|copy| &copy.to).chain(lost.iter().map(|lost| &lost.to));
                if receivers.collect::<BTreeSet<_>>().len() > 1 {
                    shared.insert(*frame);
                }
                for Lost { to, by } in lost {
                    found(event.at, to, format!("#{frame} {about} from {at} to {to}: {}", words(*by)));
                }
            }
            What::Misses { frame } => {
                let (from, about) = frames.get(frame).copied().unwrap_or_default();
                found(event.at, at, format!("#{frame} {about} from {from} to {at}: {at} had crashed"));
            }
            What::Drops(_) if event.cause.is_some_and(|cause| is_for_others(&shared, cause)) => {}
            What::Drops(ended) => {
                let times = if ended.count == 1 { String::new() } else { format!(", {} messages", ended.count) };
                let places = match ended.places.is_empty() {
                    true => String::new(),
                    false => format!(" ({})", ended.places.join(", ")),
                };
                let of = of(run, &frames, event);
                found(event.at, at, format!("{of}{at} dropped it: {}{places}{times}", ended.reason));
            }
            What::Gone { count } => {
                let of = of(run, &frames, event);
                let messages = if *count == 1 { "a message" } else { "messages" };
                found(event.at, at, format!("{of}{messages} of {at} went with their session"));
            }
            What::Input { port, name, args, refused: true } => {
                found(event.at, at, format!("{at}.{port}.{name}{}: {at} refused it", arguments(args)));
            }
            What::Receives { frame, refused: true, .. } => {
                let (from, about) = frames.get(frame).copied().unwrap_or_default();
                found(event.at, at, format!("#{frame} {about} from {from} to {at}: {at} had no room for it"));
            }
            _ => {}
        }
    }
    let all = near.len() + far.len();
    let last = |list: Things, most: usize| -> Things { list.into_iter().rev().take(most).rev().collect() };
    let near = last(near, MOST);
    let far = last(far, MOST - near.len());
    OnTheWay { shown: [near, far].concat(), all, apart: Vec::new() }
}

/// What an event in a host is of, as far as the record says: the frame that came, or the application's call.
fn of(run: &record::Run, frames: &BTreeMap<u64, (&str, &str)>, event: &Event) -> String {
    match event.cause.and_then(|cause| run.event(cause)).map(|cause| &cause.what) {
        Some(What::Receives { frame, octets, .. }) => {
            let (from, about) = frames.get(frame).copied().unwrap_or_default();
            let changed = if octets.is_some() { ", changed on its way" } else { "" };
            format!("#{frame} {about} from {from}{changed}: ")
        }
        Some(What::Input { port, name, args, .. }) => format!("{port}.{name}{}: ", arguments(args)),
        Some(What::Wakes) => "a message as a timer rang: ".to_string(),
        _ => "a message: ".to_string(),
    }
}

fn words(by: Loss) -> &'static str {
    match by {
        Loss::Weather => "lost by the weather",
        Loss::Partition => "cut off by a partition",
        Loss::Queue => "lost at a full queue",
    }
}
