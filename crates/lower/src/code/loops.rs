//! Loops with bounds: the head's parameters are what the body changes, and a counter leaves at the limit.

use mokume_reaction as r;
use mokume_semantics::program as s;

use super::writer::{Exits, Writer};
use crate::fault::Fault;
use crate::program::assigned;

impl<'p> Writer<'_, 'p> {
    /// A loop that is entered at most `bound` times. `round` gets the loop's own values, initially `own`, and returns
    /// the next ones; branches that leave the loop exit to a join behind it, whose results are returned. `body` is the
    /// layer's code that a round runs.
    pub fn repeat(
        &mut self,
        body: &'p [s::Stmt],
        own: &[(&str, r::Value)],
        bound: u32,
        round: impl FnOnce(&mut Self, &[r::Value], &mut Exits) -> Vec<r::Value>,
    ) -> Vec<r::Value> {
        let (carried, runs) = (self.carried(body), self.runs.clone());
        // What follows in the block precedes it in the next round.
        self.begun |= self.begins_sessions(self.inst);
        let named = own.iter().map(|(name, value)| ((*name).to_owned(), self.b.type_of(*value)));
        let mut params: Vec<(String, r::Type)> = named.collect();
        let mut args: Vec<r::Value> = own.iter().map(|(_, value)| *value).collect();
        for (slot, values) in &carried {
            params.extend(values.iter().map(|value| (self.decls[*slot].name.text.clone(), self.b.type_of(*value))));
            args.extend(values);
        }
        let (live, head) = (self.live(), self.b.block("loop", &params));
        self.b.set_bound(head, bound);
        self.jump(head, args);
        let mut rest = self.b.params(head).to_vec();
        let own: Vec<r::Value> = rest.drain(..own.len()).collect();
        for (slot, values) in &carried {
            self.locals[*slot] = Some(rest.drain(..values.len()).collect());
        }
        self.select(head, live);
        let mut exits = Exits::default();
        let mut next = round(self, &own, &mut exits);
        next.extend(carried.iter().flat_map(|(slot, _)| self.locals[*slot].iter().flatten()));
        self.jump(head, next);
        self.runs = runs;
        self.meet(exits)
    }

    /// The locals that the code changes and that have values before it.
    fn carried(&self, body: &'p [s::Stmt]) -> Vec<(usize, Vec<r::Value>)> {
        let value = |local: s::LocalId| Some((local.index(), self.locals.get(local.index())?.clone()?));
        assigned(body).into_iter().filter_map(value).collect()
    }

    fn limit(&mut self, limit: &'p s::Expr) -> u32 {
        let limit = match self.one_constant(&self.env, limit) {
            None if self.asks_the_stack(limit) => self.limit_in_stack(limit),
            _ => {
                let env = self.env.clone();
                self.rounds(&env, limit)
            }
        };
        limit.saturating_sub(u32::from(self.faulty(Fault::LoopBound)))
    }

    /// Leaves the loop unless `a < b`.
    fn only_below(&mut self, exits: &mut Exits, a: r::Value, b: r::Value) {
        let more = self.compare(r::Compare::Lt, a, b);
        self.only(exits, more);
    }

    /// Leaves the loop unless the condition holds.
    pub fn only(&mut self, exits: &mut Exits, condition: r::Value) {
        let fork = self.fork(condition);
        self.unless(exits, fork, |_, _| {});
    }

    /// `while`, which ends at its limit even if its condition holds (docs/semantics.md, M5).
    pub fn while_(&mut self, condition: &'p s::Expr, limit: &'p s::Expr, body: &'p [s::Stmt]) {
        let limit = self.limit(limit);
        let zero = self.constant(r::Type::U(32), 0);
        self.repeat(body, &[("rounds", zero)], limit + 1, |w, own, done| {
            let most = w.constant(r::Type::U(32), u64::from(limit));
            w.only_below(done, own[0], most);
            w.facts.never |= limit == 0;
            let condition = w.one(condition);
            w.only(done, condition);
            w.run_block(body);
            vec![w.by_one(own[0], r::Binary::AddWrap)]
        });
    }

    /// `for` over numbers, the end exclusive, which also ends at its limit. If both ends are constant and within the
    /// limit, rounds are not counted.
    pub fn for_(
        &mut self,
        local: s::LocalId,
        (from, end): (&'p s::Expr, &'p s::Expr),
        limit: &'p s::Expr,
        body: &'p [s::Stmt],
    ) {
        let limit = self.limit(limit);
        let least = self.one_constant(&self.env, from);
        let known = least.zip(self.one_constant(&self.env, end));
        let few = known.is_some_and(|(from, end)| end.saturating_sub(from) <= u64::from(limit));
        let none = limit == 0 || known.is_some_and(|(from, end)| from >= end);
        let ty = self.scalar(self.decls[local.index()].ty);
        let start = self.one(from);
        let start = self.cast(start, ty);
        let last = self.one(end);
        let last = self.cast(last, ty);
        let zero = self.constant(r::Type::U(32), 0);
        let own = if few { vec![("at", start)] } else { vec![("at", start), ("rounds", zero)] };
        self.repeat(body, &own, limit + 1, |w, own, done| {
            let most = own.get(1).map(|rounds| (*rounds, w.constant(r::Type::U(32), u64::from(limit))));
            w.only_below(done, own[0], last);
            w.facts.never |= none;
            if let Some((rounds, most)) = most {
                w.b.set_label("round");
                w.only_below(done, rounds, most);
            }
            w.set_local(local, vec![own[0]]);
            w.counters.extend(least.map(|least| (own[0], least)));
            w.run_block(body);
            own.iter().map(|value| w.by_one(*value, r::Binary::AddWrap)).collect()
        });
    }

    /// The next object is found before the body runs: the body may end the current one.
    pub fn for_objects(&mut self, local: s::LocalId, class: s::ObjectId, limit: &'p s::Expr, body: &'p [s::Stmt]) {
        let limit = self.limit(limit);
        let (owner, _) = self.index_of(class);
        let class = self.info().objects[class.index()].class;
        let first = self.attempt(r::Fallible::First { class, parent: Some(owner) });
        let rounds = |w: &mut Self, first: &[r::Value]| {
            let zero = w.constant(r::Type::U(32), 0);
            w.repeat(body, &[("at", first[0]), ("rounds", zero)], limit + 1, |w, own, out| {
                let most = w.constant(r::Type::U(32), u64::from(limit));
                w.only_below(out, own[1], most);
                let next = w.next_or_null(own[0]);
                w.set_local(local, vec![own[0]]);
                w.run_block(body);
                let rounds = w.by_one(own[1], r::Binary::AddWrap);
                let more = w.is_there(next);
                w.only(out, more);
                vec![next, rounds]
            });
        };
        self.ways(first, rounds, |_, _| {});
    }

    /// The next younger object with the same parent; null after the last.
    fn next_or_null(&mut self, object: r::Value) -> r::Value {
        let (live, class) = (self.live(), self.class_of(object));
        self.note_names();
        let [next, last] = self.b.attempt(&self.lowering.a, r::Fallible::Next { object }, ["next", "last"]);
        self.select(last, live);
        let null = self.value(r::OpKind::Null { class });
        self.jump(next, [null]);
        self.select(next, live);
        self.b.params(next)[0]
    }

    /// Runs code for each object of a class in the entity; the code may release that object.
    pub fn each_of(&mut self, class: r::ClassId, each: impl FnOnce(&mut Self, r::Value)) {
        let entity = self.entity();
        let capacity = self.a.class(class).capacity;
        let first = self.attempt(r::Fallible::First { class, parent: Some(entity) });
        let rounds = |w: &mut Self, first: &[r::Value]| {
            w.repeat(&[], &[("at", first[0])], capacity + 1, |w, own, done| {
                let next = w.next_or_null(own[0]);
                each(w, own[0]);
                let more = w.is_there(next);
                w.only(done, more);
                vec![next]
            });
        };
        self.ways(first, rounds, |_, _| {});
    }
}
