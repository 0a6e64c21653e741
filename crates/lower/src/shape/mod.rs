//! What shapes supply: the beginning and end of sessions, listeners and their points, and the receivers of messages.
//!
//! Keeps: written with the combinators of [`crate::code`], which handle exits, joins and locals.
//! [`Writer::run`](crate::code::Writer::run) inlines the layer's own code where it takes part.

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
