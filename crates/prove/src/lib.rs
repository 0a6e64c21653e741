//! Bodies as terms, solvers that decide questions about them, and the judge of paths that uses both.
//!
//! [`symbolic`] reads one reaction of an automaton for all states at once, [`term`] holds the result, [`solver`] calls
//! external programs, [`judge`] compares a path with the layers, [`equal`] compares two automata over one list of
//! declarations ([`pair`]). Tests check the reading against the interpreter.
//!
//! Invariant: uses `base` and `reaction` only. A judge shares no code with what it judges: it has its own reading of
//! bodies.

mod again;
mod asking;
mod compared;
pub mod equal;
pub mod judge;
mod lemmas;
pub mod pair;
mod smtlib;
pub mod solver;
pub mod symbolic;
pub mod term;
mod verdict;

/// The judge's source text, and those of `reaction` that it believes: who begins a reaction, how wide types are, how large
/// the parts of a wire. A verdict is only valid for the judge that gave it.
pub const SOURCES: [&str; 39] = [
    include_str!("../../reaction/src/automaton.rs"),
    include_str!("../../reaction/src/types.rs"),
    include_str!("../../reaction/src/wire.rs"),
    include_str!("again.rs"),
    include_str!("asking.rs"),
    include_str!("bitwuzla.py"),
    include_str!("compared.rs"),
    include_str!("equal.rs"),
    include_str!("judge.rs"),
    include_str!("lemmas.rs"),
    include_str!("lib.rs"),
    include_str!("pair.rs"),
    include_str!("smtlib.rs"),
    include_str!("solver.rs"),
    include_str!("symbolic.rs"),
    include_str!("symbolic/arithmetic.rs"),
    include_str!("symbolic/arrays.rs"),
    include_str!("symbolic/body.rs"),
    include_str!("symbolic/cells.rs"),
    include_str!("symbolic/decoder.rs"),
    include_str!("symbolic/encoder.rs"),
    include_str!("symbolic/held.rs"),
    include_str!("symbolic/links.rs"),
    include_str!("symbolic/merging.rs"),
    include_str!("symbolic/message.rs"),
    include_str!("symbolic/messages.rs"),
    include_str!("symbolic/put_off.rs"),
    include_str!("symbolic/settling.rs"),
    include_str!("symbolic/terminators.rs"),
    include_str!("symbolic/way.rs"),
    include_str!("symbolic/wires.rs"),
    include_str!("term.rs"),
    include_str!("term/bits.rs"),
    include_str!("term/folds.rs"),
    include_str!("term/known.rs"),
    include_str!("term/model.rs"),
    include_str!("term/numbers.rs"),
    include_str!("term/truths.rs"),
    include_str!("verdict.rs"),
];

#[cfg(test)]
mod tests {
    #[test]
    fn all_of_the_judge_is_in_its_text() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        let (mut open, mut texts) = (vec![std::path::PathBuf::from(root)], Vec::new());
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    texts.push(std::fs::read_to_string(path).unwrap());
                }
            }
        }
        assert_eq!(texts.len() + 3, super::SOURCES.len());
        assert!(texts.iter().all(|text| super::SOURCES.contains(&text.as_str())));
    }
}
