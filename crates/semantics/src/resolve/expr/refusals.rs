//! Calls of functions that may refuse, at places that do not handle a refusal.

use mokume_base::Span;

use crate::codes;
use crate::program::*;
use crate::resolve::body::Body;

/// Reports a function that may refuse at a place that does not handle it.
pub(super) fn refusal_is_met(body: &mut Body, head: &Function, span: Span) {
    if !head.refuses {
        return;
    }
    let name = &head.name.text;
    let text = format!("what happens when `{name}` refuses?");
    let help = match head.result {
        Type::Unit => format!("say it: `{name}(…) or {{ drop msg: full  return }}`"),
        _ => format!("write `if let x = {name}(…) {{ … }}`, or `let x = {name}(…) or {{ return }}`"),
    };
    body.error(codes::REFUSAL_UNMET, text, span, "may refuse", &help);
}
