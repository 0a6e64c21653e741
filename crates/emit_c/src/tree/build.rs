//! Short functions that build trees.

use super::*;

impl Infix {
    /// The operator in C.
    pub fn sign(self) -> &'static str {
        match self {
            Infix::Mul => "*",
            Infix::Div => "/",
            Infix::Rem => "%",
            Infix::Add => "+",
            Infix::Sub => "-",
            Infix::Shl => "<<",
            Infix::Shr => ">>",
            Infix::Lt => "<",
            Infix::Le => "<=",
            Infix::Gt => ">",
            Infix::Ge => ">=",
            Infix::Eq => "==",
            Infix::Ne => "!=",
            Infix::BitAnd => "&",
            Infix::BitXor => "^",
            Infix::BitOr => "|",
            Infix::And => "&&",
            Infix::Or => "||",
        }
    }

    /// The opposite comparison; `None` if it is not a comparison.
    pub fn inverse(self) -> Option<Infix> {
        match self {
            Infix::Lt => Some(Infix::Ge),
            Infix::Le => Some(Infix::Gt),
            Infix::Gt => Some(Infix::Le),
            Infix::Ge => Some(Infix::Lt),
            Infix::Eq => Some(Infix::Ne),
            Infix::Ne => Some(Infix::Eq),
            Infix::Mul
            | Infix::Div
            | Infix::Rem
            | Infix::Add
            | Infix::Sub
            | Infix::Shl
            | Infix::Shr
            | Infix::BitAnd
            | Infix::BitXor
            | Infix::BitOr
            | Infix::And
            | Infix::Or => None,
        }
    }
}

pub(crate) fn word(word: impl Into<Word>) -> Expr {
    Expr::Name(word.into())
}

pub(crate) fn number(value: impl Into<u64>) -> Expr {
    Expr::Number(value.into())
}

/// The name of the instance in every function, whose first parameter it is.
pub(super) const INSTANCE: &str = "k";

pub(crate) fn instance() -> Expr {
    word(INSTANCE)
}

/// `k->member`
pub(crate) fn of_instance(member: impl Into<Word>) -> Expr {
    instance().arrow(member)
}

/// `&k->core`
pub(crate) fn core() -> Expr {
    of_instance("core").address()
}

/// `&k->core.pool`
pub(crate) fn pool() -> Expr {
    of_instance("core").member("pool").address()
}

/// `&k->core.wheel`
pub(crate) fn wheel() -> Expr {
    of_instance("core").member("wheel").address()
}

fn call(effect: Effect, function: impl Into<Word>, args: impl Into<Vec<Expr>>) -> Expr {
    Expr::Call { function: function.into(), effect, args: args.into() }
}

/// A call whose value depends on its arguments only.
pub(crate) fn computes(function: impl Into<Word>, args: impl Into<Vec<Expr>>) -> Expr {
    call(Effect::Pure, function, args)
}

/// A call that reads memory.
pub(crate) fn reads(function: impl Into<Word>, args: impl Into<Vec<Expr>>) -> Expr {
    call(Effect::Reads, function, args)
}

/// A call with an effect.
pub(crate) fn acts(function: impl Into<Word>, args: impl Into<Vec<Expr>>) -> Expr {
    call(Effect::Acts, function, args)
}

/// `condition ? then : otherwise`
pub(crate) fn conditional(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    Expr::Conditional(Box::new([condition, then, otherwise]))
}

impl Expr {
    /// `self sign other`
    pub fn infix(self, sign: Infix, other: Expr) -> Expr {
        Expr::Infix(sign, Box::new(self), Box::new(other))
    }

    /// So many octets behind these; the same place for none, of which there may be no octets at all.
    pub fn behind(self, octets: Expr) -> Expr {
        match octets {
            Expr::Number(0) => self,
            octets => self.infix(Infix::Add, octets),
        }
    }

    /// `first && second`; just `second` without a first condition.
    pub fn also(first: Option<Expr>, second: Expr) -> Expr {
        match first {
            Some(first) => first.infix(Infix::And, second),
            None => second,
        }
    }

    /// `first ? value : otherwise`; just the value without a condition.
    pub fn only_if(condition: Option<Expr>, value: Expr, otherwise: Expr) -> Expr {
        match condition {
            Some(condition) => conditional(condition, value, otherwise),
            None => value,
        }
    }

    /// `self->member`; `a.member` if the expression is `&a`.
    pub fn arrow(self, member: impl Into<Word>) -> Expr {
        match self {
            Expr::Unary(Unary::AddressOf, inner) => Expr::Member(inner, member.into()),
            other => Expr::Arrow(Box::new(other), member.into()),
        }
    }

    /// `self.member`
    pub fn member(self, member: impl Into<Word>) -> Expr {
        Expr::Member(Box::new(self), member.into())
    }

    /// `self[place]`
    pub fn element(self, place: Expr) -> Expr {
        Expr::Index(Box::new(self), Box::new(place))
    }

    /// `&self`
    pub fn address(self) -> Expr {
        Expr::Unary(Unary::AddressOf, Box::new(self))
    }

    /// `*self`
    pub fn deref(self) -> Expr {
        Expr::Unary(Unary::Deref, Box::new(self))
    }

    /// `(ty)self`
    pub fn cast(self, ty: impl Into<Word>) -> Expr {
        Expr::Cast(ty.into(), Box::new(self))
    }

    /// The negated condition.
    pub fn negated(self) -> Expr {
        match self {
            Expr::Bool(value) => Expr::Bool(!value),
            Expr::Unary(Unary::Not, inner) => *inner,
            Expr::Expect(often, inner) => Expr::Expect(!often, Box::new(inner.negated())),
            Expr::Infix(sign, a, b) => match sign.inverse() {
                Some(inverse) => Expr::Infix(inverse, a, b),
                None => Expr::Infix(sign, a, b).denied(),
            },
            other => other.denied(),
        }
    }

    fn denied(self) -> Expr {
        Expr::Unary(Unary::Not, Box::new(self))
    }

    /// Whether it is 0 or 1 because it is a condition.
    pub fn is_truth(&self) -> bool {
        match self {
            Expr::Bool(_) | Expr::Unary(Unary::Not, _) | Expr::Expect(..) => true,
            Expr::Infix(sign, ..) => sign.inverse().is_some() || matches!(sign, Infix::And | Infix::Or),
            _ => false,
        }
    }

    /// Whether C may treat it as a signed `int`, or as narrower than this many bits, although the variable that it
    /// replaces has another type.
    pub fn may_be_narrower(&self, width: u8) -> bool {
        match self {
            Expr::Number(value) => *value <= i32::MAX as u64 || (width > 32 && *value <= u64::from(u32::MAX)),
            Expr::Bool(_) | Expr::Unary(Unary::Not, _) | Expr::Expect(..) => true,
            Expr::Conditional(parts) => parts[1].may_be_narrower(width) && parts[2].may_be_narrower(width),
            // The type of a shift is that of its left operand only.
            Expr::Infix(Infix::Shl | Infix::Shr, a, _) => a.may_be_narrower(width),
            Expr::Infix(sign, a, b) => {
                sign.inverse().is_some()
                    || matches!(sign, Infix::And | Infix::Or)
                    || (a.may_be_narrower(width) && b.may_be_narrower(width))
            }
            Expr::Local(_)
            | Expr::Name(_)
            | Expr::Unary(Unary::AddressOf | Unary::Deref, _)
            | Expr::Cast(..)
            | Expr::Call { .. }
            | Expr::Member(..)
            | Expr::Arrow(..)
            | Expr::Index(..)
            | Expr::Array(..)
            | Expr::SizeOf(_) => false,
        }
    }
}

impl From<Local> for Expr {
    fn from(local: Local) -> Expr {
        Expr::Local(local)
    }
}

/// `place = value;`
pub(crate) fn set(place: impl Into<Expr>, value: Expr) -> Stmt {
    Stmt::Set(place.into(), None, value)
}
