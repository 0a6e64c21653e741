//! Guards that others imply are left out: the smaller of two sizes, and references that the path follows anyway.
//!
//! Precondition: a path exits by itself where an object of a record is missing that it speaks of, or one on the way to it.

use std::collections::BTreeSet;

use mokume_reaction::terms::parts;
use mokume_reaction::{
    Automaton, CellId, CellKind, ClassId, Effect, LinkKind, ObjectSource, Path, PathArg, PathObjectId, Step, Term,
    TermCompare, TermOp, Type,
};

pub fn drop_implied(automaton: &Automaton, path: &mut Path) {
    keep_largest_sizes(path);
    drop_followed(automaton, path);
}

/// Whether the sizes that are asked for cannot be had at once: such a path is never taken.
pub fn is_contradictory(path: &Path) -> bool {
    // Sizes are far below 2^31: what is added to one does not carry.
    let mut bounds: Vec<(u32, i128, i128)> = Vec::new();
    for step in &path.steps {
        let Step::Guard { condition: Term::Compare { op, a, b }, .. } = step else { continue };
        let (op, size, number) = match (&**a, &**b) {
            (size, Term::Number { value, .. }) => (*op, size, *value),
            (Term::Number { value, .. }, size) => match op {
                TermCompare::Ge => (TermCompare::Le, size, *value),
                TermCompare::Le => (TermCompare::Ge, size, *value),
                TermCompare::Gt => (TermCompare::Lt, size, *value),
                TermCompare::Lt => (TermCompare::Gt, size, *value),
                other => (*other, size, *value),
            },
            _ => continue,
        };
        let (message, less) = match size {
            Term::Size { message } => (*message, 0),
            Term::Binary { op: TermOp::Sub, a, b } => match (&**a, &**b) {
                (Term::Size { message }, Term::Number { value, .. }) => (*message, i128::from(*value)),
                _ => continue,
            },
            Term::Binary { op: TermOp::Add, a, b } => match (&**a, &**b) {
                (Term::Size { message }, Term::Number { value, .. }) => (*message, -i128::from(*value)),
                _ => continue,
            },
            _ => continue,
        };
        let number = i128::from(number);
        let (low, high) = match op {
            TermCompare::Eq => (number + less, number + less),
            TermCompare::Ge if less <= 0 => (number + less, i128::MAX),
            TermCompare::Gt if less <= 0 => (number + less + 1, i128::MAX),
            TermCompare::Le => (0, number + less),
            TermCompare::Lt => (0, number + less - 1),
            _ => continue,
        };
        match bounds.iter_mut().find(|(known, ..)| *known == message) {
            Some((_, lowest, highest)) => (*lowest, *highest) = (low.max(*lowest), high.min(*highest)),
            None => bounds.push((message, low, high)),
        }
    }
    bounds.iter().any(|(_, low, high)| low > high || *high < 0)
}

/// The largest size that is asked of each message, asked where the first was.
fn keep_largest_sizes(path: &mut Path) {
    let mut largest: Vec<(u32, u64)> = Vec::new();
    for step in &path.steps {
        if let Some((message, octets)) = size_asked(step) {
            match largest.iter_mut().find(|(known, _)| *known == message) {
                Some((_, most)) => *most = octets.max(*most),
                None => largest.push((message, octets)),
            }
        }
    }
    let mut asked = BTreeSet::new();
    path.steps.retain_mut(|step| {
        let Some((message, _)) = size_asked(step) else { return true };
        let most = largest.iter().find(|(known, _)| *known == message).map_or(0, |(_, most)| *most);
        if let Step::Guard { condition: Term::Compare { b, .. }, .. } = step {
            **b = super::number(32, most);
        }
        asked.insert(message)
    });
}

fn size_asked(step: &Step) -> Option<(u32, u64)> {
    let Step::Guard { condition: Term::Compare { op: TermCompare::Ge, a, b }, refresh: None } = step else {
        return None;
    };
    match (&**a, &**b) {
        (Term::Size { message }, Term::Number { value, .. }) => Some((*message, *value)),
        _ => None,
    }
}

/// References along 1:1 links to objects that the path speaks of.
fn drop_followed(automaton: &Automaton, path: &mut Path) {
    let firsts = first_classes(automaton, path);
    let used = used_classes(path);
    path.steps.retain(|step| {
        let Step::Guard { condition: Term::Not(inner), refresh: None } = step else { return true };
        let Term::IsNull { object, class, cell } = **inner else { return true };
        let Some((lens, Some(first))) = firsts.get(object.index()) else { return true };
        let classes = &automaton.lenses[lens.index()].classes;
        let place = |class: ClassId| classes.iter().position(|other| *other == class);
        let (Some(from), Some(at)) = (place(*first), place(class)) else { return true };
        let Some(to) = linked(automaton, class, cell).and_then(place) else { return true };
        let beyond = |(of, class): &(PathObjectId, ClassId)| {
            let used = place(*class).filter(|_| *of == object);
            used.is_some_and(|used| if to > at { from <= at && used >= to } else { from >= at && used <= to })
        };
        !used.iter().any(beyond)
    });
}

fn linked(automaton: &Automaton, class: ClassId, cell: CellId) -> Option<ClassId> {
    let links = automaton.links.iter().filter(|link| link.kind == LinkKind::OneToOne);
    let mut sides = links.flat_map(|link| [(link.above, link.below.0), (link.below, link.above.0)]);
    sides.find(|(side, _)| *side == (class, Some(cell))).map(|(_, other)| other)
}

/// Of each record: its lens, and the class of the object by which it was found.
fn first_classes(automaton: &Automaton, path: &Path) -> Vec<(mokume_reaction::LensId, Option<ClassId>)> {
    let input = &automaton.ports[path.port.index()].inputs[path.event as usize];
    let referred = |ty: Type| match ty {
        Type::Ref(class) => Some(class),
        _ => None,
    };
    let class = |from: &ObjectSource| match from {
        ObjectSource::Param(index) => referred(input.params[*index as usize].1),
        ObjectSource::Unique(class) => Some(*class),
        ObjectSource::Parent(_, class) => automaton.class(*class).parent,
        ObjectSource::Cell(_, class, cell) => match automaton.cell(*class, *cell).kind {
            CellKind::Scalar { ty, .. } => referred(ty),
            _ => None,
        },
        ObjectSource::Find { class, cell, value, .. } => match &automaton.cell(*class, *cell).kind {
            CellKind::Map { value: types, .. } => types.get(*value as usize).and_then(|ty| referred(*ty)),
            _ => None,
        },
    };
    let records = path.steps.iter().filter_map(|step| match step {
        Step::Object { lens, from, .. } => Some((*lens, class(from))),
        _ => None,
    });
    records.collect()
}

/// Objects that the path speaks of otherwise than by asking whether a reference is null: those it must find.
fn used_classes(path: &Path) -> BTreeSet<(PathObjectId, ClassId)> {
    let mut used = BTreeSet::new();
    for step in &path.steps {
        if let Step::Object { from: ObjectSource::Cell(object, class, _), .. } = step {
            used.insert((*object, *class));
        }
        if let Step::Object { from: ObjectSource::Find { object, class, key, .. }, .. } = step {
            used.insert((*object, *class));
            key.iter().for_each(|term| cells(term, &mut used));
        }
        if let Step::Guard { condition: term, .. } | Step::Let { term, .. } = step {
            cells(term, &mut used);
        }
    }
    for effect in &path.commit {
        if let Effect::Set { object, class, .. } | Effect::Count { object, class, .. } = effect {
            used.insert((*object, *class));
        }
        if let Effect::Set { value: term, .. } = effect {
            cells(term, &mut used);
        }
    }
    for arg in path.outs.iter().flat_map(|out| &out.args) {
        if let PathArg::Object(object, class) = arg {
            used.insert((*object, *class));
        }
    }
    used
}

fn cells(term: &Term, used: &mut BTreeSet<(PathObjectId, ClassId)>) {
    if let Term::Cell { object, class, .. } | Term::Holds { object, class, .. } = term {
        used.insert((*object, *class));
    }
    parts(term).into_iter().for_each(|part| cells(part, used));
}
