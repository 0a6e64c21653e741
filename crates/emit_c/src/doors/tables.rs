//! The tables behind the common interface: names, places in the source, and functions that do not use the stack's own
//! types.

use mokume_reaction::*;

use crate::plan::Plan;
use crate::text::{literal, string, Text};
use crate::types::c_type;

fn names(text: &mut Text, name: &str, list: &[String]) {
    let list: Vec<String> = list.iter().map(|entry| string(entry)).collect();
    let list = if list.is_empty() { "\"\"".into() } else { list.join(",\n    ") };
    text.lines(&format!("static const char *const {name}[] = {{\n    {list},\n}};\n"));
}

/// The files, and for each place its file and line (65,535 for lines beyond).
fn sources(automaton: &Automaton, text: &mut Text) {
    let mut files: Vec<String> = Vec::new();
    let mut places = Vec::new();
    for source in &automaton.sources {
        let known = files.iter().position(|file| *file == source.file);
        let file = known.unwrap_or_else(|| {
            files.push(source.file.clone());
            files.len() - 1
        });
        places.push(format!("{{{file}, {}}}", source.line.min(u32::from(u16::MAX))));
    }
    names(text, "files", &files);
    if places.is_empty() {
        places.push("{0, 0}".into());
    }
    text.open("static const mk_source sources[] =");
    places.chunks(12).for_each(|part| text.line(format!("{},", part.join(", "))));
    text.close(";");
    text.line("");
}

/// The room for outputs of a reaction: the most that there may be.
fn outputs(automaton: &Automaton) -> u32 {
    automaton.composition.as_ref().map_or(LEAST_OUTPUTS, |composition| composition.outputs.max(LEAST_OUTPUTS))
}

/// The least room for outputs: a program that calls the stack while it gets an output adds to them.
const LEAST_OUTPUTS: u32 = 64;

/// The longest message that layers make (docs/semantics.md, F11).
const LONGEST: u32 = 65_535;

/// The octets of a buffer: enough for an Ethernet frame, and for the longest message if layers join messages. With
/// less, C would cut joined messages where the interpreter does not.
fn buffer_octets(plan: &Plan) -> u32 {
    let joins = plan.automaton.bodies().flat_map(Body::ops).any(|op| matches!(op.kind, OpKind::Join { .. }));
    if joins {
        LONGEST + plan.head_room
    } else {
        2048 + plan.head_room
    }
}

/// The default configuration of an instance.
pub(super) struct Config {
    pub buffers: u32,
    pub buffer_octets: u32,
    pub messages: u32,
    pub outputs: u32,
    pub reports: u32,
}

pub(super) fn config(plan: &Plan) -> Config {
    let automaton = plan.automaton;
    let buffers = if automaton.pool > 0 { automaton.pool } else { 256 };
    let messages = buffers.saturating_mul(2);
    Config { buffers, buffer_octets: buffer_octets(plan), messages, outputs: outputs(automaton), reports: 64 }
}

pub(super) fn write(plan: &Plan, text: &mut Text) {
    let (automaton, stack) = (plan.automaton, &plan.names.stack);
    let Config { buffers, buffer_octets, messages, outputs, reports } = config(plan);
    text.lines(&format!(
        "const mk_config {stack}_defaults = {{0, {buffers}, {buffer_octets}, {messages}, {outputs}, {reports}}};\n"
    ));
    let params: Vec<String> = automaton.params.iter().map(|param| literal(param.default.unwrap_or(0))).collect();
    if !params.is_empty() {
        text.lines(&format!("const struct {stack}_params {stack}_default_params = {{{}}};\n", params.join(", ")));
    }
    let counters: Vec<String> = plan
        .counters
        .iter()
        .map(|(class, cell)| format!("{}.{}", automaton.class(*class).name, automaton.cell(*class, *cell).name))
        .collect();
    names(text, "counter_names", &counters);
    names(text, "reason_names", &automaton.reasons.iter().map(|reason| reason.name.clone()).collect::<Vec<_>>());
    sources(automaton, text);
    any_life(plan, text);
    text.lines(&format!(
        "const mk_interface {stack}_interface = {{\n\
         \x20   {}, {{0, {buffers}, {buffer_octets}, {}, {outputs}, {reports}}},\n\
         \x20   {stack}_size, any_init, any_start, input, any_advance, any_next_deadline, any_core, any_counters, any_coverage,\n\
         \x20   {}, {}, {}, {}, counter_names, reason_names, files, sources,\n}};",
        string(&automaton.name),
        buffers.saturating_mul(2),
        counters.len(),
        automaton.reasons.len(),
        automaton.sources.len(),
        plan.branches.len()
    ));
}

/// The same functions, without the stack's own types.
fn any_life(plan: &Plan, text: &mut Text) {
    let stack = &plan.names.stack;
    text.function("static void *any_init(void *memory, const mk_config *config, const uint64_t *params, mk_any_output output, void *context)");
    text.line(format!("struct {stack}_ports ports;"));
    text.line("memset(&ports, 0, sizeof ports);");
    text.line("ports.context = context;");
    text.line("ports.any = output;");
    let mut given = String::new();
    if !plan.automaton.params.is_empty() {
        text.line(format!("struct {stack}_params given;"));
        for (place, (param, name)) in plan.automaton.params.iter().zip(&plan.names.params).enumerate() {
            let word = match param.ty {
                Type::Bool => format!("params[{place}] & 1u"),
                other => format!("({})params[{place}]", c_type(plan.automaton, other)),
            };
            text.line(format!("given.{name} = {word};"));
        }
        given = "&given, ".into();
    } else {
        text.line("(void)params;");
    }
    text.line(format!("return {stack}_init(memory, config, {given}&ports);"));
    text.end_function();
    let coverage =
        if plan.coverage { format!("((const struct {stack} *)stack)->coverage") } else { "(void)stack, NULL".into() };
    text.lines(&format!(
        "static void any_start(void *stack, uint64_t now)\n{{\n    {stack}_start(stack, now);\n}}\n\n\
         static void any_advance(void *stack, uint64_t now)\n{{\n    {stack}_advance(stack, now);\n}}\n\n\
         static bool any_next_deadline(const void *stack, uint64_t *deadline)\n{{\n    return {stack}_next_deadline(stack, deadline);\n}}\n\n\
         static mk_core *any_core(void *stack)\n{{\n    return {stack}_core(stack);\n}}\n\n\
         static const uint64_t *any_counters(const void *stack)\n{{\n    return ((const struct {stack} *)stack)->counters;\n}}\n\n\
         static const uint64_t *any_coverage(const void *stack)\n{{\n    return {coverage};\n}}\n"
    ));
}
