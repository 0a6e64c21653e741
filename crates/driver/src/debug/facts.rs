//! What is known of a run in advance: hosts, texts, and possible places of points.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mokume_base::{FileId, SourceMap};
use mokume_interpret::{Moment, What};
use mokume_reaction::{Automaton, Handler, HandlerId, Source, SourceId, Trigger};
use mokume_script::Written;
use mokume_syntax::{SyntaxKind, SyntaxNode};

use crate::compile::Compiled;

/// The name of a message's size in conditions.
pub(super) const SIZE: &str = "size";

/// What is known of a target before it runs.
pub struct Facts {
    pub name: String,
    /// The file that contains the network or the test.
    pub file: String,
    pub hosts: Vec<HostFacts>,
    /// For each file with code that runs: its text, and the lines with code.
    pub texts: BTreeMap<String, String>,
    pub lines: BTreeMap<String, BTreeSet<u32>>,
    /// Handlers and functions of each file, in order.
    pub(super) codes: BTreeMap<String, Vec<Code>>,
    /// Qualified names: `app.Counts.send`.
    pub events: BTreeSet<String>,
    pub reasons: BTreeSet<String>,
    /// All unqualified names: locals, variables of layers, fields of headers.
    pub(super) names: BTreeSet<String>,
}

/// A host, and the notations of its values.
pub struct HostFacts {
    pub name: String,
    pub written: Arc<Written>,
}

/// A handler or a function in its file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Code {
    /// Start, as line and column from 1; the end is exclusive.
    from: (u32, u32),
    to: (u32, u32),
    /// `fn ahead`, `on send`.
    pub name: String,
}

/// The texts of a handler of the automaton.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Texts {
    /// There is one text for each alternative of a header: the beginning is attributed to the first, but may belong to
    /// any.
    pub are_several: bool,
    /// It consists of more than its head.
    pub has_statements: bool,
}

impl Facts {
    /// The facts of a target with this name that runs on these hosts.
    pub(super) fn new((name, file): (String, String), hosts: Vec<(String, &Compiled)>, sources: &SourceMap) -> Facts {
        let mut facts = Facts {
            name,
            file,
            hosts: Vec::new(),
            texts: BTreeMap::new(),
            lines: BTreeMap::new(),
            codes: BTreeMap::new(),
            events: BTreeSet::new(),
            reasons: BTreeSet::new(),
            names: BTreeSet::from([SIZE.to_string()]),
        };
        for (name, compiled) in hosts {
            facts.hosts.push(HostFacts { name, written: compiled.written.clone() });
            facts.learn(&compiled.uncomposed);
        }
        for (id, file) in sources.files().filter(|(_, file)| facts.lines.contains_key(&file.name)) {
            facts.texts.insert(file.name.clone(), file.text.clone());
            facts.codes.insert(file.name.clone(), codes(sources, id));
        }
        facts
    }
}

fn codes(sources: &SourceMap, id: FileId) -> Vec<Code> {
    let root = mokume_syntax::parse(id, &sources.file(id).text).syntax();
    root.descendants().filter_map(|node| code(&node, &|at| sources.line_column(id, at))).collect()
}

fn code(node: &SyntaxNode, place: &dyn Fn(u32) -> (u32, u32)) -> Option<Code> {
    let word = match node.kind() {
        SyntaxKind::FUNCTION => "fn",
        SyntaxKind::HANDLER => "on",
        _ => return None,
    };
    let text = node.text().to_string();
    let head = text.lines().map(str::trim).find(|line| line.starts_with(word))?;
    let name = head.split(['(', '{']).next().unwrap_or(head).trim().to_string();
    let (from, to) = (place(node.text_range().start().into()), place(node.text_range().end().into()));
    Some(Code { from, to, name })
}

impl Facts {
    /// The innermost handler or function that contains a place.
    pub(super) fn code(&self, source: &Source) -> Option<&Code> {
        let at = (source.line, source.column);
        self.codes.get(&source.file)?.iter().rev().find(|code| code.from <= at && at < code.to)
    }

    /// The texts of a handler of a running automaton.
    pub(super) fn texts_of(&self, automaton: &Automaton, handler: HandlerId) -> Texts {
        let handler = &automaton.handlers[handler.index()];
        let blocks = handler.body.blocks.iter();
        let sources = blocks
            .flat_map(|block| block.ops.iter().filter_map(|op| op.source).chain(block.mark.map(|mark| mark.source)));
        let behind: BTreeSet<SourceId> = sources.filter(|source| Some(*source) != handler.source).collect();
        let places = behind.iter().chain(&handler.source).filter_map(|source| automaton.sources.get(source.index()));
        let heads: BTreeSet<(&str, (u32, u32))> = places
            .filter_map(|place| Some((place.file.as_str(), self.code(place)?)))
            .filter(|(_, code)| code.name.starts_with("on "))
            .map(|(file, code)| (file, code.from))
            .collect();
        Texts { are_several: heads.len() > 1, has_statements: !behind.is_empty() }
    }

    fn learn(&mut self, automaton: &Automaton) {
        let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_string();
        let fields = automaton.headers.iter().flat_map(|header| &header.variants).flat_map(|variant| &variant.fields);
        self.names.extend(fields.map(|(name, _)| name.clone()));
        let cells = automaton.classes.iter().flat_map(|class| &class.cells);
        self.names.extend(cells.map(|cell| last(&cell.name)));
        self.names.extend(automaton.attributes.iter().map(|attribute| last(&attribute.name)));
        for (_, body) in automaton.code() {
            self.names.extend(body.values.iter().filter(|value| !value.name.is_empty()).map(|value| last(&value.name)));
            for block in &body.blocks {
                let sources = block.ops.iter().filter_map(|op| op.source).chain(block.mark.map(|mark| mark.source));
                for source in sources.filter_map(|source| automaton.sources.get(source.index())) {
                    self.lines.entry(source.file.clone()).or_default().insert(source.line);
                }
            }
        }
        for handler in &automaton.handlers {
            let layer = &automaton.layers[automaton.class(handler.class).layer.index()];
            let event = event_of(automaton, handler);
            self.events.insert(format!("{}.{event}", layer.name));
            self.events.insert(format!("{}.{event}", layer.of));
        }
        for port in &automaton.ports {
            self.events.extend(port.inputs.iter().map(|input| format!("{}.{}", port.name, input.event)));
        }
        self.reasons.extend(automaton.reasons.iter().map(|reason| reason.name.clone()));
    }
}

/// `send`, `expiry wait`.
pub(crate) fn event_of(automaton: &Automaton, handler: &Handler) -> String {
    match &handler.trigger {
        Trigger::Event(event) => event.clone(),
        Trigger::Start => "start".to_string(),
        Trigger::Settle => "settle".to_string(),
        Trigger::Expiry(cell) => format!("expiry {}", automaton.class(handler.class).cells[cell.index()].name),
    }
}

/// Whether a moment is in the head of a handler, before its first statement: it reads the header.
pub(super) fn is_head(moment: &Moment<'_>) -> bool {
    let of = moment.automaton().handlers[moment.handler.index()].source;
    matches!(moment.what, What::Statement(source) if Some(source) == of)
}
