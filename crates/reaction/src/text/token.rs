//! Lines of tokens, with their places.
//!
//! A line continues inside `(` and `[`, and after a comma at its end. Comments run from `;` to the end of the line.

use mokume_base::{Diagnostic, FileId, Span};

use crate::codes;

/// A token without its place.
#[derive(Clone, PartialEq, Debug)]
pub enum TokenKind {
    /// An identifier, or anything between backquotes.
    Name(String),
    Number(u64),
    /// Digits, a point, digits.
    Decimal(f32),
    Text(String),
    Mark(&'static str),
}

/// A token and its span.
#[derive(Clone, PartialEq, Debug)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

/// One logical line; never empty.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    pub tokens: Vec<Token>,
    /// Whether it starts in the first column.
    pub flush_left: bool,
}

impl Line {
    /// From the first token to the last.
    pub fn span(&self) -> Span {
        self.tokens[0].span.to(self.tokens[self.tokens.len() - 1].span)
    }

    /// Whether its first token is this name.
    pub fn starts_with(&self, name: &str) -> bool {
        matches!(&self.tokens[0].kind, TokenKind::Name(found) if found == name)
    }

    /// Whether its last token is this mark.
    pub fn ends_with(&self, mark: &str) -> bool {
        self.tokens.last().is_some_and(|token| token.kind == TokenKind::Mark(keep(mark)))
    }

    /// How many more `{` than `}`.
    pub fn depth(&self) -> i32 {
        let open = self.tokens.iter().filter(|token| token.kind == TokenKind::Mark("{")).count();
        let close = self.tokens.iter().filter(|token| token.kind == TokenKind::Mark("}")).count();
        open as i32 - close as i32
    }
}

/// The marks, longest first.
const MARKS: &[&str] = &[
    "->", "<<", ">>", "..", "==", "!=", "<=", ">=", "++", ":=", "{", "}", "(", ")", "[", "]", ",", ":", "=", "@", "#",
    "|", "+", "-", "*", "/", "%", "<", ">", ".", "&", "^",
];

fn keep(mark: &str) -> &'static str {
    MARKS.iter().copied().find(|known| *known == mark).unwrap_or("")
}

/// All lines of a text. Reports and leaves out what it cannot read.
pub fn lines(file: FileId, text: &str) -> (Vec<Line>, Vec<Diagnostic>) {
    let mut lexer = Lexer { file, text, at: 0, diagnostics: Vec::new() };
    let mut lines: Vec<Line> = Vec::new();
    let mut open = 0i32;
    let mut goes_on = false;
    for (start, line) in line_starts(text) {
        let tokens = lexer.line(start, line);
        let Some(last) = tokens.last().map(|token| token.kind.clone()) else { continue };
        // An item's keyword in the first column closes all open brackets.
        let flush_left = tokens[0].span.start as usize == start && matches!(tokens[0].kind, TokenKind::Name(_));
        if flush_left {
            open = 0;
            goes_on = false;
        }
        let brackets: i32 = tokens.iter().map(|token| bracket(&token.kind)).sum();
        match lines.last_mut() {
            Some(before) if goes_on || open > 0 => before.tokens.extend(tokens),
            _ => lines.push(Line { tokens, flush_left }),
        }
        open = (open + brackets).max(0);
        goes_on = last == TokenKind::Mark(",");
    }
    (lines, lexer.diagnostics)
}

fn bracket(kind: &TokenKind) -> i32 {
    match kind {
        TokenKind::Mark("(" | "[") => 1,
        TokenKind::Mark(")" | "]") => -1,
        _ => 0,
    }
}

fn line_starts(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split('\n').map(move |line| {
        let at = start;
        start += line.len() + 1;
        (at, line)
    })
}

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Lexer<'a> {
    fn line(&mut self, start: usize, line: &'a str) -> Vec<Token> {
        let end = start + line.len();
        self.at = start;
        let mut tokens = Vec::new();
        while self.at < end {
            let rest: &'a str = &self.text[self.at..end];
            let Some(first) = rest.chars().next() else { break };
            if first == ';' {
                break;
            }
            if first.is_whitespace() {
                self.at += first.len_utf8();
                continue;
            }
            if let Some((kind, length)) = self.token(rest, first) {
                tokens.push(Token { kind, span: self.span(length) });
                self.at += length;
            }
        }
        tokens
    }

    fn span(&self, length: usize) -> Span {
        Span::new(self.file, self.at as u32, (self.at + length) as u32)
    }

    fn token(&mut self, rest: &str, first: char) -> Option<(TokenKind, usize)> {
        if first.is_ascii_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            return Some((TokenKind::Name(rest[..length].to_owned()), length));
        }
        if first.is_ascii_digit() {
            return self.number(rest);
        }
        if first == '"' || first == '`' {
            return self.quoted(rest, first);
        }
        if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            return Some((TokenKind::Mark(mark), mark.len()));
        }
        self.fault(codes::SYNTAX, first.len_utf8(), format!("`{first}` means nothing here"));
        None
    }

    fn number(&mut self, rest: &str) -> Option<(TokenKind, usize)> {
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let digits = rest[..length].replace('_', "");
        if let Some(decimals) = decimals(&rest[length..]) {
            let length = length + decimals;
            if let Ok(value) = rest[..length].parse::<f32>() {
                return Some((TokenKind::Decimal(value), length));
            }
        }
        let value = match digits.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => digits.parse::<u64>(),
        };
        if value.is_err() {
            self.fault(codes::NUMBER, length, format!("`{}` is no number of 64 bits", &rest[..length]));
            return None;
        }
        value.ok().map(|value| (TokenKind::Number(value), length))
    }

    fn quoted(&mut self, rest: &str, quote: char) -> Option<(TokenKind, usize)> {
        let mut text = String::new();
        let mut escaped = false;
        for (at, c) in rest.char_indices().skip(1) {
            if escaped {
                text.push(if c == 'n' { '\n' } else { c });
                escaped = false;
            } else if c == '\\' && quote == '"' {
                escaped = true;
            } else if c == quote {
                let kind = if quote == '"' { TokenKind::Text(text) } else { TokenKind::Name(text) };
                return Some((kind, at + 1));
            } else {
                text.push(c);
            }
        }
        self.fault(codes::SYNTAX, rest.len(), format!("the closing {quote} is missing"));
        None
    }

    fn fault(&mut self, code: mokume_base::Code, length: usize, message: String) {
        let span = self.span(length);
        self.diagnostics.push(Diagnostic::error(code, message).at(span, "here"));
        self.at += length;
    }
}

/// The length of `.digits` at the start, if it is there.
fn decimals(rest: &str) -> Option<usize> {
    let digits = rest.strip_prefix('.')?;
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    (count > 0).then_some(count + 1)
}
