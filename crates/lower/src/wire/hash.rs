//! `above.layout`: a hash of the layouts that both ends must share, which a layer with a handshake can send.
//!
//! Keeps: equal layers have equal values at both ends, whatever else is in their stacks. So it stops below layers that
//! are bound to a key: these may differ between hosts.

use mokume_reaction as r;
use mokume_reaction::text::layout_hash;

use crate::stack::Lowering;

impl Lowering<'_> {
    /// The hash of the wire with the layer's own header, then of each wire above it, up to the next key or end.
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
