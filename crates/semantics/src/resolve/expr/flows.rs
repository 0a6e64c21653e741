//! Flows built from their parts, and numbers computed from flows.

use mokume_base::Span;
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::Body;
use crate::resolve::expr;
use crate::resolve::expr::{flow_parts, positional};
use crate::{codes, tree};

/// `flow(local.host: a, remote: b)`
pub(super) fn read(body: &mut Body, args: &[ast::Arg], want: Option<Type>, span: Span) -> Expr {
    let side = match want {
        Some(Type::Flow(side)) => side,
        _ => Side::Below,
    };
    of_side(body, args, side, span)
}

/// A flow of one side from its parts; parts that are left out are *any*.
pub fn of_side(body: &mut Body, args: &[ast::Arg], side: Side, span: Span) -> Expr {
    if let [arg] = args {
        if let (None, Some(value)) = (arg.name(), arg.value()) {
            return expr::value(body, &value, Type::Flow(side));
        }
    }
    let (mut local, mut remote, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    let mut said: Vec<(String, Option<String>, Span)> = Vec::new();
    let mut is_whole = true;
    for arg in args {
        let Some(value) = arg.value() else { continue };
        let Some(label) = arg.name() else {
            let place = body.span(arg);
            let help = "write `local: …`, `remote: …`, `remote.host: …`";
            body.error(codes::UNKNOWN_FLOW_PART, "a part of a flow is named", place, "which part?", help);
            continue;
        };
        let parts = tree::parts(body.file, &label);
        let (end, part) = match parts.as_slice() {
            [end] if matches!(end.text.as_str(), "local" | "remote") => (end.text.as_str(), None),
            [end, part] if matches!(end.text.as_str(), "local" | "remote") => (end.text.as_str(), Some(part.clone())),
            [part] => ("local", Some(part.clone())),
            _ => {
                let place = body.span(&label);
                let help = "write `local`, `remote`, `local.host`, `remote.port`";
                body.error(codes::UNKNOWN_FLOW_PART, "a flow has no such part", place, "unknown", help);
                continue;
            }
        };
        let place = body.span(&label);
        // An end as a whole counts as each of its parts.
        let name = part.as_ref().map(|part| part.text.clone());
        let same = |(other, known, _): &&(String, Option<String>, Span)| {
            other == end && (name.is_none() || known.is_none() || *known == name)
        };
        if let Some((.., first)) = said.iter().find(same).cloned() {
            body.cx.given_twice(&format!("`{}`", tree::path(body.file, &label).text), place, first);
            continue;
        }
        said.push((end.to_string(), name, place));
        let before = body.cx.out.len();
        let ty = flow_parts::given_type(body, part.as_ref(), side, &parts[0], parts.len() > 1);
        let found = match ty {
            Type::Unknown => expr::infer(body, &value, None),
            ty => expr::value(body, &value, ty),
        };
        is_whole &= body.cx.out.len() == before;
        if is_whole {
            bare.extend(part.clone().filter(|_| parts.len() == 1));
            if end == "local" { &mut local } else { &mut remote }.push((part, found));
        }
    }
    match is_whole {
        true => make(ExprKind::Flow { local, remote, bare }, Type::Flow(side), span),
        // What it lacks is a consequence of a value that is wrong.
        false => unknown(span),
    }
}

/// `flow.prf(low, high)`
pub(super) fn prf(body: &mut Body, flow: Expr, args: &[ast::Arg], span: Span) -> Expr {
    let Some(values) = positional::counted(body, "prf", args, 2, span) else { return unknown(span) };
    let key = [&values[0], &values[1]].map(|half| expr::value(body, half, Type::UInt(64)));
    make(ExprKind::FlowPrf { flow: Box::new(flow), key: Box::new(key) }, Type::UInt(64), span)
}

/// `flow.hash(secret)`
pub(super) fn hash(body: &mut Body, flow: Expr, args: &[ast::Arg], span: Span) -> Expr {
    let Some(values) = positional::counted(body, "hash", args, 1, span) else { return unknown(span) };
    let secret = Box::new(expr::value(body, &values[0], Type::UInt(64)));
    make(ExprKind::FlowHash { flow: Box::new(flow), secret }, Type::UInt(32), span)
}
