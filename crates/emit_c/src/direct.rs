//! Paths taken straight from the port: no message object, no list of outputs, no end of the reaction to look after.
//!
//! A path qualifies when every message that it hands on is one that came, with octets in front, once; and nothing is kept. It
//! is then written a second time, as a function that says whether it was taken; if not, the event goes the ordinary way.

use std::collections::BTreeSet;

use mokume_reaction::*;

use crate::plan::Plan;
use crate::text::Text;
use crate::types::{c_type, declare};

pub(crate) fn is_direct(path: &Path) -> bool {
    let mut handed_on = BTreeSet::new();
    let messages = path.outs.iter().flat_map(|out| &out.args).filter_map(|arg| match arg {
        PathArg::Message(message) => Some(message),
        _ => None,
    });
    for message in messages {
        let [front @ .., Piece::Message { message: came, .. }] = message.octets.as_slice() else { return false };
        let plain = !front.iter().any(|piece| matches!(piece, Piece::Message { .. }));
        if !plain || !message.headers.is_empty() || !handed_on.insert(*came) {
            return false;
        }
    }
    path.commit.iter().all(|effect| match effect {
        Effect::Keep { .. } => false,
        Effect::Drop { message, .. } | Effect::Consume { message, .. } => !handed_on.contains(message),
        _ => true,
    })
}

pub(crate) fn name(plan: &Plan, path: usize) -> String {
    format!("direct_{}", crate::path::name(plan, path))
}

/// The outputs of such paths, handed over at once.
pub(crate) fn outputs(plan: &Plan, text: &mut Text) {
    let paths = plan.automaton.paths.iter().filter(|path| is_direct(path));
    let used: BTreeSet<(PortId, u32)> =
        paths.flat_map(|path| path.outs.iter().map(|out| (out.port, out.event))).collect();
    for (port, event) in used {
        let output = &plan.automaton.ports[port.index()].outputs[event as usize];
        let name = &plan.names.outputs[port.index()][event as usize];
        let mut list = vec![format!("struct {} *k", plan.names.stack)];
        let (mut args, mut data) = (vec!["k->ports.context".to_string()], Vec::new());
        for (place, (_, ty)) in output.params.iter().enumerate() {
            list.push(declare(c_type(plan.automaton, *ty), &format!("a{place}")));
            let (arg, datum) = match ty {
                Type::Msg => {
                    let octets = format!("(mk_octets){{mk_data(a{place}), a{place}->view.size}}");
                    (octets.clone(), format!("{{MK_OCTETS, 0, {{0, 0}}, {octets}}}"))
                }
                Type::Ref(_) => {
                    let handle = format!("mk_handle_of(a{place})");
                    (handle.clone(), format!("{{MK_HANDLE, 0, {handle}, {{NULL, 0}}}}"))
                }
                _ => (format!("a{place}"), format!("{{MK_WORD, a{place}, {{0, 0}}, {{NULL, 0}}}}")),
            };
            args.push(arg);
            data.push(datum);
        }
        if data.is_empty() {
            data.push("{MK_WORD, 0, {0, 0}, {NULL, 0}}".into());
        }
        text.function(format!("static MK_UNUSED void now_{name}({})", list.join(", ")));
        let messages = output.params.iter().filter(|(_, ty)| *ty == Type::Msg).count();
        if messages > 0 {
            text.line(format!("k->core.accounts.delivered += {messages};"));
        }
        text.open(format!("if (k->ports.{name})"));
        text.line(format!("k->ports.{name}({});", args.join(", ")));
        text.close(" else if (k->ports.any) {");
        text.indent();
        text.line(format!("const mk_datum data[] = {{{}}};", data.join(", ")));
        text.line(format!("k->ports.any(k->ports.context, {}, {event}, data, {});", port.0, output.params.len()));
        text.close("");
        text.end_function();
    }
}

/// In a port's input function: the paths that may be taken at once. `args` are what a path is called with; octets by their place.
pub(crate) fn entry(
    plan: &Plan,
    port: PortId,
    event: u32,
    args: &[String],
    octets: &[(usize, String)],
    text: &mut Text,
) {
    let paths: Vec<usize> = crate::path::of_event(plan, port, event).collect();
    let direct: Vec<usize> = paths.into_iter().filter(|path| is_direct(&plan.automaton.paths[*path])).collect();
    // Two messages at once are rare, and would need two buffers.
    if direct.is_empty() || octets.len() > 1 {
        return;
    }
    text.open("if (MK_LIKELY(mk_may_go_directly(&k->core)))");
    let mut args = args.to_vec();
    let mut lent = "true".to_string();
    for (place, name) in octets {
        text.line("mk_message lent;");
        args[*place] = "&lent".into();
        lent = format!("mk_lend(&k->core.pool, &lent, {name})");
    }
    text.open(format!("if ({lent})"));
    let tries: Vec<String> = direct.iter().map(|path| format!("{}({})", name(plan, *path), args.join(", "))).collect();
    text.line(format!("bool taken = {};", tries.join(" || ")));
    if !octets.is_empty() {
        text.line("mk_give_back(&k->core.pool, &lent);");
    }
    text.line("if (MK_LIKELY(taken))");
    text.line("    return mk_end_directly(&k->core);");
    text.close("");
    text.close("");
}
