//! The operands of operations and the targets of terminators, in the order of the text form.
//!
//! Passes use these instead of matching every operation; a new operation is added here once.

use crate::{DropReason, OpKind, Target, Terminator, Value};

/// Runs `$f` on each operand, by shared or by mutable reference as `$kind` is.
macro_rules! each_operand {
    ($kind:expr, $f:expr) => {
        match $kind {
            OpKind::Const { .. }
            | OpKind::Null { .. }
            | OpKind::Param { .. }
            | OpKind::Now
            | OpKind::Unique { .. }
            | OpKind::NewMessage { .. } => {}
            OpKind::Binary { a, b, .. } | OpKind::Compare { a, b, .. } => {
                $f(a);
                $f(b);
            }
            OpKind::Not { a } | OpKind::Cast { a, .. } | OpKind::Fold16 { a } => $f(a),
            OpKind::Select { c, a, b } => {
                $f(c);
                $f(a);
                $f(b);
            }
            OpKind::Call { args, .. } | OpKind::Out { args, .. } => {
                for arg in args {
                    $f(arg);
                }
            }
            OpKind::Native { args, message, .. } => {
                for arg in args {
                    $f(arg);
                }
                if let Some(message) = message {
                    $f(message);
                }
            }
            OpKind::Draw { object, .. }
            | OpKind::Parent { object }
            | OpKind::Get { object, .. }
            | OpKind::Disarm { object, .. }
            | OpKind::IsArmed { object, .. }
            | OpKind::Left { object, .. }
            | OpKind::Release { object }
            | OpKind::Again { object } => $f(object),
            OpKind::Set { object, value, .. } => {
                $f(object);
                $f(value);
            }
            OpKind::GetAt { object, index, .. } | OpKind::Holds { object, index, .. } => {
                $f(object);
                $f(index);
            }
            OpKind::SetAt { object, index, value, .. } => {
                $f(object);
                $f(index);
                $f(value);
            }
            OpKind::Arm { object, deadline, .. } => {
                $f(object);
                $f(deadline);
            }
            OpKind::Count { object, amount, .. } | OpKind::Give { object, amount, .. } => {
                $f(object);
                $f(amount);
            }
            OpKind::Keep { object, index, message, .. } => {
                $f(object);
                $f(index);
                $f(message);
            }
            OpKind::Push { message, fields, .. } => {
                $f(message);
                for field in fields {
                    $f(field);
                }
            }
            OpKind::Pop { message, .. }
            | OpKind::Encode { message, .. }
            | OpKind::Size { message }
            | OpKind::Share { message }
            | OpKind::Received { message, .. }
            | OpKind::Sum16 { message }
            | OpKind::GetAttribute { message, .. }
            | OpKind::Consume { message, .. } => $f(message),
            OpKind::Trim { message, size } | OpKind::Skip { message, size } => {
                $f(message);
                $f(size);
            }
            OpKind::Split { message, at } | OpKind::Load { message, at, .. } => {
                $f(message);
                $f(at);
            }
            OpKind::Join { first, second } => {
                $f(first);
                $f(second);
            }
            OpKind::Store { message, at, value, .. } => {
                $f(message);
                $f(at);
                $f(value);
            }
            OpKind::SetAttribute { message, value, .. } => {
                $f(message);
                $f(value);
            }
            OpKind::Emit { target, args, .. } => {
                $f(target);
                for arg in args {
                    $f(arg);
                }
            }
            OpKind::Drop { message, reason } => {
                $f(message);
                if let DropReason::Value(value) = reason {
                    $f(value);
                }
            }
        }
    };
}

/// Runs `$f` on each operand of a terminator that is not a target's argument.
macro_rules! each_end_operand {
    ($end:expr, $f:expr) => {
        match $end {
            Terminator::Return | Terminator::Jump { .. } => {}
            Terminator::Yield { values } => {
                for value in values {
                    $f(value);
                }
            }
            Terminator::Branch { condition, .. } => $f(condition),
            Terminator::Switch { value, .. } => $f(value),
            Terminator::PopSwitch { message, .. }
            | Terminator::Decode { message, .. }
            | Terminator::Vet { message, .. } => $f(message),
            Terminator::Find { object, key, .. } | Terminator::Remove { object, key, .. } => {
                $f(object);
                for part in key {
                    $f(part);
                }
            }
            Terminator::Insert { object, key, values, .. } => {
                $f(object);
                for part in key {
                    $f(part);
                }
                for value in values {
                    $f(value);
                }
            }
            Terminator::New { parent, .. } | Terminator::First { parent, .. } => {
                if let Some(parent) = parent {
                    $f(parent);
                }
            }
            Terminator::Next { object, .. } => $f(object),
            Terminator::Take { object, amount, .. } => {
                $f(object);
                $f(amount);
            }
            Terminator::TakeOut { object, index, .. } | Terminator::ShareHeld { object, index, .. } => {
                $f(object);
                $f(index);
            }
            Terminator::Later { target, args, .. } => {
                $f(target);
                for arg in args {
                    $f(arg);
                }
            }
        }
    };
}

/// Runs `$f` on each target.
macro_rules! each_target {
    ($end:expr, $f:expr) => {
        match $end {
            Terminator::Return | Terminator::Yield { .. } => {}
            Terminator::Jump { to } => $f(to),
            Terminator::Switch { cases, default, .. } => {
                for (_, target) in cases {
                    $f(target);
                }
                $f(default);
            }
            Terminator::PopSwitch { cases, .. } => {
                for (_, target) in cases {
                    $f(target);
                }
            }
            Terminator::Branch { then, otherwise, .. }
            | Terminator::Decode { then, otherwise, .. }
            | Terminator::Vet { then, otherwise, .. }
            | Terminator::Find { then, otherwise, .. }
            | Terminator::Insert { then, otherwise, .. }
            | Terminator::Remove { then, otherwise, .. }
            | Terminator::New { then, otherwise, .. }
            | Terminator::First { then, otherwise, .. }
            | Terminator::Next { then, otherwise, .. }
            | Terminator::Take { then, otherwise, .. }
            | Terminator::TakeOut { then, otherwise, .. }
            | Terminator::ShareHeld { then, otherwise, .. }
            | Terminator::Later { then, otherwise, .. } => {
                $f(then);
                $f(otherwise);
            }
        }
    };
}

impl OpKind {
    pub fn operands(&self) -> Vec<Value> {
        let mut found = Vec::new();
        each_operand!(self, |value: &Value| found.push(*value));
        found
    }

    pub fn for_each_operand_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        each_operand!(self, f);
    }

    /// The message that the operation only looks at; all other messages among its operands are used up.
    pub fn borrowed(&self) -> Option<Value> {
        match self {
            OpKind::Size { message }
            | OpKind::Share { message }
            | OpKind::Received { message, .. }
            | OpKind::Load { message, .. }
            | OpKind::Sum16 { message }
            | OpKind::GetAttribute { message, .. } => Some(*message),
            _ => None,
        }
    }
}

impl Terminator {
    /// The operands that are no arguments of targets.
    pub fn operands(&self) -> Vec<Value> {
        let mut found = Vec::new();
        each_end_operand!(self, |value: &Value| found.push(*value));
        found
    }

    /// Every operand: the terminator's own, then the arguments of its targets.
    pub fn for_each_operand_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        each_end_operand!(self, f);
        each_target!(self, |target: &mut Target| target.args.iter_mut().for_each(&mut f));
    }

    pub fn targets(&self) -> Vec<&Target> {
        let mut found = Vec::new();
        each_target!(self, |target| found.push(target));
        found
    }

    pub fn for_each_target_mut(&mut self, mut f: impl FnMut(&mut Target)) {
        each_target!(self, f);
    }
}
