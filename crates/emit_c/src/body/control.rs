//! Blocks in SSA form become nested C. A block with one predecessor is written inside it; a block where ways join is
//! written after the block that dominates it, with a label.
//!
//! It must keep: a block is written inside all blocks that dominate it, or after them.

use std::collections::VecDeque;

use mokume_analyse::{Dominators, Flow};
use mokume_reaction::*;

use super::fallible::{attempt, Attempt};
use super::operation::operation;
use super::writer::Writer;
use super::{emissions, messages, paths};
use crate::plan::there;
use crate::tree::*;

/// The deepest nesting of blocks.
const NESTING: usize = 24;
/// The same on a path, where one side of most branches leaves at once, so that the tree becomes flat.
const GUARDS: usize = 400;

/// Writes the blocks of one body.
pub(super) struct Control<'w, 'p, 'a> {
    w: &'w mut Writer<'p, 'a>,
    flow: Flow,
    dominators: Dominators,
    labels: Vec<Option<Label>>,
    /// Blocks with one predecessor that would be nested too deep; they are written at the end.
    pending: VecDeque<BlockId>,
    depth: usize,
    coverage: bool,
    /// By value: a parameter that surely refers to an existing object.
    there: Vec<bool>,
}

impl<'w, 'p, 'a> Control<'w, 'p, 'a> {
    /// Prepares the body of a writer: its flow, its dominators, and its known parameters.
    pub fn new(w: &'w mut Writer<'p, 'a>) -> Self {
        let flow = Flow::new(w.body);
        let (dominators, count) = (Dominators::of(&flow), w.body.blocks.len());
        let coverage = w.plan.coverage && w.does();
        let entry = w.body.blocks.first().map_or(&[][..], |entry| &entry.params);
        let known: Vec<Value> = entry.iter().copied().filter(|param| w.is_known(*param)).collect();
        // Paths learn from their guards which objects exist.
        let there = match w.is_path() {
            true => vec![false; w.body.values.len()],
            false => w.plan.about_there(|of| there::where_ways_meet(of, w.body, &known)),
        };
        Control { w, flow, dominators, labels: vec![None; count], pending: VecDeque::new(), depth: 0, coverage, there }
    }

    /// Writes the whole body.
    pub fn body(mut self) {
        if self.flow.edges_into(BlockId(0)) > 0 {
            let label = self.label(BlockId(0));
            self.w.push(Stmt::Label(label));
        }
        let params: &'a [Value] = &self.w.body.blocks[0].params;
        params.iter().for_each(|param| self.w.look_up_once(*param));
        self.sequence(BlockId(0));
        while let Some(block) = self.pending.pop_front() {
            let label = self.label(block);
            self.w.push(Stmt::Label(label));
            self.sequence(block);
        }
    }

    fn label(&mut self, block: BlockId) -> Label {
        let body: &'a Body = self.w.body;
        let (labels, function) = (&mut self.labels, &mut self.w.function);
        *labels[block.index()].get_or_insert_with(|| function.label(&body.blocks[block.index()].label))
    }

    fn has_many_ways_in(&self, block: BlockId) -> bool {
        block.index() == 0 || self.flow.edges_into(block) > 1
    }

    /// Writes a block, and after it the blocks where ways from it join.
    fn sequence(&mut self, block: BlockId) {
        let mut open: VecDeque<BlockId> = self.straight(block).into();
        while let Some(next) = open.pop_front() {
            let label = self.label(next);
            self.w.push(Stmt::Label(label));
            self.meet(next);
            let inner = self.straight(next);
            inner.into_iter().rev().for_each(|block| open.push_front(block));
        }
    }

    /// Declares the parameters of a block where ways join before it is written: all ways to it may be nested too deep,
    /// and be written after it.
    fn meet(&mut self, block: BlockId) {
        let params: &'a [Value] = &self.w.body.blocks[block.index()].params;
        for param in params.iter().filter(|param| self.w.is_live(**param)).collect::<Vec<_>>() {
            self.w.param(*param);
        }
        for param in params.iter().filter(|param| self.there[param.index()]) {
            self.w.set_known(*param);
        }
        params.iter().for_each(|param| self.w.look_up_once(*param));
    }

    /// Writes a block and what follows it without a choice. Returns the blocks where ways from them join, in the order
    /// of running.
    fn straight(&mut self, mut block: BlockId) -> Vec<BlockId> {
        let mut meeting: Vec<Vec<BlockId>> = Vec::new();
        loop {
            let children = self.dominators.children(block).iter().copied();
            meeting.push(children.filter(|child| self.has_many_ways_in(*child)).collect());
            let body: &'a Body = self.w.body;
            let at = &body.blocks[block.index()];
            self.w.at_block = block;
            if self.w.is_path() {
                for (place, op) in paths::in_order(self.w, &at.ops) {
                    paths::ask_first(self.w, place, op);
                    operation(self.w, op);
                }
            } else {
                at.ops.iter().for_each(|op| operation(self.w, op));
            }
            if let Terminator::Jump { to } = &at.terminator {
                if !self.has_many_ways_in(to.block) {
                    self.receive(Vec::new(), false, to);
                    block = to.block;
                    continue;
                }
            }
            self.terminator(block, &at.terminator);
            return meeting.into_iter().rev().flatten().collect();
        }
    }

    fn terminator(&mut self, block: BlockId, terminator: &'a Terminator) {
        match terminator {
            Terminator::Return if self.w.is_path() => paths::leave(self.w),
            Terminator::Refuse { .. } if self.w.is_path() => paths::refuse(self.w),
            Terminator::Return => emissions::leave(self.w, &self.flow),
            Terminator::Yield { values } => self.yield_values(values),
            Terminator::Refuse { values } => self.leave_with("refused", values, Some(Expr::Bool(false))),
            Terminator::Jump { to } => self.edge(Vec::new(), false, to),
            Terminator::Branch { condition, then, otherwise, likely } => {
                let lives = self.w.is_path().then(|| self.lives(*condition)).flatten();
                let condition = expected(self.w.value(*condition), *likely);
                let then = self.arm(block, 0, |control| match lives {
                    Some(object) => control.knowing(object, |control| control.edge(Vec::new(), false, then)),
                    None => control.edge(Vec::new(), false, then),
                });
                let otherwise = self.arm(block, 1, |control| control.edge(Vec::new(), false, otherwise));
                self.w.push(Stmt::If { condition, then, otherwise });
            }
            Terminator::Switch { value, cases, default } => self.switch(block, *value, cases, default),
            Terminator::Match { message, header, cases } => self.match_header(block, *message, *header, cases),
            Terminator::Try { op, then, otherwise } => {
                let result = self.w.body.blocks[then.block.index()].params.first().copied();
                let attempt = attempt(self.w, op, result.filter(|_| then.args.len() < self.arity(then)));
                self.attempt(block, attempt, then, otherwise);
            }
        }
    }

    fn arity(&self, target: &Target) -> usize {
        self.w.body.blocks[target.block.index()].params.len()
    }

    fn attempt(&mut self, block: BlockId, attempt: Attempt, then: &'a Target, otherwise: &'a Target) {
        let Attempt { condition, first, results, refused, is_known, stay } = attempt;
        let Some(condition) = condition else { return self.edge(refused, false, otherwise) };
        let then = self.arm(block, 0, |control| {
            first.into_iter().for_each(|statement| control.w.push(statement));
            if let Some(there) = stay {
                control.keep(&results, there, then);
            }
            control.edge(results, is_known, then);
        });
        let otherwise = self.arm(block, 1, |control| control.edge(refused, false, otherwise));
        self.w.push(Stmt::If { condition, then, otherwise });
    }

    /// Names results that never change, without other code.
    fn keep(&mut self, results: &[Expr], there: Vec<Option<Expr>>, then: &'a Target) {
        let params: &'a [Value] = &self.w.body.blocks[then.block.index()].params;
        for ((param, result), record) in params.iter().zip(results).zip(there) {
            self.w.alias(*param, result.clone());
            match (record, self.w.type_of(*param)) {
                (Some(_), Type::Ref(class)) if self.w.plan.is_sole(class) => self.w.set_known(*param),
                (Some(record), _) => self.w.set_there(*param, record),
                (None, _) => {}
            }
        }
    }

    fn yield_values(&mut self, values: &[Value]) {
        match values {
            _ if self.w.may_refuse() => self.leave_with("result", values, Some(Expr::Bool(true))),
            [value] => {
                let value = self.w.value(*value);
                self.w.push(Stmt::Return(Some(value)));
            }
            _ => self.leave_with("result", values, None),
        }
    }

    /// Leaves a function whose values are returned through pointers.
    fn leave_with(&mut self, name: &str, values: &[Value], answer: Option<Expr>) {
        for (place, value) in values.iter().enumerate() {
            let value = self.w.value(*value);
            self.w.push(set(word(format!("{name}_{place}")).deref(), value));
        }
        self.w.push(Stmt::Return(answer));
    }

    fn switch(&mut self, block: BlockId, value: Value, cases: &'a [(u64, Target)], default: &'a Target) {
        let (on, ty) = (self.w.value(value), self.w.type_of(value));
        let mut arms = Vec::new();
        for (place, (tag, target)) in cases.iter().enumerate() {
            let arm = self.arm(block, place, |control| control.edge(Vec::new(), false, target));
            arms.push((self.w.plan.constant(ty, *tag), arm));
        }
        let default = self.arm(block, cases.len(), |control| control.edge(Vec::new(), false, default));
        self.w.push(Stmt::Switch { on, cases: arms, default });
    }

    fn match_header(&mut self, block: BlockId, message: Value, header: HeaderId, cases: &'a [(VariantId, Target)]) {
        let m = self.w.value(message);
        let mut arms = Vec::new();
        for (place, (variant, target)) in cases.iter().enumerate() {
            let arm = self.arm(block, place, |control| {
                let mut results = vec![m.clone()];
                results.extend(messages::take_top(control.w, message, header, *variant));
                control.edge(results, false, target);
            });
            arms.push((messages::record_kind(self.w, header, *variant), arm));
        }
        // Only a message with another header gets here; the verifier refuses such an automaton.
        self.w.at_block = block;
        let default = self.w.inside(|w| {
            let nobody = || word("MK_NOBODY");
            w.act(acts("mk_do_pop", [core(), m.clone(), nobody(), Expr::Number(0), nobody()]));
            w.act(acts("mk_gone", [core(), m.clone()]));
            match w.unit {
                Unit::Handler(_) => emissions::leave(w, &self.flow),
                Unit::Function(_) | Unit::Path(_) => w.push(Stmt::Return(w.answer_of_nothing())),
            }
        });
        let on = messages::alternative(self.w, message, header);
        self.w.push(Stmt::Switch { on, cases: arms, default });
    }

    /// The object that lives if the condition holds.
    fn lives(&self, condition: Value) -> Option<Value> {
        let op = self.w.body.ops().find(|op| op.results.first() == Some(&condition))?;
        let OpKind::Lives { object } = op.kind else { return None };
        (!self.w.is_known(object)).then_some(object)
    }

    /// Runs `inner`, in which an object is known to exist.
    fn knowing(&mut self, object: Value, inner: impl FnOnce(&mut Self)) {
        let before = self.w.knowledge(object);
        self.w.set_known(object);
        inner(self);
        self.w.know(object, before);
    }

    /// Whether a block does nothing but refuse.
    fn refuses(&self, block: BlockId) -> bool {
        let block = &self.w.body.blocks[block.index()];
        block.ops.is_empty() && matches!(block.terminator, Terminator::Refuse { .. })
    }

    /// One way out of a block.
    fn arm(&mut self, block: BlockId, number: usize, inner: impl FnOnce(&mut Self)) -> Lines {
        self.depth += 1;
        // The code goes to a separate block while `inner` has the whole of `self`.
        let around = self.w.begin_inside();
        // What a path learns about objects on one side is not known on the other.
        let known = self.w.is_path().then(|| self.w.all_knowledge());
        self.cover(block, number);
        inner(self);
        self.depth -= 1;
        if let Some(known) = known {
            self.w.know_all(known);
        }
        self.w.end_inside(around)
    }

    fn cover(&mut self, block: BlockId, branch: usize) {
        if !self.coverage {
            return;
        }
        if let Some(index) = self.w.plan.branch_index.get(&(self.w.unit, block.index(), branch)) {
            let place = of_instance("coverage").element(number(*index as u64));
            self.w.push(Stmt::Set(place, Some(Infix::Add), Expr::Number(1)));
        }
    }

    /// Continues in the target's block, after setting its parameters.
    fn edge(&mut self, results: Vec<Expr>, is_known: bool, target: &'a Target) {
        if self.w.is_path() && self.refuses(target.block) {
            return paths::refuse(self.w);
        }
        let nesting = if self.w.is_path() { GUARDS } else { NESTING };
        if !self.has_many_ways_in(target.block) && self.depth < nesting {
            self.receive(results, is_known, target);
            return self.sequence(target.block);
        }
        if !self.has_many_ways_in(target.block) {
            self.receive(results, is_known, target);
            self.pending.push_back(target.block);
        } else {
            self.move_all(results, target);
        }
        let label = self.label(target.block);
        self.w.push(Stmt::Goto(label));
    }

    /// Binds the parameters of a block with one predecessor to the values from there.
    fn receive(&mut self, results: Vec<Expr>, is_known: bool, target: &'a Target) {
        let params: &'a [Value] = &self.w.body.blocks[target.block.index()].params;
        let (first, own) = params.split_at(results.len().min(params.len()));
        for (param, result) in first.iter().zip(results) {
            match result {
                result if self.w.value(*param) == result => {}
                result @ (Expr::Local(_) | Expr::Name(_)) => self.w.alias(*param, result),
                result if self.w.is_live(*param) => self.w.assign(*param, result),
                _ => {}
            }
            match is_known {
                true => self.w.set_known(*param),
                false => self.w.look_up_once(*param),
            }
        }
        for (param, arg) in own.iter().zip(&target.args) {
            self.w.same(*param, *arg);
            self.w.look_up_once(*param);
        }
    }

    /// A parallel assignment to the parameters of a block with several predecessors.
    fn move_all(&mut self, results: Vec<Expr>, target: &'a Target) {
        let params: &'a [Value] = &self.w.body.blocks[target.block.index()].params;
        let args = target.args.iter().map(|arg| self.w.value(*arg)).collect::<Vec<_>>();
        let mut moves = Vec::new();
        for (param, from) in params.iter().zip(results.into_iter().chain(args)) {
            if self.w.is_live(*param) {
                let to = self.w.param(*param);
                if from != Expr::Local(to) {
                    moves.push((to, from));
                }
            }
        }
        while !moves.is_empty() {
            let is_free = |to: &Local| moves.iter().all(|(own, from)| own == to || !mentions(from, *to));
            match moves.iter().position(|(to, _)| is_free(to)) {
                Some(place) => {
                    let (to, from) = moves.remove(place);
                    self.w.push(set(to, from));
                }
                // The rest form a cycle: one value is saved first.
                None => {
                    let (to, from) = moves[0].clone();
                    let ty = self.w.function.locals[to.0].ty.clone();
                    let aside = self.w.temporary("next", ty, from);
                    moves[0] = (to, aside);
                }
            }
        }
    }
}

fn mentions(expr: &Expr, local: Local) -> bool {
    let mut found = false;
    expr.each(&mut |part| found |= *part == Expr::Local(local));
    found
}

fn expected(condition: Expr, likely: Option<f32>) -> Expr {
    match likely {
        Some(p) if p >= 0.8 => Expr::Expect(true, Box::new(condition)),
        Some(p) if p <= 0.2 => Expr::Expect(false, Box::new(condition)),
        _ => condition,
    }
}
