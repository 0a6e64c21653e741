//! What hosts cast, deliver and enter, and what must hold for that: `casts app.send_to`, `expect casts total, own`.

use mokume_base::{Diagnostic, FileId, Span};
use mokume_syntax::ast::{self, AstNode, Expr as Tree};

use crate::program::*;
use crate::resolve::context::Context;
use crate::resolve::test::steps;
use crate::{codes, suggest, tree};

/// Adds `casts …`, `delivers …` or `views …` to the network.
pub(super) fn line(cx: &mut Context, file: FileId, item: &ast::CastLine, network: &mut Network) {
    let Some(heard) = item.event().and_then(|event| heard(cx, file, &event)) else { return };
    let word = item.word();
    let place = match word.as_str() {
        "casts" => &mut network.casts.casts,
        "delivers" => &mut network.casts.delivers,
        _ => &mut network.casts.views,
    };
    match place {
        Some(first) => cx.given_twice(&format!("`{word}`"), heard.span, first.span),
        None => *place = Some(heard),
    }
}

/// `app.deliver_from(_, ?from, _)`, for any host.
fn heard(cx: &mut Context, file: FileId, expr: &Tree) -> Option<Heard> {
    let span = expr.span(file);
    let callee = match expr {
        Tree::Call(call) => call.callee()?,
        other => other.clone(),
    };
    let Some((port, event)) = tree::name_field(file, &callee) else {
        let help = "write `casts app.send_to`: it is of all hosts that have this port";
        cx.error(codes::UNKNOWN_PORT, "a port and its event are named here, and no host", span, "not so", help);
        return None;
    };
    let args = match expr {
        Tree::Call(call) => steps::arguments(cx, file, call, &mut steps::Handles::new()),
        _ => Args { given: Vec::new(), rest: true },
    };
    Some(Heard { port, event, args, span })
}

/// `expect casts total, own`
pub(super) fn promised(cx: &mut Context, file: FileId, item: &ast::Promised, network: &mut Network) {
    for word in item.words().into_iter().filter_map(|word| tree::some_name(file, Some(word))) {
        let Some((_, what)) = Promised::ALL.into_iter().find(|(known, _)| *known == word.text) else {
            let known = Promised::ALL.map(|(known, _)| known);
            let help = suggest::help(&word.text, known);
            let help = help.unwrap_or_else(|| format!("it is one of {}", known.join(", ")));
            let text = format!("nothing is known of casts that is called `{}`", word.text);
            cx.error(codes::UNKNOWN_PARAMETER, &text, word.span, "unknown", &help);
            continue;
        };
        match network.promises.iter().find(|known| known.what == what) {
            Some(first) => cx.given_twice(&format!("`{}`", word.text), word.span, first.span),
            None => network.promises.push(Promise { what, span: word.span }),
        }
    }
}

/// Reports lines that a promise needs and that are missing, and lines without a promise.
pub(super) fn complete(cx: &mut Context, item: &ast::Network, network: &Network) {
    let Casts { casts, delivers, views } = &network.casts;
    match network.promises.first() {
        Some(promise) => missing(cx, item, network, promise.span),
        None => {
            if let Some(idle) = [casts, delivers, views].into_iter().flatten().next() {
                let help = "say what holds: `expect casts total, own`";
                let text = "nothing is expected of what hosts cast and deliver";
                let found = Diagnostic::warning(codes::UNEXPECTED_CASTS, text).at(idle.span, "for nothing");
                cx.report(found.help(help));
            }
        }
    }
    let binds = |heard: &&Heard| {
        let values = heard.args.given.iter().flat_map(|given| &given.values);
        values.into_iter().any(|value| matches!(value, Arg::Bind(_)))
    };
    if let Some(views) = views.as_ref().filter(|views| !binds(views)) {
        let help = "bind what is the same at all who are in it: `views app.view(?v, ..)`";
        cx.error(codes::MISSING_ARGUMENT, "by what is a view known?", views.span, "binds nothing", help);
    }
    let of_senders = network.promises.iter().find(|promise| promise.what == Promised::Senders);
    if let (Some(delivers), Some(promise)) = (delivers.as_ref().filter(|delivers| !binds(delivers)), of_senders) {
        let help = "bind who it is from: `delivers app.deliver_from(_, ?from, ..)`";
        let found = Diagnostic::error(codes::MISSING_ARGUMENT, "by what is a sender known?");
        cx.report(found.at(delivers.span, "binds nothing").label(promise.span, "asked here").help(help));
    }
}

/// Reports missing lines; a line that could not be resolved was reported in its place.
fn missing(cx: &mut Context, item: &ast::Network, network: &Network, place: Span) {
    let said: Vec<String> = item
        .members()
        .iter()
        .filter_map(|member| match member {
            ast::NetworkMember::Cast(line) => Some(line.word()),
            _ => None,
        })
        .collect();
    let of_views = network.promises.iter().find(|promise| promise.what.is_of_views());
    let wanted = [
        ("casts", "what hosts cast", "casts app.send_to"),
        ("delivers", "what hosts deliver", "delivers app.deliver_from"),
        ("views", "which views hosts enter", "views app.view(?v, ..)"),
    ];
    let count = if of_views.is_some() { 3 } else { 2 };
    let lacking: Vec<_> = wanted[..count].iter().filter(|(word, ..)| !said.iter().any(|said| said == word)).collect();
    let Some(last) = lacking.last() else { return };
    let text: Vec<&str> = lacking.iter().map(|(_, what, _)| *what).collect();
    let forms: Vec<String> = lacking.iter().map(|(_, _, form)| format!("`{form}`")).collect();
    let place = of_views.filter(|_| last.0 == "views").map_or(place, |promise| promise.span);
    let text = format!("this network does not say {}", text.join(", "));
    cx.error(codes::MISSING_ARGUMENT, &text, place, "not known", &format!("add {}", forms.join(", ")));
}
