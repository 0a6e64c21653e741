//! One declaration of state: its kind, types and sizes.

use mokume_base::Span;
use mokume_syntax::ast;

use crate::codes;
use crate::program::*;
use crate::resolve::body::terms::unknown;
use crate::resolve::expr::annotations;
use crate::resolve::layer::reader::LayerReader;

/// One line for each kind of state.
pub(super) fn read(reader: &mut LayerReader, state: &ast::State, name: &Name) -> MemberKind {
    let span = name.span;
    match state {
        ast::State::Var(var) => variable(reader, var.ty(), false),
        ast::State::Const(var) => variable(reader, var.ty(), true),
        ast::State::Timer(_) => MemberKind::Timer,
        ast::State::Counter(_) => MemberKind::Counter,
        ast::State::Quota(quota) => MemberKind::Quota { amount: reader.size(quota.value(), span) },
        ast::State::Messages(messages) => {
            MemberKind::Messages { size: reader.size(messages.value(), span), quota: None }
        }
        ast::State::Array(state) => array(reader, state.ty(), span),
        // Its contents are separate members.
        ast::State::Contained(_) => MemberKind::Counter,
        ast::State::Map(state) => map(reader, state.ty(), span),
    }
}

/// The notations of its values.
pub(super) fn written(reader: &LayerReader, state: &ast::State) -> MemberNotations {
    let of = |ty: Option<ast::Type>| annotations::notation(reader.cx, reader.file, ty);
    let value = |ty: Option<ast::Type>| MemberNotations { keys: Vec::new(), value: of(ty) };
    match state {
        ast::State::Var(var) => value(var.ty()),
        ast::State::Const(var) => value(var.ty()),
        ast::State::Array(state) => match state.ty() {
            Some(ast::Type::Array(array)) => value(array.element()),
            _ => MemberNotations::default(),
        },
        ast::State::Map(state) => match state.ty() {
            Some(ast::Type::Map(map)) => MemberNotations {
                keys: map.keys().into_iter().map(|ty| of(Some(ty))).collect(),
                value: of(map.value()),
            },
            _ => MemberNotations::default(),
        },
        ast::State::Timer(_)
        | ast::State::Counter(_)
        | ast::State::Quota(_)
        | ast::State::Messages(_)
        | ast::State::Contained(_) => MemberNotations::default(),
    }
}

fn variable(reader: &mut LayerReader, ty: Option<ast::Type>, constant: bool) -> MemberKind {
    MemberKind::Var { ty: annotations::of_state(reader.cx, reader.file, ty), init: None, constant }
}

fn array(reader: &mut LayerReader, ty: Option<ast::Type>, span: Span) -> MemberKind {
    if let Some(ast::Type::Array(array)) = ty {
        let ty = annotations::stored(reader.cx, reader.file, array.element());
        return MemberKind::Array { ty, size: reader.size(array.length(), span) };
    }
    if ty.is_some() {
        let help = "write `array a: [u32; 8]`";
        reader.cx.error(codes::MISMATCH, "this is no array", span, "expected `[T; n]`", help);
    }
    MemberKind::Array { ty: Type::Unknown, size: unknown(span) }
}

fn map(reader: &mut LayerReader, ty: Option<ast::Type>, span: Span) -> MemberKind {
    if let Some(ast::Type::Map(map)) = ty {
        let keys = map.keys().into_iter();
        let key = keys.map(|ty| annotations::of_state(reader.cx, reader.file, Some(ty))).collect();
        let value = vec![annotations::of_state(reader.cx, reader.file, map.value())];
        return MemberKind::Map { key, value, capacity: reader.size(map.capacity(), span) };
    }
    if ty.is_some() {
        let help = "write `map m: [u32 -> u48; 64]`";
        reader.cx.error(codes::MISMATCH, "this is no map", span, "expected `[K -> V; n]`", help);
    }
    MemberKind::Map { key: Vec::new(), value: Vec::new(), capacity: unknown(span) }
}
