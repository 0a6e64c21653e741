//! A path while it is found: guards and look-ups first, then what is done.

use std::collections::HashSet;
use std::rc::Rc;

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

/// Why there is no path this way: in words that end a sentence about an operation, and where it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Why {
    pub what: String,
    pub source: Option<SourceId>,
}

/// What is asked before anything is done, in order.
#[derive(Clone, Debug)]
pub enum Step {
    Guard {
        condition: Node,
        source: Option<SourceId>,
    },
    Find {
        object: Node,
        cell: CellId,
        key: Vec<Node>,
        found: Vec<Type>,
        source: Option<SourceId>,
    },
    /// The top header of a message that is given: which it is.
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
    /// Where it comes from.
    pub fn source(&self) -> Option<SourceId> {
        match self {
            Step::Guard { source, .. }
            | Step::Find { source, .. }
            | Step::Peek { source, .. }
            | Step::Absent { source, .. } => *source,
        }
    }
}

/// What is done then, in order.
#[derive(Clone, Debug)]
pub struct Deed {
    pub what: Do,
    pub source: Option<SourceId>,
}

/// One thing that is done.
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
    /// There is so much.
    Take {
        object: Node,
        cell: CellId,
        amount: Node,
    },
    /// So much was taken.
    Give {
        object: Node,
        cell: CellId,
        amount: Node,
    },
    /// The place has a message.
    ConsumeHeld {
        object: Node,
        cell: CellId,
        index: Node,
        reason: ReasonId,
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
    /// The last: what a handler that is not followed does.
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
    /// Whether messages leave by it, or end.
    pub fn ends_messages(&self) -> bool {
        matches!(self, Do::Out { .. } | Do::HandOver { .. } | Do::Drop { .. } | Do::Consume { .. })
    }

    /// The messages that go with it.
    pub fn messages(&self) -> Vec<&Message> {
        match self {
            Do::Out { args, .. } | Do::HandOver { args, .. } => args.iter().filter_map(Given::message).collect(),
            Do::Drop { message, .. } | Do::Consume { message, .. } | Do::Keep { message, .. } => vec![message],
            Do::Set { .. }
            | Do::SetAt { .. }
            | Do::Arm { .. }
            | Do::Disarm { .. }
            | Do::Count { .. }
            | Do::Take { .. }
            | Do::Give { .. }
            | Do::ConsumeHeld { .. } => Vec::new(),
        }
    }
}

/// What goes with an event.
#[derive(Clone, Debug)]
pub enum Given {
    Node(Node),
    Message(Box<Message>),
    /// What was in a place before, of which no path says what it is.
    Held(Place),
}

/// A place for a message.
pub type Place = (Node, CellId, Node);

impl Given {
    fn message(&self) -> Option<&Message> {
        match self {
            Given::Message(message) => Some(message),
            Given::Node(_) | Given::Held(_) => None,
        }
    }
}

/// A handler's call on a way: how many there were before, and the decisions by then.
pub type Call = (u32, Vec<usize>);

/// A call on the way.
#[derive(Clone)]
pub struct Active {
    pub call: Call,
    pub layer: LayerId,
    /// Whether nothing is left to do behind it.
    pub is_last: bool,
}

/// What a way looks at of the code of a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counted {
    pub operations: usize,
    /// Where the code parts.
    pub branches: usize,
}

/// One way through a reaction, as far as it is found.
pub struct Region<'a> {
    pub automaton: &'a Automaton,
    /// Whether it begins with an event that a layer emits: then messages may have headers, and queues may hold something.
    pub is_inside: bool,
    pub overview: Rc<Overview>,
    /// Calls where the path hands over.
    pub ends: Rc<HashSet<Call>>,
    /// Calls on the way, and those that are not done with.
    pub calls: Vec<Active>,
    pub active: Vec<Active>,
    /// Handlers on the way.
    pub handlers: Vec<HandlerId>,
    pub graph: Graph<'a>,
    pub decisions: Decisions,
    /// What a run has shown of reactions that go as this one does.
    pub watched: Watched<'a>,
    /// The same of the two targets of the operation at hand.
    pub expected: Option<[f32; 2]>,
    pub steps: Vec<Step>,
    pub deeds: Vec<Deed>,
    /// What cells of one value have from here on.
    pub written: Vec<(Node, ClassId, CellId, Option<Node>, Node)>,
    /// Timers: whether armed.
    pub timers: Vec<(Node, CellId, bool)>,
    /// What was put into places and taken out.
    pub held: Vec<Held>,
    /// What quotas have left that were taken from, or given back to.
    pub left: Vec<(Node, ClassId, CellId, Node)>,
    pub alive: Vec<Node>,
    pub pending: Vec<Channel>,
    pub settling: Settling,
    /// The operation at hand.
    pub source: Option<SourceId>,
    /// Handlers that are not done with.
    pub depth: u32,
    /// Operations that may still be looked at.
    pub budget: u32,
    /// The layers that the path came through, in order.
    pub layers: Vec<LayerId>,
    /// Steps that a decision made, by their places, each with how likely it is that they hold.
    pub likely: Vec<(usize, f32)>,
    /// By layer: what was looked at of its code.
    pub followed: Vec<Counted>,
}

/// What comes of following a path.
pub type Followed<T> = Result<T, Why>;

impl<'a> Region<'a> {
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

    /// Where the way may end instead of where it failed: at the last call behind which nothing is left to do, if no way through that
    /// one succeeded.
    pub fn where_to_end(&self, succeeded: &HashSet<Call>) -> Option<(Call, LayerId)> {
        let last = self.active.iter().rev().find(|active| active.is_last)?;
        (!succeeded.contains(&last.call)).then(|| (last.call.clone(), last.layer))
    }

    /// There is no path this way.
    pub fn no<T>(&self, what: impl Into<String>) -> Followed<T> {
        Err(Why { what: what.into(), source: self.source })
    }

    pub fn deed(&mut self, what: Do) {
        self.deeds.push(Deed { what, source: self.source });
    }

    /// The path goes on only where the condition holds. What the path has written is read back as a value, so that nodes mean the state at
    /// its beginning, and guards can all be asked there.
    pub fn guard(&mut self, condition: Node) -> Followed<()> {
        match self.graph.known(condition) {
            Some(0) => return self.no("never comes to here"),
            Some(_) => return Ok(()),
            None => {}
        }
        // Both, or neither: each is asked for by itself.
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
        self.steps.push(Step::Guard { condition, source: self.source });
        match self.overview.passes.has(Pass::Facts) {
            true => self.graph.learn(condition, true),
            false => self.graph.holds(condition),
        }
        Ok(())
    }

    /// One of these ways, by how likely each is.
    pub fn choose(&mut self, likely: &[f32]) -> usize {
        let at = Far { steps: self.steps.len(), nodes: self.graph.len() };
        let way = self.decisions.next(likely, at);
        if likely.len() > 1 {
            self.likely.push((at.steps, likely[way]));
        }
        way
    }

    /// What is done from here on is unlikely, if nothing was measured.
    pub fn is_unlikely(&mut self, likely: f32) {
        let likely = if self.watched.is_known() { 1.0 } else { likely };
        self.choose(&[likely]);
    }

    /// How likely it is that the operation at hand succeeds; `usual`: if nothing was measured.
    pub fn succeeds(&self, usual: f32) -> f32 {
        self.expected.map_or(usual, |expected| expected[0])
    }

    /// How likely a condition is of which nobody says anything: most numbers differ.
    fn guess(&self, condition: Node) -> f32 {
        match *self.graph.kind(condition) {
            Kind::Compare(Compare::Eq, a, _) if self.graph.ty(a) != Type::Bool => 0.2,
            Kind::Not(inner) => 1.0 - self.guess(inner),
            Kind::Binary(Binary::And, a, b) => self.guess(a) * self.guess(b),
            Kind::Binary(Binary::Or, a, b) => 1.0 - (1.0 - self.guess(a)) * (1.0 - self.guess(b)),
            _ => 0.5,
        }
    }

    /// The one way or the other, and from here on it is known which; `likely`: how likely the condition holds, if somebody says so.
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

    /// What a cell of one value has.
    pub fn get(&mut self, object: Node, cell: CellId, ty: Type) -> Followed<Node> {
        self.read(object, cell, None, Kind::Get(object, cell), ty)
    }

    /// What an array has at a place.
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
                // What is written to nobody is lost.
                self.must_live(object)?;
                return Ok(value);
            }
        }
        Ok(self.graph.add(kind, ty))
    }

    /// Whether two references are to one object; where it is not known, it is asked: most are to two.
    pub fn is_one(&mut self, a: Node, b: Node) -> Followed<bool> {
        if a == b {
            return Ok(true);
        }
        // In one order, so that it is asked once.
        let same = self.graph.compare(Compare::Eq, a.min(b), a.max(b));
        self.decide(same, Some(0.1))
    }

    pub fn differ(&self, a: Node, b: Node) -> bool {
        matches!((self.graph.known(a), self.graph.known(b)), (Some(a), Some(b)) if a != b)
    }

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

    /// Whether a cell has this value already.
    fn has(&mut self, object: Node, cell: CellId, value: Node) -> bool {
        let class = self.class(object);
        let last = self.written.iter().rev().find(|written| (written.1, written.2) == (class, cell));
        let now = match last {
            Some((other, _, _, None, now)) if *other == object => *now,
            // Nothing is asked for that.
            Some(_) => return false,
            None => {
                let ty = self.graph.ty(value);
                let Ok(now) = self.get(object, cell, ty) else { return false };
                now
            }
        };
        now == value || matches!((self.graph.known(now), self.graph.known(value)), (Some(a), Some(b)) if a == b)
    }

    /// The class of a reference; of any other value a class that no automaton has.
    pub fn class(&self, object: Node) -> ClassId {
        match self.graph.ty(object) {
            Type::Ref(class) => class,
            _ => ClassId(u32::MAX),
        }
    }

    /// The path goes on only where the object is there.
    pub fn must_live(&mut self, object: Node) -> Followed<()> {
        match *self.graph.kind(object) {
            // What a cell has may be null, also where there is but one object of the class.
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
            // It has not gone around.
            let most = self.graph.span(a).1;
            self.graph.is_at_most(result, most);
        }
        Ok(result)
    }

    /// Whether arithmetic reports nothing, whatever comes.
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
                // What is left above `b`.
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

    /// The sum of sizes and places, of which none is so large that it goes around.
    pub fn plus(&mut self, a: Node, octets: u64) -> Node {
        let ty = self.graph.ty(a);
        let octets = self.number(ty, octets);
        self.graph.binary(Binary::AddWrap, a, octets)
    }

    /// `a` less `b`, where the path goes on only if there is so much.
    pub fn minus(&mut self, a: Node, b: Node) -> Followed<Node> {
        let enough = self.graph.compare(Compare::Ge, a, b);
        self.guard(enough)?;
        Ok(self.graph.binary(Binary::SubWrap, a, b))
    }

    pub fn load(&mut self, message: u32, field: OctetField, at: Node) -> Node {
        self.graph.add(Kind::Load(message, field, at), field.ty())
    }

    /// The layer whose handler it is.
    pub fn layer_of(&self, handler: HandlerId) -> LayerId {
        self.automaton.class(self.automaton.handler(handler).class).layer
    }
}
