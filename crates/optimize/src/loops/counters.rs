//! Counters that a path moves by a constant step become an offset and a base, one base for each set of paths (`loops/counters`).
//!
//! Origin: induction-variable elimination; in Morpheus and Ensemble the counters were unified by hand. Precondition: a cell
//! belongs to one record; every path that moves it moves it by the same step; no path works on two records of its lens. Other
//! writers go through the lens. Truncation is a homomorphism of addition, so counters of different widths share a base.

use std::collections::BTreeMap;

use mokume_reaction::{Automaton, CellId, ClassId, Effect, LensCellId, LensId, PathObjectId, Step, Term, TermOp};

use super::{Base, Counter};
use crate::rewrite::cell_width;

/// One candidate for each record and set of paths.
pub fn find(automaton: &Automaton) -> Vec<Base> {
    let mut bases = Vec::new();
    for index in 0..automaton.lenses.len() {
        let lens = LensId::from(index);
        let Some(objects) = objects_of(automaton, lens) else { continue };
        let mut groups: BTreeMap<Vec<usize>, Vec<Counter>> = BTreeMap::new();
        for ((class, cell), moves) in moves(automaton, &objects) {
            let constant: BTreeMap<usize, u64> =
                moves.iter().filter_map(|(path, step)| Some((*path, (*step)?))).collect();
            let Some(step) = constant.values().next().copied() else { continue };
            let Some(width) = cell_width(automaton, class, cell) else { continue };
            if step != 0 && constant.values().all(|other| *other == step) {
                let paths = constant.keys().copied().collect();
                groups.entry(paths).or_default().push(Counter { class, cell, width, step });
            }
        }
        for (paths, counters) in groups {
            let width = counters.iter().map(|counter| counter.width).max().unwrap_or(1);
            bases.push(Base { lens, width, paths, counters, limit: None, cell: LensCellId(0) });
        }
    }
    bases
}

/// In each path the one record of a lens; nothing where a path has two, which may be one.
pub fn objects_of(automaton: &Automaton, lens: LensId) -> Option<BTreeMap<usize, PathObjectId>> {
    let mut objects = BTreeMap::new();
    for (index, path) in automaton.paths.iter().enumerate() {
        let lenses = path.steps.iter().filter_map(|step| match step {
            Step::Object { lens, .. } => Some(*lens),
            _ => None,
        });
        for (place, found) in lenses.enumerate() {
            if found == lens && objects.insert(index, PathObjectId::from(place)).is_some() {
                return None;
            }
        }
    }
    Some(objects)
}

type Moves = BTreeMap<(ClassId, CellId), BTreeMap<usize, Option<u64>>>;

/// For each cell that paths set: by path, the step if it is constant.
fn moves(automaton: &Automaton, objects: &BTreeMap<usize, PathObjectId>) -> Moves {
    let mut moves = Moves::new();
    for (index, object) in objects {
        for effect in &automaton.paths[*index].commit {
            if let Effect::Set { object: of, class, cell, value } = effect {
                if of == object {
                    let step = step_of(automaton, *object, *class, *cell, value);
                    moves.entry((*class, *cell)).or_default().insert(*index, step);
                }
            }
        }
    }
    moves
}

/// `cell + step` for a constant step.
fn step_of(automaton: &Automaton, object: PathObjectId, class: ClassId, cell: CellId, value: &Term) -> Option<u64> {
    let width = cell_width(automaton, class, cell)?;
    let mask = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
    let is_cell = |term: &Term| *bare(term, width) == Term::Cell { object, class, cell };
    match bare(value, width) {
        Term::Binary { op, a, b } => match (op, &**a, bare(b, width)) {
            (TermOp::Add | TermOp::AddExact, a, Term::Number { value, .. }) if is_cell(a) => Some(*value),
            (TermOp::Sub | TermOp::SubExact, a, Term::Number { value, .. }) if is_cell(a) => {
                Some(value.wrapping_neg() & mask)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Without casts to its own width.
pub fn bare(term: &Term, width: u8) -> &Term {
    match term {
        Term::Cast { width: to, a } if *to == width => bare(a, width),
        other => other,
    }
}
