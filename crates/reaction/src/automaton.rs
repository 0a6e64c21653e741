//! A stack as data: cells, classes of objects, ports and handlers.

use crate::value::{CellId, ClassId, HandlerId, LayerId, PortId, SourceId, Type};
use crate::{Addressee, Body, Emission, OpKind, Wire, WireId};

/// One stack. *Uncomposed* (the reference) when `composition` is `None`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Automaton {
    pub name: String,
    /// Timer deadlines are rounded up to a multiple of this; nanoseconds, at least 1.
    pub tick: u64,
    /// Message buffers in the pool. 0: compose computes it from the quotas, the devices' queues and the peak.
    pub pool: u32,
    /// After this many outputs a reaction settles no further: objects that are still dirty wait for a continuation. 0:
    /// no limit.
    pub outputs: u32,
    pub params: Vec<Param>,
    pub enums: Vec<Enum>,
    pub attributes: Vec<Attribute>,
    pub headers: Vec<Header>,
    pub wires: Vec<Wire>,
    pub reasons: Vec<Reason>,
    pub layers: Vec<Layer>,
    pub classes: Vec<Class>,
    pub links: Vec<Link>,
    pub ports: Vec<Port>,
    pub functions: Vec<Function>,
    pub handlers: Vec<Handler>,
    /// Paths; the meaning of the automaton is in the handlers alone.
    pub paths: Vec<Path>,
    pub composition: Option<Composition>,
    pub sources: Vec<Source>,
}

/// A parameter of the stack, set once, before the first reaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    pub name: String,
    pub ty: Type,
    pub default: Option<u64>,
}

/// An enumeration without data. The value of a name is its index in `names`, unless `values` says otherwise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Enum {
    pub name: String,
    /// Width of a value, in bits.
    pub width: u8,
    /// Numbers without a name are valid values, too.
    pub open: bool,
    pub names: Vec<(String, u64)>,
}

impl Enum {
    /// The numbers that have names, as ascending ranges.
    pub fn ranges(&self) -> Vec<std::ops::RangeInclusive<u64>> {
        let mut numbers: Vec<u64> = self.names.iter().map(|(_, value)| *value).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut ranges: Vec<std::ops::RangeInclusive<u64>> = Vec::new();
        for number in numbers {
            match ranges.last_mut().filter(|last| last.end().checked_add(1) == Some(number)) {
                Some(last) => *last = *last.start()..=number,
                None => ranges.push(number..=number),
            }
        }
        ranges
    }
}

/// A value that travels with every message (docs/semantics.md, F7); new messages have the default.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attribute {
    pub name: String,
    pub ty: Type,
    pub default: u64,
}

/// What a layer pushes onto a message: one record, or a choice of records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// `layer.Name`, unique in the automaton.
    pub name: String,
    pub variants: Vec<Variant>,
}

/// One alternative of a header. A header that is one record has a single variant without a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variant {
    pub name: String,
    pub fields: Vec<(String, Type)>,
}

/// A reason for which messages are dropped, consumed or rejected by a wire. Each reason has its own count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    /// `layer.reason` or `wire.field_why`, unique in the automaton.
    pub name: String,
}

/// A layer instance: the owner of classes and handlers, and the unit in drawings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layer {
    pub name: String,
    /// The name of its definition in the source, and its shape (`worker`, `device`, …); both empty in an automaton
    /// written by hand.
    pub of: String,
    pub shape: String,
}

/// A class of objects with a fixed capacity. A class of capacity 1 without a parent has one unique object, which exists
/// from the start.
#[derive(Clone, PartialEq, Debug)]
pub struct Class {
    /// `layer.Name`, unique in the automaton.
    pub name: String,
    pub layer: LayerId,
    /// The most objects of the class that may live at once, over all parents.
    pub capacity: u32,
    /// The class that its objects are made in. An object is released with its parent; a handler may read and write
    /// cells of the enclosing scopes.
    pub parent: Option<ClassId>,
    pub cells: Vec<Cell>,
    /// For a class with `on settle` handlers: how often it may settle in one reaction before it waits for a
    /// continuation.
    pub settle_limit: Option<u32>,
    pub source: Option<SourceId>,
}

/// A part of an object's state.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    pub name: String,
    pub kind: CellKind,
    /// The cell does not change after the reaction that made the object.
    pub fixed: bool,
    pub source: Option<SourceId>,
}

impl Cell {
    /// The class that the cell refers to; `None` if the cell is not a reference.
    pub fn refers_to(&self) -> Option<ClassId> {
        match self.kind {
            CellKind::Scalar { ty: Type::Ref(class), .. } => Some(class),
            _ => None,
        }
    }
}

/// What a cell holds. What happens when a container is full is defined by the operation (it branches).
#[derive(Clone, PartialEq, Debug)]
pub enum CellKind {
    /// One value; new objects have `init` (a `Ref` starts as null, whatever `init` says).
    Scalar {
        ty: Type,
        init: u64,
    },
    Array {
        ty: Type,
        size: u32,
        init: u64,
    },
    /// `size` places, each empty or holding a message. When the object is released, its messages are dropped as `gone`,
    /// and `quota` (of this class or of a parent) gets back one unit for each.
    Messages {
        size: u32,
        quota: Option<(ClassId, CellId)>,
    },
    Map {
        key: Vec<Type>,
        value: Vec<Type>,
        capacity: u32,
        /// For a map from keys to objects: the cells of an object that hold its key, if there are such. Every object in
        /// the map then has its key in these cells, and is alive.
        by: Vec<CellId>,
    },
    /// `armed(deadline) | idle`; runs the class's handler with [`Trigger::Expiry`].
    Timer,
    Quota {
        amount: u32,
    },
    /// Handlers can only add to it; tools and programs read it.
    Counter,
}

/// Two classes of adjacent layers whose objects refer to each other by `Ref` cells. Unique classes need no such cells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// The class above, with its cell that refers down (if it has one).
    pub above: (ClassId, Option<CellId>),
    /// The class below, with its cell that refers up (only when 1:1).
    pub below: (ClassId, Option<CellId>),
    pub kind: LinkKind,
}

/// How many objects above share one object below.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkKind {
    /// The compiler treats the two as one object.
    OneToOne,
    /// Several objects above share one below.
    ManyToOne,
}

/// Where events enter and leave the stack. Outputs leave after the reaction, in order per `group`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    pub name: String,
    pub kind: PortKind,
    pub inputs: Vec<PortInput>,
    pub outputs: Vec<PortOutput>,
    /// Outputs of all ports of one group keep their order. By default each port is its own group.
    pub group: u32,
}

/// What is on the other side of a port. It decides where the pool needs buffers for a device (docs/semantics.md, M2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PortKind {
    Device,
    Application,
}

/// `in event(params) -> class.handler`. The first parameter is the object, unless the class is unique.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortInput {
    pub event: String,
    pub params: Vec<(String, Type)>,
    pub class: ClassId,
    pub handler: String,
    /// Default values of the last parameters.
    pub defaults: Vec<u64>,
}

impl PortInput {
    /// The default value of a parameter; `None` if the caller must pass it.
    pub fn default_of(&self, param: usize) -> Option<u64> {
        let first = self.params.len().saturating_sub(self.defaults.len());
        self.defaults.get(param.checked_sub(first)?).copied()
    }
}

/// `out event(params)`: an event that layers emit at this port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortOutput {
    pub event: String,
    pub params: Vec<(String, Type)>,
}

/// A body with parameters and results that other bodies call: a function without effects, or a part of a layer's
/// handlers.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// `name`; `class.name` for a published value of a class, `layer.name` for a procedure of a layer.
    pub name: String,
    pub role: Role,
    pub params: Vec<(String, Type)>,
    pub results: Vec<Type>,
    pub body: Body,
}

/// What a function may do, and which operations may call it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Role {
    /// Computes from its parameters alone; called by `call`.
    Pure,
    /// Also reads objects; its first parameter is an object of the class. Any layer calls it, by `call`.
    Published(ClassId),
    /// Does whatever the layer's handlers may do; its code exists once for all callers. Takes and returns messages too,
    /// but no arrays. Called by `run`, or by `tryrun` if it may refuse.
    Procedure {
        layer: LayerId,
        /// The types that it gives back when it refuses; `None` if it never refuses.
        refused: Option<Vec<Type>>,
    },
    /// Computes from slowly changing state of objects of all layers, and from at most one object that it is given;
    /// refuses if a condition does not hold. Paths call it by `recall`; the back end may cache its result until that
    /// state changes.
    Memo,
}

impl Function {
    /// The class, if this is a published value of one.
    pub fn published(&self) -> Option<ClassId> {
        match self.role {
            Role::Published(class) => Some(class),
            Role::Pure | Role::Procedure { .. } | Role::Memo => None,
        }
    }

    /// Prefix of the names of functions whose results cannot be predicted without their key.
    pub const PSEUDORANDOM: &str = "siphash.";

    /// Whether its results look as if they were drawn at random.
    pub fn is_pseudorandom(&self) -> bool {
        self.role == Role::Pure && self.name.starts_with(Self::PSEUDORANDOM)
    }

    /// The layer, if this is a procedure of one.
    pub fn procedure(&self) -> Option<LayerId> {
        match self.role {
            Role::Procedure { layer, .. } => Some(layer),
            Role::Pure | Role::Published(_) | Role::Memo => None,
        }
    }

    /// Whether it may refuse: a memo, or a procedure that may give its arguments back.
    pub fn may_refuse(&self) -> bool {
        matches!(self.role, Role::Procedure { refused: Some(_), .. } | Role::Memo)
    }

    /// Whether it is a memo, which paths recall.
    pub fn is_memo(&self) -> bool {
        self.role == Role::Memo
    }

    /// The types that it gives back when it refuses; empty if it never refuses.
    pub fn refused(&self) -> &[Type] {
        match &self.role {
            Role::Procedure { refused: Some(types), .. } => types,
            Role::Procedure { refused: None, .. } | Role::Pure | Role::Published(_) | Role::Memo => &[],
        }
    }
}

/// What one object does on one event. Its first body parameter is the object; the others are the event's.
#[derive(Clone, PartialEq, Debug)]
pub struct Handler {
    pub class: ClassId,
    pub trigger: Trigger,
    /// The event's parameters, without the object.
    pub params: Vec<(String, Type)>,
    pub body: Body,
    /// The capacity of its queue of `later` events; 0 if it is never the target of one.
    pub later_capacity: u32,
    pub source: Option<SourceId>,
}

/// A path: a whole reaction as one body, from the handler of a port's event through everything that follows. It has the
/// handler's parameters. If its guards do not hold it refuses before it has any effect, and the handlers run instead.
///
/// It may touch the objects of all layers. It ends by `return`, or by `refuse`, which gives the messages back.
#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    pub handler: HandlerId,
    pub body: Body,
}

/// What starts a handler. A class has at most one handler for each trigger.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Trigger {
    /// An emission of a layer or an input of a port, by name.
    Event(String),
    /// The first reaction of a unique object, before any input, in the order of classes.
    Start,
    Expiry(CellId),
    Settle,
}

/// The result of `compose`: which channels need a queue. A channel goes from one layer instance to another.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Composition {
    /// Sorted. Every other channel is direct: its emissions are calls.
    pub queued: Vec<(LayerId, LayerId)>,
    /// The same for the outputs of a layer at a port, which are channels as well. Sorted.
    pub queued_outputs: Vec<(LayerId, PortId)>,
    /// Classes merged into one record each (chains of 1:1 links), upper layers first.
    pub merged: Vec<Vec<ClassId>>,
    /// The most new buffers that one reaction may take.
    pub peak: u32,
    /// The most outputs of one reaction.
    pub outputs: u32,
}

/// What emissions go through (docs/semantics.md, O3): from a layer to a layer, or to a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Channel {
    Layer(LayerId, LayerId),
    Port(LayerId, PortId),
}

/// A place in the program that an operation comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

impl Type {
    /// Bits of a scalar value; 0 for messages, references, reasons and arrays.
    pub fn width(self, automaton: &Automaton) -> u8 {
        match self {
            Type::Bool => 1,
            Type::U(bits) | Type::Seq(bits) => bits,
            Type::Enum(id) => automaton.enums[id.index()].width,
            Type::Ref(_) | Type::Msg | Type::Reason | Type::Array(..) => 0,
        }
    }
}

impl Automaton {
    /// The same automaton without source places. It behaves the same, and two copies compare equal wherever their
    /// source stands in its files.
    pub fn without_places(&self) -> Automaton {
        let mut automaton = Automaton { sources: Vec::new(), ..self.clone() };
        for class in &mut automaton.classes {
            class.source = None;
            class.cells.iter_mut().for_each(|cell| cell.source = None);
        }
        let functions = automaton.functions.iter_mut().map(|function| &mut function.body);
        let paths = automaton.paths.iter_mut().map(|path| &mut path.body);
        let handlers = automaton.handlers.iter_mut().map(|handler| {
            handler.source = None;
            &mut handler.body
        });
        for block in functions.chain(paths).chain(handlers).flat_map(|body| &mut body.blocks) {
            block.mark = None;
            block.ops.iter_mut().for_each(|op| op.source = None);
        }
        automaton
    }

    /// The class of the object that an emitted event is for; `None` if the operands make no sense.
    pub fn class_for(&self, body: &Body, target: Addressee) -> Option<ClassId> {
        match target {
            Addressee::Object(object) => body.class_of(object),
            Addressee::Linked { object, cell } => {
                self.class(body.class_of(object)?).cells.get(cell.index())?.refers_to()
            }
        }
    }

    /// The numbers below 2^`width` that are values of a type, as ascending ranges; `None` if all of them are.
    pub fn gaps(&self, ty: Type, width: u8) -> Option<Vec<std::ops::RangeInclusive<u64>>> {
        let Type::Enum(id) = ty else { return None };
        let found = self.enums.get(id.index()).filter(|found| !found.open)?;
        let ranges = found.ranges();
        let last = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
        let all = matches!(&ranges[..], [all] if *all.start() == 0 && *all.end() >= last);
        (!all).then_some(ranges)
    }

    /// The handler of a class for a trigger, if it has one.
    pub fn handler_of(&self, class: ClassId, trigger: &Trigger) -> Option<HandlerId> {
        self.handlers
            .iter()
            .position(|handler| handler.class == class && handler.trigger == *trigger)
            .map(HandlerId::from)
    }

    /// The class of an id. Panics if there is none, which the verifier excludes.
    pub fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.index()]
    }

    /// A cell of a class. Panics if an id refers to nothing.
    pub fn cell(&self, class: ClassId, cell: CellId) -> &Cell {
        &self.classes[class.index()].cells[cell.index()]
    }

    /// What a path gives back when it refuses: the messages among its handler's parameters.
    pub fn given_back(&self, path: &Path) -> Vec<Type> {
        let params = self.handlers.get(path.handler.index()).map_or(&[][..], |handler| &handler.params);
        crate::types(params).into_iter().filter(|ty| *ty == Type::Msg).collect()
    }

    /// Whether emissions of the channel go through a queue; always true before composition.
    pub fn is_queued(&self, channel: Channel) -> bool {
        let Some(composition) = &self.composition else { return true };
        match channel {
            Channel::Layer(from, to) => composition.queued.contains(&(from, to)),
            Channel::Port(from, port) => composition.queued_outputs.contains(&(from, port)),
        }
    }

    /// The wires whose received packet some handler asks for, each once, in the order of the bodies.
    pub fn asked_for(&self) -> Vec<WireId> {
        let mut wires = Vec::new();
        for op in self.bodies().flat_map(Body::ops) {
            if let OpKind::Received { wire, .. } = op.kind {
                if !wires.contains(&wire) {
                    wires.push(wire);
                }
            }
        }
        wires
    }

    /// Whether some port's event goes to this handler. A path of any other handler begins inside the stack, at an event
    /// that a layer emits.
    pub fn is_at_port(&self, handler: HandlerId) -> bool {
        let Handler { class, trigger, .. } = self.handler(handler);
        let Trigger::Event(event) = trigger else { return false };
        let mut inputs = self.ports.iter().flat_map(|port| &port.inputs);
        inputs.any(|input| input.class == *class && input.handler == *event)
    }

    /// Whether reactions begin with this handler: it gets a port's event, or the expiry of a timer.
    pub fn begins(&self, handler: HandlerId) -> bool {
        self.is_at_port(handler) || matches!(self.handler(handler).trigger, Trigger::Expiry(_))
    }

    /// Whether the handler's event is only ever put off (`later`): then it begins a reaction, and nothing stands in a
    /// queue before it, although its messages come from a layer.
    pub fn is_only_put_off(&self, handler: HandlerId) -> bool {
        let Handler { class, trigger, later_capacity, .. } = self.handler(handler);
        let Trigger::Event(event) = trigger else { return false };
        let emits = |body: &Body| {
            body.ops().any(|op| match op.kind.emission() {
                Some(Emission::Event { target, event: emitted, .. }) => {
                    emitted == event && self.class_for(body, target).is_none_or(|found| found == *class)
                }
                _ => false,
            })
        };
        *later_capacity > 0 && !self.is_at_port(handler) && !self.bodies().any(emits)
    }

    /// The event of a handler; empty if it handles none.
    pub fn event_of(&self, handler: HandlerId) -> &str {
        match &self.handler(handler).trigger {
            Trigger::Event(event) => event,
            _ => "",
        }
    }

    /// The handler of an id. Panics if there is none.
    pub fn handler(&self, id: HandlerId) -> &Handler {
        &self.handlers[id.index()]
    }

    /// All bodies: those of handlers, then those of functions of every role.
    pub fn bodies(&self) -> impl Iterator<Item = &Body> {
        let handlers = self.handlers.iter().map(|handler| &handler.body);
        handlers.chain(self.functions.iter().map(|function| &function.body))
    }

    /// All bodies with effects, each with its layer: those of handlers, then those of procedures.
    pub fn code(&self) -> impl Iterator<Item = (LayerId, &Body)> {
        let handlers = self.handlers.iter().map(|handler| (self.class(handler.class).layer, &handler.body));
        handlers.chain(self.functions.iter().filter_map(|function| Some((function.procedure()?, &function.body))))
    }

    /// Whether the class has exactly one object, which exists from the start.
    pub fn is_unique(&self, class: ClassId) -> bool {
        let class = self.class(class);
        class.capacity == 1 && class.parent.is_none()
    }

    /// `layer.class.event`, for people.
    pub fn handler_name(&self, id: HandlerId) -> String {
        let handler = self.handler(id);
        let class = self.class(handler.class);
        match &handler.trigger {
            Trigger::Event(event) => format!("{}.{event}", class.name),
            Trigger::Start => format!("{}.start", class.name),
            Trigger::Expiry(cell) => format!("{}.expiry {}", class.name, class.cells[cell.index()].name),
            Trigger::Settle => format!("{}.settle", class.name),
        }
    }
}
