//! The values of fields: a header field, a constant, a size, a checksum; and comparisons of these.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, AstNode, BinaryOp, Expr as Tree};

use crate::program::*;
use crate::resolve::expr::operations;
use crate::resolve::wire::reader::WireReader;
use crate::{codes, tree, types};

/// The value behind a field's `=`.
pub(super) fn of_field(reader: &mut WireReader, value: &Tree, name: &Name, width: u8) -> Option<WireValue> {
    let value = tree::unparen(value);
    let span = value.span(reader.file);
    if let Some(number) = reader.number(&value) {
        if number > types::mask(width) {
            let text = format!("{number} does not fit `{}: u{width}`", name.text);
            let help = format!("the largest is {}", types::mask(width));
            reader.cx.error(codes::WIRE_CONSTANT, text, span, "too big", &help);
        }
        return Some(WireValue::Constant(number));
    }
    if let Some((path, times, plus)) = scaled(reader, &value, 1, 0) {
        return header(reader, &path, times, plus, span);
    }
    expr(reader, &value).map(WireValue::Computed)
}

/// `Layer.field * times + plus`
fn scaled(reader: &mut WireReader, value: &Tree, times: u64, plus: u64) -> Option<(Vec<Name>, u64, u64)> {
    let value = tree::unparen(value);
    match &value {
        Tree::Field(_) => Some((path(reader, &value)?, times, plus)),
        Tree::Name(name) if reader.element.as_ref().is_some_and(|element| element.name == name.text()) => {
            Some((path(reader, &value)?, times, plus))
        }
        Tree::Binary(binary) => {
            let (left, right) = (binary.left()?, binary.right()?);
            let (inner, number) = match (reader.number(&left), reader.number(&right)) {
                (Some(number), None) => (right, number),
                (None, Some(number)) => (left, number),
                _ => return None,
            };
            match binary.op()? {
                BinaryOp::Add => scaled(reader, &inner, times, plus.checked_add(number.checked_mul(times)?)?),
                BinaryOp::Mul if plus == 0 || times == 1 => {
                    let (path, inner_times, inner_plus) = scaled(reader, &inner, 1, 0)?;
                    let scale = number.checked_mul(times)?;
                    Some((path, inner_times.checked_mul(scale)?, inner_plus.checked_mul(scale)?.checked_add(plus)?))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn path(reader: &WireReader, value: &Tree) -> Option<Vec<Name>> {
    match value {
        Tree::Name(_) => Some(vec![tree::name_expr(reader.file, value)?]),
        Tree::Field(field) => {
            let mut path = path(reader, &field.base()?)?;
            path.push(tree::some_name(reader.file, field.name())?);
            Some(path)
        }
        _ => None,
    }
}

/// `Layer.field`, with a factor and a summand.
pub(super) fn header(
    reader: &mut WireReader,
    path: &[Name],
    times: u64,
    plus: u64,
    span: mokume_base::Span,
) -> Option<WireValue> {
    if let Some(value) = of_element(reader, path, times, plus) {
        return Some(value);
    }
    if is_of_list_around(reader, path) {
        return None;
    }
    let (layer, variant, rest) = match path {
        [layer, variant, rest @ ..] if !rest.is_empty() && is_alternative(variant) => {
            (layer, Some(variant.clone()), rest)
        }
        [layer, rest @ ..] => (layer, None, rest),
        [] => return None,
    };
    let field = match rest {
        [field] => field.clone(),
        [vector, length] if length.text == "length" => {
            Name { text: format!("{}.length", vector.text), span: vector.span.to(length.span) }
        }
        _ => {
            let help = "write `Layer.field`, `Layer.Alternative.field` or `Layer.vector.length`";
            reader.cx.error(codes::WIRE_FIELD, "this names no header field", span, "too long", help);
            return None;
        }
    };
    Some(WireValue::Header { layer: layer.clone(), variant, field, times, plus })
}

/// Reports the name of an element of an enclosing list; returns whether it is one.
fn is_of_list_around(reader: &mut WireReader, path: &[Name]) -> bool {
    let (Some(first), Some(element)) = (path.first(), &reader.element) else { return false };
    let found = element.around.contains(&first.text);
    if found {
        let text = format!("`{}` is an element of the list around this one", first.text);
        let help = format!("write its fields around `each {} in …`", element.name);
        reader.cx.error(codes::WIRE_ELEMENT, text, first.span, "not of this list", &help);
    }
    found
}

/// `block.left`, `source`, if they are parts of the current element.
fn of_element(reader: &mut WireReader, path: &[Name], times: u64, plus: u64) -> Option<WireValue> {
    let (first, rest) = path.split_first()?;
    let element = reader.element.as_ref().filter(|element| element.name == first.text)?;
    let mut part = String::from("*");
    rest.iter().for_each(|name| part = format!("{part}.{}", name.text));
    let span = rest.last().map_or(first.span, |last| first.span.to(last.span));
    let WireValue::Header { layer, variant, field, .. } = element.part(&part, span) else { return None };
    Some(WireValue::Header { layer, variant, field, times, plus })
}

/// An expression of earlier fields, numbers, sizes and checksums.
pub(super) fn expr(reader: &mut WireReader, value: &Tree) -> Option<WireExpr> {
    let value = tree::unparen(value);
    let span = value.span(reader.file);
    if let Some(number) = reader.number(&value) {
        return Some(WireExpr::Number(number));
    }
    match &value {
        Tree::Name(_) => {
            let name = tree::name_expr(reader.file, &value)?;
            if let Some(index) = reader.fields.iter().position(|field| field.name.text == name.text) {
                reader.cx.mention(&name, reader.fields[index].name.span);
                return Some(WireExpr::Field(index as u32));
            }
            let diagnostic = reader.not_in_front(&name);
            reader.cx.report(diagnostic);
            None
        }
        Tree::Call(call) => measure(reader, call, span),
        Tree::Binary(binary) => {
            let op = binary.op().and_then(operations::operator);
            let (left, right) = (binary.left()?, binary.right()?);
            let allowed = [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div];
            let Some(op) = op.filter(|op| allowed.contains(op)) else {
                let help = "write `+ - * /`";
                reader.cx.error(codes::WIRE_VALUE, "a wire does not compute this", span, "unknown here", help);
                return None;
            };
            let (a, b) = (expr(reader, &left)?, expr(reader, &right)?);
            Some(WireExpr::Binary { op, a: Box::new(a), b: Box::new(b) })
        }
        Tree::Field(_) => {
            if let Some(path) = path(reader, &value) {
                carried(reader, &path, span);
            }
            None
        }
        _ => {
            let help = "write a number, an earlier field, `size(packet)` or `checksum(header)`";
            reader.cx.error(codes::WIRE_VALUE, "a wire does not compute this", span, "unknown here", help);
            None
        }
    }
}

/// Reports a header field where only fields of the packet are known; names the one that carries it.
fn carried(reader: &mut WireReader, path: &[Name], span: Span) {
    let path = path.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(".");
    let carries = |field: &&crate::resolve::wire::reader::Earlier| field.carries.as_ref() == Some(&path);
    let help = match reader.fields.iter().find(carries) {
        Some(field) => format!("write `{}`, which carries it", field.name.text.trim()),
        None => {
            let plain = path.rsplit('.').next().unwrap_or(&path);
            format!("put a field in front that carries it, `{plain}: uN = {path}`, and write `{plain}`")
        }
    };
    let diagnostic =
        Diagnostic::error(codes::WIRE_VALUE, format!("`{path}` is a field of a header, and not of the packet"))
            .at(span, "not known here")
            .note("what a packet holds is asked by the fields of the wire that stand in front")
            .help(help);
    reader.cx.report(diagnostic);
}

fn measure(reader: &mut WireReader, call: &ast::CallExpr, span: mokume_base::Span) -> Option<WireExpr> {
    let name = call.callee().and_then(|callee| tree::name_expr(reader.file, &callee))?;
    let args = call.args();
    let of = args.first().and_then(|arg| arg.value()).and_then(|value| tree::name_expr(reader.file, &value));
    let found = match (name.text.as_str(), of.as_ref().map(|of| of.text.as_str())) {
        ("size", Some("packet")) => Some(WireExpr::PacketSize),
        ("size", Some("header")) => Some(WireExpr::HeaderSize),
        ("size", Some("payload")) => Some(WireExpr::PayloadSize),
        ("checksum", Some("header")) => Some(WireExpr::HeaderChecksum),
        ("checksum", Some("packet")) => Some(WireExpr::PacketChecksum),
        _ => None,
    };
    if found.is_none() {
        let help = "there is `size(packet)`, `size(header)`, `size(payload)`, `checksum(header)`, `checksum(packet)`";
        reader.cx.error(codes::WIRE_VALUE, "a wire does not compute this", span, "unknown here", help);
    } else if let Some(further) = args.get(1) {
        further_argument(reader, &name.text, further);
    }
    found
}

/// Reports a second argument of `checksum(…)` or `size(…)`. With addresses a sum is made by a layer, as it has to be one that
/// knows them.
fn further_argument(reader: &mut WireReader, measure: &str, further: &ast::Arg) {
    let pseudo = further.value().and_then(|value| tree::name_expr(reader.file, &value));
    let is_pseudo = measure == "checksum" && pseudo.is_some_and(|name| name.text == "pseudo");
    let (text, help) = match is_pseudo {
        true => (
            "a wire does not add up a pseudo header".to_string(),
            "let a layer make the sum: `s: u16 = InetChecksum.sum    default checksum(packet, pseudo)`; the default is for packets \
             that tests write",
        ),
        false => (format!("`{measure}` takes one argument"), "leave out what follows the first"),
    };
    reader.cx.error(codes::WIRE_VALUE, text, further.span(reader.file), "not used", help);
}

/// Adds the comparisons of `a >= b and …` to the list.
pub(super) fn comparisons(reader: &mut WireReader, condition: &Tree, list: &mut Vec<(WireExpr, Binary, WireExpr)>) {
    let condition = tree::unparen(condition);
    let span = condition.span(reader.file);
    let parts = match &condition {
        Tree::Binary(binary) => binary.op().zip(binary.left()).zip(binary.right()),
        _ => None,
    };
    use Binary::*;
    match parts {
        Some(((BinaryOp::And, left), right)) => {
            comparisons(reader, &left, list);
            comparisons(reader, &right, list);
        }
        Some(((op, left), right)) if matches!(operations::operator(op), Some(Eq | Ne | Lt | Le | Gt | Ge)) => {
            let (a, b) = (expr(reader, &left), expr(reader, &right));
            if let (Some(a), Some(op), Some(b)) = (a, operations::operator(op), b) {
                list.push((a, op, b));
            }
        }
        _ => {
            let help = "write `a >= b`, several with `and`";
            reader.cx.error(codes::WIRE_VALUE, "a constraint compares two values", span, "no comparison", help);
        }
    }
}

fn is_alternative(name: &Name) -> bool {
    name.is_capital()
}

/// Checks that the encoder knows what a condition names before it knows any size.
pub(super) fn known_early(reader: &mut WireReader, expr: &WireExpr, span: Span) {
    let what = match expr {
        WireExpr::Number(_) => return,
        WireExpr::Field(index) => match reader.fields.get(*index as usize) {
            Some(field) if field.computed => format!("`{}`, which is computed from sizes", field.name.text),
            _ => return,
        },
        WireExpr::Binary { a, b, .. } => {
            known_early(reader, a, span);
            return known_early(reader, b, span);
        }
        _ => "a size or a checksum".to_string(),
    };
    let diagnostic = Diagnostic::error(codes::WIRE_CONDITION, format!("a part of a packet depends on {what}"))
        .at(span, "not known before the packet is laid out")
        .help("name fields that hold header fields or constants");
    reader.cx.report(diagnostic);
}
