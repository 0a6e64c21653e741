//! The automata in `tests/reaction`: right ones go through parse, verify, print and parse; wrong ones are refused.

use std::path::{Path, PathBuf};

use mokume_base::{Diagnostic, SourceMap};
use mokume_reaction::diagnose;
use mokume_reaction::text::{parse, print, Parsed};

fn files(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reaction").join(folder);
    let entries = std::fs::read_dir(&root).unwrap_or_else(|error| panic!("{}: {error}", root.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ra"));
    files.sort();
    files
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn parsed(name: &str, text: &str) -> (Parsed, SourceMap) {
    let mut map = SourceMap::default();
    let file = map.add(name, text);
    (parse(file, text), map)
}

fn shown(map: &SourceMap, diagnostics: &[Diagnostic]) -> String {
    let one = |diagnostic: &Diagnostic| {
        let (line, column) =
            diagnostic.primary.as_ref().map_or((0, 0), |label| map.line_column(label.span.file, label.span.start));
        format!("{line}:{column}: {}: {} {:?}\n", diagnostic.code.0, diagnostic.message, diagnostic.helps)
    };
    diagnostics.iter().map(one).collect()
}

#[test]
fn right_automata_survive_print_and_parse() {
    // `form` has every construct and little sense; other tests also run `right`.
    let files = [files("right"), files("form")].concat();
    assert!(files.len() > 2);
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (first, map) = parsed(&name, &read(&path));
        assert_eq!(shown(&map, &first.diagnostics), "", "{name}");
        let faults = diagnose(&first.automaton, &first.places);
        assert_eq!(shown(&map, &faults), "", "{name}");
        let text = print(&first.automaton);
        let (second, map) = parsed(&name, &text);
        assert_eq!(shown(&map, &second.diagnostics), "", "{name}, printed:\n{text}");
        assert!(second.automaton == first.automaton, "{name}: parse(print(a)) is not a");
        assert_eq!(print(&second.automaton), text, "{name}");
    }
}

/// `; error M0814` at the end of a line: the code belongs to that line.
fn expected(text: &str) -> Vec<(u32, String)> {
    let lines = text.lines().zip(1u32..);
    lines.filter_map(|(line, number)| Some((number, line.split_once("; error ")?.1.trim().to_owned()))).collect()
}

#[test]
fn wrong_automata_are_refused_with_the_right_code_at_the_right_line() {
    let mut failures = String::new();
    let files = files("wrong");
    assert!(files.len() >= 25);
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = read(&path);
        let (parsed, map) = parsed(&name, &text);
        let mut found = parsed.diagnostics;
        if found.is_empty() {
            found = diagnose(&parsed.automaton, &parsed.places);
        }
        let line = |diagnostic: &Diagnostic| {
            diagnostic.primary.as_ref().map_or(0, |label| map.line_column(label.span.file, label.span.start).0)
        };
        let mut got: Vec<(u32, String)> =
            found.iter().map(|diagnostic| (line(diagnostic), diagnostic.code.0.to_owned())).collect();
        got.sort();
        got.dedup();
        let wanted = expected(&text);
        if wanted.is_empty() || got != wanted {
            failures += &format!("{name}: wanted {wanted:?}, got\n{}", shown(&map, &found));
        }
    }
    assert_eq!(failures, "");
}

#[test]
fn every_code_has_a_page_and_its_wrong_automaton() {
    let texts: String = files("wrong").iter().map(|path| read(path)).collect();
    for code in mokume_reaction::codes::CODES {
        let file = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/diagnostics/{}.md", code.0)));
        let page = mokume_base::Page::read(&file).unwrap_or_else(|| panic!("{}", code.0));
        let (text, example) = page.text.split_once("\n\n    ").unwrap_or_else(|| panic!("{} has no example", code.0));
        assert!(page.code == code.0 && !page.title.is_empty() && !text.is_empty() && !example.is_empty(), "{}", code.0);
        // Dangling identifiers cannot be written in the text form.
        let in_text = *code != mokume_reaction::codes::DANGLING;
        assert_eq!(texts.contains(code.0), in_text, "{}", code.0);
    }
}

#[test]
fn a_message_used_twice_is_shown_at_both_places() {
    let path = files("wrong").into_iter().find(|path| path.ends_with("message_twice.ra")).unwrap();
    let (parsed, map) = parsed("message_twice.ra", &read(&path));
    let found = diagnose(&parsed.automaton, &parsed.places);
    let [diagnostic] = &found[..] else { panic!("{found:?}") };
    let line = |span: mokume_base::Span| map.line_column(span.file, span.start).0;
    assert_eq!(diagnostic.message, "`m` is given away twice");
    let (first, second) = (&diagnostic.labels[0], diagnostic.primary.as_ref().unwrap());
    assert_eq!(first.text, "given away here");
    assert_eq!(line(second.span) - line(first.span), 3);
    assert_eq!(diagnostic.helps, ["to give a copy away as well, `share` it before"]);
}
