//! Where ways meet again: what follows is planned and written once, whatever leads there.
//!
//! It must keep: what is known where ways meet is what all of them know, or what each of them gives.

use std::rc::Rc;

use rustc_hash::FxHashMap as HashMap;

use mokume_reaction::{to, BlockId, Operation, Terminator, Value};

use super::paper::Paper;
use super::plan::{Leaf, Plan, Step};
use super::still::{Key, Still};
use super::Rewriter;

/// A block of the old path to which several ways lead.
pub(super) struct Meeting<'a> {
    /// The piece from there on.
    pub plan: Plan<'a>,
    /// The steps that every way there takes.
    above: Vec<Step>,
    /// What is found before, and needed from there on.
    needs: Vec<Value>,
}

/// Where a way meets others, and what is known there.
pub(super) type Site = (BlockId, HashMap<Value, Value>);

impl<'a> Rewriter<'a> {
    /// Plans what follows where ways meet, each place after those that lead there.
    pub(super) fn plan_meetings(&mut self, still: &Rc<Still<'a>>) {
        let roots = mokume_analyse::in_order(self.old).into_iter();
        let roots = roots.filter(|root| self.flow.edges_into(*root) > 1 && !self.refuses(*root)).collect::<Vec<_>>();
        for root in roots {
            let above = self.above(root);
            let behind = |still: Rc<Still<'a>>, (block, at): &Step| self.still_behind(&still, *block, *at);
            let still = above.iter().fold(Rc::clone(still), behind);
            let plan = self.planned(&still, root);
            self.meetings.push(Meeting { plan, above, needs: Vec::new() });
        }
    }

    /// The steps that every way to a block takes.
    fn above(&self, root: BlockId) -> Vec<Step> {
        let is_above = |block: BlockId| self.flow.dominates(block, root);
        let blocks = mokume_analyse::in_order(self.old).into_iter().filter(|block| *block != root && is_above(*block));
        let taken = |block: BlockId| {
            let mut on = self.goes_on(block).into_iter();
            let at = on.find(|at| {
                let target = self.target(block, *at).block;
                self.flow.edges_into(target) == 1 && is_above(target)
            })?;
            Some((block, at))
        };
        blocks.filter_map(taken).collect()
    }

    /// Determines what is needed where ways meet; then what the memos of these pieces give.
    pub(super) fn fill_meetings(&mut self) {
        // What follows a place is known before it.
        for at in (0..self.meetings.len()).rev() {
            self.meetings[at].needs = self.needs(&self.meetings[at].plan);
        }
        self.change_meetings(Self::fill);
    }

    /// Finds out which memos are part of those before them where ways have met.
    pub(super) fn lift_in_meetings(&mut self) {
        self.change_meetings(|rewriter, plan| {
            rewriter.put_within(plan);
            rewriter.give_once(plan);
        });
    }

    /// Changes the pieces where ways meet, one by one; the others stay known.
    fn change_meetings(&mut self, change: impl Fn(&Self, &mut Plan<'a>)) {
        for at in 0..self.meetings.len() {
            let mut meeting = self.meetings.remove(at);
            change(self, &mut meeting.plan);
            self.meetings.insert(at, meeting);
        }
    }

    /// What a piece where ways meet needs from before: all but what it may work out anew.
    fn needs(&self, plan: &Plan) -> Vec<Value> {
        let mut needs = Vec::new();
        self.kept_by(plan, &mut needs);
        for leaf in &plan.leaves {
            let mut wanted = Vec::new();
            self.wanted((&plan.still, plan.memo), leaf, &mut wanted);
            needs.extend(wanted.into_iter().filter(|value| !(plan.memo && plan.still.is(*value))));
        }
        let mut at = 0;
        while let Some(value) = needs.get(at).copied() {
            at += 1;
            let operands = self.made[value.index()].map(|op| op.kind.operands()).unwrap_or_default();
            needs.extend(operands.into_iter().filter(|operand| !needs.contains(operand)).collect::<Vec<_>>());
        }
        let is_found = |value: &Value| {
            let at = self.old.blocks.iter().position(|block| block.params.contains(value)).map(BlockId::from);
            at.is_some_and(|at| at != BlockId(0) && self.flow.dominates(at, plan.root))
        };
        needs.sort_unstable();
        needs.dedup();
        needs.retain(is_found);
        needs
    }

    /// What the memos of a piece, and of all behind it, are kept by.
    fn kept_by(&self, plan: &Plan, values: &mut Vec<Value>) {
        if plan.memo {
            match &plan.still.key {
                Key::Words { words, .. } => values.extend(words),
                Key::Object(object) => values.push(*object),
            }
        }
        plan.leaves.iter().flat_map(|leaf| &leaf.arms).for_each(|arm| self.kept_by(arm, values));
    }

    /// What is needed where ways meet.
    pub(super) fn needed_in(&self, root: BlockId) -> &[Value] {
        self.meeting(root).map_or(&[], |meeting| &meeting.needs)
    }

    /// The piece that a plan stands for: its own, or that where its ways meet others.
    pub(super) fn leaves_of<'p>(&'p self, plan: &'p Plan<'a>) -> &'p [Leaf<'a>] {
        match self.meeting(plan.root).filter(|_| plan.meets) {
            Some(meeting) => &meeting.plan.leaves,
            None => &plan.leaves,
        }
    }

    fn meeting(&self, root: BlockId) -> Option<&Meeting<'a>> {
        self.meetings.iter().find(|meeting| meeting.plan.root == root)
    }

    /// Writes the pieces where ways meet.
    pub(super) fn write_meetings(&mut self, paper: &mut Paper) {
        let meetings = std::mem::take(&mut self.meetings);
        for Meeting { plan, above, needs } in &meetings {
            let Some(sites) = paper.sites.remove(&plan.root) else { continue };
            let [first, others @ ..] = &sites[..] else { continue };
            // What is one value on all ways is known before they part.
            let mut common = first.1.clone();
            common.retain(|old, new| others.iter().all(|(_, values)| values.get(old) == Some(new)));
            let given: Vec<Value> = needs.iter().copied().filter(|value| !common.contains_key(value)).collect();
            let params: Vec<_> = given.iter().map(|value| self.named(*value)).collect();
            let meeting = paper.builder.block("", &params);
            paper.builder.set_source(None);
            for (block, values) in sites {
                paper.values = values;
                paper.builder.select(block);
                let args: Vec<Value> = given.iter().map(|value| self.value(*value, paper)).collect();
                paper.builder.end(Terminator::Jump { to: to(meeting, args) });
            }
            (paper.values, paper.rooms) = (common, HashMap::default());
            for (value, param) in given.iter().zip(paper.builder.params(meeting).to_vec()) {
                self.know(*value, param, paper);
            }
            paper.builder.select(meeting);
            self.written(plan, above, paper);
        }
    }
}
