//! What encoders and decoders share as terms: expressions of a wire, checksums, conditions.

use std::collections::BTreeMap;

use mokume_reaction::{Compare, FieldIndex, WireExpression, WireTest};

use super::message::fold16;
use super::{Message, Reader};
use crate::term::{Operator, Term};

/// Computed fields have 64 bits until they are cut to their width.
pub(super) const WIDE: u32 = 64;

pub(super) const OPTIONS: &str = "options of a wire: a loop over the packet";
pub(super) const COMMONS: &str = "header fields that may be left out for their values";
pub(super) const LIST: &str = "a list whose elements differ in size";
pub(super) const REACH: &str = "a header that reaches into the message";

/// Whether an expression reads octets, so that all other fields are written before it.
pub(super) fn is_checksum(expression: &WireExpression) -> bool {
    use WireExpression as E;
    match expression {
        E::HeaderChecksum | E::PacketChecksum => true,
        E::Number(_) | E::Field(_) | E::HeaderSize | E::PayloadSize | E::PacketSize => false,
        E::Add(a, b) | E::Sub(a, b) | E::Mul(a, b) | E::Div(a, b) => is_checksum(a) || is_checksum(b),
    }
}

/// What an expression may name, as terms of 64 bits: sizes in octets, and the header's as a number, too.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub header: u32,
    pub packet: Term,
}

impl Reader<'_> {
    /// A size or checksum over a packet whose octets are in `message.front` (fields that are filled in later are still
    /// zero).
    pub(super) fn expression(
        &mut self,
        expression: &WireExpression,
        fields: &BTreeMap<FieldIndex, Term>,
        sizes: Sizes,
        message: &Message,
    ) -> Result<Term, String> {
        use WireExpression as E;
        Ok(match expression {
            E::Number(value) => self.terms.number(*value, WIDE),
            E::Field(index) => {
                let term = *fields.get(index).ok_or("a field that is not known yet")?;
                self.terms.resize(term, WIDE)
            }
            E::HeaderSize => self.terms.number(u64::from(sizes.header), WIDE),
            // Of a packet that is shorter than its header it has wrapped around.
            E::PayloadSize => {
                let header = self.terms.number(u64::from(sizes.header), WIDE);
                self.terms.binary(Operator::Sub, sizes.packet, header)
            }
            E::PacketSize => sizes.packet,
            E::Add(a, b) | E::Sub(a, b) | E::Mul(a, b) | E::Div(a, b) => {
                let operator = match expression {
                    E::Add(..) => Operator::Add,
                    E::Sub(..) => Operator::Sub,
                    E::Mul(..) => Operator::Mul,
                    _ => Operator::Div,
                };
                let a = self.expression(a, fields, sizes, message)?;
                let b = self.expression(b, fields, sizes, message)?;
                self.counted(operator, a, b)
            }
            E::HeaderChecksum => {
                let mut header = message.clone();
                header.front.truncate(sizes.header as usize);
                header.base.size = self.terms.number(0, 32);
                self.checksum(&header)
            }
            E::PacketChecksum => self.checksum(message),
        })
    }

    fn checksum(&mut self, message: &Message) -> Term {
        let sum = self.sum_of(message);
        let sum = self.known(sum);
        let folded = fold16(self.terms, sum);
        let ones = self.terms.number(0xffff, 16);
        let complement = self.terms.binary(Operator::Xor, folded, ones);
        self.terms.resize(complement, WIDE)
    }

    /// An expression of fields, octets of the packet that is read, and the size of its header, if that is known.
    pub(super) fn place(
        &mut self,
        expression: &WireExpression,
        fields: &BTreeMap<FieldIndex, Term>,
        octets: u32,
    ) -> Result<Term, String> {
        let place = self.plain(expression, fields)?;
        let here = self.terms.number(u64::from(octets), WIDE);
        Ok(self.terms.equal(place, here))
    }

    /// Comparisons of known fields, as one term.
    pub(super) fn presence(&mut self, when: &[WireTest], fields: &BTreeMap<FieldIndex, Term>) -> Result<Term, String> {
        let mut all = Vec::new();
        for test in when {
            let (left, right) = (self.plain(&test.left, fields)?, self.plain(&test.right, fields)?);
            all.push(self.plain_comparison(test.compare, left, right));
        }
        Ok(self.terms.all(&all))
    }

    /// An expression of fields and numbers, 64 bits wide.
    pub(super) fn plain(
        &mut self,
        expression: &WireExpression,
        fields: &BTreeMap<FieldIndex, Term>,
    ) -> Result<Term, String> {
        use WireExpression as E;
        let operator = match expression {
            E::Number(value) => return Ok(self.terms.number(*value, WIDE)),
            E::Field(index) => {
                let term = *fields.get(index).ok_or("a field that is not known yet")?;
                return Ok(self.terms.resize(term, WIDE));
            }
            E::Add(..) => Operator::Add,
            E::Sub(..) => Operator::Sub,
            E::Mul(..) => Operator::Mul,
            E::Div(..) => Operator::Div,
            _ => return Err("a condition on a size".into()),
        };
        let (E::Add(a, b) | E::Sub(a, b) | E::Mul(a, b) | E::Div(a, b)) = expression else { return Err("".into()) };
        let (a, b) = (self.plain(a, fields)?, self.plain(b, fields)?);
        Ok(self.counted(operator, a, b))
    }

    /// An operator as wires define it: division by zero gives zero.
    fn counted(&mut self, operator: Operator, a: Term, b: Term) -> Term {
        let value = self.terms.binary(operator, a, b);
        if operator != Operator::Div {
            return value;
        }
        let zero = self.terms.number(0, WIDE);
        let by_zero = self.terms.equal(b, zero);
        self.terms.choose(by_zero, zero, value)
    }

    pub(super) fn plain_comparison(&mut self, op: Compare, a: Term, b: Term) -> Term {
        match op {
            Compare::Eq => self.terms.equal(a, b),
            Compare::Ne => {
                let same = self.terms.equal(a, b);
                self.terms.not(same)
            }
            Compare::Lt => self.terms.less(a, b),
            Compare::Le => self.terms.less_equal(a, b),
            Compare::Gt => self.terms.less(b, a),
            Compare::Ge => self.terms.less_equal(b, a),
        }
    }
}
