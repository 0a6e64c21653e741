//! Warnings: an endpoint binds an end of its flows, and sends without naming that end.
//!
//! A part that `to flow(…)` leaves out is *any*, which is sent as 0: answers then do not go to the number that was
//! bound.

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, Span};

use crate::codes;
use crate::program::*;
use crate::visit::{self, Met};

/// Reports parts of flows that endpoints bind, and leave out where they send.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for layer in program.layers.iter().filter(|layer| layer.shape == Shape::Endpoint) {
        let bound = bound(layer);
        if !bound.is_empty() {
            visit::walk_layer(layer, &mut |met| {
                if let Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Send { to: Some(to), .. }), .. }) = met {
                    out.extend(bound.iter().find_map(|part| left_out(part, to)));
                }
            });
        }
    }
}

/// A part of the local end that is bound, and where.
struct Bound<'a> {
    /// The name of the part; `None` if the end has only one.
    name: Option<&'a str>,
    place: Span,
}

fn bound(layer: &Layer) -> Vec<Bound<'_>> {
    let (mut bound, mut seen) = (Vec::new(), BTreeSet::new());
    visit::walk_layer(layer, &mut |met| {
        let Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Bind { flow }), .. }) = met else { return };
        let ExprKind::Flow { local, .. } = &flow.kind else { return };
        for (name, value) in local {
            let name = name.as_ref().map(|name| name.text.as_str());
            if seen.insert(name) {
                bound.push(Bound { name, place: value.span });
            }
        }
    });
    bound
}

/// Reports a message to the remote part of what is bound that does not name the local part.
fn left_out(part: &Bound, to: &Expr) -> Option<Diagnostic> {
    let ExprKind::Flow { local, remote, .. } = &to.kind else { return None };
    let names = |parts: &[(Option<Name>, Expr)]| {
        parts.iter().any(|(name, _)| name.as_ref().map(|name| name.text.as_str()) == part.name)
    };
    if !names(remote) || names(local) {
        return None;
    }
    let said = part.name.map_or("local".to_string(), |name| format!("local.{name}"));
    let named = part.name.map_or("an end".to_string(), |name| format!("`{name}`"));
    let text = format!("{named} is bound, and this message leaves from 0: what `to flow(…)` leaves out is 0");
    Some(
        Diagnostic::warning(codes::FROM_ELSEWHERE, text)
            .at(to.span, format!("`{said}` is left out"))
            .label(part.place, "bound here")
            .help(format!("say where it comes from: `to flow({said}: …, …)`, with what is bound"))
            .help(format!("if it is to leave from nowhere: `{said}: 0`")),
    )
}
