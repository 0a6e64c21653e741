//! Crashes and restarts of hosts, and their clocks: `crash a  at 2 s`, `restart a(life: 2)  at 3 s`, `clock a  ahead 3
//! s  gains 50 us`.

use mokume_base::{Diagnostic, FileId};
use mokume_syntax::ast::{self, AstNode};

use super::named::host_of;
use crate::program::*;
use crate::resolve::context::Context;
use crate::resolve::expr::fixed;
use crate::resolve::test::stack_use;
use crate::{codes, suggest, tree};

/// Resolves an outage. `None` after a report.
pub(super) fn outage(
    cx: &mut Context,
    file: FileId,
    item: &ast::Outage,
    network: &Network,
    broken: &[String],
) -> Option<Outage> {
    let part = item.again();
    let name = tree::some_name(file, part.as_ref().map_or_else(|| item.host(), ast::LayerUse::name))?;
    let host = host_of(cx, network, broken, &name)?;
    let again = match (item.word() == "restart", &part) {
        (true, Some(part)) => {
            let of = &network.hosts[host];
            Some(stack_use::settings(cx, file, part, of.stack, &of.settings)?)
        }
        _ => None,
    };
    let at = fixed::number(cx, file, &item.at()?, Type::Duration)?;
    Some(Outage { host: host as u32, at, again, span: item.span(file) })
}

/// The name of the host of an outage.
pub(super) fn host_named(item: &ast::Outage) -> Option<String> {
    let part = item.again();
    Some(part.as_ref().map_or_else(|| item.host(), ast::LayerUse::name)?.text())
}

/// Reports hosts that crash twice, or restart while they run; the outages are in the order of their times. Of hosts
/// with an outage that could not be read it is not known when they run.
pub(super) fn in_turn(cx: &mut Context, network: &Network, unread: &[String]) {
    for (place, outage) in network.outages.iter().enumerate() {
        let before = network.outages[..place].iter().rev().find(|before| before.host == outage.host);
        let name = &network.hosts[outage.host as usize].name.text;
        if unread.contains(name) {
            continue;
        }
        let is_up = before.is_none_or(|before| before.again.is_some());
        let at_once = before.is_some_and(|before| before.at == outage.at);
        let found = match (&outage.again, is_up) {
            (Some(_), true) => {
                let help = format!("it crashes before: `crash {name}  at …`");
                Some((format!("`{name}` runs at that time: it cannot begin again"), "it runs", help))
            }
            (None, false) => {
                let help = format!("it begins again between the two: `restart {name}  at …`");
                Some((format!("`{name}` has crashed by that time"), "it does not run", help))
            }
            _ if at_once => {
                let help = "write a later time".to_string();
                Some((format!("`{name}` crashes and begins again at one time"), "at the same time", help))
            }
            _ => None,
        };
        if let Some((text, label, help)) = found {
            let found = Diagnostic::error(codes::OUT_OF_TURN, text).at(outage.span, label).help(help);
            cx.report(match before {
                Some(before) => found.label(before.span, "before"),
                None => found,
            });
        }
    }
}

/// Resolves a clock. `None` after a report.
pub(super) fn clock(
    cx: &mut Context,
    file: FileId,
    item: &ast::Clock,
    network: &Network,
    broken: &[String],
) -> Option<Clock> {
    let name = tree::some_name(file, item.host())?;
    let host = host_of(cx, network, broken, &name)? as u32;
    if network.clocks.iter().any(|known| known.host == host) {
        cx.error(codes::DEFINED_TWICE, format!("`{}` has one clock", name.text), name.span, "again here", FORM);
        return None;
    }
    let mut clock = Clock { host, ahead: 0, gains: 0 };
    if item.parts().is_empty() {
        cx.error(codes::MISSING_ARGUMENT, "how does this clock differ?", item.span(file), "nothing is said", FORM);
    }
    let mut said: Vec<Name> = Vec::new();
    for part in item.parts() {
        let Some(word) = tree::some_name(file, part.name()) else { continue };
        let kind = if word.text == "ahead" { 0 } else { 1 };
        if let Some(first) = said.iter().find(|first| (first.text == "ahead") == (kind == 0)) {
            cx.given_twice(&format!("`{}`", word.text), word.span, first.span);
            continue;
        }
        if !["ahead", "gains", "loses"].contains(&word.text.as_str()) {
            let text = format!("a clock does not say `{}`", word.text);
            let help = suggest::help(&word.text, ["ahead", "gains", "loses"]).unwrap_or_else(|| FORM.to_string());
            cx.error(codes::UNKNOWN_PARAMETER, text, word.span, "unknown", &help);
            continue;
        }
        let Some(value) = part.value().and_then(|value| fixed::number(cx, file, &value, Type::Duration)) else {
            cx.error(codes::MISMATCH, format!("`{}` is not written so", word.text), word.span, "by how much?", FORM);
            continue;
        };
        match word.text.as_str() {
            "ahead" => clock.ahead = value,
            // A clock that is twice or half as fast is not realistic.
            _ if value > 500_000_000 => {
                let help = "it gains or loses 500 ms a second at most";
                cx.error(codes::TOO_BIG, "this clock is too far off", word.span, "so much each second", help);
            }
            "gains" => clock.gains = value as i64,
            _ => clock.gains = -(value as i64),
        }
        said.push(word);
    }
    Some(clock)
}

const FORM: &str =
    "write `clock a  ahead 3 s  gains 50 us`: what it shows at the start, and how fast it is, each second";
