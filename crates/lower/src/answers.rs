//! Messages for many: all who match get a share (docs/language.md, section 6). And numbers of flows.
//!
//! Invariant: the message itself has one fate: consumed where anybody got a share, unmatched else.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::fault::Fault;
use crate::frame::{Exit, Register, Writer};
use crate::lowering::What;

impl<'p> Writer<'_, 'p> {
    /// Finds whom a message is for, one or all, as the multiplexor says.
    pub fn demultiplex(&mut self, message: r::Value, flow: Vec<r::Value>) {
        let matching = self.layer(self.inst).map_or(s::Matching::One, |layer| layer.matching);
        match matching {
            s::Matching::One => self.demultiplex_one(message, flow),
            s::Matching::All => self.demultiplex_all(message, flow),
            s::Matching::AllWhen(attribute) => {
                let attribute = self.attribute(attribute);
                let all = self.value(r::OpKind::GetAttribute { message, attribute });
                let (yes, no) = self.branch(all, None, "all", "one");
                let before = self.locals.clone();
                self.select(yes);
                self.demultiplex_all(message, flow.clone());
                let mut exits: Vec<Exit> = self.exit(Vec::new()).into_iter().collect();
                self.select(no);
                self.locals = before;
                self.demultiplex_one(message, flow);
                exits.extend(self.exit(Vec::new()));
                self.join("given", exits);
            }
        }
    }

    fn demultiplex_all(&mut self, message: r::Value, flow: Vec<r::Value>) {
        self.place.flow = Some(flow.clone());
        let mut given = self.constant(r::Type::Bool, 0);
        if self.infos[self.inst].sessions.is_some() {
            let mut keys = vec![flow.clone()];
            keys.extend(self.at_any_address(&flow));
            for key in keys {
                let (found, absent) = self.find_session(&key);
                given = self.share_if((found.0, absent), given, |this| {
                    let outer = this.place.session.replace(found.1);
                    let share = this.value(r::OpKind::Share { message });
                    this.event_up("deliver", What::Deliver, vec![share]);
                    this.place.session = outer;
                });
            }
        }
        let in_session = given;
        given = self.share_bound(message, &flow, given);
        given = self.share_listeners(message, &flow, (given, in_session));
        self.after_shares(message, &flow, given);
    }

    fn after_shares(&mut self, message: r::Value, flow: &[r::Value], given: r::Value) {
        let (some, none) = self.branch(given, None, "given", "nobody");
        let before = self.locals.clone();
        self.select(some);
        let reason = self.reason("shared");
        self.op(r::OpKind::Consume { message, reason });
        let mut exits: Vec<Exit> = self.exit(Vec::new()).into_iter().collect();
        self.select(none);
        self.locals = before;
        self.unmatched(message, flow);
        exits.extend(self.exit(Vec::new()));
        for exit in &mut exits {
            exit.locals.iter_mut().filter(|slot| slot.as_deref() == Some(&[message])).for_each(|slot| *slot = None);
        }
        self.join("end", exits);
    }

    /// Runs `give` in the first block; whether anybody has been given something behind both.
    fn share_if(
        &mut self,
        (found, absent): (r::BlockId, r::BlockId),
        given: r::Value,
        give: impl FnOnce(&mut Self),
    ) -> r::Value {
        self.share_and((found, absent), (given, given), false, give).0
    }

    /// The same, and whether there is a session behind both: `begins` says that `give` makes one.
    fn share_and(
        &mut self,
        (found, absent): (r::BlockId, r::BlockId),
        (given, in_session): (r::Value, r::Value),
        begins: bool,
        give: impl FnOnce(&mut Self),
    ) -> (r::Value, r::Value) {
        let before = self.locals.clone();
        self.select(found);
        if !self.faulty(Fault::ShareLost) {
            give(self);
        }
        let yes = self.constant(r::Type::Bool, 1);
        let mut exits: Vec<Exit> = self.exit(vec![yes, if begins { yes } else { in_session }]).into_iter().collect();
        self.select(absent);
        self.locals = before;
        exits.extend(self.exit(vec![given, in_session]));
        match self.join("shared", exits).as_deref() {
            Some([given, in_session]) => (*given, *in_session),
            _ => (given, in_session),
        }
    }

    fn share_bound(&mut self, message: r::Value, flow: &[r::Value], given: r::Value) -> r::Value {
        let (inst, plan) = (self.inst, self.plan.clone());
        let mut given = given;
        for user in plan.insts[inst].users.iter().copied().filter(|user| plan.is_bound(inst, *user)) {
            let equal = self.equals_bound(user, flow).unwrap_or_else(|| self.constant(r::Type::Bool, 1));
            let blocks = self.branch(equal, None, "bound", "other");
            given = self.share_if(blocks, given, |this| {
                let share = this.value(r::OpKind::Share { message });
                match this.inst(user).uses.flow {
                    true => this.deliver_flow(user, share, flow.to_vec()),
                    false => this.accept(user, share, flow, false),
                }
            });
        }
        given
    }

    /// Each layer that listens with a pattern of this flow; who has a session begins no other.
    fn share_listeners(
        &mut self,
        message: r::Value,
        flow: &[r::Value],
        (given, in_session): (r::Value, r::Value),
    ) -> r::Value {
        let Some(maps) = self.listener_maps(self.inst) else { return given };
        let (mut given, mut in_session) = (given, in_session);
        for (place, (user, how)) in self.listening(self.inst).into_iter().enumerate() {
            let number = self.constant(r::Type::U(8), place as u64);
            let found = self.search(flow, maps, &[vec![number]]);
            let Some(absent) = self.b.current() else { return given };
            let begins = how != Register::Bind;
            (given, in_session) = self.share_and((found, absent), (given, in_session), begins, |this| {
                if begins {
                    return this.accept_unless(in_session, (user, message), flow);
                }
                let share = this.value(r::OpKind::Share { message });
                this.deliver_flow(user, share, flow.to_vec());
            });
        }
        given
    }

    fn accept_unless(&mut self, in_session: r::Value, (user, message): (usize, r::Value), flow: &[r::Value]) {
        let (there, fresh) = self.branch(in_session, None, "there", "fresh");
        let before = self.locals.clone();
        self.select(there);
        let mut exits: Vec<Exit> = self.exit(Vec::new()).into_iter().collect();
        self.select(fresh);
        self.locals = before;
        let share = self.value(r::OpKind::Share { message });
        self.accept(user, share, flow, false);
        exits.extend(self.exit(Vec::new()));
        self.join("after", exits);
    }

    /// Whether a flow has the key that a user is bound to; none if it is bound to no key.
    pub fn equals_bound(&mut self, user: usize, flow: &[r::Value]) -> Option<r::Value> {
        let mut equal = None;
        for (at, constant) in self.plan.clone().insts[user].bound.clone() {
            let wanted = self.bound_value(constant);
            let ty = self.b.type_of(flow[at]);
            let wanted = self.cast(wanted, ty);
            let one = self.value(r::OpKind::Compare { op: r::Compare::Eq, a: flow[at], b: wanted });
            equal = Some(match equal {
                None => one,
                Some(before) => self.value(r::OpKind::Binary { op: r::Binary::And, a: before, b: one }),
            });
        }
        equal
    }

    /// Whether a key that a user would have for itself is bound to another layer in the stack.
    pub fn is_taken_by_bound(&mut self, user: usize, flow: &[r::Value]) -> Option<r::Value> {
        if !self.inst(user).bound.is_empty() {
            return None;
        }
        let mut taken = None;
        for other in self.inst(self.inst).users.clone() {
            let Some(one) = self.equals_bound(other, flow) else { continue };
            taken = Some(match taken {
                None => one,
                Some(before) => self.value(r::OpKind::Binary { op: r::Binary::Or, a: before, b: one }),
            });
        }
        taken
    }

    // -- numbers of flows

    /// Each scalar is folded in and the bits spread; the constant is the golden ratio's, as in Fibonacci hashing.
    pub fn flow_hash(&mut self, flow: &'p s::Expr, secret: &'p s::Expr) -> r::Value {
        let wide = r::Type::U(64);
        let values = self.expr(flow);
        let mut hash = self.one(secret);
        let factor = self.constant(wide, 0x9e37_79b9_7f4a_7c15);
        let shift = self.constant(wide, 32);
        for value in values {
            let value = self.cast(value, wide);
            let mut with = |op, a, b| self.value(r::OpKind::Binary { op, a, b });
            let mixed = with(r::Binary::Xor, hash, value);
            let spread = with(r::Binary::MulWrap, mixed, factor);
            let high = with(r::Binary::Shr, spread, shift);
            hash = with(r::Binary::Xor, spread, high);
        }
        self.cast(hash, r::Type::U(32))
    }
}
