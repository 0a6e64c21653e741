//! The automata in `tests/reaction`: right ones go through parse, verify, print and parse; wrong ones are refused.

use std::path::{Path, PathBuf};

use mokume_base::{Diagnostic, SourceMap};
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
    let files = files("right");
    assert!(!files.is_empty());
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (first, map) = parsed(&name, &read(&path));
        assert_eq!(shown(&map, &first.diagnostics), "", "{name}");
        let text = print(&first.automaton);
        let (second, map) = parsed(&name, &text);
        assert_eq!(shown(&map, &second.diagnostics), "", "{name}, printed:\n{text}");
        assert!(second.automaton == first.automaton, "{name}: parse(print(a)) is not a");
        assert_eq!(print(&second.automaton), text, "{name}");
    }
}
