//! What handlers do with headers: taking them off, and reading them from a packet.

use mokume_reaction::{HeaderId, Target, VariantId, WireId};
use mokume_wire::HeaderValue;

use crate::operate::Next;
use crate::react::Reaction;

impl Reaction<'_> {
    /// Takes the top header off and goes to the case of its variant, with message and fields. Where no case
    /// has the variant, the handler stops.
    pub fn match_header<'a>(&mut self, message: u64, header: HeaderId, cases: &'a [(VariantId, Target)]) -> Next<'a> {
        let mut message = self.messages[message as usize].clone();
        // Of a message without a header the first alternative, of zeros (docs/semantics.md, F8).
        let none = || HeaderValue::nothing(&self.program.automaton, header);
        let top = message.headers.pop().unwrap_or_else(none);
        let Some((_, target)) = cases.iter().find(|(variant, _)| *variant == top.variant) else {
            return Next::Stop(Vec::new());
        };
        let mut results = vec![self.hand(message)];
        results.extend(top.fields);
        Next::To(target, results)
    }

    /// `Ok` with the message behind its headers, which stand on it with the outermost on top; `Err` with the message
    /// as it was and the reason (docs/semantics.md, W2).
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

    /// `Ok` with the message, padding cut off and all other octets left; `Err` with the message as it was and the
    /// reason (docs/semantics.md, W4).
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
