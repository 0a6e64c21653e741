//! The elements of a header's vector in a packet: `each block in Layer.blocks { left: u32 = block.left }`.

use mokume_syntax::ast::{self, AstNode};

use super::wires::{Element, Work};
use crate::program::*;
use crate::{codes, tree};

impl Work<'_> {
    pub(super) fn each(&mut self, each: &ast::WireEach) -> Option<WireItem> {
        let span = each.span(self.file);
        let path = each.of().map_or(Vec::new(), |path| tree::parts(self.file, &path));
        let place = path.last().map_or(span, |name| name.span);
        let name = tree::some_name(self.file, each.name())?;
        let WireValue::Header { layer, variant, field, .. } = self.header(&path, 1, 0, place)? else { return None };
        let element = Element { name: name.text, layer, variant, vector: field };
        let length = element.part("length", place);
        let outer = self.element.replace(element);
        let items = self.hidden(&each.members());
        self.element = outer;
        let bits = self.element_bits(&items)?;
        if bits == 0 || bits % 8 != 0 {
            let text = format!("an element of `{}` is {bits} bits", path.last().map_or("?", |name| &name.text));
            let help = match bits {
                0 => "write its fields: `left: u32 = block.left`".to_string(),
                _ => format!("add a field such as `reserved: u{} = 0`", 8 - bits % 8),
            };
            self.cx.error(codes::WIRE_ELEMENT, text, place, "no whole octets", &help);
            return None;
        }
        Some(WireItem::Each(WireEach { length, items, span }))
    }

    /// The bits of an element: header fields and constants alone.
    fn element_bits(&mut self, items: &[WireItem]) -> Option<u64> {
        let mut bits = 0;
        for item in items {
            let (field, span) = match item {
                WireItem::Field(field) => (Some(field), field.name.span),
                WireItem::Choice { span, .. } | WireItem::Optional { span, .. } | WireItem::Reach(_, span) => {
                    (None, *span)
                }
                WireItem::Options(options) => (None, options.span),
                WireItem::Each(each) => (None, each.span),
            };
            let plain = |field: &&WireField| {
                let known =
                    matches!(field.value, WireValue::Constant(_) | WireValue::Header { .. } | WireValue::Unread);
                known && field.trims.is_none() && field.constraints.is_empty()
            };
            let Some(field) = field.filter(plain) else {
                let help = "an element has fields for its parts, and constants";
                self.cx.error(codes::WIRE_ELEMENT, "this is no part of an element", span, "here", help);
                return None;
            };
            bits += u64::from(field.width);
        }
        Some(bits)
    }

    /// `block.left`, `source`, where they stand for parts of the element at hand.
    pub(super) fn of_element(&mut self, path: &[Name], times: u64, plus: u64) -> Option<WireValue> {
        let (first, rest) = path.split_first()?;
        let element = self.element.as_ref().filter(|element| element.name == first.text)?;
        let mut part = String::from("*");
        rest.iter().for_each(|name| part = format!("{part}.{}", name.text));
        let span = rest.last().map_or(first.span, |last| first.span.to(last.span));
        let WireValue::Header { layer, variant, field, .. } = element.part(&part, span) else { return None };
        Some(WireValue::Header { layer, variant, field, times, plus })
    }
}

impl Element {
    fn part(&self, part: &str, span: mokume_base::Span) -> WireValue {
        let field = Name { text: format!("{}.{part}", self.vector.text), span };
        WireValue::Header { layer: self.layer.clone(), variant: self.variant.clone(), field, times: 1, plus: 0 }
    }
}
