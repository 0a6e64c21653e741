//! Faults of the generator that can be planted ([`crate::Build::planted`]), for tests of random tests.

/// A fault that C had once, by shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// `min` of numbers on a circle is taken for the smaller one.
    CircleIsALine,
    /// Memos that take numbers of the same size share a table, whatever numbers of their path these are.
    OneTable,
    /// Parts of a sum count as if nothing wrapped around below 32 bits.
    NothingWraps,
    /// A check that is a sum counts by its first number of the message.
    CheckIsANumber,
    /// Of the constants that memos compare a cell with, the first alone counts.
    OneConstant,
}
