//! Checks that each test runs, and that a test that skips itself says so where it is counted.
//!
//! The tests of a crate are one program, `all` (`crates/driver/tests/all.rs`), which keeps linking short. A file that
//! it does not name would never run. A test prints `SKIPPED: why` if it cannot do its work, and is `#[ignore =
//! "campaign: NAME"]` if a run of `./campaign` has it.

use std::path::{Path, PathBuf};

/// The faults of one crate's tests; `campaign` gives the names of the runs.
pub fn faults<N: Iterator<Item = &'static str>>(folder: &Path, campaign: impl Fn() -> N) -> Vec<String> {
    let mut found = Vec::new();
    let files = rust_files(&folder.join("tests"), false);
    let all = std::fs::read_to_string(folder.join("tests/all.rs")).ok();
    let names = files.iter().filter_map(|path| path.file_stem()?.to_str());
    if let Some(all) = &all {
        found.extend(unnamed(names, all).map(|name| format!("{}/tests/all.rs does not name `{name}`", shown(folder))));
    }
    for path in [folder.join("tests"), folder.join("src")].iter().flat_map(|of| rust_files(of, true)) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let known = |name: &str| campaign().any(|known| known == name);
        let wrong = text.lines().enumerate().filter_map(|(index, line)| Some((index + 1, wrong(line, &known)?)));
        found.extend(wrong.map(|(line, what)| format!("{}:{line}: {what}", shown(&path))));
    }
    found
}

/// A path relative to the repository.
fn shown(path: &Path) -> String {
    path.strip_prefix(crate::root()).unwrap_or(path).display().to_string()
}

/// The Rust files of a folder; with `deep`, of its subfolders too.
fn rust_files(folder: &Path, deep: bool) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() && deep {
            files.extend(rust_files(&path, deep));
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Test files that the program `all` does not name.
fn unnamed<'a>(files: impl Iterator<Item = &'a str> + 'a, all: &'a str) -> impl Iterator<Item = &'a str> + 'a {
    files.filter(move |name| *name != "all" && !all.lines().any(|line| line == format!("mod {name};")))
}

/// What is wrong with a line that skips a test without being counted; `None` if nothing is.
fn wrong(line: &str, known: &dyn Fn(&str) -> bool) -> Option<&'static str> {
    let line = line.trim_start();
    if let Some(attribute) = line.strip_prefix("#[ignore") {
        let name = attribute.split_once("campaign: ").and_then(|(_, rest)| rest.split('"').next());
        return (!name.is_some_and(known)).then_some("an ignored test names its run, `#[ignore = \"campaign: NAME\"]`");
    }
    let text = line.split_once("println!(\"").map(|(_, text)| text)?;
    let skips = text.to_lowercase().contains("skipped") && !text.starts_with("SKIPPED: ");
    let counted = !line.contains("eprintln!");
    (skips || text.starts_with("SKIPPED: ") && !counted)
        .then_some("a test that leaves itself out prints `SKIPPED: why`, by println")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_run_is_found() {
        let all = "//! All.\n\nmod common;\nmod here;\n";
        assert_eq!(unnamed(["all", "here", "gone"].into_iter(), all).collect::<Vec<_>>(), ["gone"]);
    }

    #[test]
    fn skips_that_nobody_counts_are_found() {
        let known = |name: &str| name == "spin";
        let wrong = |line: &str| wrong(line, &known).is_some();
        let print = ["print", "ln!(\""].concat();
        assert!(!wrong(&format!("    {print}SKIPPED: no tshark\");")));
        assert!(wrong(&format!("    {print}skipped: no tshark\");")));
        assert!(wrong(&format!("    e{print}SKIPPED: no clang\");")));
        assert!(wrong("#[ignore]") && wrong("#[ignore = \"slow\"]") && wrong("#[ignore = \"campaign: snip\"]"));
        assert!(!wrong("#[ignore = \"campaign: spin\"]"));
    }
}
