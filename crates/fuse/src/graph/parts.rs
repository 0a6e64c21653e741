//! The parts of nodes, and copies of nodes between graphs.

use rustc_hash::{FxHashMap, FxHashSet};

use mokume_reaction::Type;

use super::{Graph, Kind, Node};

impl Graph<'_> {
    /// The parts of a node, in order.
    pub fn parts(&self, node: Node) -> Vec<Node> {
        match *self.kind(node) {
            Kind::Constant(_)
            | Kind::Null
            | Kind::Entry(_)
            | Kind::Found(..)
            | Kind::Param(_)
            | Kind::Now
            | Kind::Unique(_)
            | Kind::Size(_)
            | Kind::Header(..)
            | Kind::Attribute(..) => Vec::new(),
            Kind::Parent(a)
            | Kind::Lives(a)
            | Kind::Get(a, _)
            | Kind::Armed(a, _)
            | Kind::Waiting(a, _)
            | Kind::Left(a, _)
            | Kind::Not(a)
            | Kind::Cast(a)
            | Kind::Load(_, _, a)
            | Kind::Fold(a) => vec![a],
            Kind::GetAt(a, _, b) | Kind::Holds(a, _, b) | Kind::Binary(_, a, b) | Kind::Compare(_, a, b) => vec![a, b],
            Kind::Sum(_, a, b) => vec![a, b],
            Kind::Select(a, b, c) => vec![a, b, c],
        }
    }

    /// Whether the predicate holds for the node, or for any of its parts.
    pub fn any(&self, node: Node, is: impl Fn(Node) -> bool) -> bool {
        let mut seen = FxHashSet::default();
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if !seen.insert(node) {
                continue;
            }
            if is(node) {
                return true;
            }
            open.extend(self.parts(node));
        }
        false
    }

    /// A node of another graph, made here from these parts.
    pub fn rebuild(&mut self, from: &Graph, node: Node, parts: &[Node]) -> Node {
        self.made_of(from.kind(node).clone(), from.ty(node), parts)
    }

    /// The node, made again by what is known now, but for parts that are at hand; `made`: nodes that were made again already.
    pub fn settled(&mut self, node: Node, at_hand: &impl Fn(Node) -> bool, made: &mut FxHashMap<Node, Node>) -> Node {
        if let Some(made) = made.get(&node) {
            return *made;
        }
        let (kind, ty) = (self.kind(node).clone(), self.ty(node));
        let settled = match self.known(node) {
            Some(value) => self.constant(ty, value),
            None if at_hand(node) => node,
            None => {
                let parts = self.parts(node);
                let settled: Vec<Node> = parts.iter().map(|part| self.settled(*part, at_hand, made)).collect();
                if parts == settled {
                    node
                } else {
                    self.made_of(kind, ty, &settled)
                }
            }
        };
        made.insert(node, settled);
        settled
    }

    /// A node of this kind and type, made of these parts.
    fn made_of(&mut self, kind: Kind, ty: Type, parts: &[Node]) -> Node {
        match (kind, parts) {
            (Kind::Constant(value), _) => self.constant(ty, value),
            (Kind::Binary(op, ..), [a, b]) => self.binary(op, *a, *b),
            (Kind::Compare(op, ..), [a, b]) => self.compare(op, *a, *b),
            (Kind::Not(_), [a]) => self.not(*a),
            (Kind::Cast(_), [a]) => self.cast(*a, ty),
            (Kind::Fold(_), [a]) => self.fold(*a),
            (Kind::Select(..), [c, a, b]) => self.select(*c, *a, *b),
            (Kind::Parent(_), [a]) => self.add(Kind::Parent(*a), ty),
            (Kind::Lives(_), [a]) => self.add(Kind::Lives(*a), ty),
            (Kind::Get(_, cell), [a]) => self.add(Kind::Get(*a, cell), ty),
            (Kind::Armed(_, cell), [a]) => self.add(Kind::Armed(*a, cell), ty),
            (Kind::Waiting(_, handler), [a]) => self.add(Kind::Waiting(*a, handler), ty),
            (Kind::Left(_, cell), [a]) => self.add(Kind::Left(*a, cell), ty),
            (Kind::Load(message, field, _), [a]) => self.add(Kind::Load(message, field, *a), ty),
            (Kind::GetAt(_, cell, _), [a, b]) => self.add(Kind::GetAt(*a, cell, *b), ty),
            (Kind::Holds(_, cell, _), [a, b]) => self.add(Kind::Holds(*a, cell, *b), ty),
            (Kind::Sum(message, ..), [a, b]) => self.add(Kind::Sum(message, *a, *b), ty),
            (kind, _) => self.add(kind, ty),
        }
    }

    /// A copy of a node of another graph; `made`: nodes that were copied already.
    pub fn copy(&mut self, from: &Graph, node: Node, made: &mut FxHashMap<Node, Node>) -> Node {
        if let Some(made) = made.get(&node) {
            return *made;
        }
        let parts: Vec<Node> = from.parts(node).into_iter().map(|part| self.copy(from, part, made)).collect();
        let copy = self.rebuild(from, node, &parts);
        made.insert(node, copy);
        copy
    }
}
