//! Initial values of a layer's members, published values, and limits.

use rustc_hash::FxHashMap as HashMap;

use mokume_base::{FileId, Span};
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::body::{Body, BodyKind};
use crate::resolve::expr;
use crate::resolve::layer::reader::LayerReader;
use crate::resolve::layer::scopes;
use crate::resolve::layer::sight;
use crate::{codes, tree};

/// A scope's members by the places of their names; those of a part may be in another file.
type Places = HashMap<(FileId, u32), usize>;

/// The name of the constant with which a multiplexor sets where the search for a free key of its own begins.
const EPHEMERAL: &str = "ephemeral";

/// Resolves the values of all members.
pub(super) fn read(reader: &mut LayerReader, members: &[ast::Member]) {
    let mut scopes: Vec<(ScopeKind, Vec<ast::State>)> = Vec::new();
    for member in members {
        match member {
            ast::Member::Scope(scope) => {
                let kind = scopes::kind_of(scope);
                scopes.push((kind, scope.states()));
            }
            ast::Member::Object(object) => {
                let place = object.name().map(|name| name.span(reader.file));
                // A class that was refused for its repeated name is missing.
                let class = reader.this().objects.iter().position(|class| Some(class.name.span) == place);
                if let Some(class) = class {
                    scopes.push((ScopeKind::Object(ObjectId(class as u32)), object.states()));
                }
            }
            ast::Member::Publish(publish) => publish_value(reader, publish),
            ast::Member::Limit(limit) => set_limit(reader, limit),
            ast::Member::Where(asked) => add_where(reader, asked),
            _ => {}
        }
    }
    for (kind, states) in scopes {
        let members = reader.this().members(kind).unwrap_or_default();
        let place = |member: &Member| (member.name.span.file, member.name.span.start);
        let places: Places = members.iter().enumerate().map(|(at, member)| (place(member), at)).collect();
        for state in states {
            let (ast::State::Var(_) | ast::State::Const(_)) = state else { continue };
            initial(reader, kind, &state, &places);
        }
    }
}

/// Resolves the initial value of a variable. `places`: the scope's members, by the places of their names.
fn initial(reader: &mut LayerReader, kind: ScopeKind, state: &ast::State, places: &Places) {
    let value = match state {
        ast::State::Var(var) => var.value(),
        ast::State::Const(var) => var.value(),
        _ => None,
    };
    let (Some(name), Some(value)) = (state.name().map(|name| name.span(reader.file)), value) else { return };
    let mut body = reader.body(BodyKind::Value, kind);
    let Some(index) = places.get(&(name.file, name.start)).copied() else { return };
    let member = body.member(kind, index as u32).filter(|member| member.name.span == name);
    let Some(MemberKind::Var { ty, .. }) = member.map(|member| &member.kind) else { return };
    let ty = *ty;
    let value = expr::value(&mut body, &value, ty);
    let value = body.folded(value);
    let hidden = sight::hidden_state(&value, kind);
    if let Some(state) = hidden {
        let text = format!(
            "state of the {} begins without any {} at hand",
            sight::scope_name(kind),
            sight::scope_name(state.scope)
        );
        let help = "set it in a handler that sees both";
        reader.cx.error(codes::OUT_OF_SIGHT, text, state.span, "out of sight", help);
    }
    let Some(members) = reader.this().members_mut(kind) else { return };
    if let MemberKind::Var { init, .. } = &mut members[index].kind {
        *init = Some(value);
    }
}

fn publish_value(reader: &mut LayerReader, publish: &ast::Publish) {
    let Some(name) = publish.name().map(|name| name.span(reader.file)) else { return };
    let Some(index) = reader.this().publishes.iter().position(|known| known.name.span == name) else { return };
    let Publish { ty, locals, .. } = reader.this().publishes[index].clone();
    let chooses = reader.this().publishes[index].name.text == EPHEMERAL && reader.this().shape == Shape::Multiplexor;
    if chooses && !matches!(ty, Type::UInt(_) | Type::Unknown) {
        let help = "write `publish ephemeral(flow): u32 = …`: it is added to the number of the turn";
        let text = "a multiplexor's `ephemeral` is a number";
        reader.cx.error(codes::MISMATCH, text, name, "expected an unsigned number", help);
    }
    if reader.this().publishes[index].name.text == EPHEMERAL {
        chooses_a_key(reader, name);
    }
    let mut body = Body::of_layer(reader.cx, reader.file, reader.id, BodyKind::Value);
    for local in &locals {
        body.locals.bind(&local.name, local.ty);
    }
    let value = expr::some_value(&mut body, publish.value(), ty, name);
    let locals = body.locals.into_all();
    let publish = &mut reader.this().publishes[index];
    publish.locals = locals;
    publish.value = value;
}

/// Reports an `ephemeral` that has no effect, because no key is chosen with it.
fn chooses_a_key(reader: &mut LayerReader, name: Span) {
    let layer = reader.this();
    let one = |key: &Key| match key.fields.as_slice() {
        [only] => !key.symmetric && matches!(only.ty, Type::UInt(_) | Type::Unknown),
        _ => false,
    };
    let (text, help) = match (&layer.key, layer.shape) {
        (Some(key), Shape::Multiplexor) if one(key) => return,
        (_, Shape::Multiplexor) => (
            "the key of this multiplexor is never chosen: its `ephemeral` would have no effect",
            "leave it out; chosen is a key of one number, of which each end has its own",
        ),
        _ => (
            "only a multiplexor chooses keys: `ephemeral` would have no effect here",
            "publish it in the multiplexor, or give the value another name",
        ),
    };
    reader.cx.error(codes::SHAPE_MEMBER, text, name, "without effect", help);
}

fn add_where(reader: &mut LayerReader, asked: &ast::Where) {
    let Some(condition) = asked.condition() else { return };
    let span = asked.span(reader.file);
    let mut body = Body::of_layer(reader.cx, reader.file, reader.id, BodyKind::Value);
    let value = expr::value(&mut body, &condition, Type::Bool);
    let value = body.folded(value);
    if value.ty != Type::Unknown {
        reader.this().asked.push(Asked { condition: value, text: ast::line_of(condition.syntax()), span });
    }
}

fn set_limit(reader: &mut LayerReader, limit: &ast::Limit) {
    if let Some(name) = tree::some_name(reader.file, limit.name()).filter(|name| name.text != "send") {
        let value = limit.value().map_or("…".to_string(), |value| value.syntax().text().to_string());
        let unit = if limit.is_in_octets() { " octets" } else { "" };
        let help = format!("write `limit send: {}{unit}`", value.trim());
        reader.cx.error(codes::UNKNOWN_EVENT, "only `send` has a limit", name.span, "expected `send`", &help);
        return;
    }
    let span = limit.span(reader.file);
    let octets = limit.is_in_octets();
    let known = if octets { &reader.this().limit_octets } else { &reader.this().limit_send };
    if known.is_some() {
        return reader.cx.error(
            codes::DEFINED_TWICE,
            "`send` has a limit of this kind already",
            span,
            "the second",
            "leave one of them out",
        );
    }
    let mut body = Body::of_layer(reader.cx, reader.file, reader.id, BodyKind::Value);
    let value = expr::some_value(&mut body, limit.value(), Type::UInt(32), span);
    let ratio = limit.ratio().map(|ratio| {
        expr::size(&mut Body::of_layer(reader.cx, reader.file, reader.id, BodyKind::Argument), Some(ratio), span)
    });
    let reserve = limit.reserve().map(|reserve| {
        expr::size(&mut Body::of_layer(reader.cx, reader.file, reader.id, BodyKind::Argument), Some(reserve), span)
    });
    let layer = reader.this();
    layer.reserves[usize::from(octets)] = reserve;
    *(if octets { &mut layer.limit_octets } else { &mut layer.limit_send }) = Some(value);
    layer.ratios[usize::from(octets)] = ratio;
}
