//! Which changes of arrays can be made in place: those of an array that is not read afterwards.

use mokume_reaction::{Body, OpKind, Operation, Value};

use crate::Flow;

/// The changes of one body that may be made in place.
///
/// Keeps: if such changes are made in place, and a parameter of a block with one predecessor shares its argument's
/// place, then no array is changed that is still read.
#[derive(Clone, Debug)]
pub struct Reuse(Vec<bool>);

impl Reuse {
    /// Analyses all arrays of a body; free for a body without arrays.
    pub fn of(body: &Body) -> Reuse {
        let mut reuse = Reuse(Vec::new());
        if body.values.iter().any(|info| info.ty.array().is_some()) {
            reuse.0.resize(body.values.len(), false);
            let (places, live) = (Places::of(body), live_out(body));
            for (block, mut live) in body.blocks.iter().zip(live) {
                for op in block.ops.iter().rev() {
                    if let (Some(array), [result]) = (changed(&op.kind), &op.results[..]) {
                        let overlaps = read_meanwhile(&op.kind).is_some_and(|other| places.are_one(other, array));
                        reuse.0[result.index()] = !overlaps && !places.holds_another(array, *result, &live);
                    }
                    op.results.iter().for_each(|result| live[result.index()] = false);
                    op.kind.for_each_operand(&mut |value| live[value.index()] = true);
                }
            }
        }
        reuse
    }

    /// Whether the result may be made by changing its operand in place.
    pub fn is_in_place(&self, result: Value) -> bool {
        self.0.get(result.index()).copied().unwrap_or(false)
    }
}

/// The array that an operation changes.
fn changed(kind: &OpKind) -> Option<Value> {
    match kind {
        OpKind::SetItem { array, .. } | OpKind::Splice { array, .. } => Some(*array),
        // No other operation gives an array with changed items.
        _ => None,
    }
}

/// The other array that an operation reads while it changes one.
fn read_meanwhile(kind: &OpKind) -> Option<Value> {
    match kind {
        OpKind::Splice { with, .. } => Some(*with),
        // Only this operation has two arrays.
        _ => None,
    }
}

/// For each value, the first of those that may share its place: the array that a change starts from, or the argument of
/// the only predecessor.
struct Places(Vec<usize>);

impl Places {
    fn of(body: &Body) -> Places {
        let mut places = Places((0..body.values.len()).collect());
        let flow = Flow::new(body);
        for (index, block) in body.blocks.iter().enumerate() {
            for op in &block.ops {
                if let (Some(array), [result]) = (changed(&op.kind), &op.results[..]) {
                    places.join(array, *result);
                }
            }
            for target in block.terminator.targets().into_iter().filter(|target| flow.edges_into(target.block) == 1) {
                debug_assert!(target.block.index() != index, "a block that only it comes to");
                let params = &body.blocks[target.block.index()].params;
                let own = &params[params.len().saturating_sub(target.args.len())..];
                own.iter().zip(&target.args).for_each(|(param, arg)| places.join(*param, *arg));
            }
        }
        places
    }

    fn first(&self, value: Value) -> usize {
        let mut at = value.index();
        while self.0[at] != at {
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, a: Value, b: Value) {
        let (a, b) = (self.first(a), self.first(b));
        self.0[a.max(b)] = a.min(b);
    }

    fn are_one(&self, a: Value, b: Value) -> bool {
        self.first(a) == self.first(b)
    }

    /// Whether a live value other than `except` may share the array's place.
    fn holds_another(&self, array: Value, except: Value, live: &[bool]) -> bool {
        let place = self.first(array);
        let others = (0..live.len()).filter(|value| live[*value] && *value != except.index());
        others.map(|value| Value(value as u32)).any(|value| self.first(value) == place)
    }
}

/// For each block, the values that are live after its operations.
fn live_out(body: &Body) -> Vec<Vec<bool>> {
    let mut live_out = vec![vec![false; body.values.len()]; body.blocks.len()];
    loop {
        let before = live_out.clone();
        for (index, block) in body.blocks.iter().enumerate().rev() {
            let mut live = vec![false; body.values.len()];
            for target in block.terminator.targets() {
                at_start(body, target.block.index(), &before).into_iter().for_each(|value| live[value] = true);
                target.args.iter().for_each(|arg| live[arg.index()] = true);
            }
            block.terminator.operands().into_iter().for_each(|value| live[value.index()] = true);
            live_out[index] = live;
        }
        if live_out == before {
            return live_out;
        }
    }
}

/// The values that are live at a block's start, without its parameters.
fn at_start(body: &Body, index: usize, live_out: &[Vec<bool>]) -> Vec<usize> {
    let (block, mut live) = (&body.blocks[index], live_out[index].clone());
    for op in block.ops.iter().rev() {
        op.results.iter().for_each(|result| live[result.index()] = false);
        op.kind.for_each_operand(&mut |value| live[value.index()] = true);
    }
    block.params.iter().for_each(|param| live[param.index()] = false);
    (0..live.len()).filter(|value| live[*value]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mokume_reaction::{to, Automaton, BlockId, BodyBuilder, Item, Terminator, Type};

    const ARRAY: Type = Type::Array(Item::U(8), 4);

    struct Made {
        b: BodyBuilder,
        a: Automaton,
        index: Value,
    }

    impl Made {
        fn new() -> Made {
            let b = BodyBuilder::new(&[("i".into(), Type::U(8))]);
            let index = b.params(BlockId(0))[0];
            Made { b, a: Automaton::default(), index }
        }

        fn array(&mut self) -> Value {
            self.b.value(&self.a, OpKind::Pack { ty: ARRAY, values: Vec::new() })
        }

        fn change(&mut self, array: Value) -> Value {
            self.b.value(&self.a, OpKind::SetItem { array, index: self.index, value: self.index })
        }

        fn item(&mut self, array: Value) -> Value {
            self.b.value(&self.a, OpKind::Item { array, index: self.index })
        }
    }

    #[test]
    fn one_behind_the_other_is_in_place() {
        let mut m = Made::new();
        let first = m.array();
        let second = m.change(first);
        let third = m.change(second);
        let seen = m.item(third);
        m.b.end(Terminator::Yield { values: vec![seen] });
        let reuse = Reuse::of(&m.b.finish());
        assert!([second, third].iter().all(|value| reuse.is_in_place(*value)));
    }

    #[test]
    fn what_is_copied_from_itself_is_no_change_in_place() {
        let mut m = Made::new();
        let first = m.array();
        let changed = m.b.value(&m.a, OpKind::Splice { array: first, index: m.index, with: first });
        let seen = m.item(changed);
        m.b.end(Terminator::Yield { values: vec![seen] });
        assert!(!Reuse::of(&m.b.finish()).is_in_place(changed));
    }

    #[test]
    fn what_is_looked_at_afterwards_stays() {
        let mut m = Made::new();
        let first = m.array();
        let second = m.change(first);
        let seen = m.item(first);
        let also = m.item(second);
        m.b.end(Terminator::Yield { values: vec![seen, also] });
        assert!(!Reuse::of(&m.b.finish()).is_in_place(second));
    }

    /// After a block with one predecessor, the array has another name and the same place.
    #[test]
    fn another_name_for_it_counts() {
        let mut m = Made::new();
        let first = m.array();
        let next = m.b.block("next", &[("again".into(), ARRAY)]);
        m.b.end(Terminator::Jump { to: to(next, [first]) });
        m.b.select(next);
        let again = m.b.params(next)[0];
        let second = m.change(first);
        let (seen, also) = (m.item(again), m.item(second));
        m.b.end(Terminator::Yield { values: vec![seen, also] });
        assert!(!Reuse::of(&m.b.finish()).is_in_place(second));
    }

    #[test]
    fn a_loop_changes_its_own() {
        let mut m = Made::new();
        let (first, other) = (m.array(), m.array());
        let head = m.b.block("head", &[("x".into(), ARRAY), ("y".into(), ARRAY)]);
        let (round, done) = (m.b.block("round", &[]), m.b.block("done", &[]));
        m.b.end(Terminator::Jump { to: to(head, [first, other]) });
        m.b.select(head);
        let (x, y) = (m.b.params(head)[0], m.b.params(head)[1]);
        let condition = m.b.constant(&m.a, Type::Bool, 1);
        m.b.end(Terminator::Branch { condition, then: to(round, []), otherwise: to(done, []), likely: None });
        m.b.select(round);
        let changed = m.change(x);
        let kept = m.change(y);
        m.b.end(Terminator::Jump { to: to(head, [changed, y]) });
        m.b.select(done);
        let seen = m.item(x);
        m.b.end(Terminator::Yield { values: vec![seen] });
        let reuse = Reuse::of(&m.b.finish());
        assert!(reuse.is_in_place(changed));
        assert!(!reuse.is_in_place(kept));
    }
}
