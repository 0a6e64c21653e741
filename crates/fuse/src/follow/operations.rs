//! The operations of a body, one after the other, on the values of a path.

use mokume_reaction::{CellId, CellKind, Channel, ClassId, Endian, Fallible, FunctionId, Op, OpKind, Type, Value};

use super::{target_class, Emitted, End, Frame, To};
use crate::graph::{Kind, Node};
use crate::message::{is_held_before, Field, Message};
use crate::region::{Do, Followed, Given, Region, Step};

impl<'a> Region<'a> {
    /// The results of an operation; `None` if it refuses without results.
    pub(super) fn attempt(&mut self, frame: &mut Frame<'a>, op: &'a Fallible) -> Followed<Option<Vec<Given>>> {
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
            Fallible::TakeOut { object, cell, index } => {
                let (object, index) = (self.node(frame, *object)?, self.node(frame, *index)?);
                let taken = self.take_out(object, *cell, index)?;
                Ok(taken.map(|message| vec![Given::Message(Box::new(message))]))
            }
            Fallible::Later { target, event, args } => {
                let target = self.node(frame, *target)?;
                let handler = target_class(self.automaton, self.class(target), event);
                let Some(handler) = handler.filter(|_| *self.graph.kind(target) != Kind::Null) else {
                    return self.no("is for nobody");
                };
                if !self.has_room(target, handler)? {
                    // The body keeps the messages.
                    return Ok(None);
                }
                let args = self.given_args(frame, args)?;
                self.put_off(target, handler, args);
                Ok(Some(Vec::new()))
            }
            Fallible::Insert { .. } => self.not_yet("puts an entry into a map"),
            Fallible::Remove { .. } => self.not_yet("takes an entry out of a map"),
            Fallible::New { .. } => self.not_yet("makes a session or another object"),
            Fallible::First { .. } | Fallible::Next { .. } => self.not_yet("goes through objects"),
            Fallible::TryRun { .. } => self.not_yet("calls a function that may refuse"),
            Fallible::Recall { .. } => self.not_yet("asks for what another path remembers"),
            Fallible::Peek { .. } => self.not_yet("looks at a header that it does not take off"),
        }
    }

    /// The way ends: it does this, which no path does yet.
    fn not_yet<T>(&mut self, does: &str) -> Followed<T> {
        self.no(format!("{does}, which is not followed yet"))
    }

    /// What a map has for a key; `None` if it does not have the key. Each key is looked up once.
    fn find(&mut self, object: Node, cell: CellId, key: Vec<Node>) -> Followed<Option<Vec<Given>>> {
        let CellKind::Map { value, .. } = &self.automaton.cell(self.class(object), cell).kind else {
            return self.no("looks in what is no map");
        };
        let (found, source) = (value.clone(), self.source);
        if key.iter().any(|part| self.is_of_held(*part)) {
            return self.no("asks what is in a message that was kept before");
        }
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
        let likely = self.succeeds(0.8);
        if self.choose(&[likely, 1.0 - likely]) == 1 {
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

    pub(super) fn node(&mut self, frame: &Frame, value: Value) -> Followed<Node> {
        match frame.node(value) {
            Some(node) => Ok(node),
            None => self.no("needs a value that is none"),
        }
    }

    /// A message that the operation consumes.
    pub(super) fn message(&mut self, frame: &mut Frame, value: Value) -> Followed<Message> {
        match frame.values[value.index()].take() {
            Some(Given::Message(message)) => Ok(*message),
            _ => self.no("needs a message that is not there"),
        }
    }

    /// A message that the operation only reads.
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

    /// Follows one operation. This is a table: an arm for each.
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
                    // The parent of null is null (docs/semantics.md, L7).
                    true => {
                        self.must_live(object)?;
                        self.graph.add(Kind::Unique(parent), Type::Ref(parent))
                    }
                    false => self.graph.add(Kind::Parent(object), Type::Ref(parent)),
                }
            }
            OpKind::Lives { object } => {
                let object = self.node(frame, *object)?;
                match *self.graph.kind(object) {
                    Kind::Null => self.graph.truth(false),
                    Kind::Unique(_) => self.graph.truth(true),
                    _ if self.alive.contains(&object) => self.graph.truth(true),
                    _ => self.graph.add(Kind::Lives(object), Type::Bool),
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
                    Some((other, _, armed)) if other == object => {
                        // To start the timer of nobody is lost.
                        if armed {
                            self.must_live(object)?;
                        }
                        self.graph.truth(armed)
                    }
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
            OpKind::Give { object, cell, amount } => {
                let (object, amount) = (self.node(frame, *object)?, self.node(frame, *amount)?);
                return self.give(object, *cell, amount);
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
                if message.joined > 0 {
                    // Both would count as merged.
                    return self.no("shares a message that was joined to another");
                }
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
                // Without measurements, messages are expected to arrive.
                self.is_unlikely(1e-6);
                self.deed(Do::Drop { message, reason: *reason });
                return Ok(());
            }
            OpKind::Consume { message, reason } => {
                let message = self.message(frame, *message)?;
                if is_held_before(message.given) {
                    self.consume_held(message.given, *reason);
                    return Ok(());
                }
                self.is_unlikely(1e-3);
                self.deed(Do::Consume { message, reason: *reason });
                return Ok(());
            }
            OpKind::Waiting { .. } => return self.not_yet("asks how many events wait for reactions of their own"),
            OpKind::Defer { .. } => return self.not_yet("puts an event off"),
            OpKind::Run { .. } => return self.not_yet("calls a function"),
            OpKind::Sample { .. } => return self.not_yet("draws a random number"),
            OpKind::Pack { .. } => return self.not_yet("makes a list of values"),
            OpKind::Item { .. } => return self.not_yet("reads a value of a list"),
            OpKind::SetItem { .. } => return self.not_yet("changes a value of a list"),
            OpKind::Slice { .. } => return self.not_yet("cuts a list of values"),
            OpKind::Splice { .. } => return self.not_yet("changes a part of a list of values"),
            OpKind::GetAll { .. } => return self.not_yet("reads a whole list of the state"),
            OpKind::SetAll { .. } => return self.not_yet("writes a whole list of the state"),
            OpKind::Spend { .. } => return self.not_yet("takes units from a quota"),
            OpKind::TakeHeld { .. } => return self.not_yet("takes a message out of its place"),
            OpKind::ConsumeHeld { .. } => return self.not_yet("consumes a message in its place"),
            OpKind::Release { .. } => return self.not_yet("ends a session or another object"),
            OpKind::NewMessage { .. } => return self.not_yet("makes a new message"),
            OpKind::Split { .. } => return self.not_yet("splits a message"),
            OpKind::Received { .. } => return self.not_yet("takes the packet as it was received"),
            OpKind::Meet { .. } => return self.not_yet("keeps the packet as it was received"),
            OpKind::SumPart { .. } => return self.not_yet("adds up a part of the octets"),
            OpKind::Native { .. } => return self.not_yet("calls a function in C"),
            OpKind::DropFor { .. } => return self.not_yet("drops a message for a reason that is a value"),
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

    /// The type of an array's elements, and an index that is in bounds.
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
