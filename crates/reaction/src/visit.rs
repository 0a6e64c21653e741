//! The operands and targets of terminators, in the order of the text form, and walks over whole bodies.
//!
//! Passes use these instead of matching every terminator, so a new terminator is added here once. Visits of operations
//! follow from the table: see [`Operation`].

use crate::operation::Emission;
use crate::{Body, Fallible, Op, Operation, Target, Terminator, Value};

/// Runs `$f` on each target.
macro_rules! each_target {
    ($terminator:expr, $f:expr) => {
        match $terminator {
            Terminator::Return | Terminator::Yield { .. } | Terminator::Refuse { .. } => {}
            Terminator::Jump { to } => $f(to),
            Terminator::Switch { cases, default, .. } => {
                for (_, target) in cases {
                    $f(target);
                }
                $f(default);
            }
            Terminator::Match { cases, .. } => {
                for (_, target) in cases {
                    $f(target);
                }
            }
            Terminator::Branch { then, otherwise, .. } | Terminator::Try { then, otherwise, .. } => {
                $f(then);
                $f(otherwise);
            }
        }
    };
}

impl Terminator {
    /// The terminator's own operands, without the arguments of its targets.
    pub fn operands(&self) -> Vec<Value> {
        match self {
            Terminator::Return | Terminator::Jump { .. } => Vec::new(),
            Terminator::Yield { values } | Terminator::Refuse { values } => values.clone(),
            Terminator::Branch { condition: value, .. }
            | Terminator::Switch { value, .. }
            | Terminator::Match { message: value, .. } => vec![*value],
            Terminator::Try { op, .. } => op.operands(),
        }
    }

    /// Every operand: the terminator's own, then the arguments of its targets.
    pub fn for_each_operand_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        match self {
            Terminator::Return | Terminator::Jump { .. } => {}
            Terminator::Yield { values } | Terminator::Refuse { values } => values.iter_mut().for_each(&mut f),
            Terminator::Branch { condition: value, .. }
            | Terminator::Switch { value, .. }
            | Terminator::Match { message: value, .. } => f(value),
            Terminator::Try { op, .. } => op.for_each_operand_mut(&mut f),
        }
        each_target!(self, |target: &mut Target| target.args.iter_mut().for_each(&mut f));
    }

    /// The targets in the order of the text; empty if it ends the body. One block may occur several times.
    pub fn targets(&self) -> Vec<&Target> {
        let mut found = Vec::new();
        each_target!(self, |target| found.push(target));
        found
    }

    /// Calls `f` on each target in the same order, to redirect it or to change its arguments.
    pub fn for_each_target_mut(&mut self, mut f: impl FnMut(&mut Target)) {
        each_target!(self, f);
    }

    /// The operation that may refuse, if the block ends with one.
    pub fn attempt(&self) -> Option<&Fallible> {
        match self {
            Terminator::Try { op, .. } => Some(op),
            Terminator::Return
            | Terminator::Yield { .. }
            | Terminator::Refuse { .. }
            | Terminator::Jump { .. }
            | Terminator::Branch { .. }
            | Terminator::Switch { .. }
            | Terminator::Match { .. } => None,
        }
    }
}

impl Body {
    /// All operations that do not branch, block by block.
    pub fn ops(&self) -> impl Iterator<Item = &Op> {
        self.blocks.iter().flat_map(|block| &block.ops)
    }

    /// All operations that may refuse, block by block.
    pub fn attempts(&self) -> impl Iterator<Item = &Fallible> {
        self.blocks.iter().filter_map(|block| block.terminator.attempt())
    }

    /// The events that it queues for reactions of their own.
    pub fn put_off(&self) -> impl Iterator<Item = Emission<'_>> + '_ {
        self.attempts().filter_map(Fallible::emission).chain(self.ops().filter_map(|op| op.kind.put_off()))
    }

    /// The class that a reference refers to.
    pub fn class_of(&self, object: Value) -> Option<crate::ClassId> {
        match self.values.get(object.index())?.ty {
            crate::Type::Ref(class) => Some(class),
            _ => None,
        }
    }
}
