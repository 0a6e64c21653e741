//! What is known of a run in advance: hosts, texts, and possible places of points.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mokume_base::{FileId, SourceMap};
use mokume_interpret::{Moment, What};
use mokume_lower::GivenValue;
use mokume_reaction::{Automaton, Handler, HandlerId, Source, SourceId, Trigger};
use mokume_script::{Shape, Written};
use mokume_semantics::program::{MemberKind, Name, Param, Program, StackId, Type};
use mokume_syntax::{SyntaxKind, SyntaxNode};

use super::kept::{self, AllKept};
use super::locals::{self, Local};
use super::published;
use crate::compile::Compiled;

/// How many elements a bounded vector has: `hosts.length`.
pub(super) const LENGTH: &str = "length";
/// The reason of messages whose object has ended, as tests call it: `dropped ended 1`.
pub(super) const GONE: &str = "ended";

/// How many octets a message has: what is asked of it by that name.
pub(super) const SIZE: &str = "size";

/// What is known of a target before it runs.
pub struct Facts {
    pub name: String,
    /// The file that contains the network or the test.
    pub file: String,
    pub hosts: Vec<HostFacts>,
    /// For each file with code that runs: its text, and the lines with code.
    pub texts: BTreeMap<String, String>,
    pub lines: BTreeMap<String, BTreeSet<u32>>,
    /// Handlers and functions of each file, in order.
    pub(super) codes: BTreeMap<String, Vec<Code>>,
    /// Qualified names: `app.Counts.send`.
    pub events: BTreeSet<String>,
    /// Of those that stand in a source, without the layer, as they are written: `send`, `resolve.known`; and as the automaton calls them.
    pub(super) written: BTreeMap<String, BTreeSet<String>>,
    pub reasons: BTreeSet<String>,
    /// All unqualified names: locals, variables of layers, fields of headers.
    pub(super) names: BTreeSet<String>,
    /// The names of all containers: `waiting` of `queue waiting`.
    pub(super) containers: BTreeSet<String>,
    /// The attributes of the program: names, and the modules that declare them.
    pub(super) attributes: Vec<(String, String)>,
    /// The bits of the numbers that are compared around the circle, by their names; `None` if the name stands for others, too.
    pub(super) circular: BTreeMap<String, Option<u8>>,
    /// The shapes of what layers publish, by their names.
    pub(super) published: BTreeMap<String, Option<Shape>>,
    /// The names of enums, `Plan.Wait`, and those of headers' alternatives.
    pub(super) enums: BTreeSet<String>,
    /// How many members a view has, by the names that its record gives it: `view.members.length` is asked as `view.size`.
    pub(super) views: BTreeSet<String>,
    /// Members of layers whose values have parts.
    pub(super) kept: AllKept,
    /// All locals, by their numbers.
    locals: BTreeMap<u32, Local>,
}

/// A host, and the notations of its values.
pub struct HostFacts {
    pub name: String,
    pub written: Arc<Written>,
    /// The parameters of its layers.
    pub(super) given: Vec<GivenParam>,
}

/// A parameter of a layer, as its type writes it.
pub(super) struct GivenParam {
    /// The layer's name in the automaton.
    pub layer: String,
    pub name: String,
    pub value: String,
}

/// A host that is to run: its name, its stack, and the values of that one's parameters.
pub(super) type ToRun<'a> = (String, StackId, &'a Compiled, &'a [(Name, Vec<u64>)]);

/// A handler or a function in its file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Code {
    /// Start, as line and column from 1; the end is exclusive.
    from: (u32, u32),
    to: (u32, u32),
    /// Where its block begins, behind the head.
    body: (u32, u32),
    /// `fn ahead`, `on send`.
    pub name: String,
    /// The layer that it stands in.
    layer: String,
}

/// The texts of a handler of the automaton.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Texts {
    /// There is one text for each alternative of a header: the beginning is attributed to the first, but may belong to
    /// any.
    pub are_several: bool,
    /// It consists of more than its head.
    pub has_statements: bool,
}

impl Facts {
    /// The facts of a target with this name that runs on these hosts.
    pub(super) fn new(
        (name, file): (String, String),
        hosts: Vec<ToRun<'_>>,
        (program, sources): (&Program, &SourceMap),
    ) -> Facts {
        let mut facts = Facts {
            name,
            file,
            hosts: Vec::new(),
            texts: BTreeMap::new(),
            lines: BTreeMap::new(),
            codes: BTreeMap::new(),
            events: BTreeSet::new(),
            written: BTreeMap::new(),
            reasons: BTreeSet::from([GONE.to_string()]),
            names: BTreeSet::from([SIZE.to_string(), LENGTH.to_string()]),
            containers: containers(program),
            attributes: program
                .attributes
                .iter()
                .map(|known| (known.name.text.clone(), known.module.clone()))
                .collect(),
            circular: circular(program),
            published: published::shapes_of(program),
            enums: named(program),
            views: program
                .layers
                .iter()
                .filter_map(|layer| layer.view.as_ref())
                .filter_map(|view| Some((program.records.get(view.record.record.index())?, view.record.members)))
                .filter_map(|(record, members)| Some(record.fields.get(members as usize)?.name.text.clone()))
                .collect(),
            kept: kept::of(program, sources),
            locals: locals::of(program, sources),
        };
        for (name, stack, compiled, settings) in &hosts {
            let written = compiled.written.clone();
            let given = given(program, *stack, &compiled.uncomposed, settings);
            facts.names.extend(given.iter().map(|param| param.name.clone()));
            facts.hosts.push(HostFacts { name: name.clone(), written, given });
            facts.learn(&compiled.uncomposed);
        }
        for (id, file) in sources.files().filter(|(_, file)| facts.lines.contains_key(&file.name)) {
            facts.texts.insert(file.name.clone(), file.text.clone());
            facts.codes.insert(file.name.clone(), codes(sources, id));
        }
        facts.names.extend(facts.locals.values().map(|local| local.name.clone()));
        facts.names.extend(facts.containers.iter().cloned());
        facts.names.extend(facts.kept.values().flatten().map(|kept| kept.name.clone()));
        facts
            .names
            .extend(program.records.iter().flat_map(|record| &record.fields).map(|field| own_name(&field.name.text)));
        for (_, _, compiled, _) in &hosts {
            facts.learn_written(&compiled.uncomposed);
        }
        facts
    }
}

fn circular(program: &Program) -> BTreeMap<String, Option<u8>> {
    let mut found = BTreeMap::new();
    let mut note = |name: &Name, ty: Type| {
        let bits = if let Type::Seq(bits) = ty { Some(bits) } else { None };
        let known = found.entry(own_name(&name.text)).or_insert(bits);
        *known = known.filter(|known| Some(*known) == bits);
    };
    for (locals, _) in program.code() {
        locals.iter().for_each(|local| note(&local.name, local.ty));
    }
    for layer in &program.layers {
        layer.params.iter().for_each(|param| note(&param.name, param.ty));
        let variants = layer.header.iter().flat_map(|header| &header.variants);
        variants.flat_map(|variant| &variant.fields).for_each(|field| note(&field.name, field.ty));
        for member in layer.all_members().flat_map(|(_, members)| members) {
            match &member.kind {
                MemberKind::Var { ty, .. } | MemberKind::Array { ty, .. } => note(&member.name, *ty),
                MemberKind::Map { value, .. } => value.iter().for_each(|ty| note(&member.name, *ty)),
                _ => {}
            }
        }
    }
    program.records.iter().flat_map(|record| &record.fields).for_each(|field| note(&field.name, field.ty));
    program.attributes.iter().for_each(|attribute| note(&attribute.name, attribute.ty));
    found
}

fn containers(program: &Program) -> BTreeSet<String> {
    let members = program.layers.iter().flat_map(|layer| layer.all_members()).flat_map(|(_, members)| members);
    let containers = members.filter(|member| matches!(member.kind, MemberKind::Container(_)));
    containers.map(|member| member.name.text.clone()).collect()
}

/// The parameters of a stack's layers, as their types write them.
fn given(program: &Program, stack: StackId, automaton: &Automaton, settings: &[(Name, Vec<u64>)]) -> Vec<GivenParam> {
    let settings = mokume_lower::settings(automaton, settings);
    let set = |param: &str| {
        let own = settings.iter().rev().find(|(name, _)| name == param).map(|(_, value)| *value);
        own.or_else(|| automaton.params.iter().find(|known| known.name == param)?.default)
    };
    let words = |value: GivenValue| match value {
        GivenValue::Known(words) => Some(words),
        GivenValue::Setting(name) => {
            let parts = automaton.params.iter().filter(|param| {
                param.name.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            });
            parts.map(|param| set(&param.name)).collect()
        }
    };
    let text = |param: &Param, words: &[u64]| match (param.ty, program.form(param.ty, param.written), words) {
        (Type::Bool, _, [value]) => Some((*value != 0).to_string()),
        (Type::Enum(id), _, [value]) => {
            let names = &program.enums.get(id.index())?.names;
            Some(
                names.iter().find(|(_, known)| known == value).map_or(value.to_string(), |(name, _)| name.text.clone()),
            )
        }
        (_, Some(form), words) if form.words() == words.len() => Some(form.write(words)),
        (_, None, [value]) => Some(value.to_string()),
        _ => None,
    };
    let all = mokume_lower::given(program, stack).into_iter();
    let shown = all.filter_map(|given| {
        let value = text(given.param, &words(given.value)?)?;
        Some(GivenParam { layer: given.layer, name: given.param.name.text.clone(), value })
    });
    shown.collect()
}

/// `Plan.Wait` of each enum; what stands alone, `Wait`, is of some enum only where it is not written with another.
fn named(program: &Program) -> BTreeSet<String> {
    let of_enum = program.enums.iter().flat_map(|known| {
        known.names.iter().flat_map(|(name, _)| [name.text.clone(), format!("{}.{}", known.name.text, name.text)])
    });
    of_enum.collect()
}

fn codes(sources: &SourceMap, id: FileId) -> Vec<Code> {
    let root = mokume_syntax::parse(id, &sources.file(id).text).syntax();
    root.descendants().filter_map(|node| code(&node, &|at| sources.line_column(id, at))).collect()
}

fn code(node: &SyntaxNode, place: &dyn Fn(u32) -> (u32, u32)) -> Option<Code> {
    let word = match node.kind() {
        SyntaxKind::FUNCTION => "fn",
        SyntaxKind::HANDLER => "on",
        _ => return None,
    };
    let text = node.text().to_string();
    let head = text.lines().map(str::trim).find(|line| line.starts_with(word))?;
    let name = head.split(['(', '{']).next().unwrap_or(head).trim().to_string();
    let (from, to) = (place(node.text_range().start().into()), place(node.text_range().end().into()));
    let body = node.children().find(|child| child.kind() == SyntaxKind::BLOCK);
    let body = body.map_or(to, |body| place(body.text_range().start().into()));
    let layer = node.ancestors().find(|node| node.kind() == SyntaxKind::LAYER);
    let layer = layer.and_then(|layer| layer.children().find(|part| part.kind() == SyntaxKind::NAME));
    let layer = layer.map_or(String::new(), |name| name.text().to_string().trim().to_string());
    Some(Code { from, to, body, name, layer })
}

impl Facts {
    /// The innermost handler or function that contains a place.
    pub(super) fn code(&self, source: &Source) -> Option<&Code> {
        let at = (source.line, source.column);
        self.codes.get(&source.file)?.iter().rev().find(|code| code.from <= at && at < code.to)
    }

    /// The bits of a number that is compared around the circle, by its name: `list[0].seq` is called `seq`, `lasts[2]` `lasts`.
    pub(super) fn bits_of(&self, name: &str) -> Option<u8> {
        let last = name.rsplit('.').next().unwrap_or(name);
        *self.circular.get(last.split('[').next().unwrap_or(last))?
    }

    /// A local by its number.
    pub(super) fn local(&self, number: u32) -> Option<&Local> {
        self.locals.get(&number)
    }

    /// Whether the code around a place has a local of this name, bound yet or not.
    pub(super) fn has_local(&self, at: &Source, name: &str) -> bool {
        let Some(code) = self.code(at) else { return false };
        let is_in = |local: &Local| local.file == at.file && code.from <= local.at && local.at < code.to;
        self.locals.values().any(|local| local.name == name && is_in(local))
    }

    /// The texts of a handler of a running automaton.
    pub(super) fn texts_of(&self, automaton: &Automaton, handler: HandlerId) -> Texts {
        let handler = &automaton.handlers[handler.index()];
        let blocks = handler.body.blocks.iter();
        let sources = blocks
            .flat_map(|block| block.ops.iter().filter_map(|op| op.source).chain(block.mark.map(|mark| mark.source)));
        let behind: BTreeSet<SourceId> = sources.filter(|source| Some(*source) != handler.source).collect();
        let places = behind.iter().chain(&handler.source).filter_map(|source| automaton.sources.get(source.index()));
        let heads: BTreeSet<(&str, (u32, u32))> = places
            .filter_map(|place| Some((place.file.as_str(), self.code(place)?)))
            .filter(|(_, code)| code.name.starts_with("on "))
            .map(|(file, code)| (file, code.from))
            .collect();
        Texts { are_several: heads.len() > 1, has_statements: !behind.is_empty() }
    }

    /// The first lines with code of what stands in a source as a handler, and is part of others in the automaton: `view_begin`, or
    /// `Numbered.view_begin`. Files and lines.
    pub(super) fn parts_of_handlers(&self, name: &str) -> Vec<(&String, u32)> {
        let (layer, event) = name.rsplit_once('.').unwrap_or(("", name));
        let of_file = |(file, codes): (&'_ String, &'_ Vec<Code>)| {
            let lines = self.lines.get(file);
            let is_it = |code: &&Code| {
                code.name.strip_prefix("on ") == Some(event) && (layer.is_empty() || code.layer == layer)
            };
            let first = |code: &Code| lines?.range(code.body.0..=code.to.0).next().copied();
            codes.iter().filter(is_it).filter_map(first).collect::<Vec<u32>>()
        };
        self.codes
            .iter()
            .flat_map(|(file, codes)| of_file((file, codes)).into_iter().map(move |line| (file, line)))
            .collect()
    }

    /// What the compiler adds has a handler, too, which nobody has written.
    fn learn_written(&mut self, automaton: &Automaton) {
        for handler in &automaton.handlers {
            let place = handler.source.and_then(|source| automaton.sources.get(source.index()));
            let text = place.and_then(|place| self.code(place)).and_then(|code| code.name.strip_prefix("on "));
            if let Some(text) = text.map(str::to_string) {
                self.written.entry(text).or_default().insert(event_of(automaton, handler));
            }
        }
    }

    fn learn(&mut self, automaton: &Automaton) {
        let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_string();
        let fields = automaton.headers.iter().flat_map(|header| &header.variants).flat_map(|variant| &variant.fields);
        self.names.extend(fields.map(|(name, _)| name.clone()));
        let variants = automaton.headers.iter().flat_map(|header| &header.variants);
        self.enums.extend(variants.map(|variant| variant.name.clone()));
        let cells = automaton.classes.iter().flat_map(|class| &class.cells);
        self.names.extend(cells.map(|cell| last(&cell.name)));
        self.names.extend(published::names(automaton));
        self.names.extend(automaton.attributes.iter().map(|attribute| last(&attribute.name)));
        for (_, body) in automaton.code() {
            self.names.extend(body.values.iter().filter(|value| !value.name.is_empty()).map(|value| last(&value.name)));
            let begun = body.scopes.0.iter().flat_map(|scope| &scope.begun).filter_map(|names| names.source);
            for source in begun.filter_map(|source| automaton.sources.get(source.index())) {
                self.lines.entry(source.file.clone()).or_default().insert(source.line);
            }
            for block in &body.blocks {
                let sources = block.ops.iter().filter_map(|op| op.source).chain(block.mark.map(|mark| mark.source));
                for source in sources.filter_map(|source| automaton.sources.get(source.index())) {
                    self.lines.entry(source.file.clone()).or_default().insert(source.line);
                }
            }
        }
        for handler in &automaton.handlers {
            let layer = &automaton.layers[automaton.class(handler.class).layer.index()];
            let event = event_of(automaton, handler);
            self.events.insert(format!("{}.{event}", layer.name));
            self.events.insert(format!("{}.{event}", layer.of));
        }
        for port in &automaton.ports {
            self.events.extend(port.inputs.iter().map(|input| format!("{}.{}", port.name, input.event)));
        }
        self.reasons.extend(automaton.reasons.iter().map(|reason| reason.name.clone()));
    }
}

/// The name of a part of an enum with parts, whose field is called `.Wait.rounds`; another field's own name.
fn own_name(field: &str) -> String {
    field.rsplit('.').next().unwrap_or(field).to_string()
}

/// `send`, `expiry wait`.
pub(crate) fn event_of(automaton: &Automaton, handler: &Handler) -> String {
    match &handler.trigger {
        Trigger::Event(event) => event.clone(),
        Trigger::Start => "start".to_string(),
        Trigger::Settle => "settle".to_string(),
        Trigger::Expiry(cell) => format!("expiry {}", automaton.class(handler.class).cells[cell.index()].name),
    }
}

/// Whether a moment is in the head of a handler, before its first statement: it reads the header. With several texts it may be the head
/// of any.
pub(super) fn is_head(facts: &Facts, moment: &Moment<'_>) -> bool {
    let What::Statement(source) = moment.what else { return false };
    let automaton = moment.automaton();
    let in_head = |place: &Source| {
        let code = facts.code(place).filter(|code| code.name.starts_with("on "));
        code.is_some_and(|code| (place.line, place.column) < code.body)
    };
    automaton.handlers[moment.handler.index()].source == Some(source)
        || automaton.sources.get(source.index()).is_some_and(in_head)
}
