//! Emissions: what a handler sends down, up and sideways.
//!
//! May assume: heads of layers, vocabularies and services are known. Keeps: an emission that does not fit is reported
//! and left out; [`super::stmt`] checks that effects are allowed.

pub mod clauses;
pub mod language_events;
pub mod own_events;
mod send;
pub mod services;

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::emit::clauses::Clauses;
use crate::{codes, tree};

/// `below.x(…)`, `above.x(…)`, `service.x(…)` as a statement; outer `None` if the call is not an emission.
pub fn read(body: &mut Body, call: &ast::CallExpr, clauses: &Clauses, span: Span) -> Option<Option<Emission>> {
    let (owner, name) = tree::name_field(body.file, &call.callee()?)?;
    // No value may have this name; one that does was reported.
    let is_neighbour = matches!(owner.text.as_str(), "below" | "above");
    if !is_neighbour && (body.locals.find(&owner.text).is_some() || body.find_state(&owner.text).is_some()) {
        return None;
    }
    let args = call.args();
    let down = match owner.text.as_str() {
        "below" => true,
        "above" => false,
        _ => return services::read(body, &owner, &name, &args, span),
    };
    if !has_neighbour(body, down, owner.span, span) {
        return Some(None);
    }
    let quoting = name.text == "failed" && args.len() == 2;
    let used = (down && name.text == "send", !down && (name.text == "deliver" || quoting));
    clauses::check(body, clauses, used.0, used.1);
    Some(match (down, name.text.as_str()) {
        (true, "send") => Some(send::send(body, &args, clauses, span)),
        (false, "deliver") => language_events::deliver(body, &args, clauses, span),
        (true, "open" | "listen" | "bind" | "unlisten") => Some(language_events::opening(body, &name, &args, span)),
        (true, "close" | "abort") if !uses_sessions(body, &name) => None,
        (true, "close") => bare(body, &name, &args).then_some(Emission::Close),
        (true, "abort") => bare(body, &name, &args).then_some(Emission::Abort),
        (false, "closed") => bare(body, &name, &args).then_some(Emission::Closed),
        (false, "failed") if quoting => language_events::failed_flow(body, &args, clauses, span),
        (false, "failed") => language_events::failed(body, &args, span),
        // A worker that handles the event itself, such as one with a handshake, emits it when it is ready.
        (false, "opened" | "accepted") if body.shape() == Some(Shape::Worker) => {
            let event = name.clone();
            bare(body, &name, &args).then(|| Emission::Custom { name: event, down: false, args: Vec::new() })
        }
        (false, "opened" | "accepted") => {
            let text = format!("`{}` is said by the session itself", name.text);
            let help = "leave it out; `accept msg` answers an unmatched message";
            body.error(codes::MISPLACED, text, name.span, "automatic", help);
            None
        }
        (_, event) => own_events::read(body, &name, event, down, &args),
    })
}

/// Whether a layer of this shape may have a session below, which the emission ends; reports if not.
fn uses_sessions(body: &mut Body, name: &Name) -> bool {
    let Some(layer) = body.this_layer() else { return true };
    let sessions = layer.members(ScopeKind::Session).is_some();
    let (text, help) = match layer.shape {
        Shape::Endpoint if !sessions => (
            format!("an endpoint without sessions has none to {}", name.text),
            "give it a `session` scope: `session { }`; flow traffic has no end",
        ),
        Shape::Router => (
            format!("a router has flow traffic below it, and no session to {}", name.text),
            "leave it out; a worker or endpoint with sessions ends them",
        ),
        Shape::Endpoint | Shape::Worker | Shape::Multiplexor => return true,
    };
    body.error(codes::NO_SESSIONS, text, name.span, "ends nothing", help);
    false
}

fn bare(body: &mut Body, name: &Name, args: &[ast::Arg]) -> bool {
    if let Some(arg) = args.first() {
        let place = body.span(arg);
        body.error(
            codes::WRONG_COUNT,
            format!("`{}` takes no arguments", name.text),
            place,
            "one too many",
            "leave it out",
        );
    }
    true
}

/// Whether the current layer has a neighbour on that side; reports if not.
fn has_neighbour(body: &mut Body, down: bool, owner: Span, span: Span) -> bool {
    if body.view.inside.is_some() {
        let help = "give back what the layer is to send: `-> T or refuse`";
        body.error(codes::MISPLACED, "a container has no neighbours", span, "an effect", help);
        return false;
    }
    if body.view.layer.is_none() {
        let help = "write the function within the layer";
        let diagnostic =
            Diagnostic::error(codes::MISPLACED, "a function of a file emits nothing").at(span, "an effect");
        body.report(diagnostic.help(help).needs(body.slip("effects")));
        return false;
    }
    if !down && body.shape() == Some(Shape::Endpoint) {
        let help = "make it a worker, or answer with `below.send(…)`";
        let diagnostic = Diagnostic::error(codes::NOTHING_ABOVE, "an endpoint has nothing above it");
        body.report(diagnostic.at(owner, "nobody is there").help(help).lacks(body.named("above")));
        return false;
    }
    true
}
