//! Cycles of imports within a crate: among its folders, where they are never allowed, and among the files of one
//! folder, where each needs a written reason.
//!
//! A file imports another when it names something defined there: by `use`, by a path (`expr::value(…)`), through
//! re-exports and globs (the file that defines a thing counts, not those that re-export it), or by calling a method of
//! an `impl` block that is in another file than its type. The check reads the words of the files and does not compile
//! them. Comments, texts and tests are left out. An item made by a macro counts as defined in the module that is named.

mod graph;
mod resolve;

use std::collections::BTreeSet;
use std::path::Path;

use graph::{components, units};
pub use graph::{Edges, Sources};

/// The sets of mutual importers, by path below `src`; each list is sorted.
#[derive(Debug, Default, PartialEq)]
pub struct Circles {
    /// Folders, or a folder and files beside it.
    pub folders: Vec<Vec<String>>,
    /// Files of one folder.
    pub files: Vec<Vec<String>>,
}

/// The sources below a folder; empty if it cannot be read.
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

/// The cycles of a crate.
pub fn circles(sources: &Sources) -> Circles {
    let edges = resolve::edges(sources);
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

/// The imports between files of the folders in a cycle: some of them must be reversed or removed.
pub fn ways(sources: &Sources, circle: &[String]) -> Vec<String> {
    let unit = |file: &String| circle.iter().position(|of| file == of || file.starts_with(&format!("{of}/")));
    let mut ways = Vec::new();
    for (from, targets) in &resolve::edges(sources) {
        let Some(here) = unit(from) else { continue };
        let away: Vec<&str> =
            targets.iter().filter(|to| unit(to).is_some_and(|there| there != here)).map(String::as_str).collect();
        if !away.is_empty() {
            ways.push(format!("  {from} -> {}", away.join(" ")));
        }
    }
    ways
}

/// The faults about a crate's cycles. `allowed` holds lines `crate: file …: reason` for file cycles that stay. Each
/// line names files without which the cycle would not exist: often the one that all others call back.
pub fn faults(name: &str, sources: &Sources, allowed: &str) -> Vec<String> {
    let (edges, found) = (resolve::edges(sources), circles(sources));
    let mut faults: Vec<String> = Vec::new();
    for circle in &found.folders {
        faults.push(format!("crate `{name}`: these import each other, and folders may not: {}", circle.join(", ")));
    }
    let listed = listed(name, allowed, &mut faults);
    for circle in &found.files {
        if !listed.iter().any(|hubs| goes_through(circle, hubs, &edges)) {
            let files = circle.join(" ");
            faults.push(format!("crate `{name}`: a circle that xtask/circles.txt gives no reason for: {files}"));
        }
    }
    for hubs in listed.iter().filter(|hubs| !found.files.iter().any(|circle| goes_through(circle, hubs, &edges))) {
        faults.push(format!("xtask/circles.txt lists a circle of `{name}` that is not there: {}", hubs.join(" ")));
    }
    faults
}

/// Whether these files are in the cycle, and the rest has no cycle without them.
fn goes_through(circle: &[String], hubs: &[String], edges: &Edges) -> bool {
    let rest: BTreeSet<&String> = circle.iter().filter(|file| !hubs.contains(file)).collect();
    let among = |targets: &BTreeSet<String>| targets.iter().filter(|to| rest.contains(to)).cloned().collect();
    let inner: Edges =
        rest.iter().map(|file| (file.to_string(), edges.get(*file).map_or(BTreeSet::new(), among))).collect();
    hubs.iter().all(|hub| circle.contains(hub)) && components(&inner).is_empty()
}

/// The entries of the list for a crate.
fn listed(name: &str, allowed: &str, faults: &mut Vec<String>) -> Vec<Vec<String>> {
    let mut listed = Vec::new();
    for line in allowed.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let mut parts = line.splitn(3, ": ").map(str::trim);
        let (of, files, reason) = (parts.next(), parts.next(), parts.next());
        let Some(files) = files.filter(|_| reason.is_some_and(|reason| reason.len() > 10)) else {
            faults.push(format!("xtask/circles.txt: not `crate: file …: reason`: {line}"));
            continue;
        };
        if of == Some(name) {
            listed.push(files.split_whitespace().map(str::to_string).collect());
        }
    }
    listed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crate with these files, given as name and text.
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
        let edges = resolve::edges(&crate_of(&parts));
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
    fn a_file_beside_its_folder_is_the_front_of_it() {
        let parts = [
            ("lib.rs", "mod x;"),
            ("x.rs", "mod inner;\npub fn f() { inner::g() }"),
            ("x/inner.rs", "pub fn g() { super::f() }"),
        ];
        assert_eq!(file_circles(&parts), [["x.rs", "x/inner.rs"]]);
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
        assert_eq!(faults("c", &parts, "# why\nc: a.rs: they are one recursion"), Vec::<String>::new());
        assert_eq!(faults("c", &parts, "c: b.rs a.rs: they are one recursion"), Vec::<String>::new());
        assert_eq!(faults("c", &parts, "c: a.rs:").len(), 2, "an empty reason is none");
        assert_eq!(faults("c", &parts, "c: a.rs c.rs: they are one recursion").len(), 2, "another circle");
        assert_eq!(faults("c", &crate_of(&[("lib.rs", "")]), "c: a.rs: they are one recursion").len(), 1, "gone");
        assert_eq!(
            faults("d", &crate_of(&[("lib.rs", "")]), "c: a.rs: they are one recursion").len(),
            0,
            "not its own"
        );
    }

    #[test]
    fn a_circle_beside_the_listed_file_is_found() {
        let through = |b: &str| {
            crate_of(&[
                ("lib.rs", "mod hub;\nmod a;\nmod b;"),
                ("hub.rs", "pub fn f() { crate::a::g(); crate::b::h() }"),
                ("a.rs", "pub fn g() { crate::hub::f() }"),
                ("b.rs", b),
            ])
        };
        let allowed = "c: hub.rs: all call back for their parts";
        assert_eq!(
            faults("c", &through("pub fn h() { crate::hub::f(); crate::a::g() }"), allowed),
            Vec::<String>::new()
        );
        let mut planted = through("pub fn h() { crate::hub::f(); crate::a::g() }");
        planted.insert("a.rs".into(), "pub fn g() { crate::hub::f(); crate::b::h() }".into());
        assert_eq!(faults("c", &planted, allowed).len(), 2, "a and b import each other without the hub");
    }
}
