//! Rewrites the path: it recalls what its memos return, and does not ask it.

use rustc_hash::FxHashMap as HashMap;

use mokume_reaction::{
    to, BlockId, Body, BodyBuilder, Compare, Fallible, FunctionId, Op, OpKind, Operation, Terminator, Type, Value,
};

use crate::text::{finished, refuse};

use super::paper::Paper;
use super::plan::{is_pure, Leaf, Plan, Step};
use super::still::Key;
use super::Rewriter;

impl Rewriter<'_> {
    pub(super) fn body(&mut self, plan: &Plan) -> Body {
        let params: Vec<(String, Type)> = self.old.blocks[0].params.iter().map(|param| self.named(*param)).collect();
        let builder = BodyBuilder::new(&params);
        let entry = builder.current().unwrap_or(BlockId(0));
        let given = self.old.blocks[0].params.iter().copied().zip(builder.params(entry).to_vec());
        let mut paper = Paper::new(builder, given.collect());
        self.piece(plan, &[], &mut paper);
        self.write_meetings(&mut paper);
        if let Some(exit) = paper.exit {
            let params = paper.builder.params(entry).to_vec();
            refuse(&mut paper.builder, exit, &params);
        }
        finished(paper.builder)
    }

    pub(super) fn named(&self, value: Value) -> (String, Type) {
        let info = &self.old.values[value.index()];
        (info.name.clone(), info.ty)
    }

    /// Writes a piece, or leaves the place open where its ways meet others.
    fn piece(&mut self, plan: &Plan, above: &[Step], paper: &mut Paper) {
        match paper.builder.current().filter(|_| plan.meets) {
            Some(here) => paper.sites.entry(plan.root).or_default().push((here, paper.values.clone())),
            None => self.written(plan, above, paper),
        }
    }

    /// Writes a piece.
    pub(super) fn written(&mut self, plan: &Plan, above: &[Step], paper: &mut Paper) {
        if plan.within || !plan.memo {
            for leaf in &plan.leaves {
                self.leaf(plan, leaf, above, paper);
            }
            return;
        }
        let memo = self.memo(plan, above);
        let args = match &plan.still.key {
            Key::Words { words, .. } => words.iter().map(|word| self.value(*word, paper)).collect(),
            Key::Object(_) if memo.params.is_empty() => Vec::new(),
            Key::Object(object) => vec![paper.values[object]],
        };
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
        let before = (paper.values.clone(), paper.rooms.clone());
        for (leaf, block) in plan.leaves.iter().zip(blocks) {
            (paper.values, paper.rooms) = before.clone();
            for inner in leaf.given() {
                for (field, value) in inner.fields.iter().zip(&mut given) {
                    self.know(*field, value, paper);
                }
                if let Some(room) = inner.bounds.as_ref().and_then(|_| given.next()) {
                    paper.rooms.insert(inner.last, room);
                }
            }
            paper.builder.select(block);
            self.leaf(plan, leaf, above, paper);
        }
    }

    /// What replaces an old value, or one that is worked out in the same way.
    pub(super) fn known(&self, old: Value, paper: &Paper) -> Option<Value> {
        paper.values.get(&old).or_else(|| paper.values.get(&self.same.of_value(old))).copied()
    }

    /// A value is known from here on, and all that are worked out in the same way.
    pub(super) fn know(&self, old: Value, new: Value, paper: &mut Paper) {
        paper.values.insert(old, new);
        paper.values.insert(self.same.of_value(old), new);
    }

    /// A way through a piece, without what its memo returns.
    pub(super) fn leaf(&mut self, plan: &Plan, leaf: &Leaf, above: &[Step], paper: &mut Paper) {
        // Only messages within all bounds go on.
        if let Some((size, _)) = &leaf.bounds {
            let (a, b) = (self.value(*size, paper), paper.rooms[&leaf.last]);
            let condition = paper.builder.value(self.automaton, OpKind::Compare { op: Compare::Lt, a, b });
            paper.only_if(condition);
        }
        for (block, at) in &leaf.steps {
            self.operations(plan, *block, paper);
            if self.is_asked((&plan.still, plan.memo), leaf, *block) {
                let on = self.end(*block, paper);
                if let Some((_, next, values)) = on.into_iter().find(|(target, ..)| target == at) {
                    paper.go_on(next, values);
                }
            }
        }
        self.operations(plan, leaf.last, paper);
        let on = self.end(leaf.last, paper);
        let before = (paper.values.clone(), paper.rooms.clone());
        for (arm, (at, block, values)) in leaf.arms.iter().zip(on) {
            (paper.values, paper.rooms) = before.clone();
            paper.go_on(block, values);
            let above = [above, &leaf.steps, &[(leaf.last, at)]].concat();
            self.piece(arm, &above, paper);
        }
    }

    pub(super) fn operations(&mut self, plan: &Plan, block: BlockId, paper: &mut Paper) {
        let ops = &self.old.blocks[block.index()].ops;
        let deeds = ops.iter().position(|op| !is_pure(op));
        for (at, op) in ops.iter().enumerate() {
            if Some(at) == deeds {
                self.read_before(&ops[at..], plan, paper);
            }
            let is_still = plan.still.is_made(op) && (plan.memo || plan.still.is_cheap(op.results[0]));
            let is_given = || plan.still.is_made(op) && self.known(op.results[0], paper).is_some();
            if is_still || self.is_idle(op) || is_given() {
                continue;
            }
            paper.builder.set_source(op.source);
            self.copy(op, paper);
        }
        paper.builder.set_source(None);
    }

    /// Works out what these operations need and is not known yet: all reads come before all writes.
    fn read_before(&self, deeds: &[Op], plan: &Plan, paper: &mut Paper) {
        let needed = deeds.iter().filter(|op| !(self.is_idle(op) || plan.memo && plan.still.is_made(op)));
        for operand in needed.flat_map(|op| op.kind.operands()) {
            let is_made_here = deeds.iter().any(|op| op.results.contains(&operand));
            if !is_made_here && self.made[operand.index()].is_some() && !plan.still.is_cheap(operand) {
                self.value(operand, paper);
            }
        }
    }

    pub(super) fn copy(&self, op: &Op, paper: &mut Paper) {
        let mut kind = op.kind.clone();
        kind.for_each_operand_mut(&mut |operand| *operand = self.value(*operand, paper));
        let results = paper.builder.op(self.automaton, kind);
        for (old, new) in op.results.iter().zip(results) {
            paper.builder.set_name(new, self.old.values[old.index()].name.clone());
            paper.values.insert(*old, new);
        }
    }

    /// The value that replaces an old one here; cheap values are made where they are used.
    pub(super) fn value(&self, old: Value, paper: &mut Paper) -> Value {
        if let Some(value) = self.known(old, paper) {
            return value;
        }
        match self.made[old.index()] {
            Some(op) => {
                self.copy(op, paper);
                paper.values[&old]
            }
            None => unreachable!("{old:?} comes from elsewhere, and nothing here gives it"),
        }
    }

    /// Ends a block like the old one. Returns, for each target by which the path goes on: its number, its block, and
    /// what is known there.
    pub(super) fn end(&self, block: BlockId, paper: &mut Paper) -> Vec<(usize, BlockId, HashMap<Value, Value>)> {
        let found = &self.old.blocks[block.index()];
        let mut terminator = found.terminator.clone();
        terminator.for_each_operand_mut(|operand| *operand = self.value(*operand, paper));
        let (mut places, mut on) = (Vec::new(), Vec::new());
        for (at, target) in found.terminator.targets().into_iter().enumerate() {
            let params = &self.old.blocks[target.block.index()].params;
            let (results, own) = params.split_at(params.len() - target.args.len());
            if self.refuses(target.block) && results.is_empty() {
                places.push(paper.exit());
                continue;
            }
            let fresh: Vec<(String, Type)> = results.iter().map(|param| self.named(*param)).collect();
            let next = paper.builder.block("", &fresh);
            places.push(next);
            if self.refuses(target.block) {
                paper.aside(next);
                continue;
            }
            let mut values: HashMap<Value, Value> =
                results.iter().copied().zip(paper.builder.params(next).to_vec()).collect();
            for (param, arg) in own.iter().zip(&target.args) {
                values.insert(*param, self.value(*arg, paper));
            }
            on.push((at, next, values));
        }
        let mut places = places.into_iter();
        terminator.for_each_target_mut(|target| {
            if let Some(place) = places.next() {
                *target = to(place, []);
            }
        });
        paper.builder.end_at(terminator, found.mark);
        on
    }
}
