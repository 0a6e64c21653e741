//! Level 2: lenses and paths are well formed. Whether they say the truth is the judge's business, not ours.

use std::collections::HashSet;

use super::Faults;
use crate::terms::{parts, piece_parts, piece_widths, TermContext};
use crate::*;

pub fn check(automaton: &Automaton, faults: &mut Faults) {
    let mut seen = HashSet::new();
    for (index, lens) in automaton.lenses.iter().enumerate() {
        check_lens(automaton, index.into(), lens, &mut seen, faults);
    }
    for (index, path) in automaton.paths.iter().enumerate() {
        let context = TermContext::of_path(automaton, path.port, path.event);
        let mut checker = Checker { a: automaton, context, place: Place::Path(index.into()), it: None, faults };
        checker.path(path);
    }
}

fn check_lens(a: &Automaton, id: LensId, lens: &Lens, seen: &mut HashSet<ClassId>, faults: &mut Faults) {
    let place = Place::Lens(id);
    if lens.classes.is_empty() || lens.classes.iter().any(|class| class.index() >= a.classes.len()) {
        faults.add(codes::DANGLING, place, "a lens without classes, or of classes that do not exist");
        return;
    }
    if lens.around.is_some_and(|around| around.index() >= a.lenses.len() || around == id) {
        faults.add(codes::DANGLING, place, "the lens around does not exist, or is this one");
        return;
    }
    for class in &lens.classes {
        if !seen.insert(*class) {
            let message = format!("`{}` has two lenses", a.class(*class).name);
            faults.add(codes::LENS, place, message);
        }
    }
    for pair in lens.classes.windows(2) {
        let linked =
            |link: &Link| (link.above.0, link.below.0) == (pair[0], pair[1]) && link.kind == LinkKind::OneToOne;
        if !a.links.iter().any(linked) {
            let message =
                format!("no link makes `{}` and `{}` one object", a.class(pair[0]).name, a.class(pair[1]).name);
            faults.add(codes::LENS, place, message).help("classes of a lens are linked 1:1, from above down");
        }
    }
    let context = TermContext::of_lens(a, id);
    let mut checker = Checker { a, context, place, it: None, faults };
    checker.lens(lens);
}

struct Checker<'a, 'f> {
    a: &'a Automaton,
    context: TermContext<'a>,
    place: Place,
    it: Option<u8>,
    faults: &'f mut Faults,
}

impl Checker<'_, '_> {
    fn fault(&mut self, code: mokume_base::Code, message: impl Into<String>) {
        self.faults.add(code, self.place, message);
    }

    // -- lenses

    fn lens(&mut self, lens: &Lens) {
        let mut names = HashSet::new();
        for cell in &lens.cells {
            if !names.insert(&cell.name) {
                self.fault(codes::TWICE, format!("there is a cell `{}` already", cell.name));
            }
            if let LensCellKind::Scalar { width, init } = cell.kind {
                if !(1..=64).contains(&width) || !super::operations::fits(init, width) {
                    self.fault(codes::SIZE, format!("`{}` has {width} bits, and starts as {init}", cell.name));
                }
            }
        }
        let mut viewed = HashSet::new();
        for view in &lens.views {
            if !viewed.insert((view.class, view.cell)) {
                self.fault(codes::LENS, "a layered cell has two views");
            }
            self.view(view);
        }
        for invariant in &lens.invariants {
            self.term(invariant, Some(1));
        }
        self.updates(&lens.refresh);
    }

    fn view(&mut self, view: &View) {
        let cell = self.context.cell(PathObjectId(0), view.class, view.cell);
        let Some(CellKind::Scalar { ty, .. }) = cell.map(|cell| &cell.kind) else {
            self.fault(codes::LENS, "a view is of a cell with one value, of a class of the lens");
            return;
        };
        let width = ty.width(self.a);
        if width == 0 {
            self.fault(codes::LENS, "references are stored as they are: they have no view");
            return;
        }
        self.term(&view.get, Some(width));
        self.it = Some(width);
        self.updates(&view.put);
        self.it = None;
    }

    fn updates(&mut self, updates: &[LensUpdate]) {
        let mut seen = HashSet::new();
        for update in updates {
            if !seen.insert(update.cell) {
                self.fault(codes::LENS, "a cell is put twice");
            }
            self.lens_value(PathObjectId(0), update.cell, &update.value);
        }
    }

    fn lens_value(&mut self, object: PathObjectId, cell: LensCellId, value: &LensValue) {
        let Some(found) = self.context.lens_cell(object, cell) else {
            self.fault(codes::DANGLING, format!("the lens has no cell {}", cell.0));
            return;
        };
        match (&found.kind, value) {
            (LensCellKind::Scalar { width, .. }, LensValue::Term(term)) => self.term(term, Some(*width)),
            (LensCellKind::Template { init }, LensValue::Octets(pieces)) => {
                self.pieces(pieces);
                let sizes: Option<Vec<u32>> = pieces.iter().map(|piece| self.context.piece_size(piece)).collect();
                if sizes.map(|sizes| sizes.iter().sum::<u32>() as usize) != Some(init.len()) {
                    self.fault(codes::WIDTH, format!("the template `{}` has {} octets", found.name, init.len()));
                }
            }
            _ => self.fault(codes::KIND, format!("`{}` is a number or a template, and is not given one", found.name)),
        }
    }

    // -- terms

    fn term(&mut self, term: &Term, wanted: Option<u8>) {
        self.sense(term);
        let found = self.context.width(term);
        match (found, wanted) {
            (None, _) => self.fault(codes::WIDTH, "a term without a width: it names something that is not there"),
            (Some(found), Some(wanted)) if found != wanted => {
                self.fault(codes::WIDTH, format!("a term of {found} bits, where {wanted} belong"));
            }
            _ => {}
        }
        let widths = self.context.part_widths(term, None);
        for (part, width) in parts(term).into_iter().zip(widths) {
            self.term(part, width);
        }
    }

    fn is_message(&self, index: u32) -> bool {
        self.context.params.get(index as usize).is_some_and(|(_, ty)| *ty == Type::Msg)
    }

    /// What widths do not say.
    fn sense(&mut self, term: &Term) {
        match term {
            Term::Number { width, value } if !(1..=64).contains(width) || !super::operations::fits(*value, *width) => {
                self.fault(codes::NUMBER, format!("{value} does not fit into {width} bits"));
            }
            Term::It { width } if self.it != Some(*width) => {
                self.fault(codes::LENS, "`it` is the value that a view puts, and stands there only");
            }
            Term::Cast { width, .. } if !(1..=64).contains(width) => {
                self.fault(codes::WIDTH, format!("a term of {width} bits: there are 1 to 64"));
            }
            Term::Load { message, width, .. }
                if !self.is_message(*message) || !matches!(width, 8 | 16 | 24 | 32 | 48 | 64) =>
            {
                self.fault(codes::KIND, "a field of 8, 16, 24, 32, 48 or 64 bits is loaded from a message");
            }
            Term::Size { message } if !self.is_message(*message) => self.fault(codes::KIND, "the size of no message"),
            Term::MaskedEqual { message, mask, value, .. }
                if !self.is_message(*message) || mask.len() != value.len() =>
            {
                self.fault(codes::KIND, "a mask and a value of one size are compared with a message");
            }
            Term::Armed { object, class, cell } => {
                self.kind(*object, *class, *cell, "timer", |kind| *kind == CellKind::Timer);
            }
            Term::Left { object, class, cell } => {
                self.kind(*object, *class, *cell, "quota", |kind| matches!(kind, CellKind::Quota { .. }));
            }
            Term::Holds { object, class, cell, .. } => {
                self.kind(*object, *class, *cell, "messages", |kind| matches!(kind, CellKind::Messages { .. }));
            }
            Term::IsNull { object, class, cell } => {
                self.kind(*object, *class, *cell, "a reference", |kind| {
                    matches!(kind, CellKind::Scalar { ty: Type::Ref(_), .. })
                });
            }
            Term::Sum16(pieces) => pieces.iter().for_each(|piece| self.piece_sense(piece)),
            Term::Call { function, args, result } => self.call(*function, args.len(), *result),
            _ => {}
        }
    }

    fn call(&mut self, function: FunctionId, args: usize, result: u32) {
        let Some(found) = self.a.functions.get(function.index()) else {
            self.fault(codes::DANGLING, format!("function {} does not exist", function.0));
            return;
        };
        let scalar = found.params.iter().all(|(_, ty)| ty.width(self.a) > 0);
        if found.published.is_some() || !scalar || found.params.len() != args || result as usize >= found.results.len()
        {
            let message = format!(
                "a term calls `{}`, which is no pure function of {args} numbers with a result {result}",
                found.name
            );
            self.fault(codes::COUNT, message);
        }
    }

    fn kind(&mut self, object: PathObjectId, class: ClassId, cell: CellId, what: &str, is: fn(&CellKind) -> bool) {
        match self.context.cell(object, class, cell) {
            None => self.fault(codes::LENS, "the record has no such cell: its class is not of the record's lens"),
            Some(found) if !is(&found.kind) => {
                self.fault(codes::KIND, format!("`{}` is not what belongs here: {what}", found.name));
            }
            _ => {}
        }
    }

    fn pieces(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            self.piece_sense(piece);
            for (term, width) in piece_parts(piece).into_iter().zip(piece_widths(piece)) {
                self.term(term, width);
            }
        }
    }

    fn piece_sense(&mut self, piece: &Piece) {
        match piece {
            Piece::Octets(_) => {}
            Piece::Template { object, cell, from, size } => {
                let kind = self.context.lens_cell(*object, *cell).map(|cell| &cell.kind);
                let fits = match kind {
                    Some(LensCellKind::Template { init }) => {
                        from.checked_add(*size).is_some_and(|end| end as usize <= init.len())
                    }
                    _ => false,
                };
                if !fits {
                    self.fault(codes::WIDTH, "octets beyond a template, or of no template");
                }
            }
            Piece::Field { value, .. } => {
                if self.context.width(value).is_some_and(|width| !width.is_multiple_of(8)) {
                    self.fault(codes::WIDTH, "a field of a packet built by a path is of whole octets");
                }
            }
            Piece::Message { message, .. } => {
                if !self.is_message(*message) {
                    self.fault(codes::KIND, "octets of no message");
                }
            }
        }
    }

    // -- paths

    fn path(&mut self, path: &Path) {
        let input = self.a.ports.get(path.port.index()).and_then(|port| port.inputs.get(path.event as usize));
        if input.is_none() {
            self.fault(codes::DANGLING, "the path's event does not exist");
            return;
        }
        for step in &path.steps {
            self.step(step);
            self.context.step(step);
        }
        let mut committed = HashSet::new();
        for effect in &path.commit {
            if let Some(cell) = self.effect(effect) {
                if !committed.insert(cell) {
                    self.fault(codes::PATH, "a cell is committed twice");
                }
            }
        }
        path.outs.iter().for_each(|out| self.out(out));
        self.messages(path);
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Object { lens, from, .. } => self.object(*lens, from),
            Step::Let { width, term, .. } => self.term(term, Some(*width)),
            Step::Guard { condition, refresh } => {
                self.term(condition, Some(1));
                if let Some(object) = refresh {
                    if self.context.lens(*object).is_none_or(|lens| lens.refresh.is_empty()) {
                        self.fault(codes::LENS, "the record's lens has nothing to refresh");
                    }
                }
            }
        }
    }

    fn object(&mut self, lens: LensId, from: &ObjectSource) {
        let Some(found) = self.a.lenses.get(lens.index()) else {
            self.fault(codes::DANGLING, format!("lens {} does not exist", lens.0));
            return;
        };
        let class = match from {
            ObjectSource::Param(index) => self.context.params.get(*index as usize).and_then(|(_, ty)| referred(*ty)),
            ObjectSource::Unique(class) => {
                (class.index() < self.a.classes.len() && self.a.is_unique(*class)).then_some(*class)
            }
            ObjectSource::Parent(object, class) => {
                let lens = self.context.lens(*object);
                let class =
                    lens.filter(|lens| lens.classes.contains(class)).and_then(|_| self.a.classes.get(class.index()));
                class.and_then(|class| class.parent)
            }
            ObjectSource::Cell(object, class, cell) => {
                match self.context.cell(*object, *class, *cell).map(|cell| &cell.kind) {
                    Some(CellKind::Scalar { ty, .. }) => referred(*ty),
                    _ => None,
                }
            }
            ObjectSource::Find { object, class, cell, key, value } => {
                match self.context.cell(*object, *class, *cell).map(|cell| &cell.kind) {
                    Some(CellKind::Map { key: types, value: values, .. }) if types.len() == key.len() => {
                        for (term, ty) in key.iter().zip(types) {
                            self.term(term, Some(ty.width(self.a)));
                        }
                        values.get(*value as usize).and_then(|ty| referred(*ty))
                    }
                    _ => None,
                }
            }
        };
        if class.is_none_or(|class| !found.classes.contains(&class)) {
            self.fault(codes::LENS, format!("no object of lens `{}` comes from there", found.name));
        }
    }

    /// The answer is the cell that is changed, where only one effect may change it.
    fn effect(&mut self, effect: &Effect) -> Option<(PathObjectId, Option<ClassId>, u32)> {
        let single = |object: &PathObjectId, class: &ClassId, cell: &CellId| Some((*object, Some(*class), cell.0));
        match effect {
            Effect::SetLens { object, cell, value } => {
                self.lens_value(*object, *cell, value);
                Some((*object, None, cell.0))
            }
            Effect::Set { object, class, cell, value } => {
                self.plain_cell(*object, *class, *cell);
                let width = self.context.width(&Term::Cell { object: *object, class: *class, cell: *cell });
                self.kind(*object, *class, *cell, "one value", |kind| matches!(kind, CellKind::Scalar { .. }));
                self.term(value, width);
                single(object, class, cell)
            }
            Effect::SetAt { object, class, cell, index, value } => {
                self.kind(*object, *class, *cell, "an array", |kind| matches!(kind, CellKind::Array { .. }));
                self.term(index, None);
                let width = match self.context.cell(*object, *class, *cell).map(|cell| &cell.kind) {
                    Some(CellKind::Array { ty, .. }) => Some(ty.width(self.a)),
                    _ => None,
                };
                self.term(value, width);
                None
            }
            Effect::Arm { object, class, cell, deadline } => {
                self.kind(*object, *class, *cell, "a timer", |kind| *kind == CellKind::Timer);
                self.term(deadline, Some(64));
                single(object, class, cell)
            }
            Effect::Disarm { object, class, cell } => {
                self.kind(*object, *class, *cell, "a timer", |kind| *kind == CellKind::Timer);
                single(object, class, cell)
            }
            Effect::Count { object, class, cell, amount } => {
                self.kind(*object, *class, *cell, "a counter", |kind| *kind == CellKind::Counter);
                self.term(amount, None);
                None
            }
            Effect::Take { object, class, cell, amount } | Effect::Give { object, class, cell, amount } => {
                self.kind(*object, *class, *cell, "a quota", |kind| matches!(kind, CellKind::Quota { .. }));
                self.term(amount, Some(32));
                None
            }
            Effect::Keep { object, class, cell, index, message } => {
                self.kind(*object, *class, *cell, "messages", |kind| matches!(kind, CellKind::Messages { .. }));
                self.term(index, Some(32));
                self.message(message);
                None
            }
            Effect::Drop { message, reason } | Effect::Consume { message, reason } => {
                if !self.is_message(*message) || reason.index() >= self.a.reasons.len() {
                    self.fault(codes::DANGLING, "a message or a reason that does not exist");
                }
                None
            }
        }
    }

    /// A cell with a view is changed through the record's own cells.
    fn plain_cell(&mut self, object: PathObjectId, class: ClassId, cell: CellId) {
        let Some(lens) = self.context.lens(object) else { return };
        if lens.views.iter().any(|view| (view.class, view.cell) == (class, cell)) {
            self.fault(codes::LENS, "a cell with a view is set: set the cells of the record that its view puts");
        }
    }

    fn message(&mut self, message: &MessageTerm) {
        self.pieces(&message.octets);
        for (header, variant, terms) in &message.headers {
            let found = self.a.headers.get(header.index()).and_then(|header| header.variants.get(variant.index()));
            match found {
                Some(found) if found.fields.len() == terms.len() => {
                    for (term, (_, ty)) in terms.iter().zip(&found.fields) {
                        self.term(term, Some(ty.width(self.a)));
                    }
                }
                _ => self.fault(codes::COUNT, "a header that does not exist, or has other fields"),
            }
        }
    }

    fn out(&mut self, out: &PathOut) {
        let output = self.a.ports.get(out.port.index()).and_then(|port| port.outputs.get(out.event as usize));
        let Some(output) = output else {
            self.fault(codes::DANGLING, "an output that does not exist");
            return;
        };
        if output.params.len() != out.args.len() {
            self.fault(codes::COUNT, format!("`{}` has {} parameters", output.event, output.params.len()));
            return;
        }
        for (arg, (_, ty)) in out.args.iter().zip(&output.params) {
            match (arg, ty) {
                (PathArg::Message(message), Type::Msg) => self.message(message),
                (PathArg::Object(object, class), Type::Ref(wanted)) if class == wanted => {
                    if self.context.lens(*object).is_none_or(|lens| !lens.classes.contains(class)) {
                        self.fault(codes::LENS, "the record is of no such class");
                    }
                }
                (PathArg::Term(term), ty) if ty.width(self.a) > 0 => self.term(term, Some(ty.width(self.a))),
                _ => self.fault(codes::TYPE, format!("an argument of `{}` is of another kind", output.event)),
            }
        }
    }

    /// Every message parameter has one end: dropped or consumed once, or its octets go on.
    fn messages(&mut self, path: &Path) {
        let mut sent = HashSet::new();
        let kept = path.commit.iter().filter_map(|effect| match effect {
            Effect::Keep { message, .. } => Some(message),
            _ => None,
        });
        let args = path.outs.iter().flat_map(|out| &out.args).filter_map(|arg| match arg {
            PathArg::Message(message) => Some(message),
            _ => None,
        });
        for piece in kept.chain(args).flat_map(|message| &message.octets) {
            if let Piece::Message { message, .. } = piece {
                sent.insert(*message);
            }
        }
        for index in 0..self.context.params.len() as u32 {
            let ended = path.commit.iter().filter(|effect| match effect {
                Effect::Drop { message, .. } | Effect::Consume { message, .. } => *message == index,
                _ => false,
            });
            let ends = ended.count() + usize::from(sent.contains(&index));
            if self.is_message(index) && ends != 1 {
                let name = self.context.params[index as usize].0.clone();
                self.fault(codes::PATH, format!("the message `{name}` has {ends} ends"));
            }
        }
    }
}

fn referred(ty: Type) -> Option<ClassId> {
    match ty {
        Type::Ref(class) => Some(class),
        _ => None,
    }
}
