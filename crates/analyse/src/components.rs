//! Strongly connected components of a body's blocks: its loops.

use mokume_reaction::{BlockId, Body};

/// The strongly connected components reachable from `start`, each after all that it leads to (Tarjan 1972).
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
    /// The visiting number of each block, from 1; 0 if not visited.
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
        // A block whose component is known is on no path back.
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
