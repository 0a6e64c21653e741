//! The library and its tests are parsed without a diagnostic, and the tree of every file has its whole text.

use crate::common;
use mokume_syntax::Fragment;
use std::path::{Path, PathBuf};

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            files_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "mok") {
            found.push(path);
        }
    }
}

pub fn files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder), &mut found);
    found.sort();
    found
}

#[test]
fn the_library_and_its_tests_are_read() {
    for path in files("library").into_iter().chain(files("tests/library")) {
        let text = std::fs::read_to_string(&path).expect("a file of the library");
        let found = common::shown(&text, &common::checked(&text, Fragment::File));
        assert!(found.is_empty(), "{}: {found:#?}", path.display());
    }
}

#[test]
fn every_file_keeps_its_text() {
    let all: Vec<PathBuf> = ["library", "tests", "examples", "crates"].into_iter().flat_map(files).collect();
    assert!(all.len() > 20, "the files are not found");
    for path in all {
        let text = std::fs::read_to_string(&path).expect("a file");
        common::checked(&text, Fragment::File);
    }
}
