//! Names in a network: hosts, their devices, and names that their outputs bind.

use std::collections::BTreeMap;

use mokume_base::{Diagnostic, FileId};
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::context::Context;
use crate::resolve::test::steps::Handles;
use crate::{codes, lost, suggest, tree};

/// The names that outputs of each host bind.
pub(super) type Bound = BTreeMap<u32, Handles>;

/// The index of the host that a name means; reports if there is none.
pub(super) fn host_of(cx: &mut Context, network: &Network, broken: &[String], name: &Name) -> Option<usize> {
    let found = network.hosts.iter().position(|host| host.name.text == name.text);
    found.iter().for_each(|at| cx.mention(name, network.hosts[*at].name.span));
    if found.is_none() && !broken.contains(&name.text) && !broken.contains(&String::new()) {
        let names = network.hosts.iter().map(|host| host.name.text.as_str());
        let text = format!("this network has no host `{}`", name.text);
        let mut diagnostic = Diagnostic::error(codes::UNKNOWN_STACK, text).at(name.span, "unknown");
        let help = suggest::help(&name.text, names);
        diagnostic.helps.push(help.unwrap_or_else(|| format!("make it: `host {} = Stack(…)`", name.text)));
        cx.report(diagnostic.lacks(lost::within(network.name.span, &name.text)));
    }
    found
}

/// `a.device`: host index, device index.
pub(super) fn device_of(
    cx: &mut Context,
    file: FileId,
    path: &ast::Path,
    network: &Network,
    broken: &[String],
) -> Option<(u32, u32)> {
    let parts = tree::parts(file, path);
    let [host, device] = parts.as_slice() else {
        let text = "a link joins devices of hosts";
        let host = parts.first().and_then(|host| network.hosts.iter().find(|known| known.name.text == host.text));
        let device = host.and_then(|host| cx.program.stacks[host.stack.index()].devices.first());
        let help = match host.zip(device) {
            Some((host, device)) => format!("write `{}.{}`", host.name.text, device.text),
            None => "write `a.device`".to_string(),
        };
        cx.error(codes::UNKNOWN_PORT, text, path.span(file), "no device", &help);
        return None;
    };
    let host = host_of(cx, network, broken, host)?;
    let stack = &cx.program.stacks[network.hosts[host].stack.index()];
    let found = stack.devices.iter().position(|known| known.text == device.text);
    found.iter().for_each(|at| cx.mention(device, stack.devices[*at].span));
    if found.is_none() {
        let names: Vec<String> = stack.devices.iter().map(|device| device.text.clone()).collect();
        let text = format!("stack `{}` has no device `{}`", stack.name.text, device.text);
        let mut diagnostic = Diagnostic::error(codes::UNKNOWN_PORT, text)
            .at(device.span, "unknown")
            .lacks(lost::named(stack, &device.text))
            .loses(lost::links(&network.hosts[host].name));
        diagnostic.helps.extend(suggest::help(&device.text, names.iter().map(String::as_str)));
        cx.report(diagnostic);
    }
    Some((host as u32, found? as u32))
}
