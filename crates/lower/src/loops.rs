//! Loops, each with its bound: a head whose parameters are what the body changes, and a counter that leaves at the limit.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::fault::Fault;
use crate::frame::{to, Frame};
use crate::lowering::Lowering;
use crate::octets::assigned;

impl<'p> Lowering<'p> {
    // -- loops

    fn limit(&mut self, f: &Frame<'p>, limit: &'p s::Expr) -> u32 {
        let limit = match self.one_constant(&f.env, limit) {
            None if self.asks_the_stack(limit) => self.limit_in_stack(f, limit),
            _ => self.size(&f.env, limit),
        };
        limit.saturating_sub(u32::from(self.faulty(Fault::LoopBound)))
    }

    /// Opens a loop: the head's parameters are the locals that the body changes, behind `own`. The answer: the head, its own
    /// parameters, and the locals that it carries.
    fn loop_head(
        &mut self,
        f: &mut Frame<'p>,
        body: &'p [s::Stmt],
        own: &[(&str, r::Value)],
        bound: u32,
    ) -> (r::BlockId, Vec<r::Value>, Vec<usize>) {
        let carried: Vec<usize> = assigned(body)
            .into_iter()
            .map(s::LocalId::index)
            .filter(|slot| f.locals.get(*slot).is_some_and(Option::is_some))
            .collect();
        let mut params: Vec<(String, r::Type)> =
            own.iter().map(|(name, value)| ((*name).to_owned(), f.b.type_of(*value))).collect();
        let mut args: Vec<r::Value> = own.iter().map(|(_, value)| *value).collect();
        for slot in &carried {
            for value in f.locals[*slot].clone().unwrap_or_default() {
                params.push((f.decls[*slot].name.text.clone(), f.b.type_of(value)));
                args.push(value);
            }
        }
        let head = f.b.block("loop", &params);
        f.b.set_bound(head, bound);
        f.jump(head, args);
        let values = f.b.params(head).to_vec();
        let mut at = own.len();
        for slot in &carried {
            let count = f.locals[*slot].as_ref().map_or(0, Vec::len);
            f.locals[*slot] = Some(values[at..at + count].to_vec());
            at += count;
        }
        f.select(head);
        (head, values[..own.len()].to_vec(), carried)
    }

    fn loop_back(&mut self, f: &mut Frame<'p>, head: r::BlockId, mut own: Vec<r::Value>, carried: &[usize]) {
        for slot in carried {
            own.extend(f.locals[*slot].clone().unwrap_or_default());
        }
        f.jump(head, own);
    }

    pub fn while_(&mut self, f: &mut Frame<'p>, condition: &'p s::Expr, limit: &'p s::Expr, body: &'p [s::Stmt]) {
        let limit = self.limit(f, limit);
        let zero = f.constant(&self.a, r::Type::U(32), 0);
        let (head, own, carried) = self.loop_head(f, body, &[("rounds", zero)], limit + 1);
        let most = f.constant(&self.a, r::Type::U(32), u64::from(limit));
        let more = f.value(&self.a, r::OpKind::Compare { op: r::Compare::Lt, a: own[0], b: most });
        let (ask, done) = f.branch(more, None, "ask", "done");
        let at_head = f.locals.clone();
        f.select(ask);
        let condition = self.one(f, condition);
        let round = f.b.block("round", &[]);
        f.end(r::Terminator::Branch { condition, then: to(round), otherwise: to(done), likely: None });
        f.select(round);
        self.block(f, body);
        if f.live() {
            let one = f.constant(&self.a, r::Type::U(32), 1);
            let next = f.value(&self.a, r::OpKind::Binary { op: r::Binary::AddWrap, a: own[0], b: one });
            self.loop_back(f, head, vec![next], &carried);
        }
        f.select(done);
        f.locals = at_head;
    }

    pub fn for_(
        &mut self,
        f: &mut Frame<'p>,
        local: s::LocalId,
        (from, end): (&'p s::Expr, &'p s::Expr),
        limit: &'p s::Expr,
        body: &'p [s::Stmt],
    ) {
        let limit = self.limit(f, limit);
        let known = self.one_constant(&f.env, from).zip(self.one_constant(&f.env, end));
        let few = known.is_some_and(|(from, end)| end.saturating_sub(from) <= u64::from(limit));
        let ty = f.decls[local.index()].ty;
        let ty = self.scalar(f.inst, ty);
        let start = self.one(f, from);
        let start = self.cast(f, start, ty);
        let last = self.one(f, end);
        let last = self.cast(f, last, ty);
        let zero = f.constant(&self.a, r::Type::U(32), 0);
        let own = if few { vec![("at", start)] } else { vec![("at", start), ("rounds", zero)] };
        let (head, own, carried) = self.loop_head(f, body, &own, limit + 1);
        let done = f.b.block("done", &[]);
        let at_head = f.locals.clone();
        let mut go_on = vec![(own[0], last)];
        if let Some(rounds) = own.get(1) {
            go_on.push((*rounds, f.constant(&self.a, r::Type::U(32), u64::from(limit))));
        }
        for (a, b) in go_on {
            let condition = f.value(&self.a, r::OpKind::Compare { op: r::Compare::Lt, a, b });
            let then = f.b.block("round", &[]);
            f.end(r::Terminator::Branch { condition, then: to(then), otherwise: to(done), likely: None });
            f.select(then);
        }
        f.set_local(local, vec![own[0]]);
        self.block(f, body);
        if f.live() {
            let mut next = Vec::new();
            for value in &own {
                let ty = f.b.type_of(*value);
                let one = f.constant(&self.a, ty, 1);
                next.push(f.value(&self.a, r::OpKind::Binary { op: r::Binary::AddWrap, a: *value, b: one }));
            }
            self.loop_back(f, head, next, &carried);
        }
        f.select(done);
        f.locals = at_head;
    }

    /// The next object is found before the body runs: the body may end the one at hand.
    pub fn for_objects(
        &mut self,
        f: &mut Frame<'p>,
        local: s::LocalId,
        class: s::ObjectId,
        limit: &'p s::Expr,
        body: &'p [s::Stmt],
    ) {
        let limit = self.limit(f, limit);
        let (entity, _) = self.index_of(f, class);
        let r::Type::Ref(class) = self.scalar(f.inst, s::Type::Object(class)) else { return };
        let first = f.b.block("first", &[("first".into(), r::Type::Ref(class))]);
        let done = f.b.block("done", &[]);
        f.end(r::Terminator::Try {
            op: r::Fallible::First { class, parent: Some(entity) },
            then: to(first),
            otherwise: to(done),
        });
        let start = f.b.params(first)[0];
        f.select(first);
        let zero = f.constant(&self.a, r::Type::U(32), 0);
        let before = f.locals.clone();
        let (head, own, carried) = self.loop_head(f, body, &[("at", start), ("rounds", zero)], limit + 1);
        let at_head = f.locals.clone();
        let out = f.b.block("out", &[]);
        let most = f.constant(&self.a, r::Type::U(32), u64::from(limit));
        let more = f.value(&self.a, r::OpKind::Compare { op: r::Compare::Lt, a: own[1], b: most });
        let ask = f.b.block("ask", &[]);
        f.end(r::Terminator::Branch { condition: more, then: to(ask), otherwise: to(out), likely: None });
        f.select(ask);
        let round = f.b.block("round", &[("next".into(), r::Type::Ref(class))]);
        let last = f.b.block("last", &[]);
        f.end(r::Terminator::Try { op: r::Fallible::Next { object: own[0] }, then: to(round), otherwise: to(last) });
        f.select(last);
        let null = f.value(&self.a, r::OpKind::Null { class });
        f.jump(round, vec![null]);
        f.select(round);
        let next = f.b.params(round)[0];
        f.set_local(local, vec![own[0]]);
        self.block(f, body);
        let mut exits = Vec::new();
        if f.live() {
            let one = f.constant(&self.a, r::Type::U(32), 1);
            let rounds = f.value(&self.a, r::OpKind::Binary { op: r::Binary::AddWrap, a: own[1], b: one });
            let null = f.value(&self.a, r::OpKind::Null { class });
            let more = f.value(&self.a, r::OpKind::Compare { op: r::Compare::Ne, a: next, b: null });
            let (again, end) = f.branch(more, None, "again", "end");
            f.select(end);
            exits.extend(f.exit(Vec::new()));
            f.select(again);
            self.loop_back(f, head, vec![next, rounds], &carried);
        }
        f.select(out);
        f.locals = at_head;
        exits.extend(f.exit(Vec::new()));
        f.select(done);
        f.locals = before;
        exits.extend(f.exit(Vec::new()));
        f.join("after", exits);
    }
}
