//! Headers in handlers: removing them, and reading them from a packet.

use mokume_reaction::{HeaderId, Target, VariantId, WireId};
use mokume_wire::HeaderValue;

use crate::operate::Next;
use crate::react::Reaction;

impl Reaction<'_> {
    /// Removes the top header and goes to the case of its variant, with the message and the fields. If no case has the
    /// variant, the handler stops.
    pub fn match_header<'a>(&mut self, message: u64, header: HeaderId, cases: &'a [(VariantId, Target)]) -> Next<'a> {
        let mut message = self.messages[message as usize].clone();
        // A message without a header counts as the first alternative, with fields of 0 (docs/semantics.md, F8).
        let none = || HeaderValue::nothing(&self.program.automaton, header);
        let top = message.headers.pop().unwrap_or_else(none);
        let Some((_, target)) = cases.iter().find(|(variant, _)| *variant == top.variant) else {
            return Next::Stop(Vec::new());
        };
        let mut results = vec![self.hand(message)];
        results.extend(top.fields);
        Next::To(target, results)
    }

    /// Decodes a message. `Ok`: the message with its headers pushed, the outermost on top, and their octets removed;
    /// `Err`: the unchanged message and the reason (docs/semantics.md, W2).
    pub fn decode(&mut self, id: u64, wire: WireId) -> Result<Vec<u64>, Vec<u64>> {
        let mut message = self.messages[id as usize].clone();
        match mokume_wire::decode(&self.program.automaton, wire, &message.octets) {
            Ok(decoded) => {
                message.met.retain(|(known, _)| *known != wire);
                message.met.push((wire, message.octets.clone()));
                message.octets = message.octets[decoded.payload].to_vec();
                message.headers.extend(decoded.headers.into_iter().rev());
                if !self.program.remembers {
                    message.met.clear();
                }
                Ok(vec![self.hand(message)])
            }
            Err(refusal) => Err(vec![id, u64::from(refusal.reason.0)]),
        }
    }

    /// Validates a message. `Ok`: the message without padding, otherwise unchanged; `Err`: the unchanged message and
    /// the reason (docs/semantics.md, W4).
    pub fn validate(&mut self, id: u64, wire: WireId) -> Result<Vec<u64>, Vec<u64>> {
        let mut message = self.messages[id as usize].clone();
        match mokume_wire::decode(&self.program.automaton, wire, &message.octets) {
            Ok(decoded) => {
                message.octets.truncate(decoded.payload.end);
                Ok(vec![self.hand(message)])
            }
            Err(refusal) => Err(vec![id, u64::from(refusal.reason.0)]),
        }
    }
}
