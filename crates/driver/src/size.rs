//! `mokume size`: octets of each class of objects in C, message buffers, and what an instance needs in all.

pub use mokume_compose::Need;
pub use mokume_emit_c::Needed;
use mokume_reaction::{Automaton, WireId};

/// One class of objects, in C.
pub struct Row {
    pub class: String,
    /// Of one object: its cells, its head, the lists of its children.
    pub octets: u64,
    pub capacity: u64,
    /// Of all that C has for the class, whether there are objects or not.
    pub in_all: u64,
}

/// What a stack needs in C: octets for its objects, and message buffers.
pub struct Sizes {
    pub rows: Vec<Row>,
    pub buffers: u32,
    /// What an instance is given: what `NAME_size(&NAME_defaults)` says in C.
    pub needed: Needed,
    /// The sum that the buffers are.
    pub needs: Vec<Need>,
    /// Each wire with the hash of its layout: what differs where `above.layout` does.
    pub layouts: Vec<(String, u32)>,
}

impl Sizes {
    /// Octets of what C has for all classes.
    pub fn objects(&self) -> u64 {
        self.rows.iter().map(|row| row.in_all).sum()
    }
}

/// Octets that the objects of a stack may have in C in all (docs/limits.md).
pub const MOST: u64 = 1 << 40;

/// What has no room in any machine: the octets of all objects, and of the largest class and its name.
pub fn beyond(automaton: &Automaton) -> Option<(u64, u64, String)> {
    let all = mokume_emit_c::class_octets(automaton);
    let sum = all.iter().fold(0u64, |sum, octets| sum.saturating_add(*octets));
    let (at, largest) = all.iter().enumerate().max_by_key(|(_, octets)| **octets)?;
    (sum > MOST).then(|| (sum, *largest, automaton.classes[at].name.clone()))
}

/// What C takes where addresses have 64 bits.
pub fn sizes(automaton: &Automaton) -> Sizes {
    let rows = automaton
        .classes
        .iter()
        .zip(mokume_emit_c::object_octets(automaton).into_iter().zip(mokume_emit_c::class_octets(automaton)))
        .map(|(class, (octets, in_all))| {
            let capacity = u64::from(class.capacity);
            Row { class: class.name.clone(), octets, capacity, in_all }
        })
        .collect();
    let pool = mokume_compose::compose(automaton, mokume_compose::Options::default()).pool;
    let hash = |wire| mokume_reaction::text::layout_hash(automaton, &[WireId::from(wire)]);
    let layouts = automaton.wires.iter().enumerate().map(|(at, wire)| (wire.name.clone(), hash(at))).collect();
    let needed = mokume_emit_c::memory(automaton);
    Sizes { rows, buffers: automaton.pool, needed, needs: pool.needs, layouts }
}
