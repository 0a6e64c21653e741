//! Inputs: the functions of the ports, and the one that takes any.

use mokume_reaction::*;

use super::header::{input_head, param_names};
use super::outputs::kinds;
use crate::plan::Plan;
use crate::text::{literal, Text};
use crate::tree::{computes, expression, word};
use crate::types::{c_type, mask};

/// The functions of the ports' inputs, and the one that takes any.
pub(crate) fn functions(plan: &Plan, text: &mut Text) {
    has_room(plan, text);
    for (port, names) in plan.automaton.ports.iter().zip(&plan.names.inputs) {
        for (input, name) in port.inputs.iter().zip(names) {
            input_function(plan, port, input, name, text);
        }
    }
    any_input(plan, text);
}

fn input_function(plan: &Plan, port: &Port, input: &PortInput, name: &str, text: &mut Text) {
    let automaton = plan.automaton;
    text.function(input_head(plan, name, &input.params));
    let names = param_names(&input.params);
    let arg = |place: usize| names[place].clone();
    text.line("mk_begin(&k->core, now);");
    let handler = automaton.handler_of(input.class, &Trigger::Event(input.handler.clone()));
    let unique = automaton.is_unique(input.class);
    let messages: Vec<usize> = (0..input.params.len()).filter(|place| input.params[*place].1 == Type::Msg).collect();
    let mut refusals = vec![format!("!has_room(k, {})", messages.len())];
    for (place, (_, ty)) in input.params.iter().enumerate() {
        match ty {
            Type::Ref(class) if place == 0 && !unique && *class == input.class => {
                let own = computes("mk_ref_of_handle", [word(arg(place))]);
                refusals.push(expression(&plan.lives(*class, own).negated()));
            }
            Type::Ref(class) => {
                refusals.push(format!("!mk_admits({}, {})", expression(&plan.class_at(*class)), arg(place)));
            }
            Type::Msg => refusals.push(format!("{}.size > mk_pool_longest(&k->core.pool)", arg(place))),
            _ => {}
        }
    }
    let (Some(handler), true) = (handler, unique || matches!(input.params.first(), Some((_, Type::Ref(_))))) else {
        for place in 0..input.params.len() {
            text.line(format!("(void){};", arg(place)));
        }
        text.line("return mk_refuse(&k->core);");
        return text.end_function();
    };
    text.line(format!("if ({})", refusals.join(" || ")));
    text.line("    return mk_refuse(&k->core);");
    let mut list = Vec::new();
    if unique && plan.takes_self(handler) {
        list.push("MK_SOLE".into());
    }
    for (place, (_, ty)) in input.params.iter().enumerate() {
        list.push(match ty {
            Type::Ref(_) => format!("mk_ref_of_handle({})", arg(place)),
            Type::Msg => format!("mk_message_new(&k->core.pool, {0}.at, {0}.size)", arg(place)),
            Type::Reason | Type::Bool => arg(place),
            other => {
                let width = other.width(automaton);
                match crate::types::is_whole(width) {
                    true => arg(place),
                    false => format!("({})({} & {})", c_type(automaton, *other), arg(place), literal(mask(width))),
                }
            }
        });
    }
    if port.kind == PortKind::Device && !messages.is_empty() {
        text.line(format!("k->core.accounts.received += {};", messages.len()));
    }
    let list: Vec<String> = ["k".to_string()].into_iter().chain(list).collect();
    text.line(format!("{}({});", plan.names.handlers[handler.index()], list.join(", ")));
    text.line("return mk_end(&k->core);");
    text.end_function();
}

fn any_input(plan: &Plan, text: &mut Text) {
    let stack = &plan.names.stack;
    text.function("static bool input(void *stack, uint64_t now, uint32_t port, uint32_t event, const mk_datum *args, uint32_t count)");
    text.line(format!("struct {stack} *k = stack;"));
    text.line("(void)now, (void)args, (void)count;");
    text.open("switch (port << 16 | event)");
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
            text.line(format!("    return {stack}_{name}({});", list.join(", ")));
        }
    }
    text.line("default:");
    text.line("    break;");
    text.close("");
    text.line("mk_begin(&k->core, now);");
    text.line("return mk_refuse(&k->core);");
    text.end_function();
}

/// Whether the pool has room for a reaction.
fn has_room(plan: &Plan, text: &mut Text) {
    text.function(format!("static MK_UNUSED bool has_room(const struct {} *k, uint32_t messages)", plan.names.stack));
    let pool = plan.automaton.pool;
    let peak = plan.automaton.composition.as_ref().map_or(0, |composition| composition.peak);
    if plan.automaton.composition.is_some() && pool > 0 {
        text.line(format!("if (k->core.accounts.held + {peak} > {pool})"));
        text.line("    return false;");
    }
    let peak = peak.max(1);
    text.line(format!("uint32_t needed = messages > {peak} ? messages : {peak};"));
    text.line("return k->core.pool.buffers_free >= needed && k->core.pool.messages_free >= needed;");
    text.end_function();
}
