//! Takes operations away whose results nobody uses and whose only effect these were.

use std::collections::HashSet;

use mokume_reaction::{Body, Op, OpKind, Value};

/// Removes what is computed in vain, until nothing is.
pub fn clean(body: &mut Body) {
    loop {
        let used = used(body);
        let idle = |op: &Op| is_pure(&op.kind) && op.results.iter().all(|result| !used.contains(result));
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

/// Neither changes anything nor reports.
fn is_pure(kind: &OpKind) -> bool {
    match kind {
        OpKind::Const { .. } | OpKind::Null { .. } | OpKind::Param { .. } | OpKind::Now | OpKind::Unique { .. } => true,
        OpKind::Compare { .. } | OpKind::Not { .. } | OpKind::Select { .. } | OpKind::Cast { .. } => true,
        OpKind::Get { .. } | OpKind::Fold16 { .. } => true,
        OpKind::Binary { op, .. } => !op.may_report(),
        _ => false,
    }
}
