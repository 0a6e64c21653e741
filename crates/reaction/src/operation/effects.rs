//! What operations do besides giving results.

use bitflags::bitflags;

bitflags! {
    /// The effects of an operation. If there are none, its results depend on its operands only (and on what is constant
    /// in a reaction: time, the stack's parameters).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Effects: u8 {
        /// Its results depend on the state of objects.
        const READS = 1;
        /// It changes the state of an object.
        const WRITES = 1 << 1;
        /// It emits an event.
        const EMITS = 1 << 2;
        /// It may report: a carry, a division by zero, an index out of bounds (`docs/semantics.md`).
        const REPORTS = 1 << 3;
        /// It counts the end of a message; the order of such counts does not matter.
        const COUNTS = 1 << 4;
        /// It takes a buffer from the pool.
        const TAKES = 1 << 5;
        /// It ends its first operand, an object.
        const ENDS = 1 << 6;
    }
}
