//! Names, types, shapes, linearity: from the tree to the typed program.

pub mod program;
