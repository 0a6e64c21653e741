//! The heaviest run of a body; loops count as often as their bounds say.

use mokume_reaction::{BlockId, Body};

use crate::levels::{level, Level, Steps};

/// The weight of the heaviest run through `blocks`, from the entry to an end, where `weight` gives the weight of a
/// block.
pub fn heaviest(body: &Body, blocks: &[BlockId], weight: &impl Fn(BlockId) -> u64) -> u64 {
    if blocks.iter().all(|block| weight(*block) == 0) {
        return 0;
    }
    u64::try_from(level(body, blocks, &Weights { weight }).net.sum).unwrap_or(0)
}

/// An amount that is never given back.
struct Weights<'a, W> {
    weight: &'a W,
}

impl<W: Fn(BlockId) -> u64> Steps<()> for Weights<'_, W> {
    fn block(&self, block: BlockId) -> Level<()> {
        Level::step((), i64::try_from((self.weight)(block)).unwrap_or(i64::MAX))
    }

    fn edge(&self, _: BlockId, _: usize) -> Level<()> {
        Level::zero()
    }
}
