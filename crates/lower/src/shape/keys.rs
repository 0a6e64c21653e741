//! Chooses a free local key for a session that leaves it open.
//!
//! Keys are tried in turn from the highest quarter (for ports 49152 and above, RFC 6335 section 6), so that they do not
//! collide with listeners. If the layer publishes [`EPHEMERAL`] for a flow, the search begins at that offset.

use mokume_reaction as r;

use crate::code::{Exits, Writer};
use crate::stack::{Publisher, Reading};

/// The most keys that one `open` tries.
const TRIES: u32 = 16;

/// The published value with which the search for a flow's own key begins (RFC 6056 3.3.3).
const EPHEMERAL: &str = "ephemeral";

impl<'p> Writer<'_, 'p> {
    /// Replaces *any* (0) by a key that no session of this flow has.
    pub(super) fn choose_key(&mut self, user: usize, flow: &mut [r::Value]) {
        let Some((place, bits)) = self.open_key(self.inst) else { return };
        let found = self.info().session.as_ref().and_then(|cells| cells.found);
        let Some(cell) = found.and_then(|found| found.next_key) else { return };
        let any = self.is_zero(flow[place]);
        let choose = self.fork(any);
        let chosen = self.either(choose, |w, _| w.free_key(user, flow, (place, bits), cell), |_, _| vec![flow[place]]);
        flow[place] = chosen[0];
    }

    /// The next free key; if all that it tries are taken, the last of them, which `open` refuses.
    fn free_key(
        &mut self,
        user: usize,
        flow: &[r::Value],
        (place, bits): (usize, u8),
        cell: r::CellId,
    ) -> Vec<r::Value> {
        let begins = self.begins(flow, bits);
        let first = self.constant(r::Type::U(32), 1);
        self.repeat(&[], &[("tries", first)], TRIES + 1, |w, own, out| {
            let key = w.next_key(cell, bits, begins);
            let mut wanted = flow.to_vec();
            wanted[place] = key;
            let mut taken = Exits::default();
            if let Some(session) = w.find_session(&wanted) {
                w.on(&mut taken, session, |_, _| {});
            }
            if let Some(bound) = w.is_taken_by_bound(user, &wanted) {
                let fork = w.fork(bound);
                w.on(&mut taken, fork, |_, _| {});
            }
            if let Some(held) = w.is_held(user, &wanted) {
                let fork = w.fork(held);
                w.on(&mut taken, fork, |_, _| {});
            }
            w.exit(out, vec![key]);
            w.meet(taken);
            let most = w.constant(r::Type::U(32), u64::from(TRIES));
            let more = w.compare(r::Compare::Lt, own[0], most);
            let count = w.by_one(own[0], r::Binary::AddWrap);
            let again = w.fork(more);
            w.follow(again.no);
            w.exit(out, vec![key]);
            w.follow(again.yes);
            vec![count]
        })
    }

    /// The offset at which the search begins for this flow; `None` if the layer gives none.
    fn begins(&mut self, flow: &[r::Value], bits: u8) -> Option<r::Value> {
        if !matches!(self.publisher(self.inst, EPHEMERAL), Publisher::Own(_)) {
            return None;
        }
        let reading = self.reading(self.inst, EPHEMERAL);
        let mut args = vec![self.entity()];
        if reading == Reading::Flow {
            args.extend(flow);
        }
        let said = self.call_published(self.inst, EPHEMERAL, reading, args).first().copied()?;
        Some(self.cast(said, r::Type::U(bits)))
    }

    fn next_key(&mut self, cell: r::CellId, bits: u8, begins: Option<r::Value>) -> r::Value {
        let ty = r::Type::U(bits);
        let entity = self.entity();
        let count = self.get(entity, cell);
        let next = self.by_one(count, r::Binary::AddWrap);
        self.set(entity, cell, next);
        // A key of one bit has no quarters: of its two numbers 0 is *any*.
        let quarter = bits.saturating_sub(2);
        let low = self.constant(ty, (1 << quarter) - 1);
        let turn = match begins {
            Some(begins) => self.binary(r::Binary::AddWrap, count, begins),
            None => count,
        };
        let low = self.binary(r::Binary::And, turn, low);
        let high = self.constant(ty, (u64::from(bits > 1) << (bits - 1)) | (1 << quarter));
        self.binary(r::Binary::Or, low, high)
    }
}
