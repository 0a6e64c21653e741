//! How often paths came to their ends, and where they were left: see `exits.rs`.

use std::collections::BTreeMap;

use mokume_reaction::{BlockId, PathId};

/// How often paths came to their ends, and where they were left.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Exits {
    /// Of an exit so many are looked at, whether its guard is alone; of a path so many ends count as progress.
    pub wanted: u64,
    /// By path and block at its end: how often it came there.
    pub taken: BTreeMap<(PathId, BlockId), u64>,
    /// By path, block, and the edge out of it that refuses.
    pub left: BTreeMap<(PathId, BlockId, u32), Left>,
    /// Grows with each end and each guard alone of which there were not enough yet.
    pub progress: u64,
}

/// How often a path was left by an edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Left {
    pub times: u64,
    /// So many of these were looked at, until there were enough.
    pub looked_at: u64,
    /// Of these, so many in which nothing else would have refused. What a look-up would have given nobody knows: it is taken as alone.
    pub alone: u64,
}

/// For each that is wanted alone at most so many are looked at.
const LOOKS: u64 = 20;

impl Exits {
    /// Nothing was seen yet.
    pub fn new(wanted: u64) -> Exits {
        Exits { wanted, ..Exits::default() }
    }

    pub(crate) fn end(&mut self, end: (PathId, BlockId)) {
        let taken = self.taken.entry(end).or_default();
        *taken += 1;
        self.progress += u64::from(*taken <= self.wanted);
    }

    /// Counts an exit: whether its guard is to be looked at.
    pub(crate) fn leave(&mut self, exit: (PathId, BlockId, u32)) -> bool {
        let left = self.left.entry(exit).or_default();
        left.times += 1;
        left.alone < self.wanted && left.looked_at < self.wanted * LOOKS
    }

    pub(crate) fn looked(&mut self, exit: (PathId, BlockId, u32), is_alone: bool) {
        let left = self.left.entry(exit).or_default();
        left.looked_at += 1;
        left.alone += u64::from(is_alone);
        self.progress += u64::from(is_alone);
    }
}
