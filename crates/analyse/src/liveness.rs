//! Liveness: which values have an influence. Computed backwards from effects, through the arguments of targets.

use mokume_reaction::{Body, Operation, Type, Value};

/// The live values of a body.
///
/// Messages are linear: a message passed to another block is live, even if that block does not read it.
#[derive(Clone, Debug)]
pub struct Liveness(Vec<bool>);

impl Liveness {
    /// The values that influence the body's effects, its branches or its messages.
    pub fn of(body: &Body) -> Liveness {
        let messages = |value: &Value| body.values[value.index()].ty == Type::Msg;
        Liveness::from(body, roots(body, messages))
    }

    /// The same, but all arguments for parameters of blocks count as used.
    pub fn with_parameters(body: &Body) -> Liveness {
        Liveness::from(body, roots(body, |_| true))
    }

    fn from(body: &Body, mut open: Vec<Value>) -> Liveness {
        let sources = sources(body);
        let mut live = Liveness(vec![false; body.values.len()]);
        while let Some(value) = open.pop() {
            if !std::mem::replace(&mut live.0[value.index()], true) {
                open.extend(&sources[value.index()]);
            }
        }
        live
    }

    /// Whether anything the body does depends on the value. Panics at a value of another body.
    pub fn is_live(&self, value: Value) -> bool {
        self.0[value.index()]
    }
}

/// The values that are always needed: operands of effects and of terminators, and those arguments of targets for which
/// `passed` holds.
fn roots(body: &Body, passed: impl Fn(&Value) -> bool) -> Vec<Value> {
    let mut roots = Vec::new();
    for block in &body.blocks {
        for op in block.ops.iter().filter(|op| !op.kind.is_removable()) {
            op.kind.for_each_operand(&mut |value| roots.push(value));
        }
        roots.extend(block.terminator.operands());
        let args = block.terminator.targets().into_iter().flat_map(|target| &target.args);
        roots.extend(args.copied().filter(&passed));
    }
    roots
}

/// For each value, what it is computed from: the operands of its operation, or the arguments for its block.
fn sources(body: &Body) -> Vec<Vec<Value>> {
    let mut sources = vec![Vec::new(); body.values.len()];
    for block in &body.blocks {
        for op in &block.ops {
            for result in &op.results {
                op.kind.for_each_operand(&mut |value| sources[result.index()].push(value));
            }
        }
        for target in block.terminator.targets() {
            let params = &body.blocks[target.block.index()].params;
            let own = &params[params.len().saturating_sub(target.args.len())..];
            for (param, arg) in own.iter().zip(&target.args) {
                sources[param.index()].push(*arg);
            }
        }
    }
    sources
}

#[cfg(test)]
mod tests {
    use super::*;
    use mokume_reaction::{to, Automaton, Binary, BlockId, BodyBuilder, OpKind, Terminator};

    #[test]
    fn what_nothing_depends_on_is_not_live() {
        let a = Automaton::default();
        let mut b = BodyBuilder::new(&[("x".into(), Type::U(8))]);
        let x = b.params(BlockId(0))[0];
        let sum = b.value(&a, OpKind::Binary { op: Binary::AddWrap, a: x, b: x });
        let idle = b.value(&a, OpKind::Binary { op: Binary::Xor, a: sum, b: x });
        let next = b.block("next", &[("kept".into(), Type::U(8)), ("lost".into(), Type::U(8))]);
        b.end(Terminator::Jump { to: to(next, [sum, idle]) });
        b.select(next);
        let (kept, lost) = (b.params(next)[0], b.params(next)[1]);
        b.end(Terminator::Yield { values: vec![kept] });
        let live = Liveness::of(&b.finish());
        assert!([x, sum, kept].iter().all(|value| live.is_live(*value)));
        assert!([idle, lost].iter().all(|value| !live.is_live(*value)));
    }

    /// A report is an effect: an addition that may overflow is needed even if its sum is unused.
    #[test]
    fn what_may_report_is_needed() {
        let a = Automaton::default();
        let mut b = BodyBuilder::new(&[("x".into(), Type::U(8))]);
        let x = b.params(BlockId(0))[0];
        b.value(&a, OpKind::Binary { op: Binary::Add, a: x, b: x });
        b.end(Terminator::Return);
        assert!(Liveness::of(&b.finish()).is_live(x));
    }
}
