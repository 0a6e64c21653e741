//! New objects, and the end of objects.

use mokume_reaction::*;

use super::stored::Stored;
use crate::memos::FORGET;
use crate::plan::heads::Beside;
use crate::plan::Plan;
use crate::text::{literal, Text};
use crate::tree::{expression, word};
use crate::types::mask;

/// Writes the functions for new and ended objects of a class: `init_c`, `new_c` and `clear_c`.
pub(crate) fn write(plan: &Plan, text: &mut Text) {
    for (index, class) in plan.automaton.classes.iter().enumerate() {
        let id = ClassId::from(index);
        init(plan, id, class, text);
        if !plan.automaton.is_unique(id) {
            new(plan, id, class, text);
        }
        clear(plan, id, class, text);
    }
}

/// Whether all cells of a new object are zero.
pub(crate) fn is_zero(plan: &Plan, class: &Class) -> bool {
    class.cells.iter().all(|cell| match &cell.kind {
        CellKind::Scalar { ty, init } | CellKind::Array { ty, init, .. } => initial(plan, *ty, *init) == "0",
        CellKind::Quota { .. } => false,
        CellKind::Timer | CellKind::Messages { .. } | CellKind::Map { .. } | CellKind::Counter => true,
    })
}

fn init(plan: &Plan, id: ClassId, class: &Class, text: &mut Text) {
    let (stack, name) = (&plan.names.stack, &plan.names.classes[id.index()]);
    text.function(format!("static MK_UNUSED void init_{name}(struct {stack} *k, uint32_t number)"));
    text.line(format!("struct {name} *object = &k->{name}[number];"));
    text.line("memset(object, 0, sizeof *object);");
    for (cell, member) in class.cells.iter().zip(&plan.names.cells[id.index()]) {
        match &cell.kind {
            CellKind::Scalar { ty, init } => {
                let value = initial(plan, *ty, *init);
                if value != "0" {
                    text.line(Stored::of(plan.automaton, class, *ty).write(&format!("object->{member}"), &value));
                }
            }
            CellKind::Array { ty, size, init } => {
                let value = initial(plan, *ty, *init);
                if value != "0" {
                    text.line(format!("for (uint32_t i = 0; i < {size}; i++)"));
                    text.line(format!("    object->{member}[i] = {value};"));
                }
            }
            CellKind::Quota { amount } => text.line(format!("object->{member} = {amount};")),
            CellKind::Timer | CellKind::Messages { .. } | CellKind::Map { .. } | CellKind::Counter => {}
        }
    }
    text.end_function();
}

/// The references of the null record are null; everything else of it is zero.
pub(crate) fn nobody(plan: &Plan, id: ClassId, text: &mut Text) {
    let (class, name) = (plan.automaton.class(id), &plan.names.classes[id.index()]);
    for (cell, member) in class.cells.iter().zip(&plan.names.cells[id.index()]) {
        let place = format!("k->{name}[{}].{member}", class.capacity);
        match &cell.kind {
            CellKind::Scalar { ty: ty @ Type::Ref(_), .. } => {
                text.line(Stored::of(plan.automaton, class, *ty).write(&place, "MK_NULL"));
            }
            CellKind::Array { ty: Type::Ref(_), size, .. } => {
                text.line(format!("for (uint32_t i = 0; i < {size}; i++)"));
                text.line(format!("    {place}[i] = MK_NULL;"));
            }
            _ => {}
        }
    }
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

/// Ends an object: timers stop, held messages are gone, and quotas get back what these took.
fn clear(plan: &Plan, id: ClassId, class: &Class, text: &mut Text) {
    if !plan.mortal.contains(&id) {
        return;
    }
    let (stack, name) = (&plan.names.stack, &plan.names.classes[id.index()]);
    text.function(format!("static void clear_{name}(struct {stack} *k, uint32_t number, bool freed)"));
    text.line(format!("struct {name} *object = &k->{name}[number];"));
    text.line("(void)object, (void)freed;");
    if plan.support.asks_for(id) {
        text.line(format!("{FORGET}(&k->memos);"));
    }
    for (cell, member) in class.cells.iter().zip(&plan.names.cells[id.index()]) {
        match &cell.kind {
            CellKind::Timer => text.line(format!("mk_timer_remove(&k->core.wheel, &object->{member});")),
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

/// Returns units to a quota of this class or of a scope around it.
fn give_back(plan: &Plan, id: ClassId, (owner, cell): (ClassId, CellId), dropped: &str, text: &mut Text) {
    text.open("");
    text.line("uint32_t owner = number;");
    let mut class = id;
    while class != owner {
        let Some(parent) = plan.automaton.class(class).parent else { break };
        match plan.heads.has(class, Beside::Kin) {
            true => text.line(format!("owner = k->{}_kin[owner].parent;", plan.names.classes[class.index()])),
            false => text.line("owner = 0;"),
        }
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
