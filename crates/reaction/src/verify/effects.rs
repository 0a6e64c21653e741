//! What a body may touch: its own layer's cells, the link cells of neighbours, and nothing if it is a function.

use super::{Context, Faults};
use crate::*;

pub fn check(context: &Context, faults: &mut Faults) {
    for (index, block) in context.body.blocks.iter().enumerate() {
        for (op, found) in block.ops.iter().enumerate() {
            check_op(context, &found.kind, context.op(index, op), faults);
        }
        check_end(context, &block.end, context.end(index), faults);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Access {
    Read,
    Write,
}

fn layer_of(automaton: &Automaton, unit: Unit) -> Option<LayerId> {
    let class = match unit {
        Unit::Function(id) => automaton.functions[id.index()].published?,
        Unit::Handler(id) => automaton.handler(id).class,
    };
    Some(automaton.class(class).layer)
}

/// Whether a link to or from this layer names the cell.
fn is_link_cell(automaton: &Automaton, layer: LayerId, class: ClassId, cell: CellId) -> bool {
    automaton.links.iter().any(|link| {
        let near = [link.above.0, link.below.0].iter().any(|end| automaton.class(*end).layer == layer);
        near && (link.above == (class, Some(cell)) || link.below == (class, Some(cell)))
    })
}

fn check_access(context: &Context, object: Value, cell: CellId, access: Access, place: Place, faults: &mut Faults) {
    let automaton = context.automaton;
    let Some(class) = context.typing().class_of(object) else { return };
    let Some(layer) = layer_of(automaton, context.unit) else {
        faults
            .add(codes::EFFECT, place, "a pure function has no access to cells")
            .help("publish it, with an object as first parameter");
        return;
    };
    let found = automaton.class(class);
    if found.layer == layer || is_link_cell(automaton, layer, class, cell) {
        return;
    }
    let name = format!("{}.{}", found.name, found.cells[cell.index()].name);
    match access {
        Access::Write => {
            let message = format!("`{name}` is written here, and belongs to another layer");
            faults.add(codes::FOREIGN_WRITE, place, message).help("emit an event to its object");
        }
        Access::Read => {
            let message = format!("`{name}` is read here, and belongs to another layer");
            faults.add(codes::FOREIGN_READ, place, message).help("let that layer publish it, and call the function");
        }
    }
}

fn check_own(context: &Context, class: ClassId, what: &str, place: Place, faults: &mut Faults) {
    if layer_of(context.automaton, context.unit) != Some(context.automaton.class(class).layer) {
        let name = &context.automaton.class(class).name;
        let message = format!("an object of class `{name}` is {what} here, and belongs to another layer");
        faults.add(codes::FOREIGN_WRITE, place, message).help("emit an event to its layer");
    }
}

/// The cell that an operation reads or writes.
fn access_of(kind: &OpKind) -> Option<(Value, CellId, Access)> {
    match kind {
        OpKind::Get { object, cell }
        | OpKind::GetAt { object, cell, .. }
        | OpKind::IsArmed { object, cell }
        | OpKind::Left { object, cell }
        | OpKind::Holds { object, cell, .. } => Some((*object, *cell, Access::Read)),
        OpKind::Set { object, cell, .. }
        | OpKind::SetAt { object, cell, .. }
        | OpKind::Arm { object, cell, .. }
        | OpKind::Disarm { object, cell }
        | OpKind::Count { object, cell, .. }
        | OpKind::Give { object, cell, .. }
        | OpKind::Keep { object, cell, .. } => Some((*object, *cell, Access::Write)),
        _ => None,
    }
}

/// Operations that only compute and read.
fn is_reading(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::Const { .. }
            | OpKind::Null { .. }
            | OpKind::Binary { .. }
            | OpKind::Compare { .. }
            | OpKind::Not { .. }
            | OpKind::Select { .. }
            | OpKind::Cast { .. }
            | OpKind::Param { .. }
            | OpKind::Call { .. }
            | OpKind::Fold16 { .. }
    ) || matches!(
        kind,
        OpKind::Now
            | OpKind::Unique { .. }
            | OpKind::Parent { .. }
            | OpKind::Get { .. }
            | OpKind::GetAt { .. }
            | OpKind::IsArmed { .. }
            | OpKind::Left { .. }
            | OpKind::Holds { .. }
    )
}

fn check_op(context: &Context, kind: &OpKind, place: Place, faults: &mut Faults) {
    let typing = context.typing();
    if matches!(context.unit, Unit::Function(_)) && !is_reading(kind) {
        faults.add(codes::EFFECT, place, "a function has no effects and no messages").help("do it in a handler");
        return;
    }
    if let Some((object, cell, access)) = access_of(kind) {
        check_access(context, object, cell, access, place, faults);
    }
    match kind {
        OpKind::Release { object } => {
            if let Some(class) = typing.class_of(*object) {
                check_own(context, class, "released", place, faults);
            }
        }
        OpKind::Draw { object, .. } => {
            if let Some(class) = typing.class_of(*object) {
                check_own(context, class, "drawn from", place, faults);
            }
        }
        OpKind::Again { object } => check_again(context, *object, place, faults),
        OpKind::Emit { target, .. } => check_emission(context, *target, place, faults),
        _ => {}
    }
}

fn check_again(context: &Context, object: Value, place: Place, faults: &mut Faults) {
    let Some(class) = context.typing().class_of(object) else { return };
    check_own(context, class, "asked to settle", place, faults);
    if context.automaton.handler_of(class, &Trigger::Settle).is_none() {
        let message = format!("class `{}` does not settle", context.automaton.class(class).name);
        faults.add(codes::NO_HANDLER, place, message).help("write `settle` for the class");
    }
}

fn check_emission(context: &Context, target: Value, place: Place, faults: &mut Faults) {
    let Some(class) = context.typing().class_of(target) else { return };
    if layer_of(context.automaton, context.unit) == Some(context.automaton.class(class).layer) {
        faults
            .add(codes::OWN_LAYER, place, "an event for the own layer")
            .help("a handler works on all objects of its layer itself; or use `later`");
    }
}

fn check_end(context: &Context, end: &Terminator, place: Place, faults: &mut Faults) {
    let in_function = matches!(context.unit, Unit::Function(_));
    let allowed = match end {
        Terminator::Jump { .. } | Terminator::Branch { .. } | Terminator::Switch { .. } => true,
        Terminator::Find { .. } | Terminator::First { .. } | Terminator::Next { .. } => true,
        Terminator::Yield { .. } => in_function,
        _ => !in_function,
    };
    if !allowed {
        let message = match end {
            Terminator::Yield { .. } => "a handler gives no results",
            Terminator::Return => "a function ends by `yield`",
            _ => "a function has no effects and no messages",
        };
        faults.add(codes::EFFECT, place, message);
        return;
    }
    match end {
        Terminator::Find { object, cell, .. } => check_access(context, *object, *cell, Access::Read, place, faults),
        Terminator::Insert { object, cell, .. }
        | Terminator::Remove { object, cell, .. }
        | Terminator::Take { object, cell, .. }
        | Terminator::TakeOut { object, cell, .. }
        | Terminator::ShareHeld { object, cell, .. } => {
            check_access(context, *object, *cell, Access::Write, place, faults);
        }
        Terminator::New { class, .. } => check_own(context, *class, "made", place, faults),
        Terminator::First { class, .. } => check_own(context, *class, "looked for", place, faults),
        Terminator::Next { object, .. } => {
            if let Some(class) = context.typing().class_of(*object) {
                check_own(context, class, "looked for", place, faults);
            }
        }
        Terminator::Later { target, event, .. } => check_later(context, *target, event, place, faults),
        _ => {}
    }
}

fn check_later(context: &Context, target: Value, event: &str, place: Place, faults: &mut Faults) {
    let Some(class) = context.typing().class_of(target) else { return };
    let trigger = Trigger::Event(event.to_owned());
    let handler = context.automaton.handler_of(class, &trigger).map(|id| context.automaton.handler(id));
    if handler.is_some_and(|handler| handler.later_capacity == 0) {
        faults
            .add(codes::LATER, place, format!("`{event}` has no queue for `later`"))
            .help("write `later n` at the head of its handler: how many may wait");
    }
}

/// Functions call each other without a cycle.
pub fn check_recursion(automaton: &Automaton, faults: &mut Faults) {
    let calls: Vec<Vec<usize>> = (0..automaton.functions.len()).map(|index| callees(automaton, index)).collect();
    for start in 0..calls.len() {
        let mut seen = vec![false; calls.len()];
        let mut work = calls[start].clone();
        while let Some(next) = work.pop() {
            if next == start {
                let place = Place::Unit(Unit::Function(start.into()));
                let message = format!("`{}` calls itself, perhaps through others", automaton.functions[start].name);
                faults.add(codes::EFFECT, place, message).help("write a loop with a bound");
                break;
            }
            if !std::mem::replace(&mut seen[next], true) {
                work.extend(&calls[next]);
            }
        }
    }
}

fn callees(automaton: &Automaton, index: usize) -> Vec<usize> {
    let blocks = &automaton.functions[index].body.blocks;
    let ops = blocks.iter().flat_map(|block| &block.ops);
    let calls = ops.filter_map(|op| match &op.kind {
        OpKind::Call { function, .. } => Some(function.index()),
        _ => None,
    });
    calls.collect()
}
