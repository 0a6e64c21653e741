//! Random streams: one for each object, so that a sample of one never changes what another gets.
//!
//! A stream is SplitMix64 (Steele, Lea, Flood 2014): the state grows by the golden gamma, and its mix is the number. A
//! sample of an n-bit type is the low n bits. The first state is, with the gamma `G` and the mix `m`, `m(m(m(seed + G)
//! ^ (class index + G)) ^ (generation << 32 | place))`.

pub use mokume_base::random::sample;
use mokume_base::random::{mix, GAMMA};

/// The first state of an object's stream; `object` is `generation << 32 | place`.
pub fn stream(seed: u64, class: u32, object: u64) -> u64 {
    let state = mix(seed.wrapping_add(GAMMA));
    let state = mix(state ^ u64::from(class).wrapping_add(GAMMA));
    mix(state ^ object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_all_that_names_an_object() {
        let all = [stream(1, 0, 0), stream(2, 0, 0), stream(1, 1, 0), stream(1, 0, 1), stream(1, 0, 1 << 32)];
        let mut distinct = all.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), all.len());
    }
}
