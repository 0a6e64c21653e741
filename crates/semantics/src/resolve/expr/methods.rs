//! `a.f(…)`: what is in front decides whether it is about a message, a container, an enum with data, a vector or a
//! flow.

use mokume_base::Span;
use mokume_syntax::ast::{self, Expr as Tree};

use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::Body;
use crate::resolve::context::Item;
use crate::resolve::expr;
use crate::resolve::expr::{below, containers, data, fields, flows, messages, positional, state, vectors};
use crate::{codes, tree};

/// `a.f(…)`
pub(super) fn read(body: &mut Body, field: &ast::FieldExpr, args: &[ast::Arg], span: Span) -> Expr {
    let (Some(base), Some(name)) = (field.base(), tree::some_name(body.file, field.name())) else {
        return unknown(span);
    };
    let owner = body.item_name(&base);
    if let Some(found) = owner.as_ref().and_then(|owner| of_enum(body, owner, field, args, span)) {
        return found;
    }
    if let Some(found) = containers::call(body, field, args, span) {
        return found;
    }
    if let Some(found) = owner.as_ref().and_then(|owner| of_name(body, owner, &name, args, span)) {
        return found;
    }
    if name.text == "holds" {
        return holds(body, &base, args, span);
    }
    if let Some(found) = below::at_index(body, &base, &name, Some(args), span) {
        return found;
    }
    let base = expr::infer(body, &base, None);
    of_value(body, base, &name, args, span)
}

/// `Shape.Circle(3)`; `None` if the owner is not an enum with data.
fn of_enum(body: &mut Body, owner: &Name, field: &ast::FieldExpr, args: &[ast::Arg], span: Span) -> Option<Expr> {
    if body.locals.find(&owner.text).is_some() {
        return None;
    }
    let Some(Item::Enum(id)) = body.cx.item_at(body.file, owner) else { return None };
    body.cx.program.enums[id.index()].data?;
    let name = tree::some_name(body.file, field.name())?;
    let value = data::value(body, id, &name, Some(args), span);
    Some(value.unwrap_or_else(|| fields::read(body, field, span)))
}

/// `msg.u16be(0)`, `below.pseudo_sum(flow)`, and calls that are no values: cases in which the name in front decides.
fn of_name(body: &mut Body, owner: &Name, name: &Name, args: &[ast::Arg], span: Span) -> Option<Expr> {
    match body.locals.find(&owner.text).map(|local| (local, body.locals.ty(local))) {
        Some((local, Type::Message)) => return Some(messages::method(body, local, name, args, span)),
        Some((_, Type::Unknown)) => return Some(unknown(span)),
        None if owner.text == "below" => return Some(below::of_flow(body, name, args, span)),
        _ => {}
    }
    if body.this_layer().is_some_and(|layer| layer.uses.iter().any(|(_, alias)| alias.text == owner.text)) {
        let help = "operations return nothing; the answer comes as an event of its own";
        body.error(codes::NO_VALUE, "a service's operation gives no value", span, "no value", help);
        return Some(unknown(span));
    }
    if !matches!(name.text.as_str(), "take" | "share") {
        return None;
    }
    let (scope, member) = body.find_state(&owner.text)?;
    let kind = body.member(scope, member).map(|member| &member.kind);
    matches!(kind, Some(MemberKind::Messages { .. })).then(|| {
        let help = format!("write `if let m = places.{}(i) {{ … }} else {{ … }}`", name.text);
        body.error(codes::WRONG_STATE, "the place may be empty", span, "may be missing", &help);
        unknown(span)
    })
}

/// `waiting.holds(i)`
fn holds(body: &mut Body, base: &Tree, args: &[ast::Arg], span: Span) -> Expr {
    let Some(messages) = state::messages(body, base) else { return unknown(span) };
    let Some(values) = positional::counted(body, "holds", args, 1, span) else { return unknown(span) };
    let index = Box::new(expr::index(body, &values[0]));
    make(ExprKind::Holds { messages, index }, Type::Bool, span)
}

/// Whether it is the record of the layer's view.
fn is_view(body: &Body, ty: Type) -> bool {
    body.this_layer().and_then(|layer| layer.view.as_ref()).is_some_and(|view| ty == Type::Record(view.record.record))
}

/// A method of a vector or a flow, given by any expression.
fn of_value(body: &mut Body, base: Expr, name: &Name, args: &[ast::Arg], span: Span) -> Expr {
    if body.cx.program.vector(base.ty).is_some() {
        return vectors::method(body, base, name, args, span);
    }
    if matches!(base.ty, Type::Flow(_)) && name.text == "prf" {
        return flows::prf(body, base, args, span);
    }
    if matches!(base.ty, Type::Flow(_)) && name.text == "hash" {
        return flows::hash(body, base, args, span);
    }
    if base.ty != Type::Unknown {
        let text = format!("{} has no operation `{}`", body.show(base.ty), name.text);
        let help = match base.ty {
            Type::Ranks => "a set of ranks has `[r]`, `a | b`, `a & b`, `a - b`, `r in a` and `==`; `for r in view { if r in a { … } }` goes over it",
            ty if name.text == "rank" && is_view(body, ty) => {
                let text = "the view may have no such member";
                body.error(codes::NO_VALUE, text, span, "may be missing", "write `let r = view.rank(n) or { … }`");
                return unknown(span);
            }
            _ => "bind a message with `let` first, then name it",
        };
        body.error(codes::NO_FUNCTION, text, name.span, "unknown", help);
    }
    unknown(span)
}
