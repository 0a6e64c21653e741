//! The weather of a link: `loss 10 %`, `delay 1 ms .. 3 ms`, `burst loss 1 % of 5`, `rate 10 Mbit/s`, `queue 20`, `calm from 6 s`.

use mokume_base::FileId;
use mokume_syntax::ast::{self, AstNode, Expr as Tree};

use crate::program::*;
use crate::resolve::context::Context;
use crate::resolve::expr::fixed;
use crate::{codes, suggest, tree};

/// The options of a link.
const KNOWN: [&str; 9] = ["loss", "duplicate", "reorder", "corrupt", "delay", "burst", "rate", "queue", "calm"];

/// Adds one option to the link.
pub(super) fn read(cx: &mut Context, file: FileId, option: &ast::LinkOption, link: &mut NetworkLink) {
    let Some(name) = tree::some_name(file, option.name()) else { return };
    match name.text.as_str() {
        "loss" => link.loss = percentage(cx, option, &name),
        "duplicate" => link.duplicate = percentage(cx, option, &name),
        "reorder" => link.reorder = percentage(cx, option, &name),
        "corrupt" => link.corrupt = percentage(cx, option, &name),
        "delay" => delay(cx, file, option, &name, link),
        "burst" => burst(cx, file, option, &name, link),
        "rate" => link.rate = rate(cx, option, &name),
        "queue" => {
            link.queue = option.value().and_then(|value| fixed::number(cx, file, &value, Type::UInt(32))).unwrap_or(0);
            if link.queue == 0 {
                let help = "write how many frames wait at each device: `queue 20`";
                cx.error(codes::MISMATCH, "a queue has room for frames", name.span, "for none", help);
            }
        }
        "calm" => {
            link.calm_from = option.value().and_then(|value| fixed::number(cx, file, &value, Type::Duration));
        }
        _ => {
            let help = match name.text.as_str() {
                "bandwidth" | "speed" | "throughput" => "write `rate 10 Mbit/s`".to_string(),
                "latency" | "rtt" => "write `delay 10 ms`, which is one way's".to_string(),
                "jitter" => "write the least and the most delay: `delay 8 ms .. 12 ms`".to_string(),
                "drop" | "drops" | "lose" => "write `loss 10 %`".to_string(),
                text => suggest::help(text, KNOWN).unwrap_or_default(),
            };
            let text = format!("a link has no `{}`", name.text);
            cx.error(codes::UNKNOWN_PARAMETER, text, name.span, "unknown", &help);
        }
    }
}

/// A percentage in millionths.
fn percentage(cx: &mut Context, option: &ast::LinkOption, name: &Name) -> u32 {
    match option.percentage() {
        Some(percent) if percent <= 100 => return percent as u32 * 10_000,
        Some(_) => cx.error(codes::TOO_BIG, "more than all", name.span, "above 100 %", "write at most `100 %`"),
        None => {
            let text = format!("`{}` is in percent", name.text);
            cx.error(codes::MISMATCH, text, name.span, "expected a percentage", "write `10 %`");
        }
    }
    0
}

fn delay(cx: &mut Context, file: FileId, option: &ast::LinkOption, name: &Name, link: &mut NetworkLink) {
    let range = option.range().map(|range| (range.from(), range.to()));
    let (from, to) = match range {
        Some(ends) => ends,
        None => (option.value(), option.value()),
    };
    let mut time =
        |value: Option<Tree>| value.and_then(|value| fixed::number(cx, file, &value, Type::Duration)).unwrap_or(0);
    link.delay = (time(from), time(to));
    if link.delay.0 > link.delay.1 {
        let help = "write the shorter one first";
        cx.error(codes::TOO_BIG, "this delay ends before it begins", name.span, "from more to less", help);
    }
}

fn burst(cx: &mut Context, file: FileId, option: &ast::LinkOption, name: &Name, link: &mut NetworkLink) {
    let length = option.value().and_then(|value| fixed::number(cx, file, &value, Type::UInt(32))).unwrap_or(0);
    if length == 0 {
        let text = "how many frames does a burst take?";
        return cx.error(codes::MISMATCH, text, name.span, "not said", "write `burst loss 1 % of 5`");
    }
    link.burst = (percentage(cx, option, name), length as u32);
}

/// A rate in bits per second.
fn rate(cx: &mut Context, option: &ast::LinkOption, name: &Name) -> u64 {
    let rate = option.rate();
    let scale = rate.as_ref().and_then(|rate| rate.unit()).and_then(|unit| scale_of(&unit));
    let number =
        rate.as_ref().and_then(|rate| rate.number()).zip(scale).and_then(|(number, scale)| number.checked_mul(scale));
    // The parser has reported what has no `/s`.
    let is_reported = rate.as_ref().is_some_and(|rate| !rate.syntax().text().to_string().contains('/'));
    if number == Some(0) {
        let help = "say how fast it is: `rate 10 Mbit/s`; a line without a `rate` has no limit";
        cx.error(codes::MISMATCH, "a line with a rate of 0 would never send", name.span, "0 bits a second", help);
    } else if number.is_none() && !is_reported {
        let help = "write `10 Mbit/s`; there are bit, kbit, Mbit, Gbit";
        cx.error(codes::MISMATCH, "a line's rate is in bits a second", name.span, "not so", help);
    }
    number.unwrap_or(0)
}

fn scale_of(unit: &str) -> Option<u64> {
    Some(match unit {
        "bit" => 1,
        "kbit" => 1_000,
        "Mbit" => 1_000_000,
        "Gbit" => 1_000_000_000,
        _ => return None,
    })
}
