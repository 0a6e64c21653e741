//! What a path speaks of, and what it takes: read off its text, without terms.

use std::collections::BTreeSet;

use mokume_reaction::terms::{parts, piece_parts};
use mokume_reaction::{
    Automaton, ClassId, Effect, LensCellId, LensValue, MessageTerm, ObjectSource, Path, PathArg, PathObjectId, Piece,
    Step, Term,
};

/// The objects that a path speaks of, by record and class: for these it exits when they are missing.
pub(super) fn of(path: &Path) -> BTreeSet<(PathObjectId, ClassId)> {
    let mut used = BTreeSet::new();
    for step in &path.steps {
        if let Step::Object { from, .. } = step {
            match from {
                ObjectSource::Parent(object, class)
                | ObjectSource::Cell(object, class, _)
                | ObjectSource::Find { object, class, .. } => {
                    used.insert((*object, *class));
                }
                ObjectSource::Param(_) | ObjectSource::Unique(_) => {}
            }
        }
    }
    each_term(path, &mut |term| match term {
        Term::Cell { object, class, .. }
        | Term::CellAt { object, class, .. }
        | Term::IsNull { object, class, .. }
        | Term::Armed { object, class, .. }
        | Term::Left { object, class, .. }
        | Term::Holds { object, class, .. } => {
            used.insert((*object, *class));
        }
        _ => {}
    });
    for effect in &path.commit {
        match effect {
            Effect::Set { object, class, .. }
            | Effect::SetAt { object, class, .. }
            | Effect::Arm { object, class, .. }
            | Effect::Disarm { object, class, .. }
            | Effect::Count { object, class, .. }
            | Effect::Take { object, class, .. }
            | Effect::Give { object, class, .. }
            | Effect::Keep { object, class, .. } => {
                used.insert((*object, *class));
            }
            Effect::SetLens { .. } | Effect::Drop { .. } | Effect::Consume { .. } => {}
        }
    }
    for arg in path.outs.iter().flat_map(|out| &out.args) {
        if let PathArg::Object(object, class) = arg {
            used.insert((*object, *class));
        }
    }
    used
}

/// A path is read as if the record had been refreshed before its first step, so no earlier step may look at what a refresh changes.
pub(super) fn settled_before_refresh(
    automaton: &Automaton,
    path: &Path,
    at: &Step,
    object: PathObjectId,
) -> Result<(), String> {
    let lens = path.steps.iter().filter_map(|step| match step {
        Step::Object { lens, .. } => Some(*lens),
        _ => None,
    });
    let lens = lens.clone().nth(object.index()).ok_or("a record that is not there")?;
    let changed: Vec<LensCellId> = automaton.lenses[lens.index()].refresh.iter().map(|update| update.cell).collect();
    let looks =
        |term: &Term| matches!(term, Term::Lens { object: of, cell } if *of == object && changed.contains(cell));
    for step in path.steps.iter().take_while(|step| !std::ptr::eq(*step, at)) {
        let term = match step {
            Step::Let { term, .. } => term,
            Step::Guard { condition, .. } => condition,
            Step::Object { .. } => continue,
        };
        let mut early = false;
        walk(term, &mut |term| early |= looks(term));
        if early {
            return Err("a step before a refresh looks at what it changes".into());
        }
    }
    Ok(())
}

/// Messages of the outs and of the commit that are made of nothing that came: each takes a buffer.
pub(super) fn new_buffers(path: &Path) -> u32 {
    let is_new = |message: &&MessageTerm| !message.octets.iter().any(|piece| matches!(piece, Piece::Message { .. }));
    let sent = path.outs.iter().flat_map(|out| &out.args).filter_map(|arg| match arg {
        PathArg::Message(message) => Some(message),
        _ => None,
    });
    let kept = path.commit.iter().filter_map(|effect| match effect {
        Effect::Keep { message, .. } => Some(message),
        _ => None,
    });
    let all: Vec<&MessageTerm> = sent.chain(kept).collect();
    let mut came = BTreeSet::new();
    let mut again = 0;
    for piece in all.iter().flat_map(|message| &message.octets) {
        if let Piece::Message { message, .. } = piece {
            // A second message over the same octets needs a head of its own.
            again += u32::from(!came.insert(*message));
        }
    }
    all.iter().filter(|message| is_new(message)).count() as u32 + again
}

fn each_term(path: &Path, visit: &mut impl FnMut(&Term)) {
    for step in &path.steps {
        match step {
            Step::Object { from: ObjectSource::Find { key, .. }, .. } => key.iter().for_each(|term| walk(term, visit)),
            Step::Object { .. } => {}
            Step::Let { term, .. } | Step::Guard { condition: term, .. } => walk(term, visit),
        }
    }
    for effect in &path.commit {
        match effect {
            Effect::SetLens { value: LensValue::Term(term), .. } => walk(term, visit),
            Effect::SetLens { value: LensValue::Octets(pieces), .. } => walk_pieces(pieces, visit),
            Effect::Set { value, .. } => walk(value, visit),
            Effect::SetAt { index, value, .. } => {
                walk(index, visit);
                walk(value, visit);
            }
            Effect::Arm { deadline: term, .. }
            | Effect::Count { amount: term, .. }
            | Effect::Take { amount: term, .. }
            | Effect::Give { amount: term, .. } => walk(term, visit),
            Effect::Keep { index, message, .. } => {
                walk(index, visit);
                walk_message(message, visit);
            }
            Effect::Disarm { .. } | Effect::Drop { .. } | Effect::Consume { .. } => {}
        }
    }
    for arg in path.outs.iter().flat_map(|out| &out.args) {
        match arg {
            PathArg::Term(term) => walk(term, visit),
            PathArg::Message(message) => walk_message(message, visit),
            PathArg::Object(..) => {}
        }
    }
}

fn walk_message(message: &MessageTerm, visit: &mut impl FnMut(&Term)) {
    message.headers.iter().flat_map(|(.., fields)| fields).for_each(|term| walk(term, visit));
    walk_pieces(&message.octets, visit);
}

fn walk_pieces(pieces: &[Piece], visit: &mut impl FnMut(&Term)) {
    pieces.iter().flat_map(piece_parts).for_each(|term| walk(term, visit));
}

fn walk(term: &Term, visit: &mut impl FnMut(&Term)) {
    visit(term);
    parts(term).into_iter().for_each(|part| walk(part, visit));
}
