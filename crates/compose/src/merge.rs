//! Chains of 1:1 links: classes that are merged into one record each.

use std::collections::BTreeMap;

use mokume_reaction::{Automaton, ClassId, LinkKind};

/// The chains, upper layers first. A class that could be in two chains is in the first.
pub fn merged(automaton: &Automaton) -> Vec<Vec<ClassId>> {
    let mut below: BTreeMap<ClassId, ClassId> = BTreeMap::new();
    let mut above: BTreeMap<ClassId, ClassId> = BTreeMap::new();
    for link in automaton.links.iter().filter(|link| link.kind == LinkKind::OneToOne) {
        let (upper, lower) = (link.above.0, link.below.0);
        if upper != lower && !below.contains_key(&upper) && !above.contains_key(&lower) && top(&above, upper) != lower {
            below.insert(upper, lower);
            above.insert(lower, upper);
        }
    }
    let heads = below.keys().filter(|class| !above.contains_key(class));
    heads.map(|head| std::iter::successors(Some(*head), |class| below.get(class).copied()).collect()).collect()
}

/// The head of the chain that a class is in.
fn top(above: &BTreeMap<ClassId, ClassId>, mut class: ClassId) -> ClassId {
    while let Some(upper) = above.get(&class) {
        class = *upper;
    }
    class
}
