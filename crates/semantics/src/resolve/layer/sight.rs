//! The scope that code runs for, the state that it sees from there, and whether it reads octets.

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::Span;

use crate::program::*;
use crate::visit::{self, Met};

/// Scopes, each with the place that names it.
pub type Named = BTreeMap<ScopeKind, Span>;

/// The scopes that each function names, directly or in functions that it calls.
pub(super) fn function_scopes(layer: &Layer) -> Vec<Named> {
    let mut named = vec![Named::new(); layer.functions.len()];
    loop {
        let mut changed = false;
        for (index, function) in layer.functions.iter().enumerate() {
            for (kind, span) in scopes_named(layer, &function.body, &named) {
                changed |= named[index].insert(kind, span).is_none();
            }
        }
        if !changed {
            return named;
        }
    }
}

/// The scopes whose state a body names without a handle; those of a call count at the call.
pub(super) fn scopes_named(layer: &Layer, body: &[Stmt], of_functions: &[Named]) -> Named {
    let owner = |class: ObjectId| match layer.objects.get(class.index()) {
        Some(class) => class.owner,
        None => ScopeKind::Entity,
    };
    let has_sessions = layer.has_scope(ScopeKind::Session);
    let mut named = Named::new();
    visit::walk(body, &mut |met| match met {
        Met::State(StateRef { scope, object: None, span, .. }) => {
            named.entry(*scope).or_insert(*span);
        }
        Met::Expr(Expr { kind: ExprKind::FlowHere, span, .. }) if has_sessions => {
            named.entry(ScopeKind::Session).or_insert(*span);
        }
        Met::Expr(Expr { kind: ExprKind::CallOwn { function, .. }, span, .. }) => {
            for kind in of_functions.get(*function as usize).into_iter().flat_map(|scopes| scopes.keys()) {
                named.entry(*kind).or_insert(*span);
            }
        }
        Met::Expr(Expr { kind: ExprKind::CallOn { function, .. }, span, .. }) => {
            // The state is that of a named object.
            let kinds = of_functions.get(*function as usize).into_iter().flat_map(|scopes| scopes.keys());
            for kind in kinds.filter(|kind| !matches!(kind, ScopeKind::Object(_))) {
                named.entry(*kind).or_insert(*span);
            }
        }
        Met::Expr(Expr { kind: ExprKind::HasObject { class, .. } | ExprKind::Row { class, .. }, span, .. }) => {
            named.entry(owner(*class)).or_insert(*span);
        }
        Met::Stmt(Stmt {
            kind:
                StmtKind::IfObject { class, .. } | StmtKind::FindOrNew { class, .. } | StmtKind::ForObjects { class, .. },
            span,
        }) => {
            named.entry(owner(*class)).or_insert(*span);
        }
        _ => {}
    });
    named
}

/// The scope that a handler runs for, and state that it names but cannot see.
pub(super) fn choose(layer: &Layer, handler: &Handler, named: &Named) -> (ScopeKind, Option<(ScopeKind, Span)>) {
    let has = |kind: ScopeKind| layer.has_scope(kind);
    let fixed = match &handler.event {
        Event::Start | Event::Service { .. } | Event::Arrives { .. } => Some(ScopeKind::Entity),
        Event::Expiry { timer } => Some(timer.scope),
        _ if matches!(handler.scope, ScopeKind::Object(_)) => Some(handler.scope),
        _ => None,
    };
    let runs = fixed.unwrap_or_else(|| {
        let inner = [ScopeKind::Session, ScopeKind::SessionBelow, ScopeKind::Point, ScopeKind::Entity];
        let change = matches!(handler.event, Event::Change { .. });
        // A view belongs to the entity.
        let names = |kind: &ScopeKind| {
            named.contains_key(kind) || *kind == ScopeKind::Entity && named.contains_key(&ScopeKind::View)
        };
        inner.into_iter().find(names).unwrap_or(match layer.shape {
            // It runs where the value is, and says nothing about the layer's state.
            _ if change => ScopeKind::Entity,
            Shape::Worker | Shape::Multiplexor => ScopeKind::Session,
            Shape::Endpoint if has(ScopeKind::Session) && of_sessions(&handler.event) => ScopeKind::Session,
            _ => ScopeKind::Entity,
        })
    });
    let hidden = named.iter().find(|(kind, _)| !sees(runs, **kind)).map(|(kind, span)| (*kind, *span));
    (runs, hidden)
}

/// Whether code that runs for one scope sees the state of another.
pub(super) fn sees(runs: ScopeKind, kind: ScopeKind) -> bool {
    let around = matches!(kind, ScopeKind::SessionBelow | ScopeKind::Point);
    matches!(kind, ScopeKind::Entity | ScopeKind::View) || runs == kind || runs == ScopeKind::Session && around
}

/// State that a value names and that is not visible from a scope.
pub(super) fn hidden_state(value: &Expr, scope: ScopeKind) -> Option<StateRef> {
    let mut hidden = None;
    visit::walk_in_expr(value, &mut |met| {
        if let Met::State(state) = met {
            let is_later = state.scope == ScopeKind::View && scope != ScopeKind::View;
            if state.object.is_none() && (is_later || !sees(scope, state.scope)) {
                hidden.get_or_insert(state.clone());
            }
        }
    });
    hidden
}

/// Whether the event is for one session.
fn of_sessions(event: &Event) -> bool {
    match event {
        Event::Deliver { flow, .. } | Event::Accepted { flow } => flow.is_none(),
        Event::Opened | Event::Failed { .. } | Event::FailedQuoting { .. } | Event::Closed => true,
        _ => false,
    }
}

/// The word for a scope in reports.
pub(super) fn scope_name(kind: ScopeKind) -> &'static str {
    match kind {
        ScopeKind::Entity => "entity",
        ScopeKind::Point => "point",
        ScopeKind::View => "view",
        ScopeKind::Session => "session",
        ScopeKind::SessionBelow => "session below",
        ScopeKind::Object(_) => "object",
    }
}

/// Whether it reads or writes octets of messages that were not made here. Cutting and joining does not count.
pub(super) fn looks_at_octets(body: &[Stmt]) -> bool {
    let mut own = BTreeSet::new();
    let mut looks = false;
    visit::walk(body, &mut |met| match met {
        Met::Stmt(Stmt { kind: StmtKind::Let { local, value }, .. }) => {
            if matches!(value.kind, ExprKind::NewMessage { .. } | ExprKind::Received { .. }) {
                own.insert(*local);
            }
        }
        Met::Stmt(Stmt { kind: StmtKind::Store { message, .. }, .. }) => looks |= !own.contains(message),
        Met::Expr(Expr {
            kind:
                ExprKind::Load { message, .. } | ExprKind::Sum16(message) | ExprKind::Native { message: Some(message), .. },
            ..
        }) => looks |= !own.contains(message),
        _ => {}
    });
    looks
}
