//! Messages are linear: each one that a body holds is given away exactly once on every path.
//!
//! A dataflow over the structured statements, after types are known. Keeps: every report names the message, the place that
//! gave it away or the branch that did not, and each message is reported once, so that one slip does not cascade.

use std::collections::HashSet;

use mokume_base::{Diagnostic, Span};

use crate::codes;
use crate::program::*;
use crate::visit;

/// Checks one body. `held` are the messages that it begins with; `pass` gives those away again.
/// Nothing is said of the `excused`, which statements named that were refused.
pub fn check(
    locals: &[Local],
    held: &[LocalId],
    excused: &[LocalId],
    body: &[Stmt],
    end: Span,
    out: &mut Vec<Diagnostic>,
) {
    check_with(locals, (held, &[]), excused, body, end, out)
}

/// As [`check`]; the `kept` are there at every end, instead of nowhere: a model gives its message back.
pub fn check_with(
    locals: &[Local],
    (held, kept): (&[LocalId], &[LocalId]),
    excused: &[LocalId],
    body: &[Stmt],
    end: Span,
    out: &mut Vec<Diagnostic>,
) {
    let mut flow = Flow { locals, event: held, kept, end, reported: excused.iter().copied().collect(), out };
    let mut slots = vec![Slot::Absent; locals.len()];
    for local in held.iter().chain(kept) {
        if let Some(slot) = slots.get_mut(local.index()) {
            *slot = Slot::Held;
        }
    }
    let mut state = flow.block(body, Some(slots));
    kept.iter().for_each(|local| flow.read(&mut state, *local, end));
    flow.at_end(&state, held, end, "this is the end of a path on which it is still held");
}

#[derive(Clone, PartialEq)]
enum Slot {
    /// Not a message, or not bound yet.
    Absent,
    Held,
    Given(Gone),
    /// Given away on some of the paths that come here.
    Mixed {
        given: Gone,
        leak: (Span, String),
    },
}

/// Where a message went.
#[derive(Clone, PartialEq)]
struct Gone {
    span: Span,
    verb: &'static str,
}

/// What is known of each local; none where no path leads.
type State = Option<Vec<Slot>>;

/// A branch that comes to a join, and how to name it.
struct Branch {
    state: State,
    span: Span,
    text: &'static str,
}

struct Flow<'a> {
    locals: &'a [Local],
    event: &'a [LocalId],
    kept: &'a [LocalId],
    end: Span,
    reported: HashSet<LocalId>,
    out: &'a mut Vec<Diagnostic>,
}

impl Flow<'_> {
    fn name(&self, local: LocalId) -> &str {
        self.locals.get(local.index()).map_or("message", |local| &local.name.text)
    }

    fn place(&self, local: LocalId) -> Span {
        self.locals.get(local.index()).map_or(self.end, |local| local.name.span)
    }

    fn is_message(&self, local: LocalId) -> bool {
        self.locals.get(local.index()).is_some_and(|local| local.ty == Type::Message)
    }

    fn report(&mut self, local: LocalId, diagnostic: Diagnostic) {
        if self.reported.insert(local) {
            self.out.push(diagnostic);
        }
    }

    fn bear(&mut self, state: &mut State, local: LocalId) {
        if let (true, Some(slots)) = (self.is_message(local), state) {
            slots[local.index()] = Slot::Held;
        }
    }

    /// The message goes away here.
    fn give(&mut self, state: &mut State, local: LocalId, span: Span, verb: &'static str) {
        let (true, Some(slots)) = (self.is_message(local), state.as_mut()) else { return };
        let before = std::mem::replace(&mut slots[local.index()], Slot::Given(Gone { span, verb }));
        let name = self.name(local).to_string();
        match before {
            Slot::Held | Slot::Absent => {}
            Slot::Given(gone) => {
                let diagnostic =
                    Diagnostic::error(codes::GIVEN_TWICE, format!("`{name}` is {} and then {verb}", gone.verb))
                        .at(span, "and used again here")
                        .label(gone.span, format!("{} here", gone.verb))
                        .note("a message is given away exactly once on every path")
                        .help(format!("to have a second one of the same octets, give away `{name}.share()` first"));
                self.report(local, diagnostic);
            }
            Slot::Mixed { given, leak } => self.disagree(local, span, given, leak),
        }
    }

    /// The message must be held here, and stays.
    fn read(&mut self, state: &mut State, local: LocalId, span: Span) {
        let (true, Some(slots)) = (self.is_message(local), state.as_mut()) else { return };
        let name = self.name(local).to_string();
        match slots[local.index()].clone() {
            Slot::Held | Slot::Absent => {}
            Slot::Given(gone) => {
                let text = format!("`{name}` is used after it was {}", gone.verb);
                let diagnostic = Diagnostic::error(codes::USED_AFTER, text)
                    .at(span, "used here")
                    .label(gone.span, format!("{} here: from then on it belongs to another", gone.verb))
                    .help("read what you need into a `let` before the message is given away");
                self.report(local, diagnostic);
            }
            Slot::Mixed { given, leak } => self.disagree(local, span, given, leak),
        }
    }

    fn disagree(&mut self, local: LocalId, span: Span, given: Gone, leak: (Span, String)) {
        let name = self.name(local).to_string();
        let text = format!("`{name}` may be gone already: the paths that meet before this disagree");
        let diagnostic = Diagnostic::error(codes::PATHS_DISAGREE, text)
            .at(span, "used here")
            .label(given.span, format!("{} here, on one path", given.verb))
            .label(leak.0, leak.1)
            .help("end the path that gives it away with `return`, or give it away on all of them");
        self.report(local, diagnostic);
    }

    /// None of `locals` may be held any more.
    fn at_end(&mut self, state: &State, locals: &[LocalId], span: Span, text: &str) {
        let Some(slots) = state else { return };
        for &local in locals {
            if !self.is_message(local) {
                continue;
            }
            let name = self.name(local).to_string();
            let diagnostic = Diagnostic::error(codes::LEAK, format!("`{name}` is not given away on every path"))
                .at(self.place(local), "comes from here");
            let diagnostic = match &slots[local.index()] {
                Slot::Held => diagnostic.label(span, text),
                Slot::Mixed { given, leak } => {
                    diagnostic.label(given.span, format!("{} here", given.verb)).label(leak.0, leak.1.clone())
                }
                _ => continue,
            };
            let diagnostic = diagnostic
                .note("a message is sent, delivered, kept, joined, dropped or consumed exactly once on every path")
                .help(format!("if it is not wanted there, write `drop {name}: reason`"));
            self.report(local, diagnostic);
        }
    }

    fn block(&mut self, block: &[Stmt], mut state: State) -> State {
        let mut born = Vec::new();
        for stmt in block {
            state = self.stmt(stmt, state, &mut born);
        }
        let end = block.last().map_or(self.end, |stmt| stmt.span);
        self.at_end(&state, &born, end, "this is the end of the block that knows it");
        if let Some(slots) = &mut state {
            born.iter().for_each(|local| slots[local.index()] = Slot::Absent);
        }
        state
    }

    fn stmt(&mut self, stmt: &Stmt, mut state: State, born: &mut Vec<LocalId>) -> State {
        use StmtKind::*;
        if let Later { args, otherwise, .. } = &stmt.kind {
            return self.later(args, otherwise, stmt.span, state);
        }
        if let IfDone { call, local, then, otherwise } = &stmt.kind {
            return self.done(call, *local, (then, otherwise), stmt.span, state);
        }
        if matches!(stmt.kind, Refuse) {
            return self.refuse(stmt.span, state);
        }
        self.reads(stmt, &mut state);
        let verb = verb(&stmt.kind);
        visit::stmt_exprs(stmt, &mut |expr| self.expr(expr, &mut state, verb));
        visit::stmt_states(stmt, &mut |place| {
            if let Some(object) = &place.object {
                self.expr(object, &mut state, verb);
            }
        });
        match &stmt.kind {
            Let { local, .. } => {
                self.bear(&mut state, *local);
                born.push(*local);
            }
            AssignLocal { local, .. } => self.overwrite(&mut state, *local, stmt.span),
            Call(value) if value.ty == Type::Message => self.thrown_away(value.span),
            Drop { message, .. } | Consume { message, .. } | Accept { message } | Put { message, .. } => {
                self.give(&mut state, *message, stmt.span, verb)
            }
            Split { message, front, rest, .. } => {
                self.give(&mut state, *message, stmt.span, verb);
                for local in [*front, *rest] {
                    self.bear(&mut state, local);
                    born.push(local);
                }
            }
            Pass => {
                for local in self.event {
                    self.give(&mut state, *local, stmt.span, verb);
                }
            }
            Return { .. } => {
                self.kept.iter().for_each(|local| self.read(&mut state, *local, stmt.span));
                let all = (0..self.locals.len() as u32).map(LocalId);
                let all: Vec<_> = all.filter(|local| !self.kept.contains(local)).collect();
                self.at_end(&state, &all, stmt.span, "it is still held on the path that ends here");
                return None;
            }
            _ => return self.branches(stmt, state),
        }
        state
    }

    /// Messages that a statement looks at or changes in place.
    fn reads(&mut self, stmt: &Stmt, state: &mut State) {
        use StmtKind::*;
        if let Trim { message, .. }
        | Skip { message, .. }
        | Join { message, .. }
        | Store { message, .. }
        | SetAttribute { message, .. } = &stmt.kind
        {
            self.read(state, *message, stmt.span);
        }
    }

    fn branches(&mut self, stmt: &Stmt, state: State) -> State {
        use StmtKind::*;
        match &stmt.kind {
            If { condition, then, otherwise, .. } => {
                let span = condition.span;
                self.fork(state, &[(then, span, "when this is true"), (otherwise, span, "when this is false")])
            }
            IfFound { then, otherwise, .. } | IfObject { then, otherwise, .. } => {
                let span = head(stmt, then);
                self.fork(state, &[(then, span, "when it is found"), (otherwise, span, "when it is not found")])
            }
            IfTaken { then, otherwise, local, .. } => {
                let mut with = state.clone();
                self.bear(&mut with, *local);
                let mut with = self.block(then, with);
                let end = then.last().map_or(stmt.span, |stmt| stmt.span);
                self.at_end(&with, &[*local], end, "this is the end of the block that knows it");
                if let Some(slots) = &mut with {
                    slots[local.index()] = Slot::Absent;
                }
                let without = self.block(otherwise, state);
                let span = head(stmt, then);
                self.join(vec![
                    Branch { state: with, span, text: "when there is one" },
                    Branch { state: without, span, text: "when there is none" },
                ])
            }
            Match { value, cases, otherwise } => {
                let mut arms: Vec<_> = cases
                    .iter()
                    .map(|(_, block)| (block, block.first().map_or(value.span, |stmt| stmt.span), "in this case"))
                    .collect();
                arms.push((otherwise, otherwise.first().map_or(value.span, |stmt| stmt.span), "in the last case"));
                self.fork(state, &arms)
            }
            While { body, .. } | For { body, .. } | ForObjects { body, .. } => self.repeated(body, state),
            Take { otherwise, .. } | Insert { otherwise, .. } | FindOrNew { otherwise, .. } => {
                let without = self.block(otherwise, state.clone());
                let span = otherwise.first().map_or(stmt.span, |stmt| stmt.span);
                self.join(vec![
                    Branch { state, span: stmt.span, text: "when there is room" },
                    Branch { state: without, span, text: "when there is no room" },
                ])
            }
            _ => state,
        }
    }

    fn fork(&mut self, state: State, branches: &[(&Vec<Stmt>, Span, &'static str)]) -> State {
        let ends = branches
            .iter()
            .map(|&(block, span, text)| Branch { state: self.block(block, state.clone()), span, text })
            .collect();
        self.join(ends)
    }

    fn join(&mut self, branches: Vec<Branch>) -> State {
        let reached: Vec<&Branch> = branches.iter().filter(|branch| branch.state.is_some()).collect();
        let mut result = reached.first()?.state.clone()?;
        for (index, slot) in result.iter_mut().enumerate() {
            *slot = meet(self.name(LocalId(index as u32)), index, &reached);
        }
        Some(result)
    }

    /// A message that was there before the loop may not go in it: the next round would have none.
    fn repeated(&mut self, body: &[Stmt], state: State) -> State {
        let after = self.block(body, state.clone());
        let (Some(before), Some(after)) = (&state, after) else { return state };
        for (index, (old, new)) in before.iter().zip(&after).enumerate() {
            let local = LocalId(index as u32);
            let (Slot::Held, Slot::Given(gone) | Slot::Mixed { given: gone, .. }) = (old, new) else { continue };
            let name = self.name(local).to_string();
            let text = format!("`{name}` is {} in a loop: the next round has none", gone.verb);
            let diagnostic = Diagnostic::error(codes::GIVEN_IN_LOOP, text)
                .at(gone.span, format!("{} here, in every round", gone.verb))
                .label(self.place(local), "comes from here, before the loop")
                .help(format!("give away `{name}.share()` in the loop and `{name}` behind it, or leave with `return`"));
            self.report(local, diagnostic);
        }
        state
    }

    fn later(&mut self, args: &[Expr], otherwise: &[Stmt], span: Span, state: State) -> State {
        let without = self.block(otherwise, state.clone());
        let mut with = state;
        args.iter().for_each(|arg| self.expr(arg, &mut with, "kept for later"));
        let elsewhere = otherwise.first().map_or(span, |stmt| stmt.span);
        if otherwise.is_empty() {
            return with;
        }
        self.join(vec![
            Branch { state: with, span, text: "when there is room" },
            Branch { state: without, span: elsewhere, text: "when there is no room" },
        ])
    }

    /// A call that may refuse: then its messages are still here.
    fn done(
        &mut self,
        call: &Expr,
        local: Option<LocalId>,
        (then, otherwise): (&[Stmt], &[Stmt]),
        span: Span,
        state: State,
    ) -> State {
        let without = self.block(otherwise, state.clone());
        let mut with = state;
        self.expr(call, &mut with, "given to a function");
        if let Some(local) = local {
            self.bear(&mut with, local);
        }
        let mut with = self.block(then, with);
        if let Some(local) = local {
            let end = then.last().map_or(span, |stmt| stmt.span);
            self.at_end(&with, &[local], end, "this is the end of the block that knows it");
            if let Some(slots) = &mut with {
                slots[local.index()] = Slot::Absent;
            }
        }
        let elsewhere = otherwise.first().map_or(span, |stmt| stmt.span);
        self.join(vec![
            Branch { state: with, span, text: "when it is done" },
            Branch { state: without, span: elsewhere, text: "when it is refused" },
        ])
    }

    /// What was given must all be there to be given back; nothing else may be held.
    fn refuse(&mut self, span: Span, mut state: State) -> State {
        for local in self.event {
            self.read(&mut state, *local, span);
        }
        let others: Vec<LocalId> =
            (0..self.locals.len() as u32).map(LocalId).filter(|local| !self.event.contains(local)).collect();
        self.at_end(&state, &others, span, "it is still held where this refuses");
        None
    }

    fn overwrite(&mut self, state: &mut State, local: LocalId, span: Span) {
        let held = state.as_ref().is_some_and(|slots| matches!(slots[local.index()], Slot::Held | Slot::Mixed { .. }));
        if self.is_message(local) && held {
            let name = self.name(local).to_string();
            let diagnostic =
                Diagnostic::error(codes::OVERWRITTEN, format!("`{name}` is overwritten while it holds a message"))
                    .at(span, "the message in it would be lost here")
                    .label(self.place(local), "comes from here")
                    .help(format!("write `drop {name}: reason` first, or use another name"));
            self.report(local, diagnostic);
        }
        self.bear(state, local);
    }

    fn thrown_away(&mut self, span: Span) {
        self.out.push(
            Diagnostic::error(codes::THROWN_AWAY, "this message is made and thrown away")
                .at(span, "nobody takes it")
                .help("bind it with `let`, or hand it on in place"),
        );
    }

    fn expr(&mut self, expr: &Expr, state: &mut State, verb: &'static str) {
        match &expr.kind {
            ExprKind::Give(local) => self.give(state, *local, expr.span, verb),
            ExprKind::Share(local) | ExprKind::MessageSize(local) | ExprKind::Sum16(local) => {
                self.read(state, *local, expr.span)
            }
            ExprKind::Received { message, .. }
            | ExprKind::Attribute { message, .. }
            | ExprKind::Native { message: Some(message), .. }
            | ExprKind::Load { message, .. } => self.read(state, *message, expr.span),
            ExprKind::If { condition, then, otherwise } => {
                self.expr(condition, state, verb);
                let (mut yes, mut no) = (state.clone(), state.clone());
                self.expr(then, &mut yes, verb);
                self.expr(otherwise, &mut no, verb);
                let branch = |state, expr: &Expr, text| Branch { state, span: expr.span, text };
                *state =
                    self.join(vec![branch(yes, then, "with this value"), branch(no, otherwise, "with this value")]);
                return;
            }
            _ => {}
        }
        let verb = match expr.kind {
            ExprKind::Native { .. } | ExprKind::Call { .. } | ExprKind::CallOwn { .. } | ExprKind::CallOn { .. } => {
                "given to a function"
            }
            _ => verb,
        };
        visit::expr_children(expr, &mut |child| self.expr(child, state, verb));
    }
}

/// The words of an `if let` up to its block.
fn head(stmt: &Stmt, then: &[Stmt]) -> Span {
    match then.first() {
        Some(first) if first.span.file == stmt.span.file && first.span.start > stmt.span.start => {
            Span::new(stmt.span.file, stmt.span.start, first.span.start.min(stmt.span.end).min(stmt.span.start + 6))
        }
        _ => stmt.span,
    }
}

fn meet(name: &str, index: usize, branches: &[&Branch]) -> Slot {
    let slots = || branches.iter().filter_map(|branch| Some((*branch, branch.state.as_ref()?.get(index)?)));
    let first = slots().next().map_or(Slot::Absent, |(_, slot)| slot.clone());
    if let Some((_, mixed)) = slots().find(|(_, slot)| matches!(slot, Slot::Mixed { .. })) {
        return mixed.clone();
    }
    let held = slots().find(|(_, slot)| matches!(slot, Slot::Held));
    let given = slots().find_map(|(_, slot)| if let Slot::Given(gone) = slot { Some(gone.clone()) } else { None });
    match (held, given) {
        (Some((branch, _)), Some(given)) => {
            Slot::Mixed { given, leak: (branch.span, format!("{}, `{name}` is still held", branch.text)) }
        }
        _ => first,
    }
}

fn verb(kind: &StmtKind) -> &'static str {
    use StmtKind::*;
    match kind {
        Emit(Emission::Send { .. }) => "sent",
        Emit(Emission::Deliver { .. }) => "delivered",
        Emit(Emission::Service { .. }) => "handed to a service",
        Emit(_) => "given away",
        Let { .. } | AssignLocal { .. } => "moved to another name",
        Drop { .. } => "dropped",
        Consume { .. } => "consumed",
        Accept { .. } => "accepted",
        Put { .. } => "kept",
        Split { .. } => "split",
        Join { .. } => "joined to another",
        Pass => "passed on",
        Return { .. } => "returned",
        _ => "given away",
    }
}
