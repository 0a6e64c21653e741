//! What a layer's code does with its arguments in this stack: divisors of 0, shifts by all bits.
//!
//! Keeps: dead code for these arguments is not checked; what holds for any arguments was reported at the layer.

use std::collections::BTreeSet;

use mokume_base::Diagnostic;

use crate::check::column;
use crate::check::live::{self, Args};
use crate::check::stacks::context::StackCheck;
use crate::constants::{self, Value};
use crate::program::*;
use crate::visit::Met;
use crate::{codes, types};

/// Checks each layer of an instance with its arguments.
pub(super) fn check(check: &mut StackCheck, index: usize) {
    let instance = &check.stack.instances[index];
    let mut said = BTreeSet::new();
    for placed in column::placed(check.program, &instance.of, instance.of.span) {
        if holds_nothing(check.program, placed.layer, &placed.args) {
            // This is the mistake, and lowering reports it; what the layer computes from the 0 is a consequence.
            continue;
        }
        let mut found = Vec::new();
        live::walk_layer(check.program, placed.layer, &placed.args, &mut |met| {
            if let Met::Expr(Expr { kind: ExprKind::Binary { op, a, b }, .. }) = met {
                found.extend(wrong(check.program, &placed.args, *op, a, b));
            }
        });
        for Wrong { code, what, label, at, help } in found {
            if said.insert((at.file, at.start)) {
                let layer = &placed.layer.name.text;
                let diagnostic = Diagnostic::error(code, format!("`{layer}` {what}, with what it is given here"))
                    .at(instance.of.span, format!("`{layer}` stands here"))
                    .label(at, label)
                    .help(help);
                check.out.push(diagnostic);
            }
        }
    }
}

/// Whether a size is 0 with these arguments.
fn holds_nothing(program: &Program, layer: &Layer, args: &Args) -> bool {
    let known = |size: &Expr| constants::eval_with(program, args, size).ok()?.scalar();
    layer.sizes().into_iter().any(|(size, _)| known(size) == Some(0))
}

struct Wrong {
    code: mokume_base::Code,
    what: &'static str,
    label: &'static str,
    at: mokume_base::Span,
    help: &'static str,
}

fn wrong(program: &Program, args: &Args, op: Binary, a: &Expr, b: &Expr) -> Option<Wrong> {
    if constants::eval(program, b).is_ok() {
        return None;
    }
    let Ok(Value::Scalar(value)) = constants::eval_with(program, args, b) else { return None };
    let at = b.span;
    match op {
        Binary::Div | Binary::Rem if value == 0 => Some(Wrong {
            code: codes::DIVIDES_BY_ZERO,
            what: "divides by zero",
            label: "always 0 then",
            at,
            help: "give it another value, or let the layer look before: `if n != 0 { … }`",
        }),
        Binary::Shl | Binary::Shr if types::width(program, a.ty).is_some_and(|width| value >= u64::from(width)) => {
            Some(Wrong {
                code: codes::SHIFTED_AWAY,
                what: "shifts all bits away",
                label: "too far then",
                at,
                help: "give it a smaller value, or let the layer look before",
            })
        }
        _ => None,
    }
}
