//! Stacks.

use super::forms::form_of;
use super::Parser;
use crate::codes;
use crate::kinds::SyntaxKind::*;

/// The settings of a stack.
const SETTINGS: &[&str] = &["outputs", "sessions", "tick", "mtu", "order"];

impl Parser<'_> {
    /// `stack Host(device: Device, address: Ipv4Cidr) { … }`
    pub(super) fn stack(&mut self) {
        self.open_documented(STACK);
        self.bump();
        self.name_here("the stack's name");
        if self.at(L_PAREN) {
            self.params(true);
        }
        self.braces("`{` and layers", |p| p.stack_members());
        self.close();
    }

    pub(super) fn stack_members(&mut self) {
        while !matches!(self.peek(), R_BRACE | EOF) && !self.at_stop() {
            self.leave_out_doubled();
            let before = self.pos;
            if self.at(FAT_ARROW) || self.at(IDENT) && self.nth(1) == DOT && self.nth(2) == IDENT {
                return self.steps_in_stack();
            }
            self.stack_member();
            if self.out_of_step(before) {
                self.recover_member(before);
            }
        }
    }

    /// Steps of a test, up to its end: the line in front of its stack is missing.
    fn steps_in_stack(&mut self) {
        let text = format!("{} begins no part of a stack", self.this());
        let diagnostic = self.error_here(codes::UNKNOWN_STACK_MEMBER, text, "as in a test");
        self.report(diagnostic.help("steps stand in a test: is `test \"name\" {` missing in front of `stack`?"));
        while !matches!(self.peek(), R_BRACE | EOF) && !self.at_stop() {
            match self.peek() {
                L_BRACE => self.skip_balanced(),
                _ => self.bump_as_error(),
            }
        }
        self.begin_afresh();
    }

    fn stack_member(&mut self) {
        self.form = form_of(self.nth_text(0));
        if self.at_word("export") && !matches!(self.nth(1), EQ | COLON) {
            self.open_documented(EXPORT);
            self.bump();
            self.name_here("a layer's name");
            if self.at_word("with") && self.same_line(0) {
                self.with("an attribute, or what a layer publishes");
            }
            self.close();
        } else if SETTINGS.contains(&self.nth_text(0)) && !matches!(self.nth(1), EQ | COLON) {
            self.stack_setting();
        } else if self.at(IDENT) && self.nth(1) == EQ {
            self.stack_layer();
        } else if self.at(IDENT) && self.nth(1) == COLON && self.nth(2) == IDENT {
            self.unknown_stack_member();
            self.stack_layer();
        } else if !self.report_foreign() {
            self.unknown_stack_member();
        }
    }

    /// Reads `outputs 64`, `order store, device`: a word, and its value on the same line.
    fn stack_setting(&mut self) {
        self.open_documented(STACK_SETTING);
        let names = self.nth_text(0) == "order";
        self.bump();
        if names {
            self.name_here("the name of a port");
            while self.eat(COMMA) {
                self.name_here("the name of a port");
            }
        } else {
            self.value_or_range();
        }
        self.close();
    }

    fn unknown_stack_member(&mut self) {
        let found = self.this();
        let text = match self.nth_word(1, "over") {
            true => format!("expected a layer's name, found {found}"),
            false => format!("{found} begins no part of a stack"),
        };
        let diagnostic = self.error_here(
            codes::UNKNOWN_STACK_MEMBER,
            text,
            "expected a layer, `export`, or one of `outputs`, `sessions`, `tick`, `mtu`, `order`",
        );
        let help = match self.nth_text(0) {
            _ if self.nth(1) == COLON => format!("a name and its layer are joined by `=`: `{} = …`", self.nth_text(0)),
            "on" | "above" => "write `over`, as in `udp = Udp over ip`".to_string(),
            "exports" | "expose" => "write `export`".to_string(),
            "using" | "uses" => "write `with`, as in `udp = Udp over ip with icmp`".to_string(),
            "(" | "." => "a key is bound in brackets: `over kinds[kind: 1]`".to_string(),
            layer if self.nth_word(1, "over") => format!("give it a name: `app = {layer} over …`"),
            _ => "write `name = Layer over other`, or `export name`".to_string(),
        };
        self.report(diagnostic.help(help));
    }

    /// `ip = Ipv4(address) over ethernet[type: 0x0800] with arp, icmp`
    fn stack_layer(&mut self) {
        self.form = "udp = Udp over ip[protocol: 17] with icmp";
        self.open_documented(STACK_LAYER);
        self.name("a name for the layer");
        self.bump();
        self.layer_use();
        while self.eat(SLASH) || self.comma_for_slash() {
            self.layer_use();
        }
        loop {
            match self.nth_text(0) {
                "over" => self.over(),
                "with" => self.with("the name of a layer of this stack"),
                _ => break,
            }
        }
        self.close();
    }

    /// `over ethernet[type: 0x0800]`, `over (lan, wan[type: 0x0800])`
    fn over(&mut self) {
        self.form = form_of("over");
        self.open(OVER);
        self.bump();
        if !(self.at(L_PAREN) && self.same_line(0)) {
            let first = self.nth_text(0);
            self.under();
            if self.at(COMMA) && self.nth(1) == IDENT && self.same_line(1) && self.nth(2) != EQ {
                let diagnostic = self
                    .error_here(codes::UNKNOWN_STACK_MEMBER, "several layers below stand in parentheses", "one more")
                    .help(format!("write `over ({first}, {})`", self.nth_text(1)));
                self.report(diagnostic);
                self.open(ERROR);
                while self.at(COMMA) && self.nth(1) == IDENT {
                    self.bump();
                    self.bump();
                }
                self.close();
            }
            return self.close();
        }
        let opening = self.span_of(0);
        self.bump();
        while self.at(IDENT) {
            self.open(OVER);
            self.under();
            self.close();
            if !self.eat(COMMA) {
                break;
            }
        }
        if !self.at(R_PAREN) && self.same_line(0) {
            self.expected("the name of what is below");
        }
        self.close_bracket(R_PAREN, opening);
        self.close();
    }

    /// Reads the name of a layer below, with the key to bind there.
    fn under(&mut self) {
        self.name_here("the name of what is below");
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
                self.expected("a key's name");
            }
            self.close_bracket(R_BRACKET, opening);
        }
    }

    fn with(&mut self, what: &str) {
        self.open(WITH);
        self.bump();
        self.item_name_here(what);
        while self.eat(COMMA) {
            self.item_name(what);
        }
        self.close();
    }
}
