//! Warnings: a send to a flow that leaves out the part that decides the destination. What is left out is *any*, which
//! is sent as 0.
//!
//! Keeps: `flow()` is *any* on purpose, unless a router over several layers must choose one; a part written as 0 is on
//! purpose as well.

use std::collections::BTreeMap;

use mokume_base::{Diagnostic, Span};

use crate::check::descents::Descent;
use crate::check::stacks::context::StackCheck;
use crate::check::stacks::flow_parts::{self, Parts};
use crate::program::*;
use crate::visit::{self, Met};
use crate::{codes, types};

/// Checks the flows that each layer of a descent sends to and opens against the parts that they have there.
pub(super) fn check(check: &mut StackCheck, descent: &Descent) {
    let index = descent.index();
    let is_several = check.stack.instances[index].unders.len() > 1;
    let mut found = Vec::new();
    for (at, layer) in check.layers[index].iter().enumerate() {
        let parts = flow_parts::below(check, descent, at);
        let which = layer.several.as_ref().filter(|_| is_several);
        let sent = Sent { layer, parts, which };
        let bodies = layer.functions.iter().map(|function| &function.body);
        for body in bodies.chain(layer.handlers.iter().map(|handler| &handler.body)) {
            sent.body(body, &mut found);
        }
    }
    check.out.extend(found);
}

/// What one layer sends, and to which flows.
struct Sent<'a> {
    layer: &'a Layer,
    /// The parts of the flows below it.
    parts: Parts<'a>,
    /// If it is a router over several and is over several: the name by which it chooses one.
    which: Option<&'a Name>,
}

impl Sent<'_> {
    fn body(&self, body: &[Stmt], out: &mut Vec<Diagnostic>) {
        let mut lets = BTreeMap::new();
        visit::walk(body, &mut |met| {
            let Met::Stmt(stmt) = met else { return };
            match &stmt.kind {
                StmtKind::Let { local, value } => {
                    lets.insert(*local, value);
                }
                StmtKind::AssignLocal { local, .. } => {
                    lets.remove(local);
                }
                StmtKind::Emit(Emission::Send { to: Some(to), .. }) => {
                    written(to, &lets, &mut |flow| out.extend(self.to(flow)));
                }
                StmtKind::Emit(Emission::Open { flow, .. }) => {
                    written(flow, &lets, &mut |flow| out.extend(self.key(flow)));
                }
                _ => {}
            }
        });
    }

    /// Reports the first part that a message's flow leaves out.
    fn to(&self, flow: &Expr) -> Option<Diagnostic> {
        self.link(flow).or_else(|| self.whose(flow)).or_else(|| self.key(flow)).or_else(|| self.remote(flow))
    }

    /// Checks the choice among several layers below.
    fn link(&self, flow: &Expr) -> Option<Diagnostic> {
        let which = &self.which?.text;
        let ExprKind::Flow { local, .. } = &flow.kind else { return None };
        if is_named(local, which) {
            return None;
        }
        let text = format!("`{which}` is left out, which is 0: all of this leaves by the first of the layers below");
        let found = Diagnostic::warning(codes::LEFT_OUT, text)
            .at(flow.span, "by which?")
            .label(self.which?.span, format!("`{}` stands over several, and chooses by this", self.layer.name.text))
            .help(format!("say it: `to flow({which}: …, …)`"))
            .help(format!("if the first is meant: `{which}: 0`"));
        Some(found)
    }

    /// Checks a part that is named without its end: if both ends have it, the local one is meant.
    fn whose(&self, flow: &Expr) -> Option<Diagnostic> {
        let ExprKind::Flow { remote, bare, .. } = &flow.kind else { return None };
        let is_of_ends = |part: &&Name| self.parts.get(part.text.as_str()).is_some_and(|part| !part.symmetric);
        let part = bare.iter().find(|part| is_of_ends(part) && !is_named(remote, &part.text))?;
        let name = &part.text;
        let text = format!("`{name}` is the local one here, and `remote.{name}` is left open: to whom?");
        let found = Diagnostic::warning(codes::LEFT_OUT, text)
            .at(part.span, "whose?")
            .note(format!(
                "both ends of the flows below `{}` have a `{name}`; without its end it is the local one",
                self.layer.name.text
            ))
            .help(format!("write `remote.{name}: …`"))
            .help(format!("if the local one is meant: `local.{name}: …`, beside the remote one"));
        Some(found)
    }

    /// Checks symmetric keys.
    fn key(&self, flow: &Expr) -> Option<Diagnostic> {
        let ExprKind::Flow { local, remote, .. } = &flow.kind else { return None };
        let mut keys = self.parts.iter().filter(|(_, part)| part.symmetric).map(|(name, _)| *name);
        let name = keys.find(|name| !is_named(local, name))?;
        if local.is_empty() && remote.is_empty() {
            return None;
        }
        let found = match bound(self.layer, name) {
            Some(place) => {
                let text = format!("`{name}` is bound, and this leaves with 0: what a flow leaves out is 0");
                Diagnostic::warning(codes::FROM_ELSEWHERE, text)
                    .at(flow.span, format!("`{name}` is left out"))
                    .label(place, "bound here")
            }
            None => {
                let text = format!("`{name}` is left out, which is 0: whom is this for?");
                Diagnostic::warning(codes::LEFT_OUT, text).at(flow.span, format!("without `{name}`"))
            }
        };
        Some(found.help(format!("say it: `{name}: …`")).help(format!("if 0 is meant: `{name}: 0`")))
    }

    /// Checks the parts of the remote end.
    fn remote(&self, flow: &Expr) -> Option<Diagnostic> {
        let ExprKind::Flow { local, remote, .. } = &flow.kind else { return None };
        let mut ends = self.parts.iter().filter(|(_, part)| !part.symmetric).map(|(name, _)| *name);
        let name = ends.find(|name| !is_named(remote, name))?;
        let own = |(part, _): &(Option<Name>, Expr)| {
            part.as_ref().is_none_or(|part| self.layer.several.as_ref().is_none_or(|which| which.text != part.text))
        };
        if remote.is_empty() && !local.iter().any(own) {
            return None;
        }
        let text = format!("`remote.{name}` is left out, which is 0: to whom does this go?");
        let found = Diagnostic::warning(codes::LEFT_OUT, text)
            .at(flow.span, format!("without `remote.{name}`"))
            .help(format!("say it: `remote.{name}: …`"))
            .help(format!("if 0 is meant: `remote.{name}: 0`"));
        Some(found)
    }
}

/// Whether an end contains the part; an end without the name of its part is its only part.
fn is_named(parts: &[(Option<Name>, Expr)], part: &str) -> bool {
    parts.iter().any(|(name, _)| name.as_ref().is_none_or(|name| name.text == part))
}

/// Where a layer binds a symmetric key to anything but 0.
fn bound(layer: &Layer, part: &str) -> Option<Span> {
    let mut place = None;
    visit::walk_layer(layer, &mut |met| {
        let Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Bind { flow }), .. }) = met else { return };
        let ExprKind::Flow { local, .. } = &flow.kind else { return };
        let own = local.iter().find(|(name, _)| name.as_ref().is_some_and(|name| name.text == part));
        place = place.or(own.filter(|(_, value)| types::number(value) != Some(0)).map(|(_, value)| value.span));
    });
    place
}

/// Calls `f` on the flows that an expression can be, as far as they are written out: directly, behind a name, or in the
/// branches of an `if`.
fn written<'a>(expr: &'a Expr, lets: &BTreeMap<LocalId, &'a Expr>, f: &mut dyn FnMut(&'a Expr)) {
    match &expr.kind {
        ExprKind::Flow { .. } => f(expr),
        ExprKind::Local(local) => {
            if let Some(Expr { kind: ExprKind::Flow { .. }, .. }) = lets.get(local) {
                f(lets[local]);
            }
        }
        ExprKind::If { then, otherwise, .. } => {
            written(then, lets, f);
            written(otherwise, lets, f);
        }
        ExprKind::Let { body, .. } => written(body, lets, f),
        _ => {}
    }
}
