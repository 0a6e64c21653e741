//! What shapes supply: sessions that begin and end, listeners and their points, and whom a message is for.
//!
//! Keeps: written with the combinators of [`crate::code`], which do exits, joins and locals. Where a layer's own code takes
//! part, [`Writer::run`](crate::code::Writer::run) runs it in place.

mod answers;
mod changes;
mod deliver;
mod held;
mod keys;
mod listeners;
mod maps;
mod multiplex;
mod point;
mod quoted;
mod quotes;
mod session;
mod session_end;

pub use session::Beginning;
pub use session_end::Ending;
