//! The computations of a path as a graph: each value once, folded as far as it is known.
//!
//! It must keep: a node means what the operation means, wherever the path reaches it.

mod learnt;
mod parts;

use mokume_interpret::mask;
use mokume_reaction::{AttributeId, Automaton, Binary, CellId, ClassId, Compare, HandlerId, OctetField, ParamId, Type};
use rustc_hash::FxHashMap;

use crate::compared::{apart, turned};

/// A value of a path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Node(pub u32);

/// The kind of a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    Constant(u64),
    Null,
    /// A parameter of the path.
    Entry(u32),
    /// A result of the path's look-up with this number.
    Found(u32, u32),
    Param(ParamId),
    Now,
    Unique(ClassId),
    Parent(Node),
    Lives(Node),
    Get(Node, CellId),
    GetAt(Node, CellId, Node),
    Armed(Node, CellId),
    /// How many events of a handler wait; the object is for naming the queue only.
    Waiting(Node, HandlerId),
    Left(Node, CellId),
    Holds(Node, CellId, Node),
    Binary(Binary, Node, Node),
    Compare(Compare, Node, Node),
    Not(Node),
    Select(Node, Node, Node),
    Cast(Node),
    /// The size of a message as it was given; the number is its parameter.
    Size(u32),
    Load(u32, OctetField, Node),
    /// A field of its top header; then an attribute.
    Header(u32, u32),
    Attribute(u32, AttributeId),
    Sum(u32, Node, Node),
    Fold(Node),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Info {
    kind: Kind,
    ty: Type,
}

/// The nodes of one path, and what is known on it.
pub struct Graph<'a> {
    pub automaton: &'a Automaton,
    nodes: Vec<Info>,
    /// The range of each node, regardless of other knowledge.
    spans: Vec<(u64, u64)>,
    numbers: FxHashMap<Info, Node>,
    /// Ranges that the path's guards imply.
    narrowed: FxHashMap<Node, (u64, u64)>,
    /// Whether comparisons with a number less a constant become such with a sum, so that each implies more of the others.
    pub adds_over: bool,
}

pub const U16: Type = Type::U(16);
pub const U32: Type = Type::U(32);
pub const U64: Type = Type::U(64);

impl<'a> Graph<'a> {
    /// An empty graph.
    pub fn new(automaton: &'a Automaton) -> Self {
        Graph {
            automaton,
            nodes: Vec::new(),
            spans: Vec::new(),
            numbers: FxHashMap::default(),
            narrowed: FxHashMap::default(),
            adds_over: false,
        }
    }

    /// The number of nodes.
    pub fn len(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// The kind of a node.
    pub fn kind(&self, node: Node) -> &Kind {
        &self.nodes[node.0 as usize].kind
    }

    /// The type of a node.
    pub fn ty(&self, node: Node) -> Type {
        self.nodes[node.0 as usize].ty
    }

    /// The least and the largest value that it has on the path.
    pub fn span(&self, node: Node) -> (u64, u64) {
        let (least, most) = self.span_as_known(node);
        match self.adds_over.then(|| self.span_of_parts(node)).flatten() {
            // What was learnt of its parts later may say more.
            Some((low, high)) => (least.max(low), most.min(high)),
            None => (least, most),
        }
    }

    /// The range of a sum with a constant that does not wrap around, and of a widened number, by what is known of the other number.
    fn span_of_parts(&self, node: Node) -> Option<(u64, u64)> {
        match *self.kind(node) {
            Kind::Cast(inner) if matches!(self.ty(inner), Type::U(_)) && self.widens(inner, node) => {
                Some(self.span(inner))
            }
            Kind::Binary(Binary::AddWrap, x, c) => {
                let Kind::Constant(c) = *self.kind(c) else { return None };
                let (least, most) = self.span(x);
                let most = most.checked_add(c).filter(|most| *most <= self.mask(self.ty(node)))?;
                Some((least + c, most))
            }
            _ => None,
        }
    }

    fn span_as_known(&self, node: Node) -> (u64, u64) {
        if let Some(span) = self.narrowed.get(&node) {
            return *span;
        }
        match *self.kind(node) {
            // Uses what is known of the number that was widened.
            Kind::Cast(inner) if matches!(self.ty(inner), Type::U(_)) && self.widens(inner, node) => self.span(inner),
            // As is known by now, nothing is cut off.
            Kind::Cast(inner) if matches!((self.ty(inner), self.ty(node)), (Type::U(_), Type::U(_))) => {
                let (least, most) = self.span(inner);
                if most <= self.mask(self.ty(node)) {
                    (least, most)
                } else {
                    self.spans[node.0 as usize]
                }
            }
            Kind::Not(inner) if self.ty(inner) == Type::Bool => {
                let (least, most) = self.span(inner);
                (1 - most, 1 - least)
            }
            _ => self.spans[node.0 as usize],
        }
    }

    /// Its value, if there is only one.
    pub fn known(&self, node: Node) -> Option<u64> {
        match self.kind(node) {
            Kind::Constant(value) => Some(*value),
            _ if matches!(self.ty(node), Type::Ref(_) | Type::Msg | Type::Array(..)) => None,
            _ => {
                let (least, most) = self.span(node);
                (least == most).then_some(least)
            }
        }
    }

    /// A constant of a type.
    pub fn constant(&mut self, ty: Type, value: u64) -> Node {
        self.add(Kind::Constant(value & self.mask(ty)), ty)
    }

    /// True or false.
    pub fn truth(&mut self, value: bool) -> Node {
        self.constant(Type::Bool, u64::from(value))
    }

    fn mask(&self, ty: Type) -> u64 {
        mask(ty.width(self.automaton))
    }

    /// The node of this kind; a constant if only one value is possible.
    pub fn add(&mut self, kind: Kind, ty: Type) -> Node {
        let node = self.number(kind, ty);
        match (self.kind(node), self.known(node)) {
            (Kind::Constant(_), _) | (_, None) => node,
            (_, Some(value)) => self.constant(ty, value),
        }
    }

    /// The node of this kind itself, whatever is known of it.
    fn number(&mut self, kind: Kind, ty: Type) -> Node {
        let info = Info { kind, ty };
        match self.numbers.get(&info) {
            Some(node) => *node,
            None => {
                let span = self.span_of(&info);
                self.nodes.push(info.clone());
                self.spans.push(span);
                let node = Node(self.nodes.len() as u32 - 1);
                self.numbers.insert(info, node);
                node
            }
        }
    }

    /// The same, if the node exists.
    pub fn node_of(&self, kind: &Kind, ty: Type) -> Option<Node> {
        self.numbers.get(&Info { kind: kind.clone(), ty }).copied()
    }

    fn span_of(&self, info: &Info) -> (u64, u64) {
        let all = (0, self.mask(info.ty));
        match &info.kind {
            Kind::Constant(value) => (*value, *value),
            // No message is longer.
            Kind::Size(_) => (0, u64::from(u32::MAX >> 1)),
            Kind::Cast(a) => {
                let (least, most) = self.span(*a);
                if most <= all.1 {
                    (least, most)
                } else {
                    all
                }
            }
            Kind::Select(_, a, b) if !matches!(info.ty, Type::Ref(_)) => {
                let (a, b) = (self.span(*a), self.span(*b));
                (a.0.min(b.0), a.1.max(b.1))
            }
            Kind::Load(_, field, _) => (0, mask(field.width)),
            Kind::Not(a) if matches!(info.ty, Type::U(_)) => {
                let (least, most) = self.span(*a);
                (all.1 - most, all.1 - least)
            }
            Kind::Sum(_, _, size) => (0, (self.span(*size).1.div_ceil(2)).saturating_mul(0xffff).min(all.1)),
            Kind::Binary(op, a, b) if matches!(info.ty, Type::U(_)) => self.span_of_binary(*op, *a, *b, all.1),
            _ => all,
        }
    }

    fn span_of_binary(&self, op: Binary, a: Node, b: Node, mask: u64) -> (u64, u64) {
        let ((a0, a1), (b0, b1)) = (self.span(a), self.span(b));
        let all = (0, mask);
        let fits = |least: Option<u64>, most: Option<u64>| match (least, most) {
            (Some(least), Some(most)) if most <= mask => (least, most),
            _ => all,
        };
        match op {
            Binary::SubWrap if self.is_part_of_sum(a, b) => (0, a1),
            Binary::Add | Binary::AddWrap => fits(a0.checked_add(b0), a1.checked_add(b1)),
            Binary::Sub | Binary::SubWrap => fits(a0.checked_sub(b1), a1.checked_sub(b0)),
            Binary::Mul | Binary::MulWrap => fits(a0.checked_mul(b0), a1.checked_mul(b1)),
            Binary::Div if b0 > 0 => (a0 / b1, a1 / b0),
            Binary::Rem if b0 > 0 => (0, a1.min(b1 - 1)),
            Binary::And => (0, a1.min(b1)),
            Binary::Or | Binary::Xor => {
                let bits = 64 - (a1 | b1).leading_zeros();
                (0, self::mask(bits.min(64) as u8) & if bits == 0 { 0 } else { u64::MAX })
            }
            Binary::Shr if b0 == b1 && b0 < 64 => (a0 >> b0, a1 >> b0),
            Binary::Shl if b0 == b1 && b0 < 64 && a1 <= mask >> b0 => (a0 << b0, a1 << b0),
            Binary::Min => (a0.min(b0), a1.min(b1)),
            Binary::Max => (a0.max(b0), a1.max(b1)),
            _ => all,
        }
    }

    /// Whether `a >= b` for all values.
    pub fn is_at_least(&self, a: Node, b: Node) -> bool {
        if a == b {
            return true;
        }
        match (self.kind(a), self.kind(b)) {
            (_, Kind::Binary(Binary::Min, x, y)) if [*x, *y].contains(&a) => true,
            (Kind::Binary(Binary::Max, x, y), _) if [*x, *y].contains(&b) => true,
            (Kind::Cast(x), Kind::Cast(y)) => {
                let is_same = self.ty(*x) == self.ty(*y) && matches!(self.ty(*x), Type::U(_));
                is_same && self.widens(*x, a) && self.is_at_least(*x, *y)
            }
            _ => false,
        }
    }

    /// Whether `a` is a sum of octets that contains the number `b`.
    fn is_part_of_sum(&self, a: Node, b: Node) -> bool {
        let Kind::Sum(message, from, size) = *self.kind(a) else { return false };
        let inner = if let Kind::Cast(inner) = *self.kind(b) { inner } else { b };
        let Kind::Load(other, field, at) = *self.kind(inner) else { return false };
        let is_number = field.width == 16 && field.endian == mokume_reaction::Endian::Big && message == other;
        let (Some(from), Some(at)) = (self.known(from), self.known(at)) else { return false };
        is_number && at >= from && (at - from).is_multiple_of(2) && self.span(size).0 >= at - from + 2
    }

    /// `a - b`, if `b` was taken from `a` or from a part of it: the rest.
    fn without_less(&mut self, a: Node, b: Node, depth: u32) -> Option<Node> {
        match *self.kind(a) {
            Kind::Binary(Binary::SubWrap, x, y) if y == b => Some(x),
            Kind::Binary(Binary::AddWrap, x, y) if depth > 0 => {
                if let Some(x) = self.without_less(x, b, depth - 1) {
                    return Some(self.binary(Binary::AddWrap, x, y));
                }
                let y = self.without_less(y, b, depth - 1)?;
                Some(self.binary(Binary::AddWrap, x, y))
            }
            _ => None,
        }
    }

    // -- operations

    /// Arithmetic that reports nothing; the caller has checked that.
    pub fn binary(&mut self, op: Binary, a: Node, b: Node) -> Node {
        let ty = self.ty(a);
        let op = match op {
            Binary::Add => Binary::AddWrap,
            Binary::Sub => Binary::SubWrap,
            Binary::Mul => Binary::MulWrap,
            other => other,
        };
        if let (Some(a), Some(b)) = (self.known(a), self.known(b)) {
            // Where it would report there is no path; that was asked before.
            let (value, _) = mokume_interpret::binary(op, ty, ty.width(self.automaton), a, b);
            return self.constant(ty, value);
        }
        let (a, b) = match (self.commutes(op, ty), self.known(a)) {
            (true, Some(_)) => (b, a),
            _ => (a, b),
        };
        let all = self.mask(ty);
        if matches!(op, Binary::Min | Binary::Max) && matches!(ty, Type::U(_)) {
            let ((a0, a1), (b0, b1)) = (self.span(a), self.span(b));
            match (op, a1 <= b0, b1 <= a0) {
                (Binary::Min, true, _) | (Binary::Max, _, true) => return a,
                (Binary::Min, _, true) | (Binary::Max, true, _) => return b,
                _ => {}
            }
        }
        // Bits of a choice between two constants.
        let is_bits = matches!(op, Binary::And | Binary::Or | Binary::Shl | Binary::Shr);
        if let (Some((c, x, y)), Some(_), true) = (self.choice(a), self.known(b), is_bits) {
            let (x, y) = (self.binary(op, x, b), self.binary(op, y, b));
            return self.select(c, x, y);
        }
        match (op, self.known(b)) {
            (Binary::AddWrap | Binary::SubWrap | Binary::Or | Binary::Xor | Binary::Shl | Binary::Shr, Some(0)) => {
                return a
            }
            (Binary::MulWrap | Binary::Div, Some(1)) => return a,
            (Binary::MulWrap | Binary::And, Some(0)) => return self.constant(ty, 0),
            (Binary::And, Some(found)) if found == all => return a,
            (Binary::Or, Some(found)) if found == all => return self.constant(ty, all),
            // `(x + c) + d` is `x + (c + d)`.
            (Binary::AddWrap, Some(d)) => {
                if let Kind::Binary(Binary::AddWrap, x, c) = *self.kind(a) {
                    if let Some(c) = self.known(c) {
                        let sum = self.constant(ty, c.wrapping_add(d));
                        return self.binary(Binary::AddWrap, x, sum);
                    }
                }
            }
            // `(x + c) - d` where `d <= c`; `(x - c) - d`.
            (Binary::SubWrap, Some(d)) => match *self.kind(a) {
                Kind::Binary(Binary::AddWrap, x, c) => {
                    if let Some(c) = self.known(c).filter(|c| *c >= d) {
                        let rest = self.constant(ty, c - d);
                        return self.binary(Binary::AddWrap, x, rest);
                    }
                }
                Kind::Binary(Binary::SubWrap, x, c) => {
                    if let Some(c) = self.known(c) {
                        let sum = self.constant(ty, c.wrapping_add(d));
                        return self.binary(Binary::SubWrap, x, sum);
                    }
                }
                _ => {}
            },
            _ => {}
        }
        // `x + (y + c)` is `(x + y) + c`.
        if let (Binary::AddWrap, &Kind::Binary(Binary::AddWrap, y, c)) = (op, self.kind(b)) {
            if self.known(c).is_some() {
                let sum = self.binary(Binary::AddWrap, a, y);
                return self.binary(Binary::AddWrap, sum, c);
            }
        }
        // `(x + c) % d`, where `c` is a multiple of `d`.
        if let (Binary::Rem, &Kind::Binary(Binary::AddWrap, x, c), Some(d)) = (op, self.kind(a), self.known(b)) {
            let is_whole = |c: &u64| {
                d > 0 && c.is_multiple_of(d) && self.span(x).1.checked_add(*c).is_some_and(|most| most <= all)
            };
            if self.known(c).filter(is_whole).is_some() {
                return self.binary(Binary::Rem, x, b);
            }
        }
        if op == Binary::AddWrap {
            if let Some(sum) = self.without_less(a, b, 8).or_else(|| self.without_less(b, a, 8)) {
                return sum;
            }
        }
        // `max(x, max(x, y))` is `max(x, y)`; the same for the minimum.
        if matches!((op, ty), (Binary::Max | Binary::Min, Type::U(_))) {
            for (one, all) in [(a, b), (b, a)] {
                if matches!(*self.kind(all), Kind::Binary(what, x, y) if what == op && [x, y].contains(&one)) {
                    return all;
                }
            }
        }
        match (op, self.kind(a), self.kind(b)) {
            // `a - (a - y)`
            (Binary::SubWrap, _, &Kind::Binary(Binary::SubWrap, x, y)) if x == a => return y,
            (Binary::Or, Kind::Not(x), _) if *x == b && ty == Type::Bool => return self.truth(true),
            (Binary::Or, _, Kind::Not(y)) if *y == a && ty == Type::Bool => return self.truth(true),
            (Binary::And, Kind::Not(x), _) if *x == b && ty == Type::Bool => return self.truth(false),
            (Binary::And, _, Kind::Not(y)) if *y == a && ty == Type::Bool => return self.truth(false),
            _ => {}
        }
        if a == b {
            match op {
                Binary::SubWrap | Binary::Xor => return self.constant(ty, 0),
                Binary::And | Binary::Or | Binary::Min | Binary::Max => return a,
                _ => {}
            }
        }
        self.add(Kind::Binary(op, a, b), ty)
    }

    /// Of two numbers half the circle apart, `min` and `max` tell which is first.
    fn commutes(&self, op: Binary, ty: Type) -> bool {
        match op {
            Binary::AddWrap | Binary::MulWrap | Binary::And | Binary::Or | Binary::Xor => true,
            Binary::Min | Binary::Max => !matches!(ty, Type::Seq(_)),
            _ => false,
        }
    }

    /// A comparison, simplified by what is known.
    pub fn compare(&mut self, op: Compare, a: Node, b: Node) -> Node {
        let ty = self.ty(a);
        if let (Some(a), Some(b)) = (self.known(a), self.known(b)) {
            return self.truth(mokume_interpret::compare(op, ty, a, b));
        }
        if a == b {
            return self.truth(matches!(op, Compare::Eq | Compare::Le | Compare::Ge));
        }
        let (a, b, op) =
            if self.known(a).is_some() || (*self.kind(a) == Kind::Null) { (b, a, turned(op)) } else { (a, b, op) };
        if matches!(ty, Type::U(_) | Type::Bool | Type::Enum(_)) {
            if let Some(value) = apart(op, self.span(a), self.span(b)) {
                return self.truth(value);
            }
            match op {
                Compare::Ge if self.is_at_least(a, b) => return self.truth(true),
                Compare::Le if self.is_at_least(b, a) => return self.truth(true),
                Compare::Lt if self.is_at_least(a, b) => return self.truth(false),
                Compare::Gt if self.is_at_least(b, a) => return self.truth(false),
                _ => {}
            }
        }
        // A choice between two constants becomes a condition.
        if let (Some((c, x, y)), Some(_)) = (self.choice(a), self.known(b)) {
            let (x, y) = (self.compare(op, x, b), self.compare(op, y, b));
            return self.select(c, x, y);
        }
        // A comparison of a product becomes one of its factor, if nothing wraps around.
        if let (Kind::Binary(Binary::MulWrap, x, times), Compare::Eq | Compare::Ne, Some(value), Type::U(_)) =
            (self.kind(a).clone(), op, self.known(b), ty)
        {
            let times = self.known(times).filter(|times| *times > 0 && value.is_multiple_of(*times));
            let all = self.mask(ty);
            let fits = |times: &u64| self.span(x).1.checked_mul(*times).is_some_and(|most| most <= all);
            if let Some(times) = times.filter(fits) {
                let value = self.constant(ty, value / times);
                return self.compare(op, x, value);
            }
        }
        // A comparison of a widened number becomes one of the original.
        if let (Kind::Cast(inner), Some(value), Type::U(_)) = (self.kind(a).clone(), self.known(b), ty) {
            let from = self.ty(inner);
            let wide = from.width(self.automaton);
            if matches!(from, Type::U(_)) && wide < ty.width(self.automaton) && value <= mask(wide) {
                let value = self.constant(from, value);
                return self.compare(op, inner, value);
            }
        }
        // A comparison of two widened numbers becomes one of the originals.
        if let (Kind::Cast(x), Kind::Cast(y), Type::U(wide)) = (self.kind(a).clone(), self.kind(b).clone(), ty) {
            let same = self.ty(x) == self.ty(y) && matches!(self.ty(x), Type::U(narrow) if narrow <= wide);
            if same {
                return self.compare(op, x, y);
            }
        }
        if let Some(apart) = self.compare_apart(op, a, b) {
            return apart;
        }
        if let Some((a, b)) = self.over(a, b) {
            return self.compare(op, a, b);
        }
        match (ty, op, self.known(b)) {
            (Type::Bool, Compare::Eq, Some(1)) | (Type::Bool, Compare::Ne, Some(0)) => return a,
            (Type::Bool, Compare::Eq | Compare::Ne, Some(_)) => return self.not(a),
            _ => {}
        }
        // One of a pair of opposites is enough.
        match op {
            Compare::Ne => {
                let equal = self.add(Kind::Compare(Compare::Eq, a, b), Type::Bool);
                self.not(equal)
            }
            Compare::Ge => {
                let less = self.add(Kind::Compare(Compare::Lt, a, b), Type::Bool);
                match ty {
                    Type::Seq(_) => self.add(Kind::Compare(op, a, b), Type::Bool),
                    _ => self.not(less),
                }
            }
            Compare::Gt if !matches!(ty, Type::Seq(_)) => {
                let most = self.add(Kind::Compare(Compare::Le, a, b), Type::Bool);
                self.not(most)
            }
            _ => self.add(Kind::Compare(op, a, b), Type::Bool),
        }
    }

    /// A comparison of a least or largest number with a constant, or with one of its two numbers, by these: `min(x, y) > c` is
    /// `x > c and y > c`. One of `c - y` or `max(x, y) - c` with a constant is one of the other number, if nothing wraps around.
    fn compare_apart(&mut self, op: Compare, a: Node, b: Node) -> Option<Node> {
        let ty = self.ty(a);
        if !matches!(ty, Type::U(_)) {
            return None;
        }
        let is_one_of = |all: &Kind, one: Node| matches!(*all, Kind::Binary(Binary::Min | Binary::Max, x, y) if [x, y].contains(&one));
        if is_one_of(self.kind(b), a) {
            return self.compare_choice(turned(op), b, a);
        }
        if is_one_of(self.kind(a), b) {
            return self.compare_choice(op, a, b);
        }
        if let (true, Some(rest)) = (matches!(op, Compare::Eq | Compare::Ne), self.beyond(a, b).or(self.beyond(b, a))) {
            let none = self.constant(ty, 0);
            return Some(self.compare(op, rest, none));
        }
        let (Kind::Binary(what, x, y), value) = (self.kind(a).clone(), self.known(b)?) else { return None };
        if what == Binary::SubWrap {
            if let Some(all) = self.known(x).filter(|all| self.span(y).1 <= *all && value <= *all) {
                let rest = self.constant(ty, all - value);
                return Some(self.compare(turned(op), y, rest));
            }
            let is_choice = matches!(self.kind(x), Kind::Binary(Binary::Min | Binary::Max, ..));
            let (x, c) = self.less_constant(a).filter(|_| is_choice)?;
            let sum = value.checked_add(c).filter(|sum| *sum <= self.mask(ty))?;
            let sum = self.constant(ty, sum);
            return Some(self.compare(op, x, sum));
        }
        let is_least = value == self.span(a).0;
        match op {
            Compare::Eq if is_least => self.compare_choice(Compare::Le, a, b),
            Compare::Ne if is_least => self.compare_choice(Compare::Gt, a, b),
            _ => self.compare_choice(op, a, b),
        }
    }

    /// What is added to one number, or subtracted from it, so that it is the other.
    fn beyond(&self, all: Node, one: Node) -> Option<Node> {
        match *self.kind(all) {
            Kind::Binary(Binary::AddWrap | Binary::SubWrap, x, y) if x == one => Some(y),
            Kind::Binary(Binary::AddWrap, x, y) if y == one => Some(x),
            _ => None,
        }
    }

    /// A comparison of the least or largest of two numbers, by each of them.
    fn compare_choice(&mut self, op: Compare, a: Node, b: Node) -> Option<Node> {
        let Kind::Binary(what, x, y) = *self.kind(a) else { return None };
        if matches!(op, Compare::Eq | Compare::Ne) {
            return None;
        }
        let joined = match (what, matches!(op, Compare::Gt | Compare::Ge)) {
            (Binary::Min, true) | (Binary::Max, false) => Binary::And,
            (Binary::Min, false) | (Binary::Max, true) => Binary::Or,
            _ => return None,
        };
        let (x, y) = (self.compare(op, x, b), self.compare(op, y, b));
        Some(self.binary(joined, x, y))
    }

    /// Two numbers that compare alike, where `x - c` was one of these and nothing wraps around: `x`, and the other plus `c`.
    fn over(&mut self, a: Node, b: Node) -> Option<(Node, Node)> {
        if !self.adds_over || !matches!(self.ty(a), Type::U(_)) {
            return None;
        }
        if let Some((x, c)) = self.less_constant(b) {
            return Some((self.plus(a, c)?, x));
        }
        let (x, c) = self.less_constant(a)?;
        Some((x, self.plus(b, c)?))
    }

    /// `x` and `c`, if the number is `x - c` and that does not wrap around.
    fn less_constant(&self, node: Node) -> Option<(Node, u64)> {
        let Kind::Binary(Binary::SubWrap, x, c) = *self.kind(node) else { return None };
        let c = self.known(c)?;
        (self.span(x).0 >= c).then_some((x, c))
    }

    /// The number plus a constant, if that does not wrap around.
    fn plus(&mut self, node: Node, c: u64) -> Option<Node> {
        let ty = self.ty(node);
        self.span(node).1.checked_add(c).filter(|most| *most <= self.mask(ty))?;
        let c = self.constant(ty, c);
        Some(self.binary(Binary::AddWrap, node, c))
    }

    /// The same condition without a division: `x / d <= c` is `x < d * (c + 1)`, by what is known now. For writing the path
    /// only: facts about the quotient are lost.
    pub fn without_division(&mut self, condition: Node) -> Option<Node> {
        let Kind::Compare(op @ (Compare::Le | Compare::Lt), a, b) = *self.kind(condition) else { return None };
        let (Kind::Binary(Binary::Div, x, d), Some(times)) = (self.kind(a).clone(), self.known(b)) else { return None };
        let (ty, times) = (self.ty(a), times.saturating_add(u64::from(op == Compare::Le)));
        let fits = self.span(d).1.checked_mul(times).is_some_and(|most| most <= self.mask(ty));
        if !fits || self.span(d).0 == 0 || !matches!(ty, Type::U(_)) {
            return None;
        }
        let times = self.constant(ty, times);
        let end = self.binary(Binary::MulWrap, d, times);
        Some(self.add(Kind::Compare(Compare::Lt, x, end), Type::Bool))
    }

    /// The negation, simplified.
    pub fn not(&mut self, a: Node) -> Node {
        let ty = self.ty(a);
        if let Some(value) = self.known(a) {
            return self.constant(ty, !value);
        }
        match *self.kind(a) {
            Kind::Not(inner) => inner,
            _ => self.add(Kind::Not(a), ty),
        }
    }

    /// A choice between two constants: the condition, and both.
    fn choice(&self, node: Node) -> Option<(Node, Node, Node)> {
        match *self.kind(node) {
            Kind::Select(c, x, y) if self.known(x).is_some() && self.known(y).is_some() => Some((c, x, y)),
            _ => None,
        }
    }

    /// `if c { a } else { b }`, simplified.
    pub fn select(&mut self, c: Node, a: Node, b: Node) -> Node {
        let ty = self.ty(a);
        match self.known(c) {
            Some(0) => b,
            Some(_) => a,
            None if a == b => a,
            None if ty == Type::Bool && (self.known(a), self.known(b)) == (Some(1), Some(0)) => c,
            None if ty == Type::Bool && (self.known(a), self.known(b)) == (Some(0), Some(1)) => self.not(c),
            // `c and a`, and similar.
            None if ty == Type::Bool => match (*self.kind(a) == Kind::Not(c), *self.kind(b) == Kind::Not(c)) {
                (true, _) => self.binary(Binary::And, a, b),
                (_, true) => self.binary(Binary::Or, b, a),
                _ => self.add(Kind::Select(c, a, b), ty),
            },
            None => self.add(Kind::Select(c, a, b), ty),
        }
    }

    /// The number in another type, simplified; it is widened by zeros or cut off.
    pub fn cast(&mut self, a: Node, to: Type) -> Node {
        let from = self.ty(a);
        if from == to {
            return a;
        }
        if let Some(value) = self.known(a) {
            return self.constant(to, value);
        }
        if let Some((c, x, y)) = self.choice(a) {
            let (x, y) = (self.cast(x, to), self.cast(y, to));
            return self.select(c, x, y);
        }
        // A cast there and back, if nothing was lost.
        if let Kind::Cast(inner) = *self.kind(a) {
            let (wide, inner_ty) = (from.width(self.automaton), self.ty(inner));
            if inner_ty.width(self.automaton) <= wide
                || to.width(self.automaton) <= wide
                || self.span(inner).1 <= mask(wide)
            {
                return self.cast(inner, to);
            }
        }
        // A sum that does not wrap around may be made of widened numbers.
        if let (&Kind::Binary(Binary::AddWrap, x, y), Type::U(narrow), Type::U(wide)) = (self.kind(a), from, to) {
            let most = self.known(y).and_then(|y| self.span(x).1.checked_add(y));
            if narrow < wide && most.is_some_and(|most| most <= mask(narrow)) {
                let (x, y) = (self.cast(x, to), self.cast(y, to));
                return self.binary(Binary::AddWrap, x, y);
            }
        }
        // The same for a difference.
        if let (&Kind::Binary(Binary::SubWrap, x, y), Type::U(narrow), Type::U(wide)) = (self.kind(a), from, to) {
            if narrow < wide && self.known(y).is_some_and(|y| self.span(x).0 >= y) {
                let (x, y) = (self.cast(x, to), self.cast(y, to));
                return self.binary(Binary::SubWrap, x, y);
            }
        }
        // Bits are cut off before the operation, if that saves a widening.
        if let (&Kind::Binary(op @ (Binary::AddWrap | Binary::SubWrap), x, y), Type::U(narrow), Type::U(wide)) =
            (self.kind(a), to, from)
        {
            let was_narrow = |node: Node| match *self.kind(node) {
                Kind::Cast(inner) => matches!(self.ty(inner), Type::U(width) if width <= narrow),
                _ => false,
            };
            if narrow < wide && was_narrow(x) && (self.known(y).is_some() || was_narrow(y)) {
                let (x, y) = (self.cast(x, to), self.cast(y, to));
                return self.binary(op, x, y);
            }
        }
        self.add(Kind::Cast(a), to)
    }

    /// The node as a `u32`.
    pub fn wide(&mut self, a: Node) -> Node {
        self.cast(a, U32)
    }

    /// Folded to 16 bits, as a `u16`.
    pub fn fold(&mut self, a: Node) -> Node {
        match self.known(a) {
            Some(sum) => self.constant(U16, mokume_interpret::fold16(sum)),
            None => self.add(Kind::Fold(a), U16),
        }
    }
}
