//! The typed program to uncomposed reaction automata: the meaning of the layers of one stack.
//!
//! [`lower`] takes a stack apart into instances (`plan`), declares their state (`stack`, `wire`), and makes handlers on
//! demand, from the ports inwards (`event`). The defaults of a shape (`shape`) and the layer's code (`code`) become one
//! body. `docs/language.md` is the law; its sections are cited.
//!
//! ```text
//! plan      the stack as a tree of instances; no automaton yet
//! stack     the automaton so far, and look-ups in it: classes, cells, who listens, who publishes
//! wire      headers and wires
//! code      the writer of one body: forks and joins, statements, expressions
//! tell      events and messages to the neighbours above and below
//! shape     what shapes supply: sessions, listeners, demultiplexing
//! event     one handler a task, and what a layer's emissions do
//! ```
//!
//! Each room knows those above it in the list. Invariant: the program had no errors, so this finds only faults that
//! depend on the stack (codes M0720 to M0749), and every automaton that it returns passes the verifier.

mod arguments;
mod clean;
mod code;
pub mod codes;
mod constants;
mod event;
mod fault;
mod given;
mod network;
mod options;
mod packets;
mod parts;
mod plan;
mod program;
pub mod protocols;
mod script;
mod shape;
mod stack;
mod tell;
mod unbound;
mod wire;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, Severity, SourceMap, Span};
use mokume_reaction::Automaton;
use mokume_semantics::program::{Program, StackId};

#[cfg(test)]
pub(crate) use fault::Fault;
pub use given::{given, Given, GivenValue};
pub use network::{
    network_heard, network_input, network_output, network_tally, network_unheard, number_of_session, Bound,
};
pub use options::Options;
pub use protocols::Protocols;
pub use script::{settings, test_script};
pub use stack::DEVICE_MTU;

/// The uncomposed automaton of a stack; `None` if a diagnostic is an error.
pub fn lower(
    program: &Program,
    sources: &SourceMap,
    stack: StackId,
    options: &Options,
) -> (Option<Automaton>, Vec<Diagnostic>) {
    let (found, diagnostics) = lower_whole(program, sources, stack, options);
    (found.map(|found| found.automaton), diagnostics)
}

/// What lowering makes of a stack.
pub struct Lowered {
    pub automaton: Automaton,
    /// The packets that the stack may receive.
    pub protocols: Protocols,
    /// The places of the layers' handlers that stand in the automaton.
    pub reached: BTreeSet<Span>,
}

/// The same as [`lower`], with all that is known of the stack then.
pub fn lower_whole(
    program: &Program,
    sources: &SourceMap,
    stack: StackId,
    options: &Options,
) -> (Option<Lowered>, Vec<Diagnostic>) {
    let Some(definition) = program.stacks.get(stack.index()) else { return (None, Vec::new()) };
    let supplied = plan::supplied(definition.name.span);
    let mut diagnostics = Vec::new();
    let Some(plan) = plan::plan(program, definition, &supplied, &mut diagnostics) else { return (None, diagnostics) };
    let mut lowering = stack::Lowering::new(program, sources, definition, options, &plan);
    lowering.diagnostics = diagnostics;
    lowering.declare_classes();
    lowering.declare_wires();
    lowering.declare_cells();
    lowering.declare_ports();
    lowering.declare_changes();
    lowering.roots();
    lowering.make_all();
    let failed = lowering.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let protocols = lowering.protocols();
    let (mut automaton, reached) = (lowering.a, lowering.reached);
    automaton.handlers.iter_mut().for_each(|handler| clean::clean(&mut handler.body));
    automaton.functions.iter_mut().for_each(|function| clean::clean(&mut function.body));
    automaton.tick = if definition.tick > 0 { definition.tick } else { options.tick.max(1) };
    automaton.outputs = definition.outputs;
    order(&mut automaton, &definition.order);
    automaton.handlers.sort_by_key(|handler| handler.class);
    ((!failed).then_some(Lowered { automaton, protocols, reached }), lowering.diagnostics)
}

/// Ports that are named together get the group of the first.
fn order(automaton: &mut mokume_reaction::Automaton, together: &[Vec<mokume_semantics::program::Name>]) {
    for names in together {
        let named = |port: &mokume_reaction::Port| names.iter().any(|name| name.text == port.name);
        let Some(group) = automaton.ports.iter().find(|port| named(port)).map(|port| port.group) else { continue };
        automaton.ports.iter_mut().filter(|port| named(port)).for_each(|port| port.group = group);
    }
}
