//! Reading one line: a cursor over its tokens, whose faults are diagnostics.

use mokume_base::{did_you_mean, Code, Diagnostic, Span};

use super::token::{Line, Token, TokenKind};
use crate::codes;

/// The result of reading a part of a line. A fault ends the reading of its line only.
pub type Read<T> = Result<T, Box<Diagnostic>>;

/// A position in one line. Reading moves it; after a fault it may have moved.
pub struct Cursor<'a> {
    tokens: &'a [Token],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor at the first token of the line.
    pub fn new(line: &'a Line) -> Self {
        Cursor { tokens: &line.tokens, at: 0 }
    }

    /// Whether the line is read to its end.
    pub fn is_at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// The position, for [`Cursor::go_back`] and [`Cursor::span_from`].
    pub fn position(&self) -> usize {
        self.at
    }

    /// Goes back to an earlier position.
    pub fn go_back(&mut self, position: usize) {
        self.at = position;
    }

    /// The span of the next token, or of the last one at the end.
    pub fn span(&self) -> Span {
        self.tokens[self.at.min(self.tokens.len() - 1)].span
    }

    /// The span from the token at `position` to the one just read.
    pub fn span_from(&self, position: usize) -> Span {
        let last = self.at.saturating_sub(1).max(position).min(self.tokens.len() - 1);
        self.tokens[position.min(last)].span.to(self.tokens[last].span)
    }

    /// The next token; none at the end.
    pub fn peek(&self) -> Option<&'a TokenKind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    /// The token behind the next one.
    pub fn peek_second(&self) -> Option<&'a TokenKind> {
        self.tokens.get(self.at + 1).map(|token| &token.kind)
    }

    /// Whether the mark is next; reads nothing.
    pub fn is_mark(&self, mark: &str) -> bool {
        matches!(self.peek(), Some(TokenKind::Mark(found)) if *found == mark)
    }

    /// Whether the name is next; reads nothing. A name between backquotes counts as well.
    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(TokenKind::Name(found)) if found == word)
    }

    /// Reads the mark if it is next.
    pub fn mark(&mut self, mark: &str) -> bool {
        let found = self.is_mark(mark);
        self.at += usize::from(found);
        found
    }

    /// Reads the word if it is next.
    pub fn word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    /// Reads the mark, or fails.
    pub fn expect(&mut self, mark: &str) -> Read<()> {
        if self.mark(mark) {
            return Ok(());
        }
        self.wanted(&format!("`{mark}`"))
    }

    /// Reads the name, or fails.
    pub fn expect_word(&mut self, word: &str) -> Read<()> {
        if self.word(word) {
            return Ok(());
        }
        self.wanted(&format!("`{word}`"))
    }

    /// Reads any name.
    pub fn name(&mut self) -> Read<String> {
        match self.peek() {
            Some(TokenKind::Name(name)) => {
                self.at += 1;
                Ok(name.clone())
            }
            _ => self.wanted("a name"),
        }
    }

    /// Reads names with points between them.
    pub fn path(&mut self) -> Read<Vec<String>> {
        let mut path = vec![self.name()?];
        while self.mark(".") {
            path.push(self.name()?);
        }
        Ok(path)
    }

    /// Reads a number of at most 64 bits.
    pub fn number(&mut self) -> Read<u64> {
        match self.peek() {
            Some(TokenKind::Number(value)) => {
                self.at += 1;
                Ok(*value)
            }
            _ => self.wanted("a number"),
        }
    }

    /// Reads a number of at most 32 bits.
    pub fn small(&mut self) -> Read<u32> {
        let span = self.span();
        let value = self.number()?;
        let too_large = || fault(codes::NUMBER, format!("{value} is more than 32 bits hold"), span);
        u32::try_from(value).map_err(|_| too_large())
    }

    /// Reads a number with or without a decimal point.
    pub fn decimal(&mut self) -> Read<f32> {
        match self.peek() {
            Some(TokenKind::Decimal(value)) => {
                self.at += 1;
                Ok(*value)
            }
            Some(TokenKind::Number(value)) => {
                self.at += 1;
                Ok(*value as f32)
            }
            _ => self.wanted("a probability such as 0.99"),
        }
    }

    /// Reads a text, without its quotes and escapes.
    pub fn text(&mut self) -> Read<String> {
        match self.peek() {
            Some(TokenKind::Text(text)) => {
                self.at += 1;
                Ok(text.clone())
            }
            _ => self.wanted("a text in double quotes"),
        }
    }

    /// Calls `read` for each element, with commas between, up to and including `close`.
    pub fn list<T>(&mut self, close: &str, mut read: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut found = Vec::new();
        while !self.mark(close) {
            if !found.is_empty() {
                self.expect(",")?;
            }
            found.push(read(self)?);
        }
        Ok(found)
    }

    /// Fails if the line goes on.
    pub fn end(&self) -> Read<()> {
        if self.is_at_end() {
            return Ok(());
        }
        self.wanted("the end of the line")
    }

    /// Always fails: says what was expected, and what was found.
    pub fn wanted<T>(&self, what: &str) -> Read<T> {
        let found = match self.peek() {
            None => "the line ends".to_owned(),
            Some(TokenKind::Name(name)) => format!("`{name}` stands"),
            Some(TokenKind::Number(number)) => format!("{number} stands"),
            Some(TokenKind::Decimal(number)) => format!("{number} stands"),
            Some(TokenKind::Text(_)) => "a text stands".to_owned(),
            Some(TokenKind::Mark(mark)) => format!("`{mark}` stands"),
        };
        Err(fault(codes::SYNTAX, format!("{what} belongs here, but {found}"), self.span()))
    }
}

/// A fault with its place. A caller that returns it ends the reading of the line only.
pub fn fault(code: Code, message: impl Into<String>, span: Span) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(code, message).at(span, "here"))
}

/// A fault for an unknown name, with the nearest known name as help.
pub fn unknown<'n>(what: &str, name: &str, span: Span, known: impl Iterator<Item = &'n str>) -> Box<Diagnostic> {
    let mut diagnostic =
        Diagnostic::error(codes::UNKNOWN, format!("there is no {what} `{name}`")).at(span, "not known");
    if let Some(nearest) = did_you_mean(name, known) {
        diagnostic = diagnostic.help(format!("did you mean `{nearest}`?"));
    }
    Box::new(diagnostic)
}
