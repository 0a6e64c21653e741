//! The fates of frames on a medium: by chance, by order, and by the line's speed.

use std::collections::{BTreeMap, VecDeque};

use mokume_base::Random;
use mokume_reaction::PortId;

/// A device of a host: the host's index in the simulation's list, and its port.
pub type Member = (usize, PortId);

/// The probabilities of frames' fates. Rates are in millionths, times in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Weather {
    pub loss: u32,
    /// How often a burst of losses begins; it loses `burst_length` copies in a row on the way to the same member.
    pub burst_loss: u32,
    pub burst_length: u32,
    pub duplicate: u32,
    /// A reordered copy takes longer, by up to twice the longest delay.
    pub reorder: u32,
    pub corrupt: u32,
    pub delay: (u64, u64),
    /// Bits per second that each member can send; 0: no limit.
    pub rate: u64,
    /// The most frames that wait at each member, including the one being sent; others are lost. 0: no limit.
    pub queue: u64,
    /// From this instant on it is calm.
    pub calm_from: Option<u64>,
}

impl Weather {
    /// The same line without randomness: it depends only on what is sent.
    pub fn calm(self) -> Self {
        Weather { delay: (self.delay.0, self.delay.0), rate: self.rate, queue: self.queue, ..Weather::default() }
    }

    /// What it is at this instant.
    pub(crate) fn at(self, now: u64) -> Self {
        if self.calm_from.is_some_and(|from| now >= from) {
            self.calm()
        } else {
            self
        }
    }
}

/// A shared medium: what one member sends reaches all others.
#[derive(Clone, Debug)]
pub struct Medium {
    pub name: String,
    pub members: Vec<Member>,
    pub weather: Weather,
}

/// A fault in addition to the weather, of the `number`th frame, from 1, that `from` sends, on its way to `to`, or to
/// all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mishap {
    pub from: Member,
    pub number: u64,
    pub to: Option<Member>,
    /// Applied in order: after [`Ill::Twice`] they are about the second copy.
    pub what: Vec<Ill>,
}

/// One fault of a copy of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ill {
    Lost,
    /// It arrives this many nanoseconds later than otherwise.
    Late(u64),
    /// This bit is flipped; 0 is the highest bit of the first octet. If the frame is too short, see
    /// [`crate::Unfulfilled`].
    Turned(u64),
    /// A second copy arrives, this many nanoseconds after the time of the first one without faults.
    Twice(u64),
}

/// A copy of a frame on its way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Copy {
    /// The delay beyond the least one.
    pub late: u64,
    pub turned: Vec<u64>,
}

impl Copy {
    /// The frame as it arrives.
    pub fn of(&self, frame: &[u8]) -> Vec<u8> {
        let mut frame = frame.to_vec();
        for bit in &self.turned {
            if let Some(octet) = frame.get_mut((bit / 8) as usize) {
                *octet ^= 0x80 >> (bit % 8);
            }
        }
        frame
    }
}

/// The copies that chance makes of a frame of this size.
pub(crate) fn by_chance(weather: &Weather, octets: usize, burst: &mut u32, random: &mut Random) -> Vec<Copy> {
    if is_in_burst(weather, burst, random) || random.millionths(weather.loss) {
        return Vec::new();
    }
    let copies = 1 + usize::from(random.millionths(weather.duplicate));
    let late: Vec<u64> = (0..copies).map(|_| late(weather, random)).collect();
    late.into_iter().map(|late| Copy { late, turned: turned(weather, octets, random).into_iter().collect() }).collect()
}

fn is_in_burst(weather: &Weather, burst: &mut u32, random: &mut Random) -> bool {
    if *burst == 0 && weather.burst_loss > 0 && random.millionths(weather.burst_loss) {
        *burst = weather.burst_length;
    }
    // When it has become calm, a burst is over.
    *burst = (*burst).min(weather.burst_length);
    let is_lost = *burst > 0;
    *burst = burst.saturating_sub(1);
    is_lost
}

fn late(weather: &Weather, random: &mut Random) -> u64 {
    let (low, high) = weather.delay;
    let delay = random.between(low, high) - low;
    let more = if random.millionths(weather.reorder) { random.between(high, high.saturating_mul(3)) } else { 0 };
    delay.saturating_add(more)
}

fn turned(weather: &Weather, octets: usize, random: &mut Random) -> Option<u64> {
    if octets == 0 || !random.millionths(weather.corrupt) {
        return None;
    }
    let at = random.place(octets) as u64;
    Some(at * 8 + 7 - random.below(8))
}

/// Applies faults to a frame's copies.
pub(crate) fn befall(copies: &mut Vec<Copy>, ills: &[Ill]) {
    let mut at = 0;
    for ill in ills {
        match *ill {
            // Behind `twice` it is said of the second copy, which is then as if it had not been made.
            Ill::Lost if at > 0 => copies.truncate(at),
            Ill::Lost => copies.clear(),
            Ill::Twice(late) => {
                copies.push(Copy { late, turned: Vec::new() });
                at = copies.len() - 1;
            }
            Ill::Late(late) => {
                copies.iter_mut().skip(at).take(1).for_each(|copy| copy.late = copy.late.saturating_add(late));
            }
            Ill::Turned(bit) => copies.iter_mut().skip(at).take(1).for_each(|copy| copy.turned.push(bit)),
        }
    }
}

/// The faults of one line that does what these lines do one after the other to a frame that arrives normally; none if it still does.
pub fn joined<'a>(lines: impl IntoIterator<Item = &'a [Ill]>) -> Vec<Ill> {
    let mut copies = vec![Copy { late: 0, turned: Vec::new() }];
    lines.into_iter().for_each(|ills| befall(&mut copies, ills));
    for copy in &mut copies {
        // A bit that is turned twice is as before.
        let mut turned: Vec<u64> = Vec::new();
        for bit in std::mem::take(&mut copy.turned) {
            match turned.iter().position(|known| *known == bit) {
                Some(at) => drop(turned.remove(at)),
                None => turned.push(bit),
            }
        }
        copy.turned = turned;
    }
    ills_of(&copies).concat()
}

/// The faults that turn a frame into these copies, each list sufficient by itself; none if the frame arrived normally.
pub(crate) fn ills_of(copies: &[Copy]) -> Vec<Vec<Ill>> {
    let Some((first, others)) = copies.split_first() else { return vec![vec![Ill::Lost]] };
    let mut ills = Vec::new();
    if first.late > 0 {
        ills.push(vec![Ill::Late(first.late)]);
    }
    ills.extend(first.turned.iter().map(|bit| vec![Ill::Turned(*bit)]));
    for other in others {
        let turned = other.turned.iter().copied().map(Ill::Turned);
        ills.push(std::iter::once(Ill::Twice(other.late)).chain(turned).collect());
    }
    ills
}

/// State of media between frames.
#[derive(Default, Debug)]
pub(crate) struct Lines {
    /// The times at which the waiting frames of each member will have left, sorted.
    waiting: BTreeMap<Member, VecDeque<u64>>,
    /// How many copies the current burst will still lose, by sender and receiver.
    pub bursts: BTreeMap<(Member, Member), u32>,
    /// How many frames each member has sent.
    sent: BTreeMap<Member, u64>,
}

impl Lines {
    /// The number, from 1, of a frame that a member sends.
    pub fn number(&mut self, from: Member) -> u64 {
        let sent = self.sent.entry(from).or_default();
        *sent += 1;
        *sent
    }

    /// How many frames a member has sent.
    pub fn sent(&self, from: Member) -> u64 {
        self.sent.get(&from).copied().unwrap_or(0)
    }

    /// The time at which a frame of this size has left the member; `None` if there is no room for it.
    pub fn leave(&mut self, weather: &Weather, from: Member, octets: usize, now: u64) -> Option<u64> {
        if weather.rate == 0 {
            return Some(now);
        }
        let waiting = self.waiting.entry(from).or_default();
        while waiting.front().is_some_and(|gone| *gone <= now) {
            waiting.pop_front();
        }
        if weather.queue > 0 && waiting.len() as u64 >= weather.queue {
            return None;
        }
        let takes = (octets as u128 * 8 * 1_000_000_000).div_ceil(u128::from(weather.rate));
        let begin = waiting.back().copied().unwrap_or(now);
        let gone = begin.saturating_add(u64::try_from(takes).unwrap_or(u64::MAX));
        waiting.push_back(gone);
        Some(gone)
    }
}
