//! What a path asks of state that seldom changes, once for many messages (paper `001`, fast-path predicates; Synthesis' invariants).
//!
//! On paths most guards, look-ups and values are of objects and cells that stay as they are from message to message: who is above whom,
//! whether it lives, the neighbour's address. They move to *memos*: functions of state alone, which the path recalls. A memo's answer may
//! be kept until a cell, a map or an object that it read changes; who runs the automaton sees to that, or works it out each time.
//!
//! It must keep: a path with memos in place ([`mokume_analyse::flat`]) asks what it asked before, perhaps in another order and more than
//! once, and does the same.

mod gathered;
mod memo;
mod paper;
mod path;
mod plan;
mod still;

use crate::Aside;
use mokume_reaction::{Automaton, BlockId, Body, Function, Target, Terminator, Type};

use still::{hot, Still};

/// What a memo must save to be worth its place: more than this, in instructions as they are counted here.
pub const WORTH: usize = 8;

/// The automaton, its paths with memos that save more than `worth`; [`WORTH`] but for tests. `aside`: what handlers do beside
/// the paths.
pub fn remembered(automaton: &Automaton, aside: &Aside, worth: usize) -> Automaton {
    let mut automaton = automaton.clone();
    let hot = hot(&automaton, aside);
    for index in 0..automaton.paths.len() {
        let path = &automaton.paths[index];
        let name = automaton.handler_name(path.handler);
        let old = gathered::gathered(&Still::of(&path.body, &hot));
        let still = Still::of(&old, &hot);
        let mut rewriter = Rewriter {
            automaton: &automaton,
            old: &old,
            name,
            still,
            memos: Vec::new(),
            least: worth,
            used: Vec::new(),
        };
        let mut plan = rewriter.plan(BlockId(0), &[]);
        rewriter.find_used(&plan);
        rewriter.fill(&mut plan);
        let body = rewriter.body(&plan);
        let memos = rewriter.memos;
        if !memos.is_empty() {
            automaton.functions.extend(memos);
            automaton.paths[index].body = body;
        }
    }
    automaton
}

const U32: Type = Type::U(32);

struct Rewriter<'a> {
    automaton: &'a Automaton,
    old: &'a Body,
    name: String,
    still: Still<'a>,
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
    fn is_still_end(&self, block: BlockId) -> bool {
        match &self.old.blocks[block.index()].terminator {
            Terminator::Branch { condition, .. } => self.still.is(*condition),
            Terminator::Try { op, then, .. } => {
                let found = self.old.blocks[then.block.index()].params.iter();
                self.still.is_attempt(op) && found.clone().all(|param| self.still.is(*param))
            }
            _ => false,
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
