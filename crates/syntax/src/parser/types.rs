//! Types.

use super::Parser;
use crate::codes;
use crate::kinds::SyntaxKind::*;

impl Parser<'_> {
    /// `u32`, `Kind`, `[u32; 8]`, `[u32; ..8]`, `[u32 -> u48; 64]`, `[(u32, u16) -> u8; 64]`
    pub(super) fn type_(&mut self) {
        match self.peek() {
            _ if self.new_line_before(0) && !self.in_brackets => self.expected_type(),
            IDENT if self.at_word("fn") && self.nth(1) == L_PAREN => self.nested(|p| p.function_type()),
            IDENT => {
                self.open(NAMED_TYPE);
                self.item_name("a type");
                self.close();
                self.check_array_suffix();
            }
            L_BRACKET => self.nested(|p| p.bracketed(|p| p.bracketed_type())),
            _ => self.expected_type(),
        }
    }

    /// `fn(u32, u8) -> bool`
    fn function_type(&mut self) {
        self.open(FN_TYPE);
        self.bump();
        let opening = self.span_of(0);
        self.bump();
        while !self.at(R_PAREN) && !self.at(EOF) && !self.at_list_end() {
            let before = self.pos;
            self.type_();
            if !self.eat(COMMA) || self.pos == before {
                break;
            }
        }
        self.close_bracket(R_PAREN, opening);
        if self.expect(ARROW, "`->` and what it gives") {
            self.type_();
        }
        self.close();
    }

    /// Reports `u32[8]`, the form of other languages.
    fn check_array_suffix(&mut self) {
        if self.at(L_BRACKET) && self.same_line(0) {
            let element = self.nth_before().to_string();
            let length = if self.nth(1) == NUMBER { self.nth_text(1) } else { "8" };
            let diagnostic = self
                .error_here(codes::EXPECTED_TYPE, "the length stands within the type", "not behind it")
                .help(format!("write `[{element}; ..{length}]` for a value of at most {length}, `[{element}; {length}]` for an `array`"));
            self.report(diagnostic);
            self.skip_balanced();
        }
    }

    fn expected_type(&mut self) {
        if self.at(L_BRACE) && self.same_line(0) && self.nth_before_kind() == COLON {
            let diagnostic = self
                .error_here(codes::EXPECTED_TYPE, "expected a type, found `{`", "no braces in a type")
                .help("a map's type is `[u32 -> u48; 64]`, with how many it holds at most; a record has a name");
            self.report(diagnostic);
            return self.skip_balanced();
        }
        if !self.report_foreign() {
            let found = self.found();
            let diagnostic = self
                .missing_here(codes::EXPECTED_TYPE, format!("expected a type, found {found}"), "expected a type")
                .help("types are `bool`, `u1` … `u64`, `seq1` … `seq64`, `Duration`, `Instant`, `Message` and names of your own");
            self.report(diagnostic);
        }
    }

    fn bracketed_type(&mut self) {
        let start = self.checkpoint();
        let opening = self.span_of(0);
        let behind = if self.nth(1) == L_BRACKET { self.behind_brackets(1) } else { Some(2) };
        let is_map = self.nth(1) == L_PAREN
            || behind.is_some_and(|behind| matches!(self.nth(behind), ARROW | FAT_ARROW | COLON | COMMA));
        self.bump();
        let element = self.span_of(0).start;
        if self.eat(L_PAREN) {
            self.type_();
            while self.eat(COMMA) {
                self.type_();
            }
            self.expect(R_PAREN, "`)`");
        } else {
            self.type_();
        }
        if is_map {
            if matches!(self.peek(), COMMA | COLON) {
                let found = self.found();
                let diagnostic = self
                    .error_here(codes::EXPECTED, format!("expected `->`, found {found}"), "expected `->`")
                    .help("write `->` between what is looked up and what is found: `[u32 -> u48; 64]`");
                self.report(diagnostic);
                self.bump();
            } else if !self.expect(ARROW, "`->`") {
                let _ = self.eat(FAT_ARROW);
            }
            self.type_();
        }
        let mut kind = if is_map { MAP_TYPE } else { ARRAY_TYPE };
        if !is_map && self.at(R_BRACKET) && !self.form.starts_with("array") {
            let element = &self.text[element as usize..self.span_before().end as usize];
            let fixed = if self.form.starts_with("header") {
                String::new()
            } else {
                format!("; always eight: `[{element}; 8]`")
            };
            let diagnostic = self
                .error_here(codes::EXPECTED, "an array or a list says how many elements it has", "how many?")
                .help(format!("a list of up to eight: `[{element}; ..8]`{fixed}"));
            self.report(diagnostic);
        } else if self
            .expect(SEMICOLON, if is_map { "`;` and the map's capacity" } else { "`;` and the array's length" })
        {
            if !is_map && self.eat(DOT_DOT) {
                kind = VECTOR_TYPE;
            }
            self.with_records(true, |p| p.expression());
        }
        self.close_bracket(R_BRACKET, opening);
        self.open_at(start, kind);
        self.close();
    }
}
