//! Terms, pieces and messages of level 2 as text. A number says its width unless what stands beside it does.

use super::names::{self, ident, path};
use crate::terms::{piece_widths, TermContext};
use crate::*;

pub struct TermPrinter<'a> {
    pub context: TermContext<'a>,
    /// In a lens, the record at hand needs no name.
    pub in_lens: bool,
}

/// Names that are not read as cells of the record at hand.
pub const TERM_WORDS: &[&str] = &["it", "now", "true", "false", "if", "then", "else", "call", "self", "around"];

pub fn operator(op: TermOp) -> Option<&'static str> {
    Some(match op {
        TermOp::Add => "+",
        TermOp::Sub => "-",
        TermOp::Mul => "*",
        TermOp::Div => "/",
        TermOp::Rem => "%",
        TermOp::And => "&",
        TermOp::Or => "|",
        TermOp::Xor => "^",
        TermOp::Shl => "<<",
        TermOp::Shr => ">>",
        TermOp::AddExact | TermOp::SubExact | TermOp::Min | TermOp::Max => return None,
    })
}

pub fn function(op: TermOp) -> &'static str {
    match op {
        TermOp::AddExact => "add_exact",
        TermOp::SubExact => "sub_exact",
        TermOp::Min => "min",
        _ => "max",
    }
}

/// A sign, or the name of a circular comparison.
fn comparison(op: TermCompare) -> Result<&'static str, &'static str> {
    match op {
        TermCompare::Eq => Ok(Compare::Eq.sign()),
        TermCompare::Ne => Ok(Compare::Ne.sign()),
        TermCompare::Lt => Ok(Compare::Lt.sign()),
        TermCompare::Le => Ok(Compare::Le.sign()),
        TermCompare::Gt => Ok(Compare::Gt.sign()),
        TermCompare::Ge => Ok(Compare::Ge.sign()),
        TermCompare::SeqLt => Err("seq_lt"),
        TermCompare::SeqLe => Err("seq_le"),
        TermCompare::SeqGt => Err("seq_gt"),
        TermCompare::SeqGe => Err("seq_ge"),
    }
}

pub fn octets(octets: &[u8]) -> String {
    let hex: String = octets.iter().map(|octet| format!("{octet:02x}")).collect();
    format!("\"{hex}\"")
}

fn endian(endian: Endian) -> &'static str {
    match endian {
        Endian::Big => "be",
        Endian::Little => "le",
    }
}

impl TermPrinter<'_> {
    /// `wanted`: the width that the reader will expect.
    pub fn term(&self, term: &Term, wanted: Option<u8>) -> String {
        let widths = self.context.part_widths(term, wanted);
        // A number takes its width from its neighbour only if that says one.
        let two = |a: &Term, b: &Term, own: Option<u8>| {
            let from = |other: &Term| own.or_else(|| self.says(other));
            (self.term(a, from(b)), self.term(b, from(a)))
        };
        match term {
            Term::Number { width: 1, value: 0 } => "false".to_owned(),
            Term::Number { width: 1, value: 1 } => "true".to_owned(),
            Term::Number { width, value } if wanted == Some(*width) => value.to_string(),
            Term::Number { width, value } => format!("{value}:u{width}"),
            Term::Let(id) => self.context.lets.get(id.index()).map_or("?".to_owned(), |(name, _)| ident(name)),
            Term::Param(index) => self.param(*index),
            Term::It { .. } => "it".to_owned(),
            Term::Lens { object, cell } => self.lens_cell(*object, *cell),
            Term::Cell { object, class, cell } => self.cell(*object, *class, *cell),
            Term::CellAt { object, class, cell, index } => {
                format!("{}[{}]", self.cell(*object, *class, *cell), self.term(index, None))
            }
            Term::Armed { object, class, cell } => format!("armed({})", self.cell(*object, *class, *cell)),
            Term::Left { object, class, cell } => format!("left({})", self.cell(*object, *class, *cell)),
            Term::IsNull { object, class, cell } => format!("null({})", self.cell(*object, *class, *cell)),
            Term::Holds { object, class, cell, index } => {
                format!("holds({}[{}])", self.cell(*object, *class, *cell), self.term(index, Some(32)))
            }
            Term::StackParam(id) => {
                let name = self.context.automaton.params.get(id.index()).map_or("?".to_owned(), |p| path(&p.name));
                format!("param({name})")
            }
            Term::Now => "now".to_owned(),
            Term::Size { message } => format!("size({})", self.param(*message)),
            Term::Load { message, at, width, endian: order } => {
                format!("load_{}{width}({}, {})", endian(*order), self.param(*message), self.term(at, Some(32)))
            }
            Term::MaskedEqual { message, at, mask, value } => {
                format!("meq({}, {at}, {}, {})", self.param(*message), octets(mask), octets(value))
            }
            Term::Sum16(pieces) => format!("sum16({})", self.pieces(pieces)),
            Term::Fold16(a) => format!("fold16({})", self.term(a, Some(32))),
            Term::Not(a) => format!("not({})", self.term(a, widths[0])),
            Term::Binary { op, a, b } => {
                let (a, b) = two(a, b, wanted);
                match operator(*op) {
                    Some(sign) => format!("({a} {sign} {b})"),
                    None => format!("{}({a}, {b})", function(*op)),
                }
            }
            Term::Compare { op, a, b } => {
                let (a, b) = two(a, b, None);
                match comparison(*op) {
                    Ok(sign) => format!("({a} {sign} {b})"),
                    Err(name) => format!("{name}({a}, {b})"),
                }
            }
            Term::If { condition, then, otherwise } => {
                let (then, otherwise) = two(then, otherwise, wanted);
                format!("(if {} then {then} else {otherwise})", self.term(condition, Some(1)))
            }
            Term::Cast { width, a } => format!("u{width}({})", self.term(a, None)),
            Term::Call { function, args, result } => {
                let found = self.context.automaton.functions.get(function.index());
                let name = found.map_or("?".to_owned(), |function| path(&function.name));
                let args: Vec<String> = args.iter().zip(&widths).map(|(arg, width)| self.term(arg, *width)).collect();
                format!("call {name}({}).{result}", args.join(", "))
            }
        }
    }

    /// The width that a term's text says by itself: that of numbers printed without one is not in it.
    fn says(&self, term: &Term) -> Option<u8> {
        match term {
            Term::Number { width: 1, .. } => Some(1),
            Term::Number { .. } => None,
            Term::Binary { a, b, .. } => self.says(a).or_else(|| self.says(b)),
            Term::If { then, otherwise, .. } => self.says(then).or_else(|| self.says(otherwise)),
            Term::Not(a) => self.says(a),
            _ => self.context.width(term),
        }
    }

    fn param(&self, index: u32) -> String {
        self.context.params.get(index as usize).map_or("?".to_owned(), |(name, _)| ident(name))
    }

    pub fn object(&self, object: PathObjectId) -> String {
        self.context.objects.get(object.index()).map_or("?".to_owned(), |(name, _)| ident(name))
    }

    pub fn lens_cell(&self, object: PathObjectId, cell: LensCellId) -> String {
        let name = self.context.lens_cell(object, cell).map_or("?", |cell| &cell.name);
        let bare = self.in_lens && object.index() == 0 && !TERM_WORDS.contains(&name);
        if bare {
            ident(name)
        } else {
            format!("{}.{}", self.object(object), ident(name))
        }
    }

    pub fn cell(&self, object: PathObjectId, class: ClassId, cell: CellId) -> String {
        let found = self.context.automaton.classes.get(class.index()).and_then(|c| c.cells.get(cell.index()));
        let name = found.map_or("?".to_owned(), |cell| ident(&cell.name));
        format!("{}.{}.{name}", self.object(object), names::class(self.context.automaton, class))
    }

    pub fn pieces(&self, pieces: &[Piece]) -> String {
        if pieces.is_empty() {
            return "\"\"".to_owned();
        }
        pieces.iter().map(|piece| self.piece(piece)).collect::<Vec<_>>().join(" ++ ")
    }

    fn piece(&self, piece: &Piece) -> String {
        let widths = piece_widths(piece);
        match piece {
            Piece::Octets(found) => octets(found),
            Piece::Template { object, cell, from, size } => {
                let whole = match self.context.lens_cell(*object, *cell).map(|cell| &cell.kind) {
                    Some(LensCellKind::Template { init }) => *from == 0 && *size as usize == init.len(),
                    _ => false,
                };
                let name = self.lens_cell(*object, *cell);
                if whole {
                    name
                } else {
                    format!("{name}[{from}, {size}]")
                }
            }
            Piece::Field { value, endian: order } => {
                let width = self.context.width(value);
                format!("{}{}({})", endian(*order), width.unwrap_or(0), self.term(value, width))
            }
            Piece::Message { message, from: Term::Number { width: 32, value: 0 }, size: None } => self.param(*message),
            Piece::Message { message, from, size: None } => {
                format!("{}[{} ..]", self.param(*message), self.term(from, widths[0]))
            }
            Piece::Message { message, from, size: Some(size) } => {
                let (from, size) = (self.term(from, Some(32)), self.term(size, Some(32)));
                format!("{}[{from}, {size}]", self.param(*message))
            }
        }
    }

    /// `message(pieces under Outer{…} Inner{…})`
    pub fn message(&self, message: &MessageTerm) -> String {
        let mut out = format!("message({}", self.pieces(&message.octets));
        if !message.headers.is_empty() {
            out += " under";
        }
        for (header, variant, fields) in &message.headers {
            let found =
                self.context.automaton.headers.get(header.index()).and_then(|h| h.variants.get(variant.index()));
            let fields: Vec<String> = fields
                .iter()
                .enumerate()
                .map(|(index, term)| {
                    let known = found.and_then(|variant| variant.fields.get(index));
                    let width = known.map(|(_, ty)| ty.width(self.context.automaton));
                    format!("{}: {}", known.map_or("?".to_owned(), |(name, _)| ident(name)), self.term(term, width))
                })
                .collect();
            let variant = names::variant(self.context.automaton, *header, *variant);
            out += &format!(" {variant}{{{}}}", fields.join(", "));
        }
        out + ")"
    }
}
