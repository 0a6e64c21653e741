//! What follows from text that could not be read: a name that stands there is declared nowhere, a wire has no place for a field, a
//! message goes nowhere. One mistake is one error, so these are left out.
//!
//! Keeps: what does not touch an item with a mistake of the parser is told, and so is all else that is wrong in it.

use std::collections::{BTreeSet, HashMap, HashSet};

use mokume_base::{Code, Diagnostic, FileId, Label, Span};
use mokume_syntax::SyntaxKind::{self, *};
use mokume_syntax::{codes as of_parser, SyntaxNode, SyntaxToken, TextSize};

use crate::codes;
use crate::load::Loaded;

/// Mistakes after which the parser reads on as if they were not there.
const READ_ALL_THE_SAME: [Code; 6] = [
    of_parser::SEMICOLON,
    of_parser::OTHER_UNIT,
    of_parser::FOREIGN_COMMENT,
    of_parser::BAD_OCTETS,
    of_parser::BAD_ESCAPE,
    of_parser::MISSING_LIMIT,
];

/// What says that something is not there, or not said: it may stand where nothing could be read.
const MISSING: [Code; 21] = [
    codes::LEAK,
    codes::PATHS_DISAGREE,
    codes::NO_VALUE,
    codes::MISSING_ARGUMENT,
    codes::WRONG_COUNT,
    codes::NO_TYPE,
    codes::FIELDS_MISSING,
    codes::HANDLER_PARAMS,
    codes::HEADER_FIELDS,
    codes::WIRE_UNCOVERED,
    codes::WIRE_OCTETS,
    codes::WIRE_ALTERNATIVE,
    codes::WIRE_VARIANT,
    codes::WIRE_CONDITION,
    codes::WIRE_OPTION_LENGTH,
    codes::WIRE_OPTION_KIND,
    codes::WIRE_OPTION_FIELDS,
    codes::WIRE_UNCOUNTED,
    codes::UNKNOWN_BELOW,
    codes::NO_SERVICE,
    codes::CONTAINER_UNKNOWN,
];

/// The same of a part of a statement, which is all that is looked at.
const MISSING_HERE: [Code; 3] = [codes::NOT_EXHAUSTIVE, codes::MUST_LEAVE, codes::UNUSED_VALUE];

/// What is said of a name that something has: it is not that nothing has it.
const TAKEN: [Code; 4] = [codes::DEFINED_TWICE, codes::CLASH, codes::HIDES_BUILT_IN, codes::UNKNOWN_PORT];

/// What is said of a name that no item has.
const UNKNOWN_ITEMS: [Code; 9] = [
    codes::UNKNOWN_NAME,
    codes::UNKNOWN_TYPE,
    codes::UNKNOWN_LAYER,
    codes::UNKNOWN_OPERATION,
    codes::UNKNOWN_ATTRIBUTE,
    codes::UNKNOWN_STACK,
    codes::NO_FUNCTION,
    codes::UNKNOWN_ITEM,
    codes::UNKNOWN_EVENT,
];

/// What is said of values, of which a part was not read.
const VALUES: [Code; 4] = [codes::MISMATCH, codes::BAD_OPERANDS, codes::NO_SCALAR, codes::TOO_BIG];

/// What is said of a name, beside the codes of names.
const NAMED: [Code; 15] = [
    codes::HANDLER_PARAMS,
    codes::NOT_WRITTEN_SO,
    codes::NOTATION,
    codes::NO_TYPE,
    codes::MISSING_ARGUMENT,
    codes::CONTAINER_UNKNOWN,
    codes::HEADER_FIELDS,
    codes::NO_LATER,
    codes::WIRE_LAYER,
    codes::WIRE_FIELD,
    codes::WIRE_EARLIER,
    codes::WIRE_ELEMENT,
    codes::UNKNOWN_BELOW,
    codes::UNKNOWN_KEY,
    codes::NO_HANDLER,
];

/// What says so of a whole layer or stack.
const MISSING_IN_ITEM: [Code; 8] = [
    codes::SHAPE_NEEDS,
    codes::ROUTER_SENDS,
    codes::NOT_SERVED,
    codes::NO_SERVICE,
    codes::UNKNOWN_BELOW,
    codes::UNKNOWN_KEY,
    codes::WIRE_UNCOVERED,
    codes::SIGNATURE_PART,
];

/// Parts of an item that are read by themselves.
fn is_member(kind: SyntaxKind) -> bool {
    matches!(kind, HANDLER | FUNCTION | SCOPE | OBJECT | HEADER | KEY | ADDRESS | PUBLISH | WIRE_FIELD)
}

/// Lists of names; those of some are for other items to use, without the name of the item that they are in.
fn is_of_names(kind: SyntaxKind) -> bool {
    matches!(kind, RECORD | ENUM | SERVICE | HEADER | PARAM_LIST) || is_for_others(kind)
}

fn is_for_others(kind: SyntaxKind) -> bool {
    matches!(kind, VOCABULARY | SIGNATURE | KEY | ADDRESS | PUBLISH | USE)
}

/// Names, each with the item that it means something in; with none, it does everywhere.
#[derive(Default)]
struct Names(HashMap<String, Vec<Option<Span>>>);

impl Names {
    fn add(&mut self, names: impl IntoIterator<Item = String>, within: Option<Span>) {
        for name in names {
            let known = self.0.entry(name).or_default();
            if !known.contains(&within) {
                known.push(within);
            }
        }
    }

    fn mean(&self, name: &str, at: &Span) -> bool {
        self.0.get(name).is_some_and(|known| known.iter().any(|of| of.is_none_or(|of| within(at, &of))))
    }
}

/// All that the parser could not read, in all files.
#[derive(Default)]
struct Unread {
    /// The lines on which it complained, and what stands behind that on them.
    lines: Vec<Span>,
    behind: Vec<Span>,
    /// Members and items with a mistake of the parser, and the items that those are in.
    members: Vec<Span>,
    items: Vec<Span>,
    /// Names that stand in such places.
    words: Names,
    /// What has such a place in it, by its name.
    broken: Names,
    /// Functions, handlers and layers with a mistake in front of their bodies.
    heads: Vec<Span>,
    /// Items in which a declaration has no name, and how many items have none themselves.
    nameless: Vec<Span>,
    nameless_items: usize,
    /// Files whose `use` could not be read, and those that are torn, with all who see them.
    without_use: BTreeSet<FileId>,
    torn: BTreeSet<FileId>,
}

fn within(span: &Span, of: &Span) -> bool {
    span.file == of.file && of.start <= span.start && span.end <= of.end
}

fn words(node: &SyntaxNode) -> impl Iterator<Item = String> {
    let tokens = node.descendants_with_tokens().filter_map(|element| element.into_token());
    tokens.filter(|token| token.kind() == IDENT).map(|token| token.text().to_string())
}

fn name_of(node: &SyntaxNode) -> Option<String> {
    let name = node.children().find(|child| child.kind() == NAME)?;
    Some(name.text().to_string().trim().to_string())
}

fn is_item(node: &SyntaxNode) -> bool {
    node.parent().is_some_and(|parent| parent.kind() == FILE)
}

fn span_of(file: FileId, node: &SyntaxNode) -> Span {
    let range = node.text_range();
    Span::new(file, range.start().into(), range.end().into())
}

/// The item that a node is in; none for what stands between items.
fn item_of(file: FileId, node: &SyntaxNode) -> Option<Span> {
    let item = node.ancestors().find(is_item).filter(|item| item.kind() != ERROR);
    item.map(|item| span_of(file, &item))
}

impl Unread {
    /// `said` is what is told.
    fn of(loaded: &Loaded, said: &[Diagnostic]) -> Unread {
        let said: HashSet<(Span, Code)> =
            said.iter().filter_map(|found| Some((found.primary.as_ref()?.span, found.code))).collect();
        let mut unread = Unread::default();
        for (file, parse) in &loaded.files {
            let hard = parse.diagnostics.iter().filter(|found| !READ_ALL_THE_SAME.contains(&found.code));
            let place = |found: &Diagnostic| Some((found.primary.as_ref()?.span, found.code));
            let places: Vec<(Span, Code, bool)> = hard
                .filter_map(|found| Some((place(found)?, found.message.contains("'s name, found"))))
                .filter(|(place, _)| said.contains(place))
                .map(|((span, code), is_nameless)| (span, code, is_nameless))
                .collect();
            if parse.torn {
                unread.torn.insert(*file);
            }
            if places.is_empty() {
                continue;
            }
            let root = parse.syntax();
            let text = root.text().to_string();
            for (place, code, is_nameless) in places {
                unread.place(*file, (&root, &text), (place.start as usize, code), is_nameless);
            }
            for error in root.descendants().filter(|node| node.kind() == ERROR) {
                unread.words.add(words(&error), item_of(*file, &error));
            }
        }
        let torn: Vec<FileId> = unread.torn.iter().copied().collect();
        for (file, _) in &loaded.files {
            let seen = if torn.is_empty() { BTreeSet::new() } else { loaded.reached(*file) };
            if torn.iter().any(|file| seen.contains(file)) {
                unread.torn.insert(*file);
            }
        }
        unread
    }

    fn place(&mut self, file: FileId, (root, text): (&SyntaxNode, &str), (at, code): (usize, Code), is_nameless: bool) {
        let at = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let begin = text[..at].rfind('\n').map_or(0, |at| at + 1);
        let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
        self.lines.push(Span::new(file, begin as u32, end as u32));
        self.behind.push(Span::new(file, at as u32, end as u32));
        let offset = TextSize::from(at as u32);
        let token: Option<SyntaxToken> = root.token_at_offset(offset).right_biased();
        let parent = token.as_ref().and_then(SyntaxToken::parent);
        let own = parent.as_ref().and_then(|parent| item_of(file, parent));
        let apart = |c: char| c != '_' && !c.is_ascii_alphanumeric();
        let on_line = text[begin..end].split(apart).filter(|word| !word.is_empty()).map(str::to_string);
        self.words.add(on_line, own);
        let Some(token) = token else { return };
        if is_nameless {
            let item = token.parent_ancestors().find(is_item).filter(|item| item.kind() != ERROR);
            match (own, item.as_ref().and_then(name_of)) {
                (Some(own), Some(_)) => self.nameless.push(own),
                _ => self.nameless_items += 1,
            }
        }
        for node in token.parent_ancestors().filter(|node| node.kind() != FILE) {
            let span = span_of(file, &node);
            if is_member(node.kind()) {
                self.members.push(span);
            }
            if is_of_names(node.kind()) {
                self.words.add(words(&node), own.filter(|_| !is_for_others(node.kind())));
            }
            if node.kind() == USE {
                self.without_use.insert(file);
            }
            if is_item(&node) {
                self.items.push(span);
                let in_member = self.members.last().is_some_and(|member| within(member, &span));
                if !in_member && !matches!(node.kind(), NETWORK | TEST | SUITE | RUN) {
                    self.members.push(span);
                }
            }
            let body = node.children().find(|child| child.kind() == BLOCK);
            // A block without its `{` is read all the same.
            let before_body =
                code != of_parser::EXPECTED_BLOCK && body.is_none_or(|body| offset < body.text_range().start());
            if matches!(node.kind(), FUNCTION | HANDLER) && before_body {
                self.heads.push(span);
            }
            // What cannot be read cannot be used, by whichever name.
            let by_parts = matches!(node.kind(), FUNCTION | LAYER | PART | CONTAINER | NETWORK | TEST | SUITE | RUN);
            let is_named = !matches!(node.kind(), HANDLER | ERROR);
            if is_named && (is_item(&node) && !by_parts || self.heads.contains(&span)) {
                self.broken.add(name_of(&node), own.filter(|_| !is_item(&node)));
            }
        }
    }

    /// Whether a report is about what is not there because it could not be read.
    fn explains(&self, found: &Diagnostic, text: &str) -> bool {
        let Some(primary) = &found.primary else { return false };
        let span = &primary.span;
        let starts_in =
            |places: &[Span]| places.iter().any(|of| of.file == span.file && (of.start..=of.end).contains(&span.start));
        let holds = |places: &[Span]| places.iter().any(|of| within(of, span));
        let label_in = |places: &[Span], label: &Label| places.iter().any(|of| within(&label.span, of));
        let is_name = |code: Code| code.0.starts_with("M02") && !TAKEN.contains(&code);
        let in_front = starts_in(&self.lines) && !starts_in(&self.behind);
        let apart = |c: char| c != '_' && !c.is_ascii_alphanumeric();
        let words = || text.split('.').map(str::trim);
        let quoted = found.message.split('`').skip(1).step_by(2).flat_map(|part| part.split(apart));
        let mut named = quoted.chain(words());
        self.torn.contains(&span.file)
            || starts_in(&self.behind)
            // In front of it may stand the cause: `link l { a.device, b.device  lost }`.
            || (MISSING.contains(&found.code) || VALUES.contains(&found.code)) && starts_in(&self.lines)
            || MISSING_HERE.contains(&found.code) && (starts_in(&self.lines) || holds(&self.behind))
            || found.labels.iter().any(|label| label_in(&self.lines, label))
            || !in_front && (is_name(found.code) || NAMED.contains(&found.code))
                && words().any(|word| self.words.mean(word, span))
            || starts_in(&self.heads)
            || (is_name(found.code) || found.code == codes::UNKNOWN_EXPORT) && self.nameless.iter().any(|item| within(span, item))
            || named.any(|word| self.broken.mean(word, span))
            || self.without_use.contains(&span.file) && is_name(found.code)
            || MISSING.contains(&found.code)
                && (starts_in(&self.members) || found.labels.iter().any(|label| label_in(&self.members, label)))
            || (MISSING_IN_ITEM.contains(&found.code) || is_of_a_whole(found)) && starts_in(&self.items)
    }
}

/// What a test or network as a whole does not say: it may have been said in what was not read.
fn is_of_a_whole(found: &Diagnostic) -> bool {
    matches!(found.message.as_str(), "which stack is tested?" | "how long does this network run?")
}

/// A `use` of what there is not: names that mean nothing in that file may be of it, but for those that are nearly others.
pub fn leave_out_unused(diagnostics: &mut Vec<Diagnostic>) {
    let place = |found: &Diagnostic| found.primary.as_ref().map(|label| label.span.file);
    let lost: BTreeSet<FileId> =
        diagnostics.iter().filter(|found| found.code == codes::UNKNOWN_MODULE).filter_map(place).collect();
    let is_slip = |found: &Diagnostic| found.helps.iter().any(|help| help.starts_with("did you mean"));
    diagnostics.retain(|found| {
        let is_unknown = UNKNOWN_ITEMS.contains(&found.code) && found.code != codes::UNKNOWN_EVENT;
        !is_unknown || is_slip(found) || place(found).is_none_or(|file| !lost.contains(&file))
    });
}

/// Leaves out what follows from mistakes of the parser.
pub fn leave_out_followers(loaded: &Loaded, diagnostics: &mut Vec<Diagnostic>) {
    if loaded.files.iter().all(|(_, parse)| parse.diagnostics.is_empty()) {
        return;
    }
    let unread = Unread::of(loaded, diagnostics);
    let text_of = |span: &Span| {
        let (_, parse) = loaded.files.iter().find(|(file, _)| *file == span.file)?;
        let (start, end) = (span.start.min(span.end), span.end);
        let root = parse.syntax();
        let whole = root.text().len();
        (TextSize::from(end) <= whole && end - start < 256)
            .then(|| root.text().slice(TextSize::from(start)..TextSize::from(end)).to_string())
    };
    let text = |found: &Diagnostic| found.primary.as_ref().and_then(|label| text_of(&label.span)).unwrap_or_default();
    diagnostics.retain(|found| mokume_syntax::CODES.contains(&found.code) || !unread.explains(found, &text(found)));
    // As many names may be those of items that have none.
    let unknown = |found: &Diagnostic| UNKNOWN_ITEMS.contains(&found.code).then(|| text(found));
    let names: BTreeSet<String> = diagnostics.iter().filter_map(unknown).collect();
    if names.len() <= unread.nameless_items {
        diagnostics.retain(|found| unknown(found).is_none());
    }
}
