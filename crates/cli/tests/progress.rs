//! Long work shows its progress: on a terminal, and nowhere else.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A network whose run takes some seconds.
const LONG: &[&str] = &["sim", "examples/chat.mok", "--seeds", "100000"];

/// Runs it for this many seconds on a separate terminal; returns all output.
fn on_a_terminal(arguments: &[&str], seconds: u32) -> Option<String> {
    let line = format!("timeout -s INT {seconds} '{}' {}", env!("CARGO_BIN_EXE_mokume"), arguments.join(" "));
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).current_dir(root()).stdin(Stdio::null());
    command.output().ok().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn elsewhere(arguments: &[&str]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["-s", "INT", "3", env!("CARGO_BIN_EXE_mokume")]).args(arguments);
    command.current_dir(root()).output().expect("timeout runs")
}

#[test]
fn many_seeds_say_how_far_they_are_on_a_terminal() {
    let Some(seen) = on_a_terminal(LONG, 4) else {
        println!("SKIPPED: there is no `script` here");
        return;
    };
    assert!(seen.contains(" of 100000 seeds, 0 failed"), "{seen:?}");
    // The same line is rewritten.
    assert!(seen.matches(" seeds, 0 failed").count() > 3 && seen.matches('\n').count() < 5, "{seen:?}");
}

#[test]
fn a_command_that_is_short_shows_nothing_of_it() {
    let Some(seen) = on_a_terminal(&["check", "examples/meter.mok"], 60) else { return };
    assert_eq!(seen.trim(), "checked 1 file: no errors", "{seen:?}");
}

#[test]
fn nothing_is_shown_where_nobody_looks() {
    let silent = elsewhere(LONG);
    assert_eq!(String::from_utf8_lossy(&silent.stderr), "");
    let Some(seen) = on_a_terminal(&[LONG, &["--format", "json"]].concat(), 3) else { return };
    assert!(!seen.contains("seeds, "), "{seen:?}");
}

#[test]
fn many_pages_show_that_they_are_being_made() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("progress");
    let arguments = ["doc", "library", "tests/library", "examples", "-o", &folder.to_string_lossy()];
    let Some(seen) = on_a_terminal(&arguments, 60) else { return };
    assert!(seen.contains("reading sources, and making pages of them"), "{seen:?}");
    assert!(seen.trim_end().ends_with("index.html"), "the line is gone when the command ends: {seen:?}");
    let silent = elsewhere(&arguments);
    assert!(!String::from_utf8_lossy(&silent.stderr).contains("reading sources"));
}
