//! Random numbers of the driver: everything follows from a seed.

/// SplitMix64.
pub(super) struct Random(pub u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    pub(super) fn pick<'s, T>(&mut self, list: &'s [T]) -> Option<&'s T> {
        let place = self.below(list.len());
        list.get(place)
    }
}

/// Keeps so many, the newer in place of any older.
pub(super) fn remember<T>(list: &mut Vec<T>, value: T, most: usize, random: &mut Random) {
    match list.len() < most {
        true => list.push(value),
        false => {
            let place = random.below(most);
            list[place] = value;
        }
    }
}
