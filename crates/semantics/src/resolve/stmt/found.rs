//! The branches of a look-up: names bound where it succeeds, and the block behind `or`.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::body::terms::make;
use crate::resolve::body::Body;
use crate::resolve::stmt::bindings;
use crate::resolve::stmt::lookup::Lookup;
use crate::{codes, visit};

/// The branches of a look-up, with the names bound in the first. One arm for each kind of look-up.
pub(super) fn branches(
    body: &mut Body,
    lookup: Lookup,
    names: &[Name],
    span: Span,
    otherwise: Vec<Stmt>,
    then: impl FnOnce(&mut Body) -> Vec<Stmt>,
) -> StmtKind {
    body.scoped(|body| match lookup {
        Lookup::Map { map, key, values } => {
            let locals = parts(body, &values, names, span);
            StmtKind::IfFound { map, key, locals, then: then(body), otherwise }
        }
        Lookup::Object { class, key } => {
            let local = bindings::only_name(body, names, span, Type::Object(class));
            StmtKind::IfObject { class, key, local, then: then(body), otherwise }
        }
        Lookup::Listener(flow) => {
            let local = bindings::only_name(body, names, span, Type::Listener);
            StmtKind::IfListener { flow, local, then: then(body), otherwise }
        }
        Lookup::Messages { messages, index, share } => {
            body.has_effects(span);
            let local = bindings::only_name(body, names, span, Type::Message);
            StmtKind::IfTaken { messages, index, share, local, then: then(body), otherwise }
        }
        Lookup::Call(call) => {
            let local = result(body, &call, names, span);
            StmtKind::IfDone { call, local, then: then(body), otherwise }
        }
        Lookup::Vector { condition, value, after, .. } => {
            let local = bindings::only_name(body, names, span, value.ty);
            let mut all = vec![Stmt { kind: StmtKind::Let { local, value }, span }];
            all.extend(after);
            all.extend(then(body));
            StmtKind::If { condition, likely: None, then: all, otherwise }
        }
        Lookup::Element(value) => {
            let local = bindings::only_name(body, names, span, value.ty);
            let mut all = vec![Stmt { kind: StmtKind::Let { local, value }, span }];
            all.extend(then(body));
            let condition = make(ExprKind::Number(1), Type::Bool, span);
            StmtKind::If { condition, likely: None, then: all, otherwise }
        }
    })
}

/// A name for each part of a map's value.
fn parts(body: &mut Body, values: &[Type], names: &[Name], span: Span) -> Vec<LocalId> {
    if names.len() != values.len() {
        let text = format!("this map's values have {} parts, not {}", values.len(), names.len());
        body.error(codes::WRONG_COUNT, text, span, "here", "write one name for each: `if let (a, b) = m[k]`");
    }
    let bind = |(index, ty): (usize, &Type)| match names.get(index) {
        Some(name) => body.locals.bind(name, *ty),
        None => body.locals.hidden(span, *ty),
    };
    values.iter().enumerate().map(bind).collect()
}

/// The name for the result of a call, if it has one.
fn result(body: &mut Body, call: &Expr, names: &[Name], span: Span) -> Option<LocalId> {
    match (call.ty, names) {
        (Type::Unit, []) => None,
        (Type::Unit, _) => {
            let help = "write it as a statement: `waiting.push(msg) or { … }`";
            body.error(codes::NO_VALUE, "this gives no value", call.span, "nothing to bind", help);
            body.locals.bind_unknown(names);
            None
        }
        (ty, _) => Some(bindings::only_name(body, names, span, ty)),
    }
}

/// Checks that the block behind `or` ends with `return` on every path.
pub(super) fn must_leave(body: &mut Body, otherwise: &[Stmt], block: Option<ast::Block>, span: Span) {
    if visit::leaves(otherwise) || block.is_none() {
        return;
    }
    let place = block.map_or(span, |block| body.span(&block));
    if gives_behind_statements(body, place) {
        return;
    }
    let diagnostic = Diagnostic::error(codes::MUST_LEAVE, "the block behind `or` goes on as if there had been room")
        .at(place, "runs past its end")
        .note("what follows relies on what this did not get")
        .help("end it with `return`, after giving the message away");
    body.report(diagnostic);
}

/// `or { count misses  0 }`: a value after statements, which was reported as unused.
fn gives_behind_statements(body: &mut Body, block: Span) -> bool {
    let within = |span: Span| span.file == block.file && block.start <= span.start && span.end < block.end;
    let is_value = |found: &Diagnostic| {
        found.code == codes::UNUSED_VALUE && found.primary.as_ref().is_some_and(|label| within(label.span))
    };
    let Some(last) = body.cx.out.iter().rposition(is_value) else { return false };
    let Some(value) = body.cx.out[last].primary.as_ref().map(|label| label.span) else { return false };
    body.cx.out.remove(last);
    let diagnostic = Diagnostic::error(codes::MUST_LEAVE, "a block that gives a value has nothing else in it")
        .at(block, "statements, and a value")
        .label(value, "the value")
        .help("give the value alone: `or { 0 }`")
        .help("or say both ways: `let x: u32 = 0` in front, and `if let found = … { x = found } else { … }`");
    body.report(diagnostic);
    true
}
