//! What `arrives` may not contain, as there is no session yet (docs/language.md, section 6): a second `accept` after a
//! first one, as a flow has one session, and everything that is only for or from a session.
//!
//! Keeps: what the handler does in functions of its layer counts, and is reported at its own place.

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, Span};

use crate::codes;
use crate::program::*;
use crate::visit::{self, Met};

/// The handlers of all layers.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for layer in &program.layers {
        let arrives = |handler: &&Handler| matches!(handler.event, Event::Arrives { .. });
        let mut seen = BTreeSet::new();
        for handler in layer.handlers.iter().filter(arrives) {
            Paths { out }.block(&handler.body, Some(None));
            without_session(layer, &handler.body, None, &mut seen, out);
        }
        if !layer.handlers.iter().any(|handler| arrives(&handler)) {
            never_accepted(layer, out);
        }
    }
}

/// Reports constants that no `accept` can set, because the layer has no `on arrives`.
fn never_accepted(layer: &Layer, out: &mut Vec<Diagnostic>) {
    for (_, member) in layer.asked(&layer.accepted) {
        let text = format!(
            "`{}` is given by an `accept`, and the layer has no `on arrives` that could say it",
            member.name.text
        );
        let help = "write `on arrives(msg) from flow { accept(msg, …) or { … } }`, or leave `accept` out";
        out.push(Diagnostic::error(codes::MISPLACED, text).at(member.name.span, "nobody gives it").help(help));
    }
}

// -- a flow has at most one session

/// Where a session may have begun on the paths to a place. The outer `None`: the place is unreachable.
type Begun = Option<Option<Span>>;

struct Paths<'a> {
    out: &'a mut Vec<Diagnostic>,
}

impl Paths<'_> {
    fn block(&mut self, block: &[Stmt], mut begun: Begun) -> Begun {
        for stmt in block {
            let before = begun?;
            begun = self.stmt(stmt, before);
        }
        begun
    }

    fn stmt(&mut self, stmt: &Stmt, begun: Option<Span>) -> Begun {
        use StmtKind::*;
        match &stmt.kind {
            Return { .. } | Refuse => return None,
            Begin { otherwise, .. } => {
                if let Some(first) = begun {
                    self.twice(stmt.span, first);
                }
                let without = self.block(otherwise, Some(begun)).flatten();
                return Some(Some(stmt.span).or(without));
            }
            _ => {}
        }
        let blocks = visit::stmt_blocks(stmt);
        let mut ends: Vec<Begun> = blocks.iter().map(|block| self.block(block, Some(begun))).collect();
        if matches!(stmt.kind, While { .. } | For { .. } | ForObjects { .. }) {
            // What one round has begun has already begun in the next round.
            if let (None, Some(Some(first))) = (begun, ends.iter().copied().flatten().find(Option::is_some)) {
                ends.extend(blocks.iter().map(|block| self.block(block, Some(Some(first)))));
            }
        }
        // A loop's body and what may fail can be skipped; of other statements' blocks exactly one runs.
        let one_runs = matches!(
            stmt.kind,
            If { .. }
                | IfFound { .. }
                | IfListener { .. }
                | IfObject { .. }
                | IfTaken { .. }
                | IfDone { .. }
                | Match { .. }
        );
        if !one_runs {
            ends.push(Some(begun));
        }
        let come: Vec<Option<Span>> = ends.into_iter().flatten().collect();
        if come.is_empty() {
            None
        } else {
            Some(come.into_iter().flatten().next())
        }
    }

    fn twice(&mut self, span: Span, first: Span) {
        let diagnostic = if span == first {
            Diagnostic::error(codes::BEGUN_TWICE, "each round would begin a session of the same flow")
                .at(span, "in a loop")
                .help("leave the loop behind it: `return`")
        } else {
            Diagnostic::error(codes::BEGUN_TWICE, "a second session of the same flow")
                .at(span, "accepted again")
                .label(first, "it has begun here")
                .help("`return` behind the first; in the session, `deliver` gets what else comes of the flow")
        };
        let known =
            |old: &Diagnostic| old.code == diagnostic.code && old.primary.as_ref().is_some_and(|at| at.span == span);
        if !self.out.iter().any(known) {
            self.out.push(diagnostic.note("a flow has one session, and one message begins it"));
        }
    }
}

// -- there is no session yet

/// `from`: the place where the handler calls the function whose body this is.
fn without_session(
    layer: &Layer,
    body: &[Stmt],
    from: Option<Span>,
    seen: &mut BTreeSet<u32>,
    out: &mut Vec<Diagnostic>,
) {
    visit::walk(body, &mut |met| match met {
        Met::Stmt(stmt) => {
            if let StmtKind::Emit(emission) = &stmt.kind {
                out.extend(misplaced(emission, stmt.span, from));
            }
        }
        Met::Expr(Expr {
            kind: ExprKind::CallOwn { function, .. } | ExprKind::CallOn { function, .. }, span, ..
        }) => {
            if let (true, Some(called)) = (seen.insert(*function), layer.functions.get(*function as usize)) {
                without_session(layer, &called.body, Some(from.unwrap_or(*span)), seen, out);
            }
        }
        Met::Expr(_) | Met::State(_) => {}
    });
}

fn misplaced(emission: &Emission, span: Span, from: Option<Span>) -> Option<Diagnostic> {
    let (text, help) = match emission {
        Emission::Deliver { .. } => (
            "nobody above takes what arrives for no session".to_owned(),
            "begin one with it: `accept(msg) or { … }`; then `on deliver` runs in the session",
        ),
        Emission::Failed { .. } | Emission::FailedAs { .. } | Emission::Closed => (
            "only a session fails or is closed, and here is none".to_owned(),
            "give the message away: `drop msg: reason`; what the session does once it is there stands in `on accepted`",
        ),
        Emission::Close | Emission::Abort | Emission::Open { .. } => (
            "there is no session at hand, neither here nor below".to_owned(),
            "`accept(msg) or { … }` begins the session, and those below it",
        ),
        Emission::Custom { name, down: false, .. } => (
            format!("there is no session above that could hear `{}`", name.text),
            "say it in `on accepted` or `on deliver`, which `accept` runs in the session",
        ),
        Emission::Send { .. }
        | Emission::Listen { .. }
        | Emission::Bind { .. }
        | Emission::Unlisten { .. }
        | Emission::FailedFlow { .. }
        | Emission::Service { .. }
        | Emission::Custom { down: true, .. } => return None,
    };
    let mut diagnostic =
        Diagnostic::error(codes::NO_SESSION_YET, text).at(span, "in `arrives`, before a session is there");
    if let Some(from) = from {
        diagnostic = diagnostic.label(from, "`arrives` comes there by this call");
    }
    Some(diagnostic.help(help))
}
