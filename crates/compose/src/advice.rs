//! Warnings about queues: about the emissions whose order causes them, not about each channel.

use std::collections::BTreeSet;

use mokume_base::{Code, Diagnostic};
use mokume_reaction::{Automaton, OpKind, Source, SourceId};

use crate::channels::{channel_name, queued_but_for, Reason};
use crate::findings::Finding;
use crate::graph::{EventGraph, Receiver};

/// A channel needs a queue that another order of emissions would save (docs/semantics.md, O6).
pub const QUEUED: Code = Code("M0903");

/// The most causes that are compared, and that are reported.
const MOST_COMPARED: usize = 16;
const MOST_TOLD: usize = 4;
/// The most names in a list for people; the rest is a number.
const MOST_NAMED: usize = 4;

/// A warning for each emission that would save queues if it came last; the one that saves most comes first.
pub fn warnings(automaton: &Automaton, graph: &EventGraph, reasons: &[Reason]) -> Vec<Finding> {
    let mut findings = Vec::new();
    // An emission that follows the beginning of a session cannot come before it.
    let mut last: BTreeSet<usize> = reasons
        .iter()
        .filter(|reason| must_follow(automaton, graph, reason.later))
        .map(|reason| reason.earlier)
        .collect();
    let mut queued = match last.is_empty() {
        true => reasons.to_vec(),
        false => queued_but_for(automaton, graph, &last),
    };
    while let Some((reason, still)) = root(automaton, graph, &queued, &last) {
        let saved: Vec<&Reason> =
            queued.iter().filter(|known| !still.iter().any(|other| other.channel == known.channel)).collect();
        // If the language gives the order, the author cannot write another.
        if !is_by_itself(graph, &reason) {
            findings.push(warning(automaton, graph, &reason, &saved));
        }
        if findings.len() == MOST_TOLD {
            break;
        }
        last.extend(alike(graph, reason.earlier));
        queued = still;
    }
    findings
}

/// Of the emissions that channels are queued for, the one without which the fewest would be; and those channels'
/// reasons.
fn root(
    automaton: &Automaton,
    graph: &EventGraph,
    queued: &[Reason],
    last: &BTreeSet<usize>,
) -> Option<(Reason, Vec<Reason>)> {
    let mut compared = BTreeSet::new();
    let mut best: Option<(Reason, Vec<Reason>)> = None;
    for reason in queued {
        if compared.contains(&reason.earlier) || compared.len() >= MOST_COMPARED {
            continue;
        }
        let same = alike(graph, reason.earlier);
        compared.extend(same.iter().copied());
        let still = queued_but_for(automaton, graph, &last.iter().copied().chain(same).collect());
        if best.as_ref().is_none_or(|(_, least)| still.len() < least.len()) {
            best = Some((reason.clone(), still));
        }
    }
    best
}

/// Whether the receiver of an emission is found when it is carried out (docs/semantics.md, O9).
fn must_follow(automaton: &Automaton, graph: &EventGraph, emission: usize) -> bool {
    let found = &graph.emissions[emission];
    let handler = automaton.handler(graph.nodes[found.node.index()].handler);
    let op = handler.body.blocks[found.block.index()].ops.get(found.op);
    op.is_some_and(|op| matches!(op.kind, OpKind::EmitBy { .. }))
}

/// Whether the order of two emissions is not in the program's text: one statement makes both, or the second says that a
/// value has changed, or the first begins the session that the second is about.
fn is_by_itself(graph: &EventGraph, reason: &Reason) -> bool {
    let (earlier, later) = (&graph.emissions[reason.earlier], &graph.emissions[reason.later]);
    let by_one = reason.earlier != reason.later && earlier.source.is_some() && earlier.source == later.source;
    let begins = matches!(earlier.event.as_str(), "accepted" | "opened");
    by_one || later.event.starts_with("change_") || begins && earlier.channel == later.channel
}

/// The emissions of one place in the program: those of a function occur in each handler that calls it, and those of a
/// layer's shape are all at the layer's place.
fn alike(graph: &EventGraph, emission: usize) -> BTreeSet<usize> {
    let found = &graph.emissions[emission];
    let same = |other: &usize| found.source.is_some() && graph.emissions[*other].source == found.source;
    (0..graph.emissions.len()).filter(same).chain([emission]).collect()
}

fn warning(automaton: &Automaton, graph: &EventGraph, reason: &Reason, saved: &[&Reason]) -> Finding {
    let (earlier, later) = (&graph.emissions[reason.earlier], &graph.emissions[reason.later]);
    let handler = graph.name(automaton, earlier.node);
    let channels: Vec<String> = saved.iter().map(|reason| channel_name(automaton, reason.channel)).collect();
    let message = match &channels[..] {
        [] | [_] => format!("the channel {} needs a queue", channel_name(automaton, reason.channel)),
        several => format!("{} channels need a queue", several.len()),
    };
    let first = format!("`{handler}` emits `{}`{}", earlier.event, place(automaton, earlier.source));
    let second = match reason.earlier == reason.later {
        true => "and again in a later round of its loop".to_string(),
        false => format!("and then `{}`{}", later.event, place(automaton, later.source)),
    };
    let mut diagnostic = Diagnostic::warning(QUEUED, message).note(format!("{first}, {second}"));
    diagnostic = diagnostic.note(format!("what follows from the first comes back: {}", way(automaton, graph, reason)));
    if channels.len() > 1 {
        diagnostic = diagnostic.note(format!("so these wait in queues: {}", few(&channels, ", ")));
    }
    let downwards = ["send", "close", "abort", "open", "listen", "bind", "unlisten"];
    let help = match downwards.contains(&earlier.event.as_str()) {
        true => "what goes down stands in front already: if it has to be this order, leave it: the queue costs its memory",
        false => "emit down before up (acknowledge, then deliver): then no queue is needed; if it has to be this order, leave it: the queue costs its memory",
    };
    Finding {
        diagnostic: diagnostic.help(help),
        at: source(automaton, earlier.source),
        text: "emitted first",
        also: source(automaton, later.source).filter(|_| earlier.source != later.source).zip(Some("and then this")),
    }
}

/// The layers through which the cascade returns to the channel.
fn way(automaton: &Automaton, graph: &EventGraph, reason: &Reason) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut visit = |name: &str| {
        if names.last().is_none_or(|last| last != name) {
            names.push(name.to_string());
        }
    };
    for emission in &reason.path {
        let channel = graph.emissions[*emission].channel;
        visit(&automaton.layers[channel.from.index()].name);
        match channel.to {
            Receiver::Layer(to) => visit(&automaton.layers[to.index()].name),
            Receiver::Port(to) => visit(&automaton.ports[to.index()].name),
        }
    }
    // Both ends are listed: where it begins, and the channel to which it returns.
    let most = 2 * MOST_NAMED;
    if names.len() > most {
        let end = names.split_off(names.len() - MOST_NAMED);
        names.truncate(MOST_NAMED);
        names.push("…".to_string());
        names.extend(end);
    }
    names.join(" -> ")
}

fn few(names: &[String], between: &str) -> String {
    match names.len() > MOST_NAMED {
        true => format!("{} and {} more", names[..MOST_NAMED].join(between), names.len() - MOST_NAMED),
        false => names.join(between),
    }
}

/// The place in the program that an operation comes from, if known.
pub fn source(automaton: &Automaton, source: Option<SourceId>) -> Option<Source> {
    automaton.sources.get(source?.index()).cloned()
}

/// ` (file:line)`, if known.
pub fn place(automaton: &Automaton, at: Option<SourceId>) -> String {
    source(automaton, at).map_or(String::new(), |source| format!(" ({}:{})", source.file, source.line))
}
