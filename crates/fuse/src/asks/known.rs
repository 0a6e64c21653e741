//! Removes redundant questions: conditions that follow from others on the same way. Also replaces numbers by equal
//! ones.
//!
//! All conditions of a way must hold, whatever their order. So each condition is simplified as if the others held. One
//! that follows is not asked. One that says that two numbers are equal is used to replace a number by the one that
//! depends on state only, since answers about state alone can be remembered. A read of octets whose existence an
//! earlier condition checks stays after that condition.

use std::rc::Rc;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use mokume_reaction::{Automaton, Binary, CellId, CellKind, Compare, Endian, OctetField, Type};

use crate::graph::{Graph, Kind, Node, U64};

use super::tree::{Ask, Tail, Tree, Way, What};

/// A fact that is known on a way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Fact {
    /// The condition holds, or does not.
    Truth(Node, bool),
    /// The two numbers are equal.
    Same(Node, Node),
}

impl<'a> Tree<'a> {
    /// Removes redundant questions from the tree.
    pub fn known(&mut self) {
        let mut way = std::mem::take(&mut self.way);
        self.simplify(&mut way, Vec::new());
        // What was put in other words may imply questions before it.
        if std::mem::take(&mut self.is_reworded) {
            self.simplify(&mut way, Vec::new());
        }
        self.way = way;
    }

    fn simplify(&mut self, way: &mut Way, above: Vec<Fact>) {
        self.on(way, |tree, way| tree.simplify_here(way, above));
    }

    fn simplify_here(&mut self, way: &mut Way, mut above: Vec<Fact>) {
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
            if is_open {
                later.extend(below.iter().copied());
            }
            // What is read later may be there only because the message is as long as is asked here.
            if self.asks_for_size(&Fact::Truth(condition, wanted)) {
                later.retain(|fact| !self.reads_octets(fact));
            }
            facts.extend(later);
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

    /// Splits "both" and "neither": each part is a condition of its own.
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

    /// The facts that hold on every way from here on.
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

    /// The facts that hold on one of two ways; `None` if it refuses.
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

    /// The facts that follow from the answer that the way takes.
    fn facts(&mut self, ask: &Ask, facts: &mut Vec<Fact>) {
        match &ask.what {
            What::If(condition) => facts.push(Fact::Truth(*condition, ask.is_then)),
            // An object that is found by its own cells has the key there (docs/automaton.md, `by`).
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

    /// Whether the question must stay after those before it: it reads at a place that they show to exist.
    pub fn is_barrier(&mut self, ask: &Ask) -> bool {
        match &ask.what {
            What::If(condition) => self.reads_there(*condition),
            What::Find { key, .. } => key.iter().any(|part| self.reads_there(*part)),
            What::Peek { .. } => true,
        }
    }

    fn reads_there(&mut self, node: Node) -> bool {
        if let Some(known) = self.barriers.get(&(node, self.least.1)) {
            return *known;
        }
        let own = match *self.graph.kind(node) {
            Kind::Load(..) => !self.end(node).is_some_and(|(message, end)| {
                Some(message) == self.least.0 && end.is_some_and(|end| end <= self.least.1)
            }),
            Kind::GetAt(object, cell, index) | Kind::Holds(object, cell, index) => !self.is_within(object, cell, index),
            Kind::Binary(Binary::Div | Binary::Rem, _, by) => self.graph.known(by).is_none_or(|by| by == 0),
            _ => false,
        };
        let is = own || self.graph.parts(node).into_iter().any(|part| self.reads_there(part));
        self.barriers.insert((node, self.least.1), is);
        is
    }

    /// Whether an index is always one of the cell's places.
    fn is_within(&self, object: Node, cell: CellId, index: Node) -> bool {
        let Type::Ref(class) = self.graph.ty(object) else { return false };
        match self.automaton.cell(class, cell).kind {
            CellKind::Array { size, .. } | CellKind::Messages { size, .. } => {
                self.graph.span(index).1 < u64::from(size)
            }
            _ => false,
        }
    }

    /// For a read of octets: the message, and the end of the octets, if that is known.
    pub fn end(&self, node: Node) -> Option<(u32, Option<u64>)> {
        let Kind::Load(message, field, at) = *self.graph.kind(node) else { return None };
        Some((message, self.graph.known(at).map(|at| at + u64::from(field.width / 8))))
    }

    fn asks_for_size(&mut self, fact: &Fact) -> bool {
        let Fact::Truth(condition, _) = fact else { return false };
        let read = self.read_by(*condition);
        read.iter().any(|node| matches!(self.graph.kind(*node), Kind::Size(_)))
    }

    fn reads_octets(&mut self, fact: &Fact) -> bool {
        let parts = match fact {
            Fact::Truth(condition, _) => [*condition; 2],
            Fact::Same(a, b) => [*a, *b],
        };
        parts.iter().any(|part| self.read_by(*part).iter().any(|node| matches!(self.graph.kind(*node), Kind::Load(..))))
    }

    /// The cells by which a map finds objects; `None` for other maps.
    pub fn by(&self, object: Node, cell: CellId) -> Option<&'a [CellId]> {
        let Type::Ref(class) = self.graph.ty(object) else { return None };
        match &self.automaton.cell(class, cell).kind {
            CellKind::Map { by, .. } if !by.is_empty() => Some(by),
            _ => None,
        }
    }

    /// The condition, simplified by the facts that concern it.
    fn under(&mut self, condition: Node, facts: &[Fact]) -> Node {
        let asked = (condition, self.about(condition, facts));
        if asked.1.is_empty() {
            return condition;
        }
        let known = self.simpler.get(&asked).copied();
        let new = known.unwrap_or_else(|| {
            let mut there = There::new(self.automaton);
            asked.1.iter().for_each(|fact| there.learn(&self.graph, *fact));
            there.learn_again();
            let new = there.of(&self.graph, condition);
            let new = self.graph.copy(&there.graph, new, &mut HashMap::default());
            self.simpler.insert(asked, new);
            new
        });
        self.is_reworded |= new != condition && self.graph.known(new).is_none();
        new
    }
}

/// The most facts that are used for one condition.
const MOST_FACTS: usize = 32;

impl<'a> Tree<'a> {
    /// The facts about what a condition reads, or about what such facts read; the nearest, if there are many.
    fn about(&mut self, condition: Node, facts: &[Fact]) -> Vec<Fact> {
        let mut of: HashSet<Node> = self.read_by(condition).iter().copied().collect();
        let mut octets = self.octets_in(&of);
        let mut chosen = vec![false; facts.len()];
        // Facts about the same octets and state first, then facts about what those read. Equalities come first of all:
        // they are few, and each may matter.
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

    /// What a node reads of messages and of state.
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
            | Kind::Waiting(..)
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

/// Nodes under known facts.
struct There<'a> {
    graph: Graph<'a>,
    /// The nodes here, by the nodes elsewhere; missing ones are not made yet.
    made: HashMap<Node, Node>,
    /// Replacements of numbers here.
    same: HashMap<Node, Node>,
    /// Replacements of octets of messages: message, place, width.
    octets: Vec<(u32, u64, u8, Node)>,
    /// What was learnt, and whether it holds.
    learnt: Vec<(Node, bool)>,
}

impl<'a> There<'a> {
    fn new(automaton: &'a Automaton) -> Self {
        let mut graph = Graph::new(automaton);
        graph.adds_over = true;
        There { graph, made: HashMap::default(), same: HashMap::default(), octets: Vec::new(), learnt: Vec::new() }
    }

    /// Each fact may say more now that the others are known.
    fn learn_again(&mut self) {
        if self.learnt.len() > 1 {
            self.learnt.iter().for_each(|(condition, holds)| self.graph.learn(*condition, *holds));
            self.made.clear();
        }
    }

    fn learn(&mut self, from: &Graph, fact: Fact) {
        match fact {
            Fact::Truth(condition, holds) => {
                let condition = self.of(from, condition);
                if self.graph.known(condition).is_some() {
                    return;
                }
                self.graph.learn(condition, holds);
                self.learnt.push((condition, holds));
                self.say_same(condition, holds);
            }
            Fact::Same(a, b) => {
                let (a, b) = (self.of(from, a), self.of(from, b));
                self.say(a, b);
            }
        }
        // What was made before may be known by now.
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

    /// The two are equal: the one that changes with messages is replaced by the other.
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

    /// Whether it depends on more than state.
    fn moves(&self, node: Node) -> bool {
        self.graph.any(node, |node| {
            matches!(
                self.graph.kind(node),
                Kind::Load(..) | Kind::Size(_) | Kind::Sum(..) | Kind::Header(..) | Kind::Attribute(..) | Kind::Now
            )
        })
    }

    /// A node of another graph, made here.
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

    /// The number, or its replacement here.
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

    /// Bits of a number from `behind` on, as many as the field has.
    fn part(&mut self, number: Node, behind: u64, field: OctetField) -> Node {
        let ty = self.graph.ty(number);
        let number = if matches!(ty, Type::U(_)) { number } else { self.graph.cast(number, U64) };
        let ty = self.graph.ty(number);
        let by = self.graph.constant(ty, behind);
        let part = self.graph.binary(Binary::Shr, number, by);
        self.graph.cast(part, field.ty())
    }
}
