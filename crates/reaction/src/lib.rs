//! The reaction automaton: Mokume's one intermediate form.
//!
//! Data ([`automaton`], [`body`], [`operation`], [`wire`]), its text form ([`text`]) and its verifier ([`verify`]).
//! `docs/automaton.md` is the user's page. Small, and rarely changed: every tool is a function on it.
//!
//! Invariant: this crate knows no protocol, no language and no back end.

pub mod automaton;
pub mod body;
pub mod border;
pub mod build;
pub mod canonical;
pub mod codes;
mod dominators;
pub mod machine;
pub mod operation;
pub mod place;
pub mod profile;
pub mod text;
pub mod trace;
pub mod types;
pub mod usual;
pub mod value;
pub mod verify;
pub mod visit;
pub mod wire;

pub use automaton::*;
pub use body::*;
pub use build::{result_types, to, BodyBuilder};
pub use dominators::Dominators;
pub use machine::*;
pub use operation::{Addressee, Binary, Compare, Effects, Emission, Endian, Fallible, OctetField, OpKind, Operation};
pub use place::{Place, Places, Unit};
pub use types::{types, Typing};
pub use value::{
    AttributeId, BlockId, CellId, ClassId, EnumId, FunctionId, Handle, HandlerId, HeaderId, Item, LayerId, ParamId,
    PathId, PortId, ReasonId, SourceId, Type, Value, VariantId, WireId, LONGEST_MESSAGE, MOST_ITEMS,
};
pub use verify::{diagnose, verify};
pub use wire::*;
