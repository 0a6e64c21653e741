//! Compares a capture with a running stack: `mokume dissect --follow`. Frames that came to a host are given to its
//! stack, at the times of the capture; frames that the host sent are compared with what the stack sends then.
//!
//! Keeps: the result for an incoming packet is what the layers did with it, in the state after the packets before it;
//! if the capture shows that the host's state was different, the result says so. No protocol is known.

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

/// A packet that comes once more within this time, in nanoseconds, is a duplicate; later, the host has sent it again.
const DUPLICATE: u64 = 10_000_000;

impl Host<'_> {
    /// Runs the stack along a capture. Its packets must have the link type of the stack's device. `sent` selects those
    /// that the host sent; by default, those that its stack sends. Meanwhile `done` hears how many packets were followed.
    pub fn follow(
        &self,
        packets: &[Packet],
        sent: Option<&Filter>,
        done: &mut dyn FnMut(usize),
    ) -> Result<Report, Failure> {
        for packet in packets {
            if self.dissector.front(packet.link) != Some(Front::Frame(0)) {
                return Err(self.dissector.refusal(packet.link, &format!("packet {} is", packet.number)));
            }
        }
        let follower = Follower::new(self, packets, sent);
        let is_from_start = follower.is_from_start();
        let (seen, missing) = follower.run(done)?;
        let first = seen.iter().find(|seen| matches!(seen.what, What::Sent(_))).filter(|_| !is_from_start);
        let clock_from = first.filter(|seen| matches!(&seen.what, What::Sent(sent) if sent.how == Likeness::Alike));
        let clock_from = clock_from.map(|seen| seen.packet);
        let waiting = self.applications.map_or(0, |(prepared, host)| prepared.waits_for_others(host));
        let at = |packet: u64| seen.iter().find(|seen| seen.packet == packet).map_or(0, |seen| seen.at);
        let is_unlike = |seen: &&Seen| match &seen.what {
            What::Sent(Sent { how: Likeness::Unlike, .. }) => true,
            What::Sent(Sent { how: Likeness::Again(before), .. }) => seen.at.saturating_sub(at(*before)) > DUPLICATE,
            _ => false,
        };
        let apart_from = seen.iter().find(is_unlike).map(|seen| seen.packet);
        Ok(Report { seen, missing, waiting, clock_from, apart_from })
    }
}
