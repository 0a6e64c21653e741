//! Operations that do not branch, one line each.

use super::body::BodyReader;
use super::cursor::{fault, unknown, Cursor, Read};
use super::token::TokenKind;
use crate::*;

const BINARY: &[(&str, Binary)] = &[
    ("add.wrap", Binary::AddWrap),
    ("sub.wrap", Binary::SubWrap),
    ("mul.wrap", Binary::MulWrap),
    ("add", Binary::Add),
    ("sub", Binary::Sub),
    ("mul", Binary::Mul),
    ("div", Binary::Div),
    ("rem", Binary::Rem),
    ("and", Binary::And),
    ("or", Binary::Or),
    ("xor", Binary::Xor),
    ("shl", Binary::Shl),
    ("shr", Binary::Shr),
    ("min", Binary::Min),
    ("max", Binary::Max),
    ("within", Binary::Within),
];

const COMPARE: &[(&str, Compare)] = &[
    ("eq", Compare::Eq),
    ("ne", Compare::Ne),
    ("lt", Compare::Lt),
    ("le", Compare::Le),
    ("gt", Compare::Gt),
    ("ge", Compare::Ge),
];

const WORDS: &[&str] = &[
    "not",
    "select",
    "cast",
    "param",
    "now",
    "call",
    "draw",
    "unique",
    "parent",
    "get",
    "set",
    "arm",
    "disarm",
    "armed",
    "count",
    "give",
    "left",
    "keep",
    "holds",
    "release",
    "again",
    "message",
    "push",
    "pop",
    "encode",
    "size",
    "trim",
    "skip",
    "split",
    "join",
    "share",
    "received",
    "load",
    "store",
    "sum16",
    "fold16",
    "emit",
    "out",
    "drop",
    "consume",
    "return",
    "yield",
    "jump",
    "br",
    "switch",
    "match",
    "decode",
    "vet",
    "find",
    "insert",
    "remove",
    "new",
    "first",
    "next",
    "take",
    "takeout",
    "shareheld",
    "later",
];

impl BodyReader<'_> {
    /// The operation at the cursor, up to its source mark.
    pub fn operation(&mut self, cursor: &mut Cursor) -> Read<OpKind> {
        if let Some(constant) = self.constant(cursor)? {
            return Ok(constant);
        }
        let position = cursor.position();
        let mut word = cursor.name()?;
        if cursor.mark(".") {
            word = format!("{word}.{}", cursor.name()?);
        }
        if let Some((_, op)) = BINARY.iter().find(|(name, _)| *name == word) {
            let (a, b) = self.two(cursor)?;
            return Ok(OpKind::Binary { op: *op, a, b });
        }
        if let Some((_, op)) = COMPARE.iter().find(|(name, _)| *name == word) {
            let (a, b) = self.two(cursor)?;
            return Ok(OpKind::Compare { op: *op, a, b });
        }
        if let Some(access) = self.access(&word, cursor)? {
            return Ok(access);
        }
        if let Some(found) = self.value_operation(&word, cursor)? {
            return Ok(found);
        }
        if let Some(found) = self.cell_operation(&word, cursor)? {
            return Ok(found);
        }
        if let Some(found) = self.message_operation(&word, cursor)? {
            return Ok(found);
        }
        let known = BINARY.iter().map(|(name, _)| *name).chain(COMPARE.iter().map(|(name, _)| *name));
        Err(unknown("operation", &word, cursor.span_from(position), known.chain(WORDS.iter().copied())))
    }

    /// `one = 1:u32`, `idle = State.idle`, `none = null @seq.S`: a constant with a name.
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

    fn two(&mut self, cursor: &mut Cursor) -> Read<(Value, Value)> {
        let a = self.operand(cursor)?;
        cursor.expect(",")?;
        Ok((a, self.operand(cursor)?))
    }

    fn next_operand(&mut self, cursor: &mut Cursor) -> Read<Value> {
        cursor.expect(",")?;
        self.operand(cursor)
    }

    /// `object.cell`
    pub fn cell(&mut self, cursor: &mut Cursor) -> Read<(Value, CellId)> {
        let span = cursor.span();
        let object = self.value(cursor)?;
        cursor.expect(".")?;
        let class = self.builder.typing(self.automaton()).class_of(object);
        let class = class.ok_or_else(|| fault(codes::OBJECT, "a cell belongs to an object, and this is none", span))?;
        let (span, name) = (cursor.span(), cursor.name()?);
        let found = self.automaton().cell_named(class, &name);
        let known = self.automaton().class(class).cells.iter().map(|cell| cell.name.as_str());
        Ok((object, found.ok_or_else(|| unknown("cell", &name, span, known))?))
    }

    /// `[index]`
    fn index(&mut self, cursor: &mut Cursor) -> Read<Value> {
        cursor.expect("[")?;
        let index = self.operand(cursor)?;
        cursor.expect("]")?;
        Ok(index)
    }

    pub fn indexed(&mut self, cursor: &mut Cursor) -> Read<(Value, CellId, Value)> {
        let (object, cell) = self.cell(cursor)?;
        Ok((object, cell, self.index(cursor)?))
    }

    fn cell_and_value(&mut self, cursor: &mut Cursor) -> Read<(Value, CellId, Value)> {
        let (object, cell) = self.cell(cursor)?;
        Ok((object, cell, self.next_operand(cursor)?))
    }

    pub fn operands(&mut self, cursor: &mut Cursor) -> Read<Vec<Value>> {
        cursor.expect("(")?;
        cursor.list(")", |cursor| self.operand(cursor))
    }

    /// `load.be16 m, at` and `store.le32 m, at, value`
    fn access(&mut self, word: &str, cursor: &mut Cursor) -> Read<Option<OpKind>> {
        let Some((verb, how)) = word.split_once('.') else { return Ok(None) };
        let (order, digits) = match how.get(..2) {
            Some("be") => (Endian::Big, &how[2..]),
            Some("le") => (Endian::Little, &how[2..]),
            _ => return Ok(None),
        };
        let Ok(width @ (8 | 16 | 24 | 32 | 48 | 64)) = digits.parse::<u8>() else { return Ok(None) };
        if verb != "load" && verb != "store" {
            return Ok(None);
        }
        let message = self.value(cursor)?;
        let at = self.next_operand(cursor)?;
        if verb == "load" {
            return Ok(Some(OpKind::Load { message, at, ty: Type::U(width), endian: order }));
        }
        let span = cursor.span();
        let value = self.next_operand(cursor)?;
        if let Some(at) = self.pending.iter().position(|(waiting, ..)| *waiting == value) {
            let (_, literal, span) = self.pending.remove(at);
            self.place_literal(value, &literal, Type::U(width), span)?;
        }
        if self.builder.type_of(value).width(self.automaton()) != width {
            return Err(fault(codes::TYPE, format!("a value of {width} bits belongs here"), span));
        }
        Ok(Some(OpKind::Store { message, at, value, endian: order }))
    }

    fn value_operation(&mut self, word: &str, cursor: &mut Cursor) -> Read<Option<OpKind>> {
        Ok(Some(match word {
            "not" => OpKind::Not { a: self.operand(cursor)? },
            "fold16" => OpKind::Fold16 { a: self.operand(cursor)? },
            "select" => {
                let (c, a) = self.two(cursor)?;
                OpKind::Select { c, a, b: self.next_operand(cursor)? }
            }
            "cast" => {
                let a = self.operand(cursor)?;
                cursor.expect_word("to")?;
                OpKind::Cast { a, to: self.parser.type_at(cursor)? }
            }
            "param" => {
                let position = cursor.position();
                let name = cursor.path()?.join(".");
                let found = self.automaton().params.iter().position(|param| param.name == name);
                let known = self.automaton().params.iter().map(|param| param.name.as_str());
                let span = cursor.span_from(position);
                OpKind::Param { param: found.ok_or_else(|| unknown("param", &name, span, known))?.into() }
            }
            "now" => OpKind::Now,
            "call" => {
                let position = cursor.position();
                let name = cursor.path()?.join(".");
                let span = cursor.span_from(position);
                let known = self.automaton().functions.iter().map(|function| function.name.as_str());
                let function = self.automaton().function_named(&name);
                let function = function.ok_or_else(|| unknown("function", &name, span, known))?;
                OpKind::Call { function, args: self.operands(cursor)? }
            }
            "native" => {
                let symbol = cursor.path()?.join(".");
                let args = self.operands(cursor)?;
                let message = if cursor.word("on") { Some(self.value(cursor)?) } else { None };
                let grows = if message.is_some() && cursor.word("grows") { cursor.small()? } else { 0 };
                let result = if cursor.word("to") { Some(self.parser.type_at(cursor)?) } else { None };
                OpKind::Native { symbol, grows, args, message, result }
            }
            "draw" => {
                let ty = self.parser.type_at(cursor)?;
                cursor.expect_word("from")?;
                OpKind::Draw { object: self.value(cursor)?, ty }
            }
            "unique" => OpKind::Unique { class: self.parser.class_at(cursor)? },
            "parent" => OpKind::Parent { object: self.value(cursor)? },
            _ => return Ok(None),
        }))
    }

    fn cell_operation(&mut self, word: &str, cursor: &mut Cursor) -> Read<Option<OpKind>> {
        Ok(Some(match word {
            "get" => {
                let (object, cell) = self.cell(cursor)?;
                if cursor.is_mark("[") {
                    OpKind::GetAt { object, cell, index: self.index(cursor)? }
                } else {
                    OpKind::Get { object, cell }
                }
            }
            "set" => {
                let (object, cell) = self.cell(cursor)?;
                let index = if cursor.is_mark("[") { Some(self.index(cursor)?) } else { None };
                let value = self.next_operand(cursor)?;
                match index {
                    Some(index) => OpKind::SetAt { object, cell, index, value },
                    None => OpKind::Set { object, cell, value },
                }
            }
            "arm" => {
                let (object, cell, deadline) = self.cell_and_value(cursor)?;
                OpKind::Arm { object, cell, deadline }
            }
            "disarm" => {
                let (object, cell) = self.cell(cursor)?;
                OpKind::Disarm { object, cell }
            }
            "armed" => {
                let (object, cell) = self.cell(cursor)?;
                OpKind::IsArmed { object, cell }
            }
            "count" => {
                let (object, cell, amount) = self.cell_and_value(cursor)?;
                OpKind::Count { object, cell, amount }
            }
            "give" => {
                let (object, cell, amount) = self.cell_and_value(cursor)?;
                OpKind::Give { object, cell, amount }
            }
            "left" => {
                let (object, cell) = self.cell(cursor)?;
                OpKind::Left { object, cell }
            }
            "keep" => {
                let (object, cell, index) = self.indexed(cursor)?;
                OpKind::Keep { object, cell, index, message: self.next_operand(cursor)? }
            }
            "holds" => {
                let (object, cell, index) = self.indexed(cursor)?;
                OpKind::Holds { object, cell, index }
            }
            "release" => OpKind::Release { object: self.value(cursor)? },
            "again" => OpKind::Again { object: self.value(cursor)? },
            "emit" => {
                let target = self.value(cursor)?;
                cursor.expect(".")?;
                let event = cursor.name()?;
                OpKind::Emit { target, event, args: self.operands(cursor)? }
            }
            "out" => self.out(cursor)?,
            _ => return Ok(None),
        }))
    }

    fn out(&mut self, cursor: &mut Cursor) -> Read<OpKind> {
        let port = self.parser.port_at(cursor)?;
        cursor.expect(".")?;
        let (span, name) = (cursor.span(), cursor.name()?);
        let outputs = &self.automaton().ports[port.index()].outputs;
        let event = outputs.iter().position(|output| output.event == name);
        let known = outputs.iter().map(|output| output.event.as_str());
        let event = event.ok_or_else(|| unknown("output", &name, span, known))? as u32;
        Ok(OpKind::Out { port, event, args: self.operands(cursor)? })
    }

    fn message_operation(&mut self, word: &str, cursor: &mut Cursor) -> Read<Option<OpKind>> {
        if word == "message" {
            return self.new_message(cursor).map(Some);
        }
        const ON_MESSAGE: &[&str] = &[
            "push",
            "pop",
            "encode",
            "received",
            "size",
            "share",
            "sum16",
            "trim",
            "skip",
            "split",
            "join",
            "get.attribute",
            "set.attribute",
            "drop",
            "consume",
        ];
        if !ON_MESSAGE.contains(&word) {
            return Ok(None);
        }
        let message = self.value(cursor)?;
        Ok(Some(match word {
            "size" => OpKind::Size { message },
            "share" => OpKind::Share { message },
            "sum16" => OpKind::Sum16 { message },
            "trim" => OpKind::Trim { message, size: self.next_operand(cursor)? },
            "skip" => OpKind::Skip { message, size: self.next_operand(cursor)? },
            "split" => OpKind::Split { message, at: self.next_operand(cursor)? },
            "join" => {
                cursor.expect(",")?;
                OpKind::Join { first: message, second: self.value(cursor)? }
            }
            "drop" if cursor.word("for") => OpKind::Drop { message, reason: DropReason::Value(self.operand(cursor)?) },
            _ => {
                cursor.expect(",")?;
                self.message_and_name(word, message, cursor)?
            }
        }))
    }

    /// Operations whose second operand is a name of the automaton.
    fn message_and_name(&mut self, word: &str, message: Value, cursor: &mut Cursor) -> Read<OpKind> {
        Ok(match word {
            "push" => {
                let (header, variant) = self.parser.variant_at(cursor)?;
                OpKind::Push { message, header, variant, fields: self.fields(header, variant, cursor)? }
            }
            "pop" => {
                let (header, variant) = self.parser.variant_at(cursor)?;
                OpKind::Pop { message, header, variant }
            }
            "encode" => OpKind::Encode { message, wire: self.wire(cursor)? },
            "received" => OpKind::Received { message, wire: self.wire(cursor)? },
            "drop" => OpKind::Drop { message, reason: DropReason::Known(self.parser.reason_at(cursor)?) },
            "consume" => OpKind::Consume { message, reason: self.parser.reason_at(cursor)? },
            "get.attribute" => OpKind::GetAttribute { message, attribute: self.attribute(cursor)? },
            _ => {
                let attribute = self.attribute(cursor)?;
                OpKind::SetAttribute { message, attribute, value: self.next_operand(cursor)? }
            }
        })
    }

    fn new_message(&mut self, cursor: &mut Cursor) -> Read<OpKind> {
        let span = cursor.span();
        let hex: Vec<u8> = cursor.text()?.bytes().filter(|octet| *octet != b' ').collect();
        let octet = |pair: &[u8]| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
        let octets: Option<Vec<u8>> =
            hex.chunks(2).map(|pair| if pair.len() == 2 { octet(pair) } else { None }).collect();
        let bad = || fault(codes::SYNTAX, "octets are written as pairs of hexadecimal digits, as in \"0a ff\"", span);
        Ok(OpKind::NewMessage { octets: octets.ok_or_else(bad)? })
    }

    /// `{name: value, …}`, every field once, in any order.
    fn fields(&mut self, header: HeaderId, variant: VariantId, cursor: &mut Cursor) -> Read<Vec<Value>> {
        let position = cursor.position();
        cursor.expect("{")?;
        let given = cursor.list("}", |cursor| {
            let (span, name) = (cursor.span(), cursor.name()?);
            cursor.expect(":")?;
            Ok((name, span, self.operand(cursor)?))
        })?;
        let fields = &self.parser.automaton.headers[header.index()].variants[variant.index()].fields;
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

    pub fn wire(&self, cursor: &mut Cursor) -> Read<WireId> {
        let position = cursor.position();
        let name = cursor.path()?.join(".");
        let known = self.automaton().wires.iter().map(|wire| wire.name.as_str());
        self.automaton().wire_named(&name).ok_or_else(|| unknown("wire", &name, cursor.span_from(position), known))
    }

    fn attribute(&self, cursor: &mut Cursor) -> Read<AttributeId> {
        let position = cursor.position();
        let name = cursor.path()?.join(".");
        let attributes = &self.automaton().attributes;
        let found = attributes.iter().position(|found| found.name == name).map(AttributeId::from);
        let known = attributes.iter().map(|found| found.name.as_str());
        found.ok_or_else(|| unknown("attribute", &name, cursor.span_from(position), known))
    }
}
