//! Entries that return a call's last output, in place of handing it to a function of the program (`--returned`).
//!
//! It must keep: what is returned is the last output of its call, and nothing waits behind it. What cannot be returned
//! leaves by the program's functions, as it does in a call of the ordinary entry.

use mokume_reaction::*;

use super::signature::{differing, door_head, param_names, port_type};
use crate::body::{left_parameter, return_name, Form, Leaving, LEFT};
use crate::plan::Plan;
use crate::text::Text;
use crate::types::declare;

/// The name of an input's entry, without the stack's name; it differs from all inputs' names.
fn entry_name(plan: &Plan, input: &str) -> String {
    differing(format!("{input}_returned"), &plan.names.inputs)
}

/// The head of an input's entry.
pub(super) fn head(plan: &Plan, input: &str, params: &[(String, Type)]) -> String {
    let head = door_head(plan, &format!("{}_{}", plan.names.stack, entry_name(plan, input)), params);
    format!("{}, struct {}_returned *{LEFT})", head.trim_end_matches(')'), plan.names.stack)
}

/// Writes the type of what is returned to the header.
pub(super) fn declaration(plan: &Plan, text: &mut Text) {
    let (stack, names) = (&plan.names.stack, &plan.names);
    text.lines(
        "/* The last output of a call by an entry `…_returned`, if the call returns it. Octets are valid until the next call,\n * or, if they are a part of what was handed in, as long as that. */",
    );
    text.open(format!("struct {stack}_returned"));
    text.open("enum");
    text.line(format!("{} = 0,", names.nothing_returned));
    names.returned.iter().flatten().for_each(|name| text.line(format!("{name},")));
    text.close(" output;");
    let outputs =
        || plan.automaton.ports.iter().zip(&names.outputs).flat_map(|(port, names)| port.outputs.iter().zip(names));
    let with_params = || outputs().filter(|(output, _)| !output.params.is_empty());
    if with_params().next().is_some() {
        text.open("union");
        for (output, name) in with_params() {
            text.open("struct");
            for (field, (_, ty)) in param_names(&output.params).iter().zip(&output.params) {
                text.line(format!("{};", declare(port_type(plan.automaton, *ty), field)));
            }
            text.close(&format!(" {name};"));
        }
        text.close(";");
    }
    text.close(";");
    text.line("");
}

/// Writes the function that returns an output, or hands it over as otherwise.
pub(super) fn function(plan: &Plan, leaving: &Leaving, (list, same): (&str, &str), text: &mut Text) {
    let (port, event) = leaving.outputs[0].output;
    let names = &plan.names;
    text.function(format!(
        "static MK_UNUSED MK_IN_PLACE bool {}(struct {} *k{list}, {})",
        return_name(plan, leaving),
        names.stack,
        left_parameter(plan)
    ));
    text.line(format!("if ({LEFT} == NULL || MK_UNLIKELY(!mk_may_return(&k->core)))"));
    text.line(format!("    return {}(k{same});", crate::body::give_name(plan, leaving)));
    let params = &plan.automaton.ports[port.index()].outputs[event as usize].params;
    let messages = params.iter().filter(|(_, ty)| *ty == Type::Msg).count();
    if messages > 0 {
        text.line(format!("k->core.accounts.delivered += {messages};"));
    }
    text.line(format!("{LEFT}->output = {};", names.returned[port.index()][event as usize]));
    let member = &names.outputs[port.index()][event as usize];
    for (place, (field, (_, ty))) in param_names(params).iter().zip(params).enumerate() {
        let own = format!("a{place}");
        let value = match (ty, leaving.outputs[0].form) {
            (Type::Msg, Form::Fronted) => {
                text.line(format!("mk_copy_behind({own} + {own}_front, {own}_at, {own}_size);"));
                format!("(mk_octets){{{own}, {own}_front + {own}_size}}")
            }
            (Type::Msg, _) => format!("(mk_octets){{{own}, {own}_size}}"),
            (Type::Ref(_), _) => format!("mk_handle_of({own})"),
            _ => own,
        };
        text.line(format!("{LEFT}->{member}.{field} = {value};"));
    }
    text.line("return true;");
    text.end_function();
}
