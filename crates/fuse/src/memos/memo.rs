//! Memos: the still part of a piece, as a function.

use rustc_hash::FxHashMap as HashMap;

use mokume_reaction::{to, Binary, BlockId, BodyBuilder, Function, OpKind, Operation, Role, Terminator, Type, Value};

use super::paper::Paper;
use super::plan::{Bound, Leaf, Plan, Step};
use super::still::{Key, Still};
use super::within::Ask;
use super::{Rewriter, U32};

impl<'a> Rewriter<'a> {
    /// The memo of a piece. It takes what its piece is kept by, if it needs it: a unique object it finds itself.
    pub(super) fn memo(&self, plan: &Plan, above: &[Step]) -> Function {
        let still = &*plan.still;
        let mut needed = vec![false; self.old.values.len()];
        plan.leaves.iter().flat_map(Leaf::given).for_each(|leaf| {
            leaf.fields.iter().for_each(|field| self.need(still, *field, &mut needed));
            let bounds = leaf.bounds.iter().flat_map(|(_, bounds)| bounds);
            bounds.for_each(|bound| self.need(still, bound.limit, &mut needed));
            let asked = leaf.steps.iter().filter(|(block, _)| self.is_still_end(still, *block));
            asked.for_each(|(block, _)| {
                let operands = self.old.blocks[block.index()].terminator.operands();
                operands.into_iter().for_each(|value| self.need(still, value, &mut needed));
            });
        });
        let unique = still.unique.filter(|(own, _)| needed[own.index()]);
        let taken = match &still.key {
            Key::Words { words, .. } => words.clone(),
            Key::Object(object) if !needed[object.index()] || still.unique.is_some_and(|(own, _)| own == *object) => {
                Vec::new()
            }
            Key::Object(object) => vec![*object],
        };
        let params: Vec<(String, Type)> = taken.iter().map(|value| self.named(*value)).collect();
        let builder = BodyBuilder::new(&params);
        let entry = builder.current().unwrap_or(BlockId(0));
        let given = builder.params(entry).to_vec();
        let mut values: HashMap<Value, Value> = taken.iter().copied().zip(given.iter().copied()).collect();
        if let Key::Words { again, .. } = &still.key {
            values.extend(again.iter().map(|(read, word)| (*read, given[*word])));
        }
        let mut paper = Paper::new(builder, values);
        if let Some((object, class)) = unique {
            let own = paper.builder.value(self.automaton, OpKind::Unique { class });
            paper.values.insert(object, own);
        }
        for (block, at) in above {
            self.state(still, *block, &needed, &mut paper);
            let end = &self.old.blocks[block.index()].terminator;
            let is_wanted = match end {
                Terminator::Try { then, .. } => {
                    self.old.blocks[then.block.index()].params.iter().any(|param| needed[param.index()])
                }
                // The question whether it lives must be repeated, so that this is known.
                Terminator::Branch { condition, .. } => still.made(*condition).is_some_and(
                    |op| matches!(op.kind, OpKind::Lives { object } if needed[object.index()] && still.is(*condition)),
                ),
                _ => false,
            };
            if is_wanted && self.is_still_end(still, *block) {
                self.ask(*block, *at, &mut paper);
            }
        }
        let mut results = Vec::new();
        if plan.leaves.len() > 1 {
            results.push(Type::U(8));
        }
        for leaf in plan.leaves.iter().flat_map(Leaf::given) {
            results.extend(leaf.fields.iter().map(|field| self.named(*field).1));
            results.extend(leaf.bounds.as_ref().map(|_| U32));
        }
        self.tree(plan, plan.root, &(0..plan.leaves.len()).collect::<Vec<_>>(), 0, &needed, &mut paper);
        if let Some(exit) = paper.exit {
            paper.builder.select(exit);
            paper.builder.end(Terminator::Refuse { values: Vec::new() });
        }
        let mut body = paper.builder.finish();
        mokume_analyse::straighten(&mut body);
        let name = format!("{}.memo_{}", self.name, self.memos.len() + 1);
        Function { name, role: Role::Memo, params, results, body }
    }

    pub(super) fn need(&self, still: &Still, value: Value, needed: &mut [bool]) {
        if !still.is(value) || std::mem::replace(&mut needed[value.index()], true) {
            return;
        }
        match still.made(value) {
            Some(op) => op.kind.for_each_operand(&mut |operand| self.need(still, operand, needed)),
            // What a look-up finds depends on where it looks.
            None => {
                for block in &self.old.blocks {
                    if let Terminator::Try { op, then, .. } = &block.terminator {
                        if self.old.blocks[then.block.index()].params.contains(&value) {
                            op.for_each_operand(&mut |operand| self.need(still, operand, needed));
                        }
                    }
                }
            }
        }
    }

    /// The still operations of a block, as far as they are needed.
    pub(super) fn state(&self, still: &Still, block: BlockId, needed: &[bool], paper: &mut Paper) {
        for op in &self.old.blocks[block.index()].ops {
            let is_known = op.results.first().is_some_and(|result| paper.values.contains_key(result));
            if still.is_made(op) && op.results.iter().any(|result| needed[result.index()]) && !is_known {
                paper.builder.set_source(op.source);
                let value = self.value(op.results[0], paper);
                self.know(op.results[0], value, paper);
            }
        }
        paper.builder.set_source(None);
    }

    /// Asks the question at the block's end, and continues where the path takes that target; otherwise the memo
    /// refuses.
    pub(super) fn ask(&self, block: BlockId, at: usize, paper: &mut Paper) {
        let found = &self.old.blocks[block.index()];
        let mut terminator = found.terminator.clone();
        terminator.for_each_operand_mut(|operand| *operand = self.value(*operand, paper));
        let next = self.next(block, at, paper);
        let exit = paper.exit();
        let mut place = 0;
        terminator.for_each_target_mut(|target| {
            *target = to(if place == at { next } else { exit }, []);
            place += 1;
        });
        // The results of a found look-up also go to the exit: a separate block takes them.
        if let (Terminator::Try { then, .. }, true) = (&mut terminator, at != 0) {
            let types: Vec<(String, Type)> = self.found(block).iter().map(|param| self.named(*param)).collect();
            let aside = paper.builder.block("", &types);
            then.block = aside;
            paper.aside(aside);
        }
        paper.builder.end_at(terminator, None);
        paper.builder.select(next);
    }

    /// What a look-up at the end of a block finds.
    pub(super) fn found(&self, block: BlockId) -> &'a [Value] {
        match &self.old.blocks[block.index()].terminator {
            Terminator::Try { then, .. } => {
                let params = &self.old.blocks[then.block.index()].params;
                &params[..params.len() - then.args.len()]
            }
            _ => &[],
        }
    }

    /// A new block for a target of a block, with the values that go there.
    pub(super) fn next(&self, block: BlockId, at: usize, paper: &mut Paper) -> BlockId {
        let found = if at == 0 { self.found(block) } else { &[] };
        let fresh: Vec<(String, Type)> = found.iter().map(|param| self.named(*param)).collect();
        let next = paper.builder.block("", &fresh);
        for (value, param) in found.iter().zip(paper.builder.params(next).to_vec()) {
            self.know(*value, param, paper);
        }
        self.hand_on(block, at, paper);
        next
    }

    /// What a target takes from its block is known there, too, as far as it is known here.
    fn hand_on(&self, block: BlockId, at: usize, paper: &mut Paper) {
        let target = self.target(block, at);
        let params = &self.old.blocks[target.block.index()].params;
        for (param, arg) in params[params.len() - target.args.len()..].iter().zip(&target.args) {
            if let Some(value) = self.known(*arg, paper) {
                paper.values.insert(*param, value);
            }
        }
    }

    /// What the memo asks and works out behind a leaf, for what is within it.
    fn behind(&self, still: &Still, leaf: &Leaf, needed: &[bool], asked: &mut Vec<Ask>, paper: &mut Paper) {
        for (arm, at) in leaf.arms.iter().zip(self.goes_on(leaf.last)).filter(|(arm, _)| arm.within) {
            self.hand_on(leaf.last, at, paper);
            for inner in &arm.leaves {
                for (block, at) in &inner.steps {
                    self.state(still, *block, needed, paper);
                    match self.ask_of(still, (*block, *at)) {
                        Some(ask) if !asked.contains(&ask) => {
                            asked.push(ask);
                            self.ask(*block, *at, paper);
                        }
                        _ => self.hand_on(*block, *at, paper),
                    }
                }
                self.state(still, inner.last, needed, paper);
                self.behind(still, inner, needed, asked, paper);
            }
        }
    }

    /// The ways of a memo from a block on, at this depth of its steps; only those that lead to `leaves`.
    pub(super) fn tree(
        &self,
        plan: &Plan,
        block: BlockId,
        leaves: &[usize],
        depth: usize,
        needed: &[bool],
        paper: &mut Paper,
    ) {
        self.state(&plan.still, block, needed, paper);
        let first = &plan.leaves[leaves[0]];
        let Some((_, at)) = first.steps.get(depth).copied() else {
            return self.leave(plan, leaves[0], needed, paper);
        };
        if !self.is_still_end(&plan.still, block) {
            // The path asks this.
            self.hand_on(block, at, paper);
            return self.tree(plan, self.target(block, at).block, leaves, depth + 1, needed, paper);
        }
        let arms = self.goes_on(block);
        if arms.len() == 1 {
            self.ask(block, at, paper);
            return self.tree(plan, self.target(block, at).block, leaves, depth + 1, needed, paper);
        }
        let found = &self.old.blocks[block.index()];
        let mut terminator = found.terminator.clone();
        terminator.for_each_operand_mut(|operand| *operand = self.value(*operand, paper));
        let before = paper.values.clone();
        let mut blocks = Vec::new();
        for at in 0..found.terminator.targets().len() {
            paper.values = before.clone();
            let next = match arms.contains(&at) {
                true => self.next(block, at, paper),
                false => paper.exit(),
            };
            blocks.push((next, paper.values.clone()));
        }
        let mut names = blocks.iter().map(|(block, _)| *block);
        terminator.for_each_target_mut(|target| {
            if let Some(block) = names.next() {
                *target = to(block, []);
            }
        });
        paper.builder.end_at(terminator, None);
        for (at, (next, values)) in blocks.into_iter().enumerate().filter(|(at, _)| arms.contains(at)) {
            paper.values = values;
            paper.builder.select(next);
            let here: Vec<usize> = leaves
                .iter()
                .copied()
                .filter(|leaf| plan.leaves[*leaf].steps.get(depth) == Some(&(block, at)))
                .collect();
            match here.is_empty() {
                true => {
                    let exit = paper.exit();
                    paper.builder.end(Terminator::Jump { to: to(exit, []) });
                }
                false => self.tree(plan, self.target(block, at).block, &here, depth + 1, needed, paper),
            }
        }
    }

    /// The results of the memo on a way.
    pub(super) fn leave(&self, plan: &Plan, leaf: usize, needed: &[bool], paper: &mut Paper) {
        let here = &plan.leaves[leaf];
        let mut asked: Vec<Ask> = here.steps.iter().filter_map(|step| self.ask_of(&plan.still, *step)).collect();
        self.behind(&plan.still, here, needed, &mut asked, paper);
        for object in here.given().into_iter().flat_map(|leaf| self.read_from(&plan.still, leaf)) {
            let ask = Ask::Lives(self.same.of_value(object));
            if !asked.contains(&ask) {
                asked.push(ask);
                let object = self.value(object, paper);
                let lives = paper.builder.value(self.automaton, OpKind::Lives { object });
                paper.only_if(lives);
            }
        }
        let mut values = Vec::new();
        if plan.leaves.len() > 1 {
            values.push(paper.builder.constant(self.automaton, Type::U(8), leaf as u64));
        }
        let all = plan.leaves.iter().enumerate();
        for (at, other) in all.flat_map(|(at, leaf)| leaf.given().into_iter().map(move |given| (at, given))) {
            for field in &other.fields {
                let ty = self.named(*field).1;
                values.push(match (at == leaf, ty) {
                    (true, _) => self.value(*field, paper),
                    (false, Type::Ref(class)) => paper.builder.value(self.automaton, OpKind::Null { class }),
                    (false, ty) => paper.builder.constant(self.automaton, ty, 0),
                });
            }
            if let Some((_, bounds)) = &other.bounds {
                values.push(match at == leaf {
                    true => self.room(&plan.still, bounds, paper),
                    false => paper.builder.constant(self.automaton, U32, 0),
                });
            }
        }
        paper.builder.end(Terminator::Yield { values });
    }

    /// The objects that a memo gives on a way, and whose cells the path reads there. The memo asks whether they live, as it asks
    /// once for many messages; a path may always refuse.
    pub(super) fn read_from(&self, still: &Still, leaf: &Leaf) -> Vec<Value> {
        let mut objects: Vec<Value> = Vec::new();
        for op in leaf.blocks().flat_map(|block| &self.old.blocks[block.index()].ops) {
            let reads = !still.is_made(op) && !self.is_idle(op);
            let Some((object, _)) = op.kind.cell().filter(|_| reads) else { continue };
            let is_mortal = self.old.class_of(object).is_some_and(|class| !self.automaton.is_unique(class));
            if is_mortal && leaf.fields.contains(&object) && !objects.contains(&object) {
                objects.push(object);
            }
        }
        objects
    }

    /// A message within all bounds has fewer octets than this; zero if there is none. So the memo asks nothing more for a bound, and
    /// memos that differ only in what they add to a message ask the same.
    fn room(&self, still: &Still, bounds: &[Bound], paper: &mut Paper) -> Value {
        let constants = bounds.iter().filter_map(|bound| Some(still.constant(bound.limit)? - bound.more));
        let most = u64::from(u32::MAX) - 1;
        let all = constants.min().unwrap_or(most).min(most) + 1;
        let mut room = paper.builder.constant(self.automaton, U32, all);
        for bound in bounds.iter().filter(|bound| still.constant(bound.limit).is_none()) {
            let limit = self.value(bound.limit, paper);
            let [most, one, more] =
                [most, 1, bound.more].map(|value| paper.builder.constant(self.automaton, U32, value));
            let mut binary =
                |op: Binary, a: Value, b: Value| paper.builder.value(self.automaton, OpKind::Binary { op, a, b });
            let limit = binary(Binary::Min, limit, most);
            let mut own = binary(Binary::AddWrap, limit, one);
            if bound.more > 0 {
                let least = binary(Binary::Max, own, more);
                own = binary(Binary::SubWrap, least, more);
            }
            room = binary(Binary::Min, room, own);
        }
        room
    }
}
