//! What handlers do: one body at a time, blocks and operations.

use mokume_reaction::{
    Binary, BlockId, Body, CellId, CellKind, ClassId, Compare, DropReason, Endian, FunctionId, HandlerId, Op, OpKind,
    ReasonId, Report, Target, Terminator, Type, Value, WireId,
};
use mokume_wire::HeaderValue;

use crate::host::{Content, NULL};
use crate::message::Message;
use crate::program::mask;
use crate::react::{Event, Happening, Reaction};
use crate::words::{compare, fold16, number, store, sum16};

/// A body at work.
struct Frame<'a> {
    body: &'a Body,
    handler: Option<HandlerId>,
    registers: Vec<u64>,
}

impl Frame<'_> {
    fn get(&self, value: Value) -> u64 {
        self.registers[value.index()]
    }

    fn ty(&self, value: Value) -> Type {
        self.body.values[value.index()].ty
    }

    fn class(&self, value: Value) -> ClassId {
        match self.ty(value) {
            Type::Ref(class) => class,
            _ => ClassId(0),
        }
    }
}

/// Where a block leads: the target, and the results that come before its own arguments.
pub(crate) enum Next<'a> {
    To(&'a Target, Vec<u64>),
    Stop(Vec<u64>),
}

impl<'p> Reaction<'p> {
    pub fn run_handler(&mut self, handler: HandlerId, object: u64, args: &[u64]) {
        let program = self.program;
        let body = &program.automaton.handler(handler).body;
        let mut values = vec![object];
        values.extend_from_slice(args);
        self.run_body(body, Some(handler), &values);
    }

    fn run_body(&mut self, body: &Body, handler: Option<HandlerId>, args: &[u64]) -> Vec<u64> {
        let mut frame = Frame { body, handler, registers: vec![0; body.values.len()] };
        let Some(entry) = body.blocks.first() else { return Vec::new() };
        for (param, arg) in entry.params.iter().zip(args) {
            frame.registers[param.index()] = *arg;
        }
        let mut current = BlockId(0);
        loop {
            if let Some(handler) = handler {
                self.covered[self.program.first_block[handler.index()] + current.index()] = true;
            }
            let block = &body.blocks[current.index()];
            for (place, op) in block.ops.iter().enumerate() {
                self.operation(&mut frame, current, place, op);
            }
            match self.end_of_block(&frame, current, &block.end) {
                Next::Stop(values) => return values,
                Next::To(target, mut values) => {
                    values.extend(target.args.iter().map(|arg| frame.get(*arg)));
                    for (param, value) in body.blocks[target.block.index()].params.iter().zip(values) {
                        frame.registers[param.index()] = value;
                    }
                    current = target.block;
                }
            }
        }
    }

    fn report(&mut self, report: Report) {
        self.effect.reports.push(report);
    }

    fn report_if(&mut self, is_wrong: bool, report: Report) {
        if is_wrong {
            self.report(report);
        }
    }

    fn width(&self, ty: Type) -> u8 {
        self.program.width(ty)
    }

    fn operation(&mut self, frame: &mut Frame, block: BlockId, place: usize, op: &Op) {
        let word = match &op.kind {
            OpKind::Const { ty, value } => value & mask(self.width(*ty)),
            OpKind::Null { .. } => NULL,
            OpKind::Binary { op, a, b } => self.binary(*op, frame.ty(*a), frame.get(*a), frame.get(*b)),
            OpKind::Compare { op, a, b } => u64::from(compare(*op, frame.ty(*a), frame.get(*a), frame.get(*b))),
            OpKind::Not { a } => !frame.get(*a) & mask(self.width(frame.ty(*a))),
            OpKind::Select { c, a, b } => frame.get(if frame.get(*c) != 0 { *a } else { *b }),
            OpKind::Cast { a, to } => frame.get(*a) & mask(self.width(*to)),
            OpKind::Param { param } => self.program.params[self.host.number].get(param.index()).copied().unwrap_or(0),
            // What time and random numbers are, the world says.
            OpKind::Now => 0,
            OpKind::Draw { ty, .. } => (self.host.number as u64 + 1) & mask(self.width(*ty)),
            OpKind::Call { function, args } => return self.call(frame, *function, args, &op.results),
            OpKind::Unique { .. } => 0,
            OpKind::Parent { object } => {
                self.object(frame.class(*object), frame.get(*object)).map_or(NULL, |object| object.parent)
            }
            OpKind::Size { message } => self.message(frame, *message).octets.len() as u64,
            OpKind::Sum16 { message } => u64::from(sum16(&self.message(frame, *message).octets)),
            OpKind::Fold16 { a } => fold16(frame.get(*a)),
            OpKind::Load { message, at, ty, endian } => self.load(frame, *message, *at, *ty, *endian),
            OpKind::GetAttribute { message, attribute } => {
                self.message(frame, *message).attributes.get(attribute.index()).copied().unwrap_or(0)
            }
            OpKind::Get { object, cell } | OpKind::IsArmed { object, cell } | OpKind::Left { object, cell } => {
                self.read(frame, *object, *cell, 0)
            }
            OpKind::GetAt { object, cell, index } | OpKind::Holds { object, cell, index } => {
                self.read(frame, *object, *cell, frame.get(*index))
            }
            OpKind::Emit { .. } | OpKind::Out { .. } => return self.emit(frame, block, place, op),
            OpKind::Drop { message: _, reason } => {
                let reason = match reason {
                    DropReason::Known(id) => *id,
                    DropReason::Value(value) => ReasonId(frame.get(*value) as u32),
                };
                let name = self.program.automaton.reasons.get(reason.index()).map_or("", |reason| &reason.name);
                return self.effect.happenings.push(Happening::Dropped(name.to_string()));
            }
            OpKind::Consume { .. } => return,
            OpKind::Release { object } => return self.release(frame.class(*object), frame.get(*object)),
            OpKind::Again { object } => return self.ask_again(frame.class(*object), frame.get(*object)),
            kind if is_write(kind) => return self.write(frame, kind),
            _ => return self.change_message(frame, op),
        };
        if let Some(result) = op.results.first() {
            frame.registers[result.index()] = word;
        }
    }

    fn binary(&mut self, op: Binary, ty: Type, a: u64, b: u64) -> u64 {
        let width = self.width(ty);
        let bits = mask(width);
        let (wide_a, wide_b) = (u128::from(a), u128::from(b));
        let exact = match op {
            Binary::Add => Some(wide_a + wide_b),
            Binary::Sub if b > a => Some(u128::MAX),
            Binary::Mul => Some(wide_a * wide_b),
            _ => None,
        };
        let is_circular = matches!(ty, Type::Seq(_));
        self.report_if(exact.is_some_and(|exact| exact > u128::from(bits)) && !is_circular, Report::Overflow);
        self.report_if(b == 0 && matches!(op, Binary::Div | Binary::Rem), Report::DivisionByZero);
        self.report_if(a >= b && op == Binary::Within, Report::Bounds);
        let shifts = b < u64::from(width);
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
            Binary::Min => {
                if compare(Compare::Lt, ty, a, b) {
                    a
                } else {
                    b
                }
            }
            Binary::Max => {
                if compare(Compare::Lt, ty, a, b) {
                    b
                } else {
                    a
                }
            }
        }
    }

    fn call(&mut self, frame: &mut Frame, function: FunctionId, args: &[Value], results: &[Value]) {
        let program = self.program;
        let args: Vec<u64> = args.iter().map(|arg| frame.get(*arg)).collect();
        let values = self.run_body(&program.automaton.functions[function.index()].body, None, &args);
        for (result, value) in results.iter().zip(values) {
            frame.registers[result.index()] = value;
        }
    }

    fn message(&self, frame: &Frame, message: Value) -> &Message {
        &self.messages[frame.get(message) as usize]
    }

    fn load(&mut self, frame: &Frame, message: Value, at: Value, ty: Type, endian: Endian) -> u64 {
        let size = usize::from(self.width(ty)).div_ceil(8);
        let value = self.message(frame, message).field(frame.get(at), size).map(|octets| number(octets, endian));
        self.report_if(value.is_none(), Report::Bounds);
        value.unwrap_or(0)
    }

    /// Zero of an object that was freed.
    fn read(&mut self, frame: &Frame, object: Value, cell: CellId, index: u64) -> u64 {
        let Some(object) = self.object(frame.class(object), frame.get(object)) else { return 0 };
        let word = match &object.cells[cell.index()] {
            Content::Word(word) => Some(*word),
            Content::Array(words) => words.get(index as usize).copied(),
            Content::Messages(places) => places.get(index as usize).map(|place| u64::from(place.is_some())),
            Content::Timer(is_armed) => Some(u64::from(*is_armed)),
            Content::Quota(left) => Some(u64::from(*left)),
            Content::Map(_) | Content::Nothing => Some(0),
        };
        self.report_if(word.is_none(), Report::Bounds);
        word.unwrap_or(0)
    }

    fn content(&mut self, frame: &Frame, object: Value, cell: CellId) -> Option<&mut Content> {
        let object = self.object_mut(frame.class(object), frame.get(object))?;
        object.cells.get_mut(cell.index())
    }

    fn write(&mut self, frame: &Frame, kind: &OpKind) {
        match kind {
            OpKind::Set { object, cell, value } => {
                if let Some(Content::Word(word)) = self.content(frame, *object, *cell) {
                    *word = frame.get(*value);
                }
            }
            OpKind::SetAt { object, cell, index, value } => {
                let Some(Content::Array(words)) = self.content(frame, *object, *cell) else { return };
                match words.get_mut(frame.get(*index) as usize) {
                    Some(word) => *word = frame.get(*value),
                    None => self.report(Report::Bounds),
                }
            }
            OpKind::Arm { object, cell, .. } => self.set_timer(frame, *object, *cell, true),
            OpKind::Disarm { object, cell } => self.set_timer(frame, *object, *cell, false),
            OpKind::Give { object, cell, amount } => self.give(frame, *object, *cell, frame.get(*amount) as u32),
            OpKind::Keep { object, cell, index, message } => {
                let message = self.message(frame, *message).clone();
                let message = self.tables.kept.number(message);
                let Some(Content::Messages(places)) = self.content(frame, *object, *cell) else { return };
                let report = match places.get_mut(frame.get(*index) as usize) {
                    Some(place) => place.replace(message).map(|_| Report::Misuse),
                    None => Some(Report::Bounds),
                };
                self.effect.reports.extend(report);
            }
            _ => {}
        }
    }

    fn set_timer(&mut self, frame: &Frame, object: Value, cell: CellId, arm: bool) {
        let class = frame.class(object);
        let is_living = self.is_living(class, frame.get(object));
        let Some(Content::Timer(is_armed)) = self.content(frame, object, cell) else { return };
        let was_armed = std::mem::replace(is_armed, arm && is_living);
        let name = self.program.automaton.cell(class, cell).name.clone();
        match (was_armed, arm) {
            (_, true) => self.effect.happenings.push(Happening::Armed(name)),
            (true, false) => self.effect.happenings.push(Happening::Stopped(name)),
            _ => {}
        }
    }

    fn give(&mut self, frame: &Frame, object: Value, cell: CellId, given: u32) {
        let CellKind::Quota { amount } = self.program.classes[frame.class(object).index()].cells[cell.index()] else {
            return;
        };
        let Some(Content::Quota(left)) = self.content(frame, object, cell) else { return };
        let taken = amount - *left;
        *left += given.min(taken);
        self.report_if(given > taken, Report::Misuse);
    }

    fn emit(&mut self, frame: &Frame, block: BlockId, place: usize, op: &Op) {
        let links = frame.handler.map(|handler| &self.program.links[handler.index()][block.index()]);
        let Some(link) = links.and_then(|links| links.emits[place]) else { return };
        let (target, out, args) = match &op.kind {
            OpKind::Emit { target, args, .. } => (frame.get(*target), None, args),
            OpKind::Out { port, event, args } => (NULL, Some((*port, *event)), args),
            _ => return,
        };
        let args = args.iter().map(|arg| frame.get(*arg)).collect();
        let event = Event { handler: link.handler, out, target, channel: link.channel, args, is_delivered: false };
        self.events.push(event);
    }

    fn change_message(&mut self, frame: &mut Frame, op: &Op) {
        let operands = op.kind.operands();
        let first = operands.first().map_or(0, |value| frame.get(*value));
        let second = operands.get(1).map_or(0, |value| frame.get(*value));
        let mut message = match op.kind {
            OpKind::NewMessage { .. } => Message::default(),
            _ => self.messages[first as usize].clone(),
        };
        let size = message.octets.len() as u64;
        let within = second.min(size) as usize;
        let mut others = Vec::new();
        match &op.kind {
            OpKind::NewMessage { octets } => message = Message::new(&self.program.automaton, octets.clone()),
            OpKind::Push { header, variant, fields, .. } => {
                let fields = fields.iter().map(|field| frame.get(*field)).collect();
                message.headers.push(HeaderValue { header: *header, variant: *variant, fields });
            }
            OpKind::Pop { .. } => others = message.headers.pop().map_or(Vec::new(), |top| top.fields),
            OpKind::Encode { wire, .. } => self.encode(&mut message, *wire),
            OpKind::Trim { .. } => message.octets.truncate(within),
            OpKind::Skip { .. } => drop(message.octets.drain(..within)),
            OpKind::Split { .. } => {
                let octets = message.octets.split_off(within);
                let rest = Message { headers: Vec::new(), octets, ..message.clone() };
                others = vec![self.hand(rest)];
            }
            OpKind::Join { .. } => message.octets.extend_from_slice(&self.messages[second as usize].octets.clone()),
            OpKind::Received { wire, .. } => {
                let met = message.met.iter().find(|(known, _)| known == wire).map(|(_, packet)| packet.clone());
                message = Message::new(&self.program.automaton, met.unwrap_or_default());
            }
            OpKind::Store { value, endian, .. } => {
                let size = usize::from(self.width(frame.ty(*value))).div_ceil(8);
                let is_stored = store(&mut message, second, size, *endian, frame.get(*value));
                self.report_if(!is_stored, Report::Bounds);
            }
            OpKind::SetAttribute { attribute, .. } => {
                if let Some(place) = message.attributes.get_mut(attribute.index()) {
                    *place = second;
                }
            }
            // A share is the clone itself.
            _ => {}
        }
        let cuts = matches!(op.kind, OpKind::Trim { .. } | OpKind::Skip { .. } | OpKind::Split { .. });
        self.report_if(cuts && second > size, Report::Bounds);
        let changed = self.hand(message);
        for (result, value) in op.results.iter().zip(std::iter::once(changed).chain(others)) {
            frame.registers[result.index()] = value;
        }
    }

    fn encode(&mut self, message: &mut Message, wire: WireId) {
        let automaton = &self.program.automaton;
        let carried = &automaton.wires[wire.index()].headers;
        let on_top = message.headers.iter().rev().take(carried.len()).take_while(|top| carried.contains(&top.header));
        let headers = message.headers.split_off(message.headers.len() - on_top.count());
        let encoded = mokume_wire::encode(automaton, wire, &headers, &message.octets);
        message.octets = encoded.octets;
        self.report_if(encoded.narrow, Report::Narrow);
    }

    fn end_of_block<'a>(&mut self, frame: &Frame, block: BlockId, end: &'a Terminator) -> Next<'a> {
        let get = |value: Value| frame.get(value);
        let all = |values: &[Value]| values.iter().map(|value| frame.get(*value)).collect::<Vec<u64>>();
        let branch = |found: Option<Vec<u64>>, then: &'a Target, otherwise: &'a Target| match found {
            Some(results) => Next::To(then, results),
            None => Next::To(otherwise, Vec::new()),
        };
        match end {
            Terminator::Return => Next::Stop(Vec::new()),
            Terminator::Yield { values } => Next::Stop(all(values)),
            Terminator::Jump { to } => Next::To(to, Vec::new()),
            Terminator::Branch { condition, then, otherwise, .. } => {
                branch((get(*condition) != 0).then(Vec::new), then, otherwise)
            }
            Terminator::Switch { value, cases, default } => {
                let case = cases.iter().find(|(case, _)| *case == get(*value));
                Next::To(case.map_or(default, |(_, target)| target), Vec::new())
            }
            Terminator::PopSwitch { message, cases, .. } => self.pop_switch(get(*message), cases),
            Terminator::Decode { message, wire, then, otherwise } => {
                let (is_good, results) = self.decode(get(*message), *wire);
                Next::To(if is_good { then } else { otherwise }, results)
            }
            Terminator::Vet { message, wire, then, otherwise } => {
                let (is_good, results) = self.vet(get(*message), *wire);
                Next::To(if is_good { then } else { otherwise }, results)
            }
            Terminator::Find { object, cell, key, then, otherwise } => {
                let found = match self.content(frame, *object, *cell) {
                    Some(Content::Map(entries)) => entries.get(&all(key)).cloned(),
                    _ => None,
                };
                branch(found, then, otherwise)
            }
            Terminator::Insert { object, cell, key, values, then, otherwise } => {
                let is_in = self.insert(frame, *object, *cell, all(key), all(values));
                branch(is_in.then(Vec::new), then, otherwise)
            }
            Terminator::Remove { object, cell, key, then, otherwise } => {
                let found = match self.content(frame, *object, *cell) {
                    Some(Content::Map(entries)) => entries.remove(&all(key)),
                    _ => None,
                };
                branch(found, then, otherwise)
            }
            Terminator::New { class, parent, then, otherwise } => {
                let object = self.make_object(*class, parent.map(|parent| (frame.class(parent), get(parent))));
                branch((object != NULL).then(|| vec![object]), then, otherwise)
            }
            Terminator::First { class, parent, then, otherwise } => {
                let family = parent.map_or(0, get);
                branch(self.first_living(*class, family, 0), then, otherwise)
            }
            Terminator::Next { object, then, otherwise } => {
                let class = frame.class(*object);
                let family = self.object(class, get(*object)).map(|object| object.parent);
                let found = family.and_then(|family| self.first_living(class, family, get(*object) as usize + 1));
                branch(found, then, otherwise)
            }
            Terminator::Take { object, cell, amount, then, otherwise } => {
                let is_taken = match self.content(frame, *object, *cell) {
                    Some(Content::Quota(left)) if u64::from(*left) >= get(*amount) => {
                        *left -= get(*amount) as u32;
                        true
                    }
                    _ => false,
                };
                branch(is_taken.then(Vec::new), then, otherwise)
            }
            Terminator::TakeOut { object, cell, index, then, otherwise } => {
                branch(self.held(frame, *object, *cell, get(*index), true), then, otherwise)
            }
            Terminator::ShareHeld { object, cell, index, then, otherwise } => {
                branch(self.held(frame, *object, *cell, get(*index), false), then, otherwise)
            }
            Terminator::Later { target, args, then, otherwise, .. } => {
                let links = frame.handler.map(|handler| &self.program.links[handler.index()][block.index()]);
                let is_in = self.put_off(links.and_then(|links| links.later), get(*target), all(args));
                branch(is_in.then(Vec::new), then, otherwise)
            }
        }
    }

    fn insert(&mut self, frame: &Frame, object: Value, cell: CellId, key: Vec<u64>, values: Vec<u64>) -> bool {
        let CellKind::Map { capacity, .. } = self.program.classes[frame.class(object).index()].cells[cell.index()]
        else {
            return false;
        };
        let Some(Content::Map(entries)) = self.content(frame, object, cell) else { return false };
        let has_room = entries.len() < capacity as usize || entries.contains_key(&key);
        if has_room {
            entries.insert(key, values);
        }
        has_room
    }

    fn first_living(&self, class: ClassId, family: u64, from: usize) -> Option<Vec<u64>> {
        let objects = self.host.objects[class.index()].iter().enumerate().skip(from);
        let mut found = objects.filter(|(_, object)| !object.has_ended && object.parent == family);
        found.next().map(|(place, _)| vec![place as u64])
    }

    fn held(&mut self, frame: &Frame, object: Value, cell: CellId, index: u64, takes: bool) -> Option<Vec<u64>> {
        let Some(Content::Messages(places)) = self.content(frame, object, cell) else { return None };
        let Some(place) = places.get_mut(index as usize) else {
            self.report(Report::Bounds);
            return None;
        };
        let number = (*place)?;
        if takes {
            *place = None;
        }
        let message = self.tables.kept.get(number).clone();
        Some(vec![self.hand(message)])
    }

    fn put_off(&mut self, handler: Option<HandlerId>, target: u64, args: Vec<u64>) -> bool {
        let Some(handler) = handler else { return false };
        let waiting = self.later.iter().filter(|(other, _, _)| *other == handler).count();
        let has_room = waiting < self.program.automaton.handler(handler).later_capacity as usize;
        if has_room {
            self.later.push_back((handler, target, args));
        }
        has_room
    }
}

fn is_write(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::Set { .. }
            | OpKind::SetAt { .. }
            | OpKind::Arm { .. }
            | OpKind::Disarm { .. }
            | OpKind::Count { .. }
            | OpKind::Give { .. }
            | OpKind::Keep { .. }
    )
}
