//! The laws of a lens: for every record that keeps the invariants, and every value.
//!
//! `get` of what was put is it; the other `get`s are unchanged; the invariants are kept; a refresh changes no `get`. A new
//! record with the layered initial values put keeps the invariants (V0).

use mokume_reaction::{CellKind, Lens, LensId, Term as Source};

use super::{Court, Goal};
use crate::level2::{any_record, fresh_record, Record, Scene};
use crate::symbolic::{any_state, Reader};
use crate::term::{Sort, Term, Terms};

pub(super) fn judge_lens(court: &mut Court<'_>, index: usize) -> Result<(), String> {
    let automaton = court.automaton;
    let lens = &automaton.lenses[index];
    let id = LensId::from(index);
    let mut terms = Terms::default();
    let record = any_record(&mut terms, lens, "");
    let around = lens.around.map(|outer| (outer, any_record(&mut terms, &automaton.lenses[outer.index()], "")));
    let mut goals: Goals = Vec::new();
    {
        let mut reader = Reader::new(automaton, &mut terms, any_state);
        let outer = around.as_ref().map(|(outer, record)| (*outer, record));
        speak_of_the_record(lens)?;
        let held = reader.invariants(id, &record, outer)?;
        let gets = get_all(&mut reader, lens, id, &record)?;
        for (place, view) in lens.views.iter().enumerate() {
            let cell = automaton.cell(view.class, view.cell);
            let name = format!("lens {}: {}.{}", lens.name, automaton.class(view.class).name, cell.name);
            let it = reader.terms.variable("it", Sort::Bits(reader.terms.width(gets[place])));
            let after = put(&mut reader, lens, id, &record, place, it)?;
            let gets_after = get_all(&mut reader, lens, id, &after)?;
            for (other, (before, now)) in gets.iter().zip(&gets_after).enumerate() {
                let wanted = if other == place { it } else { *before };
                let goal = reader.terms.equal(*now, wanted);
                let part = if other == place { "get of put" } else { "put leaves the other gets" };
                goals.push(("V4", format!("{name}, {part}"), held.clone(), goal));
            }
            for goal in reader.invariants(id, &after, outer)? {
                goals.push(("V5", format!("{name}, put keeps the invariants"), held.clone(), goal));
            }
        }
        if !lens.refresh.is_empty() {
            let records = [(id, record.clone())];
            let scene = Scene { records: &records, objects: &[], lets: &[], params: &[], it: None, known: &[] };
            let after = reader.update(&record, &lens.refresh, &scene)?;
            let gets_after = get_all(&mut reader, lens, id, &after)?;
            for (before, now) in gets.iter().zip(&gets_after) {
                let goal = reader.terms.equal(*now, *before);
                goals.push(("V5", format!("lens {}: refresh leaves the gets", lens.name), held.clone(), goal));
            }
            for goal in reader.invariants(id, &after, outer)? {
                goals.push(("V5", format!("lens {}: refresh keeps the invariants", lens.name), held.clone(), goal));
            }
        }
        spare_those_inside(&mut reader, id, &record, &held, &mut goals)?;
        let new = initial(&mut reader, lens, id)?;
        for goal in reader.invariants(id, &new, outer)? {
            goals.push(("V0", format!("lens {}: a new record keeps the invariants", lens.name), Vec::new(), goal));
        }
    }
    let goal = |(condition, about, hypotheses, goal)| Goal { condition, about, hypotheses, goal };
    court.show_all(&mut terms, goals.into_iter().map(goal).collect());
    Ok(())
}

/// A cell that is stored as it is changes without the lens hearing of it: the lens's own terms may not depend on one.
fn speak_of_the_record(lens: &Lens) -> Result<(), String> {
    fn plain(term: &Source, lens: &Lens) -> bool {
        let own = match term {
            Source::Cell { object, class, cell } => {
                object.index() != 0 || !lens.views.iter().any(|view| (view.class, view.cell) == (*class, *cell))
            }
            Source::CellAt { .. } | Source::Armed { .. } | Source::Left { .. } | Source::Holds { .. } => true,
            Source::IsNull { .. } | Source::Now | Source::Load { .. } | Source::Size { .. } => true,
            Source::MaskedEqual { .. } | Source::Param(_) | Source::Let(_) => true,
            _ => false,
        };
        own || mokume_reaction::terms::parts(term).into_iter().any(|part| plain(part, lens))
    }
    let around =
        |term: &Source| mentions(term, |term| matches!(term, Source::Lens { object, .. } if object.index() == 1));
    let terms = lens.invariants.iter().chain(lens.views.iter().map(|view| &view.get));
    if terms.clone().any(|term| plain(term, lens)) {
        return Err("the lens depends on a cell that is stored as it is".into());
    }
    // A get through another get could go round.
    if lens.views.iter().any(|view| mentions(&view.get, |term| matches!(term, Source::Cell { .. }))) {
        return Err("a get that reads another cell's get".into());
    }
    // What the shared record holds may change in every reaction; a `get` that changed with it would be a write to this cell.
    if lens.views.iter().any(|view| around(&view.get)) {
        return Err("a get depends on the record around".into());
    }
    Ok(())
}

fn mentions(term: &Source, what: impl Fn(&Source) -> bool + Copy) -> bool {
    what(term) || mokume_reaction::terms::parts(term).into_iter().any(|part| mentions(part, what))
}

type Goals = Vec<(&'static str, String, Vec<Term>, Term)>;

/// Rare code that puts into a shared record, or refreshes it: the invariants of the records within survive (V3).
fn spare_those_inside(
    reader: &mut Reader<'_>,
    outer: LensId,
    record: &Record,
    held: &[Term],
    goals: &mut Goals,
) -> Result<(), String> {
    let automaton = reader.automaton;
    let described = &automaton.lenses[outer.index()];
    let inside = |lens: &&(usize, &Lens)| lens.1.around == Some(outer) && !lens.1.invariants.is_empty();
    let all: Vec<(usize, &Lens)> = automaton.lenses.iter().enumerate().collect();
    for (index, lens) in all.iter().filter(inside) {
        let inner = any_record(reader.terms, lens, "inner ");
        let mut facts = held.to_vec();
        facts.append(&mut reader.invariants(LensId::from(*index), &inner, Some((outer, record)))?);
        let mut afters = Vec::new();
        for (place, view) in described.views.iter().enumerate() {
            let width = u32::from(match automaton.cell(view.class, view.cell).kind {
                CellKind::Scalar { ty, .. } => ty.width(automaton).max(1),
                _ => return Err("a view of a cell that is not scalar".into()),
            });
            let it = reader.terms.variable("it", Sort::Bits(width));
            afters.push(put(reader, described, outer, record, place, it)?);
        }
        if !described.refresh.is_empty() {
            let records = [(outer, record.clone())];
            let scene = Scene { records: &records, objects: &[], lets: &[], params: &[], it: None, known: &[] };
            afters.push(reader.update(record, &described.refresh, &scene)?);
        }
        for after in afters {
            for goal in reader.invariants(LensId::from(*index), &inner, Some((outer, &after)))? {
                let about = format!("lens {}: the invariants of {} survive a put", described.name, lens.name);
                goals.push(("V3", about, facts.clone(), goal));
            }
        }
    }
    Ok(())
}

/// Each view's `get`, in order.
pub(super) fn get_all(reader: &mut Reader<'_>, lens: &Lens, id: LensId, record: &Record) -> Result<Vec<Term>, String> {
    let records = [(id, record.clone())];
    let scene = Scene { records: &records, objects: &[], lets: &[], params: &[], it: None, known: &[] };
    lens.views.iter().map(|view| reader.source_term(&view.get, &scene)).collect()
}

fn put(
    reader: &mut Reader<'_>,
    lens: &Lens,
    id: LensId,
    record: &Record,
    view: usize,
    it: Term,
) -> Result<Record, String> {
    let records = [(id, record.clone())];
    let scene = Scene { records: &records, objects: &[], lets: &[], params: &[], it: Some(it), known: &[] };
    reader.update(record, &lens.views[view].put, &scene)
}

fn initial(reader: &mut Reader<'_>, lens: &Lens, id: LensId) -> Result<Record, String> {
    let mut record = fresh_record(reader.terms, lens);
    for (place, view) in lens.views.iter().enumerate() {
        let CellKind::Scalar { ty, init } = reader.automaton.cell(view.class, view.cell).kind else {
            return Err("a view of a cell that is not scalar".into());
        };
        let width = u32::from(ty.width(reader.automaton)).max(1);
        let it = reader.terms.number(init, width);
        record = put(reader, lens, id, &record, place, it)?;
    }
    Ok(record)
}
