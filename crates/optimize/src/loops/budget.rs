//! Guards on state alone become one limit on the base (`loops/budget`).
//!
//! Origin: loop predication; the common-case predicate of Ensemble. Precondition: each guard asks for an interval of one counter
//! of the base that moves by one, or speaks only of cells that none of the base's paths sets; no cell of it is moved by another base.
//! `room` is then the number of events that may follow each other. Whoever else writes such a cell turns the limit off.

use std::collections::BTreeSet;

use mokume_reaction::{Automaton, CellId, ClassId, Effect, PathObjectId, Step, Term, TermCompare, TermOp};

use super::counters::{bare, objects_of};
use super::{Base, Limit};
use crate::rewrite::{cell_width, mentions};
use crate::structure::{cast, compare, number};

type Cell = (ClassId, CellId);

/// Gives each base a limit, where its paths have such guards.
pub fn find(automaton: &Automaton, bases: &mut [Base]) {
    for index in 0..bases.len() {
        let moved: BTreeSet<Cell> = bases
            .iter()
            .enumerate()
            .filter(|(other, base)| *other != index && base.lens == bases[index].lens)
            .flat_map(|(_, base)| base.counters.iter().map(|counter| (counter.class, counter.cell)))
            .collect();
        bases[index].limit = limit_of(automaton, &bases[index], &moved);
    }
}

fn limit_of(automaton: &Automaton, base: &Base, moved_by_others: &BTreeSet<Cell>) -> Option<Limit> {
    let objects = objects_of(automaton, base.lens)?;
    let set = cells_set(automaton, base);
    let mut state_only: Vec<(usize, Term, BTreeSet<Cell>)> = Vec::new();
    for path in &base.paths {
        for step in &automaton.paths[*path].steps {
            let Step::Guard { condition, refresh: None } = step else { continue };
            let Some(cells) = cells_of(automaton, objects[path], condition) else { continue };
            if !cells.is_empty() && cells.is_disjoint(moved_by_others) {
                state_only.push((*path, condition.clone(), cells));
            }
        }
    }
    let mut limit = Limit { room: number(base.width, u64::MAX), guards: Vec::new(), cells: Vec::new() };
    let mut rooms = Vec::new();
    for counter in &base.counters {
        let own = BTreeSet::from([(counter.class, counter.cell)]);
        let guards: Vec<&(usize, Term, BTreeSet<Cell>)> =
            state_only.iter().filter(|(.., cells)| *cells == own).collect();
        let mut allowed = Intervals::all(counter.width);
        let mut folded = Vec::new();
        for (path, condition, _) in guards {
            if let Some(asked) = intervals(condition, counter.width) {
                allowed = allowed.both(&asked);
                folded.push((*path, condition.clone()));
            }
        }
        let Some(room) = allowed.room(base.width, counter) else { continue };
        if !folded.is_empty() {
            rooms.push(room);
            limit.guards.extend(folded);
            limit.cells.push((counter.class, counter.cell));
        }
    }
    let constant = state_only.iter().filter(|(.., cells)| cells.is_disjoint(&set));
    let mut conditions: Vec<Term> = Vec::new();
    for (path, condition, cells) in constant {
        let asked = at_home(condition);
        if !conditions.contains(&asked) {
            conditions.push(asked);
        }
        limit.guards.push((*path, condition.clone()));
        for cell in cells {
            if !limit.cells.contains(cell) {
                limit.cells.push(*cell);
            }
        }
    }
    if limit.guards.is_empty() {
        return None;
    }
    let most = rooms.into_iter().reduce(|a, b| Term::Binary { op: TermOp::Min, a: Box::new(a), b: Box::new(b) });
    let most = most.unwrap_or(limit.room);
    limit.room = conditions.into_iter().fold(most, |room, condition| Term::If {
        condition: Box::new(condition),
        then: Box::new(room),
        otherwise: Box::new(number(base.width, 0)),
    });
    Some(limit)
}

/// The cells that the base's paths set.
fn cells_set(automaton: &Automaton, base: &Base) -> BTreeSet<Cell> {
    let effects = base.paths.iter().flat_map(|path| &automaton.paths[*path].commit);
    let set = effects.filter_map(|effect| match effect {
        Effect::Set { class, cell, .. } => Some((*class, *cell)),
        _ => None,
    });
    set.collect()
}

/// The cells of one record that a condition speaks of; nothing if it speaks of anything else.
fn cells_of(automaton: &Automaton, object: PathObjectId, condition: &Term) -> Option<BTreeSet<Cell>> {
    let foreign = |term: &Term| match term {
        Term::Cell { object: of, class, cell } => *of != object || cell_width(automaton, *class, *cell).is_none(),
        Term::Number { .. }
        | Term::Not(_)
        | Term::Binary { .. }
        | Term::Compare { .. }
        | Term::If { .. }
        | Term::Cast { .. } => false,
        _ => true,
    };
    if mentions(condition, &foreign) {
        return None;
    }
    let mut cells = BTreeSet::new();
    collect(condition, &mut cells);
    Some(cells)
}

fn collect(term: &Term, cells: &mut BTreeSet<Cell>) {
    if let Term::Cell { class, cell, .. } = term {
        cells.insert((*class, *cell));
    }
    mokume_reaction::terms::parts(term).into_iter().for_each(|part| collect(part, cells));
}

/// A path's term as the lens's own.
fn at_home(term: &Term) -> Term {
    let mut term = term.clone();
    crate::rewrite::each_part(&mut term, &mut |part| {
        if let Term::Cell { object, .. } = part {
            *object = PathObjectId(0);
        }
    });
    term
}

/// Values of a cell: inclusive bounds, in order, apart.
#[derive(Clone, PartialEq, Debug)]
struct Intervals(Vec<(u64, u64)>);

fn top(width: u8) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

impl Intervals {
    fn all(width: u8) -> Self {
        Intervals(vec![(0, top(width))])
    }

    fn both(&self, other: &Intervals) -> Intervals {
        let mut common = Vec::new();
        for (low, high) in &self.0 {
            for (from, to) in &other.0 {
                let (low, high) = (*low.max(from), *high.min(to));
                if low <= high {
                    common.push((low, high));
                }
            }
        }
        common.sort_unstable();
        Intervals(common)
    }

    /// All of them lower by `by`, around the end of the width.
    fn lowered(&self, by: u64, width: u8) -> Intervals {
        let top = top(width);
        let mut moved = Vec::new();
        for (low, high) in &self.0 {
            let (low, high) = (low.wrapping_sub(by) & top, high.wrapping_sub(by) & top);
            if low <= high {
                moved.push((low, high));
            } else {
                moved.extend([(0, high), (low, top)]);
            }
        }
        moved.sort_unstable();
        Intervals(moved)
    }

    /// How many events may follow while the counter is within; a step of one only.
    fn room(&self, width: u8, counter: &super::Counter) -> Option<Term> {
        let [(low, high)] = self.0.as_slice() else { return None };
        let cell = Term::Cell { object: PathObjectId(0), class: counter.class, cell: counter.cell };
        let (up, down) = (counter.step == 1, counter.step == top(counter.width));
        let all = top(counter.width);
        if (!up && !down) || (*low, *high) == (0, all) {
            return None;
        }
        let wide = cast(width, counter.width, cell.clone());
        let within = {
            let above = compare(TermCompare::Ge, cell.clone(), number(counter.width, *low));
            let below = compare(TermCompare::Le, cell, number(counter.width, *high));
            match (*low > 0, *high < all) {
                (true, true) => Term::Binary { op: TermOp::And, a: Box::new(above), b: Box::new(below) },
                (true, false) => above,
                _ => below,
            }
        };
        // Down to `low`, that is `cell - (low - 1)` events; up to `high`, that is `(high + 1) - cell`.
        let events = match (down, *low, *high) {
            (true, 0, _) => crate::structure::binary(TermOp::Add, wide, number(width, 1)),
            (true, 1, high) if high == all => return Some(wide),
            (true, low, _) => crate::structure::binary(TermOp::Sub, wide, number(width, low - 1)),
            (false, _, high) => {
                let end = if width > counter.width || high < all {
                    number(width, high.wrapping_add(1))
                } else {
                    return None;
                };
                Term::Binary { op: TermOp::Sub, a: Box::new(end), b: Box::new(wide) }
            }
        };
        Some(Term::If { condition: Box::new(within), then: Box::new(events), otherwise: Box::new(number(width, 0)) })
    }
}

/// The values of the only cell of a condition for which it holds.
fn intervals(condition: &Term, width: u8) -> Option<Intervals> {
    let Term::Compare { op, a, b } = condition else { return None };
    let Term::Number { value, .. } = **b else { return None };
    let all = top(width);
    let asked = match op {
        TermCompare::Eq => vec![(value, value)],
        TermCompare::Ne => {
            let below = value.checked_sub(1).map(|high| (0, high));
            let above = (value < all).then(|| (value + 1, all));
            below.into_iter().chain(above).collect()
        }
        TermCompare::Le => vec![(0, value)],
        TermCompare::Ge => vec![(value, all)],
        TermCompare::Lt => value.checked_sub(1).map(|high| (0, high)).into_iter().collect(),
        TermCompare::Gt => (value < all).then(|| (value + 1, all)).into_iter().collect(),
        _ => return None,
    };
    shifted(a, Intervals(asked), width)
}

/// Where `term` lies in `asked`, for the cell in it.
fn shifted(term: &Term, asked: Intervals, width: u8) -> Option<Intervals> {
    match bare(term, width) {
        Term::Cell { .. } => Some(asked),
        Term::Binary { op: TermOp::Add, a, b } => match bare(b, width) {
            Term::Number { value, .. } => shifted(a, asked.lowered(*value, width), width),
            _ => None,
        },
        Term::Binary { op: TermOp::Sub, a, b } => match bare(b, width) {
            Term::Number { value, .. } => shifted(a, asked.lowered(value.wrapping_neg(), width), width),
            _ => None,
        },
        _ => None,
    }
}
