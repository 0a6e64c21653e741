//! Messages are linear: on every way each is used up exactly once, and read only before that.

use std::collections::BTreeSet;

use super::context::{Context, Faults};
use crate::*;

type Held = BTreeSet<Value>;

/// Checks one body (docs/semantics.md, F1). Its types and definitions must be right already.
pub fn check(context: &Context, faults: &mut Faults) {
    let mut before: Vec<Option<(Held, usize)>> = vec![None; context.body.blocks.len()];
    let mut work = vec![(0usize, 0usize, Held::new())];
    while let Some((index, from, held)) = work.pop() {
        match &before[index] {
            Some((known, first)) => compare(context, index, (known, *first), (&held, from), faults),
            None => {
                before[index] = Some((held.clone(), from));
                work.extend(block(context, index, held, faults));
            }
        }
    }
}

/// All ways into a block must hold the same messages.
fn compare(context: &Context, block: usize, known: (&Held, usize), other: (&Held, usize), faults: &mut Faults) {
    let difference = known.0.symmetric_difference(other.0);
    for message in difference {
        let (with, without) = if known.0.contains(message) { (known.1, other.1) } else { (other.1, known.1) };
        let text = format!(
            "`{}` is still held on the way to block {} from {}, but not from {}",
            context.name(*message),
            context.label(block),
            context.label(with),
            context.label(without)
        );
        let place = Place::Block(context.unit, block.into());
        let fault = faults.add(codes::LEAK, place, text);
        let fault = fault.help("use it up on both ways, or pass it as an argument of the block");
        fault.related(definition(context, *message), "it comes from here");
    }
}

fn is_message(context: &Context, value: Value) -> bool {
    context.body.values[value.index()].ty == Type::Msg
}

/// Follows one block; returns its exits, with the messages held at each.
fn block(context: &Context, index: usize, mut held: Held, faults: &mut Faults) -> Vec<(usize, usize, Held)> {
    let block = &context.body.blocks[index];
    held.extend(block.params.iter().copied().filter(|value| is_message(context, *value)));
    for (op, found) in block.ops.iter().enumerate() {
        let place = context.op(index, op);
        let borrowed = found.kind.borrowed();
        for value in found.kind.operands().into_iter().filter(|value| is_message(context, *value)) {
            if borrowed == Some(value) {
                check_held(context, &held, value, place, faults);
            } else {
                use_up(context, &mut held, value, place, faults);
            }
        }
        held.extend(found.results.iter().copied().filter(|value| is_message(context, *value)));
    }
    at_terminator(context, index, held, faults)
}

fn check_held(context: &Context, held: &Held, value: Value, place: Place, faults: &mut Faults) {
    if !held.contains(&value) {
        let message = format!("`{}` is looked at after it was given away", context.name(value));
        let fault = faults.add(codes::USED_TWICE, place, message).help("look at it before");
        fault.related(consumer(context, value), "given away here");
    }
}

fn use_up(context: &Context, held: &mut Held, value: Value, place: Place, faults: &mut Faults) {
    if !held.remove(&value) {
        let message = format!("`{}` is given away twice", context.name(value));
        let fault =
            faults.add(codes::USED_TWICE, place, message).help("to give a copy away as well, `share` it before");
        fault.related(consumer(context, value), "given away here");
    }
}

fn at_terminator(context: &Context, index: usize, held: Held, faults: &mut Faults) -> Vec<(usize, usize, Held)> {
    let terminator = &context.body.blocks[index].terminator;
    let place = context.terminator(index);
    let messages: Vec<Value> = terminator.operands().into_iter().filter(|value| is_message(context, *value)).collect();
    let mut after = held.clone();
    let borrowed = terminator.attempt().and_then(|op| op.borrowed());
    for value in messages {
        if borrowed == Some(value) {
            check_held(context, &after, value, place, faults);
        } else {
            use_up(context, &mut after, value, place, faults);
        }
    }
    let targets = terminator.targets();
    if targets.is_empty() {
        for message in &after {
            let text = format!("`{}` is never given away on this way", context.name(*message));
            let fault = faults.add(codes::LEAK, place, text).help("emit, keep, drop or consume it before");
            fault.related(definition(context, *message), "it comes from here");
        }
    }
    let given_back = terminator.attempt().is_some_and(|op| op.row().gives_back);
    let mut ways = Vec::new();
    for (number, target) in targets.iter().enumerate() {
        // The body still owns the messages that a refused operation did not take.
        let mut held = if given_back && number == 1 { held.clone() } else { after.clone() };
        for value in target.args.iter().filter(|value| is_message(context, **value)) {
            use_up(context, &mut held, *value, place, faults);
        }
        ways.push((target.block.index(), index, held));
    }
    ways
}

/// The first place in the text that uses a message up.
fn consumer(context: &Context, value: Value) -> Option<Place> {
    for (index, block) in context.body.blocks.iter().enumerate() {
        let uses = |op: &Op| op.kind.borrowed() != Some(value) && op.kind.operands().contains(&value);
        if let Some(op) = block.ops.iter().position(uses) {
            return Some(context.op(index, op));
        }
        let passed = block.terminator.targets().iter().any(|target| target.args.contains(&value));
        let borrowed = block.terminator.attempt().and_then(|op| op.borrowed());
        if passed || (borrowed != Some(value) && block.terminator.operands().contains(&value)) {
            return Some(context.terminator(index));
        }
    }
    None
}

fn definition(context: &Context, value: Value) -> Option<Place> {
    for (index, block) in context.body.blocks.iter().enumerate() {
        if block.params.contains(&value) {
            let entry = index == 0;
            return Some(if entry { Place::Unit(context.unit) } else { Place::Block(context.unit, index.into()) });
        }
        if let Some(op) = block.ops.iter().position(|op| op.results.contains(&value)) {
            return Some(context.op(index, op));
        }
    }
    None
}
