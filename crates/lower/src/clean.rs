//! Removes operations without effects whose results are unused.

use std::sync::Arc;

use mokume_analyse::Liveness;
use mokume_reaction::{Body, Operation};

/// Removes unused operations from a body.
pub fn clean(body: &mut Body) {
    let live = Liveness::with_parameters(body);
    let mut scopes = std::mem::take(&mut body.scopes);
    let mut scopes_left = Arc::make_mut(&mut scopes.0).iter_mut().peekable();
    for (number, block) in body.blocks.iter_mut().enumerate() {
        let (mut at, mut kept) = (0, 0);
        let mut is_kept = Vec::with_capacity(block.ops.len());
        for op in &block.ops {
            is_kept.push(!op.kind.is_removable() || op.results.iter().any(|result| live.is_live(*result)));
        }
        while let Some(scope) = scopes_left.next_if(|scope| scope.block.index() == number) {
            kept += is_kept[at..scope.op].iter().filter(|kept| **kept).count();
            at = scope.op;
            scope.op = kept;
        }
        let mut kept = is_kept.into_iter();
        block.ops.retain(|_| kept.next() == Some(true));
    }
    body.scopes = scopes;
}
