//! Partitions of a network: `partition a, b  from 1 s until 2 s`.

use mokume_base::{Diagnostic, FileId};
use mokume_syntax::ast::{self, AstNode, Expr as Tree};

use super::named::host_of;
use crate::program::*;
use crate::resolve::context::Context;
use crate::resolve::expr::fixed;
use crate::{codes, lost, tree};

/// `partition a, b  from 1 s until 2 s`
pub(super) fn read(
    cx: &mut Context,
    file: FileId,
    item: &ast::Partition,
    network: &Network,
    broken: &[String],
) -> Option<Partition> {
    let names: Vec<Name> = item.hosts().into_iter().filter_map(|name| tree::some_name(file, Some(name))).collect();
    cx.given_once_each(&names);
    let hosts: Vec<u32> =
        names.iter().filter_map(|name| host_of(cx, network, broken, name)).map(|at| at as u32).collect();
    let mut time = |value: Option<Tree>| fixed::number(cx, file, &value?, Type::Duration);
    let (from, until) = (time(item.from())?, time(item.until())?);
    let span = names.first()?.span;
    if from >= until {
        let (text, label) = match from == until {
            true => ("this partition ends when it begins", "from and to one time"),
            false => ("this partition ends before it begins", "from later to earlier"),
        };
        cx.error(codes::TOO_BIG, text, span, label, "write the earlier time first");
    }
    if broken.is_empty() && (0..network.hosts.len() as u32).all(|host| hosts.contains(&host)) {
        let help = "name those of one side: `partition a from 1 s until 2 s`";
        cx.error(codes::LONELY_LINK, "this partition leaves nobody on the other side", span, "all hosts", help);
    }
    if network.until > 0 && until > network.until {
        let text = format!("the network has ended before this partition: it runs for {} ms", network.until / 1_000_000);
        let help = format!("write `until {} ms` or less", network.until / 1_000_000);
        cx.error(codes::TOO_LATE, text, item.span(file), "ends too late", &help);
    }
    let partition = Partition { hosts, from, until };
    if from < until && network.partitions.iter().any(|known| covers(network, known, &partition)) {
        let diagnostic = Diagnostic::error(codes::DEFINED_TWICE, "these hosts are parted from the others by then")
            .at(item.span(file), "again here");
        cx.report(diagnostic.help("leave one of the lines out, or give it a time of its own"));
    }
    Some(partition)
}

/// Whether a partition separates the same hosts, or all others, for at least as long.
fn covers(network: &Network, known: &Partition, new: &Partition) -> bool {
    let all = 0..network.hosts.len() as u32;
    let in_known = |host: u32| known.hosts.contains(&host);
    let in_new = |host: u32| new.hosts.contains(&host);
    let same = all.clone().all(|host| in_known(host) == in_new(host));
    let turned = all.clone().all(|host| in_known(host) != in_new(host));
    (same || turned) && known.from <= new.from && new.until <= known.until
}

/// Reports hosts that a partition cannot separate from anything, as they have no link.
pub(super) fn of_links(cx: &mut Context, file: FileId, item: &ast::Network, network: &Network) {
    for member in item.members() {
        let ast::NetworkMember::Partition(partition) = member else { continue };
        for name in partition.hosts().into_iter().filter_map(|name| tree::some_name(file, Some(name))) {
            let Some(at) = network.hosts.iter().position(|host| host.name.text == name.text) else { continue };
            let mut devices = network.links.iter().flat_map(|link| &link.devices);
            if devices.any(|(host, _)| *host == at as u32) {
                continue;
            }
            let text = format!("`{}` is parted from nobody: it is on no link", name.text);
            let help = "leave it out, or name a device of it on a link: `link lan { a.device, b.device }`";
            let found = Diagnostic::error(codes::LONELY_LINK, text).at(name.span, "on no link").help(help);
            let of = &network.hosts[at].name;
            cx.report(found.needs(lost::links(of)));
        }
    }
}
