//! The notations of locals, from the types in the source: what a head or a `let` declares, and what values have that are bound.
//!
//! The automaton has the widths of values only. A number without a notation of its own takes that of the field, the state or
//! the local that it comes from.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use mokume_base::{FileId, Notation, SourceMap, Span};
use mokume_script::Shape;
use mokume_semantics::program::{
    self, Binary, Event, Expr, ExprKind, Field, Function, Layer, LocalId, Program, StateRef, Stmt, StmtKind, Type,
};
use mokume_semantics::visit::{self, Met};
use mokume_syntax::ast::{self, AstNode};
use mokume_syntax::SyntaxKind;

use crate::shapes;

/// A local of the source.
#[derive(Clone, Debug)]
pub(super) struct Local {
    pub name: String,
    /// The file that declares it.
    pub file: String,
    /// Where it is declared: line and column, from 1.
    pub at: (u32, u32),
    /// Where it is known: the start and the end of the block around it.
    pub known: Range<(u32, u32)>,
    pub shape: Shape,
}

/// The locals of a program, by their numbers.
pub(super) fn of(program: &Program, sources: &SourceMap) -> BTreeMap<u32, Local> {
    let names = Names::of(program);
    let mut all =
        All { program, sources, typed: typed(program, sources), blocks: BTreeMap::new(), found: BTreeMap::new() };
    for layer in &program.layers {
        for handler in &layer.handlers {
            let mut reading = Reading::new(program, Some(layer), &names, &handler.locals);
            reading.head(&handler.event);
            reading.body(&handler.body);
            all.add(&handler.locals, &reading.known);
        }
    }
    let of_layers =
        program.layers.iter().flat_map(|layer| layer.functions.iter().map(move |known| (Some(layer), known)));
    for (layer, function) in of_layers.chain(program.functions.iter().map(|known| (None, known))) {
        let mut reading = Reading::new(program, layer, &names, &function.locals);
        reading.function(function);
        all.add(&function.locals, &reading.known);
    }
    all.found
}

struct All<'p> {
    program: &'p Program,
    sources: &'p SourceMap,
    /// The names that a `let` binds with a type of their own.
    typed: BTreeSet<Span>,
    /// What may bind a name or bound its use, by file.
    blocks: BTreeMap<u32, Vec<Range<u32>>>,
    found: BTreeMap<u32, Local>,
}

impl All<'_> {
    fn add(&mut self, locals: &[program::Local], known: &[Option<Notation>]) {
        for (local, written) in locals.iter().zip(known).filter(|(local, _)| !local.is_hidden) {
            let span = local.name.span;
            let blocks = self.blocks.entry(span.file.0).or_insert_with(|| blocks(self.sources, span.file));
            let around = blocks.iter().filter(|block| block.start <= span.start && span.end <= block.end);
            let around = around.min_by_key(|block| block.end - block.start).cloned().unwrap_or(span.start..u32::MAX);
            let place = |at| self.sources.line_column(span.file, at);
            let length = self.sources.file(span.file).text.len() as u32;
            // A declared type says how it is written, whatever it gets.
            let written = if self.typed.contains(&span) { local.written } else { *written };
            let shape = shapes::of(self.program, local.ty, written);
            let known = place(around.start)..place(around.end.min(length));
            let (name, at) = (local.name.text.clone(), place(span.start));
            let file = self.sources.file(span.file).name.clone();
            self.found.insert(local.number, Local { name, file, at, known, shape });
        }
    }
}

/// The names that a `let` binds with a type of their own, in all files with code.
fn typed(program: &Program, sources: &SourceMap) -> BTreeSet<Span> {
    let handlers = program.layers.iter().flat_map(|layer| &layer.handlers).map(|handler| handler.span.file);
    let functions = program.layers.iter().flat_map(|layer| &layer.functions).chain(&program.functions);
    let files: BTreeSet<FileId> = handlers.chain(functions.map(|known| known.name.span.file)).collect();
    let mut typed = BTreeSet::new();
    for file in files {
        let root = mokume_syntax::parse(file, &sources.file(file).text).syntax();
        let lets = root.descendants().filter_map(ast::LetStmt::cast).filter(|stmt| stmt.ty().is_some());
        typed.extend(
            lets.filter_map(|stmt| stmt.pattern()).flat_map(|pattern| pattern.names()).map(|name| name.span(file)),
        );
    }
    typed
}

/// The pieces of a file at whose end names are forgotten that are bound in them.
fn blocks(sources: &SourceMap, file: FileId) -> Vec<Range<u32>> {
    use SyntaxKind as S;
    let root = mokume_syntax::parse(file, &sources.file(file).text).syntax();
    let all = root.descendants().filter(|node| {
        matches!(node.kind(), S::BLOCK | S::FOR_STMT | S::WHILE_STMT | S::IF | S::MATCH_ARM | S::HANDLER | S::FUNCTION)
    });
    all.map(|node| node.text_range().start().into()..node.text_range().end().into()).collect()
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
    fn new(program: &'p Program, layer: Option<&'p Layer>, names: &'p Names<'p>, locals: &[program::Local]) -> Self {
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
