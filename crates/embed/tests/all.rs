//! All tests of this crate that use it from outside, as one program: each program is linked separately.

mod graph;
mod guide;
