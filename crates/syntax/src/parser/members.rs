//! Members of layers.

use super::forms::form_of;
use super::primary::is_upper;
use super::Parser;
use crate::codes;
use crate::kinds::SyntaxKind::{self, *};

pub(crate) const MEMBER_WORDS: [&str; 24] = [
    "header", "key", "match", "address", "below", "entity", "point", "session", "view", "object", "publish", "limit",
    "serves", "uses", "reads", "writes", "needs", "gives", "breaks", "speaks", "parts", "where", "fn", "on",
];

/// The layouts of a header without a wire.
const LAYOUTS: &[&str] = &["packed", "aligned", "compressed"];

pub(crate) const STATE_WORDS: [&str; 8] = ["var", "const", "timer", "quota", "counter", "array", "map", "messages"];

impl Parser<'_> {
    /// Reads members up to the closing brace of the layer.
    pub(super) fn members(&mut self) {
        while !matches!(self.peek(), R_BRACE | EOF) && !self.at_stop() {
            self.leave_out_doubled();
            let before = self.pos;
            self.member();
            if self.out_of_step(before) {
                self.recover_member(before);
            }
        }
    }

    /// After a mistake: skips to the next line, and over what is in braces.
    pub(super) fn recover_member(&mut self, began: usize) {
        if self.pos == began {
            match self.peek() {
                L_BRACE => self.skip_balanced(),
                _ => self.bump_as_error(),
            }
        }
        while !matches!(self.peek(), R_BRACE | EOF) && !self.new_line_before(0) && !self.at_member_on_this_line() {
            match self.peek() {
                L_BRACE => self.skip_balanced(),
                _ => self.bump_as_error(),
            }
        }
        self.begin_afresh();
    }

    /// Whether a member or a piece of state begins here, with enough certainty to resume.
    pub(super) fn at_member_on_this_line(&self) -> bool {
        match self.nth_text(0) {
            "on" | "fn" | "object" | "publish" | "var" | "timer" | "counter" => self.nth(1) == IDENT,
            "header" if LAYOUTS.iter().any(|word| self.nth_word(1, word)) => self.nth(2) == L_BRACE,
            "header" | "entity" | "session" | "point" | "view" => self.nth(1) == L_BRACE,
            _ => false,
        }
    }

    pub(super) fn member(&mut self) {
        let word = self.nth_text(0);
        if self.at_any_word(&MEMBER_WORDS) {
            return self.known_member(word);
        }
        if self.inside_of_lost_head() {
            return;
        }
        if self.at_any_word(&STATE_WORDS) && self.nth(1) == IDENT {
            let found = self.this();
            let diagnostic = self
                .error_here(codes::UNKNOWN_MEMBER, format!("{found} outside of a scope"), "state stands in a scope")
                .help(format!(
                    "write `session {{ {word} … }}` (one a session) or `entity {{ {word} … }}` (one a layer)"
                ));
            self.report(diagnostic);
            return self.state();
        }
        if self.handler_without_on() {
            return;
        }
        if let Some(meant) =
            self.foreign_member().or_else(|| self.unknown_word(codes::UNKNOWN_MEMBER, "member", &MEMBER_WORDS))
        {
            if matches!(self.nth(1), IDENT | L_BRACE) {
                self.known_member(meant);
            }
        }
    }

    /// State or statements up to a `}` whose `entity {` or `fn name(…) {` is missing: one report, and nothing of them is
    /// read.
    fn inside_of_lost_head(&mut self) -> bool {
        let state =
            self.at_any_word(&STATE_WORDS) && self.nth(1) == IDENT || self.are_two_words() && self.nth(2) == L_PAREN;
        let assigned = self.at(IDENT) && matches!(self.nth(1), EQ | OP_EQ | DOT);
        let statement = self.starts_statement_word(0) || assigned && self.same_line(1);
        if !state && !statement || !self.lost_a_head() {
            return false;
        }
        let help = match state {
            true => {
                "state stands in a scope: write `entity {` (one a layer) or `session {` (one a session) in front of it"
            }
            false => {
                "statements stand in a handler or a function: write `on send(msg) {` or `fn name() {` in front of them"
            }
        };
        let diagnostic = self
            .error_here(codes::UNKNOWN_MEMBER, "a line that opens a brace is missing", "stands inside of what?")
            .help(help);
        self.report(diagnostic);
        self.skip_to_end_of_block();
        self.open(ERROR);
        self.bump();
        self.close();
        true
    }

    /// Names of our members in other languages.
    pub(super) fn foreign_member(&mut self) -> Option<&'static str> {
        const WORDS: [(&str, &str); 10] = [
            ("function", "fn"),
            ("void", "fn"),
            ("func", "fn"),
            ("def", "fn"),
            ("event", "on"),
            ("handler", "on"),
            ("when", "on"),
            ("state", "entity"),
            ("headers", "header"),
            ("keys", "key"),
        ];
        const TYPES: [&str; 9] = ["int", "bool", "u8", "u16", "u32", "u64", "Duration", "Instant", "auto"];
        // `u32 f(…)`, as in C: the type stands behind, `-> u32`.
        let is_typed = self.at_any_word(&TYPES) && self.nth(1) == IDENT && self.nth(2) == L_PAREN;
        let word = WORDS.iter().find(|(word, _)| self.at_word(word));
        let ours = word.map(|(_, ours)| *ours).or(is_typed.then_some("fn"))?;
        let found = self.this();
        let diagnostic = self
            .error_here(codes::UNKNOWN_MEMBER, format!("{found} begins no member"), "of another language")
            .help(match is_typed {
                true => format!("write `fn {}(…) -> {}`", self.nth_text(1), self.nth_text(0)),
                false if self.at_word("state") => {
                    "state of the layer as a whole stands in `entity { … }`, that of each session in `session { … }`"
                        .to_string()
                }
                false => format!("write `{ours}`"),
            });
        self.report(diagnostic);
        Some(ours)
    }

    pub(super) fn known_member(&mut self, word: &str) {
        self.form = form_of(word);
        match word {
            "header" => self.header(),
            "key" => self.key(),
            "match" => self.matching(),
            "address" => self.address(),
            "below" => self.below_address(),
            "entity" | "point" | "session" | "view" => self.scope(),
            "object" => self.object(),
            "publish" => self.publish(),
            "limit" => self.limit(),
            "where" => self.where_parameters(),
            "serves" => self.serves(),
            "uses" => self.uses(),
            "reads" => self.names(READS),
            "writes" => self.names(WRITES),
            "needs" => self.claims(NEEDS),
            "gives" => self.claims(GIVES),
            "breaks" => self.claims(BREAKS),
            "speaks" => self.name_list(SPEAKS, "a vocabulary's name"),
            "parts" => self.name_list(PARTS, "a part's name"),
            "fn" if self.handler_as_function() => {}
            "fn" => self.function(),
            _ => self.handler(),
        }
    }

    /// `header { seq: seq32 }`, or alternatives
    pub(super) fn header(&mut self) {
        self.open_documented(HEADER);
        self.bump();
        if self.at_any_word(LAYOUTS) {
            self.bump();
        }
        // `header { n }` has a field without its type.
        let alone = self.nth(2) == R_BRACE && is_upper(self.nth_text(1));
        let bare = self.at(L_BRACE) && self.nth(1) == PIPE && self.nth(2) == IDENT;
        let choice = bare
            || self.at(L_BRACE)
                && self.nth(1) == IDENT
                && (matches!(self.nth(2), L_BRACE | PIPE) || alone || self.nth_word(2, "with"));
        let opening = self.span_of(0);
        if choice {
            self.braces("`{`", |p| p.alternatives());
            self.only_unclosed(opening);
        } else {
            self.field_list();
            if self.at_word("with") && self.same_line(0) {
                let diagnostic = self
                    .error_here(codes::EXPECTED, "a header without alternatives always goes with a message", "not needed")
                    .help("remove it, or name alternatives: `header { Data { seq: u32 } with message | Ack { next: u32 } }`");
                self.report(diagnostic);
            }
        }
        self.close();
    }

    /// `Data { seq: seq32 } with message | Ack { next: seq32 }`
    pub(super) fn alternatives(&mut self) {
        if self.at(PIPE) {
            let diagnostic = self
                .error_here(codes::EXPECTED, "expected an alternative, found `|`", "nothing stands in front of it")
                .help("write the alternative in front of it, or remove it");
            self.report(diagnostic);
            self.bump();
        }
        loop {
            self.open_documented(ALTERNATIVE);
            self.name("an alternative's name");
            if self.at(L_BRACE) {
                self.field_list();
            }
            if self.eat_word("with") {
                self.expect_word("message");
            }
            self.close();
            if self.at(COMMA) || self.at(IDENT) && self.nth(1) == L_BRACE {
                let found = self.found();
                let diagnostic = self
                    .missing_here(
                        codes::EXPECTED,
                        format!("expected `|` between alternatives, found {found}"),
                        "expected `|`",
                    )
                    .help("write `Data { seq: u32 } with message | Ack { next: u32 }`");
                self.report(diagnostic);
                self.eat(COMMA);
            } else if !self.eat(PIPE) {
                return;
            }
        }
    }

    pub(super) fn key(&mut self) {
        self.open_documented(KEY);
        self.bump();
        let near = || mokume_base::did_you_mean(self.nth_text(0), ["symmetric"]).is_some();
        if self.at(IDENT) && !self.at_word("symmetric") && self.nth(1) == L_BRACE && near() {
            let found = self.this();
            let diagnostic = self.error_here(codes::EXPECTED, format!("{found} is no kind of key"), "no such word");
            self.report(diagnostic.help("write `key symmetric { … }`"));
            self.bump();
        }
        self.eat_word("symmetric");
        self.field_list();
        self.close();
    }

    pub(super) fn address(&mut self) {
        self.open_documented(ADDRESS);
        self.bump();
        self.field_list();
        self.close();
    }

    /// `match all`, `match all when broadcast`
    pub(super) fn matching(&mut self) {
        self.form = "match all when broadcast";
        self.open_documented(MATCHING);
        self.bump();
        if !self.eat_word("one") && self.expect_word("all") && self.eat_word("when") {
            self.name_here("an attribute of messages");
        }
        self.close();
    }

    /// `below address { … }`, `below several path`
    pub(super) fn below_address(&mut self) {
        if self.nth_word(1, "several") {
            self.open_documented(SEVERAL);
            self.bump();
            self.bump();
            self.name_here("how flows name which one: `below several path`");
            return self.close();
        }
        self.open_documented(ADDRESS);
        self.bump();
        if self.expect_word("address") {
            self.field_list();
        }
        self.close();
    }

    /// `entity { … }`, `session capacity 64 { … }`, `session below { … }`
    pub(super) fn scope(&mut self) {
        self.open_documented(SCOPE);
        self.bump();
        self.eat_word("below");
        self.capacity();
        self.braces("`{` and state", |p| p.states());
        self.close();
    }

    pub(super) fn capacity(&mut self) {
        if self.at_word("capacity") {
            self.open(CAPACITY);
            self.bump();
            self.head_expression();
            self.close();
        }
    }

    /// `object Entry[address: u32] capacity 64 evict oldest { … }`
    pub(super) fn object(&mut self) {
        self.open_documented(OBJECT);
        self.bump();
        self.name_here("the object's name");
        let opening = self.span_of(0);
        if self.expect(L_BRACKET, "`[` and the key") {
            while self.at(IDENT) {
                self.open(FIELD);
                self.name("a key's name");
                self.type_annotation();
                self.close();
                if !self.eat(COMMA) {
                    break;
                }
            }
            self.close_bracket(R_BRACKET, opening);
        }
        self.capacity();
        if self.eat_word("owned") {
            self.expect_word("by");
            if !self.eat_word("view") {
                self.expect_word("session");
            }
        }
        if self.at_word("evict") {
            self.open(EVICT);
            self.bump();
            self.name_here("`oldest`");
            self.close();
        }
        if self.at_word("holds") {
            self.open(HOLDS_CLAUSE);
            self.bump();
            self.name_here("the key's name");
            self.close();
        }
        self.braces("`{` and state", |p| p.states());
        self.close();
    }

    /// `publish mtu: u32 = e`, `publish pseudo_sum(flow): u32 = e`
    pub(super) fn publish(&mut self) {
        self.open_documented(PUBLISH);
        self.bump();
        if self.name_here("the value's name") {
            if self.at(L_PAREN) {
                self.params(false);
            }
            if self.type_annotation() && self.expect(EQ, "`=` and a value") {
                self.expression();
            }
        }
        self.close();
    }

    /// `where pieces >= 1 and pieces <= 64`
    fn where_parameters(&mut self) {
        self.open_documented(WHERE);
        self.bump();
        self.expression();
        self.close();
    }

    /// `limit send: credit`
    pub(super) fn limit(&mut self) {
        self.open_documented(LIMIT);
        self.bump();
        if self.name_here("the event's name") && self.expect(COLON, "`:` and how many") {
            self.expression();
            if self.at_any_word(&["messages", "octets"]) && self.same_line(0) {
                self.bump();
            } else {
                self.unit_meant();
            }
            if self.at_word("reserve") && self.same_line(0) {
                self.open(RESERVE);
                self.bump();
                self.expression();
                self.close();
            }
            if self.at_word("each") && self.same_line(0) {
                self.open(EACH);
                self.bump();
                self.expression();
                self.close();
            }
        }
        self.close();
    }

    /// Handles another unit behind `limit send: free`.
    fn unit_meant(&mut self) {
        let near = mokume_base::did_you_mean(self.nth_text(0), ["octets", "messages"]);
        let meant = match self.nth_text(0) {
            "bytes" | "byte" | "octet" => Some("octets"),
            _ => near.filter(|_| self.at(IDENT)),
        };
        let Some(meant) = meant.filter(|_| self.same_line(0)) else { return };
        let found = self.this();
        let diagnostic = self.error_here(codes::EXPECTED, format!("{found} is no unit of a limit"), "no such unit");
        self.report(diagnostic.help(format!("write `{meant}`; a limit is in messages, or in `octets`")));
        self.bump_as_error();
    }

    pub(super) fn serves(&mut self) {
        self.open_documented(SERVES);
        self.bump();
        self.item_name_here("a service's name");
        self.close();
    }

    /// `uses Resolve as resolve`
    pub(super) fn uses(&mut self) {
        self.open_documented(USES);
        self.bump();
        self.item_name_here("a service's name");
        if self.eat_word("as") {
            self.name_here("a name for it");
        } else {
            let found = self.found();
            let diagnostic = self
                .missing_here(
                    codes::EXPECTED,
                    format!("expected `as` and the service's name, found {found}"),
                    "expected `as`",
                )
                .help("say how this layer calls it: `uses Resolve as resolve`");
            self.report(diagnostic);
        }
        self.close();
    }

    pub(super) fn names(&mut self, kind: SyntaxKind) {
        self.open_documented(kind);
        let word = self.nth_text(0).to_string();
        self.bump();
        self.named_only(&word, true);
        loop {
            if self.at(IDENT) && self.same_line(0) && !self.at_any_word(&MEMBER_WORDS) {
                self.missing_comma("name");
            } else if !self.eat(COMMA) {
                break;
            }
            self.named_only(&word, false);
        }
        self.close();
    }

    /// One of the names behind `reads` or `writes`; reports a type behind it.
    fn named_only(&mut self, word: &str, is_first: bool) {
        if self.at_word("attribute") && self.nth(1) == IDENT && self.same_line(1) {
            let name = self.nth_text(1).to_string();
            self.declared_here(word, &name, "attributes stand outside of layers");
            self.open(ERROR);
            self.bump();
            self.bump();
            if self.eat(COLON) {
                self.type_();
            }
            self.close();
            return;
        }
        let name = self.nth_text(0).to_string();
        match is_first {
            true => self.item_name_here(OF_MESSAGES),
            false => self.item_name(OF_MESSAGES),
        };
        if !self.at(COLON) {
            return;
        }
        self.declared_here(word, &name, "its type stands elsewhere");
        self.open(ERROR);
        self.bump();
        self.type_();
        self.close();
    }

    /// Reports a declaration behind `reads` or `writes`, where a name is meant.
    fn declared_here(&mut self, word: &str, name: &str, why: &str) {
        let diagnostic = self.error_here(codes::EXPECTED, format!("`{name}` is only named here"), why).help(format!(
            "declare it outside of the layer, `attribute {name}: u8 = 0`, and write `{word} {name}` here"
        ));
        self.report(diagnostic);
    }
}

/// What stands behind `reads` and `writes`.
const OF_MESSAGES: &str = "the name of an attribute, or of state in a part";
