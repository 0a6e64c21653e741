//! Whether a wire's fields can be written and read back at all: sums fit their width, numbers fit their fields, and
//! some packet passes every constraint.
//!
//! Keeps: each wire is checked by itself; what a bundle's headers need of it is checked in [`super::wires`].

use std::collections::BTreeMap;

use mokume_base::{Diagnostic, Span};

use crate::codes;
use crate::program::*;
use crate::types;

/// Checks each wire by itself.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for wire in &program.wires {
        let fields = WireItem::fields(&wire.items);
        for field in &fields {
            value(field, out);
            constraints(field, &fields, out);
        }
        let trims: Vec<&&WireField> = fields.iter().filter(|field| field.trims.is_some()).collect();
        if let [first, second, ..] = trims[..] {
            let found = Diagnostic::error(codes::WIRE_TRIM, "two fields say where the packet ends")
                .at(second.name.span, "the second")
                .label(first.name.span, "the first")
                .help("let one field in front of the choice say it");
            out.push(found);
        }
        let known = fields.iter().map(|field| (field.index, possible(field, &fields))).collect();
        conditions(&wire.items, &known, &fields, out);
    }
}

fn value(field: &WireField, out: &mut Vec<Diagnostic>) {
    let most = types::mask(field.width);
    let name = &field.name.text;
    match &field.value {
        WireValue::Header { times: 0, .. } => {
            let text = format!("`{name}` is the same for every value: it cannot be read back");
            let found = Diagnostic::error(codes::NOT_INVERTIBLE, text).at(field.name.span, "times 0");
            out.push(found.help("write what it is multiplied with, 1 or more"));
        }
        WireValue::Header { plus, .. } if *plus > most => {
            let text = format!("no value fits `{name}: u{}`: it is {plus} at least", field.width);
            let found = Diagnostic::error(codes::NOT_INVERTIBLE, text).at(field.name.span, "too narrow");
            out.push(found.note("what is written must be what is read").help("widen the field, or add less"));
        }
        WireValue::Computed(computed) => computed_value(field, computed, out),
        _ => {}
    }
}

fn computed_value(field: &WireField, computed: &WireExpr, out: &mut Vec<Diagnostic>) {
    let name = &field.name.text;
    let sums = matches!(computed, WireExpr::HeaderChecksum | WireExpr::PacketChecksum);
    if sums && field.width != 16 {
        let text = format!("a checksum has 16 bits, and `{name}` has {}", field.width);
        let found = Diagnostic::error(codes::CHECKSUM_WIDTH, text).at(field.name.span, "of another width");
        out.push(found.note("RFC 1071: the sum is of 16-bit words").help(format!("write `{name}: u16`")));
    }
    if divides_by_zero(computed) {
        let found = Diagnostic::error(codes::DIVIDES_BY_ZERO, "this divides by zero").at(field.name.span, "always 0");
        out.push(found.help("divide by the unit that the field counts in: `size(header) / 4`"));
    }
}

fn divides_by_zero(expr: &WireExpr) -> bool {
    let WireExpr::Binary { op, a, b } = expr else { return false };
    let zero = matches!(op, Binary::Div | Binary::Rem) && matches!(**b, WireExpr::Number(0));
    zero || divides_by_zero(a) || divides_by_zero(b)
}

/// The range of a field's values: the lowest and the highest number.
pub(super) type Range = (u128, u128);

/// The possible values of a field in an accepted packet: its constant, or what fits its width and its `where`.
fn possible(field: &WireField, fields: &[&WireField]) -> Range {
    if let WireValue::Constant(number) = field.value {
        return (u128::from(number), u128::from(number));
    }
    let all = (0, u128::from(types::mask(field.width)));
    let constraints = fields.iter().flat_map(|other| &other.constraints);
    let left = constraints.filter_map(|(a, op, b)| about(field.index, a, *op, b)).fold(all, narrowed);
    // An empty range is reported at its constraint.
    if left.0 > left.1 {
        all
    } else {
        left
    }
}

fn narrowed((low, high): Range, (op, number): (Binary, u128)) -> Range {
    match op {
        Binary::Lt if number == 0 => (1, 0),
        Binary::Lt => (low, high.min(number - 1)),
        Binary::Le => (low, high.min(number)),
        Binary::Gt => (low.max(number + 1), high),
        Binary::Ge => (low.max(number), high),
        Binary::Eq => (low.max(number), high.min(number)),
        Binary::Ne if low == number => (low + 1, high),
        Binary::Ne if high == number && high > low => (low, high - 1),
        _ => (low, high),
    }
}

/// Reports optional parts that are in no packet or in every packet. What is known of fields here comes from the parts
/// and arms around.
fn conditions(items: &[WireItem], known: &BTreeMap<u32, Range>, fields: &[&WireField], out: &mut Vec<Diagnostic>) {
    for item in items {
        match item {
            WireItem::Choice { on, arms, .. } => {
                for arm in arms {
                    let mut within = known.clone();
                    within.insert(*on, (u128::from(arm.tag), u128::from(arm.tag)));
                    conditions(&arm.items, &within, fields, out);
                }
            }
            WireItem::Optional { when, items, span } => {
                let mut within = known.clone();
                let mut never = None;
                let mut always = !when.is_empty();
                for comparison in when {
                    let Truth { met, broken, of } = truth(comparison, &mut within);
                    always &= met;
                    never = never.or(broken.then_some(of));
                }
                match never {
                    Some(of) => out.push(never_there(of, fields, known, *span)),
                    None if always => out.push(always_there(*span)),
                    None => {}
                }
                if never.is_none() {
                    conditions(items, &within, fields, out);
                }
            }
            WireItem::Field(_) | WireItem::Options(_) | WireItem::Each(_) | WireItem::Reach(..) => {}
        }
    }
}

/// What is known of a comparison.
struct Truth {
    /// Whether it always holds.
    met: bool,
    /// Whether it never holds.
    broken: bool,
    /// The field that it is about.
    of: Option<u32>,
}

/// Evaluates a comparison; afterwards the range of its field is what remains if it holds.
fn truth((a, op, b): &(WireExpr, Binary, WireExpr), known: &mut BTreeMap<u32, Range>) -> Truth {
    if let (WireExpr::Number(a), WireExpr::Number(b)) = (a, b) {
        let number = u128::from(*a);
        let (low, high) = narrowed((number, number), (*op, u128::from(*b)));
        return Truth { met: low <= high, broken: low > high, of: None };
    }
    for (index, range) in known.iter_mut() {
        let Some(comparison) = about(*index, a, *op, b) else { continue };
        let (low, high) = narrowed(*range, comparison);
        if low > high {
            return Truth { met: false, broken: true, of: Some(*index) };
        }
        let met = (low, high) == *range && comparison.0 != Binary::Ne
            || comparison.0 == Binary::Ne && {
                let (low, high) = *range;
                comparison.1 < low || comparison.1 > high
            };
        *range = (low, high);
        return Truth { met, broken: false, of: Some(*index) };
    }
    Truth { met: false, broken: false, of: None }
}

fn never_there(of: Option<u32>, fields: &[&WireField], known: &BTreeMap<u32, Range>, span: Span) -> Diagnostic {
    let field = of.and_then(|index| fields.iter().find(|field| field.index == index));
    let range = of.and_then(|index| known.get(&index));
    let why = match field.zip(range) {
        Some((field, (low, high))) if low == high => format!("`{}` is {low} here", field.name.text),
        Some((field, (low, high))) => {
            format!("no number from {low} to {high}, which `{}` may be here, meets its condition", field.name.text)
        }
        None => "its condition never holds".to_string(),
    };
    Diagnostic::error(codes::NO_PACKET_PASSES, format!("no packet has this part: {why}"))
        .at(span, "never there")
        .note("what is in it would never be sent, and read as zero")
        .help("look at the numbers behind `when`, and at whether all of them can hold at once")
}

fn always_there(span: Span) -> Diagnostic {
    Diagnostic::warning(codes::NO_PACKET_PASSES, "every packet has this part: its condition always holds")
        .at(span, "always there")
        .help("write what is in it without `optional`, or look at the numbers behind `when`")
}

/// Reports constraints of one field that leave no value for a field that they compare with numbers.
fn constraints(field: &WireField, fields: &[&WireField], out: &mut Vec<Diagnostic>) {
    for target in fields {
        let all = (0, u128::from(types::mask(target.width)));
        let own = field.constraints.iter().filter_map(|(a, op, b)| about(target.index, a, *op, b));
        let (low, high) = own.fold(all, narrowed);
        if low <= high && target.index == field.index {
            out.extend(between_steps(field, (low, high)));
        }
        if low > high && !is_told(field, out) {
            let text = format!(
                "no packet passes: `{}` has {} bits and would have to be elsewhere",
                target.name.text, target.width
            );
            let found =
                Diagnostic::error(codes::NO_PACKET_PASSES, text).at(field.name.span, "its `where` is never true");
            out.push(found.help("look at the numbers, and at which side is the larger"));
        }
    }
}

/// Reports a field that is counted in steps, `Layer.n * 300`, none of which its `where` meets.
fn between_steps(field: &WireField, (low, high): Range) -> Option<Diagnostic> {
    let WireValue::Header { times, plus, .. } = &field.value else { return None };
    let (times, plus) = (u128::from(*times), u128::from(*plus));
    if times < 2 || field.constraints.is_empty() {
        return None;
    }
    let steps = low.saturating_sub(plus).div_ceil(times);
    let next = plus + steps * times;
    let name = &field.name.text;
    let text = format!(
        "no packet passes: `{name}` is {plus} and a multiple of {times}, and none of these is from {low} to {high}"
    );
    (next > high).then(|| {
        Diagnostic::error(codes::NO_PACKET_PASSES, text)
            .at(field.name.span, "its `where` is never true")
            .help("look at the numbers: `where` is about what stands in the packet")
    })
}

/// Whether it was said of this field that no packet passes it.
pub(super) fn is_told(field: &WireField, out: &[Diagnostic]) -> bool {
    let at = |found: &Diagnostic| found.primary.as_ref().map(|label| label.span);
    out.iter().any(|found| found.code == codes::NO_PACKET_PASSES && at(found) == Some(field.name.span))
}

/// Reports a field whose own `where` is met by none of the numbers that it may have.
pub(super) fn never_within(field: &WireField, range: Range) -> Option<Diagnostic> {
    let own = field.constraints.iter().filter_map(|(a, op, b)| about(field.index, a, *op, b));
    let (low, high) = own.fold(range, narrowed);
    let name = &field.name.text;
    let (least, most) = range;
    let text = format!("no packet passes: `{name}` is from {least} to {most}, and would have to be elsewhere");
    (low > high).then(|| {
        Diagnostic::error(codes::NO_PACKET_PASSES, text)
            .at(field.name.span, "its `where` is never true")
            .help("look at the numbers, and at which side is the larger")
    })
}

/// The comparison of this field with a number, as `field op number`.
fn about(index: u32, a: &WireExpr, op: Binary, b: &WireExpr) -> Option<(Binary, u128)> {
    match (a, b) {
        (WireExpr::Field(at), WireExpr::Number(number)) if *at == index => Some((op, u128::from(*number))),
        (WireExpr::Number(number), WireExpr::Field(at)) if *at == index => Some((op.turned(), u128::from(*number))),
        _ => None,
    }
}
