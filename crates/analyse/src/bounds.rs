//! Which numbers are certainly not larger than others, by the conditions that were tested before.
//!
//! A packet's length fields are compared with one another and with its size before they are used, so code that then
//! cuts the packet need not test again. Facts are differences: `a <= b + c` for values, sizes of messages, and zero
//! (difference constraints, as in Bodik, Gupta and Sarkar: ABCD, eliminating array bounds checks on demand, 2000). They
//! come from the conditions on the way from the entry.
//!
//! Keeps: facts are about mathematical integers, without a type's bound. A sum or difference counts as such only if it
//! certainly did not wrap around.

use std::cell::{OnceCell, RefCell};

use rustc_hash::FxHashMap;

use mokume_reaction::{Automaton, Binary, BlockId, Body, Compare, Dominators, OpKind, Terminator, Type, Value};

use crate::Flow;

/// How often a difference may rest on facts about another one: `(a - 20) - 8`.
const ROUNDS: usize = 3;
/// The most conditions in one derivation.
const STEPS: usize = 6;

/// The terms of differences.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Base {
    Zero,
    Value(Value),
    SizeOf(Value),
}

/// A base plus a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Term {
    base: Base,
    plus: i128,
}

/// `low <= high`
#[derive(Clone, Copy, Debug)]
struct Fact {
    low: Term,
    high: Term,
}

/// What is known at one place, and the terms of values there.
#[derive(Clone, Default)]
struct Known {
    /// By the base of what is low: the bases of what is high, and how much larger they are, at least.
    higher: FxHashMap<Base, Vec<(Base, i128)>>,
    terms: RefCell<FxHashMap<Value, Option<Term>>>,
}

impl Known {
    fn of(facts: Vec<Fact>) -> Known {
        let mut known = Known::default();
        for Fact { low, high } in facts {
            let higher = known.higher.entry(low.base).or_default();
            let fact = (high.base, high.plus - low.plus);
            if !higher.contains(&fact) {
                higher.push(fact);
            }
        }
        known
    }
}

/// A number that can be asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// A value of an unsigned type.
    Value(Value),
    /// The octets of a message.
    SizeOf(Value),
    Number(u64),
}

/// The facts from the conditions of one body.
pub struct Bounds<'a> {
    automaton: &'a Automaton,
    body: &'a Body,
    /// For each value, the operation that defines it and its index among the results; `None` for parameters.
    made: Vec<Option<(&'a OpKind, usize)>>,
    /// For each parameter of a block with one predecessor, the argument.
    comes: Vec<Option<Value>>,
    /// For each block with one predecessor that branches, the condition, and whether it holds in this block.
    asked: Vec<Option<(Value, bool)>>,
    dominators: Dominators,
    /// For each block, the facts that hold there.
    known: Vec<OnceCell<Known>>,
}

impl<'a> Bounds<'a> {
    /// The facts of a verified body.
    pub fn of(automaton: &'a Automaton, body: &'a Body) -> Bounds<'a> {
        let flow = Flow::new(body);
        let mut made = vec![None; body.values.len()];
        for op in body.ops() {
            op.results.iter().enumerate().for_each(|(place, result)| made[result.index()] = Some((&op.kind, place)));
        }
        let mut comes = vec![None; body.values.len()];
        let mut asked = vec![None; body.blocks.len()];
        for block in &body.blocks {
            for target in block.terminator.targets() {
                if flow.edges_into(target.block) != 1 || target.block.index() == 0 {
                    continue;
                }
                let params = &body.blocks[target.block.index()].params;
                let own = &params[params.len().saturating_sub(target.args.len())..];
                own.iter().zip(&target.args).for_each(|(param, arg)| comes[param.index()] = Some(*arg));
                if let Terminator::Branch { condition, then, .. } = &block.terminator {
                    asked[target.block.index()] = Some((*condition, std::ptr::eq(target, then)));
                }
            }
        }
        let known = vec![OnceCell::new(); body.blocks.len()];
        Bounds { automaton, body, made, comes, asked, dominators: Dominators::of(flow.successors()), known }
    }

    /// Whether `low + more <= high` certainly holds wherever `block` runs. If this is false, it may still hold.
    pub fn at_most(&self, block: BlockId, (low, more): (Quantity, u64), high: Quantity) -> bool {
        let round = |known: Known, _| Known::of(self.facts(block, &known));
        let facts = self.known[block.index()].get_or_init(|| (0..ROUNDS).fold(Known::default(), round));
        let term = |quantity| match quantity {
            Quantity::Value(value) => self.term(value, facts),
            Quantity::SizeOf(message) => self.size(message, facts),
            Quantity::Number(number) => Some(Term { base: Base::Zero, plus: number.into() }),
        };
        match (term(low), term(high)) {
            (Some(low), Some(high)) => self.follows(low.plus(more.into()), high, facts),
            _ => false,
        }
    }

    /// Facts from the types of numbers and from the conditions on the way to a block; `known` is used to exclude
    /// wrap-around.
    fn facts(&self, block: BlockId, known: &Known) -> Vec<Fact> {
        let mut facts = Vec::new();
        for op in self.body.ops() {
            let OpKind::Binary { op: made, a, b } = &op.kind else { continue };
            let (others, is_most) = match made {
                Binary::Min | Binary::And => (vec![*a, *b], true),
                Binary::Div | Binary::Rem | Binary::Shr => (vec![*a], true),
                Binary::Max => (vec![*a, *b], false),
                _ => continue,
            };
            let own = op.results.first().and_then(|result| self.term(*result, known));
            let of = |value: Value| {
                let (own, other) = (own?, self.term(value, known)?);
                Some(if is_most { Fact { low: own, high: other } } else { Fact { low: other, high: own } })
            };
            facts.extend(others.into_iter().filter_map(of));
        }
        let mut next = Some(block.index());
        while let Some(at) = next {
            if let Some((condition, holds)) = self.asked[at] {
                self.condition(condition, holds, known, &mut facts);
            }
            next = self.dominators.above(at);
        }
        facts
    }

    fn condition(&self, condition: Value, holds: bool, known: &Known, facts: &mut Vec<Fact>) {
        match self.kind(condition) {
            Some(OpKind::Not { a }) => self.condition(*a, !holds, known, facts),
            Some(OpKind::Binary { op: Binary::And, a, b }) if holds => {
                self.condition(*a, true, known, facts);
                self.condition(*b, true, known, facts);
            }
            Some(OpKind::Binary { op: Binary::Or, a, b }) if !holds => {
                self.condition(*a, false, known, facts);
                self.condition(*b, false, known, facts);
            }
            Some(OpKind::Compare { op, a, b }) => {
                let (Some(x), Some(y)) = (self.term(*a, known), self.term(*b, known)) else { return };
                let at_least = |low: Term, more: i128, high: Term| Fact { low: low.plus(more), high };
                match (op, holds) {
                    (Compare::Le, true) | (Compare::Gt, false) => facts.push(at_least(x, 0, y)),
                    (Compare::Lt, true) | (Compare::Ge, false) => facts.push(at_least(x, 1, y)),
                    (Compare::Ge, true) | (Compare::Lt, false) => facts.push(at_least(y, 0, x)),
                    (Compare::Gt, true) | (Compare::Le, false) => facts.push(at_least(y, 1, x)),
                    (Compare::Eq, true) | (Compare::Ne, false) => {
                        facts.extend([at_least(x, 0, y), at_least(y, 0, x)]);
                    }
                    // A number that is not zero is at least one.
                    (Compare::Ne, true) | (Compare::Eq, false) => {
                        let nothing = Term { base: Base::Zero, plus: 0 };
                        facts.extend((y == nothing).then(|| at_least(y, 1, x)));
                        facts.extend((x == nothing).then(|| at_least(x, 1, y)));
                    }
                }
            }
            // Other comparisons give no facts.
            _ => {}
        }
    }

    fn kind(&self, value: Value) -> Option<&'a OpKind> {
        let value = self.comes[value.index()].unwrap_or(value);
        self.made[value.index()].map(|(kind, _)| kind)
    }

    /// The largest number of the value's type; `None` if it is not a plain number.
    fn largest(&self, value: Value) -> Option<i128> {
        match self.body.values[value.index()].ty {
            ty @ Type::U(_) => Some((1i128 << ty.width(self.automaton)) - 1),
            _ => None,
        }
    }

    /// A value as another value plus a number; `None` if it is not a plain number.
    fn term(&self, value: Value, known: &Known) -> Option<Term> {
        if let Some(term) = known.terms.borrow().get(&value) {
            return *term;
        }
        let term = self.term_of(value, known);
        known.terms.borrow_mut().insert(value, term);
        term
    }

    fn term_of(&self, value: Value, known: &Known) -> Option<Term> {
        let most = self.largest(value)?;
        let itself = Term { base: Base::Value(value), plus: 0 };
        if let Some(before) = self.comes[value.index()] {
            return self.term(before, known);
        }
        let number = |value: Value| match self.kind(value) {
            Some(OpKind::Const { value, .. }) => Some(i128::from(*value)),
            _ => None,
        };
        let term = match self.made[value.index()] {
            Some((OpKind::Const { value, .. }, _)) => Some(Term { base: Base::Zero, plus: i128::from(*value) }),
            Some((OpKind::Size { message }, _)) => self.size(*message, known),
            Some((OpKind::Cast { a, .. }, _)) => {
                self.term(*a, known).filter(|term| self.most(*term).is_some_and(|all| all <= most))
            }
            Some((OpKind::Binary { op: Binary::Add | Binary::AddWrap, a, b }, _)) => {
                let both = match (number(*a), number(*b)) {
                    (_, Some(number)) => self.term(*a, known).map(|term| term.plus(number)),
                    (Some(number), None) => self.term(*b, known).map(|term| term.plus(number)),
                    (None, None) => None,
                };
                both.filter(|term| self.most(*term).is_some_and(|all| all <= most))
            }
            Some((OpKind::Binary { op: Binary::Sub | Binary::SubWrap, a, b }, _)) => number(*b).and_then(|number| {
                let whole = self.term(*a, known)?;
                let taken = Term { base: Base::Zero, plus: number };
                self.follows(taken, whole, known).then(|| whole.plus(-number))
            }),
            _ => None,
        };
        Some(term.unwrap_or(itself))
    }

    /// The size of a message: that of the message it was cut from, less a number.
    fn size(&self, message: Value, known: &Known) -> Option<Term> {
        let itself = Term { base: Base::SizeOf(message), plus: 0 };
        if let Some(before) = self.comes[message.index()] {
            return self.size(before, known);
        }
        let term = match self.made[message.index()] {
            Some((OpKind::Skip { message: whole, size }, 0)) => {
                let (whole, size) = (self.size(*whole, known)?, self.term(*size, known)?);
                (size.base == Base::Zero && self.follows(size, whole, known)).then(|| whole.plus(-size.plus))
            }
            Some((OpKind::Trim { message: whole, size }, 0)) => {
                let (whole, size) = (self.size(*whole, known)?, self.term(*size, known)?);
                self.follows(size, whole, known).then_some(size)
            }
            Some((OpKind::Meet { message: whole, .. }, 0)) => self.size(*whole, known),
            _ => None,
        };
        Some(term.unwrap_or(itself))
    }

    /// The largest value of a term by its type.
    fn most(&self, term: Term) -> Option<i128> {
        let base = match term.base {
            Base::Zero => 0,
            Base::Value(value) => self.largest(value)?,
            Base::SizeOf(_) => u32::MAX.into(),
        };
        Some(base + term.plus)
    }

    /// Whether `low <= high` follows from the facts.
    fn follows(&self, low: Term, high: Term, known: &Known) -> bool {
        // For each base reached so far: how much larger it may be, at most.
        let mut open = vec![(low.base, high.plus - low.plus)];
        let mut best: Vec<(Base, i128)> = open.clone();
        for _ in 0..STEPS {
            for (base, more) in std::mem::take(&mut open) {
                // No number is below zero.
                let is_least = self.most(Term { base, plus: 0 }).is_some_and(|all| all <= more);
                if is_least || (base == high.base && more >= 0) {
                    return true;
                }
                for (higher, least) in known.higher.get(&base).into_iter().flatten() {
                    let next = (*higher, more - least);
                    let is_better = |(known, least): &(Base, i128)| *known == next.0 && *least >= next.1;
                    if !best.iter().any(is_better) {
                        best.push(next);
                        open.push(next);
                    }
                }
            }
        }
        false
    }
}

impl Term {
    fn plus(self, more: i128) -> Term {
        Term { plus: self.plus + more, ..self }
    }
}
