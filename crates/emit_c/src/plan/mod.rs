//! What the generator computes before it writes: sizes, channels, and which emissions may be direct calls.
//!
//! It must keep: the computed bounds hold on every run, since nothing is allocated after the start.

pub(crate) mod families;
pub(crate) mod heads;
pub(crate) mod keys;
mod order;
mod shared;
mod support;
mod sure;
pub(crate) mod there;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use mokume_analyse::Flow;
use mokume_reaction::*;

use crate::fault::Fault;
use crate::names::{functions_of, Names};
use crate::tree::{number, of_instance, reads, word, Expr, Infix};
use heads::{Beside, Heads};
use shared::emitting;
pub(crate) use shared::shared;
pub(crate) use support::Asked;
use support::Support;

/// How the emissions of a handler leave it (docs/semantics.md, O2 and O6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Emissions {
    None,
    /// All channels are direct, and after the first emission only emissions follow: each is a call in place.
    Calls,
    /// All channels are direct, no emission is in a loop, and at the handler's end it is known which have happened:
    /// they are calls at its exits.
    AtExits,
    /// They are put on the agenda and delivered when the handler ends.
    Agenda,
}

/// What may wait on the agenda, or for a reaction of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Waiting {
    Handler(HandlerId),
    /// The same, for the object that a cell of the sender refers to at delivery.
    Linked(ClassId, CellId, HandlerId),
    Output(PortId, u32),
}

/// All facts about one automaton that several parts of the generator need.
pub struct Plan<'a> {
    pub automaton: &'a Automaton,
    pub names: Names,
    pub emissions: Vec<Emissions>,
    /// Queued channels, by number. `Ok`: to a layer; `Err`: to a port.
    pub channels: HashMap<(LayerId, Result<LayerId, PortId>), usize>,
    /// The number of arguments of the widest event or output, in words.
    pub arguments: usize,
    pub waiting: HashSet<Waiting>,
    /// The events of [`Waiting::Linked`], in order.
    pub linked: Vec<(ClassId, CellId, HandlerId)>,
    /// The most events that wait on the agenda at once.
    pub agenda: usize,
    /// The octets of header records that a message may carry, each record rounded up to 8.
    pub header_octets: u32,
    /// The octets that encoders may put in front of a message.
    pub head_room: u32,
    /// Wires whose received packets are read later, with their place in a message's views.
    pub received: HashMap<WireId, usize>,
    /// Classes whose objects may end.
    pub mortal: HashSet<ClassId>,
    /// What the runtime keeps for the objects of each class.
    pub heads: Heads,
    /// What memos read.
    pub support: Support,
    /// The key words of maps of objects that paths look up from messages.
    pub keys: HashMap<(ClassId, CellId), Vec<keys::Word>>,
    /// Tables of memos that are kept by numbers of a message.
    pub families: Vec<families::Family>,
    /// By handler: whether none of its events can be for null.
    sure: Vec<bool>,
    /// By function and parameter: whether every caller passes an existing object.
    pub given_there: Vec<Vec<bool>>,
    /// In front of the names of functions in C.
    pub functions: String,
    /// Whether branches are counted.
    pub coverage: bool,
    /// Whether some event that is put off has a path: then a path that ends looks for it itself, and does not ask the runtime.
    pub carries_on: bool,
    /// Whether each input also has a function that returns its last output.
    pub returned: bool,
    /// Whether each input with parameters also has a function that takes several calls.
    pub batched: bool,
    /// A planted fault. For tests of tests only.
    pub planted: Option<Fault>,
    /// The places of coverage counters: handler or procedure, block, target.
    pub branches: Vec<(Unit, usize, usize)>,
    pub branch_index: HashMap<(Unit, usize, usize), usize>,
    /// Timers, in the order of their declaration.
    pub timers: Vec<(ClassId, CellId)>,
    /// Counters, in the order of their declaration.
    pub counters: Vec<(ClassId, CellId)>,
}

impl<'a> Plan<'a> {
    /// Plans the C of an automaton. `stack` is the prefix of public names; `coverage`: count branches.
    pub fn new(automaton: &'a Automaton, stack: &str, coverage: bool) -> Plan<'a> {
        let mut plan = Plan {
            automaton,
            names: Names::new(automaton, stack),
            emissions: Vec::new(),
            channels: HashMap::default(),
            arguments: arguments(automaton),
            waiting: HashSet::default(),
            linked: Vec::new(),
            agenda: 0,
            header_octets: header_octets(automaton),
            head_room: head_room(automaton),
            received: automaton.asked_for().into_iter().enumerate().map(|(place, wire)| (wire, place)).collect(),
            heads: Heads::of(automaton, &mortal(automaton)),
            mortal: mortal(automaton),
            support: Support::of(automaton),
            keys: cells(automaton, |kind| matches!(kind, CellKind::Map { .. }))
                .into_iter()
                .filter_map(|map| Some((map, keys::words(automaton, map)?)))
                .collect(),
            families: families::all(automaton, None),
            sure: sure::handlers(automaton),
            given_there: Vec::new(),
            functions: String::new(),
            coverage,
            carries_on: false,
            returned: false,
            batched: false,
            planted: None,
            branches: Vec::new(),
            branch_index: HashMap::default(),
            timers: cells(automaton, |kind| matches!(kind, CellKind::Timer)),
            counters: cells(automaton, |kind| matches!(kind, CellKind::Counter)),
        };
        plan.functions = functions_of(&plan.names.stack);
        plan.given_there = plan.about_there(there::procedures);
        plan.find_channels();
        let emitting = emitting(automaton);
        plan.emissions = automaton.handlers.iter().map(|handler| plan.emissions_of(handler, &emitting)).collect();
        plan.agenda = agenda(automaton, &plan.emissions);
        plan.waiting = waiting(automaton, &plan.emissions);
        plan.linked = linked(&plan.waiting);
        plan.number_branches();
        plan
    }

    /// Plants a fault.
    pub fn plant(&mut self, planted: Option<Fault>) {
        self.planted = planted;
        if planted == Some(Fault::OneTable) {
            self.families = families::all(self.automaton, planted);
        }
    }

    /// Numbers the queued channels: all of an uncomposed stack, the declared ones of a composed one.
    fn find_channels(&mut self) {
        for (layer, body) in self.automaton.code() {
            for (from, to) in edges(self.automaton, layer, body) {
                let channel = to.map_or_else(|port| Channel::Port(from, port), |layer| Channel::Layer(from, layer));
                if self.automaton.is_queued(channel) {
                    let next = self.channels.len();
                    self.channels.entry((from, to)).or_insert(next);
                }
            }
        }
    }

    /// The queue of a channel; `None`: it is direct.
    pub fn channel(&self, from: LayerId, to: Result<LayerId, PortId>) -> Option<usize> {
        self.channels.get(&(from, to)).copied()
    }

    fn emissions_of(&self, handler: &Handler, emitting: &[bool]) -> Emissions {
        // What procedures emit waits on the agenda, and so must all other emissions, to keep the order.
        if mokume_analyse::run_by(&handler.body).iter().any(|id| emitting[id.index()]) {
            return Emissions::Agenda;
        }
        let layer = self.automaton.class(handler.class).layer;
        let mut edges = edges(self.automaton, layer, &handler.body).into_iter().peekable();
        if edges.peek().is_none() {
            return Emissions::None;
        }
        let direct = edges.all(|(from, to)| self.channel(from, to).is_none());
        match direct {
            true if emissions_come_last(&handler.body) => Emissions::Calls,
            true if order::are_known_at_exits(&handler.body) && !finds_targets(&handler.body) => Emissions::AtExits,
            _ => Emissions::Agenda,
        }
    }

    fn number_branches(&mut self) {
        let a = self.automaton;
        for unit in Unit::code(a) {
            for (b, block) in unit.body(a).blocks.iter().enumerate() {
                let targets = block.terminator.targets().len();
                for target in (0..targets).filter(|_| targets > 1) {
                    self.branch_index.insert((unit, b, target), self.branches.len());
                    self.branches.push((unit, b, target));
                }
            }
        }
    }

    /// The constant with a class's number.
    pub fn class_constant(&self, class: ClassId) -> String {
        format!("CLASS_{}", self.names.classes[class.index()])
    }

    /// The class in the instance.
    pub fn class_at(&self, class: ClassId) -> Expr {
        of_instance("classes").element(word(self.class_constant(class))).address()
    }

    /// An array of the instance with an item for each place of a class.
    pub fn beside(&self, class: ClassId, beside: Beside) -> Expr {
        of_instance(format!("{}_{}", self.names.classes[class.index()], beside.name()))
    }

    /// The heads of a class's objects, and the most objects.
    pub fn heads_of(&self, class: ClassId) -> [Expr; 2] {
        [self.beside(class, Beside::Objects), number(self.automaton.class(class).capacity)]
    }

    /// Whether a reference means a living object, as a condition.
    pub fn lives(&self, class: ClassId, reference: Expr) -> Expr {
        if self.is_sole(class) {
            return reference.infix(Infix::Ne, word("MK_NULL"));
        }
        let [heads, capacity] = self.heads_of(class);
        reads("mk_lives", [heads, capacity, reference])
    }

    /// The same for a handle, of a class that may have several objects.
    pub fn lives_by(&self, class: ClassId, handle: Expr) -> Expr {
        let [heads, capacity] = self.heads_of(class);
        reads("mk_lives_by", [heads, capacity, handle])
    }

    /// The place of a reference's object, or that of null.
    pub fn place_in(&self, class: ClassId, reference: Expr) -> Expr {
        let [heads, capacity] = self.heads_of(class);
        reads("mk_place_in", [heads, capacity, self.class_at(class), reference])
    }

    /// Whether the class has one object, from the start to the end: a reference means it, or is null.
    pub fn is_sole(&self, class: ClassId) -> bool {
        self.automaton.is_unique(class) && !self.mortal.contains(&class)
    }

    /// Answers a question about which objects exist.
    pub fn about_there<T>(&self, ask: impl FnOnce(there::Of) -> T) -> T {
        ask(there::Of { automaton: self.automaton, is_sole: &|class| self.is_sole(class) })
    }

    /// Whether a handler gets its object as an argument; it does not need it if there is only one, and no event is for
    /// null.
    pub fn takes_self(&self, handler: HandlerId) -> bool {
        !(self.is_sole(self.automaton.handler(handler).class) && self.sure[handler.index()])
    }

    /// The arguments of a handler's call, with the object first if the handler gets it.
    pub fn arguments_of(&self, handler: HandlerId, own: impl Into<String>, rest: Vec<String>) -> String {
        let own = self.takes_self(handler).then(|| own.into());
        let list: Vec<String> = ["k".to_string()].into_iter().chain(own).chain(rest).collect();
        list.join(", ")
    }

    /// A constant of a type, by its name if it has one.
    pub fn constant(&self, ty: Type, value: u64) -> Expr {
        match ty {
            Type::Bool => Expr::Bool(value != 0),
            Type::Reason if (value as usize) < self.names.reasons.len() => self.reason(ReasonId(value as u32)),
            Type::Enum(id) => {
                let place = self.automaton.enums[id.index()].names.iter().position(|(_, own)| *own == value);
                place.map_or(Expr::Number(value), |place| word(self.names.enums[id.index()][place].clone()))
            }
            Type::Reason | Type::U(_) | Type::Seq(_) | Type::Ref(_) | Type::Msg | Type::Array(..) => {
                Expr::Number(value)
            }
        }
    }

    /// The constant of events for the object that a cell of the sender refers to.
    pub fn linked_constant(&self, (class, cell, handler): (ClassId, CellId, HandlerId)) -> String {
        let (class, cells) = (&self.names.classes[class.index()], &self.names.cells[class.index()]);
        format!("BY_{class}_{}_{}", cells[cell.index()], self.names.handlers[handler.index()])
    }

    /// The name of a reason in the header.
    pub fn reason(&self, reason: ReasonId) -> Expr {
        word(self.names.reasons[reason.index()].clone())
    }

    /// The file and line that an operation comes from.
    pub fn place(&self, source: Option<SourceId>) -> Option<String> {
        let source = self.automaton.sources.get(source?.index())?;
        Some(format!("{}:{}", source.file, source.line))
    }
}

/// The channels of a handler's or procedure's emissions.
pub fn edges(automaton: &Automaton, from: LayerId, body: &Body) -> Vec<(LayerId, Result<LayerId, PortId>)> {
    let mut found = Vec::new();
    for emission in body.ops().filter_map(|op| op.kind.emission()) {
        match emission {
            Emission::Event { target, .. } => {
                if let Some(class) = automaton.class_for(body, target) {
                    found.push((from, Ok(automaton.class(class).layer)));
                }
            }
            Emission::Output { port, .. } => found.push((from, Err(port))),
        }
    }
    found
}

/// Whether the receiver of some emission is only determined at delivery.
fn finds_targets(body: &Body) -> bool {
    body.ops().any(|op| matches!(op.kind, OpKind::EmitBy { .. }))
}

/// Whether after an emission only other emissions follow, and operations that neither read nor change state.
fn emissions_come_last(body: &Body) -> bool {
    let is_emission = |op: &Op| op.kind.emission().is_some();
    let mut after = vec![false; body.blocks.len()];
    let mut work: Vec<usize> = Vec::new();
    for block in &body.blocks {
        let first = block.ops.iter().position(is_emission);
        let Some(first) = first else { continue };
        if !block.ops[first..].iter().all(|op| is_emission(op) || op.kind.is_indifferent())
            || !is_plain(&block.terminator)
        {
            return false;
        }
        work.extend(block.terminator.targets().iter().map(|target| target.block.index()));
    }
    while let Some(index) = work.pop() {
        if std::mem::replace(&mut after[index], true) {
            continue;
        }
        let block = &body.blocks[index];
        if !block.ops.iter().all(|op| is_emission(op) || op.kind.is_indifferent()) || !is_plain(&block.terminator) {
            return false;
        }
        work.extend(block.terminator.targets().iter().map(|target| target.block.index()));
    }
    true
}

/// What handlers put on the agenda, and what is put off for later.
fn waiting(automaton: &Automaton, emissions: &[Emissions]) -> HashSet<Waiting> {
    let mut found = HashSet::default();
    let in_procedures = std::iter::repeat(&Emissions::Agenda);
    for ((_, body), emissions) in automaton.code().zip(emissions.iter().chain(in_procedures)) {
        let later = body.put_off();
        let put = body.ops().filter_map(|op| op.kind.emission()).filter(|_| *emissions == Emissions::Agenda);
        found.extend(later.chain(put).filter_map(|emission| match emission {
            Emission::Event { target, event, .. } => {
                let class = automaton.class_for(body, target)?;
                let handler = automaton.handler_of(class, &Trigger::Event(event.to_string()))?;
                Some(match target {
                    Addressee::Object(_) => Waiting::Handler(handler),
                    Addressee::Linked { object, cell } => Waiting::Linked(body.class_of(object)?, cell, handler),
                })
            }
            Emission::Output { port, event, .. } => Some(Waiting::Output(port, event)),
        }));
    }
    found
}

fn linked(waiting: &HashSet<Waiting>) -> Vec<(ClassId, CellId, HandlerId)> {
    let mut found: Vec<_> = waiting
        .iter()
        .filter_map(|waiting| match waiting {
            Waiting::Linked(class, cell, handler) => Some((*class, *cell, *handler)),
            Waiting::Handler(_) | Waiting::Output(..) => None,
        })
        .collect();
    found.sort();
    found
}

fn is_plain(terminator: &Terminator) -> bool {
    matches!(
        terminator,
        Terminator::Return | Terminator::Jump { .. } | Terminator::Branch { .. } | Terminator::Switch { .. }
    )
}

fn arguments(automaton: &Automaton) -> usize {
    let handlers = automaton.handlers.iter().map(|handler| handler.params.len());
    let outputs = automaton.ports.iter().flat_map(|port| port.outputs.iter().map(|output| output.params.len()));
    handlers.chain(outputs).max().unwrap_or(0).max(1)
}

fn cells(automaton: &Automaton, wanted: impl Fn(&CellKind) -> bool) -> Vec<(ClassId, CellId)> {
    let of_class = |(class, declared): (usize, &Class)| {
        let wanted = declared.cells.iter().enumerate().filter(|(_, cell)| wanted(&cell.kind));
        wanted.map(|(cell, _)| (ClassId::from(class), CellId::from(cell))).collect::<Vec<_>>()
    };
    automaton.classes.iter().enumerate().flat_map(of_class).collect()
}

/// The largest alternative of every header, each once: a layer takes its header off before it pushes it again.
fn header_octets(automaton: &Automaton) -> u32 {
    automaton.headers.iter().map(|header| header.variants.iter().map(variant_octets).max().unwrap_or(0)).sum()
}

/// The record of a header's alternative takes no more octets.
pub(crate) fn variant_octets(variant: &Variant) -> u32 {
    16 + 8 * variant.fields.len() as u32
}

/// The sum over all wires, since several may encode one message, one around the other.
fn head_room(automaton: &Automaton) -> u32 {
    let sizes = (0..automaton.wires.len()).map(|wire| mokume_wire::native::wire_size(automaton, WireId::from(wire)));
    sizes.sum::<u32>().next_multiple_of(16).max(16)
}

/// Classes whose objects are released somewhere, and the classes inside them.
pub(crate) fn mortal(automaton: &Automaton) -> HashSet<ClassId> {
    let mut found = HashSet::default();
    for body in automaton.bodies() {
        found.extend(body.ops().filter_map(|op| body.class_of(op.kind.ends()?)));
    }
    // The unique object of a class never ends.
    found.retain(|class| !automaton.is_unique(*class));
    loop {
        let inner = |(index, class): (usize, &Class)| {
            class.parent.filter(|parent| found.contains(parent)).map(|_| ClassId::from(index))
        };
        let more: Vec<ClassId> = automaton.classes.iter().enumerate().filter_map(inner).collect();
        let before = found.len();
        found.extend(more);
        if found.len() == before {
            return found;
        }
    }
}

/// The deepest agenda: what a handler emits, and the deepest agenda of those that it reaches.
fn agenda(automaton: &Automaton, emissions: &[Emissions]) -> usize {
    let mut depths =
        Depths { automaton, emissions, handlers: vec![None; emissions.len()], procedures: HashMap::default() };
    let deepest = (0..automaton.handlers.len()).map(|handler| depths.handler(handler)).max();
    deepest.unwrap_or(0).clamp(16, 1 << 20)
}

struct Depths<'a> {
    automaton: &'a Automaton,
    emissions: &'a [Emissions],
    handlers: Vec<Option<usize>>,
    /// What each procedure emits, with those that it reaches.
    procedures: HashMap<FunctionId, (usize, usize)>,
}

impl Depths<'_> {
    fn handler(&mut self, index: usize) -> usize {
        if let Some(known) = self.handlers[index] {
            return known;
        }
        self.handlers[index] = Some(0); // a cycle crosses a port or a `later` (automaton verified), which starts afresh
        let (own, inner) = self.body(&self.automaton.handlers[index].body);
        let own = if self.emissions[index] == Emissions::Agenda { own } else { 0 };
        let found = own.saturating_add(inner);
        self.handlers[index] = Some(found);
        found
    }

    fn body(&mut self, body: &Body) -> (usize, usize) {
        let (mut own, mut inner) = (0usize, 0usize);
        let flow = Flow::new(body);
        for (index, block) in body.blocks.iter().enumerate() {
            let rounds = flow.rounds(BlockId::from(index));
            for emission in block.ops.iter().filter_map(|op| op.kind.emission()) {
                own = own.saturating_add(rounds);
                let Emission::Event { target, event, .. } = emission else { continue };
                let Some(class) = self.automaton.class_for(body, target) else { continue };
                if let Some(reached) = self.automaton.handler_of(class, &Trigger::Event(event.to_string())) {
                    inner = inner.max(self.handler(reached.index()));
                }
            }
            for procedure in mokume_analyse::run_in(block) {
                let (emitted, reached) = self.procedure(procedure);
                own = own.saturating_add(rounds.saturating_mul(emitted));
                inner = inner.max(reached);
            }
        }
        (own, inner)
    }

    fn procedure(&mut self, id: FunctionId) -> (usize, usize) {
        if let Some(known) = self.procedures.get(&id) {
            return *known;
        }
        let found = self.body(&self.automaton.functions[id.index()].body);
        self.procedures.insert(id, found);
        found
    }
}
