//! What a body may touch: its own layer's cells, the link cells of neighbours, and nothing if it is a function.

use super::context::{Context, Faults};
use crate::operation::{Kind, Slot};
use crate::*;

/// Checks one body: what it reads, writes and emits to (docs/semantics.md, R3). Its types must be right already.
pub fn check(context: &Context, faults: &mut Faults) {
    check_before_refusal(context, faults);
    check_handing_over(context, faults);
    for (index, block) in context.body.blocks.iter().enumerate() {
        for (op, found) in block.ops.iter().enumerate() {
            check_operation(context, &found.kind, context.op(index, op), faults);
        }
        check_terminator(context, &block.terminator, context.terminator(index), faults);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Access {
    Read,
    Write,
}

fn layer_of(automaton: &Automaton, unit: Unit) -> Option<LayerId> {
    let class = match unit {
        Unit::Function(id) => match automaton.functions[id.index()].role {
            // A memo may read all layers; the caller checks that first.
            Role::Pure | Role::Memo => return None,
            Role::Published(class) => class,
            Role::Procedure { layer, .. } => return Some(layer),
        },
        Unit::Handler(id) => automaton.handler(id).class,
        // A path may touch all layers; the caller checks that first.
        Unit::Path(_) => return None,
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

/// Whether the body is a path or a memo.
fn is_of_all_layers(context: &Context) -> bool {
    match context.unit {
        Unit::Path(_) => true,
        Unit::Function(id) => context.automaton.functions[id.index()].is_memo(),
        Unit::Handler(_) => false,
    }
}

fn check_access(context: &Context, object: Value, cell: CellId, access: Access, place: Place, faults: &mut Faults) {
    let automaton = context.automaton;
    if is_of_all_layers(context) {
        return;
    }
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

fn check_own(context: &Context, class: ClassId, place: Place, faults: &mut Faults) {
    if !is_of_all_layers(context)
        && layer_of(context.automaton, context.unit) != Some(context.automaton.class(class).layer)
    {
        let name = &context.automaton.class(class).name;
        let message = format!("an object of class `{name}` is worked on here, and belongs to another layer");
        faults.add(codes::FOREIGN_WRITE, place, message).help("emit an event to its layer");
    }
}

/// Whether a function may contain the operation: it only computes and reads, and has no message.
fn is_for_functions(op: &dyn Operation) -> bool {
    let reads = (op.effects() - (Effects::READS | Effects::REPORTS)).is_empty();
    let messages = [Kind::Message, Kind::Borrowed, Kind::PerhapsMessage];
    reads && !op.row().fields.iter().any(|(_, kind)| messages.contains(kind))
}

/// Whether a cache of the operation's result is invalidated when the state that it reads changes.
fn is_still(op: &dyn Operation) -> bool {
    let reads_state = op.effects().contains(Effects::READS);
    let is_told = |(_, kind): &(_, Kind)| matches!(kind, Kind::ScalarCell | Kind::MapCell);
    let fields = op.row().fields;
    let is_about_objects = fields.len() == 1 && matches!(fields[0].1, Kind::Object);
    (op.effects() - Effects::READS).is_empty()
        && (!reads_state || is_about_objects || fields.iter().any(is_told))
        && op.row().name != "Now"
}

fn check_operation(context: &Context, op: &dyn Operation, place: Place, faults: &mut Faults) {
    if matches!(context.unit, Unit::Function(id) if context.automaton.functions[id.index()].is_memo()) && !is_still(op)
    {
        let fault =
            faults.add(codes::EFFECT, place, "a memo is of cells and maps that seldom change, and reports nothing");
        fault.help("ask for it on the path");
        return;
    }
    if !has_effects(context) && !is_for_functions(op) {
        faults.add(codes::EFFECT, place, "a function has no effects and no messages").help("do it in a handler");
        return;
    }
    if let Some((object, cell)) = op.cell() {
        let access = if op.effects().contains(Effects::WRITES) { Access::Write } else { Access::Read };
        check_access(context, object, cell, access, place, faults);
    }
    let slots = op.slots();
    for ((_, kind), slot) in op.row().fields.iter().zip(&slots) {
        match (kind, slot) {
            (Kind::Own, Slot::Value(object)) => {
                if let Some(class) = context.typing().class_of(*object) {
                    check_own(context, class, place, faults);
                }
            }
            (Kind::Function | Kind::Procedure | Kind::Refusing | Kind::Memo, Slot::Function(function)) => {
                check_role(context, *kind, *function, place, faults);
            }
            (Kind::OwnClass, Slot::Class(class)) => check_own(context, *class, place, faults),
            (Kind::Settling, Slot::Value(object)) => check_again(context, *object, place, faults),
            (Kind::Neighbour, Slot::Value(_)) | (Kind::LinkCell, Slot::Cell(_)) => {
                if let Some(class) = context.typing().target(&slots) {
                    check_emission(context, class, place, faults);
                }
            }
            (Kind::QueuedEvent, Slot::Name(event)) => {
                let target = slots.iter().find_map(Slot::value);
                target.into_iter().for_each(|target| check_later(context, target, event, place, faults));
            }
            _ => {}
        }
    }
}

fn check_again(context: &Context, object: Value, place: Place, faults: &mut Faults) {
    let Some(class) = context.typing().class_of(object) else { return };
    check_own(context, class, place, faults);
    if !matches!(context.unit, Unit::Handler(_)) {
        let fault = faults.add(codes::EFFECT, place, "a procedure does not know who settles");
        fault.help("say `again` in the handler that runs it");
    }
    if context.automaton.handler_of(class, &Trigger::Settle).is_none() {
        let message = format!("class `{}` does not settle", context.automaton.class(class).name);
        faults.add(codes::NO_HANDLER, place, message).help("write `settle` for the class");
    }
}

fn check_emission(context: &Context, class: ClassId, place: Place, faults: &mut Faults) {
    if layer_of(context.automaton, context.unit) == Some(context.automaton.class(class).layer) {
        faults
            .add(codes::OWN_LAYER, place, "an event for the own layer")
            .help("a handler works on all objects of its layer itself; or use `later`");
    }
}

/// Whether the body is that of a handler, or a part of one.
fn has_effects(context: &Context) -> bool {
    match context.unit {
        Unit::Function(id) => context.automaton.functions[id.index()].procedure().is_some(),
        Unit::Handler(_) | Unit::Path(_) => true,
    }
}

/// Functions are called; procedures are run, by their own layer only.
fn check_role(context: &Context, kind: Kind, function: FunctionId, place: Place, faults: &mut Faults) {
    let found = &context.automaton.functions[function.index()];
    let name = &found.name;
    let is_path = matches!(context.unit, Unit::Path(_));
    let (message, help) = match (&found.role, kind) {
        (Role::Memo, Kind::Memo) if is_path && is_kept(&found.params) => return,
        (Role::Memo, Kind::Memo) => {
            (format!("`{name}` is recalled here"), "a path recalls it, for one object at most, or by numbers")
        }
        (Role::Memo, _) => (format!("`{name}` is a memo"), "use `recall`, and say what happens where it does not hold"),
        (_, Kind::Memo) => (format!("`{name}` is no memo"), "use `call`, `run` or `tryrun`"),
        (Role::Procedure { layer, .. }, Kind::Procedure | Kind::Refusing)
            if Some(*layer) != layer_of(context.automaton, context.unit) =>
        {
            (format!("the procedure `{name}` is run here, and belongs to another layer"), "emit an event to its object")
        }
        (Role::Procedure { refused: Some(_), .. }, Kind::Refusing) => return,
        (Role::Procedure { refused: None, .. }, Kind::Procedure) => return,
        (Role::Pure | Role::Published(_), Kind::Function) => return,
        (Role::Procedure { refused: Some(_), .. }, _) => {
            (format!("`{name}` is a procedure that may refuse"), "use `tryrun`, and say what happens then")
        }
        (Role::Procedure { refused: None, .. }, _) => {
            (format!("`{name}` is a procedure that never refuses"), "use `run`")
        }
        (Role::Pure | Role::Published(_), _) => (format!("`{name}` is a function"), "use `call`"),
    };
    faults.add(codes::EFFECT, place, message).help(help);
}

/// Whether a memo may take these: nothing, one object, or numbers.
fn is_kept(params: &[(String, Type)]) -> bool {
    let is_number = |ty: &Type| match ty {
        Type::Bool | Type::U(_) | Type::Seq(_) | Type::Enum(_) | Type::Reason => true,
        Type::Ref(_) | Type::Msg | Type::Array(..) => false,
    };
    matches!(params, [(_, Type::Ref(_))]) || params.iter().all(|(_, ty)| is_number(ty))
}

/// A path refuses before it has any effect.
fn check_before_refusal(context: &Context, faults: &mut Faults) {
    if !matches!(context.unit, Unit::Path(_)) {
        return;
    }
    let blocks = &context.body.blocks;
    let mut refuses: Vec<bool> =
        blocks.iter().map(|block| matches!(block.terminator, Terminator::Refuse { .. })).collect();
    // Most blocks come before those that they lead to: then two rounds are enough.
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for index in (0..blocks.len()).rev().filter(|index| !refuses[*index]).collect::<Vec<_>>() {
            refuses[index] = blocks[index].terminator.targets().iter().any(|target| refuses[target.block.index()]);
            changed |= refuses[index];
        }
    }
    let says = "a path does this before it may refuse";
    for (index, block) in blocks.iter().enumerate().filter(|(index, _)| refuses[*index]) {
        for (op, _) in block.ops.iter().enumerate().filter(|(_, op)| does(&op.kind)) {
            faults.add(codes::EFFECT, context.op(index, op), says).help("ask first, then do");
        }
        if let Terminator::Try { op, then, .. } = &block.terminator {
            if does(op) && refuses[then.block.index()] {
                faults.add(codes::EFFECT, context.terminator(index), says).help("ask first, then do");
            }
        }
    }
}

/// A path hands over to at most one handler, and does nothing after that.
fn check_handing_over(context: &Context, faults: &mut Faults) {
    if !matches!(context.unit, Unit::Path(_)) {
        return;
    }
    for (index, block) in context.body.blocks.iter().enumerate() {
        let is_end = matches!(block.terminator, Terminator::Return);
        for (op, found) in block.ops.iter().enumerate() {
            let is_last = is_end && op + 1 == block.ops.len();
            let place = context.op(index, op);
            match &found.kind {
                OpKind::EmitBy { .. } => {
                    let fault = faults.add(codes::EFFECT, place, "a path says whom it hands over to");
                    fault.help("get the cell, and `emit` to the object");
                }
                OpKind::Emit { .. } if !is_last => {
                    let fault = faults.add(codes::EFFECT, place, "a path does more behind what it hands over");
                    fault.help("hand over last, in front of `return`");
                }
                _ => {}
            }
        }
    }
}

/// Whether the operation has an effect that can be observed. Does not decide whether an operation that may report does
/// so.
fn does(op: &dyn Operation) -> bool {
    !(op.effects() - (Effects::READS | Effects::REPORTS)).is_empty()
}

fn check_terminator(context: &Context, terminator: &Terminator, place: Place, faults: &mut Faults) {
    let wrong = match (terminator, context.unit) {
        (Terminator::Try { op, .. }, _) => return check_operation(context, op, place, faults),
        (Terminator::Jump { .. } | Terminator::Branch { .. } | Terminator::Switch { .. }, _) => return,
        (Terminator::Yield { .. }, Unit::Function(_)) => return,
        (Terminator::Return, Unit::Handler(_) | Unit::Path(_)) | (Terminator::Refuse { .. }, Unit::Path(_)) => return,
        (Terminator::Match { .. }, _) if has_effects(context) => return,
        (Terminator::Refuse { .. }, Unit::Function(id)) if context.automaton.functions[id.index()].may_refuse() => {
            return
        }
        (Terminator::Yield { .. } | Terminator::Refuse { .. }, Unit::Handler(_)) => "a handler gives no results",
        (Terminator::Yield { .. }, Unit::Path(_)) => "a path gives no results",
        (Terminator::Return, Unit::Function(_)) => "a function ends by `yield`",
        (Terminator::Refuse { .. }, Unit::Function(_)) => "only a procedure that says what it gives back may refuse",
        (Terminator::Match { .. }, _) => "a function has no effects and no messages",
    };
    faults.add(codes::EFFECT, place, wrong);
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

/// Calls of functions must not form a cycle.
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
    let attempts = blocks.iter().filter_map(|block| block.terminator.attempt());
    let called = ops.filter_map(|op| op.kind.function()).chain(attempts.filter_map(|op| op.function()));
    called.map(FunctionId::index).collect()
}
