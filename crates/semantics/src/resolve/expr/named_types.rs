//! The type of what an expression names, before it is resolved: whether it is a vector decides how to resolve it.
//! Reports nothing.

use mokume_syntax::ast::Expr as Tree;

use crate::program::*;
use crate::resolve::body::views;
use crate::resolve::body::Body;
use crate::resolve::context::Item;
use crate::resolve::expr::{consts, rows};
use crate::tree;

/// The type of what an expression names, if it names a value.
pub(super) fn of(body: &mut Body, tree: &Tree) -> Option<Type> {
    match tree::unparen(tree) {
        Tree::Name(name) => type_of_name(body, &name.text()),
        Tree::Index(index) => {
            let base = index.base()?;
            if let Some(class) = rows::named(body, &base) {
                return Some(Type::Object(class));
            }
            if let Some(element) = element_of_array(body, &base) {
                return Some(element);
            }
            let base = of(body, &base)?;
            Some(body.cx.program.vector(base)?.element)
        }
        Tree::Field(field) => {
            let name = tree::some_name(body.file, field.name())?;
            match of(body, &field.base()?)? {
                Type::Record(id) => {
                    let fields = &body.cx.program.records.get(id.index())?.fields;
                    Some(fields.iter().find(|field| field.name.text == name.text)?.ty)
                }
                Type::Object(id) => {
                    let members = &body.this_layer()?.objects.get(id.index())?.members;
                    match members.iter().find(|member| member.name.text == name.text)?.kind {
                        MemberKind::Var { ty, .. } => Some(ty),
                        _ => None,
                    }
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn type_of_name(body: &mut Body, name: &str) -> Option<Type> {
    if let Some(local) = body.locals.find(name) {
        return Some(body.locals.ty(local));
    }
    if let Some((scope, member)) = body.find_state(name) {
        return match body.member(scope, member)?.kind {
            MemberKind::Var { ty, .. } => Some(ty),
            _ => None,
        };
    }
    if let Some((_, ty)) = body.view.param(name) {
        return Some(ty);
    }
    if name == "me" && views::of(body).is_some() {
        return Some(Type::Rank);
    }
    match body.cx.item(body.file, name)? {
        Item::Const(index) => consts::of_file(body.cx, index, None).map(|value| value.ty),
        _ => None,
    }
}

/// The element type of an array in the state of the layer or of an object.
fn element_of_array(body: &mut Body, base: &Tree) -> Option<Type> {
    let kind = match tree::unparen(base) {
        Tree::Name(name) if body.locals.find(&name.text()).is_none() => {
            let (scope, member) = body.find_state(&name.text())?;
            &body.member(scope, member)?.kind
        }
        Tree::Field(field) => {
            let name = tree::some_name(body.file, field.name())?;
            let Type::Object(id) = of(body, &field.base()?)? else { return None };
            let members = &body.this_layer()?.objects.get(id.index())?.members;
            &members.iter().find(|member| member.name.text == name.text)?.kind
        }
        _ => return None,
    };
    match kind {
        MemberKind::Array { ty, .. } => Some(*ty),
        _ => None,
    }
}

/// Whether it is an element of an array in the state, or part of one.
pub fn is_in_array(body: &mut Body, tree: &Tree) -> bool {
    match tree::unparen(tree) {
        Tree::Index(index) => index.base().is_some_and(|base| element_of_array(body, &base).is_some()),
        Tree::Field(field) => field.base().is_some_and(|base| is_in_array(body, &base)),
        _ => false,
    }
}

/// Whether a name's type was refused, which was reported.
pub(super) fn is_unknown(body: &mut Body, tree: &Tree) -> bool {
    of(body, tree) == Some(Type::Unknown)
}

/// Whether it names a bounded vector.
pub fn is_vector(body: &mut Body, tree: &Tree) -> bool {
    let ty = of(body, tree);
    ty.is_some_and(|ty| body.cx.program.vector(ty).is_some())
}

/// Whether it is an element of a vector, or part of one.
pub fn is_in_vector(body: &mut Body, tree: &Tree) -> bool {
    match tree::unparen(tree) {
        Tree::Index(index) => index.base().is_some_and(|base| is_vector(body, &base)),
        Tree::Field(field) => field.base().is_some_and(|base| is_in_vector(body, &base)),
        _ => false,
    }
}
