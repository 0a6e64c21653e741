//! Terms over booleans, bit-vectors and octet arrays: hash-consed, and simplified when they are made.
//!
//! Every constructor keeps the meaning of SMT-LIB's theory of fixed-size bit-vectors and of arrays.

mod bits;
mod folds;
mod known;
mod model;
mod numbers;
mod truths;

use std::cell::RefCell;
use std::collections::HashMap;

pub use model::Model;

/// A term of one [`Terms`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Term(pub(crate) u32);

/// The sort of a term, as in SMT-LIB. Bits are 1 to 64, except for concatenations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sort {
    Bool,
    Bits(u32),
    /// Octets by a 32-bit index.
    Octets,
}

/// Operators of two bit-vectors of one width. `Div` and `Rem` are those of SMT-LIB: by zero they give all ones and the
/// dividend, so code that follows docs/semantics.md, A3 makes a choice first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operator {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
}

/// How a term is made of others. Equal nodes of equal sort are one term.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    Variable {
        name: String,
    },
    True,
    False,
    Number(u64),
    Not(Term),
    All(Vec<Term>),
    Any(Vec<Term>),
    If(Term, Term, Term),
    Equal(Term, Term),
    Less(Term, Term),
    Binary(Operator, Term, Term),
    /// Bits `high ..= low`.
    Extract(u32, u32, Term),
    /// The first is the high part.
    Concat(Term, Term),
    /// Extended by this many zeros.
    ZeroExtend(u32, Term),
    Select(Term, Term),
    /// A sum of 32 bits folded to 16 with end-around carry.
    Fold(Term),
    /// An uninterpreted function.
    Apply {
        name: String,
        args: Vec<Term>,
    },
}

/// The arena of terms.
#[derive(Clone, Default, Debug)]
pub struct Terms {
    nodes: Vec<(Node, Sort)>,
    index: HashMap<(Node, Sort), Term>,
    fresh: u32,
    /// The least and the most of each term, for any values of its variables.
    plain: Vec<(u64, u64)>,
    /// The latest part of each term: for a sum that of its summands, for all others the term itself.
    ranks: Vec<u32>,
    assumed: Assumed,
    /// Replacements of terms, valid under the current and any further assumptions.
    same: HashMap<Term, Term>,
}

/// A set of assumptions. Terms made under it are simpler, and keep their meaning only where it holds.
#[derive(Clone, Default, Debug)]
pub struct Assumed {
    /// Replacements of terms: both were assumed to be equal.
    known: HashMap<Term, Term>,
    /// The least and the most of terms, where an assumption narrows them.
    ranges: HashMap<Term, (u64, u64)>,
    /// A cache of ranges that were computed from these.
    seen: RefCell<HashMap<Term, (u64, u64)>>,
    /// A cache of the low bits of sums and the like.
    parts: Parts,
    /// How often an assumption about numbers was made.
    of_numbers: u64,
}

/// A cache of parts of terms; a clone begins empty.
#[derive(Default, Debug)]
struct Parts(RefCell<HashMap<(u32, Term), Term>>);

impl Clone for Parts {
    fn clone(&self) -> Parts {
        Parts::default()
    }
}

fn mask(width: u32) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

impl Terms {
    /// How the term is made. Panics if the arena has no such term.
    pub fn node(&self, term: Term) -> &Node {
        &self.nodes[term.0 as usize].0
    }

    /// The sort of the term.
    pub fn sort(&self, term: Term) -> Sort {
        self.nodes[term.0 as usize].1
    }

    /// The bits of a bit-vector; 1 for a boolean.
    pub fn width(&self, term: Term) -> u32 {
        match self.sort(term) {
            Sort::Bits(width) => width,
            Sort::Bool => 1,
            Sort::Octets => 8,
        }
    }

    /// The current assumptions, which [`Terms::assuming`] can restore.
    pub fn assumed(&self) -> Assumed {
        self.assumed.clone()
    }

    /// Replaces the assumptions, and returns the previous ones. Terms remain, and keep their meaning.
    pub fn assuming(&mut self, assumed: Assumed) -> Assumed {
        std::mem::replace(&mut self.assumed, assumed)
    }

    /// A replacement always has a lower rank than the term, and so have a term's parts: so nothing can replace itself.
    fn rank(&self, term: Term) -> (u32, Term) {
        (self.ranks[term.0 as usize], term)
    }

    fn by_rank(&self, a: Term, b: Term) -> (Term, Term) {
        match self.rank(a) < self.rank(b) {
            true => (a, b),
            false => (b, a),
        }
    }

    /// Two terms were shown to be equal: from here on one of them replaces the other, until [`Terms::tell_apart`].
    pub fn unify(&mut self, term: Term, with: Term) {
        let (term, with) = (self.now(term), self.now(with));
        // A number, or else the term of lower rank, replaces the other.
        let (term, with) = match (self.constant(term), self.constant(with)) {
            (Some(_), Some(_)) => return,
            (Some(_), None) => (with, term),
            (None, Some(_)) => (term, with),
            (None, None) => {
                let (low, high) = self.by_rank(term, with);
                (high, low)
            }
        };
        if term != with {
            self.same.insert(term, with);
        }
    }

    /// Discards all equalities that were shown.
    pub fn tell_apart(&mut self) {
        self.same.clear();
    }

    /// The number of different terms.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether no term has been made yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    fn make(&mut self, node: Node, sort: Sort) -> Term {
        let next = Term(self.nodes.len() as u32);
        let entry = *self.index.entry((node.clone(), sort)).or_insert(next);
        if entry == next {
            let range = self.range_of(&node, sort, |term| self.plain[term.0 as usize]);
            let rank = match &node {
                Node::Number(_) | Node::True | Node::False => 0,
                Node::Binary(Operator::Add, a, b) => self.rank(*a).0.max(self.rank(*b).0),
                Node::Binary(Operator::Mul, a, b) if self.constant(*b).is_some() => self.rank(*a).0,
                _ => next.0,
            };
            self.nodes.push((node, sort));
            self.plain.push(range);
            self.ranks.push(rank);
        }
        self.now(entry)
    }

    /// The variable with this name. Every request with the same sort gives the same term; a name must have one sort
    /// only.
    pub fn variable(&mut self, name: &str, sort: Sort) -> Term {
        self.make(Node::Variable { name: name.to_string() }, sort)
    }

    /// A new variable.
    pub fn fresh(&mut self, name: &str, sort: Sort) -> Term {
        self.fresh += 1;
        let name = format!("{name}!{}", self.fresh);
        self.variable(&name, sort)
    }

    /// True or false.
    pub fn truth(&mut self, value: bool) -> Term {
        self.make(if value { Node::True } else { Node::False }, Sort::Bool)
    }

    /// A number of 1 to 64 bits; higher bits are cut off.
    pub fn number(&mut self, value: u64, width: u32) -> Term {
        assert!((1..=64).contains(&width), "a number of {width} bits");
        self.make(Node::Number(value & mask(width)), Sort::Bits(width))
    }

    /// The value of a constant; `None` for other terms.
    pub fn constant(&self, term: Term) -> Option<u64> {
        match self.node(term) {
            Node::Number(value) => Some(*value),
            Node::True => Some(1),
            Node::False => Some(0),
            _ => None,
        }
    }

    /// The octet at a 32-bit index. An array has no end: code that reads a message checks its size first.
    pub fn select(&mut self, octets: Term, index: Term) -> Term {
        let index = self.now(index);
        self.make(Node::Select(octets, index), Sort::Bits(8))
    }

    /// An uninterpreted function: only that equal arguments give equal results is known.
    pub fn apply(&mut self, name: &str, args: Vec<Term>, sort: Sort) -> Term {
        let args = args.into_iter().map(|arg| self.now(arg)).collect();
        self.make(Node::Apply { name: name.to_string(), args }, sort)
    }

    /// A boolean as one bit; bits stay.
    pub fn as_bits(&mut self, a: Term) -> Term {
        if self.sort(a) == Sort::Bool {
            let (one, zero) = (self.number(1, 1), self.number(0, 1));
            self.choose(a, one, zero)
        } else {
            a
        }
    }

    /// Bits as a boolean: not zero.
    pub fn as_truth(&mut self, a: Term) -> Term {
        if self.sort(a) == Sort::Bool {
            return a;
        }
        let zero = self.number(0, self.width(a));
        let is_zero = self.equal(a, zero);
        self.not(is_zero)
    }

    /// The term, made again under the current assumptions.
    pub fn again(&mut self, term: Term) -> Term {
        self.all_again(&[term])[0]
    }

    /// The same for several terms, which share their parts.
    pub fn all_again(&mut self, roots: &[Term]) -> Vec<Term> {
        let mut made: HashMap<Term, Term> = HashMap::new();
        for old in self.below(roots) {
            let children: Vec<Term> = self.children(old).iter().map(|child| made[child]).collect();
            let new = match (self.node(old).clone(), &children[..]) {
                (Node::Not(_), [a]) => self.not(*a),
                (Node::All(_), parts) => self.all(parts),
                (Node::Any(_), parts) => self.any(parts),
                (Node::If(..), [a, b, c]) => self.choose(*a, *b, *c),
                (Node::Equal(..), [a, b]) => self.equal(*a, *b),
                (Node::Less(..), [a, b]) => self.less(*a, *b),
                (Node::Binary(operator, ..), [a, b]) => self.binary(operator, *a, *b),
                (Node::Extract(high, low, _), [a]) => self.extract(high, low, *a),
                (Node::Concat(..), [a, b]) => self.concat(*a, *b),
                (Node::ZeroExtend(by, _), [a]) => {
                    let width = self.width(*a) + by;
                    self.resize(*a, width)
                }
                (Node::Select(..), [a, b]) => self.select(*a, *b),
                (Node::Fold(_), [a]) => self.fold(*a),
                (Node::Apply { name, .. }, args) => {
                    let sort = self.sort(old);
                    self.apply(&name, args.to_vec(), sort)
                }
                _ => self.now(old),
            };
            made.insert(old, new);
        }
        roots.iter().map(|root| made[root]).collect()
    }

    /// How often an assumption about numbers was made. While that does not change, terms that are made again stay the
    /// same.
    pub(crate) fn assumed_of_numbers(&self) -> u64 {
        self.assumed.of_numbers
    }

    /// Assumes facts, each simplified by the current assumptions, until nothing new follows; at most three times.
    pub fn assume_all(&mut self, facts: &[Term]) {
        for _ in 0..3 {
            let before = self.assumed_of_numbers();
            for fact in self.all_again(facts) {
                self.assume(fact);
            }
            if self.assumed_of_numbers() == before {
                return;
            }
        }
    }

    pub(crate) fn children(&self, term: Term) -> Vec<Term> {
        match self.node(term) {
            Node::Variable { .. } | Node::True | Node::False | Node::Number(_) => Vec::new(),
            Node::Not(a) | Node::Extract(_, _, a) | Node::ZeroExtend(_, a) | Node::Fold(a) => vec![*a],
            Node::All(parts) | Node::Any(parts) | Node::Apply { args: parts, .. } => parts.clone(),
            Node::If(a, b, c) => vec![*a, *b, *c],
            Node::Equal(a, b) | Node::Less(a, b) | Node::Binary(_, a, b) | Node::Concat(a, b) | Node::Select(a, b) => {
                vec![*a, *b]
            }
        }
    }

    /// The variables below some terms, in order of creation.
    pub fn variables(&self, roots: &[Term]) -> Vec<Term> {
        let order = self.below(roots);
        order.into_iter().filter(|term| matches!(self.node(*term), Node::Variable { .. })).collect()
    }

    /// All terms below the roots, children first (terms are made after their children).
    pub(crate) fn below(&self, roots: &[Term]) -> Vec<Term> {
        let mut seen = vec![false; self.nodes.len()];
        let mut stack: Vec<Term> = roots.to_vec();
        while let Some(term) = stack.pop() {
            if !std::mem::replace(&mut seen[term.0 as usize], true) {
                stack.extend(self.children(term));
            }
        }
        (0..self.nodes.len() as u32).map(Term).filter(|term| seen[term.0 as usize]).collect()
    }
}
