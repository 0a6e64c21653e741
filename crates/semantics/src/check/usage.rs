//! Warnings: declarations that are never used.

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::{Diagnostic, Span};

use crate::check::{ports, stacks};
use crate::codes;
use crate::program::*;
use crate::suggest;
use crate::visit::{self, Met};

/// Reports unused state, parameters, services and handlers that no stack can reach.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for layer in &program.layers {
        state(layer, out);
        params(layer, out);
        services(layer, out);
    }
    for bundle in &program.bundles {
        bundle_params(bundle, out);
    }
    for stack in &program.stacks {
        stack_params(stack, out);
    }
    events(program, out);
    stacks::idle_events::check(program, out);
}

fn warn(name: &Name, code: mokume_base::Code, what: &str, help: &str) -> Diagnostic {
    let name = (name.span, name.plain());
    Diagnostic::warning(code, format!("{what} `{}` is never used", name.1))
        .at(name.0, "never used")
        .help(format!("{help}, or call it `_{}` to say that this is meant", name.1))
}

fn state(layer: &Layer, out: &mut Vec<Diagnostic>) {
    let mut named = BTreeSet::new();
    visit::walk_layer(layer, &mut |met| {
        if let Met::State(state) = met {
            named.insert(state.place());
        }
    });
    let read = read(layer);
    for (kind, members) in layer.all_members() {
        // The keys come first.
        let keys = if let ScopeKind::Object(id) = kind { layer.objects[id.index()].keys.len() } else { 0 };
        for (index, member) in members.iter().enumerate().skip(keys) {
            let container = matches!(member.kind, MemberKind::Container(_));
            let within = container || layer.is_contained(kind, index as u32);
            if within || member.name.is_meant() {
                continue;
            }
            if !named.contains(&(kind, index as u32)) {
                out.push(warn(&member.name, codes::UNUSED_STATE, "state", "remove it"));
            } else if matches!(member.kind, MemberKind::Var { constant: false, .. })
                && !read.contains(&(kind, index as u32))
            {
                out.push(never_read(&member.name));
            }
        }
    }
}

/// State whose value is used for anything but its own next value.
fn read(layer: &Layer) -> BTreeSet<StateAt> {
    let mut named: BTreeMap<StateAt, i64> = BTreeMap::new();
    visit::walk_layer(layer, &mut |met| match met {
        Met::State(state) => *named.entry(state.place()).or_default() += 1,
        Met::Stmt(Stmt { kind: StmtKind::Assign { state, value }, .. }) => {
            let mut own = 1;
            visit::walk_in_expr(value, &mut |inner| {
                if let Met::State(other) = inner {
                    own += i64::from(other.place() == state.place());
                }
            });
            *named.entry(state.place()).or_default() -= own;
        }
        Met::Stmt(_) | Met::Expr(_) => {}
    });
    named.into_iter().filter(|(_, times)| *times > 0).map(|(place, _)| place).collect()
}

fn never_read(name: &Name) -> Diagnostic {
    let name = (name.span, name.plain());
    Diagnostic::warning(codes::NEVER_READ, format!("state `{}` is set, and nothing reads it", name.1))
        .at(name.0, "never read")
        .help(format!("remove it, or call it `_{}` to say that this is meant", name.1))
        .help("what people and tests are to see is a `counter`")
}

fn params(layer: &Layer, out: &mut Vec<Diagnostic>) {
    let mut named = BTreeSet::new();
    visit::walk_layer(layer, &mut |met| {
        if let Met::Expr(Expr { kind: ExprKind::Param(index), .. }) = met {
            named.insert(*index);
        }
    });
    for (index, param) in layer.params.iter().enumerate() {
        if !named.contains(&(index as u32)) && !param.name.is_meant() {
            out.push(warn(&param.name, codes::UNUSED_PARAMETER, "parameter", "remove it"));
        }
    }
}

fn bundle_params(bundle: &Bundle, out: &mut Vec<Diagnostic>) {
    handed_on(&bundle.params, bundle.parts.iter().flat_map(|part| &part.args), out);
}

/// Reports unused parameters that are not devices; whether something is over a device is checked elsewhere.
fn stack_params(stack: &Stack, out: &mut Vec<Diagnostic>) {
    let args = stack.instances.iter().flat_map(|instance| &instance.of.args);
    let keys = stack.instances.iter().flat_map(|instance| &instance.unders).flat_map(|under| &under.bound);
    handed_on(&stack.params, args.chain(keys.map(|(_, value)| value)), out);
}

/// Reports parameters that no value names.
fn handed_on<'a>(params: &[Param], values: impl Iterator<Item = &'a Expr>, out: &mut Vec<Diagnostic>) {
    let mut named = BTreeSet::new();
    for value in values {
        visit::walk_expr(value, &mut |expr| {
            if let ExprKind::Param(index) = expr.kind {
                named.insert(index);
            }
        });
    }
    for (index, param) in params.iter().enumerate() {
        if !named.contains(&(index as u32)) && !param.name.is_meant() && param.ty != Type::Unit {
            out.push(warn(&param.name, codes::UNUSED_PARAMETER, "parameter", "remove it"));
        }
    }
}

fn services(layer: &Layer, out: &mut Vec<Diagnostic>) {
    let mut named = BTreeSet::new();
    visit::walk_layer(layer, &mut |met| {
        if let Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Service { uses: Some(uses), .. }), .. }) = met {
            named.insert(*uses);
        }
    });
    for handler in &layer.handlers {
        if let Event::Service { uses: Some(uses), .. } = handler.event {
            named.insert(uses);
        }
    }
    for (index, (_, name)) in layer.uses.iter().enumerate() {
        if !named.contains(&(index as u32)) && !name.is_meant() {
            out.push(warn(name, codes::UNUSED_SERVICE, "service", "remove it"));
        }
    }
}

/// A handler of a layer in any of the layer's copies: the place of the layer's name, and the handler's number.
type HandlerAt = (Span, usize);

/// A layer in a stack, and what is over it.
struct Place {
    instance: Span,
    above: Vec<String>,
}

/// Handlers of own events: those of layers that are in some stack, and those that an event reaches in one.
#[derive(Default)]
struct Reached {
    stacked: BTreeMap<HandlerAt, Place>,
    reached: BTreeSet<HandlerAt>,
}

/// Reports own events that no layer emits in any stack with the handler's layer; layers that are in no stack are not
/// judged.
fn events(program: &Program, out: &mut Vec<Diagnostic>) {
    let mut seen = Reached::default();
    program.stacks.iter().for_each(|stack| seen.stack(program, stack));
    for layer in &program.layers {
        for (index, handler) in layer.handlers.iter().enumerate() {
            let Event::Custom { name, from, .. } = &handler.event else { continue };
            let at = (layer.name.span, index);
            let Some(place) = seen.stacked.get(&at).filter(|_| !seen.reached.contains(&at)) else { continue };
            let side = if *from == Origin::Above { "above" } else { "below" };
            let text = format!("nobody {side} `{}` emits `{}`", layer.name.text, name.text);
            let found = Diagnostic::warning(codes::UNREACHED, text);
            // The author of the stack cannot remove what is in another author's file.
            out.push(match place.instance.file == name.span.file {
                true => found
                    .at(name.span, "this handler never runs in any stack here")
                    .help("remove it, or put a layer that emits it into the stack"),
                false => found
                    .at(place.instance, format!("`{}` stands here, and waits for it", layer.name.text))
                    .label(name.span, "this handler never runs in any stack here")
                    .help(match place.above.as_slice() {
                        above if side == "below" || above.is_empty() => {
                            format!("put a layer {side} it that emits `{}`", name.text)
                        }
                        above => format!("let {} say `below.{}(…)`", suggest::list(above), name.text),
                    }),
            });
        }
    }
}

impl Reached {
    fn stack(&mut self, program: &Program, stack: &Stack) {
        let exported = !stack.exports.is_empty();
        let of = |instance: &'_ Instance| program.layers_of(&instance.of);
        let places = stack.instances.iter().enumerate();
        let layers: Vec<(usize, &Layer)> =
            places.flat_map(|(at, instance)| of(instance).into_iter().map(move |layer| (at, layer))).collect();
        let mut emitted = BTreeSet::new();
        for (_, layer) in &layers {
            visit::walk_layer(layer, &mut |met| {
                if let Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Custom { name, down, .. }), .. }) = met {
                    emitted.insert((name.text.as_str(), *down));
                }
            });
        }
        for (instance, layer) in layers {
            for (index, handler) in layer.handlers.iter().enumerate() {
                let Event::Custom { name, from, .. } = &handler.event else { continue };
                let meets = match from {
                    Origin::Own => true,
                    _ if ports::is_optional(program, layer, &name.text) => true,
                    Origin::Above => exported || emitted.contains(&(name.text.as_str(), true)),
                    Origin::Below => emitted.contains(&(name.text.as_str(), false)),
                };
                let place = || place_of(program, stack, instance);
                self.stacked.entry((layer.name.span, index)).or_insert_with(place);
                if meets {
                    self.reached.insert((layer.name.span, index));
                }
            }
        }
    }
}

fn place_of(program: &Program, stack: &Stack, instance: usize) -> Place {
    let stands_on = |other: &&Instance| {
        other.unders.iter().any(|under| matches!(under.over, Over::Instance(below) if below as usize == instance))
    };
    let above = stack.instances.iter().filter(stands_on);
    let lowest = above.filter_map(|other| Some(program.layers_of(&other.of).last()?.name.text.clone()));
    Place { instance: stack.instances[instance].of.span, above: lowest.collect() }
}
