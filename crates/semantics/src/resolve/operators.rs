//! Operators: which types they take, and what they give.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, BinaryOp, Expr as Tree, NumberValue, UnaryOp};

use super::body::{cast, make, unknown, Body};
use crate::program::*;
use crate::{codes, tree, types};

impl Body<'_> {
    /// Whether an expression takes its type from where it stands.
    pub(super) fn is_flexible(&self, expr: &Tree) -> bool {
        match expr {
            Tree::Number(number) => matches!(number.value(), Some(NumberValue::Plain(_))),
            Tree::Name(name) => name.text() == "random" && self.local("random").is_none(),
            Tree::Vector(_) => true,
            Tree::Paren(paren) => paren.all().iter().all(|inner| self.is_flexible(inner)),
            Tree::Binary(binary) => {
                let shift = matches!(binary.op(), Some(BinaryOp::Shl | BinaryOp::Shr));
                let right = shift || binary.right().is_some_and(|right| self.is_flexible(&right));
                binary.left().is_some_and(|left| self.is_flexible(&left)) && right
            }
            Tree::If(inner) => {
                let value = |block: Option<ast::Block>| block.and_then(|block| tree::block_value(&block));
                let branches = [value(inner.then()), value(inner.else_block())];
                branches.iter().all(|branch| branch.as_ref().is_some_and(|branch| self.is_flexible(branch)))
            }
            _ => false,
        }
    }

    pub(super) fn unary(&mut self, expr: &ast::UnaryExpr, want: Option<Type>, span: Span) -> Expr {
        let Some(operand) = expr.operand() else { return unknown(span) };
        let want = if expr.op() == UnaryOp::Not { Some(Type::Bool) } else { want };
        let a = self.expr(&operand, want);
        let ty = a.ty;
        let fits = matches!((expr.op(), ty), (_, Type::Unknown | Type::Bool) | (UnaryOp::Complement, Type::UInt(_)));
        if !fits {
            let (sign, needs) =
                if expr.op() == UnaryOp::Not { ("not", "a `bool`") } else { ("!", "a `bool` or a `uN`") };
            let text = format!("`{sign}` takes {needs}, not {}", self.show(ty));
            let help = if ty == Type::Bool { "compare it first" } else { "compare it first: `x == 0`" };
            self.error(codes::BAD_OPERANDS, text, a.span, "of this type", help);
            return unknown(span);
        }
        make(ExprKind::Not(Box::new(a)), ty, span)
    }

    pub(super) fn binary(&mut self, expr: &ast::BinaryExpr, want: Option<Type>, span: Span) -> Expr {
        let (Some(op), Some(left), Some(right)) = (expr.op(), expr.left(), expr.right()) else { return unknown(span) };
        let Some(op) = operator(op) else { return self.is_in(&left, &right, span) };
        let op_span = expr.op_span(self.file);
        if compares(op) && is_comparison(&left) {
            // The parser has said so.
            self.expr(&left, None);
            self.expr(&right, None);
            return unknown(span);
        }
        match op {
            Binary::And | Binary::Or => {
                let a = self.value(&left, Type::Bool);
                let b = self.value(&right, Type::Bool);
                make(ExprKind::Binary { op, a: Box::new(a), b: Box::new(b) }, Type::Bool, span)
            }
            Binary::Shl | Binary::Shr => {
                let a = self.expr(&left, want);
                let b = self.expr(&right, Some(Type::UInt(8)));
                self.operate(op, a, b, op_span, span)
            }
            _ => {
                let (a, b) = self.operands(op, &left, &right, want);
                self.operate(op, a, b, op_span, span)
            }
        }
    }

    /// Both operands; a literal takes the type that fits the other.
    fn operands(&mut self, op: Binary, left: &Tree, right: &Tree, want: Option<Type>) -> (Expr, Expr) {
        // A comparison's result says nothing about its operands.
        let want = if compares(op) { None } else { want };
        match (self.is_flexible(left), self.is_flexible(right)) {
            (true, false) => {
                let b = self.expr(right, None);
                let hint = self.wide_enough(left, beside(op, b.ty, true), want);
                (self.expr(left, hint), b)
            }
            (false, true) => {
                let a = self.expr(left, None);
                let hint = self.wide_enough(right, beside(op, a.ty, false), want);
                let b = self.expr(right, hint);
                (a, b)
            }
            (true, true) => (self.expr(left, want), self.expr(right, want)),
            (false, false) => {
                let a = self.expr(left, None);
                let reason = (a.ty == Type::Reason).then_some(Type::Reason);
                let b = self.expr(right, reason);
                (a, b)
            }
        }
    }

    /// The hint for a literal; where it is too big for that, the wider type that is wanted of the whole.
    fn wide_enough(&self, literal: &Tree, hint: Option<Type>, want: Option<Type>) -> Option<Type> {
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

    /// An operator on two values, in types that it takes.
    pub(super) fn operate(&mut self, op: Binary, a: Expr, b: Expr, op_span: Span, span: Span) -> Expr {
        if a.ty == Type::Unknown || b.ty == Type::Unknown {
            let ty = if compares(op) { Type::Bool } else { Type::Unknown };
            return make(ExprKind::Binary { op, a: Box::new(a), b: Box::new(b) }, ty, span);
        }
        let found = if compares(op) { self.comparison(op, &a, &b) } else { arithmetic(op, a.ty, b.ty) };
        let Some((operands, result)) = found else { return self.bad_operands(op, a, b, op_span, span) };
        let fit =
            |expr: Expr| if types::same(expr.ty, operands) { expr } else { cast(expr, operands, CastKind::Widen) };
        let (a, b) = match op {
            Binary::Shl | Binary::Shr => (a, b),
            _ => (fit(a), fit(b)),
        };
        make(ExprKind::Binary { op, a: Box::new(a), b: Box::new(b) }, result, span)
    }

    fn comparison(&self, op: Binary, a: &Expr, b: &Expr) -> Option<(Type, Type)> {
        let equality = matches!(op, Binary::Eq | Binary::Ne);
        match (a.ty, b.ty) {
            (Type::UInt(x), Type::UInt(y)) => Some((Type::UInt(x.max(y)), Type::Bool)),
            (Type::Flow(_), Type::Flow(_)) if equality => Some((a.ty, Type::Bool)),
            (x, y) if x != y => None,
            (x, _) if equality && self.cx.program.vector(x).is_some() => Some((x, Type::Bool)),
            (Type::Seq(_) | Type::Duration | Type::Instant, _) => Some((a.ty, Type::Bool)),
            (Type::Bool | Type::Enum(_) | Type::Reason, _) if equality => Some((a.ty, Type::Bool)),
            _ => None,
        }
    }

    fn bad_operands(&mut self, op: Binary, a: Expr, b: Expr, op_span: Span, span: Span) -> Expr {
        let (left, right) = (self.show(a.ty), self.show(b.ty));
        let text = format!("`{}` does not take {left} and {right}", sign(op));
        let mut diagnostic = Diagnostic::error(codes::BAD_OPERANDS, text)
            .at(op_span, "of these types")
            .label(a.span, left.clone())
            .label(b.span, right.clone());
        let help = match (a.ty, b.ty) {
            (Type::Seq(width), Type::UInt(_)) | (Type::UInt(_), Type::Seq(width)) if compares(op) => {
                format!("a number is compared with a `seq` as one: `x as seq{width}`")
            }
            (Type::Bool, Type::Bool) => "combine `bool`s with `and`, `or`, `not`, `==`".to_string(),
            (Type::Duration, Type::UInt(_)) | (Type::UInt(_), Type::Duration) => {
                "write a unit: `20 ms`; a duration is multiplied and divided by numbers".to_string()
            }
            (Type::Record(_), Type::Record(_)) if self.cx.program.vector(a.ty).is_some() => {
                "two vectors of one type are equal or not: `==`, `!=`".to_string()
            }
            (Type::Record(_), Type::Record(_)) => "compare records field by field".to_string(),
            (Type::Enum(_), Type::UInt(_)) | (Type::UInt(_), Type::Enum(_)) => {
                "compare with a name, or take the number: `kind as u8`".to_string()
            }
            (Type::Instant, Type::Instant) => "instants are compared and subtracted".to_string(),
            _ => "both sides must be numbers of the same kind".to_string(),
        };
        diagnostic = diagnostic.help(help);
        self.report(diagnostic);
        let ty = if compares(op) { Type::Bool } else { Type::Unknown };
        make(ExprKind::Number(0), ty, span)
    }

    /// `k in m`
    fn is_in(&mut self, left: &Tree, right: &Tree, span: Span) -> Expr {
        if let Some(class) = tree::name_expr(self.file, right).and_then(|name| self.object_class(&name.text)) {
            let keys = self.object_keys(class);
            let key = self.key_values(&tree::untuple(left), &keys, span);
            return make(ExprKind::HasObject { class, key }, Type::Bool, span);
        }
        let is_map = |kind: &MemberKind| matches!(kind, MemberKind::Map { .. });
        let Some(map) = self.state_of(right, "a map or the name of objects", is_map) else { return unknown(span) };
        let (keys, _) = self.map_types(&map);
        let key = self.key_values(&tree::untuple(left), &keys, span);
        make(ExprKind::InMap { map, key }, Type::Bool, span)
    }

    /// One value for each part of a key.
    pub(super) fn key_values(&mut self, given: &[Tree], wanted: &[Type], span: Span) -> Vec<Expr> {
        if given.len() != wanted.len() {
            let text = format!("this key has {} parts, not {}", wanted.len(), given.len());
            self.error(codes::WRONG_COUNT, text, span, "here", "write one value for each part: `m[(a, b)]`");
            return wanted.iter().map(|_| unknown(span)).collect();
        }
        given.iter().zip(wanted).map(|(value, ty)| self.value(value, *ty)).collect()
    }
}

fn compares(op: Binary) -> bool {
    use Binary::*;
    matches!(op, Eq | Ne | Lt | Le | Gt | Ge)
}

/// The type that a literal has beside an operand of type `ty`.
fn beside(op: Binary, ty: Type, in_front: bool) -> Option<Type> {
    use Binary::*;
    match ty {
        Type::Unknown => None,
        Type::Seq(width) if !compares(op) && !in_front => Some(Type::UInt(width)),
        Type::Duration if matches!(op, Mul | MulWrap | Div | Rem) => Some(Type::UInt(64)),
        Type::UInt(_) | Type::Seq(_) | Type::Duration => Some(ty),
        Type::Record(_) if compares(op) => Some(ty),
        _ => None,
    }
}

/// The type that both operands get, and that of the result.
fn arithmetic(op: Binary, a: Type, b: Type) -> Option<(Type, Type)> {
    use Binary::*;
    let sum = matches!(op, Add | Sub | AddWrap | SubWrap);
    match (a, b) {
        (Type::UInt(_), Type::UInt(_)) if matches!(op, Shl | Shr) => Some((a, a)),
        (Type::UInt(x), Type::UInt(y)) => {
            let ty = Type::UInt(x.max(y));
            Some((ty, ty))
        }
        (Type::Bool, Type::Bool) if matches!(op, BitAnd | BitOr | BitXor) => Some((a, a)),
        (Type::Seq(x), Type::Seq(y)) if x == y => match op {
            Sub | SubWrap => Some((a, Type::UInt(x))),
            Min | Max => Some((a, a)),
            _ => None,
        },
        (Type::Seq(x), Type::UInt(y)) if sum && y <= x => Some((a, a)),
        (Type::UInt(y), Type::Seq(x)) if matches!(op, Add | AddWrap) && y <= x => Some((b, b)),
        (Type::Duration, Type::Duration) => match op {
            Div => Some((a, Type::UInt(64))),
            Add | Sub | AddWrap | SubWrap | Rem | Min | Max => Some((a, a)),
            _ => None,
        },
        (Type::Instant, Type::Instant) => match op {
            Sub | SubWrap => Some((a, Type::Duration)),
            Min | Max => Some((a, a)),
            _ => None,
        },
        (Type::Instant, Type::Duration) if sum => Some((a, a)),
        (Type::Duration, Type::Instant) if matches!(op, Add | AddWrap) => Some((b, b)),
        (Type::Duration, Type::UInt(_)) if matches!(op, Mul | MulWrap | Div | Rem) => Some((a, a)),
        (Type::UInt(_), Type::Duration) if matches!(op, Mul | MulWrap) => Some((b, b)),
        _ => None,
    }
}

/// The operator of the typed program; none for `in`.
pub(super) fn operator(op: BinaryOp) -> Option<Binary> {
    Some(match op {
        BinaryOp::Or => Binary::Or,
        BinaryOp::And => Binary::And,
        BinaryOp::Eq => Binary::Eq,
        BinaryOp::Ne => Binary::Ne,
        BinaryOp::Lt => Binary::Lt,
        BinaryOp::Le => Binary::Le,
        BinaryOp::Gt => Binary::Gt,
        BinaryOp::Ge => Binary::Ge,
        BinaryOp::BitOr => Binary::BitOr,
        BinaryOp::BitXor => Binary::BitXor,
        BinaryOp::BitAnd => Binary::BitAnd,
        BinaryOp::Shl => Binary::Shl,
        BinaryOp::Shr => Binary::Shr,
        BinaryOp::Add => Binary::Add,
        BinaryOp::Sub => Binary::Sub,
        BinaryOp::AddWrap => Binary::AddWrap,
        BinaryOp::SubWrap => Binary::SubWrap,
        BinaryOp::Mul => Binary::Mul,
        BinaryOp::Div => Binary::Div,
        BinaryOp::Rem => Binary::Rem,
        BinaryOp::MulWrap => Binary::MulWrap,
        BinaryOp::In => return None,
    })
}

/// How an operator is written.
fn sign(op: Binary) -> &'static str {
    use Binary::*;
    match op {
        Add => "+",
        Sub => "-",
        Mul => "*",
        AddWrap => "+%",
        SubWrap => "-%",
        MulWrap => "*%",
        Div => "/",
        Rem => "%",
        BitAnd => "&",
        BitOr => "|",
        BitXor => "^",
        Shl => "<<",
        Shr => ">>",
        And => "and",
        Or => "or",
        Eq => "==",
        Ne => "!=",
        Lt => "<",
        Le => "<=",
        Gt => ">",
        Ge => ">=",
        Min => "min",
        Max => "max",
    }
}

/// A comparison that stands without parentheses.
fn is_comparison(tree: &Tree) -> bool {
    matches!(tree, Tree::Binary(inner) if inner.op().and_then(operator).is_some_and(compares))
}
