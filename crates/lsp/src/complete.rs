//! Completion at a place. The text is analysed with a name at the cursor, so that the tree and the types around it are
//! complete.
//!
//! Keeps: every proposal could be written there; the editor sorts them by what is typed.

use std::collections::{BTreeMap, BTreeSet};

use ls_types::{CompletionItem, CompletionItemKind as Kind, Documentation, MarkupContent, MarkupKind};
use mokume_base::{FileId, Span};
use mokume_semantics::program::{Layer, Program, Stack};
use mokume_syntax::ast::{self, AstNode};
use mokume_syntax::{words, SyntaxKind, SyntaxNode, SyntaxToken};

use crate::analysis::Analysis;
use crate::{hover, names};

mod arguments;
mod behind;
mod by_words;
mod networks;
mod runs;
mod sight;
mod values;

/// The name that is inserted at the cursor.
pub const HERE: &str = "mokume_here";

/// The text with the name inserted in place of the word at the cursor, and the offset of that name.
pub fn patched(text: &str, offset: usize) -> (String, usize) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let from =
        text[..offset].rfind(|c| !is_word(c)).map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    let to = text[offset..].find(|c| !is_word(c)).map_or(text.len(), |at| offset + at);
    (format!("{}{HERE}{}", &text[..from], &text[to..]), from)
}

/// All proposals for the inserted name.
pub fn at(analysis: &Analysis, file: FileId, from: usize, modules: &[String]) -> Vec<CompletionItem> {
    let Some(word) = names::word(analysis, file, from as u32 + 1) else { return Vec::new() };
    let scene = Scene { analysis, program: &analysis.checked.program, file, token: word.token };
    let mut found = Found::default();
    if scene.by_words(&mut found).is_none() {
        scene.propose(modules, &mut found);
    }
    found.items.into_values().collect()
}

/// The proposals by label, each once.
#[derive(Default)]
struct Found {
    items: BTreeMap<String, CompletionItem>,
    near: Near,
    /// The type of the place, as text: what has it comes first.
    wanted: Option<String>,
}

/// How near the things that are added now are; editors show near ones first.
#[derive(Clone, Copy, Default)]
enum Near {
    /// Of the code.
    #[default]
    Code,
    Layer,
    File,
    Language,
    Others,
}

impl Found {
    fn add(&mut self, label: &str, kind: Kind, detail: impl Into<String>) {
        self.put(CompletionItem {
            label: label.to_string(),
            kind: Some(kind),
            detail: Some(detail.into()),
            ..CompletionItem::default()
        });
    }

    fn put(&mut self, mut item: CompletionItem) {
        let is_wanted = self.wanted.as_ref().is_some_and(|wanted| is_of(&item, wanted));
        item.sort_text = Some(format!("{}{}{}", if is_wanted { "!" } else { "" }, self.near as u8, item.label));
        if item.label != HERE && !item.label.starts_with(['.', '?']) {
            self.items.entry(item.label.clone()).or_insert(item);
        }
    }

    fn words(&mut self, words: &[&str]) {
        words.iter().for_each(|word| self.add(word, Kind::KEYWORD, words::form(word)));
    }
}

/// Whether something is of a type: a name whose type stands beside it, a name of an enum, a record in braces.
fn is_of(item: &CompletionItem, ty: &str) -> bool {
    match item.kind {
        Some(Kind::ENUM_MEMBER) => item.label.split_once('.').is_some_and(|(of, _)| of == ty),
        Some(Kind::KEYWORD) => ty == "bool" && matches!(item.label.as_str(), "true" | "false" | "not"),
        Some(Kind::STRUCT) => item.label == ty,
        _ => item.detail.as_deref() == Some(ty),
    }
}

struct Scene<'a> {
    analysis: &'a Analysis,
    program: &'a Program,
    file: FileId,
    token: SyntaxToken,
}

impl Scene<'_> {
    fn propose(&self, modules: &[String], found: &mut Found) {
        use SyntaxKind as S;
        let Some(parent) = self.token.parent() else { return };
        let owner = parent.parent();
        let kind = owner.as_ref().map_or(S::FILE, SyntaxNode::kind);
        match (parent.kind(), kind) {
            (S::USE_PATH | S::USE, _) | (_, S::USE_PATH | S::USE) => {
                modules.iter().for_each(|module| found.add(module, Kind::MODULE, "module"));
            }
            (S::NAME, S::FIELD_EXPR) => self.behind_dot(owner, found).unwrap_or_default(),
            (S::NAME, S::RECORD_EXPR_FIELD) => self.fields_within(owner, found).unwrap_or_default(),
            (S::NAME, S::NAMED_TYPE) => self.types(found),
            (S::NAME, S::LAYER_USE) if self.is_in(S::HOST) || self.is_in(S::TEST_STACK) => self.stacks(found),
            (S::NAME, S::LAYER_USE) => self.layers(found),
            (S::NAME, S::OVER | S::WITH) => self.instances(true, found),
            (S::NAME, S::EXPORT) => self.instances(false, found),
            (S::NAME, S::READS | S::WRITES) => self.attributes(found),
            (S::NAME, S::SERVES | S::USES) => {
                let all = self.program.services.iter().map(|service| &service.name);
                all.for_each(|name| found.add(&name.text, Kind::INTERFACE, "service"));
            }
            (S::NAME | S::PATH, S::DROP_STMT | S::CONSUME_STMT | S::FAIL_STMT) => self.reasons(found),
            (S::NAME, S::PATH) => match owner.and_then(|path| path.parent()).map(|node| node.kind()) {
                Some(S::HANDLER) => self.handled(found),
                Some(S::DROP_STMT | S::CONSUME_STMT | S::FAIL_STMT) => self.reasons(found),
                _ => self.by_place(&parent, found),
            },
            (S::NAME_EXPR, S::EXPR_STMT) => {
                found.words(words::of_statements());
                self.receivers(found);
                self.targets(found);
            }
            (S::NAME_EXPR, S::ARG) => {
                self.arguments(found);
                found.wanted = self.wanted_here();
                match self.is_in(S::TEST) || self.is_in(S::NETWORK) {
                    // A stack is set before anything runs.
                    true if self.is_in(S::LAYER_USE) => {
                        self.fixed(found);
                        found.words(&["true", "false"]);
                    }
                    true => self.values_of_run(found),
                    false => self.values(found),
                }
            }
            (S::NAME_EXPR, _) if self.is_in(S::STACK_LAYER) || self.is_in(S::BUNDLE) => {
                self.layers(found);
                self.values(found);
            }
            (S::NAME_EXPR, S::FIELD_EXPR) => {
                self.receivers(found);
                self.values(found);
            }
            (S::NAME_EXPR, _) => {
                if self.layer().is_some() {
                    found.add("below", Kind::KEYWORD, "below.mtu");
                }
                self.values(found);
            }
            _ => self.by_place(&parent, found),
        }
    }

    fn receivers(&self, found: &mut Found) {
        found.add("below", Kind::KEYWORD, "below.send(msg)");
        found.add("above", Kind::KEYWORD, "above.deliver(msg)");
    }

    fn is_in(&self, kind: SyntaxKind) -> bool {
        self.token.parent_ancestors().any(|node| node.kind() == kind)
    }

    /// Proposals at the beginning of something whose kind is still open.
    fn by_place(&self, parent: &SyntaxNode, found: &mut Found) {
        use SyntaxKind as S;
        let around = parent.ancestors().map(|node| node.kind());
        let around = around.into_iter().find(|kind| {
            matches!(
                kind,
                S::BLOCK
                    | S::SCOPE
                    | S::OBJECT
                    | S::LAYER
                    | S::PART
                    | S::CONTAINER
                    | S::STACK
                    | S::BUNDLE
                    | S::HANDLER
                    | S::WIRE
                    | S::FILE
            )
        });
        match around {
            Some(S::BLOCK) => {
                found.words(words::of_statements());
                self.targets(found);
            }
            Some(S::SCOPE | S::CONTAINER) => {
                found.words(words::of_state());
                self.containers(found);
            }
            Some(S::OBJECT) => {
                found.words(words::of_state());
                found.words(&["on"]);
            }
            Some(S::HANDLER) => self.handled(found),
            Some(S::LAYER | S::PART) => found.words(words::of_members()),
            Some(S::STACK) => {
                found.words(&["export", "outputs", "sessions", "tick", "order", "over", "with"]);
                self.layers(found);
            }
            Some(S::BUNDLE) => self.layers(found),
            Some(S::WIRE) => found.words(&by_words::OF_WIRES),
            _ => found.words(words::of_items()),
        }
    }

    /// Adds something that is declared at a place, with its documentation.
    fn item(&self, label: &str, kind: Kind, detail: impl Into<String>, declared: Span, found: &mut Found) {
        found.put(CompletionItem {
            label: label.to_string(),
            kind: Some(kind),
            detail: Some(detail.into()),
            documentation: self.documentation(declared, found),
            ..CompletionItem::default()
        });
    }

    /// The documentation of what is declared at a place; none in a long list.
    fn documentation(&self, declared: Span, found: &Found) -> Option<Documentation> {
        let value = Some(declared).filter(|_| found.items.len() < 200);
        let value = value.and_then(|declared| hover::text(self.analysis, declared))?;
        Some(Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value }))
    }

    /// The files whose items are visible here: the file itself, and those that it uses, with their modules.
    fn seen(&self) -> BTreeSet<FileId> {
        let mut seen = BTreeSet::from([self.file]);
        let root = names::tree(self.analysis, self.file);
        for path in root.descendants().filter_map(ast::UsePath::cast) {
            let at = ast::span_of(path.syntax(), self.file).start;
            seen.extend(names::used(self.analysis, self.file, at + 1).into_iter().map(|span| span.file));
        }
        seen
    }

    /// The layers that are visible here.
    fn seen_layers(&self) -> impl Iterator<Item = &Layer> {
        let seen = self.seen();
        self.program.layers.iter().filter(move |layer| seen.contains(&layer.name.span.file))
    }

    /// The stacks that are visible here.
    fn seen_stacks(&self) -> impl Iterator<Item = &Stack> {
        let seen = self.seen();
        self.program.stacks.iter().filter(move |stack| seen.contains(&stack.name.span.file))
    }
}

fn within(place: Span, of: Span) -> bool {
    place.file == of.file && of.start <= place.start && place.end <= of.end
}
