//! Terminators: the ways that follow, each with its condition.

use mokume_reaction::{Body, CellId, Fallible, Operation, Target, Terminator, Value as Id, WireId};

use super::decoder::Headers;
use super::way::{Emission, Ended, Way};
use super::{Reader, Value};
use crate::term::{Node, Term};

/// The most ways into which a look-up splits by its key.
const MOST_KEYS: usize = 4;

impl Reader<'_> {
    pub(super) fn terminator(&mut self, body: &Body, mut way: Way) -> Ended {
        match &body.blocks[way.block].terminator {
            Terminator::Return => {
                let Way { leaf, emissions, .. } = way;
                Ended::Finished(leaf, emissions)
            }
            end @ (Terminator::Yield { values } | Terminator::Refuse { values }) if self.is_alone => {
                let is_refused = matches!(end, Terminator::Refuse { .. });
                let values = values.iter().map(|value| way.value(*value)).collect::<Result<Vec<_>, _>>();
                let Ok(values) = values else { return way.escape("a value that is not there") };
                let Way { leaf, mut emissions, .. } = way;
                emissions.push(Emission::Given { values, is_refused });
                Ended::Finished(leaf, emissions)
            }
            // The caller of a function reads its values before.
            Terminator::Yield { .. } | Terminator::Refuse { .. } => way.escape("values of what is no function"),
            Terminator::Jump { to } => self.go(body, vec![(way, None, to, Vec::new())]),
            Terminator::Branch { condition, then, otherwise, .. } => {
                let Ok(condition) = way.bits(*condition) else { return way.escape("a branch on no truth value") };
                let opposite = self.terms.not(condition);
                let other = way.copy();
                self.go(
                    body,
                    vec![(way, Some(condition), then, Vec::new()), (other, Some(opposite), otherwise, Vec::new())],
                )
            }
            Terminator::Switch { value, cases, default } => {
                let Ok(value) = way.bits(*value) else { return way.escape("a switch on no number") };
                let width = self.terms.width(value);
                let mut ways = Vec::new();
                let mut none = Vec::new();
                for (case, target) in cases {
                    let case = self.terms.number(*case, width);
                    let bits = self.terms.as_bits(value);
                    let hit = self.terms.equal(bits, case);
                    none.push(self.terms.not(hit));
                    ways.push((way.copy(), Some(hit), target, Vec::new()));
                }
                let missed = self.terms.all(&none);
                ways.push((way, Some(missed), default, Vec::new()));
                self.go(body, ways)
            }
            Terminator::Match { message, header, cases } => {
                let Ok(mut taken) = way.message(*message) else { return way.escape("no message") };
                let top = match (taken.headers.pop(), &cases[..]) {
                    (Some(top), _) => top,
                    // All alternatives lead to the same single way.
                    (None, [(only, _)]) => match self.top(&mut taken, *header, *only) {
                        Ok((there, fields)) => {
                            let other = self.terms.not(there);
                            self.believe(other, &mut way);
                            (*header, *only, fields)
                        }
                        Err(why) => return way.escape(&why),
                    },
                    (None, _) => return way.escape("a header that is not there"),
                };
                let (found, variant, fields) = top;
                let target = cases.iter().find(|(case, _)| found == *header && *case == variant);
                let Some((_, target)) = target else { return way.escape("another header than the one on top") };
                let mut results = vec![Value::Message(Box::new(taken))];
                results.extend(fields);
                self.go(body, vec![(way, None, target, results)])
            }
            Terminator::Try { op, then, otherwise } => self.attempt(body, way, op, then, otherwise),
        }
    }

    fn attempt(&mut self, body: &Body, way: Way, op: &Fallible, then: &Target, otherwise: &Target) -> Ended {
        match op {
            Fallible::TryRun { .. } | Fallible::Recall { .. } => {
                way.escape("a procedure: it is to be put in place first")
            }
            Fallible::Decode { message, wire } => {
                self.decode_ways(body, way, (*message, *wire), then, otherwise, Headers::Taken)
            }
            Fallible::Validate { message, wire } => {
                self.decode_ways(body, way, (*message, *wire), then, otherwise, Headers::Left)
            }
            Fallible::Peek { message, header, variant } => {
                let Ok(mut message) = way.message(*message) else { return way.escape("no message") };
                let known = message.headers.last().cloned();
                let top = match known {
                    Some((found, other, fields)) => {
                        let is_there = (found, other) == (*header, *variant);
                        Ok((self.terms.truth(is_there), fields))
                    }
                    None => self.top(&mut message, *header, *variant),
                };
                match top {
                    Err(why) => way.escape(&why),
                    Ok((there, fields)) => {
                        let missing = self.terms.not(there);
                        let other = way.copy();
                        self.go(
                            body,
                            vec![(way, Some(there), then, fields), (other, Some(missing), otherwise, Vec::new())],
                        )
                    }
                }
            }
            Fallible::Find { object, cell, key } => {
                let mut ways = Vec::new();
                // If a key is a choice, each alternative is looked up separately, so that what is found has one key.
                let mut open = vec![way];
                while let Some(mut way) = open.pop() {
                    self.at(&way.leaf);
                    if let Some(condition) = self.chooses_key(&way, key).filter(|_| open.len() < MOST_KEYS) {
                        let (mut other, opposite) = (way.copy(), self.terms.not(condition));
                        if self.add_condition(&mut other.leaf, opposite) {
                            open.push(other);
                        }
                        if self.add_condition(&mut way.leaf, condition) {
                            open.push(way);
                        }
                        continue;
                    }
                    match self.find(&mut way, *object, *cell, key) {
                        Err(why) => return way.escape(&why),
                        Ok((found, values)) => {
                            let missing = self.terms.not(found);
                            let other = way.copy();
                            ways.push((way, Some(found), then, values));
                            ways.push((other, Some(missing), otherwise, Vec::new()));
                        }
                    }
                }
                self.go(body, ways)
            }
            Fallible::TakeOut { object, cell, index } => {
                self.take_out(body, way, (*object, *cell, *index), then, otherwise)
            }
            Fallible::ShareHeld { object, cell, index } => {
                self.share_held(body, way, (*object, *cell, *index), then, otherwise)
            }
            Fallible::Take { object, cell, amount } => {
                self.take_units(body, way, (*object, *cell, *amount), then, otherwise)
            }
            Fallible::Later { target, event, args } => self.later(body, way, (*target, event, args), then, otherwise),
            // This reading does not cover these: the way is an escape.
            Fallible::Insert { .. }
            | Fallible::Remove { .. }
            | Fallible::New { .. }
            | Fallible::First { .. }
            | Fallible::Next { .. } => {
                way.escape(&format!("an operation that is not read symbolically: {}", op.row().name))
            }
        }
    }

    /// The condition of a choice in one of the key's parts, if there is one.
    fn chooses_key(&mut self, way: &Way, key: &[Id]) -> Option<Term> {
        key.iter().find_map(|part| {
            let part = way.bits(*part).ok()?;
            let part = self.terms.again(part);
            match *self.terms.node(part) {
                Node::If(condition, ..) => {
                    let both = [condition, self.terms.not(condition)];
                    let is_known = way.leaf.condition.iter().any(|known| both.contains(known));
                    (!is_known).then_some(condition)
                }
                _ => None,
            }
        })
    }

    /// Whether a map has a key, and its values there; maps do not change on a way that is read.
    pub(super) fn find(
        &mut self,
        way: &mut Way,
        object: Id,
        cell: CellId,
        key: &[Id],
    ) -> Result<(Term, Vec<Value>), String> {
        let object = way.object(object)?;
        let key = key.iter().map(|part| way.bits(*part)).collect::<Result<Vec<_>, _>>()?;
        let key = self.terms.all_again(&key);
        self.look_up(object, cell, key)
    }

    fn decode_ways(
        &mut self,
        body: &Body,
        way: Way,
        (message, wire): (Id, WireId),
        then: &Target,
        otherwise: &Target,
        headers: Headers,
    ) -> Ended {
        let Ok(packet) = way.message(message) else { return way.escape("no message") };
        self.way.clone_from(&way.leaf.condition);
        match self.decode(&packet, wire, headers) {
            Err(why) => way.escape(&why),
            Ok(outcomes) => {
                let mut ways = Vec::new();
                for outcome in outcomes {
                    let mut copy = way.copy();
                    if !outcome.condition.iter().all(|condition| self.add_condition(&mut copy.leaf, *condition)) {
                        continue;
                    }
                    match outcome.result {
                        Ok(decoded) => ways.push((copy, None, then, vec![Value::Message(Box::new(decoded))])),
                        Err(reason) => {
                            if self.compares {
                                copy.leaf.refused.push((wire, packet.clone()));
                            }
                            let results = vec![Value::Message(Box::new(packet.clone())), Value::Reason(reason)];
                            ways.push((copy, None, otherwise, results));
                        }
                    }
                }
                self.go(body, ways)
            }
        }
    }

    /// The ways to the targets, without those that have an impossible condition.
    pub(super) fn go(&mut self, body: &Body, ways: Vec<(Way, Option<Term>, &Target, Vec<Value>)>) -> Ended {
        let mut open = Vec::new();
        for (mut way, condition, target, results) in ways {
            if condition.is_none_or(|condition| self.add_condition(&mut way.leaf, condition)) {
                open.push((way, target, results));
            }
        }
        let mut left = open.len();
        // The conditions that all of them share.
        let shared = match &open[..] {
            [(first, ..), others @ .., (last, ..)] => {
                let same = |a: &Way, b: &Way| {
                    let pairs = a.leaf.condition.iter().zip(&b.leaf.condition);
                    pairs.take_while(|(a, b)| a == b).count()
                };
                let least = others.iter().map(|(other, ..)| same(first, other)).min();
                Some(same(first, last).min(least.unwrap_or(usize::MAX)))
            }
            _ => None,
        };
        let mut next = Vec::new();
        for (way, target, results) in open {
            // One of them is taken, so the last that is left needs no question.
            if left > 1 && self.is_impossible(&way.leaf.condition) {
                left -= 1;
                continue;
            }
            next.push((way, target, results));
        }
        if let (Some(shared), [(way, ..)]) = (shared, &mut next[..]) {
            self.forget_implied(&mut way.leaf, shared);
        }
        let mut entered = Vec::new();
        for (mut way, target, mut results) in next {
            let args: Result<Vec<Value>, String> = target.args.iter().map(|arg| way.value(*arg)).collect();
            let Ok(args) = args else { return way.escape("a value that is not there") };
            results.extend(args);
            way.block = target.block.index();
            for (param, value) in body.blocks[way.block].params.iter().zip(results) {
                way.frame[param.index()] = Some(value);
            }
            entered.push(way);
        }
        Ended::Ways(entered)
    }
}
