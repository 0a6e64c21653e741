//! Checks that evaluators name every operation: code that runs, translates, explores or proves operations has no arm
//! for "all others". So a new operation does not compile there until it is handled. Matches that only look for some
//! operations are listed in `xtask/catch_alls.txt`, each with a reason.

use std::collections::BTreeMap;

use crate::words::{words, Word};

/// The crates that must handle every operation.
pub const EVALUATORS: [&str; 5] = ["compose", "emit_c", "explore", "interpret", "prove"];

/// The enumerations of the automaton form.
const FORM: [&str; 3] = ["Fallible", "OpKind", "Terminator"];

/// The number of matches over operations in a text that have an arm for all others.
fn catch_alls(text: &str) -> usize {
    let words = words(text);
    let names = aliases(&words);
    let starts = words.iter().enumerate().filter(|(_, word)| word.text == "match").map(|(at, _)| at);
    starts.filter(|at| is_open(&words, *at, &names)).count()
}

/// The enumerations, and the file's aliases for them: `use mokume_reaction::OpKind as K`.
fn aliases(words: &[Word]) -> Vec<String> {
    let renamed = words.windows(3).filter(|three| FORM.contains(&three[0].text.as_str()) && three[1].text == "as");
    let own = FORM.iter().map(|name| (*name).to_string());
    own.chain(renamed.map(|three| three[2].text.clone())).collect()
}

fn is_open(words: &[Word], at: usize, names: &[String]) -> bool {
    let depth = words[at].depth;
    let Some(start) = words[at..].iter().position(|word| word.text == "{" && word.depth == depth) else { return false };
    let inside = &words[at + start + 1..];
    let end = inside.iter().position(|word| word.text == "}" && word.depth == depth).unwrap_or(inside.len());
    let patterns = patterns(&inside[..end], depth + 1);
    let of_form = |pattern: &&[Word]| pattern.windows(2).any(|two| names.contains(&two[0].text) && two[1].text == "::");
    let first_is = patterns.iter().find(|pattern| !is_all(pattern)).is_some_and(of_form);
    first_is && patterns.iter().any(|pattern| is_all(pattern))
}

/// Whether a pattern matches all: `_`, or a lower-case name without a guard.
fn is_all(pattern: &[Word]) -> bool {
    matches!(pattern, [only] if only.text.starts_with(|c: char| c == '_' || c.is_lowercase()))
}

/// The patterns of a match: the text before each `=>`, without attributes.
fn patterns(inside: &[Word], depth: usize) -> Vec<&[Word]> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut at = 0;
    while at + 1 < inside.len() {
        let arrow = inside[at].text == "=" && inside[at + 1].text == ">" && inside[at].depth == depth;
        if !arrow {
            at += 1;
            continue;
        }
        found.push(&inside[from..at]);
        at = behind_arm(inside, at + 2, depth);
        from = at;
    }
    found
}

/// Where the next pattern begins: after a block, or after the comma that ends an expression.
fn behind_arm(inside: &[Word], from: usize, depth: usize) -> usize {
    let is_block = inside.get(from).is_some_and(|word| word.text == "{");
    let mut brackets = 0i32;
    for (at, word) in inside.iter().enumerate().skip(from) {
        match word.text.as_str() {
            "(" | "[" => brackets += 1,
            ")" | "]" => brackets -= 1,
            "}" if is_block && word.depth == depth => {
                return at + 1 + usize::from(inside.get(at + 1).is_some_and(|next| next.text == ","));
            }
            "," if word.depth == depth && brackets == 0 && !is_block => return at + 1,
            _ => {}
        }
    }
    inside.len()
}

/// The faults in the evaluators' sources, by path. `allowed` holds lines `file: how many: reason`.
pub fn faults(sources: &BTreeMap<String, String>, allowed: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut listed: BTreeMap<&str, usize> = BTreeMap::new();
    for line in allowed.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let mut parts = line.splitn(3, ": ").map(str::trim);
        match (parts.next(), parts.next().and_then(|many| many.parse().ok()), parts.next()) {
            (Some(file), Some(many), Some(reason)) if reason.len() > 10 => drop(listed.insert(file, many)),
            _ => faults.push(format!("xtask/catch_alls.txt: not `file: how many: reason`: {line}")),
        }
    }
    let of_evaluators = |file: &String| EVALUATORS.iter().any(|name| file.starts_with(&format!("crates/{name}/src/")));
    for (file, text) in sources.iter().filter(|(file, _)| of_evaluators(file)) {
        let (found, known) = (catch_alls(text), listed.remove(file.as_str()).unwrap_or(0));
        if found > known {
            faults.push(format!("{file}: {found} matches over operations take all others together, and {known} may"));
        } else if found < known {
            faults.push(format!("xtask/catch_alls.txt allows {file} {known} catch-alls, and it has {found}"));
        }
    }
    faults.extend(listed.keys().map(|file| format!("xtask/catch_alls.txt lists {file}, which is no such source")));
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arm_for_all_others_is_found() {
        let planted = "fn f() { match op { OpKind::Get { .. } => 1, OpKind::Set { a } => { g(a, b) } _ => 2 } }";
        assert_eq!(catch_alls(planted), 1);
        assert_eq!(catch_alls(&planted.replace("_ =>", "other =>")), 1, "by a name");
        assert_eq!(catch_alls(&planted.replace("_ =>", "OpKind::Now {} =>")), 0);
        assert_eq!(catch_alls(&planted.replace("OpKind", "K")), 0, "nobody knows what K is");
        assert_eq!(catch_alls(&format!("use mokume_reaction::OpKind as K; {}", planted.replace("OpKind", "K"))), 1);
        assert_eq!(
            catch_alls("match op { OpKind::Get { cell } => match cell { 1 => 2, _ => 3 }, OpKind::Now {} => 1 }"),
            0
        );
        assert_eq!(catch_alls("match ty { Type::Bool => 1, _ => 2 }"), 0);
        assert_eq!(catch_alls("let a = matches!(op, OpKind::Get { .. });"), 0);
    }

    #[test]
    fn the_list_says_why_and_does_not_drift() {
        let text = "fn f() { match op { OpKind::Get { .. } => 1, _ => 2 } }".to_string();
        let sources = BTreeMap::from([("crates/prove/src/a.rs".to_string(), text)]);
        assert_eq!(faults(&sources, "").len(), 1);
        assert_eq!(faults(&sources, "crates/prove/src/a.rs: 1: it looks for one of them"), [""; 0]);
        assert_eq!(faults(&sources, "crates/prove/src/a.rs: 2: it looks for one of them").len(), 1);
        assert_eq!(faults(&sources, "crates/prove/src/a.rs: 1:").len(), 2, "no reason");
        let elsewhere =
            BTreeMap::from([("crates/draw/src/a.rs".to_string(), sources["crates/prove/src/a.rs"].clone())]);
        assert_eq!(faults(&elsewhere, ""), [""; 0]);
    }
}
