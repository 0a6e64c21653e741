//! Calls by a plain name: built-in functions, functions of the layer, functions given as parameters, and functions of
//! files.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, Expr as Tree};

use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::Body;
use crate::resolve::context::{Item, Kind};
use crate::resolve::expr;
use crate::resolve::expr::{
    arguments, conversions, flows, methods, natives, operations, operators, parts, positional, refusals,
};
use crate::{codes, suggest};

/// A call: by a plain name, or of something behind a dot.
pub fn read(body: &mut Body, call: &ast::CallExpr, want: Option<Type>, span: Span) -> Expr {
    let (Some(callee), args) = (call.callee(), call.args()) else { return unknown(span) };
    if let Some(found) = parts::call(body, &callee, &args, span) {
        return found;
    }
    if let Some(name) = body.item_name(&callee) {
        return by_name(body, &name, &args, want, span);
    }
    if let Tree::Field(field) = &callee {
        return methods::read(body, field, &args, span);
    }
    let place = body.span(&callee);
    body.error(codes::NO_FUNCTION, "this cannot be called", place, "no function", "name a function");
    unknown(span)
}

fn by_name(body: &mut Body, name: &Name, args: &[ast::Arg], want: Option<Type>, span: Span) -> Expr {
    if let Some(found) = own_function(body, name, args, span) {
        return found;
    }
    match name.text.as_str() {
        "min" | "max" => {
            let op = if name.text == "min" { Binary::Min } else { Binary::Max };
            let Some(values) = positional::counted(body, &name.text, args, 2, span) else { return unknown(span) };
            let (a, b) = operators::pair(body, &values[0], &values[1], want);
            operations::operate(body, op, a, b, name.span, span)
        }
        "clamp" => clamp(body, args, want, name.span, span),
        "fold16" => {
            let Some(values) = positional::counted(body, "fold16", args, 1, span) else { return unknown(span) };
            let sum = expr::value(body, &values[0], Type::UInt(32));
            make(ExprKind::Fold16(Box::new(sum)), Type::UInt(16), span)
        }
        "message" => new_message(body, args, span),
        "flow" => flows::read(body, args, want, span),
        _ => file_function(body, name, args, span),
    }
}

fn clamp(body: &mut Body, args: &[ast::Arg], want: Option<Type>, place: Span, span: Span) -> Expr {
    let Some(values) = positional::counted(body, "clamp", args, 3, span) else { return unknown(span) };
    let (x, low) = operators::pair(body, &values[0], &values[1], want);
    let hint = Some(x.ty).filter(|ty| *ty != Type::Unknown);
    let high = expr::infer(body, &values[2], hint);
    let above = operations::operate(body, Binary::Max, x, low, place, span);
    let (above, high) = conversions::unify(body, above, high);
    operations::operate(body, Binary::Min, above, high, place, span)
}

fn new_message(body: &mut Body, args: &[ast::Arg], span: Span) -> Expr {
    let octets = match args.first().and_then(|arg| arg.value()) {
        None => Vec::new(),
        Some(Tree::Octets(octets)) => octets.octets(),
        Some(other) => {
            let place = body.span(&other);
            let help = "write `message(\"text\")` or `message(x\"00ff\")`, then `put_u16be` and its like";
            body.error(codes::MISMATCH, "a new message is made of octets", place, "expected a string", help);
            Vec::new()
        }
    };
    make(ExprKind::NewMessage { octets }, Type::Message, span)
}

fn own_function(body: &mut Body, name: &Name, args: &[ast::Arg], span: Span) -> Option<Expr> {
    let function = body.own_function(&name.text)?;
    let head = body.this_layer()?.functions.get(function as usize)?.clone();
    body.cx.mention(name, head.name.span);
    let args = arguments::for_params(body, &name.text, &head.params, args, span);
    refusals::refusal_is_met(body, &head, span);
    Some(make(ExprKind::CallOwn { function, args }, head.result, span))
}

/// The stand-in for a function that the layer has as a parameter.
fn given_function(body: &Body, name: &Name) -> Option<FunctionId> {
    let found = body.cx.higher.of_layer(body.view.layer?).iter().find(|higher| higher.name.text == name.text)?;
    match found.kind {
        Kind::Function { standin, .. } => {
            body.cx.mention(name, found.name.span);
            Some(standin)
        }
        Kind::Layer { .. } | Kind::Container { .. } => None,
    }
}

/// The statement or value of the language for something that is a call in other languages.
fn statement_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "start" => "start t after 20 ms",
        "stop" => "stop t",
        "running" => "running t",
        "take" => "take kept or { … }",
        "give" => "give kept",
        "left" => "left kept",
        "count" => "count hits",
        "remove" => "remove m[k]",
        "end" => "end e",
        "drop" => "drop msg: reason",
        "consume" => "consume msg: reason",
        "later" => "later name(…)",
        "fail" => "fail: reason",
        "sizeof" | "len" => "msg.size",
        "send" => "below.send(msg)",
        "deliver" => "above.deliver(msg)",
        _ => return None,
    })
}

fn file_function(body: &mut Body, name: &Name, args: &[ast::Arg], span: Span) -> Expr {
    if let Some(standin) = given_function(body, name) {
        let head = body.cx.program.functions[standin.index()].clone();
        let args = arguments::for_params(body, &name.text, &head.params, args, span);
        return make(ExprKind::Call { function: standin, args }, head.result, span);
    }
    if let Some(Item::Function(id)) = body.cx.item_at(body.file, name) {
        // Heads of functions are resolved after constants; the result of a function is not a constant.
        let Some(head) = body.cx.program.functions.get(id.index()).cloned() else {
            let text = format!("what `{}` gives is not known before the stack starts", name.text);
            body.error(codes::NOT_CONSTANT, text, span, "not constant", "write the value, or compute it in a handler");
            return unknown(span);
        };
        let args = arguments::for_params(body, &name.text, &head.params, args, span);
        if head.native.is_some() {
            return natives::call(body, id, head.result, args, span);
        }
        return make(ExprKind::Call { function: id, args }, head.result, span);
    }
    if let Some(ours) = statement_of(&name.text) {
        let text = format!("`{}` is no function", name.text);
        body.error(codes::NO_FUNCTION, text, name.span, "without parentheses", &format!("write `{ours}`"));
        return unknown(span);
    }
    if let "random" | "now" = name.text.as_str() {
        let text = format!("`{}` is a value, and no function", name.text);
        let help = match name.text.as_str() {
            "random" => "it has the type that is asked for: `let id: u16 = random`; from a range: `random % 100`",
            _ => "write `now`",
        };
        body.error(codes::NO_FUNCTION, text, name.span, "without parentheses", help);
        return unknown(span);
    }
    let own = body.this_layer().map_or(Vec::new(), |layer| {
        layer.functions.iter().map(|function| function.name.text.clone()).collect::<Vec<_>>()
    });
    let mut names: Vec<&str> = own.iter().map(String::as_str).collect();
    names.extend(body.cx.names.visible(body.file, |item| matches!(item, Item::Function(_))));
    names.extend(["min", "max", "clamp", "fold16", "message", "flow"]);
    let text = format!("there is no function `{}` here", name.text);
    let mut diagnostic = Diagnostic::error(codes::NO_FUNCTION, text).at(name.span, "unknown");
    let near = suggest::nearest(&name.text, names);
    let of_part = body.this_layer().and_then(|layer| {
        let has = |part: &&Part| part.functions.iter().any(|(own, _)| *own == name.text);
        layer.parts.iter().find(has).map(|part| format!("{}.{}", part.called, name.text))
    });
    diagnostic = match near {
        _ if of_part.is_some() => diagnostic.help(format!("it is a part's: `{}(…)`", of_part.unwrap_or_default())),
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.help(match of_a_service(body, &name.text) {
            Some(whole) => format!("it is a service's: `{whole}(…)`"),
            None => meant_by(body, &name.text).unwrap_or_else(|| {
                "an event is emitted with its direction: `below.name(…)`, `above.name(…)`".to_string()
            }),
        }),
    };
    body.report(diagnostic);
    for value in args.iter().filter_map(|arg| arg.value()) {
        expr::infer(body, &value, None);
    }
    unknown(span)
}

/// What a call of another language is here, or of the layer's own alternatives and of records.
fn meant_by(body: &Body, name: &str) -> Option<String> {
    let with_braces = |name: &str, fields: &[Field]| {
        let fields: Vec<String> = fields.iter().map(|field| format!("{}: …", field.name.text)).collect();
        format!("write it with braces: `{name} {{ {} }}`", fields.join(", "))
    };
    let own = body.this_layer().and_then(|layer| layer.header.as_ref());
    let alternative = own.and_then(|header| header.variants.iter().find(|variant| variant.name.text == name));
    if let Some(alternative) = alternative {
        return Some(with_braces(name, &alternative.fields));
    }
    if let Some(record) =
        body.cx.program.records.iter().find(|record| record.name.text == name && record.vector.is_none())
    {
        return Some(with_braces(name, &record.fields));
    }
    let help = match name.to_ascii_lowercase().as_str() {
        "print" | "println" | "printf" | "puts" | "echo" | "trace" => {
            "code prints nothing: count what happens, `count seen`, or look at a run with `--log` or `mokume debug`"
        }
        "sleep" | "wait" | "delay" | "usleep" | "settimeout" => {
            "code never waits: `start t after 20 ms`, and go on in `on expiry t { … }`"
        }
        "assert" => "a `test` says what must come out; in code, `if … { drop msg: reason }`",
        "len" | "length" | "sizeof" => "a list has `list.length`, a message `msg.size`",
        "malloc" | "alloc" | "new" => {
            "all memory is declared: state in `entity { … }`, objects in `object Peer[key: u32] capacity 8 { … }`"
        }
        _ => return None,
    };
    Some(help.to_string())
}

/// An operation of a service that the layer uses, with the service's name here.
fn of_a_service(body: &Body, operation: &str) -> Option<String> {
    let layer = body.this_layer()?;
    layer.uses.iter().find_map(|(service, alias)| {
        let operations = &body.cx.program.services.get(service.index())?.operations;
        let has_it = operations.iter().any(|known| known.name.text == operation && !known.out);
        has_it.then(|| format!("{}.{operation}", alias.text))
    })
}
