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
    /// Each with its real source, and the statements that begin at its operation.
    notes: Vec<(Arc<Names>, Vec<Arc<Names>>)>,
    /// The statements that have begun since the last operation.
    begun: Vec<Arc<Names>>,
    /// The names of the code that the current code is inlined in.
    pub outer: Option<Arc<Names>>,
    /// What the newest note was made from.
    locals: Vec<Option<Vec<Value>>>,
    decls: Option<*const s::Local>,
    /// The names of all that comes, while code of another place is written, which knows no name of this one.
    pub fixed: Option<Arc<Names>>,
}

impl Noted {
    /// The newest note, if it is one of the same source, values, declarations and outer names.
    pub fn newest(
        &self,
        source: Option<SourceId>,
        (locals, decls): (&[Option<Vec<Value>>], &[s::Local]),
    ) -> Option<&Arc<Names>> {
        let (names, _) = self.notes.last().filter(|(_, begun)| begun.is_empty())?;
        let is_same_code = self.decls == Some(decls.as_ptr()) && is_same(names.outer.as_ref(), self.outer.as_ref());
        (names.source == source && is_same_code && self.locals == locals).then_some(names)
    }

    /// Notes the names of locals; `parts` are the names of the parts of each that has a value.
    pub fn note(
        &mut self,
        source: Option<SourceId>,
        (locals, decls): (&[Option<Vec<Value>>], &[s::Local]),
        parts: &mut dyn FnMut(&s::Local) -> Option<Vec<String>>,
    ) -> &Arc<Names> {
        let mut own = Vec::new();
        for (values, decl) in locals.iter().zip(decls) {
            let Some(values) = values.as_ref().filter(|_| !decl.is_hidden) else { continue };
            let names = parts(decl).unwrap_or_else(|| vec![String::new(); values.len()]);
            let parts = names.into_iter().zip(values.iter().map(|value| BoundPart::Value(*value))).collect();
            own.push(BoundName { local: decl.number, parts });
        }
        (self.locals, self.decls) = (locals.to_vec(), Some(decls.as_ptr()));
        self.notes.push((Arc::new(Names { source, own, outer: self.outer.clone() }), Vec::new()));
        &self.notes[self.notes.len() - 1].0
    }

    /// A statement begins, with these names.
    pub fn statement_begins(&mut self, names: Arc<Names>) {
        self.begun.push(names);
    }

    /// The code goes on elsewhere: what has begun has no operation.
    pub fn goes_on_elsewhere(&mut self) {
        self.begun.clear();
    }

    /// An operation with the newest note comes: the statements that have begun and are not its own begin there, too. The first
    /// operation of a statement has the names with which the statement begins: a message that it gives away is still there.
    pub fn comes(&mut self) {
        let Some((names, _)) = self.notes.last() else { return };
        let names = Arc::clone(names);
        let (own, begun): (Vec<_>, Vec<_>) = self.begun.drain(..).partition(|begun| begun.source == names.source);
        match own.into_iter().next().filter(|own| own.own != names.own) {
            Some(own) => {
                self.notes.push((own, begun));
                self.decls = None;
            }
            None if !begun.is_empty() => self.notes.push((names, begun)),
            None => {}
        }
    }

    /// The number of the newest note, in the place of a source.
    pub fn newest_number(&self) -> SourceId {
        SourceId::from(self.notes.len() - 1)
    }

    /// A note by its number.
    pub fn noted(&self, note: SourceId) -> &(Arc<Names>, Vec<Arc<Names>>) {
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
                let (number, (names, begun)) = (source.index(), &self.notes[source.index()]);
                *source = names.source.unwrap_or(*source);
                if before == Some(number) {
                    continue;
                }
                before = Some(number);
                let begun = begun.iter().map(|names| made.of(names)).collect();
                let names = made.of(names);
                scopes.push(Scope { block: block.into(), op: op.min(count), begun, names });
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
            BoundName { local: bound.local, parts }
        });
        let own = own.collect();
        let outer = names.outer.as_ref().map(|outer| self.of(outer));
        let made = Arc::new(Names { source: names.source, own, outer });
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
