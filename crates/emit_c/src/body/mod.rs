//! Bodies of handlers and functions as C.
//!
//! Operations become statements of a tree ([`operation`], [`fallible`]), blocks become its nesting ([`control`]). The
//! final form of the tree is decided in [`crate::tree`].

mod arithmetic;
mod arrays;
mod asked;
mod cells;
mod control;
mod emissions;
mod fallible;
mod fresh;
mod leaving;
mod maps;
mod messages;
mod native;
mod octets;
mod operation;
mod paths;
mod ranges;
mod sums;
mod writer;

use mokume_reaction::*;

use crate::plan::heads::Beside;
use crate::plan::{there, Emissions, Plan};
use crate::tree::*;
use control::Control;
use writer::Writer;

/// A function that the handlers call.
pub(crate) fn function(plan: &Plan, id: FunctionId) -> Written {
    let mut w = Writer::new(plan, &plan.automaton.functions[id.index()].body, Unit::Function(id));
    w.parameters();
    there::given_to(w.body, &plan.given_there[id.index()]).into_iter().for_each(|param| w.set_known(param));
    Control::new(&mut w).body();
    w.finish().write()
}

/// A path, whose messages are octets that the caller owns; it returns whether it did not refuse.
pub(crate) fn path(plan: &Plan, id: PathId) -> Written {
    let mut w = Writer::new(plan, &plan.automaton.paths[id.index()].body, Unit::Path(id));
    w.parameters();
    if let Some(own) = w.body.blocks[0].params.first().copied() {
        w.set_known(own);
    }
    paths::begin(&mut w);
    Control::new(&mut w).body();
    w.finish().write()
}

pub(crate) use leaving::{
    all_in_kept, all_leave_at_once, front_octets, give_name, kept_name, left_parameter, return_name, Form, Leaving,
    LEFT,
};
pub(crate) use octets::is_for_c;
pub(crate) use paths::{carries_on, has_brisk, path_of, END_QUIET};

/// A handler: its prologue, then its body.
pub(crate) fn handler(plan: &Plan, id: HandlerId) -> Written {
    let handler = plan.automaton.handler(id);
    let mut w = Writer::new(plan, &handler.body, Unit::Handler(id));
    w.parameters();
    prologue(&mut w, id, handler);
    Control::new(&mut w).body();
    w.finish().write()
}

/// Tries the path that begins here first.
fn take_path(w: &mut Writer, id: HandlerId) {
    let automaton = w.plan.automaton;
    let Some(path) = path_of(automaton, id).filter(|_| !automaton.is_at_port(id)) else { return };
    let skipped = usize::from(!w.plan.takes_self(id));
    let given = w.values(&automaton.handler(id).body.blocks[0].params[skipped..]);
    let taken = acts(format!("path_{path}"), [instance()].into_iter().chain(given).collect::<Vec<_>>());
    w.only_if(Some(Expr::Expect(true, Box::new(taken))), |w| w.push(Stmt::Return(None)));
}

/// An event for an object that has ended is dropped as gone; an object that handles an event becomes dirty.
fn prologue(w: &mut Writer, id: HandlerId, handler: &Handler) {
    let (plan, class) = (w.plan, handler.class);
    let Some(own) = handler.body.blocks[0].params.first().copied() else { return };
    if matches!(handler.trigger, Trigger::Event(_)) && plan.takes_self(id) {
        let ended = Expr::Expect(false, Box::new(plan.lives(class, w.value(own)).negated()));
        w.only_if(Some(ended), |w| {
            for (value, (_, ty)) in handler.body.blocks[0].params[1..].iter().zip(&handler.params) {
                if *ty == Type::Msg {
                    w.act(acts("mk_gone", [core(), w.value(*value)]));
                }
            }
            w.push(Stmt::Return(None));
        });
    }
    take_path(w, id);
    w.set_known(own);
    if plan.heads.has(class, Beside::Settling) && handler.trigger != Trigger::Settle {
        w.act(acts("mk_touch", [core(), w.object(own).address(), w.beside(own, Beside::Settling).address()]));
    }
    if plan.emissions[id.index()] == Emissions::Agenda {
        let base = w.function.local("base", "uint32_t");
        w.push(Stmt::Let(base, of_instance("core").member("agenda").member("top")));
        w.base = Some(base);
    }
}
