//! Look-ups first: what a message is for is found before anything else is asked, so that what is asked of it can be remembered beside it.

use std::collections::HashSet;

use crate::graph::{Kind, Node, U32};

use mokume_reaction::Compare;

use super::tree::{Ask, Tail, Tree, Way, What};

impl Tree<'_> {
    /// The tree with the least size of a message asked first, and then the look-ups of which the message says all.
    pub fn first(&mut self) {
        let mut way = std::mem::take(&mut self.way);
        let first = (0..).take_while(|at| *at < self.body.blocks[0].params.len() as u32);
        let most = first.map(|message| (self.octets(&way, message), message)).max_by_key(|(octets, _)| *octets);
        if let Some((octets, message)) = most.filter(|(octets, _)| *octets > 0) {
            self.least = (Some(message), octets);
            let size = self.graph.add(Kind::Size(message), U32);
            let least = self.graph.constant(U32, octets);
            let is_short = self.graph.compare(Compare::Lt, size, least);
            let what = What::If(is_short);
            let source = way.guards.first().and_then(|ask| ask.source);
            way.guards.insert(0, Ask { what, is_then: false, source, mark: None, likely: Some(0.001) });
            self.barriers.clear();
            self.hoist(&mut way, 1, &mut HashSet::new());
        }
        self.way = way;
    }

    /// So many octets are read of a message on each way that does not refuse.
    fn octets(&self, way: &Way, message: u32) -> u64 {
        let asked = way.guards.iter().map(|ask| self.octets_of(ask, message)).max().unwrap_or(0);
        let then = match &way.tail {
            Tail::Part(part) => {
                let (ask, ways) = &**part;
                let on = ways.iter().filter(|way| !way.refuses()).map(|way| self.octets(way, message));
                on.min().unwrap_or(0).max(self.octets_of(ask, message))
            }
            Tail::End(_) | Tail::Rest(_) | Tail::Exit => 0,
        };
        asked.max(then)
    }

    fn octets_of(&self, ask: &Ask, message: u32) -> u64 {
        let nodes = match &ask.what {
            What::If(condition) => vec![*condition],
            What::Find { key, .. } => key.clone(),
            What::Peek { .. } => Vec::new(),
        };
        let mut most = 0;
        let mut open = nodes;
        let mut seen = HashSet::new();
        while let Some(node) = open.pop() {
            if !seen.insert(node) {
                continue;
            }
            if let Kind::Load(of, field, at) = *self.graph.kind(node) {
                let end = self.graph.known(at).map_or(0, |at| at + u64::from(field.width / 8));
                most = most.max(if of == message { end } else { 0 });
            }
            // What is chosen may be read on one side only; nothing reads more than it asks for.
            open.extend(self.graph.parts(node));
        }
        most
    }

    /// Puts look-ups in front of the guards from one on. `there`: look-ups that were made before.
    fn hoist(&mut self, way: &mut Way, mut from: usize, there: &mut HashSet<u32>) {
        while let Some(ask) = self.candidate(way, from, there) {
            let What::Find { number, .. } = ask.what else { return };
            self.is_better = true;
            let rest = Way { guards: way.guards.split_off(from), tail: std::mem::take(&mut way.tail) };
            let mut then = decided(&rest, number, true);
            let mut otherwise = decided(&rest, number, false);
            if otherwise.refuses() {
                way.guards.push(Ask { is_then: true, ..ask });
                way.guards.append(&mut then.guards);
                way.tail = then.tail;
                there.insert(number);
                from += 1;
                continue;
            }
            let mut known = there.clone();
            known.insert(number);
            self.hoist(&mut then, 0, &mut known);
            self.hoist(&mut otherwise, 0, &mut there.clone());
            way.tail = Tail::Part(Box::new((ask, [then, otherwise])));
            return;
        }
        if let Tail::Part(part) = &mut way.tail {
            for inner in &mut part.1 {
                self.hoist(inner, 0, &mut there.clone());
            }
        }
    }

    /// The first look-up that all ways make, of which the message says all, if something is asked before it.
    fn candidate(&mut self, way: &Way, from: usize, there: &HashSet<u32>) -> Option<Ask> {
        let mut at = way;
        let mut begin = from;
        let mut is_behind = false;
        loop {
            let part = if let Tail::Part(part) = &at.tail { Some(&**part) } else { None };
            for ask in at.guards[begin..].iter().chain(part.map(|part| &part.0)) {
                match &ask.what {
                    What::Find { number, .. } if is_behind && self.may_come_first(ask, there) && asks(way, *number) => {
                        return Some(ask.clone());
                    }
                    What::Find { .. } => {}
                    What::If(_) | What::Peek { .. } => is_behind = true,
                }
            }
            begin = 0;
            let (ask, ways) = part?;
            let likely = usize::from(ask.likely.is_some_and(|likely| likely < 0.5));
            at = if ways[likely].refuses() { &ways[1 - likely] } else { &ways[likely] };
        }
    }

    fn may_come_first(&mut self, ask: &Ask, there: &HashSet<u32>) -> bool {
        let What::Find { object, cell, key, .. } = &ask.what else { return false };
        if self.is_barrier(ask) {
            return false;
        }
        let is_hidden = |node: Node| match *self.graph.kind(node) {
            Kind::Load(..) | Kind::GetAt(..) | Kind::Holds(..) | Kind::Binary(..) => false,
            Kind::Found(number, _) => !there.contains(&number),
            Kind::Header(..) => true,
            _ => false,
        };
        let all = || key.iter().chain([object]);
        self.by(*object, *cell).is_some()
            && !all().any(|node| self.graph.any(*node, is_hidden))
            && key.iter().any(|part| self.graph.any(*part, |node| matches!(self.graph.kind(node), Kind::Load(..))))
    }
}

/// Whether each way that does not refuse makes the look-up.
fn asks(way: &Way, number: u32) -> bool {
    let is_it = |ask: &Ask| matches!(ask.what, What::Find { number: other, .. } if other == number);
    way.guards.iter().any(is_it)
        || match &way.tail {
            Tail::Part(part) => is_it(&part.0) || part.1.iter().all(|way| asks(way, number)),
            Tail::End(_) | Tail::Rest(_) => false,
            Tail::Exit => true,
        }
}

/// A way where it is known whether a look-up finds something.
fn decided(way: &Way, number: u32, finds: bool) -> Way {
    let is_it = |ask: &Ask| matches!(ask.what, What::Find { number: other, .. } if other == number);
    let mut guards = Vec::new();
    for ask in &way.guards {
        match is_it(ask) {
            true if ask.is_then != finds => return Way::default(),
            true => {}
            false => guards.push(ask.clone()),
        }
    }
    let tail = match &way.tail {
        Tail::Part(part) => {
            let (ask, ways) = &**part;
            if is_it(ask) {
                let mut on = decided(&ways[usize::from(!finds)], number, finds);
                if on.refuses() {
                    return Way::default();
                }
                guards.append(&mut on.guards);
                return Way { guards, tail: on.tail };
            }
            let mut ways = [decided(&ways[0], number, finds), decided(&ways[1], number, finds)];
            match [ways[0].refuses(), ways[1].refuses()] {
                [true, true] => return Way::default(),
                [false, false] => Tail::Part(Box::new((ask.clone(), ways))),
                [_, is_first] => {
                    let mut on = std::mem::take(&mut ways[usize::from(!is_first)]);
                    guards.push(Ask { is_then: is_first, ..ask.clone() });
                    guards.append(&mut on.guards);
                    return Way { guards, tail: on.tail };
                }
            }
        }
        Tail::Exit => return Way::default(),
        other => other.clone(),
    };
    Way { guards, tail }
}
