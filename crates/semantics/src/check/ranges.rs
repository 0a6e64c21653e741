//! What is out of range whatever the input: a divisor of 0, a shift by all bits, an index beyond the end of an array,
//! more units than a quota has, sizes beyond all memory; and writes to a loop's own counter.
//!
//! Keeps: only constants are judged. The values of parameters are not known here; run-time reports find the rest.

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::{Diagnostic, Span};

use crate::constants::{self, Value};
use crate::program::*;
use crate::visit::{self, Met};
use crate::{codes, types};

/// Checks constants in the code of functions and layers.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    let mut ranges = Ranges { program, layer: None, reported: BTreeSet::new(), in_front: BTreeMap::new(), out };
    for function in &program.functions {
        ranges.block(&function.body);
    }
    for layer in &program.layers {
        ranges.layer = Some(layer);
        visit::walk_layer(layer, &mut |met| ranges.met(met));
        layer.sizes().into_iter().for_each(|(size, counted)| ranges.size(size, counted));
    }
}

struct Ranges<'p, 'o> {
    program: &'p Program,
    layer: Option<&'p Layer>,
    /// Places reported so far: `x /= 0` is read as `x = x / 0`, so a place may be walked twice.
    reported: BTreeSet<(u32, u32)>,
    /// Constants that the compiler binds in front of a statement, at their places.
    in_front: BTreeMap<Span, u64>,
    out: &'o mut Vec<Diagnostic>,
}

impl Ranges<'_, '_> {
    fn constant(&self, expr: &Expr) -> Option<u64> {
        match constants::eval(self.program, expr) {
            Ok(Value::Scalar(value)) if expr.ty != Type::Unknown => Some(value),
            _ => None,
        }
    }

    fn report(&mut self, diagnostic: Diagnostic, at: Span) {
        if self.reported.insert((at.start, at.end)) {
            self.out.push(diagnostic);
        }
    }

    fn block(&mut self, block: &[Stmt]) {
        visit::walk(block, &mut |met| self.met(met));
    }

    fn met(&mut self, met: Met) {
        match met {
            Met::Expr(expr) => self.expr(expr),
            Met::Stmt(stmt) => self.stmt(stmt),
            Met::State(_) => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Binary { op: Binary::Div | Binary::Rem, b, .. } if self.constant(b) == Some(0) => {
                let text = "this divides by zero";
                let found = Diagnostic::error(codes::DIVIDES_BY_ZERO, text).at(b.span, "always 0");
                let found = found.note("at run time it would be reported, and the result be 0");
                self.report(found.help("divide by something else, or look before: `if n != 0 { … }`"), b.span);
            }
            ExprKind::Binary { op: Binary::Shl | Binary::Shr, a, b } => self.shift(a, b),
            ExprKind::Element { array, index } => self.index(array, index),
            ExprKind::Holds { messages, index } => self.index(messages, index),
            ExprKind::Pick { vector, index } => self.vector_index(vector, index),
            ExprKind::Edited { vector, edit: Edit::Set { index, .. } } => self.vector_index(vector, index),
            _ => {}
        }
    }

    fn shift(&mut self, a: &Expr, b: &Expr) {
        let (Some(by), Some(width)) = (self.constant(b), types::width(self.program, a.ty)) else { return };
        if a.ty != Type::Unknown && by >= u64::from(width) {
            let text = format!("nothing is left of {width} bits that are shifted by {by}");
            let found = Diagnostic::error(codes::SHIFTED_AWAY, text).at(b.span, "too far");
            let found = found.note("the result would always be 0");
            let wide = [8, 16, 32, 64].into_iter().find(|wide| u64::from(*wide) > by && *wide > width);
            let name = self.name_of(a).unwrap_or("x");
            let help = match wide {
                Some(wide) => {
                    format!("shift by at most {}, or widen the value first: `{name} as u{wide} << {by}`", width - 1)
                }
                None => format!("shift by at most {}", width - 1),
            };
            self.report(found.help(help), b.span);
        }
    }

    /// The name of a local, state or a parameter.
    fn name_of(&self, expr: &Expr) -> Option<&str> {
        let name = match &expr.kind {
            ExprKind::Local(local) => &self.locals_at(expr.span)?.get(local.index())?.name,
            ExprKind::State(state) => &self.member(state)?.name,
            ExprKind::Param(index) => &self.layer?.params.get(*index as usize)?.name,
            _ => return None,
        };
        Some(&name.text)
    }

    /// The locals of the body that has this place.
    fn locals_at(&self, place: Span) -> Option<&[Local]> {
        let functions = self.layer.map_or(&self.program.functions, |layer| &layer.functions);
        let functions = functions.iter().map(|function| (&function.body, &function.locals));
        let handlers = self.layer.into_iter().flat_map(|layer| &layer.handlers);
        let mut bodies = functions.chain(handlers.map(|handler| (&handler.body, &handler.locals)));
        let has = |(body, _): &(&Vec<Stmt>, &Vec<Local>)| {
            let ends = body.first().zip(body.last()).map(|(first, last)| (first.span, last.span));
            ends.is_some_and(|(first, last)| {
                first.file == place.file && first.start <= place.start && place.end <= last.end
            })
        };
        bodies.find(has).map(|(_, locals)| locals.as_slice())
    }

    fn vector_index(&mut self, vector: &Expr, index: &Expr) {
        let Some(Vector { bound, .. }) = self.program.vector(vector.ty) else { return };
        let Some(at) = self.constant(index).filter(|at| *at >= u64::from(bound)) else { return };
        let text = format!("the vector has {bound} elements at most, and this is number {at}");
        let found = Diagnostic::error(codes::BEYOND_THE_END, text).at(index.span, "behind the end");
        self.report(found.help("the first is `[0]`, the last one `[v.length - 1]`"), index.span);
    }

    fn index(&mut self, array: &StateRef, index: &Expr) {
        let (front, what, size) = match self.member(array).map(|member| &member.kind) {
            Some(MemberKind::Array { size, .. }) => ("the array has", "elements", size),
            Some(MemberKind::Messages { size, .. }) => ("there are places for", "messages", size),
            _ => return,
        };
        let at = self.constant(index).or_else(|| self.in_front.get(&index.span).copied());
        let (Some(size), Some(at)) = (self.constant(size), at) else { return };
        if at >= size && size > 0 {
            let text = format!("{front} {size} {what}, and this is number {at}");
            let found = Diagnostic::error(codes::BEYOND_THE_END, text).at(index.span, "behind the end");
            let last = format!("the last one is `[{}]`; the first is `[0]`", size.saturating_sub(1));
            self.report(found.help(last), index.span);
        }
    }

    /// Checks an amount taken from a quota or given back: more than 0, and no more than the quota ever has.
    fn units(&mut self, quota: &StateRef, amount: &Expr, done: &str) {
        self.nothing(amount, done);
        let Some(MemberKind::Quota { amount: all }) = self.member(quota).map(|member| &member.kind) else { return };
        let (Some(all), Some(units)) = (self.constant(all), self.constant(amount)) else { return };
        if units > all && all > 0 {
            let text = format!("the quota has {all} units at most, and {units} are {done}");
            let found = Diagnostic::error(codes::BEYOND_THE_QUOTA, text).at(amount.span, "never so many");
            let help = format!("write at most {all} here, or a larger quota where it is declared");
            self.report(found.help(help), amount.span);
        }
    }

    /// Reports an amount of 0 where something is to be moved or counted.
    fn nothing(&mut self, amount: &Expr, done: &str) {
        if self.constant(amount) == Some(0) {
            let text = format!("nothing is {done} here: the number is 0");
            let found = Diagnostic::error(codes::EMPTY_SIZE, text).at(amount.span, "zero");
            self.report(found.help("write how many, or leave the statement out"), amount.span);
        }
    }

    fn member(&self, state: &StateRef) -> Option<&Member> {
        self.layer?.members(state.scope)?.get(state.member as usize)
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let { value, .. } => self.in_front.extend(self.constant(value).map(|at| (value.span, at))),
            StmtKind::AssignElement { array, index, .. } => self.index(array, index),
            StmtKind::Put { messages, index, .. } | StmtKind::IfTaken { messages, index, .. } => {
                self.index(messages, index);
            }
            StmtKind::Take { quota, amount, .. } => self.units(quota, amount, "taken"),
            StmtKind::Give { quota, amount } => self.units(quota, amount, "given back"),
            StmtKind::Count { amount, .. } => self.nothing(amount, "counted"),
            StmtKind::For { local, body, .. } => self.counter(*local, body),
            _ => {}
        }
    }

    /// The loop owns the counter of a `for`: it continues from its own value, whatever the block writes.
    fn counter(&mut self, counter: LocalId, body: &[Stmt]) {
        let mut written = Vec::new();
        visit::walk(body, &mut |met| {
            if let Met::Stmt(Stmt { kind: StmtKind::AssignLocal { local, .. }, span }) = met {
                if *local == counter {
                    written.push(*span);
                }
            }
        });
        for span in written {
            let text = "a loop counts for itself: its variable is not assigned";
            let found = Diagnostic::error(codes::COUNTER_WRITTEN, text).at(span, "written here");
            self.report(
                found.help("leave with `return`, or count in a variable of your own with `while … limit`"),
                span,
            );
        }
    }

    fn size(&mut self, size: &Expr, counted: Counted) {
        let Some(value) = self.constant(size).filter(|value| *value > counted.most()) else { return };
        self.report(beyond_memory(value, counted).at(size.span, "too many"), size.span);
    }
}

/// A size larger than any machine's memory. The caller adds the place.
pub fn beyond_memory(value: u64, counted: Counted) -> Diagnostic {
    let most = counted.most();
    Diagnostic::error(codes::BEYOND_MEMORY, format!("no machine has room for {value} {}", counted.words()))
        .note("all memory is taken when the stack starts, and counted before")
        .help(format!("write at most {most}: how many does the protocol ever need?"))
}
