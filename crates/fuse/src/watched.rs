//! What a run has shown about the reactions to one event: which branches they took, and how often.
//!
//! It must keep: it only affects probabilities, never what is done on a way. A profile of another automaton leads to
//! bad paths, not wrong ones.

use std::rc::Rc;

use rustc_hash::FxHashMap as HashMap;

use mokume_reaction::profile::{Passed, Profile};
use mokume_reaction::{BlockId, HandlerId};

/// The most ways of one event that are used: the most frequent ones.
const MOST: usize = 2_000;

type Place = (HandlerId, BlockId);

/// A way that was seen: its frequency, and the targets taken at each place, in order.
struct Seen {
    often: f32,
    taken: HashMap<Place, Vec<u32>>,
}

/// The ways that were seen of an event, and which of them agree with the current way so far.
#[derive(Clone)]
pub struct Watched<'p> {
    profile: &'p Profile,
    /// Whether the current way has reached a handler that is in ways that were seen.
    begun: bool,
    seen: Rc<[Seen]>,
    fit: Vec<u32>,
    /// How often the current way passed each place.
    passed: HashMap<Place, usize>,
    /// Whether the current way came to a place where no seen way was that agrees with it so far.
    strayed: bool,
}

impl<'p> Watched<'p> {
    /// What is known about an event that enters by a port, or (`is_inside`) that a layer emits.
    pub fn of(profile: &'p Profile, handler: HandlerId, is_inside: bool) -> Self {
        let mut watched = Watched {
            profile,
            begun: false,
            seen: Rc::new([]),
            fit: Vec::new(),
            passed: HashMap::default(),
            strayed: false,
        };
        // For a profile of another automaton, what was taken begins at the layers of this automaton that it knows.
        let is_inside = is_inside || profile.called.is_some() && profile.from(handler).next().is_none();
        if profile.called(handler).is_some() {
            watched.begin(match is_inside {
                true => profile.behind(handler).collect(),
                false => profile.from(handler).collect(),
            });
        }
        watched
    }

    fn begin(&mut self, mut ways: Vec<(&[Passed], u64)>) {
        ways.sort_by_key(|way| std::cmp::Reverse(way.1));
        self.seen = ways.into_iter().take(MOST).map(seen).collect();
        self.fit = (0..self.seen.len() as u32).collect();
        self.begun = true;
    }

    /// A place as the seen ways name it, if they may reach it.
    fn called(&mut self, (handler, block): Place) -> Option<Place> {
        let called = self.profile.called(handler)?;
        if !self.begun {
            self.begin(self.profile.behind(handler).collect());
        }
        Some((called, block))
    }

    /// Whether a run of this very automaton has shown what happens here: then other ways do not happen.
    pub fn is_measured(&self) -> bool {
        self.profile.called.is_none() && !self.seen.is_empty()
    }

    /// Whether a run, be it of another automaton, has shown what begins here.
    pub fn has_seen(&self) -> bool {
        !self.seen.is_empty()
    }

    /// Whether any seen way agrees with this one.
    pub fn is_known(&self) -> bool {
        !self.fit.is_empty()
    }

    /// Whether this way was seen up to here.
    pub fn was_seen(&self) -> bool {
        self.is_known() && !self.strayed
    }

    /// The probability of each target at a place; `None` if nothing is known.
    pub fn likely(&mut self, place: Place, targets: usize) -> Option<Vec<f32>> {
        let place = self.called(place)?;
        let mut often = vec![0.0; targets];
        for seen in self.fit() {
            if let Some(found) = self.taken(seen, place).and_then(|target| often.get_mut(target as usize)) {
                *found += seen.often;
            }
        }
        let all: f32 = often.iter().sum();
        self.strayed |= all == 0.0;
        (all > 0.0).then(|| often.iter().map(|one| one / all).collect())
    }

    /// The current way takes a target; `None`: it does not matter which.
    pub fn passes(&mut self, place: Place, target: Option<u32>) {
        let Some(place) = self.called(place) else { return };
        if let Some(target) = target {
            let fit = std::mem::take(&mut self.fit);
            let goes = |number: &u32| self.taken(&self.seen[*number as usize], place) == Some(target);
            self.fit = fit.into_iter().filter(goes).collect();
        }
        *self.passed.entry(place).or_default() += 1;
    }

    fn fit(&self) -> impl Iterator<Item = &Seen> {
        self.fit.iter().map(|number| &self.seen[*number as usize])
    }

    /// The target that a seen way takes at the current place.
    fn taken(&self, seen: &Seen, place: Place) -> Option<u32> {
        let times = self.passed.get(&place).copied().unwrap_or(0);
        seen.taken.get(&place)?.get(times).copied()
    }
}

fn seen((way, often): (&[Passed], u64)) -> Seen {
    let mut taken: HashMap<Place, Vec<u32>> = HashMap::default();
    for passed in way {
        for (block, target) in &passed.branches {
            taken.entry((passed.handler, *block)).or_default().push(*target);
        }
    }
    Seen { often: often as f32, taken }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Place = (HandlerId(1), BlockId(2));
    const THERE: Place = (HandlerId(1), BlockId(5));

    /// Three in four take 0, then 1, then 0; the fourth takes 1, then 0.
    fn profile() -> Profile {
        let way = |targets: &[(u32, u32)]| {
            let branches = targets.iter().map(|(block, target)| (BlockId(*block), *target)).collect();
            vec![Passed { handler: HandlerId(1), branches }]
        };
        let ways = [(way(&[(2, 0), (5, 1), (2, 0)]), 3), (way(&[(2, 1), (5, 0)]), 1)].into();
        Profile { ways, ..Profile::default() }
    }

    #[test]
    fn a_branch_says_what_the_next_will_be() {
        let profile = profile();
        let mut all = Watched::of(&profile, HandlerId(1), false);
        assert_eq!(all.likely(HERE, 2), Some(vec![0.75, 0.25]));
        assert_eq!(all.likely(THERE, 2), Some(vec![0.25, 0.75]));
        let mut seldom = all.clone();
        seldom.passes(HERE, Some(1));
        assert_eq!(seldom.likely(THERE, 2), Some(vec![1.0, 0.0]));
        seldom.passes(THERE, Some(0));
        assert!(seldom.was_seen() && seldom.is_measured());
        assert_eq!(seldom.likely(HERE, 2), None, "that way did not come here again");
        assert!(seldom.is_known() && !seldom.was_seen());
        let mut often = all.clone();
        often.passes(HERE, None);
        assert_eq!(often.likely(HERE, 2), Some(vec![1.0, 0.0]), "one of them comes there again");
        often.passes(HERE, Some(1));
        assert!(!often.is_known(), "nobody went so");
    }

    #[test]
    fn of_another_event_nothing_is_known() {
        assert!(!Watched::of(&profile(), HandlerId(2), true).is_known());
    }

    #[test]
    fn what_others_took_is_known_from_their_first_layer_on() {
        let others = Profile { called: Some([(HandlerId(7), HandlerId(1))].into()), ..profile() };
        let mut all = Watched::of(&others, HandlerId(3), false);
        all.passes((HandlerId(3), BlockId(2)), Some(1));
        assert_eq!(all.likely((HandlerId(3), BlockId(5)), 2), None, "a layer that they do not have");
        assert_eq!(all.likely((HandlerId(7), BlockId(2)), 2), Some(vec![0.75, 0.25]));
        all.passes((HandlerId(7), BlockId(2)), Some(1));
        all.passes((HandlerId(3), BlockId(2)), Some(0));
        assert_eq!(all.likely((HandlerId(7), BlockId(5)), 2), Some(vec![1.0, 0.0]));
        assert_eq!(all.likely((HandlerId(1), BlockId(2)), 2), None, "another one of this number");
    }
}
