//! Sessions that a worker begins with an arriving message (docs/language.md, section 6).
//!
//! Keeps: nothing is made before `accept`; afterwards the session exists in all layers from the multiplexor up to this
//! one.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::code::{Begin, Flow, Fork, Writer};

impl<'p> Writer<'_, 'p> {
    /// `listener`, `listener[flow]`: the point of the most specific pattern for the flow, by default the current one.
    pub fn listener_of(&mut self, flow: Option<Flow>) -> Option<Fork> {
        let cells = self.info().point?;
        let flow = flow.unwrap_or_else(|| self.flow_at_hand());
        Some(self.search(&flow, cells.index, &[Vec::new()]))
    }

    /// `accept(msg, iss: e) or { … }`: makes the session here, opens those below, then runs its handlers.
    pub fn begin_here(&mut self, begin: Begin<'p>) {
        let mut given = Vec::new();
        for (member, value) in begin.given {
            given.push((*member, self.expr(value)));
        }
        let Some(class) = self.info().classes.session else {
            self.error_said("M0725", "only a layer with sessions begins one", "give it a `session` scope");
            return;
        };
        let message = self.of_local(begin.message);
        let made = self.make(class);
        let otherwise = begin.otherwise;
        self.ways(made, |w, made| w.began((made[0], otherwise), message, given), |w, _| w.run_block(otherwise));
    }

    fn began(
        &mut self,
        (session, otherwise): (r::Value, &'p [s::Stmt]),
        message: r::Value,
        given: Vec<(u32, Vec<r::Value>)>,
    ) {
        let flow = self.bottom_at_hand();
        let outer = self.runs.clone();
        self.identify(session, None, &flow);
        let full = &mut |w: &mut Self| {
            w.op(r::OpKind::Release { object: session });
            w.run_block(otherwise);
        };
        let info = self.info();
        self.begin_with(session, Some(&flow), true, Some(full), |w| {
            for (member, values) in given {
                let cells = info.members.get(&(s::ScopeKind::Session, member)).cloned().unwrap_or_default();
                w.set_cells(session, &cells, values);
            }
        });
        self.note_offered(session);
        self.runs.opening = true;
        self.open_on(&flow);
        self.run_begun(&flow);
        self.deliver_begun(session, message);
        self.nothing_to_tell(session, false);
        self.touch(session);
        self.runs = outer;
    }

    /// Delivers the message that began the session to it, unless its handler of `accepted` has failed.
    fn deliver_begun(&mut self, session: r::Value, message: r::Value) {
        let handler = self.handler_where(self.inst, |event| matches!(event, s::Event::Accepted { .. }));
        let failed = handler.and_then(|_| self.has_failed(session));
        let Some(failed) = failed else { return self.deliver_arrived(message) };
        let fork = self.fork_likely(failed, Some(0.01));
        self.ways(fork, |w, _| w.drop(message, "ended"), |w, _| w.deliver_arrived(message));
    }
}
