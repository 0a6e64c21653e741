//! Models: values for variables, and the values of terms under them.

use std::collections::HashMap;

use super::{folds::folded, mask, numbers::compute, Node, Operator, Sort, Term, Terms};

/// Values for all variables and functions of an arena; those without a value are zero.
#[derive(Clone, Default, Debug)]
pub struct Model {
    variables: HashMap<Term, u64>,
    /// Octets of arrays by index.
    octets: HashMap<(Term, u128), u64>,
    /// Results of functions by arguments; an array is an argument by its term.
    results: HashMap<(String, Vec<u128>), u64>,
    /// The values of terms, by number; `None` if not computed yet.
    values: Vec<Option<u128>>,
}

impl Model {
    /// A model from a solver's values of variables, octets at indices and functions at arguments.
    pub fn of(terms: &Terms, given: &[(Term, u64)]) -> Self {
        let mut model = Model::default();
        for (term, value) in given {
            if let Node::Variable { .. } = terms.node(*term) {
                model.variables.insert(*term, *value);
            }
        }
        // Terms are made after their parts.
        let mut given = given.to_vec();
        given.sort_unstable();
        for (term, value) in given {
            match terms.node(term) {
                Node::Select(octets, index) => {
                    if let Some(index) = model.value(terms, *index) {
                        model.octets.entry((*octets, index)).or_insert(value);
                    }
                }
                Node::Apply { name, args } => {
                    let args: Option<Vec<u128>> = args.iter().map(|arg| model.value(terms, *arg)).collect();
                    if let Some(args) = args {
                        model.results.entry((name.clone(), args)).or_insert(value);
                    }
                }
                _ => {}
            }
        }
        model
    }

    /// The given values of variables.
    pub fn said(&self) -> impl Iterator<Item = (Term, u64)> + '_ {
        self.variables.iter().map(|(term, value)| (*term, *value))
    }

    /// Whether a boolean holds; `None` if it depends on a number that is too wide to compute.
    pub fn holds(&mut self, terms: &Terms, term: Term) -> Option<bool> {
        self.value(terms, term).map(|value| value != 0)
    }

    /// The value of a term; `None` if it is wider than 128 bits, or has such parts.
    pub fn value(&mut self, terms: &Terms, term: Term) -> Option<u128> {
        if self.values.len() < terms.len() {
            self.values.resize(terms.len(), None);
        }
        // Children first, without recursion: terms may be deep.
        let mut open = vec![term];
        while let Some(next) = open.last().copied() {
            if self.values[next.0 as usize].is_some() {
                open.pop();
                continue;
            }
            let before = open.len();
            open.extend(terms.children(next).into_iter().filter(|child| self.values[child.0 as usize].is_none()));
            if open.len() == before {
                self.values[next.0 as usize] = Some(self.evaluate(terms, next)?);
                open.pop();
            }
        }
        self.values[term.0 as usize]
    }

    /// This is a table: an arm for each node, whose parts are known.
    fn evaluate(&self, terms: &Terms, term: Term) -> Option<u128> {
        let of = |term: &Term| self.values[term.0 as usize].unwrap_or_default();
        let width = terms.width(term);
        if width > 128 {
            return None;
        }
        let all = u128::MAX >> (128 - width);
        Some(match terms.node(term) {
            Node::Variable { .. } if terms.sort(term) == Sort::Octets => u128::from(term.0),
            Node::Variable { .. } => u128::from(self.variables.get(&term).copied().unwrap_or_default()) & all,
            Node::True => 1,
            Node::False => 0,
            Node::Number(value) => u128::from(*value),
            Node::Not(a) => 1 - of(a),
            Node::All(parts) => u128::from(parts.iter().all(|part| of(part) != 0)),
            Node::Any(parts) => u128::from(parts.iter().any(|part| of(part) != 0)),
            Node::If(condition, then, otherwise) => {
                if of(condition) != 0 {
                    of(then)
                } else {
                    of(otherwise)
                }
            }
            Node::Equal(a, b) => u128::from(of(a) == of(b)),
            Node::Less(a, b) => u128::from(of(a) < of(b)),
            Node::Binary(operator, a, b) if width <= 64 => {
                u128::from(compute(*operator, of(a) as u64, of(b) as u64, width) & mask(width))
            }
            Node::Binary(operator, a, b) => wide(*operator, of(a), of(b), width)? & all,
            Node::Extract(_, low, a) => of(a) >> low & all,
            Node::Concat(high, low) => of(high) << terms.width(*low) | of(low),
            Node::ZeroExtend(_, a) => of(a),
            Node::Select(octets, index) => {
                u128::from(self.octets.get(&(*octets, of(index))).copied().unwrap_or_default()) & all
            }
            Node::Fold(a) => u128::from(folded(of(a) as u64)),
            Node::Apply { name, args } => {
                let key = (name.clone(), args.iter().map(of).collect());
                u128::from(self.results.get(&key).copied().unwrap_or_default()) & all
            }
        })
    }
}

/// Operators on numbers of 65 to 128 bits.
fn wide(operator: Operator, a: u128, b: u128, width: u32) -> Option<u128> {
    Some(match operator {
        Operator::Add => a.wrapping_add(b),
        Operator::Sub => a.wrapping_sub(b),
        Operator::Mul => a.wrapping_mul(b),
        Operator::Div => a.checked_div(b).unwrap_or(u128::MAX),
        Operator::Rem => a.checked_rem(b).unwrap_or(a),
        Operator::And => a & b,
        Operator::Or => a | b,
        Operator::Xor => a ^ b,
        Operator::Shl if b < u128::from(width) => a << b,
        Operator::Shr if b < u128::from(width) => a >> b,
        Operator::Shl | Operator::Shr => 0,
    })
}
