//! Widths of terms, and walks over them: one reading of level 2 for the parser, the printer and the verifier.

use crate::*;

/// What terms are read in: a lens's own terms, or those of a path.
#[derive(Clone, Debug)]
pub struct TermContext<'a> {
    pub automaton: &'a Automaton,
    /// The lens of each record that can be named, by [`PathObjectId`].
    pub objects: Vec<(String, LensId)>,
    pub lets: Vec<(String, u8)>,
    /// The parameters of the path's event.
    pub params: Vec<(String, Type)>,
}

impl<'a> TermContext<'a> {
    /// Object 0 is the record at hand, object 1 that of the lens around.
    pub fn of_lens(automaton: &'a Automaton, id: LensId) -> Self {
        let around = automaton.lenses.get(id.index()).and_then(|lens| lens.around);
        let around = around.map(|around| ("around".to_owned(), around));
        let objects = std::iter::once(("self".to_owned(), id)).chain(around).collect();
        TermContext { automaton, objects, lets: Vec::new(), params: Vec::new() }
    }

    /// With no object or name yet: [`Self::step`] enters them.
    pub fn of_path(automaton: &'a Automaton, port: PortId, event: u32) -> Self {
        let input = automaton.ports.get(port.index()).and_then(|port| port.inputs.get(event as usize));
        let params = input.map_or(Vec::new(), |input| input.params.clone());
        TermContext { automaton, objects: Vec::new(), lets: Vec::new(), params }
    }

    /// What later steps may name.
    pub fn step(&mut self, step: &Step) {
        match step {
            Step::Object { name, lens, .. } => self.objects.push((name.clone(), *lens)),
            Step::Let { name, width, .. } => self.lets.push((name.clone(), *width)),
            Step::Guard { .. } => {}
        }
    }

    pub fn lens(&self, object: PathObjectId) -> Option<&'a Lens> {
        let (_, id) = self.objects.get(object.index())?;
        self.automaton.lenses.get(id.index())
    }

    pub fn lens_cell(&self, object: PathObjectId, cell: LensCellId) -> Option<&'a LensCell> {
        self.lens(object)?.cells.get(cell.index())
    }

    /// A layered cell of a class that the record stands for.
    pub fn cell(&self, object: PathObjectId, class: ClassId, cell: CellId) -> Option<&'a Cell> {
        if !self.lens(object)?.classes.contains(&class) {
            return None;
        }
        self.automaton.classes.get(class.index())?.cells.get(cell.index())
    }

    fn element_width(&self, object: PathObjectId, class: ClassId, cell: CellId, array: bool) -> Option<u8> {
        match &self.cell(object, class, cell)?.kind {
            CellKind::Scalar { ty, .. } if !array => positive(ty.width(self.automaton)),
            CellKind::Array { ty, .. } if array => positive(ty.width(self.automaton)),
            _ => None,
        }
    }

    /// A term's width; `None` where a part of it makes no sense, or is a number without a width.
    pub fn width(&self, term: &Term) -> Option<u8> {
        match term {
            Term::Number { width, .. } | Term::It { width } => positive(*width),
            Term::Let(id) => self.lets.get(id.index()).map(|(_, width)| *width),
            Term::Param(index) => positive(self.params.get(*index as usize)?.1.width(self.automaton)),
            Term::Lens { object, cell } => match self.lens_cell(*object, *cell)?.kind {
                LensCellKind::Scalar { width, .. } => Some(width),
                LensCellKind::Template { .. } => None,
            },
            Term::Cell { object, class, cell } => self.element_width(*object, *class, *cell, false),
            Term::CellAt { object, class, cell, .. } => self.element_width(*object, *class, *cell, true),
            Term::Armed { .. } | Term::Holds { .. } | Term::IsNull { .. } => Some(1),
            Term::MaskedEqual { .. } | Term::Compare { .. } => Some(1),
            Term::Left { .. } | Term::Size { .. } | Term::Sum16(_) => Some(32),
            Term::StackParam(id) => positive(self.automaton.params.get(id.index())?.ty.width(self.automaton)),
            Term::Now => Some(64),
            Term::Load { width, .. } | Term::Cast { width, .. } => Some(*width),
            Term::Fold16(_) => Some(16),
            Term::Not(a) => self.width(a),
            Term::Binary { a, b, .. } => self.width(a).or_else(|| self.width(b)),
            Term::If { then, otherwise, .. } => self.width(then).or_else(|| self.width(otherwise)),
            Term::Call { function, result, .. } => {
                let function = self.automaton.functions.get(function.index())?;
                positive(function.results.get(*result as usize)?.width(self.automaton))
            }
        }
    }

    /// The width that is asked of each direct part of a term, in the order of [`parts`]; `None` where any will do.
    pub fn part_widths(&self, term: &Term, own: Option<u8>) -> Vec<Option<u8>> {
        match term {
            Term::CellAt { .. } => vec![None],
            Term::Holds { .. } | Term::Load { .. } | Term::Fold16(_) => vec![Some(32)],
            Term::Not(_) => vec![own],
            Term::Binary { .. } => vec![own.or_else(|| self.width(term)); 2],
            Term::Compare { a, b, .. } => vec![self.width(a).or_else(|| self.width(b)); 2],
            Term::If { .. } => {
                let own = own.or_else(|| self.width(term));
                vec![Some(1), own, own]
            }
            Term::Cast { .. } => vec![None],
            Term::Call { function, args, .. } => {
                let function = self.automaton.functions.get(function.index());
                let width = |index: usize| positive(function?.params.get(index)?.1.width(self.automaton));
                (0..args.len()).map(width).collect()
            }
            Term::Sum16(pieces) => pieces.iter().flat_map(piece_widths).collect(),
            _ => Vec::new(),
        }
    }

    /// The octets of a piece, where they are known.
    pub fn piece_size(&self, piece: &Piece) -> Option<u32> {
        match piece {
            Piece::Octets(octets) => Some(octets.len() as u32),
            Piece::Template { size, .. } => Some(*size),
            Piece::Field { value, .. } => self.width(value).map(|width| u32::from(width) / 8),
            Piece::Message { .. } => None,
        }
    }
}

fn positive(width: u8) -> Option<u8> {
    (width > 0).then_some(width)
}

/// The direct parts of a term.
pub fn parts(term: &Term) -> Vec<&Term> {
    match term {
        Term::CellAt { index, .. } | Term::Holds { index, .. } => vec![index],
        Term::Load { at, .. } => vec![at],
        Term::Fold16(a) | Term::Not(a) | Term::Cast { a, .. } => vec![a],
        Term::Binary { a, b, .. } | Term::Compare { a, b, .. } => vec![a, b],
        Term::If { condition, then, otherwise } => vec![condition, then, otherwise],
        Term::Call { args, .. } => args.iter().collect(),
        Term::Sum16(pieces) => pieces.iter().flat_map(piece_parts).collect(),
        _ => Vec::new(),
    }
}

/// [`parts`], to be changed.
pub fn parts_mut(term: &mut Term) -> Vec<&mut Term> {
    match term {
        Term::CellAt { index, .. } | Term::Holds { index, .. } => vec![index],
        Term::Load { at, .. } => vec![at],
        Term::Fold16(a) | Term::Not(a) | Term::Cast { a, .. } => vec![a],
        Term::Binary { a, b, .. } | Term::Compare { a, b, .. } => vec![a, b],
        Term::If { condition, then, otherwise } => vec![condition, then, otherwise],
        Term::Call { args, .. } => args.iter_mut().collect(),
        Term::Sum16(pieces) => pieces.iter_mut().flat_map(piece_parts_mut).collect(),
        _ => Vec::new(),
    }
}

/// The terms of a piece.
pub fn piece_parts(piece: &Piece) -> Vec<&Term> {
    match piece {
        Piece::Octets(_) | Piece::Template { .. } => Vec::new(),
        Piece::Field { value, .. } => vec![value],
        Piece::Message { from, size, .. } => std::iter::once(from).chain(size).collect(),
    }
}

/// [`piece_parts`], to be changed.
pub fn piece_parts_mut(piece: &mut Piece) -> Vec<&mut Term> {
    match piece {
        Piece::Octets(_) | Piece::Template { .. } => Vec::new(),
        Piece::Field { value, .. } => vec![value],
        Piece::Message { from, size, .. } => std::iter::once(from).chain(size).collect(),
    }
}

/// The widths asked of a piece's terms.
pub fn piece_widths(piece: &Piece) -> Vec<Option<u8>> {
    match piece {
        Piece::Octets(_) | Piece::Template { .. } => Vec::new(),
        Piece::Field { .. } => vec![None],
        Piece::Message { size, .. } => vec![Some(32); 1 + usize::from(size.is_some())],
    }
}
