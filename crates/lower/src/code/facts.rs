//! What is known of a body before its stack starts: values that are constants, and code that never runs in this stack. It
//! changes no operation; it only keeps what cannot happen from being reported.

use std::collections::HashMap;

use mokume_base::Span;
use mokume_reaction::{Binary, Compare, OpKind, Type, Value};

use super::writer::{Exit, Writer};
use crate::constants::Index;

#[derive(Default)]
pub struct Facts {
    /// The code at the current position is reachable, but a parameter rules it out in this stack.
    pub never: bool,
    /// The values that are always one number.
    numbers: HashMap<Value, u64>,
    /// Constants that are bound to a local, at their places.
    bound: HashMap<Span, Index>,
}

impl Facts {
    pub fn number(&self, value: Value) -> Option<u64> {
        self.numbers.get(&value).copied()
    }

    pub fn note(&mut self, value: Option<Value>, number: Option<u64>) {
        self.numbers.extend(value.zip(number));
    }

    /// A local is bound to the constant that stands at a place.
    pub fn bind(&mut self, place: Span, constant: Index) {
        self.bound.insert(place, constant);
    }

    /// The constant at a place that the compiler has bound in front of its statement.
    pub fn bound_in_front(&self, place: Span) -> Option<Index> {
        self.bound.get(&place).copied()
    }

    /// Whether what follows the join of some exits never runs, and its results, as far as they are known: whatever never
    /// runs gives none.
    pub fn of_exits(&self, exits: &[Exit]) -> (bool, Vec<Option<u64>>) {
        let running: Vec<&Exit> = exits.iter().filter(|exit| !exit.never).collect();
        let results = exits.first().map_or(0, |exit| exit.results.len());
        let known = |at: usize| {
            let mut all = running.iter().map(|exit| exit.results.get(at).and_then(|value| self.number(*value)));
            let first = all.next().flatten()?;
            all.all(|other| other == Some(first)).then_some(first)
        };
        (running.is_empty(), (0..results).map(known).collect())
    }
}

impl Writer<'_, '_> {
    /// The number that an operation gives in this stack, as far as conditions need it.
    pub(super) fn number_of(&self, kind: &OpKind) -> Option<u64> {
        let number = |value: &Value| self.facts.number(*value);
        match kind {
            OpKind::Const { value, .. } => Some(*value),
            OpKind::Not { a } if self.b.type_of(*a) == Type::Bool => Some(1 - number(a)?.min(1)),
            OpKind::Binary { op, a, b } if self.b.type_of(*a) == Type::Bool => both_known(*op, [number(a), number(b)]),
            OpKind::Compare { op, a, b } if !matches!(self.b.type_of(*a), Type::Seq(_)) => {
                let (a, b) = (number(a)?, number(b)?);
                Some(u64::from(match op {
                    Compare::Eq => a == b,
                    Compare::Ne => a != b,
                    Compare::Lt => a < b,
                    Compare::Le => a <= b,
                    Compare::Gt => a > b,
                    Compare::Ge => a >= b,
                }))
            }
            OpKind::Cast { a, to } => {
                number(a).filter(|number| to.width(&self.a) >= 64 || *number < 1 << to.width(&self.a))
            }
            OpKind::Select { c, a, b } => number(if number(c)? != 0 { a } else { b }),
            _ => None,
        }
    }
}

/// `and` or `or` of two truths, each of which may be unknown.
pub(super) fn both_known(op: Binary, known: [Option<u64>; 2]) -> Option<u64> {
    match (op, known) {
        (Binary::And, [Some(0), _] | [_, Some(0)]) => Some(0),
        (Binary::And, [Some(a), Some(b)]) => Some(a & b),
        (Binary::Or, [Some(1), _] | [_, Some(1)]) => Some(1),
        (Binary::Or, [Some(a), Some(b)]) => Some(a | b),
        _ => None,
    }
}
