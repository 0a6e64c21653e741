//! Operations that end a block, one line each.

use super::body::BodyReader;
use super::cursor::{fault, unknown, Cursor, Read};
use super::token::TokenKind;
use crate::*;

const ENDS: &[&str] = &[
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

/// Whether the line is the end of a block.
pub fn is_end(cursor: &Cursor) -> bool {
    // `next = get …` is an operation: there, the word is a result's name.
    let word = matches!(cursor.peek(), Some(TokenKind::Name(name)) if ENDS.contains(&name.as_str()));
    word && !matches!(cursor.peek_second(), Some(TokenKind::Mark("=" | ",")))
}

impl BodyReader<'_> {
    pub fn terminator(&mut self, cursor: &mut Cursor) -> Read<Terminator> {
        let word = cursor.name()?;
        match word.as_str() {
            "return" => Ok(Terminator::Return),
            "yield" => self.yields(cursor),
            "jump" => Ok(Terminator::Jump { to: self.target(cursor, 0)? }),
            "br" => self.branch(cursor),
            "switch" => self.switch(cursor),
            "match" => self.pop_switch(cursor),
            "decode" | "vet" => self.decode(&word, cursor),
            "find" | "insert" | "remove" => self.map(&word, cursor),
            "new" | "first" => self.object(&word, cursor),
            "next" => {
                let object = self.value(cursor)?;
                let (then, otherwise) = self.branches(cursor, 1, 0)?;
                Ok(Terminator::Next { object, then, otherwise })
            }
            "take" => {
                let (object, cell) = self.cell(cursor)?;
                cursor.expect(",")?;
                let amount = self.operand(cursor)?;
                let (then, otherwise) = self.branches(cursor, 0, 0)?;
                Ok(Terminator::Take { object, cell, amount, then, otherwise })
            }
            "takeout" => {
                let (object, cell, index) = self.indexed(cursor)?;
                let (then, otherwise) = self.branches(cursor, 1, 0)?;
                Ok(Terminator::TakeOut { object, cell, index, then, otherwise })
            }
            "shareheld" => {
                let (object, cell, index) = self.indexed(cursor)?;
                let (then, otherwise) = self.branches(cursor, 1, 0)?;
                Ok(Terminator::ShareHeld { object, cell, index, then, otherwise })
            }
            _ => self.later(cursor),
        }
    }

    fn yields(&mut self, cursor: &mut Cursor) -> Read<Terminator> {
        let mut values = Vec::new();
        while !cursor.is_at_end() {
            if !values.is_empty() {
                cursor.expect(",")?;
            }
            values.push(self.operand(cursor)?);
        }
        Ok(Terminator::Yield { values })
    }

    /// `label`, `label(args)`, `label(.., args)`: `..` stands for `results` values that come first.
    fn target(&mut self, cursor: &mut Cursor, results: usize) -> Read<Target> {
        let (span, label) = (cursor.span(), cursor.name()?);
        let known = self.labels.keys().map(String::as_str);
        let block = self.labels.get(&label).copied().ok_or_else(|| unknown("block", &label, span, known))?;
        let position = cursor.position();
        let mut args = Vec::new();
        let mut dots = false;
        if cursor.mark("(") {
            dots = cursor.mark("..");
            if !cursor.mark(")") {
                if dots {
                    cursor.expect(",")?;
                }
                args = cursor.list(")", |cursor| self.operand(cursor))?;
            }
        }
        if dots != (results > 0) {
            let message = match results {
                0 => format!("nothing comes before the arguments of `{label}`: leave out `..`"),
                _ => format!("{results} results come first: write `{label}(..)`, and the arguments behind"),
            };
            return Err(fault(codes::COUNT, message, cursor.span_from(position.min(cursor.position() - 1))));
        }
        Ok(Target { block, args })
    }

    /// `then … else …`
    fn branches(&mut self, cursor: &mut Cursor, then: usize, otherwise: usize) -> Read<(Target, Target)> {
        cursor.expect_word("then")?;
        let then = self.target(cursor, then)?;
        cursor.expect_word("else")?;
        Ok((then, self.target(cursor, otherwise)?))
    }

    fn branch(&mut self, cursor: &mut Cursor) -> Read<Terminator> {
        let condition = self.operand(cursor)?;
        let likely = if cursor.mark("@") { Some(cursor.decimal()?) } else { None };
        let then = self.target(cursor, 0)?;
        cursor.expect(",")?;
        let otherwise = self.target(cursor, 0)?;
        Ok(Terminator::Branch { condition, then, otherwise, likely })
    }

    fn switch(&mut self, cursor: &mut Cursor) -> Read<Terminator> {
        let value = self.operand(cursor)?;
        let ty = self.builder.type_of(value);
        cursor.expect("{")?;
        let mut cases = Vec::new();
        while !cursor.word("else") {
            let number = self.parser.value_at(cursor, ty)?;
            cursor.expect("->")?;
            cases.push((number, self.target(cursor, 0)?));
            cursor.expect(",")?;
        }
        let default = self.target(cursor, 0)?;
        cursor.expect("}")?;
        Ok(Terminator::Switch { value, cases, default })
    }

    fn pop_switch(&mut self, cursor: &mut Cursor) -> Read<Terminator> {
        let message = self.value(cursor)?;
        cursor.expect(",")?;
        let header = self.parser.header_at(cursor)?;
        cursor.expect("{")?;
        let cases = cursor.list("}", |cursor| {
            let (span, name) = (cursor.span(), cursor.name()?);
            let variants = &self.parser.automaton.headers[header.index()].variants;
            let found = variants.iter().position(|variant| variant.name == name);
            let known = variants.iter().map(|variant| variant.name.as_str());
            let index = found.ok_or_else(|| unknown("variant", &name, span, known))?;
            cursor.expect("->")?;
            Ok((VariantId::from(index), self.target(cursor, 1 + variants[index].fields.len())?))
        })?;
        Ok(Terminator::PopSwitch { message, header, cases })
    }

    fn decode(&mut self, word: &str, cursor: &mut Cursor) -> Read<Terminator> {
        let message = self.value(cursor)?;
        cursor.expect(",")?;
        let wire = self.wire(cursor)?;
        let (then, otherwise) = self.branches(cursor, 1, 2)?;
        Ok(match word {
            "decode" => Terminator::Decode { message, wire, then, otherwise },
            _ => Terminator::Vet { message, wire, then, otherwise },
        })
    }

    fn map(&mut self, word: &str, cursor: &mut Cursor) -> Read<Terminator> {
        let (object, cell) = self.cell(cursor)?;
        cursor.expect("[")?;
        let key = cursor.list("]", |cursor| self.operand(cursor))?;
        if word == "insert" {
            let mut values = Vec::new();
            while cursor.mark(",") {
                values.push(self.operand(cursor)?);
            }
            let (then, otherwise) = self.branches(cursor, 0, 0)?;
            return Ok(Terminator::Insert { object, cell, key, values, then, otherwise });
        }
        let count = match self.builder.typing(self.automaton()).kind_of(object, cell) {
            Some(CellKind::Map { value, .. }) => value.len(),
            _ => return cursor.wanted("a map"),
        };
        let (then, otherwise) = self.branches(cursor, count, 0)?;
        Ok(match word {
            "find" => Terminator::Find { object, cell, key, then, otherwise },
            _ => Terminator::Remove { object, cell, key, then, otherwise },
        })
    }

    fn object(&mut self, word: &str, cursor: &mut Cursor) -> Read<Terminator> {
        let class = self.parser.class_at(cursor)?;
        let parent = if cursor.word("in") { Some(self.value(cursor)?) } else { None };
        let (then, otherwise) = self.branches(cursor, 1, 0)?;
        Ok(match word {
            "new" => Terminator::New { class, parent, then, otherwise },
            _ => Terminator::First { class, parent, then, otherwise },
        })
    }

    fn later(&mut self, cursor: &mut Cursor) -> Read<Terminator> {
        let target = self.value(cursor)?;
        cursor.expect(".")?;
        let event = cursor.name()?;
        let args = self.operands(cursor)?;
        let (then, otherwise) = self.branches(cursor, 0, 0)?;
        Ok(Terminator::Later { target, event, args, then, otherwise })
    }
}
