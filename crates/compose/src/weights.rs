//! The heaviest run of a body, its loops counted as often as their bounds say.

use mokume_reaction::{BlockId, Body};

/// The weight of the heaviest way through `blocks` from the entry, where each block weighs what `weight` says.
pub fn heaviest(body: &Body, blocks: &[BlockId], weight: &impl Fn(BlockId) -> u64) -> u64 {
    let mut inside = vec![false; body.blocks.len()];
    for block in blocks {
        inside[block.index()] = true;
    }
    let search = Search { body, weight };
    search.from(BlockId(0), &inside)
}

struct Search<'a, W> {
    body: &'a Body,
    weight: &'a W,
}

impl<W: Fn(BlockId) -> u64> Search<'_, W> {
    /// The heaviest way from `start` that stays inside.
    fn from(&self, start: BlockId, inside: &[bool]) -> u64 {
        let knots = knots(self.body, inside);
        let mut memo = vec![None; self.body.blocks.len()];
        self.knot_from(start, inside, &knots, &mut memo)
    }

    /// The knot that a block is in, then the heaviest of what follows.
    fn knot_from(&self, block: BlockId, inside: &[bool], knots: &[u32], memo: &mut Vec<Option<u64>>) -> u64 {
        let knot = knots[block.index()];
        if let Some(known) = memo[knot as usize] {
            return known;
        }
        let members: Vec<BlockId> = (0..knots.len())
            .filter(|place| inside[*place] && knots[*place] == knot)
            .map(|place| BlockId(place as u32))
            .collect();
        let mut after = 0;
        for member in &members {
            for target in self.body.blocks[member.index()].end.targets() {
                if inside[target.block.index()] && knots[target.block.index()] != knot {
                    after = after.max(self.knot_from(target.block, inside, knots, memo));
                }
            }
        }
        let total = self.knot(&members).saturating_add(after);
        memo[knot as usize] = Some(total);
        total
    }

    fn knot(&self, members: &[BlockId]) -> u64 {
        let is_loop = members.iter().any(|member| {
            self.body.blocks[member.index()].end.targets().iter().any(|target| members.contains(&target.block))
        });
        if !is_loop {
            return members.iter().map(|member| (self.weight)(*member)).sum();
        }
        let head = members.iter().find(|member| self.body.blocks[member.index()].bound.is_some());
        let Some(head) = head else {
            // The verifier asks for a bound in every loop.
            return u64::MAX;
        };
        let bound = u64::from(self.body.blocks[head.index()].bound.unwrap_or(1).max(1));
        // A round: from the head, never back to it. A round that is left early is no heavier than a whole one.
        let mut rest = vec![false; self.body.blocks.len()];
        for member in members.iter().filter(|member| *member != head) {
            rest[member.index()] = true;
        }
        let targets = self.body.blocks[head.index()].end.targets();
        let round = targets.iter().filter(|target| rest[target.block.index()]).map(|t| self.from(t.block, &rest)).max();
        bound.saturating_mul((self.weight)(*head).saturating_add(round.unwrap_or(0)))
    }
}

/// Strongly connected blocks have one number.
fn knots(body: &Body, inside: &[bool]) -> Vec<u32> {
    let count = body.blocks.len();
    let mut reach = vec![vec![false; count]; count];
    for (from, row) in reach.iter_mut().enumerate().filter(|(from, _)| inside[*from]) {
        let mut open = vec![from];
        while let Some(block) = open.pop() {
            for target in body.blocks[block].end.targets() {
                let to = target.block.index();
                if inside[to] && !std::mem::replace(&mut row[to], true) {
                    open.push(to);
                }
            }
        }
    }
    let same = |a: usize, b: usize| a == b || (reach[a][b] && reach[b][a]);
    (0..count).map(|block| (0..=block).find(|first| same(*first, block)).unwrap_or(block) as u32).collect()
}
