//! `mokume prove A == B`: whether two stacks do the same, handler by handler, or else reaction by reaction.

use std::collections::BTreeSet;
use std::time::Duration;

use mokume_base::World;
use mokume_prove::equal::{judge_same, Extent};
use mokume_prove::judge::{Judged, Step};
use mokume_prove::pair::{pair, Both, Pair};
use mokume_reaction::{Automaton, CellId, CellKind, ClassId, Emission, HandlerId, OpKind, Trigger, Type};

use super::replay::{parted, Alone};
use super::{there, way, Beside, Replayed, Way};
use crate::compile::Compiled;
use crate::failure::Failure;

/// How many sequences of random events both are run with.
const SEQUENCES: u64 = 400;

/// The result for two stacks.
#[derive(Clone, Debug)]
pub struct Equality {
    /// Differences of their declarations, one a line: then nothing is proved.
    pub apart: Vec<String>,
    /// The number of handlers with the same code in both.
    pub same: usize,
    /// Functions and procedures with different code that are proved to do the same: handlers that differ only in these
    /// count as having the same code.
    pub functions: Vec<Part>,
    /// The other handlers, each by itself.
    pub handlers: Vec<Part>,
    /// The events whose reactions involve open handlers, each as a whole.
    pub events: Vec<Part>,
    /// Cells that only one of the two has, `class.cell`: their contents are not compared.
    pub alone: Vec<String>,
    /// The numbers of message buffers, if they differ: drops for lack of buffers may then differ, too.
    pub buffers: Option<(u32, u32)>,
    /// A run from the start in which the two differ, if one was found.
    pub refuted: Option<Replayed>,
}

impl Equality {
    /// Whether every reaction of one is proved equal to that of the other.
    pub fn is_proved(&self) -> bool {
        let all = |parts: &[Part]| parts.iter().all(Part::is_proved);
        let open = !all(&self.handlers);
        self.apart.is_empty() && self.refuted.is_none() && (!open || (all(&self.events) && !self.events.is_empty()))
    }
}

/// The result for a handler, or for an event with all that follows from it.
#[derive(Clone, Debug)]
pub struct Part {
    pub name: String,
    /// Its ways, each proved or open; or why it could not be read.
    pub ways: Result<Vec<Way>, String>,
    pub took: Duration,
}

impl Part {
    /// Whether every way is proved.
    pub fn is_proved(&self) -> bool {
        self.ways.as_ref().is_ok_and(|ways| {
            ways.iter().all(|way| way.verdict.is_ok())
                && ways.iter().any(|way| way.verdict.as_ref().is_ok_and(|shown| !shown.goals.is_empty()))
        })
    }
}

/// Progress and results.
pub enum Heard<'a> {
    /// Work on a handler or an event begins.
    WorksOn(&'a str, Step),
    /// The result for a handler.
    Handler(&'a Part),
    /// The result for an event with all that follows from it.
    Event(&'a Part),
    /// Both are run with random events: how many sequences of them there were, and how many there may be.
    Runs(u64, u64),
}

/// Whether two stacks do the same. A handler or an event that takes longer than the limit is open. The seed is for the
/// random events that both are run with if something is open.
///
/// Fails if a solver is needed and there is none.
pub fn equal(
    world: &dyn World,
    (first, second): (&Compiled, &Compiled),
    (limit, seed): (Duration, u64),
    told: &mut dyn FnMut(Heard),
) -> Result<Equality, Failure> {
    let mut equality = Equality {
        apart: Vec::new(),
        same: 0,
        functions: Vec::new(),
        handlers: Vec::new(),
        events: Vec::new(),
        alone: Vec::new(),
        buffers: None,
        refuted: None,
    };
    let over_one = match pair(&first.uncomposed, &second.uncomposed) {
        Ok(over_one) => over_one,
        Err(apart) => return Ok(Equality { apart, ..equality }),
    };
    let (a, b) = (first.composed.pool, second.composed.pool);
    equality.buffers = (a != b).then_some((a, b));
    let flat = |automaton: &Automaton| mokume_analyse::flat(automaton).into_owned();
    let over_one_with = over_one.with_functions();
    let flat = Pair { first: flat(&over_one_with.first), second: flat(&over_one_with.second), ..over_one.clone() };
    let name = |(class, cell): &(ClassId, CellId)| {
        format!("{}.{}", flat.first.class(*class).name, flat.first.cell(*class, *cell).name)
    };
    equality.alone = flat.alone.iter().map(name).collect();
    let (mut solvers, mut open) = (None, Vec::new());
    let mut judged = |both: &Both, extent, told: &mut dyn FnMut(Heard)| {
        let solvers = match &mut solvers {
            Some(solvers) => solvers,
            none => none.insert(there(world)?),
        };
        let name = name_of(&flat, both);
        let started = world.now();
        let mut watch = |step: Step| {
            told(Heard::WorksOn(&name, step));
            let took = world.now().saturating_sub(started);
            let over = || format!("no answer within {} s", limit.as_secs());
            limit.checked_sub(took).filter(|left| !left.is_zero()).ok_or_else(over)
        };
        let ways = judge_same(&flat, both, extent, solvers, &mut watch);
        let ways = ways.map(|Judged { ways }| ways.into_iter().map(way).collect());
        let took = world.now().saturating_sub(started);
        Ok::<_, Failure>(Part { name, ways, took })
    };
    let handlers = flat.handlers();
    let mut known = BTreeSet::new();
    for both in &handlers {
        let Some(function) = both.function() else { continue };
        let mut part = judged(both, Extent::Handler, told)?;
        if part.is_proved() {
            known.insert(function.to_owned());
            function.clone_into(&mut part.name);
            told(Heard::Handler(&part));
            equality.functions.push(part);
        }
    }
    for both in handlers.iter().filter(|both| both.function().is_none()) {
        // The original code names its functions.
        if over_one.is_same_code(both, &known) {
            equality.same += 1;
            continue;
        }
        // The other never emits it, or emits something else.
        let is_event = matches!(both.trigger, Trigger::Event(_));
        if is_event && (both.first.is_none() || both.second.is_none()) {
            continue;
        }
        let part = judged(both, Extent::Handler, told)?;
        told(Heard::Handler(&part));
        if !part.is_proved() {
            open.push(both.clone());
        }
        equality.handlers.push(part);
    }
    if !open.is_empty() {
        let missing = |both: &&Both| both.first.is_none() || both.second.is_none();
        let open: BTreeSet<Key> = open.iter().chain(handlers.iter().filter(missing)).map(key).collect();
        for both in handlers.iter().filter(|both| both.function().is_none() && begins(&flat, both)) {
            let reached = [(&flat.first, both.first), (&flat.second, both.second)];
            if !reached
                .iter()
                .any(|(automaton, handler)| handler.is_some_and(|handler| reach(automaton, handler, &open)))
            {
                continue;
            }
            let mut part = judged(both, Extent::Reaction, told)?;
            let events = both.first.map_or(Vec::new(), |handler| crate::path::events(&flat.first, handler));
            if !events.is_empty() {
                part.name = events.join(", ");
            }
            told(Heard::Event(&part));
            equality.events.push(part);
        }
    }
    // Proved handlers are run, too: a run that refutes a proof reveals a fault of the judge.
    if !first.calls_c() && !second.calls_c() {
        let started = world.now();
        let mut goes_on = |done| {
            told(Heard::Runs(done, SEQUENCES));
            world.now().saturating_sub(started) < limit
        };
        equality.refuted = refuted(first, &over_one, seed, &mut goes_on);
    }
    Ok(equality)
}

type Key = (ClassId, Trigger);

fn key(both: &Both) -> Key {
    (both.class, both.trigger.clone())
}

fn name_of(pair: &Pair, both: &Both) -> String {
    match (both.first, both.second) {
        (Some(first), _) => pair.first.handler_name(first),
        (None, Some(second)) => pair.second.handler_name(second),
        (None, None) => String::new(),
    }
}

/// Whether it begins reactions in one of the two.
fn begins(pair: &Pair, both: &Both) -> bool {
    let begins = |automaton: &Automaton, handler: Option<HandlerId>| {
        handler.is_some_and(|handler| {
            automaton.begins(handler) || automaton.handler(handler).later_capacity > 0 || both.trigger == Trigger::Start
        })
    };
    begins(&pair.first, both.first) || begins(&pair.second, both.second)
}

/// Whether what follows from a handler may involve one of these.
fn reach(automaton: &Automaton, from: HandlerId, wanted: &BTreeSet<Key>) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(handler) = open.pop() {
        let described = automaton.handler(handler);
        if !seen.insert(handler.0) {
            continue;
        }
        if wanted.contains(&(described.class, described.trigger.clone())) {
            return true;
        }
        open.extend(automaton.handler_of(described.class, &Trigger::Settle));
        let body = &described.body;
        let emissions = body.ops().filter_map(|op| op.kind.emission()).chain(body.put_off());
        for emission in emissions {
            let Emission::Event { target, event, .. } = emission else { continue };
            let class = automaton.class_for(body, target);
            open.extend(class.and_then(|class| automaton.handler_of(class, &Trigger::Event(event.to_owned()))));
        }
        let settling =
            body.ops().filter_map(|op| if let OpKind::Again { object } = op.kind { Some(object) } else { None });
        for object in settling {
            if let Type::Ref(class) = body.values[object.index()].ty {
                open.extend(automaton.handler_of(class, &Trigger::Settle));
            }
        }
    }
    false
}

/// Runs both with the same random events: the first difference, as a test that the first passes.
fn refuted(first: &Compiled, pair: &Pair, seed: u64, goes_on: &mut dyn FnMut(u64) -> bool) -> Option<Replayed> {
    let named = Automaton { name: first.uncomposed.name.clone(), ..pair.first.clone() };
    let beside = Beside { layers: &named, natives: &first.natives, lessons: &[] };
    let cells = pair.alone.iter().map(|(class, cell)| (pair.first.class(*class), pair.first.cell(*class, *cell)));
    let of_kind = |is_it: fn(&CellKind) -> bool| cells.clone().filter(move |(_, cell)| is_it(&cell.kind));
    let alone = Alone {
        counters: of_kind(|kind| matches!(kind, CellKind::Counter))
            .map(|(class, cell)| format!("{}.{}", class.name, cell.name))
            .collect(),
        has_timers: of_kind(|kind| matches!(kind, CellKind::Timer)).next().is_some(),
    };
    let difference = beside.run_while((&pair.second, 0), (SEQUENCES, seed), &alone, goes_on).0?;
    Some(parted(&beside, &first.written, &difference, &pair.second, "where the second differs"))
}
