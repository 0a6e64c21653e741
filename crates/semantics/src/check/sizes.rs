//! Messages that are certainly larger than the layers below can carry.
//!
//! Keeps: only an upper bound of the published `mtu` is compared; an unknown value is no limit.

use mokume_base::Diagnostic;

use super::column::{Column, Placed};
use crate::program::*;
use crate::visit::{self, Met};
use crate::{codes, constants};

/// Reports a new message with constant octets that is larger than `below.mtu`.
pub(super) fn check(program: &Program, placed: &Placed, below: &Column, out: &mut Vec<Diagnostic>) {
    let Some((most, by)) = mtu(program, below, 0) else { return };
    visit::walk_layer(placed.layer, &mut |met| {
        let Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Send { message: Some(message), .. }), .. }) = met else {
            return;
        };
        let ExprKind::NewMessage { octets } = &message.kind else { return };
        if octets.len() as u64 <= most {
            return;
        }
        let name = &placed.layer.name.text;
        let text = format!("`{name}` sends {} octets, and below it {most} is the most", octets.len());
        out.push(
            Diagnostic::error(codes::BEYOND_MTU, text)
                .at(placed.span, format!("`{name}` stands here"))
                .label(message.span, format!("{} octets", octets.len()))
                .label(by.name.span, format!("`mtu` is {most} at most"))
                .note(format!("below `{name}` are {}", below.path()))
                .help("send less, or put a layer that cuts messages into parts between"),
        );
    });
}

/// The smallest upper bound of `mtu` in a column, from a layer on, and who publishes it.
fn mtu<'a>(program: &Program, column: &Column<'a>, from: usize) -> Option<(u64, &'a Publish)> {
    let mut below = column.below.iter().enumerate().skip(from);
    let (at, publish) = below.find_map(|(at, placed)| {
        Some((at, placed.layer.publishes.iter().find(|publish| publish.name.text == "mtu")?))
    })?;
    Some((bound(program, column, at, &publish.value)?, publish))
}

fn bound(program: &Program, column: &Column, at: usize, expr: &Expr) -> Option<u64> {
    let known = |expr: &Expr| constants::eval_with(program, &column.below[at].args, expr).ok()?.scalar();
    if let Some(value) = known(expr) {
        return Some(value);
    }
    let most = |expr: &Expr| bound(program, column, at, expr);
    match &expr.kind {
        ExprKind::Below { name, flow: None, .. } if name.text == "mtu" => Some(mtu(program, column, at + 1)?.0),
        ExprKind::Binary { op: Binary::Min, a, b } => most(a).into_iter().chain(most(b)).min(),
        ExprKind::Binary { op: Binary::Max, a, b } => Some(most(a)?.max(most(b)?)),
        ExprKind::Binary { op: Binary::Sub, a, b } => most(a)?.checked_sub(known(b)?),
        ExprKind::Binary { op: Binary::Div, a, b } => most(a)?.checked_div(known(b)?),
        ExprKind::Cast { a, .. } => most(a),
        ExprKind::If { then, otherwise, .. } => Some(most(then)?.max(most(otherwise)?)),
        _ => None,
    }
}
