//! In which order the blocks of a body can run: reachability and dominance, over bodies of a few dozen blocks.

use mokume_reaction::{Body, Terminator};

/// By block: whether a run from it, over at least one edge, can come to each other block.
pub(crate) fn reachable(body: &Body) -> Vec<Vec<bool>> {
    let count = body.blocks.len();
    let from = |start: usize| {
        let mut seen = vec![false; count];
        let mut work = vec![start];
        while let Some(block) = work.pop() {
            for target in body.blocks[block].end.targets() {
                if !std::mem::replace(&mut seen[target.block.index()], true) {
                    work.push(target.block.index());
                }
            }
        }
        seen
    };
    (0..count).map(from).collect()
}

/// Whether every run from the entry to `block` goes through `over`.
pub(crate) fn dominates(body: &Body, over: usize, block: usize) -> bool {
    if over == block || over == 0 {
        return true;
    }
    let mut seen = vec![false; body.blocks.len()];
    let mut work = vec![0];
    seen[0] = true;
    while let Some(at) = work.pop() {
        if at == block {
            return false;
        }
        for target in body.blocks[at].end.targets() {
            let next = target.block.index();
            if next != over && !std::mem::replace(&mut seen[next], true) {
                work.push(next);
            }
        }
    }
    true
}

/// Blocks with an emission.
pub(crate) fn emitting(body: &Body) -> Vec<usize> {
    let emits = |block: &mokume_reaction::Block| block.ops.iter().any(|op| op.kind.emission().is_some());
    (0..body.blocks.len()).filter(|block| emits(&body.blocks[*block])).collect()
}

/// No emission is in a loop, and every end that one can come to is dominated by it.
pub(crate) fn are_known_at_ends(body: &Body) -> bool {
    let reachable = reachable(body);
    let ends = |end: &Terminator| matches!(end, Terminator::Return | Terminator::Match { .. });
    emitting(body).into_iter().all(|block| {
        let reached = (0..body.blocks.len()).filter(|end| reachable[block][*end] && ends(&body.blocks[*end].end));
        !reachable[block][block] && reached.into_iter().all(|end| dominates(body, block, end))
    })
}
