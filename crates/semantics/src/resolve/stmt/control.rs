//! `if`, `match`, `return`.

use mokume_base::{FileId, Span};
use mokume_syntax::ast::{self, AstNode, Likelihood};

use crate::codes;
use crate::program::*;
use crate::resolve::body::terms::{behind, make};
use crate::resolve::body::Body;
use crate::resolve::expr::{data, patterns};
use crate::resolve::stmt::{bindings, found, lookup, unnamed};
use crate::resolve::{expr, stmt};

/// `if c { … } else { … }`, `if let v = m[k] { … }`
pub(super) fn if_(body: &mut Body, stmt: &ast::If, span: Span) -> Option<StmtKind> {
    let likely = match stmt.likelihood() {
        Likelihood::Likely => Some(0.99),
        Likelihood::Unlikely => Some(0.01),
        Likelihood::Unknown => None,
    };
    if let Some(condition) = stmt.let_condition() {
        let (then, else_if, else_block) = (stmt.then(), stmt.else_if(), stmt.else_block());
        return if_found(body, &condition, then, span, |body| otherwise(body, else_if, else_block));
    }
    let condition = expr::some_value(body, stmt.condition(), Type::Bool, span);
    let then = stmt::block(body, stmt.then());
    let otherwise = otherwise(body, stmt.else_if(), stmt.else_block());
    Some(StmtKind::If { condition, likely, then, otherwise })
}

/// Does `then` with what is looked up, `otherwise` if it is not there.
pub(super) fn if_found(
    body: &mut Body,
    condition: &ast::LetCondition,
    then: Option<ast::Block>,
    span: Span,
    otherwise: impl FnOnce(&mut Body) -> Vec<Stmt>,
) -> Option<StmtKind> {
    let names = bindings::names(body, condition.pattern());
    let value = condition.value()?;
    let place = body.span(condition);
    let (mut before, lookup) = unnamed::apart(body, |body| lookup::read_or_report(body, &value));
    let Some(Ok(mut lookup)) = lookup else {
        body.scoped(|body| {
            body.locals.bind_unknown(&names);
            stmt::block(body, then)
        });
        otherwise(body);
        return None;
    };
    before.extend(lookup.before());
    let mut other = lookup.refused(body);
    let mut kind = found::branches(body, lookup, &names, place, Vec::new(), |body| stmt::block(body, then));
    other.extend(otherwise(body));
    if let StmtKind::IfFound { otherwise, .. }
    | StmtKind::IfObject { otherwise, .. }
    | StmtKind::IfTaken { otherwise, .. }
    | StmtKind::IfDone { otherwise, .. }
    | StmtKind::IfListener { otherwise, .. }
    | StmtKind::If { otherwise, .. } = &mut kind
    {
        *otherwise = other;
    } else {
        debug_assert!(false, "what is looked up has two ways");
    }
    Some(behind(before, kind, span))
}

fn otherwise(body: &mut Body, other: Option<ast::If>, block: Option<ast::Block>) -> Vec<Stmt> {
    match other {
        Some(inner) => {
            let span = body.span(&inner);
            if_(body, &inner, span).map(|kind| Stmt { kind, span }).into_iter().collect()
        }
        None => stmt::block(body, block),
    }
}

/// `match e { … }` on numbers or on an enum with data.
pub(super) fn match_(body: &mut Body, stmt: &ast::Match, span: Span, done: &mut Vec<Stmt>) {
    let Some(value) = stmt.value() else { return };
    let value = expr::infer(body, &value, None);
    if let Some(id) = data::enum_of(body, value.ty) {
        return match_data(body, stmt, (id, value), span, done);
    }
    let kind = match_numbers(body, stmt, value);
    done.extend(kind.map(|kind| Stmt { kind, span }));
}

fn match_numbers(body: &mut Body, stmt: &ast::Match, value: Expr) -> Option<StmtKind> {
    let arms = patterns::arms(body, stmt, &value);
    let is_lost = value.ty == Type::Unknown;
    let file = body.file;
    let mut arm = |block: Option<ast::Block>| {
        body.scoped(|body| {
            block.iter().filter(|_| is_lost).for_each(|block| data::bind_lost(body, stmt, block));
            stmt::block(body, block)
        })
    };
    let places = places(file, &arms, value.span);
    let cases = arms.cases.into_iter().map(|(numbers, block)| (numbers, arm(block))).collect();
    let otherwise = stmt::block(body, arms.otherwise);
    Some(StmtKind::Match { value, cases, otherwise, places })
}

/// The places of the blocks of a `match`; `whole` for a block that is missing.
fn places(file: FileId, arms: &patterns::Arms, whole: Span) -> Vec<Span> {
    let blocks = arms.cases.iter().map(|(_, block)| block).chain([&arms.otherwise]);
    blocks.map(|block| block.as_ref().map_or(whole, |block| block.span(file))).collect()
}

/// `match s { Shape.Circle(r) => { … } }`: branches on the number, and binds the parts in each block.
fn match_data(body: &mut Body, stmt: &ast::Match, (id, value): (EnumId, Expr), span: Span, done: &mut Vec<Stmt>) {
    let (ty, place) = (value.ty, value.span);
    let whole = body.locals.hidden(place, ty);
    done.push(Stmt { kind: StmtKind::Let { local: whole, value }, span });
    let local = make(ExprKind::Local(whole), ty, place);
    let number = make(ExprKind::RecordField { record: Box::new(local.clone()), field: 0 }, Type::Enum(id), place);
    let arms = patterns::arms(body, stmt, &number);
    let places = places(body.file, &arms, place);
    let mut cases = Vec::new();
    for (numbers, block) in arms.cases {
        let block = data_arm(body, stmt, block, (id, &local));
        cases.push((numbers, block));
    }
    let otherwise = data_arm(body, stmt, arms.otherwise, (id, &local));
    done.push(Stmt { kind: StmtKind::Match { value: number, cases, otherwise, places }, span });
}

/// A block with the names of its pattern bound.
fn data_arm(body: &mut Body, stmt: &ast::Match, block: Option<ast::Block>, (id, whole): (EnumId, &Expr)) -> Vec<Stmt> {
    let Some(block) = block else { return Vec::new() };
    body.scoped(|body| {
        let parts = data::arm_parts(body, stmt, &block, (id, whole)).into_iter();
        let mut statements: Vec<Stmt> =
            parts.map(|(local, value)| Stmt { span: value.span, kind: StmtKind::Let { local, value } }).collect();
        statements.extend(stmt::statements(body, &block.statements()));
        statements
    })
}

/// `return`, `return e`
pub(super) fn return_(body: &mut Body, stmt: &ast::ReturnStmt, span: Span) -> Option<StmtKind> {
    let result = body.result;
    let value = match (stmt.value(), result) {
        (None, Type::Unit | Type::Unknown) => None,
        (None, _) => {
            let text = format!("this function gives {}", body.show(result));
            body.error(codes::NO_VALUE, text, span, "no value here", "write `return x`");
            None
        }
        (Some(value), Type::Unit) => {
            let place = body.span(&value);
            let help = "leave the value out, or write `-> T` behind the function's parameters";
            body.error(codes::MISMATCH, "nobody takes a value here", place, "not wanted", help);
            expr::infer(body, &value, None);
            None
        }
        (Some(value), want) => Some(expr::value(body, &value, want)),
    };
    Some(StmtKind::Return { value })
}
