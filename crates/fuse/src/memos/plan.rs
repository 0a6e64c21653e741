//! What of a path moves to memos. A path is divided into pieces, which end where ways part by what comes with a
//! message. Within a piece, ways may part by still values.

use std::rc::Rc;

use mokume_reaction::{Binary, BlockId, Compare, Op, OpKind, Operation, Terminator, Value};

use super::still::Still;
use super::Rewriter;

/// The most ways that one memo may distinguish.
const LEAVES: usize = 6;

/// A block on a way, and which of its targets the way takes.
pub(super) type Step = (BlockId, usize);

/// A piece of a path from a block on, up to where its ways part.
pub(super) struct Plan<'a> {
    pub still: Rc<Still<'a>>,
    pub root: BlockId,
    /// Whether a memo selects the leaf and returns still values; otherwise there is one leaf.
    pub memo: bool,
    /// Whether its memo is part of the one before it.
    pub within: bool,
    /// Whether several ways lead to its root: what follows is planned apart ([`super::meetings`]).
    pub meets: bool,
    pub leaves: Vec<Leaf<'a>>,
}

/// One way through a piece.
pub(super) struct Leaf<'a> {
    /// The blocks before the last, which ends the path or parts it.
    pub steps: Vec<Step>,
    pub last: BlockId,
    /// The pieces after the last block: one for each target that is not an exit, in order.
    pub arms: Vec<Plan<'a>>,
    /// Still values that are needed after the memo.
    pub fields: Vec<Value>,
    /// A message's size with its upper bounds: it is compared once, with the least.
    pub bounds: Option<(Value, Vec<Bound>)>,
}

impl Leaf<'_> {
    /// All blocks on the way.
    pub fn blocks(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.steps.iter().map(|(block, _)| *block).chain([self.last])
    }

    /// Whether the block's question is one of the bounds.
    pub fn is_bound(&self, block: BlockId) -> bool {
        self.bounds.as_ref().is_some_and(|(_, bounds)| bounds.iter().any(|bound| bound.block == block))
    }
}

/// The size plus `more` octets must not exceed a still limit.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    pub block: BlockId,
    pub more: u64,
    pub limit: Value,
}

impl<'a> Rewriter<'a> {
    /// The ways from a block on; ways that part by still values are separate if `memo`.
    pub(super) fn ways(&self, still: &Still<'a>, root: BlockId, memo: bool) -> Vec<(Vec<Step>, BlockId)> {
        let mut found = Vec::new();
        let mut open = vec![(Vec::new(), root)];
        while let Some((mut steps, block)) = open.pop() {
            let on = self.goes_on(block);
            let is_alone = |at: &usize| self.flow.edges_into(self.target(block, *at).block) == 1;
            let parts = on.len() > 1
                && !(memo && self.is_still_end(still, block) && found.len() + open.len() + on.len() <= LEAVES);
            // What is looked up by numbers of the message is kept by these.
            let begins = self.key_at(still, block).is_some();
            if on.is_empty() || parts || begins || !on.iter().all(is_alone) {
                found.push((steps, block));
                continue;
            }
            if let [one] = on[..] {
                // Memos after a found object belong to that object.
                if self.key_behind(still, block, one).is_some() {
                    found.push((steps, block));
                    continue;
                }
                steps.push((block, one));
                open.push((steps, self.target(block, one).block));
                continue;
            }
            // The likeliest comes first.
            for at in on.into_iter().rev() {
                let mut steps = steps.clone();
                steps.push((block, at));
                open.push((steps, self.target(block, at).block));
            }
        }
        found
    }

    /// Plans a piece, if one way leads there.
    pub(super) fn plan(&self, still: &Rc<Still<'a>>, root: BlockId) -> Plan<'a> {
        if self.flow.edges_into(root) > 1 {
            let still = Rc::clone(still);
            return Plan { still, root, memo: false, within: false, meets: true, leaves: Vec::new() };
        }
        self.planned(still, root)
    }

    /// Plans a piece.
    pub(super) fn planned(&self, still: &Rc<Still<'a>>, root: BlockId) -> Plan<'a> {
        let ways = self.ways(still, root, true);
        let memo = ways.iter().map(|(steps, last)| self.worth(still, steps, *last)).max().unwrap_or(0) > self.least;
        let ways = if memo { ways } else { self.ways(still, root, false) };
        let leaves = ways.into_iter().map(|(steps, last)| {
            let arms = self.goes_on(last).into_iter();
            let arms = arms.map(|at| self.plan(&self.still_behind(still, last, at), self.target(last, at).block));
            let arms: Vec<Plan<'a>> = arms.collect();
            let bounds = if memo { self.bounds(still, &steps) } else { None };
            Leaf { steps, last, arms, fields: Vec::new(), bounds }
        });
        Plan { still: Rc::clone(still), root, memo, within: false, meets: false, leaves: leaves.collect() }
    }

    /// Determines what leaves need from their memos.
    pub(super) fn fill(&self, plan: &mut Plan<'a>) {
        for leaf in &mut plan.leaves {
            leaf.arms.iter_mut().for_each(|arm| self.fill(arm));
            if plan.memo {
                let mut wanted = Vec::new();
                let still = Rc::clone(&plan.still);
                self.wanted((&still, true), leaf, &mut wanted);
                // What the last block finds, the path finds itself.
                let ends = self.old.blocks[leaf.last.index()].terminator.targets();
                let finds: Vec<Value> =
                    ends.iter().flat_map(|to| self.old.blocks[to.block.index()].params.iter().copied()).collect();
                wanted.retain(|value| still.is(*value) && !still.is_cheap(*value) && !finds.contains(value));
                leaf.fields = wanted;
            }
        }
    }

    /// Finds the values that are needed after the memos.
    pub(super) fn find_used(&mut self, plan: &Plan) {
        let mut used = vec![false; self.old.values.len()];
        self.use_of(plan, &mut used);
        self.meetings.iter().for_each(|meeting| self.use_of(&meeting.plan, &mut used));
        // The operands of needed values are needed, too.
        for _ in 0..2 {
            for op in self.old.blocks.iter().rev().flat_map(|block| block.ops.iter().rev()) {
                if op.results.iter().any(|result| used[result.index()]) {
                    op.kind.for_each_operand(&mut |operand| used[operand.index()] = true);
                }
            }
        }
        self.used = used;
    }

    pub(super) fn use_of(&self, plan: &Plan, used: &mut [bool]) {
        for leaf in &plan.leaves {
            for block in leaf.blocks() {
                let found = &self.old.blocks[block.index()];
                for op in found.ops.iter().filter(|op| !is_pure(op)) {
                    op.kind.for_each_operand(&mut |operand| used[operand.index()] = true);
                }
                if self.is_asked((&plan.still, plan.memo), leaf, block) {
                    found.terminator.operands().into_iter().for_each(|operand| used[operand.index()] = true);
                }
                let args = found.terminator.targets().into_iter().flat_map(|target| target.args.iter());
                args.for_each(|arg| used[arg.index()] = true);
            }
            if let Some((size, _)) = leaf.bounds {
                used[size.index()] = true;
            }
            leaf.arms.iter().for_each(|arm| self.use_of(arm, used));
        }
    }

    /// Whether the path itself asks the question at a block's end.
    pub(super) fn is_asked(&self, (still, memo): (&Still, bool), leaf: &Leaf, block: BlockId) -> bool {
        !(memo && block != leaf.last && (self.is_still_end(still, block) || leaf.is_bound(block)))
    }

    /// Whether the operation only makes values that are not needed.
    pub(super) fn is_idle(&self, op: &Op) -> bool {
        is_pure(op) && !op.results.iter().any(|result| self.used[result.index()])
    }

    /// The bounds of a message's size on a way, if there are several.
    pub(super) fn bounds(&self, still: &Still, steps: &[Step]) -> Option<(Value, Vec<Bound>)> {
        let all: Vec<(Value, Bound)> = steps.iter().filter_map(|(block, at)| self.bound(still, *block, *at)).collect();
        let size = all.first()?.0;
        let own: Vec<Bound> = all.into_iter().filter(|(of, _)| *of == size).map(|(_, bound)| bound).collect();
        (own.len() > 1).then_some((size, own))
    }

    pub(super) fn bound(&self, still: &Still, block: BlockId, at: usize) -> Option<(Value, Bound)> {
        let Terminator::Branch { condition, .. } = &self.old.blocks[block.index()].terminator else { return None };
        if !self.refuses(self.target(block, 1 - at).block) {
            return None;
        }
        let OpKind::Compare { op, a, b } = still.made(*condition)?.kind else { return None };
        let (low, limit, is_less) = match (op, at == 0) {
            (Compare::Le, true) | (Compare::Gt, false) => (a, b, 0),
            (Compare::Lt, true) | (Compare::Ge, false) => (a, b, 1),
            (Compare::Ge, true) | (Compare::Lt, false) => (b, a, 0),
            (Compare::Gt, true) | (Compare::Le, false) => (b, a, 1),
            (Compare::Eq | Compare::Ne, _) => return None,
        };
        let is_size = |value: Value| still.made(value).is_some_and(|op| matches!(op.kind, OpKind::Size { .. }));
        let (size, more) = match still.made(low)?.kind {
            OpKind::Binary { op: Binary::AddWrap, a, b } => (a, still.constant(b)?),
            _ => (low, 0),
        };
        // No message is so long that the sum wraps around.
        let fits = is_size(size) && more < 1 << 30 && still.is(limit);
        let more = more + is_less;
        let fits = fits && still.constant(limit).is_none_or(|limit| limit >= more);
        fits.then_some((size, Bound { block, more, limit }))
    }

    /// An estimate of what a memo saves on a way.
    pub(super) fn worth(&self, still: &Still, steps: &[Step], last: BlockId) -> usize {
        let ends = steps.iter().filter(|(block, _)| self.is_still_end(still, *block)).map(|(block, _)| {
            match &self.old.blocks[block.index()].terminator {
                Terminator::Try { .. } => 15,
                _ => 2,
            }
        });
        let blocks = steps.iter().map(|(block, _)| *block).chain([last]);
        let ops = blocks.flat_map(|block| &self.old.blocks[block.index()].ops);
        let still = ops.filter(|op| op.results.iter().any(|result| still.is(*result) && !still.is_cheap(*result)));
        let ops = still.map(|op| match op.kind {
            OpKind::Lives { .. } => 6,
            OpKind::Get { .. } => 2,
            _ => 1,
        });
        ends.chain(ops).sum()
    }

    /// The values that a leaf, and all after it, needs from elsewhere, each once; with `memo`, all still values count
    /// as made elsewhere.
    pub(super) fn wanted(&self, (still, memo): (&Still, bool), leaf: &Leaf, wanted: &mut Vec<Value>) {
        let mut want = |value: Value| {
            if !wanted.contains(&value) {
                wanted.push(value);
            }
        };
        for block in leaf.blocks() {
            let found = &self.old.blocks[block.index()];
            for op in found.ops.iter().filter(|op| !(self.is_idle(op) || memo && still.is_made(op))) {
                op.kind.for_each_operand(&mut want);
            }
            if self.is_asked((still, memo), leaf, block) {
                found.terminator.operands().into_iter().for_each(&mut want);
            }
            let args = found.terminator.targets().into_iter().flat_map(|target| target.args.iter().copied());
            args.for_each(&mut want);
        }
        for arm in &leaf.arms {
            if arm.meets {
                self.needed_in(arm.root).iter().copied().for_each(&mut want);
            }
            // What a memo inside returns there is not needed here.
            for inner in &arm.leaves {
                let mut more = Vec::new();
                self.wanted((&arm.still, arm.memo), inner, &mut more);
                let here = more.into_iter().filter(|value| !(arm.memo && arm.still.is(*value)));
                here.for_each(&mut want);
            }
        }
        let made: Vec<Value> = leaf
            .blocks()
            .flat_map(|block| {
                let found = &self.old.blocks[block.index()];
                let results = found.ops.iter().flat_map(|op| op.results.iter());
                let targets = found.terminator.targets().into_iter();
                let params = targets.flat_map(|target| self.old.blocks[target.block.index()].params.iter());
                results.chain(params).copied().collect::<Vec<_>>()
            })
            .collect();
        // Cheap values are made of others, where they are used.
        let mut at = 0;
        while at < wanted.len() {
            if still.is_cheap(wanted[at]) {
                for operand in still.made(wanted[at]).map(|op| op.kind.operands()).unwrap_or_default() {
                    if !wanted.contains(&operand) {
                        wanted.push(operand);
                    }
                }
            }
            at += 1;
        }
        // What the memo gives is told apart by whoever asks.
        wanted.retain(|value| !made.contains(value) || memo && still.is(*value));
    }
}

/// Whether the operation only makes a value that is not a message.
pub(super) fn is_pure(op: &Op) -> bool {
    let makes = !matches!(op.kind, OpKind::Front { .. });
    makes && (op.kind.effects() - mokume_reaction::Effects::READS).is_empty()
}
