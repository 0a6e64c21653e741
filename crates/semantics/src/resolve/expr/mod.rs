//! Values: from the trees of expressions to typed expressions.
//!
//! An expression is resolved with an expected type: [`infer`] uses it as a hint for literals, [`value`] requires it.
//! The parts of an expression are expressions, so all its rules call back here. Constants and bounds of types need
//! values too, so they are in this room.
//!
//! May assume: all items are declared; heads of layers, as far as their pass has come. Keeps: what could not be
//! resolved has the type `Unknown` and was reported once; no statement is read here.

pub mod annotations;
pub mod arguments;
pub mod below;
mod branches;
mod calls;
mod casts;
pub mod consts;
pub mod containers;
pub mod conversions;
pub mod data;
pub mod fields;
pub mod fixed;
mod flow_parts;
pub mod flows;
pub mod indices;
pub mod messages;
mod methods;
pub mod named_types;
pub mod names;
mod natives;
mod numbers;
pub mod operations;
pub mod operators;
mod parts;
pub mod patterns;
pub mod positional;
mod quotes;
pub mod records;
mod refusals;
pub mod rows;
pub mod state;
pub mod strangers;
pub mod vectors;
pub mod written;

use mokume_base::Span;
use mokume_syntax::ast::{self, Expr as Tree, NumberValue};

use crate::program::*;
use crate::resolve::body::terms::{self, make, unknown};
use crate::resolve::body::{Body, BodyKind};
use crate::{codes, tree};

/// Resolves an expression; `want` gives literals their type and is not checked here. One line for each kind: the table
/// of this room.
pub fn infer(body: &mut Body, expr: &Tree, want: Option<Type>) -> Expr {
    let span = body.span(expr);
    match expr {
        Tree::Name(_) => match tree::name_expr(body.file, expr) {
            Some(name) => names::read(body, &name, want),
            None => unknown(span),
        },
        Tree::Number(number) => match number.value() {
            Some(NumberValue::Plain(value)) => numbers::plain(body, value, span, want),
            Some(NumberValue::Written(text)) => written::literal(body, &text, span, want),
            None => unknown(span),
        },
        Tree::Duration(duration) => numbers::duration(body, duration, span),
        Tree::Bool(value) => make(ExprKind::Number(u64::from(value.value())), Type::Bool, span),
        Tree::Octets(octets) => {
            if let Some(vector) = vectors::of_octets(body, &octets.octets(), want, span) {
                return vector;
            }
            octets_as_value(body, &octets.octets(), span, want)
        }
        Tree::Paren(paren) => match paren.all().as_slice() {
            [inner] => infer(body, inner, want),
            [] => unknown(span),
            _ => {
                let help = "a tuple stands only for the keys and values of a map: `m[(a, b)]`";
                no_value(body, "a tuple is no value", span, "several values", help)
            }
        },
        Tree::Vector(vector) => vectors::literal(body, vector, want, span),
        Tree::Unary(unary) => operators::unary(body, unary, want, span),
        Tree::Binary(binary) => operators::binary(body, binary, want, span),
        Tree::Cast(cast) => casts::read(body, cast, span),
        Tree::Call(call) => calls::read(body, call, want, span),
        Tree::Field(field) => match body.item_name(expr) {
            Some(name) => names::read(body, &name, want),
            None => fields::read(body, field, span),
        },
        Tree::Index(index) => indices::read(body, index, span),
        Tree::Record(record) => records::read(body, record, span),
        Tree::Running(running) => state::running(body, running, span),
        Tree::Left(left) => state::left(body, left, span),
        Tree::If(inner) => branches::if_value(body, inner, want, span),
        Tree::Match(inner) => branches::match_value(body, inner, want, span),
        Tree::Range(_) => {
            no_value(body, "a range is no value", span, "a range", "it stands in `for i in a .. b limit 8`")
        }
        Tree::Packet(_) => {
            no_value(body, "a packet is no value", span, "a packet", "packets stand in the steps of tests")
        }
        Tree::Bind(_) | Tree::Hole(_) => unknown(span),
    }
}

fn no_value(body: &mut Body, text: &str, span: Span, label: &str, help: &str) -> Expr {
    body.error(codes::MISMATCH, text, span, label, help);
    unknown(span)
}

/// Reports a text or octets where a value is wanted.
fn octets_as_value(body: &mut Body, octets: &[u8], span: Span, want: Option<Type>) -> Expr {
    let places = "a text stands in a vector of octets, `[u8; ..24]`, or in a message, `message(\"text\")`";
    let (text, help) = match want {
        Some(ty @ (Type::Bool | Type::UInt(_) | Type::Seq(_) | Type::Duration | Type::Instant | Type::Enum(_))) => {
            (format!("expected {}, found octets", body.show(ty)), places)
        }
        _ => ("octets are no value by themselves".to_string(), "a new message is `message(\"text\")`"),
    };
    let reads = |text: &&str| body.cx.program.written.iter().any(|written| written.form.read(text).is_some());
    let address = std::str::from_utf8(octets).ok().filter(reads);
    match (want, octets) {
        (Some(Type::UInt(_) | Type::Record(_)), _) if address.is_some() => {
            let help = format!("an address stands without quotes: `{}`", address.unwrap_or_default());
            no_value(body, &text, span, "octets", &help)
        }
        (Some(Type::UInt(8..)), [octet]) => {
            no_value(body, &text, span, "octets", &format!("an octet is a number: write `0x{octet:02x}`"))
        }
        _ => no_value(body, &text, span, "octets", help),
    }
}

/// Resolves an expression and converts it to the expected type; reports if that is not possible.
pub fn value(body: &mut Body, expr: &ast::Expr, want: Type) -> Expr {
    let found = infer(body, expr, Some(want));
    conversions::coerce(body, found, want)
}

/// As [`value`]; unknown if the parser found no expression.
pub fn some_value(body: &mut Body, expr: Option<ast::Expr>, want: Type, span: Span) -> Expr {
    match expr {
        Some(expr) => value(body, &expr, want),
        None => unknown(span),
    }
}

/// An amount, a size or a limit: a `u32` of parameters and constants.
pub fn size(body: &mut Body, expr: Option<ast::Expr>, span: Span) -> Expr {
    let Some(expr) = expr else { return unknown(span) };
    let kind = std::mem::replace(&mut body.kind, BodyKind::Argument);
    let found = value(body, &expr, Type::UInt(32));
    body.kind = kind;
    if let ExprKind::Number(0) = found.kind {
        if found.ty != Type::Unknown {
            empty(body, &expr, found.span);
        }
    }
    if matches!(found.kind, ExprKind::Number(_) | ExprKind::Param(_)) || found.ty == Type::Unknown {
        return found;
    }
    body.folded(found)
}

/// Reports a size of 0. For an argument of a container, that is done once, at the argument.
fn empty(body: &mut Body, expr: &Tree, span: Span) {
    let help = "write how many there are at most";
    let given = body.view.inside.as_ref().map(|inside| {
        let name = tree::name_expr(body.file, expr);
        let value = name.and_then(|name| inside.values.iter().find(|(param, _)| *param == name.text));
        match value {
            Some((param, value)) => (format!("`{param}` is 0 here: nothing has room"), value.span),
            None => ("nothing has room in what these arguments make".to_string(), inside.place),
        }
    });
    let (text, span) = given.unwrap_or(("nothing has room or runs here: the number is 0".to_string(), span));
    let is_it = |known: &mokume_base::Diagnostic| {
        known.code == codes::EMPTY_SIZE && known.primary.as_ref().map(|label| label.span) == Some(span)
    };
    if !body.cx.out.iter().any(is_it) {
        body.error(codes::EMPTY_SIZE, text, span, "zero", help);
    }
}

/// An index: any number of up to 32 bits, or a rank.
pub fn index(body: &mut Body, index: &Tree) -> Expr {
    let found = infer(body, index, Some(Type::UInt(32)));
    match found.ty {
        Type::Rank => terms::cast(found, Type::UInt(32), CastKind::Widen),
        _ => conversions::coerce(body, found, Type::UInt(32)),
    }
}
