//! What is usual for stacks that nobody has profiled: `library/usual.txt`, a part of the program.

use std::sync::OnceLock;

use mokume_fuse::{Pass, Passes};
use mokume_reaction::profile::Profile;
pub use mokume_reaction::usual::Usual;
use mokume_reaction::Automaton;

/// What is usual for a stack that nobody has profiled: what layers of Mokume's library did in networks of our own, as far as it has them.
pub fn of(composed: &Automaton) -> Profile {
    static USUAL: OnceLock<Usual> = OnceLock::new();
    let usual = USUAL.get_or_init(|| Usual::parse(shipped()).unwrap_or_default());
    usual.of(&mokume_analyse::laid_open(composed))
}

/// The same, if the pass is among these; else nothing is known.
pub fn by(composed: &Automaton, passes: Passes) -> Profile {
    match passes.has(Pass::Usual) {
        true => of(composed),
        false => Profile::default(),
    }
}

/// `library/usual.txt`, as the program has it.
pub fn shipped() -> &'static str {
    crate::library::text("usual.txt").unwrap_or_default()
}
