//! What may come after what in one body.

use mokume_reaction::{BlockId, Body};

use crate::graph::Emission;

/// The blocks that may run after the end of `from`; `from` itself only if it is in a loop.
pub fn reachable(body: &Body, from: BlockId) -> Vec<BlockId> {
    let mut seen = vec![false; body.blocks.len()];
    let mut open = vec![from];
    while let Some(block) = open.pop() {
        for target in body.blocks[block.index()].end.targets() {
            if !std::mem::replace(&mut seen[target.block.index()], true) {
                open.push(target.block);
            }
        }
    }
    (0..seen.len()).filter(|place| seen[*place]).map(|place| BlockId(place as u32)).collect()
}

/// Whether, in one run of the body, `second` may be emitted after `first` (in a later round of a loop: after itself).
pub fn may_follow(body: &Body, first: &Emission, second: &Emission) -> bool {
    (first.block == second.block && first.op < second.op) || reachable(body, first.block).contains(&second.block)
}
