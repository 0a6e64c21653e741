//! From text to tokens: every octet of the text is in exactly one token, in order.
//!
//! The lexer never fails: text that it cannot read becomes a token of a separate kind and a diagnostic.

use crate::codes;
use crate::kinds::SyntaxKind::{self, *};
use logos::Logos;
use mokume_base::{Diagnostic, FileId, Span};

/// One token: its kind and its place.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// The kind.
    pub kind: SyntaxKind,
    /// Offset in octets from the start of the text.
    pub start: u32,
    /// Offset of the first octet behind it.
    pub end: u32,
}

/// The tokens of a text, and diagnostics about single tokens.
pub fn lex(file: FileId, text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut tokens: Vec<Token> = Vec::new();
    let mut diagnostics = Vec::new();
    let mut lexer = SyntaxKind::lexer(text);
    while let Some(kind) = lexer.next() {
        let range = lexer.span();
        let token = Token { kind: kind.unwrap_or(ERROR_TOKEN), start: range.start as u32, end: range.end as u32 };
        match tokens.last_mut() {
            // A run of unreadable characters is one token with one message.
            Some(last) if last.kind == ERROR_TOKEN && token.kind == ERROR_TOKEN => last.end = token.end,
            _ => tokens.push(token),
        }
    }
    let (tokens, foreign) = crate::foreign::join(text, tokens);
    diagnostics.extend(foreign.iter().filter_map(|found| found.said(file, text)));
    let is_foreign = |token: &Token| foreign.binary_search_by_key(&token.start, |found| found.start).is_ok();
    for token in tokens.iter().filter(|token| !is_foreign(token)) {
        let slice = &text[token.start as usize..token.end as usize];
        if let Some(diagnostic) = check(*token, slice, Span::new(file, token.start, token.end)) {
            diagnostics.push(diagnostic);
        }
    }
    diagnostics.extend(line_ends(file, text));
    (tokens, diagnostics)
}

/// Carriage returns as line ends: a comment would take the rest of the file.
fn line_ends(file: FileId, text: &str) -> Option<Diagnostic> {
    let alone = |at: &usize| text[*at..].trim_start_matches('\r').chars().next().is_some_and(|next| next != '\n');
    let at = text.match_indices('\r').map(|(at, _)| at).find(alone)?;
    let place = Span::new(file, at as u32, at as u32 + 1);
    Some(
        Diagnostic::error(codes::UNREADABLE, "a carriage return alone ends no line")
            .at(place, "a line feed is missing behind it")
            .help("let lines end with LF or CRLF: `tr '\\r' '\\n' < old.mok > new.mok`"),
    )
}

fn check(token: Token, text: &str, span: Span) -> Option<Diagnostic> {
    match token.kind {
        NUMBER => check_number(text, span),
        STRING => check_escapes(text, span),
        HEX_STRING if hex_octets(text).is_none() => Some(
            Diagnostic::error(codes::BAD_OCTETS, "this octet string has a part that is no octet")
                .at(span, "not pairs of hexadecimal digits")
                .help("write two digits for each octet, with or without blanks between octets: `x\"00 ff\"`"),
        ),
        OPEN_STRING => Some(
            Diagnostic::error(codes::OPEN_STRING, "this string has no end")
                .at(span, "the line ends within it")
                .note("a string ends on the line it begins on")
                .help("close it with `\"`; for a line break write `\\n`"),
        ),
        BLOCK_COMMENT => Some(
            Diagnostic::error(codes::FOREIGN_COMMENT, "`/*` begins no comment here")
                .at(Span::new(span.file, span.start, span.start + 2), "skipped to the next `*/`")
                .help("begin each line of the comment with `//`"),
        ),
        ERROR_TOKEN => Some(unreadable(text, span)),
        _ => None,
    }
}

fn unreadable(text: &str, span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error(codes::UNREADABLE, format!("`{}` is no part of the language", shown(text)));
    match text.chars().next() {
        Some('\'') => {
            diagnostic.at(span, "no token begins like this").help("strings stand in double quotes: `\"one\"`")
        }
        Some('~') => diagnostic.at(span, "no token begins like this").help("the complement is `!x`"),
        Some('#') => diagnostic.at(span, "no token begins like this").help("comments begin with `//`"),
        Some('\u{a0}' | '\u{2007}' | '\u{202f}') => {
            diagnostic.at(span, "a blank of another kind, at which no line breaks").help("write a plain blank")
        }
        Some('\u{201c}' | '\u{201d}') => {
            diagnostic.at(span, "a typographic quote").help("strings stand in plain double quotes: `\"one\"`")
        }
        _ => diagnostic.at(span, "no token begins like this").help("remove it"),
    }
}

/// A text for use in a message: short, and without control characters.
pub(crate) fn shown(text: &str) -> String {
    let mut out: String = text.chars().take(24).flat_map(char::escape_debug).collect();
    if text.chars().nth(24).is_some() {
        out.push('…');
    }
    out.replace("\\\"", "\"").replace("\\'", "'")
}

fn check_number(text: &str, span: Span) -> Option<Diagnostic> {
    if number(text).is_some() {
        return None;
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (head, tail) = text.split_at(digits);
    let diagnostic = Diagnostic::error(codes::BAD_NUMBER, format!("`{}` is no number", shown(text)));
    if UNITS.contains(&tail) {
        return Some(diagnostic.at(span, "a number and its unit are two words").help(format!("write `{head} {tail}`")));
    }
    if text.starts_with("0b") || text.starts_with("0o") {
        return Some(
            diagnostic.at(span, "numbers are decimal or hexadecimal").help("write it in hexadecimal: `0x2a`, or `42`"),
        );
    }
    if text == "0x" {
        return Some(diagnostic.at(span, "no digits").help("write hexadecimal digits behind it: `0x2a`"));
    }
    if !separates_digits(text) {
        let diagnostic = diagnostic.at(span, "a `_` stands between two digits");
        return Some(diagnostic.help("write it as `1_000` or `0x1_0000`, or without"));
    }
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    if plain || text.starts_with("0x") && text.bytes().skip(2).all(|b| b.is_ascii_hexdigit() || b == b'_') {
        return Some(
            diagnostic
                .at(span, "does not fit 64 bits")
                .help("the widest type is `u64`: 18446744073709551615 is the largest"),
        );
    }
    let diagnostic = diagnostic.at(span, "letters within a number").help("numbers are `42`, `1_000` or `0x2a`");
    let is_unit = matches!(tail.len(), 1..=3) && head != "0" && tail.bytes().all(|b| b.is_ascii_alphabetic());
    Some(match is_unit {
        true => diagnostic.help("a unit of time is a word behind the number: `10 ns`, `us`, `ms`, `s` or `min`"),
        false => diagnostic,
    })
}

fn check_escapes(text: &str, span: Span) -> Option<Diagnostic> {
    if string_octets(text).is_some() {
        return None;
    }
    Some(
        Diagnostic::error(codes::BAD_ESCAPE, "this string has an escape that the language does not know")
            .at(span, "after a `\\`")
            .help("the escapes are `\\n`, `\\r`, `\\t`, `\\0`, `\\\"`, `\\\\` and `\\x41`"),
    )
}

/// The units of durations.
pub const UNITS: [&str; 5] = ["ns", "us", "ms", "s", "min"];

/// Whether each `_` of a number is between two digits.
fn separates_digits(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    !digits.starts_with('_') && !digits.ends_with('_') && !digits.contains("__")
}

/// The value of a `NUMBER` token; `None` if it is not a number or does not fit in 64 bits.
pub fn number(text: &str) -> Option<u64> {
    if !separates_digits(text) {
        return None;
    }
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(hex) => (hex, 16),
        None => (text, 10),
    };
    let digits: String = digits.chars().filter(|c| *c != '_').collect();
    u64::from_str_radix(&digits, radix).ok()
}

/// The octets of a `HEX_STRING` token such as `x"00 ff"`; `None` if it is malformed.
pub fn hex_octets(text: &str) -> Option<Vec<u8>> {
    let inner = text.strip_prefix("x\"")?.strip_suffix('"')?;
    let mut octets = Vec::new();
    for run in inner.split_whitespace() {
        let bytes = run.as_bytes();
        for pair in bytes.chunks(2) {
            let [high, low] = pair else { return None };
            let digit = |b: u8| (b as char).to_digit(16);
            octets.push((digit(*high)? * 16 + digit(*low)?) as u8);
        }
    }
    Some(octets)
}

/// The octets of a `STRING` token, with escapes resolved; `None` if it is malformed.
pub fn string_octets(text: &str) -> Option<Vec<u8>> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut octets = Vec::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            octets.extend(c.encode_utf8(&mut [0; 4]).bytes());
            continue;
        }
        octets.push(match chars.next()? {
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            '0' => 0,
            '"' => b'"',
            '\\' => b'\\',
            'x' => (chars.next()?.to_digit(16)? * 16 + chars.next()?.to_digit(16)?) as u8,
            _ => return None,
        });
    }
    Some(octets)
}
