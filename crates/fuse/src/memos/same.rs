//! Which values of a path are worked out in the same way from the same state, wherever they stand.

use rustc_hash::FxHashMap as HashMap;

use mokume_analyse::Flow;
use mokume_reaction::{Body, Fallible, OpKind, Operation, Terminator, Value};

use super::still::may_be_still;

/// By value of a body, the first value that is worked out in the same way: itself, if none is. Two such values are equal
/// if the state that they read does not change between them.
pub(super) struct Same {
    first: Vec<Value>,
    finds: Vec<(Fallible, Vec<Value>)>,
}

impl Same {
    pub fn of(body: &Body) -> Self {
        let flow = Flow::new(body);
        let first = (0..body.values.len()).map(|value| Value(value as u32)).collect();
        let mut same = Same { first, finds: Vec::new() };
        let mut made: HashMap<_, Vec<(OpKind, Value)>> = HashMap::default();
        for block in mokume_analyse::in_order(body) {
            let block = &body.blocks[block.index()];
            for op in &block.ops {
                let [result] = op.results[..] else { continue };
                // A message that comes in is not written while questions are asked.
                let is_read =
                    matches!(&op.kind, OpKind::Load { message, .. } if body.blocks[0].params.contains(message));
                if !(may_be_still(&op.kind) || is_read) {
                    continue;
                }
                let kind = same.in_first(&op.kind);
                let alike = made.entry((std::mem::discriminant(&kind), kind.operands())).or_default();
                match alike.iter().find(|(known, _)| *known == kind) {
                    Some((_, known)) => same.first[result.index()] = *known,
                    None => alike.push((kind, result)),
                }
            }
            for (at, target) in block.terminator.targets().into_iter().enumerate() {
                if flow.edges_into(target.block) != 1 {
                    continue;
                }
                let params = &body.blocks[target.block.index()].params;
                let (found, own) = params.split_at(params.len() - target.args.len());
                for (param, arg) in own.iter().zip(&target.args) {
                    same.first[param.index()] = same.of_value(*arg);
                }
                if let (Terminator::Try { op: op @ Fallible::Find { .. }, .. }, 0) = (&block.terminator, at) {
                    same.find(op, found);
                }
            }
        }
        same
    }

    /// The first value that is worked out as this one is.
    pub fn of_value(&self, value: Value) -> Value {
        self.first[value.index()]
    }

    /// The operation on first values.
    fn in_first(&self, kind: &OpKind) -> OpKind {
        let mut kind = kind.clone();
        kind.for_each_operand_mut(&mut |operand| *operand = self.of_value(*operand));
        kind
    }

    /// The look-up on first values.
    pub fn look_up(&self, op: &Fallible) -> Fallible {
        let mut op = op.clone();
        op.for_each_operand_mut(&mut |operand| *operand = self.of_value(*operand));
        op
    }

    fn find(&mut self, op: &Fallible, found: &[Value]) {
        let op = self.look_up(op);
        match self.finds.iter().find(|(known, _)| *known == op) {
            Some((_, first)) => {
                found.iter().zip(first).for_each(|(value, first)| self.first[value.index()] = *first);
            }
            None => self.finds.push((op, found.to_vec())),
        }
    }
}
