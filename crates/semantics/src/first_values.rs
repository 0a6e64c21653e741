//! Initial values that depend on other state of the same object: in which order they are computed, and cycles among
//! them (docs/language.md, section 4).

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, Span};

use crate::program::*;
use crate::visit::{self, Met};
use crate::{codes, graph};

/// The members of a scope, each after those that its initial value depends on.
pub fn order(layer: &Layer, scope: ScopeKind) -> Vec<u32> {
    graph::order(&members_of(&uses(layer, scope))).nodes.into_iter().map(|node| node as u32).collect()
}

/// Reports each cycle once, where it was found first.
pub(crate) fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for layer in &program.layers {
        let objects = (0..layer.objects.len()).map(|at| ScopeKind::Object(ObjectId(at as u32)));
        for scope in layer.scopes.iter().map(|scope| scope.kind).chain(objects) {
            let Some(members) = layer.members(scope) else { continue };
            let uses = uses(layer, scope);
            before_the_view(layer, scope, members, &uses, out);
            for first in graph::order(&members_of(&uses)).circles {
                let name = &members[first].name;
                let text = format!("the first value of `{}` is made of itself", name.text);
                let mut diagnostic = Diagnostic::error(codes::CIRCLE, text).at(name.span, "leads back here");
                // The last step of the way back, if it is not in the same value.
                let back = (0..uses.len()).filter(|at| *at != first);
                if let Some((_, span)) = back.flat_map(|at| &uses[at]).find(|(to, _)| *to == first) {
                    diagnostic = diagnostic.label(*span, "by this");
                }
                out.push(diagnostic.help("give it a value of its own, and set it in a handler"));
            }
        }
    }
}

/// A view's state begins before it is known who is in the view: a first value that is made of that would be made of nothing.
fn before_the_view(layer: &Layer, scope: ScopeKind, members: &[Member], uses: &Uses, out: &mut Vec<Diagnostic>) {
    if scope != ScopeKind::View || !layer.view.as_ref().is_some_and(|view| view.by_itself) {
        return;
    }
    let is_record = |at: usize| matches!(members[at].kind, MemberKind::Var { init: None, constant: true, .. });
    for (_, span) in uses.iter().flatten().filter(|(to, _)| is_record(*to)) {
        let text = "state of a view begins before it is known who is in it";
        out.push(
            Diagnostic::error(codes::OUT_OF_SIGHT, text).at(*span, "not known yet").help("set it in `on view_begin`"),
        );
    }
}

/// For each member: the members that its initial value reads, and where.
type Uses = Vec<Vec<(usize, Span)>>;

fn members_of(uses: &Uses) -> Vec<Vec<usize>> {
    uses.iter().map(|all| all.iter().map(|(to, _)| *to).collect()).collect()
}

fn uses(layer: &Layer, scope: ScopeKind) -> Uses {
    let members = layer.members(scope).unwrap_or_default();
    let of = |member: &Member| match &member.kind {
        MemberKind::Var { init: Some(init), .. } => read_by(layer, scope, init),
        _ => Vec::new(),
    };
    members.iter().map(of).collect()
}

/// The members of the scope that an expression reads, by itself or through functions of the layer.
fn read_by(layer: &Layer, scope: ScopeKind, value: &Expr) -> Vec<(usize, Span)> {
    let (mut found, mut called, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    visit::walk_in_expr(value, &mut |met| note(met, scope, &mut found, &mut called));
    while let Some((function, span)) = called.pop() {
        if !seen.insert(function) {
            continue;
        }
        let (mut inner, mut calls) = (Vec::new(), Vec::new());
        if let Some(function) = layer.functions.get(function as usize) {
            visit::walk(&function.body, &mut |met| note(met, scope, &mut inner, &mut calls));
        }
        // The place is in this value, even if the function stands elsewhere.
        found.extend(inner.into_iter().map(|(to, _)| (to, span)));
        called.extend(calls.into_iter().map(|(function, _)| (function, span)));
    }
    found
}

fn note(met: Met, scope: ScopeKind, found: &mut Vec<(usize, Span)>, called: &mut Vec<(u32, Span)>) {
    match met {
        // The state of another object of the class is already initialised.
        Met::State(state) if state.scope == scope && state.object.is_none() => {
            found.push((state.member as usize, state.span));
        }
        Met::Expr(Expr { kind: ExprKind::CallOwn { function, .. }, span, .. }) => called.push((*function, *span)),
        Met::State(_) | Met::Expr(_) | Met::Stmt(_) => {}
    }
}
