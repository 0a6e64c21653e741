//! Internet checksums on paths, in the machine's byte order (RFC 1071, section 2).
//!
//! Swapping the octets of every 16-bit number of a sum multiplies it by 256, modulo 65535. So numbers of a message are
//! added as they are in memory, two at once if they are adjacent; others are multiplied by 256; and 64 bits hold all
//! carries. A sum that is a multiple of 65535, but not 0, folds to 0xffff; one multiplication tests that.
//!
//! What has no octets of a message in it stays in its order, but 32-bit numbers that are added by halves are added whole.
//!
//! It must keep: the replacement of `fold16` gives the same result. So it is used only if the sum did not wrap around.

use mokume_reaction::*;

use super::paths::{all_of_part, has, part};
use super::writer::Writer;
use crate::fault::Fault;
use crate::tree::*;
use crate::types::mask;

/// A sum, by its parts.
#[derive(Default)]
struct Parts {
    /// 16-bit numbers of messages, with their places.
    numbers: Vec<(Value, u64)>,
    /// Sums of octets: message, place, size.
    octets: Vec<(Value, Value, Value)>,
    /// All other numbers.
    others: Vec<Value>,
}

/// Sums of 32 bits up to this value are known not to have wrapped around.
const FITS: u64 = u32::MAX as u64;

/// The same of sums of a value's type.
fn fits(w: &Writer, value: Value) -> u64 {
    if w.plan.planted == Some(Fault::NothingWraps) {
        return FITS;
    }
    FITS.min(mask(w.width_of(value)))
}

/// `fold16` of a value; `None` if it must be computed as it is written.
pub(super) fn fold(w: &Writer, sum: Value) -> Option<Expr> {
    if !w.is_path() {
        return None;
    }
    let parts = parts(w, sum);
    match parts.numbers.is_empty() {
        true => as_written(w, parts),
        false => Some(computes("mk_fold_raw", [raw(w, sum)?])),
    }
}

/// What adds nothing of a message but octets stays in its order. Modulo 65535 nothing changes where numbers that are added by halves are added whole
/// (one addition instead of four operations), and where octets are added up in the machine's order. `None` if there is neither.
/// Numbers of a message are not among the parts: [`raw`] is better at these.
fn as_written(w: &Writer, Parts { octets, others, .. }: Parts) -> Option<Expr> {
    let (whole, rest) = wholes(w, others.clone());
    let (fold, width, numbers) = match whole.len() < 2 {
        true if octets.is_empty() => return None,
        true => ("mk_fold16", "uint32_t", others.into_iter().rev().collect()),
        false => ("mk_fold_wide", "uint64_t", [whole, rest].concat()),
    };
    let numbers = numbers.into_iter().map(|value| w.value(value).cast(width));
    // First the call: nothing else need be kept beside it.
    let octets = octets.into_iter().map(|(message, at, size)| octets_sum(w, "mk_sum16_modulo", message, at, size));
    let sum = octets.chain(numbers).reduce(|sum, term| sum.infix(Infix::Add, term))?;
    Some(computes(fold, [sum]))
}

/// The sum of a message's octets by this function of the runtime, or by the one for a part that may not be there.
fn octets_sum(w: &Writer, function: &str, message: Value, place: Value, size: Value) -> Expr {
    let (octets, all) = part(w, message);
    let (first, part) = (w.value(place), w.value(size));
    match all_of_part(w, message, place, size) {
        true => reads(function.to_string(), [octets.behind(first), part]),
        false => reads(format!("{function}_part"), [octets, all, first, part]),
    }
}

/// Of numbers that are added, those of 32 bits that are added by halves; then the others.
fn wholes(w: &Writer, mut rest: Vec<Value>) -> (Vec<Value>, Vec<Value>) {
    let (mut whole, mut at) = (Vec::new(), 0);
    while at < rest.len() {
        let lower = low_half(w, rest[at]);
        let upper = lower.and_then(|of| rest.iter().position(|value| high_half(w, *value) == Some(of)));
        match (lower, upper) {
            (Some(of), Some(upper)) => {
                whole.push(of);
                rest.remove(at.max(upper));
                rest.remove(at.min(upper));
                at = 0;
            }
            _ => at += 1,
        }
    }
    (whole, rest)
}

/// The number of 32 bits whose lower half it is.
fn low_half(w: &Writer, value: Value) -> Option<Value> {
    let OpKind::Binary { op: Binary::And, a, b } = w.made(value)?.kind else { return None };
    whole(w, a).filter(|_| w.ranges.constant(b) == Some(0xffff))
}

/// The same of the upper half.
fn high_half(w: &Writer, value: Value) -> Option<Value> {
    let OpKind::Binary { op: Binary::Shr, a, b } = w.made(value)?.kind else { return None };
    whole(w, a).filter(|_| w.ranges.constant(b) == Some(16))
}

fn whole(w: &Writer, value: Value) -> Option<Value> {
    (w.type_of(value) == Type::U(32)).then_some(value)
}

/// A comparison with a folded sum; `None` for other comparisons.
pub(super) fn compare(w: &Writer, op: Compare, a: Value, b: Value) -> Option<Expr> {
    if op != Compare::Eq || !w.is_path() {
        return None;
    }
    let folded = |value: Value| match w.made(value)?.kind {
        OpKind::Fold16 { a } => Some(a),
        _ => None,
    };
    let complement = |value: Value| match w.made(value)?.kind {
        OpKind::Not { a } => folded(a),
        _ => None,
    };
    // If it is needed for something else, too, it is there already.
    for (x, y) in [(a, b), (b, a)].into_iter().filter(|(x, _)| w.is_used_once(*x)) {
        if let (Some(sum), Some(0xffff)) = (folded(x), w.ranges.constant(y)) {
            return Some(computes("mk_folds_to_ones", [raw(w, sum)?]));
        }
        let y = planted(w, y);
        if let Some(sum) = complement(x) {
            let Parts { numbers, octets, others } = parts(w, y);
            let check = match numbers[..] {
                [(message, place)] if octets.is_empty() && others.is_empty() => number_at(w, message, place, 16),
                _ => computes("mk_raw_16", [w.value(y)]),
            };
            return Some(computes("mk_completes", [raw(w, sum)?, check]));
        }
    }
    None
}

/// The check itself; by a planted fault, the first number of one that is a sum.
fn planted(w: &Writer, check: Value) -> Value {
    if w.plan.planted != Some(Fault::CheckIsANumber) {
        return check;
    }
    let sum = w.made(check).map(|op| &op.kind);
    if let Some(OpKind::Binary { op: Binary::AddWrap, a, .. }) = sum {
        *a
    } else {
        check
    }
}

/// The sum in the machine's order.
fn raw(w: &Writer, sum: Value) -> Option<Expr> {
    if !w.is_path() {
        return None;
    }
    let Parts { mut numbers, octets, others } = parts(w, sum);
    if numbers.is_empty() && octets.is_empty() {
        return None;
    }
    numbers.sort_unstable();
    let mut terms = Vec::new();
    let mut at = 0;
    while let Some((message, place)) = numbers.get(at).copied() {
        let is_pair = numbers.get(at + 1) == Some(&(message, place + 2));
        terms.push(number_at(w, message, place, if is_pair { 32 } else { 16 }));
        at += 1 + usize::from(is_pair);
    }
    terms.extend(octets.into_iter().map(|(message, at, size)| octets_sum(w, "mk_sum_raw", message, at, size)));
    let (mut known, mut is_known) = (0u64, false);
    for other in others {
        match w.ranges.constant(other) {
            Some(value) => (known, is_known) = (known + value, true),
            None => terms.push(computes("mk_raw", [w.value(other)])),
        }
    }
    if is_known {
        terms.push(computes("mk_raw", [number(known)]));
    }
    terms.into_iter().reduce(|sum, term| sum.infix(Infix::Add, term))
}

fn number_at(w: &Writer, message: Value, place: u64, width: u64) -> Expr {
    let (octets, _) = part(w, message);
    let at = octets.infix(Infix::Add, number(place));
    reads(format!("mk_read_{width}"), [at]).cast("uint64_t")
}

/// An upper bound of a part, by the conditions that were tested before, too.
fn largest(w: &Writer, value: Value) -> u64 {
    let made = w.made(value).map(|op| &op.kind);
    let known = if let Some(OpKind::Binary { op: Binary::AddWrap, a, b }) = made {
        largest(w, *a).saturating_add(largest(w, *b))
    } else if let Some(OpKind::Cast { a, .. }) = made {
        largest(w, *a)
    } else if matches!(made, Some(OpKind::SumPart { size, .. }) if w.is_below(*size, 1 << 16)) {
        (1 << 15) * 0xffff
    } else {
        FITS
    };
    let known = known.min(w.ranges.largest(value));
    if known == FITS && w.is_below(value, 1 << 16) {
        0xffff
    } else {
        known
    }
}

/// The parts of a sum that did not wrap around anywhere.
fn parts(w: &Writer, sum: Value) -> Parts {
    let mut parts = Parts::default();
    let mut open = vec![(sum, true)];
    while let Some((value, is_first)) = open.pop() {
        let is_own = is_first || w.is_used_once(value);
        match w.made(value).map(|op| &op.kind) {
            Some(OpKind::Binary { op: Binary::AddWrap, a, b })
                if is_own && largest(w, *a).saturating_add(largest(w, *b)) <= fits(w, value) =>
            {
                open.extend([(*a, false), (*b, false)]);
            }
            Some(OpKind::SumPart { message, at, size }) if is_own => parts.octets.push((*message, *at, *size)),
            Some(OpKind::Load { field: OctetField { width: 16, endian: Endian::Big }, message, at }) => {
                match w.ranges.constant(*at).filter(|at| has(w, *message, at + 2)) {
                    Some(at) => parts.numbers.push((*message, at)),
                    None => parts.others.push(value),
                }
            }
            // A widening, or the same width.
            Some(OpKind::Cast { a, .. }) if matches!((w.type_of(*a), w.type_of(value)), (Type::U(narrow), Type::U(wide)) if narrow <= wide) =>
            {
                open.push((*a, false));
            }
            _ => parts.others.push(value),
        }
    }
    parts
}
