//! Reads terminators, one line each.

use super::body::BodyReader;
use super::cursor::{fault, unknown, Cursor, Read};
use super::token::TokenKind;
use crate::operation::template::{self, Head};
use crate::*;

/// Words that begin a terminator, besides those of the operations that may refuse.
pub const WORDS: &[&str] = &["return", "yield", "refuse", "jump", "br", "switch", "match"];

/// Whether the line is a terminator.
pub fn is_terminator(cursor: &Cursor) -> bool {
    let Some(TokenKind::Name(name)) = cursor.peek() else { return false };
    let may_refuse =
        template::fallible().iter().any(|written| matches!(written.head, Head::Word(word) if word == name));
    // `next = get …` is an operation: the word is then the name of a result.
    let is_result = matches!(cursor.peek_second(), Some(TokenKind::Mark("=" | ",")));
    (may_refuse || WORDS.contains(&name.as_str())) && !is_result
}

impl BodyReader<'_> {
    /// Reads a terminator, from its first word on.
    pub fn terminator(&mut self, cursor: &mut Cursor) -> Read<Terminator> {
        let start = cursor.position();
        let word = cursor.name()?;
        match word.as_str() {
            "return" => Ok(Terminator::Return),
            "yield" => Ok(Terminator::Yield { values: self.given(cursor)? }),
            "refuse" => Ok(Terminator::Refuse { values: self.given(cursor)? }),
            "jump" => Ok(Terminator::Jump { to: self.target(cursor, 0)? }),
            "br" => self.branch(cursor),
            "switch" => self.switch(cursor),
            "match" => self.match_header(cursor),
            _ => {
                cursor.go_back(start);
                self.attempt(cursor)
            }
        }
    }

    /// `find e.peers[peer] then shared(..) else first`
    fn attempt(&mut self, cursor: &mut Cursor) -> Read<Terminator> {
        let position = cursor.position();
        let op = self.fallible(cursor)?;
        let typing = self.builder.typing(self.automaton());
        let (Some(results), Some(refused)) = (typing.results(&op), typing.refusal(&op)) else {
            let message = "the operands of this operation make no sense: their types say nothing";
            return Err(fault(codes::OBJECT, message, cursor.span_from(position)));
        };
        cursor.expect_word("then")?;
        let then = self.target(cursor, results.len())?;
        cursor.expect_word("else")?;
        Ok(Terminator::Try { op, then, otherwise: self.target(cursor, refused.len())? })
    }

    /// Reads values to the end of the line.
    fn given(&mut self, cursor: &mut Cursor) -> Read<Vec<Value>> {
        let mut values = Vec::new();
        while !cursor.is_at_end() {
            if !values.is_empty() {
                cursor.expect(",")?;
            }
            values.push(self.operand(cursor)?);
        }
        Ok(values)
    }

    /// Reads `label`, `label(args)` or `label(.., args)`: `..` stands for the `results` values that come first.
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

    fn match_header(&mut self, cursor: &mut Cursor) -> Read<Terminator> {
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
        Ok(Terminator::Match { message, header, cases })
    }
}
