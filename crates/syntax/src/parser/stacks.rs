//! Stacks: layers put together.

use super::Parser;
use crate::codes;
use crate::kinds::SyntaxKind::*;

impl Parser<'_> {
    /// `stack Host(device: Device, address: Ipv4Cidr) { … }`
    pub(super) fn stack(&mut self) {
        self.open_documented(STACK);
        self.bump();
        self.name("the stack's name");
        if self.at(L_PAREN) {
            self.params();
        }
        self.braces("`{` and layers", |p| p.stack_members());
        self.close();
    }

    pub(super) fn stack_members(&mut self) {
        while !matches!(self.peek(), R_BRACE | EOF) && !self.at_stop() {
            let before = (self.pos, self.diagnostics.len());
            self.stack_member();
            if self.diagnostics.len() > before.1 || self.pos == before.0 {
                self.recover_member(before.0);
            }
        }
    }

    fn stack_member(&mut self) {
        if self.at_word("export") && self.nth(1) == IDENT {
            self.open_documented(EXPORT);
            self.bump();
            self.name("a layer's name");
            self.close();
        } else if self.at(IDENT) && self.nth(1) == EQ {
            self.stack_layer();
        } else if !self.report_foreign() {
            let found = self.found();
            let diagnostic = self
                .error_here(
                    codes::UNKNOWN_STACK_MEMBER,
                    format!("{found} begins no part of a stack"),
                    "expected a layer or `export`",
                )
                .help("write `name = Layer over other`, or `export name`");
            self.report(diagnostic);
        }
    }

    /// `ip = Ipv4(address) over ethernet[type: 0x0800] with arp, icmp`
    fn stack_layer(&mut self) {
        self.open_documented(STACK_LAYER);
        self.name("a name for the layer");
        self.bump();
        self.layer_use();
        loop {
            match self.nth_text(0) {
                "over" => self.over(),
                "with" => self.with(),
                _ => break,
            }
        }
        self.close();
    }

    /// `over ethernet[type: 0x0800]`
    fn over(&mut self) {
        self.open(OVER);
        self.bump();
        self.name("the name of what is below");
        if self.at(L_BRACKET) && self.same_line(0) {
            let opening = self.span_of(0);
            self.bump();
            while self.at(IDENT) {
                self.open(OVER_KEY);
                self.name("a key's name");
                if self.expect(COLON, "`:` and a constant") {
                    self.expression();
                }
                self.close();
                if !self.eat(COMMA) {
                    break;
                }
            }
            if !self.at(R_BRACKET) && self.same_line(0) {
                self.expected("a key: `[port: 7]`");
            }
            self.close_bracket(R_BRACKET, opening);
        }
        self.close();
    }

    fn with(&mut self) {
        self.open(WITH);
        self.bump();
        self.name("the name of a layer of this stack");
        while self.eat(COMMA) {
            self.name("the name of a layer of this stack");
        }
        self.close();
    }
}
