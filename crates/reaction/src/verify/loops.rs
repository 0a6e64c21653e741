//! Every cycle of blocks contains a block with a bound, and none contains the entry: handlers end.

use super::context::{Context, Faults};
use crate::*;

/// Checks one body (docs/semantics.md, M5). Whether a bound is true is not proved: composing only relies on it.
pub fn check(context: &Context, faults: &mut Faults) {
    for (index, block) in context.body.blocks.iter().enumerate() {
        if block.terminator.targets().iter().any(|target| target.block == BlockId(0)) {
            faults.add(codes::UNBOUNDED, context.terminator(index), "the entry of a body is no target");
        }
        if block.bound == Some(0) {
            let place = Place::Block(context.unit, index.into());
            faults.add(codes::SIZE, place, "a loop that is entered 0 times").help("leave the loop out");
        }
    }
    if let Some(cycle) = cycle(context.body) {
        let labels: Vec<String> = cycle.iter().map(|block| context.label(*block)).collect();
        let message = format!("the blocks {} go round without a bound", labels.join(" -> "));
        let place = Place::Block(context.unit, cycle[0].into());
        faults.add(codes::UNBOUNDED, place, message).help("write `bound n` at the block that heads the loop");
    }
}

/// A cycle of blocks without a bound.
fn cycle(body: &Body) -> Option<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; body.blocks.len()];
    for start in 0..body.blocks.len() {
        let mut stack = vec![(start, 0usize)];
        while let Some((block, visited)) = stack.pop() {
            if visited == 0 {
                if marks[block] != Mark::New || body.blocks[block].bound.is_some() {
                    continue;
                }
                marks[block] = Mark::Open;
            }
            let targets = body.blocks[block].terminator.targets();
            let Some(target) = targets.get(visited) else {
                marks[block] = Mark::Done;
                continue;
            };
            stack.push((block, visited + 1));
            let next = target.block.index();
            if marks[next] == Mark::Open {
                let from = stack.iter().position(|(block, _)| *block == next)?;
                return Some(stack[from..].iter().map(|(block, _)| *block).collect());
            }
            stack.push((next, 0));
        }
    }
    None
}
