//! A path against the layered reaction to the same event, for every state that keeps the invariants and every message.

use std::collections::BTreeMap;

use mokume_reaction::{Lens, LensId, Path, Trigger, Type};

use super::laws::get_all;
use super::{Court, Goal};
use crate::level2::{any_record, Held, PathReading, Record};
use crate::symbolic::{any_state, sort_of, Leaf, Message, Object, Origin, Out, Reader, Value};
use crate::term::{Term, Terms};

/// No message is longer: the pool's buffers are far smaller. Sizes then do not wrap in 32 bits.
const LONGEST_MESSAGE: u64 = 1 << 20;

pub(super) fn judge_path(court: &mut Court<'_>, index: usize) -> Result<(), String> {
    let automaton = court.automaton;
    let path = &automaton.paths[index];
    let mut terms = Terms::default();
    let mut goals = Vec::new();
    let possible;
    {
        // A layered cell is what the lens's `get` says of the record; one without a view is itself.
        let views: BTreeMap<_, _> = automaton
            .lenses
            .iter()
            .enumerate()
            .flat_map(|(lens, described)| {
                described
                    .views
                    .iter()
                    .enumerate()
                    .map(move |(place, view)| ((view.class, view.cell), (LensId::from(lens), place)))
            })
            .collect();
        let mut through_lens = BTreeMap::new();
        {
            let mut reader = Reader::new(automaton, &mut terms, any_state);
            for (lens, described) in automaton.lenses.iter().enumerate() {
                let record = any_record(reader.terms, described, "");
                let gets = get_all(&mut reader, described, LensId::from(lens), &record)?;
                for (place, get) in gets.into_iter().enumerate() {
                    through_lens.insert((LensId::from(lens), place), get);
                }
            }
        }
        let mut reader = Reader::new(automaton, &mut terms, move |terms, automaton, class, cell, which| {
            match views.get(&(class, cell)) {
                // The records' terms are those of one record of each lens.
                Some(_) if which > 0 => None,
                Some(view) => {
                    let get = through_lens[view];
                    let plain = any_state(terms, automaton, class, cell, which)?;
                    let is_truth = terms.sort(plain) == crate::term::Sort::Bool;
                    Some(if is_truth { terms.as_truth(get) } else { get })
                }
                None => any_state(terms, automaton, class, cell, which),
            }
        });
        let params = parameters(&mut reader, path);
        let reading = reader.read_path(path, &params, |terms, lens: &Lens, _| any_record(terms, lens, ""))?;
        let hypotheses = hypotheses(&mut reader, &reading, &params)?;
        possible = hypotheses.clone();
        for carry in &reading.carries {
            let goal = reader.terms.not(*carry);
            goals.push(Goal {
                condition: "V1",
                about: about(path, "exact operations do not carry"),
                hypotheses: hypotheses.clone(),
                goal,
            });
        }
        let leaves = layered(&mut reader, path, &params)?;
        for leaf in &leaves {
            compare(&mut reader, path, &reading, &hypotheses, leaf, &mut goals)?;
        }
        keeps_invariants(&mut reader, path, &reading, &hypotheses, &mut goals)?;
        spares_others(&mut reader, path, &reading, &hypotheses, &mut goals)?;
    }
    court.show_all(&mut terms, goals);
    court.show_possible(&mut terms, "V10", &about(path, "can be taken"), &possible);
    Ok(())
}

fn about(path: &Path, part: &str) -> String {
    format!("path {}: {part}", path.name)
}

fn parameters(reader: &mut Reader<'_>, path: &Path) -> Vec<Value> {
    let automaton = reader.automaton;
    let input = &automaton.ports[path.port.index()].inputs[path.event as usize];
    input
        .params
        .iter()
        .map(|(name, ty)| match ty {
            Type::Msg => Value::Message(Box::new(Message::unknown(reader.terms, name))),
            Type::Ref(class) => Value::Object(reader.object(*class, Origin::Given(*class))),
            scalar => Value::Bits(reader.terms.variable(&format!("param {name}"), sort_of(automaton, *scalar))),
        })
        .collect()
}

/// The guard, the invariants of the records at hand, and sensible sizes.
fn hypotheses(reader: &mut Reader<'_>, reading: &PathReading, params: &[Value]) -> Result<Vec<Term>, String> {
    let mut facts = reading.guard.clone();
    for (lens, record) in &reading.before {
        let outer = around(reader, *lens, &reading.before);
        let outer = outer.as_ref().map(|(id, record)| (*id, record));
        facts.append(&mut reader.invariants(*lens, record, outer)?);
    }
    for param in params {
        if let Value::Message(message) = param {
            let longest = reader.terms.number(LONGEST_MESSAGE, 32);
            facts.push(reader.terms.less(message.base.size, longest));
        }
    }
    Ok(facts)
}

fn around(reader: &mut Reader<'_>, lens: LensId, records: &[(LensId, Record)]) -> Option<(LensId, Record)> {
    let outer = reader.automaton.lenses[lens.index()].around?;
    let found = records.iter().find(|(id, _)| *id == outer).map(|(_, record)| record.clone());
    let record = found.unwrap_or_else(|| any_record(reader.terms, &reader.automaton.lenses[outer.index()], ""));
    Some((outer, record))
}

fn layered(reader: &mut Reader<'_>, path: &Path, params: &[Value]) -> Result<Vec<Leaf>, String> {
    let automaton = reader.automaton;
    let input = &automaton.ports[path.port.index()].inputs[path.event as usize];
    let trigger = Trigger::Event(input.handler.clone());
    let handler = automaton.handler_of(input.class, &trigger).ok_or("a port without a handler")?;
    // The object of a class that is not unique is the event's first parameter, and the handler's own.
    let skip = usize::from(!automaton.is_unique(input.class));
    reader.react(handler, params[skip..].to_vec())
}

fn compare(
    reader: &mut Reader<'_>,
    path: &Path,
    reading: &PathReading,
    hypotheses: &[Term],
    leaf: &Leaf,
    goals: &mut Vec<Goal>,
) -> Result<(), String> {
    let mut facts = hypotheses.to_vec();
    facts.extend(&leaf.condition);
    let never = reader.terms.truth(false);
    if reading.taken > leaf.taken && leaf.escape.is_none() {
        let about = about(path, "no more buffers than the layers");
        goals.push(Goal { condition: "V8", about, hypotheses: facts, goal: never });
        return Ok(());
    }
    let mut goal = |part: &str, goal: Term| {
        goals.push(Goal { condition: "V1", about: about(path, part), hypotheses: facts.clone(), goal });
    };
    let shape = |outs: &[Out]| outs.iter().map(|out| (out.port, out.event)).collect::<Vec<_>>();
    if let Some(why) = &leaf.escape {
        goal(&format!("the slow way is not taken ({why})"), never);
        return Ok(());
    }
    let zero = reader.terms.number(0, 64);
    let counters: std::collections::BTreeSet<_> = leaf.counted.keys().chain(reading.counted.keys()).copied().collect();
    for key in counters {
        let of = |counted: &BTreeMap<_, Term>| counted.get(&key).copied().unwrap_or(zero);
        let same = reader.terms.equal(of(&leaf.counted), of(&reading.counted));
        goal("a counter is the layers'", same);
    }
    if shape(&leaf.outs) != shape(&reading.outs) || leaf.dropped != reading.dropped {
        goal("outputs are those of the layers", never);
        return Ok(());
    }
    for null in &leaf.nulls {
        let there = reader.terms.not(*null);
        goal("what is used is there", there);
    }
    for trap in &leaf.traps {
        let quiet = reader.terms.not(*trap);
        goal("no report is missed", quiet);
    }
    for (layered, fused) in leaf.outs.iter().zip(&reading.outs) {
        for (a, b) in layered.args.iter().zip(&fused.args) {
            for same in same_value(reader, a, b)? {
                goal("an output is the layers'", same);
            }
        }
    }
    for (place, object, cell, now) in state_after(reader, reading, leaf)? {
        let Some(expected) = place else { continue };
        let expected = reader.terms.as_bits(expected);
        let same = reader.terms.equal(expected, now);
        let class = reader.class_of(object);
        let name = format!("{}.{}", reader.automaton.class(class).name, reader.automaton.cell(class, cell).name);
        goal(&format!("{name} is the layers'"), same);
    }
    Ok(())
}

type Cell = (Option<Term>, Object, mokume_reaction::CellId, Term);

/// For each layered cell that either side may have changed: what the layers make of it, and what the path does.
fn state_after(reader: &mut Reader<'_>, reading: &PathReading, leaf: &Leaf) -> Result<Vec<Cell>, String> {
    let automaton = reader.automaton;
    let mut cells = Vec::new();
    let mut seen = Vec::new();
    for (place, (lens, after)) in reading.after.iter().enumerate() {
        let described = &automaton.lenses[lens.index()];
        let gets = get_all(reader, described, *lens, after)?;
        let before = get_all(reader, described, *lens, &reading.before[place].1)?;
        for (view, (now, was)) in described.views.iter().zip(gets.into_iter().zip(before)) {
            let Some(object) = reading.objects[place].get(&view.class).copied() else { continue };
            let layered = leaf.cells.get(&(object, view.cell)).copied().unwrap_or(was);
            cells.push((Some(layered), object, view.cell, now));
            seen.push((object, view.cell));
        }
    }
    for (object, cell, value) in &reading.set {
        let before = reader.before(*object, *cell).ok_or("a cell that is not read symbolically")?;
        let layered = leaf.cells.get(&(*object, *cell)).copied().unwrap_or(before);
        cells.push((Some(layered), *object, *cell, *value));
        seen.push((*object, *cell));
    }
    for (object, cell) in &leaf.written {
        if !seen.contains(&(*object, *cell)) {
            let before = reader.before(*object, *cell).ok_or("a cell that is not read symbolically")?;
            let before = reader.terms.as_bits(before);
            cells.push((leaf.cells.get(&(*object, *cell)).copied(), *object, *cell, before));
        }
    }
    Ok(cells)
}

fn same_value(reader: &mut Reader<'_>, a: &Value, b: &Value) -> Result<Vec<Term>, String> {
    Ok(match (a, b) {
        (Value::Bits(a), Value::Bits(b)) => {
            let (a, b) = (reader.terms.as_bits(*a), reader.terms.as_bits(*b));
            vec![reader.terms.equal(a, b)]
        }
        (Value::Object(a) | Value::Perhaps(a, _), Value::Object(b) | Value::Perhaps(b, _)) if a == b => Vec::new(),
        (Value::Message(a), Value::Message(b)) => same_message(reader, a, b)?,
        _ => vec![reader.terms.truth(false)],
    })
}

/// Octet by octet where they are known, and the same stretch behind.
fn same_message(reader: &mut Reader<'_>, a: &Message, b: &Message) -> Result<Vec<Term>, String> {
    if a.headers.len() != b.headers.len() {
        return Ok(vec![reader.terms.truth(false)]);
    }
    let mut same = Vec::new();
    for ((h1, v1, f1), (h2, v2, f2)) in a.headers.iter().zip(&b.headers) {
        if (h1, v1) != (h2, v2) {
            return Ok(vec![reader.terms.truth(false)]);
        }
        for (x, y) in f1.iter().zip(f2) {
            same.append(&mut same_value(reader, x, y)?);
        }
    }
    let size_a = a.size(reader.terms);
    let size_b = b.size(reader.terms);
    same.push(reader.terms.equal(size_a, size_b));
    let known = a.front.len().max(b.front.len()) as u32;
    for at in 0..known {
        let (x, y) = (a.octet(reader.terms, at), b.octet(reader.terms, at));
        same.push(reader.terms.equal(x, y));
    }
    // Behind the known octets both must run on in the same array from the same place.
    let mut rest = [a.clone(), b.clone()];
    for message in &mut rest {
        let missing = known.saturating_sub(message.front.len() as u32);
        message.front.clear();
        message.skip(reader.terms, missing);
    }
    let empty = [reader.terms.constant(rest[0].base.size), reader.terms.constant(rest[1].base.size)];
    if empty != [Some(0), Some(0)] {
        if rest[0].base.octets != rest[1].base.octets {
            return Ok(vec![reader.terms.truth(false)]);
        }
        same.push(reader.terms.equal(rest[0].base.start, rest[1].base.start));
    }
    Ok(same)
}

fn keeps_invariants(
    reader: &mut Reader<'_>,
    path: &Path,
    reading: &PathReading,
    hypotheses: &[Term],
    goals: &mut Vec<Goal>,
) -> Result<(), String> {
    for (lens, record) in &reading.after {
        let outer = around(reader, *lens, &reading.after);
        let outer = outer.as_ref().map(|(id, record)| (*id, record));
        for goal in reader.invariants(*lens, record, outer)? {
            let about = about(path, "the commit keeps the invariants");
            goals.push(Goal { condition: "V1", about, hypotheses: hypotheses.to_vec(), goal });
        }
    }
    Ok(())
}

/// V3: another record of a lens, under the same shared record that the path has changed.
fn spares_others(
    reader: &mut Reader<'_>,
    path: &Path,
    reading: &PathReading,
    hypotheses: &[Term],
    goals: &mut Vec<Goal>,
) -> Result<(), String> {
    let automaton = reader.automaton;
    for (index, lens) in automaton.lenses.iter().enumerate() {
        let Some(outer) = lens.around else { continue };
        let before = reading.before.iter().find(|(id, _)| *id == outer).map(|(_, record)| record.clone());
        let after = reading.after.iter().find(|(id, _)| *id == outer).map(|(_, record)| record.clone());
        let (Some(before), Some(after)) = (before, after) else { continue };
        if same_record(&before, &after) {
            continue;
        }
        let other = any_record(reader.terms, lens, "other ");
        let mut facts = hypotheses.to_vec();
        facts.append(&mut reader.invariants(LensId::from(index), &other, Some((outer, &before)))?);
        for goal in reader.invariants(LensId::from(index), &other, Some((outer, &after)))? {
            let about = about(path, "another record's invariants survive");
            goals.push(Goal { condition: "V3", about, hypotheses: facts.clone(), goal });
        }
    }
    Ok(())
}

fn same_record(
    a: &BTreeMap<mokume_reaction::LensCellId, Held>,
    b: &BTreeMap<mokume_reaction::LensCellId, Held>,
) -> bool {
    a == b
}
