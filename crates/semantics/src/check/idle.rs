//! Warnings: timers and alternatives that are only half used: timers without a handler, alternatives that are never
//! sent or never taken.
//!
//! Keeps: a layer is judged by its own text, for its peer is the same layer. A timer may serve as a flag (`running t`),
//! so it is reported only if no code tests it either.

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, Span};

use crate::check::zeros;
use crate::codes;
use crate::program::*;
use crate::visit::{self, Met};

/// A piece of state: its scope, and its index there.
type StateAt = (ScopeKind, u32);

/// Timers and alternatives of each layer, by its own text.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    let fed = fed(program);
    for layer in &program.layers {
        let said = Said::of(layer);
        timers(layer, &said, out);
        alternatives(layer, &said, out);
        if !fed.contains(&layer.name.span) {
            unsent(layer, &said, out);
        }
        unsaid(program, layer, &said, out);
    }
}

/// Removes consequences: a timer that is never started needs no duration, and what only the handler of an untaken
/// alternative would take out stays in.
pub fn leave_out_followers(program: &Program, out: &mut Vec<Diagnostic>) {
    for layer in &program.layers {
        let timers = layer
            .all_members()
            .flat_map(|(_, members)| members)
            .filter(|member| matches!(member.kind, MemberKind::Timer));
        let timers: Vec<Span> = timers.map(|member| member.name.span).collect();
        let durations = layer.params.iter().filter(|param| param.ty == Type::Duration).map(|param| param.name.span);
        let variants = layer.header.iter().flat_map(|header| &header.variants).map(|variant| variant.name.span);
        let held = layer.all_members().flat_map(|(_, members)| members).map(|member| member.name.span);
        let follows: [(mokume_base::Code, Vec<Span>, mokume_base::Code, Vec<Span>); 2] = [
            (codes::NEVER_STARTED, timers, codes::UNUSED_PARAMETER, durations.collect()),
            (codes::UNTAKEN, variants.collect(), codes::ONLY_FILLS, held.collect()),
        ];
        for (cause, causes, follower, followers) in follows {
            let is = |found: &Diagnostic, code: mokume_base::Code, places: &[Span]| {
                found.code == code && found.primary.as_ref().is_some_and(|label| places.contains(&label.span))
            };
            if out.iter().any(|found| is(found, cause, &causes)) {
                out.retain(|found| !is(found, follower, &followers));
            }
        }
    }
}

/// Warns of a worker without `on send` that has a header: messages pass, and their header is all zeros.
fn unsaid(program: &Program, layer: &Layer, said: &Said, out: &mut Vec<Diagnostic>) {
    let Some(header) = layer.header.as_ref().filter(|_| layer.shape == Shape::Worker && said.sent.is_empty()) else {
        return;
    };
    // Layers without any emission exist for their wires, to decode packets.
    let takes = layer
        .handlers
        .iter()
        .any(|handler| matches!(&handler.event, Event::Deliver { fields, .. } if !fields.is_empty()));
    let [only] = header.variants.as_slice() else { return };
    if !takes {
        return;
    }
    let Some(field) = only.fields.first().filter(|field| !meant(&field.name)) else { return };
    // In a stack, zeros that are not a value of the type are reported there.
    if only.fields.iter().any(|field| zeros::without_zero(program, field.ty).is_some()) {
        return;
    }
    let text =
        format!("nothing in `{}` says what its header holds: each message goes down with zeros", layer.name.text);
    let found = Diagnostic::warning(codes::UNSAID_HEADER, text).at(field.name.span, "always zero");
    out.push(
        found.help(format!(
            "say it where messages go down: `on send(msg) {{ below.send(msg, {}: …) }}`",
            field.name.text
        )),
    );
}

/// What a layer's text does with its timers and alternatives.
#[derive(Default)]
struct Said {
    started: BTreeSet<StateAt>,
    heard: BTreeSet<StateAt>,
    sent: BTreeSet<u32>,
    taken: BTreeSet<u32>,
    takes_all: bool,
}

impl Said {
    fn of(layer: &Layer) -> Said {
        let mut said = Said::default();
        visit::walk_layer(layer, &mut |met| match met {
            Met::Stmt(Stmt { kind: StmtKind::Start { timer, .. }, .. }) => {
                said.started.insert(timer.place());
            }
            Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Send { fields: Some(fields), .. }), .. }) => {
                said.sent.insert(fields.variant);
            }
            Met::Expr(Expr { kind: ExprKind::Running(timer), .. }) => {
                said.heard.insert(timer.place());
            }
            _ => {}
        });
        for handler in &layer.handlers {
            match &handler.event {
                Event::Expiry { timer } => {
                    said.heard.insert(timer.place());
                }
                Event::Deliver { variant: Some(variant), .. } => {
                    said.taken.insert(*variant);
                }
                Event::Deliver { variant: None, .. } => said.takes_all = true,
                _ => {}
            }
        }
        said
    }
}

/// The layers to which tests send their own frames: there the tests play the other end.
fn fed(program: &Program) -> BTreeSet<Span> {
    let is_frame = |stack: &Stack, step: &Step| matches!(&step.kind, StepKind::Input { port, .. } if stack.devices.iter().any(|device| device.text == port.text));
    let mut fed = BTreeSet::new();
    for test in &program.tests {
        let Some(stack) = program.stacks.get(test.stack.index()) else { continue };
        if test.steps.iter().any(|step| is_frame(stack, step)) {
            let layers = stack.instances.iter().flat_map(|instance| program.layers_of(&instance.of));
            fed.extend(layers.map(|layer| layer.name.span));
        }
    }
    fed
}

/// Warns of alternatives that a worker waits for and that its peer, the same layer, never sends.
fn unsent(layer: &Layer, said: &Said, out: &mut Vec<Diagnostic>) {
    let Some(header) = layer.header.as_ref().filter(|header| header.variants.len() > 1 && !said.sent.is_empty()) else {
        return;
    };
    for (index, variant) in header.variants.iter().enumerate() {
        let (index, name) = (index as u32, &variant.name.text);
        if meant(&variant.name) || said.sent.contains(&index) || !is_awaited(layer, index) {
            continue;
        }
        let text = format!("`{}` takes `{name}`, and its peer never sends it", layer.name.text);
        let found = Diagnostic::warning(codes::UNSENT, text).at(variant.name.span, "nobody sends it");
        if variant.otherwise {
            let help =
                "leave `else` out, if no message of another layer goes through; else `below.send(msg)` sends by it";
            out.push(found.help(help));
            continue;
        }
        let shown = if variant.with_message { format!("msg, {name}") } else { name.clone() };
        out.push(
            found
                .help(format!("write `below.send({shown})` where it is time; both ends run the same layer"))
                .help(format!("if others send it, show one in a test, or call it `_{name}`")),
        );
    }
}

/// Whether a worker has a handler for this alternative that does more than reject it: both its ends run the same layer.
/// The endpoint of a stack may ask another kind of endpoint, which answers.
fn is_awaited(layer: &Layer, wanted: u32) -> bool {
    let own = |handler: &&Handler| matches!(&handler.event, Event::Deliver { variant: Some(variant), .. } if *variant == wanted);
    let refuses = |body: &[Stmt]| {
        body.iter().all(|stmt| {
            matches!(
                stmt.kind,
                StmtKind::Drop { .. } | StmtKind::Consume { .. } | StmtKind::Count { .. } | StmtKind::Return { .. }
            )
        })
    };
    layer.shape == Shape::Worker && layer.handlers.iter().find(own).is_some_and(|handler| !refuses(&handler.body))
}

fn meant(name: &Name) -> bool {
    name.text.starts_with('_')
}

/// Warns of timers that are started only in handlers that never run, because they are the expiry of such timers. If one
/// timer is reported, timers that would start because of it are not.
fn never_begun(layer: &Layer, said: &Said) -> BTreeSet<StateAt> {
    let by_handlers: Vec<BTreeSet<StateAt>> =
        layer.handlers.iter().map(|handler| starts(layer, &handler.body)).collect();
    let expiries = || {
        layer.handlers.iter().zip(&by_handlers).filter_map(|(handler, starts)| match &handler.event {
            Event::Expiry { timer } => Some((timer.place(), starts)),
            _ => None,
        })
    };
    // Functions that no handler calls are not judged.
    let by_all: BTreeSet<StateAt> = by_handlers.iter().flatten().copied().collect();
    let mut begun: BTreeSet<StateAt> = said.started.difference(&by_all).copied().collect();
    begun.extend(said.heard.difference(&said.started));
    for (handler, starts) in layer.handlers.iter().zip(&by_handlers) {
        if !matches!(handler.event, Event::Expiry { .. }) {
            begun.extend(starts);
        }
    }
    let mut told = BTreeSet::new();
    loop {
        let next: Vec<StateAt> =
            expiries().filter(|(timer, _)| begun.contains(timer)).flat_map(|(_, starts)| starts).copied().collect();
        let known = begun.len();
        begun.extend(next);
        if begun.len() > known {
            continue;
        }
        let by_itself = expiries().find(|(timer, starts)| !begun.contains(timer) && starts.contains(timer));
        let other = || expiries().find(|(timer, _)| !begun.contains(timer) && said.started.contains(timer));
        let Some((timer, _)) = by_itself.or_else(other) else { return told };
        told.insert(timer);
        begun.insert(timer);
    }
}

/// The timers that code of a layer starts, itself or in functions that it calls.
fn starts(layer: &Layer, body: &[Stmt]) -> BTreeSet<StateAt> {
    let (mut started, mut called, mut front) = (BTreeSet::new(), BTreeSet::new(), vec![body]);
    while let Some(body) = front.pop() {
        visit::walk(body, &mut |met| match met {
            Met::Stmt(Stmt { kind: StmtKind::Start { timer, .. }, .. }) => {
                started.insert(timer.place());
            }
            Met::Expr(expr) => {
                if let Some(function) = visit::own_call(expr).filter(|function| called.insert(*function)) {
                    front.extend(layer.functions.get(function as usize).map(|function| function.body.as_slice()));
                }
            }
            _ => {}
        });
    }
    started
}

fn timers(layer: &Layer, said: &Said, out: &mut Vec<Diagnostic>) {
    let never_begun = never_begun(layer, said);
    for (kind, members) in layer.all_members() {
        for (index, member) in members.iter().enumerate() {
            let place = (kind, index as u32);
            if !matches!(member.kind, MemberKind::Timer) || meant(&member.name) {
                continue;
            }
            let name = &member.name.text;
            if said.started.contains(&place) && !said.heard.contains(&place) {
                let text = format!("timer `{name}` is started, and nothing happens when it expires");
                let found = Diagnostic::warning(codes::UNHEARD_TIMER, text).at(member.name.span, "nobody hears it");
                out.push(found.help(format!("write `on expiry {name} {{ … }}`, or ask `running {name}`")));
            }
            if !said.started.contains(&place) && said.heard.contains(&place) {
                let text = format!("timer `{name}` is never started");
                let found = Diagnostic::warning(codes::NEVER_STARTED, text).at(member.name.span, "never expires");
                out.push(found.help(format!("write `start {name} after 20 ms` where it begins, or remove it")));
            }
            if never_begun.contains(&place) {
                let text = format!("timer `{name}` is started only by what happens when it expires, and so never");
                let found = Diagnostic::warning(codes::NEVER_STARTED, text).at(member.name.span, "never expires");
                let help = format!(
                    "write `start {name} after 20 ms` where it begins, too, such as in `on start` or `on opened`"
                );
                out.push(found.help(help));
            }
        }
    }
}

fn alternatives(layer: &Layer, said: &Said, out: &mut Vec<Diagnostic>) {
    let Some(header) = layer.header.as_ref().filter(|header| header.variants.len() > 1) else { return };
    for (index, variant) in header.variants.iter().enumerate() {
        let (index, name) = (index as u32, &variant.name.text);
        if meant(&variant.name) {
            continue;
        }
        let taken = said.takes_all || said.taken.contains(&index);
        if said.sent.contains(&index) && !taken {
            let text = format!("`{}` sends `{name}`, and its peer has no handler for it", layer.name.text);
            let found = Diagnostic::warning(codes::UNTAKEN, text).at(variant.name.span, "nobody takes it");
            let shown = if variant.with_message { format!("msg, {name}") } else { name.clone() };
            out.push(found.help(format!("write `on deliver({shown}) {{ … }}`; both ends run the same layer")));
        }
        if !said.sent.contains(&index) && !taken {
            let text = format!("`{}` neither sends nor takes `{name}`", layer.name.text);
            let found = Diagnostic::warning(codes::UNUSED_ALTERNATIVE, text).at(variant.name.span, "never used");
            out.push(found.help(format!("remove it, or call it `_{name}` to say that this is meant")));
        }
    }
}
