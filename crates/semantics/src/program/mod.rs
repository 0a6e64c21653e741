//! The typed program: what the front end proves about a file, and what `lower` turns into automata.
//!
//! Names are resolved, every expression has a type, messages are linear, shapes are obeyed. Layers are still generic in
//! their neighbours: flows are opaque here, and become scalars when a stack is lowered.
//!
//! Invariant: if there is no error among the diagnostics, `lower` may rely on all of this without checking again.

mod expressions;
mod functions;
mod handlers;
mod ids;
mod items;
mod layers;
mod mentions;
mod parts;
pub mod signature;
mod sizes;
mod stacks;
mod statements;
mod tests;
mod whole;
mod wires;

pub use expressions::*;
pub use functions::*;
pub use handlers::*;
pub use ids::*;
pub use items::*;
pub use layers::*;
pub use mentions::*;
pub use parts::*;
pub use sizes::*;
pub use stacks::*;
pub use statements::*;
pub use tests::*;
pub use whole::*;
pub use wires::*;
