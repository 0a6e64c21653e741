//! Paths and lenses on one concrete state: a running stack of the interpreter, and one record for each lens.
//!
//! Written from the form's own comments; shares no code with the symbolic reading, the optimiser or a back end.

use std::collections::BTreeMap;

use mokume_interpret::{CellView, Instance};
use mokume_reaction::{
    Automaton, CellId, CellKind, ClassId, Datum, Effect, Endian, Handle, Lens, LensCellKind, LensId, LensUpdate,
    LensValue, LinkKind, ObjectSource, Output, Path, PathArg, PathObjectId, Piece, Step, Term, TermCompare, TermOp,
    Type,
};

#[derive(Clone, PartialEq, Debug)]
pub enum Held {
    Number(u64),
    Octets(Vec<u8>),
}

pub type Record = Vec<Held>;

/// The state: layered cells of `stack` where they have no view, else the records.
pub struct State<'a> {
    pub automaton: &'a Automaton,
    pub stack: &'a Instance,
    pub records: BTreeMap<LensId, Record>,
}

/// What a path did: its outs, and the layered cells as its lenses show them afterwards.
#[derive(Clone, PartialEq, Debug)]
pub struct Taken {
    pub outputs: Vec<Output>,
    pub cells: BTreeMap<(ClassId, CellId), u64>,
}

#[derive(Default)]
struct Names {
    objects: Vec<(LensId, BTreeMap<ClassId, Handle>)>,
    /// Value and width.
    lets: Vec<(u64, u8)>,
    params: Vec<u8>,
    it: u64,
}

fn mask(width: u8) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

/// A new record, before the layered initial values are put.
pub fn fresh(lens: &Lens) -> Record {
    let held = |kind: &LensCellKind| match kind {
        LensCellKind::Scalar { init, .. } => Held::Number(*init),
        LensCellKind::Template { init } => Held::Octets(init.clone()),
    };
    lens.cells.iter().map(|cell| held(&cell.kind)).collect()
}

impl State<'_> {
    /// The path on an event; nothing if it exits.
    pub fn take(&mut self, path: &Path, args: &[Datum]) -> Option<Taken> {
        let input = &self.automaton.ports[path.port.index()].inputs[path.event as usize];
        let params = input.params.iter().map(|(_, ty)| ty.width(self.automaton)).collect();
        let mut names = Names { params, ..Names::default() };
        for step in &path.steps {
            match step {
                Step::Object { lens, from, .. } => {
                    let objects = self.object(from, *lens, &names, args)?;
                    names.objects.push((*lens, objects));
                }
                Step::Let { width, term, .. } => {
                    let value = self.term(term, &names, args).0;
                    names.lets.push((value, *width));
                }
                Step::Guard { condition, refresh } => {
                    if self.term(condition, &names, args).0 == 1 {
                        continue;
                    }
                    let lens = names.objects[(*refresh)?.index()].0;
                    let updates = self.automaton.lenses[lens.index()].refresh.clone();
                    self.update(lens, &updates, 0);
                    if self.term(condition, &names, args).0 == 0 {
                        return None;
                    }
                }
            }
        }
        let outputs = path.outs.iter().map(|out| {
            let args = out.args.iter().map(|arg| self.argument(arg, &names, args)).collect();
            Output { port: out.port, event: out.event, args }
        });
        let outputs = outputs.collect();
        let cells = self.commit(path, &names, args);
        Some(Taken { outputs, cells })
    }

    /// A parallel assignment to a lens's record; `it` is the value put.
    pub fn update(&mut self, lens: LensId, updates: &[LensUpdate], it: u64) {
        let names = Names { objects: vec![(lens, BTreeMap::new())], it, ..Names::default() };
        let mut next = self.records[&lens].clone();
        for update in updates {
            next[update.cell.index()] = self.value(&update.value, &names, &[]);
        }
        self.records.insert(lens, next);
    }

    /// Whether all invariants of a lens hold.
    pub fn keeps_invariants(&self, lens: LensId) -> bool {
        let mut names = Names { objects: vec![(lens, BTreeMap::new())], ..Names::default() };
        if let Some(around) = self.automaton.lenses[lens.index()].around {
            names.objects.push((around, BTreeMap::new()));
        }
        self.automaton.lenses[lens.index()].invariants.iter().all(|term| self.term(term, &names, &[]).0 == 1)
    }

    /// What the views of a lens show.
    pub fn shown(&self, lens: LensId) -> BTreeMap<(ClassId, CellId), u64> {
        let names = Names { objects: vec![(lens, BTreeMap::new())], ..Names::default() };
        let views = &self.automaton.lenses[lens.index()].views;
        views.iter().map(|view| ((view.class, view.cell), self.term(&view.get, &names, &[]).0)).collect()
    }

    fn commit(&mut self, path: &Path, names: &Names, args: &[Datum]) -> BTreeMap<(ClassId, CellId), u64> {
        let mut cells = BTreeMap::new();
        let mut records = self.records.clone();
        for effect in &path.commit {
            match effect {
                Effect::SetLens { object, cell, value } => {
                    let held = self.value(value, names, args);
                    records.get_mut(&names.objects[object.index()].0).unwrap()[cell.index()] = held;
                }
                Effect::Set { class, cell, value, .. } => {
                    cells.insert((*class, *cell), self.term(value, names, args).0);
                }
                Effect::Drop { .. } | Effect::Consume { .. } => {}
                other => panic!("{other:?} is not read by this evaluator"),
            }
        }
        self.records = records;
        for (lens, _) in &names.objects {
            cells.extend(self.shown(*lens));
        }
        cells
    }

    fn object(
        &self,
        from: &ObjectSource,
        lens: LensId,
        names: &Names,
        args: &[Datum],
    ) -> Option<BTreeMap<ClassId, Handle>> {
        let of = |object: &PathObjectId, class: &ClassId| names.objects[object.index()].1.get(class).copied();
        let (class, handle) = match from {
            ObjectSource::Param(index) => {
                let Datum::Handle(handle) = &args[*index as usize] else { return None };
                let classes = &self.automaton.lenses[lens.index()].classes;
                let class = classes.iter().find(|class| self.stack.objects(**class).contains(handle))?;
                (*class, *handle)
            }
            ObjectSource::Unique(class) => (*class, self.stack.objects(*class)[0]),
            ObjectSource::Parent(object, class) => {
                let inner = &names.objects[object.index()].1;
                let (child, handle) = inner.iter().find(|(c, _)| self.automaton.class(**c).parent == Some(*class))?;
                (*class, self.stack.parent(*child, *handle)?)
            }
            ObjectSource::Cell(object, class, cell) => {
                let CellKind::Scalar { ty: Type::Ref(referred), .. } = self.automaton.cell(*class, *cell).kind else {
                    return None;
                };
                (referred, self.reference(*class, of(object, class)?, *cell)?)
            }
            ObjectSource::Find { object, class, cell, key, value } => {
                let wanted: Vec<u64> = key.iter().map(|term| self.term(term, names, args).0).collect();
                let CellView::Map(entries) = self.stack.cell(*class, of(object, class)?, *cell)? else { return None };
                let (_, values) = entries.iter().find(|(key, _)| *key == wanted.as_slice())?;
                let CellKind::Map { value: types, .. } = &self.automaton.cell(*class, *cell).kind else { return None };
                let Type::Ref(referred) = types[*value as usize] else { return None };
                (referred, handle(values[*value as usize])?)
            }
        };
        let mut found = BTreeMap::from([(class, handle)]);
        self.link(lens, &mut found);
        Some(found)
    }

    /// The other objects of the record, along 1:1 links.
    fn link(&self, lens: LensId, found: &mut BTreeMap<ClassId, Handle>) {
        let classes = &self.automaton.lenses[lens.index()].classes;
        for _ in classes {
            for link in self.automaton.links.iter().filter(|link| link.kind == LinkKind::OneToOne) {
                for (here, there) in [(link.above, link.below), (link.below, link.above)] {
                    if let (Some(at), Some(cell)) = (found.get(&here.0).copied(), here.1) {
                        if let Some(other) = self.reference(here.0, at, cell).filter(|_| classes.contains(&there.0)) {
                            found.insert(there.0, other);
                        }
                    }
                }
            }
        }
    }

    fn reference(&self, class: ClassId, object: Handle, cell: CellId) -> Option<Handle> {
        match self.stack.cell(class, object, cell)? {
            CellView::Word(word) => handle(word),
            _ => None,
        }
    }

    /// A term's value and width.
    fn term(&self, term: &Term, names: &Names, args: &[Datum]) -> (u64, u8) {
        let own = |term: &Term| self.term(term, names, args);
        let (value, width) = match term {
            Term::Number { width, value } => (*value, *width),
            Term::Let(id) => names.lets[id.index()],
            Term::Param(index) => match &args[*index as usize] {
                Datum::Word(word) => (*word, names.params[*index as usize]),
                other => panic!("{other:?} is no number"),
            },
            Term::It { width } => (names.it, *width),
            Term::Lens { object, cell } => {
                let lens = names.objects[object.index()].0;
                let LensCellKind::Scalar { width, .. } = self.automaton.lenses[lens.index()].cells[cell.index()].kind
                else {
                    panic!("a template is no number")
                };
                let Held::Number(value) = &self.records[&lens][cell.index()] else { panic!("octets for a number") };
                (*value, width)
            }
            Term::Cell { object, class, cell } => self.cell(names, *object, *class, *cell, args),
            Term::IsNull { object, class, cell } => {
                let at = names.objects[object.index()].1.get(class);
                let null = at.is_none_or(|at| self.reference(*class, *at, *cell).is_none());
                (u64::from(null), 1)
            }
            Term::Holds { object, class, cell, index } => {
                let at = names.objects[object.index()].1[class];
                let place = own(index).0 as usize;
                let Some(CellView::Messages(places)) = self.stack.cell(*class, at, *cell) else { return (0, 1) };
                (u64::from(places.get(place).is_some_and(|place| place.is_some())), 1)
            }
            Term::Size { message } => (message_of(args, *message).len() as u64, 32),
            Term::Load { message, at, width, endian } => {
                let (at, size) = (own(at).0 as usize, usize::from(*width) / 8);
                (message_of(args, *message).get(at..at + size).map_or(0, |octets| number(octets, *endian)), *width)
            }
            Term::MaskedEqual { message, at, mask, value } => {
                let at = *at as usize;
                let found = message_of(args, *message).get(at..at + mask.len());
                let same = |octets: &[u8]| octets.iter().zip(mask).zip(value).all(|((o, m), v)| o & m == *v);
                (u64::from(found.is_some_and(same)), 1)
            }
            Term::Sum16(pieces) => {
                let octets = self.pieces(pieces, names, args);
                let word = |pair: &[u8]| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u32::from(*low));
                (u64::from(octets.chunks(2).fold(0u32, |sum, pair| sum.wrapping_add(word(pair)))), 32)
            }
            Term::Fold16(a) => {
                let sum = own(a).0;
                let once = (sum & 0xffff) + (sum >> 16);
                ((once & 0xffff) + (once >> 16), 16)
            }
            Term::Not(a) => {
                let (value, width) = own(a);
                (!value, width)
            }
            Term::Binary { op, a, b } => {
                let ((x, width), (y, _)) = (own(a), own(b));
                (arithmetic(*op, x, y, width), width)
            }
            Term::Compare { op, a, b } => {
                let ((x, width), (y, _)) = (own(a), own(b));
                (u64::from(compare(*op, x, y, width)), 1)
            }
            Term::If { condition, then, otherwise } => {
                let (_, width) = own(then);
                (if own(condition).0 == 1 { own(then).0 } else { own(otherwise).0 }, width)
            }
            Term::Cast { width, a } => (own(a).0, *width),
            other => panic!("{other:?} is not read by this evaluator"),
        };
        (value & mask(width), width)
    }

    fn cell(&self, names: &Names, object: PathObjectId, class: ClassId, cell: CellId, args: &[Datum]) -> (u64, u8) {
        let (lens, objects) = &names.objects[object.index()];
        let CellKind::Scalar { ty, .. } = self.automaton.cell(class, cell).kind else { panic!("no scalar cell") };
        let views = &self.automaton.lenses[lens.index()].views;
        if let Some(view) = views.iter().find(|view| (view.class, view.cell) == (class, cell)) {
            let inner = Names { objects: vec![(*lens, objects.clone())], ..Names::default() };
            return self.term(&view.get, &inner, args);
        }
        match objects.get(&class).and_then(|at| self.stack.cell(class, *at, cell)) {
            Some(CellView::Word(word)) => (word, ty.width(self.automaton)),
            _ => (0, ty.width(self.automaton)),
        }
    }

    fn value(&self, value: &LensValue, names: &Names, args: &[Datum]) -> Held {
        match value {
            LensValue::Term(term) => Held::Number(self.term(term, names, args).0),
            LensValue::Octets(pieces) => Held::Octets(self.pieces(pieces, names, args)),
        }
    }

    fn pieces(&self, pieces: &[Piece], names: &Names, args: &[Datum]) -> Vec<u8> {
        let mut all = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Octets(octets) => all.extend(octets),
                Piece::Template { object, cell, from, size } => {
                    let lens = names.objects[object.index()].0;
                    let Held::Octets(octets) = &self.records[&lens][cell.index()] else { panic!("no template") };
                    all.extend(&octets[*from as usize..(*from + *size) as usize]);
                }
                Piece::Field { value, endian } => {
                    let (value, width) = self.term(value, names, args);
                    let octets = value.to_be_bytes()[8 - usize::from(width) / 8..].to_vec();
                    match endian {
                        Endian::Big => all.extend(octets),
                        Endian::Little => all.extend(octets.into_iter().rev()),
                    }
                }
                Piece::Message { message, from, size } => {
                    let octets = message_of(args, *message);
                    let from = (self.term(from, names, args).0 as usize).min(octets.len());
                    let size = size.as_ref().map_or(usize::MAX, |size| self.term(size, names, args).0 as usize);
                    all.extend(&octets[from..from.saturating_add(size).min(octets.len())]);
                }
            }
        }
        all
    }

    fn argument(&self, arg: &PathArg, names: &Names, args: &[Datum]) -> Datum {
        match arg {
            PathArg::Term(term) => Datum::Word(self.term(term, names, args).0),
            PathArg::Object(object, class) => Datum::Handle(names.objects[object.index()].1[class]),
            PathArg::Message(message) => Datum::Message(self.pieces(&message.octets, names, args)),
        }
    }
}

fn message_of(args: &[Datum], index: u32) -> &[u8] {
    match &args[index as usize] {
        Datum::Message(octets) => octets,
        other => panic!("{other:?} is no message"),
    }
}

fn handle(word: u64) -> Option<Handle> {
    (word != u64::MAX).then_some(Handle { object: word as u32, generation: (word >> 32) as u32 })
}

fn number(octets: &[u8], endian: Endian) -> u64 {
    let join = |value: u64, octet: &u8| value << 8 | u64::from(*octet);
    match endian {
        Endian::Big => octets.iter().fold(0, join),
        Endian::Little => octets.iter().rev().fold(0, join),
    }
}

fn arithmetic(op: TermOp, a: u64, b: u64, width: u8) -> u64 {
    match op {
        TermOp::Add | TermOp::AddExact => a.wrapping_add(b),
        TermOp::Sub | TermOp::SubExact => a.wrapping_sub(b),
        TermOp::Mul => a.wrapping_mul(b),
        TermOp::Div => a.checked_div(b).unwrap_or(0),
        TermOp::Rem => a.checked_rem(b).unwrap_or(0),
        TermOp::And => a & b,
        TermOp::Or => a | b,
        TermOp::Xor => a ^ b,
        TermOp::Shl if b < u64::from(width) => a << b,
        TermOp::Shr if b < u64::from(width) => a >> b,
        TermOp::Shl | TermOp::Shr => 0,
        TermOp::Min => a.min(b),
        TermOp::Max => a.max(b),
    }
}

fn compare(op: TermCompare, a: u64, b: u64, width: u8) -> bool {
    let (a, b) = (a & mask(width), b & mask(width));
    let ahead = |from: u64, to: u64| to.wrapping_sub(from) & mask(width);
    let half = 1u64 << (width - 1);
    let before = |x: u64, y: u64| (1..half).contains(&ahead(x, y));
    match op {
        TermCompare::Eq => a == b,
        TermCompare::Ne => a != b,
        TermCompare::Lt => a < b,
        TermCompare::Le => a <= b,
        TermCompare::Gt => a > b,
        TermCompare::Ge => a >= b,
        TermCompare::SeqLt => before(a, b),
        TermCompare::SeqLe => a == b || before(a, b),
        TermCompare::SeqGt => before(b, a),
        TermCompare::SeqGe => a == b || before(b, a),
    }
}
