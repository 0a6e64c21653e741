//! `on change below.x`: at the end of each of its instants, the publisher compares the value with what it last told,
//! and tells the waiting layers if it differs (docs/language.md, section 15).
//!
//! The value belongs to the layer or to its sessions; in the second case each session remembers what it told, and the
//! event climbs from session to session. Keeps: the event comes after the publisher's own emissions, and there is at
//! most one for each value, object and instant. A layer whose value depends on one below gets that one's changes, and
//! then compares its own.

use std::rc::Rc;

use mokume_analyse::State;
use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::code::{Exits, Writer};
use crate::fault::Fault;
use crate::stack::{Of, On, Purpose, Reading, Task, Watched};

impl<'p> Writer<'_, 'p> {
    // -- telling

    fn watched_here(&self) -> Vec<Watched> {
        self.watched.iter().filter(|watched| watched.inst == self.inst).cloned().collect()
    }

    /// Tells changes at the end of an instant of an object, of the given session if it has one; at the start nothing is
    /// told. A handler that changes nothing of what a value is made of does not ask: whoever changed it told.
    pub fn tell_changes(&mut self, session: Option<r::Value>, class: r::ClassId, task: &Task) {
        let at_start = task.trigger == r::Trigger::Start;
        let watched = self.watched_here();
        if watched.is_empty() {
            return;
        }
        let mut changed = State::written(&self.a, self.b.body());
        if let r::Trigger::Expiry(timer) = &task.trigger {
            changed.add(&self.a, class, *timer);
        }
        for watched in watched {
            if !at_start && !self.may_change(&watched, &task.purpose, &changed) {
                continue;
            }
            match (watched.of, session) {
                (Of::Layer, _) => self.tell_of_layer(&watched, at_start),
                (Of::Session, Some(session)) => self.tell_of_session(&watched, session),
                (Of::Sessions, _) if !at_start => {
                    let Some(class) = self.info().classes.session else { continue };
                    self.each_of(class, |w, session| w.tell_of_session(&watched, session));
                }
                (Of::Session | Of::Sessions, _) => {}
            }
        }
    }

    /// Whether a value is made of something that was changed: state of this layer, or the value below of which it hears
    /// now. What changes below is told by those there.
    fn may_change(&mut self, watched: &Watched, purpose: &Purpose, changed: &State) -> bool {
        let reading = match watched.of {
            Of::Layer => Reading::Entity,
            Of::Session | Of::Sessions => Reading::Session,
        };
        if watched.hidden || matches!(purpose, Purpose::Changed { name } if watched.computed_from.contains(&**name)) {
            return true;
        }
        let Some(function) = self.published(self.inst, &watched.name, reading) else { return true };
        State::read(&self.a, &self.a.functions[function.index()].body).meets(changed)
    }

    fn tell_of_layer(&mut self, watched: &Watched, at_start: bool) {
        let entity = self.entity();
        let now = self.call_published(self.inst, &watched.name, Reading::Entity, vec![entity]);
        if at_start {
            return self.set_cells(entity, &watched.cells, now);
        }
        self.tell_if_other((entity, &watched.cells), now, |w| {
            let (name, event) = (Rc::from(watched.name.as_str()), format!("change_{}", watched.name));
            for inst in &watched.who {
                w.tell_entity(*inst, &event, Purpose::Changed { name: Rc::clone(&name) }, Vec::new());
            }
        });
    }

    /// Tells a session's changes; below one that is still opening, nothing can be read.
    fn tell_of_session(&mut self, watched: &Watched, session: r::Value) {
        let outer = self.runs.clone();
        self.runs.session = Some(session);
        let mut exits = Exits::default();
        if let Some(cell) = self.info().below().filter(|_| !self.is_own(self.inst, &watched.name)) {
            let below = self.get(session, cell);
            let there = self.is_there(below);
            self.only(&mut exits, there);
        }
        let now = self.call_published(self.inst, &watched.name, Reading::Session, vec![session]);
        self.tell_if_other((session, &watched.cells), now, |w| w.hand_change_on(&watched.name));
        self.exit(&mut exits, Vec::new());
        self.meet(exits);
        self.runs = outer;
    }

    fn hand_change_on(&mut self, name: &str) {
        self.event_up(&format!("change_{name}"), Purpose::Changed { name: name.into() }, Vec::new());
    }

    fn tell_if_other(
        &mut self,
        (object, cells): (r::Value, &[r::CellId]),
        now: Vec<r::Value>,
        tell: impl FnOnce(&mut Self),
    ) {
        let mut other: Option<r::Value> = None;
        for (cell, now) in cells.iter().zip(&now) {
            let told = self.get(object, *cell);
            let differs = self.compare(r::Compare::Ne, told, *now);
            other = self.and(other, r::Binary::Or, differs);
        }
        let Some(other) = other else { return };
        let fork = self.fork_likely(other, Some(0.05));
        let changed = |w: &mut Self, _: &[r::Value]| {
            if !w.faulty(Fault::ChangeToldAgain) {
                w.set_cells(object, cells, now);
            }
            tell(w);
        };
        self.ways(fork, changed, |_, _| {});
    }

    /// A session has begun, or was linked to the one below: the present values count as told.
    pub fn nothing_to_tell(&mut self, session: r::Value, linked: bool) {
        for watched in self.watched_here().into_iter().filter(|watched| watched.of != Of::Layer) {
            if linked || self.is_own(self.inst, &watched.name) || self.info().below().is_none() {
                let now = self.call_published(self.inst, &watched.name, Reading::Session, vec![session]);
                self.set_cells(session, &watched.cells, now);
            }
        }
    }

    // -- receiving

    /// `change_x` from below: runs the own handler, and passes it on to those above that wait for it.
    pub fn make_changed(&mut self, on: On, name: &Rc<str>) {
        if let Some(handler) = self.change_handler(self.inst, name) {
            self.run_changed(handler);
        }
        if !self.handed_on.contains(&(self.inst, name.to_string())) {
            return;
        }
        match on {
            On::Session => self.hand_change_on(name),
            On::Lower => {
                let lower = self.params()[0];
                self.for_sharers(lower, &format!("change_{name}"), Purpose::Changed { name: name.clone() });
            }
            On::Entity | On::View | On::Point | On::Object(_) => {}
        }
    }

    /// Code of sessions runs for each session if the value belongs to the layer below as a whole.
    fn run_changed(&mut self, handler: &'p s::Handler) {
        let classes = self.info().classes;
        let class = match handler.scope {
            _ if self.fits(handler) => None,
            s::ScopeKind::SessionBelow => classes.lower,
            _ => classes.session,
        };
        let Some(class) = class else { return self.run(handler, Vec::new()) };
        self.each_of(class, |w, object| {
            match classes.session == Some(class) {
                true => w.runs.session = Some(object),
                false => w.runs.lower = Some(object),
            }
            w.run(handler, Vec::new());
        });
    }
}
