//! Operations that do not branch.

use mokume_reaction::{Binary, BlockId, CellId, Compare, Endian, Op, OpKind, Report, SourceId, Type, Value};
use mokume_wire::HeaderValue;

use crate::core::{Core, Event, What};
use crate::eval::Activation;
use crate::message::{fold16, number, sum16, Message};
use crate::program::mask;
use crate::random;
use crate::store::{place_of, round_up, Armed, Content, NULL};

impl Core {
    pub fn operation(&mut self, at: Activation, block: BlockId, place: usize, op: &Op) {
        let source = op.source;
        let word = match &op.kind {
            OpKind::Const { ty, value } => *value & at.program.mask(*ty),
            OpKind::Null { .. } => NULL,
            OpKind::Binary { op, a, b } => self.binary(at, *op, *a, *b, source),
            OpKind::Compare { op, a, b } => {
                let (ty, a, b) = (at.ty(*a), self.get(at, *a), self.get(at, *b));
                u64::from(compare(*op, ty, a, b))
            }
            OpKind::Not { a } => !self.get(at, *a) & at.program.mask(at.ty(*a)),
            OpKind::Select { c, a, b } => self.get(at, if self.get(at, *c) != 0 { *a } else { *b }),
            OpKind::Cast { a, to } => self.get(at, *a) & at.program.mask(*to),
            OpKind::Param { param } => at.program.params.get(param.index()).copied().unwrap_or(0),
            OpKind::Now => self.now,
            OpKind::Call { function, args } => return self.call(at, *function, args, &op.results),
            OpKind::Draw { object, ty } => {
                let class = at.class(*object);
                let object = self.get(at, *object);
                let drawn = self.store.get_mut(class, object).map_or(0, |found| random::draw(&mut found.stream));
                drawn & at.program.mask(*ty)
            }
            OpKind::Unique { class } => self.store.object_in(*class, 0),
            OpKind::Parent { object } => self.parent(at, *object),
            OpKind::Size { message } => self.message(at, *message).octets.len() as u64,
            OpKind::Sum16 { message } => u64::from(sum16(&self.message(at, *message).octets)),
            OpKind::Fold16 { a } => fold16(self.get(at, *a)),
            OpKind::Load { message, at: offset, ty, endian } => self.load(at, *message, *offset, *ty, *endian, source),
            OpKind::GetAttribute { message, attribute } => {
                self.message(at, *message).attributes.get(attribute.index()).copied().unwrap_or(0)
            }
            OpKind::Get { .. }
            | OpKind::GetAt { .. }
            | OpKind::IsArmed { .. }
            | OpKind::Left { .. }
            | OpKind::Holds { .. } => self.read(at, op),
            OpKind::Set { .. }
            | OpKind::SetAt { .. }
            | OpKind::Arm { .. }
            | OpKind::Disarm { .. }
            | OpKind::Count { .. }
            | OpKind::Give { .. }
            | OpKind::Keep { .. } => return self.write(at, op),
            OpKind::Release { object } => {
                let object = (at.class(*object), self.get(at, *object));
                return self.release(at.program, object.0, object.1);
            }
            OpKind::Again { object } => return self.ask_again(at, *object),
            OpKind::Emit { target, args, .. } => {
                let (handler, channel) = at.info.map_or((u32::MAX, 0), |info| info.blocks[block.index()].emits[place]);
                let target = self.get(at, *target);
                return self.emit(at, What::Call { handler, target }, channel, args);
            }
            OpKind::Out { port, event, args } => {
                let channel = at.info.map_or(0, |info| info.blocks[block.index()].emits[place].1);
                return self.emit(at, What::Out { port: port.0, event: *event }, channel, args);
            }
            OpKind::Drop { message, reason } => {
                let reason = self.reason(reason, at.base);
                return self.drop_message(self.get(at, *message), reason);
            }
            OpKind::Consume { message, reason } => return self.consume(self.get(at, *message), *reason),
            _ => return self.message_operation(at, op),
        };
        if let Some(result) = op.results.first() {
            self.set(at, *result, word);
        }
    }

    fn binary(&mut self, at: Activation, op: Binary, a: Value, b: Value, source: Option<SourceId>) -> u64 {
        let ty = at.ty(a);
        let (word, report) = binary(op, ty, ty.width(&at.program.automaton), self.get(at, a), self.get(at, b));
        if let Some(report) = report {
            self.report(report, source);
        }
        word
    }

    fn parent(&self, at: Activation, object: Value) -> u64 {
        let class = at.class(object);
        let parent = self.store.get(class, self.get(at, object)).map(|found| found.parent);
        match (at.program.automaton.class(class).parent, parent) {
            (Some(class), Some(place)) => self.store.object_in(class, place),
            _ => NULL,
        }
    }

    pub fn message(&self, at: Activation, message: Value) -> &Message {
        self.messages.get(self.get(at, message))
    }

    fn load(
        &mut self,
        at: Activation,
        message: Value,
        offset: Value,
        ty: Type,
        endian: Endian,
        source: Option<SourceId>,
    ) -> u64 {
        let octets = usize::from(ty.width(&at.program.automaton)).div_ceil(8);
        let field = self.message(at, message).field(self.get(at, offset), octets).map(|field| number(field, endian));
        if field.is_none() {
            self.report(Report::Bounds, source);
        }
        field.unwrap_or(0)
    }

    fn read(&mut self, at: Activation, op: &Op) -> u64 {
        let (object, cell, index) = match &op.kind {
            OpKind::Get { object, cell } | OpKind::IsArmed { object, cell } | OpKind::Left { object, cell } => {
                (*object, *cell, None)
            }
            OpKind::GetAt { object, cell, index } | OpKind::Holds { object, cell, index } => {
                (*object, *cell, Some(*index))
            }
            _ => return 0,
        };
        let index = index.map_or(0, |index| self.get(at, index));
        let word = match self.store.cell(at.class(object), self.get(at, object), cell) {
            Some(Content::Word(word)) => Some(*word),
            Some(Content::Array(words)) => words.get(index as usize).copied(),
            Some(Content::Timer(deadline)) => Some(u64::from(deadline.is_some())),
            Some(Content::Quota { left, .. }) => Some(u64::from(*left)),
            Some(Content::Messages(places)) => places.get(index as usize).map(|place| u64::from(place.is_some())),
            _ => Some(0),
        };
        if word.is_none() {
            self.report(Report::Bounds, op.source);
        }
        word.unwrap_or(0)
    }

    fn write(&mut self, at: Activation, op: &Op) {
        match &op.kind {
            OpKind::Set { object, cell, value } => {
                let value = self.get(at, *value);
                if let Some(Content::Word(word)) = self.store.cell_mut(at.class(*object), self.get(at, *object), *cell)
                {
                    *word = value;
                }
            }
            OpKind::SetAt { object, cell, index, value } => {
                let (index, value) = (self.get(at, *index) as usize, self.get(at, *value));
                let found = self.store.cell_mut(at.class(*object), self.get(at, *object), *cell);
                let Some(Content::Array(words)) = found else { return };
                match words.get_mut(index) {
                    Some(word) => *word = value,
                    None => self.report(Report::Bounds, op.source),
                }
            }
            OpKind::Arm { object, cell, deadline } => {
                let deadline = round_up(self.get(at, *deadline), at.program.automaton.tick);
                self.set_timer(at, *object, *cell, Some(deadline));
            }
            OpKind::Disarm { object, cell } => self.set_timer(at, *object, *cell, None),
            OpKind::Count { object, cell, amount } => {
                let amount = self.get(at, *amount);
                let found = self.store.cell_mut(at.class(*object), self.get(at, *object), *cell);
                if let Some(Content::Counter(total)) = found {
                    *total = total.wrapping_add(amount);
                }
            }
            OpKind::Give { object, cell, amount } => self.give(at, *object, *cell, *amount, op.source),
            OpKind::Keep { object, cell, index, message } => {
                self.keep(at, (*object, *cell, *index), *message, op.source)
            }
            _ => {}
        }
    }

    /// A timer of an object that has ended stays idle.
    fn set_timer(&mut self, at: Activation, object: Value, cell: CellId, deadline: Option<u64>) {
        let class = at.class(object);
        let object = self.get(at, object);
        let declaration = at.program.classes[class.index()].declaration[cell.index()];
        let deadline = deadline.filter(|_| self.store.is_living(class, object));
        let Some(found) = self.store.get_mut(class, object) else { return };
        let age = found.age;
        let Some(Content::Timer(armed)) = found.cells.get_mut(cell.index()) else { return };
        let before = std::mem::replace(armed, deadline);
        let entry = |deadline| Armed { deadline, declaration, age, place: place_of(object) };
        if let Some(before) = before {
            self.store.timers.remove(&entry(before));
        }
        if let Some(deadline) = deadline {
            self.store.timers.insert(entry(deadline));
        }
    }

    fn give(&mut self, at: Activation, object: Value, cell: CellId, amount: Value, source: Option<SourceId>) {
        let given = self.get(at, amount) as u32;
        let found = self.store.cell_mut(at.class(object), self.get(at, object), cell);
        let Some(Content::Quota { left, amount }) = found else { return };
        let taken = *amount - *left;
        *left += given.min(taken);
        if given > taken {
            self.report(Report::Misuse, source);
        }
    }

    fn keep(&mut self, at: Activation, place: (Value, CellId, Value), message: Value, source: Option<SourceId>) {
        let (object, cell, index) = place;
        let message = self.get(at, message);
        let index = self.get(at, index) as usize;
        let (class, object) = (at.class(object), self.get(at, object));
        let found = match self.store.cell(class, object, cell) {
            Some(Content::Messages(places)) => Some(places.get(index).map(Option::is_some)),
            _ => None,
        };
        match found {
            Some(Some(occupied)) => {
                let taken = self.messages.take(message);
                self.totals.held += u64::from(!occupied);
                self.totals.gone += u64::from(occupied);
                if occupied {
                    self.report(Report::Misuse, source);
                }
                if let Some(Content::Messages(places)) = self.store.cell_mut(class, object, cell) {
                    places[index] = Some(taken);
                }
            }
            Some(None) => {
                self.report(Report::Bounds, source);
                self.gone(message);
            }
            None => self.gone(message),
        }
    }

    fn ask_again(&mut self, at: Activation, object: Value) {
        let (class, object) = (at.class(object), self.get(at, object));
        if self.settling == Some((class, object)) {
            self.again = true;
        } else if at.program.classes[class.index()].settle != crate::program::NOBODY {
            self.make_dirty(class, object);
        }
    }

    fn emit(&mut self, at: Activation, what: What, channel: u32, args: &[Value]) {
        let start = self.args.len();
        for arg in args {
            self.args.push(self.get(at, *arg));
        }
        self.events.push(Event { what, channel, args: start..self.args.len(), delivered: false, cause: None });
    }

    fn message_operation(&mut self, at: Activation, op: &Op) {
        match &op.kind {
            OpKind::NewMessage { octets } => {
                let message = Message::new(&at.program.automaton, octets.clone());
                self.make(at, op, 0, message);
            }
            OpKind::Push { message, header, variant, fields } => {
                let fields = fields.iter().map(|field| self.get(at, *field)).collect();
                let header = HeaderValue { header: *header, variant: *variant, fields };
                self.change(at, op, *message).headers.push(header);
            }
            OpKind::Pop { message, header, variant } => {
                let popped = self.change(at, op, *message).headers.pop();
                debug_assert!(
                    popped.as_ref().is_some_and(|top| (top.header, top.variant) == (*header, *variant)),
                    "the header taken off is not the one on top"
                );
                let fields = popped.map_or(Vec::new(), |top| top.fields);
                for (place, result) in op.results.iter().enumerate().skip(1) {
                    self.set(at, *result, fields.get(place - 1).copied().unwrap_or(0));
                }
            }
            OpKind::Encode { message, wire } => {
                let message = self.change(at, op, *message);
                if encode(&at.program.automaton, *wire, message) {
                    self.report(Report::Narrow, op.source);
                }
            }
            OpKind::Native { symbol, grows, args, message, .. } => {
                let args: Vec<u64> = args.iter().map(|arg| self.get(at, *arg)).collect();
                let natives = at.program.natives.clone();
                let call = |octets: Option<(&mut Vec<u8>, u32)>| {
                    natives.map_or(0, |natives| natives.call(symbol, &args, octets))
                };
                let result = match message {
                    Some(message) => {
                        let octets = &mut self.change(at, op, *message).octets;
                        let room = (octets.len() as u32).saturating_add(*grows);
                        call(Some((octets, room)))
                    }
                    None => call(None),
                };
                if let Some(place) = op.results.get(usize::from(message.is_some())) {
                    let width = at.ty(*place).width(&at.program.automaton);
                    let mask = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
                    self.set(at, *place, result & mask);
                }
            }
            OpKind::Trim { message, size } => {
                let size = self.get(at, *size);
                let octets = &mut self.change(at, op, *message).octets;
                let beyond = size > octets.len() as u64;
                octets.truncate(size as usize);
                self.report_if(beyond, op);
            }
            OpKind::Skip { message, size } => {
                let size = self.get(at, *size);
                let octets = &mut self.change(at, op, *message).octets;
                let beyond = size > octets.len() as u64;
                octets.drain(..(size as usize).min(octets.len()));
                self.report_if(beyond, op);
            }
            OpKind::Split { message, at: place } => {
                let place = self.get(at, *place);
                let message = self.change(at, op, *message);
                let beyond = place > message.octets.len() as u64;
                let rest = message.split_off((place as usize).min(message.octets.len()));
                self.make(at, op, 1, rest);
                self.report_if(beyond, op);
            }
            OpKind::Join { first, second } => {
                let second = self.messages.take(self.get(at, *second));
                self.totals.merged += 1;
                self.change(at, op, *first).octets.extend_from_slice(&second.octets);
            }
            OpKind::Share { message } => {
                let shared = self.message(at, *message).clone();
                self.make(at, op, 0, shared);
            }
            OpKind::Received { message, wire } => {
                let octets = self.message(at, *message).received(*wire).to_vec();
                let message = Message::new(&at.program.automaton, octets);
                self.make(at, op, 0, message);
            }
            OpKind::Store { message, at: offset, value, endian } => {
                let octets = usize::from(at.ty(*value).width(&at.program.automaton)).div_ceil(8);
                let (offset, value) = (self.get(at, *offset), self.get(at, *value));
                let stored = self.change(at, op, *message).store(offset, octets, *endian, value);
                self.report_if(!stored, op);
            }
            OpKind::SetAttribute { message, attribute, value } => {
                let value = self.get(at, *value);
                if let Some(place) = self.change(at, op, *message).attributes.get_mut(attribute.index()) {
                    *place = value;
                }
            }
            _ => {}
        }
    }

    /// The message that an operation changes; it is the operation's first result.
    fn change(&mut self, at: Activation, op: &Op, message: Value) -> &mut Message {
        let id = self.get(at, message);
        self.set(at, op.results[0], id);
        self.messages.get_mut(id)
    }

    fn make(&mut self, at: Activation, op: &Op, result: usize, message: Message) {
        self.totals.made += 1;
        let id = self.messages.put(Box::new(message));
        self.set(at, op.results[result], id);
    }

    fn report_if(&mut self, beyond: bool, op: &Op) {
        if beyond {
            self.report(Report::Bounds, op.source);
        }
    }
}

/// The wire's headers become octets; whether a field was too narrow.
fn encode(automaton: &mokume_reaction::Automaton, wire: mokume_reaction::WireId, message: &mut Message) -> bool {
    let carried = &automaton.wires[wire.index()].headers;
    let on_top = message.headers.iter().rev().take(carried.len()).take_while(|top| carried.contains(&top.header));
    let first = message.headers.len() - on_top.count();
    // What a layer in the middle of the wire sends of its own has no headers of the layers above it.
    let in_order = message.headers[first..].iter().rev().zip(carried).all(|(top, wanted)| top.header == *wanted);
    debug_assert!(in_order, "the headers on top are not those of the wire");
    let headers = message.headers.split_off(first);
    let encoded = mokume_wire::encode(automaton, wire, &headers, &message.octets);
    message.octets = encoded.octets;
    encoded.narrow
}

/// The word, and what is to be reported.
pub fn binary(op: Binary, ty: Type, width: u8, a: u64, b: u64) -> (u64, Option<Report>) {
    let mask = mask(width);
    let checked = |wide: Option<u64>, wrapped: u64| {
        let carried = wide.is_none_or(|wide| wide > mask) && !matches!(ty, Type::Seq(_));
        (wrapped & mask, carried.then_some(Report::Overflow))
    };
    let divided = |quotient: Option<u64>| (quotient.unwrap_or(0), quotient.is_none().then_some(Report::DivisionByZero));
    let shift = |shifted: u64| if b >= u64::from(width) { 0 } else { shifted & mask };
    let less = compare(Compare::Lt, ty, a, b);
    match op {
        Binary::AddWrap => (a.wrapping_add(b) & mask, None),
        Binary::SubWrap => (a.wrapping_sub(b) & mask, None),
        Binary::MulWrap => (a.wrapping_mul(b) & mask, None),
        Binary::Add => checked(a.checked_add(b), a.wrapping_add(b)),
        Binary::Sub => checked(a.checked_sub(b), a.wrapping_sub(b)),
        Binary::Mul => checked(a.checked_mul(b), a.wrapping_mul(b)),
        Binary::Div => divided(a.checked_div(b)),
        Binary::Rem => divided(a.checked_rem(b)),
        Binary::And => (a & b, None),
        Binary::Or => (a | b, None),
        Binary::Xor => (a ^ b, None),
        Binary::Shl => (shift(a.wrapping_shl(b as u32)), None),
        Binary::Shr => (shift(a.wrapping_shr(b as u32)), None),
        Binary::Min => (if less { a } else { b }, None),
        Binary::Max => (if less { b } else { a }, None),
        Binary::Within if a < b => (a, None),
        Binary::Within => (mask, Some(Report::Bounds)),
    }
}

pub fn compare(op: Compare, ty: Type, a: u64, b: u64) -> bool {
    let less = |a: u64, b: u64| match ty {
        // RFC 1982: `a < b` when `b - a` is in `1 .. 2^(n-1)`.
        Type::Seq(width) => (1..1 << (width - 1)).contains(&(b.wrapping_sub(a) & mask(width))),
        _ => a < b,
    };
    match op {
        Compare::Eq => a == b,
        Compare::Ne => a != b,
        Compare::Lt => less(a, b),
        Compare::Le => a == b || less(a, b),
        Compare::Gt => less(b, a),
        Compare::Ge => a == b || less(b, a),
    }
}
