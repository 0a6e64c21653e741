//! The only generator of random numbers: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
//! generators", 2014). Each step adds the golden gamma to the state; the number drawn is the mix of the state. A seed
//! replays everything.
//!
//! A simulation's weather, random tests, and the `random` values of a stack draw from it. `runtime/mk_random.h` has the
//! same generator in C.

/// 2^64 divided by the golden ratio, odd.
pub const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64's mix: each bit of the result depends on all bits of `word`, and different words give different results.
pub fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Advances `state` and returns the next number of its stream; all 64 bits are random.
pub fn sample(state: &mut u64) -> u64 {
    *state = state.wrapping_add(GAMMA);
    mix(*state)
}

/// A stream of random numbers. It depends on its first state only.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream of a seed; every number is a valid seed.
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// The next number; all 64 bits are random.
    pub fn word(&mut self) -> u64 {
        sample(&mut self.state)
    }

    /// A number below `bound`, or 0 if `bound` is 0. The bias is at most `bound` in 2^64.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(bound)) >> 64) as u64
    }

    /// An index into a list of `count` elements; 0 if the list is empty.
    pub fn place(&mut self, count: usize) -> usize {
        self.below(count as u64) as usize
    }

    /// A number in `low ..= high`; `low` if `high` is less.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low).saturating_add(1))
    }

    /// An element of the list; `None` if it is empty.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.place(list.len()))
    }

    /// An element of a list that is not empty. Panics if it is.
    pub fn one_of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.place(list.len())]
    }

    /// True with a probability of `percent` in a hundred.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// True with a probability of `millionths` in a million.
    pub fn millionths(&mut self, millionths: u32) -> bool {
        self.below(1_000_000) < u64::from(millionths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_splitmix64() {
        // The reference generator, seeded with 1234567, as published with java.util.SplittableRandom's algorithm.
        let mut random = Random::new(1_234_567);
        assert_eq!([random.word(), random.word()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn numbers_are_within_their_bounds_and_each_comes() {
        let mut random = Random::new(7);
        let mut seen = [0_u32; 5];
        (0..1000).for_each(|_| seen[random.place(5)] += 1);
        assert!(seen.iter().all(|times| (120..280).contains(times)), "{seen:?}");
        assert!((0..1000).all(|_| (3..=9).contains(&random.between(3, 9))));
        assert_eq!((random.below(0), random.below(1), random.between(4, 4), random.pick::<u8>(&[])), (0, 0, 4, None));
        assert_eq!((random.percent(0), random.percent(100), random.millionths(0)), (false, true, false));
    }
}
