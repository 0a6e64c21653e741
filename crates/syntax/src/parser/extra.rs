//! Closing brackets that close nothing: each is a mistake of its own, and the text around it is read as if it were not
//! there.

use super::Parser;
use crate::codes;
use crate::kinds::SyntaxKind::*;
use crate::lexer::Token;
use mokume_base::{Diagnostic, Span};
use std::collections::BTreeSet;

/// The brackets that are open between two braces.
#[derive(Default)]
struct Open {
    round: u32,
    square: u32,
}

/// The indices in `tokens` of each `)` and `]` with no open bracket inside the surrounding braces.
pub(super) fn closing_nothing(tokens: &[Token]) -> Vec<usize> {
    let mut within = vec![Open::default()];
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Some(open) = within.last_mut() else { return found };
        let of_kind = match token.kind {
            L_PAREN | R_PAREN => &mut open.round,
            _ => &mut open.square,
        };
        match token.kind {
            L_BRACE => within.push(Open::default()),
            R_BRACE => {
                within.pop();
                if within.is_empty() {
                    within.push(Open::default());
                }
            }
            L_PAREN | L_BRACKET => *of_kind += 1,
            R_PAREN | R_BRACKET if *of_kind == 0 => found.push(at),
            R_PAREN | R_BRACKET => *of_kind -= 1,
            _ => {}
        }
    }
    found
}

/// Commas and the like that follow another one on the same line.
pub(super) fn doubled(text: &str, tokens: &[Token]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut before: Option<&Token> = None;
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| !token.kind.is_trivia()) {
        let same = before.is_some_and(|before| {
            before.kind == token.kind && !text[before.end as usize..token.start as usize].contains('\n')
        });
        if same && matches!(token.kind, COMMA | COLON | EQ | ARROW | FAT_ARROW | DOT) {
            found.push(at);
        }
        before = Some(token);
    }
    found
}

impl Parser<'_> {
    /// Reports the doubled ones.
    pub(super) fn report_doubled(&mut self, found: &[usize]) {
        for at in found {
            let token = self.tokens[*at];
            let text = &self.text[token.start as usize..token.end as usize];
            let diagnostic = Diagnostic::error(codes::EXPECTED, format!("`{text}` stands twice"))
                .at(Span::new(self.file, token.start, token.end), "once is enough")
                .help("remove one of them");
            self.diagnostics.push(diagnostic);
        }
    }

    /// Reports those that close nothing, one a line, if there is no other mistake: another bracket may be what is
    /// missing.
    pub(super) fn report_closing_nothing(&mut self, found: &[usize]) {
        if found.is_empty() {
            return;
        }
        let ends: Vec<usize> = self.text.match_indices('\n').map(|(at, _)| at).collect();
        let line_of = |at: u32| ends.partition_point(|end| *end < at as usize);
        let errors = self.diagnostics.iter().filter_map(|known| known.primary.as_ref());
        let mut told: BTreeSet<usize> = errors.map(|label| line_of(label.span.start)).collect();
        for at in found {
            let token = self.tokens[*at];
            let text = &self.text[token.start as usize..token.end as usize];
            if !told.insert(line_of(token.start)) {
                continue;
            }
            let open = if token.kind == R_PAREN { "(" } else { "[" };
            let diagnostic = Diagnostic::error(codes::UNOPENED, format!("`{text}` closes nothing"))
                .at(Span::new(self.file, token.start, token.end), "nothing is open here")
                .help(format!("remove it, or look for a `{open}` that is missing in front of it"));
            self.diagnostics.push(diagnostic);
        }
    }
}
