//! Networks: hosts, links, partitions, and when what is put in.

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, FileId};
use mokume_syntax::ast::{self, AstNode, Expr as Tree};

use crate::program::*;
use crate::resolve::context::{twice, Context};
use crate::resolve::expr::fixed;
use crate::resolve::test::{stack_use, steps};
use crate::{codes, suggest, tree};

/// A network as it is written; hosts first, as all else names them.
pub(super) fn read(cx: &mut Context, file: FileId, item: &ast::Network) -> Network {
    let name = tree::title(file, item.name());
    let (hosts, broken) = hosts(cx, file, item);
    let until = until(cx, file, item, &name);
    let mut network = Network { name, hosts, links: Vec::new(), script: Vec::new(), partitions: Vec::new(), until };
    for member in item.members() {
        match member {
            ast::NetworkMember::Host(_) | ast::NetworkMember::Until(_) => {}
            ast::NetworkMember::Link(item) => {
                let link = link(cx, file, &item, &network, &broken);
                network.links.extend(link);
            }
            ast::NetworkMember::At(at) => {
                let step = at_step(cx, file, &at, &network, &broken);
                network.script.extend(step);
            }
            ast::NetworkMember::Partition(item) => {
                let partition = partition(cx, file, &item, &network, &broken);
                network.partitions.extend(partition);
            }
        }
    }
    network.script.sort_by_key(|(time, _, _)| *time);
    too_late(cx, &network);
    network
}

/// The hosts, and the names of those whose stack is not understood, so that who names them is not blamed.
fn hosts(cx: &mut Context, file: FileId, item: &ast::Network) -> (Vec<Host>, Vec<String>) {
    let (mut hosts, mut broken): (Vec<Host>, Vec<String>) = (Vec::new(), Vec::new());
    for member in item.members() {
        let ast::NetworkMember::Host(host) = member else { continue };
        let Some(name) = tree::some_name(file, host.name()) else { continue };
        if let Some(first) = hosts.iter().find(|first| first.name.text == name.text) {
            cx.report(twice("host", &name, &first.name));
            continue;
        }
        match host.stack().and_then(|part| stack_use::read(cx, file, &part)) {
            Some((stack, settings)) => hosts.push(Host { name, stack, settings }),
            None => broken.push(name.text),
        }
    }
    (hosts, broken)
}

/// `until 2 s`, the last one, in nanoseconds; 0 after a report.
fn until(cx: &mut Context, file: FileId, item: &ast::Network, name: &Name) -> u64 {
    let (mut until, mut place) = (None, None);
    for member in item.members() {
        let ast::NetworkMember::Until(end) = member else { continue };
        if let Some(first) = place.replace(end.span(file)) {
            cx.given_twice("`until`", end.span(file), first);
        }
        until = Some(end.duration().and_then(|value| fixed::number(cx, file, &value, Type::Duration)).unwrap_or(0));
    }
    if until.is_none() {
        let text = "how long does this network run?";
        cx.error(codes::MISSING_ARGUMENT, text, name.span, "no `until`", "add `until 2 s`");
    }
    until.unwrap_or(0)
}

fn host_of(cx: &mut Context, network: &Network, broken: &[String], name: &Name) -> Option<usize> {
    let found = network.hosts.iter().position(|host| host.name.text == name.text);
    if found.is_none() && !broken.contains(&name.text) {
        let names = network.hosts.iter().map(|host| host.name.text.as_str());
        let text = format!("this network has no host `{}`", name.text);
        let mut diagnostic = Diagnostic::error(codes::UNKNOWN_STACK, text).at(name.span, "unknown");
        diagnostic.helps.extend(suggest::help(&name.text, names));
        cx.report(diagnostic);
    }
    found
}

fn link(cx: &mut Context, file: FileId, item: &ast::Link, network: &Network, broken: &[String]) -> Option<NetworkLink> {
    let name = tree::some_name(file, item.name())?;
    let mut link =
        NetworkLink { name, devices: Vec::new(), loss: 0, duplicate: 0, reorder: 0, corrupt: 0, delay: (0, 0) };
    for path in item.devices() {
        let parts = tree::parts(file, &path);
        let [host, device] = parts.as_slice() else {
            cx.error(
                codes::UNKNOWN_PORT,
                "a link joins devices of hosts",
                path.span(file),
                "no device",
                "write `a.device`",
            );
            continue;
        };
        let Some(host) = host_of(cx, network, broken, host) else { continue };
        let stack = &cx.program.stacks[network.hosts[host].stack.index()];
        match stack.devices.iter().position(|known| known.text == device.text) {
            Some(index) => link.devices.push((host as u32, index as u32)),
            None => {
                let names: Vec<String> = stack.devices.iter().map(|device| device.text.clone()).collect();
                let text = format!("stack `{}` has no device `{}`", stack.name.text, device.text);
                let mut diagnostic = Diagnostic::error(codes::UNKNOWN_PORT, text).at(device.span, "unknown");
                diagnostic.helps.extend(suggest::help(&device.text, names.iter().map(String::as_str)));
                cx.report(diagnostic);
            }
        }
    }
    let mut said: Vec<Name> = Vec::new();
    for option in item.options() {
        let name = tree::some_name(file, option.name());
        if let Some(again) = name.as_ref() {
            if let Some(first) = said.iter().find(|first| first.text == again.text) {
                cx.given_twice(&format!("`{}`", again.text), again.span, first.span);
                continue;
            }
        }
        said.extend(name);
        self::option(cx, file, &option, &mut link);
    }
    if item.devices().len() == 1 {
        let text = format!("link `{}` joins one device", link.name.text);
        let diagnostic = Diagnostic::error(codes::LONELY_LINK, text).at(link.name.span, "nobody hears it");
        cx.report(diagnostic.help("name those that it is joined with: `link lan { a.device, b.device }`"));
    }
    Some(link)
}

/// `partition a, b  from 1 s until 2 s`
fn partition(
    cx: &mut Context,
    file: FileId,
    item: &ast::Partition,
    network: &Network,
    broken: &[String],
) -> Option<Partition> {
    let names: Vec<Name> = item.hosts().into_iter().filter_map(|name| tree::some_name(file, Some(name))).collect();
    let hosts: Vec<u32> =
        names.iter().filter_map(|name| host_of(cx, network, broken, name)).map(|at| at as u32).collect();
    let mut time = |value: Option<Tree>| fixed::number(cx, file, &value?, Type::Duration);
    let (from, until) = (time(item.from())?, time(item.until())?);
    let span = names.first()?.span;
    if from >= until {
        let help = "write the earlier time first";
        cx.error(codes::TOO_BIG, "this partition ends before it begins", span, "from later to earlier", help);
    }
    if broken.is_empty() && (0..network.hosts.len() as u32).all(|host| hosts.contains(&host)) {
        let help = "name those of one side: `partition a from 1 s until 2 s`";
        cx.error(codes::LONELY_LINK, "this partition leaves nobody on the other side", span, "all hosts", help);
    }
    Some(Partition { hosts, from, until })
}

/// What is asked for after the network's end never happens.
fn too_late(cx: &mut Context, network: &Network) {
    if network.until == 0 {
        return;
    }
    for (at, _, step) in network.script.iter().filter(|(at, ..)| *at > network.until) {
        let text = format!("the network has ended before this: it runs for {} ms", network.until / 1_000_000);
        let diagnostic = Diagnostic::error(codes::TOO_LATE, text).at(step.span, "never happens");
        cx.report(diagnostic.help(format!("write `until {} ms` or more, or an earlier time", at.div_ceil(1_000_000))));
    }
}

fn option(cx: &mut Context, file: FileId, option: &ast::LinkOption, link: &mut NetworkLink) {
    let Some(name) = tree::some_name(file, option.name()) else { return };
    let place = match name.text.as_str() {
        "loss" => &mut link.loss,
        "duplicate" => &mut link.duplicate,
        "reorder" => &mut link.reorder,
        "corrupt" => &mut link.corrupt,
        "delay" => {
            let range = option.range().map(|range| (range.from(), range.to()));
            let (from, to) = match range {
                Some(ends) => ends,
                None => (option.value(), option.value()),
            };
            let mut time = |value: Option<Tree>| {
                value.and_then(|value| fixed::number(cx, file, &value, Type::Duration)).unwrap_or(0)
            };
            link.delay = (time(from), time(to));
            if link.delay.0 > link.delay.1 {
                let help = "write the shorter one first";
                cx.error(codes::TOO_BIG, "this delay ends before it begins", name.span, "from more to less", help);
            }
            return;
        }
        _ => {
            let text = format!("a link has no `{}`", name.text);
            let help =
                suggest::help(&name.text, ["loss", "duplicate", "reorder", "corrupt", "delay"]).unwrap_or_default();
            return cx.error(codes::UNKNOWN_PARAMETER, text, name.span, "unknown", &help);
        }
    };
    match option.percentage() {
        Some(percent) if percent <= 100 => *place = percent as u32 * 10_000,
        Some(_) => cx.error(codes::TOO_BIG, "more than all", name.span, "above 100 %", "write at most `100 %`"),
        None => cx.error(codes::MISMATCH, "a rate is in percent", name.span, "expected a percentage", "write `10 %`"),
    }
}

/// `at 10 ms  a.udp.bind(1, 0, 4000)`
fn at_step(
    cx: &mut Context,
    file: FileId,
    at: &ast::AtStep,
    network: &Network,
    broken: &[String],
) -> Option<(u64, u32, Step)> {
    let time = fixed::number(cx, file, &at.instant()?, Type::Duration)?;
    let expr = at.call()?;
    let span = expr.span(file);
    let Tree::Call(call) = &expr else {
        cx.error(codes::UNKNOWN_PORT, "a step is a call", span, "no call", "write `a.port.event(…)`");
        return None;
    };
    let Some(Tree::Field(field)) = call.callee() else { return None };
    let event = tree::some_name(file, field.name())?;
    let Some((host, port)) = field.base().and_then(|base| tree::name_field(file, &base)) else {
        cx.error(
            codes::UNKNOWN_PORT,
            "a step names a host, its port and an event",
            span,
            "too short",
            "write `a.port.event(…)`",
        );
        return None;
    };
    let host = host_of(cx, network, broken, &host)?;
    steps::known_port(cx, network.hosts[host].stack, &port);
    let mut handles = BTreeSet::new();
    let args = steps::arguments(cx, file, call, &mut handles);
    Some((time, host as u32, Step { kind: StepKind::Input { port, event, args }, span }))
}
