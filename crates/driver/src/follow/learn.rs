//! Follows a capture packet by packet, and infers the random numbers that the host drew from the packets that it sent.
//!
//! A capture does not contain a host's random numbers, but their consequences. If the stack sends a frame with another
//! number than in the capture, and would send the captured frame had it drawn another number, it is reset to before the
//! draw, and draws that number. So nothing guesses which field depends on which number: the stack has shown it.

use std::collections::{BTreeMap, BTreeSet};

use mokume_interpret::{Choice, Chosen};

use super::alike::{held, Apart, Held, Unlike};
use super::host::Host;
use super::said::{Likeness, Missing, Seen, Sent, What};
use super::state::{Pending, State};
use crate::dissect::capture::Packet;
use crate::dissect::filter::Filter;
use crate::dissect::Dissection;
use crate::failure::Failure;

/// A host that follows a capture.
pub(super) struct Follower<'a> {
    host: &'a Host<'a>,
    packets: &'a [Packet],
    /// The filter for packets that the host sent, if given.
    told: Option<&'a Filter>,
    times: Vec<u64>,
    /// Whether the times count from the host's start.
    is_from_start: bool,
    /// States before packets, by their indices: the first, and some of the last.
    before: Vec<(usize, State<'a>)>,
    seen: Vec<Seen>,
    /// How many packets may still be followed again.
    left: usize,
    /// Fields that were tried without success, and how often.
    hopeless: BTreeMap<String, usize>,
}

/// What the stack does after it has drawn something else.
struct Learned<'a> {
    state: State<'a>,
    /// The results for the packets since the reset.
    again: Vec<Seen>,
    /// The field from which it was inferred.
    field: String,
}

/// The most states that are kept.
const STATES: usize = 64;

/// The most recent choices that are tried, and the most packets of a capture that are followed again for that.
const CHOICES: usize = 64;
const TRIALS: usize = 1_000;

/// The most of the stack's last frames that are compared with the capture's.
const NEAREST: usize = 64;

/// A field that no random choice explained this often is not tried again.
const HOPELESS: usize = 2;

/// The narrowest field for inference: narrower ones agree too often by chance.
const SMALLEST: u8 = 16;

/// How far ahead a packet is searched: the clocks of the capture and of the host differ, and hosts are late.
const SOON: u64 = 20_000_000;

/// The same for the first packet that the host sent: it is unknown how long the host had been running.
const FIRST: u64 = 3_600_000_000_000;

/// For so many packets that may be the first.
const SEARCHES: usize = 16;

/// So many of the last frames are compared after each call when looking ahead.
const LATEST: usize = 4;

/// So many frames of the stack are compared with the first packet that the host sent.
const LIKE: usize = 200;

/// The most calls of the stack for looking ahead.
const CALLS: usize = 20_000;

impl<'a> Follower<'a> {
    /// A follower of these packets. `told`: the filter of the packets that the application is known to have sent.
    pub fn new(host: &'a Host<'a>, packets: &'a [Packet], told: Option<&'a Filter>) -> Follower<'a> {
        Follower {
            host,
            packets,
            told,
            times: times(packets),
            is_from_start: since(packets) == 0,
            before: Vec::new(),
            seen: Vec::new(),
            left: TRIALS,
            hopeless: BTreeMap::new(),
        }
    }

    /// Whether the times of the capture count from the host's start.
    pub fn is_from_start(&self) -> bool {
        self.is_from_start
    }

    /// The results for each packet, and the stack's frames that are missing in the capture.
    /// Meanwhile `done` hears how many packets were followed.
    pub fn run(mut self, done: &mut dyn FnMut(usize)) -> Result<(Vec<Seen>, Vec<Missing>), Failure> {
        let mut state = State::new(self.host);
        let mut place = 0;
        while place < self.packets.len() {
            done(place);
            if self.before.len() > STATES {
                self.before.remove(1);
            }
            self.before.push((place, state.clone()));
            let ahead = state.ahead;
            let mut seen = self.step(&mut state, place)?;
            if place > 0 && state.ahead != ahead {
                // Only now it is known how long the host had been running when the packets before came.
                let ahead = state.ahead;
                state = State::new(self.host);
                (state.ahead, state.searches) = (ahead, SEARCHES);
                self.before.clear();
                self.seen.clear();
                place = 0;
                continue;
            }
            while let Some(Learned { state: better, again, field }) = self.learn(place, &state, &seen)? {
                state = better;
                let first = place + 1 - again.len();
                self.seen.truncate(first);
                self.seen.extend(again);
                let Some(mut last) = self.seen.pop() else { break };
                if let (What::Sent(now), What::Sent(was)) = (&mut last.what, &seen.what) {
                    now.learned = was.learned.iter().cloned().chain([field]).collect();
                }
                seen = last;
            }
            self.seen.push(seen);
            place += 1;
        }
        let last = self.times.last().map_or(0, |last| last + state.ahead);
        let missing = state.pending.iter().filter(|pending| pending.at <= last.max(state.now));
        let missing = missing.map(|pending| (pending.at, self.host.about(&pending.octets))).collect();
        mark_early(&mut self.seen);
        Ok((self.seen, missing))
    }

    /// Follows the next packet, from the state after the previous one.
    fn step(&self, state: &mut State<'a>, place: usize) -> Result<Seen, Failure> {
        let packet = &self.packets[place];
        if place == 0 && !state.has_started {
            state.start(self.host);
        }
        let at = self.times[place].saturating_add(state.ahead);
        state.run_to(self.host, at.max(state.now))?;
        let dissection = self.host.dissected_packet(packet);
        let mut about = dissection.label(&packet.octets);
        let what = match self.way(state, place, &dissection) {
            _ if packet.octets.len() < packet.length as usize => What::Cut,
            Way::Came => What::Came(state.come(self.host, &packet.octets)),
            Way::Sent => What::Sent(self.sent(state, packet, &dissection)),
        };
        if matches!(what, What::Came(_)) && dissection.is_refused() {
            about += " (refused)";
        }
        Ok(Seen { packet: packet.number, at: state.now, about, what })
    }

    /// Whether the host sent a packet: by the filter; else if the stack sends exactly that, or is about to.
    fn way(&self, state: &mut State<'a>, place: usize, dissection: &Dissection) -> Way {
        let octets = &self.packets[place].octets;
        let is_told = self.told.map(|sent| sent.takes(dissection));
        if is_told == Some(false) {
            return Way::Came;
        }
        let is_it = |pending: &[Pending]| pending.iter().any(|pending| pending.octets == *octets);
        let is_own = is_told == Some(true) || self.is_from_station(state, dissection);
        if !is_it(&state.pending) {
            // The stack's clock may be behind.
            let may_be_first = place == 0 || is_own && !self.is_from_start;
            let is_first = may_be_first && state.shown.is_empty() && state.searches < SEARCHES;
            let soon = if is_first { FIRST } else { SOON };
            let after = |is_it: &dyn Fn(&[Pending]) -> bool| {
                let mut later = state.clone();
                let until = state.now.saturating_add(soon);
                let is_there = later.run_until(self.host, until, (CALLS, |state: &State<'_>| is_it(&state.pending)));
                (is_there && is_it(&later.pending)).then_some(later)
            };
            let is_alike = |pending: &[Pending]| {
                let mut last = pending.iter().rev().take(LATEST);
                last.any(|pending| {
                    self.against(octets, dissection, &pending.octets).is_some_and(|held| held.is_one_kind)
                })
            };
            let like = || match is_first && is_own && !is_alike(&state.pending) {
                true => self.most_alike(after(&is_alike)?, (octets, dissection)),
                false => None,
            };
            let later = after(&is_it).or_else(like);
            state.searches += usize::from(is_first);
            if let Some(mut later) = later {
                if is_first {
                    (later.ahead, later.searches) = (later.now.saturating_sub(self.times[place]), SEARCHES);
                }
                *state = later;
            }
        }
        let was_shown = || state.shown.iter().any(|(_, shown)| shown == octets);
        match is_own || is_it(&state.pending) || was_shown() || self.is_of_host(state, octets, dissection) {
            true => Way::Sent,
            false => Way::Came,
        }
    }

    /// The state with the frame that is most like a packet: from one with a similar frame on, the one in which the fewest
    /// fields differ, and of several the first. How long the host had run stands in fields that count.
    fn most_alike(&self, first: State<'a>, (octets, dissection): (&[u8], &Dissection)) -> Option<State<'a>> {
        let unlike = |state: &State<'_>| {
            let last = state.pending.iter().rev().take(LATEST);
            let held = last.filter_map(|pending| self.against(octets, dissection, &pending.octets));
            held.filter(|held| held.is_one_kind).map(|held| held.unlike.len()).min()
        };
        let until = first.now.saturating_add(FIRST);
        let (mut least, mut best, mut next) = (unlike(&first)?, first.clone(), first);
        for _ in 0..LIKE {
            let sent = next.sent;
            let has_sent = |state: &State<'_>| state.sent > sent;
            if least == 0 || !next.run_until(self.host, until, (CALLS / LIKE, has_sent)) || next.sent == sent {
                break;
            }
            if let Some(unlike) = unlike(&next).filter(|unlike| *unlike < least) {
                (least, best) = (unlike, next.clone());
            }
        }
        Some(best)
    }

    /// Whether the stack would reject it as incoming, and sends one of its kind.
    fn is_of_host(&self, state: &State<'a>, octets: &[u8], dissection: &Dissection) -> bool {
        let is_one_kind =
            |pending: &Pending| self.against(octets, dissection, &pending.octets).is_some_and(|held| held.is_one_kind);
        let is_like_one = || state.pending.iter().rev().take(NEAREST).any(is_one_kind);
        is_like_one() && state.clone().come(self.host, octets).is_turned_away
    }

    /// Whether the device's station address is in a field of the lowest wire in which all frames of the stack have it. If it
    /// has sent none yet, those that it will send tell.
    fn is_from_station(&self, state: &mut State<'a>, dissection: &Dissection) -> bool {
        let Some(station) = self.host.station else { return false };
        let own = |of: &Dissection| -> BTreeSet<(String, String)> {
            let layers = of.layers.iter().take(1);
            let fields = layers.flat_map(|layer| layer.fields.iter().map(move |field| (layer, field)));
            let fields = fields.filter(|(_, field)| field.carried && field.value == station);
            fields.map(|(layer, field)| (layer.wire.clone(), field.name.clone())).collect()
        };
        let here = own(dissection);
        if here.is_empty() {
            return false;
        }
        let mut later = None;
        if state.sent == 0 && state.searches < SEARCHES {
            state.searches += 1;
            let mut ahead = state.clone();
            ahead.run_until(self.host, state.now.saturating_add(FIRST), (CALLS, |state: &State<'_>| state.sent > 0));
            later = Some(ahead);
        }
        let state = later.as_ref().unwrap_or(state);
        let pending = state.pending.iter().rev().map(|pending| &pending.octets);
        let sent = pending.chain(state.shown.iter().rev().map(|(_, octets)| octets)).take(NEAREST);
        let mut sent = sent.map(|octets| own(&self.host.dissected(octets))).peekable();
        sent.peek().is_some() && !sent.fold(here, |known, one| &known & &one).is_empty()
    }

    /// Compares a frame of the capture with one of the stack's.
    fn against(&self, octets: &[u8], dissection: &Dissection, stack: &[u8]) -> Option<Held> {
        let other = self.host.dissected(stack);
        held(&Apart { octets, dissection }, &Apart { octets: stack, dissection: &other })
    }

    fn sent(&self, state: &mut State<'a>, packet: &Packet, dissection: &Dissection) -> Sent {
        let octets = &packet.octets;
        if let Some(place) = state.pending.iter().position(|pending| pending.octets == *octets) {
            let Pending { number, at, .. } = state.pending[place];
            state.show(place, packet.number);
            return sent(Likeness::Same, Some((at, Vec::new())), Some(number));
        }
        if let Some((before, _)) = state.shown.iter().rev().find(|(_, shown)| shown == octets) {
            return sent(Likeness::Again(*before), None, None);
        }
        let against = |stack: &[u8]| self.against(octets, dissection, stack);
        let all = state.pending.iter().enumerate().rev().take(NEAREST);
        let all = all.filter_map(|(place, pending)| Some((place, pending.at, against(&pending.octets)?)));
        let nearest = all.min_by_key(|(place, _, held)| (!held.is_one_kind, held.unlike.len(), *place));
        match nearest {
            Some((place, at, Held { is_one_kind: true, unlike })) => {
                let number = state.pending[place].number;
                state.show(place, packet.number);
                sent(Likeness::Alike, Some((at, unlike)), Some(number))
            }
            Some((_, at, Held { unlike, .. })) => sent(Likeness::Unlike, Some((at, unlike)), None),
            None => sent(Likeness::Unlike, None, None),
        }
    }

    /// Searches for a random choice with which the packet would be more like the capture's.
    fn learn(&mut self, place: usize, state: &State<'a>, seen: &Seen) -> Result<Option<Learned<'a>>, Failure> {
        let What::Sent(Sent { how: Likeness::Alike, against: Some((_, unlike)), .. }) = &seen.what else {
            return Ok(None);
        };
        let mut chosen: Vec<Chosen> = state.instance.chosen().iter().rev().take(CHOICES).cloned().collect();
        for field in unlike {
            let Some((by, width)) = field.by.filter(|(_, width)| *width >= SMALLEST) else { continue };
            if self.hopeless.get(&field.field).is_some_and(|times| *times >= HOPELESS) {
                continue;
            }
            // Pseudorandom functions of flows come before samples that a layer drew, and of these such that have just the field's bits.
            chosen.sort_by_key(|chosen| (matches!(chosen.choice, Choice::Sample(_)), chosen.width != width));
            for chosen in &chosen {
                for value in moved(chosen, by, width) {
                    let Some((state, again)) = self.tried(place, &chosen.choice, value)? else { continue };
                    if is_better(&again, &self.seen, seen, &field.field) {
                        self.tell(&chosen.choice, value);
                        return Ok(Some(Learned { state, again, field: field.field.clone() }));
                    }
                }
            }
            *self.hopeless.entry(field.field.clone()).or_default() += 1;
        }
        Ok(None)
    }

    /// Fixes a choice; states after a different choice are discarded.
    fn tell(&mut self, choice: &Choice, value: u64) {
        self.before.retain(|(_, state)| !has_chosen(state, choice));
        self.before.iter_mut().for_each(|(_, state)| state.instance.tell_chance(choice.clone(), value));
    }

    /// Runs again from the last state before a choice, up to a packet, with another result of the choice.
    fn tried(&mut self, place: usize, choice: &Choice, value: u64) -> Result<Option<(State<'a>, Vec<Seen>)>, Failure> {
        let is_before = |(_, state): &&(usize, State<'a>)| !has_chosen(state, choice);
        let Some((first, state)) = self.before.iter().rev().find(is_before) else { return Ok(None) };
        let (first, mut state) = (*first, state.clone());
        let Some(left) = self.left.checked_sub(place + 1 - first) else { return Ok(None) };
        self.left = left;
        state.instance.tell_chance(choice.clone(), value);
        let mut again = Vec::new();
        for place in first..=place {
            again.push(self.step(&mut state, place)?);
        }
        Ok(Some((state, again)))
    }
}

fn has_chosen(state: &State<'_>, choice: &Choice) -> bool {
    state.instance.chosen().iter().any(|chosen| chosen.choice == *choice)
}

fn sent(how: Likeness, against: Option<(u64, Vec<Unlike>)>, number: Option<u64>) -> Sent {
    Sent { how, against, learned: Vec::new(), number }
}

/// Marks packets as early if a later packet is a frame that the stack sends before.
fn mark_early(seen: &mut [Seen]) {
    let mut first = u64::MAX;
    for seen in seen.iter_mut().rev() {
        let What::Sent(sent) = &mut seen.what else { continue };
        let Some(number) = sent.number else { continue };
        if number > first && sent.how == Likeness::Same {
            sent.how = Likeness::Early;
        }
        first = first.min(number);
    }
}

/// The direction of a packet.
enum Way {
    Came,
    Sent,
}

/// The values of a choice with which a field would be larger by this much; the field may be any part of it.
fn moved(chosen: &Chosen, by: u64, width: u8) -> Vec<u64> {
    let mask = |width: u8| if width >= 64 { u64::MAX } else { (1 << width) - 1 };
    let parts = [0, 16, 32, 48].into_iter().filter(|shift| *shift == 0 || shift + width <= chosen.width);
    let of = parts.map(|shift| {
        let width = width.min(chosen.width - shift);
        let part = (chosen.value >> shift).wrapping_add(by) & mask(width);
        (chosen.value & !(mask(width) << shift)) | part << shift
    });
    of.collect()
}

/// Whether the last packet is more like the stack's frame in this field, and no earlier one is less.
fn is_better(again: &[Seen], before: &[Seen], seen: &Seen, field: &str) -> bool {
    let Some((last, others)) = again.split_last() else { return false };
    let unlike = |seen: &Seen| match &seen.what {
        What::Sent(Sent { how: Likeness::Same, .. }) => Some(Vec::new()),
        What::Sent(Sent { how: Likeness::Alike, against: Some((_, unlike)), .. }) => {
            Some(unlike.iter().map(|unlike| unlike.field.clone()).collect())
        }
        _ => None,
    };
    let (Some(now), Some(was)) = (unlike(last), unlike(seen)) else { return false };
    let is_worse = |(now, was): (&Seen, &Seen)| match (&now.what, &was.what) {
        (What::Sent(now), What::Sent(was)) => {
            let count = |sent: &Sent| sent.against.as_ref().map_or(0, |(_, unlike)| unlike.len());
            (now.how, count(now)) > (was.how, count(was))
        }
        (What::Sent(_), _) | (_, What::Sent(_)) => true,
        _ => false,
    };
    let known = &before[before.len().saturating_sub(others.len())..];
    now.len() < was.len() && !now.iter().any(|known| known == field) && !others.iter().zip(known).any(is_worse)
}

/// The time of each packet in nanoseconds of the stack's time. Simulated captures count from their start; for others it
/// is unknown how long the host had been running, so they count from their first packet.
fn times(packets: &[Packet]) -> Vec<u64> {
    let since = since(packets);
    packets.iter().map(|packet| at(packet).saturating_sub(since)).collect()
}

/// The time from which the packets' times count.
fn since(packets: &[Packet]) -> u64 {
    const DAY: u64 = 86_400_000_000_000;
    let first = packets.first().map_or(0, at);
    if first < DAY {
        0
    } else {
        first
    }
}

fn at(packet: &Packet) -> u64 {
    packet.at.map_or(0, |at| u64::try_from(at.as_nanos()).unwrap_or(u64::MAX))
}
