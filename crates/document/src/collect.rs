//! Collects the items of files: what each declares, what uses it, and which tests run it.

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::{FileId, Span};
use mokume_driver::compile::Checked;
use mokume_semantics::program::{Definition, Mention, Program, Use};
use mokume_syntax::{SyntaxKind as S, SyntaxNode};

use crate::facts::{self, Piece};
use crate::item::{About, Example, Fact, Item, Kind};
use crate::{pictures, tree};

/// The roles of files.
pub struct Asked<'a> {
    /// Files that are not documented; only their tests are examples.
    pub examples_only: &'a BTreeSet<FileId>,
    /// Generated texts, which are not documented.
    pub hidden: &'a BTreeSet<FileId>,
}

/// All items, by file and place, and the syntax trees of all files.
pub fn items(checked: &Checked, asked: &Asked<'_>) -> (Vec<Item>, BTreeMap<FileId, SyntaxNode>) {
    let files = checked.sources.files().filter(|(file, _)| !asked.hidden.contains(file));
    let trees: BTreeMap<FileId, SyntaxNode> =
        files.map(|(file, source)| (file, mokume_syntax::parse(file, &source.text).syntax())).collect();
    let mut pieces: Vec<(Item, Piece)> = Vec::new();
    for (file, root) in trees.iter().filter(|(file, _)| !asked.examples_only.contains(file)) {
        let before = pieces.len();
        pieces.extend(root.children().filter_map(|node| Some((item(&node, *file)?, (node, *file)))));
        // A file's leading comment documents its first layer, bundle or wire, if that has no comment.
        let first = pieces.get_mut(before..).and_then(|of| of.iter_mut().find(|(item, _)| item.kind <= Kind::Stack));
        if let Some((item, _)) = first.filter(|(item, _)| item.doc.is_empty()) {
            item.doc = tree::front(&checked.sources.file(*file).text);
        }
    }
    let program = &checked.program;
    let tests = Tests::of(program, &trees);
    let all: BTreeMap<Span, Piece> = pieces.iter().map(|(item, piece)| (item.named, piece.clone())).collect();
    let mut items = Vec::new();
    for (mut item, piece) in pieces {
        let mut of = vec![piece];
        let parts = program.layers.iter().find(|layer| layer.name.span == item.named).map(|layer| &layer.parts);
        of.extend(parts.into_iter().flatten().filter_map(|part| all.get(&part.name.span).cloned()));
        item.facts = facts::of(item.kind, &of);
        linked(&mut item, program);
        item.pictures = pictures::of(program, &item);
        item.examples = tests.examples(item.named);
        items.push(item);
    }
    used(&mut items, program);
    (items, trees)
}

fn item(node: &SyntaxNode, file: FileId) -> Option<Item> {
    let kind = match node.kind() {
        S::LAYER => Kind::Layer,
        S::BUNDLE => Kind::Bundle,
        S::WIRE => Kind::Wire,
        S::STACK => Kind::Stack,
        S::NETWORK => Kind::Network,
        S::PART => Kind::Part,
        S::SERVICE => Kind::Service,
        S::SIGNATURE => Kind::Signature,
        S::VOCABULARY => Kind::Vocabulary,
        S::CONTAINER => Kind::Container,
        S::RECORD => Kind::Record,
        S::ENUM => Kind::Enum,
        S::TYPE_ALIAS => Kind::Type,
        S::CONST => Kind::Const,
        S::ATTRIBUTE => Kind::Attribute,
        S::FUNCTION => Kind::Function,
        S::SUITE => Kind::Suite,
        _ => return None,
    };
    let name = tree::name(node)?;
    Some(Item {
        kind,
        word: tree::word(node),
        name: tree::text(&name),
        named: tree::place(&name, file),
        whole: tree::place(node, file),
        doc: mokume_syntax::ast::doc_of(node),
        head: tree::head(node),
        parameters: facts::parameters(node, file),
        pictures: Vec::new(),
        facts: Vec::new(),
        examples: Vec::new(),
    })
}

/// The mentions within a place, from the compiler's table.
pub fn mentions_in(program: &Program, place: Span) -> &[Mention] {
    let all = &program.mentions;
    let key = |mention: &Mention| (mention.at.file, mention.at.start);
    let from = all.partition_point(|mention| key(mention) < (place.file, place.start));
    let to = all.partition_point(|mention| key(mention) < (place.file, place.end));
    &all[from..to.max(from)]
}

/// Links facts to the declarations of what they name: to that of the first resolved name in the fact's text.
fn linked(item: &mut Item, program: &Program) {
    let abouts =
        [About::Layers, About::Hosts, About::EncodedBy, About::Uses, About::Serves, About::Speaks, About::Needs];
    let abouts = [&abouts[..], &[About::Gives, About::Attributes, About::Parts]].concat();
    for (about, facts) in item.facts.iter_mut().filter(|(about, _)| abouts.contains(about)) {
        for fact in facts {
            let mut mentions = mentions_in(program, fact.at).iter().filter(|mention| mention.at != mention.of);
            fact.of = match about {
                // `ports = Ports over ip`: the fact links to the layer's definition, not to the name in the stack.
                About::Layers | About::Hosts => {
                    mentions.map(|mention| mention.of).find(|of| is_definition(program, *of))
                }
                _ => mentions.next().map(|mention| mention.of),
            };
        }
    }
}

/// Whether a layer, bundle or stack is declared there.
fn is_definition(program: &Program, at: Span) -> bool {
    program.layers.iter().any(|layer| layer.name.span == at)
        || program.bundles.iter().any(|bundle| bundle.name.span == at)
        || program.stacks.iter().any(|stack| stack.name.span == at)
}

/// Adds to each item the items that use it.
fn used(items: &mut [Item], program: &Program) {
    let users: Vec<(Span, Span, String, Kind)> =
        items.iter().map(|item| (item.whole, item.named, item.name.clone(), item.kind)).collect();
    let mut by: BTreeMap<Span, BTreeMap<(Kind, String), Span>> = BTreeMap::new();
    for (whole, named, name, kind) in &users {
        for mention in mentions_in(program, *whole).iter().filter(|mention| mention.of != *named) {
            by.entry(mention.of).or_default().insert((*kind, name.clone()), *named);
        }
    }
    for item in items {
        let Some(by) = by.remove(&item.named) else { continue };
        let fact = |((kind, name), at): ((Kind, String), Span)| {
            let says = format!("{} {name}", kind.word());
            Fact { name, says, doc: String::new(), at, of: Some(at) }
        };
        item.facts.push((About::UsedBy, by.into_iter().map(fact).collect()));
    }
}

/// Tests by the parts of their stacks.
struct Tests {
    /// By the place of a definition, for each test: the number of its stack's layers, the length of its text, and the
    /// test.
    by: BTreeMap<Span, BTreeSet<(usize, u32, Span)>>,
    names: BTreeMap<Span, String>,
}

impl Tests {
    fn of(program: &Program, trees: &BTreeMap<FileId, SyntaxNode>) -> Tests {
        let mut places: BTreeMap<(FileId, u32), (Span, String)> = BTreeMap::new();
        for (file, root) in trees {
            for node in root.descendants().filter(|node| node.kind() == S::TEST) {
                let at = tree::place(&node, *file);
                let name = tree::tokens(&node).find(|token| token.kind() == S::STRING);
                let name = name.map_or(String::new(), |token| token.text().trim_matches('"').to_string());
                places.insert((*file, at.start), (at, name));
            }
        }
        let made: Vec<BTreeSet<Span>> = (0..program.stacks.len()).map(|stack| made_of(program, stack)).collect();
        let (mut by, mut names) = (BTreeMap::<Span, BTreeSet<(usize, u32, Span)>>::new(), BTreeMap::new());
        for test in &program.tests {
            let Some((at, name)) = places.get(&(test.span.file, test.span.start)) else { continue };
            let Some(made) = made.get(test.stack.index()) else { continue };
            names.insert(*at, name.clone());
            for of in made {
                by.entry(*of).or_default().insert((made.len(), at.end - at.start, *at));
            }
        }
        Tests { by, names }
    }

    fn examples(&self, named: Span) -> Vec<Example> {
        let all = self.by.get(&named).into_iter().flatten();
        let mut seen = BTreeSet::new();
        let all = all.filter(|(_, _, at)| seen.insert(*at));
        all.map(|(_, _, at)| Example { name: self.names.get(at).cloned().unwrap_or_default(), at: *at }).collect()
    }
}

/// The declarations of all that a stack consists of: itself, bundles, layers, wires.
fn made_of(program: &Program, stack: usize) -> BTreeSet<Span> {
    fn add(program: &Program, of: &Use, depth: usize, into: &mut BTreeSet<Span>) {
        match of.of {
            Definition::Layer(id) => into.extend(program.layers.get(id.index()).map(|layer| layer.name.span)),
            Definition::Bundle(id) => {
                let Some(bundle) = program.bundles.get(id.index()).filter(|_| depth > 0) else { return };
                into.insert(bundle.name.span);
                into.extend(bundle.wire.and_then(|wire| program.wires.get(wire.index())).map(|wire| wire.name.span));
                bundle.parts.iter().for_each(|part| add(program, part, depth - 1, into));
            }
        }
    }
    let mut into = BTreeSet::new();
    let Some(stack) = program.stacks.get(stack) else { return into };
    into.insert(stack.name.span);
    let depth = mokume_semantics::limits::BUNDLE_DEPTH as usize + 1;
    stack.instances.iter().for_each(|instance| add(program, &instance.of, depth, &mut into));
    into
}
