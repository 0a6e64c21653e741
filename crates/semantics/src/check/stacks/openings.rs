//! A session has a peer: `open` must name each part of the remote end that the layers below add.

use mokume_base::{Diagnostic, Span};

use crate::check::descents::Descent;
use crate::check::stacks::context::StackCheck;
use crate::check::stacks::flow_parts;
use crate::program::*;
use crate::visit::{self, Met};
use crate::{codes, suggest, types};

/// Checks what each layer opens against the parts of the flows below it.
pub(super) fn check(check: &mut StackCheck, descent: &Descent) {
    let index = descent.index();
    let mut found = Vec::new();
    for (at, layer) in check.layers[index].iter().enumerate() {
        let below = flow_parts::below(check, descent, at);
        let parts: Vec<&str> = below.iter().filter(|(_, part)| !part.symmetric).map(|(name, _)| *name).collect();
        visit::walk_layer(layer, &mut |met| {
            let Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Open { flow, .. }), span, .. }) = met else {
                return;
            };
            let ExprKind::Flow { remote, .. } = &flow.kind else { return };
            // A part that does not exist may be a wrong name for the missing one.
            if remote.iter().any(|(name, _)| name.as_ref().is_some_and(|name| !parts.contains(&name.text.as_str()))) {
                return;
            }
            let open = left_open(flow, &parts);
            if !open.is_empty() {
                found.push(with_whom(check, index, layer, *span, &open));
            }
        });
    }
    check.out.extend(found);
}

fn with_whom(check: &StackCheck, index: usize, layer: &Layer, span: Span, open: &[&str]) -> Diagnostic {
    let text = format!("`{}` opens a session that does not say with whom", layer.name.text);
    Diagnostic::error(codes::WITH_WHOM, text)
        .at(check.stack.instances[index].of.span, format!("`{}` stands here", layer.name.text))
        .label(span, format!("with any {}", suggest::list(open)))
        .note("a session is one flow: what is sent in it goes to one remote end")
        .help(format!("name it: `remote.{}: …`", open[0]))
        .help("`below.listen(…)` makes a session of each who comes; `below.bind(…)` brings messages with their flows")
}

/// The parts of the remote end that a written-out flow leaves open.
fn left_open<'a>(flow: &Expr, parts: &[&'a str]) -> Vec<&'a str> {
    let ExprKind::Flow { remote, .. } = &flow.kind else { return Vec::new() };
    let said = |part: &str| {
        let named = remote.iter().find(|(name, _)| name.as_ref().is_none_or(|name| name.text == part));
        named.is_some_and(|(_, value)| types::number(value) != Some(0))
    };
    parts.iter().copied().filter(|part| !said(part)).collect()
}
