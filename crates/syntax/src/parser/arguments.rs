//! Arguments, indices and the fields of records: the lists within expressions.

use super::expressions::Height;
use super::primary::is_upper;
use super::Parser;
use crate::codes;
use crate::kinds::SyntaxKind::{self, *};
use crate::lexer::UNITS;

use rowan::Checkpoint;

impl Parser<'_> {
    /// Expressions of an index: one, or several for a map with several keys.
    pub(super) fn deeper_list(&mut self, end: SyntaxKind) -> Height {
        let mut height = 0;
        self.nested(|p| {
            height = p.expression();
            while p.eat(COMMA) && !p.at(end) {
                height = height.max(p.expression());
            }
            if !p.at(end) && p.same_line(0) {
                p.expected(if end == R_BRACKET { "`]` or `,`" } else { "`)` or `,`" });
            }
        });
        height
    }

    /// `(a, name: b, outer.inner: c)`
    pub(super) fn arguments(&mut self) -> Height {
        let mut height = 0;
        self.open(ARG_LIST);
        let opening = self.span_of(0);
        let of_output = std::mem::replace(&mut self.of_output, false);
        self.bump();
        self.bracketed(|p| {
            p.nested(|p| {
                while !p.at(R_PAREN) && !p.at_list_end() {
                    if of_output && p.at(DOT_DOT) {
                        p.open(REST);
                        p.bump();
                        p.close();
                        if p.at(COMMA) && p.same_line(0) {
                            let diagnostic = p
                                .error_here(codes::EXPECTED, "`..` stands last: it is for all that follows", "not behind it")
                                .help("write `_` for each argument in front, or name the ones that matter: `(name: value, ..)`");
                            p.report(diagnostic);
                            p.skip_to_separator(R_PAREN);
                            while p.eat(COMMA) {
                                p.skip_to_separator(R_PAREN);
                            }
                        }
                        break;
                    }
                    let before = p.pos;
                    height = height.max(p.argument());
                    if !p.separator(R_PAREN, "argument") || p.pos == before {
                        break;
                    }
                }
            })
        });
        self.close_bracket(R_PAREN, opening);
        self.close();
        height
    }

    /// Reports `msg, seq: 1)`, and reads it as if the `(` were there.
    pub(super) fn arguments_without_opening(&mut self) -> Height {
        let found = self.found();
        let diagnostic = self
            .missing_here(codes::EXPECTED, format!("expected `(`, found {found}"), "expected `(`")
            .help("a call has parentheses: `name(…)`");
        self.diagnostics.push(diagnostic);
        let mut height = 0;
        self.open(ARG_LIST);
        self.bracketed(|p| {
            p.nested(|p| loop {
                height = height.max(p.argument());
                if !p.eat(COMMA) || p.at(R_PAREN) {
                    break;
                }
            })
        });
        if !self.eat(R_PAREN) {
            self.skip_line();
        }
        self.close();
        height
    }

    pub(super) fn at_list_end(&self) -> bool {
        self.at(R_BRACE) || self.at_stop() || self.new_line_before(0) && self.starts_line_of_its_own()
    }

    /// Reads the comma between two parts of a list; `false` if the list cannot continue.
    pub(super) fn separator(&mut self, end: SyntaxKind, what: &str) -> bool {
        if self.eat(COMMA) {
            return true;
        }
        if self.at(end) {
            return false;
        }
        if self.at_list_end() || self.at(EOF) {
            return false;
        }
        if self.at_expression() && self.same_line(0) {
            self.report_missing_separator(what);
            return true;
        }
        if self.new_line_before(0) && !self.at(R_PAREN) && !self.at(R_BRACKET) && !self.at(SEMICOLON) {
            return false;
        }
        if self.at(QUESTION) && self.in_test {
            let diagnostic = self
                .error_here(codes::EXPECTED, "the `?` stands before the handle's name", "expected before the name")
                .help("write `?s`");
            self.report(diagnostic);
            self.bump_as_error();
            return self.eat(COMMA);
        }
        let close = match end {
            R_PAREN => "`,` or `)`",
            R_BRACKET => "`,` or `]`",
            _ => "`,` or `}`",
        };
        self.expected(close);
        self.skip_to_separator(end);
        self.eat(COMMA)
    }

    /// Reports `(a b)`.
    fn report_missing_separator(&mut self, what: &str) {
        let text = format!("expected `,` before {}", self.this());
        let mut diagnostic = self
            .error_here(codes::MISSING_SEPARATOR, text, "the next one begins here")
            .help(format!("write `,` between one {what} and the next"));
        if self.at(IDENT) && self.pos > 0 && self.tokens[self.significant[self.pos - 1] as usize].kind == NUMBER {
            diagnostic = diagnostic.note(format!("units of durations are {}", super::report::listed(&UNITS)));
        }
        self.report(diagnostic);
    }

    /// After a mistake in a list: skips to the next comma, the list's end, or the line's.
    pub(super) fn skip_to_separator(&mut self, end: SyntaxKind) {
        self.open(ERROR);
        while !matches!(self.peek(), COMMA | EOF | L_BRACE | R_BRACE) && !self.at(end) && self.same_line(0) {
            self.bump();
        }
        self.close();
    }

    /// Reports `below.send(msg, to flow(…))`, and reads past the target.
    fn target_inside(&mut self) -> Height {
        let text = "who gets it stands behind the parentheses";
        let diagnostic = self.error_here(codes::EXPECTED, text, "not among the arguments");
        self.report(diagnostic.help("write `below.send(…) to flow(…)`"));
        self.open(ERROR);
        self.bump();
        let height = self.value("a flow");
        self.close();
        height
    }

    pub(super) fn argument(&mut self) -> Height {
        if self.at_word("to") && self.nth_word(1, "flow") {
            return self.target_inside();
        }
        self.open(ARG);
        if self.at_argument_name() {
            self.path("an argument's name");
            self.bump();
        }
        let start = self.checkpoint();
        let height = self.value("an argument");
        if self.in_test && self.at_packet_part() {
            self.packet(start);
        }
        self.close();
        height
    }

    pub(super) fn at_argument_name(&self) -> bool {
        let mut n = 0;
        while self.nth(n) == IDENT && self.nth(n + 1) == DOT && n < 16 {
            n += 2;
        }
        self.nth(n) == IDENT && self.nth(n + 1) == COLON
    }

    /// Reports and skips `c ? a : b`.
    pub(super) fn check_ternary(&mut self, start: Checkpoint) {
        if self.at(QUESTION) && self.same_line(0) && !self.in_test {
            let is_choice = (1..16).take_while(|n| self.same_line(*n)).any(|n| self.nth(n) == COLON);
            let (text, help) = match is_choice {
                true => ("the language has no `? :`", "write `if c { a } else { b }`, which is a value"),
                false => ("no `?` stands behind a value", "what may be missing is followed by `or { … }`; what is read beyond a message's end is reported, and 0"),
            };
            self.report(self.error_here(codes::FOREIGN_OPERATOR, text, "of another language").help(help));
            if is_choice {
                // The condition is no value of what is assigned.
                self.open_at(start, ERROR);
                self.bump();
                self.expression();
                if self.eat(COLON) {
                    self.expression();
                }
                self.close();
            } else {
                self.skip_line();
            }
        }
    }

    pub(super) fn value(&mut self, what: &str) -> Height {
        let height = self.expression();
        if self.at(EQ) && self.same_line(0) {
            let diagnostic = self
                .error_here(codes::ASSIGN_IN_CONDITION, format!("`=` within {what}"), "an assignment is no value")
                .help("write `==` to compare, `name: value` to name an argument");
            self.report(diagnostic);
            self.open(ERROR);
            self.bump();
            self.expression();
            self.close();
        }
        height
    }

    /// `{ left: 1, right }`
    pub(super) fn record_fields(&mut self) -> Height {
        let opening = self.span_of(0);
        let mut height = 0;
        self.nested(|p| {
            p.bump();
            p.bracketed(|p| height = p.fields_of_record());
            p.close_bracket(R_BRACE, opening);
        });
        height
    }

    pub(super) fn fields_of_record(&mut self) -> Height {
        let p = self;
        let mut height = 0;
        while !p.at(R_BRACE) && !p.at_stop() {
            if p.in_test && p.at(DOT_DOT) {
                p.open(REST);
                p.bump();
                p.close();
                break;
            }
            let before = p.pos;
            if p.in_test && (p.alternative_in_packet() || p.rest_in_brackets()) {
                continue;
            }
            p.open(RECORD_EXPR_FIELD);
            if p.name("a field's name") && (p.eat(COLON) || p.field_assigned()) {
                height = height.max(p.value("a field"));
            }
            p.close();
            if !p.eat(COMMA) && !p.at(R_BRACE) {
                if p.at(IDENT) && p.nth(1) == COLON {
                    p.separator(R_BRACE, "field");
                } else {
                    p.expected("`,` or `}`");
                    p.skip_to_separator(R_BRACE);
                    p.eat(COMMA);
                }
            }
            if p.pos == before {
                break;
            }
        }
        height
    }

    /// Reports `Wire { Tell { value: 1 } }`, and skips the braces within.
    fn alternative_in_packet(&mut self) -> bool {
        if !(self.at(IDENT) && is_upper(self.nth_text(0)) && self.nth(1) == L_BRACE) {
            return false;
        }
        let name = self.nth_text(0);
        let diagnostic = self
            .error_here(codes::EXPECTED, format!("`{name}` has no braces of its own in a packet"), "an alternative")
            .help(format!(
                "its fields stand beside the others, and with them the field of the `choice`, whose value is the number in front of `=> {name}` in the wire"
            ));
        self.report(diagnostic);
        self.bump_as_error();
        self.skip_balanced();
        self.eat(COMMA);
        true
    }

    /// Reports `Wire { kind: 2, [..] }`, and skips the brackets.
    fn rest_in_brackets(&mut self) -> bool {
        if !(self.at(L_BRACKET) && self.nth(1) == DOT_DOT) {
            return false;
        }
        let diagnostic = self
            .error_here(codes::EXPECTED, "expected a field's name, found `[..]`", "no list stands here")
            .help("`..` without brackets, behind all others, stands for the fields that are not looked at");
        self.report(diagnostic);
        self.skip_balanced();
        self.eat(COMMA);
        true
    }

    /// Reports `Pair { left = 1 }`, and reads on.
    pub(super) fn field_assigned(&mut self) -> bool {
        if !self.at(EQ) {
            return false;
        }
        let diagnostic = self
            .error_here(codes::ASSIGN_IN_CONDITION, "`=` within a record", "expected `:`")
            .help("a field and its value are joined by `:`, as in `Pair { left: 1 }`");
        self.report(diagnostic);
        self.bump();
        true
    }
}
