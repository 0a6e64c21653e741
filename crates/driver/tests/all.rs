//! All tests of this crate that use it from outside, as one program: each program more is linked anew.

mod attacks;
mod beginnings;
mod campaign;
mod crowds;
mod dissect_tshark;
mod docs;
mod files_together;
mod hostile;
mod hostile_tcp;
mod layers_page;
mod layouts_compared;
mod library_agrees;
mod library_faults;
mod long_vectors;
mod many_outputs;
mod mirror;
mod models;
mod mutants;
mod odd_numbers;
mod pages;
mod peak_by_facts;
mod pictures;
mod random_stacks;
mod resources;
mod wires_inverse;
mod wrong;
