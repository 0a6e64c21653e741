//! Services, and own events of layers: to servers and users, and to the neighbours above or below.

use std::rc::Rc;

use mokume_reaction as r;
use mokume_semantics::program as s;
use mokume_semantics::suggest;

use crate::code::Writer;
use crate::shape::Beginning;
use crate::stack::{Lowering, Purpose, GRANTS};

/// A receiver of a service's operation: a server, or a user with the index among its `uses`.
type Target = (usize, Option<u32>);

impl<'p> Lowering<'p> {
    fn users_of(&self, server: usize, service: s::ServiceId) -> Vec<Target> {
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
}

impl<'p> Writer<'_, 'p> {
    pub(super) fn service(
        &mut self,
        (service, operation): (s::ServiceId, u32),
        uses: Option<u32>,
        args: &'p [s::Expr],
        stmt: &'p s::Stmt,
    ) {
        let values = self.at_border(args);
        let Some(targets) = self.service_targets((service, operation), uses, stmt) else { return };
        let definition = &self.program.services[service.index()];
        let name = format!("{}_{}", definition.name.text, definition.operations[operation as usize].name.text);
        let params = self.named(&values);
        for (place, (inst, uses)) in targets.iter().enumerate() {
            let event = match uses {
                Some(uses) => format!("{name}_{uses}"),
                None => name.clone(),
            };
            let last = place + 1 == targets.len();
            let args = values.iter().map(|value| match self.b.type_of(*value) {
                r::Type::Msg if !last => self.value(r::OpKind::Share { message: *value }),
                _ => *value,
            });
            let args = args.collect();
            let purpose = Purpose::Service { service, operation, uses: *uses };
            self.tell_entity_of(*inst, (&event, params.clone()), purpose, args);
        }
        if targets.is_empty() {
            self.drop_all(&values, "unexpected");
        }
    }

    /// The receivers that have a handler; empty if there is no server.
    fn service_targets(
        &mut self,
        (service, operation): (s::ServiceId, u32),
        uses: Option<u32>,
        stmt: &s::Stmt,
    ) -> Option<Vec<Target>> {
        let mut targets = match uses {
            Some(uses) => match self.inst(self.inst).servers.get(uses as usize).copied().flatten() {
                Some(server) => vec![(server, None)],
                None => {
                    self.error("M0726", "nobody serves this here", Some(stmt.span), "name a layer that does: `with …`");
                    return None;
                }
            },
            None => self.users_of(self.inst, service),
        };
        targets.retain(|(inst, uses)| self.service_handler(*inst, service, operation, *uses).is_some());
        Some(targets)
    }

    /// `above.name(…)`, `below.name(…)`.
    pub(super) fn custom(&mut self, name: &str, down: bool, args: Vec<r::Value>) {
        if matches!((name, down), ("opened" | "accepted", false)) {
            self.has_session(&format!("`{name}` tells nobody"));
        }
        match (name, down) {
            ("opened", false) => return self.tell_once(Beginning::Opened),
            ("accepted", false) => return self.tell_once(Beginning::Accepted),
            _ => {}
        }
        let purpose = Purpose::Custom { name: Rc::from(name), down };
        let at = self.inst(self.inst);
        if self.is_optional(name) && !self.is_heard(self.inst, name, down) {
            return self.drop_all(&args, "unexpected");
        }
        if self.lowering.is_of_all(name) {
            return self.custom_of_all(name, down, &args);
        }
        let in_session = self.runs.session.is_some() || self.runs.lower.is_some();
        match down {
            true if in_session && at.uses.sessions => self.event_down(name, purpose, args),
            false if self.runs.session.is_some() && at.used.sessions => self.event_up(name, purpose, args),
            true => self.custom_down(name, &purpose, &args),
            false => self.custom_up(name, purpose, args),
        }
    }

    /// Emits to the entities of all layers on that side, the nearest first.
    fn custom_of_all(&mut self, name: &str, down: bool, args: &[r::Value]) {
        let at = self.inst(self.inst);
        let there = if down { at.lowers().to_vec() } else { at.users.clone() };
        for other in there {
            if self.is_optional(name) && !self.is_heard_at(other, name, down) {
                continue;
            }
            let purpose = Purpose::Custom { name: Rc::from(name), down };
            self.tell_entity(other, name, purpose, args.to_vec());
        }
    }

    /// Emits to each of several layers: a router treats those below it alike.
    fn custom_down(&mut self, name: &str, purpose: &Purpose, args: &[r::Value]) {
        let at = self.inst(self.inst);
        for below in at.lowers() {
            if self.is_optional(name) && !self.is_heard_at(*below, name, true) {
                continue;
            }
            let mut all = args.to_vec();
            if self.carries_flow(*below) {
                if self.is_for_no_session() {
                    return self.reaches_no_session(name, "down");
                }
                if self.comes_with_flow(*below, name) {
                    self.tells_to_whom(name);
                    let bottom = self.bottom_at_hand();
                    let rest = if at.several.is_empty() { 0 } else { 1 };
                    all.extend(self.lift_to(*below, bottom.get(rest..).unwrap_or_default(), false));
                }
            }
            self.tell_entity(*below, name, purpose.clone(), all);
        }
    }

    fn custom_up(&mut self, name: &str, purpose: Purpose, mut args: Vec<r::Value>) {
        let Some(user) = self.plan.flow_users(self.inst).first().copied() else {
            if !self.plan.session_users(self.inst).is_empty() {
                self.reaches_no_session(name, "up");
            }
            return self.drop_all(&args, "unexpected");
        };
        let port = self.layer(user).is_none() && !GRANTS.contains(&name);
        if port || self.comes_with_flow(user, name) {
            let top = self.flow_at_hand();
            args.extend(self.as_user_sees(user, &top));
        }
        self.tell_entity(user, name, purpose, args);
    }

    /// Whether it is unknown for which session below an event is.
    fn is_for_no_session(&self) -> bool {
        let at = self.inst(self.inst);
        let has_flow = self.runs.flow.is_some() || self.runs.bottom.is_some() || self.runs.session.is_some();
        at.uses.sessions && !has_flow && !at.bottom.is_empty()
    }

    /// Reports an event for sessions in code that runs for the entity.
    fn reaches_no_session(&mut self, name: &str, way: &str) {
        let text = format!("`{name}` goes {way} to a session, and none is at hand: this runs for the entity");
        let help = "say it in a handler of a session: of `send`, `deliver`, `opened`, or of a timer that is declared in `session { … }`";
        let place = self.at.or(self.inst(self.inst).span);
        self.error("M0725", text, place, help);
    }

    /// Reports an event that ends at the multiplexor which the compiler puts between flow traffic and sessions, though a layer beyond it
    /// handles the event.
    pub(super) fn ends_at_sessions(&mut self, name: &str, down: bool) -> bool {
        if self.layer(self.inst).is_none_or(|layer| layer.shape != s::Shape::Multiplexor || layer.key.is_some()) {
            return false;
        }
        let beyond = |at: usize| if down { self.inst(at).lowers() } else { &self.inst(at).users };
        let mut open: Vec<usize> = beyond(self.inst).to_vec();
        while let Some(at) = open.pop() {
            let origin = if down { s::Origin::Above } else { s::Origin::Below };
            let hears = |handler: &s::Handler| matches!(&handler.event, s::Event::Custom { name: known, from, .. } if known.text == name && *from == origin);
            let Some(layer) = self.layer(at) else { continue };
            if layer.handlers.iter().any(hears) {
                let way = if down { "of a session below it" } else { "below the sessions" };
                let text = format!(
                    "`{name}` does not come to `{}`: {way} there is flow traffic, and the event is of none",
                    layer.name.text
                );
                let help = format!("say in its vocabulary that it is for all layers, whatever their shape: `all {name}(…)`; or put a multiplexor below both, whose sessions both have");
                let (place, is_optional) = (self.inst(at).span, self.is_optional(name));
                match is_optional {
                    true => self.warn("M0726", &text, place, &help),
                    false => self.error("M0726", text, place, &help),
                }
                return true;
            }
            open.extend(beyond(at));
        }
        false
    }

    /// An event that reaches an edge; an optional one ends there, others are reported.
    pub(super) fn nobody_handles(&mut self, name: &str) {
        if self.is_optional(name) {
            return;
        }
        let layer = self.layer(self.inst);
        let end = layer.map_or_else(|| "an application".to_string(), |layer| format!("`{}`", layer.name.text));
        let own = layer.iter().flat_map(|layer| &layer.handlers).filter_map(|handler| match &handler.event {
            s::Event::Custom { name, .. } => Some(name),
            _ => None,
        });
        let own: Vec<&s::Name> = own.collect();
        let near = suggest::nearest(name, own.iter().map(|own| own.text.as_str()));
        if let Some(slip) = own.iter().find(|own| Some(own.text.as_str()) == near) {
            let text = format!("nobody handles `{name}`, which comes to {end}: that has `on {}`", slip.text);
            return self.error("M0726", text, Some(slip.span), &format!("did you mean `on {name}`?"));
        }
        let help = format!("write `on {name}(…)` in a layer that it reaches, or say in its vocabulary that nobody need hear it: `may {name}(…)`; where it is for all layers, whatever their shape: `all {name}(…)`");
        self.error_here("M0726", format!("nobody handles `{name}`, which comes to {end}"), &help);
    }
}
