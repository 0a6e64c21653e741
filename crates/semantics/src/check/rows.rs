//! Types of layers at composition: what a layer needs must exist below it, and what it gives must come out above it.
//! What neither side mentions passes through.
//!
//! Keeps: a report is at the stack's line, and shows both sides of the boundary and the path between.

use mokume_base::{Diagnostic, Span};

use super::column::{self, Column, Placed};
use super::ports::handles;
use super::stacks::context::{EVERYWHERE, OF_DEVICES};

pub use super::ports::emits_up;
use crate::program::*;
use crate::signature::*;
use crate::{codes, lost, suggest, types};

/// Checks what each layer of each stack needs and gives against the layers below it.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for stack in &program.stacks {
        for index in 0..stack.instances.len() {
            Rows { program, stack, index, told: Vec::new(), out: &mut *out }.run();
        }
    }
}

struct Rows<'a, 'b> {
    program: &'a Program,
    stack: &'a Stack,
    index: usize,
    /// The promises whose lack has been told: once for all ways down.
    told: Vec<Told>,
    out: &'b mut Vec<Diagnostic>,
}

/// A promise whose lack has been told.
struct Told {
    /// The layer's place in the text of the stack, or of the bundle that has it.
    place: Span,
    promise: SignatureId,
    /// The place of the report in `out`.
    report: usize,
}

impl Told {
    fn of(&self, placed: &Placed, promise: SignatureId) -> bool {
        self.place == placed.within && self.promise == promise
    }
}

/// One thing that a signature has and a boundary lacks.
struct Missing {
    /// The place in the signature.
    said: Span,
    what: String,
    /// The other side, if it has something different.
    other: Option<(Span, String)>,
    help: Option<String>,
}

impl<'a> Rows<'a, '_> {
    fn run(&mut self) {
        let instance = &self.stack.instances[self.index];
        let layers = column::placed(self.program, &instance.of, instance.of.span);
        for (at, placed) in layers.iter().enumerate() {
            for below in column::below(self.program, self.stack, self.index, at, false) {
                self.wants(placed, &below, &layers[..at]);
            }
            for above in column::below(self.program, self.stack, self.index, at, true) {
                self.promises(placed, &above);
            }
        }
    }

    fn wants(&mut self, placed: &Placed<'a>, below: &Column<'a>, above: &[Placed<'a>]) {
        for claim in placed.layer.needs.iter().filter(|claim| column::holds(self.program, claim, &placed.args)) {
            match claim.what {
                Claimed::Boundaries(Boundaries::Exact) if !placed.trimmed => self.exact(placed, claim.span, below),
                Claimed::Boundaries(_) => {}
                Claimed::Signature(id) => {
                    self.needs(placed, claim, id, below);
                    self.promised(placed, claim, below, above);
                }
            }
        }
    }

    fn promises(&mut self, placed: &Placed<'a>, above: &Column<'a>) {
        for claim in placed.layer.gives.iter().filter(|claim| column::holds(self.program, claim, &placed.args)) {
            if let Claimed::Signature(id) = claim.what {
                self.gives(placed, claim, id, above);
            }
        }
    }

    fn needs(&mut self, placed: &Placed<'a>, claim: &Claim, id: SignatureId, below: &Column<'a>) {
        let signature = &self.program.signatures[id.index()];
        let mut missing = self.missing(signature, below);
        let wants_exact = signature.boundaries.filter(|(said, _)| *said == Boundaries::Exact);
        if let (Some((_, said)), false) = (wants_exact, placed.trimmed) {
            if below.boundaries(self.program).0 == Boundaries::Padded {
                missing.push(self.padded(said, below));
            }
        }
        if missing.is_empty() {
            return;
        }
        let (layer, name) = (&placed.layer.name.text, &signature.name.text);
        let text = format!("`{layer}` needs `{name}`, and below it is something else");
        let diagnostic = Diagnostic::error(codes::UNMET_NEED, text)
            .at(placed.span, format!("`{layer}` stands here"))
            .label(claim.span, format!("`{name}` is needed here"));
        let diagnostic = tell(diagnostic, &missing).note(format!("below `{layer}` are {}", below.path()));
        // A layer that falsely claims to give this is the reason why it is missing.
        let diagnostic = missing.iter().fold(diagnostic, |all, missing| all.needs(self.given(missing.said)));
        self.out.push(self.way_out(diagnostic, id, missing));
    }

    /// Reports promises that a claim needs, and that nobody below gives, or that a layer between breaks: the first of a layer, with the
    /// others noted there, as one other place often mends them all.
    fn promised(&mut self, placed: &Placed<'a>, claim: &Claim, below: &Column<'a>, above: &[Placed<'a>]) {
        for id in column::promises(self.program, claim) {
            let said = below.promised(self.program, id);
            if said.is_some_and(|(_, _, gives)| gives) || self.told.iter().any(|told| told.of(placed, id)) {
                continue;
            }
            let signature = &self.program.signatures[id.index()];
            let (layer, name) = (&placed.layer.name.text, &signature.name.text);
            let Some((words, _)) = &signature.promise else { continue };
            let lacks = match said {
                None => "nobody below promises it".to_string(),
                Some((by, _, _)) => format!("`{}` below it breaks that", by.name.text),
            };
            let first = self.told.iter().find(|told| told.place == placed.within).map(|told| told.report);
            let report = first.unwrap_or(self.out.len());
            self.told.push(Told { place: placed.within, promise: id, report });
            if let Some(first) = first {
                let note = format!("it needs `{name}`, too ({words}), and {lacks}");
                self.out[first].notes.push(note);
                continue;
            }
            let text = format!("`{layer}` needs `{name}`, and {lacks}");
            let mut diagnostic = Diagnostic::error(codes::UNMET_NEED, text)
                .at(placed.span, format!("`{layer}` stands here"))
                .label(claim.span, format!("`{name}` is needed here: {words}"))
                .note(format!("below `{layer}` are {}", below.path()));
            if placed.within != placed.span {
                diagnostic = diagnostic.label(placed.within, "here in its bundle");
            }
            let gives = above.iter().rfind(|placed| placed.said(self.program, &placed.layer.gives, id).is_some());
            self.out.push(match (said, gives) {
                (Some((by, broken, _)), _) => {
                    diagnostic.label(broken.span, "broken here").help(self.other_order(placed, by))
                }
                (None, Some(by)) => {
                    let by = &by.layer.name.text;
                    diagnostic.help(format!("`{by}` gives it, and stands above: let `{by}` stand below `{layer}`"))
                }
                (None, None) => self.way_out(diagnostic, id, Vec::new()),
            });
        }
    }

    /// The way out where a layer stands above one that breaks what it needs: the other way round, if that one can stand above it.
    fn other_order(&self, placed: &Placed<'a>, by: &Layer) -> String {
        let (layer, by_name) = (&placed.layer.name.text, &by.name.text);
        let mut needed = by.needs.iter().flat_map(|claim| column::promises(self.program, claim));
        match needed.find(|id| placed.said(self.program, &placed.layer.breaks, *id).is_some()) {
            None => format!("let `{layer}` stand below `{by_name}`"),
            Some(id) => {
                let name = &self.program.signatures[id.index()].name.text;
                format!("leave one of them out: `{by_name}` needs `{name}`, which `{layer}` breaks")
            }
        }
    }

    /// Adds the layers in sight that claim to give what is needed.
    fn way_out(&self, mut diagnostic: Diagnostic, id: SignatureId, missing: Vec<Missing>) -> Diagnostic {
        let gives = |layer: &Layer| layer.gives.iter().any(|claim| claim.speaks_of(&self.program.signatures, id));
        // What stands in for a parameter has no text of its own.
        let layers = self.program.layers.iter().filter(|layer| gives(layer) && !layer.is_standin());
        let names: Vec<&str> = layers.map(|layer| layer.name.text.as_str()).collect();
        diagnostic.helps.extend(missing.into_iter().filter_map(|missing| missing.help));
        if !names.is_empty() {
            let say = if names.len() == 1 { "says that it gives" } else { "say that they give" };
            diagnostic = diagnostic.help(format!("{} {say} this", suggest::list(&names)));
        } else if diagnostic.helps.is_empty() {
            diagnostic = diagnostic.help("put a layer that gives what is missing between");
        }
        diagnostic
    }

    fn gives(&mut self, placed: &Placed<'a>, claim: &Claim, id: SignatureId, above: &Column<'a>) {
        let signature = &self.program.signatures[id.index()];
        let missing = self.missing(signature, above);
        if missing.is_empty() {
            return;
        }
        let (layer, name) = (&placed.layer.name.text, &signature.name.text);
        let text = format!("`{layer}` says that it gives `{name}`, and here it does not");
        let diagnostic = Diagnostic::error(codes::EMPTY_GIFT, text)
            .at(placed.span, format!("`{layer}` stands here"))
            .label(claim.span, "promised here");
        let diagnostic = tell(diagnostic, &missing).note(format!("it and what is below it: {}", above.path()));
        let diagnostic = missing.iter().fold(diagnostic, |all, missing| all.loses(self.given(missing.said)));
        let unpublished = signature.published.iter().filter(|value| self.published(value, above).is_some());
        let mut diagnostic =
            unpublished.fold(diagnostic, |all, value| all.loses(lost::published(self.stack, &value.name.text)));
        diagnostic.helps.extend(missing.into_iter().filter_map(|missing| missing.help));
        let help = format!("let it, or a layer below it, give that, or leave `gives {name}` out");
        self.out.push(diagnostic.help(help));
    }

    /// The thing for reports: what a signature has, in this stack.
    fn given(&self, said: Span) -> mokume_base::Thing {
        lost::named(self.stack, &format!("what is given by {}:{}", said.file.0, said.start))
    }

    fn exact(&mut self, placed: &Placed<'a>, said: Span, below: &Column<'a>) {
        if below.boundaries(self.program).0 == Boundaries::Exact {
            return;
        }
        let layer = &placed.layer.name.text;
        let missing = [self.padded(said, below)];
        let text = format!("`{layer}` needs exact boundaries, and what comes up here is padded");
        let diagnostic = Diagnostic::error(codes::PADDED, text).at(placed.span, format!("`{layer}` stands here"));
        let mut diagnostic = tell(diagnostic, &missing).note(format!("below `{layer}` are {}", below.path()));
        diagnostic.helps.extend(missing.into_iter().filter_map(|missing| missing.help));
        self.out.push(diagnostic);
    }

    fn padded(&self, said: Span, below: &Column<'a>) -> Missing {
        let (_, by) = below.boundaries(self.program);
        Missing {
            said,
            what: "exact boundaries".into(),
            other: by.map(|(layer, span)| (span, format!("`{}` says that it pads", layer.name.text))),
            help: Some(self.who_trims()),
        }
    }

    /// Workers and bundles of workers in sight that give exact boundaries over padded ones.
    fn who_trims(&self) -> String {
        let claims = |layer: &Layer| {
            layer.gives.iter().any(|claim| match claim.what {
                Claimed::Boundaries(said) => said == Boundaries::Exact,
                Claimed::Signature(id) => {
                    let said = self.program.signatures[id.index()].boundaries;
                    said.is_some_and(|(said, _)| said == Boundaries::Exact)
                }
            })
        };
        let needs_exact =
            |layer: &Layer| layer.needs.iter().any(|claim| claim.what == Claimed::Boundaries(Boundaries::Exact));
        let workers = self.program.layers.iter();
        let workers = workers.filter(|layer| layer.shape == Shape::Worker && claims(layer) && !needs_exact(layer));
        let mut names: Vec<&str> = workers.map(|layer| layer.name.text.as_str()).collect();
        for bundle in &self.program.bundles {
            let trims = bundle.wire.is_some_and(|wire| column::trims(self.program, wire));
            let parts: Vec<&Layer> = bundle.parts.iter().flat_map(|part| self.program.layers_of(part)).collect();
            if trims && !parts.is_empty() && parts.iter().all(|layer| layer.shape == Shape::Worker) {
                names.push(&bundle.name.text);
            }
        }
        match names.is_empty() {
            true => "put a layer between that cuts the padding off: a bundle whose wire says `trim packet to …`".into(),
            false => format!("put {} between", suggest::list(&names).replace(" and ", " or ")),
        }
    }

    /// What a signature has and the top of a column lacks, except boundaries.
    fn missing(&self, signature: &Signature, column: &Column<'a>) -> Vec<Missing> {
        let mut missing = Vec::new();
        if let Some((unit, said)) = signature.unit.filter(|(unit, _)| *unit != column.unit(self.program)) {
            let other = column.unit(self.program).word();
            missing.push(Missing {
                said,
                what: format!("units of the kind `{}`", unit.word()),
                other: None,
                help: Some(format!("what comes up there is of the kind `{other}`")),
            });
        }
        missing.extend(signature.published.iter().filter_map(|value| self.published(value, column)));
        missing.extend(self.parts(signature, column));
        missing.extend(signature.down.iter().filter_map(|event| self.event(event, true, column)));
        missing.extend(signature.up.iter().filter_map(|event| self.event(event, false, column)));
        let layers = || column.below.iter().map(|placed| placed.layer);
        for (attribute, said) in &signature.reads {
            if !layers().any(|layer| layer.reads.contains(attribute)) {
                let name = &self.program.attributes[attribute.index()].name.text;
                missing.push(plain(*said, format!("a layer that reads the attribute `{name}`")));
            }
        }
        for (attribute, said) in &signature.writes {
            if !layers().any(|layer| layer.writes.contains(attribute)) {
                let name = &self.program.attributes[attribute.index()].name.text;
                missing.push(plain(*said, format!("a layer that writes the attribute `{name}`")));
            }
        }
        for (vocabulary, said) in &signature.speaks {
            if !layers().any(|layer| layer.speaks.iter().any(|(id, _)| id == vocabulary)) {
                let name = &self.program.vocabularies[vocabulary.index()].name.text;
                missing.push(plain(*said, format!("a layer that speaks `{name}`")));
            }
        }
        missing
    }

    fn published(&self, value: &Offered, column: &Column<'a>) -> Option<Missing> {
        let name = value.name.text.as_str();
        let all = column.below.iter().flat_map(|placed| placed.layer.publishes.iter().map(move |p| (placed.layer, p)));
        let Some((by, publish)) = all.into_iter().find(|(_, publish)| publish.name.text == name) else {
            if EVERYWHERE.contains(&name) || OF_DEVICES.contains(&name) && column.below.is_empty() {
                return None;
            }
            let ty = types::show(self.program, value.ty);
            return Some(plain(value.name.span, format!("the published value `{name}: {ty}`")));
        };
        if types::same(publish.ty, value.ty) {
            return None;
        }
        let (wanted, given) = (types::show(self.program, value.ty), types::show(self.program, publish.ty));
        let other = Some((publish.name.span, format!("`{}` publishes {given}", by.name.text)));
        Some(Missing { said: value.name.span, what: format!("`{name}` as {wanted}"), other, help: None })
    }

    fn parts(&self, signature: &Signature, column: &Column<'a>) -> Vec<Missing> {
        let there = column.parts();
        let mut missing = Vec::new();
        for part in &signature.parts {
            let name = &part.name.text;
            let wanted = types::show(self.program, part.ty);
            match there.iter().rfind(|(field, _)| field.name.text == *name) {
                None => missing.push(plain(part.name.span, format!("flows with a part `{name}: {wanted}`"))),
                Some((field, by)) if !types::same(field.ty, part.ty) => {
                    let given = types::show(self.program, field.ty);
                    let other = Some((field.name.span, format!("`{}` makes it {given}", by.name.text)));
                    let what = format!("flows whose part `{name}` is {wanted}");
                    missing.push(Missing { said: part.name.span, what, other, help: None });
                }
                Some(_) => {}
            }
        }
        missing
    }

    fn event(&self, event: &Carried, down: bool, column: &Column<'a>) -> Option<Missing> {
        let (sessions, flows) = column.offers();
        let name = event.name.text.as_str();
        let there = match name {
            "send" | "deliver" | "unlisten" => true,
            "bind" => flows,
            "open" | "opened" | "listen" | "accepted" | "close" | "closed" | "abort" | "failed" => sessions,
            _ if down => column.below.iter().any(|placed| handles(placed.layer, name, Origin::Above)),
            _ => column.below.iter().any(|placed| emits_up(placed.layer, name)),
        };
        if there {
            return None;
        }
        let (what, help) = match name {
            "bind" => ("flow traffic".into(), Some("only sessions come from there: put a multiplexor between".into())),
            "open" | "opened" | "listen" | "accepted" | "close" | "closed" | "abort" | "failed" => {
                let help = "only flow traffic comes from there: put a multiplexor, or a worker with a `session` scope, between";
                (format!("sessions (`{name}`)"), Some(help.into()))
            }
            _ if down => (format!("a layer that handles `{name}`"), None),
            _ => (format!("a layer that emits `{name}`"), None),
        };
        Some(Missing { said: event.name.span, what, other: None, help })
    }
}

fn plain(said: Span, what: String) -> Missing {
    Missing { said, what, other: None, help: None }
}

fn tell(mut diagnostic: Diagnostic, missing: &[Missing]) -> Diagnostic {
    for missing in missing {
        diagnostic = diagnostic.label(missing.said, format!("missing: {}", missing.what));
        if let Some((span, text)) = &missing.other {
            diagnostic = diagnostic.label(*span, text.clone());
        }
    }
    diagnostic
}
