//! From the tree to the typed program: names, types, shapes.
//!
//! Two passes: first what every item is called and looks like from outside (so that order in files does not matter), then
//! the bodies. Keeps: a mistake in one item never hides those of the next; what could not be understood has the type
//! `Unknown`, which agrees with everything.

mod answers;
mod apply;
mod assignments;
mod bodies;
mod body;
mod bundles;
mod calls;
mod choices;
mod contained;
mod containers;
mod control;
mod data;
mod emissions;
mod expressions;
mod externs;
mod flows;
mod handlers;
mod heads;
mod higher;
mod host6;
mod items;
mod layers;
mod lets;
mod lookups;
mod operators;
mod places;
mod quoted;
mod scopes;
mod settings;
mod several;
mod signatures;
mod stacks;
mod statements;
mod tests;
mod vector_parts;
pub(crate) mod vectors;
mod vocabularies;
mod wire_lists;
mod wire_parts;
mod wires;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use mokume_base::{Code, Diagnostic, FileId, Span};
use mokume_syntax::ast;

use crate::load::Loaded;
use crate::program::*;
use crate::{codes, suggest, tree, types};

/// What a name at the top of a file stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Item {
    Const(usize),
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
    Container(usize),
}

impl Item {
    /// What to call it in a message.
    fn kind(self) -> &'static str {
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
        }
    }
}

#[derive(Clone, Copy)]
struct Known {
    item: Item,
    span: Span,
}

/// An item whose value is found when it is first asked for.
#[derive(Clone)]
enum Lazy<A, T> {
    Waiting(FileId, A),
    /// Being worked on: asked for again, it goes in a circle.
    Busy,
    Done(T),
}

/// Trees of items, by the ids of the program.
#[derive(Default)]
pub(crate) struct Trees {
    records: Vec<(FileId, ast::Record)>,
    enums: Vec<(FileId, ast::Enum)>,
    attributes: Vec<(FileId, ast::Attribute)>,
    services: Vec<(FileId, ast::Service)>,
    signatures: Vec<(FileId, ast::Signature)>,
    vocabularies: Vec<(FileId, ast::Vocabulary)>,
    functions: Vec<(FileId, ast::Function)>,
    layers: Vec<(FileId, ast::Layer)>,
    bundles: Vec<(FileId, ast::Bundle)>,
    wires: Vec<(FileId, ast::Wire)>,
    stacks: Vec<(FileId, ast::Stack)>,
    networks: Vec<(FileId, ast::Network)>,
    tests: Vec<(FileId, ast::Test)>,
    containers: Vec<(FileId, ast::Container)>,
}

/// Everything that bodies look things up in.
pub(crate) struct Context {
    pub program: Program,
    pub out: Vec<Diagnostic>,
    names: HashMap<String, Vec<Known>>,
    visible: HashMap<FileId, BTreeSet<FileId>>,
    consts: Vec<Lazy<ast::Const, Expr>>,
    aliases: Vec<Lazy<ast::TypeAlias, Type>>,
    /// Published values of all layers by name, and their types.
    published: BTreeMap<String, Type>,
    /// `above.x(…)` and `below.x(…)` in the text of all layers: the layer, the name, whether it goes down.
    emitted: Vec<(LayerId, String, bool)>,
    /// Parameters that are functions and layers, by layer and by bundle of the text.
    higher_layers: Vec<Vec<higher::Higher>>,
    higher_bundles: Vec<Vec<higher::Higher>>,
    /// What was made of definitions with such parameters.
    made: Vec<apply::Made>,
    /// Bundles that are being made: one that comes again has no end.
    making: Vec<BundleId>,
    trees: std::rc::Rc<Trees>,
    /// What layers call services that nobody declares: said once, where they are asked for.
    unknown_services: BTreeSet<String>,
    /// What the names of a container's types stand for, while one is being read.
    types: Vec<(String, Type)>,
    /// Containers whose functions wait to be read.
    contained: Vec<containers::Pending>,
}

/// Resolves all files. The checks that need the whole program come after.
pub(crate) fn resolve(loaded: &Loaded) -> (Program, Vec<Diagnostic>) {
    let mut cx = Context {
        program: Program::default(),
        out: Vec::new(),
        names: HashMap::new(),
        visible: loaded.files.iter().map(|(file, _)| (*file, loaded.visible(*file))).collect(),
        consts: Vec::new(),
        aliases: Vec::new(),
        published: BTreeMap::new(),
        emitted: Vec::new(),
        higher_layers: Vec::new(),
        higher_bundles: Vec::new(),
        made: Vec::new(),
        making: Vec::new(),
        trees: Default::default(),
        unknown_services: BTreeSet::new(),
        types: Vec::new(),
        contained: Vec::new(),
    };
    let mut trees = Trees::default();
    for (file, parse) in &loaded.files {
        for item in parse.file().items() {
            items::declare(&mut cx, &mut trees, *file, item);
        }
    }
    cx.trees = std::rc::Rc::new(trees);
    items::signatures(&mut cx);
    signatures::resolve(&mut cx);
    layers::signatures(&mut cx);
    // Before the functions, which may read a quote by a wire.
    wires::wires(&mut cx);
    items::bodies(&mut cx);
    bodies::bodies(&mut cx);
    bundles::bundles(&mut cx);
    stacks::stacks(&mut cx);
    tests::tests(&mut cx);
    (cx.program, cx.out)
}

impl Context {
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.out.push(diagnostic);
    }

    /// An error with a text under its place and a way out.
    pub(crate) fn error(&mut self, code: Code, message: impl Into<String>, span: Span, label: &str, help: &str) {
        self.out.push(Diagnostic::error(code, message).at(span, label).help(help));
    }

    fn add_name(&mut self, name: &Name, item: Item) {
        let known = self.names.entry(name.text.clone()).or_default();
        if let Some(first) = known.iter().find(|first| first.span.file == name.span.file) {
            let diagnostic = Diagnostic::error(codes::DEFINED_TWICE, format!("`{}` is defined twice", name.text))
                .at(name.span, "again here")
                .label(first.span, format!("first here, as {}", first.item.kind()))
                .help("give one of them another name");
            self.out.push(diagnostic);
            return;
        }
        known.push(Known { item, span: name.span });
    }

    /// What a name means in a file: its own item first, then those of the files it uses.
    pub(crate) fn item(&self, file: FileId, name: &str) -> Option<Item> {
        let known = self.names.get(name)?;
        let own = known.iter().find(|known| known.span.file == file);
        let used = || known.iter().find(|known| self.sees(file, known.span.file));
        own.or_else(used).map(|known| known.item)
    }

    fn sees(&self, file: FileId, other: FileId) -> bool {
        self.visible.get(&file).is_some_and(|visible| visible.contains(&other))
    }

    /// The names that a file sees and `wanted` accepts.
    pub(crate) fn visible_names(&self, file: FileId, wanted: impl Fn(Item) -> bool) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .names
            .iter()
            .filter(|(_, known)| known.iter().any(|known| wanted(known.item) && self.sees(file, known.span.file)))
            .map(|(name, _)| name.as_str())
            .collect();
        names.sort_unstable();
        names
    }

    /// An error for a name that stands for nothing, or for something else.
    pub(crate) fn unknown(&mut self, code: Code, what: &str, name: &Name, file: FileId, wanted: impl Fn(Item) -> bool) {
        let mut diagnostic = match self.item(file, &name.text) {
            Some(other) => Diagnostic::error(code, format!("`{}` is {}, not {what}", name.text, other.kind()))
                .at(name.span, format!("expected {what}")),
            None => Diagnostic::error(code, format!("there is no `{}` here", name.text))
                .at(name.span, format!("expected {what}")),
        };
        let names = self.visible_names(file, &wanted);
        let help = suggest::help(&name.text, names.iter().copied());
        match (help, self.elsewhere(file, &name.text, &wanted)) {
            (_, true) => {
                diagnostic = diagnostic.help(format!("a file that is not used here has `{}`: add its `use`", name.text))
            }
            (Some(help), _) => diagnostic.helps.push(help),
            (None, _) => diagnostic = diagnostic.help("define it, or `use` the module that does"),
        }
        self.out.push(diagnostic);
    }

    fn elsewhere(&self, file: FileId, name: &str, wanted: impl Fn(Item) -> bool) -> bool {
        let known = self.names.get(name).map_or(&[][..], Vec::as_slice);
        known.iter().any(|known| wanted(known.item) && !self.sees(file, known.span.file))
    }

    pub(crate) fn show(&self, ty: Type) -> String {
        types::show(&self.program, ty)
    }

    /// A type of the text; `Unknown` after a report.
    pub(crate) fn ty(&mut self, file: FileId, ty: Option<ast::Type>) -> Type {
        use mokume_syntax::ast::AstNode;
        match ty {
            None => Type::Unknown,
            Some(ast::Type::Named(named)) => match named.name() {
                Some(name) => self.named_type(file, &tree::name(file, &name)),
                None => Type::Unknown,
            },
            Some(ast::Type::Vector(ty)) => self.vector_type(file, &ty),
            Some(ast::Type::Fn(ty)) => {
                let help = "let the layer have it: `worker Route(pick: fn(u32) -> u8)`";
                let span = ty.span(file);
                self.error(codes::HIGHER_PARAMETER, "only layers and bundles take functions", span, "a function", help);
                Type::Unknown
            }
            Some(other) => {
                let span = other.span(file);
                self.error(
                    codes::NO_SCALAR,
                    "a collection is no value",
                    span,
                    "only state can be one",
                    "declare it in a scope: `array a: [u32; 8]`, `map m: [u32 -> u48; 64]`",
                );
                Type::Unknown
            }
        }
    }

    fn named_type(&mut self, file: FileId, name: &Name) -> Type {
        if let Some((_, ty)) = self.types.iter().find(|(known, _)| *known == name.text) {
            return *ty;
        }
        if let Some(ty) = builtin_type(&name.text) {
            return ty;
        }
        match self.item(file, &name.text) {
            Some(Item::Record(id)) => Type::Record(id),
            Some(Item::Enum(id)) => self.program.enums[id.index()].data.map_or(Type::Enum(id), Type::Record),
            Some(Item::Alias(index)) => self.alias(index, name),
            _ => {
                self.unknown_type(file, name);
                Type::Unknown
            }
        }
    }

    fn unknown_type(&mut self, file: FileId, name: &Name) {
        let width = name.text.trim_start_matches(|c: char| c.is_ascii_lowercase()).parse::<u32>();
        let number = name.text.starts_with(['u', 'i']) || name.text.starts_with("seq") || name.text.starts_with("int");
        if let (Ok(width), true) = (width, number && !name.text.starts_with(char::is_uppercase)) {
            let help = match name.text.starts_with('i') {
                true => format!("numbers have no sign here: `u{}`", width.clamp(1, 64)),
                false => "widths go from 1 to 64".to_string(),
            };
            return self.error(
                codes::UNKNOWN_TYPE,
                format!("there is no type `{}`", name.text),
                name.span,
                "no such type",
                &help,
            );
        }
        let is_type = |item| matches!(item, Item::Record(_) | Item::Enum(_) | Item::Alias(_));
        let builtin = ["bool", "u8", "u16", "u32", "u64", "seq32", "Duration", "Instant", "Message"];
        if let Some(near) = suggest::nearest(&name.text, builtin) {
            let help = format!("did you mean `{near}`?");
            return self.error(
                codes::UNKNOWN_TYPE,
                format!("there is no type `{}`", name.text),
                name.span,
                "no such type",
                &help,
            );
        }
        self.unknown(codes::UNKNOWN_TYPE, "a type", name, file, is_type);
    }

    fn alias(&mut self, index: usize, name: &Name) -> Type {
        match std::mem::replace(&mut self.aliases[index], Lazy::Busy) {
            Lazy::Done(ty) => {
                self.aliases[index] = Lazy::Done(ty);
                ty
            }
            Lazy::Busy => {
                let text = format!("the type `{}` stands for itself", name.text);
                self.error(codes::CIRCLE, text, name.span, "leads back here", "name another type");
                self.aliases[index] = Lazy::Done(Type::Unknown);
                Type::Unknown
            }
            Lazy::Waiting(file, alias) => {
                let ty = self.ty(file, alias.ty());
                self.aliases[index] = Lazy::Done(ty);
                ty
            }
        }
    }

    /// A scalar type, for headers, keys, elements.
    pub(crate) fn scalar_type(&mut self, file: FileId, ty: Option<ast::Type>) -> Type {
        use mokume_syntax::ast::AstNode;
        let span = ty.as_ref().map(|ty| ty.span(file));
        let ty = self.ty(file, ty);
        match span {
            Some(span) if !types::is_scalar(ty) => {
                let text = format!("{} is no scalar", self.show(ty));
                let help = "write its parts one by one: `bool`, `uN`, `seqN`, `Duration`, `Instant` or an enum each";
                self.error(codes::NO_SCALAR, text, span, "expected a scalar", help);
                Type::Unknown
            }
            _ => ty,
        }
    }
}

fn builtin_type(name: &str) -> Option<Type> {
    let bits = |prefix: &str| {
        let digits = name.strip_prefix(prefix)?;
        let plain = digits.bytes().all(|digit| digit.is_ascii_digit()) && !digits.starts_with('0');
        digits.parse::<u8>().ok().filter(|width| plain && (1..=64).contains(width))
    };
    Some(match name {
        "bool" => Type::Bool,
        "Duration" => Type::Duration,
        "Instant" => Type::Instant,
        "Message" => Type::Message,
        "Reason" => Type::Reason,
        "Flow" => Type::Flow(Side::Above),
        "LowerFlow" => Type::Flow(Side::Below),
        _ => return bits("u").map(Type::UInt).or_else(|| bits("seq").map(Type::Seq)),
    })
}
