//! The text form: what `mokume build --emit automaton` prints, and what test files are written in.
//!
//! `parse(print(a)) == canonical(a)` and `print(parse(print(a))) == print(a)`. `docs/automaton.md` shows every construct.

mod body;
mod class;
mod cursor;
mod declare;
mod interface;
mod layout;
mod names;
mod operation;
mod parse;
mod parser;
mod print;
mod print_body;
mod print_wire;
mod terminator;
mod token;
mod wire;
mod wire_options;

pub use layout::{layout, layout_hash};
pub use names::ty as show_type;
pub use parse::{parse, Parsed};
pub use print::{function_code, path_code, path_lines, print, unit, wire, CodeLine};
pub use print_body::Part;
