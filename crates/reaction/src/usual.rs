//! Ways that reactions took in other stacks, for stacks without a profile: layers are recognised by their definitions.
//!
//! A handler is recognised if its definition, its event and the shape of its blocks are the same. The data says how
//! likely its branches are, so a handler taken for another one makes slow paths, not wrong ones.
//!
//! How often each event entered by a port is known by the layer behind the port: what an application does with TCP, say. It is not known
//! where another layer stands there, or where the port has an event that it had in no other stack.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::profile::{self, all, print_way, way, Passed, Profile};
use crate::{Automaton, Emission, Handler, HandlerId, LayerId, Trigger};

/// The usual ways through layers that many stacks use.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Usual {
    /// The handlers of its ways, by number.
    handlers: Vec<Known>,
    ways: BTreeMap<Vec<Passed>, u64>,
    /// The events that entered by ports, and those that might have.
    entered: BTreeMap<Entry, u64>,
}

/// An event that enters by a port.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Entry {
    /// The name of the definition of the layer behind the port.
    layer: String,
    /// The name of the class at the port, and the event.
    event: String,
}

/// What identifies a handler.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Known {
    /// The name of the layer's definition.
    layer: String,
    /// The name of its class within the layer, and its trigger.
    event: String,
    /// A hash of its blocks: how many operations and how many targets each has.
    shape: u64,
}

impl Usual {
    /// Adds the ways of a profile: the most frequent ones, until they cover all but one of `rare` reactions.
    pub fn add(&mut self, flat: &Automaton, profile: &Profile, rare: u64) {
        for (entry, handler) in entries(flat) {
            let count = self.entered.entry(entry).or_default();
            *count = count.saturating_add(profile.entered(handler).unwrap_or(0));
        }
        let mut ways: Vec<(&Vec<Passed>, u64)> = profile.ways.iter().map(|(way, count)| (way, *count)).collect();
        ways.sort_by_key(|way| std::cmp::Reverse(way.1));
        let mut left = all(ways.iter().map(|way| way.1)) / rare;
        while ways.last().is_some_and(|way| way.1 <= left) {
            left -= ways.pop().map_or(0, |way| way.1);
        }
        for (way, count) in ways {
            let called =
                |passed: &Passed| Passed { handler: self.number(known(flat, passed.handler)), ..passed.clone() };
            let way = way.iter().map(called).collect();
            let sum = self.ways.entry(way).or_default();
            *sum = sum.saturating_add(count);
        }
    }

    fn number(&mut self, known: Known) -> HandlerId {
        let place = self.handlers.iter().position(|one| *one == known).unwrap_or_else(|| {
            self.handlers.push(known);
            self.handlers.len() - 1
        });
        HandlerId::from(place)
    }

    /// The usual ways of an automaton without procedures, through those of its layers that are known.
    pub fn of(&self, flat: &Automaton) -> Profile {
        let layers: BTreeSet<&str> = flat.layers.iter().map(|layer| layer.of.as_str()).collect();
        let is_there = |passed: &Passed| {
            self.handlers.get(passed.handler.index()).is_some_and(|known| layers.contains(known.layer.as_str()))
        };
        let ways: BTreeMap<_, _> = self
            .ways
            .iter()
            .filter(|(way, _)| way.iter().all(is_there))
            .map(|(way, count)| (way.clone(), *count))
            .collect();
        let used: BTreeSet<HandlerId> = ways.keys().flatten().map(|passed| passed.handler).collect();
        let numbers: BTreeMap<&Known, HandlerId> =
            used.into_iter().map(|number| (&self.handlers[number.index()], number)).collect();
        let all = (0..flat.handlers.len()).map(HandlerId::from);
        let called = all.filter_map(|handler| Some((handler, *numbers.get(&known(flat, handler))?)));
        let entered =
            entries(flat).filter_map(|(entry, handler)| Some((handler, *self.entered.get(&entry)?))).collect();
        Profile { called: Some(called.collect()), ways, entered }
    }

    /// The text form: one line a handler; one line a way, with its count and its handlers, each with its branches; one line an event that
    /// enters by a port, with its count. An empty line stands between the parts.
    pub fn print(&self) -> String {
        let mut text = String::new();
        for Known { layer, event, shape } in &self.handlers {
            let _ = writeln!(text, "{layer} {shape:016x} {event}");
        }
        text.push('\n');
        self.ways.iter().for_each(|(way, count)| print_way(&mut text, way, *count));
        text.push('\n');
        for (Entry { layer, event }, count) in &self.entered {
            let _ = writeln!(text, "{layer} {count} {event}");
        }
        text
    }

    /// Reads the output of [`Usual::print`].
    ///
    /// # Errors
    ///
    /// The number, from 1, of the first line that is not valid.
    pub fn parse(text: &str) -> Result<Usual, usize> {
        let mut usual = Usual::default();
        let mut lines = text.lines().enumerate();
        for (number, line) in lines.by_ref().take_while(|(_, line)| !line.is_empty()) {
            let known = || {
                let (layer, rest) = line.split_once(' ')?;
                let (shape, event) = rest.split_once(' ')?;
                let shape = u64::from_str_radix(shape, 16).ok()?;
                Some(Known { layer: layer.to_owned(), event: event.to_owned(), shape })
            };
            usual.handlers.push(known().ok_or(number + 1)?);
        }
        for (number, line) in lines.by_ref().take_while(|(_, line)| !line.is_empty()) {
            let (way, count) = way(line).ok_or(number + 1)?;
            usual.ways.insert(way, count);
        }
        for (number, line) in lines {
            let entry = || {
                let (layer, rest) = line.split_once(' ')?;
                let (count, event) = rest.split_once(' ')?;
                Some((Entry { layer: layer.to_owned(), event: event.to_owned() }, count.parse().ok()?))
            };
            let (entry, count) = entry().ok_or(number + 1)?;
            usual.entered.insert(entry, count);
        }
        Ok(usual)
    }
}

/// The events that enter by ports, with their handlers. The layer behind a port is the first that its events lead to; where they lead to none,
/// nothing can be known.
fn entries(flat: &Automaton) -> impl Iterator<Item = (Entry, HandlerId)> + '_ {
    flat.ports.iter().flat_map(move |port| {
        let handlers = profile::entries(flat, port);
        let behind = handlers
            .iter()
            .find_map(|handler| leads_to(flat, *handler))
            .map(|layer| flat.layers[layer.index()].of.clone());
        let entry = move |handler| Some((Entry { layer: behind.clone()?, event: event(flat, handler) }, handler));
        handlers.into_iter().filter_map(entry)
    })
}

/// The first other layer to which a handler emits.
fn leads_to(flat: &Automaton, handler: HandlerId) -> Option<LayerId> {
    let Handler { class, body, .. } = flat.handler(handler);
    let own = flat.class(*class).layer;
    let targets = body.ops().filter_map(|op| match op.kind.emission()? {
        Emission::Event { target, .. } => flat.class_for(body, target),
        _ => None,
    });
    targets.map(|class| flat.class(class).layer).find(|layer| *layer != own)
}

/// The name of a handler's class within its layer, and what it handles.
fn event(flat: &Automaton, handler: HandlerId) -> String {
    let Handler { class, trigger, .. } = flat.handler(handler);
    let class = flat.class(*class);
    let layer = &flat.layers[class.layer.index()];
    let within = class.name.strip_prefix(&layer.name).unwrap_or(&class.name);
    let event = match trigger {
        Trigger::Event(name) => name.clone(),
        Trigger::Expiry(cell) => format!("expiry {}", class.cells[cell.index()].name),
        Trigger::Start => "start".to_owned(),
        Trigger::Settle => "settle".to_owned(),
    };
    format!("{} {event}", within.trim_start_matches('.'))
}

fn known(flat: &Automaton, handler: HandlerId) -> Known {
    let Handler { class, body, .. } = flat.handler(handler);
    let layer = &flat.layers[flat.class(*class).layer.index()];
    let mut shape: u64 = 0xcbf2_9ce4_8422_2325;
    for block in &body.blocks {
        for number in [block.params.len(), block.ops.len(), block.terminator.targets().len()] {
            shape = (shape ^ number as u64).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Known { layer: layer.of.clone(), event: event(flat, handler), shape }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BlockId;

    /// Layers with one branch each, with these names and definitions, and `more` further operations.
    fn chooses(layers: &[(&str, &str)], more: usize) -> Automaton {
        let mut text = "automaton Test\ntick 1\npool 16\noutputs 1\n\n".to_owned();
        for (name, of) in layers {
            text += &format!("layer {name} of {of} shape worker\n");
        }
        for (name, _) in layers {
            text += &format!("\nclass {name}.E capacity 1 {{\n}}\n");
        }
        for (name, _) in layers {
            let more = "    v1 = param_less\n".replace("param_less", "7: u32").repeat(more);
            text += &format!(
                "\nhandler {name}.E.go(e, n: u32) {{\n    v2 = 5: u32\n{more}    v4 = gt n, v2\n    br v4 then, else\n  then:\n    return\n  else:\n    return\n}}\n"
            );
        }
        let parsed = crate::text::parse(mokume_base::FileId(0), &text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        parsed.automaton
    }

    fn way(handlers: &[u32]) -> Vec<Passed> {
        let passed = |handler: &u32| Passed { handler: HandlerId(*handler), branches: vec![(BlockId(0), 1)] };
        handlers.iter().map(passed).collect()
    }

    fn both() -> (Automaton, Usual) {
        let both = chooses(&[("a", "First"), ("b", "Second")], 0);
        let ways = [(way(&[0, 1]), 900), (way(&[1]), 99), (way(&[0]), 1)].into();
        let profile = Profile { ways, ..Profile::default() };
        let mut usual = Usual::default();
        usual.add(&both, &profile, 1_000);
        (both, usual)
    }

    #[test]
    fn what_is_usual_is_read_back_without_what_is_rare() {
        let (_, usual) = both();
        assert_eq!(usual.ways.values().sum::<u64>(), 999, "one in a thousand is left out");
        assert_eq!(Usual::parse(&usual.print()), Ok(usual));
        assert_eq!(Usual::parse("First 00 E go\n\n1 | x\n"), Err(3));
        assert_eq!(Usual::parse("First\n"), Err(1));
    }

    #[test]
    fn a_layer_is_known_again_by_its_definition() {
        let (both, usual) = both();
        assert_eq!(usual.of(&both).ways.len(), 2);
        // The same layers in another order, and below an unknown one.
        let other = chooses(&[("x", "Mine"), ("y", "Second"), ("z", "First")], 0);
        let profile = usual.of(&other);
        assert_eq!(profile.called(HandlerId(0)), None);
        assert_eq!(profile.from(HandlerId(2)).map(|way| way.1).collect::<Vec<_>>(), [900]);
        assert_eq!(profile.from(HandlerId(1)).map(|way| way.1).collect::<Vec<_>>(), [99]);
        assert_eq!(profile.behind(HandlerId(1)).map(|way| way.1).sum::<u64>(), 999);
    }

    #[test]
    fn ways_through_layers_that_are_not_there_are_not_usual() {
        let (_, usual) = both();
        let profile = usual.of(&chooses(&[("y", "Second")], 0));
        assert_eq!(profile.ways.values().copied().collect::<Vec<_>>(), [99]);
    }

    /// A layer behind an application, which has these events, named `of`.
    fn behind_a_port(of: &str, events: &[&str]) -> Automaton {
        let mut text = format!("automaton Test\n\nlayer a of {of} shape worker\nlayer app shape application\n\n");
        text += "class a.E capacity 1 {\n}\nclass app.E capacity 1 {\n}\n\nport app application {\n";
        events.iter().for_each(|name| text += &format!("  in {name}() -> app.E.{name}\n"));
        text += "}\n";
        for name in events {
            text +=
                &format!("\nhandler app.E.{name}(e) {{\n    to = unique a.E\n    emit to.{name}()\n    return\n}}\n");
            text += &format!("\nhandler a.E.{name}(e) {{\n    return\n}}\n");
        }
        let parsed = crate::text::parse(mokume_base::FileId(0), &text);
        assert!(parsed.diagnostics.is_empty(), "{text}: {:?}", parsed.diagnostics);
        parsed.automaton
    }

    #[test]
    fn events_of_a_port_are_known_by_the_layer_behind_it() {
        let seen = behind_a_port("First", &["send", "close"]);
        let sends = vec![Passed { handler: HandlerId(0), branches: Vec::new() }];
        let mut usual = Usual::default();
        usual.add(&seen, &Profile { ways: [(sends, 900)].into(), ..Profile::default() }, 1_000);
        assert_eq!(Usual::parse(&usual.print()), Ok(usual.clone()));
        let entered = |of, events: &[&str]| {
            let flat = behind_a_port(of, events);
            let profile = usual.of(&flat);
            let handlers: Vec<HandlerId> = entries(&flat).map(|entry| entry.1).collect();
            handlers.into_iter().map(|handler| profile.entered(handler)).collect::<Vec<_>>()
        };
        // No network had `shut`; it could not.
        assert_eq!(entered("First", &["close", "send", "shut"]), [Some(0), Some(900), None]);
        assert_eq!(entered("Second", &["close", "send"]), [None, None]);
    }

    #[test]
    fn a_layer_that_was_changed_is_not_known() {
        let (_, usual) = both();
        let profile = usual.of(&chooses(&[("a", "First"), ("b", "Second")], 1));
        assert!(profile.called.is_some_and(|called| called.is_empty()));
    }
}
