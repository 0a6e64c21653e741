//! Headers as in RFCs, 32 bits a row: the places of a wire's fields, for each alternative of its choices.
//!
//! Keeps: every field of the wire is in exactly one part, at its bit; widths of the cells add up to those of the
//! fields.

use mokume_reaction::{
    Automaton, Compare, Endian, FieldIndex, FieldValue, OptionArm, VariantId, Wire, WireArm, WireConstraint,
    WireExpression, WireField, WireItem, WireTest,
};

/// What is said where there is nothing to draw.
pub(crate) const NONE: &str = "no layer of this stack has a header";

/// The pictures of one wire.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeaderPicture {
    pub wire: String,
    /// The headers that it carries, outermost first.
    pub headers: Vec<String>,
    pub order: &'static str,
    pub parts: Vec<HeaderPart>,
}

/// Contiguous fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeaderPart {
    /// The condition under which the part is present; empty for the beginning of the packet.
    pub title: String,
    /// The bit of the first row at which the part begins.
    pub start: u32,
    pub cells: Vec<HeaderBits>,
    /// Notes on parts that are not fields: a list of options, a header that reaches into the message.
    pub notes: Vec<String>,
}

/// One cell of the picture: a field, or something like one, such as an option's length.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeaderBits {
    pub name: String,
    pub bits: u32,
    /// Where the value comes from.
    pub says: String,
}

impl HeaderPicture {
    /// `W: a.Header b.Header, big endian`; a wire whose fields layers below write carries none.
    pub(crate) fn head(&self) -> String {
        let headers = if self.headers.is_empty() { String::new() } else { format!(": {}", self.headers.join(" ")) };
        format!("{}{headers}, {}", self.wire, self.order)
    }
}

/// All wires of an automaton, in order.
pub fn header_pictures(automaton: &Automaton) -> Vec<HeaderPicture> {
    automaton.wires.iter().map(|wire| picture(automaton, wire)).collect()
}

fn picture(automaton: &Automaton, wire: &Wire) -> HeaderPicture {
    let name = |header: &mokume_reaction::HeaderId| automaton.headers[header.index()].name.clone();
    let order = order(wire.endian == Endian::Big);
    let mut maker = Maker { automaton, wire, parts: vec![part(String::new(), 0)] };
    maker.items(&wire.items, 0);
    maker.parts.retain(|part| !part.cells.is_empty() || !part.notes.is_empty() || !part.title.is_empty());
    HeaderPicture {
        wire: wire.name.clone(),
        headers: wire.headers.iter().map(name).collect(),
        order,
        parts: maker.parts,
    }
}

/// The order of octets in a header's words.
pub fn order(big: bool) -> &'static str {
    if big {
        "big endian"
    } else {
        "little endian"
    }
}

/// What is said behind a field of these bits whose order is not that of its header; empty for others.
pub fn other_order(bits: u32, big: bool, head: bool) -> String {
    match bits > 8 && bits.is_multiple_of(8) && big != head {
        true => format!(", {}", order(big)),
        false => String::new(),
    }
}

fn part(title: String, start: u32) -> HeaderPart {
    HeaderPart { title, start: start % 32, cells: Vec::new(), notes: Vec::new() }
}

struct Maker<'a> {
    automaton: &'a Automaton,
    wire: &'a Wire,
    parts: Vec<HeaderPart>,
}

impl Maker<'_> {
    /// The bit after the items, assuming that every part is present; after a choice, that of its longest arm.
    fn items(&mut self, items: &[WireItem], from: u32) -> u32 {
        let mut at = from;
        let mut fresh = false;
        for item in items {
            let goes_on = matches!(item, WireItem::Field(_) | WireItem::Options(_) | WireItem::Reach(_));
            if goes_on && std::mem::take(&mut fresh) {
                self.parts.push(part("behind it".into(), at));
            }
            match item {
                WireItem::Field(field) => at = self.field(field, at),
                WireItem::Choice { on, arms, .. } => {
                    let ends: Vec<u32> = arms.iter().map(|arm| self.arm(*on, arm, at)).collect();
                    at = ends.into_iter().max().unwrap_or(at);
                    fresh = true;
                }
                WireItem::Optional { when, .. } if elements(item).len() > 1 => {
                    let count = when.first().map_or(String::new(), |test| self.expression(&test.left));
                    at = self.elements(&count, &elements(item), at);
                    fresh = true;
                }
                WireItem::Optional { when, items } => {
                    let title =
                        format!("if {}", when.iter().map(|test| self.test(test)).collect::<Vec<_>>().join(" and "));
                    self.parts.push(part(title, at));
                    at = self.items(items, at);
                    fresh = true;
                }
                WireItem::Options(options) => {
                    let note = format!("options, up to octet {}", self.expression(&options.until));
                    self.last().notes.push(note);
                    options.arms.iter().for_each(|arm| self.option(options, arm));
                }
                WireItem::List(list) => {
                    self.list(list, at);
                    fresh = true;
                }
                WireItem::Reach(to) => {
                    let note = format!("the header reaches to octet {}, into the message", self.expression(to));
                    self.last().notes.push(note);
                }
            }
        }
        at
    }

    /// A vector's elements: one stands for all. The bit behind the last.
    fn elements(&mut self, count: &str, elements: &[Vec<&WireField>], at: u32) -> u32 {
        self.parts.push(part(format!("each of up to {}: {count}", elements.len()), at));
        let mut behind = at;
        for (one, other) in elements[0].iter().zip(&elements[1]) {
            behind = self.field(one, behind);
            let says = self.told(other);
            if let Some(cell) = self.last().cells.last_mut() {
                cell.name = of_all(&cell.name, &other.name);
                cell.says = of_all(&cell.says, &says);
            }
        }
        at + (behind - at) * elements.len() as u32
    }

    /// The bit behind the field.
    fn field(&mut self, field: &WireField, at: u32) -> u32 {
        let says = self.told(field);
        self.last().cells.push(HeaderBits { name: field.name.clone(), bits: field.width.into(), says });
        at + u32::from(field.width)
    }

    /// Where the field's value comes from, and what must hold of it.
    fn told(&self, field: &WireField) -> String {
        let [big, head] = [field.endian, self.wire.endian].map(|endian| endian == Endian::Big);
        let says = self.says(&field.value) + &other_order(field.width.into(), big, head);
        let wanted = field.constraints.iter().map(|WireConstraint { left, compare, right, .. }| {
            format!("{} {} {}", self.expression(left), compare.sign(), self.expression(right))
        });
        let wanted: Vec<String> = wanted.collect();
        if wanted.is_empty() {
            says
        } else {
            format!("{says}, where {}", wanted.join(" and "))
        }
    }

    fn test(&self, test: &WireTest) -> String {
        format!("{} {} {}", self.expression(&test.left), test.compare.sign(), self.expression(&test.right))
    }

    fn last(&mut self) -> &mut HeaderPart {
        if self.parts.is_empty() {
            self.parts.push(part(String::new(), 0));
        }
        let last = self.parts.len() - 1;
        &mut self.parts[last]
    }

    /// One element stands for all: they are alike.
    fn list(&mut self, list: &mokume_reaction::WireList, at: u32) {
        let count = self.header_field(list.header, list.variant, list.count);
        let most = list.most();
        let title = match list.to_end {
            Some(_) => format!("each of up to {most} up to the packet's end: {count}"),
            None => format!("each of up to {most}: {count}"),
        };
        self.parts.push(part(title, at));
        if let Some(element) = list.elements.first() {
            let before = self.parts.len() - 1;
            self.items(element, at);
            for cell in self.parts.iter_mut().skip(before).flat_map(|part| &mut part.cells) {
                cell.name = cell.name.replacen("[0]", ".*", 1);
                cell.says = cell.says.replacen("[0]", ".*", 1);
            }
        }
    }

    fn arm(&mut self, on: FieldIndex, arm: &WireArm, at: u32) -> u32 {
        let mut title = format!("if {} is {}", self.field_name(on), arm.tag);
        let selects = arm.selects.iter().map(|(header, variant)| self.variant(*header, *variant));
        let commons = arm.commons.iter().map(|common| {
            let name = self.header_field(common.header, common.variant, common.field);
            format!("{name} = {}", common.value)
        });
        let said: Vec<String> = selects.chain(commons).collect();
        if !said.is_empty() {
            title += &format!(": {}", said.join(", "));
        }
        self.parts.push(part(title, at));
        self.items(&arm.items, at)
    }

    fn option(&mut self, options: &mokume_reaction::WireOptions, arm: &OptionArm) {
        let (kind, length) = (&options.kind, &options.length);
        let mut made = part(format!("option {}", arm.kind()), 0);
        made.cells.push(HeaderBits {
            name: kind.name.clone(),
            bits: kind.width.into(),
            says: format!("= {}", arm.kind()),
        });
        match arm {
            OptionArm::End { .. } => made.notes.push("the list ends here".into()),
            OptionArm::Single { .. } => made.notes.push("passed over".into()),
            OptionArm::Known { header, variant, field, items, repeat, .. } => {
                made.title += &format!(", if {}", self.header_field(*header, *variant, *field));
                // The picture of a list shows all its possible elements.
                let most = if repeat.is_some() { "at most " } else { "" };
                let says = format!("{most}{} octets", options.head() + arm.octets());
                made.cells.push(HeaderBits { name: length.name.clone(), bits: length.width.into(), says });
                self.parts.push(made);
                self.items(items, u32::from(kind.width) + u32::from(length.width));
                return;
            }
        }
        self.parts.push(made);
    }

    fn says(&self, value: &FieldValue) -> String {
        match value {
            FieldValue::Constant { value, .. } => format!("= {value}"),
            FieldValue::Header { header, variant, field, times, plus, .. } => {
                let times = if *times == 1 { String::new() } else { format!(" * {times}") };
                let plus = if *plus == 0 { String::new() } else { format!(" + {plus}") };
                format!("{}{times}{plus}", self.header_field(*header, *variant, *field))
            }
            FieldValue::Computed { expression, .. } => self.expression(expression),
            FieldValue::Tag => "selects the form below".into(),
            FieldValue::Placed => "written by a layer below the codec".into(),
            FieldValue::Reserved => "zero; ignored".into(),
        }
    }

    fn header_field(&self, header: mokume_reaction::HeaderId, variant: VariantId, field: u32) -> String {
        let found = &self.automaton.headers[header.index()].variants[variant.index()];
        let name = found.fields.get(field as usize).map_or("?", |(name, _)| name);
        format!("{}.{name}", self.variant(header, variant))
    }

    /// `Numbers.Data`; for a single record only the layer.
    fn variant(&self, header: mokume_reaction::HeaderId, variant: VariantId) -> String {
        let found = &self.automaton.headers[header.index()];
        let layer = found.name.strip_suffix(".Header").unwrap_or(&found.name);
        match found.variants.len() {
            1 => layer.to_string(),
            _ => format!("{layer}.{}", found.variants[variant.index()].name),
        }
    }

    fn field_name(&self, index: FieldIndex) -> String {
        let fields = WireItem::fields(&self.wire.items);
        fields.iter().find(|field| field.index == index).map_or("?".into(), |field| field.name.clone())
    }

    fn expression(&self, expression: &WireExpression) -> String {
        use WireExpression as E;
        let two = |a: &E, sign: &str, b: &E| format!("{} {sign} {}", self.expression(a), self.expression(b));
        match expression {
            E::Number(number) => number.to_string(),
            E::Field(index) => self.field_name(*index),
            E::PacketSize => "size(packet)".into(),
            E::HeaderSize => "size(header)".into(),
            E::PayloadSize => "size(payload)".into(),
            E::HeaderChecksum => "checksum(header)".into(),
            E::PacketChecksum => "checksum(packet)".into(),
            E::Add(a, b) => two(a, "+", b),
            E::Sub(a, b) => two(a, "-", b),
            E::Mul(a, b) => two(a, "*", b),
            E::Div(a, b) => two(a, "/", b),
        }
    }
}

/// A vector's elements, as far as this is one: the fields that are there if it has more than none, within them those that are there if it
/// has more than one, and so on.
fn elements(item: &WireItem) -> Vec<Vec<&WireField>> {
    let mut all: Vec<Vec<&WireField>> = Vec::new();
    let mut next = Some(item);
    let mut counted = None;
    while let Some(WireItem::Optional { when, items }) = next {
        let [WireTest { left, compare: Compare::Gt, right: WireExpression::Number(number) }] = when.as_slice() else {
            break;
        };
        let is_next = *number == all.len() as u64 && *counted.get_or_insert(left) == left;
        let (own, inner) = match items.as_slice() {
            [own @ .., inner @ WireItem::Optional { .. }] => (own, Some(inner)),
            own => (own, None),
        };
        let fields: Option<Vec<&WireField>> =
            own.iter().map(|item| if let WireItem::Field(field) = item { Some(field) } else { None }).collect();
        let Some(fields) = fields.filter(|fields| is_next && !fields.is_empty()) else { break };
        let alike = |first: &Vec<&WireField>| {
            let is_alike = |(one, other): (&&WireField, &&WireField)| {
                one.width == other.width && is_numbered(&one.name, &other.name, all.len())
            };
            first.len() == fields.len() && first.iter().zip(&fields).all(is_alike)
        };
        if !all.first().is_none_or(alike) {
            break;
        }
        all.push(fields);
        next = inner;
    }
    // What is left of it is not drawn by one element.
    if next.is_some() {
        all.clear();
    }
    all
}

/// Whether names are those of the first element and of another: `members_0`, `members_3` or `members[0]`, `members[3]`; in a wire all
/// have one name.
fn is_numbered(first: &str, other: &str, place: usize) -> bool {
    first == other
        || first.match_indices("_0").any(|(at, _)| format!("{}_{place}{}", &first[..at], &first[at + 2..]) == other)
        || first.match_indices("[0]").any(|(at, _)| format!("{}[{place}]{}", &first[..at], &first[at + 3..]) == other)
}

/// `members`, of `members_0` and `members_1`; `members.*`, of `members[0]` and `members[1]`; what is no such pair stays.
fn of_all(first: &str, second: &str) -> String {
    let mut elements = first.match_indices("[0]").map(|(at, _)| (&first[..at], &first[at + 3..]));
    if let Some((before, behind)) = elements.find(|(before, behind)| format!("{before}[1]{behind}") == second) {
        return format!("{before}.*{behind}");
    }
    let mut places = first.match_indices("_0").map(|(at, _)| (&first[..at], &first[at + 2..]));
    let found = places.find(|(before, behind)| format!("{before}_1{behind}") == second);
    found.map_or_else(|| first.to_string(), |(before, behind)| format!("{before}{behind}"))
}

/// A cell's part in one row: which cell, its columns, and whether the name stands here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    pub cell: usize,
    pub from: u32,
    pub to: u32,
    pub named: bool,
}

/// The rows of a part: a long field extends over several, and is named in the row with most of it.
pub(crate) fn rows(part: &HeaderPart) -> Vec<Vec<Piece>> {
    let mut rows: Vec<Vec<Piece>> = Vec::new();
    let mut at = part.start;
    for (cell, found) in part.cells.iter().enumerate() {
        let end = at + found.bits;
        let mut pieces = Vec::new();
        while at < end {
            let row = (at / 32) as usize;
            let stop = end.min((row as u32 + 1) * 32);
            pieces.push((row, Piece { cell, from: at % 32, to: stop - row as u32 * 32, named: false }));
            at = stop;
        }
        let widest = pieces.iter().map(|(_, piece)| piece.to - piece.from).max().unwrap_or(0);
        let wide: Vec<usize> = (0..pieces.len()).filter(|at| pieces[*at].1.to - pieces[*at].1.from == widest).collect();
        if let Some(named) = wide.get((wide.len().max(1) - 1) / 2) {
            pieces[*named].1.named = true;
        }
        for (row, piece) in pieces {
            rows.resize(rows.len().max(row + 1), Vec::new());
            rows[row].push(piece);
        }
    }
    rows
}
