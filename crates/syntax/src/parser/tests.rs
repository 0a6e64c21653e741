//! Tests.
//!
//! A test's outputs are on the line of their `=>`; several such lines in a row make one list.

use super::forms::form_of;
use super::Parser;
use crate::codes;
use crate::kinds::SyntaxKind::{self, *};

/// The keyword of a step that is most similar to a word.
fn near(word: &str) -> Option<&'static str> {
    const WORDS: [&str; 21] = [
        "stack",
        "dropped",
        "consumed",
        "reported",
        "counter",
        "after",
        "nothing",
        "host",
        "link",
        "at",
        "partition",
        "until",
        "expect",
        "when",
        "frame",
        "crash",
        "restart",
        "clock",
        "casts",
        "delivers",
        "views",
    ];
    mokume_base::did_you_mean(word, WORDS)
}

impl Parser<'_> {
    /// `test "name" { … }`
    pub(super) fn test(&mut self) {
        self.open_documented(TEST);
        self.bump();
        self.expect(STRING, "the test's name in quotes");
        self.stack_of_test();
        self.in_test(|p| p.braces("`{` and steps", |p| p.test_steps()));
        self.close();
    }

    /// Reports `test "name" on Host {`, and skips it.
    fn stack_of_test(&mut self) {
        if !(self.at(IDENT) && self.nth(1) == IDENT && self.nth(2) == L_BRACE && self.same_line(2)) {
            return;
        }
        let stack = self.nth_text(1).to_string();
        let diagnostic = self
            .error_here(
                codes::EXPECTED,
                format!("expected `{{` and steps, found `{}`", self.nth_text(0)),
                "the stack stands in the braces",
            )
            .help(format!("write it as the first step: `test \"…\" {{ stack {stack} … }}`"));
        self.report(diagnostic);
        self.open(ERROR);
        self.bump();
        self.bump();
        self.close();
    }

    /// `suite Segments(S: stack) { test "…" { stack S … } }`
    pub(super) fn suite(&mut self) {
        self.open_documented(SUITE);
        self.bump();
        self.name_here("the suite's name");
        if self.at(L_PAREN) {
            self.params(true);
        }
        self.in_suite = true;
        self.braces("`{` and tests", |p| p.tests_of_suite());
        self.in_suite = false;
        self.close();
    }

    fn tests_of_suite(&mut self) {
        while !matches!(self.peek(), R_BRACE | EOF) && !self.at_stop() {
            let before = self.pos;
            if self.at_word("test") {
                self.test();
            } else {
                self.expected("a `test`");
            }
            if self.out_of_step(before) {
                self.recover_member(before);
            }
        }
    }

    /// `run Segments(Plain)`
    pub(super) fn run(&mut self) {
        let errors = self.diagnostics.len();
        self.open_documented(RUN);
        self.bump();
        self.layer_use();
        self.end_of_item(errors);
        self.close();
    }

    pub(super) fn in_test(&mut self, rule: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.in_test, true);
        rule(self);
        self.in_test = before;
    }

    pub(super) fn test_steps(&mut self) {
        while !matches!(self.peek(), R_BRACE | EOF) && !self.at_stop() {
            let before = self.pos;
            self.test_step();
            if self.out_of_step(before) {
                self.recover_member(before);
            }
        }
    }

    fn test_step(&mut self) {
        self.form = form_of(self.nth_text(0));
        let name_follows = self.nth(1) == IDENT && self.same_line(1);
        match self.nth_text(0) {
            "stack" if name_follows => {
                self.open(TEST_STACK);
                self.bump();
                self.layer_use();
                self.close();
            }
            "dropped" if name_follows => self.counted(DROPPED_STEP),
            "consumed" if name_follows => self.counted(CONSUMED_STEP),
            "reported" if name_follows => self.counted(REPORTED_STEP),
            "counter" if name_follows => {
                self.form = "counter hits 1";
                self.counted(COUNTER_STEP)
            }
            "after" if self.nth(1) != DOT => {
                self.open(AFTER_STEP);
                self.bump();
                self.expression();
                self.close();
            }
            "=>" => self.expectation(),
            _ if self.at(IDENT) && self.nth(1) == DOT => {
                self.open(INPUT_STEP);
                self.statement_at = Some(self.pos);
                self.postfix();
                self.close();
            }
            _ => self.unknown_step("`port.event(…)`, `=> port.event(…)`, `=> nothing`, `dropped reason 1`, `consumed reason 1`, `reported overflow 1`, `counter hits 1` or `after 20 ms`"),
        }
    }

    pub(super) fn unknown_step(&mut self, steps: &str) {
        if self.report_foreign() {
            return;
        }
        let found = self.this();
        let help = match self.nth_text(0) {
            "drop" | "drops" => "write `dropped` and the reason: `dropped stale 1`".to_string(),
            "consume" => "write `consumed` and the reason: `consumed used 1`".to_string(),
            "expect" | "assert" => "outputs stand behind `=>`: `=> app.deliver(_, \"one\")`".to_string(),
            "after" | "wait" | "sleep" if steps.contains("`host ") => "write `at 20 ms  a.port.event(…)`".to_string(),
            "wait" | "sleep" => "write `after 20 ms`".to_string(),
            _ if self.at(FAT_ARROW) && steps.contains("`host ") => "write `expect b.port.event(…)`".to_string(),
            host if self.at(IDENT) && self.nth(1) == DOT && steps.contains("`host ") => {
                format!("say when: `at 10 ms  {host}.{}.event(…)`", self.nth_text(2))
            }
            "nothing" => "`nothing` stands alone behind `=>`: outputs came, or none did".to_string(),
            "let" | "var" => "a handle gets its name where it comes out: `=> app.accepted(?s)`".to_string(),
            word if self.at(IDENT) && self.nth(1) == L_PAREN => {
                format!("a stack is set up by `stack {word}(…)`, an event goes to a port: `port.{word}(…)`")
            }
            word @ ("counter" | "dropped" | "consumed" | "reported") if steps.contains("`host ") => match word {
                "reported" => "a report fails a network; `reported overflow 1` is a step of a `test`".to_string(),
                _ if self.nth(2) == DOT => {
                    format!("write `expect {word} {}.{} 1`", self.nth_text(1), self.nth_text(3))
                }
                _ => format!("write `expect {word} b.{} 1`, for host `b`", self.nth_text(1)),
            },
            word if self.at(IDENT) && self.nth(1) == IDENT && near(word).is_some_and(|near| near != word) => {
                format!("did you mean `{}`?", near(word).unwrap_or_default())
            }
            _ if self.at(IDENT) && self.nth(1) == EQ => format!("write `host {} = …`", self.nth_text(0)),
            _ => format!("write {steps}"),
        };
        let mut diagnostic =
            self.error_here(codes::UNKNOWN_STEP, format!("{found} begins no step"), "expected a step").help(help);
        if self.at(ARROW) {
            diagnostic.code = codes::WRONG_ARROW;
            diagnostic = diagnostic.note("outputs stand behind `=>`");
        }
        self.report(diagnostic);
    }

    /// `dropped stale 1`, `dropped Rfc768.length 2`
    fn counted(&mut self, kind: SyntaxKind) {
        self.open(kind);
        self.bump();
        let word = self.nth_before().to_string();
        self.path_here("the name of what is counted");
        if self.new_line_before(0) || self.at(R_BRACE) {
            let place = self.span_before();
            let diagnostic = mokume_base::Diagnostic::error(codes::EXPECTED, "how many are expected is missing")
                .at(place, "how many?");
            self.report(diagnostic.help(format!("write the number: `{word} {} 1`", self.nth_before())));
        } else {
            self.expression();
        }
        self.close();
    }

    /// `=> app.accepted(?s)  app.deliver(s, "one")`, `=> nothing`
    fn expectation(&mut self) {
        self.form = "=> app.deliver(_, \"one\")";
        self.open(EXPECT_STEP);
        self.bump();
        if self.at_word("nothing") && self.nth(1) != DOT {
            self.open(NOTHING);
            self.bump();
            self.close();
        } else {
            self.output();
            loop {
                if self.at(COMMA) && self.same_line(0) {
                    let diagnostic = self
                        .error_here(codes::EXPECTED, "outputs need no `,` between them", "not needed")
                        .help("remove it: they stand side by side, or behind a `=>` each");
                    self.report(diagnostic);
                    self.bump_as_error();
                }
                if !self.at(IDENT) || self.new_line_before(0) || self.nth(1) != DOT {
                    break;
                }
                let before = self.pos;
                self.output();
                if self.pos == before {
                    break;
                }
            }
        }
        if self.at_word("within") && self.same_line(0) {
            self.open(WITHIN);
            self.bump();
            self.expression();
            self.close();
        }
        self.close();
    }

    pub(super) fn output(&mut self) {
        if self.at(IDENT) && self.same_line(0) {
            self.of_output = true;
            self.postfix();
            self.of_output = false;
        } else {
            self.expected("an output, or `nothing`");
        }
    }
}
