//! Wrong programs, a file each in `tests/check`: `//^^^ error[M0401]` stands under the place of each diagnostic, and there are
//! no others. `BLESS=1` writes the marks anew.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mokume_base::{Diagnostic, Severity, SourceMap};
use mokume_semantics::{analyse_files, Loader};

/// A line and a column from 1, and `error[M0401]`.
type Mark = (u32, u32, String);

/// A library of two modules, so that these tests do not move with the real one.
struct Small;

impl Loader for Small {
    fn module(&mut self, name: &str) -> Option<Vec<(String, String)>> {
        let text = match name {
            "internet" => "record Ipv4Cidr { address: u32, prefix: u8 }\nattribute ttl: u8 = 64\n",
            "ethernet" => "use internet\nmultiplexor Types { key symmetric { type: u16 } }\n",
            _ => return None,
        };
        Some(vec![(format!("library/{name}.mok"), text.to_string())])
    }
    fn file(&mut self, _from: &str, _name: &str) -> Option<(String, String)> {
        None
    }
    fn modules(&self) -> Vec<String> {
        vec!["internet".into(), "ethernet".into()]
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/check")
}

fn is_mark(line: &str) -> bool {
    line.trim_start().starts_with("//^")
}

/// The program without its marks, and the marks.
fn read(text: &str) -> (String, Vec<Mark>) {
    let (mut program, mut marks, mut number) = (String::new(), Vec::new(), 0);
    for line in text.lines() {
        if !is_mark(line) {
            number += 1;
            program += line;
            program.push('\n');
            continue;
        }
        let column = line.chars().take_while(|c| *c != '^').count() as u32 + 1;
        let what = line.trim_start().trim_start_matches(['/', '^']).trim().to_string();
        marks.push((number, column, what));
    }
    (program, marks)
}

fn check(name: &str, program: &str) -> (SourceMap, Vec<Diagnostic>) {
    let mut sources = SourceMap::default();
    let root = sources.add(name, program);
    let (_, diagnostics) = analyse_files(&mut sources, &[root], &mut Small);
    (sources, diagnostics)
}

fn mark(sources: &SourceMap, diagnostic: &Diagnostic) -> (Mark, u32) {
    let span = diagnostic.primary.as_ref().expect("every diagnostic has a place").span;
    let (line, column) = sources.line_column(span.file, span.start);
    let severity = if diagnostic.severity == Severity::Error { "error" } else { "warning" };
    let text = &sources.file(span.file).text[span.start as usize..span.end.max(span.start) as usize];
    let width = text.lines().next().unwrap_or("").chars().count() as u32;
    ((line, column, format!("{severity}[{}]", diagnostic.code.0)), width)
}

/// What the file's marks and the diagnostics do not agree on.
fn faults(name: &str, text: &str) -> Vec<String> {
    let (program, expected) = read(text);
    let (sources, diagnostics) = check(name, &program);
    let found: Vec<Mark> = diagnostics.iter().map(|diagnostic| mark(&sources, diagnostic).0).collect();
    let missing = expected.iter().filter(|mark| !found.contains(mark)).map(|mark| format!("{name}: missing {mark:?}"));
    let others =
        found.iter().filter(|mark| !expected.contains(mark)).map(|mark| format!("{name}: not marked {mark:?}"));
    missing.chain(others).collect()
}

fn bless(path: &Path, text: &str) {
    let (program, _) = read(text);
    let (sources, diagnostics) = check("blessed.mok", &program);
    let marks: Vec<(Mark, u32)> = diagnostics.iter().map(|diagnostic| mark(&sources, diagnostic)).collect();
    let mut blessed = String::new();
    for (index, line) in program.lines().enumerate() {
        blessed += &format!("{line}\n");
        for ((at, column, what), width) in marks.iter().filter(|((at, _, _), _)| *at == index as u32 + 1) {
            assert!(*column > 2, "a place at the line's start cannot be marked: {at}");
            blessed += &format!(
                "{}//{} {what}\n",
                " ".repeat(*column as usize - 3),
                "^".repeat((*width).clamp(1, 40) as usize)
            );
        }
    }
    std::fs::write(path, blessed).expect("blessed");
}

fn files() -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(folder()).expect("tests/check").flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "mok")).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).expect("a file"))).collect()
}

#[test]
fn every_diagnostic_stands_where_it_is_marked() {
    let mut all = Vec::new();
    for (path, text) in files() {
        if std::env::var_os("BLESS").is_some() {
            bless(&path, &text);
            continue;
        }
        all.extend(faults(&path.file_name().unwrap_or_default().to_string_lossy(), &text));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn a_wrong_mark_is_found() {
    let text = "worker Plain { on send(msg) { } }\n                     //^^^ error[M0401]\n";
    assert!(faults("here.mok", text).is_empty(), "{:?}", faults("here.mok", text));
    assert_eq!(faults("here.mok", &text.replace("M0401", "M0402")).len(), 2, "another code");
    assert_eq!(faults("here.mok", &text.replace("  //^", " //^")).len(), 2, "another column");
    assert_eq!(faults("here.mok", text.lines().next().expect("a line")).len(), 1, "no mark");
}

#[test]
fn the_files_meet_many_codes_and_each_has_a_way_out() {
    let files = files();
    let mut codes = BTreeSet::new();
    for (path, text) in &files {
        let (program, marks) = read(text);
        assert!(!marks.is_empty(), "{} is a wrong program", path.display());
        for diagnostic in check("file.mok", &program).1 {
            codes.insert(diagnostic.code.0);
            let place = diagnostic.primary.as_ref().expect("every diagnostic has a place");
            assert!(!place.text.is_empty(), "{} says what is here", diagnostic.code.0);
            assert!(
                !diagnostic.helps.is_empty() && diagnostic.helps.iter().all(|help| !help.is_empty()),
                "{} {} has a way out",
                path.display(),
                diagnostic.code.0
            );
        }
    }
    assert!(files.len() >= 35, "{} files", files.len());
    assert!(codes.len() >= 28, "{} codes: {codes:?}", codes.len());
}
