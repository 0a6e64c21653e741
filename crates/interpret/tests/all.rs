//! All tests of this crate that use it from outside, as one program: each program is linked separately.

mod instance;
mod random_automata;
mod random_graphs;
mod reliable;
mod run_files;
