//! The automaton with look-ups resolved that do not change while it runs: events to handlers, channels to numbers.

use std::sync::Arc;

use mokume_reaction::border::{self, Border};
use mokume_reaction::{
    Addressee, Automaton, Body, CellId, CellKind, ClassId, Datum, Emission, HandlerId, LayerId, Natives, PortId,
    PortInput, Trigger, Type,
};

use crate::arrays::Arrays;

/// The handler of an emission that has none.
pub const NOBODY: u32 = u32::MAX;

/// One automaton with its parameters, ready to run; immutable while it runs.
pub struct Program {
    pub automaton: Arc<Automaton>,
    /// Functions in C; without them calls give 0 and leave messages as they are.
    pub natives: Option<Arc<dyn Natives>>,
    pub params: Vec<u64>,
    pub classes: Vec<ClassInfo>,
    pub handlers: Vec<HandlerInfo>,
    pub functions: Vec<FunctionInfo>,
    pub paths: Vec<PathInfo>,
    /// By handler, the paths to try before it.
    pub taken: Vec<Vec<u32>>,
    /// The same for paths that begin inside, at an event that another layer emitted.
    pub taken_inside: Vec<Vec<u32>>,
    /// Timer cells in the order of their declaration.
    pub timers: Vec<(ClassId, CellId)>,
    /// By channel, as numbered in [`BlockInfo::emits`]: whether it is a queue (docs/semantics.md, O6).
    pub queued: Vec<bool>,
    /// Handlers of inputs, by port and event.
    pub inputs: Vec<Vec<u32>>,
    /// What the numbers of inputs may be, by port and event.
    pub borders: Vec<Vec<Vec<Border>>>,
    pub edges: u32,
    /// Whether some handler asks for the packets of a wire, by wire.
    pub remembered: Vec<bool>,
}

/// Look-ups of a class.
pub struct ClassInfo {
    pub unique: bool,
    /// The handler of `settle`, or `NOBODY`.
    pub settle: u32,
    pub limit: u32,
    pub start: u32,
    /// By cell: the number of the timer.
    pub declaration: Vec<u32>,
    /// By cell: the handler of its expiry.
    pub expiry: Vec<u32>,
    pub children: Vec<ClassId>,
    /// The maps that find its objects by the objects' own cells.
    pub indices: Vec<ObjectIndex>,
}

/// A map of a unique object that finds objects by their own cells.
pub struct ObjectIndex {
    pub class: ClassId,
    pub map: CellId,
    pub by: Vec<CellId>,
}

/// Look-ups of a handler.
pub struct HandlerInfo {
    pub arrays: Arrays,
    pub blocks: Vec<BlockInfo>,
    /// Indices of the messages among the arguments, without the object.
    pub messages: Vec<u16>,
}

/// Look-ups of a function.
pub struct FunctionInfo {
    pub arrays: Arrays,
    /// For a procedure: as for a handler.
    pub blocks: Option<Vec<BlockInfo>>,
}

/// Look-ups of a path.
pub struct PathInfo {
    pub arrays: Arrays,
    pub blocks: Vec<BlockInfo>,
}

/// Look-ups of a block.
#[derive(Default)]
pub struct BlockInfo {
    /// By operation: the handler of an emission, and its channel; the handler whose queue of events for later it is about.
    pub emits: Vec<(u32, u32)>,
    /// The handler of the `later` event at the end.
    pub later: u32,
    /// The number of the block's first edge.
    pub edge: u32,
}

impl Program {
    /// Resolves a verified automaton. Parameters are in their order; missing ones have their defaults, and numbers are
    /// cut to their types' bits. Who gives them knows that they are values (docs/semantics.md, P6).
    pub fn new(automaton: Arc<Automaton>, params: &[u64]) -> Self {
        let automaton_ref = &*automaton;
        let mut timers = Vec::new();
        let classes =
            (0..automaton.classes.len()).map(|id| class_info(automaton_ref, id.into(), &mut timers)).collect();
        let mut edges = 0;
        let handlers = automaton.handlers.iter().map(|handler| HandlerInfo {
            arrays: Arrays::of(&handler.body),
            blocks: block_infos(automaton_ref, &handler.body, automaton_ref.class(handler.class).layer, &mut edges),
            messages: messages(&handler.params),
        });
        let handlers = handlers.collect();
        let functions = automaton.functions.iter().map(|function| FunctionInfo {
            arrays: Arrays::of(&function.body),
            blocks: function.procedure().map(|layer| block_infos(automaton_ref, &function.body, layer, &mut edges)),
        });
        let functions = functions.collect();
        let paths = automaton.paths.iter().map(|path| PathInfo {
            arrays: Arrays::of(&path.body),
            blocks: directly(automaton_ref, block_infos(automaton_ref, &path.body, LayerId(0), &mut edges)),
        });
        let paths = paths.collect();
        let inputs = automaton.ports.iter().map(|port| {
            port.inputs.iter().map(|input| handler_of(automaton_ref, input.class, &input.handler)).collect()
        });
        let inputs = inputs.collect();
        let border = |input: &PortInput| border::borders_of(automaton_ref, &input.params);
        let borders = automaton.ports.iter().map(|port| port.inputs.iter().map(border).collect()).collect();
        Program {
            natives: None,
            params: masked_params(automaton_ref, params),
            classes,
            handlers,
            functions,
            paths,
            taken: vec![Vec::new(); automaton.handlers.len()],
            taken_inside: vec![Vec::new(); automaton.handlers.len()],
            timers,
            queued: queued(automaton_ref),
            inputs,
            borders,
            edges,
            remembered: remembered(automaton_ref),
            automaton,
        }
    }

    /// Enables paths: handlers run only if all paths refuse.
    pub fn take_paths(&mut self) {
        for (number, path) in self.automaton.paths.iter().enumerate() {
            let taken = match self.automaton.begins(path.handler) {
                true => &mut self.taken,
                false => &mut self.taken_inside,
            };
            taken[path.handler.index()].push(number as u32);
        }
    }

    /// All ones in the bits of a type; all 64 for references, messages and reasons.
    pub fn mask(&self, ty: Type) -> u64 {
        mask(ty.width(&self.automaton))
    }

    /// A number that comes in, cut to the bits of its type; 0 for what is none.
    pub fn number(&self, datum: &Datum, ty: Type) -> u64 {
        if let Datum::Word(word) = datum {
            word & self.mask(ty)
        } else {
            0
        }
    }

    /// A planted fault: one queue for all events instead of one for each channel, an order that docs/semantics.md, O5
    /// excludes.
    pub fn merge_channels(&mut self) {
        self.queued.fill(true);
        let blocks = self.handlers.iter_mut().flat_map(|handler| &mut handler.blocks);
        for (_, channel) in blocks.flat_map(|block| &mut block.emits) {
            *channel = 0;
        }
    }

    /// The number of channels between layers, used or not.
    pub fn channels(&self) -> usize {
        self.automaton.layers.len() * receivers(&self.automaton)
    }
}

/// All ones in `width` bits; types that are not scalars are not cut.
pub fn mask(width: u8) -> u64 {
    match width {
        0 | 64.. => u64::MAX,
        n => (1 << n) - 1,
    }
}

fn receivers(automaton: &Automaton) -> usize {
    automaton.layers.len() + automaton.ports.len()
}

fn layer_channel(automaton: &Automaton, from: LayerId, to: ClassId) -> u32 {
    (from.index() * receivers(automaton) + automaton.class(to).layer.index()) as u32
}

fn port_channel(automaton: &Automaton, from: LayerId, port: PortId) -> u32 {
    (from.index() * receivers(automaton) + automaton.layers.len() + port.index()) as u32
}

fn queued(automaton: &Automaton) -> Vec<bool> {
    let size = automaton.layers.len() * receivers(automaton);
    let Some(composition) = &automaton.composition else {
        return (0..=size).map(|channel| channel < size).collect();
    };
    let mut queued = vec![false; size + 1];
    for (from, to) in &composition.queued {
        queued[from.index() * receivers(automaton) + to.index()] = true;
    }
    for (from, port) in &composition.queued_outputs {
        queued[from.index() * receivers(automaton) + automaton.layers.len() + port.index()] = true;
    }
    queued
}

fn masked_params(automaton: &Automaton, params: &[u64]) -> Vec<u64> {
    let value = |(place, param): (usize, &mokume_reaction::Param)| {
        params.get(place).copied().or(param.default).unwrap_or(0) & mask(param.ty.width(automaton))
    };
    let mut words: Vec<u64> = automaton.params.iter().enumerate().map(value).collect();
    // Of wrong ones, too, elements behind a length are 0.
    let _ = border::admit(&border::borders(automaton, &border::parameters(automaton)), &mut words);
    words
}

fn handler_of(automaton: &Automaton, class: ClassId, event: &str) -> u32 {
    handler(automaton, class, &Trigger::Event(event.to_string()))
}

fn handler(automaton: &Automaton, class: ClassId, trigger: &Trigger) -> u32 {
    automaton.handler_of(class, trigger).map_or(NOBODY, |HandlerId(id)| id)
}

fn class_info(automaton: &Automaton, id: ClassId, timers: &mut Vec<(ClassId, CellId)>) -> ClassInfo {
    let class = automaton.class(id);
    let (mut declaration, mut expiry) = (Vec::new(), Vec::new());
    for (place, cell) in class.cells.iter().enumerate() {
        let cell_id = CellId::from(place);
        declaration.push(timers.len() as u32);
        expiry.push(handler(automaton, id, &Trigger::Expiry(cell_id)));
        if cell.kind == CellKind::Timer {
            timers.push((id, cell_id));
        }
    }
    let is_child = |place: &usize| automaton.classes[*place].parent == Some(id);
    ClassInfo {
        unique: automaton.is_unique(id),
        settle: handler(automaton, id, &Trigger::Settle),
        limit: class.settle_limit.unwrap_or(1).max(1),
        start: handler(automaton, id, &Trigger::Start),
        declaration,
        expiry,
        children: (0..automaton.classes.len()).filter(is_child).map(ClassId::from).collect(),
        indices: indices(automaton, id),
    }
}

/// The maps that find objects of a class by their own cells.
fn indices(automaton: &Automaton, of: ClassId) -> Vec<ObjectIndex> {
    let mut found = Vec::new();
    for (at, class) in automaton.classes.iter().enumerate() {
        for (place, cell) in class.cells.iter().enumerate() {
            if let CellKind::Map { value, by, .. } = &cell.kind {
                if !by.is_empty() && value[..] == [Type::Ref(of)] {
                    found.push(ObjectIndex { class: at.into(), map: place.into(), by: by.clone() });
                }
            }
        }
    }
    found
}

fn messages(params: &[(String, Type)]) -> Vec<u16> {
    (0..params.len() as u16).filter(|place| params[usize::from(*place)].1 == Type::Msg).collect()
}

fn block_infos(automaton: &Automaton, body: &Body, from: LayerId, edges: &mut u32) -> Vec<BlockInfo> {
    let class_of = |target: Addressee| automaton.class_for(body, target);
    let resolve = |target: Addressee, event: &str| class_of(target).map_or(NOBODY, |c| handler_of(automaton, c, event));
    let info = |block: &mokume_reaction::Block| {
        let emits = block.ops.iter().map(|op| match op.kind.emission() {
            Some(Emission::Event { target, event, .. }) => {
                let channel = class_of(target).map_or(0, |to| layer_channel(automaton, from, to));
                (resolve(target, event), channel)
            }
            Some(Emission::Output { port, .. }) => (NOBODY, port_channel(automaton, from, port)),
            None => (op.kind.queue().map_or(NOBODY, |(target, event)| resolve(Addressee::Object(target), event)), 0),
        });
        let later = match block.terminator.attempt().and_then(|op| op.emission()) {
            Some(Emission::Event { target, event, .. }) => resolve(target, event),
            Some(Emission::Output { .. }) | None => NOBODY,
        };
        let edge = *edges;
        *edges += block.terminator.targets().len() as u32;
        BlockInfo { emits: emits.collect(), later, edge }
    };
    body.blocks.iter().map(info).collect()
}

/// Emissions of a path use no queue: the handler that it hands over to runs next, and its outputs leave in order.
fn directly(automaton: &Automaton, mut blocks: Vec<BlockInfo>) -> Vec<BlockInfo> {
    let channels = (automaton.layers.len() * receivers(automaton)) as u32;
    blocks.iter_mut().flat_map(|block| &mut block.emits).for_each(|(_, channel)| *channel = channels);
    blocks
}

fn remembered(automaton: &Automaton) -> Vec<bool> {
    let mut remembered = vec![false; automaton.wires.len()];
    automaton.asked_for().into_iter().for_each(|wire| remembered[wire.index()] = true);
    remembered
}
