//! Random event graphs: inserting a layer that only passes events on changes nothing, and neither does composing.
//!
//! Seeded; a failure prints the seed and the graph. The same comparison must find planted faults (one queue for all; a
//! queued channel called directly).

use std::fmt::Write;

use mokume_base::{Random, SourceMap};
use mokume_compose::{compose, queued_by_the_graph_alone, EventGraph, Options, Receiver};
use mokume_interpret::Instance;
use mokume_reaction::{Automaton, Datum, Machine, Output, PortId};

const PORTS: u64 = 2;

#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    Layer(u64, u64),
    Port(u64),
}

/// What a block of a handler sends, in order.
#[derive(Clone)]
struct Handler {
    odd: Vec<To>,
    even: Vec<To>,
    /// Sent twice, from a loop.
    round: Option<To>,
}

#[derive(Clone)]
struct Graph {
    /// By layer and event; ranks grow with the event's number, so there is no cycle.
    layers: Vec<Vec<Handler>>,
    settle: Vec<Option<Vec<To>>>,
    /// Channels with an inserted layer that only passes on: from a layer, and to a layer or (numbered after the layers)
    /// a port.
    passes: Vec<(u64, u64)>,
}

impl Graph {
    fn random(random: &mut Random) -> Self {
        let layers = 2 + random.below(4);
        let events = 3 + random.below(2);
        let mut graph = Graph { layers: Vec::new(), settle: Vec::new(), passes: Vec::new() };
        for layer in 0..layers {
            let handlers = (0..events).map(|event| Handler {
                odd: targets(random, layer, layers, event + 1, events),
                even: targets(random, layer, layers, event + 1, events),
                round: random.percent(10).then(|| target(random, layer, layers, event + 1, events)),
            });
            graph.layers.push(handlers.collect());
            let settles = random.percent(25).then(|| targets(random, layer, layers, events / 2, events));
            graph.settle.push(settles);
        }
        graph
    }

    fn with_passes(&self, random: &mut Random) -> Self {
        let layers = self.layers.len() as u64;
        let mut graph = self.clone();
        for from in 0..layers {
            for to in 0..layers + PORTS {
                if random.percent(30) {
                    graph.passes.push((from, to));
                }
            }
        }
        graph
    }

    fn text(&self) -> String {
        let layers = self.layers.len() as u64;
        let mut text = "automaton random\n".to_string();
        for layer in 0..layers {
            let settle = if self.settle[layer as usize].is_some() { " settle 2" } else { "" };
            let _ = write!(text, "layer l{layer}\nclass l{layer}.E capacity 1{settle} {{\n  x: u8\n  left: u8\n}}\n");
        }
        for (from, to) in &self.passes {
            let _ = write!(text, "layer p{from}x{to}\nclass p{from}x{to}.E capacity 1 {{\n}}\n");
        }
        text += "port app application {\n";
        for layer in 0..layers {
            let _ = writeln!(text, "  in go{layer}(n: u8) -> l{layer}.E.e0");
        }
        text += "}\n";
        for port in 0..PORTS {
            let _ = write!(text, "port o{port} application {{\n  out said(by: u8, n: u8)\n}}\n");
        }
        for (layer, handlers) in self.layers.iter().enumerate() {
            for (event, handler) in handlers.iter().enumerate() {
                self.handler(&mut text, layer as u64, event as u64, handler);
            }
            if let Some(targets) = &self.settle[layer] {
                // Each input lets its layer settle with emissions twice, so settling ends.
                let _ = write!(
                    text,
                    "settle l{layer}.E(e) {{\n    x = get e.x\n    left = get e.left\n    none = eq left, 0\n    br none done, go\n  \
                     done:\n    return\n  go:\n    less = sub.wrap left, 1\n    set e.left, less\n"
                );
                self.sends(&mut text, layer as u64, targets, "s", "x");
                text += "    return\n}\n";
            }
        }
        for (from, to) in &self.passes {
            self.pass(&mut text, *from, *to);
        }
        text
    }

    fn handler(&self, text: &mut String, layer: u64, event: u64, handler: &Handler) {
        let _ = write!(
            text,
            "handler l{layer}.E.e{event}(e, n: u8) {{\n    x0 = get e.x\n    x1 = mul.wrap x0, 5\n    x2 = add.wrap x1, n\n    \
             x = add.wrap x2, {}\n    set e.x, x\n    bit = and x, 1\n    is_odd = eq bit, 1\n",
            1 + layer * 7 + event
        );
        if event == 0 {
            text.push_str("    set e.left, 2\n");
        }
        text.push_str("    br is_odd odd, even\n  odd:\n");
        self.sends(text, layer, &handler.odd, "o", "x");
        text.push_str("    jump loop(0)\n  even:\n");
        self.sends(text, layer, &handler.even, "v", "n");
        text.push_str(
            "    jump loop(0)\n  loop(i: u8) bound 3:\n    more = lt i, 2\n    br more round, done\n  round:\n",
        );
        if let Some(to) = handler.round {
            self.sends(text, layer, &[to], "r", "i");
        }
        text.push_str("    j = add.wrap i, 1\n    jump loop(j)\n  done:\n    return\n}\n");
    }

    fn sends(&self, text: &mut String, layer: u64, targets: &[To], prefix: &str, value: &str) {
        for (place, to) in targets.iter().enumerate() {
            let name = format!("{prefix}{place}");
            let _ = writeln!(text, "    {name} = add.wrap {value}, {}", place + 1);
            let number = match to {
                To::Layer(to, _) => *to,
                To::Port(port) => self.layers.len() as u64 + port,
            };
            if self.passes.contains(&(layer, number)) {
                let event = match to {
                    To::Layer(_, event) => format!("e{event}"),
                    To::Port(_) => "said".to_string(),
                };
                let _ = writeln!(text, "    {name}t = unique p{layer}x{number}.E\n    emit {name}t.{event}({name})");
                continue;
            }
            let _ = match to {
                To::Layer(to, event) => {
                    writeln!(text, "    {name}t = unique l{to}.E\n    emit {name}t.e{event}({name})")
                }
                To::Port(port) => writeln!(text, "    out o{port}.said({layer}, {name})"),
            };
        }
    }

    fn pass(&self, text: &mut String, from: u64, to: u64) {
        let layers = self.layers.len() as u64;
        if to >= layers {
            let port = to - layers;
            let _ = write!(
                text,
                "handler p{from}x{to}.E.said(e, n: u8) {{\n    out o{port}.said({from}, n)\n    return\n}}\n"
            );
            return;
        }
        for event in 0..self.layers[to as usize].len() {
            let _ = write!(
                text,
                "handler p{from}x{to}.E.e{event}(e, n: u8) {{\n    t = unique l{to}.E\n    emit t.e{event}(n)\n    return\n}}\n"
            );
        }
    }
}

fn targets(random: &mut Random, layer: u64, layers: u64, first: u64, events: u64) -> Vec<To> {
    let count = random.below(4);
    (0..count).map(|_| target(random, layer, layers, first, events)).collect()
}

fn target(random: &mut Random, layer: u64, layers: u64, first: u64, events: u64) -> To {
    if first >= events || random.percent(25) {
        return To::Port(random.below(PORTS));
    }
    let other = (layer + 1 + random.below(layers - 1)) % layers;
    To::Layer(other, first + random.below(events - first))
}

fn parse(text: &str) -> Automaton {
    let mut map = SourceMap::default();
    let parsed = mokume_reaction::text::parse(map.add("random", text), text);
    assert!(parsed.diagnostics.is_empty(), "{:?}\n{text}", parsed.diagnostics.first());
    parsed.automaton
}

/// Outputs for a few inputs, by port.
fn play(mut machine: Instance, seed: u64) -> Vec<Vec<Output>> {
    let inputs = machine.automaton().ports[0].inputs.len() as u64;
    let mut random = Random::new(seed);
    let mut outputs = vec![Vec::new(); 1 + PORTS as usize];
    let start = machine.start(0);
    let inputs = (0..6).map(|_| (random.below(inputs), random.below(256)));
    let mut outcomes = vec![start];
    for (event, n) in inputs {
        outcomes.push(machine.input(0, PortId(0), event as u32, &[Datum::Word(n)]));
    }
    for output in outcomes.into_iter().flat_map(|outcome| outcome.outputs) {
        outputs[output.port.index()].push(output);
    }
    outputs
}

fn reference(automaton: &Automaton, seed: u64) -> Vec<Vec<Output>> {
    play(Instance::new(automaton, &[], 0), seed)
}

const GRAPHS: u64 = 1000;
/// For planted faults, which show soon.
const PLANTED: u64 = 300;

#[test]
fn a_layer_that_only_passes_on_cannot_be_observed() {
    for seed in 0..GRAPHS {
        let mut random = Random::new(seed);
        let graph = Graph::random(&mut random);
        let thick = graph.with_passes(&mut random);
        let (plain, passed) = (parse(&graph.text()), parse(&thick.text()));
        assert_eq!(reference(&plain, seed), reference(&passed, seed), "seed {seed}\n{}", thick.text());
    }
}

#[test]
fn composing_changes_nothing() {
    let (mut queued, mut direct) = (0, 0);
    for seed in 0..GRAPHS {
        let mut random = Random::new(seed);
        let graph = Graph::random(&mut random).with_passes(&mut random);
        let automaton = parse(&graph.text());
        let composed = compose(&automaton, Options::default()).automaton.expect("no cycle");
        let composition = composed.composition.as_ref().expect("a composition");
        match composition.queued.is_empty() && composition.queued_outputs.is_empty() {
            true => direct += 1,
            false => queued += 1,
        }
        assert_eq!(reference(&automaton, seed), reference(&composed, seed), "seed {seed}\n{}", graph.text());
    }
    println!("{queued} graphs with queues, {direct} without");
    assert!(queued > GRAPHS / 10 && direct > GRAPHS / 10);
}

#[test]
fn one_queue_for_all_is_found() {
    let different = (0..PLANTED).filter(|seed| {
        let mut random = Random::new(*seed);
        let graph = Graph::random(&mut random);
        let thick = graph.with_passes(&mut random);
        let wrong = |graph: &Graph| play(Instance::with_one_queue(&parse(&graph.text()), &[], 0), *seed);
        wrong(&graph) != wrong(&thick)
    });
    let different = different.count() as u64;
    println!("one queue for all: inserting a layer shows in {different} of {PLANTED} graphs");
    assert!(different > PLANTED / 20);
}

#[test]
fn a_queued_channel_called_directly_is_found() {
    let (mut planted, mut found) = (0, 0);
    for seed in 0..PLANTED {
        let mut random = Random::new(seed);
        let automaton = parse(&Graph::random(&mut random).text());
        let mut composed = compose(&automaton, Options::default()).automaton.expect("no cycle");
        let Some(composition) = &mut composed.composition else { continue };
        if composition.queued.is_empty() && composition.queued_outputs.is_empty() {
            continue;
        }
        composition.queued.clear();
        composition.queued_outputs.clear();
        planted += 1;
        found += u64::from(reference(&automaton, seed) != reference(&composed, seed));
    }
    println!("queues left out of {planted} graphs: found in {found} by six inputs");
    assert!(found > planted / 20);
}

#[test]
fn queues_that_bring_nothing_are_found() {
    let (mut planted, mut found) = (0, 0);
    for seed in 0..2 * PLANTED {
        let mut random = Random::new(seed);
        let automaton = parse(&Graph::random(&mut random).text());
        let mut composed = compose(&automaton, Options::default()).automaton.expect("no cycle");
        let channels = queued_by_the_graph_alone(&automaton, &EventGraph::new(&automaton));
        let Some(composition) = &mut composed.composition else { continue };
        let before = composition.queued.len() + composition.queued_outputs.len();
        composition.queued.retain(|(from, to)| {
            channels.iter().any(|channel| channel.from == *from && channel.to == Receiver::Layer(*to))
        });
        composition.queued_outputs.retain(|(from, to)| {
            channels.iter().any(|channel| channel.from == *from && channel.to == Receiver::Port(*to))
        });
        if composition.queued.len() + composition.queued_outputs.len() == before {
            continue;
        }
        planted += 1;
        found += u64::from(reference(&automaton, seed) != reference(&composed, seed));
    }
    println!("the closure over queues matters in {planted} graphs: its lack found in {found} by six inputs");
    assert!(found > 0);
}
