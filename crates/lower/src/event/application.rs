//! The edges of a stack: a device with frames, and the port of an application.

use mokume_reaction as r;

use crate::code::{Exits, Flow, Writer};
use crate::event::extras::{VALUES, VALUES_TO};
use crate::fault::Fault;
use crate::stack::{Endpoints, Giver, On, Purpose, Register, Registration, Task, CREDIT, GRANTS};

/// The most octets of a message that an application may send: the largest datagram of the internet.
const LONGEST: u64 = r::LONGEST_MESSAGE as u64;

impl<'p> Writer<'_, 'p> {
    fn out(&mut self, event: &str, args: Vec<r::Value>) {
        let Some(port) = self.info().port else { return };
        let outputs = &self.a.ports[port.index()].outputs;
        let Some(at) = outputs.iter().position(|output| output.event == event) else { return };
        self.op(r::OpKind::Out { port, event: at as u32, args });
    }

    pub(super) fn make_device(&mut self, task: &Task) {
        let Some(message) = self.params().get(1).copied() else { return };
        match (&task.purpose, self.plan.flow_users(self.inst).first()) {
            (Purpose::FlowSend, _) => self.put_frame(message),
            (_, Some(user)) => self.deliver_flow(*user, message, &[]),
            (_, None) => self.drop(message, "unexpected"),
        }
    }

    /// Puts out a frame if the device carries frames of that size, by the `mtu` that the layer above reads.
    fn put_frame(&mut self, message: r::Value) {
        let mut exits = Exits::default();
        let name = format!("{}.mtu", self.inst(self.inst).name);
        if let Some(param) = self.a.params.iter().position(|param| param.name == name) {
            let most = self.device_value(param.into(), "mtu");
            self.drop_larger(&mut exits, message, most);
        }
        self.out("frame", vec![message]);
        self.exit(&mut exits, Vec::new());
        self.meet(exits);
    }

    /// Drops a message of more octets as `too_big`.
    fn drop_larger(&mut self, exits: &mut Exits, message: r::Value, most: r::Value) {
        let size = self.value(r::OpKind::Size { message });
        let larger = self.compare(r::Compare::Gt, size, most);
        let fork = self.fork_likely(larger, Some(0.001));
        self.on(exits, fork, |w, _| w.drop(message, "too_big"));
    }

    pub(super) fn make_application(&mut self, task: &Task) {
        if self.application_speaks(task) {
            return;
        }
        let params = self.params();
        let own = params[0];
        match &task.purpose {
            // Inputs of the port; an own event of the same name comes from below and ends here.
            Purpose::Custom { name, down: true } => self.application_asks(name, &params[1..]),
            Purpose::Custom { name, down: false } if &**name == GRANTS[0] => self.application_is_granted(task.on),
            Purpose::Send => {
                let message = self.with_given(params[1], &params[2..]);
                self.send_with_credit(message, None);
            }
            Purpose::Close => self.event_down("close", Purpose::Close, Vec::new()),
            Purpose::Abort => self.event_down("abort", Purpose::Abort, Vec::new()),
            Purpose::FlowDeliver => {
                let beside = self.told_beside(params[1]);
                self.out("deliver_from", [&params[2..], &params[1..2], &beside].concat());
            }
            Purpose::Deliver => {
                let beside = self.told_beside(params[1]);
                self.out("deliver", [params, beside].concat());
            }
            Purpose::Opened => {
                self.set_below(own, params[1]);
                self.set_opened(own);
                if let Some(cell) = self.info().session.as_ref().and_then(|cells| cells.number) {
                    let user = self.get(own, cell);
                    self.out("opened", [&[user, own], &params[2..]].concat());
                }
            }
            Purpose::Coming => self.note_coming(params[1]),
            Purpose::Accepted => self.application_accepted(params[1], &params[2..]),
            Purpose::Closed => self.application_closed(own),
            Purpose::Failed => self.application_failed(own, params[1]),
            Purpose::FailedFlow => self.drop(params[2], "unmatched"),
            Purpose::FailedQuoting => {
                self.drop(params[2], "failed");
                self.application_failed(own, params[1]);
                self.event_down("abort", Purpose::Abort, Vec::new());
            }
            Purpose::Custom { .. }
            | Purpose::FlowSend
            | Purpose::Register(..)
            | Purpose::Open { .. }
            | Purpose::Refuse
            | Purpose::Attach
            | Purpose::Claim
            | Purpose::Service { .. }
            | Purpose::Own { .. }
            | Purpose::Changed { .. }
            | Purpose::Plain { .. } => self.unheard(task, &params[1..]),
        }
    }

    /// An input of the port, by name.
    fn application_asks(&mut self, name: &str, args: &[r::Value]) {
        let (plain, endpoints) =
            name.strip_suffix("_from").map_or((name, Endpoints::Local), |name| (name, Endpoints::Both));
        let how = match plain {
            "open" => return self.application_open(args[0], &args[1..]),
            "listen" => {
                let parts = self.inst(self.inst).bottom.iter().filter(|c| c.is_said(endpoints == Endpoints::Both));
                let parts = 1 + parts.count();
                self.take_from_port(Giver::Listen, &args[parts..]);
                let registration = Registration { how: Register::Listen, endpoints };
                return self.register_down(registration, &args[1..parts]);
            }
            "send_to" => {
                let (flow, rest) = args.split_at(self.inst(self.inst).bottom.len());
                let Some((message, beside)) = rest.split_first() else { return };
                let flow: Flow = flow.into();
                (self.runs.flow, self.runs.bottom) = (Some(flow.clone()), Some(flow.clone()));
                let message = self.with_given(*message, beside);
                return self.send_with_credit(message, Some(flow));
            }
            VALUES | VALUES_TO => {
                let flow = (name == VALUES_TO).then(|| args.into());
                let (event, values) = self.values_told(flow);
                return self.out(event, values);
            }
            "credit" | "credit_to" => return self.tell_credit(name),
            name if name.starts_with(GRANTS[1]) => return self.custom(GRANTS[1], true, args.to_vec()),
            "bind" => Register::Bind,
            _ => Register::Unlisten,
        };
        self.register_down(Registration { how, endpoints }, &args[1..]);
    }

    /// Outputs the current credit: messages, octets. Without a limit it is the largest number.
    fn tell_credit(&mut self, output: &str) {
        let mut args: Vec<r::Value> = self.runs.session.into_iter().collect();
        for kind in 0..CREDIT.len() {
            let credit = self.credit(kind);
            args.push(credit.unwrap_or_else(|| self.constant(r::Type::U(32), u64::from(u32::MAX))));
        }
        self.out(output, args);
    }

    fn application_is_granted(&mut self, on: On) {
        let (output, from) = if on == On::Session { ("grant_sends", 0) } else { ("grant_sends_to", 1) };
        let mut args = self.params()[from..].to_vec();
        if self.faulty(Fault::GrantTurned) {
            let last = args.len() - 1;
            args.swap(last - 1, last);
        }
        // What is reserved for layers is not granted to an application.
        let first = args.len() - CREDIT.len();
        for kind in 0..CREDIT.len() {
            if self.lowering.credit_name(self.inst, kind) != CREDIT[kind] {
                if let Some(credit) = self.credit(kind) {
                    args[first + kind] = self.binary(r::Binary::Min, args[first + kind], credit);
                }
            }
        }
        self.out(output, args);
    }

    /// An event that a layer emits up and no layer above handles.
    fn unheard(&mut self, task: &Task, args: &[r::Value]) {
        if let r::Trigger::Event(name) = &task.trigger {
            self.nobody_handles(name);
        }
        self.drop_all(args, "unexpected");
    }

    fn application_open(&mut self, user: r::Value, args: &[r::Value]) {
        let (info, at) = (self.info(), self.inst(self.inst));
        let Some((cells, cell)) = info.session.as_ref().and_then(|cells| Some((cells, cells.number?))) else { return };
        let (flow, given) = args.split_at(at.bottom.len());
        let made = self.make(cells.class);
        let open = |w: &mut Self, made: &[r::Value]| {
            let session = made[0];
            w.set(session, cell, user);
            w.runs.session = Some(session);
            w.take_from_port(Giver::Open, given);
            w.open_by_hand(flow);
        };
        self.ways(made, open, |w, _| {
            let why = w.why("no_room");
            w.out("failed", vec![user, why]);
        });
    }

    fn application_accepted(&mut self, lower: r::Value, flow: &[r::Value]) {
        let Some(class) = self.info().classes.session else { return };
        let made = self.make(class);
        let accept = |w: &mut Self, made: &[r::Value]| {
            let session = made[0];
            w.set_below(session, lower);
            w.set_opened(session);
            w.out("accepted", [made, flow].concat());
            w.attach_to(lower, session);
        };
        self.ways(made, accept, |w, _| w.refuse_lower(lower));
    }

    fn application_failed(&mut self, session: r::Value, why: r::Value) {
        self.application_ends(session, |w| w.out("failed_session", vec![session, why]), |_| why);
    }

    fn application_closed(&mut self, session: r::Value) {
        self.application_ends(session, |w| w.out("closed", vec![session]), |w| w.why("gone"));
    }

    /// Before `opened`, it is the opening that failed.
    fn application_ends(
        &mut self,
        session: r::Value,
        ends: impl FnOnce(&mut Self),
        why: impl FnOnce(&mut Self) -> r::Value,
    ) {
        let info = self.info();
        let Some((opened, number)) = info.session.as_ref().and_then(|cells| cells.opened.zip(cells.number)) else {
            return;
        };
        let open = self.get(session, opened);
        let open = self.fork(open);
        self.ways(
            open,
            |w, _| ends(w),
            |w, _| {
                let (user, why) = (w.get(session, number), why(w));
                w.out("failed", vec![user, why]);
            },
        );
        self.op(r::OpKind::Release { object: session });
    }

    /// Drops a message of an application beyond the current credit.
    fn send_with_credit(&mut self, message: r::Value, flow: Option<Flow>) {
        let mut exits = Exits::default();
        let most = self.constant(r::Type::U(32), LONGEST);
        self.drop_larger(&mut exits, message, most);
        for (kind, name) in CREDIT.into_iter().enumerate() {
            let ignored = self.faulty(Fault::CreditIgnored);
            let Some(credit) = self.credit(kind).filter(|_| !ignored) else { continue };
            // For one message, or for its octets.
            let (op, b) = match name {
                "credit" => (r::Compare::Gt, self.constant(r::Type::U(32), 0)),
                _ => (r::Compare::Ge, self.value(r::OpKind::Size { message })),
            };
            let enough = self.compare(op, credit, b);
            let fork = self.fork_likely(enough, Some(0.99));
            self.unless(&mut exits, fork, |w, _| w.drop(message, "no_credit"));
        }
        match flow {
            Some(flow) => self.send_flow(message, &flow),
            None => self.send_down(message, None, None),
        }
        self.exit(&mut exits, Vec::new());
        self.meet(exits);
    }

    // -- vocabularies

    /// An event of a vocabulary that passes the port; `false` if it is none.
    fn application_speaks(&mut self, task: &Task) -> bool {
        let Purpose::Custom { name, down } = &task.purpose else { return false };
        let of_flow = task.on == On::Entity;
        if self.lowering.is_of_all(name) {
            if !self.spoken_at(self.inst).iter().any(|known| known.name == **name && known.down == *down) {
                return false;
            }
            let args = self.params()[1..].to_vec();
            match down {
                true => self.custom(name, true, args),
                false => self.out(name, args),
            }
            return true;
        }
        let plain = match (*down, of_flow) {
            (true, true) => name.strip_suffix("_to").unwrap_or(name),
            _ => name,
        };
        let known = self.spoken_at(self.inst).into_iter().any(|known| known.name == plain && known.down == *down);
        if !known {
            return false;
        }
        let params = self.params();
        let (args, parts) = (&params[1..], self.inst(self.inst).bottom.len());
        match (*down, of_flow) {
            (true, true) => {
                let (flow, args) = args.split_at(parts);
                (self.runs.flow, self.runs.bottom) = (Some(flow.into()), Some(flow.into()));
                self.custom(plain, true, args.to_vec());
            }
            (true, false) => self.custom(plain, true, args.to_vec()),
            (false, true) => {
                let (args, flow) = args.split_at(args.len() - parts);
                self.out(&format!("{plain}_from"), [flow, args].concat());
            }
            (false, false) => self.out(plain, params),
        }
        true
    }
}
