//! `./test`: every kind of check, each as long as needed to find what a change breaks.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

use super::command::{check, run, time};
use super::count::{Counter, Outcome};
use super::libtest::Libtest;
use super::lines::{Build, Lines};
use crate::root;

/// Runs formatting and tidy, then all tests of the workspace; at the same time the tests against the operating system,
/// which mostly wait for packets.
pub fn test() -> ExitCode {
    let started = Instant::now();
    let mut counter = Counter::default();
    clear_scratch();
    check("format", &mut cargo(&["fmt", "--all", "--check"]), &mut counter);
    match std::env::current_exe() {
        Ok(program) => {
            check("the house map is true (cargo xtask tidy)", Command::new(program).arg("tidy"), &mut counter)
        }
        Err(error) => counter.test(&format!("the house map: {error}"), Outcome::Failed),
    }
    println!("building the compiler and all tests");
    let build = ["test", "--profile", "tested", "--workspace", "--no-run"];
    run("building", &mut cargo(&build), &mut Build::default(), &mut counter);
    println!("built: {} in all", time(started.elapsed()));
    let host = std::thread::scope(|scope| {
        let host = scope.spawn(host);
        let tests = ["test", "--profile", "tested", "--workspace", "--no-fail-fast", "--", "--show-output"];
        run("the tests of the crates", &mut cargo(&tests), &mut Libtest::default(), &mut counter);
        host.join().unwrap_or_default()
    });
    println!("the Python package, and the operating system as peer: {host}");
    counter.add(&host);
    println!("in {}", time(started.elapsed()));
    super::ended(&counter)
}

/// Removes what earlier runs of the tests have left, so that no test lives on another's files.
fn clear_scratch() {
    let program = std::env::current_exe().unwrap_or_default();
    if let Some(target) = program.ancestors().nth(2).filter(|target| target.join("CACHEDIR.TAG").is_file()) {
        let scratch = target.join("tmp");
        let _ = std::fs::remove_dir_all(&scratch);
        // Cargo makes it only when it builds a test.
        let _ = std::fs::create_dir_all(scratch);
    }
}

/// Tests the Python package, then the example hosts against the operating system's own stack.
fn host() -> Counter {
    let mut counter = Counter::default();
    let mut package = Command::new("python3");
    package.arg("python/check").envs(compiler()).current_dir(root());
    run("the Python package", &mut package, &mut Lines::default(), &mut counter);
    let mut python = Command::new("python3");
    python.arg("tests/host/host_test.py").envs(compiler()).current_dir(root());
    run("the operating system as peer", &mut python, &mut Lines::default(), &mut counter);
    counter
}

/// The environment variable that names the compiler to judge: the one built together with this program.
pub fn compiler() -> Option<(&'static str, PathBuf)> {
    Some(("MOKUME", std::env::current_exe().ok()?.with_file_name("mokume")))
}

/// Cargo in the repository.
fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.args(arguments).current_dir(root());
    cargo
}
