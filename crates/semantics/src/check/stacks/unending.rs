//! Endpoints that let others begin sessions over a multiplexor, where nothing ends one.

use mokume_base::{Diagnostic, Span};

use crate::check::descents::Descent;
use crate::check::stacks::context::StackCheck;
use crate::codes;
use crate::program::*;
use crate::visit::{self, Met};

/// A multiplexor's sessions have no end of their own: they live until a layer above it closes them. A stack that says
/// how many there are has been thought of.
pub(super) fn check(check: &mut StackCheck, descent: &Descent) {
    if check.stack.says_sessions {
        return;
    }
    let index = descent.index();
    let mut found = Vec::new();
    for (at, layer) in check.layers[index].iter().enumerate() {
        let Some(listens) = listens(layer).filter(|_| layer.shape == Shape::Endpoint) else { continue };
        if layer.scopes.iter().any(|scope| scope.kind == ScopeKind::Session && scope.capacity.is_some()) {
            continue;
        }
        let below = check.layers[index].iter().skip(at + 1);
        let lower = descent.steps.iter().skip(1).flat_map(|(instance, _)| &check.layers[*instance]);
        let mut way: Vec<&Layer> = vec![layer];
        for layer in below.chain(lower) {
            way.push(layer);
            if layer.shape != Shape::Worker {
                break;
            }
        }
        let Some(lowest) = way.last().filter(|lowest| lowest.shape == Shape::Multiplexor) else { continue };
        let most = u64::from(check.stack.sessions);
        if way.iter().any(|layer| ends(layer)) || (descent.steps.len() < 2 && keys(check.program, lowest) <= most) {
            continue;
        }
        let text = format!("others begin sessions of `{}`, and nothing ends one", layer.name.text);
        found.push(
            Diagnostic::warning(codes::UNENDING, text)
                .at(listens, format!("after {most} of them nobody else is heard"))
                .note(format!("a session over `{}` has no end of its own", lowest.name.text))
                .help("end it: `below.close()` when it is over, or by a timer in `session { }`")
                .help("without state of a session, take messages of all: `below.bind(…)`, and `from flow`, `to flow`")
                .help(format!("if they are to stay, say in the stack how many: `sessions {most}`")),
        );
    }
    check.out.extend(found);
}

/// Where the layer lets others begin sessions.
fn listens(layer: &Layer) -> Option<Span> {
    let mut found = None;
    visit::walk_layer(layer, &mut |met| {
        if let Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Listen { .. }), span }) = met {
            found = found.or(Some(*span));
        }
    });
    found
}

/// Whether the layer's code ends sessions.
fn ends(layer: &Layer) -> bool {
    visit::any_in_layer(layer, |met| {
        let Met::Stmt(Stmt { kind, .. }) = met else { return false };
        match kind {
            StmtKind::Emit(emission) => matches!(
                emission,
                Emission::Close
                    | Emission::Abort
                    | Emission::Closed
                    | Emission::Failed { .. }
                    | Emission::FailedAs { .. }
            ),
            _ => false,
        }
    })
}

/// How many other ends a multiplexor can tell apart by its own key.
fn keys(program: &Program, layer: &Layer) -> u64 {
    let fields = layer.key.iter().flat_map(|key| &key.fields);
    let bits: u64 = fields.map(|field| u64::from(crate::types::width(program, field.ty).unwrap_or(64))).sum();
    1u64.checked_shl(u32::try_from(bits).unwrap_or(u32::MAX)).unwrap_or(u64::MAX)
}
