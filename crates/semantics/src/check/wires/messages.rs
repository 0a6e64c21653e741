//! Whether messages go behind the headers of a path through a wire: those that the topmost layer passes on.

use std::collections::BTreeSet;

use crate::check::wires::context::WireCheck;
use crate::program::*;
use crate::visit;

/// Whether the topmost layer with a header in these packets sends something behind it: what comes from above, or a
/// message with octets of its own; `selected` has the alternatives: layer and alternative.
pub(super) fn go_behind(check: &WireCheck, selected: &[(&str, &str)]) -> bool {
    let from = topmost(check, selected);
    let Some(layer) = check.seen.get(from).map(|seen| seen.layer) else { return false };
    let Some(header) = &layer.header else { return gives_on(layer, None) };
    let name = selected.iter().find(|(of, _)| *of == layer.name.text).map(|(_, name)| *name);
    // Of one alternative alone no choice in the wire tells.
    let is_only = header.variants.len() == 1;
    let at = header.variants.iter().position(|variant| is_only || Some(variant.name.text.as_str()) == name);
    let variant = at.and_then(|at| header.variants.get(at));
    variant.is_some_and(|variant| variant.with_message) && gives_on(layer, at)
}

/// Whether all that the topmost layer sends goes without a message, or with `message()` as it stands: it sends something,
/// and passes on nothing.
pub(super) fn are_bare(check: &WireCheck) -> bool {
    let Some(layer) = check.seen.first().map(|seen| seen.layer) else { return false };
    let passes = layer.handlers.iter().any(|handler| matches!(handler.event, Event::Send { .. }));
    if passes || layer.shape != Shape::Endpoint {
        return false;
    }
    let mut sends = Vec::new();
    let bodies = layer.handlers.iter().map(|handler| &handler.body);
    for body in bodies.chain(layer.functions.iter().map(|function| &function.body)) {
        visit::walk(body, &mut |met| {
            if let visit::Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Send { message, .. }), .. }) = met {
                sends.push(message.as_ref().is_none_or(is_bare));
            }
        });
    }
    !sends.is_empty() && sends.into_iter().all(|bare| bare)
}

/// `message()`
fn is_bare(value: &Expr) -> bool {
    matches!(&value.kind, ExprKind::NewMessage { octets } if octets.is_empty())
}

/// The highest layer whose header is in packets of these alternatives: above one without a message there is none.
pub(super) fn topmost(check: &WireCheck, selected: &[(&str, &str)]) -> usize {
    let is_alone = |layer: &Layer| {
        let variants = layer.header.iter().flat_map(|header| &header.variants);
        let mut chosen =
            variants.filter(|variant| selected.contains(&(layer.name.text.as_str(), variant.name.text.as_str())));
        chosen.any(|variant| !variant.with_message)
    };
    check.seen.iter().rposition(|seen| is_alone(seen.layer)).unwrap_or(0)
}

/// Whether a layer sends a message that may have octets, with this alternative of its header.
fn gives_on(layer: &Layer, variant: Option<usize>) -> bool {
    let hears = layer.handlers.iter().any(|handler| matches!(handler.event, Event::Send { .. }));
    if !hears && layer.shape != Shape::Endpoint {
        return true;
    }
    let sends = |body: &[Stmt], of: Of| {
        visit::any(body, |met| {
            let visit::Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Send { message, fields, .. }), .. }) = met
            else {
                return false;
            };
            let is_of = fields.as_ref().is_none_or(|fields| variant.is_none_or(|at| fields.variant as usize == at));
            is_of && message.as_ref().is_some_and(|message| has_octets(layer, message, body, of, &mut Asked::new()))
        })
    };
    let mut functions = layer.functions.iter().enumerate();
    functions.any(|(at, function)| sends(&function.body, Of::Function(at)))
        || layer.handlers.iter().any(|handler| sends(&handler.body, Of::handler(handler)))
}

/// Functions and places of parameters whose callers are looked at.
type Asked = BTreeSet<(usize, usize)>;

/// Whose body a message is sent in.
#[derive(Clone, Copy)]
enum Of {
    /// A handler's, with the message that came from below.
    Handler(Option<LocalId>),
    Function(usize),
}

impl Of {
    fn handler(handler: &Handler) -> Of {
        Of::Handler(match handler.event {
            Event::Deliver { message, .. } | Event::Arrives { message, .. } => message,
            _ => None,
        })
    }
}

/// Whether a message may have octets, as far as the text says. One that came behind such headers has none, nor has
/// `message()`; a function is given what its callers give. Whatever else becomes of them is seen when they are sent.
fn has_octets(layer: &Layer, message: &Expr, body: &[Stmt], of: Of, asked: &mut Asked) -> bool {
    let (ExprKind::Give(local) | ExprKind::Share(local)) = &message.kind else { return !is_bare(message) };
    match of {
        Of::Handler(come) if come == Some(*local) => return false,
        Of::Function(at) => {
            let place = layer.functions[at].params.iter().position(|param| param.local == *local);
            if let Some(place) = place {
                return asked.insert((at, place)) && is_given_octets(layer, (at, place), asked);
            }
        }
        Of::Handler(_) => {}
    }
    let is_changed = visit::any(body, |met| match met {
        visit::Met::Stmt(Stmt { kind: StmtKind::Join { message, .. }, .. }) => message == local,
        visit::Met::Stmt(Stmt { kind: StmtKind::AssignLocal { local: changed, .. }, .. }) => changed == local,
        _ => false,
    });
    is_changed
        || !visit::any(
            body,
            |met| matches!(met, visit::Met::Stmt(Stmt { kind: StmtKind::Let { local: bound, value }, .. }) if bound == local && is_bare(value)),
        )
}

/// Whether some call gives a function's parameter a message that may have octets.
fn is_given_octets(layer: &Layer, (function, place): (usize, usize), asked: &mut Asked) -> bool {
    let in_handlers = layer.handlers.iter().map(|handler| (&handler.body, Of::handler(handler)));
    let in_functions = layer.functions.iter().enumerate().map(|(at, function)| (&function.body, Of::Function(at)));
    in_handlers.chain(in_functions).any(|(body, of)| {
        visit::any(body, |met| {
            let visit::Met::Expr(Expr { kind: ExprKind::CallOwn { function: called, args }, .. }) = met else {
                return false;
            };
            let given = args.get(place).filter(|_| *called as usize == function);
            given.is_some_and(|given| has_octets(layer, given, body, of, asked))
        })
    })
}
