//! Warnings: units of a quota that are not given back, messages that are stored without a unit, and containers that are
//! only filled.
//!
//! Keeps: a layer is judged by its own text, handler by handler, each with the functions that it calls; what a
//! container does counts at the call. A quota from which nothing is taken is reported by `quotas`.

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::{Diagnostic, Span};

use crate::codes;
use crate::program::*;
use crate::visit::{self, Met};

/// Checks all layers of a program without errors.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for layer in &program.layers {
        let deeds: Vec<(&Handler, Deeds)> =
            layer.handlers.iter().map(|handler| (handler, Deeds::of(layer, handler))).collect();
        let mut found = Vec::new();
        for (scope, members) in layer.all_members() {
            for (index, member) in members.iter().enumerate() {
                if matches!(member.kind, MemberKind::Quota { .. }) && !member.name.is_meant() {
                    Quota { layer, at: (scope, index as u32), name: &member.name, deeds: &deeds }.check(&mut found);
                }
            }
        }
        found.extend(layer.containers.iter().filter_map(|container| only_fills(layer, container, &deeds)));
        for one in found {
            if !out.contains(&one) {
                out.push(one);
            }
        }
    }
}

/// What a handler does with quotas and places for messages, and where.
#[derive(Default)]
pub(super) struct Deeds {
    takes: BTreeMap<StateAt, Span>,
    pub(super) gives: BTreeMap<StateAt, Span>,
    /// Quotas to which it gives back a counted amount.
    pub(super) gives_counted: BTreeSet<StateAt>,
    puts: BTreeMap<StateAt, Span>,
    pub(super) empties: BTreeMap<StateAt, Span>,
    pub(super) calls: BTreeSet<u32>,
    /// Whether it ends objects, or removes entries of a map.
    pub(super) ends: bool,
}

impl Deeds {
    /// Where it puts a message into a place.
    pub(super) fn put(&self) -> Option<Span> {
        self.puts.values().next().copied()
    }

    /// What a handler does, including the functions that it calls.
    pub(super) fn of(layer: &Layer, handler: &Handler) -> Deeds {
        let mut deeds = Deeds::default();
        deeds.block(layer, &handler.body, None);
        deeds
    }

    /// `called`: where the layer's text calls the container's function whose code this is.
    pub(super) fn block(&mut self, layer: &Layer, block: &[Stmt], called: Option<Span>) {
        visit::walk(block, &mut |met| {
            let expr = match met {
                Met::Stmt(stmt) => {
                    let span = called.unwrap_or(stmt.span);
                    match &stmt.kind {
                        StmtKind::Take { quota, .. } => _ = self.takes.entry(quota.place()).or_insert(span),
                        StmtKind::Give { quota, amount } => {
                            self.gives.entry(quota.place()).or_insert(span);
                            if !matches!(amount.kind, ExprKind::Number(_)) {
                                self.gives_counted.insert(quota.place());
                            }
                        }
                        StmtKind::Put { messages, .. } => _ = self.puts.entry(messages.place()).or_insert(span),
                        StmtKind::IfTaken { messages, share: false, .. } => {
                            self.empties.entry(messages.place()).or_insert(called.unwrap_or(messages.span));
                        }
                        StmtKind::End { .. } | StmtKind::Remove { .. } => self.ends = true,
                        _ => {}
                    }
                    return;
                }
                Met::Expr(expr) => expr,
                Met::State(_) => return,
            };
            let Some(function) = visit::own_call(expr) else { return };
            let contained = layer.containers.iter().any(|known| known.functions.iter().any(|(_, at)| *at == function));
            if self.calls.insert(function) {
                let called = called.or(contained.then_some(expr.span));
                self.block(layer, layer.functions.get(function as usize).map_or(&[], |f| &f.body), called);
            }
        });
    }
}

/// A quota, and what all handlers of its layer do.
struct Quota<'a> {
    layer: &'a Layer,
    at: StateAt,
    name: &'a Name,
    deeds: &'a [(&'a Handler, Deeds)],
}

impl Quota<'_> {
    fn check(&self, out: &mut Vec<Diagnostic>) {
        if !self.deeds.iter().any(|(_, deeds)| deeds.takes.contains_key(&self.at)) {
            return;
        }
        let places = self.places();
        if places.is_empty() && !self.deeds.iter().any(|(_, deeds)| deeds.gives.contains_key(&self.at)) {
            // A quota of a session or object may count down until its end.
            out.extend((self.at.0 == ScopeKind::Entity).then(|| self.never_given()));
        }
        if self.deeds.iter().any(|(_, deeds)| deeds.gives_counted.contains(&self.at)) {
            return;
        }
        let arrives = self.layer.handlers.iter().any(|handler| matches!(handler.event, Event::Arrives { .. }));
        for (handler, deeds) in self.deeds {
            let of = |all: &BTreeMap<StateAt, Span>| places.iter().find_map(|place| all.get(place).copied());
            let (put, emptied) = (of(&deeds.puts), of(&deeds.empties));
            let (takes, gives) = (deeds.takes.contains_key(&self.at), deeds.gives.contains_key(&self.at));
            match (put, emptied) {
                (None, Some(emptied)) if !gives => out.push(self.kept(emptied)),
                // The unit may have been taken where the message was queued by `later`, or where it arrived.
                (Some(put), None) if !takes && !comes_later(handler, arrives) => out.push(self.untaken(put)),
                _ => {}
            }
            if takes && put.is_none() {
                out.extend(self.left_behind(deeds));
            }
        }
    }

    /// The places for messages with this quota.
    fn places(&self) -> Vec<StateAt> {
        let members = |(scope, members): (ScopeKind, &[Member])| -> Vec<StateAt> {
            let behind = |member: &Member| match &member.kind {
                MemberKind::Messages { quota: Some(quota), .. } => quota.place() == self.at,
                _ => false,
            };
            let places = members.iter().enumerate().filter(|(_, member)| behind(member));
            places.map(|(index, _)| (scope, index as u32)).collect()
        };
        self.layer.all_members().flat_map(members).collect()
    }

    fn never_given(&self) -> Diagnostic {
        let name = self.name.plain();
        let taken = self.deeds.iter().find_map(|(_, deeds)| deeds.takes.get(&self.at).copied());
        let found = Diagnostic::warning(codes::UNGIVEN, format!("nothing gives back to the quota `{name}`"))
            .at(self.name.span, "empty for good, once all of it is taken");
        let found = match taken {
            Some(taken) => found.label(taken, "taken here"),
            None => found,
        };
        found
            .help(format!("write `give {name}` where what it was taken for is over"))
            .help(format!("if that is meant, call it `_{name}`"))
    }

    fn kept(&self, emptied: Span) -> Diagnostic {
        let name = self.name.plain();
        Diagnostic::warning(codes::UNGIVEN, format!("a message is taken out here, and its unit of `{name}` is not given back"))
            .at(emptied, format!("and no `give {name}` in this handler"))
            .label(self.name.span, "the quota of these places")
            .note("`from` gives back for a message that is still held when its object ends; who takes one out gives its unit back, or puts it into another place")
            .help(format!("write `give {name}` where the message is taken out"))
    }

    fn untaken(&self, put: Span) -> Diagnostic {
        let name = self.name.plain();
        Diagnostic::warning(codes::UNGIVEN, format!("a message goes in here without a unit of `{name}`"))
            .at(put, format!("and no `take {name}` in this handler"))
            .label(self.name.span, "the quota of these places: it gets one back for each message")
            .help(format!("write `take {name} or {{ drop msg: full  return }}` in front"))
    }

    /// Reports places that end before the quota does, and are not declared to belong to it.
    fn left_behind(&self, deeds: &Deeds) -> Option<Diagnostic> {
        let (scope, member, put) = deeds.puts.iter().find_map(|((scope, index), put)| {
            let member = self.layer.members(*scope)?.get(*index as usize)?;
            let free = matches!(member.kind, MemberKind::Messages { quota: None, .. }) && self.outlives(*scope);
            free.then_some((*scope, member, *put))
        })?;
        let name = self.name.plain();
        // For what a container holds, the layer's declaration is that of the outermost container.
        let members = self.layer.members(scope)?;
        let around =
            |outer: &&Member| matches!(outer.kind, MemberKind::Container(_)) && is_within(&member.name, &outer.name);
        let declared = members.iter().find(around).unwrap_or(member);
        let ends = match scope {
            ScopeKind::Object(_) => "object",
            ScopeKind::Point => "point",
            ScopeKind::View => "view",
            _ => "session",
        };
        let found = Diagnostic::warning(codes::UNGIVEN, format!("units of `{name}` are lost with the {ends}"))
            .at(declared.name.span, format!("what is still held here when the {ends} ends gives nothing back"))
            .label(put, "a message goes in here, for which a unit was taken")
            .label(self.name.span, "the quota");
        Some(found.help(format!("say whose units these are: write `from {name}` behind `{}`", declared.name.plain())))
    }

    /// Whether the contents of a scope may end while the quota lives on.
    fn outlives(&self, scope: ScopeKind) -> bool {
        let owned = |scope: ScopeKind| match scope {
            ScopeKind::Object(id) => {
                self.layer.objects.get(id.index()).is_some_and(|class| class.owner != ScopeKind::Entity)
            }
            _ => false,
        };
        match self.at.0 {
            ScopeKind::Entity => scope != ScopeKind::Entity,
            ScopeKind::Session => owned(scope),
            _ => false,
        }
    }
}

/// Whether what a handler stores may have its unit from an earlier handler.
fn comes_later(handler: &Handler, arrives: bool) -> bool {
    match &handler.event {
        Event::Custom { from: Origin::Own, .. } => true,
        Event::Deliver { .. } => arrives,
        _ => false,
    }
}

/// Reports a container that the layer puts messages into and never takes from, though it has functions for that.
fn only_fills(layer: &Layer, container: &Container, deeds: &[(&Handler, Deeds)]) -> Option<Diagnostic> {
    let members = layer.members(container.scope)?;
    let member = members.iter().find(|member| is_declared(layer, container, member))?;
    let name = member.name.plain();
    if member.name.is_meant() || has_container_around(layer, container.scope, &member.name) {
        return None;
    }
    let within =
        |other: &Member| matches!(other.kind, MemberKind::Messages { .. }) && is_within(&other.name, &member.name);
    let places = members.iter().enumerate().filter(|(_, other)| within(other));
    let places: Vec<StateAt> = places.map(|(index, _)| (container.scope, index as u32)).collect();
    let filled = deeds.iter().find_map(|(_, deeds)| places.iter().find_map(|place| deeds.puts.get(place).copied()))?;
    let empties = |function: u32| {
        let Some(function) = layer.functions.get(function as usize) else { return false };
        let mut inner = Deeds::default();
        inner.block(layer, &function.body, Some(filled));
        // A function that takes one out and puts it back, changed, gives it only if it is the result.
        let stays = function.result != Type::Message && places.iter().any(|place| inner.puts.contains_key(place));
        !stays && places.iter().any(|place| inner.empties.contains_key(place))
    };
    let emptying: Vec<&(String, u32)> = container.functions.iter().filter(|(_, at)| empties(*at)).collect();
    let called = |at: &u32| deeds.iter().any(|(_, deeds)| deeds.calls.contains(at));
    if emptying.is_empty() || emptying.iter().any(|(_, at)| called(at)) {
        return None;
    }
    let shown: Vec<String> = emptying.iter().map(|(function, _)| format!("`{name}.{function}(…)`")).collect();
    let text = format!("messages go into `{name}`, and nothing takes them out");
    let found = Diagnostic::warning(codes::ONLY_FILLS, text)
        .at(member.name.span, format!("a `{}` that only fills", container.of))
        .label(filled, "a message goes in here")
        .note("when it is full, or its quota is used up, it refuses all that comes")
        .help(format!("take out what is done with: {}", shown.join(", ")))
        .help(format!("if it is to hold what it has to the end, call it `_{name}`"));
    Some(found)
}

/// Whether a member is the declaration of a container.
fn is_declared(layer: &Layer, container: &Container, member: &Member) -> bool {
    let MemberKind::Container(at) = member.kind else { return false };
    layer.containers.get(at as usize).is_some_and(|known| std::ptr::eq(known, container))
}

/// Whether a container is declared within another.
fn has_container_around(layer: &Layer, scope: ScopeKind, name: &Name) -> bool {
    let around = |outer: &Member| matches!(outer.kind, MemberKind::Container(_)) && is_within(name, &outer.name);
    layer.members(scope).unwrap_or_default().iter().any(around)
}

/// Whether the first name is inside the second: `waiting.items` and `waiting`.
pub(super) fn is_within(inner: &Name, outer: &Name) -> bool {
    inner.text.strip_prefix(outer.text.as_str()).is_some_and(|rest| rest.starts_with('.'))
}
