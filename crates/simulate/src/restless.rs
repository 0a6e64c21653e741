//! Why a run ends early, and which hosts keep it from its rest: those that answer or are due, not those that only hear.

use std::collections::{BTreeSet, VecDeque};

/// The most rounds of the loop at one time; beyond these the network never comes to rest.
pub(crate) const ROUNDS_AT_ONE_TIME: u32 = 256;

/// The most calls of one host at one time after which it is due again at once, each with the most reactions of a call;
/// beyond these, likewise (docs/limits.md).
pub(crate) const CALLS_AT_ONE_TIME: u32 = 16;

/// The most that one host sends, puts out and reports in such calls, if they are several; beyond it, likewise: what is
/// kept of each takes room.
const EFFECTS_AT_ONE_TIME: usize = 100_000;

/// The most arrivals and inputs at one time; beyond these, likewise.
pub(crate) const EVENTS_AT_ONE_TIME: u32 = 100_000;

/// The most frames on their way; beyond these, they are too many to keep (docs/limits.md).
pub(crate) const FRAMES_UNDER_WAY: usize = 500_000;

/// The most calls of one host within [`PACE`]; beyond these, it makes no headway (docs/limits.md). That is one each 20
/// ns, more than any hardware could sustain.
const CALLS_OF_A_PACE: u32 = 500_000;

/// The most that one host sends, puts out and reports within [`PACE`]; beyond it, likewise.
const EFFECTS_OF_A_PACE: usize = 500_000;

/// In nanoseconds.
const PACE: u64 = 10_000_000;

/// Why a run ended early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Restless {
    /// Some hosts are called again at once, forever: by what, those that bring it about, and the last calls, the latest
    /// last.
    AtOnce { by: Again, hosts: BTreeSet<usize>, last: Vec<Called> },
    /// Frames are too many: so many arrive at this time, sent earlier (`at_once`), or are on their way, from these hosts.
    /// `answers`: most were sent as others came.
    Many { at_once: bool, frames: usize, answers: bool, hosts: BTreeSet<usize> },
    /// A host is called so often that time hardly advances, or sends, puts out and reports so much in these calls;
    /// `by`: if most of the calls are frames, those that send them as others come.
    Hurried { host: usize, much: Much, within: u64, by: BTreeSet<usize> },
}

/// What a host has too much of, and how much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Much {
    Calls(u32),
    /// What it sent, put out and reported.
    Effects(usize),
}

/// What calls hosts again and again at one time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Again {
    /// They are due again themselves.
    Due,
    /// Frames are answered by frames.
    Frames,
    /// Inputs, deadlines and perhaps frames bring about others.
    Events,
}

/// A call of a host, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Called {
    pub host: usize,
    pub why: Why,
}

/// Why a host was called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// This frame came.
    Frame(u64),
    /// A deadline of its own was due.
    Due,
    /// An input of its application.
    Input,
}

/// The calls from which a restless network's hosts are told, and the last of them that are shown.
const RECENT: usize = 64;
const SHOWN: usize = 4;

/// So many calls that bring about others at one time are no accident.
const NO_ACCIDENT: u32 = 4;

/// From so many frames on, each host that sent more than a share of them is named.
const FRAMES_THAT_TELL: usize = 1_000;
const SHARE: usize = 256;

/// Where a frame comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Left {
    pub host: usize,
    pub at: u64,
    /// It was sent as another frame, or an input that another output triggers, came.
    pub answers: bool,
}

/// Who sent some frames, and how many.
#[derive(Default)]
pub(crate) struct Senders {
    by_host: Vec<usize>,
    pub frames: usize,
    answers: usize,
}

impl Senders {
    pub fn add(&mut self, left: Left) {
        self.by_host.resize(self.by_host.len().max(left.host + 1), 0);
        self.by_host[left.host] += 1;
        self.frames += 1;
        self.answers += usize::from(left.answers);
    }

    /// The hosts that sent more than a small share.
    fn hosts(&self) -> BTreeSet<usize> {
        let is_much = |(_, frames): &(usize, &usize)| **frames > self.frames / SHARE;
        self.by_host.iter().enumerate().filter(is_much).map(|(host, _)| host).collect()
    }

    /// Too many frames: `frames` at this time, or on their way.
    pub fn many(&self, at_once: bool, frames: usize) -> Restless {
        Restless::Many { at_once, frames, answers: self.answers * 2 > self.frames, hosts: self.hosts() }
    }
}

/// The calls of one host since a time.
#[derive(Clone, Copy, Default)]
struct Pace {
    since: u64,
    calls: u32,
    frames: u32,
    effects: usize,
}

/// The calls of one host at one time after which it was due again at once, and what it sent, put out and reported in
/// them.
#[derive(Clone, Copy, Default)]
pub(crate) struct DueAgain {
    calls: u32,
    effects: usize,
}

impl DueAgain {
    pub fn add(&mut self, effects: usize) {
        self.calls += 1;
        self.effects += effects;
    }

    pub fn is_often(&self) -> bool {
        self.calls > 1
    }

    pub fn is_too_much(&self) -> bool {
        self.calls > CALLS_AT_ONE_TIME || self.is_often() && self.effects > EFFECTS_AT_ONE_TIME
    }
}

/// The calls of all hosts, as far as they tell why a run does not come to rest.
#[derive(Default)]
pub(crate) struct Calls {
    /// The last calls, and whether they sent a frame as one came.
    recent: VecDeque<(Called, bool)>,
    paces: Vec<Pace>,
    /// By host, the last time at which a call of it brought about another at the same time, and how many did.
    brought: Vec<(u64, u32)>,
}

impl Calls {
    pub fn note(&mut self, host: usize, why: Why) {
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back((Called { host, why }, false));
    }

    /// The last call of this host sends a frame as one came.
    pub fn answers(&mut self, host: usize) {
        if let Some((called, answers)) = self.recent.back_mut().filter(|(called, _)| called.host == host) {
            *answers |= matches!(called.why, Why::Frame(_));
        }
    }

    /// A call of this host brought about another, of whatever host, at the same time.
    pub fn brings(&mut self, host: usize, now: u64) {
        self.brought.resize(self.brought.len().max(host + 1), (0, 0));
        let (at, calls) = &mut self.brought[host];
        (*at, *calls) = (now, if *at == now { *calls + 1 } else { 1 });
    }

    /// Counts a call; returns the calls of this host, and the time that they took, if they are too many.
    pub fn hurries(&mut self, host: usize, why: Why, now: u64) -> Option<(Much, u64)> {
        let pace = self.pace(host, now);
        pace.calls += 1;
        pace.frames += u32::from(matches!(why, Why::Frame(_)));
        (pace.calls > CALLS_OF_A_PACE).then_some((Much::Calls(pace.calls), now - pace.since))
    }

    /// Counts what a call sent, put out and reported; returns that of this host, and the time, if it is too much.
    pub fn does(&mut self, host: usize, effects: usize, now: u64) -> Option<(Much, u64)> {
        let pace = self.pace(host, now);
        pace.effects += effects;
        (pace.effects > EFFECTS_OF_A_PACE).then_some((Much::Effects(pace.effects), now - pace.since))
    }

    fn pace(&mut self, host: usize, now: u64) -> &mut Pace {
        self.paces.resize(self.paces.len().max(host + 1), Pace::default());
        let pace = &mut self.paces[host];
        if now - pace.since > PACE {
            *pace = Pace { since: now, ..Pace::default() };
        }
        pace
    }

    /// Of a host of [`Calls::hurries`]: who sends the frames that call it.
    pub fn hurried_by(&self, host: usize, under_way: &Senders) -> BTreeSet<usize> {
        match self.paces.get(host) {
            Some(pace) if pace.frames > pace.calls / 2 => (),
            _ => return BTreeSet::new(),
        }
        if under_way.frames >= FRAMES_THAT_TELL {
            return under_way.hosts();
        }
        self.recent.iter().filter(|(_, answers)| *answers).map(|(called, _)| called.host).collect()
    }

    /// Hosts are due again at once: by host, after which calls at this time. Those that were it once, while others were
    /// it often, may come to rest.
    pub fn due_at_once(&self, due: &[DueAgain]) -> Restless {
        let most = due.iter().map(|due| due.calls).max().unwrap_or(0);
        let often = due.iter().enumerate().filter(|(_, due)| due.calls * 2 > most);
        self.at_once(Again::Due, often.map(|(host, _)| host).collect())
    }

    /// Calls bring about others at this time, without end.
    pub fn events_at_once(&self, now: u64) -> Restless {
        let is_of_frames = self.recent.iter().all(|(called, _)| matches!(called.why, Why::Frame(_)));
        let now = self.brought.iter().enumerate().filter(|(_, (at, _))| *at == now);
        let most = now.clone().map(|(_, (_, calls))| *calls).max().unwrap_or(0);
        let often = now.filter(|(_, (_, calls))| *calls > NO_ACCIDENT.min(most / 2));
        let by = if is_of_frames { Again::Frames } else { Again::Events };
        self.at_once(by, often.map(|(host, _)| host).collect())
    }

    fn at_once(&self, by: Again, hosts: BTreeSet<usize>) -> Restless {
        let last = self.recent.iter().skip(self.recent.len().saturating_sub(SHOWN));
        Restless::AtOnce { by, hosts, last: last.map(|(called, _)| *called).collect() }
    }
}
