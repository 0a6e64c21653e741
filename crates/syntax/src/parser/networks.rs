//! Networks: hosts, links and their weather, faults, inputs, and what is expected.

use super::forms::form_of;
use super::Parser;
use crate::codes;
use crate::kinds::SyntaxKind::*;

/// The options of a link.
const OPTIONS: [&str; 9] = ["loss", "duplicate", "reorder", "corrupt", "delay", "burst", "rate", "queue", "calm"];

/// The unit of a rate that a word of elsewhere most likely means: `kbps`, `Mb`.
fn likely_unit(word: &str) -> &'static str {
    match word.chars().next().map(|first| first.to_ascii_lowercase()) {
        Some('k') => "kbit",
        Some('m') => "Mbit",
        Some('g') => "Gbit",
        _ => "bit",
    }
}

impl Parser<'_> {
    /// `network Demo { … }`
    pub(super) fn network(&mut self) {
        self.open_documented(NETWORK);
        self.bump();
        self.name_here("the network's name");
        if self.at(L_PAREN) {
            self.params(true);
        }
        self.in_test(|p| p.braces("`{` and hosts", |p| p.network_members()));
        self.close();
    }

    pub(super) fn network_members(&mut self) {
        while !matches!(self.peek(), R_BRACE | EOF) && !self.at_stop() {
            let before = self.pos;
            self.network_member();
            if self.out_of_step(before) {
                self.recover_member(before);
            }
        }
    }

    fn network_member(&mut self) {
        self.form = form_of(self.nth_text(0));
        match self.nth_text(0) {
            "host" => self.host(),
            "link" => self.link(),
            "at" => {
                self.open(AT_STEP);
                self.bump();
                self.expression();
                self.postfix();
                self.close();
            }
            "partition" => self.partition(),
            "expect" if self.nth_word(1, "casts") && self.nth(2) != DOT => self.promised(),
            "expect" if self.is_tally() => self.tally(),
            "expect" => self.expected_output(),
            "crash" | "restart" => self.outage(),
            "clock" => self.clock(),
            "casts" | "delivers" | "views" => self.cast_line(),
            "when" => self.when_step(),
            "frame" => self.frame_fault(),
            "until" => self.until(),
            _ => self.unknown_step(
                "`host a = Stack(…)`, `link lan { a.device, b.device }`, `at 10 ms a.port.event(…)`, `when a.port.event(…) a.port.event(…)`, `expect b.port.event(…) until 1 s`, `expect dropped b.stale 1`, `frame 3 of a.device lost`, `partition a from 1 s until 2 s`, `crash a at 1 s`, `restart a at 2 s`, `clock a ahead 3 s`, `casts app.send_to`, `delivers app.deliver_from`, `views app.view(?v, ..)`, `expect casts total` or `until 2 s`",
            ),
        }
    }

    /// `until 2 s`
    fn until(&mut self) {
        self.open(UNTIL);
        self.bump();
        self.expression();
        self.close();
    }

    /// `expect b.app.deliver(_, "hello")  20 times until 2 s`, `expect nothing at a.app.failed_session`
    fn expected_output(&mut self) {
        self.open(EXPECTATION);
        self.bump();
        if self.at_word("nothing") && self.nth(1) != DOT {
            self.open(NOTHING);
            self.bump();
            self.close();
            if self.at_word("at") {
                self.bump();
            } else {
                let text = format!("expected `at` and an output, found {}", self.found());
                let diagnostic = self.missing_here(codes::EXPECTED, text, "nothing of what?");
                let counts = self.at_any_word(&["dropped", "consumed", "counter"]) && self.nth(1) == IDENT;
                self.report(match counts {
                    true => diagnostic.help(format!("write how many: `expect {} b.name 0`", self.nth_text(0))),
                    false => diagnostic.help("write `expect nothing at a.app.deliver`"),
                });
                if counts {
                    self.skip_line();
                }
                return self.close();
            }
        }
        self.output();
        if self.at_word("nothing") && self.same_line(0) && self.nth(1) != DOT {
            let diagnostic = self
                .error_here(codes::EXPECTED, "`nothing` stands in front of the output", "not behind it")
                .help("write `expect nothing at b.app.deliver`");
            self.report(diagnostic);
            self.bump_as_error();
        }
        if self.at(NUMBER) && self.same_line(0) {
            self.open(TIMES);
            self.expression();
            if self.at_word("times") || self.at_word("time") {
                self.bump();
            } else {
                let text = format!("expected `times`, found {}", self.found());
                let diagnostic = self.missing_here(codes::EXPECTED, text, "how often?");
                self.report(diagnostic.help("write `expect b.app.deliver 20 times`"));
            }
            self.close();
        }
        self.time_of_expectation();
        if self.at_word("until") && self.same_line(0) {
            self.until();
        }
        self.close();
    }

    /// Reports `at 20 ms` and `within 20 ms` behind what is expected.
    fn time_of_expectation(&mut self) {
        if self.at_any_word(&["at", "within", "before", "by"]) && self.same_line(0) && self.nth(1) == NUMBER {
            let word = self.nth_text(0);
            let diagnostic = self
                .error_here(codes::EXPECTED, format!("`{word}` says no time here"), "expected `until`")
                .help("until when it is to come is said by `until`, from the network's beginning: `until 20 ms`");
            self.report(diagnostic);
            self.skip_line();
        }
    }

    /// `when a.app.opened(1, ?s)  after 5 ms  a.app.send(s, "x")`
    fn when_step(&mut self) {
        self.open(WHEN_STEP);
        self.bump();
        self.output();
        if self.at_word("at") && self.nth(1) == NUMBER {
            let diagnostic = self
                .error_here(codes::EXPECTED, "what follows has no time of its own", "expected `after`")
                .help("say how long after it: `when a.app.opened(1, ?s)  after 5 ms  a.app.send(s, \"x\")`");
            self.report(diagnostic);
            self.bump_as_error();
            self.expression();
        }
        if self.at_word("after") && self.nth(1) != DOT {
            self.open(AFTER_STEP);
            self.bump();
            self.expression();
            self.close();
        }
        if self.at(IDENT) {
            self.postfix();
        } else {
            self.expected("what is then put in: `a.port.event(…)`");
        }
        self.close();
    }

    /// `frame 3 of a.device to b.device  late 4 ms  turned 12`
    fn frame_fault(&mut self) {
        self.open(FRAME_FAULT);
        self.bump();
        self.expression();
        if self.at_word("of") {
            self.bump();
            self.path("a device such as `a.device`");
        } else {
            let text = format!("expected `of` and a device, found {}", self.found());
            let diagnostic = self.missing_here(codes::EXPECTED, text, "whose frame?");
            self.report(diagnostic.help("write `frame 3 of a.device  lost`"));
            return self.close();
        }
        if self.at_word("to") && self.same_line(0) {
            self.bump();
            self.path("a device such as `b.device`");
        }
        while self.at(IDENT) && self.same_line(0) && !self.at_stop() {
            self.open(FAULT_PART);
            self.name("what becomes of it");
            if (self.at(NUMBER) || self.at(DOTTED)) && self.same_line(0) {
                self.expression();
            }
            self.close();
        }
        self.close();
    }

    /// `host a = Host(address: 10.0.0.1/24)`
    fn host(&mut self) {
        self.open_documented(HOST);
        self.bump();
        if self.name_here("the host's name") && self.expect(EQ, "`=` and a stack") {
            self.layer_use();
        }
        self.close();
    }

    /// `partition a, b  from 1 s until 2 s`
    fn partition(&mut self) {
        self.open(PARTITION);
        self.bump();
        self.name_here("a host's name");
        while self.eat(COMMA) {
            self.name_here("a host's name");
        }
        for (word, what) in [("from", "`from` and a time"), ("until", "`until` and a time")] {
            if self.nth_text(0) == word {
                self.bump();
                self.expression();
            } else {
                let found = self.found();
                let text = format!("expected {what}, found {found}");
                let diagnostic = self.missing_here(codes::EXPECTED, text, "when?");
                self.report(diagnostic.help("write `partition a, b  from 1 s until 2 s`"));
                break;
            }
        }
        self.close();
    }

    /// `crash a  at 2 s`, `restart a(life: 2)  at 3 s`
    fn outage(&mut self) {
        self.open(OUTAGE);
        let again = self.at_word("restart");
        self.bump();
        if again && self.at(IDENT) {
            self.layer_use();
        } else {
            self.name_here("a host's name");
        }
        if self.at_word("at") {
            self.bump();
            self.expression();
            if self.at_word("until") && self.same_line(0) {
                let text = "how long it is away is said by another line";
                let diagnostic = self.error_here(codes::EXPECTED, text, "not here");
                self.report(diagnostic.help("write `restart a  at 3 s`"));
                self.skip_line();
            }
        } else {
            let text = format!("expected `at` and a time, found {}", self.found());
            let diagnostic = self.missing_here(codes::EXPECTED, text, "when?");
            self.report(diagnostic.help(format!("write `{}`", self.form)));
        }
        self.close();
    }

    /// `clock a  ahead 3 s  gains 50 us`
    fn clock(&mut self) {
        self.open(CLOCK);
        self.bump();
        self.name_here("a host's name");
        while self.at(IDENT) && self.same_line(0) && !self.at_stop() {
            self.open(FAULT_PART);
            self.name("`ahead`, `gains` or `loses`");
            if (self.at(NUMBER) || self.at(DOTTED)) && self.same_line(0) {
                self.expression();
            }
            self.close();
        }
        self.close();
    }

    /// `casts app.send_to(_, 255, ..)`, `delivers app.deliver_from`, `views app.view(?v, ..)`
    fn cast_line(&mut self) {
        self.open(CAST_LINE);
        self.bump();
        self.output();
        self.close();
    }

    /// `expect casts total, own`
    fn promised(&mut self) {
        self.open(PROMISED);
        self.bump();
        self.bump();
        self.name_here("what holds of casts: `total`, `fifo`, `causal`, `own`, `real`, `agreed` or `together`");
        while self.eat(COMMA) {
            self.name_here("what holds of casts");
        }
        self.close();
    }

    /// Whether `expect` is followed by `dropped stale`, `consumed used`, `counter hits`.
    fn is_tally(&self) -> bool {
        matches!(self.nth_text(1), "dropped" | "consumed" | "counter" | "reported") && self.nth(2) == IDENT
    }

    /// `expect dropped b.stale 1  until 2 s`, `expect counter b.app.hits 1 .. 5`, `expect consumed used`
    fn tally(&mut self) {
        self.open(TALLY);
        self.bump();
        if self.at_word("reported") {
            let diagnostic = self
                .error_here(codes::UNKNOWN_STEP, "a network expects no reports: each one fails it", "a report")
                .help("write a `test` for what may be reported");
            self.report(diagnostic);
        }
        self.bump();
        self.path_here("a host, and the name of what is counted there");
        let compares = ["<", "<=", ">", ">=", "==", "!="].contains(&self.nth_text(0));
        if compares && self.same_line(0) {
            let diagnostic = self
                .error_here(codes::UNKNOWN_STEP, "a count is expected without a sign", "not needed")
                .help("write the number, `3`, or the least and the most, `3 .. 1000`");
            self.report(diagnostic);
            self.bump_as_error();
        }
        if self.at(DOT_DOT) && self.same_line(0) {
            let help = "write the least, too: `0 .. 3`; `0` is none at all";
            let diagnostic =
                self.error_here(codes::EXPECTED, "a range has its least and its most", "the least is missing");
            self.report(diagnostic.help(help));
            self.bump_as_error();
        }
        if self.at(NUMBER) && self.nth(1) == DOT_DOT && (self.nth(2) != NUMBER || !self.same_line(2)) {
            let diagnostic = mokume_base::Diagnostic::error(codes::EXPECTED, "a range has its least and its most")
                .at(self.span_of(1), "the most is missing")
                .help(format!(
                    "for this many or more, write a large number as the most: `{} .. 1000000`",
                    self.nth_text(0)
                ));
            self.report(diagnostic);
            self.expression();
            self.bump_as_error();
        } else if self.at(NUMBER) && self.same_line(0) {
            self.value_or_range();
        }
        if self.at_word("until") && self.same_line(0) {
            self.until();
        }
        self.close();
    }

    /// `link lan { a.device, b.device  loss 10 %  delay 1 ms .. 3 ms }`
    fn link(&mut self) {
        self.open_documented(LINK);
        self.bump();
        self.name_here("the link's name");
        self.braces("`{` and devices", |p| {
            p.path("a device such as `a.device`");
            while p.comma_before_device() || p.device_without_comma() {
                p.path("a device such as `a.device`");
            }
            while p.at(IDENT) && !p.at_stop() {
                p.link_option();
                if p.at(COMMA) && p.nth(1) == IDENT {
                    let diagnostic = p
                        .error_here(codes::EXPECTED, "no `,` stands between options of a link", "not needed")
                        .help("remove it: `loss 10 %  delay 1 ms`");
                    p.report(diagnostic);
                    p.bump_as_error();
                }
            }
        });
        self.close();
    }

    /// Reads the comma between two devices; reports one in front of an option.
    fn comma_before_device(&mut self) -> bool {
        let near = || mokume_base::did_you_mean(self.nth_text(1), OPTIONS).is_some();
        let option = matches!(self.nth(2), NUMBER | DOTTED) || near();
        if self.at(COMMA) && self.nth(1) == IDENT && self.nth(2) != DOT && option {
            let diagnostic = self
                .error_here(codes::EXPECTED, "no `,` stands before an option of a link", "not needed")
                .help("write `link lan { a.device, b.device  loss 10 % }`");
            self.report(diagnostic);
            self.bump_as_error();
            return false;
        }
        self.eat(COMMA)
    }

    fn device_without_comma(&mut self) -> bool {
        let device = self.at(IDENT) && self.nth(1) == DOT;
        if device {
            let found = self.found();
            let diagnostic = self
                .missing_here(
                    codes::MISSING_SEPARATOR,
                    format!("expected `,` before {found}"),
                    "the next one begins here",
                )
                .help("write `,` between one device and the next");
            self.report(diagnostic);
        }
        device
    }

    /// Whether a word behind a number is meant for the unit of a rate: `10 Mbps`.
    fn at_rate_word(&self) -> bool {
        self.nth(1) == IDENT && self.same_line(1) && !OPTIONS.contains(&self.nth_text(1))
    }

    fn link_option(&mut self) {
        self.open(LINK_OPTION);
        let is_burst = self.at_word("burst");
        let is_calm = self.at_word("calm");
        let is_rate = self.at_any_word(&["rate", "bandwidth", "speed", "throughput"]);
        self.name("an option's name");
        if is_calm {
            if self.at_word("from") {
                self.bump();
            } else {
                self.expected("`from` and a time, as in `calm from 6 s`");
            }
        }
        if is_burst && self.at_word("loss") {
            self.bump();
        }
        if self.at(DOTTED) && self.nth(1) == PERCENT {
            let nearest = self.nth_text(0).parse::<f64>().map_or(1, |given| given.round().clamp(1.0, 100.0) as u8);
            let diagnostic =
                self.error_here(codes::EXPECTED, "a percentage is a whole number", "not a whole one").help(format!(
                    "write the nearest whole one, `{nearest} %`, and let the network run longer or with more seeds"
                ));
            self.report(diagnostic);
            self.open(PERCENTAGE);
            self.bump();
            self.bump();
            self.close();
        } else if self.at(NUMBER) && self.nth(1) == PERCENT {
            self.open(PERCENTAGE);
            self.bump();
            self.bump();
            self.close();
            if is_burst && self.at_word("of") {
                self.bump();
                self.expression();
            }
        } else if self.at(NUMBER) && self.nth(1) == IDENT && self.nth(2) == SLASH {
            self.open(RATE);
            self.bump();
            self.bump();
            self.bump();
            if self.at_word("s") {
                self.bump();
            } else {
                self.expected("`s`, as in `10 Mbit/s`");
            }
            self.close();
        } else if is_rate && self.at(NUMBER) && self.at_rate_word() {
            let (number, unit) = (self.nth_text(0), self.nth_text(1));
            let help = format!("write `{number} {}/s`; there are bit, kbit, Mbit, Gbit", likely_unit(unit));
            let diagnostic =
                self.error_here(codes::EXPECTED, format!("`{unit}` is no rate"), "bits a second are wanted");
            self.report(diagnostic.help(help));
            self.open(RATE);
            self.bump();
            self.bump();
            self.close();
        } else {
            self.value_or_range();
        }
        self.close();
    }
}
