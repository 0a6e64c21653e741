//! Warnings: a function that refuses after it has changed state. `refuse` gives the messages back, and nothing else
//! (docs/decisions/0116-what-was-done-before-refuse-stays.md).
//!
//! Keeps: only changes that certainly come first are reported, and only if the refusal is the function's own decision;
//! the refusal of another function, behind an `or`, may never happen.

use mokume_base::{Diagnostic, Span};

use crate::codes;
use crate::program::*;
use crate::visit::{self, Met};

/// Checks all functions of layers that may refuse.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for layer in &program.layers {
        for function in layer.functions.iter().filter(|function| function.refuses) {
            Ways { layer, function, out }.block(&function.body, &[]);
        }
    }
}

/// A change of state, and its place.
#[derive(Clone, Copy)]
struct Done {
    state: StateAt,
    span: Span,
}

struct Ways<'a> {
    layer: &'a Layer,
    function: &'a Function,
    out: &'a mut Vec<Diagnostic>,
}

impl Ways<'_> {
    /// `before`: the changes on the way to the block.
    fn block(&mut self, block: &[Stmt], before: &[Done]) {
        let mut done = before.to_vec();
        for stmt in block {
            match &stmt.kind {
                StmtKind::Refuse => {
                    self.refused(stmt.span, &done);
                    return;
                }
                StmtKind::If { then, otherwise, .. } => {
                    self.block(then, &done);
                    self.block(otherwise, &done);
                }
                _ => {}
            }
            // A second change may restore the state.
            changed(stmt).into_iter().for_each(|change| {
                match done.iter().position(|known| known.state == change.state) {
                    Some(known) => _ = done.remove(known),
                    None if matches!(stmt.kind, StmtKind::Assign { .. } | StmtKind::Take { .. }) => done.push(change),
                    None => {}
                }
            });
        }
    }

    fn refused(&mut self, refuse: Span, done: &[Done]) {
        let Some(first) = done.first() else { return };
        let member = self.layer.members(first.state.0).and_then(|members| members.get(first.state.1 as usize));
        let name = member.map_or("?", |member| member.name.plain());
        let text = format!("`{}` refuses here, and has changed `{name}`", self.function.name.text);
        let found = Diagnostic::warning(codes::BEFORE_REFUSE, text)
            .at(refuse, "gives its messages back, and nothing else")
            .label(first.span, "this stays done")
            .help("refuse first, and change behind that")
            .help(format!("or put `{name}` back in front of `refuse`"));
        if !self.out.contains(&found) {
            self.out.push(found);
        }
    }
}

/// The state that a statement and its blocks change.
fn changed(stmt: &Stmt) -> Vec<Done> {
    let mut found = Vec::new();
    visit::walk(std::slice::from_ref(stmt), &mut |met| {
        let Met::Stmt(stmt) = met else { return };
        let state = match &stmt.kind {
            StmtKind::Assign { state, .. }
            | StmtKind::Take { quota: state, .. }
            | StmtKind::Give { quota: state, .. } => state,
            _ => return,
        };
        // For an object named by a handle, it is not known which object it is.
        if state.object.is_none() {
            found.push(Done { state: state.place(), span: stmt.span });
        }
    });
    found
}
