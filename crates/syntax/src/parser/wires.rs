//! Wires: how headers lie in octets.

use super::forms::form_of;
use super::Parser;
use crate::codes;
use crate::kinds::SyntaxKind::*;

impl Parser<'_> {
    /// `wire Rfc768 big { … }`
    pub(super) fn wire(&mut self) {
        self.open_documented(WIRE);
        self.bump();
        self.name_here("the wire's name");
        if self.at_any_word(&["big", "little"]) {
            self.bump();
        }
        self.open(WIRE_BODY);
        self.braces("`{` and fields (or `big`, `little`)", |p| p.wire_members());
        self.close();
        self.close();
    }

    pub(super) fn wire_members(&mut self) {
        while !matches!(self.peek(), R_BRACE | EOF) && !self.at_stop() {
            let before = self.pos;
            self.wire_member();
            if self.at(COMMA) {
                let diagnostic = self
                    .error_here(codes::EXPECTED, "fields of a wire need no `,`", "not needed")
                    .help("remove it: blanks or a line's end separate; constraints are joined by `and`");
                self.report(diagnostic);
                self.bump_as_error();
            } else if self.out_of_step(before) {
                self.recover_wire(before);
            }
        }
    }

    pub(super) fn recover_wire(&mut self, began: usize) {
        if self.pos == began {
            self.bump_as_error();
        }
        while !matches!(self.peek(), R_BRACE | EOF) && !self.new_line_before(0) {
            match self.peek() {
                L_BRACE => self.skip_balanced(),
                _ => self.skip_line(),
            }
        }
        self.begin_afresh();
    }

    fn wire_member(&mut self) {
        self.form = form_of(self.nth_text(0));
        let field = self.at(IDENT) && matches!(self.nth(1), COLON | EQ);
        match self.nth_text(0) {
            _ if field => self.wire_field(),
            "where" => self.wire_where(),
            "trim" => self.wire_trim(),
            "choice" => self.wire_choice(),
            "optional" => self.wire_optional(),
            "options" => self.wire_options(),
            "header" => self.wire_reach(),
            "each" => self.wire_each(),
            "default" => self.wire_default(),
            "pseudo" => self.wire_pseudo(),
            _ => self.unknown_wire_member(),
        }
    }

    fn unknown_wire_member(&mut self) {
        if self.report_foreign() {
            return;
        }
        if self.nth(1) == FAT_ARROW {
            return self.arms_outside();
        }
        let this = self.this();
        let diagnostic =
            self.error_here(codes::UNKNOWN_WIRE_MEMBER, format!("{this} begins no part of a wire"), "expected a field");
        let (first, second) = (self.nth_text(0), self.nth_text(1));
        let help = match self.nth(1) {
            IDENT if self.at(IDENT) && self.same_line(1) && self.nth(2) == EQ => {
                format!("a field's name stands before its type: `{second}: {first} = …`")
            }
            _ if first == "if" => {
                "a part that is there under a condition is written `optional when flag == 1 { … }`".to_string()
            }
            _ if matches!(first, "match" | "switch") => {
                "what depends on an earlier field is written `choice kind { 1 => Data { … } }`".to_string()
            }
            _ if matches!(first, "big" | "little") => {
                "the byte order stands behind the type: `a: u16 little = …`".to_string()
            }
            _ => "write a field (`source: u16 = Ports.source`), `where`, `trim packet to`, `choice`, `optional` or `options`"
                .to_string(),
        };
        self.report(diagnostic.help(help));
    }

    /// `1 => Data { … }` where the line of the choice or the options is missing: one report for all its arms.
    fn arms_outside(&mut self) {
        let this = self.this();
        let diagnostic =
            self.error_here(codes::UNKNOWN_WIRE_MEMBER, format!("{this} begins no part of a wire"), "an arm");
        self.report(
            diagnostic.help("arms stand in a choice or in options: is `choice kind {` missing in front of it?"),
        );
        self.open(ERROR);
        while self.nth(1) == FAT_ARROW {
            self.bump();
            self.bump();
            while !matches!(self.peek(), R_BRACE | EOF) && !self.new_line_before(0) {
                match self.peek() {
                    L_BRACE => self.skip_balanced(),
                    _ => self.bump(),
                }
            }
        }
        // The wire's own `}` stands at the line's beginning.
        if self.at(R_BRACE) && self.column_of_line(0) > 0 {
            self.bump();
        }
        self.close();
        self.reported_at = None;
    }

    /// `name: uN little = e unread`
    pub(super) fn wire_field(&mut self) {
        self.form = "source: u16 = Ports.source";
        self.open_documented(WIRE_FIELD);
        self.name("a field's name");
        self.type_annotation();
        if self.at_any_word(&["big", "little"]) {
            self.bump();
        }
        if self.eat(EQ) {
            self.expression();
        }
        if self.eat_word("unread") {
            self.eat_word("preserved");
        }
        self.close();
    }

    fn wire_where(&mut self) {
        self.open(WIRE_WHERE);
        self.bump();
        self.expression();
        self.close();
    }

    fn wire_trim(&mut self) {
        self.open(WIRE_TRIM);
        self.bump();
        if self.at_word("packet") && self.nth_word(1, "to") {
            self.bump();
            self.bump();
            self.expression();
        } else {
            self.expected("`packet to` and a length");
        }
        self.close();
    }

    /// `default 64`
    fn wire_default(&mut self) {
        self.form = "default checksum(packet, pseudo)";
        self.open(WIRE_DEFAULT);
        self.bump();
        self.expression();
        self.close();
    }

    /// `pseudo source, destination, protocol`
    fn wire_pseudo(&mut self) {
        self.form = "pseudo source, destination, protocol";
        self.open(WIRE_PSEUDO);
        self.bump();
        self.name_here("a field's name");
        while self.eat(COMMA) {
            self.name("a field's name");
        }
        self.close();
    }

    /// `choice kind { 1 => Data { … }  2 => Ack { … } }`
    fn wire_choice(&mut self) {
        self.open(WIRE_CHOICE);
        self.bump();
        self.name_here("the name of an earlier field");
        self.nested(|p| p.braces("`{` and arms", |p| p.wire_arms()));
        self.close();
    }

    fn wire_arms(&mut self) {
        while !matches!(self.peek(), R_BRACE | EOF) && !self.at_stop() {
            let before = self.pos;
            self.wire_arm();
            if self.at(COMMA) {
                let diagnostic = self
                    .error_here(codes::EXPECTED, "arms need no `,` between them", "not needed")
                    .help("remove it: blanks or a line's end separate");
                self.report(diagnostic);
                self.bump_as_error();
            } else if self.out_of_step(before) {
                self.recover_wire(before);
            }
        }
    }

    fn wire_arm(&mut self) {
        self.form = "1 => Data { seq: u32 = Layer.Data.seq }";
        self.open(WIRE_ARM);
        if self.at_any_word(&["else", "_", "default"]) && self.nth(1) == FAT_ARROW {
            let diagnostic = self
                .error_here(codes::EXPECTED, "a choice has an arm for each alternative, and no other", "no number")
                .help("leave it out: packets with other numbers are refused");
            self.report(diagnostic);
            self.bump_as_error();
            self.bump_as_error();
            if self.at(IDENT) {
                self.bump_as_error();
            }
            if self.at(L_BRACE) {
                self.open(ERROR);
                self.skip_balanced();
                self.close();
            }
            self.close();
            return;
        }
        self.with_records(false, |p| p.first_expression());
        if !self.expect(FAT_ARROW, "`=>`") {
            self.eat(ARROW);
        }
        self.path("the name of the alternative");
        self.open(WIRE_BODY);
        self.nested(|p| p.braces("`{` and fields", |p| p.wire_members()));
        self.close();
        self.close();
    }
}
