//! Messages on paths. They are octets that the caller owns, and are read in place until they leave; no message of the
//! pool is allocated before.
//!
//! It must keep: a path with other operations on messages has no path in C ([`is_for_c`]).

use mokume_analyse::Flow;
use mokume_reaction::*;

use super::leaving::{self, is_front, Form};
use super::octets::{is_for_c, Octets};
use super::writer::Writer;
use super::{asked, cells, emissions, messages};
use crate::plan::variant_octets;
use crate::tree::*;
use crate::types::mask;

/// The number of the path that C has for a handler; `None` if it has none.
pub(crate) fn path_of(automaton: &Automaton, handler: HandlerId) -> Option<usize> {
    automaton.paths.iter().position(|path| path.handler == handler && is_for_c(path))
}

/// The operations of a block with their places. Sums of octets that need nothing from the block come first: then fewer
/// values are live while they are computed. The octets do not change. Timers come behind what only computes and writes cells, since
/// a timer that goes to another slot needs a call. Nobody sees which was first.
pub(super) fn in_order<'o>(w: &Writer, ops: &'o [Op]) -> Vec<(usize, &'o Op)> {
    let made: Vec<Value> = ops.iter().flat_map(|op| op.results.iter().copied()).collect();
    let is_later = |op: &Op| {
        !matches!(op.kind, OpKind::Sum16 { .. } | OpKind::SumPart { .. })
            || op.kind.operands().iter().any(|value| made.contains(value))
    };
    let mut order: Vec<_> = ops.iter().enumerate().collect();
    order.sort_by_key(|(_, op)| is_later(op));
    for from in (0..order.len()).rev().filter(|at| is_timer(w, order[*at].1)).collect::<Vec<_>>() {
        let behind = order[from + 1..].iter().take_while(|(_, op)| does_not_see_timers(op)).count();
        order[from..=from + behind].rotate_left(1);
    }
    order
}

/// Whether an operation sets or stops a timer of an object that is known to exist: else it is asked first whether it does.
fn is_timer(w: &Writer, op: &Op) -> bool {
    let (OpKind::Arm { object, .. } | OpKind::Disarm { object, .. }) = &op.kind else { return false };
    w.is_known(*object) || w.plan.is_sole(w.class_of(*object))
}

/// Whether an operation computes, writes cells or writes octets in front, and asks no timer.
fn does_not_see_timers(op: &Op) -> bool {
    let writes = matches!(
        op.kind,
        OpKind::Set { .. } | OpKind::SetAt { .. } | OpKind::Count { .. } | OpKind::Front { .. } | OpKind::Store { .. }
    );
    writes || !matches!(op.kind, OpKind::IsArmed { .. }) && (op.kind.effects() - Effects::READS).is_empty()
}

/// Whether an operation leaves the octets of all messages of the pool as they are, and ends none that is not in a place.
fn leaves_octets(op: &Op) -> bool {
    matches!(
        op.kind,
        OpKind::Const { .. }
            | OpKind::Binary { .. }
            | OpKind::Compare { .. }
            | OpKind::Not { .. }
            | OpKind::Select { .. }
            | OpKind::Cast { .. }
            | OpKind::Get { .. }
            | OpKind::GetAt { .. }
            | OpKind::Left { .. }
            | OpKind::Holds { .. }
            | OpKind::Set { .. }
            | OpKind::SetAt { .. }
            | OpKind::Count { .. }
            | OpKind::Spend { .. }
            | OpKind::Give { .. }
            | OpKind::Arm { .. }
            | OpKind::Disarm { .. }
            | OpKind::Size { .. }
            | OpKind::Load { .. }
            | OpKind::Sum16 { .. }
            | OpKind::SumPart { .. }
            | OpKind::Fold16 { .. }
            | OpKind::Param { .. }
            | OpKind::Now { .. }
            | OpKind::Unique { .. }
            | OpKind::Parent { .. }
            | OpKind::Lives { .. }
            | OpKind::IsArmed { .. }
            | OpKind::Waiting { .. }
            | OpKind::NewMessage { .. }
            | OpKind::Share { .. }
            | OpKind::Push { .. }
            | OpKind::SetAttribute { .. }
            | OpKind::GetAttribute { .. }
            | OpKind::Keep { .. }
            | OpKind::Defer { .. }
    )
}

/// Translates the operation, if it is about messages; returns whether it was.
pub(super) fn operation(w: &mut Writer, op: &Op) -> bool {
    if leaves_octets(op) || is_elsewhere(w, op) {
        return translate(w, op);
    }
    if !leaving::is_out(op) {
        w.fresh.forget_octets();
    }
    let is_translated = translate(w, op);
    w.fresh.forget_octets();
    is_translated
}

/// Whether an operation is about octets of the caller, or writes some in front of them that have a place of their own until they leave.
fn is_elsewhere(w: &Writer, op: &Op) -> bool {
    let is_part = |message: &Value| matches!(w.octets_of(*message), Some(Octets::Part { .. }));
    if let OpKind::Skip { message, .. } | OpKind::Trim { message, .. } | OpKind::Join { second: message, .. } = &op.kind
    {
        return is_part(message);
    }
    if let OpKind::Store { message, .. } = &op.kind {
        return matches!(w.octets_of(*message), Some(Octets::Fronted { .. }));
    }
    let OpKind::Front { message, octets } = &op.kind else { return false };
    is_part(message) && !octets.is_empty() && leaving::stays_in_front(w, op.results[0], octets).is_some()
}

fn translate(w: &mut Writer, op: &Op) -> bool {
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
            w.assign(results[0], reads("mk_sum16_as", [brisk(w), at, size]));
        }
        OpKind::SumPart { message, at, size } => {
            let sum = sum_part(w, *message, *at, *size);
            w.assign(results[0], sum);
        }
        OpKind::Skip { message, size } => skip(w, *message, *size, op),
        OpKind::Trim { message, size } => trim(w, *message, *size, op),
        OpKind::Front { message, octets } => front(w, *message, octets, results[0]),
        OpKind::Store { field, message, at, value } => store(w, *field, *message, (*at, *value), op),
        OpKind::Out { .. } => out(w, op),
        OpKind::Emit { target, event, args } => {
            args.iter().for_each(|arg| as_frame(w, *arg));
            emissions::emit(w, *target, event, args);
        }
        OpKind::Meet { message, wire } => {
            as_frame(w, *message);
            let place = w.plan.received.get(wire).copied();
            if let Some(place) = place {
                w.act(acts("mk_note_received", [pool(), w.value(*message), number(place as u64)]));
            }
            is_frame(w, results[0], *message);
        }
        OpKind::Push { message, header, variant, fields } => {
            as_frame(w, *message);
            match top_of_new(w, *message, (*header, *variant)) {
                Some(place) => messages::push_at(w, place, (*header, *variant), fields),
                None => messages::push(w, *message, *header, *variant, fields),
            }
            is_frame(w, results[0], *message);
        }
        OpKind::Pop { message, header, variant } => pop(w, *message, (*header, *variant), results[0]),
        OpKind::GetAttribute { message, attribute } => {
            alias_message(w, *message);
            w.assign(results[0], messages::attribute(w, *message, *attribute, results[0]));
        }
        OpKind::SetAttribute { message, attribute, value } => {
            as_frame(w, *message);
            messages::set_attribute(w, *message, *attribute, *value, op);
            is_frame(w, results[0], *message);
        }
        OpKind::NewMessage { octets } => new_message(w, octets, results[0]),
        OpKind::Share { message } => share(w, *message, results[0]),
        // The first message has no octets, as `is_for_c` ensures: the second one becomes a new one.
        OpKind::Join { second, .. } => {
            let merged = of_instance("core").member("accounts").member("merged");
            w.push(Stmt::Set(merged, Some(Infix::Add), Expr::Number(1)));
            match w.octets_of(*second) {
                Some(Octets::Frame { .. } | Octets::Lent { .. }) => {
                    as_frame(w, *second);
                    w.act(acts("mk_message_renew", [pool(), w.value(*second)]));
                    let renewed = w.value(*second);
                    w.fresh.forget_headers(&renewed);
                    is_frame(w, results[0], *second);
                }
                Some(octets) => w.set_octets(results[0], octets),
                None => {}
            }
        }
        OpKind::Keep { object, cell, index, message } => {
            as_frame(w, *message);
            match asked::place(w, op) {
                true => cells::keep_in_empty(w, (*object, *cell), (*index, *message)),
                false => cells::keep(w, (*object, *cell), (*index, *message), op.source),
            }
        }
        OpKind::Spend { object, cell, amount } if asked::units(w, op) => {
            cells::change(w, (*object, *cell), Infix::Sub, *amount)
        }
        OpKind::Give { object, cell, amount } if asked::units(w, op) => {
            cells::change(w, (*object, *cell), Infix::Add, *amount)
        }
        OpKind::Defer { target, event, args } => {
            args.iter().for_each(|arg| as_frame(w, *arg));
            emissions::defer(w, (*target, event), args, op.source);
        }
        OpKind::TakeHeld { object, cell, index } => {
            let message = match asked::place(w, op) {
                true => cells::take_there(w, (*object, *cell), *index),
                false => cells::take_held(w, (*object, *cell), *index, op.source),
            };
            w.set_octets(results[0], Octets::Frame { message, front: None });
        }
        OpKind::Drop { message, reason } => end(w, "dropped", *message, *reason),
        OpKind::Consume { message, reason } => end(w, "consumed", *message, *reason),
        _ => return false,
    }
    true
}

/// Where a header goes on top of a message that the path has made; `None` if that is not known.
fn top_of_new(w: &mut Writer, message: Value, (header, variant): (HeaderId, VariantId)) -> Option<Expr> {
    let most = variant_octets(&w.plan.automaton.headers[header.index()].variants[variant.index()]);
    let (message, size) = (w.value(message), messages::size_of(w, header, variant));
    let top = w.fresh.top(w.at_block, &message, (most, size), w.plan.header_octets)?;
    Some(acts("mk_push_new", [message, word("HEADERS_AT"), top]))
}

/// Octets of the program's text, in place.
fn new_message(w: &mut Writer, octets: &[u8], result: Value) {
    let at = match octets {
        // Any valid address: nothing is read there.
        [] => of_instance("core").member("front"),
        octets => {
            let text = w.function.local("octets", "uint8_t");
            w.push(Stmt::Octets(text, octets.to_vec()));
            Expr::Local(text)
        }
    };
    w.set_octets(result, Octets::Part { at, size: number(octets.len() as u64) });
}

/// A second message; for octets that the caller owns there is nothing to do.
fn share(w: &mut Writer, message: Value, result: Value) {
    match w.octets_of(message) {
        Some(octets @ Octets::Part { .. }) => w.set_octets(result, octets),
        _ => {
            as_frame(w, message);
            let shared = acts("mk_message_share", [pool(), w.value(message)]);
            let shared = w.temporary("share", "mk_message *", shared);
            w.set_octets(result, Octets::Frame { message: shared, front: None });
        }
    }
}

/// Whether the path begins inside: its messages are of the pool, and others continue when it ends.
fn is_inside(w: &Writer) -> bool {
    w.path().is_some_and(|path| !w.plan.automaton.is_at_port(path.handler))
}

/// Makes the value stand for a message of the pool in its current state on the path. This holds for the current
/// operation only, since other ways of the path may have the previous state.
fn as_frame(w: &mut Writer, message: Value) {
    if w.type_of(message) == Type::Msg {
        let frame = match lent(w, message) {
            frame @ Expr::Local(_) => frame,
            other => {
                let frame = w.temporary("message", "mk_message *", other);
                if let Some(Octets::Part { at, size }) = w.octets_of(message) {
                    w.fresh.note(w.at_block, (at, size), frame.clone());
                }
                frame
            }
        };
        w.alias(message, frame);
    }
}

/// After an operation on a message that was made one of the pool: the result is that message.
fn is_frame(w: &mut Writer, result: Value, message: Value) {
    w.same(result, message);
    let message = w.value(message);
    w.set_octets(result, Octets::Frame { message, front: None });
}

/// Makes the value stand for the message of the pool that it is a part of.
fn alias_message(w: &mut Writer, message: Value) {
    match w.octets_of(message) {
        Some(Octets::Lent { message: lent, .. } | Octets::Frame { message: lent, .. }) => w.alias(message, lent),
        _ => as_frame(w, message),
    }
}

/// Takes off the top header, which was already read.
fn pop(w: &mut Writer, message: Value, (header, variant): (HeaderId, VariantId), result: Value) {
    alias_message(w, message);
    let popped = w.value(message);
    w.fresh.forget_headers(&popped);
    messages::pop_known(w, message, header, variant);
    w.same(result, message);
    if let Some(octets) = w.octets_of(message) {
        w.set_octets(result, octets);
    }
}

/// The condition under which the top header is this one, and its fields.
pub(super) fn peek(w: &mut Writer, message: Value, header: HeaderId, variant: VariantId) -> (Expr, Vec<Expr>) {
    alias_message(w, message);
    messages::top(w, message, header, variant)
}

/// Ends the path: its outputs leave.
pub(super) fn leave(w: &mut Writer) {
    if leaving::is_leaving(w, w.at_block) {
        return;
    }
    taken(w);
    if is_inside(w) {
        return w.push(Stmt::Return(Some(Expr::Bool(true))));
    }
    let puts_out = |block: BlockId| {
        let ops = &w.body.blocks[block.index()].ops;
        ops.iter().any(|op| matches!(op.kind, OpKind::Out { .. } | OpKind::Emit { .. }))
            && !leaving::is_leaving(w, block)
    };
    let puts_out = (0..w.body.blocks.len()).map(BlockId::from).any(puts_out);
    let end = match (puts_out, w.plan.carries_on) {
        (true, _) => acts("mk_end", [core()]),
        (false, true) => acts(END_QUIET, [instance()]),
        (false, false) => acts("mk_end_quiet", [core()]),
    };
    w.push(Stmt::Return(Some(end)));
}

/// The function of a stack with which a path ends, if it [carries on](Plan::carries_on).
pub(crate) const END_QUIET: &str = "end_quiet";

/// Whether some event that is put off has a path.
pub(crate) fn carries_on(automaton: &Automaton) -> bool {
    let is_put_off = |path: &Path| automaton.handler(path.handler).later_capacity > 0 && is_for_c(path);
    automaton.paths.iter().any(is_put_off)
}

/// Leaves the event to the layers; nothing was done yet.
pub(super) fn refuse(w: &mut Writer) {
    leave_it_to(w, "layers");
}

/// Whether a path has a brisk copy. This copy makes no calls but the last ones, and so saves no registers. Rare parts
/// that need calls are left to the other copy, which is separate. A path that needs calls anyway has no brisk copy.
pub(crate) fn has_brisk(automaton: &Automaton, path: &Path) -> bool {
    let reads = Effects::READS | Effects::REPORTS;
    let is_in_place = |op: &Op| match &op.kind {
        OpKind::Set { .. } | OpKind::SetAt { .. } | OpKind::Count { .. } | OpKind::Out { .. } => true,
        OpKind::Call { .. } | OpKind::Sample { .. } => false,
        kind => reads.contains(kind.effects()),
    };
    let attempts = path.body.blocks.iter().filter_map(|block| block.terminator.attempt());
    let is_called = |op: &Fallible| matches!(op, Fallible::Recall { .. });
    let mut ops = path.body.ops();
    let has_reason = attempts.clone().any(is_called)
        || path.body.ops().any(|op| matches!(op.kind, OpKind::Sum16 { .. } | OpKind::SumPart { .. }));
    automaton.is_at_port(path.handler)
        && has_reason
        && ops.all(is_in_place)
        && attempts.map(Operation::effects).all(|effects| reads.contains(effects))
}

/// Whether this is the brisk copy; a constant in each copy.
const BRISK: &str = "mk_brisk";

pub(super) fn brisk(w: &Writer) -> Expr {
    match w.path().is_some_and(|path| has_brisk(w.plan.automaton, path)) {
        true => word(BRISK),
        false => Expr::Bool(false),
    }
}

/// In the brisk copy, while nothing was done yet: under this condition the separate copy does it all.
pub(super) fn apart_if(w: &mut Writer, condition: Expr) {
    if brisk(w) == word(BRISK) {
        let condition = Expr::Expect(false, Box::new(word(BRISK).infix(Infix::And, condition)));
        w.only_if(Some(condition), |w| leave_it_to(w, "apart"));
    }
}

fn leave_it_to(w: &mut Writer, other: &str) {
    let Unit::Path(id) = w.unit else { return };
    let is_inside = is_inside(w);
    let parameters =
        (0..w.function.locals.len()).map(Local).filter(|local| !is_inside && w.function.locals[local.0].is_parameter);
    let list: Vec<Expr> = [instance()].into_iter().chain(parameters.map(Expr::Local)).collect();
    w.push(Stmt::Return(Some(acts(format!("{other}_{}", id.index()), list))));
}

/// Begins a path. A path that is often refused is not tried for a while. A message shorter than every way of the path
/// needs is left to the layers at once; then no later read needs a check of the size.
pub(super) fn begin(w: &mut Writer) {
    let rests = asked(w).member("resting").infix(Infix::Ne, Expr::Number(0));
    w.only_if(Some(Expr::Expect(false, Box::new(rests))), refuse);
    w.undone = undone(w.body);
    // An object that is still to settle settles once, after this path; the path would settle it earlier, too.
    let settles = w.plan.automaton.handlers.iter().any(|handler| handler.trigger == Trigger::Settle);
    if settles && w.path().is_some_and(|path| w.plan.automaton.begins(path.handler)) {
        let is_behind = of_instance("core").member("unsettled").infix(Infix::Ne, Expr::Number(0));
        w.only_if(Some(Expr::Expect(false, Box::new(is_behind))), refuse);
    }
    let messages = w.body.blocks[0].params.iter().filter(|param| w.type_of(**param) == Type::Msg);
    for message in messages.copied().collect::<Vec<_>>() {
        let least = least(w, message);
        let octets = w.octets_of(message);
        if let (Some(Octets::Part { size, .. } | Octets::Lent { size, .. }), true) = (octets, least > 0) {
            let is_short = size.infix(Infix::Lt, number(least));
            w.only_if(Some(Expr::Expect(false, Box::new(is_short))), refuse);
            w.least.insert(message, least);
        }
    }
}

/// For each block of a path, up to which operation nothing observable has been done.
fn undone(body: &Body) -> Vec<usize> {
    let flow = Flow::new(body);
    let does = |op: &Op| !(op.kind.effects() - (Effects::READS | Effects::REPORTS)).is_empty();
    let first = |block: &Block| block.ops.iter().position(does).unwrap_or(block.ops.len());
    let attempts = |block: &Block| {
        block.terminator.attempt().is_some_and(|op| !(op.effects() - (Effects::READS | Effects::REPORTS)).is_empty())
    };
    let does_nothing = |block: &Block| first(block) == block.ops.len() && !attempts(block);
    let is_first = |block: BlockId| flow.before(block).iter().all(|before| does_nothing(&body.blocks[before.index()]));
    let blocks = body.blocks.iter().enumerate();
    blocks.map(|(at, block)| if is_first(BlockId::from(at)) { first(block) } else { 0 }).collect()
}

/// An object whose cell is read lives on the expected way. If it does not, the layers do it all, as long as nothing is
/// done. After that the object is known to live.
pub(super) fn ask_first(w: &mut Writer, place: usize, op: &Op) {
    let Some((object, _)) = op.kind.cell() else { return };
    let may_ask = w.undone.get(w.at_block.index()).is_some_and(|until| place <= *until);
    let class = w.class_of(object);
    if !may_ask || w.is_known(object) || w.plan.is_sole(class) || !matches!(w.type_of(object), Type::Ref(_)) {
        return;
    }
    let ended = w.plan.lives(class, w.value(object)).negated();
    w.only_if(Some(Expr::Expect(false, Box::new(ended))), refuse);
    w.set_known(object);
}

/// How many octets of a parameter are read on every way to an end of the path.
fn least(w: &Writer, message: Value) -> u64 {
    let flow = Flow::new(w.body);
    let read = |block: &Block| {
        let end = |op: &Op| {
            let (from, end, octets) = if let OpKind::Load { field, message, at } = &op.kind {
                (*message, *at, u64::from(field.width / 8))
            } else if let OpKind::Skip { message, size } = &op.kind {
                (*message, *size, 0)
            } else {
                return None;
            };
            w.ranges.constant(end).filter(|_| from == message).map(|end| end + octets)
        };
        block.ops.iter().filter_map(end).max().unwrap_or(0)
    };
    let read: Vec<u64> = w.body.blocks.iter().map(read).collect();
    let ends = (0..w.body.blocks.len()).filter(|at| matches!(w.body.blocks[*at].terminator, Terminator::Return));
    let before = |end: usize| {
        let ways = (0..read.len()).filter(|at| flow.dominates(BlockId::from(*at), BlockId::from(end)));
        ways.map(|at| read[at]).max().unwrap_or(0)
    };
    ends.map(before).min().unwrap_or(0)
}

/// The address of the octets, and their number.
pub(super) fn part(w: &Writer, message: Value) -> (Expr, Expr) {
    match w.octets_of(message) {
        Some(Octets::Part { at, size } | Octets::Lent { at, size, .. }) => (at, size),
        // Operations that need more than its size only use octets in front: `is_front`.
        Some(Octets::Fronted { octets, front, size, .. }) => (octets, size.infix(Infix::Add, number(front))),
        Some(Octets::Frame { message, .. }) => {
            (reads("mk_data", [message.clone()]), message.arrow("view").member("size"))
        }
        None => (word("NULL"), Expr::Number(0)),
    }
}

fn skip(w: &mut Writer, message: Value, size: Value, op: &Op) {
    if let Some(Octets::Frame { message, .. }) = w.octets_of(message) {
        w.act(acts("mk_do_skip", [core(), message.clone(), w.value(size), w.source(op.source)]));
        return w.set_octets(op.results[0], Octets::Frame { message, front: None });
    }
    let (whole, all) = part(w, message);
    let cut = within(w, message, size, all.clone(), op);
    let (at, size) = (computes("mk_behind", [whole.clone(), cut.clone()]), all.infix(Infix::Sub, cut));
    let at = w.temporary("at", "const uint8_t *", at);
    w.fresh.note_part(at.clone(), &whole);
    let size = w.temporary("size", "uint32_t", size);
    set_part(w, op.results[0], message, (at, size));
}

fn trim(w: &mut Writer, message: Value, size: Value, op: &Op) {
    if let Some(Octets::Frame { message, .. }) = w.octets_of(message) {
        w.act(acts("mk_do_trim", [core(), message.clone(), w.value(size), w.source(op.source)]));
        return w.set_octets(op.results[0], Octets::Frame { message, front: None });
    }
    let (at, all) = part(w, message);
    let size = within(w, message, size, all, op);
    set_part(w, op.results[0], message, (at, size));
}

/// Makes the result stand for this part of the message, or of what the message is a part of.
fn set_part(w: &mut Writer, result: Value, message: Value, (at, size): (Expr, Expr)) {
    let part = match w.octets_of(message) {
        Some(Octets::Lent { message, .. }) => Octets::Lent { message, at, size },
        _ => Octets::Part { at, size },
    };
    w.set_octets(result, part);
}

/// Whether all octets of a part of a message surely exist.
pub(super) fn all_of_part(w: &Writer, message: Value, at: Value, size: Value) -> bool {
    w.ranges.constant(at).is_some_and(|at| w.fits(size, at, message))
}

/// Whether a message has at least this many octets wherever the path reaches it.
pub(super) fn has(w: &Writer, message: Value, octets: u64) -> bool {
    w.least.get(&message).is_some_and(|least| octets <= *least)
}

/// A number of octets, limited to those that exist; more is reported.
fn within(w: &mut Writer, message: Value, size: Value, all: Expr, op: &Op) -> Expr {
    if w.ranges.constant(size).is_some_and(|size| has(w, message, size)) || w.fits(size, 0, message) {
        return w.value(size);
    }
    let size = acts("mk_do_within", [core(), w.value(size), all, w.source(op.source)]);
    w.temporary("size", "uint32_t", size)
}

/// `mk_get_be_16`, for the widths that exist.
fn get(field: OctetField, at: Expr) -> Expr {
    let order = field.endian.word();
    match field.width {
        8 => at.element(Expr::Number(0)),
        16 | 32 | 64 => reads(format!("mk_get_{order}_{}", field.width), [at]),
        width => reads(format!("mk_get_{order}"), [at, number(u64::from(width / 8))]),
    }
}

/// The same for widths that C has no number for: reads octets in front or behind as well, which exist.
fn get_more(field: OctetField, octets: Expr, at: u64, least: u64) -> Expr {
    let (width, order) = (u64::from(field.width), field.endian.word());
    let all = if width < 32 { 32 } else { 64 };
    let end = at + width / 8;
    let is_whole = matches!(width, 8 | 16 | 32 | 64);
    let (first, is_in_front) = match end >= all / 8 {
        true => (end - all / 8, true),
        false => (at, false),
    };
    if is_whole || (!is_in_front && at + all / 8 > least) {
        return get(field, octets.infix(Infix::Add, number(at)));
    }
    let word = reads(format!("mk_get_{order}_{all}"), [octets.infix(Infix::Add, number(first))]);
    // The extra octets in front are the high ones in big-endian numbers, and the low ones in little-endian numbers.
    match (field.endian == Endian::Big) == is_in_front {
        true => word.infix(Infix::BitAnd, number(mask(field.width))),
        false => word.infix(Infix::Shr, number(all - width)),
    }
}

/// The sum of a part of a message's octets.
pub(super) fn sum_part(w: &Writer, message: Value, at: Value, size: Value) -> Expr {
    let (octets, all) = part(w, message);
    let (first, part) = (w.value(at), w.value(size));
    match all_of_part(w, message, at, size) {
        true => reads("mk_sum16_as", [brisk(w), octets.behind(first), part]),
        false => reads("mk_sum16_part_as", [brisk(w), octets, all, first, part]),
    }
}

fn load(w: &mut Writer, field: OctetField, message: Value, at: Value, op: &Op) -> Expr {
    let (octets, size) = part(w, message);
    let (known, end) = (w.ranges.constant(at), |at: u64| at + u64::from(field.width / 8));
    let (place, at, source) = (at, w.value(at), w.source(op.source));
    let got = match known {
        Some(known) => get_more(field, octets, known, w.least.get(&message).copied().unwrap_or(0)),
        None => get(field, octets.infix(Infix::Add, at.clone())),
    };
    let got = got.cast(w.c_type_of(op.results[0]));
    if known.is_some_and(|at| has(w, message, end(at))) || w.fits(place, end(0), message) {
        return got;
    }
    let there = reads("mk_holds", [size, at, number(u64::from(field.width / 8))]);
    let beyond = acts("mk_beyond", [core(), source]).cast(w.c_type_of(op.results[0]));
    conditional(Expr::Expect(true, Box::new(there)), got, beyond)
}

/// Puts octets in front of a message. If they stay in front, only those are written that are not overwritten later.
fn front(w: &mut Writer, message: Value, front: &[u8], result: Value) {
    let size = front.len() as u64;
    if front.is_empty() {
        if let Some(octets) = w.octets_of(message) {
            w.set_octets(result, octets);
        }
        return;
    }
    if let (Some(Octets::Part { at, size: rest }), Some(changed)) =
        (w.octets_of(message), leaving::stays_in_front(w, result, front))
    {
        let place = of_instance("core").member("front").infix(Infix::Sub, number(leaving::front_place(w, result)));
        let octets = w.temporary("octets", "uint8_t *", place);
        for (first, end) in runs(&changed) {
            let template = w.function.local("template", "uint8_t");
            w.push(Stmt::Octets(template, front[first..end].to_vec()));
            let place = octets.clone().infix(Infix::Add, number(first as u64));
            w.act(acts("memcpy", [place, Expr::Local(template), number((end - first) as u64)]));
        }
        return w.set_octets(result, Octets::Fronted { octets, front: size, at, size: rest });
    }
    let lent = lent(w, message);
    let lent = w.temporary("frame", "mk_message *", lent);
    let template = w.function.local("template", "uint8_t");
    w.push(Stmt::Octets(template, front.to_vec()));
    let octets = acts("mk_prepend", [pool(), lent.clone(), number(size)]);
    let octets = w.temporary("octets", "uint8_t *", octets);
    w.act(acts("memcpy", [octets.clone(), Expr::Local(template), number(size)]));
    w.set_octets(result, Octets::Frame { message: lent, front: Some((octets, size)) });
}

/// The runs of unchanged octets: the first, and the end.
fn runs(changed: &[bool]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for place in (0..changed.len()).filter(|place| !changed[*place]) {
        match runs.last_mut() {
            Some((_, end)) if *end == place => *end = place + 1,
            _ => runs.push((place, place + 1)),
        }
    }
    runs
}

fn store(w: &mut Writer, field: OctetField, message: Value, (at, value): (Value, Value), op: &Op) {
    let size = u64::from(field.width / 8);
    if let Some(Octets::Fronted { octets, front, at: rest, size: all }) = w.octets_of(message) {
        // `stays_in_front` ensures that it is a constant.
        let at = w.ranges.constant(at).unwrap_or(0);
        put(w, field, octets.clone().infix(Infix::Add, number(at)), value);
        return w.set_octets(op.results[0], Octets::Fronted { octets, front, at: rest, size: all });
    }
    if let Some(Octets::Frame { message, front: Some((octets, front)) }) = w.octets_of(message) {
        if let (Some(known), true) = (w.ranges.constant(at), is_front(w, field, at, front)) {
            put(w, field, octets.clone().infix(Infix::Add, number(known)), value);
            return w.set_octets(op.results[0], Octets::Frame { message, front: Some((octets, front)) });
        }
    }
    let lent = lent(w, message);
    let lent = w.temporary("frame", "mk_message *", lent);
    let (at, value, source) = (w.value(at), w.value(value), w.source(op.source));
    let little = Expr::Bool(field.endian == Endian::Little);
    w.act(acts("mk_do_store", [core(), lent.clone(), at, value, number(size), little, source]));
    w.set_octets(op.results[0], Octets::Frame { message: lent, front: None });
}

/// Writes a number at an address that has room for it.
fn put(w: &mut Writer, field: OctetField, place: Expr, value: Value) {
    let (value, order) = (w.value(value), field.endian.word());
    match field.width {
        8 => w.push(set(place.element(Expr::Number(0)), value.cast("uint8_t"))),
        16 | 32 | 64 => w.act(acts(format!("mk_put_{order}_{}", field.width), [place, value])),
        width => w.act(acts(format!("mk_put_{order}"), [place, number(u64::from(width / 8)), value])),
    }
}

/// The message as one of the pool.
fn lent(w: &mut Writer, message: Value) -> Expr {
    match w.octets_of(message) {
        Some(Octets::Frame { message, .. }) => message,
        Some(Octets::Lent { message, at, size }) => acts("mk_narrowed", [message, at, size]),
        Some(Octets::Part { at, size }) => match w.fresh.of(w.at_block, &at, &size) {
            Some(same) => acts("mk_message_again", [pool(), same, at, size]),
            None => acts("mk_message_new", [pool(), at, size]),
        },
        Some(Octets::Fronted { octets, front, at, size }) => {
            acts("mk_message_fronted", [pool(), octets, number(front), at, size])
        }
        None => word("NULL"),
    }
}

/// An output. Outputs that leave at once do so when the last of them is made.
fn out(w: &mut Writer, op: &Op) {
    let Some(leaving) = leaving::leaving(w, w.at_block) else { return join(w, op) };
    let body = w.body;
    let ops = &body.blocks[w.at_block.index()].ops;
    if !ops.last().is_some_and(|last| std::ptr::eq(last, op)) {
        return;
    }
    let outs = || ops.iter().filter(|op| leaving::is_out(op));
    let given: Option<Vec<Vec<Expr>>> =
        outs().zip(&leaving.outputs).map(|(op, leaves)| given(w, op, leaves.form)).collect();
    let kept = outs().find_map(|op| kept(w, op)).filter(|_| leaving.may_stand_in_kept(ops));
    let given = match given {
        Some(given) => {
            let list: Vec<Expr> = [instance()].into_iter().chain(given.into_iter().flatten()).collect();
            let own = w.path().is_some_and(|path| w.plan.automaton.is_at_port(path.handler));
            match w.plan.returned && own && leaving.may_return() {
                true => {
                    let list: Vec<Expr> = list.into_iter().chain([word(leaving::LEFT)]).collect();
                    acts(leaving::return_name(w.plan, &leaving), list)
                }
                false => match kept {
                    Some((message, begins)) => {
                        let list: Vec<Expr> = list.into_iter().chain([message, begins]).collect();
                        acts(leaving::kept_name(w.plan, &leaving), list)
                    }
                    None => acts(leaving::give_name(w.plan, &leaving), list),
                },
            }
        }
        None => {
            outs().for_each(|op| join(w, op));
            if leaving.goes_on {
                Expr::Bool(true)
            } else {
                acts("mk_end", [core()])
            }
        }
    };
    taken(w);
    w.push(Stmt::Return(Some(given)));
}

/// A message of the pool that may have the octets behind those in front of an output, and where the octets begin of which it was made.
fn kept(w: &Writer, op: &Op) -> Option<(Expr, Expr)> {
    op.kind.operands().into_iter().find_map(|arg| match w.octets_of(arg) {
        // All encoders together have room in front of a message.
        Some(Octets::Fronted { front, at, .. }) if front <= w.plan.head_room.into() => {
            w.fresh.of_whole(w.at_block, &at)
        }
        _ => None,
    })
}

/// The arguments of an output, if its message has the given form.
fn given(w: &Writer, op: &Op, form: Form) -> Option<Vec<Expr>> {
    let OpKind::Out { args, .. } = &op.kind else { return None };
    let mut list = Vec::new();
    for arg in args {
        match (w.type_of(*arg), w.octets_of(*arg), form) {
            (Type::Msg, Some(Octets::Part { at, size }), Form::Part) => list.extend([at, size]),
            (Type::Msg, Some(Octets::Fronted { octets, front, .. }), Form::Head) => {
                list.extend([octets, number(front)]);
            }
            (Type::Msg, Some(Octets::Fronted { octets, front, at, size }), Form::Fronted) => {
                list.extend([octets, number(front), at, size]);
            }
            (Type::Msg, Some(Octets::Frame { message, .. }), Form::Whole) => list.push(message),
            (Type::Msg, ..) => return None,
            _ => list.push(w.value(*arg)),
        }
    }
    Some(list)
}

/// Adds the output to those that leave when the path ends; its messages are of the pool.
fn join(w: &mut Writer, op: &Op) {
    let OpKind::Out { port, event, args } = &op.kind else { return };
    let name = &w.plan.names.outputs[port.index()][*event as usize];
    let mut list = vec![instance()];
    for arg in args {
        list.push(if w.type_of(*arg) == Type::Msg { lent(w, *arg) } else { w.value(*arg) });
    }
    w.act(acts(format!("out_{name}"), list));
}

/// How often the path was refused, and whether it rests.
fn asked(w: &Writer) -> Expr {
    let Unit::Path(id) = w.unit else { return Expr::Number(0) };
    of_instance("asked").element(number(id.index() as u64))
}

/// Records that the path was taken.
fn taken(w: &mut Writer) {
    let asked = asked(w).address();
    w.act(acts("mk_taken", [asked]));
}

/// The end of a message that never left what the caller owns, or of one of the pool.
fn end(w: &mut Writer, how: &'static str, message: Value, reason: ReasonId) {
    if let Some(Octets::Frame { message, .. } | Octets::Lent { message, .. }) = w.octets_of(message) {
        let end = if how == "dropped" { "mk_drop" } else { "mk_consume" };
        return w.act(acts(end, [core(), message, number(u64::from(reason.0))]));
    }
    let count = of_instance("core").member("accounts").member(how).element(number(u64::from(reason.0)));
    w.push(Stmt::Set(count, Some(Infix::Add), Expr::Number(1)));
}
