//! Routers and endpoints that can never receive anything: they are over a multiplexor that does not know them.

use mokume_base::Diagnostic;

use crate::check::descents::Descent;
use crate::check::stacks::context::StackCheck;
use crate::codes;
use crate::program::*;
use crate::visit::{self, Met};

/// A multiplexor gives a message to its session, to a layer that the stack binds to the key, or to a listener. A router
/// by itself is none of these; for an endpoint its code decides.
pub(super) fn check(check: &mut StackCheck, descent: &Descent) {
    let index = descent.index();
    let mut found = Vec::new();
    for (at, layer) in check.layers[index].iter().enumerate() {
        let hears = layer.handlers.iter().any(|handler| matches!(handler.event, Event::Deliver { .. }));
        if !matches!(layer.shape, Shape::Router | Shape::Endpoint) || !hears || asks(layer) {
            continue;
        }
        if let Some((below, key)) = unbound_below(check, descent, at) {
            found.push(unheard(check, index, layer, below, &key));
        }
    }
    check.out.extend(found);
}

/// Reports a layer over a multiplexor without a key while others are bound: each flow above it has the key as an
/// additional part.
pub(super) fn beside_bound(check: &mut StackCheck, index: usize) {
    let instance = &check.stack.instances[index];
    let [Under { over: Over::Instance(below), bound }] = instance.unders.as_slice() else { return };
    let is_multiplexor = |layer: &&&Layer| layer.shape == Shape::Multiplexor;
    let below_is_one = check.layers[*below as usize].first().filter(is_multiplexor).is_some();
    let own = check.layers[index].iter().find(is_multiplexor);
    let Some(layer) = own.filter(|_| bound.is_empty() && below_is_one) else {
        return;
    };
    let others = check.stack.instances.iter().flat_map(|other| other.unders.iter().map(move |under| (other, under)));
    let bound = |(_, other): &(&Instance, &Under)| {
        matches!(other.over, Over::Instance(at) if at == *below) && !other.bound.is_empty()
    };
    let Some((other, how)) = others.into_iter().find(bound) else { return };
    let (name, key) = (&check.stack.instances[*below as usize].name.text, &how.bound[0].0);
    let text = format!("`{}` is bound to no key of `{}`, as `{}` is", instance.name.text, name, other.name.text);
    let found = Diagnostic::warning(codes::UNHEARD, text)
        .at(instance.of.span, format!("each flow of `{}` has a `{}`, too", layer.name.text, key.text))
        .label(key.span, "bound here")
        .help(format!("bind it: `over {name}[{}: …]`", key.text));
    check.out.push(found);
}

/// The multiplexor below that does not know of this layer, and its key; `None` if that does not apply.
fn unbound_below<'a>(check: &StackCheck<'a, '_>, descent: &Descent, at: usize) -> Option<(&'a Layer, String)> {
    for (step, &(instance, _)) in descent.steps.iter().enumerate() {
        let from = if step == 0 { at + 1 } else { 0 };
        let own = &check.layers[instance];
        for (place, layer) in own.iter().enumerate().skip(from) {
            let bound = |(above, under): (usize, usize)| !check.stack.instances[above].unders[under].bound.is_empty();
            match layer.shape {
                Shape::Worker if asks(layer) => return None,
                Shape::Worker => {}
                Shape::Multiplexor => {
                    let is_bound = place == 0 && step > 0 && bound(descent.steps[step - 1]);
                    let gives_by_itself = |handler: &Handler| match handler.event {
                        Event::Deliver { .. } => true,
                        Event::Unmatched { .. } => takes(handler),
                        _ => false,
                    };
                    let key = layer.key.iter().flat_map(|key| &key.fields).next()?;
                    let known = is_bound || layer.handlers.iter().any(gives_by_itself);
                    return (!known).then(|| (*layer, key.name.text.clone()));
                }
                Shape::Router | Shape::Endpoint => return None,
            }
        }
    }
    None
}

/// Whether what is for nobody may come to somebody after all: not, if it is dropped or refused.
fn takes(handler: &Handler) -> bool {
    visit::any(&handler.body, |met| match met {
        Met::Stmt(Stmt { kind: StmtKind::Accept { .. } | StmtKind::Pass | StmtKind::Put { .. }, .. }) => true,
        Met::Stmt(Stmt { kind: StmtKind::Emit(emission), .. }) => !matches!(emission, Emission::Service { .. }),
        Met::Expr(expr) => visit::own_call(expr).is_some(),
        _ => false,
    })
}

/// Whether the layer's code binds or listens.
fn asks(layer: &Layer) -> bool {
    visit::any_in_layer(layer, |met| {
        let Met::Stmt(Stmt { kind: StmtKind::Emit(emission), .. }) = met else { return false };
        matches!(emission, Emission::Open { .. } | Emission::Listen { .. } | Emission::Bind { .. })
    })
}

fn unheard(check: &StackCheck, index: usize, layer: &Layer, below: &Layer, key: &str) -> Diagnostic {
    let instance = &check.stack.instances[index];
    let text = format!("nothing comes to `{}`: `{}` does not know what is for it", layer.name.text, below.name.text);
    let is_first = |at: usize, of: &Layer| check.layers[at].first().is_some_and(|top| top.name.span == of.name.span);
    let straight = match instance.unders.as_slice() {
        [Under { over: Over::Instance(under), .. }] => Some(*under as usize),
        _ => None,
    };
    let straight = straight.filter(|under| is_first(index, layer) && is_first(*under, below));
    let help = match straight {
        Some(under) => format!("`over {}[{key}: 7]`", check.stack.instances[under].name.text),
        None => format!("where it stands straight over `{}`: `over …[{key}: 7]`", below.name.text),
    };
    let diagnostic = Diagnostic::warning(codes::UNHEARD, text)
        .at(instance.of.span, "hears nothing")
        .help(format!("bind it to a key in the stack: {help}"));
    match layer.shape {
        Shape::Endpoint => diagnostic.help(format!(
            "or say it at the start: `on start {{ below.bind(local.{key}: 7) }}`, or `below.listen(…)` for sessions"
        )),
        _ => diagnostic,
    }
}
