//! Arguments of a call: one value for each parameter.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::body::terms::unknown;
use crate::resolve::body::Body;
use crate::resolve::expr::{self, positional};
use crate::{codes, suggest, tree};

/// One value for each parameter: by position, then by name, then the defaults.
pub fn for_params(body: &mut Body, owner: &str, params: &[Param], args: &[ast::Arg], span: Span) -> Vec<Expr> {
    let mut values: Vec<Option<Expr>> = vec![None; params.len()];
    let mut next = 0;
    let mut misspelt = false;
    for arg in args {
        let Some(value) = arg.value() else { continue };
        let place = body.span(arg);
        let index = match arg.name() {
            Some(label) => {
                let label = tree::path(body.file, &label);
                let found = params.iter().position(|param| param.name.text == label.text);
                if found.is_none() {
                    no_param(body, owner, &label, params);
                    misspelt = true;
                }
                found
            }
            None if next < params.len() => {
                next += 1;
                Some(next - 1)
            }
            None => {
                let text = format!("`{owner}` takes {}", positional::show_count(params.len()));
                body.error(codes::WRONG_COUNT, text, place, "one too many", "leave it out");
                None
            }
        };
        let Some(index) = index else { continue };
        let value = expr::value(body, &value, params[index].ty);
        if values[index].replace(value).is_some() {
            let text = format!("`{}` is given twice", params[index].name.text);
            body.error(codes::DEFINED_TWICE, text, place, "again here", "leave one of them out");
        }
    }
    let mut missing = Vec::new();
    let mut all = Vec::new();
    for (value, param) in values.into_iter().zip(params) {
        all.push(match (value, &param.default) {
            (Some(value), _) => value,
            (None, Some(default)) => default.clone(),
            (None, None) => {
                missing.push(param.name.clone());
                unknown(span)
            }
        });
    }
    if let Some(first) = missing.first().filter(|_| !misspelt) {
        let names: Vec<&str> = missing.iter().map(|name| name.text.as_str()).collect();
        let diagnostic =
            Diagnostic::error(codes::MISSING_ARGUMENT, format!("`{owner}` needs {}", suggest::list(&names)))
                .at(span, "missing here")
                .label(first.span, "has no default")
                .help(format!("add `{}: …`", first.text));
        body.report(diagnostic);
    }
    all
}

fn no_param(body: &mut Body, owner: &str, label: &Name, params: &[Param]) {
    let text = format!("`{owner}` has no parameter `{}`", label.text);
    let mut diagnostic = Diagnostic::error(codes::UNKNOWN_PARAMETER, text).at(label.span, "unknown");
    diagnostic.helps.extend(suggest::help(&label.text, params.iter().map(|param| param.name.text.as_str())));
    body.report(diagnostic);
}
