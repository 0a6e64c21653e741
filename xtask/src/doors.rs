//! Doors: where a source accesses the machine that it runs on. Sources must do that through `World`, except the files
//! of `xtask/doors.txt`, each with its words and a reason.

use std::collections::BTreeMap;

use crate::listed::{is_test, List};
use crate::words::{words, Word};

/// Modules of the standard library that are doors.
const MODULES: [&str; 5] = ["env", "fs", "net", "os", "process"];

/// Names that are doors by themselves.
const NAMES: [&str; 6] = ["OpenOptions", "SystemTime", "UdpSocket", "libc", "libloading", "signal_hook"];

/// The doors in a text, in order and each once: `std::fs`, `libc`, `Instant::now`, …
pub fn doors(text: &str) -> Vec<String> {
    let words = words(text);
    let mut found: Vec<String> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let name = word.text.as_str();
        if name == "std" {
            found.extend(modules(&words[at + 1..]).map(|module| format!("std::{module}")));
        } else if NAMES.contains(&name) {
            found.push(name.to_string());
        } else if name == "Instant" && follows(&words[at + 1..], &["::", "now"]) {
            found.push("Instant::now".to_string());
        }
    }
    found.sort();
    found.dedup();
    found
}

fn follows(words: &[Word], texts: &[&str]) -> bool {
    words.len() >= texts.len() && words.iter().zip(texts).all(|(word, text)| word.text == *text)
}

/// The doors in what follows `std`: `::fs`, or some of `::{fs, io}`.
fn modules(behind: &[Word]) -> impl Iterator<Item = &str> {
    let is_group = follows(behind, &["::", "{"]);
    let depth = behind.get(2).map_or(0, |word| word.depth);
    let end = if is_group { behind.iter().skip(2).position(|word| word.depth < depth).unwrap_or(0) + 2 } else { 2 };
    let heads = behind.iter().enumerate().take(end).skip(1).filter(move |(at, word)| {
        *at == 1 && behind[0].text == "::"
            || is_group && word.depth == depth && ["{", ","].contains(&behind[at - 1].text.as_str())
    });
    heads.map(|(_, word)| word.text.as_str()).filter(|name| MODULES.contains(name))
}

/// The faults about doors of all sources, by path; `allowed` holds lines `file: door …: reason`.
pub fn faults(sources: &BTreeMap<String, String>, allowed: &str) -> Vec<String> {
    let of_file = |(file, text): (&String, &String)| (file.clone(), doors(text));
    let found = sources.iter().filter(|(file, _)| !is_test(file)).map(of_file).collect();
    let fault = |file: &str, door: &str| format!("{file} reaches past `World` by `{door}`");
    List { path: "xtask/doors.txt", text: allowed, fault: &fault }.faults(&found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doors_are_found_by_path_and_by_name() {
        assert_eq!(doors("let t = std::fs::read(name);"), ["std::fs"]);
        assert_eq!(
            doors("use std::{collections::BTreeMap, env, io::{self, Read}, process::Command};"),
            ["std::env", "std::process"]
        );
        assert_eq!(doors("use libc::c_int; let now = Instant::now();"), ["Instant::now", "libc"]);
        assert_eq!(doors("use std::io::{env, Read}; let ty = Type::Instant; enum Command { Check }"), [""; 0]);
        assert_eq!(doors("// std::fs\nlet s = \"std::env\"; #[cfg(test)] mod tests { use std::fs; }"), [""; 0]);
    }

    fn faults_of(file: &str, text: &str, allowed: &str) -> Vec<String> {
        faults(&BTreeMap::from([(file.to_string(), text.to_string())]), allowed)
    }

    #[test]
    fn a_planted_door_is_found() {
        let planted = "fn f() { std::fs::read(\"x\"); }";
        assert_eq!(faults_of("crates/a/src/b.rs", planted, "").len(), 1);
        let allowed = "# why\ncrates/a/src/b.rs: std::fs: it is the one that may";
        assert_eq!(faults_of("crates/a/src/b.rs", planted, allowed), [""; 0]);
        assert_eq!(faults_of("crates/a/src/b.rs", "fn f() { std::env::args(); }", allowed).len(), 2, "another door");
        assert_eq!(faults_of("crates/a/src/tests.rs", planted, ""), [""; 0], "tests may");
    }

    #[test]
    fn the_list_says_why_and_does_not_drift() {
        let plain = "fn f() {}";
        assert_eq!(
            faults_of("crates/a/src/b.rs", plain, "crates/a/src/b.rs: std::fs: it is the one that may").len(),
            1
        );
        assert_eq!(faults_of("crates/a/src/b.rs", plain, "crates/a/src/gone.rs: std::fs: it is the one").len(), 1);
        assert_eq!(faults_of("crates/a/src/b.rs", plain, "crates/a/src/b.rs: std::fs:").len(), 1, "no reason");
    }
}
