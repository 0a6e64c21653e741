//! `output.send_more()`: functions of a layer's parts, called by the part's name from all of the layer's code.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, Expr as Tree};

use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::Body;
use crate::resolve::expr;
use crate::resolve::expr::{arguments, refusals};
use crate::{codes, suggest, tree};

/// Whether the call is qualified by a part's name.
pub(super) fn is_call(body: &Body, callee: &Tree) -> bool {
    tree::name_field(body.file, callee).is_some_and(|(owner, _)| body.part_named(&owner.text).is_some())
}

/// A call of a function of a part; `None` if it is not qualified by a part's name.
pub(super) fn call(body: &mut Body, callee: &Tree, args: &[ast::Arg], span: Span) -> Option<Expr> {
    let (owner, name) = tree::name_field(body.file, callee)?;
    let part = body.part_named(&owner.text)?.clone();
    let Some((function, head)) = function_of(body, &part, &name) else {
        unknown_function(body, &part, &name);
        args.iter().filter_map(|arg| arg.value()).for_each(|value| drop(expr::infer(body, &value, None)));
        return Some(unknown(span));
    };
    body.cx.mention(&owner, part.name.span);
    body.cx.mention(&name, head.name.span);
    let args = arguments::for_params(body, &name.text, &head.params, args, span);
    refusals::refusal_is_met(body, &head, span);
    Some(make(ExprKind::CallOwn { function, args }, head.result, span))
}

/// The same if the caller handles a refusal; `None` if the function never refuses.
pub(super) fn refusing(body: &mut Body, callee: &Tree, args: &[ast::Arg], span: Span) -> Option<Expr> {
    let (owner, name) = tree::name_field(body.file, callee)?;
    let part = body.part_named(&owner.text)?.clone();
    let (function, head) = function_of(body, &part, &name).filter(|(_, head)| head.refuses)?;
    body.cx.mention(&owner, part.name.span);
    body.cx.mention(&name, head.name.span);
    let args = arguments::for_params(body, &name.text, &head.params, args, span);
    Some(make(ExprKind::CallOwn { function, args }, head.result, span))
}

/// State of a part, named from elsewhere by the part's name, `output.probe`; `None` without a part's name in front.
pub(super) fn state(body: &mut Body, base: &Tree, name: &Name) -> Option<Expr> {
    let owner = tree::name_expr(body.file, base)?;
    let part = body.part_named(&owner.text)?.clone();
    if body.find_state(&owner.text).is_some() {
        return None;
    }
    if part.member(&name.text).is_none() {
        unknown_function(body, &part, name);
        return Some(unknown(name.span));
    }
    let text = format!("`{}` is state of the part `{}` alone", name.text, part.name.text);
    let help = format!(
        "give the part a function that says it, `fn {}() -> …`; or declare it in the layer, and name it where it is used",
        name.text
    );
    let diagnostic = Diagnostic::error(codes::PART_PRIVATE, text).at(name.span, "of the part");
    body.report(diagnostic.label(part.name.span, "the part").help(help));
    Some(unknown(name.span))
}

fn function_of(body: &Body, part: &Part, name: &Name) -> Option<(u32, Function)> {
    let function = part.function(&name.text)?;
    Some((function, body.this_layer()?.functions.get(function as usize)?.clone()))
}

fn unknown_function(body: &mut Body, part: &Part, name: &Name) {
    let text = format!("the part `{}` has no function `{}`", part.name.text, name.text);
    let mut diagnostic = Diagnostic::error(codes::NO_FUNCTION, text).at(name.span, "unknown");
    let names: Vec<&str> = part.functions.iter().map(|(name, _)| name.as_str()).collect();
    match suggest::help(&name.text, names.iter().copied()) {
        Some(help) => diagnostic.helps.push(help),
        None => diagnostic = diagnostic.help(format!("write it there: `fn {}(…) {{ … }}`", name.text)),
    }
    body.report(diagnostic.label(part.name.span, "the part"));
}
