//! `later name(…)`: starts a reaction of its own, whose handler may take its parameter types from here.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, Expr as Tree};

use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::stmt::unnamed;
use crate::resolve::{expr, stmt};
use crate::{codes, lost, suggest, tree};

/// `later name(…) or { … }`
pub(super) fn read(body: &mut Body, stmt: &ast::LaterStmt, span: Span) -> Option<StmtKind> {
    body.has_effects(span);
    let name = tree::some_name(body.file, stmt.event())?;
    let own: Vec<(u32, String, Vec<Type>)> =
        body.this_layer()?.handlers.iter().enumerate().filter_map(custom_head).collect();
    let found = own.iter().find(|(_, known, _)| *known == name.text).cloned();
    let values: Vec<Tree> = stmt.args().iter().filter_map(|arg| arg.value()).collect();
    let Some((handler, _, types)) = found else {
        let text = format!("this layer has no handler `on {}(…)` of its own", name.text);
        let mut diagnostic = Diagnostic::error(codes::NO_LATER, text).at(name.span, "unknown");
        diagnostic.helps.extend(suggest::help(&name.text, own.iter().map(|(_, known, _)| known.as_str())));
        body.report(diagnostic.help(format!("add one: `on {}(…) {{ … }}`", name.text)));
        values.iter().for_each(|value| drop(expr::infer(body, value, None)));
        stmt::block(body, stmt.or().and_then(|or| or.block()));
        return None;
    };
    if types.len() != values.len() {
        let text = format!("`on {}` takes {} parameters, not {}", name.text, types.len(), values.len());
        let diagnostic = Diagnostic::error(codes::WRONG_COUNT, text).at(span, "here").loses(lost::arguments(name.span));
        body.report(diagnostic.help("give one value for each"));
    }
    // The block for no room is resolved first: the messages are still held there.
    let block = stmt::block(body, stmt.or().and_then(|or| or.block()));
    let said = body.cx.out.len();
    let args: Vec<Expr> = values.iter().zip(&types).map(|(value, ty)| expr::value(body, value, *ty)).collect();
    lost::if_there(&mut body.cx.out[said..], &lost::arguments(name.span));
    infer_params(body, handler, &args);
    if stmt.or().is_none() {
        let given: Vec<&str> = args.iter().filter(|arg| arg.ty == Type::Message).map(|_| "msg").collect();
        let fate = if given.is_empty() { "return" } else { "drop msg: busy  return" };
        let diagnostic = Diagnostic::error(codes::MUST_LEAVE, "what happens when there is no room?")
            .at(span, "may have no room")
            .help(format!("say it: `later {}({}) or {{ {fate} }}`", name.text, given.join(", ")));
        body.report(diagnostic);
    }
    let args = expr::containers::named_args(body, args);
    let mut otherwise = unnamed::refused(body, &args);
    otherwise.extend(block);
    Some(StmtKind::Later { handler, args, otherwise })
}

/// Untyped parameters of an own handler take the types of the first arguments.
fn infer_params(body: &mut Body, handler: u32, args: &[Expr]) {
    let Some(layer) = body.view.layer else { return };
    let handler = &mut body.cx.program.layers[layer.index()].handlers[handler as usize];
    let Event::Custom { params, .. } = &handler.event else { return };
    for (local, arg) in params.iter().zip(args) {
        if let Some(known) = handler.locals.get_mut(local.index()).filter(|known| known.ty == Type::Unknown) {
            known.ty = arg.ty;
        }
    }
}

/// An own event of a layer: its handler, name and parameters.
fn custom_head((index, handler): (usize, &Handler)) -> Option<(u32, String, Vec<Type>)> {
    let Event::Custom { name, params, .. } = &handler.event else { return None };
    let types = params.iter().map(|local| handler.locals.get(local.index()).map_or(Type::Unknown, |local| local.ty));
    Some((index as u32, name.text.clone(), types.collect()))
}
