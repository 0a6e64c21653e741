//! The ways from a layer of a stack down to its devices: one, or as many as routers over several layers make.
//!
//! Keeps: a way is finite, as circles are refused first.

use mokume_base::{Diagnostic, Span};
use std::collections::BTreeSet;

use super::stacks::{handles, Check, EVERYWHERE};
use super::{column, ports};
use crate::program::*;
use crate::visit::{self, Met};
use crate::{codes, constants, suggest, types};

/// Whose a part of a flow is.
#[derive(Clone, Copy, PartialEq)]
enum Ends {
    Both,
    Remote,
    /// One value for both.
    Shared,
}

/// More ways than these are not looked at one by one.
const MOST_WAYS: usize = 256;

/// Instances from one down to a device, each with which of its unders the way takes.
pub(super) struct Way(pub Vec<(usize, usize)>);

impl Way {
    pub fn index(&self) -> usize {
        self.0.first().map_or(0, |(index, _)| *index)
    }

    pub fn instances(&self) -> Vec<usize> {
        self.0.iter().map(|(index, _)| *index).collect()
    }

    pub fn ends_at_device(&self, stack: &Stack) -> bool {
        self.0.last().is_some_and(|(index, under)| {
            matches!(stack.instances[*index].unders.get(*under), Some(Under { over: Over::Device(_), .. }))
        })
    }
}

/// All ways down from an instance.
pub(super) fn ways_down(stack: &Stack, index: usize) -> Vec<Way> {
    let mut found = Vec::new();
    walk(stack, index, &mut Vec::new(), &mut found);
    found
}

fn walk(stack: &Stack, index: usize, path: &mut Vec<(usize, usize)>, found: &mut Vec<Way>) {
    for (at, under) in stack.instances[index].unders.iter().enumerate() {
        if found.len() >= MOST_WAYS {
            return;
        }
        path.push((index, at));
        match under.over {
            Over::Instance(below) => walk(stack, below as usize, path, found),
            Over::Device(_) => found.push(Way(path.clone())),
        }
        path.pop();
    }
}

/// A circle that one comes into from an instance.
pub(super) fn circle_from(stack: &Stack, index: usize) -> Option<Vec<usize>> {
    let mut path = Vec::new();
    let mut seen = BTreeSet::new();
    circle(stack, index, &mut path, &mut seen)
}

fn circle(stack: &Stack, index: usize, path: &mut Vec<usize>, seen: &mut BTreeSet<usize>) -> Option<Vec<usize>> {
    if let Some(start) = path.iter().position(|at| *at == index) {
        return Some(path[start..].to_vec());
    }
    if !seen.insert(index) {
        return None;
    }
    path.push(index);
    for under in &stack.instances[index].unders {
        let Over::Instance(below) = under.over else { continue };
        if let Some(found) = circle(stack, below as usize, path, seen) {
            return Some(found);
        }
    }
    path.pop();
    None
}

impl Check<'_, '_> {
    /// A router over several: what those above read, it says itself.
    pub fn several(&mut self, index: usize) {
        let own = &self.layers[index];
        let Some(lowest) = own.iter().rposition(|layer| layer.several.is_some()) else { return };
        self.beyond_below(index, lowest);
        if self.stack.instances[index].unders.len() < 2 {
            return;
        }
        let router = self.layers[index][lowest];
        let mut found: Vec<Diagnostic> = self.unlike(index, lowest).into_iter().collect();
        for (reader, names) in self.readers_above(index, lowest) {
            for (name, span) in names {
                found.push(self.unsaid(index, router, reader, (name, span)));
            }
        }
        self.out.extend(found);
    }

    /// `below[9].x`, `flow(link: 9)`: as many layers are not below.
    fn beyond_below(&mut self, index: usize, lowest: usize) {
        let instance = &self.stack.instances[index];
        let count = instance.unders.len() as u64;
        let placed = column::placed(self.program, &instance.of, instance.of.span);
        let Some(placed) = placed.get(lowest) else { return };
        let Some(which) = &placed.layer.several else { return };
        let mut found = Vec::new();
        super::live::walk_layer(self.program, placed.layer, &placed.args, &mut |met| {
            let Met::Expr(expr) = met else { return };
            let chosen = match &expr.kind {
                ExprKind::Below { index: Some(index), .. } => Some(index.as_ref()),
                ExprKind::Flow { local, .. } if expr.ty == Type::Flow(Side::Below) => {
                    let part = local.iter().find(|(name, _)| name.as_ref().is_some_and(|n| n.text == which.text));
                    part.map(|(_, value)| value)
                }
                _ => None,
            };
            let Some(chosen) = chosen else { return };
            let value = constants::eval_with(self.program, &placed.args, chosen).ok().and_then(|value| value.scalar());
            if let Some(value) = value.filter(|value| *value >= count) {
                found.push(
                    Diagnostic::error(
                        codes::BEYOND_BELOW,
                        format!("there is no layer {value} below: there are {count}"),
                    )
                    .at(instance.of.span, format!("`{}` stands on {count} here", placed.layer.name.text))
                    .label(chosen.span, "they count from 0")
                    .help(format!("`below.count` is how many there are; `{}` is less", which.text)),
                );
            }
        });
        self.out.extend(found);
    }

    /// An event that goes up must meet a layer that handles it before the application.
    pub fn climbing(&mut self, way: &Way) {
        let index = way.index();
        let name = &self.stack.instances[index].name;
        let Some(export) = self.stack.exports.iter().find(|export| export.text == name.text) else { return };
        let layers: Vec<&Layer> = way.0.iter().flat_map(|(at, _)| self.layers[*at].iter().copied()).collect();
        let mut found = Vec::new();
        for (at, layer) in layers.iter().enumerate() {
            let mut seen = BTreeSet::new();
            visit::walk_layer(layer, &mut |met| {
                let Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Custom { name, down: false, .. }), .. }) = met
                else {
                    return;
                };
                let to_port = ports::speaks(self.program, layer, &name.text)
                    && layers[..at].iter().all(|above| ports::lets_through(above, &name.text, Origin::Below));
                let said = to_port || matches!(name.text.as_str(), "opened" | "accepted" | "grant_sends");
                let handled = layers[..at].iter().any(|above| handles(above, &name.text, Origin::Below));
                if !said && !handled && seen.insert(name.text.as_str()) {
                    let text = format!("nobody above `{}` handles `{}`", layer.name.text, name.text);
                    found.push(
                        Diagnostic::error(codes::NO_HANDLER, text)
                            .at(export.span, "it comes to this application")
                            .label(name.span, "emitted here")
                            .note(
                                "an application has the events of the language, and of vocabularies that the layer speaks",
                            )
                            .help(format!("put a layer above that says `on {}(…) from below`", name.text)),
                    );
                }
            });
        }
        self.out.extend(found);
    }

    /// The flows of all that a router stands on have the same parts.
    fn unlike(&self, index: usize, lowest: usize) -> Option<Diagnostic> {
        let ways = ways_down(self.stack, index);
        let first = self.typed_parts(ways.first()?, lowest);
        let other = ways.iter().find(|way| self.typed_parts(way, lowest) != first)?;
        let unders = &self.stack.instances[index].unders;
        let show = |way: &Way| {
            let name = self.under_name(&unders[way.0[0].1]).to_string();
            let parts: Vec<String> = self
                .typed_parts(way, lowest)
                .iter()
                .map(|(name, ty, _)| format!("{name}: {}", types::show(self.program, *ty)))
                .collect();
            let parts = if parts.is_empty() { "no parts".to_string() } else { parts.join(", ") };
            format!("flows of `{name}` have {parts}")
        };
        let text = format!("`{}` stands on layers whose flows differ", self.layers[index][lowest].name.text);
        Some(
            Diagnostic::error(codes::UNLIKE_BELOW, text)
                .at(self.stack.instances[index].of.span, "over these")
                .note(show(ways.first()?))
                .note(show(other))
                .help("bind each to its key, or put the same kinds of layers into each way"),
        )
    }

    /// The parts of the flow below a layer, by name, type and ends.
    fn typed_parts(&self, way: &Way, at: usize) -> Vec<(&str, Type, Ends)> {
        let mut parts: Vec<(&str, Type, Ends)> = Vec::new();
        for (step, &(instance, _)) in way.0.iter().enumerate().rev() {
            let own = &self.layers[instance];
            let from = if step == 0 { at + 1 } else { 0 };
            for layer in own[from.min(own.len())..].iter().rev() {
                match layer.shape {
                    Shape::Router if !layer.address.is_empty() => {
                        parts = layer.address.iter().map(|f| (f.name.text.as_str(), f.ty, Ends::Both)).collect();
                    }
                    Shape::Multiplexor => {
                        let keys = layer.key.iter();
                        parts.extend(keys.flat_map(|key| {
                            let ends = if key.symmetric { Ends::Shared } else { Ends::Both };
                            key.fields.iter().map(move |f| (f.name.text.as_str(), f.ty, ends))
                        }));
                    }
                    _ => {}
                }
            }
            if step > 0 {
                let (above, under) = way.0[step - 1];
                let bound = &self.stack.instances[above].unders[under].bound;
                let gone = |name: &str| bound.iter().any(|(gone, _)| gone.text == name);
                parts.retain(|(name, _, ends)| *ends != Ends::Shared || !gone(name));
                // Of a key that is not symmetric only the local end is bound.
                parts.iter_mut().filter(|(name, ..)| gone(name)).for_each(|(_, _, ends)| *ends = Ends::Remote);
            }
        }
        parts
    }

    fn unsaid(&self, index: usize, router: &Layer, reader: &Layer, (name, span): (String, Span)) -> Diagnostic {
        let stands = format!("`{}` stands on several here", router.name.text);
        let text = format!("`{}` reads `below.{name}`, of which the layers below have one each", reader.name.text);
        let unders = &self.stack.instances[index].unders;
        let overs: Vec<String> = unders.iter().map(|under| format!("`{}`", self.under_name(under))).collect();
        Diagnostic::error(codes::UNSAID, text)
            .at(self.stack.instances[index].of.span, stands)
            .label(span, "read here")
            .note(format!("below are {}", suggest::list(&overs.iter().map(String::as_str).collect::<Vec<_>>())))
            .help(format!("let `{}` say `publish {name}: … = below[i].{name}`", router.name.text))
    }

    fn under_name(&self, under: &Under) -> &str {
        match under.over {
            Over::Device(device) => self.stack.devices.get(device as usize).map_or("?", |name| &name.text),
            Over::Instance(at) => self.stack.instances.get(at as usize).map_or("?", |instance| &instance.name.text),
        }
    }

    /// The layers whose `below.x` comes down to a router without being published on the way.
    fn readers_above(&self, index: usize, router: usize) -> Vec<(&Layer, Vec<(String, Span)>)> {
        let mut found = Vec::new();
        for other in 0..self.stack.instances.len() {
            for way in ways_down(self.stack, other) {
                let Some(step) = way.0.iter().position(|(at, _)| *at == index) else { continue };
                let mut path: Vec<&Layer> =
                    way.0[..step].iter().flat_map(|(at, _)| self.layers[*at].iter().copied()).collect();
                path.extend(&self.layers[index][..=router]);
                for at in 0..path.len().saturating_sub(1) {
                    let reader = path[at];
                    let names = unpublished(reader, &path[at + 1..]);
                    if !names.is_empty()
                        && !found.iter().any(|(known, _): &(&Layer, _)| known.name.span == reader.name.span)
                    {
                        found.push((reader, names));
                    }
                }
            }
        }
        found
    }
}

/// What a layer reads of those below that none of them publishes.
fn unpublished(reader: &Layer, below: &[&Layer]) -> Vec<(String, Span)> {
    let mut names: Vec<(String, Span)> = Vec::new();
    visit::walk_layer(reader, &mut |met| {
        let Met::Expr(Expr { kind: ExprKind::Below { name, index: None, .. }, .. }) = met else { return };
        let said = below.iter().any(|layer| layer.publishes.iter().any(|publish| publish.name.text == name.text));
        if !said && !EVERYWHERE.contains(&name.text.as_str()) && !names.iter().any(|(known, _)| *known == name.text) {
            names.push((name.text.clone(), name.span));
        }
    });
    names
}
