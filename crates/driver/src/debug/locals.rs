//! The notations of locals, from the types in the source: what a head or a `let` declares, and what values have that are bound.
//!
//! The automaton has the widths of values only. A number without a notation of its own takes that of the field, the state or
//! the local that it comes from.

use std::collections::BTreeMap;

use mokume_base::{Form, Notation, SourceMap};
use mokume_semantics::program::{
    Binary, Event, Expr, ExprKind, Field, Function, Handler, Layer, Local, LocalId, Program, StateRef, Stmt, StmtKind,
    Type,
};
use mokume_semantics::visit::{self, Met};

use crate::parts;

/// A local, and where it is bound: line and column, from 1.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub at: (u32, u32),
    pub name: String,
    /// Its notation; of a bounded vector, that of its elements.
    pub form: Option<Form>,
    pub is_vector: bool,
    /// The local of which it is only another name: the automaton has the value by that name alone.
    pub alias_of: Option<String>,
    /// Set for the counter of a loop: up to here the automaton has its value by the name of all counters.
    pub until: Option<(u32, u32)>,
    /// The header's field that a head gives this name to, `offset: at`: the automaton has the value by the field's name.
    pub field: Option<String>,
    /// Of a record or a flow, its parts: their names in the automaton and in the source.
    pub parts: Vec<(String, String)>,
}

/// What a reading finds out about a local: its notation, [`Bound::alias_of`] and [`Bound::field`].
type Known = (Option<Notation>, Option<String>, Option<String>);

/// The name of locals that have none in the source: what `let v = m[k] or { 0 }` makes before `v` is bound.
pub(super) const UNNAMED: &str = "it";

/// The name of the counters of all loops in the automaton.
pub(super) const COUNTER: &str = "at";

/// The locals of a program, by file, in the order of the text.
pub(super) fn of(program: &Program, sources: &SourceMap) -> BTreeMap<String, Vec<Bound>> {
    let mut all: BTreeMap<String, Vec<Bound>> = BTreeMap::new();
    let names = Names::of(program);
    let counted = counters(program, sources);
    let mut add = |local: &Local, (written, alias_of, field): Known| {
        let vector = program.vector(local.ty);
        let ty = vector.map_or(local.ty, |vector| vector.element);
        let form = program.form(ty, written).filter(|form| form.words() == 1);
        let span = local.name.span;
        let bound = Bound {
            at: sources.line_column(span.file, span.start),
            name: local.name.text.clone(),
            form,
            is_vector: vector.is_some(),
            until: counted.get(&(span.file.0, span.start)).copied(),
            alias_of,
            field,
            parts: parts::of(program, &local.name.text, local.ty),
        };
        all.entry(sources.file(span.file).name.clone()).or_default().push(bound);
    };
    for layer in &program.layers {
        for handler in &layer.handlers {
            let mut reading = Reading::new(program, Some(layer), &names, &handler.locals);
            reading.head(&handler.event);
            reading.body(&handler.body);
            let aliases = aliases(&handler.locals, &handler.body);
            let fields = renamed(layer, handler);
            let known = reading.known.into_iter().zip(aliases).zip(fields);
            let known = known.map(|((written, alias_of), field)| (written, alias_of, field));
            handler.locals.iter().zip(known).for_each(|(local, known)| add(local, known));
        }
    }
    let of_layers =
        program.layers.iter().flat_map(|layer| layer.functions.iter().map(move |known| (Some(layer), known)));
    for (layer, function) in of_layers.chain(program.functions.iter().map(|known| (None, known))) {
        let mut reading = Reading::new(program, layer, &names, &function.locals);
        reading.function(function);
        let aliases = aliases(&function.locals, &function.body);
        let known = reading.known.into_iter().zip(aliases).map(|(written, alias_of)| (written, alias_of, None));
        function.locals.iter().zip(known).for_each(|(local, known)| add(local, known));
    }
    all.values_mut().for_each(|all| {
        all.sort_by(|one, other| (one.at, &one.name).cmp(&(other.at, &other.name)));
        // Layers are copied for the functions that they are given.
        // What `let v = m[k] or { 0 }` finds has the same name at the same place, too.
        all.dedup_by(|one, other| {
            let is_same = (one.at, &one.name) == (other.at, &other.name);
            if is_same {
                other.form = other.form.take().or(one.form.take());
                other.alias_of = other.alias_of.take().or(one.alias_of.take());
                other.field = other.field.take().or(one.field.take());
            }
            is_same
        });
    });
    all
}

/// For each local the header's field to which the head of a handler gives this other name.
fn renamed(layer: &Layer, handler: &Handler) -> Vec<Option<String>> {
    let mut found = vec![None; handler.locals.len()];
    if let Event::Deliver { variant, fields, .. } | Event::Arrives { variant, fields, .. } = &handler.event {
        let variants = layer.header.as_ref().map_or(&[][..], |header| &header.variants);
        let of = variants.get(variant.unwrap_or(0) as usize);
        for (field, local) in fields {
            let name = of.and_then(|of| of.fields.get(*field as usize)).map(|field| &field.name.text);
            let is_other = |name: &&String| **name != handler.locals[local.index()].name.text;
            found[local.index()] = name.filter(is_other).cloned();
        }
    }
    found
}

/// For each local the name of the one that it stands for, `let from = to`, if neither is assigned another value.
fn aliases(locals: &[Local], body: &[Stmt]) -> Vec<Option<String>> {
    let mut found: Vec<Option<LocalId>> = vec![None; locals.len()];
    let (mut is_assigned, mut is_counter) = (vec![false; locals.len()], vec![false; locals.len()]);
    visit::walk(body, &mut |met| match met {
        Met::Stmt(Stmt { kind: StmtKind::Let { local, value }, .. }) => {
            if let (ExprKind::Local(of), Some(place)) = (&value.kind, found.get_mut(local.index())) {
                *place = Some(*of);
            }
        }
        Met::Stmt(Stmt { kind: StmtKind::AssignLocal { local, .. }, .. }) => is_assigned[local.index()] = true,
        Met::Stmt(Stmt { kind: StmtKind::For { local, .. } | StmtKind::ForObjects { local, .. }, .. }) => {
            is_counter[local.index()] = true;
        }
        Met::Stmt(_) | Met::Expr(_) | Met::State(_) => {}
    });
    let alias = |(at, of): (usize, Option<LocalId>)| {
        if is_counter[at] && locals[at].name.text != UNNAMED {
            return Some(COUNTER.to_string());
        }
        let name = &locals.get(of?.index())?.name.text;
        let is_steady = !is_assigned[at] && (name == UNNAMED || !is_assigned[of?.index()]);
        is_steady.then(|| name.clone())
    };
    found.into_iter().enumerate().map(alias).collect()
}

/// For the place of each loop's counter, the place up to which it is known: the loop's end, or a loop within it.
fn counters(program: &Program, sources: &SourceMap) -> BTreeMap<(u32, u32), (u32, u32)> {
    let mut found = BTreeMap::new();
    for (locals, body) in program.code() {
        visit::walk(body, &mut |met| {
            let Met::Stmt(Stmt { kind, span }) = met else { return };
            let (StmtKind::For { local, body, .. } | StmtKind::ForObjects { local, body, .. }) = kind else { return };
            let mut until = span.end;
            visit::walk(body, &mut |met| {
                if let Met::Stmt(Stmt { kind, span }) = met {
                    use StmtKind as K;
                    if matches!(kind, K::For { .. } | K::ForObjects { .. } | K::While { .. }) {
                        until = until.min(span.start);
                    }
                }
            });
            let name = locals[local.index()].name.span;
            found.insert((name.file.0, name.start), sources.line_column(span.file, until));
        });
    }
    found
}

/// Notations of what is named across layers: parts of flows, and what layers publish. `None` if two differ.
struct Names<'p> {
    parts: BTreeMap<&'p str, Option<Notation>>,
    published: BTreeMap<&'p str, Option<Notation>>,
}

impl<'p> Names<'p> {
    fn of(program: &'p Program) -> Names<'p> {
        let mut names = Names { parts: BTreeMap::new(), published: BTreeMap::new() };
        let note = |map: &mut BTreeMap<&'p str, Option<Notation>>, name: &'p str, written: Option<Notation>| {
            let known = map.entry(name).or_insert(written);
            *known = known.filter(|known| Some(*known) == written);
        };
        for layer in &program.layers {
            let keys = layer.key.iter().flat_map(|key| &key.fields);
            keys.chain(&layer.address).for_each(|part| note(&mut names.parts, &part.name.text, part.written));
            layer.publishes.iter().for_each(|one| note(&mut names.published, &one.name.text, one.written));
        }
        names
    }
}

/// A body that is read: what is known of its locals so far.
struct Reading<'p> {
    program: &'p Program,
    layer: Option<&'p Layer>,
    names: &'p Names<'p>,
    known: Vec<Option<Notation>>,
    /// How many functions are read inside each other.
    depth: usize,
}

/// So many functions that return what others return are followed.
const DEEPEST: usize = 8;

impl<'p> Reading<'p> {
    fn new(program: &'p Program, layer: Option<&'p Layer>, names: &'p Names<'p>, locals: &[Local]) -> Self {
        let known = locals.iter().map(|local| local.written).collect();
        Reading { program, layer, names, known, depth: 0 }
    }

    fn learn(&mut self, local: LocalId, written: Option<Notation>) {
        if let Some(known) = self.known.get_mut(local.index()) {
            *known = known.or(written);
        }
    }

    fn learn_all<'f>(&mut self, locals: &[LocalId], fields: impl IntoIterator<Item = &'f Field>) {
        locals.iter().zip(fields).for_each(|(local, field)| self.learn(*local, field.written));
    }

    /// The parameters of an event.
    fn head(&mut self, event: &Event) {
        let (program, layer) = (self.program, self.layer);
        match event {
            Event::Deliver { variant, fields, .. } | Event::Arrives { variant, fields, .. } => {
                let variants = layer.and_then(|layer| layer.header.as_ref()).map_or(&[][..], |header| &header.variants);
                let Some(variant) = variants.get(variant.unwrap_or(0) as usize) else { return };
                for (field, local) in fields {
                    self.learn(*local, variant.fields.get(*field as usize).and_then(|field| field.written));
                }
            }
            Event::Service { service, operation, params, .. } => {
                let service = program.services.get(service.index());
                let operation = service.and_then(|service| service.operations.get(*operation as usize));
                self.learn_all(params, operation.into_iter().flat_map(|operation| &operation.params));
            }
            Event::Custom { name, params, .. } => {
                let spoken = layer.into_iter().flat_map(|layer| &layer.speaks);
                let spoken =
                    spoken.filter_map(|(id, _)| program.vocabularies.get(id.index())?.event(&name.text)).next();
                self.learn_all(params, spoken.into_iter().flat_map(|event| &event.params));
            }
            _ => {}
        }
    }

    fn function(&mut self, function: &'p Function) {
        function.params.iter().for_each(|param| self.learn(param.local, param.written));
        self.body(&function.body);
    }

    fn body(&mut self, block: &'p [Stmt]) {
        visit::walk(block, &mut |met| match met {
            Met::Stmt(stmt) => self.stmt(stmt),
            Met::Expr(Expr { kind: ExprKind::Let { local, value, .. }, .. }) => {
                let written = self.value(value);
                self.learn(*local, written);
            }
            Met::Expr(_) | Met::State(_) => {}
        });
    }

    fn stmt(&mut self, stmt: &'p Stmt) {
        match &stmt.kind {
            StmtKind::Let { local, value } | StmtKind::AssignLocal { local, value } => {
                let written = self.value(value);
                self.learn(*local, written);
            }
            StmtKind::IfDone { call, local: Some(local), .. } => {
                let written = self.value(call);
                self.learn(*local, written);
            }
            StmtKind::IfFound { map, locals, .. } => {
                let written = self.state(map);
                // A map's notation is that of its only value.
                if let [local] = locals[..] {
                    self.learn(local, written);
                }
            }
            _ => {}
        }
    }

    fn state(&self, state: &StateRef) -> Option<Notation> {
        self.layer?.members(state.scope)?.get(state.member as usize)?.written.value
    }

    /// The notation that a value has by where it comes from.
    fn value(&mut self, value: &'p Expr) -> Option<Notation> {
        match &value.kind {
            ExprKind::Local(local) => *self.known.get(local.index())?,
            ExprKind::Param(at) => self.layer?.params.get(*at as usize)?.written,
            ExprKind::RecordField { record, field } => {
                let Type::Record(id) = record.ty else { return None };
                self.program.records.get(id.index())?.fields.get(*field as usize)?.written
            }
            ExprKind::Pick { vector, .. } | ExprKind::Edited { vector, .. } => self.value(vector),
            ExprKind::If { then, otherwise, .. } => self.value(then).or_else(|| self.value(otherwise)),
            ExprKind::Let { local, value, body } => {
                let written = self.value(value);
                self.learn(*local, written);
                self.value(body)
            }
            ExprKind::Not(a) => self.value(a),
            ExprKind::Cast { a, .. } if a.ty == value.ty => self.value(a),
            ExprKind::Binary { op, a, b } => match op {
                Binary::BitAnd | Binary::BitOr | Binary::BitXor | Binary::Min | Binary::Max => {
                    self.value(a).or_else(|| self.value(b))
                }
                // What is a number further is of its kind; the distance of two is a number.
                Binary::Add | Binary::AddWrap | Binary::Sub | Binary::SubWrap => {
                    self.value(a).filter(|_| self.value(b).is_none())
                }
                _ => None,
            },
            ExprKind::State(state) | ExprKind::Element { array: state, .. } => self.state(state),
            ExprKind::Below { name, .. } => *self.names.published.get(name.text.as_str())?,
            ExprKind::FlowPart { field, .. } => *self.names.parts.get(field.text.as_str())?,
            ExprKind::Attribute { attribute, .. } => self.program.attributes.get(attribute.index())?.written,
            ExprKind::Call { function, .. } => self.result(self.program.functions.get(function.index())?),
            ExprKind::CallOwn { function, .. } | ExprKind::CallOn { function, .. } => {
                self.result(self.layer?.functions.get(*function as usize)?)
            }
            _ => None,
        }
    }

    /// That of the first value that a function returns.
    fn result(&self, function: &'p Function) -> Option<Notation> {
        if self.depth == DEEPEST {
            return None;
        }
        let mut inner = Reading::new(self.program, self.layer, self.names, &function.locals);
        inner.depth = self.depth + 1;
        inner.function(function);
        let mut found = None;
        visit::walk(&function.body, &mut |met| {
            if let Met::Stmt(Stmt { kind: StmtKind::Return { value: Some(value) }, .. }) = met {
                found = found.or_else(|| inner.value(value));
            }
        });
        found
    }
}
