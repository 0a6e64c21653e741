//! Messages are linear: each message that a body holds is given away exactly once on every path.
//!
//! A dataflow over the structured statements, after types are known. Keeps: every report names the message, and the
//! place that gave it away or the branch that did not; each message is reported once, so that one mistake does not
//! cascade.

mod flow;
mod slots;

use mokume_base::{Diagnostic, Span};

use crate::program::*;
use crate::{codes, lost, visit};
use flow::Flow;
use slots::{Branch, Slot, State};

/// Checks one body. `held` are the messages that it begins with; `pass` gives them away again. The `excused` messages
/// are not reported: statements that named them were refused.
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

/// As [`check`], but the `kept` messages must be held at every end of the body, instead of nowhere: a model gives its
/// message back.
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
    let mut state = walk_block(&mut flow, body, Some(slots));
    kept.iter().for_each(|local| flow.read(&mut state, *local, end));
    flow.at_end(&state, held, end, "this is the end of a path on which it is still held");
}

fn walk_block(flow: &mut Flow, block: &[Stmt], mut state: State) -> State {
    let mut born = Vec::new();
    for stmt in block {
        state = walk_stmt(flow, stmt, state, &mut born);
    }
    let end = block.last().map_or(flow.end, |stmt| stmt.span);
    flow.at_end(&state, &born, end, "this is the end of the block that knows it");
    if let Some(slots) = &mut state {
        born.iter().for_each(|local| slots[local.index()] = Slot::Absent);
    }
    state
}

fn walk_stmt(flow: &mut Flow, stmt: &Stmt, mut state: State, born: &mut Vec<LocalId>) -> State {
    use StmtKind::*;
    if let Later { args, otherwise, .. } = &stmt.kind {
        return later(flow, args, otherwise, stmt.span, state);
    }
    if let IfDone { call, local, then, otherwise } = &stmt.kind {
        return done(flow, call, *local, (then, otherwise), stmt.span, state);
    }
    if matches!(stmt.kind, Refuse) {
        return refuse(flow, stmt.span, state);
    }
    reads(flow, stmt, &mut state);
    let verb = verb(&stmt.kind);
    visit::stmt_exprs(stmt, &mut |expr| walk_expr(flow, expr, &mut state, verb));
    visit::stmt_states(stmt, &mut |place| {
        if let Some(object) = &place.object {
            walk_expr(flow, object, &mut state, verb);
        }
    });
    match &stmt.kind {
        Let { local, .. } => {
            flow.hold(&mut state, *local);
            born.push(*local);
        }
        AssignLocal { local, .. } => flow.overwrite(&mut state, *local, stmt.span),
        Call(value) if value.ty == Type::Message => flow.thrown_away(value.span),
        Drop { message, .. } | Consume { message, .. } | Accept { message } | Put { message, .. } => {
            flow.give(&mut state, *message, stmt.span, verb)
        }
        Split { message, front, rest, .. } => {
            flow.give(&mut state, *message, stmt.span, verb);
            for local in [*front, *rest] {
                flow.hold(&mut state, local);
                born.push(local);
            }
        }
        Pass => {
            for local in flow.event {
                flow.give(&mut state, *local, stmt.span, verb);
            }
        }
        Return { .. } => return leave(flow, stmt.span, state),
        _ => return branches(flow, stmt, state),
    }
    state
}

/// A path ends: the kept messages must be held, and no others.
fn leave(flow: &mut Flow, span: Span, mut state: State) -> State {
    flow.kept.iter().for_each(|local| flow.read(&mut state, *local, span));
    let all = (0..flow.locals.len() as u32).map(LocalId);
    let all: Vec<_> = all.filter(|local| !flow.kept.contains(local)).collect();
    flow.at_end(&state, &all, span, "it is still held on the path that ends here");
    None
}

/// Checks the messages that a statement reads or changes in place.
fn reads(flow: &mut Flow, stmt: &Stmt, state: &mut State) {
    use StmtKind::*;
    if let Trim { message, .. }
    | Skip { message, .. }
    | Join { message, .. }
    | Store { message, .. }
    | SetAttribute { message, .. } = &stmt.kind
    {
        flow.read(state, *message, stmt.span);
    }
}

fn branches(flow: &mut Flow, stmt: &Stmt, state: State) -> State {
    use StmtKind::*;
    match &stmt.kind {
        If { condition, then, otherwise, .. } => {
            let span = condition.span;
            fork(flow, state, &[(then, span, "when this is true"), (otherwise, span, "when this is false")])
        }
        IfFound { then, otherwise, .. } | IfObject { then, otherwise, .. } => {
            let span = head(stmt, then);
            fork(flow, state, &[(then, span, "when it is found"), (otherwise, span, "when it is not found")])
        }
        IfListener { then, otherwise, .. } => {
            let span = head(stmt, then);
            fork(flow, state, &[(then, span, "when somebody listens"), (otherwise, span, "when nobody listens")])
        }
        Begin { message, otherwise, .. } => {
            let mut with = state.clone();
            flow.give(&mut with, *message, stmt.span, "accepted");
            let without = walk_block(flow, otherwise, state);
            let span = otherwise.first().map_or(stmt.span, |stmt| stmt.span);
            flow.join(vec![
                Branch { state: with, span: stmt.span, text: "when there is room" },
                Branch { state: without, span, text: "when there is no room" },
            ])
        }
        IfTaken { then, otherwise, local, .. } => taken(flow, stmt, *local, (then, otherwise), state),
        Match { cases, otherwise, places, .. } => {
            let blocks = cases.iter().map(|(_, block)| block).chain([otherwise]).zip(places);
            let place = |block: &Vec<Stmt>, place: &Span| block.first().map_or(*place, |stmt| stmt.span);
            let arms: Vec<_> = blocks.map(|(block, at)| (block, place(block, at), "in this case")).collect();
            fork(flow, state, &arms)
        }
        While { body, .. } | For { body, .. } | ForObjects { body, .. } => repeated(flow, body, state),
        Take { otherwise, .. } | Insert { otherwise, .. } | FindOrNew { otherwise, .. } => {
            let without = walk_block(flow, otherwise, state.clone());
            let span = otherwise.first().map_or(stmt.span, |stmt| stmt.span);
            flow.join(vec![
                Branch { state, span: stmt.span, text: "when there is room" },
                Branch { state: without, span, text: "when there is no room" },
            ])
        }
        // [`walk`] has checked these.
        Let { .. } | AssignLocal { .. } | Call(_) | Drop { .. } | Consume { .. } | Accept { .. } | Put { .. } => state,
        Split { .. } | Pass | Return { .. } | IfDone { .. } | Later { .. } | Refuse => state,
        // Statements without blocks.
        Assign { .. } | AssignElement { .. } | Emit(_) | Start { .. } | Stop { .. } | Give { .. } => state,
        Count { .. } | Remove { .. } | End { .. } | Again | Renew => state,
        Trim { .. } | Skip { .. } | Join { .. } | Store { .. } | SetAttribute { .. } => state,
    }
}

/// Takes from a place that may hold a message: if it does, the block has the message and must give it away.
fn taken(flow: &mut Flow, stmt: &Stmt, local: LocalId, (then, otherwise): (&[Stmt], &[Stmt]), state: State) -> State {
    let mut with = state.clone();
    flow.hold(&mut with, local);
    let mut with = walk_block(flow, then, with);
    let end = then.last().map_or(stmt.span, |stmt| stmt.span);
    flow.at_end(&with, &[local], end, "this is the end of the block that knows it");
    if let Some(slots) = &mut with {
        slots[local.index()] = Slot::Absent;
    }
    let without = walk_block(flow, otherwise, state);
    let span = head(stmt, then);
    flow.join(vec![
        Branch { state: with, span, text: "when there is one" },
        Branch { state: without, span, text: "when there is none" },
    ])
}

fn fork(flow: &mut Flow, state: State, branches: &[(&Vec<Stmt>, Span, &'static str)]) -> State {
    let ends = branches
        .iter()
        .map(|&(block, span, text)| Branch { state: walk_block(flow, block, state.clone()), span, text })
        .collect();
    flow.join(ends)
}

/// A loop must not give away a message from before it: the next round would not have it.
fn repeated(flow: &mut Flow, body: &[Stmt], state: State) -> State {
    let after = walk_block(flow, body, state.clone());
    let (Some(before), Some(after)) = (&state, after) else { return state };
    for (index, (old, new)) in before.iter().zip(&after).enumerate() {
        let local = LocalId(index as u32);
        let (Slot::Held, Slot::Given(gone) | Slot::Mixed { given: gone, .. }) = (old, new) else { continue };
        let name = flow.name(local).to_string();
        let text = format!("`{name}` is {} in a loop: the next round has none", gone.verb);
        let diagnostic = Diagnostic::error(codes::GIVEN_IN_LOOP, text)
            .at(gone.span, format!("{} here, in every round", gone.verb))
            .label(flow.place(local), "comes from here, before the loop")
            .help(match gone.verb {
                "split" => format!("give the name back to what is left: `{name} = rest` at the end of the round, and send `{name}` behind the loop"),
                _ => format!("give away `{name}.share()` in the loop and `{name}` behind it, or leave with `return`"),
            });
        // What is left of a split then goes back to the name; that nothing gives it away is a consequence.
        let left = rest_of(body, local).map(|rest| lost::within(flow.place(rest), "what is left"));
        flow.report(local, left.into_iter().fold(diagnostic, Diagnostic::loses));
    }
    state
}

/// What is left of a message that is split in a block, or in a nested one.
fn rest_of(body: &[Stmt], of: LocalId) -> Option<LocalId> {
    let mut found = None;
    visit::walk(body, &mut |met| {
        if let visit::Met::Stmt(Stmt { kind: StmtKind::Split { message, rest, .. }, .. }) = met {
            if *message == of {
                found = Some(*rest);
            }
        }
    });
    found
}

fn later(flow: &mut Flow, args: &[Expr], otherwise: &[Stmt], span: Span, state: State) -> State {
    let without = walk_block(flow, otherwise, state.clone());
    let mut with = state;
    args.iter().for_each(|arg| walk_expr(flow, arg, &mut with, "kept for later"));
    let elsewhere = otherwise.first().map_or(span, |stmt| stmt.span);
    if otherwise.is_empty() {
        return with;
    }
    flow.join(vec![
        Branch { state: with, span, text: "when there is room" },
        Branch { state: without, span: elsewhere, text: "when there is no room" },
    ])
}

/// A call that may refuse: on refusal its messages are still held.
fn done(
    flow: &mut Flow,
    call: &Expr,
    local: Option<LocalId>,
    (then, otherwise): (&[Stmt], &[Stmt]),
    span: Span,
    state: State,
) -> State {
    let without = walk_block(flow, otherwise, state.clone());
    let mut with = state;
    walk_expr(flow, call, &mut with, "given to a function");
    if let Some(local) = local {
        flow.hold(&mut with, local);
    }
    let mut with = walk_block(flow, then, with);
    if let Some(local) = local {
        let end = then.last().map_or(span, |stmt| stmt.span);
        flow.at_end(&with, &[local], end, "this is the end of the block that knows it");
        if let Some(slots) = &mut with {
            slots[local.index()] = Slot::Absent;
        }
    }
    let elsewhere = otherwise.first().map_or(span, |stmt| stmt.span);
    flow.join(vec![
        Branch { state: with, span, text: "when it is done" },
        Branch { state: without, span: elsewhere, text: "when it is refused" },
    ])
}

/// At `refuse`, all messages that were passed in must be held, to be given back, and no others.
fn refuse(flow: &mut Flow, span: Span, mut state: State) -> State {
    for local in flow.event {
        flow.read(&mut state, *local, span);
    }
    let others: Vec<LocalId> =
        (0..flow.locals.len() as u32).map(LocalId).filter(|local| !flow.event.contains(local)).collect();
    flow.at_end(&state, &others, span, "it is still held where this refuses");
    None
}

fn walk_expr(flow: &mut Flow, expr: &Expr, state: &mut State, verb: &'static str) {
    match &expr.kind {
        ExprKind::Give(local) => flow.give(state, *local, expr.span, verb),
        ExprKind::Share(local) | ExprKind::MessageSize(local) | ExprKind::Sum16(local) => {
            flow.read(state, *local, expr.span)
        }
        ExprKind::Received { message, .. }
        | ExprKind::Attribute { message, .. }
        | ExprKind::Native { message: Some(message), .. }
        | ExprKind::Load { message, .. } => flow.read(state, *message, expr.span),
        ExprKind::If { condition, then, otherwise } => {
            walk_expr(flow, condition, state, verb);
            let (mut yes, mut no) = (state.clone(), state.clone());
            walk_expr(flow, then, &mut yes, verb);
            walk_expr(flow, otherwise, &mut no, verb);
            let branch = |state, expr: &Expr, text| Branch { state, span: expr.span, text };
            *state = flow.join(vec![branch(yes, then, "with this value"), branch(no, otherwise, "with this value")]);
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
    visit::expr_children(expr, &mut |child| walk_expr(flow, child, state, verb));
}

/// The span of an `if let` up to its block.
fn head(stmt: &Stmt, then: &[Stmt]) -> Span {
    match then.first() {
        Some(first) if first.span.file == stmt.span.file && first.span.start > stmt.span.start => {
            Span::new(stmt.span.file, stmt.span.start, first.span.start.min(stmt.span.end).min(stmt.span.start + 6))
        }
        _ => stmt.span,
    }
}

/// The word for what a statement does with a message that it gives away.
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
