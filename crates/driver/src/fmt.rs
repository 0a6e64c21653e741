//! `mokume fmt`: formats files. Keeps: a file is written only if its text changes and the program stays the same.

use mokume_base::world::World;
use mokume_base::{Diagnostic, FileId, SourceMap};
use mokume_syntax::format::{format, Refused};

use crate::compile;
use crate::failure::Failure;

/// The result of formatting a text.
#[derive(Clone, Debug)]
pub enum Outcome {
    Same,
    Changed(String),
    /// It has mistakes, and is left unchanged.
    Refused(Vec<Diagnostic>),
}

/// Whether files are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    Write,
    Check,
}

/// The results for files, in the order of the command line.
#[derive(Debug, Default)]
pub struct Report {
    pub sources: SourceMap,
    pub files: Vec<(String, Outcome)>,
}

/// Formats files, and those below folders (the project's sources if there are no names).
pub fn files(world: &dyn World, names: &[String], mode: Mode) -> Result<Report, Failure> {
    let mut report = Report::default();
    for name in compile::files(world, names)? {
        let text = world
            .read_text(&name)
            .map_err(|error| Failure::of_use(format!("cannot read `{name}`: {error}"), "is the path right?"))?;
        let file = report.sources.add(name.as_str(), text.as_str());
        let outcome = laid_out(file, &name, &text)?;
        if let (Outcome::Changed(text), Mode::Write) = (&outcome, mode) {
            world.write(&name, text.as_bytes()).map_err(|error| {
                Failure::of_use(format!("cannot write `{name}`: {error}"), "is the file yours to write?")
            })?;
        }
        report.files.push((name, outcome));
    }
    Ok(report)
}

/// Formats a text; `name` is for messages.
pub fn text(name: &str, text: &str) -> Result<(SourceMap, Outcome), Failure> {
    let mut sources = SourceMap::default();
    let file = sources.add(name, text);
    Ok((sources, laid_out(file, name, text)?))
}

fn laid_out(file: FileId, name: &str, text: &str) -> Result<Outcome, Failure> {
    match format(file, text) {
        Ok(formatted) if formatted == text => Ok(Outcome::Same),
        Ok(formatted) => Ok(Outcome::Changed(formatted)),
        Err(Refused::Mistakes(diagnostics)) => Ok(Outcome::Refused(diagnostics)),
        Err(Refused::WouldChange { line }) => Err(Failure::of_use(
            format!("{name}:{line}: in its layout this would read as something else; the file is as it was"),
            "a fault of the formatter: please report it, with the file",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mokume_base::world::MemoryWorld;

    fn outcome(report: &Report, index: usize) -> (&str, bool) {
        let (name, outcome) = &report.files[index];
        (name, matches!(outcome, Outcome::Changed(_)))
    }

    #[test]
    fn only_what_differs_is_written_and_mistakes_are_left() {
        let files_of = ["good.mok", "other.mok", "wrong.mok"].map(str::to_string);
        let world = MemoryWorld::new()
            .with_file("good.mok", "use thin\n")
            .with_file("other.mok", "use   thin")
            .with_file("wrong.mok", "use   (");
        let report = files(&world, &files_of, Mode::Check).unwrap();
        assert_eq!(outcome(&report, 0), ("good.mok", false));
        assert_eq!(outcome(&report, 1), ("other.mok", true));
        assert!(matches!(&report.files[2].1, Outcome::Refused(found) if !found.is_empty()));
        assert_eq!(world.read_text("other.mok").unwrap(), "use   thin", "a check writes nothing");
        files(&world, &files_of, Mode::Write).unwrap();
        assert_eq!(world.read_text("other.mok").unwrap(), "use thin\n");
        assert_eq!(world.read_text("wrong.mok").unwrap(), "use   (");
    }

    #[test]
    fn a_file_that_is_not_there_is_said() {
        let failure = files(&MemoryWorld::new(), &["nowhere.mok".to_string()], Mode::Write).unwrap_err();
        assert!(failure.message.contains("nowhere.mok"), "{failure}");
    }
}
