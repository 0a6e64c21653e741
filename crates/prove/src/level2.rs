//! Lenses and paths as terms: the judge's own reading of `mokume_reaction::paths`.

mod path;

pub use path::PathReading;

use std::collections::BTreeMap;

use mokume_reaction::{
    CellId, ClassId, Effect, Lens, LensCellId, LensCellKind, LensId, LensUpdate, LensValue, MessageTerm, ObjectSource,
    Path, PathArg, Piece, Step, Term as Source, TermCompare, TermOp,
};

use crate::symbolic::{any_state, Message, Object, Origin, Out, Reader, Value};
use crate::term::{Operator, Sort, Term, Terms};

mod uses;

/// The objects of a record, and for each the references on the way to it that must not be null.
type Linked = (BTreeMap<ClassId, Object>, BTreeMap<ClassId, Vec<Term>>);

/// What a lens's record holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Held {
    Bits(Term),
    Octets(Vec<Term>),
}

/// The cells of a lens's record.
pub type Record = BTreeMap<LensCellId, Held>;

/// A record about which nothing is known; `prefix` tells it from others of the lens.
pub fn any_record(terms: &mut Terms, lens: &Lens, prefix: &str) -> Record {
    let mut record = Record::new();
    for (index, cell) in lens.cells.iter().enumerate() {
        let name = format!("{prefix}{}.{}", lens.name, cell.name);
        let held = match &cell.kind {
            LensCellKind::Scalar { width, .. } => Held::Bits(terms.variable(&name, Sort::Bits(u32::from(*width)))),
            LensCellKind::Template { init } => {
                Held::Octets((0..init.len()).map(|i| terms.variable(&format!("{name}[{i}]"), Sort::Bits(8))).collect())
            }
        };
        record.insert(LensCellId::from(index), held);
    }
    record
}

/// A new record, before the initial values of its layered cells are put.
pub fn fresh_record(terms: &mut Terms, lens: &Lens) -> Record {
    let held = |terms: &mut Terms, kind: &LensCellKind| match kind {
        LensCellKind::Scalar { width, init } => Held::Bits(terms.number(*init, u32::from(*width))),
        LensCellKind::Template { init } => {
            Held::Octets(init.iter().map(|octet| terms.number(u64::from(*octet), 8)).collect())
        }
    };
    lens.cells.iter().enumerate().map(|(index, cell)| (LensCellId::from(index), held(terms, &cell.kind))).collect()
}

/// What terms of a lens or a path speak of.
pub struct Scene<'s> {
    pub records: &'s [(LensId, Record)],
    /// For paths: the objects that the steps named, by class.
    pub objects: &'s [BTreeMap<ClassId, Object>],
    pub lets: &'s [Term],
    pub params: &'s [Value],
    pub it: Option<Term>,
    /// Conditions that hold where the terms stand.
    pub known: &'s [Term],
}

impl Reader<'_> {
    /// A term of a lens or path.
    pub fn source_term(&mut self, source: &Source, scene: &Scene<'_>) -> Result<Term, String> {
        Ok(match source {
            Source::Number { width, value } => self.terms.number(*value, u32::from(*width)),
            Source::Let(name) => *scene.lets.get(name.index()).ok_or("a name that is not known yet")?,
            Source::Param(index) => match scene.params.get(*index as usize) {
                Some(Value::Bits(term)) => {
                    let term = *term;
                    self.terms.as_bits(term)
                }
                _ => return Err("no scalar parameter".into()),
            },
            Source::It { .. } => scene.it.ok_or("`it` outside a put")?,
            Source::Lens { object, cell } => {
                let (_, record) = scene.records.get(object.index()).ok_or("a record that is not there")?;
                match record.get(cell) {
                    Some(Held::Bits(term)) => *term,
                    _ => return Err("a template is no number".into()),
                }
            }
            Source::Cell { object, class, cell } => self.layered_cell(scene, object.index(), *class, *cell)?,
            Source::IsNull { object, class, cell } => {
                let object = scene.objects.get(object.index()).and_then(|classes| classes.get(class)).copied();
                let (_, null) =
                    self.follow(object.ok_or("an object that is not there")?, *cell).ok_or("no reference")?;
                self.terms.as_bits(null)
            }
            Source::StackParam(param) => {
                let term = self.parameter(param.0);
                self.terms.as_bits(term)
            }
            Source::Now => self.terms.variable("now", Sort::Bits(64)),
            Source::Size { message } => {
                let message = message_param(scene, *message)?;
                message.size(self.terms)
            }
            Source::Load { message, at, width, endian } => {
                let at = self.source_term(at, scene)?;
                let at = self.terms.constant(at).ok_or("a load at an offset that is not constant")? as u32;
                let message = message_param(scene, *message)?;
                let octets = u32::from(*width) / 8;
                let value = message.number(self.terms, at, octets, *endian);
                self.if_long_enough(&message, at + octets, value, scene)
            }
            Source::MaskedEqual { message, at, mask, value } => {
                let message = message_param(scene, *message)?;
                let mut same = Vec::new();
                for (i, (mask, value)) in mask.iter().zip(value).enumerate() {
                    let octet = message.octet(self.terms, at + i as u32);
                    let mask = self.terms.number(u64::from(*mask), 8);
                    let value = self.terms.number(u64::from(*value), 8);
                    let seen = self.terms.binary(Operator::And, octet, mask);
                    same.push(self.terms.equal(seen, value));
                }
                let all = self.terms.all(&same);
                let bit = self.terms.as_bits(all);
                self.if_long_enough(&message, at + mask.len() as u32, bit, scene)
            }
            Source::Sum16(pieces) => {
                let message = self.assemble(pieces, scene)?;
                message.sum16(self.terms)
            }
            Source::Fold16(a) => {
                let a = self.source_term(a, scene)?;
                crate::symbolic::fold16(self.terms, a)
            }
            Source::Not(a) => {
                let a = self.source_term(a, scene)?;
                let ones = self.terms.number(u64::MAX, self.terms.width(a));
                self.terms.binary(Operator::Xor, a, ones)
            }
            Source::Binary { op, a, b } => {
                let (a, b) = (self.source_term(a, scene)?, self.source_term(b, scene)?);
                self.source_binary(*op, a, b)
            }
            Source::Compare { op, a, b } => {
                let (a, b) = (self.source_term(a, scene)?, self.source_term(b, scene)?);
                let truth = self.source_compare(*op, a, b);
                self.terms.as_bits(truth)
            }
            Source::If { condition, then, otherwise } => {
                let condition = self.condition(condition, scene)?;
                let (then, otherwise) = (self.source_term(then, scene)?, self.source_term(otherwise, scene)?);
                self.terms.choose(condition, then, otherwise)
            }
            Source::Cast { width, a } => {
                let a = self.source_term(a, scene)?;
                self.terms.resize(a, u32::from(*width))
            }
            Source::Holds { object, class, cell, index } => {
                let object = scene.objects.get(object.index()).and_then(|classes| classes.get(class)).copied();
                let index = self.source_term(index, scene)?;
                let holds = self.holds(object.ok_or("an object that is not there")?, *cell, index);
                self.terms.as_bits(holds)
            }
            Source::Left { object, class, cell } => {
                let object = scene.objects.get(object.index()).and_then(|classes| classes.get(class)).copied();
                self.left(object.ok_or("an object that is not there")?, *cell)
            }
            Source::CellAt { .. } | Source::Armed { .. } | Source::Call { .. } => {
                return Err("a term that is not read symbolically".into())
            }
        })
    }

    /// A term of width 1 as a truth value.
    pub fn condition(&mut self, source: &Source, scene: &Scene<'_>) -> Result<Term, String> {
        let term = self.source_term(source, scene)?;
        Ok(self.truth_of_bit(term))
    }

    /// `ite(c, 1, 0)` is `c` again.
    fn truth_of_bit(&mut self, term: Term) -> Term {
        if let crate::term::Node::If(condition, then, otherwise) = *self.terms.node(term) {
            if self.terms.constant(then) == Some(1) && self.terms.constant(otherwise) == Some(0) {
                return condition;
            }
        }
        let one = self.terms.number(1, 1);
        if self.terms.sort(term) == Sort::Bool {
            term
        } else {
            self.terms.equal(term, one)
        }
    }

    fn if_long_enough(&mut self, message: &Message, octets: u32, value: Term, scene: &Scene<'_>) -> Term {
        let size = message.size(self.terms);
        // A guard that has asked for as much makes the question needless, and keys of look-ups the same terms as the layers'.
        let asked = scene.known.iter().any(|fact| match *self.terms.node(*fact) {
            crate::term::Node::LessEqual(least, of) => {
                of == size && self.terms.constant(least).is_some_and(|least| least >= u64::from(octets))
            }
            _ => false,
        });
        if asked {
            return value;
        }
        let (size, end) = (message.size(self.terms), self.terms.number(u64::from(octets), 32));
        let long = self.terms.less_equal(end, size);
        let zero = self.terms.number(0, self.terms.width(value));
        self.terms.choose(long, value, zero)
    }

    /// A layered scalar cell through the lens of a record, as bits.
    fn layered_cell(&mut self, scene: &Scene<'_>, object: usize, class: ClassId, cell: CellId) -> Result<Term, String> {
        let automaton = self.automaton;
        let (lens, record) = scene.records.get(object).ok_or("a record that is not there")?;
        let described = &automaton.lenses[lens.index()];
        let view = described.views.iter().find(|view| (view.class, view.cell) == (class, cell));
        match view {
            Some(view) => {
                let records = [(*lens, record.clone())];
                let inner = Scene { records: &records, objects: &[], lets: &[], params: &[], it: None, known: &[] };
                self.source_term(&view.get, &inner)
            }
            None => {
                // A lens's own terms speak of no object; the laws refuse those that speak of cells that are stored as they are.
                let known = scene.objects.get(object).and_then(|classes| classes.get(&class)).copied();
                let term = match known {
                    Some(known) => self.before(known, cell),
                    None => any_state(self.terms, automaton, class, cell, 0),
                };
                let term = term.ok_or("a cell that is not read symbolically")?;
                Ok(self.terms.as_bits(term))
            }
        }
    }

    fn source_binary(&mut self, op: TermOp, a: Term, b: Term) -> Term {
        let plain = match op {
            TermOp::Add | TermOp::AddExact => Operator::Add,
            TermOp::Sub | TermOp::SubExact => Operator::Sub,
            TermOp::Mul => Operator::Mul,
            TermOp::Div => Operator::Div,
            TermOp::Rem => Operator::Rem,
            TermOp::And => Operator::And,
            TermOp::Or => Operator::Or,
            TermOp::Xor => Operator::Xor,
            TermOp::Shl => Operator::Shl,
            TermOp::Shr => Operator::Shr,
            TermOp::Min | TermOp::Max => {
                let less = self.terms.less(a, b);
                let (then, otherwise) = if op == TermOp::Min { (a, b) } else { (b, a) };
                return self.terms.choose(less, then, otherwise);
            }
        };
        let result = self.terms.binary(plain, a, b);
        if matches!(op, TermOp::Div | TermOp::Rem) {
            let zero = self.terms.number(0, self.terms.width(b));
            let by_zero = self.terms.equal(b, zero);
            return self.terms.choose(by_zero, zero, result);
        }
        result
    }

    fn source_compare(&mut self, op: TermCompare, a: Term, b: Term) -> Term {
        use TermCompare as C;
        match op {
            C::Eq => self.terms.equal(a, b),
            C::Ne => {
                let same = self.terms.equal(a, b);
                self.terms.not(same)
            }
            C::Lt => self.terms.less(a, b),
            C::Le => self.terms.less_equal(a, b),
            C::Gt => self.terms.less(b, a),
            C::Ge => self.terms.less_equal(b, a),
            C::SeqLt | C::SeqLe => self.circular(a, b, op == C::SeqLt),
            C::SeqGt | C::SeqGe => self.circular(b, a, op == C::SeqGt),
        }
    }

    /// The carries of exact operations below a term: conditions that must be false where it is reached.
    pub fn carries(&mut self, source: &Source, scene: &Scene<'_>, found: &mut Vec<Term>) -> Result<(), String> {
        match source {
            Source::Binary { op, a, b } => {
                self.carries(a, scene, found)?;
                self.carries(b, scene, found)?;
                let (x, y) = (self.source_term(a, scene)?, self.source_term(b, scene)?);
                match op {
                    TermOp::AddExact => {
                        let sum = self.terms.binary(Operator::Add, x, y);
                        found.push(self.terms.less(sum, x));
                    }
                    TermOp::SubExact => found.push(self.terms.less(x, y)),
                    _ => {}
                }
                Ok(())
            }
            Source::Not(a) | Source::Fold16(a) | Source::Cast { a, .. } => self.carries(a, scene, found),
            Source::Compare { a, b, .. } => {
                self.carries(a, scene, found)?;
                self.carries(b, scene, found)
            }
            Source::If { condition, then, otherwise } => {
                self.carries(condition, scene, found)?;
                self.carries(then, scene, found)?;
                self.carries(otherwise, scene, found)
            }
            _ => Ok(()),
        }
    }

    /// Octets of a run of pieces: known ones in front, then at most one stretch of a message, at the end.
    pub fn assemble(&mut self, pieces: &[Piece], scene: &Scene<'_>) -> Result<Message, String> {
        let zero = self.terms.number(0, 32);
        let nothing = self.terms.variable("nothing", Sort::Octets);
        let mut message = Message::of(Vec::new(), nothing, zero, zero);
        let mut closed = false;
        for piece in pieces {
            if closed {
                return Err("octets behind a message's".into());
            }
            match piece {
                Piece::Message { message: index, from, size } => {
                    closed = true;
                    let from = self.source_term(from, scene)?;
                    let from = self.terms.constant(from).ok_or("a message from an offset that is not constant")?;
                    let mut tail = message_param(scene, *index)?;
                    tail.skip(self.terms, from as u32);
                    if let Some(size) = size {
                        let size = self.source_term(size, scene)?;
                        tail.trim(self.terms, size);
                    }
                    message.front.append(&mut tail.front);
                    message.base = tail.base;
                }
                other => message.front.append(&mut self.known_octets(other, scene)?),
            }
        }
        Ok(message)
    }

    fn known_octets(&mut self, piece: &Piece, scene: &Scene<'_>) -> Result<Vec<Term>, String> {
        Ok(match piece {
            Piece::Octets(octets) => octets.iter().map(|octet| self.terms.number(u64::from(*octet), 8)).collect(),
            Piece::Template { object, cell, from, size } => {
                let (_, record) = scene.records.get(object.index()).ok_or("a record that is not there")?;
                let Some(Held::Octets(octets)) = record.get(cell) else { return Err("a number is no template".into()) };
                let (from, size) = (*from as usize, *size as usize);
                octets.get(from..from + size).ok_or("octets beyond the template")?.to_vec()
            }
            Piece::Field { value, endian } => {
                let value = self.source_term(value, scene)?;
                crate::symbolic::split(self.terms, value, *endian)
            }
            Piece::Message { .. } => return Err("a message among known octets".into()),
        })
    }

    /// A parallel assignment to a record.
    pub fn update(&mut self, record: &Record, updates: &[LensUpdate], scene: &Scene<'_>) -> Result<Record, String> {
        let mut next = record.clone();
        for update in updates {
            next.insert(update.cell, self.lens_value(&update.value, scene)?);
        }
        Ok(next)
    }

    pub fn lens_value(&mut self, value: &LensValue, scene: &Scene<'_>) -> Result<Held, String> {
        Ok(match value {
            LensValue::Term(term) => Held::Bits(self.source_term(term, scene)?),
            LensValue::Octets(pieces) => {
                let mut octets = Vec::new();
                for piece in pieces {
                    octets.append(&mut self.known_octets(piece, scene)?);
                }
                Held::Octets(octets)
            }
        })
    }

    /// A lens's invariants over one of its records, and the record of the lens around it where there is one.
    pub fn invariants(
        &mut self,
        lens: LensId,
        record: &Record,
        around: Option<(LensId, &Record)>,
    ) -> Result<Vec<Term>, String> {
        let automaton = self.automaton;
        let mut records = vec![(lens, record.clone())];
        records.extend(around.map(|(id, record)| (id, record.clone())));
        let scene = Scene { records: &records, objects: &[], lets: &[], params: &[], it: None, known: &[] };
        automaton.lenses[lens.index()].invariants.iter().map(|invariant| self.condition(invariant, &scene)).collect()
    }
}

fn message_param(scene: &Scene<'_>, index: u32) -> Result<Message, String> {
    match scene.params.get(index as usize) {
        Some(Value::Message(message)) => Ok((**message).clone()),
        _ => Err("no message parameter".into()),
    }
}
