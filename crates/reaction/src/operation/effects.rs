//! What operations do beside giving their results.

use bitflags::bitflags;

bitflags! {
    /// Of an operation that has none: its results are a function of its operands (and of what does not change in a
    /// reaction: time, the stack's parameters).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Effects: u8 {
        /// What it gives depends on the state of objects.
        const READS = 1;
        /// It changes the state of an object.
        const WRITES = 1 << 1;
        /// An event leaves the handler.
        const EMITS = 1 << 2;
        /// It may report: a carry, a division by zero, an index out of bounds (`docs/semantics.md`).
        const REPORTS = 1 << 3;
        /// It counts the end of a message; such counts commute.
        const COUNTS = 1 << 4;
        /// It takes a buffer of the pool.
        const TAKES = 1 << 5;
        /// An object ends: the first operand.
        const ENDS = 1 << 6;
    }
}
