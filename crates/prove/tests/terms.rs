//! Simplified terms, under assumptions, against the numbers that they stand for: random terms, with random values.

use mokume_prove::term::{Model, Operator, Sort, Term, Terms};

/// xorshift64*
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, most: u64) -> u64 {
        (self.next() >> 33) % most
    }
}

fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// A term made from variables, with its value: a number of a width, or a boolean (`None`).
#[derive(Clone, Copy)]
struct Made {
    term: Term,
    value: u64,
    width: Option<u32>,
}

const WIDTHS: [u32; 4] = [1, 8, 16, 32];

/// The definition of SMT-LIB, independently.
fn computed(operator: Operator, a: u64, b: u64, width: u32) -> u64 {
    let large = b >= u64::from(width);
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
            if large {
                0
            } else {
                a << b
            }
        }
        Operator::Shr => {
            if large {
                0
            } else {
                a >> b
            }
        }
    };
    value & mask(width)
}

const OPERATORS: [Operator; 10] = [
    Operator::Add,
    Operator::Sub,
    Operator::Mul,
    Operator::Div,
    Operator::Rem,
    Operator::And,
    Operator::Or,
    Operator::Xor,
    Operator::Shl,
    Operator::Shr,
];

/// A term that is a number of this width, or a boolean.
fn pick(made: &[Made], width: Option<u32>, random: &mut Random) -> Option<Made> {
    let fit: Vec<Made> = made.iter().copied().filter(|made| made.width == width).collect();
    (!fit.is_empty()).then(|| fit[random.below(fit.len() as u64) as usize])
}

/// One more term, from the existing ones. This is a table: an arm for each way to make one.
fn grow(terms: &mut Terms, made: &[Made], random: &mut Random) -> Option<Made> {
    let width = WIDTHS[random.below(4) as usize];
    let number = |random: &mut Random| pick(made, Some(width), random);
    let truth = |random: &mut Random| pick(made, None, random);
    let boolean = |term: Term, value: bool| Some(Made { term, value: u64::from(value), width: None });
    let bits = |term: Term, value: u64, width: u32| Some(Made { term, value, width: Some(width) });
    match random.below(14) {
        0 => {
            let value =
                [0, 1, 2, 40, random.next(), mask(width), mask(width) - 1][random.below(7) as usize] & mask(width);
            bits(terms.number(value, width), value, width)
        }
        1 | 2 => {
            let (a, b, operator) = (number(random)?, number(random)?, OPERATORS[random.below(10) as usize]);
            bits(terms.binary(operator, a.term, b.term), computed(operator, a.value, b.value, width), width)
        }
        3 => {
            let (a, b) = (number(random)?, number(random)?);
            boolean(terms.less(a.term, b.term), a.value < b.value)
        }
        4 => {
            let (a, b) = (number(random)?, number(random)?);
            boolean(terms.equal(a.term, b.term), a.value == b.value)
        }
        5 => {
            let (condition, a, b) = (truth(random)?, number(random)?, number(random)?);
            let value = if condition.value != 0 { a.value } else { b.value };
            bits(terms.choose(condition.term, a.term, b.term), value, width)
        }
        6 => {
            let (a, b) = (number(random)?, number(random)?);
            // Minimum or maximum, each written in two ways.
            let (less, is_less) = match random.below(2) {
                0 => (terms.less(a.term, b.term), a.value < b.value),
                _ => (terms.less(b.term, a.term), b.value < a.value),
            };
            bits(terms.choose(less, a.term, b.term), if is_less { a.value } else { b.value }, width)
        }
        7 => {
            let (a, to) = (number(random)?, WIDTHS[random.below(4) as usize]);
            bits(terms.resize(a.term, to), a.value & mask(to), to)
        }
        8 => {
            let a = number(random)?;
            let high = random.below(u64::from(width)) as u32;
            let low = random.below(u64::from(high) + 1) as u32;
            let to = high - low + 1;
            WIDTHS.contains(&to).then_some(())?;
            bits(terms.extract(high, low, a.term), a.value >> low & mask(to), to)
        }
        9 => {
            let (condition, a, b) = (truth(random)?, truth(random)?, truth(random)?);
            let value = if condition.value != 0 { a.value } else { b.value };
            boolean(terms.choose(condition.term, a.term, b.term), value != 0)
        }
        10 => {
            let parts = [truth(random)?, truth(random)?, truth(random)?];
            let all: Vec<Term> = parts.iter().map(|part| part.term).collect();
            match random.below(2) {
                0 => boolean(terms.all(&all), parts.iter().all(|part| part.value != 0)),
                _ => boolean(terms.any(&all), parts.iter().any(|part| part.value != 0)),
            }
        }
        11 => {
            let a = pick(made, Some(32), random)?;
            let value = if a.value == 0 { 0 } else { (a.value - 1) % 0xffff + 1 };
            bits(terms.fold(a.term), value, 16)
        }
        12 => {
            // A concatenation, and a number as wide as a sum of such.
            let (a, b) = (pick(made, Some(8), random)?, pick(made, Some(8), random)?);
            let both = terms.concat(a.term, b.term);
            bits(both, a.value << 8 | b.value, 16)
        }
        _ => {
            let a = truth(random)?;
            boolean(terms.not(a.term), a.value == 0)
        }
    }
}

/// Values of variables that are often near each other, near the limits, or small.
fn value(random: &mut Random, width: u32) -> u64 {
    let near = random.below(4);
    [near, mask(width) - near.min(mask(width)), 1 << (width - 1), random.next(), 40 + near, 100]
        [random.below(6) as usize]
        & mask(width)
}

#[test]
fn simplified_terms_are_what_they_were() {
    let (mut held, mut assumed) = (0, 0);
    for seed in 1..4000u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut terms = Terms::default();
        let mut made = Vec::new();
        let mut given = Vec::new();
        for width in [1, 8, 8, 8, 16, 16, 32, 32, 32] {
            let term = terms.variable(&format!("x{}", given.len()), Sort::Bits(width));
            let value = value(&mut random, width);
            given.push((term, value));
            made.push(Made { term, value, width: Some(width) });
        }
        let mut facts = Vec::new();
        for step in 0..160 {
            let Some(new) = grow(&mut terms, &made, &mut random) else { continue };
            made.push(new);
            // What holds for these values may be assumed; earlier terms keep their values.
            if new.width.is_none() && step > 20 && random.below(3) == 0 {
                let fact = if new.value != 0 { new.term } else { terms.not(new.term) };
                terms.assume(fact);
                facts.push(fact);
                assumed += 1;
                if random.below(4) == 0 {
                    terms.assume_all(&facts);
                }
            }
            // Two terms that are equal for all values: here, one and its rewritten form.
            if random.below(12) == 0 {
                let again = terms.again(new.term);
                terms.unify(again, new.term);
            }
        }
        let mut model = Model::of(&terms, &given);
        for made in &made {
            let again = terms.again(made.term);
            for term in [made.term, again] {
                let found = model.value(&terms, term);
                assert_eq!(found, Some(u128::from(made.value)), "seed {seed}: {:?}", terms.node(term));
                held += 1;
            }
            if let Some(width) = made.width {
                assert!(made.value <= terms.most(made.term) && width <= 64, "seed {seed}: {:?}", terms.node(made.term));
            }
        }
    }
    println!("FIGURE: terms: {held} are what they stand for, {assumed} facts assumed");
    assert!(held > 500_000 && assumed > 10_000, "{held}, {assumed}");
}
