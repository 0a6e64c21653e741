//! What all checks share: the current body, and the faults found so far.

use mokume_base::{Code, Diagnostic};

use crate::*;

/// One fault, and where it is.
#[derive(Clone, PartialEq, Debug)]
pub struct Fault {
    pub code: Code,
    pub place: Place,
    pub message: String,
    /// Another place that explains the first.
    pub related: Option<(Place, String)>,
    pub help: Option<String>,
}

/// Everything that has a body.
pub fn units(automaton: &Automaton) -> impl Iterator<Item = Unit> {
    let functions = (0..automaton.functions.len()).map(|index| Unit::Function(index.into()));
    let handlers = (0..automaton.handlers.len()).map(|index| Unit::Handler(index.into()));
    functions.chain(handlers).chain((0..automaton.paths.len()).map(|index| Unit::Path(index.into())))
}

/// The current body.
pub struct Context<'a> {
    pub automaton: &'a Automaton,
    pub unit: Unit,
    pub body: &'a Body,
}

impl Context<'_> {
    /// The types of the current body.
    pub fn typing(&self) -> Typing<'_> {
        Typing::new(self.automaton, &self.body.values)
    }

    /// The place of an operation, by its block and its index there.
    pub fn op(&self, block: usize, op: usize) -> Place {
        Place::Op(self.unit, BlockId(block as u32), op as u32)
    }

    /// The place of a block's terminator.
    pub fn terminator(&self, block: usize) -> Place {
        self.op(block, self.body.blocks[block].ops.len())
    }

    /// A value's name, or its number.
    pub fn name(&self, value: Value) -> String {
        match self.body.values[value.index()].name.as_str() {
            "" => format!("v{}", value.0),
            name => name.to_owned(),
        }
    }

    /// A block's label, or its number.
    pub fn label(&self, block: usize) -> String {
        match self.body.blocks[block].label.as_str() {
            "" => format!("b{block}"),
            label => label.to_owned(),
        }
    }

    /// A type in the text form.
    pub fn show(&self, ty: Type) -> String {
        crate::text::show_type(self.automaton, ty)
    }
}

/// The faults found so far.
pub struct Faults(pub Vec<Fault>);

impl Faults {
    /// Notes a fault and returns it, so that the caller can add to it.
    pub fn add(&mut self, code: Code, place: Place, message: impl Into<String>) -> &mut Fault {
        let index = self.0.len();
        self.0.push(Fault { code, place, message: message.into(), related: None, help: None });
        &mut self.0[index]
    }
}

impl Fault {
    /// Says what to write instead.
    pub fn help(&mut self, help: impl Into<String>) -> &mut Self {
        self.help = Some(help.into());
        self
    }

    /// Names another place that explains the fault, if there is one.
    pub fn related(&mut self, place: Option<Place>, text: impl Into<String>) {
        self.related = place.map(|place| (place, text.into()));
    }

    /// The fault as a diagnostic: with the span in the text, or else with the place in words and the program's line.
    pub fn diagnostic(&self, automaton: &Automaton, places: &Places) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(self.code, &self.message);
        match places.span(self.place) {
            Some(span) => diagnostic = diagnostic.at(span, "here"),
            None => diagnostic = diagnostic.note(format!("in {}", self.place.describe(automaton))),
        }
        if let Some((place, text)) = &self.related {
            diagnostic = match places.span(*place) {
                Some(span) => diagnostic.label(span, text),
                None => diagnostic.note(format!("{text} in {}", place.describe(automaton))),
            };
        }
        if let Some(source) = self.source(automaton) {
            diagnostic = diagnostic.note(format!("from {}:{}:{}", source.file, source.line, source.column));
        }
        match &self.help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }
    }

    /// The program place of the fault: that of its operation, or of the enclosing part.
    pub fn source<'a>(&self, automaton: &'a Automaton) -> Option<&'a Source> {
        let id = match self.place {
            Place::Op(unit, block, op) => {
                let block = unit.body(automaton).blocks.get(block.index());
                let own = block.and_then(|block| block.ops.get(op as usize)?.source);
                own.or_else(|| of_unit(automaton, unit))
            }
            Place::Block(unit, _) | Place::Unit(unit) => of_unit(automaton, unit),
            Place::Class(class) => of_class(automaton, class),
            Place::Cell(class, cell) => {
                let cells = automaton.classes.get(class.index()).map_or(&[][..], |class| &class.cells);
                cells.get(cell.index()).and_then(|cell| cell.source).or_else(|| of_class(automaton, class))
            }
            Place::Automaton
            | Place::Param(_)
            | Place::Enum(_)
            | Place::Attribute(_)
            | Place::Header(_)
            | Place::Reason(_)
            | Place::Layer(_)
            | Place::Link(_)
            | Place::Port(_)
            | Place::Wire(_)
            | Place::WireField(..)
            | Place::Composition => None,
        };
        automaton.sources.get(id?.index())
    }
}

fn of_unit(automaton: &Automaton, unit: Unit) -> Option<SourceId> {
    match unit {
        Unit::Handler(handler) => automaton.handlers.get(handler.index())?.source,
        Unit::Path(path) => automaton.handlers.get(automaton.paths.get(path.index())?.handler.index())?.source,
        Unit::Function(_) => None,
    }
}

fn of_class(automaton: &Automaton, class: ClassId) -> Option<SourceId> {
    automaton.classes.get(class.index())?.source
}
