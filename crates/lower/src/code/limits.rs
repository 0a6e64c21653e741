//! The largest value of a loop's limit in a stack, from published values and sizes of messages of the layers below.
//!
//! Keeps: no value of the expression is larger than the result, whatever parameters are set at the start; an expression
//! that may wrap around has no bound. The peak of buffers counts loops this often (docs/semantics.md, M).

use mokume_base::Span;
use mokume_semantics::program as s;

use super::writer::Writer;
use crate::constants::{fold_one, Env};
use crate::plan::Kind;
use crate::stack::{Lowering, Publisher};

/// The largest limit; a larger one is a typing mistake.
const MOST_ROUNDS: u64 = 1 << 20;

/// The smallest and the largest value.
type Range = (u64, u64);

/// What is unbounded, and where it is read.
struct Unbounded {
    span: Span,
    why: String,
    help: &'static str,
}

const SAY_MTU: &str = "say in the stack what its devices carry: `mtu 576 .. 1514`";
const NO_WRAP: &str = "keep it within its type: `max(a, b)`, `min(a, b)`";

impl<'p> Lowering<'p> {
    /// Whether a limit depends on the stack.
    pub(crate) fn asks_the_stack(&self, limit: &s::Expr) -> bool {
        let asks = |part: &s::Expr| matches!(part.kind, s::ExprKind::Below { .. } | s::ExprKind::MessageSize(_));
        mokume_semantics::visit::any_expr(limit, asks)
    }

    fn range(&self, inst: usize, env: &Env<'p>, expr: &s::Expr) -> Result<Range, Unbounded> {
        use s::ExprKind as E;
        if let Some(value) = fold_one(self.program, env, expr) {
            return Ok((value, value));
        }
        match &expr.kind {
            E::Below { name, index: None, .. } if name.text.ends_with(".mtu") => self.device_range(expr.span),
            E::Below { name, .. } => {
                let ranges =
                    self.inst(inst).lowers().iter().map(|lower| self.published_range(*lower, &name.text, expr.span));
                let hull = ranges.reduce(|a, b| Ok(hull(a?, b?)));
                hull.unwrap_or_else(|| Err(unbounded(expr.span, format!("nobody publishes `{}`", name.text), "")))
            }
            E::MessageSize(_) => self.message_range(inst, expr.span),
            E::Cast { kind, a } => self.cast_range(self.range(inst, env, a)?, *kind, expr),
            E::If { then, otherwise, .. } => Ok(hull(self.range(inst, env, then)?, self.range(inst, env, otherwise)?)),
            E::Binary { op, a, b } => {
                let (a, b) = (self.range(inst, env, a)?, self.range(inst, env, b)?);
                combined(*op, a, b, largest(expr.ty)).map_err(|why| unbounded(expr.span, why.into(), NO_WRAP))
            }
            _ => Err(unbounded(
                expr.span,
                "it is known when the stack runs".into(),
                "write a number or a published value",
            )),
        }
    }

    /// The range of a value that an instance publishes.
    fn published_range(&self, inst: usize, name: &str, span: Span) -> Result<Range, Unbounded> {
        match self.publisher(inst, name) {
            Publisher::Device(_) if name == "mtu" => self.device_range(span),
            Publisher::Own(own) => {
                let env = self.inst(inst).env.clone();
                self.range(inst, &env, &own.value)
            }
            Publisher::Below(below) => self.published_range(below, name, span),
            Publisher::Least(lowers) => {
                let ranges = lowers.iter().map(|lower| self.published_range(*lower, name, span));
                let least = ranges.reduce(|a, b| {
                    let (a, b) = (a?, b?);
                    Ok((a.0.min(b.0), a.1.min(b.1)))
                });
                least.unwrap_or_else(|| self.device_range(span))
            }
            _ => Err(unbounded(span, format!("`{name}` changes while the stack runs"), "write a number")),
        }
    }

    fn device_range(&self, span: Span) -> Result<Range, Unbounded> {
        let said = self.stack.mtu.map(|(least, most)| (u64::from(least), u64::from(most)));
        said.ok_or_else(|| unbounded(span, "a device may carry any number of octets".into(), SAY_MTU))
    }

    /// The range of a message's size: one from below is at most what the layer below carries, one from above at most
    /// what this layer allows.
    fn message_range(&self, inst: usize, span: Span) -> Result<Range, Unbounded> {
        let of = |at: usize| match self.inst(at).kind {
            Kind::Application => Err(unbounded(span, "no layer".into(), "")),
            _ => self.published_range(at, "mtu", span),
        };
        let lowers = self.inst(inst).lowers().iter().map(|lower| of(*lower));
        let below = lowers.reduce(|a, b| Ok(hull(a?, b?))).unwrap_or_else(|| self.device_range(span))?;
        Ok((0, of(inst)?.1.max(below.1)))
    }

    fn cast_range(&self, of: Range, kind: s::CastKind, expr: &s::Expr) -> Result<Range, Unbounded> {
        let most = largest(expr.ty);
        Ok(match kind {
            s::CastKind::Widen => of,
            _ if of.1 <= most => of,
            // A value that does not fit is reported, and cut.
            _ => (0, most),
        })
    }
}

impl<'p> Writer<'_, 'p> {
    pub(crate) fn limit_in_stack(&mut self, limit: &s::Expr) -> u32 {
        match self.range(self.inst, &self.env, limit) {
            Ok((_, most)) if (1..=MOST_ROUNDS).contains(&most) => most as u32,
            Ok((_, most)) => {
                let text = format!("this limit may be {most} in this stack: from 1 to {MOST_ROUNDS} rounds");
                self.error("M0673", text, Some(limit.span), "limit it by a number: `min(…, 64)`");
                1
            }
            Err(unknown) => {
                let text = format!("how large this limit may be is not known: {}", unknown.why);
                self.error("M0673", text, Some(unknown.span), unknown.help);
                1
            }
        }
    }
}

fn unbounded(span: Span, why: String, help: &'static str) -> Unbounded {
    Unbounded { span, why, help }
}

fn hull(a: Range, b: Range) -> Range {
    (a.0.min(b.0), a.1.max(b.1))
}

fn largest(ty: s::Type) -> u64 {
    match ty {
        s::Type::UInt(bits) | s::Type::Seq(bits) => u64::MAX >> (64 - u32::from(bits.clamp(1, 64))),
        s::Type::Bool => 1,
        _ => u64::MAX,
    }
}

fn combined(op: s::Binary, a: Range, b: Range, most: u64) -> Result<Range, &'static str> {
    use s::Binary as B;
    let fits = |value: Option<u64>| value.filter(|value| *value <= most).ok_or("it may be too large for its type");
    match op {
        B::Add | B::AddWrap => Ok((a.0.saturating_add(b.0), fits(a.1.checked_add(b.1))?)),
        B::Mul | B::MulWrap => Ok((a.0.saturating_mul(b.0), fits(a.1.checked_mul(b.1))?)),
        B::Sub | B::SubWrap if a.0 >= b.1 => Ok((a.0 - b.1, a.1 - b.0)),
        B::Sub | B::SubWrap => Err("it may be less than 0"),
        B::Div if b.0 > 0 => Ok((a.0 / b.1, a.1 / b.0)),
        B::Div => Err("it may be divided by 0"),
        B::Rem if b.0 > 0 => Ok((0, a.1.min(b.1 - 1))),
        B::Min => Ok((a.0.min(b.0), a.1.min(b.1))),
        B::Max => Ok((a.0.max(b.0), a.1.max(b.1))),
        _ => Err("it is more than a sum, difference, product or quotient"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No pair of values within two ranges gives a result outside the computed range; wrap-around is refused.
    #[test]
    fn every_value_is_within() {
        use s::Binary as B;
        let op = |op: B, a: u64, b: u64| match op {
            B::Add => a + b,
            B::Sub => a - b,
            B::Mul => a * b,
            B::Div => a / b,
            B::Rem => a % b,
            B::Min => a.min(b),
            _ => a.max(b),
        };
        let ranges: Vec<Range> = (0..5).flat_map(|a| (a..6).map(move |b| (a, b))).collect();
        let (mut said, mut tight) = (0, 0);
        for which in [B::Add, B::Sub, B::Mul, B::Div, B::Rem, B::Min, B::Max] {
            for (a, b) in ranges.iter().flat_map(|a| ranges.iter().map(move |b| (*a, *b))) {
                let Ok((least, most)) = combined(which, a, b, 12) else { continue };
                let all = (a.0..=a.1).flat_map(|x| (b.0..=b.1).map(move |y| op(which, x, y)));
                let all: Vec<u64> = all.collect();
                assert!(all.iter().all(|value| (least..=most).contains(value)), "{which:?} {a:?} {b:?}");
                said += 1;
                tight += u32::from(all.contains(&most) && all.contains(&least));
            }
        }
        assert!(tight * 10 > said * 9, "{tight} of {said}");
        assert!(combined(B::Sub, (3, 5), (1, 4), 12).is_err());
        assert!(combined(B::Div, (3, 5), (0, 4), 12).is_err());
        assert!(combined(B::Mul, (3, 5), (1, 4), 12).is_err());
    }
}
