//! Services, events of one's own name, and listeners: what goes to entities.

use std::rc::Rc;

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::emit::named;
use crate::frame::Writer;
use crate::lowering::{Lowering, On, What};
use crate::make::GRANTS;

impl<'p> Lowering<'p> {
    fn users_of(&self, server: usize, service: s::ServiceId) -> Vec<(usize, Option<u32>)> {
        let mut users = Vec::new();
        for (at, inst) in self.plan.insts.iter().enumerate() {
            let Some(layer) = inst.layer() else { continue };
            for (place, (of, _)) in layer.uses.iter().enumerate() {
                if *of == service && inst.servers.get(place).copied().flatten() == Some(server) {
                    users.push((at, Some(place as u32)));
                }
            }
        }
        users
    }

    pub fn service_handler(
        &self,
        inst: usize,
        service: s::ServiceId,
        operation: u32,
        uses: Option<u32>,
    ) -> Option<&'p s::Handler> {
        self.layer(inst)?.handlers.iter().find(|handler| {
            matches!(&handler.event, s::Event::Service { service: of, operation: which, uses: by, .. }
                if *of == service && *which == operation && *by == uses)
        })
    }

    /// Whether events of flow traffic carry the flow: for workers and multiplexors.
    pub fn carries_flow(&self, inst: usize) -> bool {
        matches!(self.inst(inst).shape(), Some(s::Shape::Worker | s::Shape::Multiplexor))
    }

    /// Events that name their user where there are several.
    pub fn event_of(&self, event: &str, user: Option<usize>) -> String {
        match user {
            Some(user) => format!("{event}_{}", self.inst(user).name.replace('.', "_")),
            None => event.to_owned(),
        }
    }
}

impl<'p> Writer<'_, 'p> {
    // -- services and other events

    pub fn service(
        &mut self,
        (service, operation): (s::ServiceId, u32),
        uses: Option<u32>,
        args: &'p [s::Expr],
        stmt: &'p s::Stmt,
    ) {
        let values: Vec<r::Value> = args.iter().flat_map(|arg| self.expr(arg)).collect();
        let definition = &self.program.services[service.index()];
        let name = format!("{}_{}", definition.name.text, definition.operations[operation as usize].name.text);
        let targets: Vec<(usize, Option<u32>)> = match uses {
            Some(uses) => match self.inst(self.inst).servers.get(uses as usize).copied().flatten() {
                Some(server) => vec![(server, None)],
                None => {
                    self.error("M0726", "nobody serves this here", Some(stmt.span), "name a layer that does: `with …`");
                    return;
                }
            },
            None => self.users_of(self.inst, service),
        };
        let wanted =
            |(inst, uses): &(usize, Option<u32>)| self.service_handler(*inst, service, operation, *uses).is_some();
        let targets: Vec<(usize, Option<u32>)> = targets.into_iter().filter(wanted).collect();
        let params = named(&values, self);
        for (place, (inst, uses)) in targets.iter().enumerate() {
            let event = match uses {
                Some(uses) => format!("{name}_{uses}"),
                None => name.clone(),
            };
            self.event(*inst, On::Entity, &event, params.clone(), What::Service { service, operation, uses: *uses });
            let class = self.infos[*inst].entity();
            let target = self.value(r::OpKind::Unique { class });
            let last = place + 1 == targets.len();
            let args = values.iter().map(|value| match self.b.type_of(*value) {
                r::Type::Msg if !last => self.value(r::OpKind::Share { message: *value }),
                _ => *value,
            });
            let args = args.collect();
            self.op(r::OpKind::Emit { target, event, args });
        }
        if targets.is_empty() {
            for value in values {
                if self.b.type_of(value) == r::Type::Msg {
                    self.drop(value, "unexpected");
                }
            }
        }
    }

    /// `above.name(…)`, `below.name(…)`.
    pub fn custom(&mut self, name: &str, down: bool, args: Vec<r::Value>) {
        match (name, down) {
            ("opened", false) => return self.say_opened(),
            ("accepted", false) => return self.say_accepted(),
            _ => {}
        }
        let what = What::Custom { name: Rc::from(name), down };
        let inst = self.inst;
        let in_session = self.place.session.is_some() || self.place.lower.is_some();
        match down {
            true if in_session && self.inst(inst).uses.sessions => self.tell_lower_session(name, what, args),
            false if self.place.session.is_some() && self.inst(inst).used.sessions => self.event_up(name, what, args),
            true => {
                // To each of several layers: those below a router are alike to it.
                for below in self.inst(inst).lowers().to_vec() {
                    let mut all = args.clone();
                    if self.carries_flow(below) {
                        let bottom = self.bottom_at_hand();
                        let rest = if self.inst(inst).several.is_empty() { 0 } else { 1 };
                        all.extend(self.lift_to(below, bottom.get(rest..).unwrap_or_default(), false));
                    }
                    self.tell_entity(below, name, what.clone(), all);
                }
            }
            false => {
                let Some(user) = self.plan.flow_users(inst).first().copied() else { return };
                let mut all = args;
                let port = self.inst(user).layer().is_none() && !GRANTS.contains(&name);
                if port || self.carries_flow(user) {
                    let top = self.flow_at_hand();
                    all.extend(self.as_user_sees(user, &top));
                }
                self.tell_entity(user, name, what, all);
            }
        }
    }

    pub fn tell_entity(&mut self, inst: usize, event: &str, what: What, args: Vec<r::Value>) {
        let params = named(&args, self);
        self.event(inst, On::Entity, event, params, what);
        let class = self.infos[inst].entity();
        let target = self.value(r::OpKind::Unique { class });
        self.op(r::OpKind::Emit { target, event: event.to_owned(), args });
    }
}
