//! Generated C makes narrowing conversions explicit, so that programs built with `-Wconversion` get no warnings from
//! it.

use std::path::Path;
use std::process::Command;

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A C compiler's warnings about a stack's C and the runtime.
fn said(folder: &Path, stack: &str) -> String {
    let output = Command::new("gcc")
        .args(["-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-I."])
        .args([format!("{stack}.c"), "mokume.c".into()])
        .current_dir(folder)
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Each stack of the examples, and one whose cells are told in part.
fn stacks() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for file in std::fs::read_dir(root().join("examples")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "mok") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let names = text.lines().filter_map(|line| line.strip_prefix("stack "));
        let names =
            names.map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap().to_string());
        all.extend(names.map(|name| (path.to_string_lossy().into_owned(), name)));
    }
    all.push((root().join("tests/program/cells_told_in_part.mok").to_string_lossy().into_owned(), "S".into()));
    all.sort();
    all
}

#[test]
fn who_asks_for_every_conversion_hears_of_none() {
    let stacks = stacks();
    assert!(stacks.len() > 20, "{stacks:?}");
    let (mut heard, mut planted) = (Vec::new(), false);
    for (number, (file, stack)) in stacks.iter().enumerate() {
        // Paths are C of another kind; half of the stacks are built without them, which is faster.
        let fuse = if number % 2 == 0 { "2" } else { "0" };
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("conversions/{number}"));
        let arguments = ["build", file, "--stack", stack, "--fuse", fuse, "-o", folder.to_str().unwrap()];
        let output = Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).current_dir(root()).output().unwrap();
        if !output.status.success() {
            // A stack with parameters is a part of others.
            assert!(String::from_utf8_lossy(&output.stderr).contains("has parameters"), "{file} {stack}: {output:?}");
            continue;
        }
        let said = said(&folder, stack);
        if !said.is_empty() {
            heard.push(format!("{file} {stack}: {}", said.lines().take(4).collect::<Vec<_>>().join("\n")));
        }
        // Planted: a place without its cast is reported.
        if file.ends_with("budget.mok") && stack == "Host" {
            planted = true;
            let made = folder.join(format!("{stack}.c"));
            let text = std::fs::read_to_string(&made).unwrap();
            assert!(text.contains(" = (uint32_t)mk_do_load("), "{file} has no such place: plant the fault elsewhere");
            std::fs::write(&made, text.replacen(" = (uint32_t)mk_do_load(", " = mk_do_load(", 1)).unwrap();
            assert!(self::said(&folder, stack).contains("-Wconversion"));
        }
    }
    assert!(planted);
    assert!(heard.is_empty(), "{}", heard.join("\n"));
}
