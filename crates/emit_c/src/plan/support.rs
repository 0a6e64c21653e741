//! What memos read.
//!
//! It must keep: nothing else affects a memo's result.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use mokume_reaction::*;

/// More constants than these are not asked for one by one.
const MOST_CONSTANTS: usize = 3;

/// What memos read; code that changes it must invalidate them.
#[derive(Default)]
pub(crate) struct Support {
    cells: HashMap<(ClassId, CellId), Asked>,
    classes: HashSet<ClassId>,
}

/// What memos want to know of a cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    /// Its content.
    Content,
    /// Whether its content is one of these constants, and which.
    Equal(Vec<u64>),
}

impl Asked {
    fn and(&mut self, other: Asked) {
        match (&mut *self, other) {
            (Asked::Equal(known), Asked::Equal(more)) => {
                let new: Vec<u64> = more.into_iter().filter(|constant| !known.contains(constant)).collect();
                known.extend(new);
                if known.len() > MOST_CONSTANTS {
                    *self = Asked::Content;
                }
            }
            _ => *self = Asked::Content,
        }
    }
}

impl Support {
    /// What the memos of an automaton read.
    pub fn of(automaton: &Automaton) -> Self {
        let mut support = Support::default();
        for body in automaton.functions.iter().filter(|function| function.is_memo()).map(|function| &function.body) {
            let equal = equal(body);
            let ops = body.ops().map(|op| (&op.kind as &dyn Operation, op.results.first()));
            let attempts = body.attempts().map(|op| (op as &dyn Operation, None));
            for (op, result) in ops.chain(attempts) {
                let objects = op.operands().into_iter().filter_map(|value| body.class_of(value));
                support.classes.extend(objects);
                let read = op.cell().and_then(|(object, cell)| Some((body.class_of(object)?, cell)));
                if let Some(read) = read {
                    let constants = result.and_then(|value| equal.get(value).cloned());
                    let asked = constants.map_or(Asked::Content, Asked::Equal);
                    support.cells.entry(read).or_insert_with(|| Asked::Equal(Vec::new())).and(asked);
                }
            }
        }
        support
    }

    /// What memos want to know of the cell or map, if any reads it.
    pub fn asked(&self, class: ClassId, cell: CellId) -> Option<&Asked> {
        self.cells.get(&(class, cell))
    }

    /// Whether a memo depends on the life of objects of the class.
    pub fn asks_for(&self, class: ClassId) -> bool {
        self.classes.contains(&class)
    }
}

/// The contents of cells that a body only compares with constants, and those.
fn equal(body: &Body) -> HashMap<Value, Vec<u64>> {
    let mut constants = HashMap::default();
    let mut contents: HashMap<Value, Vec<u64>> = HashMap::default();
    for op in body.ops() {
        let Some(result) = op.results.first() else { continue };
        if let OpKind::Const { value, .. } = op.kind {
            constants.insert(*result, value);
        } else if let OpKind::Get { .. } = op.kind {
            contents.insert(*result, Vec::new());
        }
    }
    for op in body.ops() {
        let OpKind::Compare { op: Compare::Eq | Compare::Ne, a, b } = op.kind else { continue };
        for (content, constant) in [(a, b), (b, a)] {
            if let (Some(known), Some(constant)) = (contents.get_mut(&content), constants.get(&constant)) {
                known.push(*constant);
            }
        }
    }
    let uses = mokume_analyse::uses(body);
    contents.retain(|content, constants| constants.len() == uses[content.index()]);
    contents
}
