//! What the runtime keeps for an object beside its cells: its head, and arrays that only some classes need.
//!
//! Invariant: what a class has here is in the instance (`records.rs`) and in the runtime's plan of the class
//! (`doors/life.rs`); `octets.rs` counts it.

use rustc_hash::FxHashSet as HashSet;

use mokume_reaction::*;

/// An array of the instance with an item for each place of a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Beside {
    Objects,
    Settling,
    Kin,
    Ages,
    Streams,
}

impl Beside {
    /// The type of its items in `runtime/mk_object.h`.
    pub fn item(self) -> &'static str {
        match self {
            Beside::Objects => "mk_object",
            Beside::Settling => "mk_settling",
            Beside::Kin => "mk_kin",
            Beside::Ages | Beside::Streams => "uint64_t",
        }
    }

    /// The suffix of its name, after the class's name.
    pub fn name(self) -> &'static str {
        match self {
            Beside::Objects => "objects",
            Beside::Settling => "settling",
            Beside::Kin => "kin",
            Beside::Ages => "ages",
            Beside::Streams => "streams",
        }
    }

    /// Octets of an item.
    pub fn octets(self) -> u64 {
        match self {
            Beside::Objects => 4,
            Beside::Settling => 16,
            Beside::Kin => 12,
            Beside::Ages | Beside::Streams => 8,
        }
    }
}

/// The arrays of each class.
pub(crate) struct Heads {
    of: Vec<Vec<Beside>>,
}

impl Heads {
    /// What each class has. `mortal`: the classes whose objects may end.
    pub fn of(automaton: &Automaton, mortal: &HashSet<ClassId>) -> Heads {
        let (mut walked, mut draws, mut settles) = (HashSet::default(), HashSet::default(), HashSet::default());
        for body in automaton.bodies() {
            for op in body.ops() {
                if let OpKind::Sample { object, .. } = &op.kind {
                    draws.extend(body.class_of(*object));
                }
            }
            for block in &body.blocks {
                if let Terminator::Try { op, .. } = &block.terminator {
                    if let Fallible::First { class, .. } = op {
                        walked.insert(*class);
                    }
                    if let Fallible::Next { object } = op {
                        walked.extend(body.class_of(*object));
                    }
                }
            }
        }
        for handler in automaton.handlers.iter().filter(|handler| handler.trigger == Trigger::Settle) {
            settles.insert(handler.class);
        }
        let has_timers = |class: &Class| class.cells.iter().any(|cell| matches!(cell.kind, CellKind::Timer));
        let of_class = |(index, class): (usize, &Class)| {
            let id = ClassId::from(index);
            let parent_counts =
                class.parent.is_some_and(|parent| mortal.contains(&parent) || !automaton.is_unique(parent));
            let has = [
                (Beside::Objects, true),
                (Beside::Settling, settles.contains(&id)),
                (Beside::Kin, walked.contains(&id) || parent_counts),
                (Beside::Ages, has_timers(class) && !automaton.is_unique(id)),
                (Beside::Streams, draws.contains(&id)),
            ];
            has.into_iter().filter(|(_, has)| *has).map(|(beside, _)| beside).collect()
        };
        Heads { of: automaton.classes.iter().enumerate().map(of_class).collect() }
    }

    /// The arrays of a class, in the order of the instance.
    pub fn all(&self, class: ClassId) -> &[Beside] {
        &self.of[class.index()]
    }

    /// Whether a class has this array.
    pub fn has(&self, class: ClassId, beside: Beside) -> bool {
        self.all(class).contains(&beside)
    }
}
