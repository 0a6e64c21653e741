//! Lists of exceptions: `file: word …: reason`. They are compared with what is found, so that they stay complete and
//! current.

use std::collections::BTreeMap;

/// A list, and its texts for messages.
pub struct List<'a> {
    /// Its path.
    pub path: &'a str,
    pub text: &'a str,
    /// The message about a file that has one of the words: `{file} reaches past …`.
    pub fault: &'a dyn Fn(&str, &str) -> String,
}

impl List<'_> {
    /// What is found but not listed, what is listed but not found, and lines without a reason.
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

/// Whether a file contains tests only; such files have no restrictions.
pub fn is_test(file: &str) -> bool {
    file.ends_with("/tests.rs") || file.contains("/tests/")
}
