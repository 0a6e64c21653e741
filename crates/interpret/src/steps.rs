//! Records which handlers run within a call, and which source places, for tools that show runs. Off by default.

use mokume_reaction::trace::Step;
use mokume_reaction::{Block, HandlerId};

use crate::core::Core;
use crate::program::Program;
use crate::store::handle;

impl Core {
    /// Records the start of a handler.
    pub fn note_step(&mut self, program: &Program, handler: HandlerId, object: u64) {
        let due = self.due.take();
        if let Some(steps) = &mut self.steps {
            let ran = program.automaton.handlers[handler.index()].source.into_iter().collect();
            steps.push(Step { handler, object: handle(object), due, ran });
        }
    }

    /// Records a block of the current handler, or of a function that it calls.
    pub fn note_places(&mut self, block: &Block) {
        let Some(step) = self.steps.as_mut().and_then(|steps| steps.last_mut()) else { return };
        let places = block.ops.iter().filter_map(|op| op.source).chain(block.mark.map(|mark| mark.source));
        for place in places {
            if !step.ran.contains(&place) {
                step.ran.push(place);
            }
        }
    }
}
