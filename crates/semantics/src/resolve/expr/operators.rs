//! Operators on expressions: which operand determines the type of the other.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, AstNode, BinaryOp, Expr as Tree, NumberValue, UnaryOp};

use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::{views, Body};
use crate::resolve::context::Item;
use crate::resolve::expr;
use crate::resolve::expr::{conversions, named_types, operations, state};
use crate::{codes, tree, types};

/// `not x`, `!x`
pub(super) fn unary(body: &mut Body, expr: &ast::UnaryExpr, want: Option<Type>, span: Span) -> Expr {
    let Some(operand) = expr.operand() else { return unknown(span) };
    let want = if expr.op() == UnaryOp::Not { Some(Type::Bool) } else { want };
    let a = expr::infer(body, &operand, want);
    let ty = a.ty;
    let fits = matches!((expr.op(), ty), (_, Type::Unknown | Type::Bool) | (UnaryOp::Complement, Type::UInt(_)));
    if !fits {
        let (sign, needs) = if expr.op() == UnaryOp::Not { ("not", "a `bool`") } else { ("!", "a `bool` or a `uN`") };
        let text = format!("`{sign}` takes {needs}, not {}", body.show(ty));
        let help = if ty == Type::Bool { "compare it first" } else { "compare it first: `x == 0`" };
        body.error(codes::BAD_OPERANDS, text, a.span, "of this type", help);
        return unknown(span);
    }
    make(ExprKind::Not(Box::new(a)), ty, span)
}

/// `a + b`
pub(super) fn binary(body: &mut Body, expr: &ast::BinaryExpr, want: Option<Type>, span: Span) -> Expr {
    let (Some(op), Some(left), Some(right)) = (expr.op(), expr.left(), expr.right()) else { return unknown(span) };
    let Some(op) = operations::operator(op) else { return is_in(body, &left, &right, span) };
    let op_span = expr.op_span(body.file);
    if operations::compares(op) && is_comparison(&left) {
        // The parser has reported it.
        expr::infer(body, &left, None);
        expr::infer(body, &right, None);
        return unknown(span);
    }
    match op {
        Binary::And | Binary::Or => {
            let said = body.cx.out.len();
            let a = expr::value(body, &left, Type::Bool);
            let before = body.cx.out.len();
            let b = expr::value(body, &right, Type::Bool);
            if before > said {
                // The text beside it may fail to be a condition for the same reason: `m[k] or 0`.
                let is_other = |found: &Diagnostic| found.code != codes::MISMATCH;
                let others: Vec<Diagnostic> = body.cx.out.drain(before..).filter(is_other).collect();
                body.cx.out.extend(others);
                return unknown(span);
            }
            make(ExprKind::Binary { op, a: Box::new(a), b: Box::new(b) }, Type::Bool, span)
        }
        Binary::Shl | Binary::Shr => {
            let a = expr::infer(body, &left, want);
            let b = expr::infer(body, &right, Some(Type::UInt(8)));
            operations::operate(body, op, a, b, op_span, span)
        }
        _ => {
            let (a, b) = operands(body, op, &left, &right, want);
            operations::operate(body, op, a, b, op_span, span)
        }
    }
}

/// Both operands; a literal takes the type of the other operand.
fn operands(body: &mut Body, op: Binary, left: &Tree, right: &Tree, want: Option<Type>) -> (Expr, Expr) {
    // A comparison's result says nothing about its operands.
    let want = if operations::compares(op) { None } else { want };
    match (is_flexible(body, left), is_flexible(body, right)) {
        (true, false) => {
            let b = expr::infer(body, right, None);
            let hint = wide_enough(left, operations::beside(op, b.ty, true), want);
            (expr::infer(body, left, hint), b)
        }
        (false, true) => {
            let a = expr::infer(body, left, None);
            let hint = wide_enough(right, operations::beside(op, a.ty, false), want);
            let b = expr::infer(body, right, hint);
            (a, b)
        }
        (true, true) => (expr::infer(body, left, want), expr::infer(body, right, want)),
        // A text beside a vector of octets is one.
        (false, false) if is_text(left) && !is_text(right) => {
            let b = expr::infer(body, right, None);
            let hint = body.cx.program.vector(b.ty).map(|_| b.ty);
            (expr::infer(body, left, hint), b)
        }
        (false, false) => {
            let a = expr::infer(body, left, None);
            let takes_text = matches!(a.ty, Type::UInt(_)) || body.cx.program.vector(a.ty).is_some();
            let is_hint = a.ty == Type::Reason || is_text(right) && takes_text;
            let b = expr::infer(body, right, is_hint.then_some(a.ty));
            (a, b)
        }
    }
}

/// Two values of one type: a literal takes that of the other.
pub fn pair(body: &mut Body, a: &Tree, b: &Tree, want: Option<Type>) -> (Expr, Expr) {
    let (a, b) = if is_flexible(body, a) && !is_flexible(body, b) {
        let b = expr::infer(body, b, want);
        let hint = if b.ty == Type::Unknown { want } else { wide_enough(a, Some(b.ty), want) };
        (expr::infer(body, a, hint), b)
    } else {
        let a = expr::infer(body, a, want);
        let takes_type = a.ty != Type::Unknown && is_flexible(body, b);
        let hint = if takes_type { wide_enough(b, Some(a.ty), want) } else { want };
        let b = expr::infer(body, b, hint);
        (a, b)
    };
    conversions::unify(body, a, b)
}

/// Whether an expression takes its type from its context.
pub fn is_flexible(body: &Body, expr: &Tree) -> bool {
    match expr {
        Tree::Number(number) => matches!(number.value(), Some(NumberValue::Plain(_))),
        Tree::Name(name) => name.text() == "random" && body.locals.find("random").is_none(),
        Tree::Vector(_) => true,
        Tree::Paren(paren) => paren.all().iter().all(|inner| is_flexible(body, inner)),
        Tree::Binary(binary) => {
            let shift = matches!(binary.op(), Some(BinaryOp::Shl | BinaryOp::Shr));
            let right = shift || binary.right().is_some_and(|right| is_flexible(body, &right));
            binary.left().is_some_and(|left| is_flexible(body, &left)) && right
        }
        Tree::If(inner) => {
            let other = inner.else_if().map(Tree::If).or_else(|| value_of(inner.else_block()));
            are_flexible(body, [value_of(inner.then()), other])
        }
        Tree::Match(inner) => are_flexible(body, inner.arms().iter().map(|arm| value_of(arm.body()))),
        _ => false,
    }
}

fn value_of(block: Option<ast::Block>) -> Option<Tree> {
    block.and_then(|block| tree::block_value(&block))
}

/// Whether all branches have values that take their types from the context.
fn are_flexible(body: &Body, branches: impl IntoIterator<Item = Option<Tree>>) -> bool {
    branches.into_iter().all(|branch| branch.is_some_and(|branch| is_flexible(body, &branch)))
}

fn is_text(expr: &Tree) -> bool {
    matches!(tree::unparen(expr), Tree::Octets(_))
}

/// The hint for a literal; if the literal is too large for it, the wider type that is expected of the whole.
pub fn wide_enough(literal: &Tree, hint: Option<Type>, want: Option<Type>) -> Option<Type> {
    let Tree::Number(number) = tree::unparen(literal) else { return hint };
    match (hint, want, number.value()) {
        (Some(Type::UInt(narrow)), Some(Type::UInt(wide)), Some(NumberValue::Plain(value)))
            if wide > narrow && value > types::mask(narrow) =>
        {
            want
        }
        _ => hint,
    }
}

/// `k in m`
fn is_in(body: &mut Body, left: &Tree, right: &Tree, span: Span) -> Expr {
    if let Some(class) = tree::name_expr(body.file, right).and_then(|name| body.class_named(&name)) {
        let key = object_key(body, class, &tree::untuple(left), span);
        return make(ExprKind::HasObject { class, key }, Type::Bool, span);
    }
    if named_types::of(body, right) == Some(Type::Ranks) {
        let rank = expr::value(body, left, Type::Rank);
        let set = expr::infer(body, right, None);
        let kind = ExprKind::Binary { op: Binary::Shr, a: Box::new(set), b: Box::new(rank) };
        let bit = |kind| Box::new(make(kind, Type::Ranks, span));
        let last = ExprKind::Binary { op: Binary::BitAnd, a: bit(kind), b: bit(ExprKind::Number(1)) };
        let is_set = ExprKind::Binary { op: Binary::Ne, a: bit(last), b: bit(ExprKind::Number(0)) };
        return make(is_set, Type::Bool, span);
    }
    let name = tree::name_expr(body.file, right);
    let is_constant =
        name.as_ref().is_some_and(|name| matches!(body.cx.item_at(body.file, name), Some(Item::Const(_))));
    let ty = if is_constant { Some(expr::infer(body, right, None).ty) } else { named_types::of(body, right) };
    let is_view = name.is_some_and(|name| views::is_view(body, &name.text));
    if is_view || ty.is_some_and(|ty| body.cx.program.vector(ty).is_some()) {
        no_members(body, left, right, ty.filter(|_| !is_view));
        return unknown(span);
    }
    let is_map = |kind: &MemberKind| matches!(kind, MemberKind::Map { .. });
    let Some(map) = state::of_kind(body, right, "a map or the name of objects", is_map) else { return unknown(span) };
    let (keys, _) = state::map_types(body, &map);
    let key = key_values(body, &tree::untuple(left), &keys, span);
    make(ExprKind::InMap { map, key }, Type::Bool, span)
}

/// Reports a vector, or the view, behind `in`.
fn no_members(body: &mut Body, left: &Tree, right: &Tree, vector: Option<Type>) {
    let text_of = |tree: &Tree| tree.syntax().text().to_string().trim().to_string();
    let (at, looked_for, written) = (body.span(right), text_of(left), text_of(right));
    let of_view = format!("{}.members", views::VIEW);
    let is_members = written == of_view && views::is_view(body, views::VIEW);
    let (text, what, help) = match vector.and_then(|ty| body.cx.program.vector(ty)) {
        Some(Vector { bound, .. }) => {
            let help = match is_members {
                true => format!("a member has a rank: `if let r = view.rank({looked_for}) {{ … }}`"),
                false => format!("look at one after the other: `for one in {written} limit {bound} {{ … }}`"),
            };
            (format!("`in` looks in maps and objects, and `{written}` is a vector"), "a vector", help)
        }
        None => {
            let help = format!("a member has a rank, found by its number: `if let r = view.rank({looked_for}) {{ … }}`; all ranks are `for r in view {{ … }}`");
            ("`in` looks in maps and objects, not in a view".to_string(), "the view", help)
        }
    };
    body.error(codes::WRONG_STATE, &text, at, what, &help);
}

/// One value for each part of the key of a class of objects. Reports name the parts; of several values of other types,
/// one is reported.
pub fn object_key(body: &mut Body, class: ObjectId, given: &[Tree], span: Span) -> Vec<Expr> {
    let said = body.cx.out.len();
    let key = key_values(body, given, &state::object_keys(body, class), span);
    let Some(class) = body.this_layer().and_then(|layer| layer.objects.get(class.index())) else { return key };
    let names: Vec<&str> = class.keys.iter().map(|key| key.name.text.as_str()).collect();
    let parts: Vec<String> =
        class.keys.iter().map(|key| format!("{}: {}", key.name.text, body.cx.show(key.ty))).collect();
    let help = format!("the key is `{}`: write `{}[{}]`", parts.join(", "), class.name.text, names.join(", "));
    let is_part = |found: &Diagnostic| {
        let place = found.primary.as_ref().map(|label| label.span);
        let is_value = place.is_some_and(|place| given.iter().any(|value| body.span(value) == place));
        place == Some(span) && found.code == codes::WRONG_COUNT || is_value && found.code == codes::MISMATCH
    };
    let ours: Vec<usize> = (said..body.cx.out.len()).filter(|at| body.cx.out.get(*at).is_some_and(is_part)).collect();
    for at in ours.iter().skip(1).rev() {
        body.cx.out.remove(*at);
    }
    if let Some(first) = ours.first().and_then(|at| body.cx.out.get_mut(*at)) {
        first.helps = vec![help];
    }
    key
}

/// One value for each part of a key.
pub fn key_values(body: &mut Body, given: &[Tree], wanted: &[Type], span: Span) -> Vec<Expr> {
    // An unreadable key was reported.
    if given.len() != wanted.len() && !wanted.is_empty() {
        let parts = if wanted.len() == 1 { "one part".to_string() } else { format!("{} parts", wanted.len()) };
        let text = format!("this key has {parts}, not {}", given.len());
        body.error(codes::WRONG_COUNT, text, span, "here", "write one value for each part: `m[(a, b)]`");
        return wanted.iter().map(|_| unknown(span)).collect();
    }
    given.iter().zip(wanted).map(|(value, ty)| expr::value(body, value, *ty)).collect()
}

/// Whether it is a comparison without parentheses.
fn is_comparison(tree: &Tree) -> bool {
    matches!(tree, Tree::Binary(inner) if inner.op().and_then(operations::operator).is_some_and(operations::compares))
}
