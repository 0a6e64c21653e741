//! A path under construction: guards and look-ups first, then actions.

use std::rc::Rc;

use rustc_hash::FxHashSet as HashSet;

use mokume_reaction::{
    Automaton, Binary, CellId, Channel, ClassId, Compare, HandlerId, HeaderId, LayerId, OctetField, PortId, ReasonId,
    SourceId, Type, VariantId,
};

use crate::decisions::{Decisions, Far};
use crate::graph::{Graph, Kind, Node};
use crate::held::Held;
use crate::message::Message;
use crate::overview::Overview;
use crate::passes::Pass;
use crate::settling::Settling;
use crate::watched::Watched;

/// Why there is no path this way: words that end a sentence about an operation, and its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Why {
    pub what: String,
    pub source: Option<SourceId>,
}

/// A question that is asked before anything is done; they are asked in order.
#[derive(Clone, Debug)]
pub enum Step {
    Guard {
        condition: Node,
        /// What the path asks in its place (that of what is negated, if it is a negation), by what is known where it is asked.
        asked: Option<Node>,
        source: Option<SourceId>,
    },
    Find {
        object: Node,
        cell: CellId,
        key: Vec<Node>,
        found: Vec<Type>,
        source: Option<SourceId>,
    },
    /// The kind of a given message's top header.
    Peek {
        message: u32,
        header: HeaderId,
        variant: VariantId,
        source: Option<SourceId>,
    },
    /// The map does not have the key.
    Absent {
        object: Node,
        cell: CellId,
        key: Vec<Node>,
        source: Option<SourceId>,
    },
}

impl Step {
    /// The place in the source that it comes from.
    pub fn source(&self) -> Option<SourceId> {
        match self {
            Step::Guard { source, .. }
            | Step::Find { source, .. }
            | Step::Peek { source, .. }
            | Step::Absent { source, .. } => *source,
        }
    }
}

/// An action; actions are done after all questions, in order.
#[derive(Clone, Debug)]
pub struct Deed {
    pub what: Do,
    pub source: Option<SourceId>,
}

/// The kinds of actions.
#[derive(Clone, Debug)]
pub enum Do {
    Set {
        object: Node,
        cell: CellId,
        value: Node,
    },
    SetAt {
        object: Node,
        cell: CellId,
        index: Node,
        value: Node,
    },
    Arm {
        object: Node,
        cell: CellId,
        deadline: Node,
    },
    Disarm {
        object: Node,
        cell: CellId,
    },
    Count {
        object: Node,
        cell: CellId,
        amount: Node,
    },
    /// The quota has enough units.
    Take {
        object: Node,
        cell: CellId,
        amount: Node,
    },
    /// At least this many units were taken.
    Give {
        object: Node,
        cell: CellId,
        amount: Node,
    },
    /// The place holds a message, which is `given` from then on.
    TakeHeld {
        object: Node,
        cell: CellId,
        index: Node,
        given: u32,
    },
    /// The place holds a message.
    ConsumeHeld {
        object: Node,
        cell: CellId,
        index: Node,
        reason: ReasonId,
    },
    /// The queue has room.
    PutOff {
        target: Node,
        handler: HandlerId,
        args: Vec<Given>,
    },
    /// The place is empty.
    Keep {
        object: Node,
        cell: CellId,
        index: Node,
        message: Message,
    },
    Out {
        port: PortId,
        event: u32,
        args: Vec<Given>,
    },
    /// The last action: calls a handler that is not followed.
    HandOver {
        object: Node,
        handler: HandlerId,
        args: Vec<Given>,
    },
    Drop {
        message: Message,
        reason: ReasonId,
    },
    Consume {
        message: Message,
        reason: ReasonId,
    },
}

impl Do {
    /// Whether messages leave or end by it.
    pub fn ends_messages(&self) -> bool {
        matches!(self, Do::Out { .. } | Do::HandOver { .. } | Do::Drop { .. } | Do::Consume { .. })
    }

    /// The nodes that it needs, without those of its messages' octets and sizes.
    pub fn nodes(&self) -> Vec<Node> {
        let mut nodes = match self {
            Do::Set { object, value, .. } => vec![*object, *value],
            Do::SetAt { object, index, value, .. } => vec![*object, *index, *value],
            Do::Arm { object, deadline, .. } => vec![*object, *deadline],
            Do::Disarm { object, .. } | Do::HandOver { object, .. } => vec![*object],
            Do::Count { object, amount, .. } | Do::Take { object, amount, .. } | Do::Give { object, amount, .. } => {
                vec![*object, *amount]
            }
            Do::TakeHeld { object, index, .. }
            | Do::ConsumeHeld { object, index, .. }
            | Do::Keep { object, index, .. } => vec![*object, *index],
            Do::PutOff { target, .. } => vec![*target],
            Do::Out { .. } | Do::Drop { .. } | Do::Consume { .. } => Vec::new(),
        };
        if let Do::Out { args, .. } | Do::HandOver { args, .. } | Do::PutOff { args, .. } = self {
            nodes.extend(args.iter().filter_map(|arg| if let Given::Node(node) = arg { Some(*node) } else { None }));
        }
        nodes
    }

    /// The messages that it carries.
    pub fn messages(&self) -> Vec<&Message> {
        match self {
            Do::Out { args, .. } | Do::HandOver { args, .. } | Do::PutOff { args, .. } => {
                args.iter().filter_map(Given::message).collect()
            }
            Do::Drop { message, .. } | Do::Consume { message, .. } | Do::Keep { message, .. } => vec![message],
            Do::Set { .. }
            | Do::SetAt { .. }
            | Do::Arm { .. }
            | Do::Disarm { .. }
            | Do::Count { .. }
            | Do::Take { .. }
            | Do::Give { .. }
            | Do::TakeHeld { .. }
            | Do::ConsumeHeld { .. } => Vec::new(),
        }
    }
}

/// An argument of an event.
#[derive(Clone, Debug)]
pub enum Given {
    Node(Node),
    Message(Box<Message>),
}

impl Given {
    fn message(&self) -> Option<&Message> {
        match self {
            Given::Message(message) => Some(message),
            Given::Node(_) => None,
        }
    }
}

/// A handler's call on a way: the number of calls before it, and the decisions so far.
pub type Call = (u32, Vec<usize>);

/// A call on the way.
#[derive(Clone)]
pub struct Active {
    pub call: Call,
    pub layer: LayerId,
    /// Whether nothing is left to do after it.
    pub is_last: bool,
}

/// The amount of a layer's code that a way follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counted {
    pub operations: usize,
    /// The number of branches.
    pub branches: usize,
}

/// One way through a reaction, as far as it is found.
pub struct Region<'a> {
    pub automaton: &'a Automaton,
    /// Whether it begins with an event that a layer emits: then messages may have headers, and queues may not be empty.
    pub is_inside: bool,
    pub overview: Rc<Overview>,
    /// Calls where the path hands over.
    pub ends: Rc<HashSet<Call>>,
    /// Calls on the way; then those that are not finished.
    pub calls: Vec<Active>,
    pub active: Vec<Active>,
    /// Handlers on the way.
    pub handlers: Vec<HandlerId>,
    pub graph: Graph<'a>,
    pub decisions: Decisions,
    /// What a run has shown about reactions that go the same way.
    pub watched: Watched<'a>,
    /// The same for the two targets of the current operation.
    pub expected: Option<[f32; 2]>,
    pub steps: Vec<Step>,
    pub deeds: Vec<Deed>,
    /// The written contents of cells.
    pub written: Vec<(Node, ClassId, CellId, Option<Node>, Node)>,
    /// Timers that were set: whether armed.
    pub timers: Vec<(Node, CellId, bool)>,
    /// The places that were filled or emptied.
    pub held: Vec<Held>,
    /// Events that were put off: the handler, and the object by which its queue was asked for.
    pub put_off: Vec<(HandlerId, Node)>,
    /// What is left of quotas that were changed.
    pub left: Vec<(Node, ClassId, CellId, Node)>,
    pub alive: Vec<Node>,
    pub pending: Vec<Channel>,
    pub settling: Settling,
    /// The place of the current operation.
    pub source: Option<SourceId>,
    /// The number of handlers that are not finished.
    pub depth: u32,
    /// How many operations may still be followed.
    pub budget: u32,
    /// The layers that the path passed, in order.
    pub layers: Vec<LayerId>,
    /// Steps that a decision made, by index, with the probability that they hold.
    pub likely: Vec<(usize, f32)>,
    /// By layer: the amount of its code that was followed.
    pub followed: Vec<Counted>,
}

/// The result of following a path.
pub type Followed<T> = Result<T, Why>;

/// Why a way fails that contradicts itself.
pub const NEVER: &str = "never comes to here";

impl<'a> Region<'a> {
    /// A way before its first step. `decisions` prescribes its first decisions; at the calls `ends` it hands over.
    pub fn new(
        automaton: &'a Automaton,
        overview: Rc<Overview>,
        (decisions, watched): (Decisions, Watched<'a>),
        is_inside: bool,
        ends: Rc<HashSet<Call>>,
    ) -> Self {
        Region {
            automaton,
            overview,
            is_inside,
            ends,
            calls: Vec::new(),
            active: Vec::new(),
            handlers: Vec::new(),
            graph: Graph::new(automaton),
            decisions,
            watched,
            expected: None,
            steps: Vec::new(),
            deeds: Vec::new(),
            written: Vec::new(),
            timers: Vec::new(),
            held: Vec::new(),
            put_off: Vec::new(),
            left: Vec::new(),
            alive: Vec::new(),
            pending: Vec::new(),
            settling: Settling::default(),
            source: None,
            depth: 0,
            budget: 20_000,
            layers: Vec::new(),
            likely: Vec::new(),
            followed: vec![Counted::default(); automaton.layers.len()],
        }
    }

    /// Where the way may end instead of where it failed: at the last call after which nothing is left to do, if no way
    /// through that call succeeded.
    pub fn where_to_end(&self, succeeded: &HashSet<Call>) -> Option<(Call, LayerId)> {
        let last = self.active.iter().rev().find(|active| active.is_last)?;
        (!succeeded.contains(&last.call)).then(|| (last.call.clone(), last.layer))
    }

    /// Fails: there is no path this way.
    pub fn no<T>(&self, what: impl Into<String>) -> Followed<T> {
        Err(Why { what: what.into(), source: self.source })
    }

    /// Adds an action.
    pub fn deed(&mut self, what: Do) {
        self.deeds.push(Deed { what, source: self.source });
    }

    /// Requires the condition for the rest of the path. Values that the path has written are read back as nodes, so
    /// nodes mean the state at its beginning, and all guards can be asked there.
    pub fn guard(&mut self, condition: Node) -> Followed<()> {
        match self.graph.known(condition) {
            Some(0) => return self.no(NEVER),
            Some(_) => return Ok(()),
            None => {}
        }
        if self.is_of_held(condition) {
            return self.no("asks what is in a message that was kept before");
        }
        // Splits "both" and "neither": each part is asked separately.
        let parts = match *self.graph.kind(condition) {
            Kind::Binary(Binary::And, a, b) if self.graph.ty(condition) == Type::Bool => Some([a, b]),
            Kind::Not(either) if self.graph.ty(condition) == Type::Bool => match *self.graph.kind(either) {
                Kind::Binary(Binary::Or, a, b) => Some([self.graph.not(a), self.graph.not(b)]),
                _ => None,
            },
            _ => None,
        };
        if let Some([a, b]) = parts {
            self.guard(a)?;
            return self.guard(b);
        }
        let positive = match *self.graph.kind(condition) {
            Kind::Not(inner) if self.graph.ty(inner) == Type::Bool => inner,
            _ => condition,
        };
        // What is asked later, and this guard itself, must not say how it is asked.
        let asked = self.graph.without_division(positive);
        self.steps.push(Step::Guard { condition, asked, source: self.source });
        match self.overview.passes.has(Pass::Facts) {
            true => self.graph.learn(condition, true),
            false => self.graph.holds(condition),
        }
        Ok(())
    }

    /// Chooses one of these ways by their probabilities.
    pub fn choose(&mut self, likely: &[f32]) -> usize {
        let at = Far { steps: self.steps.len(), nodes: self.graph.len() };
        let way = self.decisions.next(likely, at);
        if likely.len() > 1 {
            self.likely.push((at.steps, likely[way]));
        }
        way
    }

    /// Marks what follows as unlikely, if nothing was measured.
    pub fn is_unlikely(&mut self, likely: f32) {
        let likely = if self.watched.is_known() { 1.0 } else { likely };
        self.choose(&[likely]);
    }

    /// The probability that the current operation succeeds; `usual`: if nothing was measured.
    pub fn succeeds(&self, usual: f32) -> f32 {
        self.expected.map_or(usual, |expected| expected[0])
    }

    /// The guessed probability of a condition without annotations: most numbers differ.
    fn guess(&self, condition: Node) -> f32 {
        match *self.graph.kind(condition) {
            Kind::Compare(Compare::Eq, a, _) if self.graph.ty(a) != Type::Bool => 0.2,
            Kind::Not(inner) => 1.0 - self.guess(inner),
            Kind::Binary(Binary::And, a, b) => self.guess(a) * self.guess(b),
            Kind::Binary(Binary::Or, a, b) => 1.0 - (1.0 - self.guess(a)) * (1.0 - self.guess(b)),
            _ => 0.5,
        }
    }

    /// Decides a condition; from here on its value is known. `likely`: the probability that it holds, if the source or
    /// a run gives one.
    pub fn decide(&mut self, condition: Node, likely: Option<f32>) -> Followed<bool> {
        if let Some(value) = self.graph.known(condition) {
            return Ok(value != 0);
        }
        let likely = likely.unwrap_or_else(|| self.guess(condition));
        let taken = self.choose(&[likely, 1.0 - likely]) == 0;
        let wanted = if taken { condition } else { self.graph.not(condition) };
        let first = self.steps.len();
        self.guard(wanted)?;
        let likely = if taken { likely } else { 1.0 - likely };
        self.likely.extend((first + 1..self.steps.len()).map(|step| (step, likely)));
        Ok(taken)
    }

    // -- state

    /// The content of a cell with one value.
    pub fn get(&mut self, object: Node, cell: CellId, ty: Type) -> Followed<Node> {
        self.read(object, cell, None, Kind::Get(object, cell), ty)
    }

    /// The content of an array at a place.
    pub fn get_at(&mut self, object: Node, cell: CellId, index: Node, ty: Type) -> Followed<Node> {
        self.read(object, cell, Some(index), Kind::GetAt(object, cell, index), ty)
    }

    fn read(&mut self, object: Node, cell: CellId, index: Option<Node>, kind: Kind, ty: Type) -> Followed<Node> {
        if *self.graph.kind(object) == Kind::Null {
            return self.no("reads of nobody");
        }
        let class = self.class(object);
        for at in (0..self.written.len()).rev() {
            let (other, of, what, place, value) = self.written[at];
            if (of, what) != (class, cell) || !self.is_one(other, object)? {
                continue;
            }
            let is_there = match (place, index) {
                (Some(a), Some(b)) if a != b && self.differ(a, b) => false,
                (Some(a), Some(b)) if a != b => {
                    let same = self.graph.compare(Compare::Eq, a, b);
                    self.decide(same, None)?
                }
                _ if place == index => true,
                _ => return self.no("reads what may have been written by another name"),
            };
            if is_there {
                // A write through null is lost.
                self.must_live(object)?;
                return Ok(value);
            }
        }
        Ok(self.graph.add(kind, ty))
    }

    /// Whether two references are to one object. If that is unknown, it is asked; most are to two.
    pub fn is_one(&mut self, a: Node, b: Node) -> Followed<bool> {
        if a == b {
            return Ok(true);
        }
        // In fixed order, so that it is asked once.
        let same = self.graph.compare(Compare::Eq, a.min(b), a.max(b));
        self.decide(same, Some(0.1))
    }

    /// Whether two nodes are known to be different constants.
    pub fn differ(&self, a: Node, b: Node) -> bool {
        matches!((self.graph.known(a), self.graph.known(b)), (Some(a), Some(b)) if a != b)
    }

    /// Writes a cell, or the place `index` of an array. Nothing is done if the cell already has this value.
    pub fn set(&mut self, object: Node, cell: CellId, index: Option<Node>, value: Node) {
        let class = self.class(object);
        if index.is_none() && self.has(object, cell, value) {
            return;
        }
        self.written.push((object, class, cell, index, value));
        self.deed(match index {
            Some(index) => Do::SetAt { object, cell, index, value },
            None => Do::Set { object, cell, value },
        });
    }

    /// Whether a cell already has this value.
    fn has(&mut self, object: Node, cell: CellId, value: Node) -> bool {
        let class = self.class(object);
        let last = self.written.iter().rev().find(|written| (written.1, written.2) == (class, cell));
        let now = match last {
            Some((other, _, _, None, now)) if *other == object => *now,
            // This is not worth a question.
            Some(_) => return false,
            None => {
                let ty = self.graph.ty(value);
                let Ok(now) = self.get(object, cell, ty) else { return false };
                now
            }
        };
        now == value || matches!((self.graph.known(now), self.graph.known(value)), (Some(a), Some(b)) if a == b)
    }

    /// The class of a reference; for other values a class that no automaton has.
    pub fn class(&self, object: Node) -> ClassId {
        match self.graph.ty(object) {
            Type::Ref(class) => class,
            _ => ClassId(u32::MAX),
        }
    }

    /// Requires that the object exists.
    pub fn must_live(&mut self, object: Node) -> Followed<()> {
        match *self.graph.kind(object) {
            // The content of a cell may be null, even if the class has only one object.
            Kind::Unique(_) => return Ok(()),
            Kind::Null => return self.no("is for nobody"),
            _ if self.alive.contains(&object) => return Ok(()),
            _ => {}
        }
        let lives = self.graph.add(Kind::Lives(object), Type::Bool);
        self.guard(lives)?;
        self.alive.push(object);
        Ok(())
    }

    // -- numbers

    /// A constant of a type.
    pub fn number(&mut self, ty: Type, value: u64) -> Node {
        self.graph.constant(ty, value)
    }

    /// Arithmetic; where it would report there is no path.
    pub fn binary(&mut self, op: Binary, a: Node, b: Node) -> Followed<Node> {
        let ty = self.graph.ty(a);
        if let Type::U(width) = ty {
            self.must_not_report(op, a, b, mokume_interpret::mask(width))?;
        } else if matches!(op, Binary::Div | Binary::Rem | Binary::Within) {
            return self.no("divides what is compared circularly");
        }
        if op == Binary::Within {
            return Ok(a);
        }
        let result = self.graph.binary(op, a, b);
        if op == Binary::Sub {
            // It has not wrapped around.
            let most = self.graph.span(a).1;
            self.graph.is_at_most(result, most);
        }
        Ok(result)
    }

    /// Whether arithmetic reports nothing for any values.
    pub fn never_reports(&self, op: Binary, a: Node, b: Node) -> bool {
        let Type::U(width) = self.graph.ty(a) else { return !matches!(op, Binary::Div | Binary::Rem | Binary::Within) };
        let all = mokume_interpret::mask(width);
        let ((a0, a1), (b0, b1)) = (self.graph.span(a), self.graph.span(b));
        match op {
            Binary::Add => a1.checked_add(b1).is_some_and(|most| most <= all),
            Binary::Mul => a1.checked_mul(b1).is_some_and(|most| most <= all),
            Binary::Sub => a0 >= b1 || self.graph.is_at_least(a, b),
            Binary::Div | Binary::Rem => b0 > 0,
            Binary::Within => a1 < b0,
            _ => true,
        }
    }

    fn must_not_report(&mut self, op: Binary, a: Node, b: Node, all: u64) -> Followed<()> {
        let ty = self.graph.ty(a);
        let ((_, a1), (b0, b1)) = (self.graph.span(a), self.graph.span(b));
        let condition = match op {
            Binary::Add if a1.checked_add(b1).is_some_and(|most| most <= all) => return Ok(()),
            Binary::Add if a == b => {
                let half = self.number(ty, all / 2);
                self.graph.compare(Compare::Le, a, half)
            }
            Binary::Add => {
                // The room above `b`.
                let room = self.graph.not(b);
                self.graph.compare(Compare::Le, a, room)
            }
            Binary::Sub => self.graph.compare(Compare::Ge, a, b),
            Binary::Mul if a1.checked_mul(b1).is_some_and(|most| most <= all) => return Ok(()),
            Binary::Mul => match (self.graph.known(a), self.graph.known(b)) {
                (_, Some(times)) if times > 0 => {
                    let most = self.number(ty, all / times);
                    self.graph.compare(Compare::Le, a, most)
                }
                (Some(times), _) if times > 0 => {
                    let most = self.number(ty, all / times);
                    self.graph.compare(Compare::Le, b, most)
                }
                // Enough, whatever the first is.
                _ if a1 > 0 => {
                    let most = self.number(ty, all / a1);
                    self.graph.compare(Compare::Le, b, most)
                }
                _ => return Ok(()),
            },
            Binary::Div | Binary::Rem if b0 > 0 => return Ok(()),
            Binary::Div | Binary::Rem => {
                let zero = self.number(ty, 0);
                self.graph.compare(Compare::Ne, b, zero)
            }
            Binary::Within => self.graph.compare(Compare::Lt, a, b),
            _ => return Ok(()),
        };
        self.guard(condition)
    }

    /// The sum of sizes and offsets, which are too small to wrap around.
    pub fn plus(&mut self, a: Node, octets: u64) -> Node {
        let ty = self.graph.ty(a);
        let octets = self.number(ty, octets);
        self.graph.binary(Binary::AddWrap, a, octets)
    }

    /// `a - b`; requires `a >= b`.
    pub fn minus(&mut self, a: Node, b: Node) -> Followed<Node> {
        let enough = self.graph.compare(Compare::Ge, a, b);
        self.guard(enough)?;
        Ok(self.graph.binary(Binary::SubWrap, a, b))
    }

    /// A field of a message that is a parameter, at an octet that exists.
    pub fn load(&mut self, message: u32, field: OctetField, at: Node) -> Node {
        self.graph.add(Kind::Load(message, field, at), field.ty())
    }

    /// The layer of a handler.
    pub fn layer_of(&self, handler: HandlerId) -> LayerId {
        self.automaton.class(self.automaton.handler(handler).class).layer
    }
}
