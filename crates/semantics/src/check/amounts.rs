//! The size of a program's code, and how often its loops run: no more than the compiler, or a reaction, can handle.
//!
//! Functions are inlined where they are called, or might be, so each counts once for each call. Keeps: a function that
//! is too large is reported once; its callers are not reported.

use std::collections::BTreeMap;

use mokume_base::Diagnostic;

use crate::check::column;
use crate::constants::{self, Value};
use crate::program::*;
use crate::visit::{self, Met};
use crate::{codes, graph, limits};

/// The size of a body.
#[derive(Clone, Copy, Default)]
struct Amount {
    /// The number of statements and values.
    code: u64,
    /// How deeply calls of functions are nested.
    depth: u32,
    /// Whether this function, or one that it calls, was already reported as too large.
    said: bool,
}

impl Amount {
    fn with(self, other: Amount) -> Amount {
        let code = self.code.saturating_add(other.code);
        Amount { code, depth: self.depth.max(other.depth + 1), said: self.said || other.said }
    }
}

/// Checks functions and layers, then stacks. A call that closes a cycle counts as nothing; the cycle is reported
/// elsewhere.
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

/// The size of each function; `others` are the functions of another table that each one calls, by number.
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

/// The size of its own statements and values, and of the functions that it calls.
fn of_body(body: &[Stmt], calls: &[usize], known: &[Amount]) -> Amount {
    let mut own = Amount::default();
    visit::walk(body, &mut |met| own.code += u64::from(!matches!(met, Met::State(_))));
    calls.iter().filter_map(|call| known.get(*call)).fold(own, |all, called| all.with(*called))
}

/// Whether it is too large; reports it unless that is done.
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

/// The size of all handlers of a layer.
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

/// Reports handlers whose loops run too often with these arguments of the layer. A limit that is not known here counts
/// as one round.
fn rounds(program: &Program, layer: &Layer, args: &[Option<Value>], out: &mut Vec<Diagnostic>) {
    let of_files = |body: &[Stmt]| calls(body, &|expr| free_call(expr, &layer.called));
    let mut known = Rounds { program, layer, args, free: BTreeMap::new(), functions: vec![0; layer.functions.len()] };
    let bodies = layer.functions.iter().map(|function| &function.body);
    let bodies = bodies.chain(layer.handlers.iter().map(|handler| &handler.body));
    known.read_free(bodies.flat_map(|body| of_files(body)).collect());
    let next: Vec<Vec<usize>> = layer.functions.iter().map(|function| calls(&function.body, &own_call)).collect();
    for index in graph::order(&next).nodes {
        known.functions[index] = known.block(&layer.functions[index].body);
    }
    for handler in &layer.handlers {
        let rounds = known.block(&handler.body).saturating_mul(known.settling(handler));
        if rounds > limits::ROUNDS {
            let text = format!(
                "the loops of this handler of `{}` may go round more than {} times",
                layer.name.text,
                limits::ROUNDS
            );
            let diagnostic = Diagnostic::error(codes::TOO_MANY_ROUNDS, text)
                .at(handler.span, "a reaction would not end")
                .note("a limit within another counts as often as that says, loops behind each other together, and `settle` that says `again` as often as its limit")
                .help("write smaller limits, or go on later: `later next(i)`");
            if !out.contains(&diagnostic) {
                out.push(diagnostic);
            }
        }
    }
}

/// Computes how often the loops of code run, at most; 0 without loops.
struct Rounds<'a> {
    program: &'a Program,
    layer: &'a Layer,
    args: &'a [Option<Value>],
    /// The rounds of functions of files that are called.
    free: BTreeMap<usize, u64>,
    /// The rounds of each of the layer's own functions.
    functions: Vec<u64>,
}

impl Rounds<'_> {
    /// Computes the functions of files and those that they call, callees first. Their limits are known without the
    /// layer, or not at all.
    fn read_free(&mut self, mut waiting: Vec<usize>) {
        // Only called functions are computed: a program may have as many layers as functions.
        let (mut met, all) = (BTreeMap::new(), &self.program.functions);
        while let Some(index) = waiting.pop() {
            let Some(function) = all.get(index).filter(|_| !met.contains_key(&index)) else { continue };
            let called = calls(&function.body, &|expr| free_call(expr, &self.layer.called));
            waiting.extend(&called);
            met.insert(index, called);
        }
        let indices: Vec<usize> = met.keys().copied().collect();
        let next = met.values().map(|called| called.iter().filter_map(|at| indices.binary_search(at).ok()).collect());
        let next: Vec<Vec<usize>> = next.collect();
        for index in graph::order(&next).nodes.into_iter().map(|node| indices[node]) {
            let own = Rounds { args: &[], free: std::mem::take(&mut self.free), functions: Vec::new(), ..*self };
            let rounds = own.block(&all[index].body);
            self.free = own.free;
            self.free.insert(index, rounds);
        }
    }

    /// How often a handler runs in a reaction: once, or as often as its own limit if it asks for more.
    fn settling(&self, handler: &Handler) -> u64 {
        let Event::Settle { limit } = &handler.event else { return 1 };
        if visit::any(&handler.body, |met| matches!(met, Met::Stmt(Stmt { kind: StmtKind::Again, .. }))) {
            self.number(limit)
        } else {
            1
        }
    }

    fn number(&self, expr: &Expr) -> u64 {
        let value = constants::eval_with(self.program, self.args, expr).ok().and_then(|value| value.scalar());
        value.unwrap_or(1).max(1)
    }

    fn block(&self, block: &[Stmt]) -> u64 {
        block.iter().fold(0u64, |all, stmt| all.saturating_add(self.stmt(stmt)))
    }

    fn stmt(&self, stmt: &Stmt) -> u64 {
        let mut called = 0u64;
        visit::stmt_exprs(stmt, &mut |expr| called = called.saturating_add(self.called(expr)));
        // Only one of a statement's blocks runs.
        let within = visit::stmt_blocks(stmt).into_iter().map(|block| self.block(block)).max().unwrap_or(0);
        match &stmt.kind {
            // The condition is evaluated in each round.
            StmtKind::While { limit, .. } => self.number(limit).saturating_mul(called.saturating_add(within).max(1)),
            StmtKind::For { limit, .. } | StmtKind::ForObjects { limit, .. } => {
                called.saturating_add(self.number(limit).saturating_mul(within.max(1)))
            }
            _ => called.saturating_add(within),
        }
    }

    fn called(&self, expr: &Expr) -> u64 {
        let mut all = 0u64;
        visit::walk_expr(expr, &mut |inner| {
            let own = own_call(inner).and_then(|call| self.functions.get(call)).copied();
            let of_file = free_call(inner, &self.layer.called).and_then(|call| self.free.get(&call)).copied();
            all = all.saturating_add(own.or(of_file).unwrap_or(0));
        });
        all
    }
}
