//! Messages as terms: headers that are not encoded, known octets in front, and a stretch of an unknown array.

use std::collections::BTreeMap;

use mokume_reaction::{AttributeId, Automaton, Endian, HeaderId, Type, VariantId, WireId};

use super::{sort_of, Value};
use crate::term::{Operator, Sort, Term, Terms};

/// A message on one way through a reaction. Its octets are `front`, followed by those of `base`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// Its headers, the top one last.
    pub headers: Vec<(HeaderId, VariantId, Vec<Value>)>,
    pub front: Vec<Term>,
    pub base: Base,
    pub attributes: BTreeMap<u32, Term>,
    /// For a message of a layer's event, which may have headers and attributes: its name, and the header that was taken
    /// off it.
    pub inside: Option<(String, Option<(HeaderId, VariantId)>)>,
    /// The packet as each wire met it: the stretch, and the number of known octets in front of it.
    pub received: BTreeMap<WireId, (Base, usize)>,
}

/// `size` octets of an array from `start`; both of 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Base {
    pub octets: Term,
    pub start: Term,
    pub size: Term,
}

impl Message {
    /// A message of unknown octets and unknown size; the caller may make assumptions about the size.
    pub fn unknown(terms: &mut Terms, name: &str) -> Self {
        let octets = terms.variable(&format!("{name}.octets"), Sort::Octets);
        let size = terms.variable(&format!("{name}.size"), Sort::Bits(32));
        let start = terms.number(0, 32);
        Message {
            headers: Vec::new(),
            front: Vec::new(),
            base: Base { octets, start, size },
            attributes: BTreeMap::new(),
            inside: None,
            received: BTreeMap::new(),
        }
    }

    /// The same for a message that another layer sent: its headers and attributes are unknown too.
    pub fn unknown_inside(terms: &mut Terms, name: &str) -> Self {
        Message { inside: Some((name.to_owned(), None)), ..Message::unknown(terms, name) }
    }

    /// A message of known octets and a stretch of an array.
    pub fn of(front: Vec<Term>, octets: Term, start: Term, size: Term) -> Self {
        let base = Base { octets, start, size };
        let (attributes, received) = (BTreeMap::new(), BTreeMap::new());
        Message { headers: Vec::new(), front, base, attributes, inside: None, received }
    }

    /// An attribute: as set, or as the message came with it. At a port, every message has the default.
    pub fn attribute(&self, terms: &mut Terms, automaton: &Automaton, attribute: AttributeId) -> Term {
        if let Some(term) = self.attributes.get(&attribute.0) {
            return *term;
        }
        let described = &automaton.attributes[attribute.index()];
        match (&self.inside, described.ty) {
            (Some((name, _)), ty) => {
                terms.variable(&format!("attribute {} of {name}", attribute.0), sort_of(automaton, ty))
            }
            (None, Type::Bool) => terms.truth(described.default != 0),
            (None, ty) => terms.number(described.default, u32::from(ty.width(automaton))),
        }
    }

    /// The number of encoded octets, 32 bits.
    pub fn size(&self, terms: &mut Terms) -> Term {
        let front = terms.number(self.front.len() as u64, 32);
        terms.binary(Operator::Add, self.base.size, front)
    }

    /// The octet at a known offset; meaningful only if the message is long enough.
    pub fn octet(&self, terms: &mut Terms, at: u32) -> Term {
        if let Some(known) = self.front.get(at as usize) {
            return *known;
        }
        let offset = terms.number(u64::from(at) - self.front.len() as u64, 32);
        let index = terms.binary(Operator::Add, self.base.start, offset);
        terms.select(self.base.octets, index)
    }

    /// Turns the first octets into single terms; the message must have that many.
    pub fn name_octets(&mut self, terms: &mut Terms, count: u32) {
        let known = self.front.len() as u32;
        let more: Vec<Term> = (known..count).map(|at| self.octet(terms, at)).collect();
        if more.is_empty() {
            return;
        }
        let named = terms.number(more.len() as u64, 32);
        self.front.extend(more);
        self.base.start = terms.binary(Operator::Add, self.base.start, named);
        self.base.size = terms.binary(Operator::Sub, self.base.size, named);
    }

    /// `octets` octets from `at` as a number.
    pub fn number(&self, terms: &mut Terms, at: u32, octets: u32, endian: Endian) -> Term {
        let parts: Vec<Term> = (0..octets).map(|i| self.octet(terms, at + i)).collect();
        join(terms, &parts, endian)
    }

    /// Removes the first `count` octets; the message must have that many.
    pub fn skip(&mut self, terms: &mut Terms, count: u32) {
        let known = (count as usize).min(self.front.len());
        self.front.drain(..known);
        let rest = terms.number(u64::from(count) - known as u64, 32);
        self.base.start = terms.binary(Operator::Add, self.base.start, rest);
        self.base.size = terms.binary(Operator::Sub, self.base.size, rest);
    }

    /// Removes the first octets, which must exist; an error if it is unknown which of the known ones remain.
    pub fn skip_by(&mut self, terms: &mut Terms, count: Term) -> Result<(), String> {
        if let Some(count) = terms.constant(count) {
            self.skip(terms, count as u32);
        } else if self.front.is_empty() {
            self.base.start = terms.binary(Operator::Add, self.base.start, count);
            self.base.size = terms.binary(Operator::Sub, self.base.size, count);
        } else {
            return Err("a skip of a size that is not constant".into());
        }
        Ok(())
    }

    /// The octet at an offset; meaningful only if the message is long enough.
    pub fn octet_at(&self, terms: &mut Terms, at: Term) -> Result<Term, String> {
        if let Some(at) = terms.constant(at) {
            return Ok(self.octet(terms, at as u32));
        }
        if !self.front.is_empty() {
            return Err("an octet at an offset that is not constant".into());
        }
        let index = terms.binary(Operator::Add, self.base.start, at);
        Ok(terms.select(self.base.octets, index))
    }

    /// Keeps only the first `size` octets. The message must have that many, and `front` must not have more.
    pub fn trim(&mut self, terms: &mut Terms, size: Term) {
        let front = terms.number(self.front.len() as u64, 32);
        self.base.size = terms.binary(Operator::Sub, size, front);
    }

    /// The sum of all octets as big-endian u16s modulo 2^32: known octets are added one by one, the stretch is a
    /// symbol.
    pub fn sum16(&self, terms: &mut Terms) -> Term {
        let sum = self.sum_of_known(terms);
        if terms.constant(self.base.size) == Some(0) {
            return sum;
        }
        let stretch = self.sum_of_stretch(terms);
        terms.binary(Operator::Add, sum, stretch)
    }

    /// The sum of the known octets.
    pub fn sum_of_known(&self, terms: &mut Terms) -> Term {
        let mut sum = terms.number(0, 32);
        for pair in self.front.chunks(2) {
            let last = pair.get(1).copied().unwrap_or_else(|| terms.number(0, 8));
            let word = terms.concat(pair[0], last);
            let word = terms.resize(word, 32);
            sum = terms.binary(Operator::Add, sum, word);
        }
        sum
    }

    /// The sum of the stretch, as a symbol.
    pub fn sum_of_stretch(&self, terms: &mut Terms) -> Term {
        // After an odd number of octets, every octet of the stretch is in the other half of its word: another function.
        let name = if self.front.len().is_multiple_of(2) { "sum16" } else { "sum16 odd" };
        let args = vec![self.base.octets, self.base.start, self.base.size];
        terms.apply(name, args, Sort::Bits(32))
    }
}

/// Octets in packet order as one number.
pub fn join(terms: &mut Terms, octets: &[Term], endian: Endian) -> Term {
    let mut order: Vec<Term> = octets.to_vec();
    if endian == Endian::Little {
        order.reverse();
    }
    let first = order[0];
    order[1..].iter().fold(first, |high, low| terms.concat(high, *low))
}

/// A number of whole octets as octets in packet order.
pub fn split(terms: &mut Terms, number: Term, endian: Endian) -> Vec<Term> {
    let octets = terms.width(number) / 8;
    let mut parts: Vec<Term> = (0..octets).rev().map(|i| terms.extract(i * 8 + 7, i * 8, number)).collect();
    if endian == Endian::Little {
        parts.reverse();
    }
    parts
}

/// A u32 sum folded to 16 bits with end-around carry, like the operation `fold16`.
pub fn fold16(terms: &mut Terms, sum: Term) -> Term {
    terms.fold(sum)
}
