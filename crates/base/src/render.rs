//! Diagnostics as text for people and as JSON lines for tools.
//!
//! Keeps: the same diagnostics give the same text, ordered by files and places; a wrong place never makes it panic.

use crate::{Diagnostic, FileId, Label, Severity, SourceMap, Span};
use annotate_snippets::{renderer::DecorStyle, AnnotationKind, Element, Group, Level, Renderer, Snippet};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Whether text for people is coloured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colour {
    On,
    Off,
}

/// Sorts by file and place, then errors before warnings; diagnostics without a place come last. Removes duplicates.
pub fn sort(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by_key(|d| {
        let place = d.primary.as_ref().map(|label| (label.span.file, label.span.start, label.span.end));
        (place.is_none(), place, d.severity, d.code)
    });
    diagnostics.dedup();
}

/// The text of one diagnostic for people, with its source lines.
pub fn render(diagnostic: &Diagnostic, sources: &SourceMap, colour: Colour) -> String {
    let renderer = match colour {
        Colour::On => Renderer::styled(),
        Colour::Off => Renderer::plain(),
    };
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group =
        level.primary_title(diagnostic.message.as_str()).id(diagnostic.code.0).elements(Vec::<Element>::new());
    let (labels, elsewhere) = shown(diagnostic, sources);
    for file in files_of(&labels) {
        group = group.element(snippet(&labels, file, sources));
    }
    for note in &elsewhere {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    for help in &diagnostic.helps {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let groups: [Group; 1] = [group];
    renderer.decor_style(DecorStyle::Ascii).render(&groups) + "\n"
}

/// The text of all diagnostics, separated by empty lines.
pub fn render_all(diagnostics: &[Diagnostic], sources: &SourceMap, colour: Colour) -> String {
    diagnostics.iter().map(|d| render(d, sources, colour)).collect::<Vec<_>>().join("\n")
}

/// The most places that one message shows; the rest is only counted.
const MOST_PLACES: usize = 8;

/// How many octets apart two places of one line may be to be shown together. A line may be as long as its file, and
/// each message would print all of it.
const NEAR: usize = 240;

/// The labels to show in the source, the primary first, and the texts about the labels that are left out.
fn shown<'a>(diagnostic: &'a Diagnostic, sources: &SourceMap) -> (Vec<(AnnotationKind, &'a Label)>, Vec<String>) {
    let primary = diagnostic.primary.as_ref();
    let mut labels: Vec<_> = primary.iter().map(|label| (AnnotationKind::Primary, *label)).collect();
    let mut notes = Vec::new();
    for label in diagnostic.labels.iter().take(MOST_PLACES) {
        if primary.is_some_and(|primary| is_far(primary.span, label.span, sources)) {
            let (line, column) = sources.line_column(label.span.file, label.span.start);
            notes.push(format!("{}:{line}:{column}: {}", sources.file(label.span.file).name, label.text));
        } else {
            labels.push((AnnotationKind::Context, label));
        }
    }
    let more = diagnostic.labels.len().saturating_sub(MOST_PLACES);
    notes.extend((more > 0).then(|| format!("and {more} more places")));
    (labels, notes)
}

/// Whether two places are on one line but far from each other.
fn is_far(one: Span, other: Span, sources: &SourceMap) -> bool {
    let source = sources.file(one.file);
    let far = (one.start.abs_diff(other.start) as usize).max(one.end.abs_diff(other.start) as usize) > NEAR;
    one.file == other.file && far && source.line_of(one.start) == source.line_of(other.start)
}

/// The files of the labels, the primary's first.
fn files_of(labels: &[(AnnotationKind, &Label)]) -> Vec<FileId> {
    let mut files: Vec<FileId> = Vec::new();
    for (_, label) in labels {
        if !files.contains(&label.span.file) {
            files.push(label.span.file);
        }
    }
    files
}

fn snippet<'a>(
    labels: &[(AnnotationKind, &'a Label)],
    file: FileId,
    sources: &'a SourceMap,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let source = sources.file(file);
    let all: Vec<(AnnotationKind, &Label)> =
        labels.iter().filter(|(_, label)| label.span.file == file).copied().collect();
    let ranges: Vec<Range<usize>> = all.iter().map(|(_, label)| in_short(label.span, &source.text)).collect();
    // Only the lines with labels: the work then depends on the message, not on the size of the file, however many
    // messages there are.
    let first = source.line_of(ranges.iter().map(|range| range.start).min().unwrap_or(0) as u32);
    let last = source.line_of(ranges.iter().map(|range| range.end).max().unwrap_or(0) as u32);
    let window = source.line_start(first)..source.line_start(last + 1);
    let annotations = all.into_iter().zip(ranges).map(|((kind, label), range)| {
        let text = (!label.text.is_empty()).then_some(label.text.as_str());
        kind.span(range.start - window.start..range.end - window.start).label(text)
    });
    Snippet::source(&source.text[window.clone()])
        .line_start(first + 1)
        .path(source.name.as_str())
        .annotations(annotations)
}

/// The part of a place to mark: only the front, if the place is long and on one line.
fn in_short(span: Span, text: &str) -> Range<usize> {
    let range = range_within(span, text);
    let most = range_within(Span::new(span.file, span.start, span.start.saturating_add(NEAR as u32)), text);
    if range.end > most.end && !text[range.clone()].contains('\n') {
        return most;
    }
    range
}

/// The span's octets, clamped to the text and moved to character boundaries.
fn range_within(span: Span, text: &str) -> Range<usize> {
    let border = |at: u32| {
        let mut at = (at as usize).min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let (start, end) = (border(span.start), border(span.end));
    start..end.max(start)
}

/// A diagnostic for tools: one JSON object a line. Lines and columns count from 1, columns in characters.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct JsonDiagnostic {
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub end: Option<JsonPlace>,
    pub code: String,
    pub severity: String,
    pub message: String,
    pub labels: Vec<JsonLabel>,
    pub notes: Vec<String>,
    pub helps: Vec<String>,
}

/// Line and column, both from 1, the column in characters.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct JsonPlace {
    pub line: u32,
    pub column: u32,
}

/// A label; the first label of a diagnostic is the primary one.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct JsonLabel {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub end: JsonPlace,
    pub text: String,
}

/// The diagnostic as one line of JSON, with its line break.
pub fn json_line(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let line = serde_json::to_string(&json(diagnostic, sources)).expect("strings and numbers are JSON");
    line + "\n"
}

/// The diagnostic as data for [`json_line`].
pub fn json(diagnostic: &Diagnostic, sources: &SourceMap) -> JsonDiagnostic {
    let labels: Vec<JsonLabel> =
        diagnostic.primary.iter().chain(&diagnostic.labels).map(|label| json_label(label, sources)).collect();
    let primary = diagnostic.primary.as_ref().and(labels.first());
    JsonDiagnostic {
        file: primary.map(|label| label.file.clone()),
        line: primary.map(|label| label.line),
        column: primary.map(|label| label.column),
        end: primary.map(|label| label.end),
        code: diagnostic.code.0.to_string(),
        severity: match diagnostic.severity {
            Severity::Error => "error".to_string(),
            Severity::Warning => "warning".to_string(),
        },
        message: diagnostic.message.clone(),
        labels,
        notes: diagnostic.notes.clone(),
        helps: diagnostic.helps.clone(),
    }
}

fn json_label(label: &Label, sources: &SourceMap) -> JsonLabel {
    let (line, column) = sources.line_column(label.span.file, label.span.start);
    let (end_line, end_column) = sources.line_column(label.span.file, label.span.end);
    JsonLabel {
        file: sources.file(label.span.file).name.clone(),
        line,
        column,
        end: JsonPlace { line: end_line, column: end_column },
        text: label.text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    fn example() -> (SourceMap, Diagnostic) {
        let mut sources = SourceMap::default();
        let file = sources.add("echo.mok", "worker Echo {\n    above.deliver(msg)\n    below.send(msg)\n}\n");
        let diagnostic = Diagnostic::error(Code("M0214"), "`msg` is delivered and then sent")
            .at(Span::new(file, 52, 55), "and used again here")
            .label(Span::new(file, 32, 35), "given away here")
            .note("a message is given away exactly once on every path")
            .help("to send a copy as well, write `above.deliver(msg.share())`");
        (sources, diagnostic)
    }

    #[test]
    fn a_diagnostic_shows_code_place_labels_reason_and_way_out() {
        let (sources, diagnostic) = example();
        let expected = "\
error[M0214]: `msg` is delivered and then sent
 --> echo.mok:3:16
  |
2 |     above.deliver(msg)
  |                   --- given away here
3 |     below.send(msg)
  |                ^^^ and used again here
  |
  = note: a message is given away exactly once on every path
  = help: to send a copy as well, write `above.deliver(msg.share())`
";
        assert_eq!(render(&diagnostic, &sources, Colour::Off), expected);
        assert!(render(&diagnostic, &sources, Colour::On).contains("\u{1b}["));
    }

    /// Without the limit, many messages about a line of one megabyte would each print that megabyte.
    #[test]
    fn a_long_line_is_not_shown_whole() {
        let mut sources = SourceMap::default();
        let file = sources.add("long.mok", format!("let a = {}b }}\n", "x + ".repeat(20_000)));
        let end = 8 + 4 * 20_000;
        let far = Diagnostic::error(Code("M0401"), "`a` is lost")
            .at(Span::new(file, 4, 5), "made here")
            .label(Span::new(file, end, end + 1), "and the block ends here");
        let text = render(&far, &sources, Colour::Off);
        assert!(text.len() < 1000 && text.contains("  = note: long.mok:1:80009: and the block ends here"), "{text}");
        let whole = Diagnostic::error(Code("M0401"), "too long").at(Span::new(file, 8, end), "this");
        assert!(render(&whole, &sources, Colour::Off).len() < 1000);
        let places = (0..20).map(|at| Span::new(file, 8 + at * 4, 9 + at * 4));
        let many = places.fold(Diagnostic::error(Code("M0401"), "many"), |all, at| all.label(at, "one"));
        let text = render(&many, &sources, Colour::Off);
        assert!(text.matches(" one").count() == 8 && text.contains("and 12 more places"), "{text}");
    }

    #[test]
    fn json_has_every_part_and_reads_back() {
        let (sources, diagnostic) = example();
        let line = json_line(&diagnostic, &sources);
        assert_eq!(line.matches('\n').count(), 1);
        let back: JsonDiagnostic = serde_json::from_str(&line).unwrap();
        assert_eq!((back.line, back.column, back.code.as_str()), (Some(3), Some(16), "M0214"));
        assert_eq!((back.end.unwrap().column, back.labels.len(), back.labels[1].line), (19, 2, 2));
        assert_eq!(back, json(&diagnostic, &sources));
    }

    #[test]
    fn order_is_by_file_and_place_and_equal_ones_are_said_once() {
        let at =
            |file: u32, start: u32| Diagnostic::error(Code("M0001"), "m").at(Span::new(FileId(file), start, start), "");
        let nowhere = Diagnostic::error(Code("M0000"), "m");
        let mut all = vec![nowhere.clone(), at(1, 0), at(0, 9), at(0, 2), at(0, 9)];
        sort(&mut all);
        assert_eq!(all, vec![at(0, 2), at(0, 9), at(1, 0), nowhere]);
    }

    #[test]
    fn places_outside_of_the_text_do_no_harm() {
        let mut sources = SourceMap::default();
        let file = sources.add("a.mok", "é\n");
        for (start, end) in [(0, 1), (1, 1), (1, 2), (3, 3), (7, 9), (2, 0)] {
            let diagnostic = Diagnostic::warning(Code("M0001"), "m").at(Span::new(file, start, end), "here");
            assert!(render(&diagnostic, &sources, Colour::Off).starts_with("warning[M0001]: m"));
            json_line(&diagnostic, &sources);
        }
        let empty = sources.add("empty.mok", "");
        let diagnostic = Diagnostic::error(Code("M0001"), "m").at(Span::new(empty, 0, 0), "here");
        assert!(render(&diagnostic, &sources, Colour::Off).contains("empty.mok:1:1"));
        let nowhere = Diagnostic::error(Code("M0001"), "m").help("h");
        assert!(render(&nowhere, &sources, Colour::Off).contains("help: h"));
    }
}
