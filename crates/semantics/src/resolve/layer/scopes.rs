//! Scopes and objects, with their state.

use rustc_hash::FxHashMap as HashMap;

use mokume_base::Span;
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::body::terms::unknown;
use crate::resolve::context::twice;
use crate::resolve::items::fields;
use crate::resolve::items::fields::FieldUse;
use crate::resolve::layer::reader::LayerReader;
use crate::resolve::layer::{containers, kinds, quotas, sight, views};
use crate::{codes, tree};

/// `session { … }`, `entity { … }`
pub(super) fn scope(reader: &mut LayerReader, scope: &ast::Scope, span: Span) {
    let kind = kind_of(scope);
    scope_rules(reader, scope, kind, span);
    let capacity = scope.capacity().map(|capacity| reader.size(Some(capacity), span));
    if reader.part.is_some() && capacity.is_some() {
        let help = "write it at the scope of the layer";
        let place = first_word(span);
        reader.cx.error(codes::PART_MEMBER, "how many there are is the layer's to say", place, "not in a part", help);
    }
    if let (ScopeKind::View, Some(capacity)) = (kind, scope.capacity()) {
        let place = capacity.span(reader.file);
        reader.cx.error(codes::SHAPE_MEMBER, "a layer is in one view", place, "not needed", "leave the capacity out");
    }
    let met = reader.once.iter().any(|(word, _)| *word == sight::scope_name(kind));
    reader.once.push((sight::scope_name(kind), span));
    if met {
        let help = "write its state in one block";
        let text = "this scope is there already";
        reader.cx.error(codes::DEFINED_TWICE, text, first_word(span), "the second", help);
    }
    let known = reader.this().scopes.iter_mut().position(|known| known.kind == kind);
    let before = known.map(|at| std::mem::take(&mut reader.this().scopes[at].members)).unwrap_or_default();
    let members = members(reader, kind, &scope.states(), before);
    given(reader, kind, &scope.states(), &members);
    match known {
        Some(at) => reader.this().scopes[at].members = members,
        None => {
            let scopes = &mut reader.this().scopes;
            scopes.push(Scope { kind, capacity, members });
            // From the outside in: places for messages take from quotas of enclosing scopes.
            scopes.sort_by_key(|scope| rank(scope.kind));
        }
    }
}

/// The order of scopes, from the outside in.
pub(super) fn rank(kind: ScopeKind) -> u8 {
    match kind {
        ScopeKind::Entity => 1,
        ScopeKind::Point | ScopeKind::View => 2,
        ScopeKind::SessionBelow => 3,
        ScopeKind::Session | ScopeKind::Object(_) => 4,
    }
}

/// Resolves the quotas of places for messages, once all state is declared.
pub(super) fn quotas_of(reader: &mut LayerReader, member: &ast::Member) {
    match member {
        ast::Member::Scope(scope) => quotas::read(reader, kind_of(scope), &scope.states()),
        ast::Member::Object(object) => {
            let Some(name) = tree::some_name(reader.file, object.name()) else { return };
            let part = reader.part;
            if let Some(class) = reader.this().class(part, &name.text) {
                quotas::read(reader, ScopeKind::Object(class), &object.states());
            }
        }
        _ => {}
    }
}

/// The scope that a block's first word names.
pub(super) fn kind_of(scope: &ast::Scope) -> ScopeKind {
    match scope.kind() {
        ast::ScopeKind::Entity => ScopeKind::Entity,
        ast::ScopeKind::Point => ScopeKind::Point,
        ast::ScopeKind::View => ScopeKind::View,
        ast::ScopeKind::Session => ScopeKind::Session,
        ast::ScopeKind::SessionBelow => ScopeKind::SessionBelow,
    }
}

/// The span of the first word of a block, as long as `session`.
fn first_word(span: Span) -> Span {
    Span::new(span.file, span.start, span.end.min(span.start + 7))
}

/// Checks that a scope contains only state, and that the layer's shape has it.
fn scope_rules(reader: &mut LayerReader, scope: &ast::Scope, kind: ScopeKind, span: Span) {
    for handler in scope.handlers() {
        let place = handler.event().map_or(span, |event| event.span(reader.file));
        let help = "write it in the layer: it runs for the scope whose state it names";
        reader.cx.error(codes::SHAPE_MEMBER, "a handler stands outside of the scopes", place, "not in a scope", help);
    }
    let shape = reader.this().shape;
    let wrong = match kind {
        ScopeKind::SessionBelow if shape != Shape::Multiplexor => {
            Some("only a multiplexor's sessions share lower ones")
        }
        ScopeKind::Session if shape == Shape::Router => Some("a router offers flow traffic and has no sessions"),
        ScopeKind::Point if matches!(shape, Shape::Router | Shape::Endpoint) => Some("nobody listens on this layer"),
        _ => None,
    };
    if let Some(why) = wrong {
        let help = "keep the state in the `entity`, or in objects with a key";
        reader.cx.error(codes::SHAPE_MEMBER, why, first_word(span), "not in this shape", help);
    }
}

/// `object Entry[host: u32] capacity 64 { … }`
pub(super) fn object(reader: &mut LayerReader, object: &ast::Object) {
    let Some(own) = tree::some_name(reader.file, object.name()) else { return };
    let name = reader.full(&own);
    let part = reader.part;
    let this = reader.this();
    let same = |first: &&ObjectClass| first.name.text == own.text && is_in_sight(this, part, &first.name);
    if let Some(first) = this.objects.iter().find(|first| first.name.text == name.text || same(first)) {
        let diagnostic = twice("object", &name, &first.name.clone());
        return reader.cx.report(diagnostic);
    }
    object_rules(reader, object, &name);
    let keys = fields::read(reader.cx, reader.file, &object.keys(), FieldUse::Keys);
    let first: Vec<Member> = keys
        .iter()
        .map(|key| Member {
            name: key.name.clone(),
            kind: MemberKind::Var { ty: key.ty, init: None, constant: true },
            written: MemberNotations { keys: Vec::new(), value: key.written },
        })
        .collect();
    let owner = match (object.is_owned(), object.is_of_view()) {
        (true, _) => ScopeKind::Session,
        (false, true) => ScopeKind::View,
        (false, false) => ScopeKind::Entity,
    };
    let rows = owner == ScopeKind::View && matches!(keys.as_slice(), [only] if only.ty == Type::Rank);
    let capacity = match rows {
        true => views::rows(reader, object, &name),
        false => capacity_of(reader, object, &name),
    };
    if owner == ScopeKind::View && !rows && reader.this().members(ScopeKind::View).is_none() {
        let help = "give it one: `view { … }`, or let it speak a vocabulary in which a view begins";
        reader.cx.error(codes::NO_VIEW, "this layer has no view", name.span, "owned by none", help);
    }
    let kind = ScopeKind::Object(ObjectId(reader.this().objects.len() as u32));
    let members = members(reader, kind, &object.states(), first);
    given(reader, kind, &object.states(), &members);
    let evict_oldest = object.evict().is_some();
    let holds = holds(reader, object, &keys, &name);
    if owner == ScopeKind::Session && reader.this().shape == Shape::Router {
        let help = "leave `owned by session` out: the entity keeps them";
        reader.cx.error(codes::SHAPE_MEMBER, "a router has no sessions", name.span, "owned by none", help);
    }
    if let Some(part) = reader.part {
        let ScopeKind::Object(class) = kind else { return };
        reader.this().parts[part].objects.push((own.text, class));
    }
    reader.this().objects.push(ObjectClass { name, keys, capacity, evict_oldest, holds, owner, rows, members });
}

/// Checks that an object contains only state and expiries, and that `evict` says `oldest`.
fn object_rules(reader: &mut LayerReader, object: &ast::Object, name: &Name) {
    for function in object.functions() {
        let place = function.name().map_or(name.span, |name| name.span(reader.file));
        let help = format!("write it in the layer, with the object as a parameter: `fn f(e: {})`", name.text);
        reader.cx.error(codes::SHAPE_MEMBER, "functions stand in the layer", place, "not in an object", &help);
    }
    if let Some(evict) = tree::some_name(reader.file, object.evict()).filter(|evict| evict.text != "oldest") {
        let help = "write `evict oldest`";
        reader.cx.error(codes::UNKNOWN_NAME, "only the oldest can be evicted", evict.span, "expected `oldest`", help);
    }
}

/// `holds of`: the flow that is the only key of an object of a worker's entity.
fn holds(reader: &mut LayerReader, object: &ast::Object, keys: &[Field], name: &Name) -> bool {
    let Some(held) = tree::some_name(reader.file, object.holds()) else { return false };
    let is_worker = reader.this().shape == Shape::Worker;
    keys.iter().filter(|key| key.name.text == held.text).for_each(|key| reader.cx.mention(&held, key.name.span));
    let wrong = match keys {
        _ if !is_worker => Some("only a worker's sessions leave flows behind"),
        _ if object.is_owned() || object.is_of_view() => {
            Some("what a session or a view owns ends with it, and what is held is there when it has gone")
        }
        [only] if only.name.text == held.text => match only.ty {
            Type::Flow(Side::Above) | Type::Unknown => None,
            _ => Some("what is held is a flow"),
        },
        _ => Some("what is held is the object's only key"),
    };
    if let Some(why) = wrong {
        let plain = name.plain();
        let help = format!("in a worker, write `object {plain}[of: Flow] capacity 64 evict oldest holds of {{ … }}`");
        reader.cx.error(codes::HOLDS_NO_FLOW, why, held.span, "not held", &help);
    }
    wrong.is_none()
}

fn capacity_of(reader: &mut LayerReader, object: &ast::Object, name: &Name) -> Expr {
    if let Some(capacity) = object.capacity() {
        return reader.size(Some(capacity), name.span);
    }
    let help = format!("write `object {}[…] capacity 64 {{ … }}`", name.text);
    let text = "how many objects are there at most?";
    reader.cx.error(codes::MISSING_ARGUMENT, text, name.span, "no capacity", &help);
    unknown(name.span)
}

fn members(reader: &mut LayerReader, scope: ScopeKind, states: &[ast::State], mut members: Vec<Member>) -> Vec<Member> {
    let part = reader.part;
    let this = reader.this();
    let others = this.scopes.iter().flat_map(|scope| &scope.members).map(|member| &member.name);
    let is_object = matches!(scope, ScopeKind::Object(_));
    let before = members.iter().map(|member| &member.name);
    let others = others.chain(before.clone().filter(|_| !is_object)).filter(|name| is_in_sight(this, part, name));
    let mut known: HashMap<String, Name> = HashMap::default();
    let params = this.params.iter().map(|param| &param.name);
    for first in others.chain(before.filter(|_| is_object)).chain(params) {
        known.entry(first.text.clone()).or_insert_with(|| first.clone());
    }
    let mut seen = members.len();
    for state in &quotas::in_front(states) {
        let Some(own) = tree::some_name(reader.file, state.name()) else { continue };
        let name = reader.full_in(scope, &own);
        for member in &members[seen..] {
            known.entry(member.name.text.clone()).or_insert_with(|| member.name.clone());
        }
        seen = members.len();
        if let Some(first) = known.get(&name.text).or_else(|| known.get(&own.text)) {
            let diagnostic = twice("state", &own, first);
            reader.cx.report(diagnostic);
        }
        let at = members.len();
        if let ast::State::Contained(tree) = state {
            containers::declare(reader, scope, tree, &name, &mut members);
        } else {
            let kind = kinds::read(reader, state, &name);
            let written = kinds::written(reader, state);
            members.push(Member { name, kind, written });
        }
        if let Some(part) = reader.part.filter(|_| !is_object && members.len() > at) {
            reader.this().parts[part].members.push((own.text, scope, at as u32));
        }
    }
    members
}

/// Whether the current text may name the state of the layer: a part sees its own and what it declares to use; other
/// parts may have state of the same name.
fn is_in_sight(layer: &Layer, part: Option<usize>, name: &Name) -> bool {
    let Some(part) = part.and_then(|part| layer.parts.get(part)) else { return true };
    let behind = name.text.strip_prefix(&part.called);
    part.shares(&name.text) || behind.is_some_and(|rest| rest.starts_with('.'))
}

/// `const priority: u8 = 0 from open, listen`, `… from accept`: allowed in a session only, as only there it is set.
fn given(reader: &mut LayerReader, kind: ScopeKind, states: &[ast::State], members: &[Member]) {
    for state in states {
        let ast::State::Const(constant) = state else { continue };
        let is_given = constant.is_given() || constant.is_listened() || constant.is_accepted();
        let Some(name) = tree::some_name(reader.file, constant.name()).filter(|_| is_given) else { continue };
        if let Some((first, again)) = constant.doubled(reader.file) {
            reader.cx.given_twice("who gives it", again, first);
        }
        if reader.part.is_some() {
            let help = "write it in the `session` of the layer, and name it behind `reads`";
            let text = "what a session is given when it begins stands in the layer";
            reader.cx.error(codes::PART_MEMBER, text, name.span, "not in a part", help);
            continue;
        }
        if kind != ScopeKind::Session {
            let help = "write it in `session { … }`";
            let text = "only a session is opened, or accepted";
            reader.cx.error(codes::MISPLACED, text, name.span, "nobody gives it", help);
            continue;
        }
        if matches!(name.text.as_str(), "user" | "session") {
            let text = format!("an application's port says `{}` of its own", name.text);
            reader.cx.error(codes::HIDES_BUILT_IN, text, name.span, "meant twice", "give it another name");
            continue;
        }
        let Some(at) = members.iter().position(|member| member.name.text == name.text) else { continue };
        let layer = reader.this();
        let askers = [
            (constant.is_given(), &mut layer.given),
            (constant.is_listened(), &mut layer.listened),
            (constant.is_accepted(), &mut layer.accepted),
        ];
        for (asks, list) in askers {
            list.extend(asks.then_some(at as u32));
        }
    }
}
