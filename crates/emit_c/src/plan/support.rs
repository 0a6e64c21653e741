//! What memos read.
//!
//! It must keep: nothing else affects a memo's result.

use rustc_hash::FxHashSet as HashSet;

use mokume_reaction::*;

/// What memos read; code that changes it must invalidate them.
#[derive(Default)]
pub(crate) struct Support {
    cells: HashSet<(ClassId, CellId)>,
    classes: HashSet<ClassId>,
}

impl Support {
    /// What the memos of an automaton read.
    pub fn of(automaton: &Automaton) -> Self {
        let mut support = Support::default();
        for body in automaton.functions.iter().filter(|function| function.is_memo()).map(|function| &function.body) {
            let ops = body.ops().map(|op| &op.kind as &dyn Operation);
            let attempts = body.attempts().map(|op| op as &dyn Operation);
            for op in ops.chain(attempts) {
                let objects = op.operands().into_iter().filter_map(|value| body.class_of(value));
                support.classes.extend(objects);
                if let Some((object, cell)) = op.cell() {
                    support.cells.extend(body.class_of(object).map(|class| (class, cell)));
                }
            }
        }
        support
    }

    /// Whether a memo reads the cell or map.
    pub fn reads(&self, class: ClassId, cell: CellId) -> bool {
        self.cells.contains(&(class, cell))
    }

    /// Whether a memo depends on the life of objects of the class.
    pub fn asks_for(&self, class: ClassId) -> bool {
        self.classes.contains(&class)
    }
}
