//! All tests of this crate that use it from outside, as one program: each program is linked separately.

mod common;
mod spin;
mod stop_and_wait;
