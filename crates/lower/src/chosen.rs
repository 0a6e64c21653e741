//! A session that leaves its local key open gets a free one.
//!
//! Keys are taken in turn from the highest quarter (of ports that is 49152 and above, RFC 6335 section 6), so that they
//! keep out of the way of what listens.

use mokume_reaction as r;

use crate::frame::Frame;
use crate::lowering::Lowering;
use crate::plan::Part;

/// How many keys one `open` tries.
const TRIES: u32 = 16;

impl<'p> Lowering<'p> {
    /// Where a multiplexor's own local key stands in its flow, and its bits; of a key of one number that the ends do not share.
    pub fn open_key(&self, inst: usize) -> Option<(usize, u8)> {
        let at = self.inst(inst);
        let own = |place: &usize| at.top[*place].owner == inst && at.top[*place].side == Part::Local;
        let mut places = (0..at.top.len()).filter(own);
        match (places.next(), places.next()) {
            (Some(place), None) if at.is_multiplexor() => match at.top[place].ty {
                mokume_semantics::program::Type::UInt(bits) if bits >= 4 => Some((place, bits)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Puts a key that no session of this flow has in place of *any* (0).
    pub fn choose_key(&mut self, f: &mut Frame<'p>, user: usize, flow: &mut [r::Value]) {
        let Some(((place, bits), cell)) = self.open_key(f.inst).zip(self.info(f.inst).next_key) else { return };
        let ty = r::Type::U(bits);
        let zero = f.constant(&self.a, ty, 0);
        let any = f.value(&self.a, r::OpKind::Compare { op: r::Compare::Eq, a: flow[place], b: zero });
        let (choose, given) = f.branch(any, None, "choose", "given");
        let chosen = f.b.block("chosen", &[("key".into(), ty)]);
        f.select(given);
        f.jump(chosen, vec![flow[place]]);
        f.select(choose);
        let start = f.constant(&self.a, r::Type::U(32), 1);
        let head = f.b.block("try", &[("tries".into(), r::Type::U(32))]);
        f.b.set_bound(head, TRIES + 1);
        f.jump(head, vec![start]);
        f.select(head);
        let tries = f.b.params(head)[0];
        let key = self.next_key(f, cell, bits);
        let mut wanted = flow.to_vec();
        wanted[place] = key;
        let (taken, free) = self.find_session(f, &wanted);
        let next = f.b.block("next", &[]);
        f.select(free);
        if let Some(bound) = self.is_taken_by_bound(f, user, &wanted) {
            let (bound, free) = f.branch(bound, None, "bound", "free");
            f.select(bound);
            f.jump(next, []);
            f.select(free);
        }
        f.jump(chosen, vec![key]);
        f.select(taken.0);
        f.jump(next, []);
        f.select(next);
        let most = f.constant(&self.a, r::Type::U(32), u64::from(TRIES));
        let more = f.value(&self.a, r::OpKind::Compare { op: r::Compare::Lt, a: tries, b: most });
        let one = f.constant(&self.a, r::Type::U(32), 1);
        let count = f.value(&self.a, r::OpKind::Binary { op: r::Binary::AddWrap, a: tries, b: one });
        let again = r::Target { block: head, args: vec![count] };
        let give_up = r::Target { block: chosen, args: vec![key] };
        f.end(r::Terminator::Branch { condition: more, then: again, otherwise: give_up, likely: None });
        f.select(chosen);
        flow[place] = f.b.params(chosen)[0];
    }

    fn next_key(&mut self, f: &mut Frame<'p>, cell: r::CellId, bits: u8) -> r::Value {
        let ty = r::Type::U(bits);
        let object = self.entity(f);
        let count = f.value(&self.a, r::OpKind::Get { object, cell });
        let one = f.constant(&self.a, ty, 1);
        let value = f.value(&self.a, r::OpKind::Binary { op: r::Binary::AddWrap, a: count, b: one });
        f.op(&self.a, r::OpKind::Set { object, cell, value });
        let low = f.constant(&self.a, ty, (1 << (bits - 2)) - 1);
        let low = f.value(&self.a, r::OpKind::Binary { op: r::Binary::And, a: count, b: low });
        let high = f.constant(&self.a, ty, 3 << (bits - 2));
        f.value(&self.a, r::OpKind::Binary { op: r::Binary::Or, a: low, b: high })
    }
}
