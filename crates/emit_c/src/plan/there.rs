//! Which parameters of blocks where ways meet surely refer to objects that are there: whichever way is come by, what comes does.
//!
//! It must keep: what is said to be there is what [`Writer::set_known`](super::writer::Writer::set_known) is told on each way, and no more.

use mokume_reaction::*;

use crate::plan::Plan;

/// What a value refers to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Means {
    Anything,
    /// An object that is there, or nobody.
    ThereOrNobody,
    There,
}

/// By value: whether it is a parameter that surely refers to an object that is there. `own`: the body's own object, if it is there.
pub(super) fn where_ways_meet(plan: &Plan, body: &Body, own: Option<Value>) -> Vec<bool> {
    let mut means = vec![Means::Anything; body.values.len()];
    let is_reference = |value: &Value| matches!(body.values[value.index()].ty, Type::Ref(_));
    // What meets is thought to be there, until a way shows that it need not be.
    for block in body.blocks.iter().skip(1) {
        block.params.iter().filter(|param| is_reference(param)).for_each(|param| means[param.index()] = Means::There);
    }
    own.into_iter().for_each(|own| means[own.index()] = Means::There);
    loop {
        let before = means.clone();
        for block in &body.blocks {
            for op in &block.ops {
                let Some(result) = op.results.first().filter(|result| is_reference(result)) else { continue };
                means[result.index()] = match op.kind {
                    OpKind::Null { .. } => Means::ThereOrNobody,
                    OpKind::Unique { class } if plan.is_sole(class) => Means::There,
                    _ => Means::Anything,
                };
            }
            for (place, target) in block.terminator.targets().into_iter().enumerate() {
                let params = &body.blocks[target.block.index()].params;
                let (given, own) = params.split_at(params.len().saturating_sub(target.args.len()));
                for (number, param) in given.iter().enumerate() {
                    let is_there = number == 0 && place == 0 && gives_who_is_there(plan, body, &block.terminator);
                    let comes = if is_there { Means::There } else { Means::Anything };
                    means[param.index()] = means[param.index()].min(comes);
                }
                for (param, arg) in own.iter().zip(&target.args) {
                    let comes = match means[arg.index()] {
                        Means::ThereOrNobody if is_not_null(body, block, *arg, place) => Means::There,
                        other => other,
                    };
                    means[param.index()] = means[param.index()].min(comes);
                }
            }
        }
        if means == before {
            return means.into_iter().map(|means| means == Means::There).collect();
        }
    }
}

/// Whether the first result of what is tried is an object that is there.
fn gives_who_is_there(plan: &Plan, body: &Body, terminator: &Terminator) -> bool {
    match terminator {
        Terminator::Try { op: Fallible::New { .. } | Fallible::First { .. } | Fallible::Next { .. }, .. } => true,
        Terminator::Try { op: Fallible::Find { object, cell, .. } | Fallible::Remove { object, cell, .. }, .. } => {
            let kind = body.class_of(*object).map(|class| &plan.automaton.cell(class, *cell).kind);
            matches!(kind, Some(CellKind::Map { by, .. }) if !by.is_empty())
        }
        _ => false,
    }
}

/// Whether a value was compared with nobody, and is somebody on the way to this target.
fn is_not_null(body: &Body, block: &Block, value: Value, target: usize) -> bool {
    let Terminator::Branch { condition, .. } = &block.terminator else { return false };
    let made = |value: Value| body.ops().find(|op| op.results.first() == Some(&value)).map(|op| &op.kind);
    let is_null = |value: Value| matches!(made(value), Some(OpKind::Null { .. }));
    let Some(OpKind::Compare { op, a, b }) = made(*condition) else { return false };
    let is_compared = *a == value && is_null(*b) || *b == value && is_null(*a);
    is_compared && matches!((op, target), (Compare::Ne, 0) | (Compare::Eq, 1))
}
