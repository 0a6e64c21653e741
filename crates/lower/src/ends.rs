//! The ends of a stack: devices below, application ports above (docs/language.md, section 10).

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::frame::{to, Ends, Exit, Register, Registration, Writer};
use crate::lowering::{Lowering, On, Task, What};
use crate::make::GRANTS;
use crate::plan::Kind;

impl<'p> Lowering<'p> {
    pub fn declare_ports(&mut self) {
        for inst in 0..self.plan.insts.len() {
            match self.inst(inst).kind {
                Kind::Device(_) => self.declare_device(inst),
                Kind::Application => self.declare_application(inst),
                Kind::Layer(_) => {}
            }
        }
    }

    fn add_port(&mut self, inst: usize, name: String, kind: r::PortKind, outputs: Vec<(&str, Vec<(String, r::Type)>)>) {
        let outputs =
            outputs.into_iter().map(|(event, params)| r::PortOutput { event: event.to_owned(), params }).collect();
        let group = self.a.ports.len() as u32;
        self.a.ports.push(r::Port { name, kind, inputs: Vec::new(), outputs, group });
        let port = r::PortId::from(self.a.ports.len() - 1);
        self.change(inst, |info| info.port = Some(port));
    }

    pub fn add_input(&mut self, inst: usize, on: On, event: &str, params: Vec<(String, r::Type)>, what: What) {
        let (Some(port), Some(class)) = (self.infos[inst].port, self.class_on(inst, on)) else { return };
        let handler = event.to_owned();
        let of_object = if on == On::Session { vec![("session".to_owned(), r::Type::Ref(class))] } else { Vec::new() };
        let shown = [of_object, params.clone()].concat();
        let input = r::PortInput { event: event.to_owned(), params: shown, class, handler: handler.clone() };
        self.a.ports[port.index()].inputs.push(input);
        self.event(inst, on, &handler, params, what);
    }

    // -- devices

    fn declare_device(&mut self, inst: usize) {
        let name = self.inst(inst).name.clone();
        let frame = vec![("msg".to_owned(), r::Type::Msg)];
        self.add_port(inst, name, r::PortKind::Device, vec![("frame", frame.clone())]);
        self.add_input(inst, On::Entity, "frame", frame, What::Plain { handler: None });
    }

    // -- applications

    fn declare_application(&mut self, inst: usize) {
        let plan = self.plan.clone();
        let at = &plan.insts[inst];
        let name = at.name.strip_suffix(".application").unwrap_or(&at.name).to_owned();
        let one = |name: &str, ty: r::Type| vec![(name.to_owned(), ty)];
        let msg = one("msg", r::Type::Msg);
        let user = one("user", r::Type::U(32));
        let why = one("why", r::Type::Reason);
        let flow = self.flow_params(&at.bottom);
        let local = self.local_params(&at.bottom);
        let mut outputs: Vec<(&str, Vec<(String, r::Type)>)> = Vec::new();
        if let Some(class) = self.infos[inst].session {
            let session = one("session", r::Type::Ref(class));
            outputs.push(("opened", [user.clone(), session.clone()].concat()));
            outputs.push(("failed", [user.clone(), why.clone()].concat()));
            outputs.push(("accepted", [session.clone(), flow.clone()].concat()));
            outputs.push(("deliver", [session.clone(), msg.clone()].concat()));
            outputs.push(("closed", session.clone()));
            outputs.push(("failed_session", [session, why].concat()));
        }
        let amounts = [one("messages", r::Type::U(32)), one("octets", r::Type::U(32))].concat();
        let (told, asked) = (self.below_emits(inst, GRANTS[0]), self.below_handles(inst, GRANTS[1]));
        if let (Some(class), true) = (self.infos[inst].session, told) {
            outputs.push(("grant_sends", [one("session", r::Type::Ref(class)), amounts.clone()].concat()));
        }
        if at.uses.flow && told {
            outputs.push(("grant_sends_to", amounts.clone()));
        }
        if at.uses.flow {
            outputs.push(("deliver_from", [flow.clone(), msg.clone()].concat()));
        }
        let spoken = self.spoken_outputs(inst);
        outputs.extend(spoken.iter().map(|(event, params)| (event.as_str(), params.clone())));
        self.add_port(inst, name, r::PortKind::Application, outputs);
        self.declare_spoken_inputs(inst);
        let listener = [user.clone(), local].concat();
        let from = [user.clone(), flow.clone()].concat();
        let input = |event: &str| What::Custom { name: std::rc::Rc::from(event), down: true };
        if at.uses.sessions {
            let given = at.below.map_or(Vec::new(), |below| self.given_params(below));
            self.add_input(inst, On::Entity, "open", [user, flow.clone(), given].concat(), input("open"));
            self.add_input(inst, On::Entity, "listen", listener.clone(), input("listen"));
        }
        if at.uses.flow {
            self.add_input(inst, On::Entity, "bind", listener.clone(), input("bind"));
        }
        self.add_input(inst, On::Entity, "unlisten", listener, input("unlisten"));
        if at.uses.sessions {
            self.add_input(inst, On::Session, "send", msg.clone(), What::Send);
            self.add_input(inst, On::Session, "close", Vec::new(), What::Close);
            self.add_input(inst, On::Session, "abort", Vec::new(), What::Abort);
        }
        if at.uses.sessions && asked {
            self.add_input(inst, On::Session, GRANTS[1], amounts.clone(), input(GRANTS[1]));
        }
        if at.uses.flow && asked {
            self.add_input(inst, On::Entity, "grant_delivers_from", amounts, input("grant_delivers_from"));
        }
        if at.uses.flow {
            self.add_input(inst, On::Entity, "send_to", [flow, msg].concat(), input("send_to"));
        }
        if at.below.is_some_and(|below| self.may_name_remotes(below) && self.cares_for_listeners(below)) {
            let names = [("listen_from", at.uses.sessions), ("bind_from", at.uses.flow), ("unlisten_from", true)];
            for (name, _) in names.iter().filter(|(_, there)| *there) {
                self.add_input(inst, On::Entity, name, from.clone(), input(name));
            }
        }
    }

    /// Whether anybody below says `above.name(…)`.
    fn below_emits(&self, inst: usize, name: &str) -> bool {
        let Some(below) = self.inst(inst).below else { return false };
        let emits = self.layer(below).is_some_and(|layer| mokume_semantics::check::rows::emits_up(layer, name));
        emits || self.below_emits(below, name)
    }

    /// Whether anybody below has a handler for what comes from above by this name.
    fn below_handles(&self, inst: usize, name: &str) -> bool {
        let Some(below) = self.inst(inst).below else { return false };
        let handles = |layer: &s::Layer| mokume_semantics::check::stacks::handles(layer, name, s::Origin::Above);
        self.layer(below).is_some_and(handles) || self.below_handles(below, name)
    }
}

impl<'p> Writer<'_, 'p> {
    pub fn out(&mut self, event: &str, args: Vec<r::Value>) {
        let Some(port) = self.infos[self.inst].port else { return };
        let outputs = &self.a.ports[port.index()].outputs;
        let Some(at) = outputs.iter().position(|output| output.event == event) else { return };
        self.op(r::OpKind::Out { port, event: at as u32, args });
    }

    pub fn make_device(&mut self, task: &Task) {
        let message = self.params().get(1).copied();
        match (&task.what, message) {
            (What::FlowSend, Some(message)) => self.out("frame", vec![message]),
            (What::Plain { .. }, Some(message)) => match self.plan.flow_users(self.inst).first().copied() {
                Some(user) => self.deliver_flow(user, message, Vec::new()),
                None => self.drop(message, "unexpected"),
            },
            _ => {}
        }
    }

    pub fn make_application(&mut self, task: &Task) {
        if self.application_speaks(task) {
            return;
        }
        let params = self.params();
        let own = params[0];
        match &task.what {
            // Inputs of the port; a layer's own event of the same name comes from below and ends nowhere.
            What::Custom { name, down: true } if !name.starts_with(GRANTS[1]) => match &**name {
                "open" => self.application_open(params[1], params[2..].to_vec()),
                "send_to" => {
                    let (flow, message) = (params[1..params.len() - 1].to_vec(), params[params.len() - 1]);
                    self.place.flow = Some(flow.clone());
                    self.place.bottom = Some(flow.clone());
                    self.send_with_credit(message, Some(flow));
                }
                name => self.application_registers(name, params[2..].to_vec()),
            },
            What::Send => self.send_with_credit(params[1], None),
            What::Close => self.event_down("close", What::Close, Vec::new()),
            What::Abort => self.event_down("abort", What::Abort, Vec::new()),
            What::FlowDeliver => {
                let args = [params[2..].to_vec(), vec![params[1]]].concat();
                self.out("deliver_from", args);
            }
            What::Deliver => self.out("deliver", params),
            What::Opened => {
                let info = self.info();
                self.set_below(own, params[1]);
                self.set_opened(own);
                if let Some(cell) = info.user {
                    let user = self.value(r::OpKind::Get { object: own, cell });
                    self.out("opened", vec![user, own]);
                }
            }
            What::Accepted => self.application_accepted(params[1], params[2..].to_vec()),
            What::Closed => {
                self.out("closed", vec![own]);
                self.op(r::OpKind::Release { object: own });
            }
            What::Failed => self.application_failed(own, params[1]),
            What::FailedFlow => self.drop(params[2], "unmatched"),
            What::FailedQuoting => {
                self.drop(params[2], "failed");
                self.application_failed(own, params[1]);
                self.place.unsure_down = true;
                self.event_down("abort", What::Abort, Vec::new());
            }
            What::Custom { name, down: false } if &**name == GRANTS[0] => {
                let output = if task.on == On::Session { "grant_sends" } else { "grant_sends_to" };
                let from = if task.on == On::Session { 0 } else { 1 };
                let mut args = params[from..].to_vec();
                if self.faulty(crate::fault::Fault::GrantTurned) {
                    let last = args.len() - 1;
                    args.swap(last - 1, last);
                }
                self.out(output, args);
            }
            What::Custom { name, down: true } if name.starts_with(GRANTS[1]) => {
                self.custom(GRANTS[1], true, params[1..].to_vec());
            }
            _ => self.unheard(task, &params[1..]),
        }
    }

    /// `listen` with the local end, `listen_from` with both.
    fn application_registers(&mut self, name: &str, pattern: Vec<r::Value>) {
        let (name, ends) = name.strip_suffix("_from").map_or((name, Ends::Local), |name| (name, Ends::Both));
        let how = match name {
            "listen" => Register::Listen,
            "bind" => Register::Bind,
            _ => Register::Unlisten,
        };
        self.register_down(Registration { how, ends }, pattern);
    }

    /// An event that a layer sends up and no layer above it handles.
    fn unheard(&mut self, task: &Task, args: &[r::Value]) {
        if let r::Trigger::Event(name) = &task.trigger {
            let message = format!("nobody handles `{name}`");
            self.error_here("M0726", message, "a layer that it reaches must have a handler for it");
        }
        for arg in args {
            if self.b.type_of(*arg) == r::Type::Msg {
                self.drop(*arg, "unexpected");
            }
        }
    }

    fn set_below(&mut self, session: r::Value, lower: r::Value) {
        if let Some(cell) = self.infos[self.inst].below {
            self.op(r::OpKind::Set { object: session, cell, value: lower });
        }
    }

    fn application_open(&mut self, user: r::Value, flow: Vec<r::Value>) {
        let info = self.info();
        let (parts, at_below) = (self.inst(self.inst).bottom.len(), self.inst(self.inst).below);
        let (Some(class), Some(cell)) = (info.session, info.user) else { return };
        let (made, session, full) = self.new_object(class);
        self.select(full);
        let reason = self.told_reason("no_room");
        let why = self.constant(r::Type::Reason, u64::from(reason.0));
        self.out("failed", vec![user, why]);
        let mut exits: Vec<Exit> = self.exit(Vec::new()).into_iter().collect();
        self.select(made);
        self.op(r::OpKind::Set { object: session, cell, value: user });
        self.place.session = Some(session);
        let (flow, mut given) = (flow[..parts].to_vec(), flow[parts..].iter().copied());
        for asked in at_below.map_or(Vec::new(), |below| self.given_at(below)) {
            let count = self.lowering.flat(asked.inst, asked.ty).len();
            self.place.given.push((asked, given.by_ref().take(count).collect()));
        }
        self.open_by_hand(flow);
        exits.extend(self.exit(Vec::new()));
        self.join("end", exits);
    }

    fn application_accepted(&mut self, lower: r::Value, flow: Vec<r::Value>) {
        let Some(class) = self.infos[self.inst].session else { return };
        let (made, session, full) = self.new_object(class);
        self.select(full);
        self.refuse_lower(lower);
        let mut exits: Vec<Exit> = self.exit(Vec::new()).into_iter().collect();
        self.select(made);
        self.set_below(session, lower);
        self.set_opened(session);
        self.out("accepted", [vec![session], flow].concat());
        self.attach_to(lower, session);
        exits.extend(self.exit(Vec::new()));
        self.join("end", exits);
    }

    /// Before `opened` it is the opening that failed.
    fn application_failed(&mut self, session: r::Value, why: r::Value) {
        let info = self.info();
        let (Some(opened), Some(user)) = (info.opened, info.user) else { return };
        let open = self.value(r::OpKind::Get { object: session, cell: opened });
        let (yes, no, end) = (self.b.block("open", &[]), self.b.block("opening", &[]), self.b.block("end", &[]));
        self.end(r::Terminator::Branch { condition: open, then: to(yes), otherwise: to(no), likely: None });
        self.select(yes);
        self.out("failed_session", vec![session, why]);
        self.jump(end, []);
        self.select(no);
        let number = self.value(r::OpKind::Get { object: session, cell: user });
        self.out("failed", vec![number, why]);
        self.jump(end, []);
        self.select(end);
        self.op(r::OpKind::Release { object: session });
    }

    /// Beyond what may be sent now, an application's message is dropped.
    fn send_with_credit(&mut self, message: r::Value, flow: Option<Vec<r::Value>>) {
        let mut exits: Vec<Exit> = Vec::new();
        for name in crate::publish::CREDIT {
            let ignored = self.faulty(crate::fault::Fault::CreditIgnored);
            let Some(credit) = self.credit(name).filter(|_| !ignored) else { continue };
            // For one message, or for its octets.
            let (op, b) = match name {
                "credit" => (r::Compare::Gt, self.constant(r::Type::U(32), 0)),
                _ => (r::Compare::Ge, self.value(r::OpKind::Size { message })),
            };
            let some = self.value(r::OpKind::Compare { op, a: credit, b });
            let (go, none) = self.branch(some, Some(0.99), "go", "no_credit");
            self.select(none);
            self.drop(message, "no_credit");
            exits.extend(self.exit(Vec::new()));
            self.select(go);
        }
        match flow {
            Some(flow) => self.send_flow(message, flow),
            None => self.send_down(message, None, None),
        }
        exits.extend(self.exit(Vec::new()));
        self.join("end", exits);
    }
}
