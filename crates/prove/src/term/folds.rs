//! Sums with end-around carry, as in the internet checksum.

use super::{mask, Node, Sort, Term, Terms};

impl Terms {
    /// A sum of 32 bits folded to 16: 0 stays 0, everything else becomes 1 to 65535 with the same remainder modulo
    /// 65535.
    ///
    /// It has its own node, so that equal sums have equal folds here; its definition by shifts and sums is only visible
    /// to solvers.
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
