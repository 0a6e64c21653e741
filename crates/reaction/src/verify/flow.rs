//! SSA: every value has one definition, which comes before each of its uses on every way through the body.

use std::collections::HashMap;

use super::context::{Context, Faults};
use crate::*;

/// Checks one body. In blocks that cannot be reached, only that no value is defined twice.
pub fn check(context: &Context, faults: &mut Faults) {
    check_definitions(context, faults);
    let before = available(context.body);
    for (index, block) in context.body.blocks.iter().enumerate() {
        let Some(mut defined) = before[index].clone() else { continue };
        define(&mut defined, &block.params);
        for (op, found) in block.ops.iter().enumerate() {
            for value in found.kind.operands() {
                check_use(context, &defined, value, context.op(index, op), faults);
            }
            define(&mut defined, &found.results);
        }
        for value in block.terminator.operands() {
            check_use(context, &defined, value, context.terminator(index), faults);
        }
        for value in block.terminator.targets().iter().flat_map(|target| &target.args) {
            check_use(context, &defined, *value, context.terminator(index), faults);
        }
    }
}

fn check_definitions(context: &Context, faults: &mut Faults) {
    let mut places: HashMap<Value, Place> = HashMap::new();
    let mut define = |value: Value, place: Place, faults: &mut Faults| {
        if places.insert(value, place).is_some() {
            let message = format!("`{}` is defined twice", context.name(value));
            faults.add(codes::TWICE, place, message);
        }
    };
    for (index, block) in context.body.blocks.iter().enumerate() {
        for param in &block.params {
            define(*param, Place::Block(context.unit, index.into()), faults);
        }
        for (op, found) in block.ops.iter().enumerate() {
            found.results.iter().for_each(|result| define(*result, context.op(index, op), faults));
        }
    }
}

fn check_use(context: &Context, defined: &[bool], value: Value, place: Place, faults: &mut Faults) {
    if !defined[value.index()] {
        let message = format!("`{}` is not defined on every way to here", context.name(value));
        faults.add(codes::UNDEFINED, place, message).help("pass it as an argument of the block");
    }
}

fn define(defined: &mut [bool], values: &[Value]) {
    values.iter().for_each(|value| defined[value.index()] = true);
}

/// The values that are defined on every way to a block's start; `None` for blocks that nothing reaches.
fn available(body: &Body) -> Vec<Option<Vec<bool>>> {
    let mut before: Vec<Option<Vec<bool>>> = vec![None; body.blocks.len()];
    before[0] = Some(vec![false; body.values.len()]);
    let mut work = vec![0usize];
    while let Some(index) = work.pop() {
        let Some(mut after) = before[index].clone() else { continue };
        let block = &body.blocks[index];
        define(&mut after, &block.params);
        block.ops.iter().for_each(|op| define(&mut after, &op.results));
        for target in block.terminator.targets() {
            let next = target.block.index();
            let changed = match &mut before[next] {
                Some(known) => meet(known, &after),
                unknown => {
                    *unknown = Some(after.clone());
                    true
                }
            };
            if changed {
                work.push(next);
            }
        }
    }
    before
}

/// Keeps what both have; the answer is whether anything went.
fn meet(known: &mut [bool], other: &[bool]) -> bool {
    let mut changed = false;
    for (mine, theirs) in known.iter_mut().zip(other) {
        if *mine && !theirs {
            *mine = false;
            changed = true;
        }
    }
    changed
}
