//! Terms of paths and lenses as expressions of C: bit-vectors in `uint64_t`, cut to their width wherever they could exceed it.

use std::collections::BTreeMap;

use mokume_reaction::*;

use crate::plan::Plan;
use crate::text::{literal, octets, Text};
use crate::types::{c_type, mask};

/// A record that terms speak of.
pub(crate) struct Record {
    pub lens: LensId,
    /// The record, as a pointer; empty if the lens has no cells of its own.
    pub pointer: String,
    /// The numbers of its objects, by class.
    pub numbers: BTreeMap<ClassId, String>,
}

/// What terms may speak of, and where statements go that an expression needs before it.
pub(crate) struct TermWriter<'p, 'a> {
    pub plan: &'p Plan<'a>,
    pub text: Text,
    pub records: Vec<Record>,
    pub lets: Vec<(String, u8)>,
    /// The event's parameters: their names and types.
    pub params: Vec<(String, Type)>,
    temporaries: usize,
}

impl<'p, 'a> TermWriter<'p, 'a> {
    pub fn new(plan: &'p Plan<'a>) -> Self {
        TermWriter {
            plan,
            text: Text::default(),
            records: Vec::new(),
            lets: Vec::new(),
            params: Vec::new(),
            temporaries: 0,
        }
    }

    pub fn temporary(&mut self, what: &str) -> String {
        self.temporaries += 1;
        format!("{what}{}", self.temporaries)
    }

    /// The number of a record's object of a class.
    pub fn number(&self, object: PathObjectId, class: ClassId) -> String {
        let record = self.records.get(object.index());
        record.and_then(|record| record.numbers.get(&class)).cloned().unwrap_or_else(|| "0".into())
    }

    /// A layered cell as it is stored.
    pub fn stored(&self, object: PathObjectId, class: ClassId, cell: CellId) -> String {
        let names = &self.plan.names;
        let (class_name, cell_name) = (&names.classes[class.index()], &names.cells[class.index()][cell.index()]);
        format!("k->{class_name}[{}].{cell_name}", self.number(object, class))
    }

    /// A cell of a record.
    pub fn lens_cell(&self, object: PathObjectId, cell: LensCellId) -> String {
        let record = &self.records[object.index()];
        format!("{}->{}", record.pointer, self.plan.lens_cell_name(record.lens, cell))
    }

    fn message(&self, index: u32) -> String {
        self.params.get(index as usize).map_or("m".into(), |(name, _)| name.clone())
    }

    /// The width of a term.
    pub fn width(&self, term: &Term) -> u8 {
        let automaton = self.plan.automaton;
        match term {
            Term::Number { width, .. } | Term::It { width } | Term::Load { width, .. } | Term::Cast { width, .. } => {
                *width
            }
            Term::Let(id) => self.lets.get(id.index()).map_or(64, |(_, width)| *width),
            Term::Param(index) => self.params.get(*index as usize).map_or(64, |(_, ty)| ty.width(automaton)),
            Term::Lens { object, cell } => {
                let lens = &automaton.lenses[self.records[object.index()].lens.index()];
                match lens.cells[cell.index()].kind {
                    LensCellKind::Scalar { width, .. } => width,
                    LensCellKind::Template { .. } => 64,
                }
            }
            Term::Cell { class, cell, .. } | Term::CellAt { class, cell, .. } => {
                match &automaton.cell(*class, *cell).kind {
                    CellKind::Scalar { ty, .. } | CellKind::Array { ty, .. } => ty.width(automaton),
                    _ => 64,
                }
            }
            Term::IsNull { .. }
            | Term::Armed { .. }
            | Term::Holds { .. }
            | Term::MaskedEqual { .. }
            | Term::Compare { .. } => 1,
            Term::Left { .. } | Term::Size { .. } | Term::Sum16(_) => 32,
            Term::StackParam(param) => automaton.params[param.index()].ty.width(automaton),
            Term::Now => 64,
            Term::Fold16(_) => 16,
            Term::Not(a) => self.width(a),
            Term::Binary { a, .. } => self.width(a),
            Term::If { then, .. } => self.width(then),
            Term::Call { function, result, .. } => {
                let results = &automaton.functions[function.index()].results;
                results.get(*result as usize).map_or(64, |ty| ty.width(automaton))
            }
        }
    }

    /// The term, as an expression without effects; statements before it may have been written.
    pub fn term(&mut self, term: &Term) -> String {
        match term {
            Term::Number { value, .. } => literal(*value),
            Term::Let(id) => self.lets.get(id.index()).map_or("0".into(), |(name, _)| name.clone()),
            Term::Param(index) => self.message(*index),
            Term::It { .. } => "it".into(),
            Term::Lens { object, cell } => self.lens_cell(*object, *cell),
            Term::Cell { object, class, cell } => match self.plan.view(*class, *cell) {
                Some(_) => {
                    format!("{}(k, {})", self.plan.accessor("get", *class, *cell), self.number(*object, *class))
                }
                None => self.stored(*object, *class, *cell),
            },
            Term::CellAt { object, class, cell, index } => {
                let (array, index) = (self.stored(*object, *class, *cell), self.term(index));
                let size = size_of(self.plan.automaton, *class, *cell);
                format!("({index} < {size} ? {array}[{index}] : 0)")
            }
            Term::IsNull { object, class, cell } => {
                format!("(mk_number({}) == MK_NOBODY)", self.stored(*object, *class, *cell))
            }
            Term::Armed { object, class, cell } => format!("mk_timer_armed(&{})", self.stored(*object, *class, *cell)),
            Term::Left { object, class, cell } => self.stored(*object, *class, *cell),
            Term::Holds { object, class, cell, index } => {
                let (places, index) = (self.stored(*object, *class, *cell), self.term(index));
                let size = size_of(self.plan.automaton, *class, *cell);
                format!("({index} < {size} && {places}[{index}] != NULL)")
            }
            Term::StackParam(param) => format!("k->params.{}", self.plan.names.params[param.index()]),
            Term::Now => "k->core.now".into(),
            Term::Size { message } => format!("{}->view.size", self.message(*message)),
            Term::Load { message, at, width, endian } => {
                let (message, at) = (self.message(*message), self.term(at));
                format!("mk_peek({message}, {at}, {}, {})", width / 8, *endian == Endian::Little)
            }
            Term::MaskedEqual { message, at, mask, value } => self.masked_equal(*message, *at, mask, value),
            Term::Sum16(pieces) => self.sum16(pieces),
            Term::Fold16(a) => format!("mk_fold16((uint32_t){})", self.operand(a)),
            Term::Not(a) if self.width(a) == 1 => format!("!{}", self.operand(a)),
            Term::Not(a) => {
                let text = format!("~(uint64_t){}", self.operand(a));
                self.cut(text, self.width(a))
            }
            Term::Binary { op, a, b } => self.binary(*op, a, b),
            Term::Compare { op, a, b } => self.compare(*op, a, b),
            Term::If { condition, then, otherwise } => {
                format!("({} ? {} : {})", self.operand(condition), self.operand(then), self.operand(otherwise))
            }
            Term::Cast { width, a } => {
                let (from, text) = (self.width(a), self.operand(a));
                match (*width >= from, *width) {
                    (true, _) => text,
                    (false, 1) => format!("({text} & 1u)"),
                    (false, width) => self.cut(text, width),
                }
            }
            Term::Call { function, args, result } => self.call(*function, args, *result),
        }
    }

    /// As [`Self::term`], in parentheses where it is not simple.
    pub fn operand(&mut self, term: &Term) -> String {
        let text = self.term(term);
        let simple = text.chars().all(|c| c.is_ascii_alphanumeric() || "_->.[]".contains(c));
        match simple || (text.starts_with('(') && text.ends_with(')') && balanced(&text)) {
            true => text,
            false => format!("({text})"),
        }
    }

    fn cut(&self, text: String, width: u8) -> String {
        match width {
            64.. => format!("({text})"),
            8 | 16 | 32 => format!("(uint{width}_t)({text})"),
            _ => format!("(({text}) & {})", literal(mask(width))),
        }
    }

    fn binary(&mut self, op: TermOp, a: &Term, b: &Term) -> String {
        let width = self.width(a);
        let (x, y) = (self.operand(a), self.operand(b));
        match op {
            TermOp::Add | TermOp::AddExact => self.cut(format!("(uint64_t){x} + {y}"), width),
            TermOp::Sub | TermOp::SubExact => self.cut(format!("(uint64_t){x} - {y}"), width),
            TermOp::Mul => self.cut(format!("(uint64_t){x} * {y}"), width),
            TermOp::Div => format!("mk_quotient({x}, {y})"),
            TermOp::Rem => format!("mk_remainder({x}, {y})"),
            TermOp::And => format!("({x} & {y})"),
            TermOp::Or => format!("({x} | {y})"),
            TermOp::Xor => format!("({x} ^ {y})"),
            TermOp::Shl => format!("mk_shl({x}, {y}, {width}, {})", literal(mask(width))),
            TermOp::Shr => format!("mk_shr({x}, {y}, {width})"),
            TermOp::Min => format!("({x} < {y} ? {x} : {y})"),
            TermOp::Max => format!("({x} > {y} ? {x} : {y})"),
        }
    }

    fn compare(&mut self, op: TermCompare, a: &Term, b: &Term) -> String {
        use TermCompare as C;
        let all = literal(mask(self.width(a)));
        let (x, y) = (self.operand(a), self.operand(b));
        match op {
            C::Eq => format!("({x} == {y})"),
            C::Ne => format!("({x} != {y})"),
            C::Lt => format!("({x} < {y})"),
            C::Le => format!("({x} <= {y})"),
            C::Gt => format!("({x} > {y})"),
            C::Ge => format!("({x} >= {y})"),
            C::SeqLt => format!("mk_seq_before({x}, {y}, {all})"),
            C::SeqLe => format!("({x} == {y} || mk_seq_before({x}, {y}, {all}))"),
            C::SeqGt => format!("mk_seq_before({y}, {x}, {all})"),
            C::SeqGe => format!("({x} == {y} || mk_seq_before({y}, {x}, {all}))"),
        }
    }

    /// Wide compares: the octets and their mask are constants, compared eight at a time.
    fn masked_equal(&mut self, message: u32, at: u32, mask: &[u8], value: &[u8]) -> String {
        let (m, mask_name, value_name) = (self.message(message), self.temporary("mask"), self.temporary("value"));
        self.text.line(format!("static const uint8_t {mask_name}[] = {};", octets(mask)));
        self.text.line(format!("static const uint8_t {value_name}[] = {};", octets(value)));
        format!("mk_masked_equal({m}, {at}, {mask_name}, {value_name}, {})", mask.len())
    }

    /// A sum over pieces: a piece that begins at an odd place counts with its octets exchanged.
    fn sum16(&mut self, pieces: &[Piece]) -> String {
        let (sum, at) = (self.temporary("sum"), self.temporary("at"));
        self.text.line(format!("uint32_t {sum} = 0, {at} = 0;"));
        for piece in pieces {
            let (octets, size) = match piece {
                Piece::Octets(content) => {
                    let name = self.temporary("octets");
                    self.text.line(format!("static const uint8_t {name}[] = {};", octets(content)));
                    (name, content.len().to_string())
                }
                Piece::Template { object, cell, from, size } => {
                    (format!("{} + {from}", self.lens_cell(*object, *cell)), size.to_string())
                }
                Piece::Field { value, endian } => {
                    let size = self.width(value).div_ceil(8);
                    let (name, value) = (self.temporary("field"), self.term(value));
                    let order = if *endian == Endian::Little { "le" } else { "be" };
                    self.text.line(format!("uint8_t {name}[{size}];"));
                    self.text.line(format!("mk_put_{order}({name}, {size}, {value});"));
                    (name, size.to_string())
                }
                Piece::Message { message, from, size } => {
                    let (m, from, part) = (self.message(*message), self.term(from), self.temporary("part"));
                    let size = size.as_ref().map_or("UINT32_MAX".into(), |size| self.term(size));
                    self.text.line(format!("mk_octets {part} = mk_part({m}, {from}, {size});"));
                    (format!("{part}.at"), format!("{part}.size"))
                }
            };
            self.text.line(format!("{sum} += mk_sum16_at({at}, {octets}, {size});"));
            self.text.line(format!("{at} += {size};"));
        }
        self.text.line(format!("(void){at};"));
        sum
    }

    fn call(&mut self, function: FunctionId, args: &[Term], result: u32) -> String {
        let declared = &self.plan.automaton.functions[function.index()];
        let name = self.plan.names.functions[function.index()].clone();
        let mut list = vec!["k".to_string()];
        for (arg, (_, ty)) in args.iter().zip(&declared.params) {
            list.push(format!("({}){}", c_type(self.plan.automaton, *ty), self.operand(arg)));
        }
        if declared.results.len() == 1 {
            return format!("{name}({})", list.join(", "));
        }
        let mut wanted = String::new();
        for (place, ty) in declared.results.iter().enumerate() {
            let temporary = self.temporary("result");
            self.text.line(format!("{} {temporary};", c_type(self.plan.automaton, *ty)));
            list.push(format!("&{temporary}"));
            if place == result as usize {
                wanted = temporary;
            }
        }
        self.text.line(format!("{name}({});", list.join(", ")));
        wanted
    }
}

/// The number of places of an array or of a cell of messages.
pub(crate) fn size_of(automaton: &Automaton, class: ClassId, cell: CellId) -> u32 {
    match automaton.cell(class, cell).kind {
        CellKind::Array { size, .. } | CellKind::Messages { size, .. } => size,
        _ => 0,
    }
}

/// Whether the first parenthesis is closed by the last.
fn balanced(text: &str) -> bool {
    let mut depth = 0;
    for (place, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 && place + 1 < text.len() {
            return false;
        }
    }
    true
}
