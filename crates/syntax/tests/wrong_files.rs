//! Wrong files and their diagnostics: `NAME.mok` in `wrong` and `NAME.txt`; `BLESS=1` rewrites the latter.

use crate::common;
use mokume_base::{render_all, Colour, FileId, SourceMap};
use mokume_syntax::{Fragment, CODES};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrong")
}

fn wrong_files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).expect("the folder of wrong files");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "mok"));
    files.sort();
    files
}

fn said_about(path: &Path) -> String {
    let text = std::fs::read_to_string(path).expect("a wrong file");
    let mut sources = SourceMap::default();
    sources.add(path.file_name().unwrap().to_string_lossy(), &text);
    let parse = common::checked(&text, Fragment::File);
    render_all(&parse.diagnostics, &sources, Colour::Off)
}

/// The difference, or `None`.
fn difference(said: &str, expected: &str) -> Option<String> {
    if said == expected {
        return None;
    }
    let line = said.lines().zip(expected.lines()).take_while(|(a, b)| a == b).count();
    Some(format!(
        "line {}:\n  said     {:?}\n  expected {:?}",
        line + 1,
        said.lines().nth(line).unwrap_or(""),
        expected.lines().nth(line).unwrap_or("")
    ))
}

#[test]
fn wrong_files_are_told_what_is_wrong() {
    let mut differences = Vec::new();
    for path in wrong_files() {
        let said = said_about(&path);
        assert!(said.contains("error[M0"), "{} is not wrong", path.display());
        let expected = path.with_extension("txt");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&expected, &said).expect("write what is said");
            continue;
        }
        let expected = std::fs::read_to_string(&expected).unwrap_or_default();
        if let Some(difference) = difference(&said, &expected) {
            differences.push(format!("{}: {difference}", path.display()));
        }
    }
    assert!(differences.is_empty(), "{}\n(bless with BLESS=1)", differences.join("\n"));
}

/// The planted fault of the test above: a changed text is noticed.
#[test]
fn a_difference_is_noticed() {
    let path = folder().join("semicolons.mok");
    let said = said_about(&path);
    assert_eq!(difference(&said, &said), None);
    assert!(difference(&said, &said.replace("no `;`", "a `;`")).is_some());
    assert!(difference(&said, "").is_some());
}

#[test]
fn every_code_is_met_by_a_wrong_file() {
    let mut met = BTreeSet::new();
    for path in wrong_files() {
        let text = std::fs::read_to_string(path).expect("a wrong file");
        met.extend(mokume_syntax::parse(FileId(0), &text).diagnostics.iter().map(|d| d.code.0));
    }
    let missing: Vec<&str> = CODES.iter().map(|code| code.0).filter(|code| !met.contains(code)).collect();
    assert!(missing.is_empty(), "no wrong file has {missing:?}");
    let unlisted: Vec<&&str> = met.iter().filter(|code| !CODES.iter().any(|listed| listed.0 == **code)).collect();
    assert!(unlisted.is_empty(), "no table has {unlisted:?}");
}

// ---- one mistake does not hide the next ----

fn codes_of(text: &str, what: Fragment) -> Vec<&'static str> {
    common::checked(text, what).diagnostics.iter().map(|d| d.code.0).collect()
}

/// Whether `all` contains all of `parts`, as often as they occur.
fn contains(all: &[&str], parts: &[&str]) -> bool {
    parts.iter().all(|part| count(all, part) >= count(parts, part))
}

fn count(all: &[&str], one: &str) -> usize {
    all.iter().filter(|code| **code == one).count()
}

const STATEMENTS: &[&str] = &[
    "x = ",
    "let x 3",
    "let = 3",
    "drop msg",
    "dorp msg: x",
    "if a = 3 { }",
    "if { }",
    "while a { }",
    "x = (1 + 2",
    "x = f(1, 2",
    "foo bar",
    "start t",
    "start t after",
    "x := 3",
    "x++",
    "a < b < c",
    "match a { b -> { } }",
    "match a { b => return }",
    "take kept { return }",
    "x = 20ms",
    "x = \"one",
    "for x 0 .. 3 limit 3 { }",
    "else { }",
    "x = a.",
    "x = -3",
    "x = _",
    "fail timeout",
    "x = 1;",
    "let y = Pair { left = 1 }",
    "x = a as",
    "later foo",
    "x = 'a'",
    "if a { x = } else { y = }",
    "var x = 3",
    "int x = 3",
    "x = c ? a : b",
];
const MEMBERS: &[&str] = &[
    "hedaer { seq: u32 }",
    "on { }",
    "on send(msg { }",
    "publish mtu = 3",
    "limit send 3",
    "uses Resolve",
    "var x: u32 = 0",
    "session { x: u32 = 0 }",
    "entity { var x = 0 }",
    "fn f { }",
    "object E { }",
    "key { port u16, }",
    "reads a b",
    "function f() { }",
    "on send(msg) { x = }",
    "header { A { }, B { } }",
    "session { timr t }",
    "on expiry { }",
    "header seq: u32",
    "session var x: u32 = 0",
    "on send(msg) below.send(msg)",
    "on send msg { }",
    "on send(msg) -> u32 { }",
    "object E[u32] { }",
    "entity { map m: [u32 -> u48] }",
    "entity { quota k = 3 }",
    "key port: u16",
    "session { array a: u32[8] }",
    "limit: 3",
    "publish a(flow): u32 =",
    "serves",
    "address { a: }",
    "on deliver(Data seq) { }",
    "};",
];
const ITEMS: &[&str] = &[
    "wroker A { }",
    "use",
    "use a b",
    "const A = 3",
    "type A",
    "record A { a u32 }",
    "enum A { B }",
    "bundle A = B, C",
    "bundle A",
    "fn f(a) -> u32 { }",
    "worker { }",
    "wire A { b = 3 }",
    "stack A { b: C }",
    "test { }",
    "network { x }",
    "attribute a = 3",
    "service A { out }",
    "import a",
    "worker A { on send(msg) { x = } }",
    "struct A { a: u32 }",
    "worker A(a: ) { }",
    "const A: u8 = ",
    "garbage",
    "}",
    ")",
];
const WIRES: &[&str] =
    &["a = 3", "b: u8 = ", "c", "trim to a", "where", "choice a { 1 -> B { } }", "d: = 3", "e: u8 = 1;", "f: u8 = 3,"];
const STACKS: &[&str] =
    &["a: B", "a = ", "a = B on c", "exports a", "a = B over", "a = B over c[3]", "a = B with", "export"];
const STEPS: &[&str] = &["-> a.b()", "expect nothing", "dropped", "after", "a.b(", "a = 3", "=>", "wait 3 ms", "stack"];

/// Whether the next line may rightly continue: an `if` with an `else`, a list after its opening bracket.
fn continues(first: &str, second: &str) -> bool {
    first.starts_with("if ") && second.starts_with("else")
        || first == "a.b("
        || lacks_its_brace(first) && second == "};"
}

/// A `}` further down belongs to the missing `{`.
fn lacks_its_brace(text: &str) -> bool {
    ["header seq: u32", "session var x: u32 = 0", "on send(msg) below.send(msg)", "key port: u16"].contains(&text)
}

#[test]
fn one_mistake_does_not_hide_the_next() {
    let lists = [
        (Fragment::Statements, STATEMENTS),
        (Fragment::Members, MEMBERS),
        (Fragment::File, ITEMS),
        (Fragment::Wire, WIRES),
        (Fragment::Stack, STACKS),
        (Fragment::TestSteps, STEPS),
    ];
    let mut hidden = Vec::new();
    for (what, texts) in lists {
        for first in texts {
            assert!(!codes_of(first, what).is_empty(), "{what:?} {first} is not wrong");
            for second in texts {
                let (alone, after) = (codes_of(second, what), codes_of(&format!("{first}\n{second}"), what));
                let mut both = codes_of(first, what);
                both.extend(&alone);
                if !contains(&after, &both) && !continues(first, second) {
                    hidden.push(format!("{what:?} {first} ⏎ {second}: {both:?}, but together {after:?}"));
                }
            }
        }
    }
    assert!(hidden.is_empty(), "{} pairs:\n{}", hidden.len(), hidden.join("\n"));
}
