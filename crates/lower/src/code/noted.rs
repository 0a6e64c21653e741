//! What the source's names stand for at each place of a body, for debuggers.
//!
//! While a body is written, the source of an operation is the number of a note: its real source, and the names that are bound there.
//! So notes stay with their operations, whatever moves these; [`Noted::settle`] puts the real sources back at the end.

use std::collections::HashMap;
use std::sync::Arc;

use mokume_analyse::Renamed;
use mokume_reaction::{Body, BoundName, BoundPart, Names, OpKind, Scope, Scopes, SourceId, Value};
use mokume_semantics::program as s;

use super::writer::{Locals, Writer};

/// The notes of a body.
#[derive(Default)]
pub struct Noted {
    notes: Vec<(SourceId, Arc<Names>)>,
    /// The names of the code that the current code is inlined in.
    pub outer: Option<Arc<Names>>,
    /// The names that were made last, and what they were made from.
    last: Option<(Locals, *const s::Local, Option<Arc<Names>>, Arc<Names>)>,
}

impl Noted {
    /// The number of a new note, in the place of a source.
    pub fn number(&mut self, source: SourceId, names: Arc<Names>) -> SourceId {
        self.notes.push((source, names));
        SourceId::from(self.notes.len() - 1)
    }

    /// Puts the real sources into a finished body, and the names.
    pub fn settle(&self, body: &mut Body, renamed: &Renamed) {
        let mut scopes: Vec<Scope> = Vec::new();
        let constants =
            body.blocks.iter().flat_map(|block| &block.ops).filter_map(|op| match (&op.kind, &op.results[..]) {
                (OpKind::Const { ty, value }, [result]) => Some((*result, BoundPart::Constant(*ty, *value))),
                _ => None,
            });
        let mut made = Made { known: HashMap::new(), constants: constants.collect(), renamed };
        for (block, code) in body.blocks.iter_mut().enumerate() {
            let mut before = None;
            let count = code.ops.len();
            let sources = code.ops.iter_mut().map(|op| op.source.as_mut());
            for (op, source) in sources.chain([code.mark.as_mut().map(|mark| &mut mark.source)]).enumerate() {
                let Some(source) = source else { continue };
                let (number, (real, names)) = (source.index(), &self.notes[source.index()]);
                *source = *real;
                if before == Some(number) {
                    continue;
                }
                before = Some(number);
                let names = made.of(names);
                scopes.push(Scope { block: block.into(), op: op.min(count), names });
            }
        }
        body.scopes = Scopes(Arc::new(scopes));
    }
}

/// Names by the values that are left, for those that they were made from: what several notes know is made once.
struct Made<'r> {
    known: HashMap<*const Names, Arc<Names>>,
    constants: HashMap<Value, BoundPart>,
    renamed: &'r Renamed,
}

impl Made<'_> {
    fn of(&mut self, names: &Arc<Names>) -> Arc<Names> {
        if let Some(known) = self.known.get(&Arc::as_ptr(names)) {
            return Arc::clone(known);
        }
        let part = |part: &BoundPart| match part {
            BoundPart::Value(value) => {
                let value = self.renamed.of(*value);
                self.constants.get(&value).copied().unwrap_or(BoundPart::Value(value))
            }
            constant => *constant,
        };
        let own = names.own.iter().map(|bound| {
            let parts = bound.parts.iter().map(|(name, own)| (name.clone(), part(own))).collect();
            BoundName { declared: bound.declared, parts }
        });
        let own = own.collect();
        let outer = names.outer.as_ref().map(|outer| self.of(outer));
        let made = Arc::new(Names { own, outer });
        self.known.insert(Arc::as_ptr(names), Arc::clone(&made));
        made
    }
}

fn is_same(one: Option<&Arc<Names>>, other: Option<&Arc<Names>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        _ => false,
    }
}

impl Writer<'_, '_> {
    /// The names that are bound here.
    pub fn names(&mut self) -> Arc<Names> {
        if let Some((locals, decls, outer, names)) = &self.noted.last {
            let is_known = *decls == self.decls.as_ptr() && is_same(outer.as_ref(), self.noted.outer.as_ref());
            if is_known && *locals == self.locals {
                return Arc::clone(names);
            }
        }
        let decls = self.decls;
        let mut own = Vec::new();
        for (values, decl) in self.locals.clone().iter().zip(decls) {
            let Some(values) = values.as_ref().filter(|_| !decl.is_hidden) else { continue };
            let parts = match decl.ty {
                s::Type::Flow(_) => self.border(decl.ty).into_iter().map(|(name, _)| name[1..].to_string()).collect(),
                _ => vec![String::new(); values.len()],
            };
            let parts = parts.into_iter().zip(values.iter().map(|value| BoundPart::Value(*value))).collect();
            let span = decl.name.span;
            own.push(BoundName { declared: (span.file.0, span.start), parts });
        }
        let outer = self.noted.outer.clone().filter(|outer| !outer.own.is_empty() || outer.outer.is_some());
        let names = Arc::new(Names { own, outer });
        let made = (self.locals.clone(), decls.as_ptr(), self.noted.outer.clone(), Arc::clone(&names));
        self.noted.last = Some(made);
        names
    }

    /// Notes the names for the operations that follow, if they are others than at the last one.
    pub fn note(&mut self) {
        let (Some(number), marked) = self.b.pause() else { return };
        let names = self.names();
        let (source, known) = &self.noted.notes[number.index()];
        if !Arc::ptr_eq(known, &names) {
            let number = self.noted.number(*source, names);
            self.b.resume((Some(number), marked));
        }
    }
}
