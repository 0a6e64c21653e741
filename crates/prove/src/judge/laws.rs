//! The laws of a lens: for every record that keeps the invariants, and every value.
//!
//! `get` of what was put is it; the other `get`s are unchanged; the invariants are kept; a refresh changes no `get`. A new
//! record with the layered initial values put keeps the invariants (V0).

use mokume_reaction::{CellKind, Lens, LensId};

use super::Court;
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
    let mut goals: Vec<(&'static str, String, Vec<Term>, Term)> = Vec::new();
    {
        let mut reader = Reader::new(automaton, &mut terms, any_state);
        let outer = around.as_ref().map(|(outer, record)| (*outer, record));
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
        let new = initial(&mut reader, lens, id)?;
        for goal in reader.invariants(id, &new, outer)? {
            goals.push(("V0", format!("lens {}: a new record keeps the invariants", lens.name), Vec::new(), goal));
        }
    }
    for (condition, about, hypotheses, goal) in goals {
        court.show(&mut terms, condition, &about, &hypotheses, goal);
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
