//! Wrong programs as tests: `//^^^ error[M0401]` marks the place of each diagnostic, and there must be no others.
//!
//! Keeps: does not check a diagnostic's text; a mark is a place, a severity and a code.

use mokume_base::{Diagnostic, Severity, SourceMap};

/// A line and a column, both from 1, and `error[M0401]`.
pub type Mark = (u32, u32, String);

fn is_mark(line: &str) -> bool {
    line.trim_start().starts_with("//^")
}

/// The program without its marks, and the marks.
pub fn read(text: &str) -> (String, Vec<Mark>) {
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

/// The place of a diagnostic, and its width. A mark needs two columns for `//` before it, so the first two columns
/// count as the third.
pub fn mark(sources: &SourceMap, diagnostic: &Diagnostic) -> (Mark, u32) {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let what = format!("{severity}[{}]", diagnostic.code.0);
    let Some(place) = &diagnostic.primary else { return ((1, 3, what), 1) };
    let (line, column) = sources.line_column(place.span.file, place.span.start);
    let text = &sources.file(place.span.file).text[place.span.start as usize..place.span.end as usize];
    let width = text.lines().next().unwrap_or("").chars().count() as u32;
    ((line, column.max(3), what), width)
}

/// The differences between the file's marks and the diagnostics.
pub fn faults(name: &str, expected: &[Mark], sources: &SourceMap, diagnostics: &[Diagnostic]) -> Vec<String> {
    let found: Vec<Mark> = diagnostics.iter().map(|diagnostic| mark(sources, diagnostic).0).collect();
    let missing = expected.iter().filter(|mark| !found.contains(mark)).map(|mark| format!("{name}: missing {mark:?}"));
    let others =
        found.iter().filter(|mark| !expected.contains(mark)).map(|mark| format!("{name}: not marked {mark:?}"));
    missing.chain(others).collect()
}

/// The program with a mark for each diagnostic.
pub fn marked(program: &str, sources: &SourceMap, diagnostics: &[Diagnostic]) -> String {
    let marks: Vec<(Mark, u32)> = diagnostics.iter().map(|diagnostic| mark(sources, diagnostic)).collect();
    let mut blessed = String::new();
    for (index, line) in program.lines().enumerate() {
        blessed += &format!("{line}\n");
        for ((_, column, what), width) in marks.iter().filter(|((line, _, _), _)| *line == index as u32 + 1) {
            let (space, line) = (*column as usize - 3, (*width).clamp(1, 40) as usize);
            blessed += &format!("{}//{} {what}\n", " ".repeat(space), "^".repeat(line));
        }
    }
    blessed
}
