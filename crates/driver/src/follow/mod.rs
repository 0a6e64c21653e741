//! A capture held against a stack that runs: `mokume dissect --follow`. What came to a host is given to its stack, at the times of the
//! capture; what the host sent is held against what the stack sends then.
//!
//! Keeps: what is said of a packet that came is what the layers did with it, in the state that the packets before it had brought them to;
//! where the capture shows that the host's state was another, that is said. No protocol is known.

mod alike;
mod host;
pub mod json;
mod learn;
mod noted;
mod said;
mod state;
pub mod text;

use crate::dissect::capture::Packet;
use crate::dissect::filter::Filter;
use crate::dissect::link::Front;
use crate::failure::Failure;

pub use alike::Unlike;
pub use host::{Host, Taken};
use learn::Follower;
pub use noted::{Ended, How};
pub use said::{Came, Fate, Likeness, Report, Seen, Sent, What};

impl Host<'_> {
    /// Runs the stack along a capture. Its packets must be of the link that the stack's device carries. `sent` says which of them the host
    /// sent; else those that its stack sends.
    pub fn follow(&self, packets: &[Packet], sent: Option<&Filter>) -> Result<Report, Failure> {
        for packet in packets {
            if self.dissector.front(packet.link) != Some(Front::Frame) {
                return Err(self.dissector.refusal(packet.link, &format!("packet {} is", packet.number)));
            }
        }
        let (seen, missing) = Follower::new(self, packets, sent).run()?;
        let waiting = self.applications.map_or(0, |(prepared, host)| prepared.waits_for_others(host));
        let is_unlike = |seen: &&Seen| matches!(&seen.what, What::Sent(sent) if sent.how == Likeness::Unlike);
        let apart_from = seen.iter().find(is_unlike).map(|seen| seen.packet);
        Ok(Report { seen, missing, waiting, apart_from })
    }
}
