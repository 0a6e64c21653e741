//! A condition that is tested again from one place at the end of what it guards becomes a loop: `while (condition) { …
//! }`.
//!
//! Requires of the tree: labels without jumps are gone. Keeps: the order in which statements run.

use super::visit::each_statement;
use super::{Label, Lines, Stmt};

pub(super) fn find(block: &mut Lines) {
    let mut jumps = std::collections::HashMap::new();
    each_statement(block, &mut |statement| {
        if let Stmt::Goto(label) = statement {
            *jumps.entry(*label).or_insert(0) += 1;
        }
    });
    within(block, &|label| jumps.get(&label) == Some(&1));
}

fn within(block: &mut Lines, is_single: &impl Fn(Label) -> bool) {
    block.iter_mut().flat_map(|statement| statement.blocks_mut()).for_each(|inner| within(inner, is_single));
    for place in (0..block.len().saturating_sub(1)).rev() {
        let Stmt::Label(label) = block[place] else { continue };
        let Stmt::If { condition, then, otherwise } = &mut block[place + 1] else { continue };
        if !otherwise.is_empty() || !is_single(label) || then.last() != Some(&Stmt::Goto(label)) {
            continue;
        }
        then.pop();
        let (condition, body) = (condition.clone(), std::mem::take(then));
        block[place + 1] = Stmt::While { condition, body };
        block.remove(place);
    }
}
