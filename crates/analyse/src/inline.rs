//! Inlines procedures at their `run`, and memos at their `recall`, so that bodies contain everything that a handler or
//! a path does.

use std::borrow::Cow;

use mokume_reaction::{
    Automaton, Block, BlockId, Body, Fallible, Function, FunctionId, Op, OpKind, Operation, Target, Terminator, Unit,
    Value,
};

use crate::straighten;

/// The place of a `run` or `recall`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Site {
    /// The unit that contains it.
    pub unit: Unit,
    pub block: BlockId,
    pub procedure: FunctionId,
}

/// The automaton with all procedures and memos inlined and removed. The same automaton if there were none.
pub fn flat(automaton: &Automaton) -> Cow<'_, Automaton> {
    match automaton.functions.iter().any(|function| function.procedure().is_some() || function.is_memo()) {
        true => Cow::Owned(inlined(automaton, &|_| true)),
        false => Cow::Borrowed(automaton),
    }
}

/// The same, and with published functions inlined that branch, so that a run also shows the branches that it takes in
/// them.
pub fn laid_open(automaton: &Automaton) -> Cow<'_, Automaton> {
    let open = branching(automaton);
    match open.contains(&true) {
        true => Cow::Owned(in_place(automaton, &|_| true, &open)),
        false => flat(automaton),
    }
}

/// The most blocks of a function that is inlined, with all that is inlined in it: functions that call each other down a
/// deep stack would become too large.
const MOST_BLOCKS: usize = 24;

/// For each function, whether it is published, small enough, and branches or calls one that does.
fn branching(automaton: &Automaton) -> Vec<bool> {
    let mut blocks = vec![None; automaton.functions.len()];
    for index in 0..blocks.len() {
        laid_out(automaton, index, &mut blocks);
    }
    let published = automaton.functions.iter().map(|function| function.published().is_some());
    let is_open = |(published, blocks): (bool, Option<usize>)| {
        published && blocks.is_some_and(|blocks| (2..=MOST_BLOCKS).contains(&blocks))
    };
    published.zip(blocks).map(is_open).collect()
}

/// The number of blocks of a published function with all that is inlined in it. Functions do not call themselves.
fn laid_out(automaton: &Automaton, index: usize, known: &mut [Option<usize>]) -> usize {
    if let Some(blocks) = known[index] {
        return blocks;
    }
    let function = &automaton.functions[index];
    let mut blocks = function.body.blocks.len();
    for op in function.body.ops() {
        let OpKind::Call { function: called, .. } = &op.kind else { continue };
        let inner = laid_out(automaton, called.index(), known);
        if automaton.functions[called.index()].published().is_some() && (2..=MOST_BLOCKS).contains(&inner) {
            // What follows the call needs its own block.
            blocks += inner + 1;
        }
    }
    known[index] = Some(blocks);
    blocks
}

/// The function that an operation calls, if it is to be inlined.
fn called<'a>(kind: &'a OpKind, open: &[bool]) -> Option<(FunctionId, &'a [Value])> {
    match kind {
        OpKind::Call { function, args } if open.get(function.index()) == Some(&true) => Some((*function, args)),
        _ => None,
    }
}

/// The automaton with the procedures inlined for which `wanted` holds; existing blocks keep their numbers. Procedures
/// and memos without remaining uses are removed.
pub fn inlined(automaton: &Automaton, wanted: &dyn Fn(Site) -> bool) -> Automaton {
    in_place(automaton, wanted, &[])
}

/// The same, and with calls of the functions inlined that are `open`.
fn in_place(automaton: &Automaton, wanted: &dyn Fn(Site) -> bool, open: &[bool]) -> Automaton {
    let mut automaton = automaton.clone();
    let mut done = vec![false; automaton.functions.len()];
    let wanted = Wanted { procedures: wanted, open };
    for index in 0..automaton.functions.len() {
        function(&mut automaton, index, &wanted, &mut done);
    }
    for index in 0..automaton.handlers.len() {
        let mut body = std::mem::take(&mut automaton.handlers[index].body);
        put_in_place(&mut body, Unit::Handler(index.into()), &automaton.functions, &wanted);
        automaton.handlers[index].body = body;
    }
    for index in 0..automaton.paths.len() {
        let mut body = std::mem::take(&mut automaton.paths[index].body);
        put_in_place(&mut body, Unit::Path(index.into()), &automaton.functions, &wanted);
        automaton.paths[index].body = body;
    }
    take_out(&mut automaton);
    automaton
}

/// What is to be inlined.
struct Wanted<'a> {
    procedures: &'a dyn Fn(Site) -> bool,
    open: &'a [bool],
}

impl Wanted<'_> {
    /// The functions to inline in a body of a unit, by block.
    fn of(&self, body: &Body) -> Vec<FunctionId> {
        let called = body.ops().filter_map(|op| Some(called(&op.kind, self.open)?.0));
        called.chain(run_by(body)).collect()
    }

    fn by(&self, kind: &OpKind, site: &dyn Fn(FunctionId) -> Site) -> bool {
        called(kind, self.open).is_some()
            || run_by_op(kind).is_some_and(|(procedure, _)| (self.procedures)(site(procedure)))
    }
}

/// Inlines in a function, in its callees first. Functions do not call themselves.
fn function(automaton: &mut Automaton, index: usize, wanted: &Wanted, done: &mut [bool]) {
    if std::mem::replace(&mut done[index], true) {
        return;
    }
    for callee in wanted.of(&automaton.functions[index].body) {
        function(automaton, callee.index(), wanted, done);
    }
    let mut body = std::mem::take(&mut automaton.functions[index].body);
    put_in_place(&mut body, Unit::Function(index.into()), &automaton.functions, wanted);
    automaton.functions[index].body = body;
}

/// The procedures that a body runs, one entry for each `run`.
pub fn run_by(body: &Body) -> Vec<FunctionId> {
    body.blocks.iter().flat_map(run_in).collect()
}

/// The same for one block.
pub fn run_in(block: &Block) -> Vec<FunctionId> {
    let ops = block.ops.iter().filter_map(|op| run_by_op(&op.kind));
    ops.chain(block.terminator.attempt().and_then(tried)).map(|(procedure, _)| procedure).collect()
}

fn run_by_op(kind: &OpKind) -> Option<(FunctionId, &[Value])> {
    match kind {
        OpKind::Run { procedure, args } => Some((*procedure, args)),
        _ => None,
    }
}

fn tried(op: &Fallible) -> Option<(FunctionId, &[Value])> {
    match op {
        Fallible::TryRun { procedure, args } | Fallible::Recall { memo: procedure, args } => Some((*procedure, args)),
        _ => None,
    }
}

/// The body that is being changed.
struct Inliner<'a> {
    body: &'a mut Body,
    functions: &'a [Function],
    wanted: &'a Wanted<'a>,
    /// The blocks in their final order.
    order: Vec<usize>,
}

fn put_in_place(body: &mut Body, unit: Unit, functions: &[Function], wanted: &Wanted) {
    if wanted.of(body).is_empty() {
        return;
    }
    let blocks = body.blocks.len();
    let mut inliner = Inliner { body, functions, wanted, order: (0..blocks).collect() };
    for block in 0..blocks {
        // The rest of the block, after it was cut behind an inlined call.
        let mut rest = block;
        let site = |procedure| Site { unit, block: block.into(), procedure };
        let mut from = 0;
        while let Some(place) = inliner.next(rest, from, &site) {
            (rest, from) = match place < inliner.body.blocks[rest].ops.len() {
                true => (inliner.run(rest, place), 0),
                false => {
                    inliner.try_run(rest);
                    break;
                }
            };
        }
    }
    let Inliner { order, .. } = inliner;
    reorder(body, &order);
    straighten(body);
}

impl Inliner<'_> {
    /// The index of the block's next operation, from `from` on, that is to be inlined; the number of operations stands
    /// for its terminator.
    fn next(&self, block: usize, from: usize, site: &dyn Fn(FunctionId) -> Site) -> Option<usize> {
        let block = &self.body.blocks[block];
        let runs = |op: &Op| self.wanted.by(&op.kind, site);
        if let Some(place) = block.ops[from..].iter().position(runs) {
            return Some(from + place);
        }
        let (procedure, _) = block.terminator.attempt().and_then(tried)?;
        (self.wanted.procedures)(site(procedure)).then_some(block.ops.len())
    }

    /// Inlines the procedure that an operation runs; returns the block with the operations that followed it.
    fn run(&mut self, block: usize, place: usize) -> usize {
        let found = &mut self.body.blocks[block];
        let after = found.ops.split_off(place + 1);
        let Some(op) = found.ops.pop() else { return block };
        let rest = Block {
            label: String::new(),
            params: op.results,
            ops: after,
            terminator: std::mem::replace(&mut found.terminator, Terminator::Return),
            mark: found.mark.take(),
            bound: None,
        };
        let Some((procedure, args)) = run_by_op(&op.kind).or_else(|| called(&op.kind, self.wanted.open)) else {
            return block;
        };
        self.body.blocks.push(rest);
        let rest = self.body.blocks.len() - 1;
        self.place_behind(block, &[rest]);
        let then = Target { block: rest.into(), args: Vec::new() };
        self.copy(block, procedure, args, &then, None);
        rest
    }

    fn try_run(&mut self, block: usize) {
        let end = std::mem::replace(&mut self.body.blocks[block].terminator, Terminator::Return);
        self.body.blocks[block].mark = None;
        let Terminator::Try { op, then, otherwise } = end else { return };
        let Some((procedure, args)) = tried(&op) else { return };
        self.copy(block, procedure, args, &then, Some(&otherwise));
    }

    /// Copies a procedure's blocks behind a block: its results go to `then`, what it gives back to `otherwise`.
    fn copy(&mut self, block: usize, procedure: FunctionId, args: &[Value], then: &Target, otherwise: Option<&Target>) {
        let callee = &self.functions[procedure.index()].body;
        let Some(entry) = callee.blocks.first() else { return };
        let (first_value, first_block) = (self.body.values.len() as u32, self.body.blocks.len());
        self.body.values.extend(callee.values.iter().cloned());
        let value = |value: Value| match entry.params.iter().position(|param| *param == value) {
            Some(at) => args[at],
            None => Value(first_value + value.0),
        };
        // The entry's operations continue the block; nothing jumps to the entry.
        let place = |id: BlockId| BlockId::from(first_block + id.index() - 1);
        for (index, copied) in callee.blocks.iter().enumerate() {
            let mut copied = copied.clone();
            rename(&mut copied, &value, &place);
            lead_on(&mut copied.terminator, then, otherwise);
            if index > 0 {
                self.body.blocks.push(copied);
                continue;
            }
            let into = &mut self.body.blocks[block];
            into.ops.extend(copied.ops);
            (into.terminator, into.mark) = (copied.terminator, copied.mark);
        }
        let added: Vec<usize> = (first_block..self.body.blocks.len()).collect();
        self.place_behind(block, &added);
    }

    fn place_behind(&mut self, block: usize, added: &[usize]) {
        let at = self.order.iter().position(|known| *known == block).map_or(self.order.len(), |at| at + 1);
        self.order.splice(at..at, added.iter().copied());
    }
}

fn rename(block: &mut Block, value: &dyn Fn(Value) -> Value, place: &dyn Fn(BlockId) -> BlockId) {
    block.params.iter_mut().for_each(|param| *param = value(*param));
    for op in &mut block.ops {
        op.kind.for_each_operand_mut(&mut |operand| *operand = value(*operand));
        op.results.iter_mut().for_each(|result| *result = value(*result));
    }
    block.terminator.for_each_operand_mut(|operand| *operand = value(*operand));
    block.terminator.for_each_target_mut(|target| target.block = place(target.block));
}

/// Turns the end of a procedure into a jump to the caller.
fn lead_on(end: &mut Terminator, then: &Target, otherwise: Option<&Target>) {
    let (values, to) = match end {
        Terminator::Yield { values } => (values, then),
        Terminator::Refuse { values } => (values, otherwise.unwrap_or(then)),
        Terminator::Return
        | Terminator::Jump { .. }
        | Terminator::Branch { .. }
        | Terminator::Switch { .. }
        | Terminator::Match { .. }
        | Terminator::Try { .. } => return,
    };
    let args = values.iter().chain(&to.args).copied().collect();
    *end = Terminator::Jump { to: Target { block: to.block, args } };
}

fn reorder(body: &mut Body, order: &[usize]) {
    let mut places = vec![BlockId(0); order.len()];
    for (place, block) in order.iter().enumerate() {
        places[*block] = place.into();
    }
    let mut blocks: Vec<Option<Block>> = std::mem::take(&mut body.blocks).into_iter().map(Some).collect();
    body.blocks = order.iter().filter_map(|block| blocks[*block].take()).collect();
    for block in &mut body.blocks {
        block.terminator.for_each_target_mut(|target| target.block = places[target.block.index()]);
    }
}

/// Removes the procedures and memos that are not used.
pub fn take_out(automaton: &mut Automaton) {
    let is_run = |function: &Function| function.procedure().is_some() || function.is_memo();
    let mut kept: Vec<bool> = automaton.functions.iter().map(|function| !is_run(function)).collect();
    let bodies = automaton.handlers.iter().map(|handler| &handler.body);
    let mut open: Vec<FunctionId> =
        bodies.chain(automaton.paths.iter().map(|path| &path.body)).flat_map(run_by).collect();
    while let Some(procedure) = open.pop() {
        if !std::mem::replace(&mut kept[procedure.index()], true) {
            open.extend(run_by(&automaton.functions[procedure.index()].body));
        }
    }
    let mut count = 0;
    let places: Vec<FunctionId> = kept
        .iter()
        .map(|kept| {
            count += usize::from(*kept);
            FunctionId::from(count.saturating_sub(1))
        })
        .collect();
    let mut at = 0;
    automaton.functions.retain(|_| {
        at += 1;
        kept[at - 1]
    });
    let functions = automaton.functions.iter_mut().map(|function| &mut function.body);
    let paths = automaton.paths.iter_mut().map(|path| &mut path.body);
    for body in functions.chain(automaton.handlers.iter_mut().map(|handler| &mut handler.body)).chain(paths) {
        for block in &mut body.blocks {
            let calls = block.ops.iter_mut().filter_map(|op| match &mut op.kind {
                OpKind::Call { function, .. } | OpKind::Run { procedure: function, .. } => Some(function),
                _ => None,
            });
            let tries = match &mut block.terminator {
                Terminator::Try {
                    op: Fallible::TryRun { procedure, .. } | Fallible::Recall { memo: procedure, .. },
                    ..
                } => Some(procedure),
                _ => None,
            };
            calls.chain(tries).for_each(|function| *function = places[function.index()]);
        }
    }
}
