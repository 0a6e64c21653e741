//! The peak of something that a run of a body takes and gives back, and how much of it may be left at the run's end.
//!
//! Keeps: an answer is at least what any run reaches. A loop whose rounds give back what they take counts as one round.

use std::collections::BTreeMap;
use std::rc::Rc;

use mokume_reaction::{BlockId, Body};

use crate::components::components;

/// A sum and its terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Amount<K: Ord> {
    pub sum: i64,
    pub terms: Rc<BTreeMap<K, i64>>,
}

impl<K: Ord + Clone> Amount<K> {
    /// The amount 0.
    pub fn zero() -> Self {
        Amount { sum: 0, terms: Rc::default() }
    }

    /// The amount of one term.
    pub fn of(what: K, sum: i64) -> Self {
        Amount { sum, terms: Rc::new(BTreeMap::from([(what, sum)])) }
    }

    /// The sum of both.
    pub fn and(&self, other: &Self) -> Self {
        if other.terms.is_empty() && other.sum == 0 {
            return self.clone();
        }
        if self.terms.is_empty() && self.sum == 0 {
            return other.clone();
        }
        let mut terms = (*self.terms).clone();
        for (what, sum) in other.terms.iter() {
            let term = terms.entry(what.clone()).or_insert(0);
            *term = term.saturating_add(*sum);
        }
        Amount { sum: self.sum.saturating_add(other.sum), terms: Rc::new(terms) }
    }

    /// The amount times a number.
    pub fn times(&self, times: i64) -> Self {
        if times == 1 {
            return self.clone();
        }
        let terms = self.terms.iter().map(|(what, sum)| (what.clone(), sum.saturating_mul(times))).collect();
        Amount { sum: self.sum.saturating_mul(times), terms: Rc::new(terms) }
    }

    /// The larger amount; of equal ones the first.
    pub fn max(self, other: Self) -> Self {
        if other.sum > self.sum {
            other
        } else {
            self
        }
    }

    /// The amount, or 0 if it is negative.
    pub fn at_least_nothing(self) -> Self {
        Amount::zero().max(self)
    }
}

/// The effect of a part of a run on an amount.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Level<K: Ord> {
    /// The peak during it, relative to its beginning; at least 0.
    pub high: Amount<K>,
    /// The change at its end, relative to its beginning; negative if it gives back more than it takes.
    pub net: Amount<K>,
}

impl<K: Ord + Clone> Level<K> {
    /// No effect.
    pub fn zero() -> Self {
        Level { high: Amount::zero(), net: Amount::zero() }
    }

    /// Takes this amount and keeps it, or gives it back if it is negative.
    pub fn step(what: K, sum: i64) -> Self {
        let net = Amount::of(what, sum);
        Level { high: net.clone().at_least_nothing(), net }
    }

    /// This one, then the next.
    pub fn then(&self, next: &Self) -> Self {
        let high = self.high.clone().max(self.net.and(&next.high));
        Level { high, net: self.net.and(&next.net) }
    }

    /// One of the two.
    pub fn or(self, other: Self) -> Self {
        Level { high: self.high.max(other.high), net: self.net.max(other.net) }
    }

    /// At most this many times in sequence.
    pub fn repeated(&self, times: u32) -> Self {
        match times {
            0 => Level::zero(),
            _ if self.net.sum <= 0 => Level { high: self.high.clone(), net: Amount::zero() },
            times => {
                let before = self.net.times(i64::from(times) - 1);
                Level { high: before.and(&self.high), net: self.net.times(i64::from(times)) }
            }
        }
    }
}

/// The effects of a body's blocks, and of the edges between a block and its targets.
pub trait Steps<K: Ord> {
    /// The effect of a block's operations.
    fn block(&self, block: BlockId) -> Level<K>;
    /// The effect of the edge to one of its targets, by index.
    fn edge(&self, block: BlockId, target: usize) -> Level<K>;
}

/// The largest effect of a run through `blocks`, from the entry to an end.
pub fn level<K: Ord + Clone>(body: &Body, blocks: &[BlockId], steps: &impl Steps<K>) -> Level<K> {
    let mut inside = vec![false; body.blocks.len()];
    for block in blocks {
        inside[block.index()] = true;
    }
    let search = Search { body, steps };
    let ended = |at: &Place| at.target.is_none();
    search.from(BlockId(0), &inside, &ended).unwrap_or_else(Level::zero)
}

/// Where a path leaves: over the edge to a target, or at an end of the body.
struct Place {
    target: Option<BlockId>,
}

struct Search<'a, S> {
    body: &'a Body,
    steps: &'a S,
}

impl<S> Search<'_, S> {
    /// The effect of all paths from `start` that stay inside until they leave where `ends` says; `None` if there is no
    /// such path.
    fn from<K: Ord + Clone>(&self, start: BlockId, inside: &[bool], ends: &dyn Fn(&Place) -> bool) -> Option<Level<K>>
    where
        S: Steps<K>,
    {
        // Components come in reverse order, so those after a component are known before it.
        let mut known: Vec<Option<Level<K>>> = vec![None; self.body.blocks.len()];
        for members in components(self.body, start, inside) {
            match self.loop_of(&members) {
                None => {
                    let block = members[0];
                    let after = self.leaving(block, inside, ends, &known);
                    known[block.index()] = after.map(|after| self.steps.block(block).then(&after));
                }
                Some(head) => {
                    let whole = self.rounds(&members, head, inside, ends, &known);
                    for member in members {
                        known[member.index()].clone_from(&whole);
                    }
                }
            }
        }
        known[start.index()].take()
    }

    /// The exits of one block, each with the known effect of what follows.
    fn leaving<K: Ord + Clone>(
        &self,
        block: BlockId,
        inside: &[bool],
        ends: &dyn Fn(&Place) -> bool,
        known: &[Option<Level<K>>],
    ) -> Option<Level<K>>
    where
        S: Steps<K>,
    {
        let targets = self.body.blocks[block.index()].terminator.targets();
        if targets.is_empty() {
            return ends(&Place { target: None }).then(Level::zero);
        }
        let mut all: Option<Level<K>> = None;
        for (at, target) in targets.iter().enumerate() {
            let edge = || self.steps.edge(block, at);
            let over = ends(&Place { target: Some(target.block) }).then(edge);
            let on = known[target.block.index()].as_ref().filter(|_| inside[target.block.index()]);
            let on = on.map(|after| edge().then(after));
            for way in over.into_iter().chain(on) {
                all = Some(match all {
                    Some(before) => before.or(way),
                    None => way,
                });
            }
        }
        all
    }

    /// The head of the loop that a component forms; `None` for a block that is not a loop.
    fn loop_of(&self, members: &[BlockId]) -> Option<Option<BlockId>> {
        let goes_back = |member: &BlockId| {
            let targets = self.body.blocks[member.index()].terminator.targets();
            targets.iter().any(|target| members.contains(&target.block))
        };
        let is_head = |member: &&BlockId| self.body.blocks[member.index()].bound.is_some();
        members.iter().any(goes_back).then(|| members.iter().find(is_head).copied())
    }

    /// Complete rounds, one fewer than the bound: each returns to the head, which is entered no more often. Then a
    /// round that leaves.
    fn rounds<K: Ord + Clone>(
        &self,
        members: &[BlockId],
        head: Option<BlockId>,
        inside: &[bool],
        ends: &dyn Fn(&Place) -> bool,
        known: &[Option<Level<K>>],
    ) -> Option<Level<K>>
    where
        S: Steps<K>,
    {
        let Some(head) = head else {
            // The verifier requires a bound for every loop.
            let endless = Amount { sum: i64::MAX / 4, terms: Rc::default() };
            return Some(Level { high: endless.clone(), net: endless });
        };
        let bound = self.body.blocks[head.index()].bound.unwrap_or(1).max(1);
        let mut rest = vec![false; self.body.blocks.len()];
        for member in members.iter().filter(|member| **member != head) {
            rest[member.index()] = true;
        }
        let none = vec![None; self.body.blocks.len()];
        // From the head to where `stop` says: within the component, without returning to the head.
        let way = |stop: &dyn Fn(&Place) -> bool| -> Option<Level<K>> {
            let mut known: Vec<Option<Level<K>>> = none.clone();
            for target in self.body.blocks[head.index()].terminator.targets() {
                if rest[target.block.index()] {
                    known[target.block.index()] = self.from(target.block, &rest, stop);
                }
            }
            let after = self.leaving(head, &rest, stop, &known)?;
            Some(self.steps.block(head).then(&after))
        };
        let round = way(&|place| place.target == Some(head)).unwrap_or_else(Level::zero);
        let is_member = |block: BlockId| members.contains(&block);
        let mut all: Option<Level<K>> = None;
        let mut add = |last: Option<Level<K>>, after: Level<K>| {
            let Some(last) = last else { return };
            let whole = round.repeated(bound - 1).then(&last).then(&after);
            all = Some(match all.take() {
                Some(before) => before.or(whole),
                None => whole,
            });
        };
        add(way(&|place| place.target.is_none_or(|target| !is_member(target)) && ends(place)), Level::zero());
        let targets = members.iter().flat_map(|member| self.body.blocks[member.index()].terminator.targets());
        let mut outside: Vec<BlockId> =
            targets.map(|target| target.block).filter(|block| !is_member(*block) && inside[block.index()]).collect();
        outside.sort_unstable();
        outside.dedup();
        for target in outside {
            if let Some(after) = &known[target.index()] {
                add(way(&|place| place.target == Some(target)), after.clone());
            }
        }
        all
    }
}
