//! Types of layers: signatures, vocabularies, and claims about neighbours.

use super::forms::form_of;
use super::members::MEMBER_WORDS;
use super::Parser;
use crate::codes;
use crate::kinds::SyntaxKind::{self, *};

const SIGNATURE_WORDS: [&str; 12] = [
    "include",
    "promise",
    "unit",
    "boundaries",
    "down",
    "up",
    "address",
    "key",
    "publish",
    "reads",
    "writes",
    "speaks",
];
/// Words that may precede an event of a vocabulary.
const EVENT_WORDS: [&str; 4] = ["may", "all", "begins", "ends"];
const VOCABULARY_WORDS: [&str; 3] = ["down", "up", "reasons"];

impl Parser<'_> {
    /// `signature Internet { include Datagrams  address { host: u32 }  publish pseudo_sum(flow): u32 }`
    pub(super) fn signature(&mut self) {
        self.open_documented(SIGNATURE);
        self.bump();
        self.name_here("the signature's name");
        self.braces("`{` and what layers of this kind give", |p| p.parts(&SIGNATURE_WORDS, "a signature"));
        self.close();
    }

    /// `vocabulary Presence { down ask(who: u8)  up known(who: u8), may warned  reasons left, expelled }`
    pub(super) fn vocabulary(&mut self) {
        self.open_documented(VOCABULARY);
        self.bump();
        self.name_here("the vocabulary's name");
        self.braces("`{` and events", |p| p.parts(&VOCABULARY_WORDS, "a vocabulary"));
        self.close();
    }

    fn parts(&mut self, words: &[&'static str], of: &str) {
        while !matches!(self.peek(), R_BRACE | EOF) && !self.at_stop() {
            let before = self.pos;
            self.part(words, of);
            if self.out_of_step(before) {
                self.recover_member(before);
            }
        }
    }

    fn part(&mut self, words: &[&'static str], of: &str) {
        let word = self.nth_text(0);
        if !self.at_any_word(words) {
            let known = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
            let found = self.this();
            let diagnostic = self
                .error_here(codes::UNKNOWN_MEMBER, format!("{found} begins no part of {of}"), "unknown here")
                .help(format!("its parts begin with {known}"));
            return self.report(diagnostic);
        }
        self.form = form_of(word);
        match word {
            "include" => self.name_list(INCLUDE, "a signature's name"),
            "promise" => self.promise(),
            "unit" => self.name_list(UNIT, "`message` or `stream`"),
            "boundaries" => self.name_list(BOUNDARIES, "`exact` or `padded`"),
            "reasons" => self.name_list(REASONS, "a reason's name"),
            "speaks" => self.name_list(SPEAKS, "a vocabulary's name"),
            "down" | "up" => self.directed(),
            "address" => self.address(),
            "key" => self.key(),
            "publish" => self.offered(),
            "reads" => self.name_list(READS, "an attribute's name"),
            _ => self.name_list(WRITES, "an attribute's name"),
        }
    }

    /// `promise "messages come in the order in which they were sent"`
    fn promise(&mut self) {
        self.open_documented(PROMISE);
        self.bump();
        self.expect(STRING, "what is promised, in quotes");
        self.close();
    }

    /// Reads a keyword and names.
    pub(super) fn name_list(&mut self, kind: SyntaxKind, what: &str) {
        self.open_documented(kind);
        self.bump();
        self.item_name_here(what);
        while self.eat(COMMA) {
            self.item_name(what);
        }
        self.close();
    }

    /// `down open, ask(who: u8)`; in a vocabulary `down may hurry(on: bool)`, `up all view(id: u32)`, `up all begins view(v: View)`
    fn directed(&mut self) {
        self.open_documented(DIRECTED);
        self.bump();
        loop {
            self.open(SIGNAL);
            while self.at_any_word(&EVENT_WORDS) && self.nth(1) == IDENT && !self.new_line_before(1) {
                self.bump();
            }
            let named = self.name("an event's name");
            if named && self.at(L_PAREN) {
                self.params(true);
            }
            self.close();
            if !named || !self.eat(COMMA) {
                break;
            }
            // An event may be called so, but then its arguments or a comma come.
            if self.at_any_word(&["down", "up"]) && self.nth(1) == IDENT {
                let word = self.nth_text(0);
                let text = format!("`{word}` begins a part of its own");
                let diagnostic = self.error_here(codes::UNKNOWN_MEMBER, text, "no comma comes before it");
                self.report(diagnostic.help("leave the comma out"));
                break;
            }
        }
        self.close();
    }

    /// `publish mtu: u32`, without a value
    fn offered(&mut self) {
        self.open_documented(PUBLISH);
        self.bump();
        if self.name_here("the value's name") {
            if self.at(L_PAREN) {
                self.params(false);
            }
            self.type_annotation();
        }
        self.close();
    }

    /// `needs Datagrams, exact when checksums`
    pub(super) fn claims(&mut self, kind: SyntaxKind) {
        self.open_documented(kind);
        self.bump();
        loop {
            self.open(CLAIM);
            let named = self.item_name_here("a signature's name, `exact` or `padded`");
            self.close();
            if !named || !self.eat(COMMA) {
                break;
            }
        }
        if self.at_word("when") && !self.at_any_word(&MEMBER_WORDS) {
            self.open(WHEN_CLAUSE);
            self.bump();
            self.expression();
            self.close();
        }
        self.close();
    }
}
