//! The elements of a header's vector in a packet: `each block in Layer.blocks { left: u32 = block.left }`.

use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::wire;
use crate::resolve::wire::reader::{Element, WireReader};
use crate::resolve::wire::values;
use crate::{codes, tree};

/// `each block in Layer.blocks { … }`
pub(super) fn read(reader: &mut WireReader, each: &ast::WireEach) -> Option<WireItem> {
    let span = each.span(reader.file);
    let path = each.of().map_or(Vec::new(), |path| tree::parts(reader.file, &path));
    let place = path.last().map_or(span, |name| name.span);
    let name = tree::some_name(reader.file, each.name())?;
    let WireValue::Header { layer, variant, field, .. } = values::header(reader, &path, 1, 0, place)? else {
        return None;
    };
    let outer = reader.element.iter().flat_map(|outer| outer.around.iter().cloned().chain([outer.name.clone()]));
    let element = Element { name: name.text, around: outer.collect(), layer, variant, vector: field };
    let length = element.part("length", place);
    let outer = reader.element.replace(element);
    let items = wire::hidden(reader, &each.members());
    reader.element = outer;
    let to_end = match each.until() {
        Some(until) => ends_with_packet(reader, &until)?,
        None => false,
    };
    let bits = element_bits(reader, &items)?;
    if items.is_empty() && !each.members().is_empty() {
        return None;
    }
    if bits == 0 || bits % 8 != 0 {
        let text = format!("an element of `{}` is {bits} bits", path.last().map_or("?", |name| &name.text));
        let help = match bits {
            0 => "write its fields: `left: u32 = block.left`".to_string(),
            _ => format!("add a field such as `reserved: u{} = 0`", 8 - bits % 8),
        };
        reader.cx.error(codes::WIRE_ELEMENT, text, place, "no whole octets", &help);
        return None;
    }
    Some(WireItem::Each(WireEach { length, to_end, items, span }))
}

/// Checks that elements without a count extend to the packet's end.
fn ends_with_packet(reader: &mut WireReader, until: &ast::Expr) -> Option<bool> {
    match values::expr(reader, until)? {
        WireExpr::PacketSize => Some(true),
        _ => {
            let place = until.span(reader.file);
            let help = "write `until size(packet)`, or count the elements: `count: u8 = Layer.list.length`";
            let text = "elements that nothing counts end where the packet ends";
            reader.cx.error(codes::WIRE_UNTIL, text, place, "another place", help);
            None
        }
    }
}

/// The bits of an element: header fields, constants, and lists that it counts.
fn element_bits(reader: &mut WireReader, items: &[WireItem]) -> Option<u64> {
    let mut bits = 0u64;
    for item in items {
        if let WireItem::Each(inner) = item {
            list_within(reader, inner, bits)?;
            continue;
        }
        let (field, span) = match item {
            WireItem::Field(field) => (Some(field), field.name.span),
            WireItem::Choice { span, .. } | WireItem::Optional { span, .. } | WireItem::Reach(_, span) => (None, *span),
            WireItem::Options(options) => (None, options.span),
            WireItem::Each(each) => (None, each.span),
        };
        let plain = |field: &&WireField| {
            let known = matches!(field.value, WireValue::Constant(_) | WireValue::Header { .. } | WireValue::Unread);
            known && field.trims.is_none() && field.constraints.is_empty()
        };
        let Some(field) = field.filter(plain) else {
            let help = "an element has fields for its parts, `letter: u8 = c` of `each c in …`, and constants";
            reader.cx.error(codes::WIRE_ELEMENT, "this is no part of an element", span, "here", help);
            return None;
        };
        bits += u64::from(field.width);
    }
    Some(bits)
}

/// A nested list begins on an octet boundary, and the element counts it: only the last element could extend to an end.
fn list_within(reader: &mut WireReader, inner: &WireEach, bits: u64) -> Option<()> {
    if inner.to_end {
        let text = "a list within a list that goes on to the packet's end";
        let help = "count it: `count: u8 = x.list.length` in front of it";
        reader.cx.error(codes::WIRE_UNTIL, text, inner.span, "where would the next element begin?", help);
        return None;
    }
    if !bits.is_multiple_of(8) {
        let text = format!("a list begins within an octet: {bits} bits of its element in front of it");
        let help = format!("add a field such as `reserved: u{} = 0`", 8 - bits % 8);
        reader.cx.error(codes::WIRE_ELEMENT, text, inner.span, "no whole octets in front", &help);
        return None;
    }
    Some(())
}
