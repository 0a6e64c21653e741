//! Lists of exceptions: `file: word …: reason`, held against what was found, so that no line is missing and none drifts.

use std::collections::BTreeMap;

/// A list, and how to speak of it.
pub struct List<'a> {
    /// Its path, for messages.
    pub path: &'a str,
    pub text: &'a str,
    /// What a file does that has one of the words: `{file} reaches past …`.
    pub fault: &'a dyn Fn(&str, &str) -> String,
}

impl List<'_> {
    /// What is found and not listed, listed and not found, and lines that give no reason.
    pub fn faults(&self, found: &BTreeMap<String, Vec<String>>) -> Vec<String> {
        let path = self.path;
        let mut faults = Vec::new();
        let mut listed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for line in self.text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            let mut parts = line.splitn(3, ": ").map(str::trim);
            match (parts.next(), parts.next(), parts.next()) {
                (Some(file), Some(words), Some(reason)) if reason.len() > 10 => {
                    listed.entry(file).or_default().extend(words.split_whitespace());
                }
                _ => faults.push(format!("{path}: not `file: word …: reason`: {line}")),
            }
        }
        for (file, words) in found {
            let known = listed.remove(file.as_str()).unwrap_or_default();
            for word in words.iter().filter(|word| !known.contains(&word.as_str())) {
                faults.push(format!("{}, and {path} gives no reason", (self.fault)(file, word)));
            }
            for word in known.iter().filter(|word| !words.iter().any(|found| found == *word)) {
                faults.push(format!("{path} lists `{word}` of {file}, which does not use it"));
            }
        }
        faults.extend(listed.keys().map(|file| format!("{path} lists {file}, which is no source")));
        faults
    }
}

/// Tests in files of their own: they may do what they must.
pub fn is_test(file: &str) -> bool {
    file.ends_with("/tests.rs") || file.contains("/tests/")
}
