//! `2001:db8::1` and `2001:db8::1/64`: values of records, as no integer has 128 bits.

use mokume_base::Span;

use super::body::{make, unknown, Body};
use super::Item;
use crate::codes;
use crate::program::*;

impl Body<'_> {
    /// An address where a record of two `u64` is asked for; with a prefix, where one of such a record and a `u8` is.
    pub(super) fn host6(&mut self, host: u128, prefix: Option<u8>, span: Span, want: Option<Type>) -> Expr {
        let wanted = match want {
            Some(Type::Record(id)) => Some(id),
            Some(Type::Unknown) => return unknown(span),
            // Without a wish it is the library's record.
            _ => match self.cx.item(self.file, if prefix.is_some() { "Ipv6Cidr" } else { "Ipv6" }) {
                Some(Item::Record(id)) => Some(id),
                _ => None,
            },
        };
        let number = |value: u64, width| make(ExprKind::Number(value), Type::UInt(width), span);
        let halves = vec![number((host >> 64) as u64, 64), number(host as u64, 64)];
        let found = wanted.and_then(|record| match (prefix, self.field_types(record).as_slice()) {
            (None, [Type::UInt(64), Type::UInt(64)]) => Some((record, halves)),
            (Some(prefix), [address @ Type::Record(inner), Type::UInt(8)])
                if self.field_types(*inner) == [Type::UInt(64), Type::UInt(64)] =>
            {
                let address = make(ExprKind::Record { record: *inner, fields: halves }, *address, span);
                Some((record, vec![address, number(u64::from(prefix), 8)]))
            }
            _ => None,
        });
        if let Some((record, fields)) = found {
            return make(ExprKind::Record { record, fields }, Type::Record(record), span);
        }
        let (text, help) = match prefix {
            None => ("an address of 128 bits is no value here", "it stands where a record of two `u64` is asked for"),
            Some(_) => (
                "an address with a length is no value here",
                "it stands where a record of an address (two `u64`) and a `u8` is asked for",
            ),
        };
        self.error(codes::MISMATCH, text, span, "two halves", help);
        unknown(span)
    }

    fn field_types(&self, record: RecordId) -> Vec<Type> {
        let record = self.cx.program.records.get(record.index());
        record.map_or(Vec::new(), |record| record.fields.iter().map(|field| field.ty).collect())
    }
}
