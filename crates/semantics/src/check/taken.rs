//! Warnings: a path through a handler takes a unit of a quota, drops or rejects what the unit is for, and does not give
//! it back.
//!
//! Keeps: only certain cases are reported. A unit counts as used once anything is remembered or emitted: state is set,
//! an object is made, a message is stored. Quotas that are refilled by a clock, not when something leaves, are skipped.
//! So are refusals that cannot happen: room was tested before, or the quota has no more units than there are places.

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::{Diagnostic, Span};

use crate::check::units::{is_within, Deeds};
use crate::program::*;
use crate::visit::{self, Met};
use crate::{codes, types};

/// Checks all layers of a program without errors.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for layer in &program.layers {
        let deeds: Vec<_> = layer.handlers.iter().map(|handler| (handler, Deeds::of(layer, handler))).collect();
        of_layer(layer, &deeds, out);
    }
}

/// Checks one layer, given what each of its handlers does.
fn of_layer(layer: &Layer, deeds: &[(&Handler, Deeds)], out: &mut Vec<Diagnostic>) {
    let quotas: BTreeMap<StateAt, &Name> = kept_for_things(layer, deeds);
    if quotas.is_empty() {
        return;
    }
    for handler in &layer.handlers {
        let mut ways = Ways { layer, quotas: &quotas, is_function: false, given_by_callers: BTreeSet::new(), out };
        let end = ways.block(&handler.body, Some(Way::default()));
        ways.ends(end);
    }
    let mut given = given_where_refused(layer);
    for (index, function) in layer.functions.iter().enumerate() {
        let given_by_callers = given.remove(&(index as u32)).unwrap_or_default();
        let mut ways = Ways { layer, quotas: &quotas, is_function: true, given_by_callers, out };
        ways.block(&function.body, Some(Way::default()));
    }
}

/// The quotas whose units belong to stored things: those of places for messages, or those given back where something
/// leaves.
fn kept_for_things<'a>(layer: &'a Layer, deeds: &[(&Handler, Deeds)]) -> BTreeMap<StateAt, &'a Name> {
    let members = layer
        .all_members()
        .flat_map(|(scope, members)| members.iter().enumerate().map(move |(at, member)| ((scope, at as u32), member)));
    let quotas =
        members.filter(|(_, member)| matches!(member.kind, MemberKind::Quota { .. }) && !member.name.is_meant());
    let is_of_things = |at: &StateAt| {
        let counted = deeds.iter().any(|(_, deeds)| deeds.gives_counted.contains(at));
        let behind = layer.all_members().flat_map(|(_, members)| members).any(|member| match &member.kind {
            MemberKind::Messages { quota: Some(quota), .. } => quota.place() == *at,
            _ => false,
        });
        let given = deeds.iter().filter(|(_, deeds)| deeds.gives.contains_key(at));
        let mut ends = given.map(|(handler, deeds)| {
            !deeds.empties.is_empty() || deeds.ends || matches!(handler.scope, ScopeKind::Object(_))
        });
        !counted && (behind || ends.any(|ends| ends))
    };
    quotas.filter(|(at, _)| is_of_things(at)).map(|(at, member)| (at, &member.name)).collect()
}

/// By function: the quotas that some caller gives back to after it refused.
fn given_where_refused(layer: &Layer) -> BTreeMap<u32, BTreeSet<StateAt>> {
    let mut given: BTreeMap<u32, BTreeSet<StateAt>> = BTreeMap::new();
    visit::walk_layer(layer, &mut |met| {
        let Met::Stmt(Stmt { kind: StmtKind::IfDone { call, otherwise, .. }, .. }) = met else { return };
        if let Some(function) = visit::own_call(call) {
            visit::walk(otherwise, &mut |met| {
                if let Met::Stmt(Stmt { kind: StmtKind::Give { quota, .. }, .. }) = met {
                    given.entry(function).or_default().insert(quota.place());
                }
            });
        }
    });
    given
}

/// What is known on one path.
#[derive(Clone, Default)]
struct Way {
    /// Units that were taken and not used yet: where, and how many if the text says so.
    taken: BTreeMap<StateAt, (Span, Option<u64>)>,
    /// Something was stored or taken out before: units that are taken then may be for that.
    busy: bool,
    /// Containers that a condition tested before, perhaps for room.
    asked: BTreeSet<usize>,
    /// Where, after the taking, a message was dropped or something refused.
    refused: Option<Span>,
}

struct Ways<'a> {
    layer: &'a Layer,
    quotas: &'a BTreeMap<StateAt, &'a Name>,
    /// The body is a function's: its caller may use what was taken.
    is_function: bool,
    given_by_callers: BTreeSet<StateAt>,
    out: &'a mut Vec<Diagnostic>,
}

impl Ways<'_> {
    fn block(&mut self, block: &[Stmt], mut way: Option<Way>) -> Option<Way> {
        for stmt in block {
            way = self.stmt(stmt, way?);
        }
        way
    }

    fn stmt(&mut self, stmt: &Stmt, mut way: Way) -> Option<Way> {
        use StmtKind::*;
        if let IfDone { call, then, otherwise, .. } = &stmt.kind {
            return self.done((call, then, otherwise), way);
        }
        let (mut touches, asks) = (false, matches!(stmt.kind, If { .. } | While { .. } | Match { .. } | Let { .. }));
        visit::stmt_exprs(stmt, &mut |expr| {
            visit::walk_expr(expr, &mut |expr| {
                let Some(function) = visit::own_call(expr) else { return };
                touches |= self.touches(function);
                if asks {
                    way.asked.extend(self.containers_of(function));
                }
            });
        });
        if touches {
            way.keep();
        }
        let refused = |way: &Way| match way.taken.is_empty() {
            true => way.clone(),
            false => Way { refused: way.refused.or(Some(stmt.span)), ..way.clone() },
        };
        match &stmt.kind {
            Return { .. } => {
                self.ends(Some(way));
                return None;
            }
            Refuse => {
                way.refused = way.refused.or(Some(stmt.span));
                let given = std::mem::take(&mut self.given_by_callers);
                way.taken.retain(|at, _| !given.contains(at));
                self.given_by_callers = given;
                self.report(&way);
                return None;
            }
            Drop { .. } if !way.taken.is_empty() => way.refused = Some(stmt.span),
            Take { quota, amount, otherwise } => {
                // Nothing is taken from this quota there, though perhaps from others.
                let at = quota.place();
                let mut without = refused(&way);
                without.taken.retain(|other, _| !self.has_room(*other, self.amount(at)));
                let without = self.block(otherwise, Some(without));
                if self.quotas.contains_key(&at) && !way.busy {
                    way.taken.entry(at).or_insert((quota.span, types::number(amount)));
                    way.refused = None;
                }
                return meet(without.into_iter().chain([way]));
            }
            Give { quota, .. } => _ = way.taken.remove(&quota.place()),
            Insert { otherwise, .. }
            | FindOrNew { otherwise, .. }
            | Begin { otherwise, .. }
            | Later { otherwise, .. } => {
                let size = match &stmt.kind {
                    FindOrNew { class, .. } => self.layer.objects.get(class.index()).map(|class| &class.capacity),
                    Insert { map, .. } => {
                        match self.layer.members(map.scope).and_then(|all| all.get(map.member as usize)) {
                            Some(Member { kind: MemberKind::Map { capacity, .. }, .. }) => Some(capacity),
                            _ => None,
                        }
                    }
                    _ => None,
                };
                let mut without = refused(&way);
                without.taken.retain(|at, _| !self.has_room(*at, size));
                let without = self.block(otherwise, Some(without));
                way.keep();
                return meet(without.into_iter().chain([way]));
            }
            Pass | Accept { .. } => way.keep(),
            kind if does(kind) => way.keep(),
            IfTaken { then, otherwise, .. } => {
                let mut found = way.clone();
                found.keep();
                let ends = [self.block(then, Some(found)), self.block(otherwise, Some(way))];
                return meet(ends.into_iter().flatten());
            }
            _ => {}
        }
        let blocks = visit::stmt_blocks(stmt);
        if blocks.is_empty() {
            return Some(way);
        }
        let mut ends: Vec<Way> = blocks.iter().filter_map(|block| self.block(block, Some(way.clone()))).collect();
        if matches!(stmt.kind, While { .. } | For { .. } | ForObjects { .. }) {
            ends.push(way);
        }
        meet(ends.into_iter())
    }

    /// A function that refuses has stored nothing, but it may have given back.
    fn done(&mut self, (call, then, otherwise): (&Expr, &[Stmt], &[Stmt]), way: Way) -> Option<Way> {
        let mut without = way.clone();
        if let Some(function) = visit::own_call(call) {
            let given = self.deeds(function).gives;
            let containers = self.containers_of(function);
            let is_asked = containers.iter().any(|at| way.asked.contains(at));
            let sizes: Vec<&Expr> = containers.iter().flat_map(|at| self.places_in(*at)).collect();
            let has_room = |at: StateAt| sizes.iter().any(|size| self.has_room(at, Some(size)));
            without.taken.retain(|at, _| !given.contains_key(at) && !is_asked && !has_room(*at));
        }
        if !without.taken.is_empty() {
            without.refused = without.refused.or(Some(call.span));
        }
        let mut with = way;
        with.keep();
        let ends = [self.block(then, Some(with)), self.block(otherwise, Some(without))];
        meet(ends.into_iter().flatten())
    }

    /// The containers whose functions a function is or calls.
    fn containers_of(&self, function: u32) -> BTreeSet<usize> {
        let calls = self.deeds(function).calls;
        let is_of = |known: &Container| known.functions.iter().any(|(_, at)| *at == function || calls.contains(at));
        let all = self.layer.containers.iter().enumerate();
        all.filter(|(_, known)| is_of(known)).map(|(at, _)| at).collect()
    }

    /// How many messages a container holds.
    fn places_in(&self, container: usize) -> Vec<&Expr> {
        let Some(scope) = self.layer.containers.get(container).map(|known| known.scope) else { return Vec::new() };
        let members = self.layer.members(scope).unwrap_or_default();
        let declared =
            members.iter().find(|member| matches!(member.kind, MemberKind::Container(at) if at as usize == container));
        let Some(declared) = declared else { return Vec::new() };
        let within = members.iter().filter(|member| is_within(&member.name, &declared.name));
        let places = within.filter_map(|member| match &member.kind {
            MemberKind::Messages { size, .. } => Some(size),
            _ => None,
        });
        places.collect()
    }

    /// How many units a quota has.
    fn amount(&self, at: StateAt) -> Option<&Expr> {
        match &self.layer.members(at.0)?.get(at.1 as usize)?.kind {
            MemberKind::Quota { amount } => Some(amount),
            _ => None,
        }
    }

    /// Whether there is a place for each unit, so that a holder of a unit is never refused.
    fn has_room(&self, quota: StateAt, size: Option<&Expr>) -> bool {
        let (Some(amount), Some(size)) = (self.amount(quota), size) else { return false };
        match (&amount.kind, &size.kind) {
            (ExprKind::Param(one), ExprKind::Param(other)) => one == other,
            _ => types::number(amount).zip(types::number(size)).is_some_and(|(amount, size)| amount <= size),
        }
    }

    fn deeds(&self, function: u32) -> Deeds {
        let mut deeds = Deeds::default();
        let body = self.layer.functions.get(function as usize).map_or(&[][..], |function| &function.body);
        deeds.block(self.layer, body, None);
        deeds
    }

    /// Whether a function has effects: those may be the use of a unit.
    fn touches(&self, function: u32) -> bool {
        let mut seen = BTreeSet::from([function]);
        let mut next = vec![function];
        let mut touches = false;
        while let Some(function) = next.pop() {
            let Some(function) = self.layer.functions.get(function as usize) else { continue };
            visit::walk(&function.body, &mut |met| {
                use StmtKind::*;
                match met {
                    Met::Stmt(stmt) => {
                        let more = matches!(
                            stmt.kind,
                            Insert { .. }
                                | Remove { .. }
                                | FindOrNew { .. }
                                | Later { .. }
                                | Take { .. }
                                | Give { .. }
                                | IfTaken { .. }
                        );
                        touches |= more || does(&stmt.kind);
                    }
                    Met::Expr(expr) => {
                        next.extend(visit::own_call(expr).filter(|at| seen.insert(*at)));
                    }
                    Met::State(_) => {}
                }
            });
        }
        touches
    }

    /// The path ends in a handler: a unit that was taken for something refused is lost.
    fn ends(&mut self, way: Option<Way>) {
        if let (Some(way), false) = (way, self.is_function) {
            self.report(&way);
        }
    }

    fn report(&mut self, way: &Way) {
        let Some(refused) = way.refused else { return };
        for (at, (taken, amount)) in &way.taken {
            let Some(name) = self.quotas.get(at).map(|name| name.plain()) else { continue };
            let give = match amount {
                Some(1) => format!("give {name}"),
                Some(amount) => format!("give {name} {amount}"),
                None => format!("give {name} …"),
            };
            let text = format!("a unit of `{name}` is taken, and on this way nothing holds it");
            let found = Diagnostic::warning(codes::UNGIVEN, text)
                .at(refused, "the way ends without what it was taken for")
                .label(*taken, "taken here")
                .help(format!("give it back on this way: `{give}`"));
            if !self.out.contains(&found) {
                self.out.push(found);
            }
        }
    }
}

impl Way {
    /// The units taken so far are used by this.
    fn keep(&mut self) {
        self.taken.clear();
        self.refused = None;
        self.busy = true;
    }
}

/// Whether a statement itself sets state or emits: that may be the use of a unit.
fn does(kind: &StmtKind) -> bool {
    use StmtKind::*;
    matches!(
        kind,
        Assign { .. } | AssignElement { .. } | Put { .. } | Start { .. } | End { .. } | Emit(_) | Again | Renew
    )
}

/// Joins paths: what holds on all of them.
fn meet(ways: impl Iterator<Item = Way>) -> Option<Way> {
    ways.reduce(|one, other| Way {
        taken: one.taken.into_iter().filter(|(at, _)| other.taken.contains_key(at)).collect(),
        busy: one.busy || other.busy,
        asked: one.asked.union(&other.asked).copied().collect(),
        refused: one.refused.filter(|_| other.refused.is_some()),
    })
}
