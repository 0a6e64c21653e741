//! Handlers, blocks and operations as terms. Emissions are delivered in order, each with all that follows from it.
//!
//! An emission is a call after its handler has ended. If an older emission of its channel could come before it (O3),
//! the way is an escape.

use mokume_reaction::{
    Body, Channel, ClassId, Handler, HandlerId, LayerId, OpKind, Operation, Terminator, Trigger, Type,
};

use super::merging::order_of;
use super::message::fold16;
use super::way::{enter, Emission, Ended, Kind, To, Way};
use super::{End, Handed, Leaf, Message, Object, Origin, Out, Reader, Value, MOST_LEAVES};
use crate::term::{Sort, Term};

/// Why a way through a path that refuses is not read further.
pub(super) const REFUSED: &str = "refused";

/// The most steps of a way; a loop with more is an escape.
const MOST_STEPS: usize = 512;

/// Whether a block leads to the end by jumps only.
fn returns(body: &Body, mut block: usize) -> bool {
    for _ in 0..body.blocks.len() {
        let Terminator::Jump { to } = &body.blocks[block].terminator else { break };
        block = to.block.index();
    }
    matches!(body.blocks[block].terminator, Terminator::Return)
}

impl Reader<'_> {
    pub(super) fn run_handler(
        &mut self,
        mut leaf: Leaf,
        object: Object,
        handler: HandlerId,
        args: Vec<Value>,
    ) -> Result<Vec<Leaf>, String> {
        if let Err(why) = self.touch(&mut leaf, object) {
            return Ok(vec![Leaf { escape: Some(why), ..leaf }]);
        }
        self.run_body(leaf, object, handler, args)
    }

    /// The same for a handler whose instant makes no object dirty.
    pub(super) fn run_body(
        &mut self,
        leaf: Leaf,
        object: Object,
        handler: HandlerId,
        args: Vec<Value>,
    ) -> Result<Vec<Leaf>, String> {
        let automaton = self.automaton;
        let Handler { body, .. } = automaton.handler(handler);
        let mut all = vec![Value::Object(object)];
        all.extend(args);
        let order = self.merges.then(|| order_of(body));
        let (mut done, mut finished) = (Vec::new(), Vec::new());
        let mut ways = vec![enter(body, leaf, &all)];
        while let Some(last) = ways.len().checked_sub(1) {
            // If ways can be merged, the one that is furthest behind continues.
            let first = order.as_ref().and_then(|order| (0..=last).min_by_key(|way| order[ways[*way].block]));
            let mut way = ways.remove(first.unwrap_or(last));
            if order.is_some() {
                way = self.merge_ways(body, way, &mut ways)?;
            }
            if done.len() + ways.len() > MOST_LEAVES {
                return Err("more ways through the reaction than are read".into());
            }
            self.go_on()?;
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
            let block = way.block;
            match self.terminator(body, way) {
                Ended::Ways(mut more) => {
                    let before = |next: usize| order.as_ref().is_some_and(|order| order[next] <= order[block]);
                    more.iter_mut().for_each(|way| way.rounds += usize::from(before(way.block)));
                    ways.extend(more);
                }
                Ended::Escape(mut leaf, why) => {
                    leaf.escape = Some(why);
                    done.push(leaf);
                }
                Ended::Finished(mut leaf, emissions) => {
                    leaf.settling.at_hand = None;
                    finished.push((leaf, emissions));
                }
            }
        }
        if self.merges {
            finished = self.merge_finished(finished)?;
        }
        if self.is_alone {
            done.extend(finished.into_iter().map(|(leaf, emitted)| Leaf { emitted, ..leaf }));
            return Ok(done);
        }
        let sender = automaton.class(automaton.handler(handler).class).layer;
        for (leaf, emissions) in finished {
            done.extend(self.carry_out(sender, leaf, emissions)?);
        }
        if self.merges && done.len() > 1 {
            let all = done.into_iter().map(|leaf| (leaf, Vec::new())).collect();
            done = self.merge_finished(all)?.into_iter().map(|(leaf, _)| leaf).collect();
        }
        Ok(done)
    }

    /// All ways through a path. Its outputs leave at once, in order.
    pub(super) fn run_path(
        &mut self,
        leaf: Leaf,
        object: Object,
        body: &Body,
        args: Vec<Value>,
    ) -> Result<Vec<Leaf>, String> {
        let mut all = vec![Value::Object(object)];
        all.extend(args);
        let mut done = Vec::new();
        let mut ways = vec![enter(body, leaf, &all)];
        while let Some(mut way) = ways.pop() {
            if done.len() + ways.len() > MOST_LEAVES {
                return Err("more ways through the path than are read".into());
            }
            // After all guards there are no more conditions.
            if !self.assumes && returns(body, way.block) {
                done.push(way.leaf);
                continue;
            }
            self.run_block(body, &mut way)?;
            if let Terminator::Refuse { values } = &body.blocks[way.block].terminator {
                let given = all.iter().filter(|value| matches!(value, Value::Message(_)));
                let back = values.iter().map(|value| way.value(*value)).collect::<Result<Vec<_>, _>>()?;
                let is_same = back.iter().eq(given);
                way.leaf.refused_well = is_same && way.emissions.is_empty();
                way.leaf.escape = Some(REFUSED.to_string());
                done.push(way.leaf);
                continue;
            }
            match self.terminator(body, way) {
                Ended::Ways(more) => ways.extend(more),
                Ended::Escape(_, why) => return Err(why),
                Ended::Finished(mut leaf, emissions) => {
                    for emission in emissions {
                        if leaf.handed.is_some() {
                            return Err("a path that does more behind what it hands over".into());
                        }
                        match emission {
                            Emission::Out(out) => leaf.outs.push(out),
                            Emission::Call { target: To::Object(target), null, event, args } => {
                                let handler = self.handler_for(target, &event)?;
                                leaf.handed = Some(Handed { handler, target, null, args });
                            }
                            Emission::Call { .. } => return Err("a path that emits to whom a cell refers".into()),
                            Emission::Given { .. } => return Err("a path that gives values".into()),
                        }
                    }
                    done.push(leaf);
                }
            }
        }
        Ok(done)
    }

    /// Delivers a handler's emissions in order, each with all that follows from it (docs/semantics.md, O2).
    fn carry_out(&mut self, sender: LayerId, leaf: Leaf, emissions: Vec<Emission>) -> Result<Vec<Leaf>, String> {
        if emissions.iter().any(|emission| matches!(emission, Emission::Given { .. })) {
            return Err("a handler that gives values".into());
        }
        let mut leaves = vec![leaf];
        let older = self.pending.len();
        let channels: Vec<Channel> = emissions.iter().map(|emission| self.channel(sender, emission)).collect();
        self.pending.extend(channels.into_iter().rev());
        for emission in emissions {
            let channel = self.pending.pop();
            // Never before an older one of the same channel (O3). The content of the queue when a layer emits is not
            // known.
            let is_between = self.is_inside && !self.is_put_off;
            let may_be_behind = is_between && channel.is_some_and(|channel| self.automaton.is_queued(channel));
            if may_be_behind || channel.is_some_and(|channel| self.pending[..older].contains(&channel)) {
                let live = leaves.iter_mut().filter(|leaf| leaf.escape.is_none());
                live.for_each(|leaf| leaf.escape = Some("an emission behind an older one of its channel".into()));
            }
            let mut next = Vec::new();
            for leaf in leaves {
                match leaf.escape {
                    Some(_) => next.push(leaf),
                    None if leaf.handed.is_some() => {
                        let escape = Some("something behind what is handed over".into());
                        next.push(Leaf { escape, ..leaf });
                    }
                    None => next.extend(self.deliver(leaf, &emission)?),
                }
            }
            leaves = next;
        }
        Ok(leaves)
    }

    fn channel(&self, sender: LayerId, emission: &Emission) -> Channel {
        match emission {
            Emission::Out(out) => Channel::Port(sender, out.port),
            Emission::Call { target, .. } => {
                Channel::Layer(sender, self.automaton.class(self.class_for(*target)).layer)
            }
            Emission::Given { .. } => Channel::Layer(sender, sender),
        }
    }

    /// The class of an emission's receiver.
    fn class_for(&self, to: To) -> ClassId {
        match to {
            To::Object(object) => self.class_of(object),
            To::Linked(object, cell) => {
                let class = self.class_of(object);
                self.automaton.cell(class, cell).refers_to().unwrap_or(class)
            }
        }
    }

    fn deliver(&mut self, mut leaf: Leaf, emission: &Emission) -> Result<Vec<Leaf>, String> {
        let (to, null, event, args) = match emission {
            Emission::Out(out) => {
                leaf.outs.push(out.clone());
                return Ok(vec![leaf]);
            }
            Emission::Call { target, null, event, args } => (*target, *null, event, args),
            Emission::Given { .. } => return Ok(vec![leaf]),
        };
        self.at(&leaf);
        let (target, null) = match to {
            To::Object(object) => (object, null),
            To::Linked(object, cell) => match self.referred(&mut leaf, object, cell) {
                Ok(Some(Value::Object(object))) => (object, None),
                Ok(Some(Value::Perhaps(object, null))) => (object, Some(null)),
                Ok(_) => return Ok(vec![Leaf { escape: Some("an emission to nobody".into()), ..leaf }]),
                Err(why) => return Ok(vec![Leaf { escape: Some(why), ..leaf }]),
            },
        };
        let handler = self.handler_for(target, event)?;
        if self.hands_over == Some(handler) {
            leaf.handed = Some(Handed { handler, target, null, args: args.clone() });
            return Ok(vec![leaf]);
        }
        // An emission to null is gone, and this way is wrong.
        if let Some(null) = null {
            self.addressed(null, &mut leaf);
        }
        // The receiver of an event may have ended: then the event is gone, and this way is wrong.
        let lives = self.lives(target);
        let ended = self.terms.not(lives);
        if self.terms.constant(ended) != Some(0) {
            self.addressed(ended, &mut leaf);
        }
        self.run_handler(leaf, target, handler, args.clone())
    }

    /// Records the condition under which a receiver does not exist; then this way is wrong. A comparison of two
    /// automata assumes that it is impossible.
    fn addressed(&self, missing: Term, leaf: &mut Leaf) {
        let list = if self.compares { &mut leaf.believed } else { &mut leaf.nulls };
        if !list.contains(&missing) {
            list.push(missing);
        }
    }

    fn handler_for(&self, target: Object, event: &str) -> Result<HandlerId, String> {
        let handler = self.automaton.handler_of(self.class_of(target), &Trigger::Event(event.to_owned()));
        handler.ok_or_else(|| "an emission without a handler".to_owned())
    }

    fn run_block(&mut self, body: &Body, way: &mut Way) -> Result<(), String> {
        self.way.clone_from(&way.leaf.condition);
        self.at(&way.leaf);
        for op in &body.blocks[way.block].ops {
            let mut results = self.operation(&op.kind, way)?;
            for result in &mut results {
                if let Value::Bits(term) = result {
                    *term = self.known(*term);
                }
            }
            for (id, value) in op.results.iter().zip(results) {
                way.frame[id.index()] = Some(value);
            }
        }
        Ok(())
    }

    /// This is a table, one row for each operation; longer ones are in files of their own.
    fn operation(&mut self, op: &OpKind, way: &mut Way) -> Result<Vec<Value>, String> {
        use OpKind as K;
        let one = |term: Term| Ok(vec![Value::Bits(term)]);
        let array = |items: Vec<Term>| Ok(vec![Value::Array(items)]);
        let message_back = |message: Message| Ok(vec![Value::Message(Box::new(message))]);
        match op {
            K::Const { ty, value } => self.constant(*ty, *value),
            K::Null { .. } => Ok(vec![Value::Null]),
            K::Binary { op, a, b } => {
                let circle = way.circular(*a);
                let (a, b) = (way.bits(*a)?, way.bits(*b)?);
                let (term, trap) = if circle { self.around(*op, a, b) } else { self.arithmetic(*op, a, b) };
                way.leaf.traps.extend(trap);
                one(term)
            }
            K::Compare { op, a, b } => {
                let term = match way.ty(*a) {
                    Some(Kind::Object) => self.same_object(*op, way, *a, *b)?,
                    Some(Kind::Array) => self.same_array(*op, &way.array(*a)?, &way.array(*b)?),
                    Some(Kind::Other) | None => self.comparison(*op, way, *a, *b)?,
                };
                one(term)
            }
            K::Not { a } => self.opposite(*a, way),
            K::Select { c, a, b } => {
                let (c, a, b) = (way.bits(*c)?, way.value(*a)?, way.value(*b)?);
                Ok(vec![self.choose(c, a, b)?])
            }
            K::Cast { a, to } => {
                let a = way.bits(*a)?;
                let bits = self.terms.resize(a, u32::from(to.width(self.automaton)));
                one(if *to == Type::Bool { self.terms.as_truth(bits) } else { bits })
            }
            K::Param { param } => one(self.parameter(param.0)),
            K::Now {} => one(self.terms.variable("now", Sort::Bits(64))),
            K::Call { function, args } => {
                let args = args.iter().map(|arg| way.value(*arg)).collect::<Result<Vec<_>, _>>()?;
                self.call(function.index(), args, &mut way.leaf)
            }
            K::Unique { class } => Ok(vec![Value::Object(self.object(*class, Origin::Unique(*class)))]),
            K::Parent { object } => {
                let value = way.value(*object)?;
                self.parent_of(value, way.object(*object)?)
            }
            K::Pack { ty, values } => array(self.pack(*ty, values, way)?),
            K::Item { array, index } => {
                let (items, index) = (way.array(*array)?, way.bits(*index)?);
                let item = way.item(*array).ok_or("no array")?;
                one(self.item(item, &items, index)?)
            }
            K::SetItem { array: of, index, value } => {
                let (items, index, value) = (way.array(*of)?, way.bits(*index)?, way.bits(*value)?);
                array(self.splice(&items, index, &[value]))
            }
            K::Slice { array: of, index, ty } => {
                let (items, index) = (way.array(*of)?, way.bits(*index)?);
                array(self.slice(&items, index, *ty)?)
            }
            K::Splice { array: of, index, with } => {
                let (items, index, with) = (way.array(*of)?, way.bits(*index)?, way.array(*with)?);
                array(self.splice(&items, index, &with))
            }
            K::Get { object, cell } => {
                let given = way.value(*object)?;
                let (Value::Object(object) | Value::Perhaps(object, _)) = given else {
                    return Err("a handle that is not known".into());
                };
                if let Some(value) = self.referred(&mut way.leaf, object, *cell)? {
                    let is_new = way.leaf.referred.contains_key(&(object, *cell));
                    if let (Value::Perhaps(referred, _), false) = (&value, is_new) {
                        if self.objects()[referred.0 as usize].1 != Origin::Cell(object, *cell) {
                            // It leads back to its origin, if it exists.
                            let lives = self.lives(object);
                            way.leaf.nulls.push(self.terms.not(lives));
                            way.leaf.nulls.extend(given.null());
                        }
                    }
                    // A cell of nobody names nobody.
                    return Ok(vec![match (given.null(), value) {
                        (Some(null), Value::Object(referred)) => Value::Perhaps(referred, null),
                        (Some(null), Value::Perhaps(referred, none)) => {
                            Value::Perhaps(referred, self.terms.any(&[none, null]))
                        }
                        (_, value) => value,
                    }]);
                }
                let term = self.cell(&mut way.leaf, object, *cell)?;
                // A cell of nobody is zero.
                one(match given.null() {
                    Some(null) => {
                        let zero = match self.terms.sort(term) {
                            Sort::Bits(width) => self.terms.number(0, width),
                            _ => self.terms.truth(false),
                        };
                        self.terms.choose(null, zero, term)
                    }
                    None => term,
                })
            }
            K::Set { object, cell, value } => self.set((*object, *cell), *value, way),
            K::NewMessage { octets } => self.new_message(octets, way),
            K::Push { message, header, variant, fields } => {
                let mut message = way.message(*message)?;
                let fields = fields.iter().map(|field| way.value(*field)).collect::<Result<Vec<_>, _>>()?;
                message.headers.push((*header, *variant, fields));
                message_back(message)
            }
            K::Pop { message, header, variant } => self.pop(*message, (*header, *variant), way),
            K::Encode { message, wire } => {
                let mut message = way.message(*message)?;
                self.find_header(&mut message, *wire, way)?;
                way.leaf.traps.extend(self.encode(&mut message, *wire)?);
                message_back(message)
            }
            K::Size { message } => {
                let message = way.message(*message)?;
                one(message.size(self.terms))
            }
            K::Trim { message, size } => self.trim(*message, *size, way),
            K::Skip { message, size } => self.skip(*message, *size, way),
            K::Load { field, message, at } => self.load(*field, *message, *at, way),
            K::Store { field, message, at, value } => self.store(*field, *message, (*at, *value), way),
            K::Sum16 { message } => {
                let message = way.message(*message)?;
                one(self.sum_of(&message))
            }
            K::Fold16 { a } => {
                let a = way.bits(*a)?;
                one(fold16(self.terms, a))
            }
            K::GetAttribute { message, attribute } => self.attribute(*message, *attribute, way),
            K::SetAttribute { message, attribute, value } => {
                let (mut message, value) = (way.message(*message)?, way.bits(*value)?);
                message.attributes.insert(attribute.0, value);
                message_back(message)
            }
            K::Emit { target, event, args } => {
                let args = args.iter().map(|arg| way.value(*arg)).collect::<Result<Vec<_>, _>>()?;
                let null = way.value(*target)?.null();
                let target = To::Object(way.object(*target)?);
                way.emissions.push(Emission::Call { target, null, event: event.clone(), args });
                Ok(Vec::new())
            }
            K::EmitBy { object, cell, event, args } => {
                let args = args.iter().map(|arg| way.value(*arg)).collect::<Result<Vec<_>, _>>()?;
                let target = To::Linked(way.object(*object)?, *cell);
                way.emissions.push(Emission::Call { target, null: None, event: event.clone(), args });
                Ok(Vec::new())
            }
            K::Out { port, event, args } => {
                let args = args.iter().map(|arg| way.value(*arg)).collect::<Result<Vec<_>, _>>()?;
                way.emissions.push(Emission::Out(Out { port: *port, event: *event, args }));
                Ok(Vec::new())
            }
            K::Drop { message: _, reason } | K::Consume { message: _, reason } => {
                let is_consumed = matches!(op, K::Consume { .. });
                let when = self.terms.truth(true);
                way.leaf.ended.push(End { reason: *reason, is_consumed, when });
                Ok(Vec::new())
            }
            // The order in which a wire checks several reasons is not read. That suffices only if the same wire refuses
            // on both sides.
            K::DropFor { .. } if !self.compares => {
                Err(format!("an operation that is not read symbolically: {}", op.row().name))
            }
            K::DropFor { message: _, reason } => {
                let Value::Reason(reason) = way.value(*reason)? else {
                    return Err("a reason that is not known".into());
                };
                let when = self.terms.truth(true);
                way.leaf.ended.push(End { reason, is_consumed: false, when });
                Ok(Vec::new())
            }
            K::Lives { object } => match way.value(*object)? {
                Value::Null => one(self.terms.truth(false)),
                Value::Object(object) => one(self.lives(object)),
                Value::Perhaps(object, null) => {
                    let (lives, there) = (self.lives(object), self.terms.not(null));
                    one(self.terms.all(&[lives, there]))
                }
                _ => Err("a handle that is not known".into()),
            },
            K::GetAt { object, cell, index } => {
                let (object, index) = (way.object(*object)?, way.bits(*index)?);
                let (value, beyond) = self.element(&way.leaf, object, *cell, index)?;
                way.leaf.traps.push(beyond);
                if way.leaf.elements.contains_key(&(object, *cell)) {
                    way.leaf.read_back.insert(object);
                }
                one(value)
            }
            K::SetAt { object, cell, index, value } => self.set_at((*object, *cell), (*index, *value), way),
            K::Arm { object, cell, deadline } => self.set_timer((*object, *cell), Some(*deadline), way),
            K::Disarm { object, cell } => self.set_timer((*object, *cell), None, way),
            K::IsArmed { object, cell } => self.is_armed((*object, *cell), way),
            K::Front { message, octets } => self.front(*message, octets, way),
            K::Meet { message, wire } => {
                let mut message = way.message(*message)?;
                let met = (message.base, message.front.len());
                message.received.insert(*wire, met);
                message_back(message)
            }
            K::SumPart { message, at, size } => self.sum_part(*message, *at, *size, way),
            // Ways that take from a quota or give to one are not read further, so it is unchanged.
            K::Left { object, cell } => {
                let object = way.object(*object)?;
                let left = self.left_now(&way.leaf, object, *cell)?;
                one(left)
            }
            K::Holds { object, cell, index } => {
                let (object, index) = (way.object(*object)?, way.bits(*index)?);
                let (holds, beyond) = self.has_message(&way.leaf, (object, *cell), index)?;
                way.leaf.traps.push(beyond);
                one(holds)
            }
            K::Keep { object, cell, index, message } => self.keep((*object, *cell), *index, *message, way),
            K::Spend { object, cell, amount } => self.spend((*object, *cell), *amount, way),
            K::Give { object, cell, amount } => self.give_units((*object, *cell), *amount, way),
            K::TakeHeld { object, cell, index } => self.take_held((*object, *cell), *index, way),
            K::ConsumeHeld { object, cell, index, reason } => self.consume_held((*object, *cell), *index, *reason, way),
            K::Waiting { target, event } => self.waits(*target, event, way),
            K::Defer { target, event, args } => self.defer((*target, event), args, way),
            K::Again { object } => {
                let null = way.value(*object)?.null();
                let object = way.object(*object)?;
                // Nobody settles if there is no such object: then this way is wrong.
                let lives = self.lives(object);
                let ended = self.terms.not(lives);
                for missing in null.into_iter().chain([ended]) {
                    if self.terms.constant(missing) != Some(0) {
                        self.addressed(missing, &mut way.leaf);
                    }
                }
                self.ask_again(&mut way.leaf, object).map(|()| Vec::new())
            }
            K::Share { message } => message_back(way.message(*message)?),
            K::Join { first, second } => self.join_empty(*first, *second, way),
            K::Count { object, cell, amount } => self.count((*object, *cell), *amount, way),
            // This reading does not cover these: the way is an escape.
            K::Sample { .. }
            | K::GetAll { .. }
            | K::SetAll { .. }
            | K::Release { .. }
            | K::Split { .. }
            | K::Received { .. }
            | K::Native { .. }
            | K::Run { .. } => Err(format!("an operation that is not read symbolically: {}", op.row().name)),
        }
    }

    /// A function without effects; its ways are joined by `if`.
    fn call(&mut self, function: usize, args: Vec<Value>, leaf: &mut Leaf) -> Result<Vec<Value>, String> {
        let automaton = self.automaton;
        let body = &automaton.functions[function].body;
        let before = self.way.clone();
        let outside = std::mem::take(&mut leaf.condition);
        let assumed = leaf.assumed.last().cloned().into_iter().collect();
        let mut ways = vec![enter(body, Leaf { assumed, ..leaf.clone() }, &args)];
        leaf.condition = outside;
        let mut results: Vec<(Term, Vec<Value>)> = Vec::new();
        while let Some(mut way) = ways.pop() {
            way.steps += 1;
            if way.steps > MOST_STEPS || results.len() > 256 {
                return Err("a function with too many ways".into());
            }
            self.run_block(body, &mut way)?;
            if let Terminator::Yield { values } = &body.blocks[way.block].terminator {
                let values = values.iter().map(|value| way.value(*value)).collect::<Result<Vec<_>, _>>()?;
                // Under the assumptions of the way itself, its conditions would all be true.
                self.at(leaf);
                results.push((self.terms.all(&way.leaf.condition), values));
                for (key, term) in way.leaf.cells {
                    leaf.cells.entry(key).or_insert(term);
                }
                leaf.read_back.extend(way.leaf.read_back);
                leaf.believed.extend(way.leaf.believed);
                for null in way.leaf.nulls {
                    if !leaf.nulls.contains(&null) {
                        leaf.nulls.push(null);
                    }
                }
                for (object, null) in way.leaf.looked {
                    let taken = results.last().map(|(condition, _)| *condition);
                    let both = self.terms.all(&[null, taken.ok_or("no way")?]);
                    if !leaf.looked.contains(&(object, null)) && !leaf.looked.contains(&(object, both)) {
                        leaf.looked.push((object, both));
                    }
                }
                // A report inside a function happens when its way is taken.
                for trap in way.leaf.traps {
                    let taken = results.last().map(|(condition, _)| *condition);
                    let both = self.terms.all(&[trap, taken.ok_or("no way")?]);
                    if !leaf.traps.contains(&both) {
                        leaf.traps.push(both);
                    }
                }
            } else {
                match self.terminator(body, way) {
                    Ended::Ways(more) => ways.extend(more),
                    Ended::Escape(_, why) => return Err(why),
                    Ended::Finished(..) => return Err("a function that does not yield".into()),
                }
            }
        }
        self.way = before;
        self.at(leaf);
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
                    // No function returns arrays.
                    _ => return Err("a function that yields different objects".into()),
                };
            }
        }
        Ok(joined)
    }
}
