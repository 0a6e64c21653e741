//! Statements to blocks. Branches meet in block parameters; own functions are inlined, their returns are jumps.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::expr::octet_field;
use crate::fault::Fault;
use crate::frame::{to, Code, Exit, Locals, Writer};
use crate::lowering::{Lowering, On, Task, What};

impl<'p> Lowering<'p> {
    /// Whether messages come with headers of the same wire that are not encoded yet.
    fn has_records_above(&self, inst: usize) -> bool {
        let Some(group) = self.inst(inst).group else { return false };
        let above = self.plan.groups[group].members.iter().take_while(|at| **at != inst);
        above.into_iter().any(|at| crate::plan::has_header(self.inst(*at)))
    }
}

impl<'p> Writer<'_, 'p> {
    /// Runs code in place; the answer is what it returns. Dead code behind it if it never comes back.
    pub fn inline(&mut self, code: Code<'p>, given: Vec<(s::LocalId, Vec<r::Value>)>) -> Vec<r::Value> {
        let (exits, _) = self.inline_ends(code, given, None);
        self.join("back", exits).unwrap_or_default()
    }

    /// As [`Self::inline`], with what it returns and where it refuses (the messages it was given, in order) apart. `kept` is a
    /// message of the code's own at each of its ends: its value comes last there.
    pub fn inline_ends(
        &mut self,
        code: Code<'p>,
        given: Vec<(s::LocalId, Vec<r::Value>)>,
        kept: Option<s::LocalId>,
    ) -> (Vec<Exit>, Vec<Exit>) {
        let locals = std::mem::replace(&mut self.locals, vec![None; code.decls.len()]);
        let decls = std::mem::replace(&mut self.decls, code.decls);
        self.returns.push(Vec::new());
        let message = |local: &s::LocalId| code.decls.get(local.index()).is_some_and(|d| d.ty == s::Type::Message);
        let messages = given.iter().map(|(local, _)| *local).filter(message).collect();
        self.refusals.push((messages, Vec::new()));
        for (local, values) in given {
            self.set_local(local, values);
        }
        self.block(code.body);
        let mut exits = self.returns.pop().unwrap_or_default();
        exits.extend(self.exit(Vec::new()));
        let (_, mut refused) = self.refusals.pop().unwrap_or_default();
        self.decls = decls;
        self.locals = locals;
        if let Some(kept) = kept {
            for exit in &mut exits {
                let value = exit.locals.get(kept.index()).cloned().flatten();
                exit.results.extend(value.unwrap_or_default());
            }
        }
        for exit in exits.iter_mut().chain(&mut refused) {
            exit.locals = self.locals.clone();
        }
        (exits, refused)
    }

    pub fn block(&mut self, block: &'p [s::Stmt]) {
        // What comes behind a block in a statement belongs to the statement again.
        let around = self.b.pause();
        for stmt in block {
            if !self.live() {
                break;
            }
            let place = self.place(stmt.span);
            self.source(place);
            self.stmt(stmt);
        }
        self.b.resume(around);
    }

    fn stmt(&mut self, stmt: &'p s::Stmt) {
        use s::StmtKind as S;
        match &stmt.kind {
            S::Let { local, value } | S::AssignLocal { local, value } => {
                let values = self.expr(value);
                self.set_local(*local, values);
            }
            S::Assign { state, value } => self.assign(state, value),
            S::AssignElement { array, index, value } => self.assign_element(array, index, value),
            // What the arguments rule out is not there, and may name what nobody below has.
            S::If { condition, then, otherwise, .. } if self.known(condition).is_some() => {
                let taken = if self.known(condition) == Some(true) { then } else { otherwise };
                self.block(taken);
            }
            S::If { condition, likely, then, otherwise } => {
                let condition = self.one(condition);
                let (yes, no) = self.branch(condition, *likely, "then", "else");
                self.two_ways((yes, then), (no, otherwise));
            }
            S::Match { value, cases, otherwise } => self.match_(value, cases, otherwise),
            S::While { condition, limit, body } => self.while_(condition, limit, body),
            S::For { local, from, to, limit, body } => self.for_(*local, (from, to), limit, body),
            S::ForObjects { local, class, limit, body } => self.for_objects(*local, *class, limit, body),
            S::Return { value } => {
                let values = value.as_ref().map_or(Vec::new(), |value| self.expr(value));
                if let Some(exit) = self.exit(values) {
                    match self.returns.last_mut() {
                        Some(returns) => returns.push(exit),
                        None => unreachable!("code is always inlined"),
                    }
                }
            }
            S::Pass => self.pass(),
            S::Call(value) => {
                self.expr(value);
            }
            S::Emit(emission) => self.emission(emission, stmt),
            S::Drop { message, reason } => {
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
                self.accept_unmatched(message, stmt);
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
                let (then, full) = (self.b.block("taken", &[]), self.b.block("full", &[]));
                self.end(r::Terminator::Try {
                    op: r::Fallible::Take { object, cell, amount },
                    then: to(then),
                    otherwise: to(full),
                });
                self.or_block(then, full, otherwise);
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
            S::IfFound { map, key, locals, then, otherwise } => self.if_found(map, key, locals, (then, otherwise)),
            S::Insert { map, key, values, otherwise } => {
                let (object, cell) = self.state(map);
                let key = key.iter().flat_map(|part| self.expr(part)).collect();
                let values = values.iter().flat_map(|value| self.expr(value)).collect();
                let (then, full) = (self.b.block("inserted", &[]), self.b.block("full", &[]));
                self.end(r::Terminator::Try {
                    op: r::Fallible::Insert { object, cell, key, values },
                    then: to(then),
                    otherwise: to(full),
                });
                self.or_block(then, full, otherwise);
            }
            S::Remove { map, key } => {
                let (object, cell) = self.state(map);
                let key = key.iter().flat_map(|part| self.expr(part)).collect();
                self.remove(object, cell, key);
            }
            S::IfObject { class, key, local, then, otherwise } => {
                let (object, cell) = self.index_of(*class);
                let key = key.iter().flat_map(|part| self.expr(part)).collect();
                let ty = self.scalar(s::Type::Object(*class));
                let (yes, no) = (self.b.block("found", &[("found".into(), ty)]), self.b.block("absent", &[]));
                self.end(r::Terminator::Try {
                    op: r::Fallible::Find { object, cell, key },
                    then: to(yes),
                    otherwise: to(no),
                });
                let found = self.b.params(yes).to_vec();
                self.two_ways_with((yes, then), (no, otherwise), vec![(*local, found)]);
            }
            S::FindOrNew { class, key, local, otherwise } => self.find_or_new(*class, key, *local, otherwise),
            S::End { object } => {
                let object = match object {
                    Some(object) => self.one(object),
                    None => self.place.keyed.map_or_else(|| self.own_object(), |(_, object)| object),
                };
                self.end_object(object);
            }
            S::Put { messages, index, message } => {
                let (object, cell) = self.state(messages);
                let index = self.u32(index);
                let message = self.of_local(*message);
                self.op(r::OpKind::Keep { object, cell, index, message });
            }
            S::IfTaken { messages, index, share, local, then, otherwise } => {
                let (object, cell) = self.state(messages);
                let index = self.u32(index);
                let (yes, no) = (self.b.block("held", &[("held".into(), r::Type::Msg)]), self.b.block("empty", &[]));
                let (then_to, otherwise_to) = (to(yes), to(no));
                self.end(match share {
                    true => r::Terminator::Try {
                        op: r::Fallible::ShareHeld { object, cell, index },
                        then: then_to,
                        otherwise: otherwise_to,
                    },
                    false => r::Terminator::Try {
                        op: r::Fallible::TakeOut { object, cell, index },
                        then: then_to,
                        otherwise: otherwise_to,
                    },
                });
                let held = self.b.params(yes).to_vec();
                self.two_ways_with((yes, then), (no, otherwise), vec![(*local, held)]);
            }
            S::IfDone { call, local, then, otherwise } => self.if_done(call, *local, (then, otherwise)),
            S::Refuse => self.refuse(),
            S::Later { handler, args, otherwise } => self.later(*handler, args, otherwise),
            S::Again => {
                let object = self.own_object();
                self.op(r::OpKind::Again { object });
            }
            _ => self.message_stmt(stmt),
        }
    }

    /// Statements that change a message in place.
    fn message_stmt(&mut self, stmt: &'p s::Stmt) {
        use s::StmtKind as S;
        match &stmt.kind {
            S::Trim { message, size } => {
                let size = self.u32(size);
                let value = self.value(r::OpKind::Trim { message: self.of_local(*message), size });
                self.set_local(*message, vec![value]);
            }
            S::Skip { message, size } => {
                let size = self.u32(size);
                let value = self.value(r::OpKind::Skip { message: self.of_local(*message), size });
                self.set_local(*message, vec![value]);
            }
            S::Split { message, at, front, rest } => {
                let at = self.u32(at);
                let parts = self.split(self.of_local(*message), at);
                self.set_local(*front, vec![parts[0]]);
                self.set_local(*rest, vec![parts[1]]);
            }
            S::Join { message, behind } => {
                let second = self.one(behind);
                let value = self.value(r::OpKind::Join { first: self.of_local(*message), second });
                self.set_local(*message, vec![value]);
            }
            S::Store { message, at, width, big, value } => {
                let at = self.u32(at);
                let value = self.one(value);
                let value = self.cast(value, r::Type::U(*width));
                let message_value = self.of_local(*message);
                let field = octet_field(*width, *big);
                let stored = self.value(r::OpKind::Store { field, message: message_value, at, value });
                self.set_local(*message, vec![stored]);
            }
            S::SetAttribute { message, attribute, value } => {
                let value = self.one(value);
                let attribute = self.attribute(*attribute);
                let ty = self.a.attributes[attribute.index()].ty;
                let value = self.cast(value, ty);
                if !self.faulty(Fault::AttributeLost) {
                    let changed =
                        self.value(r::OpKind::SetAttribute { message: self.of_local(*message), attribute, value });
                    self.set_local(*message, vec![changed]);
                }
            }
            _ => {}
        }
    }

    /// Both parts carry the header records of the layers above: all of them go to the other end with every part.
    fn split(&mut self, message: r::Value, at: r::Value) -> Vec<r::Value> {
        if !self.has_records_above(self.inst) || self.faulty(Fault::RestBare) {
            return self.op(r::OpKind::Split { message, at });
        }
        let rest = self.value(r::OpKind::Share { message });
        let front = self.value(r::OpKind::Trim { message, size: at });
        // The size of what is kept: a place beyond the end is reported once.
        let size = self.value(r::OpKind::Size { message: front });
        let rest = self.value(r::OpKind::Skip { message: rest, size });
        vec![front, rest]
    }

    // -- branches

    fn two_ways(&mut self, then: (r::BlockId, &'p [s::Stmt]), otherwise: (r::BlockId, &'p [s::Stmt])) {
        self.two_ways_with(then, otherwise, Vec::new());
    }

    /// `found` is what the first branch knows.
    fn two_ways_with(
        &mut self,
        (yes, then): (r::BlockId, &'p [s::Stmt]),
        (no, otherwise): (r::BlockId, &'p [s::Stmt]),
        found: Vec<(s::LocalId, Vec<r::Value>)>,
    ) {
        let before = self.locals.clone();
        self.select(yes);
        found.into_iter().for_each(|(local, values)| self.set_local(local, values));
        self.block(then);
        let mut exits: Vec<Exit> = self.exit(Vec::new()).into_iter().collect();
        if self.faulty(Fault::JoinForgets) {
            for (slot, old) in exits.iter_mut().flat_map(|exit| exit.locals.iter_mut().zip(&before)) {
                let plain = old.iter().flatten().all(|value| self.b.type_of(*value) != r::Type::Msg);
                if plain && old.is_some() {
                    slot.clone_from(old);
                }
            }
        }
        self.select(no);
        self.locals = before;
        self.block(otherwise);
        exits.extend(self.exit(Vec::new()));
        self.join("after", exits);
    }

    /// What an `or { … }` stands behind: it leaves, or what it brings about is all there is.
    fn or_block(&mut self, then: r::BlockId, full: r::BlockId, otherwise: &'p [s::Stmt]) {
        self.select(full);
        let given = self.locals.clone();
        self.or_block_from((then, given), otherwise);
    }

    fn or_block_from(&mut self, (then, given): (r::BlockId, Locals), otherwise: &'p [s::Stmt]) {
        if !self.faulty(Fault::FullIgnored) {
            self.block(otherwise);
        }
        let mut exits: Vec<Exit> = self.exit(Vec::new()).into_iter().collect();
        self.select(then);
        self.locals = given;
        exits.insert(
            0,
            match self.exit(Vec::new()) {
                Some(exit) => exit,
                None => return,
            },
        );
        self.join("after", exits);
    }

    fn match_(&mut self, value: &'p s::Expr, cases: &'p [(Vec<u64>, Vec<s::Stmt>)], otherwise: &'p [s::Stmt]) {
        let value = self.one(value);
        let blocks: Vec<r::BlockId> = cases.iter().map(|_| self.b.block("case", &[])).collect();
        let default = self.b.block("else", &[]);
        let mut targets = Vec::new();
        for ((values, _), block) in cases.iter().zip(&blocks) {
            targets.extend(values.iter().map(|value| (*value, to(*block))));
        }
        self.end(r::Terminator::Switch { value, cases: targets, default: to(default) });
        let before = self.locals.clone();
        let mut exits = Vec::new();
        let bodies = cases.iter().map(|(_, body)| body.as_slice()).chain([otherwise]);
        for (block, body) in blocks.into_iter().chain([default]).zip(bodies) {
            self.select(block);
            self.locals = before.clone();
            self.block(body);
            exits.extend(self.exit(Vec::new()));
        }
        self.join("after", exits);
    }

    fn if_found(
        &mut self,
        map: &'p s::StateRef,
        key: &'p [s::Expr],
        locals: &'p [s::LocalId],
        (then, otherwise): (&'p [s::Stmt], &'p [s::Stmt]),
    ) {
        let (object, cell) = self.state(map);
        let key = key.iter().flat_map(|part| self.expr(part)).collect();
        let types = match &self.a.cell(self.class_of(object), cell).kind {
            r::CellKind::Map { value, .. } => value.clone(),
            _ => Vec::new(),
        };
        let params: Vec<(String, r::Type)> = types.into_iter().map(|ty| (String::new(), ty)).collect();
        let (yes, no) = (self.b.block("found", &params), self.b.block("absent", &[]));
        self.end(r::Terminator::Try { op: r::Fallible::Find { object, cell, key }, then: to(yes), otherwise: to(no) });
        let mut found = self.b.params(yes).to_vec().into_iter();
        let mut parts = Vec::new();
        for local in locals {
            let ty = self.decls[local.index()].ty;
            let count = self.flat(ty).len();
            parts.push((*local, found.by_ref().take(count).collect::<Vec<_>>()));
        }
        self.two_ways_with((yes, then), (no, otherwise), parts);
    }

    pub fn remove(&mut self, object: r::Value, cell: r::CellId, key: Vec<r::Value>) {
        let types = match &self.a.cell(self.class_of(object), cell).kind {
            r::CellKind::Map { value, .. } => value.clone(),
            _ => Vec::new(),
        };
        let params: Vec<(String, r::Type)> = types.into_iter().map(|ty| (String::new(), ty)).collect();
        let (gone, absent) = (self.b.block("removed", &params), self.b.block("absent", &[]));
        self.end(r::Terminator::Try {
            op: r::Fallible::Remove { object, cell, key },
            then: to(gone),
            otherwise: to(absent),
        });
        let mut exits = Vec::new();
        for block in [gone, absent] {
            self.select(block);
            exits.extend(self.exit(Vec::new()));
        }
        self.join("after", exits);
    }

    // -- assignments

    fn assign(&mut self, state: &'p s::StateRef, value: &'p s::Expr) {
        let values = self.expr(value);
        let object = self.object(state);
        let cells = self.cells(self.inst, state);
        self.set_cells(object, &cells, values);
    }

    pub fn set_cells(&mut self, object: r::Value, cells: &[r::CellId], values: Vec<r::Value>) {
        let class = self.class_of(object);
        for (cell, value) in cells.iter().zip(values) {
            let value = match self.a.cell(class, *cell).kind {
                r::CellKind::Scalar { ty, .. } => self.cast(value, ty),
                _ => value,
            };
            self.op(r::OpKind::Set { object, cell: *cell, value });
        }
    }

    fn assign_element(&mut self, array: &'p s::StateRef, index: &'p s::Expr, value: &'p s::Expr) {
        let index = self.one(index);
        let values = self.expr(value);
        let object = self.object(array);
        let class = self.class_of(object);
        for (cell, value) in self.cells(self.inst, array).into_iter().zip(values) {
            let value = match self.a.cell(class, cell).kind {
                r::CellKind::Array { ty, .. } => self.cast(value, ty),
                _ => value,
            };
            self.op(r::OpKind::SetAt { object, cell, index, value });
        }
    }

    // -- later

    fn later(&mut self, handler: u32, args: &'p [s::Expr], otherwise: &'p [s::Stmt]) {
        let Some(layer) = self.layer(self.inst) else { return };
        let target_handler = &layer.handlers[handler as usize];
        let s::Event::Custom { name, later_capacity, .. } = &target_handler.event else { return };
        let before = self.locals.clone();
        let mut values: Vec<r::Value> = args.iter().flat_map(|arg| self.expr(arg)).collect();
        let on = match (target_handler.scope, self.place.session) {
            (s::ScopeKind::Session, Some(_)) => On::Session,
            (s::ScopeKind::Object(id), _) => On::Object(id),
            (s::ScopeKind::SessionBelow, _) => On::Lower,
            (s::ScopeKind::Point, _) => On::Point,
            _ => On::Entity,
        };
        let target = match on {
            On::Session => self.place.session,
            On::Lower => self.place.lower,
            On::Point => self.point_object(),
            On::Object(_) => self.place.keyed.map(|(_, object)| object),
            On::Entity => None,
        };
        let entity = self.info().entity();
        let target = target.unwrap_or_else(|| self.value(r::OpKind::Unique { class: entity }));
        let (params, takes_flow) = self.lowering.own_params(self.inst, on, handler);
        if takes_flow {
            values.extend(self.flow_at_hand());
        }
        let event = name.text.clone();
        let trigger = r::Trigger::Event(event.clone());
        let what = What::Own { handler };
        let inst = self.inst;
        self.need(Task { inst, on, trigger, params, what, later: (*later_capacity).max(1) });
        let (then, full) = (self.b.block("queued", &[]), self.b.block("full", &[]));
        let args = values.clone();
        self.end(r::Terminator::Try {
            op: r::Fallible::Later { target, event, args },
            then: to(then),
            otherwise: to(full),
        });
        // What was given away is still ours where there is no room.
        let given = self.locals.clone();
        self.locals = before;
        self.select(full);
        self.or_block_from((then, given), otherwise);
    }
}
