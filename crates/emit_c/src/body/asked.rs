//! What a path has asked of the state and has not changed since: operations that would report otherwise need not look again.
//!
//! It must keep: an answer counts only where every way comes from it, and where no operation in between changes what was asked.

use mokume_analyse::Flow;
use mokume_reaction::*;

use super::writer::Writer;

/// The object and cell whose places or units an operation takes or gives back.
fn changed(op: &Op) -> Option<(Value, CellId)> {
    let (OpKind::Keep { object, cell, .. }
    | OpKind::TakeHeld { object, cell, .. }
    | OpKind::ConsumeHeld { object, cell, .. }
    | OpKind::Spend { object, cell, .. }
    | OpKind::Give { object, cell, .. }) = &op.kind
    else {
        return None;
    };
    Some((*object, *cell))
}

/// Whether the operation of the current block is the first on its way that changes its cell, in any object.
fn is_first(w: &Writer, op: &Op) -> bool {
    let Some((object, cell)) = changed(op) else { return false };
    let class = w.class_of(object);
    let is_same = |other: &&Op| changed(other).is_some_and(|(object, own)| own == cell && w.class_of(object) == class);
    let acts = |block: &Block| {
        let attempt = block.terminator.attempt();
        attempt.is_some_and(|op| !(Effects::READS | Effects::REPORTS).contains(op.effects()))
    };
    // What ends objects, or lets others act.
    let is_other = |op: &Op| {
        matches!(op.kind, OpKind::Release { .. } | OpKind::Emit { .. } | OpKind::Call { .. } | OpKind::Again { .. })
    };
    let is_free = |(at, block): (usize, &Block)| {
        let is_here = at == w.at_block.index();
        // No way comes back from where the path has ended.
        let is_end = matches!(block.terminator, Terminator::Return) && !is_here;
        let first = block.ops.iter().find(|op| is_same(op) || is_other(op));
        is_end || !acts(block) && first.is_none_or(|first| is_here && std::ptr::eq(first, op))
    };
    w.body.blocks.iter().enumerate().all(is_free)
}

/// The value of an operation of the path.
fn value_of(w: &Writer, is: impl Fn(&OpKind) -> bool) -> Option<Value> {
    w.body.ops().find(|op| is(&op.kind)).and_then(|op| op.results.first().copied())
}

/// Whether a condition has this answer wherever the path reaches the current block.
fn answers(w: &Writer, condition: Value, wanted: bool) -> bool {
    let flow = Flow::new(w.body);
    let is_so = |block: &Block| {
        let Terminator::Branch { condition: asked, then, otherwise, .. } = &block.terminator else { return false };
        let (mut asked, mut wanted) = (*asked, wanted);
        while let Some(OpKind::Not { a }) = w.made(asked).map(|op| &op.kind) {
            (asked, wanted) = (*a, !wanted);
        }
        let on = if wanted { then.block } else { otherwise.block };
        asked == condition && flow.edges_into(on) == 1 && flow.dominates(on, w.at_block)
    };
    w.body.blocks.iter().any(is_so)
}

/// Whether the place of `keep` is known to be empty, or that of `take.held` to hold a message.
pub(super) fn place(w: &Writer, op: &Op) -> bool {
    let (OpKind::Keep { object, cell, index, .. } | OpKind::TakeHeld { object, cell, index }) = &op.kind else {
        return false;
    };
    let holds = matches!(op.kind, OpKind::TakeHeld { .. });
    let CellKind::Messages { size, .. } = *w.cell_kind(*object, *cell) else { return false };
    let asked = OpKind::Holds { object: *object, cell: *cell, index: *index };
    let question = value_of(w, |kind| *kind == asked);
    let is_known = w.there(*object).is_none() && question.is_some_and(|question| answers(w, question, holds));
    is_known && w.is_below(*index, u64::from(size)) && is_first(w, op)
}

/// Whether so many units are known to be left for `spend`, or to have been taken for `give`.
pub(super) fn units(w: &Writer, op: &Op) -> bool {
    let (OpKind::Spend { object, cell, amount } | OpKind::Give { object, cell, amount }) = &op.kind else {
        return false;
    };
    let is_taken = matches!(op.kind, OpKind::Give { .. });
    let CellKind::Quota { amount: all } = *w.cell_kind(*object, *cell) else { return false };
    let asked = OpKind::Left { object: *object, cell: *cell };
    let Some(left) = value_of(w, |kind| *kind == asked) else { return false };
    let is_all = |value: &Value| w.ranges.constant(*value) == Some(u64::from(all));
    let enough = match is_taken {
        false => Some(left),
        true => value_of(
            w,
            |kind| matches!(kind, OpKind::Binary { op: Binary::Sub | Binary::SubWrap, a, b } if is_all(a) && *b == left),
        ),
    };
    enough.is_some_and(|enough| w.is_at_most(*amount, enough)) && is_first(w, op)
}
