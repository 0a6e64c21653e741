//! Several hosts in virtual time, on media with seeded weather.
//!
//! Invariant: a run depends only on the machines, the script, the media, the watcher and the seed; there is no clock
//! and no file.

pub mod clock;
pub mod network;
pub mod record;
pub mod recorder;
pub mod restless;
pub mod watch;
pub mod way;
pub mod weather;

pub use clock::{Clock, Clocked};
pub use network::{Host, Keep, Outage, Partition, Simulation, Unfulfilled};
pub use record::{Ending, Fate, Loss, Record, RecordedEvent};
pub use recorder::Recorded;
pub use restless::{Again, Called, Much, Restless, Why};
pub use watch::{ScriptedInput, Unwatched, Watch};
pub use way::{Befell, Way};
pub use weather::{joined, Ill, Medium, Member, Mishap, Weather};
