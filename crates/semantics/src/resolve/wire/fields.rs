//! A field and its clauses: `where …`, `trim packet to …`.

use mokume_base::Form;
use mokume_syntax::ast::{self, AstNode, BinaryOp, Expr as Tree};

use crate::program::*;
use crate::resolve::context::twice;
use crate::resolve::expr::annotations;
use crate::resolve::wire::reader::{Earlier, WireReader};
use crate::resolve::wire::values;
use crate::{codes, tree};

/// `source: u16 = Ports.source`
pub(super) fn read(reader: &mut WireReader, field: &ast::WireField) -> Option<WireField> {
    let name = tree::some_name(reader.file, field.name())?;
    if let Some(first) = reader.fields.iter().find(|first| first.name.text == name.text) {
        let diagnostic = twice("field", &name, &first.name.clone());
        reader.cx.report(diagnostic);
    }
    let width = width_of(reader, field, &name)?;
    let big = field.byte_order().map_or(reader.big, |order| order == ast::ByteOrder::Big);
    // A wire of low octets first may have parts of octets, but a part alone has no order.
    let alone = width < 8 && reader.big;
    if !big && (alone || width > 8) && width % 8 != 0 {
        let text = format!("{width} bits have no byte order");
        reader.cx.error(codes::WIRE_WIDTH, text, name.span, "little endian", "make it whole octets, or `big`");
    }
    let tag = field.value().is_none() && !field.is_unread();
    let index = reader.fields.len() as u32;
    reader.fields.push(Earlier { name: name.clone(), width, tag, computed: false, carries: None });
    let notation = annotations::notation(reader.cx, reader.file, field.ty());
    let form = notation.map(|notation| Form::Parts { notation, widths: vec![width] });
    reader.written.push((name.text.clone(), form));
    let value = match field.value() {
        None if tag => WireValue::Tag,
        None => WireValue::Unread,
        Some(value) if field.is_unread() => unread(reader, field, &value),
        Some(value) => values::of_field(reader, &value, &name, width)?,
    };
    reader.fields[index as usize].computed = matches!(value, WireValue::Computed(_));
    if let WireValue::Header { layer, variant, field, .. } = &value {
        let names = [Some(layer), variant.as_ref(), Some(field)].into_iter().flatten();
        let names: Vec<&str> = names.map(|name| name.text.as_str()).collect();
        reader.fields[index as usize].carries = Some(names.join("."));
    }
    Some(WireField { index, name, width, big, value, constraints: Vec::new(), trims: None })
}

/// The bits of a field; `None`, after a report, for a type that a field cannot have.
fn width_of(reader: &mut WireReader, field: &ast::WireField, name: &Name) -> Option<u8> {
    match annotations::read(reader.cx, reader.file, field.ty()) {
        Type::UInt(width) | Type::Seq(width) => Some(width),
        Type::Bool => Some(1),
        Type::Enum(id) => Some(reader.cx.program.enums[id.index()].width),
        Type::Unknown => None,
        other => {
            let text = format!("{} is no field of a packet", reader.cx.show(other));
            reader.cx.error(codes::NO_SCALAR, text, name.span, "expected `uN`", "write `name: u16 = …`");
            None
        }
    }
}

/// `= 0 unread`, `= 0 preserved`
fn unread(reader: &mut WireReader, field: &ast::WireField, value: &Tree) -> WireValue {
    if reader.number(value).is_some_and(|number| number != 0) {
        let place = value.span(reader.file);
        let text = "an unread field is written as zero";
        reader.cx.error(codes::WIRE_VALUE, text, place, "not zero", "write `= 0 unread`");
    }
    match field.is_preserved() {
        true => WireValue::Preserved,
        false => WireValue::Unread,
    }
}

/// `where a >= b and …`, which belongs to the field before it.
pub(super) fn constraints(reader: &mut WireReader, constraint: &ast::WireWhere, items: &mut [WireItem]) {
    let Some(condition) = constraint.condition() else { return };
    let mut list = Vec::new();
    values::comparisons(reader, &condition, &mut list);
    match items.last_mut() {
        Some(WireItem::Field(field)) => field.constraints.extend(list),
        _ => {
            let place = constraint.span(reader.file);
            let help = "write it behind the field that it is about";
            reader.cx.error(codes::WIRE_VALUE, "`where` stands behind a field", place, "no field in front", help);
        }
    }
}

/// `trim packet to length + 40`
pub(super) fn trim(reader: &mut WireReader, trim: &ast::WireTrim, items: &mut [WireItem]) {
    let Some(to) = trim.to() else { return };
    let place = to.span(reader.file);
    let (to, plus) = trimmed(reader, &tree::unparen(&to));
    let name = tree::name_expr(reader.file, &to);
    for item in items.iter_mut() {
        let WireItem::Field(field) = item else { continue };
        if let Some(name) = name.as_ref().filter(|name| name.text == field.name.text) {
            reader.cx.mention(name, field.name.span);
            field.trims = Some(plus);
            return;
        }
    }
    let help = "name a field in front of this: `trim packet to length`, or `length + 40`";
    reader.cx.error(codes::WIRE_TRIM, "the packet is trimmed to a field of it", place, "no such field", help);
}

/// `length`, `length + 40`
fn trimmed(reader: &mut WireReader, to: &Tree) -> (Tree, u64) {
    if let Tree::Binary(binary) = to {
        let parts = (binary.op(), binary.left(), binary.right());
        if let (Some(BinaryOp::Add), Some(left), Some(right)) = parts {
            if let Some(plus) = reader.number(&right).filter(|plus| *plus <= u64::from(u32::MAX)) {
                return (tree::unparen(&left), plus);
            }
        }
    }
    (to.clone(), 0)
}
