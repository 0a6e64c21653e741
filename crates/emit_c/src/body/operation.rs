//! Operations that do not branch, each by its name.

use mokume_reaction::*;

use super::writer::Writer;
use super::{arithmetic, arrays, cells, emissions, messages, native, paths, sums};
use crate::tree::*;
use crate::types::c_type;

/// Translates one operation. An operation without effects whose result is not used is left out. This is a table with an
/// arm for each, so it is long.
pub(super) fn operation(w: &mut Writer, op: &Op) {
    if op.kind.is_removable() && !op.results.iter().any(|result| w.is_live(*result)) {
        return;
    }
    if w.is_path() && paths::operation(w, op) {
        return;
    }
    let (results, source) = (&op.results, op.source);
    match &op.kind {
        OpKind::Const { ty, value } => w.alias(results[0], w.plan.constant(*ty, *value)),
        OpKind::Null { .. } => w.alias(results[0], word("MK_NULL")),
        OpKind::Param { param } => {
            let param = w.plan.names.params[param.index()].clone();
            w.alias(results[0], of_instance("params").member(param));
        }
        OpKind::Now {} => w.alias(results[0], of_instance("core").member("now")),
        OpKind::Binary { op: what, a, b } if arithmetic::is_report(w, *what, (*a, *b), results[0]) => {
            arithmetic::report_if(w, *a, source);
        }
        OpKind::Binary { op: what, a, b } => w.assign(results[0], arithmetic::binary(w, *what, (*a, *b), source)),
        OpKind::Compare { op: what, a, b } if w.type_of(*a).array().is_some() => {
            w.assign(results[0], arrays::compare(w, *what, *a, *b));
        }
        OpKind::Compare { op: what, a, b } => {
            let compared = sums::compare(w, *what, *a, *b);
            w.assign(results[0], compared.unwrap_or_else(|| arithmetic::compare(w, *what, *a, *b)));
        }
        OpKind::Not { a } => w.assign(results[0], arithmetic::not(w, *a)),
        OpKind::Select { c, a, b } => w.assign(results[0], conditional(w.value(*c), w.value(*a), w.value(*b))),
        OpKind::Cast { a, to } => w.assign(results[0], arithmetic::cast(w, *a, *to)),
        OpKind::Fold16 { a } => {
            let folded = sums::fold(w, *a).unwrap_or_else(|| computes("mk_fold16", [w.value(*a)]));
            w.assign(results[0], folded);
        }
        OpKind::Call { function, args } | OpKind::Run { procedure: function, args } => {
            call(w, *function, args, results)
        }
        OpKind::Sample { object, ty } => cells::sample(w, *object, *ty, results[0]),
        OpKind::Unique { class } => cells::unique(w, *class, results[0]),
        OpKind::Parent { object } => cells::parent(w, *object, results[0]),
        // Nothing ends on a path.
        OpKind::Lives { object } if w.is_path() && w.is_known(*object) => w.assign(results[0], Expr::Bool(true)),
        OpKind::Lives { object } => {
            let lives = w.plan.lives(w.class_of(*object), w.value(*object));
            w.assign(results[0], lives);
        }

        OpKind::Pack { ty, values } => arrays::pack(w, *ty, values, results[0]),
        OpKind::Item { array, index } => w.assign(results[0], arrays::item(w, *array, *index)),
        OpKind::SetItem { array, index, value } => arrays::set_item(w, *array, (*index, *value), results[0]),
        OpKind::Slice { array, index, ty } => arrays::slice(w, *array, *index, *ty, results[0]),
        OpKind::Splice { array, index, with } => arrays::splice(w, *array, (*index, *with), results[0]),
        OpKind::GetAll { object, cell } => arrays::get_all(w, *object, *cell, results[0]),
        OpKind::SetAll { object, cell, value } => arrays::set_all(w, *object, *cell, *value),

        OpKind::Get { object, cell } | OpKind::Left { object, cell } => w.assign(results[0], w.got(*object, *cell)),
        OpKind::IsArmed { object, cell } => {
            let armed = reads("mk_timer_armed", [w.cell(*object, *cell).address()]);
            w.assign(results[0], Expr::also(w.has_record(*object), armed));
        }
        OpKind::GetAt { object, cell, index } => {
            let got = cells::get_at(w, *object, *cell, *index, source);
            w.assign(results[0], got);
        }
        OpKind::Holds { object, cell, index } => {
            let holds = cells::holds(w, *object, *cell, *index, source);
            w.assign(results[0], holds);
        }
        OpKind::Set { object, cell, value } => cells::set_cell(w, *object, *cell, *value),
        OpKind::SetAt { object, cell, index, value } => {
            cells::set_at(w, (*object, *cell), (*index, *value), source);
        }
        OpKind::Arm { object, cell, deadline } => cells::arm_timer(w, *object, *cell, *deadline),
        OpKind::Disarm { object, cell } => cells::disarm(w, *object, *cell),
        OpKind::Count { object, cell, amount } => cells::count(w, *object, *cell, *amount),
        OpKind::Spend { object, cell, amount } => cells::spend(w, *object, *cell, *amount, source),
        OpKind::Give { object, cell, amount } => cells::give(w, *object, *cell, *amount, source),
        OpKind::Keep { object, cell, index, message } => {
            cells::keep(w, (*object, *cell), (*index, *message), source);
        }
        OpKind::Waiting { target, event } => w.assign(results[0], emissions::waiting(w, *target, event)),
        OpKind::Defer { target, event, args } => emissions::defer(w, (*target, event), args, source),
        OpKind::Release { object } => cells::release(w, *object),
        OpKind::Again { object } => cells::again(w, *object),

        OpKind::NewMessage { octets } => messages::new_message(w, octets, results[0]),
        OpKind::Front { message, octets } => messages::front(w, *message, octets, results[0]),
        OpKind::Push { message, header, variant, fields } => {
            messages::push(w, *message, *header, *variant, fields);
            w.same(results[0], *message);
        }
        OpKind::Pop { message, header, variant } => messages::pop(w, *message, (*header, *variant), results, source),
        OpKind::Encode { message, wire } => messages::encode(w, *message, *wire, op),
        OpKind::Native { symbol, grows, args, message, result } => {
            native::native(w, native::Called { symbol, grows: *grows, result: *result }, args, *message, op);
        }
        OpKind::Size { message } => w.assign(results[0], messages::size(w, *message)),
        OpKind::Sum16 { message } => w.assign(results[0], messages::sum16(w, *message)),
        OpKind::SumPart { message, at, size } => {
            w.assign(results[0], messages::sum_part(w, *message, *at, *size));
        }
        OpKind::Trim { message, size } => messages::cut(w, "mk_do_trim", *message, *size, op),
        OpKind::Skip { message, size } => messages::cut(w, "mk_do_skip", *message, *size, op),
        OpKind::Split { message, at } => messages::split(w, *message, *at, op),
        OpKind::Join { first, second } => messages::join(w, *first, *second, op),
        OpKind::Share { message } => w.assign(results[0], acts("mk_message_share", [pool(), w.value(*message)])),
        OpKind::Received { message, wire } => {
            let place = w.plan.received.get(wire).copied().unwrap_or(0);
            w.assign(results[0], acts("mk_quote", [pool(), w.value(*message), number(place as u64)]));
        }
        // Only paths have this operation.
        OpKind::Meet { message, .. } => w.same(results[0], *message),
        OpKind::Load { field, message, at } => messages::load(w, *field, *message, *at, op),
        OpKind::Store { field, message, at, value } => messages::store(w, *field, *message, (*at, *value), op),
        OpKind::GetAttribute { message, attribute } => {
            w.assign(results[0], messages::attribute(w, *message, *attribute, results[0]));
        }
        OpKind::SetAttribute { message, attribute, value } => {
            messages::set_attribute(w, *message, *attribute, *value, op);
        }

        OpKind::Emit { target, event, args } => emissions::emit(w, *target, event, args),
        OpKind::EmitBy { object, cell, event, args } => emissions::emit_by(w, (*object, *cell), event, args),
        OpKind::Out { port, event, args } => emissions::out(w, *port, *event, args),
        OpKind::Drop { message, reason } => {
            w.act(acts("mk_drop", [core(), w.value(*message), w.plan.reason(*reason)]));
        }
        OpKind::DropFor { message, reason } => {
            w.act(acts("mk_drop", [core(), w.value(*message), w.value(*reason)]));
        }
        OpKind::TakeHeld { object, cell, index } => {
            let held = cells::take_held(w, (*object, *cell), *index, source);
            w.assign(results[0], held);
        }
        OpKind::ConsumeHeld { object, cell, index, reason } => {
            cells::consume_held(w, (*object, *cell), *index, *reason, source);
        }
        OpKind::Consume { message, reason } => {
            w.act(acts("mk_consume", [core(), w.value(*message), w.plan.reason(*reason)]));
        }
    }
}

fn call(w: &mut Writer, function: FunctionId, args: &[Value], results: &[Value]) {
    let name_of = w.plan.names.functions[function.index()].clone();
    let mut list: Vec<Expr> = [instance()].into_iter().chain(w.values(args)).collect();
    if let [result] = results {
        return w.assign(*result, acts(name_of, list));
    }
    // Several results are returned through pointers.
    let given: Vec<Expr> =
        results.iter().map(|result| place_for(w, w.hint(*result).to_string(), w.type_of(*result))).collect();
    list.extend(given.iter().map(|place| place.clone().address()));
    w.act(acts(name_of, list));
    for (result, place) in results.iter().zip(given) {
        w.alias(*result, place);
        w.look_up_once(*result);
    }
}

/// A variable for a value that a function returns through a pointer.
pub(super) fn place_for(w: &mut Writer, name: String, ty: Type) -> Expr {
    let local = w.function.local(name, c_type(w.plan.automaton, ty));
    w.push(Stmt::Declare(local));
    Expr::Local(local)
}
