//! Lemmas: properties of functions that solvers do not know, stated for the terms of a question.

use std::collections::BTreeSet;

use crate::term::{Node, Operator, Sort, Term, Terms};

/// The largest distance, in octets, between the beginnings of two sums of the same octets that a lemma relates.
const NEAR: u64 = 128;

/// Lemmas about the sums in some terms, true under any assumptions. A sum of few octets is bounded. None of its words
/// is larger than it. A sum that begins earlier equals its first words plus the later sum.
pub fn lemmas(terms: &mut Terms, facts: &[Term]) -> Vec<Term> {
    let assumed = terms.assuming(Default::default());
    let all = lemmas_of(terms, facts);
    terms.assuming(assumed);
    all
}

fn lemmas_of(terms: &mut Terms, facts: &[Term]) -> Vec<Term> {
    let mut all = Vec::new();
    let sums: Vec<(Term, [Term; 3])> = terms.below(facts).into_iter().filter_map(|term| is_sum(terms, term)).collect();
    for (sum, [_, _, size]) in &sums {
        // n octets have (n + 1) / 2 words.
        let most = terms.number(1 << 17, 32);
        let is_small = terms.less(*size, most);
        let one = terms.number(1, 32);
        let more = terms.binary(Operator::Add, *size, one);
        let words = terms.binary(Operator::Shr, more, one);
        let largest = terms.number(0xffff, 32);
        let bound = terms.binary(Operator::Mul, words, largest);
        let is_bounded = terms.less_equal(*sum, bound);
        all.push(terms.implies(is_small, is_bounded));
    }
    let words: Vec<(Term, Term, Term)> =
        terms.below(facts).into_iter().filter_map(|term| is_word(terms, term)).collect();
    for (sum, [octets, start, size]) in &sums {
        for (word, _, place) in words.iter().filter(|(_, of, _)| of == octets) {
            let ahead = terms.binary(Operator::Sub, *place, *start);
            let Some(ahead) = terms.constant(ahead).filter(|ahead| *ahead <= NEAR && ahead % 2 == 0) else { continue };
            let (end, most) = (terms.number(ahead + 2, 32), terms.number(1 << 17, 32));
            // A sum of so few octets does not wrap around.
            let ends = [terms.less_equal(end, *size), terms.less(*size, most)];
            let is_in = terms.all(&ends);
            let word = terms.resize(*word, 32);
            let is_less = terms.less_equal(word, *sum);
            all.push(terms.implies(is_in, is_less));
        }
    }
    for (long, [octets, start, size]) in &sums {
        for (short, [other, later, rest]) in &sums {
            let ahead = terms.binary(Operator::Sub, *later, *start);
            let Some(ahead) = terms.constant(ahead).filter(|ahead| (1..=NEAR).contains(ahead) && ahead % 2 == 0) else {
                continue;
            };
            if octets != other {
                continue;
            }
            let octets_ahead = terms.number(ahead, 32);
            let behind = terms.binary(Operator::Sub, *size, octets_ahead);
            let ends = [terms.less_equal(octets_ahead, *size), terms.equal(behind, *rest)];
            let ends = terms.all(&ends);
            let mut sum = *short;
            for place in (0..ahead).step_by(2) {
                let octet = |terms: &mut Terms, place: u64| {
                    let place = terms.number(place, 32);
                    let place = terms.binary(Operator::Add, *start, place);
                    terms.select(*octets, place)
                };
                let (high, low) = (octet(terms, place), octet(terms, place + 1));
                let word = terms.concat(high, low);
                let word = terms.resize(word, 32);
                sum = terms.binary(Operator::Add, sum, word);
            }
            let same = terms.equal(*long, sum);
            all.push(terms.implies(ends, same));
        }
    }
    all
}

/// For each sum: the words whose octets occur in some terms are together at most the sum. These lemmas are large, and few
/// questions need them.
pub fn words_within(terms: &mut Terms, facts: &[Term]) -> Vec<Term> {
    let assumed = terms.assuming(Default::default());
    let below = terms.below(facts);
    let octets: Vec<(Term, Term)> = below
        .iter()
        .filter_map(|term| match *terms.node(*term) {
            Node::Select(octets, place) => Some((octets, place)),
            _ => None,
        })
        .collect();
    let sums: Vec<(Term, [Term; 3])> = below.into_iter().filter_map(|term| is_sum(terms, term)).collect();
    let mut all = Vec::new();
    for (sum, [of, start, size]) in sums {
        let mut words = BTreeSet::new();
        for (_, place) in octets.iter().filter(|(octets, _)| *octets == of) {
            let ahead = terms.binary(Operator::Sub, *place, start);
            words.extend(terms.constant(ahead).filter(|ahead| *ahead <= NEAR).map(|ahead| ahead & !1));
        }
        let mut together = terms.number(0, 32);
        for ahead in words {
            let octet = |terms: &mut Terms, ahead: u64| {
                let ahead = terms.number(ahead, 32);
                let place = terms.binary(Operator::Add, start, ahead);
                terms.select(of, place)
            };
            let (high, low) = (octet(terms, ahead), octet(terms, ahead + 1));
            let word = terms.concat(high, low);
            let (word, end, none) = (terms.resize(word, 32), terms.number(ahead + 2, 32), terms.number(0, 32));
            let is_in = terms.less_equal(end, size);
            let word = terms.choose(is_in, word, none);
            together = terms.binary(Operator::Add, together, word);
        }
        // A sum of so few octets does not wrap around.
        let most = terms.number(1 << 17, 32);
        let is_small = terms.less(size, most);
        let are_within = terms.less_equal(together, sum);
        all.push(terms.implies(is_small, are_within));
    }
    terms.assuming(assumed);
    all
}

/// Whether lemmas may be about a term.
pub fn is_of_sums(terms: &mut Terms, term: Term) -> bool {
    is_sum(terms, term).is_some() || matches!(terms.node(term), Node::Concat(..))
}

/// Two octets as a number in packet order: the term, the array of octets, and the index.
fn is_word(terms: &mut Terms, term: Term) -> Option<(Term, Term, Term)> {
    let Node::Concat(high, low) = *terms.node(term) else { return None };
    let (Node::Select(octets, place), Node::Select(other, next)) = (terms.node(high).clone(), terms.node(low).clone())
    else {
        return None;
    };
    let apart = terms.binary(Operator::Sub, next, place);
    (octets == other && terms.constant(apart) == Some(1)).then_some((term, octets, place))
}

/// The sum of a part of an array: the term, and the array, the first index and the number of octets.
fn is_sum(terms: &Terms, term: Term) -> Option<(Term, [Term; 3])> {
    match terms.node(term) {
        Node::Apply { name, args } if name == "sum16" && terms.sort(term) == Sort::Bits(32) => {
            Some((term, [*args.first()?, *args.get(1)?, *args.get(2)?]))
        }
        _ => None,
    }
}
