//! Look-ups first: what a message is for is found before anything else is asked, so that later answers can be
//! remembered beside it.

use rustc_hash::FxHashSet as HashSet;

use crate::graph::{Kind, Node, U32};

use mokume_reaction::Compare;

use super::tree::{Ask, Tail, Tree, Way, What};

impl Tree<'_> {
    /// Asks first for the least size of a message, and then makes the look-ups that depend on the message only. A way of which a
    /// look-up reads behind that asks for more, before anything else.
    pub fn first(&mut self) {
        let mut way = std::mem::take(&mut self.way);
        let params = 0..self.body.blocks[0].params.len() as u32;
        let most = params.map(|message| (self.octets(&way, message), message)).max_by_key(|(octets, _)| *octets);
        if let Some((octets, message)) = most.filter(|(octets, _)| *octets > 0) {
            self.least.0 = Some(message);
            self.ask_for(&mut way, octets);
            self.ask_for_more(&mut way, (message, octets));
            self.hoist_in(&mut way, &mut HashSet::default());
        }
        self.way = way;
    }

    /// The way asks first whether the message has so many octets.
    fn ask_for(&mut self, way: &mut Way, octets: u64) {
        let Some(message) = self.least.0 else { return };
        let size = self.graph.add(Kind::Size(message), U32);
        let least = self.graph.constant(U32, octets);
        let what = What::If(self.graph.compare(Compare::Lt, size, least));
        let source = way.guards.first().and_then(|ask| ask.source);
        way.guards.insert(0, Ask { what, is_then: false, source, mark: None, likely: Some(0.001) });
        way.least = octets;
    }

    /// The same on ways that part from this one, if a look-up reads more there than is sure.
    fn ask_for_more(&mut self, way: &mut Way, (message, sure): (u32, u64)) {
        let Tail::Part(part) = &mut way.tail else { return };
        for inner in part.1.iter_mut().filter(|inner| !inner.refuses()) {
            let octets = self.octets(inner, message);
            let is_more = octets > sure && self.looks_up_behind(inner, message, sure);
            if is_more {
                self.ask_for(inner, octets);
            }
            self.ask_for_more(inner, (message, if is_more { octets } else { sure }));
        }
    }

    /// Whether each way on makes a look-up that reads octets behind these.
    fn looks_up_behind(&mut self, way: &Way, message: u32, sure: u64) -> bool {
        let mut is_behind = |ask: &Ask| matches!(ask.what, What::Find { .. }) && self.octets_of(ask, message) > sure;
        if way.guards.iter().any(&mut is_behind) {
            return true;
        }
        let Tail::Part(part) = &way.tail else { return false };
        is_behind(&part.0)
            || part.1.iter().filter(|inner| !inner.refuses()).all(|inner| self.looks_up_behind(inner, message, sure))
    }

    fn hoist_in(&mut self, way: &mut Way, there: &mut HashSet<u32>) {
        let first = usize::from(way.least > 0);
        self.on(way, |tree, way| tree.hoist(way, first, there));
    }

    /// How many octets of a message are read on each way that does not refuse.
    fn octets(&mut self, way: &Way, message: u32) -> u64 {
        let asked = way.guards.iter().map(|ask| self.octets_of(ask, message)).max().unwrap_or(0);
        let Tail::Part(part) = &way.tail else { return asked };
        let (ask, ways) = &**part;
        let on = ways.iter().filter(|way| !way.refuses()).map(|way| self.octets(way, message)).min();
        asked.max(self.octets_of(ask, message)).max(on.unwrap_or(0))
    }

    fn octets_of(&mut self, ask: &Ask, message: u32) -> u64 {
        let nodes = match &ask.what {
            What::If(condition) => std::slice::from_ref(condition),
            What::Find { key, .. } => key,
            What::Peek { .. } => &[],
        };
        let mut most = 0;
        for node in nodes {
            let read = self.read_by(*node);
            let ends = read.iter().filter_map(|node| self.end(*node)).filter(|(of, _)| *of == message);
            most = most.max(ends.filter_map(|(_, end)| end).max().unwrap_or(0));
        }
        most
    }

    /// Moves look-ups before the guards from `from` on. `there`: look-ups that were made before.
    fn hoist(&mut self, way: &mut Way, mut from: usize, there: &mut HashSet<u32>) {
        while let Some(ask) = self.candidate(way, from, there) {
            let What::Find { number, .. } = ask.what else { return };
            self.is_better = true;
            let rest = Way { guards: way.guards.split_off(from), tail: std::mem::take(&mut way.tail), least: 0 };
            let [mut then, mut otherwise] = [true, false].map(|finds| decided(&rest, number, finds));
            if otherwise.refuses() {
                way.guards.push(Ask { is_then: true, ..ask });
                way.go_on(then);
                there.insert(number);
                from += 1;
                continue;
            }
            let mut known = there.clone();
            known.insert(number);
            self.hoist_in(&mut then, &mut known);
            self.hoist_in(&mut otherwise, &mut there.clone());
            way.tail = Tail::Part(Box::new((ask, [then, otherwise])));
            return;
        }
        if let Tail::Part(part) = &mut way.tail {
            for inner in &mut part.1 {
                self.hoist_in(inner, &mut there.clone());
            }
        }
    }

    /// The first look-up that all ways make and that depends on the message only, if something else is asked before it.
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
        let is_hidden = |node: Node| match self.graph.kind(node) {
            Kind::Found(number, _) => !there.contains(number),
            kind => matches!(kind, Kind::Header(..)),
        };
        let all = || key.iter().chain([object]);
        self.by(*object, *cell).is_some()
            && !all().any(|node| self.graph.any(*node, is_hidden))
            && key.iter().any(|part| self.graph.any(*part, |node| matches!(self.graph.kind(node), Kind::Load(..))))
    }
}

impl Tree<'_> {
    /// Moves questions about a message alone before the look-ups, and questions that both of two ways ask before the
    /// place where they part. Each is then asked once, while few values are live that are needed later.
    pub fn together(&mut self) {
        let mut way = std::mem::take(&mut self.way);
        self.on(&mut way, Self::gather);
        self.way = way;
    }

    fn gather(&mut self, way: &mut Way) {
        if let Tail::Part(part) = &mut way.tail {
            let (ask, ways) = &mut **part;
            ways.iter_mut().for_each(|inner| self.on(inner, Self::gather));
            let [then, otherwise] = ways;
            let mut at = 0;
            while at < then.guards.len() {
                let guard = &then.guards[at];
                let other = otherwise
                    .guards
                    .iter()
                    .position(|other| (&other.what, other.is_then) == (&guard.what, guard.is_then));
                match other.filter(|_| self.is_free(&then.guards[at], ask)) {
                    Some(other) => {
                        otherwise.guards.remove(other);
                        way.guards.push(then.guards.remove(at));
                        self.is_better = true;
                    }
                    None => at += 1,
                }
            }
        }
        // In their order, after the first, which checks the least number of octets.
        let first = usize::from(way.least > 0).min(way.guards.len());
        let (early, late): (Vec<Ask>, Vec<Ask>) =
            way.guards.drain(first..).partition(|guard| self.is_of_messages(guard));
        way.guards.extend(early.into_iter().chain(late));
    }

    /// Whether the guard may be asked before the other question.
    fn is_free(&mut self, guard: &Ask, before: &Ask) -> bool {
        let What::If(condition) = guard.what else { return false };
        let finds = match before.what {
            What::Find { number, .. } => Some(number),
            What::If(_) => None,
            What::Peek { .. } => return false,
        };
        let is_found = |node: Node| matches!(self.graph.kind(node), Kind::Found(number, _) if Some(*number) == finds);
        // The answer to a question about state alone can be remembered beside what is found.
        !self.graph.any(condition, is_found) && !self.is_barrier(guard) && !self.is_of_state(condition)
    }

    fn is_of_state(&mut self, condition: Node) -> bool {
        let read = self.read_by(condition);
        !read.iter().any(|node| matches!(self.graph.kind(*node), Kind::Load(..) | Kind::Size(_) | Kind::Sum(..)))
    }

    /// Whether it depends only on octets that surely exist.
    fn is_of_messages(&mut self, guard: &Ask) -> bool {
        let What::If(condition) = guard.what else { return false };
        let read = self.read_by(condition);
        let is_octets = |node: &Node| matches!(self.graph.kind(*node), Kind::Load(..) | Kind::Size(_));
        read.iter().all(is_octets) && !self.is_barrier(guard)
    }
}

/// Whether each way that does not refuse makes the look-up.
fn asks(way: &Way, number: u32) -> bool {
    way.guards.iter().any(|ask| ask.finds(number))
        || match &way.tail {
            Tail::Part(part) => part.0.finds(number) || part.1.iter().all(|way| asks(way, number)),
            Tail::End(_) | Tail::Rest(_) => false,
            Tail::Exit => true,
        }
}

/// The way where it is known whether a look-up finds something.
fn decided(way: &Way, number: u32, finds: bool) -> Way {
    let mut known = Way { least: way.least, ..Way::default() };
    for ask in &way.guards {
        match ask.finds(number) {
            true if ask.is_then != finds => return Way::default(),
            true => {}
            false => known.guards.push(ask.clone()),
        }
    }
    match &way.tail {
        Tail::Part(part) if part.0.finds(number) => known.go_on(decided(&part.1[usize::from(!finds)], number, finds)),
        Tail::Part(part) => known.part(part.0.clone(), [0, 1].map(|place| decided(&part.1[place], number, finds))),
        Tail::Exit => return Way::default(),
        Tail::End(_) | Tail::Rest(_) => known.tail = way.tail.clone(),
    }
    known
}
