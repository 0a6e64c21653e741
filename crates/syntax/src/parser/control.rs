//! Statements that choose and repeat: `if`, `match`, `while`, `for`.

use mokume_base::Diagnostic;

use super::Parser;
use crate::codes;
use crate::kinds::SyntaxKind::*;

/// What has been reported about the arms of a `match`. Arms are usually all written alike, so each mistake is reported
/// once.
#[derive(Default, PartialEq, Eq)]
pub(super) struct Told {
    /// `->` for `=>`.
    arrow: bool,
    /// A statement without braces was reported.
    bare: bool,
    comma: bool,
}

impl Parser<'_> {
    /// `if likely c { … } else if let v = m[k] { … } else { … }`
    pub(super) fn if_(&mut self) {
        self.if_behind(false);
    }

    /// The same after an `else`; `said` tells that its first branch was already reported to have no braces.
    fn if_behind(&mut self, said: bool) {
        self.open(IF);
        self.bump();
        let likely = self.at_any_word(&["likely", "unlikely"]);
        if likely && !matches!(self.nth(1), L_BRACE | DOT | EQ_EQ | NEQ | LT | GT | LE | GE) {
            self.bump();
        }
        self.condition();
        let said = self.block_unless(said) || said;
        if self.is_else_if_in_one() {
            self.one_word_for_else_if();
            self.nested(|p| p.if_behind(said));
        } else if self.eat_word("else") {
            if self.at_word("if") && self.depth >= super::MAX_DEPTH {
                self.leave_out_branches();
            } else if self.at_word("if") {
                self.nested(|p| p.if_behind(said));
            } else {
                self.block_unless(said);
            }
        }
        self.close();
    }

    /// `elseif c {`: a word of other languages.
    fn is_else_if_in_one(&self) -> bool {
        let is_one = self.at_any_word(&["elseif", "elif", "elsif"]) && self.depth < super::MAX_DEPTH;
        is_one && !matches!(self.nth(1), EQ | OP_EQ | DOT | L_BRACKET)
    }

    fn one_word_for_else_if(&mut self) {
        let found = self.this();
        let diagnostic = self
            .error_here(codes::UNKNOWN_STATEMENT, format!("{found} begins no statement"), "two words")
            .help("write `else if`");
        self.diagnostics.push(diagnostic);
    }

    /// Skips the rest of `if … { … } else if … { … } else { … }` that is nested too deeply. Works without recursion.
    fn leave_out_branches(&mut self) {
        self.report_too_deep();
        self.open(ERROR);
        loop {
            while !matches!(self.peek(), L_BRACE | R_BRACE | EOF) {
                self.bump();
            }
            if self.at(L_BRACE) {
                self.skip_balanced();
            }
            if !self.eat_word("else") {
                break;
            }
        }
        self.close();
    }

    pub(super) fn condition(&mut self) {
        if self.at_word("let") {
            self.open(LET_CONDITION);
            self.bump();
            self.pattern();
            self.expect(EQ, "`=`");
            self.head_expression();
            self.close();
            return;
        }
        if self.is_lookup_without_let() {
            let name = self.nth_text(0);
            let diagnostic = Diagnostic::error(codes::ASSIGN_IN_CONDITION, "`=` in a condition")
                .at(self.span_of(1), "an assignment is no value")
                .help(format!("write `let {name} = …`: what is looked up gets this name"));
            self.diagnostics.push(diagnostic);
            self.open(LET_CONDITION);
            self.pattern();
            self.bump();
            self.head_expression();
            self.close();
            return;
        }
        self.head_expression();
        if self.at(EQ) && self.same_line(0) {
            let diagnostic = self
                .error_here(codes::ASSIGN_IN_CONDITION, "`=` in a condition", "an assignment is no value")
                .help("write `==` to compare, or `if let v = m[k]` to look something up");
            self.report(diagnostic);
            self.open(ERROR);
            self.bump();
            self.head_expression();
            self.close();
        }
    }

    /// `if msg = waiting.pop() {`, `if v = m[k] {`: the `let` of a look-up is missing.
    fn is_lookup_without_let(&self) -> bool {
        if !self.at(IDENT) || self.nth(1) != EQ || !self.same_line(1) {
            return false;
        }
        let mut n = 2;
        while self.nth(n) == IDENT && self.nth(n + 1) == DOT && n < 16 {
            n += 2;
        }
        let taken = matches!(self.nth_text(n), "pop" | "take" | "share" | "at") && n > 2 && self.nth(n + 1) == L_PAREN;
        taken || self.nth(n) == IDENT && self.nth(n + 1) == L_BRACKET
    }

    /// `match e { Kind.Ask => { … }  else => { … } }`
    pub(super) fn match_(&mut self) {
        self.open(MATCH);
        self.bump();
        self.head_expression();
        let opening = self.span_of(0);
        let assumed = !self.at(L_BRACE) && self.missing_block(false);
        if assumed || self.eat(L_BRACE) {
            self.with_records(true, |p| p.arms());
            self.close_bracket(R_BRACE, opening);
        }
        self.close();
    }

    pub(super) fn arms(&mut self) {
        let mut said = Told::default();
        while !matches!(self.peek(), R_BRACE | EOF) && !self.at_stop() && !self.at_lost_member() {
            let before = self.pos;
            // An author who writes one arm as in another language does so in all.
            self.arm(&mut said);
            if self.at(COMMA) {
                let diagnostic =
                    self.error_here(codes::EXPECTED, "arms need no `,` between them", "not needed").help("remove it");
                if said == Told::default() {
                    self.report(diagnostic);
                }
                said.comma = true;
                self.bump_as_error();
            } else if self.out_of_step(before) {
                self.recover_statement(before);
            }
        }
    }

    /// Reads an arm; reports each foreign habit once.
    pub(super) fn arm(&mut self, said: &mut Told) {
        self.form = "Kind.Ask => { … }";
        self.open(MATCH_ARM);
        if self.at_word("_") || self.at_word("default") {
            let found = self.this();
            let diagnostic = self
                .error_here(codes::TEST_NOTATION, format!("{found} is no pattern"), "for all other values")
                .help("write `else`");
            self.report(diagnostic);
            self.bump();
        } else if !self.eat_word("else") {
            if self.at_any_word(&["case", "when"]) && matches!(self.nth(1), NUMBER | IDENT) && self.same_line(1) {
                let diagnostic = self
                    .error_here(codes::EXPECTED, "an arm begins with its value", "of another language")
                    .help("write `1 => { … }`, and for all others `else => { … }`");
                if !said.arrow {
                    self.report(diagnostic);
                }
                said.arrow = true;
                self.bump_as_error();
            }
            self.with_records(false, |p| p.first_expression());
        }
        let arrow = self.eat(FAT_ARROW) || said.arrow && (self.eat(ARROW) || self.eat(COLON));
        if !arrow && !self.expect(FAT_ARROW, "`=>`") {
            self.eat(ARROW);
        }
        let bare = !self.at(L_BRACE);
        if bare {
            self.bare_arm(said.bare || said.arrow || !arrow);
        } else {
            self.block();
        }
        self.close();
        said.bare |= bare;
        said.arrow |= !arrow;
    }

    /// Reports `Kind.Ask => return`, and reads it as the block that it should be.
    pub(super) fn bare_arm(&mut self, said: bool) {
        let found = self.this();
        let diagnostic = self
            .error_here(codes::EXPECTED_BLOCK, format!("expected a block, found {found}"), "expected `{`")
            .help("an arm's statements stand in braces: `Kind.Ask => { return }`");
        if !said {
            self.report(diagnostic);
        }
        if !matches!(self.peek(), R_BRACE | EOF) {
            self.statement();
        }
    }

    pub(super) fn while_(&mut self) {
        self.open(WHILE_STMT);
        self.bump();
        self.condition();
        self.loop_limit();
        self.block();
        self.close();
    }

    pub(super) fn for_(&mut self) {
        self.open(FOR_STMT);
        self.bump();
        if self.at(L_PAREN) && self.nth(1) == IDENT && !matches!(self.nth(2), COMMA | R_PAREN) {
            let diagnostic = self
                .error_here(codes::EXPECTED, "a `for` counts over a range", "not in parentheses")
                .help("write `for i in 0 .. 4 limit 4 { … }`");
            self.report(diagnostic);
            self.skip_balanced();
            self.block();
            return self.close();
        }
        self.pattern();
        self.expect_word("in");
        let start = self.checkpoint();
        // A view itself says how many ranks there can be.
        let is_view = self.at_word("view") && self.nth(1) == L_BRACE;
        self.head_expression();
        if self.at(DOT_DOT) {
            self.open_at(start, RANGE_EXPR);
            self.bump();
            self.head_expression();
            self.close();
        }
        if !is_view {
            self.loop_limit();
        }
        self.block();
        self.close();
    }

    /// `limit 8`
    pub(super) fn loop_limit(&mut self) {
        if self.at_word("limit") {
            self.open(LIMIT_CLAUSE);
            self.bump();
            self.head_expression();
            self.close();
            return;
        }
        if self.at(L_BRACE) {
            let diagnostic = self
                .error_here(codes::MISSING_LIMIT, "this loop has no limit", "expected `limit` and a number")
                .note("a reaction ends: every loop says how many rounds it makes at most")
                .help("write `limit 8` in front of the block");
            self.report(diagnostic);
        }
    }
}
