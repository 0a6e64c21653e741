//! Control flow that forks and joins. The caller says what happens on each branch; this file makes the blocks, finds
//! which locals differ at joins, and starts each branch from the same state.

use mokume_reaction::{
    to, Binary, BlockId, CellId, ClassId, Compare, Fallible, HeaderId, OpKind, Operation, Target, Terminator, Type,
    Value, VariantId,
};

use super::writer::{Exit, Exits, Locals, Runs, Writer};

/// Two branches: where a condition holds or an attempt succeeds, and where not.
pub struct Fork {
    pub yes: Arm,
    pub no: Arm,
}

/// The beginning of a branch.
pub struct Arm {
    block: BlockId,
    /// The values for the branch: the results of an attempt.
    pub given: Vec<Value>,
    pub locals: Locals,
    runs: Runs,
    /// Whether the branch is reachable.
    live: bool,
    /// As [`Facts::never`](super::facts::Facts::never).
    pub never: bool,
}

impl Fork {
    /// The same with the branches swapped.
    pub fn turned(self) -> Fork {
        Fork { yes: self.no, no: self.yes }
    }
}

impl<'p> Writer<'_, 'p> {
    // -- forks

    /// Branches on a condition.
    pub fn fork(&mut self, condition: Value) -> Fork {
        self.fork_likely(condition, None)
    }

    /// The same, with the probability that the condition holds, 0 to 1.
    pub fn fork_likely(&mut self, condition: Value, likely: Option<f32>) -> Fork {
        let (then, otherwise) = (self.b.block("then", &[]), self.b.block("else", &[]));
        let (mut yes, mut no) = (self.arm(then), self.arm(otherwise));
        let known = self.facts.number(condition);
        yes.never |= known == Some(0);
        no.never |= known == Some(1);
        let fork = Fork { yes, no };
        self.end(Terminator::Branch { condition, then: to(then, []), otherwise: to(otherwise, []), likely });
        fork
    }

    /// Branches on whether an operation succeeds; both branches have its results.
    pub fn attempt(&mut self, op: Fallible) -> Fork {
        let given = self.used_up(&op);
        let (gives_back, labels) = (op.row().gives_back, labels(&op));
        self.note_names();
        let [then, otherwise] = self.b.attempt(&self.lowering.a, op, labels);
        let mut no = self.arm(otherwise);
        given.iter().for_each(|message| self.forget(*message));
        if !gives_back {
            no.locals.clone_from(&self.locals);
        }
        let yes = self.arm(then);
        self.leave();
        Fork { yes, no }
    }

    /// A branch that begins with a block, in the current state.
    pub fn arm(&self, block: BlockId) -> Arm {
        let given = self.b.params(block).to_vec();
        Arm {
            block,
            given,
            locals: self.locals.clone(),
            runs: self.runs.clone(),
            live: self.live(),
            never: self.facts.never,
        }
    }

    /// Continues on a branch; returns its values.
    pub fn follow(&mut self, arm: Arm) -> Vec<Value> {
        self.select(arm.block, arm.live);
        (self.locals, self.runs) = (arm.locals, arm.runs);
        self.facts.never = arm.never;
        arm.given
    }

    /// The current position as a branch to follow later.
    fn here(&mut self) -> Arm {
        let (live, block) = (self.live(), self.leave());
        let block = block.unwrap_or_else(|| self.b.block("nowhere", &[]));
        Arm {
            block,
            given: Vec::new(),
            locals: self.locals.clone(),
            runs: self.runs.clone(),
            live,
            never: self.facts.never,
        }
    }

    /// A fork of a search: yes where one of `found` has found something, no at the current position.
    pub fn found(&mut self, found: Exits) -> Fork {
        let no = self.here();
        let given = self.meet(found);
        let mut yes = self.here();
        yes.given = given;
        Fork { yes, no }
    }

    // -- joins

    /// Ends the current branch with these results; it continues at the join of `exits`.
    pub fn exit(&mut self, exits: &mut Exits, results: Vec<Value>) {
        let locals = self.locals.clone();
        let never = self.facts.never;
        exits.0.extend(self.leave().map(|block| Exit { block, locals, results, never }));
    }

    /// Continues where all exits join. Locals that differ become parameters of the block; returns the results of the
    /// exits. If there is no exit, the code that follows is unreachable, and there are no results.
    pub fn meet(&mut self, exits: Exits) -> Vec<Value> {
        let mut exits = exits.0;
        if exits.len() < 2 {
            let Some(exit) = exits.pop() else { return Vec::new() };
            self.select(exit.block, true);
            (self.locals, self.facts.never) = (exit.locals, exit.never);
            return exit.results;
        }
        let (mut merged, differing) = merged(&exits);
        let mut params = Vec::new();
        for slot in &differing {
            let name = self.decls.get(*slot).map_or(String::new(), |decl| decl.name.text.clone());
            params.extend(merged[*slot].iter().flatten().map(|value| (name.clone(), self.b.type_of(*value))));
        }
        params.extend(exits[0].results.iter().map(|value| (String::new(), self.b.type_of(*value))));
        let block = self.b.block("after", &params);
        let results = exits[0].results.len();
        let (never, numbers) = self.facts.of_exits(&exits);
        for exit in exits {
            let mut args: Vec<Value> =
                differing.iter().flat_map(|slot| local(&exit, *slot).unwrap_or(&[])).copied().collect();
            args.extend(&exit.results);
            self.select(exit.block, true);
            self.jump(block, args);
        }
        let values = self.b.params(block).to_vec();
        let mut rest = values.iter().copied();
        for slot in differing {
            let count = merged[slot].as_ref().map_or(0, Vec::len);
            merged[slot] = Some(rest.by_ref().take(count).collect());
        }
        self.select(block, true);
        self.locals = merged;
        self.facts.never = never;
        for (value, number) in values[values.len() - results..].iter().zip(numbers) {
            self.facts.note(Some(*value), number);
        }
        values[values.len() - results..].to_vec()
    }

    /// The same; if unreachable, returns `results`, which have the right types.
    fn meet_or(&mut self, exits: Exits, results: Vec<Value>) -> Vec<Value> {
        let met = self.meet(exits);
        if self.live() {
            met
        } else {
            results
        }
    }

    // -- both

    /// Runs `then` on the yes branch, which joins the other exits; continues on the no branch.
    pub fn on(&mut self, exits: &mut Exits, fork: Fork, then: impl FnOnce(&mut Self, &[Value])) {
        let given = self.follow(fork.yes);
        then(self, &given);
        self.exit(exits, Vec::new());
        self.follow(fork.no);
    }

    /// Runs `otherwise` on the no branch, which joins the other exits; continues on the yes branch, whose values it
    /// returns.
    pub fn unless(&mut self, exits: &mut Exits, fork: Fork, otherwise: impl FnOnce(&mut Self, &[Value])) -> Vec<Value> {
        let Fork { yes, no } = fork;
        let given = self.follow(no);
        otherwise(self, &given);
        self.exit(exits, Vec::new());
        self.follow(yes)
    }

    /// Runs one of the two; returns its values, the same number for each.
    pub fn either(
        &mut self,
        fork: Fork,
        then: impl FnOnce(&mut Self, &[Value]) -> Vec<Value>,
        otherwise: impl FnOnce(&mut Self, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let (mut exits, runs) = (Exits::default(), self.runs.clone());
        let given = self.follow(fork.yes);
        let results = then(self, &given);
        self.exit(&mut exits, results);
        let given = self.follow(fork.no);
        let results = otherwise(self, &given);
        self.exit(&mut exits, results.clone());
        self.runs = runs;
        self.meet_or(exits, results)
    }

    /// The same without values.
    pub fn ways(
        &mut self,
        fork: Fork,
        then: impl FnOnce(&mut Self, &[Value]),
        otherwise: impl FnOnce(&mut Self, &[Value]),
    ) {
        let then = |w: &mut Self, found: &[Value]| {
            then(w, found);
            Vec::new()
        };
        let otherwise = |w: &mut Self, found: &[Value]| {
            otherwise(w, found);
            Vec::new()
        };
        self.either(fork, then, otherwise);
    }

    /// Runs `then` where a condition holds.
    pub fn when(&mut self, condition: Value, then: impl FnOnce(&mut Self)) {
        let fork = self.fork(condition);
        self.ways(fork, |w, _| then(w), |_, _| {});
    }

    /// Branches on a number: `each` runs for every case, by its index in `keys`, and with `None` for all other numbers.
    /// Returns the results.
    pub fn switch(
        &mut self,
        value: Value,
        keys: &[Vec<u64>],
        mut each: impl FnMut(&mut Self, Option<usize>) -> Vec<Value>,
    ) -> Vec<Value> {
        let blocks: Vec<BlockId> = keys.iter().map(|_| self.b.block("case", &[])).collect();
        let default = self.b.block("else", &[]);
        let mut cases: Vec<(u64, Target)> = Vec::new();
        for (keys, block) in keys.iter().zip(&blocks) {
            for key in keys {
                if !cases.iter().any(|(known, _)| known == key) {
                    cases.push((*key, to(*block, [])));
                }
            }
        }
        let (mut exits, runs) = (Exits::default(), self.runs.clone());
        let here = blocks.into_iter().enumerate().map(|(at, block)| (Some(at), block)).chain([(None, default)]);
        let mut arms: Vec<(Option<usize>, Arm)> = here.map(|(at, block)| (at, self.arm(block))).collect();
        if let Some(known) = self.facts.number(value) {
            let taken = keys.iter().position(|keys| keys.contains(&known));
            arms.iter_mut().for_each(|(at, arm)| arm.never |= *at != taken);
        }
        self.end(Terminator::Switch { value, cases, default: to(default, []) });
        let mut last = Vec::new();
        for (at, arm) in arms {
            self.follow(arm);
            last = each(self, at);
            self.exit(&mut exits, last.clone());
        }
        self.runs = runs;
        self.meet_or(exits, last)
    }

    /// A branch for each variant of a message's header, with the message and the fields.
    pub fn variants(&mut self, message: Value, header: HeaderId, mut each: impl FnMut(&mut Self, usize, &[Value])) {
        let (mut arms, mut cases) = (Vec::new(), Vec::new());
        for at in 0..self.a.headers[header.index()].variants.len() {
            let variant = &self.a.headers[header.index()].variants[at];
            let fields = variant.fields.iter().cloned();
            let params: Vec<(String, Type)> = [("msg".to_owned(), Type::Msg)].into_iter().chain(fields).collect();
            let label = variant.name.to_lowercase();
            let block = self.b.block(label, &params);
            cases.push((VariantId::from(at), to(block, [])));
            arms.push(self.arm(block));
        }
        self.end(Terminator::Match { message, header, cases });
        let (mut exits, runs) = (Exits::default(), self.runs.clone());
        for (at, arm) in arms.into_iter().enumerate() {
            let given = self.follow(arm);
            self.forget(message);
            each(self, at, &given);
            self.exit(&mut exits, Vec::new());
        }
        self.runs = runs;
        self.meet(exits);
    }

    /// A branch for each number below `count`; the last one is also for all larger numbers.
    pub fn among(&mut self, value: Value, count: usize, mut each: impl FnMut(&mut Self, usize)) {
        let Some(last) = count.checked_sub(1) else { return };
        let keys: Vec<Vec<u64>> = (0..last as u64).map(|at| vec![at]).collect();
        self.switch(value, &keys, |w, at| {
            each(w, at.unwrap_or(last));
            Vec::new()
        });
    }

    // -- helpers

    /// The current content of a cell; a second call gives a new value.
    pub fn get(&mut self, object: Value, cell: CellId) -> Value {
        self.value(OpKind::Get { object, cell })
    }

    /// Writes a cell; the value must have the cell's type ([`Writer::set_cells`] converts it).
    pub fn set(&mut self, object: Value, cell: CellId, value: Value) {
        self.op(OpKind::Set { object, cell, value });
    }

    /// The current contents of the cells, in order.
    pub fn get_all(&mut self, object: Value, cells: &[CellId]) -> Vec<Value> {
        cells.iter().map(|cell| self.get(object, *cell)).collect()
    }

    /// Adds 1 to a cell, or subtracts 1; returns the new value.
    pub fn bump(&mut self, object: Value, cell: CellId, op: Binary) -> Value {
        let count = self.get(object, cell);
        let count = self.by_one(count, op);
        self.set(object, cell, count);
        count
    }

    /// A number plus or minus 1.
    pub fn by_one(&mut self, value: Value, op: Binary) -> Value {
        let one = self.constant(self.b.type_of(value), 1);
        self.binary(op, value, one)
    }

    /// An operator on two values of one type.
    pub fn binary(&mut self, op: Binary, a: Value, b: Value) -> Value {
        self.value(OpKind::Binary { op, a, b })
    }

    /// A comparison of two values of one type.
    pub fn compare(&mut self, op: Compare, a: Value, b: Value) -> Value {
        self.value(OpKind::Compare { op, a, b })
    }

    /// Whether a value is zero.
    pub fn is_zero(&mut self, value: Value) -> Value {
        let zero = self.constant(self.b.type_of(value), 0);
        self.compare(Compare::Eq, value, zero)
    }

    /// Whether a reference is not null.
    pub fn is_there(&mut self, object: Value) -> Value {
        let class = self.class_of(object);
        let null = self.value(OpKind::Null { class });
        self.compare(Compare::Ne, object, null)
    }

    /// Joins a condition with the previous ones by `op`.
    pub fn and(&mut self, before: Option<Value>, op: Binary, one: Value) -> Option<Value> {
        Some(match before {
            None => one,
            Some(before) => self.binary(op, before, one),
        })
    }

    /// Drops a message for one of the layer's own reasons.
    pub fn drop(&mut self, message: Value, reason: &str) {
        let reason = self.reason(reason);
        self.op(OpKind::Drop { message, reason });
    }

    /// Drops all messages among the arguments.
    pub fn drop_all(&mut self, args: &[Value], reason: &str) {
        for arg in args {
            if self.b.type_of(*arg) == Type::Msg {
                self.drop(*arg, reason);
            }
        }
    }

    /// A reason as a value.
    pub fn why(&mut self, reason: &str) -> Value {
        let reason = self.lowering.told_reason(self.inst, reason);
        self.constant(Type::Reason, u64::from(reason.0))
    }

    /// The object of a class with only one.
    pub fn unique(&mut self, class: ClassId) -> Value {
        self.value(OpKind::Unique { class })
    }

    /// Converts the value to the type: keeps the low bits, or extends with zeros; never reports. Unchanged if it has
    /// the type.
    pub fn cast(&mut self, value: Value, to: Type) -> Value {
        match self.b.type_of(value) == to {
            true => value,
            false => self.value(OpKind::Cast { a: value, to }),
        }
    }
}

fn local(exit: &Exit, slot: usize) -> Option<&[Value]> {
    exit.locals.get(slot).and_then(Option::as_deref)
}

/// The locals that exist in all exits, with the values of the first; and which of them differ.
fn merged(exits: &[Exit]) -> (Locals, Vec<usize>) {
    let slots = exits.iter().map(|exit| exit.locals.len()).max().unwrap_or(0);
    let (mut merged, mut differing) = (Locals::new(), Vec::new());
    for slot in 0..slots {
        let first = local(&exits[0], slot);
        let everywhere = exits.iter().all(|exit| local(exit, slot).is_some());
        if everywhere && exits.iter().any(|exit| local(exit, slot) != first) {
            differing.push(slot);
        }
        merged.push(first.filter(|_| everywhere).map(<[Value]>::to_vec));
    }
    (merged, differing)
}

/// The labels of the blocks after an operation.
fn labels(op: &Fallible) -> [&'static str; 2] {
    match op {
        Fallible::Decode { .. } => ["decoded", "refused"],
        Fallible::Validate { .. } => ["validated", "refused"],
        Fallible::Peek { .. } => ["peeked", "other"],
        Fallible::Find { .. } => ["found", "absent"],
        Fallible::Insert { .. } => ["entered", "full"],
        Fallible::Remove { .. } => ["removed", "absent"],
        Fallible::New { .. } => ["made", "full"],
        Fallible::First { .. } => ["first", "none"],
        Fallible::Next { .. } => ["next", "last"],
        Fallible::Take { .. } => ["taken", "short"],
        Fallible::TakeOut { .. } | Fallible::ShareHeld { .. } => ["held", "empty"],
        Fallible::TryRun { .. } => ["done", "refused"],
        Fallible::Recall { .. } => ["holds", "refused"],
        Fallible::Later { .. } => ["queued", "full"],
    }
}
