//! Removes operations without effects whose results are unused.

use mokume_analyse::Liveness;
use mokume_reaction::{Body, Operation};

/// Removes unused operations from a body.
pub fn clean(body: &mut Body) {
    let live = Liveness::with_parameters(body);
    for block in &mut body.blocks {
        block.ops.retain(|op| !op.kind.is_removable() || op.results.iter().any(|result| live.is_live(*result)));
    }
}
