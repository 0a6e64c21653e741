//! Which numbers are certainly not larger than others, by the conditions that were tested before.
//!
//! A packet's length fields are compared with one another and with its size before they are used, so code that then
//! cuts the packet need not test again. Facts are differences: `a <= b + c` for values, sizes of messages, and zero
//! (difference constraints, as in Bodik, Gupta and Sarkar: ABCD, eliminating array bounds checks on demand, 2000). They
//! come from the conditions on the way from the entry.
//!
//! Most terms are the same wherever one asks, and the facts between those are kept once, each with the block from which
//! on it holds. Only what rests on a difference that some facts exclude from wrapping around is worked out for each block.
//!
//! Keeps: facts are about mathematical integers, without a type's bound. A sum or difference counts as such only if it
//! certainly did not wrap around.

use std::cell::{Cell, OnceCell, RefCell};

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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Fact {
    low: Term,
    high: Term,
}

/// A comparison of two numbers that is known to hold, or not to hold, in a block.
#[derive(Clone, Copy, Debug)]
struct Atom {
    op: Compare,
    holds: bool,
    a: Value,
    b: Value,
}

/// A fact about a base: another base is larger by so much, at least.
type Higher = (Base, i128);

/// A term without any facts, and whether facts may change it.
type Alone = (Option<Term>, bool);

/// What is known in one block beyond the facts that are kept once.
#[derive(Clone, Default)]
struct Known {
    /// The block; `None` if not even the facts that are kept once are known.
    block: Option<usize>,
    facts: Vec<Fact>,
    /// By the base of what is low.
    higher: FxHashMap<Base, Vec<Higher>>,
    terms: RefCell<FxHashMap<Value, Option<Term>>>,
}

impl Known {
    fn of(block: usize, facts: Vec<Fact>) -> Known {
        let mut higher: FxHashMap<Base, Vec<Higher>> = FxHashMap::default();
        for fact in &facts {
            let higher = higher.entry(fact.low.base).or_default();
            let fact = fact.higher();
            if !higher.contains(&fact) {
                higher.push(fact);
            }
        }
        Known { block: Some(block), facts, higher, terms: RefCell::default() }
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
    dominators: Dominators,
    /// For each value: its term without any facts, and whether facts may change it.
    alone: Vec<OnceCell<Alone>>,
    /// Whether a term that is being worked out asked in vain for facts.
    in_vain: Cell<bool>,
    /// The facts that no other facts change, by the base of what is low; each with the block from which on it holds.
    settled: FxHashMap<Base, Vec<(usize, Higher)>>,
    /// For each block, what it knows besides by its predecessor's condition.
    open: Vec<Vec<Atom>>,
    /// The operations besides whose result is not larger than a number (`true`), or not less.
    open_ops: Vec<(Value, Value, bool)>,
    /// For each block, what is known there besides.
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
        let mut asked = Vec::new();
        for block in &body.blocks {
            for target in block.terminator.targets() {
                if flow.edges_into(target.block) != 1 || target.block.index() == 0 {
                    continue;
                }
                let params = &body.blocks[target.block.index()].params;
                let own = &params[params.len().saturating_sub(target.args.len())..];
                own.iter().zip(&target.args).for_each(|(param, arg)| comes[param.index()] = Some(*arg));
                if let Terminator::Branch { condition, then, .. } = &block.terminator {
                    asked.push((target.block.index(), *condition, std::ptr::eq(target, then)));
                }
            }
        }
        let mut bounds = Bounds {
            automaton,
            body,
            made,
            comes,
            dominators: Dominators::of(flow.successors()),
            alone: vec![OnceCell::new(); body.values.len()],
            in_vain: Cell::new(false),
            settled: FxHashMap::default(),
            open: vec![Vec::new(); body.blocks.len()],
            open_ops: Vec::new(),
            known: vec![OnceCell::new(); body.blocks.len()],
        };
        bounds.sort_operations();
        for (block, condition, holds) in asked {
            let mut atoms = Vec::new();
            bounds.atoms(condition, holds, &mut atoms);
            bounds.sort_atoms(block, atoms);
        }
        bounds
    }

    /// The same, where a value is known from elsewhere to be at most so much wherever it is there.
    pub fn with_most(mut self, known: impl IntoIterator<Item = (Value, u64)>) -> Bounds<'a> {
        for (value, most) in known {
            let (own, most) =
                (Term { base: Base::Value(value), plus: 0 }, Term { base: Base::Zero, plus: most.into() });
            self.settle(0, Fact::between(own, most, true));
        }
        self
    }

    /// Facts from operations hold everywhere: they are kept once, or are worked out for each block.
    fn sort_operations(&mut self) {
        for op in self.body.ops() {
            let OpKind::Binary { op: made, a, b } = &op.kind else { continue };
            let (others, is_most) = match made {
                Binary::Min | Binary::And => (vec![*a, *b], true),
                Binary::Div | Binary::Rem | Binary::Shr => (vec![*a], true),
                Binary::Max => (vec![*a, *b], false),
                _ => continue,
            };
            let Some(own) = op.results.first() else { continue };
            for other in others {
                let ((own_term, own_may), (term, may)) = (self.alone(*own), self.alone(other));
                if own_may || may {
                    self.open_ops.push((*own, other, is_most));
                } else if let (Some(own), Some(other)) = (own_term, term) {
                    self.settle(0, Fact::between(own, other, is_most));
                }
            }
        }
    }

    /// Facts from a block's condition hold from the block on.
    fn sort_atoms(&mut self, block: usize, atoms: Vec<Atom>) {
        for atom in atoms {
            let ((a, a_may), (b, b_may)) = (self.alone(atom.a), self.alone(atom.b));
            if a_may || b_may {
                self.open[block].push(atom);
            } else if let (Some(a), Some(b)) = (a, b) {
                atom.facts(a, b).into_iter().flatten().for_each(|fact| self.settle(block, fact));
            }
        }
    }

    fn settle(&mut self, block: usize, fact: Fact) {
        let (all, fact) = (self.settled.entry(fact.low.base).or_default(), (block, fact.higher()));
        if !all.contains(&fact) {
            all.push(fact);
        }
    }

    /// Whether `low + more <= high` certainly holds wherever `block` runs. If this is false, it may still hold.
    pub fn at_most(&self, block: BlockId, (low, more): (Quantity, u64), high: Quantity) -> bool {
        let facts = self.known[block.index()].get_or_init(|| self.known(block.index()));
        let term = |quantity| match quantity {
            Quantity::Value(value) => self.term(value, facts),
            Quantity::SizeOf(message) => self.term(message, facts),
            Quantity::Number(number) => Some(Term { base: Base::Zero, plus: number.into() }),
        };
        match (term(low), term(high)) {
            (Some(low), Some(high)) => self.follows(low.plus(more.into()), high, facts),
            _ => false,
        }
    }

    fn known(&self, block: usize) -> Known {
        let mut known = Known::of(block, Vec::new());
        for _ in 0..ROUNDS {
            let facts = self.facts(block, &known);
            if facts == known.facts {
                break;
            }
            known = Known::of(block, facts);
        }
        known
    }

    /// The facts in a block that are not kept once; `known` is used to exclude wrap-around.
    fn facts(&self, block: usize, known: &Known) -> Vec<Fact> {
        let of_op = |(own, other, is_most): &(Value, Value, bool)| {
            Some(Fact::between(self.term(*own, known)?, self.term(*other, known)?, *is_most))
        };
        let mut facts: Vec<Fact> = self.open_ops.iter().filter_map(of_op).collect();
        let mut next = Some(block);
        while let Some(at) = next {
            for atom in &self.open[at] {
                let (Some(a), Some(b)) = (self.term(atom.a, known), self.term(atom.b, known)) else { continue };
                facts.extend(atom.facts(a, b).into_iter().flatten());
            }
            next = self.dominators.above(at);
        }
        facts
    }

    /// The comparisons that hold, or do not hold, if a condition does.
    fn atoms(&self, condition: Value, holds: bool, atoms: &mut Vec<Atom>) {
        match self.kind(condition) {
            Some(OpKind::Not { a }) => self.atoms(*a, !holds, atoms),
            Some(OpKind::Binary { op: Binary::And, a, b }) if holds => {
                self.atoms(*a, true, atoms);
                self.atoms(*b, true, atoms);
            }
            Some(OpKind::Binary { op: Binary::Or, a, b }) if !holds => {
                self.atoms(*a, false, atoms);
                self.atoms(*b, false, atoms);
            }
            Some(OpKind::Compare { op, a, b }) => atoms.push(Atom { op: *op, holds, a: *a, b: *b }),
            // Other conditions give no facts.
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

    /// The term of a number, or of a message's size, without any facts, and whether facts may change it.
    fn alone(&self, value: Value) -> Alone {
        let (term, may_change) = *self.alone[value.index()].get_or_init(|| {
            let before = self.in_vain.replace(false);
            let term = self.made_of(value, &Known::default());
            (term, self.in_vain.replace(before))
        });
        self.in_vain.set(self.in_vain.get() || may_change);
        (term, may_change)
    }

    /// A number as another value plus a number, and a message as its size in such terms: that of the message it was cut
    /// from, less a number. `None` if it is neither.
    fn term(&self, value: Value, known: &Known) -> Option<Term> {
        let (term, may_change) = self.alone(value);
        if !may_change || known.block.is_none() {
            return term;
        }
        if let Some(term) = known.terms.borrow().get(&value) {
            return *term;
        }
        let term = self.made_of(value, known);
        known.terms.borrow_mut().insert(value, term);
        term
    }

    fn made_of(&self, value: Value, known: &Known) -> Option<Term> {
        match self.body.values[value.index()].ty {
            Type::Msg => self.size_of(value, known),
            _ => self.term_of(value, known),
        }
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
            Some((OpKind::Size { message }, _)) => self.term(*message, known),
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

    fn size_of(&self, message: Value, known: &Known) -> Option<Term> {
        let itself = Term { base: Base::SizeOf(message), plus: 0 };
        if let Some(before) = self.comes[message.index()] {
            return self.term(before, known);
        }
        let term = match self.made[message.index()] {
            Some((OpKind::Skip { message: whole, size }, 0)) => {
                let (whole, size) = (self.term(*whole, known)?, self.term(*size, known)?);
                (size.base == Base::Zero && self.follows(size, whole, known)).then(|| whole.plus(-size.plus))
            }
            Some((OpKind::Trim { message: whole, size }, 0)) => {
                let (whole, size) = (self.term(*whole, known)?, self.term(*size, known)?);
                self.follows(size, whole, known).then_some(size)
            }
            Some((OpKind::Meet { message: whole, .. }, 0)) => self.term(*whole, known),
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
                let besides = known.higher.get(&base).into_iter().flatten().copied();
                for (higher, least) in self.settled_at(base, known.block).chain(besides) {
                    let next = (higher, more - least);
                    let is_better = |(known, least): &(Base, i128)| *known == next.0 && *least >= next.1;
                    if !best.iter().any(is_better) {
                        best.push(next);
                        open.push(next);
                    }
                }
            }
        }
        self.in_vain.set(true);
        false
    }

    /// The facts about a base that are kept once and hold in a block.
    fn settled_at(&self, base: Base, block: Option<usize>) -> impl Iterator<Item = Higher> + '_ {
        let all = block.and_then(|_| self.settled.get(&base)).into_iter().flatten();
        let holds = move |from: usize| block.is_some_and(|block| self.dominators.dominates(from, block));
        all.filter(move |(from, _)| holds(*from)).map(|(_, fact)| *fact)
    }
}

impl Atom {
    /// What the comparison says of its two numbers.
    fn facts(self, x: Term, y: Term) -> [Option<Fact>; 2] {
        let at_least = |low: Term, more: i128, high: Term| Some(Fact { low: low.plus(more), high });
        match (self.op, self.holds) {
            (Compare::Le, true) | (Compare::Gt, false) => [at_least(x, 0, y), None],
            (Compare::Lt, true) | (Compare::Ge, false) => [at_least(x, 1, y), None],
            (Compare::Ge, true) | (Compare::Lt, false) => [at_least(y, 0, x), None],
            (Compare::Gt, true) | (Compare::Le, false) => [at_least(y, 1, x), None],
            (Compare::Eq, true) | (Compare::Ne, false) => [at_least(x, 0, y), at_least(y, 0, x)],
            // A number that is not zero is at least one.
            (Compare::Ne, true) | (Compare::Eq, false) => {
                let nothing = Term { base: Base::Zero, plus: 0 };
                let of = |zero: Term, other: Term| at_least(zero, 1, other).filter(|_| zero == nothing);
                [of(y, x), of(x, y)]
            }
        }
    }
}

impl Fact {
    /// `own <= other`, or `other <= own`.
    fn between(own: Term, other: Term, is_most: bool) -> Fact {
        match is_most {
            true => Fact { low: own, high: other },
            false => Fact { low: other, high: own },
        }
    }

    fn higher(self) -> Higher {
        (self.high.base, self.high.plus - self.low.plus)
    }
}

impl Term {
    fn plus(self, more: i128) -> Term {
        Term { plus: self.plus + more, ..self }
    }
}
