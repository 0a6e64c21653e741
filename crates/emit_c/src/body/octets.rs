//! What stands for messages on paths.

use crate::tree::Expr;

/// What stands for a message on a path.
#[derive(Clone)]
pub(crate) enum Octets {
    /// A part of what the caller owns: where, and how many.
    Part { at: Expr, size: Expr },
    /// A part of a message of the pool, which is as it was: where, and how many.
    Lent { message: Expr, at: Expr, size: Expr },
    /// A part of what the caller owns that leaves at once, and where octets stand that go in front of it, and how many.
    Fronted { octets: Expr, front: u64, at: Expr, size: Expr },
    /// A message of the pool that is to leave; its first octets, as many as are its own, which may be written there.
    Frame { message: Expr, front: Option<(Expr, u64)> },
}
