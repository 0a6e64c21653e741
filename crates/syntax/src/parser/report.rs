//! How the parser reports mistakes and recovers from them.
//!
//! At most one message for each token: further ones would only follow from the same mistake.

use super::members::STATE_WORDS;
use super::Parser;
use crate::codes;
use crate::kinds::SyntaxKind::{self, *};
use crate::lexer::shown;
use mokume_base::{did_you_mean, Code, Diagnostic, Span};

/// Words, besides those of items, that begin a declaration with a name behind them.
const DECLARE: [&str; 18] = [
    "on", "object", "publish", "serves", "uses", "var", "timer", "counter", "quota", "const", "array", "map",
    "messages", "let", "return", "drop", "consume", "export",
];

/// Words followed by a brace.
const SCOPES: [&str; 6] = ["header", "key", "entity", "point", "session", "view"];

impl Parser<'_> {
    /// Adds a diagnostic about the current token, unless it has one already.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        if self.reported_at != Some(self.pos) {
            self.reported_at = Some(self.pos);
            self.diagnostics.push(diagnostic);
        }
    }

    /// The current token as messages name it.
    pub(super) fn this(&self) -> String {
        match self.peek() {
            EOF => "the end of the file".to_string(),
            _ => format!("`{}`", shown(self.nth_text(0))),
        }
    }

    /// What was found in place of something missing.
    pub(super) fn found(&self) -> String {
        match self.missing_at_line_end() && !self.at(EOF) {
            true => "the end of the line".to_string(),
            false => self.this(),
        }
    }

    /// Whether what is missing belongs to the end of the previous line.
    fn missing_at_line_end(&self) -> bool {
        self.pos > 0 && self.new_line_before(0) && !matches!(self.peek(), R_BRACE | R_PAREN | R_BRACKET)
    }

    /// An error about the current token.
    pub(super) fn error_here(&self, code: Code, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, message).at(self.span_of(0), label)
    }

    /// An error about something missing in front of the current token; on the previous line if this token begins a
    /// line.
    pub(super) fn missing_here(&self, code: Code, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        let span = if self.missing_at_line_end() {
            let before = self.span_before();
            Span::new(before.file, before.end, before.end)
        } else {
            self.span_of(0)
        };
        Diagnostic::error(code, message).at(span, label)
    }

    pub(super) fn expected(&mut self, what: &str) {
        if self.report_foreign() || self.leave_out_second() {
            return;
        }
        let found = self.found();
        let mut diagnostic =
            self.missing_here(codes::EXPECTED, format!("expected {what}, found {found}"), format!("expected {what}"));
        if self.at(ARROW) && what.contains("=>") || self.at(FAT_ARROW) && what.contains("->") {
            diagnostic.code = codes::WRONG_ARROW;
            diagnostic =
                diagnostic.note("`=>` stands before what happens (an arm, an output), `->` before a result's type");
        }
        if !self.form.is_empty() && self.at_form_level(what) {
            diagnostic = diagnostic.help(format!("write it as in `{}`", self.form));
        }
        self.report(diagnostic);
    }

    /// Whether what is missing belongs to the current construct, not to a list or value within it.
    fn at_form_level(&self, what: &str) -> bool {
        let within = ["`,`", "`}`"].iter().any(|part| what.starts_with(part)) || what.ends_with("after the dot");
        !within && (!self.in_brackets || what.starts_with("`;`"))
    }

    /// Reports a token that only other languages have; `true` if it was one.
    pub(super) fn report_foreign(&mut self) -> bool {
        let (code, help) = match self.peek() {
            SEMICOLON => (codes::SEMICOLON, "remove it: the line's end ends a statement or a field"),
            COLON_EQ => (codes::FOREIGN_OPERATOR, "write `let x = e` for a new name, `x = e` to change one"),
            AMP_AMP => (codes::FOREIGN_OPERATOR, "write `and`"),
            PIPE_PIPE => (codes::FOREIGN_OPERATOR, "write `or`"),
            PLUS_PLUS => (codes::FOREIGN_OPERATOR, "write `x += 1`"),
            MINUS_MINUS => (codes::FOREIGN_OPERATOR, "write `x -= 1`"),
            COLON_COLON => (codes::FOREIGN_OPERATOR, "write `.`, as in `Kind.Ask`"),
            QUESTION if !self.in_test => {
                (codes::FOREIGN_OPERATOR, "write `if c { a } else { b }`, which is a value, too")
            }
            ERROR_TOKEN | OPEN_STRING => {
                // The lexer has reported it.
                self.reported_at = Some(self.pos);
                return true;
            }
            _ => return false,
        };
        let text = self.nth_text(0);
        let (message, label) = match self.peek() {
            SEMICOLON => ("no `;` is needed".to_string(), "ends nothing"),
            QUESTION => ("the language has no `? :`".to_string(), "of another language"),
            _ => (format!("the language has no `{text}`"), "of another language"),
        };
        self.report(self.error_here(code, message, label).help(help));
        true
    }

    /// Reports an unknown word in the place of a keyword; returns the keyword that was meant, if one is similar.
    pub(super) fn unknown_word(&mut self, code: Code, what: &str, words: &[&'static str]) -> Option<&'static str> {
        if self.report_foreign() {
            return None;
        }
        let found = self.this();
        let meant = match self.peek() {
            IDENT => did_you_mean(self.nth_text(0), words.iter().copied()),
            _ => None,
        };
        let a = if what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        let diagnostic = self.error_here(code, format!("{found} begins no {what}"), format!("expected {a} {what}"));
        self.report(match meant {
            Some(word) => diagnostic.help(format!("did you mean `{word}`?")),
            None if code == codes::UNKNOWN_STATE => diagnostic.help(format!(
                "{a} {what} begins with one of: {}; or with a container, `queue<u32> q(8)`",
                listed(words)
            )),
            None => diagnostic.help(format!("{a} {what} begins with one of: {}", listed(words))),
        });
        meant
    }

    pub(super) fn report_too_deep(&mut self) {
        if !self.too_deep {
            self.too_deep = true;
            let diagnostic = self
                .error_here(codes::TOO_DEEP, "this is nested too deeply", "skipped from here")
                .note(format!("brackets, blocks and operators nest to a depth of {}", super::MAX_DEPTH))
                .help("give parts of it names with `let` (outside of code: `const`), or move them to a `fn`");
            self.report(diagnostic);
        }
        self.reported_at = Some(self.pos);
    }

    /// Reads the closing bracket, or reports it with a label at the opening one.
    pub(super) fn close_bracket(&mut self, kind: SyntaxKind, opening: Span) {
        let of_another = kind == R_BRACE && self.has_lost_its_brace();
        if !of_another && self.eat(kind) {
            return;
        }
        if kind == R_BRACE {
            self.close_without_brace();
        }
        let (open, close) = match kind {
            R_BRACE => ("{", "}"),
            R_PAREN => ("(", ")"),
            _ => ("[", "]"),
        };
        if self.is_in_open_string(close, opening) {
            return; // that the string has no end has been said
        }
        let found = if kind == R_BRACE { self.this() } else { self.found() };
        let place = self.span_before();
        if kind != R_BRACE && self.lacks_on_its_line(opening) {
            // Reports about what follows the opening bracket are consequences.
            let before =
                |found: &Diagnostic| found.primary.as_ref().is_none_or(|label| label.span.start < opening.start);
            self.diagnostics.retain(|found| found.code == codes::TOO_DEEP || before(found));
            self.reported_at = None;
        }
        let diagnostic = Diagnostic::error(codes::UNCLOSED, format!("`{open}` is not closed"))
            .at(opening, format!("this `{open}` has no `{close}`"))
            .label(Span::new(place.file, place.end, place.end), format!("expected `{close}` before {found}"))
            .help(format!("add `{close}`"));
        self.report(diagnostic);
    }

    /// Whether a string without an end, between an opening bracket and here, or just before, has swallowed this.
    pub(super) fn is_in_open_string(&self, bracket: &str, opening: Span) -> bool {
        let before = self.significant[..self.pos].iter().rev().map(|index| self.tokens[*index as usize]);
        let inside = before.take_while(|token| token.start >= opening.start).enumerate();
        let mut open = inside.filter(|(_, token)| token.kind == OPEN_STRING);
        open.any(|(back, token)| back == 0 || self.text[token.start as usize..token.end as usize].contains(bracket))
    }

    /// How many braces a string without an end, just before, opens; `None` if there is none, or it has none in it.
    pub(super) fn swallowed_braces(&self) -> Option<usize> {
        let is_open = self.pos > 0 && self.nth_before_kind() == OPEN_STRING;
        let count = |brace: char| self.nth_before().matches(brace).count();
        (is_open && count('{') > 0).then(|| count('{').saturating_sub(count('}')))
    }

    /// If the `}` of fields or alternatives is missing, removes reports about what follows, which are consequences.
    pub(super) fn only_unclosed(&mut self, opening: Span) {
        let place = |found: &Diagnostic| found.primary.as_ref().map(|label| label.span);
        let is_it = |found: &Diagnostic| found.code == codes::UNCLOSED && place(found) == Some(opening);
        if self.diagnostics.iter().any(is_it) {
            let follows = |found: &Diagnostic| {
                found.code == codes::EXPECTED && place(found).is_some_and(|span| span.start > opening.start)
            };
            self.diagnostics.retain(|found| !follows(found));
        }
    }

    // ---- recovery ----

    /// `worker A A {`: skips a repeated word where something else is expected.
    pub(super) fn leave_out_second(&mut self) -> bool {
        let known = self.reported_at == Some(self.pos);
        if known || self.pos == 0 || !self.at(IDENT) || self.nth_before() != self.nth_text(0) || self.new_line_before(0)
        {
            return false;
        }
        self.leave_out_word();
        self.left_out = self.pos;
        true
    }

    /// Skips a word that occurs twice in a row.
    pub(super) fn leave_out_word(&mut self) {
        let word = self.nth_text(0);
        let diagnostic = self
            .error_here(codes::EXPECTED, format!("`{word}` stands twice"), "once is enough")
            .help("remove one of them");
        self.diagnostics.push(diagnostic);
        self.significant.remove(self.pos);
    }

    /// `on on send(msg)`: skips one of the two words.
    pub(super) fn leave_out_doubled(&mut self) {
        let word = self.nth_text(0);
        let is_doubled = self.at(IDENT) && self.nth_word(1, word) && self.same_line(1) && self.same_line(2);
        // `timer timer  var x: u32 = 0` declares a timer named `timer`.
        let named_so = STATE_WORDS.contains(&word)
            && (STATE_WORDS.contains(&self.nth_text(2)) || ["on", "fn"].contains(&self.nth_text(2)));
        let goes_on = self.nth(2) == IDENT && !named_so
            || self.nth(2) == STRING && word == "test"
            || self.nth(2) == L_BRACE && SCOPES.contains(&word);
        if !is_doubled
            || !goes_on
            || !(super::ITEM_WORDS.contains(&word) || DECLARE.contains(&word) || SCOPES.contains(&word))
        {
            return;
        }
        let diagnostic = self
            .error_here(codes::EXPECTED, format!("`{word}` stands twice"), "once is enough")
            .help("remove one of them");
        self.report(diagnostic);
        self.bump_as_error();
    }

    /// Whether more round or square brackets are opened than closed, from there to the end of the line.
    fn lacks_on_its_line(&self, opening: Span) -> bool {
        let from = self.tokens.partition_point(|token| token.start < opening.start);
        let mut open = 0i32;
        for token in &self.tokens[from..] {
            match token.kind {
                L_PAREN | L_BRACKET => open += 1,
                R_PAREN | R_BRACKET => open -= 1,
                WHITESPACE if self.text[token.start as usize..token.end as usize].contains('\n') => break,
                _ => {}
            }
        }
        open > 0
    }

    /// Whether the parser is at a token that it has reported or could not begin with.
    pub(super) fn out_of_step(&self, began: usize) -> bool {
        self.pos == began || self.reported_at == Some(self.pos)
    }

    /// As [`Self::begin_afresh`], when nothing encloses what follows.
    pub(super) fn begin_item_afresh(&mut self) {
        if self.new_line_before(0) {
            self.reported_at = None;
        }
    }

    /// After a mistake, at the start of the next statement or member: allows reports about it again.
    pub(super) fn begin_afresh(&mut self) {
        if self.new_line_before(0) && !matches!(self.peek(), EOF | R_BRACE) {
            self.reported_at = None;
        }
    }

    /// Puts one token into an error node, so that a loop makes progress.
    pub(super) fn bump_as_error(&mut self) {
        self.open(ERROR);
        self.bump();
        self.close();
    }

    /// The number of the token behind what closes the bracket at the `n`th; `None` if nothing does.
    pub(super) fn behind_brackets(&self, mut n: usize) -> Option<usize> {
        let mut open = 0u32;
        loop {
            match self.nth(n) {
                EOF => return None,
                L_BRACE | L_PAREN | L_BRACKET => open += 1,
                R_BRACE | R_PAREN | R_BRACKET => open = open.saturating_sub(1),
                _ => {}
            }
            n += 1;
            if open == 0 {
                return Some(n);
            }
        }
    }

    /// Skips a bracketed group, or one token. Works without recursion, as it runs at the bound of nesting.
    pub(super) fn skip_balanced(&mut self) {
        self.open(ERROR);
        let mut open = 0u32;
        loop {
            match self.peek() {
                EOF => break,
                L_BRACE | L_PAREN | L_BRACKET => open += 1,
                R_BRACE | R_PAREN | R_BRACKET if open == 0 => break,
                R_BRACE | R_PAREN | R_BRACKET => open -= 1,
                _ => {}
            }
            self.bump();
            if open == 0 {
                break;
            }
        }
        self.close();
    }

    /// Skips the rest of the current braces, without recursion.
    pub(super) fn skip_to_end_of_block(&mut self) {
        self.open(ERROR);
        let mut open = 0u32;
        loop {
            match self.peek() {
                EOF => break,
                L_BRACE => open += 1,
                R_BRACE if open == 0 => break,
                R_BRACE => open -= 1,
                _ => {}
            }
            self.bump();
        }
        self.close();
    }

    /// After a mistake: skips the rest of the line, but neither a closing brace nor anything that a brace opens.
    pub(super) fn skip_line(&mut self) {
        if self.at_line_end() {
            return;
        }
        self.open(ERROR);
        while !self.at_line_end() && !self.at(L_BRACE) {
            match self.peek() {
                L_PAREN | L_BRACKET => self.skip_balanced_line(),
                _ => self.bump(),
            }
        }
        self.close();
    }

    /// Skips `( … )` or `[ … ]`; stops at braces and at a line that begins a statement.
    fn skip_balanced_line(&mut self) {
        let mut open = 0u32;
        loop {
            match self.peek() {
                EOF | L_BRACE | R_BRACE => return,
                L_PAREN | L_BRACKET => open += 1,
                R_PAREN | R_BRACKET => open = open.saturating_sub(1),
                _ if self.new_line_before(0) && self.starts_line_of_its_own() => return,
                _ => {}
            }
            self.bump();
            if open == 0 {
                return;
            }
        }
    }

    fn at_line_end(&self) -> bool {
        self.at(EOF) || self.at(R_BRACE) || self.new_line_before(0)
    }

    /// After the last rule at the outermost level: reports what is left, which begins with an unmatched bracket.
    pub(super) fn unexpected_rest(&mut self) {
        if matches!(self.peek(), R_BRACE | R_PAREN | R_BRACKET) {
            let found = self.this();
            let diagnostic = self
                .error_here(codes::UNOPENED, format!("{found} closes nothing"), "nothing is open here")
                .help("remove it, or look for a `}` too many above");
            self.report(diagnostic);
            self.bump_as_error();
        } else if !self.at(EOF) {
            self.expected("the end of the file");
            self.bump_as_error();
        }
    }
}

pub(super) fn listed(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
