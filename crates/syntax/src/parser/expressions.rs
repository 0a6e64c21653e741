//! Expressions and types.
//!
//! Precedence, loosest first: `or`, `and`, `not`, comparisons and `in` (not chained), `|`, `^`, `&`, `<< >>`, `+ -`, `*
//! / %`, `as`, `!`, then calls, fields and indices. Every rule returns the height of the tree that it built: a chain of
//! operators needs no recursion here, but its tree must not become too deep for code that walks it.

use super::primary::is_upper;
use super::{Parser, MAX_DEPTH};
use crate::codes;
use crate::kinds::SyntaxKind::{self, *};
use crate::lexer::UNITS;
use mokume_base::Span;

/// The height of a tree of expressions.
pub(super) type Height = u32;

const COMPARISON: u8 = 4;
/// The precedence of `as`.
pub(super) const CAST: u8 = 11;

/// Words that continue or end an expression and never begin one.
const NO_OPERANDS: [&str; 10] = ["and", "or", "in", "as", "else", "let", "return", "while", "for", "where"];

impl Parser<'_> {
    /// Whether another part of a packet begins here: a wire with its fields, octets, `_`, or `over flow(…)`.
    pub(super) fn at_packet_part(&self) -> bool {
        match self.peek() {
            STRING | HEX_STRING => true,
            IDENT if self.nth(1) == L_BRACE => is_upper(self.nth_text(0)),
            // `udp.Rfc768 { … }`
            IDENT if self.nth(1) == DOT && self.nth(3) == L_BRACE => is_upper(self.nth_text(2)),
            IDENT => self.at_word("_") || self.at_word("over") && self.nth(1) == IDENT,
            _ => false,
        }
    }

    /// Reads `Rfc791 { ttl: 64 } Rfc768 { .. } "data"` behind its first part.
    pub(super) fn packet(&mut self, start: rowan::Checkpoint) {
        self.open_at(start, PACKET_EXPR);
        while self.at_packet_part() {
            if self.at_word("over") {
                self.open(PACKET_OVER);
                self.bump();
                self.expression();
                self.close();
            } else {
                self.primary();
            }
        }
        self.close();
    }

    /// Reads an expression; if none begins here, reports it and consumes nothing.
    pub(super) fn expression(&mut self) -> Height {
        let height = self.binary(0);
        self.tallest = self.tallest.max(height);
        height
    }

    /// Reads an expression in front of a block: `Name {` does not begin a record.
    pub(super) fn head_expression(&mut self) {
        self.with_records(false, |p| p.expression());
    }

    pub(super) fn at_expression(&self) -> bool {
        if self.line_has_ended() {
            return false;
        }
        match self.peek() {
            IDENT => !NO_OPERANDS.contains(&self.nth_text(0)),
            NUMBER | DOTTED | COLONS | STRING | HEX_STRING | OPEN_STRING | L_PAREN | L_BRACKET | BANG => true,
            QUESTION => self.nth(1) == IDENT,
            _ => false,
        }
    }

    /// Whether the line ends before the next operand. Statements end with their lines; an expression continues on the
    /// next line only in brackets, or after an operator at the end of a line.
    pub(super) fn line_has_ended(&self) -> bool {
        if !self.new_line_before(0) || self.statement_at == Some(self.pos) {
            return false;
        }
        !(self.in_brackets || self.is_behind_operator()) || self.starts_line_of_its_own()
    }

    pub(super) fn is_behind_operator(&self) -> bool {
        let word = self.pos > 0 && matches!(self.nth_before(), "and" | "or" | "not");
        let kind = self.nth_before_kind();
        word || matches!(
            kind,
            PLUS | MINUS | STAR | SLASH | PERCENT | PLUS_WRAP | MINUS_WRAP | STAR_WRAP | AMP | PIPE | CARET
        ) || matches!(kind, SHL | SHR | EQ_EQ | NEQ | LT | LE | GT | GE | BANG | AMP_AMP | PIPE_PIPE)
    }

    /// Reads an expression that begins a statement, an arm or a step, and so a line.
    pub(super) fn first_expression(&mut self) {
        self.statement_at = Some(self.pos);
        self.expression();
    }

    /// `1 ms`, `1 ms .. 3 ms`
    pub(super) fn value_or_range(&mut self) {
        let start = self.checkpoint();
        self.expression();
        if self.at(DOT_DOT) {
            self.open_at(start, RANGE_EXPR);
            self.bump();
            self.expression();
            self.close();
        }
    }

    pub(super) fn expected_expression(&mut self) {
        if self.report_foreign() {
            return;
        }
        if self.at(MINUS) {
            let diagnostic = self
                .error_here(codes::NO_NEGATION, "a value has no minus sign", "no operator stands in front of this")
                .note("`uN` values are not negative");
            let is_time = self.nth(1) == NUMBER && UNITS.contains(&self.nth_text(2));
            self.report(match is_time {
                true => diagnostic.help("a duration is 0 or more: let the other side of the comparison or sum have it"),
                false => diagnostic.help("write `0 -% x` for the two's complement of `x`"),
            });
            self.bump_as_error();
            // What follows is the value, so it must not be read as a statement.
            if self.at_expression() && self.same_line(0) {
                self.primary();
            }
            return;
        }
        if self.at(DOT) && self.nth(1) == NUMBER && self.same_line(1) {
            return self.number_without_front();
        }
        let found = self.found();
        let diagnostic = self.missing_here(
            codes::EXPECTED_EXPRESSION,
            format!("expected an expression, found {found}"),
            "expected an expression",
        );
        let line_ended = found == "the end of the line";
        let help = if line_ended { Some("write a value: a name, a number, a call") } else { self.help_for_value() };
        let step = self.in_test && !self.in_brackets && !self.form.is_empty();
        self.report(match help {
            _ if step => diagnostic.help(format!("write it as in `{}`", self.form)),
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        });
        let literal = self.at(L_BRACKET) || self.at(L_BRACE) && !self.no_record;
        if literal && !line_ended && self.same_line(0) {
            self.skip_balanced();
        }
    }

    /// Reports `.5 s` as one mistake; there is no value.
    fn number_without_front(&mut self) {
        let number = self.nth_text(1);
        let unit = Some(self.nth_text(2)).filter(|unit| UNITS.contains(unit) && self.same_line(2));
        let help = match unit {
            Some(unit) => format!("write `0.{number} {unit}`"),
            None => "numbers are whole; a duration is written `0.5 s`".to_string(),
        };
        let label = "no digit in front of the point";
        let message = format!("expected an expression, found `.{number}`");
        self.report(self.error_here(codes::EXPECTED_EXPRESSION, message, label).help(help));
        self.leaf(ERROR, 2 + usize::from(unit.is_some()));
    }

    /// What to write instead of the token that stands in place of a value.
    pub(super) fn help_for_value(&self) -> Option<&'static str> {
        Some(match (self.nth_before_kind(), self.peek()) {
            (_, R_BRACE | EOF) => "write a value: a name, a number, a call",
            (_, L_BRACE) => "a block is no value; a record is written `Name { field: value }`",
            (EQ_EQ, EQ) | (NEQ, EQ) => "write `==` or `!=`",
            (LT, GT) => "write `!=`",
            (STAR, STAR) => "there is no power; write `x * x`, or `1 << n`",
            (_, AMP | STAR) => "there are no pointers: a name is its value",
            (_, IDENT) if self.at_word("not") || self.at_word("in") => "write `not (a in m)`",
            _ => return None,
        })
    }

    pub(super) fn operator(&self) -> Option<(u8, u8)> {
        let word = self.nth_text(0);
        let left = match self.peek() {
            IDENT if word == "or" && (self.nth(1) == L_BRACE || self.nth_word(1, "new") && self.nth(2) == L_BRACE) => {
                return None
            }
            IDENT if word == "or" => 1,
            IDENT if word == "and" => 2,
            PIPE_PIPE => 1,
            AMP_AMP => 2,
            IDENT if word == "in" => COMPARISON,
            EQ_EQ | NEQ | LT | LE | GT | GE => COMPARISON,
            PIPE => 5,
            CARET => 6,
            AMP => 7,
            SHL | SHR => 8,
            PLUS | MINUS | PLUS_WRAP | MINUS_WRAP => 9,
            STAR | SLASH | PERCENT | STAR_WRAP => 10,
            _ => return None,
        };
        Some((left, left + 1))
    }

    pub(super) fn binary(&mut self, least: u8) -> Height {
        let start = self.checkpoint();
        let mut height = self.cast();
        self.check_not_in();
        let mut compared: Option<Span> = None;
        while let Some((binding, next)) = self.operator() {
            if binding < least || height == 0 {
                break;
            }
            if height >= MAX_DEPTH {
                self.report_too_deep();
                self.open(ERROR);
                self.bump();
                self.close();
                self.expression_operand();
                continue;
            }
            if matches!(self.peek(), AMP_AMP | PIPE_PIPE) {
                self.report_foreign();
            }
            if binding == COMPARISON {
                self.check_chain(compared);
                compared = Some(self.span_of(0));
            }
            self.open_at(start, BINARY_EXPR);
            self.bump();
            height = height.max(self.binary(next)).saturating_add(1);
            self.close();
        }
        height
    }

    /// Puts one operand into the error of a chain that is too long.
    pub(super) fn expression_operand(&mut self) {
        if self.at_expression() {
            self.cast();
        }
    }

    /// Reports `a not in m`, and reads it as `a in m`.
    pub(super) fn check_not_in(&mut self) {
        if self.at_word("not") && self.nth_word(1, "in") && self.same_line(0) {
            let diagnostic = self
                .error_here(codes::FOREIGN_OPERATOR, "the language has no `not in`", "of another language")
                .help("write `not (a in m)`");
            self.report(diagnostic);
            self.bump_as_error();
        }
    }

    pub(super) fn check_chain(&mut self, before: Option<Span>) {
        let Some(before) = before else { return };
        let diagnostic = self
            .error_here(codes::CHAINED_COMPARISON, "comparisons are not chained", "and compared again here")
            .label(before, "compared here")
            .help("write `a < b and b < c`");
        self.report(diagnostic);
    }

    /// Reads `not` and `!` in front of an operand, and `as` behind it.
    pub(super) fn cast(&mut self) -> Height {
        if self.at_word("not") && self.same_line_operand(1) {
            return self.prefix(UNARY_EXPR, COMPARISON);
        }
        let start = self.checkpoint();
        let mut height = self.unary();
        while self.at_word("as") && height > 0 {
            if height >= MAX_DEPTH {
                self.report_too_deep();
                self.bump_as_error();
                continue;
            }
            self.open_at(start, CAST_EXPR);
            self.bump();
            self.eat(PERCENT);
            self.type_();
            self.close();
            height += 1;
        }
        height
    }

    pub(super) fn same_line_operand(&self, n: usize) -> bool {
        !matches!(self.nth(n), DOT | EQ | OP_EQ | COMMA | R_PAREN | R_BRACE | R_BRACKET | COLON | EOF)
    }

    pub(super) fn prefix(&mut self, kind: SyntaxKind, binding: u8) -> Height {
        let mut height = 0;
        self.nested(|p| {
            p.open(kind);
            p.bump();
            // `!a as u16` casts `!a`: what binds tighter than `as` has none in its operand.
            height = if binding > CAST { p.unary() } else { p.binary(binding) } + 1;
            p.close();
        });
        height
    }

    pub(super) fn unary(&mut self) -> Height {
        match self.peek() {
            BANG => self.prefix(UNARY_EXPR, CAST + 1),
            _ => self.postfix(),
        }
    }

    pub(super) fn postfix(&mut self) -> Height {
        let start = self.checkpoint();
        let began = self.pos;
        let mut height = self.primary();
        while height > 0 {
            let kind = match self.peek() {
                DOT if self.same_line(0) || self.nth(1) == IDENT && self.same_line(1) => FIELD_EXPR,
                L_PAREN if self.same_line(0) => CALL_EXPR,
                L_BRACKET if self.same_line(0) => INDEX_EXPR,
                COLON_COLON => FIELD_EXPR,
                _ if self.lacks_opening(began) => {
                    self.open_at(start, CALL_EXPR);
                    height = height.max(self.arguments_without_opening()) + 1;
                    self.close();
                    break;
                }
                _ => break,
            };
            if height >= MAX_DEPTH {
                self.report_too_deep();
                self.skip_balanced();
                continue;
            }
            self.open_at(start, kind);
            height = height.max(self.suffix(kind)) + 1;
            self.close();
        }
        height
    }

    /// `below.send msg, seq: 1)`: a value follows a name, and the line closes a parenthesis that it has not opened.
    fn lacks_opening(&self, began: usize) -> bool {
        let is_value = match self.peek() {
            IDENT => {
                !NO_OPERANDS.contains(&self.nth_text(0)) && !self.at_any_word(&["to", "from", "limit", "as", "in"])
            }
            NUMBER | DOTTED | COLONS | STRING | HEX_STRING => true,
            _ => false,
        };
        let path =
            self.significant.get(began..self.pos).unwrap_or_default().iter().map(|at| self.tokens[*at as usize].kind);
        if self.in_brackets
            || !is_value
            || !self.same_line(0)
            || !path.into_iter().all(|kind| matches!(kind, IDENT | DOT))
        {
            return false;
        }
        // The parenthesis that closes nothing may have been removed from the tokens.
        let mut open = 0;
        for token in &self.tokens[self.next_significant()..] {
            match token.kind {
                L_PAREN => open += 1,
                R_PAREN if open == 0 => return true,
                R_PAREN => open -= 1,
                L_BRACE | R_BRACE => return false,
                WHITESPACE if self.text[token.start as usize..token.end as usize].contains('\n') => return false,
                _ => {}
            }
        }
        false
    }

    pub(super) fn suffix(&mut self, kind: SyntaxKind) -> Height {
        match kind {
            FIELD_EXPR => {
                self.report_foreign();
                self.bump();
                match self.new_line_before(0) {
                    true => self.expected("a field's name after the dot"),
                    false => drop(self.name("a field's name after the dot")),
                }
                0
            }
            CALL_EXPR => self.arguments(),
            _ => {
                let opening = self.span_of(0);
                self.bump();
                let height = self.bracketed(|p| p.deeper_list(R_BRACKET));
                self.close_bracket(R_BRACKET, opening);
                height
            }
        }
    }
}
