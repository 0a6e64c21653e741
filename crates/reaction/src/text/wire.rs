//! Reads wires.

use mokume_base::Span;

use super::cursor::{fault, unknown, Cursor, Read};
use super::parser::Parser;
use super::token::{Line, TokenKind};
use crate::place::Place;
use crate::*;

/// A wire with only a name, for its table.
pub fn empty(name: &str) -> Wire {
    Wire { name: name.to_owned(), headers: Vec::new(), endian: Endian::Big, items: Vec::new(), short: ReasonId(0) }
}

/// Reads the wire at `index`: `wire name big { headers …  short …  items }`.
pub fn read(parser: &mut Parser, index: usize, cursor: &mut Cursor, body: &[Line]) -> Read<()> {
    cursor.path()?;
    let endian = endian(cursor).unwrap_or(Endian::Big);
    cursor.expect("{")?;
    let mut reader = Reader { parser, wire: WireId::from(index), endian, lines: body, at: 0, fields: Vec::new() };
    let headers = reader.headers()?;
    let short = reader.short()?;
    reader.name_fields();
    let mut next = 0;
    let items = reader.items(&mut next);
    let wire = &mut parser.automaton.wires[index];
    (wire.headers, wire.endian, wire.items, wire.short) = (headers, endian, items, short);
    Ok(())
}

pub(super) fn endian(cursor: &mut Cursor) -> Option<Endian> {
    if cursor.word("big") {
        return Some(Endian::Big);
    }
    cursor.word("little").then_some(Endian::Little)
}

pub(super) struct Reader<'p, 'a> {
    pub(super) parser: &'p mut Parser,
    wire: WireId,
    endian: Endian,
    pub(super) lines: &'a [Line],
    pub(super) at: usize,
    /// The names of all fields, in order: expressions may name later ones.
    fields: Vec<String>,
}

impl<'a> Reader<'_, 'a> {
    fn line(&mut self, word: &str) -> Read<Cursor<'a>> {
        let Some(line) = self.lines.get(self.at) else {
            let span = self.parser.places.span(Place::Wire(self.wire));
            let message = format!("a wire starts with a line `{word} …`");
            return Err(fault(codes::SYNTAX, message, span.unwrap_or(Span::new(mokume_base::FileId(0), 0, 0))));
        };
        let mut cursor = Cursor::new(line);
        cursor.expect_word(word)?;
        self.at += 1;
        Ok(cursor)
    }

    fn headers(&mut self) -> Read<Vec<HeaderId>> {
        let mut cursor = self.line("headers")?;
        let mut headers = Vec::new();
        while !cursor.is_at_end() {
            if !headers.is_empty() {
                cursor.expect(",")?;
            }
            headers.push(self.parser.header_at(&mut cursor)?);
        }
        Ok(headers)
    }

    fn short(&mut self) -> Read<ReasonId> {
        let mut cursor = self.line("short")?;
        let reason = self.parser.reason_at(&mut cursor)?;
        cursor.end()?;
        Ok(reason)
    }

    fn name_fields(&mut self) {
        for line in self.lines.iter().filter(|line| line.starts_with("field")) {
            let mut cursor = Cursor::new(line);
            cursor.word("field");
            self.fields.push(cursor.name().unwrap_or_default());
        }
    }

    /// Reads items up to the closing `}`, which stays unread.
    pub(super) fn items(&mut self, next: &mut u32) -> Vec<WireItem> {
        let mut items = Vec::new();
        while let Some(line) = self.lines.get(self.at) {
            if line.ends_with("}") && line.tokens.len() == 1 {
                break;
            }
            self.at += 1;
            let read = if line.starts_with("field") {
                self.field(line, next)
            } else if line.starts_with("choice") {
                self.choice(line, next)
            } else if line.starts_with("optional") {
                self.optional(line, next)
            } else if line.starts_with("options") {
                self.options(line, next)
            } else if line.starts_with("list") {
                self.list(line, next)
            } else if line.starts_with("reach") {
                self.reach(line)
            } else {
                Cursor::new(line).wanted("`field`, `choice`, `optional`, `options`, `list` or `reach`")
            };
            match read {
                Ok(item) => items.push(item),
                Err(fault) => self.parser.report(fault),
            }
        }
        items
    }

    fn field(&mut self, line: &Line, next: &mut u32) -> Read<WireItem> {
        let index = FieldIndex(*next);
        *next += 1;
        let wire = self.wire;
        self.parser.set_place(Place::WireField(wire, index), line.span());
        let mut cursor = Cursor::new(line);
        cursor.word("field");
        let name = cursor.name()?;
        cursor.expect(":")?;
        let span = cursor.span();
        let width = cursor.small()?;
        let width = u8::try_from(width).map_err(|_| fault(codes::NUMBER, "a field has 1 to 64 bits", span))?;
        let endian = endian(&mut cursor).unwrap_or(self.endian);
        let value = self.value(&mut cursor)?;
        let trims_packet = cursor.word("trims");
        let trims_plus = if trims_packet && cursor.mark("+") { u64::from(cursor.small()?) } else { 0 };
        cursor.end()?;
        let constraints = self.constraints();
        let field = WireField { index, name, width, endian, value, constraints, trims_packet, trims_plus };
        Ok(WireItem::Field(field))
    }

    fn constraints(&mut self) -> Vec<WireConstraint> {
        let mut found = Vec::new();
        while let Some(line) = self.lines.get(self.at).filter(|line| line.starts_with("require")) {
            self.at += 1;
            match self.constraint(line) {
                Ok(constraint) => found.push(constraint),
                Err(fault) => self.parser.report(fault),
            }
        }
        found
    }

    fn constraint(&mut self, line: &Line) -> Read<WireConstraint> {
        let mut cursor = Cursor::new(line);
        cursor.word("require");
        let WireTest { left, compare, right } = self.test(&mut cursor)?;
        let otherwise = self.otherwise(&mut cursor)?;
        cursor.end()?;
        Ok(WireConstraint { left, compare, right, otherwise })
    }

    pub(super) fn test(&mut self, cursor: &mut Cursor) -> Read<WireTest> {
        let left = self.sum(cursor, 0)?;
        let Some(compare) = Compare::AS_READ.into_iter().find(|compare| cursor.mark(compare.sign())) else {
            return cursor.wanted("a comparison");
        };
        let right = self.sum(cursor, 0)?;
        Ok(WireTest { left, compare, right })
    }

    fn otherwise(&mut self, cursor: &mut Cursor) -> Read<ReasonId> {
        cursor.expect_word("else")?;
        self.parser.reason_at(cursor)
    }

    fn value(&mut self, cursor: &mut Cursor) -> Read<FieldValue> {
        if cursor.mark("=") {
            let value = cursor.number()?;
            return Ok(FieldValue::Constant { value, otherwise: self.otherwise(cursor)? });
        }
        if cursor.word("from") {
            return self.header_field(cursor);
        }
        if cursor.word("computed") {
            let expression = self.sum(cursor, 0)?;
            return Ok(FieldValue::Computed { expression, otherwise: self.otherwise(cursor)? });
        }
        for (word, value) in
            [("tag", FieldValue::Tag), ("placed", FieldValue::Placed), ("reserved", FieldValue::Reserved)]
        {
            if cursor.word(word) {
                return Ok(value);
            }
        }
        cursor.wanted("`= number`, `from`, `computed`, `tag`, `placed` or `reserved`")
    }

    /// Reads `from udp.Hdr.length * 4 + 8 else reason`.
    fn header_field(&mut self, cursor: &mut Cursor) -> Read<FieldValue> {
        let (header, variant, field) = self.place_in_header(cursor)?;
        let times = if cursor.mark("*") { cursor.number()? } else { 1 };
        let plus = if cursor.mark("+") { cursor.number()? } else { 0 };
        let otherwise = if cursor.is_word("else") { Some(self.otherwise(cursor)?) } else { None };
        Ok(FieldValue::Header { header, variant, field, times, plus, otherwise })
    }

    /// Reads `udp.Hdr.length`.
    pub(super) fn place_in_header(&mut self, cursor: &mut Cursor) -> Read<(HeaderId, VariantId, u32)> {
        let start = cursor.position();
        let mut path = cursor.path()?;
        let span = cursor.span_from(start);
        let name = path.pop().unwrap_or_default();
        let (header, variant) = self.parser.variant_named(&path, span)?;
        let fields = &self.parser.automaton.headers[header.index()].variants[variant.index()].fields;
        let found = fields.iter().position(|(known, _)| *known == name);
        let known = fields.iter().map(|(name, _)| name.as_str());
        let field = found.ok_or_else(|| unknown("field", &name, span, known))? as u32;
        Ok((header, variant, field))
    }

    fn choice(&mut self, line: &Line, next: &mut u32) -> Read<WireItem> {
        let mut cursor = Cursor::new(line);
        cursor.word("choice");
        let head = self.choice_head(&mut cursor);
        let mut arms = Vec::new();
        while let Some(line) = self.lines.get(self.at) {
            self.at += 1;
            if line.starts_with("case") {
                let arm = self.arm(line);
                let items = self.items(next);
                self.at += 1;
                match arm {
                    Ok(arm) => arms.push(WireArm { items, ..arm }),
                    Err(fault) => self.parser.report(fault),
                }
            } else if line.ends_with("}") && line.tokens.len() == 1 {
                break;
            } else {
                let fault = Cursor::new(line).wanted::<()>("`case`");
                fault.unwrap_or_else(|fault| self.parser.report(fault));
            }
        }
        let (on, unknown) = head?;
        Ok(WireItem::Choice { on, arms, unknown })
    }

    fn choice_head(&mut self, cursor: &mut Cursor) -> Read<(FieldIndex, ReasonId)> {
        let on = self.field_index(cursor)?;
        let unknown = self.otherwise(cursor)?;
        cursor.expect("{")?;
        Ok((on, unknown))
    }

    /// Reads `case 3 select cr.Hdr.Grant where cr.Hdr.Grant.last = 0 {`, without its items.
    fn arm(&mut self, line: &Line) -> Read<WireArm> {
        let mut cursor = Cursor::new(line);
        cursor.word("case");
        let tag = cursor.number()?;
        let mut selects = Vec::new();
        if cursor.word("select") {
            selects.push(self.parser.variant_at(&mut cursor)?);
            while cursor.mark(",") {
                selects.push(self.parser.variant_at(&mut cursor)?);
            }
        }
        let mut commons = Vec::new();
        if cursor.word("where") {
            commons.push(self.common(&mut cursor)?);
            while cursor.mark(",") {
                commons.push(self.common(&mut cursor)?);
            }
        }
        cursor.expect("{")?;
        cursor.end()?;
        Ok(WireArm { tag, selects, commons, items: Vec::new() })
    }

    fn common(&mut self, cursor: &mut Cursor) -> Read<WireCommon> {
        let (header, variant, field) = self.place_in_header(cursor)?;
        cursor.expect("=")?;
        Ok(WireCommon { header, variant, field, value: cursor.number()? })
    }

    /// Reads a field by name, or `%3` by number.
    pub(super) fn field_index(&mut self, cursor: &mut Cursor) -> Read<FieldIndex> {
        if cursor.mark("%") {
            return cursor.small().map(FieldIndex);
        }
        let span = cursor.span();
        let name = cursor.name()?;
        let mut found = self.fields.iter().enumerate().filter(|(_, known)| **known == name);
        match (found.next(), found.next()) {
            (Some((index, _)), None) => Ok(FieldIndex(index as u32)),
            (None, _) => Err(unknown("field", &name, span, self.fields.iter().map(String::as_str))),
            _ => {
                let message = format!("several fields are named `{name}`: say which by its number from 0, as in `%3`");
                Err(fault(codes::UNKNOWN, message, span))
            }
        }
    }

    /// Reads `+` and `-`, then `*` and `/`, both left-associative. `depth` limits the nesting.
    pub(super) fn sum(&mut self, cursor: &mut Cursor, depth: u32) -> Read<WireExpression> {
        let mut left = self.product(cursor, depth)?;
        loop {
            let make = if cursor.mark("+") {
                WireExpression::Add
            } else if cursor.mark("-") {
                WireExpression::Sub
            } else {
                return Ok(left);
            };
            left = make(Box::new(left), Box::new(self.product(cursor, depth)?));
        }
    }

    fn product(&mut self, cursor: &mut Cursor, depth: u32) -> Read<WireExpression> {
        let mut left = self.part(cursor, depth)?;
        loop {
            let make = if cursor.mark("*") {
                WireExpression::Mul
            } else if cursor.mark("/") {
                WireExpression::Div
            } else {
                return Ok(left);
            };
            left = make(Box::new(left), Box::new(self.part(cursor, depth)?));
        }
    }

    fn part(&mut self, cursor: &mut Cursor, depth: u32) -> Read<WireExpression> {
        if depth > 100 {
            return Err(fault(codes::SYNTAX, "an expression nested this deep is not read", cursor.span()));
        }
        if cursor.mark("(") {
            let inner = self.sum(cursor, depth + 1)?;
            cursor.expect(")")?;
            return Ok(inner);
        }
        if let Some(TokenKind::Number(_)) = cursor.peek() {
            return cursor.number().map(WireExpression::Number);
        }
        const KNOWN: &[(&str, WireExpression)] = &[
            ("packet_size", WireExpression::PacketSize),
            ("header_size", WireExpression::HeaderSize),
            ("payload_size", WireExpression::PayloadSize),
            ("header_checksum", WireExpression::HeaderChecksum),
            ("packet_checksum", WireExpression::PacketChecksum),
        ];
        if cursor.peek_second() == Some(&TokenKind::Mark("(")) {
            if let Some((_, expression)) = KNOWN.iter().find(|(word, _)| cursor.is_word(word)) {
                cursor.name()?;
                cursor.expect("(")?;
                cursor.expect(")")?;
                return Ok(expression.clone());
            }
        }
        self.field_index(cursor).map(WireExpression::Field)
    }
}
