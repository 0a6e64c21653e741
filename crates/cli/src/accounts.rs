//! Prints what became of a stack's messages after a run.

use std::collections::BTreeMap;

use mokume_driver::live::Traffic;
use mokume_driver::run;
use mokume_reaction::{Accounts, Automaton};
use mokume_simulate::Befell;
use serde_json::{json, Value};

use crate::print::Printer;

/// Prints a stack's totals: what became of its messages.
pub fn print_accounts(
    whose: (&str, &str),
    automaton: &Automaton,
    accounts: &Accounts,
    report: Option<&run::Report>,
    printer: &Printer,
) {
    let named = |list: &[(mokume_reaction::ReasonId, u64)]| -> BTreeMap<String, u64> {
        list.iter().map(|(reason, count)| (automaton.reasons[reason.index()].name.clone(), *count)).collect()
    };
    let (dropped, consumed) = (named(&accounts.dropped), named(&accounts.consumed));
    let counters: BTreeMap<&str, u64> = accounts.counters.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    if printer.is_json() {
        let mut object = json!({ whose.0: whose.1, "stack": automaton.name, "received": accounts.received, "delivered": accounts.delivered,
            "held": accounts.held, "merged": accounts.merged, "gone": accounts.gone, "refused": accounts.refused,
            "dropped": dropped, "consumed": consumed, "counters": counters });
        if let (Some(report), Value::Object(fields)) = (report, &mut object) {
            fields.insert("frames_in".into(), json!(report.traffic.received));
            fields.insert("frames_out".into(), json!(report.traffic.sent));
            fields.insert("frames_unsent".into(), json!(report.traffic.unsent));
            fields.insert("reports".into(), json!(report.reports));
            if !report.weather.is_empty() {
                fields.insert("weather".into(), weather(report));
            }
        }
        printer.object(&object);
        return;
    }
    if let Some(report) = report {
        let Traffic { received, sent, unsent } = report.traffic;
        printer.line(format!("frames: {received} in, {sent} out, {unsent} not taken by a device"));
    }
    for (device, befell) in report.into_iter().flat_map(|report| &report.weather) {
        run::weather_lines(device, befell).iter().for_each(|line| printer.line(line));
    }
    let Accounts { delivered, held, gone, refused, .. } = accounts;
    printer.line(format!(
        "messages: {delivered} left by a port, {held} held, {gone} gone with their session or object, {refused} refused"
    ));
    for (name, list) in [("dropped", dropped), ("consumed", consumed)] {
        for (reason, count) in list {
            printer.line(format!("  {name:<9} {count:>8}  {reason}"));
        }
    }
    for (name, count) in counters.iter().filter(|(_, count)| **count > 0) {
        printer.line(format!("  counted   {count:>8}  {name}"));
    }
}

/// What the simulated weather did to packets, by device and direction, as an object.
fn weather(report: &run::Report) -> Value {
    let way = |befell: &Befell| {
        json!({ "frames": befell.frames, "lost": befell.lost, "full": befell.full, "twice": befell.twice, "late": befell.late,
            "turned": befell.turned, "coming": befell.coming })
    };
    let of =
        |(device, [came, went]): &(String, [Befell; 2])| json!({ "device": device, "in": way(came), "out": way(went) });
    Value::Array(report.weather.iter().map(of).collect())
}
