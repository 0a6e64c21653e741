//! The dominator tree of a body's blocks: which block every run has come through before.

use mokume_reaction::BlockId;

use crate::Flow;

/// The dominator tree of the reachable blocks.
#[derive(Clone, Debug)]
pub struct Dominators {
    /// The immediate children of each block.
    children: Vec<Vec<BlockId>>,
}

impl Dominators {
    /// The tree of the blocks reachable from the entry; other blocks are not in it.
    pub fn of(flow: &Flow) -> Dominators {
        let dominators = mokume_reaction::Dominators::of(flow.successors());
        let mut children = vec![Vec::new(); flow.successors().len()];
        for block in reverse_postorder(flow) {
            if let Some(over) = dominators.above(block) {
                children[over].push(BlockId::from(block));
            }
        }
        Dominators { children }
    }

    /// The blocks whose immediate dominator is this one, so ordered that a block that may run after another comes after
    /// it (except in loops).
    pub fn children(&self, block: BlockId) -> &[BlockId] {
        &self.children[block.index()]
    }
}

/// The reachable blocks in reverse postorder: each before those that follow it (except in loops).
fn reverse_postorder(flow: &Flow) -> Vec<usize> {
    let mut seen = vec![false; flow.successors().len()];
    let mut order = Vec::new();
    seen[0] = true;
    let mut open = vec![(0, 0)];
    while let Some((block, next)) = open.last_mut() {
        // The last target first, so that the first comes first in the result.
        let targets = &flow.successors()[*block];
        match targets.len().checked_sub(*next + 1) {
            Some(place) => {
                *next += 1;
                let target = targets[place];
                if !std::mem::replace(&mut seen[target], true) {
                    open.push((target, 0));
                }
            }
            None => {
                order.push(*block);
                open.pop();
            }
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use mokume_reaction::{to, BodyBuilder, Terminator, Type};

    #[test]
    fn what_meets_is_under_what_parted() {
        let mut b = BodyBuilder::new(&[("c".into(), Type::Bool)]);
        let c = b.params(BlockId(0))[0];
        let blocks: Vec<BlockId> = ["left", "right", "met", "alone"].iter().map(|name| b.block(*name, &[])).collect();
        let branch = |then: BlockId, otherwise: BlockId| Terminator::Branch {
            condition: c,
            then: to(then, []),
            otherwise: to(otherwise, []),
            likely: None,
        };
        b.end(branch(blocks[0], blocks[1]));
        b.select(blocks[0]);
        b.end(Terminator::Jump { to: to(blocks[2], []) });
        b.select(blocks[1]);
        b.end(branch(blocks[2], blocks[3]));
        b.select(blocks[2]);
        b.end(Terminator::Return);
        b.select(blocks[3]);
        b.end(Terminator::Return);
        let dominators = Dominators::of(&Flow::new(&b.finish()));
        let [left, right, met, alone] = [0, 1, 2, 3].map(|place| blocks[place]);
        assert_eq!(dominators.children(BlockId(0)), [left, right, met]);
        assert_eq!(dominators.children(right), [alone]);
        assert!(dominators.children(met).is_empty());
    }
}
