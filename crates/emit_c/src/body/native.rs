//! Calls of functions in C that the stack's author wrote.

use mokume_reaction::*;

use super::writer::Writer;
use crate::tree::*;
use crate::types::{c_type, is_whole, mask};

/// A function in C, and by how much it may extend the message.
pub(super) struct Called<'s> {
    pub symbol: &'s str,
    pub grows: u32,
    pub result: Option<Type>,
}

pub(super) fn native(w: &mut Writer, called: Called, args: &[Value], message: Option<Value>, op: &Op) {
    let mut list = w.values(args);
    let open = message.map(|message| {
        let opened = acts("mk_native_open", [core(), w.value(message), number(called.grows), w.source(op.source)]);
        let octets = w.temporary("octets", "mk_native", opened);
        list.push(octets.clone().address());
        (message, octets)
    });
    let call = acts(format!("{}{}", w.plan.functions, called.symbol), list);
    match (called.result, op.results.last()) {
        (Some(result), Some(value)) if w.is_live(*value) => {
            let width = result.width(w.plan.automaton);
            let given = match is_whole(width) || result == Type::Bool {
                true => call,
                false => call.infix(Infix::BitAnd, Expr::Number(mask(width))).cast(c_type(w.plan.automaton, result)),
            };
            w.assign(*value, given);
        }
        _ => w.act(call),
    }
    if let Some((message, octets)) = open {
        w.act(acts("mk_native_close", [w.value(message), octets.address()]));
        w.same(op.results[0], message);
    }
}
