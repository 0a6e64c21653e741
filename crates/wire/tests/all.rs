//! All tests of this crate that use it from outside, as one program: each program is linked separately.

mod commons;
mod inverse;
mod lists;
mod lists_in_lists;
