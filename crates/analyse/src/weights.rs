//! The heaviest run of a body, its loops counted as often as their bounds say.

use mokume_reaction::{BlockId, Body};

/// The weight of the heaviest way through `blocks` from the entry, where each block weighs what `weight` says.
pub fn heaviest(body: &Body, blocks: &[BlockId], weight: &impl Fn(BlockId) -> u64) -> u64 {
    if blocks.iter().all(|block| weight(*block) == 0) {
        return 0;
    }
    let mut inside = vec![false; body.blocks.len()];
    for block in blocks {
        inside[block.index()] = true;
    }
    Search { body, weight }.from(BlockId(0), &inside)
}

struct Search<'a, W> {
    body: &'a Body,
    weight: &'a W,
}

impl<W: Fn(BlockId) -> u64> Search<'_, W> {
    /// The heaviest way from `start` that stays inside.
    fn from(&self, start: BlockId, inside: &[bool]) -> u64 {
        // Components come in reverse order: what follows a component has its total before it.
        let mut totals = vec![0u64; self.body.blocks.len()];
        let mut component_of = vec![usize::MAX; self.body.blocks.len()];
        for (number, members) in components(self.body, start, inside).iter().enumerate() {
            for member in members {
                component_of[member.index()] = number;
            }
            let targets = members.iter().flat_map(|member| self.body.blocks[member.index()].terminator.targets());
            let outside = targets.filter(|target| inside[target.block.index()]).map(|target| target.block.index());
            let after = outside.filter(|block| component_of[*block] != number).map(|block| totals[block]).max();
            let total = self.component(members).saturating_add(after.unwrap_or(0));
            for member in members {
                totals[member.index()] = total;
            }
        }
        totals[start.index()]
    }

    fn component(&self, members: &[BlockId]) -> u64 {
        let goes_back = |member: &BlockId| {
            let targets = self.body.blocks[member.index()].terminator.targets();
            targets.iter().any(|target| members.contains(&target.block))
        };
        if !members.iter().any(goes_back) {
            return members.iter().map(|member| (self.weight)(*member)).sum();
        }
        if members.iter().all(|member| (self.weight)(*member) == 0) {
            return 0;
        }
        let Some(head) = members.iter().find(|member| self.body.blocks[member.index()].bound.is_some()) else {
            // The verifier asks for a bound in every loop.
            return u64::MAX;
        };
        let bound = u64::from(self.body.blocks[head.index()].bound.unwrap_or(1).max(1));
        // A round: from the head, never back to it. A round that is left early is no heavier than a whole one.
        let mut rest = vec![false; self.body.blocks.len()];
        for member in members.iter().filter(|member| *member != head) {
            rest[member.index()] = true;
        }
        let targets = self.body.blocks[head.index()].terminator.targets();
        let round = targets.iter().filter(|target| rest[target.block.index()]).map(|t| self.from(t.block, &rest)).max();
        bound.saturating_mul((self.weight)(*head).saturating_add(round.unwrap_or(0)))
    }
}

/// Strongly connected blocks that can be reached from `start`, each component behind all that it leads to (Tarjan 1972).
pub(crate) fn components(body: &Body, start: BlockId, inside: &[bool]) -> Vec<Vec<BlockId>> {
    let mut tarjan = Tarjan { index: vec![0; inside.len()], low: vec![0; inside.len()], ..Tarjan::default() };
    let successors = |block: usize| -> Vec<usize> {
        let targets = body.blocks[block].terminator.targets();
        targets.iter().map(|target| target.block.index()).filter(|to| inside[*to]).collect()
    };
    let mut open = vec![(start.index(), successors(start.index()))];
    tarjan.enter(start.index());
    while let Some((block, rest)) = open.last_mut() {
        let block = *block;
        match rest.pop() {
            Some(to) if tarjan.index[to] == 0 => {
                tarjan.enter(to);
                open.push((to, successors(to)));
            }
            Some(to) => tarjan.meet(block, to),
            None => {
                open.pop();
                tarjan.leave(block);
                if let Some((parent, _)) = open.last() {
                    tarjan.low[*parent] = tarjan.low[*parent].min(tarjan.low[block]);
                }
            }
        }
    }
    tarjan.components
}

#[derive(Default)]
struct Tarjan {
    /// 0: not met; else in which order, from 1.
    index: Vec<u32>,
    low: Vec<u32>,
    met: u32,
    stack: Vec<usize>,
    components: Vec<Vec<BlockId>>,
}

impl Tarjan {
    fn enter(&mut self, block: usize) {
        self.met += 1;
        self.index[block] = self.met;
        self.low[block] = self.met;
        self.stack.push(block);
    }

    fn meet(&mut self, block: usize, to: usize) {
        // A block whose component is known stands at the end of no path back.
        if self.index[to] != u32::MAX {
            self.low[block] = self.low[block].min(self.index[to]);
        }
    }

    fn leave(&mut self, block: usize) {
        if self.low[block] != self.index[block] {
            return;
        }
        let at = self.stack.iter().rposition(|other| *other == block).unwrap_or(0);
        let members = self.stack.split_off(at);
        for member in &members {
            self.index[*member] = u32::MAX;
        }
        self.components.push(members.into_iter().map(|member| BlockId(member as u32)).collect());
    }
}
