//! All tests of this crate that use it from outside, as one program: each program more is linked anew.

mod common;
mod spin;
mod stop_and_wait;
