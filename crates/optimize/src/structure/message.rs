//! A message on a way: headers not encoded yet, and octets as a run of pieces over the event's own message.

use mokume_reaction::{Endian, HeaderId, MessageTerm, Piece, Term, TermOp, VariantId};

#[derive(Clone, PartialEq, Debug)]
pub struct Packet {
    /// The one on top last.
    pub headers: Vec<(HeaderId, VariantId, Vec<Term>)>,
    /// Octets that the way has put in front.
    pub front: Vec<Piece>,
    /// The event's message, from an offset that is known, up to its end or to a trimmed size.
    pub rest: Option<Stretch>,
    pub attributes: Vec<(u32, Term)>,
}

/// `size` counts from `from`; none: up to the end of the message.
#[derive(Clone, PartialEq, Debug)]
pub struct Stretch {
    pub message: u32,
    pub from: u32,
    pub size: Option<Term>,
}

pub fn number(width: u8, value: u64) -> Term {
    Term::Number { width, value: if width >= 64 { value } else { value & ((1 << width) - 1) } }
}

pub fn binary(op: TermOp, a: Term, b: Term) -> Term {
    match (op, &a, &b) {
        (TermOp::Add | TermOp::Sub, _, Term::Number { value: 0, .. }) => a,
        (TermOp::Add, Term::Number { value: 0, .. }, _) => b,
        (TermOp::Add, Term::Number { width, value: x }, Term::Number { value: y, .. }) => {
            number(*width, x.wrapping_add(*y))
        }
        (TermOp::Sub, Term::Number { width, value: x }, Term::Number { value: y, .. }) => {
            number(*width, x.wrapping_sub(*y))
        }
        _ => Term::Binary { op, a: Box::new(a), b: Box::new(b) },
    }
}

/// To another width.
pub fn cast(width: u8, from: u8, a: Term) -> Term {
    match a {
        _ if width == from => a,
        Term::Number { value, .. } => number(width, value),
        _ => Term::Cast { width, a: Box::new(a) },
    }
}

impl Packet {
    pub fn of_event(message: u32) -> Self {
        let rest = Some(Stretch { message, from: 0, size: None });
        Packet { headers: Vec::new(), front: Vec::new(), rest, attributes: Vec::new() }
    }

    /// Octets that are known in number: those in front.
    pub fn front_size(&self) -> u32 {
        self.front.iter().map(piece_size).sum()
    }

    /// Octets, width 32.
    pub fn size(&self) -> Term {
        let front = number(32, u64::from(self.front_size()));
        match &self.rest {
            None => front,
            Some(Stretch { size: Some(size), .. }) => binary(TermOp::Add, size.clone(), front),
            Some(Stretch { message, from, size: None }) => {
                let whole = Term::Size { message: *message };
                let back = front_minus(&front, *from);
                match back {
                    Back::Add(n) => binary(TermOp::Add, whole, number(32, n)),
                    Back::Sub(n) => binary(TermOp::Sub, whole, number(32, n)),
                }
            }
        }
    }

    /// Whether there are so many octets; asked of the whole message where that says the same.
    pub fn has(&self, octets: u32) -> Term {
        let (of, least) = match &self.rest {
            Some(Stretch { message, from, size: None }) if self.front.is_empty() => {
                (Term::Size { message: *message }, from + octets)
            }
            _ => (self.size(), octets),
        };
        super::walk::compare(mokume_reaction::TermCompare::Ge, of, number(32, u64::from(least)))
    }

    /// A field at a known offset of what came; nothing for octets that the way itself has put there.
    pub fn load(&self, at: u32, width: u8, endian: Endian) -> Option<Term> {
        let rest = self.rest.as_ref().filter(|_| self.front.is_empty())?;
        let at = Box::new(number(32, u64::from(rest.from + at)));
        Some(Term::Load { message: rest.message, at, width, endian })
    }

    /// Without its first octets; they must be of what came, and be there.
    pub fn skip(&mut self, octets: u32) -> Option<()> {
        let rest = self.rest.as_mut().filter(|_| self.front.is_empty())?;
        rest.from += octets;
        if let Some(size) = rest.size.take() {
            rest.size = Some(binary(TermOp::Sub, size, number(32, u64::from(octets))));
        }
        Some(())
    }

    /// Only its first `size` octets.
    pub fn trim(&mut self, size: Term) -> Option<()> {
        let front = self.front_size();
        let rest = self.rest.as_mut()?;
        rest.size = Some(binary(TermOp::Sub, size, number(32, u64::from(front))));
        Some(())
    }

    pub fn term(&self) -> MessageTerm {
        let mut octets = joined(&self.front);
        if let Some(rest) = &self.rest {
            let from = number(32, u64::from(rest.from));
            octets.push(Piece::Message { message: rest.message, from, size: rest.size.clone() });
        }
        MessageTerm { headers: self.headers.iter().rev().cloned().collect(), octets }
    }
}

enum Back {
    Add(u64),
    Sub(u64),
}

fn front_minus(front: &Term, from: u32) -> Back {
    let Term::Number { value, .. } = front else { return Back::Sub(u64::from(from)) };
    if *value >= u64::from(from) {
        Back::Add(value - u64::from(from))
    } else {
        Back::Sub(u64::from(from) - value)
    }
}

pub fn piece_size(piece: &Piece) -> u32 {
    match piece {
        Piece::Octets(octets) => octets.len() as u32,
        Piece::Template { size, .. } => *size,
        Piece::Field { value, .. } => u32::from(width_of(value)) / 8,
        Piece::Message { .. } => 0,
    }
}

/// Neighbouring constant octets as one piece.
fn joined(pieces: &[Piece]) -> Vec<Piece> {
    let mut all: Vec<Piece> = Vec::new();
    for piece in pieces {
        match (all.last_mut(), piece) {
            (Some(Piece::Octets(before)), Piece::Octets(octets)) => before.extend(octets),
            _ => all.push(piece.clone()),
        }
    }
    all
}

/// The width of a term whose leaves say theirs. Cells and parameters are wrapped in a `Cast` to their own width when they are made.
pub fn width_of(term: &Term) -> u8 {
    match term {
        Term::Number { width, .. } | Term::It { width } | Term::Load { width, .. } | Term::Cast { width, .. } => *width,
        Term::Size { .. } | Term::Sum16(_) | Term::Left { .. } => 32,
        Term::Now => 64,
        Term::Fold16(_) => 16,
        Term::MaskedEqual { .. }
        | Term::Compare { .. }
        | Term::Armed { .. }
        | Term::IsNull { .. }
        | Term::Holds { .. } => 1,
        Term::Not(a) | Term::Binary { a, .. } => width_of(a),
        Term::If { then, .. } => width_of(then),
        _ => 0,
    }
}
