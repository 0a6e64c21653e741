//! `a.b`: the kind of the name in front decides whether it is a part of a message, a flow, a container, a neighbour, an
//! enum, a record or an object.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::views;
use crate::resolve::body::Body;
use crate::resolve::context::Item;
use crate::resolve::expr;
use crate::resolve::expr::{below, containers, data, flow_parts, messages, parts, state, vectors};
use crate::{codes, suggest, tree};

/// `a.b`
pub fn read(body: &mut Body, expr: &ast::FieldExpr, span: Span) -> Expr {
    let (Some(base), Some(name)) = (expr.base(), tree::some_name(body.file, expr.name())) else {
        return unknown(span);
    };
    if let Some(found) = parts::state(body, &base, &name) {
        return found;
    }
    if let Some(found) = containers::part(body, &base, &name) {
        return found;
    }
    if name.text == "size" && tree::name_expr(body.file, &base).is_some_and(|base| views::is_view(body, &base.text)) {
        if let Some(view) = views::of(body) {
            return views::size(&body.cx.program, &view, span);
        }
    }
    if let Some(owner) = body.item_name(&base) {
        if let Some(found) = of_name(body, &owner, &name, span) {
            return found;
        }
    }
    if let Some(part) = flow_parts::read(body, &base, &name, span) {
        return part;
    }
    if let Some(found) = below::at_index(body, &base, &name, None, span) {
        return found;
    }
    let base = expr::infer(body, &base, None);
    match base.ty {
        Type::Record(id) => of_record(body, base, id, &name, span),
        Type::Object(_) | Type::Listener => match state::member_of(body, base, name.clone()) {
            Some((state, name)) => state::value(body, state, &name),
            None => unknown(span),
        },
        Type::Unknown => {
            below::without_type(body, &base, &name);
            unknown(span)
        }
        _ => {
            let text = format!("{} has no field `{}`", body.show(base.ty), name.text);
            let help = match base.ty {
                Type::Flow(_) => "parts are asked of the flow at hand, `flow.remote.port`; of a flow that is kept nothing is known: keep the part beside it",
                _ => "only records, objects, messages and flows have parts",
            };
            body.error(codes::UNKNOWN_FIELD, text, name.span, "unknown", help);
            unknown(span)
        }
    }
}

/// A field of a record by its name; for a bounded vector its length.
pub fn of_record(body: &mut Body, base: Expr, id: RecordId, name: &Name, span: Span) -> Expr {
    let Some(record) = body.cx.program.records.get(id.index()) else { return unknown(span) };
    match record.fields.iter().position(|field| field.name.text == name.text) {
        Some(index) => {
            let ty = record.fields[index].ty;
            if record.vector.is_some() {
                return vectors::length(base, span);
            }
            body.cx.mention(name, record.fields[index].name.span);
            make(ExprKind::RecordField { record: Box::new(base), field: index as u32 }, ty, span)
        }
        None => {
            let names: Vec<&str> = record.fields.iter().map(|field| field.name.text.as_str()).collect();
            let text = format!("record `{}` has no field `{}`", record.name.text, name.text);
            let mut diagnostic = Diagnostic::error(codes::UNKNOWN_FIELD, text).at(name.span, "unknown");
            diagnostic.helps.extend(suggest::help(&name.text, names));
            body.report(diagnostic);
            unknown(span)
        }
    }
}

/// `below.mtu`, `Kind.Ask`, `msg.ttl`, `device.mac`: cases in which the name in front decides.
fn of_name(body: &mut Body, owner: &Name, name: &Name, span: Span) -> Option<Expr> {
    if let Some(local) = body.locals.find(&owner.text) {
        return (body.locals.ty(local) == Type::Message).then(|| messages::part(body, local, name, span));
    }
    if body.find_state(&owner.text).is_some() {
        return None;
    }
    if body.view.devices.contains(&owner.text) {
        return Some(below::of_device(body, owner, name, span));
    }
    match owner.text.as_str() {
        "below" => return Some(below::of_below(body, name, span)),
        "above" if name.text == "layout" => return Some(below::above_layout(body, span)),
        "above" => {
            let text = "a layer reads nothing of the layer above";
            body.error(codes::NOTHING_ABOVE, text, span, "above", "values are published upwards: read `below.…`");
            return Some(unknown(span));
        }
        _ => {}
    }
    let Some(Item::Enum(id)) = body.cx.item_at(body.file, owner) else { return None };
    if let Some(value) = data::value(body, id, name, None, span) {
        return Some(value);
    }
    let item = &body.cx.program.enums[id.index()];
    if let Some((known, number)) = item.names.iter().find(|(known, _)| known.text == name.text) {
        body.cx.mention(name, known.span);
        return Some(make(ExprKind::Number(*number), Type::Enum(id), span));
    }
    let names: Vec<&str> = item.names.iter().map(|(known, _)| known.text.as_str()).collect();
    let text = format!("enum `{}` has no `{}`", owner.text, name.text);
    let mut diagnostic = Diagnostic::error(codes::UNKNOWN_VARIANT, text).at(name.span, "unknown");
    diagnostic.helps.extend(suggest::help(&name.text, names));
    body.report(diagnostic);
    Some(unknown(span))
}
