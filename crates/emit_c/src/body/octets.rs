//! What stands for messages on paths.

use crate::tree::Expr;

/// What stands for a message on a path.
#[derive(Clone)]
pub(crate) enum Octets {
    /// A part of what the caller owns: where, and how many.
    Part { at: Expr, size: Expr },
    /// Such a part that leaves at once, and where octets stand that go in front of it, and how many.
    Fronted { octets: Expr, front: u64, at: Expr, size: Expr },
    /// A message of the pool that is to leave.
    Frame { message: Expr },
}
