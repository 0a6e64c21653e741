//! Whether a path does what the layers do: for each way through it that ends, all that follows from the layers' handlers under the way's
//! guards is read, and compared.
//!
//! The layers are read from their handlers, with no queue, order or fact of the composition believed. A way is proved when every goal is refuted by
//! a solver, or is plain. Whatever is not read, not decided or different leaves it open: this judge never says "wrong", as a state that
//! it finds may be one that is never reached.

mod asking;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mokume_reaction::{AttributeId, Automaton, CellId, CellKind, ClassId, HandlerId, Path, Type, WireId};

use crate::solver::{Answer, Solver};
use crate::symbolic::{any_state, plain, sort_of, Emission, End, Leaf, Message, Object, Origin, Out, Reader, Value};
use crate::term::{Assumed, Operator, Sort, Term, Terms};
pub(crate) use asking::Asking;
pub use asking::{Step, Watch};

/// What is known of a path.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Each way through it that ends, in the order of its text.
    pub ways: Vec<Way>,
}

impl Judged {
    /// Whether all its ways are proved, and one is taken.
    pub fn is_proved(&self) -> bool {
        let is_taken = |way: &Way| way.verdict.as_ref().is_ok_and(|goals| !goals.is_empty());
        self.ways.iter().all(|way| way.verdict.is_ok()) && self.ways.iter().any(is_taken)
    }
}

/// One way through a path.
#[derive(Clone, Debug)]
pub struct Way {
    /// Conditions on it.
    pub guards: usize,
    /// How many goals of each kind were shown, none where it is never taken; or why it is open.
    pub verdict: Result<Goals, Open>,
}

/// Goals that were shown, by kind.
pub type Goals = BTreeMap<Kind, u32>;

/// What a goal is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// Nothing is reported, by the path nor by the layers.
    Reports,
    /// Who is spoken of is there, and so are the octets that are looked at.
    There,
    /// What leaves by ports, in order.
    Outputs,
    /// Cells, elements of arrays and counters.
    State,
    /// What is armed and stopped, in order.
    Timers,
    /// How messages end inside.
    Ends,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 6] = [Kind::Reports, Kind::There, Kind::Outputs, Kind::State, Kind::Timers, Kind::Ends];

    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Reports => "reports",
            Kind::There => "there",
            Kind::Outputs => "outputs",
            Kind::State => "state",
            Kind::Timers => "timers",
            Kind::Ends => "ends",
        }
    }
}

/// Why a way is not proved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Open {
    pub why: String,
    /// A state and an event for which nobody has shown it, as names and values: it may be one that is never reached.
    pub values: Vec<(String, u64)>,
}

impl From<String> for Open {
    fn from(why: String) -> Open {
        Open { why, values: Vec::new() }
    }
}

/// How the goal about a message's headers is called.
const HEADERS: &str = " (headers)";

/// Judges a path of an automaton whose procedures stand in place (`mokume_analyse::flat`).
pub fn judge<'w>(automaton: &Automaton, path: &Path, solvers: &mut [Box<dyn Solver + 'w>]) -> Result<Judged, String> {
    judge_watched(automaton, path, solvers, &mut |_| Ok(Duration::MAX))
}

/// The same, as long as the one who watches does not say that it is enough: what is not shown by then is open, for the reason that it gives.
pub fn judge_watched<'w>(
    automaton: &Automaton,
    path: &Path,
    solvers: &mut [Box<dyn Solver + 'w>],
    watch: &mut Watch,
) -> Result<Judged, String> {
    let mut terms = Terms::default();
    let (leaves, objects) = {
        let is_inside = !automaton.begins(path.handler);
        let mut reader = Reader::new(automaton, &mut terms, any_state).inside(is_inside);
        reader.assumes = false;
        let args = arguments(automaton, path.handler, &mut reader)?;
        let leaves = reader.take(path, args)?;
        (leaves, reader.objects().to_vec())
    };
    let mut ways = Vec::new();
    let all = leaves.len();
    for (place, leaf) in leaves.into_iter().enumerate() {
        let open = ways.iter().filter(|way: &&Way| way.verdict.is_err()).count();
        let step = Step { way: place + 1, ways: all, questions: 0, open };
        if leaf.escape.is_some() {
            if does_something(&leaf) {
                let why = "it does something before it refuses".to_owned();
                ways.push(Way { guards: leaf.condition.len(), verdict: Err(why.into()) });
            }
            if !leaf.refused_well {
                let why = "where it refuses, it gives back another message than it was given".to_owned();
                ways.push(Way { guards: leaf.condition.len(), verdict: Err(why.into()) });
            }
            // The layers run behind a refusal, and report what they report.
            let facts = [sizes(automaton, path.handler, &mut terms), leaf.condition.clone()].concat();
            let facts = made_simple(&mut terms, &facts);
            let before = terms.assumed();
            facts.iter().for_each(|fact| terms.assume(*fact));
            terms.assume_all(&facts);
            let traps = terms.all_again(&leaf.traps);
            let reports = terms.any(&traps);
            terms.assuming(before);
            if terms.constant(reports) != Some(0) {
                let mut asking = Asking::new(facts, &mut *solvers, (&mut *watch, step));
                if asking.ask(&mut terms, &[reports]) != Answer::Unsat {
                    let why = asking.over().unwrap_or("it may report something before it refuses".to_owned());
                    ways.push(Way { guards: leaf.condition.len(), verdict: Err(why.into()) });
                }
            }
            continue;
        }
        let facts = [sizes(automaton, path.handler, &mut terms), leaf.condition.clone()].concat();
        let facts = made_simple(&mut terms, &facts);
        let asking = RefCell::new(Asking::new(facts.clone(), &mut *solvers, (&mut *watch, step)));
        let mut verdict = judge_way(automaton, path, &objects, (&mut terms, &facts), &asking);
        if let (Err(_), Some(why)) = (&verdict, asking.borrow_mut().over()) {
            verdict = Err(why.into());
        }
        terms.assuming(Assumed::default());
        terms.tell_apart();
        ways.push(Way { guards: leaf.condition.len(), verdict });
    }
    Ok(Judged { ways })
}

/// Facts that say the same together, each as those in front of it make it.
pub(crate) fn made_simple(terms: &mut Terms, facts: &[Term]) -> Vec<Term> {
    let before = terms.assumed();
    let mut simple = Vec::new();
    for fact in facts {
        let fact = terms.again(*fact);
        terms.assume(fact);
        if terms.constant(fact) != Some(1) {
            simple.push(fact);
        }
    }
    terms.assuming(before);
    simple
}

/// What a parameter is called: as nothing else is, and not as another of the same name.
pub fn given(place: usize, name: &str) -> String {
    format!("given {place} {}", plain(name))
}

/// What a handler's event brings: anything.
pub(crate) fn arguments(automaton: &Automaton, handler: HandlerId, reader: &mut Reader) -> Result<Vec<Value>, String> {
    let params = automaton.handler(handler).params.iter().enumerate();
    params.map(|(place, (name, ty))| argument(automaton, (place, name), *ty, reader)).collect()
}

pub(crate) fn argument(
    automaton: &Automaton,
    (place, name): (usize, &str),
    ty: Type,
    reader: &mut Reader,
) -> Result<Value, String> {
    let given = given(place, name);
    Ok(match ty {
        Type::Msg if reader.is_inside => Value::Message(Box::new(Message::unknown_inside(reader.terms, &given))),
        Type::Msg => Value::Message(Box::new(Message::unknown(reader.terms, &given))),
        Type::Ref(_) | Type::Reason | Type::Array(..) => {
            return Err(format!("the event brings `{name}`, which is no number"))
        }
        scalar => Value::Bits(reader.terms.variable(&given, sort_of(automaton, scalar))),
    })
}

/// No message has 2^31 octets.
pub(crate) fn sizes(automaton: &Automaton, handler: HandlerId, terms: &mut Terms) -> Vec<Term> {
    let params = &automaton.handler(handler).params;
    let mut facts = Vec::new();
    for (place, (name, _)) in params.iter().enumerate().filter(|(_, (_, ty))| *ty == Type::Msg) {
        let size = terms.variable(&format!("{}.size", given(place, name)), Sort::Bits(32));
        let most = terms.number(1 << 31, 32);
        facts.push(terms.less(size, most));
    }
    facts
}

fn does_something(leaf: &Leaf) -> bool {
    let Leaf { written, outs, ended, counted, elements, timers, handed, kept, spent, merged, .. } = leaf;
    handed.is_some()
        || !kept.is_empty()
        || !spent.is_empty()
        || *merged > 0
        || !(written.is_empty()
            && outs.is_empty()
            && ended.is_empty()
            && counted.is_empty()
            && elements.is_empty()
            && timers.is_empty())
}

fn judge_way(
    automaton: &Automaton,
    path: &Path,
    objects: &[(mokume_reaction::ClassId, crate::symbolic::Origin)],
    (terms, facts): (&mut Terms, &[Term]),
    asking: &RefCell<Asking<'_, '_, '_>>,
) -> Result<Goals, Open> {
    match asking.borrow_mut().ask(terms, &[]) {
        Answer::Sat(_) => {}
        // Its guards exclude each other.
        Answer::Unsat => return Ok(Goals::new()),
        Answer::Unknown(why) => return Err(format!("whether it is ever taken is not decided: {why}").into()),
    }
    for fact in facts {
        let fact = terms.again(*fact);
        terms.assume(fact);
    }
    // What a later fact says makes an earlier one simpler.
    terms.assume_all(facts);
    let (mine, theirs, objects, there, cells) = {
        let is_inside = !automaton.begins(path.handler);
        let mut reader = Reader::new(automaton, terms, any_state).knowing(objects.to_vec()).inside(is_inside);
        let same = reader.same_objects();
        asking.borrow_mut().learn(reader.terms, &same);
        same.iter().for_each(|fact| reader.terms.assume(*fact));
        let facts = &[facts, &same].concat()[..];
        reader.terms.assume_all(facts);
        reader.facts = facts.to_vec();
        reader.without_impossible(|terms, conditions| {
            matches!(asking.borrow_mut().ask(terms, conditions), Answer::Unsat)
        });
        reader.stopped_by(|| asking.borrow_mut().over());
        let args = arguments(automaton, path.handler, &mut reader)?;
        let mine = reader.take(path, args.clone())?;
        let roots: Vec<Term> = mine.iter().filter(|leaf| leaf.escape.is_none()).flat_map(Leaf::terms).collect();
        asking.borrow_mut().know(reader.terms, &[facts, &roots].concat());
        reader.with_same(|terms, term| asking.borrow_mut().same(terms, term));
        let handed = mine.iter().filter(|leaf| leaf.escape.is_none()).find_map(|leaf| leaf.handed.as_ref());
        reader.hands_over = handed.map(|handed| handed.handler);
        let theirs = reader.react(path.handler, args)?;
        let objects = reader.objects().to_vec();
        let there: Vec<Term> = (0..objects.len() as u32).map(|object| reader.is_there(Object(object))).collect();
        let written: BTreeSet<Place> = mine.iter().chain(&theirs).flat_map(|leaf| &leaf.written).copied().collect();
        let before = written.into_iter().filter_map(|place| Some((place, reader.before(place.0, place.1)?)));
        let cells: BTreeMap<Place, Term> = before.collect();
        (mine, theirs, objects, there, cells)
    };
    let is_sure = |origin: &Origin| matches!(origin, Origin::Given(_) | Origin::Unique(_) | Origin::Parent(_));
    let sure: Vec<bool> = objects.iter().map(|(_, origin)| is_sure(origin)).collect();
    let mut mine = mine.into_iter().filter(|leaf| leaf.escape.is_none());
    let (Some(mine), None) = (mine.next(), mine.next()) else {
        return Err("its guards do not say which way it is".to_owned().into());
    };
    let mut goals = Goals::new();
    for theirs in theirs {
        if let Some(escape) = &theirs.escape {
            return Err(format!("the layers come to {escape}").into());
        }
        let class_of = |object: Object| objects[object.0 as usize].0;
        // What holds on this way of the layers makes both sides simpler.
        let before = terms.assumed();
        for fact in &theirs.condition {
            let fact = terms.again(*fact);
            terms.assume(fact);
        }
        terms.assume_all(&[facts, &theirs.condition].concat());
        let compared = Compared {
            automaton,
            class_of: &class_of,
            there: &there,
            sure: &sure,
            before: &cells,
            alone: &BTreeSet::new(),
            other_wires: &BTreeSet::new(),
            may_report: false,
            terms: &mut *terms,
            mine: &mine,
            theirs: &theirs,
        };
        let failures = compared.failures()?;
        for (kind, about, failure) in failures {
            if terms.constant(failure) != Some(0) {
                let more = [&theirs.condition[..], &[failure]].concat();
                match asking.borrow_mut().ask(terms, &more) {
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
        terms.assuming(before);
    }
    match goals.is_empty() {
        true => Err("the layers have no way that it is compared with".to_owned().into()),
        false => Ok(goals),
    }
}

/// A way through the path and one through the layers.
pub(crate) struct Compared<'c, 'a> {
    pub(crate) automaton: &'a Automaton,
    pub(crate) class_of: &'c dyn Fn(Object) -> mokume_reaction::ClassId,
    /// Of each object, whether it is.
    pub(crate) there: &'c [Term],
    /// Of each object, whether it has a name that is never nobody's.
    pub(crate) sure: &'c [bool],
    /// What the cells that one of them writes held before.
    pub(crate) before: &'c BTreeMap<Place, Term>,
    /// Cells that only one of two automata has: what is in them is not compared.
    pub(crate) alone: &'c BTreeSet<(ClassId, CellId)>,
    /// Wires that are not the same in both.
    pub(crate) other_wires: &'c BTreeSet<WireId>,
    /// Whether both may report, if both do.
    pub(crate) may_report: bool,
    pub(crate) terms: &'c mut Terms,
    pub(crate) mine: &'c Leaf,
    pub(crate) theirs: &'c Leaf,
}

pub(crate) type Failures = Vec<(Kind, String, Term)>;

/// A cell of an object.
pub(crate) type Place = (Object, CellId);

impl Compared<'_, '_> {
    /// For each goal: what it is about, and when it fails.
    pub(crate) fn failures(mut self) -> Result<Failures, String> {
        let mut failures = Failures::new();
        if self.may_report {
            let [mine, theirs] = [self.mine, self.theirs].map(|leaf| {
                let traps = self.terms.all_again(&leaf.traps);
                self.terms.any(&traps)
            });
            failures.push((Kind::Reports, "what is reported".into(), self.unequal(mine, theirs)));
        }
        for leaf in [self.mine, self.theirs] {
            for trap in leaf.traps.iter().filter(|_| !self.may_report) {
                failures.push((Kind::Reports, "what is reported".into(), *trap));
            }
            for null in &leaf.nulls {
                failures.push((Kind::There, "who or what is there".into(), *null));
            }
        }
        // Of nobody zeros are read and nothing is written, by both; but what is written there is not read back.
        let (written, named) = (self.written(), self.named());
        // By a name that may be nobody's, one of them may write nothing where the other writes: but if both have that name alone.
        let names = |leaf: &Leaf, object: &Object| {
            leaf.looked.iter().filter(|(looked, _)| looked == object).map(|(_, null)| *null).collect::<BTreeSet<_>>()
        };
        let differs = |object: &Object| {
            let (mine, theirs) = (names(self.mine, object), names(self.theirs, object));
            self.sure[object.0 as usize] || mine != theirs || mine.len() > 1
        };
        let asked = |object: &Object| written.contains(object) || (named.contains(object) && differs(object));
        for leaf in [self.mine, self.theirs] {
            for (_, null) in leaf.looked.iter().filter(|(object, _)| asked(object)) {
                failures.push((Kind::There, "whose state is written".into(), *null));
            }
        }
        for object in &written {
            let ended = self.terms.not(self.there[object.0 as usize]);
            failures.push((Kind::There, "whose state is written".into(), ended));
        }
        // One goal of a kind stands for all that are plain.
        let no = self.terms.truth(false);
        failures.push((Kind::Reports, "what is reported".into(), no));
        failures.push((Kind::There, "who or what is there".into(), no));
        self.outputs(&mut failures);
        self.handed(&mut failures);
        self.emitted(&mut failures);
        self.state(&mut failures);
        self.timers(&mut failures);
        self.held(&mut failures);
        self.ends(&mut failures);
        self.refused(&mut failures);
        Ok(failures)
    }

    /// What is refused by a wire: for which of several reasons, the wire says alone. So it is the same wire, of the same packet.
    fn refused(&mut self, failures: &mut Failures) {
        let (mine, theirs) = (&self.mine.refused, &self.theirs.refused);
        let wires = |refused: &[(WireId, Message)]| refused.iter().map(|(wire, _)| *wire).collect::<Vec<_>>();
        let other = wires(mine) != wires(theirs) || wires(mine).iter().any(|wire| self.other_wires.contains(wire));
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

    /// Whose state is written at all.
    fn named(&self) -> BTreeSet<Object> {
        let of = |leaf: &Leaf| {
            let cells = leaf.written.iter().chain(leaf.elements.keys()).chain(leaf.counted.keys());
            cells.map(|(object, _)| *object).collect::<BTreeSet<_>>()
        };
        self.written().into_iter().chain(of(self.mine)).chain(of(self.theirs)).collect()
    }

    /// Whose state is written so that it matters whether it is there.
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

    /// What is left to a handler that is not read: who it is, and all that the event brings.
    fn handed(&mut self, failures: &mut Failures) {
        let (mine, theirs) = match (&self.mine.handed, &self.theirs.handed) {
            (Some(mine), Some(theirs)) => (mine, theirs),
            (None, None) => return,
            (_, _) => return failures.push((Kind::Outputs, "what is handed over".into(), self.terms.truth(true))),
        };
        let same =
            mine.handler == theirs.handler && mine.target == theirs.target && mine.args.len() == theirs.args.len();
        failures.push((Kind::Outputs, "who is handed it".into(), self.terms.truth(!same)));
        for (arg, (mine, theirs)) in mine.args.iter().zip(&theirs.args).enumerate() {
            for (what, failure) in self.handed_differ(mine, theirs) {
                failures.push((Kind::Outputs, format!("what is handed over, argument {}{what}", arg + 1), failure));
            }
        }
    }

    /// What a handler that is read alone emits, in order, and whom it asks to settle.
    fn emitted(&mut self, failures: &mut Failures) {
        let (mine, theirs) = (&self.mine.emitted, &self.theirs.emitted);
        if mine.is_empty() && theirs.is_empty() && self.mine.settling == self.theirs.settling {
            return;
        }
        let other = self.mine.settling != self.theirs.settling && self.may_report;
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

    /// When two values that a handler is given differ: of messages headers and all that is beside octets, too.
    fn handed_differ(&mut self, mine: &Value, theirs: &Value) -> Vec<(String, Term)> {
        let mut differ = self.differ(mine, theirs);
        if let (Value::Message(mine), Value::Message(theirs)) = (mine, theirs) {
            // Octets alone are compared by `differ`.
            differ.retain(|(what, _)| what != HEADERS);
            differ.extend(self.beside_octets(mine, theirs));
        }
        differ
    }

    /// When headers, attributes or what is remembered of the packets differ.
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
        // Behind them both are a part of what came in: the same part, if it begins at the same octet.
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
        let (alone, class_of) = (self.alone, self.class_of);
        let is_of_both = |(object, cell): &Place| !alone.contains(&(class_of(*object), *cell));
        let cells = self.mine.written.iter().chain(&self.theirs.written).copied().filter(is_of_both);
        let cells: BTreeSet<_> = cells.collect();
        for (object, cell) in cells {
            let class = (self.class_of)(object);
            let name = format!("{}.{}", self.automaton.class(class).name, self.automaton.cell(class, cell).name);
            // What one of them has neither written nor read is as it was.
            let before = self.before.get(&(object, cell));
            let of = |leaf: &Leaf| leaf.cells.get(&(object, cell)).or(before).copied();
            let failure = match (of(self.mine), of(self.theirs)) {
                (Some(a), Some(b)) => self.unequal(a, b),
                _ => self.terms.truth(true),
            };
            failures.push((Kind::State, name, failure));
        }
        let counters = self.mine.counted.keys().chain(self.theirs.counted.keys()).copied().filter(is_of_both);
        let counters: BTreeSet<_> = counters.collect();
        for (object, cell) in counters {
            let class = (self.class_of)(object);
            let name = format!("{}.{}", self.automaton.class(class).name, self.automaton.cell(class, cell).name);
            let zero = self.terms.number(0, 64);
            let of = |leaf: &Leaf| leaf.counted.get(&(object, cell)).copied().unwrap_or(zero);
            let failure = self.unequal(of(self.mine), of(self.theirs));
            failures.push((Kind::State, name, failure));
        }
        let arrays = self.mine.elements.keys().chain(self.theirs.elements.keys()).copied().filter(is_of_both);
        let arrays: BTreeSet<_> = arrays.collect();
        for (object, cell) in arrays {
            let class = (self.class_of)(object);
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

    /// What was put into places, in order, and taken from quotas.
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
