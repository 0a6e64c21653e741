//! One stack as C: the file that everything else is put together in.

use std::fmt;

use mokume_reaction::*;

use crate::body::BodyWriter;
use crate::plan::{Emissions, Plan};
use crate::text::Text;
use crate::types::{c_type, declare, from_word};
use crate::{header, interface, records, wire_common, wire_decode, wire_encode};

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
    interface::outputs(plan, &mut text);
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
    interface::inputs(plan, &mut text);
    interface::life(plan, &mut text);
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
        text.line(format!("{};", handler_head(plan, index, None)));
    }
    text.line("");
}

fn parameters(plan: &Plan, body: &Body, names: Option<&[(String, &'static str)]>) -> Vec<String> {
    let mut list = vec![format!("struct {} *k", plan.names.stack)];
    for (place, param) in body.blocks[0].params.iter().enumerate() {
        let ty = c_type(plan.automaton, body.values[param.index()].ty);
        let name = names.map_or(format!("a{place}"), |names| names[place].0.clone());
        list.push(declare(ty, &name));
    }
    list
}

fn handler_head(plan: &Plan, index: usize, names: Option<&[(String, &'static str)]>) -> String {
    let body = &plan.automaton.handlers[index].body;
    format!("static MK_UNUSED void {}({})", plan.names.handlers[index], parameters(plan, body, names).join(", "))
}

/// A function of one result returns it; several go out by pointers.
fn function_head(plan: &Plan, index: usize, names: Option<&[(String, &'static str)]>) -> String {
    let function = &plan.automaton.functions[index];
    let mut list = parameters(plan, &function.body, names);
    let mut returned = "void".to_string();
    if let [result] = function.results[..] {
        returned = c_type(plan.automaton, result).to_string();
    } else {
        for (place, result) in function.results.iter().enumerate() {
            let ty = c_type(plan.automaton, *result);
            list.push(declare(
                &format!("{}*", if ty.ends_with('*') { ty.to_string() } else { format!("{ty} ") }),
                &format!("result_{place}"),
            ));
        }
    }
    declare(&format!("static MK_UNUSED {returned}"), &format!("{}({})", plan.names.functions[index], list.join(", ")))
}

fn function(plan: &Plan, index: usize, text: &mut Text) {
    let function = &plan.automaton.functions[index];
    let mut writer = BodyWriter::new(plan, &function.body, None);
    let names = writer.parameters();
    text.line(format!("/* {} */", function.name));
    text.function(function_head(plan, index, Some(&names)));
    let body = writer.write();
    let text_of_body = body.peek();
    for name in std::iter::once("k").chain(names.iter().map(|(name, _)| name.as_str())) {
        if !crate::body::mentions(&text_of_body, name) {
            text.line(format!("(void){name};"));
        }
    }
    text.append(body);
    text.end_function();
}

fn handler(plan: &Plan, id: HandlerId, text: &mut Text) {
    let handler = plan.automaton.handler(id);
    let mut writer = BodyWriter::new(plan, &handler.body, Some(id));
    writer.coverage = plan.coverage;
    let names = writer.parameters();
    let name = plan.automaton.handler_name(id);
    text.line(match plan.place(handler.source) {
        Some(place) => format!("/* {name}: {place} */"),
        None => format!("/* {name} */"),
    });
    text.function(handler_head(plan, id.index(), Some(&names)));
    let own = names.first().map_or("MK_NULL", |(name, _)| name.as_str());
    prologue(plan, handler, own, &names, text);
    if plan.emissions[id.index()] == Emissions::Agenda {
        text.line("uint32_t base = k->core.agenda.top;");
    }
    let body = writer.write();
    let text_of_body = body.peek();
    for (name, _) in &names {
        if !crate::body::mentions(&text_of_body, name) {
            text.line(format!("(void){name};"));
        }
    }
    if !crate::body::mentions(&text_of_body, "k") {
        text.line("(void)k;");
    }
    text.append(body);
    text.end_function();
}

/// An event for an object that has ended is dropped as gone; an object that handles an event will settle.
fn prologue(plan: &Plan, handler: &Handler, own: &str, names: &[(String, &'static str)], text: &mut Text) {
    let class = handler.class;
    if matches!(handler.trigger, Trigger::Event(_)) {
        text.open(format!("if (MK_UNLIKELY(!{}))", plan.lives(class, own)));
        for ((name, _), (_, ty)) in names.iter().skip(1).zip(&handler.params) {
            if *ty == Type::Msg {
                text.line(format!("mk_gone(&k->core, {name});"));
            }
        }
        text.line("return;");
        text.close("");
    }
    if plan.settles.contains(&class) && handler.trigger != Trigger::Settle {
        text.line(format!("mk_touch(&k->core, &k->{}_objects[mk_number({own})]);", plan.names.classes[class.index()]));
    }
}

/// What the runtime calls back.
fn program(plan: &Plan, text: &mut Text) {
    deliver(plan, text);
    expire(plan, text);
    settle(plan, text);
    by_class(plan, text);
    take_later(plan, text);
    interface::leave(plan, text);
    text.lines("static const mk_program program = {deliver, expire, settle, clear, leave, take_later};\n");
}

fn deliver(plan: &Plan, text: &mut Text) {
    text.function("static void deliver(void *stack, mk_event *event)");
    text.line(format!("struct {} *k = stack;", plan.names.stack));
    text.line("(void)k;");
    text.open("switch (event->what)");
    for (handler, name) in plan.automaton.handlers.iter().zip(&plan.names.handlers) {
        if !matches!(handler.trigger, Trigger::Event(_)) {
            continue;
        }
        let mut list = vec!["k".to_string(), "event->target".into()];
        list.extend(words(plan, &handler.params));
        text.line(format!("case HANDLER_{name}:"));
        text.line(format!("    {name}({});", list.join(", ")));
        text.line("    break;");
    }
    for (port, names) in plan.automaton.ports.iter().zip(&plan.names.outputs) {
        for (output, name) in port.outputs.iter().zip(names) {
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
        text.line(format!("    {name}(k, mk_self({}, number));", plan.class_at(*class)));
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
    for (handler, name) in plan.automaton.handlers.iter().zip(&plan.names.handlers) {
        if handler.trigger == Trigger::Settle {
            text.line(format!("case {}:", plan.class_constant(handler.class)));
            text.line(format!("    {name}(k, self);"));
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
