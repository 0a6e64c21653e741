//! Operations that do not branch, one arm each, and arithmetic on values.

use mokume_reaction::{Binary, BlockId, Compare, Op, OpKind, Report, SourceId, Type, Value};

use crate::core::{Core, Destination, Event};
use crate::eval::Activation;
use crate::message::{fold16, sum16, Message};
use crate::program::{mask, NOBODY};
use crate::random;
use crate::store::{round_up, NULL};

impl Core {
    /// Runs one operation that does not branch, and sets its results. `block` and `place` are its position: an
    /// emission's handler and channel are looked up by them. A table: one arm for each operation, so it is long.
    pub fn operation(&mut self, at: Activation, block: BlockId, place: usize, op: &Op) {
        let word = match &op.kind {
            OpKind::Const { ty, value } => *value & at.program.mask(*ty),
            OpKind::Null { .. } => NULL,
            OpKind::Binary { op: what, a, b } => self.binary(at, *what, *a, *b, op.source),
            OpKind::Compare { op: what, a, b } if at.ty(*a).array().is_some() => {
                u64::from(self.compare_arrays(at, *what, *a, *b))
            }
            OpKind::Compare { op: what, a, b } => {
                let (ty, a, b) = (at.ty(*a), self.get(at, *a), self.get(at, *b));
                u64::from(compare(*what, ty, a, b))
            }
            OpKind::Not { a } => !self.get(at, *a) & at.program.mask(at.ty(*a)),
            OpKind::Select { c, a, b } => {
                let chosen = if self.get(at, *c) != 0 { *a } else { *b };
                if at.ty(chosen).array().is_some() {
                    return self.choose_array(at, chosen, op.results[0]);
                }
                self.get(at, chosen)
            }
            OpKind::Cast { a, to } => self.get(at, *a) & at.program.mask(*to),
            OpKind::Param { param } => at.program.params.get(param.index()).copied().unwrap_or(0),
            OpKind::Now {} => self.now,
            OpKind::Call { function, args } | OpKind::Run { procedure: function, args } => {
                return self.call(at, *function, args, &op.results);
            }
            OpKind::Sample { object, ty } => {
                let class = at.class(*object);
                let object = self.get(at, *object);
                let sampled = self.store.get_mut(class, object).map_or(0, |found| random::sample(&mut found.stream));
                let sampled = sampled & at.program.mask(*ty);
                match &mut self.chance {
                    Some(chance) => chance.draw(sampled, ty.width(&at.program.automaton)) & at.program.mask(*ty),
                    None => sampled,
                }
            }
            OpKind::Unique { class } => self.store.object_in(*class, 0),
            OpKind::Parent { object } => self.parent(at, *object),
            OpKind::Lives { object } => u64::from(self.store.is_living(at.class(*object), self.get(at, *object))),

            OpKind::Pack { ty: _, values } => return self.pack(at, values, op.results[0]),
            OpKind::Item { array, index } => self.item(at, *array, *index),
            OpKind::SetItem { array, index, value } => {
                return self.set_item(at, *array, (*index, *value), op.results[0]);
            }
            OpKind::Slice { array, index, ty: _ } => return self.slice(at, *array, *index, op.results[0]),
            OpKind::Splice { array, index, with } => {
                return self.splice(at, *array, (*index, *with), op.results[0]);
            }
            OpKind::GetAll { object, cell } => return self.get_all(at, *object, *cell, op.results[0]),
            OpKind::SetAll { object, cell, value } => return self.set_all(at, *object, *cell, *value),

            OpKind::Get { object, cell } | OpKind::IsArmed { object, cell } | OpKind::Left { object, cell } => {
                self.read(at, *object, *cell, 0, op.source)
            }
            OpKind::GetAt { object, cell, index } | OpKind::Holds { object, cell, index } => {
                self.read(at, *object, *cell, self.get(at, *index), op.source)
            }
            OpKind::Set { object, cell, value } => return self.set_cell(at, *object, *cell, *value, op.source),
            OpKind::SetAt { object, cell, index, value } => {
                return self.set_at(at, *object, *cell, (*index, *value), op.source);
            }
            OpKind::Arm { object, cell, deadline } => {
                let deadline = round_up(self.get(at, *deadline), at.program.automaton.tick);
                return self.set_timer(at, *object, *cell, Some(deadline));
            }
            OpKind::Disarm { object, cell } => return self.set_timer(at, *object, *cell, None),
            OpKind::Count { object, cell, amount } => return self.count(at, *object, *cell, *amount),
            OpKind::Spend { object, cell, amount } => return self.spend(at, *object, *cell, *amount, op.source),
            OpKind::Give { object, cell, amount } => return self.give(at, *object, *cell, *amount, op.source),
            OpKind::Keep { object, cell, index, message } => {
                return self.keep(at, (*object, *cell, *index), *message, op.source);
            }
            OpKind::Waiting { .. } => {
                let handler = at.blocks.map_or(NOBODY, |blocks| blocks[block.index()].emits[place].0);
                self.later_waiting.get(handler as usize).map_or(0, |waiting| u64::from(*waiting))
            }
            OpKind::Defer { target, event: _, args } => {
                let handler = at.blocks.map_or(NOBODY, |blocks| blocks[block.index()].emits[place].0);
                return self.defer(at, handler, *target, args, op.source);
            }
            OpKind::Release { object } => {
                return self.release(at.program, at.class(*object), self.get(at, *object));
            }
            OpKind::Again { object } => return self.ask_again(at, *object),

            OpKind::NewMessage { octets } => {
                let message = Message::new(&at.program.automaton, octets.clone());
                return self.make(at, op, 0, message);
            }
            OpKind::Front { message, octets } => return self.front(at, op, *message, octets),
            OpKind::Push { message, header, variant, fields } => {
                return self.push(at, op, *message, (*header, *variant), fields);
            }
            OpKind::Pop { message, header, variant } => return self.pop(at, op, *message, (*header, *variant)),
            OpKind::Encode { message, wire } => return self.encode(at, op, *message, *wire),
            OpKind::Size { message } => self.message(at, *message).octets.len() as u64,
            OpKind::Trim { message, size } => return self.trim(at, op, *message, *size),
            OpKind::Skip { message, size } => return self.skip(at, op, *message, *size),
            OpKind::Split { message, at: place } => return self.split(at, op, *message, *place),
            OpKind::Join { first, second } => return self.join(at, op, *first, *second),
            OpKind::Share { message } => {
                let shared = self.message(at, *message).clone();
                return self.make(at, op, 0, shared);
            }
            OpKind::Received { message, wire } => {
                let octets = self.message(at, *message).received(*wire).to_vec();
                let message = Message::new(&at.program.automaton, octets);
                return self.make(at, op, 0, message);
            }
            OpKind::Meet { message, wire } => return self.meet(at, op, *message, *wire),
            OpKind::Load { field, message, at: offset } => self.load(at, *message, *offset, *field, op.source),
            OpKind::Store { field, message, at: offset, value } => {
                return self.store_field(at, op, *message, (*offset, *field), *value);
            }
            OpKind::Sum16 { message } => u64::from(sum16(&self.message(at, *message).octets)),
            OpKind::SumPart { message, at: first, size } => {
                u64::from(sum16(part(&self.message(at, *message).octets, self.get(at, *first), self.get(at, *size))))
            }
            OpKind::Fold16 { a } => fold16(self.get(at, *a)),
            OpKind::Native { symbol, grows, args, message, result: _ } => {
                return self.native(at, op, (symbol, *grows), args, *message);
            }
            OpKind::GetAttribute { message, attribute } => {
                self.message(at, *message).attributes.get(attribute.index()).copied().unwrap_or(0)
            }
            OpKind::SetAttribute { message, attribute, value } => {
                return self.set_attribute(at, op, *message, *attribute, *value);
            }

            OpKind::Emit { target, event: _, args } => {
                let (handler, channel) = at.blocks.map_or((NOBODY, 0), |blocks| blocks[block.index()].emits[place]);
                let target = self.get(at, *target);
                return self.emit(at, Destination::Call { handler, target }, channel, args);
            }
            OpKind::EmitBy { object, cell, event: _, args } => {
                let (handler, channel) = at.blocks.map_or((NOBODY, 0), |blocks| blocks[block.index()].emits[place]);
                let Some(class) = at.body.class_of(*object) else { return };
                let to = Destination::Linked { handler, object: self.get(at, *object), class, cell: *cell };
                return self.emit(at, to, channel, args);
            }
            OpKind::Out { port, event, args } => {
                let channel = at.blocks.map_or(0, |blocks| blocks[block.index()].emits[place].1);
                return self.emit(at, Destination::Out { port: port.0, event: *event }, channel, args);
            }
            OpKind::Drop { message, reason } => return self.drop_message(self.get(at, *message), *reason),
            OpKind::DropFor { message, reason } => {
                let reason = mokume_reaction::ReasonId(self.get(at, *reason) as u32);
                return self.drop_message(self.get(at, *message), reason);
            }
            OpKind::TakeHeld { object, cell, index } => return self.take_held(at, op, *object, *cell, *index),
            OpKind::ConsumeHeld { object, cell, index, reason } => {
                return self.consume_held(at, *object, *cell, *index, *reason);
            }
            OpKind::Consume { message, reason } => return self.consume(self.get(at, *message), *reason),
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

    fn emit(&mut self, at: Activation, to: Destination, channel: u32, args: &[Value]) {
        let start = self.args.len();
        for arg in args {
            self.args.push(self.get(at, *arg));
        }
        self.events.push(Event { to, channel, args: start..self.args.len(), delivered: false, cause: None });
    }
}

/// The `size` octets from `at` on, as far as they exist.
fn part(octets: &[u8], at: u64, size: u64) -> &[u8] {
    let first = octets.len().min(at as usize);
    &octets[first..][..(octets.len() - first).min(size as usize)]
}

/// The result, and the report if there is one.
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

/// Compares two numbers of one type; `seqN` is circular (RFC 1982; docs/semantics.md, A4).
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
