//! Imports as a graph: of files, and of what stands in one folder.

use std::collections::{BTreeMap, BTreeSet};

/// The files of a crate by their path below `src`, with `/`.
pub type Sources = BTreeMap<String, String>;

/// From each file to those that it imports.
pub type Edges = BTreeMap<String, BTreeSet<String>>;

/// The imports among what stands directly in a folder: its files, and its folders with all that is in them. `a.rs` beside
/// `a/` is the front of that folder, as `a/mod.rs` would be.
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

/// The sets of two and more that reach each other.
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

/// All that can be reached from one, itself only if it is in a circle.
fn reached<'a>(edges: &'a Edges, from: &'a String) -> BTreeSet<&'a String> {
    let mut seen = BTreeSet::new();
    let mut front = vec![from];
    while let Some(at) = front.pop() {
        front.extend(edges.get(at).into_iter().flatten().filter(|next| seen.insert(*next)));
    }
    seen
}
