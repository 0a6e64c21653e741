//! Consequences of text that could not be parsed: names in it are not declared, a wire lacks a field, a message goes
//! nowhere. One mistake is one error, so these reports are removed.
//!
//! Keeps: reports about items without a parse error stay, and so do independent reports in items that have one.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use mokume_base::{Code, Diagnostic, FileId, Label, Span, Thing};
use mokume_syntax::SyntaxKind::{self, *};
use mokume_syntax::{codes as of_parser, SyntaxNode, SyntaxToken, TextSize};

use crate::codes;
use crate::load::Loaded;

/// Mistakes after which the parser continues as if they were not there.
const READ_ALL_THE_SAME: [Code; 6] = [
    of_parser::SEMICOLON,
    of_parser::OTHER_UNIT,
    of_parser::FOREIGN_COMMENT,
    of_parser::BAD_OCTETS,
    of_parser::BAD_ESCAPE,
    of_parser::MISSING_LIMIT,
];

/// Reports that something is missing: it may be in the unparsed text.
const MISSING: [Code; 22] = [
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
    codes::WIRE_VALUE,
    codes::UNKNOWN_BELOW,
    codes::NO_SERVICE,
    codes::CONTAINER_UNKNOWN,
];

/// The same for a part of a statement, which is all that is checked.
const MISSING_HERE: [Code; 3] = [codes::NOT_EXHAUSTIVE, codes::MUST_LEAVE, codes::UNUSED_VALUE];

/// Reports that a name is already taken: those do not mean that it is unknown.
const TAKEN: [Code; 4] = [codes::DEFINED_TWICE, codes::CLASH, codes::HIDES_BUILT_IN, codes::UNKNOWN_PORT];

/// Reports that no item has a name.
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

/// Reports about values of which a part was not parsed.
const VALUES: [Code; 4] = [codes::MISMATCH, codes::BAD_OPERANDS, codes::NO_SCALAR, codes::TOO_BIG];

/// Reports about a name, besides the codes of names.
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

/// Reports that something is missing in a whole layer or stack.
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

/// Whether a node is a part of an item that is parsed by itself.
fn is_member(kind: SyntaxKind) -> bool {
    matches!(kind, HANDLER | FUNCTION | SCOPE | OBJECT | HEADER | KEY | ADDRESS | PUBLISH | WIRE_FIELD)
}

/// Whether a node is a list of names; those of some are visible in other items without the name of their own.
fn is_of_names(kind: SyntaxKind) -> bool {
    matches!(kind, RECORD | ENUM | SERVICE | HEADER | PARAM_LIST) || is_for_others(kind)
}

fn is_for_others(kind: SyntaxKind) -> bool {
    matches!(kind, VOCABULARY | SIGNATURE | KEY | ADDRESS | PUBLISH | USE)
}

/// Names, each with the item that it is valid in; `None` if it is valid everywhere.
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

/// All unparsed text, in all files.
#[derive(Default)]
struct Unread {
    /// The lines with parse errors, and what follows the error on them.
    lines: Vec<Span>,
    behind: Vec<Span>,
    /// Members and items with parse errors, and the items around them.
    members: Vec<Span>,
    items: Vec<Span>,
    /// Names in such places.
    words: Names,
    /// Things that contain such a place, by name.
    broken: Names,
    /// Functions, handlers and layers with an error before their bodies.
    heads: Vec<Span>,
    /// Names that a text without its `(` runs into the next word: `worker Lossyrate: u32) {`.
    run_together: Vec<String>,
    /// Words of vocabularies that could not be parsed: events may be among them.
    events: BTreeSet<String>,
    /// Items with a declaration without a name, and the number of items without a name.
    nameless: Vec<Span>,
    nameless_items: usize,
    /// Files whose `use` could not be parsed, and torn files, with all files that see them.
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

/// The item that contains a node; `None` between items.
fn item_of(file: FileId, node: &SyntaxNode) -> Option<Span> {
    let item = node.ancestors().find(is_item).filter(|item| item.kind() != ERROR);
    item.map(|item| span_of(file, &item))
}

impl Unread {
    /// `said` are the reports.
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
                let first = words(&error).next().unwrap_or_default();
                if is_item(&error) && matches!(first.as_str(), "up" | "down" | "reasons") {
                    unread.events.extend(words(&error));
                }
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
        let before = token.prev_token().filter(|before| token.kind() == COLON && before.kind() == IDENT);
        let is_name = |before: &SyntaxToken| before.parent().is_some_and(|parent| parent.kind() == NAME);
        self.run_together.extend(before.filter(is_name).map(|before| before.text().to_string()));
        for node in token.parent_ancestors().filter(|node| node.kind() != FILE) {
            let span = span_of(file, &node);
            if is_member(node.kind()) {
                self.members.push(span);
            }
            if is_of_names(node.kind()) {
                self.words.add(words(&node), own.filter(|_| !is_for_others(node.kind())));
            }
            if node.kind() == VOCABULARY {
                self.events.extend(words(&node));
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
            // A block without its `{` is parsed anyway.
            let before_body =
                code != of_parser::EXPECTED_BLOCK && body.is_none_or(|body| offset < body.text_range().start());
            if matches!(node.kind(), FUNCTION | HANDLER) && before_body {
                self.heads.push(span);
            }
            // What was not parsed cannot be used, by any name.
            let by_parts = matches!(node.kind(), FUNCTION | LAYER | PART | CONTAINER | NETWORK | TEST | SUITE | RUN);
            let is_named = !matches!(node.kind(), HANDLER | ERROR);
            if is_named && (is_item(&node) && !by_parts || self.heads.contains(&span)) {
                self.broken.add(name_of(&node), own.filter(|_| !is_item(&node)));
            }
        }
    }

    /// Whether a report is a consequence of unparsed text.
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
        let is_part = |whole: &String| {
            UNKNOWN_ITEMS.contains(&found.code)
                && !text.is_empty()
                && (whole.starts_with(text) || whole.ends_with(text))
                && text.len() < whole.len()
        };
        self.torn.contains(&span.file)
            || starts_in(&self.behind)
            || self.run_together.iter().any(is_part)
            || [codes::NO_HANDLER, codes::UNKNOWN_EVENT].contains(&found.code)
                && named.clone().any(|event| !event.is_empty() && self.events.iter().any(|word| word.starts_with(event)))
            // The cause may precede it: `link l { a.device, b.device  lost }`.
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

/// Whether a report says that a test or network lacks something: that may be in the unparsed text.
fn is_of_a_whole(found: &Diagnostic) -> bool {
    matches!(found.message.as_str(), "which stack is tested?" | "how long does this network run?")
}

/// For a `use` of something unknown: unknown names in that file may come from it, except those that are similar to
/// known ones.
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

/// Removes consequences of parse errors.
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
    let mut lost: Vec<Thing> = Vec::new();
    diagnostics.retain(|found| {
        let stays = mokume_syntax::CODES.contains(&found.code) || !unread.explains(found, &text(found));
        if !stays {
            lost.extend(found.loses.iter().cloned());
        }
        stays
    });
    let is_lost = |things: &[Thing]| things.iter().any(|thing| lost.contains(thing));
    diagnostics.retain(|found| !is_lost(&found.needs) && !is_lost(&found.lacks));
    // As many names may be those of items without a name.
    let unknown = |found: &Diagnostic| UNKNOWN_ITEMS.contains(&found.code).then(|| text(found));
    let names: BTreeSet<String> = diagnostics.iter().filter_map(unknown).collect();
    if names.len() <= unread.nameless_items {
        diagnostics.retain(|found| unknown(found).is_none());
    }
}
