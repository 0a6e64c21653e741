//! What a plain name means in a value: a local, state, a parameter, a constant; and what to say of one that means nothing.

use mokume_base::{Diagnostic, Span};

use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::Body;
use crate::resolve::context::Item;
use crate::resolve::expr::{consts, state};
use crate::{codes, suggest};

/// Names that mean something everywhere in code.
const BUILTIN: [&str; 10] = ["now", "random", "min", "max", "clamp", "fold16", "message", "flow", "below", "above"];

/// A plain name as a value.
pub(super) fn read(body: &mut Body, name: &Name, want: Option<Type>) -> Expr {
    if let Some(local) = body.locals.find(&name.text) {
        let ty = body.locals.ty(local);
        let kind = if ty == Type::Message { ExprKind::Give(local) } else { ExprKind::Local(local) };
        return make(kind, ty, name.span);
    }
    if let Some((scope, member)) = body.find_state(&name.text) {
        let state = StateRef { scope, member, object: None, span: name.span };
        return state::value(body, state, name);
    }
    if let Some(value) = body.view.inside.as_ref().and_then(|view| view.value(&name.text)) {
        return Expr { span: name.span, ..value };
    }
    if let Some((index, ty)) = body.view.param(&name.text) {
        return make(ExprKind::Param(index), ty, name.span);
    }
    match name.text.as_str() {
        "now" if has_inputs(body, name.span, "the time") => return make(ExprKind::Now, Type::Instant, name.span),
        "random" if has_inputs(body, name.span, "a random number") => return sample(body, name.span, want),
        "now" | "random" => return unknown(name.span),
        _ => {}
    }
    if want == Some(Type::Reason) {
        return make(ExprKind::Reason(name.clone()), Type::Reason, name.span);
    }
    match body.cx.item(body.file, &name.text) {
        Some(Item::Const(index)) => match consts::of_file(body.cx, index, Some(name)) {
            Some(expr) => Expr { span: name.span, ..expr },
            None => unknown(name.span),
        },
        Some(other) => {
            let text = format!("`{}` is {}, not a value", name.text, other.kind());
            let help = match other {
                Item::Function(_) => "call it: `name(…)`",
                Item::Attribute(_) => "an attribute is read from a message: `msg.ttl`",
                Item::Container(_) => "declare state of it in a scope: `queue<u32> waiting(8)`",
                Item::Enum(_) => "name one of its values: `Kind.Ask`",
                _ => "name a value here",
            };
            body.error(codes::UNKNOWN_NAME, text, name.span, "expected a value", help);
            unknown(name.span)
        }
        None => {
            stranger(body, name);
            unknown(name.span)
        }
    }
}

fn has_inputs(body: &mut Body, span: Span, what: &str) -> bool {
    let allowed = !body.is_fixed();
    if !allowed {
        let help = "read it in a handler, or where state begins";
        body.error(
            codes::NOT_CONSTANT,
            format!("{what} is not known before the stack starts"),
            span,
            "not constant",
            help,
        );
    }
    allowed
}

fn sample(body: &mut Body, span: Span, want: Option<Type>) -> Expr {
    match want {
        Some(ty @ (Type::UInt(_) | Type::Seq(_) | Type::Bool)) => make(ExprKind::Draw, ty, span),
        _ => {
            let text = "how wide this random number is, is not known here";
            body.error(codes::NO_TYPE, text, span, "of what type?", "bind it with a type: `let x: u32 = random`");
            unknown(span)
        }
    }
}

pub fn stranger(body: &mut Body, name: &Name) {
    if let Some(place) = body.view.inside.as_ref().filter(|_| name.text == "quota").map(|view| view.place) {
        let diagnostic = Diagnostic::error(codes::QUOTA_WANTED, "this container takes from a quota, and is given none")
            .at(place, "from which quota?")
            .label(name.span, "taken from here")
            .help("name one behind it: `entity { quota kept: 64 … stream sent(1000, 8) from kept }`");
        return body.report(diagnostic);
    }
    let mut diagnostic =
        Diagnostic::error(codes::UNKNOWN_NAME, format!("there is no `{}` here", name.text)).at(name.span, "unknown");
    if let Some(owner) = body.view.hidden_owner(&body.cx.program, &name.text) {
        diagnostic = diagnostic.note(format!("`{}` belongs to the objects `{owner}`", name.text));
        body.report(diagnostic.help(format!("find one first: `if let e = {owner}[key] {{ e.{} … }}`", name.text)));
        return;
    }
    if body.is_fixed() && body.view.state_names(&body.cx.program).contains(&name.text) {
        let text = format!("`{}` is state, and this must be known before the stack starts", name.text);
        body.error(codes::NOT_CONSTANT, text, name.span, "not constant", "use a number, a `const` or a parameter");
        return;
    }
    let mut names = body.locals.names();
    names.extend(body.view.state_names(&body.cx.program));
    names.extend(body.view.params.iter().map(|param| param.name.clone()));
    let items = body.cx.names.visible(body.file, |item| matches!(item, Item::Const(_) | Item::Function(_)));
    names.extend(items.into_iter().map(String::from));
    let near = suggest::nearest(&name.text, names.iter().map(String::as_str).chain(BUILTIN));
    diagnostic = match near {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None if body.view.layer.is_some() => {
            diagnostic.help(format!("bind it with `let`, or declare it: `session {{ var {}: u32 = 0 }}`", name.text))
        }
        None => diagnostic.help("name a parameter or a `const`"),
    };
    body.report(diagnostic);
}
