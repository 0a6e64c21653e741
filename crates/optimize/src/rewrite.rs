//! Walks over the terms of paths, and small constructors: what several passes need.

use mokume_reaction::terms::{parts_mut, piece_parts_mut};
use mokume_reaction::{
    Automaton, CellId, CellKind, ClassId, Effect, LensCellId, LensValue, MessageTerm, ObjectSource, Path, PathArg,
    PathObjectId, Piece, Step, Term, TermOp, Type,
};

use crate::structure::{binary, cast, number};

/// Every term below, parts first.
pub fn each_part(term: &mut Term, change: &mut dyn FnMut(&mut Term)) {
    for part in parts_mut(term) {
        each_part(part, change);
    }
    change(term);
}

/// Every term of a path, parts first.
pub fn each_term(path: &mut Path, change: &mut dyn FnMut(&mut Term)) {
    for step in &mut path.steps {
        match step {
            Step::Object { from: ObjectSource::Find { key, .. }, .. } => {
                key.iter_mut().for_each(|term| each_part(term, change));
            }
            Step::Object { .. } => {}
            Step::Let { term, .. } | Step::Guard { condition: term, .. } => each_part(term, change),
        }
    }
    for effect in &mut path.commit {
        each_effect_term(effect, change);
    }
    for arg in path.outs.iter_mut().flat_map(|out| &mut out.args) {
        match arg {
            PathArg::Term(term) => each_part(term, change),
            PathArg::Message(message) => each_message_term(message, change),
            PathArg::Object(..) => {}
        }
    }
}

fn each_effect_term(effect: &mut Effect, change: &mut dyn FnMut(&mut Term)) {
    match effect {
        Effect::SetLens { value: LensValue::Term(term), .. } => each_part(term, change),
        Effect::SetLens { value: LensValue::Octets(pieces), .. } => each_piece_term(pieces, change),
        Effect::Set { value: term, .. }
        | Effect::Arm { deadline: term, .. }
        | Effect::Count { amount: term, .. }
        | Effect::Take { amount: term, .. }
        | Effect::Give { amount: term, .. } => each_part(term, change),
        Effect::SetAt { index, value, .. } => {
            each_part(index, change);
            each_part(value, change);
        }
        Effect::Keep { index, message, .. } => {
            each_part(index, change);
            each_message_term(message, change);
        }
        Effect::Disarm { .. } | Effect::Drop { .. } | Effect::Consume { .. } => {}
    }
}

fn each_message_term(message: &mut MessageTerm, change: &mut dyn FnMut(&mut Term)) {
    message.headers.iter_mut().flat_map(|(.., fields)| fields).for_each(|term| each_part(term, change));
    each_piece_term(&mut message.octets, change);
}

fn each_piece_term(pieces: &mut [Piece], change: &mut dyn FnMut(&mut Term)) {
    pieces.iter_mut().flat_map(piece_parts_mut).for_each(|term| each_part(term, change));
}

/// The width of a scalar cell that holds a number: references have none.
pub fn cell_width(automaton: &Automaton, class: ClassId, cell: CellId) -> Option<u8> {
    match automaton.cell(class, cell).kind {
        CellKind::Scalar { ty: Type::Ref(_), .. } => None,
        CellKind::Scalar { ty, .. } => Some(ty.width(automaton)).filter(|width| *width > 0),
        _ => None,
    }
}

pub fn initial(automaton: &Automaton, class: ClassId, cell: CellId) -> u64 {
    match automaton.cell(class, cell).kind {
        CellKind::Scalar { init, .. } => init,
        _ => 0,
    }
}

pub fn own(cell: LensCellId) -> Term {
    Term::Lens { object: PathObjectId(0), cell }
}

/// A lens's own term as a term of a path that knows the record as `object`.
pub fn on(object: PathObjectId, mut term: Term) -> Term {
    each_part(&mut term, &mut |part| {
        if let Term::Lens { object: of, .. } = part {
            *of = object;
        }
    });
    term
}

/// `a + step * b`, at the width of `a`; `b` is of width `from`.
pub fn plus_steps(a: Term, width: u8, step: u64, b: Term, from: u8) -> Term {
    let mask = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
    let b = cast(width, from, b);
    if step == 1 {
        binary(TermOp::Add, a, b)
    } else if step == mask {
        binary(TermOp::Sub, a, b)
    } else {
        let product = Term::Binary { op: TermOp::Mul, a: Box::new(number(width, step)), b: Box::new(b) };
        binary(TermOp::Add, a, product)
    }
}

/// `a - step * b`.
pub fn minus_steps(a: Term, width: u8, step: u64, b: Term, from: u8) -> Term {
    let mask = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
    plus_steps(a, width, step.wrapping_neg() & mask, b, from)
}

/// Whether any part of a term answers to `what`.
pub fn mentions(term: &Term, what: &dyn Fn(&Term) -> bool) -> bool {
    what(term) || mokume_reaction::terms::parts(term).into_iter().any(|part| mentions(part, what))
}
