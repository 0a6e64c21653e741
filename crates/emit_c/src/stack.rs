//! One stack as C: the file that everything else is put together in.

use std::fmt;

use mokume_reaction::*;

use crate::plan::{Plan, Waiting};
use crate::text::Text;
use crate::tree::expression;
use crate::types::{c_type, declare, from_word};
use crate::doors::{header, inputs, life, outputs};
use crate::{records, wire_common, wire_decode, wire_encode};

/// How a stack is to be written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Begins every public name; the automaton's own name if it is empty.
    pub prefix: String,
    /// Count how often each branch of a handler is taken.
    pub coverage: bool,
}

/// A stack in C. The source includes the header by `file_stem` and `.h`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Generated {
    /// The prefix of the public names, and of the two files.
    pub stem: String,
    pub header: String,
    pub source: String,
    /// By coverage counter: the handler, the block and the target.
    pub branches: Vec<(HandlerId, usize, usize)>,
}

/// Why there is no C for an automaton.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EmitError {
    /// A wire with so many combinations of choices that its straight-line code would be of no use.
    TooManyWays { wire: String, ways: usize },
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EmitError::TooManyWays { wire, ways } => {
                write!(
                    f,
                    "wire `{wire}`: {ways} ways lead through its choices, the C back end follows at most {}",
                    wire_common::MOST_WAYS
                )
            }
        }
    }
}

impl std::error::Error for EmitError {}

/// The automaton, which must have been verified, as C.
pub fn emit(automaton: &Automaton, options: &Options) -> Result<Generated, EmitError> {
    for wire in &automaton.wires {
        let ways = wire_common::ways(wire);
        if ways > wire_common::MOST_WAYS {
            return Err(EmitError::TooManyWays { wire: wire.name.clone(), ways });
        }
    }
    let prefix = if options.prefix.is_empty() { &automaton.name } else { &options.prefix };
    let plan = Plan::new(automaton, prefix, options.coverage);
    Ok(Generated {
        stem: plan.names.stack.clone(),
        header: header::write(&plan),
        source: source(&plan),
        branches: plan.branches.clone(),
    })
}

fn source(plan: &Plan) -> String {
    let mut text = Text::default();
    text.line(format!("/* The stack {}: generated, do not edit. */", plan.automaton.name.replace("*/", "* /")));
    text.line(format!("#include \"{}.h\"", plan.names.stack));
    text.line("");
    crate::native::declare_all(plan, &mut text);
    records::write(plan, &mut text);
    declarations(plan, &mut text);
    life::sizes(plan, &mut text);
    outputs::functions(plan, &mut text);
    records::objects(plan, &mut text);
    for id in (0..plan.automaton.wires.len()).map(WireId::from) {
        wire(plan, id, &mut text);
    }
    for index in 0..plan.automaton.functions.len() {
        function(plan, index, &mut text);
    }
    for index in 0..plan.automaton.handlers.len() {
        handler(plan, HandlerId::from(index), &mut text);
    }
    program(plan, &mut text);
    door(plan, &mut text);
    inputs::functions(plan, &mut text);
    life::functions(plan, &mut text);
    text.finish()
}

fn wire(plan: &Plan, id: WireId, text: &mut Text) {
    let (stack, name) = (&plan.names.stack, &plan.names.wires[id.index()]);
    wire_decode::write(plan, id, text);
    text.lines(&format!(
        "static MK_UNUSED uint32_t decode_{name}(struct {stack} *k, mk_message *m)\n{{\n    return read_{name}(k, m, false);\n}}\n\n\
         static MK_UNUSED uint32_t vet_{name}(struct {stack} *k, mk_message *m)\n{{\n    return read_{name}(k, m, true);\n}}\n"
    ));
    wire_encode::write(plan, id, text);
}

/// Numbers of handlers and outputs on the agenda, and the functions that call each other.
fn declarations(plan: &Plan, text: &mut Text) {
    text.line("/* What may stand on the agenda. */");
    text.open("enum");
    for (index, name) in plan.names.handlers.iter().enumerate() {
        text.line(format!("HANDLER_{name} = {index},"));
    }
    let mut next = plan.names.handlers.len();
    for name in plan.names.outputs.iter().flatten() {
        text.line(format!("OUTPUT_{name} = {next},"));
        next += 1;
    }
    text.line(format!("EVENTS = {next}"));
    text.close(";");
    text.line("");
    for index in 0..plan.automaton.functions.len() {
        text.line(format!("{};", function_head(plan, index, None)));
    }
    for index in 0..plan.automaton.handlers.len() {
        text.line(format!("{};", handler_head(plan, HandlerId::from(index), None)));
    }
    text.line("");
}

/// The parameters of a body; a handler of the only object of its class is not told it.
fn parameters(plan: &Plan, body: &Body, skipped: usize, names: Option<&[String]>) -> Vec<String> {
    let mut list = vec![format!("struct {} *k", plan.names.stack)];
    for (place, param) in body.blocks[0].params[skipped..].iter().enumerate() {
        let ty = c_type(plan.automaton, body.values[param.index()].ty);
        list.push(match names {
            Some(names) => declare(ty, &names[place]),
            None => ty.to_string(),
        });
    }
    list
}

fn handler_head(plan: &Plan, id: HandlerId, names: Option<&[String]>) -> String {
    let body = &plan.automaton.handler(id).body;
    let skipped = usize::from(!plan.takes_self(id));
    let list = parameters(plan, body, skipped, names);
    format!("static MK_UNUSED void {}({})", plan.names.handlers[id.index()], list.join(", "))
}

/// A function of one result returns it; several go out by pointers.
fn function_head(plan: &Plan, index: usize, names: Option<&[String]>) -> String {
    let function = &plan.automaton.functions[index];
    let mut list = parameters(plan, &function.body, 0, names);
    let mut returned = "void".to_string();
    if let [result] = function.results[..] {
        returned = c_type(plan.automaton, result).to_string();
    } else {
        for (place, result) in function.results.iter().enumerate() {
            let ty = c_type(plan.automaton, *result);
            let pointer = if ty.ends_with('*') { format!("{ty}*") } else { format!("{ty} *") };
            list.push(declare(&pointer, &format!("result_{place}")));
        }
    }
    declare(&format!("static MK_UNUSED {returned}"), &format!("{}({})", plan.names.functions[index], list.join(", ")))
}

fn function(plan: &Plan, index: usize, text: &mut Text) {
    let function = &plan.automaton.functions[index];
    let written = crate::body::function(plan, &function.body);
    text.line(format!("/* {} */", function.name));
    text.function(function_head(plan, index, Some(&written.parameters)));
    text.line("(void)k;");
    text.append(written.body);
    text.end_function();
}

fn handler(plan: &Plan, id: HandlerId, text: &mut Text) {
    let handler = plan.automaton.handler(id);
    let written = crate::body::handler(plan, id);
    let name = plan.automaton.handler_name(id);
    text.line(match plan.place(handler.source) {
        Some(place) => format!("/* {name}: {place} */"),
        None => format!("/* {name} */"),
    });
    text.function(handler_head(plan, id, Some(&written.parameters)));
    text.append(written.body);
    text.end_function();
}

/// What the runtime calls back.
fn program(plan: &Plan, text: &mut Text) {
    deliver(plan, text);
    expire(plan, text);
    settle(plan, text);
    by_class(plan, text);
    take_later(plan, text);
    outputs::leave(plan, text);
    text.lines("static const mk_program program = {deliver, expire, settle, clear, leave, take_later};\n");
}

fn deliver(plan: &Plan, text: &mut Text) {
    text.function("static void deliver(void *stack, mk_event *event)");
    text.line(format!("struct {} *k = stack;", plan.names.stack));
    text.line("(void)k;");
    text.open("switch (event->what)");
    for (index, (handler, name)) in plan.automaton.handlers.iter().zip(&plan.names.handlers).enumerate() {
        if !plan.waiting.contains(&Waiting::Handler(HandlerId::from(index))) {
            continue;
        }
        let list = plan.arguments_of(HandlerId::from(index), "event->target", words(plan, &handler.params));
        text.line(format!("case HANDLER_{name}:"));
        text.line(format!("    {name}({list});"));
        text.line("    break;");
    }
    for (p, (port, names)) in plan.automaton.ports.iter().zip(&plan.names.outputs).enumerate() {
        for (e, (output, name)) in port.outputs.iter().zip(names).enumerate() {
            if !plan.waiting.contains(&Waiting::Output(PortId::from(p), e as u32)) {
                continue;
            }
            let mut list = vec!["k".to_string()];
            list.extend(words(plan, &output.params));
            text.line(format!("case OUTPUT_{name}:"));
            text.line(format!("    out_{name}({});", list.join(", ")));
            text.line("    break;");
        }
    }
    text.line("default:");
    text.line("    break;");
    text.close("");
    text.end_function();
}

fn words(plan: &Plan, params: &[(String, Type)]) -> Vec<String> {
    let word =
        |(place, (_, ty)): (usize, &(String, Type))| from_word(plan.automaton, *ty, &format!("event->args[{place}]"));
    params.iter().enumerate().map(word).collect()
}

fn expire(plan: &Plan, text: &mut Text) {
    text.function("static void expire(void *stack, uint32_t declaration, uint32_t number)");
    text.line(format!("struct {} *k = stack;", plan.names.stack));
    text.line("(void)k, (void)number;");
    text.open("switch (declaration)");
    for (number, (class, cell)) in plan.timers.iter().enumerate() {
        let Some(handler) = plan.automaton.handler_of(*class, &Trigger::Expiry(*cell)) else { continue };
        text.line(format!("case {number}:"));
        let name = &plan.names.handlers[handler.index()];
        let own = format!("mk_self({}, number)", expression(&plan.class_at(*class)));
        text.line(format!("    {name}({});", plan.arguments_of(handler, own, Vec::new())));
        text.line("    break;");
    }
    text.line("default:");
    text.line("    break;");
    text.close("");
    text.end_function();
}

fn settle(plan: &Plan, text: &mut Text) {
    text.function("static void settle(void *stack, uint32_t class_index, mk_ref self)");
    text.line(format!("struct {} *k = stack;", plan.names.stack));
    text.line("(void)k, (void)self;");
    text.open("switch (class_index)");
    for (index, (handler, name)) in plan.automaton.handlers.iter().zip(&plan.names.handlers).enumerate() {
        if handler.trigger == Trigger::Settle {
            text.line(format!("case {}:", plan.class_constant(handler.class)));
            text.line(format!("    {name}({});", plan.arguments_of(HandlerId::from(index), "self", Vec::new())));
            text.line("    break;");
        }
    }
    text.line("default:");
    text.line("    break;");
    text.close("");
    text.end_function();
}

fn by_class(plan: &Plan, text: &mut Text) {
    text.function("static void clear(void *stack, uint32_t class_index, uint32_t number, bool freed)");
    text.line(format!("struct {} *k = stack;", plan.names.stack));
    text.line("(void)k, (void)number, (void)freed;");
    text.open("switch (class_index)");
    for (index, name) in plan.names.classes.iter().enumerate() {
        if plan.mortal.contains(&ClassId::from(index)) {
            text.line(format!("case CLASS_{name}:"));
            text.line(format!("    clear_{name}(k, number, freed);"));
            text.line("    break;");
        }
    }
    text.line("default:");
    text.line("    break;");
    text.close("");
    text.end_function();
}

fn take_later(plan: &Plan, text: &mut Text) {
    text.function("static void take_later(void *stack, const mk_event *event)");
    text.line(format!("struct {} *k = stack;", plan.names.stack));
    text.line("(void)k;");
    text.open("switch (event->what)");
    for (handler, name) in plan.automaton.handlers.iter().zip(&plan.names.handlers) {
        if handler.later_capacity > 0 {
            let messages = handler.params.iter().filter(|(_, ty)| *ty == Type::Msg).count();
            text.line(format!("case HANDLER_{name}:"));
            text.line(format!("    k->later_{name}--;"));
            text.line(format!("    k->core.accounts.held -= {messages};"));
            text.line("    break;");
        }
    }
    text.line("default:");
    text.line("    break;");
    text.close("");
    text.end_function();
}

/// Whether the pool has room for a reaction.
fn door(plan: &Plan, text: &mut Text) {
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
