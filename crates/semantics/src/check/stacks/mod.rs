//! A stack as a whole: who stands on whom, what each needs of those below and beside it, and whether it is there.
//!
//! Only here are all neighbours of a layer known. Keeps: a report stands at the stack's line, with the layer's wish as a
//! label, so that both sides of the boundary are seen.

mod flow_parts;
pub mod idle_events;
mod neighbours;
mod openings;
mod reads;
mod services;
mod sizes;

use std::collections::BTreeSet;

use mokume_base::Diagnostic;

use super::ways::{ways_down, Way};
use crate::codes;
use crate::program::*;
use crate::visit::{self, Met};

/// Values that every layer has from below, without anybody publishing them.
pub const EVERYWHERE: [&str; 3] = ["credit", "credit_octets", "mtu"];
/// What a device publishes.
pub const OF_DEVICES: [&str; 2] = ["mac", "mtu"];

/// Checks a bundle's order of shapes, then each stack.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for bundle in &program.bundles {
        bundle_shapes(program, bundle, out);
    }
    for stack in &program.stacks {
        let mut check = Check { program, stack, layers: Vec::new(), out: &mut *out };
        check.layers = stack.instances.iter().map(|instance| program.layers_of(&instance.of)).collect();
        check.run();
    }
}

fn bundle_shapes(program: &Program, bundle: &Bundle, out: &mut Vec<Diagnostic>) {
    for part in bundle.parts.iter().skip(1) {
        let Some(top) = program.layers_of(part).first().copied() else { continue };
        if top.shape == Shape::Endpoint {
            let text = format!("`{}` is an endpoint, so nothing can stand on it", top.name.text);
            out.push(
                Diagnostic::error(codes::SHAPE_ORDER, text)
                    .at(part.span, "it has layers above it here")
                    .label(top.name.span, "an endpoint has nothing above")
                    .help("an endpoint comes first in a bundle, or stands alone in the stack"),
            );
        }
    }
}

pub(super) struct Check<'a, 'b> {
    pub program: &'a Program,
    pub stack: &'a Stack,
    /// By instance, top to bottom.
    pub layers: Vec<Vec<&'a Layer>>,
    pub out: &'b mut Vec<Diagnostic>,
}

/// What a layer offers above it.
#[derive(Clone, Copy, PartialEq)]
enum Offer {
    Flows,
    Sessions,
    Both,
}

impl<'a> Check<'a, '_> {
    fn run(&mut self) {
        if self.cycles() {
            return;
        }
        self.neighbours();
        for index in 0..self.stack.instances.len() {
            self.services(index);
            self.sizes(index);
            self.several(index);
            for way in ways_down(self.stack, index) {
                let before = self.out.len();
                self.published(&way);
                self.flow_parts(&way);
                self.openings(&way);
                self.offers(&way);
                self.events(&way);
                self.climbing(&way);
                // What is wrong on each of several ways is said once.
                let new = self.out.split_off(before);
                new.into_iter().for_each(|diagnostic| {
                    if !self.out.contains(&diagnostic) {
                        self.out.push(diagnostic);
                    }
                });
            }
        }
    }

    fn offer(&self, way: &Way, at: usize) -> Offer {
        let mut offer = Offer::Flows;
        for (step, &(instance, _)) in way.0.iter().enumerate().rev() {
            let own = &self.layers[instance];
            let from = if step == 0 { at + 1 } else { 0 };
            for layer in own[from.min(own.len())..].iter().rev() {
                offer = match layer.shape {
                    Shape::Router => Offer::Flows,
                    Shape::Multiplexor => Offer::Both,
                    Shape::Worker if has_scope(layer, ScopeKind::Session) || has_scope(layer, ScopeKind::Point) => {
                        Offer::Sessions
                    }
                    _ => offer,
                };
            }
        }
        offer
    }

    /// Sessions where they are asked for, flow traffic where that is.
    fn offers(&mut self, way: &Way) {
        let index = way.index();
        let mut found = Vec::new();
        for (at, layer) in self.layers[index].iter().enumerate() {
            let offer = self.offer(way, at);
            let span = self.stack.instances[index].of.span;
            if offer == Offer::Flows && has_scope(layer, ScopeKind::SessionBelow) {
                let text = format!("`{}` keeps state per lower session, and below it are no sessions", layer.name.text);
                found.push(
                    Diagnostic::error(codes::NO_SESSIONS, text)
                        .at(span, "only flow traffic comes from below")
                        .label(layer.name.span, "has a scope `session below`")
                        .help("put a worker with a `session` scope below it, or keep the state in the entity"),
                );
            }
            let flows_only =
                layer.shape == Shape::Router || layer.shape == Shape::Endpoint && !has_scope(layer, ScopeKind::Session);
            if offer == Offer::Sessions && flows_only {
                let text = format!("`{}` works on flow traffic, and below it are only sessions", layer.name.text);
                let help = match layer.shape {
                    Shape::Router => "put it below the layer that makes the sessions",
                    _ => "give it a `session` scope, or put it below the layer that makes the sessions",
                };
                found.push(
                    Diagnostic::error(codes::NO_SESSIONS, text)
                        .at(span, "only sessions come from below")
                        .label(layer.name.span, "has no `session` scope")
                        .help(help),
                );
            }
        }
        self.out.extend(found);
    }

    /// An event that goes down must meet a layer that handles it before the device.
    fn events(&mut self, way: &Way) {
        let (index, chain) = (way.index(), way.instances());
        let mut found = Vec::new();
        for (at, layer) in self.layers[index].iter().enumerate() {
            let inside = self.layers[index][at + 1..].iter().copied();
            let below: Vec<&Layer> =
                inside.chain(chain[1..].iter().flat_map(|at| self.layers[*at].iter().copied())).collect();
            let mut seen = BTreeSet::new();
            visit::walk_layer(layer, &mut |met| {
                let Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Custom { name, down: true, .. }), .. }) = met
                else {
                    return;
                };
                let handled = below.iter().any(|layer| handles(layer, &name.text, Origin::Above));
                if !handled && seen.insert(name.text.as_str()) {
                    let text = format!("nobody below `{}` handles `{}`", layer.name.text, name.text);
                    found.push(
                        Diagnostic::error(codes::NO_HANDLER, text)
                            .at(self.stack.instances[index].of.span, format!("`{}` stands here", layer.name.text))
                            .label(name.span, "emitted here")
                            .note("an event that nobody handles would end at the device, which does not know it")
                            .help(format!("put a layer below that says `on {}(…)`", name.text)),
                    );
                }
            });
        }
        self.out.extend(found);
    }
}

/// Whether a layer has a handler of this name for events from that side.
pub fn handles(layer: &Layer, event: &str, side: Origin) -> bool {
    layer.handlers.iter().any(|handler| match &handler.event {
        Event::Custom { name, from, .. } => name.text == event && *from == side,
        _ => false,
    })
}

fn has_scope(layer: &Layer, kind: ScopeKind) -> bool {
    layer.scopes.iter().any(|scope| scope.kind == kind)
}
