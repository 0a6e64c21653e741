//! A reaction followed from the handler of a port's event through all layers, one way.
//!
//! It must keep: the order in which things are done is that of `docs/semantics.md`, O. Where it cannot be known, or an operation is
//! not read yet, there is no path.

use mokume_reaction::{
    Automaton, Body, CellId, CellKind, Channel, ClassId, Endian, Fallible, FunctionId, HandlerId, Op, OpKind, Target,
    Terminator, Trigger, Type, Value, VariantId,
};

use crate::graph::{Kind, Node};
use crate::message::{Field, Message};
use crate::region::{Active, Deed, Do, Followed, Given, Region, Step};

/// Who an emission is for.
enum To {
    Object(Node),
    /// Whoever a cell refers to when it is carried out.
    Linked(Node, CellId),
    Port(mokume_reaction::PortId, u32),
}

/// What a handler emitted, to be carried out when it has ended.
pub(crate) struct Emitted {
    to: To,
    handler: Option<HandlerId>,
    args: Vec<Given>,
    channel: Channel,
    source: Option<mokume_reaction::SourceId>,
}

/// Handlers within each other.
const DEEPEST: u32 = 250;

/// How a body ended.
enum End {
    Returned,
    Gave(Vec<Given>),
}

/// A body at work.
pub(crate) struct Frame<'a> {
    pub body: &'a Body,
    values: Vec<Option<Given>>,
    emitted: Vec<Emitted>,
    /// None in a function.
    layer: Option<mokume_reaction::LayerId>,
}

impl Frame<'_> {
    pub fn set(&mut self, value: Value, given: Given) {
        self.values[value.index()] = Some(given);
    }

    pub fn is_message(&self, value: Value) -> bool {
        self.body.values[value.index()].ty == Type::Msg
    }

    pub fn node(&self, value: Value) -> Option<Node> {
        match &self.values[value.index()] {
            Some(Given::Node(node)) => Some(*node),
            _ => None,
        }
    }
}

fn target_class(automaton: &Automaton, class: ClassId, event: &str) -> Option<HandlerId> {
    automaton.handler_of(class, &Trigger::Event(event.to_owned()))
}

impl<'a> Region<'a> {
    /// The whole reaction to an event at a port, for one object of its handler's class.
    pub fn reaction(&mut self, handler: HandlerId) -> Followed<()> {
        let automaton = self.automaton;
        let definition = automaton.handler(handler);
        let object = match automaton.is_unique(definition.class) {
            true => self.graph.add(Kind::Unique(definition.class), Type::Ref(definition.class)),
            false => self.graph.add(Kind::Entry(0), Type::Ref(definition.class)),
        };
        self.alive.push(object);
        let mut args = Vec::new();
        for (place, (_, ty)) in definition.params.iter().enumerate() {
            args.push(match ty {
                Type::Msg => Given::Message(Box::new(self.given(place as u32 + 1))),
                ty => Given::Node(self.graph.add(Kind::Entry(place as u32 + 1), *ty)),
            });
        }
        self.handler(handler, object, args)?;
        self.settle()?;
        let hands_over = |deed: &Deed| matches!(deed.what, Do::HandOver { .. });
        if self.deeds.iter().rev().skip(1).any(hands_over) {
            return self.no("does more behind what it hands over");
        }
        self.all_given_away(handler)
    }

    /// Each message that came in leaves, or is kept; more than once only where the program lends it.
    fn all_given_away(&mut self, handler: HandlerId) -> Followed<()> {
        let params = &self.automaton.handler(handler).params;
        let messages = (0..params.len()).filter(|place| params[*place].1 == Type::Msg).map(|place| place as u32 + 1);
        for message in messages {
            let uses = self.deeds.iter().flat_map(|deed| deed.what.messages()).filter(|found| found.given == message);
            match (uses.count(), self.is_inside) {
                (1, _) | (2.., false) => {}
                _ => return self.no("gives a message away more than once, or keeps it"),
            }
        }
        Ok(())
    }

    /// One handler, and then all that follows from what it emitted.
    fn handler(&mut self, handler: HandlerId, object: Node, args: Vec<Given>) -> Followed<()> {
        self.touch(object)?;
        let emitted = self.instant(handler, object, args)?;
        self.carry_all_out(emitted)
    }

    /// One handler by itself: what it emitted.
    pub(crate) fn instant(&mut self, handler: HandlerId, object: Node, args: Vec<Given>) -> Followed<Vec<Emitted>> {
        let definition = self.automaton.handler(handler);
        let layer = self.layer_of(handler);
        self.handlers.push(handler);
        if self.layers.last() != Some(&layer) {
            self.layers.push(layer);
        }
        let given = std::iter::once(Given::Node(object)).chain(args).collect();
        Ok(self.body(&definition.body, given, Some(layer))?.1)
    }

    /// What a handler emitted is carried out, each with all that follows from it.
    pub(crate) fn carry_all_out(&mut self, emitted: Vec<Emitted>) -> Followed<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.no("leads through more handlers than are followed");
        }
        let first = self.pending.len();
        self.pending.extend(emitted.iter().rev().map(|one| one.channel));
        for one in emitted {
            self.pending.pop();
            self.source = one.source;
            let is_queued = self.automaton.is_queued(one.channel);
            if is_queued && self.is_inside {
                return self.no("would be overtaken by what may stand in a queue");
            }
            if is_queued && self.pending[..first].contains(&one.channel) {
                return self.no("would be overtaken by what stands in a queue");
            }
            self.carry_out(one)?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn carry_out(&mut self, emitted: Emitted) -> Followed<()> {
        let target = match emitted.to {
            To::Port(port, event) => {
                if emitted.args.iter().any(|arg| matches!(arg, Given::Message(message) if !message.headers.is_empty()))
                {
                    return self.no("puts out a message whose headers are no octets");
                }
                self.deed(Do::Out { port, event, args: emitted.args });
                return Ok(());
            }
            To::Object(object) => object,
            To::Linked(object, cell) => {
                let class = self.class(object);
                let CellKind::Scalar { ty, .. } = self.automaton.cell(class, cell).kind else {
                    return self.no("is for nobody");
                };
                self.get(object, cell, ty)?
            }
        };
        let Some(handler) = emitted.handler else { return self.no("is for nobody") };
        let call = (self.calls.len() as u32, self.decisions.ways());
        if self.ends.contains(&call) {
            if *self.graph.kind(target) == Kind::Null {
                return self.no("is for nobody");
            }
            // A way that is told to its end is the likelier one.
            self.choose(&[0.5]);
            self.deed(Do::HandOver { object: target, handler, args: emitted.args });
            return Ok(());
        }
        self.calls.push(call.clone());
        let is_last = self.pending.is_empty() && self.settling.is_idle();
        self.active.push(Active { call, layer: self.layer_of(handler), is_last });
        self.must_live(target)?;
        self.handler(handler, target, emitted.args)?;
        self.active.pop();
        Ok(())
    }

    /// Runs a body; what it gave, and what it emitted.
    fn body(
        &mut self,
        body: &'a Body,
        given: Vec<Given>,
        layer: Option<mokume_reaction::LayerId>,
    ) -> Followed<(End, Vec<Emitted>)> {
        let mut frame = Frame { body, values: vec![None; body.values.len()], emitted: Vec::new(), layer };
        for (param, value) in body.blocks[0].params.iter().zip(given) {
            frame.values[param.index()] = Some(value);
        }
        let mut at = 0;
        loop {
            let block = &body.blocks[at];
            for op in &block.ops {
                self.left = self.left.saturating_sub(1);
                if self.left == 0 {
                    return self.no("is one of more operations than are followed");
                }
                self.source = op.source.or(self.source);
                self.operation(&mut frame, op)?;
            }
            if let Some(mark) = block.mark {
                self.source = Some(mark.source);
            }
            match &block.terminator {
                Terminator::Return => return Ok((End::Returned, frame.emitted)),
                Terminator::Yield { values } => {
                    let gave = values.iter().filter_map(|value| frame.values[value.index()].take()).collect();
                    return Ok((End::Gave(gave), frame.emitted));
                }
                other => at = self.end(&mut frame, other)?,
            }
        }
    }

    fn enter(&mut self, frame: &mut Frame, to: &Target, results: Vec<Given>) -> usize {
        let args: Vec<Option<Given>> = to.args.iter().map(|arg| frame.values[arg.index()].clone()).collect();
        let params = &frame.body.blocks[to.block.index()].params;
        for (param, value) in params.iter().zip(results.into_iter().map(Some).chain(args)) {
            frame.values[param.index()] = value;
        }
        to.block.index()
    }

    fn end(&mut self, frame: &mut Frame<'a>, terminator: &'a Terminator) -> Followed<usize> {
        match terminator {
            Terminator::Jump { to } => Ok(self.enter(frame, to, Vec::new())),
            Terminator::Branch { condition, then, otherwise, likely } => {
                let condition = self.node(frame, *condition)?;
                if self.graph.known(condition).is_none() && likely.is_none() {
                    if let Some((join, values)) = self.chosen(frame, condition, then, otherwise) {
                        let to = Target { block: join, args: Vec::new() };
                        return Ok(self.enter(frame, &to, values.into_iter().map(Given::Node).collect()));
                    }
                }
                let taken = self.decide(condition, *likely)?;
                Ok(self.enter(frame, if taken { then } else { otherwise }, Vec::new()))
            }
            Terminator::Switch { value, cases, default } => {
                let value = self.node(frame, *value)?;
                let ty = self.graph.ty(value);
                let mut rest = cases.len() as f32 + 1.0;
                for (case, to) in cases {
                    let case = self.graph.constant(ty, *case);
                    let is = self.graph.compare(mokume_reaction::Compare::Eq, value, case);
                    if self.decide(is, Some(1.0 / rest))? {
                        return Ok(self.enter(frame, to, Vec::new()));
                    }
                    rest -= 1.0;
                }
                Ok(self.enter(frame, default, Vec::new()))
            }
            Terminator::Match { message, header, cases } => {
                let mut message = self.message(frame, *message)?;
                let only = match self.automaton.headers[header.index()].variants.len() {
                    1 => Some(VariantId(0)),
                    _ => message.headers.last().filter(|top| top.0 == *header).map(|top| top.1),
                };
                let Some(variant) = only else {
                    return self.no("takes off a header of which it is not known which alternative it is");
                };
                let fields = self.take_off(&mut message, *header, variant)?;
                let Some((_, to)) = cases.iter().find(|case| case.0 == variant) else {
                    return self.no("has no way for this header");
                };
                let fields = fields.into_iter().map(Given::Node);
                let results = std::iter::once(Given::Message(Box::new(message))).chain(fields).collect();
                Ok(self.enter(frame, to, results))
            }
            Terminator::Try { op, then, otherwise } => match self.attempt(frame, op)? {
                Some(results) => Ok(self.enter(frame, then, results)),
                None => Ok(self.enter(frame, otherwise, Vec::new())),
            },
            Terminator::Return | Terminator::Yield { .. } | Terminator::Refuse { .. } => {
                self.no("ends what has no end")
            }
        }
    }

    /// What an operation gives where it does not refuse; none where it does, and gives nothing then.
    fn attempt(&mut self, frame: &mut Frame<'a>, op: &'a Fallible) -> Followed<Option<Vec<Given>>> {
        match op {
            Fallible::Decode { message, wire } | Fallible::Validate { message, wire } => {
                let mut message = self.message(frame, *message)?;
                self.decode(&mut message, *wire, matches!(op, Fallible::Validate { .. }))?;
                Ok(Some(vec![Given::Message(Box::new(message))]))
            }
            Fallible::Find { object, cell, key } => {
                let object = self.node(frame, *object)?;
                let key = key.iter().map(|part| self.node(frame, *part)).collect::<Followed<_>>()?;
                self.find(object, *cell, key)
            }
            Fallible::Take { object, cell, amount } => {
                let (object, amount) = (self.node(frame, *object)?, self.node(frame, *amount)?);
                Ok(self.take(object, *cell, amount)?.then(Vec::new))
            }
            Fallible::ShareHeld { object, cell, index } => {
                let (object, index) = (self.node(frame, *object)?, self.node(frame, *index)?);
                let share = self.share_held(object, *cell, index)?;
                Ok(share.map(|message| vec![Given::Message(Box::new(message))]))
            }
            Fallible::Insert { .. }
            | Fallible::Remove { .. }
            | Fallible::New { .. }
            | Fallible::First { .. }
            | Fallible::Next { .. }
            | Fallible::TakeOut { .. }
            | Fallible::TryRun { .. }
            | Fallible::Recall { .. }
            | Fallible::Peek { .. }
            | Fallible::Later { .. } => {
                self.no(format!("is `{}`, which is not followed yet", mokume_reaction::Operation::row(op).name))
            }
        }
    }

    /// What a map has for a key; none where it does not have it. One key is looked up once.
    fn find(&mut self, object: Node, cell: CellId, key: Vec<Node>) -> Followed<Option<Vec<Given>>> {
        let CellKind::Map { value, .. } = &self.automaton.cell(self.class(object), cell).kind else {
            return self.no("looks in what is no map");
        };
        let (found, source) = (value.clone(), self.source);
        let mut number = 0;
        for step in &self.steps {
            let (this, is_there) = match step {
                Step::Guard { .. } | Step::Peek { .. } => continue,
                Step::Find { object, cell, key, .. } => ((object, cell, key), true),
                Step::Absent { object, cell, key, .. } => ((object, cell, key), false),
            };
            match (this == (&object, &cell, &key), is_there) {
                (true, true) => return Ok(Some(self.found(number, &found))),
                (true, false) => return Ok(None),
                (false, _) => number += u32::from(is_there),
            }
        }
        if self.choose(&[0.8, 0.2]) == 1 {
            self.steps.push(Step::Absent { object, cell, key, source });
            return Ok(None);
        }
        self.steps.push(Step::Find { object, cell, key, found: found.clone(), source });
        Ok(Some(self.found(number, &found)))
    }

    fn found(&mut self, number: u32, types: &[Type]) -> Vec<Given> {
        let one = |(place, ty): (usize, &Type)| Given::Node(self.graph.add(Kind::Found(number, place as u32), *ty));
        types.iter().enumerate().map(one).collect()
    }

    fn node(&mut self, frame: &Frame, value: Value) -> Followed<Node> {
        match frame.node(value) {
            Some(node) => Ok(node),
            None => self.no("needs a value that is none"),
        }
    }

    /// A message that is used up.
    fn message(&mut self, frame: &mut Frame, value: Value) -> Followed<Message> {
        match frame.values[value.index()].take() {
            Some(Given::Message(message)) => Ok(*message),
            _ => self.no("needs a message that is not there"),
        }
    }

    /// A message that is looked at.
    fn borrowed(&mut self, frame: &Frame, value: Value) -> Followed<Message> {
        match &frame.values[value.index()] {
            Some(Given::Message(message)) => Ok((**message).clone()),
            _ => self.no("needs a message that is not there"),
        }
    }

    fn given_args(&mut self, frame: &mut Frame, args: &[Value]) -> Followed<Vec<Given>> {
        let mut given = Vec::new();
        for arg in args {
            given.push(match &frame.values[arg.index()] {
                Some(Given::Node(node)) => Given::Node(*node),
                _ => Given::Message(Box::new(self.message(frame, *arg)?)),
            });
        }
        Ok(given)
    }

    fn element(&self, object: Node, cell: CellId) -> Option<(Type, Option<u32>)> {
        match self.automaton.cell(self.class(object), cell).kind {
            CellKind::Scalar { ty, .. } => Some((ty, None)),
            CellKind::Array { ty, size, .. } => Some((ty, Some(size))),
            _ => None,
        }
    }

    /// A table: an arm for each operation.
    pub(crate) fn operation(&mut self, frame: &mut Frame<'a>, op: &'a Op) -> Followed<()> {
        let result = op.results.first().copied();
        let node = match &op.kind {
            OpKind::Const { ty, value } => self.graph.constant(*ty, *value),
            OpKind::Null { class } => self.graph.add(Kind::Null, Type::Ref(*class)),
            OpKind::Binary { op, a, b } => {
                let (a, b) = (self.node(frame, *a)?, self.node(frame, *b)?);
                self.binary(*op, a, b)?
            }
            OpKind::Compare { op, a, b } => {
                let (a, b) = (self.node(frame, *a)?, self.node(frame, *b)?);
                self.graph.compare(*op, a, b)
            }
            OpKind::Not { a } => {
                let a = self.node(frame, *a)?;
                self.graph.not(a)
            }
            OpKind::Select { c, a, b } => {
                let (c, a, b) = (self.node(frame, *c)?, self.node(frame, *a)?, self.node(frame, *b)?);
                self.graph.select(c, a, b)
            }
            OpKind::Cast { a, to } => {
                let a = self.node(frame, *a)?;
                self.graph.cast(a, *to)
            }
            OpKind::Param { param } => {
                let ty = self.automaton.params[param.index()].ty;
                self.graph.add(Kind::Param(*param), ty)
            }
            OpKind::Now {} => self.graph.add(Kind::Now, crate::graph::U64),
            OpKind::Call { function, args } => return self.call(frame, *function, args, &op.results),
            OpKind::Unique { class } => self.graph.add(Kind::Unique(*class), Type::Ref(*class)),
            OpKind::Parent { object } => {
                let object = self.node(frame, *object)?;
                let Some(parent) = self.automaton.class(self.class(object)).parent else {
                    return self.no("has no parent");
                };
                match self.automaton.is_unique(parent) {
                    true => self.graph.add(Kind::Unique(parent), Type::Ref(parent)),
                    false => self.graph.add(Kind::Parent(object), Type::Ref(parent)),
                }
            }
            OpKind::Lives { object } => {
                let object = self.node(frame, *object)?;
                match self.automaton.is_unique(self.class(object)) || self.alive.contains(&object) {
                    true => self.graph.truth(*self.graph.kind(object) != Kind::Null),
                    false => self.graph.add(Kind::Lives(object), Type::Bool),
                }
            }
            OpKind::Get { object, cell } => {
                let object = self.node(frame, *object)?;
                let Some((ty, _)) = self.element(object, *cell) else {
                    return self.no("reads what is no cell of one value");
                };
                self.get(object, *cell, ty)?
            }
            OpKind::GetAt { object, cell, index } => {
                let (object, index) = (self.node(frame, *object)?, self.node(frame, *index)?);
                let (ty, index) = self.place(object, *cell, index)?;
                self.get_at(object, *cell, index, ty)?
            }
            OpKind::Set { object, cell, value } => {
                let (object, value) = (self.node(frame, *object)?, self.node(frame, *value)?);
                self.set(object, *cell, None, value);
                return Ok(());
            }
            OpKind::SetAt { object, cell, index, value } => {
                let (object, index) = (self.node(frame, *object)?, self.node(frame, *index)?);
                let value = self.node(frame, *value)?;
                let (_, index) = self.place(object, *cell, index)?;
                self.set(object, *cell, Some(index), value);
                return Ok(());
            }
            OpKind::Arm { object, cell, deadline } => {
                let (object, deadline) = (self.node(frame, *object)?, self.node(frame, *deadline)?);
                self.timers.push((object, *cell, true));
                self.deed(Do::Arm { object, cell: *cell, deadline });
                return Ok(());
            }
            OpKind::Disarm { object, cell } => {
                let object = self.node(frame, *object)?;
                self.timers.push((object, *cell, false));
                self.deed(Do::Disarm { object, cell: *cell });
                return Ok(());
            }
            OpKind::IsArmed { object, cell } => {
                let object = self.node(frame, *object)?;
                let class = self.class(object);
                let known = self.timers.iter().rev().find(|timer| timer.1 == *cell && self.class(timer.0) == class);
                match known.copied() {
                    Some((other, _, armed)) if other == object => self.graph.truth(armed),
                    Some(_) => return self.no("asks for a timer that may have been set by another name"),
                    None => self.graph.add(Kind::Armed(object, *cell), Type::Bool),
                }
            }
            OpKind::Count { object, cell, amount } => {
                let (object, amount) = (self.node(frame, *object)?, self.node(frame, *amount)?);
                self.deed(Do::Count { object, cell: *cell, amount });
                return Ok(());
            }
            OpKind::Left { object, cell } => {
                let object = self.node(frame, *object)?;
                self.left(object, *cell)?
            }
            OpKind::Holds { object, cell, index } => {
                let (object, index) = (self.node(frame, *object)?, self.node(frame, *index)?);
                self.holds(object, *cell, index)?
            }
            OpKind::Keep { object, cell, index, message } => {
                let (object, index) = (self.node(frame, *object)?, self.node(frame, *index)?);
                let message = self.message(frame, *message)?;
                return self.keep(object, *cell, index, message);
            }
            OpKind::Again { object } => {
                let object = self.node(frame, *object)?;
                return self.ask_again(object);
            }
            OpKind::NewMessage { octets } if octets.is_empty() => {
                let message = self.new_message();
                return self.changed(frame, result, message);
            }
            OpKind::Front { message, octets } => {
                let mut message = self.message(frame, *message)?;
                let fields = octets.iter().map(|octet| {
                    let value = self.number(Type::U(8), u64::from(*octet));
                    Field { width: 8, endian: Endian::Big, value }
                });
                let fields: Vec<_> = fields.collect();
                message.front.splice(0..0, fields);
                return self.changed(frame, result, message);
            }
            OpKind::Share { message } => {
                let message = self.borrowed(frame, *message)?;
                return self.changed(frame, result, message);
            }
            OpKind::Join { first, second } => {
                let (mut first, second) = (self.message(frame, *first)?, self.message(frame, *second)?);
                self.join(&mut first, second)?;
                return self.changed(frame, result, first);
            }
            OpKind::Push { message, header, variant, fields } => {
                let mut message = self.message(frame, *message)?;
                let fields = fields.iter().map(|field| self.node(frame, *field)).collect::<Followed<_>>()?;
                message.headers.push((*header, *variant, fields));
                return self.changed(frame, result, message);
            }
            OpKind::Pop { message, header, variant } => {
                let mut message = self.message(frame, *message)?;
                let fields = self.take_off(&mut message, *header, *variant)?;
                for (value, field) in op.results.iter().skip(1).zip(fields) {
                    frame.values[value.index()] = Some(Given::Node(field));
                }
                return self.changed(frame, result, message);
            }
            OpKind::Encode { message, wire } => {
                let mut message = self.message(frame, *message)?;
                self.encode(&mut message, *wire)?;
                return self.changed(frame, result, message);
            }
            OpKind::Size { message } => {
                let message = self.borrowed(frame, *message)?;
                self.size_of(&message)
            }
            OpKind::Trim { message, size } => {
                let (size, mut message) = (self.node(frame, *size)?, self.message(frame, *message)?);
                self.trim(&mut message, size)?;
                return self.changed(frame, result, message);
            }
            OpKind::Skip { message, size } => {
                let (size, mut message) = (self.node(frame, *size)?, self.message(frame, *message)?);
                self.skip(&mut message, size)?;
                return self.changed(frame, result, message);
            }
            OpKind::Load { field, message, at } => {
                let (at, message) = (self.node(frame, *at)?, self.borrowed(frame, *message)?);
                self.load_from(&message, *field, at)?
            }
            OpKind::Store { field, message, at, value } => {
                let (at, value) = (self.node(frame, *at)?, self.node(frame, *value)?);
                let mut message = self.message(frame, *message)?;
                let value = self.graph.cast(value, field.ty());
                self.store_into(&mut message, *field, at, value)?;
                return self.changed(frame, result, message);
            }
            OpKind::Sum16 { message } => {
                let message = self.borrowed(frame, *message)?;
                self.sum_of(&message)?
            }
            OpKind::Fold16 { a } => {
                let a = self.node(frame, *a)?;
                self.graph.fold(a)
            }
            OpKind::GetAttribute { message, attribute } => {
                self.borrowed(frame, *message)?.attributes[attribute.index()]
            }
            OpKind::SetAttribute { message, attribute, value } => {
                let (value, mut message) = (self.node(frame, *value)?, self.message(frame, *message)?);
                message.attributes[attribute.index()] = value;
                return self.changed(frame, result, message);
            }
            OpKind::Emit { target, event, args } => {
                let target = self.node(frame, *target)?;
                return self.emit(frame, To::Object(target), self.class(target), event, args);
            }
            OpKind::EmitBy { object, cell, event, args } => {
                let object = self.node(frame, *object)?;
                let class = self.automaton.cell(self.class(object), *cell).refers_to();
                let Some(class) = class else { return self.no("is for nobody") };
                return self.emit(frame, To::Linked(object, *cell), class, event, args);
            }
            OpKind::Out { port, event, args } => {
                let Some(layer) = frame.layer else { return self.no("puts out in a function") };
                let args = self.given_args(frame, args)?;
                let (to, channel, source) = (To::Port(*port, *event), Channel::Port(layer, *port), self.source);
                frame.emitted.push(Emitted { to, handler: None, args, channel, source });
                return Ok(());
            }
            OpKind::Drop { message, reason } => {
                let message = self.message(frame, *message)?;
                // Who measures nothing expects that messages arrive.
                self.choose(&[1e-6]);
                self.deed(Do::Drop { message, reason: *reason });
                return Ok(());
            }
            OpKind::Consume { message, reason } => {
                let message = self.message(frame, *message)?;
                self.choose(&[1e-3]);
                self.deed(Do::Consume { message, reason: *reason });
                return Ok(());
            }
            OpKind::Run { .. }
            | OpKind::Sample { .. }
            | OpKind::Pack { .. }
            | OpKind::Item { .. }
            | OpKind::SetItem { .. }
            | OpKind::Slice { .. }
            | OpKind::Splice { .. }
            | OpKind::GetAll { .. }
            | OpKind::SetAll { .. }
            | OpKind::Give { .. }
            | OpKind::Spend { .. }
            | OpKind::Release { .. }
            | OpKind::NewMessage { .. }
            | OpKind::Split { .. }
            | OpKind::Received { .. }
            | OpKind::Meet { .. }
            | OpKind::SumPart { .. }
            | OpKind::Native { .. }
            | OpKind::DropFor { .. } => {
                return self
                    .no(format!("is `{}`, which is not followed yet", mokume_reaction::Operation::row(&op.kind).name));
            }
        };
        if let Some(result) = result {
            frame.values[result.index()] = Some(Given::Node(node));
        }
        Ok(())
    }

    fn changed(&mut self, frame: &mut Frame, result: Option<Value>, message: Message) -> Followed<()> {
        if let Some(result) = result {
            frame.values[result.index()] = Some(Given::Message(Box::new(message)));
        }
        Ok(())
    }

    /// The type of an array's elements, and an index that is within it.
    fn place(&mut self, object: Node, cell: CellId, index: Node) -> Followed<(Type, Node)> {
        let Some((ty, Some(size))) = self.element(object, cell) else { return self.no("reads what is no array") };
        Ok((ty, self.within(index, u64::from(size))?))
    }

    pub(crate) fn within(&mut self, index: Node, size: u64) -> Followed<Node> {
        let ty = self.graph.ty(index);
        if self.graph.span(index).1 >= size {
            let size = self.graph.constant(ty, size);
            let within = self.graph.compare(mokume_reaction::Compare::Lt, index, size);
            self.guard(within)?;
        }
        Ok(index)
    }

    fn emit(&mut self, frame: &mut Frame<'a>, to: To, class: ClassId, event: &str, args: &[Value]) -> Followed<()> {
        let Some(layer) = frame.layer else { return self.no("emits in a function") };
        let args = self.given_args(frame, args)?;
        let handler = target_class(self.automaton, class, event);
        let channel = Channel::Layer(layer, self.automaton.class(class).layer);
        let source = self.source;
        frame.emitted.push(Emitted { to, handler, args, channel, source });
        Ok(())
    }

    fn call(&mut self, frame: &mut Frame<'a>, function: FunctionId, args: &[Value], results: &[Value]) -> Followed<()> {
        let source = self.source;
        let args = args.iter().map(|arg| self.node(frame, *arg).map(Given::Node)).collect::<Followed<Vec<_>>>()?;
        let function = &self.automaton.functions[function.index()];
        let (end, _) = self.body(&function.body, args, None)?;
        self.source = source;
        let End::Gave(gave) = end else { return self.no("calls what gives nothing") };
        for (result, value) in results.iter().zip(gave) {
            frame.values[result.index()] = Some(value);
        }
        Ok(())
    }
}
