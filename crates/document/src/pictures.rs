//! Pictures of wires and headers, as RFCs draw them. They need no stack, so every wire has its picture.
//!
//! Must keep: fields of a wire are at the same places as in `mokume graph --what headers` (a test compares the two).

use mokume_draw::{order, other_order, HeaderBits, HeaderPart, HeaderPicture};
use mokume_semantics::program::{
    Binary, Layer, Layout, OptionForm, Program, Type, Variant, Wire, WireEach, WireExpr, WireField, WireItem,
    WireOption, WireOptions, WireValue,
};
use mokume_semantics::types;

use crate::item::{Item, Kind};

/// The pictures of an item; empty if it has no header.
pub fn of(program: &Program, item: &Item) -> Vec<HeaderPicture> {
    match item.kind {
        Kind::Wire => {
            let found = program.wires.iter().find(|wire| wire.name.span == item.named);
            found.map(wire).into_iter().collect()
        }
        Kind::Layer => {
            let found = program.layers.iter().find(|layer| layer.name.span == item.named);
            found.and_then(|layer| header(program, layer)).into_iter().collect()
        }
        Kind::Bundle => {
            let found = program.bundles.iter().find(|bundle| bundle.name.span == item.named);
            let of = found.and_then(|bundle| bundle.wire).and_then(|id| program.wires.get(id.index()));
            of.map(wire).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The picture of a wire.
pub fn wire(wire: &Wire) -> HeaderPicture {
    let order = order(wire.big);
    let mut names = Vec::new();
    names_of(&wire.items, &mut names);
    let mut headers = Vec::new();
    headers_of(&wire.items, &mut headers);
    let mut maker = Maker { names, big: wire.big, parts: vec![part(String::new(), 0)] };
    maker.items(&wire.items, 0);
    maker.parts.retain(|part| !part.cells.is_empty() || !part.notes.is_empty() || !part.title.is_empty());
    HeaderPicture { wire: wire.name.text.clone(), headers, order, parts: maker.parts }
}

/// The default layout of a layer's header, without a wire; `None` if it differs between packets.
fn header(program: &Program, layer: &Layer) -> Option<HeaderPicture> {
    let header = layer.header.as_ref()?;
    if header.layout == Layout::Compressed || header.variants.iter().all(|variant| variant.fields.is_empty()) {
        return None;
    }
    let tag = |at: usize| (!header.is_single()).then_some(at);
    let all = header.variants.iter().enumerate();
    let big = header.variants.iter().flat_map(|variant| &variant.fields).all(|field| field.big == Some(true));
    let parts = all.map(|(at, variant)| alternative(program, (header.layout, big), variant, tag(at)));
    Some(HeaderPicture {
        wire: "where no wire says it".into(),
        headers: vec![layer.name.text.clone()],
        order: order(big),
        parts: parts.collect(),
    })
}

/// `tag` is the alternative's number, if there are several alternatives.
fn alternative(program: &Program, (layout, big): (Layout, bool), variant: &Variant, tag: Option<usize>) -> HeaderPart {
    let title = if tag.is_none() { String::new() } else { variant.name.text.clone() };
    let mut made = part(title, 0);
    let mut at = 0;
    match tag {
        Some(_) if layout == Layout::Packed => made.notes.push("in front: which alternative".into()),
        Some(tag) => {
            made.cells.push(HeaderBits { name: "tag".into(), bits: 8, says: format!("= {tag}") });
            at = 8;
        }
        None => {}
    }
    for field in &variant.fields {
        let mut says = types::show(program, field.ty);
        let mut name = field.name.text.clone();
        let mut ty = field.ty;
        // Of a vector, its length stands here; the elements come behind the header.
        if let Some(length) = length_of(program, ty) {
            made.notes.push(format!("{name}: {says}, as many as there are"));
            (name, says, ty) = (format!("{name}.length"), types::show(program, length), length);
        }
        let Some(width) = types::width(program, ty).map(u32::from) else {
            made.notes.push(format!("{name}: {says}"));
            continue;
        };
        let octets = width.div_ceil(8) * 8;
        let (fill, bits) = match layout {
            Layout::Packed => (0, width),
            Layout::Octets | Layout::Compressed => (0, octets),
            Layout::Aligned => {
                let size = (octets / 8).next_power_of_two() * 8;
                ((size - at % size) % size, size)
            }
        };
        says += &other_order(bits, field.big == Some(true), big);
        if fill > 0 {
            made.cells.push(HeaderBits { name: "-".into(), bits: fill, says: "zero; ignored".into() });
        }
        made.cells.push(HeaderBits { name, bits, says });
        at += fill + bits;
    }
    made
}

/// The type of a bounded vector's length.
fn length_of(program: &Program, ty: Type) -> Option<Type> {
    let Type::Record(id) = ty else { return None };
    program.vector(ty)?;
    Some(program.records[id.index()].fields.first()?.ty)
}

fn part(title: String, start: u32) -> HeaderPart {
    HeaderPart { title, start: start % 32, cells: Vec::new(), notes: Vec::new() }
}

/// The names of all fields, by number.
fn names_of(items: &[WireItem], names: &mut Vec<(u32, String)>) {
    for item in items {
        match item {
            WireItem::Field(field) => names.push((field.index, field.name.text.clone())),
            WireItem::Choice { arms, .. } => arms.iter().for_each(|arm| names_of(&arm.items, names)),
            WireItem::Optional { items, .. } => names_of(items, names),
            WireItem::Options(options) => options.arms.iter().for_each(|arm| names_of(option_items(arm), names)),
            WireItem::Each(each) => names_of(&each.items, names),
            WireItem::Reach(..) => {}
        }
    }
}

/// The layers whose fields the wire carries, in order.
fn headers_of(items: &[WireItem], headers: &mut Vec<String>) {
    for item in items {
        match item {
            WireItem::Field(field) => carried(&field.value, headers),
            WireItem::Choice { arms, .. } => arms.iter().for_each(|arm| headers_of(&arm.items, headers)),
            WireItem::Optional { items, .. } => headers_of(items, headers),
            WireItem::Options(options) => {
                for arm in &options.arms {
                    headers_of(option_items(arm), headers);
                }
            }
            WireItem::Each(each) => {
                carried(&each.length, headers);
                headers_of(&each.items, headers);
            }
            WireItem::Reach(..) => {}
        }
    }
}

fn carried(value: &WireValue, headers: &mut Vec<String>) {
    if let WireValue::Header { layer, .. } = value {
        if !headers.contains(&layer.text) {
            headers.push(layer.text.clone());
        }
    }
}

fn option_items(arm: &WireOption) -> &[WireItem] {
    match &arm.what {
        OptionForm::Known { items, .. } => items,
        OptionForm::End | OptionForm::Single => &[],
    }
}

struct Maker {
    names: Vec<(u32, String)>,
    /// The order of octets that the head says.
    big: bool,
    parts: Vec<HeaderPart>,
}

impl Maker {
    /// The bit after the items, as if every optional part were present; after a choice, that of its longest arm.
    fn items(&mut self, items: &[WireItem], from: u32) -> u32 {
        let (mut at, mut is_behind) = (from, false);
        for item in items {
            let goes_on = matches!(item, WireItem::Field(_) | WireItem::Options(_) | WireItem::Reach(..));
            if goes_on && std::mem::take(&mut is_behind) {
                self.parts.push(part("behind it".into(), at));
            }
            match item {
                WireItem::Field(field) => at = self.field(field, at),
                WireItem::Choice { on, arms, .. } => {
                    let mut last = at;
                    for arm in arms {
                        let mut title = format!("if {} is {}", self.name(*on), arm.tag);
                        if let Some((layer, variant)) = &arm.selects {
                            let layer = layer.as_ref().map_or(String::new(), |layer| format!("{}.", layer.text));
                            title += &format!(": {layer}{}", variant.text);
                        }
                        self.parts.push(part(title, at));
                        last = last.max(self.items(&arm.items, at));
                    }
                    (at, is_behind) = (last, true);
                }
                WireItem::Optional { when, items, .. } => {
                    self.parts.push(part(format!("if {}", self.tests(when)), at));
                    (at, is_behind) = (self.items(items, at), true);
                }
                WireItem::Options(options) => {
                    let until = self.expression(&options.until);
                    self.last().notes.push(format!("options, up to octet {until}"));
                    options.arms.iter().for_each(|arm| self.option(options, arm));
                }
                WireItem::Each(each) => {
                    self.list(each, at);
                    is_behind = true;
                }
                WireItem::Reach(to, _) => {
                    let to = self.expression(to);
                    self.last().notes.push(format!("the header reaches to octet {to}, into the message"));
                }
            }
        }
        at
    }

    /// The bit after the field.
    fn field(&mut self, field: &WireField, at: u32) -> u32 {
        let mut says = self.says(&field.value);
        if !field.constraints.is_empty() {
            says += &format!(", where {}", self.tests(&field.constraints));
        }
        let bits = u32::from(field.width);
        says += &other_order(bits, field.big, self.big);
        self.last().cells.push(HeaderBits { name: field.name.text.clone(), bits, says });
        at + bits
    }

    fn last(&mut self) -> &mut HeaderPart {
        if self.parts.is_empty() {
            self.parts.push(part(String::new(), 0));
        }
        let last = self.parts.len() - 1;
        &mut self.parts[last]
    }

    fn list(&mut self, each: &WireEach, at: u32) {
        let of = self.says(&each.length);
        let of = of.strip_suffix(".length").unwrap_or(&of);
        let end = if each.to_end { ", up to the packet's end" } else { "" };
        self.parts.push(part(format!("each of {of}{end}"), at));
        self.items(&each.items, at);
    }

    fn option(&mut self, options: &WireOptions, arm: &WireOption) {
        let ((kind, kind_bits), (length, length_bits)) = (&options.kind, &options.length);
        let mut made = part(format!("option {}", arm.kind), 0);
        let says = format!("= {}", arm.kind);
        made.cells.push(HeaderBits { name: kind.text.clone(), bits: (*kind_bits).into(), says });
        match &arm.what {
            OptionForm::End => made.notes.push("the list ends here".into()),
            OptionForm::Single => made.notes.push("passed over".into()),
            OptionForm::Known { present, items } => {
                made.title += &format!(", if {}", self.says(present));
                let says = "octets of the option".to_string();
                made.cells.push(HeaderBits { name: length.text.clone(), bits: (*length_bits).into(), says });
                self.parts.push(made);
                self.items(items, u32::from(*kind_bits) + u32::from(*length_bits));
                return;
            }
        }
        self.parts.push(made);
    }

    fn says(&self, value: &WireValue) -> String {
        match value {
            WireValue::Constant(value) => format!("= {value}"),
            WireValue::Header { layer, variant, field, times, plus } => {
                let variant = variant.as_ref().map_or(String::new(), |variant| format!("{}.", variant.text));
                let times = if *times == 1 { String::new() } else { format!(" * {times}") };
                let plus = if *plus == 0 { String::new() } else { format!(" + {plus}") };
                format!("{}.{variant}{}{times}{plus}", layer.text, field.text)
            }
            WireValue::Computed(expression) => self.expression(expression),
            WireValue::Tag => "selects the form below".into(),
            WireValue::Unread => "zero; ignored".into(),
            WireValue::Preserved => "ignored, and kept".into(),
        }
    }

    fn name(&self, index: u32) -> &str {
        self.names.iter().find(|(known, _)| *known == index).map_or("?", |(_, name)| name)
    }

    fn tests(&self, tests: &[(WireExpr, Binary, WireExpr)]) -> String {
        let one = |(left, sign, right): &(WireExpr, Binary, WireExpr)| {
            format!("{} {} {}", self.expression(left), sign_of(*sign), self.expression(right))
        };
        tests.iter().map(one).collect::<Vec<_>>().join(" and ")
    }

    fn expression(&self, expression: &WireExpr) -> String {
        match expression {
            WireExpr::Number(number) => number.to_string(),
            WireExpr::Field(index) => self.name(*index).to_string(),
            WireExpr::PacketSize => "size(packet)".into(),
            WireExpr::HeaderSize => "size(header)".into(),
            WireExpr::PayloadSize => "size(payload)".into(),
            WireExpr::HeaderChecksum => "checksum(header)".into(),
            WireExpr::PacketChecksum => "checksum(packet)".into(),
            WireExpr::Binary { op, a, b } => {
                format!("{} {} {}", self.expression(a), sign_of(*op), self.expression(b))
            }
        }
    }
}

fn sign_of(op: Binary) -> &'static str {
    match op {
        Binary::Add | Binary::AddWrap => "+",
        Binary::Sub | Binary::SubWrap => "-",
        Binary::Mul | Binary::MulWrap => "*",
        Binary::Div => "/",
        Binary::Rem => "%",
        Binary::BitAnd => "&",
        Binary::BitOr => "|",
        Binary::BitXor => "^",
        Binary::Shl => "<<",
        Binary::Shr => ">>",
        Binary::And => "and",
        Binary::Or => "or",
        Binary::Eq => "==",
        Binary::Ne => "!=",
        Binary::Lt => "<",
        Binary::Le => "<=",
        Binary::Gt => ">",
        Binary::Ge => ">=",
        Binary::Min => "min",
        Binary::Max => "max",
    }
}
