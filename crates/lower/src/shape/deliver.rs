//! Messages on the way up: decoded above the layer at the coding point, and given to their receivers.

use mokume_reaction as r;

use crate::code::{Exits, Flow, Writer};
use crate::stack::Purpose;

impl<'p> Writer<'_, 'p> {
    /// Delivers a message to the layers above. `from`: its flow, if the code gives it.
    pub fn deliver_up(&mut self, message: r::Value, from: Option<Vec<r::Value>>) {
        self.has_its_headers(message);
        let Some(wire) = self.info().coding.above else { return self.hand_up(message, from) };
        let mut exits = Exits::default();
        let decoded = self.read(&mut exits, r::Fallible::Decode { message, wire });
        self.hand_up(decoded, from);
        self.exit(&mut exits, Vec::new());
        self.meet(exits);
    }

    /// Decodes or validates a message; a rejected one is dropped for the wire's reason, and leaves.
    pub fn read(&mut self, exits: &mut Exits, op: r::Fallible) -> r::Value {
        let read = self.attempt(op);
        let message = self.unless(exits, read, |w, refused| {
            w.op(r::OpKind::DropFor { message: refused[0], reason: refused[1] });
        });
        message[0]
    }

    /// Gives a message, decoded if necessary, to the session above, or along its flow.
    pub(super) fn hand_up(&mut self, message: r::Value, from: Option<Vec<r::Value>>) {
        let at = self.inst(self.inst);
        if self.runs.session.is_some() && at.used.sessions {
            return self.event_up("deliver", Purpose::Deliver, vec![message]);
        }
        let flow: Flow = match from {
            Some(flow) => flow.into(),
            None => self.flow_at_hand(),
        };
        if at.is_multiplexor() {
            return self.demultiplex(message, &flow);
        }
        match self.plan.flow_users(self.inst).first() {
            Some(user) => self.deliver_flow(*user, message, &flow),
            None => self.drop(message, "unexpected"),
        }
    }
}
