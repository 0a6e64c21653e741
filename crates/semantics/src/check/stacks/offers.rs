//! Layers that need sessions have sessions below; layers that need flow traffic have that.

use mokume_base::Diagnostic;

use crate::check::descents::Descent;
use crate::check::stacks::context::StackCheck;
use crate::program::*;
use crate::{codes, lost};

/// What a layer offers to the layer above.
#[derive(Clone, Copy, PartialEq)]
pub enum Offer {
    Flows,
    Sessions,
    Both,
}

/// What comes up to the layer `at` of the descent's first instance.
pub(super) fn below(check: &StackCheck, descent: &Descent, at: usize) -> Offer {
    let mut offer = Offer::Flows;
    for (step, &(instance, _)) in descent.steps.iter().enumerate().rev() {
        let own = &check.layers[instance];
        let from = if step == 0 { at + 1 } else { 0 };
        for layer in own[from.min(own.len())..].iter().rev() {
            offer = match layer.shape {
                Shape::Router => Offer::Flows,
                Shape::Multiplexor => Offer::Both,
                Shape::Worker if layer.wants_sessions() => Offer::Sessions,
                _ => offer,
            };
        }
    }
    offer
}

/// Checks that sessions, or flow traffic, come up where a layer needs them.
pub(super) fn check(check: &mut StackCheck, descent: &Descent) {
    let index = descent.index();
    let mut found = Vec::new();
    for (at, layer) in check.layers[index].iter().enumerate() {
        let offer = below(check, descent, at);
        let span = check.stack.instances[index].of.span;
        if offer == Offer::Flows && layer.has_scope(ScopeKind::SessionBelow) {
            let text = format!("`{}` keeps state per lower session, and below it are no sessions", layer.name.text);
            found.push(
                Diagnostic::error(codes::NO_SESSIONS, text)
                    .at(span, "only flow traffic comes from below")
                    .label(layer.name.span, "has a scope `session below`")
                    .help("put a worker with a `session` scope below it, or keep the state in the entity"),
            );
        }
        let flows_only =
            layer.shape == Shape::Router || layer.shape == Shape::Endpoint && !layer.has_scope(ScopeKind::Session);
        if offer == Offer::Sessions && flows_only {
            let text = format!("`{}` works on flow traffic, and below it are only sessions", layer.name.text);
            let help = match layer.shape {
                Shape::Router => "put it below the layer that makes the sessions",
                _ => "give it a `session` scope, or put it below the layer that makes the sessions",
            };
            let diagnostic = Diagnostic::error(codes::NO_SESSIONS, text)
                .at(span, "only sessions come from below")
                .label(layer.name.span, "has no `session` scope")
                .help(help);
            // A scope that an endpoint lacks, it lacks in each stack.
            let once = layer.shape == Shape::Endpoint;
            found.push(if once { diagnostic.lacks(lost::within(layer.name.span, "session")) } else { diagnostic });
        }
    }
    check.out.extend(found);
}
