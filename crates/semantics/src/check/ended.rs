//! Warnings: writes into an object after it has been ended on every path. Its values can still be read
//! (docs/semantics.md, L5).
//!
//! Keeps: an object counts as ended only if all paths to the place have ended it.

use std::collections::BTreeMap;

use mokume_base::{Diagnostic, Span};

use crate::codes;
use crate::program::*;
use crate::visit;

/// The ended objects: handles, and `None` for the object that the handler runs for, each with the place of its `end`.
type Ended = BTreeMap<Option<LocalId>, Span>;

/// The handlers and functions of all layers.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for layer in &program.layers {
        for handler in &layer.handlers {
            Paths { locals: &handler.locals, scope: handler.scope, out }.block(&handler.body, Some(Ended::new()));
        }
        for function in &layer.functions {
            Paths { locals: &function.locals, scope: ScopeKind::Entity, out }.block(&function.body, Some(Ended::new()));
        }
    }
}

struct Paths<'a> {
    locals: &'a [Local],
    scope: ScopeKind,
    out: &'a mut Vec<Diagnostic>,
}

impl Paths<'_> {
    /// The ended objects behind a block; `None` if that place is unreachable.
    fn block(&mut self, block: &[Stmt], mut ended: Option<Ended>) -> Option<Ended> {
        for stmt in block {
            let before = ended?;
            self.written(stmt, &before);
            ended = self.stmt(stmt, before);
        }
        ended
    }

    fn stmt(&mut self, stmt: &Stmt, mut ended: Ended) -> Option<Ended> {
        use StmtKind::*;
        match &stmt.kind {
            Return { .. } | Refuse => return None,
            End { object } => {
                if let Some(who) = named(object.as_ref()) {
                    ended.insert(who, stmt.span);
                }
            }
            // From here on the handle stands for another object.
            AssignLocal { local, .. } | Let { local, .. } | FindOrNew { local, .. } => {
                ended.remove(&Some(*local));
            }
            _ => {}
        }
        let blocks = visit::stmt_blocks(stmt);
        if blocks.is_empty() {
            return Some(ended);
        }
        let mut ends: Vec<Ended> = blocks.iter().filter_map(|block| self.block(block, Some(ended.clone()))).collect();
        if visit::may_skip(stmt) {
            ends.push(ended);
        }
        let mut ends = ends.into_iter();
        let first = ends.next()?;
        Some(ends.fold(first, |all, other| all.into_iter().filter(|(who, _)| other.contains_key(who)).collect()))
    }

    /// Reports a statement's writes into ended objects.
    fn written(&mut self, stmt: &Stmt, ended: &Ended) {
        if ended.is_empty() || matches!(stmt.kind, StmtKind::IfFound { .. }) {
            return;
        }
        let mut found = None;
        visit::stmt_states(stmt, &mut |state| {
            let who = match (&state.object, state.scope) {
                (Some(object), _) => named(Some(object)),
                (None, ScopeKind::Object(_)) if self.scope == state.scope => Some(None),
                (None, _) => None,
            };
            found = found.or_else(|| Some((state.span, *ended.get(&who?)?, who?)));
        });
        if let StmtKind::End { object } = &stmt.kind {
            let who = named(object.as_ref());
            found = who.and_then(|who| Some((stmt.span, *ended.get(&who)?, who)));
        }
        let Some((span, end, who)) = found else { return };
        let name = who.and_then(|local| self.locals.get(local.index())).map_or("this object", |local| &local.name.text);
        let diagnostic = Diagnostic::warning(codes::AFTER_END, format!("`{name}` has ended: nothing comes of this"))
            .at(span, "behind its end")
            .label(end, "it ends here")
            .help("do it before, or leave it out; values of an object can still be read behind its `end`");
        self.out.push(diagnostic);
    }
}

/// The handle that an expression names; inner `None` for the handler's own object, outer `None` for any other
/// expression.
fn named(object: Option<&Expr>) -> Option<Option<LocalId>> {
    match object.map(|object| &object.kind) {
        None => Some(None),
        Some(ExprKind::Local(local)) => Some(Some(*local)),
        Some(_) => None,
    }
}
