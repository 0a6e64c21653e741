//! Which events a layer of each shape receives.

use mokume_base::Diagnostic;
use mokume_syntax::ast::AstNode;

use crate::events::DOWN;
use crate::program::*;
use crate::resolve::layer::handlers::head::Head;
use crate::{codes, lost};

/// Reports an event that a layer of this shape never receives.
pub(super) fn shape_knows(head: &mut Head, shape: Shape, name: &Name) {
    let text = name.text.as_str();
    if shape == Shape::Endpoint && DOWN.contains(&text) {
        let help = "nothing stands above an endpoint: it emits `below.send(…)` itself";
        let diagnostic = Diagnostic::error(codes::EVENT_SHAPE, format!("nobody sends `{text}` to an endpoint"))
            .at(name.span, "never comes")
            .lacks(lost::within(head.this().name.span, "above"));
        head.cx.report(diagnostic.help("make it a worker, if something stands above it").help(help));
    }
    let has_sessions = head.this().has_scope(ScopeKind::Session);
    let is_of_session = text == "failed" && head.tree.patterns().len() != 2;
    let is_told = matches!(text, "opened" | "accepted" | "closed") || is_of_session;
    let never = match shape {
        Shape::Router => is_told || matches!(text, "open" | "close" | "abort" | "listen"),
        Shape::Multiplexor => is_told,
        Shape::Endpoint => is_told && !has_sessions,
        Shape::Worker => false,
    };
    if never {
        let (who, help) = match shape {
            Shape::Router if text == "failed" => (
                "a router",
                "it has no sessions; a failure that quotes a packet comes to it: `on failed(reason, quote) from flow`",
            ),
            Shape::Router if text == "listen" => {
                ("a router", "what listens above it comes as `bind`, as a router has no sessions: write `on bind`")
            }
            Shape::Router => ("a router", "it has no sessions: put a worker or a multiplexor above it that has"),
            Shape::Multiplexor => (
                "a multiplexor",
                "it tells its own sessions: `on open`, `on close`; a worker above it hears the others",
            ),
            _ => ("an endpoint without sessions", "give it a `session` scope: `session { }`"),
        };
        let text = format!("`{text}` never comes to {who}");
        head.cx.error(codes::EVENT_SHAPE, text, name.span, "never runs", help);
    }
    if text == "arrives" && !(shape == Shape::Worker && has_sessions) {
        let help = "it is for a worker whose sessions begin with such a message: give it a `session` scope";
        head.cx.error(codes::EVENT_SHAPE, "`arrives` comes to workers with sessions", name.span, "never comes", help);
    }
    if text == "unmatched" && shape != Shape::Multiplexor {
        let help = "only a multiplexor looks for the layer that a message is for";
        head.cx.error(codes::EVENT_SHAPE, "`unmatched` is an event of multiplexors", name.span, "never comes", help);
    }
}

/// Reports `limit` and `later` behind events that do not have them.
pub(super) fn stray_clauses(head: &mut Head, name: &Name) {
    if let Some(limit) = head.tree.limit().filter(|_| name.text != "settle") {
        let place = limit.span(head.file);
        head.cx.error(codes::MISPLACED, "only `settle` has a limit", place, "not here", "leave it out");
    }
    if let Some(room) = head.tree.later() {
        let place = room.span(head.file);
        head.cx.error(codes::MISPLACED, "only events of `later` wait", place, "not here", "leave it out");
    }
}
