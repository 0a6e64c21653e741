//! Addresses that are no integers: `10.0.0.1/24`, `2001:db8::1` and `2001:db8::1/64` are values of records, as no integer has 128 bits.

use mokume_base::Span;

use crate::codes;
use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::Body;
use crate::resolve::context::Item;

/// `10.0.0.1/24`, where a record of a `u32` and a `u8` is asked for.
pub(super) fn prefix(body: &mut Body, host: u32, prefix: u8, span: Span, want: Option<Type>) -> Expr {
    let fits = |record: &Record| {
        let types: Vec<Type> = record.fields.iter().map(|field| field.ty).collect();
        types == [Type::UInt(32), Type::UInt(8)]
    };
    let wanted = match want {
        Some(Type::Record(id)) => Some(id),
        Some(Type::Unknown) => return unknown(span),
        // Without a wish it is the library's record.
        _ => match body.cx.item(body.file, "Ipv4Cidr") {
            Some(Item::Record(id)) => Some(id),
            _ => None,
        },
    };
    let record = wanted.filter(|id| body.cx.program.records.get(id.index()).is_some_and(fits));
    let Some(record) = record else {
        let help = "it stands where a record of a `u32` and a `u8` is asked for";
        body.error(codes::MISMATCH, "an address with a length is no value here", span, "a pair", help);
        return unknown(span);
    };
    let part = |value: u64, width| make(ExprKind::Number(value), Type::UInt(width), span);
    let fields = vec![part(u64::from(host), 32), part(u64::from(prefix), 8)];
    make(ExprKind::Record { record, fields }, Type::Record(record), span)
}

/// An address where a record of two `u64` is asked for; with a prefix, where one of such a record and a `u8` is.
pub(super) fn host6(body: &mut Body, host: u128, prefix: Option<u8>, span: Span, want: Option<Type>) -> Expr {
    let wanted = match want {
        Some(Type::Record(id)) => Some(id),
        Some(Type::Unknown) => return unknown(span),
        // Without a wish it is the library's record.
        _ => match body.cx.item(body.file, if prefix.is_some() { "Ipv6Cidr" } else { "Ipv6" }) {
            Some(Item::Record(id)) => Some(id),
            _ => None,
        },
    };
    let number = |value: u64, width| make(ExprKind::Number(value), Type::UInt(width), span);
    let halves = vec![number((host >> 64) as u64, 64), number(host as u64, 64)];
    let found = wanted.and_then(|record| match (prefix, field_types(body, record).as_slice()) {
        (None, [Type::UInt(64), Type::UInt(64)]) => Some((record, halves)),
        (Some(prefix), [address @ Type::Record(inner), Type::UInt(8)])
            if field_types(body, *inner) == [Type::UInt(64), Type::UInt(64)] =>
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
    body.error(codes::MISMATCH, text, span, "two halves", help);
    unknown(span)
}

fn field_types(body: &Body, record: RecordId) -> Vec<Type> {
    let record = body.cx.program.records.get(record.index());
    record.map_or(Vec::new(), |record| record.fields.iter().map(|field| field.ty).collect())
}
