//! Which memos are part of the one before them. Where ways part by what comes with a message, each way has a memo of its own; if all
//! of them ask the same of state, the memo before the parting may ask it, too, and give at once what each way needs.
//!
//! It must keep: a way refuses only where it refused, perhaps earlier.

use std::rc::Rc;

use mokume_reaction::{BlockId, Fallible, OpKind, Terminator, Value};

use super::plan::{Leaf, Plan, Step};
use super::still::Still;
use super::Rewriter;

/// What a memo asks of state, by first values ([`super::same::Same`]).
#[derive(Clone, PartialEq)]
pub(super) enum Ask {
    Lives(Value),
    /// Whether the condition leads to this target.
    Leads(Value, usize),
    Finds(Fallible, usize),
}

impl<'a> Leaf<'a> {
    /// The leaf, and those that its memo gives results for, too.
    pub(super) fn given(&self) -> Vec<&Leaf<'a>> {
        let within = self.arms.iter().filter(|arm| arm.within).flat_map(|arm| &arm.leaves);
        std::iter::once(self).chain(within.flat_map(Leaf::given)).collect()
    }
}

impl<'a> Rewriter<'a> {
    /// Finds out which memos are part of those before them.
    pub(super) fn put_within(&self, plan: &mut Plan<'a>) {
        for leaf in &mut plan.leaves {
            match plan.memo {
                true => {
                    let mut asked = self.asks(&plan.still, leaf);
                    asked.extend(self.asked_behind(&plan.still, leaf));
                    self.take_in(&plan.still, leaf, true, &mut asked);
                }
                false => leaf.arms.iter_mut().for_each(|arm| self.put_within(arm)),
            }
        }
    }

    /// Finds out which pieces behind a leaf are part of a memo that may ask this, and more if the leaf is on its usual way.
    fn take_in(&self, still: &Rc<Still<'a>>, leaf: &mut Leaf<'a>, is_usual: bool, asked: &mut Vec<Ask>) {
        let (last, on) = (leaf.last, self.goes_on(leaf.last));
        let arms = leaf.arms.iter_mut().zip(on).map(|(arm, at)| (arm, at, is_usual && self.is_usual(last, at)));
        // Where what the usual way needs does not live, the others may be refused, too.
        let (usual, others): (Vec<_>, Vec<_>) = arms.partition(|(.., is_usual)| *is_usual);
        for (arm, at, is_usual) in usual.into_iter().chain(others) {
            // What the path finds itself is not there before it is found. Where ways meet, an arm has no leaves.
            let is_found = at == 0 && !self.found(last).is_empty();
            let may_be = !is_found && Rc::ptr_eq(&arm.still, still);
            if let ([one], true) = (&mut arm.leaves[..], may_be) {
                let asks = self.asks(still, one).into_iter();
                let more: Vec<Ask> = asks.filter(|ask| !asked.contains(ask)).collect();
                arm.within = more.iter().all(|ask| is_usual && matches!(ask, Ask::Lives(_)));
                if arm.within {
                    asked.extend(more);
                    self.take_in(still, one, is_usual, asked);
                }
            }
            if !arm.within {
                self.put_within(arm);
            }
        }
    }

    /// Leaves out what a memo gives twice. What one before it gives, it gives again: to read it there takes less than to keep it until
    /// then.
    pub(super) fn give_once(&self, plan: &mut Plan<'a>) {
        plan.leaves.iter_mut().for_each(|leaf| self.give_new(leaf, &mut Vec::new()));
    }

    fn give_new(&self, leaf: &mut Leaf<'a>, known: &mut Vec<Value>) {
        leaf.fields.retain(|field| {
            let first = self.same.of_value(*field);
            let is_new = !known.contains(&first);
            known.extend(is_new.then_some(first));
            is_new
        });
        for arm in &mut leaf.arms {
            match arm.within {
                true => arm.leaves.iter_mut().for_each(|leaf| self.give_new(leaf, known)),
                false => self.give_once(arm),
            }
        }
    }

    /// What a step asks of state.
    pub(super) fn ask_of(&self, still: &Still, (block, at): Step) -> Option<Ask> {
        if !self.is_still_end(still, block) {
            return None;
        }
        match &self.old.blocks[block.index()].terminator {
            Terminator::Branch { condition, .. } => Some(match (&still.made(*condition)?.kind, at) {
                (OpKind::Lives { object }, 0) => Ask::Lives(self.same.of_value(*object)),
                _ => Ask::Leads(self.same.of_value(*condition), at),
            }),
            Terminator::Try { op, .. } => Some(Ask::Finds(self.same.look_up(op), at)),
            _ => None,
        }
    }

    /// Whether a block's target is taken at least as often as not.
    fn is_usual(&self, block: BlockId, at: usize) -> bool {
        match &self.old.blocks[block.index()].terminator {
            Terminator::Branch { likely, .. } => {
                let then = likely.unwrap_or(0.5);
                (if at == 0 { then } else { 1.0 - then }) >= 0.5
            }
            Terminator::Try { .. } => at == 0,
            _ => false,
        }
    }

    /// What is asked of state on a way through a piece, by its memo or by the path.
    fn asks(&self, still: &Still, leaf: &Leaf) -> Vec<Ask> {
        let asks = leaf.steps.iter().filter_map(|step| self.ask_of(still, *step));
        let lives = self.read_from(still, leaf).into_iter();
        asks.chain(lives.map(|object| Ask::Lives(self.same.of_value(object)))).collect()
    }

    /// What is asked behind a leaf wherever the path goes on, as far as memos by the same ask it.
    fn asked_behind(&self, still: &Rc<Still<'a>>, leaf: &Leaf<'a>) -> Vec<Ask> {
        in_all(leaf.arms.iter().map(|arm| match Rc::ptr_eq(&arm.still, still) {
            true => in_all(self.leaves_of(arm).iter().map(|leaf| {
                let mut asks = self.asks(still, leaf);
                asks.extend(self.asked_behind(still, leaf));
                asks
            })),
            false => Vec::new(),
        }))
    }
}

/// What stands in all of these.
fn in_all(mut several: impl Iterator<Item = Vec<Ask>>) -> Vec<Ask> {
    let Some(mut common) = several.next() else { return Vec::new() };
    for other in several {
        common.retain(|ask| other.contains(ask));
    }
    common
}
