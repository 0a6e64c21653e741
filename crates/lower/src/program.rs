//! Look-ups in a layer's code.

use mokume_semantics::program::{Expr, ExprKind, Layer, LocalId, Stmt, StmtKind};
use mokume_semantics::visit::{any, walk, walk_expr, Met};

/// All blocks of a layer's handlers and functions.
pub fn blocks(layer: &Layer) -> impl Iterator<Item = &[Stmt]> {
    let handlers = layer.handlers.iter().map(|handler| handler.body.as_slice());
    handlers.chain(layer.functions.iter().map(|function| function.body.as_slice()))
}

/// Whether some statement of the blocks satisfies `wanted`.
pub fn any_stmt<'a>(blocks: impl IntoIterator<Item = &'a [Stmt]>, wanted: &dyn Fn(&StmtKind) -> bool) -> bool {
    let is_it = |met: Met| matches!(met, Met::Stmt(stmt) if wanted(&stmt.kind));
    blocks.into_iter().any(|block| any(block, is_it))
}

/// Whether some expression of the blocks satisfies `wanted`.
pub fn any_expr<'a>(blocks: impl IntoIterator<Item = &'a [Stmt]>, wanted: &dyn Fn(&ExprKind) -> bool) -> bool {
    let is_it = |met: Met| matches!(met, Met::Expr(expr) if wanted(&expr.kind));
    blocks.into_iter().any(|block| any(block, is_it))
}

/// Whether the layer cuts, splits or joins messages, or passes them to C.
pub fn changes_size(layer: &Layer) -> bool {
    use StmtKind::*;
    let cuts = any_stmt(blocks(layer), &|kind| matches!(kind, Trim { .. } | Skip { .. } | Split { .. } | Join { .. }));
    let in_c = any_expr(blocks(layer), &|kind| matches!(kind, ExprKind::Native { message: Some(_), .. }));
    cuts || in_c
}

/// Locals that a block assigns: a loop's head must carry them.
pub fn assigned(block: &[Stmt]) -> Vec<LocalId> {
    use StmtKind::*;
    let mut all = Vec::new();
    walk(block, &mut |met| {
        if let Met::Expr(Expr { kind: ExprKind::Native { message: Some(message), .. }, .. }) = met {
            all.push(*message);
        }
        let Met::Stmt(stmt) = met else { return };
        match &stmt.kind {
            AssignLocal { local, .. } => all.push(*local),
            Trim { message, .. } | Skip { message, .. } | Join { message, .. } | Store { message, .. } => {
                all.push(*message)
            }
            SetAttribute { message, .. } => all.push(*message),
            // On refusal messages come back, perhaps changed.
            IfDone { call, .. } => walk_expr(call, &mut |part| {
                if let ExprKind::Give(message) = part.kind {
                    all.push(message);
                }
            }),
            Let { .. } | Assign { .. } | AssignElement { .. } | If { .. } | Match { .. } | While { .. } => {}
            For { .. } | ForObjects { .. } | Return { .. } | Pass | Call(_) | Refuse | Emit(_) => {}
            Drop { .. } | Consume { .. } | Accept { .. } | Start { .. } | Stop { .. } | Take { .. } | Give { .. } => {}
            Begin { .. } | IfListener { .. } => {}
            Count { .. } | IfFound { .. } | Insert { .. } | Remove { .. } | IfObject { .. } | FindOrNew { .. } => {}
            End { .. } | Put { .. } | IfTaken { .. } | Split { .. } | Later { .. } | Again | Renew => {}
        }
    });
    all.sort_unstable();
    all.dedup();
    all
}

/// Whether evaluating it twice, or unnecessarily, has no effect: it neither reports nor branches.
pub fn is_total(expr: &Expr) -> bool {
    use mokume_semantics::program::{Binary, CastKind, Type};
    let own = match &expr.kind {
        ExprKind::Binary { op, a, .. } => match op {
            Binary::Add | Binary::Sub | Binary::Mul => matches!(a.ty, Type::Seq(_)),
            Binary::Div | Binary::Rem => false,
            _ => true,
        },
        ExprKind::Cast { kind, .. } => *kind != CastKind::Checked,
        ExprKind::Number(_) | ExprKind::Local(_) | ExprKind::Param(_) | ExprKind::State(_) | ExprKind::Not(_) => true,
        ExprKind::RecordField { .. } | ExprKind::FlowPart { .. } | ExprKind::Now | ExprKind::Running(_) => true,
        ExprKind::MessageSize(_)
        | ExprKind::Attribute { .. }
        | ExprKind::Left(_)
        | ExprKind::If { .. }
        | ExprKind::Let { .. } => true,
        _ => false,
    };
    let mut total = own;
    mokume_semantics::visit::expr_children(expr, &mut |child| total &= is_total(child));
    total
}
