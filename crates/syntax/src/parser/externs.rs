//! Functions in C: `extern fn seal(nonce: u64, msg: Message) -> bool grows 16 from "cipher.c" link "sodium" { model }`.

use super::Parser;
use crate::kinds::SyntaxKind::*;

impl Parser<'_> {
    pub(super) fn extern_(&mut self) {
        self.open_documented(FUNCTION);
        self.open(EXTERN);
        self.bump();
        self.close();
        if self.expect_word("fn") {
            self.function_head();
            self.extern_clauses();
            self.block();
        }
        self.close();
    }

    fn extern_clauses(&mut self) {
        loop {
            if self.at_word("grows") {
                self.open(LIMIT_CLAUSE);
                self.bump();
                self.head_expression();
                self.close();
            } else if self.at_word("from") {
                self.open(FROM_FILE);
                self.bump();
                self.expect(STRING, "a file's name in quotes");
                self.close();
            } else if self.at_word("link") {
                self.open(LINK_WITH);
                self.bump();
                self.expect(STRING, "a library's name in quotes");
                while self.eat(COMMA) {
                    self.expect(STRING, "a library's name in quotes");
                }
                self.close();
            } else {
                return;
            }
        }
    }
}
