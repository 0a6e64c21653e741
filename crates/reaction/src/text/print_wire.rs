//! Wires as text: an item a line, arms indented.

use super::names::{self, ident, path};
use crate::*;

/// The text of one wire with all its items, ending in a line break. Fields that others name have a name, not a number.
pub fn wire(automaton: &Automaton, wire: &Wire) -> String {
    let fields = WireItem::fields(&wire.items).iter().map(|field| (field.index, field.name.as_str())).collect();
    let printer = Printer { automaton, wire, fields };
    let headers: Vec<String> = wire.headers.iter().map(|id| header(automaton, *id)).collect();
    let mut out = format!("wire {} {} {{\n", path(&wire.name), endian(wire.endian));
    out += &format!("  headers {}\n", headers.join(", "));
    out += &format!("  short {}\n", names::reason(automaton, wire.short));
    printer.items(&wire.items, 1, &mut out);
    out + "}\n"
}

fn header(automaton: &Automaton, id: HeaderId) -> String {
    automaton.headers.get(id.index()).map_or("?".to_owned(), |header| path(&header.name))
}

fn endian(endian: Endian) -> &'static str {
    match endian {
        Endian::Big => "big",
        Endian::Little => "little",
    }
}

struct Printer<'a> {
    automaton: &'a Automaton,
    wire: &'a Wire,
    fields: Vec<(FieldIndex, &'a str)>,
}

impl Printer<'_> {
    fn items(&self, items: &[WireItem], depth: usize, out: &mut String) {
        let pad = "  ".repeat(depth);
        for item in items {
            match item {
                WireItem::Field(field) => self.field(field, &pad, out),
                WireItem::Choice { on, arms, unknown } => {
                    let unknown = names::reason(self.automaton, *unknown);
                    *out += &format!("{pad}choice {} else {unknown} {{\n", self.name(*on));
                    for arm in arms {
                        *out +=
                            &format!("{pad}  case {}{}{} {{\n", arm.tag, self.selects(&arm.selects), self.commons(arm));
                        self.items(&arm.items, depth + 2, out);
                        *out += &format!("{pad}  }}\n");
                    }
                    *out += &format!("{pad}}}\n");
                }
                WireItem::Optional { when, items } => {
                    let tests: Vec<String> = when.iter().map(|test| self.test(test)).collect();
                    *out += &format!("{pad}optional {} {{\n", tests.join(", "));
                    self.items(items, depth + 1, out);
                    *out += &format!("{pad}}}\n");
                }
                WireItem::Options(options) => self.options(options, depth, out),
                WireItem::List(list) => self.list(list, depth, out),
                WireItem::Reach(to) => *out += &format!("{pad}reach {}\n", self.expression(to)),
            }
        }
    }

    fn test(&self, test: &WireTest) -> String {
        format!("{} {} {}", self.expression(&test.left), test.compare.sign(), self.expression(&test.right))
    }

    /// `options kind: 8 length: 8 * 1 + 0 big until words * 4 pad 4 malformed r unknown r {`
    fn options(&self, options: &WireOptions, depth: usize, out: &mut String) {
        let pad = "  ".repeat(depth);
        let (kind, length) = (&options.kind, &options.length);
        *out += &format!("{pad}options {}: {} ", ident(&kind.name), kind.width);
        *out += &format!("{}: {} * {} + {} ", ident(&length.name), length.width, options.times, options.plus);
        *out += &format!("{} until {} pad {}", endian(options.endian), self.expression(&options.until), options.pad);
        if let Some(kind) = options.pads_with {
            *out += &format!(" with {kind}");
        }
        if let Some(kind) = options.ends_with {
            *out += &format!(" end {kind}");
        }
        *out += &format!(" malformed {}", names::reason(self.automaton, options.malformed));
        if let Some(unknown) = options.unknown {
            *out += &format!(" unknown {}", names::reason(self.automaton, unknown));
        }
        *out += " {\n";
        for arm in &options.arms {
            match arm {
                OptionArm::End { kind } => *out += &format!("{pad}  end {kind}\n"),
                OptionArm::Single { kind } => *out += &format!("{pad}  single {kind}\n"),
                OptionArm::Known { kind, header, variant, field, items, repeat } => {
                    *out += &format!("{pad}  case {kind} if {}", self.header_field(*header, *variant, *field));
                    if let Some(OptionRepeat { count, from, each }) = repeat {
                        let count = self.header_field(*header, *variant, *count);
                        *out += &format!(" repeat {count} from {from} each {each}");
                    }
                    *out += " {\n";
                    self.items(items, depth + 2, out);
                    *out += &format!("{pad}  }}\n");
                }
            }
        }
        *out += &format!("{pad}}}\n");
    }

    /// `list w.Hdr.records to end else w.records {`
    fn list(&self, list: &WireList, depth: usize, out: &mut String) {
        let pad = "  ".repeat(depth);
        *out += &format!("{pad}list {}", self.header_field(list.header, list.variant, list.count));
        if let Some(reason) = list.to_end {
            *out += &format!(" to end else {}", names::reason(self.automaton, reason));
        }
        *out += " {\n";
        for element in &list.elements {
            *out += &format!("{pad}  element {{\n");
            self.items(element, depth + 2, out);
            *out += &format!("{pad}  }}\n");
        }
        *out += &format!("{pad}}}\n");
    }

    fn header_field(&self, header: HeaderId, variant: VariantId, field: u32) -> String {
        let found = self.automaton.headers.get(header.index()).and_then(|h| h.variants.get(variant.index()));
        let name = found.and_then(|v| v.fields.get(field as usize)).map_or("?", |(name, _)| name);
        format!("{}.{}", names::variant(self.automaton, header, variant), ident(name))
    }

    fn selects(&self, selects: &[(HeaderId, VariantId)]) -> String {
        if selects.is_empty() {
            return String::new();
        }
        let shown: Vec<String> = selects.iter().map(|(h, v)| names::variant(self.automaton, *h, *v)).collect();
        format!(" select {}", shown.join(", "))
    }

    fn commons(&self, arm: &WireArm) -> String {
        if arm.commons.is_empty() {
            return String::new();
        }
        let one = |c: &WireCommon| format!("{} = {}", self.header_field(c.header, c.variant, c.field), c.value);
        format!(" where {}", arm.commons.iter().map(one).collect::<Vec<_>>().join(", "))
    }

    fn field(&self, field: &WireField, pad: &str, out: &mut String) {
        let order = if field.endian == self.wire.endian { "" } else { endian(field.endian) };
        let space = if order.is_empty() { "" } else { " " };
        let trims = match (field.trims_packet, field.trims_plus) {
            (false, _) => String::new(),
            (true, 0) => " trims".to_owned(),
            (true, plus) => format!(" trims + {plus}"),
        };
        let value = self.value(&field.value);
        *out += &format!("{pad}field {}: {}{space}{order} {value}{trims}\n", ident(&field.name), field.width);
        for constraint in &field.constraints {
            let (left, right) = (self.expression(&constraint.left), self.expression(&constraint.right));
            let reason = names::reason(self.automaton, constraint.otherwise);
            *out += &format!("{pad}  require {left} {} {right} else {reason}\n", constraint.compare.sign());
        }
    }

    fn value(&self, value: &FieldValue) -> String {
        let reason = |id: ReasonId| names::reason(self.automaton, id);
        match value {
            FieldValue::Constant { value, otherwise } => format!("= {value} else {}", reason(*otherwise)),
            FieldValue::Header { header, variant, field, times, plus, otherwise } => {
                let times = if *times == 1 { String::new() } else { format!(" * {times}") };
                let plus = if *plus == 0 { String::new() } else { format!(" + {plus}") };
                let otherwise = otherwise.map_or(String::new(), |id| format!(" else {}", reason(id)));
                format!("from {}{times}{plus}{otherwise}", self.header_field(*header, *variant, *field))
            }
            FieldValue::Computed { expression, otherwise } => {
                format!("computed {} else {}", self.expression(expression), reason(*otherwise))
            }
            FieldValue::Tag => "tag".to_owned(),
            FieldValue::Placed => "placed".to_owned(),
            FieldValue::Reserved => "reserved".to_owned(),
        }
    }

    /// The field's name, followed by its number if another field has the same name.
    fn name(&self, index: FieldIndex) -> String {
        let name = self.fields.iter().find(|(found, _)| *found == index).map(|(_, name)| *name);
        let Some(name) = name else { return format!("%{}", index.0) };
        match self.fields.iter().filter(|(_, other)| *other == name).count() {
            1 => ident(name),
            _ => format!("%{}", index.0),
        }
    }

    fn expression(&self, expression: &WireExpression) -> String {
        let two = |a: &WireExpression, sign: &str, b: &WireExpression| {
            format!("({} {sign} {})", self.expression(a), self.expression(b))
        };
        match expression {
            WireExpression::Number(number) => number.to_string(),
            WireExpression::Field(index) => self.name(*index),
            WireExpression::PacketSize => "packet_size()".to_owned(),
            WireExpression::HeaderSize => "header_size()".to_owned(),
            WireExpression::PayloadSize => "payload_size()".to_owned(),
            WireExpression::HeaderChecksum => "header_checksum()".to_owned(),
            WireExpression::PacketChecksum => "packet_checksum()".to_owned(),
            WireExpression::Add(a, b) => two(a, "+", b),
            WireExpression::Sub(a, b) => two(a, "-", b),
            WireExpression::Mul(a, b) => two(a, "*", b),
            WireExpression::Div(a, b) => two(a, "/", b),
        }
    }
}
