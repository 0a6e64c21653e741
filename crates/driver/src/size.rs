//! `mokume size`: octets of each class of objects in C, and message buffers.

pub use mokume_compose::Need;
use mokume_reaction::{Automaton, Cell, CellKind, Type, WireId};

/// One class of objects, in C.
pub struct Row {
    pub class: String,
    /// Of one object, cells only.
    pub octets: u64,
    pub capacity: u64,
}

/// What a stack needs in C: octets for its objects, and message buffers.
pub struct Sizes {
    pub rows: Vec<Row>,
    pub buffers: u32,
    /// The sum that the buffers are.
    pub needs: Vec<Need>,
    /// Each wire with the hash of its layout: what differs where `above.layout` does.
    pub layouts: Vec<(String, u32)>,
}

impl Sizes {
    /// Octets of all objects of all classes, with each class as full as it may be.
    pub fn objects(&self) -> u64 {
        self.rows.iter().map(|row| row.octets * row.capacity).sum()
    }
}

/// Cells as the C back end stores them, before alignment.
pub fn sizes(automaton: &Automaton) -> Sizes {
    let rows = automaton
        .classes
        .iter()
        .map(|class| Row {
            class: class.name.clone(),
            octets: class.cells.iter().map(|cell| octets(automaton, cell)).sum(),
            capacity: u64::from(class.capacity),
        })
        .collect();
    let pool = mokume_compose::compose(automaton, mokume_compose::Options::default()).pool;
    let hash = |wire| mokume_reaction::text::layout_hash(automaton, &[WireId::from(wire)]);
    let layouts = automaton.wires.iter().enumerate().map(|(at, wire)| (wire.name.clone(), hash(at))).collect();
    Sizes { rows, buffers: automaton.pool, needs: pool.needs, layouts }
}

fn octets(automaton: &Automaton, cell: &Cell) -> u64 {
    let of = |ty: Type| match ty {
        Type::Ref(_) | Type::Msg => 4,
        Type::Reason => 2,
        Type::Bool | Type::U(_) | Type::Seq(_) | Type::Enum(_) => {
            u64::from(ty.width(automaton).div_ceil(8).next_power_of_two())
        }
        // No cell holds one as a value.
        Type::Array(..) => 0,
    };
    let all = |types: &[Type]| types.iter().map(|ty| of(*ty)).sum::<u64>();
    match &cell.kind {
        CellKind::Scalar { ty, .. } => of(*ty),
        CellKind::Array { ty, size, .. } => of(*ty) * u64::from(*size),
        CellKind::Messages { size, .. } => 4 * u64::from(*size),
        // Open addressing at half load: an entry and its state, twice.
        CellKind::Map { key, value, capacity } => (all(key) + all(value) + 1) * u64::from(*capacity) * 2,
        CellKind::Timer => 24,
        CellKind::Quota { .. } => 4,
        CellKind::Counter => 8,
    }
}
