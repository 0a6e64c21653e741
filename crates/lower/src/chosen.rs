//! A session that leaves its local key open gets a free one.
//!
//! Keys are taken in turn from the highest quarter (of ports that is 49152 and above, RFC 6335 section 6), so that they
//! keep out of the way of what listens.

use mokume_reaction as r;

use crate::frame::Writer;
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
}

impl<'p> Writer<'_, 'p> {
    /// Puts a key that no session of this flow has in place of *any* (0).
    pub fn choose_key(&mut self, user: usize, flow: &mut [r::Value]) {
        let Some(((place, bits), cell)) = self.open_key(self.inst).zip(self.info().next_key) else { return };
        let ty = r::Type::U(bits);
        let zero = self.constant(ty, 0);
        let any = self.value(r::OpKind::Compare { op: r::Compare::Eq, a: flow[place], b: zero });
        let (choose, given) = self.branch(any, None, "choose", "given");
        let chosen = self.b.block("chosen", &[("key".into(), ty)]);
        self.select(given);
        self.jump(chosen, vec![flow[place]]);
        self.select(choose);
        let start = self.constant(r::Type::U(32), 1);
        let head = self.b.block("try", &[("tries".into(), r::Type::U(32))]);
        self.b.set_bound(head, TRIES + 1);
        self.jump(head, vec![start]);
        self.select(head);
        let tries = self.b.params(head)[0];
        let key = self.next_key(cell, bits);
        let mut wanted = flow.to_vec();
        wanted[place] = key;
        let (taken, free) = self.find_session(&wanted);
        let next = self.b.block("next", &[]);
        self.select(free);
        if let Some(bound) = self.is_taken_by_bound(user, &wanted) {
            let (bound, free) = self.branch(bound, None, "bound", "free");
            self.select(bound);
            self.jump(next, []);
            self.select(free);
        }
        self.jump(chosen, vec![key]);
        self.select(taken.0);
        self.jump(next, []);
        self.select(next);
        let most = self.constant(r::Type::U(32), u64::from(TRIES));
        let more = self.value(r::OpKind::Compare { op: r::Compare::Lt, a: tries, b: most });
        let one = self.constant(r::Type::U(32), 1);
        let count = self.value(r::OpKind::Binary { op: r::Binary::AddWrap, a: tries, b: one });
        let again = r::Target { block: head, args: vec![count] };
        let give_up = r::Target { block: chosen, args: vec![key] };
        self.end(r::Terminator::Branch { condition: more, then: again, otherwise: give_up, likely: None });
        self.select(chosen);
        flow[place] = self.b.params(chosen)[0];
    }

    fn next_key(&mut self, cell: r::CellId, bits: u8) -> r::Value {
        let ty = r::Type::U(bits);
        let object = self.entity();
        let count = self.value(r::OpKind::Get { object, cell });
        let one = self.constant(ty, 1);
        let value = self.value(r::OpKind::Binary { op: r::Binary::AddWrap, a: count, b: one });
        self.op(r::OpKind::Set { object, cell, value });
        let low = self.constant(ty, (1 << (bits - 2)) - 1);
        let low = self.value(r::OpKind::Binary { op: r::Binary::And, a: count, b: low });
        let high = self.constant(ty, 3 << (bits - 2));
        self.value(r::OpKind::Binary { op: r::Binary::Or, a: low, b: high })
    }
}
