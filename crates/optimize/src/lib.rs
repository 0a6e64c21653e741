//! Fast paths: what usually happens on an event, as one body, with the lenses that say what it means.
//!
//! `structure` finds the common way through the layers and makes a path of it; the further passes make it cheap. All of it is
//! untrusted: `mokume-prove` judges what comes out.

pub mod structure;

pub use structure::fuse;
