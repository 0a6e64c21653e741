//! The state that a body reads, and the state that it may change, with all that it calls.

use std::collections::BTreeSet;

use mokume_reaction::{Automaton, Body, CellId, CellKind, ClassId, Effects, OpKind, Operation, Value};

/// Cells of classes, or what cannot be said by cells.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct State {
    cells: BTreeSet<(ClassId, CellId)>,
    /// More than cells: which objects there are, what waits, the time.
    more: bool,
}

impl State {
    /// What the results of a body depend on, beside its arguments and what never changes.
    pub fn read(automaton: &Automaton, body: &Body) -> State {
        State::of(automaton, body, Effects::READS)
    }

    /// What a body may change.
    pub fn written(automaton: &Automaton, body: &Body) -> State {
        State::of(automaton, body, Effects::WRITES)
    }

    /// Whether they may have something in common.
    pub fn meets(&self, other: &State) -> bool {
        self.more || other.more || !self.cells.is_disjoint(&other.cells)
    }

    /// Adds a cell.
    pub fn add(&mut self, automaton: &Automaton, class: ClassId, cell: CellId) {
        // What is kept in a place takes from its quota.
        if let CellKind::Messages { quota: Some(quota), .. } = automaton.cell(class, cell).kind {
            self.cells.insert(quota);
        }
        self.cells.insert((class, cell));
    }

    fn of(automaton: &Automaton, body: &Body, wanted: Effects) -> State {
        let mut work = Work { automaton, wanted, state: State::default(), called: BTreeSet::new() };
        work.body(body);
        work.state
    }
}

struct Work<'a> {
    automaton: &'a Automaton,
    wanted: Effects,
    state: State,
    called: BTreeSet<usize>,
}

impl Work<'_> {
    fn body(&mut self, body: &Body) {
        for block in &body.blocks {
            for op in &block.ops {
                // The time changes without a handler.
                self.state.more |= self.wanted == Effects::READS && matches!(op.kind, OpKind::Now {});
                // An object's random numbers are read by nothing else.
                if !matches!(op.kind, OpKind::Sample { .. } | OpKind::Parent { .. } | OpKind::Again { .. }) {
                    self.operation(body, &op.kind, op.kind.effects());
                }
            }
            if let Some(attempt) = block.terminator.attempt() {
                self.operation(body, attempt, attempt.effects());
            }
        }
    }

    fn operation(&mut self, body: &Body, op: &dyn Operation, effects: Effects) {
        if !effects.contains(self.wanted) {
            return;
        }
        if let Some(function) = op.function() {
            let function = function.index();
            if self.called.insert(function) {
                let automaton = self.automaton;
                self.body(&automaton.functions[function].body);
            }
            return;
        }
        let class = |value: Value| body.class_of(value);
        match op.cell().and_then(|(object, cell)| Some((class(object)?, cell))) {
            Some((class, cell)) => self.state.add(self.automaton, class, cell),
            None => self.state.more = true,
        }
    }
}
