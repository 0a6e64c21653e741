//! Code after a way that leaves is placed after it, not in its `else`: `if (refused) { …; return; } …`.
//!
//! Requires of the tree: redundant jumps are gone ([`super::labels`]). Keeps: which statements run.

use super::{Lines, Stmt};

pub(super) fn flatten(block: &mut Lines) {
    let mut flat = Lines::with_capacity(block.len());
    for statement in block.drain(..) {
        push(&mut flat, statement);
    }
    *block = flat;
}

fn push(flat: &mut Lines, mut statement: Stmt) {
    statement.blocks_mut().for_each(flatten);
    let Stmt::If { condition, mut then, mut otherwise } = statement else { return flat.push(statement) };
    if then.is_empty() && otherwise.is_empty() {
        return flat.push(Stmt::Do(condition));
    }
    let (first, second) = (leaves(&then), leaves(&otherwise));
    // Code that jumps back to a label directly before it is the body of a loop.
    let again = |way: &Lines| match (flat.last(), way.last()) {
        (Some(Stmt::Label(head)), Some(Stmt::Goto(to))) => head == to,
        _ => false,
    };
    let swap = match (first, second) {
        _ if again(&then) => false,
        _ if again(&otherwise) => true,
        (true, true) => size(&otherwise) < size(&then),
        (false, true) => true,
        _ => then.is_empty(),
    };
    let condition = if swap { condition.negated() } else { condition };
    if swap {
        std::mem::swap(&mut then, &mut otherwise);
    }
    if !(first || second) {
        return flat.push(Stmt::If { condition, then, otherwise });
    }
    flat.push(Stmt::If { condition, then, otherwise: Lines::new() });
    flat.append(&mut otherwise);
}

/// Whether control never reaches the end of the block.
pub(super) fn leaves(block: &Lines) -> bool {
    block.last().is_some_and(|last| match last {
        Stmt::Return(_) | Stmt::Goto(_) => true,
        Stmt::If { then, otherwise, .. } => leaves(then) && leaves(otherwise),
        Stmt::Switch { cases, default, .. } => cases.iter().all(|(_, case)| leaves(case)) && leaves(default),
        Stmt::Let(..)
        | Stmt::While { .. }
        | Stmt::Declare(_)
        | Stmt::Set(..)
        | Stmt::Octets(..)
        | Stmt::Do(_)
        | Stmt::Label(_)
        | Stmt::Unused(_) => false,
    })
}

fn size(block: &Lines) -> usize {
    block.iter().map(|statement| 1 + statement.blocks().map(size).sum::<usize>()).sum()
}
