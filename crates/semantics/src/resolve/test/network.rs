//! Networks: hosts, links, partitions, and the times of inputs.

mod casts;
mod faults;
mod named;
mod options;
mod outages;
mod outputs;
mod partitions;
mod tallies;

use mokume_base::{Diagnostic, FileId, Span};
use mokume_syntax::ast::{self, AstNode};

use self::named::{device_of, Bound};
use crate::program::*;
use crate::resolve::context::{twice, Context};
use crate::resolve::expr::fixed;
use crate::resolve::test::stack_use;
use crate::{codes, tree};

/// Resolves a network: hosts first, as all lines name them, then lines that bind names, then lines that use them.
pub(super) fn read(cx: &mut Context, file: FileId, item: &ast::Network) -> Network {
    let name = tree::title(file, item.name());
    let (hosts, broken) = hosts(cx, file, item);
    let until = until(cx, file, item, &name);
    let mut network = Network::of(name, hosts, until);
    let mut bound = Bound::new();
    let mut unread = Vec::new();
    for member in item.members() {
        match member {
            ast::NetworkMember::Host(_) | ast::NetworkMember::Until(_) => {}
            ast::NetworkMember::Link(item) => {
                let link = link(cx, file, &item, &network, &broken);
                network.links.extend(link);
            }
            ast::NetworkMember::Partition(item) => {
                let partition = partitions::read(cx, file, &item, &network, &broken);
                network.partitions.extend(partition);
            }
            ast::NetworkMember::Expect(item) => {
                let expectation = outputs::expectation(cx, file, &item, (&network, &broken), &mut bound);
                network.expectations.extend(expectation);
            }
            ast::NetworkMember::Tally(item) => {
                let tally = tallies::read(cx, file, &item, &network);
                network.tallies.extend(tally);
            }
            ast::NetworkMember::When(item) => {
                let when = outputs::when(cx, file, &item, (&network, &broken), &mut bound);
                network.whens.extend(when);
            }
            ast::NetworkMember::Frame(item) => {
                let fault = faults::read(cx, file, &item, &network, &broken);
                network.faults.extend(fault);
            }
            ast::NetworkMember::Outage(item) => match outages::outage(cx, file, &item, &network, &broken) {
                Some(outage) => network.outages.push(outage),
                None => unread.extend(outages::host_named(&item)),
            },
            ast::NetworkMember::Clock(item) => {
                let clock = outages::clock(cx, file, &item, &network, &broken);
                network.clocks.extend(clock);
            }
            ast::NetworkMember::Cast(item) => casts::line(cx, file, &item, &mut network),
            ast::NetworkMember::Promised(item) => casts::promised(cx, file, &item, &mut network),
            ast::NetworkMember::At(_) => {}
        }
    }
    for member in item.members() {
        let ast::NetworkMember::At(at) = member else { continue };
        let step = at_step(cx, file, &at, (&network, &broken), &mut bound);
        network.script.extend(step);
    }
    network.script.sort_by_key(|(time, _, _)| *time);
    network.outages.sort_by_key(|outage| outage.at);
    outages::in_turn(cx, &network, &unread);
    if broken.is_empty() {
        casts::complete(cx, item, &network);
    }
    too_late(cx, &network);
    if broken.is_empty() {
        faults::on_their_way(cx, &network);
        partitions::of_links(cx, file, item, &network);
        on_no_link(cx, &network);
    }
    network
}

/// Warns of hosts without a link in a network that has links.
fn on_no_link(cx: &mut Context, network: &Network) {
    let joined = |at: usize| network.links.iter().flat_map(|link| &link.devices).any(|(host, _)| *host as usize == at);
    let alone = |(at, host): &(usize, &Host)| !joined(*at) && !host.name.text.starts_with('_');
    let hosts = network.hosts.iter().enumerate().filter(|_| !network.links.is_empty());
    for (_, host) in hosts.filter(alone) {
        let Some(device) = cx.program.stacks.get(host.stack.index()).and_then(|stack| stack.devices.first()) else {
            continue;
        };
        let (name, device) = (&host.name.text, device.text.clone());
        let text = format!("host `{name}` is on no link");
        cx.report(
            Diagnostic::warning(codes::UNLINKED, text)
                .at(host.name.span, "nobody hears it, and it hears nobody")
                .help(format!("join it: `link lan {{ …, {name}.{device} }}`, or leave the host out"))
                .help(format!("if it is to be alone, call it `_{name}`")),
        );
    }
}

/// The hosts, and the names of those whose stack could not be resolved, so that their uses are not reported.
fn hosts(cx: &mut Context, file: FileId, item: &ast::Network) -> (Vec<Host>, Vec<String>) {
    let (mut hosts, mut broken): (Vec<Host>, Vec<String>) = (Vec::new(), Vec::new());
    for member in item.members() {
        let ast::NetworkMember::Host(host) = member else { continue };
        let Some(name) = tree::some_name(file, host.name()) else { continue };
        if let Some(first) = hosts.iter().find(|first| first.name.text == name.text) {
            cx.report(twice("host", &name, &first.name));
            // It should have had another name, which is unknown.
            broken.push(String::new());
            continue;
        }
        match host.stack().and_then(|part| stack_use::read(cx, file, &part, &[])) {
            Some((stack, settings)) => hosts.push(Host { name, stack, settings }),
            None => broken.push(name.text),
        }
    }
    (hosts, broken)
}

/// The time of the last `until 2 s`, in nanoseconds; 0 after a report.
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

fn link(cx: &mut Context, file: FileId, item: &ast::Link, network: &Network, broken: &[String]) -> Option<NetworkLink> {
    let name = tree::some_name(file, item.name())?;
    if let Some(first) = network.links.iter().find(|first| first.name.text == name.text) {
        cx.report(twice("link", &name, &first.name));
        return None;
    }
    let mut link = NetworkLink::of(name);
    for path in item.devices() {
        let Some(device) = device_of(cx, file, &path, network, broken) else { continue };
        joined_once(cx, (&path.syntax().text().to_string(), path.span(file)), device, (&link, network));
        link.devices.push(device);
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
        options::read(cx, file, &option, &mut link);
    }
    if link.queue > 0 && link.rate == 0 {
        let place = said.iter().find(|name| name.text == "queue").map_or(link.name.span, |name| name.span);
        let text = "nothing waits on a link without a `rate`";
        cx.error(codes::MISSING_ARGUMENT, text, place, "never full", "say how fast it is: `rate 10 Mbit/s`");
    }
    if let Some(place) = said.iter().find(|name| name.text == "reorder" && link.reorder > 0 && link.delay.1 == 0) {
        let text = "a frame that is overtaken takes longer by up to twice the `delay`, and this link has none";
        let help = "say how long its frames take: `delay 1 ms`";
        cx.error(codes::MISSING_ARGUMENT, text, place.span, "none is overtaken", help);
    }
    if item.devices().len() == 1 {
        let text = format!("link `{}` joins one device", link.name.text);
        let diagnostic = Diagnostic::error(codes::LONELY_LINK, text).at(link.name.span, "nobody hears it");
        cx.report(diagnostic.help("name those that it is joined with: `link lan { a.device, b.device }`"));
    }
    Some(link)
}

/// Reports a device that is already on a link: its frames would go both ways, or come back to it.
fn joined_once(
    cx: &mut Context,
    (text, span): (&str, Span),
    device: (u32, u32),
    (own, network): (&NetworkLink, &Network),
) {
    let links = network.links.iter().chain([own]);
    if let Some(link) = links.into_iter().find(|link| link.devices.contains(&device)) {
        let said = format!("`{}` is on link `{}` already", text.trim(), link.name.text);
        let help = "a device is on one link; a stack that is on two has two devices";
        let diagnostic = Diagnostic::error(codes::DEFINED_TWICE, said).at(span, "again here");
        cx.report(diagnostic.label(link.name.span, "this link").help(help));
    }
}

/// Reports what is expected after the network's end.
fn too_late(cx: &mut Context, network: &Network) {
    if network.until == 0 {
        return;
    }
    let steps = network.script.iter().map(|(at, _, step)| (*at, step.span));
    let expected = network.expectations.iter().map(|expectation| (expectation.until, expectation.span));
    let outages = network.outages.iter().map(|outage| (outage.at, outage.span));
    let tallies = network.tallies.iter().map(|tally| (tally.until, tally.span));
    for (at, span) in steps.chain(expected).chain(tallies).chain(outages).filter(|(at, _)| *at > network.until) {
        let text = format!("the network has ended before this: it runs for {} ms", network.until / 1_000_000);
        let diagnostic = Diagnostic::error(codes::TOO_LATE, text).at(span, "never happens");
        cx.report(diagnostic.help(format!("write `until {} ms` or more, or an earlier time", at.div_ceil(1_000_000))));
    }
}

/// `at 10 ms  a.udp.bind(1, 0, 4000)`
fn at_step(
    cx: &mut Context,
    file: FileId,
    at: &ast::AtStep,
    of: (&Network, &[String]),
    bound: &mut Bound,
) -> Option<(u64, u32, Step)> {
    let time = fixed::number(cx, file, &at.instant()?, Type::Duration)?;
    let (host, step) = outputs::input(cx, file, &at.call()?, of, &mut |host| bound.entry(host).or_default().clone())?;
    Some((time, host, step))
}
