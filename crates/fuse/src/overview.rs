//! Facts about a whole automaton: computed once, used on every way.

use mokume_reaction::{Automaton, Body, HandlerId, HeaderId, LayerId, OpKind, Value, VariantId, WireId};
use rustc_hash::FxHashMap;

use crate::passes::Passes;

/// Facts that ways need.
pub struct Overview {
    /// The passes that run.
    pub passes: Passes,
    /// Wires whose received packets some operation asks for.
    pub asked_for: Vec<WireId>,
    /// By layer: how many layers stand on it, including it.
    above: Vec<usize>,
    /// Handlers whose event begins a reaction because it is only ever put off.
    put_off: Vec<HandlerId>,
    pushed: FxHashMap<(HeaderId, VariantId), Pushed>,
}

/// The places where a header is pushed.
struct Pushed {
    places: f32,
    /// By field: the number of places where it is not zero; places where that varies count half.
    with: Vec<f32>,
}

impl Overview {
    /// The facts about an automaton.
    pub fn of(automaton: &Automaton, passes: Passes) -> Self {
        let above = (0..automaton.layers.len()).map(|layer| stand_on(automaton, LayerId::from(layer))).collect();
        let handlers = (0..automaton.handlers.len()).map(HandlerId::from);
        let put_off = handlers.filter(|handler| automaton.is_only_put_off(*handler)).collect();
        Overview { passes, asked_for: automaton.asked_for(), above, put_off, pushed: pushed(automaton) }
    }

    /// Whether the handler's event is only ever put off.
    pub fn is_put_off(&self, handler: HandlerId) -> bool {
        self.put_off.contains(&handler)
    }

    /// Whether another layer is above this one.
    pub fn is_between(&self, layer: LayerId) -> bool {
        self.above[layer.index()] > 1
    }

    /// How many layers stand on this one, including it.
    pub fn above(&self, layer: LayerId) -> usize {
        self.above[layer.index()]
    }

    /// The fraction of places pushing this header where the field is not zero; places where that varies count half.
    pub fn pushed_with(&self, header: HeaderId, variant: VariantId, field: u32) -> Option<f32> {
        let pushed = self.pushed.get(&(header, variant))?;
        Some(pushed.with.get(field as usize)? / pushed.places)
    }
}

fn stand_on(automaton: &Automaton, layer: LayerId) -> usize {
    let mut above = vec![layer];
    let mut at = 0;
    while let Some(layer) = above.get(at).copied() {
        at += 1;
        for link in &automaton.links {
            let (upper, lower) = (automaton.class(link.above.0).layer, automaton.class(link.below.0).layer);
            if lower == layer && !above.contains(&upper) {
                above.push(upper);
            }
        }
    }
    above.len()
}

fn pushed(automaton: &Automaton) -> FxHashMap<(HeaderId, VariantId), Pushed> {
    let mut all: FxHashMap<_, Pushed> = FxHashMap::default();
    for body in automaton.bodies() {
        let mut known = None;
        for op in body.ops() {
            let OpKind::Push { header, variant, fields, .. } = &op.kind else { continue };
            let known = known.get_or_insert_with(|| constants(body));
            let nothing = || Pushed { places: 0.0, with: vec![0.0; fields.len()] };
            let pushed = all.entry((*header, *variant)).or_insert_with(nothing);
            pushed.places += 1.0;
            for (with, field) in pushed.with.iter_mut().zip(fields) {
                *with += known.get(field).map_or(0.5, |value| f32::from(u8::from(*value != 0)));
            }
        }
    }
    all
}

fn constants(body: &Body) -> FxHashMap<Value, u64> {
    let constant = |op: &mokume_reaction::Op| match op.kind {
        OpKind::Const { value, .. } => Some((*op.results.first()?, value)),
        _ => None,
    };
    body.ops().filter_map(constant).collect()
}
