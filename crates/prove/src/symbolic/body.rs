//! Handlers, blocks and operations as terms; emissions carried out in order, each with all that follows from it.
//!
//! For stacks without queued channels (design, section 2): there an emission is a call after the handler's updates.

use mokume_reaction::{
    Binary, Body, CellId, Compare, DropReason, Handler, HandlerId, LayerId, OpKind, Target, Terminator, Trigger, Type,
    Value as Id,
};

use super::message::fold16;
use super::{sort_of, Leaf, Message, Object, Origin, Out, Reader, Value, MOST_LEAVES};
use crate::term::{Operator, Sort, Term};

/// Values of one body, by number.
type Frame = Vec<Option<Value>>;

/// Carried out when the handler has ended, in order: what leaves by a port is an emission like the others.
#[derive(Clone)]
enum Emission {
    Call { target: Object, event: String, args: Vec<Value> },
    Out(Out),
}

/// A way through one handler: what it leaves to be carried out.
struct Way {
    leaf: Leaf,
    frame: Frame,
    block: usize,
    emissions: Vec<Emission>,
    /// Blocks entered, against loops.
    steps: usize,
    /// Which values compare circularly.
    circular: Vec<bool>,
}

/// A loop that goes round more often than this is an escape.
const MOST_STEPS: usize = 512;

impl Reader<'_> {
    pub(super) fn run_handler(
        &mut self,
        leaf: Leaf,
        object: Object,
        handler: HandlerId,
        args: Vec<Value>,
    ) -> Result<Vec<Leaf>, String> {
        let automaton = self.automaton;
        let Handler { body, .. } = automaton.handler(handler);
        if automaton.handler_of(self.class_of(object), &Trigger::Settle).is_some() {
            let escape = Some("an object that settles afterwards".to_string());
            return Ok(vec![Leaf { escape, ..leaf }]);
        }
        let mut all = vec![Value::Object(object)];
        all.extend(args);
        let mut done = Vec::new();
        let mut ways = vec![enter(body, leaf, &all)];
        while let Some(mut way) = ways.pop() {
            if done.len() + ways.len() > MOST_LEAVES {
                return Err("more ways through the reaction than are read".into());
            }
            way.steps += 1;
            if way.steps > MOST_STEPS {
                way.leaf.escape = Some("a loop".into());
            }
            if way.leaf.escape.is_some() {
                done.push(way.leaf);
                continue;
            }
            let escape = self.run_block(body, &mut way);
            if let Err(why) = escape {
                way.leaf.escape = Some(why);
                done.push(way.leaf);
                continue;
            }
            match self.end_block(body, way) {
                Ended::Ways(more) => ways.extend(more),
                Ended::Escape(mut leaf, why) => {
                    leaf.escape = Some(why);
                    done.push(leaf);
                }
                Ended::Finished(leaf, emissions) => {
                    let sender = automaton.class(automaton.handler(handler).class).layer;
                    done.extend(self.carry_out(sender, leaf, emissions)?);
                }
            }
        }
        Ok(done)
    }

    /// A handler's emissions, in order.
    fn carry_out(&mut self, sender: LayerId, leaf: Leaf, emissions: Vec<Emission>) -> Result<Vec<Leaf>, String> {
        let mut leaves = vec![leaf];
        for emission in emissions {
            let (target, event, args) = match emission {
                Emission::Call { target, event, args } => (target, event, args),
                Emission::Out(out) => {
                    let composition = self.automaton.composition.as_ref();
                    let queued = composition.is_none_or(|known| known.queued_outputs.contains(&(sender, out.port)));
                    for leaf in leaves.iter_mut().filter(|leaf| leaf.escape.is_none()) {
                        leaf.outs.push(out.clone());
                        leaf.escape = queued.then(|| "an output on a queued channel".into());
                    }
                    continue;
                }
            };
            let class = self.class_of(target);
            let trigger = Trigger::Event(event);
            let handler = self.automaton.handler_of(class, &trigger).ok_or("an emission without a handler")?;
            let (from, to) = (sender, self.automaton.class(class).layer);
            if self.automaton.composition.as_ref().is_none_or(|known| known.queued.contains(&(from, to))) {
                leaves.iter_mut().for_each(|leaf| leaf.escape = Some("an emission on a queued channel".into()));
            }
            let mut next = Vec::new();
            for leaf in leaves {
                if leaf.escape.is_some() {
                    next.push(leaf);
                } else {
                    next.extend(self.run_handler(leaf, target, handler, args.clone())?);
                }
            }
            leaves = next;
        }
        Ok(leaves)
    }

    fn run_block(&mut self, body: &Body, way: &mut Way) -> Result<(), String> {
        for op in &body.blocks[way.block].ops {
            let results = self.operation(&op.kind, way)?;
            for (id, value) in op.results.iter().zip(results) {
                way.frame[id.index()] = Some(value);
            }
        }
        Ok(())
    }

    fn operation(&mut self, op: &OpKind, way: &mut Way) -> Result<Vec<Value>, String> {
        use OpKind as K;
        let one = |term: Term| Ok(vec![Value::Bits(term)]);
        let message_back = |message: Message| Ok(vec![Value::Message(Box::new(message))]);
        match op {
            K::Const { ty, value } => {
                let sort = sort_of(self.automaton, *ty);
                let term = match sort {
                    Sort::Bool => self.terms.truth(*value != 0),
                    _ => self.terms.number(*value, u32::from(ty.width(self.automaton))),
                };
                one(term)
            }
            K::Null { .. } => Ok(vec![Value::Null]),
            K::Binary { op, a, b } => {
                let (a, b) = (way.bits(*a)?, way.bits(*b)?);
                let (term, trap) = self.arithmetic(*op, a, b);
                way.leaf.traps.extend(trap);
                one(term)
            }
            K::Compare { op, a, b } => {
                let seq = matches!(way.ty(*a), Some(Kind::Object));
                let term = if seq { self.same_object(*op, way, *a, *b)? } else { self.comparison(*op, way, *a, *b)? };
                one(term)
            }
            K::Not { a } => {
                let a = way.bits(*a)?;
                let term = if self.terms.sort(a) == Sort::Bool {
                    self.terms.not(a)
                } else {
                    let ones = self.terms.number(u64::MAX, self.terms.width(a));
                    self.terms.binary(Operator::Xor, a, ones)
                };
                one(term)
            }
            K::Select { c, a, b } => {
                let (c, a, b) = (way.bits(*c)?, way.bits(*a)?, way.bits(*b)?);
                one(self.terms.choose(c, a, b))
            }
            K::Cast { a, to } => {
                let a = way.bits(*a)?;
                let bits = self.terms.resize(a, u32::from(to.width(self.automaton)));
                one(if *to == Type::Bool { self.terms.as_truth(bits) } else { bits })
            }
            K::Param { param } => one(self.parameter(param.0)),
            K::Now => one(self.terms.variable("now", Sort::Bits(64))),
            K::Call { function, args } => {
                let args = args.iter().map(|arg| way.value(*arg)).collect::<Result<Vec<_>, _>>()?;
                self.call(function.index(), args, &mut way.leaf)
            }
            K::Unique { class } => Ok(vec![Value::Object(self.object(*class, Origin::Unique(*class)))]),
            K::Parent { object } => {
                let object = way.object(*object)?;
                let parent = self.parent(object).ok_or("a class without a parent")?;
                Ok(vec![Value::Object(parent)])
            }
            K::Get { object, cell } => {
                let object = way.object(*object)?;
                if let Some((referred, null)) = self.follow(object, *cell) {
                    return Ok(vec![Value::Perhaps(referred, null)]);
                }
                let term = self.cell(&mut way.leaf, object, *cell)?;
                one(term)
            }
            K::Set { object, cell, value } => {
                let object = way.object(*object)?;
                let Value::Bits(term) = way.value(*value)? else { return Err("a reference that changes".into()) };
                if self.has_double(object) {
                    return Err("two handles that may be one object".into());
                }
                way.leaf.cells.insert((object, *cell), term);
                if !way.leaf.written.contains(&(object, *cell)) {
                    way.leaf.written.push((object, *cell));
                }
                Ok(Vec::new())
            }
            K::NewMessage { octets } => {
                way.leaf.taken += 1;
                let front = octets.iter().map(|octet| self.terms.number(u64::from(*octet), 8)).collect();
                let zero = self.terms.number(0, 32);
                let octets = self.terms.variable("nothing", Sort::Octets);
                let base = super::Base { octets, start: zero, size: zero };
                message_back(Message {
                    headers: Vec::new(),
                    front,
                    base,
                    attributes: Default::default(),
                    received: Default::default(),
                })
            }
            K::Push { message, header, variant, fields } => {
                let mut message = way.message(*message)?;
                let fields = fields.iter().map(|field| way.value(*field)).collect::<Result<Vec<_>, _>>()?;
                message.headers.push((*header, *variant, fields));
                message_back(message)
            }
            K::Pop { message, header, variant } => {
                let mut message = way.message(*message)?;
                let Some((found, found_variant, fields)) = message.headers.pop() else {
                    return Err("a header that is not there".into());
                };
                if (found, found_variant) != (*header, *variant) {
                    return Err("another header than the one on top".into());
                }
                let mut results = vec![Value::Message(Box::new(message))];
                results.extend(fields);
                Ok(results)
            }
            K::Encode { message, wire } => {
                let mut message = way.message(*message)?;
                self.encode(&mut message, *wire)?;
                message_back(message)
            }
            K::Size { message } => {
                let message = way.message(*message)?;
                one(message.size(self.terms))
            }
            K::Trim { message, size } => {
                let (mut message, size) = (way.message(*message)?, way.bits(*size)?);
                let whole = message.size(self.terms);
                let front = self.terms.number(message.front.len() as u64, 32);
                let (over, under) = (self.terms.less(whole, size), self.terms.less(size, front));
                way.leaf.traps.extend([over, under]);
                message.trim(self.terms, size);
                message_back(message)
            }
            K::Skip { message, size } => {
                let (mut message, size) = (way.message(*message)?, way.bits(*size)?);
                let count = self.terms.constant(size).ok_or("a skip of a size that is not constant")?;
                let whole = message.size(self.terms);
                let over = self.terms.less(whole, size);
                way.leaf.traps.push(over);
                message.skip(self.terms, count as u32);
                message_back(message)
            }
            K::Load { message, at, ty, endian } => {
                let (message, at) = (way.message(*message)?, way.bits(*at)?);
                let at = self.terms.constant(at).ok_or("a load at an offset that is not constant")?;
                let octets = u32::from(ty.width(self.automaton)) / 8;
                let (size, end) = (message.size(self.terms), self.terms.number(at + u64::from(octets), 32));
                let over = self.terms.less(size, end);
                way.leaf.traps.push(over);
                one(message.number(self.terms, at as u32, octets, *endian))
            }
            K::Store { message, at, value, endian } => {
                let (mut message, at, value) = (way.message(*message)?, way.bits(*at)?, way.bits(*value)?);
                let at = self.terms.constant(at).ok_or("a store at an offset that is not constant")? as usize;
                let parts = super::message::split(self.terms, value, *endian);
                if at + parts.len() > message.front.len() {
                    return Err("a store beyond the known octets".into());
                }
                message.front[at..at + parts.len()].copy_from_slice(&parts);
                message_back(message)
            }
            K::Sum16 { message } => {
                let message = way.message(*message)?;
                one(message.sum16(self.terms))
            }
            K::Fold16 { a } => {
                let a = way.bits(*a)?;
                one(fold16(self.terms, a))
            }
            K::GetAttribute { message, attribute } => {
                let message = way.message(*message)?;
                let described = &self.automaton.attributes[attribute.index()];
                let width = u32::from(described.ty.width(self.automaton));
                let term = match message.attributes.get(&attribute.0) {
                    Some(term) => *term,
                    None if described.ty == Type::Bool => self.terms.truth(described.default != 0),
                    None => self.terms.number(described.default, width),
                };
                one(term)
            }
            K::SetAttribute { message, attribute, value } => {
                let (mut message, value) = (way.message(*message)?, way.bits(*value)?);
                message.attributes.insert(attribute.0, value);
                message_back(message)
            }
            K::Emit { target, event, args } => {
                let args = args.iter().map(|arg| way.value(*arg)).collect::<Result<Vec<_>, _>>()?;
                let target = way.object(*target)?;
                way.emissions.push(Emission::Call { target, event: event.clone(), args });
                Ok(Vec::new())
            }
            K::Out { port, event, args } => {
                let args = args.iter().map(|arg| way.value(*arg)).collect::<Result<Vec<_>, _>>()?;
                way.emissions.push(Emission::Out(Out { port: *port, event: *event, args }));
                Ok(Vec::new())
            }
            K::Drop { message: _, reason: DropReason::Known(reason) } | K::Consume { message: _, reason } => {
                way.leaf.dropped.push(*reason);
                Ok(Vec::new())
            }
            // Ways that take from a quota or give to one are not read on, so it is as it was.
            K::Left { object, cell } => {
                let object = way.object(*object)?;
                one(self.left(object, *cell))
            }
            K::Holds { object, cell, index } => {
                let (object, index) = (way.object(*object)?, way.bits(*index)?);
                one(self.holds(object, *cell, index))
            }
            K::Count { object, cell, amount } => {
                let (object, amount) = (way.object(*object)?, way.bits(*amount)?);
                if self.has_double(object) {
                    return Err("two handles that may be one object".into());
                }
                let amount = self.terms.resize(amount, 64);
                let zero = self.terms.number(0, 64);
                let before = way.leaf.counted.get(&(object, *cell)).copied().unwrap_or(zero);
                let sum = self.terms.binary(Operator::Add, before, amount);
                way.leaf.counted.insert((object, *cell), sum);
                Ok(Vec::new())
            }
            other => Err(format!("an operation that is not read symbolically: {}", operation_name(other))),
        }
    }

    fn end_block(&mut self, body: &Body, mut way: Way) -> Ended {
        match &body.blocks[way.block].end {
            Terminator::Return => {
                let Way { leaf, emissions, .. } = way;
                Ended::Finished(leaf, emissions)
            }
            Terminator::Jump { to } => self.go(body, vec![(way, None, to, Vec::new())]),
            Terminator::Branch { condition, then, otherwise, .. } => {
                let Ok(condition) = way.bits(*condition) else { return way.escape("a branch on no truth value") };
                let opposite = self.terms.not(condition);
                let other = way.copy();
                self.go(
                    body,
                    vec![(way, Some(condition), then, Vec::new()), (other, Some(opposite), otherwise, Vec::new())],
                )
            }
            Terminator::Switch { value, cases, default } => {
                let Ok(value) = way.bits(*value) else { return way.escape("a switch on no number") };
                let width = self.terms.width(value);
                let mut ways = Vec::new();
                let mut none = Vec::new();
                for (case, target) in cases {
                    let case = self.terms.number(*case, width);
                    let bits = self.terms.as_bits(value);
                    let hit = self.terms.equal(bits, case);
                    none.push(self.terms.not(hit));
                    ways.push((way.copy(), Some(hit), target, Vec::new()));
                }
                let missed = self.terms.all(&none);
                ways.push((way, Some(missed), default, Vec::new()));
                self.go(body, ways)
            }
            Terminator::PopSwitch { message, header, cases } => {
                let Ok(mut taken) = way.message(*message) else { return way.escape("no message") };
                let Some((found, variant, fields)) = taken.headers.pop() else {
                    return way.escape("a header that is not there");
                };
                let target = cases.iter().find(|(case, _)| found == *header && *case == variant);
                let Some((_, target)) = target else { return way.escape("another header than the one on top") };
                let mut results = vec![Value::Message(Box::new(taken))];
                results.extend(fields);
                self.go(body, vec![(way, None, target, results)])
            }
            Terminator::Decode { message, wire, then, otherwise } => {
                self.decode_ways(body, way, *message, *wire, then, otherwise, true)
            }
            Terminator::Vet { message, wire, then, otherwise } => {
                self.decode_ways(body, way, *message, *wire, then, otherwise, false)
            }
            Terminator::Find { object, cell, key, then, otherwise } => match self.find(&mut way, *object, *cell, key) {
                Err(why) => way.escape(&why),
                Ok((found, values)) => {
                    let missing = self.terms.not(found);
                    let other = way.copy();
                    self.go(body, vec![(way, Some(found), then, values), (other, Some(missing), otherwise, Vec::new())])
                }
            },
            Terminator::TakeOut { object, cell, index, otherwise, .. } => {
                // Only the empty place is read on: a message that was kept is of an event long past.
                let (Ok(object), Ok(index)) = (way.object(*object), way.bits(*index)) else {
                    return way.escape("a place that is not known");
                };
                let holds = self.holds(object, *cell, index);
                let mut taken = way.copy();
                taken.leaf.condition.push(holds);
                taken.leaf.escape = Some("a message that was kept is taken out".into());
                let empty = self.terms.not(holds);
                match self.go(body, vec![(way, Some(empty), otherwise, Vec::new())]) {
                    Ended::Ways(mut ways) => {
                        ways.push(taken);
                        Ended::Ways(ways)
                    }
                    ended => ended,
                }
            }
            other => way.escape(&format!("a branch that is not read symbolically: {}", end_name(other))),
        }
    }

    /// Whether a map has a key, and its values there; maps do not change on a way that is read.
    fn find(&mut self, way: &mut Way, object: Id, cell: CellId, key: &[Id]) -> Result<(Term, Vec<Value>), String> {
        let object = way.object(object)?;
        let key = key.iter().map(|part| way.bits(*part)).collect::<Result<Vec<_>, _>>()?;
        self.look_up(object, cell, key)
    }

    #[allow(clippy::too_many_arguments)]
    fn decode_ways(
        &mut self,
        body: &Body,
        way: Way,
        message: Id,
        wire: mokume_reaction::WireId,
        then: &Target,
        otherwise: &Target,
        take_headers: bool,
    ) -> Ended {
        let Ok(packet) = way.message(message) else { return way.escape("no message") };
        match self.decode(&packet, wire, take_headers) {
            Err(why) => way.escape(&why),
            Ok(outcomes) => {
                let mut ways = Vec::new();
                for outcome in outcomes {
                    let mut copy = way.copy();
                    copy.leaf.condition.extend(outcome.condition);
                    match outcome.result {
                        Ok(decoded) => ways.push((copy, None, then, vec![Value::Message(Box::new(decoded))])),
                        Err(reason) => {
                            let results = vec![Value::Message(Box::new(packet.clone())), Value::Reason(reason)];
                            ways.push((copy, None, otherwise, results));
                        }
                    }
                }
                self.go(body, ways)
            }
        }
    }

    /// Ways into targets, those with an impossible condition left out.
    fn go(&mut self, body: &Body, ways: Vec<(Way, Option<Term>, &Target, Vec<Value>)>) -> Ended {
        let mut next = Vec::new();
        for (mut way, condition, target, mut results) in ways {
            if let Some(condition) = condition {
                if self.terms.constant(condition) == Some(0) {
                    continue;
                }
                if self.terms.constant(condition).is_none() {
                    way.leaf.condition.push(condition);
                }
            }
            let known = self.terms.all(&way.leaf.condition);
            if self.terms.constant(known) == Some(0) {
                continue;
            }
            let args: Result<Vec<Value>, String> = target.args.iter().map(|arg| way.value(*arg)).collect();
            let Ok(args) = args else { return way.escape("a value that is not there") };
            results.extend(args);
            way.block = target.block.index();
            for (param, value) in body.blocks[way.block].params.iter().zip(results) {
                way.frame[param.index()] = Some(value);
            }
            next.push(way);
        }
        Ended::Ways(next)
    }

    /// A function without effects, its ways joined by `if`.
    fn call(&mut self, function: usize, args: Vec<Value>, leaf: &mut Leaf) -> Result<Vec<Value>, String> {
        let automaton = self.automaton;
        let body = &automaton.functions[function].body;
        let outside = std::mem::take(&mut leaf.condition);
        let mut ways = vec![enter(body, leaf.clone(), &args)];
        leaf.condition = outside;
        let mut results: Vec<(Term, Vec<Value>)> = Vec::new();
        while let Some(mut way) = ways.pop() {
            way.steps += 1;
            if way.steps > MOST_STEPS || results.len() > 256 {
                return Err("a function with too many ways".into());
            }
            self.run_block(body, &mut way)?;
            if let Terminator::Yield { values } = &body.blocks[way.block].end {
                let values = values.iter().map(|value| way.value(*value)).collect::<Result<Vec<_>, _>>()?;
                results.push((self.terms.all(&way.leaf.condition), values));
                for (key, term) in way.leaf.cells {
                    leaf.cells.entry(key).or_insert(term);
                }
                for null in way.leaf.nulls {
                    let taken = results.last().map(|(condition, _)| *condition);
                    let both = self.terms.all(&[null, taken.ok_or("no way")?]);
                    if !leaf.nulls.contains(&null) && !leaf.nulls.contains(&both) {
                        leaf.nulls.push(both);
                    }
                }
                // A report inside a way of a function happens when that way is taken.
                for trap in way.leaf.traps {
                    let taken = results.last().map(|(condition, _)| *condition);
                    let both = self.terms.all(&[trap, taken.ok_or("no way")?]);
                    if !leaf.traps.contains(&both) {
                        leaf.traps.push(both);
                    }
                }
            } else {
                match self.end_block(body, way) {
                    Ended::Ways(more) => ways.extend(more),
                    Ended::Escape(_, why) => return Err(why),
                    Ended::Finished(..) => return Err("a function that does not yield".into()),
                }
            }
        }
        self.join_results(results)
    }

    fn join_results(&mut self, results: Vec<(Term, Vec<Value>)>) -> Result<Vec<Value>, String> {
        let mut results = results.into_iter();
        let Some((_, mut joined)) = results.next() else { return Err("a function without an end".into()) };
        for (condition, values) in results {
            for (old, new) in joined.iter_mut().zip(values) {
                *old = match (&*old, new) {
                    (Value::Bits(a), Value::Bits(b)) => Value::Bits(self.terms.choose(condition, b, *a)),
                    (a, b) if *a == b => b,
                    _ => return Err("a function that yields different objects".into()),
                };
            }
        }
        Ok(joined)
    }

    /// A result, and when it is reported.
    fn arithmetic(&mut self, op: Binary, a: Term, b: Term) -> (Term, Option<Term>) {
        if self.terms.sort(a) == Sort::Bool {
            return (self.boolean(op, a, b), None);
        }
        let width = self.terms.width(a);
        let plain = |op| match op {
            Binary::AddWrap | Binary::Add => Operator::Add,
            Binary::SubWrap | Binary::Sub => Operator::Sub,
            Binary::MulWrap | Binary::Mul => Operator::Mul,
            Binary::Div => Operator::Div,
            Binary::Rem => Operator::Rem,
            Binary::And => Operator::And,
            Binary::Or => Operator::Or,
            Binary::Xor => Operator::Xor,
            Binary::Shl => Operator::Shl,
            _ => Operator::Shr,
        };
        let zero = self.terms.number(0, width);
        match op {
            Binary::Min | Binary::Max => {
                let less = self.terms.less(a, b);
                let (then, otherwise) = if op == Binary::Min { (a, b) } else { (b, a) };
                (self.terms.choose(less, then, otherwise), None)
            }
            Binary::Add => {
                let sum = self.terms.binary(Operator::Add, a, b);
                let carried = self.terms.less(sum, a);
                (sum, Some(carried))
            }
            Binary::Sub => {
                let borrowed = self.terms.less(a, b);
                (self.terms.binary(Operator::Sub, a, b), Some(borrowed))
            }
            Binary::Mul => {
                let (wide_a, wide_b) = (self.terms.resize(a, width * 2), self.terms.resize(b, width * 2));
                let product = self.terms.binary(Operator::Mul, wide_a, wide_b);
                let high = self.terms.extract(width * 2 - 1, width, product);
                let carried = self.terms.as_truth(high);
                (self.terms.extract(width - 1, 0, product), Some(carried))
            }
            Binary::Div | Binary::Rem => {
                let by_zero = self.terms.equal(b, zero);
                let quotient = self.terms.binary(plain(op), a, b);
                (self.terms.choose(by_zero, zero, quotient), Some(by_zero))
            }
            other => (self.terms.binary(plain(other), a, b), None),
        }
    }

    fn boolean(&mut self, op: Binary, a: Term, b: Term) -> Term {
        match op {
            Binary::And | Binary::Min => self.terms.all(&[a, b]),
            Binary::Or | Binary::Max => self.terms.any(&[a, b]),
            _ => {
                let same = self.terms.equal(a, b);
                self.terms.not(same)
            }
        }
    }

    fn same_object(&mut self, op: Compare, way: &Way, a: Id, b: Id) -> Result<Term, String> {
        let same = match (way.value(a)?, way.value(b)?) {
            (Value::Null, Value::Null) => true,
            (Value::Null, Value::Object(_)) | (Value::Object(_), Value::Null) => false,
            (Value::Perhaps(_, null), Value::Null) | (Value::Null, Value::Perhaps(_, null)) => {
                return Ok(if op == Compare::Eq { null } else { self.terms.not(null) });
            }
            (Value::Object(x), Value::Object(y)) if x == y => true,
            _ => return Err("two handles that may be one object".into()),
        };
        Ok(self.terms.truth(same == (op == Compare::Eq)))
    }

    fn comparison(&mut self, op: Compare, way: &Way, a: Id, b: Id) -> Result<Term, String> {
        let circular = way.circular(a);
        let (a, b) = (way.bits(a)?, way.bits(b)?);
        let (low, high, strict) = match op {
            Compare::Eq => return Ok(self.terms.equal(a, b)),
            Compare::Ne => {
                let same = self.terms.equal(a, b);
                return Ok(self.terms.not(same));
            }
            Compare::Lt => (a, b, true),
            Compare::Le => (a, b, false),
            Compare::Gt => (b, a, true),
            Compare::Ge => (b, a, false),
        };
        if !circular {
            return Ok(if strict { self.terms.less(low, high) } else { self.terms.less_equal(low, high) });
        }
        Ok(self.circular(low, high, strict))
    }

    /// RFC 1982: `high - low` in `1 .. 2^(n-1)`, or `0 ..` when not strict.
    pub(crate) fn circular(&mut self, low: Term, high: Term, strict: bool) -> Term {
        let width = self.terms.width(low);
        let ahead = self.terms.binary(Operator::Sub, high, low);
        let half = self.terms.number(1 << (width - 1), width);
        let near = self.terms.less(ahead, half);
        if !strict {
            return near;
        }
        let zero = self.terms.number(0, width);
        let same = self.terms.equal(ahead, zero);
        let apart = self.terms.not(same);
        self.terms.all(&[near, apart])
    }
}

enum Ended {
    Ways(Vec<Way>),
    Finished(Leaf, Vec<Emission>),
    Escape(Leaf, String),
}

enum Kind {
    Object,
    Other,
}

fn enter(body: &Body, leaf: Leaf, args: &[Value]) -> Way {
    let mut frame: Frame = vec![None; body.values.len()];
    for (param, value) in body.blocks[0].params.iter().zip(args) {
        frame[param.index()] = Some(value.clone());
    }
    let circular = body.values.iter().map(|info| matches!(info.ty, Type::Seq(_))).collect();
    Way { leaf, frame, block: 0, emissions: Vec::new(), steps: 0, circular }
}

impl Way {
    fn value(&self, id: Id) -> Result<Value, String> {
        self.frame[id.index()].clone().ok_or_else(|| "a value that is not there".to_string())
    }

    fn bits(&self, id: Id) -> Result<Term, String> {
        match self.value(id)? {
            Value::Bits(term) => Ok(term),
            _ => Err("a number where there is none".into()),
        }
    }

    /// An object that is used: that it is not null is to be shown.
    fn object(&mut self, id: Id) -> Result<Object, String> {
        match self.value(id)? {
            Value::Object(object) => Ok(object),
            Value::Perhaps(object, null) => {
                if !self.leaf.nulls.contains(&null) {
                    self.leaf.nulls.push(null);
                }
                Ok(object)
            }
            _ => Err("a handle that is not known".into()),
        }
    }

    fn message(&self, id: Id) -> Result<Message, String> {
        match self.value(id)? {
            Value::Message(message) => Ok(*message),
            _ => Err("a message where there is none".into()),
        }
    }

    fn ty(&self, id: Id) -> Option<Kind> {
        Some(match self.frame[id.index()].as_ref()? {
            Value::Object(_) | Value::Null | Value::Perhaps(..) => Kind::Object,
            _ => Kind::Other,
        })
    }

    fn circular(&self, id: Id) -> bool {
        self.circular[id.index()]
    }

    fn copy(&self) -> Way {
        let emissions = self.emissions.clone();
        Way {
            leaf: self.leaf.clone(),
            frame: self.frame.clone(),
            block: self.block,
            emissions,
            steps: self.steps,
            circular: self.circular.clone(),
        }
    }

    fn escape(self, why: &str) -> Ended {
        Ended::Escape(self.leaf, why.to_string())
    }
}

fn operation_name(op: &OpKind) -> String {
    let text = format!("{op:?}");
    text.split([' ', '{']).next().unwrap_or_default().to_string()
}

fn end_name(end: &Terminator) -> String {
    let text = format!("{end:?}");
    text.split([' ', '{']).next().unwrap_or_default().to_string()
}
