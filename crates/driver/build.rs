//! The library is part of the program: a change of its files rebuilds this crate.
fn main() {
    println!("cargo:rerun-if-changed=../../library");
}
