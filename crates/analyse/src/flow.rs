//! The control flow of a body: which block may run after which, and which blocks every path goes through.

use std::sync::OnceLock;

use mokume_reaction::{BlockId, Body, Dominators};

/// A set of blocks of one body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocks(Vec<bool>);

impl Blocks {
    fn none(count: usize) -> Blocks {
        Blocks(vec![false; count])
    }

    /// Whether the block is in the set. Panics at a block of a body with more blocks.
    pub fn contains(&self, block: BlockId) -> bool {
        self.0[block.index()]
    }

    /// Adds a block; whether it is new.
    fn add(&mut self, block: usize) -> bool {
        !std::mem::replace(&mut self.0[block], true)
    }

    /// The blocks in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.0.iter().enumerate().filter(|(_, inside)| **inside).map(|(index, _)| BlockId::from(index))
    }
}

/// The edges between the blocks of a body, in both directions.
#[derive(Clone, Debug)]
pub struct Flow {
    successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
    /// For each loop head, how often it is entered at most.
    bounds: Vec<Option<u32>>,
    loops: OnceLock<Vec<(usize, Blocks)>>,
    dominators: OnceLock<Dominators>,
}

impl Flow {
    /// The control flow of a body by its targets; branches that are never taken are not detected.
    pub fn new(body: &Body) -> Flow {
        let successors: Vec<Vec<usize>> = body
            .blocks
            .iter()
            .map(|block| block.terminator.targets().into_iter().map(|target| target.block.index()).collect())
            .collect();
        let mut predecessors = vec![Vec::new(); body.blocks.len()];
        for (from, targets) in successors.iter().enumerate() {
            targets.iter().for_each(|to| predecessors[*to].push(from));
        }
        let bounds = body.blocks.iter().map(|block| block.bound).collect();
        Flow { successors, predecessors, bounds, loops: OnceLock::new(), dominators: OnceLock::new() }
    }

    /// The successors of each block.
    pub(crate) fn successors(&self) -> &[Vec<usize>] {
        &self.successors
    }

    /// The number of edges to a block.
    pub fn edges_into(&self, block: BlockId) -> usize {
        self.predecessors[block.index()].len()
    }

    /// The predecessors of a block, one for each edge.
    pub fn predecessors_of(&self, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        self.predecessors[block.index()].iter().copied().map(BlockId::from)
    }

    /// The blocks reachable from the entry.
    pub fn reached(&self) -> Blocks {
        let mut reached = self.after(BlockId(0));
        if !self.successors.is_empty() {
            reached.add(0);
        }
        reached
    }

    /// The blocks that may run after the end of `from`; includes `from` only if it is in a loop.
    pub fn after(&self, from: BlockId) -> Blocks {
        self.spread(&self.successors, from)
    }

    /// The blocks that may have run before the start of `to`; includes `to` only if it is in a loop.
    pub fn before(&self, to: BlockId) -> Blocks {
        self.spread(&self.predecessors, to)
    }

    fn spread(&self, edges: &[Vec<usize>], start: BlockId) -> Blocks {
        let mut seen = Blocks::none(edges.len());
        let mut open = vec![start.index()];
        while let Some(block) = open.pop() {
            open.extend(edges[block].iter().copied().filter(|next| seen.add(*next)));
        }
        seen
    }

    /// Whether every run that reaches `block` has been in `over`.
    pub fn dominates(&self, over: BlockId, block: BlockId) -> bool {
        let (over, block) = (over.index(), block.index());
        let dominators = self.dominators.get_or_init(|| Dominators::of(&self.successors));
        over == block || !dominators.reaches(block) || dominators.dominates(over, block)
    }

    /// How often a block may be entered in one run of its body: the product of the bounds of the enclosing loops.
    pub fn rounds(&self, block: BlockId) -> usize {
        let around = self.loops().iter().filter(|(_, inside)| inside.contains(block));
        around.fold(1, |rounds, (bound, _)| rounds.saturating_mul(*bound))
    }

    /// Each loop: how often it is entered at most, and its blocks.
    fn loops(&self) -> &[(usize, Blocks)] {
        self.loops.get_or_init(|| {
            let heads = self.bounds.iter().enumerate().filter_map(|(head, bound)| Some((head, (*bound)?)));
            let inside = |head: usize| {
                let (after, before) = (self.after(BlockId::from(head)), self.before(BlockId::from(head)));
                Blocks((0..after.0.len()).map(|block| block == head || (after.0[block] && before.0[block])).collect())
            };
            heads.map(|(head, bound)| (bound.max(1) as usize, inside(head))).collect()
        })
    }
}

/// The reachable blocks, each after all its predecessors, except for back edges.
pub fn in_order(body: &Body) -> Vec<BlockId> {
    let mut seen = vec![false; body.blocks.len()];
    let mut order = Vec::new();
    let mut open = vec![(BlockId(0), 0)];
    seen[0] = true;
    while let Some((block, next)) = open.last_mut() {
        let targets = body.blocks[block.index()].terminator.targets();
        match targets.get(*next) {
            Some(target) => {
                *next += 1;
                if !std::mem::replace(&mut seen[target.block.index()], true) {
                    open.push((target.block, 0));
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
    use mokume_reaction::{to, Automaton, BodyBuilder, Terminator, Type};

    /// entry -> head (3 rounds) -> body -> head, and head -> end.
    fn looped() -> Body {
        let a = Automaton::default();
        let mut b = BodyBuilder::new(&[("c".into(), Type::Bool)]);
        let c = b.params(BlockId(0))[0];
        let blocks: Vec<BlockId> = ["head", "body", "end"].iter().map(|name| b.block(*name, &[])).collect();
        b.set_bound(blocks[0], 3);
        b.end(Terminator::Jump { to: to(blocks[0], []) });
        b.select(blocks[0]);
        let (then, otherwise) = (to(blocks[1], []), to(blocks[2], []));
        b.end(Terminator::Branch { condition: c, then, otherwise, likely: None });
        b.select(blocks[1]);
        b.constant(&a, Type::Bool, 1);
        b.end(Terminator::Jump { to: to(blocks[0], []) });
        b.select(blocks[2]);
        b.end(Terminator::Return);
        b.finish()
    }

    #[test]
    fn ways_through_a_loop() {
        let flow = Flow::new(&looped());
        let [entry, head, body, end] = [0, 1, 2, 3].map(BlockId);
        assert_eq!(flow.after(entry).iter().collect::<Vec<_>>(), [head, body, end]);
        assert_eq!(flow.before(entry).iter().count(), 0);
        assert!(flow.after(body).contains(body) && !flow.after(end).contains(end));
        assert!(flow.dominates(head, end) && !flow.dominates(body, end) && flow.dominates(entry, body));
        assert_eq!([entry, head, body, end].map(|block| flow.rounds(block)), [1, 3, 3, 1]);
        assert_eq!(flow.edges_into(head), 2);
    }

    #[test]
    fn blocks_stand_behind_those_that_lead_to_them() {
        assert_eq!(in_order(&looped()), [0, 1, 3, 2].map(BlockId));
    }
}
