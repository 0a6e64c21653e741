//! The formatter on every file of the repository, and on files with changed blanks and line ends.

use crate::common;
use mokume_base::{FileId, Random};
use mokume_syntax::format::{format, Refused};
use mokume_syntax::lexer::lex;
use mokume_syntax::SyntaxKind::WHITESPACE;
use std::path::{Path, PathBuf};

/// Folders whose files are formatted. Those of `tests/check` refer to columns in comments, and stay unchanged.
const FORMATTED: [&str; 5] = ["library", "examples", "benches", "tests/library", "tests/program"];

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            files_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "mok") {
            found.push(path);
        }
    }
}

fn files(folders: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in folders {
        files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder), &mut found);
    }
    found.sort();
    found.iter().map(|path| (path.display().to_string(), std::fs::read_to_string(path).expect("a file"))).collect()
}

/// Formats text without mistakes, and checks what holds for every text.
fn checked(name: &str, text: &str) -> Option<String> {
    let has_mistakes = !mokume_syntax::parse(FileId(0), text).diagnostics.is_empty();
    match format(FileId(0), text) {
        Ok(once) => {
            assert!(!has_mistakes, "{name} has mistakes and was not refused");
            let twice = format(FileId(0), &once).expect("the result is read again");
            assert_eq!(once, twice, "{name}: not idempotent, from\n{text}");
            Some(once)
        }
        Err(Refused::Mistakes(_)) => None,
        Err(Refused::WouldChange { line }) => panic!("{name}:{line}: the layout would change\n{text}"),
    }
}

/// The first line that is not formatted.
fn first_difference(text: &str, formatted: &str) -> Option<String> {
    let number = text.lines().zip(formatted.lines()).position(|(a, b)| a != b);
    let number = number.or((text != formatted).then(|| text.lines().count().min(formatted.lines().count())))?;
    let line = |text: &str| text.lines().nth(number).unwrap_or("").to_string();
    Some(format!("line {}:\n  {}\nshould be\n  {}", number + 1, line(text), line(formatted)))
}

#[test]
fn the_repository_is_formatted() {
    let all = files(&FORMATTED);
    assert!(all.len() > 40, "the files are not found");
    let mut wrong = Vec::new();
    for (name, text) in &all {
        let formatted = checked(name, text).unwrap_or_else(|| panic!("{name} has mistakes"));
        if std::env::var_os("BLESS").is_some() && formatted != *text {
            std::fs::write(name, &formatted).expect("the file is written");
        } else if let Some(difference) = first_difference(text, &formatted) {
            wrong.push(format!("{name}, {difference}"));
        }
    }
    assert!(wrong.is_empty(), "run `mokume fmt` on\n{}", wrong.join("\n"));
}

/// The planted fault of the test above.
#[test]
fn a_file_that_is_not_formatted_is_noticed() {
    let text = "use thin\nconst A:u8 = 1\n";
    let formatted = checked("planted", text).unwrap();
    assert!(first_difference(text, &formatted).is_some_and(|said| said.starts_with("line 2:")));
    assert!(first_difference(&formatted, &formatted).is_none());
    assert!(first_difference("use thin\n\n", "use thin\n").is_some());
}

#[test]
fn every_file_and_every_example_of_the_page_is_laid_out_or_refused() {
    for (name, text) in files(&["library", "examples", "benches", "tests", "crates"]) {
        checked(&name, &text);
    }
    for example in common::fenced() {
        checked(&format!("docs/language.md:{}", example.line), &example.text);
    }
}

/// The texts of the tokens, and which are white space.
fn pieces(text: &str) -> Vec<(String, bool)> {
    let (tokens, _) = lex(FileId(0), text);
    let slice = |start: u32, end: u32| text[start as usize..end as usize].to_string();
    tokens.iter().map(|token| (slice(token.start, token.end), token.kind == WHITESPACE)).collect()
}

fn significant(text: &str) -> Vec<String> {
    let kept = pieces(text).into_iter().filter(|(_, blank)| !blank);
    kept.map(|(text, _)| text.trim_end().to_string()).collect()
}

/// The text with some of its white space changed, inserted or removed, so that the tokens stay the same.
fn mutated(text: &str, blanks: &[&str], may_change: impl Fn(&str) -> bool, random: &mut Random) -> String {
    let mut pieces = pieces(text);
    for _ in 0..=random.place(5) {
        let at = random.place(pieces.len());
        let new = blanks[random.place(blanks.len())].to_string();
        let before = pieces.clone();
        if !pieces[at].1 {
            pieces.insert(at, (new, true));
        } else if may_change(&pieces[at].0) {
            pieces[at].0 = new;
        }
        let joined: String = pieces.iter().map(|(text, _)| text.as_str()).collect();
        if significant(&joined) != significant(text) {
            pieces = before;
        }
    }
    pieces.into_iter().map(|(text, _)| text).collect()
}

#[test]
fn two_thousand_mutations_of_white_space_are_laid_out_or_refused() {
    let all = files(&FORMATTED);
    let mut random = Random::new(0x6d6f_6b75_6d65);
    let blanks = ["", " ", "   ", "\t", "\n", "\n\n\n", " \r\n", "\n        "];
    let (mut laid_out, mut same) = (0, 0);
    for round in 0..2_000 {
        let (name, text) = &all[round % all.len()];
        let text = mutated(text, &blanks, |_| true, &mut random);
        if let Some(formatted) = checked(name, &text) {
            laid_out += 1;
            same += usize::from(formatted == text);
        }
    }
    println!("FIGURE: {laid_out} of 2000 mutations laid out, {} refused as mistakes", 2_000 - laid_out);
    assert!(laid_out > 1_000, "only {laid_out} mutations can be read: is anything tried?");
    assert!(same < laid_out / 10, "{same} mutations were formatted: does the mutation change anything?");
}

/// A value on one line: nested records, blocks and calls.
fn nested(random: &mut Random, depth: u32) -> String {
    let kinds = if depth == 0 { 1 } else { 4 };
    match random.place(kinds) {
        0 => "a_name_of_a_value".to_string(),
        1 => {
            let (first, second) = (nested(random, depth - 1), nested(random, depth - 1));
            format!("Seen {{ first_of_them: {first}, second: {second} }}")
        }
        2 => {
            let (then, otherwise) = (nested(random, depth - 1), nested(random, depth - 1));
            format!("if received > most {{ {then} }} else {{ {otherwise} }}")
        }
        _ => format!("most_of({}, {})", nested(random, depth - 1), nested(random, depth - 1)),
    }
}

#[test]
fn lines_that_are_too_long_are_broken_for_good() {
    let mut random = Random::new(0x6c6f_6e67);
    let mut broken = 0;
    for _ in 0..500 {
        let text = format!("fn f() {{\n    let x = {}\n}}\n", nested(&mut random, 4));
        let formatted = checked("a long line", &text).expect("it has no mistakes");
        broken += usize::from(formatted != text);
    }
    assert!(broken > 100, "only {broken} lines were too long");
}

#[test]
fn comments_anywhere_are_kept() {
    let all = files(&FORMATTED);
    let mut random = Random::new(0x636f_6d6d);
    let mut laid_out = 0;
    for round in 0..500 {
        let (name, text) = &all[round % all.len()];
        let mut pieces = pieces(text);
        let at = random.place(pieces.len());
        pieces.insert(at, (" // put in\n".to_string(), false));
        let text: String = pieces.into_iter().map(|(text, _)| text).collect();
        if let Some(formatted) = checked(name, &text) {
            laid_out += 1;
            assert!(formatted.contains("// put in\n"), "{name}: the comment is lost");
        }
    }
    assert!(laid_out > 100, "only {laid_out} can be read");
}

/// Code without the blanks before a trailing comment, whose column is the author's.
fn without_columns(text: &str) -> Vec<String> {
    let bare = |line: &str| match line.find("//") {
        Some(at) if !line[..at].trim().is_empty() => format!("{} {}", line[..at].trim_end(), &line[at..]),
        _ => line.to_string(),
    };
    text.lines().map(bare).collect()
}

/// Line ends are the author's choice, all else is not: other blanks within lines give the same result.
#[test]
fn blanks_within_lines_do_not_matter() {
    let mut random = Random::new(0x626c_616e);
    for (name, text) in files(&FORMATTED) {
        let expected = without_columns(&checked(&name, &text).unwrap());
        for _ in 0..8 {
            let blanks_only = |blank: &str| !blank.contains('\n');
            let changed = mutated(&text, &["", " ", "    ", "\t"], blanks_only, &mut random);
            let Some(formatted) = checked(&name, &changed) else { panic!("{name}: blanks made a mistake\n{changed}") };
            assert_eq!(without_columns(&formatted), expected, "{name}, from\n{changed}");
        }
    }
}
