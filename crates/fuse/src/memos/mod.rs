//! What a path asks of rarely changing state, once for many messages (paper `001`, fast-path predicates; Synthesis'
//! invariants).
//!
//! On paths, most guards, look-ups and values depend on objects and cells that stay the same from message to message:
//! who is above whom, whether it lives, the neighbour's address. They move to *memos*: functions of state alone, which
//! the path recalls. A memo's answer may be kept until a cell, a map or an object that it read changes; the back end
//! ensures that, or computes the memo each time.
//!
//! It must keep: a path with its memos inlined ([`mokume_analyse::flat`]) asks what it asked before, perhaps in another
//! order and more than once, and does the same.

mod alike;
mod gathered;
mod meetings;
mod memo;
mod paper;
mod path;
mod plan;
mod same;
mod still;
mod united;
mod within;

use crate::passes::{Pass, Passes};
use crate::Aside;
use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use mokume_analyse::Flow;

use mokume_reaction::{
    to, Automaton, Block, BlockId, Body, CellId, CellKind, ClassId, Fallible, Function, Op, OpKind, Operation, Target,
    Terminator, Type, Value,
};

use still::{hot, Key, Still};

/// The number of instructions, as counted here, that a memo must save at least to be worthwhile: more than this.
pub const WORTH: usize = 8;

/// The automaton, whose paths use memos that save more than `worth`; use [`WORTH`] except in tests. `aside`: what
/// handlers do beside the paths.
pub fn remembered(automaton: &Automaton, aside: &Aside, worth: usize) -> Automaton {
    remembered_by(automaton, aside, worth, Passes::ALL)
}

/// The same, as far as these passes allow.
pub(crate) fn remembered_by(automaton: &Automaton, aside: &Aside, worth: usize, passes: Passes) -> Automaton {
    let gathers = passes.has(Pass::Gathering);
    let mut automaton = automaton.clone();
    let hot = hot(&automaton, aside);
    let first = automaton.functions.len();
    for index in 0..automaton.paths.len() {
        let path = &automaton.paths[index];
        let name = automaton.handler_name(path.handler);
        let key = path.body.blocks[0].params[0];
        let mut old = look_ups_apart(&automaton, &path.body);
        for key in std::iter::once(key).chain(found_by_own_cells(&automaton, &path.body)).filter(|_| gathers) {
            old = gathered::gathered(&Still::of(&automaton, &old, Key::Object(key), &hot));
        }
        for words in looked_up_by(&automaton, &old).into_iter().filter(|_| gathers) {
            old = gathered::gathered(&Still::of(&automaton, &old, Key::words(&old, words), &hot));
        }
        let still = Rc::new(Still::of(&automaton, &old, Key::Object(key), &hot));
        let mut rewriter = Rewriter {
            automaton: &automaton,
            old: &old,
            name,
            hot: &hot,
            made: still.made.clone(),
            same: same::Same::of(&old),
            flow: Flow::new(&old),
            stills: RefCell::default(),
            meetings: Vec::new(),
            memos: Vec::new(),
            least: worth,
            used: Vec::new(),
        };
        let mut plan = rewriter.plan(&still, BlockId(0));
        rewriter.plan_meetings(&still);
        rewriter.find_used(&plan);
        rewriter.fill_meetings();
        rewriter.fill(&mut plan);
        if passes.has(Pass::Lifting) {
            rewriter.put_within(&mut plan);
            rewriter.give_once(&mut plan);
            rewriter.lift_in_meetings();
        }
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
    if passes.has(Pass::Uniting) {
        united::united(&mut automaton, first);
    }
    automaton
}

/// The object that a look-up at the end of a block finds by its own cells.
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

/// Of a class with this many places, what is found by numbers of a message is kept beside the object: a place for each
/// message that may come would take too much memory.
const MANY: u32 = 1000;
/// What a memo that is kept by numbers must save beside its look-up, which it does not save.
const WORTH_BY_WORDS: usize = 30;

/// The numbers by which a block looks an object up by its own cells, if some are read from the path's message; the others come
/// from elsewhere.
fn words_at(automaton: &Automaton, body: &Body, block: BlockId) -> Option<Vec<Value>> {
    found_at(automaton, body, block)?;
    let Terminator::Try { op: Fallible::Find { object, cell, key }, .. } = &body.blocks[block.index()].terminator
    else {
        return None;
    };
    let CellKind::Map { value, .. } = &automaton.cell(body.class_of(*object)?, *cell).kind else { return None };
    let is_few = matches!(value.first(), Some(Type::Ref(of)) if automaton.class(*of).capacity < MANY);
    let made = |value: Value| body.ops().find(|op| op.results.first() == Some(&value)).map(|op| &op.kind);
    let is_read = |value: &&Value| {
        let Some(OpKind::Load { message, at, .. }) = made(**value) else { return false };
        body.blocks[0].params.contains(message) && matches!(made(*at), Some(OpKind::Const { .. }))
    };
    let mut words: Vec<Value> = Vec::new();
    for word in key.iter().filter(is_read) {
        if !words.contains(word) {
            words.push(*word);
        }
    }
    (is_few && !words.is_empty()).then_some(words)
}

/// The same of all look-ups of a body.
fn looked_up_by(automaton: &Automaton, body: &Body) -> Vec<Vec<Value>> {
    (0..body.blocks.len()).filter_map(|block| words_at(automaton, body, BlockId::from(block))).collect()
}

/// The body where look-ups by numbers of a message stand in blocks of their own.
fn look_ups_apart(automaton: &Automaton, body: &Body) -> Body {
    let mut apart = body.clone();
    for at in 0..body.blocks.len() {
        if words_at(automaton, body, BlockId::from(at)).is_some() {
            let next = BlockId::from(apart.blocks.len());
            let block = &mut apart.blocks[at];
            let terminator = std::mem::replace(&mut block.terminator, Terminator::Jump { to: to(next, []) });
            let (label, mark) = (String::new(), block.mark.take());
            apart.blocks.push(Block { label, params: Vec::new(), ops: Vec::new(), terminator, mark, bound: None });
        }
    }
    apart
}

const U32: Type = Type::U(32);

struct Rewriter<'a> {
    automaton: &'a Automaton,
    old: &'a Body,
    name: String,
    hot: &'a HashSet<(ClassId, CellId)>,
    /// The operation that makes each value; `None` for parameters.
    made: Vec<Option<&'a Op>>,
    same: same::Same,
    flow: Flow,
    /// The still values behind blocks where memos begin to be kept by something else.
    stills: RefCell<HashMap<BlockId, Rc<Still<'a>>>>,
    /// Where ways meet again, in order.
    meetings: Vec<meetings::Meeting<'a>>,
    memos: Vec<Function>,
    least: usize,
    /// Values that are needed after the memos, still or not.
    used: Vec<bool>,
}

impl<'a> Rewriter<'a> {
    /// Whether a block does nothing but refuse, or jump to such a block.
    fn refuses(&self, block: BlockId) -> bool {
        let block = &self.old.blocks[block.index()];
        let goes_there = match &block.terminator {
            Terminator::Refuse { .. } => true,
            Terminator::Jump { to } => self.refuses(to.block),
            _ => false,
        };
        block.ops.is_empty() && goes_there
    }

    /// Whether the question at the block's end depends only on still values, and finds only such.
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

    /// The object that a look-up finds by its own cells, if it is not still: memos after it belong to that object,
    /// which exists.
    fn key_behind(&self, still: &Still, block: BlockId, at: usize) -> Option<Value> {
        let found = found_at(self.automaton, self.old, block)?;
        (at == 0 && !still.is(found)).then_some(found)
    }

    /// The numbers by which memos behind a block are kept: it leads to a look-up by numbers of the message that are not
    /// still, and much behind it depends on what is found.
    fn key_at(&self, still: &Still<'a>, block: BlockId) -> Option<Rc<Still<'a>>> {
        let Terminator::Jump { to } = &self.old.blocks[block.index()].terminator else { return None };
        let words = words_at(self.automaton, self.old, to.block)?;
        let Terminator::Try { op, .. } = &self.old.blocks[to.block.index()].terminator else { return None };
        let is_known = |value: &Value| words.contains(value) || still.is(*value);
        if still.key.object().is_none() || still.is_attempt(op) || !op.operands().iter().all(is_known) {
            return None;
        }
        let kept = Rc::new(Still::of(self.automaton, self.old, Key::words(self.old, words), self.hot));
        (self.saved(&kept, to.block) > WORTH_BY_WORDS).then_some(kept)
    }

    /// An estimate of what memos that are kept by the same save from a block on, on the way where they save most.
    fn saved(&self, still: &Still<'a>, root: BlockId) -> usize {
        let ways = self.ways(still, root, true).into_iter().map(|(steps, last)| {
            let on = self.goes_on(last).into_iter().map(|at| self.saved(still, self.target(last, at).block));
            self.worth(still, &steps, last) + on.max().unwrap_or(0)
        });
        ways.max().unwrap_or(0)
    }

    /// The still values after a target of a block.
    fn still_behind(&self, still: &Rc<Still<'a>>, block: BlockId, at: usize) -> Rc<Still<'a>> {
        let known = |kept: Rc<Still<'a>>| Rc::clone(self.stills.borrow_mut().entry(block).or_insert(kept));
        if let Some(kept) = self.key_at(still, block) {
            return known(kept);
        }
        match self.key_behind(still, block, at) {
            Some(found) => known(Rc::new(Still::of(self.automaton, self.old, Key::Object(found), self.hot))),
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
