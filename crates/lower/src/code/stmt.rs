//! Statements to blocks. Joins use block parameters; own functions are inlined, and their returns become jumps.

use mokume_reaction as r;
use mokume_semantics::program as s;

use super::around::Begin;
use super::expr::octet_field;
use super::fork::Fork;
use super::kept::edit_of;
use super::writer::{Locals, Writer};
use crate::constants::fold_index;
use crate::fault::Fault;
use crate::stack::{Lowering, On, Purpose, Task};

impl<'p> Lowering<'p> {
    /// Whether messages have headers of the same wire that are not encoded yet.
    pub fn has_records_above(&self, inst: usize) -> bool {
        let Some(group) = self.inst(inst).group else { return false };
        let above = self.plan.groups[group].members.iter().take_while(|at| **at != inst);
        above.into_iter().any(|at| crate::plan::has_header(self.inst(*at)))
    }
}

impl<'p> Writer<'_, 'p> {
    /// Statements in order; those behind one that leaves are dead.
    pub fn run_block(&mut self, block: &'p [s::Stmt]) {
        // What follows a nested block belongs to the outer statement again.
        let around = self.b.pause();
        for stmt in block {
            if !self.live() {
                break;
            }
            let place = self.place(stmt.span);
            self.statement_begins(place);
            let around = self.at.replace(stmt.span);
            self.stmt(stmt);
            self.at = around;
        }
        self.b.resume(around);
    }

    /// A table with one row for each kind of statement, so it is long.
    fn stmt(&mut self, stmt: &'p s::Stmt) {
        use s::StmtKind as S;
        match &stmt.kind {
            S::Let { local, value } | S::AssignLocal { local, value } => {
                if let Some(constant) = fold_index(self.program, &self.env, value) {
                    self.facts.bind(value.span, constant);
                }
                let values = self.expr(value);
                self.set_local(*local, values);
            }
            S::Assign { state, value } => self.assign(state, value),
            S::AssignElement { array, index, value } => self.assign_element(array, index, value),
            // Code that is dead for these arguments may name something that no layer below has.
            S::If { condition, then, otherwise, .. } if self.known(condition).is_some() => {
                let taken = if self.known(condition) == Some(true) { then } else { otherwise };
                self.run_block(taken);
            }
            S::If { condition, likely, then, otherwise } => {
                let condition = self.one(condition);
                let fork = self.fork_likely(condition, *likely);
                self.blocks(fork, then, otherwise);
            }
            S::Match { value, cases, otherwise, .. } => self.match_(value, cases, otherwise),
            S::While { condition, limit, body } => self.while_(condition, limit, body),
            S::For { local, from, to, limit, body } => self.for_(*local, (from, to), limit, body),
            S::ForObjects { local, class, limit, body } => self.for_objects(*local, *class, limit, body),
            S::Return { value } => {
                let values = value.as_ref().map_or(Vec::new(), |value| self.expr(value));
                self.give_back(values);
            }
            S::Pass => self.around.pass(self),
            S::Call(value) => {
                self.expr(value);
            }
            S::Emit(emission) => self.around.emission(self, emission, stmt),
            S::Drop { message, reason: _, value: Some(value) } => {
                let reason = self.one(value);
                let message = self.of_local(*message);
                self.op(r::OpKind::DropFor { message, reason });
            }
            S::Drop { message, reason, value: None } => {
                let message = self.of_local(*message);
                self.drop(message, &reason.text);
            }
            S::Consume { message, reason } => {
                let message = self.of_local(*message);
                let reason = self.reason(&reason.text);
                self.op(r::OpKind::Consume { message, reason });
            }
            S::Accept { message } => {
                let message = self.of_local(*message);
                self.around.accept(self, message, stmt);
            }
            S::Begin { message, given, otherwise } => {
                self.around.begin_session(self, Begin { message: *message, given, otherwise });
            }
            S::IfListener { flow, local, then, otherwise } => {
                let flow = flow.as_ref().map(|flow| self.expr(flow).into());
                if let Some(found) = self.around.listener(self, flow) {
                    self.blocks_with(found, &[*local], then, otherwise);
                }
            }
            S::Start { timer, deadline } => {
                let (object, cell) = self.state(timer);
                let deadline = self.one(deadline);
                self.op(r::OpKind::Arm { object, cell, deadline });
            }
            S::Stop { timer } => {
                let (object, cell) = self.state(timer);
                if !self.faulty(Fault::TimerNotStopped) {
                    self.op(r::OpKind::Disarm { object, cell });
                }
            }
            S::Take { quota, amount, otherwise } => {
                let (object, cell) = self.state(quota);
                let amount = self.u32(amount);
                self.attempt_or(r::Fallible::Take { object, cell, amount }, otherwise);
            }
            S::Give { quota, amount } => {
                let (object, cell) = self.state(quota);
                let amount = self.u32(amount);
                self.op(r::OpKind::Give { object, cell, amount });
            }
            S::Count { counter, amount } => {
                let (object, cell) = self.state(counter);
                let amount = self.one(amount);
                self.op(r::OpKind::Count { object, cell, amount });
            }
            S::IfFound { map, key, locals, then, otherwise } => {
                let (object, cell) = self.state(map);
                let key = self.at_border(key);
                let found = self.find(object, cell, key);
                self.blocks_with(found, locals, then, otherwise);
            }
            S::Insert { map, key, values, otherwise } => {
                let (object, cell) = self.state(map);
                let (key, values) = (self.at_border(key), self.at_border(values));
                let key = self.map_key(key);
                self.attempt_or(r::Fallible::Insert { object, cell, key, values }, otherwise);
            }
            S::Remove { map, key } => {
                let (object, cell) = self.state(map);
                let key = self.at_border(key);
                self.remove(object, cell, key);
            }
            S::IfObject { class, key, local, then, otherwise } => {
                let key = self.at_border(key);
                let found = self.find_keyed(*class, key);
                self.blocks_with(found, &[*local], then, otherwise);
            }
            S::FindOrNew { class, key, local, otherwise } => self.find_or_new(*class, key, *local, otherwise),
            S::End { object } => {
                let object = match object {
                    Some(object) => self.one(object),
                    None => self.runs.keyed.map_or_else(|| self.own_object(), |(_, object)| object),
                };
                self.end_object(object);
            }
            S::Put { messages, index, message } => {
                let (object, cell) = self.state(messages);
                self.has_place(object, cell, index);
                let index = self.u32(index);
                let message = self.of_local(*message);
                self.op(r::OpKind::Keep { object, cell, index, message });
            }
            S::IfTaken { messages, index, share, local, then, otherwise } => {
                let (object, cell) = self.state(messages);
                self.has_place(object, cell, index);
                let index = self.u32(index);
                let held = self.attempt(match share {
                    true => r::Fallible::ShareHeld { object, cell, index },
                    false => r::Fallible::TakeOut { object, cell, index },
                });
                self.blocks_with(held, &[*local], then, otherwise);
            }
            S::IfDone { call, local, then, otherwise } => self.if_done(call, *local, (then, otherwise)),
            S::Refuse => self.refuse(),
            S::Later { handler, args, otherwise } => self.later(*handler, args, otherwise),
            S::Renew => self.renew_view(),
            S::Again => {
                self.around.again(self);
                let object = self.own_object();
                self.op(r::OpKind::Again { object });
            }
            S::Trim { message, size } => {
                let size = self.u32(size);
                self.change_message(*message, |message| r::OpKind::Trim { message, size });
            }
            S::Skip { message, size } => {
                let size = self.u32(size);
                self.change_message(*message, |message| r::OpKind::Skip { message, size });
            }
            S::Split { message, at, front, rest } => self.split_message(*message, at, (*front, *rest)),
            S::Join { message, behind } => {
                let second = self.one(behind);
                self.change_message(*message, |first| r::OpKind::Join { first, second });
            }
            S::Store { message, at, width, big, value } => {
                self.store(*message, (at, octet_field(*width, *big)), value);
            }
            S::SetAttribute { message, attribute, value } => self.set_attribute(*message, *attribute, value),
        }
    }

    // -- messages

    fn split_message(&mut self, message: s::LocalId, at: &'p s::Expr, (front, rest): (s::LocalId, s::LocalId)) {
        let at = self.u32(at);
        let message = self.of_local(message);
        let parts = self.split(message, at);
        self.set_local(front, vec![parts[0]]);
        self.set_local(rest, vec![parts[1]]);
    }

    fn store(&mut self, message: s::LocalId, (at, field): (&'p s::Expr, r::OctetField), value: &'p s::Expr) {
        let at = self.u32(at);
        let value = self.one(value);
        let value = self.cast(value, field.ty());
        self.change_message(message, |message| r::OpKind::Store { field, message, at, value });
    }

    fn set_attribute(&mut self, message: s::LocalId, attribute: s::AttributeId, value: &'p s::Expr) {
        let value = self.one(value);
        let attribute = self.attribute(attribute);
        let ty = self.a.attributes[attribute.index()].ty;
        let value = self.cast(value, ty);
        if !self.faulty(Fault::AttributeLost) {
            self.change_message(message, |message| r::OpKind::SetAttribute { message, attribute, value });
        }
    }

    fn change_message(&mut self, local: s::LocalId, op: impl FnOnce(r::Value) -> r::OpKind) {
        let message = self.of_local(local);
        let changed = self.value(op(message));
        self.set_local(local, vec![changed]);
    }

    /// Splits a message. Both parts have the header records of the layers above, so the other end gets all of them with
    /// every part.
    fn split(&mut self, message: r::Value, at: r::Value) -> Vec<r::Value> {
        if !self.has_records_above(self.inst) || self.faulty(Fault::RestBare) {
            return self.op(r::OpKind::Split { message, at });
        }
        let rest = self.value(r::OpKind::Share { message });
        let front = self.value(r::OpKind::Trim { message, size: at });
        // The size of the first part: a place beyond the end is reported once.
        let size = self.value(r::OpKind::Size { message: front });
        let rest = self.value(r::OpKind::Skip { message: rest, size });
        vec![front, rest]
    }

    // -- branches

    /// A block of the layer's code on either branch.
    fn blocks(&mut self, fork: Fork, then: &'p [s::Stmt], otherwise: &'p [s::Stmt]) {
        self.blocks_with(fork, &[], then, otherwise);
    }

    /// The same; the locals are the values of the first branch.
    fn blocks_with(&mut self, fork: Fork, locals: &[s::LocalId], then: &'p [s::Stmt], otherwise: &'p [s::Stmt]) {
        let before = self.locals.clone();
        let first = |w: &mut Self, found: &[r::Value]| {
            let mut found = found.iter().copied();
            for local in locals {
                w.take_local(*local, &mut found);
            }
            w.run_block(then);
            if w.faulty(Fault::JoinForgets) {
                w.forget_changes(&before);
            }
        };
        self.ways(fork, first, |w, _| w.run_block(otherwise));
    }

    /// Only for the planted fault.
    fn forget_changes(&mut self, before: &Locals) {
        for (slot, old) in self.locals.iter_mut().zip(before) {
            let plain = old.iter().flatten().all(|value| self.b.type_of(*value) != r::Type::Msg);
            if plain && old.is_some() {
                slot.clone_from(old);
            }
        }
    }

    /// An operation with the code of its `or { … }`, which leaves, or else has no value.
    fn attempt_or(&mut self, op: r::Fallible, otherwise: &'p [s::Stmt]) {
        let fork = self.attempt(op);
        self.or_block(fork, otherwise);
    }

    fn or_block(&mut self, fork: Fork, otherwise: &'p [s::Stmt]) {
        let otherwise = if self.faulty(Fault::FullIgnored) { &[] } else { otherwise };
        self.ways(fork, |_, _| {}, |w, _| w.run_block(otherwise));
    }

    fn match_(&mut self, value: &'p s::Expr, cases: &'p [(Vec<u64>, Vec<s::Stmt>)], otherwise: &'p [s::Stmt]) {
        let value = self.one(value);
        let keys: Vec<Vec<u64>> = cases.iter().map(|(keys, _)| keys.clone()).collect();
        self.switch(value, &keys, |w, at| {
            w.run_block(at.map_or(otherwise, |at| &cases[at].1));
            Vec::new()
        });
    }

    // -- assignments

    fn assign(&mut self, state: &'p s::StateRef, value: &'p s::Expr) {
        if let Some((edited, edit)) = edit_of(state, value) {
            return self.edit_state(state, edited, edit);
        }
        let values = self.expr(value);
        let object = self.object(state);
        let cells = self.cells(self.inst, state);
        self.set_cells(object, &cells, values);
    }

    // -- later

    fn later(&mut self, handler: u32, args: &'p [s::Expr], otherwise: &'p [s::Stmt]) {
        let Some(layer) = self.layer(self.inst) else { return };
        let target_handler = &layer.handlers[handler as usize];
        let s::Event::Custom { name, later_capacity, .. } = &target_handler.event else { return };
        let before = self.locals.clone();
        let mut args = self.at_border(args);
        // The handler, not the state that is named, decides the receiver (docs/semantics.md, R6).
        let on = match target_handler.scope {
            s::ScopeKind::Session | s::ScopeKind::Entity => match self.runs.session {
                Some(_) => On::Session,
                None => On::Entity,
            },
            scope => On::from(scope),
        };
        let target = match on {
            On::Session => self.runs.session,
            On::Lower => self.runs.lower,
            On::Point => self.point_object(),
            On::Object(_) => self.runs.keyed.map(|(_, object)| object),
            On::Entity | On::View => None,
        };
        let entity = self.info().classes.entity;
        let target = target.unwrap_or_else(|| self.unique(entity));
        let (params, takes_flow) = self.lowering.own_params(self.inst, on, handler);
        if takes_flow {
            args.extend(self.flow_at_hand().iter());
        }
        let (inst, event) = (self.inst, name.text.clone());
        let (trigger, purpose) = (r::Trigger::Event(event.clone()), Purpose::Own { handler });
        self.need(Task { inst, on, trigger, params, purpose, later: (*later_capacity).max(1) });
        let mut fork = self.attempt(r::Fallible::Later { target, event, args });
        // If there is no room, the messages are still held.
        for (slot, old) in fork.no.locals.iter_mut().zip(before) {
            *slot = slot.take().or(old);
        }
        self.or_block(fork, otherwise);
    }
}
