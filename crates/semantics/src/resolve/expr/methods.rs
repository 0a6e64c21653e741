//! `a.f(…)`: what stands in front decides whether a message, a container, an enum with data, a vector or a flow is asked.

use mokume_base::Span;
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::Body;
use crate::resolve::context::Item;
use crate::resolve::expr;
use crate::resolve::expr::{below, containers, data, fields, flows, messages, positional, state, vectors};
use crate::{codes, tree};

pub(super) fn read(body: &mut Body, field: &ast::FieldExpr, args: &[ast::Arg], span: Span) -> Expr {
    let (Some(base), Some(name)) = (field.base(), tree::some_name(body.file, field.name())) else {
        return unknown(span);
    };
    if let Some(owner) = tree::name_expr(body.file, &base) {
        if let (None, Some(Item::Enum(id))) = (body.locals.find(&owner.text), body.cx.item(body.file, &owner.text)) {
            if body.cx.program.enums[id.index()].data.is_some() {
                let value = data::value(body, id, &name, Some(args), span);
                return value.unwrap_or_else(|| fields::read(body, field, span));
            }
        }
        let local = body.locals.find(&owner.text);
        if let Some(found) = containers::call(body, field, args, span) {
            return found;
        }
        match local.map(|local| (local, body.locals.ty(local))) {
            Some((local, Type::Message)) => return messages::method(body, local, &name, args, span),
            Some((_, Type::Unknown)) => return unknown(span),
            None if owner.text == "below" => return below::of_flow(body, &name, args, span),
            _ => {}
        }
        if body.this_layer().is_some_and(|layer| layer.uses.iter().any(|(_, alias)| alias.text == owner.text)) {
            let help = "operations return nothing; the answer comes as an event of its own";
            body.error(codes::NO_VALUE, "a service's operation gives no value", span, "no value", help);
            return unknown(span);
        }
    }
    if let Some(found) = containers::call(body, field, args, span) {
        return found;
    }
    if name.text == "holds" {
        let Some(messages) = state::messages(body, &base) else { return unknown(span) };
        let Some(values) = positional::counted(body, "holds", args, 1, span) else { return unknown(span) };
        let index = Box::new(expr::index(body, &values[0]));
        return make(ExprKind::Holds { messages, index }, Type::Bool, span);
    }
    if matches!(name.text.as_str(), "take" | "share") && tree::name_expr(body.file, &base).is_some() {
        if let Some((scope, member)) = tree::name_expr(body.file, &base).and_then(|owner| body.find_state(&owner.text))
        {
            if matches!(body.member(scope, member).map(|m| &m.kind), Some(MemberKind::Messages { .. })) {
                let help = format!("write `if let m = places.{}(i) {{ … }} else {{ … }}`", name.text);
                body.error(codes::WRONG_STATE, "the place may be empty", span, "may be missing", &help);
                return unknown(span);
            }
        }
    }
    if let Some(found) = below::at_index(body, &base, &name, Some(args), span) {
        return found;
    }
    let base = expr::infer(body, &base, None);
    if body.cx.program.vector(base.ty).is_some() {
        return vectors::method(body, base, &name, args, span);
    }
    if matches!(base.ty, Type::Flow(_)) && name.text == "hash" {
        return flows::hash(body, base, args, span);
    }
    if base.ty != Type::Unknown {
        let text = format!("{} has no operation `{}`", body.show(base.ty), name.text);
        body.error(codes::NO_FUNCTION, text, name.span, "unknown", "bind a message with `let` first, then name it");
    }
    unknown(span)
}
