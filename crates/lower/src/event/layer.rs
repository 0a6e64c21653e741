//! The handlers of layers: what the shape does with an event, and the layer's own code instead of it or in addition.

use std::rc::Rc;

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::code::{Exits, Flow, Pass, Writer};
use crate::plan::Component;
use crate::stack::{Endpoints, On, Purpose, Register, Registration, Task, GRANTS};

impl<'p> Writer<'_, 'p> {
    pub(super) fn make_layer(&mut self, task: &Task) {
        let params = self.params();
        match &task.purpose {
            Purpose::FlowSend => {
                self.runs.flow = Some(params[2..].into());
                self.make_send(params[1]);
            }
            Purpose::Send => self.make_send(params[1]),
            Purpose::FlowDeliver => {
                let bottom: Flow = params[2..].into();
                self.runs.bottom = Some(bottom.clone());
                self.receive(params[1], &bottom);
            }
            Purpose::Deliver if task.on == On::Lower => {
                let flow = self.lower_flow(params[0]);
                self.receive(params[1], &flow.into());
            }
            Purpose::Deliver => self.receive(params[1], &[].into()),
            Purpose::Register(registration, user) => self.make_register(task, *registration, *user, &params[1..]),
            Purpose::Open { user } => self.make_open(*user),
            Purpose::Accepted => self.make_accepted(),
            Purpose::Attach => self.make_attach(),
            Purpose::Claim => self.set_above(params[0], params[1]),
            Purpose::Refuse => self.make_refuse(),
            Purpose::Opened | Purpose::Failed | Purpose::Closed if task.on == On::Lower => self.make_lower(task),
            Purpose::Opened => {
                if self.hears_flow(self.inst) {
                    self.opened_with(&params[2..]);
                }
                self.make_opened(task, params[1]);
            }
            Purpose::Coming => self.note_coming(params[1]),
            Purpose::Failed => self.make_session_end(task, Pass::Failed(params[1])),
            Purpose::Closed => self.make_session_end(task, Pass::Closed),
            Purpose::FailedFlow => self.make_failed_flow(),
            Purpose::FailedQuoting => self.make_failed_quoting(task.on),
            Purpose::Close => self.make_close(task, Pass::Close),
            Purpose::Abort => self.make_close(task, Pass::Abort),
            Purpose::Service { .. } => {
                let Some(handler) = self.handler_of(task) else { return };
                if let s::Event::Service { params: locals, .. } = &handler.event {
                    self.run_with(handler, locals, &params[1..]);
                }
            }
            Purpose::Own { .. } => self.make_own(task),
            Purpose::Custom { name, down } => self.make_custom(name, *down, task.on),
            Purpose::Changed { name } => self.make_changed(task.on, name),
            Purpose::Plain { .. } => self.make_plain(task),
        }
    }

    /// Assigns values to locals by the locals' types.
    fn run_with(&mut self, handler: &'p s::Handler, locals: &[s::LocalId], values: &[r::Value]) {
        let mut rest = values.iter().copied();
        let mut given = Vec::new();
        for local in locals {
            given.push((*local, self.taken(handler.locals[local.index()].ty, &mut rest)));
        }
        self.run(handler, given);
    }

    // -- down

    fn make_send(&mut self, message: r::Value) {
        let message = match self.info().coding.above {
            Some(wire) => self.value(r::OpKind::Encode { message, wire }),
            None => message,
        };
        let handler = self.handler_where(self.inst, |event| matches!(event, s::Event::Send { .. }));
        let Some(handler) = handler.filter(|handler| self.fits(handler)) else {
            if let Some(handler) = handler {
                let text = "this runs for sessions only: a message that is sent to an address passes it by";
                let help =
                    "put a layer above the multiplexor that looks at every message; or leave the scope `session` out";
                self.warn("M0725", text, Some(handler.span), help);
            }
            return self.send_down(message, None, None);
        };
        let s::Event::Send { message: local, flow: named } = &handler.event else { return };
        self.runs.pass = Pass::Send(*local);
        let mut given = vec![(*local, vec![message])];
        if let Some(named) = named {
            given.push((*named, self.flow_at_hand().to_vec()));
        }
        self.run(handler, given);
    }

    fn make_register(&mut self, task: &Task, registration: Registration, user: Option<usize>, params: &[r::Value]) {
        self.runs.registering = user;
        let parts = self.inst(self.inst).top.iter().filter(|c| c.is_said(registration.endpoints == Endpoints::Both));
        let (pattern, given) = params.split_at(parts.count());
        let pattern: Flow = pattern.into();
        let mut exits = Exits::default();
        self.enter_point(&mut exits, registration, &pattern);
        if registration.how == Register::Listen {
            self.take_listened(given);
        }
        match self.handler_of(task) {
            None => self.register_on(registration, &pattern),
            Some(handler) => {
                self.runs.pass = Pass::Register(registration, pattern.clone());
                let named = match &handler.event {
                    s::Event::Listen { flow } | s::Event::Bind { flow } | s::Event::Unlisten { flow } => *flow,
                    _ => None,
                };
                let given = named.map(|named| (named, self.pattern_flow(registration, &pattern)));
                self.run(handler, given.into_iter().collect());
            }
        }
        if registration.how == Register::Unlisten {
            self.leave_listener(registration.endpoints, &pattern);
        }
        self.exit(&mut exits, Vec::new());
        self.meet(exits);
    }

    /// A pattern as a flow: parts that it leaves open are *any*.
    fn pattern_flow(&mut self, registration: Registration, pattern: &[r::Value]) -> Vec<r::Value> {
        let components: &[Component] = &self.inst(self.inst).top;
        let types = self.flow_params(components);
        let mut rest = pattern.iter();
        let mut flow = Vec::new();
        for (component, (_, ty)) in components.iter().zip(types) {
            let said = component.is_said(registration.endpoints == Endpoints::Both);
            let known = if said { rest.next().copied() } else { None };
            flow.push(known.unwrap_or_else(|| self.constant(ty, 0)));
        }
        flow
    }

    // -- sessions

    /// Stores the session's flow as the layers below now have it: a part may have been left open when it was opened.
    fn opened_with(&mut self, flow: &[r::Value]) {
        self.runs.flow = Some(flow.into());
        let info = self.info();
        let is_chosen = self.lowering.chooser_below(self.inst).is_some();
        if let (Some(session), Some(cells), true) = (self.runs.session, &info.session, is_chosen) {
            self.set_cells(session, &cells.flow, flow.to_vec());
        }
    }

    fn make_opened(&mut self, task: &Task, lower: r::Value) {
        let Some(session) = self.runs.session else { return };
        self.set_below(session, lower);
        self.nothing_to_tell(session, true);
        let mut exits = Exits::default();
        if let Some(failed) = self.has_failed(session) {
            let fork = self.fork_likely(failed, Some(0.01));
            self.on(&mut exits, fork, |_, _| {});
        }
        // Set for all users above, or for none.
        if let Some((_, cell)) = self.info().session.as_ref().and_then(|cells| cells.begun.first().copied()) {
            // The layer below answers `accept`: no layer above asked for the session.
            let above = self.get(session, cell);
            let begun = self.is_there(above);
            let fork = self.fork(begun);
            self.on(&mut exits, fork, |_, _| {});
        }
        self.run_opened(task);
        self.exit(&mut exits, Vec::new());
        self.meet(exits);
    }

    fn run_opened(&mut self, task: &Task) {
        let endpoint = self.inst(self.inst).shape() == Some(s::Shape::Endpoint);
        match self.handler_of(task) {
            Some(handler) => {
                self.runs.pass = if endpoint { Pass::Nothing } else { Pass::Opened };
                self.run(handler, Vec::new());
            }
            None if endpoint => {}
            None => self.say_opened(),
        }
    }

    /// `failed` or `closed` from below: the layer's own session ends.
    fn make_session_end(&mut self, task: &Task, pass: Pass) {
        let Some(session) = self.runs.session else { return };
        self.runs.over = true;
        let endpoint = self.inst(self.inst).shape() == Some(s::Shape::Endpoint);
        match self.handler_of(task) {
            Some(handler) => {
                let given = match (&handler.event, &pass) {
                    (s::Event::Failed { reason: Some(local) }, Pass::Failed(why)) => vec![(*local, vec![*why])],
                    _ => Vec::new(),
                };
                self.runs.pass = if endpoint { Pass::Nothing } else { pass };
                self.run(handler, given);
            }
            None if endpoint => {}
            None => {
                self.runs.pass = pass;
                self.pass_on();
            }
        }
        self.release_session(session);
    }

    fn make_close(&mut self, task: &Task, pass: Pass) {
        self.runs.pass = pass;
        match self.handler_of(task) {
            Some(handler) => self.run(handler, Vec::new()),
            None => self.pass_on(),
        }
    }

    /// `opened`, `failed`, `closed` on the object of a lower side.
    fn make_lower(&mut self, task: &Task) {
        let params = self.params();
        let lower = params[0];
        if task.purpose == Purpose::Opened {
            if let Some(cells) = &self.info().lower {
                self.set(lower, cells.below, params[1]);
                self.note_coming(params[1]);
            }
            return self.for_sharers(lower, "opened", Purpose::Opened);
        }
        let event = if task.purpose == Purpose::Failed { "failed" } else { "closed" };
        self.for_sharers(lower, event, task.purpose.clone());
        self.release_lower(lower);
    }

    // -- events of the layer's own

    fn make_own(&mut self, task: &Task) {
        let (Some(handler), Purpose::Own { handler: number }) = (self.handler_of(task), &task.purpose) else { return };
        let s::Event::Custom { params: locals, .. } = &handler.event else { return };
        let (_, with_flow) = self.lowering.own_params(self.inst, task.on, *number);
        let flow = if with_flow { self.inst(self.inst).top.len() } else { 0 };
        let values = self.without_flow(with_flow, flow);
        self.run_with(handler, locals, &values);
    }

    /// The arguments of an event without its flow, which is the last ones if it has one.
    fn without_flow(&mut self, with_flow: bool, parts: usize) -> Vec<r::Value> {
        let mut values = self.params()[1..].to_vec();
        if with_flow {
            let flow = values.split_off(values.len().saturating_sub(parts));
            self.runs.flow = Some(flow.into());
        }
        values
    }

    fn make_custom(&mut self, name: &Rc<str>, down: bool, on: On) {
        let at = self.inst(self.inst);
        let parts = if down { at.top.len() } else { at.bottom.len() };
        let of_all = self.lowering.is_of_all(name);
        let values = self.without_flow(on == On::Entity && self.comes_with_flow(self.inst, name) && !of_all, parts);
        let from = if down { s::Origin::Above } else { s::Origin::Below };
        let handler = self.handler_where(self.inst, |event| {
            matches!(event, s::Event::Custom { name: known, from: origin, .. } if known.text == **name && *origin == from)
        });
        if let Some(handler) = handler {
            let s::Event::Custom { params: locals, .. } = &handler.event else { return };
            self.runs.pass = Pass::Custom { name: name.clone(), down, args: locals.as_slice().into() };
            return self.run_with(handler, locals, &values);
        }
        let is_edge = match at.shape() {
            Some(s::Shape::Worker) => false,
            Some(s::Shape::Multiplexor | s::Shape::Router) if of_all => false,
            Some(s::Shape::Multiplexor) => on == On::Entity || down && !at.uses.sessions,
            Some(s::Shape::Router | s::Shape::Endpoint) | None => true,
        };
        let is_grant = GRANTS.contains(&&**name);
        match is_edge {
            true if is_grant => self.grant_on(name, down, values),
            true => {
                if !self.ends_at_sessions(name, down) {
                    self.nobody_handles(name);
                }
                self.drop_all(&values, "unexpected");
            }
            false if is_grant && on == On::Lower && !self.plan.session_users(self.inst).is_empty() => {
                let lower = self.params()[0];
                self.for_sharers(lower, name, Purpose::Custom { name: name.clone(), down });
            }
            false => self.custom(name, down, values),
        }
    }

    /// A router passes grants if one layer is above it and one below; else they end.
    fn grant_on(&mut self, name: &str, down: bool, values: Vec<r::Value>) {
        let at = self.inst(self.inst);
        let beside = if down { at.lowers().len() } else { at.users.len() };
        if at.shape() == Some(s::Shape::Router) && beside == 1 {
            self.custom(name, down, values);
        }
    }

    fn make_plain(&mut self, task: &Task) {
        if task.trigger == r::Trigger::Start {
            let entity = self.params()[0];
            self.set_late(s::ScopeKind::Entity, entity);
            self.begin_view();
        }
        if let Some(handler) = self.handler_of(task) {
            self.run(handler, Vec::new());
        }
        if task.trigger == r::Trigger::Settle && task.on == On::Session {
            self.end_after_settling();
        }
    }
}
