//! Warnings: an attribute that one layer of a stack writes and another reads, but that never gets from one to the
//! other; one of the program's own that layers read and nobody writes; and two of one name of which one is written and
//! the other read.
//!
//! Keeps: a layer may send a received message down again, and a kept message may go either way. So only two cases are
//! reported: an attribute written below its reader on the way down, or above its reader on the way up. A writer with at
//! least one reader is not reported.

use std::collections::BTreeSet;

use mokume_base::Diagnostic;

use super::descents;
use crate::codes;
use crate::load::Loaded;
use crate::program::*;
use crate::visit::{self, Met};

/// Checks all stacks of a program without errors.
pub fn check(loaded: &Loaded, program: &Program, out: &mut Vec<Diagnostic>) {
    let all = || (0..program.attributes.len()).map(|at| AttributeId(at as u32));
    let text = |id: AttributeId| &program.attributes[id.index()].name.text;
    let mut confused = BTreeSet::new();
    for stack in &program.stacks {
        let layers: Vec<Vec<&Layer>> = stack.instances.iter().map(|instance| program.layers_of(&instance.of)).collect();
        let of = |id| Attribute { program, stack, layers: &layers, id };
        all().for_each(|id| of(id).check(out));
        for written in all() {
            for read in all().filter(|read| *read != written && text(*read) == text(written)) {
                if let Some(found) = of(written).taken_for(loaded, &of(read)) {
                    confused.insert(read.index());
                    out.push(found);
                }
            }
        }
    }
    for id in all().filter(|id| !confused.contains(&id.index())) {
        unwritten(loaded, program, id, out);
    }
}

/// Reports an attribute that a layer of a stack reads, and that no layer and no application writes. Those of modules have defaults that
/// are meant.
fn unwritten(loaded: &Loaded, program: &Program, id: AttributeId, out: &mut Vec<Diagnostic>) {
    let name = &program.attributes[id.index()].name;
    let is_told = program.stacks.iter().any(|stack| tells(stack, id));
    let is_written = program.layers.iter().any(|layer| layer.writes.contains(&id));
    if is_told || is_written || name.is_meant() || loaded.modules.contains_key(&name.span.file) {
        return;
    }
    let instances = program.stacks.iter().flat_map(|stack| &stack.instances);
    let mut layers = instances.flat_map(|instance| program.layers_of(&instance.of));
    let Some(reader) = layers.find(|layer| layer.reads.contains(&id)) else { return };
    let text = format!("`{}` reads the attribute `{}`, and nobody writes it", reader.name.text, name.text);
    let found = Diagnostic::warning(codes::ATTRIBUTE_MISSED, text).at(name.span, "always has this value");
    let help = format!("say who does: `writes {0}` and `msg.{0} = …` in a layer, or `export app with {0}`", name.text);
    out.push(found.label(reader.name.span, "reads it").help(help));
}

/// Whether an application sets an attribute, or is told it.
fn tells(stack: &Stack, id: AttributeId) -> bool {
    stack.extras.iter().flat_map(|extras| &extras.attributes).any(|(_, known)| *known == id)
}

/// The place of a layer: its instance, and its index in the instance from the top.
type Place = (usize, usize);

/// The direction of messages where a layer reads or writes.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Down,
    Up,
    Either,
}

struct Attribute<'a> {
    program: &'a Program,
    stack: &'a Stack,
    layers: &'a [Vec<&'a Layer>],
    id: AttributeId,
}

impl Attribute<'_> {
    fn places(&self, is: impl Fn(&Layer) -> bool) -> Vec<Place> {
        let all = self.layers.iter().enumerate().flat_map(|(at, own)| (0..own.len()).map(move |place| (at, place)));
        all.filter(|place| is(self.layer(*place))).collect()
    }

    fn writers(&self) -> Vec<Place> {
        self.places(|layer| layer.writes.contains(&self.id))
    }

    fn readers(&self) -> Vec<Place> {
        self.places(|layer| layer.reads.contains(&self.id))
    }

    fn check(&self, out: &mut Vec<Diagnostic>) {
        let (writers, readers) = (self.writers(), self.readers());
        if tells(self.stack, self.id) || writers.is_empty() {
            return;
        }
        for reader in &readers {
            let heard = |writer: &Place| readers.iter().any(|other| self.comes(*writer, *other));
            if writers.iter().any(|writer| self.comes(*writer, *reader) || heard(writer)) {
                continue;
            }
            let Some(writer) = writers.first() else { continue };
            let found = self.missed(*writer, *reader);
            if !out.contains(&found) {
                out.push(found);
            }
        }
    }

    fn layer(&self, (instance, at): Place) -> &Layer {
        self.layers[instance][at]
    }

    /// The warning if a layer writes this attribute and another reads one of the same name, of another module, in its
    /// stead: nobody writes that one, or nobody reads this one.
    fn taken_for(&self, loaded: &Loaded, other: &Attribute) -> Option<Diagnostic> {
        let (writers, readers) = (self.writers(), other.readers());
        let reaches = |writer: &Place, reader: &Place| self.meets(*writer, *reader, other);
        let is_heard = |writer: &Place| self.readers().iter().any(|reader| self.comes(*writer, *reader));
        let is_told = |reader: &Place| other.writers().iter().any(|writer| other.comes(*writer, *reader));
        let unheard = |writer: &Place| !tells(self.stack, self.id) && !is_heard(writer);
        let untold = |reader: &Place| !tells(self.stack, other.id) && !is_told(reader);
        let pairs = || readers.iter().flat_map(|reader| writers.iter().map(move |writer| (writer, reader)));
        let (writer, reader) =
            pairs().find(|(writer, reader)| reaches(writer, reader) && (unheard(writer) || untold(reader)))?;
        let names = |id: AttributeId| {
            let name = &self.program.attributes[id.index()].name;
            let of = loaded.qualifiers.get(&name.span.file).map_or("?", String::as_str);
            let uses = match loaded.modules.contains_key(&name.span.file) {
                true => format!("use {of}"),
                false => format!("use \"{of}.mok\""),
            };
            (name.span, format!("{of}.{}", name.text), uses)
        };
        let ((one, written, uses_one), (two, read, uses_two)) = (names(self.id), names(other.id));
        let (writes, reads) = (&self.layer(*writer).name.text, &self.layer(*reader).name.text);
        let at = |place: &Place| self.stack.instances[place.0].of.span;
        let text = format!("`{writes}` writes `{written}`, and `{reads}` reads `{read}`: two attributes of one name");
        let mut found = Diagnostic::warning(codes::ATTRIBUTES_OF_ONE_NAME, text)
            .at(at(reader), format!("`{reads}` reads `{read}`"));
        if at(writer) != at(reader) {
            found = found.label(at(writer), format!("`{writes}` writes `{written}`"));
        }
        found = found.label(one, format!("this is `{written}`")).label(two, format!("this is `{read}`"));
        if untold(reader) {
            found = found.note(format!("nobody in this stack writes the `{read}` that `{reads}` reads"));
        }
        if unheard(writer) {
            found = found.note(format!("nobody in this stack reads the `{written}` that `{writes}` writes"));
        }
        let (let_write, let_read) =
            (format!("writes {read}` and `{uses_two}"), format!("reads {written}` and `{uses_one}"));
        Some(found.help(format!(
            "if they mean the same: `{let_write}` for `{writes}`, or `{let_read}` for `{reads}`; if not, give one another name"
        )))
    }

    /// Whether what the writer writes may reach the reader.
    fn comes(&self, writer: Place, reader: Place) -> bool {
        if self.is_above(reader, writer) {
            return self.layers.iter().flatten().any(|layer| turns_round(layer))
                || self.way(writer, is_written) != Way::Down;
        }
        if self.is_above(writer, reader) {
            return self.way(writer, is_written) != Way::Up || self.way(reader, is_read) != Way::Up;
        }
        true
    }

    /// Whether the reader, which reads another attribute, stands where messages go on from the writer: one above the other, in the
    /// direction in which one writes and the other reads.
    fn meets(&self, writer: Place, reader: Place, read: &Attribute) -> bool {
        let ways = [self.way(writer, is_written), read.way(reader, is_read)];
        let is_down = writer != reader && self.is_above(writer, reader);
        let is_up = writer != reader && self.is_above(reader, writer);
        is_down && !ways.contains(&Way::Up) || is_up && !ways.contains(&Way::Down)
    }

    /// Whether `above` is above `below` on each way down.
    fn is_above(&self, above: Place, below: Place) -> bool {
        if above.0 == below.0 {
            return above.1 < below.1;
        }
        let ways = descents::all(self.stack, above.0);
        !ways.is_empty() && ways.iter().all(|way| way.instances().contains(&below.0))
    }

    fn way(&self, place: Place, is_it: fn(&Met, AttributeId) -> bool) -> Way {
        let layer = self.layer(place);
        let does = |body: &[Stmt]| visit::any(body, |met| is_it(&met, self.id));
        if layer.functions.iter().any(|function| does(&function.body)) {
            return Way::Either;
        }
        let mut ways = layer.handlers.iter().filter(|handler| does(&handler.body)).map(way_of);
        let Some(first) = ways.next() else { return Way::Either };
        if ways.all(|other| other == first) {
            first
        } else {
            Way::Either
        }
    }

    fn missed(&self, writer: Place, reader: Place) -> Diagnostic {
        let name = self.program.attributes.get(self.id.index()).map_or("?", |known| known.name.text.as_str());
        let (writes, reads) = (&self.layer(writer).name, &self.layer(reader).name);
        let (of_writer, of_reader) = (&self.stack.instances[writer.0].of, &self.stack.instances[reader.0].of);
        let (way, there) = match self.is_above(reader, writer) {
            true => ("down", "above"),
            false => ("up", "below"),
        };
        let text = format!("`{name}` never comes from `{}` to `{}`", writes.text, reads.text);
        let found = Diagnostic::warning(codes::ATTRIBUTE_MISSED, text)
            .at(of_reader.span, format!("`{}` reads it here", reads.text))
            .note(format!("`{}` writes it into messages that go {way}, past `{}` already", writes.text, reads.text));
        let found = match of_writer.span == of_reader.span {
            true => found,
            false => found.label(of_writer.span, format!("`{}` writes it", writes.text)),
        };
        found.help(format!("put `{}` {there} `{}`", writes.text, reads.text))
    }
}

/// The direction of the messages that a handler holds; a handler that turns messages round or keeps them has others.
fn way_of(handler: &Handler) -> Way {
    let turns = visit::any(&handler.body, |met| {
        let Met::Stmt(stmt) = met else { return false };
        match &stmt.kind {
            StmtKind::Emit(Emission::Deliver { .. }) => matches!(handler.event, Event::Send { .. }),
            StmtKind::Emit(Emission::Send { .. }) => matches!(handler.event, Event::Deliver { .. }),
            StmtKind::Put { .. } | StmtKind::Later { .. } | StmtKind::IfTaken { .. } => true,
            StmtKind::Emit(Emission::Custom { .. } | Emission::Service { .. }) => true,
            _ => false,
        }
    });
    match handler.event {
        _ if turns => Way::Either,
        Event::Send { .. } => Way::Down,
        Event::Deliver { .. } => Way::Up,
        _ => Way::Either,
    }
}

fn is_written(met: &Met, wanted: AttributeId) -> bool {
    matches!(met, Met::Stmt(Stmt { kind: StmtKind::SetAttribute { attribute, .. }, .. }) if *attribute == wanted)
}

fn is_read(met: &Met, wanted: AttributeId) -> bool {
    matches!(met, Met::Expr(Expr { kind: ExprKind::Attribute { attribute, .. }, .. }) if *attribute == wanted)
}

/// Whether a layer delivers up what was sent down.
fn turns_round(layer: &Layer) -> bool {
    let is_deliver = |met: Met| matches!(met, Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Deliver { .. }), .. }));
    let delivers = |body: &[Stmt]| visit::any(body, is_deliver);
    let sends = |handler: &&Handler| matches!(handler.event, Event::Send { .. });
    let Some(handler) = layer.handlers.iter().find(sends) else { return false };
    let calls = visit::any(&handler.body, |met| matches!(met, Met::Expr(expr) if visit::own_call(expr).is_some()));
    delivers(&handler.body) || calls && layer.functions.iter().any(|function| delivers(&function.body))
}
