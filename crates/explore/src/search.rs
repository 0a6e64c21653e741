//! The search. It is breadth first, so the first violation has a shortest trace. When every state is known, it sweeps
//! backwards to find the states from which all can still be delivered.

use std::ops::ControlFlow;
use std::sync::Arc;

use mokume_reaction::{Automaton, BlockId};

use crate::channels::EMPTY;
use crate::layout::{Key, Layout, State};
use crate::locals::{Beginning, Locals};
use crate::moves::{each_move, Move};
use crate::outcome::{Finding, Outcome, Property, Strength, Verdict, Violation};
use crate::program::Program;
use crate::store::Store;
use crate::trace::{retell, Told};
use crate::world::{Unfit, World};

/// The limits of an exploration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// The most states.
    pub states: usize,
    /// Whether [`Property::Progress`] is checked, which takes sweeps over all states.
    pub progress: bool,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { states: 1 << 24, progress: true }
    }
}

/// Explores the automaton in the world.
pub fn explore(automaton: &Automaton, world: &World, effort: Effort) -> Result<Outcome, Unfit> {
    let program = Program::new(Arc::new(automaton.clone()), world)?;
    let mut locals = Locals::new(program);
    let beginning = locals.begin()?;
    let too_large = || Unfit("the states of so many hosts, channels and packets are too many for one word".to_string());
    let mut layout = Layout::new(world.hosts);
    loop {
        // Some numbers do not fit their fields: repeats with wider ones. The tables are kept, so this is cheap.
        layout.grow(locals.info.len(), locals.channels.len());
        let outcome = match layout.bits() {
            0..=64 => run::<u64>(&mut locals, &layout, &beginning, effort),
            65..=128 => run::<u128>(&mut locals, &layout, &beginning, effort),
            _ => return Err(too_large()),
        };
        if let Some(outcome) = outcome {
            return Ok(outcome);
        }
    }
}

pub(crate) struct Search<'a, K> {
    pub locals: &'a mut Locals,
    pub layout: &'a Layout,
    pub store: Store<K>,
    pub transitions: u64,
}

/// A violation: the state before it, the step (`None`: the state itself is wrong), and the fault.
pub(crate) struct Found {
    pub state: u32,
    pub step: Option<Move>,
    pub property: Property,
    pub text: String,
}

pub(crate) enum StopReason {
    All,
    Limit,
    Found(Found),
    /// A number did not fit its field.
    Outgrown,
}

/// The number of states whose steps are collected before they go into the store.
const BLOCK: usize = 32;

fn run<K: Key>(locals: &mut Locals, layout: &Layout, beginning: &Beginning, effort: Effort) -> Option<Outcome> {
    let mut search = Search::<K>::new(locals, layout, beginning);
    let stopped = search.forwards(effort.states);
    let (strength, found) = match stopped {
        StopReason::Outgrown => return None,
        StopReason::Limit => (Strength::Bounded { limit: effort.states }, None),
        StopReason::Found(found) => (Strength::UpToViolation, Some(found)),
        StopReason::All if effort.progress => (Strength::Exhaustive, search.stuck()),
        StopReason::All => (Strength::Exhaustive, None),
    };
    Some(search.outcome(strength, found, effort))
}

impl<'a, K: Key> Search<'a, K> {
    /// A search that knows only the first state: hosts after their start, with the packets they sent under way.
    pub fn new(locals: &'a mut Locals, layout: &'a Layout, beginning: &Beginning) -> Self {
        let mut search = Search { locals, layout, store: Store::new(), transitions: 0 };
        let first = search.layout.pack(&first_state(search.layout, search.locals, beginning));
        search.store.add_all(&[(first, 0)]);
        search
    }

    /// Visits states breadth first until there are no more, a step is a fault, more than `limit` states are known, or a
    /// number does not fit its field. It checks the limit after each block, so it may know a few states more.
    pub fn forwards(&mut self, limit: usize) -> StopReason {
        let mut at = 0;
        let mut found = Vec::new();
        while at < self.store.len() {
            let end = (at + BLOCK).min(self.store.len());
            for state in at..end {
                if let Some(violation) = self.expand(state, &mut found) {
                    return StopReason::Found(violation);
                }
            }
            if !self.layout.fits(self.locals.info.len(), self.locals.channels.len()) {
                return StopReason::Outgrown;
            }
            self.store.add_all(&found);
            found.clear();
            if self.store.len() > limit {
                return StopReason::Limit;
            }
            at = end;
        }
        StopReason::All
    }

    /// Adds the steps from a state to `found`; a step that is a fault ends the search.
    fn expand(&mut self, number: usize, found: &mut Vec<(K, u32)>) -> Option<Found> {
        let state = self.store.keys[number];
        let mut steps = 0;
        let layout = self.layout;
        let wrong = each_move(self.locals, layout, state, &mut |step, next, fault| {
            if fault != 0 {
                return ControlFlow::Break((step, fault));
            }
            steps += 1;
            if next != state {
                found.push((next, number as u32));
            }
            ControlFlow::Continue(())
        });
        self.transitions += steps;
        if let ControlFlow::Break((step, fault)) = wrong {
            let fault = &self.locals.faults[fault as usize - 1];
            let (property, text) = (fault.property, fault.text.clone());
            return Some(Found { state: number as u32, step: Some(step), property, text });
        }
        if steps == 0 && !self.is_done(state) {
            let text = "nothing can happen any more".to_string();
            return Some(Found { state: number as u32, step: None, property: Property::Deadlock, text });
        }
        None
    }

    fn is_done(&self, state: K) -> bool {
        self.layout.hosts.iter().all(|host| self.locals.info[state.get(*host) as usize].is_done)
    }

    /// The nearest state from which not all can be delivered any more. Uses one bit a state and no edges: each sweep
    /// marks the states that lead to a marked state, until nothing changes.
    pub fn stuck(&mut self) -> Option<Found> {
        let mut marks = vec![0u64; self.store.len().div_ceil(64)];
        loop {
            let mut is_new = false;
            for number in (0..self.store.len()).rev() {
                if marks[number / 64] >> (number % 64) & 1 == 0 && self.leads_on(number, &marks) {
                    marks[number / 64] |= 1 << (number % 64);
                    is_new = true;
                }
            }
            if !is_new {
                break;
            }
        }
        let marked = |number: &usize| marks[number / 64] >> (number % 64) & 1 == 1;
        let stuck = (0..self.store.len()).filter(|number| !marked(number));
        let (mut count, mut first) = (0, None);
        for number in stuck {
            count += 1;
            first = first.or(Some(number));
        }
        let text = format!("from here not all can be delivered any more (one of {count} such states)");
        first.map(|state| Found { state: state as u32, step: None, property: Property::Progress, text })
    }

    fn leads_on(&mut self, number: usize, marks: &[u64]) -> bool {
        let state = self.store.keys[number];
        if self.is_done(state) {
            return true;
        }
        let (layout, store) = (self.layout, &self.store);
        each_move(self.locals, layout, state, &mut |_, next, _| match store.find(next) {
            Some(to) if marks[to as usize / 64] >> (to % 64) & 1 == 1 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        })
        .is_break()
    }

    /// The steps that lead to a state, and the last one.
    fn way_to(&mut self, found: &Found) -> Vec<(State, Move)> {
        let mut chain = vec![found.state];
        while let Some(last) = chain.last().copied().filter(|last| *last != 0) {
            chain.push(self.store.parents[last as usize]);
        }
        chain.reverse();
        let mut way = Vec::new();
        for pair in chain.windows(2) {
            let state = self.store.keys[pair[0] as usize];
            let (layout, wanted) = (self.layout, self.store.keys[pair[1] as usize]);
            let step = each_move(self.locals, layout, state, &mut |step, next, _| {
                if next == wanted {
                    ControlFlow::Break(step)
                } else {
                    ControlFlow::Continue(())
                }
            });
            if let ControlFlow::Break(step) = step {
                way.push((layout.unpack(state), step));
            }
        }
        if let Some(step) = found.step {
            way.push((self.layout.unpack(self.store.keys[found.state as usize]), step));
        }
        way
    }

    fn depth(&self) -> u64 {
        let mut depth = 0;
        let mut at = self.store.len() - 1;
        while at != 0 {
            at = self.store.parents[at] as usize;
            depth += 1;
        }
        depth
    }

    fn outcome(mut self, strength: Strength, found: Option<Found>, effort: Effort) -> Outcome {
        let verdicts = Property::ALL.iter().map(|property| Verdict {
            property: *property,
            finding: match (&found, &strength) {
                (Some(found), _) if found.property == *property => self.violation(found),
                _ if *property == Property::Progress && !effort.progress => Finding::Open,
                (_, Strength::Exhaustive) => Finding::Holds,
                _ => Finding::Open,
            },
        });
        let verdicts = verdicts.collect();
        let program = &self.locals.program;
        Outcome {
            stack: program.automaton.name.clone(),
            world: program.world.clone(),
            strength,
            verdicts,
            states: self.store.len() as u64,
            transitions: self.transitions,
            depth: self.depth(),
            bytes_per_state: self.store.bytes() as f64 / self.store.len() as f64,
            host_states: self.locals.info.len(),
            packets: self.locals.tables.packets.len(),
            bytes_of_tables: self.locals.bytes(),
            unreached: unreached(self.locals),
        }
    }

    fn violation(&mut self, found: &Found) -> Finding {
        let way = self.way_to(found);
        let Told { steps, chart } = retell(self.locals, self.layout, &way, &found.text);
        Finding::Violated(Box::new(Violation { text: found.text.clone(), steps, chart }))
    }
}

pub(crate) fn first_state(layout: &Layout, locals: &mut Locals, beginning: &Beginning) -> State {
    let mut state = State { hosts: beginning.hosts.clone(), channels: vec![EMPTY; layout.channels.len()] };
    for (channel, (from, _)) in layout.endpoints.iter().enumerate() {
        for packet in &beginning.packets[*from] {
            let content = &mut state.channels[channel];
            *content = locals.channels.put(*content, *packet).unwrap_or(*content);
        }
    }
    state
}

/// Handlers and blocks that never ran, as `handler` or `handler/block`.
fn unreached(locals: &Locals) -> Vec<String> {
    let program = &locals.program;
    let mut unreached = Vec::new();
    let a = &program.automaton;
    let handlers = (0..a.handlers.len()).map(|handler| a.handler_name(handler.into()));
    let procedures = a.functions.iter().filter(|function| function.procedure().is_some());
    let names = handlers.chain(procedures.map(|function| function.name.clone()));
    for (((_, body), name), first) in a.code().zip(names).zip(&program.first_block) {
        let blocks = &body.blocks;
        let missed = |block: &usize| !locals.covered[first + block];
        match (0..blocks.len()).filter(missed).collect::<Vec<_>>() {
            all if all.len() == blocks.len() => unreached.push(name),
            some => unreached.extend(some.iter().map(|block| {
                let BlockId(number) = BlockId(*block as u32);
                match blocks[*block].label.as_str() {
                    "" => format!("{name}/{number}"),
                    label => format!("{name}/{label}"),
                }
            })),
        }
    }
    unreached
}
