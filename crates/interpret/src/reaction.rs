//! A reaction: an instant and all that follows from it, settling, and the end of objects (docs/semantics.md, O, S and
//! L).

use mokume_reaction::{CellId, ClassId, Datum, HandlerId, Output, PortId, Report, Type};

use crate::core::{Core, Destination};
use crate::program::{Program, NOBODY};
use crate::record::{lock, Cause, Emission, Instant, Recipient};
use crate::store::{handle, place_of, Content, Life, NULL};

impl Core {
    /// Runs an event of one object, carries out what it emits, and everything that follows.
    pub fn react(&mut self, program: &Program, handler: u32, object: u64, args: &[u64], cause: Cause) {
        self.totals.begin();
        let taken = match cause {
            // Objects still to settle do so once, after this; a path would settle them before, too.
            Cause::Input(_) | Cause::Expiry if self.unsettled.is_empty() => Some(&program.taken),
            // The arguments may have headers and attributes.
            Cause::Later => Some(&program.taken_inside),
            _ => None,
        };
        if !taken.is_some_and(|taken| self.takes_path(program, taken, handler, object, args)) {
            self.instant(program, handler, object, args, cause);
        }
        self.carry_out(program);
        self.end_reaction(program);
    }

    /// Whether a path of the handler was taken; its emissions are then still to be carried out.
    fn takes_path(&mut self, program: &Program, taken: &[Vec<u32>], handler: u32, object: u64, args: &[u64]) -> bool {
        let Some(paths) = taken.get(handler as usize).filter(|paths| !paths.is_empty()) else { return false };
        let class = program.automaton.handlers[handler as usize].class;
        if !self.store.is_living(class, object) {
            return false;
        }
        let first = self.events.len();
        let Some(path) = paths.iter().find(|path| self.run_path(program, **path, object, args)) else { return false };
        if let Some(taken) = lock(&self.paths_taken).get_mut(*path as usize) {
            *taken += 1;
        }
        self.issue(program, first);
        true
    }

    /// The reaction of a continuation, which only settles.
    pub fn continue_settling(&mut self, program: &Program) {
        self.totals.begin();
        for (class, object) in std::mem::take(&mut self.unsettled) {
            if let Some(found) = self.store.get_mut(class, object) {
                found.dirty = None;
            }
            self.make_dirty(class, object);
        }
        self.end_reaction(program);
    }

    /// Runs the handler of a living object. Its emissions enter their channels' queues afterwards.
    fn instant(&mut self, program: &Program, handler: u32, object: u64, args: &[u64], cause: Cause) {
        let definition = program.automaton.handlers.get(handler as usize);
        let Some(class) = definition.map(|handler| handler.class).filter(|class| self.store.is_living(*class, object))
        else {
            return self.discard(program, handler, args);
        };
        if program.classes[class.index()].settle != NOBODY && self.settling.is_none() {
            self.make_dirty(class, object);
        }
        let first = self.events.len();
        self.observe_handler(HandlerId(handler), object, cause, program);
        self.run_handler(program, HandlerId(handler), object, args);
        self.issue(program, first);
        self.record_instant(first, HandlerId(handler), object, cause);
    }

    /// Puts emissions into their channels' queues.
    fn issue(&mut self, program: &Program, first: usize) {
        for place in first..self.events.len() {
            let channel = self.events[place].channel as usize;
            if program.queued[channel] {
                self.queues[channel].push_back(place as u32);
            }
        }
        if self.events.len() > first {
            self.frames.push((first as u32, self.events.len() as u32));
        }
    }

    /// Carries out emissions in order, each with all that follows from it, but never before an older one of its
    /// channel.
    fn carry_out(&mut self, program: &Program) {
        while let Some(frame) = self.frames.last_mut() {
            if frame.0 == frame.1 {
                self.frames.pop();
                continue;
            }
            if self.events[frame.0 as usize].delivered {
                frame.0 += 1;
                continue;
            }
            let wanted = frame.0;
            let channel = self.events[wanted as usize].channel as usize;
            // An undelivered event of a queued channel is in the queue: the head is this event, or an older one.
            let head =
                if program.queued[channel] { self.queues[channel].pop_front().unwrap_or(wanted) } else { wanted };
            self.deliver(program, head as usize);
        }
    }

    fn deliver(&mut self, program: &Program, place: usize) {
        let event = &mut self.events[place];
        event.delivered = true;
        let (to, range) = (event.to, event.args.clone());
        match to {
            Destination::Call { handler, target } => self.hand_over(program, place, handler, target),
            Destination::Linked { handler, object, class, cell } => {
                let target = match self.store.cell(class, object, cell) {
                    Some(Content::Word(target)) => *target,
                    _ => NULL,
                };
                self.note_target(place, target);
                self.hand_over(program, place, handler, target);
            }
            Destination::Out { port, event } => {
                self.note_output(place);
                self.put_out(program, PortId(port), event, range);
            }
        }
    }

    fn hand_over(&mut self, program: &Program, place: usize, handler: u32, target: u64) {
        let args = self.args[self.events[place].args.clone()].to_vec();
        let cause = self.cause_of(place);
        self.note_gone(program, place, handler, target);
        if !self.takes_path(program, &program.taken_inside, handler, target, &args) {
            self.instant(program, handler, target, &args, cause);
        }
    }

    fn put_out(&mut self, program: &Program, port: PortId, event: u32, range: std::ops::Range<usize>) {
        let signature = &program.automaton.ports[port.index()].outputs[event as usize];
        let mut args = Vec::with_capacity(range.len());
        for (place, (_, ty)) in range.zip(&signature.params) {
            let word = self.args[place];
            args.push(match ty {
                Type::Msg => {
                    self.totals.delivered += 1;
                    Datum::Message(self.messages.take(word).octets)
                }
                Type::Ref(_) => Datum::Handle(handle(word)),
                _ => Datum::Word(word),
            });
        }
        self.outputs.push(Output { port, event, args });
        self.put_out += 1;
    }

    fn end_reaction(&mut self, program: &Program) {
        while let Some(dirty) = self.dirty.pop_front() {
            let is_dirty = self
                .store
                .get(dirty.class, dirty.object)
                .is_some_and(|found| found.life == Life::Living && found.dirty == Some(dirty.since));
            if is_dirty {
                self.settle(program, dirty.class, dirty.object);
            }
        }
        for (class, object) in std::mem::take(&mut self.settled) {
            if let Some(found) = self.store.get_mut(class, object) {
                found.settles = 0;
            }
        }
        self.put_out = 0;
        self.free_ended(program);
        self.observe_gone(program);
        self.events.clear();
        self.args.clear();
        self.dirty_serial = 0;
        self.reactions += 1;
        if self.unsettled.is_empty() {
            self.ways().into_iter().for_each(crate::record::Ways::end);
        }
    }

    /// Settles an object as often as it asks for, within its limit and the reaction's limit of outputs; beyond these it
    /// stays dirty for a continuation.
    fn settle(&mut self, program: &Program, class: ClassId, object: u64) {
        let info = &program.classes[class.index()];
        loop {
            let Some(found) = self.store.get_mut(class, object).filter(|found| found.life == Life::Living) else {
                return;
            };
            let quota = program.automaton.outputs;
            if found.settles >= info.limit || (quota > 0 && self.put_out >= quota) {
                // It stays dirty, so nothing puts it into the queue again.
                found.dirty = Some(u64::MAX);
                return self.unsettled.push((class, object));
            }
            found.settles += 1;
            found.dirty = None;
            if found.settles == 1 {
                self.settled.push((class, object));
            }
            self.settling = Some((class, object));
            self.again = false;
            self.instant(program, info.settle, object, &[], Cause::Settle);
            self.settling = None;
            let again = std::mem::take(&mut self.again);
            self.carry_out(program);
            if !again {
                return;
            }
        }
    }

    /// Ends an object and its children: timers stop, held messages are dropped as gone; freed after the reaction.
    pub fn release(&mut self, program: &Program, class: ClassId, object: u64) {
        if !self.store.is_living(class, object) || program.classes[class.index()].unique {
            return;
        }
        let mut ending = vec![(class, object)];
        while let Some((class, object)) = ending.pop() {
            if let Some(found) = self.store.get_mut(class, object) {
                found.life = Life::Ended;
            }
            self.ended.push((class, place_of(object)));
            self.clear(program, class, object);
            for child in &program.classes[class.index()].children {
                let mut inner = self.store.oldest(*child, place_of(object));
                while inner != crate::store::NULL {
                    ending.push((*child, inner));
                    inner = self.store.younger(*child, inner);
                }
            }
        }
    }

    fn clear(&mut self, program: &Program, class: ClassId, object: u64) {
        for (place, cell) in program.automaton.class(class).cells.iter().enumerate() {
            match &cell.kind {
                mokume_reaction::CellKind::Timer => self.stop(program, class, object, place),
                mokume_reaction::CellKind::Messages { quota, .. } => {
                    let found = self.store.cell_mut(class, object, CellId::from(place));
                    let Some(Content::Messages(places)) = found else { continue };
                    let held = places.iter_mut().filter_map(Option::take).count();
                    self.totals.held -= held as u64;
                    self.totals.gone += held as u64;
                    self.totals.used_up += held as u64;
                    if let Some((owner, quota)) = quota {
                        self.give_back(program, class, object, (*owner, *quota), held as u32);
                    }
                }
                _ => {}
            }
        }
    }

    fn stop(&mut self, program: &Program, class: ClassId, object: u64, cell: usize) {
        let declaration = program.classes[class.index()].declaration[cell];
        let Some(found) = self.store.get_mut(class, object) else { return };
        let age = found.age;
        let Content::Timer(armed) = &mut found.cells[cell] else { return };
        if let Some(deadline) = armed.take() {
            self.store.timers.remove(&crate::store::Armed { deadline, declaration, age, place: place_of(object) });
        }
    }

    /// Gives units back to a quota of this class or of an enclosing scope.
    fn give_back(&mut self, program: &Program, class: ClassId, object: u64, quota: (ClassId, CellId), units: u32) {
        let (mut class, mut object) = (class, object);
        while class != quota.0 {
            let parent = self.store.get(class, object).map(|found| found.parent);
            let (Some(up), Some(place)) = (program.automaton.class(class).parent, parent) else { return };
            (class, object) = (up, self.store.object_in(up, place));
        }
        if let Some(Content::Quota { left, amount }) = self.store.cell_mut(class, object, quota.1) {
            *left = (*left + units).min(*amount);
        }
    }

    /// Ends and frees what was put into an object after it had ended.
    fn free_ended(&mut self, program: &Program) {
        for (class, place) in std::mem::take(&mut self.ended) {
            let object = self.store.object_in(class, place);
            self.clear(program, class, object);
            // The object should have left the maps that find it by its cells: in C they hold its place, which another
            // object gets.
            if self.is_found_by(program, class, object, |_| true) {
                self.report(Report::Misuse, None);
            }
            if let Some(found) = self.store.get(class, object) {
                for (cell, content) in found.cells.iter().enumerate() {
                    if let Content::Counter(total) = content {
                        let retired = &mut self.totals.retired[class.index()][cell];
                        *retired = retired.wrapping_add(*total);
                    }
                }
            }
            self.store.free(class, place);
        }
    }

    /// Takes the first timer due at or before `now`; its cell is then idle.
    pub fn take_timer(&mut self, program: &Program, now: u64) -> Option<(u64, u32, u64)> {
        let armed = *self.store.timers.first().filter(|armed| armed.deadline <= now)?;
        self.store.timers.remove(&armed);
        let (class, cell) = program.timers[armed.declaration as usize];
        let object = self.store.object_in(class, armed.place);
        if let Some(Content::Timer(deadline)) = self.store.cell_mut(class, object, cell) {
            *deadline = None;
        }
        Some((armed.deadline, program.classes[class.index()].expiry[cell.index()], object))
    }

    fn cause_of(&self, place: usize) -> Cause {
        self.events[place].cause.map_or(Cause::Start, |(instant, emission)| Cause::Emission(instant, emission))
    }

    /// Records the receiver of an emission, now that it is known.
    fn note_target(&mut self, place: usize, target: u64) {
        let Some((instant, emission)) = self.events[place].cause else { return };
        let Some(instants) = self.recording.as_mut().and_then(|recording| recording.instants.as_mut()) else { return };
        if let Recipient::Object { object, .. } = &mut instants[instant].emissions[emission].to {
            *object = handle(target);
        }
    }

    /// Records which instant an output is of.
    fn note_output(&mut self, place: usize) {
        let Some((instant, _)) = self.events[place].cause else { return };
        if let Some(recording) = &mut self.recording {
            recording.outputs.push(instant);
        }
    }

    fn note_gone(&mut self, program: &Program, place: usize, handler: u32, target: u64) {
        let Some((instant, emission)) = self.events[place].cause else { return };
        let class = program.automaton.handlers.get(handler as usize).map(|handler| handler.class);
        let gone = !class.is_some_and(|class| self.store.is_living(class, target));
        if let Some(instants) = self.recording.as_mut().and_then(|recording| recording.instants.as_mut()) {
            instants[instant].emissions[emission].gone = gone;
        }
    }

    fn record_instant(&mut self, first: usize, handler: HandlerId, object: u64, cause: Cause) {
        let Some(instants) = self.recording.as_mut().and_then(|recording| recording.instants.as_mut()) else { return };
        let place = instants.len();
        let emission = |(number, event): (usize, &mut crate::core::Event)| {
            event.cause = Some((place, number));
            let to = match event.to {
                Destination::Call { handler, target } => {
                    Recipient::Object { object: handle(target), handler: HandlerId(handler) }
                }
                // Recorded when it is carried out.
                Destination::Linked { handler, .. } => {
                    Recipient::Object { object: handle(NULL), handler: HandlerId(handler) }
                }
                Destination::Out { port, event } => Recipient::Port { port: PortId(port), event },
            };
            Emission { to, gone: false }
        };
        let emissions = self.events[first..].iter_mut().enumerate().map(emission).collect();
        instants.push(Instant {
            reaction: self.reactions,
            now: self.now,
            object: handle(object),
            handler,
            cause,
            emissions,
        });
    }
}
