//! Takes operations away whose results nobody uses and whose only effect these were.

use std::collections::HashSet;

use mokume_reaction::{Body, Op, Operation, Value};

/// Removes what is computed in vain, until nothing is.
pub fn clean(body: &mut Body) {
    loop {
        let used = used(body);
        let idle = |op: &Op| op.kind.is_removable() && op.results.iter().all(|result| !used.contains(result));
        let before: usize = body.blocks.iter().map(|block| block.ops.len()).sum();
        body.blocks.iter_mut().for_each(|block| block.ops.retain(|op| !idle(op)));
        let after: usize = body.blocks.iter().map(|block| block.ops.len()).sum();
        if before == after {
            return;
        }
    }
}

fn used(body: &Body) -> HashSet<Value> {
    let mut used = HashSet::new();
    for block in &body.blocks {
        block.ops.iter().for_each(|op| used.extend(op.kind.operands()));
        used.extend(block.end.operands());
        block.end.targets().into_iter().for_each(|target| used.extend(&target.args));
    }
    used
}
