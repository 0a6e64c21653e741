//! SSA: every value has one definition, which comes before each of its uses on every way through the body.

use super::context::{Context, Faults};
use crate::*;

/// Where a value is defined: at the start of which block, or after which of its operations.
#[derive(Clone, Copy)]
struct Definition {
    block: usize,
    /// How many operations come before it.
    after: usize,
}

/// What is known of a value's definitions. A second definition is reported once, and the uses of that value are then
/// not checked.
#[derive(Clone, Copy)]
enum Known {
    Nowhere,
    Once(Definition),
    Twice,
}

/// Checks one body. In unreachable blocks, checks only that no value is defined twice.
pub fn check(context: &Context, faults: &mut Faults) {
    let known = definitions(context, faults);
    let targets = |block: &Block| block.terminator.targets().iter().map(|target| target.block.index()).collect();
    let dominators = Dominators::of(&context.body.blocks.iter().map(targets).collect::<Vec<_>>());
    let mut check_use = |value: Value, at: Definition, place: Place| {
        let defined = match known[value.index()] {
            Known::Nowhere => false,
            Known::Once(by) if by.block == at.block => by.after <= at.after,
            Known::Once(by) => dominators.dominates(by.block, at.block),
            Known::Twice => true,
        };
        if !defined {
            let message = format!("`{}` is not defined on every way to here", context.name(value));
            faults.add(codes::UNDEFINED, place, message).help("pass it as an argument of the block");
        }
    };
    for (index, block) in context.body.blocks.iter().enumerate().filter(|(index, _)| dominators.reaches(*index)) {
        for (op, found) in block.ops.iter().enumerate() {
            let at = Definition { block: index, after: op };
            found.kind.for_each_operand(&mut |value| check_use(value, at, context.op(index, op)));
        }
        let at = Definition { block: index, after: block.ops.len() };
        for value in block.terminator.operands() {
            check_use(value, at, context.terminator(index));
        }
        for value in block.terminator.targets().iter().flat_map(|target| &target.args) {
            check_use(*value, at, context.terminator(index));
        }
    }
}

fn definitions(context: &Context, faults: &mut Faults) -> Vec<Known> {
    let mut known = vec![Known::Nowhere; context.body.values.len()];
    let mut define = |value: Value, by: Definition, place: Place| {
        if let Known::Nowhere = known[value.index()] {
            known[value.index()] = Known::Once(by);
        } else {
            known[value.index()] = Known::Twice;
            let message = format!("`{}` is defined twice", context.name(value));
            faults.add(codes::TWICE, place, message);
        }
    };
    for (index, block) in context.body.blocks.iter().enumerate() {
        for param in &block.params {
            define(*param, Definition { block: index, after: 0 }, Place::Block(context.unit, index.into()));
        }
        for (op, found) in block.ops.iter().enumerate() {
            let by = Definition { block: index, after: op + 1 };
            found.results.iter().for_each(|result| define(*result, by, context.op(index, op)));
        }
    }
    known
}
