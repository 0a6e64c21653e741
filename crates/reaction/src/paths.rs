//! Level 2: fast paths and the lens that certifies them (`docs/automaton.md`, "Paths").
//!
//! A path is `pure prefix; guards with exits; one parallel commit; outs`, so nothing can have happened before an exit, by form.

/// The certificate: how each layered cell is read from, and written to, the optimised record.
#[derive(Clone, PartialEq, Debug)]
pub struct Lens {
    pub name: String,
}

/// One fused reaction.
#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    pub name: String,
}
