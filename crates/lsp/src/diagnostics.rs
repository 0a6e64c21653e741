//! Diagnostics as editors show them: the reason and the help in the text, related places, and a link to the page of the
//! code.

use ls_types::{
    CodeDescription, Diagnostic as Shown, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Location,
    NumberOrString, Position, Range, Uri,
};
use mokume_base::{Code, Diagnostic, FileId, Severity, Span};
use mokume_driver::Failure;
use mokume_semantics::codes;

/// Diagnostics about unnecessary code, which editors show dimmed.
const UNUSED: [Code; 4] = [codes::UNUSED_STATE, codes::UNUSED_PARAMETER, codes::UNUSED_SERVICE, codes::UNUSED_WIRE];

/// What is needed to show a diagnostic.
pub struct Shower<'s> {
    /// The location of a span; `None` if an editor cannot open the file.
    pub location: &'s dyn Fn(Span) -> Option<Location>,
    /// The address of a code's page.
    pub page: &'s dyn Fn(&str) -> Option<Uri>,
    /// Whether the editor shows related places.
    pub has_related: bool,
}

impl Shower<'_> {
    /// A diagnostic with its file; `None` if the editor cannot open the file.
    pub fn show(&self, found: &Diagnostic) -> Option<(FileId, Shown)> {
        let primary = found.primary.as_ref()?;
        let range = (self.location)(primary.span)?.range;
        let mut text = vec![found.message.clone()];
        text.extend((!primary.text.is_empty()).then(|| format!("here: {}", primary.text)));
        let mut related = Vec::new();
        for label in &found.labels {
            match (self.location)(label.span).filter(|_| self.has_related) {
                Some(location) => related.push(DiagnosticRelatedInformation { location, message: label.text.clone() }),
                None => text.push(format!("also: {}", label.text)),
            }
        }
        text.extend(found.notes.iter().map(|note| format!("note: {note}")));
        text.extend(found.helps.iter().map(|help| format!("help: {help}")));
        let severity = match found.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        };
        let is_unused = UNUSED.contains(&found.code);
        let shown = Shown {
            range,
            severity: Some(severity),
            code: Some(NumberOrString::String(found.code.0.to_string())),
            code_description: (self.page)(found.code.0).map(|href| CodeDescription { href }),
            source: Some("mokume".to_string()),
            message: text.join("\n"),
            related_information: (!related.is_empty()).then_some(related),
            tags: is_unused.then(|| vec![DiagnosticTag::UNNECESSARY]),
            data: None,
        };
        Some((primary.span.file, shown))
    }
}

/// A failure to read the project, shown at the beginning of the file.
pub fn of_failure(failure: &Failure) -> Shown {
    Shown {
        range: Range::default(),
        severity: Some(DiagnosticSeverity::ERROR),
        source: Some("mokume".to_string()),
        message: format!("{}\nhelp: {}", failure.message, failure.help),
        ..Shown::default()
    }
}

/// The failed steps of tests, for the text that ran: each with its line, from 1, and the reason.
pub fn of_steps(failed: &[(u32, String)]) -> Vec<Shown> {
    let shown = |(line, why): &(u32, String)| {
        let line = line.saturating_sub(1);
        Shown {
            // To the end of the line; editors cut the range there.
            range: Range::new(Position::new(line, 0), Position::new(line, u32::from(u16::MAX))),
            severity: Some(DiagnosticSeverity::ERROR),
            source: Some("mokume test".to_string()),
            message: why.clone(),
            ..Shown::default()
        }
    };
    failed.iter().map(shown).collect()
}
