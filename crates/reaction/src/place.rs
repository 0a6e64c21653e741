//! Places in an automaton, and their spans in the text form.

use rustc_hash::FxHashMap as HashMap;

use mokume_base::Span;

use crate::*;

/// A part of an automaton that a fault is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    Automaton,
    Param(ParamId),
    Enum(EnumId),
    Attribute(AttributeId),
    Header(HeaderId),
    Reason(ReasonId),
    Layer(LayerId),
    Class(ClassId),
    Cell(ClassId, CellId),
    Link(u32),
    Port(PortId),
    Wire(WireId),
    WireField(WireId, FieldIndex),
    Unit(Unit),
    Block(Unit, BlockId),
    /// By index in the block; the index behind the last operation is the terminator.
    Op(Unit, BlockId, u32),
    Composition,
}

/// Anything that has a body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Unit {
    Function(FunctionId),
    Handler(HandlerId),
    Path(PathId),
}

/// The spans of a parsed automaton's places.
#[derive(Clone, Debug, Default)]
pub struct Places(HashMap<Place, Span>);

impl Places {
    /// Sets the span of a place. The first span stays: a repeated name is not the definition that other places refer
    /// to.
    pub fn set(&mut self, place: Place, span: Span) {
        self.0.entry(place).or_insert(span);
    }

    /// Adds the spans of `other`; known ones stay.
    pub fn extend(&mut self, other: Places) {
        other.0.into_iter().for_each(|(place, span)| self.set(place, span));
    }

    /// The span of a place, or of the place around it.
    pub fn span(&self, place: Place) -> Option<Span> {
        self.0.get(&place).copied().or_else(|| self.span(around(place)?))
    }
}

/// The enclosing place.
fn around(place: Place) -> Option<Place> {
    match place {
        Place::Automaton => None,
        Place::Cell(class, _) => Some(Place::Class(class)),
        Place::WireField(wire, _) => Some(Place::Wire(wire)),
        Place::Op(unit, block, _) => Some(Place::Block(unit, block)),
        Place::Block(unit, _) => Some(Place::Unit(unit)),
        _ => Some(Place::Automaton),
    }
}

impl Unit {
    /// All bodies with effects, in the order of [`Automaton::code`]: handlers, then procedures.
    pub fn code(automaton: &Automaton) -> impl Iterator<Item = Unit> + '_ {
        let handlers = (0..automaton.handlers.len()).map(|index| Unit::Handler(index.into()));
        let functions = automaton.functions.iter().enumerate();
        let procedures = functions.filter(|(_, function)| function.procedure().is_some());
        handlers.chain(procedures.map(|(index, _)| Unit::Function(index.into())))
    }

    /// Its body. Panics at a unit of another automaton.
    pub fn body(self, automaton: &Automaton) -> &Body {
        match self {
            Unit::Function(id) => &automaton.functions[id.index()].body,
            Unit::Handler(id) => &automaton.handlers[id.index()].body,
            Unit::Path(id) => &automaton.paths[id.index()].body,
        }
    }

    /// Its name, for people.
    pub fn name(self, automaton: &Automaton) -> String {
        match self {
            Unit::Function(id) => format!("function {}", automaton.functions[id.index()].name),
            Unit::Path(id) => format!("path {}", automaton.handler_name(automaton.paths[id.index()].handler)),
            Unit::Handler(id) if automaton.handler(id).class.index() < automaton.classes.len() => {
                format!("handler {}", automaton.handler_name(id))
            }
            Unit::Handler(id) => format!("handler {}", id.0),
        }
    }
}

impl Place {
    /// A description for people, when there is no text to show.
    pub fn describe(self, automaton: &Automaton) -> String {
        let label = |unit: Unit, block: BlockId| match unit.body(automaton).blocks.get(block.index()) {
            Some(found) if !found.label.is_empty() => found.label.clone(),
            _ => format!("b{}", block.0),
        };
        match self {
            Place::Automaton => format!("automaton {}", automaton.name),
            Place::Param(id) => format!("param {}", automaton.params[id.index()].name),
            Place::Enum(id) => format!("enum {}", automaton.enums[id.index()].name),
            Place::Attribute(id) => format!("attribute {}", automaton.attributes[id.index()].name),
            Place::Header(id) => format!("header {}", automaton.headers[id.index()].name),
            Place::Reason(id) => format!("reason {}", automaton.reasons[id.index()].name),
            Place::Layer(id) => format!("layer {}", automaton.layers[id.index()].name),
            Place::Class(id) => format!("class {}", automaton.class(id).name),
            Place::Cell(class, id) => {
                format!("cell {}.{}", automaton.class(class).name, automaton.cell(class, id).name)
            }
            Place::Link(index) => format!("link {index}"),
            Place::Port(id) => format!("port {}", automaton.ports[id.index()].name),
            Place::Wire(id) => format!("wire {}", automaton.wires[id.index()].name),
            Place::WireField(id, index) => format!("wire {}, field {}", automaton.wires[id.index()].name, index.0),
            Place::Unit(unit) => unit.name(automaton),
            Place::Block(unit, block) => format!("{}, block {}", unit.name(automaton), label(unit, block)),
            Place::Op(unit, block, op) => {
                format!("{}, block {}, operation {}", unit.name(automaton), label(unit, block), op + 1)
            }
            Place::Composition => "the composition".to_owned(),
        }
    }
}
