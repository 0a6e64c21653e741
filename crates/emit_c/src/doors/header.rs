//! The public header of a generated stack, for programs that embed it.

use mokume_reaction::border::parameters;
use mokume_reaction::*;

use super::signature::{input_head, inputs, param_names, port_params, port_type};
use super::{batched, border, parts, returned};
use crate::plan::Plan;
use crate::text::{literal, Text};
use crate::types::{c_type, declare};

pub(crate) fn write(plan: &Plan, notes: &[String]) -> String {
    let mut text = Text::default();
    let (automaton, stack) = (plan.automaton, &plan.names.stack);
    let guard = format!("{stack}_H");
    text.line(format!(
        "/* The stack {}: generated, do not edit. See runtime/README.md for how to embed it. */",
        automaton.name.replace("*/", "* /")
    ));
    if !notes.is_empty() {
        let lines = notes.iter().map(|note| format!("\n * {}", note.replace("*/", "* /")));
        text.lines(&format!("/*{}\n */", lines.collect::<String>()));
    }
    text.lines(&format!("#ifndef {guard}\n#define {guard}\n\n#include \"mokume.h\"\n"));
    text.lines(&format!("struct {stack};\n"));
    if !automaton.params.is_empty() {
        text.open(format!("struct {stack}_params"));
        let remarks = border::remarks(plan, &parameters(automaton));
        for ((param, name), remark) in automaton.params.iter().zip(&plan.names.params).zip(remarks) {
            let remark = remark.map_or(String::new(), |remark| format!(" /* {remark} */"));
            text.line(format!("{};{remark}", declare(c_type(automaton, param.ty), name)));
        }
        text.close(";");
        text.line("");
    }
    reasons(plan, &mut text);
    enums(plan, &mut text);
    ports(plan, &mut text);
    if plan.returned {
        returned::declaration(plan, &mut text);
    }
    functions(plan, &mut text);
    text.line("#endif");
    text.finish()
}

/// The reasons for which messages are dropped or consumed: the indices of the accounts.
fn reasons(plan: &Plan, text: &mut Text) {
    if plan.names.reasons.is_empty() {
        return;
    }
    text.line("/* Why messages were dropped or consumed: the indices of the accounts. */");
    text.open(format!("enum {}_reason", plan.names.stack));
    for name in &plan.names.reasons {
        text.line(format!("{name},"));
    }
    text.close(";");
    text.line("");
}

/// Enumerations of the source. A number too large for a constant of C is a macro.
fn enums(plan: &Plan, text: &mut Text) {
    for ((one, names), tag) in plan.automaton.enums.iter().zip(&plan.names.enums).zip(&plan.names.enum_tags) {
        let values = || names.iter().zip(&one.names).map(|(name, (_, value))| (name, *value));
        let fits = |value: u64| value <= i32::MAX as u64;
        if values().any(|(_, value)| fits(value)) {
            text.open(format!("enum {}_{tag}", plan.names.stack));
            for (name, value) in values().filter(|(_, value)| fits(*value)) {
                text.line(format!("{name} = {value},"));
            }
            text.close(";");
        }
        for (name, value) in values().filter(|(_, value)| !fits(*value)) {
            text.line(format!("#define {name} {}", literal(value)));
        }
        text.line("");
    }
}

fn ports(plan: &Plan, text: &mut Text) {
    let stack = &plan.names.stack;
    text.lines("/* Where outputs go: after the reaction, in order. Octets are valid during the call. A port event without a\n * function of its own goes to `any`, if that is set. The functions may call the stack: that is the next reaction. */");
    text.open(format!("struct {stack}_ports"));
    text.line("void *context;");
    for (port, names) in plan.automaton.ports.iter().zip(&plan.names.outputs) {
        for (output, name) in port.outputs.iter().zip(names) {
            remark(border::remarks_of(plan, &output.params), text);
            text.line(port_function(plan, output, name));
        }
    }
    for (name, output) in parts::all(plan) {
        text.lines("/* If it is there, in place of the one above where octets lie in two parts: those in front, which are the stack's, and those that were handed in.\n * What is whole goes to the one above. */");
        let named = param_names(&output.params).into_iter().zip(&output.params);
        let parts = named.flat_map(|(name, (_, ty))| match ty {
            Type::Msg => vec!["mk_octets front".to_string(), "mk_octets behind".to_string()],
            ty => vec![declare(port_type(plan.automaton, *ty), &name)],
        });
        text.line(pointer(&name, parts));
    }
    text.line("mk_any_output any;");
    text.close(";");
    text.line("");
}

/// The declaration of a pointer to the function that gets an output.
pub(super) fn port_function(plan: &Plan, output: &PortOutput, name: &str) -> String {
    pointer(name, port_params(plan, &output.params))
}

fn pointer(name: &str, params: impl IntoIterator<Item = String>) -> String {
    let params: Vec<String> = ["void *context".to_string()].into_iter().chain(params).collect();
    format!("void (*{name})({});", params.join(", "))
}

fn functions(plan: &Plan, text: &mut Text) {
    let stack = &plan.names.stack;
    let params = match plan.automaton.params.is_empty() {
        true => String::new(),
        false => format!("const struct {stack}_params *params, "),
    };
    let no_value = match plan.automaton.params.is_empty() {
        true => "",
        false => ", or a parameter has no such value",
    };
    text.lines(&format!("extern const mk_config {stack}_defaults;"));
    if !plan.automaton.params.is_empty() {
        let named = plan.automaton.params.iter().zip(&plan.names.params);
        let missing: Vec<&str> = named.filter(|(param, _)| param.default.is_none()).map(|(_, name)| &**name).collect();
        if !missing.is_empty() {
            text.lines(&format!(
                "/* These have no value in the source, and are 0 here until you set them: {}. */",
                missing.join(", ")
            ));
        }
        text.line(format!("extern const struct {stack}_params {stack}_default_params;"));
    }
    text.lines(&format!(
        "/* Octets of memory that an instance needs, aligned to 16. SIZE_MAX: more than there can be. */\n\
         size_t {stack}_size(const mk_config *config);\n\
         /* NULL: its size is SIZE_MAX{no_value}. */\n\
         struct {stack} *{stack}_init(void *memory, const mk_config *config, {params}const struct {stack}_ports *ports);\n\
         /* Runs the start handlers; called once, first. Times are nanoseconds. */\n\
         void {stack}_start(struct {stack} *k, uint64_t now);\n\
         /* Runs what is due at or before `now`. */\n\
         void {stack}_advance(struct {stack} *k, uint64_t now);\n\
         /* When `advance` has something to do next; false: never. */\n\
         bool {stack}_next_deadline(const struct {stack} *k, uint64_t *deadline);\n\
         const mk_accounts *{stack}_accounts(const struct {stack} *k);\n\
         /* What all stacks have in common, reports among it. */\n\
         mk_core *{stack}_core(struct {stack} *k);\n\
         extern const mk_interface {stack}_interface;\n"
    ));
    text.line(
        "/* Inputs; false: refused at the door (no room for a reaction, a handle of an object that has ended, or an argument\n   that has no such value; elements behind a length are not looked at), or, of what is sent, beyond the credit: then it\n   was dropped and counted as `no_credit`.\n   Octets that are handed in are to stay as they are until the function returns, calls of the program's functions among it. */",
    );
    for (input, name) in inputs(plan) {
        remark(border::remarks_of(plan, &input.params), text);
        if !input.defaults.is_empty() {
            text.line(format!("/* {}, if nobody says otherwise. */", defaults(input)));
        }
        text.line(format!("{};", input_head(plan, name, &input.params)));
    }
    text.line("");
    if plan.returned {
        text.line("/* The same; the last output of the call is returned where nothing waits behind it. All others are handed over as otherwise, before. */");
        inputs(plan).for_each(|(input, name)| text.line(format!("{};", returned::head(plan, name, &input.params))));
        text.line("");
    }
    if plan.batched {
        batched::declarations(plan, text);
    }
}

/// Which numbers of an event are not free to have all of their types.
fn remark(remarks: Vec<String>, text: &mut Text) {
    if !remarks.is_empty() {
        text.line(format!("/* {} */", remarks.join("; ")));
    }
}

/// `nagle is 1, keep is 7`.
fn defaults(input: &PortInput) -> String {
    let with_default = |(at, name): (usize, &String)| Some(format!("{name} is {}", input.default_of(at)?));
    param_names(&input.params).iter().enumerate().filter_map(with_default).collect::<Vec<_>>().join(", ")
}
