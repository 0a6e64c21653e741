//! All ways through the reaction to a port event, as far as paths can say them; each branch taken both ways, with its likelihood.
//!
//! What a path cannot say (a new object, a loop, a queue) ends a way: that event keeps its layered code for it.

use mokume_reaction::{
    Automaton, Body, CellId, CellKind, ClassId, Effect, FunctionId, HandlerId, LensId, LinkKind, ObjectSource, PathArg,
    PathObjectId, PathOut, PortId, Step, Target, Term, TermCompare, Terminator, Trigger, Type, Value as Id,
};

use super::message::{number, Packet};

#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    Term(Term),
    Object(PathObjectId, ClassId),
    Null,
    Message(Packet),
}

/// A way through a reaction, or the part of one that has been walked.
#[derive(Clone, PartialEq, Debug)]
pub struct Way {
    pub steps: Vec<Step>,
    /// Of each record of the steps: its lens.
    pub records: Vec<LensId>,
    /// Layered cells as the way leaves them, in the order in which they were set.
    pub sets: Vec<(PathObjectId, ClassId, CellId, Term)>,
    pub sent: Vec<PathOut>,
    /// Messages that end here.
    pub ends: Vec<Effect>,
    pub likelihood: f64,
    /// Blocks entered, against loops.
    blocks: usize,
    found: Vec<(ObjectSource, PathObjectId)>,
    frames: Vec<Frame>,
    agenda: Vec<Next>,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Frame {
    pub running: Running,
    pub values: Vec<Option<Value>>,
    pub block: usize,
    pub calls: Vec<Next>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Running {
    Handler(HandlerId),
    Function(FunctionId),
}

impl Running {
    pub fn body(self, automaton: &Automaton) -> &Body {
        match self {
            Running::Handler(id) => &automaton.handler(id).body,
            Running::Function(id) => &automaton.functions[id.index()].body,
        }
    }
}

/// An emission: carried out when the handler has ended, in order.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Next {
    Call(Call),
    Out(PathOut),
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Call {
    pub object: PathObjectId,
    pub class: ClassId,
    pub event: String,
    pub args: Vec<Value>,
}

/// More ways than these are not looked at; the likelier branch is walked first.
const MOST_WAYS: usize = 256;
/// A way that goes round for so long is no common one; nor is one that hardly ever happens.
const MOST_BLOCKS: usize = 256;
const LEAST_LIKELIHOOD: f64 = 0.001;
/// Without a word from the source a branch is as likely as not, a look-up finds, a decoder accepts.
const EVEN: f64 = 0.5;
const USUAL: f64 = 0.95;

pub(super) fn ways(automaton: &Automaton, port: PortId, event: u32) -> Vec<Way> {
    let mut done = Vec::new();
    let mut open: Vec<Way> = Way::begin(automaton, port, event).into_iter().collect();
    while let Some(way) = open.pop() {
        if done.len() + open.len() > MOST_WAYS {
            break;
        }
        match way.advance(automaton) {
            Progress::Done(way) => done.push(*way),
            Progress::Ways(more) => open.extend(more),
        }
    }
    done
}

pub(super) enum Progress {
    Done(Box<Way>),
    /// None when the way cannot be said.
    Ways(Vec<Way>),
}

impl Way {
    fn begin(automaton: &Automaton, port: PortId, event: u32) -> Option<Way> {
        let input = &automaton.ports[port.index()].inputs[event as usize];
        let mut way = Way {
            steps: Vec::new(),
            records: Vec::new(),
            sets: Vec::new(),
            sent: Vec::new(),
            ends: Vec::new(),
            likelihood: 1.0,
            blocks: 0,
            found: Vec::new(),
            frames: Vec::new(),
            agenda: Vec::new(),
        };
        let unique = automaton.is_unique(input.class);
        let source = if unique { ObjectSource::Unique(input.class) } else { ObjectSource::Param(0) };
        let object = way.object(automaton, input.class, source)?;
        let mut args = Vec::new();
        for (index, (_, ty)) in input.params.iter().enumerate().skip(usize::from(!unique)) {
            args.push(match ty {
                Type::Msg => Value::Message(Packet::of_event(index as u32)),
                Type::Ref(class) => {
                    let other = way.object(automaton, *class, ObjectSource::Param(index as u32))?;
                    Value::Object(other, *class)
                }
                scalar => {
                    let width = scalar.width(automaton);
                    Value::Term(Term::Cast { width, a: Box::new(Term::Param(index as u32)) })
                }
            });
        }
        way.agenda.push(Next::Call(Call { object, class: input.class, event: input.handler.clone(), args }));
        Some(way)
    }

    /// Walks one block, or begins the next handler.
    fn advance(mut self, automaton: &Automaton) -> Progress {
        let Some(frame) = self.frames.last() else {
            let call = match self.agenda.pop() {
                None => return Progress::Done(Box::new(self)),
                Some(Next::Out(out)) => {
                    self.sent.push(out);
                    return Progress::Ways(vec![self]);
                }
                Some(Next::Call(call)) => call,
            };
            return match self.enter(automaton, call) {
                Some(()) => Progress::Ways(vec![self]),
                None => Progress::Ways(Vec::new()),
            };
        };
        let body = frame.running.body(automaton);
        let block = &body.blocks[frame.block];
        for op in &block.ops {
            let results = self.operation(automaton, &op.kind).filter(|results| results.iter().all(is_small));
            let Some(results) = results else { return Progress::Ways(Vec::new()) };
            let Some(frame) = self.frames.last_mut() else { return Progress::Ways(Vec::new()) };
            for (id, value) in op.results.iter().zip(results) {
                frame.values[id.index()] = Some(value);
            }
        }
        Progress::Ways(self.end(automaton, body, &block.end).unwrap_or_default())
    }

    fn enter(&mut self, automaton: &Automaton, call: Call) -> Option<()> {
        // An object that settles afterwards does more in the reaction than a path can say.
        if automaton.handler_of(call.class, &Trigger::Settle).is_some() {
            return None;
        }
        let trigger = Trigger::Event(call.event);
        let handler = automaton.handler_of(call.class, &trigger)?;
        let body = &automaton.handler(handler).body;
        let mut values = vec![None; body.values.len()];
        let all = std::iter::once(Value::Object(call.object, call.class)).chain(call.args);
        for (param, value) in body.blocks[0].params.iter().zip(all) {
            values[param.index()] = Some(value);
        }
        self.frames.push(Frame { running: Running::Handler(handler), values, block: 0, calls: Vec::new() });
        Some(())
    }

    fn end(mut self, automaton: &Automaton, body: &Body, end: &Terminator) -> Option<Vec<Way>> {
        match end {
            Terminator::Return => {
                let frame = self.frames.pop()?;
                let Running::Handler(handler) = frame.running else { return None };
                let from = automaton.class(automaton.handler(handler).class).layer;
                let composition = automaton.composition.as_ref()?;
                for call in frame.calls.into_iter().rev() {
                    let queued = match &call {
                        Next::Call(call) => composition.queued.contains(&(from, automaton.class(call.class).layer)),
                        Next::Out(out) => composition.queued_outputs.contains(&(from, out.port)),
                    };
                    if queued {
                        return None;
                    }
                    self.agenda.push(call);
                }
                Some(vec![self])
            }
            Terminator::Jump { to } => Some(vec![self.go(body, to, Vec::new())?]),
            Terminator::Branch { condition, then, otherwise, likely } => {
                let condition = self.term(*condition)?;
                if let Term::Number { value, .. } = condition {
                    return Some(vec![self.go(body, if value == 1 { then } else { otherwise }, Vec::new())?]);
                }
                let likely = likely.map_or(EVEN, f64::from);
                let opposite = negated(condition.clone());
                let ways = [(condition, then, likely), (opposite, otherwise, 1.0 - likely)];
                Some(
                    ways.into_iter()
                        .filter_map(|(guard, target, likely)| self.branch(body, guard, target, likely))
                        .collect(),
                )
            }
            Terminator::PopSwitch { message, header, cases } => {
                let mut message = self.message(*message)?;
                let (found, variant, fields) = message.headers.pop()?;
                let (_, target) = cases.iter().find(|(case, _)| found == *header && *case == variant)?;
                let results = std::iter::once(Value::Message(message)).chain(fields.into_iter().map(Value::Term));
                Some(vec![self.go(body, target, results.collect())?])
            }
            Terminator::Switch { value, cases, default } => {
                let value = self.term(*value)?;
                let width = super::message::width_of(&value);
                let mut ways = Vec::new();
                let mut rest = self.clone();
                for (case, target) in cases {
                    let hit = compare(TermCompare::Eq, value.clone(), number(width, *case));
                    ways.extend(self.branch(body, hit.clone(), target, EVEN));
                    rest.guard(negated(hit));
                }
                ways.extend(rest.go(body, default, Vec::new()));
                Some(ways)
            }
            Terminator::Decode { message, wire, then, .. } => self.decode(automaton, body, *message, *wire, then, true),
            Terminator::Vet { message, wire, then, .. } => self.decode(automaton, body, *message, *wire, then, false),
            Terminator::Find { object, cell, key, then, .. } => {
                let (record, class) = self.object_value(*object)?;
                let CellKind::Map { value, .. } = &automaton.cell(class, *cell).kind else { return None };
                let [Type::Ref(referred)] = value.as_slice() else { return None };
                let key = key.iter().map(|part| self.term(*part)).collect::<Option<Vec<_>>>()?;
                let source = ObjectSource::Find { object: record, class, cell: *cell, key, value: 0 };
                let found = self.object(automaton, *referred, source)?;
                self.likelihood *= USUAL;
                Some(vec![self.go(body, then, vec![Value::Object(found, *referred)])?])
            }
            Terminator::TakeOut { object, cell, index, otherwise, .. } => {
                // The empty place only: what was kept is of an event long past.
                let ((object, class), index) = (self.object_value(*object)?, self.term(*index)?);
                let holds = Term::Holds { object, class, cell: *cell, index: Box::new(index) };
                self.guard(negated(holds));
                self.likelihood *= EVEN;
                Some(vec![self.go(body, otherwise, Vec::new())?])
            }
            _ => None,
        }
    }

    fn branch(&self, body: &Body, guard: Term, target: &Target, likely: f64) -> Option<Way> {
        let mut way = self.clone();
        way.guard(guard);
        way.likelihood *= likely;
        way.go(body, target, Vec::new())
    }

    pub(super) fn go(mut self, body: &Body, target: &Target, mut results: Vec<Value>) -> Option<Way> {
        let block = target.block.index();
        self.blocks += 1;
        if self.blocks > MOST_BLOCKS || self.likelihood < LEAST_LIKELIHOOD {
            return None;
        }
        let args = target.args.iter().map(|arg| self.value(*arg)).collect::<Option<Vec<_>>>()?;
        results.extend(args);
        let frame = self.frames.last_mut()?;
        frame.block = block;
        for (param, value) in body.blocks[block].params.iter().zip(results) {
            frame.values[param.index()] = Some(value);
        }
        Some(self)
    }

    /// Asks for a condition, once.
    pub(super) fn guard(&mut self, condition: Term) {
        let conditions = match condition {
            Term::Binary { op: mokume_reaction::TermOp::And, a, b } => vec![*a, *b],
            Term::Number { value: 1, .. } => return,
            other => vec![other],
        };
        for condition in conditions {
            if matches!(condition, Term::Binary { op: mokume_reaction::TermOp::And, .. }) {
                self.guard(condition);
                continue;
            }
            let step = Step::Guard { condition, refresh: None };
            if !self.steps.contains(&step) {
                self.steps.push(step);
            }
        }
    }

    /// The record of an object, found once.
    pub(super) fn object(
        &mut self,
        automaton: &Automaton,
        class: ClassId,
        source: ObjectSource,
    ) -> Option<PathObjectId> {
        if let Some((_, known)) = self.found.iter().find(|(known, _)| *known == source) {
            return Some(*known);
        }
        let lens = automaton.lenses.iter().position(|lens| lens.classes.contains(&class)).map(LensId::from)?;
        let id = PathObjectId::from(self.records.len());
        let name = format!("{}{}", automaton.class(class).name.replace('.', "_"), id.0);
        self.steps.push(Step::Object { name, lens, from: source.clone() });
        self.records.push(lens);
        self.found.push((source, id));
        Some(id)
    }

    /// Follows a reference: within the record along 1:1 links, else to another record.
    pub(super) fn follow(&mut self, automaton: &Automaton, at: (PathObjectId, ClassId), cell: CellId) -> Option<Value> {
        let (record, class) = at;
        let CellKind::Scalar { ty: Type::Ref(referred), .. } = automaton.cell(class, cell).kind else { return None };
        let lens = &automaton.lenses[self.records[record.index()].index()];
        let ends = |link: &mokume_reaction::Link| {
            link.kind == LinkKind::OneToOne
                && ((link.above == (class, Some(cell)) && link.below.0 == referred)
                    || (link.below == (class, Some(cell)) && link.above.0 == referred))
        };
        if lens.classes.contains(&referred) && automaton.links.iter().any(ends) {
            self.guard(negated(Term::IsNull { object: record, class, cell }));
            return Some(Value::Object(record, referred));
        }
        let other = self.object(automaton, referred, ObjectSource::Cell(record, class, cell))?;
        Some(Value::Object(other, referred))
    }

    /// A layered scalar cell as it is now on this way.
    pub(super) fn cell(&self, automaton: &Automaton, at: (PathObjectId, ClassId), cell: CellId) -> Term {
        let (object, class) = at;
        let set = self.sets.iter().find(|(o, c, known, _)| (*o, *c, *known) == (object, class, cell));
        if let Some((.., value)) = set {
            return value.clone();
        }
        let CellKind::Scalar { ty, .. } = automaton.cell(class, cell).kind else { return number(1, 0) };
        Term::Cast { width: ty.width(automaton).max(1), a: Box::new(Term::Cell { object, class, cell }) }
    }

    pub(super) fn set(&mut self, at: (PathObjectId, ClassId), cell: CellId, value: Term) {
        let (object, class) = at;
        match self.sets.iter_mut().find(|(o, c, known, _)| (*o, *c, *known) == (object, class, cell)) {
            Some((.., old)) => *old = value,
            None => self.sets.push((object, class, cell, value)),
        }
    }

    /// Another record of the class is on this way: the two may be one object.
    pub(super) fn has_double(&self, record: PathObjectId) -> bool {
        let lens = self.records[record.index()];
        self.records.iter().enumerate().any(|(index, other)| index != record.index() && *other == lens)
    }

    pub(super) fn body_at_hand<'a>(&self, automaton: &'a Automaton) -> Option<&'a Body> {
        self.frames.last().map(|frame| frame.running.body(automaton))
    }

    /// A function that does not branch, or only on what is known: its results.
    pub(super) fn inline(
        &mut self,
        automaton: &Automaton,
        function: FunctionId,
        args: Vec<Value>,
    ) -> Option<Vec<Value>> {
        let running = Running::Function(function);
        let body = running.body(automaton);
        let mut values = vec![None; body.values.len()];
        for (param, value) in body.blocks[0].params.iter().zip(args) {
            values[param.index()] = Some(value);
        }
        self.frames.push(Frame { running, values, block: 0, calls: Vec::new() });
        for _ in 0..MOST_BLOCKS {
            let block = &body.blocks[self.frames.last()?.block];
            for op in &block.ops {
                let results = self.operation(automaton, &op.kind).filter(|results| results.iter().all(is_small))?;
                let frame = self.frames.last_mut()?;
                for (id, value) in op.results.iter().zip(results) {
                    frame.values[id.index()] = Some(value);
                }
            }
            let to = match &block.end {
                Terminator::Yield { values } => {
                    let results = values.iter().map(|value| self.value(*value)).collect();
                    self.frames.pop();
                    return results;
                }
                Terminator::Jump { to } => to,
                Terminator::Branch { condition, then, otherwise, .. } => match self.term(*condition)? {
                    Term::Number { value, .. } => {
                        if value == 1 {
                            then
                        } else {
                            otherwise
                        }
                    }
                    _ => return None,
                },
                _ => return None,
            };
            *self = self.clone().go(body, to, Vec::new())?;
        }
        None
    }

    pub(super) fn value(&self, id: Id) -> Option<Value> {
        self.frames.last()?.values[id.index()].clone()
    }

    pub(super) fn term(&self, id: Id) -> Option<Term> {
        match self.value(id)? {
            Value::Term(term) => Some(term),
            _ => None,
        }
    }

    pub(super) fn object_value(&self, id: Id) -> Option<(PathObjectId, ClassId)> {
        match self.value(id)? {
            Value::Object(object, class) => Some((object, class)),
            _ => None,
        }
    }

    pub(super) fn message(&self, id: Id) -> Option<Packet> {
        match self.value(id)? {
            Value::Message(packet) => Some(packet),
            _ => None,
        }
    }

    pub(super) fn emit(&mut self, call: Next) {
        if let Some(frame) = self.frames.last_mut() {
            frame.calls.push(call);
        }
    }

    /// Something came of the event: it was handed on.
    pub fn is_useful(&self) -> bool {
        let handed_on = |arg: &PathArg| matches!(arg, PathArg::Message(message) if !message.octets.is_empty());
        let used_up = |effect: &Effect| matches!(effect, Effect::Consume { .. });
        self.sent.iter().any(|out| out.args.iter().any(handed_on)) || self.ends.iter().any(used_up)
    }

    pub fn commit(&self) -> Vec<Effect> {
        let set = |(object, class, cell, value): &(PathObjectId, ClassId, CellId, Term)| Effect::Set {
            object: *object,
            class: *class,
            cell: *cell,
            value: value.clone(),
        };
        self.sets.iter().map(set).chain(self.ends.iter().cloned()).collect()
    }

    pub fn outs(&self) -> Vec<PathOut> {
        self.sent.clone()
    }
}

/// A value that grows beyond this is no header field: terms are trees, and a fold over octets would double them with each.
const LARGEST_TERM: usize = 512;

fn is_small(value: &Value) -> bool {
    fn spend(term: &Term, left: &mut usize) -> bool {
        *left = left.saturating_sub(1);
        *left > 0 && mokume_reaction::terms::parts(term).into_iter().all(|part| spend(part, left))
    }
    match value {
        Value::Term(term) => spend(term, &mut LARGEST_TERM.clone()),
        _ => true,
    }
}

/// `a op b` with constants folded; comparisons with a constant in one form, so that equal ones are seen to be equal.
pub fn compare(op: TermCompare, a: Term, b: Term) -> Term {
    use TermCompare as C;
    let fold = |x: u64, y: u64| match op {
        C::Eq => Some(x == y),
        C::Ne => Some(x != y),
        C::Lt => Some(x < y),
        C::Le => Some(x <= y),
        C::Gt => Some(x > y),
        C::Ge => Some(x >= y),
        _ => None,
    };
    match (&a, &b) {
        (Term::Number { value: x, .. }, Term::Number { value: y, .. }) => {
            if let Some(truth) = fold(*x, *y) {
                return number(1, u64::from(truth));
            }
        }
        // a > c is a >= c + 1; a < c is a <= c - 1.
        (_, Term::Number { width, value }) if op == C::Gt => {
            return Term::Compare { op: C::Ge, b: Box::new(number(*width, value + 1)), a: Box::new(a) };
        }
        (_, Term::Number { width, value }) if op == C::Lt && *value > 0 => {
            return Term::Compare { op: C::Le, b: Box::new(number(*width, value - 1)), a: Box::new(a) };
        }
        _ => {}
    }
    Term::Compare { op, a: Box::new(a), b: Box::new(b) }
}

/// The opposite of a condition.
pub fn negated(condition: Term) -> Term {
    use TermCompare as C;
    match condition {
        Term::Not(inner) => *inner,
        Term::Number { value, .. } => number(1, value ^ 1),
        Term::Compare { op, a, b } => {
            let op = match op {
                C::Eq => C::Ne,
                C::Ne => C::Eq,
                C::Lt => C::Ge,
                C::Le => C::Gt,
                C::Gt => C::Le,
                C::Ge => C::Lt,
                // Circular comparison is no total order: its opposite is not the other comparison at half the circle.
                circular => return Term::Not(Box::new(Term::Compare { op: circular, a, b })),
            };
            compare(op, *a, *b)
        }
        other => Term::Not(Box::new(other)),
    }
}
