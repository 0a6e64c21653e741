//! What stands for messages on paths.

use crate::tree::Expr;

/// What stands for a message on a path.
#[derive(Clone)]
pub(crate) enum Octets {
    /// A part of what the caller owns: where, and how many.
    Part { at: Expr, size: Expr },
    /// A message of the pool that is to leave; where its first octets are, and how many were put there.
    Frame { message: Expr, octets: Expr, front: u64 },
}
