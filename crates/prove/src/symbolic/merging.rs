//! Merges two ways that have done the same except for numbers: each number becomes a choice between the two.

use mokume_reaction::{Body, Terminator};

use super::way::{Emission, Way};
use super::{Leaf, Message, Object, Reader, Value};
use crate::term::{Sort, Term};

/// The condition of the choices: where `first` holds, the first of two ways is taken.
struct By {
    first: Term,
    second: Term,
}

/// The place of each block in an order where no block precedes one that leads to it, except in loops.
pub(super) fn order_of(body: &Body) -> Vec<usize> {
    let mut order = vec![usize::MAX; body.blocks.len()];
    let mut behind = Vec::new();
    let mut open = vec![(0, false)];
    while let Some((block, is_left)) = open.pop() {
        if is_left {
            behind.push(block);
            continue;
        }
        if order[block] != usize::MAX {
            continue;
        }
        order[block] = 0;
        open.push((block, true));
        each_next(&body.blocks[block].terminator, &mut |next| open.push((next, false)));
    }
    for (place, block) in behind.into_iter().rev().enumerate() {
        order[block] = place;
    }
    order
}

fn each_next(terminator: &Terminator, next: &mut impl FnMut(usize)) {
    match terminator {
        Terminator::Return | Terminator::Yield { .. } | Terminator::Refuse { .. } => {}
        Terminator::Jump { to } => next(to.block.index()),
        Terminator::Branch { then, otherwise, .. } | Terminator::Try { then, otherwise, .. } => {
            next(then.block.index());
            next(otherwise.block.index());
        }
        Terminator::Switch { cases, default, .. } => {
            cases.iter().for_each(|(_, target)| next(target.block.index()));
            next(default.block.index());
        }
        Terminator::Match { cases, .. } => cases.iter().for_each(|(_, target)| next(target.block.index())),
    }
}

impl Reader<'_> {
    /// Merges a way with all other ways to the same block, as far as possible; an error if there is no time left.
    pub(super) fn merge_ways(&mut self, body: &Body, mut way: Way, ways: &mut Vec<Way>) -> Result<Way, String> {
        let mut place = 0;
        while place < ways.len() {
            self.go_on()?;
            if (ways[place].block, ways[place].rounds) == (way.block, way.rounds) {
                if let Some(merged) = self.merge_two(body, &way, &ways[place]) {
                    way = merged;
                    ways.remove(place);
                    place = 0;
                    continue;
                }
            }
            place += 1;
        }
        Ok(way)
    }

    /// An error says that there is no time left, in the words of who waits.
    pub(super) fn go_on(&mut self) -> Result<(), String> {
        self.stopped.as_mut().and_then(|stopped| stopped()).map_or(Ok(()), Err)
    }

    fn merge_two(&mut self, body: &Body, a: &Way, b: &Way) -> Option<Way> {
        let (leaf, by) = self.merge_leaves(&a.leaf, &b.leaf)?;
        let emissions = self.merge_emissions(&by, &a.emissions, &b.emissions)?;
        let (mut frame, block) = (Vec::new(), a.block);
        for (value, (a, b)) in a.frame.iter().zip(&b.frame).enumerate() {
            let is_param = || body.blocks[block].params.iter().any(|param| param.index() == value);
            frame.push(match (a, b) {
                (a, b) if a == b => a.clone(),
                (Some(a), Some(b)) => match self.merge_values(&by, a, b) {
                    Some(merged) => Some(merged),
                    None if is_param() => return None,
                    None => None,
                },
                // A value that only one way has belongs to a block that not both passed.
                _ => None,
            });
        }
        Some(Way {
            leaf,
            frame,
            block: a.block,
            emissions,
            steps: a.steps.max(b.steps),
            rounds: a.rounds,
            types: a.types.clone(),
        })
    }

    /// Merges finished leaves with the same emissions; an error if there is no time left.
    pub(super) fn merge_finished(
        &mut self,
        finished: Vec<(Leaf, Vec<Emission>)>,
    ) -> Result<Vec<(Leaf, Vec<Emission>)>, String> {
        let mut merged: Vec<(Leaf, Vec<Emission>)> = Vec::new();
        for (mut leaf, mut emissions) in finished {
            let mut place = 0;
            while place < merged.len() {
                self.go_on()?;
                let is_alike = are_alike(&merged[place].1, &emissions);
                let both = is_alike.then(|| self.merge_leaves(&merged[place].0, &leaf)).flatten();
                let both = both.and_then(|(both, by)| {
                    let emissions = self.merge_emissions(&by, &merged[place].1, &emissions)?;
                    Some((both, emissions))
                });
                match both {
                    Some(both) => {
                        (leaf, emissions) = both;
                        merged.remove(place);
                        place = 0;
                    }
                    None => place += 1,
                }
            }
            merged.push((leaf, emissions));
        }
        Ok(merged)
    }

    fn merge_emissions(&mut self, by: &By, a: &[Emission], b: &[Emission]) -> Option<Vec<Emission>> {
        if a.len() != b.len() {
            return None;
        }
        let mut all = Vec::new();
        for (a, b) in a.iter().zip(b) {
            all.push(match (a, b) {
                (Emission::Out(a), Emission::Out(b)) if (a.port, a.event) == (b.port, b.event) => {
                    Emission::Out(super::Out { args: self.merge_args(by, &a.args, &b.args)?, ..a.clone() })
                }
                (
                    Emission::Call { target, null, event, args },
                    Emission::Call { target: other, null: other_null, event: other_event, args: other_args },
                ) if target == other && event == other_event => {
                    let args = self.merge_args(by, args, other_args)?;
                    let null = self.merge_nulls(by, *null, *other_null)?;
                    Emission::Call { target: *target, null, event: event.clone(), args }
                }
                (
                    Emission::Given { values, is_refused },
                    Emission::Given { values: others, is_refused: is_other_refused },
                ) if is_refused == is_other_refused => {
                    Emission::Given { values: self.merge_args(by, values, others)?, is_refused: *is_refused }
                }
                _ => return None,
            });
        }
        Some(all)
    }

    /// Merges the conditions that there is no receiver; `None` if they cannot be merged.
    fn merge_nulls(&mut self, by: &By, a: Option<Term>, b: Option<Term>) -> Option<Option<Term>> {
        if (a, b) == (None, None) {
            return Some(None);
        }
        let [a, b] = [a, b].map(|null| null.unwrap_or_else(|| self.terms.truth(false)));
        self.merge_terms(by, a, b).map(Some)
    }

    fn merge_args(&mut self, by: &By, a: &[Value], b: &[Value]) -> Option<Vec<Value>> {
        if a.len() != b.len() {
            return None;
        }
        a.iter().zip(b).map(|(a, b)| self.merge_values(by, a, b)).collect()
    }

    fn merge_values(&mut self, by: &By, a: &Value, b: &Value) -> Option<Value> {
        if a == b {
            return Some(a.clone());
        }
        match (a, b) {
            (Value::Bits(a), Value::Bits(b)) => Some(Value::Bits(self.merge_terms(by, *a, *b)?)),
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                let items: Option<Vec<Term>> = a.iter().zip(b).map(|(a, b)| self.merge_terms(by, *a, *b)).collect();
                items.map(Value::Array)
            }
            (Value::Message(a), Value::Message(b)) => {
                self.merge_messages(by, a, b).map(|merged| Value::Message(Box::new(merged)))
            }
            _ => None,
        }
    }

    fn merge_terms(&mut self, by: &By, a: Term, b: Term) -> Option<Term> {
        let (sort, other) = (self.terms.sort(a), self.terms.sort(b));
        if a == b {
            return Some(a);
        }
        if sort != other || sort == Sort::Octets {
            return None;
        }
        let merged = self.terms.choose(by.first, a, b);
        Some(self.known(merged))
    }

    fn merge_messages(&mut self, by: &By, a: &Message, b: &Message) -> Option<Message> {
        let is_same = a.base.octets == b.base.octets
            && a.front.len() == b.front.len()
            && a.headers.len() == b.headers.len()
            && a.inside == b.inside
            && a.received == b.received
            && a.attributes.keys().eq(b.attributes.keys());
        if !is_same {
            return None;
        }
        let mut merged = a.clone();
        for ((header, variant, fields), (other, other_variant, others)) in merged.headers.iter_mut().zip(&b.headers) {
            if (&*header, &*variant) != (other, other_variant) {
                return None;
            }
            *fields = self.merge_args(by, fields, others)?;
        }
        for (octet, other) in merged.front.iter_mut().zip(&b.front) {
            *octet = self.merge_terms(by, *octet, *other)?;
        }
        for (attribute, other) in merged.attributes.values_mut().zip(b.attributes.values()) {
            *attribute = self.merge_terms(by, *attribute, *other)?;
        }
        merged.base.start = self.merge_terms(by, a.base.start, b.base.start)?;
        merged.base.size = self.merge_terms(by, a.base.size, b.base.size)?;
        Some(merged)
    }

    /// Merges two ways through the same reaction. The terms of the result are made under the assumptions that both ways
    /// share.
    fn merge_leaves(&mut self, a: &Leaf, b: &Leaf) -> Option<(Leaf, By)> {
        let is_same = a.escape.is_none()
            && b.escape.is_none()
            && a.ended == b.ended
            && a.taken == b.taken
            && a.merged == b.merged
            && a.settling == b.settling
            && a.referred == b.referred
            && a.refused == b.refused
            && a.outs.len() == b.outs.len()
            && a.timers.len() == b.timers.len()
            && a.kept.len() == b.kept.len()
            && a.spent.len() == b.spent.len()
            && a.put_off == b.put_off
            && a.elements.keys().eq(b.elements.keys())
            && a.handed.is_some() == b.handed.is_some();
        if !is_same {
            return None;
        }
        let shared = a.condition.iter().zip(&b.condition).take_while(|(a, b)| a == b).count();
        self.terms.assuming((**a.assumed.get(shared)?).clone());
        let [first, second] = [&a.condition, &b.condition].map(|way| self.terms.all(&way[shared..]));
        let by = By { first, second };
        let mut leaf = Leaf { condition: a.condition[..shared].to_vec(), ..Leaf::default() };
        leaf.assumed = a.assumed[..=shared].to_vec();
        (leaf.ended, leaf.taken, leaf.merged) = (a.ended.clone(), a.taken, a.merged);
        leaf.settling = a.settling.clone();
        leaf.referred.clone_from(&a.referred);
        leaf.put_off.clone_from(&a.put_off);
        leaf.refused.clone_from(&a.refused);
        leaf.read_back = a.read_back.union(&b.read_back).copied().collect();
        self.merge_effects(&by, &mut leaf, a, b)?;
        self.merge_cells(&by, &mut leaf, a, b)?;
        let lists = [
            (&mut leaf.traps, [&a.traps, &b.traps]),
            (&mut leaf.nulls, [&a.nulls, &b.nulls]),
            (&mut leaf.believed, [&a.believed, &b.believed]),
        ];
        for (traps, [a, b]) in lists {
            for (of, others, taken) in [(a, b, by.first), (b, a, by.second)] {
                for trap in of {
                    let trap = match others.contains(trap) {
                        true => *trap,
                        false => self.terms.all(&[*trap, taken]),
                    };
                    if !traps.contains(&trap) {
                        traps.push(trap);
                    }
                }
            }
        }
        for (of, others, taken) in [(a, b, by.first), (b, a, by.second)] {
            for looked in &of.looked {
                let null = match others.looked.contains(looked) {
                    true => looked.1,
                    false => self.terms.all(&[looked.1, taken]),
                };
                if !leaf.looked.contains(&(looked.0, null)) {
                    leaf.looked.push((looked.0, null));
                }
            }
        }
        let taken = self.terms.any(&[by.first, by.second]);
        self.add_condition(&mut leaf, taken);
        self.forget_implied(&mut leaf, shared);
        // The numbers are made where the ways part.
        self.terms.assuming((*leaf.assumed[shared]).clone());
        Some((leaf, by))
    }

    /// Merges outputs, timers, elements of arrays, stored messages and quotas.
    fn merge_effects(&mut self, by: &By, leaf: &mut Leaf, a: &Leaf, b: &Leaf) -> Option<()> {
        for (a, b) in a.outs.iter().zip(&b.outs) {
            if (a.port, a.event) != (b.port, b.event) {
                return None;
            }
            leaf.outs.push(super::Out { args: self.merge_args(by, &a.args, &b.args)?, ..a.clone() });
        }
        for ((object, cell, a), (other, other_cell, b)) in a.timers.iter().zip(&b.timers) {
            let deadline = match (a, b) {
                (Some(a), Some(b)) => Some(self.merge_terms(by, *a, *b)?),
                (None, None) => None,
                _ => return None,
            };
            if (object, cell) != (other, other_cell) {
                return None;
            }
            leaf.timers.push((*object, *cell, deadline));
        }
        for ((key, a), b) in a.elements.iter().zip(b.elements.values()) {
            if a.len() != b.len() {
                return None;
            }
            let mut elements = Vec::new();
            for ((at, value), (other, other_value)) in a.iter().zip(b) {
                elements.push((self.merge_terms(by, *at, *other)?, self.merge_terms(by, *value, *other_value)?));
            }
            leaf.elements.insert(*key, elements);
        }
        for ((object, cell, at, a), (other, other_cell, place, b)) in a.kept.iter().zip(&b.kept) {
            if (object, cell) != (other, other_cell) {
                return None;
            }
            let message = match (a, b) {
                (Some(a), Some(b)) => Some(self.merge_messages(by, a, b)?),
                (None, None) => None,
                _ => return None,
            };
            leaf.kept.push((*object, *cell, self.merge_terms(by, *at, *place)?, message));
        }
        for ((object, cell, a), (other, other_cell, b)) in a.spent.iter().zip(&b.spent) {
            if (object, cell) != (other, other_cell) {
                return None;
            }
            leaf.spent.push((*object, *cell, self.merge_terms(by, *a, *b)?));
        }
        if let (Some(a), Some(b)) = (&a.handed, &b.handed) {
            if (a.handler, a.target) != (b.handler, b.target) {
                return None;
            }
            let null = self.merge_nulls(by, a.null, b.null)?;
            leaf.handed = Some(super::Handed { null, args: self.merge_args(by, &a.args, &b.args)?, ..a.clone() });
        }
        Some(())
    }

    /// Merges cells and counters; what only one of them has met is unchanged in the other.
    fn merge_cells(&mut self, by: &By, leaf: &mut Leaf, a: &Leaf, b: &Leaf) -> Option<()> {
        for key in a.cells.keys().chain(b.cells.keys()).copied() {
            if leaf.cells.contains_key(&key) {
                continue;
            }
            let [x, y] = [a, b].map(|leaf| leaf.cells.get(&key).copied());
            let is_read_only = !a.written.contains(&key) && !b.written.contains(&key);
            let (x, y) = match (x, y) {
                // The terms that each way knows would be larger.
                _ if is_read_only => {
                    let before = self.before(key.0, key.1)?;
                    (before, before)
                }
                (Some(x), Some(y)) => (x, y),
                (x, y) => {
                    let before = self.before(key.0, key.1)?;
                    (x.unwrap_or(before), y.unwrap_or(before))
                }
            };
            let merged = self.merge_terms(by, x, y)?;
            leaf.cells.insert(key, merged);
        }
        leaf.written.clone_from(&a.written);
        leaf.written.extend(b.written.iter().filter(|key| !a.written.contains(key)));
        let zero = self.terms.number(0, 64);
        let keys: Vec<(Object, _)> = a.counted.keys().chain(b.counted.keys()).copied().collect();
        for key in keys {
            let [x, y] = [a, b].map(|leaf| leaf.counted.get(&key).copied().unwrap_or(zero));
            let merged = self.merge_terms(by, x, y)?;
            leaf.counted.insert(key, merged);
        }
        Some(())
    }
}

/// Whether emissions differ in numbers at most.
fn are_alike(a: &[Emission], b: &[Emission]) -> bool {
    let same = |(a, b): (&Emission, &Emission)| match (a, b) {
        (Emission::Out(a), Emission::Out(b)) => (a.port, a.event) == (b.port, b.event),
        (Emission::Call { target: a, event, .. }, Emission::Call { target: b, event: other, .. }) => {
            a == b && event == other
        }
        (Emission::Given { is_refused, .. }, Emission::Given { is_refused: other, .. }) => is_refused == other,
        _ => false,
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}
