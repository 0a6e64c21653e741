//! Reads operations, one line each, as the table describes their text.

use std::borrow::Cow;

use super::body::BodyReader;
use super::cursor::{fault, unknown, Cursor, Read};
use super::token::TokenKind;
use crate::operation::template::{self, Head, Piece, Written};
use crate::operation::{Kind, Row, Slot};
use crate::*;

/// The fields read so far, by index.
type Slots = Vec<Option<Slot<'static>>>;

impl BodyReader<'_> {
    /// Reads an operation up to its source mark.
    pub fn operation(&mut self, cursor: &mut Cursor) -> Read<OpKind> {
        if let Some(constant) = self.constant(cursor)? {
            return Ok(constant);
        }
        let (row, slots) = self.by_table(template::plain(), cursor)?;
        OpKind::of_slots(row, slots).map_or_else(|| cursor.wanted("another operand"), Ok)
    }

    /// Reads an operation that may refuse, up to its targets.
    pub fn fallible(&mut self, cursor: &mut Cursor) -> Read<Fallible> {
        let (row, slots) = self.by_table(template::fallible(), cursor)?;
        Fallible::of_slots(row, slots).map_or_else(|| cursor.wanted("another operand"), Ok)
    }

    /// Reads a constant with a name: `one = 1:u32`, `idle = State.idle`, `none = null @seq.S`.
    fn constant(&mut self, cursor: &mut Cursor) -> Read<Option<OpKind>> {
        let literal = match cursor.peek() {
            Some(TokenKind::Number(_)) => true,
            Some(TokenKind::Name(name)) if ["true", "false", "null", "reason"].contains(&name.as_str()) => true,
            Some(TokenKind::Name(name)) => {
                let is_enum = self.automaton().enums.iter().any(|found| found.name.split('.').next() == Some(name));
                is_enum && cursor.peek_second() == Some(&TokenKind::Mark("."))
            }
            _ => false,
        };
        if !literal {
            return Ok(None);
        }
        let span = cursor.span();
        let value = self.operand(cursor)?;
        self.pending.retain(|(waiting, ..)| *waiting != value);
        let untyped = || fault(codes::LITERAL, "a constant with a name says its type, as in `one = 1:u32`", span);
        self.constants.remove(&value).map(Some).ok_or_else(untyped)
    }

    /// Finds the row whose text is at the cursor, and reads its fields.
    fn by_table(&mut self, table: &'static [Written], cursor: &mut Cursor) -> Read<(usize, Vec<Slot<'static>>)> {
        let position = cursor.position();
        let mut word = cursor.name()?;
        if cursor.mark(".") {
            word = format!("{word}.{}", cursor.name()?);
        }
        let span = cursor.span_from(position);
        let mut open: Vec<(&Written, Slots)> =
            table.iter().filter_map(|written| Some((written, begun(written, &word)?))).collect();
        let Some((first, slots)) = open.first() else {
            return Err(unknown("operation", &word, span, template::words().into_iter()));
        };
        let (mut first, mut slots) = (*first, slots.clone());
        // Rows that begin alike are told apart by the first mark or word that differs.
        let mut at = 0;
        loop {
            let next = |written: &Written| written.pieces.get(at).cloned();
            if open.iter().any(|(other, _)| next(other) != next(first)) {
                let stands = |written: &Written| match next(written) {
                    Some(Piece::Text(text)) => stands_at(cursor, text),
                    Some(Piece::Field(_) | Piece::Perhaps(_)) => false,
                    None => false,
                };
                let found = open.iter().find(|(written, _)| stands(written));
                let ended = || open.iter().find(|(written, _)| next(written).is_none());
                first = found.or_else(ended).map_or(first, |(written, _)| *written);
                open.retain(|(written, _)| written.row == first.row);
                slots.resize(first.of.fields.len(), None);
            }
            let Some(piece) = next(first) else { break };
            self.read_piece(&piece, first.of, &mut slots, cursor)?;
            at += 1;
        }
        let fields = first.of.fields.iter().zip(slots);
        Ok((first.row, fields.map(|((_, kind), slot)| slot.unwrap_or_else(|| left_out(*kind))).collect()))
    }

    fn read_piece(&mut self, piece: &Piece, row: &Row, slots: &mut Slots, cursor: &mut Cursor) -> Read<()> {
        match piece {
            Piece::Text(text) => expect(cursor, text),
            Piece::Field(place) => self.read_field(*place, row, slots, cursor),
            Piece::Perhaps(pieces) => {
                let Some(Piece::Text(first)) = pieces.first() else { return Ok(()) };
                if stands_at(cursor, first) {
                    for piece in pieces {
                        self.read_piece(piece, row, slots, cursor)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Reads the content of a field: an arm for each kind of field, or for kinds that are written alike.
    fn read_field(&mut self, place: usize, row: &Row, slots: &mut Slots, cursor: &mut Cursor) -> Read<()> {
        let kind = row.fields[place].1;
        let slot = match kind {
            Kind::Scalar | Kind::Bits | Kind::Alike | Kind::Operand | Kind::Compared | Kind::Truth => {
                Slot::Value(self.operand(cursor)?)
            }
            Kind::Word32 | Kind::Word64 | Kind::Count | Kind::Content | Kind::Reason => {
                Slot::Value(self.operand(cursor)?)
            }
            Kind::Element | Kind::AttributeValue | Kind::Item => Slot::Value(self.operand(cursor)?),
            Kind::Array | Kind::Whole => Slot::Value(self.value(cursor)?),
            Kind::Message | Kind::Borrowed => Slot::Value(self.value(cursor)?),
            Kind::Object | Kind::Own | Kind::Settling | Kind::Neighbour => Slot::Value(self.value(cursor)?),
            Kind::Parent | Kind::PerhapsMessage => Slot::Perhaps(Some(self.value(cursor)?)),
            Kind::Arguments
            | Kind::EventArguments
            | Kind::OutputArguments
            | Kind::Key
            | Kind::Numbers
            | Kind::Items => Slot::Values(Cow::Owned(self.list(cursor)?)),
            Kind::MapValues => Slot::Values(Cow::Owned(self.tail(cursor)?)),
            Kind::Fields => Slot::Values(Cow::Owned(self.fields(slots, cursor)?)),
            Kind::ConstantType | Kind::ScalarType | Kind::ArrayType => Slot::Type(self.parser.type_at(cursor)?),
            Kind::PerhapsType => Slot::PerhapsType(Some(self.parser.type_at(cursor)?)),
            Kind::Number => Slot::Number(cursor.number()?),
            Kind::Growth => Slot::Number(cursor.small()?.into()),
            Kind::Class | Kind::UniqueClass | Kind::OwnClass => Slot::Class(self.parser.class_at(cursor)?),
            Kind::ScalarCell | Kind::LinkCell | Kind::ArrayCell | Kind::TimerCell | Kind::CounterCell => {
                self.cell(slots, cursor)?
            }
            Kind::QuotaCell | Kind::MessagesCell | Kind::MapCell => self.cell(slots, cursor)?,
            Kind::Function | Kind::Procedure | Kind::Refusing | Kind::Memo => {
                let find = |name: &str| self.automaton().function_named(name);
                Slot::Function(found("function", find, &self.automaton().functions, |f| &f.name, cursor)?)
            }
            Kind::Param => {
                let params = &self.automaton().params;
                let find = |name: &str| params.iter().position(|param| param.name == name).map(ParamId::from);
                Slot::Param(found("param", find, params, |param| &param.name, cursor)?)
            }
            Kind::Wire => {
                let find = |name: &str| self.automaton().wire_named(name);
                Slot::Wire(found("wire", find, &self.automaton().wires, |wire| &wire.name, cursor)?)
            }
            Kind::Attribute => {
                let attributes = &self.automaton().attributes;
                let find = |name: &str| attributes.iter().position(|known| known.name == name).map(AttributeId::from);
                Slot::Attribute(found("attribute", find, attributes, |known| &known.name, cursor)?)
            }
            // A header is written with its variant.
            Kind::Header | Kind::Variant => {
                let (header, variant) = self.parser.variant_at(cursor)?;
                let place = row.fields.iter().position(|(_, kind)| *kind == Kind::Header);
                place.into_iter().for_each(|place| slots[place] = Some(Slot::Header(header)));
                Slot::Variant(variant)
            }
            Kind::ReasonName => Slot::Reason(self.parser.reason_at(cursor)?),
            Kind::Port => Slot::Port(self.parser.port_at(cursor)?),
            Kind::Output => self.output(slots, cursor)?,
            Kind::Event | Kind::QueuedEvent => Slot::Name(Cow::Owned(cursor.name()?)),
            Kind::Symbol => Slot::Name(Cow::Owned(cursor.path()?.join("."))),
            Kind::Octets => Slot::Octets(Cow::Owned(octets(cursor)?)),
            // These were read with the first word.
            Kind::Field | Kind::Arithmetic | Kind::Comparison => return cursor.wanted("an operation"),
        };
        slots[place] = Some(slot);
        Ok(())
    }

    /// Reads a cell of the object that was read before.
    fn cell(&mut self, slots: &Slots, cursor: &mut Cursor) -> Read<Slot<'static>> {
        let (span, name) = (cursor.span(), cursor.name()?);
        let object = slots.iter().flatten().find_map(Slot::value);
        let class = object.and_then(|object| self.builder.typing(self.automaton()).class_of(object));
        let class = class.ok_or_else(|| fault(codes::OBJECT, "a cell belongs to an object, and this is none", span))?;
        let found = self.automaton().cell_named(class, &name);
        let known = self.automaton().class(class).cells.iter().map(|cell| cell.name.as_str());
        found.map(Slot::Cell).ok_or_else(|| unknown("cell", &name, span, known))
    }

    /// Reads an output of the port that was read before.
    fn output(&self, slots: &Slots, cursor: &mut Cursor) -> Read<Slot<'static>> {
        let (span, name) = (cursor.span(), cursor.name()?);
        let port = slots.iter().flatten().find_map(|slot| match slot {
            Slot::Port(port) => Some(*port),
            _ => None,
        });
        let outputs = port.map_or(&[][..], |port| &self.automaton().ports[port.index()].outputs);
        let event = outputs.iter().position(|output| output.event == name);
        let known = outputs.iter().map(|output| output.event.as_str());
        event.map(|event| Slot::Number(event as u64)).ok_or_else(|| unknown("output", &name, span, known))
    }

    /// Reads operands with commas between, up to a closing mark.
    fn list(&mut self, cursor: &mut Cursor) -> Read<Vec<Value>> {
        let mut found = Vec::new();
        while !cursor.is_mark(")") && !cursor.is_mark("]") {
            if !found.is_empty() {
                cursor.expect(",")?;
            }
            found.push(self.operand(cursor)?);
        }
        Ok(found)
    }

    /// Reads operands, each after a comma.
    fn tail(&mut self, cursor: &mut Cursor) -> Read<Vec<Value>> {
        let mut found = Vec::new();
        while cursor.mark(",") {
            found.push(self.operand(cursor)?);
        }
        Ok(found)
    }

    /// Reads `{name: value, …}`, every field once, in any order.
    fn fields(&mut self, slots: &Slots, cursor: &mut Cursor) -> Read<Vec<Value>> {
        let position = cursor.position();
        cursor.expect("{")?;
        let given = cursor.list("}", |cursor| {
            let (span, name) = (cursor.span(), cursor.name()?);
            cursor.expect(":")?;
            Ok((name, span, self.operand(cursor)?))
        })?;
        let mut at = (HeaderId(0), VariantId(0));
        for slot in slots.iter().flatten() {
            match slot {
                Slot::Header(header) => at.0 = *header,
                Slot::Variant(variant) => at.1 = *variant,
                _ => {}
            }
        }
        let fields = &self.parser.automaton.headers[at.0.index()].variants[at.1.index()].fields;
        for (index, (name, span, _)) in given.iter().enumerate() {
            if given[..index].iter().any(|(other, ..)| other == name) {
                return Err(fault(codes::TWICE, format!("`{name}` is given twice"), *span));
            }
            if !fields.iter().any(|(known, _)| known == name) {
                return Err(unknown("field", name, *span, fields.iter().map(|(name, _)| name.as_str())));
            }
        }
        let find = |name: &String| given.iter().find(|(known, ..)| known == name).map(|(.., value)| *value);
        let missing: Vec<&str> =
            fields.iter().filter(|(name, _)| find(name).is_none()).map(|(name, _)| name.as_str()).collect();
        if !missing.is_empty() {
            let message = format!("the header's fields {} are not given", missing.join(", "));
            return Err(fault(codes::COUNT, message, cursor.span_from(position)));
        }
        Ok(fields.iter().filter_map(|(name, _)| find(name)).collect())
    }
}

/// The fields that are part of the first word, if the line begins with this operation.
fn begun(written: &Written, word: &str) -> Option<Slots> {
    let mut slots = vec![None; written.of.fields.len()];
    match written.head {
        Head::Word(known) => return (known == word).then_some(slots),
        Head::WordAndField(known, place) => {
            let rest = word.strip_prefix(known)?.strip_prefix('.')?;
            slots[place] = Some(Slot::Field(OctetField::of_word(rest)?));
        }
        Head::Field(place) => {
            let arithmetic = Binary::of_word(word).map(Slot::Binary);
            let slot = match written.of.fields[place].1 {
                Kind::Arithmetic => arithmetic,
                Kind::Comparison => Compare::of_word(word).map(Slot::Compare),
                _ => None,
            };
            slots[place] = Some(slot?);
        }
        Head::None => return None,
    }
    Some(slots)
}

/// The content of a field whose optional part is absent.
fn left_out(kind: Kind) -> Slot<'static> {
    match kind {
        Kind::PerhapsType => Slot::PerhapsType(None),
        Kind::Growth => Slot::Number(0),
        _ => Slot::Perhaps(None),
    }
}

/// The first word or mark of a text.
fn first_of(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    let end = if end == 0 { text.len().min(1) } else { end };
    text.split_at(end)
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
}

fn stands_at(cursor: &Cursor, text: &str) -> bool {
    match first_of(text).0 {
        "" => true,
        word if is_word(word) => cursor.is_word(word),
        mark => cursor.is_mark(mark),
    }
}

/// Reads the words and marks of a text.
fn expect(cursor: &mut Cursor, text: &str) -> Read<()> {
    let mut rest = text;
    loop {
        let (first, behind) = first_of(rest);
        match first {
            "" => return Ok(()),
            word if is_word(word) => cursor.expect_word(word)?,
            mark => cursor.expect(mark)?,
        }
        rest = behind;
    }
}

/// Looks up a name with points in a table.
fn found<T, K>(
    what: &str,
    find: impl Fn(&str) -> Option<T>,
    table: &[K],
    name_of: impl Fn(&K) -> &String,
    cursor: &mut Cursor,
) -> Read<T> {
    let position = cursor.position();
    let name = cursor.path()?.join(".");
    let known = table.iter().map(|known| name_of(known).as_str());
    find(&name).ok_or_else(|| unknown(what, &name, cursor.span_from(position), known))
}

fn octets(cursor: &mut Cursor) -> Read<Vec<u8>> {
    let span = cursor.span();
    let hex: Vec<u8> = cursor.text()?.bytes().filter(|octet| *octet != b' ').collect();
    let octet = |pair: &[u8]| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let octets: Option<Vec<u8>> = hex.chunks(2).map(|pair| if pair.len() == 2 { octet(pair) } else { None }).collect();
    let bad = || fault(codes::SYNTAX, "octets are written as pairs of hexadecimal digits, as in \"0a ff\"", span);
    octets.ok_or_else(bad)
}
