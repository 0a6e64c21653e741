//! One reaction of the layered automaton, for all states at once: a list of leaves, each with its condition, its cells and outputs.
//!
//! The prover's own reading of the form (`mokume_reaction::body`); nothing here comes from what it judges.
//! A leaf that does what this reading does not cover is an *escape*: its condition must be shown impossible, it is never expanded.

mod arithmetic;
mod arrays;
mod body;
mod cells;
mod decoder;
mod encoder;
mod message;
mod messages;
mod terminators;
mod way;
mod wires;

use std::collections::BTreeMap;

use mokume_reaction::{Automaton, CellId, CellKind, ClassId, HandlerId, LinkKind, PortId, ReasonId, Type};

use crate::term::{Sort, Term, Terms};

pub use message::{fold16, join, split, Base, Message};

/// An object that the reaction meets, known by how it was come by ([`Origin`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Object(pub u32);

/// How a reaction came by an object. Two objects of one class with different origins may be the same one: such a
/// reaction is read only as long as none of them is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The event names it.
    Given(ClassId),
    Unique(ClassId),
    Parent(Object),
    Cell(Object, CellId),
    /// What a map has at a key, and the place of the handle among its values.
    Found(Object, CellId, Vec<Term>, u32),
}

/// What a value of the form is on one way through a reaction: a term, or something that no solver is asked about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    Bits(Term),
    /// A term an item.
    Array(Vec<Term>),
    Object(Object),
    /// An object, or null when the condition holds.
    Perhaps(Object, Term),
    Null,
    Message(Box<Message>),
    Reason(ReasonId),
}

/// What left by a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Out {
    pub port: PortId,
    pub event: u32,
    pub args: Vec<Value>,
}

/// A way through the reaction.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// Conjuncts.
    pub condition: Vec<Term>,
    /// Cells that were read or written, as they are now.
    pub cells: BTreeMap<(Object, CellId), Term>,
    /// Of those, the written ones.
    pub written: Vec<(Object, CellId)>,
    pub outs: Vec<Out>,
    /// When a report happens on this way.
    pub traps: Vec<Term>,
    pub dropped: Vec<ReasonId>,
    /// New buffers taken.
    pub taken: u32,
    /// When a reference that is used is null: nothing is read or sent then as this way says, so it must be impossible.
    pub nulls: Vec<Term>,
    /// What was added to counters, 64 bits.
    pub counted: BTreeMap<(Object, CellId), Term>,
    /// Why this way is not read further.
    pub escape: Option<String>,
}

/// Reads reactions of one automaton.
pub struct Reader<'a> {
    pub automaton: &'a Automaton,
    pub terms: &'a mut Terms,
    objects: Vec<(ClassId, Origin)>,
    /// What the state is before the reaction: a term for a cell of an object, made when first asked for.
    initial: Box<Initial<'a>>,
    parameters: BTreeMap<u32, Term>,
}

/// The last argument tells objects of one class apart: how many were met before.
type Initial<'a> = dyn FnMut(&mut Terms, &Automaton, ClassId, CellId, u32) -> Option<Term> + 'a;

/// More leaves than this: the reading gives up (an error, not a verdict).
const MOST_LEAVES: usize = 4096;

impl<'a> Reader<'a> {
    /// A reader of one automaton. `initial` gives what a cell holds before the reaction, once for each cell that is
    /// met; where it gives `None`, a way that reads the cell escapes.
    pub fn new(
        automaton: &'a Automaton,
        terms: &'a mut Terms,
        initial: impl FnMut(&mut Terms, &Automaton, ClassId, CellId, u32) -> Option<Term> + 'a,
    ) -> Self {
        Reader { automaton, terms, objects: Vec::new(), initial: Box::new(initial), parameters: BTreeMap::new() }
    }

    /// The objects met so far, by number: class, and how they were come by.
    pub fn objects(&self) -> &[(ClassId, Origin)] {
        &self.objects
    }

    /// The class of an object met so far.
    pub fn class_of(&self, object: Object) -> ClassId {
        self.objects[object.0 as usize].0
    }

    /// The object of an origin; the same origin is the same object, and a 1:1 link leads back to where it came from.
    pub fn object(&mut self, class: ClassId, origin: Origin) -> Object {
        if let Origin::Cell(from, cell) = origin {
            if let Origin::Cell(first, back) = self.objects[from.0 as usize].1 {
                let ends = ((self.class_of(first), Some(back)), (self.class_of(from), Some(cell)));
                let linked = self.automaton.links.iter().any(|link| {
                    link.kind == LinkKind::OneToOne
                        && (ends == (link.above, link.below) || ends == (link.below, link.above))
                });
                if linked {
                    return first;
                }
            }
        }
        let origin = match origin {
            Origin::Given(_) | Origin::Parent(_) if self.automaton.is_unique(class) => Origin::Unique(class),
            other => other,
        };
        let found = self.objects.iter().position(|(_, known)| *known == origin);
        let index = found.unwrap_or_else(|| {
            self.objects.push((class, origin));
            self.objects.len() - 1
        });
        Object(index as u32)
    }

    /// The parent of an object; unique parents are one object however they are come by.
    pub fn parent(&mut self, object: Object) -> Option<Object> {
        let parent = self.automaton.class(self.class_of(object)).parent?;
        let unique = self.automaton.is_unique(parent);
        Some(self.object(parent, if unique { Origin::Unique(parent) } else { Origin::Parent(object) }))
    }

    /// Whether another object of the class, come by otherwise, has been met: the two may be one.
    pub(crate) fn has_double(&self, object: Object) -> bool {
        let class = self.class_of(object);
        self.objects.iter().enumerate().any(|(index, (other, _))| index != object.0 as usize && *other == class)
    }

    /// All ways through `handler` on its class's object with these arguments, and through all that follows from it.
    pub fn react(&mut self, handler: HandlerId, args: Vec<Value>) -> Result<Vec<Leaf>, String> {
        let start = Leaf {
            condition: Vec::new(),
            cells: BTreeMap::new(),
            written: Vec::new(),
            outs: Vec::new(),
            traps: Vec::new(),
            dropped: Vec::new(),
            taken: 0,
            nulls: Vec::new(),
            counted: BTreeMap::new(),
            escape: None,
        };
        let class = self.automaton.handler(handler).class;
        let object = self.object(class, Origin::Given(class));
        self.run_handler(start, object, handler, args)
    }

    pub(crate) fn parameter(&mut self, index: u32) -> Term {
        let param = &self.automaton.params[index as usize];
        let sort = sort_of(self.automaton, param.ty);
        let name = format!("param {}", param.name);
        let terms = &mut *self.terms;
        *self.parameters.entry(index).or_insert_with(|| terms.variable(&name, sort))
    }

    /// The term of a scalar cell on a leaf.
    pub(crate) fn cell(&mut self, leaf: &mut Leaf, object: Object, cell: CellId) -> Result<Term, String> {
        if let Some(term) = leaf.cells.get(&(object, cell)) {
            return Ok(*term);
        }
        let class = self.class_of(object);
        let same = |(other, written): &(Object, CellId)| *written == cell && self.class_of(*other) == class;
        if leaf.written.iter().any(same) {
            return Err("two handles that may be one object".into());
        }
        let term = self.before(object, cell).ok_or("a cell that is not read symbolically")?;
        leaf.cells.insert((object, cell), term);
        Ok(term)
    }

    /// A scalar cell before the reaction.
    pub(crate) fn before(&mut self, object: Object, cell: CellId) -> Option<Term> {
        let (class, which) = (self.class_of(object), self.which(object));
        (self.initial)(self.terms, self.automaton, class, cell, which)
    }

    /// How many objects of the class were met before this one. Two that were come by differently may be one: their cells
    /// have names of their own, so what is shown holds for both cases, as long as neither is written.
    pub(crate) fn which(&self, object: Object) -> u32 {
        let class = self.class_of(object);
        self.objects[..object.0 as usize].iter().filter(|(other, _)| *other == class).count() as u32
    }

    /// Whether a place of a message cell holds a message before the reaction; and whether there is no such place, which is
    /// reported.
    pub(crate) fn holds(&mut self, object: Object, cell: CellId, index: Term) -> (Term, Term) {
        let class = self.class_of(object);
        let described = self.automaton.cell(class, cell);
        let places = if let CellKind::Messages { size, .. } = described.kind { size } else { 0 };
        let name = format!("holds {}.{} {}", self.automaton.class(class).name, described.name, object.0);
        let places = self.terms.number(u64::from(places), 32);
        let beyond = self.terms.less_equal(places, index);
        (self.terms.apply(&name, vec![index], Sort::Bool), beyond)
    }

    /// What is left of a quota before the reaction.
    pub(crate) fn left(&mut self, object: Object, cell: CellId) -> Term {
        let class = self.class_of(object);
        let described = self.automaton.cell(class, cell);
        let name = format!("left {}.{} {}", self.automaton.class(class).name, described.name, object.0);
        self.terms.variable(&name, Sort::Bits(32))
    }

    /// What a reference cell refers to, with the condition that it is null.
    pub(crate) fn follow(&mut self, object: Object, cell: CellId) -> Option<(Object, Term)> {
        let class = self.class_of(object);
        let described = self.automaton.cell(class, cell);
        let CellKind::Scalar { ty: Type::Ref(referred), .. } = described.kind else { return None };
        let name = format!("null {}.{} {}", self.automaton.class(class).name, described.name, object.0);
        let null = self.terms.variable(&name, Sort::Bool);
        Some((self.object(referred, Origin::Cell(object, cell)), null))
    }
}

impl Reader<'_> {
    /// Whether a map has a key, and its values there, as functions of the key alone.
    pub(crate) fn look_up(
        &mut self,
        object: Object,
        cell: CellId,
        key: Vec<Term>,
    ) -> Result<(Term, Vec<Value>), String> {
        let automaton = self.automaton;
        let class = self.class_of(object);
        let described = automaton.cell(class, cell);
        let CellKind::Map { value, .. } = &described.kind else { return Err("a look-up in no map".into()) };
        let name = format!("{}.{} {}", automaton.class(class).name, described.name, object.0);
        let found = self.terms.apply(&format!("in {name}"), key.clone(), Sort::Bool);
        let values = value
            .iter()
            .enumerate()
            .map(|(place, ty)| match ty {
                Type::Ref(referred) => {
                    let origin = Origin::Found(object, cell, key.clone(), place as u32);
                    Value::Object(self.object(*referred, origin))
                }
                scalar => {
                    let sort = sort_of(automaton, *scalar);
                    Value::Bits(self.terms.apply(&format!("at {name} {place}"), key.clone(), sort))
                }
            })
            .collect();
        Ok((found, values))
    }
}

/// The sort of a scalar type.
pub fn sort_of(automaton: &Automaton, ty: Type) -> Sort {
    match ty {
        Type::Bool => Sort::Bool,
        other => Sort::Bits(u32::from(other.width(automaton)).max(1)),
    }
}

/// A variable for each scalar cell, named `class.cell` (and ` #n` for further objects): a state about which nothing is known.
pub fn any_state(terms: &mut Terms, automaton: &Automaton, class: ClassId, cell: CellId, which: u32) -> Option<Term> {
    let described = automaton.cell(class, cell);
    let CellKind::Scalar { ty, .. } = described.kind else { return None };
    let mut name = format!("{}.{}", automaton.class(class).name, described.name);
    if which > 0 {
        name.push_str(&format!(" #{which}"));
    }
    Some(terms.variable(&name, sort_of(automaton, ty)))
}
