//! Events of vocabularies in a stack: each has an origin; reasons that are compared are shared.
//!
//! An event that no layer ends is reported in [`super::stacks`].

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, Severity, Span};

use super::column::{self, Placed};
use super::ports::{self, emits_down, emits_up};
use crate::program::*;
use crate::signature::STANDARD_REASONS;
use crate::visit::{self, Met};
use crate::{codes, suggest};

/// Checks the reasons in each layer, and the origin of the events that it handles in each stack. Returns reports that
/// count only if there are no others: about events that a layer between stops, since its code that emits them may have
/// been refused.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut kept = Vec::new();
    for layer in &program.layers {
        reasons(program, layer, out);
    }
    for stack in &program.stacks {
        for index in 0..stack.instances.len() {
            let layers = program.layers_of(&stack.instances[index].of);
            for (at, layer) in layers.iter().enumerate() {
                let here = Here { program, stack, index, at, layer };
                here.origins(out, &mut kept);
            }
        }
    }
    kept
}

struct Here<'a> {
    program: &'a Program,
    stack: &'a Stack,
    index: usize,
    at: usize,
    layer: &'a Layer,
}

impl<'a> Here<'a> {
    /// The layers above; for an event that comes down, only those that it can come from: the search ends at a layer
    /// that stops it.
    fn above(&self, event: Option<&str>) -> Vec<&'a Layer> {
        let keeps = |layer: &&Layer| {
            event.is_some_and(|event| ports::ends_at(self.program, layer, event, Origin::Above).is_some())
        };
        let own = &self.program.layers_of(&self.stack.instances[self.index].of)[..self.at];
        let mut layers = Vec::new();
        let mut climbs = |of: &[&'a Layer]| {
            let up_to = of.iter().rposition(keeps);
            layers.extend(of[up_to.unwrap_or(0)..].iter().rev().copied());
            up_to.is_none()
        };
        let mut front = if climbs(own) { vec![self.index] } else { Vec::new() };
        let mut seen = BTreeSet::new();
        while let Some(below) = front.pop() {
            for (index, instance) in self.stack.instances.iter().enumerate() {
                if stands_on(instance, below) && seen.insert(index) && climbs(&self.program.layers_of(&instance.of)) {
                    front.push(index);
                }
            }
        }
        layers
    }

    fn place(&self) -> Span {
        self.stack.instances[self.index].of.span
    }

    /// For each event of a vocabulary that a layer handles, a layer on that side must emit it.
    fn origins(&self, out: &mut Vec<Diagnostic>, kept: &mut Vec<Diagnostic>) {
        for handler in &self.layer.handlers {
            let Event::Custom { name, from, .. } = &handler.event else { continue };
            let spoken = self
                .layer
                .speaks
                .iter()
                .find_map(|(id, said)| Some((self.program.vocabularies[id.index()].event(&name.text)?, said)));
            let Some((event, said)) = spoken else { continue };
            let side = match from {
                Origin::Below => self.side_below(&name.text),
                Origin::Above => self.side_above(&name.text),
                Origin::Own => continue,
            };
            match side.kept_by {
                _ if side.emitted => {}
                // Where nobody says it, all is well; where somebody does, this layer need not be without it.
                Some(kept_by) if event.optional && side.is_said => {
                    let mut found = self.kept(name, *said, kept_by, side.side);
                    found.severity = Severity::Warning;
                    out.push(found);
                }
                _ if event.optional => {}
                Some(kept_by) => {
                    let found = self.kept(name, *said, kept_by, side.side);
                    if side.is_said { &mut *kept } else { &mut *out }.push(found);
                }
                None => out.push(self.no_origin(name, *said, &side)),
            }
        }
    }

    fn side_below(&self, event: &str) -> Heard<'a> {
        let columns = column::below(self.program, self.stack, self.index, self.at, false);
        let (mut emitted, mut kept_by) = (false, None);
        for placed in columns.iter().flat_map(|column| heard_of(self.program, &column.below, event)) {
            emitted |= emits_up(placed.layer, event);
            kept_by = kept_by.or(ports::ends_at(self.program, placed.layer, event, Origin::Below));
        }
        let path = columns.first().map_or(String::new(), |column| column.path());
        let is_said = columns.iter().flat_map(|column| &column.below).any(|placed| emits_up(placed.layer, event));
        Heard { side: "below", emitted, kept_by, is_said, path, emits: emits_up }
    }

    fn side_above(&self, event: &str) -> Heard<'a> {
        let above = self.above(Some(event));
        let said = ports::meets_application(self.program, self.stack, (self.index, self.at), event, Origin::Above);
        let emitted = said || above.iter().any(|layer| emits_down(layer, event));
        let kept_by = above.iter().find_map(|layer| ports::ends_at(self.program, layer, event, Origin::Above));
        let is_said = self.above(None).iter().any(|layer| emits_down(layer, event));
        let path: Vec<String> = self.above(None).iter().map(|layer| format!("`{}`", layer.name.text)).collect();
        Heard { side: "above", emitted, kept_by, is_said, path: path.join(", "), emits: emits_down }
    }

    /// A layer between does not pass the event on to the other side.
    fn kept(&self, name: &Name, said: Span, (by, handler): (&Layer, &Handler), side: &str) -> Diagnostic {
        let given = match &handler.event {
            Event::Custom { params, .. } if params.is_empty() => "",
            _ => "…",
        };
        let (event, onward) = (&name.text, if side == "below" { "above" } else { "below" });
        let text = format!("`{}` keeps `{event}` from `{}`", by.name.text, self.layer.name.text);
        Diagnostic::error(codes::NO_ORIGIN, text)
            .at(self.place(), format!("`{}` stands here", self.layer.name.text))
            .label(name.span, "waits for it here")
            .label(handler.span, "a handler stands in for its going on")
            .label(said, "of this vocabulary")
            .help(format!("let `{}` say `pass` in it, or `{onward}.{event}({given})` where it is time", by.name.text))
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
        // Nothing is over an endpoint: the endpoint itself must emit it.
        let ends = *side == "above" && self.above(None).last().is_some_and(|top| top.shape == Shape::Endpoint);
        let diagnostic = match who.is_empty() {
            _ if ends && !speakers.is_empty() => diagnostic,
            true => diagnostic.help(format!("put a layer {side} it that emits `{}`", name.text)),
            false => diagnostic.help(format!("put {} {side} it", suggest::list(&who))),
        };
        if name.span.file != self.stack.name.span.file {
            return diagnostic;
        }
        diagnostic.help(format!("where a stack without it is right, say `may {}` in the vocabulary", name.text))
    }

    /// The layers above that speak a vocabulary with the event.
    fn speakers_above(&self, event: &str) -> Vec<&'a str> {
        let speaks = |layer: &&Layer| ports::speaks(self.program, layer, event);
        self.above(None).into_iter().filter(speaks).map(|layer| layer.name.text.as_str()).collect()
    }
}

/// The layers of a column from which an event can reach its top: down to the one that stops it.
fn heard_of<'c, 'a>(program: &Program, below: &'c [Placed<'a>], event: &str) -> &'c [Placed<'a>] {
    let ends = below.iter().position(|placed| ports::ends_at(program, placed.layer, event, Origin::Below).is_some());
    &below[..ends.map_or(below.len(), |at| at + 1)]
}

/// What a layer can get from one side.
struct Heard<'a> {
    /// "below" or "above".
    side: &'static str,
    /// Whether a layer there emits it.
    emitted: bool,
    /// The layer and handler that take it and emit nothing further.
    kept_by: Option<(&'a Layer, &'a Handler)>,
    /// Whether a layer behind that one emits it.
    is_said: bool,
    /// The layers there.
    path: String,
    /// Whether a layer emits the event to this side.
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
