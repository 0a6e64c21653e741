//! Makes the handlers, one for each task. A handler requests the handlers that it emits to, starting from ports and
//! timers.

mod application;
mod around;
mod begins;
mod extras;
mod layer;
mod ports;
mod receive;
mod services;
mod spoken;

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::code::Writer;
use crate::plan::Kind;
use crate::stack::{Lowering, On, Purpose, Task};

impl<'p> Lowering<'p> {
    /// Requests start, timers and settling of all layers; everything else follows from the ports.
    pub fn roots(&mut self) {
        for inst in 0..self.plan.insts.len() {
            let Some(layer) = self.layer(inst) else { continue };
            let starts = layer.handlers.iter().position(|handler| matches!(handler.event, s::Event::Start));
            let late = self.infos[inst].late.iter().any(|(scope, _)| *scope == s::ScopeKind::Entity);
            if starts.is_some() || late || self.is_watched(inst) || self.infos[inst].view.is_some() {
                self.root(inst, On::Entity, r::Trigger::Start, starts.map(|at| at as u32));
            }
            for (at, handler) in layer.handlers.iter().enumerate() {
                self.root_handler(inst, at as u32, handler);
            }
            self.unheard_timers(inst, layer);
            let ending = self.infos[inst].session.as_ref().and_then(|cells| cells.ending);
            if ending.is_some_and(|ends| !ends.settles) {
                self.root(inst, On::Session, r::Trigger::Settle, None);
            }
        }
    }

    fn root(&mut self, inst: usize, on: On, trigger: r::Trigger, handler: Option<u32>) {
        self.need(Task { inst, on, trigger, params: Vec::new(), purpose: Purpose::Plain { handler }, later: 0 });
    }

    fn root_handler(&mut self, inst: usize, at: u32, handler: &'p s::Handler) {
        match &handler.event {
            s::Event::Expiry { timer } => {
                if let Some(cell) = self.cells(inst, timer).first().copied() {
                    self.root(inst, On::from(timer.scope), r::Trigger::Expiry(cell), Some(at));
                }
            }
            s::Event::Settle { limit } => {
                let on = On::from(handler.scope);
                let limit = self.settling(&self.inst(inst).env, limit);
                if let Some(class) = self.class_on(inst, on) {
                    self.a.classes[class.index()].settle_limit = Some(limit);
                }
                self.root(inst, on, r::Trigger::Settle, Some(at));
            }
            _ => {}
        }
    }

    /// A timer without a handler is only a flag for `running t`: its expiry does nothing.
    fn unheard_timers(&mut self, inst: usize, layer: &'p s::Layer) {
        let classes = layer.objects.iter().enumerate();
        let objects = classes.map(|(at, class)| (s::ScopeKind::Object(s::ObjectId(at as u32)), &class.members));
        let scopes = layer.scopes.iter().filter(|scope| !matches!(scope.kind, s::ScopeKind::Object(_)));
        for (scope, members) in scopes.map(|scope| (scope.kind, &scope.members)).chain(objects) {
            for (at, _) in members.iter().enumerate().filter(|(_, member)| matches!(member.kind, s::MemberKind::Timer))
            {
                let cells = self.infos[inst].members.get(&(scope, at as u32));
                let Some(cell) = cells.and_then(|cells| cells.first().copied()) else { continue };
                // The handler of a timer that has one was requested before, and is made once.
                self.root(inst, On::from(scope), r::Trigger::Expiry(cell), None);
            }
        }
    }

    /// Makes handlers until none is requested.
    pub fn make_all(&mut self) {
        while let Some(task) = self.next_task() {
            if let Some(class) = self.class_on(task.inst, task.on) {
                self.make(task, class);
            }
        }
    }

    fn make(&mut self, task: Task, class: r::ClassId) {
        let object = match task.on {
            On::Entity => "e",
            On::Point => "p",
            On::View => "v",
            On::Session => "s",
            On::Lower => "b",
            On::Object(_) => "o",
        };
        let params = [vec![(object.to_owned(), r::Type::Ref(class))], task.params.clone()].concat();
        let source = self.source_of(&task);
        let body = self.body_of(&task, class, &params, source);
        let Task { trigger, params, later: later_capacity, .. } = task;
        self.a.handlers.push(r::Handler { class, trigger, params, body, later_capacity, source });
    }

    fn body_of(
        &mut self,
        task: &Task,
        class: r::ClassId,
        params: &[(String, r::Type)],
        source: Option<r::SourceId>,
    ) -> r::Body {
        let mut w = Writer::new(self, &around::Shapes, task.inst, params);
        let own = w.params()[0];
        w.runs.object = Some(own);
        match task.on {
            On::Session => w.runs.session = Some(own),
            On::Point => w.runs.point = Some(own),
            On::Lower => w.runs.lower = Some(own),
            On::Object(id) => {
                w.runs.keyed = Some((id, own));
                let parent = w.a.class(class).parent;
                if parent.is_some() && parent == w.info().classes.session {
                    w.runs.session = Some(w.value(r::OpKind::Parent { object: own }));
                }
            }
            On::Entity | On::View => {}
        }
        let session = w.runs.session;
        w.source(source);
        match w.inst(task.inst).kind {
            Kind::Device(_) => w.make_device(task),
            Kind::Application => w.make_application(task),
            Kind::Layer(_) => w.make_layer(task),
        }
        w.tell_changes(session, class, task);
        w.finish()
    }

    fn source_of(&mut self, task: &Task) -> Option<r::SourceId> {
        // The listeners of a layer have its name.
        let own = !matches!(task.purpose, Purpose::Register(..));
        // Which of several handlers runs is seen within: what comes before belongs to none of them.
        let layer = self.layer(task.inst).map_or(&[][..], |layer| &layer.handlers);
        let is_one = layer.iter().filter(|handler| task.purpose.stands_for(&handler.event)).count() <= 1;
        match self.handler_of(task).filter(|_| own && is_one) {
            Some(handler) => self.place(handler.span),
            None => self.layer(task.inst).and_then(|layer| self.place(layer.name.span)),
        }
    }
}
