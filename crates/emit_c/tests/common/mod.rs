//! Reads the files of `tests/run`, and builds test programs.
#![allow(dead_code)]

use std::path::{Path, PathBuf};

use mokume_base::RealWorld;
use mokume_base::SourceMap;
use mokume_compose::{compose, Options};
use mokume_emit_c::Build;
use mokume_reaction::profile::Profile;
use mokume_reaction::Automaton;
use mokume_testkit::{parse, split, Script};

/// A file of run tests: its stack, uncomposed or composed, and the expected results.
pub struct RunFile {
    pub name: String,
    pub automaton: Automaton,
    pub scripts: Vec<Script>,
}

/// Every file of `tests/run`, and our own ones, at both levels: uncomposed and composed.
pub fn run_files() -> Vec<RunFile> {
    let own = files("crates/emit_c/tests/stacks");
    files("tests/run").into_iter().chain(own).flat_map(levels).collect()
}

/// The files that the text form is tested with, at both levels.
pub fn right_files() -> Vec<RunFile> {
    files("tests/reaction/right").into_iter().flat_map(levels).collect()
}

fn files(folder: &str) -> Vec<RunFile> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ra"));
    paths.sort();
    let file = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (automaton, scripts) = read(path);
        RunFile { name, automaton, scripts }
    };
    paths.iter().map(file).collect()
}

fn levels(file: RunFile) -> Vec<RunFile> {
    let level = |name: &str, automaton: Automaton| RunFile {
        name: format!("{} {name}", file.name),
        automaton,
        scripts: file.scripts.clone(),
    };
    let layers = Automaton { composition: None, paths: Vec::new(), ..file.automaton.clone() };
    // A stack that cannot be composed is left out: its cycles do not end.
    let Some(composed) = compose(&layers, Options::default()).automaton else { return Vec::new() };
    // Paths that the file gives stand in place of those that are found.
    let fused = match file.automaton.paths.is_empty() {
        true => mokume_fuse::with_memos(&composed, &Profile::default(), 0),
        false => Automaton { paths: file.automaton.paths.clone(), ..composed.clone() },
    };
    vec![level("uncomposed", layers), level("composed", composed), level("fused", fused)]
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

/// Test programs are cached beside the other results of the build.
pub fn build() -> Build<'static> {
    // The compiler's time counts as the test's: level 1 finds as much as level 2.
    Build { optimize: 1, ..Build::new(&RealWorld, PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("emit_c")) }
}

/// A separate process, with sanitizers.
pub fn sanitized() -> Build<'static> {
    Build {
        optimize: 0,
        coverage: true,
        sanitize: mokume_emit_c::Sanitize::AddressUndefined,
        transport: mokume_emit_c::Transport::Process,
        ..build()
    }
}

/// The output of a program that uses only the runtime, compiled with these flags, in a separate folder.
pub fn ran_with_runtime(name: &str, program: &str, flags: &[&str]) -> String {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    let write =
        |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file in the folder of tests");
    mokume_emit_c::RUNTIME.iter().for_each(|(name, text)| write(name, text));
    write("main.c", program);
    let compiled = std::process::Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-I.", "-o", "program", "main.c", "mokume.c"])
        .args(flags)
        .current_dir(&folder)
        .output()
        .expect("a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = std::process::Command::new(folder.join("program")).output().expect("the program");
    format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr))
}
