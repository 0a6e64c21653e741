//! Messages in expressions: named without being given away, their octets, attributes and sums.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, AstNode, Expr as Tree};

use crate::program::signature::OF_MESSAGES;
use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::Body;
use crate::resolve::context::Item;
use crate::resolve::expr;
use crate::resolve::expr::{positional, quotes, strangers};
use crate::{codes, lost, suggest, tree};

/// What an expression can read of a message.
const READS: [&str; 7] = ["size", "share", "sum16", "received", "u8", "has", "field"];

/// The message that an expression names, without giving it away.
pub fn named(body: &mut Body, expr: &Tree) -> Option<LocalId> {
    let expr = tree::unparen(expr);
    if let Some(name) = tree::name_expr(body.file, &expr) {
        body.note(&name);
        if let Some(local) = body.locals.find(&name.text) {
            let ty = body.locals.ty(local);
            if matches!(ty, Type::Message) {
                return Some(local);
            }
            if ty != Type::Unknown {
                let text = format!("`{}` is no message, it is {}", name.text, body.show(ty));
                body.error(codes::NO_MESSAGE, text, name.span, "expected a message", "name the handler's message");
            }
            return None;
        }
        if body.find_state(&name.text).is_none() {
            strangers::report(body, &name);
            return None;
        }
    }
    let place = body.span(&expr);
    body.error(codes::NO_MESSAGE, "a message is named here", place, "expected its name", "bind it with `let` first");
    None
}

/// A message that is given away as a value.
pub fn given(body: &mut Body, expr: &Tree) -> Expr {
    let found = expr::infer(body, expr, Some(Type::Message));
    match found.ty {
        Type::Message | Type::Unknown => found,
        ty => {
            let text = format!("expected a message, found {}", body.show(ty));
            body.error(
                codes::NO_MESSAGE,
                text,
                found.span,
                "no message",
                "the message comes first: `below.send(msg, field: value)`",
            );
            Expr { ty: Type::Unknown, ..found }
        }
    }
}

/// `msg.size`, `msg.ttl`
pub fn part(body: &mut Body, message: LocalId, name: &Name, span: Span) -> Expr {
    if name.text == "size" {
        return make(ExprKind::MessageSize(message), Type::UInt(32), span);
    }
    match attribute(body, name) {
        Some(attribute) => {
            let declared = body.this_layer().is_some_and(|layer| layer.reads.contains(&attribute));
            if !declared {
                undeclared(body, name, "read", "reads");
            }
            let ty = body.cx.program.attributes[attribute.index()].ty;
            make(ExprKind::Attribute { message, attribute }, ty, span)
        }
        None => unknown(span),
    }
}

/// An attribute by its name.
pub fn attribute(body: &mut Body, name: &Name) -> Option<AttributeId> {
    // The layer may qualify it by its file: `reads internet.ttl`.
    let own = body.this_layer().map(|layer| layer.reads.iter().chain(&layer.writes).copied().collect::<Vec<_>>());
    let is_named = |id: &AttributeId| body.cx.program.attributes[id.index()].name.text == name.text;
    if let Some(id) = own.unwrap_or_default().into_iter().find(is_named) {
        body.cx.mention(name, body.cx.program.attributes[id.index()].name.span);
        return Some(id);
    }
    if let Some(Item::Attribute(id)) = body.cx.item_at(body.file, name) {
        return Some(id);
    }
    let text = format!("messages have no attribute `{}`", name.text);
    let mut diagnostic = Diagnostic::error(codes::UNKNOWN_ATTRIBUTE, text).at(name.span, "unknown");
    if let Some(ours) = of_other_languages(&name.text) {
        body.report(diagnostic.help(ours));
        return None;
    }
    let headers = body.this_layer().into_iter().flat_map(|layer| &layer.header);
    let mut fields = headers.flat_map(|header| &header.variants).flat_map(|variant| &variant.fields);
    if fields.any(|field| field.name.text == name.text) {
        let name = &name.text;
        let help = format!("a field of the header is named in the handler's head, `on deliver(msg, {name})`, and stands alone: `{name}`");
        body.report(diagnostic.help(help));
        return None;
    }
    let mut names = body.cx.names.visible(body.file, |item| matches!(item, Item::Attribute(_)));
    names.extend(READS);
    diagnostic.helps.extend(suggest::help(&name.text, names));
    body.report(diagnostic.help(format!("attributes are declared in a file: `attribute {}: u8 = 0`", name.text)));
    None
}

/// Reports an attribute that the layer does not declare to read or write.
pub fn undeclared(body: &mut Body, name: &Name, verb: &str, word: &str) {
    let text = format!("this layer does not say that it {word} `{}`", name.text);
    let help = format!("add `{word} {}` to the layer", name.text);
    let mut diagnostic = Diagnostic::error(codes::UNDECLARED, text).at(name.span, format!("{verb} here")).help(help);
    if let Some(Item::Attribute(id)) = body.cx.item_at(body.file, name) {
        diagnostic = diagnostic.loses(lost::attribute(&body.cx.program.attributes[id.index()].name));
    }
    body.report(diagnostic);
}

/// `msg.share()`, `msg.u16be(at)` and the like.
pub(super) fn method(body: &mut Body, message: LocalId, name: &Name, args: &[ast::Arg], span: Span) -> Expr {
    match name.text.as_str() {
        "share" => {
            positional::counted(body, "share", args, 0, span);
            make(ExprKind::Share(message), Type::Message, span)
        }
        "sum16" => {
            positional::counted(body, "sum16", args, 0, span);
            make(ExprKind::Sum16(message), Type::UInt(32), span)
        }
        "size" => {
            body.error(codes::NO_FUNCTION, "`size` is no function", name.span, "not called", "write `msg.size`");
            make(ExprKind::MessageSize(message), Type::UInt(32), span)
        }
        "received" => received(body, message, args, span),
        "has" => quotes::has(body, message, args, span),
        "field" => quotes::field(body, message, args, span),
        "trim" | "skip" | "join" | "split" => {
            let help = if name.text == "split" {
                "write `let (front, rest) = msg.split(n)`"
            } else {
                "write it as a statement: it changes the message in place"
            };
            body.error(codes::NO_VALUE, format!("`{}` gives no value here", name.text), span, "no value", help);
            unknown(span)
        }
        text => match field_of_octets(text) {
            Some((width, big)) => {
                let Some(values) = positional::counted(body, text, args, 1, span) else { return unknown(span) };
                let at = expr::value(body, &values[0], Type::UInt(32));
                make(ExprKind::Load { message, at: Box::new(at), width, big }, Type::UInt(width), span)
            }
            None => {
                no_operation(body, name);
                unknown(span)
            }
        },
    }
}

/// Our name for an operation on messages in other languages.
fn of_other_languages(name: &str) -> Option<&'static str> {
    Some(match name {
        "append" | "concat" | "extend" | "push" | "prepend" => "write `a.join(b)`: what `b` has comes behind `a`",
        "copy" | "clone" | "dup" | "duplicate" => "write `msg.share()`",
        "length" | "len" | "octets" | "count" => "write `msg.size`",
        "truncate" | "resize" => "write `msg.trim(n)`: the first `n` octets stay",
        "slice" | "substr" => "write `let (front, rest) = msg.split(n)`, `msg.trim(n)` or `msg.skip(n)`",
        "pull" | "consume" | "advance" => "write `msg.skip(n)`: the first `n` octets go",
        _ => return None,
    })
}

/// Of `u16` or `put_u32`, which lack the order of octets.
fn without_order(name: &str) -> Option<String> {
    let bits: u32 = name.strip_prefix("put_").unwrap_or(name).strip_prefix('u')?.parse().ok()?;
    let is_field = bits > 8 && bits <= 64 && bits.is_multiple_of(8);
    is_field.then(|| format!("say the order of the octets: `{name}be`, the high one first, or `{name}le`"))
}

fn no_operation(body: &mut Body, name: &Name) {
    let text = format!("messages have no operation `{}`", name.text);
    let mut diagnostic = Diagnostic::error(codes::NO_FUNCTION, text).at(name.span, "unknown");
    let ours = of_other_languages(&name.text).map(str::to_string);
    let ours = ours.or_else(|| without_order(&name.text));
    let near = ours.or_else(|| suggest::nearest(&name.text, OF_MESSAGES).map(|near| format!("did you mean `{near}`?")));
    let octets = "a field of its octets is `msg.u16be(at)`; `uN` and `be` or `le`, in whole octets";
    diagnostic.helps.push(near.unwrap_or(octets.to_string()));
    body.report(diagnostic);
}

fn received(body: &mut Body, message: LocalId, args: &[ast::Arg], span: Span) -> Expr {
    let Some(values) = positional::counted(body, "received", args, 1, span) else { return unknown(span) };
    let Some(name) = body.item_name(&values[0]) else {
        let place = values[0].span(body.file);
        body.error(
            codes::UNKNOWN_ITEM,
            "a wire is named here",
            place,
            "expected a wire",
            "write `msg.received(Rfc791)`",
        );
        return unknown(span);
    };
    match body.cx.item_at(body.file, &name) {
        Some(Item::Wire(wire)) => make(ExprKind::Received { message, wire }, Type::Message, span),
        _ => {
            body.cx.unknown(codes::UNKNOWN_ITEM, "a wire", &name, body.file, |item| matches!(item, Item::Wire(_)));
            unknown(span)
        }
    }
}

/// The width and byte order of a name like `u16be`.
pub fn field_of_octets(name: &str) -> Option<(u8, bool)> {
    let rest = name.strip_prefix('u')?;
    if rest == "8" {
        return Some((8, true));
    }
    let (digits, big) = match (rest.strip_suffix("be"), rest.strip_suffix("le")) {
        (Some(digits), _) => (digits, true),
        (_, Some(digits)) => (digits, false),
        _ => return None,
    };
    let width: u8 = digits.parse().ok()?;
    (width.is_multiple_of(8) && (16..=64).contains(&width)).then_some((width, big))
}
