//! Removes operations without effects whose results are unused.

use std::sync::Arc;

use mokume_analyse::Liveness;
use mokume_reaction::{Body, Operation, Scope};

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
    joined(Arc::make_mut(&mut scopes.0));
    body.scopes = scopes;
}

/// Of scopes that begin at one place now, the last; the others are statements that begin there.
fn joined(scopes: &mut Vec<Scope>) {
    let mut kept: Vec<Scope> = Vec::with_capacity(scopes.len());
    for mut scope in scopes.drain(..) {
        if let Some(before) = kept.pop_if(|before| (before.block, before.op) == (scope.block, scope.op)) {
            let mut begun = before.begun;
            begun.extend(Some(before.names).filter(|names| names.source != scope.names.source));
            begun.append(&mut scope.begun);
            scope.begun = begun;
        }
        kept.push(scope);
    }
    *scopes = kept;
}
