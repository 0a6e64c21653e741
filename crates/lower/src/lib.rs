//! The typed program to uncomposed reaction automata: what the layers of one stack mean.
//!
//! [`lower`] takes a stack apart into instances ([`plan`]), declares their classes, cells, headers and wires ([`declare`],
//! [`wires`]), and makes handlers on demand, from the ports inwards ([`make`]): what a shape supplies and what the layer's
//! code says become one body. `docs/language.md` is the law; sections are cited.
//!
//! Invariant: the program had no errors, so this finds only what depends on the stack (codes M0720 to M0729), and every
//! automaton that it gives back passes the verifier.

mod answers;
mod bounds;
mod calls;
mod changes;
mod chosen;
mod clean;
pub mod codes;
mod compressed;
mod declare;
mod emit;
mod ending;
mod ends;
mod expr;
mod fault;
mod fold;
mod frame;
mod given;
mod headers;
mod layout;
mod layout_hash;
mod listeners;
mod loops;
mod lowering;
mod make;
mod multiplex;
mod octets;
mod plan;
mod point;
pub mod protocols;
mod publish;
mod quoted;
mod receive;
mod repeated;
mod script;
mod session;
mod several;
mod sideways;
mod spoken;
mod state;
mod stmt;
mod vectors;
mod wires;
mod written;

#[cfg(test)]
mod tests;

use mokume_base::{Diagnostic, Severity, SourceMap};
use mokume_reaction::Automaton;
use mokume_semantics::program::{Program, StackId};

pub use declare::DEVICE_MTU;
#[cfg(test)]
pub(crate) use fault::Fault;
pub use protocols::Protocols;
pub use script::{input, settings, test_script};

/// How a stack is to be lowered.
#[derive(Clone, Debug)]
pub struct Options {
    /// Deadlines are rounded up to a multiple of it, in nanoseconds.
    pub tick: u64,
    /// Functions in C are their models: for tools that look at what a stack does, and where there is no C compiler.
    pub models: bool,
    #[cfg(test)]
    pub(crate) fault: Option<fault::Fault>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            tick: 1,
            models: false,
            #[cfg(test)]
            fault: None,
        }
    }
}

impl Options {
    /// Whether a planted fault is switched on; only test builds have any.
    #[cfg(test)]
    fn faulty(&self, fault: fault::Fault) -> bool {
        self.fault == Some(fault)
    }

    #[cfg(not(test))]
    fn faulty(&self, _fault: fault::Fault) -> bool {
        false
    }
}

/// The uncomposed automaton of a stack; none if a diagnostic is an error.
pub fn lower(
    program: &Program,
    sources: &SourceMap,
    stack: StackId,
    options: &Options,
) -> (Option<Automaton>, Vec<Diagnostic>) {
    let (found, diagnostics) = lower_with_protocols(program, sources, stack, options);
    (found.map(|(automaton, _)| automaton), diagnostics)
}

/// The same, with what a packet of the stack may hold.
pub fn lower_with_protocols(
    program: &Program,
    sources: &SourceMap,
    stack: StackId,
    options: &Options,
) -> (Option<(Automaton, Protocols)>, Vec<Diagnostic>) {
    let Some(definition) = program.stacks.get(stack.index()) else { return (None, Vec::new()) };
    let supplied = plan::supplied(definition.name.span);
    let mut diagnostics = Vec::new();
    let Some(plan) = plan::plan(program, definition, &supplied, &mut diagnostics) else { return (None, diagnostics) };
    let mut lowering = lowering::Lowering::new(program, sources, definition, options, plan);
    lowering.diagnostics = diagnostics;
    lowering.declare();
    lowering.declare_ports();
    lowering.declare_changes();
    lowering.roots();
    lowering.make_all();
    let failed = lowering.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let protocols = lowering.protocols();
    let mut automaton = lowering.a;
    automaton.handlers.iter_mut().for_each(|handler| clean::clean(&mut handler.body));
    automaton.functions.iter_mut().for_each(|function| clean::clean(&mut function.body));
    automaton.tick = if definition.tick > 0 { definition.tick } else { options.tick.max(1) };
    automaton.outputs = definition.outputs;
    order(&mut automaton, &definition.order);
    automaton.handlers.sort_by_key(|handler| handler.class);
    ((!failed).then_some((automaton, protocols)), lowering.diagnostics)
}

/// Ports that are named together are one group: that of the first.
fn order(automaton: &mut mokume_reaction::Automaton, together: &[Vec<mokume_semantics::program::Name>]) {
    for names in together {
        let named = |port: &mokume_reaction::Port| names.iter().any(|name| name.text == port.name);
        let Some(group) = automaton.ports.iter().find(|port| named(port)).map(|port| port.group) else { continue };
        automaton.ports.iter_mut().filter(|port| named(port)).for_each(|port| port.group = group);
    }
}
