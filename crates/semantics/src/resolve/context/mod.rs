//! The state of the resolution of a whole program: names of files, trees, reports, and what is known of items so far.
//!
//! May assume: nothing. Keeps: it applies no rule of the language; the rooms above store their findings here for each
//! other.

mod built_in;
mod higher;
mod inside;
mod names;
mod trees;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashMap as HashMap;

use mokume_base::{Code, Diagnostic, FileId, Notation, Span};
use mokume_syntax::ast;

use crate::load::Loaded;
use crate::program::*;
use crate::{codes, limits, suggest, tree, types};

pub use built_in::{is_value, type_of};
pub use higher::{ContainerId, Given, Higher, HigherTables, Kind, Made, Wanted};
pub use inside::{GivenType, Inside, Pending, Weight};
pub use names::{Item, Names};
pub use trees::{Lazy, Trees};

/// Everything in which bodies look things up.
pub struct Context {
    pub program: Program,
    pub out: Vec<Diagnostic>,
    pub names: Names,
    pub consts: Vec<Lazy<ast::Const, Expr>>,
    pub aliases: Vec<Lazy<ast::TypeAlias, Type>>,
    pub notations: Notations,
    /// The reasons that tests and networks name.
    pub reasons: Vec<NamedReason>,
    pub said: Said,
    pub higher: HigherTables,
    pub trees: Rc<Trees>,
    /// The types that the names of a container's type parameters stand for, while it is resolved.
    pub types: Vec<GivenType>,
    /// How many constants, type names or signatures are being resolved, each needed by the one before.
    pub depth: u32,
    /// Whether all records of files are resolved, and none is infinite or too large.
    pub types_are_known: bool,
    /// Containers whose functions are still to be resolved.
    pub contained: Vec<Pending>,
    pub soft: Soft,
    /// Names that were resolved to declarations; see [`Program::mentions`].
    mentions: RefCell<Vec<Mention>>,
}

/// The most times that a body is resolved: a use of one local may determine the type of another.
const MOST_READINGS: u32 = 4;

/// The types of locals with an untyped initial number (`let x = 0`), by the places of their names.
#[derive(Default)]
pub struct Soft {
    /// The types that uses determined.
    pub known: BTreeMap<Span, Type>,
    /// The types that the uses resolved so far would need.
    pub wished: BTreeMap<Span, Type>,
}

/// A reason that a test or a network names, and the stacks whose layers may mean it.
pub struct NamedReason {
    pub name: Name,
    pub stacks: Vec<StackId>,
}

/// What is known of notations, besides [`Program::written`].
#[derive(Default)]
pub struct Notations {
    /// For each alias: its own notation, or that of its type.
    pub of_aliases: Vec<Option<Notation>>,
    /// The items of [`Program::written`].
    pub items: Vec<Item>,
}

/// Facts from the texts of all layers, collected before any body is resolved.
#[derive(Default)]
pub struct Said {
    /// Published values by name, and their types.
    pub published: BTreeMap<String, Type>,
    /// `above.x(…)` and `below.x(…)`: the layer, the name, and whether it goes down.
    pub emitted: Vec<(LayerId, String, bool)>,
    /// The names in `later x(…)`, for each layer that was looked up.
    pub later: BTreeMap<LayerId, BTreeSet<String>>,
    /// Names that layers use for services without a declaration: reported once, at `uses` or `serves`.
    pub unknown_services: BTreeSet<String>,
    /// Containers of layers whose declaration was refused: their uses are not checked.
    pub broken: BTreeSet<(LayerId, String)>,
    /// Parameters that stand for no container, by the file that declares them.
    pub no_container: BTreeSet<(FileId, String)>,
    /// Places of containers that were reported for a missing quota.
    pub no_quota: BTreeSet<Span>,
    /// Sizes of containers, by the remaining nesting depth.
    pub weights: BTreeMap<(ContainerId, usize), Weight>,
    /// Octets of texts that were instantiated so far.
    pub written_out: u64,
}

impl Context {
    /// Resolves a body; again, if its uses of `let x = 0` determine the type.
    pub fn settled<T>(&mut self, mut rule: impl FnMut(&mut Context) -> T) -> T {
        self.soft = Soft::default();
        let mut left = MOST_READINGS;
        loop {
            let said = self.out.len();
            let found = rule(self);
            let wished = std::mem::take(&mut self.soft.wished);
            let before = self.soft.known.len();
            self.soft.known.extend(wished);
            left -= 1;
            if self.soft.known.len() == before || left == 0 {
                return found;
            }
            self.out.truncate(said);
        }
    }

    /// A context without declarations.
    pub fn new(loaded: &Loaded) -> Context {
        Context {
            program: Program::default(),
            out: Vec::new(),
            names: Names::new(loaded),
            consts: Vec::new(),
            aliases: Vec::new(),
            notations: Notations::default(),
            reasons: Vec::new(),
            said: Said::default(),
            higher: HigherTables::default(),
            trees: Default::default(),
            types: Vec::new(),
            depth: 0,
            types_are_known: false,
            contained: Vec::new(),
            soft: Soft::default(),
            mentions: RefCell::default(),
        }
    }

    /// Reports a diagnostic.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.out.push(diagnostic);
    }

    /// Reports an error with a text at its place and a help.
    pub fn error(&mut self, code: Code, message: impl Into<String>, span: Span, label: &str, help: &str) {
        self.out.push(Diagnostic::error(code, message).at(span, label).help(help));
    }

    /// Declares an item; reports if its file or the language already has the name.
    pub fn declare(&mut self, name: &Name, item: Item) {
        let built_in = match item {
            Item::Function(_) | Item::Const(_) => {
                built_in::is_value(&name.text) || crate::check::names::is_word(&name.text)
            }
            Item::Alias(_) | Item::Record(_) | Item::Enum(_) => built_in::is_type(&name.text),
            Item::Attribute(_)
            | Item::Service(_)
            | Item::Signature(_)
            | Item::Vocabulary(_)
            | Item::Layer(_)
            | Item::Bundle(_)
            | Item::Wire(_)
            | Item::Stack(_)
            | Item::Network
            | Item::Container(_)
            | Item::Part(_)
            | Item::Suite(_) => false,
        };
        if built_in {
            self.hides(name, item.kind());
        }
        self.out.extend(self.names.add(name, item));
    }

    /// Reports a name that already means something in the language.
    pub fn hides(&mut self, name: &Name, kind: &str) {
        let text = format!("`{}` is part of the language: {kind} of this name would never be meant", name.text);
        self.error(codes::HIDES_BUILT_IN, text, name.span, "built in", "give it another name");
    }

    /// Reports something that is given twice and may be given once.
    pub fn given_twice(&mut self, what: &str, again: Span, first: Span) {
        let diagnostic = Diagnostic::error(codes::DEFINED_TWICE, format!("{what} is given twice"))
            .at(again, "again here")
            .label(first, "first here");
        self.report(diagnostic.help("leave one of them out"));
    }

    /// The same for each repeated name of a list.
    pub fn given_once_each(&mut self, names: &[Name]) {
        for (name, first) in repeated(names) {
            self.given_twice(&format!("`{}`", name.text), name.span, first.span);
        }
    }

    /// The item that a name means in a file: its own first, then those of the files it uses; `udp.Ports` is that of
    /// `udp`.
    pub fn item(&self, file: FileId, name: &str) -> Option<Item> {
        self.names.find(file, name)
    }

    /// As [`Context::item`], for a name in the text, which is noted as a mention of the item.
    pub fn item_at(&self, file: FileId, name: &Name) -> Option<Item> {
        let (item, of) = self.names.find_with_place(file, &name.text)?;
        self.mention(name, of);
        Some(item)
    }

    /// Notes the declaration of a name in the text. In `udp.Ports` the last word counts.
    pub fn mention(&self, name: &Name, of: Span) {
        let start = name.span.end.saturating_sub(name.plain().len() as u32).max(name.span.start);
        let at = Span { start, ..name.span };
        if at != of {
            self.mentions.borrow_mut().push(Mention { at, of });
        }
    }

    /// Notes a name that is its own declaration, which nothing else shows.
    pub fn mention_itself(&self, place: Span) {
        self.mentions.borrow_mut().push(Mention { at: place, of: place });
    }

    /// All mentions so far, by place, each once.
    pub fn take_mentions(&mut self) -> Vec<Mention> {
        let mut all = self.mentions.take();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The name of an item in an expression: a plain one, or qualified by a module or file, `udp.Ports`.
    pub fn item_name(&self, file: FileId, expr: &ast::Expr) -> Option<Name> {
        if let ast::Expr::Name(_) = expr {
            return tree::name_expr(file, expr);
        }
        let (module, name) = tree::name_field(file, expr)?;
        let text = format!("{}.{}", module.text, name.text);
        let known = self.names.is_qualifier(file, &module.text) && self.item(file, &text).is_some();
        known.then(|| Name { text, span: module.span.to(name.span) })
    }

    /// Reports a name that means nothing, or something else.
    pub fn unknown(&mut self, code: Code, what: &str, name: &Name, file: FileId, wanted: impl Fn(Item) -> bool) {
        let diagnostic = match self.item_at(file, name) {
            Some(other) => Diagnostic::error(code, format!("`{}` is {}, not {what}", name.text, other.kind()))
                .at(name.span, format!("expected {what}")),
            None => Diagnostic::error(code, format!("there is no `{}` here", name.text))
                .at(name.span, format!("expected {what}")),
        };
        let (module, plain) = name.text.split_once('.').unwrap_or(("", &name.text));
        if !module.is_empty() && !self.names.is_qualifier(file, module) {
            if what == "an attribute" {
                let help = match module {
                    "below" | "above" => format!("what a layer publishes is read where it is used, `below.{plain}`; here stand attributes of messages"),
                    _ => format!("an attribute is named alone, `{plain}`"),
                };
                return self.out.push(diagnostic.help(help));
            }
            return self
                .out
                .push(diagnostic.help(format!("no module or file `{module}` is used here: add `use {module}`")));
        }
        let names = self.names.visible(file, &wanted);
        let help = suggest::help(plain, names.iter().copied());
        let diagnostic = match what == "an attribute" && module.is_empty() {
            true => diagnostic.help(format!("declare it, outside of layers: `attribute {plain}: u8 = 0`")),
            false => diagnostic,
        };
        self.out.push(diagnostic.help(help.as_deref().unwrap_or("define it, or `use` the module that does")));
    }

    /// Resolves something that another of its kind needs; `None`, after a report, if the chain is too long.
    pub fn deeper<T>(&mut self, span: Span, rule: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth == limits::ASKED_DEPTH {
            let text =
                format!("what stands here depends on others that depend on others, more than {} deep", self.depth);
            self.error(codes::TOO_DEEP, text, span, "too deep", "give some of them a value of their own");
            return None;
        }
        self.depth += 1;
        let found = rule(self);
        self.depth -= 1;
        Some(found)
    }

    /// The text of a type.
    pub fn show(&self, ty: Type) -> String {
        types::show(&self.program, ty)
    }

    /// Resolves something inside a container with these types.
    pub fn with_types<T>(&mut self, types: &[GivenType], rule: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.types, types.to_vec());
        let result = rule(self);
        self.types = outer;
        result
    }
}

/// Each repeated name of a list, with its first occurrence.
pub fn repeated(names: &[Name]) -> Vec<(&Name, &Name)> {
    let mut known: HashMap<&str, &Name> = HashMap::default();
    let mut found = Vec::new();
    for name in names {
        match known.get(name.text.as_str()) {
            Some(first) => found.push((name, *first)),
            None => drop(known.insert(&name.text, name)),
        }
    }
    found
}

/// The report of a repeated name.
pub fn twice(what: &str, name: &Name, first: &Name) -> Diagnostic {
    Diagnostic::error(codes::DEFINED_TWICE, format!("{what} `{}` is defined twice", name.text))
        .at(name.span, "again here")
        .label(first.span, "first here")
        .help("give one of them another name")
}
