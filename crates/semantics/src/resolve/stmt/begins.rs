//! `accept(msg, iss: e) or { … }`: a session that begins with an arriving message (docs/language.md, section 6).

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, Expr as Tree};

use crate::program::*;
use crate::resolve::body::{Body, BodyKind, Role};
use crate::resolve::stmt::{found, unnamed};
use crate::resolve::{expr, stmt};
use crate::{codes, suggest, tree};

/// The statement; outer `None` if this is another call.
pub(super) fn read(body: &mut Body, stmt: &ast::ExprStmt, span: Span) -> Option<Option<StmtKind>> {
    let Some(Tree::Call(call)) = stmt.expr() else { return None };
    let name = tree::name_expr(body.file, &call.callee()?)?;
    let own = body.this_layer()?.functions.iter().any(|function| function.name.text == name.text);
    if name.text != "accept" || own {
        return None;
    }
    if body.kind != BodyKind::Handler(Role::Arrives) {
        let help = match body.kind {
            BodyKind::Handler(Role::Unmatched) => {
                "a message that no session matched is accepted without more: `accept msg`"
            }
            _ => "`accept(msg, …)` begins a session with a message that arrives: `on arrives(msg) from flow { … }`",
        };
        body.error(codes::MISPLACED, "nothing is accepted here", span, "not in `arrives`", help);
        return Some(None);
    }
    let (message, given) = arguments(body, &call.args());
    let Some(or) = stmt.or() else {
        let help = "write `accept(msg) or { drop msg: no_room  return }`";
        body.error(codes::MISSING_ARGUMENT, "there may be no room for a session", span, "and what then?", help);
        return Some(None);
    };
    let mut otherwise = stmt::block(body, or.block());
    found::must_leave(body, &otherwise, or.block(), span);
    let Some(message) = message else {
        let help = "the message is the first of the session: `accept(msg)`";
        body.error(codes::MISSING_ARGUMENT, "`accept` needs the message", span, "missing here", help);
        return Some(None);
    };
    // As after a refused call: an unnamed message is dropped (docs/language.md, section 4).
    if body.locals.is_hidden(message) {
        otherwise.insert(0, unnamed::dropped(message, span));
    }
    Some(Some(StmtKind::Begin { message, given, otherwise }))
}

fn arguments(body: &mut Body, args: &[ast::Arg]) -> (Option<LocalId>, Vec<(u32, Expr)>) {
    let (mut message, mut given) = (None, Vec::new());
    let mut named: Vec<Name> = Vec::new();
    for arg in args {
        let Some(value) = arg.value() else { continue };
        match arg.name() {
            Some(label) => {
                let name = tree::path(body.file, &label);
                if let Some(first) = named.iter().find(|first| first.text == name.text) {
                    body.cx.given_twice(&format!("`{}`", name.text), name.span, first.span);
                    continue;
                }
                named.push(name.clone());
                given.extend(constant(body, &name, &value));
            }
            None if message.is_none() => message = unnamed::message(body, &value),
            None => {
                let place = body.span(arg);
                let help = "name what the session asks for: `iss: e`";
                body.error(codes::WRONG_COUNT, "`accept` takes one message", place, "the second", help);
            }
        }
    }
    (message, given)
}

/// A constant of the session with `from accept`, and its value.
fn constant(body: &mut Body, name: &Name, value: &Tree) -> Option<(u32, Expr)> {
    let layer = body.this_layer()?;
    let asked = || layer.asked(&layer.accepted);
    let found = asked().find(|(_, member)| member.name.text == name.text);
    found.iter().for_each(|(_, member)| body.cx.mention(name, member.name.span));
    let Some((at, MemberKind::Var { ty, .. })) = found.map(|(at, member)| (at, &member.kind)) else {
        let names: Vec<String> = asked().map(|(_, member)| member.name.text.clone()).collect();
        let text = format!("no constant of the session is `{}` from `accept`", name.text);
        let mut diagnostic = Diagnostic::error(codes::UNKNOWN_NAME, text).at(name.span, "nobody asks for it");
        diagnostic.helps.extend(suggest::help(&name.text, names.iter().map(String::as_str)));
        diagnostic.helps.push(format!("declare it: `session {{ const {}: u32 = 0 from accept }}`", name.text));
        body.report(diagnostic);
        expr::infer(body, value, None);
        return None;
    };
    let ty = *ty;
    Some((at, expr::value(body, value, ty)))
}
