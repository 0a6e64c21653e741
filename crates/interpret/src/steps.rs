//! Which handlers run within a call, and which places of the source, for who shows runs. Off unless asked for.

use mokume_reaction::trace::Step;
use mokume_reaction::{Block, HandlerId};

use crate::core::Core;
use crate::program::Program;
use crate::store::handle;

impl Core {
    /// A handler begins.
    pub fn note_step(&mut self, program: &Program, handler: HandlerId, object: u64) {
        let due = self.due.take();
        if let Some(steps) = &mut self.steps {
            let ran = program.automaton.handlers[handler.index()].source.into_iter().collect();
            steps.push(Step { handler, object: handle(object), due, ran });
        }
    }

    /// A block of the handler at hand, or of what it calls, is run.
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
