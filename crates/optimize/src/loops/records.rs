//! The records that bases live in: views for the cells they stand for, limits, and the paths rewritten to them.
//!
//! A counter is `offset - step * base`: the base runs down, so that it can be its own limit; 0 means that nothing is promised.
//! Who puts a cell that a limit speaks of sets that base to 0, and the offsets so that no other `get` changes.

use std::collections::BTreeMap;

use mokume_reaction::{
    Automaton, CellId, ClassId, Effect, Heat, LensCell, LensCellId, LensCellKind, LensId, LensUpdate, LensValue, LetId,
    Path, PathObjectId, Step, Term, TermCompare, View,
};

use super::counters::objects_of;
use super::Base;
use crate::rewrite::{cell_width, each_part, each_term, initial, minus_steps, on, own, plus_steps};
use crate::structure::{binary, compare, number};

type Cell = (ClassId, CellId);
/// What a record's cells are, as terms: those that are not named are as they were.
type Changes = BTreeMap<LensCellId, Term>;

pub fn rebuild(automaton: &Automaton, mut bases: Vec<Base>) -> Automaton {
    let mut rebuilt = automaton.clone();
    for lens in (0..automaton.lenses.len()).map(LensId::from) {
        let mut here: Vec<Base> = bases.iter().filter(|base| base.lens == lens).cloned().collect();
        if here.is_empty() {
            continue;
        }
        let stored = build_lens(&mut rebuilt, lens, &mut here);
        let record = Record { bases: &here, stored };
        for (path, object) in objects_of(automaton, lens).unwrap_or_default() {
            record.rewrite(&mut rebuilt, path, object);
        }
        bases.retain(|base| base.lens != lens);
    }
    rebuilt
}

/// Cells of the record for each viewed cell: its offset, or itself.
struct Record<'b> {
    bases: &'b [Base],
    stored: BTreeMap<Cell, (LensCellId, u8)>,
}

fn build_lens(automaton: &mut Automaton, lens: LensId, bases: &mut [Base]) -> BTreeMap<Cell, (LensCellId, u8)> {
    let mut cells = std::mem::take(&mut automaton.lenses[lens.index()].cells);
    let mut stored = BTreeMap::new();
    for (index, base) in bases.iter_mut().enumerate() {
        let name = if index == 0 { "left".to_string() } else { format!("left{index}") };
        base.cell = add_cell(&mut cells, name, Heat::Hot, base.width, 0);
    }
    for base in bases.iter() {
        let counters = base.counters.iter().map(|counter| ((counter.class, counter.cell), Heat::Hot));
        let asked = base.limit.iter().flat_map(|limit| limit.cells.iter().map(|cell| (*cell, Heat::Cold)));
        for ((class, cell), heat) in counters.chain(asked) {
            let Some(width) = cell_width(automaton, class, cell) else { continue };
            let described = automaton.cell(class, cell);
            stored.entry((class, cell)).or_insert_with(|| {
                let layer = &automaton.layers[automaton.class(class).layer.index()].name;
                let name = format!("{}_{}", layer.replace(['.', '/'], "_"), described.name);
                (add_cell(&mut cells, name, heat, width, initial(automaton, class, cell)), width)
            });
        }
    }
    automaton.lenses[lens.index()].cells = cells;
    let record = Record { bases, stored: stored.clone() };
    let views: Vec<View> = stored.keys().map(|cell| record.view(*cell)).collect();
    let invariants: Vec<Term> = record.bases.iter().filter_map(|base| record.invariant(base)).collect();
    let mut refresh = Changes::new();
    for base in record.bases.iter().filter(|base| base.limit.is_some()) {
        record.refresh(base, &mut refresh, &mut |room| room);
    }
    let described = &mut automaton.lenses[lens.index()];
    described.views.extend(views);
    described.invariants.extend(invariants);
    described.refresh = updates(refresh);
    stored
}

fn add_cell(cells: &mut Vec<LensCell>, name: String, heat: Heat, width: u8, init: u64) -> LensCellId {
    let taken = |name: &str| cells.iter().any(|cell| cell.name == name);
    let unused = (0..).map(|n| if n == 0 { name.clone() } else { format!("{name}_{n}") }).find(|name| !taken(name));
    let id = LensCellId::from(cells.len());
    cells.push(LensCell { name: unused.unwrap_or(name), heat, kind: LensCellKind::Scalar { width, init } });
    id
}

fn updates(changes: Changes) -> Vec<LensUpdate> {
    let changed = changes.into_iter().filter(|(cell, term)| *term != own(*cell));
    changed.map(|(cell, term)| LensUpdate { cell, value: LensValue::Term(term) }).collect()
}

/// A lens cell after some changes.
fn now(changes: &Changes, cell: LensCellId) -> Term {
    changes.get(&cell).cloned().unwrap_or_else(|| own(cell))
}

impl Record<'_> {
    fn base_of(&self, cell: Cell) -> Option<(&Base, u64)> {
        self.bases.iter().find_map(|base| {
            let counter = base.counters.iter().find(|counter| (counter.class, counter.cell) == cell)?;
            Some((base, counter.step))
        })
    }

    /// `get` after some changes.
    fn get(&self, cell: Cell, changes: &Changes) -> Term {
        let (offset, width) = self.stored[&cell];
        match self.base_of(cell) {
            Some((base, step)) => minus_steps(now(changes, offset), width, step, now(changes, base.cell), base.width),
            None => now(changes, offset),
        }
    }

    /// `put` on top of some changes.
    fn put(&self, cell: Cell, it: Term, changes: &mut Changes) {
        let before = changes.clone();
        for base in self.bases.iter().filter(|base| base.limit.as_ref().is_some_and(|l| l.cells.contains(&cell))) {
            for counter in &base.counters {
                let other = (counter.class, counter.cell);
                changes.insert(self.stored[&other].0, self.get(other, &before));
            }
            changes.insert(base.cell, number(base.width, 0));
        }
        let (offset, width) = self.stored[&cell];
        let value = match self.base_of(cell) {
            Some((base, step)) => plus_steps(it, width, step, now(changes, base.cell), base.width),
            None => it,
        };
        changes.insert(offset, value);
    }

    fn view(&self, cell: Cell) -> View {
        let mut changes = Changes::new();
        let (_, width) = self.stored[&cell];
        self.put(cell, Term::It { width }, &mut changes);
        View { class: cell.0, cell: cell.1, get: self.get(cell, &Changes::new()), put: updates(changes) }
    }

    /// The room of a base after some changes.
    fn room(&self, base: &Base, changes: &Changes) -> Term {
        let mut room = base.limit.as_ref().map_or(number(base.width, 0), |limit| limit.room.clone());
        each_part(&mut room, &mut |part| {
            if let Term::Cell { class, cell, .. } = part {
                *part = self.get((*class, *cell), changes);
            }
        });
        room
    }

    fn invariant(&self, base: &Base) -> Option<Term> {
        base.limit.as_ref()?;
        let room = self.room(base, &Changes::new());
        Some(Term::Compare { op: TermCompare::Le, a: Box::new(own(base.cell)), b: Box::new(room) })
    }

    /// The base raised to its room; `name` may give the room a name.
    fn refresh(&self, base: &Base, changes: &mut Changes, name: &mut dyn FnMut(Term) -> Term) {
        let before = changes.clone();
        let room = name(self.room(base, &before));
        for counter in &base.counters {
            let cell = (counter.class, counter.cell);
            let (offset, width) = self.stored[&cell];
            let shown = self.get(cell, &before);
            changes.insert(offset, plus_steps(shown, width, counter.step, room.clone(), base.width));
        }
        changes.insert(base.cell, room);
    }

    /// A path that knows a record of the lens as `object`, in the record's terms.
    fn rewrite(&self, automaton: &mut Automaton, index: usize, object: PathObjectId) {
        let mut path = automaton.paths[index].clone();
        self.fold_guards(&mut path, index, object);
        let mut sets = Vec::new();
        path.commit.retain(|effect| match effect {
            Effect::Set { object: of, class, cell, value }
                if *of == object && self.stored.contains_key(&(*class, *cell)) =>
            {
                sets.push(((*class, *cell), value.clone()));
                false
            }
            _ => true,
        });
        let moved: Vec<&Base> = self.bases.iter().filter(|base| base.paths.contains(&index)).collect();
        let by_base = |cell: &Cell| self.base_of(*cell).is_some_and(|(base, _)| base.paths.contains(&index));
        sets.retain(|(cell, _)| !by_base(cell));
        let mut changes = Changes::new();
        self.put_all(automaton, &mut path, object, sets, &mut changes);
        for base in moved {
            let less = binary(mokume_reaction::TermOp::Sub, now(&changes, base.cell), number(base.width, 1));
            changes.insert(base.cell, less);
        }
        let set = |update: LensUpdate| {
            let value = match update.value {
                LensValue::Term(term) => LensValue::Term(on(object, term)),
                octets => octets,
            };
            Effect::SetLens { object, cell: update.cell, value }
        };
        path.commit.splice(0..0, updates(changes).into_iter().map(set));
        each_term(&mut path, &mut |term| {
            if let Term::Cell { object: of, class, cell } = term {
                if *of == object && self.stored.contains_key(&(*class, *cell)) {
                    *term = on(object, self.get((*class, *cell), &Changes::new()));
                }
            }
        });
        automaton.paths[index] = path;
    }

    /// One question instead of all that a limit stands for, as soon as the record is known.
    fn fold_guards(&self, path: &mut Path, index: usize, object: PathObjectId) {
        for base in self.bases.iter().filter(|base| base.paths.contains(&index)) {
            let Some(limit) = &base.limit else { continue };
            path.steps.retain(|step| match step {
                Step::Guard { condition, refresh: None } => {
                    !limit.guards.iter().any(|(of, folded)| *of == index && folded == condition)
                }
                _ => true,
            });
            let left = Term::Lens { object, cell: base.cell };
            let condition = compare(TermCompare::Ge, left, number(base.width, 1));
            let mut seen = 0;
            let place = path.steps.iter().position(|step| {
                seen += usize::from(matches!(step, Step::Object { .. }));
                seen == object.index() + 1
            });
            path.steps.insert(place.map_or(0, |place| place + 1), Step::Guard { condition, refresh: Some(object) });
        }
    }

    /// Writes of a path that no base stands for, in the order in which the layers make them; limits that they turn off are renewed.
    fn put_all(
        &self,
        automaton: &Automaton,
        path: &mut Path,
        object: PathObjectId,
        sets: Vec<(Cell, Term)>,
        changes: &mut Changes,
    ) {
        let mut off: Vec<&Base> = Vec::new();
        for (cell, value) in sets {
            let Some(width) = cell_width(automaton, cell.0, cell.1) else { continue };
            let it = named(path, "it", width, value);
            self.put(cell, it, changes);
            off.extend(self.bases.iter().filter(|base| base.limit.as_ref().is_some_and(|l| l.cells.contains(&cell))));
        }
        for (index, base) in self.bases.iter().enumerate() {
            if off.iter().any(|other| other.cell == base.cell) {
                self.refresh(base, changes, &mut |room| {
                    named(path, &format!("room{index}"), base.width, on(object, room))
                });
            }
        }
    }
}

/// A value that is read before the commit, by name.
fn named(path: &mut Path, name: &str, width: u8, term: Term) -> Term {
    if matches!(term, Term::Number { .. } | Term::Let(_)) {
        return term;
    }
    let lets = path.steps.iter().filter(|step| matches!(step, Step::Let { .. })).count();
    path.steps.push(Step::Let { name: format!("{name}{lets}"), width, term });
    Term::Let(LetId::from(lets))
}
