//! Sums with end-around carry, as the internet's checksum folds them.

use super::{mask, Node, Operator, Sort, Term, Terms};

/// No message has so many octets that a sum of its words goes around.
const MOST_OCTETS: u64 = 1 << 17;

impl Terms {
    /// A sum of 32 bits folded to 16: 0 stays 0, all else is 1 to 65535, by what is left of it modulo 65535.
    ///
    /// It is a node of its own: what is made of it by shifts and sums is only seen by solvers, so that equal sums have equal folds here.
    pub fn fold(&mut self, sum: Term) -> Term {
        let sum = self.now(sum);
        debug_assert_eq!(self.sort(sum), Sort::Bits(32));
        if let Some(value) = self.constant(sum) {
            return self.number(folded(value), 16);
        }
        if self.most(sum) <= mask(16) {
            return self.extract(15, 0, sum);
        }
        self.make(Node::Fold(sum), Sort::Bits(16))
    }

    /// What a sum of octets is at most, by how many there are.
    pub(super) fn most_of_sum(&self, name: &str, args: &[Term], range: impl Fn(Term) -> (u64, u64)) -> Option<u64> {
        let (true, [_, _, size]) = (name.starts_with("sum16"), args) else { return None };
        // On the other side of its word an octet may stand by itself at both ends.
        let most = range(*size).1;
        (most < MOST_OCTETS).then(|| (most / 2 + 1) * 0xffff)
    }

    /// `zx(a + b)` as a sum of the parts, where it is known how often the sum goes around: never, or always once.
    pub(super) fn widened_sum(&mut self, a: Term, b: Term, width: u32) -> Option<Term> {
        let (old, (a_range, b_range)) = (self.width(a), (self.range(a), self.range(b)));
        let size = 1u128 << old;
        let least = u128::from(a_range.0) + u128::from(b_range.0);
        let most = u128::from(a_range.1) + u128::from(b_range.1);
        if least / size != most / size || width > 64 {
            return None;
        }
        let (a, b) = (self.resize(a, width), self.resize(b, width));
        let sum = self.binary(Operator::Add, a, b);
        let around = self.number((least / size * size) as u64, width);
        Some(self.binary(Operator::Sub, sum, around))
    }
}

/// A sum of at most 32 bits with its carries added, twice.
pub(super) fn folded(sum: u64) -> u64 {
    let once = (sum >> 16) + (sum & mask(16));
    (once >> 16) + (once & mask(16))
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn a_fold_is_what_is_left_modulo_65535() {
        for sum in (0..1u64 << 32).step_by(7919).chain([0, 1, 0xffff, 0x1_0000, 0xffff_0000, 0xffff_ffff, 0x1_fffe]) {
            let wanted = if sum == 0 { 0 } else { (sum - 1) % 0xffff + 1 };
            assert_eq!(folded(sum), wanted, "{sum}");
        }
    }
}
