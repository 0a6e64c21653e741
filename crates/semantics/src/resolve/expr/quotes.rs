//! Fields of a quoted packet by the wire's names. A quote is the beginning of a packet of ours that an error brings
//! back.
//!
//! `quote.has(Wire.field)` says whether the field is in the quote; `quote.field(Wire.field)` is its value. Nothing is
//! checked, so a packet of our own direction, whose source is ourselves, can be read. Only fields before all parts that
//! are not in every packet have a known place.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, AstNode, Expr as Tree};

use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::Body;
use crate::resolve::context::Item;
use crate::resolve::expr::positional;
use crate::{codes, suggest, tree};

/// A field, and the offset of its first bit.
struct Placed {
    bit: u32,
    width: u8,
    big: bool,
}

/// `quote.has(Rfc791.source)`
pub(super) fn has(body: &mut Body, message: LocalId, args: &[ast::Arg], span: Span) -> Expr {
    let Some(placed) = placed(body, "has", args, span) else { return unknown(span) };
    let end = (placed.bit + u32::from(placed.width)).div_ceil(8);
    let size = make(ExprKind::MessageSize(message), Type::UInt(32), span);
    binary(Binary::Ge, size, number(u64::from(end), 32, span), Type::Bool, span)
}

/// `quote.field(Rfc791.source)`: the octets with the field, shifted and masked.
pub(super) fn field(body: &mut Body, message: LocalId, args: &[ast::Arg], span: Span) -> Expr {
    let Some(placed) = placed(body, "field", args, span) else { return unknown(span) };
    let first = placed.bit / 8;
    let octets = (placed.bit + u32::from(placed.width)).div_ceil(8) - first;
    let whole = octets as u8 * 8;
    let at = Box::new(number(u64::from(first), 32, span));
    let is_whole = placed.bit.is_multiple_of(8) && placed.width == whole;
    let load = ExprKind::Load { message, at, width: whole, big: placed.big || !is_whole };
    let load = make(load, Type::UInt(whole), span);
    if is_whole {
        return load;
    }
    let below = u64::from((first + octets) * 8 - placed.bit - u32::from(placed.width));
    let shifted = binary(Binary::Shr, load, number(below, whole, span), Type::UInt(whole), span);
    let kind = ExprKind::Cast { kind: CastKind::Truncate, a: Box::new(shifted) };
    make(kind, Type::UInt(placed.width), span)
}

fn placed(body: &mut Body, name: &str, args: &[ast::Arg], span: Span) -> Option<Placed> {
    let values = positional::counted(body, name, args, 1, span)?;
    let (wire, field) = wire_and_field(body, &values[0])?;
    let items = body.cx.program.wires[wire.index()].items.clone();
    let mut bit = 0;
    for item in &items {
        let WireItem::Field(known) = item else { break };
        if known.name.text == field.text {
            if (bit + u32::from(known.width)).div_ceil(8) - bit / 8 > 8 {
                break;
            }
            return Some(Placed { bit, width: known.width, big: known.big });
        }
        bit += u32::from(known.width);
    }
    no_such_field(body, wire, &items, &field);
    None
}

fn wire_and_field(body: &mut Body, value: &Tree) -> Option<(WireId, Name)> {
    let path = match tree::unparen(value) {
        Tree::Field(field) => {
            field.base().and_then(|base| body.item_name(&base)).zip(tree::some_name(body.file, field.name()))
        }
        _ => None,
    };
    let Some((wire, field)) = path else {
        let place = value.span(body.file);
        let help = "write `quote.field(Rfc791.source)`";
        body.error(codes::WIRE_PLACE, "a field of a wire is named here", place, "expected `Wire.field`", help);
        return None;
    };
    match body.cx.item_at(body.file, &wire) {
        Some(Item::Wire(id)) => Some((id, field)),
        _ => {
            body.cx.unknown(codes::UNKNOWN_ITEM, "a wire", &wire, body.file, |item| matches!(item, Item::Wire(_)));
            None
        }
    }
}

fn no_such_field(body: &mut Body, wire: WireId, items: &[WireItem], field: &Name) {
    let known: Vec<&str> = items
        .iter()
        .map_while(|item| match item {
            WireItem::Field(known) => Some(known.name.text.as_str()),
            _ => None,
        })
        .collect();
    let wire = body.cx.program.wires[wire.index()].name.clone();
    let text = format!("`{}` has no field `{}` at one place in every packet", wire.text, field.text);
    let mut diagnostic = Diagnostic::error(codes::WIRE_PLACE, text).at(field.span, "no such place");
    diagnostic = diagnostic.label(wire.span, "the wire");
    diagnostic.helps.extend(suggest::help(&field.text, known));
    body.report(diagnostic);
}

fn number(value: u64, width: u8, span: Span) -> Expr {
    make(ExprKind::Number(value), Type::UInt(width), span)
}

fn binary(op: Binary, a: Expr, b: Expr, ty: Type, span: Span) -> Expr {
    make(ExprKind::Binary { op, a: Box::new(a), b: Box::new(b) }, ty, span)
}
