//! Cycles of the event graph: every cycle crosses a device, an application port or a `later` event, or is an error,
//! which shows it.
//!
//! Outputs and `later` events are not edges of the graph, so every cycle in it is an error. Settling is not an edge
//! either, as its limit ends it.

use std::collections::VecDeque;

use mokume_base::{Code, Diagnostic};
use mokume_reaction::Automaton;

use crate::advice::{place, source};
use crate::findings::Finding;
use crate::graph::{EventGraph, NodeId};

/// A cycle of events that nothing interrupts (docs/semantics.md, O7).
pub const CYCLE: Code = Code("M0901");

/// One error for each strongly connected component, with a shortest cycle.
pub fn check(automaton: &Automaton, graph: &EventGraph) -> Vec<Finding> {
    let mut drawn = vec![false; graph.nodes.len()];
    let mut findings = Vec::new();
    for node in 0..graph.nodes.len() {
        if drawn[node] {
            continue;
        }
        let Some(cycle) = shortest_cycle(graph, NodeId(node as u32)) else { continue };
        if !cycle.iter().any(|emission| drawn[graph.emissions[*emission].node.index()]) {
            findings.push(draw(automaton, graph, &cycle));
        }
        for emission in cycle {
            drawn[graph.emissions[emission].node.index()] = true;
        }
    }
    findings
}

/// The emissions along a shortest path from a node back to itself.
fn shortest_cycle(graph: &EventGraph, start: NodeId) -> Option<Vec<usize>> {
    let mut by: Vec<Option<usize>> = vec![None; graph.nodes.len()];
    let mut open = VecDeque::from([start]);
    while let Some(node) = open.pop_front() {
        for emission in &graph.nodes[node.index()].emissions {
            for target in &graph.emissions[*emission].targets {
                if by[target.index()].is_none() {
                    by[target.index()] = Some(*emission);
                    open.push_back(*target);
                }
            }
        }
        if by[start.index()].is_some() {
            break;
        }
    }
    let mut cycle = Vec::new();
    let mut at = start;
    loop {
        let emission = by[at.index()]?;
        cycle.push(emission);
        at = graph.emissions[emission].node;
        if at == start {
            cycle.reverse();
            return Some(cycle);
        }
    }
}

fn draw(automaton: &Automaton, graph: &EventGraph, cycle: &[usize]) -> Finding {
    let mut picture = String::new();
    for (step, emission) in cycle.iter().enumerate() {
        let emission = &graph.emissions[*emission];
        let arrow = if step == 0 { "  " } else { "->" };
        let at = place(automaton, emission.source);
        picture += &format!("\n  {arrow} {}  emits `{}`{at}", graph.name(automaton, emission.node), emission.event);
    }
    let first = &graph.emissions[cycle[0]];
    picture += &format!("\n  -> {}", graph.name(automaton, first.node));
    let message = format!("events run in a circle at `{}`", graph.name(automaton, first.node));
    let diagnostic = Diagnostic::error(CYCLE, message)
        .note(format!("the circle crosses neither a device nor an application port:{picture}"))
        .help("make one of its events a reaction of its own: `later event(…)`");
    let known = cycle.iter().find_map(|emission| source(automaton, graph.emissions[*emission].source));
    Finding { diagnostic, at: known, text: "of the circle", also: None }
}
