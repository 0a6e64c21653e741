//! Outputs: what joins those that leave when the reaction is over, and how they are handed to the program.

use mokume_reaction::*;

use crate::plan::Plan;
use crate::text::Text;
use crate::types::{c_type, declare, from_word, to_word};

/// `out_p_e` for each output: it joins what leaves when the reaction is over.
pub(crate) fn functions(plan: &Plan, text: &mut Text) {
    for (p, (port, names)) in plan.automaton.ports.iter().zip(&plan.names.outputs).enumerate() {
        for (e, (output, name)) in port.outputs.iter().zip(names).enumerate() {
            let mut list = vec![format!("struct {} *k", plan.names.stack)];
            list.extend(
                output
                    .params
                    .iter()
                    .enumerate()
                    .map(|(place, (_, ty))| declare(c_type(plan.automaton, *ty), &format!("a{place}"))),
            );
            text.function(format!("static MK_UNUSED void out_{name}({})", list.join(", ")));
            let count = output.params.len();
            text.line(format!("mk_output *output = mk_put_output(&k->core, {p}, {e}, {count});"));
            let messages: Vec<usize> = (0..count).filter(|place| output.params[*place].1 == Type::Msg).collect();
            text.open("if (MK_UNLIKELY(!output))");
            for place in &messages {
                text.line(format!("mk_gone(&k->core, a{place});"));
            }
            text.line("return;");
            text.close("");
            for (place, (_, ty)) in output.params.iter().enumerate() {
                text.line(format!("output->args[{place}] = {};", to_word(*ty, &format!("a{place}"))));
            }
            if !messages.is_empty() {
                text.line(format!("k->core.accounts.delivered += {};", messages.len()));
            }
            text.end_function();
        }
    }
}

/// `leave`: hands one output to the program.
pub(crate) fn leave(plan: &Plan, text: &mut Text) {
    let stack = &plan.names.stack;
    text.function(format!(
        "static MK_COLD void leave_any(struct {stack} *k, const mk_output *output, const char *kinds)"
    ));
    text.line("mk_datum data[ARGUMENTS];");
    text.line("mk_data_of(output, kinds, data);");
    text.line("if (k->ports.any)");
    text.line("    k->ports.any(k->ports.context, output->port, output->event, data, output->count);");
    text.line("mk_output_free(&k->core, output, kinds);");
    text.end_function();
    text.function("static void leave(void *stack, const mk_output *output)");
    text.line(format!("struct {stack} *k = stack;"));
    text.line("const char *kinds = \"\";");
    text.open("switch ((uint32_t)output->port << 16 | output->event)");
    for (p, (port, names)) in plan.automaton.ports.iter().zip(&plan.names.outputs).enumerate() {
        for (e, (output, name)) in port.outputs.iter().zip(names).enumerate() {
            text.line(format!("case {}:", (p << 16) | e));
            text.indent();
            leave_one(plan, name, &output.params, text);
            text.outdent();
        }
    }
    text.line("default:");
    text.line("    break;");
    text.close("");
    text.line("leave_any(k, output, kinds);");
    text.end_function();
}

/// To the function for this output, if the program has one.
fn leave_one(plan: &Plan, name: &str, params: &[(String, Type)], text: &mut Text) {
    text.line(format!("kinds = {};", kinds(params)));
    text.line(format!("if (!k->ports.{name})"));
    text.line("    break;");
    text.line(format!("k->ports.{name}({});", given(plan, params)));
    for (place, _) in params.iter().enumerate().filter(|(_, (_, ty))| *ty == Type::Msg) {
        let message = from_word(plan.automaton, Type::Msg, &format!("output->args[{place}]"));
        text.line(format!("mk_message_free(&k->core.pool, {message});"));
    }
    text.line("return;");
}

/// The kinds of an event's arguments, a letter each, as the runtime reads them.
pub(super) fn kinds(params: &[(String, Type)]) -> String {
    let one = |(_, ty): &(String, Type)| match ty {
        Type::Msg => 'o',
        Type::Ref(_) => 'h',
        Type::Bool | Type::U(_) | Type::Seq(_) | Type::Enum(_) | Type::Reason => 'w',
        // No event has one.
        Type::Array(..) => 'w',
    };
    format!("\"{}\"", params.iter().map(one).collect::<String>())
}

/// The arguments of the program's function.
fn given(plan: &Plan, params: &[(String, Type)]) -> String {
    let one = |(place, (_, ty)): (usize, &(String, Type))| {
        let word = format!("output->args[{place}]");
        match ty {
            Type::Msg => format!("mk_octets_of({word})"),
            Type::Ref(_) => format!("mk_handle_of({word})"),
            other => from_word(plan.automaton, *other, &word),
        }
    };
    let context = ["k->ports.context".to_string()].into_iter();
    context.chain(params.iter().enumerate().map(one)).collect::<Vec<_>>().join(", ")
}
