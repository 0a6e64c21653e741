//! Operations on messages as terms.

use mokume_reaction::{AttributeId, HeaderId, OctetField, Type, Value as Id, VariantId, WireId};

use super::message::{join, split};
use super::way::Way;
use super::{sort_of, Base, Message, Reader, Value};
use crate::term::{Operator, Sort, Term};

/// The largest distance, in octets, between the beginnings of stretches whose sums are expressed by each other.
const NEAR: u32 = 128;

impl Reader<'_> {
    /// A message of known octets.
    pub(super) fn new_message(&mut self, octets: &[u8], way: &mut Way) -> Result<Vec<Value>, String> {
        way.leaf.taken += 1;
        let front = octets.iter().map(|octet| self.terms.number(u64::from(*octet), 8)).collect();
        let zero = self.terms.number(0, 32);
        let octets = self.terms.variable("nothing", Sort::Octets);
        let base = Base { octets, start: zero, size: zero };
        Ok(vec![Value::Message(Box::new(Message {
            headers: Vec::new(),
            front,
            base,
            attributes: Default::default(),
            inside: None,
            received: Default::default(),
        }))])
    }

    /// Takes the top header off: returns the message, then the header's fields.
    pub(super) fn pop(
        &mut self,
        message: Id,
        (header, variant): (HeaderId, VariantId),
        way: &mut Way,
    ) -> Result<Vec<Value>, String> {
        let mut message = way.message(message)?;
        let (found, found_variant, fields) = match message.headers.pop() {
            Some(top) => top,
            None => {
                let (there, fields) = self.top(&mut message, header, variant)?;
                let other = self.terms.not(there);
                self.believe(other, way);
                (header, variant, fields)
            }
        };
        if (found, found_variant) != (header, variant) {
            return Err("another header than the one on top".into());
        }
        let mut results = vec![Value::Message(Box::new(message))];
        results.extend(fields);
        Ok(results)
    }

    /// Whether a fact surely holds. When two automata are compared, a way is read only if it does.
    pub(super) fn is_sure(&mut self, fact: Term, way: &Way) -> bool {
        if !self.compares || self.impossible.is_none() {
            // The first reading finds the ways; each is then read again.
            return !self.compares || self.terms.constant(fact) != Some(0);
        }
        self.way.clone_from(&way.leaf.condition);
        self.decide(fact) == Some(true)
    }

    /// Records the condition under which the header that is taken off is missing. A comparison of two automata trusts
    /// the verifier in this.
    pub(super) fn believe(&mut self, missing: Term, way: &mut Way) {
        match self.compares {
            true => way.leaf.believed.push(missing),
            false => way.leaf.nulls.push(missing),
        }
    }

    /// Whether the top header of a message that another layer sent is this one, and its fields; then takes it off.
    pub(super) fn top(
        &mut self,
        message: &mut Message,
        header: HeaderId,
        variant: VariantId,
    ) -> Result<(Term, Vec<Value>), String> {
        let Some((name, taken_off @ None)) = &mut message.inside else {
            return Err("a header that is not there".into());
        };
        *taken_off = Some((header, variant));
        let name = format!("header {}.{} of {name}", header.0, variant.0);
        let automaton = self.automaton;
        let fields = automaton.headers[header.index()].variants[variant.index()].fields.iter().enumerate();
        let fields = fields.map(|(at, (_, ty))| match ty {
            Type::Ref(_) | Type::Reason | Type::Msg | Type::Array(..) => Err("a header's field that is no number"),
            ty => Ok(Value::Bits(self.terms.variable(&format!("{name} field {at}"), sort_of(automaton, *ty)))),
        });
        let fields = fields.collect::<Result<Vec<_>, _>>()?;
        Ok((self.terms.variable(&name, Sort::Bool), fields))
    }

    /// A header that an encoder takes off, and that is not known to be there, must be on top of what another layer
    /// sent.
    pub(super) fn find_header(&mut self, message: &mut Message, wire: WireId, way: &mut Way) -> Result<(), String> {
        let wanted = &self.automaton.wires[wire.index()].headers;
        let [missing] = wanted.get(message.headers.len()..).unwrap_or_default() else { return Ok(()) };
        if message.inside.is_none() || self.automaton.headers[missing.index()].variants.len() > 1 {
            return Ok(());
        }
        let (there, fields) = self.top(message, *missing, VariantId(0))?;
        let other = self.terms.not(there);
        self.believe(other, way);
        message.headers.insert(0, (*missing, VariantId(0), fields));
        Ok(())
    }

    /// Keeps only the first octets. A size beyond the message, or within the known octets, is reported.
    pub(super) fn trim(&mut self, message: Id, size: Id, way: &mut Way) -> Result<Vec<Value>, String> {
        let (mut message, mut size) = (way.message(message)?, way.bits(size)?);
        let whole = message.size(self.terms);
        let front = self.terms.number(message.front.len() as u64, 32);
        let (over, under) = (self.terms.less(whole, size), self.terms.less(size, front));
        way.leaf.traps.push(over);
        if self.compares {
            // A trim beyond the end keeps all (docs/semantics.md, F6). A trim within the known octets is allowed, but
            // not read.
            size = self.terms.choose(over, whole, size);
            let is_read = self.terms.not(under);
            if !self.is_sure(is_read, way) {
                return Err("a message of which known octets are cut off".into());
            }
        } else {
            way.leaf.traps.push(under);
        }
        message.trim(self.terms, size);
        Ok(vec![Value::Message(Box::new(message))])
    }

    /// Removes the first octets; a size beyond the message is reported.
    pub(super) fn skip(&mut self, message: Id, size: Id, way: &mut Way) -> Result<Vec<Value>, String> {
        let (mut message, mut size) = (way.message(message)?, way.bits(size)?);
        let whole = message.size(self.terms);
        let over = self.terms.less(whole, size);
        way.leaf.traps.push(over);
        if self.compares {
            // A skip beyond the end leaves nothing (docs/semantics.md, F6).
            size = self.terms.choose(over, whole, size);
        }
        message.skip_by(self.terms, size)?;
        Ok(vec![Value::Message(Box::new(message))])
    }

    /// Puts octets in front of the message.
    pub(super) fn front(&mut self, message: Id, octets: &[u8], way: &Way) -> Result<Vec<Value>, String> {
        let mut message = way.message(message)?;
        let octets = octets.iter().map(|octet| self.terms.number(u64::from(*octet), 8));
        message.front.splice(0..0, octets);
        Ok(vec![Value::Message(Box::new(message))])
    }

    /// The sum of a part of a message without known octets; a part that goes beyond the end is not read.
    pub(super) fn sum_part(&mut self, message: Id, at: Id, size: Id, way: &mut Way) -> Result<Vec<Value>, String> {
        let (mut message, at, size) = (way.message(message)?, way.bits(at)?, way.bits(size)?);
        if !message.front.is_empty() {
            return Err("the sum of a part of known octets".into());
        }
        let whole = message.base.size;
        let rest = self.terms.binary(Operator::Sub, whole, at);
        let (beyond, over) = (self.terms.less(whole, at), self.terms.less(rest, size));
        way.leaf.nulls.extend([beyond, over]);
        message.base.start = self.terms.binary(Operator::Add, message.base.start, at);
        message.base.size = size;
        Ok(vec![Value::Bits(self.sum_of(&message))])
    }

    /// The sum of all octets as big-endian u16s. If the stretch begins near one that was met before, its sum is that
    /// one's sum and the words between.
    pub(super) fn sum_of(&mut self, message: &Message) -> Term {
        let base = message.base;
        if self.terms.constant(base.size) == Some(0) || !message.front.len().is_multiple_of(2) {
            return message.sum16(self.terms);
        }
        let mut found = None;
        for known in self.sums.clone() {
            if let (true, Some(between)) = (known.octets == base.octets, self.words_between(known, base)) {
                found = Some((known, between));
                break;
            }
        }
        let Some((known, between)) = found else {
            self.sums.push(base);
            return message.sum16(self.terms);
        };
        let stretch = Message { front: Vec::new(), base: known, ..message.clone() }.sum_of_stretch(self.terms);
        let sum = message.sum_of_known(self.terms);
        let sum = self.terms.binary(Operator::Add, sum, stretch);
        self.terms.binary(Operator::Add, sum, between)
    }

    /// The difference between the sums of two stretches with the same end, if their beginnings are near.
    fn words_between(&mut self, known: Base, base: Base) -> Option<Term> {
        let [start, other] = [base.start, known.start].map(|start| self.terms.again(start));
        let ahead = self.terms.binary(Operator::Sub, start, other);
        let ahead = self.terms.constant(ahead)? as u32 as i32;
        if ahead.unsigned_abs() > NEAR || ahead % 2 != 0 {
            return None;
        }
        let (long, short) = if ahead < 0 { (base, known) } else { (known, base) };
        let octets = self.terms.number(u64::from(ahead.unsigned_abs()), 32);
        let [long_size, short_size] = [long.size, short.size].map(|size| self.terms.again(size));
        let rest = self.terms.binary(Operator::Sub, long_size, octets);
        let ends = [self.terms.equal(rest, short_size), self.terms.less_equal(octets, long_size)];
        if ends.iter().any(|end| self.decide(*end) != Some(true)) {
            return None;
        }
        let front = Message::of(Vec::new(), long.octets, long.start, long.size);
        let words: Vec<Term> = (0..ahead.unsigned_abs()).map(|place| front.octet(self.terms, place)).collect();
        let words = Message::of(words, long.octets, long.start, long.size).sum_of_known(self.terms);
        let none = self.terms.number(0, 32);
        Some(match ahead < 0 {
            true => words,
            false => self.terms.binary(Operator::Sub, none, words),
        })
    }

    /// Reads a number at an offset.
    pub(super) fn load(&mut self, field: OctetField, message: Id, at: Id, way: &mut Way) -> Result<Vec<Value>, String> {
        let (message, at) = (way.message(message)?, way.bits(at)?);
        let octets = u64::from(field.width) / 8;
        let size = message.size(self.terms);
        // 33 bits: no end wraps around.
        let (wide_at, wide_size) = (self.terms.resize(at, 33), self.terms.resize(size, 33));
        let more = self.terms.number(octets, 33);
        let end = self.terms.binary(Operator::Add, wide_at, more);
        let over = self.terms.less(wide_size, end);
        way.leaf.traps.push(over);
        let mut parts = Vec::new();
        for place in 0..octets {
            let place = self.terms.number(place, 32);
            let place = self.terms.binary(Operator::Add, at, place);
            parts.push(message.octet_at(self.terms, place)?);
        }
        let number = join(self.terms, &parts, field.endian);
        // A number that begins in known octets and ends beyond the message reads as zero as a whole.
        let known = self.terms.number(message.front.len() as u64, 33);
        let crosses = self.terms.less(known, end);
        let is_read_as_it_is = message.front.is_empty() && !self.compares;
        if is_read_as_it_is || self.terms.constant(crosses) == Some(0) {
            return Ok(vec![Value::Bits(number)]);
        }
        let zero = self.terms.number(0, u32::from(field.width));
        Ok(vec![Value::Bits(self.terms.choose(over, zero, number))])
    }

    /// Writes a number at a known offset.
    pub(super) fn store(
        &mut self,
        field: OctetField,
        message: Id,
        (at, value): (Id, Id),
        way: &Way,
    ) -> Result<Vec<Value>, String> {
        let (mut message, at, value) = (way.message(message)?, way.bits(at)?, way.bits(value)?);
        let at = self.terms.constant(at).ok_or("a store at an offset that is not constant")? as usize;
        let parts = split(self.terms, value, field.endian);
        if at + parts.len() > message.front.len() {
            let (size, end) = (message.size(self.terms), self.terms.number((at + parts.len()) as u64, 32));
            let there = self.terms.less_equal(end, size);
            self.way.clone_from(&way.leaf.condition);
            if self.decide(there) != Some(true) {
                return Err("a store beyond the known octets".into());
            }
            message.name_octets(self.terms, (at + parts.len()) as u32);
        }
        message.front[at..at + parts.len()].copy_from_slice(&parts);
        Ok(vec![Value::Message(Box::new(message))])
    }

    /// An attribute of the message.
    pub(super) fn attribute(&mut self, message: Id, attribute: AttributeId, way: &Way) -> Result<Vec<Value>, String> {
        let message = way.message(message)?;
        Ok(vec![Value::Bits(message.attribute(self.terms, self.automaton, attribute))])
    }
}
