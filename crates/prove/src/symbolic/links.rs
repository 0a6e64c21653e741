//! Links that claim to be one to one: whether the writes to them support the claim, as far as that is seen without
//! running them.
//!
//! Each end of such a link must be set to a new object, the sender's own object, or null. An object from a cell or a
//! map does not count, as another may already be linked to it. It is still assumed, not shown, that an object is linked
//! this way only once.

use mokume_reaction::{
    Automaton, Body, CellId, ClassId, Emission, Fallible, HandlerId, LinkKind, OpKind, Terminator, Trigger, Type, Value,
};

/// The origin of a reference.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    /// It is new, the handler's own object, or null.
    New,
    /// The event brings it; the number of the argument after the object.
    Event(usize),
    Elsewhere,
}

/// For each link, whether it leads back to its origin.
pub(super) fn lead_back(automaton: &Automaton) -> Vec<bool> {
    let written = written(automaton);
    let is_kept = |end: (ClassId, Option<CellId>)| {
        let own = written.iter().filter(|(class, cell, ..)| (*class, Some(*cell)) == end);
        own.into_iter().all(|(_, _, handler, from)| match from {
            From::New => true,
            From::Event(place) => handler.is_some_and(|handler| brings_new(automaton, handler, *place)),
            From::Elsewhere => false,
        })
    };
    let one = |link: &mokume_reaction::Link| link.kind == LinkKind::OneToOne;
    automaton.links.iter().map(|link| one(link) && is_kept(link.above) && is_kept(link.below)).collect()
}

/// The writes to cells that hold references: class, cell, handler, and origin of the value.
fn written(automaton: &Automaton) -> Vec<(ClassId, CellId, Option<HandlerId>, From)> {
    let handlers =
        automaton.handlers.iter().enumerate().map(|(id, handler)| (Some(HandlerId::from(id)), &handler.body));
    let functions = automaton.functions.iter().map(|function| (None, &function.body));
    let mut written = Vec::new();
    for (handler, body) in handlers.chain(functions) {
        for op in body.ops() {
            let OpKind::Set { object, cell, value } = &op.kind else { continue };
            let Type::Ref(class) = body.values[object.index()].ty else { continue };
            if automaton.cell(class, *cell).refers_to().is_some() {
                let mut from = Vec::new();
                origins(body, *value, &mut Vec::new(), &mut from);
                written.extend(from.into_iter().map(|from| (class, *cell, handler, from)));
            }
        }
    }
    written
}

/// Whether all emissions of an event bring a new object as this argument.
fn brings_new(automaton: &Automaton, id: HandlerId, place: usize) -> bool {
    let handler = automaton.handler(id);
    let Trigger::Event(name) = &handler.trigger else { return false };
    if automaton.is_at_port(id) {
        return false;
    }
    automaton.bodies().all(|body| {
        body.ops().filter_map(|op| op.kind.emission()).chain(body.put_off()).all(|emission| {
            let Emission::Event { target, event, args } = emission else { return true };
            let mut from = Vec::new();
            if event == name && automaton.class_for(body, target) == Some(handler.class) {
                args.get(place).into_iter().for_each(|arg| origins(body, *arg, &mut Vec::new(), &mut from));
            }
            from.iter().all(|from| *from == From::New)
        })
    })
}

/// All origins of a value.
fn origins(body: &Body, value: Value, seen: &mut Vec<Value>, from: &mut Vec<From>) {
    if seen.contains(&value) {
        return;
    }
    seen.push(value);
    if let Some(op) = body.ops().find(|op| op.results.contains(&value)) {
        return from.push(if matches!(op.kind, OpKind::Null { .. }) { From::New } else { From::Elsewhere });
    }
    let params = body.blocks.iter().enumerate();
    let Some((block, place)) =
        params.filter_map(|(block, b)| Some((block, b.params.iter().position(|param| *param == value)?))).next()
    else {
        return from.push(From::Elsewhere);
    };
    match (block, place) {
        (0, 0) => return from.push(From::New),
        (0, place) => return from.push(From::Event(place - 1)),
        _ => {}
    }
    for before in &body.blocks {
        for target in before.terminator.targets().into_iter().filter(|target| target.block.index() == block) {
            let results = body.blocks[block].params.len() - target.args.len();
            match place.checked_sub(results) {
                Some(arg) => origins(body, target.args[arg], seen, from),
                None => {
                    let is_new = matches!(before.terminator, Terminator::Try { op: Fallible::New { .. }, .. });
                    from.push(if is_new { From::New } else { From::Elsewhere });
                }
            }
        }
    }
}
