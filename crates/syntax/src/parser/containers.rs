//! Containers: `container queue<T>(room: u32) { … }`, and state of one: `queue<Message> waiting(8) from kept`.

use super::members::STATE_WORDS;
use super::Parser;
use crate::kinds::SyntaxKind::*;

impl Parser<'_> {
    /// `container queue<T>(room: u32) { … }`
    pub(super) fn container(&mut self) {
        self.open_documented(CONTAINER);
        self.bump();
        self.name_here("the container's name");
        if self.at(LT) {
            self.open(TYPE_PARAMS);
            self.bump();
            self.name("a name for the element's type");
            while self.eat(COMMA) {
                self.name("a name for the element's type");
            }
            self.expect(GT, "`>`");
            self.close();
        }
        if self.at(L_PAREN) {
            self.params(true);
        }
        self.in_container = true;
        self.braces("`{` and the container's state and functions", |p| p.states());
        self.in_container = false;
        self.close();
    }

    /// Whether state that is a container begins here: `queue<Message> waiting(8)`, `budget spent(8)`.
    pub(super) fn at_contained(&self) -> bool {
        // `containers.queue<Message> waiting(8)`: the module's name and a dot come first.
        let at =
            if self.nth(1) == DOT && self.nth(2) == IDENT && self.same_line(1) && self.same_line(2) { 2 } else { 0 };
        let same_line = self.same_line(at + 1) && self.same_line(at + 2);
        let plain = self.nth(at + 1) == IDENT && self.nth(at + 2) == L_PAREN && same_line;
        self.at(IDENT) && (self.nth(at + 1) == LT || plain || self.at_contained_bare())
    }

    /// `budget spent`, for a container without parameters: two names alone, the first of which is not a misspelt kind
    /// of state.
    fn at_contained_bare(&self) -> bool {
        let alone = self.nth(2) == R_BRACE || self.new_line_before(2) || self.nth_word(2, "from");
        let names = self.nth(0) == IDENT && self.nth(1) == IDENT && self.same_line(1);
        names && alone && mokume_base::did_you_mean(self.nth_text(0), STATE_WORDS).is_none()
    }

    pub(super) fn contained(&mut self) {
        self.form = "queue<Message> waiting(8) from kept";
        self.open_documented(CONTAINED);
        self.open(NAMED_TYPE);
        self.item_name("a container's name");
        self.close();
        if self.at(LT) {
            self.open(TYPE_ARGS);
            self.bump();
            self.type_();
            while self.eat(COMMA) {
                self.type_();
            }
            self.expect(GT, "`>`");
            self.close();
        }
        if self.name_here("the state's name") {
            if self.at(L_PAREN) && self.same_line(0) {
                self.arguments();
            }
            if self.at_word("from") && self.same_line(0) {
                self.bump();
                self.name_here("a quota's name");
            }
        }
        self.close();
    }

    /// `or refuse`, behind a function's parameters or its result.
    pub(super) fn or_refuse(&mut self) {
        if self.at_word("or") {
            self.open(MAY_REFUSE);
            self.bump();
            self.expect_word("refuse");
            self.close();
        }
    }
}
