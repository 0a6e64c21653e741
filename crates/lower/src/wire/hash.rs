//! `above.layout`: what the peer of a layer must lay out alike, as a number that a layer with a handshake can say.
//!
//! Must keep: the same at both ends of equal layers, whatever else stands in their stacks. So it ends below what stands above
//! a key: there each host has layers of its own.

use mokume_reaction as r;
use mokume_reaction::text::layout_hash;

use crate::stack::Lowering;

impl Lowering<'_> {
    /// Of the wire that carries the layer's own header, then of each above it, up to the next key or end.
    pub(crate) fn layout_above(&self, inst: usize) -> u32 {
        let mut wires: Vec<r::WireId> = Vec::new();
        let mut at = self.plan.first_of_family(inst);
        loop {
            wires.extend(self.wire_of(at).filter(|wire| !wires.contains(wire)));
            let keyed = self.layer(at).is_some_and(|layer| layer.key.is_some());
            match self.inst(at).users[..] {
                [user] if !keyed || self.inst(user).group == self.inst(at).group => at = user,
                _ => break,
            }
        }
        layout_hash(&self.a, &wires)
    }
}
