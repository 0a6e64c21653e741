//! Handlers, one a task: what the shape does with an event, and the layer's own code in its place or beside it.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::frame::{Code, Ends, Pass, Register, Registration, Writer};
use crate::lowering::{Lowering, On, Task, What};
use crate::plan::Kind;

impl<'p> Lowering<'p> {
    /// Start, timers and settling of all layers; the rest follows from the ports.
    pub fn roots(&mut self) {
        for inst in 0..self.plan.insts.len() {
            let Some(layer) = self.layer(inst) else { continue };
            let starts = layer.handlers.iter().position(|handler| matches!(handler.event, s::Event::Start));
            let late = self.infos[inst].late.iter().any(|(scope, _)| *scope == s::ScopeKind::Entity);
            if starts.is_some() || late || self.is_watched(inst) {
                let what = What::Plain { handler: starts.map(|at| at as u32) };
                self.need(Task {
                    inst,
                    on: On::Entity,
                    trigger: r::Trigger::Start,
                    params: Vec::new(),
                    what,
                    later: 0,
                });
            }
            for (at, handler) in layer.handlers.iter().enumerate() {
                self.root_handler(inst, at as u32, handler);
            }
        }
    }

    fn root_handler(&mut self, inst: usize, at: u32, handler: &'p s::Handler) {
        let (on, trigger) = match &handler.event {
            s::Event::Expiry { timer } => {
                let on = on_scope(timer.scope);
                let Some(cell) = self.cells(inst, timer).first().copied() else { return };
                (on, r::Trigger::Expiry(cell))
            }
            s::Event::Settle { limit } => {
                let on = on_scope(handler.scope);
                let env = self.inst(inst).env.clone();
                let limit = self.size(&env, limit);
                if let Some(class) = self.class_on(inst, on) {
                    self.a.classes[class.index()].settle_limit = Some(limit);
                }
                (on, r::Trigger::Settle)
            }
            _ => return,
        };
        let what = What::Plain { handler: Some(at) };
        self.need(Task { inst, on, trigger, params: Vec::new(), what, later: 0 });
    }

    /// Makes handlers until nobody asks for more.
    pub fn make_all(&mut self) {
        while let Some(task) = self.next_task() {
            self.make(task);
        }
    }

    fn make(&mut self, task: Task) {
        let Some(class) = self.class_on(task.inst, task.on) else { return };
        let object = match task.on {
            On::Entity => "e",
            On::Point => "p",
            On::Session => "s",
            On::Lower => "b",
            On::Object(_) => "o",
        };
        let params = [vec![(object.to_owned(), r::Type::Ref(class))], task.params.clone()].concat();
        let source = self.source_of(&task);
        let body = self.body(&task, class, &params, source);
        self.a.handlers.push(r::Handler {
            class,
            trigger: task.trigger,
            params: task.params,
            body,
            later_capacity: task.later,
            source,
        });
    }

    fn body(
        &mut self,
        task: &Task,
        class: r::ClassId,
        params: &[(String, r::Type)],
        source: Option<r::SourceId>,
    ) -> r::Body {
        let env = self.inst(task.inst).env.clone();
        let mut w = Writer::new(self, task.inst, env, params);
        let own = w.params()[0];
        w.place.object = Some(own);
        w.place.class = Some(class);
        match task.on {
            On::Session => w.place.session = Some(own),
            On::Point => w.place.point = Some(own),
            On::Lower => w.place.lower = Some(own),
            On::Object(id) => {
                w.place.keyed = Some((id, own));
                let parent = w.a.class(class).parent;
                if parent.is_some() && parent == w.infos[task.inst].session {
                    w.place.session = Some(w.value(r::OpKind::Parent { object: own }));
                }
            }
            On::Entity => {}
        }
        let session = w.place.session;
        w.source(source);
        match w.inst(task.inst).kind {
            Kind::Device(_) => w.make_device(task),
            Kind::Application => w.make_application(task),
            Kind::Layer(_) => w.make_layer(task),
        }
        if w.is_watched(task.inst) && w.live() {
            w.tell_changes(session, task.trigger == r::Trigger::Start);
        }
        w.end(r::Terminator::Return);
        w.b.finish()
    }

    fn source_of(&mut self, task: &Task) -> Option<r::SourceId> {
        let handler = match &task.what {
            What::Plain { handler: Some(at) } | What::Own { handler: at } => {
                self.layer(task.inst)?.handlers.get(*at as usize)
            }
            What::Service { service, operation, uses } => self.service_handler(task.inst, *service, *operation, *uses),
            what => {
                let what = what.clone();
                self.handler_where(task.inst, move |event| stands_for(event, &what))
            }
        };
        match handler {
            Some(handler) => self.place(handler.span),
            None => self.layer(task.inst).and_then(|layer| self.place(layer.name.span)),
        }
    }

    /// The layer's own handler of an event, if it has one.
    pub fn handler_where(&self, inst: usize, wanted: impl Fn(&s::Event) -> bool) -> Option<&'p s::Handler> {
        self.layer(inst)?.handlers.iter().find(|handler| wanted(&handler.event))
    }

    /// A layer above may end a session that it was told of before it has attached to it.
    fn may_end_early(&self, inst: usize) -> bool {
        let accepts =
            |user: &usize| self.handler_where(*user, |event| matches!(event, s::Event::Accepted { .. })).is_some();
        self.inst(inst).users.iter().any(|user| accepts(user) || self.may_end_early(*user))
    }

    // -- the rest

    /// Parameters of a handler that `later` names; of flow traffic the flow goes with them.
    pub fn own_params(&mut self, inst: usize, on: On, handler: u32) -> (Vec<(String, r::Type)>, bool) {
        let Some(layer) = self.layer(inst) else { return (Vec::new(), false) };
        let handler = &layer.handlers[handler as usize];
        let mut params = Vec::new();
        if let s::Event::Custom { params: locals, .. } = &handler.event {
            for local in locals {
                let decl = &handler.locals[local.index()];
                let parts = self.flat(inst, decl.ty);
                params.extend(
                    parts.into_iter().map(|(rest, ty)| (format!("{}{}", decl.name.text, rest.replace('.', "_")), ty)),
                );
            }
        }
        let with_flow =
            on == On::Entity && self.carries_flow(inst) && self.inst(inst).used.flow && !self.inst(inst).top.is_empty();
        if with_flow {
            let components = self.inst(inst).top.clone();
            params.extend(self.flow_params(&components));
        }
        (params, with_flow)
    }

    fn prompt_below(&self, inst: usize) -> bool {
        self.inst(inst).below.is_none_or(|below| self.answers_promptly(below))
    }

    fn is_start(&self, inst: usize, handler: u32) -> bool {
        self.layer(inst).is_some_and(|layer| matches!(layer.handlers[handler as usize].event, s::Event::Start))
    }
}

impl<'p> Writer<'_, 'p> {
    /// Runs a handler's code in place.
    pub fn run(&mut self, handler: &'p s::Handler, given: Vec<(s::LocalId, Vec<r::Value>)>) {
        let pass = self.place.pass.clone();
        self.inline(Code::from(handler), given);
        self.place.pass = pass;
    }

    /// Whether code of a scope can run here: state of a session needs one.
    pub fn fits(&self, handler: &s::Handler) -> bool {
        match handler.scope {
            s::ScopeKind::Session => {
                self.place.session.is_some() || !self.inst(self.inst).has_scope(s::ScopeKind::Session)
            }
            s::ScopeKind::SessionBelow => self.place.session.is_some() || self.place.lower.is_some(),
            s::ScopeKind::Point => self.place.session.is_some() || self.place.point.is_some(),
            _ => true,
        }
    }

    fn make_layer(&mut self, task: &Task) {
        let params = self.params();
        match &task.what {
            What::FlowSend => {
                self.place.flow = Some(params[2..].to_vec());
                self.make_send(params[1], params[2..].to_vec());
            }
            What::Send => self.make_send(params[1], Vec::new()),
            What::FlowDeliver => {
                self.place.bottom = Some(params[2..].to_vec());
                self.receive(params[1], params[2..].to_vec());
            }
            What::Deliver if task.on == On::Lower => {
                let flow = self.lower_flow(params[0]);
                self.receive(params[1], flow);
            }
            What::Deliver => self.receive(params[1], Vec::new()),
            What::Register(registration, user) => self.make_register(*registration, *user, params[1..].to_vec()),
            What::Open { user } => self.make_open(*user),
            What::Accepted => self.make_accepted(),
            What::Attach { .. } => self.make_attach(),
            What::Refuse => self.make_refuse(),
            What::Opened | What::Failed | What::Closed if task.on == On::Lower => self.make_lower(task),
            What::Opened => self.make_opened(params[1]),
            What::Failed => self.make_end("failed", Pass::Failed(params[1])),
            What::Closed => self.make_end("closed", Pass::Closed),
            What::FailedFlow => self.make_failed_flow(),
            What::FailedQuoting => self.make_failed_quoting(task.on),
            What::Close => self.make_close(Pass::Close, |event| matches!(event, s::Event::Close)),
            What::Abort => self.make_close(Pass::Abort, |event| matches!(event, s::Event::Abort)),
            What::Service { service, operation, uses } => {
                let Some(handler) = self.service_handler(task.inst, *service, *operation, *uses) else { return };
                let s::Event::Service { params: locals, .. } = &handler.event else { return };
                self.run_with(handler, locals, params[1..].to_vec());
            }
            What::Own { handler } => self.make_own(*handler, task.on),
            What::Custom { name, down } => self.make_custom(name, *down, task.on),
            What::Changed { name } => self.make_changed(task.on, name),
            What::Plain { handler } => self.make_plain(*handler, task.on),
        }
    }

    /// Parameters are handed out by the types of the locals that take them.
    fn run_with(&mut self, handler: &'p s::Handler, locals: &[s::LocalId], values: Vec<r::Value>) {
        let mut rest = values.into_iter();
        let mut given = Vec::new();
        for local in locals {
            let count = self.flat(handler.locals[local.index()].ty).len();
            given.push((*local, rest.by_ref().take(count).collect()));
        }
        self.run(handler, given);
    }

    // -- down

    fn make_send(&mut self, message: r::Value, flow: Vec<r::Value>) {
        let mut message = message;
        if let Some(wire) = self.infos[self.inst].codes_above {
            message = self.value(r::OpKind::Encode { message, wire });
        }
        let handler = self.handler_where(self.inst, |event| matches!(event, s::Event::Send { .. }));
        let Some(handler) = handler.filter(|handler| self.fits(handler)) else {
            return self.send_down(message, None, None);
        };
        let s::Event::Send { message: local, flow: named } = &handler.event else { return };
        self.place.pass = Pass::Send(*local);
        let mut given = vec![(*local, vec![message])];
        if let Some(named) = named {
            let flow = if flow.is_empty() { self.flow_at_hand() } else { flow };
            given.push((*named, flow));
        }
        self.run(handler, given);
    }

    fn make_register(&mut self, registration: Registration, user: Option<usize>, pattern: Vec<r::Value>) {
        self.place.registering = user;
        let handler = self.handler_where(self.inst, |event| match registration.how {
            Register::Listen => matches!(event, s::Event::Listen { .. }),
            Register::Bind => matches!(event, s::Event::Bind { .. }),
            Register::Unlisten => matches!(event, s::Event::Unlisten { .. }),
        });
        self.enter_point(registration, &pattern);
        let Some(handler) = handler else {
            self.register_on(registration, pattern.clone());
            return self.taken_back(registration, &pattern);
        };
        self.place.pass = Pass::Register(registration, pattern.clone());
        let mut given = Vec::new();
        if let s::Event::Listen { flow: Some(named) }
        | s::Event::Bind { flow: Some(named) }
        | s::Event::Unlisten { flow: Some(named) } = &handler.event
        {
            given.push((*named, self.pattern_flow(registration, &pattern)));
        }
        self.run(handler, given);
        self.taken_back(registration, &pattern);
    }

    fn taken_back(&mut self, registration: Registration, pattern: &[r::Value]) {
        if registration.how == Register::Unlisten && self.live() {
            self.leave_listener(registration.ends, pattern);
        }
    }

    /// A pattern as a flow: what it leaves open is *any*.
    fn pattern_flow(&mut self, registration: Registration, pattern: &[r::Value]) -> Vec<r::Value> {
        let components = self.inst(self.inst).top.clone();
        let types = self.flow_params(&components);
        let mut rest = pattern.iter();
        let mut flow = Vec::new();
        for (component, (_, ty)) in components.iter().zip(types) {
            let said = registration.ends == Ends::Both || !component.is_remote();
            let known = if said { rest.next().copied() } else { None };
            flow.push(known.unwrap_or_else(|| self.constant(ty, 0)));
        }
        flow
    }

    // -- sessions

    fn make_opened(&mut self, lower: r::Value) {
        let Some(session) = self.place.session else { return };
        if let Some(cell) = self.infos[self.inst].below {
            self.op(r::OpKind::Set { object: session, cell, value: lower });
        }
        self.nothing_to_tell(session, true);
        let endpoint = self.inst(self.inst).shape() == Some(s::Shape::Endpoint);
        match self.handler_where(self.inst, |event| matches!(event, s::Event::Opened)) {
            Some(handler) => {
                self.place.pass = if endpoint { Pass::Nothing } else { Pass::Opened };
                self.run(handler, Vec::new());
            }
            None if endpoint => {}
            None => self.say_opened(),
        }
    }

    /// `failed`, `closed` from below: the own session ends.
    fn make_end(&mut self, event: &str, pass: Pass) {
        let Some(session) = self.place.session else { return };
        let endpoint = self.inst(self.inst).shape() == Some(s::Shape::Endpoint);
        let handler = self.handler_where(self.inst, |known| match event {
            "failed" => matches!(known, s::Event::Failed { .. }),
            _ => matches!(known, s::Event::Closed),
        });
        self.place.unsure_up = true;
        match handler {
            Some(handler) => {
                let mut given = Vec::new();
                if let (s::Event::Failed { reason: Some(local) }, Pass::Failed(why)) = (&handler.event, &pass) {
                    given.push((*local, vec![*why]));
                }
                self.place.pass = if endpoint { Pass::Nothing } else { pass };
                self.run(handler, given);
            }
            None if endpoint => {}
            None => {
                self.place.pass = pass;
                self.pass();
            }
        }
        if self.live() {
            self.release_session(session);
        }
    }

    fn make_close(&mut self, pass: Pass, wanted: impl Fn(&s::Event) -> bool) {
        self.place.pass = pass;
        self.place.unsure_up |= self.may_end_early(self.inst);
        match self.handler_where(self.inst, wanted) {
            Some(handler) => self.run(handler, Vec::new()),
            None => self.pass(),
        }
    }

    fn make_lower(&mut self, task: &Task) {
        let params = self.params();
        let lower = params[0];
        if task.what == What::Opened {
            if let Some(cell) = self.infos[self.inst].lower_below {
                self.op(r::OpKind::Set { object: lower, cell, value: params[1] });
            }
            return self.for_sharers(lower, "opened", What::Opened);
        }
        let event = if task.what == What::Failed { "failed" } else { "closed" };
        self.for_sharers(lower, event, task.what.clone());
        self.release_lower(lower);
    }

    fn make_own(&mut self, handler: u32, on: On) {
        let Some(layer) = self.layer(self.inst) else { return };
        let handler_of = &layer.handlers[handler as usize];
        let s::Event::Custom { params: locals, .. } = &handler_of.event else { return };
        let values = self.params()[1..].to_vec();
        let (_, with_flow) = self.lowering.own_params(self.inst, on, handler);
        let flow = if with_flow { self.inst(self.inst).top.len() } else { 0 };
        let own = values.len() - flow;
        if with_flow {
            self.place.flow = Some(values[own..].to_vec());
        }
        self.place.unsure_down = on == On::Session && !self.prompt_below(self.inst);
        self.run_with(handler_of, locals, values[..own].to_vec());
    }

    fn make_custom(&mut self, name: &std::rc::Rc<str>, down: bool, on: On) {
        let inst = self.inst;
        let values = self.params()[1..].to_vec();
        let with_flow = on == On::Entity && self.carries_flow(inst);
        let components = if down { self.inst(inst).top.len() } else { self.inst(inst).bottom.len() };
        let own = values.len() - if with_flow { components.min(values.len()) } else { 0 };
        if with_flow {
            self.place.flow = Some(values[own..].to_vec());
        }
        self.place.unsure_up = true;
        self.place.unsure_down = on == On::Session && !self.prompt_below(inst);
        let from = if down { s::Origin::Above } else { s::Origin::Below };
        let handler = self.handler_where(inst, |event| {
            matches!(event, s::Event::Custom { name: known, from: origin, .. } if known.text == **name && *origin == from)
        });
        if let Some(handler) = handler {
            let s::Event::Custom { params: locals, .. } = &handler.event else { return };
            self.place.pass = Pass::Custom { name: name.clone(), down, args: locals.clone() };
            return self.run_with(handler, locals, values[..own].to_vec());
        }
        let ends = match self.inst(inst).shape() {
            Some(s::Shape::Worker) => false,
            Some(s::Shape::Multiplexor) => on == On::Entity || down,
            _ => true,
        };
        if ends && GRANTS.contains(&&**name) {
            return;
        }
        if ends {
            let message = format!("nobody handles `{name}`");
            self.error_here("M0726", message, "a layer that it reaches must have a handler for it");
            return;
        }
        self.custom(name, down, values[..own].to_vec());
    }

    fn make_plain(&mut self, handler: Option<u32>, on: On) {
        if on == On::Entity && handler.is_none_or(|at| self.is_start(self.inst, at)) {
            let entity = self.params()[0];
            self.set_late(s::ScopeKind::Entity, entity);
        }
        self.place.unsure_up = on == On::Session;
        self.place.unsure_down = on == On::Session && !self.prompt_below(self.inst);
        if let (Some(at), Some(layer)) = (handler, self.layer(self.inst)) {
            self.run(&layer.handlers[at as usize], Vec::new());
        }
    }
}

/// Grants end at the ends of a stack, and where several are above or below: who has a use for them handles them.
pub const GRANTS: [&str; 2] = ["grant_sends", "grant_delivers"];

fn on_scope(scope: s::ScopeKind) -> On {
    match scope {
        s::ScopeKind::Session => On::Session,
        s::ScopeKind::SessionBelow => On::Lower,
        s::ScopeKind::Object(id) => On::Object(id),
        s::ScopeKind::Point => On::Point,
        s::ScopeKind::Entity => On::Entity,
    }
}

fn stands_for(event: &s::Event, what: &What) -> bool {
    use s::Event as E;
    match what {
        What::FlowSend | What::Send => matches!(event, E::Send { .. }),
        What::FlowDeliver | What::Deliver => matches!(event, E::Deliver { .. }),
        What::Open { .. } => matches!(event, E::Open { .. }),
        What::Accepted => matches!(event, E::Accepted { .. }),
        What::Opened => matches!(event, E::Opened),
        What::Failed => matches!(event, E::Failed { .. }),
        What::Closed => matches!(event, E::Closed),
        What::FailedFlow | What::FailedQuoting => matches!(event, E::FailedQuoting { .. }),
        What::Close => matches!(event, E::Close),
        What::Abort => matches!(event, E::Abort),
        What::Changed { name } => matches!(event, E::Change { name: known } if known.text == **name),
        What::Custom { name, .. } => matches!(event, E::Custom { name: known, .. } if known.text == **name),
        _ => false,
    }
}
