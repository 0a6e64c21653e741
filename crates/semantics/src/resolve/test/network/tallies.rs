//! What hosts must have counted, dropped or consumed: `expect dropped b.stale 1  until 2 s`.

use mokume_base::{FileId, Span};
use mokume_syntax::ast::{self, AstNode, Expr as Tree};

use crate::program::*;
use crate::resolve::context::{Context, NamedReason};
use crate::resolve::expr::fixed;
use crate::{codes, tree};

/// `expect counter b.app.hits 1 .. 5`, `expect dropped stale 0`
pub(super) fn read(cx: &mut Context, file: FileId, item: &ast::Tally, network: &Network) -> Option<Tally> {
    let what = match item.word().as_str() {
        "dropped" => Tallied::Dropped,
        "consumed" => Tallied::Consumed,
        "counter" => Tallied::Counter,
        _ => return None,
    };
    let counted = item.counted()?;
    let parts = tree::parts(file, &counted);
    let host = parts.first().filter(|_| parts.len() > 1);
    let host = host.and_then(|first| network.hosts.iter().position(|host| host.name.text == first.text));
    if let (Some(host), Some(name)) = (host, parts.first()) {
        cx.mention(name, network.hosts[host].name.span);
    }
    let text: Vec<&str> = parts.iter().skip(usize::from(host.is_some())).map(|part| part.text.as_str()).collect();
    let name = Name { text: text.join("."), span: counted.span(file) };
    if what != Tallied::Counter {
        let meant = network.hosts.iter().enumerate().filter(|(at, _)| host.is_none_or(|host| host == *at));
        let mut stacks: Vec<StackId> = meant.map(|(_, host)| host.stack).collect();
        stacks.sort_unstable_by_key(|stack| stack.0);
        stacks.dedup();
        cx.reasons.push(NamedReason { name: name.clone(), stacks });
    }
    let within = within(cx, file, item, item.span(file))?;
    let until = match item.until() {
        Some(until) => fixed::number(cx, file, &until, Type::Duration)?,
        None => network.until,
    };
    Some(Tally { what, host: host.map(|host| host as u32), name, within, until, span: item.span(file) })
}

/// The least and the greatest total.
fn within(cx: &mut Context, file: FileId, item: &ast::Tally, span: Span) -> Option<(u64, u64)> {
    let mut number = |value: Option<Tree>| fixed::number(cx, file, &value?, Type::UInt(64));
    let (least, most) = match (item.range(), item.count()) {
        (Some(range), _) => (number(range.from())?, number(range.to())?),
        (None, Some(count)) => number(Some(count)).map(|total| (total, total))?,
        (None, None) => (1, u64::MAX),
    };
    if least > most {
        let help = "write the smaller one first";
        cx.error(codes::TOO_BIG, "no number is within this range", span, "from more to less", help);
        return None;
    }
    Some((least, most))
}
