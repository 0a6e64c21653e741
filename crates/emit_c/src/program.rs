//! The functions that the runtime calls: a stack's side of a reaction.

use mokume_reaction::*;

use crate::body::path_of;
use crate::doors::outputs;
use crate::plan::{Plan, Waiting};
use crate::state::stored::Stored;
use crate::text::Text;
use crate::tree::expression;
use crate::types::from_word;

/// Writes the functions that the runtime calls.
pub(crate) fn write(plan: &Plan, text: &mut Text) {
    deliver(plan, text);
    expire(plan, text);
    settle(plan, text);
    by_class(plan, text);
    carry_later(plan, text);
    outputs::leave(plan, text);
    text.lines("static const mk_program program = {deliver, expire, settle, clear, leave, carry_later};\n");
}

fn deliver(plan: &Plan, text: &mut Text) {
    text.function("static void deliver(void *stack, mk_event *event)");
    text.line(format!("struct {} *k = stack;", plan.names.stack));
    text.line("(void)k;");
    text.open("switch (event->what)");
    for (index, (handler, name)) in plan.automaton.handlers.iter().zip(&plan.names.handlers).enumerate() {
        let id = HandlerId::from(index);
        if !plan.waiting.contains(&Waiting::Handler(id)) || plan.automaton.is_only_put_off(id) {
            continue;
        }
        let list = plan.arguments_of(id, "event->target", words(plan, &handler.params));
        text.line(format!("case HANDLER_{name}:"));
        text.line(format!("    {name}({list});"));
        text.line("    break;");
    }
    for (class, cell, handler) in &plan.linked {
        text.line(format!("case {}:", plan.linked_constant((*class, *cell, *handler))));
        let params = &plan.automaton.handler(*handler).params;
        let list = plan.arguments_of(*handler, linked_target(plan, *class, *cell), words(plan, params));
        text.line(format!("    {}({list});", plan.names.handlers[handler.index()]));
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

/// The object that a cell of the sender refers to; the sender is in the place of the target.
fn linked_target(plan: &Plan, class: ClassId, cell: CellId) -> String {
    let (name, cells) = (&plan.names.classes[class.index()], &plan.names.cells[class.index()]);
    let of = match plan.automaton.cell(class, cell).kind {
        CellKind::Scalar { ty, .. } => Stored::of(plan.automaton, plan.automaton.class(class), ty),
        _ => Stored::Whole,
    };
    let (sender, cell) = ("event->target", &cells[cell.index()]);
    let place = if plan.is_sole(class) { "0".to_string() } else { format!("mk_number({sender})") };
    format!("{sender} == MK_NULL ? MK_NULL : {}", of.read(&format!("k->{name}[{place}].{cell}")))
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
        // A timer that expires is of an object that lives.
        let [objects, _] = plan.heads_of(*class);
        let own = format!("mk_ref_of(number, {}[number].generation)", expression(&objects));
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

/// Writes `carry_later`: an event that was put off no longer waits, and is delivered.
fn carry_later(plan: &Plan, text: &mut Text) {
    text.function("static void carry_later(void *stack, const mk_event *event)");
    text.line(format!("struct {} *k = stack;", plan.names.stack));
    text.line("(void)k;");
    let carry = |handler: usize, text: &mut Text| {
        let (name, params) = (&plan.names.handlers[handler], &plan.automaton.handlers[handler].params);
        let messages = params.iter().filter(|(_, ty)| *ty == Type::Msg).count();
        let list = plan.arguments_of(HandlerId::from(handler), "event->target", words(plan, params));
        text.line(format!("k->later_{name}--;"));
        if messages > 0 {
            text.line(format!("k->core.accounts.held -= {messages};"));
        }
        text.line(format!("{name}({list});"));
    };
    let put_off = (0..plan.automaton.handlers.len()).filter(|at| plan.automaton.handlers[*at].later_capacity > 0);
    let (paths, others): (Vec<usize>, Vec<usize>) =
        put_off.partition(|at| path_of(plan.automaton, HandlerId::from(*at)).is_some());
    // What has a path is what is usual.
    for handler in paths {
        text.open(format!("if (MK_LIKELY(event->what == HANDLER_{}))", plan.names.handlers[handler]));
        carry(handler, text);
        text.line("return;");
        text.close("");
    }
    text.open("switch (event->what)");
    for handler in others {
        text.line(format!("case HANDLER_{}:", plan.names.handlers[handler]));
        text.indent();
        carry(handler, text);
        text.line("break;");
        text.outdent();
    }
    text.line("default:");
    text.line("    break;");
    text.close("");
    text.end_function();
}
