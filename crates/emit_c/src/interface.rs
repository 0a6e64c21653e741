//! The edge of a generated stack: inputs, outputs, the instance's life, and the tables behind the common interface.

use mokume_reaction::*;

use crate::header::input_head;
use crate::plan::Plan;
use crate::text::{literal, string, Text};
use crate::tree::{computes, expression, word};
use crate::types::{c_type, declare, from_word, mask, to_word};

/// `out_p_e` for each output: it joins what leaves when the reaction is over.
pub(crate) fn outputs(plan: &Plan, text: &mut Text) {
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
    text.function("static void leave(void *stack, const mk_output *output)");
    text.line(format!("struct {} *k = stack;", plan.names.stack));
    text.line("(void)k;");
    text.open("switch ((uint32_t)output->port << 16 | output->event)");
    for (p, (port, names)) in plan.automaton.ports.iter().zip(&plan.names.outputs).enumerate() {
        for (e, (output, name)) in port.outputs.iter().zip(names).enumerate() {
            text.open(format!("case {}:", (p << 16) | e));
            leave_one(plan, (p, e), name, &output.params, text);
            text.line("break;");
            text.close("");
        }
    }
    text.line("default:");
    text.line("    break;");
    text.close("");
    text.end_function();
}

fn leave_one(plan: &Plan, (p, e): (usize, usize), name: &str, params: &[(String, Type)], text: &mut Text) {
    let mut args = vec!["k->ports.context".to_string()];
    let mut data = Vec::new();
    for (place, (_, ty)) in params.iter().enumerate() {
        let word = format!("output->args[{place}]");
        match ty {
            Type::Msg => {
                text.line(format!("mk_message *m{place} = {};", from_word(plan.automaton, *ty, &word)));
                let octets = format!("(mk_octets){{mk_data(m{place}), m{place}->view.size}}");
                data.push(format!("{{MK_OCTETS, 0, {{0, 0}}, {octets}}}"));
                args.push(octets);
            }
            Type::Ref(_) => {
                data.push(format!("{{MK_HANDLE, 0, mk_handle_of({word}), {{NULL, 0}}}}"));
                args.push(format!("mk_handle_of({word})"));
            }
            other => {
                data.push(format!("{{MK_WORD, {word}, {{0, 0}}, {{NULL, 0}}}}"));
                args.push(from_word(plan.automaton, *other, &word));
            }
        }
    }
    let count = params.len();
    let data =
        if data.is_empty() { "{{MK_WORD, 0, {0, 0}, {NULL, 0}}}".into() } else { format!("{{{}}}", data.join(", ")) };
    text.open(format!("if (k->ports.{name})"));
    text.line(format!("k->ports.{name}({});", args.join(", ")));
    text.close(" else if (k->ports.any) {");
    text.indent();
    text.line(format!("const mk_datum data[] = {data};"));
    text.line(format!("k->ports.any(k->ports.context, {p}, {e}, data, {count});"));
    text.close("");
    for (place, _) in params.iter().enumerate().filter(|(_, (_, ty))| *ty == Type::Msg) {
        text.line(format!("mk_message_free(&k->core.pool, m{place});"));
    }
}

/// The functions of the ports' inputs, and the one that takes any.
pub(crate) fn inputs(plan: &Plan, text: &mut Text) {
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
    let names = crate::header::param_names(&input.params);
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
            let mut wrong = vec![format!("count != {}", input.params.len())];
            let mut list = vec!["k".to_string(), "now".into()];
            for (place, (_, ty)) in input.params.iter().enumerate() {
                let (kind, member) = match ty {
                    Type::Msg => ("MK_OCTETS", format!("args[{place}].octets")),
                    Type::Ref(_) => ("MK_HANDLE", format!("args[{place}].handle")),
                    Type::Bool => ("MK_WORD", format!("args[{place}].word & 1u")),
                    other => ("MK_WORD", format!("({})args[{place}].word", c_type(plan.automaton, *other))),
                };
                wrong.push(format!("args[{place}].kind != {kind}"));
                list.push(member);
            }
            text.line(format!("    if ({})", wrong.join(" || ")));
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

/// What the runtime calls, the instance's life, and its tables.
pub(crate) fn life(plan: &Plan, text: &mut Text) {
    start(plan, text);
    init(plan, text);
    let stack = &plan.names.stack;
    text.lines(&format!(
        "void {stack}_advance(struct {stack} *k, uint64_t now)\n{{\n    mk_advance(&k->core, now);\n}}\n\n\
         bool {stack}_next_deadline(const struct {stack} *k, uint64_t *deadline)\n{{\n    return mk_next_deadline(&k->core, deadline);\n}}\n\n\
         const mk_accounts *{stack}_accounts(const struct {stack} *k)\n{{\n    return &k->core.accounts;\n}}\n\n\
         mk_core *{stack}_core(struct {stack} *k)\n{{\n    return &k->core;\n}}\n"
    ));
    tables(plan, text);
}

fn start(plan: &Plan, text: &mut Text) {
    let (automaton, stack) = (plan.automaton, &plan.names.stack);
    text.function(format!("void {stack}_start(struct {stack} *k, uint64_t now)"));
    text.line("k->core.now = now;");
    text.line("k->core.reactions_left = MK_REACTIONS_PER_CALL;");
    for class in (0..automaton.classes.len()).map(ClassId::from) {
        let Some(handler) = automaton.handler_of(class, &Trigger::Start) else { continue };
        let list = plan.arguments_of(handler, "MK_SOLE", Vec::new());
        text.line(format!("{}({list});", plan.names.handlers[handler.index()]));
        text.line("mk_end_reaction(&k->core);");
        // Timers that it set for now or earlier wait for the next call, as after every reaction from outside.
        text.line("mk_settle_down(&k->core);");
    }
    text.end_function();
}

fn init(plan: &Plan, text: &mut Text) {
    let (automaton, stack) = (plan.automaton, &plan.names.stack);
    let later: u32 = automaton.handlers.iter().map(|handler| handler.later_capacity).sum();
    let args = plan.arguments;
    text.lines(&format!(
        "static const mk_message_shape message_shape = {{{}, {}, {}, {}}};",
        automaton.attributes.len(),
        plan.received.len(),
        plan.header_octets,
        plan.head_room
    ));
    let defaults: Vec<String> = automaton.attributes.iter().map(|attribute| literal(attribute.default)).collect();
    let defaults = if defaults.is_empty() { "0".to_string() } else { defaults.join(", ") };
    text.lines(&format!("static const uint64_t attribute_defaults[] = {{{defaults}}};\n"));
    text.lines(&format!(
        "enum {{\n    ARGUMENTS = {args},\n    AGENDA = {},\n    LATER = {later},\n}};\n",
        plan.agenda
    ));
    text.lines(&format!(
        "size_t {stack}_size(const mk_config *config)\n{{\n\
         \x20   return mk_aligned(sizeof(struct {stack})) + mk_aligned((size_t)(AGENDA + 1) * mk_event_size(ARGUMENTS)) +\n\
         \x20          mk_aligned((size_t)(LATER + 1) * mk_event_size(ARGUMENTS)) +\n\
         \x20          mk_aligned((size_t)config->outputs * mk_output_size(ARGUMENTS)) +\n\
         \x20          mk_aligned((size_t)config->reports * sizeof(mk_report)) +\n\
         \x20          mk_pool_memory(&message_shape, config->buffers, config->messages, config->buffer_octets);\n}}\n"
    ));
    let params = match automaton.params.is_empty() {
        true => String::new(),
        false => format!("const struct {stack}_params *params, "),
    };
    text.function(format!(
        "struct {stack} *{stack}_init(void *memory, const mk_config *config, {params}const struct {stack}_ports *ports)"
    ));
    text.lines(&format!(
        "uint8_t *at = memory;\n\
         struct {stack} *k = mk_cut(&at, sizeof *k);\n\
         memset(k, 0, sizeof *k);\n\
         mk_core_init(&k->core, &program, k);\n\
         k->ports = *ports;\n\
         k->core.seed = config->seed;\n\
         k->core.classes = k->classes;\n\
         k->core.class_count = CLASSES;\n\
         k->core.accounts.dropped = k->dropped;\n\
         k->core.accounts.consumed = k->consumed;\n\
         mk_wheel_init(&k->core.wheel, UINT64_C({}));\n\
         void *events = mk_cut(&at, (size_t)(AGENDA + 1) * mk_event_size(ARGUMENTS));\n\
         mk_agenda_init(&k->core.agenda, events, ARGUMENTS, AGENDA, k->channels, {});\n\
         void *later = mk_cut(&at, (size_t)(LATER + 1) * mk_event_size(ARGUMENTS));\n\
         mk_ring_init(&k->core.later, later, mk_event_size(ARGUMENTS), LATER);\n\
         void *outputs = mk_cut(&at, (size_t)config->outputs * mk_output_size(ARGUMENTS));\n\
         k->core.outputs = outputs;\n\
         k->core.output_stride = mk_output_size(ARGUMENTS);\n\
         k->core.output_capacity = config->outputs;\n\
         k->core.reports = mk_cut(&at, (size_t)config->reports * sizeof(mk_report));\n\
         k->core.report_capacity = config->reports;\n\
         mk_pool_init(&k->core.pool, at, &message_shape, attribute_defaults, config->buffers, config->messages,\n\
         \x20            config->buffer_octets);",
        automaton.tick.max(1),
        plan.channels.len()
    ));
    if automaton.outputs > 0 {
        text.line(format!("k->core.output_quota = {};", automaton.outputs));
    }
    if !automaton.params.is_empty() {
        text.line("k->params = *params;");
        for (param, name) in automaton.params.iter().zip(&plan.names.params) {
            let width = param.ty.width(automaton);
            if width > 0 && !crate::types::is_whole(width) && param.ty != Type::Bool {
                text.line(format!("k->params.{name} &= {};", literal(mask(width))));
            }
        }
    }
    classes(plan, text);
    text.line("return k;");
    text.end_function();
}

fn classes(plan: &Plan, text: &mut Text) {
    let automaton = plan.automaton;
    for (index, (class, name)) in automaton.classes.iter().zip(&plan.names.classes).enumerate() {
        let id = ClassId::from(index);
        let parent = class.parent.map_or("MK_NOBODY".to_string(), |parent| plan.class_constant(parent));
        let parents = class.parent.map_or(1, |parent| automaton.class(parent).capacity);
        let limit = class.settle_limit.unwrap_or(1).max(1);
        let at = plan.class_constant(id);
        text.lines(&format!(
            "k->classes[{at}] = (mk_class){{k->{name}_objects, k->{name}_living, k->{name}_families, k->{name}_free, {}, {parent}, {parents}, {limit}, {at}, {}}};\n\
             mk_class_init(&k->classes[{at}]);",
            class.capacity,
            plan.settles.contains(&id)
        ));
    }
    for (index, name) in plan.names.classes.iter().enumerate() {
        let id = ClassId::from(index);
        if automaton.is_unique(id) {
            text.line(format!("mk_new(&k->core, {}, 0);", expression(&plan.class_at(id))));
            text.line(format!("init_{name}(k, 0);"));
        }
    }
}

fn names(text: &mut Text, name: &str, list: &[String]) {
    let list: Vec<String> = list.iter().map(|entry| string(entry)).collect();
    let list = if list.is_empty() { "\"\"".into() } else { list.join(",\n    ") };
    text.lines(&format!("static const char *const {name}[] = {{\n    {list},\n}};\n"));
}

fn tables(plan: &Plan, text: &mut Text) {
    let (automaton, stack) = (plan.automaton, &plan.names.stack);
    let buffers = if automaton.pool > 0 { automaton.pool } else { 256 };
    text.lines(&format!(
        "const mk_config {stack}_defaults = {{0, {buffers}, {}, {}, 256, 64}};\n",
        2048 + plan.head_room,
        buffers.saturating_mul(2)
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
    names(text, "sources", &automaton.sources.iter().map(|s| format!("{}:{}", s.file, s.line)).collect::<Vec<_>>());
    any_life(plan, text);
    text.lines(&format!(
        "const mk_interface {stack}_interface = {{\n\
         \x20   {}, {{0, {buffers}, {}, {}, 256, 64}},\n\
         \x20   {stack}_size, any_init, any_start, input, any_advance, any_next_deadline, any_core, any_counters, any_coverage,\n\
         \x20   {}, {}, {}, {}, counter_names, reason_names, sources,\n}};",
        string(&automaton.name),
        2048 + plan.head_room,
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
