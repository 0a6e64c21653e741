//! The names of a `let`, a loop, an `if let`.

use mokume_base::Span;
use mokume_syntax::ast::BindPattern;

use crate::program::*;
use crate::resolve::body::Body;
use crate::{codes, tree};

/// The names of a pattern, in order.
pub(super) fn names(body: &mut Body, pattern: Option<BindPattern>) -> Vec<Name> {
    let file = body.file;
    let names: Vec<Name> =
        pattern.map_or(Vec::new(), |pattern| pattern.names().iter().map(|name| tree::name(file, name)).collect());
    body.locals.lost_a_name |= names.is_empty();
    names
}

/// A local for the single name that is allowed.
pub(super) fn only_name(body: &mut Body, names: &[Name], span: Span, ty: Type) -> LocalId {
    if names.len() > 1 {
        body.error(codes::WRONG_COUNT, "this gives one value", span, "one name", "write `if let x = …`");
        body.locals.bind_unknown(&names[1..]);
    }
    match names.first() {
        Some(name) => body.locals.bind(name, ty),
        None => body.locals.hidden(span, ty),
    }
}
