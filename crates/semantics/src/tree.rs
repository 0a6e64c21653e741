//! Names and places of the typed tree, converted for the typed program.
//!
//! Invariant: every function may find nothing. The parser has reported what is missing, so nothing is reported here.

use mokume_base::{FileId, Span};
use mokume_syntax::ast::{self, AstNode, Expr};

use crate::program::Name;

/// A name node.
pub fn name(file: FileId, name: &ast::Name) -> Name {
    Name { text: name.text(), span: name.span(file) }
}

/// A name node, if the parser found one.
pub fn some_name(file: FileId, found: Option<ast::Name>) -> Option<Name> {
    found.map(|found| name(file, &found))
}

/// `a.b.c` as one name.
pub fn path(file: FileId, path: &ast::Path) -> Name {
    Name { text: path.text(), span: path.span(file) }
}

/// The parts of a path.
pub fn parts(file: FileId, path: &ast::Path) -> Vec<Name> {
    path.names().iter().map(|part| name(file, part)).collect()
}

/// The name that an expression consists of.
pub fn name_expr(file: FileId, expr: &Expr) -> Option<Name> {
    match expr {
        Expr::Name(name) => Some(Name { text: name.text(), span: name.span(file) }),
        _ => None,
    }
}

/// `a.b` with a plain name in front: both names.
pub fn name_field(file: FileId, expr: &Expr) -> Option<(Name, Name)> {
    let Expr::Field(field) = expr else { return None };
    Some((name_expr(file, &field.base()?)?, some_name(file, field.name())?))
}

/// `base.name(…)` as its parts.
pub fn method(file: FileId, call: &ast::CallExpr) -> Option<(Expr, Name)> {
    let Some(Expr::Field(field)) = call.callee() else { return None };
    Some((field.base()?, some_name(file, field.name())?))
}

/// The name of an item that should have one; `?` if the parser found none.
pub fn title(file: FileId, name: Option<ast::Name>) -> Name {
    some_name(file, name).unwrap_or(Name { text: "?".into(), span: Span::new(file, 0, 0) })
}

/// An expression without surrounding parentheses.
pub fn unparen(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    while let Expr::Paren(paren) = &expr {
        match (paren.all().len(), paren.inner()) {
            (1, Some(inner)) => expr = inner,
            _ => break,
        }
    }
    expr
}

/// One expression, or those of a tuple.
pub fn untuple(expr: &Expr) -> Vec<Expr> {
    match expr {
        Expr::Paren(paren) => paren.all(),
        _ => vec![expr.clone()],
    }
}

/// The value of an `if` used as an expression: the block's only statement.
pub fn block_value(block: &ast::Block) -> Option<Expr> {
    match block.statements().as_slice() {
        [ast::Stmt::Expr(stmt)] => stmt.expr(),
        [ast::Stmt::If(inner)] => Some(Expr::If(inner.clone())),
        [ast::Stmt::Match(inner)] => Some(Expr::Match(inner.clone())),
        _ => None,
    }
}

/// The timer of `on expiry t`, or `waiting.t` for one in a container; `None` for other events.
pub fn timer(file: FileId, handler: &ast::Handler) -> Option<Name> {
    let names: Vec<Name> = handler.expiry().iter().map(|part| name(file, part)).collect();
    let (first, last) = (names.first()?.span, names.last()?.span);
    let text = names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(".");
    Some(Name { text, span: Span::new(file, first.start, last.end) })
}

/// `PathMtu` as `path_mtu`: the name of a served service in its layer.
pub fn snake_case(text: &str) -> String {
    let mut snake = String::new();
    for (index, c) in text.chars().enumerate() {
        if c.is_uppercase() && index > 0 {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}
