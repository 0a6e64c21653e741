//! The library and the pages of diagnostics are part of the program: a change of their files rebuilds this crate.
fn main() {
    println!("cargo:rerun-if-changed=../../library");
    println!("cargo:rerun-if-changed=../../docs/diagnostics");
}
