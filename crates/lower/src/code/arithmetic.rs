//! Arithmetic, comparisons and choices. What may report or branch is evaluated only if its value is needed.

use mokume_reaction as r;
use mokume_semantics::program as s;

use super::facts::both_known;
use super::writer::Writer;
use crate::fault::Fault;
use crate::program::is_total;

impl<'p> Writer<'_, 'p> {
    /// An operator on two expressions: evaluates the left side first, and the right side of `and` and `or` only if it
    /// matters (docs/language.md, section 7).
    pub fn arithmetic(&mut self, op: s::Binary, a: &'p s::Expr, b: &'p s::Expr, ty: r::Type) -> r::Value {
        if matches!(op, s::Binary::And | s::Binary::Or) {
            return self.logical(op, a, b);
        }
        let left = self.expr(a);
        let right = self.expr(b);
        if let Some(compare) = compare_of(op) {
            return self.compare_all(compare, left, right);
        }
        let (Some(left), Some(right)) = (left.first().copied(), right.first().copied()) else {
            return self.constant(ty, 0);
        };
        let of = self.b.type_of(left);
        let right = match op {
            s::Binary::Shl | s::Binary::Shr => self.shift_count(right, of),
            _ => self.cast(right, of),
        };
        let circular = matches!(of, r::Type::Seq(_));
        let op = binary_of(op, circular);
        let value = self.binary(op, left, right);
        self.cast(value, ty)
    }

    /// The count by which a value of type `of` is shifted. A count with more bits than the value is reduced to the
    /// value's largest number, which still shifts out all bits (docs/semantics.md, A6).
    fn shift_count(&mut self, by: r::Value, of: r::Type) -> r::Value {
        let ty = self.b.type_of(by);
        let (had, has) = (ty.width(&self.a), of.width(&self.a));
        if had <= has {
            return self.cast(by, of);
        }
        let most = self.constant(ty, (1u64 << has) - 1);
        let by = self.binary(r::Binary::Min, by, most);
        self.cast(by, of)
    }

    /// Records and flows are equal if all their scalars are.
    fn compare_all(&mut self, op: r::Compare, left: Vec<r::Value>, right: Vec<r::Value>) -> r::Value {
        let mut result = None;
        for (a, b) in left.into_iter().zip(right) {
            let of = self.b.type_of(a);
            let b = self.cast(b, of);
            let one = self.compare(op, a, b);
            let join = if op == r::Compare::Ne { r::Binary::Or } else { r::Binary::And };
            result = self.and(result, join, one);
        }
        result.unwrap_or_else(|| self.truth(op != r::Compare::Ne))
    }

    /// `and` or `or`: evaluates the right side only if the left side does not decide.
    fn logical(&mut self, op: s::Binary, a: &'p s::Expr, b: &'p s::Expr) -> r::Value {
        let left = self.one(a);
        let both = if op == s::Binary::And { r::Binary::And } else { r::Binary::Or };
        if is_total(b) || self.faulty(Fault::NoShortCircuit) {
            let right = self.one(b);
            return self.binary(both, left, right);
        }
        let fork = self.fork(left);
        // The branch on which the right side is evaluated comes first.
        let fork = if op == s::Binary::And { fork } else { fork.turned() };
        let mut known = [self.facts.number(left), None];
        let right = |w: &mut Self, _: &[r::Value]| {
            let right = w.one(b);
            known[1] = w.facts.number(right);
            vec![right]
        };
        let value = self.either(fork, right, |_, _| vec![left])[0];
        self.facts.note(Some(value), both_known(both, known));
        value
    }

    /// `if c then a else b` as a value, scalar by scalar. Both sides are evaluated if neither can report; else, and for
    /// messages, only the chosen one.
    pub fn choose(&mut self, c: &'p s::Expr, then: &'p s::Expr, otherwise: &'p s::Expr) -> Vec<r::Value> {
        let condition = self.one(c);
        let linear = then.ty == s::Type::Message;
        if is_total(then) && is_total(otherwise) && !linear {
            let (a, b) = (self.expr(then), self.expr(otherwise));
            return a.into_iter().zip(b).map(|(a, b)| self.value(r::OpKind::Select { c: condition, a, b })).collect();
        }
        let fork = self.fork(condition);
        self.either(fork, |w, _| w.expr(then), |w, _| w.expr(otherwise))
    }

    /// `as`, `as%` or a widening of one scalar (docs/semantics.md, A7). A value that has the type already stays as it
    /// is.
    pub fn convert(&mut self, kind: s::CastKind, a: &'p s::Expr, ty: r::Type) -> r::Value {
        let value = self.one(a);
        let from = self.b.type_of(value);
        if from == ty {
            return value;
        }
        let (had, has) = (from.width(&self.a), ty.width(&self.a));
        if kind == s::CastKind::Widen && self.faulty(Fault::WideningDropped) && has > had && had > 8 {
            let low = self.cast(value, r::Type::U(8));
            return self.cast(low, ty);
        }
        if kind == s::CastKind::Checked && has < had && !self.faulty(Fault::NarrowingSilent) {
            self.report_beyond(value, had, has);
        }
        self.cast(value, ty)
    }

    /// Reports (docs/semantics.md, A12) if the value has a bit set at or above bit `has`: the isolated bit is added to
    /// itself, which carries exactly then.
    fn report_beyond(&mut self, value: r::Value, had: u8, has: u8) {
        let plain = self.cast(value, r::Type::U(had));
        let largest = self.constant(r::Type::U(had), (1u64 << has) - 1);
        let beyond = self.compare(r::Compare::Gt, plain, largest);
        let bit = self.cast(beyond, r::Type::U(1));
        self.binary(r::Binary::Add, bit, bit);
    }
}

fn compare_of(op: s::Binary) -> Option<r::Compare> {
    Some(match op {
        s::Binary::Eq => r::Compare::Eq,
        s::Binary::Ne => r::Compare::Ne,
        s::Binary::Lt => r::Compare::Lt,
        s::Binary::Le => r::Compare::Le,
        s::Binary::Gt => r::Compare::Gt,
        s::Binary::Ge => r::Compare::Ge,
        _ => return None,
    })
}

/// On sequence numbers `+` and `-` wrap around intentionally.
fn binary_of(op: s::Binary, circular: bool) -> r::Binary {
    match op {
        s::Binary::Add if circular => r::Binary::AddWrap,
        s::Binary::Sub if circular => r::Binary::SubWrap,
        s::Binary::Add => r::Binary::Add,
        s::Binary::Sub => r::Binary::Sub,
        s::Binary::Mul => r::Binary::Mul,
        s::Binary::AddWrap => r::Binary::AddWrap,
        s::Binary::SubWrap => r::Binary::SubWrap,
        s::Binary::MulWrap => r::Binary::MulWrap,
        s::Binary::Div => r::Binary::Div,
        s::Binary::Rem => r::Binary::Rem,
        s::Binary::BitAnd | s::Binary::And => r::Binary::And,
        s::Binary::BitOr | s::Binary::Or => r::Binary::Or,
        s::Binary::BitXor => r::Binary::Xor,
        s::Binary::Shl => r::Binary::Shl,
        s::Binary::Shr => r::Binary::Shr,
        s::Binary::Max => r::Binary::Max,
        _ => r::Binary::Min,
    }
}
