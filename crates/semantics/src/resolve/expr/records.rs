//! Record expressions, `Pair { left: 1, right }`, and other lists of named fields with values.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, AstNode, Expr as Tree};

use crate::program::*;
use crate::resolve::body::terms::{cast, make, unknown};
use crate::resolve::body::views;
use crate::resolve::body::Body;
use crate::resolve::context::Item;
use crate::resolve::expr;
use crate::resolve::expr::{annotations, conversions, named_types, names};
use crate::{codes, lost, suggest, tree};

/// `Pair { left: 1, right }`
pub(super) fn read(body: &mut Body, expr: &ast::RecordExpr, span: Span) -> Expr {
    let Some(name) = expr.name().map(|name| Name { text: name.text(), span: name.span(body.file) }) else {
        return unknown(span);
    };
    let id = match body.cx.item_at(body.file, &name) {
        Some(Item::Record(id)) => id,
        Some(Item::Alias(index)) => match annotations::alias(body.cx, index, &name) {
            Type::Record(id) => id,
            _ => return unknown(span),
        },
        None if is_alternative(body, &name.text) => {
            let text = format!("`{}` is an alternative of the header, and no value", name.text);
            let help = format!("it stands where it is sent, and only there: `below.send({} {{ … }})`", name.text);
            body.error(codes::UNKNOWN_TYPE, text, name.span, "not a record", &help);
            return unknown(span);
        }
        _ => {
            body.cx.unknown(codes::UNKNOWN_TYPE, "a record", &name, body.file, |item| matches!(item, Item::Record(_)));
            return unknown(span);
        }
    };
    let mut fields = body.cx.program.records[id.index()].fields.clone();
    let given = given(body, &expr.fields());
    let me = numbered(body, id, &given);
    if let Some(me) = me {
        fields[me].ty = Type::UInt(32);
    }
    let mut values = values(body, &name.text, "record", &fields, given, span);
    if let Some(me) = me {
        values[me] = cast(values[me].clone(), Type::Rank, CastKind::Truncate);
    }
    make(ExprKind::Record { record: id, fields: values }, Type::Record(id), span)
}

/// Whether the layer's own header has an alternative of this name.
fn is_alternative(body: &Body, name: &str) -> bool {
    let header = body.this_layer().and_then(|layer| layer.header.as_ref());
    header.is_some_and(|header| header.variants.iter().any(|variant| variant.name.text == name))
}

/// In a view that is being made, our own rank is a number, as it is not yet a rank of any view.
fn numbered(body: &mut Body, id: RecordId, given: &[(Name, Option<Tree>)]) -> Option<usize> {
    let me = views::of_record(&body.cx.program, id)?.me as usize;
    let called = body.cx.program.records[id.index()].fields[me].name.text.clone();
    let (_, value) = given.iter().find(|(name, _)| name.text == called)?;
    let value = value.as_ref()?;
    (named_types::of(body, value) != Some(Type::Rank)).then_some(me)
}

/// `{ left: 1, right }` as names and expressions; in the short form the name is the value.
fn given(body: &mut Body, fields: &[ast::RecordExprField]) -> Vec<(Name, Option<Tree>)> {
    let named = fields.iter().filter_map(|field| Some((tree::some_name(body.file, field.name())?, field.value())));
    named.collect()
}

/// Exactly one value for each field, in the order of the declaration.
pub fn values(
    body: &mut Body,
    owner: &str,
    what: &str,
    fields: &[Field],
    given: Vec<(Name, Option<Tree>)>,
    span: Span,
) -> Vec<Expr> {
    let mut values: Vec<Option<Expr>> = vec![None; fields.len()];
    let mut places: Vec<Option<Span>> = vec![None; fields.len()];
    let mut misspelt = false;
    for (name, value) in given {
        let Some(index) = fields.iter().position(|field| field.name.text == name.text) else {
            no_field(body, &format!("{what} `{owner}`"), fields, &name);
            value.iter().for_each(|value| drop(expr::infer(body, value, None)));
            misspelt = true;
            continue;
        };
        body.cx.mention(&name, fields[index].name.span);
        let found = match &value {
            Some(value) => expr::value(body, value, fields[index].ty),
            None => {
                let found = names::read(body, &name, Some(fields[index].ty));
                conversions::coerce(body, found, fields[index].ty)
            }
        };
        values[index] = Some(found);
        if let Some(first) = places[index].replace(name.span) {
            body.cx.given_twice(&format!("field `{}`", name.text), name.span, first);
            misspelt = true;
        }
    }
    let given = fields.iter().zip(&values);
    let missing: Vec<&str> =
        given.filter(|(_, value)| value.is_none()).map(|(field, _)| field.name.text.as_str()).collect();
    if !missing.is_empty() && !misspelt {
        let text = format!("{what} `{owner}` needs a value for {}", suggest::list(&missing));
        let help = format!("add `{}: …`", missing[0]);
        body.error(codes::FIELDS_MISSING, text, span, "missing here", &help);
    }
    values.into_iter().map(|value| value.unwrap_or(unknown(span))).collect()
}

/// The way out for an attribute of messages that is given as a field of a header.
pub fn set_beside(body: &Body, name: &Name) -> Option<String> {
    let Item::Attribute(id) = body.cx.item_at(body.file, name)? else { return None };
    let name = &name.text;
    let is_declared = body.this_layer().is_some_and(|layer| layer.writes.contains(&id));
    let declared = if is_declared { String::new() } else { format!("`writes {name}` in this layer, and ") };
    Some(format!(
        "it is an attribute of the message, not a field: {declared}`msg.{name} = …` before the message is sent"
    ))
}

fn no_field(body: &mut Body, owner: &str, fields: &[Field], name: &Name) {
    let names = fields.iter().map(|field| field.name.text.as_str());
    let text = format!("{owner} has no field `{}`", name.text);
    let mut diagnostic = Diagnostic::error(codes::UNKNOWN_FIELD, text).at(name.span, "unknown");
    if !owner.starts_with("record") {
        diagnostic.helps.extend(set_beside(body, name));
    }
    diagnostic.helps.extend(suggest::help(&name.text, names));
    if owner.starts_with("the header of") {
        diagnostic.lacks.extend(body.this_layer().and_then(|layer| lost::field(layer, &name.text)));
    }
    body.report(diagnostic);
}
