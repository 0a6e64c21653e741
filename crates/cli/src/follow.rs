//! `mokume dissect --follow`: compares a capture with a stack that runs.

use std::collections::BTreeMap;

use mokume_base::world::RealWorld;
use mokume_driver::compile::{self, Checked};
use mokume_driver::dissect::link::Front;
use mokume_driver::dissect::{capture, filter};
use mokume_driver::follow::{json, text, Host, Report, Taken};
use mokume_driver::machines::Backend;
use mokume_driver::{run, sim, Failure};

use crate::arguments::Follow;
use crate::common::refused;
use crate::dissect::{are_there, numbers};
use crate::print::{Printer, Status};

/// The options of the command line.
pub struct Asked<'a> {
    /// The name of the capture.
    pub file: &'a str,
    pub stack: Option<&'a str>,
    /// The packets to show: by number, and by content. The stack follows all packets.
    pub which: (Option<&'a str>, Option<&'a str>),
    pub how: &'a Follow,
}

/// Follows the whole capture, then prints it. The exit code is 1 if an arriving packet was dropped, was refused or
/// caused a report.
pub fn follow(checked: &Checked, asked: &Asked<'_>, printer: &Printer) -> Result<i32, Failure> {
    let seed = asked.how.seed.or(checked.manifest.defaults.seed).unwrap_or(1);
    let whole = capture::read(asked.file)?;
    if asked.how.host.is_some() || asked.how.network.is_some() {
        let network = sim::choose(checked, asked.how.network.as_deref())?;
        let stacks = sim::sound_stacks(checked, network, &RealWorld);
        let stacks = stacks.map_err(|wrong| refused(&wrong, checked, printer))?;
        let prepared = sim::Prepared::new(checked, network, &stacks, Backend::Interpreter)?;
        let host = prepared.host_named(asked.how.host.as_deref())?;
        return along(&Host::new(&Taken::At { prepared: &prepared, host }, seed)?, whole, asked, printer);
    }
    let stack = compile::choose_stack(checked, asked.stack)?;
    let (compiled, diagnostics) = compile::compile(checked, stack, &RealWorld);
    let compiled = compiled.ok_or_else(|| refused(&diagnostics, checked, printer))?;
    let set = asked.how.set.iter().map(|text| run::setting(text)).collect::<Result<Vec<_>, _>>()?;
    let host = Host::new(&Taken::Stack { compiled: &compiled, set: &set }, seed);
    along(&host.map_err(|failure| or_a_host(failure, checked))?, whole, asked, printer)
}

/// What a stack lacks by itself, a host of a network may have: says which there are.
fn or_a_host(failure: Failure, checked: &Checked) -> Failure {
    let names: Vec<String> = checked
        .program
        .networks
        .iter()
        .flat_map(|network| network.hosts.iter().map(move |host| (network, host)))
        .map(|(network, host)| format!("`--network {} --host {}`", network.name.text, host.name.text))
        .collect();
    let Some(first) = names.first() else { return failure };
    let more = if names.len() > 1 { format!(" ({} hosts in all)", names.len()) } else { String::new() };
    let help = format!("{}; or name the host that it was taken at: {first}{more}", failure.help);
    Failure { help, ..failure }
}

fn along(host: &Host<'_>, whole: capture::Capture, asked: &Asked<'_>, printer: &Printer) -> Result<i32, Failure> {
    let (numbers, shown) = asked.which;
    let numbers = numbers.map_or(Ok(Vec::new()), self::numbers)?;
    let filter = |text: &str| filter::read(&host.dissector, text);
    let (shown, sent) = (shown.map(filter).transpose()?, asked.how.sent.as_deref().map(filter).transpose()?);
    let (mut status, all) = (Status::new(printer), whole.packets.len());
    let report = host.follow(&whole.packets, sent.as_ref(), &mut |done| {
        status.show(|| format!("{done} of {all} packets followed"));
    })?;
    status.end();
    let packets: BTreeMap<u64, &capture::Packet> = whole.packets.iter().map(|packet| (packet.number, packet)).collect();
    let is_shown = |number: u64| {
        let is_meant = numbers.is_empty() || numbers.iter().any(|(first, last)| (*first..=*last).contains(&number));
        let takes = |shown: &filter::Filter| {
            let packet = packets[&number];
            shown.takes(&host.dissector.dissect_cut(&packet.octets, packet.length as usize, Front::Frame(0)))
        };
        is_meant && shown.as_ref().is_none_or(takes)
    };
    print(&report, &host.name, is_shown, printer);
    are_there(&numbers, whole.packets.iter().map(|packet| packet.number).max().unwrap_or(0), asked.file)?;
    match whole.damage {
        // All that could be read was followed, but an incomplete capture is still an error.
        Some(damage) => Err(damage),
        None => Ok(i32::from(report.is_amiss())),
    }
}

fn print(report: &Report, host: &str, is_shown: impl Fn(u64) -> bool, printer: &Printer) {
    for seen in report.seen.iter().filter(|seen| is_shown(seen.packet)) {
        match printer.is_json() {
            true => printer.object(&json::packet(seen)),
            false => printer.line(text::packet(seen, printer.ink)),
        }
    }
    match printer.is_json() {
        true => printer.object(&json::end(report, host)),
        false => printer.line(text::end(report, host)),
    }
}
