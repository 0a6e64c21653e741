//! What a path asks of state that seldom changes, once for many messages (paper `001`, fast-path predicates; Synthesis' invariants).
//!
//! On paths most guards, look-ups and values are of objects and cells that stay as they are from message to message: who is above whom,
//! whether it lives, the neighbour's address. They move to *memos*: functions of state alone, which the path recalls. A memo's answer may
//! be kept until a cell, a map or an object that it read changes; who runs the automaton sees to that, or works it out each time.
//!
//! It must keep: a path with memos in place ([`mokume_analyse::flat`]) asks what it asked before, perhaps in another order and more than
//! once, and does the same.

mod alike;
mod gathered;
mod memo;
mod paper;
mod path;
mod plan;
mod still;

use crate::passes::{Pass, Passes};
use crate::Aside;
use std::collections::HashSet;
use std::rc::Rc;

use mokume_reaction::{
    Automaton, BlockId, Body, CellId, CellKind, ClassId, Fallible, Function, Op, Target, Terminator, Type, Value,
};

use still::{hot, Still};

/// What a memo must save to be worth its place: more than this, in instructions as they are counted here.
pub const WORTH: usize = 8;

/// The automaton, its paths with memos that save more than `worth`; [`WORTH`] but for tests. `aside`: what handlers do beside
/// the paths.
pub fn remembered(automaton: &Automaton, aside: &Aside, worth: usize) -> Automaton {
    remembered_by(automaton, aside, worth, Passes::ALL)
}

/// The same, as far as these passes do it.
pub(crate) fn remembered_by(automaton: &Automaton, aside: &Aside, worth: usize, passes: Passes) -> Automaton {
    let gathers = passes.has(Pass::Gathering);
    let mut automaton = automaton.clone();
    let hot = hot(&automaton, aside);
    for index in 0..automaton.paths.len() {
        let path = &automaton.paths[index];
        let name = automaton.handler_name(path.handler);
        let key = path.body.blocks[0].params[0];
        let mut old = path.body.clone();
        for key in std::iter::once(key).chain(found_by_own_cells(&automaton, &path.body)).filter(|_| gathers) {
            old = gathered::gathered(&Still::of(&old, key, &hot));
        }
        let still = Rc::new(Still::of(&old, key, &hot));
        let mut rewriter = Rewriter {
            automaton: &automaton,
            old: &old,
            name,
            hot: &hot,
            made: still.made.clone(),
            memos: Vec::new(),
            least: worth,
            used: Vec::new(),
        };
        let mut plan = rewriter.plan(&still, BlockId(0), &[]);
        rewriter.find_used(&plan);
        rewriter.fill(&mut plan);
        let mut body = rewriter.body(&plan);
        let mut memos = rewriter.memos;
        if passes.has(Pass::Alike) {
            alike::alike(&mut body, &mut memos, automaton.functions.len());
        }
        if !memos.is_empty() {
            automaton.functions.extend(memos);
            automaton.paths[index].body = body;
        }
    }
    automaton
}

/// What the end of a block finds by its own cells.
fn found_at(automaton: &Automaton, body: &Body, block: BlockId) -> Option<Value> {
    let Terminator::Try { op: Fallible::Find { object, cell, .. }, then, .. } = &body.blocks[block.index()].terminator
    else {
        return None;
    };
    let map = &automaton.cell(body.class_of(*object)?, *cell).kind;
    let is_by = matches!(map, CellKind::Map { by, .. } if !by.is_empty());
    body.blocks[then.block.index()].params.first().copied().filter(|_| is_by)
}

fn found_by_own_cells(automaton: &Automaton, body: &Body) -> Vec<Value> {
    (0..body.blocks.len()).filter_map(|block| found_at(automaton, body, BlockId::from(block))).collect()
}

const U32: Type = Type::U(32);

struct Rewriter<'a> {
    automaton: &'a Automaton,
    old: &'a Body,
    name: String,
    hot: &'a HashSet<(ClassId, CellId)>,
    /// Where a value is made, and by which operation; none of parameters.
    made: Vec<Option<&'a Op>>,
    memos: Vec<Function>,
    least: usize,
    /// What is asked for, still or not, once memos have said what they say.
    used: Vec<bool>,
}

impl<'a> Rewriter<'a> {
    /// Whether a block does nothing but refuse, or go where that is done.
    fn refuses(&self, block: BlockId) -> bool {
        let block = &self.old.blocks[block.index()];
        let goes_there = match &block.terminator {
            Terminator::Refuse { .. } => true,
            Terminator::Jump { to } => self.refuses(to.block),
            _ => false,
        };
        block.ops.is_empty() && goes_there
    }

    /// Whether the block's end asks for what is still, and nothing else.
    fn is_still_end(&self, still: &Still, block: BlockId) -> bool {
        match &self.old.blocks[block.index()].terminator {
            Terminator::Branch { condition, .. } => still.is(*condition),
            Terminator::Try { op, then, .. } => {
                let found = self.old.blocks[then.block.index()].params.iter();
                still.is_attempt(op) && found.clone().all(|param| still.is(*param))
            }
            _ => false,
        }
    }

    /// What is found at a target of a block by its own cells, and moves: memos behind it are of that, which is there.
    fn key_behind(&self, still: &Still, block: BlockId, at: usize) -> Option<Value> {
        let found = found_at(self.automaton, self.old, block)?;
        (at == 0 && !still.is(found)).then_some(found)
    }

    /// What is still behind a target of a block.
    fn still_behind(&self, still: &Rc<Still<'a>>, block: BlockId, at: usize) -> Rc<Still<'a>> {
        match self.key_behind(still, block, at) {
            Some(found) => Rc::new(Still::of(self.old, found, self.hot)),
            None => Rc::clone(still),
        }
    }

    /// The targets of a block by which the path goes on.
    fn goes_on(&self, block: BlockId) -> Vec<usize> {
        let targets = self.old.blocks[block.index()].terminator.targets();
        (0..targets.len()).filter(|at| !self.refuses(targets[*at].block)).collect()
    }

    fn target(&self, block: BlockId, at: usize) -> &'a Target {
        self.old.blocks[block.index()].terminator.targets()[at]
    }
}
