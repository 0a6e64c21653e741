//! Functions must not call themselves, directly or in a cycle.

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, Span};

use crate::program::*;
use crate::visit::{self, Met};
use crate::{codes, graph};

/// Checks the functions of files and of each layer. A program without reports has no cycles.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    circles(
        &program.functions,
        &|expr| if let ExprKind::Call { function, .. } = expr.kind { Some(function.0) } else { None },
        out,
    );
    for layer in &program.layers {
        circles(&layer.functions, &visit::own_call, out);
    }
}

fn circles(functions: &[Function], callee: &dyn Fn(&Expr) -> Option<u32>, out: &mut Vec<Diagnostic>) {
    let calls: Vec<Vec<(u32, Span)>> = functions
        .iter()
        .map(|function| {
            let mut list = Vec::new();
            visit::walk(&function.body, &mut |met| {
                if let Met::Expr(expr) = met {
                    list.extend(callee(expr).map(|to| (to, expr.span)));
                }
            });
            list
        })
        .collect();
    let next: Vec<Vec<usize>> = calls.iter().map(|list| list.iter().map(|(to, _)| *to as usize).collect()).collect();
    if graph::order(&next).circles.is_empty() {
        return;
    }
    for (start, function) in functions.iter().enumerate() {
        let Some((path, span)) = way_back(&calls, start) else { continue };
        // A cycle is reported at its first function.
        if path.iter().any(|&other| (other as usize) < start) {
            continue;
        }
        let mut names: Vec<String> = vec![format!("`{}`", function.name.text)];
        names.extend(path.iter().map(|&other| format!("`{}`", functions[other as usize].name.text)));
        names.push(names[0].clone());
        out.push(
            Diagnostic::error(codes::RECURSION, format!("`{}` calls itself", function.name.text))
                .at(span, "this call leads back")
                .note(format!(
                    "{}: a stack's memory is known before it starts, so nothing recurs",
                    names.join(" calls ")
                ))
                .help("write a loop with a limit"),
        );
    }
}

/// The functions on a shortest path from `start` back to it, and the first call on it.
fn way_back(calls: &[Vec<(u32, Span)>], start: usize) -> Option<(Vec<u32>, Span)> {
    let mut seen = BTreeSet::new();
    let mut front: Vec<(Vec<u32>, u32, Span)> = calls[start].iter().map(|&(to, span)| (Vec::new(), to, span)).collect();
    while !front.is_empty() {
        let mut next = Vec::new();
        for (path, at, span) in front {
            if at as usize == start {
                return Some((path, span));
            }
            if !seen.insert(at) {
                continue;
            }
            let longer: Vec<u32> = path.iter().copied().chain([at]).collect();
            next.extend(calls.get(at as usize).into_iter().flatten().map(|&(to, _)| (longer.clone(), to, span)));
        }
        front = next;
    }
    None
}
