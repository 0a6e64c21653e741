//! Events of vocabularies in a stack: each has an origin. Reasons that are compared are shared.
//!
//! What nobody ends is refused in [`super::stacks`].

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, Span};

use super::column;
use super::ports::{self, emits_down, emits_up};
use crate::program::*;
use crate::signature::STANDARD_REASONS;
use crate::visit::{self, Met};
use crate::{codes, suggest};

/// Reasons in each layer, and where the events that it hears come from in each stack.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for layer in &program.layers {
        reasons(program, layer, out);
    }
    for stack in &program.stacks {
        for index in 0..stack.instances.len() {
            let layers = program.layers_of(&stack.instances[index].of);
            for (at, layer) in layers.iter().enumerate() {
                let here = Here { program, stack, index, at, layer };
                here.origins(out);
            }
        }
    }
}

struct Here<'a> {
    program: &'a Program,
    stack: &'a Stack,
    index: usize,
    at: usize,
    layer: &'a Layer,
}

impl<'a> Here<'a> {
    /// The layers above, through all that stand there.
    fn above(&self) -> Vec<&'a Layer> {
        let mut layers: Vec<&Layer> =
            self.program.layers_of(&self.stack.instances[self.index].of)[..self.at].iter().rev().copied().collect();
        let mut front = vec![self.index];
        let mut seen = BTreeSet::new();
        while let Some(below) = front.pop() {
            for (index, instance) in self.stack.instances.iter().enumerate() {
                if stands_on(instance, below) && seen.insert(index) {
                    layers.extend(self.program.layers_of(&instance.of));
                    front.push(index);
                }
            }
        }
        layers
    }

    fn place(&self) -> Span {
        self.stack.instances[self.index].of.span
    }

    /// What a layer hears in a vocabulary, somebody on that side says.
    fn origins(&self, out: &mut Vec<Diagnostic>) {
        for handler in &self.layer.handlers {
            let Event::Custom { name, from, .. } = &handler.event else { continue };
            let spoken = self
                .layer
                .speaks
                .iter()
                .find_map(|(id, said)| Some((self.program.vocabularies[id.index()].event(&name.text)?, said)));
            let Some((event, said)) = spoken else { continue };
            if event.optional {
                continue;
            }
            let side = match from {
                Origin::Below => self.side_below(&name.text),
                Origin::Above => self.side_above(&name.text),
                Origin::Own => continue,
            };
            if !side.emitted {
                out.push(self.no_origin(name, *said, &side));
            }
        }
    }

    fn side_below(&self, event: &str) -> Heard {
        let columns = column::below(self.program, self.stack, self.index, self.at, false);
        let mut all = columns.iter().flat_map(|column| &column.below);
        let emitted = all.any(|placed| emits_up(placed.layer, event));
        let path = columns.first().map_or(String::new(), |column| column.path());
        Heard { side: "below", emitted, path, emits: emits_up }
    }

    fn side_above(&self, event: &str) -> Heard {
        let above = self.above();
        let said = ports::meets_application(self.program, self.stack, (self.index, self.at), event, Origin::Above);
        let emitted = said || above.iter().any(|layer| emits_down(layer, event));
        let path: Vec<String> = above.iter().map(|layer| format!("`{}`", layer.name.text)).collect();
        Heard { side: "above", emitted, path: path.join(", "), emits: emits_down }
    }

    fn no_origin(&self, name: &Name, said: Span, Heard { side, path, emits, .. }: &Heard) -> Diagnostic {
        let text = format!("nobody {side} `{}` emits `{}`", self.layer.name.text, name.text);
        let mut diagnostic = Diagnostic::error(codes::NO_ORIGIN, text)
            .at(self.place(), format!("`{}` stands here", self.layer.name.text))
            .label(name.span, "waits for it here")
            .label(said, "of this vocabulary");
        if !path.is_empty() {
            diagnostic = diagnostic.note(format!("{side} it are {path}"));
        }
        let speakers = if *side == "above" { self.speakers_above(&name.text) } else { Vec::new() };
        if !speakers.is_empty() {
            diagnostic = diagnostic.help(format!("let {} say `below.{}(…)`", suggest::list(&speakers), name.text));
        }
        let who = self.program.layers.iter().filter(|layer| emits(layer, &name.text));
        let who: Vec<&str> = who.map(|layer| layer.name.text.as_str()).collect();
        let diagnostic = match who.is_empty() {
            true => diagnostic.help(format!("put a layer {side} it that emits `{}`", name.text)),
            false => diagnostic.help(format!("put {} {side} it", suggest::list(&who))),
        };
        if name.span.file != self.stack.name.span.file {
            return diagnostic;
        }
        diagnostic.help(format!("where a stack without it is right, say `may {}` in the vocabulary", name.text))
    }

    /// The layers above that speak a vocabulary which has the event.
    fn speakers_above(&self, event: &str) -> Vec<&'a str> {
        let speaks = |layer: &&Layer| ports::speaks(self.program, layer, event);
        self.above().into_iter().filter(speaks).map(|layer| layer.name.text.as_str()).collect()
    }
}

/// What a layer hears from one side.
struct Heard {
    /// "below" or "above".
    side: &'static str,
    /// Whether somebody there says it.
    emitted: bool,
    /// Who is there.
    path: String,
    /// Whether a layer would say it.
    emits: fn(&Layer, &str) -> bool,
}

fn stands_on(instance: &Instance, below: usize) -> bool {
    instance.unders.iter().any(|under| matches!(under.over, Over::Instance(lower) if lower as usize == below))
}

/// `reason == x` can hold only for a reason that several layers share.
fn reasons(program: &Program, layer: &Layer, out: &mut Vec<Diagnostic>) {
    visit::walk_layer(layer, &mut |met| {
        let Met::Expr(Expr { kind: ExprKind::Binary { op: Binary::Eq | Binary::Ne, a, b }, .. }) = met else { return };
        for side in [a, b] {
            let ExprKind::Reason(name) = &side.kind else { continue };
            if program.is_shared_reason(&name.text) {
                continue;
            }
            let shared = program.vocabularies.iter().flat_map(|known| &known.reasons).map(|name| name.text.as_str());
            let near = suggest::nearest(&name.text, shared.chain(STANDARD_REASONS));
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    format!("declare it, so that layers may share it: `vocabulary Mine {{ reasons {} }}`", name.text)
                }
            };
            out.push(
                Diagnostic::error(codes::LOCAL_REASON, format!("no other layer has the reason `{}`", name.text))
                    .at(name.span, "this is never equal")
                    .note("a reason belongs to its layer, unless it is a standard one or of a vocabulary")
                    .help(help),
            );
        }
    });
}
