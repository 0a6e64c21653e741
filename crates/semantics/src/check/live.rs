//! Live code of a layer with given arguments: the block of `if checksums` is dead if `checksums` is false.
//!
//! Keeps: if a condition is not known, both of its branches are live.

use crate::constants::{self, Value};
use crate::program::*;
use crate::visit::{self, Met};

/// The arguments of a layer in its place, as far as they are known before the start.
pub type Args = [Option<Value>];

/// As [`visit::walk_layer`], without the branches that the arguments make dead, and without what the layer asks of its arguments: nobody
/// below need publish that.
pub(super) fn walk_layer<'a>(program: &Program, layer: &'a Layer, args: &Args, f: &mut dyn FnMut(Met<'a>)) {
    // Statements are walked here; everything outside of them is an expression or a size.
    let mut walk = Walk { program, args };
    for publish in &layer.publishes {
        walk.expr(&publish.value, f);
    }
    let limits =
        layer.limit_send.iter().chain(&layer.limit_octets).chain(layer.ratios.iter().chain(&layer.reserves).flatten());
    limits.for_each(|limit| walk.expr(limit, f));
    for member in layer.scopes.iter().flat_map(|scope| &scope.members) {
        if let MemberKind::Var { init: Some(init), .. } = &member.kind {
            walk.expr(init, f);
        }
    }
    for member in layer.objects.iter().flat_map(|class| &class.members) {
        if let MemberKind::Var { init: Some(init), .. } = &member.kind {
            walk.expr(init, f);
        }
    }
    layer.functions.iter().for_each(|function| walk.block(&function.body, f));
    layer.handlers.iter().for_each(|handler| walk.block(&handler.body, f));
}

struct Walk<'p> {
    program: &'p Program,
    args: &'p Args,
}

impl Walk<'_> {
    fn known(&self, condition: &Expr) -> Option<bool> {
        let value = constants::eval_with(self.program, self.args, condition).ok()?.scalar()?;
        Some(value != 0)
    }

    fn block<'a>(&mut self, block: &'a [Stmt], f: &mut dyn FnMut(Met<'a>)) {
        for stmt in block {
            f(Met::Stmt(stmt));
            visit::stmt_states(stmt, &mut |state| f(Met::State(state)));
            visit::stmt_exprs(stmt, &mut |expr| self.expr(expr, f));
            match &stmt.kind {
                StmtKind::If { condition, then, otherwise, .. } => match self.known(condition) {
                    Some(known) => {
                        let taken = if known { then } else { otherwise };
                        self.block(taken, f);
                        if visit::leaves(taken) {
                            return;
                        }
                    }
                    None => {
                        self.block(then, f);
                        self.block(otherwise, f);
                    }
                },
                _ => visit::stmt_blocks(stmt).into_iter().for_each(|inner| self.block(inner, f)),
            }
        }
    }

    fn expr<'a>(&self, expr: &'a Expr, f: &mut dyn FnMut(Met<'a>)) {
        f(Met::Expr(expr));
        visit::expr_states(expr, &mut |state| f(Met::State(state)));
        let taken = match &expr.kind {
            ExprKind::If { condition, then, otherwise } => {
                self.known(condition).map(|known| if known { then } else { otherwise })
            }
            // `checksums and below.x == 0`
            ExprKind::Binary { op: Binary::And, a, .. } if self.known(a) == Some(false) => Some(a),
            ExprKind::Binary { op: Binary::Or, a, .. } if self.known(a) == Some(true) => Some(a),
            _ => None,
        };
        match taken {
            Some(taken) => self.expr(taken, f),
            None => visit::expr_children(expr, &mut |child| self.expr(child, f)),
        }
    }
}
