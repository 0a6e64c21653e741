//! Calls that change a message or a place for one: `msg.trim(n)`, `msg.put_u16be(at, x)`, `waiting.put(i, msg)`.

use mokume_base::Span;
use mokume_syntax::ast::{self, Expr as Tree};

use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::expr;
use crate::resolve::expr::{messages, state};
use crate::resolve::stmt::unnamed;
use crate::{codes, tree};

/// Calls that change a message or a place: `trim skip join put_… put`; outer `None` if it is something else.
pub(super) fn read(body: &mut Body, call: &ast::CallExpr, span: Span) -> Option<Option<StmtKind>> {
    let (base, name) = tree::method(body.file, call)?;
    let args: Vec<Tree> = call.args().iter().filter_map(|arg| arg.value()).collect();
    let arity = match name.text.as_str() {
        "trim" | "skip" | "join" => 1,
        "put" => 2,
        text if text.strip_prefix("put_").is_some_and(|field| messages::field_of_octets(field).is_some()) => 2,
        _ => return None,
    };
    // A container's functions may have any of these names.
    if expr::containers::named(body, &base).is_some() {
        return None;
    }
    if args.len() != arity {
        let text = format!("`{}` takes {arity} arguments, not {}", name.text, args.len());
        body.error(codes::WRONG_COUNT, text, span, "here", "see the page on messages in `docs/language.md`");
        return Some(None);
    }
    if name.text == "put" {
        return Some(put(body, &base, &args));
    }
    let Some(message) = messages::named(body, &base) else { return Some(None) };
    Some(Some(match name.text.as_str() {
        "trim" => StmtKind::Trim { message, size: expr::value(body, &args[0], Type::UInt(32)) },
        "skip" => StmtKind::Skip { message, size: expr::value(body, &args[0], Type::UInt(32)) },
        "join" => StmtKind::Join { message, behind: expr::value(body, &args[0], Type::Message) },
        text => {
            let (width, big) = messages::field_of_octets(text.strip_prefix("put_").unwrap_or(text))?;
            let at = expr::value(body, &args[0], Type::UInt(32));
            let value = expr::value(body, &args[1], Type::UInt(width));
            StmtKind::Store { message, at, width, big, value }
        }
    }))
}

fn put(body: &mut Body, base: &Tree, args: &[Tree]) -> Option<StmtKind> {
    if let Some(kind) = put_element(body, base, args) {
        return kind;
    }
    let messages = state::messages(body, base)?;
    let index = expr::index(body, &args[0]);
    let index = unnamed::in_front_of(body, index, &args[1]);
    let message = unnamed::message(body, &args[1])?;
    Some(StmtKind::Put { messages, index, message })
}

/// `items.put(i, x)` of an array in a container.
fn put_element(body: &mut Body, base: &Tree, args: &[Tree]) -> Option<Option<StmtKind>> {
    body.view.inside.as_ref()?;
    if !state::is_member(body, base, |kind| matches!(kind, MemberKind::Array { .. })) {
        return None;
    }
    let element = expr::containers::element(body, base, args.first()?)?;
    let value = expr::value(body, args.get(1)?, element.ty);
    let ExprKind::Element { array, index } = element.kind else { return None };
    Some(Some(StmtKind::AssignElement { array, index: *index, value }))
}
