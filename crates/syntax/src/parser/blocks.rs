//! Blocks: sequences of statements, and recovery after a statement that cannot be read.

use super::Parser;
use crate::codes;
use crate::kinds::SyntaxKind::*;

/// Statements that are a word followed by at least a name on the same line.
const WORD_AND_NAME: [&str; 10] =
    ["drop", "consume", "accept", "take", "give", "count", "start", "stop", "remove", "end"];

/// Words that connect a name in front of them to what follows.
const CONNECTIVES: [&str; 8] = ["and", "or", "in", "as", "to", "from", "else", "limit"];

/// Members that begin with a word and a brace.
const MEMBER_SCOPES: [&str; 6] = ["header", "key", "entity", "point", "session", "view"];

impl Parser<'_> {
    /// `{ … }`
    pub(super) fn block(&mut self) {
        self.block_unless(false);
    }

    /// The same if it may be `said` (reported) already that a block lacks its braces; returns whether this one lacks
    /// them.
    pub(super) fn block_unless(&mut self, said: bool) -> bool {
        let missing = !self.at(L_BRACE);
        let column = if missing { self.column_of_last_line() } else { 0 };
        let assumed = missing && self.missing_block(said);
        if missing && !assumed && !self.at(L_BRACE) {
            self.statements_without_braces(column);
            return true;
        }
        if self.depth >= super::MAX_DEPTH {
            self.report_too_deep();
            self.skip_balanced();
            return missing;
        }
        self.open(BLOCK);
        let opening = self.span_of(0);
        if !assumed {
            self.bump();
        }
        self.depth += 1;
        let in_brackets = std::mem::replace(&mut self.in_brackets, false);
        let form = self.form;
        self.with_records(true, |p| p.statements());
        (self.in_brackets, self.form) = (in_brackets, form);
        self.depth -= 1;
        self.close_bracket(R_BRACE, opening);
        self.close();
        missing
    }

    /// Reads `if c  return`, or `if c` with indented statements on the next lines, as if they were in a block.
    fn statements_without_braces(&mut self, column: usize) {
        if !self.stands_for_block(column) {
            return;
        }
        self.open(BLOCK);
        loop {
            let before = self.pos;
            self.statement();
            if self.out_of_step(before) {
                self.recover_statement(before);
            }
            if !self.new_line_before(0) || !self.stands_for_block(column) || self.pos == before {
                break;
            }
        }
        self.close();
    }

    /// Whether a statement stands in place of a block: on the same line, or indented further than the line at `column`.
    fn stands_for_block(&self, column: usize) -> bool {
        let assigned = matches!(self.nth(1), DOT | L_PAREN | EQ | OP_EQ | L_BRACKET) && self.same_line(1);
        let begins = self.starts_statement_word(0) || self.at(IDENT) && assigned && !self.at_word("else");
        begins && (self.same_line(0) || self.column_of_line(0) > column)
    }

    /// Reports that a block is missing, unless that is `said`, and looks for it on the rest of the line; `true` if only
    /// its `{` is missing.
    pub(super) fn missing_block(&mut self, said: bool) -> bool {
        if !said && !self.report_foreign() {
            let found = self.found();
            let mut diagnostic = self
                .missing_here(codes::EXPECTED_BLOCK, format!("expected a block, found {found}"), "expected `{`")
                .help("write the statements in braces, even a single one: `{ return }`");
            if self.at(EQ) {
                diagnostic.code = codes::ASSIGN_IN_CONDITION;
                diagnostic = diagnostic.help("write `==` to compare");
            }
            if self.at_word("then") {
                diagnostic = diagnostic.note("there is no `then`");
            }
            self.report(diagnostic);
        }
        if self.opens_without_brace() {
            self.begin_afresh();
            return true;
        }
        if !self.at_line_start_or_end() && !self.stands_for_block(usize::MAX) {
            self.skip_line();
        }
        false
    }

    /// Reads `{` or reports that it is missing; `true` if the content of the braces follows.
    pub(super) fn open_brace(&mut self, what: &str) -> bool {
        if self.eat(L_BRACE) {
            return true;
        }
        self.expected(what);
        let assumed = self.opens_without_brace();
        if assumed {
            self.begin_afresh();
        }
        assumed
    }

    pub(super) fn at_line_start_or_end(&self) -> bool {
        self.at(EOF) || self.at(R_BRACE) || self.new_line_before(0)
    }

    /// Reads statements up to their closing brace, or to something that cannot be a statement.
    pub(super) fn statements(&mut self) {
        while !matches!(self.peek(), R_BRACE | EOF) && !self.at_stop() {
            if self.scope_in_block() {
                continue;
            }
            if self.at_lost_member() {
                break;
            }
            self.leave_out_doubled();
            let before = self.pos;
            self.statement();
            if self.out_of_step(before) {
                self.recover_statement(before);
            }
        }
    }

    /// After a mistake: skips the rest of the line, but still reads the blocks on it.
    pub(super) fn recover_statement(&mut self, began: usize) {
        if self.pos == began {
            if self.at(L_BRACE) {
                return self.stray_block();
            }
            self.unexpected_in_block();
            self.bump_as_error();
        }
        while !self.at_line_start_or_end() && !self.starts_statement_word(0) {
            self.skip_line();
            if self.at(L_BRACE) && self.same_line(0) {
                self.block();
            }
        }
        self.begin_afresh();
    }

    pub(super) fn stray_block(&mut self) {
        let diagnostic = self
            .error_here(codes::UNKNOWN_STATEMENT, "a block stands alone", "belongs to no statement")
            .help("remove the braces, or write what it belongs to: `if c { … }`");
        self.report(diagnostic);
        self.open(ERROR);
        self.block();
        self.close();
    }

    pub(super) fn unexpected_in_block(&mut self) {
        if self.at(COMMA) {
            let diagnostic = self
                .error_here(codes::UNKNOWN_STATEMENT, "a `,` joins no statements", "not needed")
                .help("write each on a line of its own; several results go into a record");
            self.report(diagnostic);
        } else if !self.report_foreign() {
            let found = self.this();
            let diagnostic = self.error_here(
                codes::UNKNOWN_STATEMENT,
                format!("{found} begins no statement"),
                "expected a statement",
            );
            self.report(diagnostic);
        }
    }

    /// Whether a member of a layer begins within a block: then the block has lost its closing brace.
    pub(super) fn at_lost_member(&self) -> bool {
        if self.fragment || !self.at(IDENT) || !self.new_line_before(0) {
            return false;
        }
        match self.nth_text(0) {
            "on" | "fn" => self.nth(1) == IDENT && self.same_line(1),
            "object" | "publish" | "serves" | "uses" => self.nth(1) == IDENT && self.same_line(1),
            word => MEMBER_SCOPES.contains(&word) && self.nth(1) == L_BRACE && self.same_line(1),
        }
    }

    /// Reports and skips `entity { … }` within a handler whose statements go on behind it.
    pub(super) fn scope_in_block(&mut self) -> bool {
        let scope = MEMBER_SCOPES.contains(&self.nth_text(0)) && self.nth(1) == L_BRACE && self.same_line(1);
        if !scope || self.fragment || !self.new_line_before(0) {
            return false;
        }
        let Some(n) = self.behind_brackets(1) else { return false };
        // What follows, as far in, is a statement.
        let column = self.column_of_line(0);
        let assigned = self.nth(n) == IDENT && matches!(self.nth(n + 1), DOT | L_PAREN | EQ | OP_EQ | L_BRACKET);
        let goes_on = self.new_line_before(n)
            && self.column_of_line(n) == column
            && column > 0
            && (self.starts_statement_word(n) || assigned);
        if goes_on {
            let word = self.nth_text(0);
            let text = format!("`{word}` stands in the layer, beside its handlers");
            let diagnostic = self.error_here(codes::UNKNOWN_STATEMENT, text, "not within a handler");
            self.report(diagnostic.help("move it in front of the handler; a name for here is `let x = e`"));
            self.bump_as_error();
            self.skip_balanced();
        }
        goes_on
    }

    /// Whether a statement with a keyword begins at the `n`th token.
    pub(super) fn starts_statement_word(&self, n: usize) -> bool {
        if self.nth(n) != IDENT {
            return false;
        }
        let next_name = self.nth(n + 1) == IDENT && self.same_line(n + 1);
        match self.nth_text(n) {
            // State cannot have the name `let`, so `let = e` lacks a name.
            "let" => !matches!(self.nth(n + 1), OP_EQ | DOT | COLON),
            "return" => !matches!(self.nth(n + 1), EQ | OP_EQ | DOT | COLON),
            "if" | "while" | "for" | "match" => !matches!(self.nth(n + 1), EQ | OP_EQ | DOT | COLON | COMMA | R_PAREN),
            "pass" | "again" => {
                !matches!(self.nth(n + 1), EQ | OP_EQ | DOT | L_PAREN | COLON | COMMA | R_PAREN | L_BRACKET)
            }
            "fail" => self.nth(n + 1) == COLON,
            "end" if self.nth(n + 1) == R_BRACE || !self.same_line(n + 1) => true,
            "later" => next_name,
            "renew" => self.nth_word(n + 1, "view") && self.same_line(n + 1),
            word => {
                // `count to` of `counter to`; but `drop to flow(…)` lacks its reason.
                let names_state = !matches!(word, "drop" | "consume" | "accept");
                let connective = match self.nth_text(n + 1) {
                    "and" | "or" | "as" | "in" => true,
                    "to" | "from" => !names_state,
                    _ => false,
                };
                WORD_AND_NAME.contains(&word) && next_name && !(connective && self.nth(n + 2) != COLON)
            }
        }
    }

    /// Whether a statement begins here, and therefore no value: by its keyword, or with `refuse`.
    pub(super) fn begins_statement(&self) -> bool {
        let goes_on = matches!(self.nth(1), EQ | OP_EQ | DOT | L_PAREN | COLON | COMMA | L_BRACKET);
        self.starts_statement_word(0) || self.at_word("refuse") && !goes_on
    }

    /// Whether the current token, the first of its line, certainly begins a statement.
    pub(super) fn starts_line_of_its_own(&self) -> bool {
        let value = self.in_brackets && self.at_any_word(&["if", "match"]);
        if self.at_lost_member() || self.starts_statement_word(0) && !value || self.is_two_names() {
            return true;
        }
        let mut n = 0;
        while self.nth(n) == IDENT && self.nth(n + 1) == DOT && n < 16 {
            n += 2;
        }
        self.nth(n) == IDENT && matches!(self.nth(n + 1), EQ | OP_EQ)
    }

    /// `dorp msg`, and in tests `after 20`, `=>`: not an expression, so most likely a statement with a mistake.
    pub(super) fn is_two_names(&self) -> bool {
        if self.in_test && (matches!(self.peek(), FAT_ARROW | ARROW) || self.at(IDENT) && self.nth(1) == NUMBER) {
            return true;
        }
        self.are_two_words() && !self.at_any_word(&["running", "left", "not", "if", "match"])
    }

    /// Two words on one line with nothing that connects them.
    pub(super) fn are_two_words(&self) -> bool {
        self.at(IDENT) && self.nth(1) == IDENT && self.same_line(1) && !CONNECTIVES.contains(&self.nth_text(1))
    }
}
