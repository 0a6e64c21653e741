//! What a stopped run shows: the place, bound names, the state of all layers, and the causes.

use std::cell::Cell;

use mokume_base::{time, Form};
use mokume_interpret::{Cause, CellView, Frame, Local, Message, Moment, Part, What};
use mokume_reaction::{
    Automaton, CellKind, Class, ClassId, Handle, HandlerId, Layer, Op, OpKind, Source, SourceId, Type,
};
use mokume_script::{scalar, CellForms, Shape, Written};

use crate::parts;

use super::facts::{event_of, Facts, GONE};
use super::hosts::Hosts;
use super::kept::{self, content, Content, Is, Kept};
use super::moves::Why;
pub use super::variable::Variable;
use super::variable::{braced, chosen, is_octets, leaf, list, nested, vectors, OCTETS};

/// The most entries of an array or a map that are shown; there may be thousands.
const MOST: usize = 64;
/// The most octets of a message that are shown.
const MOST_OCTETS: usize = 64;
/// Stands for the octets of an empty message.
const NO_OCTETS: &str = "none";

/// The end of what is shown of a quota.
pub(super) const QUOTA_LEFT: &str = " left";
/// What is said of a timer, and of a layer without state.
pub(super) const NOT_RUNNING: &str = "not running";
pub(super) const RINGS_IN: &str = "rings in ";
pub(super) const NO_STATE: &str = "no state";
pub(super) const NONE_NOW: &str = "none now";
/// What is said of a local that was not computed, as nothing uses it.
pub(super) const UNUSED: &str = "unused";

/// A moment at which a run is stopped.
pub struct Stopped<'a> {
    pub facts: &'a Facts,
    pub host: usize,
    pub why: Why,
    /// The number of moments up to this one; the same moment has the same number in each run.
    pub number: u64,
    pub(super) moment: &'a Moment<'a>,
    hosts: &'a Hosts,
    /// How many parts of an array, a map or places are listed.
    most: Cell<usize>,
}

impl<'a> Stopped<'a> {
    pub(super) fn new(
        (facts, hosts): (&'a Facts, &'a Hosts),
        host: usize,
        moment: &'a Moment<'a>,
        (why, number): (Why, u64),
    ) -> Stopped<'a> {
        Stopped { facts, host, why, number, moment, hosts, most: Cell::new(MOST) }
    }

    /// Shows another host as it is now, of which the state can be asked; an error says why there is nothing of it.
    pub fn at_host<T>(&self, name: &str, does: impl FnOnce(&Stopped<'_>) -> T) -> Result<T, String> {
        let known = || self.facts.hosts.iter().map(|host| host.name.as_str()).collect::<Vec<_>>().join(", ");
        let number = self.facts.hosts.iter().position(|host| host.name == name);
        let number = number.ok_or_else(|| format!("there is no host `{name}`: there is {}", known()))?;
        if number == self.host {
            return Ok(does(self));
        }
        if let Some(since) = self.hosts.down(number) {
            return Err(format!("{name} has crashed at {}, and its state is lost", time(since)));
        }
        let there = |moment: &Moment<'_>| {
            does(&Stopped::new((self.facts, self.hosts), number, moment, (self.why, self.number)))
        };
        let life = self.hosts.life(number);
        let found = life.and_then(|life| self.hosts.look(number, life, there));
        found.ok_or_else(|| format!("{name} has not started yet"))
    }

    /// Does this with all parts listed, for one that is asked for by its place.
    pub(super) fn with_all<T>(&self, does: impl FnOnce() -> T) -> T {
        let before = self.most.replace(usize::MAX);
        let done = does();
        self.most.set(before);
        done
    }

    /// The parts that are listed: all of few; of many those that are not zero, and what the others are.
    fn listed(&self, count: usize, is_zero: &dyn Fn(usize) -> bool) -> (Vec<usize>, Option<Variable>) {
        if count <= self.most.get() {
            return ((0..count).collect(), None);
        }
        let mut others = (0..count).filter(|at| !is_zero(*at));
        let listed: Vec<usize> = others.by_ref().take(self.most.get()).collect();
        let all_zero = others.next().is_none();
        let more = format!("{} more{}", count - listed.len(), if all_zero { ", all 0" } else { "" });
        (listed, Some(leaf("…", more)))
    }

    pub(super) fn automaton(&self) -> &Automaton {
        self.moment.automaton()
    }

    fn written(&self) -> &Written {
        &self.facts.hosts[self.host].written
    }

    /// The host's name.
    pub fn host_name(&self) -> &str {
        &self.facts.hosts[self.host].name
    }

    /// The virtual time in nanoseconds.
    pub fn now(&self) -> u64 {
        self.moment.now
    }

    /// How many reactions of the host came before this one.
    pub fn reaction(&self) -> u64 {
        self.moment.reaction
    }

    /// What is about to happen: `on send`, `drop no_room`.
    pub fn what(&self) -> String {
        match self.moment.what {
            What::Begins => format!("begins {}", self.handler(self.moment.handler)),
            What::Statement(_) => "statement".to_string(),
            What::Ends(reason) => {
                let known = self.automaton().reasons.get(reason.index());
                format!("a message ends: {}", known.map_or("?", |known| &known.name))
            }
            What::Gone(1) => format!("a message ends: {GONE}"),
            What::Gone(count) => format!("{count} messages end: {GONE}"),
            What::Reports(report) => format!("report: {}", report.word()),
        }
    }

    /// `app.Counts: on send`.
    pub fn handler(&self, handler: HandlerId) -> String {
        named(self.automaton(), handler)
    }

    /// The place in the source, if there is one.
    pub fn place(&self) -> Option<&Source> {
        let automaton = self.automaton();
        let of_frame = |frame: &Frame| frame.source;
        let here = match self.moment.what {
            What::Statement(source) => Some(source),
            // With several texts, it is not yet known which one applies.
            What::Begins if self.facts.texts_of(automaton, self.moment.handler).are_several => None,
            What::Begins => automaton.handlers[self.moment.handler.index()].source,
            What::Ends(_) | What::Gone(_) | What::Reports(_) => self.moment.frames().last().and_then(of_frame),
        };
        here.and_then(|source| automaton.sources.get(source.index()))
    }

    /// The current handler and the functions that it has called, the innermost first: names and places.
    pub fn calls(&self) -> Vec<(String, Option<&Source>)> {
        let handler = self.handler(self.moment.handler);
        let places: Vec<&Source> = self.moment.frames().iter().rev().flat_map(|frame| self.places_in(frame)).collect();
        let count = places.len();
        let named = places.into_iter().enumerate().map(|(at, place)| {
            let name = self.facts.code(place).map_or("code", |code| &code.name);
            (if at + 1 == count { handler.clone() } else { name.to_string() }, Some(place))
        });
        match count {
            0 => vec![(handler, self.place())],
            _ => named.collect(),
        }
    }

    /// The causes: what triggered the handler, what triggered that, and so on to something from outside; of a frame, what sent it on
    /// another host.
    pub fn causes(&self) -> Vec<String> {
        let mut lines = vec![self.handler(self.moment.handler)];
        let root = caused(self.moment, self.moment.cause, &mut lines);
        let mut came = root.and_then(|root| self.hosts.brought(self.host, self.hosts.life(self.host)?, root));
        for _ in 0..FRAMES_BACK {
            let Some((number, sent)) = came else { return lines };
            let host = &self.facts.hosts[sent.host].name;
            let mut line = format!("frame #{number}, sent by {host} at {}", time(sent.at));
            let mut behind = Vec::new();
            let mut look = |moment: &Moment<'_>| {
                let instant = moment.of_output(sent.output)?;
                let by = moment.instant(instant)?;
                line = format!("{line}: {}", named(moment.automaton(), by.handler));
                caused(moment, by.cause, &mut behind).map(|root| root.min(instant))
            };
            let is_here = sent.host == self.host && Some(sent.life) == self.hosts.life(self.host);
            let root =
                if is_here { look(self.moment) } else { self.hosts.look(sent.host, sent.life, &mut look).flatten() };
            lines.push(line);
            lines.append(&mut behind);
            came = root.and_then(|root| self.hosts.brought(sent.host, sent.life, root));
        }
        if let Some((number, sent)) = came {
            let host = &self.facts.hosts[sent.host].name;
            lines.push(format!("frame #{number}, sent by {host} at {}, and so on", time(sent.at)));
        }
        lines
    }

    /// The layers of the host that are declared by this name: `Counts`, `app.Counts`.
    pub fn layers_of(&self, name: &str) -> Vec<&str> {
        let is_it = |of: &str| of.strip_suffix(name).is_some_and(|front| front.is_empty() || front.ends_with('.'));
        let layers = self.automaton().layers.iter().filter(|layer| is_it(&layer.of));
        layers.map(|layer| layer.name.as_str()).collect()
    }

    /// What a layer is given for a parameter: `most` of the layer `own`, `Counts.most` of another one.
    pub(super) fn given(&self, own: &str, path: &[&str]) -> Option<String> {
        let (name, layer) = path.split_last()?;
        let layer = layer.join(".");
        let layers = if layer.is_empty() { vec![own] } else { self.layers_of(&layer) };
        let is_it = |of: &str| layers.contains(&of) || of == layer;
        let given = self.facts.hosts[self.host].given.iter();
        given.filter(|param| param.name == *name && is_it(&param.layer)).map(|param| param.value.clone()).next()
    }

    /// Whether the current code has a local of this name, bound yet or not, or another text of the handler does: then no state of that
    /// name is meant.
    pub(super) fn has(&self, name: &str) -> bool {
        let automaton = self.automaton();
        let own = self.moment.frames().last().and_then(|frame| self.places_in(frame).first().copied());
        let handler = &automaton.handlers[self.moment.handler.index()];
        let ops = handler.body.blocks.iter().flat_map(|block| &block.ops).filter_map(|op| op.source);
        let mut texts = ops.filter_map(|source| automaton.sources.get(source.index()));
        let is_text = |place: &&Source| self.facts.code(place).is_some_and(|code| code.name.starts_with("on "));
        let has = |place: &Source| self.facts.has_local(place, name);
        own.is_some_and(has) || texts.by_ref().filter(is_text).any(has)
    }

    /// The number for a text in the notation of one of the program's types.
    pub(super) fn number(&self, text: &str) -> Option<u64> {
        let read = self.written().all.iter().find_map(|form| form.read(text));
        read.and_then(|words| <[u64; 1]>::try_from(words).ok()).map(|[word]| word)
    }

    // ---- bound names ----

    /// The bound names of the innermost code.
    pub fn locals(&self) -> Vec<Variable> {
        self.all_locals().into_iter().next().unwrap_or_default()
    }

    /// The bound names of each running piece of code, the innermost first, as [`Self::calls`] has them.
    pub fn all_locals(&self) -> Vec<Vec<Variable>> {
        let code = self.moment.frames().iter().rev().flat_map(|frame| self.moment.code(frame));
        let sources = &self.automaton().sources;
        let place = |source: Option<SourceId>| source.and_then(|source| sources.get(source.index()));
        code.map(|(source, locals)| self.locals_at(place(source), &locals)).collect()
    }

    /// The locals that are known at a place. Of several of one name, the one that was declared last is meant.
    fn locals_at(&self, place: Option<&Source>, locals: &[Local<'_>]) -> Vec<Variable> {
        let is_known =
            |known: &super::locals::Local| place.is_none_or(|place| known.known.contains(&(place.line, place.column)));
        // Names that begin so are the compiler's.
        let is_known = |known: &super::locals::Local| !known.name.starts_with('.') && is_known(known);
        let declared = |local: &Local<'_>| self.facts.local(local.number).filter(|known| is_known(known));
        let mut all: Vec<_> = locals.iter().filter_map(|local| Some((declared(local)?, local))).collect();
        all.sort_by_key(|(known, _)| known.at);
        let mut shown: Vec<Variable> = Vec::new();
        for (known, local) in all {
            shown.retain(|before| before.name != known.name);
            let value = match known.shape {
                Shape::Flow => Some(self.flow(&local.parts)),
                _ => self.shaped(&known.shape, (0, 0), &local.parts),
            };
            shown.extend(value.map(|value| Variable { name: known.name.clone(), ..value }));
        }
        shown
    }

    /// A value from its parts in code, from one of them on; of arrays, from an item on.
    fn shaped(&self, shape: &Shape, (at, item): (usize, usize), parts: &[(&str, Part<'_>)]) -> Option<Variable> {
        let word = |at: usize| match &parts.get(at)?.1 {
            Part::Word(ty, word) => Some((*ty, *word)),
            Part::Array(ty, words) => Some((*ty, *words.get(item)?)),
            Part::Message(_) | Part::Unused => None,
        };
        let unused = || Some(leaf("", UNUSED));
        // Parts side by side.
        let side_by_side = |fields: &[(String, Shape)], mut at: usize| {
            let mut within = Vec::new();
            for (name, shape) in fields {
                within.push(Variable { name: name.clone(), ..self.shaped(shape, (at, item), parts)? });
                at += shape.parts();
            }
            Some(within)
        };
        match shape {
            Shape::Message => match parts.get(at)? {
                (_, Part::Message(message)) => Some(self.message(message)),
                _ => None,
            },
            Shape::Word(form) => {
                let Some((ty, word)) = word(at) else { return unused() };
                let text = form.as_ref().map(|form| form.write(&[word]));
                Some(leaf("", text.unwrap_or_else(|| self.word(ty, word))))
            }
            Shape::Whole(form) => {
                let words: Option<Vec<u64>> = (at..at + form.words()).map(|at| Some(word(at)?.1)).collect();
                words.map_or_else(unused, |words| Some(leaf("", form.write(&words))))
            }
            Shape::Record(fields) => {
                let within = side_by_side(fields, at)?;
                Some(Variable { name: String::new(), value: braced(&within), within })
            }
            Shape::Vector { element, bound, octets } => {
                let Some((_, length)) = word(at) else { return unused() };
                let length = (length as usize).min(*bound);
                let elements = (0..length).map(|place| self.shaped(element, (at + 1, item * bound + place), parts));
                let within: Vec<Variable> = elements.collect::<Option<_>>()?;
                Some(list(within, *octets))
            }
            Shape::Choice(alternatives) => {
                let Some((ty, number)) = word(at) else { return unused() };
                let mut from = at + 1;
                for alternative in alternatives {
                    if alternative.number == number {
                        let within = side_by_side(&alternative.parts, from)?;
                        return Some(chosen(&alternative.name, within));
                    }
                    from += alternative.parts.iter().map(|(_, shape)| shape.parts()).sum::<usize>();
                }
                Some(leaf("", self.word(ty, number)))
            }
            Shape::Flow => None,
        }
    }

    /// A value from its numbers side by side; without a shape, a number.
    pub(super) fn of_words(&self, shape: Option<&Shape>, words: &[(Type, u64)]) -> Option<Variable> {
        match (shape, words) {
            (None, [(ty, word)]) => Some(leaf("", self.word(*ty, *word))),
            (Some(shape), _) => {
                let all: Vec<(&str, Part<'_>)> = words.iter().map(|(ty, word)| ("", Part::Word(*ty, *word))).collect();
                self.shaped(shape, (0, 0), &all)
            }
            (None, _) => None,
        }
    }

    /// A part of a flow that is bound, by its name in the automaton.
    pub(super) fn bound_flow(&self, name: &str) -> Option<u64> {
        let code = self.moment.frames().iter().rev().flat_map(|frame| self.moment.code(frame));
        let locals: Vec<Local<'_>> = code.flat_map(|(_, locals)| locals).collect();
        let flows = locals
            .iter()
            .filter(|local| self.facts.local(local.number).is_some_and(|known| known.shape == Shape::Flow));
        let mut parts = flows.flat_map(|local| &local.parts);
        parts.find_map(|part| match part {
            (known, Part::Word(_, word)) if *known == name => Some(*word),
            _ => None,
        })
    }

    /// A flow, from its parts by their names in the automaton.
    fn flow(&self, parts: &[(&str, Part<'_>)]) -> Variable {
        let shown = parts.iter().filter_map(|(name, part)| {
            let Part::Word(ty, word) = part else { return None };
            let form = self.written().of_flow(name);
            Some(leaf(*name, form.map_or_else(|| self.word(*ty, *word), |form| form.write(&[*word]))))
        });
        let in_source = |name: &str| self.written().ends.get(name).map_or(name, String::as_str).to_string();
        let within = nested(shown.collect(), &in_source);
        Variable { name: String::new(), value: braced(&within), within }
    }

    /// Where the code of a running body stands, the innermost first: functions may be part of it.
    fn places_in(&self, frame: &Frame) -> Vec<&Source> {
        let sources = &self.automaton().sources;
        let code = self.moment.code(frame).into_iter();
        code.filter_map(|(source, _)| sources.get(source?.index())).collect()
    }

    /// A number, an enum's value, an object.
    fn word(&self, ty: Type, word: u64) -> String {
        match ty {
            Type::Ref(_) if word == u64::MAX => "none".to_string(),
            Type::Ref(class) => format!("{} #{}", self.automaton().class(class).name, word as u32),
            _ => scalar(self.automaton(), ty, word),
        }
    }

    /// A message: its headers, the top one first, and its octets.
    fn message(&self, message: &Message) -> Variable {
        let automaton = self.automaton();
        let mut within = Vec::new();
        for value in message.headers.iter().rev() {
            let header = &automaton.headers[value.header.index()];
            let variant = &header.variants[value.variant.index()];
            let fields = variant.fields.iter().zip(&value.fields).map(|((name, ty), word)| {
                let form = self.written().headers.get(&(value.header, value.variant, name.clone()));
                let text = form.filter(|form| form.words() == 1).map(|form| form.write(&[*word]));
                leaf(name, text.unwrap_or_else(|| self.word(*ty, *word)))
            });
            let is_octet = |name: &str| {
                let has_form = self.written().headers.contains_key(&(value.header, value.variant, format!("{name}_0")));
                !has_form && is_octets(variant.fields.iter().map(|(known, ty)| (known.as_str(), *ty)), name)
            };
            let fields = vectors(fields.collect(), &is_octet);
            let value: Vec<String> = fields.iter().map(|field| format!("{}: {}", field.name, field.value)).collect();
            let name = if variant.name == "Header" || variant.name.is_empty() {
                header.name.clone()
            } else {
                format!("{}.{}", header.name, variant.name)
            };
            within.push(Variable { name, value: value.join(", "), within: fields });
        }
        for (attribute, word) in automaton.attributes.iter().zip(&message.attributes) {
            if *word != attribute.default {
                within.push(leaf(self.attribute(&attribute.name), self.word(attribute.ty, *word)));
            }
        }
        let shown = &message.octets[..message.octets.len().min(MOST_OCTETS)];
        let more = if shown.len() < message.octets.len() { " …" } else { "" };
        let hex: Vec<String> = shown.iter().map(|octet| format!("{octet:02x}")).collect();
        let hex = if shown.is_empty() { NO_OCTETS.to_string() } else { format!("{}{more}", hex.join(" ")) };
        within.push(leaf(OCTETS, hex));
        let value = format!("{} octets {}{more}", message.octets.len(), mokume_record::text_of(shown));
        Variable { name: "message".to_string(), value, within }
    }

    /// The name by which an attribute of the automaton is shown: with its module's in front if several of one name are here.
    fn attribute(&self, name: &str) -> String {
        let own = last(name);
        let here =
            || self.automaton().attributes.iter().map(|known| known.name.as_str()).filter(|known| last(known) == own);
        if name != own || here().count() < 2 {
            return name.to_string();
        }
        let modules = self.facts.attributes.iter().filter(|(known, _)| known == own).map(|(_, module)| module);
        let of_others = |module: &str| here().any(|known| known.split_once('.').is_some_and(|(of, _)| of == module));
        let mut left = modules.filter(|module| !of_others(module));
        match (left.next(), left.next()) {
            (Some(module), None) => format!("{module}.{own}"),
            _ => name.to_string(),
        }
    }

    /// Which of several attributes of one name the code at hand means, as it is shown; `None` if there is only one.
    pub(super) fn meant(&self, name: &str) -> Option<String> {
        let automaton = self.automaton();
        let all = automaton.attributes.iter().enumerate().filter(|(_, known)| last(&known.name) == last(name));
        let shown: Vec<(usize, String)> = all.map(|(at, known)| (at, self.attribute(&known.name))).collect();
        if shown.len() < 2 {
            return None;
        }
        let layer = automaton.class(automaton.handlers.get(self.moment.handler.index())?.class).layer;
        let of_layer = automaton.code().filter(|(of, _)| *of == layer);
        let used: Vec<usize> = of_layer.flat_map(|(_, body)| body.ops()).filter_map(attribute_of).collect();
        let own = shown.iter().find(|(at, shown)| shown == name || (!name.contains('.') && used.contains(at)));
        own.map(|(_, shown)| shown.clone())
    }

    /// The value that an attribute has in a message that nobody gave one; such attributes are not shown.
    pub(super) fn default_of(&self, attribute: &str) -> Option<String> {
        let mut all = self.automaton().attributes.iter();
        let found = all.find(|known| self.attribute(&known.name) == attribute)?;
        Some(self.word(found.ty, found.default))
    }

    // ---- state ----

    /// The state of all layers of the host that somebody wrote: a variable for each layer, with its objects as parts. A layer
    /// that has none, or none now, says so.
    pub fn state(&self) -> Vec<Variable> {
        let automaton = self.automaton();
        let is_written = |layer: &&Layer| !layer.of.is_empty();
        let mut layers: Vec<Variable> =
            automaton.layers.iter().filter(is_written).map(|layer| leaf(&layer.name, "")).collect();
        for (number, class) in automaton.classes.iter().enumerate() {
            let id = ClassId::from(number);
            if class.cells.iter().all(|cell| cell.source.is_none()) {
                continue;
            }
            let layer = &automaton.layers[class.layer.index()].name;
            let own = class.name.strip_prefix(layer.as_str()).unwrap_or(&class.name).trim_start_matches('.');
            let scope = parts::kind_of(own);
            let objects: Vec<Variable> =
                self.moment.objects(id).into_iter().map(|object| self.object(id, object, scope)).collect();
            if objects.is_empty() {
                continue;
            }
            match layers.iter_mut().find(|known| known.name == *layer) {
                Some(known) => known.within.extend(objects),
                None => layers.push(Variable { name: layer.clone(), value: String::new(), within: objects }),
            }
        }
        for layer in layers.iter_mut().filter(|layer| layer.within.is_empty()) {
            let of_layer = |class: &&Class| automaton.layers[class.layer.index()].name == layer.name;
            let mut cells = automaton.classes.iter().filter(of_layer).flat_map(|class| &class.cells);
            let has_state = cells.any(|cell| cell.source.is_some());
            layer.value = if has_state { NONE_NOW } else { NO_STATE }.to_string();
        }
        layers
    }

    /// The object that the current handler runs for, with its state.
    pub(super) fn own_object(&self) -> Option<Variable> {
        let class = self.automaton().handlers.get(self.moment.handler.index())?.class;
        Some(self.object(class, self.moment.object, "it"))
    }

    /// The state of the objects that the current one belongs to without being their child: a session's point.
    pub(super) fn around(&self) -> Vec<Variable> {
        let automaton = self.automaton();
        let Some(handler) = automaton.handlers.get(self.moment.handler.index()) else { return Vec::new() };
        let own = automaton.class(handler.class);
        let linked = own.cells.iter().enumerate().filter(|(_, cell)| cell.source.is_none()).filter_map(|(at, cell)| {
            let CellKind::Scalar { ty: Type::Ref(of), .. } = cell.kind else { return None };
            let view = self.moment.cell(handler.class, self.moment.object, at.into())?;
            let CellView::Word(word) = view else { return None };
            let is_there = automaton.class(of).layer == own.layer && word != u64::MAX;
            is_there.then_some((of, Handle { object: word as u32, generation: (word >> 32) as u32 }))
        });
        linked.flat_map(|(class, object)| self.object(class, object, "it").within).collect()
    }

    fn object(&self, class: ClassId, object: Handle, scope: &str) -> Variable {
        let automaton = self.automaton();
        let is_one = automaton.class(class).capacity == 1;
        let name = if is_one { scope.to_string() } else { format!("{scope} #{}", object.object) };
        let cells = &automaton.class(class).cells;
        let (mut within, mut number) = (Vec::from_iter(self.flow_of(class, object)), 0);
        while let Some(cell) = cells.get(number) {
            let kept = kept::member_of(&self.facts.kept, &cells[number..], &automaton.sources);
            let kept = kept.and_then(|kept| Some((self.kept(kept, (class, object), number)?, kept.cells())));
            if let Some((value, count)) = kept {
                within.push(value);
                number += count;
                continue;
            }
            if let Some(view) = self.moment.cell(class, object, number.into()).filter(|_| cell.source.is_some()) {
                let forms = self.written().cell(automaton, class, &cell.name);
                within.push(Variable { name: cell.name.clone(), ..self.cell(&cell.kind, &view, forms) });
            }
            number += 1;
        }
        let in_source = |name: &str| self.written().name(automaton, class, name).to_string();
        Variable { name, value: String::new(), within: nested(within, &in_source) }
    }

    /// The flow of an object, if it is a session's: what it knows of it, and what those below know.
    fn flow_of(&self, class: ClassId, object: Handle) -> Option<Variable> {
        let mut parts: Vec<(&str, Part<'_>)> = Vec::new();
        let mut below = Some((class, object));
        while let Some((class, object)) = below.take() {
            let cells =
                self.automaton().class(class).cells.iter().enumerate().filter(|(_, cell)| cell.source.is_none());
            for (number, cell) in cells {
                let CellKind::Scalar { ty, .. } = &cell.kind else { continue };
                let Some(CellView::Word(word)) = self.moment.cell(class, object, number.into()) else { continue };
                match (cell.name.strip_prefix(FLOW_CELLS), ty) {
                    (Some(name), _) if parts.iter().all(|(known, _)| *known != name) => {
                        parts.push((name, Part::Word(*ty, word)));
                    }
                    (None, Type::Ref(of)) if cell.name == BELOW && word != u64::MAX => {
                        below = Some((*of, Handle { object: word as u32, generation: (word >> 32) as u32 }));
                    }
                    _ => {}
                }
            }
        }
        (!parts.is_empty()).then(|| Variable { name: FLOW.to_string(), ..self.flow(&parts) })
    }

    /// The value of a member that has parts, of an object; its first cell has this number.
    fn kept(&self, kept: &Kept, (class, object): (ClassId, Handle), first: usize) -> Option<Variable> {
        let automaton = self.automaton();
        let definition = automaton.class(class);
        let view = |number: usize| self.moment.cell(class, object, number.into());
        let shaped = |shape: &Shape, all: &[Content]| {
            let parts: Vec<(&str, Part<'_>)> = all.iter().map(|one| ("", one.part())).collect();
            self.shaped(shape, (0, 0), &parts)
        };
        let content = |number: usize| content(&definition.cells[number], &view(number)?);
        let all = || (first..first + kept.cells()).map(content).collect::<Option<Vec<Content>>>();
        let value = match &kept.is {
            Is::One => shaped(&kept.shape, &all()?)?,
            Is::Array => {
                let all = all()?;
                let columns: Option<Vec<(Type, &[u64])>> = all.iter().map(Content::words).collect();
                let columns = columns?;
                let count = columns.first()?.1.len();
                let element = |at: usize| {
                    let words: Option<Vec<(Type, u64)>> =
                        columns.iter().map(|(ty, words)| Some((*ty, *words.get(at)?))).collect();
                    let value = shaped(&kept.shape, &kept::parts(&kept.shape, &words?)?)?;
                    Some(Variable { name: format!("[{at}]"), ..value })
                };
                let is_zero = |at: usize| columns.iter().all(|(_, words)| words.get(at).is_none_or(|word| *word == 0));
                let (listed, more) = self.listed(count, &is_zero);
                let within = listed.into_iter().map(element).chain(more.map(Some)).collect::<Option<_>>()?;
                Variable { name: String::new(), value: format!("{count} elements"), within }
            }
            Is::Map(keys) => {
                let cell = &definition.cells[first];
                let (CellKind::Map { key, value, .. }, Some(CellView::Map(entries))) = (&cell.kind, view(first)) else {
                    return None;
                };
                let typed = |types: &[Type], words: &[u64]| -> Vec<(Type, u64)> {
                    types.iter().copied().zip(words.iter().copied()).collect()
                };
                let entry = |(of, words): &(&[u64], &[u64])| {
                    let mut of = &typed(key, of)[..];
                    let mut named = Vec::new();
                    for shape in keys {
                        let (own, rest) = of.split_at_checked(shape.words())?;
                        named.push(shaped(shape, &kept::parts(shape, own)?)?.value);
                        of = rest;
                    }
                    let value = shaped(&kept.shape, &kept::parts(&kept.shape, &typed(value, words))?)?;
                    Some(Variable { name: format!("[{}]", named.join(", ")), ..value })
                };
                let (listed, more) = self.listed(entries.len(), &|_| false);
                let named = listed.into_iter().map(|at| entry(&entries[at]));
                let within = named.chain(more.map(Some)).collect::<Option<_>>()?;
                Variable { name: String::new(), value: format!("{} entries", entries.len()), within }
            }
        };
        Some(Variable { name: kept.name.clone(), ..value })
    }

    fn cell<'f>(&self, kind: &CellKind, view: &CellView<'_>, forms: Option<&'f CellForms>) -> Variable {
        let of_value = forms.and_then(|forms| forms.value.as_ref());
        let said = |form: Option<&'f Form>, ty: Type, word: u64| match form {
            Some(form) => form.write(&[word]),
            None => self.word(ty, word),
        };
        let several = |value: String, within: Vec<Variable>| Variable { name: String::new(), value, within };
        match (kind, view) {
            (CellKind::Scalar { ty, .. }, CellView::Word(word)) => leaf("", said(of_value, *ty, *word)),
            (CellKind::Array { ty, .. }, CellView::Array(words)) => {
                let (listed, more) = self.listed(words.len(), &|at| words[at] == 0);
                let named = listed.into_iter().map(|at| leaf(format!("[{at}]"), said(of_value, *ty, words[at])));
                let within = named.chain(more).collect();
                several(format!("{} elements", words.len()), within)
            }
            (CellKind::Map { key, value, .. }, CellView::Map(entries)) => {
                let plain = |types: &[Type], at: usize, word: u64| {
                    types.get(at).map_or_else(|| word.to_string(), |ty| self.word(*ty, word))
                };
                let none = CellForms::default();
                let forms = forms.unwrap_or(&none);
                let of_key = |words: &[u64]| forms.key(words, &|at, word| plain(key, at, word));
                let of_value = |words: &[u64]| forms.map_value(words, &|at, word| plain(value, at, word));
                let (listed, more) = self.listed(entries.len(), &|_| false);
                let named = listed.into_iter().map(|at| entries[at]);
                let named = named.map(|(k, v)| leaf(format!("[{}]", of_key(k)), of_value(v)));
                let within = named.chain(more).collect();
                several(format!("{} entries", entries.len()), within)
            }
            (_, CellView::Messages(places)) => {
                let held: Vec<_> =
                    places.iter().enumerate().filter_map(|(at, message)| Some((at, (*message)?))).collect();
                let (listed, more) = self.listed(held.len(), &|_| false);
                let named = listed.into_iter().map(|at| held[at]);
                let named = named.map(|(at, message)| Variable { name: format!("[{at}]"), ..self.message(message) });
                let within: Vec<Variable> = named.chain(more).collect();
                let count = held.len();
                several(format!("{count} of {} places taken", places.len()), within)
            }
            (_, CellView::Timer(None)) => leaf("", NOT_RUNNING),
            (_, CellView::Timer(Some(deadline))) => {
                let left = deadline.saturating_sub(self.moment.now);
                leaf("", format!("{RINGS_IN}{} (at {})", time(left), time(*deadline)))
            }
            (_, CellView::Quota { left, amount }) => leaf("", format!("{left} of {amount}{QUOTA_LEFT}")),
            (_, CellView::Counter(total)) => leaf("", total.to_string()),
            (_, CellView::Word(word)) => leaf("", word.to_string()),
            (_, CellView::Array(words)) => leaf("", format!("{words:?}")),
            (_, CellView::Map(entries)) => leaf("", format!("{} entries", entries.len())),
        }
    }
}

/// So many frames are followed back to what sent them.
const FRAMES_BACK: usize = 8;

/// `app.Counts: on send`.
fn named(automaton: &Automaton, handler: HandlerId) -> String {
    let handler = &automaton.handlers[handler.index()];
    let layer = &automaton.layers[automaton.class(handler.class).layer.index()];
    format!("{}: on {}", layer.name, event_of(automaton, handler))
}

/// Adds a line for each cause, from this one on. Returns the number of the instant that an input triggered, if one did; `usize::MAX`
/// stands for the current one.
fn caused(moment: &Moment<'_>, mut cause: Cause, lines: &mut Vec<String>) -> Option<usize> {
    let mut last = usize::MAX;
    let line = loop {
        break match cause {
            Cause::Emission(instant, _) => {
                let by = moment.instant(instant)?;
                lines.push(format!("sent by {}", named(moment.automaton(), by.handler)));
                (cause, last) = (by.cause, instant);
                continue;
            }
            Cause::Input(port) => {
                lines.push(format!("what came in at {}", moment.automaton().ports[port.index()].name));
                return Some(last);
            }
            Cause::Start => "as the host starts",
            Cause::Expiry => "a timer",
            Cause::Settle => "the reaction settles",
            Cause::Later => "`later`, of a reaction before",
        };
    };
    lines.push(line.to_string());
    None
}

/// What is said of a flow: `flow.remote.port`.
pub(super) const FLOW: &str = "flow";

/// The beginning of the names of cells that hold a session's flow.
pub(super) const FLOW_CELLS: &str = "flow_";

/// The cell with the session below.
pub(super) const BELOW: &str = "below";

/// A name without what stands in front of it.
fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// The attribute that an operation reads or writes.
fn attribute_of(op: &Op) -> Option<usize> {
    match op.kind {
        OpKind::GetAttribute { attribute, .. } | OpKind::SetAttribute { attribute, .. } => Some(attribute.index()),
        _ => None,
    }
}
