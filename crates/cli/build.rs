//! What `mokume --version` says of where it comes from: the commit, and the machine that it is built for.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=MOKUME_COMMIT");
    for name in ["HEAD", "logs/HEAD"] {
        // In a worktree these are elsewhere; a path that is not there would build this anew each time.
        let path = git(&["rev-parse", "--git-path", name]).filter(|path| Path::new(path).exists());
        path.iter().for_each(|path| println!("cargo:rerun-if-changed={path}"));
    }
    println!("cargo:rerun-if-changed=build.rs");
    let given = std::env::var("MOKUME_COMMIT").ok().filter(|commit| !commit.is_empty());
    // Within another repository, as a package that was unpacked there, its commit says nothing of us.
    let is_ours = Path::new("../../.git").exists();
    let commit = given.or_else(|| git(&["rev-parse", "--short=12", "HEAD"]).filter(|_| is_ours));
    println!("cargo:rustc-env=MOKUME_COMMIT={}", commit.unwrap_or_else(|| "unknown".to_owned()));
    println!("cargo:rustc-env=MOKUME_TARGET={}", std::env::var("TARGET").unwrap_or_default());
}

/// What git says; none where there is no git, or no repository.
fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
