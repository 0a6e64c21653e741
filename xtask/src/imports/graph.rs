//! Imports as a graph: between files, and between the entries of one folder.

use std::collections::{BTreeMap, BTreeSet};

/// The files of a crate by their path below `src`, with `/`.
pub type Sources = BTreeMap<String, String>;

/// From each file to the files that it imports.
pub type Edges = BTreeMap<String, BTreeSet<String>>;

/// The imports between the direct entries of a folder: its files, and its folders with all that is in them. `a.rs`
/// beside `a/` belongs to that folder, as `a/mod.rs` would.
pub fn units(edges: &Edges, folder: &str) -> Edges {
    let is_front =
        |stem: &str| edges.keys().any(|file| file.strip_prefix(stem).is_some_and(|rest| rest.starts_with('/')));
    let unit = |file: &str| {
        let stem = file.trim_end_matches(".rs");
        if folder.strip_suffix('/') == Some(stem) {
            return Some(file.to_string());
        }
        let rest = file.strip_prefix(folder)?;
        Some(match rest.split_once('/') {
            Some((name, _)) => format!("{folder}{name}"),
            None if is_front(stem) => stem.to_string(),
            None => file.to_string(),
        })
    };
    let mut units = Edges::new();
    for (from, targets) in edges {
        let Some(from) = unit(from) else { continue };
        let targets = targets.iter().filter_map(|to| unit(to)).filter(|to| *to != from);
        units.entry(from.clone()).or_default().extend(targets);
    }
    units
}

/// The sets of two or more entries that reach each other.
pub fn components(edges: &Edges) -> Vec<Vec<String>> {
    let reach: BTreeMap<&String, BTreeSet<&String>> = edges.keys().map(|from| (from, reached(edges, from))).collect();
    let mut found: BTreeSet<Vec<String>> = BTreeSet::new();
    for (from, all) in &reach {
        let back = |to: &&&String| reach.get(**to).is_some_and(|all| all.contains(from));
        let circle: Vec<String> = all.iter().filter(back).map(|name| name.to_string()).collect();
        if circle.len() > 1 {
            found.insert(circle);
        }
    }
    found.into_iter().collect()
}

/// All entries that can be reached from one; the entry itself only if it is in a cycle.
fn reached<'a>(edges: &'a Edges, from: &'a String) -> BTreeSet<&'a String> {
    let mut seen = BTreeSet::new();
    let mut front = vec![from];
    while let Some(at) = front.pop() {
        front.extend(edges.get(at).into_iter().flatten().filter(|next| seen.insert(*next)));
    }
    seen
}
