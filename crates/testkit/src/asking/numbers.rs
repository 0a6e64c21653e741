//! Number types, and numbers at the edges of their ranges.

use mokume_base::Random;

/// A number type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Number {
    pub width: u32,
    pub is_seq: bool,
}

impl Number {
    /// An unsigned number of this width.
    pub const fn of(width: u32) -> Number {
        Number { width, is_seq: false }
    }

    /// The type's name in the text form.
    pub fn name(self) -> String {
        format!("{}{}", if self.is_seq { "seq" } else { "u" }, self.width)
    }

    /// The largest number.
    pub fn most(self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// A number that is likely to be an edge of some range.
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
