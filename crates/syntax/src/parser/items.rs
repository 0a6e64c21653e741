//! Files, and all items except wires, stacks and tests.

use super::forms::form_of;
use super::{Parser, ITEM_WORDS};
use crate::codes;
use crate::kinds::SyntaxKind::{self, *};

impl Parser<'_> {
    pub(super) fn items(&mut self) {
        while !self.at(EOF) {
            self.begin_item_afresh();
            if matches!(self.peek(), R_BRACE | R_PAREN | R_BRACKET) {
                return;
            }
            self.leave_out_doubled();
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

    pub(super) fn item(&mut self, word: &str) {
        self.form = form_of(word);
        match word {
            "use" => self.use_(),
            "const" => self.const_(),
            "type" => self.type_alias(),
            "record" => self.record(),
            "enum" => self.enum_(),
            "attribute" => self.attribute(),
            "service" => self.service(),
            "signature" => self.signature(),
            "vocabulary" => self.vocabulary(),
            "fn" => self.function(),
            "bundle" => self.bundle(),
            "wire" => self.wire(),
            "stack" => self.stack(),
            "network" => self.network(),
            "test" => self.test(),
            "container" => self.container(),
            "extern" => self.extern_(),
            "part" => self.part_of_layer(),
            "suite" => self.suite(),
            "run" => self.run(),
            _ => self.layer(),
        }
    }

    /// Handles a word that begins no item: reads it as the one that was meant, or skips to the next item.
    pub(super) fn unknown_item(&mut self) {
        const MEMBERS: [&str; 8] = ["on", "header", "key", "address", "entity", "session", "publish", "var"];
        if self.at_any_word(&MEMBERS) && self.nth(1) != EOF {
            let found = self.this();
            let diagnostic = self
                .error_here(codes::UNKNOWN_ITEM, format!("{found} begins no item of a file"), "outside of a layer")
                .help("it stands in a layer: `worker Name { … }`; perhaps a `}` above is one too many");
            self.report(diagnostic);
        } else if self.at_word("open") && self.nth_word(1, "enum") {
            let diagnostic = self
                .error_here(codes::UNKNOWN_ITEM, "`open` begins no item", "in front")
                .help("it stands behind the enum's type: `enum Kind: u8 open { Ask, Tell }`");
            self.report(diagnostic);
            self.bump_as_error();
            return self.item("enum");
        } else if let Some(meant) =
            self.foreign_item().or_else(|| self.unknown_word(codes::UNKNOWN_ITEM, "item", &ITEM_WORDS))
        {
            if matches!(self.nth(1), IDENT | STRING) {
                return self.item(meant);
            }
        }
        self.skip_to_item();
    }

    /// Names of our items in other languages.
    pub(super) fn foreign_item(&mut self) -> Option<&'static str> {
        const WORDS: [(&str, &str); 15] = [
            ("import", "use"),
            ("include", "use"),
            ("struct", "record"),
            ("class", "worker"),
            ("layer", "worker"),
            ("protocol", "worker"),
            ("func", "fn"),
            ("void", "fn"),
            ("function", "fn"),
            ("def", "fn"),
            ("let", "const"),
            ("packet", "wire"),
            ("format", "wire"),
            ("typedef", "type"),
            ("module", "worker"),
        ];
        let (_, ours) = WORDS.iter().find(|(word, _)| self.at_word(word))?;
        let found = self.this();
        let diagnostic = self
            .error_here(codes::UNKNOWN_ITEM, format!("{found} begins no item"), "of another language")
            .help(format!("write `{ours}`"));
        self.report(diagnostic);
        Some(ours)
    }

    pub(super) fn skip_to_item(&mut self) {
        self.open(ERROR);
        self.bump();
        let mut open = 0u32;
        while !self.at_stop() {
            match self.peek() {
                R_BRACE if open == 0 => break,
                _ if open == 0 && self.at_first_column() => break,
                L_BRACE => open += 1,
                R_BRACE => open -= 1,
                _ => {}
            }
            self.bump();
        }
        self.close();
    }

    /// Recovery of every item after a mistake on its line: skips the rest of the line, and the block that may follow.
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

    pub(super) fn use_(&mut self) {
        let errors = self.diagnostics.len();
        self.open_documented(USE);
        self.bump();
        loop {
            if (self.at(STRING) || self.at(IDENT)) && (self.same_line(0) || self.nth_before_kind() == COMMA) {
                self.open(USE_PATH);
                self.bump();
                self.close();
            } else {
                self.expected("a module's name, or a file's in quotes");
                break;
            }
            if matches!(self.peek(), DOT | COLON_COLON) && self.same_line(0) {
                let diagnostic = self
                    .error_here(codes::EXPECTED, "a module has no parts to choose from", "not needed")
                    .help("write `use ethernet`: all its items become visible by name");
                self.report(diagnostic);
                self.skip_line();
                break;
            }
            if self.at(IDENT) && self.same_line(0) {
                self.missing_comma("module");
            } else if !self.eat(COMMA) {
                break;
            }
        }
        self.close();
        self.end_of_item(errors);
    }

    /// `const NAME: T = e`
    pub(super) fn const_(&mut self) {
        let errors = self.diagnostics.len();
        self.typed_value(CONST, "the constant's name");
        self.end_of_item(errors);
    }

    pub(super) fn attribute(&mut self) {
        let errors = self.diagnostics.len();
        self.typed_value(ATTRIBUTE, "the attribute's name");
        self.end_of_item(errors);
    }

    /// `word name: T = e`
    pub(super) fn typed_value(&mut self, kind: SyntaxKind, what: &str) {
        let word = self.nth_text(0);
        self.open_documented(kind);
        self.bump();
        // An array would begin without a value.
        let is_array = self.nth(1) == L_BRACKET;
        let name = self.nth_text(0);
        if self.name_here(what) && self.type_annotation() {
            if self.eat(EQ) {
                self.expression();
            } else if !is_array {
                self.missing_value(word, name);
            }
        }
        self.close();
    }

    /// Reports that the value behind `word name: T` is missing.
    pub(super) fn missing_value(&mut self, word: &str, name: &str) {
        if !self.report_foreign() {
            let found = self.found();
            let type_ = self.nth_before().to_string();
            let value = match type_.as_str() {
                "Flow" => "flow()",
                "bool" => "false",
                "Instant" => "now",
                "Duration" => "1 s",
                _ => "0",
            };
            let is_name = type_.starts_with(|c: char| c.is_ascii_alphabetic());
            let is_number = value != "0" || type_.starts_with(['u', 'i', 's']);
            let help = match is_name && is_number {
                true => format!("everything begins with a value: `{word} {name}: {type_} = {value}`"),
                false => "everything begins with a value: `var next: u32 = 0`".to_string(),
            };
            let diagnostic = self
                .missing_here(codes::EXPECTED, format!("expected `=` and a value, found {found}"), "expected `=`")
                .help(help);
            self.report(diagnostic);
        }
    }

    /// Reads `: T`, which is required.
    pub(super) fn type_annotation(&mut self) -> bool {
        if self.at(EQ) {
            let diagnostic = self
                .error_here(codes::EXPECTED_TYPE, "the type is missing", "expected `:` and a type before this")
                .help("write it: `name: u32 = 0`");
            self.report(diagnostic);
            return true;
        }
        if self.at(L_BRACKET) && self.same_line(0) {
            self.several_after_name();
            return true;
        }
        let there = self.expect(COLON, "`:` and a type");
        if there || self.at(IDENT) && self.same_line(0) && self.nth(1) != COLON {
            self.type_();
        }
        there
    }

    /// Reports `x[8]: u8`, which is read as `x: u8`.
    fn several_after_name(&mut self) {
        let name = self.nth_before().to_string();
        let (text, help) = match self.form.starts_with("var") {
            true => {
                ("how many there are stands with the type, behind `array`", format!("write `array {name}: [u32; 8]`"))
            }
            false => ("how many there are stands with the type", format!("write `{name}: [u8; ..8]`: at most eight")),
        };
        let diagnostic = self.error_here(codes::EXPECTED_TYPE, text, "not behind the name");
        self.report(diagnostic.help(help));
        self.open(ERROR);
        self.bump();
        self.skip_to_separator(R_BRACKET);
        self.eat(R_BRACKET);
        self.close();
        if self.eat(COLON) {
            self.type_();
        }
    }

    pub(super) fn type_alias(&mut self) {
        let errors = self.diagnostics.len();
        self.open_documented(TYPE_ALIAS);
        self.bump();
        if self.name_here("the type's name") && self.expect(EQ, "`=` and a type") {
            self.type_();
        }
        self.written();
        self.close();
        self.end_of_item(errors);
    }

    /// `written colons(16) short`, `written address/prefix`
    fn written(&mut self) {
        if !self.at_word("written") {
            return;
        }
        self.open(WRITTEN);
        self.bump();
        if self.name("`dotted(8)`, `colons(8)`, or the names of two fields") {
            let opening = self.span_of(0);
            if self.eat(SLASH) {
                self.name("the name of the second field");
            } else if self.expect(L_PAREN, "`(` and the bits of a part") {
                self.expect(NUMBER, "the bits of a part");
                self.close_bracket(R_PAREN, opening);
                self.eat_word("short");
            }
        }
        self.close();
    }

    pub(super) fn record(&mut self) {
        let errors = self.diagnostics.len();
        self.open_documented(RECORD);
        self.bump();
        self.name_here("the record's name");
        self.written();
        self.field_list();
        self.close();
        self.end_of_item(errors);
    }

    /// `enum Kind: u8 { Ask = 1, Tell }`, `enum Kind: u8 open { … }`
    pub(super) fn enum_(&mut self) {
        let errors = self.diagnostics.len();
        self.open_documented(ENUM);
        self.bump();
        self.name_here("the enum's name");
        if self.expect(COLON, "`:` and the type of its numbers") {
            self.type_();
        }
        self.eat_word("open");
        let opening = self.span_of(0);
        if self.open_brace("`{` and names") {
            self.braced_list("name", |p| {
                p.open_documented(VARIANT);
                if p.name("a name") {
                    if p.at(L_PAREN) && p.same_line(0) {
                        p.params(true);
                    }
                    if p.eat(EQ) {
                        p.expression();
                    }
                }
                p.close();
            });
            self.close_bracket(R_BRACE, opening);
        }
        self.close();
        self.end_of_item(errors);
    }

    /// `service Resolve { ask(next_hop: u32)  out known(next_hop: u32, link: u48) }`
    pub(super) fn service(&mut self) {
        let errors = self.diagnostics.len();
        self.open_documented(SERVICE);
        self.bump();
        self.name_here("the service's name");
        let opening = self.span_of(0);
        if self.open_brace("`{` and signals") {
            while self.at(IDENT) && !self.at_stop() {
                self.open_documented(SIGNAL);
                if self.at_any_word(&["in", "out"]) && self.nth(1) == IDENT {
                    self.bump();
                }
                self.name("a signal's name");
                self.params(true);
                self.close();
                self.eat(COMMA);
            }
            self.rest_of_braces();
            self.close_bracket(R_BRACE, opening);
        }
        self.close();
        self.end_of_item(errors);
    }

    /// `fn f(a: u32, b: u32) -> u32 { … }`
    pub(super) fn function(&mut self) {
        self.open_documented(FUNCTION);
        self.bump();
        self.function_head();
        self.block();
        self.close();
    }

    /// Name, parameters, result, `or refuse`.
    pub(super) fn function_head(&mut self) {
        self.name_here("the function's name");
        self.params(true);
        if self.eat(ARROW) {
            self.type_();
        } else if self.at(FAT_ARROW) || self.at(COLON) {
            let found = self.this();
            let diagnostic = self
                .error_here(
                    codes::WRONG_ARROW,
                    format!("expected `->` and the result's type, found {found}"),
                    "expected `->`",
                )
                .help("write `fn f(a: u32) -> u32 { … }`");
            self.report(diagnostic);
            self.bump();
            self.type_();
        }
        self.or_refuse();
    }

    /// `worker Credit(grant: u16 = 32) { … }`
    pub(super) fn layer(&mut self) {
        self.open_documented(LAYER);
        self.bump();
        self.name_here("the layer's name");
        if self.at(L_PAREN) {
            self.params(true);
        }
        self.braces("`{` and the layer's members", |p| p.members());
        self.close();
    }

    /// `part Output of Connection { … }`
    pub(super) fn part_of_layer(&mut self) {
        self.open_documented(PART);
        self.bump();
        if self.name_here("the part's name") {
            self.expect_word("of");
            self.item_name("the layer's name");
        }
        self.braces("`{` and the part's members", |p| p.members());
        self.close();
    }

    /// `bundle Udp(checksums: bool = true) = Ports / Length / InetChecksum(checksums) encoded Rfc768`
    pub(super) fn bundle(&mut self) {
        let errors = self.diagnostics.len();
        self.open_documented(BUNDLE);
        self.bump();
        self.name_here("the bundle's name");
        if self.at(L_PAREN) {
            self.params(true);
        }
        if self.expect(EQ, "`=` and layers") {
            self.layer_use();
            while self.eat(SLASH) || self.comma_for_slash() {
                if self.at_word("encoded") && self.nth(1) == IDENT {
                    self.expected("a layer's name");
                    break;
                }
                self.layer_use();
            }
            if self.eat_word("encoded") && !(self.same_line(0) && self.eat_word("compressed")) {
                self.item_name_here("a wire's name");
            }
        }
        self.close();
        self.end_of_item(errors);
    }

    /// Reports `A, B` where `A / B` is meant, and reads it as that.
    pub(super) fn comma_for_slash(&mut self) -> bool {
        let comma = self.at(COMMA) && self.nth(1) == IDENT;
        if comma {
            let diagnostic = self
                .error_here(codes::EXPECTED, "expected `/` between layers, found `,`", "the next layer down follows")
                .help("write the layers from top to bottom: `A / B`");
            self.report(diagnostic);
            self.bump();
        }
        comma
    }

    /// `InetChecksum(checksums)`
    pub(super) fn layer_use(&mut self) {
        // Behind `=` only what cannot be the next item: `bundle A =` may not be finished.
        let goes_on = match self.nth_before_kind() {
            SLASH => true,
            EQ => {
                let behind = if self.nth(1) == DOT && self.nth(2) == IDENT { 3 } else { 1 };
                matches!(self.nth(behind), L_PAREN | SLASH) || self.nth_word(behind, "encoded")
            }
            _ => false,
        };
        let torn = self.new_line_before(0) && !goes_on;
        if !self.at(IDENT) || torn {
            self.expected("a layer's name");
            return;
        }
        self.open(LAYER_USE);
        self.item_name("a layer's name");
        if self.at(L_PAREN) && self.same_line(0) {
            self.arguments();
        }
        self.close();
    }
}
