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
        let outer = self.element.iter().flat_map(|outer| outer.around.iter().cloned().chain([outer.name.clone()]));
        let element = Element { name: name.text, around: outer.collect(), layer, variant, vector: field };
        let length = element.part("length", place);
        let outer = self.element.replace(element);
        let items = self.hidden(&each.members());
        self.element = outer;
        let to_end = match each.until() {
            Some(until) => self.ends_with_packet(&until)?,
            None => false,
        };
        let bits = self.element_bits(&items)?;
        if items.is_empty() && !each.members().is_empty() {
            return None;
        }
        if bits == 0 || bits % 8 != 0 {
            let text = format!("an element of `{}` is {bits} bits", path.last().map_or("?", |name| &name.text));
            let help = match bits {
                0 => "write its fields: `left: u32 = block.left`".to_string(),
                _ => format!("add a field such as `reserved: u{} = 0`", 8 - bits % 8),
            };
            self.cx.error(codes::WIRE_ELEMENT, text, place, "no whole octets", &help);
            return None;
        }
        Some(WireItem::Each(WireEach { length, to_end, items, span }))
    }

    /// Elements that nothing counts end with the packet.
    fn ends_with_packet(&mut self, until: &ast::Expr) -> Option<bool> {
        match self.expr(until)? {
            WireExpr::PacketSize => Some(true),
            _ => {
                let place = until.span(self.file);
                let help = "write `until size(packet)`, or count the elements: `count: u8 = Layer.list.length`";
                let text = "elements that nothing counts end where the packet ends";
                self.cx.error(codes::WIRE_UNTIL, text, place, "another place", help);
                None
            }
        }
    }

    /// The bits of an element: header fields, constants, and lists that it counts.
    fn element_bits(&mut self, items: &[WireItem]) -> Option<u64> {
        let mut bits = 0u64;
        for item in items {
            if let WireItem::Each(inner) = item {
                self.list_within(inner, bits)?;
                continue;
            }
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

    /// A list within an element begins on an octet, and is counted in it: only the last element could go on to an end.
    fn list_within(&mut self, inner: &WireEach, bits: u64) -> Option<()> {
        if inner.to_end {
            let text = "a list within a list that goes on to the packet's end";
            let help = "count it: `count: u8 = x.list.length` in front of it";
            self.cx.error(codes::WIRE_UNTIL, text, inner.span, "where would the next element begin?", help);
            return None;
        }
        if !bits.is_multiple_of(8) {
            let text = format!("a list begins within an octet: {bits} bits of its element in front of it");
            let help = format!("add a field such as `reserved: u{} = 0`", 8 - bits % 8);
            self.cx.error(codes::WIRE_ELEMENT, text, inner.span, "no whole octets in front", &help);
            return None;
        }
        Some(())
    }

    /// Names an element of a list around the one at hand: reported.
    pub(super) fn is_of_list_around(&mut self, path: &[Name]) -> bool {
        let (Some(first), Some(element)) = (path.first(), &self.element) else { return false };
        let found = element.around.contains(&first.text);
        if found {
            let text = format!("`{}` is an element of the list around this one", first.text);
            let help = format!("write its fields around `each {} in …`", element.name);
            self.cx.error(codes::WIRE_ELEMENT, text, first.span, "not of this list", &help);
        }
        found
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
