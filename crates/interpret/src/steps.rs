//! Records which handlers run within a call, and which source places, for tools that show runs. Off by default.

use mokume_reaction::trace::Step;
use mokume_reaction::{BlockId, Body, HandlerId};

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

    /// Records a block of the current handler, or of a function that it calls; with the statements that have no operation of
    /// their own, as the call of a function that is put in its place.
    pub fn note_places(&mut self, body: &Body, id: BlockId) {
        let Some(step) = self.steps.as_mut().and_then(|steps| steps.last_mut()) else { return };
        let block = &body.blocks[id.index()];
        for place in 0..=block.ops.len() {
            let begun = body.scopes.begun_at((id, place)).iter().filter_map(|names| names.source);
            let own = block.ops.get(place).map_or(block.mark.map(|mark| mark.source), |op| op.source);
            for source in begun.chain(own) {
                if !step.ran.contains(&source) {
                    step.ran.push(source);
                }
            }
        }
    }
}
