//! Statements.
//!
//! A word is a keyword only if what follows fits: `count hits` counts, `count = 3` assigns.

use super::forms::form_of;
use super::Parser;
use crate::codes;
use crate::kinds::SyntaxKind::{self, *};

use rowan::Checkpoint;

impl Parser<'_> {
    pub(super) fn statement(&mut self) {
        if self.at(COMMA) {
            self.unexpected_in_block();
            return self.bump_as_error();
        }
        if self.report_foreign() {
            self.bump_as_error();
            return;
        }
        self.leave_out_doubled_name();
        if self.is_let_without_its_word() {
            let name = self.nth_text(0);
            let diagnostic = self
                .error_here(codes::UNKNOWN_STATEMENT, format!("`{name}: …` begins no statement"), "expected `let`")
                .help(format!("write `let {name}: …` for a new name, `{name} = …` to change one"));
            self.diagnostics.push(diagnostic);
            self.open(LET_STMT);
            return self.rest_of_let();
        }
        if self.starts_statement_word(0) && self.depth >= super::MAX_DEPTH {
            self.report_too_deep();
            self.skip_to_end_of_block();
        } else if self.starts_statement_word(0) {
            let word = self.nth_text(0);
            self.nested(|p| p.word_statement(word));
        } else if !self.misspelt_statement() {
            self.simple_statement();
        }
    }

    /// Whether `x: u32 = 3` stands here without its `let`.
    fn is_let_without_its_word(&self) -> bool {
        let typed = self.at(IDENT) && self.nth(1) == COLON && self.nth(2) == IDENT && self.nth(3) == EQ;
        typed && !self.in_test && self.same_line(3)
    }

    /// `below below.send(msg)`: skips one of the two names.
    fn leave_out_doubled_name(&mut self) {
        let twice = self.at(IDENT) && self.nth_word(1, self.nth_text(0)) && self.same_line(1) && self.same_line(2);
        if twice && !self.starts_statement_word(0) && matches!(self.nth(2), DOT | L_PAREN | L_BRACKET | EQ | OP_EQ) {
            self.leave_out_word();
        }
    }

    pub(super) fn word_statement(&mut self, word: &str) {
        self.form = form_of(word);
        match word {
            "let" => self.let_(),
            "if" => self.if_(),
            "match" => self.match_(),
            "while" => self.while_(),
            "for" => self.for_(),
            "return" => self.return_(),
            "pass" => self.word_alone(PASS_STMT),
            "again" => self.word_alone(AGAIN_STMT),
            "renew" => self.renew(),
            "drop" => self.lose(DROP_STMT),
            "consume" => self.lose(CONSUME_STMT),
            "fail" => self.fail(),
            "accept" => self.word_and_value(ACCEPT_STMT),
            "take" => self.quantity(TAKE_STMT),
            "give" => self.quantity(GIVE_STMT),
            "count" => self.quantity(COUNT_STMT),
            "start" => self.start(),
            "stop" => self.word_and_value(STOP_STMT),
            "remove" => self.word_and_value(REMOVE_STMT),
            "end" => self.end_(),
            // [`Parser::starts_statement_word`] knows no other word; a test covers each of
            // [`super::habits::STATEMENT_WORDS`].
            _ => self.later(),
        }
    }

    /// `a.b = e`, `x += e`, a call, or a value at the end of a block.
    pub(super) fn simple_statement(&mut self) {
        self.form = "";
        let start = self.checkpoint();
        let began = self.pos;
        self.first_expression();
        if self.pos == began {
            return;
        }
        if matches!(self.peek(), EQ | OP_EQ | COLON_EQ) {
            self.open_at(start, ASSIGN_STMT);
            self.report_foreign();
            self.bump();
            let value = self.checkpoint();
            self.expression();
            self.check_second_assignment(value);
            self.or_clause();
            self.close();
            return;
        }
        self.open_at(start, EXPR_STMT);
        self.check_ternary(start);
        self.flow_clauses();
        self.or_clause();
        self.close();
    }

    pub(super) fn check_second_assignment(&mut self, value: Checkpoint) {
        self.check_ternary(value);
        if self.at(EQ) && self.same_line(0) {
            let diagnostic = self
                .error_here(codes::ASSIGN_IN_CONDITION, "`=` within a value", "an assignment is no value")
                .help("assign on a line each, or write `==` to compare");
            self.report(diagnostic);
        }
    }

    /// `to flow(…)`, `from flow`
    pub(super) fn flow_clauses(&mut self) {
        while self.at_any_word(&["to", "from"]) && self.same_line(0) && !matches!(self.nth(1), EQ | OP_EQ | DOT) {
            self.open(if self.at_word("to") { TO_CLAUSE } else { FROM_CLAUSE });
            self.bump();
            match self.at_parts_alone() {
                true => self.flow_without_name(),
                false => _ = self.expression(),
            }
            self.close();
        }
    }

    /// `from (local: a, remote.host: b)`
    fn at_parts_alone(&self) -> bool {
        let named = self.nth(2) == COLON || self.nth(2) == DOT && self.nth(3) == IDENT && self.nth(4) == COLON;
        self.at(L_PAREN) && self.nth(1) == IDENT && named
    }

    fn flow_without_name(&mut self) {
        let diagnostic = self
            .missing_here(codes::EXPECTED, "expected `flow(`, found `(`", "expected `flow`")
            .help("a flow of parts has its name in front: `flow(local: …, remote: …)`");
        self.report(diagnostic);
        self.open(CALL_EXPR);
        self.arguments();
        self.close();
    }

    /// `or { … }`, `or new { … }`
    pub(super) fn or_clause(&mut self) {
        if self.at_word("or") {
            self.open(OR_CLAUSE);
            self.bump();
            self.eat_word("new");
            self.block();
            self.close();
        }
    }

    /// `renew view`
    fn renew(&mut self) {
        self.open(RENEW_STMT);
        self.bump();
        self.expect_word("view");
        self.close();
    }

    pub(super) fn word_alone(&mut self, kind: SyntaxKind) {
        self.open(kind);
        self.bump();
        self.close();
    }

    pub(super) fn word_and_value(&mut self, kind: SyntaxKind) {
        self.open(kind);
        self.bump();
        if kind == STOP_STMT {
            self.kind_in_front("timer");
        }
        self.expression();
        self.close();
    }

    pub(super) fn let_(&mut self) {
        self.open(LET_STMT);
        self.bump();
        if self.at_word("mut") && self.nth(1) == IDENT {
            let diagnostic = self
                .error_here(codes::UNKNOWN_STATEMENT, "a `let` needs no `mut`", "not needed")
                .help("leave it out: `x = 2` and `x += 1` work; what is kept between events is state: `session { var x: u32 = 0 }`");
            self.report(diagnostic);
            self.bump_as_error();
        }
        self.rest_of_let();
    }

    /// `x: u32 = 3`
    fn rest_of_let(&mut self) {
        self.pattern();
        if self.eat(COLON) {
            self.type_();
        }
        if !self.eat(EQ) {
            self.expected("`=` and a value");
            if self.at(COLON_EQ) {
                self.bump();
            } else if self.at_line_start_or_end() {
                self.close();
                return;
            }
        }
        let value = self.checkpoint();
        self.expression();
        self.check_second_assignment(value);
        self.or_clause();
        self.close();
    }

    /// `x` or `(a, b)`
    pub(super) fn pattern(&mut self) {
        if !self.at(L_PAREN) {
            self.open(NAME_PATTERN);
            self.name("a name");
            self.close();
            return;
        }
        self.open(TUPLE_PATTERN);
        let opening = self.span_of(0);
        self.bump();
        while self.at(IDENT) {
            self.name("a name");
            if !self.eat(COMMA) {
                break;
            }
        }
        self.close_bracket(R_PAREN, opening);
        self.close();
    }

    pub(super) fn return_(&mut self) {
        self.open(RETURN_STMT);
        self.bump();
        let block_value = self.at_any_word(&["if", "match"]);
        let value = block_value || !self.starts_line_of_its_own() && !self.begins_statement();
        if self.same_line(0) && self.at_expression() && value {
            self.expression();
        }
        self.close();
        self.lost_behind_return();
    }

    /// Reports `return drop msg: stale`: what stands behind `return` never runs.
    fn lost_behind_return(&mut self) {
        let gives = self.at_any_word(&["drop", "consume"]) && self.starts_statement_word(0) && self.same_line(0);
        if !gives || self.nth(2) != COLON {
            return;
        }
        let (word, message, reason) = (self.nth_text(0), self.nth_text(1), self.nth_text(3));
        let diagnostic = self
            .error_here(codes::UNKNOWN_STATEMENT, "`return` leaves at once", "this never runs")
            .help(format!("write `{word} {message}: {reason}  return`"));
        self.report(diagnostic);
    }

    /// `end e`, and `end` alone in an object's own code
    pub(super) fn end_(&mut self) {
        self.open(END_STMT);
        self.bump();
        if self.same_line(0) && self.at_expression() && !self.begins_statement() {
            self.expression();
        }
        self.close();
    }

    /// `drop msg: stale`, `consume msg: used`
    pub(super) fn lose(&mut self, kind: SyntaxKind) {
        self.open(kind);
        self.bump();
        self.expression();
        self.reason();
        self.close();
    }

    pub(super) fn reason(&mut self) {
        if self.eat(COLON) {
            if self.at(STRING) {
                let diagnostic = self
                    .error_here(codes::EXPECTED, "a reason is a name, not a text", "expected a name")
                    .help("write it as one word: `drop msg: out_of_order`");
                self.report(diagnostic);
                return self.bump_as_error();
            }
            self.path_here("a reason's name");
            if self.at(L_PAREN) && self.same_line(0) {
                let diagnostic = self
                    .error_here(codes::EXPECTED, "a reason is a name, and no value that a function gives", "a call")
                    .help("say which one by `if`: `if … { drop msg: stale } else { drop msg: doubled }`");
                self.report(diagnostic);
                self.skip_balanced();
            }
            return;
        }
        if !self.report_foreign() {
            let found = self.found();
            let diagnostic = self
                .missing_here(codes::EXPECTED, format!("expected `:` and a reason, found {found}"), "expected `:`")
                .note("what is lost or used up is counted by reason")
                .help("name the reason where it is used: `drop msg: stale`");
            self.report(diagnostic);
        }
    }

    pub(super) fn fail(&mut self) {
        self.open(FAIL_STMT);
        self.bump();
        self.reason();
        self.close();
    }

    /// `take kept 3 or { … }`, `give kept`, `count hits 3`
    pub(super) fn quantity(&mut self, kind: SyntaxKind) {
        self.open(kind);
        self.bump();
        if kind == COUNT_STMT {
            self.kind_in_front("counter");
        } else if !self.in_container {
            self.kind_in_front("quota");
        }
        self.postfix();
        if self.at_any_word(&["to", "by"]) && self.same_line(0) && self.nth(1) == NUMBER {
            let word = self.nth_text(0);
            let help = format!(
                "write the number alone: `{} {} {}`",
                self.form.split(' ').next().unwrap_or_default(),
                self.nth_before(),
                self.nth_text(1)
            );
            let diagnostic =
                self.error_here(codes::EXPECTED, format!("no `{word}` stands in front of an amount"), "not needed");
            self.report(diagnostic.help(help));
            self.bump_as_error();
        }
        if self.at_amount() {
            self.expression();
        }
        if kind == TAKE_STMT && self.at(IDENT) && self.nth(1) == L_PAREN && self.same_line(0) && self.same_line(1) {
            let diagnostic = self
                .error_here(codes::EXPECTED, "an amount is a number or a name", "a call")
                .help(format!("bind it first: `let n = {}(…)`, then `take kept n or {{ … }}`", self.nth_text(0)));
            self.report(diagnostic);
            self.open(ERROR);
            self.postfix();
            self.close();
        }
        if kind == TAKE_STMT {
            if self.at(L_BRACE) && self.same_line(0) {
                let diagnostic = self
                    .error_here(codes::EXPECTED, "expected `or` before the block", "runs when there is no room")
                    .help("write `take kept or { … }`");
                self.report(diagnostic);
                self.block();
            }
            self.or_clause();
        }
        self.close();
    }

    /// An amount is on the same line; it is a number, or a name that begins no statement.
    pub(super) fn at_amount(&self) -> bool {
        if self.new_line_before(0) {
            return false;
        }
        match self.peek() {
            NUMBER => true,
            IDENT if self.at_any_word(&["or", "else", "and", "in"]) || self.begins_statement() => false,
            IDENT => {
                let mut n = 0;
                while self.nth(n) == IDENT && self.nth(n + 1) == DOT {
                    n += 2;
                }
                !matches!(self.nth(n + 1), EQ | OP_EQ | L_PAREN | L_BRACKET | L_BRACE | COLON)
            }
            _ => false,
        }
    }

    /// Reports and skips the kind in `start timer t`, `count counter hits`.
    fn kind_in_front(&mut self, kind: &str) {
        let named = self.nth(1) == IDENT && self.same_line(1) && !matches!(self.nth_text(1), "after" | "at" | "or");
        let is_other = self.starts_statement_word(1) && !matches!(self.nth_text(2), "after" | "at");
        if self.at_word(kind) && named && !is_other {
            let text = format!("`{kind}` stands where it is declared, not here");
            let diagnostic = self.error_here(codes::EXPECTED, text, "not needed");
            self.report(diagnostic.help(format!("write the name alone: `{}`", self.nth_text(1))));
            self.bump_as_error();
        }
    }

    /// `start t after 20 ms`, `start t at instant`
    pub(super) fn start(&mut self) {
        self.open(START_STMT);
        self.bump();
        self.kind_in_front("timer");
        self.postfix();
        if self.at_any_word(&["after", "at"]) {
            self.bump();
            self.expression();
        } else {
            let found = self.found();
            let diagnostic = self
                .missing_here(codes::EXPECTED, format!("expected `after` or `at`, found {found}"), "when?")
                .help("write `start t after 20 ms`, or `start t at` and an instant");
            self.report(diagnostic);
        }
        self.close();
    }

    /// `later NAME(msg) or { … }`
    pub(super) fn later(&mut self) {
        self.open(LATER_STMT);
        self.bump();
        self.name("the name of a handler of this layer");
        if self.at(L_PAREN) {
            self.arguments();
        } else {
            self.expected("`(` and the arguments");
        }
        self.or_clause();
        self.close();
    }
}
