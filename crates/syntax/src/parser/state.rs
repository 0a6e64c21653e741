//! State of scopes and objects.

use super::forms::form_of;
use super::members::STATE_WORDS;
use super::Parser;
use crate::codes;
use crate::kinds::SyntaxKind::{self, *};

impl Parser<'_> {
    /// Reads state, and the handlers of an object.
    pub(super) fn states(&mut self) {
        while !matches!(self.peek(), R_BRACE | EOF) && !self.at_stop() && !self.at_lost_scope() {
            self.leave_out_doubled();
            let before = self.pos;
            if self.at_word("on") {
                self.handler();
            } else if self.at_word("fn") {
                self.function();
            } else {
                self.state_or_unknown();
            }
            if self.at(COMMA) {
                let diagnostic = self
                    .error_here(codes::EXPECTED, "state needs no `,` behind it", "not needed")
                    .help("remove it: blanks or a line's end separate");
                self.report(diagnostic);
                self.bump_as_error();
            } else if self.out_of_step(before) {
                self.recover_member(before);
            }
        }
    }

    /// Whether a member of the layer begins within a scope: then the scope has lost its closing brace.
    pub(super) fn at_lost_scope(&self) -> bool {
        let scope = matches!(self.nth_text(0), "header" | "key" | "entity" | "point" | "session" | "view");
        !self.fragment && self.new_line_before(0) && scope && self.nth(1) == L_BRACE
            || !self.fragment && self.at_word("on") && self.new_line_before(0) && self.nth_word(1, "send")
            || !self.fragment && self.at_word("on") && self.new_line_before(0) && self.nth_word(1, "deliver")
    }

    pub(super) fn state_or_unknown(&mut self) {
        if self.at_any_word(&STATE_WORDS) {
            return self.state();
        }
        if self.at_contained() {
            return self.contained();
        }
        if self.at(IDENT) && self.nth(1) == COLON {
            let found = self.nth_text(0);
            let diagnostic = self
                .error_here(codes::UNKNOWN_STATE, format!("`{found}` begins no kind of state"), "expected `var`")
                .help(format!("write `var {found}: …`"));
            return self.report(diagnostic);
        }
        if self.at(IDENT) && self.nth(1) == L_PAREN && self.same_line(1) {
            let (word, room) = (self.nth_text(0), self.nth_text(2));
            let close = (2..9).find(|n| self.nth(*n) == R_PAREN && self.nth(n + 1) == IDENT && self.same_line(n + 1));
            if let Some(close) = close {
                let name = self.nth_text(close + 1);
                let diagnostic = self
                    .error_here(codes::UNKNOWN_STATE, "the name stands in front of the parentheses", "not behind them")
                    .help(format!("write `{word} {name}({room})`"));
                self.report(diagnostic);
                self.bump_as_error();
                return self.skip_line();
            }
        }
        if let Some(ours) = self.foreign_state() {
            return self.known_state(ours);
        }
        if let Some(meant) = self.unknown_word(codes::UNKNOWN_STATE, "kind of state", &STATE_WORDS) {
            if self.nth(1) == IDENT {
                self.known_state(meant);
            }
        }
    }

    /// Reports words with which other languages begin state.
    fn foreign_state(&mut self) -> Option<&'static str> {
        const WORDS: [(&str, &str); 8] = [
            ("let", "var"),
            ("mut", "var"),
            ("static", "var"),
            ("state", "var"),
            ("field", "var"),
            ("buffer", "messages"),
            ("hash", "map"),
            ("dict", "map"),
        ];
        let (_, ours) = WORDS.iter().find(|(word, _)| self.at_word(word) && self.nth(1) == IDENT)?;
        let found = self.this();
        let diagnostic = self
            .error_here(codes::UNKNOWN_STATE, format!("{found} begins no kind of state"), "of another language")
            .help(format!("write `{ours}`"));
        self.report(diagnostic);
        if self.nth_word(1, "mut") && self.nth(2) == IDENT {
            self.bump_as_error();
        }
        Some(ours)
    }

    pub(super) fn state(&mut self) {
        self.known_state(self.nth_text(0));
    }

    pub(super) fn known_state(&mut self, word: &str) {
        self.form = form_of(word);
        match word {
            "var" => self.typed_value(VAR, "the variable's name"),
            "const" => self.constant_state(),
            "timer" => self.named_state(TIMER, "the timer's name"),
            "counter" => self.named_state(COUNTER, "the counter's name"),
            "quota" => self.sized(QUOTA, "the quota's name", "`:` and how many"),
            "map" | "array" if self.nth(1) == LT => self.types_in_front(word),
            "array" => self.typed(ARRAY, "the array's name"),
            "map" => self.typed(MAP, "the map's name"),
            _ => self.messages(),
        }
    }

    /// `const priority: u8 = 0 from open, listen`, `const iss: seq32 = 0 from accept`
    fn constant_state(&mut self) {
        self.open_documented(CONST_STATE);
        self.bump();
        if self.name_here("the constant's name") && self.type_annotation() && self.expect(EQ, "`=` and a value") {
            self.expression();
            if self.at_word("from") && self.same_line(0) {
                self.bump();
                self.giver();
                while self.at(COMMA) && ["open", "listen", "accept"].contains(&self.nth_text(1)) {
                    self.bump();
                    self.giver();
                }
            }
        }
        self.close();
    }

    /// Reads who sets the value of a session's constant.
    fn giver(&mut self) {
        if !self.eat_word("accept") && !self.eat_word("listen") {
            self.form = "const priority: u8 = 0 from open, listen, accept";
            self.expect_word("open");
        }
    }

    pub(super) fn named_state(&mut self, kind: SyntaxKind, what: &str) {
        self.open_documented(kind);
        self.bump();
        let name = self.nth_text(0);
        let named = self.name_here(what);
        if named && self.at(EQ) && self.same_line(0) {
            let (text, help) = match kind {
                TIMER => {
                    let unit = if self.nth(2) == IDENT && self.same_line(2) { self.nth_text(2) } else { "" };
                    let value = format!("{} {unit}", self.nth_text(1));
                    (
                        "a timer has no value",
                        format!("leave it out; a handler starts it: `start {name} after {}`", value.trim()),
                    )
                }
                _ => ("a counter begins at 0", "leave it out".to_string()),
            };
            let diagnostic = self.error_here(codes::EXPECTED, text, "not needed");
            self.report(diagnostic.help(help));
            self.bump_as_error();
            self.expression();
        }
        self.close();
    }

    /// Reports `map<Name, u16> numbers`.
    fn types_in_front(&mut self, word: &str) {
        let name = (2..9).find(|n| self.nth(*n) == GT).map_or("m", |n| self.nth_text(n + 1));
        let form = if word == "map" { "[u32 -> u48; 64]" } else { "[u32; 8]" };
        let diagnostic = self
            .error_here(codes::EXPECTED_TYPE, "the types stand behind the name", "not in front of it")
            .help(format!("write `{word} {name}: {form}`, with how many it holds at most"));
        self.report(diagnostic);
        self.open(ERROR);
        self.bump();
        self.skip_line();
        self.close();
    }

    pub(super) fn typed(&mut self, kind: SyntaxKind, what: &str) {
        self.open_documented(kind);
        self.bump();
        if self.name_here(what) {
            self.type_annotation();
        }
        self.close();
    }

    pub(super) fn sized(&mut self, kind: SyntaxKind, what: &str, size: &str) {
        self.open_documented(kind);
        self.bump();
        if self.name_here(what) && self.expect(COLON, size) {
            self.expression();
        }
        self.close();
    }

    /// `messages waiting: 8 from kept`
    pub(super) fn messages(&mut self) {
        self.open_documented(MESSAGES);
        self.bump();
        if self.name_here("the places' name") && self.expect(COLON, "`:` and how many") {
            self.expression();
            if self.eat_word("from") {
                self.name_here("a quota's name");
            }
        }
        self.close();
    }
}
