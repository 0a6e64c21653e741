//! Terms over booleans, bit-vectors and octet arrays: hash-consed, and simplified as they are made.
//!
//! Every constructor keeps the meaning of SMT-LIB's theory of fixed-size bit-vectors and of arrays.

use std::collections::{BTreeMap, HashMap};

/// A term of one [`Terms`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Term(pub(crate) u32);

/// What a term stands for, as SMT-LIB's sorts have it. Bits are 1 to 64, but for concatenations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sort {
    Bool,
    Bits(u32),
    /// Octets by a 32-bit index.
    Octets,
}

/// Operators of two bit-vectors of one width. `Div` and `Rem` are those of SMT-LIB: by zero they give all ones and
/// the dividend, so a reader of docs/semantics.md, A3 chooses before.
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
    /// Filled up by this many zeros.
    ZeroExtend(u32, Term),
    Select(Term, Term),
    /// An uninterpreted function.
    Apply {
        name: String,
        args: Vec<Term>,
    },
}

/// The arena.
#[derive(Clone, Default, Debug)]
pub struct Terms {
    nodes: Vec<(Node, Sort)>,
    index: HashMap<(Node, Sort), Term>,
    fresh: u32,
    /// What stands for a term from here on: it was assumed that both are equal.
    known: HashMap<Term, Term>,
    /// The largest value that a term can have, whatever its variables are.
    largest: Vec<u64>,
    /// The same, where it was assumed to be less.
    at_most: HashMap<Term, u64>,
}

fn mask(width: u32) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

impl Terms {
    /// How the term is made. Panics at a term of another arena, if it is not there.
    pub fn node(&self, term: Term) -> &Node {
        &self.nodes[term.0 as usize].0
    }

    /// What the term stands for.
    pub fn sort(&self, term: Term) -> Sort {
        self.nodes[term.0 as usize].1
    }

    /// Bits of a bit-vector; 1 for a boolean.
    pub fn width(&self, term: Term) -> u32 {
        match self.sort(term) {
            Sort::Bits(width) => width,
            Sort::Bool => 1,
            Sort::Octets => 8,
        }
    }

    /// How many different terms there are.
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
            let largest = self.largest_of(&node, sort, 0);
            self.nodes.push((node, sort));
            self.largest.push(largest);
        }
        self.now(entry)
    }

    /// What a number of at most 64 bits is at most; of a wider one nothing is known.
    pub fn most(&self, term: Term) -> u64 {
        self.most_within(term, 6)
    }

    /// What was assumed since the term was made is seen through so many terms.
    fn most_within(&self, term: Term, depth: u32) -> u64 {
        let largest = self.largest[term.0 as usize];
        let largest = self.at_most.get(&term).map_or(largest, |most| largest.min(*most));
        match (depth, self.at_most.is_empty()) {
            (0, _) | (_, true) => largest,
            _ => largest.min(self.largest_of(self.node(term), self.sort(term), depth - 1)),
        }
    }

    fn largest_of(&self, node: &Node, sort: Sort, depth: u32) -> u64 {
        let Sort::Bits(width) = sort else { return u64::MAX };
        let all = mask(width);
        let most = |term: Term| self.most_within(term, depth);
        match node {
            Node::Number(value) => *value,
            Node::ZeroExtend(_, a) if self.width(*a) <= 64 => most(*a),
            Node::Extract(_, low, a) if self.width(*a) <= 64 => (most(*a) >> low).min(all),
            Node::If(_, a, b) => most(*a).max(most(*b)),
            Node::Binary(Operator::Add, a, b) => {
                most(*a).checked_add(most(*b)).filter(|sum| *sum <= all).unwrap_or(all)
            }
            Node::Binary(Operator::Mul, a, b) if width <= 64 => {
                most(*a).checked_mul(most(*b)).filter(|product| *product <= all).unwrap_or(all)
            }
            Node::Binary(Operator::And, a, b) => most(*a).min(most(*b)),
            _ => all,
        }
    }

    /// A number is at most another from here on, and so is what it is made of.
    fn bound(&mut self, term: Term, most: u64) {
        let term = self.now(term);
        if self.width(term) > 64 || self.most(term) <= most {
            return;
        }
        self.at_most.insert(term, most);
        match *self.node(term) {
            Node::ZeroExtend(_, inner) => self.bound(inner, most),
            Node::Binary(Operator::Add, a, b) => {
                let fits = self.most(a).checked_add(self.most(b)).is_some_and(|sum| sum <= mask(self.width(term)));
                if let Some(plus) = self.constant(b).filter(|plus| fits && *plus <= most) {
                    self.bound(a, most - plus);
                }
            }
            _ => {}
        }
    }

    /// What stands for a term by now.
    fn now(&self, term: Term) -> Term {
        let mut term = term;
        while let Some(known) = self.known.get(&term) {
            term = *known;
        }
        term
    }

    /// From here on a boolean holds: terms that are made by now are simpler for it, and mean what they say only where it holds. Terms that
    /// were made before stay as they are.
    pub fn assume(&mut self, fact: Term) {
        let fact = self.now(fact);
        let truth = self.truth(true);
        match self.node(fact).clone() {
            Node::True | Node::False => return,
            Node::Not(inner) => return self.deny(inner),
            Node::All(parts) => parts.iter().for_each(|part| self.assume(*part)),
            Node::Equal(a, b) => self.unite(a, b),
            Node::Less(a, b) => {
                if let Some(above) = self.constant(b).filter(|above| *above > 0) {
                    self.bound(a, above - 1);
                }
            }
            _ => {}
        }
        self.stand_for(fact, truth);
    }

    fn deny(&mut self, fact: Term) {
        let fact = self.now(fact);
        match self.node(fact).clone() {
            Node::True | Node::False => return,
            Node::Not(inner) => return self.assume(inner),
            Node::Any(parts) => parts.iter().for_each(|part| self.deny(*part)),
            Node::Less(a, b) => {
                if let Some(most) = self.constant(a) {
                    self.bound(b, most);
                }
            }
            _ => {}
        }
        let falsehood = self.truth(false);
        self.stand_for(fact, falsehood);
    }

    /// The number, or else the term that was made first, stands for both.
    fn unite(&mut self, a: Term, b: Term) {
        let (a, b) = (self.now(a), self.now(b));
        match (self.constant(a), self.constant(b)) {
            (Some(_), Some(_)) => {}
            (Some(_), None) => self.stand_for(b, a),
            (None, Some(_)) => self.stand_for(a, b),
            (None, None) => self.stand_for(a.max(b), a.min(b)),
        }
    }

    fn stand_for(&mut self, term: Term, other: Term) {
        if term != other && self.now(other) != term {
            self.known.insert(term, other);
        }
    }

    /// The constant of this name. Asked for twice with one sort, it is the same term; a name must have one sort only.
    pub fn variable(&mut self, name: &str, sort: Sort) -> Term {
        self.make(Node::Variable { name: name.to_string() }, sort)
    }

    /// A variable that no other term has.
    pub fn fresh(&mut self, name: &str, sort: Sort) -> Term {
        self.fresh += 1;
        let name = format!("{name}!{}", self.fresh);
        self.variable(&name, sort)
    }

    /// True or false.
    pub fn truth(&mut self, value: bool) -> Term {
        self.make(if value { Node::True } else { Node::False }, Sort::Bool)
    }

    /// A number of 1 to 64 bits; what is above them is cut.
    pub fn number(&mut self, value: u64, width: u32) -> Term {
        assert!((1..=64).contains(&width), "a number of {width} bits");
        self.make(Node::Number(value & mask(width)), Sort::Bits(width))
    }

    /// The value of a constant.
    pub fn constant(&self, term: Term) -> Option<u64> {
        match self.node(term) {
            Node::Number(value) => Some(*value),
            Node::True => Some(1),
            Node::False => Some(0),
            _ => None,
        }
    }

    /// The opposite of a boolean.
    pub fn not(&mut self, a: Term) -> Term {
        match self.node(a).clone() {
            Node::True => self.truth(false),
            Node::False => self.truth(true),
            Node::Not(inner) => inner,
            _ => self.make(Node::Not(a), Sort::Bool),
        }
    }

    /// True if all are; of none, true. Parts are sorted, and doubles and opposites seen.
    pub fn all(&mut self, parts: &[Term]) -> Term {
        let mut flat = Vec::new();
        for part in parts {
            let part = &self.now(*part);
            match self.node(*part).clone() {
                Node::True => {}
                Node::False => return self.truth(false),
                Node::All(inner) => flat.extend(inner),
                _ => flat.push(*part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        for part in &flat {
            let opposite = self.not(*part);
            if flat.binary_search(&opposite).is_ok() {
                return self.truth(false);
            }
        }
        match flat.as_slice() {
            [] => self.truth(true),
            [one] => *one,
            _ => self.make(Node::All(flat), Sort::Bool),
        }
    }

    /// True if one is; of none, false. Parts are sorted, and doubles seen.
    pub fn any(&mut self, parts: &[Term]) -> Term {
        let mut flat = Vec::new();
        for part in parts {
            let part = &self.now(*part);
            match self.node(*part).clone() {
                Node::False => {}
                Node::True => return self.truth(true),
                Node::Any(inner) => flat.extend(inner),
                _ => flat.push(*part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        match flat.as_slice() {
            [] => self.truth(false),
            [one] => *one,
            _ => self.make(Node::Any(flat), Sort::Bool),
        }
    }

    /// False only where `a` holds and `b` does not.
    pub fn implies(&mut self, a: Term, b: Term) -> Term {
        let not_a = self.not(a);
        self.any(&[not_a, b])
    }

    /// One of two terms of the same sort, by a condition.
    pub fn choose(&mut self, condition: Term, then: Term, otherwise: Term) -> Term {
        debug_assert_eq!(self.sort(then), self.sort(otherwise));
        match self.node(condition) {
            Node::True => return then,
            Node::False => return otherwise,
            _ => {}
        }
        if then == otherwise {
            return then;
        }
        let sort = self.sort(then);
        self.make(Node::If(condition, then, otherwise), sort)
    }

    /// Whether two terms of the same sort are equal.
    pub fn equal(&mut self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort(a), self.sort(b));
        if a == b {
            return self.truth(true);
        }
        if let (Some(x), Some(y)) = (self.constant(a), self.constant(b)) {
            return self.truth(x == y);
        }
        if self.sort(a) == Sort::Bool {
            match (self.constant(a), self.constant(b)) {
                (Some(1), _) => return b,
                (Some(0), _) => return self.not(b),
                (_, Some(1)) => return a,
                (_, Some(0)) => return self.not(a),
                _ => {}
            }
        }
        if let Some(simpler) = self.equal_to_number(a, b).or_else(|| self.equal_to_number(b, a)) {
            return simpler;
        }
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        self.make(Node::Equal(a, b), Sort::Bool)
    }

    /// `a = number`, of what `a` is made of.
    fn equal_to_number(&mut self, a: Term, b: Term) -> Option<Term> {
        let value = self.constant(b)?;
        match self.node(a).clone() {
            Node::ZeroExtend(_, inner) => {
                let width = self.width(inner);
                if value > mask(width) {
                    return Some(self.truth(false));
                }
                let value = self.number(value, width);
                Some(self.equal(inner, value))
            }
            Node::If(condition, then, otherwise) => {
                let (then, otherwise) = (self.constant(then)? == value, self.constant(otherwise)? == value);
                Some(match (then, otherwise) {
                    (true, true) => self.truth(true),
                    (true, false) => condition,
                    (false, true) => self.not(condition),
                    (false, false) => self.truth(false),
                })
            }
            Node::Binary(Operator::Add, x, plus) => {
                let plus = self.constant(plus)?;
                let rest = self.number(value.wrapping_sub(plus), self.width(a));
                Some(self.equal(x, rest))
            }
            _ => None,
        }
    }

    /// Whether `a` is below `b`, both as numbers without sign of one width.
    pub fn less(&mut self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort(a), self.sort(b));
        let width = self.width(a);
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => return self.truth(x < y),
            (_, Some(0)) => return self.truth(false),
            (_, Some(y)) if width <= 64 && self.most(a) < y => return self.truth(true),
            (Some(x), _) if width <= 64 && self.most(b) <= x => return self.truth(false),
            (Some(x), _) if x == mask(width) && width <= 64 => return self.truth(false),
            (_, Some(1)) => {
                let zero = self.number(0, width);
                return self.equal(a, zero);
            }
            (Some(0), _) => {
                let is_zero = self.equal(b, a);
                return self.not(is_zero);
            }
            _ => {}
        }
        if a == b {
            return self.truth(false);
        }
        match (self.node(a).clone(), self.node(b).clone()) {
            (Node::ZeroExtend(_, x), Node::ZeroExtend(_, y)) if self.width(x) == self.width(y) => {
                return self.less(x, y)
            }
            (Node::ZeroExtend(_, x), Node::Number(most)) => {
                let inner = self.width(x);
                if most > mask(inner) {
                    return self.truth(true);
                }
                let most = self.number(most, inner);
                return self.less(x, most);
            }
            (Node::Number(least), Node::ZeroExtend(_, x)) => {
                let inner = self.width(x);
                if least >= mask(inner) {
                    return self.truth(false);
                }
                let least = self.number(least, inner);
                return self.less(least, x);
            }
            _ => {}
        }
        self.make(Node::Less(a, b), Sort::Bool)
    }

    /// Whether `a` is at most `b`, both as numbers without sign of one width: that `b` is not below `a`, so that there is one form.
    pub fn less_equal(&mut self, a: Term, b: Term) -> Term {
        let above = self.less(b, a);
        self.not(above)
    }

    /// An operator on two bit-vectors of one width, modulo 2^width. What it simplifies to is the same in SMT-LIB.
    pub fn binary(&mut self, operator: Operator, a: Term, b: Term) -> Term {
        let sort = self.sort(a);
        debug_assert_eq!(sort, self.sort(b));
        let width = self.width(a);
        if let (Some(x), Some(y), true) = (self.constant(a), self.constant(b), width <= 64) {
            return self.number(compute(operator, x, y, width), width);
        }
        if let Some(operand) = self.neutral(operator, a, b) {
            return operand;
        }
        let is_linear = match operator {
            Operator::Add | Operator::Sub => true,
            Operator::Mul => self.constant(a).is_some() || self.constant(b).is_some(),
            Operator::Shl => self.constant(b).is_some(),
            _ => false,
        };
        if is_linear && width <= 64 {
            return self.sum(operator, a, b);
        }
        match (operator, self.constant(b)) {
            // A shift is a part; so are the low bits.
            (Operator::Shr, Some(by)) if by < u64::from(width) => {
                let high = self.extract(width - 1, by as u32, a);
                return self.resize(high, width);
            }
            (Operator::And, Some(ones)) if ones > 0 && (ones & ones.wrapping_add(1)) == 0 && ones < mask(width) => {
                let low = self.extract(ones.trailing_ones() - 1, 0, a);
                return self.resize(low, width);
            }
            _ => {}
        }
        self.make(Node::Binary(operator, a, b), sort)
    }

    /// A sum has one form: its parts in the order in which they were made, each once with its factor, and the number last.
    fn sum(&mut self, operator: Operator, a: Term, b: Term) -> Term {
        let width = self.width(a);
        let mut parts = BTreeMap::new();
        let mut number = 0;
        match (operator, self.constant(a), self.constant(b)) {
            (Operator::Mul, Some(by), _) => self.add_up(b, by, &mut parts, &mut number),
            (Operator::Mul, _, Some(by)) => self.add_up(a, by, &mut parts, &mut number),
            (Operator::Shl, _, Some(by)) => {
                let by = if by >= u64::from(width) { 0 } else { 1 << by };
                self.add_up(a, by, &mut parts, &mut number);
            }
            _ => {
                self.add_up(a, 1, &mut parts, &mut number);
                let sign = if operator == Operator::Sub { u64::MAX } else { 1 };
                self.add_up(b, sign, &mut parts, &mut number);
            }
        }
        let mut sum = None;
        for (part, factor) in parts {
            let factor = factor & mask(width);
            let scaled = match factor {
                0 => continue,
                1 => part,
                _ => {
                    let factor = self.number(factor, width);
                    self.make(Node::Binary(Operator::Mul, part, factor), Sort::Bits(width))
                }
            };
            sum = Some(match sum {
                None => scaled,
                Some(sum) => self.make(Node::Binary(Operator::Add, sum, scaled), Sort::Bits(width)),
            });
        }
        let number = self.number(number, width);
        match (sum, self.constant(number)) {
            (None, _) => number,
            (Some(sum), Some(0)) => sum,
            (Some(sum), _) => self.make(Node::Binary(Operator::Add, sum, number), Sort::Bits(width)),
        }
    }

    /// Adds so many times a term to the parts of a sum.
    fn add_up(&mut self, term: Term, times: u64, parts: &mut BTreeMap<Term, u64>, number: &mut u64) {
        if let Some(value) = self.constant(term) {
            *number = number.wrapping_add(value.wrapping_mul(times));
            return;
        }
        // What lies side by side is a sum.
        let width = self.width(term);
        let inner = if let Node::ZeroExtend(_, inner) = *self.node(term) { inner } else { term };
        if let Node::Concat(high, low) = *self.node(inner) {
            let by = 1u64 << self.width(low);
            let (high, low) = (self.resize(high, width), self.resize(low, width));
            self.add_up(high, times.wrapping_mul(by), parts, number);
            return self.add_up(low, times, parts, number);
        }
        match *self.node(term) {
            Node::Binary(Operator::Add, x, y) => {
                self.add_up(x, times, parts, number);
                self.add_up(y, times, parts, number);
            }
            Node::Binary(Operator::Mul, x, y) => match self.constant(y) {
                Some(by) => self.add_up(x, times.wrapping_mul(by), parts, number),
                None => Self::add_part(term, times, parts),
            },
            _ => Self::add_part(term, times, parts),
        }
    }

    fn add_part(term: Term, times: u64, parts: &mut BTreeMap<Term, u64>) {
        let factor = parts.entry(term).or_default();
        *factor = factor.wrapping_add(times);
    }

    /// The operand that is the result, if one of them is a number for which one is: `x + 0`, `x * 1`, `x & 0`.
    fn neutral(&self, operator: Operator, a: Term, b: Term) -> Option<Term> {
        use Operator::{Add, And, Div, Mul, Or, Shl, Shr, Sub, Xor};
        let all_ones = mask(self.width(a));
        match (operator, self.constant(a), self.constant(b)) {
            (Add | Or | Xor, Some(0), _) | (Mul, Some(1), _) | (Mul | And, _, Some(0)) => Some(b),
            (Add | Sub | Or | Xor | Shl | Shr, _, Some(0)) | (Mul | Div, _, Some(1)) | (Mul | And, Some(0), _) => {
                Some(a)
            }
            (And, _, Some(y)) if y == all_ones => Some(a),
            (And, Some(x), _) if x == all_ones => Some(b),
            _ => None,
        }
    }

    /// Bits `high` down to `low` of a term, both counted from 0; `low <= high`, and `high` below the width.
    pub fn extract(&mut self, high: u32, low: u32, a: Term) -> Term {
        let width = self.width(a);
        debug_assert!(high < width && low <= high);
        if low == 0 && high + 1 == width {
            return a;
        }
        match self.node(a).clone() {
            Node::Number(value) if width <= 64 => self.number(value >> low, high - low + 1),
            Node::Extract(_, inner, of) => self.extract(high + inner, low + inner, of),
            Node::Concat(upper, lower) => {
                let split = self.width(lower);
                if high < split {
                    self.extract(high, low, lower)
                } else if low >= split {
                    self.extract(high - split, low - split, upper)
                } else {
                    let (upper, lower) = (self.extract(high - split, 0, upper), self.extract(split - 1, low, lower));
                    self.concat(upper, lower)
                }
            }
            Node::ZeroExtend(_, inner) if high < self.width(inner) => self.extract(high, low, inner),
            Node::ZeroExtend(_, inner) if low >= self.width(inner) => self.number(0, high - low + 1),
            // Some of its zeros stay.
            Node::ZeroExtend(_, inner) => {
                let part = self.extract(self.width(inner) - 1, low, inner);
                self.resize(part, high - low + 1)
            }
            // Truncation is a homomorphism of + and *.
            Node::Binary(
                operator @ (Operator::Add
                | Operator::Sub
                | Operator::Mul
                | Operator::And
                | Operator::Or
                | Operator::Xor),
                x,
                y,
            ) if low == 0 => {
                let (x, y) = (self.extract(high, 0, x), self.extract(high, 0, y));
                self.binary(operator, x, y)
            }
            _ => self.make(Node::Extract(high, low, a), Sort::Bits(high - low + 1)),
        }
    }

    /// `high` in front of `low`, as wide as both; it may be wider than 64 bits.
    pub fn concat(&mut self, high: Term, low: Term) -> Term {
        let (upper, lower) = (self.width(high), self.width(low));
        if upper + lower <= 64 {
            if let (Some(x), Some(y)) = (self.constant(high), self.constant(low)) {
                return self.number(x << lower | y, upper + lower);
            }
        }
        // Parts of one number that lie side by side: the low one may have been made simpler.
        if let Node::Extract(last, first, of) = *self.node(high) {
            if first >= lower && self.extract(first - 1, first - lower, of) == low {
                return self.extract(last, first - lower, of);
            }
        }
        self.make(Node::Concat(high, low), Sort::Bits(upper + lower))
    }

    /// To `width` bits, filled up with zeros or cut off.
    pub fn resize(&mut self, a: Term, width: u32) -> Term {
        let a = self.as_bits(a);
        let old = self.width(a);
        if width == old {
            a
        } else if width < old {
            self.extract(width - 1, 0, a)
        } else if let (Some(value), true) = (self.constant(a), width <= 64) {
            self.number(value, width)
        } else {
            match *self.node(a) {
                Node::ZeroExtend(_, inner) => self.resize(inner, width),
                // Nothing is cut off.
                Node::Extract(high, 0, of) if self.width(of) <= 64 && self.most(of) <= mask(high + 1) => {
                    self.resize(of, width)
                }
                // Nothing is carried.
                Node::Binary(Operator::Add, x, y)
                    if width <= 64 && self.most(x).checked_add(self.most(y)).is_some_and(|sum| sum <= mask(old)) =>
                {
                    let (x, y) = (self.resize(x, width), self.resize(y, width));
                    self.binary(Operator::Add, x, y)
                }
                _ => self.make(Node::ZeroExtend(width - old, a), Sort::Bits(width)),
            }
        }
    }

    /// The octet at a 32-bit index. An array has no end: who reads a message asks for its size first.
    pub fn select(&mut self, octets: Term, index: Term) -> Term {
        self.make(Node::Select(octets, index), Sort::Bits(8))
    }

    /// A function of which nothing is known but that equal arguments give equal results.
    pub fn apply(&mut self, name: &str, args: Vec<Term>, sort: Sort) -> Term {
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

    /// One bit, or more, as `not zero`.
    pub fn as_truth(&mut self, a: Term) -> Term {
        if self.sort(a) == Sort::Bool {
            return a;
        }
        let zero = self.number(0, self.width(a));
        let is_zero = self.equal(a, zero);
        self.not(is_zero)
    }

    /// The term made anew, with what is assumed by now.
    pub fn again(&mut self, term: Term) -> Term {
        let mut made: HashMap<Term, Term> = HashMap::new();
        for old in self.below(&[term]) {
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
                (Node::Apply { name, .. }, args) => {
                    let sort = self.sort(old);
                    self.apply(&name, args.to_vec(), sort)
                }
                _ => self.now(old),
            };
            made.insert(old, new);
        }
        made[&term]
    }

    fn children(&self, term: Term) -> Vec<Term> {
        match self.node(term) {
            Node::Variable { .. } | Node::True | Node::False | Node::Number(_) => Vec::new(),
            Node::Not(a) | Node::Extract(_, _, a) | Node::ZeroExtend(_, a) => vec![*a],
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

/// As SMT-LIB defines it (division by zero gives all ones).
fn compute(operator: Operator, a: u64, b: u64, width: u32) -> u64 {
    let value = match operator {
        Operator::Add => a.wrapping_add(b),
        Operator::Sub => a.wrapping_sub(b),
        Operator::Mul => a.wrapping_mul(b),
        Operator::Div => a.checked_div(b).unwrap_or(u64::MAX),
        Operator::Rem => a.checked_rem(b).unwrap_or(a),
        Operator::And => a & b,
        Operator::Or => a | b,
        Operator::Xor => a ^ b,
        Operator::Shl => {
            if b >= u64::from(width) {
                0
            } else {
                a << b
            }
        }
        Operator::Shr => {
            if b >= u64::from(width) {
                0
            } else {
                a >> b
            }
        }
    };
    value & mask(width)
}
