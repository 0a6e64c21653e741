//! Statements on containers: calls that may refuse, `refuse` itself, and loops over their contents.

use mokume_base::Span;
use mokume_syntax::ast::{self, Expr as Tree};

use crate::codes;
use crate::program::*;
use crate::resolve::body::terms::make;
use crate::resolve::body::{Body, BodyKind};
use crate::resolve::stmt::{bindings, unnamed};
use crate::resolve::{expr, stmt};

/// `waiting.push(msg) or { … }` as a statement; outer `None` if it is not a call that may refuse.
pub(super) fn call_or(body: &mut Body, stmt: &ast::ExprStmt, span: Span) -> Option<Option<StmtKind>> {
    let Some(Tree::Call(call)) = stmt.expr() else { return None };
    let or = stmt.or()?;
    let Some(found) = expr::containers::refusing(body, &call, span) else {
        // A misspelt name is reported once.
        let Some(Tree::Field(field)) = call.callee() else { return None };
        let found =
            expr::containers::call_unmet(body, &field, &call.args(), span).filter(|found| found.ty == Type::Unknown);
        return found.map(|_| {
            stmt::block(body, or.block());
            None
        });
    };
    body.has_effects(span);
    if !matches!(found.ty, Type::Unit | Type::Unknown) {
        let help = "take it: `let x = waiting.pop() or { return }`, or `if let x = waiting.pop() { … }`";
        body.error(codes::UNUSED_VALUE, "this gives a value that nobody uses", span, "not used", help);
    }
    let mut otherwise = unnamed::call_refused(body, &found);
    otherwise.extend(stmt::block(body, or.block()));
    Some(Some(StmtKind::IfDone { call: found, local: None, then: Vec::new(), otherwise }))
}

/// Whether `refuse` is allowed here; reports if not.
pub(super) fn may_refuse(body: &mut Body, name: &Name) -> bool {
    let other = body.locals.find(&name.text).is_some() || body.find_state(&name.text).is_some();
    if other {
        return false;
    }
    if !body.refuses {
        let help = match body.kind {
            BodyKind::Function => "write `or refuse` behind the function's parameters or its result",
            _ => "a handler gives its message away: `drop msg: reason`",
        };
        body.error(codes::REFUSES_NOT, "nothing here may refuse", name.span, "not said in the head", help);
    }
    true
}

/// `for x in waiting limit 8 { … }`: the results of `at` for 0 up to `size()`.
pub(super) fn walk(
    body: &mut Body,
    names: &[Name],
    iterable: &Tree,
    limit: &Expr,
    block: Option<ast::Block>,
    span: Span,
) -> Option<StmtKind> {
    let found = expr::containers::named(body, iterable)?;
    let container = expr::containers::head(body, &found)?.clone();
    let heads = (walks(body, &container, "size"), walks(body, &container, "at"));
    let (Some((size, of_size)), Some((at, of_at))) = heads else {
        return no_walk(body, &container, names, block, span);
    };
    let number = Type::UInt(32);
    let fits = of_size.params.is_empty() && of_size.result == number && !of_size.refuses;
    let takes: Vec<Type> = of_at.params.iter().map(|param| param.ty).collect();
    if !fits || takes != [number] || !of_at.refuses || of_at.result == Type::Unit {
        return no_walk(body, &container, names, block, span);
    }
    let object = found.object;
    let call = |function: u32, args: Vec<Expr>, ty: Type| {
        let kind = match object.clone() {
            Some(object) => ExprKind::CallOn { object: Box::new(object), function, args },
            None => ExprKind::CallOwn { function, args },
        };
        make(kind, ty, span)
    };
    let to = call(size, Vec::new(), number);
    Some(body.scoped(|body| {
        let counter = body.locals.hidden(span, number);
        let local = bindings::only_name(body, names, span, of_at.result);
        let element = call(at, vec![make(ExprKind::Local(counter), number, span)], of_at.result);
        let then = stmt::block(body, block);
        let kind = StmtKind::IfDone { call: element, local: Some(local), then, otherwise: Vec::new() };
        let from = make(ExprKind::Number(0), number, span);
        StmtKind::For { local: counter, from, to, limit: limit.clone(), body: vec![Stmt { kind, span }] }
    }))
}

fn walks(body: &Body, container: &Container, name: &str) -> Option<(u32, Function)> {
    let index = container.function(name)?;
    Some((index, body.this_layer()?.functions.get(index as usize)?.clone()))
}

fn no_walk(
    body: &mut Body,
    container: &Container,
    names: &[Name],
    block: Option<ast::Block>,
    span: Span,
) -> Option<StmtKind> {
    let text = format!("a `{}` cannot be walked over", container.of);
    let help = "give it `fn size() -> u32` and `fn at(i: u32) -> T or refuse`";
    body.error(codes::CONTAINER_WALK, text, span, "no `size` and `at`", help);
    body.scoped(|body| {
        body.locals.bind_unknown(names);
        stmt::block(body, block)
    });
    Some(StmtKind::If {
        condition: make(ExprKind::Number(0), Type::Bool, span),
        likely: None,
        then: Vec::new(),
        otherwise: Vec::new(),
    })
}
