//! Which values of a path depend on rarely changing state: these are *still*.

use rustc_hash::FxHashSet as HashSet;

use mokume_analyse::Flow;
use mokume_reaction::{
    Automaton, Body, Cell, CellId, CellKind, ClassId, Effects, Fallible, HandlerId, Op, OpKind, Operation, Path,
    Terminator, Trigger, Type, Value,
};

use crate::Aside;

/// Cells that change with every message, or every few: cells that paths write, sequence numbers, cells that handlers
/// after paths write on ways that are not rare according to the source, and cells that change beside paths.
pub(super) fn hot(automaton: &Automaton, aside: &Aside) -> HashSet<(ClassId, CellId)> {
    let written = |path: &Path| -> Vec<_> {
        let writes = path.body.ops().filter(|op| op.kind.effects().contains(Effects::WRITES));
        writes.filter_map(|op| cell_of(&path.body, op)).collect()
    };
    let classes = automaton.classes.iter().enumerate();
    let numbers = classes.flat_map(|(at, class)| {
        let moves = |cell: &Cell| matches!(cell.kind, CellKind::Scalar { ty: Type::Seq(_), .. });
        let cells = class.cells.iter().enumerate().filter(move |(_, cell)| moves(cell));
        cells.map(move |(cell, _)| (ClassId::from(at), CellId::from(cell)))
    });
    let written: HashSet<_> = automaton.paths.iter().flat_map(written).collect();
    let flat = mokume_analyse::flat(automaton);
    let is_seldom = |handler: &HandlerId| aside.seldom.contains(handler) && !aside.often.contains(handler);
    let handlers = handed_over(&flat, is_seldom).into_iter().map(|handler| flat.handler(handler));
    let often: Vec<_> = handlers.flat_map(|handler| often(&handler.body)).collect();
    written.into_iter().chain(numbers).chain(often).chain(aside.moving.iter().copied()).collect()
}

fn cell_of(body: &Body, op: &Op) -> Option<(ClassId, CellId)> {
    let (object, cell) = op.kind.cell()?;
    Some((body.class_of(object)?, cell))
}

/// The handlers to which paths hand over, except rarely called ones, and all that these emit to, each with the settle
/// handler of its objects.
fn handed_over(automaton: &Automaton, is_seldom: impl Fn(&HandlerId) -> bool) -> Vec<HandlerId> {
    let emitted = |body: &Body, found: &mut Vec<HandlerId>| {
        for (class, handler) in crate::emitted_to(automaton, body) {
            let settles = automaton.handler_of(class, &Trigger::Settle);
            for handler in std::iter::once(handler).chain(settles) {
                if !found.contains(&handler) {
                    found.push(handler);
                }
            }
        }
    };
    let mut found = Vec::new();
    automaton.paths.iter().for_each(|path| emitted(&path.body, &mut found));
    found.retain(|handler| !is_seldom(handler));
    let mut at = 0;
    while let Some(handler) = found.get(at).copied() {
        at += 1;
        emitted(&automaton.handler(handler).body, &mut found);
    }
    found
}

/// A cell that is written less often than this per run of a handler is still.
const SELDOM: f32 = 0.02;

/// Cells that a body writes on ways that are not rare. Each loop counts as one round.
fn often(body: &Body) -> Vec<(ClassId, CellId)> {
    let mut runs = vec![0.0f32; body.blocks.len()];
    runs[0] = 1.0;
    let mut cells = Vec::new();
    for place in mokume_analyse::in_order(body) {
        let (block, often) = (&body.blocks[place.index()], runs[place.index()]);
        if often >= SELDOM {
            let writes = block.ops.iter().filter(|op| matches!(op.kind, OpKind::Set { .. } | OpKind::SetAt { .. }));
            cells.extend(writes.filter_map(|op| cell_of(body, op)));
        }
        let targets = block.terminator.targets();
        let even = often / targets.len().max(1) as f32;
        for (nth, target) in targets.iter().enumerate() {
            let part = match (&block.terminator, nth) {
                (Terminator::Branch { likely: Some(likely), .. }, 0) => often * likely,
                (Terminator::Branch { likely: Some(likely), .. }, _) => often * (1.0 - likely),
                _ => even,
            };
            runs[target.block.index()] += part;
        }
    }
    cells
}

/// What memos are kept by.
#[derive(Clone, Debug)]
pub(super) enum Key {
    /// An object.
    Object(Value),
    /// Numbers that are read from the path's message, and all other reads of these.
    Words { words: Vec<Value>, again: Vec<(Value, usize)> },
}

impl Key {
    /// Numbers that are read from the message.
    pub fn words(body: &Body, words: Vec<Value>) -> Self {
        let made = |value: Value| body.ops().find(|op| op.results.first() == Some(&value)).map(|op| &op.kind);
        let place = |kind: &OpKind| {
            let OpKind::Load { field, message, at } = kind else { return None };
            let Some(OpKind::Const { value: at, .. }) = made(*at) else { return None };
            Some((*field, *message, *at))
        };
        let places: Vec<_> = words.iter().map(|word| made(*word).and_then(place)).collect();
        let again = body.ops().filter_map(|op| {
            let read = place(&op.kind)?;
            let word = places.iter().position(|place| *place == Some(read))?;
            Some((op.results[0], word)).filter(|(value, word)| words[*word] != *value)
        });
        let again = again.collect();
        Key::Words { words, again }
    }

    /// Whether the value is what the memos are kept by, or a part of it.
    fn has(&self, value: Value) -> bool {
        match self {
            Key::Object(object) => *object == value,
            Key::Words { words, again } => words.contains(&value) || again.iter().any(|(read, _)| *read == value),
        }
    }

    /// The object.
    pub fn object(&self) -> Option<Value> {
        match self {
            Key::Object(object) => Some(*object),
            Key::Words { .. } => None,
        }
    }
}

/// Which of a path's values are still.
pub(super) struct Still<'a> {
    pub old: &'a Body,
    /// What memos are kept by.
    pub key: Key,
    /// The path's object, if it is the only one of its class: it is still, too.
    pub unique: Option<(Value, ClassId)>,
    still: Vec<bool>,
    /// The operation that makes each value; `None` for parameters.
    pub made: Vec<Option<&'a Op>>,
}

impl<'a> Still<'a> {
    /// `key`: what memos are kept by.
    pub fn of(automaton: &Automaton, old: &'a Body, key: Key, hot: &HashSet<(ClassId, CellId)>) -> Self {
        let own = old.blocks[0].params.first().and_then(|own| Some((*own, old.class_of(*own)?)));
        let unique = own.filter(|(_, class)| automaton.is_unique(*class));
        let mut made = vec![None; old.values.len()];
        for op in old.ops() {
            op.results.iter().for_each(|result| made[result.index()] = Some(op));
        }
        let mut found = Still { old, key, unique, still: vec![false; old.values.len()], made };
        found.find(&Flow::new(old), hot);
        found
    }

    fn find(&mut self, flow: &Flow, hot: &HashSet<(ClassId, CellId)>) {
        if let Some((own, _)) = self.unique {
            self.still[own.index()] = true;
        }
        match &self.key {
            Key::Object(object) => self.still[object.index()] = true,
            Key::Words { words, again } => {
                words.iter().chain(again.iter().map(|(read, _)| read)).for_each(|word| self.still[word.index()] = true);
            }
        }
        let mut before = 0;
        loop {
            let now = self.still.iter().filter(|still| **still).count();
            if now == before {
                break;
            }
            before = now;
            for block in &self.old.blocks {
                for op in &block.ops {
                    let all = op.kind.operands().iter().all(|value| self.is(*value));
                    if all && may_be_still(&op.kind) && !self.is_hot(&op.kind, hot) {
                        op.results.iter().for_each(|result| self.still[result.index()] = true);
                    }
                }
                if let Terminator::Try { op, then, .. } = &block.terminator {
                    if self.is_attempt(op) && !self.is_hot(op, hot) && flow.edges_into(then.block) == 1 {
                        let found = &self.old.blocks[then.block.index()].params;
                        found.iter().for_each(|param| self.still[param.index()] = true);
                    }
                }
            }
        }
    }

    fn is_hot(&self, op: &dyn Operation, hot: &HashSet<(ClassId, CellId)>) -> bool {
        op.cell()
            .is_some_and(|(object, cell)| self.old.class_of(object).is_none_or(|class| hot.contains(&(class, cell))))
    }

    /// Whether a value is still.
    pub fn is(&self, value: Value) -> bool {
        self.still[value.index()]
    }

    /// The operation that makes a value; `None` for parameters.
    pub fn made(&self, value: Value) -> Option<&'a Op> {
        self.made[value.index()]
    }

    /// The value of a constant; `None` for other values.
    pub fn constant(&self, value: Value) -> Option<u64> {
        match self.made(value)?.kind {
            OpKind::Const { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Whether it is a look-up with still operands.
    pub fn is_attempt(&self, op: &Fallible) -> bool {
        matches!(op, Fallible::Find { .. }) && op.operands().iter().all(|value| self.is(*value))
    }

    /// Whether all results of the operation are still.
    pub fn is_made(&self, op: &Op) -> bool {
        !op.results.is_empty() && op.results.iter().all(|result| self.is(*result))
    }

    /// Whether recomputing it is cheaper than remembering it.
    pub fn is_cheap(&self, value: Value) -> bool {
        if self.key.has(value) || self.unique.is_some_and(|(own, _)| own == value) {
            return true;
        }
        let Some(op) = self.made(value) else { return false };
        match &op.kind {
            OpKind::Const { .. } | OpKind::Null { .. } | OpKind::Unique { .. } | OpKind::Param { .. } => true,
            // Whether a referenced object lives is to be remembered, too.
            OpKind::Get { object, .. } => {
                self.is_always(*object) && !matches!(self.old.values[value.index()].ty, Type::Ref(_))
            }
            _ => false,
        }
    }

    /// Whether the object exists wherever the path is.
    fn is_always(&self, object: Value) -> bool {
        let is_own = self.key.object() == Some(object) || self.unique.is_some_and(|(own, _)| own == object);
        is_own || self.made(object).is_some_and(|op| matches!(op.kind, OpKind::Unique { .. }))
    }
}

/// Whether it depends only on its operands, and on state whose changes are reported to whoever keeps the result.
pub(super) fn may_be_still(op: &OpKind) -> bool {
    match op {
        OpKind::Const { .. }
        | OpKind::Null { .. }
        | OpKind::Compare { .. }
        | OpKind::Not { .. }
        | OpKind::Select { .. }
        | OpKind::Cast { .. }
        | OpKind::Param { .. }
        | OpKind::Unique { .. }
        | OpKind::Parent { .. }
        | OpKind::Lives { .. }
        | OpKind::Get { .. }
        | OpKind::Fold16 { .. } => true,
        OpKind::Binary { .. } => op.effects().is_empty(),
        _ => false,
    }
}
