//! The representation of messages on paths.

use mokume_reaction::*;

use crate::tree::Expr;

/// The representation of a message on a path.
#[derive(Clone)]
pub(crate) enum Octets {
    /// A part of what the caller owns: its address and size.
    Part { at: Expr, size: Expr },
    /// A part of an unchanged message of the pool: its address and size.
    Lent { message: Expr, at: Expr, size: Expr },
    /// A part of what the caller owns that leaves at once, and the octets in front of it: their address and number.
    Fronted { octets: Expr, front: u64, at: Expr, size: Expr },
    /// A message of the pool that is to leave. `front`: its own first octets, which may be written there, and their
    /// number.
    Frame { message: Expr, front: Option<(Expr, u64)> },
}

/// Whether one of the operations makes this message without octets.
pub(super) fn is_empty<'a>(mut ops: impl Iterator<Item = &'a Op>, message: Value) -> bool {
    let is_none = |op: &Op| matches!(&op.kind, OpKind::NewMessage { octets } if octets.is_empty());
    ops.any(|op| op.results.contains(&message) && is_none(op))
}

/// Whether C supports all that the path does with messages.
pub(crate) fn is_for_c(path: &Path) -> bool {
    let body = &path.body;
    let is_message = |value: &Value| body.values[value.index()].ty == Type::Msg;
    let said = |op: &Op| {
        let about_messages = op.kind.operands().iter().any(is_message) || op.results.iter().any(is_message);
        !about_messages
            || matches!(op.kind, OpKind::Join { first, .. } if is_empty(body.ops(), first))
            || matches!(
                op.kind,
                OpKind::Size { .. }
                    | OpKind::Load { .. }
                    | OpKind::Sum16 { .. }
                    | OpKind::SumPart { .. }
                    | OpKind::Skip { .. }
                    | OpKind::Trim { .. }
                    | OpKind::Front { .. }
                    | OpKind::Store { .. }
                    | OpKind::Meet { .. }
                    | OpKind::Push { .. }
                    | OpKind::Pop { .. }
                    | OpKind::GetAttribute { .. }
                    | OpKind::SetAttribute { .. }
                    | OpKind::Emit { .. }
                    | OpKind::Out { .. }
                    | OpKind::Drop { .. }
                    | OpKind::Consume { .. }
                    | OpKind::NewMessage { .. }
                    | OpKind::Share { .. }
                    | OpKind::Keep { .. }
                    | OpKind::TakeHeld { .. }
                    | OpKind::Defer { .. }
            )
    };
    let passed = |block: &Block| {
        block.terminator.targets().iter().any(|target| target.args.iter().any(is_message))
            || block
                .terminator
                .attempt()
                .is_some_and(|op| !matches!(op, Fallible::Peek { .. }) && op.operands().iter().any(is_message))
    };
    body.ops().all(said) && !body.blocks.iter().any(passed)
}
