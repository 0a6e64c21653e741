//! Handlers: `on event(…) from flow { … }`, and the patterns in their parentheses.

use super::primary::is_upper;
use super::Parser;
use crate::codes;
use crate::kinds::SyntaxKind::*;

/// Words behind a handler's parameters.
const CLAUSE_WORDS: [&str; 4] = ["from", "to", "limit", "later"];

/// Events with a handler that a layer may have; those of timers and of the beginning have other heads.
const EVENTS_OF_LAYERS: [&str; 14] = [
    "send",
    "deliver",
    "arrives",
    "open",
    "opened",
    "failed",
    "listen",
    "bind",
    "unlisten",
    "accepted",
    "unmatched",
    "close",
    "abort",
    "closed",
];

impl Parser<'_> {
    /// `on deliver(msg, Data { seq }) from flow later 64 { … }`
    pub(super) fn handler(&mut self) {
        self.open_documented(HANDLER);
        self.bump();
        self.handler_behind_on();
    }

    /// `send(msg) { … }`, `expiry t { … }` as a member: the `on` in front is missing. Reads the handler that is meant.
    pub(super) fn handler_without_on(&mut self) -> bool {
        let is_head = match self.nth_text(0) {
            "expiry" => self.nth(1) == IDENT && self.same_line(1),
            "start" | "settle" => self.nth(1) == L_BRACE,
            word => EVENTS_OF_LAYERS.contains(&word) && matches!(self.nth(1), L_PAREN | L_BRACE),
        };
        if !is_head {
            return false;
        }
        let word = self.nth_text(0);
        let diagnostic = self
            .error_here(codes::UNKNOWN_MEMBER, format!("`{word}` begins no member"), "an event")
            .help(format!("a handler begins with `on`: write `on {word} …`"));
        self.report(diagnostic);
        self.open_documented(HANDLER);
        self.handler_behind_on();
        true
    }

    /// `fn send(msg) { … }`: an event's name, and parameters without types. Reads the handler that is meant.
    pub(super) fn handler_as_function(&mut self) -> bool {
        let event = self.nth_text(1);
        let untyped = self.nth(3) == R_PAREN || self.nth(3) == IDENT && matches!(self.nth(4), COMMA | R_PAREN);
        if !EVENTS_OF_LAYERS.contains(&event) || self.nth(2) != L_PAREN || !untyped || self.nth(3) == R_PAREN {
            return false;
        }
        let parameters =
            if self.nth(4) == R_PAREN { self.nth_text(3).to_string() } else { format!("{}, …", self.nth_text(3)) };
        let diagnostic = self
            .error_here(
                codes::UNKNOWN_MEMBER,
                format!("`{event}` is an event, and no function hears it"),
                "a function is called by name",
            )
            .help(format!("write `on {event}({parameters}) {{ … }}`"));
        self.report(diagnostic);
        self.handler();
        true
    }

    fn handler_behind_on(&mut self) {
        let meant = self.event_meant();
        if self.at_word("expiry") || meant == Some("expiry") {
            self.form = "on expiry t { … }";
            self.bump();
            if self.name_here("the timer's name") && self.at(DOT) {
                self.bump();
                self.name_here("the timer's name");
            }
        } else {
            if (self.at_word("change") || meant == Some("change")) && self.nth_word(1, "below") {
                self.form = "on change below.mtu { … }";
                self.bump();
            }
            self.path("an event's name");
        }
        if self.at(L_PAREN) {
            self.patterns();
        } else if self.at(IDENT) && self.same_line(0) && !self.at_any_word(&CLAUSE_WORDS) {
            self.expected("`(` and parameters");
            while self.at(IDENT) && self.same_line(0) && !self.at_any_word(&CLAUSE_WORDS) {
                self.bump_as_error();
            }
        }
        self.handler_clauses();
        if self.at(ARROW) {
            let diagnostic = self
                .error_here(codes::EXPECTED, "a handler has no result", "expected its block")
                .help("what it has to say goes on as an event: `above.deliver(msg)`");
            self.report(diagnostic);
        }
        self.block();
        self.close();
    }

    /// Reports a word in the place of `expiry` or `change` that is neither, and reads it as the one that was meant.
    fn event_meant(&mut self) -> Option<&'static str> {
        let named = self.nth(1) == IDENT && self.same_line(1);
        let of_below = named && self.nth_word(1, "below") && self.nth(2) == DOT;
        let of_timer = named && matches!(self.nth(2), L_BRACE | DOT) && !CLAUSE_WORDS.contains(&self.nth_text(1));
        let is_time = mokume_base::did_you_mean(self.nth_text(0), ["expiry", "expire", "expired", "expires"]).is_some()
            || matches!(self.nth_text(0), "timeout" | "timer" | "elapsed" | "alarm" | "tick");
        let (meant, form) = match () {
            () if self.at_word("expiry") || self.at_word("change") || !self.at(IDENT) => return None,
            () if of_below => ("change", format!("on change below.{} {{ … }}", self.nth_text(3))),
            () if of_timer && is_time => ("expiry", format!("on expiry {} {{ … }}", self.nth_text(1))),
            () => return None,
        };
        let found = self.this();
        let diagnostic =
            self.error_here(codes::EXPECTED, format!("{found} is no such event"), format!("expected `{meant}`"));
        self.report(diagnostic.help(format!("write `{form}`")));
        Some(meant)
    }

    pub(super) fn handler_clauses(&mut self) {
        loop {
            let kind = match self.nth_text(0) {
                "from" => FROM_CLAUSE,
                "to" => TO_CLAUSE,
                "limit" => LIMIT_CLAUSE,
                "later" => LATER_ROOM,
                _ => return,
            };
            self.open(kind);
            self.bump();
            self.head_expression();
            self.close();
        }
    }

    /// `(msg, seq)`, `(msg, Data { seq })`, `(made: u32)`
    pub(super) fn patterns(&mut self) {
        self.open(PATTERN_LIST);
        let opening = self.span_of(0);
        self.bump();
        while self.at(IDENT) && !self.at_list_end() {
            let is_type = is_upper(self.nth_text(0));
            if is_type && self.nth(1) == L_BRACE {
                self.alternative_pattern();
            } else if is_type && self.nth(1) == IDENT {
                let (name, field) = (self.nth_text(0), self.nth_text(1));
                let diagnostic = self
                    .error_here(codes::EXPECTED, "an alternative's fields stand in braces", "expected braces behind it")
                    .help(format!("write `{name} {{ {field} }}`"));
                self.report(diagnostic);
                self.bump();
                self.bump();
            } else if is_type && self.nth(1) == L_PAREN {
                let name = self.nth_text(0);
                let diagnostic = self
                    .error_here(codes::EXPECTED, "an alternative's fields stand in braces", "expected braces behind it")
                    .help(format!("write `{name} {{ … }}`"));
                self.report(diagnostic);
                self.bump();
                self.skip_balanced();
            } else {
                self.param(false);
            }
            if !self.eat(COMMA) {
                if !self.at(IDENT) || self.new_line_before(0) {
                    break;
                }
                self.expected("`,` or `)`");
            }
        }
        if !self.at(R_PAREN) && !self.at(L_BRACE) && self.same_line(0) {
            self.expected("a parameter's name");
            self.open(ERROR);
            while !matches!(self.peek(), R_PAREN | L_BRACE | R_BRACE | EOF) && self.same_line(0) {
                self.bump();
            }
            self.close();
        }
        self.close_bracket(R_PAREN, opening);
        self.close();
    }

    /// `Data { seq }`, `Data { seq: number }`
    pub(super) fn alternative_pattern(&mut self) {
        self.open(ALTERNATIVE_PATTERN);
        self.name("an alternative's name");
        let opening = self.span_of(0);
        self.bump();
        while self.at(IDENT) {
            self.open(PATTERN_FIELD);
            self.name("a field's name");
            if self.eat(COLON) {
                self.name("a name for the field");
            }
            self.close();
            if !self.eat(COMMA) {
                break;
            }
        }
        self.close_bracket(R_BRACE, opening);
        self.close();
    }
}
