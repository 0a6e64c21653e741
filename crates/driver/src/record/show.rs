//! A record for people: a log, a chart, a capture.

use std::collections::{BTreeMap, BTreeSet};

use mokume_draw::{Chart, Direction, Event as Drawn, MessageId, TimerEvent, Unit};
use mokume_record::{arguments, Event, Loss, Run, What};

use crate::devices::capture::{CaptureWriter, LinkType};
use crate::failure::Failure;

/// A selection of events.
#[derive(Clone, Default)]
pub struct Part {
    /// These hosts; all, if empty.
    pub hosts: Vec<String>,
    /// Nanoseconds since the start.
    pub from: Option<u64>,
    pub to: Option<u64>,
}

impl Part {
    fn has(&self, event: &Event) -> bool {
        let is_host = |host: &String| self.hosts.is_empty() || self.hosts.contains(host);
        event.host.as_ref().is_none_or(is_host)
            && self.from.is_none_or(|from| event.at >= from)
            && self.to.is_none_or(|to| event.at <= to)
    }

    /// Fails if the selection names a host that the run does not have.
    pub fn check(&self, run: &Run) -> Result<(), Failure> {
        let names: Vec<&str> = run.head.hosts.iter().map(|host| host.name.as_str()).collect();
        match self.hosts.iter().find(|host| !names.contains(&host.as_str())) {
            Some(host) => {
                let help = format!("there are: {}", names.join(", "));
                Err(Failure::of_use(format!("the run has no host `{host}`"), help))
            }
            None => Ok(()),
        }
    }
}

/// The selected events, each with its line, if it has one.
pub fn log<'a>(run: &'a Run, part: &Part) -> Vec<(&'a Event, Option<String>)> {
    let wanted = run.events.iter().filter(|event| part.has(event));
    wanted.map(|event| (event, run.line(event))).collect()
}

/// Writes the frames on the media to a capture, in order of time, each once; for one host, or a stack on devices, what
/// it sent and received, in order. If everything is selected, a packet's number is that of its frame.
pub fn capture(run: &Run, part: &Part, name: &str) -> Result<u64, Failure> {
    let link = LinkType::numbered(run.head.link).ok_or_else(|| {
        let message = format!("frames of link {} are not written", run.head.link);
        Failure::of_use(message, "is the record one of this version of `mokume`?")
    })?;
    let mut writer = CaptureWriter::create(name, link)?;
    let mut count = 0;
    let is_alone = run.head.kind != mokume_record::Kind::Network || part.hosts.len() == 1;
    let mut sent: BTreeMap<u64, &Vec<u8>> = BTreeMap::new();
    for event in &run.events {
        let frame = match &event.what {
            What::Sends { frame, octets, .. } => {
                sent.insert(*frame, octets);
                Some(octets)
            }
            What::Receives { octets: Some(octets), .. } if is_alone => Some(octets),
            What::Receives { frame, octets: None, .. } if is_alone => sent.get(frame).copied(),
            _ => None,
        };
        let Some(frame) = frame.filter(|_| part.has(event)) else { continue };
        writer.write(event.at, frame)?;
        count += 1;
    }
    writer.flush()?;
    Ok(count)
}

/// Receptions of frames that the lowest layers of the host dropped, each copy, where another host hears it, too, and took it or did
/// not get it. A frame that all of them dropped was for nobody, and is a drop like others.
pub(crate) fn ignored(run: &Run) -> BTreeSet<u64> {
    let lowest: BTreeMap<&str, &[String]> =
        run.head.hosts.iter().map(|host| (host.name.as_str(), &host.lowest[..])).collect();
    // By frame: the hosts that hear it. By reception: its frame, and whether the lowest layers dropped what came.
    let mut hear: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
    let mut whole: BTreeMap<u64, (u64, &str, Option<bool>)> = BTreeMap::new();
    for event in &run.events {
        match &event.what {
            What::Sends { frame, copies, lost, .. } => {
                let names = copies.iter().map(|copy| copy.to.as_str()).chain(lost.iter().map(|lost| lost.to.as_str()));
                hear.entry(*frame).or_default().extend(names);
            }
            What::Receives { frame, octets: None, refused: false, .. } => {
                whole.insert(event.id, (*frame, event.host.as_deref().unwrap_or_default(), None));
            }
            what => {
                let Some((_, host, found)) = event.cause.and_then(|cause| whole.get_mut(&cause)) else { continue };
                let known = lowest.get(host).copied().unwrap_or_default();
                let is_low = |ended: &mokume_record::Ended| ended.layers.iter().all(|layer| known.contains(layer));
                let is_others = matches!(what, What::Drops(ended) if !ended.layers.is_empty() && is_low(ended));
                *found = Some(found.unwrap_or(true) && is_others);
            }
        }
    }
    // The hosts that took a copy, and those that dropped each that came.
    let (mut took, mut left) = (BTreeSet::new(), BTreeMap::<u64, BTreeSet<&str>>::new());
    took.extend(whole.values().filter(|(.., found)| *found != Some(true)).map(|(frame, host, _)| (*frame, *host)));
    for (frame, host, _) in whole.values().filter(|(frame, host, _)| !took.contains(&(*frame, *host))) {
        left.entry(*frame).or_default().insert(host);
    }
    let is_of_others = |frame: &u64, host: &str| {
        let (hear, left) = (hear.get(frame).map_or(0, BTreeSet::len), left.get(frame));
        left.is_some_and(|left| left.contains(host) && left.len() < hear)
    };
    whole.into_iter().filter(|(_, (frame, host, _))| is_of_others(frame, host)).map(|(id, _)| id).collect()
}

/// The run as a sequence chart.
pub fn chart(run: &Run, part: &Part, title: &str) -> Chart {
    let names: Vec<&str> = run.head.hosts.iter().map(|host| host.name.as_str()).collect();
    let names: Vec<&str> = match part.hosts.is_empty() {
        true => names,
        false => names.into_iter().filter(|name| part.hosts.iter().any(|host| host == name)).collect(),
    };
    let place = |name: &str| names.iter().position(|known| *known == name);
    let ignored = ignored(run);
    let mut chart = Chart::new(title, Unit::Nanoseconds, &names);
    let mut numbers: BTreeMap<(u64, usize), MessageId> = BTreeMap::new();
    for event in run.events.iter().filter(|event| part.has(event)) {
        let at = event.at;
        let Some(host) = event.host.as_deref().and_then(place) else { continue };
        for ring in event.did.iter().flat_map(|did| &did.rings) {
            let label = format!("{}.{}", ring.layer, ring.timer);
            chart.push(at, Drawn::Timer { at: host, what: TimerEvent::Fired, label });
        }
        match &event.what {
            What::Sends { frame, about, copies, lost, .. } => {
                // All sendings first: those to several receivers are in one row.
                let mut losses = Vec::new();
                for receiver in run.receivers(copies, lost) {
                    let Some(to) = place(receiver.name) else { continue };
                    let message = MessageId(numbers.len() as u32);
                    numbers.insert((*frame, to), message);
                    chart.push(at, Drawn::Send { from: host, to, message, label: format!("#{frame} {about}") });
                    losses.extend(receiver.lost.map(|loss| match loss {
                        Loss::Weather => Drawn::Lose { message },
                        Loss::Partition => Drawn::CutOff { message },
                        Loss::Queue => Drawn::Overflow { message },
                    }));
                }
                losses.into_iter().for_each(|loss| chart.push(at, loss));
            }
            What::Receives { frame, octets, .. } => {
                let Some(message) = numbers.get(&(*frame, host)).copied() else { continue };
                chart.push(
                    at,
                    match octets {
                        Some(_) => Drawn::Damage { message },
                        None if ignored.contains(&event.id) => Drawn::Ignore { message },
                        None => Drawn::Receive { message },
                    },
                );
            }
            // Drops of frames for other hosts are not shown.
            What::Drops(_) if event.cause.is_some_and(|cause| ignored.contains(&cause)) => {}
            What::Input { port, name, args, .. } => {
                let label = format!("{port}.{name}{}", arguments(args));
                chart.push(at, Drawn::Call { at: host, direction: Direction::In, label });
            }
            What::Output { port, name, args } => {
                let label = format!("{port}.{name}{}", arguments(args));
                chart.push(at, Drawn::Call { at: host, direction: Direction::Out, label });
            }
            What::Drops(ended) => chart.push(at, Drawn::Drop { at: host, label: ended.reason.clone() }),
            What::Misses { frame } => {
                if let Some(message) = numbers.get(&(*frame, host)) {
                    chart.push(at, Drawn::Lose { message: *message });
                }
            }
            What::Crashes => chart.push(at, Drawn::Violation { label: format!("{} crashes", names[host]) }),
            What::Restarts => chart.push(at, Drawn::Violation { label: format!("{} begins again", names[host]) }),
            What::Reports { report, place } => {
                chart.push(at, Drawn::Violation { label: format!("{}: {report} at {place}", names[host]) });
            }
            What::Starts | What::Wakes | What::Consumes(_) | What::Gone { .. } | What::Ends { .. } => {}
        }
    }
    chart
}

/// The events at which two runs begin to differ, `None` for a run that has ended; outer `None` if they do not differ.
/// Events that only connect others (starts and timers) are not compared, nor is the level of detail.
pub fn first_difference<'a>(one: &'a Run, other: &'a Run) -> Option<[Option<&'a Event>; 2]> {
    first_apart([one, other].map(|run| run.events.iter().filter(|event| !is_joint(event))))
}

/// The same with the events that only connect others: a host that wakes at other times is another one. Left out are those without an
/// effect: only a record with steps has them.
pub(crate) fn first_difference_of_all<'a>(one: &'a Run, other: &'a Run) -> Option<[Option<&'a Event>; 2]> {
    first_apart([one, other].map(|run| {
        let causes: BTreeSet<u64> = run.events.iter().filter_map(|event| event.cause).collect();
        run.events.iter().filter(move |event| !is_joint(event) || event.did.is_none() || causes.contains(&event.id))
    }))
}

fn first_apart<'a>(mut pair: [impl Iterator<Item = &'a Event>; 2]) -> Option<[Option<&'a Event>; 2]> {
    loop {
        let [left, right] = &mut pair;
        match (left.next(), right.next()) {
            (None, None) => return None,
            (Some(left), Some(right)) if is_same(left, right) => {}
            (left, right) => return Some([left, right]),
        }
    }
}

fn is_joint(event: &Event) -> bool {
    matches!(event.what, What::Starts | What::Wakes)
}

fn is_same(one: &Event, other: &Event) -> bool {
    (one.at, &one.host) == (other.at, &other.host) && plain(&one.what) == plain(&other.what)
}

/// The event without optional details.
pub(super) fn plain(what: &What) -> What {
    let mut what = what.clone();
    if let What::Sends { packet, .. } | What::Receives { packet, .. } = &mut what {
        *packet = None;
    }
    what
}
