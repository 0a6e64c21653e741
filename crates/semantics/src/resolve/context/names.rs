//! The names at the top of files: what each stands for, and which file sees it.

use std::collections::{BTreeSet, HashMap};

use mokume_base::{Diagnostic, FileId, Span};

use crate::codes;
use crate::load::Loaded;
use crate::program::*;

/// What a name at the top of a file stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// By its place among [`super::Context::consts`].
    Const(usize),
    /// By its place among [`super::Context::aliases`].
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
    /// By its place among the trees.
    Container(usize),
}

impl Item {
    /// What to call it in a message.
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
        }
    }
}

#[derive(Clone, Copy)]
struct Known {
    item: Item,
    span: Span,
}

/// All items by their names.
pub struct Names {
    known: HashMap<String, Vec<Known>>,
    visible: HashMap<FileId, BTreeSet<FileId>>,
}

impl Names {
    /// No names yet, of files whose `use` is known.
    pub fn new(loaded: &Loaded) -> Names {
        let visible = loaded.files.iter().map(|(file, _)| (*file, loaded.visible(*file))).collect();
        Names { known: HashMap::new(), visible }
    }

    /// Takes an item in; a report if its file has the name already.
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

    /// What a name means in a file: its own item first, then those of the files it uses.
    pub fn find(&self, file: FileId, name: &str) -> Option<Item> {
        let known = self.known.get(name)?;
        let own = known.iter().find(|known| known.span.file == file);
        let used = || known.iter().find(|known| self.sees(file, known.span.file));
        own.or_else(used).map(|known| known.item)
    }

    fn sees(&self, file: FileId, other: FileId) -> bool {
        self.visible.get(&file).is_some_and(|visible| visible.contains(&other))
    }

    /// The names that a file sees and `wanted` accepts, in order.
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

    /// Whether only a file that this one does not see has such an item.
    pub fn is_elsewhere(&self, file: FileId, name: &str, wanted: impl Fn(Item) -> bool) -> bool {
        let known = self.known.get(name).map_or(&[][..], Vec::as_slice);
        known.iter().any(|known| wanted(known.item) && !self.sees(file, known.span.file))
    }
}
