//! Loops, each with its bound: a head whose parameters are what the body changes, and a counter that leaves at the limit.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::fault::Fault;
use crate::frame::{to, Writer};
use crate::octets::assigned;

impl<'p> Writer<'_, 'p> {
    // -- loops

    fn limit(&mut self, limit: &'p s::Expr) -> u32 {
        let limit = match self.one_constant(&self.env, limit) {
            None if self.asks_the_stack(limit) => self.limit_in_stack(limit),
            _ => {
                let env = self.env.clone();
                self.size(&env, limit)
            }
        };
        limit.saturating_sub(u32::from(self.faulty(Fault::LoopBound)))
    }

    /// Opens a loop: the head's parameters are the locals that the body changes, behind `own`. The answer: the head, its own
    /// parameters, and the locals that it carries.
    fn loop_head(
        &mut self,
        body: &'p [s::Stmt],
        own: &[(&str, r::Value)],
        bound: u32,
    ) -> (r::BlockId, Vec<r::Value>, Vec<usize>) {
        let carried: Vec<usize> = assigned(body)
            .into_iter()
            .map(s::LocalId::index)
            .filter(|slot| self.locals.get(*slot).is_some_and(Option::is_some))
            .collect();
        let mut params: Vec<(String, r::Type)> =
            own.iter().map(|(name, value)| ((*name).to_owned(), self.b.type_of(*value))).collect();
        let mut args: Vec<r::Value> = own.iter().map(|(_, value)| *value).collect();
        for slot in &carried {
            for value in self.locals[*slot].clone().unwrap_or_default() {
                params.push((self.decls[*slot].name.text.clone(), self.b.type_of(value)));
                args.push(value);
            }
        }
        let head = self.b.block("loop", &params);
        self.b.set_bound(head, bound);
        self.jump(head, args);
        let values = self.b.params(head).to_vec();
        let mut at = own.len();
        for slot in &carried {
            let count = self.locals[*slot].as_ref().map_or(0, Vec::len);
            self.locals[*slot] = Some(values[at..at + count].to_vec());
            at += count;
        }
        self.select(head);
        (head, values[..own.len()].to_vec(), carried)
    }

    fn loop_back(&mut self, head: r::BlockId, mut own: Vec<r::Value>, carried: &[usize]) {
        for slot in carried {
            own.extend(self.locals[*slot].clone().unwrap_or_default());
        }
        self.jump(head, own);
    }

    pub fn while_(&mut self, condition: &'p s::Expr, limit: &'p s::Expr, body: &'p [s::Stmt]) {
        let limit = self.limit(limit);
        let zero = self.constant(r::Type::U(32), 0);
        let (head, own, carried) = self.loop_head(body, &[("rounds", zero)], limit + 1);
        let most = self.constant(r::Type::U(32), u64::from(limit));
        let more = self.value(r::OpKind::Compare { op: r::Compare::Lt, a: own[0], b: most });
        let (ask, done) = self.branch(more, None, "ask", "done");
        let at_head = self.locals.clone();
        self.select(ask);
        let condition = self.one(condition);
        let round = self.b.block("round", &[]);
        self.end(r::Terminator::Branch { condition, then: to(round), otherwise: to(done), likely: None });
        self.select(round);
        self.block(body);
        if self.live() {
            let one = self.constant(r::Type::U(32), 1);
            let next = self.value(r::OpKind::Binary { op: r::Binary::AddWrap, a: own[0], b: one });
            self.loop_back(head, vec![next], &carried);
        }
        self.select(done);
        self.locals = at_head;
    }

    pub fn for_(
        &mut self,
        local: s::LocalId,
        (from, end): (&'p s::Expr, &'p s::Expr),
        limit: &'p s::Expr,
        body: &'p [s::Stmt],
    ) {
        let limit = self.limit(limit);
        let known = self.one_constant(&self.env, from).zip(self.one_constant(&self.env, end));
        let few = known.is_some_and(|(from, end)| end.saturating_sub(from) <= u64::from(limit));
        let ty = self.decls[local.index()].ty;
        let ty = self.scalar(ty);
        let start = self.one(from);
        let start = self.cast(start, ty);
        let last = self.one(end);
        let last = self.cast(last, ty);
        let zero = self.constant(r::Type::U(32), 0);
        let own = if few { vec![("at", start)] } else { vec![("at", start), ("rounds", zero)] };
        let (head, own, carried) = self.loop_head(body, &own, limit + 1);
        let done = self.b.block("done", &[]);
        let at_head = self.locals.clone();
        let mut go_on = vec![(own[0], last)];
        if let Some(rounds) = own.get(1) {
            go_on.push((*rounds, self.constant(r::Type::U(32), u64::from(limit))));
        }
        for (a, b) in go_on {
            let condition = self.value(r::OpKind::Compare { op: r::Compare::Lt, a, b });
            let then = self.b.block("round", &[]);
            self.end(r::Terminator::Branch { condition, then: to(then), otherwise: to(done), likely: None });
            self.select(then);
        }
        self.set_local(local, vec![own[0]]);
        self.block(body);
        if self.live() {
            let mut next = Vec::new();
            for value in &own {
                let ty = self.b.type_of(*value);
                let one = self.constant(ty, 1);
                next.push(self.value(r::OpKind::Binary { op: r::Binary::AddWrap, a: *value, b: one }));
            }
            self.loop_back(head, next, &carried);
        }
        self.select(done);
        self.locals = at_head;
    }

    /// The next object is found before the body runs: the body may end the one at hand.
    pub fn for_objects(&mut self, local: s::LocalId, class: s::ObjectId, limit: &'p s::Expr, body: &'p [s::Stmt]) {
        let limit = self.limit(limit);
        let (entity, _) = self.index_of(class);
        let r::Type::Ref(class) = self.scalar(s::Type::Object(class)) else { return };
        let first = self.b.block("first", &[("first".into(), r::Type::Ref(class))]);
        let done = self.b.block("done", &[]);
        self.end(r::Terminator::Try {
            op: r::Fallible::First { class, parent: Some(entity) },
            then: to(first),
            otherwise: to(done),
        });
        let start = self.b.params(first)[0];
        self.select(first);
        let zero = self.constant(r::Type::U(32), 0);
        let before = self.locals.clone();
        let (head, own, carried) = self.loop_head(body, &[("at", start), ("rounds", zero)], limit + 1);
        let at_head = self.locals.clone();
        let out = self.b.block("out", &[]);
        let most = self.constant(r::Type::U(32), u64::from(limit));
        let more = self.value(r::OpKind::Compare { op: r::Compare::Lt, a: own[1], b: most });
        let ask = self.b.block("ask", &[]);
        self.end(r::Terminator::Branch { condition: more, then: to(ask), otherwise: to(out), likely: None });
        self.select(ask);
        let round = self.b.block("round", &[("next".into(), r::Type::Ref(class))]);
        let last = self.b.block("last", &[]);
        self.end(r::Terminator::Try { op: r::Fallible::Next { object: own[0] }, then: to(round), otherwise: to(last) });
        self.select(last);
        let null = self.value(r::OpKind::Null { class });
        self.jump(round, vec![null]);
        self.select(round);
        let next = self.b.params(round)[0];
        self.set_local(local, vec![own[0]]);
        self.block(body);
        let mut exits = Vec::new();
        if self.live() {
            let one = self.constant(r::Type::U(32), 1);
            let rounds = self.value(r::OpKind::Binary { op: r::Binary::AddWrap, a: own[1], b: one });
            let null = self.value(r::OpKind::Null { class });
            let more = self.value(r::OpKind::Compare { op: r::Compare::Ne, a: next, b: null });
            let (again, end) = self.branch(more, None, "again", "end");
            self.select(end);
            exits.extend(self.exit(Vec::new()));
            self.select(again);
            self.loop_back(head, vec![next, rounds], &carried);
        }
        self.select(out);
        self.locals = at_head;
        exits.extend(self.exit(Vec::new()));
        self.select(done);
        self.locals = before;
        exits.extend(self.exit(Vec::new()));
        self.join("after", exits);
    }
}
