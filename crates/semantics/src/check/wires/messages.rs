//! Whether messages go behind the headers of a path through a wire: those that the topmost layer passes on.

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
    let at = header.variants.iter().position(|variant| header.is_single() || Some(variant.name.text.as_str()) == name);
    let variant = at.and_then(|at| header.variants.get(at));
    variant.is_some_and(|variant| variant.with_message) && gives_on(layer, at)
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
    let sends = |body: &[Stmt], come: Option<LocalId>| {
        visit::any(body, |met| {
            let visit::Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Send { message, fields, .. }), .. }) = met
            else {
                return false;
            };
            let is_of = fields.as_ref().is_none_or(|fields| variant.is_none_or(|at| fields.variant as usize == at));
            is_of && message.as_ref().is_some_and(|message| has_octets(message, body, come))
        })
    };
    let functions = layer.functions.iter().any(|function| sends(&function.body, None));
    functions
        || layer.handlers.iter().any(|handler| {
            let come = match handler.event {
                Event::Deliver { message, .. } | Event::Arrives { message, .. } => message,
                _ => None,
            };
            sends(&handler.body, come)
        })
}

/// Whether a message may have octets; one that has `come` behind such headers has none, nor has `message()`.
fn has_octets(message: &Expr, body: &[Stmt], come: Option<LocalId>) -> bool {
    match &message.kind {
        ExprKind::NewMessage { octets } => !octets.is_empty(),
        ExprKind::Give(local) | ExprKind::Share(local) => {
            let is_bare = |met: visit::Met| match met {
                visit::Met::Stmt(Stmt { kind: StmtKind::Let { local: bound, value }, .. }) if bound == local => {
                    matches!(&value.kind, ExprKind::NewMessage { octets } if octets.is_empty())
                }
                _ => false,
            };
            Some(*local) != come && !visit::any(body, is_bare)
        }
        _ => true,
    }
}
