//! Positional arguments of built-in functions and methods: counted here, resolved by the caller.

use mokume_base::Span;
use mokume_syntax::ast::{self, Expr as Tree};

use crate::codes;
use crate::resolve::body::Body;

/// The arguments, `count` of them and none named; else reports.
pub fn counted(body: &mut Body, name: &str, args: &[ast::Arg], count: usize, span: Span) -> Option<Vec<Tree>> {
    for arg in args {
        if let Some(label) = arg.name() {
            let text = format!("`{name}` has no named arguments");
            let place = body.span(&label);
            body.error(codes::UNKNOWN_PARAMETER, text, place, "not here", "leave the name out");
        }
    }
    let values: Vec<Tree> = args.iter().filter_map(|arg| arg.value()).collect();
    if values.len() != count {
        let text = format!("`{name}` takes {}, not {}", show_count(count), values.len());
        body.error(codes::WRONG_COUNT, text, span, "here", "give it one value for each parameter");
        return None;
    }
    Some(values)
}

/// "one argument"
pub(super) fn show_count(count: usize) -> String {
    match count {
        0 => "no arguments".into(),
        1 => "one argument".into(),
        _ => format!("{count} arguments"),
    }
}
