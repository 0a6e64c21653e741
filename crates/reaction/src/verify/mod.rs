//! The verifier: what every automaton must keep, whoever made it.
//!
//! `verify(a)` is empty exactly if `a` is well formed. It never panics, whatever the data: identifiers are checked
//! first, and checks that would follow a dangling one are left out.

mod declarations;
mod effects;
mod flow;
mod identifiers;
mod linearity;
mod loops;
mod operations;
mod wire_commons;
mod wire_lists;
mod wire_options;
mod wires;

use mokume_base::{Code, Diagnostic};

use crate::*;

/// One thing that is wrong, and where.
#[derive(Clone, PartialEq, Debug)]
pub struct Fault {
    pub code: Code,
    pub place: Place,
    pub message: String,
    /// Another place that explains the first.
    pub related: Option<(Place, String)>,
    pub help: Option<String>,
}

/// All faults, in the order of the automaton.
pub fn verify(automaton: &Automaton) -> Vec<Fault> {
    let mut faults = Faults(Vec::new());
    identifiers::check(automaton, &mut faults);
    if !faults.0.is_empty() {
        return faults.0;
    }
    declarations::check(automaton, &mut faults);
    wires::check(automaton, &mut faults);
    effects::check_recursion(automaton, &mut faults);
    for unit in units(automaton) {
        check_body(automaton, unit, &mut faults);
    }
    faults.0
}

/// The faults as diagnostics, with the places of a text if there is one.
pub fn diagnose(automaton: &Automaton, places: &Places) -> Vec<Diagnostic> {
    verify(automaton).iter().map(|fault| fault.diagnostic(automaton, places)).collect()
}

/// Everything with a body.
pub fn units(automaton: &Automaton) -> impl Iterator<Item = Unit> {
    let functions = (0..automaton.functions.len()).map(|index| Unit::Function(index.into()));
    functions.chain((0..automaton.handlers.len()).map(|index| Unit::Handler(index.into())))
}

fn check_body(automaton: &Automaton, unit: Unit, faults: &mut Faults) {
    let context = Context { automaton, unit, body: unit.body(automaton) };
    let before = faults.0.len();
    operations::check(&context, faults);
    flow::check(&context, faults);
    // What follows assumes that operands are of the right types and defined.
    if faults.0.len() > before {
        return;
    }
    effects::check(&context, faults);
    linearity::check(&context, faults);
    loops::check(&context, faults);
}

/// The body at hand.
struct Context<'a> {
    automaton: &'a Automaton,
    unit: Unit,
    body: &'a Body,
}

impl Context<'_> {
    fn typing(&self) -> Typing<'_> {
        Typing::new(self.automaton, &self.body.values)
    }

    fn op(&self, block: usize, op: usize) -> Place {
        Place::Op(self.unit, BlockId(block as u32), op as u32)
    }

    fn end(&self, block: usize) -> Place {
        self.op(block, self.body.blocks[block].ops.len())
    }

    fn name(&self, value: Value) -> String {
        match self.body.values[value.index()].name.as_str() {
            "" => format!("v{}", value.0),
            name => name.to_owned(),
        }
    }

    fn label(&self, block: usize) -> String {
        match self.body.blocks[block].label.as_str() {
            "" => format!("b{block}"),
            label => label.to_owned(),
        }
    }

    fn show(&self, ty: Type) -> String {
        crate::text::show_type(self.automaton, ty)
    }
}

/// The faults found so far.
struct Faults(Vec<Fault>);

impl Faults {
    fn add(&mut self, code: Code, place: Place, message: impl Into<String>) -> &mut Fault {
        let index = self.0.len();
        self.0.push(Fault { code, place, message: message.into(), related: None, help: None });
        &mut self.0[index]
    }
}

impl Fault {
    fn help(&mut self, help: impl Into<String>) -> &mut Self {
        self.help = Some(help.into());
        self
    }

    fn related(&mut self, place: Option<Place>, text: impl Into<String>) {
        self.related = place.map(|place| (place, text.into()));
    }

    /// With the text's place, or with the place in words and the program's line.
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

    /// The line of the program that the faulty operation comes from.
    fn source<'a>(&self, automaton: &'a Automaton) -> Option<&'a Source> {
        let id = match self.place {
            Place::Op(unit, block, op) => {
                unit.body(automaton).blocks.get(block.index())?.ops.get(op as usize)?.source?
            }
            Place::Unit(Unit::Handler(handler)) => automaton.handlers.get(handler.index())?.source?,
            Place::Class(class) => automaton.classes.get(class.index())?.source?,
            _ => return None,
        };
        automaton.sources.get(id.index())
    }
}
