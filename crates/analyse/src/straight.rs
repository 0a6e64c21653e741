//! Simplifies the control flow of bodies without changing their operations, for code that builds bodies block by block.

use rustc_hash::FxHashMap as HashMap;

use mokume_reaction::{BlockId, Body, Target, Terminator, Value};

use crate::flow::Flow;

/// Redirects edges past blocks that only jump, joins a block with its only predecessor if that jumps to it, and removes
/// unreachable blocks. Operations, their order, loop bounds and marks stay. Returns which values others stand for now.
pub fn straighten(body: &mut Body) -> Renamed {
    thread(body);
    let renamed = merge(body);
    prune(body);
    renamed
}

/// Values that others stand for.
#[derive(Default)]
pub struct Renamed(HashMap<Value, Value>);

impl Renamed {
    /// The value that stands for this one.
    pub fn of(&self, value: Value) -> Value {
        last(value, &self.0)
    }
}

// -- blocks that only jump

fn thread(body: &mut Body) {
    let uses = uses(body);
    let mut terminators: Vec<Terminator> =
        body.blocks.iter_mut().map(|block| std::mem::replace(&mut block.terminator, Terminator::Return)).collect();
    for at in 0..terminators.len() {
        let mut terminator = std::mem::replace(&mut terminators[at], Terminator::Return);
        terminator.for_each_target_mut(|target| {
            // Each step goes to another block; a cycle of empty blocks stays as it is.
            for _ in 0..body.blocks.len() {
                let block = &body.blocks[target.block.index()];
                let Terminator::Jump { to } = &terminators[target.block.index()] else { break };
                if !block.ops.is_empty()
                    || block.bound.is_some()
                    || target.block.index() == at
                    || to.block == target.block
                {
                    break;
                }
                match past(&block.params, target, to, &uses) {
                    Some(next) => *target = next,
                    None => break,
                }
            }
        });
        terminators[at] = terminator;
    }
    for (block, terminator) in body.blocks.iter_mut().zip(terminators) {
        block.terminator = terminator;
    }
}

/// How often each value is an operand or an argument.
pub fn uses(body: &Body) -> Vec<usize> {
    let mut uses = vec![0; body.values.len()];
    let mut count = |value: Value| uses[value.index()] += 1;
    for block in &body.blocks {
        block.ops.iter().for_each(|op| mokume_reaction::Operation::for_each_operand(&op.kind, &mut count));
        let operands = block.terminator.operands().into_iter();
        operands
            .chain(block.terminator.targets().into_iter().flat_map(|target| target.args.iter().copied()))
            .for_each(&mut count);
    }
    uses
}

/// The edge past an empty block; `None` if the block's parameters are needed further on, or if results of an operation,
/// which come first, would move.
fn past(params: &[Value], edge: &Target, jump: &Target, uses: &[usize]) -> Option<Target> {
    let passed = |param: &Value| jump.args.iter().filter(|arg| *arg == param).count();
    if params.iter().any(|param| uses[param.index()] != passed(param)) {
        return None;
    }
    let results = params.len() - edge.args.len();
    let (given, named) = params.split_at(results);
    if jump.args.get(..results)? != given || given.iter().any(|param| passed(param) != 1) {
        return None;
    }
    let arg = |arg: &Value| match named.iter().position(|param| param == arg) {
        Some(at) => edge.args[at],
        None => *arg,
    };
    Some(Target { block: jump.block, args: jump.args[results..].iter().map(arg).collect() })
}

// -- blocks with one predecessor that jumps

fn merge(body: &mut Body) -> Renamed {
    let flow = Flow::new(body);
    let reached = flow.reached();
    let mut known: HashMap<Value, Value> = HashMap::default();
    for at in 0..body.blocks.len() {
        if !reached.contains(BlockId::from(at)) {
            continue;
        }
        while let Terminator::Jump { to } = &body.blocks[at].terminator {
            let next = to.block.index();
            let edges = flow.predecessors_of(to.block).filter(|from| reached.contains(*from)).count();
            if next == 0 || next == at || edges != 1 || body.blocks[next].bound.is_some() {
                break;
            }
            known.extend(body.blocks[next].params.iter().copied().zip(to.args.iter().copied()));
            let block = &mut body.blocks[next];
            block.params.clear();
            let (ops, terminator, mark) = (
                std::mem::take(&mut block.ops),
                std::mem::replace(&mut block.terminator, Terminator::Return),
                block.mark.take(),
            );
            let block = &mut body.blocks[at];
            block.ops.extend(ops);
            (block.terminator, block.mark) = (terminator, mark);
        }
    }
    rename(body, &known);
    Renamed(known)
}

/// Replaces values by those that they stood for.
fn rename(body: &mut Body, known: &HashMap<Value, Value>) {
    if known.is_empty() {
        return;
    }
    let names: Vec<(Value, Value)> = known.keys().map(|value| (*value, last(*value, known))).collect();
    for (from, to) in names {
        if body.values[to.index()].name.is_empty() {
            body.values[to.index()].name = body.values[from.index()].name.clone();
        }
    }
    let mut renamed = |value: &mut Value| *value = last(*value, known);
    for block in &mut body.blocks {
        block
            .ops
            .iter_mut()
            .for_each(|op| mokume_reaction::Operation::for_each_operand_mut(&mut op.kind, &mut renamed));
        block.terminator.for_each_operand_mut(&mut renamed);
    }
}

fn last(mut value: Value, known: &HashMap<Value, Value>) -> Value {
    while let Some(next) = known.get(&value) {
        value = *next;
    }
    value
}

// -- unreachable blocks

fn prune(body: &mut Body) {
    let reached = Flow::new(body).reached();
    let mut places = Vec::new();
    let mut kept = 0;
    for at in 0..body.blocks.len() {
        places.push(BlockId::from(kept));
        kept += usize::from(reached.contains(BlockId::from(at)));
    }
    let mut at = 0;
    body.blocks.retain(|_| {
        at += 1;
        reached.contains(BlockId::from(at - 1))
    });
    for block in &mut body.blocks {
        block.terminator.for_each_target_mut(|target| target.block = places[target.block.index()]);
    }
}
