//! Octets of a header that no path changes are kept ready in the record, in the order of the packet (`header/template`).
//!
//! Origin: invariant code motion; Morpheus' header registers, Ensemble's header compression. Precondition: a run of constant
//! octets, stack parameters and cells of one record that no path sets. Every put of such a cell writes the template anew, so
//! the invariant `template == layout` holds octet by octet.

use mokume_reaction::{
    Automaton, CellId, ClassId, Effect, Endian, Heat, LensCell, LensCellId, LensCellKind, LensId, LensUpdate,
    LensValue, PathArg, PathObjectId, Piece, Step, Term, TermCompare, TermOp, View,
};

use crate::rewrite::{cell_width, initial, mentions, own};
use crate::structure::{binary, cast, number};

/// Fewer octets are written as fast as they are copied.
const LEAST_OCTETS: u32 = 4;

pub fn run(automaton: &Automaton) -> Automaton {
    let mut automaton = automaton.clone();
    for path in 0..automaton.paths.len() {
        for out in 0..automaton.paths[path].outs.len() {
            for arg in 0..automaton.paths[path].outs[out].args.len() {
                rewrite(&mut automaton, path, out, arg);
            }
        }
    }
    automaton
}

/// A run of pieces that can be kept: where it stands, in which record.
struct Run {
    from: usize,
    to: usize,
    object: PathObjectId,
    lens: LensId,
}

/// A field that stays as it is while its record lives.
#[derive(Clone, PartialEq, Debug)]
enum Fixed {
    Octets,
    /// A stack parameter.
    Anyone,
    Cell(PathObjectId),
}

fn rewrite(automaton: &mut Automaton, path: usize, out: usize, arg: usize) {
    let PathArg::Message(message) = &automaton.paths[path].outs[out].args[arg] else { return };
    let pieces = message.octets.clone();
    let mut rewritten: Vec<Piece> = Vec::new();
    let mut at = 0;
    while at < pieces.len() {
        match run_at(automaton, path, &pieces, at) {
            Some(run) => {
                let size = pieces[run.from..run.to].iter().map(|piece| octets_of(automaton, path, piece)).sum();
                let home = pieces[run.from..run.to].iter().map(|piece| at_home(automaton, run.lens, piece)).collect();
                let cell = template(automaton, run.lens, home);
                rewritten.push(Piece::Template { object: run.object, cell, from: 0, size });
                at = run.to;
            }
            None => {
                rewritten.push(pieces[at].clone());
                at += 1;
            }
        }
    }
    if let PathArg::Message(message) = &mut automaton.paths[path].outs[out].args[arg] {
        message.octets = rewritten;
    }
}

/// The longest run that begins here and pays.
fn run_at(automaton: &Automaton, path: usize, pieces: &[Piece], from: usize) -> Option<Run> {
    let mut object = None;
    let mut to = from;
    while let Some(fixed) = pieces.get(to).and_then(|piece| fixed(automaton, path, piece)) {
        match (fixed, object) {
            (Fixed::Cell(of), Some(known)) if of != known => break,
            (Fixed::Cell(of), _) => object = Some(of),
            (Fixed::Octets | Fixed::Anyone, _) => {}
        }
        to += 1;
    }
    let size: u32 = pieces[from..to].iter().map(|piece| octets_of(automaton, path, piece)).sum();
    let object: PathObjectId = object.filter(|_| size >= LEAST_OCTETS)?;
    Some(Run { from, to, object, lens: lens_of(automaton, path, object)? })
}

fn lens_of(automaton: &Automaton, path: usize, object: PathObjectId) -> Option<LensId> {
    let lenses = automaton.paths[path].steps.iter().filter_map(|step| match step {
        Step::Object { lens, .. } => Some(*lens),
        _ => None,
    });
    lenses.into_iter().nth(object.index())
}

fn fixed(automaton: &Automaton, path: usize, piece: &Piece) -> Option<Fixed> {
    match piece {
        Piece::Octets(_) => Some(Fixed::Octets),
        Piece::Field { value, .. } => match plain(value) {
            Term::StackParam(_) => Some(Fixed::Anyone),
            Term::Cell { object, class, cell } => {
                let lens = lens_of(automaton, path, *object)?;
                cell_width(automaton, *class, *cell)?;
                let free = view_of(automaton, lens, *class, *cell).is_none();
                (free && !is_set(automaton, *class, *cell)).then_some(Fixed::Cell(*object))
            }
            Term::Lens { object, cell } => {
                let lens = lens_of(automaton, path, *object)?;
                let view = stored_view(automaton, lens, *cell)?;
                (!is_set_here(automaton, *cell, lens) && !is_set(automaton, view.class, view.cell))
                    .then_some(Fixed::Cell(*object))
            }
            _ => None,
        },
        _ => None,
    }
}

fn plain(term: &Term) -> &Term {
    match term {
        Term::Cast { a, .. } if matches!(**a, Term::Cell { .. } | Term::Lens { .. } | Term::StackParam(_)) => a,
        other => other,
    }
}

fn octets_of(automaton: &Automaton, path: usize, piece: &Piece) -> u32 {
    match piece {
        Piece::Octets(octets) => octets.len() as u32,
        Piece::Field { value, .. } => {
            let width = match value {
                Term::Cast { width, .. } => *width,
                Term::Cell { class, cell, .. } => cell_width(automaton, *class, *cell).unwrap_or(0),
                Term::StackParam(param) => automaton.params[param.index()].ty.width(automaton),
                Term::Lens { object, cell } => {
                    lens_of(automaton, path, *object).map_or(0, |lens| lens_width(automaton, lens, *cell))
                }
                _ => 0,
            };
            u32::from(width) / 8
        }
        _ => 0,
    }
}

fn lens_width(automaton: &Automaton, lens: LensId, cell: LensCellId) -> u8 {
    match automaton.lenses[lens.index()].cells[cell.index()].kind {
        LensCellKind::Scalar { width, .. } => width,
        LensCellKind::Template { .. } => 0,
    }
}

fn view_of(automaton: &Automaton, lens: LensId, class: ClassId, cell: CellId) -> Option<&View> {
    automaton.lenses[lens.index()].views.iter().find(|view| (view.class, view.cell) == (class, cell))
}

/// The view that shows a cell of the record as it is.
fn stored_view(automaton: &Automaton, lens: LensId, cell: LensCellId) -> Option<&View> {
    automaton.lenses[lens.index()].views.iter().find(|view| view.get == own(cell))
}

fn is_set(automaton: &Automaton, class: ClassId, cell: CellId) -> bool {
    let sets = |effect: &Effect| matches!(effect, Effect::Set { class: c, cell: p, .. } if (*c, *p) == (class, cell));
    automaton.paths.iter().flat_map(|path| &path.commit).any(sets)
}

fn is_set_here(automaton: &Automaton, cell: LensCellId, lens: LensId) -> bool {
    (0..automaton.paths.len()).any(|path| {
        automaton.paths[path].commit.iter().any(|effect| {
            matches!(effect, Effect::SetLens { object, cell: set, .. }
                if *set == cell && lens_of(automaton, path, *object) == Some(lens))
        })
    })
}

/// The piece over cells of the record itself; a layered cell that has none yet is given one.
fn at_home(automaton: &mut Automaton, lens: LensId, piece: &Piece) -> Piece {
    let Piece::Field { value, endian } = piece else { return piece.clone() };
    let home = match plain(value) {
        Term::Cell { class, cell, .. } => own(stored(automaton, lens, *class, *cell)),
        Term::Lens { cell, .. } => own(*cell),
        Term::StackParam(param) => {
            let width = automaton.params[param.index()].ty.width(automaton);
            Term::Cast { width, a: Box::new(Term::StackParam(*param)) }
        }
        other => other.clone(),
    };
    let home = match value {
        Term::Cast { width, .. } if !matches!(home, Term::Cast { .. }) => {
            Term::Cast { width: *width, a: Box::new(home) }
        }
        _ => home,
    };
    Piece::Field { value: home, endian: *endian }
}

/// The record's own copy of a layered cell.
fn stored(automaton: &mut Automaton, lens: LensId, class: ClassId, cell: CellId) -> LensCellId {
    if let Some(view) = view_of(automaton, lens, class, cell) {
        if let Term::Lens { cell, .. } = view.get {
            return cell;
        }
    }
    let width = cell_width(automaton, class, cell).unwrap_or(1);
    let init = initial(automaton, class, cell);
    let described = automaton.cell(class, cell).name.clone();
    let layer = automaton.layers[automaton.class(class).layer.index()].name.replace(['.', '/'], "_");
    let added = &mut automaton.lenses[lens.index()];
    let id = LensCellId::from(added.cells.len());
    let name = format!("{layer}_{described}_{}", id.0);
    added.cells.push(LensCell { name, heat: Heat::Cold, kind: LensCellKind::Scalar { width, init } });
    let put = vec![LensUpdate { cell: id, value: LensValue::Term(Term::It { width }) }];
    added.views.push(View { class, cell, get: own(id), put });
    id
}

/// The template of these pieces: one that is there already, or a new one that the puts of its cells keep.
fn template(automaton: &mut Automaton, lens: LensId, pieces: Vec<Piece>) -> LensCellId {
    let octets = layout(automaton, lens, &pieces);
    let known = automaton.lenses[lens.index()].cells.iter().enumerate().find(|(index, cell)| {
        let here = invariants(LensCellId::from(*index), &octets);
        matches!(&cell.kind, LensCellKind::Template { init } if init.len() == octets.len())
            && here.iter().all(|invariant| automaton.lenses[lens.index()].invariants.contains(invariant))
    });
    if let Some((index, _)) = known {
        return LensCellId::from(index);
    }
    let described = &mut automaton.lenses[lens.index()];
    let id = LensCellId::from(described.cells.len());
    // A new record's cells are put before anyone looks: the octets follow then.
    let kind = LensCellKind::Template { init: vec![0; octets.len()] };
    described.cells.push(LensCell { name: format!("template{}", id.0), heat: Heat::Hot, kind });
    described.invariants.extend(invariants(id, &octets));
    for view in &mut described.views {
        let Term::Lens { cell: copy, .. } = view.get else { continue };
        let is_copy = move |term: &Term| *term == own(copy);
        if !pieces.iter().flat_map(mokume_reaction::terms::piece_parts).any(|term| mentions(term, &is_copy)) {
            continue;
        }
        let width = match described.cells[copy.index()].kind {
            LensCellKind::Scalar { width, .. } => width,
            LensCellKind::Template { .. } => continue,
        };
        let mut anew = pieces.clone();
        for term in anew.iter_mut().flat_map(mokume_reaction::terms::piece_parts_mut) {
            crate::rewrite::each_part(term, &mut |part| {
                if is_copy(part) {
                    *part = Term::It { width };
                }
            });
        }
        view.put.push(LensUpdate { cell: id, value: LensValue::Octets(anew) });
    }
    id
}

/// Each octet as a term of 8 bits.
fn layout(automaton: &Automaton, lens: LensId, pieces: &[Piece]) -> Vec<Term> {
    let mut octets = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Octets(known) => octets.extend(known.iter().map(|octet| number(8, u64::from(*octet)))),
            Piece::Field { value, endian } => {
                let width = match value {
                    Term::Cast { width, .. } => *width,
                    Term::Lens { cell, .. } => lens_width(automaton, lens, *cell),
                    _ => 0,
                };
                let shifts: Vec<u8> = (0..width / 8).map(|octet| octet * 8).collect();
                let octet = |shift: u8| {
                    let down = binary(TermOp::Shr, value.clone(), number(width, u64::from(shift)));
                    let down = if shift == 0 { value.clone() } else { down };
                    cast(8, width, down)
                };
                match endian {
                    Endian::Little => octets.extend(shifts.into_iter().map(octet)),
                    Endian::Big => octets.extend(shifts.into_iter().rev().map(octet)),
                }
            }
            _ => {}
        }
    }
    octets
}

/// Octet by octet; the sum of one octet is it as a high half.
fn invariants(template: LensCellId, octets: &[Term]) -> Vec<Term> {
    let equal = |(place, octet): (usize, &Term)| {
        let piece = Piece::Template { object: PathObjectId(0), cell: template, from: place as u32, size: 1 };
        let high = match octet {
            Term::Number { value, .. } => number(32, value << 8),
            octet => Term::Binary {
                op: TermOp::Shl,
                a: Box::new(Term::Cast { width: 32, a: Box::new(octet.clone()) }),
                b: Box::new(number(32, 8)),
            },
        };
        Term::Compare { op: TermCompare::Eq, a: Box::new(Term::Sum16(vec![piece])), b: Box::new(high) }
    };
    octets.iter().enumerate().map(equal).collect()
}
