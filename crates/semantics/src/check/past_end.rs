//! Warnings: what a handler sends in a session, or says about it, after the session's end: it is dropped as `gone`
//! (docs/semantics.md, L6).
//!
//! Keeps: only certain cases are reported. After an end in one branch, only code beside that branch is checked, and
//! only if nothing between leaves: another `if` may test the same condition. What is sent with its own flow, `to
//! flow(…)`, does not belong to the session. A session that settles ends after its next settling, and one that fails
//! while it begins ends when those above and below know of it: what they emit still leaves (`put_off` in `lower`).

use mokume_base::{Diagnostic, Span};

use crate::codes;
use crate::program::*;
use crate::visit;

/// Checks the code of all layers with one session below whose sessions end at once. (Other sessions may share that of a
/// multiplexor.)
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    let one_below = |layer: &&Layer| matches!(layer.shape, Shape::Worker | Shape::Endpoint);
    let settles = |layer: &Layer| layer.handlers.iter().any(|handler| matches!(handler.event, Event::Settle { .. }));
    for layer in program.layers.iter().filter(one_below).filter(|layer| !settles(layer)) {
        let mut begins = false;
        for handler in &layer.handlers {
            // There no session is at hand, and none ends.
            let of_entity = matches!(handler.event, Event::Start | Event::Expiry { .. });
            if of_entity && handler.scope == ScopeKind::Entity {
                continue;
            }
            let begun = matches!(handler.event, Event::Open { .. } | Event::Opened | Event::Accepted { .. });
            begins |= begun;
            Ways { layer, event: Some(&handler.event), begun, calls: 0, out }.block(&handler.body, Ends::default());
        }
        for function in &layer.functions {
            Ways { layer, event: None, begun: begins, calls: 0, out }.block(&function.body, Ends::default());
        }
    }
}

/// How deep nested calls are searched for what they end.
const DEPTH: u32 = 4;

/// Where an end was emitted, and whether on all paths to here.
#[derive(Clone, Copy)]
struct Said {
    span: Span,
    always: bool,
}

/// The ended sessions: the one below, the one above.
#[derive(Clone, Copy, Default)]
struct Ends {
    below: Option<Said>,
    above: Option<Said>,
}

impl Ends {
    /// The state behind a block that may be skipped, or that tests something.
    fn certain(self) -> Ends {
        let certain = |side: Option<Said>| side.filter(|said| said.always);
        Ends { below: certain(self.below), above: certain(self.above) }
    }

    /// Joins paths: what one of them has ended is ended on some.
    fn meet(self, other: Ends) -> Ends {
        let both = |one: Option<Said>, other: Option<Said>| match (one, other) {
            (Some(one), Some(other)) => Some(Said { always: one.always && other.always, ..one }),
            (one, other) => one.or(other).map(|said| Said { always: false, ..said }),
        };
        Ends { below: both(self.below, other.below), above: both(self.above, other.above) }
    }
}

struct Ways<'a> {
    layer: &'a Layer,
    /// The event that `pass` hands on; `None` in a function.
    event: Option<&'a Event>,
    /// Whether the session may still be beginning.
    begun: bool,
    calls: u32,
    out: &'a mut Vec<Diagnostic>,
}

impl Ways<'_> {
    /// What has ended behind a block; `None` if that place is unreachable.
    fn block(&mut self, block: &[Stmt], mut ends: Ends) -> Option<Ends> {
        for stmt in block {
            self.said(stmt, ends);
            ends = self.stmt(stmt, ends)?;
        }
        Some(ends)
    }

    fn stmt(&mut self, stmt: &Stmt, mut ends: Ends) -> Option<Ends> {
        use StmtKind::*;
        let said = Some(Said { span: stmt.span, always: true });
        match &stmt.kind {
            Return { .. } | Refuse => return None,
            Emit(Emission::Close | Emission::Abort) => ends.below = ends.below.filter(|known| known.always).or(said),
            Emit(Emission::Closed) => ends.above = ends.above.filter(|known| known.always).or(said),
            Emit(Emission::Failed { .. } | Emission::FailedAs { .. }) => ends = Ends { below: said, above: said },
            Emit(Emission::Open { .. }) | Begin { .. } => return Some(Ends::default()),
            Call(Expr { kind: ExprKind::CallOwn { function, .. }, .. }) => {
                let called = self.called(*function);
                ends.below = ends.below.or(called.below.and(said));
                ends.above = ends.above.or(called.above.and(said));
            }
            _ => {}
        }
        let blocks = visit::stmt_blocks(stmt);
        if blocks.is_empty() {
            return Some(ends);
        }
        let inner = ends.certain();
        let leaves = blocks.iter().any(|block| may_leave(block));
        let mut ways: Vec<Ends> = blocks.iter().filter_map(|block| self.block(block, inner)).collect();
        if visit::may_skip(stmt) {
            ways.push(inner);
        }
        let met = ways.into_iter().reduce(Ends::meet)?;
        // The path that leaves here may be the one that ended it before.
        let before = if leaves { inner } else { ends };
        Some(Ends { below: met.below.or(before.below), above: met.above.or(before.above) })
    }

    /// What a function ends on every path through it.
    fn called(&mut self, function: u32) -> Ends {
        let Some(function) = self.layer.functions.get(function as usize).filter(|_| self.calls < DEPTH) else {
            return Ends::default();
        };
        let mut unsaid = Vec::new();
        let mut inner = Ways { layer: self.layer, event: None, begun: true, calls: self.calls + 1, out: &mut unsaid };
        let ends = inner.block(&function.body, Ends::default());
        match function.body.iter().any(|stmt| may_leave(std::slice::from_ref(stmt))) {
            true => Ends::default(),
            false => ends.unwrap_or_default().certain(),
        }
    }

    /// Reports a statement that emits to a side that has ended.
    fn said(&mut self, stmt: &Stmt, ends: Ends) {
        let tells = |name: &Name| matches!(name.text.as_str(), "opened" | "accepted");
        let (down, tells) = match &stmt.kind {
            StmtKind::Emit(Emission::Send { to: None, .. }) => (true, false),
            StmtKind::Emit(Emission::Deliver { from: None, .. }) => (false, false),
            StmtKind::Emit(Emission::Custom { name, down, .. }) => (*down, !*down && tells(name)),
            StmtKind::Pass => match self.event {
                Some(Event::Open { .. }) => (true, true),
                Some(Event::Opened | Event::Accepted { .. }) => (false, true),
                Some(Event::Send { .. } | Event::Custom { from: Origin::Above, .. }) => (true, false),
                Some(Event::Deliver { .. } | Event::Custom { from: Origin::Below, .. }) => (false, false),
                _ => return,
            },
            _ => return,
        };
        let ended = if down { ends.below } else { ends.above };
        let Some(Said { span, always }) = ended.filter(|_| tells || !self.begun) else { return };
        let side = if down { "below" } else { "above" };
        let text = match (tells, always) {
            (true, _) => "the session has ended, and here it goes on as if it were there".to_string(),
            (false, true) => format!("the session {side} has ended: nothing comes of this"),
            (false, false) => format!("where the session {side} has ended, nothing comes of this"),
        };
        let found =
            Diagnostic::warning(codes::AFTER_END, text).at(stmt.span, "behind its end").label(span, "it ends here");
        let help = match (tells, always) {
            (_, false) => "end that way with `return`",
            (true, true) => "leave it out",
            (false, true) => "say it before the end; a message that is not wanted is dropped: `drop msg: reason`",
        };
        self.out.push(found.help(help));
    }
}

/// Whether some path through a block leaves the body.
fn may_leave(block: &[Stmt]) -> bool {
    let leaves = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Return { .. } | StmtKind::Refuse);
    block.iter().any(|stmt| leaves(stmt) || visit::stmt_blocks(stmt).into_iter().any(may_leave))
}
