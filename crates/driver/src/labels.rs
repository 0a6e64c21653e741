//! What a frame is, in a few words: the wires that accept it on its way up the stack, and its payload.
//!
//! No wire is known by name. From the devices upwards, the next decoders are those of the layers above; of several the one
//! that checks most, and accepts, is taken.

use std::collections::BTreeSet;

use mokume_reaction::{Automaton, Fallible, FieldValue, WireId, WireItem};
use mokume_record::text_of;

/// What tells the frames of one automaton apart; made once for a run.
pub struct Labels<'a> {
    automaton: &'a Automaton,
    /// By layer: the layers above it, and the wires that it decodes.
    above: Vec<BTreeSet<usize>>,
    wires: Vec<BTreeSet<WireId>>,
}

impl<'a> Labels<'a> {
    /// Finds out which wires each layer decodes, and which layers stand above it.
    pub fn new(automaton: &'a Automaton) -> Self {
        let mut above = vec![BTreeSet::new(); automaton.layers.len()];
        for link in &automaton.links {
            let (upper, lower) = (automaton.class(link.above.0).layer, automaton.class(link.below.0).layer);
            above[lower.index()].insert(upper.index());
        }
        let mut wires = vec![BTreeSet::new(); automaton.layers.len()];
        for (layer, body) in automaton.code() {
            for op in body.attempts() {
                if let Fallible::Decode { wire, .. } | Fallible::Validate { wire, .. } = op {
                    wires[layer.index()].insert(*wire);
                }
            }
        }
        Labels { automaton, above, wires }
    }

    /// `Rfc791 Rfc768 "hello"`: without the outermost wire, which is the same for all.
    pub fn label(&self, frame: &[u8]) -> String {
        let devices = self.automaton.layers.iter().enumerate().filter(|(_, layer)| layer.shape == "device");
        let mut layers: BTreeSet<usize> = devices.map(|(index, _)| index).collect();
        let mut names: Vec<&str> = Vec::new();
        let mut used = BTreeSet::new();
        let mut rest = frame.to_vec();
        while let Some((layer, wire, inner)) = self.next(&layers, &used, &rest) {
            names.push(self.automaton.wires[wire.index()].name.as_str());
            used.insert(wire);
            layers = BTreeSet::from([layer]);
            rest = inner;
        }
        if names.is_empty() {
            return format!("{} octets {}", frame.len(), text_of(&frame[..frame.len().min(8)]));
        }
        let shown = if names.len() > 1 { &names[1..] } else { &names[..] };
        let payload =
            if rest.is_empty() { String::new() } else { format!(" {}", text_of(&rest[..rest.len().min(16)])) };
        format!("{}{payload}", shown.join(" "))
    }

    /// The strictest decoder that accepts, among the nearest ones at or above some layers.
    fn next(
        &self,
        layers: &BTreeSet<usize>,
        used: &BTreeSet<WireId>,
        octets: &[u8],
    ) -> Option<(usize, WireId, Vec<u8>)> {
        let mut found: Vec<(u32, usize, WireId)> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut front: Vec<usize> = layers.iter().copied().collect();
        while let Some(layer) = front.pop() {
            if !seen.insert(layer) {
                continue;
            }
            let fresh: Vec<WireId> = self.wires[layer].iter().copied().filter(|wire| !used.contains(wire)).collect();
            if fresh.is_empty() {
                front.extend(&self.above[layer]);
            }
            found
                .extend(fresh.into_iter().map(|wire| (checks(&self.automaton.wires[wire.index()].items), layer, wire)));
        }
        found.sort_by_key(|(checked, ..)| std::cmp::Reverse(*checked));
        found.into_iter().find_map(|(_, layer, wire)| {
            let payload = mokume_wire::decode(self.automaton, wire, octets).ok()?.payload;
            (payload.len() < octets.len()).then(|| (layer, wire, octets[payload].to_vec()))
        })
    }
}

/// How many bits of a packet a wire's decoder holds against something.
fn checks(items: &[WireItem]) -> u32 {
    items
        .iter()
        .map(|item| match item {
            WireItem::Field(field) => match field.value {
                FieldValue::Constant { .. } | FieldValue::Computed { .. } => u32::from(field.width),
                _ => 2 * field.constraints.len() as u32,
            },
            WireItem::Optional { .. } | WireItem::Options(_) | WireItem::List(_) | WireItem::Reach(_) => 0,
            WireItem::Choice { arms, .. } => 4 + arms.iter().map(|arm| checks(&arm.items)).min().unwrap_or_default(),
        })
        .sum()
}
