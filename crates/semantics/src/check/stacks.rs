//! A stack as a whole: who stands on whom, what each needs of those below and beside it, and whether it is there.
//!
//! Only here are all neighbours of a layer known. Keeps: a report stands at the stack's line, with the layer's wish as a
//! label, so that both sides of the boundary are seen.

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::{Diagnostic, Span};

use super::ways::{circle_from, ways_down, Way};
use super::{column, live};
use crate::program::*;
use crate::visit::{self, Met};
use crate::{codes, suggest, types};

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
        check.layers = stack.instances.iter().map(|instance| layers_of(program, &instance.of)).collect();
        check.run();
    }
}

/// The layers of a layer or bundle, top to bottom.
pub fn layers_of<'a>(program: &'a Program, part: &Use) -> Vec<&'a Layer> {
    let mut layers = Vec::new();
    flatten(program, part, 0, &mut layers);
    layers
}

fn flatten<'a>(program: &'a Program, part: &Use, depth: u32, layers: &mut Vec<&'a Layer>) {
    match part.of {
        Definition::Layer(id) => layers.extend(program.layers.get(id.index())),
        Definition::Bundle(id) => {
            let parts = program.bundles.get(id.index()).map_or(&[][..], |bundle| &bundle.parts);
            if depth < 32 {
                parts.iter().for_each(|part| flatten(program, part, depth + 1, layers));
            }
        }
    }
}

fn bundle_shapes(program: &Program, bundle: &Bundle, out: &mut Vec<Diagnostic>) {
    for part in bundle.parts.iter().skip(1) {
        let Some(top) = layers_of(program, part).first().copied() else { continue };
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

    fn cycles(&mut self) -> bool {
        let mut reported = BTreeSet::new();
        for index in 0..self.stack.instances.len() {
            let Some(circle) = circle_from(self.stack, index) else { continue };
            if reported.insert(circle.iter().copied().min()) {
                let name = |index: &usize| self.stack.instances[*index].name.text.as_str();
                let mut names: Vec<&str> = circle.iter().map(name).collect();
                names.push(names[0]);
                let diagnostic = Diagnostic::error(codes::OVER_CYCLE, format!("`{}` stands on itself", names[0]))
                    .at(self.stack.instances[circle[0]].name.span, "this layer")
                    .note(format!("over: {}", names.join(" over ")))
                    .help("one of them must stand on a device or on a layer outside of the circle");
                self.out.push(diagnostic);
            }
        }
        !reported.is_empty()
    }

    /// Who stands on one layer or device: only a multiplexor carries several, and each of its keys one.
    fn neighbours(&mut self) {
        let mut devices: BTreeMap<u32, &Instance> = BTreeMap::new();
        let mut bare: BTreeMap<u32, &Instance> = BTreeMap::new();
        let mut keys: BTreeMap<(u32, String), (&Instance, &Under)> = BTreeMap::new();
        let unders = |instance: &'a Instance| instance.unders.iter().map(move |under| (instance, under));
        for (instance, under) in self.stack.instances.iter().flat_map(unders) {
            match under.over {
                Over::Device(device) => {
                    if let Some(first) = devices.insert(device, instance) {
                        self.crowded("the device", first, instance);
                    }
                }
                Over::Instance(below) => {
                    let Some(top) = self.layers.get(below as usize).and_then(|layers| layers.first().copied()) else {
                        continue;
                    };
                    if top.shape == Shape::Endpoint {
                        self.over_endpoint(top, instance);
                    } else if top.shape != Shape::Multiplexor {
                        if let Some(first) = bare.insert(below, instance) {
                            self.crowded(&format!("`{}`, which carries one", top.name.text), first, instance);
                        }
                    } else if let Some(key) = key_text(under) {
                        if let Some((other, first)) = keys.insert((below, key), (instance, under)) {
                            self.same_key((other, first), (instance, under));
                        }
                    }
                }
            }
        }
    }

    fn crowded(&mut self, what: &str, first: &Instance, second: &Instance) {
        let text = format!("`{}` and `{}` both stand on {what}", first.name.text, second.name.text);
        let diagnostic = Diagnostic::error(codes::CROWDED, text)
            .at(second.name.span, "the second")
            .label(first.name.span, "the first")
            .note("only a multiplexor knows which of several layers above it a message is for")
            .help("put a multiplexor between, and bind each to a key: `over between[key: 1]`");
        self.out.push(diagnostic);
    }

    fn same_key(&mut self, (first, of_first): (&Instance, &Under), (second, of_second): (&Instance, &Under)) {
        let text = match first.name.span == second.name.span {
            true => format!("`{}` is bound to the same key twice", first.name.text),
            false => format!("`{}` and `{}` are bound to the same key", first.name.text, second.name.text),
        };
        let place =
            |instance: &Instance, under: &Under| under.bound.first().map_or(instance.name.span, |(name, _)| name.span);
        let diagnostic = Diagnostic::error(codes::SAME_KEY, text)
            .at(place(second, of_second), "taken already")
            .label(place(first, of_first), "bound first here")
            .help("give each of them a key of its own");
        self.out.push(diagnostic);
    }

    fn over_endpoint(&mut self, top: &Layer, instance: &Instance) {
        let text = format!("`{}` is an endpoint, so nothing can stand on it", top.name.text);
        let diagnostic = Diagnostic::error(codes::SHAPE_ORDER, text)
            .at(instance.name.span, "stands on it here")
            .label(top.name.span, "an endpoint has nothing above")
            .help("stand on the layer below it, or make it a worker");
        self.out.push(diagnostic);
    }

    /// `with` gives each layer the services that it uses, and nothing else.
    fn services(&mut self, index: usize) {
        let instance = &self.stack.instances[index];
        let named: Vec<(&Name, usize)> = instance
            .with
            .iter()
            .filter_map(|name| {
                let at = self.stack.instances.iter().position(|other| other.name.text == name.text)?;
                Some((name, at))
            })
            .collect();
        let serves =
            |at: usize, service: ServiceId| self.layers[at].iter().any(|layer| layer.serves.contains(&service));
        let mut used = BTreeSet::new();
        let mut found = Vec::new();
        for layer in &self.layers[index] {
            for (service, name) in &layer.uses {
                used.extend(named.iter().filter(|(_, at)| serves(*at, *service)).map(|(_, at)| *at));
                let there = named.iter().any(|(_, at)| serves(*at, *service)) || serves(index, *service);
                if !there {
                    found.push(self.no_service(instance, layer, *service, name));
                }
            }
        }
        for (name, at) in named {
            if !used.contains(&at) {
                found.push(unused_with(instance, name));
            }
        }
        self.out.extend(found);
    }

    fn no_service(&self, instance: &Instance, layer: &Layer, service: ServiceId, name: &Name) -> Diagnostic {
        let title = self.program.services.get(service.index()).map_or("?", |service| service.name.text.as_str());
        let servers: Vec<&str> = self
            .stack
            .instances
            .iter()
            .zip(&self.layers)
            .filter(|(_, layers)| layers.iter().any(|layer| layer.serves.contains(&service)))
            .map(|(instance, _)| instance.name.text.as_str())
            .collect();
        let text = format!("`{}` uses the service `{title}`, and nobody serves it here", instance.name.text);
        let diagnostic = Diagnostic::error(codes::NO_SERVICE, text)
            .at(instance.of.span, format!("`{}` in it needs `{title}`", layer.name.text))
            .label(name.span, "used here");
        match servers.first() {
            Some(server) => diagnostic.help(format!("write `with {server}`")),
            None => {
                diagnostic.help(format!("add a layer that says `serves {title}` to the stack, and name it in `with`"))
            }
        }
    }

    /// `below.x` of each layer must be published by somebody below it.
    fn published(&mut self, way: &Way) {
        let (index, chain) = (way.index(), way.instances());
        let given = column::placed(self.program, &self.stack.instances[index].of, self.stack.instances[index].of.span);
        let mut found = Vec::new();
        for (at, layer) in self.layers[index].iter().enumerate() {
            let mut wishes: BTreeMap<&str, (Span, Type)> = BTreeMap::new();
            let args = given.get(at).map_or(&[][..], |placed| placed.args.as_slice());
            live::walk_layer(self.program, layer, args, &mut |met| {
                if let Met::Expr(Expr { kind: ExprKind::Below { name, .. }, ty, .. }) = met {
                    wishes.entry(&name.text).or_insert((name.span, *ty));
                }
            });
            let inside = self.layers[index][at + 1..].iter().copied();
            let below: Vec<&Layer> =
                inside.chain(chain[1..].iter().flat_map(|at| self.layers[*at].iter().copied())).collect();
            for (name, (span, ty)) in wishes {
                if self.is_published(name, &below, way) {
                    found.extend(self.other_type(index, layer, (name, span, ty), &below));
                    continue;
                }
                found.push(self.not_published(index, layer, (name, span), &below));
            }
        }
        self.out.extend(found);
    }

    /// The nearest layer below that publishes the value must give it the type that it was read with.
    fn other_type(
        &self,
        index: usize,
        layer: &Layer,
        wish: (&str, Span, Type),
        below: &[&Layer],
    ) -> Option<Diagnostic> {
        let (name, span, ty) = wish;
        let mut publishes = below.iter().flat_map(|layer| layer.publishes.iter().map(move |publish| (layer, publish)));
        let (by, publish) = publishes.find(|(_, publish)| publish.name.text == name)?;
        if types::same(publish.ty, ty) {
            return None;
        }
        let (wanted, given) = (types::show(self.program, ty), types::show(self.program, publish.ty));
        let text =
            format!("`{}` reads `below.{name}` as {wanted}, and `{}` publishes {given}", layer.name.text, by.name.text);
        Some(
            Diagnostic::error(codes::MISMATCH, text)
                .at(self.stack.instances[index].of.span, format!("`{}` stands here", layer.name.text))
                .label(span, format!("read as {wanted}"))
                .label(publish.name.span, format!("published as {given}"))
                .help("publish one name with one type everywhere; `mtu` and `credit` are u32, `mac` is u48"),
        )
    }

    fn is_published(&self, name: &str, below: &[&Layer], way: &Way) -> bool {
        let device = way.ends_at_device(self.stack) && OF_DEVICES.contains(&name);
        EVERYWHERE.contains(&name)
            || device
            || below.iter().any(|layer| layer.publishes.iter().any(|p| p.name.text == name))
    }

    fn not_published(&self, index: usize, layer: &Layer, (name, span): (&str, Span), below: &[&Layer]) -> Diagnostic {
        let instance = &self.stack.instances[index];
        let mut path: Vec<String> = below.iter().map(|layer| format!("`{}`", layer.name.text)).collect();
        path.push("the device".into());
        let elsewhere: Vec<&str> = self
            .program
            .layers
            .iter()
            .filter(|layer| layer.publishes.iter().any(|publish| publish.name.text == name))
            .map(|layer| layer.name.text.as_str())
            .collect();
        let text = format!("`{}` reads `below.{name}`, and nobody below it publishes that", layer.name.text);
        let diagnostic = Diagnostic::error(codes::NOT_PUBLISHED, text)
            .at(instance.of.span, format!("`{}` stands here", layer.name.text))
            .label(span, "read here")
            .note(format!("below it are {}", path.join(", ")));
        match elsewhere.is_empty() {
            true => diagnostic.help(format!("let a layer below say `publish {name}: … = …`")),
            false => diagnostic.help(format!("put {} below it", suggest::list(&elsewhere))),
        }
    }

    /// The parts that the flow above a layer of the chain has, with the keys that instances are bound to taken out.
    fn parts_below(&self, way: &Way, at: usize) -> Parts<'a> {
        let mut parts = Parts::new();
        for (step, &(instance, _)) in way.0.iter().enumerate().rev() {
            let own = &self.layers[instance];
            let from = if step == 0 { at + 1 } else { 0 };
            for layer in own[from.min(own.len())..].iter().rev() {
                add_parts(layer, &mut parts);
            }
            if step > 0 {
                let (above, under) = way.0[step - 1];
                for (name, _) in &self.stack.instances[above].unders[under].bound {
                    // Of a key that is not symmetric only the local end is bound.
                    if parts.get(name.text.as_str()) == Some(&true) {
                        parts.remove(name.text.as_str());
                    }
                }
            }
        }
        parts
    }

    /// The parts of flows that a layer's code names are made by somebody below it.
    fn flow_parts(&mut self, way: &Way) {
        let index = way.index();
        let mut found = Vec::new();
        for (at, layer) in self.layers[index].iter().enumerate() {
            let mut below = self.parts_below(way, at);
            let mut above = below.clone();
            add_parts(layer, &mut above);
            below.extend(layer.several.iter().map(|which| (which.text.as_str(), true)));
            let mut seen = BTreeSet::new();
            visit::walk_layer(layer, &mut |met| {
                let Met::Expr(expr) = met else { return };
                if let Some((span, side)) = unnamed_part(expr) {
                    let known = if side == Side::Above { &above } else { &below };
                    let ends = known.values().filter(|symmetric| !**symmetric).count();
                    if ends != 1 && seen.insert("") {
                        found.push(self.not_one_part(index, layer, span, known));
                    }
                }
                for (name, side) in parts_named(expr) {
                    let known = if side == Side::Above { &above } else { &below };
                    if !known.contains_key(name.text.as_str()) && seen.insert(name.text.as_str()) {
                        found.push(self.no_part(index, layer, name, known));
                    }
                }
            });
        }
        self.out.extend(found);
    }

    fn no_part(&self, index: usize, layer: &Layer, name: &Name, known: &Parts) -> Diagnostic {
        let text = format!("no layer below `{}` gives its flows a part `{}`", layer.name.text, name.text);
        let mut diagnostic = Diagnostic::error(codes::NO_FLOW_PART, text)
            .at(self.stack.instances[index].of.span, format!("`{}` stands here", layer.name.text))
            .label(name.span, "asked for here");
        let help = suggest::help(&name.text, known.keys().copied());
        diagnostic.helps.push(help.unwrap_or(format!("put a layer below that makes `{}`", name.text)));
        if known.is_empty() {
            diagnostic = diagnostic
                .note("the flows here have no parts at all: the layers below make none, or the keys are bound");
        }
        diagnostic
    }

    fn not_one_part(&self, index: usize, layer: &Layer, span: Span, known: &Parts) -> Diagnostic {
        let names: Vec<&str> = known.iter().filter(|(_, symmetric)| !**symmetric).map(|(name, _)| *name).collect();
        let text = match names.is_empty() {
            true => format!("`{}` names an end of a flow, and the flows here have none", layer.name.text),
            false => format!(
                "`{}` names an end of a flow, and that has the parts {}",
                layer.name.text,
                suggest::list(&names)
            ),
        };
        Diagnostic::error(codes::NO_FLOW_PART, text)
            .at(self.stack.instances[index].of.span, format!("`{}` stands here", layer.name.text))
            .label(span, "which part is this?")
            .help(format!("name it: `remote.{}: …`", names.first().unwrap_or(&"part")))
    }

    /// What sizes something is known before the start: no parameter of the stack.
    fn sizes(&mut self, index: usize) {
        let mut found = Vec::new();
        sized_args(self.program, &self.stack.instances[index].of, &|_| false, 0, &mut found);
        for span in found {
            self.out.push(
                Diagnostic::error(
                    codes::NOT_CONSTANT,
                    "this sizes something, so it must be known when the stack is built",
                )
                .at(span, "known at the start only")
                .note("parameters of a stack are set when it starts; memory is laid out before")
                .help("write a number or a `const` here"),
            );
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
                found.push(
                    Diagnostic::error(codes::NO_SESSIONS, text)
                        .at(span, "only sessions come from below")
                        .label(layer.name.span, "has no `session` scope")
                        .help("give it a `session` scope, or put a multiplexor between"),
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

/// Arguments that size something and are not constant; `known` tells which parameters of the user are.
fn sized_args(program: &Program, part: &Use, known: &dyn Fn(u32) -> bool, depth: u32, found: &mut Vec<Span>) {
    let constant = |arg: &Expr| {
        let mut constant = true;
        visit::walk_expr(arg, &mut |expr| match expr.kind {
            ExprKind::Param(index) => constant &= known(index),
            ExprKind::Below { .. } => constant = false,
            _ => {}
        });
        constant
    };
    match part.of {
        Definition::Layer(id) => {
            let Some(layer) = program.layers.get(id.index()) else { return };
            let sizes = size_params(layer);
            let wrong =
                part.args.iter().enumerate().filter(|(index, arg)| sizes.contains(&(*index as u32)) && !constant(arg));
            found.extend(wrong.map(|(_, arg)| arg.span));
        }
        Definition::Bundle(id) => {
            let Some(bundle) = program.bundles.get(id.index()).filter(|_| depth < 32) else { return };
            // Inside the bundle a parameter is as constant as what is given for it here.
            let given: Vec<bool> = part.args.iter().map(constant).collect();
            for inner in &bundle.parts {
                let mut wrong = Vec::new();
                let inside = |index: u32| given.get(index as usize).copied().unwrap_or(true);
                sized_args(program, inner, &inside, depth + 1, &mut wrong);
                if !wrong.is_empty() {
                    found.extend(
                        part.args
                            .iter()
                            .zip(&given)
                            .filter(|(_, constant)| !**constant)
                            .map(|(arg, _)| arg.span)
                            .take(1),
                    );
                    break;
                }
            }
        }
    }
}

/// The parameters of a layer that say how large something is.
fn size_params(layer: &Layer) -> BTreeSet<u32> {
    let mut params = BTreeSet::new();
    let mut add = |expr: &Expr| {
        visit::walk_expr(expr, &mut |expr| {
            if let ExprKind::Param(index) = expr.kind {
                params.insert(index);
            }
        });
    };
    let members =
        layer.scopes.iter().map(|scope| &scope.members).chain(layer.objects.iter().map(|class| &class.members));
    for member in members.flatten() {
        match &member.kind {
            MemberKind::Array { size, .. } | MemberKind::Messages { size, .. } => add(size),
            MemberKind::Map { capacity, .. } => add(capacity),
            MemberKind::Quota { amount } => add(amount),
            MemberKind::Var { .. } | MemberKind::Timer | MemberKind::Counter | MemberKind::Container(_) => {}
        }
    }
    layer.scopes.iter().flat_map(|scope| &scope.capacity).for_each(&mut add);
    layer.objects.iter().for_each(|class| add(&class.capacity));
    params
}

fn unused_with(instance: &Instance, name: &Name) -> Diagnostic {
    let text = format!("`{}` uses nothing that `{}` serves", instance.name.text, name.text);
    Diagnostic::error(codes::UNUSED_WITH, text)
        .at(name.span, "not needed")
        .label(instance.of.span, "this layer does not use its services")
        .help(format!("leave `{}` out of `with`", name.text))
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

fn key_text(under: &Under) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for (name, value) in &under.bound {
        parts.push(format!("{}={}", name.text, types::number(value)?));
    }
    parts.sort();
    (!parts.is_empty()).then(|| parts.join(","))
}

/// The parts of a flow by name, and whether one is a symmetric key, which belongs to neither end.
type Parts<'a> = BTreeMap<&'a str, bool>;

/// What a layer does to the parts of the flows that pass it upwards.
fn add_parts<'a>(layer: &'a Layer, parts: &mut Parts<'a>) {
    match layer.shape {
        // A router without an address only chooses among those below.
        Shape::Router if layer.address.is_empty() => {}
        Shape::Router => *parts = layer.address.iter().map(|field| (field.name.text.as_str(), false)).collect(),
        Shape::Multiplexor => {
            let keys = layer
                .key
                .iter()
                .flat_map(|key| key.fields.iter().map(|field| (field.name.text.as_str(), key.symmetric)));
            parts.extend(keys);
        }
        _ => {}
    }
}

/// `flow(remote: x)`: an end without the name of its part.
fn unnamed_part(expr: &Expr) -> Option<(Span, Side)> {
    let (ExprKind::Flow { local, remote }, Type::Flow(side)) = (&expr.kind, expr.ty) else { return None };
    let (_, part) = local.iter().chain(remote).find(|(name, _)| name.is_none())?;
    Some((part.span, side))
}

/// The parts of flows that an expression itself names, with the side whose flow it is.
fn parts_named(expr: &Expr) -> Vec<(&Name, Side)> {
    match (&expr.kind, expr.ty) {
        (ExprKind::FlowPart { flow, field, .. }, _) => match flow.ty {
            Type::Flow(side) => vec![(field, side)],
            _ => Vec::new(),
        },
        (ExprKind::Flow { local, remote }, Type::Flow(side)) => {
            local.iter().chain(remote).filter_map(|(name, _)| Some((name.as_ref()?, side))).collect()
        }
        _ => Vec::new(),
    }
}
