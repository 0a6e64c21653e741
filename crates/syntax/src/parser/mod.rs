//! The parser's machinery: a cursor over the significant tokens, the builder of the tree, and how to report and
//! recover.
//!
//! The grammar is in the files beside this one, a function a rule. They keep: every loop consumes a token in each round
//! or ends; trivia is added in front of the token that follows it; nesting is bounded by [`MAX_DEPTH`].

mod arguments;
mod blocks;
mod containers;
mod control;
mod expressions;
mod externs;
mod extra;
mod forms;
mod habits;
mod handlers;
mod items;
mod layout;
mod lists;
mod members;
mod networks;
mod primary;
mod report;
mod signatures;
mod stacks;
mod state;
mod statements;
mod tests;
mod types;
mod wire_parts;
mod wires;

pub(crate) use forms::form_of;
pub(crate) use habits::STATEMENT_WORDS;
pub(crate) use members::{MEMBER_WORDS, STATE_WORDS};
pub use primary::is_upper;

use crate::kinds::SyntaxKind::{self, *};
use crate::lexer::{self, Token};
use mokume_base::{Diagnostic, FileId, Span};
use rowan::{Checkpoint, GreenNode, GreenNodeBuilder};

/// What a text is parsed as. Everything but a file is a fragment, for examples in documents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fragment {
    /// Items.
    File,
    /// Members of a layer.
    Members,
    /// Declarations of state.
    State,
    /// Statements of a block.
    Statements,
    /// One expression.
    Expression,
    /// Members of a wire.
    Wire,
    /// Members of a stack.
    Stack,
    /// Steps of a test.
    TestSteps,
    /// Members of a network.
    Network,
}

/// The bound on nesting and on chains of operators, so that no text overflows the stack of code that walks the tree.
const MAX_DEPTH: u32 = 200;

pub(crate) const ITEM_WORDS: [&str; 25] = [
    "use",
    "const",
    "type",
    "record",
    "enum",
    "attribute",
    "service",
    "signature",
    "vocabulary",
    "fn",
    "worker",
    "group",
    "multiplexor",
    "router",
    "endpoint",
    "bundle",
    "wire",
    "stack",
    "network",
    "test",
    "container",
    "extern",
    "part",
    "suite",
    "run",
];

pub(crate) struct Parser<'t> {
    text: &'t str,
    file: FileId,
    tokens: Vec<Token>,
    /// The significant tokens (no trivia), as indices into `tokens`.
    significant: Vec<u32>,
    /// The next significant token.
    pos: usize,
    /// The first token that is not yet in the tree.
    emitted: usize,
    builder: GreenNodeBuilder<'static>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    reported_at: Option<usize>,
    /// Where a doubled word was skipped; the expected token may follow there.
    left_out: usize,
    /// What braces and the columns of lines tell about each other.
    layout: layout::Layout,
    /// The form of the construct that is being read, for messages; empty for none.
    form: &'static str,
    depth: u32,
    too_deep: bool,
    /// The height of the tallest expression since the enclosing value began, for values that contain blocks.
    tallest: u32,
    /// Where the current statement begins. Only there is a line that looks like a statement read as its expression.
    statement_at: Option<usize>,
    fragment: bool,
    /// Whether a container is being read: there `quota` is a name, of the quota that its places are from.
    in_container: bool,
    /// `Name {` does not begin a record here, because a block follows (`if a == B { … }`).
    no_record: bool,
    /// Inside `( … )` or `[ … ]` of an expression: line breaks end nothing.
    in_brackets: bool,
    /// `?s` and `_` are valid expressions here.
    in_test: bool,
    /// The current tests belong to a suite.
    in_suite: bool,
    /// The next arguments are those of an output: `..` may end them.
    of_output: bool,
}

/// The tree, the diagnostics, and whether the text is torn: see [`crate::Parse::torn`].
pub(crate) fn parse(file: FileId, text: &str, what: Fragment) -> (GreenNode, Vec<Diagnostic>, bool) {
    let (tokens, mut diagnostics) = lexer::lex(file, text);
    let closing_nothing = extra::closing_nothing(&tokens);
    let doubled = extra::doubled(text, &tokens);
    let mut left_out: Vec<usize> = closing_nothing.iter().chain(&doubled).copied().collect();
    left_out.sort_unstable();
    let is_read = |i: &u32| !tokens[*i as usize].kind.is_trivia() && left_out.binary_search(&(*i as usize)).is_err();
    let significant: Vec<u32> = (0..tokens.len() as u32).filter(is_read).collect();
    let layout = layout::Layout::new(text, &tokens);
    let mut parser = Parser {
        text,
        file,
        tokens,
        significant,
        pos: 0,
        emitted: 0,
        builder: GreenNodeBuilder::new(),
        diagnostics: Vec::new(),
        reported_at: None,
        left_out: usize::MAX,
        layout,
        form: "",
        depth: 0,
        too_deep: false,
        tallest: 0,
        statement_at: None,
        fragment: what != Fragment::File,
        in_container: false,
        no_record: false,
        in_brackets: false,
        in_test: matches!(what, Fragment::TestSteps | Fragment::Network),
        in_suite: false,
        of_output: false,
    };
    parser.root(what);
    parser.report_closing_nothing(&closing_nothing);
    parser.report_doubled(&doubled);
    let Parser { builder, diagnostics: of_parser, tokens, layout, .. } = parser;
    diagnostics.extend(of_parser);
    diagnostics.sort_by_key(|d| d.primary.as_ref().map(|label| (label.span.start, label.span.end)));
    let torn = layout.is_out_of_balance() || layout::ends_too_early(&tokens, &diagnostics);
    (builder.finish(), diagnostics, torn)
}

impl<'t> Parser<'t> {
    fn root(&mut self, what: Fragment) {
        self.builder.start_node(SyntaxKind::FILE.into());
        while !self.at(EOF) {
            let before = self.pos;
            match what {
                Fragment::File => self.items(),
                Fragment::Members => self.members(),
                Fragment::State => self.states(),
                Fragment::Statements => self.statements(),
                Fragment::Expression => self.first_expression(),
                Fragment::Wire => self.wire_members(),
                Fragment::Stack => self.stack_members(),
                Fragment::TestSteps => self.test_steps(),
                Fragment::Network => self.network_members(),
            }
            if self.at(EOF) {
                break;
            }
            self.begin_item_afresh();
            self.unexpected_rest();
            if self.pos == before {
                self.bump_as_error();
            }
        }
        self.emit_to(self.tokens.len());
        self.builder.finish_node();
    }

    // ---- looking ----

    fn token(&self, n: usize) -> Option<Token> {
        self.significant.get(self.pos + n).map(|i| self.tokens[*i as usize])
    }

    fn nth(&self, n: usize) -> SyntaxKind {
        self.token(n).map_or(EOF, |token| token.kind)
    }

    fn peek(&self) -> SyntaxKind {
        self.nth(0)
    }

    fn at(&self, kind: SyntaxKind) -> bool {
        self.peek() == kind
    }

    fn nth_text(&self, n: usize) -> &'t str {
        self.token(n).map_or("", |token| &self.text[token.start as usize..token.end as usize])
    }

    fn nth_word(&self, n: usize, word: &str) -> bool {
        self.nth(n) == IDENT && self.nth_text(n) == word
    }

    fn at_word(&self, word: &str) -> bool {
        self.nth_word(0, word)
    }

    fn at_any_word(&self, words: &[&str]) -> bool {
        self.at(IDENT) && words.contains(&self.nth_text(0))
    }

    /// Whether a line break stands in front of the `n`th token from here.
    fn new_line_before(&self, n: usize) -> bool {
        let Some(here) = self.significant.get(self.pos + n).map(|i| *i as usize) else { return true };
        let Some(last) = (self.pos + n).checked_sub(1).map(|at| self.significant[at] as usize) else { return true };
        let (from, to) = (self.tokens[last].end as usize, self.tokens[here].start as usize);
        self.text.as_bytes()[from..to].contains(&b'\n')
    }

    fn same_line(&self, n: usize) -> bool {
        !self.new_line_before(n)
    }

    /// The column at which the line of the `n`th token begins.
    fn column_of_line(&self, n: usize) -> usize {
        let at = self.token(n).map_or(self.text.len(), |token| token.start as usize);
        let line = &self.text[self.text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
        line.len() - line.trim_start().len()
    }

    /// The same for the last token that was read.
    fn column_of_last_line(&self) -> usize {
        let Some(last) = self.pos.checked_sub(1).and_then(|at| self.significant.get(at)) else { return 0 };
        let at = self.tokens[*last as usize].start as usize;
        let line = &self.text[self.text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
        line.len() - line.trim_start().len()
    }

    /// Whether an item begins here, in the first column: then everything that is still open has lost its closing
    /// bracket.
    fn at_stop(&self) -> bool {
        if self.at(EOF) || self.has_lost_its_brace() {
            return true;
        }
        if self.fragment || !self.at(IDENT) {
            return false;
        }
        let word = self.nth_text(0);
        // `fn` and `const` may be members of a layer without indentation; `stack` a step of a test, `test` a part of a
        // suite.
        let member = if self.in_test { word == "stack" } else { self.in_suite && word == "test" };
        let only_item = ITEM_WORDS.contains(&word) && !matches!(word, "fn" | "const") && !member;
        self.at_first_column() && only_item && matches!(self.nth(1), IDENT | STRING)
    }

    fn at_first_column(&self) -> bool {
        let start = self.token(0).map_or(0, |token| token.start as usize);
        start == 0 || self.text.as_bytes()[start - 1] == b'\n'
    }

    // ---- building ----

    fn emit_to(&mut self, end: usize) {
        while self.emitted < end {
            let token = self.tokens[self.emitted];
            self.builder.token(token.kind.into(), &self.text[token.start as usize..token.end as usize]);
            self.emitted += 1;
        }
    }

    fn next_significant(&self) -> usize {
        self.significant.get(self.pos).map_or(self.tokens.len(), |i| *i as usize)
    }

    fn emit_trivia(&mut self) {
        self.emit_to(self.next_significant());
    }

    fn open(&mut self, kind: SyntaxKind) {
        self.emit_trivia();
        self.builder.start_node(kind.into());
    }

    /// Opens a node that includes the doc comments directly in front of it.
    fn open_documented(&mut self, kind: SyntaxKind) {
        let here = self.next_significant();
        let first_doc = (self.emitted..here).find(|i| self.tokens[*i].kind == DOC_COMMENT).unwrap_or(here);
        self.emit_to(first_doc);
        self.builder.start_node(kind.into());
    }

    fn close(&mut self) {
        self.builder.finish_node();
    }

    fn checkpoint(&mut self) -> Checkpoint {
        self.emit_trivia();
        self.builder.checkpoint()
    }

    fn open_at(&mut self, checkpoint: Checkpoint, kind: SyntaxKind) {
        self.builder.start_node_at(checkpoint, kind.into());
    }

    fn bump(&mut self) {
        if self.pos < self.significant.len() {
            let kind = self.peek();
            if matches!(kind, L_BRACE | R_BRACE) {
                self.note_brace(kind);
            }
            self.emit_to(self.significant[self.pos] as usize + 1);
            self.pos += 1;
            self.leave_out_braces(kind);
        }
    }

    fn eat(&mut self, kind: SyntaxKind) -> bool {
        let there = self.at(kind);
        if there {
            self.bump();
        }
        there
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let there = self.at_word(word);
        if there {
            self.bump();
        }
        there
    }

    fn expect(&mut self, kind: SyntaxKind, what: &str) -> bool {
        if self.eat(kind) {
            return true;
        }
        if kind == STRING && self.at(OPEN_STRING) {
            // The lexer has reported that it has no end.
            self.bump_as_error();
            return false;
        }
        self.expected(what);
        self.left_out == self.pos && self.eat(kind)
    }

    fn expect_word(&mut self, word: &str) -> bool {
        if self.eat_word(word) {
            return true;
        }
        self.expected(&format!("`{word}`"));
        self.left_out == self.pos && self.eat_word(word)
    }

    /// Reads a name as a node.
    fn name(&mut self, what: &str) -> bool {
        if !self.at(IDENT) {
            self.expected(what);
            return false;
        }
        self.open(NAME);
        self.bump();
        self.close();
        true
    }

    /// Reads a name on the same line. A keyword and its name are not separated, so that a keyword alone is noticed.
    fn name_here(&mut self, what: &str) -> bool {
        if self.new_line_before(0) {
            self.expected(what);
            return false;
        }
        self.name(what)
    }

    /// Reads the name of an item, perhaps qualified by its module: `Ports`, `udp.Ports`.
    fn item_name(&mut self, what: &str) -> bool {
        if !self.at(IDENT) {
            self.expected(what);
            return false;
        }
        self.open(NAME);
        self.bump();
        if self.at_qualified() {
            self.bump();
            self.bump();
        }
        self.close();
        true
    }

    /// As [`Self::item_name`], on the same line.
    fn item_name_here(&mut self, what: &str) -> bool {
        if self.new_line_before(0) {
            self.expected(what);
            return false;
        }
        self.item_name(what)
    }

    /// Whether the name before continues behind a dot.
    fn at_qualified(&self) -> bool {
        self.at(DOT) && self.nth(1) == IDENT && self.same_line(0) && self.same_line(1)
    }

    /// As [`Self::name_here`].
    fn path_here(&mut self, what: &str) -> bool {
        if self.new_line_before(0) {
            self.expected(what);
            return false;
        }
        self.path(what)
    }

    /// `a.b.c`
    fn path(&mut self, what: &str) -> bool {
        if !self.at(IDENT) {
            self.expected(what);
            return false;
        }
        self.open(PATH);
        self.name(what);
        while self.at(DOT) && self.same_line(0) {
            self.bump();
            if self.new_line_before(0) {
                self.expected("a name after the dot");
                break;
            }
            if !self.name("a name after the dot") {
                break;
            }
        }
        self.close();
        true
    }

    /// Runs a rule one level deeper; at the bound, reports this and skips the bracketed text instead.
    fn nested(&mut self, rule: impl FnOnce(&mut Self)) {
        if self.depth >= MAX_DEPTH {
            self.report_too_deep();
            self.skip_balanced();
            return;
        }
        self.depth += 1;
        rule(self);
        self.depth -= 1;
    }

    /// Runs a rule within round or square brackets.
    fn bracketed<T>(&mut self, rule: impl FnOnce(&mut Self) -> T) -> T {
        let before = (self.no_record, self.in_brackets);
        (self.no_record, self.in_brackets) = (false, true);
        let out = rule(self);
        (self.no_record, self.in_brackets) = before;
        out
    }

    /// Runs a rule in which `Name {` begins a record, or does not.
    fn with_records<T>(&mut self, allowed: bool, rule: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.no_record, !allowed);
        let out = rule(self);
        self.no_record = before;
        out
    }

    fn span_of(&self, n: usize) -> Span {
        match self.token(n) {
            Some(token) => Span::new(self.file, token.start, token.end),
            None => Span::new(self.file, self.text.len() as u32, self.text.len() as u32),
        }
    }

    fn nth_before_kind(&self) -> SyntaxKind {
        self.pos.checked_sub(1).map_or(EOF, |at| self.tokens[self.significant[at] as usize].kind)
    }

    /// The span of the previous token.
    fn span_before(&self) -> Span {
        let last = self.pos.checked_sub(1).map(|at| self.tokens[self.significant[at] as usize]);
        last.map_or(self.span_of(0), |token| Span::new(self.file, token.start, token.end))
    }
}
