//! Entries that take several calls of one input at once (`--batched`).
//!
//! It must keep: a batch does what its calls do one after the other with the same time, up to the first that answers
//! false. So what is due comes before each of them, and each is the next reaction.

use mokume_reaction::*;

use super::signature::{differing, inputs, param_names, port_params};
use crate::plan::Plan;
use crate::text::Text;

/// The prefix of an inner function that stands in place in the ordinary entry, and in a batch's loop.
pub(super) const ONCE: &str = "mk_once_";

/// Whether an input has such an entry: one without parameters has no calls that differ.
pub(super) fn has(plan: &Plan, input: &PortInput) -> bool {
    plan.batched && !input.params.is_empty()
}

/// The name of an input's entry, with the stack's name; it differs from all inputs' names.
fn entry_name(plan: &Plan, input: &str) -> String {
    format!("{}_{}", plan.names.stack, differing(format!("{input}_batch"), &plan.names.inputs))
}

/// The type of one call.
fn call_type(plan: &Plan, input: &str) -> String {
    format!("struct {}_{input}_call", plan.names.stack)
}

fn head(plan: &Plan, input: &str) -> String {
    let (name, call) = (entry_name(plan, input), call_type(plan, input));
    format!("size_t {name}(struct {} *k, uint64_t now, const {call} *calls, size_t count)", plan.names.stack)
}

/// Writes the types of calls and the heads of the entries to the header.
pub(super) fn declarations(plan: &Plan, text: &mut Text) {
    text.line(
        "/* The same calls in a row, all at one time, up to the first that answers false: how many answered true before it. */",
    );
    for (input, name) in inputs(plan).filter(|(input, _)| has(plan, input)) {
        text.open(call_type(plan, name));
        port_params(plan, &input.params).iter().for_each(|param| text.line(format!("{param};")));
        text.close(";");
        text.line(format!("{};", head(plan, name)));
    }
    text.line("");
}

/// Writes an input's entry.
pub(super) fn function(plan: &Plan, input: &PortInput, name: &str, text: &mut Text) {
    let given: String = param_names(&input.params).iter().map(|param| format!(", calls[i].{param}")).collect();
    text.function(head(plan, name));
    text.open("for (size_t i = 0; i < count; i++)");
    text.line(format!("if (!{ONCE}{}_{name}(k, now{given}))", plan.names.stack));
    text.line("    return i;");
    text.close("");
    text.line("return count;");
    text.end_function();
}
