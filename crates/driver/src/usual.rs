//! Usual ways, for stacks without a profile: `library/usual.txt`, a part of the program.

use std::sync::OnceLock;

use mokume_fuse::{Pass, Passes};
use mokume_reaction::profile::Profile;
pub use mokume_reaction::usual::Usual;
use mokume_reaction::Automaton;

/// The usual ways for a stack without a profile: what layers of Mokume's library did in our own networks, as far as the
/// stack has these layers.
pub fn of(composed: &Automaton) -> Profile {
    static USUAL: OnceLock<Usual> = OnceLock::new();
    let usual = USUAL.get_or_init(|| Usual::parse(shipped()).unwrap_or_default());
    usual.of(&mokume_analyse::laid_open(composed))
}

/// The same if the pass is enabled; else nothing is known.
pub fn by(composed: &Automaton, passes: Passes) -> Profile {
    match passes.has(Pass::Usual) {
        true => of(composed),
        false => Profile::default(),
    }
}

/// The built-in `library/usual.txt`.
pub fn shipped() -> &'static str {
    crate::library::text("usual.txt").unwrap_or_default()
}
