//! Sizes are known before the start, also through parameters of bundles.

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, Span};

use crate::check::stacks::context::StackCheck;
use crate::program::*;
use crate::{codes, visit};

/// Reports sizes that depend on a parameter of the stack.
pub fn check(check: &mut StackCheck, index: usize) {
    let mut found = Vec::new();
    sized_args(check.program, &check.stack.instances[index].of, &|_| false, 0, &mut found);
    for span in found {
        check.out.push(
            Diagnostic::error(codes::NOT_CONSTANT, "this sizes something, so it must be known when the stack is built")
                .at(span, "known at the start only")
                .note("parameters of a stack are set when it starts; memory is laid out before")
                .help("write a number or a `const` here"),
        );
    }
}

/// Collects arguments that determine a size and are not constant; `known` tells which parameters of the user are.
fn sized_args(program: &Program, part: &Use, known: &dyn Fn(u32) -> bool, depth: u32, found: &mut Vec<Span>) {
    let constant = |arg: &Expr| {
        let mut constant = true;
        visit::walk_expr(arg, &mut |expr| match expr.kind {
            ExprKind::Param(index) => constant &= known(index),
            ExprKind::Below { .. } => constant = false,
            _ => {}
        });
        constant
    };
    match part.of {
        Definition::Layer(id) => {
            let Some(layer) = program.layers.get(id.index()) else { return };
            let sizes = size_params(layer);
            let wrong =
                part.args.iter().enumerate().filter(|(index, arg)| sizes.contains(&(*index as u32)) && !constant(arg));
            found.extend(wrong.map(|(_, arg)| arg.span));
        }
        Definition::Bundle(id) => {
            let Some(bundle) = program.bundles.get(id.index()).filter(|_| depth <= crate::limits::BUNDLE_DEPTH) else {
                return;
            };
            // Inside the bundle a parameter is constant if its argument here is.
            let given: Vec<bool> = part.args.iter().map(constant).collect();
            for inner in &bundle.parts {
                let mut wrong = Vec::new();
                let inside = |index: u32| given.get(index as usize).copied().unwrap_or(true);
                sized_args(program, inner, &inside, depth + 1, &mut wrong);
                if !wrong.is_empty() {
                    found.extend(
                        part.args
                            .iter()
                            .zip(&given)
                            .filter(|(_, constant)| !**constant)
                            .map(|(arg, _)| arg.span)
                            .take(1),
                    );
                    break;
                }
            }
        }
    }
}

/// The parameters of a layer that determine a size.
fn size_params(layer: &Layer) -> BTreeSet<u32> {
    let mut params = BTreeSet::new();
    let mut add = |expr: &Expr| {
        visit::walk_expr(expr, &mut |expr| {
            if let ExprKind::Param(index) = expr.kind {
                params.insert(index);
            }
        });
    };
    let members =
        layer.scopes.iter().map(|scope| &scope.members).chain(layer.objects.iter().map(|class| &class.members));
    for member in members.flatten() {
        match &member.kind {
            MemberKind::Array { size, .. } | MemberKind::Messages { size, .. } => add(size),
            MemberKind::Map { capacity, .. } => add(capacity),
            MemberKind::Quota { amount } => add(amount),
            MemberKind::Var { .. } | MemberKind::Timer | MemberKind::Counter | MemberKind::Container(_) => {}
        }
    }
    layer.scopes.iter().flat_map(|scope| &scope.capacity).for_each(&mut add);
    layer.objects.iter().for_each(|class| add(&class.capacity));
    params
}
