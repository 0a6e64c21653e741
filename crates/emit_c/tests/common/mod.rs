//! The files of `tests/run`, read, and where test programs are built.
#![allow(dead_code)]

use std::path::{Path, PathBuf};

use mokume_base::SourceMap;
use mokume_compose::{compose, Options};
use mokume_emit_c::Build;
use mokume_reaction::Automaton;
use mokume_testkit::{parse, split, Script};

/// A file of run tests: its stack, uncomposed or composed, and what must come out.
pub struct RunFile {
    pub name: String,
    pub automaton: Automaton,
    pub scripts: Vec<Script>,
}

/// Every file of `tests/run`, uncomposed; and composed, where it can be.
pub fn run_files() -> Vec<RunFile> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/run");
    let entries = std::fs::read_dir(folder).expect("tests/run");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ra"));
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (automaton, scripts) = read(&path);
        let composed = compose(&automaton, Options::default()).automaton;
        files.push(RunFile { name: format!("{name} uncomposed"), automaton, scripts: scripts.clone() });
        if let Some(automaton) = composed {
            files.push(RunFile { name: format!("{name} composed"), automaton, scripts });
        }
    }
    files
}

/// The files that the text form is tested with.
pub fn right_files() -> Vec<RunFile> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reaction/right");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("tests/reaction/right") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (automaton, scripts) = read(&path);
        files.push(RunFile { name, automaton, scripts });
    }
    files
}

fn read(path: &Path) -> (Automaton, Vec<Script>) {
    let text = std::fs::read_to_string(path).expect("a file of tests");
    let (automaton, tests, line) = split(&text);
    let mut map = SourceMap::default();
    let id = map.add(path.display().to_string(), automaton);
    let parsed = mokume_reaction::text::parse(id, automaton);
    assert!(parsed.diagnostics.is_empty(), "{}: {}", path.display(), parsed.diagnostics[0].message);
    let scripts = parse(&parsed.automaton, tests, line).expect("tests");
    (parsed.automaton, scripts)
}

pub fn automata(files: &[RunFile]) -> Vec<&Automaton> {
    files.iter().map(|file| &file.automaton).collect()
}

/// Test programs are kept beside the other results of the build.
pub fn build() -> Build {
    Build::new(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("emit_c"))
}

/// A program of its own, with sanitizers.
pub fn sanitized() -> Build {
    Build {
        optimize: 1,
        coverage: true,
        sanitize: mokume_emit_c::Sanitize::AddressUndefined,
        transport: mokume_emit_c::Transport::Process,
        ..build()
    }
}
