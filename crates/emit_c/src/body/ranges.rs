//! Upper bounds of values: sums that cannot carry need no check, and divisors that cannot be zero neither.
//!
//! It must keep: a bound holds on every run of the body. It follows operations and the arguments of blocks with one
//! predecessor; for everything else it uses the type.

use mokume_analyse::Flow;
use mokume_reaction::*;

use crate::fault::Fault;
use crate::types::mask;

pub(crate) struct Ranges {
    /// By value, its upper bound.
    largest: Vec<u64>,
    constants: Vec<Option<u64>>,
    planted: Option<Fault>,
}

impl Ranges {
    /// The upper bounds of a body's values.
    pub fn of(automaton: &Automaton, body: &Body, planted: Option<Fault>) -> Ranges {
        let largest = body.values.iter().map(|value| of_type(automaton, value.ty)).collect();
        let mut ranges = Ranges { largest, constants: vec![None; body.values.len()], planted };
        let flow = Flow::new(body);
        // A block usually comes after its only predecessor; if not, only its type is known.
        for block in &body.blocks {
            for op in &block.ops {
                ranges.note(automaton, body, op);
            }
            if let Terminator::Try { op: Fallible::Recall { memo, .. }, then, .. } = &block.terminator {
                let given = given(automaton, &automaton.functions[memo.index()].body, planted);
                let params = &body.blocks[then.block.index()].params;
                params.iter().zip(given).for_each(|(param, largest)| ranges.limit(*param, largest));
            }
            for target in block.terminator.targets() {
                let params = &body.blocks[target.block.index()].params;
                let own = &params[params.len().saturating_sub(target.args.len())..];
                if flow.edges_into(target.block) == 1 && target.block.index() != 0 {
                    own.iter().zip(&target.args).for_each(|(param, arg)| ranges.same(*param, *arg));
                }
            }
        }
        ranges
    }

    /// What memos are known to give, where it is less than their types allow.
    pub fn recalled<'a>(&'a self, automaton: &'a Automaton, body: &'a Body) -> impl Iterator<Item = (Value, u64)> + 'a {
        let given = body.blocks.iter().flat_map(|block| {
            let Terminator::Try { op: Fallible::Recall { .. }, then, .. } = &block.terminator else { return &[][..] };
            &body.blocks[then.block.index()].params
        });
        let is_number = |value: &Value| matches!(body.values[value.index()].ty, Type::U(_));
        let is_less = |(value, most): &(Value, u64)| *most < of_type(automaton, body.values[value.index()].ty);
        given.copied().filter(is_number).map(|value| (value, self.largest(value))).filter(is_less)
    }

    /// The upper bound of the value.
    pub fn largest(&self, value: Value) -> u64 {
        self.largest[value.index()]
    }

    /// The value, if it is constant.
    pub fn constant(&self, value: Value) -> Option<u64> {
        self.constants[value.index()]
    }

    fn same(&mut self, value: Value, as_value: Value) {
        self.limit(value, self.largest(as_value));
        self.constants[value.index()] = self.constants[as_value.index()];
    }

    fn limit(&mut self, value: Value, largest: u64) {
        let known = &mut self.largest[value.index()];
        *known = (*known).min(largest);
    }

    fn note(&mut self, automaton: &Automaton, body: &Body, op: &Op) {
        let Some(result) = op.results.first().copied() else { return };
        match &op.kind {
            OpKind::Const { value, .. } => {
                self.constants[result.index()] = Some(*value);
                self.limit(result, *value);
            }
            OpKind::Cast { a, to } => {
                let most = of_type(automaton, *to);
                self.limit(result, self.largest(*a).min(most));
                self.constants[result.index()] = self.constant(*a).map(|value| value & most);
            }
            OpKind::SumPart { size, .. } => {
                self.limit(result, self.largest(*size).div_ceil(2).saturating_mul(0xffff));
            }
            OpKind::Select { a, b, .. } => self.limit(result, self.largest(*a).max(self.largest(*b))),
            OpKind::Binary { op: what, a, b } => {
                let sequence =
                    matches!(body.values[a.index()].ty, Type::Seq(_)) && self.planted != Some(Fault::CircleIsALine);
                if let Some(largest) = self.binary((*what, sequence), *a, *b) {
                    self.limit(result, largest);
                }
                if let Some(known) = self.known(automaton, *what, (*a, body.values[a.index()].ty), *b) {
                    self.constants[result.index()] = Some(known);
                    self.limit(result, known);
                }
            }
            // For all others, the type gives the bound.
            _ => {}
        }
    }

    /// The result, if both operands are known and nothing is reported. C would compute it in a type of its own choice.
    pub fn known(&self, automaton: &Automaton, op: Binary, (a, ty): (Value, Type), b: Value) -> Option<u64> {
        let (x, y) = (self.constant(a)?, self.constant(b)?);
        let (all, sequence) = (of_type(automaton, ty), matches!(ty, Type::Seq(_)));
        let width = u64::from(ty.width(automaton));
        let whole = |value: Option<u64>| value.filter(|value| *value <= all);
        match op {
            Binary::AddWrap => Some(x.wrapping_add(y) & all),
            Binary::SubWrap => Some(x.wrapping_sub(y) & all),
            Binary::MulWrap => Some(x.wrapping_mul(y) & all),
            Binary::Add if sequence => Some(x.wrapping_add(y) & all),
            Binary::Sub if sequence => Some(x.wrapping_sub(y) & all),
            Binary::Mul if sequence => Some(x.wrapping_mul(y) & all),
            Binary::Add => whole(x.checked_add(y)),
            Binary::Sub => x.checked_sub(y),
            Binary::Mul => whole(x.checked_mul(y)),
            Binary::Div => x.checked_div(y),
            Binary::Rem => x.checked_rem(y),
            Binary::And => Some(x & y),
            Binary::Or => Some(x | y),
            Binary::Xor => Some(x ^ y),
            Binary::Shl => Some(if y < width { (x << y) & all } else { 0 }),
            Binary::Shr => Some(if y < width { x >> y } else { 0 }),
            Binary::Min if !sequence => Some(x.min(y)),
            Binary::Max if !sequence => Some(x.max(y)),
            // The runtime handles circular order and bounds.
            Binary::Min | Binary::Max | Binary::Within => None,
        }
    }

    /// The upper bound of a result; `sequence`: of numbers on a circle, whose order says nothing about their size.
    fn binary(&self, (op, sequence): (Binary, bool), a: Value, b: Value) -> Option<u64> {
        let (x, y) = (self.largest(a), self.largest(b));
        let bits = |value: u64| mask(64 - value.leading_zeros() as u8);
        match op {
            Binary::Add | Binary::AddWrap => x.checked_add(y),
            Binary::Mul | Binary::MulWrap => x.checked_mul(y),
            Binary::Div => Some(x / self.constant(b).unwrap_or(1).max(1)),
            Binary::Rem => Some(self.constant(b).map_or(x, |by| x.min(by.saturating_sub(1)))),
            Binary::And => Some(x.min(y)),
            Binary::Or | Binary::Xor => Some(bits(x | y)),
            Binary::Min if !sequence => Some(x.min(y)),
            Binary::Min | Binary::Max => Some(x.max(y)),
            Binary::Shr => Some(self.constant(b).map_or(x, |by| x.checked_shr(by as u32).unwrap_or(0))),
            Binary::Shl => self.constant(b).and_then(|by| x.checked_mul(1u64.checked_shl(by as u32)?)),
            Binary::Sub | Binary::SubWrap | Binary::Within => None,
        }
    }
}

/// The upper bounds of a function's results.
fn given(automaton: &Automaton, body: &Body, planted: Option<Fault>) -> Vec<u64> {
    let ranges = Ranges::of(automaton, body, planted);
    let mut given: Vec<u64> = Vec::new();
    for block in &body.blocks {
        let Terminator::Yield { values } = &block.terminator else { continue };
        given.resize(values.len(), 0);
        given.iter_mut().zip(values).for_each(|(most, value)| *most = (*most).max(ranges.largest(*value)));
    }
    given
}

fn of_type(automaton: &Automaton, ty: Type) -> u64 {
    match ty {
        Type::Bool => 1,
        Type::Ref(_) | Type::Msg | Type::Array(..) => u64::MAX,
        Type::Reason => mask(32),
        other => mask(other.width(automaton)),
    }
}
