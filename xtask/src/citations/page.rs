//! Pages: what can be cited of them, and the law, whose rules name their tests.

use std::collections::BTreeSet;

use super::{bare, Repository};

/// The page whose rules have numbers.
pub const LAW: &str = "docs/semantics.md";

/// Whether a word is spelled as a rule, `O3` or `A12`, or as a section of the law, `O`.
pub fn is_rule(name: &str) -> bool {
    let mut marks = name.chars();
    marks.next().is_some_and(|letter| letter.is_ascii_uppercase())
        && marks.all(|digit| digit.is_ascii_digit())
        && name.len() < 4
}

/// The citable parts of a page: `7` of `## 7. Statements`, `O` of `## O. Order`, `O3` of `**O3. But …`.
pub fn parts(page: &str) -> BTreeSet<String> {
    page.lines().filter_map(part).map(str::to_string).collect()
}

fn part(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix("## ").or_else(|| line.strip_prefix("**"))?.split_once('.')?;
    (is_rule(name) || name.parse::<u32>().is_ok()).then_some(name)
}

/// The faults of the law: a rule without tests, a test that does not exist, a cited rule that does not exist.
pub fn faults(repository: &Repository) -> Vec<String> {
    let Some(text) = repository.files.get(LAW) else { return vec![format!("`{LAW}` is missing")] };
    let mut faults = Vec::new();
    let mut rule = "";
    let mut has_tests = true;
    for line in text.lines() {
        if let Some(tests) = line.strip_prefix("*Tests:*") {
            has_tests = true;
            faults.extend(missing_tests(repository, tests).into_iter().map(|fault| format!("{LAW}, {rule}: {fault}")));
        } else if let (true, Some(next)) = (line.starts_with("**"), part(line)) {
            faults.extend((!has_tests).then(|| format!("{LAW}, {rule}: no test is named")));
            (rule, has_tests) = (next, false);
        }
        faults.extend(missing_rules(repository, line).into_iter().map(|fault| format!("{LAW}, {rule}: {fault}")));
    }
    faults.extend((!has_tests).then(|| format!("{LAW}, {rule}: no test is named")));
    faults
}

/// Rules in parentheses, `(R6)`, `(A8, F6, M1)`, that are not on the page.
fn missing_rules(repository: &Repository, line: &str) -> Vec<String> {
    let inside = line.split('(').skip(1).filter_map(|rest| rest.split_once(')'));
    let words = inside.flat_map(|(inside, _)| inside.split_whitespace().map(bare));
    let cited = words.filter(|word| is_rule(word) && word.len() > 1);
    cited.filter(|rule| !repository.parts[LAW].contains(*rule)).map(|rule| format!("there is no rule {rule}")).collect()
}

/// Tests that do not exist. Tests are paths in backquotes; a name after one, in backquotes or quotes, is a function or
/// a test of that file.
fn missing_tests(repository: &Repository, tests: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut file = "";
    for (name, mark) in quoted(tests) {
        match repository.files.get(name).or_else(|| repository.files.get(file)) {
            None => faults.push(format!("`{name}` is not in the repository")),
            Some(_) if repository.files.contains_key(name) => file = name,
            Some(text) => {
                let wanted = if mark == '`' { format!("fn {name}(") } else { format!("\"{name}\"") };
                if !text.contains(&wanted) {
                    faults.push(format!("`{file}` has no test {name}"));
                }
            }
        }
    }
    faults
}

/// The texts between two backquotes or two quotes, with the mark.
fn quoted(mut text: &str) -> Vec<(&str, char)> {
    let mut found = Vec::new();
    while let Some(start) = text.find(['`', '"']) {
        let mark = if text[start..].starts_with('`') { '`' } else { '"' };
        let Some(length) = text[start + 1..].find(mark) else { break };
        found.push((&text[start + 1..start + 1 + length], mark));
        text = &text[start + length + 2..];
    }
    found
}
