//! The effect of one event on one host: the reaction, and all that must follow before the next event from outside
//! (continuations and `later` events). Written from docs/semantics.md, deliberately not from the interpreter, which
//! judges it.
//!
//! Every channel is treated as queued; for a direct channel that makes no difference (docs/semantics.md, O6).

use std::collections::VecDeque;

use mokume_reaction::{CellId, ClassId, HandlerId, PortId, Report, Type};

use crate::host::{Content, Host, Object, Tables, NULL};
use crate::message::Message;
use crate::program::Program;

/// A step is stopped after this many instants: a stack that never comes to rest is a finding, and must not loop forever
/// here.
const MOST_INSTANTS: usize = 10_000;

/// An event from outside.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Input {
    Start,
    /// An event at a port: its place in the port, arguments without messages, and the message's octets.
    Port {
        port: PortId,
        event: usize,
        args: Vec<Arg>,
    },
    /// An object's timer expires: class, place, cell.
    Expiry(usize, usize, usize),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Arg {
    Word(u64),
    Object(u64),
    Message(Vec<u8>),
}

/// An event that left by a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Out {
    pub port: PortId,
    pub event: u32,
    pub args: Vec<Arg>,
}

/// What happened during the step, in order, for charts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Happening {
    Out(Out),
    Dropped(String),
    Armed(String),
    Stopped(String),
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Effect {
    pub outs: Vec<Out>,
    pub reports: Vec<Report>,
    /// Whether the event was refused: ports refuse events for objects that do not live.
    pub refused: bool,
    /// Whether the instants never end.
    pub diverges: bool,
    pub happenings: Vec<Happening>,
}

pub(crate) struct Event {
    pub handler: Option<HandlerId>,
    pub out: Option<(PortId, u32)>,
    pub target: u64,
    /// If set, the target is the sender, and the event goes to the object that this cell of it refers to at delivery.
    pub by: Option<(ClassId, CellId)>,
    pub channel: usize,
    pub args: Vec<u64>,
    pub is_delivered: bool,
}

pub(crate) struct Reaction<'a> {
    pub program: &'a Program,
    pub tables: &'a mut Tables,
    pub host: Host,
    pub effect: Effect,
    /// The messages that a handler or event holds.
    pub messages: Vec<Message>,
    pub events: Vec<Event>,
    queues: Vec<VecDeque<usize>>,
    frames: Vec<(usize, usize)>,
    pub later: VecDeque<(HandlerId, u64, Vec<u64>)>,
    dirty: VecDeque<(ClassId, usize)>,
    settles: Vec<((ClassId, usize), u32)>,
    pub unsettled: Vec<(ClassId, usize)>,
    settling: Option<(ClassId, usize)>,
    again: bool,
    instants: usize,
    /// Whether a block was reached, by block over all handlers.
    pub covered: &'a mut Vec<bool>,
}

/// Runs an event on a host: the next state of the host, and the effects.
pub(crate) fn react(
    program: &Program,
    tables: &mut Tables,
    covered: &mut Vec<bool>,
    host: Host,
    input: &Input,
) -> (Host, Effect) {
    let mut reaction = Reaction {
        program,
        tables,
        host,
        effect: Effect::default(),
        messages: Vec::new(),
        events: Vec::new(),
        queues: vec![VecDeque::new(); program.channels],
        frames: Vec::new(),
        later: VecDeque::new(),
        dirty: VecDeque::new(),
        settles: Vec::new(),
        unsettled: Vec::new(),
        settling: None,
        again: false,
        instants: 0,
        covered,
    };
    reaction.run(input);
    (reaction.host, reaction.effect)
}

impl Reaction<'_> {
    fn run(&mut self, input: &Input) {
        match input {
            Input::Start => {
                for class in 0..self.program.classes.len() {
                    if let Some(handler) = self.program.classes[class].start {
                        self.whole(handler, 0, Vec::new());
                    }
                }
            }
            Input::Expiry(class, place, cell) => {
                self.host.objects[*class][*place].cells[*cell] = Content::Timer(false);
                if let Some(handler) = self.program.classes[*class].expiry[*cell] {
                    self.whole(handler, *place as u64, Vec::new());
                }
            }
            Input::Port { port, event, args } => self.port_input(*port, *event, args),
        }
    }

    fn port_input(&mut self, port: PortId, event: usize, args: &[Arg]) {
        let input = &self.program.automaton.ports[port.index()].inputs[event];
        let words: Vec<u64> = args.iter().map(|arg| self.word(arg)).collect();
        let is_unique = self.program.classes[input.class.index()].is_unique;
        let (object, words) = match words.split_first() {
            _ if is_unique => (0, words),
            Some((object, rest)) => (*object, rest.to_vec()),
            None => (NULL, Vec::new()),
        };
        match self.program.input_handler((port, event)) {
            Some(handler) if self.is_living(input.class, object) => self.whole(handler, object, words),
            _ => self.effect.refused = true,
        }
    }

    fn word(&mut self, arg: &Arg) -> u64 {
        match arg {
            Arg::Word(word) | Arg::Object(word) => *word,
            Arg::Message(octets) => self.hand(Message::new(&self.program.automaton, octets.clone())),
        }
    }

    /// Runs a reaction, then continuations and `later` events until none is left.
    fn whole(&mut self, handler: HandlerId, object: u64, args: Vec<u64>) {
        self.instant(handler, object, args);
        self.carry_out();
        self.end();
        while self.instants < MOST_INSTANTS {
            if !self.unsettled.is_empty() {
                for (class, place) in std::mem::take(&mut self.unsettled) {
                    self.make_dirty(class, place);
                }
            } else if let Some((handler, object, args)) = self.later.pop_front() {
                self.instant(handler, object, args);
                self.carry_out();
            } else {
                return;
            }
            self.end();
        }
        self.effect.diverges = true;
    }

    fn instant(&mut self, handler: HandlerId, object: u64, args: Vec<u64>) {
        let class = self.program.automaton.handler(handler).class;
        if !self.is_living(class, object) || self.instants >= MOST_INSTANTS {
            return;
        }
        self.instants += 1;
        if self.program.classes[class.index()].settle.is_some() && self.settling.is_none() {
            self.make_dirty(class, object as usize);
        }
        let first = self.events.len();
        self.run_handler(handler, object, &args);
        for place in first..self.events.len() {
            self.queues[self.events[place].channel].push_back(place);
        }
        self.frames.push((first, self.events.len()));
    }

    /// Delivers emissions in order, each with all that follows from it, but never before an older one of its channel.
    fn carry_out(&mut self) {
        while let Some(frame) = self.frames.last_mut() {
            if frame.0 == frame.1 {
                self.frames.pop();
            } else if self.events[frame.0].is_delivered {
                frame.0 += 1;
            } else {
                let channel = self.events[frame.0].channel;
                let head = self.queues[channel].pop_front().unwrap_or(frame.0);
                self.deliver(head);
            }
        }
    }

    fn deliver(&mut self, place: usize) {
        let event = &mut self.events[place];
        event.is_delivered = true;
        let args = std::mem::take(&mut event.args);
        let (sender, by) = (event.target, event.by);
        let (out, handler) = (event.out, event.handler);
        let target = by.map_or(sender, |(class, cell)| self.referred(class, sender, cell));
        match (out, handler) {
            (Some((port, out)), _) => self.put_out(port, out, &args),
            (None, Some(handler)) => self.instant(handler, target, args),
            (None, None) => {}
        }
    }

    /// The object that a cell of an object refers to, even if it has ended in this reaction.
    fn referred(&self, class: ClassId, object: u64, cell: CellId) -> u64 {
        match self.object(class, object).map(|object| &object.cells[cell.index()]) {
            Some(Content::Word(word)) => *word,
            _ => NULL,
        }
    }

    fn put_out(&mut self, port: PortId, event: u32, args: &[u64]) {
        let signature = &self.program.automaton.ports[port.index()].outputs[event as usize];
        let mut out = Out { port, event, args: Vec::new() };
        for (word, (_, ty)) in args.iter().zip(&signature.params) {
            out.args.push(match ty {
                Type::Msg => Arg::Message(self.messages[*word as usize].octets.clone()),
                Type::Ref(class) => {
                    if port == self.program.send.0 {
                        self.host.application.handle = Some((*class, *word));
                    }
                    Arg::Object(*word)
                }
                _ => Arg::Word(*word),
            });
        }
        self.effect.happenings.push(Happening::Out(out.clone()));
        self.effect.outs.push(out);
    }

    /// Queues an object for settling when nothing is undelivered, after all that became dirty earlier
    /// (docs/semantics.md, S2). An object that is already dirty, or waits for a continuation, keeps its place.
    pub fn make_dirty(&mut self, class: ClassId, place: usize) {
        if !self.dirty.contains(&(class, place)) && !self.unsettled.contains(&(class, place)) {
            self.dirty.push_back((class, place));
        }
    }

    /// `again`: the object settles again at once if it is settling; otherwise it becomes dirty.
    pub fn ask_again(&mut self, class: ClassId, object: u64) {
        if self.settling == Some((class, object as usize)) {
            self.again = true;
        } else if self.program.classes[class.index()].settle.is_some() && self.is_living(class, object) {
            self.make_dirty(class, object as usize);
        }
    }

    /// Settles dirty objects, the longest dirty first, then frees ended objects.
    fn end(&mut self) {
        while let Some((class, place)) = self.dirty.pop_front() {
            self.settle(class, place);
        }
        self.settles.clear();
        self.events.clear();
        self.free_ended();
        if self.later.is_empty() {
            self.messages.clear();
        }
    }

    fn settle(&mut self, class: ClassId, place: usize) {
        let info = &self.program.classes[class.index()];
        let Some(handler) = info.settle else { return };
        while self.is_living(class, place as u64) {
            let count = self.settles.iter().position(|(who, _)| *who == (class, place)).unwrap_or_else(|| {
                self.settles.push(((class, place), 0));
                self.settles.len() - 1
            });
            if self.settles[count].1 >= info.settle_limit {
                return self.unsettled.push((class, place));
            }
            self.settles[count].1 += 1;
            self.dirty.retain(|who| *who != (class, place));
            self.settling = Some((class, place));
            self.again = false;
            self.instant(handler, place as u64, Vec::new());
            self.settling = None;
            let again = std::mem::take(&mut self.again);
            self.carry_out();
            if !again {
                return;
            }
        }
    }

    /// Whether the object exists and has not ended (docs/semantics.md, L5). False for `NULL`.
    pub fn is_living(&self, class: ClassId, object: u64) -> bool {
        self.object(class, object).is_some_and(|object| !object.has_ended)
    }

    /// The object at a place of its class; it may have ended in this reaction. `None` if it was freed, and for `NULL`.
    pub fn object(&self, class: ClassId, object: u64) -> Option<&Object> {
        self.host.objects[class.index()].get(usize::try_from(object).ok()?)
    }

    /// [`Reaction::object`], mutable.
    pub fn object_mut(&mut self, class: ClassId, object: u64) -> Option<&mut Object> {
        self.host.objects[class.index()].get_mut(usize::try_from(object).ok()?)
    }

    /// Stores a message and returns the value that stands for it.
    pub fn hand(&mut self, message: Message) -> u64 {
        self.messages.push(message);
        self.messages.len() as u64 - 1
    }
}
