//! The names of items: what each stands for, and which file sees it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap as HashMap;

use mokume_base::{Diagnostic, FileId, Span};
use mokume_syntax::{ast, Parse, SyntaxKind};

use crate::codes;
use crate::load::Loaded;
use crate::program::*;

/// What the name of an item stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// Index into [`super::Context::consts`].
    Const(usize),
    /// Index into [`super::Context::aliases`].
    Alias(usize),
    Record(RecordId),
    Enum(EnumId),
    Attribute(AttributeId),
    Service(ServiceId),
    Signature(SignatureId),
    Vocabulary(VocabularyId),
    Function(FunctionId),
    Layer(LayerId),
    Bundle(BundleId),
    Wire(WireId),
    Stack(StackId),
    Network,
    /// Index into the trees.
    Container(usize),
    /// A part of a layer; index into the trees.
    Part(usize),
    /// Index into the trees.
    Suite(usize),
}

impl Item {
    /// The word for it in messages.
    pub fn kind(self) -> &'static str {
        match self {
            Item::Const(_) => "a constant",
            Item::Alias(_) | Item::Record(_) | Item::Enum(_) => "a type",
            Item::Attribute(_) => "an attribute",
            Item::Service(_) => "a service",
            Item::Signature(_) => "a signature",
            Item::Vocabulary(_) => "a vocabulary",
            Item::Function(_) => "a function",
            Item::Layer(_) => "a layer",
            Item::Bundle(_) => "a bundle",
            Item::Wire(_) => "a wire",
            Item::Stack(_) => "a stack",
            Item::Network => "a network",
            Item::Container(_) => "a container",
            Item::Part(_) => "a part of a layer",
            Item::Suite(_) => "a suite of tests",
        }
    }
}

#[derive(Clone, Copy)]
struct Known {
    item: Item,
    span: Span,
}

/// All items by name.
pub struct Names {
    known: HashMap<String, Vec<Known>>,
    visible: HashMap<FileId, BTreeSet<FileId>>,
    reached: HashMap<FileId, BTreeSet<FileId>>,
    qualifiers: HashMap<FileId, String>,
    modules: HashMap<FileId, usize>,
    /// Ambiguous names that were looked up, by the file that looked.
    clashes: RefCell<BTreeMap<(FileId, String), [Known; 2]>>,
}

impl Names {
    /// No names yet, for files whose `use` is resolved.
    pub fn new(loaded: &Loaded) -> Names {
        let visible = loaded.files.iter().map(|(file, _)| (*file, loaded.visible(*file))).collect();
        let reached = loaded.files.iter().map(|(file, _)| (*file, loaded.reached(*file))).collect();
        let (qualifiers, modules) = (loaded.qualifiers.clone(), loaded.modules.clone());
        Names { known: HashMap::default(), visible, reached, qualifiers, modules, clashes: RefCell::default() }
    }

    /// Adds an item; returns a report if its file already has the name.
    pub fn add(&mut self, name: &Name, item: Item) -> Option<Diagnostic> {
        let known = self.known.entry(name.text.clone()).or_default();
        let Some(first) = known.iter().find(|first| first.span.file == name.span.file) else {
            known.push(Known { item, span: name.span });
            return None;
        };
        let diagnostic = Diagnostic::error(codes::DEFINED_TWICE, format!("`{}` is defined twice", name.text))
            .at(name.span, "again here")
            .label(first.span, format!("first here, as {}", first.item.kind()))
            .help("give one of them another name");
        Some(diagnostic)
    }

    /// The item that a name means in a file: its own first, then those of its module, then that of the files it uses.
    /// `udp.Ports` is the one of the module or file `udp`. If several match, the first; [`Names::clashes`] reports
    /// them.
    pub fn find(&self, file: FileId, name: &str) -> Option<Item> {
        self.find_with_place(file, name).map(|(item, _)| item)
    }

    /// The same, with the place of the name at its declaration.
    pub fn find_with_place(&self, file: FileId, name: &str) -> Option<(Item, Span)> {
        let (qualifier, plain) = match name.split_once('.') {
            Some((qualifier, plain)) => (Some(qualifier), plain),
            None => (None, name),
        };
        let fits = |known: &&Known| qualifier.is_none_or(|wanted| self.is_called(known.span.file, wanted));
        let seen = self.known.get(plain)?.iter().filter(|known| self.sees(file, known.span.file));
        let seen: Vec<&Known> = seen.filter(fits).collect();
        let module = self.modules.get(&file);
        let together = |known: &&&Known| module.is_some() && self.modules.get(&known.span.file) == module;
        if let Some(own) = seen.iter().find(|known| known.span.file == file) {
            return Some((own.item, own.span));
        }
        let near: Vec<&Known> = seen.iter().filter(together).copied().collect();
        let found = if near.is_empty() { seen } else { near };
        if let [first, second, ..] = found[..] {
            self.clashes.borrow_mut().entry((file, name.to_string())).or_insert([*first, *second]);
        }
        found.first().map(|known| (known.item, known.span))
    }

    /// Whether a word qualifies names of files that this one sees.
    pub fn is_qualifier(&self, file: FileId, word: &str) -> bool {
        self.visible.get(&file).is_some_and(|seen| seen.iter().any(|other| self.is_called(*other, word)))
    }

    /// What qualifies the names of a file.
    pub fn qualifier(&self, file: FileId) -> String {
        self.qualifiers.get(&file).cloned().unwrap_or_default()
    }

    /// The name of the module that a file belongs to.
    pub fn module_of(&self, file: FileId) -> Option<&str> {
        self.modules.get(&file).and(self.qualifiers.get(&file)).map(String::as_str)
    }

    fn is_called(&self, file: FileId, word: &str) -> bool {
        self.qualifiers.get(&file).is_some_and(|own| own == word)
    }

    /// An error for each ambiguous name that a file's text uses.
    pub fn clashes(&self, loaded: &Loaded) -> Vec<Diagnostic> {
        let clashes = self.clashes.borrow();
        clashes.iter().filter_map(|((file, name), found)| self.clash(loaded, *file, name, found)).collect()
    }

    fn clash(&self, loaded: &Loaded, file: FileId, name: &str, [first, second]: &[Known; 2]) -> Option<Diagnostic> {
        let (_, parse) = loaded.files.iter().find(|(known, _)| *known == file)?;
        let span = place_of(file, parse, name)?;
        let plain = name.rsplit('.').next().unwrap_or(name);
        let [one, other] = [first, second].map(|known| self.qualifier(known.span.file));
        let diagnostic =
            Diagnostic::error(codes::CLASH, format!("`{name}` is the name of two items that are seen here"))
                .at(span, "which of them?")
                .label(first.span, format!("{}, of `{one}`", first.item.kind()))
                .label(second.span, format!("{}, of `{other}`", second.item.kind()));
        Some(match one == other {
            true => diagnostic.help("both files have one name: give one another, or another name to one of the items"),
            false => diagnostic.help(format!("say which: `{one}.{plain}` or `{other}.{plain}`")),
        })
    }

    /// Whether a file uses another, directly or not.
    pub fn reaches(&self, file: FileId, other: FileId) -> bool {
        self.reached.get(&file).is_some_and(|reached| reached.contains(&other))
    }

    fn sees(&self, file: FileId, other: FileId) -> bool {
        self.visible.get(&file).is_some_and(|visible| visible.contains(&other))
    }

    /// The names that a file sees and `wanted` accepts, sorted.
    pub fn visible(&self, file: FileId, wanted: impl Fn(Item) -> bool) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .known
            .iter()
            .filter(|(_, known)| known.iter().any(|known| wanted(known.item) && self.sees(file, known.span.file)))
            .map(|(name, _)| name.as_str())
            .collect();
        names.sort_unstable();
        names
    }
}

/// The first place where a file names an item, as a whole word and not as a part of something else.
fn place_of(file: FileId, parse: &Parse, name: &str) -> Option<Span> {
    let tokens = parse.syntax().descendants_with_tokens().filter_map(|element| element.into_token());
    let tokens: Vec<_> = tokens.filter(|token| !token.kind().is_trivia()).collect();
    let words: Vec<&str> = name.split('.').collect();
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token.text() == text);
    let begins = |at: &usize| {
        let behind_dot = *at > 0 && tokens[*at - 1].kind() == SyntaxKind::DOT;
        let whole = match words[..] {
            [word] => is(*at, word),
            [module, word, ..] => is(*at, module) && is(*at + 1, ".") && is(*at + 2, word),
            [] => false,
        };
        whole && !behind_dot
    };
    let at = (0..tokens.len()).find(begins)?;
    let last = &tokens[at + 2 * (words.len() - 1)];
    Some(ast::token_span(&tokens[at], file).to(ast::token_span(last, file)))
}
