//! The sizes of a layer's declarations, when all its parameters are known: the only place that checks them.
//!
//! Keeps: no class, cell or limit of the form has a size that the verifier refuses. Reports are at the declaration,
//! with the places where its arguments were written.

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, Span};
use mokume_semantics::check::ranges::beyond_memory;
use mokume_semantics::codes::{BEYOND_MEMORY, EMPTY_SIZE, TOO_MANY_ROUNDS};
use mokume_semantics::limits::ROUNDS;
use mokume_semantics::program::{self as s, Counted};
use mokume_semantics::visit::walk_expr;

use super::Lowering;
use crate::constants::{fold, fold_index, fold_one, Env, Index};

impl<'p> Lowering<'p> {
    /// A size: at least one, and no more than a machine has room for.
    pub fn size(&mut self, env: &Env, expr: &s::Expr, counted: Counted) -> u32 {
        let Some(value) = self.known_size(env, expr) else { return 1 };
        if value == 0 {
            let text = format!("there is room for 0 {} here: nothing has room", counted.words());
            let found = Diagnostic::error(EMPTY_SIZE, text).help("write how many there are at most");
            return self.refuse_size(env, expr, found, value);
        }
        if value > counted.most() {
            return self.refuse_size(env, expr, beyond_memory(value, counted), value);
        }
        value as u32
    }

    /// The most rounds of a loop. A loop with the limit 0 here does not run.
    pub fn rounds(&mut self, env: &Env, limit: &s::Expr) -> u32 {
        match self.known_size(env, limit) {
            Some(value) if value > ROUNDS => {
                let text = format!("this goes round up to {value} times");
                let found = Diagnostic::error(TOO_MANY_ROUNDS, text);
                let found = found.help(format!("write at most {ROUNDS}: a reaction ends before the next one begins"));
                self.refuse_size(env, limit, found, value)
            }
            Some(value) => value as u32,
            None => 1,
        }
    }

    /// How often an object may settle in a reaction.
    pub fn settling(&mut self, env: &Env, limit: &s::Expr) -> u32 {
        let limits = self.rounds(env, limit);
        if limits == 0 {
            let found = Diagnostic::error(EMPTY_SIZE, "this settles at most 0 times: it never runs");
            let found = found.help("write how often, or leave the handler out");
            return self.refuse_size(env, limit, found, 0);
        }
        limits
    }

    fn known_size(&mut self, env: &Env, expr: &s::Expr) -> Option<u64> {
        let known = self.one_constant(env, expr);
        if fold_index(self.program, env, expr) == Some(Index::Nowhere) {
            let found = Diagnostic::error(BEYOND_MEMORY, "this size is more than a number of its type can be");
            self.refuse_for(env, expr, found.help("write a smaller number"), Vec::new());
        } else if known.is_none() {
            let help = "what sizes something is set when the stack is built: write a number, or a parameter of a layer that gets one";
            self.error("M0720", "this size is not a constant", Some(expr.span), help);
        }
        known
    }

    /// Reports the size where its number was written, with each place on the way from there to the size; returns 1 for
    /// the rest of the stack.
    fn refuse_size(&mut self, env: &Env, expr: &s::Expr, found: Diagnostic, value: u64) -> u32 {
        self.refuse_for(env, expr, found, vec![(expr.span, value)]);
        1
    }

    /// The same, with the places that are known to have a part in it.
    fn refuse_for(&mut self, env: &Env, expr: &s::Expr, found: Diagnostic, mut ways: Vec<(Span, u64)>) {
        self.givers(env, expr, &mut ways);
        let mut said = BTreeSet::new();
        ways.retain(|(span, _)| said.insert((span.file, span.start)));
        let mut found = found;
        found = match ways.pop() {
            Some((written, value)) => found.at(written, format!("{value} is written here")),
            None => found.at(expr.span, "counted here"),
        };
        for (span, value) in ways {
            found = found.label(span, format!("{value} here"));
        }
        if !self.diagnostics.contains(&found) {
            self.diagnostics.push(found);
        }
    }

    /// The arguments in an expression, and theirs, outwards.
    fn givers(&self, env: &Env, expr: &s::Expr, found: &mut Vec<(Span, u64)>) {
        let Env::Use(used) = env else { return };
        walk_expr(expr, &mut |part| {
            let s::ExprKind::Param(index) = part.kind else { return };
            let Some(arg) = used.args.get(index as usize) else { return };
            if let Some(value) = fold_one(self.program, &used.outer, arg) {
                found.push((arg.span, value));
            }
            self.givers(&used.outer, arg, found);
        });
    }

    // -- constants

    /// The scalars of an expression that is known before the stack starts; else `None`.
    pub fn constants(&self, env: &Env, expr: &s::Expr) -> Option<Vec<u64>> {
        fold(self.program, env, expr)
    }

    /// The number, boolean or enum value of an expression that is known before the stack starts; else `None`.
    pub fn one_constant(&self, env: &Env, expr: &s::Expr) -> Option<u64> {
        fold_one(self.program, env, expr)
    }
}
