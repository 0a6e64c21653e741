//! From the automaton back to the text: faults in an automaton are reported at the place in the program that they come
//! from.

use mokume_base::{Diagnostic, SourceMap, Span};
use mokume_compose::Finding;
use mokume_lower::codes::LOST_VALUE;
use mokume_reaction::verify::Fault;
use mokume_reaction::{Automaton, Place, Places, Source};
use mokume_semantics::program::{Program, Stack};

/// Findings of composing, at the places of their emissions, else at the stack's name.
pub fn of_finding(sources: &SourceMap, stack: &Stack, finding: Finding) -> Diagnostic {
    let span = |source: &Source| span_of(sources, source);
    let found = match finding.at.as_ref().and_then(span) {
        Some(place) => finding.diagnostic.at(place, finding.text).label(stack.name.span, "in this stack"),
        None => finding.diagnostic.at(stack.name.span, "in this stack"),
    };
    match finding.also.and_then(|(source, text)| Some((span(&source)?, text))) {
        Some((place, text)) => found.label(place, text),
        None => found,
    }
}

/// A fault that the verifier found in a lowered automaton: a fault of the compiler, whose checks should have found the
/// program's mistake. It is shown as near to its cause as possible.
pub fn of_fault(
    (sources, program): (&SourceMap, &Program),
    stack: &Stack,
    automaton: &Automaton,
    fault: &Fault,
) -> Diagnostic {
    let known = fault.source(automaton).and_then(|source| span_of(sources, source));
    let span = known.or_else(|| wire_of(program, automaton, fault.place)).unwrap_or(stack.name.span);
    let found = fault.diagnostic(automaton, &Places::default()).at(span, "what became of this is wrong");
    found.help(OUR_FAULT)
}

/// The note of a compiler fault.
const OUR_FAULT: &str =
    "this is a fault of the compiler that the program only brought to light; writing it another way may help";

/// Whether a diagnostic is about a fault of the compiler, not of the program.
pub fn is_our_fault(found: &Diagnostic) -> bool {
    found.code.0 == LOST_VALUE || found.helps.iter().any(|help| help == OUR_FAULT)
}

/// The name of a wire in the text; `None` for a generated one.
fn wire_of(program: &Program, automaton: &Automaton, place: Place) -> Option<Span> {
    let (Place::Wire(wire) | Place::WireField(wire, _)) = place else { return None };
    let name = automaton.wires.get(wire.index())?.name.rsplit('.').next()?;
    program.wires.iter().find(|known| known.name.text == name).map(|known| known.name.span)
}

/// The word in the text for a place of the automaton's table; `None` if the file is not among the sources.
fn span_of(sources: &SourceMap, source: &Source) -> Option<Span> {
    let (file, known) = sources.files().find(|(_, known)| known.name == source.file)?;
    let line = known.line_start(source.line.saturating_sub(1) as usize);
    let rest = known.text.get(line..)?;
    let start = line + rest.char_indices().nth(source.column.saturating_sub(1) as usize).map_or(0, |(at, _)| at);
    let word = known.text.get(start..)?.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(0);
    Some(Span::new(file, start as u32, (start + word.max(1)).min(known.text.len()) as u32))
}
