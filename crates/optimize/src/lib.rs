//! Fast paths: what usually happens on an event, as one body, with the lenses that say what it means.
//!
//! `structure` finds the common ways through the layers and makes paths of them; `loops` and `header` make them cheap. All of
//! it is untrusted: `mokume-prove` judges what comes out. Each pass can be left out, so that its effect can be measured.

pub mod header;
pub mod loops;
mod rewrite;
pub mod structure;

use mokume_reaction::Automaton;

/// Which passes run behind `structure`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passes {
    pub counters: bool,
    /// Needs `counters`.
    pub budget: bool,
    pub template: bool,
}

impl Passes {
    pub const NONE: Passes = Passes { counters: false, budget: false, template: false };
    pub const ALL: Passes = Passes { counters: true, budget: true, template: true };
}

/// A composed automaton with fast paths, by all passes.
pub fn fuse(automaton: &Automaton) -> Automaton {
    fuse_with(automaton, Passes::ALL)
}

/// [`fuse`] by some passes.
pub fn fuse_with(automaton: &Automaton, passes: Passes) -> Automaton {
    let mut fused = structure::fuse(automaton);
    if passes.counters {
        fused = loops::run(&fused, passes.budget);
    }
    if passes.template {
        fused = header::template::run(&fused);
    }
    fused
}
