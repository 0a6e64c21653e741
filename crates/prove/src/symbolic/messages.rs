//! Operations on messages as terms.

use mokume_reaction::{AttributeId, HeaderId, OctetField, Type, Value as Id, VariantId};

use super::message::split;
use super::way::Way;
use super::{Base, Message, Reader, Value};
use crate::term::Sort;

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
            received: Default::default(),
        }))])
    }

    /// The header on top is taken off: the message, then its fields.
    pub(super) fn pop(
        &mut self,
        message: Id,
        (header, variant): (HeaderId, VariantId),
        way: &Way,
    ) -> Result<Vec<Value>, String> {
        let mut message = way.message(message)?;
        let Some((found, found_variant, fields)) = message.headers.pop() else {
            return Err("a header that is not there".into());
        };
        if (found, found_variant) != (header, variant) {
            return Err("another header than the one on top".into());
        }
        let mut results = vec![Value::Message(Box::new(message))];
        results.extend(fields);
        Ok(results)
    }

    /// Only the first octets stay; more than there are, or fewer than are known, is reported.
    pub(super) fn trim(&mut self, message: Id, size: Id, way: &mut Way) -> Result<Vec<Value>, String> {
        let (mut message, size) = (way.message(message)?, way.bits(size)?);
        let whole = message.size(self.terms);
        let front = self.terms.number(message.front.len() as u64, 32);
        let (over, under) = (self.terms.less(whole, size), self.terms.less(size, front));
        way.leaf.traps.extend([over, under]);
        message.trim(self.terms, size);
        Ok(vec![Value::Message(Box::new(message))])
    }

    /// The first octets go, so many that it is known how many.
    pub(super) fn skip(&mut self, message: Id, size: Id, way: &mut Way) -> Result<Vec<Value>, String> {
        let (mut message, size) = (way.message(message)?, way.bits(size)?);
        let count = self.terms.constant(size).ok_or("a skip of a size that is not constant")?;
        let whole = message.size(self.terms);
        let over = self.terms.less(whole, size);
        way.leaf.traps.push(over);
        message.skip(self.terms, count as u32);
        Ok(vec![Value::Message(Box::new(message))])
    }

    /// A number at a known octet.
    pub(super) fn load(&mut self, field: OctetField, message: Id, at: Id, way: &mut Way) -> Result<Vec<Value>, String> {
        let (message, at) = (way.message(message)?, way.bits(at)?);
        let at = self.terms.constant(at).ok_or("a load at an offset that is not constant")?;
        let octets = u32::from(field.width) / 8;
        let (size, end) = (message.size(self.terms), self.terms.number(at + u64::from(octets), 32));
        let over = self.terms.less(size, end);
        way.leaf.traps.push(over);
        Ok(vec![Value::Bits(message.number(self.terms, at as u32, octets, field.endian))])
    }

    /// A number is put at a known octet.
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
            return Err("a store beyond the known octets".into());
        }
        message.front[at..at + parts.len()].copy_from_slice(&parts);
        Ok(vec![Value::Message(Box::new(message))])
    }

    /// What travels with the message, or what every message has.
    pub(super) fn attribute(&mut self, message: Id, attribute: AttributeId, way: &Way) -> Result<Vec<Value>, String> {
        let message = way.message(message)?;
        let described = &self.automaton.attributes[attribute.index()];
        let width = u32::from(described.ty.width(self.automaton));
        let term = match message.attributes.get(&attribute.0) {
            Some(term) => *term,
            None if described.ty == Type::Bool => self.terms.truth(described.default != 0),
            None => self.terms.number(described.default, width),
        };
        Ok(vec![Value::Bits(term)])
    }
}
