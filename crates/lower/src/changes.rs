//! `on change below.x`: who publishes a value that others wait for compares it, at the end of each of its instants, with
//! what they were last told, and tells them of another one (docs/language.md, section 15).
//!
//! A value is of the layer, or of its sessions; then each session keeps what it told, and the event climbs from session to
//! session. Keeps: the event stands behind the publisher's own emissions, and there is at most one for each value, object
//! and instant. A layer whose value is computed from one below hears of that one's changes, and then looks at its own.

use std::rc::Rc;

use mokume_base::{Code, Diagnostic, Span};
use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::fault::Fault;
use crate::frame::Writer;
use crate::lowering::{Lowering, On, What};
use crate::publish::Reading;

/// A value of an instance that others are told of.
#[derive(Clone, Debug)]
pub struct Watched {
    pub inst: usize,
    pub name: String,
    /// What was told last: in the entity, or in each session.
    cells: Vec<r::CellId>,
    of: Of,
    /// Instances above that are told by the entity; sessions tell those that are linked to them.
    who: Vec<usize>,
}

/// Whose value it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Of {
    Layer,
    /// Of a session, from its own state alone.
    Session,
    /// Of a session, from state that it shares: it may change in any instant of the layer.
    Sessions,
}

impl<'p> Lowering<'p> {
    /// Finds out who waits for what; before any handler is made.
    pub fn declare_changes(&mut self) {
        for inst in 0..self.plan.insts.len() {
            let Some(layer) = self.layer(inst) else { continue };
            for handler in &layer.handlers {
                let s::Event::Change { name } = &handler.event else { continue };
                for lower in self.inst(inst).lowers().to_vec() {
                    self.watch(lower, name, (inst, name.span), 0);
                }
            }
        }
    }

    fn watch(&mut self, from: usize, name: &s::Name, (who, waits): (usize, Span), depth: usize) {
        let name = name.text.as_str();
        for (inst, computed_from) in self.said_by(from, name) {
            let of = match self.reading(inst, name) {
                Reading::Entity => Of::Layer,
                _ if self.infos[inst].session.is_none() || !self.inst(who).uses.sessions => {
                    return self.no_session_changes(inst, name, (who, waits));
                }
                _ if self.is_shared(inst, name) => Of::Sessions,
                _ => Of::Session,
            };
            if of != Of::Layer {
                self.climb(inst, name, who);
            }
            self.watch_one((inst, of), computed_from, name, (who, waits), depth);
        }
    }

    fn no_session_changes(&mut self, inst: usize, name: &str, (who, place): (usize, Span)) {
        let (waits, says) = (self.inst(who), self.inst(inst));
        let text = format!("`{}` waits for `{name}` to change, which is a function of flows here", waits.name);
        let mut diagnostic = Diagnostic::error(Code("M0351"), text)
            .at(place, "waits for it here")
            .note(format!("`{}` publishes it, and has no session whose flow is pinned to tell", says.name))
            .help(format!("read `below.{name}` where it is needed"))
            .help("or wait for a value of the layer: `publish version: u32 = …`, counted up with each change");
        for (span, text) in [(waits.span, "it stands here"), (says.span, "publishes it of a flow")] {
            diagnostic = match span {
                Some(span) => diagnostic.label(span, text),
                None => diagnostic,
            };
        }
        self.diagnostics.push(diagnostic);
    }

    /// The sessions between who publishes and who waits hand the event on.
    fn climb(&mut self, from: usize, name: &str, who: usize) {
        let mut at = self.inst(who).below;
        while let Some(inst) = at.filter(|inst| *inst != from) {
            self.handed_on.insert((inst, name.to_owned()));
            at = self.inst(inst).below;
        }
    }

    /// Whether a session's value is made of more than its own state.
    fn is_shared(&self, inst: usize, name: &str) -> bool {
        let Some(layer) = self.layer(inst) else { return true };
        // Such a handler may run for all sessions in one instant.
        let mut shared = layer.handlers.iter().any(|handler| matches!(handler.event, s::Event::Change { .. }));
        let exprs = layer.publishes.iter().filter(|publish| publish.name.text == name).map(|publish| &publish.value);
        let limits = [&layer.limit_send, &layer.limit_octets].into_iter().flatten();
        for expr in exprs.chain(limits.filter(|_| crate::publish::CREDIT.contains(&name))) {
            mokume_semantics::visit::walk_expr(expr, &mut |part| match &part.kind {
                s::ExprKind::CallOwn { .. } | s::ExprKind::CallOn { .. } => shared = true,
                s::ExprKind::Below { name, .. } => {
                    let lowers = self.inst(inst).lowers().iter();
                    shared |= lowers.map(|lower| self.reading(*lower, &name.text)).any(|of| of == Reading::Entity);
                }
                _ => mokume_semantics::visit::expr_states(part, &mut |state| {
                    shared |= state.scope != s::ScopeKind::Session;
                }),
            });
        }
        shared
    }

    fn watch_one(
        &mut self,
        (inst, of): (usize, Of),
        computed_from: Vec<String>,
        name: &str,
        (who, waits): (usize, Span),
        depth: usize,
    ) {
        if let Some(known) = self.watched.iter_mut().find(|known| known.inst == inst && known.name == name) {
            if !known.who.contains(&who) {
                known.who.push(who);
            }
            return;
        }
        let Some(ty) = self.published_type(inst, name) else { return };
        let class = match (of, self.infos[inst].session) {
            (Of::Session | Of::Sessions, Some(session)) => session,
            _ => self.infos[inst].entity(),
        };
        let parts = self.flat(inst, ty);
        let cells = parts
            .into_iter()
            .map(|(rest, ty)| {
                let kind = r::CellKind::Scalar { ty, init: 0 };
                self.cell(class, &crate::declare::joined(&format!("told_{name}"), &rest), kind, false, None)
            })
            .collect();
        self.watched.push(Watched { inst, name: name.to_owned(), cells, of, who: vec![who] });
        // The plan is finite, and each step goes down.
        if depth > self.plan.insts.len() {
            return;
        }
        for lower in self.inst(inst).lowers().to_vec() {
            for name in &computed_from {
                let name = s::Name { text: name.clone(), span: waits };
                self.watch(lower, &name, (inst, waits), depth + 1);
            }
        }
    }

    /// Whether the end of an instant of an object of this instance looks at values.
    pub fn is_watched(&self, inst: usize) -> bool {
        self.watched.iter().any(|watched| watched.inst == inst)
    }

    fn change_handler(&self, inst: usize, name: &str) -> Option<&'p s::Handler> {
        self.handler_where(inst, |event| matches!(event, s::Event::Change { name: known } if known.text == name))
    }

    /// Whether a value is read of nobody below.
    fn is_own(&self, inst: usize, name: &str) -> bool {
        self.said_by(inst, name).iter().all(|(by, read)| *by == inst && read.is_empty())
    }
}

impl<'p> Writer<'_, 'p> {
    // -- telling

    /// At the end of an instant, of an object of that session if it is of one; at the start nobody is told.
    pub fn tell_changes(&mut self, session: Option<r::Value>, at_start: bool) {
        let own: Vec<Watched> = self.watched.iter().filter(|watched| watched.inst == self.inst).cloned().collect();
        for watched in own {
            if !self.live() {
                return;
            }
            match (watched.of, session) {
                (Of::Layer, _) => self.tell_of_layer(&watched, at_start),
                (Of::Session, Some(session)) => self.tell_of_session(&watched, session),
                (Of::Sessions, _) if !at_start => {
                    let Some(class) = self.infos[self.inst].session else { continue };
                    self.each_session(class, |this, session| this.tell_of_session(&watched, session));
                }
                _ => {}
            }
        }
    }

    fn tell_of_layer(&mut self, watched: &Watched, at_start: bool) {
        let entity = self.entity();
        let now = self.call_published(self.inst, &watched.name, Reading::Entity, vec![entity]);
        if at_start {
            return self.set_cells(entity, &watched.cells, now);
        }
        self.tell_if_other((entity, &watched.cells), now, |this| {
            watched.who.iter().for_each(|inst| this.tell_above(*inst, &watched.name));
        });
    }

    fn tell_above(&mut self, inst: usize, name: &str) {
        let event = format!("change_{name}");
        self.event(inst, On::Entity, &event, Vec::new(), What::Changed { name: Rc::from(name) });
        let class = self.infos[inst].entity();
        let target = self.value(r::OpKind::Unique { class });
        self.op(r::OpKind::Emit { target, event, args: Vec::new() });
    }

    /// Of one session; of one that is still opening nothing below can be asked.
    fn tell_of_session(&mut self, watched: &Watched, session: r::Value) {
        let outer = self.place.clone();
        self.place.session = Some(session);
        self.place.unsure_up = true;
        let asks = self.infos[self.inst].below.filter(|_| !self.is_own(self.inst, &watched.name));
        let exits = asks.map(|cell| {
            let below = self.value(r::OpKind::Get { object: session, cell });
            let class = self.class_of(below);
            let null = self.value(r::OpKind::Null { class });
            let there = self.value(r::OpKind::Compare { op: r::Compare::Ne, a: below, b: null });
            let (yes, no) = self.branch(there, None, "open", "opening");
            self.select(no);
            let exit = self.exit(Vec::new());
            self.select(yes);
            exit
        });
        let now = self.call_published(self.inst, &watched.name, Reading::Session, vec![session]);
        let name: Rc<str> = Rc::from(watched.name.as_str());
        self.tell_if_other((session, &watched.cells), now, |this| {
            this.hand_change_on(&name);
        });
        if let Some(opening) = exits {
            let exits = opening.into_iter().chain(self.exit(Vec::new())).collect();
            self.join("asked", exits);
        }
        self.place = outer;
    }

    fn hand_change_on(&mut self, name: &Rc<str>) {
        let what = What::Changed { name: name.clone() };
        self.event_up(&format!("change_{name}"), what, Vec::new());
    }

    fn tell_if_other(
        &mut self,
        (object, cells): (r::Value, &[r::CellId]),
        now: Vec<r::Value>,
        tell: impl FnOnce(&mut Self),
    ) {
        let mut other: Option<r::Value> = None;
        for (cell, now) in cells.iter().zip(&now) {
            let told = self.value(r::OpKind::Get { object, cell: *cell });
            let differs = self.value(r::OpKind::Compare { op: r::Compare::Ne, a: told, b: *now });
            other = Some(match other {
                None => differs,
                Some(before) => self.value(r::OpKind::Binary { op: r::Binary::Or, a: before, b: differs }),
            });
        }
        let Some(other) = other else { return };
        let (yes, no) = self.branch(other, Some(0.05), "changed", "same");
        self.select(yes);
        if !self.faulty(Fault::ChangeToldAgain) {
            self.set_cells(object, cells, now);
        }
        tell(self);
        let mut exits: Vec<_> = self.exit(Vec::new()).into_iter().collect();
        self.select(no);
        exits.extend(self.exit(Vec::new()));
        self.join("told", exits);
    }

    /// A session has begun, or has been linked to the one below: what those above find is as if it had been told.
    pub fn nothing_to_tell(&mut self, session: r::Value, linked: bool) {
        let of_sessions = |watched: &&Watched| watched.inst == self.inst && watched.of != Of::Layer;
        let own: Vec<Watched> = self.watched.iter().filter(of_sessions).cloned().collect();
        for watched in own {
            if linked || self.is_own(self.inst, &watched.name) || self.infos[self.inst].below.is_none() {
                let now = self.call_published(self.inst, &watched.name, Reading::Session, vec![session]);
                self.set_cells(session, &watched.cells, now);
            }
        }
    }

    // -- hearing

    /// `change_x` from below: the own handler, and on to those above who wait for it.
    pub fn make_changed(&mut self, on: On, name: &Rc<str>) {
        if let Some(handler) = self.change_handler(self.inst, name) {
            self.run_changed(handler);
        }
        if !self.live() || !self.handed_on.contains(&(self.inst, name.to_string())) {
            return;
        }
        match on {
            On::Session => {
                self.place.unsure_up = true;
                self.hand_change_on(name);
            }
            On::Lower => {
                let lower = self.params()[0];
                self.for_sharers(lower, &format!("change_{name}"), What::Changed { name: name.clone() });
            }
            _ => {}
        }
    }

    /// Code of sessions runs for each of them where the value is of the layer below as a whole.
    fn run_changed(&mut self, handler: &'p s::Handler) {
        let info = self.info();
        let class = match handler.scope {
            _ if self.fits(handler) => None,
            s::ScopeKind::SessionBelow => info.lower,
            _ => info.session,
        };
        let Some(class) = class else { return self.run(handler, Vec::new()) };
        self.each_session(class, |this, object| {
            let outer = this.place.clone();
            match info.session == Some(class) {
                true => this.place.session = Some(object),
                false => this.place.lower = Some(object),
            }
            (this.place.unsure_up, this.place.unsure_down) = (true, true);
            this.run(handler, Vec::new());
            this.place = outer;
        });
    }
}
