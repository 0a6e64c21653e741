//! Random streams: one for each object, so that a sample of one never changes what another gets.
//!
//! A stream is SplitMix64 (Steele, Lea, Flood 2014): the state grows by the golden gamma, its mix is the number.
//! A sample of an n-bit type is the low n bits. The first state is, with the gamma `G` and the mix `m`,
//! `m(m(m(seed + G) ^ (class index + G)) ^ (generation << 32 | place))`.

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The first state of an object's stream; `object` is `generation << 32 | place`.
pub fn stream(seed: u64, class: u32, object: u64) -> u64 {
    let state = mix(seed.wrapping_add(GAMMA));
    let state = mix(state ^ u64::from(class).wrapping_add(GAMMA));
    mix(state ^ object)
}

/// The next number of a stream.
pub fn sample(stream: &mut u64) -> u64 {
    *stream = stream.wrapping_add(GAMMA);
    mix(*stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_splitmix64() {
        // The reference generator, seeded with 1234567, as published with java.util.SplittableRandom's algorithm.
        let mut state = 1_234_567;
        assert_eq!([sample(&mut state), sample(&mut state)], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn streams_differ_by_all_that_names_an_object() {
        let all = [stream(1, 0, 0), stream(2, 0, 0), stream(1, 1, 0), stream(1, 0, 1), stream(1, 0, 1 << 32)];
        let mut distinct = all.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), all.len());
    }
}
