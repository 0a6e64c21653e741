//! Writes a path as a body.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use mokume_reaction::{
    to, AttributeId, Automaton, Binary, BlockId, Body, BodyBuilder, CellKind, ClassId, Endian, Fallible, HandlerId,
    OctetField, OpKind, Terminator, Type, Value, WireId,
};

use crate::decisions::Far;
use crate::graph::{Graph, Kind, Node};
use crate::message::{has_attributes, Field, Message, NEW};
use crate::region::{Deed, Do, Given, Region, Step};
use crate::text::{finished, refuse, Text};

/// A way, and those that part from it.
pub struct Ways<'a> {
    pub region: Region<'a>,
    /// By decision: the way that was taken, and how far the path had come.
    pub ways: Vec<(usize, Far)>,
    pub others: Vec<Other<'a>>,
    /// What is done if a way that came this far goes no further.
    pub rest: Option<(Far, Region<'a>)>,
}

/// A way that parts from another; up to there both have the same steps and the same values.
pub struct Other<'a> {
    at: Far,
    ways: Ways<'a>,
}

impl<'a> Ways<'a> {
    /// The handlers that do the rest where ways go no further.
    pub fn rests(&self) -> Vec<HandlerId> {
        let own = self.rest.iter().filter_map(|(_, rest)| crate::handed_over(rest));
        own.chain(self.others.iter().flat_map(|other| other.ways.rests())).collect()
    }

    /// Adds a way where it parts from these. A way that parts where nothing is asked is left out.
    pub fn add(&mut self, mut other: Self) {
        let parts = self.ways.iter().zip(&other.ways).position(|(a, b)| a.0 != b.0);
        let Some(place) = parts else { return };
        let at = self.ways[place].1;
        let fewest = self.region.steps.len().min(other.region.steps.len());
        if at != other.ways[place].1 || at.steps >= fewest {
            return;
        }
        // If it parts after the place from which a handler does the rest, that handler does the rest of this way, too.
        if self.rest.as_ref().is_some_and(|(rest, _)| rest.steps <= at.steps) {
            other.rest = None;
        }
        match self.others.iter_mut().find(|known| known.at.steps == at.steps) {
            Some(known) => known.ways.add(other),
            None => self.others.push(Other { at, ways: other }),
        }
    }
}

/// A view of a parameter's octets: octets removed from the front, octets kept, or a wire that meets them.
#[derive(Clone, Copy)]
enum View {
    Skip(Node),
    Trim(Node),
    Meet(WireId),
}

/// Writes the body.
struct Writer<'r, 'a> {
    automaton: &'a Automaton,
    is_inside: bool,
    graph: &'r mut Graph<'a>,
    text: Text<'r>,
    /// The number of look-ups so far.
    finds: u32,
    /// By parameter, its shares, for all uses but the last.
    shares: HashMap<u32, Vec<Value>>,
    /// Messages that places held before.
    held: HashMap<u32, Value>,
    /// Nodes, made again by what is known when all is asked.
    settled: HashMap<Node, Node>,
}

/// The body of a path of this handler; `None` if a way needs what none of its look-ups gives.
pub fn body(mut ways: Ways, handler: HandlerId) -> Option<Body> {
    let automaton = ways.region.automaton;
    let definition = automaton.handler(handler);
    let object = definition.body.blocks[0].params.first().map(|value| &definition.body.values[value.index()]);
    let object = object.map_or("o".to_owned(), |info| info.name.clone());
    let params = [vec![(object, Type::Ref(definition.class))], definition.params.clone()].concat();
    let mut builder = BodyBuilder::new(&params);
    let entry = builder.current().unwrap_or(BlockId(0));
    let params = builder.params(entry).to_vec();
    let exit = builder.block("exit", &[]);
    let is_whole = write(&mut ways, (0, 0), HashMap::default(), (&mut builder, &params, exit));
    refuse(&mut builder, exit, &params);
    is_whole.then(|| finished(builder))
}

/// Writes a way from step `from` on, after `finds` look-ups, with the known values; then the ways that part from it.
/// Returns whether all needed values are there.
fn write(
    ways: &mut Ways,
    (from, finds): (usize, u32),
    values: HashMap<Node, Value>,
    (builder, params, exit): (&mut BodyBuilder, &[Value], BlockId),
) -> bool {
    let automaton = ways.region.automaton;
    let (steps, deeds) = (std::mem::take(&mut ways.region.steps), std::mem::take(&mut ways.region.deeds));
    let graph = &mut ways.region.graph;
    let is_inside = ways.region.is_inside;
    let text = Text { automaton, builder, params, values, is_lost: false };
    let mut writer = Writer {
        automaton,
        is_inside,
        graph,
        text,
        finds,
        shares: HashMap::default(),
        held: HashMap::default(),
        settled: HashMap::default(),
    };
    let mut parted = Vec::new();
    // From there on a handler does the rest.
    let mut rest = None;
    for (place, step) in steps.iter().enumerate().skip(from) {
        if let Some((at, _)) = ways.rest.as_ref().filter(|(at, _)| at.steps == place) {
            let block = writer.text.builder.block("rest", &[]);
            let values = writer.text.values.iter().filter(|(node, _)| node.0 < at.nodes);
            let values = values.map(|(node, value)| (*node, *value)).collect::<HashMap<_, _>>();
            rest = Some((block, writer.finds, values));
        }
        let exit = rest.as_ref().map_or(exit, |(block, ..)| *block);
        let other = ways.others.iter().position(|other| other.at.steps == place);
        // The other way continues with what is found.
        let found = match (step, other.map(|other| &ways.others[other].ways.region.steps[place])) {
            (Step::Absent { .. }, Some(Step::Find { found, .. })) => Some(found),
            _ => None,
        };
        let params: Vec<(String, Type)> = found.into_iter().flatten().map(|ty| (String::new(), *ty)).collect();
        let otherwise = match other {
            Some(_) => writer.text.builder.block("", &params),
            None => exit,
        };
        let before = writer.finds;
        writer.step(step, (otherwise, found.is_some()));
        if let Some(other) = other {
            // Nodes made after the parting have other numbers on the other way.
            let is_shared = |node: &Node| node.0 < ways.others[other].at.nodes;
            let values =
                writer.text.values.iter().filter(|(node, _)| is_shared(node)).map(|(node, value)| (*node, *value));
            parted.push((other, place, before, (otherwise, exit), values.collect::<HashMap<_, _>>()));
        }
    }
    let deeds = last_writes(deeds);
    // All reads come before all writes.
    for deed in &deeds {
        writer.text.builder.set_source(deed.source);
        writer.prepare(&deed.what);
    }
    writer.share(&deeds);
    // Outputs leave when the reaction ends, so they come last, in order.
    let (leaving, kept): (Vec<&Deed>, Vec<&Deed>) = deeds.iter().partition(|deed| deed.what.ends_messages());
    for deed in kept.into_iter().chain(leaving) {
        writer.text.builder.set_source(deed.source);
        writer.deed(&deed.what);
    }
    writer.text.builder.set_source(None);
    writer.text.builder.end(Terminator::Return);
    let mut is_whole = !writer.text.is_lost;
    for (other, place, mut finds, (block, exit), mut values) in parted {
        builder.select(block);
        let Other { at, ways: other } = &mut ways.others[other];
        // The opposite of what was asked holds already.
        let implied = match (&steps[place], &other.region.steps[place]) {
            (Step::Guard { condition: one, .. }, Step::Guard { condition: two, .. }) => {
                (two.0 < at.nodes && *ways.region.graph.kind(*one) == Kind::Not(*two))
                    || (one.0 < at.nodes && *other.region.graph.kind(*two) == Kind::Not(*one))
            }
            (Step::Find { .. }, Step::Absent { .. }) | (Step::Absent { .. }, Step::Find { .. }) => true,
            _ => false,
        };
        if let (Step::Absent { .. }, Step::Find { .. }) = (&steps[place], &other.region.steps[place]) {
            values.extend(found_in(&other.region.graph, builder, block, finds));
            finds += 1;
        }
        is_whole &= write(other, (place + usize::from(implied), finds), values, (builder, params, exit));
    }
    if let (Some((block, finds, values)), Some((at, region))) = (rest, ways.rest.take()) {
        builder.select(block);
        let mut rest = Ways { region, ways: Vec::new(), others: Vec::new(), rest: None };
        is_whole &= write(&mut rest, (at.steps, finds), values, (builder, params, exit));
    }
    is_whole
}

/// The results of a way's look-up with this number, as the parameters of a block.
fn found_in(graph: &Graph, builder: &BodyBuilder, block: BlockId, finds: u32) -> Vec<(Node, Value)> {
    let params = builder.params(block).iter().enumerate();
    let known = |(place, value): (usize, &Value)| {
        Some((graph.node_of(&Kind::Found(finds, place as u32), builder.type_of(*value))?, *value))
    };
    params.filter_map(known).collect()
}

/// What a way does, without writes that others replace: nobody reads between them.
fn last_writes(mut deeds: Vec<Deed>) -> Vec<Deed> {
    let mut later = HashSet::default();
    deeds.reverse();
    deeds.retain(|deed| match deed.what {
        Do::Set { object, cell, .. } => later.insert((object, cell)),
        _ => true,
    });
    deeds.reverse();
    deeds
}

impl Writer<'_, '_> {
    fn op(&mut self, kind: OpKind) -> Value {
        self.text.op(kind)
    }

    fn message(&self, param: u32) -> Value {
        self.text.message(param)
    }

    /// Makes shares of messages that are used more than once.
    fn share(&mut self, deeds: &[Deed]) {
        let mut seen: Vec<u32> = Vec::new();
        for given in deeds.iter().flat_map(|deed| deed.what.messages()).map(|message| message.given) {
            if given != NEW && seen.contains(&given) {
                let share = self.op(OpKind::Share { message: self.message(given) });
                self.shares.entry(given).or_default().push(share);
            }
            seen.push(given);
        }
    }

    /// The message that another is made of, to be consumed.
    fn base(&mut self, given: u32) -> Value {
        if given == NEW {
            return self.op(OpKind::NewMessage { octets: Vec::new() });
        }
        if let Some(held) = self.held.get(&given) {
            return *held;
        }
        self.shares.get_mut(&given).and_then(Vec::pop).unwrap_or_else(|| self.message(given))
    }

    /// Asks, and continues in a new block; `elsewhere` for any other answer: that block may need what was found.
    fn step(&mut self, step: &Step, (elsewhere, wants_found): (BlockId, bool)) {
        match step {
            Step::Guard { condition, asked, source } => {
                self.text.builder.set_source(*source);
                // A negated node becomes a branch with exchanged targets.
                let (condition, swapped) = match *self.graph.kind(*condition) {
                    Kind::Not(inner) if self.graph.ty(inner) == Type::Bool => (inner, true),
                    _ => (*condition, false),
                };
                let condition = self.value(asked.unwrap_or(condition));
                let next = self.text.builder.block("", &[]);
                let (go, leave) = (to(next, []), to(elsewhere, []));
                let (then, otherwise, likely) = if swapped { (leave, go, 0.001) } else { (go, leave, 0.999) };
                self.text.builder.end(Terminator::Branch { condition, then, otherwise, likely: Some(likely) });
                self.text.builder.select(next);
            }
            Step::Find { object, cell, key, found, source } => {
                self.text.builder.set_source(*source);
                let object = self.value(*object);
                let key = key.iter().map(|part| self.value(*part)).collect();
                let params: Vec<(String, Type)> = found.iter().map(|ty| (String::new(), *ty)).collect();
                let next = self.text.builder.block("", &params);
                let op = Fallible::Find { object, cell: *cell, key };
                self.text.builder.end(Terminator::Try { op, then: to(next, []), otherwise: to(elsewhere, []) });
                self.text.builder.select(next);
                self.text.values.extend(found_in(self.graph, self.text.builder, next, self.finds));
                self.finds += 1;
            }
            Step::Peek { message, header, variant, source } => {
                self.text.builder.set_source(*source);
                let fields = &self.automaton.headers[header.index()].variants[variant.index()].fields;
                let next = self.text.builder.block("", fields);
                let op = Fallible::Peek { message: self.message(*message), header: *header, variant: *variant };
                self.text.builder.end(Terminator::Try { op, then: to(next, []), otherwise: to(elsewhere, []) });
                self.text.builder.select(next);
                for (place, value) in self.text.builder.params(next).to_vec().into_iter().enumerate() {
                    let field = Kind::Header(*message, place as u32);
                    if let Some(node) = self.graph.node_of(&field, self.text.builder.type_of(value)) {
                        self.text.values.insert(node, value);
                    }
                }
            }
            Step::Absent { object, cell, key, source } => {
                self.text.builder.set_source(*source);
                let object = self.value(*object);
                let CellKind::Map { value, .. } = &self.automaton.cell(self.class(object), *cell).kind else { return };
                let params: Vec<(String, Type)> = value.iter().map(|ty| (String::new(), *ty)).collect();
                let key = key.iter().map(|part| self.value(*part)).collect();
                let next = self.text.builder.block("", &[]);
                let op = Fallible::Find { object, cell: *cell, key };
                let there = if wants_found { elsewhere } else { self.text.builder.block("", &params) };
                self.text.builder.end(Terminator::Try { op, then: to(there, []), otherwise: to(next, []) });
                if !wants_found {
                    self.text.builder.select(there);
                    self.text.builder.end(Terminator::Jump { to: to(elsewhere, []) });
                }
                self.text.builder.select(next);
            }
        }
    }

    fn class(&self, object: Value) -> ClassId {
        match self.text.builder.type_of(object) {
            Type::Ref(class) => class,
            _ => ClassId(0),
        }
    }

    fn value(&mut self, node: Node) -> Value {
        self.text.value(self.graph, node)
    }

    /// The value of a node where all is asked, by what the guards say of it and of its parts.
    fn settled(&mut self, node: Node) -> Value {
        let values = &self.text.values;
        let node = self.graph.settled(node, &|node| values.contains_key(&node), &mut self.settled);
        self.value(node)
    }

    fn each(&mut self, nodes: &[Node]) {
        nodes.iter().for_each(|node| {
            self.settled(*node);
        });
    }

    fn prepare(&mut self, what: &Do) {
        match what {
            Do::Set { object, value, .. } => self.each(&[*object, *value]),
            Do::SetAt { object, index, value, .. } => self.each(&[*object, *index, *value]),
            Do::Arm { object, deadline, .. } => self.each(&[*object, *deadline]),
            Do::Disarm { object, .. } => self.each(&[*object]),
            Do::Count { object, amount, .. } => self.each(&[*object, *amount]),
            Do::Take { object, amount, .. } | Do::Give { object, amount, .. } => self.each(&[*object, *amount]),
            Do::TakeHeld { object, index, .. } | Do::ConsumeHeld { object, index, .. } => self.each(&[*object, *index]),
            Do::Keep { object, index, message, .. } => {
                self.each(&[*object, *index]);
                self.prepare_message(message, true);
            }
            Do::Drop { .. } | Do::Consume { .. } => {}
            Do::Out { args, .. } => self.prepare_all(args, false),
            Do::PutOff { target, args, .. } => {
                self.each(&[*target]);
                self.prepare_all(args, true);
            }
            Do::HandOver { object, args, .. } => {
                self.each(&[*object]);
                self.prepare_all(args, true);
            }
        }
    }

    fn prepare_all(&mut self, args: &[Given], is_inside: bool) {
        for arg in args {
            match arg {
                Given::Node(node) => self.each(&[*node]),
                Given::Message(message) => self.prepare_message(message, is_inside),
            }
        }
    }

    fn prepare_message(&mut self, message: &Message, is_inside: bool) {
        for view in self.views(message, is_inside) {
            if let View::Skip(size) | View::Trim(size) = view {
                self.each(&[size]);
            }
        }
        for (_, _, value) in self.stores(message) {
            self.each(&[value]);
        }
        if is_inside {
            self.changed_attributes(message).into_iter().for_each(|(_, value)| self.each(&[value]));
            message.headers.iter().for_each(|(_, _, fields)| self.each(fields));
        }
    }

    /// The views of the parameter's octets, in order. For a message that leaves by a port, no wire meets them.
    fn views(&mut self, message: &Message, is_inside: bool) -> Vec<View> {
        let met = message.met.iter().filter(|_| is_inside).map(|(wire, at, size)| (Some(*wire), *at, *size));
        let last = (None, message.at, message.size);
        let mut from = self.graph.constant(crate::graph::U32, 0);
        let mut left = match message.given {
            NEW => from,
            given => self.graph.add(Kind::Size(given), crate::graph::U32),
        };
        let mut views = Vec::new();
        for (wire, at, size) in met.chain([last]).collect::<Vec<_>>() {
            let ahead = self.graph.binary(Binary::SubWrap, at, from);
            let is_cut = self.graph.known(ahead) != Some(0);
            left = self.graph.binary(Binary::SubWrap, left, ahead);
            views.extend(is_cut.then_some(View::Skip(ahead)));
            views.extend((left != size).then_some(View::Trim(size)));
            views.extend(wire.map(View::Meet));
            (from, left) = (at, size);
        }
        views
    }

    /// Attributes that have changed.
    fn changed_attributes(&self, message: &Message) -> Vec<(AttributeId, Node)> {
        let has_defaults = message.joined > 0 || !has_attributes(message.given, self.is_inside);
        let is_as_given = |at: usize, node: Node| match self.graph.kind(node) {
            kind @ Kind::Attribute(..) => message.came_with(AttributeId::from(at), kind),
            _ => has_defaults && self.graph.known(node) == Some(self.automaton.attributes[at].default),
        };
        let attributes = message.attributes.iter().enumerate().filter(|(at, node)| !is_as_given(*at, **node));
        attributes.map(|(at, node)| (AttributeId::from(at), *node)).collect()
    }

    fn deed(&mut self, what: &Do) {
        let kind = match what {
            Do::Set { object, cell, value } => {
                OpKind::Set { object: self.settled(*object), cell: *cell, value: self.settled(*value) }
            }
            Do::SetAt { object, cell, index, value } => OpKind::SetAt {
                object: self.settled(*object),
                cell: *cell,
                index: self.settled(*index),
                value: self.settled(*value),
            },
            Do::Arm { object, cell, deadline } => {
                OpKind::Arm { object: self.settled(*object), cell: *cell, deadline: self.settled(*deadline) }
            }
            Do::Disarm { object, cell } => OpKind::Disarm { object: self.settled(*object), cell: *cell },
            Do::Count { object, cell, amount } => {
                OpKind::Count { object: self.settled(*object), cell: *cell, amount: self.settled(*amount) }
            }
            Do::Take { object, cell, amount } => {
                OpKind::Spend { object: self.settled(*object), cell: *cell, amount: self.settled(*amount) }
            }
            Do::Give { object, cell, amount } => {
                OpKind::Give { object: self.settled(*object), cell: *cell, amount: self.settled(*amount) }
            }
            Do::TakeHeld { object, cell, index, given } => {
                let (object, index) = (self.settled(*object), self.settled(*index));
                let held = self.op(OpKind::TakeHeld { object, cell: *cell, index });
                self.held.insert(*given, held);
                return;
            }
            Do::ConsumeHeld { object, cell, index, reason } => {
                let (object, index) = (self.settled(*object), self.settled(*index));
                OpKind::ConsumeHeld { object, cell: *cell, index, reason: *reason }
            }
            Do::PutOff { target, handler, args } => {
                let (target, args) = (self.settled(*target), self.given(args, true));
                OpKind::Defer { target, event: self.automaton.event_of(*handler).to_owned(), args }
            }
            Do::Keep { object, cell, index, message } => {
                let message = self.made(message, true);
                OpKind::Keep { object: self.settled(*object), cell: *cell, index: self.settled(*index), message }
            }
            Do::Drop { message, reason } => OpKind::Drop { message: self.ended(message), reason: *reason },
            Do::Consume { message, reason } => OpKind::Consume { message: self.ended(message), reason: *reason },
            Do::Out { port, event, args } => OpKind::Out { port: *port, event: *event, args: self.given(args, false) },
            Do::HandOver { object, handler, args } => {
                let values = self.given(args, true);
                let event = self.automaton.event_of(*handler).to_owned();
                OpKind::Emit { target: self.settled(*object), event, args: values }
            }
        };
        self.text.builder.op(self.automaton, kind);
    }

    /// The arguments of an event.
    fn given(&mut self, args: &[Given], is_inside: bool) -> Vec<Value> {
        let made = |arg: &Given| match arg {
            Given::Node(node) => Some(self.settled(*node)),
            Given::Message(message) => Some(self.made(message, is_inside)),
        };
        args.iter().filter_map(made).collect()
    }

    /// The message, made of the given one.
    fn made(&mut self, message: &Message, is_inside: bool) -> Value {
        let mut value = self.base(message.given);
        if let Some((header, variant)) = message.taken_off {
            value = self.op(OpKind::Pop { message: value, header, variant });
        }
        // Wires that met it did so after that.
        value = self.joined(value, message);
        for view in self.views(message, is_inside) {
            let message = value;
            let kind = match view {
                View::Skip(size) => OpKind::Skip { message, size: self.settled(size) },
                View::Trim(size) => OpKind::Trim { message, size: self.settled(size) },
                View::Meet(wire) => OpKind::Meet { message, wire },
            };
            value = self.op(kind);
        }
        value = self.fronted(value, message);
        if !is_inside {
            return value;
        }
        for (attribute, node) in self.changed_attributes(message) {
            let node = self.settled(node);
            value = self.op(OpKind::SetAttribute { message: value, attribute, value: node });
        }
        for (header, variant, fields) in &message.headers {
            let fields = fields.iter().map(|field| self.settled(*field)).collect();
            value = self.op(OpKind::Push { message: value, header: *header, variant: *variant, fields });
        }
        value
    }

    /// The message joined to new ones, as often as it was; each join merges two messages.
    fn joined(&mut self, mut value: Value, message: &Message) -> Value {
        for _ in 0..message.joined {
            let first = self.op(OpKind::NewMessage { octets: Vec::new() });
            value = self.op(OpKind::Join { first, second: value });
        }
        value
    }

    /// A message that ends: what is in it does not matter.
    fn ended(&mut self, message: &Message) -> Value {
        let value = self.base(message.given);
        self.joined(value, message)
    }

    fn fronted(&mut self, mut value: Value, message: &Message) -> Value {
        if message.front.is_empty() {
            return value;
        }
        let octets = self.template(&message.front);
        value = self.op(OpKind::Front { message: value, octets });
        for (at, field, number) in self.stores(message) {
            if self.graph.known(number).is_some() {
                continue;
            }
            let number = self.settled(number);
            let at = self.op(OpKind::Const { ty: crate::graph::U32, value: at });
            value = self.op(OpKind::Store { field, message: value, at, value: number });
        }
        value
    }

    /// The octets in front, with zeros where they are not known.
    fn template(&mut self, front: &[Field]) -> Vec<u8> {
        let bits: u64 = front.iter().map(|field| u64::from(field.width)).sum();
        let mut octets = vec![0u8; (bits / 8) as usize];
        for (at, field, number) in self.stores_of(front) {
            let Some(value) = self.graph.known(number) else { continue };
            let size = usize::from(field.width / 8);
            let place = &mut octets[at as usize..at as usize + size];
            match field.endian {
                Endian::Big => place.copy_from_slice(&value.to_be_bytes()[8 - size..]),
                Endian::Little => place.copy_from_slice(&value.to_le_bytes()[..size]),
            }
        }
        octets
    }

    fn stores(&mut self, message: &Message) -> Vec<(u64, OctetField, Node)> {
        self.stores_of(&message.front)
    }

    /// The fields as numbers of whole octets, with their places; bits that share octets become one number.
    fn stores_of(&mut self, front: &[Field]) -> Vec<(u64, OctetField, Node)> {
        let mut stores = Vec::new();
        let (mut at, mut group): (u64, Vec<Field>) = (0, Vec::new());
        let mut bits = 0u64;
        for field in front {
            group.push(*field);
            bits += u64::from(field.width);
            if !bits.is_multiple_of(8) {
                continue;
            }
            let octets = bits / 8;
            match (&group[..], octets) {
                ([one], 1 | 2 | 3 | 4 | 6 | 8) => {
                    let field = OctetField { width: one.width, endian: one.endian };
                    let value = self.graph.cast(one.value, field.ty());
                    stores.push((at, field, value));
                }
                _ => self.octet_by_octet(&group, at, octets, &mut stores),
            }
            at += octets;
            group.clear();
            bits = 0;
        }
        stores
    }

    /// Bits that share octets, or a number of as many octets as no field has, as one number for each octet. A number with
    /// its low octets first is alone.
    fn octet_by_octet(&mut self, group: &[Field], at: u64, octets: u64, stores: &mut Vec<(u64, OctetField, Node)>) {
        let field = OctetField { width: 8, endian: Endian::Big };
        for octet in 0..octets {
            let mut value = self.graph.constant(crate::graph::U64, 0);
            let mut bit = 0u64;
            for one in group {
                let (first, last) = (bit, bit + u64::from(one.width));
                bit = last;
                let (from, to) = (first.max(octet * 8), last.min(octet * 8 + 8));
                if from >= to {
                    continue;
                }
                let long = self.graph.cast(one.value, crate::graph::U64);
                let by = self.graph.constant(crate::graph::U64, last - to);
                let part = self.graph.binary(Binary::Shr, long, by);
                let ones = self.graph.constant(crate::graph::U64, mokume_interpret::mask((to - from) as u8));
                let part = self.graph.binary(Binary::And, part, ones);
                let by = self.graph.constant(crate::graph::U64, octet * 8 + 8 - to);
                let part = self.graph.binary(Binary::Shl, part, by);
                value = self.graph.binary(Binary::Or, value, part);
            }
            let value = self.graph.cast(value, field.ty());
            let place = match group {
                [one] if one.endian == Endian::Little => octets - 1 - octet,
                _ => octet,
            };
            stores.push((at + place, field, value));
        }
    }
}
