//! Follows a packet through the handlers of the layers of one wire, whatever their state.
//!
//! Where the state decides, both ways are followed; a packet is rejected if all of them end in a drop.

use std::ops::Range;
use std::rc::Rc;

use mokume_reaction::{Automaton, ClassId, HandlerId, LayerId, SourceId, Trigger, Type, Value, WireId};
use mokume_wire::HeaderValue;

use crate::steps::{Block, Cause, End, Number, Routine, Step, Target};

/// The event with which a packet continues upwards.
pub const DELIVER: &str = "deliver";

/// The most blocks that are followed for one wire's layers: beyond these, anything may happen.
pub const LONGEST: usize = 2000;

/// The octets of a packet; those from `captured` on are unknown.
#[derive(Clone, Copy, Debug)]
pub struct Octets<'a> {
    pub all: &'a [u8],
    pub captured: usize,
}

/// What the wire has read of the packet.
#[derive(Clone, Debug)]
pub struct Packet {
    /// `None` for layers without headers.
    pub wire: Option<WireId>,
    /// Its place, without what was cut off after it.
    pub packet: Range<usize>,
    /// Its place as the wire met it.
    pub met: Range<usize>,
    pub payload: Range<usize>,
    pub headers: Vec<HeaderValue>,
}

/// What accompanies the message; unknown by default.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Beside {
    /// The receiving object and its arguments; `None` if unknown.
    pub to: Option<(ClassId, Vec<Option<u64>>)>,
    /// By attribute; empty if unknown.
    pub attributes: Vec<Option<u64>>,
}

/// What happens to a packet.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Fate {
    /// Set if nothing else can happen: the reasons for the drop, each once.
    pub dropped: Vec<Dropped>,
    /// Where it continues upwards, certainly or perhaps.
    pub up: Option<Up>,
    /// Whether a layer keeps it, certainly or perhaps: for the layers above it is a fragment.
    pub kept: bool,
}

/// Why a layer drops it, and the place of the drop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dropped {
    pub reason: Cause,
    pub source: Option<SourceId>,
}

/// What continues upwards.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Up {
    /// Its place; `None` if it is not a part of the packet as it came.
    pub octets: Option<Range<usize>>,
    pub beside: Beside,
    /// Whether the state may decide otherwise: a layer may keep it, take it for itself, or give it to another.
    pub perhaps: bool,
}

/// The layers of a stack as steps.
#[derive(Clone, Debug)]
pub struct Layers {
    /// By handler; set for those that are followed.
    pub routines: Vec<Option<Routine>>,
    /// The attributes of a new message.
    pub attributes: Vec<u64>,
}

impl Layers {
    /// The steps of all handlers of incoming messages.
    pub fn of(automaton: &Automaton) -> Layers {
        let is_up = |trigger: &Trigger| *trigger == Trigger::Event(DELIVER.to_string());
        let routine =
            |handler: &mokume_reaction::Handler| is_up(&handler.trigger).then(|| Routine::of(automaton, &handler.body));
        let attributes = automaton.attributes.iter().map(|attribute| attribute.default).collect();
        Layers { routines: automaton.handlers.iter().map(routine).collect(), attributes }
    }

    /// What accompanies a frame when it comes in.
    pub fn beside_frame(&self) -> Beside {
        Beside { to: None, attributes: self.attributes.iter().map(|value| Some(*value)).collect() }
    }
}

/// The handlers of what comes up to these layers.
pub fn takers(automaton: &Automaton, layers: &[LayerId]) -> Vec<HandlerId> {
    let takes = |handler: &mokume_reaction::Handler| {
        handler.trigger == Trigger::Event(DELIVER.to_string()) && layers.contains(&automaton.class(handler.class).layer)
    };
    let all = automaton.handlers.iter().enumerate();
    all.filter(|(_, handler)| takes(handler)).map(|(at, _)| HandlerId::from(at)).collect()
}

/// What happens to a packet in the layers `within`, of which it reaches the `lowest` first. `above`: the lowest layers of what its
/// keys select next; empty if that is not known.
pub fn follow(
    automaton: &Automaton,
    layers: &Layers,
    (within, lowest, above): (&[LayerId], &[LayerId], &[LayerId]),
    (octets, packet): (Octets<'_>, &Packet),
    beside: &Beside,
) -> Fate {
    let mut walk = Walk {
        automaton,
        layers,
        within,
        octets,
        packet,
        blocks: 0,
        over: false,
        drops: Vec::new(),
        used: false,
        held: false,
        kept: false,
        ups: Vec::new(),
    };
    let attributes = match beside.attributes.len() == layers.attributes.len() {
        true => beside.attributes.clone(),
        false => vec![None; layers.attributes.len()],
    };
    let octets = Some(packet.packet.clone());
    let message = Some(Rc::new(Message { octets, headers: None, attributes, met: true, quoted: false }));
    let known = beside.to.as_ref().and_then(|(class, args)| Some((walk.taker(*class)?, args.clone())));
    let takers = match known {
        Some(known) => vec![known],
        None => takers(automaton, lowest).into_iter().map(|handler| (handler, Vec::new())).collect(),
    };
    if takers.is_empty() {
        let whole = if packet.wire.is_some() { packet.payload.clone() } else { packet.packet.clone() };
        let up = Up { octets: Some(whole), beside: Beside::default(), perhaps: true };
        return Fate { up: Some(up), ..Fate::default() };
    }
    for (handler, args) in takers {
        let args = args.into_iter().map(Known::of);
        let args = std::iter::once(Known::Message(message.clone())).chain(args).collect();
        walk.handler(handler, args);
    }
    walk.fate(above)
}

/// What is known of a value.
#[derive(Clone, Debug)]
enum Known {
    Nothing,
    Number(u64),
    /// `None` for a message that is not the packet's.
    Message(Option<Rc<Message>>),
}

impl Known {
    fn of(value: Option<u64>) -> Known {
        value.map_or(Known::Nothing, Known::Number)
    }
}

#[derive(Clone, Debug)]
struct Message {
    /// `None` if the octets are not the packet's own.
    octets: Option<Range<usize>>,
    /// The headers, the top one first; `None` if unknown.
    headers: Option<Vec<HeaderValue>>,
    attributes: Vec<Option<u64>>,
    /// Whether it is the packet as the wire received it, so that the wire would read the same again.
    met: bool,
    /// Whether it is a copy that a layer made of the packet to read or to quote it: what becomes of it says nothing of the packet.
    quoted: bool,
}

struct Walk<'a> {
    automaton: &'a Automaton,
    layers: &'a Layers,
    within: &'a [LayerId],
    octets: Octets<'a>,
    packet: &'a Packet,
    blocks: usize,
    /// Whether something was not followed.
    over: bool,
    drops: Vec<Dropped>,
    used: bool,
    held: bool,
    kept: bool,
    ups: Vec<Up>,
}

/// What is known of each value of a routine, and how it was before, so that one way can be given up for another.
struct Values {
    now: Vec<Known>,
    /// By value: what was known before, the latest last.
    before: Vec<(usize, Known)>,
}

impl Values {
    fn get(&self, value: Value) -> &Known {
        self.now.get(value.index()).unwrap_or(&Known::Nothing)
    }

    fn set(&mut self, value: Value, known: Known) {
        let before = std::mem::replace(&mut self.now[value.index()], known);
        self.before.push((value.index(), before));
    }

    /// Goes back to when so many values had been set.
    fn go_back(&mut self, to: usize) {
        while self.before.len() > to {
            if let Some((at, known)) = self.before.pop() {
                self.now[at] = known;
            }
        }
    }
}

impl Walk<'_> {
    fn fate(mut self, above: &[LayerId]) -> Fate {
        let is_certain = !self.used && !self.held && !self.over && self.ups.is_empty();
        let dropped = if is_certain { self.drops } else { Vec::new() };
        // A handler that searches many unknown objects is taken to keep the packet.
        let kept = self.held || self.kept || self.over && self.ups.is_empty();
        let automaton = self.automaton;
        let is_next =
            |up: &Up| up.beside.to.as_ref().is_some_and(|(class, _)| above.contains(&automaton.class(*class).layer));
        // Ways to layers that the keys do not select are not taken.
        if self.ups.iter().any(is_next) {
            self.ups.retain(is_next);
        }
        let up = self.ups.into_iter().reduce(common);
        Fate { dropped, up: up.map(|up| Up { perhaps: self.used || self.over, ..up }), kept }
    }

    fn taker(&self, class: ClassId) -> Option<HandlerId> {
        self.automaton.handler_of(class, &Trigger::Event(DELIVER.to_string()))
    }

    /// `args` are those without the object.
    fn handler(&mut self, handler: HandlerId, args: Vec<Known>) {
        let layers = self.layers;
        let Some(routine) = layers.routines.get(handler.index()).and_then(Option::as_ref) else {
            self.over = true;
            return;
        };
        let mut values = Values { now: vec![Known::Nothing; routine.values], before: Vec::new() };
        let params = routine.blocks.first().map_or(&[][..], |first| &first.params);
        for (param, arg) in params.iter().skip(1).zip(args) {
            values.set(*param, arg);
        }
        self.block(routine, 0, &mut values);
    }

    /// Follows a routine from a block on, to the ends of all ways.
    fn block(&mut self, routine: &Routine, block: usize, values: &mut Values) {
        let mut at = block;
        loop {
            self.blocks += 1;
            if self.blocks > LONGEST {
                self.over = true;
            }
            if self.over {
                return;
            }
            let Some(block) = routine.blocks.get(at) else { return };
            block.steps.iter().for_each(|step| self.step(step, values));
            let mut ways = self.end(&block.end, values);
            let Some((target, given)) = ways.pop() else { return };
            for (target, given) in ways {
                let here = values.before.len();
                enter(routine, target, given, values);
                self.block(routine, target.block, values);
                values.go_back(here);
            }
            enter(routine, target, given, values);
            at = target.block;
        }
    }

    /// The successors of a block, with what its terminator gives; the last one is followed in place.
    fn end<'t>(&mut self, end: &'t End, values: &Values) -> Vec<(&'t Target, Vec<Known>)> {
        let plain = |target: &'t Target| (target, Vec::new());
        match end {
            End::Return => Vec::new(),
            End::Jump(target) => vec![plain(target)],
            End::Branch { condition, then, otherwise } => match number(values, *condition) {
                Some(0) => vec![plain(otherwise)],
                Some(_) => vec![plain(then)],
                None => vec![plain(then), plain(otherwise)],
            },
            End::Switch { value, width: _, cases, default } => match number(values, *value) {
                Some(value) => {
                    let case = cases.iter().find(|(of, _)| *of == value).map_or(default, |(_, target)| target);
                    vec![plain(case)]
                }
                None => cases.iter().map(|(_, target)| plain(target)).chain([plain(default)]).collect(),
            },
            End::Match { message, header, cases } => {
                let found = message_of(values, *message);
                let top = found.as_ref().and_then(|found| found.headers.as_ref()?.first().cloned());
                match top.filter(|top| top.header == *header) {
                    Some(top) => {
                        let case = cases.iter().find(|(variant, _)| *variant == top.variant);
                        let given = [vec![self.popped(values, *message)], numbers(&top.fields)].concat();
                        case.map(|(_, target)| (target, given)).into_iter().collect()
                    }
                    None => {
                        let given = || vec![self.popped(values, *message)];
                        cases.iter().map(|(_, target)| (target, given())).collect()
                    }
                }
            }
            End::Decode { message, wire, then, otherwise } => match message_of(values, *message) {
                Some(found) if found.met && Some(*wire) == self.packet.wire => {
                    let octets = Some(self.packet.payload.clone());
                    let headers = Some(self.packet.headers.clone());
                    let decoded = Message { octets, headers, met: false, ..Message::clone(&found) };
                    vec![(then, vec![Known::Message(Some(Rc::new(decoded)))])]
                }
                found => self.either_message(found, then, otherwise),
            },
            End::Validate { message, wire, then, otherwise } => match message_of(values, *message) {
                Some(found) if found.met && Some(*wire) == self.packet.wire => {
                    vec![(then, vec![Known::Message(Some(found))])]
                }
                found => self.either_message(found, then, otherwise),
            },
            End::Peek { message, header, variant, then, otherwise } => {
                let found = message_of(values, *message);
                match found.as_ref().and_then(|found| found.headers.as_ref()?.first()) {
                    Some(top) if top.header == *header && top.variant == *variant => {
                        vec![(then, numbers(&top.fields))]
                    }
                    Some(_) => vec![plain(otherwise)],
                    None => vec![plain(then), plain(otherwise)],
                }
            }
            End::Either { used, then, otherwise } => {
                self.kept |= used.iter().any(|message| packet_of(values, *message).is_some());
                used.iter().for_each(|message| self.use_up(values, *message));
                vec![plain(then), plain(otherwise)]
            }
        }
    }

    /// A message that another wire, or none, has read.
    fn either_message<'t>(
        &self,
        found: Option<Rc<Message>>,
        then: &'t Target,
        otherwise: &'t Target,
    ) -> Vec<(&'t Target, Vec<Known>)> {
        let decoded = found
            .clone()
            .map(|found| Rc::new(Message { octets: None, headers: None, met: false, ..Message::clone(&found) }));
        vec![(then, vec![Known::Message(decoded)]), (otherwise, vec![Known::Message(found)])]
    }

    /// The message without its top header.
    fn popped(&self, values: &Values, message: Value) -> Known {
        let popped = |found: Rc<Message>| {
            let headers = found.headers.as_ref().map(|headers| headers.get(1..).unwrap_or_default().to_vec());
            Rc::new(Message { headers, ..Message::clone(&found) })
        };
        Known::Message(message_of(values, message).map(popped))
    }

    fn use_up(&mut self, values: &Values, message: Value) {
        self.used |= packet_of(values, message).is_some();
    }

    /// A table: an arm for each step.
    fn step(&mut self, step: &Step, values: &mut Values) {
        let (to, given) = match step {
            Step::Constant { to, value, width: _ } => (*to, Known::Number(*value)),
            Step::Binary { to, op, of, a, b } => {
                let ty = ty(*of);
                let give = |a, b| mokume_interpret::binary(*op, ty, of.width, a, b).0;
                (*to, Known::of(number(values, *a).zip(number(values, *b)).map(|(a, b)| give(a, b))))
            }
            Step::Compare { to, op, of, a, b } => {
                let ty = ty(*of);
                let give = |a, b| u64::from(mokume_interpret::compare(*op, ty, a, b));
                (*to, Known::of(number(values, *a).zip(number(values, *b)).map(|(a, b)| give(a, b))))
            }
            Step::Not { to, of, a } => {
                let mask = mokume_interpret::mask(of.width);
                (*to, Known::of(number(values, *a).map(|a| !a & mask)))
            }
            Step::Select { to, c, a, b } => {
                let chosen = match number(values, *c) {
                    Some(0) => number(values, *b),
                    Some(_) => number(values, *a),
                    None => number(values, *a).filter(|a| number(values, *b) == Some(*a)),
                };
                (*to, Known::of(chosen))
            }
            Step::Cast { to, width, a } => {
                let mask = mokume_interpret::mask(*width);
                (*to, Known::of(number(values, *a).map(|a| a & mask)))
            }
            Step::Fold { to, a } => (*to, Known::of(number(values, *a).map(mokume_interpret::fold16))),
            Step::Pop { to, message, header, variant, fields } => {
                let found = message_of(values, *message);
                let top = found.as_ref().and_then(|found| found.headers.as_ref()?.first().cloned());
                let top = top.filter(|top| top.header == *header && top.variant == *variant);
                for (place, field) in fields.iter().enumerate() {
                    let value = top.as_ref().and_then(|top| top.fields.get(place).copied());
                    values.set(*field, Known::of(value));
                }
                (*to, self.popped(values, *message))
            }
            Step::Size { to, message } => {
                let octets = message_of(values, *message).and_then(|found| found.octets.clone());
                (*to, Known::of(octets.map(|octets| octets.len() as u64)))
            }
            Step::Sum { to, message, part } => (*to, Known::of(self.sum(values, *message, *part))),
            Step::Load { to, message, at, octets, endian } => {
                (*to, Known::of(self.load(values, (*message, *at), (*octets, *endian))))
            }
            Step::Trim { to, message, size } => {
                let size = number(values, *size);
                let trimmed = |octets: Range<usize>| Some(octets.start..octets.start + most(size?, octets.len()));
                (*to, cut(values, *message, trimmed))
            }
            Step::Skip { to, message, size } => {
                let size = number(values, *size);
                let skipped = |octets: Range<usize>| Some(octets.start + most(size?, octets.len())..octets.end);
                (*to, cut(values, *message, skipped))
            }
            Step::Split { first, rest, message, at } => {
                let at = number(values, *at);
                let skipped = |octets: Range<usize>| Some(octets.start + most(at?, octets.len())..octets.end);
                let trimmed = |octets: Range<usize>| Some(octets.start..octets.start + most(at?, octets.len()));
                let (before, behind) = (cut(values, *message, trimmed), cut(values, *message, skipped));
                values.set(*rest, behind);
                (*first, before)
            }
            Step::GetAttribute { to, message, attribute } => {
                let found = message_of(values, *message);
                (*to, Known::of(found.and_then(|found| *found.attributes.get(attribute.index())?)))
            }
            Step::SetAttribute { to, message, attribute, value } => {
                let value = number(values, *value);
                let set = |found: Rc<Message>| {
                    let mut message = Message::clone(&found);
                    message.attributes.iter_mut().skip(attribute.index()).take(1).for_each(|place| *place = value);
                    Rc::new(message)
                };
                (*to, Known::Message(message_of(values, *message).map(set)))
            }
            Step::Same { to, message } | Step::Share { to, message } => {
                (*to, Known::Message(message_of(values, *message)))
            }
            Step::Quote { to, message, wire } => {
                let is_there = |found: &Rc<Message>| found.octets.is_some() && Some(*wire) == self.packet.wire;
                let own = message_of(values, *message).filter(is_there);
                let octets = Some(self.packet.met.clone());
                let attributes = self.layers.attributes.iter().map(|value| Some(*value)).collect();
                let quote = |_| Rc::new(Message { octets, headers: None, attributes, met: false, quoted: true });
                (*to, Known::Message(own.map(quote)))
            }
            Step::Changed { to, message } => (*to, cut(values, *message, |_| None)),
            Step::Emit { class, event, args } => return self.emit(*class, event, args, values),
            Step::Drop { message, reason, source } => {
                let dropped = Dropped { reason: *reason, source: *source };
                if packet_of(values, *message).is_some() && !self.drops.contains(&dropped) {
                    self.drops.push(dropped);
                }
                return;
            }
            Step::Held { message } => {
                self.held |= packet_of(values, *message).is_some();
                return;
            }
            Step::Used { message, kept } => {
                self.kept |= *kept && packet_of(values, *message).is_some();
                return self.use_up(values, *message);
            }
        };
        values.set(to, given);
    }

    fn emit(&mut self, class: ClassId, event: &str, args: &[Value], values: &Values) {
        let is_within = self.within.contains(&self.automaton.class(class).layer);
        let first = args.first().and_then(|first| packet_of(values, *first));
        match first.filter(|_| event == DELIVER) {
            Some(_) if is_within => match self.taker(class) {
                Some(handler) => {
                    self.handler(handler, args.iter().map(|arg| values.get(*arg).clone()).collect());
                }
                None => self.used = true,
            },
            Some(message) => {
                let args = args[1..].iter().map(|arg| number(values, *arg)).collect();
                let beside = Beside { to: Some((class, args)), attributes: message.attributes.clone() };
                self.ups.push(Up { octets: message.octets.clone(), beside, perhaps: false });
            }
            None => args.iter().for_each(|arg| self.use_up(values, *arg)),
        }
    }

    /// Octets of a message, if they were captured.
    fn part(&self, range: Range<usize>) -> Option<&[u8]> {
        (range.end <= self.octets.captured).then(|| self.octets.all.get(range))?
    }

    fn sum(&self, values: &Values, message: Value, part: Option<(Value, Value)>) -> Option<u64> {
        let octets = message_of(values, message)?.octets.clone()?;
        let summed = match part {
            None => octets,
            Some((at, size)) => {
                let first = octets.start + most(number(values, at)?, octets.len());
                first..first + most(number(values, size)?, octets.end - first)
            }
        };
        let pair = |pair: &[u8]| u64::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u64::from(*low));
        Some(self.part(summed)?.chunks(2).map(pair).sum::<u64>() & 0xffff_ffff)
    }

    /// A number; 0 beyond the end.
    fn load(
        &self,
        values: &Values,
        (message, at): (Value, Value),
        (size, endian): (u8, mokume_reaction::Endian),
    ) -> Option<u64> {
        let octets = message_of(values, message)?.octets.clone()?;
        let (at, size) = (number(values, at)?, usize::from(size));
        let first = usize::try_from(at).ok().filter(|at| at.saturating_add(size) <= octets.len());
        let Some(first) = first.map(|at| octets.start + at) else { return Some(0) };
        let found = self.part(first..first + size)?;
        let join = |value: u64, octet: &u8| value << 8 | u64::from(*octet);
        Some(match endian {
            mokume_reaction::Endian::Big => found.iter().fold(0, join),
            mokume_reaction::Endian::Little => found.iter().rev().fold(0, join),
        })
    }
}

/// What both have in common.
fn common(a: Up, b: Up) -> Up {
    let same = |a: &[Option<u64>], b: &[Option<u64>]| -> Vec<Option<u64>> {
        a.iter().zip(b).map(|(a, b)| if a == b { *a } else { None }).collect()
    };
    let to = match (&a.beside.to, &b.beside.to) {
        (Some((one, first)), Some((other, second))) if one == other => Some((*one, same(first, second))),
        _ => None,
    };
    let octets = a.octets.filter(|octets| b.octets.as_ref() == Some(octets));
    let attributes = same(&a.beside.attributes, &b.beside.attributes);
    Up { octets, beside: Beside { to, attributes }, perhaps: false }
}

fn ty(of: Number) -> Type {
    if of.circular {
        Type::Seq(of.width)
    } else {
        Type::U(of.width)
    }
}

fn most(size: u64, most: usize) -> usize {
    usize::try_from(size).map_or(most, |size| size.min(most))
}

fn number(values: &Values, value: Value) -> Option<u64> {
    match values.get(value) {
        Known::Number(value) => Some(*value),
        Known::Nothing | Known::Message(_) => None,
    }
}

fn message_of(values: &Values, value: Value) -> Option<Rc<Message>> {
    match values.get(value) {
        Known::Message(message) => message.clone(),
        Known::Nothing | Known::Number(_) => None,
    }
}

/// The packet, and no quote of it.
fn packet_of(values: &Values, value: Value) -> Option<Rc<Message>> {
    message_of(values, value).filter(|message| !message.quoted)
}

fn numbers(values: &[u64]) -> Vec<Known> {
    values.iter().map(|value| Known::Number(*value)).collect()
}

/// A message with other octets of the packet, which the wire has not received like that. What stays whole stays as it is.
fn cut(values: &Values, message: Value, to: impl Fn(Range<usize>) -> Option<Range<usize>>) -> Known {
    let cut = |found: Rc<Message>| {
        let octets = found.octets.clone().and_then(&to);
        if octets.is_some() && octets == found.octets {
            return found;
        }
        Rc::new(Message { octets, met: false, ..Message::clone(&found) })
    };
    Known::Message(message_of(values, message).map(cut))
}

/// Assigns a block's parameters: what the terminator gives, as far as known, then the target's arguments.
fn enter(routine: &Routine, target: &Target, given: Vec<Known>, values: &mut Values) {
    let Some(Block { params, .. }) = routine.blocks.get(target.block) else { return };
    let results = params.len().saturating_sub(target.args.len());
    let args: Vec<Known> = target.args.iter().map(|arg| values.get(*arg).clone()).collect();
    let given = given.into_iter().chain(std::iter::repeat(Known::Nothing)).take(results);
    let all: Vec<Known> = given.chain(args).collect();
    for (param, value) in params.iter().zip(all) {
        values.set(*param, value);
    }
}
