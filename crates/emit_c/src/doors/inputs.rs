//! Inputs: the functions of the ports, and the one that takes any input.

use mokume_reaction::border::named;
use mokume_reaction::*;

use super::outputs::kinds;
use super::signature::{door_head, input_head, param_names};
use super::{batched, border, returned};
use crate::body::LEFT;
use crate::plan::Plan;
use crate::text::{literal, Text};
use crate::tree::{expression, word};
use crate::types::{c_type, mask};

/// Writes the functions of the ports' inputs, and the one that takes any input.
pub(crate) fn functions(plan: &Plan, text: &mut Text) {
    for (port, names) in plan.automaton.ports.iter().zip(&plan.names.inputs) {
        for (input, name) in port.inputs.iter().zip(names) {
            input_function(plan, port, input, name, text);
        }
    }
    any_input(plan, text);
}

fn input_function(plan: &Plan, port: &Port, input: &PortInput, name: &str, text: &mut Text) {
    let automaton = plan.automaton;
    let names = param_names(&input.params);
    let whole = format!("{}_{name}", plan.names.stack);
    let handler = automaton.handler_of(input.class, &Trigger::Event(input.handler.clone()));
    let path = handler.and_then(|handler| crate::body::path_of(automaton, handler));
    let list: Vec<String> = ["k".to_string(), "now".into()].into_iter().chain(names.iter().cloned()).collect();
    let is_brisk = path.is_some_and(|path| crate::body::has_brisk(automaton, &automaton.paths[path]));
    let ways = |left: &'static str| {
        path.map(|path| Way {
            function: format!("path_{path}"),
            has_begun: is_brisk,
            last: plan.returned.then_some(left),
        })
    };
    if let Some(path) = path.filter(|_| is_brisk) {
        text.function(format!("static MK_APART {}", door_head(plan, &format!("{BEHIND}{whole}"), &input.params)));
        let apart = Way { function: format!("apart_{path}"), has_begun: false, last: None };
        body(plan, (port, input), &names, Some(apart), text);
    }
    let is_batched = batched::has(plan, input);
    text.function(match is_batched {
        true => format!("static MK_AT_END {}", door_head(plan, &format!("{}{whole}", batched::ONCE), &input.params)),
        false => input_head(plan, name, &input.params),
    });
    if is_brisk {
        text.line("if (MK_UNLIKELY(!mk_begin_brisk(&k->core, now)))");
        text.line(format!("    return {BEHIND}{whole}({});", list.join(", ")));
    }
    body(plan, (port, input), &names, ways("NULL"), text);
    if is_batched {
        text.function(input_head(plan, name, &input.params));
        text.line(format!("return {}{whole}({});", batched::ONCE, list.join(", ")));
        text.end_function();
        batched::function(plan, input, name, text);
    }
    if !plan.returned {
        return;
    }
    text.function(returned::head(plan, name, &input.params));
    text.line(format!("{}->output = {};", LEFT, plan.names.nothing_returned));
    if path.is_none() {
        text.line(format!("return {whole}({});", list.join(", ")));
        return text.end_function();
    }
    if is_brisk {
        text.line("if (MK_UNLIKELY(!mk_begin_brisk(&k->core, now)))");
        text.line(format!("    return {BEHIND}{whole}({});", list.join(", ")));
    }
    body(plan, (port, input), &names, ways(LEFT), text);
}

/// The function of a path, as an input calls it.
struct Way {
    function: String,
    /// Whether the reaction has begun already.
    has_begun: bool,
    /// An argument behind those of the event.
    last: Option<&'static str>,
}

/// The prefix of an inner function for an input with a path, if something comes before its reaction or after it.
const BEHIND: &str = "mk_behind_";

/// The reason for which an application's port drops what exceeds the credit; `None` for inputs that need no credit.
fn no_credit(automaton: &Automaton, port: &Port, input: &PortInput) -> Option<usize> {
    if port.kind != PortKind::Application || !matches!(input.event.as_str(), "send" | "send_to") {
        return None;
    }
    let name = format!("{}.application.no_credit", port.name);
    automaton.reasons.iter().position(|reason| reason.name == name)
}

/// Runs the handler of an input, and ends the reaction. The function returns `false` if the handler dropped the message because it
/// exceeds the credit. What is dropped behind the handler was sent by calls of the program's own.
pub(crate) fn run_handler(plan: &Plan, handler: HandlerId, call: &str, text: &mut Text) {
    let automaton = plan.automaton;
    let inputs = automaton.ports.iter().flat_map(|port| port.inputs.iter().map(move |input| (port, input)));
    let is_for_it =
        |input: &PortInput| automaton.handler_of(input.class, &Trigger::Event(input.handler.clone())) == Some(handler);
    let mut reasons =
        inputs.filter(|(_, input)| is_for_it(input)).filter_map(|(port, input)| no_credit(automaton, port, input));
    let Some(reason) = reasons.next() else {
        text.line(format!("{call};"));
        text.line("return mk_end(&k->core);");
        return;
    };
    text.line(format!("uint64_t before = k->core.accounts.dropped[{reason}];"));
    text.line(format!("{call};"));
    text.line(format!("bool is_within = k->core.accounts.dropped[{reason}] == before;"));
    text.line("return mk_end(&k->core) && is_within;");
}

/// The body of an input's function. `path`: the function of its path, if it has one.
fn body(plan: &Plan, (port, input): (&Port, &PortInput), names: &[String], path: Option<Way>, text: &mut Text) {
    let automaton = plan.automaton;
    let handler = automaton.handler_of(input.class, &Trigger::Event(input.handler.clone()));
    let unique = automaton.is_unique(input.class);
    let (Some(handler), true) = (handler, unique || matches!(input.params.first(), Some((_, Type::Ref(_))))) else {
        text.line("mk_begin(&k->core, now);");
        names.iter().for_each(|name| text.line(format!("(void){name};")));
        text.line("return mk_refuse(&k->core);");
        return text.end_function();
    };
    let args = arguments(automaton, input, names);
    let guards = border::guards(plan, &named(&input.params), &args);
    let mut refusals = refusals(plan, input, names, path.as_ref().is_some_and(|way| way.has_begun));
    refusals.extend(guards.refusals);
    if !refusals.is_empty() {
        text.line(format!("if (MK_UNLIKELY({}))", refusals.join(" || ")));
        text.line("    return mk_refuse(&k->core);");
    }
    let messages = messages(input);
    if port.kind == PortKind::Device && messages > 0 {
        text.line(format!("k->core.accounts.received += {messages};"));
    }
    let own = (unique && plan.takes_self(handler)).then(|| "MK_SOLE".to_string());
    let types = input.params.iter().map(|(_, ty)| c_type(automaton, *ty));
    let args: Vec<String> = args
        .into_iter()
        .zip(guards.there.iter().chain(std::iter::repeat(&None)))
        .zip(types)
        .map(|((arg, there), ty)| match there {
            Some(there) => format!("({ty})({there} ? {arg} : 0)"),
            None => arg,
        })
        .collect();
    if let Some(Way { function, last, .. }) = path {
        let octets = input.params.iter().zip(names).zip(args).map(|(((_, ty), name), arg)| match ty {
            Type::Msg => format!("{name}.at, {name}.size"),
            _ => arg,
        });
        let last = last.map(str::to_owned);
        let list: Vec<String> = ["k".to_string()].into_iter().chain(own).chain(octets).chain(last).collect();
        let call = format!("{function}({})", list.join(", "));
        match no_credit(automaton, port, input).filter(|reason| path_drops(automaton, handler, *reason)) {
            Some(reason) => {
                text.line(format!("uint64_t before = k->core.accounts.dropped[{reason}];"));
                text.line(format!("bool taken = {call};"));
                text.line(format!("return taken && k->core.accounts.dropped[{reason}] == before;"));
            }
            None => text.line(format!("return {call};")),
        }
        return text.end_function();
    }
    let list: Vec<String> = ["k".to_string()].into_iter().chain(own).chain(args).collect();
    run_handler(plan, handler, &format!("{}({})", plan.names.handlers[handler.index()], list.join(", ")), text);
    text.end_function();
}

/// Whether the path of a handler, or a function that it calls, drops for a reason.
fn path_drops(automaton: &Automaton, handler: HandlerId, reason: usize) -> bool {
    let Some(path) = crate::body::path_of(automaton, handler) else { return false };
    let (mut bodies, mut called) = (vec![&automaton.paths[path].body], vec![false; automaton.functions.len()]);
    while let Some(body) = bodies.pop() {
        let ops = || body.blocks.iter().flat_map(|block| &block.ops).map(|op| &op.kind);
        let drops = |op: &OpKind| {
            matches!(op, OpKind::DropFor { .. })
                || matches!(op, OpKind::Drop { reason: other, .. } if other.index() == reason)
        };
        if ops().any(drops) {
            return true;
        }
        let attempts = body.blocks.iter().filter_map(|block| block.terminator.attempt());
        for function in ops().filter_map(OpKind::function).chain(attempts.filter_map(|op| op.function())) {
            if !std::mem::replace(&mut called[function.index()], true) {
                bodies.push(&automaton.functions[function.index()].body);
            }
        }
    }
    false
}

fn messages(input: &PortInput) -> usize {
    input.params.iter().filter(|(_, ty)| *ty == Type::Msg).count()
}

/// The conditions in C under which an input is refused; one of them is enough.
fn refusals(plan: &Plan, input: &PortInput, names: &[String], has_begun: bool) -> Vec<String> {
    let unique = plan.automaton.is_unique(input.class);
    let begins = (!has_begun).then(|| "!mk_begin(&k->core, now)".to_string());
    let mut refusals: Vec<String> = begins.into_iter().collect();
    if messages(input) > peak(plan.automaton).max(1) as usize {
        refusals.push(format!("!mk_has_room(&k->core, {})", messages(input)));
    }
    for (place, ((_, ty), name)) in input.params.iter().zip(names).enumerate() {
        match ty {
            Type::Ref(class) if place == 0 && !unique && *class == input.class => {
                refusals.push(format!("!{}", expression(&plan.lives_by(*class, word(name.clone())))));
            }
            Type::Ref(class) => {
                refusals.push(format!("!mk_admits({}, {name})", expression(&plan.class_at(*class))));
            }
            Type::Msg => refusals.push(format!("{name}.size > mk_pool_longest(&k->core.pool)")),
            _ => {}
        }
    }
    refusals
}

fn arguments(automaton: &Automaton, input: &PortInput, names: &[String]) -> Vec<String> {
    input.params.iter().zip(names).map(|((_, ty), name)| argument(automaton, *ty, name)).collect()
}

/// An argument of an input in the form that its handler takes: handles as references, octets as a message, numbers cut
/// to their width.
fn argument(automaton: &Automaton, ty: Type, name: &str) -> String {
    match ty {
        Type::Ref(_) => format!("mk_ref_of_handle({name})"),
        Type::Msg => format!("mk_message_new(&k->core.pool, {name}.at, {name}.size)"),
        Type::Reason | Type::Bool => name.to_owned(),
        other => match crate::types::is_whole(other.width(automaton)) {
            true => name.to_owned(),
            false => {
                format!("({})({name} & {})", c_type(automaton, other), literal(mask(other.width(automaton))))
            }
        },
    }
}

fn any_input(plan: &Plan, text: &mut Text) {
    let stack = &plan.names.stack;
    text.function("static bool input(void *stack, uint64_t now, uint32_t port, uint32_t event, const mk_datum *args, uint32_t count)");
    text.line(format!("struct {stack} *k = stack;"));
    text.line("uint64_t refused = k->core.accounts.refused;");
    text.line("(void)now, (void)args, (void)count, (void)refused;");
    text.open("switch (event > 0xffff ? UINT64_MAX : (uint64_t)port << 16 | event)");
    for (p, (port, names)) in plan.automaton.ports.iter().zip(&plan.names.inputs).enumerate() {
        for (e, (input, name)) in port.inputs.iter().zip(names).enumerate() {
            text.line(format!("case {}:", (p << 16) | e));
            let mut list = vec!["k".to_string(), "now".into()];
            list.extend(input.params.iter().enumerate().map(|(place, (_, ty))| match ty {
                Type::Msg => format!("args[{place}].octets"),
                Type::Ref(_) => format!("args[{place}].handle"),
                Type::Bool => format!("args[{place}].word & 1u"),
                other => format!("({})args[{place}].word", c_type(plan.automaton, *other)),
            }));
            text.line(format!("    if (!mk_data_are(args, count, {}))", kinds(&input.params)));
            text.line("        break;");
            let call = format!("{stack}_{name}({})", list.join(", "));
            // A program that only uses the tables finds in the accounts what exceeded the credit: the port took it.
            match no_credit(plan.automaton, port, input) {
                Some(_) => text.line(format!("    return {call} || k->core.accounts.refused == refused;")),
                None => text.line(format!("    return {call};")),
            }
        }
    }
    text.line("default:");
    text.line("    break;");
    text.close("");
    text.line("mk_begin(&k->core, now);");
    text.line("return mk_refuse(&k->core);");
    text.end_function();
}

/// The number of messages that a reaction may need; 0: unknown.
pub(super) fn peak(automaton: &Automaton) -> u32 {
    automaton.composition.as_ref().map_or(0, |composition| composition.peak)
}
