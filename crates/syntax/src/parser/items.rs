//! Files and the items in them that are neither wires, stacks nor tests.

use super::{Parser, ITEM_WORDS};
use crate::codes;
use crate::kinds::SyntaxKind::{self, *};

impl Parser<'_> {
    pub(super) fn items(&mut self) {
        while !self.at(EOF) {
            if matches!(self.peek(), R_BRACE | R_PAREN | R_BRACKET) {
                return;
            }
            let before = self.pos;
            if self.at_any_word(&ITEM_WORDS) {
                self.item(self.nth_text(0));
            } else {
                self.unknown_item();
            }
            if self.pos == before {
                self.bump_as_error();
            }
        }
    }

    fn item(&mut self, word: &str) {
        match word {
            "use" => self.use_(),
            "const" => self.const_(),
            "type" => self.type_alias(),
            "record" => self.record(),
            "enum" => self.enum_(),
            "attribute" => self.attribute(),
            "service" => self.service(),
            "fn" => self.function(),
            "bundle" => self.bundle(),
            "wire" => self.wire(),
            "stack" => self.stack(),
            "network" => self.network(),
            "test" => self.test(),
            _ => self.layer(),
        }
    }

    /// A word that begins no item: read as the one that was meant, or left out up to the next item.
    fn unknown_item(&mut self) {
        const MEMBERS: [&str; 8] = ["on", "header", "key", "address", "entity", "session", "publish", "var"];
        if self.at_any_word(&MEMBERS) && self.nth(1) != EOF {
            let found = self.found();
            let diagnostic = self
                .error_here(codes::UNKNOWN_ITEM, format!("{found} begins no item of a file"), "outside of a layer")
                .help("it stands in a layer: `worker Name { … }`; perhaps a `}` above is one too many");
            self.report(diagnostic);
        } else if let Some(meant) = self.unknown_word(codes::UNKNOWN_ITEM, "item", &ITEM_WORDS) {
            if matches!(self.nth(1), IDENT | STRING) {
                return self.item(meant);
            }
        }
        self.skip_to_item();
    }

    fn skip_to_item(&mut self) {
        self.open(ERROR);
        self.bump();
        let mut open = 0u32;
        while !self.at_stop() {
            match self.peek() {
                L_BRACE => open += 1,
                R_BRACE if open == 0 => break,
                R_BRACE => open -= 1,
                IDENT if open == 0 && self.new_line_before(0) && self.at_any_word(&ITEM_WORDS) => break,
                _ => {}
            }
            self.bump();
        }
        self.close();
    }

    /// What every item does with a mistake on its line: leaves out the rest of it, and the block that may stand there.
    pub(super) fn end_of_item(&mut self, errors_before: usize) {
        if self.diagnostics.len() == errors_before {
            return;
        }
        while !self.at_stop() && self.pos > 0 && self.same_line(0) && !self.at(R_BRACE) {
            if self.at(L_BRACE) {
                self.skip_balanced();
            } else {
                self.skip_line();
            }
        }
    }

    fn use_(&mut self) {
        let errors = self.diagnostics.len();
        self.open_documented(USE);
        self.bump();
        loop {
            if self.at(STRING) || self.at(IDENT) {
                self.open(USE_PATH);
                self.bump();
                self.close();
            } else {
                self.expected("a module's name, or a file's in quotes");
                break;
            }
            if !self.eat(COMMA) {
                break;
            }
        }
        self.close();
        self.end_of_item(errors);
    }

    /// `const NAME: T = e`
    fn const_(&mut self) {
        let errors = self.diagnostics.len();
        self.typed_value(CONST, "the constant's name");
        self.end_of_item(errors);
    }

    fn attribute(&mut self) {
        let errors = self.diagnostics.len();
        self.typed_value(ATTRIBUTE, "the attribute's name");
        self.end_of_item(errors);
    }

    /// `word name: T = e`
    pub(super) fn typed_value(&mut self, kind: SyntaxKind, what: &str) {
        self.open_documented(kind);
        self.bump();
        if self.name(what) && self.type_annotation() && self.expect(EQ, "`=` and a value") {
            self.expression();
        }
        self.close();
    }

    /// `: T`, which must be there.
    pub(super) fn type_annotation(&mut self) -> bool {
        if self.at(EQ) {
            let diagnostic = self
                .error_here(codes::EXPECTED_TYPE, "the type is missing", "expected `:` and a type before this")
                .help("write it: `name: u32 = 0`");
            self.report(diagnostic);
            return true;
        }
        let there = self.expect(COLON, "`:` and a type");
        if there {
            self.type_();
        }
        there
    }

    fn type_alias(&mut self) {
        let errors = self.diagnostics.len();
        self.open_documented(TYPE_ALIAS);
        self.bump();
        if self.name("the type's name") && self.expect(EQ, "`=` and a type") {
            self.type_();
        }
        self.close();
        self.end_of_item(errors);
    }

    fn record(&mut self) {
        let errors = self.diagnostics.len();
        self.open_documented(RECORD);
        self.bump();
        self.name("the record's name");
        self.field_list();
        self.close();
        self.end_of_item(errors);
    }

    /// `{ left: u32, right: u32 }`; a line's end separates as a comma does.
    pub(super) fn field_list(&mut self) {
        if !self.at(L_BRACE) {
            self.expected("`{` and fields");
            return;
        }
        self.open(FIELD_LIST);
        let opening = self.span_of(0);
        self.bump();
        self.braced_list("field", |p| {
            p.open_documented(FIELD);
            if p.name("a field's name") {
                p.type_annotation();
            }
            p.close();
        });
        self.close_bracket(R_BRACE, opening);
        self.close();
    }

    /// The parts of a list in braces, separated by commas or line ends.
    pub(super) fn braced_list(&mut self, what: &str, mut part: impl FnMut(&mut Self)) {
        while !matches!(self.peek(), R_BRACE | EOF) && !self.at_stop() && !self.at_lost_member() {
            let before = (self.pos, self.diagnostics.len());
            part(self);
            if self.eat(COMMA) || self.at(R_BRACE) {
                continue;
            }
            if self.diagnostics.len() == before.1 && self.same_line(0) {
                self.missing_comma(what);
            }
            self.eat(COMMA);
            if self.pos == before.0 {
                self.bump_as_error();
            }
        }
    }

    fn missing_comma(&mut self, what: &str) {
        if self.at(IDENT) {
            let found = self.found();
            let diagnostic = self
                .error_here(
                    codes::MISSING_SEPARATOR,
                    format!("expected `,` before {found}"),
                    "the next one begins here",
                )
                .help(format!("write `,` between one {what} and the next on the same line"));
            self.report(diagnostic);
            return;
        }
        self.expected("`,` or `}`");
        self.open(ERROR);
        while !matches!(self.peek(), COMMA | EOF | L_BRACE | R_BRACE) && self.same_line(0) {
            self.bump();
        }
        if self.at(L_BRACE) {
            self.skip_balanced();
        }
        self.close();
    }

    /// `enum Kind: u8 { Ask = 1, Tell }`
    fn enum_(&mut self) {
        let errors = self.diagnostics.len();
        self.open_documented(ENUM);
        self.bump();
        self.name("the enum's name");
        if self.expect(COLON, "`:` and the type of its numbers") {
            self.type_();
        }
        let opening = self.span_of(0);
        if self.expect(L_BRACE, "`{` and names") {
            self.braced_list("name", |p| {
                p.open_documented(VARIANT);
                if p.name("a name") && p.eat(EQ) {
                    p.expression();
                }
                p.close();
            });
            self.close_bracket(R_BRACE, opening);
        }
        self.close();
        self.end_of_item(errors);
    }

    /// `service Resolve { ask(next_hop: u32)  out known(next_hop: u32, link: u48) }`
    fn service(&mut self) {
        let errors = self.diagnostics.len();
        self.open_documented(SERVICE);
        self.bump();
        self.name("the service's name");
        let opening = self.span_of(0);
        if self.expect(L_BRACE, "`{` and signals") {
            while self.at(IDENT) && !self.at_stop() {
                self.open_documented(SIGNAL);
                if self.at_any_word(&["in", "out"]) && self.nth(1) == IDENT {
                    self.bump();
                }
                self.name("a signal's name");
                self.params();
                self.close();
                self.eat(COMMA);
            }
            self.close_bracket(R_BRACE, opening);
        }
        self.close();
        self.end_of_item(errors);
    }

    /// `fn f(a: u32, b: u32) -> u32 { … }`
    pub(super) fn function(&mut self) {
        self.open_documented(FUNCTION);
        self.bump();
        self.name("the function's name");
        self.params();
        if self.eat(ARROW) {
            self.type_();
        } else if self.at(FAT_ARROW) || self.at(COLON) {
            self.expected("`->` and the result's type");
            self.bump();
            self.type_();
        }
        self.block();
        self.close();
    }

    /// `(a: u32, b: u16 = 4)`
    pub(super) fn params(&mut self) {
        if !self.at(L_PAREN) {
            self.expected("`(` and parameters");
            return;
        }
        self.open(PARAM_LIST);
        let opening = self.span_of(0);
        self.bump();
        while !self.at(R_PAREN) && !self.at(EOF) && !self.at_list_end() {
            let before = self.pos;
            self.param();
            if self.pos == before {
                break;
            }
            if !self.eat(COMMA) && !self.at(R_PAREN) {
                if self.at(IDENT) && self.same_line(0) {
                    self.missing_comma("parameter");
                    continue;
                }
                break;
            }
        }
        self.close_bracket(R_PAREN, opening);
        self.close();
    }

    pub(super) fn param(&mut self) {
        self.open(PARAM);
        if self.at(IDENT) && self.nth(1) == IDENT && self.same_line(1) {
            let (type_, name) = (self.nth_text(0), self.nth_text(1));
            let diagnostic = self
                .error_here(codes::EXPECTED, "a parameter's name stands before its type", "expected `name: Type`")
                .help(format!("write `{name}: {type_}`"));
            self.report(diagnostic);
            self.bump_as_error();
        }
        if self.name("a parameter's name") {
            if self.eat(COLON) {
                self.type_();
            }
            if self.eat(EQ) {
                self.with_records(true, |p| p.expression());
            }
        }
        self.close();
    }

    /// `worker Credit(grant: u16 = 32) { … }`
    fn layer(&mut self) {
        self.open_documented(LAYER);
        self.bump();
        self.name("the layer's name");
        if self.at(L_PAREN) {
            self.params();
        }
        self.braces("`{` and the layer's members", |p| p.members());
        self.close();
    }

    /// `{`, what the rule reads, `}`; a rule that stops early at something is called again behind it.
    pub(super) fn braces(&mut self, what: &str, mut rule: impl FnMut(&mut Self)) {
        let opening = self.span_of(0);
        if !self.at(L_BRACE) {
            let errors = self.diagnostics.len();
            self.expected(what);
            if self.at_stop() || self.new_line_before(0) && !self.at(L_BRACE) {
                return;
            }
            self.skip_line();
            if !self.at(L_BRACE) {
                return self.end_of_item(errors);
            }
        }
        self.bump();
        self.with_records(true, |p| rule(p));
        self.close_bracket(R_BRACE, opening);
    }

    /// `bundle Udp(checksums: bool = true) = Ports / Length / InetChecksum(checksums) encoded Rfc768`
    fn bundle(&mut self) {
        let errors = self.diagnostics.len();
        self.open_documented(BUNDLE);
        self.bump();
        self.name("the bundle's name");
        if self.at(L_PAREN) {
            self.params();
        }
        if self.expect(EQ, "`=` and layers") {
            self.layer_use();
            while self.eat(SLASH) {
                self.layer_use();
            }
            if self.eat_word("encoded") {
                self.name("a wire's name");
            }
        }
        self.close();
        self.end_of_item(errors);
    }

    /// `InetChecksum(checksums)`
    pub(super) fn layer_use(&mut self) {
        if !self.at(IDENT) {
            self.expected("a layer's name");
            return;
        }
        self.open(LAYER_USE);
        self.name("a layer's name");
        if self.at(L_PAREN) && self.same_line(0) {
            self.arguments();
        }
        self.close();
    }
}
