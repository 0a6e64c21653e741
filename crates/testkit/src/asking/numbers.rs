//! Types of numbers, and numbers at their borders.

use mokume_base::Random;

/// A type of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Number {
    pub width: u32,
    pub is_seq: bool,
}

impl Number {
    pub const fn of(width: u32) -> Number {
        Number { width, is_seq: false }
    }

    /// As it is written.
    pub fn name(self) -> String {
        format!("{}{}", if self.is_seq { "seq" } else { "u" }, self.width)
    }

    /// The largest.
    pub fn most(self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// One that is likely to be a border of something.
    pub fn edge(self, random: &mut Random) -> u64 {
        let most = self.most();
        let number = match random.place(9) {
            0..=3 => random.below(5),
            4 => most.wrapping_sub(random.below(3)),
            5 => most / 2 + random.below(2),
            6 => 1 << random.below(u64::from(self.width)),
            7 => (1u64 << random.below(u64::from(self.width))).wrapping_sub(1),
            _ => random.word(),
        };
        number & most
    }
}
