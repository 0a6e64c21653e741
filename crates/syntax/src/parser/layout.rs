//! Braces that do not match. If a text has as many `{` as `}`, nothing here has any effect. Else the columns at which
//! lines begin show which brace is missing or superfluous, so that one wrong brace is one mistake.

use super::Parser;
use crate::codes;
use crate::kinds::SyntaxKind::{self, *};
use crate::lexer::Token;
use mokume_base::Diagnostic;

/// What is known of the braces around the cursor.
#[derive(Default)]
pub(super) struct Layout {
    /// How many more braces close than open, without those that were mended; negative if more open.
    surplus: i64,
    /// The open ones, outermost first.
    open: Vec<Open>,
    /// For each token its line, and the column at which the line begins; a line within parentheses belongs to the one
    /// before. Empty if the braces match.
    lines: Vec<(u32, u32)>,
}

/// An open brace: its line, the column of the line that its construct begins, and the index of the first significant
/// token behind it.
#[derive(Clone, Copy)]
struct Open {
    line: u32,
    column: u32,
    first: usize,
}

impl Layout {
    pub(super) fn new(text: &str, tokens: &[Token]) -> Layout {
        let count = |kind| tokens.iter().filter(|token| token.kind == kind).count() as i64;
        // A string without an end has swallowed what follows it: `test "x {`.
        let open = tokens.iter().filter(|token| token.kind == OPEN_STRING);
        let swallowed: i64 = open
            .flat_map(|token| text[token.start as usize..token.end as usize].chars())
            .map(|c| i64::from(c == '}') - i64::from(c == '{'))
            .sum();
        Layout { surplus: count(R_BRACE) - count(L_BRACE) + swallowed, ..Layout::default() }
    }

    /// Whether there are still braces missing or superfluous that nothing has accounted for.
    pub(super) fn is_out_of_balance(&self) -> bool {
        self.surplus != 0
    }

    /// Treats a missing brace as present.
    fn mended(&mut self, kind: SyntaxKind) {
        self.surplus += if kind == R_BRACE { 1 } else { -1 };
    }
}

/// Whether something is missing at the end of the text.
pub(super) fn ends_too_early(tokens: &[Token], diagnostics: &[Diagnostic]) -> bool {
    let last = tokens.iter().rev().find(|token| !token.kind.is_trivia());
    let end = last.map_or(0, |token| token.end);
    let is_structure = |found: &Diagnostic| found.code != codes::SEMICOLON && found.code != codes::FOREIGN_COMMENT;
    let labels = diagnostics.iter().filter(|found| is_structure(found));
    let mut labels = labels.flat_map(|found| found.primary.iter().chain(&found.labels));
    end > 0 && labels.any(|label| label.span.start >= end)
}

/// For each token its line, and the column at which that line, or the one that it continues, begins.
fn lines(text: &str, tokens: &[Token]) -> Vec<(u32, u32)> {
    let (mut line, mut column, mut round, mut begins) = (0, 0, 0u32, true);
    let mut found = Vec::with_capacity(tokens.len());
    for token in tokens {
        let of_token = &text[token.start as usize..token.end as usize];
        if begins && !token.kind.is_trivia() {
            begins = false;
            if round == 0 {
                let start = text[..token.start as usize].rfind('\n').map_or(0, |at| at + 1);
                column = token.start - start as u32;
            }
        }
        found.push((line, column));
        match token.kind {
            L_PAREN | L_BRACKET => round += 1,
            R_PAREN | R_BRACKET => round = round.saturating_sub(1),
            L_BRACE | R_BRACE => round = 0,
            _ => {}
        }
        let ends = of_token.matches('\n').count() as u32;
        line += ends;
        begins |= ends > 0;
    }
    found
}

impl Parser<'_> {
    /// The line of the next token, and the column at which it begins.
    fn line_here(&mut self) -> (u32, u32) {
        if self.layout.lines.is_empty() {
            self.layout.lines = lines(self.text, &self.tokens);
        }
        self.layout.lines.get(self.next_significant()).copied().unwrap_or_default()
    }

    /// The same for a token by its index, if columns are known.
    fn line_of(&self, at: usize) -> Option<(u32, u32)> {
        self.layout.lines.get(*self.significant.get(at)? as usize).copied()
    }

    /// Notes a brace that is about to be read.
    pub(super) fn note_brace(&mut self, kind: SyntaxKind) {
        if self.layout.surplus == 0 && self.layout.lines.is_empty() {
            return;
        }
        match kind {
            L_BRACE => {
                let (line, column) = self.line_here();
                self.layout.open.push(Open { line, column, first: self.pos + 1 });
            }
            _ => drop(self.layout.open.pop()),
        }
    }

    /// If there are too many `{`, skips one that follows another; if there are too many `}`, skips one that is indented
    /// further than the brace that it would close.
    pub(super) fn leave_out_braces(&mut self, before: SyntaxKind) {
        if before == L_BRACE
            && self.at(L_BRACE)
            && self.nth(1) != L_BRACE
            && self.layout.surplus < 0
            && self.same_line(0)
        {
            self.leave_out("`{` stands twice", "once is enough");
            self.layout.surplus += 1;
        }
        while self.at(R_BRACE) && self.layout.surplus > 0 && self.closes_from_within() {
            self.leave_out("`}` closes nothing", "one too many");
            self.layout.surplus -= 1;
        }
    }

    fn leave_out(&mut self, message: &str, label: &str) {
        let code = if self.at(L_BRACE) { codes::EXPECTED } else { codes::UNOPENED };
        self.diagnostics.push(self.error_here(code, message, label).help("remove it"));
        self.significant.remove(self.pos);
    }

    fn closes_from_within(&mut self) -> bool {
        let (line, column) = self.line_here();
        self.layout.open.last().is_some_and(|open| open.line != line && column > open.column)
    }

    /// Whether the innermost brace was not closed: a line begins here that is not inside it.
    pub(super) fn has_lost_its_brace(&self) -> bool {
        if self.layout.surplus >= 0 || !self.new_line_before(0) {
            return false;
        }
        let (Some((line, column)), Some(open)) = (self.line_of(self.pos), self.layout.open.last()) else {
            return false;
        };
        // If the first line inside it is not indented, columns tell nothing.
        let by_columns = self.line_of(open.first).is_some_and(|(of, at)| of == open.line || at > open.column);
        by_columns && open.line != line && (column < open.column || column == open.column && !self.at(R_BRACE))
    }

    /// Closes the innermost brace before the current token, though its `}` is missing.
    pub(super) fn close_without_brace(&mut self) {
        self.layout.open.pop();
        if !self.at(EOF) {
            self.layout.mended(R_BRACE);
        }
    }

    /// Whether a `}` further down belongs to the `{` that is missing here. Then what follows is read as if the `{` were
    /// there.
    pub(super) fn opens_without_brace(&mut self) -> bool {
        if self.layout.surplus <= 0 || self.at(EOF) {
            return false;
        }
        let mut n = 0;
        while self.same_line(n) {
            match self.nth(n) {
                L_BRACE => return false,
                R_BRACE | EOF => break,
                _ => n += 1,
            }
        }
        self.layout.mended(L_BRACE);
        let here = self.line_here();
        let (line, column) = self.line_of(self.pos.saturating_sub(1)).unwrap_or(here);
        self.layout.open.push(Open { line, column, first: self.pos });
        true
    }

    /// Whether the line that opens a brace is missing in front of this one: a `}` is left over, and this is indented
    /// further than what stands in the layer. The brace then counts as open.
    pub(super) fn lost_a_head(&mut self) -> bool {
        if self.layout.surplus <= 0 || !self.new_line_before(0) {
            return false;
        }
        let (line, column) = self.line_here();
        let Some(open) = self.layout.open.last().copied() else { return false };
        let beside =
            self.line_of(open.first).filter(|_| open.first != self.pos).map_or(open.column, |(_, column)| column);
        // The first line of a layer tells nothing by its column.
        if column <= beside || open.first == self.pos && column < open.column + 8 {
            return false;
        }
        self.layout.mended(L_BRACE);
        self.layout.open.push(Open { line, column: beside, first: self.pos });
        true
    }
}
