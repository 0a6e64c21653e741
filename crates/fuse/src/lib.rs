//! From a composed automaton to paths: a whole reaction, through all layers, as one straight body.
//!
//! For each event of a port, the likeliest way is followed from its handler to its outputs ([`paths`]). Questions on
//! the way become guards, where the path refuses; all actions come after the last guard. Values are folded, headers
//! become octets at once, and written values are read back. It knows no protocol.
//!
//! Invariant: where a path does not refuse, it does what the handlers do, output for output.

mod asks;
mod compared;
mod decisions;
mod follow;
mod graph;
mod held;
mod memos;
mod message;
mod overview;
mod passes;
mod pure;
mod region;
mod settling;
mod text;
mod watched;
mod wires;
mod write;

use std::rc::Rc;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use mokume_reaction::profile::{self, Profile};
use mokume_reaction::{
    Automaton, Body, CellId, ClassId, Emission, Handler, HandlerId, LayerId, Path, SourceId, Trigger,
};

pub use asks::in_order;
use decisions::{search, Decisions, Far, Searched, Taken, SELDOM};
pub use memos::{remembered, WORTH};
use overview::Overview;
pub use passes::{Pass, Passes};
use region::{Active, Call, Do, Region, NEVER};
pub use region::{Counted, Why};
use watched::Watched;
use write::Ways;

/// The result for an event.
#[derive(Clone, Debug)]
pub struct Found {
    /// The handler of the event.
    pub handler: HandlerId,
    /// The path with the layers that it goes through, in order; or why there is none.
    pub path: Result<(Path, Vec<LayerId>), Why>,
    pub aside: Aside,
    /// What the search expects of the path; empty without a path.
    pub expected: Expected,
    /// The obstacles of ways that could not be followed, or not further, each once: the likeliest first.
    pub missed: Vec<Missed>,
}

impl Found {
    /// The result for an event that networks did not have, or hardly ever.
    fn unseen(handler: HandlerId, what: &str) -> Self {
        let why = Why { what: what.to_owned(), source: None };
        let (aside, expected) = (Aside::default(), Expected::default());
        Found { handler, path: Err(why), aside, expected, missed: Vec::new() }
    }
}

/// What the search expects of a path, from measurements, the source's annotations, and guesses.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    /// The probability of each of its ways; the first is the one with the highest worth.
    pub ways: Vec<f32>,
    /// The questions on them, by place in the source, with the probability that the path goes on there; `None` if
    /// nothing was decided.
    pub asked: Vec<(Option<SourceId>, Option<f32>)>,
    /// The amount of each layer's code that the first way follows: what the handlers do on it.
    pub followed: Vec<(LayerId, Counted)>,
}

impl Expected {
    /// Adds a way.
    fn add(&mut self, way: &Taken<Region>) {
        let region = &way.found;
        self.ways.push(way.worth / worth(region).max(1.0));
        let likely: HashMap<usize, f32> = region.likely.iter().copied().collect();
        self.asked.extend(region.steps.iter().enumerate().map(|(at, step)| (step.source(), likely.get(&at).copied())));
        if self.followed.is_empty() {
            let layers = region.followed.iter().enumerate().filter(|(_, looked)| **looked != Counted::default());
            self.followed = layers.map(|(layer, looked)| (layer.into(), *looked)).collect();
        }
    }
}

/// What handlers do beside a path.
#[derive(Clone, Debug, Default)]
pub struct Aside {
    /// Cells that are written on ways outside the path that are not rare.
    pub moving: Vec<(ClassId, CellId)>,
    /// Handlers to which it hands over at the end of a way.
    pub often: Vec<HandlerId>,
    /// Handlers to which it hands over where a way goes no further.
    pub seldom: Vec<HandlerId>,
}

/// Why ways are not in a path, or end where a handler does the rest.
#[derive(Clone, Debug)]
pub struct Missed {
    /// The probability of getting there on any of them, from measurements, the source's annotations, and guesses.
    pub likely: f32,
    pub why: Why,
}

/// The most ways that are tried for an event.
const MOST_WAYS: usize = 250;
/// The same for an event that a layer emits: there are many of these, and most lead to a layer that is not followed.
const MOST_WAYS_INSIDE: usize = 60;
/// The most ways of one path, if a run has shown how likely they are; they part where they differ.
const LEAVES: usize = 16;
/// The same if they are guessed.
const GUESSED: usize = 8;
/// A way with less worth than this, relative to those that go as it does up to where it parts from them, costs more than
/// it saves: each makes these larger.
const WORTH_MORE: f32 = 0.1;
/// The same relative to the first way: seldom ways stay out, whatever is beside them.
const WORTH_AT_ALL: f32 = 0.05;
/// If ways that end at a call are this many times likelier than the one that goes further, the path hands over there
/// instead of refusing.
const REST: f32 = 1.0;
/// The least handlers before a call on a way that make it worth handing over there.
const WORTH_IT: u32 = 5;

/// An event that is less than this of its port's events is too seldom for a path, which takes some kilobytes.
const SELDOM_AT_PORT: f32 = 0.002;
/// As many events of a port say how often each of them is.
const EVENTS: u64 = 1000;

/// Finds paths: for each event that enters by a port, and for events that layers emit where such a path ends, the
/// likeliest way through the reaction, by measurements and by the source's annotations. The automaton must have been
/// verified; one that was not composed has queues everywhere.
pub fn paths(automaton: &Automaton, profile: &Profile, passes: Passes) -> Vec<Found> {
    let flat = mokume_analyse::laid_open(automaton);
    let mut finder =
        Finder { flat: &flat, profile, behind: Vec::new(), overview: Rc::new(Overview::of(&flat, passes)) };
    let timers = finder.often(|handler| matches!(handler.trigger, Trigger::Expiry(_)));
    let begin = entries(&flat).into_iter().chain(timers.iter().copied());
    let begun = begin.map(|handler| match finder.why_unusual(handler) {
        Some(why) => Found::unseen(handler, why),
        None => finder.find(handler, false),
    });
    let mut found: Vec<Found> = begun.collect();
    if passes.has(Pass::HandingOver) {
        finder.note_layers(&timers);
    }
    // What is put off has its messages from a layer, so it begins inside; but it begins a reaction.
    for handler in finder.often(|handler| handler.later_capacity > 0) {
        if flat.begins(handler) || found.iter().any(|found| found.handler == handler) {
            continue;
        }
        let put_off = finder.find(handler, true);
        if put_off.path.as_ref().is_ok_and(|(_, layers)| layers.len() > 1) {
            found.push(put_off);
        }
    }
    // Paths also begin at events of the layers where paths end, and in turn where those end.
    let mut at = 0;
    while let Some(layer) = finder.behind.get(at).copied() {
        at += 1;
        for handler in emitted_by(&flat, layer) {
            let is_known = found.iter().any(|found| found.handler == handler);
            if is_known || flat.begins(handler) {
                continue;
            }
            let inside = finder.find(handler, true);
            if inside.path.as_ref().is_ok_and(|(_, layers)| layers.len() > WORTH_IT as usize) {
                found.push(inside);
            }
        }
    }
    for found in &mut found {
        if let Ok((path, _)) = &mut found.path {
            if let Some(body) = asks::in_order_by(automaton, path, passes) {
                path.body = body;
            }
        }
    }
    found
}

/// The state of finding paths.
struct Finder<'a> {
    flat: &'a Automaton,
    profile: &'a Profile,
    /// Layers at which paths end, each once.
    behind: Vec<LayerId>,
    overview: Rc<Overview>,
}

/// What the ways of an event have shown.
struct Seen<'p> {
    watched: Watched<'p>,
    /// Calls that some way followed.
    followed: HashSet<Call>,
    /// Layers where a failed way might have ended.
    ends: HashSet<LayerId>,
    /// Calls that failed ways passed, with the total probability of these ways.
    stuck: HashMap<Call, f32>,
    missed: Vec<(Why, Shares)>,
    /// Ways that were followed to their end, be they in the path or not.
    whole: Shares,
    /// Cells written by any way, including failed ways and ways that may not become part of the path, with the
    /// probability of the likeliest such way.
    moving: HashMap<(ClassId, CellId), f32>,
}

impl<'p> Seen<'p> {
    fn of(watched: Watched<'p>) -> Self {
        Seen {
            watched,
            followed: HashSet::default(),
            ends: HashSet::default(),
            stuck: HashMap::default(),
            missed: Vec::new(),
            whole: Shares::default(),
            moving: HashMap::default(),
        }
    }

    /// Records the cells that a way wrote, with its probability.
    fn wrote(&mut self, way: &Region) {
        let likely = way.decisions.likely();
        for (_, class, cell, ..) in &way.written {
            let known = self.moving.entry((*class, *cell)).or_insert(likely);
            *known = known.max(likely);
        }
    }

    /// Records a failed way: the reason, what it wrote, and the calls that it passed. Of ways that a run did not take
    /// the reasons do not count.
    fn failed(&mut self, way: &Region, why: Why) {
        let likely = way.decisions.likely();
        let was_seen = way.watched.was_seen() && why.what != NEVER || !self.watched.is_measured();
        let known = self.missed.iter().position(|(known, _)| *known == why);
        let known = known.or_else(|| {
            was_seen.then(|| {
                self.missed.push((why, Shares::default()));
                self.missed.len() - 1
            })
        });
        known.into_iter().for_each(|known| self.missed[known].1.add(way.decisions.ways(), likely));
        self.wrote(way);
        way.calls.iter().for_each(|active| *self.stuck.entry(active.call.clone()).or_default() += likely);
    }
}

/// Ways, by what was decided on them, each with its probability. The same may be found several times.
#[derive(Default)]
struct Shares(Vec<(Vec<usize>, f32)>);

impl Shares {
    /// Adds a way, if it is none of those that are there, nor begins as one of them goes, nor goes on from one.
    fn add(&mut self, ways: Vec<usize>, likely: f32) {
        if !self.0.iter().any(|(known, _)| is_same(known, &ways)) {
            self.0.push((ways, likely));
        }
    }

    /// The probability of any of them that `counts`.
    fn all(&self, counts: impl Fn(&[usize]) -> bool) -> f32 {
        self.0.iter().filter(|(ways, _)| counts(ways)).map(|(_, likely)| likely).sum::<f32>().min(1.0)
    }
}

/// Whether one is the beginning of the other.
fn is_same(one: &[usize], other: &[usize]) -> bool {
    one.iter().zip(other).all(|(one, other)| one == other)
}

type Looked<'a> = Searched<Region<'a>, Why>;

impl<'a> Finder<'a> {
    fn has(&self, pass: Pass) -> bool {
        self.overview.passes.has(pass)
    }

    fn find(&mut self, handler: HandlerId, is_inside: bool) -> Found {
        let mut seen = Seen::of(Watched::of(self.profile, handler, is_inside));
        let overview = Rc::clone(&self.overview);
        let is_between = |layer: LayerId| overview.is_between(layer);
        let whole = usual(self.look((handler, is_inside), &mut seen, |_| false));
        let found = match whole {
            Ok(mut taken) => {
                // Messages that go elsewhere are handed over there.
                let layers: HashSet<LayerId> = taken.iter().flat_map(|way| &way.found.layers).copied().collect();
                let elsewhere = |layer| is_between(layer) && !layers.contains(&layer);
                if self.has(Pass::HandingOver) && seen.ends.iter().any(|layer| elsewhere(*layer)) {
                    let more = self.look((handler, is_inside), &mut seen, elsewhere);
                    let more = more.map_or_else(|_| Vec::new(), |it| it.0);
                    taken.extend(more.into_iter().filter(|way| handed_over(&way.found).is_some()));
                    taken.sort_by(|a, b| b.worth.total_cmp(&a.worth));
                }
                Ok(taken)
            }
            // There is nowhere to end.
            Err(why) if seen.ends.is_empty() || !self.has(Pass::HandingOver) => Err(why),
            Err(_) => usual(self.look((handler, is_inside), &mut seen, is_between))
                // If no layer is above, it may end at the top.
                .or_else(|_| usual(self.look((handler, is_inside), &mut seen, |_| true))),
        };
        let (mut aside, mut expected) = (Aside::default(), Expected::default());
        let lost =
            || Why { what: "asks for what none of its look-ups gives: please report this".to_owned(), source: None };
        let mut inside: Vec<Vec<usize>> = Vec::new();
        let path = found.and_then(|mut taken| {
            let likely = taken.iter().map(|way| way.worth / worth(&way.found).max(1.0)).fold(0.0, f32::max);
            aside
                .moving
                .extend(seen.moving.iter().filter(|(_, often)| **often >= likely * SELDOM).map(|(cell, _)| *cell));
            let first = taken.remove(0);
            let layers = first.found.layers.clone();
            let ended: Vec<_> =
                std::iter::once(&first).chain(&taken).filter_map(|way| handed_over(&way.found)).collect();
            expected.add(&first);
            let mut parted = Parted::default();
            parted.takes(&first);
            inside.push(first.decided());
            let mut ways = self.ways((handler, is_inside), first, &seen);
            for other in taken.into_iter().take(self.leaves(&seen.watched) - 1).filter(|other| parted.takes(other)) {
                expected.add(&other);
                inside.push(other.decided());
                ways.add(self.ways((handler, is_inside), other, &seen));
            }
            aside.seldom.extend(ways.rests());
            aside.often = ended;
            let body = write::body(ways, handler).ok_or_else(|| Some(lost()))?;
            Ok((Path { handler, body }, layers))
        });
        let is_measured = seen.watched.is_measured();
        let missed = seen.missed.into_iter().map(|(why, ways)| Missed { likely: ways.all(|_| true), why });
        let mut missed: Vec<Missed> = missed.collect();
        let beside = seen.whole.all(|ways| !inside.iter().any(|taken| is_same(taken, ways)));
        if path.is_ok() && beside > 0.0 {
            let what = "could be followed, but comes too seldom for what it would cost".to_owned();
            missed.push(Missed { likely: beside, why: Why { what, source: None } });
        }
        missed.sort_by(|a, b| b.likely.total_cmp(&a.likely));
        let path = path.map_err(|why| match missed.first() {
            Some(seen) if is_measured && !missed.iter().any(|seen| Some(&seen.why) == why.as_ref()) => seen.why.clone(),
            None if is_measured => Why { what: "drops its message".to_owned(), source: None },
            _ => why.unwrap_or_else(|| Why { what: "leads nowhere".to_owned(), source: None }),
        });
        Found { handler, path, aside, expected, missed }
    }

    /// A way, with the handler that does the rest for reactions that go the same way at first, but then no further.
    fn ways(&mut self, event: (HandlerId, bool), taken: Taken<Region<'a>>, seen: &Seen<'a>) -> Ways<'a> {
        let rest = self.rest(event, &taken, seen);
        self.note(&taken.found);
        rest.iter().filter(|_| !event.1).for_each(|(_, rest)| self.note(rest));
        Ways { region: taken.found, ways: taken.ways, others: Vec::new(), rest }
    }

    /// Reactions that go as the likeliest way does, and then fail, are handed over to a handler that does the rest.
    /// Returns how far they are there, and the way up to it.
    fn rest(
        &self,
        (handler, is_inside): (HandlerId, bool),
        first: &Taken<Region<'a>>,
        seen: &Seen<'a>,
    ) -> Option<(Far, Region<'a>)> {
        // With the source's annotations only this would be a guess, and it costs: answers after this place are not
        // remembered together with those before it.
        if !seen.watched.is_known() || !self.has(Pass::HandingOver) {
            return None;
        }
        let likely = first.worth / worth(&first.found).max(1.0);
        let is_there = |call: &&Active| {
            let stuck = seen.stuck.get(&call.call).copied().unwrap_or(0.0);
            call.is_last && call.call.0 >= WORTH_IT && self.overview.is_between(call.layer) && stuck >= likely * REST
        };
        let call = first.found.calls.iter().rev().find(is_there)?.call.clone();
        let decisions = Decisions::prescribed(call.1.clone());
        let ends = Rc::new(HashSet::from_iter([call]));
        let mut region =
            Region::new(self.flat, Rc::clone(&self.overview), (decisions, seen.watched.clone()), is_inside, ends);
        region.reaction(handler).ok()?;
        handed_over(&region)?;
        Some((region.decisions.last()?, region))
    }

    /// Searches the ways from an event. They may end at layers that `may_end` accepts, but at no call that some way
    /// followed. Such calls, and the layers where a failed way might have ended, are added to `seen`.
    fn look(
        &self,
        (handler, is_inside): (HandlerId, bool),
        seen: &mut Seen<'a>,
        may_end: impl Fn(LayerId) -> bool,
    ) -> Looked<'a> {
        let mut ends = Rc::new(HashSet::default());
        let most = if is_inside { MOST_WAYS_INSIDE } else { MOST_WAYS };
        let leaves = self.leaves(&seen.watched);
        search((leaves, most), worth, |decisions| loop {
            let overview = Rc::clone(&self.overview);
            let mut region = Region::new(
                self.flat,
                overview,
                (decisions.clone(), seen.watched.clone()),
                is_inside,
                Rc::clone(&ends),
            );
            match region.reaction(handler) {
                Ok(()) => {
                    seen.wrote(&region);
                    seen.whole.add(region.decisions.ways(), region.decisions.likely());
                    seen.followed.extend(region.calls.iter().map(|active| active.call.clone()));
                    return (std::mem::take(&mut region.decisions), Ok(region));
                }
                Err(why) => {
                    seen.failed(&region, why.clone());
                    let end = region.where_to_end(&seen.followed).filter(|(end, _)| end.0 >= WORTH_IT);
                    seen.ends.extend(end.as_ref().map(|(_, layer)| *layer));
                    match end {
                        Some((end, layer)) if may_end(layer) => {
                            Rc::make_mut(&mut ends).insert(end);
                        }
                        _ => return (std::mem::take(&mut region.decisions), Err(why)),
                    }
                }
            }
        })
    }

    /// The most ways of a path.
    fn leaves(&self, watched: &Watched) -> usize {
        match (self.has(Pass::Parting), watched.has_seen()) {
            (false, _) => 1,
            (true, true) => LEAVES,
            (true, false) => GUESSED,
        }
    }

    /// Handlers of a kind with which reactions begin not seldom, according to a run.
    fn often(&self, is: impl Fn(&Handler) -> bool) -> Vec<HandlerId> {
        let all = profile::all(self.profile.ways.values().copied());
        let handlers = (0..self.flat.handlers.len()).map(HandlerId::from);
        let handlers = handlers.filter(|handler| is(self.flat.handler(*handler)));
        let often = |handler: HandlerId| profile::all(self.profile.from(handler).map(|way| way.1)) as f32;
        let least = (all as f32 * SELDOM).max(1.0);
        handlers.filter(|handler| often(*handler) >= least).collect()
    }

    /// Why an event that enters by a port is not usual, as far as networks have shown it.
    fn why_unusual(&self, handler: HandlerId) -> Option<&'static str> {
        let own = self.profile.entered(handler)?;
        if self.profile.called.is_none() && !self.profile.ways.is_empty() && own == 0 {
            return Some("is of an event that the network of the profile did not have");
        }
        let mut ports = self.flat.ports.iter().map(|port| profile::entries(self.flat, port));
        let beside = ports.find(|handlers| handlers.contains(&handler))?;
        let all = profile::all(beside.into_iter().filter_map(|handler| self.profile.entered(handler)));
        (all >= EVENTS && (own as f32) < all as f32 * SELDOM_AT_PORT)
            .then_some("is of an event that comes too seldom for what a path would cost")
    }

    /// Paths inside also begin at events of these handlers' layers.
    fn note_layers(&mut self, handlers: &[HandlerId]) {
        let layers = handlers.iter().map(|handler| self.flat.class(self.flat.handler(*handler).class).layer);
        for layer in layers {
            if !self.behind.contains(&layer) {
                self.behind.push(layer);
            }
        }
    }

    /// Records the layer where a way ends.
    fn note(&mut self, way: &Region) {
        let end = handed_over(way).map(|handler| way.layer_of(handler));
        self.behind.extend(end.filter(|layer| !self.behind.contains(layer)));
    }
}

/// An estimate of what a way saves: the number of handlers on it.
fn worth(way: &Region) -> f32 {
    way.handlers.len() as f32
}

/// The ways of a path so far: their decisions, and their worth.
#[derive(Default)]
struct Parted(Vec<(Vec<usize>, f32)>);

impl Parted {
    /// Adds a way, if it is worth it: see [`WORTH_MORE`]. Those that part from it early pay nothing for it: one protocol's ways are not
    /// left out for another's.
    fn takes<T>(&mut self, way: &Taken<T>) -> bool {
        let decided = way.decided();
        let along = |other: &[usize]| decided.iter().zip(other).take_while(|(a, b)| a == b).count();
        let furthest = self.0.iter().map(|(other, _)| along(other)).max().unwrap_or(0);
        let beside =
            self.0.iter().filter(|(other, _)| along(other) == furthest).map(|(_, worth)| *worth).fold(0.0, f32::max);
        let first = self.0.first().map_or(0.0, |(_, worth)| *worth);
        let is_worth_it = way.worth >= beside * WORTH_MORE && way.worth >= first * WORTH_AT_ALL;
        if is_worth_it {
            self.0.push((decided, way.worth));
        }
        is_worth_it
    }
}

/// The handler that does the rest; `None` if the way does not hand over.
fn handed_over(way: &Region) -> Option<HandlerId> {
    match way.deeds.last()?.what {
        Do::HandOver { handler, .. } => Some(handler),
        _ => None,
    }
}

/// Without measurements, messages are expected to arrive: if another way failed, a way that drops them is not the usual
/// one.
fn usual(looked: Looked) -> Result<Vec<Taken<Region>>, Option<Why>> {
    let (taken, failed) = looked?;
    let drops = taken[0].found.deeds.iter().any(|deed| matches!(deed.what, Do::Drop { .. }));
    match failed {
        Some(failed) if drops => Err(Some(failed)),
        _ => Ok(taken),
    }
}

/// The handlers of events that a layer emits.
fn emitted_by(automaton: &Automaton, layer: LayerId) -> Vec<HandlerId> {
    let mut handlers = Vec::new();
    for body in automaton.code().filter(|code| code.0 == layer).map(|code| code.1) {
        for (_, handler) in emitted_to(automaton, body) {
            handlers.extend(Some(handler).filter(|handler| !handlers.contains(handler)));
        }
    }
    handlers
}

/// The handlers of the events that a body emits, in order, with their classes.
fn emitted_to<'a>(automaton: &'a Automaton, body: &'a Body) -> impl Iterator<Item = (ClassId, HandlerId)> + 'a {
    body.ops().filter_map(|op| {
        let Some(Emission::Event { target, event, .. }) = op.kind.emission() else { return None };
        let class = automaton.class_for(body, target)?;
        Some((class, automaton.handler_of(class, &Trigger::Event(event.to_owned()))?))
    })
}

/// The handlers of events that enter by a port, each once.
fn entries(automaton: &Automaton) -> Vec<HandlerId> {
    let mut entries = Vec::new();
    for handler in automaton.ports.iter().flat_map(|port| profile::entries(automaton, port)) {
        entries.extend(Some(handler).filter(|handler| !entries.contains(handler)));
    }
    entries
}

/// The automaton with the paths that were found.
pub fn with_paths(automaton: &Automaton, profile: &Profile) -> Automaton {
    made(automaton, profile, Passes::ALL, None).automaton
}

/// The automaton with the paths that were found, which use memos that save more than `worth`; use [`WORTH`] except in
/// tests.
pub fn with_memos(automaton: &Automaton, profile: &Profile, worth: usize) -> Automaton {
    made(automaton, profile, Passes::ALL, Some(worth)).automaton
}

/// An automaton with its paths, and the result for each event.
#[derive(Clone, Debug)]
pub struct Fused {
    pub automaton: Automaton,
    /// By handler of an event: how many layers its path goes through, or why there is none.
    pub events: Vec<(HandlerId, Result<usize, Why>)>,
}

/// The automaton with paths and memos as these passes make them, and the results for the events.
pub fn fused(automaton: &Automaton, profile: &Profile, passes: Passes) -> Fused {
    made(automaton, profile, passes, passes.has(Pass::Memos).then_some(WORTH))
}

fn made(automaton: &Automaton, profile: &Profile, passes: Passes, worth: Option<usize>) -> Fused {
    let found = paths(automaton, profile, passes);
    let layers = |found: &Found| found.path.as_ref().map(|(_, layers)| layers.len()).map_err(Why::clone);
    let events = found.iter().map(|found| (found.handler, layers(found))).collect();
    let (fused, aside) = with(automaton, found);
    let automaton = match worth {
        Some(worth) => memos::remembered_by(&fused, &aside, worth, passes),
        None => fused,
    };
    Fused { automaton, events }
}

fn with(automaton: &Automaton, found: Vec<Found>) -> (Automaton, Aside) {
    let mut aside = Aside::default();
    for found in &found {
        aside.moving.extend(&found.aside.moving);
        aside.often.extend(&found.aside.often);
        aside.seldom.extend(&found.aside.seldom);
    }
    let paths = found.into_iter().filter_map(|found| Some(found.path.ok()?.0)).collect();
    (Automaton { paths, ..automaton.clone() }, aside)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of two protocols the second is half as frequent; of its ways one is a tenth of the other.
    #[test]
    fn ways_of_one_protocol_are_not_left_out_for_those_of_another() {
        let here = Far { steps: 1, nodes: 1 };
        let way = |ways: &[usize], worth: f32| Taken {
            worth,
            ways: ways.iter().map(|way| (*way, here)).collect(),
            found: (),
        };
        let (first, other, seldom, never) =
            (way(&[0, 0], 10.0), way(&[1, 0], 5.2), way(&[1, 1, 0], 0.6), way(&[0, 1], 0.9));
        let mut parted = Parted::default();
        let kept: Vec<bool> = [&first, &other, &never, &seldom].map(|way| parted.takes(way)).into();
        assert_eq!(kept, [true, true, false, true]);
        assert!(!parted.takes(&way(&[1, 1, 1], 0.4)), "it is seldom");
    }
}
