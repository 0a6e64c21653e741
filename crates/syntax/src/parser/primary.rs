//! The beginnings of expressions: literals, names, parentheses, records, `if` and `match`.

use mokume_base::Diagnostic;

use super::expressions::{Height, CAST};
use super::{Parser, MAX_DEPTH};
use crate::codes;
use crate::kinds::SyntaxKind::{self, *};
use crate::lexer::UNITS;

impl Parser<'_> {
    pub(super) fn primary(&mut self) -> Height {
        if !self.at_expression() {
            self.expected_expression();
            return 0;
        }
        match self.peek() {
            IDENT if self.at_take() => self.take_as_value(),
            IDENT => return self.word(),
            // `1.5 s`: without its unit it would be read as a notation.
            NUMBER | DOTTED if self.at_duration() => self.duration(),
            NUMBER | DOTTED if self.nth(1) == IDENT && self.unit_follows() && self.is_other_unit() => self.other_unit(),
            NUMBER | DOTTED | COLONS => self.leaf(NUMBER_EXPR, 1),
            STRING | HEX_STRING | OPEN_STRING => self.octets(),
            L_PAREN => return self.parenthesis(),
            L_BRACKET => return self.vector(),
            _ => self.binder(),
        }
        1
    }

    /// `if !take kept { … }`: two names in a row are not a value.
    fn at_take(&self) -> bool {
        self.at_word("take") && self.are_two_words()
    }

    /// Reports one mistake: `take` is not a value that can be tested.
    fn take_as_value(&mut self) {
        let quota = self.nth_text(1).to_string();
        let diagnostic = Diagnostic::error(codes::EXPECTED_EXPRESSION, "`take` gives no value that could be asked")
            .at(self.span_of(0).to(self.span_of(1)), "a statement")
            .help(format!(
                "it says by itself what happens when none is left: `take {quota} or {{ drop msg: full  return }}`"
            ))
            .help(format!("to look without taking: `left {quota} > 0`"));
        self.report(diagnostic);
        self.leaf(ERROR, 2);
    }

    fn at_duration(&self) -> bool {
        let is_number = matches!(self.peek(), NUMBER | DOTTED);
        is_number && self.nth(1) == IDENT && UNITS.contains(&self.nth_text(1)) && self.unit_follows()
    }

    /// Reads `5 s`; `5 s 3 ms` is one mistake, and still a duration.
    fn duration(&mut self) {
        let first = self.span_of(0);
        let mut all = of_unit(self.nth_text(0), self.nth_text(1));
        self.leaf(DURATION_EXPR, 2);
        let mut last = None;
        while self.same_line(0) && self.at_duration() {
            all = all.zip(of_unit(self.nth_text(0), self.nth_text(1))).and_then(|(all, part)| all.checked_add(part));
            last = Some(self.span_of(1));
            self.leaf(ERROR, 2);
        }
        let Some(last) = last else { return };
        let instead = all.map_or_else(|| "5003 ms".to_string(), in_unit);
        let diagnostic = Diagnostic::error(codes::BAD_NUMBER, "a duration is one number with one unit")
            .at(first.to(last), "several of them")
            .help(format!("write `{instead}`"));
        self.report(diagnostic);
    }

    /// Reports `20 msec` as one mistake, and reads it as a duration.
    pub(super) fn other_unit(&mut self) {
        let (number, unit) = (self.nth_text(0).to_string(), self.nth_text(1).to_string());
        let place = self.span_of(1);
        let instead = match (meant_unit(&unit), counted_in(&unit)) {
            (Some(meant), _) => format!("{number} {meant}"),
            (None, Some((each, ours))) => match (of_each(&number, each), ours) {
                (Some(all), ours) => format!("{all} {ours}"),
                (None, "ms") => "15 ms".to_string(),
                (None, _) => "90 min".to_string(),
            },
            (None, None) => "90 min".to_string(),
        };
        let diagnostic = Diagnostic::error(codes::OTHER_UNIT, format!("`{unit}` is no unit of durations"))
            .at(place, "unknown")
            .note(format!("the units are {}", super::report::listed(&UNITS)))
            .help(format!("write `{instead}`"));
        self.report(diagnostic);
        self.leaf(DURATION_EXPR, 2);
    }

    /// Whether the word behind the number is a unit that the language does not have; `h` may also be a name.
    fn is_other_unit(&self) -> bool {
        let unit = self.nth_text(1);
        let is_used = matches!(self.nth(2), DOT | L_PAREN | L_BRACKET);
        // `h`, `d` and `cs` may be names, too.
        let is_name = |ours: &str| is_used && (unit.len() == 1 || ours == "ms");
        meant_unit(unit).is_some() || counted_in(unit).is_some_and(|(_, ours)| !is_name(ours))
    }

    /// Whether a unit follows the number: a name on the same line that is not itself assigned to.
    pub(super) fn unit_follows(&self) -> bool {
        self.same_line(1) && !matches!(self.nth(2), EQ | OP_EQ) && (self.in_test || self.nth(2) != COLON)
    }

    pub(super) fn leaf(&mut self, kind: SyntaxKind, tokens: usize) {
        self.open(kind);
        (0..tokens).for_each(|_| self.bump());
        self.close();
    }

    /// Reads strings side by side as one.
    pub(super) fn octets(&mut self) {
        self.open(OCTETS_EXPR);
        while matches!(self.peek(), STRING | HEX_STRING | OPEN_STRING) {
            self.bump();
        }
        self.close();
    }

    pub(super) fn binder(&mut self) {
        self.check_test_notation();
        self.open(BIND_EXPR);
        self.bump();
        self.name("the handle's name");
        self.close();
    }

    pub(super) fn check_test_notation(&mut self) {
        if !self.in_test {
            let found = self.this();
            let diagnostic = self
                .error_here(codes::TEST_NOTATION, format!("{found} stands for any value in tests only"), "no value")
                .help("in a `match` write `else`; a value that is not needed is left out");
            self.report(diagnostic);
        }
    }

    pub(super) fn parenthesis(&mut self) -> Height {
        self.list_within(PAREN_EXPR, R_PAREN, |_| false)
    }

    /// `[]`, `[a, b]`
    pub(super) fn vector(&mut self) -> Height {
        self.list_within(VECTOR_EXPR, R_BRACKET, |p| p.at(R_BRACKET))
    }

    /// Reads from one bracket to the other; the content may be empty if `may_be_empty`.
    pub(super) fn list_within(
        &mut self,
        node: SyntaxKind,
        close: SyntaxKind,
        may_be_empty: fn(&Self) -> bool,
    ) -> Height {
        let mut height = 1;
        self.open(node);
        let opening = self.span_of(0);
        if self.depth >= MAX_DEPTH {
            self.report_too_deep();
            self.skip_balanced();
            self.close();
            return 1;
        }
        self.bump();
        if !may_be_empty(self) {
            height += self.bracketed(|p| p.deeper_list(close));
        }
        self.close_bracket(close, opening);
        self.close();
        height
    }

    pub(super) fn word(&mut self) -> Height {
        let operand = self.nth(1) == IDENT && self.same_line(1) && !self.is_connective(1);
        match self.nth_text(0) {
            "if" => return self.height_of(|p| p.if_()),
            "match" if !matches!(self.nth(1), DOT | EQ | COMMA | R_PAREN) => return self.height_of(|p| p.match_()),
            "true" | "false" => self.leaf(BOOL_EXPR, 1),
            "_" => {
                self.check_test_notation();
                self.leaf(HOLE_EXPR, 1);
            }
            "running" if operand || self.is_name_of_state() => return self.prefix(RUNNING_EXPR, CAST + 1),
            "left" if operand || self.is_name_of_state() => return self.prefix(LEFT_EXPR, CAST + 1),
            _ => return self.name_or_record(),
        }
        1
    }

    /// Whether the next token is a name though it is a word that begins clauses: `running over { … }` of `timer over`.
    fn is_name_of_state(&self) -> bool {
        let begins_value = matches!(self.nth(2), IDENT | NUMBER | L_PAREN | MINUS) && self.same_line(2);
        let is_joined = begins_value && !matches!(self.nth_text(2), "and" | "or");
        let is_clause = !matches!(self.nth_text(1), "and" | "or" | "in" | "as" | "else");
        self.nth(1) == IDENT
            && self.same_line(1)
            && self.is_connective(1)
            && is_clause
            && !is_joined
            && self.nth(2) != EQ
    }

    /// Whether the `n`th token is a word that connects expressions or begins the next clause.
    pub(super) fn is_connective(&self, n: usize) -> bool {
        const WORDS: [&str; 17] = [
            "and", "or", "in", "as", "else", "to", "from", "limit", "after", "at", "where", "trim", "with", "over",
            "capacity", "evict", "owned",
        ];
        WORDS.contains(&self.nth_text(n)) || matches!(self.nth(n + 1), EQ | OP_EQ)
    }

    /// The height of an `if` or `match`: that of the tallest expression in its blocks, plus one.
    pub(super) fn height_of(&mut self, rule: impl FnOnce(&mut Self)) -> Height {
        let around = std::mem::replace(&mut self.tallest, 0);
        self.nested(rule);
        let height = self.tallest + 1;
        self.tallest = around.max(height);
        height
    }

    pub(super) fn name_or_record(&mut self) -> Height {
        let start = self.checkpoint();
        self.open(NAME_EXPR);
        self.bump();
        if self.at_record_of_a_module() {
            self.bump();
            self.bump();
        }
        self.close();
        let is_type = is_upper(self.nth_before());
        let names_fields = self.nth(1) == IDENT && self.nth(2) == COLON && self.nth(4) != EQ;
        if is_type && self.at(L_BRACE) && self.same_line(0) && self.no_record && names_fields {
            let name = self.nth_before().to_string();
            let diagnostic = self
                .error_here(codes::EXPECTED, "here a block would begin", "so no record does")
                .help(format!("put the record in parentheses: `({name} {{ … }})`"));
            self.report(diagnostic);
        }
        if is_type && self.at(L_BRACE) && self.same_line(0) && (!self.no_record || names_fields) {
            self.open_at(start, RECORD_EXPR);
            let height = self.record_fields();
            self.close();
            return height + 1;
        }
        1
    }

    /// Whether `udp.Pair {` continues here, behind its first word. Other items of modules are read as fields:
    /// `udp.PORT`.
    fn at_record_of_a_module(&self) -> bool {
        let is_module = self.nth_before().starts_with(|c: char| c.is_ascii_lowercase());
        let record = is_upper(self.nth_text(1)) && self.nth(2) == L_BRACE && self.same_line(2);
        is_module && self.at_qualified() && record && !self.no_record
    }

    pub(super) fn nth_before(&self) -> &str {
        let token = self.tokens[self.significant[self.pos - 1] as usize];
        &self.text[token.start as usize..token.end as usize]
    }
}

/// Whether a name is written as types, wires and alternatives are; `_` in front says that it is meant to be unused.
pub fn is_upper(name: &str) -> bool {
    name.trim_start_matches('_').starts_with(|c: char| c.is_ascii_uppercase())
}

/// The nanoseconds of a unit.
fn nanoseconds(unit: &str) -> u64 {
    match unit {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => 60_000_000_000,
    }
}

/// An integer number of a unit, in nanoseconds.
fn of_unit(number: &str, unit: &str) -> Option<u64> {
    crate::lexer::number(number)?.checked_mul(nanoseconds(unit))
}

/// The time in the largest unit in which it is an integer.
fn in_unit(time: u64) -> String {
    let unit = UNITS.iter().rev().find(|unit| time.is_multiple_of(nanoseconds(unit))).unwrap_or(&"ns");
    format!("{} {unit}", time / nanoseconds(unit))
}

/// Our unit for one that other languages and people write.
fn meant_unit(text: &str) -> Option<&'static str> {
    Some(match text {
        "nsec" | "nsecs" | "nanos" | "nanosecond" | "nanoseconds" => "ns",
        "usec" | "usecs" | "micros" | "microsecond" | "microseconds" => "us",
        "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" => "ms",
        "sec" | "secs" | "second" | "seconds" => "s",
        "mins" | "minute" | "minutes" => "min",
        _ => return None,
    })
}

/// How many of one of our units another one is: minutes in long times; in a hundredth of a second, as RFC 5798 (VRRP)
/// counts, milliseconds.
fn counted_in(unit: &str) -> Option<(u64, &'static str)> {
    Some(match unit {
        "h" | "hr" | "hrs" | "hour" | "hours" => (60, "min"),
        "d" | "day" | "days" => (24 * 60, "min"),
        "cs" | "csec" | "centisecond" | "centiseconds" => (10, "ms"),
        _ => return None,
    })
}

/// A number of units of so much each, such as 90 for `1.5` and 60, if that is an integer.
fn of_each(number: &str, each: u64) -> Option<u64> {
    let Some((whole, part)) = number.split_once('.') else { return crate::lexer::number(number)?.checked_mul(each) };
    let ten = 10u64.checked_pow(u32::try_from(part.len()).ok()?)?;
    let all = whole.parse::<u64>().ok()?.checked_mul(ten)?.checked_add(if part.is_empty() {
        0
    } else {
        part.parse().ok()?
    })?;
    let all = all.checked_mul(each)?;
    (all % ten == 0).then_some(all / ten)
}
