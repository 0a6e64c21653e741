//! Runs handlers: one body at a time, by blocks and operations.

use mokume_reaction::{
    Binary, BlockId, Body, CellId, ClassId, Compare, FunctionId, HandlerId, Op, OpKind, PortId, ReasonId, Report,
    Target, Terminator, Trigger, Type, Value,
};

use crate::arrays;
use crate::host::NULL;
use crate::message::Message;
use crate::program::mask;
use crate::react::{Event, Happening, Reaction};
use crate::words::{compare, fold16, sum16};

/// A body that is running.
pub(crate) struct Frame<'a> {
    body: &'a Body,
    /// For a handler or procedure, its place in [`crate::program::Program::links`].
    pub code: Option<usize>,
    pub registers: Vec<u64>,
    /// The arrays, by value.
    arrays: Vec<Vec<u64>>,
}

/// The target of an emission.
enum To {
    Object(u64),
    /// The object that this cell of the sender refers to at delivery.
    Linked(ClassId, u64, CellId),
    Port(PortId, u32),
}

impl Frame<'_> {
    /// The values' contents, in order.
    pub fn all(&self, values: &[Value]) -> Vec<u64> {
        values.iter().map(|value| self.get(*value)).collect()
    }

    /// A value's content; 0 before its definition, which the verifier rules out.
    pub fn get(&self, value: Value) -> u64 {
        self.registers[value.index()]
    }

    /// The items of an array.
    pub fn items(&self, value: Value) -> &[u64] {
        self.arrays.get(value.index()).map_or(&[], Vec::as_slice)
    }

    fn set_items(&mut self, value: Value, items: Vec<u64>) {
        if self.arrays.len() <= value.index() {
            self.arrays.resize(value.index() + 1, Vec::new());
        }
        self.arrays[value.index()] = items;
    }

    fn is_array(&self, value: Value) -> bool {
        self.ty(value).array().is_some()
    }

    /// The type of a value, as the automaton declares it.
    pub fn ty(&self, value: Value) -> Type {
        self.body.values[value.index()].ty
    }

    /// The class of a reference. For any other value it is class 0, which means nothing.
    pub fn class(&self, value: Value) -> ClassId {
        match self.ty(value) {
            Type::Ref(class) => class,
            _ => ClassId(0),
        }
    }
}

impl Frame<'_> {
    /// Copies the arrays among a target's arguments to its parameters, all at once.
    fn move_arrays(&mut self, params: &[Value], args: &[Value]) {
        let pairs = params.iter().zip(args).filter(|(param, _)| self.is_array(**param));
        let moved: Vec<(Value, Vec<u64>)> = pairs.map(|(param, arg)| (*param, self.items(*arg).to_vec())).collect();
        moved.into_iter().for_each(|(param, items)| self.set_items(param, items));
    }
}

/// Where a block leads: the target, and the results that precede its own arguments.
pub(crate) enum Next<'a> {
    To(&'a Target, Vec<u64>),
    Stop(Vec<u64>),
    Refused(Vec<u64>),
}

impl<'p> Reaction<'p> {
    /// Runs one handler to its end. Its emissions are left in [`Reaction::events`]; the caller orders them.
    pub fn run_handler(&mut self, handler: HandlerId, object: u64, args: &[u64]) {
        let program = self.program;
        let body = &program.automaton.handler(handler).body;
        let mut values = vec![object];
        values.extend_from_slice(args);
        let ended = self.run_body(body, Some(handler.index()), &values);
        debug_assert!(ended.is_ok(), "the verifier lets no handler refuse");
    }

    /// Runs a body and returns its values; `Err` if it refuses.
    fn run_body(&mut self, body: &Body, code: Option<usize>, args: &[u64]) -> Result<Vec<u64>, Vec<u64>> {
        let mut frame = Frame { body, code, registers: vec![0; body.values.len()], arrays: Vec::new() };
        let Some(entry) = body.blocks.first() else { return Ok(Vec::new()) };
        for (param, arg) in entry.params.iter().zip(args) {
            frame.registers[param.index()] = *arg;
        }
        let mut current = BlockId(0);
        loop {
            if let Some(code) = code {
                self.covered[self.program.first_block[code] + current.index()] = true;
            }
            let block = &body.blocks[current.index()];
            for (place, op) in block.ops.iter().enumerate() {
                self.operation(&mut frame, current, place, op);
            }
            match self.terminator(&frame, current, &block.terminator) {
                Next::Stop(values) => return Ok(values),
                Next::Refused(values) => return Err(values),
                Next::To(target, mut values) => {
                    let results = values.len();
                    values.extend(target.args.iter().map(|arg| frame.get(*arg)));
                    let params = &body.blocks[target.block.index()].params;
                    frame.move_arrays(&params[results..], &target.args);
                    for (param, value) in params.iter().zip(values) {
                        frame.registers[param.index()] = value;
                    }
                    current = target.block;
                }
            }
        }
    }

    /// Reports a fault of the program; the reaction goes on (docs/semantics.md, A11). In an exploration it violates
    /// [`crate::Property::Reports`].
    pub fn report(&mut self, report: Report) {
        self.effect.reports.push(report);
    }

    /// [`Reaction::report`], if `is_wrong`.
    pub fn report_if(&mut self, is_wrong: bool, report: Report) {
        if is_wrong {
            self.report(report);
        }
    }

    /// See [`Program::width`].
    pub fn width(&self, ty: Type) -> u8 {
        self.program.width(ty)
    }

    /// Runs one operation that does not branch. This is a table: an arm for each.
    fn operation(&mut self, frame: &mut Frame, block: BlockId, place: usize, op: &Op) {
        let word = match &op.kind {
            OpKind::Const { ty, value } => value & mask(self.width(*ty)),
            OpKind::Null { .. } => NULL,
            OpKind::Binary { op, a, b } => self.binary(*op, frame.ty(*a), frame.get(*a), frame.get(*b)),
            OpKind::Compare { op, a, b } if frame.is_array(*a) => {
                u64::from(arrays::compare(*op, frame.items(*a), frame.items(*b)))
            }
            OpKind::Compare { op, a, b } => u64::from(compare(*op, frame.ty(*a), frame.get(*a), frame.get(*b))),
            OpKind::Not { a } => !frame.get(*a) & mask(self.width(frame.ty(*a))),
            OpKind::Select { c, a, b } => {
                let chosen = if frame.get(*c) != 0 { *a } else { *b };
                if frame.is_array(chosen) {
                    return frame.set_items(op.results[0], frame.items(chosen).to_vec());
                }
                frame.get(chosen)
            }
            OpKind::Cast { a, to } => frame.get(*a) & mask(self.width(*to)),
            OpKind::Param { param } => self.program.params[self.host.number].get(param.index()).copied().unwrap_or(0),
            // The world defines time and random numbers.
            OpKind::Now {} => 0,
            OpKind::Sample { ty, .. } => (self.host.number as u64 + 1) & mask(self.width(*ty)),
            OpKind::Call { function, args } | OpKind::Run { procedure: function, args } => {
                return self.call(frame, *function, args, &op.results);
            }
            OpKind::Unique { .. } => 0,
            OpKind::Parent { object } => {
                self.object(frame.class(*object), frame.get(*object)).map_or(NULL, |object| object.parent)
            }

            OpKind::Lives { object } => {
                let found = self.object(frame.class(*object), frame.get(*object));
                u64::from(found.is_some_and(|object| !object.has_ended))
            }

            OpKind::Pack { ty, values } => {
                return frame.set_items(op.results[0], arrays::pack(frame, *ty, values));
            }
            OpKind::Item { array, index } => arrays::item(frame.items(*array), frame.get(*index)),
            OpKind::SetItem { array, index, value } => {
                let changed = arrays::splice(frame.items(*array), frame.get(*index), &[frame.get(*value)]);
                return frame.set_items(op.results[0], changed);
            }
            OpKind::Slice { array, index, ty } => {
                let items = arrays::slice(frame.items(*array), frame.get(*index), *ty);
                return frame.set_items(op.results[0], items);
            }
            OpKind::Splice { array, index, with } => {
                let changed = arrays::splice(frame.items(*array), frame.get(*index), frame.items(*with));
                return frame.set_items(op.results[0], changed);
            }
            OpKind::GetAll { object, cell } => {
                let items = self.get_all(frame, *object, *cell, frame.ty(op.results[0]));
                return frame.set_items(op.results[0], items);
            }
            OpKind::SetAll { object, cell, value } => {
                return self.set_all(frame, *object, *cell, frame.items(*value));
            }

            OpKind::Get { object, cell } | OpKind::IsArmed { object, cell } | OpKind::Left { object, cell } => {
                self.read(frame, *object, *cell, 0)
            }
            OpKind::GetAt { object, cell, index } | OpKind::Holds { object, cell, index } => {
                self.read(frame, *object, *cell, frame.get(*index))
            }
            OpKind::Set { object, cell, value } => return self.set(frame, *object, *cell, frame.get(*value)),
            OpKind::SetAt { object, cell, index, value } => {
                return self.set_at(frame, *object, *cell, frame.get(*index), frame.get(*value));
            }
            OpKind::Arm { object, cell, deadline: _ } => return self.set_timer(frame, *object, *cell, true),
            OpKind::Disarm { object, cell } => return self.set_timer(frame, *object, *cell, false),
            // Nothing reads a counter, so it is not part of a state.
            OpKind::Count { .. } => return,
            OpKind::Give { object, cell, amount } => {
                return self.give(frame, *object, *cell, frame.get(*amount) as u32);
            }
            OpKind::Spend { object, cell, amount } => {
                return self.spend(frame, *object, *cell, frame.get(*amount) as u32);
            }
            OpKind::Keep { object, cell, index, message } => {
                return self.keep(frame, *object, *cell, frame.get(*index), *message);
            }
            OpKind::Waiting { target, event } => {
                self.queued(frame, *target, event).map_or(0, |handler| self.waiting(handler) as u64)
            }
            OpKind::Defer { target, event, args } => {
                let handler = self.queued(frame, *target, event);
                let has_room = self.put_off(handler, frame.get(*target), frame.all(args));
                return self.report_if(!has_room, Report::Misuse);
            }
            OpKind::Release { object } => return self.release(frame.class(*object), frame.get(*object)),
            OpKind::Again { object } => return self.ask_again(frame.class(*object), frame.get(*object)),

            OpKind::NewMessage { octets } => self.hand(Message::new(&self.program.automaton, octets.clone())),
            OpKind::Front { message, octets } => self.front(frame, *message, octets),
            OpKind::Push { message, header, variant, fields } => {
                self.push(frame, *message, (*header, *variant), fields)
            }
            OpKind::Pop { message, .. } => return self.pop(frame, *message, &op.results),
            OpKind::Encode { message, wire } => self.encode_message(frame, *message, *wire),
            OpKind::Size { message } => self.message(frame, *message).octets.len() as u64,
            OpKind::Trim { message, size } => self.trim(frame, *message, frame.get(*size)),
            OpKind::Skip { message, size } => self.skip(frame, *message, frame.get(*size)),
            OpKind::Split { message, at } => return self.split(frame, *message, frame.get(*at), &op.results),
            OpKind::Join { first, second } => self.join(frame, *first, *second),
            OpKind::Share { message } => {
                let share = self.message(frame, *message).clone();
                self.hand(share)
            }
            OpKind::Received { message, wire } => self.received(frame, *message, *wire),
            OpKind::Meet { message, wire } => self.meet(frame, *message, *wire),
            OpKind::Load { field, message, at } => self.load(frame, *message, frame.get(*at), *field),
            OpKind::Store { field, message, at, value } => {
                self.store(frame, *message, (frame.get(*at), *field), frame.get(*value))
            }
            OpKind::Sum16 { message } => u64::from(sum16(&self.message(frame, *message).octets)),
            OpKind::SumPart { message, at, size } => {
                let octets = &self.message(frame, *message).octets;
                let behind = octets.iter().copied().skip(frame.get(*at) as usize);
                u64::from(sum16(&behind.take(frame.get(*size) as usize).collect::<Vec<u8>>()))
            }
            OpKind::Fold16 { a } => fold16(frame.get(*a)),
            // `Program::new` refuses stacks that call C.
            OpKind::Native { .. } => return debug_assert!(false, "a function in C cannot be explored"),
            OpKind::GetAttribute { message, attribute } => {
                self.message(frame, *message).attributes.get(attribute.index()).copied().unwrap_or(0)
            }
            OpKind::SetAttribute { message, attribute, value } => {
                self.set_attribute(frame, *message, *attribute, frame.get(*value))
            }

            OpKind::Emit { target, event: _, args } => {
                return self.emit(frame, (block, place), To::Object(frame.get(*target)), args);
            }
            OpKind::EmitBy { object, cell, event: _, args } => {
                let Some(class) = frame.body.class_of(*object) else { return };
                return self.emit(frame, (block, place), To::Linked(class, frame.get(*object), *cell), args);
            }
            OpKind::Out { port, event, args } => {
                return self.emit(frame, (block, place), To::Port(*port, *event), args);
            }
            OpKind::Drop { message: _, reason } => return self.dropped(*reason),
            OpKind::DropFor { message: _, reason } => return self.dropped(ReasonId(frame.get(*reason) as u32)),
            OpKind::TakeHeld { object, cell, index } => {
                let (index, reports) = (frame.get(*index), self.effect.reports.len());
                match self.held(frame, *object, *cell, index, true) {
                    Some(taken) => taken[0],
                    None => {
                        let is_there = self.content(frame, *object, *cell).is_some();
                        self.report_if(is_there && self.effect.reports.len() == reports, Report::Misuse);
                        self.hand(Message::new(&self.program.automaton, Vec::new()))
                    }
                }
            }
            OpKind::ConsumeHeld { object, cell, index, .. } => {
                self.held(frame, *object, *cell, frame.get(*index), true);
                return;
            }
            OpKind::Consume { .. } => return,
        };
        if let Some(result) = op.results.first() {
            frame.registers[result.index()] = word;
        }
    }

    fn dropped(&mut self, reason: ReasonId) {
        let name = self.program.automaton.reasons.get(reason.index()).map_or("", |reason| &reason.name);
        self.effect.happenings.push(Happening::Dropped(name.to_string()));
    }

    /// Reports an arithmetic fault, if there is one (docs/semantics.md, A11).
    fn report_arithmetic(&mut self, op: Binary, ty: Type, a: u64, b: u64) {
        let (wide_a, wide_b) = (u128::from(a), u128::from(b));
        let exact = match op {
            Binary::Add => Some(wide_a + wide_b),
            Binary::Sub if b > a => Some(u128::MAX),
            Binary::Mul => Some(wide_a * wide_b),
            _ => None,
        };
        let is_circular = matches!(ty, Type::Seq(_));
        let largest = u128::from(mask(self.width(ty)));
        self.report_if(exact.is_some_and(|exact| exact > largest) && !is_circular, Report::Overflow);
        self.report_if(b == 0 && matches!(op, Binary::Div | Binary::Rem), Report::DivisionByZero);
        self.report_if(a >= b && op == Binary::Within, Report::Bounds);
    }

    fn binary(&mut self, op: Binary, ty: Type, a: u64, b: u64) -> u64 {
        self.report_arithmetic(op, ty, a, b);
        let width = self.width(ty);
        let (bits, shifts) = (mask(width), b < u64::from(width));
        let a_is_less = || compare(Compare::Lt, ty, a, b);
        match op {
            Binary::AddWrap | Binary::Add => a.wrapping_add(b) & bits,
            Binary::SubWrap | Binary::Sub => a.wrapping_sub(b) & bits,
            Binary::MulWrap | Binary::Mul => a.wrapping_mul(b) & bits,
            Binary::Div => a.checked_div(b).unwrap_or(0),
            Binary::Rem => a.checked_rem(b).unwrap_or(0),
            Binary::And => a & b,
            Binary::Or => a | b,
            Binary::Xor => a ^ b,
            Binary::Shl if shifts => (a << b) & bits,
            Binary::Shr if shifts => a >> b,
            Binary::Shl | Binary::Shr => 0,
            Binary::Within if a < b => a,
            Binary::Within => bits,
            Binary::Min if a_is_less() => a,
            Binary::Min => b,
            Binary::Max if a_is_less() => b,
            Binary::Max => a,
        }
    }

    fn call(&mut self, frame: &mut Frame, function: FunctionId, args: &[Value], results: &[Value]) {
        let values = self.run_function(frame, function, args).unwrap_or_default();
        for (result, value) in results.iter().zip(values) {
            frame.registers[result.index()] = value;
        }
    }

    /// Runs a function or procedure and returns its values; `Err` if it refuses.
    pub fn run_function(&mut self, frame: &Frame, function: FunctionId, args: &[Value]) -> Result<Vec<u64>, Vec<u64>> {
        let program = self.program;
        let body = &program.automaton.functions[function.index()].body;
        self.run_body(body, program.procedures[function.index()], &frame.all(args))
    }

    /// The handler of an event that is put off.
    fn queued(&self, frame: &Frame, target: Value, event: &str) -> Option<HandlerId> {
        self.program.automaton.handler_of(frame.class(target), &Trigger::Event(event.to_owned()))
    }

    fn emit(&mut self, frame: &Frame, (block, place): (BlockId, usize), to: To, args: &[Value]) {
        let links = frame.code.map(|code| &self.program.links[code][block.index()]);
        let Some(link) = links.and_then(|links| links.emits[place]) else { return };
        let (target, by, out) = match to {
            To::Object(target) => (target, None, None),
            To::Linked(class, sender, cell) => (sender, Some((class, cell)), None),
            To::Port(port, event) => (NULL, None, Some((port, event))),
        };
        let (args, handler, channel) = (frame.all(args), link.handler, link.channel);
        self.events.push(Event { handler, out, target, by, channel, args, is_delivered: false });
    }

    fn terminator<'a>(&mut self, frame: &Frame, block: BlockId, terminator: &'a Terminator) -> Next<'a> {
        let get = |value: Value| frame.get(value);
        match terminator {
            Terminator::Return => Next::Stop(Vec::new()),
            Terminator::Yield { values } => Next::Stop(frame.all(values)),
            Terminator::Refuse { values } => Next::Refused(frame.all(values)),
            Terminator::Jump { to } => Next::To(to, Vec::new()),
            Terminator::Branch { condition, then, otherwise, .. } => {
                Next::To(if get(*condition) != 0 { then } else { otherwise }, Vec::new())
            }
            Terminator::Switch { value, cases, default } => {
                let case = cases.iter().find(|(case, _)| *case == get(*value));
                Next::To(case.map_or(default, |(_, target)| target), Vec::new())
            }
            Terminator::Match { message, header, cases } => self.match_header(get(*message), *header, cases),
            Terminator::Try { op, then, otherwise } => match self.attempt(frame, block, op) {
                Ok(results) => Next::To(then, results),
                Err(results) => Next::To(otherwise, results),
            },
        }
    }
}
