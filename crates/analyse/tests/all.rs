//! All tests of this crate that use it from outside, as one program: each program more is linked anew.

mod bounds;
mod passes;
