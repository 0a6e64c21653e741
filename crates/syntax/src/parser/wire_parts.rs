//! Parts of wires that are not in every packet: `optional when`, `options`, `header to`.

use super::Parser;
use crate::codes;
use crate::kinds::SyntaxKind::*;

impl Parser<'_> {
    /// `optional when flag == 1 { … }`
    pub(super) fn wire_optional(&mut self) {
        self.form = "optional when flag == 1 { key: u32 = Layer.key }";
        self.open(WIRE_OPTIONAL);
        self.bump();
        if self.eat_word("when") {
            self.with_records(false, |p| p.expression());
        } else {
            self.expected("`when` and a condition");
        }
        self.open(WIRE_BODY);
        self.nested(|p| p.braces("`{` and fields", |p| p.wire_members()));
        self.close();
        self.close();
    }

    /// `header to words * 4`
    pub(super) fn wire_reach(&mut self) {
        self.form = "header to words * 4";
        self.open(WIRE_REACH);
        self.bump();
        if self.eat_word("to") {
            self.expression();
        } else {
            self.expected("`to` and the header's octets");
        }
        self.close();
    }

    /// `each block in Layer.blocks { left: u32 = block.left }`, `each x in Layer.list until size(packet) { … }`
    pub(super) fn wire_each(&mut self) {
        self.form = "each block in Layer.blocks { left: u32 = block.left }";
        self.open(WIRE_EACH);
        self.bump();
        self.name("what an element is called");
        self.expect_word("in");
        self.path("the vector: `Layer.blocks`");
        if self.eat_word("until") {
            self.with_records(false, |p| p.expression());
        }
        self.open(WIRE_BODY);
        self.nested(|p| p.braces("`{` and fields", |p| p.wire_members()));
        self.close();
        self.close();
    }

    /// `options kind: u8 length: u8 = size(option) until words * 4 pad 4 { … }`
    pub(super) fn wire_options(&mut self) {
        let form = "options kind: u8 length: u8 = size(option) until words * 4 { 0 => end  else => skip }";
        self.form = form;
        self.open(WIRE_OPTIONS);
        self.bump();
        for what in ["the name and type of the kind", "the name and type of the length"] {
            if self.at(IDENT) && self.nth(1) == COLON {
                self.wire_field();
                self.form = form;
            } else {
                self.expected(what);
            }
        }
        if self.eat_word("until") {
            self.with_records(false, |p| p.expression());
        } else {
            self.expected("`until` and the octet at which the options end");
        }
        if self.eat_word("pad") {
            self.with_records(false, |p| p.expression());
            self.eat_word("first");
        }
        self.nested(|p| p.braces("`{` and options", |p| p.wire_option_arms()));
        self.close();
    }

    fn wire_option_arms(&mut self) {
        while !matches!(self.peek(), R_BRACE | EOF) && !self.at_stop() {
            let before = self.pos;
            self.wire_option();
            if self.at(COMMA) {
                let diagnostic = self
                    .error_here(codes::EXPECTED, "options need no `,` between them", "not needed")
                    .help("remove it: blanks or a line's end separate");
                self.report(diagnostic);
                self.bump_as_error();
            } else if self.out_of_step(before) {
                self.recover_wire(before);
            }
        }
    }

    /// `0 => end`, `1 => single`, `2 => Layer.has_mss { … }`, `else => skip`
    fn wire_option(&mut self) {
        self.form = "2 => Layer.has_mss { mss: u16 = Layer.mss }";
        self.open(WIRE_OPTION);
        if !self.eat_word("else") {
            self.with_records(false, |p| p.first_expression());
        }
        if !self.expect(FAT_ARROW, "`=>`") {
            self.eat(ARROW);
        }
        if self.at_any_word(&["end", "single", "skip", "refuse"]) {
            self.bump();
        } else {
            self.path("`end`, `single`, `skip`, `refuse`, or the field that says whether the option is there");
            self.open(WIRE_BODY);
            self.nested(|p| p.braces("`{` and fields", |p| p.wire_members()));
            self.close();
        }
        self.close();
    }
}
