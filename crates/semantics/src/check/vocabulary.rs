//! Events of vocabularies in a stack: each has an origin. Reasons that are compared are shared.
//!
//! What nobody ends is refused in [`super::stacks`] and [`super::ways`].

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, Span};

use super::column;
use super::ports::{self, emits_down, emits_up};
use crate::program::*;
use crate::signature::STANDARD_REASONS;
use crate::visit::{self, Met};
use crate::{codes, suggest};

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
            let spoken = self.layer.speaks.iter().find(|(id, _)| {
                let vocabulary = &self.program.vocabularies[id.index()];
                vocabulary.down.iter().chain(&vocabulary.up).any(|known| known.name.text == name.text)
            });
            let Some((_, said)) = spoken else { continue };
            let (side, emitted, path) = match from {
                Origin::Below => {
                    let columns = column::below(self.program, self.stack, self.index, self.at, false);
                    let all = columns.iter().flat_map(|column| &column.below);
                    let emitted = all.into_iter().any(|placed| emits_up(placed.layer, &name.text));
                    ("below", emitted, columns.first().map_or(String::new(), |column| column.path()))
                }
                Origin::Above => {
                    let above = self.above();
                    let place = (self.index, self.at);
                    let said = ports::meets_application(self.program, self.stack, place, &name.text, Origin::Above);
                    let emitted = said || above.iter().any(|layer| emits_down(layer, &name.text));
                    let path: Vec<String> = above.iter().map(|layer| format!("`{}`", layer.name.text)).collect();
                    ("above", emitted, path.join(", "))
                }
                Origin::Own => continue,
            };
            if emitted {
                continue;
            }
            let text = format!("nobody {side} `{}` emits `{}`", self.layer.name.text, name.text);
            let mut diagnostic = Diagnostic::error(codes::NO_ORIGIN, text)
                .at(self.place(), format!("`{}` stands here", self.layer.name.text))
                .label(name.span, "waits for it here")
                .label(*said, "of this vocabulary");
            if !path.is_empty() {
                diagnostic = diagnostic.note(format!("{side} it are {path}"));
            }
            let who: Vec<&str> = self
                .program
                .layers
                .iter()
                .filter(|layer| {
                    if *from == Origin::Below {
                        emits_up(layer, &name.text)
                    } else {
                        emits_down(layer, &name.text)
                    }
                })
                .map(|layer| layer.name.text.as_str())
                .collect();
            out.push(match who.is_empty() {
                true => diagnostic.help(format!("put a layer {side} it that emits `{}`", name.text)),
                false => diagnostic.help(format!("put {} {side} it", suggest::list(&who))),
            });
        }
    }
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
