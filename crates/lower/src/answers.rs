//! Messages for many: all who match get a share (docs/language.md, section 6). And numbers of flows.
//!
//! Invariant: the message itself has one fate: consumed where anybody got a share, unmatched else.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::fault::Fault;
use crate::frame::{Exit, Frame, Register};
use crate::lowering::{Lowering, What};

impl<'p> Lowering<'p> {
    /// Finds whom a message is for, one or all, as the multiplexor says.
    pub fn demultiplex(&mut self, f: &mut Frame<'p>, message: r::Value, flow: Vec<r::Value>) {
        let matching = self.layer(f.inst).map_or(s::Matching::One, |layer| layer.matching);
        match matching {
            s::Matching::One => self.demultiplex_one(f, message, flow),
            s::Matching::All => self.demultiplex_all(f, message, flow),
            s::Matching::AllWhen(attribute) => {
                let attribute = self.attribute(attribute);
                let all = f.value(&self.a, r::OpKind::GetAttribute { message, attribute });
                let (yes, no) = f.branch(all, None, "all", "one");
                let before = f.locals.clone();
                f.select(yes);
                self.demultiplex_all(f, message, flow.clone());
                let mut exits: Vec<Exit> = f.exit(Vec::new()).into_iter().collect();
                f.select(no);
                f.locals = before;
                self.demultiplex_one(f, message, flow);
                exits.extend(f.exit(Vec::new()));
                f.join("given", exits);
            }
        }
    }

    fn demultiplex_all(&mut self, f: &mut Frame<'p>, message: r::Value, flow: Vec<r::Value>) {
        f.place.flow = Some(flow.clone());
        let mut given = f.constant(&self.a, r::Type::Bool, 0);
        if self.infos[f.inst].sessions.is_some() {
            let mut keys = vec![flow.clone()];
            keys.extend(self.at_any_address(f, &flow));
            for key in keys {
                let (found, absent) = self.find_session(f, &key);
                given = self.share_if(f, (found.0, absent), given, |this, f| {
                    let outer = f.place.session.replace(found.1);
                    let share = f.value(&this.a, r::OpKind::Share { message });
                    this.event_up(f, "deliver", What::Deliver, vec![share]);
                    f.place.session = outer;
                });
            }
        }
        let in_session = given;
        given = self.share_bound(f, message, &flow, given);
        given = self.share_listeners(f, message, &flow, (given, in_session));
        self.after_shares(f, message, &flow, given);
    }

    fn after_shares(&mut self, f: &mut Frame<'p>, message: r::Value, flow: &[r::Value], given: r::Value) {
        let (some, none) = f.branch(given, None, "given", "nobody");
        let before = f.locals.clone();
        f.select(some);
        let reason = self.reason(f.inst, "shared");
        f.op(&self.a, r::OpKind::Consume { message, reason });
        let mut exits: Vec<Exit> = f.exit(Vec::new()).into_iter().collect();
        f.select(none);
        f.locals = before;
        self.unmatched(f, message, flow);
        exits.extend(f.exit(Vec::new()));
        for exit in &mut exits {
            exit.locals.iter_mut().filter(|slot| slot.as_deref() == Some(&[message])).for_each(|slot| *slot = None);
        }
        f.join("end", exits);
    }

    /// Runs `give` in the first block; whether anybody has been given something behind both.
    fn share_if(
        &mut self,
        f: &mut Frame<'p>,
        (found, absent): (r::BlockId, r::BlockId),
        given: r::Value,
        give: impl FnOnce(&mut Self, &mut Frame<'p>),
    ) -> r::Value {
        self.share_and(f, (found, absent), (given, given), false, give).0
    }

    /// The same, and whether there is a session behind both: `begins` says that `give` makes one.
    fn share_and(
        &mut self,
        f: &mut Frame<'p>,
        (found, absent): (r::BlockId, r::BlockId),
        (given, in_session): (r::Value, r::Value),
        begins: bool,
        give: impl FnOnce(&mut Self, &mut Frame<'p>),
    ) -> (r::Value, r::Value) {
        let before = f.locals.clone();
        f.select(found);
        if !self.faulty(Fault::ShareLost) {
            give(self, f);
        }
        let yes = f.constant(&self.a, r::Type::Bool, 1);
        let mut exits: Vec<Exit> = f.exit(vec![yes, if begins { yes } else { in_session }]).into_iter().collect();
        f.select(absent);
        f.locals = before;
        exits.extend(f.exit(vec![given, in_session]));
        match f.join("shared", exits).as_deref() {
            Some([given, in_session]) => (*given, *in_session),
            _ => (given, in_session),
        }
    }

    fn share_bound(&mut self, f: &mut Frame<'p>, message: r::Value, flow: &[r::Value], given: r::Value) -> r::Value {
        let (inst, plan) = (f.inst, self.plan.clone());
        let mut given = given;
        for user in plan.insts[inst].users.iter().copied().filter(|user| plan.is_bound(inst, *user)) {
            let equal = self.equals_bound(f, user, flow).unwrap_or_else(|| f.constant(&self.a, r::Type::Bool, 1));
            let blocks = f.branch(equal, None, "bound", "other");
            given = self.share_if(f, blocks, given, |this, f| {
                let share = f.value(&this.a, r::OpKind::Share { message });
                match this.inst(user).uses.flow {
                    true => this.deliver_flow(f, user, share, flow.to_vec()),
                    false => this.accept(f, user, share, flow, false),
                }
            });
        }
        given
    }

    /// Each layer that listens with a pattern of this flow; who has a session begins no other.
    fn share_listeners(
        &mut self,
        f: &mut Frame<'p>,
        message: r::Value,
        flow: &[r::Value],
        (given, in_session): (r::Value, r::Value),
    ) -> r::Value {
        let Some(maps) = self.listener_maps(f.inst) else { return given };
        let (mut given, mut in_session) = (given, in_session);
        for (place, (user, how)) in self.listening(f.inst).into_iter().enumerate() {
            let number = f.constant(&self.a, r::Type::U(8), place as u64);
            let found = self.search(f, flow, maps, &[vec![number]]);
            let Some(absent) = f.b.current() else { return given };
            let begins = how != Register::Bind;
            (given, in_session) = self.share_and(f, (found, absent), (given, in_session), begins, |this, f| {
                if begins {
                    return this.accept_unless(f, in_session, (user, message), flow);
                }
                let share = f.value(&this.a, r::OpKind::Share { message });
                this.deliver_flow(f, user, share, flow.to_vec());
            });
        }
        given
    }

    fn accept_unless(
        &mut self,
        f: &mut Frame<'p>,
        in_session: r::Value,
        (user, message): (usize, r::Value),
        flow: &[r::Value],
    ) {
        let (there, fresh) = f.branch(in_session, None, "there", "fresh");
        let before = f.locals.clone();
        f.select(there);
        let mut exits: Vec<Exit> = f.exit(Vec::new()).into_iter().collect();
        f.select(fresh);
        f.locals = before;
        let share = f.value(&self.a, r::OpKind::Share { message });
        self.accept(f, user, share, flow, false);
        exits.extend(f.exit(Vec::new()));
        f.join("after", exits);
    }

    /// Whether a flow has the key that a user is bound to; none if it is bound to no key.
    pub fn equals_bound(&mut self, f: &mut Frame<'p>, user: usize, flow: &[r::Value]) -> Option<r::Value> {
        let mut equal = None;
        for (at, constant) in self.plan.clone().insts[user].bound.clone() {
            let wanted = self.bound_value(f, constant);
            let ty = f.b.type_of(flow[at]);
            let wanted = self.cast(f, wanted, ty);
            let one = f.value(&self.a, r::OpKind::Compare { op: r::Compare::Eq, a: flow[at], b: wanted });
            equal = Some(match equal {
                None => one,
                Some(before) => f.value(&self.a, r::OpKind::Binary { op: r::Binary::And, a: before, b: one }),
            });
        }
        equal
    }

    /// Whether a key that a user would have for itself is bound to another layer in the stack.
    pub fn is_taken_by_bound(&mut self, f: &mut Frame<'p>, user: usize, flow: &[r::Value]) -> Option<r::Value> {
        if !self.inst(user).bound.is_empty() {
            return None;
        }
        let mut taken = None;
        for other in self.inst(f.inst).users.clone() {
            let Some(one) = self.equals_bound(f, other, flow) else { continue };
            taken = Some(match taken {
                None => one,
                Some(before) => f.value(&self.a, r::OpKind::Binary { op: r::Binary::Or, a: before, b: one }),
            });
        }
        taken
    }

    // -- numbers of flows

    /// Each scalar is folded in and the bits spread; the constant is the golden ratio's, as in Fibonacci hashing.
    pub fn flow_hash(&mut self, f: &mut Frame<'p>, flow: &'p s::Expr, secret: &'p s::Expr) -> r::Value {
        let wide = r::Type::U(64);
        let values = self.expr(f, flow);
        let mut hash = self.one(f, secret);
        let factor = f.constant(&self.a, wide, 0x9e37_79b9_7f4a_7c15);
        let shift = f.constant(&self.a, wide, 32);
        for value in values {
            let value = self.cast(f, value, wide);
            let mut with = |op, a, b| f.value(&self.a, r::OpKind::Binary { op, a, b });
            let mixed = with(r::Binary::Xor, hash, value);
            let spread = with(r::Binary::MulWrap, mixed, factor);
            let high = with(r::Binary::Shr, spread, shift);
            hash = with(r::Binary::Xor, spread, high);
        }
        self.cast(f, hash, r::Type::U(32))
    }
}
