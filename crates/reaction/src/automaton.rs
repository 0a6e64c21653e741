//! A stack as data: cells, classes of objects, ports and handlers.

use crate::value::{CellId, ClassId, HandlerId, LayerId, PortId, SourceId, Type};
use crate::{Addressee, Body, OpKind, Wire, WireId};

/// One stack. *Uncomposed* (the reference) when `composition` is `None`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Automaton {
    pub name: String,
    /// Deadlines of timers are rounded up to a multiple of it; nanoseconds, at least 1.
    pub tick: u64,
    /// Message buffers of the pool. 0: what the quotas, the devices' queues and the peak ask for, computed by compose.
    pub pool: u32,
    /// Outputs of a reaction from which nothing more settles in it: what is dirty then waits for a continuation. 0: no quota.
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
    /// Beside the handlers, which say what the automaton means.
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

/// An enumeration without data; the value of a name is its place in `names`, unless `values` says otherwise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Enum {
    pub name: String,
    /// Width of a value, in bits.
    pub width: u8,
    /// Numbers without a name are values, too.
    pub open: bool,
    pub names: Vec<(String, u64)>,
}

impl Enum {
    /// The numbers that have names, as ranges in ascending order.
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

/// One alternative of a header; the only one, without a name, of a header that is one record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variant {
    pub name: String,
    pub fields: Vec<(String, Type)>,
}

/// Why a message was dropped, consumed or refused by a wire. Each is counted apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    /// `layer.reason` or `wire.field_why`, unique in the automaton.
    pub name: String,
}

/// A layer instance: where its classes and handlers come from, and how it is drawn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layer {
    pub name: String,
    /// The name of its definition in the source, and its shape (`worker`, `device`, …); empty when written by hand.
    pub of: String,
    pub shape: String,
}

/// A class of objects with a fixed capacity. Class capacity 1 without a parent: the unique object exists from the start.
#[derive(Clone, PartialEq, Debug)]
pub struct Class {
    /// `layer.Name`, unique in the automaton.
    pub name: String,
    pub layer: LayerId,
    /// Objects of the class that may live at once, over all parents.
    pub capacity: u32,
    /// An object is released with its parent; a handler may read and write cells of the scopes around it.
    pub parent: Option<ClassId>,
    pub cells: Vec<Cell>,
    /// Handlers of the class are `on settle`: how often it may settle in one reaction before a continuation.
    pub settle_limit: Option<u32>,
    pub source: Option<SourceId>,
}

/// A part of an object's state.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    pub name: String,
    pub kind: CellKind,
    /// Constant once the reaction that made the object has ended.
    pub fixed: bool,
    pub source: Option<SourceId>,
}

impl Cell {
    /// The class of the objects that it refers to; none of a cell that is no reference.
    pub fn refers_to(&self) -> Option<ClassId> {
        match self.kind {
            CellKind::Scalar { ty: Type::Ref(class), .. } => Some(class),
            _ => None,
        }
    }
}

/// What a cell holds. What an operation does when a container is full is part of the operation (it branches).
#[derive(Clone, PartialEq, Debug)]
pub enum CellKind {
    /// One value; `init` is what a new object has (a `Ref` starts as null, whatever `init` says).
    Scalar {
        ty: Type,
        init: u64,
    },
    Array {
        ty: Type,
        size: u32,
        init: u64,
    },
    /// `size` places that are empty or hold a message. `quota` (of this class or of a parent's): where one unit is
    /// given back for each message still held when the object is released; such messages are dropped as `gone`.
    Messages {
        size: u32,
        quota: Option<(ClassId, CellId)>,
    },
    Map {
        key: Vec<Type>,
        value: Vec<Type>,
        capacity: u32,
        /// Of a map from keys to objects: the cells of an object that are its key, if some are. Then what is in the map has its
        /// key in them, and is there.
        by: Vec<CellId>,
    },
    /// `armed(deadline) | idle`; runs the class's handler with [`Trigger::Expiry`].
    Timer,
    Quota {
        amount: u32,
    },
    /// Write-only for handlers; read by tools and programs.
    Counter,
}

/// Two classes of adjacent layers whose objects know each other by `Ref` cells; unique classes need none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// The user above, with its cell that refers down (if it has one).
    pub above: (ClassId, Option<CellId>),
    /// The provider below, with its cell that refers up (only when 1:1).
    pub below: (ClassId, Option<CellId>),
    pub kind: LinkKind,
}

/// How many objects above share one below.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkKind {
    /// One object to the compiler.
    OneToOne,
    /// Several above share one below.
    ManyToOne,
}

/// Where events enter and leave the stack. Outputs leave after the reaction, in order per `group`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    pub name: String,
    pub kind: PortKind,
    pub inputs: Vec<PortInput>,
    pub outputs: Vec<PortOutput>,
    /// Ports of one group have one order of outputs. By default each port is a group of its own.
    pub group: u32,
}

/// Who is outside: what a device's port is for decides where the pool has buffers (docs/semantics.md, M2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PortKind {
    Device,
    Application,
}

/// `in event(params) -> class.handler`. If the class is not a unique one, the first parameter is the object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortInput {
    pub event: String,
    pub params: Vec<(String, Type)>,
    pub class: ClassId,
    pub handler: String,
    /// What the last so many parameters are where the caller says nothing of them.
    pub defaults: Vec<u64>,
}

impl PortInput {
    /// The value of a parameter where the caller says nothing of it; none of those that must be given.
    pub fn default_of(&self, param: usize) -> Option<u64> {
        let first = self.params.len().saturating_sub(self.defaults.len());
        self.defaults.get(param.checked_sub(first)?).copied()
    }
}

/// `out event(params)`: what layers put out here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortOutput {
    pub event: String,
    pub params: Vec<(String, Type)>,
}

/// A body with parameters and results that others name: a function without effects, or a part of a layer's handlers.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// `name`; `class.name` for a published value of that class, `layer.name` for a procedure of that layer.
    pub name: String,
    pub role: Role,
    pub params: Vec<(String, Type)>,
    pub results: Vec<Type>,
    pub body: Body,
}

/// What a function may do, and so which operations name it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Role {
    /// It computes from its parameters alone; for `call`.
    Pure,
    /// It reads objects too, the first parameter first, which is of the class; for `call` from any layer.
    Published(ClassId),
    /// It does what the layer's handlers do, for whoever runs it: its code stands once for all of them. It takes and gives
    /// messages too, and no arrays; for `run`, and for `tryrun` where it may refuse.
    Procedure {
        layer: LayerId,
        /// What it gives back where it refuses; none if it never does.
        refused: Option<Vec<Type>>,
    },
    /// It computes from the state of objects of all layers, which seldom changes, and of one object that it is given, or none; it refuses
    /// where something does not hold. For `recall`, on paths: who runs them may remember what it gave until that state changes.
    Memo,
}

impl Function {
    /// The class of which it is a published value.
    pub fn published(&self) -> Option<ClassId> {
        match self.role {
            Role::Published(class) => Some(class),
            Role::Pure | Role::Procedure { .. } | Role::Memo => None,
        }
    }

    /// In front of the names of functions whose numbers nobody can tell who does not know their key.
    pub const PSEUDORANDOM: &str = "siphash.";

    /// Whether what it gives looks as if it were drawn at random.
    pub fn is_pseudorandom(&self) -> bool {
        self.role == Role::Pure && self.name.starts_with(Self::PSEUDORANDOM)
    }

    /// The layer of whose handlers it is a part.
    pub fn procedure(&self) -> Option<LayerId> {
        match self.role {
            Role::Procedure { layer, .. } => Some(layer),
            Role::Pure | Role::Published(_) | Role::Memo => None,
        }
    }

    /// Whether it is a procedure that may give back what it was given, or a memo.
    pub fn may_refuse(&self) -> bool {
        matches!(self.role, Role::Procedure { refused: Some(_), .. } | Role::Memo)
    }

    /// Whether paths recall it.
    pub fn is_memo(&self) -> bool {
        self.role == Role::Memo
    }

    /// What it gives back where it refuses; nothing of one that never does.
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
    /// Without the object itself.
    pub params: Vec<(String, Type)>,
    pub body: Body,
    /// How many `later` events of this handler may wait; 0 when it is never the target of one.
    pub later_capacity: u32,
    pub source: Option<SourceId>,
}

/// A way through a whole reaction: what the handler of a port's event does, and all that follows from it, as one body with
/// the handler's parameters. Where it does not hold it refuses, before it has done anything, and the handlers do it all.
///
/// It may touch the objects of all layers. It ends by `return`, or by `refuse`, which gives the messages back.
#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    pub handler: HandlerId,
    pub body: Body,
}

/// What a handler runs on. A class has at most one handler for each.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Trigger {
    /// An emission of a layer or an input of a port, by name.
    Event(String),
    /// The unique object's first reaction, before any input, in the order of classes.
    Start,
    Expiry(CellId),
    Settle,
}

/// What `compose` found: which channels need a queue. A channel goes from one layer instance to another.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Composition {
    /// Sorted. Every other channel is direct: its emissions are calls.
    pub queued: Vec<(LayerId, LayerId)>,
    /// The same for the outputs of a layer at a port, which are a channel as well. Sorted.
    pub queued_outputs: Vec<(LayerId, PortId)>,
    /// Classes merged into one record each (chains of 1:1 links), upper layers first.
    pub merged: Vec<Vec<ClassId>>,
    /// New buffers that one reaction may take, at most.
    pub peak: u32,
    /// Outputs of one reaction, at most.
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
    /// The same, of which is not known where it comes from: what it does is the same, wherever in its files it stands.
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

    /// The class of the object that an event which a body emits is for; none where the operands make no sense.
    pub fn class_for(&self, body: &Body, target: Addressee) -> Option<ClassId> {
        match target {
            Addressee::Object(object) => body.class_of(object),
            Addressee::Linked { object, cell } => {
                self.class(body.class_of(object)?).cells.get(cell.index())?.refers_to()
            }
        }
    }

    /// The numbers that are values of a type and less than 2^`width`, as ranges in ascending order; none if all are.
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

    /// The class; panics at an id that refers to none, which the verifier excludes.
    pub fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.index()]
    }

    /// The cell of a class; panics at ids that refer to none.
    pub fn cell(&self, class: ClassId, cell: CellId) -> &Cell {
        &self.classes[class.index()].cells[cell.index()]
    }

    /// What a path gives back where it refuses: a message for each that its handler is given.
    pub fn given_back(&self, path: &Path) -> Vec<Type> {
        let params = self.handlers.get(path.handler.index()).map_or(&[][..], |handler| &handler.params);
        crate::types(params).into_iter().filter(|ty| *ty == Type::Msg).collect()
    }

    /// Whether emissions stand in a queue there: everywhere, where nothing is composed.
    pub fn is_queued(&self, channel: Channel) -> bool {
        let Some(composition) = &self.composition else { return true };
        match channel {
            Channel::Layer(from, to) => composition.queued.contains(&(from, to)),
            Channel::Port(from, port) => composition.queued_outputs.contains(&(from, port)),
        }
    }

    /// The wires of which some handler asks for the packet as they met it, each once, in the order of the bodies.
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

    /// Whether events of a port come to the handler. A path of another one begins inside: for events that layers emit.
    pub fn is_at_port(&self, handler: HandlerId) -> bool {
        let Handler { class, trigger, .. } = self.handler(handler);
        let Trigger::Event(event) = trigger else { return false };
        let mut inputs = self.ports.iter().flat_map(|port| &port.inputs);
        inputs.any(|input| input.class == *class && input.handler == *event)
    }

    /// Whether a reaction begins with the handler: an event of a port comes to it, or a timer of its object runs out.
    pub fn begins(&self, handler: HandlerId) -> bool {
        self.is_at_port(handler) || matches!(self.handler(handler).trigger, Trigger::Expiry(_))
    }

    /// The handler; panics at an id that refers to none.
    pub fn handler(&self, id: HandlerId) -> &Handler {
        &self.handlers[id.index()]
    }

    /// All bodies: those of handlers, then those of functions of every role.
    pub fn bodies(&self) -> impl Iterator<Item = &Body> {
        let handlers = self.handlers.iter().map(|handler| &handler.body);
        handlers.chain(self.functions.iter().map(|function| &function.body))
    }

    /// The bodies that do something, with the layer whose they are: of handlers, then of procedures.
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
