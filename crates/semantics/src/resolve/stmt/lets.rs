//! `let`: one name, two parts of a message, or something that may not be there with the rest of the block behind it.

use mokume_base::Span;
use mokume_syntax::ast::{self, AstNode, BindPattern, Expr as Tree, Stmt as Node};

use crate::program::*;
use crate::resolve::body::terms::make;
use crate::resolve::body::Body;
use crate::resolve::expr::{annotations, messages};
use crate::resolve::stmt::lookup::Lookup;
use crate::resolve::stmt::{bindings, found, lookup};
use crate::resolve::{expr, stmt};
use crate::{codes, tree};

/// `let x = e`
pub(super) fn read(body: &mut Body, stmt: &ast::LetStmt, span: Span, done: &mut Vec<Stmt>) {
    let names = bindings::names(body, stmt.pattern());
    let tuple = matches!(stmt.pattern(), Some(BindPattern::Tuple(_)));
    let Some(value) = stmt.value() else {
        body.locals.bind_unknown(&names);
        return;
    };
    if tuple {
        done.extend(split(body, &names, &value, span).map(|kind| Stmt { kind, span }));
        return;
    }
    let want = stmt.ty().map(|ty| annotations::read(body.cx, body.file, Some(ty)));
    let found = match want {
        Some(want) => expr::value(body, &value, want),
        None => expr::infer(body, &value, None),
    };
    if let Some(or) = stmt.or() {
        let place = or.span(body.file);
        let help = "`or` stands behind `m[k]`, `Entry[k]` and `waiting.take(i)`";
        body.error(codes::MISPLACED, "nothing here can fail", place, "not needed", help);
        stmt::block(body, or.block());
    }
    let Some(name) = names.first() else { return };
    let ty = match (found.ty, want) {
        (Type::Unit, _) => {
            body.error(
                codes::NO_VALUE,
                "this gives no value",
                found.span,
                "nothing to bind",
                "write it as a statement",
            );
            Type::Unknown
        }
        (ty, None) => ty,
        (_, Some(want)) => want,
    };
    let local = body.locals.bind(name, ty);
    done.push(Stmt { kind: StmtKind::Let { local, value: found }, span });
}

/// `let (front, rest) = msg.split(n)`
fn split(body: &mut Body, names: &[Name], value: &Tree, span: Span) -> Option<StmtKind> {
    let unknown_names = |body: &mut Body| {
        body.locals.bind_unknown(names);
        None
    };
    let call = if let Tree::Call(call) = value { Some(call) } else { None };
    let method = call.and_then(|call| tree::method(body.file, call));
    let Some((base, name)) = method.filter(|(_, name)| name.text == "split") else {
        let help = "two names take the parts of a message: `let (front, rest) = msg.split(n)`";
        body.error(codes::MISMATCH, "this gives one value, not two", span, "two names", help);
        return unknown_names(body);
    };
    body.has_effects(span);
    let args = call.map_or(Vec::new(), |call| call.args());
    let message = messages::named(body, &base);
    let at = expr::some_value(body, args.first().and_then(|arg| arg.value()), Type::UInt(32), name.span);
    let ([front, rest], Some(message)) = (names, message) else {
        if names.len() != 2 {
            body.error(
                codes::WRONG_COUNT,
                "a split message has two parts",
                span,
                "two names",
                "write `let (front, rest) = …`",
            );
        }
        return unknown_names(body);
    };
    let (front, rest) = (body.locals.bind(front, Type::Message), body.locals.bind(rest, Type::Message));
    Some(StmtKind::Split { message, at, front, rest })
}

/// `let v = m[k] or { … }`, `let e = Entry[k] or new { … }`: with the rest of the block.
pub(super) fn with_rest(body: &mut Body, node: &Node, rest: &[Node]) -> Option<Vec<Stmt>> {
    let Node::Let(stmt) = node else { return None };
    let or = stmt.or()?;
    let value = stmt.value()?;
    let span = body.span(node);
    let names = bindings::names(body, stmt.pattern());
    let mut lookup = match lookup::read(body, &value)? {
        Ok(lookup) => lookup,
        Err(()) => {
            body.locals.bind_unknown(&names);
            stmt::block(body, or.block());
            return Some(stmt::statements(body, rest));
        }
    };
    let default = or.block().and_then(|block| tree::block_value(&block));
    let bound = match (&lookup, default) {
        (Lookup::Object { class, key }, _) if or.is_new() => {
            let otherwise = stmt::block(body, or.block());
            found::must_leave(body, &otherwise, or.block(), span);
            let local = body.locals.bind(names.first()?, Type::Object(*class));
            let kind = StmtKind::FindOrNew { class: *class, key: key.clone(), local, otherwise };
            Some(vec![Stmt { kind, span }])
        }
        (Lookup::Map { map, key, values }, Some(default)) => match values.as_slice() {
            [ty] => Some(found_or_default(body, (map, key, *ty), &default, &names, span)?),
            _ => None,
        },
        _ => None,
    };
    if let Some(mut all) = bound {
        all.extend(stmt::statements(body, rest));
        return Some(all);
    }
    let otherwise = stmt::block(body, or.block());
    found::must_leave(body, &otherwise, or.block(), span);
    let mut all = lookup.before();
    let kind = found::branches(body, lookup, &names, span, otherwise, |body| stmt::statements(body, rest));
    all.push(Stmt { kind, span });
    Some(all)
}

/// `let v = m[k] or { d }` of one value: the name holds `d`, and then what is found.
fn found_or_default(
    body: &mut Body,
    (map, key, ty): (&StateRef, &[Expr], Type),
    default: &Tree,
    names: &[Name],
    span: Span,
) -> Option<Vec<Stmt>> {
    let default = expr::value(body, default, ty);
    let hidden = body.locals.hidden(span, ty);
    let local = body.locals.bind(names.first()?, ty);
    let found = make(ExprKind::Local(hidden), ty, span);
    let then = vec![Stmt { kind: StmtKind::AssignLocal { local, value: found }, span }];
    let (map, key) = (map.clone(), key.to_vec());
    let kind = StmtKind::IfFound { map, key, locals: vec![hidden], then, otherwise: Vec::new() };
    Some(vec![Stmt { kind: StmtKind::Let { local, value: default }, span }, Stmt { kind, span }])
}
