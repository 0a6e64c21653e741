//! The ports of a stack: devices below, applications above (docs/language.md, section 10).

use std::rc::Rc;

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::event::extras::{VALUES, VALUES_TO};
use crate::plan::Kind;
use crate::stack::{plain, Endpoints, Given, Giver, Lowering, On, Purpose, CREDIT, GRANTS};

type Params = Vec<(String, r::Type)>;

/// A parameter of an event of a port.
fn one(name: &str, ty: r::Type) -> Params {
    vec![(name.to_owned(), ty)]
}

/// An input of an application's port.
fn input(event: &str) -> Purpose {
    Purpose::Custom { name: Rc::from(event), down: true }
}

impl<'p> Lowering<'p> {
    /// Makes a port for each device and application, with the events that layers there can send or receive.
    pub fn declare_ports(&mut self) {
        for inst in 0..self.plan.insts.len() {
            match self.inst(inst).kind {
                Kind::Device(_) => self.declare_device(inst),
                Kind::Application => self.declare_application(inst),
                Kind::Layer(_) => {}
            }
        }
    }

    fn add_port(&mut self, inst: usize, name: &str, kind: r::PortKind, outputs: Vec<(String, Params)>) {
        let outputs = outputs.into_iter().map(|(event, params)| r::PortOutput { event, params }).collect();
        let group = self.a.ports.len() as u32;
        self.a.ports.push(r::Port { name: name.to_owned(), kind, inputs: Vec::new(), outputs, group });
        let port = r::PortId::from(self.a.ports.len() - 1);
        self.change(inst, |info| info.port = Some(port));
    }

    fn add_input(&mut self, inst: usize, on: On, event: &str, params: Params, purpose: Purpose) {
        self.add_giving_input((inst, on), event, params, purpose, &[]);
    }

    /// Adds an input whose last parameters are values that layers below ask for, with their defaults.
    fn add_giving_input(
        &mut self,
        (inst, on): (usize, On),
        event: &str,
        mut params: Params,
        purpose: Purpose,
        given: &[Given],
    ) {
        params.extend(self.given_at_port(given));
        let mut defaults = Vec::new();
        for given in given {
            defaults.extend(self.given_default(given).into_iter().map(|(_, value)| value));
        }
        self.add_input_with((inst, on), event, (params, defaults), purpose);
    }

    /// Adds an input with defaults of its last parameters. Their names tell the port what forms a value (docs/semantics.md, P6); the handler has
    /// plain ones.
    fn add_input_with(
        &mut self,
        (inst, on): (usize, On),
        event: &str,
        (params, defaults): (Params, Vec<u64>),
        purpose: Purpose,
    ) {
        let (Some(port), Some(class)) = (self.infos[inst].port, self.class_on(inst, on)) else { return };
        let of_object = if on == On::Session { one("session", r::Type::Ref(class)) } else { Vec::new() };
        let shown = [of_object, params.clone()].concat();
        let input = r::PortInput { event: event.to_owned(), params: shown, class, handler: event.to_owned(), defaults };
        self.a.ports[port.index()].inputs.push(input);
        self.event(inst, on, event, plain(params), purpose);
    }

    fn declare_device(&mut self, inst: usize) {
        let frame = one("msg", r::Type::Msg);
        self.add_port(inst, &self.inst(inst).name, r::PortKind::Device, vec![("frame".to_owned(), frame.clone())]);
        self.add_input(inst, On::Entity, "frame", frame, Purpose::Plain { handler: None });
    }

    // -- applications

    fn declare_application(&mut self, inst: usize) {
        let name = &self.inst(inst).name;
        let outputs = self.outputs(inst);
        self.add_port(inst, name.strip_suffix(".application").unwrap_or(name), r::PortKind::Application, outputs);
        for (on, event, params) in self.spoken_inputs(inst) {
            self.add_input(inst, on, &event, params, input(&event));
        }
        self.declare_inputs(inst);
    }

    fn outputs(&mut self, inst: usize) -> Vec<(String, Params)> {
        let at = self.inst(inst);
        let (user, why, msg) = (one("user", r::Type::U(32)), one("why", r::Type::Reason), one("msg", r::Type::Msg));
        let flow = self.flow_params(&at.bottom);
        let session = self.infos[inst].classes.session.map(|class| one("session", r::Type::Ref(class)));
        let told = self.below_emits(inst, GRANTS[0]);
        let (_, told_beside) = self.beside(inst);
        let told_beside: Params = told_beside.iter().map(|beside| (beside.name.clone(), beside.ty)).collect();
        let [values, values_of_flow] = [false, true].map(|of_flow| self.values(inst, of_flow));
        let mut outputs: Vec<(&str, Vec<&Params>)> = Vec::new();
        if let Some(session) = &session {
            outputs.push(("opened", vec![&user, session, &flow]));
            outputs.push(("failed", vec![&user, &why]));
            outputs.push(("accepted", vec![session, &flow]));
            outputs.push(("deliver", vec![session, &msg, &told_beside]));
            outputs.push(("closed", vec![session]));
            outputs.push(("failed_session", vec![session, &why]));
        }
        let amounts = amounts();
        if let (Some(session), true) = (&session, told) {
            outputs.push((GRANTS[0], vec![session, &amounts]));
        }
        if at.uses.flow && told {
            outputs.push(("grant_sends_to", vec![&amounts]));
        }
        let limited = self.is_asked_for_credit(inst);
        if let (Some(session), true) = (&session, limited) {
            outputs.push(("credit", vec![session, &amounts]));
        }
        if at.uses.flow && limited {
            outputs.push(("credit_to", vec![&amounts]));
        }
        if at.uses.flow {
            outputs.push(("deliver_from", vec![&flow, &msg, &told_beside]));
        }
        if let (Some(session), false) = (&session, values.is_empty()) {
            outputs.push((VALUES, vec![session, &values]));
        }
        if at.uses.flow && !values_of_flow.is_empty() {
            outputs.push((VALUES_TO, vec![&flow, &values_of_flow]));
        }
        let own = outputs
            .into_iter()
            .map(|(event, params)| (event.to_owned(), params.into_iter().flatten().cloned().collect()));
        own.chain(self.spoken_outputs(inst)).collect()
    }

    fn declare_inputs(&mut self, inst: usize) {
        let at = self.inst(inst);
        let Some(below) = at.below else { return };
        let entity = (inst, On::Entity);
        let (user, msg) = (one("user", r::Type::U(32)), one("msg", r::Type::Msg));
        let flow = self.flow_params(&at.bottom);
        let listener = [user.clone(), self.pattern_params(&at.bottom, Endpoints::Local)].concat();
        let from = [user.clone(), flow.clone()].concat();
        let asked = self.below_handles(inst, GRANTS[1]);
        let (given_beside, _) = self.beside(inst);
        let [tells, tells_of_flow] = [false, true].map(|of_flow| !self.values(inst, of_flow).is_empty());
        let with_given = |params: Params| {
            let named = given_beside.iter().map(|beside| (beside.name.clone(), beside.ty));
            let defaults = given_beside.iter().map(|beside| beside.default).collect();
            (params.into_iter().chain(named).collect(), defaults)
        };
        if at.uses.sessions {
            let given = self.asked_of_port(below, Giver::Open);
            self.add_giving_input(entity, "open", [user, flow.clone()].concat(), input("open"), &given);
            let given = self.asked_of_port(below, Giver::Listen);
            self.add_giving_input(entity, "listen", listener.clone(), input("listen"), &given);
        }
        if at.uses.flow {
            self.add_input(inst, On::Entity, "bind", listener.clone(), input("bind"));
        }
        self.add_input(inst, On::Entity, "unlisten", listener, input("unlisten"));
        if at.uses.sessions {
            self.add_input_with((inst, On::Session), "send", with_given(msg.clone()), Purpose::Send);
            self.add_input(inst, On::Session, "close", Vec::new(), Purpose::Close);
            self.add_input(inst, On::Session, "abort", Vec::new(), Purpose::Abort);
        }
        if at.uses.sessions && asked {
            self.add_input(inst, On::Session, GRANTS[1], amounts(), input(GRANTS[1]));
        }
        if at.uses.flow && asked {
            self.add_input(inst, On::Entity, "grant_delivers_from", amounts(), input("grant_delivers_from"));
        }
        let limited = self.is_asked_for_credit(inst);
        if at.uses.sessions && limited {
            self.add_input(inst, On::Session, "credit", Vec::new(), input("credit"));
        }
        if at.uses.flow && limited {
            self.add_input(inst, On::Entity, "credit_to", Vec::new(), input("credit_to"));
        }
        if at.uses.flow {
            let params = [flow.clone(), msg.clone()].concat();
            self.add_input_with(entity, "send_to", with_given(params), input("send_to"));
        }
        if at.uses.sessions && tells {
            self.add_input(inst, On::Session, VALUES, Vec::new(), input(VALUES));
        }
        if at.uses.flow && tells_of_flow {
            self.add_input(inst, On::Entity, VALUES_TO, flow, input(VALUES_TO));
        }
        if self.may_name_remotes(below) && self.cares_for_listeners(below) {
            if at.uses.sessions {
                let given = self.asked_of_port(below, Giver::Listen);
                self.add_giving_input(entity, "listen_from", from.clone(), input("listen_from"), &given);
            }
            if at.uses.flow {
                self.add_input(inst, On::Entity, "bind_from", from.clone(), input("bind_from"));
            }
            self.add_input(inst, On::Entity, "unlisten_from", from, input("unlisten_from"));
        }
    }

    /// Whether an application may ask for its credit: a layer below limits it, and handles no event of that name.
    fn is_asked_for_credit(&self, inst: usize) -> bool {
        let below = self.inst(inst).below;
        let limited = below.is_some_and(|below| CREDIT.iter().any(|name| self.is_limited(below, name)));
        limited && !self.spoken_at(inst).iter().any(|known| known.name == CREDIT[0])
    }

    /// Whether a layer below has `above.name(…)`.
    fn below_emits(&self, inst: usize, name: &str) -> bool {
        let Some(below) = self.inst(inst).below else { return false };
        let emits = self.layer(below).is_some_and(|layer| mokume_semantics::check::rows::emits_up(layer, name));
        emits || self.below_emits(below, name)
    }

    /// Whether a layer below handles an event of this name from above.
    fn below_handles(&self, inst: usize, name: &str) -> bool {
        let Some(below) = self.inst(inst).below else { return false };
        let handles = |layer: &s::Layer| mokume_semantics::check::stacks::handles(layer, name, s::Origin::Above);
        self.layer(below).is_some_and(handles) || self.below_handles(below, name)
    }
}

/// The parameters of a grant.
fn amounts() -> Params {
    [one("messages", r::Type::U(32)), one("octets", r::Type::U(32))].concat()
}
