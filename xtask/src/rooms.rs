//! Checks that the overview pages are complete: every room, which is a folder of a crate's sources, is on the map of
//! `docs/architecture.md`, and every layer of the library on `library/README.md`.

use std::collections::{BTreeMap, BTreeSet};

/// The rooms of the sources, by crate and folder: `lower/code`. Folders of tests do not count.
pub fn found<'a>(sources: impl Iterator<Item = &'a String>) -> BTreeSet<String> {
    let mut rooms = BTreeSet::new();
    for path in sources {
        let Some((name, below)) = path.strip_prefix("crates/").and_then(|rest| rest.split_once("/src/")) else {
            continue;
        };
        let folders = below.match_indices('/').map(|(at, _)| &below[..at]);
        rooms.extend(folders.filter(|folder| !folder.ends_with("tests")).map(|folder| format!("{name}/{folder}")));
    }
    rooms
}

/// The lines of the map: `| crate/folder | what it keeps |`.
fn drawn(page: &str) -> BTreeMap<&str, &str> {
    let cells = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    cells.filter(|(name, _)| name.contains('/')).map(|(name, what)| (name, what.trim_end_matches([' ', '|']))).collect()
}

/// The faults of the map of rooms.
pub fn faults(page: &str, rooms: &BTreeSet<String>) -> Vec<String> {
    let drawn = drawn(page);
    let missing = rooms.iter().filter(|room| drawn.get(room.as_str()).is_none_or(|what| what.is_empty()));
    let missing = missing.map(|room| format!("docs/architecture.md does not say what room `{room}` keeps"));
    let gone = drawn.keys().filter(|name| !rooms.contains(**name));
    missing.chain(gone.map(|name| format!("docs/architecture.md has a room `{name}` that does not exist"))).collect()
}

/// The layers, bundles and containers that a file declares.
fn declared(text: &str) -> impl Iterator<Item = &str> {
    const WORDS: [&str; 6] = ["worker ", "multiplexor ", "router ", "endpoint ", "bundle ", "container "];
    let items = text.lines().filter_map(|line| WORDS.iter().find_map(|word| line.strip_prefix(word)));
    items.filter_map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next())
}

/// What the library declares and its page does not name; `files` are its sources by path. `library/dissect` counts as
/// one stack.
pub fn unnamed(page: &str, files: &BTreeMap<String, String>) -> Vec<String> {
    let names: BTreeSet<&str> = page.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let read = files.iter().filter(|(path, _)| !path.starts_with("library/dissect/"));
    let missing = read.flat_map(|(path, text)| declared(text).map(move |name| (path, name)));
    let missing = missing.filter(|(_, name)| !names.contains(name));
    missing.map(|(path, name)| format!("library/README.md does not name `{name}` of {path}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "| `lower` | `base` | x |\n| `lower/code` | statements |\n| `lower/code/flow` | ways |\n";

    #[test]
    fn rooms_are_the_folders_of_sources() {
        let paths = ["crates/lower/src/lib.rs", "crates/lower/src/code/flow/a.rs", "crates/lower/src/tests/b.rs"];
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_string()).collect();
        assert_eq!(found(paths.iter()).into_iter().collect::<Vec<_>>(), ["lower/code", "lower/code/flow"]);
    }

    #[test]
    fn a_room_that_is_not_on_the_map_is_found() {
        let rooms = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect::<BTreeSet<_>>();
        assert_eq!(faults(PAGE, &rooms(&["lower/code", "lower/code/flow"])), Vec::<String>::new());
        assert_eq!(faults(PAGE, &rooms(&["lower/code", "lower/code/flow", "lower/new"])).len(), 1, "a new one");
        assert_eq!(faults(PAGE, &rooms(&["lower/code"])).len(), 1, "one that is gone");
        assert_eq!(faults("| `a/b` |  |\n", &rooms(&["a/b"])).len(), 1, "nothing is said of it");
    }

    #[test]
    fn a_layer_that_the_page_does_not_name_is_found() {
        let file = |path: &str| BTreeMap::from([(path.to_string(), "worker Octets {\n}\nfn f() {}\n".to_string())]);
        assert_eq!(unnamed("`Octets`", &file("library/thin/octets.mok")), Vec::<String>::new());
        assert_eq!(unnamed("`Octet`", &file("library/thin/octets.mok")).len(), 1);
        assert!(unnamed("", &file("library/dissect/octets.mok")).is_empty());
    }
}
