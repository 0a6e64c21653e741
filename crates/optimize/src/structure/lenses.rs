//! Lenses that change nothing: one for each record, every layered cell stored as itself. Later passes give them views.

use mokume_reaction::{Automaton, ClassId, Lens, LensId};

/// The classes of each record: those that composing merged, else each class alone.
pub fn records(automaton: &Automaton) -> Vec<Vec<ClassId>> {
    let merged = automaton.composition.as_ref().map(|composition| composition.merged.clone()).unwrap_or_default();
    let alone = (0..automaton.classes.len())
        .map(ClassId::from)
        .filter(|class| !merged.iter().any(|record| record.contains(class)));
    let mut records: Vec<Vec<ClassId>> = merged.clone();
    records.extend(alone.map(|class| vec![class]));
    records
}

/// A lens for each record, in the order of [`records`].
pub fn plain(automaton: &Automaton) -> Vec<Lens> {
    let records = records(automaton);
    let of = |class: ClassId| records.iter().position(|record| record.contains(&class)).map(LensId::from);
    records
        .iter()
        .map(|classes| {
            let names: Vec<&str> = classes.iter().map(|class| automaton.class(*class).name.as_str()).collect();
            let parents: Vec<_> = classes.iter().filter_map(|class| automaton.class(*class).parent).collect();
            // Classes of one record may have different parents; only a common one is around it.
            let around = match parents.as_slice() {
                [one, rest @ ..] if rest.iter().all(|other| other == one) => of(*one),
                _ => None,
            };
            Lens {
                name: names.join("+"),
                classes: classes.clone(),
                around,
                cells: Vec::new(),
                views: Vec::new(),
                invariants: Vec::new(),
                refresh: Vec::new(),
            }
        })
        .collect()
}
