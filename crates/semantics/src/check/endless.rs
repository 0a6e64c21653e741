//! Warnings: containers and classes that a layer fills and never empties.
//!
//! Keeps: a layer is judged by its own text; where that does not decide, nothing is reported.

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, Span};

use crate::codes;
use crate::constants;
use crate::program::*;
use crate::types;
use crate::visit::{self, Met};

/// Checks all layers of a program without errors.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for layer in &program.layers {
        objects(program, layer, out);
        puts(layer, out);
    }
}

/// Classes whose objects are made and never ended, though there may be more keys than room.
fn objects(program: &Program, layer: &Layer, out: &mut Vec<Diagnostic>) {
    for (at, class) in layer.objects.iter().enumerate() {
        let id = ObjectId(at as u32);
        if class.evict_oldest
            || class.owner != ScopeKind::Entity
            || class.name.is_meant()
            || has_room_for_all(program, class)
            || ends(layer, id)
        {
            continue;
        }
        let Some(made) = made(layer, id) else { continue };
        let name = &class.name.text;
        out.push(
            Diagnostic::warning(codes::NEVER_ENDS, format!("objects of `{name}` are made, and none ever ends"))
                .at(class.name.span, "full for good, once there are so many")
                .label(made, "made here")
                .help("end what is done with: `end e`, or a timer in the object, `on expiry over { end }`")
                .help("or let the oldest make room: `capacity … evict oldest`")
                .help(format!("if they are to stay, call the class `_{name}`")),
        );
    }
}

/// Where objects of a class are made for keys from packets: the sender then decides how many there are.
fn made(layer: &Layer, id: ObjectId) -> Option<Span> {
    let in_handler = |handler: &Handler| {
        let said = said_by_others(&handler.event).into_iter().collect();
        made_in(layer, id, &handler.body, said, &mut BTreeSet::new())
    };
    layer.handlers.iter().find_map(in_handler)
}

/// The same in a body some of whose locals are `said` by the other end: also by what is made of these, and in functions that are
/// given one. `called`: the functions that were followed, and with which parameters.
fn made_in(
    layer: &Layer,
    id: ObjectId,
    body: &[Stmt],
    mut said: BTreeSet<LocalId>,
    called: &mut BTreeSet<(u32, Vec<bool>)>,
) -> Option<Span> {
    let mut found = None;
    visit::walk(body, &mut |met| match met {
        Met::Stmt(Stmt { kind: StmtKind::Let { local, value } | StmtKind::AssignLocal { local, value }, .. })
            if is_said(value, &said) =>
        {
            said.insert(*local);
        }
        Met::Stmt(Stmt { kind: StmtKind::FindOrNew { class, key, .. }, span })
            if *class == id && key.iter().any(|part| is_said(part, &said)) =>
        {
            found = found.or(Some(*span));
        }
        Met::Expr(Expr { kind: ExprKind::Let { local, value, .. }, .. }) if is_said(value, &said) => {
            said.insert(*local);
        }
        Met::Expr(Expr {
            kind: ExprKind::CallOwn { function, args } | ExprKind::CallOn { function, args, .. },
            ..
        }) => {
            let given: Vec<bool> = args.iter().map(|arg| is_said(arg, &said)).collect();
            let Some(callee) = layer.functions.get(*function as usize) else { return };
            if found.is_some() || !given.contains(&true) || !called.insert((*function, given.clone())) {
                return;
            }
            let params = callee.params.iter().zip(given).filter(|(_, is_given)| *is_given);
            let inner = params.map(|(param, _)| param.local).collect();
            found = made_in(layer, id, &callee.body, inner, called);
        }
        _ => {}
    });
    found
}

/// Whether a value is made of what the other end says; what follows only from a comparison with it is not.
fn is_said(value: &Expr, said: &BTreeSet<LocalId>) -> bool {
    match &value.kind {
        ExprKind::If { then, otherwise, .. } => is_said(then, said) || is_said(otherwise, said),
        _ if value.ty == Type::Bool => false,
        _ => visit::any_expr(value, |inner| matches!(inner.kind, ExprKind::Local(local) if said.contains(&local))),
    }
}

/// The locals in a handler's head whose values come from the other end.
fn said_by_others(event: &Event) -> Vec<LocalId> {
    match event {
        Event::Deliver { fields, flow, .. } | Event::Arrives { fields, flow, .. } => {
            fields.iter().map(|(_, local)| *local).chain(*flow).collect()
        }
        Event::FailedQuoting { flow, .. } => flow.iter().copied().collect(),
        _ => Vec::new(),
    }
}

/// Whether some code of the layer ends an object of the class; in a function, the current object may be of any class.
fn ends(layer: &Layer, id: ObjectId) -> bool {
    let in_body = |body: &[Stmt], at_hand: bool| {
        visit::any(body, |met| {
            let Met::Stmt(Stmt { kind: StmtKind::End { object }, .. }) = met else { return false };
            object.as_ref().map_or(at_hand, |object| object.ty == Type::Object(id))
        })
    };
    let own = |handler: &Handler| in_body(&handler.body, handler.scope == ScopeKind::Object(id));
    layer.handlers.iter().any(own) || layer.functions.iter().any(|function| in_body(&function.body, true))
}

/// Whether there are no more keys than objects.
fn has_room_for_all(program: &Program, class: &ObjectClass) -> bool {
    let widths = class.keys.iter().map(|key| types::width(program, key.ty).map(u32::from));
    let Some(bits) = widths.sum::<Option<u32>>().filter(|bits| *bits <= 16) else { return false };
    // A capacity that only the stack knows may be large enough.
    let capacity = constants::eval_with(program, &[], &class.capacity).ok().and_then(|value| value.scalar());
    capacity.is_none_or(|capacity| capacity >= 1 << bits)
}

/// Reports a message put into a place that a handler fills repeatedly, if no code checks whether the place is empty.
fn puts(layer: &Layer, out: &mut Vec<Diagnostic>) {
    let emptied = emptied_at_rest(layer);
    for handler in layer.handlers.iter().filter(|handler| comes_again(layer, &handler.event)) {
        let looked = looked_at(layer, &handler.body);
        for stmt in unguarded(layer, &handler.body) {
            let StmtKind::Put { messages, index, .. } = &stmt.kind else { continue };
            let of = messages.place();
            let fixed = matches!(index.kind, ExprKind::Number(_));
            let Some(member) = layer.members(of.0).and_then(|members| members.get(of.1 as usize)) else { continue };
            if !fixed || looked.contains(&of) || emptied.contains(&of) || member.name.is_meant() {
                continue;
            }
            let name = member.name.plain();
            out.push(
                Diagnostic::warning(
                    codes::MAY_BE_FULL,
                    format!("`{name}` may hold a message when this one is put into it"),
                )
                .at(stmt.span, "nothing here has looked whether the place is empty")
                .label(member.name.span, "the places")
                .note("of two messages in one place one is lost, and `misuse` is reported")
                .help(format!("take out what is there: `if let old = {name}.take(0) {{ drop old: overtaken }}`"))
                .help(format!("or ask: `if {name}.holds(0) {{ drop msg: full  return }}`")),
            );
        }
    }
}

/// Whether an event comes more than once to the same object, and nothing in the layer's head prevents it.
fn comes_again(layer: &Layer, event: &Event) -> bool {
    match event {
        Event::Send { .. } => layer.limit_send.is_none() && layer.limit_octets.is_none(),
        Event::Deliver { .. } | Event::Arrives { .. } | Event::Service { .. } => true,
        _ => false,
    }
}

/// Places that are emptied when nothing else is to do: they are empty when the next message comes.
fn emptied_at_rest(layer: &Layer) -> BTreeSet<StateAt> {
    let settles = layer.handlers.iter().filter(|handler| matches!(handler.event, Event::Settle { .. }));
    settles.flat_map(|handler| looked_at(layer, &handler.body)).collect()
}

/// Places that the body, or a function that it calls, takes from or tests.
fn looked_at(layer: &Layer, body: &[Stmt]) -> BTreeSet<StateAt> {
    let mut found = BTreeSet::new();
    let mut calls = BTreeSet::new();
    look(layer, body, &mut found, &mut calls);
    found
}

fn look(layer: &Layer, body: &[Stmt], found: &mut BTreeSet<StateAt>, calls: &mut BTreeSet<u32>) {
    visit::walk(body, &mut |met| match met {
        Met::Stmt(Stmt { kind: StmtKind::IfTaken { messages, .. }, .. }) => _ = found.insert(messages.place()),
        Met::Expr(Expr { kind: ExprKind::Holds { messages, .. }, .. }) => _ = found.insert(messages.place()),
        Met::Expr(expr) => {
            let called = visit::own_call(expr).filter(|at| calls.insert(*at));
            if let Some(function) = called.and_then(|at| layer.functions.get(at as usize)) {
                look(layer, &function.body, found, calls);
            }
        }
        _ => {}
    });
}

/// The statements of a body that run in any state of the layer: up to the first one that tests state and may leave.
/// Finding or making an object, or taking from a quota that is larger than these places, is such a test.
fn unguarded<'a>(layer: &Layer, body: &'a [Stmt]) -> Vec<&'a Stmt> {
    let guards = |stmt: &&Stmt| match &stmt.kind {
        StmtKind::FindOrNew { .. } => false,
        StmtKind::Take { quota, .. } => is_one(layer, quota),
        StmtKind::Let { .. } | StmtKind::AssignLocal { .. } | StmtKind::Assign { .. } | StmtKind::Put { .. } => false,
        StmtKind::Start { .. } | StmtKind::Stop { .. } | StmtKind::Count { .. } | StmtKind::Emit(_) => false,
        _ => true,
    };
    let up_to = body.iter().position(|stmt| guards(&stmt)).unwrap_or(body.len());
    body[..up_to].iter().collect()
}

/// Whether a quota may have only one unit.
fn is_one(layer: &Layer, quota: &StateRef) -> bool {
    let member = layer.members(quota.scope).and_then(|members| members.get(quota.member as usize));
    match member.map(|member| &member.kind) {
        Some(MemberKind::Quota { amount: Expr { kind: ExprKind::Number(amount), .. } }) => *amount < 2,
        _ => true,
    }
}
