//! A refutation, replayed: its state is built in the interpreter, the layers react, the path is evaluated, both are compared.

use std::collections::BTreeMap;

use mokume_interpret::{CellView, Instance};
use mokume_reaction::{
    Automaton, CellId, CellKind, ClassId, Datum, Handle, LensCellKind, LensId, Machine, Output, Path, Type,
};

use super::concrete::{fresh, Held, Record, State, Taken};

/// Values by name, as the prover gives them.
pub type Model = BTreeMap<String, u64>;

/// What the layers did, and what the path does, from one state on one event.
#[derive(Debug)]
pub struct Replay {
    pub layers: Taken,
    /// Whether the layers reported something: paths never do.
    pub reported: bool,
    /// Nothing if the path exits.
    pub path: Option<Taken>,
}

impl Replay {
    pub fn differs(&self) -> bool {
        let Some(path) = &self.path else { return false };
        let cells = path.cells.iter().any(|(cell, value)| self.layers.cells.get(cell) != Some(value));
        cells || self.reported || path.outputs != self.layers.outputs || self.unwritten(path)
    }

    /// Cells that the layers have changed and the path has left.
    fn unwritten(&self, path: &Taken) -> bool {
        self.layers.cells.keys().any(|cell| !path.cells.contains_key(cell) && self.changed(cell))
    }

    fn changed(&self, cell: &(ClassId, CellId)) -> bool {
        self.layers.cells.get(cell) != self.path.as_ref().and_then(|path| path.cells.get(cell))
    }
}

/// `stack` has one object of each class that matters, made by ordinary events.
pub fn replay(automaton: &Automaton, path: &Path, mut stack: Instance, model: &Model, args: &[Datum]) -> Replay {
    let records: BTreeMap<LensId, Record> =
        (0..automaton.lenses.len()).map(LensId::from).map(|lens| (lens, record(automaton, lens, model))).collect();
    plant(automaton, &mut stack, &records, model);
    let before = cells(automaton, &stack);
    let mut state = State { automaton, stack: &stack, records };
    let taken = state.take(path, args);
    let mut layers = stack.clone();
    let outcome = layers.input(layers.now(), path.port, path.event, args);
    assert!(!outcome.refused, "the door is shut");
    let after = cells(automaton, &layers);
    // Only what either side changed is compared.
    let changed = after.into_iter().filter(|(cell, value)| {
        before.get(cell) != Some(value) || taken.as_ref().is_some_and(|taken| taken.cells.contains_key(cell))
    });
    let reported = !outcome.reports.is_empty();
    Replay { reported, layers: Taken { outputs: outcome.outputs, cells: changed.collect() }, path: taken }
}

/// A lens's record with the model's values.
pub fn record(automaton: &Automaton, lens: LensId, model: &Model) -> Record {
    let lens = &automaton.lenses[lens.index()];
    let mut record = fresh(lens);
    for (held, cell) in record.iter_mut().zip(&lens.cells) {
        let name = format!("{}.{}", lens.name, cell.name);
        match (held, &cell.kind) {
            (Held::Number(number), LensCellKind::Scalar { .. }) => {
                *number = model.get(&name).copied().unwrap_or(*number)
            }
            (Held::Octets(octets), _) => {
                for (place, octet) in octets.iter_mut().enumerate() {
                    *octet = model.get(&format!("{name}[{place}]")).map_or(*octet, |value| *value as u8);
                }
            }
            _ => {}
        }
    }
    record
}

/// A message parameter of the model.
pub fn message(model: &Model, name: &str) -> Vec<u8> {
    let size = model.get(&format!("{name}.size")).copied().unwrap_or(0) as usize;
    (0..size).map(|at| model.get(&format!("{name}.octets[{at}]")).map_or(0, |octet| *octet as u8)).collect()
}

/// The cells as the records show them, and those that the model names.
fn plant(automaton: &Automaton, stack: &mut Instance, records: &BTreeMap<LensId, Record>, model: &Model) {
    let mut wanted: BTreeMap<(ClassId, CellId), u64> = BTreeMap::new();
    for (class, cell, name) in scalars(automaton) {
        if let Some(value) = model.get(&name) {
            wanted.insert((class, cell), *value);
        }
    }
    for lens in 0..automaton.lenses.len() {
        let state = State { automaton, stack, records: records.clone() };
        wanted.extend(state.shown(lens.into()));
    }
    for ((class, cell), value) in wanted {
        for object in stack.objects(class) {
            assert!(stack.set_cell(class, object, cell, value));
        }
    }
}

/// Scalar cells that hold numbers.
fn scalars(automaton: &Automaton) -> Vec<(ClassId, CellId, String)> {
    let mut all = Vec::new();
    for (index, class) in automaton.classes.iter().enumerate() {
        for (place, cell) in class.cells.iter().enumerate() {
            if matches!(cell.kind, CellKind::Scalar { ty, .. } if !matches!(ty, Type::Ref(_))) {
                all.push((ClassId::from(index), CellId::from(place), format!("{}.{}", class.name, cell.name)));
            }
        }
    }
    all
}

fn cells(automaton: &Automaton, stack: &Instance) -> BTreeMap<(ClassId, CellId), u64> {
    let first = |class: ClassId| stack.objects(class).first().copied();
    let word = |class: ClassId, object: Handle, cell: CellId| match stack.cell(class, object, cell) {
        Some(CellView::Word(word)) => Some(word),
        _ => None,
    };
    let all = scalars(automaton).into_iter();
    all.filter_map(|(class, cell, _)| Some(((class, cell), word(class, first(class)?, cell)?))).collect()
}

/// Outputs that only tell of a session, left out.
pub fn handles_of(outputs: &[Output]) -> Vec<Handle> {
    let handles = outputs.iter().flat_map(|output| &output.args).filter_map(|arg| match arg {
        Datum::Handle(handle) => Some(*handle),
        _ => None,
    });
    handles.collect()
}
