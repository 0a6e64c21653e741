//! `mokume size`: octets of each class of objects in C, message buffers, and the total for an instance.

pub use mokume_compose::Need;
pub use mokume_emit_c::Needed;
use mokume_reaction::{Automaton, WireId};

/// One class of objects, in C.
pub struct Row {
    pub class: String,
    /// Octets of one object: its cells, its head, the lists of its children.
    pub octets: u64,
    pub capacity: u64,
    /// Octets of all that C allocates for the class, whether there are objects or not.
    pub in_all: u64,
}

/// What a stack needs in C: octets for its objects, and message buffers.
pub struct Sizes {
    pub rows: Vec<Row>,
    pub buffers: u32,
    /// What an instance needs: the result of `NAME_size(&NAME_defaults)` in C.
    pub needed: Needed,
    /// The terms of the number of buffers.
    pub needs: Vec<Need>,
    /// Each wire with the hash of its layout: what differs if `above.layout` does.
    pub layouts: Vec<(String, u32)>,
}

impl Sizes {
    /// Octets of all classes in C.
    pub fn objects(&self) -> u64 {
        self.rows.iter().map(|row| row.in_all).sum()
    }

    /// What takes most of a large instance, and what would make it smaller; `None` if it is small.
    pub fn advice(&self) -> Option<String> {
        let needed = &self.needed;
        if needed.whole < LARGE {
            return None;
        }
        let buffers = needed.buffers * needed.buffer;
        let parts = [buffers, needed.instance, needed.agenda + needed.later + needed.outputs];
        let (most, octets) = parts.iter().enumerate().max_by_key(|(_, octets)| **octets)?;
        let share = octets * 100 / needed.whole;
        Some(match most {
            0 => {
                let mut needs: Vec<&Need> = self.needs.iter().collect();
                needs.sort_by_key(|need| std::cmp::Reverse(need.buffers));
                let named: Vec<String> =
                    needs.iter().take(2).map(|need| format!("{} for `{}`", need.buffers, need.what)).collect();
                let wide = match needed.buffer > FRAME {
                    true => "; each holds a whole joined message: `config.buffer_octets` may be less",
                    false => "",
                };
                format!(
                    "{share} % of it are buffers: {}. A smaller `capacity`, `quota` or `outputs` there makes it smaller; in C also `config.buffers`{wide}",
                    named.join(", ")
                )
            }
            1 => {
                let row = self.rows.iter().max_by_key(|row| row.in_all)?;
                format!(
                    "{share} % of it are objects: {} of `{}`, with {} octets each. A smaller `capacity` there makes it smaller",
                    row.capacity, row.class, row.octets
                )
            }
            _ => format!("{share} % of it is room for outputs of a reaction: `outputs 32` in the stack limits them"),
        })
    }
}

/// From so many octets on an instance is large.
const LARGE: u64 = 16 << 20;

/// A buffer for a frame of Ethernet has less.
const FRAME: u64 = 4096;

/// The most octets of a stack's objects in C (docs/limits.md).
pub const MOST: u64 = 1 << 40;

/// If the objects fit in no machine: the octets of all objects, and those of the largest class with its name.
pub fn beyond(automaton: &Automaton) -> Option<(u64, u64, String)> {
    let all = mokume_emit_c::class_octets(automaton);
    let sum = all.iter().fold(0u64, |sum, octets| sum.saturating_add(*octets));
    let (at, largest) = all.iter().enumerate().max_by_key(|(_, octets)| **octets)?;
    (sum > MOST).then(|| (sum, *largest, automaton.classes[at].name.clone()))
}

/// The sizes in C with 64-bit addresses.
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
