//! Failures with a quote: from the flow that a layer names, up to the session that the quoted packet belongs to
//! (docs/language.md, section 6).
//!
//! Invariant: when a layer is told of it, the quote begins with the wire of that layer's bundle; a multiplexor reads
//! its key there.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::code::{Exits, Flow, Pass, Writer};
use crate::fault::Fault;
use crate::stack::{HeaderField, Lowering, On, Purpose};

const FLOW_EVENT: &str = "failed_flow";
const SESSION_EVENT: &str = "failed_quoting";

impl<'p> Lowering<'p> {
    /// Whether a layer above handles failures with quotes; without such a layer they need not be passed up.
    fn listens_for_quotes(&self, inst: usize) -> bool {
        let users = &self.inst(inst).users;
        users.iter().any(|user| self.failed_handler(*user).is_some() || self.listens_for_quotes(*user))
    }

    fn failed_handler(&self, inst: usize) -> Option<&'p s::Handler> {
        self.handler_where(inst, |event| matches!(event, s::Event::FailedQuoting { .. }))
    }
}

impl<'p> Writer<'_, 'p> {
    // -- flow traffic

    /// `above.failed(reason, quote) from flow(…)`: to the layer above, or to the sessions of a multiplexor.
    pub fn failed_up(&mut self, why: r::Value, quote: r::Value, flow: Flow) {
        if self.inst(self.inst).is_multiplexor() {
            return self.failed_session(why, quote, flow);
        }
        match self.plan.flow_users(self.inst).first() {
            Some(user) => self.tell_failed(*user, why, quote, &flow),
            None => self.drop(quote, "unmatched"),
        }
    }

    fn tell_failed(&mut self, user: usize, why: r::Value, quote: r::Value, flow: &[r::Value]) {
        let flow = self.as_user_sees(user, flow);
        let flow = self.flow_of_way(user, flow);
        let head = vec![("why".to_owned(), r::Type::Reason), ("quote".to_owned(), r::Type::Msg)];
        let params = [head, self.flow_params(&self.inst(user).bottom)].concat();
        self.without_header(user, quote, |w, quote| {
            let args = [vec![why, quote], flow].concat();
            w.tell_entity_of(user, (FLOW_EVENT, params), Purpose::FailedFlow, args);
        });
    }

    /// Makes the handler of the event on an entity.
    pub fn make_failed_flow(&mut self) {
        let params = self.params();
        let (why, quote, flow): (_, _, Flow) = (params[1], params[2], params[3..].into());
        self.runs.bottom = Some(flow.clone());
        match self.inst(self.inst).shape() {
            Some(s::Shape::Multiplexor) => return self.failed_at_key(why, quote, &flow),
            Some(s::Shape::Worker) => self.runs.flow = Some(flow),
            Some(s::Shape::Router) if self.inst(self.inst).chooses() => {
                self.runs.flow = Some(flow.get(1..).unwrap_or_default().into());
            }
            Some(s::Shape::Router | s::Shape::Endpoint) | None => {}
        }
        self.run_failed(why, quote);
    }

    /// Runs the layer's own handler, or passes it to those above.
    fn run_failed(&mut self, why: r::Value, quote: r::Value) {
        let Some(handler) = self.failed_handler(self.inst).filter(|handler| self.fits(handler)) else {
            return self.pass_failed(why, quote);
        };
        let s::Event::FailedQuoting { reason, message, flow: named } = &handler.event else { return };
        self.runs.pass = Pass::FailedQuoting(why, *message);
        let mut given = vec![(*reason, vec![why]), (*message, vec![quote])];
        if let Some(named) = named {
            given.push((*named, self.flow_named(handler, *named, Self::bottom_at_hand)));
        }
        self.run(handler, given);
    }

    /// Tells those above of the failure: the current session, or the flow. If there is no receiver, the quote is
    /// dropped as `unmatched`.
    pub fn pass_failed(&mut self, why: r::Value, quote: r::Value) {
        let at = self.inst(self.inst);
        if self.runs.session.is_some() && at.used.sessions {
            return self.failed_above(why, quote);
        }
        if at.shape() == Some(s::Shape::Worker) || at.chooses() {
            let flow = self.flow_at_hand();
            return self.failed_up(why, quote, flow);
        }
        // Only the router itself knows the addresses of what it sent.
        self.drop(quote, "unmatched");
    }

    // -- multiplexors

    /// The quote contains the key of a packet that we sent: its source is ours.
    fn failed_at_key(&mut self, why: r::Value, quote: r::Value, bottom: &[r::Value]) {
        let Some(places) = self.quoted_key(self.inst) else {
            if self.listens_for_quotes(self.inst) {
                let help = "put the key before every choice and option of the wire, in whole octets";
                let name = &self.inst(self.inst).name;
                self.error_here("M0743", format!("the key of `{name}` has no fixed place in a quote"), help);
            }
            return self.drop(quote, "unmatched");
        };
        let need = places.iter().map(|(_, place)| place.octet + u32::from(place.width) / 8).max().unwrap_or(0);
        let need = self.constant(r::Type::U(32), need.into());
        self.with_octets(quote, need, |w| {
            let (mut fields, mut values) = (Vec::new(), Vec::new());
            for (field, place) in &places {
                values.push(w.load_placed(quote, *place, field.ty));
                let own = !w.faulty(Fault::QuoteTurned);
                let key = field.key.map(|(part, at)| (if own { part.turned() } else { part }, at));
                fields.push(HeaderField { key, ..field.clone() });
            }
            let flow = w.flow_from(bottom, &fields, &values);
            w.failed_session(why, quote, flow.into());
        });
    }

    /// To the session of the flow, or of the flow with any local address; or to the layer bound to its key.
    fn failed_session(&mut self, why: r::Value, quote: r::Value, flow: Flow) {
        let mut exits = Exits::default();
        self.runs.flow = Some(flow.clone());
        for key in self.session_keys(&flow) {
            if let Some(found) = self.find_session(&key) {
                self.on(&mut exits, found, |w, session| {
                    w.runs.session = Some(session[0]);
                    w.run_failed(why, quote);
                });
            }
        }
        for user in self.plan.flow_users(self.inst) {
            if !self.plan.is_bound(self.inst, user) {
                continue;
            }
            let Some(equal) = self.equals_bound(user, &flow) else {
                // Without a key, everything is for the one layer above.
                self.tell_failed(user, why, quote, &flow);
                self.exit(&mut exits, Vec::new());
                break;
            };
            let bound = self.fork(equal);
            self.on(&mut exits, bound, |w, _| w.tell_failed(user, why, quote, &flow));
        }
        self.drop(quote, "unmatched");
        self.exit(&mut exits, Vec::new());
        self.meet(exits);
    }

    // -- sessions

    /// Tells the session above; the layers above decide whether it ends.
    fn failed_above(&mut self, why: r::Value, quote: r::Value) {
        // The sessions of one layer have users of one kind, or the multiplexor knows the user of each.
        let Some(user) = self.plan.session_users(self.inst).first().copied() else {
            return self.drop(quote, "unmatched");
        };
        self.without_header(user, quote, |w, quote| {
            w.event_up(SESSION_EVENT, Purpose::FailedQuoting, vec![why, quote]);
        });
    }

    /// Makes the handler of the event on a session, or on the object of a lower session.
    pub fn make_failed_quoting(&mut self, on: On) {
        let params = self.params();
        let (why, quote) = (params[1], params[2]);
        if on == On::Lower {
            let bottom = self.lower_flow(params[0]);
            return self.failed_at_key(why, quote, &bottom);
        }
        let endpoint = self.inst(self.inst).shape() == Some(s::Shape::Endpoint);
        if self.failed_handler(self.inst).is_none() && endpoint {
            return self.end_session_told(quote);
        }
        self.run_failed(why, quote);
    }

    /// No layer above decides otherwise: the session ends.
    fn end_session_told(&mut self, quote: r::Value) {
        self.drop(quote, "failed");
        if let Some(session) = self.runs.session {
            self.event_down("abort", Purpose::Abort, Vec::new());
            self.release_session(session);
        }
    }
}
