//! Arithmetic, comparisons and conversions as expressions of C.
//!
//! It must keep: an expression is within the values of its type, whatever C promotes its operands to. Operations that
//! may report call functions of the runtime, unless their operands are known to be small enough.

use mokume_reaction::*;

use super::writer::Writer;
use crate::tree::*;
use crate::types::{c_type, is_whole, mask, unsigned};

pub(super) fn binary(w: &Writer, op: Binary, (a, b): (Value, Value), source: Option<SourceId>) -> Expr {
    let number = Number { w, a, b, width: w.width_of(a) };
    let sequence = matches!(w.type_of(a), Type::Seq(_));
    if let Some(known) = w.ranges.known(w.plan.automaton, op, (a, w.type_of(a)), b) {
        return w.plan.constant(w.type_of(a), known);
    }
    match op {
        // Compilers see these, and warn about what they make of them.
        Binary::Sub | Binary::SubWrap if is_all_ones(w, a) => not(w, b),
        Binary::Or if is_all_ones(w, a) || is_all_ones(w, b) => w.plan.constant(w.type_of(a), mask(number.width)),
        Binary::AddWrap => number.wrapped(Infix::Add),
        Binary::SubWrap => number.wrapped(Infix::Sub),
        Binary::Add | Binary::Sub if sequence => {
            number.wrapped(if op == Binary::Add { Infix::Add } else { Infix::Sub })
        }
        Binary::MulWrap => number.wrapped_product(),
        Binary::Mul if sequence => number.wrapped_product(),
        Binary::Add => {
            let fits = number.fits(u64::checked_add) || is_sum(w, a, b);
            number.checked("mk_add", Infix::Add, fits, source)
        }
        Binary::Mul => number.checked("mk_mul", Infix::Mul, number.fits(u64::checked_mul), source),
        Binary::Sub => number.checked("mk_sub", Infix::Sub, w.is_at_most(b, a), source),
        Binary::Div => number.divided("mk_div", Infix::Div, source),
        Binary::Rem => number.divided("mk_rem", Infix::Rem, source),
        Binary::Within => {
            let mask = Expr::Number(mask(number.width));
            number.narrowed(acts("mk_inside", [core(), w.value(a), w.value(b), mask, w.source(source)]))
        }
        Binary::And => number.of_bits(Infix::BitAnd, Infix::And),
        Binary::Or => number.of_bits(Infix::BitOr, Infix::Or),
        Binary::Xor if is_all_ones(w, b) => not(w, a),
        Binary::Xor if is_all_ones(w, a) => not(w, b),
        Binary::Xor => number.of_bits(Infix::BitXor, Infix::Ne),
        Binary::Shl => number.shifted_left(),
        Binary::Shr => number.shifted_right(),
        // Nothing is less than zero.
        Binary::Max if !sequence && w.ranges.constant(b) == Some(0) => w.value(a),
        Binary::Max if !sequence && w.ranges.constant(a) == Some(0) => w.value(b),
        Binary::Min | Binary::Max => {
            let (x, y) = (w.value(a), w.value(b));
            let (first, second) = if op == Binary::Min { (x.clone(), y.clone()) } else { (y.clone(), x.clone()) };
            match sequence {
                true => conditional(number.before(x, y), first, second),
                false => conditional(x.infix(Infix::Lt, y), first, second),
            }
        }
    }
}

/// Whether a value is the number with all bits set: what is `xor`ed with it is its complement, and compilers see that.
fn is_all_ones(w: &Writer, value: Value) -> bool {
    w.type_of(value) != Type::Bool && w.ranges.constant(value) == Some(mask(w.width_of(value)))
}

/// Whether a number and a constant certainly have a sum of their type here.
fn is_sum(w: &Writer, a: Value, b: Value) -> bool {
    let limit = mask(w.width_of(a));
    let fits = |value: Value, more: Value| {
        w.ranges
            .constant(more)
            .and_then(|more| limit.checked_sub(more)?.checked_add(1))
            .is_some_and(|limit| w.is_below(value, limit))
    };
    fits(a, b) || fits(b, a)
}

/// The sum of a bit and itself, computed only for its carry: this reports a conversion that cuts something off.
pub(super) fn report_if(w: &mut Writer, bit: Value, source: Option<SourceId>) {
    let condition = Expr::Expect(false, Box::new(w.value(bit)));
    let report = acts("mk_report_at", [core(), word("MK_OVERFLOW"), w.source(source)]);
    w.only_if(Some(condition), |w| w.act(report));
}

pub(super) fn is_report(w: &Writer, op: Binary, (a, b): (Value, Value), sum: Value) -> bool {
    op == Binary::Add && a == b && w.type_of(a) == Type::U(1) && !w.is_live(sum)
}

/// Two operands of one type.
struct Number<'w, 'p, 'a> {
    w: &'w Writer<'p, 'a>,
    a: Value,
    b: Value,
    width: u8,
}

impl Number<'_, '_, '_> {
    fn operands(&self) -> (Expr, Expr) {
        (self.w.value(self.a), self.w.value(self.b))
    }

    fn ty(&self) -> &'static str {
        self.w.c_type_of(self.a)
    }

    fn plain(&self, sign: Infix) -> Expr {
        let (x, y) = self.operands();
        self.unsigned(x).infix(sign, y)
    }

    /// An operand in the operation's type, if C could compute with a smaller type otherwise.
    fn unsigned(&self, x: Expr) -> Expr {
        match self.width > 16 && x.may_be_narrower(self.width) {
            true => x.cast(self.ty()),
            false => x,
        }
    }

    /// Casts to the operation's type; no cast if the expression is as wide already.
    fn narrowed(&self, expr: Expr) -> Expr {
        match self.ty() {
            "uint64_t" => expr,
            ty => expr.cast(ty),
        }
    }

    /// Modulo 2^n. C promotes narrow types to `int`, which is wide enough for sums.
    fn wrapped(&self, sign: Infix) -> Expr {
        let sum = self.plain(sign);
        match (is_whole(self.width), self.width <= 16) {
            (true, false) => sum,
            (true, true) => sum.cast(self.ty()),
            (false, _) => {
                let (x, y) = self.operands();
                let sum = x.cast("uint64_t").infix(sign, y);
                self.narrowed(sum.infix(Infix::BitAnd, Expr::Number(mask(self.width))))
            }
        }
    }

    fn wrapped_product(&self) -> Expr {
        let (x, y) = self.operands();
        let product = x.cast("uint64_t").infix(Infix::Mul, y);
        match is_whole(self.width) {
            true => self.narrowed(product),
            false => self.narrowed(product.infix(Infix::BitAnd, Expr::Number(mask(self.width)))),
        }
    }

    fn fits(&self, whole: fn(u64, u64) -> Option<u64>) -> bool {
        let ranges = &self.w.ranges;
        whole(ranges.largest(self.a), ranges.largest(self.b)).is_some_and(|most| most <= mask(self.width))
    }

    /// Reports a carry, unless there cannot be one.
    fn checked(&self, function: &str, sign: Infix, fits: bool, source: Option<SourceId>) -> Expr {
        if fits {
            return self.plain(sign);
        }
        let (x, y) = self.operands();
        let source = self.w.source(source);
        match is_whole(self.width) && function != "mk_mul" {
            true => acts(format!("{function}_{}", self.width), [core(), x, y, source]),
            false => self.narrowed(acts(function.to_string(), [core(), x, y, Expr::Number(mask(self.width)), source])),
        }
    }

    fn divided(&self, function: &'static str, sign: Infix, source: Option<SourceId>) -> Expr {
        match self.w.ranges.constant(self.b) {
            Some(by) if by > 0 => self.plain(sign),
            _ => {
                let (x, y) = self.operands();
                self.narrowed(acts(function, [core(), x, y, self.w.source(source)]))
            }
        }
    }

    fn of_bits(&self, sign: Infix, of_truths: Infix) -> Expr {
        let (x, y) = self.operands();
        x.infix(if self.w.type_of(self.a) == Type::Bool { of_truths } else { sign }, y)
    }

    /// A shift by the width or more gives 0.
    fn shifted_left(&self) -> Expr {
        let (x, y) = self.operands();
        let (width, mask) = (u64::from(self.width), Expr::Number(mask(self.width)));
        match self.w.ranges.constant(self.b) {
            Some(by) if by < width => {
                let shifted = self.unsigned(x).infix(Infix::Shl, Expr::Number(by));
                match is_whole(self.width) {
                    true if self.width > 16 => shifted,
                    true => shifted.cast(self.ty()),
                    false => self.narrowed(shifted.infix(Infix::BitAnd, mask)),
                }
            }
            _ => self.narrowed(computes("mk_shl", [x, y, Expr::Number(width), mask])),
        }
    }

    fn shifted_right(&self) -> Expr {
        let (x, y) = self.operands();
        let width = u64::from(self.width);
        match (self.w.ranges.constant(self.a), self.w.ranges.constant(self.b)) {
            // A literal is an `int` in C, whatever its width is here.
            (Some(a), Some(by)) if by < width => Expr::Number(a >> by),
            (None, Some(by)) if by < width => x.infix(Infix::Shr, Expr::Number(by)),
            _ => self.narrowed(computes("mk_shr", [x, y, Expr::Number(width)])),
        }
    }

    /// Circular order.
    fn before(&self, x: Expr, y: Expr) -> Expr {
        computes("mk_seq_before", [x, y, Expr::Number(mask(self.width))])
    }
}

pub(super) fn compare(w: &Writer, op: Compare, a: Value, b: Value) -> Expr {
    let number = Number { w, a, b, width: w.width_of(a) };
    let (x, y) = number.operands();
    if let (Type::Seq(_), Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge) = (w.type_of(a), op) {
        let (x, y) = if matches!(op, Compare::Lt | Compare::Le) { (x, y) } else { (y, x) };
        let before = number.before(x.clone(), y.clone());
        return match op {
            Compare::Lt | Compare::Gt => before,
            _ => x.infix(Infix::Eq, y).infix(Infix::Or, before),
        };
    }
    if x == y {
        // Written as a constant: compilers suspect a mistake when a value is compared with itself.
        return Expr::Bool(matches!(op, Compare::Eq | Compare::Le | Compare::Ge));
    }
    x.infix(sign(op), y)
}

fn sign(op: Compare) -> Infix {
    match op {
        Compare::Eq => Infix::Eq,
        Compare::Ne => Infix::Ne,
        Compare::Lt => Infix::Lt,
        Compare::Le => Infix::Le,
        Compare::Gt => Infix::Gt,
        Compare::Ge => Infix::Ge,
    }
}

pub(super) fn not(w: &Writer, a: Value) -> Expr {
    let (x, width) = (w.value(a), w.width_of(a));
    match w.type_of(a) {
        Type::Bool => x.negated(),
        _ => {
            // Compilers warn about comparisons of what they see as `~x`.
            computes("mk_not", [x, Expr::Number(mask(width))]).cast(w.c_type_of(a))
        }
    }
}

pub(super) fn cast(w: &Writer, a: Value, to: Type) -> Expr {
    let automaton = w.plan.automaton;
    let (width, ty, x) = (to.width(automaton), c_type(automaton, to), w.value(a));
    if let (Some(known), false) = (w.ranges.constant(a), to == Type::Bool) {
        return w.plan.constant(to, known & mask(width));
    }
    let fits = w.ranges.largest(a) <= mask(width);
    match (to, fits || is_whole(width)) {
        (Type::Bool, _) if w.width_of(a) > 1 => {
            x.infix(Infix::BitAnd, Expr::Number(1)).infix(Infix::Ne, Expr::Number(0))
        }
        (Type::Bool, _) => x.infix(Infix::Ne, Expr::Number(0)),
        (_, true) if w.c_type_of(a) == ty => x,
        (_, true) => x.cast(ty),
        (_, false) => x.infix(Infix::BitAnd, Expr::Number(mask(width))).cast(ty),
    }
}

/// A word of 64 bits, cut to a type.
pub(super) fn of_word(w: &Writer, word: Expr, ty: Type) -> Expr {
    let width = ty.width(w.plan.automaton);
    match (ty, is_whole(width)) {
        (Type::Bool, _) => word.infix(Infix::BitAnd, Expr::Number(1)).infix(Infix::Ne, Expr::Number(0)),
        (_, true) if width == 64 => word,
        (_, true) => word.cast(unsigned(width)),
        (_, false) => word.infix(Infix::BitAnd, Expr::Number(mask(width))).cast(unsigned(width)),
    }
}
