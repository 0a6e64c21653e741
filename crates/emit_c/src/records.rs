//! The data of a generated stack: header records, the cells of each class, the instance.

use mokume_reaction::*;

use crate::plan::Plan;
use crate::text::{literal, Text};
use crate::tree::{expression, word};
use crate::types::{c_type, declare, mask, stored_octets};

/// Structs of header records, shapes of maps, structs of cells, and the instance.
pub(crate) fn write(plan: &Plan, text: &mut Text) {
    headers(plan, text);
    for (index, class) in plan.automaton.classes.iter().enumerate() {
        shapes(plan, ClassId::from(index), class, text);
        cells(plan, ClassId::from(index), class, text);
    }
    instance(plan, text);
}

fn headers(plan: &Plan, text: &mut Text) {
    for (h, header) in plan.automaton.headers.iter().enumerate() {
        for (v, variant) in header.variants.iter().enumerate() {
            text.open(format!("struct {}", plan.names.variants[h][v]));
            text.line("_Alignas(8) uint32_t kind;");
            for (name, (_, ty)) in plan.names.fields[h][v].iter().zip(&variant.fields) {
                text.line(format!("{};", declare(c_type(plan.automaton, *ty), name)));
            }
            text.close(";");
            text.line("");
        }
    }
}

/// Twice as many places as entries, a power of two.
fn places(capacity: u32) -> u32 {
    capacity.max(1).saturating_mul(2).checked_next_power_of_two().unwrap_or(1 << 31)
}

fn sizes(plan: &Plan, key: &[Type], value: &[Type]) -> (u32, u32) {
    let sum = |types: &[Type]| types.iter().map(|ty| stored_octets(plan.automaton, *ty)).sum();
    (sum(key), sum(value))
}

fn shapes(plan: &Plan, id: ClassId, class: &Class, text: &mut Text) {
    for (cell, name) in class.cells.iter().zip(&plan.names.cells[id.index()]) {
        let CellKind::Map { key, value, capacity } = &cell.kind else { continue };
        let (key, value) = sizes(plan, key, value);
        let class = &plan.names.classes[id.index()];
        text.line(format!("/* {}: at most {capacity} entries. */", cell.name));
        text.line(format!(
            "static MK_UNUSED const mk_map_shape shape_{class}_{name} = {{{capacity}, {}, {key}, {value}}};",
            places(*capacity)
        ));
        text.line("");
    }
}

fn cells(plan: &Plan, id: ClassId, class: &Class, text: &mut Text) {
    text.line(match plan.place(class.source) {
        Some(place) => format!("/* {}: {place} */", class.name),
        None => format!("/* {} */", class.name),
    });
    text.open(format!("struct {}", plan.names.classes[id.index()]));
    let before = text.len();
    for (cell, name) in class.cells.iter().zip(&plan.names.cells[id.index()]) {
        match &cell.kind {
            CellKind::Scalar { ty, .. } => text.line(format!("{};", declare(c_type(plan.automaton, *ty), name))),
            CellKind::Array { ty, size, .. } => {
                let array = format!("{name}[{}]", (*size).max(1));
                text.line(format!("{};", declare(c_type(plan.automaton, *ty), &array)));
            }
            CellKind::Messages { size, .. } => text.line(format!("mk_message *{name}[{}];", (*size).max(1))),
            CellKind::Map { key, value, capacity } => {
                let (key, value) = sizes(plan, key, value);
                let octets = u64::from(places(*capacity)) * (1 + u64::from(key) + u64::from(value));
                text.line(format!("mk_map {name};"));
                text.line(format!("uint8_t {name}_entries[{octets}];"));
            }
            CellKind::Timer => text.line(format!("mk_timer {name};")),
            CellKind::Quota { amount } => text.line(format!("uint32_t {name}; /* left of {amount} */")),
            CellKind::Counter => {}
        }
    }
    if text.len() == before {
        text.line("uint8_t unused;");
    }
    text.close(";");
    text.line("");
}

fn parents(plan: &Plan, class: &Class) -> u32 {
    class.parent.map_or(1, |parent| plan.automaton.class(parent).capacity)
}

fn instance(plan: &Plan, text: &mut Text) {
    let (automaton, names) = (plan.automaton, &plan.names);
    text.open("enum");
    for class in (0..automaton.classes.len()).map(ClassId::from) {
        text.line(format!("{} = {},", plan.class_constant(class), class.0));
    }
    text.line(format!("CLASSES = {}", automaton.classes.len()));
    text.close(";");
    text.line("");
    text.open("enum");
    for (h, kinds) in names.kinds.iter().enumerate() {
        for (v, kind) in kinds.iter().enumerate() {
            text.line(format!("{kind} = {},", h << 16 | v));
        }
    }
    text.line("KINDS");
    text.close(";");
    text.line("");
    text.line("/* One running stack. The one place of each class beyond its capacity means nobody, and is zero. */");
    text.open(format!("struct {}", names.stack));
    text.line("mk_core core;");
    text.line(format!("struct {}_ports ports;", names.stack));
    if !automaton.params.is_empty() {
        text.line(format!("struct {}_params params;", names.stack));
    }
    text.line(format!("mk_class classes[{}];", automaton.classes.len().max(1)));
    for (class, name) in automaton.classes.iter().zip(&names.classes) {
        let places = class.capacity + 1;
        text.line(format!("struct {name} {name}[{places}];"));
        text.line(format!("mk_object {name}_objects[{places}];"));
        text.line(format!("mk_ref {name}_living[{places}];"));
        text.line(format!("mk_family {name}_families[{}];", parents(plan, class).max(1)));
        text.line(format!("uint64_t {name}_free[MK_FREE_WORDS({})];", class.capacity.max(1)));
    }
    text.line(format!("mk_channel channels[{}];", plan.channels.len().max(1)));
    text.line(format!("uint64_t counters[{}];", plan.counters.len().max(1)));
    text.line(format!("uint64_t dropped[{}], consumed[{0}];", automaton.reasons.len().max(1)));
    for (handler, name) in automaton.handlers.iter().zip(&names.handlers) {
        if handler.later_capacity > 0 {
            text.line(format!("uint32_t later_{name};"));
        }
    }
    if plan.coverage {
        text.line(format!("uint64_t coverage[{}];", plan.branches.len().max(1)));
    }
    text.close(";");
    text.line("");
}

/// What a class's objects are when they are new: `init_c`, `new_c` and `clear_c`.
pub(crate) fn objects(plan: &Plan, text: &mut Text) {
    for (index, class) in plan.automaton.classes.iter().enumerate() {
        let id = ClassId::from(index);
        init(plan, id, class, text);
        if !plan.automaton.is_unique(id) {
            new(plan, id, class, text);
        }
        clear(plan, id, class, text);
    }
}

/// Whether a new object has nothing but zeros.
pub(crate) fn is_zero(plan: &Plan, class: &Class) -> bool {
    class.cells.iter().all(|cell| match &cell.kind {
        CellKind::Scalar { ty, init } | CellKind::Array { ty, init, .. } => initial(plan, *ty, *init) == "0",
        CellKind::Timer | CellKind::Quota { .. } => false,
        CellKind::Messages { .. } | CellKind::Map { .. } | CellKind::Counter => true,
    })
}

fn init(plan: &Plan, id: ClassId, class: &Class, text: &mut Text) {
    let (stack, name) = (&plan.names.stack, &plan.names.classes[id.index()]);
    text.function(format!("static MK_UNUSED void init_{name}(struct {stack} *k, uint32_t number)"));
    text.line(format!("struct {name} *object = &k->{name}[number];"));
    text.line("memset(object, 0, sizeof *object);");
    for (place, (cell, member)) in class.cells.iter().zip(&plan.names.cells[id.index()]).enumerate() {
        match &cell.kind {
            CellKind::Scalar { ty, init } => {
                let value = initial(plan, *ty, *init);
                if value != "0" {
                    text.line(format!("object->{member} = {value};"));
                }
            }
            CellKind::Array { ty, size, init } => {
                let value = initial(plan, *ty, *init);
                if value != "0" {
                    text.line(format!("for (uint32_t i = 0; i < {size}; i++)"));
                    text.line(format!("    object->{member}[i] = {value};"));
                }
            }
            CellKind::Timer => {
                let declared = (id, CellId::from(place));
                let number = plan.timers.iter().position(|timer| *timer == declared).unwrap_or(0);
                text.line(format!("object->{member}.declaration = {number};"));
                text.line(format!("object->{member}.number = number;"));
                text.line(format!("object->{member}.age = k->{name}_objects[number].age;"));
            }
            CellKind::Quota { amount } => text.line(format!("object->{member} = {amount};")),
            CellKind::Messages { .. } | CellKind::Map { .. } | CellKind::Counter => {}
        }
    }
    text.end_function();
}

pub(crate) fn initial(plan: &Plan, ty: Type, init: u64) -> String {
    match ty {
        Type::Ref(_) => "MK_NULL".into(),
        Type::Reason => literal(init),
        scalar => literal(init & mask(scalar.width(plan.automaton))),
    }
}

fn new(plan: &Plan, id: ClassId, class: &Class, text: &mut Text) {
    let (stack, name) = (&plan.names.stack, &plan.names.classes[id.index()]);
    text.function(format!("static MK_UNUSED mk_ref new_{name}(struct {stack} *k, mk_ref parent)"));
    let at = expression(&plan.class_at(id));
    match class.parent {
        Some(parent) => {
            text.line(format!("if ({})", expression(&plan.lives(parent, word("parent")).negated())));
            text.line("    return MK_NULL;");
        }
        None => text.line("(void)parent;"),
    }
    text.line(format!("uint32_t number = mk_new(&k->core, {at}, mk_number(parent));"));
    text.line("if (number == MK_NOBODY)");
    text.line("    return MK_NULL;");
    text.line(format!("init_{name}(k, number);"));
    text.line(format!("return mk_self({at}, number);"));
    text.end_function();
}

/// An object ends: timers stop, held messages are gone, with what they took from quotas.
fn clear(plan: &Plan, id: ClassId, class: &Class, text: &mut Text) {
    if !plan.mortal.contains(&id) {
        return;
    }
    let (stack, name) = (&plan.names.stack, &plan.names.classes[id.index()]);
    text.function(format!("static void clear_{name}(struct {stack} *k, uint32_t number, bool freed)"));
    text.line(format!("struct {name} *object = &k->{name}[number];"));
    text.line("(void)object, (void)freed;");
    for (cell, member) in class.cells.iter().zip(&plan.names.cells[id.index()]) {
        match &cell.kind {
            CellKind::Timer => text.line(format!("mk_timer_stop(&object->{member});")),
            CellKind::Messages { size, quota } => {
                let drop = format!("mk_drop_held(&k->core, object->{member}, {size})");
                match quota {
                    Some((owner, cell)) => give_back(plan, id, (*owner, *cell), &drop, text),
                    None => text.line(format!("{drop};")),
                }
            }
            _ => {}
        }
    }
    text.end_function();
}

/// To a quota of this class or of a scope around it.
fn give_back(plan: &Plan, id: ClassId, (owner, cell): (ClassId, CellId), dropped: &str, text: &mut Text) {
    text.open("");
    text.line("uint32_t owner = number;");
    let mut class = id;
    while class != owner {
        let Some(parent) = plan.automaton.class(class).parent else { break };
        text.line(format!("owner = k->{}_objects[owner].parent;", plan.names.classes[class.index()]));
        class = parent;
    }
    let CellKind::Quota { amount } = plan.automaton.cell(owner, cell).kind else {
        text.line(format!("{dropped};"));
        return text.close("");
    };
    let (name, member) = (&plan.names.classes[owner.index()], &plan.names.cells[owner.index()][cell.index()]);
    let left = format!("k->{name}[owner].{member}");
    text.line(format!("uint32_t units = {dropped};"));
    text.line(format!("{left} += mk_min_u32(units, {amount} - {left});"));
    text.close("");
}
