//! Warnings: services whose answers no layer gives, or no layer takes.
//!
//! Keeps: only the servers that a stack names are asked for an answer; a user that hands a message over has done what
//! it wanted.

use mokume_base::Diagnostic;

use crate::codes;
use crate::program::*;
use crate::tree;
use crate::visit::{self, Met};

/// Checks all stacks and all layers of a program without errors.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for stack in &program.stacks {
        for instance in &stack.instances {
            for layer in program.layers_of(&instance.of) {
                ungiven(program, stack, instance, layer, out);
            }
        }
    }
    program.layers.iter().for_each(|layer| untaken(program, layer, out));
}

/// Warns of an `out` that a layer waits for, and that its servers in this stack never emit.
fn ungiven(program: &Program, stack: &Stack, instance: &Instance, layer: &Layer, out: &mut Vec<Diagnostic>) {
    for handler in &layer.handlers {
        let Event::Service { service, operation, uses: Some(_), .. } = handler.event else { continue };
        let named = stack.instances.iter().filter(|other| {
            std::ptr::eq(*other, instance) || instance.with.iter().any(|name| name.text == other.name.text)
        });
        let served = named.flat_map(|other| program.layers_of(&other.of).into_iter().map(move |by| (other, by)));
        let servers: Vec<(&Instance, &Layer)> = served.filter(|(_, by)| by.serves.contains(&service)).collect();
        let Some((first, by)) = servers.first().copied() else { continue };
        if servers.iter().any(|(_, by)| says(by, service, operation)) {
            continue;
        }
        let Some(known) = program.services.get(service.index()) else { continue };
        let Some(answer) = known.operations.get(operation as usize) else { continue };
        let called = tree::snake_case(&known.name.text);
        let text =
            format!("`{}` waits for `{}`, and `{}` never says it", layer.name.text, answer.name.text, by.name.text);
        let found = Diagnostic::warning(codes::UNANSWERED, text)
            .at(handler.span, "never runs here")
            .label(first.of.span, format!("`{}` serves it", by.name.text))
            .label(answer.name.span, "an `out`: who serves says it")
            .help(format!("let `{}` say `{called}.{}(…)`", by.name.text, answer.name.text));
        if !out.contains(&found) {
            out.push(found);
        }
    }
}

/// Whether a layer emits an `out` of a service that it serves.
fn says(layer: &Layer, wanted: ServiceId, of: u32) -> bool {
    visit::any_in_layer(layer, |met| match met {
        Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Service { service, operation, uses: None, .. }), .. }) => {
            *service == wanted && *operation == of
        }
        _ => false,
    })
}

/// Warns of a service that a layer asks without handling any of its answers, though it can only be asked one thing and
/// has no other effect than its answers.
fn untaken(program: &Program, layer: &Layer, out: &mut Vec<Diagnostic>) {
    for (index, (service, name)) in layer.uses.iter().enumerate().filter(|(_, (_, name))| !name.text.starts_with('_')) {
        let Some(known) = program.services.get(service.index()) else { continue };
        let answers: Vec<&Operation> = known.operations.iter().filter(|operation| operation.out).collect();
        let asked: Vec<&Operation> = known.operations.iter().filter(|operation| !operation.out).collect();
        let ([only], Some(answer)) = (asked.as_slice(), answers.first()) else { continue };
        let hands_over = only.params.iter().any(|param| param.ty == Type::Message);
        let heard = |handler: &Handler| matches!(handler.event, Event::Service { uses: Some(uses), .. } if uses as usize == index);
        if hands_over || layer.handlers.iter().any(heard) {
            continue;
        }
        let mut asks = None;
        visit::walk_layer(layer, &mut |met| {
            if let Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Service { uses: Some(uses), .. }), span }) = met {
                asks = asks.or((*uses as usize == index).then_some(*span));
            }
        });
        let Some(asks) = asks else { continue };
        let params: Vec<&str> = answer.params.iter().map(|param| param.name.text.as_str()).collect();
        let text = format!("`{}` asks `{}`, and hears no answer", layer.name.text, name.text);
        out.push(
            Diagnostic::warning(codes::UNANSWERED, text)
                .at(asks, "what comes of it is lost")
                .label(answer.name.span, "the answer")
                .help(format!("write `on {}.{}({}) {{ … }}`", name.text, answer.name.text, params.join(", ")))
                .help(format!("if no answer is wanted, call the service `_{}`", name.text)),
        );
    }
}
