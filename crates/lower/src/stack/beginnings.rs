//! Code that begins a session, and may end it in the same instant: before those that are told of the beginning exist.

use mokume_semantics::program as s;
use mokume_semantics::visit::{always, any, walk, Met};

use super::Lowering;
use crate::program::any_stmt;

/// Whether the layer's code may `fail` after it begins a session, above or below, in one instant. An
/// over-approximation.
pub fn fails_behind_beginnings(layer: &s::Layer) -> bool {
    let functions = layer.functions.iter().map(|function| function.body.as_slice());
    let called = Called { fails: any_stmt(functions.clone(), &fails), begins: any_stmt(functions, &begins) };
    layer.handlers.iter().any(|handler| {
        let mut way = Way { called, handler, begun: begins_before(layer, handler), fails: false };
        // Twice, for what a loop runs again.
        (0..2).for_each(|_| way.walk());
        way.fails
    })
}

/// Whether the session begins before the handler's code runs.
fn begins_before(layer: &s::Layer, handler: &s::Handler) -> bool {
    match &handler.event {
        s::Event::Open { .. } => !decides_opening(handler),
        s::Event::Accepted { .. } => layer.awaits() || says_upwards(handler),
        s::Event::Deliver { .. } => layer.awaits(),
        _ => false,
    }
}

/// What the layer's functions do, whichever is called.
#[derive(Clone, Copy)]
struct Called {
    fails: bool,
    begins: bool,
}

/// A path through a handler's code, from its first statement.
struct Way<'p> {
    called: Called,
    handler: &'p s::Handler,
    begun: bool,
    fails: bool,
}

impl Way<'_> {
    fn walk(&mut self) {
        let passes = matches!(self.handler.event, s::Event::Open { .. } | s::Event::Accepted { .. });
        walk(&self.handler.body, &mut |met| match met {
            Met::Stmt(stmt) => {
                self.begun |= begins(&stmt.kind) || passes && matches!(stmt.kind, s::StmtKind::Pass);
                self.fails |= self.begun && fails(&stmt.kind);
            }
            Met::Expr(expr) if matches!(expr.kind, s::ExprKind::CallOwn { .. }) => {
                self.begun |= self.called.begins;
                self.fails |= self.begun && self.called.fails;
            }
            Met::Expr(_) | Met::State(_) => {}
        });
    }
}

fn begins(kind: &s::StmtKind) -> bool {
    use s::{Emission as E, StmtKind as S};
    match kind {
        S::Emit(E::Custom { name, down: false, .. }) => name.text == "accepted",
        _ => matches!(kind, S::Emit(E::Open { .. }) | S::Begin { .. }),
    }
}

fn fails(kind: &s::StmtKind) -> bool {
    matches!(kind, s::StmtKind::Emit(s::Emission::Failed { .. } | s::Emission::FailedAs { .. }))
}

/// Whether the handler itself decides whether and when the session continues.
pub fn decides_opening(handler: &s::Handler) -> bool {
    use s::{Emission as E, StmtKind as S};
    any_stmt([handler.body.as_slice()], &|kind| match kind {
        S::Pass | S::Return { .. } => matches!(kind, S::Pass),
        S::Emit(E::Open { .. } | E::Failed { .. } | E::FailedAs { .. } | E::Closed | E::Close | E::Abort) => true,
        S::Emit(E::Custom { name, down: false, .. }) => matches!(name.text.as_str(), "opened" | "accepted"),
        _ => false,
    })
}

/// Whether the handler emits events or messages to the session above.
pub fn says_upwards(handler: &s::Handler) -> bool {
    use s::{Emission as E, StmtKind as S};
    any_stmt([handler.body.as_slice()], &|kind| {
        matches!(kind, S::Emit(E::Deliver { .. } | E::Closed | E::Custom { down: false, .. }))
    })
}

/// Whether the handler of `accepted` may emit to the layer below, which then has to know which session answers.
pub fn speaks_down_when_accepted(layer: &s::Layer) -> bool {
    use s::{Emission as E, StmtKind as S};
    as_accepted(layer, &|kind| {
        matches!(kind, S::Emit(E::Send { .. } | E::Close | E::Abort | E::Custom { down: true, .. }))
    })
}

/// Whether the handler of `accepted` may end the session, or make the layer below end it, or not decide how it
/// continues: then those above may never be told of it.
pub fn may_keep_from_those_above(layer: &s::Layer) -> bool {
    as_accepted(layer, &fails) || speaks_down_when_accepted(layer) || stays_silent_when_accepted(layer)
}

/// Whether the handler of `accepted` decides on some paths how the session continues, and on others does nothing.
pub fn stays_silent_when_accepted(layer: &s::Layer) -> bool {
    let mut accepted = layer.handlers.iter().filter(|handler| matches!(handler.event, s::Event::Accepted { .. }));
    accepted.any(|handler| decides_opening(handler) && !always(layer, &handler.body, &says_on))
}

/// Whether the statement continues the beginning of a session.
fn says_on(kind: &s::StmtKind) -> bool {
    use s::{Emission as E, StmtKind as S};
    matches!(kind, S::Pass | S::Emit(E::Failed { .. } | E::FailedAs { .. } | E::Close | E::Abort))
}

/// Whether the handler of `accepted`, or a function that it calls, has such a statement.
fn as_accepted(layer: &s::Layer, says: &dyn Fn(&s::StmtKind) -> bool) -> bool {
    let called = any_stmt(layer.functions.iter().map(|function| function.body.as_slice()), says);
    let accepted = layer.handlers.iter().filter(|handler| matches!(handler.event, s::Event::Accepted { .. }));
    accepted.into_iter().any(|handler| {
        let is_call = |met: Met| matches!(met, Met::Expr(expr) if matches!(expr.kind, s::ExprKind::CallOwn { .. }));
        any(&handler.body, is_call) && called || any_stmt([handler.body.as_slice()], says)
    })
}

impl Lowering<'_> {
    /// Whether a session that the other end began may be ended by this layer or one above while these are told of it:
    /// then the session below has to know it before, as an end there climbs only to sessions that it knows.
    pub fn may_end_as_accepted(&self, inst: usize) -> bool {
        let Some(layer) = self.layer(inst) else { return false };
        if may_keep_from_those_above(layer) {
            return true;
        }
        // A layer whose code emits `accepted` attaches before anything comes from above.
        layer.shape == s::Shape::Worker
            && !self.emits(inst, "accepted")
            && self.plan.session_users(inst).into_iter().any(|user| self.may_end_as_accepted(user))
    }
}
