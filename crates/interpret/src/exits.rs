//! Records where paths are left for the handlers, to find out whether each guard was seen to be needed.
//!
//! A guard is seen alone if the path would have reached its end without it. To find out, the run continues in a
//! discarded copy as if the guard had held.

use std::sync::{Arc, Mutex};

use mokume_reaction::{BlockId, PathId, Terminator, Unit};

use crate::core::Core;
use crate::eval::{Activation, Answer, Next};
use crate::left::Exits;
use crate::record::lock;

/// The last place of a run.
struct Last {
    block: BlockId,
    /// The last edge at which there was a choice.
    chosen: (BlockId, u32),
}

impl Last {
    fn at_the_entry() -> Last {
        Last { block: BlockId(0), chosen: (BlockId(0), 0) }
    }
}

impl Core {
    /// Runs the blocks of a path, and records where it ends or is left; returns whether it refused.
    pub(crate) fn run_path_noted(&mut self, at: Activation<'_>, path: PathId, exits: &Arc<Mutex<Exits>>) -> bool {
        let mut last = Last::at_the_entry();
        let answer = self.run_from(at, BlockId(0), &mut last, false);
        if !matches!(answer, Some(Answer::Refused(_))) {
            lock(exits).end((path, last.block));
            return false;
        }
        let exit = (path, last.chosen.0, last.chosen.1);
        if lock(exits).leave(exit) {
            let is_alone = self.is_alone(at, (exit.1, exit.2));
            lock(exits).looked(exit, is_alone);
        }
        true
    }

    /// Whether a path reaches its end when a guard that refused is skipped.
    fn is_alone(&self, at: Activation<'_>, (block, edge): (BlockId, u32)) -> bool {
        let Terminator::Branch { then, otherwise, .. } = &at.body.blocks[block.index()].terminator else { return true };
        let other = if edge == 0 { otherwise } else { then };
        let mut copy = self.clone();
        copy.scratch.clear();
        copy.enter(at, other);
        !matches!(copy.run_from(at, other.block, &mut Last::at_the_entry(), true), Some(Answer::Refused(_)))
    }

    /// Runs on from a block; with `is_asked`, no further than to the first block with an effect.
    fn run_from<'a>(
        &mut self,
        at: Activation<'a>,
        mut current: BlockId,
        last: &mut Last,
        is_asked: bool,
    ) -> Option<Answer<'a>> {
        loop {
            let block = &at.body.blocks[current.index()];
            last.block = current;
            if is_asked && matches!(block.terminator, Terminator::Return) {
                return None;
            }
            for (place, op) in block.ops.iter().enumerate() {
                self.operation(at, current, place, op);
            }
            self.scratch.clear();
            match self.terminator(at, current, &block.terminator) {
                Next::Go { edge, to } => {
                    if !matches!(block.terminator, Terminator::Jump { .. }) {
                        last.chosen = (current, edge);
                    }
                    self.enter(at, to);
                    current = to.block;
                }
                Next::Stop => return None,
                Next::Values(values) => return Some(Answer::Given(values)),
                Next::Refused(values) => return Some(Answer::Refused(values)),
            }
        }
    }

    /// The current path, if its exits are recorded.
    pub(crate) fn noted(&self, unit: Unit) -> Option<(PathId, Arc<Mutex<Exits>>)> {
        let Unit::Path(path) = unit else { return None };
        Some((path, self.exits.clone()?))
    }
}
