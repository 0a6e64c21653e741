//! The codes of this crate's diagnostics, each with its page for `mokume explain`: why it is wrong, a wrong and a right example.
//!
//! M02 names, M03 types, M04 messages, M05 shapes and handlers (from M0550 on types of layers), M06 wires, M07 stacks; from x90 on warnings. The tests
//! read the pages: the wrong example gives the code, the right one gives nothing.

macro_rules! codes {
    ($($name:ident = $code:literal, $title:literal, $why:literal, $wrong:literal, $right:literal;)*) => {
        $(#[doc = $title] pub const $name: mokume_base::Code = mokume_base::Code($code);)*
        /// Code, title and page of every diagnostic of this family.
        pub(super) static CODES: &[(&str, &str, &str)] = &[$((
            $code,
            $title,
            concat!($why, "\n\nWrong:\n\n```wrong\n", $wrong, "\n```\n\nRight:\n\n```right\n", $right, "\n```\n"),
        )),*];
    };
}

mod containers;
mod graph;
mod messages;
mod names;
mod ranges;
mod rows;
mod shapes;
mod stacks;
mod types;
mod vectors;
mod wires;

macro_rules! export {
    ($($family:ident),*) => {
        $(pub use $family::*;)*
    };
}
export!(containers, graph, messages, names, ranges, rows, shapes, stacks, types, vectors, wires);

/// Code, title and page of every diagnostic of this crate, by code.
pub fn all() -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    [
        names::CODES,
        types::CODES,
        ranges::CODES,
        containers::CODES,
        messages::CODES,
        shapes::CODES,
        rows::CODES,
        graph::CODES,
        wires::CODES,
        vectors::CODES,
        stacks::CODES,
    ]
    .into_iter()
    .flatten()
}
