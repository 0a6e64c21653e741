//! All tests of this crate that use it from outside, as one program: each program more is linked anew.

mod apart;
mod command;
mod debug;
mod devices;
mod dissect;
mod doc;
mod equal;
mod examples;
mod fmt_new;
mod formats;
mod front;
mod groups;
mod install;
mod judged;
mod lsp;
mod members;
mod networks;
mod path_page;
mod profile;
mod prove;
mod records;
mod small;
mod streams;
mod tap;
mod tutorial;
mod viewer;
