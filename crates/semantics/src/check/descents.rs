//! Descents: the ways from a layer of a stack down to its devices. There are several below routers over several layers.
//!
//! Keeps: a descent is finite, as cycles are reported first.

use std::collections::BTreeSet;

use crate::program::*;

/// The most descents that are checked one by one.
const MOST_DESCENTS: usize = 256;

/// Instances from one down to a device, each with the index of the under that the descent takes.
pub(super) struct Descent {
    pub steps: Vec<(usize, usize)>,
}

impl Descent {
    /// The instance that it begins at.
    pub fn index(&self) -> usize {
        self.steps.first().map_or(0, |(index, _)| *index)
    }

    /// All instances on it, from the top.
    pub fn instances(&self) -> Vec<usize> {
        self.steps.iter().map(|(index, _)| *index).collect()
    }

    /// Whether its last step leads to a device.
    pub fn ends_at_device(&self, stack: &Stack) -> bool {
        self.steps.last().is_some_and(|(index, under)| {
            matches!(stack.instances[*index].unders.get(*under), Some(Under { over: Over::Device(_), .. }))
        })
    }
}

/// All ways down from an instance.
pub(super) fn all(stack: &Stack, index: usize) -> Vec<Descent> {
    let mut found = Vec::new();
    walk(stack, index, &mut Vec::new(), &mut found);
    found
}

fn walk(stack: &Stack, index: usize, path: &mut Vec<(usize, usize)>, found: &mut Vec<Descent>) {
    for (at, under) in stack.instances[index].unders.iter().enumerate() {
        if found.len() >= MOST_DESCENTS {
            return;
        }
        path.push((index, at));
        match under.over {
            Over::Instance(below) => walk(stack, below as usize, path, found),
            Over::Device(_) => found.push(Descent { steps: path.clone() }),
        }
        path.pop();
    }
}

/// A cycle that is reachable from an instance.
pub(super) fn circle_from(stack: &Stack, index: usize) -> Option<Vec<usize>> {
    let mut path = Vec::new();
    let mut seen = BTreeSet::new();
    circle(stack, index, &mut path, &mut seen)
}

fn circle(stack: &Stack, index: usize, path: &mut Vec<usize>, seen: &mut BTreeSet<usize>) -> Option<Vec<usize>> {
    if !seen.insert(index) {
        return path.iter().position(|at| *at == index).map(|start| path[start..].to_vec());
    }
    path.push(index);
    for under in &stack.instances[index].unders {
        let Over::Instance(below) = under.over else { continue };
        if let Some(found) = circle(stack, below as usize, path, seen) {
            return Some(found);
        }
    }
    path.pop();
    None
}
