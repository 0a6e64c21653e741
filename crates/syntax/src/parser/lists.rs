//! Lists in braces and parentheses that items and members share.

use super::Parser;
use crate::codes;
use crate::kinds::SyntaxKind::{self, *};

impl Parser<'_> {
    /// Reads `{ left: u32, right: u32 }`; a line break separates like a comma.
    pub(super) fn field_list(&mut self) {
        let start = self.checkpoint();
        let opening = self.span_of(0);
        if self.at_fields_alone() {
            return self.fields_alone();
        }
        if !self.open_brace("`{` and fields") {
            return;
        }
        self.open_at(start, FIELD_LIST);
        self.braced_list("field", Self::field_of_list);
        self.close_bracket(R_BRACE, opening);
        self.only_unclosed(opening);
        self.close();
    }

    fn field_of_list(&mut self) {
        if self.type_in_front() {
            return;
        }
        self.open_documented(FIELD);
        if self.name("a field's name") {
            self.type_annotation();
            let meant = self.field_word_meant();
            if (self.at_any_word(&["big", "little"]) || meant == Some("big"))
                && self.same_line(0)
                && self.nth(1) != COLON
            {
                self.bump();
            }
            if (self.at_word("commonly") || meant == Some("commonly")) && self.same_line(0) && self.nth(1) != COLON {
                self.bump();
                self.expression();
            }
            if self.at(EQ) && self.same_line(0) {
                let diagnostic = self.error_here(codes::EXPECTED, "a field has no value of its own", "not here").help(
                    "who sends gives all fields: `below.send(msg, seq: 0)`; a record is written out with all, too",
                );
                self.report(diagnostic);
                self.bump_as_error();
                if self.at_expression() {
                    self.expression();
                }
            }
        }
        self.close();
    }

    /// `address host: u8`: fields without braces, up to the end of the line.
    fn at_fields_alone(&self) -> bool {
        let mut line = (0..64).take_while(|n| self.same_line(*n)).map(|n| self.nth(n));
        self.at(IDENT)
            && self.nth(1) == COLON
            && self.same_line(0)
            && !line.any(|kind| matches!(kind, L_BRACE | R_BRACE | EOF))
    }

    fn fields_alone(&mut self) {
        self.expected("`{` and fields");
        self.open(FIELD_LIST);
        self.field_of_list();
        while self.at(COMMA) && self.nth(1) == IDENT && self.same_line(1) {
            self.bump();
            self.field_of_list();
        }
        self.close();
    }

    /// Reports and skips the type in `u16 seq`, the order of other languages.
    fn type_in_front(&mut self) -> bool {
        let word = self.nth_text(0);
        let width = word.strip_prefix("seq").or(word.strip_prefix('u')).map(|rest| rest.parse::<u8>());
        let is_type = word == "bool" || matches!(width, Some(Ok(_)));
        if !is_type || self.nth(1) != IDENT || !self.same_line(1) || self.nth(2) == COLON {
            return false;
        }
        let help = format!("write `{}: {word}`", self.nth_text(1));
        let diagnostic = self.error_here(codes::EXPECTED, "a field's name stands in front of its type", "the type");
        self.report(diagnostic.help(help));
        self.bump_as_error();
        self.bump_as_error();
        true
    }

    /// Reports a misspelt word behind a field's type, and reads it as the one that was meant.
    fn field_word_meant(&mut self) -> Option<&'static str> {
        let words = ["commonly", "big", "little"];
        if !self.at(IDENT) || !self.same_line(0) || self.nth(1) == COLON || self.at_any_word(&words) {
            return None;
        }
        let meant = mokume_base::did_you_mean(self.nth_text(0), words)?;
        let found = self.this();
        let diagnostic = self.error_here(codes::EXPECTED, format!("{found} says nothing of a field"), "no such word");
        self.report(diagnostic.help(format!("did you mean `{meant}`?")));
        Some(if meant == "commonly" { meant } else { "big" })
    }

    /// Reads the parts of a list in braces, separated by commas or line breaks.
    pub(super) fn braced_list(&mut self, what: &str, mut part: impl FnMut(&mut Self)) {
        while !matches!(self.peek(), R_BRACE | EOF) && !self.at_stop() && !self.at_lost_member() {
            let before = (self.pos, self.diagnostics.len());
            part(self);
            if self.eat(COMMA) || self.at(R_BRACE) {
                continue;
            }
            if self.at(SEMICOLON) {
                self.report_foreign();
                self.bump_as_error();
                continue;
            }
            if self.diagnostics.len() == before.1 && self.same_line(0) {
                self.missing_comma(what);
            }
            self.eat(COMMA);
            if self.pos == before.0 {
                self.rest_of_part();
            }
        }
    }

    /// Skips the rest of a part of a list that could not be read.
    fn rest_of_part(&mut self) {
        self.open(ERROR);
        self.bump();
        while !matches!(self.peek(), COMMA | L_BRACE | R_BRACE | EOF) && self.same_line(0) {
            self.bump();
        }
        self.close();
        self.eat(COMMA);
    }

    pub(super) fn missing_comma(&mut self, what: &str) {
        if self.at_word("with") && self.nth_word(1, "message") {
            let diagnostic = self
                .error_here(codes::EXPECTED, "a header without alternatives always goes with a message", "not needed")
                .help(
                    "remove it, or name alternatives: `header { Data { seq: u32 } with message | Ack { next: u32 } }`",
                );
            self.report(diagnostic);
            self.bump_as_error();
            self.bump_as_error();
            return;
        }
        if self.at(IDENT) {
            if self.leave_out_second() {
                return;
            }
            let found = self.this();
            let diagnostic = self
                .error_here(
                    codes::MISSING_SEPARATOR,
                    format!("expected `,` before {found}"),
                    "the next one begins here",
                )
                .help(format!("write `,` between one {what} and the next on the same line"));
            self.report(diagnostic);
            return;
        }
        if self.at(PIPE) {
            let diagnostic = self
                .error_here(codes::EXPECTED, "`|` stands between alternatives, which have names", "expected `,` or `}`")
                .help("write `header { Data { seq: u32 } with message | Ack { next: u32 } }`, or `,` between fields");
            self.report(diagnostic);
        } else {
            self.expected("`,` or `}`");
        }
        self.open(ERROR);
        while !matches!(self.peek(), COMMA | EOF | L_BRACE | R_BRACE) && self.same_line(0) {
            self.bump();
        }
        if self.at(L_BRACE) {
            self.skip_balanced();
        }
        self.close();
    }

    /// `(a: u32, b: u16 = 4)`
    pub(super) fn params(&mut self, typed: bool) {
        if !self.at(L_PAREN) {
            self.expected("`(` and parameters");
            self.rest_of_head(L_PAREN);
            if !self.at(L_PAREN) {
                return;
            }
        }
        self.open(PARAM_LIST);
        let opening = self.span_of(0);
        self.bump();
        while !self.at(R_PAREN) && !self.at(EOF) && !self.at_list_end() {
            let before = self.pos;
            self.param(typed);
            if self.pos == before {
                self.rest_of_head(COMMA);
                if !self.eat(COMMA) {
                    break;
                }
                continue;
            }
            if !self.eat(COMMA) && !self.at(R_PAREN) {
                if self.at(IDENT) && self.same_line(0) {
                    self.missing_comma("parameter");
                    continue;
                }
                break;
            }
        }
        self.close_bracket(R_PAREN, opening);
        self.close();
    }

    /// Skips what could not be read as a parameter, or stands in front of the parentheses.
    fn rest_of_head(&mut self, end: SyntaxKind) {
        let at_end = |p: &Self| {
            matches!(p.peek(), R_PAREN | L_BRACE | R_BRACE | ARROW | EOF) || p.at(end) || p.new_line_before(0)
        };
        if at_end(self) {
            return;
        }
        self.open(ERROR);
        while !at_end(self) {
            self.bump();
        }
        self.close();
    }

    pub(super) fn param(&mut self, mut typed: bool) {
        self.open(PARAM);
        if self.at(IDENT) && self.nth_word(1, self.nth_text(0)) && self.same_line(1) {
            self.leave_out_word();
        }
        if self.at(IDENT) && self.nth(1) == IDENT && self.same_line(1) {
            let (type_, name) = (self.nth_text(0), self.nth_text(1));
            let diagnostic = self
                .error_here(codes::EXPECTED, "a parameter's name stands before its type", "expected `name: Type`")
                .help(format!("write `{name}: {type_}`"));
            self.report(diagnostic);
            self.bump_as_error();
            typed = false;
        }
        let called = self.nth_text(0);
        if self.name("a parameter's name") {
            if self.eat(COLON) {
                self.type_();
            } else if typed {
                let type_ = if called == "device" { "Device" } else { "u32" };
                let diagnostic = self
                    .error_here(
                        codes::EXPECTED_TYPE,
                        "the parameter has no type",
                        "expected `:` and a type before this",
                    )
                    .help(format!("write it: `{called}: {type_}`"));
                self.report(diagnostic);
            }
            if self.eat(EQ) {
                self.with_records(true, |p| p.expression());
            }
        }
        self.close();
    }

    /// Reads `{`, what the rule reads, and `}`; if the rule stops early, skips something and calls it again.
    pub(super) fn braces(&mut self, what: &str, mut rule: impl FnMut(&mut Self)) {
        let opening = self.span_of(0);
        // That a string before it has no end, and has swallowed the brace, has been said.
        let swallowed = if self.at(L_BRACE) { None } else { self.swallowed_braces() };
        if swallowed.is_some_and(|open| open > 0) {
            self.begin_afresh();
        } else if swallowed == Some(0) {
            return;
        } else if !self.at(L_BRACE) {
            let errors = self.diagnostics.len();
            self.expected(what);
            if self.opens_without_brace() {
                self.begin_afresh();
            } else {
                if self.at_stop() || self.new_line_before(0) && !self.at(L_BRACE) {
                    return;
                }
                self.skip_line();
                if !self.at(L_BRACE) {
                    return self.end_of_item(errors);
                }
                self.bump();
            }
        } else {
            self.bump();
        }
        let form = self.form;
        self.with_records(true, |p| rule(p));
        self.rest_of_braces();
        self.form = form;
        self.close_bracket(R_BRACE, opening);
    }

    /// Skips what a rule has left within its braces.
    pub(super) fn rest_of_braces(&mut self) {
        if self.at(R_BRACE) || self.at_stop() || self.at_lost_member() {
            return;
        }
        self.expected("`}`");
        self.open(ERROR);
        while !self.at(R_BRACE) && !self.at_stop() && !self.at_lost_member() {
            match self.peek() {
                L_BRACE => self.skip_balanced(),
                _ => self.bump(),
            }
        }
        self.close();
    }
}
