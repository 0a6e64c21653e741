//! Terms, pieces and messages of level 2 from text.

use mokume_base::Span;

use super::cursor::{fault, unknown, Cursor, Read};
use super::parse::Parser;
use super::print_term::TERM_WORDS;
use super::token::TokenKind;
use crate::terms::{parts_mut, TermContext};
use crate::*;

/// What a name with points stands for.
pub enum Named {
    Let(LetId),
    Param(u32),
    Lens(PathObjectId, LensCellId),
    Cell(PathObjectId, ClassId, CellId),
}

pub struct TermReader<'p> {
    pub parser: &'p Parser,
    pub context: TermContext<'p>,
    pub in_lens: bool,
    /// The width of `it`.
    pub it: u8,
}

const DEEPEST: u32 = 100;

impl TermReader<'_> {
    /// A term; its numbers have their widths.
    pub fn term(&self, cursor: &mut Cursor, wanted: Option<u8>) -> Read<Term> {
        let start = cursor.position();
        let mut term = self.open_term(cursor, 0)?;
        self.settle(&mut term, wanted, cursor.span_from(start))?;
        Ok(term)
    }

    /// Gives numbers without a width that of their surroundings.
    fn settle(&self, term: &mut Term, wanted: Option<u8>, span: Span) -> Read<()> {
        if let Term::Number { width: width @ 0, value } = term {
            let Some(wanted) = wanted else {
                let message = format!("the width of {value} is not known here: write `{value}:u32`");
                return Err(fault(codes::LITERAL, message, span));
            };
            *width = wanted;
        }
        if let Term::Number { width, value } = term {
            if *width < 64 && *value >> *width != 0 {
                return Err(fault(codes::NUMBER, format!("{value} does not fit into {width} bits"), span));
            }
        }
        let widths = self.context.part_widths(term, wanted);
        for (part, width) in parts_mut(term).into_iter().zip(widths) {
            self.settle(part, width, span)?;
        }
        Ok(())
    }

    /// An operand, or two with a sign between.
    fn open_term(&self, cursor: &mut Cursor, depth: u32) -> Read<Term> {
        if depth > DEEPEST {
            return Err(fault(codes::SYNTAX, "a term nested this deep is not read", cursor.span()));
        }
        let a = self.operand(cursor, depth)?;
        let Some(sign) = sign(cursor) else { return Ok(a) };
        let (a, b) = (Box::new(a), Box::new(self.operand(cursor, depth)?));
        Ok(match sign {
            Sign::Binary(op) => Term::Binary { op, a, b },
            Sign::Compare(op) => Term::Compare { op, a, b },
        })
    }

    fn operand(&self, cursor: &mut Cursor, depth: u32) -> Read<Term> {
        if cursor.mark("(") {
            let inner = self.open_term(cursor, depth + 1)?;
            cursor.expect(")")?;
            return Ok(inner);
        }
        if let Some(TokenKind::Number(value)) = cursor.peek() {
            cursor.number()?;
            let width = if cursor.mark(":") { self.width(cursor)? } else { 0 };
            return Ok(Term::Number { width, value: *value });
        }
        if cursor.word("if") {
            let condition = Box::new(self.open_term(cursor, depth + 1)?);
            cursor.expect_word("then")?;
            let then = Box::new(self.open_term(cursor, depth + 1)?);
            cursor.expect_word("else")?;
            return Ok(Term::If { condition, then, otherwise: Box::new(self.open_term(cursor, depth + 1)?) });
        }
        if cursor.word("call") {
            return self.call(cursor, depth);
        }
        if cursor.peek_second() == Some(&TokenKind::Mark("(")) {
            return self.function(cursor, depth);
        }
        self.reference(cursor, depth)
    }

    fn width(&self, cursor: &mut Cursor) -> Read<u8> {
        let span = cursor.span();
        match self.parser.type_at(cursor)? {
            Type::U(width) => Ok(width),
            _ => Err(fault(codes::SYNTAX, "a width is written `uN`", span)),
        }
    }

    /// `call function(args).result`
    fn call(&self, cursor: &mut Cursor, depth: u32) -> Read<Term> {
        let start = cursor.position();
        let name = cursor.path()?.join(".");
        let known = self.parser.automaton.functions.iter().map(|function| function.name.as_str());
        let function = self.parser.automaton.function_named(&name);
        let function = function.ok_or_else(|| unknown("function", &name, cursor.span_from(start), known))?;
        cursor.expect("(")?;
        let args = cursor.list(")", |cursor| self.open_term(cursor, depth + 1))?;
        cursor.expect(".")?;
        Ok(Term::Call { function, args, result: cursor.small()? })
    }

    fn function(&self, cursor: &mut Cursor, depth: u32) -> Read<Term> {
        let (span, name) = (cursor.span(), cursor.name()?);
        cursor.expect("(")?;
        let term = match name.as_str() {
            "not" => Term::Not(Box::new(self.open_term(cursor, depth + 1)?)),
            "fold16" => Term::Fold16(Box::new(self.open_term(cursor, depth + 1)?)),
            "sum16" => Term::Sum16(self.pieces_at(cursor, depth + 1)?),
            "size" => Term::Size { message: self.message_param(cursor)? },
            "param" => Term::StackParam(self.stack_param(cursor)?),
            "meq" => self.masked_equal(cursor)?,
            "armed" | "left" | "null" => {
                let (object, class, cell) = self.cell(cursor)?;
                match name.as_str() {
                    "armed" => Term::Armed { object, class, cell },
                    "left" => Term::Left { object, class, cell },
                    _ => Term::IsNull { object, class, cell },
                }
            }
            "holds" => {
                let (object, class, cell) = self.cell(cursor)?;
                cursor.expect("[")?;
                let index = Box::new(self.open_term(cursor, depth + 1)?);
                cursor.expect("]")?;
                Term::Holds { object, class, cell, index }
            }
            _ => self.other_function(&name, span, cursor, depth)?,
        };
        cursor.expect(")")?;
        Ok(term)
    }

    fn other_function(&self, name: &str, span: Span, cursor: &mut Cursor, depth: u32) -> Read<Term> {
        if let Some((endian, width)) = name.strip_prefix("load_").and_then(field) {
            let message = self.message_param(cursor)?;
            cursor.expect(",")?;
            return Ok(Term::Load { message, at: Box::new(self.open_term(cursor, depth + 1)?), width, endian });
        }
        if let Some(width @ 1..=64) = name.strip_prefix('u').and_then(|digits| digits.parse::<u8>().ok()) {
            return Ok(Term::Cast { width, a: Box::new(self.open_term(cursor, depth + 1)?) });
        }
        const TWO: &[(&str, Sign)] = &[
            ("min", Sign::Binary(TermOp::Min)),
            ("max", Sign::Binary(TermOp::Max)),
            ("add_exact", Sign::Binary(TermOp::AddExact)),
            ("sub_exact", Sign::Binary(TermOp::SubExact)),
            ("seq_lt", Sign::Compare(TermCompare::SeqLt)),
            ("seq_le", Sign::Compare(TermCompare::SeqLe)),
            ("seq_gt", Sign::Compare(TermCompare::SeqGt)),
            ("seq_ge", Sign::Compare(TermCompare::SeqGe)),
        ];
        let Some((_, sign)) = TWO.iter().find(|(known, _)| *known == name) else {
            let known = ["not", "fold16", "sum16", "size", "param", "meq", "armed", "left", "null", "holds"];
            let known = known.into_iter().chain(TWO.iter().map(|(name, _)| *name));
            return Err(unknown("function of terms", name, span, known));
        };
        let a = Box::new(self.open_term(cursor, depth + 1)?);
        cursor.expect(",")?;
        let b = Box::new(self.open_term(cursor, depth + 1)?);
        Ok(match sign {
            Sign::Binary(op) => Term::Binary { op: *op, a, b },
            Sign::Compare(op) => Term::Compare { op: *op, a, b },
        })
    }

    fn masked_equal(&self, cursor: &mut Cursor) -> Read<Term> {
        let message = self.message_param(cursor)?;
        cursor.expect(",")?;
        let at = cursor.small()?;
        cursor.expect(",")?;
        let mask = octets(cursor)?;
        cursor.expect(",")?;
        Ok(Term::MaskedEqual { message, at, mask, value: octets(cursor)? })
    }

    fn stack_param(&self, cursor: &mut Cursor) -> Read<ParamId> {
        let start = cursor.position();
        let name = cursor.path()?.join(".");
        let params = &self.parser.automaton.params;
        let found = params.iter().position(|param| param.name == name).map(ParamId::from);
        let known = params.iter().map(|param| param.name.as_str());
        found.ok_or_else(|| unknown("param", &name, cursor.span_from(start), known))
    }

    fn reference(&self, cursor: &mut Cursor, depth: u32) -> Read<Term> {
        if cursor.peek_second() != Some(&TokenKind::Mark(".")) {
            for (word, value) in [("false", 0), ("true", 1)] {
                if cursor.word(word) {
                    return Ok(Term::Number { width: 1, value });
                }
            }
            if cursor.word("now") {
                return Ok(Term::Now);
            }
            if self.it > 0 && cursor.word("it") {
                return Ok(Term::It { width: self.it });
            }
        }
        match self.named(cursor)? {
            Named::Let(id) => Ok(Term::Let(id)),
            Named::Param(index) => Ok(Term::Param(index)),
            Named::Lens(object, cell) => Ok(Term::Lens { object, cell }),
            Named::Cell(object, class, cell) if cursor.mark("[") => {
                let index = Box::new(self.open_term(cursor, depth + 1)?);
                cursor.expect("]")?;
                Ok(Term::CellAt { object, class, cell, index })
            }
            Named::Cell(object, class, cell) => Ok(Term::Cell { object, class, cell }),
        }
    }

    pub fn named(&self, cursor: &mut Cursor) -> Read<Named> {
        let start = cursor.position();
        let path = cursor.path()?;
        let span = cursor.span_from(start);
        let context = &self.context;
        if let ([name], false) = (&path[..], self.in_lens) {
            if let Some(index) = context.lets.iter().rposition(|(known, _)| known == name) {
                return Ok(Named::Let(index.into()));
            }
            if let Some(index) = context.params.iter().position(|(known, _)| known == name) {
                return Ok(Named::Param(index as u32));
            }
            let known = context.lets.iter().map(|(name, _)| name.as_str());
            let known = known.chain(context.params.iter().map(|(name, _)| name.as_str()));
            return Err(unknown("name", name, span, known));
        }
        let named = path.len() > 1 && (!self.in_lens || context.objects.iter().any(|(name, _)| *name == path[0]));
        let (object, rest) =
            if named { (self.object_named(&path[0], span)?, &path[1..]) } else { (PathObjectId(0), &path[..]) };
        self.cell_of(object, rest, span)
    }

    fn object_named(&self, name: &str, span: Span) -> Read<PathObjectId> {
        let found = self.context.objects.iter().rposition(|(known, _)| known == name);
        let known = self.context.objects.iter().map(|(name, _)| name.as_str());
        found.map(PathObjectId::from).ok_or_else(|| unknown("object", name, span, known))
    }

    pub fn object(&self, cursor: &mut Cursor) -> Read<PathObjectId> {
        let (span, name) = (cursor.span(), cursor.name()?);
        self.object_named(&name, span)
    }

    fn cell_of(&self, object: PathObjectId, rest: &[String], span: Span) -> Read<Named> {
        let lens = self.context.lens(object).ok_or_else(|| fault(codes::OBJECT, "an object without a lens", span))?;
        if let [name] = rest {
            let found = lens.cells.iter().position(|cell| cell.name == *name);
            let known = lens.cells.iter().map(|cell| cell.name.as_str()).chain(TERM_WORDS.iter().copied());
            let found = found.ok_or_else(|| unknown(&format!("cell of lens {}", lens.name), name, span, known))?;
            return Ok(Named::Lens(object, found.into()));
        }
        let (name, class) = rest.split_last().ok_or_else(|| fault(codes::SYNTAX, "a cell belongs here", span))?;
        let class_name = class.join(".");
        let automaton = &self.parser.automaton;
        let known = automaton.classes.iter().map(|class| class.name.as_str());
        let class = automaton.class_named(&class_name).ok_or_else(|| unknown("class", &class_name, span, known))?;
        let known = automaton.class(class).cells.iter().map(|cell| cell.name.as_str());
        let found = automaton.cell_named(class, name).ok_or_else(|| unknown("cell", name, span, known))?;
        Ok(Named::Cell(object, class, found))
    }

    pub fn cell(&self, cursor: &mut Cursor) -> Read<(PathObjectId, ClassId, CellId)> {
        let span = cursor.span();
        match self.named(cursor)? {
            Named::Cell(object, class, cell) => Ok((object, class, cell)),
            _ => Err(fault(codes::OBJECT, "a cell of a class belongs here: `object.layer.Class.cell`", span)),
        }
    }

    pub fn message_param(&self, cursor: &mut Cursor) -> Read<u32> {
        let (span, name) = (cursor.span(), cursor.name()?);
        let params = &self.context.params;
        let found = params.iter().position(|(known, ty)| *known == name && *ty == Type::Msg);
        let known = params.iter().filter(|(_, ty)| *ty == Type::Msg).map(|(name, _)| name.as_str());
        found.map(|index| index as u32).ok_or_else(|| unknown("message", &name, span, known))
    }

    // -- pieces

    pub fn pieces(&self, cursor: &mut Cursor) -> Read<Vec<Piece>> {
        let start = cursor.position();
        let mut pieces = self.pieces_at(cursor, 0)?;
        let span = cursor.span_from(start);
        for piece in &mut pieces {
            let widths = crate::terms::piece_widths(piece);
            for (part, width) in crate::terms::piece_parts_mut(piece).into_iter().zip(widths) {
                self.settle(part, width, span)?;
            }
        }
        Ok(pieces)
    }

    fn pieces_at(&self, cursor: &mut Cursor, depth: u32) -> Read<Vec<Piece>> {
        let mut pieces = vec![self.piece(cursor, depth)?];
        while cursor.mark("++") {
            pieces.push(self.piece(cursor, depth)?);
        }
        if pieces == [Piece::Octets(Vec::new())] {
            pieces.clear();
        }
        Ok(pieces)
    }

    fn piece(&self, cursor: &mut Cursor, depth: u32) -> Read<Piece> {
        if let Some(TokenKind::Text(_)) = cursor.peek() {
            return octets(cursor).map(Piece::Octets);
        }
        if cursor.peek_second() == Some(&TokenKind::Mark("(")) {
            let (span, name) = (cursor.span(), cursor.name()?);
            let Some((endian, width)) = field(&name) else {
                return Err(fault(
                    codes::SYNTAX,
                    format!("`{name}` makes no octets: `be16(x)` or `le32(x)` does"),
                    span,
                ));
            };
            cursor.expect("(")?;
            let mut value = self.open_term(cursor, depth + 1)?;
            cursor.expect(")")?;
            self.settle(&mut value, Some(width), span)?;
            if self.context.width(&value) != Some(width) {
                return Err(fault(codes::TYPE, format!("a term of {width} bits belongs here"), span));
            }
            return Ok(Piece::Field { value, endian });
        }
        match self.named(cursor)? {
            Named::Param(message) => self.message_piece(message, cursor, depth),
            Named::Lens(object, cell) => self.template_piece(object, cell, cursor),
            _ => cursor.wanted("octets, a template, a field or a message"),
        }
    }

    fn message_piece(&self, message: u32, cursor: &mut Cursor, depth: u32) -> Read<Piece> {
        if !cursor.mark("[") {
            return Ok(Piece::Message { message, from: Term::Number { width: 32, value: 0 }, size: None });
        }
        let from = self.open_term(cursor, depth + 1)?;
        let size = if cursor.mark("..") {
            None
        } else {
            cursor.expect(",")?;
            Some(self.open_term(cursor, depth + 1)?)
        };
        cursor.expect("]")?;
        Ok(Piece::Message { message, from, size })
    }

    fn template_piece(&self, object: PathObjectId, cell: LensCellId, cursor: &mut Cursor) -> Read<Piece> {
        let span = cursor.span();
        let Some(LensCellKind::Template { init }) = self.context.lens_cell(object, cell).map(|cell| &cell.kind) else {
            return Err(fault(codes::KIND, "octets come from a template, and this cell is none", span));
        };
        if !cursor.mark("[") {
            return Ok(Piece::Template { object, cell, from: 0, size: init.len() as u32 });
        }
        let from = cursor.small()?;
        cursor.expect(",")?;
        let size = cursor.small()?;
        cursor.expect("]")?;
        Ok(Piece::Template { object, cell, from, size })
    }

    /// `message(pieces under Outer{…} Inner{…})`
    pub fn message(&self, cursor: &mut Cursor) -> Read<MessageTerm> {
        cursor.expect_word("message")?;
        cursor.expect("(")?;
        let octets = self.pieces(cursor)?;
        let mut headers = Vec::new();
        if cursor.word("under") {
            while !cursor.is_mark(")") && !cursor.is_at_end() {
                headers.push(self.header(cursor)?);
            }
        }
        cursor.expect(")")?;
        Ok(MessageTerm { headers, octets })
    }

    fn header(&self, cursor: &mut Cursor) -> Read<(HeaderId, VariantId, Vec<Term>)> {
        let (header, variant) = self.parser.variant_at(cursor)?;
        let automaton = &self.parser.automaton;
        let fields = &automaton.headers[header.index()].variants[variant.index()].fields;
        let span = cursor.span();
        cursor.expect("{")?;
        let mut known = fields.iter();
        let terms = cursor.list("}", |cursor| {
            let Some((name, ty)) = known.next() else { return cursor.wanted("`}`") };
            cursor.expect_word(name)?;
            cursor.expect(":")?;
            self.term(cursor, Some(ty.width(automaton)))
        })?;
        if terms.len() != fields.len() {
            let message = format!("the header has {} fields, and {} are given", fields.len(), terms.len());
            return Err(fault(codes::COUNT, message, span));
        }
        Ok((header, variant, terms))
    }
}

#[derive(Clone, Copy)]
enum Sign {
    Binary(TermOp),
    Compare(TermCompare),
}

fn sign(cursor: &mut Cursor) -> Option<Sign> {
    const SIGNS: &[(&str, Sign)] = &[
        ("+", Sign::Binary(TermOp::Add)),
        ("-", Sign::Binary(TermOp::Sub)),
        ("*", Sign::Binary(TermOp::Mul)),
        ("/", Sign::Binary(TermOp::Div)),
        ("%", Sign::Binary(TermOp::Rem)),
        ("&", Sign::Binary(TermOp::And)),
        ("|", Sign::Binary(TermOp::Or)),
        ("^", Sign::Binary(TermOp::Xor)),
        ("<<", Sign::Binary(TermOp::Shl)),
        (">>", Sign::Binary(TermOp::Shr)),
        ("==", Sign::Compare(TermCompare::Eq)),
        ("!=", Sign::Compare(TermCompare::Ne)),
        ("<", Sign::Compare(TermCompare::Lt)),
        ("<=", Sign::Compare(TermCompare::Le)),
        (">", Sign::Compare(TermCompare::Gt)),
        (">=", Sign::Compare(TermCompare::Ge)),
    ];
    SIGNS.iter().find(|(mark, _)| cursor.mark(mark)).map(|(_, sign)| *sign)
}

/// `be32`, `le16`
fn field(name: &str) -> Option<(Endian, u8)> {
    let (endian, digits) = match name.get(..2)? {
        "be" => (Endian::Big, &name[2..]),
        "le" => (Endian::Little, &name[2..]),
        _ => return None,
    };
    match digits.parse::<u8>() {
        Ok(width @ (8 | 16 | 24 | 32 | 40 | 48 | 56 | 64)) => Some((endian, width)),
        _ => None,
    }
}

/// Octets as pairs of hexadecimal digits in quotes.
pub fn octets(cursor: &mut Cursor) -> Read<Vec<u8>> {
    let span = cursor.span();
    let hex: Vec<u8> = cursor.text()?.bytes().filter(|octet| *octet != b' ').collect();
    let octet = |pair: &[u8]| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let octets: Option<Vec<u8>> = hex.chunks(2).map(|pair| if pair.len() == 2 { octet(pair) } else { None }).collect();
    let bad = || fault(codes::SYNTAX, "octets are written as pairs of hexadecimal digits, as in \"0a ff\"", span);
    octets.ok_or_else(bad)
}
