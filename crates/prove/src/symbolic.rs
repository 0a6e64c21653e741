//! Reads one reaction of the layered automaton for all states at once. The result is a list of leaves, each with its
//! condition, its cells and outputs.
//!
//! This is the prover's own reading of bodies (`mokume_reaction::body`); nothing here comes from what it judges. A leaf
//! that does what this reading does not cover is an *escape*: its condition must be shown impossible, it is never
//! expanded.

mod arithmetic;
mod arrays;
mod body;
mod cells;
mod decoder;
mod encoder;
mod held;
mod links;
mod merging;
mod message;
mod messages;
mod put_off;
mod settling;
mod terminators;
mod way;
mod wires;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use mokume_reaction::{
    Automaton, CellId, CellKind, Channel, ClassId, HandlerId, Path, PortId, ReasonId, Trigger, Type, WireId,
};

use crate::term::{Assumed, Sort, Term, Terms};

pub use message::{fold16, join, split, Base, Message};
pub use settling::Settling;
pub(crate) use way::Emission;

/// An object that the reaction meets, identified by its origin ([`Origin`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Object(pub u32);

/// How a reaction reached an object. Two objects of one class with different origins may be the same one: such a
/// reaction is read only as long as none of them is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The event names it.
    Given(ClassId),
    Unique(ClassId),
    Parent(Object),
    Cell(Object, CellId),
    /// What a map has at a key; the last number is the place of the reference among the map's values.
    Found(Object, CellId, Vec<Term>, u32),
}

/// The content of a body's value on one way through a reaction: a term, or something that solvers are not asked about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    Bits(Term),
    /// One term for each item.
    Array(Vec<Term>),
    Object(Object),
    /// An object, or null if the condition holds.
    Perhaps(Object, Term),
    Null,
    Message(Box<Message>),
    Reason(ReasonId),
}

/// An output at a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Out {
    pub port: PortId,
    pub event: u32,
    pub args: Vec<Value>,
}

/// A handler that is not read, with its object and arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Handed {
    pub handler: HandlerId,
    pub target: Object,
    /// The condition that there is no receiver, if that is a question: then the event is gone (docs/semantics.md, L6).
    pub null: Option<Term>,
    pub args: Vec<Value>,
}

/// An event for a reaction of its own: its handler, its object, and its arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PutOff {
    pub handler: HandlerId,
    pub target: Value,
    pub args: Vec<Value>,
}

/// How a message ended inside the stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct End {
    pub reason: ReasonId,
    /// Whether it was consumed; otherwise it was dropped.
    pub is_consumed: bool,
    /// The condition of this end: there may have been no message.
    pub when: Term,
}

/// A way through the reaction.
#[derive(Clone, Default, Debug)]
pub struct Leaf {
    /// The conditions, which hold together.
    pub condition: Vec<Term>,
    /// The assumptions before the first condition, and after each.
    assumed: Vec<Rc<Assumed>>,
    /// Cells that were read or written, with their current values.
    pub cells: BTreeMap<(Object, CellId), Term>,
    /// The cells that were written.
    pub written: Vec<(Object, CellId)>,
    /// References that were written, with the objects that they mean now.
    pub referred: BTreeMap<(Object, CellId), Value>,
    pub outs: Vec<Out>,
    /// Conditions under which this way makes a report.
    pub traps: Vec<Term>,
    pub ended: Vec<End>,
    /// The number of new buffers taken.
    pub taken: u32,
    /// Conditions under which the receiver of an event is null or has ended, or a read octet does not exist. This way
    /// is then wrong, so they must be impossible.
    pub nulls: Vec<Term>,
    /// The same conditions, where a comparison of two automata assumes that they do not hold: headers are where the
    /// verifier saw them, and receivers exist.
    pub(crate) believed: Vec<Term>,
    /// Conditions under which a reference that is read or written through is null: reads then give zeros, and writes do
    /// nothing.
    pub looked: Vec<(Object, Term)>,
    /// Objects of which something was read after it was written. They must exist, as reads through null give zeros.
    pub read_back: BTreeSet<Object>,
    /// Written elements of arrays, in order: index and value.
    pub elements: BTreeMap<(Object, CellId), Vec<(Term, Term)>>,
    /// Timers in the order in which they were set, with the deadline; `None`: the timer was stopped.
    pub timers: Vec<(Object, CellId, Option<Term>)>,
    /// What was added to counters, 64 bits.
    pub counted: BTreeMap<(Object, CellId), Term>,
    /// The handler that is not read, to which this way hands over at its end.
    pub handed: Option<Handed>,
    /// What was stored at places: cell, index, and message; `None`: the place was emptied, whether or not it held
    /// something.
    pub kept: Vec<(Object, CellId, Term, Option<Message>)>,
    /// What was taken from quotas, 32 bits; returned units are negative.
    pub spent: Vec<(Object, CellId, Term)>,
    /// Events for reactions of their own, in order.
    pub put_off: Vec<PutOff>,
    /// The number of messages that were joined to others.
    pub merged: u32,
    pub settling: Settling,
    /// The wires that refused packets, if that is recorded: only the wire decides between several reasons.
    pub(crate) refused: Vec<(WireId, Message)>,
    /// The handler's emissions in order, if it is read alone.
    pub(crate) emitted: Vec<Emission>,
    /// For a way through a path that refuses: whether it gives back its arguments, and has put nothing out.
    pub refused_well: bool,
    /// Why this way is not read further.
    pub escape: Option<String>,
}

impl Leaf {
    /// All terms of this way.
    pub(crate) fn terms(&self) -> Vec<Term> {
        let mut all: Vec<Term> = self.condition.clone();
        all.extend(self.cells.values());
        all.extend(self.counted.values());
        all.extend(self.elements.values().flatten().flat_map(|(at, value)| [*at, *value]));
        all.extend(self.timers.iter().filter_map(|(_, _, deadline)| *deadline));
        all.extend(self.spent.iter().map(|(_, _, amount)| *amount));
        all.extend(self.ended.iter().map(|end| end.when));
        all.extend(self.traps.iter().chain(&self.nulls).chain(&self.believed));
        let args = self.outs.iter().flat_map(|out| &out.args);
        let put_off = self.put_off.iter().flat_map(|put| put.args.iter().chain([&put.target]));
        for value in
            args.chain(self.handed.iter().flat_map(|handed| &handed.args)).chain(put_off).chain(self.referred.values())
        {
            value.terms(&mut all);
        }
        all.extend(self.handed.iter().filter_map(|handed| handed.null));
        for emission in &self.emitted {
            let (args, null) = match emission {
                Emission::Call { args, null, .. } => (args, *null),
                Emission::Out(out) => (&out.args, None),
                Emission::Given { values, .. } => (values, None),
            };
            all.extend(null);
            args.iter().for_each(|value| value.terms(&mut all));
        }
        for (_, _, at, message) in &self.kept {
            all.push(*at);
            message.iter().for_each(|message| message.terms(&mut all));
        }
        all
    }
}

impl Value {
    /// The condition under which a reference is null; `None` if that is no question.
    pub(crate) fn null(&self) -> Option<Term> {
        match self {
            Value::Perhaps(_, null) => Some(*null),
            _ => None,
        }
    }

    fn terms(&self, all: &mut Vec<Term>) {
        match self {
            Value::Bits(term) | Value::Perhaps(_, term) => all.push(*term),
            Value::Array(items) => all.extend(items),
            Value::Message(message) => message.terms(all),
            Value::Object(_) | Value::Null | Value::Reason(_) => {}
        }
    }
}

impl Message {
    fn terms(&self, all: &mut Vec<Term>) {
        self.headers.iter().flat_map(|(_, _, fields)| fields).for_each(|field| field.terms(all));
        all.extend(self.front.iter().chain(self.attributes.values()));
        all.extend([self.base.start, self.base.size]);
    }
}

/// Reads reactions of one automaton.
pub struct Reader<'a> {
    pub automaton: &'a Automaton,
    pub terms: &'a mut Terms,
    objects: Vec<(ClassId, Origin)>,
    /// The state before the reaction: a term for a cell of an object, made at the first request.
    initial: Box<Initial<'a>>,
    impossible: Option<Box<Impossible<'a>>>,
    same: Option<Box<Same<'a>>>,
    /// Says why reading must stop, if it must.
    stopped: Option<Box<dyn FnMut() -> Option<String> + 'a>>,
    /// The conditions of the current way.
    pub(crate) way: Vec<Term>,
    /// Whether a layer emits the event.
    pub(crate) is_inside: bool,
    /// Whether the event was put off: a layer gave its messages, but nothing stands in a queue before it.
    pub(crate) is_put_off: bool,
    /// Whether a handler is read without what follows from it: its emissions are its result.
    pub(crate) is_alone: bool,
    /// Whether two automata are compared. Then the wires that refuse packets are recorded, and only ways that surely
    /// have the octets they cut off are read.
    pub(crate) compares: bool,
    /// Whether the conditions of a way simplify its terms. If not, an object that several ways reach is one object on
    /// all of them, and only the conditions of paths are read.
    pub assumes: bool,
    /// Whether ways that differ only in numbers are merged.
    pub merges: bool,
    /// Facts beside the conditions of a way.
    pub(crate) facts: Vec<Term>,
    /// The handler that is not read: a way that calls it ends there.
    pub hands_over: Option<HandlerId>,
    /// Channels of emissions that are not delivered yet, the next one last.
    pending: Vec<Channel>,
    /// Stretches of octets whose sums were requested.
    sums: Vec<Base>,
    /// For each link, whether it leads back to its origin.
    lead_back: Vec<bool>,
}

type Same<'a> = dyn FnMut(&mut Terms, Term) -> Term + 'a;

type Impossible<'a> = dyn FnMut(&mut Terms, &[Term]) -> bool + 'a;

/// The last argument distinguishes objects of one class: the number of those met before.
type Initial<'a> = dyn FnMut(&mut Terms, &Automaton, ClassId, CellId, u32) -> Option<Term> + 'a;

/// Why a way is not read further that reaches an object by two origins and writes it.
const MAY_BE_ONE: &str = "two handles that may be one object";

/// The most leaves; with more, reading fails with an error instead of a verdict.
const MOST_LEAVES: usize = 4096;

impl<'a> Reader<'a> {
    /// A reader of one automaton. `initial` gives the value of a cell before the reaction, once for each cell that is
    /// met; if it gives `None`, a way that reads the cell escapes.
    pub fn new(
        automaton: &'a Automaton,
        terms: &'a mut Terms,
        initial: impl FnMut(&mut Terms, &Automaton, ClassId, CellId, u32) -> Option<Term> + 'a,
    ) -> Self {
        Reader {
            automaton,
            terms,
            objects: Vec::new(),
            initial: Box::new(initial),
            impossible: None,
            same: None,
            stopped: None,
            way: Vec::new(),
            is_inside: false,
            is_put_off: false,
            is_alone: false,
            compares: false,
            facts: Vec::new(),
            merges: true,
            assumes: true,
            hands_over: None,
            pending: Vec::new(),
            sums: Vec::new(),
            lead_back: links::lead_back(automaton),
        }
    }

    /// Continues with the objects that another reading met, so that both use the same numbers.
    pub fn knowing(mut self, objects: Vec<(ClassId, Origin)>) -> Self {
        self.objects = objects;
        for place in 0..self.objects.len() {
            if let Origin::Found(_, _, key, _) = self.objects[place].1.clone() {
                let again = key.iter().map(|part| self.terms.again(*part)).collect();
                if let Origin::Found(_, _, key, _) = &mut self.objects[place].1 {
                    *key = again;
                }
            }
        }
        self
    }

    /// Facts about objects that are now seen to be the same, since a map has them at equal keys: each cell of one
    /// equals that of the other.
    pub fn same_objects(&mut self) -> Vec<Term> {
        let mut facts = Vec::new();
        for place in 1..self.objects.len() {
            let origin = &self.objects[place].1;
            if !matches!(origin, Origin::Found(..)) {
                continue;
            }
            let Some(first) = self.objects[..place].iter().position(|(_, other)| other == origin) else { continue };
            let both = [Object(first as u32), Object(place as u32)];
            let lives = both.map(|object| self.lives(object));
            facts.push(self.terms.equal(lives[0], lives[1]));
            let class = self.class_of(both[0]);
            for cell in (0..self.automaton.class(class).cells.len()).map(CellId::from) {
                let [a, b] = match self.automaton.cell(class, cell).kind {
                    CellKind::Scalar { ty: Type::Ref(_), .. } => {
                        both.map(|object| self.follow(object, cell).map(|(_, null)| null))
                    }
                    CellKind::Scalar { .. } => both.map(|object| self.before(object, cell)),
                    CellKind::Timer => both.map(|object| Some(self.armed(object, cell))),
                    CellKind::Quota { .. } => both.map(|object| Some(self.left(object, cell))),
                    _ => continue,
                };
                if let (Some(a), Some(b)) = (a, b) {
                    facts.push(self.terms.equal(a, b));
                }
            }
        }
        facts.retain(|fact| self.terms.constant(*fact).is_none());
        facts
    }

    /// The objects met so far, by number: class and origin.
    pub fn objects(&self) -> &[(ClassId, Origin)] {
        &self.objects
    }

    /// The class of an object met so far.
    pub fn class_of(&self, object: Object) -> ClassId {
        self.objects[object.0 as usize].0
    }

    /// The object of an origin. Equal origins are the same object, and a 1:1 link leads back to its origin.
    pub fn object(&mut self, class: ClassId, origin: Origin) -> Object {
        if let Origin::Cell(from, cell) = origin {
            if let Origin::Cell(first, back) = self.objects[from.0 as usize].1 {
                let ends = ((self.class_of(first), Some(back)), (self.class_of(from), Some(cell)));
                let linked = self.automaton.links.iter().zip(&self.lead_back).any(|(link, leads_back)| {
                    *leads_back && (ends == (link.above, link.below) || ends == (link.below, link.above))
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

    /// The parent of an object; a unique parent is one object whatever its origin.
    pub fn parent(&mut self, object: Object) -> Option<Object> {
        let parent = self.automaton.class(self.class_of(object)).parent?;
        let unique = self.automaton.is_unique(parent);
        Some(self.object(parent, if unique { Origin::Unique(parent) } else { Origin::Parent(object) }))
    }

    /// Checks that an object may be written on a way: no other of its class has been, as the two may be one. What is read
    /// of another after the write is an escape, too, where it is read.
    pub(crate) fn must_be_alone(&self, leaf: &Leaf, object: Object) -> Result<(), String> {
        let class = self.class_of(object);
        let cells = leaf.written.iter().chain(leaf.referred.keys()).chain(leaf.elements.keys());
        let objects = cells.chain(leaf.counted.keys()).map(|(other, _)| *other);
        let timers = leaf.timers.iter().map(|(other, ..)| *other);
        let held = leaf.kept.iter().map(|(other, ..)| *other).chain(leaf.spent.iter().map(|(other, ..)| *other));
        match objects.chain(timers).chain(held).any(|other| other != object && self.class_of(other) == class) {
            true => Err(MAY_BE_ONE.into()),
            false => Ok(()),
        }
    }

    /// All ways through `handler` on its class's object with these arguments, and through all that follows from it.
    /// Returns an error if there are too many.
    pub fn react(&mut self, handler: HandlerId, args: Vec<Value>) -> Result<Vec<Leaf>, String> {
        let class = self.automaton.handler(handler).class;
        let object = self.object(class, Origin::Given(class));
        let before = self.terms.assumed();
        let first = Leaf { assumed: vec![Rc::new(before.clone())], ..Leaf::default() };
        let leaves = self.run_handler(first, object, handler, args)?;
        let leaves = self.settle(leaves);
        self.terms.assuming(before);
        leaves
    }

    /// All ways through a handler on its class's object with these arguments, without what follows from it: its
    /// emissions are its result.
    pub(crate) fn read_alone(&mut self, handler: HandlerId, args: Vec<Value>) -> Result<Vec<Leaf>, String> {
        self.is_alone = true;
        let (class, trigger) = (self.automaton.handler(handler).class, &self.automaton.handler(handler).trigger);
        let object = self.object(class, Origin::Given(class));
        let before = self.terms.assumed();
        let mut first = Leaf { assumed: vec![Rc::new(before.clone())], ..Leaf::default() };
        first.settling.at_hand = (*trigger == Trigger::Settle).then_some(object);
        let leaves = self.run_body(first, object, handler, args);
        self.terms.assuming(before);
        leaves
    }

    /// The single way through no handler at all.
    pub(crate) fn read_nothing(&mut self) -> Leaf {
        Leaf { assumed: vec![Rc::new(self.terms.assumed())], ..Leaf::default() }
    }

    /// From here on, terms are made under the assumptions of a leaf.
    pub(crate) fn at(&mut self, leaf: &Leaf) {
        if let Some(assumed) = leaf.assumed.last() {
            self.terms.assuming((**assumed).clone());
        }
    }

    /// Adds a condition to a leaf. Returns false if the conditions obviously exclude each other.
    pub(crate) fn add_condition(&mut self, leaf: &mut Leaf, condition: Term) -> bool {
        self.at(leaf);
        let condition = self.terms.again(condition);
        match self.terms.constant(condition) {
            Some(truth) => return truth != 0,
            None => leaf.condition.push(condition),
        }
        if !self.assumes {
            leaf.assumed.push(Rc::new(self.terms.assumed()));
            let all = self.terms.all(&leaf.condition);
            return self.terms.constant(all) != Some(0);
        }
        let before = self.terms.assumed_of_numbers();
        self.terms.assume(condition);
        if self.terms.assumed_of_numbers() != before {
            // Earlier facts may say more now.
            let facts = [&self.facts[..], &leaf.condition].concat();
            self.terms.assume_all(&facts);
        }
        leaf.assumed.push(Rc::new(self.terms.assumed()));
        true
    }

    /// The same reader, for an event that a layer emits if `is_inside`.
    pub fn inside(mut self, is_inside: bool) -> Self {
        self.is_inside = is_inside;
        self
    }

    /// All ways through a path that stands before a handler. Ways that refuse are escapes.
    pub fn take(&mut self, path: &'a Path, args: Vec<Value>) -> Result<Vec<Leaf>, String> {
        let class = self.automaton.handler(path.handler).class;
        self.is_put_off = self.automaton.is_only_put_off(path.handler);
        let object = self.object(class, Origin::Given(class));
        let before = self.terms.assumed();
        let first = Leaf { assumed: vec![Rc::new(before.clone())], ..Leaf::default() };
        let leaves = self.run_path(first, object, &path.body, args);
        self.terms.assuming(before);
        leaves
    }

    /// Leaves out ways that this function declares impossible, from all their conditions.
    pub fn without_impossible(&mut self, is_impossible: impl FnMut(&mut Terms, &[Term]) -> bool + 'a) {
        self.impossible = Some(Box::new(is_impossible));
    }

    /// Stops reading when this function returns a reason.
    pub fn stopped_by(&mut self, stopped: impl FnMut() -> Option<String> + 'a) {
        self.stopped = Some(Box::new(stopped));
    }

    /// Replaces numbers by those that this function declares equal.
    pub fn with_same(&mut self, same: impl FnMut(&mut Terms, Term) -> Term + 'a) {
        self.same = Some(Box::new(same));
    }

    /// A number, or the one known to be equal.
    pub(crate) fn known(&mut self, term: Term) -> Term {
        match self.same.as_mut() {
            Some(same) => same(self.terms, term),
            None => term,
        }
    }

    /// Whether no state and no event make all conditions true.
    pub(crate) fn is_impossible(&mut self, conditions: &[Term]) -> bool {
        // As they are: under the assumptions of their own way all would be true.
        let constants: Vec<Option<u64>> = conditions.iter().map(|condition| self.terms.constant(*condition)).collect();
        if constants.contains(&Some(0)) {
            return true;
        }
        match self.impossible.as_mut() {
            Some(ask) if constants.contains(&None) => ask(self.terms, conditions),
            _ => false,
        }
    }

    /// Where a way is the only one left, its conditions after the first `shared` follow from those before them. Removes
    /// those for which this is shown: they then do not separate ways that join.
    pub(crate) fn forget_implied(&mut self, leaf: &mut Leaf, shared: usize) {
        if self.impossible.is_none() {
            return;
        }
        let mut place = shared;
        while place < leaf.condition.len() {
            self.terms.assuming((*leaf.assumed[place]).clone());
            let opposite = self.terms.not(leaf.condition[place]);
            let question = [&leaf.condition[..place], &[opposite]].concat();
            if self.is_impossible(&question) {
                leaf.condition.remove(place);
                leaf.assumed.remove(place);
            } else {
                place += 1;
            }
        }
        self.at(leaf);
    }

    /// Whether a condition holds on the current way for every state and event, or for none; `None` if that depends on
    /// them.
    pub(crate) fn decide(&mut self, condition: Term) -> Option<bool> {
        if let Some(truth) = self.terms.constant(condition) {
            return Some(truth != 0);
        }
        self.impossible.as_ref()?;
        let opposite = self.terms.not(condition);
        for (assumed, truth) in [(opposite, true), (condition, false)] {
            let all = [&self.way[..], &[assumed]].concat();
            if self.is_impossible(&all) {
                return Some(truth);
            }
        }
        None
    }

    pub(crate) fn parameter(&mut self, index: u32) -> Term {
        let param = &self.automaton.params[index as usize];
        let sort = sort_of(self.automaton, param.ty);
        let name = format!("param {}", plain(&param.name));
        self.terms.variable(&name, sort)
    }

    /// The term of a scalar cell on a leaf.
    pub(crate) fn cell(&mut self, leaf: &mut Leaf, object: Object, cell: CellId) -> Result<Term, String> {
        let class = self.class_of(object);
        let same = |(other, written): &(Object, CellId)| {
            *written == cell && *other != object && self.class_of(*other) == class
        };
        // What was read of the object before the write of the other is old now.
        if leaf.written.iter().any(same) {
            return Err(MAY_BE_ONE.into());
        }
        if let Some(term) = leaf.cells.get(&(object, cell)) {
            if leaf.written.contains(&(object, cell)) {
                leaf.read_back.insert(object);
            }
            return Ok(*term);
        }
        let term = self.before(object, cell).ok_or("a cell that is not read symbolically")?;
        leaf.cells.insert((object, cell), term);
        Ok(term)
    }

    /// The term of a scalar cell before the reaction.
    pub(crate) fn before(&mut self, object: Object, cell: CellId) -> Option<Term> {
        // The cells by which a map finds an object have the values of the key.
        if let Origin::Found(owner, map, key, _) = &self.objects[object.0 as usize].1 {
            let place = self.own_key(*owner, *map).iter().position(|own| *own == cell);
            if let Some(part) = place.and_then(|place| key.get(place)) {
                return Some(*part);
            }
        }
        let (class, which) = (self.class_of(object), self.which(object));
        (self.initial)(self.terms, self.automaton, class, cell, which)
    }

    /// The number of objects of the class that were met before this one. Two with different origins may be the same.
    /// Their cells have separate names, so what is shown holds in both cases, as long as neither is written.
    pub(crate) fn which(&self, object: Object) -> u32 {
        let class = self.class_of(object);
        self.objects[..object.0 as usize].iter().filter(|(other, _)| *other == class).count() as u32
    }

    /// Whether a place of a message cell holds a message before the reaction; and whether there is no such place, which
    /// is reported.
    pub(crate) fn holds(&mut self, object: Object, cell: CellId, index: Term) -> (Term, Term) {
        let class = self.class_of(object);
        let described = self.automaton.cell(class, cell);
        let places = if let CellKind::Messages { size, .. } = described.kind { size } else { 0 };
        let name = self.named("holds", object, cell);
        let places = self.terms.number(u64::from(places), 32);
        let beyond = self.terms.less_equal(places, index);
        (self.terms.apply(&name, vec![index], Sort::Bool), beyond)
    }

    /// Whether an object lives, if that is a question: the handler's object and unique objects do.
    pub fn lives(&mut self, object: Object) -> Term {
        match &self.objects[object.0 as usize].1 {
            Origin::Given(_) | Origin::Unique(_) => return self.terms.truth(true),
            // The parent contains the child, and would have ended it; in a reaction, the child may have ended alone.
            Origin::Parent(child) => {
                let (child, name) = (*child, self.lives_name(object));
                let lives = self.lives(child);
                let alone = self.terms.truth(false);
                let alone = if self.is_inside { self.terms.variable(&name, Sort::Bool) } else { alone };
                return self.terms.any(&[lives, alone]);
            }
            // When a reaction begins, all existing objects live (docs/semantics.md, L5).
            Origin::Found(owner, map, ..) if !self.is_inside && !self.own_key(*owner, *map).is_empty() => {
                return self.terms.truth(true);
            }
            Origin::Cell(..) | Origin::Found(..) => {}
        }
        let name = self.lives_name(object);
        self.terms.variable(&name, Sort::Bool)
    }

    fn lives_name(&self, object: Object) -> String {
        format!("lives {} {}", plain(&self.automaton.class(self.class_of(object)).name), object.0)
    }

    /// Whether an object exists: what is written to it can be read back, even if it has ended in this reaction
    /// (docs/semantics.md, L5).
    pub fn is_there(&mut self, object: Object) -> Term {
        match &self.objects[object.0 as usize].1 {
            // The object leaves the map before its place is free
            // (docs/decisions/0084-maps-find-objects-by-their-cells.md).
            Origin::Found(owner, map, ..) if !self.own_key(*owner, *map).is_empty() => self.terms.truth(true),
            _ => self.lives(object),
        }
    }

    /// The cells of objects by which a map finds them; empty for other maps.
    fn own_key(&self, owner: Object, map: CellId) -> &'a [CellId] {
        match &self.automaton.cell(self.class_of(owner), map).kind {
            CellKind::Map { by, .. } => by,
            _ => &[],
        }
    }

    /// Whether a timer is armed before the reaction.
    pub(crate) fn armed(&mut self, object: Object, cell: CellId) -> Term {
        let name = self.named("armed", object, cell);
        self.terms.variable(&name, Sort::Bool)
    }

    fn named(&self, what: &str, object: Object, cell: CellId) -> String {
        format!("{what} {} {}", cell_name(self.automaton, self.class_of(object), cell), object.0)
    }

    /// An element of an array on a leaf; and whether there is no such place, which is reported.
    pub(crate) fn element(
        &mut self,
        leaf: &Leaf,
        object: Object,
        cell: CellId,
        index: Term,
    ) -> Result<(Term, Term), String> {
        let class = self.class_of(object);
        let CellKind::Array { ty, size, .. } = self.automaton.cell(class, cell).kind else {
            return Err("an element of no array".into());
        };
        let written =
            |(other, which): &(Object, CellId)| *which == cell && *other != object && self.class_of(*other) == class;
        if leaf.elements.keys().any(written) {
            return Err(MAY_BE_ONE.into());
        }
        let sort = sort_of(self.automaton, ty);
        // The same index may come in different widths.
        let index = self.terms.resize(index, 64);
        let name = self.named("array", object, cell);
        let mut value = self.terms.apply(&name, vec![index], sort);
        for (place, new) in leaf.elements.get(&(object, cell)).into_iter().flatten() {
            let place = self.terms.resize(*place, 64);
            let here = self.terms.equal(place, index);
            value = self.terms.choose(here, *new, value);
        }
        let (size, wide) = (self.terms.number(u64::from(size), 64), self.terms.resize(index, 64));
        let beyond = self.terms.less_equal(size, wide);
        let zero = match sort {
            Sort::Bool => self.terms.truth(false),
            _ => self.terms.number(0, self.terms.width(value)),
        };
        Ok((self.terms.choose(beyond, zero, value), beyond))
    }

    /// What is left of a quota before the reaction.
    pub(crate) fn left(&mut self, object: Object, cell: CellId) -> Term {
        let name = self.named("left", object, cell);
        self.terms.variable(&name, Sort::Bits(32))
    }

    /// What a reference cell refers to now; `None` if the cell holds no reference.
    pub(crate) fn referred(&mut self, leaf: &mut Leaf, object: Object, cell: CellId) -> Result<Option<Value>, String> {
        let class = self.class_of(object);
        let other = |(other, written): &&(Object, CellId)| {
            *written == cell && *other != object && self.class_of(*other) == class
        };
        if leaf.referred.keys().any(|place| other(&place)) {
            return Err(MAY_BE_ONE.into());
        }
        if let Some(value) = leaf.referred.get(&(object, cell)) {
            leaf.read_back.insert(object);
            return Ok(Some(value.clone()));
        }
        Ok(self.follow(object, cell).map(|(referred, null)| Value::Perhaps(referred, null)))
    }

    /// The object that a reference cell referred to before the reaction, with the condition that it is null; `None` if
    /// the cell holds no reference.
    pub(crate) fn follow(&mut self, object: Object, cell: CellId) -> Option<(Object, Term)> {
        let class = self.class_of(object);
        let described = self.automaton.cell(class, cell);
        let CellKind::Scalar { ty: Type::Ref(referred), .. } = described.kind else { return None };
        let name = self.named("null", object, cell);
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
        let name = format!("{} {}", cell_name(automaton, class, cell), object.0);
        let found = self.terms.apply(&format!("in {name}"), key.clone(), Sort::Bool);
        let values = value
            .iter()
            .enumerate()
            .map(|(place, ty)| match ty {
                Type::Ref(referred) => {
                    let origin = Origin::Found(object, cell, key.clone(), place as u32);
                    let found = self.object(*referred, origin);
                    // An object that is found by its own cells exists (docs/automaton.md, `by`).
                    if place == 0 && !self.own_key(object, cell).is_empty() {
                        return Value::Object(found);
                    }
                    // A map may hold null at a key.
                    Value::Perhaps(found, self.terms.apply(&format!("null at {name} {place}"), key.clone(), Sort::Bool))
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
        // The reason's number.
        Type::Reason => Sort::Bits(32),
        other => Sort::Bits(u32::from(other.width(automaton)).max(1)),
    }
}

/// A name as part of a variable's name. Every character except letters, digits, `_` and `.` becomes its number, so that
/// composed names are unambiguous, and cannot end early in a script.
pub fn plain(name: &str) -> String {
    let mut plain = String::new();
    for letter in name.chars() {
        match letter {
            '.' | '_' => plain.push(letter),
            letter if letter.is_ascii_alphanumeric() => plain.push(letter),
            letter => plain.push_str(&format!("~{:x}~", u32::from(letter))),
        }
    }
    plain
}

/// `class.cell`.
pub(crate) fn cell_name(automaton: &Automaton, class: ClassId, cell: CellId) -> String {
    let cell = plain(&automaton.cell(class, cell).name).replace('.', "~2e~");
    format!("{}.{cell}", plain(&automaton.class(class).name))
}

/// A variable for each scalar cell, named `class.cell` (and ` #n` for further objects): a state about which nothing is
/// known.
pub fn any_state(terms: &mut Terms, automaton: &Automaton, class: ClassId, cell: CellId, which: u32) -> Option<Term> {
    let CellKind::Scalar { ty, .. } = automaton.cell(class, cell).kind else { return None };
    let mut name = cell_name(automaton, class, cell);
    if which > 0 {
        name.push_str(&format!(" #{which}"));
    }
    Some(terms.variable(&name, sort_of(automaton, ty)))
}
