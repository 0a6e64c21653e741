//! A column: the layers below a layer of a stack with their arguments, nearest first.
//!
//! Keeps: a router over several layers has a column for each; what it needs must be in all of them.

use mokume_base::Span;

use super::descents::{self, circle_from, Descent};
use crate::constants::{self, Value};
use crate::program::*;
use crate::signature::{Boundaries, Claim, Claimed, Unit};

/// A layer in its place, with its arguments.
#[derive(Clone)]
pub struct Placed<'a> {
    pub layer: &'a Layer,
    /// The arguments known before the start; `None` for those that depend on a stack's parameters.
    pub args: Vec<Option<Value>>,
    /// A wire above or at this layer cuts off padding before any layer above the wire gets the message.
    pub trimmed: bool,
    /// The place in the stack's text.
    pub span: Span,
    /// The place in the text of the stack, or of the bundle that has it.
    pub within: Span,
}

impl Placed<'_> {
    /// The claim of these that speaks of the promise, with the arguments that the layer has here.
    pub fn said<'c>(&self, program: &Program, claims: &'c [Claim], promise: SignatureId) -> Option<&'c Claim> {
        let mut held = claims.iter().filter(|claim| holds(program, claim, &self.args));
        held.find(|claim| claim.speaks_of(&program.signatures, promise))
    }
}

/// The layers of a layer or bundle in a stack, top to bottom.
pub(super) fn placed<'a>(program: &'a Program, part: &Use, span: Span) -> Vec<Placed<'a>> {
    let mut found = Vec::new();
    take_apart(program, part, &[], false, 0, &mut found);
    found.iter_mut().for_each(|placed| placed.span = span);
    found
}

fn take_apart<'a>(
    program: &'a Program,
    part: &Use,
    params: &[Option<Value>],
    trimmed: bool,
    depth: u32,
    found: &mut Vec<Placed<'a>>,
) {
    let args: Vec<Option<Value>> =
        part.args.iter().map(|arg| constants::eval_with(program, params, arg).ok()).collect();
    match part.of {
        Definition::Layer(id) => {
            let Some(layer) = program.layers.get(id.index()) else { return };
            found.push(Placed { layer, args, trimmed, span: part.span, within: part.span });
        }
        Definition::Bundle(id) => {
            let Some(bundle) = program.bundles.get(id.index()).filter(|_| depth <= crate::limits::BUNDLE_DEPTH) else {
                return;
            };
            let trimmed = trimmed || bundle.wire.is_some_and(|wire| trims(program, wire));
            bundle.parts.iter().for_each(|part| take_apart(program, part, &args, trimmed, depth + 1, found));
        }
    }
}

/// Whether the wire contains `trim packet to …`.
pub(super) fn trims(program: &Program, wire: WireId) -> bool {
    fn any(items: &[WireItem]) -> bool {
        items.iter().any(|item| match item {
            WireItem::Field(field) => field.trims.is_some(),
            WireItem::Choice { arms, .. } => arms.iter().any(|arm| any(&arm.items)),
            WireItem::Optional { items, .. } => any(items),
            _ => false,
        })
    }
    program.wires.get(wire.index()).is_some_and(|wire| any(&wire.items))
}

/// The column below one layer of a stack.
pub struct Column<'a> {
    /// The layers, nearest first.
    pub below: Vec<Placed<'a>>,
    /// For each layer: the keys that the layer above it is bound to; they are no longer part of the flow above.
    pub keys_bound: Vec<Vec<&'a str>>,
}

/// The columns below the layer `at` of an instance, or including it; one for each way down.
pub(super) fn below<'a>(
    program: &'a Program,
    stack: &'a Stack,
    index: usize,
    at: usize,
    with: bool,
) -> Vec<Column<'a>> {
    // Layers in a cycle are reported elsewhere, and have no way down.
    if circle_from(stack, index).is_some() {
        return Vec::new();
    }
    let descents = descents::all(stack, index);
    descents.into_iter().map(|descent| along(program, stack, &descent, if with { at } else { at + 1 })).collect()
}

fn along<'a>(program: &'a Program, stack: &'a Stack, descent: &Descent, first: usize) -> Column<'a> {
    let mut column = Column { below: Vec::new(), keys_bound: Vec::new() };
    let mut bound: Vec<&str> = Vec::new();
    for (step, &(here, under)) in descent.steps.iter().enumerate() {
        let instance = &stack.instances[here];
        let layers = placed(program, &instance.of, instance.of.span);
        let skip = if step == 0 { first } else { 0 };
        for layer in layers.into_iter().skip(skip) {
            column.below.push(layer);
            column.keys_bound.push(std::mem::take(&mut bound));
        }
        bound = instance.unders[under].bound.iter().map(|(name, _)| name.text.as_str()).collect();
    }
    column
}

impl<'a> Column<'a> {
    /// "`A`, `B`, the device"
    pub fn path(&self) -> String {
        let mut path: Vec<String> = self.below.iter().map(|placed| format!("`{}`", placed.layer.name.text)).collect();
        path.push("the device".into());
        path.join(", ")
    }

    /// The claim about boundaries that is nearest to the top of the column, with its layer.
    pub fn boundaries(&self, program: &Program) -> (Boundaries, Option<(&'a Layer, Span)>) {
        for placed in &self.below {
            if placed.trimmed {
                return (Boundaries::Exact, None);
            }
            for claim in placed.layer.gives.iter().filter(|claim| holds(program, claim, &placed.args)) {
                let said = match claim.what {
                    Claimed::Boundaries(boundaries) => Some(boundaries),
                    Claimed::Signature(id) => program.signatures[id.index()].boundaries.map(|(said, _)| said),
                };
                if let Some(said) = said {
                    return (said, Some((placed.layer, claim.span)));
                }
            }
        }
        (Boundaries::Exact, None)
    }

    /// Who says most nearly whether this promise holds at the top of the column: the layer, its claim, and whether it gives it (else
    /// it breaks it). None if nobody says anything: the device promises nothing.
    pub fn promised(&self, program: &Program, promise: SignatureId) -> Option<(&'a Layer, &'a Claim, bool)> {
        self.below.iter().find_map(|placed| {
            let broken = placed.said(program, &placed.layer.breaks, promise).map(|claim| (placed.layer, claim, false));
            broken
                .or_else(|| placed.said(program, &placed.layer.gives, promise).map(|claim| (placed.layer, claim, true)))
        })
    }

    /// What travels at the top of the column: as the nearest layer with such a claim says, else messages.
    pub fn unit(&self, program: &Program) -> Unit {
        let claims = self.below.iter().flat_map(|placed| {
            placed.layer.gives.iter().filter(|claim| holds(program, claim, &placed.args)).map(|claim| claim.what)
        });
        let units = claims.filter_map(|what| match what {
            Claimed::Signature(id) => program.signatures[id.index()].unit.map(|(unit, _)| unit),
            Claimed::Boundaries(_) => None,
        });
        units.into_iter().next().unwrap_or(Unit::Message)
    }

    /// Whether sessions come up, and whether flow traffic does.
    pub fn offers(&self) -> (bool, bool) {
        self.below.iter().rev().fold((false, true), |offers, placed| match placed.layer.shape {
            Shape::Router => (false, true),
            Shape::Multiplexor => (true, true),
            Shape::Worker if has_sessions(placed.layer) => (true, false),
            _ => offers,
        })
    }

    /// The parts of the flows at the top of the column: each field with the layer that adds it.
    pub fn parts(&self) -> Vec<(&'a Field, &'a Layer)> {
        let mut parts: Vec<(&'a Field, &'a Layer)> = Vec::new();
        for (at, placed) in self.below.iter().enumerate().rev() {
            match placed.layer.shape {
                Shape::Router if placed.layer.address.is_empty() => {}
                Shape::Router => parts = placed.layer.address.iter().map(|field| (field, placed.layer)).collect(),
                Shape::Multiplexor => {
                    let key = placed.layer.key.iter().flat_map(|key| &key.fields);
                    parts.extend(key.map(|field| (field, placed.layer)));
                }
                Shape::Worker | Shape::Endpoint => {}
            }
            for bound in self.keys_bound.get(at).into_iter().flatten() {
                // For a key that is not symmetric, only the local end is bound.
                let symmetric = |layer: &Layer| layer.key.as_ref().is_some_and(|key| key.symmetric);
                let is_gone = |(field, by): &(&Field, &Layer)| field.name.text == *bound && symmetric(by);
                if let Some(gone) = parts.iter().rposition(is_gone) {
                    parts.remove(gone);
                }
            }
        }
        parts
    }
}

fn has_sessions(layer: &Layer) -> bool {
    layer.has_scope(ScopeKind::Session)
}

/// The signatures with a promise that a claim speaks of: its own, and those that it includes.
pub(super) fn promises<'a>(program: &'a Program, claim: &Claim) -> impl Iterator<Item = SignatureId> + 'a {
    let own = match claim.what {
        Claimed::Signature(id) => Some(id),
        Claimed::Boundaries(_) => None,
    };
    let included = |id: SignatureId| program.signatures[id.index()].included.iter().copied();
    let all = own.into_iter().flat_map(move |id| std::iter::once(id).chain(included(id)));
    all.filter(|id| program.signatures[id.index()].promise.is_some())
}

/// Whether a claim holds with these arguments; true if its condition is decided only at the start.
pub(super) fn holds(program: &Program, claim: &Claim, args: &[Option<Value>]) -> bool {
    let Some(when) = &claim.when else { return true };
    match constants::eval_with(program, args, when) {
        Ok(value) => value.scalar() != Some(0),
        Err(_) => true,
    }
}
