//! Errors: values of a view that are kept beyond it, and what is sent when a view has ended.
//!
//! Keeps: a layer is judged by its own text. A rank belongs to one view: in the next view it would be another member.

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::{Diagnostic, Span};

use crate::check::units::Deeds;
use crate::program::*;
use crate::visit::{self, Met};
use crate::{codes, types};

/// Checks all layers.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for layer in &program.layers {
        let mut found = Vec::new();
        kept(program, layer, &mut found);
        kept_with_messages(program, layer, &mut found);
        waiting(program, layer, &mut found);
        said(program, layer, &mut found);
        behind_the_end(program, layer, &mut found);
        of_old_views(program, layer, &mut found);
        sent_at_the_end(program, layer, &mut found);
        unlimited(layer, &mut found);
        for one in found {
            // A layer that is instantiated again with other containers gives the same reports.
            if !out.contains(&one) {
                out.push(one);
            }
        }
    }
}

/// Whose state it is, if that outlives a view.
fn outlives(layer: &Layer, scope: ScopeKind) -> Option<&'static str> {
    match scope {
        ScopeKind::View => None,
        ScopeKind::Object(id) => match layer.objects.get(id.index())?.owner {
            ScopeKind::View => None,
            _ => Some("objects that outlive it"),
        },
        ScopeKind::Entity => Some("the entity"),
        ScopeKind::Point => Some("points"),
        ScopeKind::Session | ScopeKind::SessionBelow => Some("sessions"),
    }
}

/// The name of the container that has this member, the outermost one.
fn container_of<'a>(members: &'a [Member], name: &Name) -> Option<&'a Name> {
    let (container, _) = name.text.split_once('.')?;
    let is_it = |member: &&Member| matches!(member.kind, MemberKind::Container(_)) && member.name.text == container;
    members.iter().find(is_it).map(|member| &member.name)
}

/// Reports state that outlives a view.
fn kept(program: &Program, layer: &Layer, out: &mut Vec<Diagnostic>) {
    for (scope, members) in layer.all_members() {
        let Some(whose) = outlives(layer, scope) else { continue };
        for member in members {
            let holds = match &member.kind {
                MemberKind::Var { ty, .. } | MemberKind::Array { ty, .. } => types::has_ranks(program, *ty),
                MemberKind::Map { key, value, .. } => key.iter().chain(value).any(|ty| types::has_ranks(program, *ty)),
                _ => false,
            };
            if holds {
                // What a container keeps is named by the container, which the layer declares.
                let name = container_of(members, &member.name).unwrap_or(&member.name);
                let text = format!("`{}` keeps ranks beyond their view: it is state of {whose}", name.plain());
                out.push(
                    Diagnostic::error(codes::RANK_KEPT, text)
                        .at(name.span, "in the next view another member has this rank")
                        .help("declare it in `view { … }`, or in objects `owned by view`")
                        .help("who somebody is in all views is `view.members[r]`: keep that"),
                );
            }
        }
    }
    let fields = layer.key.iter().flat_map(|key| &key.fields).chain(&layer.address).chain(&layer.below_address);
    for field in fields.filter(|field| types::has_ranks(program, field.ty)) {
        let text = format!("flows outlive a view, and `{}` is a rank of one", field.name.text);
        let diagnostic = Diagnostic::error(codes::RANK_KEPT, text).at(field.name.span, "a part of flows");
        out.push(diagnostic.help("let it be a number, `u8`: `view.rank(n)` says whose it is now"));
    }
}

/// Reports attributes that are ranks where they are read from a message that a layer has taken out of such state: it may have come in
/// another view.
fn kept_with_messages(program: &Program, layer: &Layer, out: &mut Vec<Diagnostic>) {
    if layer.view.is_none() {
        return;
    }
    let takes = |kind: &StmtKind| matches!(kind, StmtKind::IfTaken { messages, .. } if outlives(layer, messages.scope).is_some());
    let gives = |call: &Expr| {
        let of = visit::own_call(call).filter(|_| call.ty == Type::Message);
        of.is_some_and(|function| function_says(layer, function, &takes, &mut BTreeSet::new()))
    };
    let has_taken = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Let { local, value } if gives(value) => Some((*local, value.span)),
        StmtKind::IfDone { call, local, .. } if gives(call) => local.map(|local| (local, call.span)),
        kind @ StmtKind::IfTaken { local, messages, .. } if takes(kind) => Some((*local, messages.span)),
        _ => None,
    };
    for body in bodies(layer) {
        let mut taken = BTreeMap::new();
        visit::walk(body, &mut |met| match met {
            Met::Stmt(stmt) => taken.extend(has_taken(stmt)),
            Met::Expr(Expr { kind: ExprKind::Attribute { message, attribute }, span, .. }) => {
                let attribute = &program.attributes[attribute.index()];
                let Some(place) = taken.get(message).filter(|_| types::has_ranks(program, attribute.ty)) else {
                    return;
                };
                let text = format!("`{}` is a rank, and this message was kept beyond its view", attribute.name.text);
                out.push(
                    Diagnostic::error(codes::RANK_KEPT, text)
                        .at(*span, "in the next view another member has this rank")
                        .label(*place, "taken out of state that outlives a view")
                        .help("keep it in `view { … }`; or keep the member beside the message, `view.members[r]`"),
                );
            }
            _ => {}
        });
    }
}

/// Reports ranks in `later` events: these run in whatever view there is then.
fn waiting(program: &Program, layer: &Layer, out: &mut Vec<Diagnostic>) {
    for body in bodies(layer) {
        visit::walk(body, &mut |met| {
            let Met::Stmt(Stmt { kind: StmtKind::Later { args, .. }, .. }) = met else { return };
            for arg in args.iter().filter(|arg| types::has_ranks(program, arg.ty) && !is_whole_view(layer, arg.ty)) {
                let text = "a rank waits beyond its view: `later` is a reaction of its own";
                out.push(
                    Diagnostic::error(codes::RANK_KEPT, text)
                        .at(arg.span, "another view may have begun when it comes")
                        .help("keep it in `view { … }` until then, or give the member: `view.members[r]`"),
                );
            }
        });
    }
}

/// Whether it is the record of the view itself: it contains its own rank, and waits for the view's beginning.
fn is_whole_view(layer: &Layer, ty: Type) -> bool {
    layer.view.as_ref().is_some_and(|view| ty == Type::Record(view.record.record))
}

/// Ranks in packets are checked on arrival, against the current view.
fn said(program: &Program, layer: &Layer, out: &mut Vec<Diagnostic>) {
    let in_view = layer.view.as_ref().is_some_and(|view| view.by_itself);
    for field in layer.header.iter().flat_map(|header| &header.variants).flat_map(|variant| &variant.fields) {
        let (text, help) = match field.ty {
            Type::Rank if !in_view => (
                "nothing here says which numbers are ranks: this layer's view does not begin by itself",
                "speak a vocabulary with `up all begins view(v: View)`, and have no handler of it; or let it be a `u8`",
            ),
            Type::Record(_) if types::has_ranks(program, field.ty) => (
                "ranks in a vector of a header are looked at by nobody",
                "let the elements be `u8`: `let r = view.rank(v[i]) or { return }`; or send a set, `Ranks`",
            ),
            _ => continue,
        };
        out.push(Diagnostic::error(codes::NO_VIEW, text).at(field.name.span, "whose rank?").help(help));
    }
}

/// Reports messages that a layer sends after it has announced that it sends no more in this view.
fn behind_the_end(program: &Program, layer: &Layer, out: &mut Vec<Diagnostic>) {
    let ends = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Emit(Emission::Custom { name, down: true, .. }) => is_end(program, layer, &name.text),
        _ => false,
    };
    for body in bodies(layer) {
        let mut paths = Paths { layer, ends: &ends, out };
        paths.block(body, None);
    }
}

fn is_end(program: &Program, layer: &Layer, event: &str) -> bool {
    let of = |(id, _): &(VocabularyId, Span)| program.vocabularies.get(id.index());
    let mut all = layer.speaks.iter().filter_map(of).flat_map(|known| &known.down);
    all.any(|known| known.ends && known.name.text == event)
}

struct Paths<'a> {
    layer: &'a Layer,
    ends: &'a dyn Fn(&Stmt) -> bool,
    out: &'a mut Vec<Diagnostic>,
}

impl Paths<'_> {
    /// Where the end was announced on some path to the end of a block; `None` if on no path.
    fn block(&mut self, block: &[Stmt], mut said: Option<Span>) -> Option<Span> {
        for stmt in block {
            if let Some(end) = said.filter(|_| sends(self.layer, stmt)) {
                self.out.push(
                    Diagnostic::error(codes::CAST_AFTER, "this is sent when no more was to be sent in this view")
                        .at(stmt.span, "behind the end")
                        .label(end, "said here: nothing more of this view comes")
                        .help("send it before; or keep it, and send it in the next view"),
                );
            }
            if (self.ends)(stmt) {
                said = said.or(Some(stmt.span));
            }
            let inner: Vec<Option<Span>> =
                visit::stmt_blocks(stmt).into_iter().map(|inner| self.inner(inner, said)).collect();
            said = inner.into_iter().flatten().next().or(said);
        }
        said
    }

    /// The same for a nested block; `None` if no path continues behind it.
    fn inner(&mut self, block: &[Stmt], said: Option<Span>) -> Option<Span> {
        let found = self.block(block, said);
        found.filter(|_| !visit::leaves(block))
    }
}

/// Whether a statement sends down, itself or in a function that it calls, but not in its blocks.
fn sends(layer: &Layer, stmt: &Stmt) -> bool {
    let is_send = |kind: &StmtKind| matches!(kind, StmtKind::Emit(Emission::Send { .. }));
    let mut found = is_send(&stmt.kind);
    visit::stmt_exprs(stmt, &mut |expr| found |= calls(layer, expr, &is_send, &mut BTreeSet::new()));
    found
}

/// Whether an expression calls a function of the layer with such a statement, directly or not.
fn calls(layer: &Layer, expr: &Expr, says: &dyn Fn(&StmtKind) -> bool, seen: &mut BTreeSet<u32>) -> bool {
    let mut called = Vec::new();
    visit::walk_expr(expr, &mut |inner| called.extend(visit::own_call(inner)));
    called.into_iter().any(|function| function_says(layer, function, says, seen))
}

fn function_says(layer: &Layer, function: u32, says: &dyn Fn(&StmtKind) -> bool, seen: &mut BTreeSet<u32>) -> bool {
    if !seen.insert(function) {
        return false;
    }
    let body = layer.functions.get(function as usize).map_or(&[][..], |function| &function.body);
    let mut called = Vec::new();
    let said = visit::any(body, |met| match met {
        Met::Stmt(stmt) => says(&stmt.kind),
        Met::Expr(expr) => {
            called.extend(visit::own_call(expr));
            false
        }
        Met::State(_) => false,
    });
    said || called.into_iter().any(|function| function_says(layer, function, says, seen))
}

/// Reports objects of a view, and ranks in it, that are used after it has ended.
fn of_old_views(program: &Program, layer: &Layer, out: &mut Vec<Diagnostic>) {
    let is_of_view = |ty: Type| match ty {
        Type::Object(id) => layer.objects.get(id.index()).is_some_and(|class| class.owner == ScopeKind::View),
        _ => types::has_ranks(program, ty) && !is_whole_view(layer, ty),
    };
    let handlers = layer.handlers.iter().map(|handler| (&handler.locals, &handler.body));
    let functions = layer.functions.iter().map(|function| (&function.locals, &function.body));
    for (locals, body) in handlers.chain(functions) {
        let of_view: BTreeSet<LocalId> =
            (0..locals.len()).filter(|at| is_of_view(locals[*at].ty)).map(|at| LocalId(at as u32)).collect();
        if !of_view.is_empty() {
            OldViews { layer, of_view, locals, out }.block(body, None);
        }
    }
}

/// A path through a body on which a view may end.
struct OldViews<'a> {
    layer: &'a Layer,
    /// The locals that belong to a view.
    of_view: BTreeSet<LocalId>,
    locals: &'a [Local],
    out: &'a mut Vec<Diagnostic>,
}

/// A view that has ended.
#[derive(Clone)]
struct Ended {
    at: Span,
    /// The locals of that view that were not bound again since.
    before: BTreeSet<LocalId>,
}

impl OldViews<'_> {
    /// What has ended behind a block.
    fn block(&mut self, block: &[Stmt], mut ended: Option<Ended>) -> Option<Ended> {
        for stmt in block {
            if let Some(ended) = &mut ended {
                self.uses(stmt, ended);
            }
            if renews(self.layer, stmt) {
                ended = Some(Ended { at: stmt.span, before: self.of_view.clone() });
            }
            let bound = visit::bound_by(stmt);
            if let Some(ended) = &mut ended {
                ended.before.retain(|local| !bound.contains(local));
            }
            for inner in visit::stmt_blocks(stmt) {
                let mut behind = self.block(inner, ended.clone());
                if let (Some(behind), None, true) = (&mut behind, &ended, is_loop(stmt)) {
                    // What one round has ended is ended in the next.
                    self.uses(stmt, behind);
                    behind.before.retain(|local| !bound.contains(local));
                    self.block(inner, Some(behind.clone()));
                }
                if !visit::leaves(inner) {
                    ended = ended.or(behind);
                }
            }
        }
        ended
    }

    /// Reports a statement's own uses, outside its blocks, of a view that has ended.
    fn uses(&mut self, stmt: &Stmt, ended: &mut Ended) {
        let mut used = None;
        visit::stmt_exprs(stmt, &mut |expr| {
            visit::walk_expr(expr, &mut |inner| {
                // Bound within the expression, and not visible outside.
                if let ExprKind::Let { local, .. } = &inner.kind {
                    ended.before.remove(local);
                }
            });
            note(expr, &ended.before, &mut used);
        });
        visit::stmt_states(stmt, &mut |state| {
            state.object.iter().for_each(|expr| note(expr, &ended.before, &mut used))
        });
        let Some((local, span)) = used else { return };
        ended.before.remove(&local);
        let Local { name, ty, .. } = &self.locals[local.index()];
        let help = match ty {
            Type::Object(_) => "do it before, or look it up again",
            _ => "in the next view another member has this rank: do it before, or keep the member, `view.members[r]`",
        };
        let diagnostic = Diagnostic::error(codes::OLD_VIEW, format!("`{}` is of the view that has ended", name.text))
            .at(span, "used in the next view")
            .label(ended.at, "the view ends here")
            .help(help);
        if !self.out.contains(&diagnostic) {
            self.out.push(diagnostic);
        }
    }
}

fn is_loop(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::While { .. } | StmtKind::For { .. } | StmtKind::ForObjects { .. })
}

/// Whether a statement ends the view, itself or in a function that it calls, but not in its blocks.
fn renews(layer: &Layer, stmt: &Stmt) -> bool {
    let mut found = matches!(stmt.kind, StmtKind::Renew);
    visit::stmt_exprs(stmt, &mut |expr| {
        found |= calls(layer, expr, &|kind| matches!(kind, StmtKind::Renew), &mut BTreeSet::new())
    });
    found
}

fn note(expr: &Expr, old: &BTreeSet<LocalId>, used: &mut Option<(LocalId, Span)>) {
    visit::walk_expr(expr, &mut |inner| {
        if let ExprKind::Local(local) = inner.kind {
            if old.contains(&local) {
                used.get_or_insert((local, inner.span));
            }
        }
    });
}

/// Reports ranks that `on view_end` sends: the layers below are in the next view already, so others look at them there.
fn sent_at_the_end(program: &Program, layer: &Layer, out: &mut Vec<Diagnostic>) {
    let by_itself = layer.view.as_ref().filter(|view| view.by_itself);
    let Some(end) = by_itself.and_then(|view| view.around[0]) else { return };
    let mut waiting = vec![end];
    let mut seen = BTreeSet::new();
    while let Some(function) = waiting.pop() {
        let Some(function) = layer.functions.get(function as usize).filter(|_| seen.insert(function)) else { continue };
        let mut marked = BTreeMap::new();
        visit::walk(&function.body, &mut |met| match met {
            Met::Expr(expr) => waiting.extend(visit::own_call(expr)),
            Met::Stmt(Stmt { kind: StmtKind::SetAttribute { message, value, .. }, .. }) if is_rank(program, value) => {
                marked.insert(*message, value.span);
            }
            Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Send { message, fields, .. }), .. }) => {
                let fields = fields.iter().flat_map(|fields| &fields.values);
                let said = fields.filter(|value| is_rank(program, value)).map(|value| value.span);
                let local = message.as_ref().and_then(|message| match message.kind {
                    ExprKind::Local(local) | ExprKind::Give(local) => Some(local),
                    _ => None,
                });
                for at in said.chain(local.and_then(|local| marked.get(&local).copied())) {
                    out.push(
                        Diagnostic::error(codes::OLD_VIEW, "a rank of the view that has ended is sent in the next one")
                            .at(at, "in the next view another member has this rank")
                            .note("`on view_end` runs in the old view; the layers below are in the next one already")
                            .help("send the member, `view.members[r]`; or send it in `on view_begin`, by a rank that you look up there"),
                    );
                }
            }
            _ => {}
        });
    }
}

/// Whether a value is a rank or set of ranks, or the number of one.
fn is_rank(program: &Program, value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Cast { a, .. } => is_rank(program, a),
        _ => types::has_ranks(program, value.ty),
    }
}

/// A group that keeps messages from above must limit how many it takes: else surplus messages are dropped in the middle
/// of the stack.
fn unlimited(layer: &Layer, out: &mut Vec<Diagnostic>) {
    if !layer.group || layer.limit_send.is_some() || layer.limit_octets.is_some() {
        return;
    }
    for handler in layer.handlers.iter().filter(|handler| matches!(handler.event, Event::Send { .. })) {
        let deeds = Deeds::of(layer, handler);
        let Some(put) = deeds.put() else { continue };
        out.push(
            Diagnostic::error(codes::NO_RESERVE, "what comes from above may be more than there is room for")
                .at(put, "kept here, and dropped where it is full")
                .label(handler.span, "by this handler")
                .help("say how much is taken, so that applications wait: `limit send: waiting.left()`")
                .help("keep some of it for what layers above cast of their own: `… reserve 16`"),
        );
    }
}

fn bodies(layer: &Layer) -> impl Iterator<Item = &Vec<Stmt>> {
    layer.handlers.iter().map(|handler| &handler.body).chain(layer.functions.iter().map(|function| &function.body))
}
