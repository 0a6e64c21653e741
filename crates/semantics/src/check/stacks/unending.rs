//! Endpoints that let others begin sessions over a multiplexor, where nothing ends one.

use mokume_base::{Diagnostic, Span};

use crate::check::descents::Descent;
use crate::check::stacks::context::StackCheck;
use crate::codes;
use crate::program::*;
use crate::visit::{self, Met};

/// A multiplexor's sessions have no end of their own: they live until a layer above it closes them, or a session below
/// ends. A stack that says how many there are has been thought of. A layer that ends sessions counts, whenever it does.
pub(super) fn check(check: &mut StackCheck, descent: &Descent) {
    if check.stack.says_sessions {
        return;
    }
    let index = descent.index();
    let mut found = Vec::new();
    for (at, layer) in check.layers[index].iter().enumerate() {
        let Some((listens, says)) = listens(layer).filter(|_| layer.shape == Shape::Endpoint && has_sessions(layer))
        else {
            continue;
        };
        let here = check.layers[index].iter().skip(at);
        let lower = descent.steps.iter().skip(1).flat_map(|(instance, _)| &check.layers[*instance]);
        let way: Vec<&Layer> = here.chain(lower).copied().collect();
        let Some(place) = way.iter().position(|layer| layer.shape == Shape::Multiplexor) else { continue };
        let is_straight = way[1..place].iter().all(|layer| layer.shape == Shape::Worker);
        // Without addresses and other keys below it, a multiplexor tells apart as many as its key has values.
        let is_alone = way[place + 1..].iter().all(|layer| layer.shape == Shape::Worker);
        let most = u64::from(check.stack.sessions);
        let has_room = is_alone && keys(check.program, way[place], says) <= most;
        if !is_straight || has_room || says.remote || way.iter().any(|layer| ends(layer)) {
            continue;
        }
        let text = format!("others begin sessions of `{}`, and nothing ends one", layer.name.text);
        found.push(
            Diagnostic::warning(codes::UNENDING, text)
                .at(listens, format!("after {most} of them nobody else is heard"))
                .note(format!("a session over `{}` has no end of its own", way[place].name.text))
                .help("end it: `below.close()` when it is over, or by a timer in `session { }`")
                .help("without state of a session, take messages of all: `below.bind(…)`, and `from flow`, `to flow`")
                .help(format!("if they are to stay, say in the stack how many: `sessions {most}`")),
        );
    }
    check.out.extend(found);
}

/// What a listener says of the flows that it takes.
#[derive(Clone, Copy)]
struct Says {
    local: bool,
    remote: bool,
}

/// Whether the layer has state of each session, and leaves how many there are to the stack. Without it, it hears all
/// flows alike.
fn has_sessions(layer: &Layer) -> bool {
    layer.scopes.iter().any(|scope| scope.kind == ScopeKind::Session && scope.capacity.is_none())
}

/// Where the layer lets others begin sessions.
fn listens(layer: &Layer) -> Option<(Span, Says)> {
    let mut found = None;
    visit::walk_layer(layer, &mut |met| {
        let Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Listen { flow, .. }), span }) = met else { return };
        let ExprKind::Flow { local, remote, .. } = &flow.kind else { return };
        let says = Says { local: !local.is_empty(), remote: !remote.is_empty() };
        found = found.or(Some((*span, says)));
    });
    found
}

/// Whether the layer's code ends sessions.
fn ends(layer: &Layer) -> bool {
    visit::any_in_layer(layer, |met| {
        let Met::Stmt(Stmt { kind: StmtKind::Emit(emission), .. }) = met else { return false };
        use Emission::{Abort, Close, Closed, Failed, FailedAs};
        matches!(emission, Close | Abort | Closed | Failed { .. } | FailedAs { .. })
    })
}

/// How many sessions a multiplexor can tell apart by its own key, for such a listener.
fn keys(program: &Program, layer: &Layer, says: Says) -> u64 {
    let Some(key) = &layer.key else { return u64::MAX };
    let fields = key.fields.iter().map(|field| u64::from(crate::types::width(program, field.ty).unwrap_or(64)));
    let bits: u64 = fields.sum();
    let ends = match (key.symmetric, says.local) {
        (true, true) => 0,
        (true, false) | (false, true) => 1,
        (false, false) => 2,
    };
    1u64.checked_shl(u32::try_from(bits * ends).unwrap_or(u32::MAX)).unwrap_or(u64::MAX)
}
