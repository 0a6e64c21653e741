//! Conversions to an expected type: a value is widened, or refused with a help.

use mokume_base::Diagnostic;

use crate::program::*;
use crate::resolve::body::terms::{cast, unknown};
use crate::resolve::body::Body;
use crate::{codes, constants, lost, types, visit};

/// Converts a value to the expected type.
pub fn coerce(body: &mut Body, expr: Expr, want: Type) -> Expr {
    if other_side(body, &expr, want) {
        return Expr { ty: Type::Unknown, ..expr };
    }
    if types::same(expr.ty, want) {
        // A flow can stand for one of the other side only if the layer adds nothing to it.
        return expr;
    }
    if types::widens(expr.ty, want) {
        return cast(expr, want, CastKind::Widen);
    }
    if let Some(fitting) = constant(body, &expr, want) {
        return fitting;
    }
    body.soft_used(&expr, want);
    let (from, to) = (body.show(expr.ty), body.show(want));
    let code = if narrows(expr.ty, want) { codes::NARROWS } else { codes::MISMATCH };
    let mut diagnostic =
        Diagnostic::error(code, format!("expected {to}, found {from}")).at(expr.span, format!("this is {from}"));
    let help = counted(&expr, want).or_else(|| way_to(expr.ty, want, &to)).or_else(|| way_into(body, expr.ty, want));
    diagnostic.helps.push(help.unwrap_or_else(|| format!("write a value of type {to} here")));
    if let Some(name) = counted(&expr, want).and_then(|_| only_name(body, &expr)) {
        // A declaration is one place, but its uses are many.
        diagnostic = diagnostic.label(name.span, format!("`{}` is declared here", name.text));
        diagnostic.lacks.push(lost::within(name.span, &to));
    }
    body.report(diagnostic);
    // A refused message is still held.
    match expr.kind {
        ExprKind::Give(_) => unknown(expr.span),
        _ => Expr { ty: Type::Unknown, ..expr },
    }
}

/// A duration is a number of a unit: if the value is a plain number, only the unit is missing.
fn counted(expr: &Expr, want: Type) -> Option<String> {
    let number = matches!(expr.kind, ExprKind::Number(_) | ExprKind::Cast { .. });
    let is_so = matches!((expr.ty, want), (Type::UInt(_), Type::Duration)) && !number;
    is_so.then(|| "say of what it is so many: `… * 1 ms`; or let what is named here be a `Duration`".to_string())
}

/// The only parameter, state or local in a value that otherwise consists of numbers.
fn only_name(body: &Body, expr: &Expr) -> Option<Name> {
    let mut names = Vec::new();
    let mut others = false;
    visit::walk_expr(expr, &mut |inner| match &inner.kind {
        ExprKind::Param(index) => {
            let layer = body.this_layer();
            names.push(layer.and_then(|layer| layer.params.get(*index as usize)).map(|param| param.name.clone()));
        }
        ExprKind::State(state) if state.object.is_none() => {
            names.push(body.member(state.scope, state.member).map(|member| member.name.clone()));
        }
        ExprKind::Number(_) | ExprKind::Binary { .. } | ExprKind::Cast { .. } => {}
        _ => others = true,
    });
    names.dedup_by_key(|name| name.as_ref().map(|name| name.span));
    match &names[..] {
        [one] if !others => one.clone(),
        _ => None,
    }
}

/// A field of the record that has the expected type.
fn way_into(body: &Body, from: Type, to: Type) -> Option<String> {
    if let Type::Flow(_) = to {
        return Some("name the part of the flow that it is: `local.port: …`, `remote.host: …`".to_string());
    }
    let Type::Record(id) = from else { return None };
    let fields = &body.cx.program.records.get(id.index())?.fields;
    let only = |fits: &dyn Fn(&&Field) -> bool| match fields.iter().filter(fits).collect::<Vec<_>>()[..] {
        [field] => Some(field),
        _ => None,
    };
    let field = only(&|field| types::same(field.ty, to)).or_else(|| only(&|field| types::widens(field.ty, to)))?;
    Some(format!("its `{0}` is of this type: write `.{0}` behind it", field.name.text))
}

/// A constant number in the expected type, if it fits.
fn constant(body: &Body, expr: &Expr, want: Type) -> Option<Expr> {
    let (Type::UInt(_), Type::UInt(width) | Type::Seq(width)) = (expr.ty, want) else { return None };
    let value = constants::eval(&body.cx.program, expr).ok()?.scalar()?;
    (value <= types::mask(width)).then(|| Expr { kind: ExprKind::Number(value), ty: want, ..expr.clone() })
}

fn narrows(from: Type, to: Type) -> bool {
    matches!((from, to), (Type::UInt(a), Type::UInt(b)) if a > b)
}

/// How to convert between the types, if there is a short way.
fn way_to(from: Type, to: Type, shown: &str) -> Option<String> {
    use Type::*;
    match (from, to) {
        (UInt(_), UInt(_)) => Some(format!(
            "write `as {shown}`, which reports what does not fit, or `as% {shown}`, which keeps the low bits"
        )),
        (Seq(narrow), UInt(wide)) if narrow < wide => Some(format!(
            "it begins again at 0 after {}, and a {shown} does not: count on from one that is known, `base +% ((number - expected) as {shown})`; `as {shown}` alone keeps the number of this round",
            types::mask(narrow)
        )),
        (UInt(_), Seq(_)) | (Seq(_), UInt(_)) | (Enum(_), UInt(_)) => Some(format!("write `as {shown}`")),
        (Duration, UInt(64)) => Some("say in which unit: `x / 1 ms`; `as u64` counts nanoseconds".into()),
        (Duration, UInt(_)) => Some(format!("say in which unit: `(x / 1 ms) as {shown}`")),
        (UInt(_), Duration) => Some("write a unit: `20 ms`, `1 s`".into()),
        (UInt(_) | Seq(_), Instant) | (Duration, Instant) => {
            Some("an instant is `now` and a duration: `now + 20 ms`".into())
        }
        (Instant, Duration) => Some("a duration is the difference of two instants: `now - x`".into()),
        (UInt(_), Enum(_)) => Some("write the name, or `match` over the numbers".into()),
        (UInt(_), Bool) => Some("compare it: `x != 0`".into()),
        (Bool, UInt(_)) => Some(format!("write `if c {{ 1 }} else {{ 0 }}`, or `as {shown}`")),
        (Unit, _) => Some("this gives no value".into()),
        (Message, UInt(_)) => Some("read something of it: `msg.size`, `msg.u8(0)`".into()),
        _ => None,
    }
}

/// Whether a flow may stand for one of the other side: only if the layer adds nothing to it, or removes it itself.
fn other_side(body: &mut Body, expr: &Expr, want: Type) -> bool {
    let (Type::Flow(found), Type::Flow(wanted)) = (expr.ty, want) else { return false };
    let differ = match body.shape() {
        Some(Shape::Router) => found != wanted && !body.this_layer().is_some_and(Layer::chooses),
        Some(Shape::Multiplexor) => found == Side::Below && wanted == Side::Above,
        _ => false,
    };
    if differ {
        let names = |side| if side == Side::Above { "above" } else { "below" };
        let text = format!("a flow of the side {}, where one of the side {} is wanted", names(found), names(wanted));
        let help = "make the other one: `flow(local: …, remote: …)`; state of lower flows is a `LowerFlow`";
        body.error(codes::OTHER_SIDE, text, expr.span, "the other side", help);
    }
    differ
}

/// Widens the narrower of two values.
pub(super) fn unify(body: &mut Body, a: Expr, b: Expr) -> (Expr, Expr) {
    if types::widens(a.ty, b.ty) {
        let ty = b.ty;
        return (cast(a, ty, CastKind::Widen), b);
    }
    let ty = a.ty;
    let b = coerce(body, b, ty);
    (a, b)
}
