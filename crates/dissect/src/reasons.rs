//! Where a reason comes from that is a value: names that the code gives it, a wire that was read.

use std::collections::BTreeSet;

use mokume_reaction::{Body, Fallible, OpKind, ReasonId, Target, Terminator, Type, Value};

/// The origins of a reason.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origins {
    /// The reasons that the code names.
    pub named: BTreeSet<ReasonId>,
    /// Whether a wire may give it, which refused a packet.
    pub wire: bool,
    /// Whether it may come from elsewhere: state, a parameter.
    pub other: bool,
}

/// The origins of a reason in a body.
pub fn origins(body: &Body, reason: Value) -> Origins {
    let (mut found, mut seen, mut open) = (Origins::default(), BTreeSet::new(), vec![reason]);
    while let Some(value) = open.pop() {
        if !seen.insert(value.index()) {
            continue;
        }
        if let Some(op) = body.ops().find(|op| op.results.contains(&value)) {
            match op.kind {
                OpKind::Const { ty: Type::Reason, value } => _ = found.named.insert(ReasonId(value as u32)),
                OpKind::Select { a, b, .. } => open.extend([a, b]),
                _ => found.other = true,
            }
            continue;
        }
        let is_given = |block: &mokume_reaction::Block| block.params.contains(&value);
        let Some(block) = body.blocks.iter().skip(1).position(is_given).map(|at| at + 1) else {
            found.other = true;
            continue;
        };
        let params = &body.blocks[block].params;
        let place = params.iter().position(|param| *param == value).unwrap_or(0);
        for from in &body.blocks {
            for target in from.terminator.targets() {
                if target.block.index() != block {
                    continue;
                }
                // What the terminator gives comes first.
                match place.checked_sub(params.len() - target.args.len().min(params.len())) {
                    Some(place) => open.push(target.args[place]),
                    None if refuses(&from.terminator, target) => found.wire = true,
                    None => found.other = true,
                }
            }
        }
    }
    found
}

/// Whether a terminator reads a wire, and this is where it goes on if that refuses.
fn refuses(terminator: &Terminator, target: &Target) -> bool {
    let Terminator::Try { op, otherwise, .. } = terminator else { return false };
    matches!(op, Fallible::Decode { .. } | Fallible::Validate { .. }) && std::ptr::eq(otherwise, target)
}
