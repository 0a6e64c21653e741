//! Statements to blocks. Branches meet in block parameters; own functions are inlined, their returns are jumps.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::expr::octet_field;
use crate::fault::Fault;
use crate::frame::{to, Code, Exit, Frame, Locals};
use crate::lowering::{Lowering, On, Task, What};

impl<'p> Lowering<'p> {
    /// Runs code in place; the answer is what it returns. Dead code behind it if it never comes back.
    pub fn inline(
        &mut self,
        f: &mut Frame<'p>,
        code: Code<'p>,
        given: Vec<(s::LocalId, Vec<r::Value>)>,
    ) -> Vec<r::Value> {
        let (exits, _) = self.inline_ends(f, code, given, None);
        f.join("back", exits).unwrap_or_default()
    }

    /// As [`Self::inline`], with what it returns and where it refuses (the messages it was given, in order) apart. `kept` is a
    /// message of the code's own at each of its ends: its value comes last there.
    pub fn inline_ends(
        &mut self,
        f: &mut Frame<'p>,
        code: Code<'p>,
        given: Vec<(s::LocalId, Vec<r::Value>)>,
        kept: Option<s::LocalId>,
    ) -> (Vec<Exit>, Vec<Exit>) {
        let locals = std::mem::replace(&mut f.locals, vec![None; code.decls.len()]);
        let decls = std::mem::replace(&mut f.decls, code.decls);
        f.returns.push(Vec::new());
        let message = |local: &s::LocalId| code.decls.get(local.index()).is_some_and(|d| d.ty == s::Type::Message);
        let messages = given.iter().map(|(local, _)| *local).filter(message).collect();
        f.refusals.push((messages, Vec::new()));
        for (local, values) in given {
            f.set_local(local, values);
        }
        self.block(f, code.body);
        let mut exits = f.returns.pop().unwrap_or_default();
        exits.extend(f.exit(Vec::new()));
        let (_, mut refused) = f.refusals.pop().unwrap_or_default();
        f.decls = decls;
        f.locals = locals;
        if let Some(kept) = kept {
            for exit in &mut exits {
                let value = exit.locals.get(kept.index()).cloned().flatten();
                exit.results.extend(value.unwrap_or_default());
            }
        }
        for exit in exits.iter_mut().chain(&mut refused) {
            exit.locals = f.locals.clone();
        }
        (exits, refused)
    }

    pub fn block(&mut self, f: &mut Frame<'p>, block: &'p [s::Stmt]) {
        // What comes behind a block in a statement belongs to the statement again.
        let around = f.b.pause();
        for stmt in block {
            if !f.live() {
                break;
            }
            let place = self.place(stmt.span);
            f.source(place);
            self.stmt(f, stmt);
        }
        f.b.resume(around);
    }

    fn stmt(&mut self, f: &mut Frame<'p>, stmt: &'p s::Stmt) {
        use s::StmtKind as S;
        match &stmt.kind {
            S::Let { local, value } | S::AssignLocal { local, value } => {
                let values = self.expr(f, value);
                f.set_local(*local, values);
            }
            S::Assign { state, value } => self.assign(f, state, value),
            S::AssignElement { array, index, value } => self.assign_element(f, array, index, value),
            // What the arguments rule out is not there, and may name what nobody below has.
            S::If { condition, then, otherwise, .. } if self.known(f, condition).is_some() => {
                let taken = if self.known(f, condition) == Some(true) { then } else { otherwise };
                self.block(f, taken);
            }
            S::If { condition, likely, then, otherwise } => {
                let condition = self.one(f, condition);
                let (yes, no) = f.branch(condition, *likely, "then", "else");
                self.two_ways(f, (yes, then), (no, otherwise));
            }
            S::Match { value, cases, otherwise } => self.match_(f, value, cases, otherwise),
            S::While { condition, limit, body } => self.while_(f, condition, limit, body),
            S::For { local, from, to, limit, body } => self.for_(f, *local, (from, to), limit, body),
            S::ForObjects { local, class, limit, body } => self.for_objects(f, *local, *class, limit, body),
            S::Return { value } => {
                let values = value.as_ref().map_or(Vec::new(), |value| self.expr(f, value));
                if let Some(exit) = f.exit(values) {
                    match f.returns.last_mut() {
                        Some(returns) => returns.push(exit),
                        None => unreachable!("code is always inlined"),
                    }
                }
            }
            S::Pass => self.pass(f),
            S::Call(value) => {
                self.expr(f, value);
            }
            S::Emit(emission) => self.emission(f, emission, stmt),
            S::Drop { message, reason } => {
                let message = f.one(*message);
                self.drop(f, message, &reason.text);
            }
            S::Consume { message, reason } => {
                let message = f.one(*message);
                let reason = self.reason(f.inst, &reason.text);
                f.op(&self.a, r::OpKind::Consume { message, reason });
            }
            S::Accept { message } => {
                let message = f.one(*message);
                self.accept_unmatched(f, message, stmt);
            }
            S::Start { timer, deadline } => {
                let (object, cell) = self.state(f, timer);
                let deadline = self.one(f, deadline);
                f.op(&self.a, r::OpKind::Arm { object, cell, deadline });
            }
            S::Stop { timer } => {
                let (object, cell) = self.state(f, timer);
                if !self.faulty(Fault::TimerNotStopped) {
                    f.op(&self.a, r::OpKind::Disarm { object, cell });
                }
            }
            S::Take { quota, amount, otherwise } => {
                let (object, cell) = self.state(f, quota);
                let amount = self.u32(f, amount);
                let (then, full) = (f.b.block("taken", &[]), f.b.block("full", &[]));
                f.end(r::Terminator::Try {
                    op: r::Fallible::Take { object, cell, amount },
                    then: to(then),
                    otherwise: to(full),
                });
                self.or_block(f, then, full, otherwise);
            }
            S::Give { quota, amount } => {
                let (object, cell) = self.state(f, quota);
                let amount = self.u32(f, amount);
                f.op(&self.a, r::OpKind::Give { object, cell, amount });
            }
            S::Count { counter, amount } => {
                let (object, cell) = self.state(f, counter);
                let amount = self.one(f, amount);
                f.op(&self.a, r::OpKind::Count { object, cell, amount });
            }
            S::IfFound { map, key, locals, then, otherwise } => self.if_found(f, map, key, locals, (then, otherwise)),
            S::Insert { map, key, values, otherwise } => {
                let (object, cell) = self.state(f, map);
                let key = key.iter().flat_map(|part| self.expr(f, part)).collect();
                let values = values.iter().flat_map(|value| self.expr(f, value)).collect();
                let (then, full) = (f.b.block("inserted", &[]), f.b.block("full", &[]));
                f.end(r::Terminator::Try {
                    op: r::Fallible::Insert { object, cell, key, values },
                    then: to(then),
                    otherwise: to(full),
                });
                self.or_block(f, then, full, otherwise);
            }
            S::Remove { map, key } => {
                let (object, cell) = self.state(f, map);
                let key = key.iter().flat_map(|part| self.expr(f, part)).collect();
                self.remove(f, object, cell, key);
            }
            S::IfObject { class, key, local, then, otherwise } => {
                let (object, cell) = self.index_of(f, *class);
                let key = key.iter().flat_map(|part| self.expr(f, part)).collect();
                let ty = self.scalar(f.inst, s::Type::Object(*class));
                let (yes, no) = (f.b.block("found", &[("found".into(), ty)]), f.b.block("absent", &[]));
                f.end(r::Terminator::Try {
                    op: r::Fallible::Find { object, cell, key },
                    then: to(yes),
                    otherwise: to(no),
                });
                let found = f.b.params(yes).to_vec();
                self.two_ways_with(f, (yes, then), (no, otherwise), |f| f.set_local(*local, found));
            }
            S::FindOrNew { class, key, local, otherwise } => self.find_or_new(f, *class, key, *local, otherwise),
            S::End { object } => {
                let object = match object {
                    Some(object) => self.one(f, object),
                    None => f.place.keyed.map_or_else(|| self.own_object(f), |(_, object)| object),
                };
                self.end_object(f, object);
            }
            S::Put { messages, index, message } => {
                let (object, cell) = self.state(f, messages);
                let index = self.u32(f, index);
                let message = f.one(*message);
                f.op(&self.a, r::OpKind::Keep { object, cell, index, message });
            }
            S::IfTaken { messages, index, share, local, then, otherwise } => {
                let (object, cell) = self.state(f, messages);
                let index = self.u32(f, index);
                let (yes, no) = (f.b.block("held", &[("held".into(), r::Type::Msg)]), f.b.block("empty", &[]));
                let (then_to, otherwise_to) = (to(yes), to(no));
                f.end(match share {
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
                let held = f.b.params(yes).to_vec();
                self.two_ways_with(f, (yes, then), (no, otherwise), |f| f.set_local(*local, held));
            }
            S::IfDone { call, local, then, otherwise } => self.if_done(f, call, *local, (then, otherwise)),
            S::Refuse => self.refuse(f),
            S::Later { handler, args, otherwise } => self.later(f, *handler, args, otherwise),
            S::Again => {
                let object = self.own_object(f);
                f.op(&self.a, r::OpKind::Again { object });
            }
            _ => self.message_stmt(f, stmt),
        }
    }

    /// Statements that change a message in place.
    fn message_stmt(&mut self, f: &mut Frame<'p>, stmt: &'p s::Stmt) {
        use s::StmtKind as S;
        match &stmt.kind {
            S::Trim { message, size } => {
                let size = self.u32(f, size);
                let value = f.value(&self.a, r::OpKind::Trim { message: f.one(*message), size });
                f.set_local(*message, vec![value]);
            }
            S::Skip { message, size } => {
                let size = self.u32(f, size);
                let value = f.value(&self.a, r::OpKind::Skip { message: f.one(*message), size });
                f.set_local(*message, vec![value]);
            }
            S::Split { message, at, front, rest } => {
                let at = self.u32(f, at);
                let parts = self.split(f, f.one(*message), at);
                f.set_local(*front, vec![parts[0]]);
                f.set_local(*rest, vec![parts[1]]);
            }
            S::Join { message, behind } => {
                let second = self.one(f, behind);
                let value = f.value(&self.a, r::OpKind::Join { first: f.one(*message), second });
                f.set_local(*message, vec![value]);
            }
            S::Store { message, at, width, big, value } => {
                let at = self.u32(f, at);
                let value = self.one(f, value);
                let value = self.cast(f, value, r::Type::U(*width));
                let message_value = f.one(*message);
                let field = octet_field(*width, *big);
                let stored = f.value(&self.a, r::OpKind::Store { field, message: message_value, at, value });
                f.set_local(*message, vec![stored]);
            }
            S::SetAttribute { message, attribute, value } => {
                let value = self.one(f, value);
                let attribute = self.attribute(*attribute);
                let ty = self.a.attributes[attribute.index()].ty;
                let value = self.cast(f, value, ty);
                if !self.faulty(Fault::AttributeLost) {
                    let changed =
                        f.value(&self.a, r::OpKind::SetAttribute { message: f.one(*message), attribute, value });
                    f.set_local(*message, vec![changed]);
                }
            }
            _ => {}
        }
    }

    /// Both parts carry the header records of the layers above: all of them go to the other end with every part.
    fn split(&mut self, f: &mut Frame<'p>, message: r::Value, at: r::Value) -> Vec<r::Value> {
        if !self.has_records_above(f.inst) || self.faulty(Fault::RestBare) {
            return f.op(&self.a, r::OpKind::Split { message, at });
        }
        let rest = f.value(&self.a, r::OpKind::Share { message });
        let front = f.value(&self.a, r::OpKind::Trim { message, size: at });
        // The size of what is kept: a place beyond the end is reported once.
        let size = f.value(&self.a, r::OpKind::Size { message: front });
        let rest = f.value(&self.a, r::OpKind::Skip { message: rest, size });
        vec![front, rest]
    }

    /// Whether messages come with headers of the same wire that are not encoded yet.
    fn has_records_above(&self, inst: usize) -> bool {
        let Some(group) = self.inst(inst).group else { return false };
        let above = self.plan.groups[group].members.iter().take_while(|at| **at != inst);
        above.into_iter().any(|at| crate::plan::has_header(self.inst(*at)))
    }

    // -- branches

    fn two_ways(
        &mut self,
        f: &mut Frame<'p>,
        then: (r::BlockId, &'p [s::Stmt]),
        otherwise: (r::BlockId, &'p [s::Stmt]),
    ) {
        self.two_ways_with(f, then, otherwise, |_| {});
    }

    /// `bind` says what the first branch knows.
    fn two_ways_with(
        &mut self,
        f: &mut Frame<'p>,
        (yes, then): (r::BlockId, &'p [s::Stmt]),
        (no, otherwise): (r::BlockId, &'p [s::Stmt]),
        bind: impl FnOnce(&mut Frame<'p>),
    ) {
        let before = f.locals.clone();
        f.select(yes);
        bind(f);
        self.block(f, then);
        let mut exits: Vec<Exit> = f.exit(Vec::new()).into_iter().collect();
        if self.faulty(Fault::JoinForgets) {
            for (slot, old) in exits.iter_mut().flat_map(|exit| exit.locals.iter_mut().zip(&before)) {
                let plain = old.iter().flatten().all(|value| f.b.type_of(*value) != r::Type::Msg);
                if plain && old.is_some() {
                    slot.clone_from(old);
                }
            }
        }
        f.select(no);
        f.locals = before;
        self.block(f, otherwise);
        exits.extend(f.exit(Vec::new()));
        f.join("after", exits);
    }

    /// What an `or { … }` stands behind: it leaves, or what it brings about is all there is.
    fn or_block(&mut self, f: &mut Frame<'p>, then: r::BlockId, full: r::BlockId, otherwise: &'p [s::Stmt]) {
        f.select(full);
        let given = f.locals.clone();
        self.or_block_from(f, (then, given), otherwise);
    }

    fn or_block_from(&mut self, f: &mut Frame<'p>, (then, given): (r::BlockId, Locals), otherwise: &'p [s::Stmt]) {
        if !self.faulty(Fault::FullIgnored) {
            self.block(f, otherwise);
        }
        let mut exits: Vec<Exit> = f.exit(Vec::new()).into_iter().collect();
        f.select(then);
        f.locals = given;
        exits.insert(
            0,
            match f.exit(Vec::new()) {
                Some(exit) => exit,
                None => return,
            },
        );
        f.join("after", exits);
    }

    fn match_(
        &mut self,
        f: &mut Frame<'p>,
        value: &'p s::Expr,
        cases: &'p [(Vec<u64>, Vec<s::Stmt>)],
        otherwise: &'p [s::Stmt],
    ) {
        let value = self.one(f, value);
        let blocks: Vec<r::BlockId> = cases.iter().map(|_| f.b.block("case", &[])).collect();
        let default = f.b.block("else", &[]);
        let mut targets = Vec::new();
        for ((values, _), block) in cases.iter().zip(&blocks) {
            targets.extend(values.iter().map(|value| (*value, to(*block))));
        }
        f.end(r::Terminator::Switch { value, cases: targets, default: to(default) });
        let before = f.locals.clone();
        let mut exits = Vec::new();
        let bodies = cases.iter().map(|(_, body)| body.as_slice()).chain([otherwise]);
        for (block, body) in blocks.into_iter().chain([default]).zip(bodies) {
            f.select(block);
            f.locals = before.clone();
            self.block(f, body);
            exits.extend(f.exit(Vec::new()));
        }
        f.join("after", exits);
    }

    fn if_found(
        &mut self,
        f: &mut Frame<'p>,
        map: &'p s::StateRef,
        key: &'p [s::Expr],
        locals: &'p [s::LocalId],
        (then, otherwise): (&'p [s::Stmt], &'p [s::Stmt]),
    ) {
        let (object, cell) = self.state(f, map);
        let key = key.iter().flat_map(|part| self.expr(f, part)).collect();
        let types = match &self.a.cell(self.class_of(f, object), cell).kind {
            r::CellKind::Map { value, .. } => value.clone(),
            _ => Vec::new(),
        };
        let params: Vec<(String, r::Type)> = types.into_iter().map(|ty| (String::new(), ty)).collect();
        let (yes, no) = (f.b.block("found", &params), f.b.block("absent", &[]));
        f.end(r::Terminator::Try { op: r::Fallible::Find { object, cell, key }, then: to(yes), otherwise: to(no) });
        let mut found = f.b.params(yes).to_vec().into_iter();
        let mut parts = Vec::new();
        for local in locals {
            let ty = f.decls[local.index()].ty;
            let count = self.flat(f.inst, ty).len();
            parts.push((*local, found.by_ref().take(count).collect::<Vec<_>>()));
        }
        self.two_ways_with(f, (yes, then), (no, otherwise), |f| {
            parts.into_iter().for_each(|(local, values)| f.set_local(local, values));
        });
    }

    pub fn remove(&mut self, f: &mut Frame<'p>, object: r::Value, cell: r::CellId, key: Vec<r::Value>) {
        let types = match &self.a.cell(self.class_of(f, object), cell).kind {
            r::CellKind::Map { value, .. } => value.clone(),
            _ => Vec::new(),
        };
        let params: Vec<(String, r::Type)> = types.into_iter().map(|ty| (String::new(), ty)).collect();
        let (gone, absent) = (f.b.block("removed", &params), f.b.block("absent", &[]));
        f.end(r::Terminator::Try {
            op: r::Fallible::Remove { object, cell, key },
            then: to(gone),
            otherwise: to(absent),
        });
        let mut exits = Vec::new();
        for block in [gone, absent] {
            f.select(block);
            exits.extend(f.exit(Vec::new()));
        }
        f.join("after", exits);
    }

    // -- assignments

    fn assign(&mut self, f: &mut Frame<'p>, state: &'p s::StateRef, value: &'p s::Expr) {
        let values = self.expr(f, value);
        let object = self.object(f, state);
        let cells = self.cells(f.inst, state);
        self.set_cells(f, object, &cells, values);
    }

    pub fn set_cells(&mut self, f: &mut Frame<'p>, object: r::Value, cells: &[r::CellId], values: Vec<r::Value>) {
        let class = self.class_of(f, object);
        for (cell, value) in cells.iter().zip(values) {
            let value = match self.a.cell(class, *cell).kind {
                r::CellKind::Scalar { ty, .. } => self.cast(f, value, ty),
                _ => value,
            };
            f.op(&self.a, r::OpKind::Set { object, cell: *cell, value });
        }
    }

    fn assign_element(&mut self, f: &mut Frame<'p>, array: &'p s::StateRef, index: &'p s::Expr, value: &'p s::Expr) {
        let index = self.one(f, index);
        let values = self.expr(f, value);
        let object = self.object(f, array);
        let class = self.class_of(f, object);
        for (cell, value) in self.cells(f.inst, array).into_iter().zip(values) {
            let value = match self.a.cell(class, cell).kind {
                r::CellKind::Array { ty, .. } => self.cast(f, value, ty),
                _ => value,
            };
            f.op(&self.a, r::OpKind::SetAt { object, cell, index, value });
        }
    }

    // -- later

    fn later(&mut self, f: &mut Frame<'p>, handler: u32, args: &'p [s::Expr], otherwise: &'p [s::Stmt]) {
        let Some(layer) = self.layer(f.inst) else { return };
        let target_handler = &layer.handlers[handler as usize];
        let s::Event::Custom { name, later_capacity, .. } = &target_handler.event else { return };
        let before = f.locals.clone();
        let mut values: Vec<r::Value> = args.iter().flat_map(|arg| self.expr(f, arg)).collect();
        let on = match (target_handler.scope, f.place.session) {
            (s::ScopeKind::Session, Some(_)) => On::Session,
            (s::ScopeKind::Object(id), _) => On::Object(id),
            (s::ScopeKind::SessionBelow, _) => On::Lower,
            (s::ScopeKind::Point, _) => On::Point,
            _ => On::Entity,
        };
        let target = match on {
            On::Session => f.place.session,
            On::Lower => f.place.lower,
            On::Point => self.point_object(f),
            On::Object(_) => f.place.keyed.map(|(_, object)| object),
            On::Entity => None,
        };
        let entity = self.info(f.inst).entity();
        let target = target.unwrap_or_else(|| f.value(&self.a, r::OpKind::Unique { class: entity }));
        let (params, takes_flow) = self.own_params(f.inst, on, handler);
        if takes_flow {
            values.extend(self.flow_at_hand(f));
        }
        let event = name.text.clone();
        let trigger = r::Trigger::Event(event.clone());
        let what = What::Own { handler };
        self.need(Task { inst: f.inst, on, trigger, params, what, later: (*later_capacity).max(1) });
        let (then, full) = (f.b.block("queued", &[]), f.b.block("full", &[]));
        let args = values.clone();
        f.end(r::Terminator::Try {
            op: r::Fallible::Later { target, event, args },
            then: to(then),
            otherwise: to(full),
        });
        // What was given away is still ours where there is no room.
        let given = f.locals.clone();
        f.locals = before;
        f.select(full);
        self.or_block_from(f, (then, given), otherwise);
    }
}
