//! `let`: one name, two parts of a message, or a look-up that may fail, with the rest of the block behind it.

use mokume_base::Span;
use mokume_syntax::ast::{self, AstNode, BinaryOp, BindPattern, Expr as Tree, Stmt as Node};

use crate::program::*;
use crate::resolve::body::terms::make;
use crate::resolve::body::Body;
use crate::resolve::expr::{annotations, data, operators};
use crate::resolve::stmt::calls::needless_or;
use crate::resolve::stmt::lookup::Lookup;
use crate::resolve::stmt::{bindings, found, lookup, unnamed};
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
    if is_lookup_or_value(body, &value) {
        body.locals.bind_unknown(&names);
        return;
    }
    let said = stmt.ty().map(|ty| annotations::read(body.cx, body.file, Some(ty)));
    let is_soft = said.is_none() && operators::is_flexible(body, &value);
    let want = said.or_else(|| body.cx.soft.known.get(&names.first()?.span).copied().filter(|_| is_soft));
    let found = match want {
        Some(want) => expr::value(body, &value, want),
        None => expr::infer(body, &value, None),
    };
    if let Some(or) = stmt.or() {
        let help = "`or` stands behind `m[k]`, `Entry[k]` and `waiting.take(i)`";
        needless_or(body, &or, found.ty == Type::Unknown, help);
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
    let written = annotations::notation(body.cx, body.file, stmt.ty());
    body.locals.is_written(local, written);
    if is_soft && want.is_none() && matches!(ty, Type::UInt(_)) {
        body.soft.insert(local, name.span);
    }
    done.push(Stmt { kind: StmtKind::Let { local, value: found }, span });
}

/// `let x = m[k] or 0`, for which missing braces were reported.
fn is_lookup_or_value(body: &mut Body, value: &Tree) -> bool {
    let Tree::Binary(binary) = value else { return false };
    let (Some(BinaryOp::Or), Some(left), Some(right)) = (binary.op(), binary.left(), binary.right()) else {
        return false;
    };
    let said = body.cx.out.len();
    let (_, found) = unnamed::apart(body, |body| lookup::read(body, &left));
    body.cx.out.truncate(said);
    let looks_up = matches!(found, Some(Ok(_)));
    if looks_up {
        let text = "what stands for something that is not there stands in braces";
        let help = match right.syntax().text().to_string().trim() {
            "new" => "write `or new { … }`: the block runs when there is no room for a new one, and leaves".to_string(),
            right => format!("write `or {{ {right} }}`"),
        };
        body.error(codes::MISMATCH, text, body.span(&right), "expected `{`", &help);
    }
    looks_up
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
        let help = match value {
            Tree::Paren(_) => "each name has a `let` of its own: `let a = x`, and in the next line `let b = y`",
            _ => "two names take the parts of a message: `let (front, rest) = msg.split(n)`",
        };
        body.error(codes::MISMATCH, "this gives one value, not two", span, "two names", help);
        return unknown_names(body);
    };
    body.has_effects(span);
    let args = call.map_or(Vec::new(), |call| call.args());
    let message = unnamed::message(body, &base);
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
    let (mut all, lookup) = unnamed::apart(body, |body| lookup::read(body, &value));
    let mut lookup = match lookup? {
        Ok(lookup) => lookup,
        Err(()) => {
            body.locals.bind_unknown(&names);
            stmt::block(body, or.block());
            return Some(stmt::statements(body, rest));
        }
    };
    all.extend(lookup.before());
    if let (Lookup::Object { class, key }, true) = (&lookup, or.is_new()) {
        let otherwise = stmt::block(body, or.block());
        found::must_leave(body, &otherwise, or.block(), span);
        let local = body.locals.bind(names.first()?, Type::Object(*class));
        let kind = StmtKind::FindOrNew { class: *class, key: key.clone(), local, otherwise };
        all.push(Stmt { kind, span });
        all.extend(stmt::statements(body, rest));
        return Some(all);
    }
    let default = or.block().and_then(|block| tree::block_value(&block)).filter(|value| !leaves(body, value));
    if let (Some(default), Some(ty), [name]) = (default, lookup.value(), names.as_slice()) {
        all.extend(found_or_default(body, (lookup, ty), &default, name, span));
        all.extend(stmt::statements(body, rest));
        return Some(all);
    }
    let mut otherwise = lookup.refused(body);
    let block = stmt::block(body, or.block());
    found::must_leave(body, &block, or.block(), span);
    otherwise.extend(block);
    let kind = found::branches(body, lookup, &names, span, otherwise, |body| stmt::statements(body, rest));
    all.push(Stmt { kind, span });
    Some(all)
}

/// `refuse` and `end` alone are statements that leave.
fn leaves(body: &Body, value: &Tree) -> bool {
    let word = tree::name_expr(body.file, value).filter(|name| matches!(name.text.as_str(), "refuse" | "end"));
    word.is_some_and(|name| body.locals.find(&name.text).is_none() && body.find_state(&name.text).is_none())
}

/// `let v = m[k] or { d }`: the name stands for what is found, or `d`.
fn found_or_default(
    body: &mut Body,
    (lookup, ty): (Lookup, Type),
    default: &Tree,
    name: &Name,
    span: Span,
) -> Vec<Stmt> {
    let (first, default) = unnamed::apart(body, |body| expr::value(body, default, ty));
    let local = body.locals.hidden(span, ty);
    let mut otherwise = lookup.refused(body);
    otherwise.extend(first);
    otherwise.push(Stmt { kind: StmtKind::AssignLocal { local, value: default }, span });
    let kind = found::branches(body, lookup, std::slice::from_ref(name), span, otherwise, |body| {
        let found = body.locals.find(&name.text).map(|found| make(ExprKind::Local(found), ty, span));
        found.map(|value| Stmt { kind: StmtKind::AssignLocal { local, value }, span }).into_iter().collect()
    });
    let (nothing, either) = (data::zero(body, ty, span), make(ExprKind::Local(local), ty, span));
    let bound = body.locals.bind(name, ty);
    vec![
        Stmt { kind: StmtKind::Let { local, value: nothing }, span },
        Stmt { kind, span },
        Stmt { kind: StmtKind::Let { local: bound, value: either }, span },
    ]
}
