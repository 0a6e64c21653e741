//! What the guards of a path say about its nodes.

use mokume_reaction::{Binary, Compare, Type};

use super::{Graph, Kind, Node};
use crate::compared::{opposite, turned};

impl Graph<'_> {
    /// From here on the condition holds, or does not.
    pub fn learn(&mut self, condition: Node, holds: bool) {
        self.narrowed.insert(condition, (u64::from(holds), u64::from(holds)));
        self.learn_in_other_words(condition, holds);
        match (self.kind(condition).clone(), holds) {
            (Kind::Not(inner), _) => self.learn(inner, !holds),
            (Kind::Binary(Binary::And, a, b), true) | (Kind::Binary(Binary::Or, a, b), false) => {
                self.learn(a, holds);
                self.learn(b, holds);
            }
            (Kind::Compare(op, a, b), _) if matches!(self.ty(a), Type::U(_) | Type::Enum(_) | Type::Bool) => {
                let op = if holds { op } else { opposite(op) };
                self.narrow(op, a, b);
                self.narrow(turned(op), b, a);
            }
            (Kind::Compare(Compare::Eq, a, b), true) => {
                self.narrow(Compare::Eq, a, b);
                self.narrow(Compare::Eq, b, a);
            }
            _ => {}
        }
    }

    /// A comparison of numbers, in its three other forms.
    fn learn_in_other_words(&mut self, condition: Node, holds: bool) {
        let Kind::Compare(op, a, b) = *self.kind(condition) else { return };
        let is_number = matches!(self.ty(a), Type::U(_) | Type::Enum(_));
        for (op, a, b, holds) in
            [(turned(op), b, a, holds), (opposite(op), a, b, !holds), (turned(opposite(op)), b, a, !holds)]
        {
            if is_number && self.known(a).is_none() {
                let same = self.number(Kind::Compare(op, a, b), Type::Bool);
                self.narrowed.insert(same, (u64::from(holds), u64::from(holds)));
            }
        }
    }

    /// From here on the condition holds; nothing else is derived.
    pub fn holds(&mut self, condition: Node) {
        self.narrowed.insert(condition, (1, 1));
    }

    /// From here on the number is at most `most`.
    pub fn is_at_most(&mut self, node: Node, most: u64) {
        let (least, largest) = self.span(node);
        if matches!(self.ty(node), Type::U(_)) && most < largest {
            self.set_span(node, (least, most));
        }
    }

    fn narrow(&mut self, op: Compare, a: Node, b: Node) {
        if matches!(self.ty(a), Type::Ref(_) | Type::Reason | Type::Array(..)) {
            return;
        }
        let ((a0, a1), (b0, b1)) = (self.span(a), self.span(b));
        let (least, most) = match op {
            Compare::Eq => (a0.max(b0), a1.min(b1)),
            Compare::Lt => (a0, a1.min(b1.saturating_sub(1))),
            Compare::Le => (a0, a1.min(b1)),
            Compare::Gt => (a0.max(b0.saturating_add(1)), a1),
            Compare::Ge => (a0.max(b0), a1),
            Compare::Ne if b0 == b1 && a0 == b0 => (a0 + 1, a1),
            Compare::Ne => return,
        };
        self.set_span(a, (least, most));
    }

    /// Whether a conversion loses no bits.
    pub(super) fn widens(&self, from: Node, to: Node) -> bool {
        self.ty(from).width(self.automaton) <= self.ty(to).width(self.automaton)
    }

    fn set_span(&mut self, node: Node, (least, most): (u64, u64)) {
        if least > most || self.span(node) == (least, most) {
            return;
        }
        self.narrowed.insert(node, (least, most));
        match *self.kind(node) {
            // Also for the number that it was made of.
            Kind::Cast(inner) if matches!(self.ty(inner), Type::U(_)) && self.widens(inner, node) => {
                self.set_span(inner, (least, most));
            }
            Kind::Cast(inner) if self.ty(inner) == Type::Bool && least == most => self.learn(inner, least != 0),
            Kind::Binary(Binary::AddWrap, x, c) => {
                // Only if nothing wrapped around.
                let all = self.mask(self.ty(node));
                if let Some(c) =
                    self.known(c).filter(|c| self.span(x).1.checked_add(*c).is_some_and(|most| most <= all))
                {
                    let (x0, x1) = self.span(x);
                    self.set_span(x, (x0.max(least.saturating_sub(c)), x1.min(most.saturating_sub(c))));
                }
            }
            Kind::Binary(Binary::MulWrap, x, c) => {
                let all = self.mask(self.ty(node));
                let times = self.known(c).filter(|c| *c > 0);
                if let Some(c) = times.filter(|c| self.span(x).1.checked_mul(*c).is_some_and(|most| most <= all)) {
                    let (x0, x1) = self.span(x);
                    self.set_span(x, (x0.max(least.div_ceil(c)), x1.min(most / c)));
                }
            }
            Kind::Binary(Binary::SubWrap, x, c) => {
                if let Some(c) = self.known(c).filter(|c| self.span(x).0 >= *c) {
                    let (x0, x1) = self.span(x);
                    self.set_span(x, (x0.max(least.saturating_add(c)), x1.min(most.saturating_add(c))));
                }
            }
            _ => {}
        }
    }
}
