//! What a path asks, put in order: look-ups first, each question once, none that others answer, and
//! comparisons of octets side by side in one (`first`, `known`, `octets`).
//!
//! Nothing is done before all is asked, so a path may ask in any order what it asks, as long as it asks all.
//!
//! It must keep: the path refuses where it refused, and where it does not, it does what it did.

mod first;
mod known;
mod octets;
mod tree;

use mokume_reaction::{Automaton, Body, Path};

use crate::passes::{Pass, Passes};

/// The path's body, with what it asks in order. None where it asks nothing in vain, or what is not read here.
pub fn in_order(automaton: &Automaton, path: &Path) -> Option<Body> {
    in_order_by(automaton, path, Passes::ALL)
}

/// The same, as far as these passes do it.
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
