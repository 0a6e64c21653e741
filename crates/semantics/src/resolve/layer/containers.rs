//! Expansion of containers where they are declared: their contents become members of the scope, and their functions
//! become functions of the layer, with the types and sizes of the declaration.
//!
//! Keeps: later passes know containers only by name; a container's text is resolved again for each declaration, in its
//! own file, and sees nothing but itself.

use std::rc::Rc;

use mokume_base::FileId;
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::context::{ContainerId, GivenType, Inside, Item, Pending};
use crate::resolve::expr;
use crate::resolve::expr::{annotations, arguments};
use crate::resolve::items::params;
use crate::resolve::layer::kinds;
use crate::resolve::layer::reader::LayerReader;
use crate::resolve::layer::written_out;
use crate::{codes, tree};

/// The deepest nesting of containers.
const DEEPEST: usize = 8;

/// `queue<Message> waiting(8) from kept`: the members that it expands to, after one with its name.
pub(super) fn declare(
    reader: &mut LayerReader,
    scope: ScopeKind,
    tree: &ast::Contained,
    name: &Name,
    members: &mut Vec<Member>,
) {
    if !is_declared(reader, scope, tree, name, members) {
        let layer = reader.id;
        // Within a container, it is named without that container's name.
        let own = name.plain().to_string();
        reader.cx.said.broken.insert((layer, own));
    }
}

/// Whether the declaration itself is correct; else reports, and its contents are not checked.
fn is_declared(
    reader: &mut LayerReader,
    scope: ScopeKind,
    tree: &ast::Contained,
    name: &Name,
    members: &mut Vec<Member>,
) -> bool {
    let Some((index, of)) = container_of(reader, tree) else { return false };
    let Some((file, container)) = reader.cx.trees.containers.get(index).cloned() else { return false };
    let depth = reader.inside.as_ref().map_or(0, |inside| inside.depth) + 1;
    if depth > DEEPEST {
        written_out::too_deep(reader.cx, index, &of);
        return false;
    }
    let already = reader.this().containers.len();
    if depth == 1 && !written_out::has_room(reader.cx, index, &of, already, DEEPEST) {
        return false;
    }
    let Some(types) = types_of(reader, tree, &container, &of) else { return false };
    let params = reader.cx.with_types(&types, |cx| params::read(cx, file, &container.params()));
    let span = tree.span(reader.file);
    let mut body = reader.argument();
    let args = arguments::for_params(&mut body, &of.text, &params, &tree.args(), span);
    let names: Vec<Name> = params.iter().map(|param| param.name.clone()).collect();
    let values = params.iter().zip(args).map(|(param, arg)| (param.name.text.clone(), body.folded(arg))).collect();
    let instance = reader.this().containers.len() as u32;
    let (said, begin, waiting) = (reader.cx.out.len(), members.len(), reader.cx.contained.len());
    let title = container.name().map_or(of.text.clone(), |name| name.text());
    let empty = Container { of: title, scope, members: Vec::new(), functions: Vec::new() };
    reader.this().containers.push(empty);
    let kind = MemberKind::Container(instance);
    members.push(Member { name: name.clone(), kind, written: MemberNotations::default() });
    let quota = quota_of(reader, scope, tree, members);
    let place = of.span;
    let mut inside = Inside { instance, scope, members: Vec::new(), values, params: names, types, quota, place, depth };
    parts(reader, scope, (file, &container), (name, &mut inside), members);
    if reader.cx.out[said..].iter().any(|found| found.code == codes::EMPTY_SIZE) {
        members.truncate(begin);
        reader.cx.contained.truncate(waiting);
        reader.this().containers.truncate(instance as usize);
        return false;
    }
    let held = |member: &Member| matches!(member.kind, MemberKind::Messages { .. });
    let is_named = container.syntax().text().to_string().contains("quota");
    if let Some(quota) = tree::some_name(reader.file, tree.quota()).filter(|_| inside.quota.is_some()) {
        if !is_named && !members[begin..].iter().any(held) {
            let text = format!("`{}` holds values, which take from no quota", name.text);
            let help = format!("leave `from {}` out: how many it holds is bounded by its places", quota.text);
            reader.cx.error(codes::UNTAKEN_QUOTA, text, quota.span, "bounds nothing", &help);
        }
    }
    if tree.quota().is_some() && inside.quota.is_none() {
        // [`quotas::read`](super::quotas::read) reports it.
        reader.cx.said.no_quota.insert(place);
    }
    reader.this().containers[instance as usize].members = inside.members.clone();
    let (layer, within) = (reader.id, format!("{}.", name.text));
    reader.cx.contained.push(Pending { layer, within, file, tree: container, inside: Rc::new(inside) });
    true
}

/// The quota that `from` names: one of the same scope, declared before, or one of the entity.
/// [`quotas::read`](super::quotas::read) reports mistakes.
fn quota_of(
    reader: &mut LayerReader,
    scope: ScopeKind,
    tree: &ast::Contained,
    members: &[Member],
) -> Option<(ScopeKind, u32)> {
    let name = tree::some_name(reader.file, tree.quota())?;
    if let Some(inside) = &reader.inside {
        return inside.member(&name.text);
    }
    let own = reader.full(&name);
    let entity = reader.this().scopes.iter().find(|known| known.kind == ScopeKind::Entity);
    let outer = entity.map_or(&[][..], |known| &known.members);
    for name in [own.text, name.text] {
        let is_it = |member: &Member| member.name.text == name && matches!(member.kind, MemberKind::Quota { .. });
        if let Some(place) = members.iter().position(is_it) {
            return Some((scope, place as u32));
        }
        if let Some(place) = outer.iter().position(is_it) {
            return Some((ScopeKind::Entity, place as u32));
        }
    }
    None
}

fn container_of(reader: &mut LayerReader, tree: &ast::Contained) -> Option<(ContainerId, Name)> {
    let of = tree::some_name(reader.file, tree.container())?;
    let is_it = |(layer, name, _): &&(LayerId, String, usize)| *layer == reader.id && *name == of.text;
    let given = reader.cx.higher.containers.iter().find(is_it).filter(|_| reader.inside.is_none());
    let found = given.map(|(_, _, index)| *index).or_else(|| match reader.cx.item_at(reader.file, &of) {
        Some(Item::Container(index)) => Some(index),
        _ => None,
    });
    if found.is_none() && reader.cx.said.no_container.contains(&(reader.file, of.text.clone())) {
        return None;
    }
    let Some(index) = found else {
        let is_one = |item| matches!(item, Item::Container(_));
        reader.cx.unknown(codes::UNKNOWN_ITEM, "a container", &of, reader.file, is_one);
        return None;
    };
    Some((index, of))
}

/// The types that the container's type parameters stand for.
fn types_of(
    reader: &mut LayerReader,
    tree: &ast::Contained,
    container: &ast::Container,
    of: &Name,
) -> Option<Vec<GivenType>> {
    let (wanted, given) = (container.types(), tree.types());
    if wanted.len() != given.len() {
        let types = match wanted.len() {
            0 => "no types".to_string(),
            1 => "one type".to_string(),
            many => format!("{many} types"),
        };
        let text = format!("`{}` asks for {types}, not {}", of.text, given.len());
        let help = match wanted.len() {
            0 => format!("leave them out: `{}`", of.text),
            // A container with a quota contains messages, unless its text says so itself.
            1 if tree.quota().is_some() && !says_message(container) => format!("write `{}<Message>`", of.text),
            many => format!("write `{}<{}>`", of.text, vec!["u32"; many].join(", ")),
        };
        reader.cx.error(codes::CONTAINER_TYPES, text, of.span, "here", &help);
        return None;
    }
    let mut types = Vec::new();
    for (name, ty) in wanted.iter().zip(given) {
        let span = ty.span(reader.file);
        let written = annotations::notation(reader.cx, reader.file, Some(ty.clone()));
        let found = annotations::read(reader.cx, reader.file, Some(ty));
        if matches!(found, Type::Flow(_) | Type::Reason | Type::Object(_)) {
            let text = format!("{} cannot be kept", reader.cx.show(found));
            reader.cx.error(codes::CONTAINER_TYPES, text, span, "no element", "keep its parts, in a record");
            return None;
        }
        types.push(GivenType { name: name.text(), ty: found, written });
    }
    Some(types)
}

/// Whether a container's own text has messages; then its type parameters are something else.
fn says_message(container: &ast::Container) -> bool {
    let tokens = container.syntax().descendants_with_tokens().filter_map(|part| part.into_token());
    tokens.into_iter().any(|token| matches!(token.text(), "Message" | "messages"))
}

/// The container's state as members of the scope.
fn parts(
    reader: &mut LayerReader,
    scope: ScopeKind,
    (file, container): (FileId, &ast::Container),
    (name, inside): (&Name, &mut Inside),
    members: &mut Vec<Member>,
) {
    for handler in container.handlers().iter().filter(|handler| handler.expiry().is_empty()) {
        let span = handler.event().map_or(name.span, |event| event.span(file));
        let help = "write it in the layer, which calls a function of the container";
        let text = "a container handles the expiry of its timers alone";
        reader.cx.error(codes::CONTAINER_MEMBER, text, span, "not in a container", help);
    }
    for state in container.states() {
        let Some(own) = tree::some_name(file, state.name()) else { continue };
        let place = members.len() as u32;
        let full = Name { text: format!("{}.{}", name.text, own.text), span: own.span };
        let (layer, shared) = (reader.id, Rc::new(inside.clone()));
        let types = inside.types.clone();
        reader.cx.with_types(&types, |cx| {
            let mut inner = LayerReader { inside: Some(shared), ..LayerReader::new(cx, file, layer) };
            match &state {
                ast::State::Contained(tree) => declare(&mut inner, scope, tree, &full, members),
                state => {
                    let kind = part(&mut inner, state, &own);
                    let written = kinds::written(&inner, state);
                    members.push(Member { name: full, kind, written });
                }
            }
        });
        if members.len() as u32 > place {
            inside.members.push((own.text, place));
        }
    }
}

/// The declaration of a container as state of the layer.
pub fn part(reader: &mut LayerReader, state: &ast::State, own: &Name) -> MemberKind {
    if let ast::State::Array(array) = state {
        if let Some(ast::Type::Array(array)) = array.ty() {
            let outer = array.element();
            if annotations::read(reader.cx, reader.file, outer) == Type::Message {
                return MemberKind::Messages { size: reader.size(array.length(), own.span), quota: None };
            }
        }
    }
    let mut kind = kinds::read(reader, state, own);
    let value = match state {
        ast::State::Var(var) => var.value(),
        ast::State::Const(var) => var.value(),
        _ => None,
    };
    if let (MemberKind::Var { ty, init, .. }, Some(value)) = (&mut kind, value) {
        let mut body = reader.argument();
        let value = expr::value(&mut body, &value, *ty);
        *init = Some(body.folded(value));
    }
    kind
}
