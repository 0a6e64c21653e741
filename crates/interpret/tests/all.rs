//! All tests of this crate that use it from outside, as one program: each program more is linked anew.

mod instance;
mod random_automata;
mod random_graphs;
mod reliable;
mod run_files;
