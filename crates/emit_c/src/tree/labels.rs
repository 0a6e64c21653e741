//! Removes redundant jumps, and labels without jumps.
//!
//! Requires of the tree: nothing. Keeps: the order in which statements run.

use super::visit::each_statement;
use super::{Label, Lines, Stmt};

/// Removes jumps to a label directly after them, and a last `return;`.
pub(super) fn fall_through(body: &mut Lines) {
    within(body, &[]);
    strip(body, &|statement| matches!(statement, Stmt::Return(None)));
}

/// `next`: the labels directly after the block.
fn within(block: &mut Lines, next: &[Label]) {
    for place in 0..block.len() {
        let mut behind: Vec<Label> = block[place + 1..].iter().map_while(label).collect();
        if place + 1 + behind.len() == block.len() {
            behind.extend(next);
        }
        for inner in block[place].blocks_mut() {
            within(inner, &behind);
        }
    }
    strip(block, &|statement| matches!(statement, Stmt::Goto(to) if next.contains(to)));
    let mut place = 0;
    while place < block.len() {
        let behind: Vec<Label> = block[place + 1..].iter().map_while(label).collect();
        match &block[place] {
            Stmt::Goto(to) if behind.contains(to) => drop(block.remove(place)),
            _ => place += 1,
        }
    }
}

fn label(statement: &Stmt) -> Option<Label> {
    match statement {
        Stmt::Label(label) => Some(*label),
        _ => None,
    }
}

/// Removes this statement from the end of the block, and from the end of each way through its last statement.
fn strip(block: &mut Lines, what: &impl Fn(&Stmt) -> bool) {
    while block.last().is_some_and(what) {
        block.pop();
    }
    if let Some(last) = block.last_mut() {
        last.blocks_mut().for_each(|inner| strip(inner, what));
    }
}

/// Removes labels without jumps.
pub(super) fn drop_dead(body: &mut Lines) {
    let mut used = std::collections::HashSet::new();
    each_statement(body, &mut |statement| {
        if let Stmt::Goto(label) = statement {
            used.insert(*label);
        }
    });
    retain(body, &|label| used.contains(&label));
}

fn retain(block: &mut Lines, is_used: &impl Fn(Label) -> bool) {
    block.retain(|statement| label(statement).is_none_or(is_used));
    block.iter_mut().flat_map(|statement| statement.blocks_mut()).for_each(|inner| retain(inner, is_used));
}
