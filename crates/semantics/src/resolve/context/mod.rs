//! The room of what a whole program's resolution holds: names of files, trees, reports, and what is known of items so far.
//!
//! May assume: nothing. Keeps: it asks no rule of the language anything; rooms above put their findings here, for each other.

mod built_in;
mod higher;
mod inside;
mod names;
mod trees;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use mokume_base::{Code, Diagnostic, FileId, Notation, Span};
use mokume_syntax::ast;

use crate::load::Loaded;
use crate::program::*;
use crate::{codes, limits, suggest, tree, types};

pub use built_in::{is_value, type_of};
pub use higher::{ContainerId, Given, Higher, HigherTables, Kind, Made, Wanted};
pub use inside::{Inside, Pending, Weight};
pub use names::{Item, Names};
pub use trees::{Lazy, Trees};

/// Everything that bodies look things up in.
pub struct Context {
    pub program: Program,
    pub out: Vec<Diagnostic>,
    pub names: Names,
    pub consts: Vec<Lazy<ast::Const, Expr>>,
    pub aliases: Vec<Lazy<ast::TypeAlias, Type>>,
    pub notations: Notations,
    pub said: Said,
    pub higher: HigherTables,
    pub trees: Rc<Trees>,
    /// What the names of a container's types stand for, while one is being read.
    pub types: Vec<(String, Type)>,
    /// How many constants, names of types or signatures are being read, each asked for by the one before.
    pub depth: u32,
    /// Whether all records of files are read, and none of them is endless or too large.
    pub types_are_known: bool,
    /// Containers whose functions wait to be read.
    pub contained: Vec<Pending>,
    pub soft: Soft,
    /// Names that were followed to their declarations; see [`Program::mentions`].
    mentions: RefCell<Vec<Mention>>,
}

/// A body is read so often at most: what one use says of a local may tell another local's type, but not for ever.
const MOST_READINGS: u32 = 4;

/// The types of locals that begin with a number of no type (`let x = 0`), by the places of their names.
#[derive(Default)]
pub struct Soft {
    /// As their uses say.
    pub known: BTreeMap<Span, Type>,
    /// What uses that were read by now would have them be.
    pub wished: BTreeMap<Span, Type>,
}

/// What is known of how types are written, beside [`Program::written`].
#[derive(Default)]
pub struct Notations {
    /// By alias: its own notation, or that of the type that it stands for.
    pub of_aliases: Vec<Option<Notation>>,
    /// The items of [`Program::written`], one by one.
    pub items: Vec<Item>,
}

/// What the texts of all layers say, gathered before any body is read.
#[derive(Default)]
pub struct Said {
    /// Published values by name, and their types.
    pub published: BTreeMap<String, Type>,
    /// `above.x(…)` and `below.x(…)`: the layer, the name, whether it goes down.
    pub emitted: Vec<(LayerId, String, bool)>,
    /// `later x(…)`, of each layer that was asked for.
    pub later: BTreeMap<LayerId, BTreeSet<String>>,
    /// What layers call services that nobody declares: said once, where they are asked for.
    pub unknown_services: BTreeSet<String>,
    /// Containers of layers whose declaration was refused: what they are used for is not looked at.
    pub broken: BTreeSet<(LayerId, String)>,
    /// Parameters that stand for no container, by the file that declares them.
    pub no_container: BTreeSet<(FileId, String)>,
    /// Places of containers of which it was said that their quota is missing.
    pub no_quota: BTreeSet<Span>,
    /// What containers come to, by how deep they may still go.
    pub weights: BTreeMap<(ContainerId, usize), Weight>,
    /// Octets of texts that were read once more where they are used.
    pub written_out: u64,
}

impl Context {
    /// Reads a body; once more, where its uses of `let x = 0` say which type that has.
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

    /// A context in which nothing is declared yet.
    pub fn new(loaded: &Loaded) -> Context {
        Context {
            program: Program::default(),
            out: Vec::new(),
            names: Names::new(loaded),
            consts: Vec::new(),
            aliases: Vec::new(),
            notations: Notations::default(),
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

    /// A diagnostic, as it is.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.out.push(diagnostic);
    }

    /// An error with a text under its place and a way out.
    pub fn error(&mut self, code: Code, message: impl Into<String>, span: Span, label: &str, help: &str) {
        self.out.push(Diagnostic::error(code, message).at(span, label).help(help));
    }

    /// Declares an item; a report if its file has the name already, or if the language has it.
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

    /// A report that a name stands for something of the language already.
    pub fn hides(&mut self, name: &Name, kind: &str) {
        let text = format!("`{}` is part of the language: {kind} of this name would never be meant", name.text);
        self.error(codes::HIDES_BUILT_IN, text, name.span, "built in", "give it another name");
    }

    /// A report that something is given twice where it may be given once.
    pub fn given_twice(&mut self, what: &str, again: Span, first: Span) {
        let diagnostic = Diagnostic::error(codes::DEFINED_TWICE, format!("{what} is given twice"))
            .at(again, "again here")
            .label(first, "first here");
        self.report(diagnostic.help("leave one of them out"));
    }

    /// The same of each name of a list that was there before.
    pub fn given_once_each(&mut self, names: &[Name]) {
        for (name, first) in repeated(names) {
            self.given_twice(&format!("`{}`", name.text), name.span, first.span);
        }
    }

    /// What a name means in a file: its own item first, then those of the files it uses; `udp.Ports` is that of `udp`.
    pub fn item(&self, file: FileId, name: &str) -> Option<Item> {
        self.names.find(file, name)
    }

    /// As [`Context::item`], of a name in the text, which is noted as a mention of the item.
    pub fn item_at(&self, file: FileId, name: &Name) -> Option<Item> {
        let (item, of) = self.names.find_with_place(file, &name.text)?;
        self.mention(name, of);
        Some(item)
    }

    /// A name of the text stands for what is declared there. Of `udp.Ports` it is the last word that does.
    pub fn mention(&self, name: &Name, of: Span) {
        let start = name.span.end.saturating_sub(name.plain().len() as u32).max(name.span.start);
        let at = Span { start, ..name.span };
        if at != of {
            self.mentions.borrow_mut().push(Mention { at, of });
        }
    }

    /// All that was noted, by place, each once.
    pub fn take_mentions(&mut self) -> Vec<Mention> {
        let mut all = self.mentions.take();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The name of an item that an expression is: a plain one, or with the module or file that it is of, `udp.Ports`.
    pub fn item_name(&self, file: FileId, expr: &ast::Expr) -> Option<Name> {
        if let ast::Expr::Name(_) = expr {
            return tree::name_expr(file, expr);
        }
        let (module, name) = tree::name_field(file, expr)?;
        let text = format!("{}.{}", module.text, name.text);
        let known = self.names.is_qualifier(file, &module.text) && self.item(file, &text).is_some();
        known.then(|| Name { text, span: module.span.to(name.span) })
    }

    /// An error for a name that stands for nothing, or for something else.
    pub fn unknown(&mut self, code: Code, what: &str, name: &Name, file: FileId, wanted: impl Fn(Item) -> bool) {
        let diagnostic = match self.item_at(file, name) {
            Some(other) => Diagnostic::error(code, format!("`{}` is {}, not {what}", name.text, other.kind()))
                .at(name.span, format!("expected {what}")),
            None => Diagnostic::error(code, format!("there is no `{}` here", name.text))
                .at(name.span, format!("expected {what}")),
        };
        let (module, plain) = name.text.split_once('.').unwrap_or(("", &name.text));
        if !module.is_empty() && !self.names.is_qualifier(file, module) {
            return self
                .out
                .push(diagnostic.help(format!("no module or file `{module}` is used here: add `use {module}`")));
        }
        let names = self.names.visible(file, &wanted);
        let help = suggest::help(plain, names.iter().copied());
        self.out.push(diagnostic.help(help.as_deref().unwrap_or("define it, or `use` the module that does")));
    }

    /// Reads what another of its kind asks for; none, after a report, where that goes on for too long.
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

    /// How a type is written.
    pub fn show(&self, ty: Type) -> String {
        types::show(&self.program, ty)
    }

    /// Reads something of a container's, whose types are those of a declaration.
    pub fn with_types<T>(&mut self, types: &[(String, Type)], rule: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.types, types.to_vec());
        let result = rule(self);
        self.types = outer;
        result
    }
}

/// Each name of a list that was there before, with the first of it.
pub fn repeated(names: &[Name]) -> Vec<(&Name, &Name)> {
    let mut known: HashMap<&str, &Name> = HashMap::new();
    let mut found = Vec::new();
    for name in names {
        match known.get(name.text.as_str()) {
            Some(first) => found.push((name, *first)),
            None => drop(known.insert(&name.text, name)),
        }
    }
    found
}

/// The report of a name that is there already.
pub fn twice(what: &str, name: &Name, first: &Name) -> Diagnostic {
    Diagnostic::error(codes::DEFINED_TWICE, format!("{what} `{}` is defined twice", name.text))
        .at(name.span, "again here")
        .label(first.span, "first here")
        .help("give one of them another name")
}
