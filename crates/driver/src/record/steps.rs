//! The steps of a stack's calls, in names of the program.

use std::collections::BTreeMap;

use mokume_base::{Form, SourceMap};
use mokume_reaction::trace::{At, CellChange, Change, Held, Lives, Step, Trace};
use mokume_reaction::{Automaton, CellKind, ClassId, Handle, SourceId, Trigger, Type};
use mokume_record::steps::{self, Cell, Did, Kind, Life, Lines, Ring, Source};
use mokume_record::text_of;
use mokume_script::Written;

use crate::parts;

/// Names what the layers of a stack did. Cells that the compiler adds (the layers below, look-up tables) are left out,
/// except the flow of a session.
pub(super) fn did(automaton: &Automaton, written: &Written, trace: Trace) -> Did {
    Did {
        rings: trace.steps.iter().filter_map(|one| ring(automaton, one)).collect(),
        steps: trace.steps.into_iter().map(|one| step(automaton, one)).collect(),
        changes: trace.changes.into_iter().filter_map(|one| change((automaton, written), one)).collect(),
    }
}

/// The expired timer of a handler, if it has one.
fn ring(automaton: &Automaton, step: &Step) -> Option<Ring> {
    let (class, Handle { object, generation }) = (automaton.handler(step.handler).class, step.object);
    let Trigger::Expiry(cell) = automaton.handler(step.handler).trigger else { return None };
    let (layer, name) = class_name(automaton, class);
    let timer = automaton.cell(class, cell).name.clone();
    Some(Ring { layer, class: name, object, generation, timer, due: step.due? })
}

fn step(automaton: &Automaton, step: Step) -> steps::Step {
    let handler = automaton.handler(step.handler);
    let on = match &handler.trigger {
        Trigger::Event(name) => name.clone(),
        Trigger::Start => "start".to_string(),
        Trigger::Expiry(cell) => format!("expiry {}", automaton.cell(handler.class, *cell).name),
        Trigger::Settle => "settle".to_string(),
    };
    let layer = automaton.layers[automaton.class(handler.class).layer.index()].name.clone();
    steps::Step { layer, on, ran: lines(automaton, &step.ran) }
}

fn lines(automaton: &Automaton, ran: &[SourceId]) -> Vec<Lines> {
    let mut found: Vec<Lines> = Vec::new();
    for place in ran.iter().filter_map(|source| automaton.sources.get(source.index())) {
        let known = found.iter().position(|lines| lines.file == place.file).unwrap_or_else(|| {
            found.push(Lines { file: place.file.clone(), lines: Vec::new() });
            found.len() - 1
        });
        if !found[known].lines.contains(&place.line) {
            found[known].lines.push(place.line);
        }
    }
    found
}

fn change((automaton, written): (&Automaton, &Written), change: Change) -> Option<steps::Change> {
    let Change { class, object: Handle { object, generation }, life, cells } = change;
    let (layer, name) = class_name(automaton, class);
    let is_told = |one: &CellChange| {
        let cell = automaton.cell(class, one.cell);
        cell.source.is_some() || cell.name.starts_with(FLOW)
    };
    let cells: Vec<Cell> =
        cells.into_iter().filter(is_told).map(|one| cell((automaton, written), class, one)).collect();
    let life = match life {
        Lives::Begins => Life::Begins,
        Lives::GoesOn => Life::GoesOn,
        Lives::Ends => Life::Ends,
    };
    (life != Life::GoesOn || !cells.is_empty()).then_some(steps::Change {
        layer,
        class: name,
        object,
        generation,
        life,
        cells,
    })
}

/// The prefix of the cells with a session's flow.
const FLOW: &str = "flow_";

/// The layer, and the kind of objects in it.
fn class_name(automaton: &Automaton, class: ClassId) -> (String, String) {
    let definition = automaton.class(class);
    let layer = &automaton.layers[definition.layer.index()].name;
    let rest = definition.name.strip_prefix(layer.as_str()).and_then(|rest| rest.strip_prefix('.'));
    (layer.clone(), parts::kind_of(rest.unwrap_or(&definition.name)).to_string())
}

fn cell((automaton, written): (&Automaton, &Written), class: ClassId, change: CellChange) -> Cell {
    let definition = automaton.cell(class, change.cell);
    let forms = written.cell(automaton, class, &definition.name);
    let (kind, types): (Kind, Vec<Type>) = match &definition.kind {
        CellKind::Scalar { ty, .. } => (Kind::Value, vec![*ty]),
        CellKind::Array { ty, .. } => (Kind::Array, vec![*ty]),
        CellKind::Messages { .. } => (Kind::Messages, Vec::new()),
        CellKind::Map { value, .. } => (Kind::Map, value.clone()),
        CellKind::Timer => (Kind::Timer, Vec::new()),
        CellKind::Quota { .. } => (Kind::Quota, Vec::new()),
        CellKind::Counter => (Kind::Counter, Vec::new()),
    };
    let at = match change.at {
        At::Whole => None,
        At::Place(place) => Some(place.to_string()),
        At::Key(key) => {
            let types = match &definition.kind {
                CellKind::Map { key, .. } => &key[..],
                _ => &[],
            };
            let plain = |at: usize, word: u64| words(automaton, types.get(at..).unwrap_or_default(), &[word]);
            Some(match forms {
                Some(forms) => forms.key(&key, &plain),
                None => words(automaton, types, &key),
            })
        }
    };
    let of_flow = definition.name.strip_prefix(FLOW).and_then(|name| form(written, name));
    let form = of_flow.or_else(|| forms.and_then(|forms| forms.value.as_ref()));
    let said = |held: Held| match (form, &held) {
        (Some(form), Held::Word(word)) => form.write(&[*word]),
        (Some(form), Held::Words(words)) if words.len() == 1 => form.write(words),
        (_, Held::Words(all)) if forms.is_some_and(|forms| !forms.values.is_empty()) => {
            let plain = |at: usize, word: u64| words(automaton, types.get(at..).unwrap_or_default(), &[word]);
            forms.map_or_else(String::new, |forms| forms.map_value(all, &plain))
        }
        _ => self::held(automaton, &types, held),
    };
    let (from, to) = [change.from, change.to].map(|held| held.map(said)).into();
    let end = definition.name.strip_prefix(FLOW).and_then(|name| written.ends.get(name));
    let name = match end {
        Some(end) => format!("flow.{end}"),
        None => written.name(automaton, class, &definition.name).to_string(),
    };
    Cell { name, kind, at, from, to }
}

/// The notation of a part of a flow, from the ports of the stack that have it.
fn form<'a>(written: &'a Written, name: &str) -> Option<&'a Form> {
    written.arguments.iter().find_map(|forms| forms.get(name)).filter(|form| form.words() == 1)
}

fn held(automaton: &Automaton, types: &[Type], held: Held) -> String {
    match held {
        Held::Word(word) => words(automaton, types, &[word]),
        Held::Words(all) => words(automaton, types, &all),
        Held::Object(handle) => object(automaton, types.first().copied(), handle),
        Held::Message(octets) => format!("{} octets {}", octets.len(), text_of(&octets)),
        Held::Armed(deadline) => deadline.to_string(),
    }
}

fn object(automaton: &Automaton, ty: Option<Type>, handle: Handle) -> String {
    let class = match ty {
        Some(Type::Ref(class)) if automaton.is_unique(class) => return class_name(automaton, class).0,
        Some(Type::Ref(class)) => class_name(automaton, class),
        _ => return handle.object.to_string(),
    };
    format!("{} {} {}", class.0, class.1, handle.object)
}

fn words(automaton: &Automaton, types: &[Type], words: &[u64]) -> String {
    let written = |(at, word): (usize, &u64)| match types.get(at) {
        Some(Type::Ref(_)) if *word == u64::MAX => "null".to_string(),
        Some(ty @ Type::Ref(_)) => {
            let handle = Handle { object: *word as u32, generation: (*word >> 32) as u32 };
            object(automaton, Some(*ty), handle)
        }
        Some(ty) => mokume_script::scalar(automaton, *ty, *word),
        None => word.to_string(),
    };
    words.iter().enumerate().map(written).collect::<Vec<_>>().join(", ")
}

/// The source files that steps refer to, each when it is first used.
pub(super) struct Files<'a> {
    sources: &'a SourceMap,
    /// Whether it has been given out.
    known: BTreeMap<String, bool>,
}

impl<'a> Files<'a> {
    /// The files of these sources; none has been used yet.
    pub fn new(sources: &'a SourceMap) -> Files<'a> {
        Files { sources, known: BTreeMap::new() }
    }

    /// Notes the files that a call refers to.
    pub fn name(&mut self, did: &Did) {
        for lines in did.steps.iter().flat_map(|step| &step.ran) {
            if !self.known.contains_key(&lines.file) {
                self.known.insert(lines.file.clone(), false);
            }
        }
    }

    /// The files noted since the last time.
    pub fn take(&mut self) -> Vec<Source> {
        let mut found = Vec::new();
        for (name, is_told) in self.known.iter_mut().filter(|(_, is_told)| !**is_told) {
            *is_told = true;
            let file = self.sources.files().find(|(_, file)| file.name == *name);
            found.extend(file.map(|(_, file)| Source { source: name.clone(), text: file.text.clone() }));
        }
        found
    }
}
