//! One declaration of state: its kind, types and sizes.

use mokume_syntax::ast;

use crate::codes;
use crate::program::*;
use crate::resolve::body::terms::unknown;
use crate::resolve::expr::annotations;
use crate::resolve::layer::reader::LayerReader;

pub(super) fn read(reader: &mut LayerReader, state: &ast::State, name: &Name) -> MemberKind {
    let span = name.span;
    match state {
        ast::State::Var(var) => {
            MemberKind::Var { ty: annotations::of_state(reader.cx, reader.file, var.ty()), init: None, constant: false }
        }
        ast::State::Const(var) => {
            MemberKind::Var { ty: annotations::of_state(reader.cx, reader.file, var.ty()), init: None, constant: true }
        }
        ast::State::Timer(_) => MemberKind::Timer,
        ast::State::Counter(_) => MemberKind::Counter,
        ast::State::Quota(quota) => MemberKind::Quota { amount: reader.size(quota.value(), span) },
        ast::State::Messages(messages) => {
            MemberKind::Messages { size: reader.size(messages.value(), span), quota: None }
        }
        ast::State::Array(array) => match array.ty() {
            Some(ast::Type::Array(array)) => {
                let ty = annotations::stored(reader.cx, reader.file, array.element());
                MemberKind::Array { ty, size: reader.size(array.length(), span) }
            }
            other => {
                if other.is_some() {
                    reader.cx.error(
                        codes::MISMATCH,
                        "this is no array",
                        span,
                        "expected `[T; n]`",
                        "write `array a: [u32; 8]`",
                    );
                }
                MemberKind::Array { ty: Type::Unknown, size: unknown(span) }
            }
        },
        // Its parts are members of their own.
        ast::State::Contained(_) => MemberKind::Counter,
        ast::State::Map(map) => match map.ty() {
            Some(ast::Type::Map(map)) => {
                let keys = map.keys().into_iter();
                let key = keys.map(|ty| annotations::of_map(reader.cx, reader.file, Some(ty))).collect();
                let value = vec![annotations::of_map(reader.cx, reader.file, map.value())];
                MemberKind::Map { key, value, capacity: reader.size(map.capacity(), span) }
            }
            other => {
                if other.is_some() {
                    reader.cx.error(
                        codes::MISMATCH,
                        "this is no map",
                        span,
                        "expected `[K -> V; n]`",
                        "write `map m: [u32 -> u48; 64]`",
                    );
                }
                MemberKind::Map { key: Vec::new(), value: Vec::new(), capacity: unknown(span) }
            }
        },
    }
}
