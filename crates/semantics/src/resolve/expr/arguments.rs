//! Arguments of a call: one value for each parameter.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::body::terms::{is_name, unknown};
use crate::resolve::body::Body;
use crate::resolve::expr::{self, positional};
use crate::{codes, lost, suggest, tree, visit};

/// One value for each parameter: by position, then by name, then defaults.
pub fn for_params(body: &mut Body, owner: &str, params: &[Param], args: &[ast::Arg], span: Span) -> Vec<Expr> {
    let mut given: Vec<Option<Expr>> = vec![None; params.len()];
    let mut places: Vec<Option<Span>> = vec![None; params.len()];
    let mut next = 0;
    let mut misspelt = false;
    let mut written: Vec<usize> = Vec::new();
    let said = body.cx.out.len();
    for arg in args {
        let Some(value) = arg.value() else { continue };
        let place = body.span(arg);
        let Some(index) = param_of(body, owner, params, arg, &mut next) else {
            misspelt |= arg.name().is_some();
            continue;
        };
        given[index] = Some(expr::value(body, &value, params[index].ty));
        written.push(index);
        if let Some(first) = places[index].replace(place) {
            body.cx.given_twice(&format!("`{}`", params[index].name.text), place, first);
            misspelt = true;
        }
    }
    out_of_order(body, params, &written, &given);
    // A misspelt argument may be the missing one.
    let missing = given.iter().zip(params).filter(|(value, param)| value.is_none() && param.default.is_none());
    let missing: Vec<&Name> = missing.map(|(_, param)| &param.name).filter(|_| !misspelt).collect();
    say_missing(body, owner, &missing, span);
    if next > 0 {
        // Among positional arguments, one in the middle may be missing.
        lost::if_there(&mut body.cx.out[said..], &lost::arguments(span));
    }
    let default = |param: &Param| param.default.clone().unwrap_or(unknown(span));
    given.into_iter().zip(params).map(|(value, param)| value.unwrap_or_else(|| default(param))).collect()
}

/// Reports arguments by name that are written in another order than the parameters', if that shows: they are evaluated in the parameters'
/// order, and one of them does more than give a value.
fn out_of_order(body: &mut Body, params: &[Param], written: &[usize], given: &[Option<Expr>]) {
    let acts = |value: &Expr| {
        visit::any_expr(value, |inner| {
            use ExprKind as E;
            matches!(inner.kind, E::CallOwn { .. } | E::CallOn { .. } | E::Native { .. } | E::Sample)
        })
    };
    for (at, first) in written.iter().enumerate() {
        let Some(before) = given[*first].as_ref().filter(|value| !is_name(value)) else { continue };
        let later = written[at + 1..].iter().filter(|later| *later < first).filter_map(|later| given[*later].as_ref());
        let Some(later) = later.into_iter().find(|later| !is_name(later) && (acts(before) || acts(later))) else {
            continue;
        };
        let name = &params[*first].name.text;
        let diagnostic =
            Diagnostic::warning(codes::ARGUMENT_ORDER, "these arguments are not evaluated as they are written")
                .at(before.span, "evaluated behind the other")
                .label(later.span, "evaluated first: its parameter comes first")
                .help(format!("write them in the order of the parameters, or bind this one before: `let {name} = …`"));
        return body.report(diagnostic);
    }
}

/// The parameter for an argument, by its name or as the next one; reports if there is none.
fn param_of(body: &mut Body, owner: &str, params: &[Param], arg: &ast::Arg, next: &mut usize) -> Option<usize> {
    if let Some(label) = arg.name() {
        let label = tree::path(body.file, &label);
        let found = params.iter().position(|param| param.name.text == label.text);
        match found {
            Some(at) => body.cx.mention(&label, params[at].name.span),
            None => no_param(body, owner, &label, params),
        }
        return found;
    }
    if *next < params.len() {
        *next += 1;
        return Some(*next - 1);
    }
    let text = format!("`{owner}` takes {}", positional::show_count(params.len()));
    let place = body.span(arg);
    body.error(codes::WRONG_COUNT, text, place, "one too many", "leave it out");
    None
}

fn say_missing(body: &mut Body, owner: &str, missing: &[&Name], span: Span) {
    let Some(first) = missing.first() else { return };
    let names: Vec<&str> = missing.iter().map(|name| name.text.as_str()).collect();
    let text = format!("`{owner}` needs {}", suggest::list(&names));
    let diagnostic = Diagnostic::error(codes::MISSING_ARGUMENT, text)
        .at(span, "missing here")
        .label(first.span, "has no default")
        .loses(lost::arguments(span))
        .help(format!("add `{}: …`", first.text));
    body.report(diagnostic);
}

fn no_param(body: &mut Body, owner: &str, label: &Name, params: &[Param]) {
    // A layer's own function may have the name of an item elsewhere.
    let has_params = |place: &Span| {
        params.first().is_none_or(|param| param.name.span.file == place.file && param.name.span.start > place.start)
    };
    let declared = body.cx.names.find_with_place(body.file, owner).map(|(_, place)| place).filter(has_params);
    let of = declared.and_then(|place| body.cx.names.module_of(place.file));
    let of = of.map_or(String::new(), |module| format!(" of the module `{module}`"));
    let text = format!("`{owner}`{of} has no parameter `{}`", label.text);
    let mut diagnostic = Diagnostic::error(codes::UNKNOWN_PARAMETER, text).at(label.span, "unknown");
    if let Some(place) = declared {
        diagnostic = diagnostic.label(place, format!("this is `{owner}`"));
    }
    let near = suggest::help(&label.text, params.iter().map(|param| param.name.text.as_str()));
    diagnostic.helps.push(near.unwrap_or_else(|| "it has no parameters: leave it out".to_string()));
    body.report(diagnostic);
}
