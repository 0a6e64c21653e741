//! Events for the neighbours: entities, sessions above and below, flow traffic.

use mokume_reaction as r;

use crate::code::Writer;
use crate::fault::Fault;
use crate::stack::{On, Purpose};

impl<'p> Writer<'_, 'p> {
    /// Emits an event to an object. Messages among the arguments are given away.
    pub fn emit(&mut self, target: r::Value, event: &str, args: Vec<r::Value>) {
        self.op(r::OpKind::Emit { target, event: event.to_owned(), args });
    }

    /// Emits an event to the object that a cell refers to: found now, or when it is carried out if that may differ.
    fn emit_along(&mut self, (object, cell): (r::Value, r::CellId), event: &str, args: Vec<r::Value>) {
        if self.begun {
            self.op(r::OpKind::EmitBy { object, cell, event: event.to_owned(), args });
        } else {
            let target = self.get(object, cell);
            self.emit(target, event, args);
        }
    }

    /// An event for the entity of an instance.
    pub fn tell_entity(&mut self, inst: usize, event: &str, purpose: Purpose, args: Vec<r::Value>) {
        let params = self.named(&args);
        self.tell_entity_of(inst, (event, params), purpose, args);
    }

    /// The same, with names for its parameters.
    pub fn tell_entity_of(
        &mut self,
        inst: usize,
        (event, params): (&str, Vec<(String, r::Type)>),
        purpose: Purpose,
        args: Vec<r::Value>,
    ) {
        self.event(inst, On::Entity, event, params, purpose);
        let target = self.unique(self.lowering.info(inst).classes.entity);
        self.emit(target, event, args);
    }

    /// Parameters for the arguments of an event that has no declaration.
    pub fn named(&self, args: &[r::Value]) -> Vec<(String, r::Type)> {
        let name = |at: usize, ty: r::Type| match ty {
            r::Type::Msg => "msg".to_owned(),
            r::Type::Reason => "why".to_owned(),
            _ => format!("a{at}"),
        };
        let typed = args.iter().map(|value| self.b.type_of(*value)).enumerate();
        typed.map(|(at, ty)| (name(at, ty), ty)).collect()
    }

    // -- sessions

    /// An event for the session below; not in flow traffic.
    pub fn event_down(&mut self, event: &str, purpose: Purpose, args: Vec<r::Value>) {
        let at = self.inst(self.inst);
        let (Some(below), true) = (at.below, at.uses.sessions) else { return };
        let ends = matches!(purpose, Purpose::Close | Purpose::Abort | Purpose::Refuse);
        let Some(link) = (if ends { self.ending_link() } else { self.lower_link() }) else { return };
        let params = self.named(&args);
        self.event(below, On::Session, event, params, purpose);
        self.emit_along(link, event, args);
    }

    /// An event for a session of an instance.
    pub fn answer(&mut self, inst: usize, session: r::Value, (event, purpose): (&str, Purpose), args: Vec<r::Value>) {
        let params = self.named(&args);
        self.event(inst, On::Session, event, params, purpose);
        self.emit(session, event, args);
    }

    /// An event for the session above; if there are several users, the session knows which one.
    pub fn event_up(&mut self, event: &str, purpose: Purpose, args: Vec<r::Value>) {
        let users = self.plan.session_users(self.inst).len();
        self.event_up_each(event, purpose, &vec![args; users]);
    }

    /// The same, with arguments for each of the users.
    pub fn event_up_each(&mut self, event: &str, purpose: Purpose, args: &[Vec<r::Value>]) {
        let (info, Some(session)) = (self.info(), self.runs.session) else { return };
        let Some(cells) = &info.session else { return };
        for (user, args) in self.plan.session_users(self.inst).into_iter().zip(args) {
            let on = self.lower_side(user).0;
            let params = self.named(args);
            self.event(user, on, event, params, purpose.clone());
        }
        match (&cells.above[..], cells.user) {
            ([above], _) => self.emit_along((session, *above), event, args[0].clone()),
            (above, Some(user)) => {
                let user = self.get(session, user);
                self.among(user, above.len(), |w, at| w.emit_along((session, above[at]), event, args[at].clone()));
            }
            _ => {}
        }
    }

    // -- flow traffic

    /// A message for a layer above that uses flow traffic.
    pub fn deliver_flow(&mut self, user: usize, message: r::Value, top: &[r::Value]) {
        let flow = self.as_user_sees(user, top);
        let flow = self.flow_of_way(user, flow);
        let params = self.flow_params(&self.inst(user).bottom);
        let flow = self.permuted(flow, &params);
        let params = [vec![("msg".to_owned(), r::Type::Msg)], params].concat();
        let args = [vec![message], flow].concat();
        self.tell_entity_of(user, ("deliver", params), Purpose::FlowDeliver, args);
    }

    /// Only for the planted fault: swaps two parts of one type.
    fn permuted(&self, mut flow: Vec<r::Value>, params: &[(String, r::Type)]) -> Vec<r::Value> {
        if self.faulty(Fault::FlowPermuted) {
            let pair = (1..flow.len()).find(|at| params[*at].1 == params[0].1);
            if let Some(other) = pair {
                flow.swap(0, other);
            }
        }
        flow
    }
}
