//! An interpreter whose reactions to all inputs are predicted by the symbolic reading, and compared with the
//! prediction.

use std::collections::{BTreeMap, HashMap};

use mokume_interpret::{CellView, Instance};
use mokume_prove::symbolic::{sort_of, Leaf, Message, Object, Origin, Reader, Value};
use mokume_prove::term::Terms;
use mokume_reaction::{
    Accounts, Automaton, CellId, CellKind, ClassId, Datum, Handle, HandlerId, Machine, Outcome, Output, PortId,
    ReasonId, Trigger, Type,
};

use super::concrete::Concrete;

/// The ways through the handler of one port's input.
pub struct Reading {
    pub terms: Terms,
    objects: Vec<(ClassId, Origin)>,
    pub leaves: Vec<Leaf>,
}

/// How many inputs were predicted or not, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// Predicted and compared.
    pub compared: u32,
    /// On a way that the reading does not follow.
    pub escaped: u32,
    /// Of handlers that are not read at all.
    pub unread: u32,
    /// Refused at the port, or with a null reference that the way uses.
    pub left_out: u32,
}

/// `stack` runs `automaton`; the readings may be of another automaton, with a planted fault.
pub struct Watched<'a> {
    automaton: &'a Automaton,
    pub stack: Instance,
    readings: HashMap<(PortId, u32), Option<Reading>>,
    pub seen: Seen,
    /// The first wrong prediction.
    pub wrong: Option<String>,
}

impl<'a> Watched<'a> {
    pub fn new(automaton: &'a Automaton, read: &Automaton, seed: u64) -> Watched<'a> {
        let mut readings = HashMap::new();
        for (p, port) in automaton.ports.iter().enumerate() {
            for e in 0..port.inputs.len() {
                readings.insert((PortId::from(p), e as u32), reading(read, PortId::from(p), e));
            }
        }
        let stack = Instance::new(automaton, &[], seed);
        Watched { automaton, stack, readings, seen: Seen::default(), wrong: None }
    }

    fn compare(
        &mut self,
        port: PortId,
        event: u32,
        args: &[Datum],
        run: impl FnOnce(&mut Instance) -> Outcome,
    ) -> Outcome {
        let before = self.stack.clone();
        let outcome = run(&mut self.stack);
        let Some(reading) = &self.readings[&(port, event)] else {
            self.seen.unread += 1;
            return outcome;
        };
        if outcome.refused {
            self.seen.left_out += 1;
            return outcome;
        }
        let base = concrete(self.automaton, reading, &before, self.stack.now(), (port, event), args);
        let taken: Vec<(&Leaf, Concrete)> = reading
            .leaves
            .iter()
            .map(|leaf| (leaf, base.with_held(leaf)))
            .filter(|(leaf, concrete)| leaf.condition.iter().all(|term| concrete.truth(*term)))
            .collect();
        let [(leaf, concrete)] = &taken[..] else {
            self.wrong.get_or_insert(format!("{} ways at once", taken.len()));
            return outcome;
        };
        if leaf.escape.is_some() {
            self.seen.escaped += 1;
        } else if !leaf.put_off.is_empty() {
            // The reactions of these events come in the same call.
            self.seen.left_out += 1;
        } else if leaf.nulls.iter().chain(leaf.looked.iter().map(|(_, null)| null)).any(|null| concrete.truth(*null)) {
            self.seen.left_out += 1;
        } else {
            self.seen.compared += 1;
            let wrong = differences(concrete, leaf, &self.stack, &outcome);
            self.wrong = self.wrong.take().or(wrong);
        }
        outcome
    }
}

impl Machine for Watched<'_> {
    fn start(&mut self, now: u64) -> Outcome {
        self.stack.start(now)
    }

    /// What is due at or before `now` runs first, as it would in one call.
    fn input(&mut self, now: u64, port: PortId, event: u32, args: &[Datum]) -> Outcome {
        let first = self.stack.advance(now);
        let then = self.compare(port, event, args, |stack| stack.input(now, port, event, args));
        Outcome {
            outputs: [first.outputs, then.outputs].concat(),
            reports: [first.reports, then.reports].concat(),
            refused: then.refused,
        }
    }

    fn advance(&mut self, now: u64) -> Outcome {
        self.stack.advance(now)
    }

    fn next_deadline(&self) -> Option<u64> {
        self.stack.next_deadline()
    }

    fn accounts(&self) -> Accounts {
        self.stack.accounts()
    }
}

/// A place in which a message is kept, and its octets; `None` if it was emptied.
type Rewritten = (u64, Option<Vec<u8>>);

/// The handler of a port's input, for any state and any event; `None` if it is not read.
pub fn reading(automaton: &Automaton, port: PortId, event: usize) -> Option<Reading> {
    let input = &automaton.ports[port.index()].inputs[event];
    let handler: HandlerId = automaton.handler_of(input.class, &Trigger::Event(input.handler.clone()))?;
    let own = usize::from(!automaton.is_unique(input.class));
    let mut terms = Terms::default();
    let (objects, leaves) = {
        let mut reader = Reader::new(automaton, &mut terms, state);
        let mut args = Vec::new();
        for (name, ty) in input.params.iter().skip(own) {
            args.push(match ty {
                Type::Msg => Value::Message(Box::new(Message::unknown(reader.terms, name))),
                Type::Ref(_) | Type::Reason => return None,
                scalar => Value::Bits(reader.terms.variable(name, sort_of(automaton, *scalar))),
            });
        }
        let leaves = reader.react(handler, args).ok()?;
        (reader.objects().to_vec(), leaves)
    };
    Some(Reading { terms, objects, leaves })
}

/// A variable for each scalar cell, named by numbers.
fn state(
    terms: &mut Terms,
    automaton: &Automaton,
    class: ClassId,
    cell: CellId,
    which: u32,
) -> Option<mokume_prove::term::Term> {
    let CellKind::Scalar { ty, .. } = automaton.cell(class, cell).kind else { return None };
    Some(terms.variable(&format!("cell {} {} {which}", class.0, cell.0), sort_of(automaton, ty)))
}

fn concrete<'c>(
    automaton: &'c Automaton,
    reading: &'c Reading,
    stack: &'c Instance,
    now: u64,
    (port, event): (PortId, u32),
    args: &[Datum],
) -> Concrete<'c> {
    let input = &automaton.ports[port.index()].inputs[event as usize];
    let mut scalars = Concrete::surroundings(automaton, now);
    let mut messages = HashMap::new();
    let mut target = Handle { object: 0, generation: 0 };
    if automaton.is_unique(input.class) {
        target = stack.objects(input.class).first().copied().unwrap_or(target);
    }
    for ((name, ty), arg) in input.params.iter().zip(args) {
        match arg {
            Datum::Word(word) => {
                scalars.insert(name.clone(), word & (u64::MAX >> (64 - u32::from(ty.width(automaton).max(1)))));
            }
            Datum::Handle(handle) => target = *handle,
            Datum::Message(octets) => {
                messages.insert(name.clone(), octets.clone());
            }
        }
    }
    Concrete {
        automaton,
        terms: &reading.terms,
        stack,
        objects: &reading.objects,
        target,
        scalars,
        messages,
        held: HashMap::new(),
        known: Default::default(),
    }
}

/// Compares the way's prediction with what happened: outputs, reports, cells, drops.
fn differences(concrete: &Concrete, leaf: &Leaf, after: &Instance, outcome: &Outcome) -> Option<String> {
    let outputs: Vec<Output> = leaf
        .outs
        .iter()
        .map(|out| Output {
            port: out.port,
            event: out.event,
            args: out.args.iter().map(|v| datum(concrete, v)).collect(),
        })
        .collect();
    if outputs != outcome.outputs {
        return Some(format!("outputs {outputs:?}, and were {:?}", outcome.outputs));
    }
    let reports = leaf.traps.iter().any(|trap| concrete.truth(*trap));
    if reports == outcome.reports.is_empty() {
        return Some(format!("reports {reports}, and were {:?}", outcome.reports));
    }
    dropped(concrete, leaf, after).or_else(|| cells(concrete, leaf, after))
}

fn datum(concrete: &Concrete, value: &Value) -> Datum {
    match value {
        Value::Bits(term) => Datum::Word(concrete.number(*term)),
        Value::Object(object) | Value::Perhaps(object, _) => {
            Datum::Handle(concrete.object(*object).unwrap_or(Handle::NULL))
        }
        Value::Null => Datum::Handle(Handle::NULL),
        Value::Message(message) => Datum::Message(concrete.octets(message)),
        Value::Reason(reason) => Datum::Word(u64::from(reason.0)),
        Value::Array(_) => unreachable!("nothing that leaves by a port is an array"),
    }
}

fn dropped(concrete: &Concrete, leaf: &Leaf, after: &Instance) -> Option<String> {
    let ends = |accounts: &Accounts| {
        let mut ends: BTreeMap<ReasonId, u64> = BTreeMap::new();
        for (reason, count) in accounts.dropped.iter().chain(&accounts.consumed) {
            *ends.entry(*reason).or_default() += count;
        }
        ends
    };
    let mut foretold = ends(&concrete.stack.accounts());
    leaf.ended
        .iter()
        .filter(|end| concrete.truth(end.when))
        .for_each(|end| *foretold.entry(end.reason).or_default() += 1);
    let happened = ends(&after.accounts());
    (foretold != happened).then(|| format!("ends of messages {foretold:?}, and were {happened:?}"))
}

/// Every scalar cell and counter of every object: as predicted, or unchanged.
fn cells(concrete: &Concrete, leaf: &Leaf, after: &Instance) -> Option<String> {
    let automaton = concrete.automaton;
    let mut written: HashMap<(ClassId, Handle, CellId), u64> = HashMap::new();
    for (object, cell) in &leaf.written {
        let (class, handle) = place(concrete, *object)?;
        written.insert((class, handle, *cell), concrete.number(leaf.cells[&(*object, *cell)]));
    }
    for ((object, cell), value) in &leaf.referred {
        let (class, handle) = place(concrete, *object)?;
        let referred = match value {
            Value::Object(referred) => concrete.object(*referred),
            Value::Perhaps(referred, null) if !concrete.truth(*null) => concrete.object(*referred),
            _ => None,
        };
        let word = referred.map_or(u64::MAX, |to| u64::from(to.object) | u64::from(to.generation) << 32);
        written.insert((class, handle, *cell), word);
    }
    for ((object, cell), amount) in &leaf.counted {
        let (class, handle) = place(concrete, *object)?;
        *written.entry((class, handle, *cell)).or_default() += concrete.number(*amount);
    }
    let mut elements: HashMap<(ClassId, Handle, CellId), Vec<(u64, u64)>> = HashMap::new();
    for ((object, cell), changes) in &leaf.elements {
        let (class, handle) = place(concrete, *object)?;
        let changes = changes.iter().map(|(index, value)| (concrete.number(*index), concrete.number(*value)));
        elements.insert((class, handle, *cell), changes.collect());
    }
    let mut timers: HashMap<(ClassId, Handle, CellId), Option<u64>> = HashMap::new();
    for (object, cell, deadline) in &leaf.timers {
        let (class, handle) = place(concrete, *object)?;
        timers.insert((class, handle, *cell), deadline.map(|deadline| concrete.number(deadline)));
    }
    let mut spent: HashMap<(ClassId, Handle, CellId), u64> = HashMap::new();
    for (object, cell, amount) in &leaf.spent {
        let (class, handle) = place(concrete, *object)?;
        *spent.entry((class, handle, *cell)).or_default() += concrete.number(*amount);
    }
    let mut kept: HashMap<(ClassId, Handle, CellId), Vec<Rewritten>> = HashMap::new();
    for (object, cell, index, message) in &leaf.kept {
        let (class, handle) = place(concrete, *object)?;
        let message = (concrete.number(*index), message.as_ref().map(|message| concrete.octets(message)));
        kept.entry((class, handle, *cell)).or_default().push(message);
    }
    for class in (0..automaton.classes.len()).map(ClassId::from) {
        for object in after.objects(class) {
            for cell in (0..automaton.class(class).cells.len()).map(CellId::from) {
                let now = after.cell(class, object, cell);
                let before = concrete.stack.cell(class, object, cell);
                let change = written.get(&(class, object, cell)).copied();
                let mut array = match before {
                    Some(CellView::Array(words)) => words.to_vec(),
                    _ => Vec::new(),
                };
                for (index, value) in elements.get(&(class, object, cell)).into_iter().flatten() {
                    if let Some(word) = array.get_mut(*index as usize) {
                        *word = *value;
                    }
                }
                if let (Some(kept), Some(CellView::Messages(places)), Some(CellView::Messages(before))) =
                    (kept.get(&(class, object, cell)), &now, &before)
                {
                    let octets = |places: &Vec<Option<&mokume_interpret::Message>>| -> Vec<Option<Vec<u8>>> {
                        places.iter().map(|held| held.map(|held| held.octets.clone())).collect()
                    };
                    let mut foretold = octets(before);
                    for (index, octets) in kept {
                        if let Some(place) = foretold.get_mut(*index as usize) {
                            *place = octets.clone();
                        }
                    }
                    if foretold != octets(places) {
                        return Some(format!("{foretold:?} in places, and are {:?}", octets(places)));
                    }
                    continue;
                }
                let timer = timers.get(&(class, object, cell)).copied();
                let foretold = match (before, change) {
                    (Some(CellView::Array(_)), _) => Some(CellView::Array(&array)),
                    // Deadlines are rounded up to the timer's resolution.
                    (Some(CellView::Timer(_)), _) if timer.is_some() => {
                        let tick = automaton.tick.max(1);
                        // If there is no later one, down to the last (docs/semantics.md, T6).
                        let rounded = |at: u64| at.checked_next_multiple_of(tick).unwrap_or(at - at % tick);
                        Some(CellView::Timer(timer.flatten().map(rounded)))
                    }
                    (Some(CellView::Counter(total)), Some(amount)) => Some(CellView::Counter(total + amount)),
                    (Some(CellView::Quota { left, amount }), _) => {
                        let spent = spent.get(&(class, object, cell)).copied().unwrap_or(0) as u32;
                        Some(CellView::Quota { left: left.wrapping_sub(spent), amount })
                    }
                    (_, Some(value)) => Some(CellView::Word(value)),
                    (before, None) => before,
                };
                if foretold != now {
                    let name = &automaton.cell(class, cell).name;
                    return Some(format!("{}.{name}: {foretold:?}, and is {now:?}", automaton.class(class).name));
                }
            }
        }
    }
    None
}

fn place(concrete: &Concrete, object: Object) -> Option<(ClassId, Handle)> {
    Some((concrete.objects[object.0 as usize].0, concrete.object(object)?))
}
