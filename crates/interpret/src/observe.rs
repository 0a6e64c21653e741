//! Runs bodies statement by statement for an observer.
//!
//! Keeps: observed bodies do the same as unobserved ones; without an observer the cost is one test for each body.

use std::sync::Arc;

use mokume_reaction::{
    Automaton, BlockId, CellId, ClassId, FunctionId, Handle, HandlerId, Names, OpKind, ReasonId, SourceId, Unit, Value,
};

use crate::core::Core;
use crate::eval::{Activation, Answer, Next};
use crate::inspect;
use crate::instance::Instance;
use crate::message::Message;
use crate::program::Program;
use crate::record::{lock, Cause, Instant};
use crate::store::{handle, CellView};
use crate::watching::{Frame, Moment, State, What};

/// The state of the current reaction.
struct Here<'a> {
    program: &'a Program,
    core: &'a Core,
}

impl State for Here<'_> {
    fn running(&self) -> &Automaton {
        &self.program.automaton
    }

    fn word_at(&self, place: usize) -> u64 {
        self.core.registers.get(place).copied().unwrap_or(0)
    }

    fn words_from(&self, place: usize, count: usize) -> &[u64] {
        self.core.registers.get(place..place + count).unwrap_or(&[])
    }

    fn held(&self, word: u64) -> Option<&Message> {
        self.core.messages.seen(word)
    }

    fn before(&self, place: usize) -> Option<&Instant> {
        self.core.recording.as_ref()?.instants.as_ref()?.get(place)
    }

    fn emitted(&self, output: usize) -> Option<usize> {
        self.core.recording.as_ref()?.outputs.get(output).copied()
    }

    fn living(&self, class: ClassId) -> Vec<Handle> {
        inspect::objects(&self.core.store, class)
    }

    fn content(&self, class: ClassId, object: Handle, cell: CellId) -> Option<CellView<'_>> {
        inspect::cell(&self.core.store, class, object, cell)
    }

    fn told(&self, function: FunctionId, args: &[u64]) -> Vec<u64> {
        self.core.aside().told(self.program, function, args)
    }
}

impl Instance {
    /// Shows what an observer may inspect between two calls, at a time; `None` without an observer.
    pub fn look<T>(&self, now: u64, does: impl FnOnce(&Moment<'_>) -> T) -> Option<T> {
        let core = &self.core;
        let watching = &**core.watching.as_ref()?;
        let (handler, object, cause) = watching.instant;
        let state = &Here { program: &self.program, core };
        let (what, object, reaction) = (What::Begins, handle(object), core.reactions);
        Some(does(&Moment { what, handler, object, cause, reaction, now, state, watching }))
    }
}

impl Core {
    /// Tells the observer that a handler is about to run for an object.
    pub(crate) fn observe_handler(&mut self, handler: HandlerId, object: u64, cause: Cause, program: &Program) {
        self.observe_gone(program);
        if let Some(watching) = &mut self.watching {
            watching.instant = (handler, object, cause);
            watching.frames.clear();
            self.observe(program, What::Begins);
        }
    }

    fn observe(&mut self, program: &Program, what: What) {
        let Some(watching) = self.watching.take() else { return };
        let (handler, object, cause) = watching.instant;
        let object = handle(object);
        let (reaction, now) = (self.reactions, self.now);
        let state = &Here { program, core: self };
        let moment = Moment { what, handler, object, cause, reaction, now, state, watching: &watching };
        lock(&watching.observer).see(&moment);
        self.watching = Some(watching);
    }

    /// As the loop without an observer; `unit` is the owner of the body.
    pub(crate) fn run_blocks_observed<'a>(&mut self, at: Activation<'a>, unit: Unit) -> Option<Answer<'a>> {
        if let Some(watching) = &mut self.watching {
            let mut set = vec![false; at.body.values.len()];
            let params = at.body.blocks.first().map_or(&[][..], |entry| &entry.params);
            params.iter().for_each(|param| set[param.index()] = true);
            watching.frames.push(Frame { unit, source: None, base: at.base, at: (BlockId(0), 0), begun: None, set });
        }
        let answer = self.blocks_observed(at);
        if let Some(watching) = &mut self.watching {
            watching.frames.pop();
        }
        answer
    }

    fn blocks_observed<'a>(&mut self, at: Activation<'a>) -> Option<Answer<'a>> {
        let mut current = BlockId(0);
        loop {
            let block = &at.body.blocks[current.index()];
            for (place, op) in block.ops.iter().enumerate() {
                self.observe_place(at, (current, place));
                self.observe_statement(at.program, op.source);
                if let Some(reason) = self.reason_of(at, &op.kind) {
                    self.observe(at.program, What::Ends(reason));
                }
                let reports = self.reports.len();
                self.operation(at, current, place, op);
                self.observe_set(&op.results);
                self.observe_gone(at.program);
                self.observe_reports(at.program, reports);
            }
            self.scratch.clear();
            self.observe_place(at, (current, block.ops.len()));
            self.observe_statement(at.program, block.mark.map(|mark| mark.source));
            let reports = self.reports.len();
            let next = self.terminator(at, current, &block.terminator);
            self.observe_gone(at.program);
            self.observe_reports(at.program, reports);
            match next {
                Next::Go { edge, to } => {
                    self.count_edge(at, current, edge);
                    self.enter(at, to);
                    current = to.block;
                    self.observe_set(&at.body.blocks[current.index()].params);
                }
                Next::Stop => return None,
                Next::Values(values) => return Some(Answer::Given(values)),
                Next::Refused(values) => return Some(Answer::Refused(values)),
            }
        }
    }

    /// The reason for which an operation ends a message, if it does.
    fn reason_of(&self, at: Activation<'_>, op: &OpKind) -> Option<ReasonId> {
        if let OpKind::DropFor { reason, .. } = op {
            return Some((self.get(at, *reason) as usize).into());
        }
        let (OpKind::Drop { reason, .. } | OpKind::Consume { reason, .. } | OpKind::ConsumeHeld { reason, .. }) = op
        else {
            return None;
        };
        Some(*reason)
    }

    /// Tells the observer of a new statement, if the previous operation in this body belonged to another.
    fn observe_statement(&mut self, program: &Program, source: Option<SourceId>) {
        let frame = self.watching.as_mut().and_then(|watching| watching.frames.last_mut());
        if let (Some(frame), Some(source)) = (frame, source) {
            if frame.source != Some(source) {
                frame.source = Some(source);
                self.observe(program, What::Statement(source));
            }
        }
    }

    /// Notes the place, and tells the observer of statements that begin there without an operation of their own.
    fn observe_place(&mut self, activation: Activation<'_>, at: (BlockId, usize)) {
        let last = |core: &mut Core, begun: Option<Arc<Names>>| {
            if let Some(frame) = core.watching.as_mut().and_then(|watching| watching.frames.last_mut()) {
                (frame.at, frame.begun) = (at, begun);
            }
        };
        for names in activation.body.scopes.begun_at(at) {
            last(self, Some(Arc::clone(names)));
            self.observe_statement(activation.program, names.source);
        }
        last(self, None);
    }

    fn observe_set(&mut self, values: &[Value]) {
        if let Some(frame) = self.watching.as_mut().and_then(|watching| watching.frames.last_mut()) {
            values.iter().for_each(|value| frame.set[value.index()] = true);
        }
    }

    /// Tells the observer of messages that are gone since it was last told.
    pub(crate) fn observe_gone(&mut self, program: &Program) {
        let gone = self.totals.gone;
        let Some(watching) = &mut self.watching else { return };
        let before = std::mem::replace(&mut watching.gone, gone);
        if gone > before {
            self.observe(program, What::Gone(gone - before));
        }
    }

    fn observe_reports(&mut self, program: &Program, before: usize) {
        for place in before..self.reports.len() {
            let report = self.reports[place].0;
            self.observe(program, What::Reports(report));
        }
    }
}
