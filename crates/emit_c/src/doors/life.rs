//! The instance's life: its memory size, its creation and its start.

use mokume_reaction::border::parameters;
use mokume_reaction::*;

use super::border::{self, Guards};
use super::{outputs, parts, tables};
use crate::plan::heads::Beside;
use crate::plan::Plan;
use crate::state::objects;
use crate::text::{literal, Text};
use crate::tree::expression;
use crate::types::mask;

/// The sizes that the whole file uses.
pub(crate) fn sizes(plan: &Plan, text: &mut Text) {
    let later: u32 = plan.automaton.handlers.iter().map(|handler| handler.later_capacity).sum();
    let (args, agenda) = (plan.arguments, plan.agenda);
    let front = front_room(plan);
    let front = if front > 0 { format!("    FRONT = {front},\n") } else { String::new() };
    let (headers, attributes, received) = (plan.header_octets, plan.automaton.attributes.len(), plan.received.len());
    text.lines(&format!(
        "enum {{\n    ARGUMENTS = {args},\n    AGENDA = {agenda},\n    LATER = {later},\n    HEADERS = {headers},\n    \
         HEADERS_AT = sizeof(mk_message) + {attributes} * sizeof(uint64_t) + {received} * sizeof(mk_view),\n{front}}};\n"
    ));
}

/// The room for the octets that paths put in front of outputs.
pub(super) fn front_room(plan: &Plan) -> usize {
    crate::body::front_octets(plan.automaton).next_multiple_of(16)
}

/// Writes the functions of the instance's life, and its tables.
pub(crate) fn functions(plan: &Plan, text: &mut Text) {
    start(plan, text);
    size(plan, text);
    init(plan, text);
    let stack = &plan.names.stack;
    text.lines(&format!(
        "void {stack}_advance(struct {stack} *k, uint64_t now)\n{{\n    mk_advance(&k->core, now);\n}}\n\n\
         bool {stack}_next_deadline(const struct {stack} *k, uint64_t *deadline)\n{{\n    return mk_next_deadline(&k->core, deadline);\n}}\n\n\
         const mk_accounts *{stack}_accounts(const struct {stack} *k)\n{{\n    return &k->core.accounts;\n}}\n\n\
         mk_core *{stack}_core(struct {stack} *k)\n{{\n    return &k->core;\n}}\n"
    ));
    tables::write(plan, text);
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
        // Timers set for now or earlier wait for the next call, as after every reaction from outside.
        text.line("mk_settle_down(&k->core);");
    }
    text.end_function();
}

/// The memory that an instance needs.
fn size(plan: &Plan, text: &mut Text) {
    let (automaton, stack) = (plan.automaton, &plan.names.stack);
    text.lines(&format!(
        "static const mk_message_shape message_shape = {{{}, {}, HEADERS, {}}};",
        automaton.attributes.len(),
        plan.received.len(),
        plan.head_room
    ));
    let defaults: Vec<String> = automaton.attributes.iter().map(|attribute| literal(attribute.default)).collect();
    let defaults = if defaults.is_empty() { "0".to_string() } else { defaults.join(", ") };
    text.lines(&format!("static const uint64_t attribute_defaults[] = {{{defaults}}};\n"));
    let front = match front_room(plan) {
        0 => "",
        _ => "    size = mk_plus(size, 2 * FRONT + (uint64_t)config->buffer_octets, 1);\n",
    };
    text.lines(&format!(
        "size_t {stack}_size(const mk_config *config)\n{{\n\
         \x20   size_t size = mk_plus(0, sizeof(struct {stack}), 1);\n\
         \x20   size = mk_plus(size, (uint64_t)AGENDA + 1, mk_event_size(ARGUMENTS));\n\
         \x20   size = mk_plus(size, (uint64_t)LATER + 1, mk_event_size(ARGUMENTS));\n\
         \x20   size = mk_plus(size, config->outputs, mk_output_size(ARGUMENTS));\n\
         \x20   size = mk_plus(size, config->reports, sizeof(mk_report));\n{front}\
         \x20   return mk_pool_plus(size, &message_shape, config->buffers, config->messages, config->buffer_octets);\n}}\n"
    ));
}

fn init(plan: &Plan, text: &mut Text) {
    let (automaton, stack) = (plan.automaton, &plan.names.stack);
    let params = match automaton.params.is_empty() {
        true => String::new(),
        false => format!("const struct {stack}_params *params, "),
    };
    class_plans(plan, text);
    text.function(format!(
        "struct {stack} *{stack}_init(void *memory, const mk_config *config, {params}const struct {stack}_ports *ports)"
    ));
    text.line(format!("if ({stack}_size(config) == SIZE_MAX)"));
    text.line("    return NULL;");
    let guards = param_guards(plan);
    if !guards.refusals.is_empty() {
        text.line(format!("if ({})", guards.refusals.join(" || ")));
        text.line("    return NULL;");
    }
    text.lines(&format!(
        "uint8_t *at = memory;\n\
         struct {stack} *k = mk_cut(&at, sizeof *k);\n\
         if (!MK_FAULT(memory_kept))\n\
         \x20   memset(k, 0, sizeof *k);\n\
         mk_core_init(&k->core, &program, k);\n\
         k->ports = *ports;\n\
         k->core.seed = config->seed;\n\
         k->core.classes = k->classes;\n\
         k->core.class_count = CLASSES;\n\
         k->core.accounts.dropped = k->dropped;\n\
         k->core.accounts.consumed = k->consumed;\n\
         mk_wheel_init(&k->core.wheel, UINT64_C({}), k->timers, {});\n\
         void *events = mk_cut(&at, (size_t)(AGENDA + 1) * mk_event_size(ARGUMENTS));\n\
         mk_agenda_init(&k->core.agenda, events, ARGUMENTS, AGENDA, k->channels, {});\n\
         void *later = mk_cut(&at, (size_t)(LATER + 1) * mk_event_size(ARGUMENTS));\n\
         mk_ring_init(&k->core.later, later, mk_event_size(ARGUMENTS), LATER);\n\
         void *outputs = mk_cut(&at, (size_t)config->outputs * mk_output_size(ARGUMENTS));\n\
         k->core.outputs = outputs;\n\
         k->core.output_stride = mk_output_size(ARGUMENTS);\n\
         k->core.output_capacity = config->outputs;\n\
         k->core.reports = mk_cut(&at, (size_t)config->reports * sizeof(mk_report));\n\
         k->core.report_capacity = config->reports;",
        automaton.tick.max(1),
        plan.timers.len(),
        plan.channels.len()
    ));
    if front_room(plan) > 0 {
        // Paths that run while an output leaves put their octets before it.
        text.line("uint8_t *front = mk_cut(&at, 2 * FRONT + (size_t)config->buffer_octets);");
        text.line("k->core.front = front + 2 * FRONT;");
    }
    let parts: Vec<String> = parts::all(plan).into_iter().map(|(name, _)| format!("ports->{name} != NULL")).collect();
    if !parts.is_empty() {
        text.line(format!("k->core.long_octets = {} ? 0 : MK_FEW_OCTETS + 1;", parts.join(" || ")));
    }
    text.lines(
        "mk_pool_init(&k->core.pool, at, &message_shape, attribute_defaults, config->buffers, config->messages,\n\
         \x20            config->buffer_octets);",
    );
    let peak = super::inputs::peak(automaton);
    text.line(format!("k->core.peak = {};", peak.max(1)));
    if automaton.composition.is_some() && automaton.pool > 0 {
        text.line(format!("k->core.most_held = {};", automaton.pool.saturating_sub(peak)));
    }
    text.line("mk_note_brink(&k->core);");
    if !parts.is_empty() {
        text.line("k->core.lends = k->core.brink > 0 && k->core.long_octets > 0;");
    }
    if automaton.outputs > 0 {
        text.line(format!("k->core.output_quota = {};", automaton.outputs));
    }
    if automaton.functions.iter().any(Function::is_memo) {
        text.line("k->memos = 1;");
    }
    copy_params(plan, &guards, text);
    outputs::tell_whom(plan, text);
    classes(plan, text);
    text.line("return k;");
    text.end_function();
}

/// The guards of the parameters that `init` is given.
fn param_guards(plan: &Plan) -> Guards {
    let automaton = plan.automaton;
    let values = automaton.params.iter().zip(&plan.names.params).map(|(param, name)| match bits(plan, param) {
        Some(bits) => format!("(params->{name} & {bits})"),
        None => format!("params->{name}"),
    });
    border::guards(plan, &parameters(automaton), &values.collect::<Vec<_>>())
}

/// The bits of a parameter, if its type in C has more.
fn bits(plan: &Plan, param: &Param) -> Option<String> {
    let width = param.ty.width(plan.automaton);
    (width > 0 && !crate::types::is_whole(width) && param.ty != Type::Bool).then(|| literal(mask(width)))
}

/// Copies the parameters, each cut to its width; what is not there becomes 0.
fn copy_params(plan: &Plan, guards: &Guards, text: &mut Text) {
    let automaton = plan.automaton;
    if automaton.params.is_empty() {
        return;
    }
    text.line("k->params = *params;");
    for ((param, name), there) in automaton.params.iter().zip(&plan.names.params).zip(&guards.there) {
        if let Some(bits) = bits(plan, param) {
            text.line(format!("k->params.{name} &= {bits};"));
        }
        if let Some(there) = there {
            text.line(format!("if (!({there}))"));
            text.line(format!("    k->params.{name} = 0;"));
        }
    }
}

/// Initializes the classes, and the unique objects.
fn classes(plan: &Plan, text: &mut Text) {
    text.line("mk_classes_init(k, k->classes, class_plans, CLASSES);");
    for (place, (class, cell)) in plan.timers.iter().enumerate() {
        let (name, stack) = (&plan.names.classes[class.index()], &plan.names.stack);
        let member = &plan.names.cells[class.index()][cell.index()];
        let ages = match plan.heads.has(*class, Beside::Ages) {
            true => expression(&plan.beside(*class, Beside::Ages)),
            false => "NULL".to_string(),
        };
        let first = format!("offsetof(struct {stack}, {name}[0].{member}) - offsetof(struct {stack}, core.wheel)");
        text.line(format!(
            "k->timers[{place}] = mk_timers_of({first}, sizeof(struct {name}), sizeof k->{name}, {ages});"
        ));
    }
    for (index, name) in plan.names.classes.iter().enumerate() {
        let id = ClassId::from(index);
        if plan.automaton.is_unique(id) {
            text.line(format!("mk_new(&k->core, {}, 0);", expression(&plan.class_at(id))));
            if !objects::is_zero(plan, plan.automaton.class(id)) {
                text.line(format!("init_{name}(k, 0);"));
            }
        }
        if !plan.is_sole(id) {
            objects::nobody(plan, id, text);
        }
    }
}

/// The plan of each class, for the runtime.
fn class_plans(plan: &Plan, text: &mut Text) {
    let (automaton, stack) = (plan.automaton, &plan.names.stack);
    text.open("static const mk_class_plan class_plans[] =");
    for (index, (class, name)) in automaton.classes.iter().zip(&plan.names.classes).enumerate() {
        let parent = class.parent.map_or("MK_NOBODY".to_string(), |parent| plan.class_constant(parent));
        let parents = class.parent.map_or(1, |parent| automaton.class(parent).capacity).max(1);
        // The runtime counts up to a billion of them.
        let limit = class.settle_limit.unwrap_or(1).clamp(1, 1 << 29);
        let heads = plan.heads.all(ClassId::from(index));
        let mut arrays: Vec<&str> = heads.iter().map(|beside| beside.name()).chain(["free"]).collect();
        if heads.contains(&Beside::Kin) {
            arrays.push("families");
        }
        if plan.mortal.contains(&ClassId::from(index)) {
            arrays.push("ended");
        }
        let at = |array: &&str| format!(".{array} = offsetof(struct {stack}, {name}_{array}), ");
        let arrays: String = arrays.iter().map(at).collect();
        let capacity = class.capacity;
        let numbers =
            format!(".capacity = {capacity}, .parent = {parent}, .parents = {parents}, .settle_limit = {limit}");
        text.line(format!("{{{arrays}{numbers}}},"));
    }
    if automaton.classes.is_empty() {
        text.line("{.parent = MK_NOBODY, .parents = 1, .settle_limit = 1},");
    }
    text.close(";");
    text.line("");
}
