//! Reorders the questions of a path: look-ups first, each question once, none that others answer, and comparisons of
//! adjacent octets joined (`first`, `known`, `octets`).
//!
//! A path does nothing before all is asked. So it may ask its questions in any order, as long as it asks all.
//!
//! It must keep: the path refuses where it refused, and otherwise does what it did.

mod first;
mod known;
mod octets;
mod tree;

use mokume_reaction::{Automaton, Body, Path};

use crate::passes::{Pass, Passes};

/// The path's body with its questions reordered. `None` if nothing improves, or if the path cannot be read.
pub fn in_order(automaton: &Automaton, path: &Path) -> Option<Body> {
    in_order_by(automaton, path, Passes::ALL)
}

/// The same, as far as these passes allow.
pub(crate) fn in_order_by(automaton: &Automaton, path: &Path, passes: Passes) -> Option<Body> {
    let mut tree = tree::read(automaton, path)?;
    if passes.has(Pass::Order) {
        tree.first();
    }
    if passes.has(Pass::Implied) {
        tree.known();
    }
    if passes.has(Pass::Order) {
        tree.together();
    }
    if passes.has(Pass::Octets) {
        tree.join();
    }
    if !tree.is_better {
        return None;
    }
    tree.write()
}
