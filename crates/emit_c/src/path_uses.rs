//! What a path speaks of: the classes of its records, and its message parameters.

use mokume_reaction::*;

type Note<'n> = &'n mut dyn FnMut(PathObjectId, ClassId);

/// Every mention of an object of a class in a path.
pub(crate) fn each(automaton: &Automaton, path: &Path, note: Note) {
    for step in &path.steps {
        match step {
            Step::Object { from, .. } => source(automaton, path, from, note),
            Step::Let { term, .. } => self::term(term, note),
            Step::Guard { condition, .. } => term(condition, note),
        }
    }
    for effect in &path.commit {
        self::effect(effect, note);
    }
    for arg in path.outs.iter().flat_map(|out| &out.args) {
        match arg {
            PathArg::Term(value) => term(value, note),
            PathArg::Object(object, class) => note(*object, *class),
            PathArg::Message(message) => self::message(message, note),
        }
    }
}

fn source(automaton: &Automaton, path: &Path, from: &ObjectSource, note: Note) {
    match from {
        ObjectSource::Cell(object, class, _) => note(*object, *class),
        ObjectSource::Find { object, class, key, .. } => {
            note(*object, *class);
            key.iter().for_each(|part| term(part, note));
        }
        ObjectSource::Parent(object, class) => {
            // Any child of that class will do; the first of the lens's is looked for.
            let objects = path.steps.iter().filter_map(|step| match step {
                Step::Object { lens, .. } => Some(*lens),
                _ => None,
            });
            let Some(lens) = objects.into_iter().nth(object.index()) else { return };
            let classes = &automaton.lenses[lens.index()].classes;
            if let Some(child) = classes.iter().find(|child| automaton.class(**child).parent == Some(*class)) {
                note(*object, *child);
            }
        }
        ObjectSource::Param(_) | ObjectSource::Unique(_) => {}
    }
}

fn term(value: &Term, note: Note) {
    match value {
        Term::Cell { object, class, .. }
        | Term::IsNull { object, class, .. }
        | Term::Armed { object, class, .. }
        | Term::Left { object, class, .. } => note(*object, *class),
        Term::CellAt { object, class, index, .. } | Term::Holds { object, class, index, .. } => {
            note(*object, *class);
            term(index, note);
        }
        Term::Load { at, .. } => term(at, note),
        Term::Sum16(pieces) => pieces.iter().for_each(|piece| self::piece(piece, note)),
        Term::Fold16(a) | Term::Not(a) | Term::Cast { a, .. } => term(a, note),
        Term::Binary { a, b, .. } | Term::Compare { a, b, .. } => {
            term(a, note);
            term(b, note);
        }
        Term::If { condition, then, otherwise } => {
            [condition, then, otherwise].iter().for_each(|part| term(part, note))
        }
        Term::Call { args, .. } => args.iter().for_each(|arg| term(arg, note)),
        Term::Number { .. }
        | Term::Let(_)
        | Term::Param(_)
        | Term::It { .. }
        | Term::Lens { .. }
        | Term::StackParam(_)
        | Term::Now
        | Term::Size { .. }
        | Term::MaskedEqual { .. } => {}
    }
}

fn piece(value: &Piece, note: Note) {
    match value {
        Piece::Octets(_) | Piece::Template { .. } => {}
        Piece::Field { value, .. } => term(value, note),
        Piece::Message { from, size, .. } => {
            term(from, note);
            size.iter().for_each(|size| term(size, note));
        }
    }
}

fn message(value: &MessageTerm, note: Note) {
    value.octets.iter().for_each(|piece| self::piece(piece, note));
    value.headers.iter().flat_map(|(_, _, fields)| fields).for_each(|field| term(field, note));
}

fn effect(value: &Effect, note: Note) {
    match value {
        Effect::SetLens { value: LensValue::Term(value), .. } => term(value, note),
        Effect::SetLens { value: LensValue::Octets(pieces), .. } => {
            pieces.iter().for_each(|piece| self::piece(piece, note));
        }
        Effect::Set { object, class, value, .. } => {
            note(*object, *class);
            term(value, note);
        }
        Effect::SetAt { object, class, index, value, .. } => {
            note(*object, *class);
            term(index, note);
            term(value, note);
        }
        Effect::Arm { object, class, deadline: value, .. }
        | Effect::Count { object, class, amount: value, .. }
        | Effect::Take { object, class, amount: value, .. }
        | Effect::Give { object, class, amount: value, .. } => {
            note(*object, *class);
            term(value, note);
        }
        Effect::Disarm { object, class, .. } => note(*object, *class),
        Effect::Keep { object, class, index, message, .. } => {
            note(*object, *class);
            term(index, note);
            self::message(message, note);
        }
        Effect::Drop { .. } | Effect::Consume { .. } => {}
    }
}

/// In how many places a message parameter's octets go on, or the message ends.
pub(crate) fn messages(path: &Path, message: u32) -> usize {
    let in_pieces = |pieces: &[Piece]| {
        pieces.iter().filter(|piece| matches!(piece, Piece::Message { message: of, .. } if *of == message)).count()
    };
    let outs = path.outs.iter().flat_map(|out| &out.args).map(|arg| match arg {
        PathArg::Message(made) => in_pieces(&made.octets),
        _ => 0,
    });
    let effects = path.commit.iter().map(|effect| match effect {
        Effect::Keep { message: made, .. } => in_pieces(&made.octets),
        Effect::Drop { message: ended, .. } | Effect::Consume { message: ended, .. } => usize::from(*ended == message),
        _ => 0,
    });
    outs.chain(effects).sum()
}
