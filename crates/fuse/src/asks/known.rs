//! What is asked in vain: conditions that follow from others on the same way, and numbers that are known by another name.
//!
//! All that a way asks must hold, in whatever order it is asked. So each condition is worked out as if the others held: one that follows is
//! not asked; one that says that two numbers are one is used to speak of the one that is of state, since what is of state alone can be
//! remembered. What reads octets of which an earlier condition says that they are there stays behind it.

use std::rc::Rc;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use mokume_reaction::{Automaton, Binary, CellId, CellKind, Compare, Endian, OctetField, Type};

use crate::graph::{Graph, Kind, Node, U64};

use super::tree::{Ask, Tail, Tree, Way, What};

/// What is known of a way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fact {
    /// The condition holds, or does not.
    Truth(Node, bool),
    /// The two are one number.
    Same(Node, Node),
}

impl<'a> Tree<'a> {
    /// The tree without what is asked in vain.
    pub fn known(&mut self) {
        let mut way = std::mem::take(&mut self.way);
        self.simplify(&mut way, Vec::new());
        self.way = way;
    }

    fn simplify(&mut self, way: &mut Way, mut above: Vec<Fact>) {
        let mut below = Vec::new();
        self.sure(&way.tail, &mut below);
        below.retain(|fact| !self.asks_for_size(fact));
        let mut at = 0;
        while at < way.guards.len() {
            let What::If(condition) = way.guards[at].what else {
                at += 1;
                continue;
            };
            let wanted = way.guards[at].is_then;
            let mut facts = above.clone();
            way.guards[..at].iter().for_each(|ask| self.facts(ask, &mut facts));
            let (mut later, mut is_open) = (Vec::new(), true);
            for ask in &way.guards[at + 1..] {
                is_open &= !self.is_barrier(ask);
                if !is_open {
                    break;
                }
                self.facts(ask, &mut later);
            }
            later.retain(|fact| !self.asks_for_size(fact));
            facts.extend(later);
            if is_open {
                facts.extend(below.iter().copied());
            }
            let new = self.under(condition, &facts);
            match self.graph.known(new) {
                Some(value) if (value != 0) == wanted => {
                    way.guards.remove(at);
                    self.is_better = true;
                    continue;
                }
                Some(_) => {
                    *way = Way::default();
                    return;
                }
                None => {}
            }
            let mut parts = vec![(new, wanted)];
            self.apart(&mut parts);
            let ask = way.guards.remove(at);
            for (condition, is_then) in parts {
                let likely = ask.likely.map(|likely| if is_then == ask.is_then { likely } else { 1.0 - likely });
                way.guards.insert(at, Ask { what: What::If(condition), is_then, likely, ..ask.clone() });
                at += 1;
            }
        }
        way.guards.iter().for_each(|ask| self.facts(ask, &mut above));
        let Tail::Part(part) = &mut way.tail else { return };
        let (ask, ways) = &mut **part;
        if let What::If(condition) = ask.what {
            let new = self.under(condition, &above);
            if let Some(value) = self.graph.known(new) {
                let mut on = std::mem::take(&mut ways[usize::from(value == 0)]);
                self.is_better = true;
                self.simplify(&mut on, above);
                return way.go_on(on);
            }
            ask.what = What::If(new);
        }
        for (place, inner) in ways.iter_mut().enumerate() {
            let mut facts = above.clone();
            self.facts(&Ask { is_then: place == 0, ..ask.clone() }, &mut facts);
            self.simplify(inner, facts);
        }
        let (ask, ways) = (ask.clone(), std::mem::take(ways));
        way.part(ask, ways);
    }

    /// Both, or neither: each is a condition by itself.
    fn apart(&mut self, parts: &mut Vec<(Node, bool)>) {
        let mut at = 0;
        while let Some((condition, wanted)) = parts.get(at).copied() {
            if self.graph.ty(condition) != Type::Bool {
                at += 1;
                continue;
            }
            match (self.graph.kind(condition).clone(), wanted) {
                (Kind::Not(inner), _) => parts[at] = (inner, !wanted),
                (Kind::Binary(Binary::And, a, b), true) | (Kind::Binary(Binary::Or, a, b), false) => {
                    parts[at] = (a, wanted);
                    parts.insert(at + 1, (b, wanted));
                }
                _ => at += 1,
            }
        }
    }

    /// What holds on every way from here on.
    fn sure(&mut self, tail: &Tail, facts: &mut Vec<Fact>) {
        let Tail::Part(part) = tail else { return };
        if self.is_barrier(&part.0) {
            return;
        }
        match (self.sure_at(part, 0), self.sure_at(part, 1)) {
            (Some(a), Some(b)) => facts.extend(a.into_iter().filter(|fact| b.contains(fact))),
            (Some(one), None) | (None, Some(one)) => facts.extend(one),
            (None, None) => {}
        }
    }

    /// The same of one of two ways; none if it refuses.
    fn sure_at(&mut self, part: &(Ask, [Way; 2]), place: usize) -> Option<Vec<Fact>> {
        let way = &part.1[place];
        if way.refuses() {
            return None;
        }
        let mut facts = Vec::new();
        self.facts(&Ask { is_then: place == 0, ..part.0.clone() }, &mut facts);
        for ask in &way.guards {
            if self.is_barrier(ask) {
                return Some(facts);
            }
            self.facts(ask, &mut facts);
        }
        self.sure(&way.tail, &mut facts);
        Some(facts)
    }

    /// What is known where an answer is the one that the way takes.
    fn facts(&mut self, ask: &Ask, facts: &mut Vec<Fact>) {
        match &ask.what {
            What::If(condition) => facts.push(Fact::Truth(*condition, ask.is_then)),
            // What is found by its own cells has the key there (docs/automaton.md, `by`).
            What::Find { number, object, cell, key, found } if ask.is_then => {
                let Some((by, own)) = self.by(*object, *cell).zip(found.first()) else { return };
                let Some(own) = self.graph.node_of(&Kind::Found(*number, 0), *own) else { return };
                for (cell, key) in by.iter().zip(key) {
                    let cell = self.graph.add(Kind::Get(own, *cell), self.graph.ty(*key));
                    facts.push(Fact::Same(*key, cell));
                }
                if self.begins {
                    facts.push(Fact::Truth(self.graph.add(Kind::Lives(own), Type::Bool), true));
                }
            }
            What::Find { .. } | What::Peek { .. } => {}
        }
    }

    /// Whether what is asked may only be asked behind what comes before it: it reads at a place of which that says that it is there.
    pub fn is_barrier(&mut self, ask: &Ask) -> bool {
        match &ask.what {
            What::If(condition) => self.reads_there(*condition),
            What::Find { key, .. } => key.iter().any(|part| self.reads_there(*part)),
            What::Peek { .. } => true,
        }
    }

    fn reads_there(&mut self, node: Node) -> bool {
        if let Some(known) = self.barriers.get(&node) {
            return *known;
        }
        let own = match *self.graph.kind(node) {
            Kind::Load(..) => !self.end(node).is_some_and(|(message, end)| {
                Some(message) == self.least.0 && end.is_some_and(|end| end <= self.least.1)
            }),
            Kind::GetAt(..) | Kind::Holds(..) => true,
            Kind::Binary(Binary::Div | Binary::Rem, _, by) => self.graph.known(by).is_none_or(|by| by == 0),
            _ => false,
        };
        let is = own || self.graph.parts(node).into_iter().any(|part| self.reads_there(part));
        self.barriers.insert(node, is);
        is
    }

    /// Of octets that are read: of which message, and where they end, if that is known.
    pub fn end(&self, node: Node) -> Option<(u32, Option<u64>)> {
        let Kind::Load(message, field, at) = *self.graph.kind(node) else { return None };
        Some((message, self.graph.known(at).map(|at| at + u64::from(field.width / 8))))
    }

    fn asks_for_size(&mut self, fact: &Fact) -> bool {
        let Fact::Truth(condition, _) = fact else { return false };
        let read = self.read_by(*condition);
        read.iter().any(|node| matches!(self.graph.kind(*node), Kind::Size(_)))
    }

    /// The cells of what a map finds that are its key; none of other maps.
    pub fn by(&self, object: Node, cell: CellId) -> Option<&'a [CellId]> {
        let Type::Ref(class) = self.graph.ty(object) else { return None };
        match &self.automaton.cell(class, cell).kind {
            CellKind::Map { by, .. } if !by.is_empty() => Some(by),
            _ => None,
        }
    }

    /// The condition, as it is where all this is known: that is, what speaks of the same.
    fn under(&mut self, condition: Node, facts: &[Fact]) -> Node {
        let mut there = There::new(self.automaton);
        let facts = self.about(condition, facts);
        if facts.is_empty() {
            return condition;
        }
        facts.iter().for_each(|fact| there.learn(&self.graph, *fact));
        let new = there.of(&self.graph, condition);
        self.graph.copy(&there.graph, new, &mut HashMap::default())
    }
}

/// Facts that are looked at for one condition.
const MOST_FACTS: usize = 32;

impl<'a> Tree<'a> {
    /// The facts that speak of what a condition is of, or of what such facts speak of: the nearest, if there are many.
    fn about(&mut self, condition: Node, facts: &[Fact]) -> Vec<Fact> {
        let mut of: HashSet<Node> = self.read_by(condition).iter().copied().collect();
        let mut octets = self.octets_in(&of);
        let mut chosen = vec![false; facts.len()];
        // Those of the same first, then those of what these speak of; other names first of all: they are few, and each may be what counts.
        let mut kept: Vec<Fact> = Vec::new();
        for _ in 0..2 {
            let mut more = Vec::new();
            for (at, fact) in facts.iter().enumerate().filter(|(at, _)| !chosen[*at]).collect::<Vec<_>>() {
                let (a, b) = match fact {
                    Fact::Truth(condition, _) => (self.read_by(*condition), None),
                    Fact::Same(a, b) => (self.read_by(*a), Some(self.read_by(*b))),
                };
                let own = || a.iter().chain(b.iter().flat_map(|read| read.iter()));
                let is_of = |node: &Node| {
                    let is_there = |read: (u32, u64, u64)| {
                        octets.iter().any(|(message, from, end)| *message == read.0 && *from < read.2 && read.1 < *end)
                    };
                    of.contains(node) || self.octets_at(*node).is_some_and(is_there)
                };
                if own().any(is_of) {
                    chosen[at] = true;
                    more.extend(own().copied());
                    let is_name = matches!(fact, Fact::Same(..));
                    kept.insert(if is_name { 0 } else { kept.len() }, *fact);
                }
            }
            of.extend(more.into_iter().filter(|node| !matches!(self.graph.kind(*node), Kind::Size(_))));
            octets = self.octets_in(&of);
        }
        kept.truncate(MOST_FACTS);
        kept
    }

    /// The octets of messages that these nodes read: message, first, end.
    fn octets_in(&self, nodes: &HashSet<Node>) -> Vec<(u32, u64, u64)> {
        nodes.iter().filter_map(|node| self.octets_at(*node)).collect()
    }

    fn octets_at(&self, node: Node) -> Option<(u32, u64, u64)> {
        let Kind::Load(message, field, at) = *self.graph.kind(node) else { return None };
        self.graph.known(at).map(|at| (message, at, at + u64::from(field.width / 8)))
    }

    /// What a node reads: of a message, of state.
    pub fn read_by(&mut self, node: Node) -> Rc<[Node]> {
        if let Some(read) = self.read.get(&node) {
            return Rc::clone(read);
        }
        let mut read = match self.graph.kind(node) {
            Kind::Constant(_) | Kind::Null | Kind::Unique(_) => Vec::new(),
            Kind::Load(..)
            | Kind::Get(..)
            | Kind::GetAt(..)
            | Kind::Holds(..)
            | Kind::Left(..)
            | Kind::Armed(..)
            | Kind::Lives(..)
            | Kind::Parent(..) => vec![node],
            _ if self.graph.parts(node).is_empty() => vec![node],
            _ => Vec::new(),
        };
        for part in self.graph.parts(node) {
            read.extend_from_slice(&self.read_by(part));
        }
        read.sort_unstable();
        read.dedup();
        let read: Rc<[Node]> = read.into();
        self.read.insert(node, Rc::clone(&read));
        read
    }
}

/// Nodes as they are where something is known.
struct There<'a> {
    graph: Graph<'a>,
    /// Of the nodes elsewhere; what is not here is not worked out yet.
    made: HashMap<Node, Node>,
    /// Numbers by another name, here.
    same: HashMap<Node, Node>,
    /// Octets of messages by another name: message, place, width.
    octets: Vec<(u32, u64, u8, Node)>,
}

impl<'a> There<'a> {
    fn new(automaton: &'a Automaton) -> Self {
        There { graph: Graph::new(automaton), made: HashMap::default(), same: HashMap::default(), octets: Vec::new() }
    }

    fn learn(&mut self, from: &Graph, fact: Fact) {
        match fact {
            Fact::Truth(condition, holds) => {
                let condition = self.of(from, condition);
                if self.graph.known(condition).is_some() {
                    return;
                }
                self.graph.learn(condition, holds);
                self.say_same(condition, holds);
            }
            Fact::Same(a, b) => {
                let (a, b) = (self.of(from, a), self.of(from, b));
                self.say(a, b);
            }
        }
        // What was worked out before may be known by now.
        self.made.clear();
    }

    fn say_same(&mut self, condition: Node, holds: bool) {
        match (self.graph.kind(condition).clone(), holds) {
            (Kind::Not(inner), _) => self.say_same(inner, !holds),
            (Kind::Binary(Binary::And, a, b), true) | (Kind::Binary(Binary::Or, a, b), false) => {
                self.say_same(a, holds);
                self.say_same(b, holds);
            }
            (Kind::Compare(Compare::Eq, a, b), true) => self.say(a, b),
            _ => {}
        }
    }

    /// The two are one: the one that moves is spoken of as the other.
    fn say(&mut self, a: Node, b: Node) {
        if a == b || self.graph.ty(a) != self.graph.ty(b) {
            return;
        }
        let (moving, still) = match (self.moves(a), self.moves(b)) {
            (false, true) => (b, a),
            (true, false) => (a, b),
            _ => match (self.graph.known(a), self.graph.known(b)) {
                (None, Some(_)) => (a, b),
                (Some(_), None) => (b, a),
                _ => return,
            },
        };
        if let Kind::Load(message, field, at) = *self.graph.kind(moving) {
            if let (Some(at), Endian::Big) = (self.graph.known(at), field.endian) {
                self.octets.push((message, at, field.width, still));
            }
        }
        self.same.insert(moving, still);
    }

    /// Whether it is of more than state.
    fn moves(&self, node: Node) -> bool {
        self.graph.any(node, |node| {
            matches!(
                self.graph.kind(node),
                Kind::Load(..) | Kind::Size(_) | Kind::Sum(..) | Kind::Header(..) | Kind::Attribute(..) | Kind::Now
            )
        })
    }

    /// A node of another graph, as it is here.
    fn of(&mut self, from: &Graph, node: Node) -> Node {
        if let Some(made) = self.made.get(&node) {
            return *made;
        }
        let parts: Vec<Node> = from.parts(node).into_iter().map(|part| self.of(from, part)).collect();
        let made = self.graph.rebuild(from, node, &parts);
        let made = self.by_name(made);
        self.made.insert(node, made);
        made
    }

    /// The name by which a number is spoken of here.
    fn by_name(&mut self, node: Node) -> Node {
        if let Some(same) = self.same.get(&node) {
            return *same;
        }
        let Kind::Load(message, field, at) = *self.graph.kind(node) else { return node };
        let Some(at) = self.graph.known(at) else { return node };
        if field.endian != Endian::Big {
            return node;
        }
        let end = at + u64::from(field.width / 8);
        let whole = self
            .octets
            .iter()
            .find(|(of, from, width, _)| *of == message && *from <= at && end <= *from + u64::from(*width / 8));
        let Some((_, from, width, known)) = whole.copied() else { return node };
        let behind = 8 * (from + u64::from(width / 8) - end);
        self.part(known, behind, field)
    }

    /// Bits of a number: those from so many on, as octets of this field have them.
    fn part(&mut self, number: Node, behind: u64, field: OctetField) -> Node {
        let ty = self.graph.ty(number);
        let number = if matches!(ty, Type::U(_)) { number } else { self.graph.cast(number, U64) };
        let ty = self.graph.ty(number);
        let by = self.graph.constant(ty, behind);
        let part = self.graph.binary(Binary::Shr, number, by);
        self.graph.cast(part, field.ty())
    }
}
