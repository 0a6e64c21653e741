//! What is visible in a file: its own items, its module's, and those of what it uses itself (decision 0114).

use mokume_base::SourceMap;
use mokume_semantics::{analyse_files, Loader};

/// Files by name, and one module of two files.
struct Files(&'static [(&'static str, &'static str)]);

impl Loader for Files {
    fn module(&mut self, name: &str) -> Option<Vec<(String, String)>> {
        let files: Vec<_> = self
            .0
            .iter()
            .filter(|(file, _)| file.starts_with(&format!("library/{name}/")) && !file.contains(".."))
            .collect();
        let owned = files.into_iter().map(|(file, text)| (file.to_string(), text.to_string()));
        Some(owned.collect()).filter(|files: &Vec<_>| !files.is_empty())
    }
    fn file(&mut self, from: &str, name: &str) -> Option<(String, String)> {
        let beside = from.rsplit_once('/').map_or(name.to_string(), |(folder, _)| format!("{folder}/{name}"));
        let found = self.0.iter().find(|(file, _)| *file == beside)?;
        Some((found.0.to_string(), found.1.to_string()))
    }
    fn modules(&self) -> Vec<String> {
        vec!["shelves".into()]
    }
}

/// The codes of the errors in the first file and all that it uses, each with its first help.
fn found(files: &'static [(&'static str, &'static str)]) -> Vec<String> {
    let mut sources = SourceMap::default();
    let root = sources.add(files[0].0, files[0].1);
    let (_, found) = analyse_files(&mut sources, &[root], &mut Files(files));
    let first = |found: &mokume_base::Diagnostic| {
        format!("{} {}", found.code.0, found.helps.first().map_or("", String::as_str))
    };
    found.iter().map(first).collect()
}

#[test]
fn what_a_used_file_uses_is_not_seen() {
    let files = &[
        ("a.mok", "use \"b.mok\"\nconst OWN: u32 = FAR + NEAR"),
        ("b.mok", "use \"parts/c.mok\"\nconst NEAR: u32 = FAR"),
        ("parts/c.mok", "const FAR: u32 = 7"),
    ];
    assert_eq!(found(files), ["M0201 `parts/c.mok` has it: write `use \"parts/c.mok\"`"]);
}

#[test]
fn a_module_is_seen_whole_and_what_it_uses_is_not() {
    let files = &[
        ("a.mok", "use shelves\nconst OWN: u32 = LOW + HIGH + INNER"),
        ("library/shelves/low.mok", "use \"../inner/inner.mok\"\nconst LOW: u32 = HIGH + INNER"),
        ("library/shelves/high.mok", "const HIGH: u32 = 7"),
        ("library/shelves/../inner/inner.mok", "const INNER: u32 = 1"),
    ];
    let [only] = &found(files)[..] else { panic!("{:?}", found(files)) };
    assert!(only.starts_with("M0201 "), "{only}");
}

#[test]
fn what_a_used_file_uses_does_not_clash() {
    let files = &[
        ("a.mok", "use \"b.mok\", \"d.mok\"\nconst OWN: u32 = SIZE"),
        ("b.mok", "use \"c.mok\"\nconst NEAR: u32 = SIZE"),
        ("c.mok", "const SIZE: u32 = 7"),
        ("d.mok", "const SIZE: u32 = 8"),
    ];
    assert_eq!(found(files), [""; 0]);
}

#[test]
fn one_forgotten_use_is_one_error() {
    let files = &[
        (
            "a.mok",
            "use \"b.mok\"\nworker W { entity { var all: Pair = Pair { left: FAR, right: far(2) } }\non send(msg) { all.left = far(FAR)  if all.left == 1 { drop msg: one } else { pass } } }",
        ),
        ("b.mok", "use \"c.mok\"\nconst NEAR: u32 = FAR"),
        ("c.mok", "const FAR: u32 = 7\nrecord Pair { left: u32, right: u32 }\nfn far(x: u32) -> u32 { return x }"),
    ];
    assert_eq!(found(files), ["M0202 `c.mok` has it: write `use \"c.mok\"`"]);
}
