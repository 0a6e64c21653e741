//! The meaning of a plain name in a value: a local, state, a parameter, a constant; and reports of names without a
//! meaning.

use mokume_base::Span;

use crate::codes;
use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::views;
use crate::resolve::body::{Body, BodyKind, Role};
use crate::resolve::context::Item;
use crate::resolve::expr::{consts, state, strangers};

/// A plain name as a value.
pub(super) fn read(body: &mut Body, name: &Name, want: Option<Type>) -> Expr {
    body.note(name);
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
        "me" => {
            if let Some(view) = views::of(body) {
                return views::me(&body.cx.program, &view, name.span);
            }
        }
        "flow" if is_at_hand(body) => return make(ExprKind::FlowHere, Type::Flow(Side::Above), name.span),
        _ => {}
    }
    if want == Some(Type::Reason) {
        return make(ExprKind::Reason(name.clone()), Type::Reason, name.span);
    }
    of_file(body, name, want)
}

/// The value of a name in scope that is a reason: a local, state, or a parameter. `None` for others, which are names of reasons.
pub fn reason(body: &mut Body, name: &Name) -> Option<Expr> {
    let of_state = |body: &Body| match &body.member_named(&name.text)?.kind {
        MemberKind::Var { ty, .. } => Some(*ty),
        _ => None,
    };
    let of_inside =
        |body: &Body| body.view.inside.as_ref().and_then(|view| view.value(&name.text)).map(|value| value.ty);
    let ty = match body.locals.find(&name.text) {
        Some(local) => Some(body.locals.ty(local)),
        None => of_state(body).or_else(|| of_inside(body)).or_else(|| Some(body.view.param(&name.text)?.1)),
    };
    (ty == Some(Type::Reason)).then(|| read(body, name, Some(Type::Reason)))
}

/// A name of the file as a value: a constant; everything else is reported.
fn of_file(body: &mut Body, name: &Name, want: Option<Type>) -> Expr {
    match body.cx.item_at(body.file, name) {
        Some(Item::Const(index)) => match consts::of_file(body.cx, index, Some(name)) {
            Some(expr) => Expr { span: name.span, ..expr },
            None => unknown(name.span),
        },
        Some(other) => {
            let text = format!("`{}` is {}, not a value", name.text, other.kind());
            let attribute = format!("an attribute is read from a message: `msg.{}`", name.text);
            let help = match other {
                Item::Function(_) => "call it: `name(…)`",
                Item::Attribute(_) => attribute.as_str(),
                Item::Container(_) => "declare state of it in a scope: `queue<u32> waiting(8)`",
                Item::Enum(_) => "name one of its values: `Kind.Ask`",
                Item::Part(_) => {
                    "its functions are called by its name in small letters: `sending_side.f()` of `SendingSide`"
                }
                Item::Service(_) => "a layer calls a service as it says: `uses Log as log`, `log.note(…)`",
                _ => "name a value here",
            };
            body.error(codes::UNKNOWN_NAME, text, name.span, "expected a value", help);
            unknown(name.span)
        }
        None => {
            strangers::report_as_value(body, name, want);
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
        Some(ty @ (Type::UInt(_) | Type::Seq(_) | Type::Bool)) => make(ExprKind::Sample, ty, span),
        Some(Type::Duration | Type::Instant) => {
            let text = "a random value is a number or a `bool`";
            body.error(
                codes::NO_TYPE,
                text,
                span,
                "a time is wanted",
                "draw a number, and count with it: `let n: u32 = random`, then `(n % 5) * 1 ms`",
            );
            unknown(span)
        }
        Some(ty @ (Type::Enum(_) | Type::Record(_))) => {
            let text = format!("a random value is a number or a `bool`, and {} is none", body.show(ty));
            let help = "draw a number, and choose by it: `match n & 1 { 0 => { … }  else => { … } }`";
            body.error(codes::NO_TYPE, text, span, "of another kind", help);
            unknown(span)
        }
        _ => {
            let text = "how wide this random number is, is not known here";
            body.error(codes::NO_TYPE, text, span, "of what type?", "bind it with a type: `let x: u32 = random`");
            unknown(span)
        }
    }
}

/// Whether the current handler has a flow of its own: its layer's sessions have flows.
pub(super) fn is_at_hand(body: &Body) -> bool {
    let role = match body.kind {
        BodyKind::Handler(role) => role,
        BodyKind::Constant | BodyKind::Argument | BodyKind::Value | BodyKind::Function => return false,
    };
    let shape = matches!(body.shape(), Some(Shape::Worker | Shape::Multiplexor));
    shape && !matches!(role, Role::Start | Role::Service | Role::Arrives | Role::Unmatched)
}
