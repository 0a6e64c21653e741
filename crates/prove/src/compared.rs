//! Compares a way of one reading with a way of another: what leaves, the state after it, the timers, and the ends of
//! messages.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use mokume_reaction::{AttributeId, Automaton, CellId, CellKind, ClassId, WireId};

use crate::asking::Asking;
use crate::pair::Pair;
use crate::solver::Answer;
use crate::symbolic::{sort_of, Emission, End, Leaf, Message, Object, Origin, Out, PutOff, Reader, Value};
use crate::term::{Operator, Sort, Term, Terms};
use crate::verdict::{Goals, Kind, Open};

/// The name of the goal about a message's headers.
const HEADERS: &str = " (headers)";

/// A cell of an object.
pub(crate) type Place = (Object, CellId);

type Failures = Vec<(Kind, String, Term)>;

/// What readings have met.
pub(crate) struct Met {
    pub(crate) objects: Vec<(ClassId, Origin)>,
    /// For each object, whether it exists.
    there: Vec<Term>,
    /// The values of the written cells before the reaction.
    before: BTreeMap<Place, Term>,
}

impl Met {
    /// What a reader has met so far; `leaves` include its ways.
    pub(crate) fn of<'l>(reader: &mut Reader, leaves: impl Iterator<Item = &'l Leaf>) -> Met {
        let objects = reader.objects().to_vec();
        let there = (0..objects.len() as u32).map(|object| reader.is_there(Object(object))).collect();
        let written: BTreeSet<Place> = leaves.flat_map(|leaf| &leaf.written).copied().collect();
        let before = written.into_iter().filter_map(|place| Some((place, reader.before(place.0, place.1)?)));
        Met { objects, there, before: before.collect() }
    }

    /// The same, with the cells of an earlier reading added.
    pub(crate) fn behind(mut self, earlier: Met) -> Met {
        for (place, term) in earlier.before {
            self.before.entry(place).or_insert(term);
        }
        self
    }

    fn class_of(&self, object: Object) -> ClassId {
        self.objects[object.0 as usize].0
    }

    /// Whether the object's reference can never be null.
    fn is_sure(&self, object: Object) -> bool {
        matches!(self.objects[object.0 as usize].1, Origin::Given(_) | Origin::Unique(_) | Origin::Parent(_))
    }
}

/// The two ways that are compared.
pub(crate) struct Compared<'c> {
    pub(crate) automaton: &'c Automaton,
    pub(crate) met: &'c Met,
    /// When two automata are compared, what is not common to them. Then both may report, if both do.
    pub(crate) pair: Option<&'c Pair>,
    pub(crate) terms: &'c mut Terms,
    pub(crate) mine: &'c Leaf,
    pub(crate) theirs: &'c Leaf,
}

impl Compared<'_> {
    /// Shows that no goal fails under these conditions, and counts the goals; otherwise says why the way is open.
    pub(crate) fn show(
        mut self,
        conditions: &[Term],
        asking: &RefCell<Asking<'_, '_, '_>>,
        goals: &mut Goals,
    ) -> Result<(), Open> {
        for (kind, about, failure) in self.failures() {
            if self.terms.constant(failure) != Some(0) {
                let more = [conditions, &[failure]].concat();
                match asking.borrow_mut().ask(self.terms, &more) {
                    Answer::Unsat => {}
                    Answer::Sat(values) => {
                        return Err(Open { why: format!("{}: {about} may differ", kind.name()), values });
                    }
                    Answer::Unknown(why) => {
                        return Err(format!("{}: {about} is not decided: {why}", kind.name()).into());
                    }
                }
            }
            *goals.entry(kind).or_default() += 1;
        }
        Ok(())
    }

    /// For each goal: its subject, and the condition under which it fails.
    fn failures(&mut self) -> Failures {
        let mut failures = Failures::new();
        if self.pair.is_some() {
            let [mine, theirs] = [self.mine, self.theirs].map(|leaf| {
                let traps = self.terms.all_again(&leaf.traps);
                self.terms.any(&traps)
            });
            failures.push((Kind::Reports, "what is reported".into(), self.unequal(mine, theirs)));
        }
        for leaf in [self.mine, self.theirs] {
            for trap in leaf.traps.iter().filter(|_| self.pair.is_none()) {
                failures.push((Kind::Reports, "what is reported".into(), *trap));
            }
            for null in &leaf.nulls {
                failures.push((Kind::There, "who or what is there".into(), *null));
            }
        }
        // Through a null reference both read zeros and write nothing; but then a written value is not read back.
        let written = self.written();
        // If a reference may be null, one side may skip a write that the other does, unless both use that one reference
        // only.
        let names = |leaf: &Leaf, object: &Object| {
            leaf.looked.iter().filter(|(looked, _)| looked == object).map(|(_, null)| *null).collect::<BTreeSet<_>>()
        };
        let differs = |object: &Object| {
            let (mine, theirs) = (names(self.mine, object), names(self.theirs, object));
            self.met.is_sure(*object) || mine != theirs || mine.len() > 1
        };
        let asked = |object: &Object| written.contains(object) || differs(object);
        for leaf in [self.mine, self.theirs] {
            for (_, null) in leaf.looked.iter().filter(|(object, _)| asked(object)) {
                failures.push((Kind::There, "whose state is written".into(), *null));
            }
        }
        for object in &written {
            let ended = self.terms.not(self.met.there[object.0 as usize]);
            failures.push((Kind::There, "whose state is written".into(), ended));
        }
        // One goal of each kind stands for all trivial ones.
        let no = self.terms.truth(false);
        failures.push((Kind::Reports, "what is reported".into(), no));
        failures.push((Kind::There, "who or what is there".into(), no));
        self.outputs(&mut failures);
        self.handed(&mut failures);
        self.put_off(&mut failures);
        self.emitted(&mut failures);
        self.state(&mut failures);
        self.timers(&mut failures);
        self.held(&mut failures);
        self.ends(&mut failures);
        self.refused(&mut failures);
        failures
    }

    /// A refused packet: only the wire decides between several reasons. So both sides must have the same wire and the
    /// same packet.
    fn refused(&mut self, failures: &mut Failures) {
        let (mine, theirs) = (&self.mine.refused, &self.theirs.refused);
        let wires = |refused: &[(WireId, Message)]| refused.iter().map(|(wire, _)| *wire).collect::<Vec<_>>();
        let other = wires(mine) != wires(theirs)
            || wires(mine).iter().any(|wire| self.pair.is_some_and(|pair| pair.other_wires.contains(wire)));
        if !(mine.is_empty() && theirs.is_empty()) {
            failures.push((Kind::Ends, "by which wire a packet is refused".into(), self.terms.truth(other)));
        }
        for ((_, mine), (_, theirs)) in mine.iter().zip(theirs) {
            for (what, failure) in self.octets_differ(mine, theirs) {
                failures.push((Kind::Ends, format!("the packet that is refused{what}"), failure));
            }
        }
    }

    /// How many messages end in each way.
    fn ends(&mut self, failures: &mut Failures) {
        let all = self.mine.ended.iter().chain(&self.theirs.ended);
        let kinds: BTreeSet<_> = all.map(|end| (end.reason.0, end.is_consumed)).collect();
        for kind in kinds {
            let mut count = |leaf: &Leaf| {
                let of_kind = |end: &&End| (end.reason.0, end.is_consumed) == kind;
                leaf.ended.iter().filter(of_kind).fold(self.terms.number(0, 32), |sum, end| {
                    let when = self.terms.again(end.when);
                    let one = self.terms.resize(when, 32);
                    self.terms.binary(Operator::Add, sum, one)
                })
            };
            let (mine, theirs) = (count(self.mine), count(self.theirs));
            let other = self.unequal(mine, theirs);
            failures.push((Kind::Ends, "how messages end".into(), other));
        }
        let no = self.terms.truth(false);
        failures.push((Kind::Ends, "how messages end".into(), no));
    }

    /// The objects whose state is written in a way that depends on their existence.
    fn written(&self) -> BTreeSet<Object> {
        let of = |leaf: &Leaf| {
            let cells = leaf.read_back.iter().copied();
            let held =
                leaf.kept.iter().map(|(object, ..)| *object).chain(leaf.spent.iter().map(|(object, ..)| *object));
            cells.chain(leaf.timers.iter().map(|(object, ..)| *object)).chain(held).collect::<BTreeSet<_>>()
        };
        of(self.mine).union(&of(self.theirs)).copied().collect()
    }

    fn outputs(&mut self, failures: &mut Failures) {
        let (mine, theirs) = (&self.mine.outs, &self.theirs.outs);
        let kinds = |outs: &[Out]| outs.iter().map(|out| (out.port, out.event)).collect::<Vec<_>>();
        let other = self.terms.truth(kinds(mine) != kinds(theirs));
        failures.push((Kind::Outputs, "which outputs there are".into(), other));
        for (place, (mine, theirs)) in mine.iter().zip(theirs).enumerate() {
            for (arg, (mine, theirs)) in mine.args.iter().zip(&theirs.args).enumerate() {
                for (what, failure) in self.differ(mine, theirs) {
                    failures.push((
                        Kind::Outputs,
                        format!("output {}, argument {}{what}", place + 1, arg + 1),
                        failure,
                    ));
                }
            }
        }
    }

    /// What is handed to a handler that is not read: its object and all arguments.
    fn handed(&mut self, failures: &mut Failures) {
        let (mine, theirs) = match (&self.mine.handed, &self.theirs.handed) {
            (Some(mine), Some(theirs)) => (mine, theirs),
            (None, None) => return,
            (_, _) => return failures.push((Kind::Outputs, "what is handed over".into(), self.terms.truth(true))),
        };
        let same =
            mine.handler == theirs.handler && mine.target == theirs.target && mine.args.len() == theirs.args.len();
        failures.push((Kind::Outputs, "who is handed it".into(), self.terms.truth(!same)));
        if (mine.null, theirs.null) != (None, None) {
            let [null, other] = [mine.null, theirs.null].map(|null| null.unwrap_or_else(|| self.terms.truth(false)));
            failures.push((Kind::Outputs, "whether anybody is handed it".into(), self.unequal(null, other)));
        }
        for (arg, (mine, theirs)) in mine.args.iter().zip(&theirs.args).enumerate() {
            for (what, failure) in self.handed_differ(mine, theirs) {
                failures.push((Kind::Outputs, format!("what is handed over, argument {}{what}", arg + 1), failure));
            }
        }
    }

    /// Events for reactions of their own, in order: their handlers, objects and arguments.
    fn put_off(&mut self, failures: &mut Failures) {
        let (mine, theirs) = (&self.mine.put_off, &self.theirs.put_off);
        let kinds = |put: &[PutOff]| put.iter().map(|put| (put.handler, put.args.len())).collect::<Vec<_>>();
        let other = kinds(mine) != kinds(theirs);
        failures.push((Kind::Outputs, "what is put off".into(), self.terms.truth(other)));
        for (place, (mine, theirs)) in mine.iter().zip(theirs).enumerate() {
            for (what, failure) in self.handed_differ(&mine.target, &theirs.target) {
                failures.push((Kind::Outputs, format!("for whom event {} is put off{what}", place + 1), failure));
            }
            for (arg, (mine, theirs)) in mine.args.iter().zip(&theirs.args).enumerate() {
                for (what, failure) in self.handed_differ(mine, theirs) {
                    let about = format!("event {} that is put off, argument {}{what}", place + 1, arg + 1);
                    failures.push((Kind::Outputs, about, failure));
                }
            }
        }
    }

    /// What a handler that is read alone emits, in order, and which objects it asks to settle.
    fn emitted(&mut self, failures: &mut Failures) {
        let (mine, theirs) = (&self.mine.emitted, &self.theirs.emitted);
        if mine.is_empty() && theirs.is_empty() && self.mine.settling == self.theirs.settling {
            return;
        }
        let other = self.mine.settling != self.theirs.settling && self.pair.is_some();
        failures.push((Kind::State, "who asks to settle".into(), self.terms.truth(other)));
        let to = |emission: &Emission| match emission {
            Emission::Call { target, event, args, .. } => (Some(*target), event.clone(), args.len()),
            Emission::Out(out) => (None, format!("{} {}", out.port.0, out.event), out.args.len()),
            Emission::Given { values, is_refused } => (None, format!("given {is_refused}"), values.len()),
        };
        let other = !mine.iter().map(to).eq(theirs.iter().map(to));
        failures.push((Kind::Outputs, "what is emitted, and to whom".into(), self.terms.truth(other)));
        for (place, (mine, theirs)) in mine.iter().zip(theirs).enumerate() {
            let parts = |emission: &Emission| match emission {
                Emission::Call { args, null, .. } => (args.clone(), *null),
                Emission::Out(out) => (out.args.clone(), None),
                Emission::Given { values, .. } => (values.clone(), None),
            };
            let ((mine, null), (theirs, other)) = (parts(mine), parts(theirs));
            let [null, other] = [null, other].map(|null| null.unwrap_or_else(|| self.terms.truth(false)));
            failures.push((Kind::Outputs, format!("whom emission {} is for", place + 1), self.unequal(null, other)));
            for (arg, (mine, theirs)) in mine.iter().zip(&theirs).enumerate() {
                for (what, failure) in self.handed_differ(mine, theirs) {
                    failures.push((
                        Kind::Outputs,
                        format!("emission {}, argument {}{what}", place + 1, arg + 1),
                        failure,
                    ));
                }
            }
        }
    }

    /// When two arguments of a handler differ; for messages, also headers and all other things besides octets.
    fn handed_differ(&mut self, mine: &Value, theirs: &Value) -> Vec<(String, Term)> {
        let mut differ = self.differ(mine, theirs);
        if let (Value::Message(mine), Value::Message(theirs)) = (mine, theirs) {
            // `differ` compares only the octets.
            differ.retain(|(what, _)| what != HEADERS);
            differ.extend(self.beside_octets(mine, theirs));
        }
        differ
    }

    /// When headers, attributes or the remembered packets differ.
    fn beside_octets(&mut self, a: &Message, b: &Message) -> Vec<(String, Term)> {
        let kinds = |message: &Message| {
            message.headers.iter().map(|(header, variant, _)| (*header, *variant)).collect::<Vec<_>>()
        };
        let same = kinds(a) == kinds(b) && a.inside == b.inside;
        let mut differ = vec![(HEADERS.to_owned(), self.terms.truth(!same))];
        if same {
            for ((_, _, a), (_, _, b)) in a.headers.iter().zip(&b.headers) {
                for (a, b) in a.iter().zip(b) {
                    differ.extend(
                        self.differ(a, b).into_iter().map(|(_, term)| (" (a header's field)".to_owned(), term)),
                    );
                }
            }
        }
        for (at, described) in self.automaton.attributes.iter().enumerate() {
            let at = AttributeId::from(at);
            if a.attributes.contains_key(&at.0) || b.attributes.contains_key(&at.0) {
                let [a, b] = [a, b].map(|message| message.attribute(self.terms, self.automaton, at));
                differ.push((format!(" (attribute `{}`)", described.name), self.unequal(a, b)));
            }
        }
        for wire in self.automaton.asked_for() {
            let failure = match (a.received.get(&wire), b.received.get(&wire)) {
                (None, None) => continue,
                (Some((a, 0)), Some((b, 0))) if a.octets == b.octets => {
                    let parts = [self.unequal(a.start, b.start), self.unequal(a.size, b.size)];
                    self.terms.any(&parts)
                }
                _ => self.terms.truth(true),
            };
            differ.push((" (the packet it came in)".to_owned(), failure));
        }
        differ
    }

    /// When two values differ, part by part.
    fn differ(&mut self, mine: &Value, theirs: &Value) -> Vec<(String, Term)> {
        match (mine, theirs) {
            (Value::Bits(a), Value::Bits(b)) if self.terms.sort(*a) == self.terms.sort(*b) => {
                vec![(String::new(), self.unequal(*a, *b))]
            }
            (Value::Message(a), Value::Message(b)) => self.octets_differ(a, b),
            (Value::Object(a), Value::Perhaps(b, null)) | (Value::Perhaps(b, null), Value::Object(a)) if a == b => {
                vec![(String::new(), *null)]
            }
            (Value::Perhaps(a, x), Value::Perhaps(b, y)) if a == b => vec![(String::new(), self.unequal(*x, *y))],
            (Value::Null, Value::Perhaps(_, null)) | (Value::Perhaps(_, null), Value::Null) => {
                vec![(String::new(), self.terms.not(*null))]
            }
            (a, b) => vec![(String::new(), self.terms.truth(a != b))],
        }
    }

    fn unequal(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = (self.terms.again(a), self.terms.again(b));
        let same = self.terms.equal(a, b);
        self.terms.not(same)
    }

    fn octets_differ(&mut self, a: &Message, b: &Message) -> Vec<(String, Term)> {
        let mut differ = vec![(HEADERS.to_owned(), self.terms.truth(!a.headers.is_empty() || !b.headers.is_empty()))];
        let (a_size, b_size) = (a.size(self.terms), b.size(self.terms));
        differ.push((" (size)".to_owned(), self.unequal(a_size, b_size)));
        let known = a.front.len().max(b.front.len()) as u32;
        for place in 0..known {
            let there = self.terms.number(u64::from(place), 32);
            let there = self.terms.less(there, a_size);
            let (x, y) = (a.octet(self.terms, place), b.octet(self.terms, place));
            let other = self.unequal(x, y);
            differ.push((format!(" (octet {place})"), self.terms.all(&[there, other])));
        }
        // After the known octets, both are a part of the arrived message: the same part, if it begins at the same
        // octet.
        let known = self.terms.number(u64::from(known), 32);
        let more = self.terms.less(known, a_size);
        let mut first = |message: &Message| {
            let front = self.terms.number(message.front.len() as u64, 32);
            let ahead = self.terms.binary(Operator::Sub, known, front);
            self.terms.binary(Operator::Add, message.base.start, ahead)
        };
        let (x, y) = (first(a), first(b));
        let other = match a.base.octets == b.base.octets {
            true => self.unequal(x, y),
            false => self.terms.truth(true),
        };
        differ.push((" (what is behind its headers)".to_owned(), self.terms.all(&[more, other])));
        differ
    }

    fn state(&mut self, failures: &mut Failures) {
        let (pair, met) = (self.pair, self.met);
        let is_of_both =
            |(object, cell): &Place| pair.is_none_or(|pair| !pair.alone.contains(&(met.class_of(*object), *cell)));
        let cells = self.mine.written.iter().chain(&self.theirs.written).copied().filter(is_of_both);
        let cells: BTreeSet<_> = cells.collect();
        for (object, cell) in cells {
            let class = met.class_of(object);
            let name = format!("{}.{}", self.automaton.class(class).name, self.automaton.cell(class, cell).name);
            // A cell that one side has neither written nor read keeps its value.
            let before = met.before.get(&(object, cell));
            let of = |leaf: &Leaf| leaf.cells.get(&(object, cell)).or(before).copied();
            let failure = match (of(self.mine), of(self.theirs)) {
                (Some(a), Some(b)) => self.unequal(a, b),
                _ => self.terms.truth(true),
            };
            failures.push((Kind::State, name, failure));
        }
        let references: BTreeSet<_> = self.mine.referred.keys().chain(self.theirs.referred.keys()).copied().collect();
        for (object, cell) in references {
            let class = met.class_of(object);
            let name = format!("{}.{}", self.automaton.class(class).name, self.automaton.cell(class, cell).name);
            match (self.mine.referred.get(&(object, cell)), self.theirs.referred.get(&(object, cell))) {
                (Some(mine), Some(theirs)) => {
                    for (_, failure) in self.differ(mine, theirs) {
                        failures.push((Kind::State, name.clone(), failure));
                    }
                }
                _ => failures.push((Kind::State, name, self.terms.truth(true))),
            }
        }
        let counters = self.mine.counted.keys().chain(self.theirs.counted.keys()).copied().filter(is_of_both);
        let counters: BTreeSet<_> = counters.collect();
        for (object, cell) in counters {
            let class = met.class_of(object);
            let name = format!("{}.{}", self.automaton.class(class).name, self.automaton.cell(class, cell).name);
            let zero = self.terms.number(0, 64);
            let of = |leaf: &Leaf| leaf.counted.get(&(object, cell)).copied().unwrap_or(zero);
            let failure = self.unequal(of(self.mine), of(self.theirs));
            failures.push((Kind::State, name, failure));
        }
        let arrays = self.mine.elements.keys().chain(self.theirs.elements.keys()).copied().filter(is_of_both);
        let arrays: BTreeSet<_> = arrays.collect();
        for (object, cell) in arrays {
            let class = met.class_of(object);
            let described = self.automaton.cell(class, cell);
            let name = format!("{}.{}", self.automaton.class(class).name, described.name);
            let CellKind::Array { ty, size, .. } = described.kind else { continue };
            let index = self.terms.fresh("any place", Sort::Bits(64));
            let size = self.terms.number(u64::from(size), 64);
            let is_place = self.terms.less(index, size);
            let before = self.terms.fresh("what was there", sort_of(self.automaton, ty));
            let mut of = |leaf: &Leaf| {
                let mut value = before;
                for (place, new) in leaf.elements.get(&(object, cell)).into_iter().flatten() {
                    let place = self.terms.resize(*place, 64);
                    let here = self.terms.equal(place, index);
                    value = self.terms.choose(here, *new, value);
                }
                value
            };
            let (a, b) = (of(self.mine), of(self.theirs));
            let other = self.unequal(a, b);
            failures.push((Kind::State, name, self.terms.all(&[is_place, other])));
        }
        let no = self.terms.truth(false);
        failures.push((Kind::State, "cells".into(), no));
    }

    /// What was stored at places, in order, and what was taken from quotas.
    fn held(&mut self, failures: &mut Failures) {
        let (mine, theirs) = (&self.mine.kept, &self.theirs.kept);
        let where_to = |leaf: &Leaf| leaf.kept.iter().map(|(object, cell, ..)| (*object, *cell)).collect::<Vec<_>>();
        let other = where_to(self.mine) != where_to(self.theirs);
        failures.push((Kind::State, "which messages are kept".into(), self.terms.truth(other)));
        for ((_, _, at, mine), (_, _, place, theirs)) in mine.iter().zip(theirs) {
            failures.push((Kind::State, "the place of a message".into(), self.unequal(*at, *place)));
            let (Some(mine), Some(theirs)) = (mine, theirs) else {
                let other = self.terms.truth(mine.is_some() != theirs.is_some());
                failures.push((Kind::State, "what is put into a place or taken out".into(), other));
                continue;
            };
            let mut differ = self.octets_differ(mine, theirs);
            differ.retain(|(what, _)| what != HEADERS);
            differ.extend(self.beside_octets(mine, theirs));
            for (what, failure) in differ {
                failures.push((Kind::State, format!("a message that is kept{what}"), failure));
            }
        }
        let from = |leaf: &Leaf| leaf.spent.iter().map(|(object, cell, _)| (*object, *cell)).collect::<Vec<_>>();
        let other = from(self.mine) != from(self.theirs);
        failures.push((Kind::State, "which quotas are taken from".into(), self.terms.truth(other)));
        for ((_, _, mine), (_, _, theirs)) in self.mine.spent.iter().zip(&self.theirs.spent) {
            failures.push((Kind::State, "what is taken from a quota".into(), self.unequal(*mine, *theirs)));
        }
        let other = self.mine.merged != self.theirs.merged;
        failures.push((Kind::Ends, "how many messages became one".into(), self.terms.truth(other)));
    }

    fn timers(&mut self, failures: &mut Failures) {
        let (mine, theirs) = (&self.mine.timers, &self.theirs.timers);
        type Set = (Object, CellId, Option<Term>);
        let kinds = |timers: &[Set]| {
            timers.iter().map(|(object, cell, set)| (*object, *cell, set.is_some())).collect::<Vec<_>>()
        };
        let other = self.terms.truth(kinds(mine) != kinds(theirs));
        failures.push((Kind::Timers, "which timers are set".into(), other));
        for ((_, _, mine), (_, _, theirs)) in mine.iter().zip(theirs) {
            if let (Some(mine), Some(theirs)) = (mine, theirs) {
                let failure = self.unequal(*mine, *theirs);
                failures.push((Kind::Timers, "a deadline".into(), failure));
            }
        }
    }
}
