//! Quotas from which nothing is ever taken, though places for messages refer to them, or code tests them or gives back
//! to them.
//!
//! Keeps: a layer is judged by its own text, with its parts and containers; a quota that nothing names is reported
//! elsewhere.

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, FileId, Severity, Span};

use crate::codes;
use crate::program::*;
use crate::visit::{self, Met};

/// A quota from which nothing is taken limits nothing: each is reported once, at a place that relies on it.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    let errors = out.iter().filter(|found| found.severity == Severity::Error);
    let errors: Vec<Span> = errors.filter_map(|found| Some(found.primary.as_ref()?.span)).collect();
    let starts: BTreeSet<_> =
        program.layers.iter().map(|layer| (layer.name.span.file, layer.name.span.start)).collect();
    for layer in program.layers.iter().filter(|layer| is_whole(&starts, layer, &errors)) {
        let mut taken = BTreeSet::new();
        let mut named: Vec<&StateRef> = Vec::new();
        visit::walk_layer(layer, &mut |met| match met {
            Met::Stmt(Stmt { kind: StmtKind::Take { quota, .. }, .. }) => {
                taken.insert(quota.place());
            }
            Met::State(state) => named.push(state),
            Met::Stmt(_) | Met::Expr(_) => {}
        });
        for (scope, members) in layer.all_members() {
            for (index, member) in members.iter().enumerate() {
                let at = (scope, index as u32);
                let is_quota = matches!(member.kind, MemberKind::Quota { .. });
                let first = named.iter().find(|state| state.place() == at);
                let Some(first) = first.filter(|_| is_quota && !taken.contains(&at)) else { continue };
                let found = untaken(&member.name, behind(layer, at), first.span);
                if !out.contains(&found) {
                    out.push(found);
                }
            }
        }
    }
}

/// Whether a layer has no errors: a refused statement may be the one that takes. With the places at which layers begin.
fn is_whole(starts: &BTreeSet<(FileId, u32)>, layer: &Layer, errors: &[Span]) -> bool {
    let own = layer.name.span;
    let behind = starts.range((own.file, own.start + 1)..).next().filter(|(file, _)| *file == own.file);
    let end = behind.map_or(u32::MAX, |(_, start)| *start);
    match layer.parts.is_empty() {
        true => !errors.iter().any(|at| at.file == own.file && (own.start..end).contains(&at.start)),
        false => errors.is_empty(),
    }
}

/// The first places for messages with this quota, and where they name it.
fn behind(layer: &Layer, at: StateAt) -> Option<(&Name, Span)> {
    layer.all_members().flat_map(|(_, members)| members).find_map(|member| match &member.kind {
        MemberKind::Messages { quota: Some(quota), .. } if quota.place() == at => Some((&member.name, quota.span)),
        _ => None,
    })
}

fn untaken(quota: &Name, places: Option<(&Name, Span)>, named: Span) -> Diagnostic {
    let (name, declared) = (&quota.text, quota.span);
    let found = Diagnostic::error(codes::UNTAKEN_QUOTA, format!("nothing takes from the quota `{name}`"));
    match places {
        Some((places, from)) => {
            let plain = places.text.split('.').next().unwrap_or(&places.text);
            found
                .at(from, "would get back what nobody took")
                .label(declared, "declared here")
                .note("`from` says what is given back for a message that is still held when its object ends; what is held takes for itself")
                .help(format!("take a unit for each message, before it goes into `{plain}`: `take {name} or {{ drop msg: full  return }}`"))
        }
        None => found
            .at(named, "nothing is taken")
            .label(declared, "declared here")
            .help(format!("take from it: `take {name} or {{ drop msg: full  return }}`; or leave the quota out")),
    }
}
