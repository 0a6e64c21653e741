//! Statements with a wrong first word: misspelt keywords, and words of other languages.

use super::forms::form_of;
use super::Parser;
use crate::codes;
use crate::kinds::SyntaxKind::*;

/// The words with which statements begin, and `else`.
pub(crate) const STATEMENT_WORDS: [&str; 22] = [
    "let", "if", "match", "while", "for", "return", "pass", "drop", "consume", "fail", "accept", "take", "give",
    "count", "start", "stop", "remove", "end", "again", "later", "renew", "else",
];

/// Words of other languages at the start of a statement, and what to write here.
const FOREIGN_WORDS: [(&str, &str); 17] = [
    ("cancel", "write `stop t`"),
    ("reset", "write `start t after 20 ms`, which starts it anew; a variable gets its value: `x = 0`"),
    ("after", "write `start t after 20 ms`, with a `timer t`, and what is to happen then in `on expiry t { … }`"),
    (
        "var",
        "a name within a handler is `let x = e`; state that stays is `var` in a scope: `session { var x: u32 = 0 }`",
    ),
    ("mut", "write `let x = e`; what changes is state: `session { var x: u32 = 0 }`"),
    ("const", "write `let x = e`"),
    ("int", "write `let x = e`"),
    ("elif", "write `else if`"),
    ("elsif", "write `else if`"),
    ("switch", "write `match e { Kind.Ask => { … }  else => { … } }`"),
    ("case", "write `match e { Kind.Ask => { … }  else => { … } }`"),
    ("do", "write `while c limit 8 { … }`"),
    ("loop", "write `while true limit 8 { … }`"),
    ("send", "write `below.send(msg)` or `above.deliver(msg)`"),
    ("deliver", "write `above.deliver(msg)`"),
    ("then", "write the statements in braces: `if c { … }`"),
    ("emit", "write `below.send(msg)` or `above.deliver(msg)`"),
];

impl Parser<'_> {
    /// Handles a word in front of a name that is not a keyword: `dorp msg: stale`, `int x = 3`.
    pub(super) fn misspelt_statement(&mut self) -> bool {
        let name_follows = matches!(self.nth(1), IDENT) && self.same_line(1);
        if self.lost_in_parentheses() || self.foreign_statement(name_follows) || self.misspelt_alone() {
            return true;
        }
        if !self.at(IDENT) || !name_follows && self.nth(1) != L_BRACE {
            return false;
        }
        if matches!(self.nth_text(1), "and" | "or" | "in" | "as" | "to" | "from") || self.nth_text(0) == "running" {
            return false;
        }
        let Some(meant) = self.statement_meant() else {
            return name_follows && self.names_in_a_row("");
        };
        if meant == self.nth_text(0) && meant != "else" {
            return name_follows && self.names_in_a_row(form_of(meant));
        }
        self.misspelt(meant);
        true
    }

    /// Handles `retrun` with nothing behind it: a name alone is not a statement.
    fn misspelt_alone(&mut self) -> bool {
        let next_line = self.new_line_before(1) && self.nth(1) == IDENT;
        if self.at_any_word(&["stop", "start", "count", "take", "give", "drop", "consume"])
            && next_line
            && !self.in_test
        {
            let word = self.nth_text(0);
            let text = format!("`{word}` does not say what");
            let diagnostic = self.error_here(codes::UNKNOWN_STATEMENT, text, "its name is missing");
            self.report(diagnostic.help(format!("write `{}`", form_of(word))));
            self.bump_as_error();
            return true;
        }
        let ends = self.nth(1) == R_BRACE || !self.same_line(1) && matches!(self.nth(1), IDENT | EOF);
        if !self.at(IDENT) || !ends || self.in_test {
            return false;
        }
        let meant = mokume_base::did_you_mean(self.nth_text(0), ["return", "pass", "again", "end"]);
        // A short name is similar to many words.
        let is_slip = |meant: &&str| !self.at_word(meant) && self.nth_text(0).chars().next() == meant.chars().next();
        let Some(meant) = meant.filter(is_slip) else { return false };
        self.misspelt(meant);
        true
    }

    /// Handles a word of another language: reports it, and reads the statement that is meant if that is clear.
    fn foreign_statement(&mut self, name_follows: bool) -> bool {
        if self.operator_of_another_language() {
            return true;
        }
        let Some((word, help)) = FOREIGN_WORDS.iter().find(|(word, _)| self.at_word(word)) else { return false };
        let in_time = *word == "after" && matches!(self.nth(1), NUMBER | DOTTED);
        if !name_follows && !in_time && !matches!(*word, "do" | "loop" | "switch") {
            return false;
        }
        let diagnostic = self
            .error_here(codes::UNKNOWN_STATEMENT, format!("`{word}` begins no statement"), "expected a statement")
            .help(*help);
        self.report(diagnostic);
        if matches!(*word, "var" | "mut" | "const" | "int") && matches!(self.nth(2), EQ | COLON | COLON_EQ) {
            self.nested(|p| p.word_statement("let"));
        } else {
            self.bump_as_error();
        }
        if in_time || *word == "switch" {
            while !matches!(self.peek(), L_BRACE | R_BRACE | EOF) && self.same_line(0) {
                self.bump_as_error();
            }
            if self.at(L_BRACE) {
                self.open(ERROR);
                self.skip_balanced();
                self.close();
            }
        }
        true
    }

    /// Reports `xor 3` behind a value, where a statement seems to begin.
    fn operator_of_another_language(&mut self) -> bool {
        const OPERATORS: [(&str, &str); 6] =
            [("xor", "^"), ("mod", "%"), ("div", "/"), ("shl", "<<"), ("shr", ">>"), ("is", "==")];
        let Some((word, sign)) = OPERATORS.iter().find(|(word, _)| self.at_word(word)) else { return false };
        let is_value = self.pos > 0 && matches!(self.nth_before_kind(), IDENT | NUMBER | R_PAREN | R_BRACKET);
        // `div(3)` is a call, of a function of that name.
        if !is_value || !self.same_line(0) || !matches!(self.nth(1), IDENT | NUMBER) {
            return false;
        }
        let diagnostic = self
            .error_here(codes::FOREIGN_OPERATOR, format!("the language has no `{word}`"), "of another language")
            .help(format!("write `{sign}`"));
        self.report(diagnostic);
        self.bump_as_error();
        self.expression();
        true
    }

    /// Reports a word that is nearly a keyword, and reads it as that keyword.
    fn misspelt(&mut self, meant: &'static str) {
        let found = self.this();
        let diagnostic =
            self.error_here(codes::UNKNOWN_STATEMENT, format!("{found} begins no statement"), "expected a statement");
        let diagnostic = match meant {
            "else" if found == "`else`" => diagnostic.help("`else` stands behind the `}` of its `if`"),
            _ => diagnostic.help(format!("did you mean `{meant}`?")),
        };
        self.report(diagnostic);
        if meant != "else" {
            return self.nested(|p| p.word_statement(meant));
        }
        self.bump_as_error();
        if self.at(L_BRACE) {
            self.block();
        }
    }

    /// Reports `drop(msg)` and `drop: stale`, with the right form.
    fn lost_in_parentheses(&mut self) -> bool {
        if !self.at_any_word(&["drop", "consume"]) || !matches!(self.nth(1), L_PAREN | COLON) {
            return false;
        }
        let word = self.nth_text(0);
        let (text, label) = match self.nth(1) {
            COLON => (format!("`{word}` does not say which message"), "which one?"),
            _ => (format!("`{word}` is no function"), "a statement"),
        };
        let diagnostic =
            self.error_here(codes::UNKNOWN_STATEMENT, text, label).help(format!("write `{word} msg: reason`"));
        self.report(diagnostic);
        self.bump_as_error();
        self.skip_line();
        true
    }

    /// The keyword nearest to the current word, if what follows fits it.
    fn statement_meant(&self) -> Option<&'static str> {
        let meant = mokume_base::did_you_mean(self.nth_text(0), STATEMENT_WORDS)?;
        let fits = match meant {
            "for" => self.nth_word(2, "in"),
            "let" => matches!(self.nth(2), EQ | COLON | COLON_EQ),
            _ => true,
        };
        (fits || self.at_word(meant)).then_some(meant)
    }

    /// Two names side by side are never a statement.
    fn names_in_a_row(&mut self, form: &str) -> bool {
        let this = self.this();
        let diagnostic =
            self.error_here(codes::UNKNOWN_STATEMENT, format!("{this} begins no statement"), "expected a statement");
        self.report(match form {
            "" => diagnostic.help("a call has parentheses: `name(…)`; a change has a sign: `name = …`"),
            form => diagnostic.help(format!("write `{form}`")),
        });
        self.bump_as_error();
        self.skip_line();
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::STATEMENT_WORDS;
    use crate::ast::{AstNode, Block};
    use crate::parser::forms::form_of;

    /// The kind of node for each statement's form: a word that only one of the lists has would be read as another
    /// statement.
    #[test]
    fn each_word_begins_a_statement_of_its_own() {
        let mut words = BTreeMap::new();
        for word in STATEMENT_WORDS.into_iter().filter(|word| *word != "else") {
            let form = if form_of(word).is_empty() { word } else { form_of(word) };
            assert!(form.starts_with(word), "forms.rs shows `{word}` as `{form}`");
            let text = format!("worker W {{\n on send(msg) {{\n {} \n}}\n}}", form.replace('…', ""));
            let parsed = crate::parse(mokume_base::FileId(0), &text);
            let block = parsed.syntax().descendants().find_map(Block::cast).expect("the handler's block");
            let kinds: Vec<_> = block.syntax().children().map(|statement| format!("{:?}", statement.kind())).collect();
            let before = words.insert(kinds.clone(), word);
            assert_eq!((kinds.len(), before), (1, None), "`{word}` is read as {kinds:?}");
        }
    }
}
