//! What the source's names stand for at each place of a body, for debuggers.
//!
//! While a body is written, the source of an operation is the number of a note: its real source, and the names that are bound there.
//! So notes stay with their operations, whatever moves these; [`Noted::put_back`] puts the real sources back at the end.

use std::collections::HashMap;
use std::sync::Arc;

use mokume_analyse::Renamed;
use mokume_reaction::{Body, BoundName, BoundPart, Names, OpKind, Scope, Scopes, SourceId, Value};
use mokume_semantics::program as s;

/// The notes of a body.
#[derive(Default)]
pub struct Noted {
    notes: Vec<(SourceId, Arc<Names>)>,
    /// The names of the code that the current code is inlined in.
    pub outer: Option<Arc<Names>>,
    /// The names that were made last, and what they were made from.
    last: Option<(Vec<Option<Vec<Value>>>, *const s::Local, Option<Arc<Names>>, Arc<Names>)>,
}

impl Noted {
    /// The number of a new note, in the place of a source.
    pub fn noted_as(&mut self, source: SourceId, names: Arc<Names>) -> SourceId {
        self.notes.push((source, names));
        SourceId::from(self.notes.len() - 1)
    }

    /// The names that were made last, if it was from the same values, declarations and outer names.
    pub fn known(&self, locals: &[Option<Vec<Value>>], decls: &[s::Local]) -> Option<Arc<Names>> {
        let (from, of, outer, names) = self.last.as_ref()?;
        let is_known = *of == decls.as_ptr() && is_same(outer.as_ref(), self.outer.as_ref()) && from == locals;
        is_known.then(|| Arc::clone(names))
    }

    /// Makes the names of locals; `parts` are the names of the parts of each that has a value.
    pub fn make(
        &mut self,
        locals: &[Option<Vec<Value>>],
        decls: &[s::Local],
        parts: &mut dyn FnMut(&s::Local) -> Option<Vec<String>>,
    ) -> Arc<Names> {
        let mut own = Vec::new();
        for (values, decl) in locals.iter().zip(decls) {
            let Some(values) = values.as_ref().filter(|_| !decl.is_hidden) else { continue };
            let names = parts(decl).unwrap_or_else(|| vec![String::new(); values.len()]);
            let parts = names.into_iter().zip(values.iter().map(|value| BoundPart::Value(*value))).collect();
            let span = decl.name.span;
            own.push(BoundName { declared: (span.file.0, span.start), parts });
        }
        let outer = self.outer.clone().filter(|outer| !outer.own.is_empty() || outer.outer.is_some());
        let names = Arc::new(Names { own, outer });
        self.last = Some((locals.to_vec(), decls.as_ptr(), self.outer.clone(), Arc::clone(&names)));
        names
    }

    /// The real source of a note, and its names.
    pub fn noted(&self, note: SourceId) -> &(SourceId, Arc<Names>) {
        &self.notes[note.index()]
    }

    /// Puts the real sources into a finished body, and the names.
    pub fn put_back(&self, body: &mut Body, renamed: &Renamed) {
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
