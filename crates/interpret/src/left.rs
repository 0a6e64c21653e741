//! Statistics of paths: how often they reached their ends, and where they were left; see `exits.rs`.

use std::collections::BTreeMap;

use mokume_reaction::{BlockId, PathId};

/// How often paths reached their ends, and where they were left.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Exits {
    /// How many observations are enough: of lone guards for each exit, and of ends for each path.
    pub wanted: u64,
    /// By path and its last block: how often it ended there.
    pub taken: BTreeMap<(PathId, BlockId), u64>,
    /// By path, block, and the edge out of it that refuses.
    pub left: BTreeMap<(PathId, BlockId, u32), Left>,
    /// Grows with each end and each lone guard of which there were not enough yet.
    pub progress: u64,
}

/// How often a path was left by an edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Left {
    pub times: u64,
    /// How many of these were examined, until there were enough.
    pub looked_at: u64,
    /// How many of those were alone: no other guard would have refused. After a failed look-up, the values are unknown,
    /// so it counts as alone.
    pub alone: u64,
}

/// The most exits to examine for each wanted observation.
const LOOKS: u64 = 20;

impl Exits {
    /// No observations yet.
    pub fn new(wanted: u64) -> Exits {
        Exits { wanted, ..Exits::default() }
    }

    pub(crate) fn end(&mut self, end: (PathId, BlockId)) {
        let taken = self.taken.entry(end).or_default();
        *taken += 1;
        self.progress += u64::from(*taken <= self.wanted);
    }

    /// Counts an exit; returns whether its guard is to be examined.
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
