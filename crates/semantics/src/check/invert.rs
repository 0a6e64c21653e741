//! Whether a wire's fields can be written and read back at all: sums have the width that they are computed in, numbers fit
//! where they go, and some packet passes every constraint.
//!
//! Keeps: looks at each wire by itself; what a bundle's headers need of it is [`super::wires`]'.

use mokume_base::Diagnostic;

use crate::codes;
use crate::program::*;
use crate::types;

/// Each wire by itself.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for wire in &program.wires {
        let mut fields = Vec::new();
        collect(&wire.items, &mut fields);
        for field in &fields {
            value(field, out);
            constraints(field, &fields, out);
        }
    }
}

fn collect<'a>(items: &'a [WireItem], fields: &mut Vec<&'a WireField>) {
    for item in items {
        if let WireItem::Field(field) = item {
            fields.push(field);
        }
        if let WireItem::Choice { arms, .. } = item {
            arms.iter().for_each(|arm| collect(&arm.items, fields));
        }
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

/// What the constraints of one field leave of each field that they compare with numbers.
fn constraints(field: &WireField, fields: &[&WireField], out: &mut Vec<Diagnostic>) {
    for target in fields {
        let (mut low, mut high) = (0, u128::from(types::mask(target.width)));
        let mut any = false;
        for (a, op, b) in &field.constraints {
            let Some((op, number)) = about(target.index, a, *op, b) else { continue };
            any = true;
            match op {
                Binary::Lt if number == 0 => (low, high) = (1, 0),
                Binary::Lt => high = high.min(number - 1),
                Binary::Le => high = high.min(number),
                Binary::Gt => low = low.max(number + 1),
                Binary::Ge => low = low.max(number),
                Binary::Eq => (low, high) = (low.max(number), high.min(number)),
                _ => {}
            }
        }
        if any && low > high {
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

/// A comparison of one field with a number, as `field op number`.
fn about(index: u32, a: &WireExpr, op: Binary, b: &WireExpr) -> Option<(Binary, u128)> {
    match (a, b) {
        (WireExpr::Field(at), WireExpr::Number(number)) if *at == index => Some((op, u128::from(*number))),
        (WireExpr::Number(number), WireExpr::Field(at)) if *at == index => {
            let turned = match op {
                Binary::Lt => Binary::Gt,
                Binary::Le => Binary::Ge,
                Binary::Gt => Binary::Lt,
                Binary::Ge => Binary::Le,
                other => other,
            };
            Some((turned, u128::from(*number)))
        }
        _ => None,
    }
}
