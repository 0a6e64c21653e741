//! Proposals in networks: which words begin their parts, and what follows each word of a part.

use mokume_semantics::program::{Network, Promised, Stack};
use mokume_syntax::{ast, SyntaxKind};

use super::runs::{devices, ports, Way};
use super::{within, Found, Kind, Scene};

/// The words with which parts of a network begin.
const PARTS: [&str; 14] = [
    "at",
    "casts",
    "clock",
    "crash",
    "delivers",
    "expect",
    "frame",
    "host",
    "link",
    "partition",
    "restart",
    "until",
    "views",
    "when",
];
/// What a link does to frames.
const WEATHER: [&str; 9] = ["burst", "calm", "corrupt", "delay", "duplicate", "loss", "queue", "rate", "reorder"];
/// What becomes of a frame.
const FATES: [&str; 4] = ["late", "lost", "turned", "twice"];
/// What a clock does.
const OF_CLOCKS: [&str; 3] = ["ahead", "gains", "loses"];

impl Scene<'_> {
    /// Proposals in a network.
    pub(super) fn in_network(&self, words: &[&str], found: &mut Found) -> Option<()> {
        let network = self.token.parent_ancestors().find(|node| node.kind() == SyntaxKind::NETWORK)?;
        let here = ast::span_of(&network, self.file);
        let network = self.program.networks.iter().find(|known| within(known.name.span, here))?;
        let stack_of = |host: &str| {
            let host = network.hosts.iter().find(|known| known.name.text == host)?;
            self.program.stacks.get(host.stack.index())
        };
        if self.is_in(SyntaxKind::LINK) && words.first() != Some(&"link") {
            // A link that goes on in another line: what is in front of it counts as a device.
            let words: Vec<&str> = ["link", "_", "{", "_"].iter().chain(words).copied().collect();
            return self.in_link(&words, network, stack_of, found);
        }
        match words {
            [] => found.words(&PARTS),
            ["link", ..] => self.in_link(words, network, stack_of, found)?,
            ["casts" | "delivers" | "views"] => stacks_of(self, network).for_each(|stack| ports(stack, false, found)),
            [first @ ("casts" | "delivers" | "views"), port, "."] => {
                let way = if *first == "casts" { Way::In } else { Way::Out };
                stacks_of(self, network).for_each(|stack| self.events(stack, port, way, found));
            }
            ["frame", .., host, "."] => devices(stack_of(host)?, found),
            ["frame", .., "of" | "to"] => hosts(network, found),
            ["frame", before @ .., _, ".", _] if before.last() == Some(&"of") => {
                found.words(&["to"]);
                fates(found);
            }
            ["frame", before @ .., _] if before.contains(&"of") => fates(found),
            ["frame", _] => found.words(&["of"]),
            ["expect", counted @ ("dropped" | "consumed" | "counter"), of @ ..]
                if matches!(of.last(), None | Some(&".")) =>
            {
                if of.is_empty() {
                    hosts(network, found);
                }
                match *counted {
                    "counter" => self.counters(found),
                    _ => self.reasons(found),
                }
            }
            [first @ ("at" | "when" | "expect"), before @ .., host, ".", port, "."] => {
                // Behind `when a.app.opened(…)` comes what is then put in.
                let is_then = *first == "when" && !before.is_empty();
                let way = if *first == "at" || is_then { Way::In } else { Way::Out };
                self.events(stack_of(host)?, port, way, found);
            }
            ["when" | "expect", host, "."] | ["expect", "nothing", "at", host, "."] => {
                ports(stack_of(host)?, true, found)
            }
            ["at" | "when", .., host, "."] => ports(stack_of(host)?, false, found),
            ["when"] | ["expect", "nothing", "at"] => hosts(network, found),
            ["expect"] => {
                hosts(network, found);
                found.words(&["nothing", "casts", "dropped", "consumed", "counter"]);
            }
            ["expect", "nothing"] => found.words(&["at"]),
            ["expect", "casts"] | ["expect", "casts", .., ","] => {
                Promised::ALL.iter().for_each(|(word, _)| found.add(word, Kind::KEYWORD, "holds of casts"));
            }
            ["crash" | "restart", .., "at"] | [.., "until" | "from" | "after"] | ["at"] => self.fixed(found),
            ["expect", .., number] if is_number(number) => found.words(&["times", "until"]),
            ["expect", .., ")" | "times" | "time"] | ["expect", .., ".", _] => found.words(&["until"]),
            ["when", _, ".", _, ".", _] | ["when", _, ".", _, ".", _, "(", .., ")"] => {
                hosts(network, found);
                if !words.contains(&"after") {
                    found.words(&["after"]);
                }
            }
            ["at", _, ..] | ["when", .., "after", _, _] => hosts(network, found),
            ["partition" | "crash" | "restart" | "clock"] | ["partition", .., ","] => hosts(network, found),
            ["partition", before @ .., _] if !before.contains(&"from") => found.words(&["from"]),
            ["partition", before @ .., _] if !before.contains(&"until") => found.words(&["until"]),
            ["crash" | "restart", .., _] => found.words(&["at"]),
            ["clock", before @ .., _] if before.last().is_none_or(|word| !OF_CLOCKS.contains(word)) => {
                OF_CLOCKS.iter().for_each(|word| found.add(word, Kind::KEYWORD, "what the clock does"));
            }
            ["host", _, "="] => self.stacks(found),
            // Names that are given here, and numbers.
            _ => {}
        }
        Some(())
    }

    /// Proposals in a link: hosts with their devices, and behind them what it does to frames.
    fn in_link<'p>(
        &self,
        words: &[&str],
        network: &Network,
        stack_of: impl Fn(&str) -> Option<&'p Stack>,
        found: &mut Found,
    ) -> Option<()> {
        match words {
            [.., host, "."] => devices(stack_of(host)?, found),
            [.., "{" | ","] => hosts(network, found),
            ["link", _, "{", .., last] if !WEATHER.contains(last) => {
                WEATHER.iter().for_each(|word| found.add(word, Kind::KEYWORD, "what the link does to frames"));
                hosts(network, found);
            }
            _ => {}
        }
        Some(())
    }
}

fn is_number(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_digit())
}

fn fates(found: &mut Found) {
    FATES.iter().for_each(|word| found.add(word, Kind::KEYWORD, "what becomes of the frame"));
}

fn hosts(network: &Network, found: &mut Found) {
    network.hosts.iter().for_each(|host| found.add(&host.name.text, Kind::VARIABLE, "host"));
}

/// The stacks of all hosts.
fn stacks_of<'p>(scene: &'p Scene<'_>, network: &'p Network) -> impl Iterator<Item = &'p Stack> {
    network.hosts.iter().filter_map(|host| scene.program.stacks.get(host.stack.index()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each word is one that the grammar knows there.
    #[test]
    fn each_word_begins_a_part() {
        for word in PARTS {
            assert!(!mokume_syntax::words::form(word).is_empty(), "{word}");
        }
    }
}
