//! Circles of imports within a crate: among its folders, which are never allowed, and among the files of one folder, which
//! are where a reason is written down.
//!
//! A file imports another when it names something that is defined there: by `use`, by a path (`expr::value(…)`), through
//! re-exports and globs (the file that defines a thing counts, not those that pass it on), or by calling a method from an
//! `impl` block that stands apart from its type. Read from the words of the files, not compiled: comments, texts and tests
//! are left out; what macros make counts as the module's that is named.

mod resolve;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The files of a crate by their path below `src`, with `/`.
pub type Sources = BTreeMap<String, String>;

/// From each file to those that it imports.
pub type Edges = BTreeMap<String, BTreeSet<String>>;

/// Who imports each other, by path below `src`; each list in order.
#[derive(Debug, Default, PartialEq)]
pub struct Circles {
    /// Folders, or a folder and files beside it.
    pub folders: Vec<Vec<String>>,
    /// Files of one folder.
    pub files: Vec<Vec<String>>,
}

/// The sources below a folder; nothing if it cannot be read.
pub fn sources(src: &Path) -> Sources {
    let mut found = Sources::new();
    collect(src, "", &mut found);
    found
}

fn collect(folder: &Path, prefix: &str, found: &mut Sources) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), found);
        } else if name.ends_with(".rs") {
            found.extend(std::fs::read_to_string(&path).ok().map(|text| (format!("{prefix}{name}"), text)));
        }
    }
}

/// The circles of a crate.
pub fn circles(sources: &Sources) -> Circles {
    let edges = edges(sources);
    let mut folders: BTreeSet<String> = BTreeSet::from([String::new()]);
    for file in sources.keys() {
        folders.extend(file.match_indices('/').map(|(at, _)| file[..=at].to_string()));
    }
    let mut found = Circles::default();
    for folder in &folders {
        for circle in components(&units(&edges, folder)) {
            let of_files = circle.iter().all(|unit| unit.ends_with(".rs"));
            (if of_files { &mut found.files } else { &mut found.folders }).push(circle);
        }
    }
    found
}

/// Which file imports which.
pub fn edges(sources: &Sources) -> Edges {
    resolve::edges(sources)
}

/// The imports among what stands directly in a folder: its files, and its folders with all that is in them.
fn units(edges: &Edges, folder: &str) -> Edges {
    let unit = |file: &str| {
        let rest = file.strip_prefix(folder)?;
        Some(format!("{folder}{}", rest.split_once('/').map_or(rest, |(name, _)| name)))
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
fn components(edges: &Edges) -> Vec<Vec<String>> {
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

/// What is wrong with a crate's circles; `allowed` holds lines `crate: file file …: reason` of file circles that stay.
pub fn faults(name: &str, sources: &Sources, allowed: &str) -> Vec<String> {
    let found = circles(sources);
    let mut faults: Vec<String> = Vec::new();
    for circle in &found.folders {
        faults.push(format!("crate `{name}`: these import each other, and folders may not: {}", circle.join(", ")));
    }
    let listed = listed(name, allowed, &mut faults);
    for circle in found.files.iter().filter(|circle| !listed.contains(circle)) {
        let line = format!("{name}: {}: …", circle.join(" "));
        faults.push(format!(
            "crate `{name}`: a circle of files that xtask/circles.txt does not give a reason for; `{line}`"
        ));
    }
    for circle in listed.iter().filter(|circle| !found.files.contains(circle)) {
        faults.push(format!("xtask/circles.txt lists a circle of `{name}` that is not there: {}", circle.join(" ")));
    }
    faults
}

/// The circles that the list gives a crate a reason for.
fn listed(name: &str, allowed: &str, faults: &mut Vec<String>) -> Vec<Vec<String>> {
    let mut listed = Vec::new();
    for line in allowed.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let mut parts = line.splitn(3, ": ").map(str::trim);
        let (of, files, reason) = (parts.next(), parts.next(), parts.next());
        let Some(files) = files.filter(|_| reason.is_some_and(|reason| reason.len() > 10)) else {
            faults.push(format!("xtask/circles.txt: not `crate: file file …: reason`: {line}"));
            continue;
        };
        if of == Some(name) {
            let mut files: Vec<String> = files.split_whitespace().map(str::to_string).collect();
            files.sort();
            listed.push(files);
        }
    }
    listed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crate of `file: text` parts.
    fn crate_of(parts: &[(&str, &str)]) -> Sources {
        parts.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect()
    }

    fn file_circles(parts: &[(&str, &str)]) -> Vec<Vec<String>> {
        let found = circles(&crate_of(parts));
        assert_eq!(found.folders, Vec::<Vec<String>>::new());
        found.files
    }

    #[test]
    fn a_planted_circle_of_files_is_found() {
        let down =
            [("lib.rs", "mod a;\nmod b;"), ("a.rs", "use crate::b::g;\npub fn f() { g() }"), ("b.rs", "pub fn g() {}")];
        assert!(file_circles(&down).is_empty());
        let around = [down[0], down[1], ("b.rs", "use super::a;\npub fn g() { a::f() }")];
        assert_eq!(file_circles(&around), [["a.rs", "b.rs"]]);
        let inline = [down[0], down[1], ("b.rs", "pub fn g() { crate::a::f() }")];
        assert_eq!(file_circles(&inline), [["a.rs", "b.rs"]]);
    }

    #[test]
    fn comments_texts_and_tests_do_not_count() {
        let b = "// crate::a::f()\n/* super::a::f() */\npub fn g() -> &'static str { \"crate::a::f()\" }\n\
                 #[cfg(test)]\nmod tests { use crate::a::f; #[test] fn t() { f() } }";
        let parts = [("lib.rs", "mod a;\nmod b;"), ("a.rs", "use crate::b::g;\npub fn f() { g() }"), ("b.rs", b)];
        assert!(file_circles(&parts).is_empty());
    }

    #[test]
    fn tests_in_files_of_their_own_do_not_count() {
        let parts = [
            ("lib.rs", "mod a;\n#[cfg(test)]\nmod tests;"),
            ("a.rs", "pub fn f() { crate::tests::g() }"),
            ("tests.rs", "use crate::a::f;\npub fn g() { f() }"),
        ];
        assert!(file_circles(&parts).is_empty());
    }

    #[test]
    fn who_passes_a_thing_on_is_not_who_defines_it() {
        let parts = [
            ("lib.rs", "pub mod data;\nmod user;"),
            ("data/mod.rs", "mod one;\nmod two;\npub use one::*;\npub use two::Two;"),
            ("data/one.rs", "use super::*;\npub struct One(Two);"),
            ("data/two.rs", "pub struct Two;"),
            ("user.rs", "use crate::data::*;\nfn f(one: One) {}"),
        ];
        assert!(file_circles(&parts).is_empty());
        let edges = edges(&crate_of(&parts));
        assert!(edges["user.rs"].contains("data/one.rs") && !edges["user.rs"].contains("data/two.rs"));
        let mut around = parts;
        around[3] = ("data/two.rs", "use super::One;\npub struct Two(Box<One>);");
        assert_eq!(file_circles(&around), [["data/one.rs", "data/two.rs"]]);
    }

    #[test]
    fn a_planted_circle_of_folders_is_found() {
        let parts = [
            ("lib.rs", "mod x;\nmod y;"),
            ("x/mod.rs", "pub mod a;\npub mod b;"),
            ("x/a.rs", "pub fn f() { crate::y::c::h() }"),
            ("x/b.rs", "pub fn g() {}"),
            ("y/mod.rs", "pub mod c;"),
            ("y/c.rs", "pub fn h() { crate::x::b::g() }"),
        ];
        let found = circles(&crate_of(&parts));
        assert_eq!((found.folders, found.files.len()), (vec![vec!["x".to_string(), "y".to_string()]], 0));
    }

    #[test]
    fn a_folder_and_the_front_of_the_one_around_it_count() {
        let parts = [
            ("lib.rs", "mod x;"),
            ("x/mod.rs", "mod inner;\npub fn f() { inner::g() }"),
            ("x/inner/mod.rs", "pub fn g() { super::f() }"),
        ];
        let found = circles(&crate_of(&parts));
        assert_eq!(found.folders, [["x/inner", "x/mod.rs"]]);
    }

    #[test]
    fn methods_apart_from_their_type_count() {
        let parts = [
            ("lib.rs", "mod body;\nmod calls;"),
            ("body.rs", "pub struct Body;\nimpl Body { pub fn start(&self) { self.call_it() } }"),
            ("calls.rs", "use crate::body::Body;\nimpl Body { pub fn call_it(&self) {} }"),
        ];
        assert_eq!(file_circles(&parts), [["body.rs", "calls.rs"]]);
    }

    #[test]
    fn the_list_says_why_and_does_not_drift() {
        let parts = crate_of(&[
            ("lib.rs", "mod a;\nmod b;"),
            ("a.rs", "pub fn f() { crate::b::g() }"),
            ("b.rs", "pub fn g() { crate::a::f() }"),
        ]);
        assert_eq!(faults("c", &parts, "").len(), 1, "no reason given");
        assert_eq!(faults("c", &parts, "# why\nc: b.rs a.rs: they are one recursion"), Vec::<String>::new());
        assert_eq!(faults("c", &parts, "c: a.rs b.rs:").len(), 2, "an empty reason is none");
        assert_eq!(faults("c", &parts, "c: a.rs b.rs c.rs: they are one recursion").len(), 2, "another circle");
        assert_eq!(faults("d", &crate_of(&[("lib.rs", "")]), "c: a.rs b.rs: they are one recursion").len(), 0);
    }
}
