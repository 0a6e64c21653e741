//! The whole body of a function, and its end.

use mokume_base::{Diagnostic, FileId, Span};
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::stmt;
use crate::{codes, lost, visit};

/// The body of a function; checks that it returns a value on every path.
pub fn body(mut body: Body, tree: &ast::Function, head: &Function) -> (Vec<Local>, Vec<LocalId>, Vec<Stmt>) {
    let statements = stmt::block(&mut body, tree.body());
    if !matches!(head.result, Type::Unit | Type::Unknown) && !visit::leaves(&statements) {
        let text = format!("`{}` does not give a value on every path", head.name.text);
        let diagnostic = Diagnostic::error(codes::NO_VALUE, text).at(head.name.span, "may end without one");
        let last = tree.body().and_then(|block| block.statements().pop());
        // What precedes an `or` is done, and has no value here.
        let is_value = |last: &ast::Stmt| {
            matches!(last, ast::Stmt::Expr(_)) && !last.syntax().text().to_string().contains(" or {")
        };
        let value = last.filter(is_value);
        body.report(match value {
            Some(value) => {
                let (place, text) = (value.span(body.file), value.syntax().text().to_string());
                let help = format!("a value is given by its word: `return {}`", text.trim());
                diagnostic.label(place, "this value is not given").loses(lost::within(place, "value")).help(help)
            }
            None => {
                let given = head.params.iter().find(|param| param.ty == head.result);
                let name = given.map_or("x", |param| param.name.text.as_str());
                diagnostic.help(format!("end every path with its value: `return {name}`"))
            }
        });
    }
    (body.locals.into_all(), body.excused, statements)
}

/// The place where a body ends.
pub fn last_brace(file: FileId, block: Option<ast::Block>, otherwise: Span) -> Span {
    match block.map(|block| block.span(file)) {
        Some(span) if span.end > span.start => Span::new(file, span.end - 1, span.end),
        _ => otherwise,
    }
}
