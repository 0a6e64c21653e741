//! All tests of this crate that use it from outside, as one program: each program is linked separately.

mod editor;

mod cases;
mod completion;
mod diagnostics;
mod edits;
mod everywhere;
mod names;
mod outline;
mod protocol;
mod random;
mod runs;
