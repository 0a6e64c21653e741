//! What a path asks of state that seldom changes, once for many messages (paper `001`, fast-path predicates; Synthesis' invariants).
//!
//! On paths most guards, look-ups and values are of objects and cells that stay as they are from message to message: who is above whom,
//! whether it lives, the neighbour's address. They move to *memos*: functions of state alone, which the path recalls. A memo's answer may
//! be kept until a cell, a map or an object that it read changes; who runs the automaton sees to that, or works it out each time.
//!
//! It must keep: a path with memos in place ([`mokume_analyse::flat`]) asks what it asked before, perhaps in another order and more than
//! once, and does the same.

mod gathered;
mod still;

use std::collections::HashMap;

use mokume_reaction::{
    to, Automaton, Binary, BlockId, Body, BodyBuilder, ClassId, Compare, Fallible, Function, FunctionId, Op, OpKind,
    Operation, Role, Target, Terminator, Type, Value,
};

use still::{hot, Still};

/// Ways that one memo may tell apart.
const LEAVES: usize = 6;
/// What a memo must save to be worth its place: more than this, in instructions as they are counted here.
pub const WORTH: usize = 8;

/// The automaton, its paths with memos that save more than `worth`; [`WORTH`] but for tests.
pub fn remembered(automaton: &Automaton, worth: usize) -> Automaton {
    let mut automaton = automaton.clone();
    let hot = hot(&automaton);
    for index in 0..automaton.paths.len() {
        let path = &automaton.paths[index];
        let name = automaton.handler_name(path.handler);
        let old = gathered::gathered(&Still::of(&path.body, &hot));
        let still = Still::of(&old, &hot);
        let mut rewriter = Rewriter {
            automaton: &automaton,
            old: &old,
            name,
            still,
            memos: Vec::new(),
            least: worth,
            used: Vec::new(),
        };
        let mut plan = rewriter.plan(BlockId(0), &[]);
        rewriter.find_used(&plan);
        rewriter.fill(&mut plan);
        let body = rewriter.body(&plan);
        let memos = rewriter.memos;
        if !memos.is_empty() {
            automaton.functions.extend(memos);
            automaton.paths[index].body = body;
        }
    }
    automaton
}

const U32: Type = Type::U(32);

/// A block on a way, and which of its targets the way takes.
type Step = (BlockId, usize);

/// A piece of a path from a block on, up to where its ways part.
struct Plan {
    root: BlockId,
    /// Whether a memo tells its leaves apart, and gives what is still; else there is one leaf.
    memo: bool,
    leaves: Vec<Leaf>,
}

/// One way through a piece.
struct Leaf {
    /// The blocks, the last of which ends the path, or parts it.
    steps: Vec<Step>,
    last: BlockId,
    /// Behind each target of the last block that is no exit, in their order.
    arms: Vec<Plan>,
    /// What is still, and asked for behind the memo.
    fields: Vec<Value>,
    /// A message's size, and what it may be at most: asked once, of the least.
    bounds: Option<(Value, Vec<Bound>)>,
}

impl Leaf {
    fn is_bound(&self, block: BlockId) -> bool {
        self.bounds.as_ref().is_some_and(|(_, bounds)| bounds.iter().any(|bound| bound.block == block))
    }
}

/// The size and so many octets more are no more than a limit that is still.
#[derive(Clone, Copy)]
struct Bound {
    block: BlockId,
    more: u64,
    limit: Value,
}

struct Rewriter<'a> {
    automaton: &'a Automaton,
    old: &'a Body,
    name: String,
    still: Still<'a>,
    memos: Vec<Function>,
    least: usize,
    /// What is asked for, still or not, once memos have said what they say.
    used: Vec<bool>,
}

impl<'a> Rewriter<'a> {
    /// Whether a block does nothing but refuse, or go where that is done.
    fn refuses(&self, block: BlockId) -> bool {
        let block = &self.old.blocks[block.index()];
        let goes_there = match &block.terminator {
            Terminator::Refuse { .. } => true,
            Terminator::Jump { to } => self.refuses(to.block),
            _ => false,
        };
        block.ops.is_empty() && goes_there
    }

    /// Whether the block's end asks for what is still, and nothing else.
    fn is_still_end(&self, block: BlockId) -> bool {
        match &self.old.blocks[block.index()].terminator {
            Terminator::Branch { condition, .. } => self.still.is(*condition),
            Terminator::Try { op, then, .. } => {
                let found = self.old.blocks[then.block.index()].params.iter();
                self.still.is_attempt(op) && found.clone().all(|param| self.still.is(*param))
            }
            _ => false,
        }
    }

    /// The targets of a block by which the path goes on.
    fn goes_on(&self, block: BlockId) -> Vec<usize> {
        let targets = self.old.blocks[block.index()].terminator.targets();
        (0..targets.len()).filter(|at| !self.refuses(targets[*at].block)).collect()
    }

    fn target(&self, block: BlockId, at: usize) -> &'a Target {
        self.old.blocks[block.index()].terminator.targets()[at]
    }

    // -- where ways part

    /// The ways from a block on; those that part by what is still are several if `memo`.
    fn ways(&self, root: BlockId, memo: bool) -> Vec<(Vec<Step>, BlockId)> {
        let mut found = Vec::new();
        let mut open = vec![(Vec::new(), root)];
        while let Some((mut steps, block)) = open.pop() {
            let on = self.goes_on(block);
            let is_alone = |at: &usize| self.still.ways_in[self.target(block, *at).block.index()] == 1;
            let parts =
                on.len() > 1 && !(memo && self.is_still_end(block) && found.len() + open.len() + on.len() <= LEAVES);
            if on.is_empty() || parts || !on.iter().all(is_alone) {
                found.push((steps, block));
                continue;
            }
            if let [one] = on[..] {
                steps.push((block, one));
                open.push((steps, self.target(block, one).block));
                continue;
            }
            // The likeliest is taken first.
            for at in on.into_iter().rev() {
                let mut steps = steps.clone();
                steps.push((block, at));
                open.push((steps, self.target(block, at).block));
            }
        }
        found
    }

    /// `above`: the steps that lead to the block.
    fn plan(&self, root: BlockId, above: &[Step]) -> Plan {
        let ways = self.ways(root, true);
        let memo = ways.iter().map(|(steps, last)| self.worth(steps, *last)).max().unwrap_or(0) > self.least;
        let ways = if memo { ways } else { self.ways(root, false) };
        let leaves = ways.into_iter().map(|(steps, last)| {
            let arms = self.goes_on(last).into_iter().map(|at| {
                let above = [above, &steps, &[(last, at)]].concat();
                self.plan(self.target(last, at).block, &above)
            });
            let arms: Vec<Plan> = arms.collect();
            let bounds = if memo { self.bounds(&steps) } else { None };
            Leaf { steps, last, arms, fields: Vec::new(), bounds }
        });
        Plan { root, memo, leaves: leaves.collect() }
    }

    /// What leaves ask their memos for.
    fn fill(&self, plan: &mut Plan) {
        for leaf in &mut plan.leaves {
            leaf.arms.iter_mut().for_each(|arm| self.fill(arm));
            if plan.memo {
                let mut wanted = Vec::new();
                self.wanted(leaf, true, &mut wanted);
                let fields = wanted.into_iter().filter(|value| self.still.is(*value) && !self.still.is_cheap(*value));
                leaf.fields = fields.collect();
            }
        }
    }

    /// Finds what is asked for behind the memos.
    fn find_used(&mut self, plan: &Plan) {
        let mut used = vec![false; self.old.values.len()];
        self.use_of(plan, &mut used);
        // What is asked for is made of what is asked for, too.
        for _ in 0..2 {
            for op in self.old.blocks.iter().rev().flat_map(|block| block.ops.iter().rev()) {
                if op.results.iter().any(|result| used[result.index()]) {
                    op.kind.for_each_operand(&mut |operand| used[operand.index()] = true);
                }
            }
        }
        self.used = used;
    }

    fn use_of(&self, plan: &Plan, used: &mut [bool]) {
        for leaf in &plan.leaves {
            for block in leaf.steps.iter().map(|(block, _)| *block).chain([leaf.last]) {
                let found = &self.old.blocks[block.index()];
                for op in found.ops.iter().filter(|op| !is_pure(op)) {
                    op.kind.for_each_operand(&mut |operand| used[operand.index()] = true);
                }
                if self.is_asked(plan.memo, leaf, block) {
                    found.terminator.operands().into_iter().for_each(|operand| used[operand.index()] = true);
                }
                let args = found.terminator.targets().into_iter().flat_map(|target| target.args.iter());
                args.for_each(|arg| used[arg.index()] = true);
            }
            if let Some((size, _)) = leaf.bounds {
                used[size.index()] = true;
            }
            leaf.arms.iter().for_each(|arm| self.use_of(arm, used));
        }
    }

    /// Whether the path asks what the end of a block asks.
    fn is_asked(&self, memo: bool, leaf: &Leaf, block: BlockId) -> bool {
        !(memo && block != leaf.last && (self.is_still_end(block) || leaf.is_bound(block)))
    }

    /// Whether nobody asks for what it makes, and it does nothing.
    fn is_idle(&self, op: &Op) -> bool {
        is_pure(op) && !op.results.iter().any(|result| self.used[result.index()])
    }

    /// The bounds of a message's size on a way, if there are several.
    fn bounds(&self, steps: &[Step]) -> Option<(Value, Vec<Bound>)> {
        let all: Vec<(Value, Bound)> = steps.iter().filter_map(|(block, at)| self.bound(*block, *at)).collect();
        let size = all.first()?.0;
        let own: Vec<Bound> = all.into_iter().filter(|(of, _)| *of == size).map(|(_, bound)| bound).collect();
        (own.len() > 1).then_some((size, own))
    }

    fn bound(&self, block: BlockId, at: usize) -> Option<(Value, Bound)> {
        let Terminator::Branch { condition, .. } = &self.old.blocks[block.index()].terminator else { return None };
        if !self.refuses(self.target(block, 1 - at).block) {
            return None;
        }
        let OpKind::Compare { op, a, b } = self.still.made(*condition)?.kind else { return None };
        let (low, limit, is_less) = match (op, at == 0) {
            (Compare::Le, true) | (Compare::Gt, false) => (a, b, 0),
            (Compare::Lt, true) | (Compare::Ge, false) => (a, b, 1),
            (Compare::Ge, true) | (Compare::Lt, false) => (b, a, 0),
            (Compare::Gt, true) | (Compare::Le, false) => (b, a, 1),
            (Compare::Eq | Compare::Ne, _) => return None,
        };
        let is_size = |value: Value| self.still.made(value).is_some_and(|op| matches!(op.kind, OpKind::Size { .. }));
        let (size, more) = match self.still.made(low)?.kind {
            OpKind::Binary { op: Binary::AddWrap, a, b } => (a, self.still.constant(b)?),
            _ => (low, 0),
        };
        // No message is so long that it would go around.
        let fits = is_size(size) && more < 1 << 30 && self.still.is(limit);
        let more = more + is_less;
        let fits = fits && self.still.constant(limit).is_none_or(|limit| limit >= more);
        fits.then_some((size, Bound { block, more, limit }))
    }

    /// What a memo saves on a way, about.
    fn worth(&self, steps: &[Step], last: BlockId) -> usize {
        let ends = steps.iter().filter(|(block, _)| self.is_still_end(*block)).map(|(block, _)| {
            match &self.old.blocks[block.index()].terminator {
                Terminator::Try { .. } => 15,
                _ => 2,
            }
        });
        let blocks = steps.iter().map(|(block, _)| *block).chain([last]);
        let ops = blocks.flat_map(|block| &self.old.blocks[block.index()].ops);
        let still =
            ops.filter(|op| op.results.iter().any(|result| self.still.is(*result) && !self.still.is_cheap(*result)));
        let ops = still.map(|op| match op.kind {
            OpKind::Lives { .. } => 6,
            OpKind::Get { .. } => 2,
            _ => 1,
        });
        ends.chain(ops).sum()
    }

    /// What a leaf, and all behind it, asks for that is made elsewhere, each once: of what is still all of it, if `memo`.
    fn wanted(&self, leaf: &Leaf, memo: bool, wanted: &mut Vec<Value>) {
        let mut want = |value: Value| {
            if !wanted.contains(&value) {
                wanted.push(value);
            }
        };
        let blocks = leaf.steps.iter().map(|(block, _)| *block).chain([leaf.last]);
        for block in blocks {
            let found = &self.old.blocks[block.index()];
            for op in found.ops.iter().filter(|op| !(self.is_idle(op) || memo && self.still.is_made(op))) {
                op.kind.for_each_operand(&mut want);
            }
            if self.is_asked(memo, leaf, block) {
                found.terminator.operands().into_iter().for_each(&mut want);
            }
            let args = found.terminator.targets().into_iter().flat_map(|target| target.args.iter().copied());
            args.for_each(&mut want);
        }
        for arm in &leaf.arms {
            // What a memo of its own gives there is not asked for here.
            for inner in &arm.leaves {
                let mut more = Vec::new();
                self.wanted(inner, arm.memo, &mut more);
                let here = more.into_iter().filter(|value| !(arm.memo && self.still.is(*value)));
                here.for_each(&mut want);
            }
        }
        if !memo {
            let blocks = leaf.steps.iter().map(|(block, _)| *block).chain([leaf.last]);
            let made: Vec<Value> = blocks
                .flat_map(|block| {
                    let found = &self.old.blocks[block.index()];
                    let results = found.ops.iter().flat_map(|op| op.results.iter());
                    let targets = found.terminator.targets().into_iter();
                    let params = targets.flat_map(|target| self.old.blocks[target.block.index()].params.iter());
                    results.chain(params).copied().collect::<Vec<_>>()
                })
                .collect();
            wanted.retain(|value| !made.contains(value) || self.still.is_cheap(*value));
        }
        // Cheap ones are made of others.
        let mut at = 0;
        while at < wanted.len() {
            if self.still.is_cheap(wanted[at]) {
                for operand in self.still.made(wanted[at]).map(|op| op.kind.operands()).unwrap_or_default() {
                    if !wanted.contains(&operand) {
                        wanted.push(operand);
                    }
                }
            }
            at += 1;
        }
    }

    // -- the path anew

    fn body(&mut self, plan: &Plan) -> Body {
        let params: Vec<(String, Type)> = self.old.blocks[0].params.iter().map(|param| self.named(*param)).collect();
        let builder = BodyBuilder::new(&params);
        let entry = builder.current().unwrap_or(BlockId(0));
        let given = self.old.blocks[0].params.iter().copied().zip(builder.params(entry).to_vec());
        let mut paper = Paper { builder, values: given.collect(), exit: None };
        self.piece(plan, &[], &mut paper);
        if let Some(exit) = paper.exit {
            paper.builder.select(exit);
            paper.builder.set_source(None);
            let params = paper.builder.params(entry).to_vec();
            let messages = params.into_iter().filter(|param| paper.builder.type_of(*param) == Type::Msg).collect();
            paper.builder.end(Terminator::Refuse { values: messages });
        }
        let mut body = paper.builder.finish();
        mokume_analyse::straighten(&mut body);
        body
    }

    fn named(&self, value: Value) -> (String, Type) {
        let info = &self.old.values[value.index()];
        (info.name.clone(), info.ty)
    }

    fn piece(&mut self, plan: &Plan, above: &[Step], paper: &mut Paper) {
        if !plan.memo {
            for leaf in &plan.leaves {
                self.leaf(plan, leaf, above, paper);
            }
            return;
        }
        let (memo, takes_key) = self.memo(plan, above);
        let args = if takes_key { vec![paper.values[&self.still.key]] } else { Vec::new() };
        let (functions, mine) = (self.automaton.functions.len(), self.memos.len());
        let function = FunctionId::from(functions + mine);
        let results: Vec<(String, Type)> = memo.results.iter().map(|ty| (String::new(), *ty)).collect();
        self.memos.push(memo);
        let exit = paper.exit();
        let holds = paper.builder.block("", &results);
        let op = Fallible::Recall { memo: function, args };
        paper.builder.set_source(None);
        paper.builder.end(Terminator::Try { op, then: to(holds, []), otherwise: to(exit, []) });
        let mut given = paper.builder.params(holds).to_vec().into_iter();
        paper.builder.select(holds);
        let way = if plan.leaves.len() > 1 { given.next() } else { None };
        let mut blocks = vec![holds];
        if let Some(way) = way {
            blocks = plan.leaves.iter().map(|_| paper.builder.block("", &[])).collect();
            let cases = blocks.iter().enumerate().skip(1).map(|(at, block)| (at as u64, to(*block, []))).collect();
            paper.builder.end(Terminator::Switch { value: way, cases, default: to(blocks[0], []) });
        }
        let before = paper.values.clone();
        for (leaf, block) in plan.leaves.iter().zip(blocks) {
            paper.values = before.clone();
            let fields: Vec<_> = leaf.fields.iter().copied().zip(&mut given).collect();
            paper.values.extend(fields);
            paper.builder.select(block);
            if let (Some((size, _)), Some(most)) = (&leaf.bounds, leaf.bounds.as_ref().and_then(|_| given.next())) {
                let size = self.value(*size, paper);
                let condition =
                    paper.builder.value(self.automaton, OpKind::Compare { op: Compare::Le, a: size, b: most });
                let next = paper.builder.block("", &[]);
                let (then, otherwise) = (to(next, []), to(paper.exit(), []));
                paper.builder.end(Terminator::Branch { condition, then, otherwise, likely: Some(0.999) });
                paper.builder.select(next);
            }
            self.leaf(plan, leaf, above, paper);
        }
    }

    /// A way through a piece, without what its memo has said.
    fn leaf(&mut self, plan: &Plan, leaf: &Leaf, above: &[Step], paper: &mut Paper) {
        for (block, at) in &leaf.steps {
            self.operations(*block, plan.memo, paper);
            if plan.memo && (self.is_still_end(*block) || leaf.is_bound(*block)) {
                continue;
            }
            self.end(*block, paper, |target, next, _, _| (target == *at).then_some(next));
        }
        self.operations(leaf.last, plan.memo, paper);
        let mut arms = Vec::new();
        self.end(leaf.last, paper, |_, next, values, _| {
            arms.push((next, values.clone()));
            None
        });
        let values = paper.values.clone();
        for ((arm, at), (block, more)) in leaf.arms.iter().zip(self.goes_on(leaf.last)).zip(arms) {
            paper.values = values.clone();
            paper.values.extend(more);
            paper.builder.select(block);
            let above = [above, &leaf.steps, &[(leaf.last, at)]].concat();
            self.piece(arm, &above, paper);
        }
    }

    fn operations(&mut self, block: BlockId, memo: bool, paper: &mut Paper) {
        for op in &self.old.blocks[block.index()].ops {
            let is_still = self.still.is_made(op) && (memo || self.still.is_cheap(op.results[0]));
            if is_still || self.is_idle(op) {
                continue;
            }
            paper.builder.set_source(op.source);
            self.copy(op, paper);
        }
        paper.builder.set_source(None);
    }

    fn copy(&self, op: &Op, paper: &mut Paper) {
        let mut kind = op.kind.clone();
        kind.for_each_operand_mut(&mut |operand| *operand = self.value(*operand, paper));
        let results = paper.builder.op(self.automaton, kind);
        for (old, new) in op.results.iter().zip(results) {
            paper.builder.set_name(new, self.old.values[old.index()].name.clone());
            paper.values.insert(*old, new);
        }
    }

    /// The value that stands for an old one here; cheap ones are made where they are wanted.
    fn value(&self, old: Value, paper: &mut Paper) -> Value {
        if let Some(value) = paper.values.get(&old) {
            return *value;
        }
        match self.still.made(old) {
            Some(op) => {
                self.copy(op, paper);
                paper.values[&old]
            }
            None => old,
        }
    }

    /// Ends a block as it was ended; `lead` is told of each target by which the path goes on, of its block, of what is known there, and
    /// says in which of them the path is written on.
    fn end(
        &mut self,
        block: BlockId,
        paper: &mut Paper,
        mut lead: impl FnMut(usize, BlockId, &HashMap<Value, Value>, &Self) -> Option<BlockId>,
    ) {
        let found = &self.old.blocks[block.index()];
        let mut terminator = found.terminator.clone();
        terminator.for_each_operand_mut(|operand| *operand = self.value(*operand, paper));
        let results = match &found.terminator {
            Terminator::Try { .. } => {
                let of = |target: &Target| self.old.blocks[target.block.index()].params.len() - target.args.len();
                found.terminator.targets().into_iter().map(of).collect()
            }
            _ => vec![0; found.terminator.targets().len()],
        };
        let targets: Vec<Target> = found.terminator.targets().into_iter().cloned().collect();
        let (mut at, mut on) = (0, Vec::new());
        let mut renamed = Vec::new();
        for target in &targets {
            renamed.push(match self.refuses(target.block) {
                true if results[at] == 0 => to(paper.exit(), []),
                true => {
                    let params = &self.old.blocks[target.block.index()].params;
                    let fresh: Vec<(String, Type)> =
                        params[..results[at]].iter().map(|param| self.named(*param)).collect();
                    let aside = paper.builder.block("", &fresh);
                    paper.aside(aside);
                    to(aside, [])
                }
                false => {
                    let params = &self.old.blocks[target.block.index()].params;
                    let fresh: Vec<(String, Type)> =
                        params[..results[at]].iter().map(|param| self.named(*param)).collect();
                    let next = paper.builder.block("", &fresh);
                    let mut values: HashMap<Value, Value> =
                        params.iter().copied().zip(paper.builder.params(next).to_vec()).collect();
                    for (param, arg) in params[results[at]..].iter().zip(&target.args) {
                        let arg = self.value(*arg, paper);
                        values.insert(*param, arg);
                    }
                    on.push((at, next, values));
                    to(next, [])
                }
            });
            at += 1;
        }
        let mut renamed = renamed.into_iter();
        terminator.for_each_target_mut(|target| {
            if let Some(to) = renamed.next() {
                *target = to;
            }
        });
        paper.builder.end_at(terminator, found.mark);
        let before = paper.values.clone();
        for (at, next, values) in on {
            if let Some(next) = lead(at, next, &values, self) {
                paper.values = before.clone();
                paper.values.extend(values);
                paper.builder.select(next);
            }
        }
    }

    // -- memos

    /// The memo of a piece, and whether it is of the path's object.
    fn memo(&self, plan: &Plan, above: &[Step]) -> (Function, bool) {
        let mut needed = vec![false; self.old.values.len()];
        plan.leaves.iter().for_each(|leaf| {
            leaf.fields.iter().for_each(|field| self.need(*field, &mut needed));
            let bounds = leaf.bounds.iter().flat_map(|(_, bounds)| bounds);
            bounds.for_each(|bound| self.need(bound.limit, &mut needed));
            let asked = leaf.steps.iter().filter(|(block, _)| self.is_still_end(*block));
            asked.for_each(|(block, _)| {
                let operands = self.old.blocks[block.index()].terminator.operands();
                operands.into_iter().for_each(|value| self.need(value, &mut needed));
            });
        });
        let takes_key = needed[self.still.key.index()] && !self.automaton.is_unique(self.class_of_key());
        let params = if takes_key { vec![self.named(self.still.key)] } else { Vec::new() };
        let builder = BodyBuilder::new(&params);
        let entry = builder.current().unwrap_or(BlockId(0));
        let mut values = HashMap::new();
        match takes_key {
            true => values.insert(self.still.key, builder.params(entry)[0]),
            false => None,
        };
        let mut paper = Paper { builder, values, exit: None };
        if needed[self.still.key.index()] && !takes_key {
            let own = paper.builder.value(self.automaton, OpKind::Unique { class: self.class_of_key() });
            paper.values.insert(self.still.key, own);
        }
        for (block, at) in above {
            self.state(*block, &needed, &mut paper);
            let end = &self.old.blocks[block.index()].terminator;
            let is_wanted = match end {
                Terminator::Try { then, .. } => {
                    self.old.blocks[then.block.index()].params.iter().any(|param| needed[param.index()])
                }
                // That it lives was asked, and is to be known.
                Terminator::Branch { condition, .. } => self.still.made(*condition).is_some_and(|op| {
                    matches!(op.kind, OpKind::Lives { object } if needed[object.index()] && self.still.is(*condition))
                }),
                _ => false,
            };
            if is_wanted && self.is_still_end(*block) {
                self.ask(*block, *at, &mut paper);
            }
        }
        let mut results = Vec::new();
        if plan.leaves.len() > 1 {
            results.push(Type::U(8));
        }
        for leaf in &plan.leaves {
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
        (Function { name, role: Role::Memo, params, results, body }, takes_key)
    }

    fn class_of_key(&self) -> ClassId {
        self.old.class_of(self.still.key).unwrap_or(ClassId(0))
    }

    fn need(&self, value: Value, needed: &mut [bool]) {
        if !self.still.is(value) || std::mem::replace(&mut needed[value.index()], true) {
            return;
        }
        match self.still.made(value) {
            Some(op) => op.kind.for_each_operand(&mut |operand| self.need(operand, needed)),
            // What a look-up finds: of where it looks.
            None => {
                for block in &self.old.blocks {
                    if let Terminator::Try { op, then, .. } = &block.terminator {
                        if self.old.blocks[then.block.index()].params.contains(&value) {
                            op.for_each_operand(&mut |operand| self.need(operand, needed));
                        }
                    }
                }
            }
        }
    }

    /// What is still of a block, as far as it is needed.
    fn state(&self, block: BlockId, needed: &[bool], paper: &mut Paper) {
        for op in &self.old.blocks[block.index()].ops {
            let is_known = op.results.first().is_some_and(|result| paper.values.contains_key(result));
            if self.still.is_made(op) && op.results.iter().any(|result| needed[result.index()]) && !is_known {
                paper.builder.set_source(op.source);
                self.copy(op, paper);
            }
        }
        paper.builder.set_source(None);
    }

    /// Asks what the block's end asks, and goes on where the path takes that target; elsewhere the memo refuses.
    fn ask(&self, block: BlockId, at: usize, paper: &mut Paper) {
        let found = &self.old.blocks[block.index()];
        let mut terminator = found.terminator.clone();
        terminator.for_each_operand_mut(|operand| *operand = self.value(*operand, paper));
        let next = self.next(block, at, paper);
        let exit = paper.exit();
        let mut place = 0;
        let mut there = None;
        terminator.for_each_target_mut(|target| {
            if place == at {
                there = Some(next);
                *target = to(next, []);
            } else {
                *target = to(exit, []);
            }
            place += 1;
        });
        // The results of a look-up come with the exit too, if it is found: a block of its own takes them.
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
    fn found(&self, block: BlockId) -> &'a [Value] {
        match &self.old.blocks[block.index()].terminator {
            Terminator::Try { then, .. } => {
                let params = &self.old.blocks[then.block.index()].params;
                &params[..params.len() - then.args.len()]
            }
            _ => &[],
        }
    }

    /// A new block for a target of a block, with what comes there.
    fn next(&self, block: BlockId, at: usize, paper: &mut Paper) -> BlockId {
        let target = self.target(block, at);
        let params = &self.old.blocks[target.block.index()].params;
        let found = if at == 0 { self.found(block) } else { &[] };
        let fresh: Vec<(String, Type)> = found.iter().map(|param| self.named(*param)).collect();
        let next = paper.builder.block("", &fresh);
        let given = found.iter().copied().zip(paper.builder.params(next).to_vec());
        paper.values.extend(given.collect::<Vec<_>>());
        for (param, arg) in params[found.len()..].iter().zip(&target.args) {
            if let Some(value) = paper.values.get(arg).copied() {
                paper.values.insert(*param, value);
            }
        }
        next
    }

    /// The ways of a memo from a block on, which so many steps lead to: of these leaves.
    fn tree(&self, plan: &Plan, block: BlockId, leaves: &[usize], depth: usize, needed: &[bool], paper: &mut Paper) {
        self.state(block, needed, paper);
        let first = &plan.leaves[leaves[0]];
        let Some((_, at)) = first.steps.get(depth).copied() else {
            return self.leave(plan, leaves[0], paper);
        };
        if !self.is_still_end(block) {
            // Asked on the path.
            let target = self.target(block, at);
            for (param, arg) in self.old.blocks[target.block.index()].params.iter().zip(&target.args) {
                if let Some(value) = paper.values.get(arg).copied() {
                    paper.values.insert(*param, value);
                }
            }
            return self.tree(plan, target.block, leaves, depth + 1, needed, paper);
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

    /// What the memo gives on a way.
    fn leave(&self, plan: &Plan, leaf: usize, paper: &mut Paper) {
        let most = plan.leaves[leaf].bounds.as_ref().map(|(_, bounds)| self.most(bounds, paper));
        let mut values = Vec::new();
        if plan.leaves.len() > 1 {
            values.push(paper.builder.constant(self.automaton, Type::U(8), leaf as u64));
        }
        for (at, other) in plan.leaves.iter().enumerate() {
            for field in &other.fields {
                let ty = self.named(*field).1;
                values.push(match (at == leaf, ty) {
                    (true, _) => self.value(*field, paper),
                    (false, Type::Ref(class)) => paper.builder.value(self.automaton, OpKind::Null { class }),
                    (false, ty) => paper.builder.constant(self.automaton, ty, 0),
                });
            }
            if other.bounds.is_some() {
                let none = || paper.builder.constant(self.automaton, U32, 0);
                values.push(most.filter(|_| at == leaf).unwrap_or_else(none));
            }
        }
        paper.builder.end(Terminator::Yield { values });
    }
}

impl Rewriter<'_> {
    /// The largest size within all bounds; a memo refuses where there is none.
    fn most(&self, bounds: &[Bound], paper: &mut Paper) -> Value {
        let constants = bounds.iter().filter_map(|bound| Some(self.still.constant(bound.limit)? - bound.more));
        let all = constants.min().unwrap_or(u64::from(u32::MAX));
        let mut most = paper.builder.constant(self.automaton, U32, all);
        for bound in bounds.iter().filter(|bound| self.still.constant(bound.limit).is_none()) {
            let limit = self.value(bound.limit, paper);
            if bound.more == 0 {
                let min = OpKind::Binary { op: Binary::Min, a: most, b: limit };
                most = paper.builder.value(self.automaton, min);
                continue;
            }
            let more = paper.builder.constant(self.automaton, U32, bound.more);
            let condition = paper.builder.value(self.automaton, OpKind::Compare { op: Compare::Le, a: more, b: limit });
            let next = paper.builder.block("", &[]);
            let (then, otherwise) = (to(next, []), to(paper.exit(), []));
            paper.builder.end(Terminator::Branch { condition, then, otherwise, likely: Some(0.999) });
            paper.builder.select(next);
            let room = OpKind::Binary { op: Binary::SubWrap, a: limit, b: more };
            let room = paper.builder.value(self.automaton, room);
            most = paper.builder.value(self.automaton, OpKind::Binary { op: Binary::Min, a: most, b: room });
        }
        most
    }
}

/// A body while it is written.
struct Paper {
    builder: BodyBuilder,
    /// By value of the old path.
    values: HashMap<Value, Value>,
    /// Where it refuses.
    exit: Option<BlockId>,
}

impl Paper {
    fn exit(&mut self) -> BlockId {
        match self.exit {
            Some(exit) => exit,
            None => {
                let exit = self.builder.block("exit", &[]);
                self.exit = Some(exit);
                exit
            }
        }
    }

    /// A block that leads to the exit.
    fn aside(&mut self, block: BlockId) {
        let exit = self.exit();
        let at = self.builder.current();
        self.builder.select(block);
        self.builder.end(Terminator::Jump { to: to(exit, []) });
        if let Some(at) = at {
            self.builder.select(at);
        }
    }
}

/// Whether it only makes a value, which no message is.
fn is_pure(op: &Op) -> bool {
    let makes = !matches!(op.kind, OpKind::Front { .. });
    makes && (op.kind.effects() - mokume_reaction::Effects::READS).is_empty()
}
