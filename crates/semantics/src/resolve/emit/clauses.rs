//! The clauses of an emission: `to flow`, `from flow`.

use mokume_syntax::ast::Expr as Tree;

use crate::codes;
use crate::program::*;
use crate::resolve::body::Body;

/// An emission's `to` and `from`.
pub struct Clauses {
    pub to: Option<Tree>,
    pub from: Option<Tree>,
}

/// Reports a clause that is not allowed, and a flow that the layer's shape cannot make; `to` and `from` tell whether
/// they are allowed.
pub(super) fn check(body: &mut Body, clauses: &Clauses, to: bool, from: bool) {
    for (end, allowed, word) in [(&clauses.to, to, "to"), (&clauses.from, from, "from")] {
        let Some(end) = end else { continue };
        let place = body.span(end);
        if !allowed {
            let help = "`below.send(…) to flow` and `above.deliver(…) from flow` have one";
            body.error(codes::MISPLACED, format!("`{word}` does not belong here"), place, "not here", help);
        } else if body.shape() == Some(Shape::Worker) && matches!(end, Tree::Call(_)) {
            let help =
                "leave it out: it goes to the flow or session that the handler runs for; or name one that was stored. A layer that chooses where messages go is a router or an endpoint";
            body.error(codes::HIDDEN_FLOW, "a worker makes no flow", place, "opaque to a worker", help);
        }
    }
}
