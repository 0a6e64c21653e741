//! Branches of the source, counted once however often they are rendered.
//!
//! A branch is identified by the statement that it comes from, the kind of its terminator, the terminator's targets,
//! its number among equal ones in one rendering of the statement (the terminator's mark), and its target. So a function
//! that is rendered at each of its calls counts once, as does a handler that is in several stacks, although a stack's
//! constants may remove some of its branches: a branch is taken if any copy was. The label of the terminator's block
//! does not count, since it may be the caller's.
//!
//! Code that a shape supplies around handlers (for opening, finding, accepting and closing sessions) has no statement.
//! It counts once for each shape, class and trigger, however many layers have the shape, and is distinguished by its
//! labels.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use mokume_reaction::{Automaton, Body, ClassId, Fallible, LinkKind, Mark, Operation, Terminator, Trigger, Unit};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Branch {
    /// `file:line:column` of the statement; `(shape).class.trigger label` if it has none.
    pub home: String,
    pub kind: &'static str,
    /// Labels of the targets.
    pub ways: String,
    /// The number among otherwise equal ones in one rendering: usually copies for several neighbours.
    pub copy: usize,
    pub target: usize,
}

/// What is known about a branch besides its identity.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    pub times: u64,
    /// One of the handlers that have it, `Definition.class.trigger`, and the label of the block there.
    pub handler: String,
    pub label: String,
}

/// Branches that cannot be taken, by the label of their block (if it matters), their kind and the number of the target,
/// with the reason. These operations always have such branches; the surrounding code prevents that they are taken.
const IMPOSSIBLE: &[(&str, &str, usize, &str)] = &[
    ("made", "insert", 1, "the map has a place for every object of its class, and the object was just made"),
    ("", "takeout", 1, "the layer counts what it keeps, and looks only where something is"),
    ("", "shareheld", 1, "the layer counts what it keeps, and looks only where something is"),
    ("", "remove", 1, "a session or keyed object is in its map from its making to its end"),
    ("", "new 1:1", 1, "a neighbour's session belongs to each, and it has no more of them"),
    ("full", "first", 1, "a map that is full has an oldest object"),
    (
        "round",
        "branch",
        1,
        "a `for` is over by its range before it is by its limit, which is the size of what it walks over",
    ),
    ("", "later", 1, "a reaction puts off one event here, and all that was put off is done before the next input"),
];

impl Branch {
    /// For people.
    pub fn name(&self) -> String {
        let Branch { home, kind, ways, copy, target } = self;
        let to = ways.split(' ').nth(*target).unwrap_or_default();
        format!("{home} {kind}#{copy} of {ways}: {target} -> {to}")
    }

    /// Why it cannot be taken; `None` if it can.
    pub fn impossible(&self, label: &str) -> Option<&'static str> {
        let here = |wanted: &str| wanted.is_empty() || wanted == label;
        let known = IMPOSSIBLE
            .iter()
            .find(|(label, kind, target, _)| here(label) && *kind == self.kind && *target == self.target);
        known.map(|(.., why)| *why)
    }
}

/// How often each branch was taken, over all stacks.
pub type Merged = BTreeMap<Branch, Taken>;

/// The branches of a stack, none of them taken.
pub fn of(automaton: &Automaton) -> Merged {
    let mut merged = Merged::new();
    let places = Unit::code(automaton).flat_map(|unit| {
        let blocks = unit.body(automaton).blocks.iter().enumerate();
        blocks.flat_map(move |(block, body)| {
            (0..body.terminator.targets().len()).map(move |target| (unit, block, target, 0))
        })
    });
    let places: Vec<_> = places.collect();
    merge(&mut merged, automaton, &places);
    merged
}

pub fn merge(merged: &mut Merged, automaton: &Automaton, coverage: &[(Unit, usize, usize, u64)]) {
    let names: HashMap<Unit, [String; 2]> =
        Unit::code(automaton).map(|unit| (unit, unit_names(automaton, unit))).collect();
    let home = |unit: Unit, terminator: (Mark, &'static str), label: &str| {
        place(automaton, unit, terminator).unwrap_or_else(|| format!("{} {label}", names[&unit][1]))
    };
    let alike = alike(automaton, home);
    for (unit, block, target, times) in coverage {
        let body = unit.body(automaton);
        let at = &body.blocks[*block];
        let Some(mark) = at.mark.filter(|_| at.terminator.targets().len() > 1) else { continue };
        let (kind, ways) = (kind(automaton, &at.terminator), ways(body, &at.terminator));
        let home = home(*unit, (mark, kind), &at.label);
        let copy = alike[&(*unit, home.clone(), kind, ways.clone())].range(..mark.nth).count() + 1;
        let branch = Branch { home, kind, ways, copy, target: *target };
        let taken = || Taken { times: 0, handler: names[unit][0].clone(), label: at.label.clone() };
        merged.entry(branch).or_insert_with(taken).times += times;
    }
}

fn ways(body: &Body, terminator: &Terminator) -> String {
    let labels =
        terminator.targets().into_iter().map(|target| body.blocks[target.block.index()].label.replace(' ', "_"));
    labels.collect::<Vec<_>>().join(" ")
}

/// The terminators of one handler or procedure that come from one statement and look alike, by their numbers there.
type Alike = HashMap<(Unit, String, &'static str, String), BTreeSet<u32>>;

fn alike(automaton: &Automaton, home: impl Fn(Unit, (Mark, &'static str), &str) -> String) -> Alike {
    let mut alike = Alike::new();
    for unit in Unit::code(automaton) {
        let body = unit.body(automaton);
        for block in &body.blocks {
            let Some(mark) = block.mark else { continue };
            let kind = kind(automaton, &block.terminator);
            let key = (unit, home(unit, (mark, kind), &block.label), kind, ways(body, &block.terminator));
            alike.entry(key).or_default().insert(mark.nth);
        }
    }
    alike
}

/// The place of a branch in a layer's own code. `None` for code that its shape supplies, whose place is that of the
/// handler or of the whole layer. Decisions by a layer's own headers and wire are the layer's.
fn place(automaton: &Automaton, unit: Unit, (mark, kind): (Mark, &str)) -> Option<String> {
    let supplied = match unit {
        Unit::Handler(id) => {
            let handler = automaton.handler(id);
            [automaton.class(handler.class).source, handler.source].contains(&Some(mark.source))
        }
        // Code that all callers share is a function of the layer.
        Unit::Function(_) | Unit::Path(_) => false,
    };
    let source = &automaton.sources[mark.source.index()];
    // Several folders have a `wire.mok`, so the last part of the path is not enough.
    (!supplied || matches!(kind, "decode" | "validate" | "match"))
        .then(|| format!("{}:{}:{}", source.file, source.line, source.column))
}

/// By the layer's definition, and by its shape.
fn unit_names(automaton: &Automaton, unit: Unit) -> [String; 2] {
    let handler = match unit {
        Unit::Handler(id) => automaton.handler(id),
        Unit::Path(id) => automaton.handler(automaton.paths[id.index()].handler),
        Unit::Function(id) => {
            let name = automaton.functions[id.index()].name.clone();
            return [name.clone(), name];
        }
    };
    let class = automaton.class(handler.class);
    let layer = &automaton.layers[class.layer.index()];
    let of = if layer.of.is_empty() { layer.name.rsplit('.').next().unwrap_or_default() } else { &layer.of };
    let kind = class.name.strip_prefix(&format!("{}.", layer.name)).unwrap_or(&class.name);
    let trigger = match &handler.trigger {
        Trigger::Event(event) => event_name(automaton, event),
        Trigger::Expiry(cell) => format!("expiry {}", automaton.cell(handler.class, *cell).name),
        other => format!("{other:?}").to_lowercase(),
    };
    [format!("{of}.{kind}.{trigger}"), format!("({}).{kind}.{trigger}", layer.shape)]
}

/// The event without its neighbour: a layer has an `open` for each layer above.
fn event_name(automaton: &Automaton, event: &str) -> String {
    let names = automaton.layers.iter().map(|layer| layer.name.replace('.', "_"));
    let from = names.filter_map(|name| event.strip_suffix(&format!("_{name}")).map(str::to_owned));
    from.min_by_key(String::len).unwrap_or_else(|| event.to_owned())
}

/// Whether each object of a class belongs to one object of a neighbour, which has no other.
fn is_one_to_one(automaton: &Automaton, class: ClassId) -> bool {
    let capacity = |class: ClassId| automaton.class(class).capacity;
    automaton.links.iter().filter(|link| link.kind == LinkKind::OneToOne).any(|link| {
        (link.above.0 == class && capacity(link.below.0) <= capacity(class))
            || (link.below.0 == class && capacity(link.above.0) <= capacity(class))
    })
}

fn kind(automaton: &Automaton, terminator: &Terminator) -> &'static str {
    match terminator {
        Terminator::Try { op: Fallible::New { class, .. }, .. } if is_one_to_one(automaton, *class) => "new 1:1",
        Terminator::Return => "return",
        Terminator::Yield { .. } => "yield",
        Terminator::Refuse { .. } => "refuse",
        Terminator::Jump { .. } => "jump",
        Terminator::Branch { .. } => "branch",
        Terminator::Switch { .. } => "switch",
        Terminator::Match { .. } => "match",
        Terminator::Try { op, .. } => op.row().text.split(' ').next().unwrap_or_default(),
    }
}
