//! Emissions: calls in place if nothing else follows, calls at the handler's exits, or events on the agenda.

use mokume_analyse::Flow;
use mokume_reaction::*;

use super::writer::Writer;
use crate::plan::Emissions;
use crate::tree::*;

pub(super) fn emissions_of(w: &Writer) -> Emissions {
    match w.unit {
        Unit::Handler(handler) => w.plan.emissions[handler.index()],
        // The caller delivers what it has put on the agenda.
        Unit::Function(_) => Emissions::Agenda,
        // It has only outputs, at its end.
        Unit::Path(_) => Emissions::Calls,
    }
}

fn own_layer(w: &Writer) -> LayerId {
    let automaton = w.plan.automaton;
    match w.unit {
        Unit::Handler(id) => automaton.class(automaton.handler(id).class).layer,
        Unit::Function(id) => automaton.functions[id.index()].procedure().unwrap_or(LayerId(0)),
        Unit::Path(_) => LayerId(0),
    }
}

pub(super) fn emit(w: &mut Writer, target: Value, event: &str, args: &[Value]) {
    let (automaton, class) = (w.plan.automaton, w.class_of(target));
    let Some(handler) = automaton.handler_of(class, &Trigger::Event(event.to_string())) else { return };
    let function = w.plan.names.handlers[handler.index()].clone();
    let own = w.plan.takes_self(handler).then_some(target);
    let values: Vec<Value> = own.into_iter().chain(args.iter().copied()).collect();
    match emissions_of(w) {
        Emissions::AtExits => w.sunk.push((w.at_block, function, values)),
        Emissions::Calls => call(w, function, &values),
        Emissions::None | Emissions::Agenda => {
            let channel = w.plan.channel(own_layer(w), Ok(automaton.class(class).layer));
            let target = w.value(target);
            put_event(w, format!("HANDLER_{function}"), channel, target, args);
        }
    }
}

/// The same, for the object that a cell refers to at delivery.
pub(super) fn emit_by(w: &mut Writer, (object, cell): (Value, CellId), event: &str, args: &[Value]) {
    let (automaton, holder) = (w.plan.automaton, w.class_of(object));
    let Some(class) = automaton.cell(holder, cell).refers_to() else { return };
    let Some(handler) = automaton.handler_of(class, &Trigger::Event(event.to_string())) else { return };
    match emissions_of(w) {
        // The plan never lets an emission with such a target wait for the exit.
        Emissions::AtExits | Emissions::Calls => {
            let there = w.there(object);
            let found = w.got(object, cell);
            let target = match there {
                None => found,
                Some(there) => conditional(there, found, word("MK_NULL")),
            };
            let own = w.plan.takes_self(handler).then_some(target);
            let args: Vec<Expr> = [instance()].into_iter().chain(own).chain(w.values(args)).collect();
            w.act(acts(w.plan.names.handlers[handler.index()].clone(), args));
        }
        Emissions::None | Emissions::Agenda => {
            let channel = w.plan.channel(own_layer(w), Ok(automaton.class(class).layer));
            let what = w.plan.linked_constant((holder, cell, handler));
            put_event(w, what, channel, w.value(object), args);
        }
    }
}

pub(super) fn out(w: &mut Writer, port: PortId, event: u32, args: &[Value]) {
    let name_of = w.plan.names.outputs[port.index()][event as usize].clone();
    match emissions_of(w) {
        Emissions::AtExits => w.sunk.push((w.at_block, format!("out_{name_of}"), args.to_vec())),
        Emissions::Calls => call(w, format!("out_{name_of}"), args),
        Emissions::None | Emissions::Agenda => {
            let channel = w.plan.channel(own_layer(w), Err(port));
            put_event(w, format!("OUTPUT_{name_of}"), channel, word("MK_NULL"), args);
        }
    }
}

fn call(w: &mut Writer, function: String, values: &[Value]) {
    let args: Vec<Expr> = [instance()].into_iter().chain(w.values(values)).collect();
    w.act(acts(function, args));
}

fn put_event(w: &mut Writer, what: String, channel: Option<usize>, target: Expr, args: &[Value]) {
    let channel = channel.map_or(word("MK_DIRECT"), |queue| number(queue as u64));
    let agenda = of_instance("core").member("agenda").address();
    let put = acts("mk_emit", [agenda, word(what), channel, target]);
    if args.is_empty() {
        return w.act(put);
    }
    let event = w.temporary("event", "mk_event *", put);
    set_arguments(w, event, args);
}

pub(super) fn set_arguments(w: &mut Writer, event: Expr, args: &[Value]) {
    for (place, arg) in args.iter().enumerate() {
        let word = match w.type_of(*arg) {
            Type::Msg => w.value(*arg).cast("uintptr_t"),
            _ => w.value(*arg),
        };
        w.push(set(event.clone().arrow("args").element(number(place as u64)), word));
    }
}

/// How many of an event wait for reactions of their own.
pub(super) fn waiting(w: &Writer, target: Value, event: &str) -> Expr {
    let handler = w.plan.automaton.handler_of(w.class_of(target), &Trigger::Event(event.to_string()));
    handler.map_or(Expr::Number(0), |handler| of_instance(format!("later_{}", w.plan.names.handlers[handler.index()])))
}

/// Puts an event into a queue that has room. If it has none, that is reported, and the messages are gone.
pub(super) fn defer(w: &mut Writer, (target, event): (Value, &str), args: &[Value], source: Option<SourceId>) {
    let Some(later) = put_off(w, target, event, args) else { return };
    let then = w.inside(|w| set_arguments(w, later.clone(), args));
    let otherwise = w.inside(|w| {
        w.act(acts("mk_report_at", [core(), word("MK_MISUSE"), w.source(source)]));
        for message in args.iter().filter(|arg| w.type_of(**arg) == Type::Msg).copied().collect::<Vec<_>>() {
            w.act(acts("mk_gone", [core(), w.value(message)]));
        }
    });
    w.push(Stmt::If {
        condition: Expr::Expect(true, Box::new(later.clone().infix(Infix::Ne, word("NULL")))),
        then,
        otherwise,
    });
}

/// The event, its arguments still to be set; null if its queue is full.
pub(super) fn put_off(w: &mut Writer, target: Value, event: &str, args: &[Value]) -> Option<Expr> {
    let automaton = w.plan.automaton;
    let handler = automaton.handler_of(w.class_of(target), &Trigger::Event(event.to_string()))?;
    let function = w.plan.names.handlers[handler.index()].clone();
    let messages = args.iter().filter(|arg| w.type_of(**arg) == Type::Msg).count();
    let waiting = of_instance(format!("later_{function}")).address();
    let put = [
        core(),
        waiting,
        number(automaton.handler(handler).later_capacity),
        word(format!("HANDLER_{function}")),
        w.value(target),
        number(messages as u64),
    ];
    Some(w.temporary("later", "mk_event *", acts("mk_do_later", put)))
}

/// The last action of a handler.
pub(super) fn leave(w: &mut Writer, flow: &Flow) {
    match emissions_of(w) {
        Emissions::Agenda => {
            let base = w.base.map_or(Expr::Number(0), Expr::Local);
            w.act(acts("mk_carry_out", [core(), base]));
        }
        Emissions::AtExits => carry_out(w, flow),
        Emissions::Calls | Emissions::None => {}
    }
    w.push(Stmt::Return(None));
}

/// Writes the emissions that happened on the way to this exit as calls, in order.
fn carry_out(w: &mut Writer, flow: &Flow) {
    for (block, function, values) in w.sunk.clone() {
        if flow.dominates(block, w.at_block) {
            call(w, function, &values);
        }
    }
}
