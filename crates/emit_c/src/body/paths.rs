//! Messages on paths: octets that the caller owns, looked at where they are, until they leave. None is lent before.
//!
//! It must keep: what is not said here has no path in C ([`is_for_c`]).

use mokume_reaction::*;

use super::octets::Octets;
use super::writer::Writer;
use crate::tree::*;

/// Whether all that the path does with messages is said in C.
pub(crate) fn is_for_c(path: &Path) -> bool {
    let body = &path.body;
    let is_message = |value: &Value| body.values[value.index()].ty == Type::Msg;
    let said = |op: &Op| {
        let about_messages = op.kind.operands().iter().any(is_message) || op.results.iter().any(is_message);
        !about_messages
            || matches!(
                op.kind,
                OpKind::Size { .. }
                    | OpKind::Load { .. }
                    | OpKind::Sum16 { .. }
                    | OpKind::SumPart { .. }
                    | OpKind::Skip { .. }
                    | OpKind::Trim { .. }
                    | OpKind::Front { .. }
                    | OpKind::Store { .. }
                    | OpKind::Out { .. }
                    | OpKind::Drop { .. }
                    | OpKind::Consume { .. }
            )
    };
    let passed = |block: &Block| {
        block.terminator.targets().iter().any(|target| target.args.iter().any(is_message))
            || block.terminator.attempt().is_some_and(|op| op.operands().iter().any(is_message))
    };
    body.ops().all(said) && !body.blocks.iter().any(passed)
}

/// The operation, if it is about messages.
pub(super) fn operation(w: &mut Writer, op: &Op) -> bool {
    let results = &op.results;
    match &op.kind {
        OpKind::Size { message } => {
            let (_, size) = part(w, *message);
            w.assign(results[0], size);
        }
        OpKind::Load { field, message, at } => {
            let loaded = load(w, *field, *message, *at, op);
            w.assign(results[0], loaded);
        }
        OpKind::Sum16 { message } => {
            let (at, size) = part(w, *message);
            w.assign(results[0], reads("mk_sum16", [at, size]));
        }
        OpKind::SumPart { message, at, size } => {
            let (octets, all) = part(w, *message);
            let args = [octets, all, w.value(*at), w.value(*size)];
            w.assign(results[0], reads("mk_sum16_part", args));
        }
        OpKind::Skip { message, size } => {
            let (at, all) = part(w, *message);
            let cut = within(w, *size, all.clone(), op);
            let (at, size) = (computes("mk_behind", [at, cut.clone()]), all.infix(Infix::Sub, cut));
            let at = w.temporary("at", "const uint8_t *", at);
            let size = w.temporary("size", "uint32_t", size);
            w.set_octets(results[0], Octets::Part { at, size });
        }
        OpKind::Trim { message, size } => {
            let (at, all) = part(w, *message);
            let size = within(w, *size, all, op);
            w.set_octets(results[0], Octets::Part { at, size });
        }
        OpKind::Front { message, octets } => front(w, *message, octets, results[0]),
        OpKind::Store { field, message, at, value } => store(w, *field, *message, (*at, *value), op),
        OpKind::Out { port, event, args } => out(w, *port, *event, args),
        OpKind::Drop { message, reason } => end(w, "dropped", *message, *reason),
        OpKind::Consume { message, reason } => end(w, "consumed", *message, *reason),
        _ => return false,
    }
    true
}

/// Where the octets are, and how many.
fn part(w: &mut Writer, message: Value) -> (Expr, Expr) {
    match w.octets_of(message) {
        Some(Octets::Part { at, size }) => (at, size),
        Some(Octets::Frame { message, octets, .. }) => (octets, message.arrow("view").member("size")),
        None => (word("NULL"), Expr::Number(0)),
    }
}

/// A number of octets, no more than there are; more is reported.
fn within(w: &mut Writer, size: Value, all: Expr, op: &Op) -> Expr {
    let (size, source) = (w.value(size), w.source(op.source));
    let beyond = size.clone().infix(Infix::Gt, all.clone());
    let report = acts("mk_report_at", [core(), word("MK_BOUNDS"), source]);
    w.only_if(Some(Expr::Expect(false, Box::new(beyond))), |w| w.act(report));
    let size = computes("mk_min_u32", [size, all]);
    w.temporary("size", "uint32_t", size)
}

/// `mk_get_be_16`, for the widths that there are.
fn get(field: OctetField, at: Expr) -> Expr {
    let order = field.endian.word();
    match field.width {
        8 => at.element(Expr::Number(0)),
        16 | 32 | 64 => reads(format!("mk_get_{order}_{}", field.width), [at]),
        width => reads(format!("mk_get_{order}"), [at, number(u64::from(width / 8))]),
    }
}

fn load(w: &mut Writer, field: OctetField, message: Value, at: Value, op: &Op) -> Expr {
    let (octets, size) = part(w, message);
    let (at, source) = (w.value(at), w.source(op.source));
    let there = reads("mk_holds", [size, at.clone(), number(u64::from(field.width / 8))]);
    let beyond = acts("mk_beyond", [core(), source]);
    let beyond = beyond.cast(w.c_type_of(op.results[0]));
    let got = get(field, octets.infix(Infix::Add, at)).cast(w.c_type_of(op.results[0]));
    conditional(Expr::Expect(true, Box::new(there)), got, beyond)
}

/// A message of the pool, with these octets in front of its own.
fn front(w: &mut Writer, message: Value, front: &[u8], result: Value) {
    let lent = lent(w, message);
    let lent = w.temporary("frame", "mk_message *", lent);
    let size = front.len() as u64;
    let made = acts("mk_prepend", [pool(), lent.clone(), number(size)]);
    let octets = w.temporary("octets", "uint8_t *", made);
    if size > 0 {
        let template = w.function.local("template", "uint8_t");
        w.push(Stmt::Octets(template, front.to_vec()));
        w.act(acts("memcpy", [octets.clone(), Expr::Local(template), number(size)]));
    }
    w.set_octets(result, Octets::Frame { message: lent, octets, front: size });
}

fn store(w: &mut Writer, field: OctetField, message: Value, (at, value): (Value, Value), op: &Op) {
    let octets = w.octets_of(message);
    let known = w.constant_of(at);
    if let (Some(Octets::Frame { octets, front, message: frame }), Some(at)) = (octets, known) {
        let size = u64::from(field.width / 8);
        if at + size <= front {
            let (place, value) = (octets.clone().infix(Infix::Add, number(at)), w.value(value));
            let order = field.endian.word();
            match field.width {
                8 => w.push(set(place.element(Expr::Number(0)), value.cast("uint8_t"))),
                16 | 32 | 64 => w.act(acts(format!("mk_put_{order}_{}", field.width), [place, value])),
                _ => w.act(acts(format!("mk_put_{order}"), [place, number(size), value])),
            }
            return w.set_octets(op.results[0], Octets::Frame { message: frame, octets, front });
        }
    }
    let lent = lent(w, message);
    let lent = w.temporary("frame", "mk_message *", lent);
    let (at, value, source) = (w.value(at), w.value(value), w.source(op.source));
    let little = Expr::Bool(field.endian == Endian::Little);
    w.act(acts("mk_do_store", [core(), lent.clone(), at, value, number(u64::from(field.width / 8)), little, source]));
    w.set_octets(op.results[0], Octets::Frame { message: lent, octets: word("NULL"), front: 0 });
}

/// The message as one of the pool.
fn lent(w: &mut Writer, message: Value) -> Expr {
    match w.octets_of(message) {
        Some(Octets::Frame { message, .. }) => message,
        Some(Octets::Part { at, size }) => acts("mk_message_new", [pool(), at, size]),
        None => word("NULL"),
    }
}

fn out(w: &mut Writer, port: PortId, event: u32, args: &[Value]) {
    let name = w.plan.names.outputs[port.index()][event as usize].clone();
    let mut list = vec![instance()];
    for arg in args {
        let given = if w.type_of(*arg) == Type::Msg { lent(w, *arg) } else { w.value(*arg) };
        list.push(given);
    }
    w.act(acts(format!("out_{name}"), list));
}

/// The end of a message that was never lent.
fn end(w: &mut Writer, how: &'static str, message: Value, reason: ReasonId) {
    if let Some(Octets::Frame { message, .. }) = w.octets_of(message) {
        let end = if how == "dropped" { "mk_drop" } else { "mk_consume" };
        return w.act(acts(end, [core(), message, number(u64::from(reason.0))]));
    }
    let count = of_instance("core").member("accounts").member(how).element(number(u64::from(reason.0)));
    w.push(Stmt::Set(count, Some(Infix::Add), Expr::Number(1)));
}
