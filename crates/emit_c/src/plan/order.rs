//! Whether it is known at a handler's end which of its emissions have happened.

use mokume_analyse::Flow;
use mokume_reaction::{BlockId, Body, Terminator};

/// Whether no emission is in a loop, and each dominates every exit that is reachable from it.
pub(crate) fn are_known_at_exits(body: &Body) -> bool {
    let flow = Flow::new(body);
    let blocks = || (0..body.blocks.len()).map(BlockId::from);
    let block = |id: BlockId| &body.blocks[id.index()];
    let emits = |id: &BlockId| block(*id).ops.iter().any(|op| op.kind.emission().is_some());
    let leaves = |id: &BlockId| matches!(block(*id).terminator, Terminator::Return | Terminator::Match { .. });
    blocks().filter(emits).all(|emitting| {
        let after = flow.after(emitting);
        let reached = blocks().filter(|id| after.contains(*id) && leaves(id));
        !after.contains(emitting) && reached.into_iter().all(|exit| flow.dominates(emitting, exit))
    })
}
