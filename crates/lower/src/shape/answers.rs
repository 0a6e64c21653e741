//! Messages for many: all that match get a copy (docs/language.md, section 6).
//!
//! Invariant: the message itself has one fate: consumed if any receiver got a copy, else unmatched.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::code::{Flow, Fork, Writer};
use crate::fault::Fault;
use crate::stack::{Purpose, Register};

/// The progress of a message: whether any receiver has a copy, and whether a session of its flow has one.
#[derive(Clone, Copy)]
struct Given {
    any: r::Value,
    session: r::Value,
}

impl<'p> Writer<'_, 'p> {
    /// Finds the receivers of a message, one or all, as the multiplexor declares.
    pub(super) fn demultiplex(&mut self, message: r::Value, flow: &Flow) {
        match self.layer(self.inst).map_or(s::Matching::One, |layer| layer.matching) {
            s::Matching::One => self.demultiplex_one(message, flow),
            s::Matching::All => self.demultiplex_all(message, flow),
            s::Matching::AllWhen(attribute) => {
                let attribute = self.attribute(attribute);
                let all = self.value(r::OpKind::GetAttribute { message, attribute });
                let fork = self.fork(all);
                self.ways(fork, |w, _| w.demultiplex_all(message, flow), |w, _| w.demultiplex_one(message, flow));
            }
        }
    }

    fn demultiplex_all(&mut self, message: r::Value, flow: &Flow) {
        self.runs.flow = Some(flow.clone());
        let mut given = self.truth(false);
        for key in self.session_keys(flow) {
            let Some(found) = self.find_session(&key) else { continue };
            given = self.share_if(found, given, |w, session| {
                w.runs.session = Some(session[0]);
                let share = w.value(r::OpKind::Share { message });
                w.event_up("deliver", Purpose::Deliver, vec![share]);
            });
        }
        let in_session = given;
        given = self.share_bound(message, flow, given);
        given = self.share_listeners(message, flow, Given { any: given, session: in_session });
        let shared = self.fork(given);
        let consume = |w: &mut Self, _: &[r::Value]| {
            let reason = w.reason("shared");
            w.op(r::OpKind::Consume { message, reason });
        };
        self.ways(shared, consume, |w, _| w.unmatched(message, flow));
    }

    /// Runs `give` on the yes branch; afterwards gives whether any receiver has a copy.
    fn share_if(&mut self, found: Fork, given: r::Value, give: impl FnOnce(&mut Self, &[r::Value])) -> r::Value {
        let give = |w: &mut Self, found: &[r::Value]| {
            w.give_share(|w| give(w, found));
            vec![w.truth(true)]
        };
        self.either(found, give, |_, _| vec![given])[0]
    }

    /// The planted fault leaves it out.
    fn give_share(&mut self, give: impl FnOnce(&mut Self)) {
        if !self.faulty(Fault::ShareLost) {
            give(self);
        }
    }

    fn share_bound(&mut self, message: r::Value, flow: &Flow, mut given: r::Value) -> r::Value {
        for user in self.bound_users() {
            let equal = self.equals_bound(user, flow).unwrap_or_else(|| self.truth(true));
            let bound = self.fork(equal);
            given = self.share_if(bound, given, |w, _| {
                let share = w.value(r::OpKind::Share { message });
                match w.inst(user).uses.flow {
                    true => w.deliver_flow(user, share, flow),
                    false => w.accept_for(user, share, flow, false),
                }
            });
        }
        given
    }

    /// Gives a copy to each layer that listens with a matching pattern; if there is a session, no other begins.
    fn share_listeners(&mut self, message: r::Value, flow: &Flow, mut given: Given) -> r::Value {
        let Some(patterns) = self.info().listeners else { return given.any };
        for (place, (user, how)) in self.listening(self.inst).into_iter().enumerate() {
            let number = self.constant(r::Type::U(8), place as u64);
            let found = self.search(flow, patterns, &[vec![number]]);
            let begins = how != Register::Bind;
            let give = |w: &mut Self, _: &[r::Value]| {
                w.give_share(|w| match begins {
                    true => w.begin_unless(given.session, (user, message), flow),
                    false => {
                        let share = w.value(r::OpKind::Share { message });
                        w.deliver_flow(user, share, flow);
                    }
                });
                let yes = w.truth(true);
                vec![yes, if begins { yes } else { given.session }]
            };
            let both = self.either(found, give, |_, _| vec![given.any, given.session]);
            given = Given { any: both[0], session: both[1] };
        }
        given.any
    }

    fn begin_unless(&mut self, in_session: r::Value, (user, message): (usize, r::Value), flow: &Flow) {
        let there = self.fork(in_session);
        self.ways(
            there,
            |_, _| {},
            |w, _| {
                let share = w.value(r::OpKind::Share { message });
                w.accept_for(user, share, flow, false);
            },
        );
    }
}
