//! How much code a program comes to, and how often its loops go round: no more than the compiler, and a reaction, can bear.
//!
//! Functions stand where they are called, or might: so each counts once for each call of it. Keeps: a function that is too large
//! is reported once; who calls it is not.

use mokume_base::Diagnostic;

use crate::check::column;
use crate::constants::{self, Value};
use crate::program::*;
use crate::visit::{self, Met};
use crate::{codes, graph, limits};

/// What a body comes to.
#[derive(Clone, Copy, Default)]
struct Amount {
    /// Statements and values.
    code: u64,
    /// How many functions are called within each other.
    depth: u32,
    /// It, or what it calls, was too much: that is said once.
    said: bool,
}

impl Amount {
    fn with(self, other: Amount) -> Amount {
        let code = self.code.saturating_add(other.code);
        Amount { code, depth: self.depth.max(other.depth + 1), said: self.said || other.said }
    }
}

/// Functions and layers, then stacks. There are no circles of calls.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    let free = functions(&program.functions, &|expr| free_call(expr, &[]), &[], out);
    let mut layers = Vec::new();
    for layer in &program.layers {
        layers.push(layer_amount(layer, &free, out));
    }
    for stack in &program.stacks {
        stack_amount(program, stack, &layers, out);
    }
}

fn free_call(expr: &Expr, called: &[(FunctionId, FunctionId)]) -> Option<usize> {
    let ExprKind::Call { function, .. } = &expr.kind else { return None };
    let given = called.iter().find(|(standin, _)| standin == function).map_or(*function, |(_, given)| *given);
    Some(given.index())
}

fn own_call(expr: &Expr) -> Option<usize> {
    visit::own_call(expr).map(|function| function as usize)
}

/// The amount of each function; `others` are those that it calls of another table, with their number there.
fn functions(
    all: &[Function],
    callee: &dyn Fn(&Expr) -> Option<usize>,
    others: &[Vec<Amount>],
    out: &mut Vec<Diagnostic>,
) -> Vec<Amount> {
    let next: Vec<Vec<usize>> = all.iter().map(|function| calls(&function.body, callee)).collect();
    let mut amounts = vec![Amount::default(); all.len()];
    for index in graph::order(&next).nodes {
        let mut amount = of_body(&all[index].body, &next[index], &amounts);
        for other in others.get(index).into_iter().flatten() {
            amount = amount.with(*other);
        }
        amounts[index] = match said(&all[index].name, "function", amount, out) {
            true => Amount { said: true, ..Amount::default() },
            false => amount,
        };
    }
    amounts
}

fn calls(body: &[Stmt], callee: &dyn Fn(&Expr) -> Option<usize>) -> Vec<usize> {
    let mut found = Vec::new();
    visit::walk(body, &mut |met| {
        if let Met::Expr(expr) = met {
            found.extend(callee(expr));
        }
    });
    found
}

/// Its own statements and values, and those of what it calls.
fn of_body(body: &[Stmt], calls: &[usize], known: &[Amount]) -> Amount {
    let mut own = Amount::default();
    visit::walk(body, &mut |met| own.code += u64::from(!matches!(met, Met::State(_))));
    calls.iter().filter_map(|call| known.get(*call)).fold(own, |all, called| all.with(*called))
}

/// Whether it is too much; a report, if that is not said already.
fn said(name: &Name, what: &str, amount: Amount, out: &mut Vec<Diagnostic>) -> bool {
    let text = match (amount.code > limits::CODE, amount.depth > limits::CALL_DEPTH) {
        (true, _) => format!(
            "{what} `{}` comes to more than {} statements and values, with the functions that it calls",
            name.text,
            limits::CODE
        ),
        (_, true) => format!("{what} `{}` calls functions more than {} deep", name.text, limits::CALL_DEPTH),
        _ => return false,
    };
    if amount.said {
        return true;
    }
    let diagnostic = Diagnostic::error(codes::TOO_MUCH_CODE, text)
        .at(name.span, "too much")
        .note("a function is written out for each of its calls, so that nothing needs a stack while it runs")
        .help("a function that calls another twice has twice its code: call it once, in a loop with a limit, or keep the result");
    out.push(diagnostic);
    true
}

/// What all handlers of a layer come to.
fn layer_amount(layer: &Layer, free: &[Amount], out: &mut Vec<Diagnostic>) -> u64 {
    let of_free = |body: &[Stmt]| -> Vec<Amount> {
        let called = calls(body, &|expr| free_call(expr, &layer.called));
        called.into_iter().filter_map(|at| free.get(at).copied()).collect()
    };
    let others: Vec<Vec<Amount>> = layer.functions.iter().map(|function| of_free(&function.body)).collect();
    let own = functions(&layer.functions, &own_call, &others, out);
    let mut all = 0u64;
    for handler in &layer.handlers {
        let mut amount = of_body(&handler.body, &calls(&handler.body, &own_call), &own);
        for other in of_free(&handler.body) {
            amount = amount.with(other);
        }
        if amount.code > limits::CODE || amount.depth > limits::CALL_DEPTH {
            let name = Name { text: layer.name.text.clone(), span: handler.span };
            said(&name, "a handler of", amount, out);
        } else {
            all = all.saturating_add(amount.code);
        }
    }
    all
}

fn stack_amount(program: &Program, stack: &Stack, layers: &[u64], out: &mut Vec<Diagnostic>) {
    let mut code = 0u64;
    for instance in &stack.instances {
        for placed in column::placed(program, &instance.of, instance.of.span) {
            let place = program.layers.iter().position(|layer| std::ptr::eq(layer, placed.layer));
            code = code.saturating_add(place.and_then(|at| layers.get(at)).copied().unwrap_or(0));
            rounds(program, placed.layer, &placed.args, out);
        }
    }
    if code > limits::CODE_OF_STACK {
        let text = format!(
            "stack `{}` comes to {code} statements and values, and {} is the most",
            stack.name.text,
            limits::CODE_OF_STACK
        );
        let diagnostic = Diagnostic::error(codes::TOO_MUCH_CODE, text).at(stack.name.span, "too much");
        out.push(diagnostic.help("put fewer layers into it: each has its code for itself"));
    }
}

/// Handlers whose loops go round too often where the layer stands. Of a limit that is not known here one round counts.
fn rounds(program: &Program, layer: &Layer, args: &[Option<Value>], out: &mut Vec<Diagnostic>) {
    let next: Vec<Vec<usize>> = layer.functions.iter().map(|function| calls(&function.body, &own_call)).collect();
    let mut functions = vec![1u64; layer.functions.len()];
    for index in graph::order(&next).nodes {
        functions[index] = Rounds { program, args, functions: &functions }.block(&layer.functions[index].body);
    }
    for handler in &layer.handlers {
        let rounds = Rounds { program, args, functions: &functions }.block(&handler.body);
        if rounds > limits::ROUNDS {
            let text = format!(
                "the loops of this handler of `{}` may go round more than {} times",
                layer.name.text,
                limits::ROUNDS
            );
            let diagnostic = Diagnostic::error(codes::TOO_MANY_ROUNDS, text)
                .at(handler.span, "a reaction would not end")
                .note("a limit within another counts as often as that says")
                .help("write smaller limits, or go on later: `later next(i)`");
            if !out.contains(&diagnostic) {
                out.push(diagnostic);
            }
        }
    }
}

struct Rounds<'a> {
    program: &'a Program,
    args: &'a [Option<Value>],
    /// Of the layer's own functions, each once.
    functions: &'a [u64],
}

impl Rounds<'_> {
    /// How often the innermost code of a block runs, at most; 1 without loops.
    fn block(&self, block: &[Stmt]) -> u64 {
        block.iter().fold(1u64, |all, stmt| all.max(self.stmt(stmt)))
    }

    fn stmt(&self, stmt: &Stmt) -> u64 {
        let mut called = 1;
        visit::stmt_exprs(stmt, &mut |expr| {
            visit::walk_expr(expr, &mut |inner| {
                let known = own_call(inner).and_then(|call| self.functions.get(call));
                called = called.max(known.copied().unwrap_or(1));
            });
        });
        let within = visit::stmt_blocks(stmt).into_iter().fold(1u64, |all, block| all.max(self.block(block)));
        let times = match &stmt.kind {
            StmtKind::While { limit, .. } | StmtKind::For { limit, .. } | StmtKind::ForObjects { limit, .. } => {
                constants::eval_with(self.program, self.args, limit).ok().and_then(|value| value.scalar()).unwrap_or(1)
            }
            _ => 1,
        };
        called.max(within.saturating_mul(times.max(1)))
    }
}
