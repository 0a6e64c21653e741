//! Names, strings and values as other languages and keyboards write them: `größe`, `“one”`, `'one'`,
//! `02-00-00-00-00-01`. Each becomes one token of the kind that was meant, and one report.

use std::collections::HashSet;

use mokume_base::{Diagnostic, FileId, Span};

use crate::codes;
use crate::kinds::SyntaxKind::*;
use crate::lexer::{shown, string_octets, Token};

/// A token joined from text that is not part of the language.
pub(crate) struct Foreign {
    /// Offset in octets from the start of the text.
    pub start: u32,
    end: u32,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Name,
    /// A foreign name that was already reported.
    NameAgain,
    Quotes,
    /// A value in a notation that no type has. The check of its type reports it.
    Value,
}

impl Foreign {
    /// The report; a name that occurs several times is reported once.
    pub fn said(&self, file: FileId, text: &str) -> Option<Diagnostic> {
        let span = Span::new(file, self.start, self.end);
        let shown = shown(&text[self.start as usize..self.end as usize]);
        let diagnostic = Diagnostic::error(codes::UNREADABLE, format!("`{shown}` is no part of the language"));
        match self.what {
            What::Name if matches!(&text[self.start as usize..self.end as usize], "µs" | "μs") => {
                Some(diagnostic.at(span, "microseconds").help("write `us`: `1 us`"))
            }
            What::Name => Some(
                diagnostic
                    .at(span, "a letter that names do not have")
                    .help("names are of the letters `a` to `z` and `A` to `Z`, digits and `_`"),
            ),
            What::NameAgain | What::Value => None,
            What::Quotes => {
                let octet = letter(&text[self.start as usize..self.end as usize]);
                let diagnostic = diagnostic.at(span, "quotes of another kind");
                let diagnostic = match octet {
                    Some(octet) => diagnostic.help(format!("an octet is a number: write `0x{octet:02x}`")),
                    None => diagnostic,
                };
                Some(diagnostic.help("strings stand in plain double quotes: `\"one\"`"))
            }
        }
    }
}

/// The octet of `'/'` or `'\n'`.
fn letter(quoted: &str) -> Option<u8> {
    let inner = quoted.strip_prefix('\'')?.strip_suffix('\'')?;
    match string_octets(&format!("\"{inner}\"")).as_deref() {
        Some([octet]) => Some(*octet),
        _ => None,
    }
}

/// The tokens, with each foreign name, string and value joined to one token; and these joined tokens in order of place.
pub(crate) fn join(text: &str, tokens: Vec<Token>) -> (Vec<Token>, Vec<Foreign>) {
    let (mut joined, mut found): (Vec<Token>, Vec<Foreign>) = (Vec::new(), Vec::new());
    let mut named = HashSet::new();
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at];
        let begins = at == 0 || tokens[at - 1].end != token.start || tokens[at - 1].kind != IDENT;
        let value = dashed(text, token).or_else(|| colons(text, token)).filter(|_| begins);
        let (kind, what, upto) = match (value, name(text, &tokens[at..]), quoted(text, token)) {
            (Some(end), ..) => (COLONS, What::Value, end),
            (None, Some(end), _) => {
                let again = !named.insert(&text[token.start as usize..end as usize]);
                (IDENT, if again { What::NameAgain } else { What::Name }, end)
            }
            (None, None, Some(end)) => (STRING, What::Quotes, end),
            (None, None, None) => {
                joined.push(token);
                at += 1;
                continue;
            }
        };
        joined.push(Token { kind, start: token.start, end: upto });
        found.push(Foreign { start: token.start, end: upto, what });
        at += tokens[at..].iter().take_while(|token| token.start < upto).count();
        if let Some(rest) = tokens.get(at - 1).filter(|last| last.end > upto) {
            // A closing quote inside a run of unreadable characters: what follows it is a separate token.
            joined.push(Token { kind: ERROR_TOKEN, start: upto, end: rest.end });
        }
    }
    (joined, found)
}

/// The end of the name that begins here, if it has a letter that the language does not allow.
fn name(text: &str, tokens: &[Token]) -> Option<u32> {
    let letters = |token: &Token| {
        let slice = &text[token.start as usize..token.end as usize];
        token.kind == ERROR_TOKEN && slice.chars().all(char::is_alphanumeric)
    };
    let first = tokens.first().filter(|token| token.kind == IDENT || letters(token))?;
    let mut end = first.start;
    let mut has_foreign = false;
    for token in tokens {
        let fits = matches!(token.kind, IDENT | NUMBER) || letters(token);
        if token.start != end || !fits {
            break;
        }
        has_foreign |= letters(token);
        end = token.end;
    }
    has_foreign.then_some(end)
}

/// The end of `02-00-00-00-00-01`, which is not a subtraction.
fn dashed(text: &str, token: Token) -> Option<u32> {
    if !matches!(token.kind, NUMBER | IDENT) {
        return None;
    }
    let run = run(text, token, |c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let is_pair = |part: &str| part.len() == 2 && part.bytes().all(|octet| octet.is_ascii_hexdigit());
    let parts = run.split('-').count();
    let has_digit = run.bytes().any(|octet| octet.is_ascii_digit());
    (parts == 6 && has_digit && run.split('-').all(is_pair)).then_some(token.start + run.len() as u32)
}

/// The end of `2001:::1` or `1::2::3`, whose front alone would be a value.
fn colons(text: &str, token: Token) -> Option<u32> {
    if token.kind != COLONS {
        return None;
    }
    let run = run(text, token, |c| c.is_ascii_hexdigit() || c == ':');
    let is_more =
        run.len() > (token.end - token.start) as usize && run[(token.end - token.start) as usize..].contains(':');
    (is_more && run.len() <= 64).then_some(token.start + run.len() as u32)
}

/// The characters that satisfy `fits`, from the start of a token on.
fn run(text: &str, token: Token, fits: impl Fn(char) -> bool) -> &str {
    let rest = &text[token.start as usize..];
    &rest[..rest.find(|c| !fits(c)).unwrap_or(rest.len())]
}

/// The end of a string that begins here with a foreign quote: its counterpart is on the same line.
fn quoted(text: &str, token: Token) -> Option<u32> {
    if token.kind != ERROR_TOKEN {
        return None;
    }
    let rest = &text[token.start as usize..];
    let opening = rest.chars().next()?;
    let closing: &[char] = match opening {
        '\u{201c}' | '\u{201d}' | '\u{201e}' => &['\u{201c}', '\u{201d}'],
        '\u{2018}' | '\u{2019}' | '\u{201a}' => &['\u{2018}', '\u{2019}'],
        '\u{ab}' => &['\u{bb}'],
        '\'' => &['\''],
        _ => return None,
    };
    let line = rest.lines().next()?;
    let (at, last) = line.char_indices().skip(1).find(|(_, c)| closing.contains(c))?;
    Some(token.start + (at + last.len_utf8()) as u32)
}
