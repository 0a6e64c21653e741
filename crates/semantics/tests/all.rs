//! All tests of this crate that use it from outside, as one program: each program is linked separately.

mod asked;
mod cascades;
mod check;
mod events;
mod mutations;
mod pages;
mod seen;
mod ways_out;
