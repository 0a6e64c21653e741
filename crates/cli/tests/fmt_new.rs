//! `mokume fmt` and `mokume new` as a user sees them.

use std::path::{Path, PathBuf};
use std::process::Output;

/// An empty folder of a test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fmt_new").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn mokume_with(arguments: &[&str], at: &Path, input: &str) -> Output {
    crate::input::mokume(arguments, input.as_bytes(), at)
}

fn mokume(arguments: &[&str], at: &Path) -> Output {
    mokume_with(arguments, at, "")
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn said(output: &Output) -> String {
    format!("{}{}", printed(output), String::from_utf8_lossy(&output.stderr))
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

const UGLY: &str = "use   thin\nstack  S(device:Device){\n  app=Fcfs   over device   // here\n\n\n}\n";
const NEAT: &str = "use thin\nstack S(device: Device) {\n    app = Fcfs over device  // here\n}\n";

#[test]
fn files_are_written_in_place_and_those_that_changed_are_named() {
    let at = folder("in_place");
    for (name, text) in [("ugly.mok", UGLY), ("neat.mok", NEAT)] {
        std::fs::write(at.join(name), text).unwrap();
    }
    let check = mokume(&["fmt", "--check", "."], &at);
    assert_eq!((code(&check), printed(&check).as_str()), (1, "./ugly.mok\n"), "{}", said(&check));
    assert_eq!(std::fs::read_to_string(at.join("ugly.mok")).unwrap(), UGLY, "a check writes nothing");
    let output = mokume(&["fmt", "ugly.mok", "neat.mok"], &at);
    assert_eq!((code(&output), printed(&output).as_str()), (0, "ugly.mok\n"), "{}", said(&output));
    assert_eq!(std::fs::read_to_string(at.join("ugly.mok")).unwrap(), NEAT);
    let check = mokume(&["fmt", "--check", "."], &at);
    assert_eq!((code(&check), printed(&check).as_str()), (0, ""), "{}", said(&check));
}

#[test]
fn a_file_with_mistakes_is_shown_and_left() {
    let at = folder("mistakes");
    let wrong = "worker W {\n  on send(msg {\n";
    std::fs::write(at.join("a.mok"), wrong).unwrap();
    std::fs::write(at.join("b.mok"), UGLY).unwrap();
    let output = mokume(&["fmt", "a.mok", "b.mok"], &at);
    assert_eq!(code(&output), 1);
    assert!(said(&output).contains("a.mok:2:"), "{}", said(&output));
    assert_eq!(std::fs::read_to_string(at.join("a.mok")).unwrap(), wrong);
    assert_eq!(std::fs::read_to_string(at.join("b.mok")).unwrap(), NEAT);
}

#[test]
fn from_standard_input_to_standard_output() {
    let at = folder("input");
    let output = mokume_with(&["fmt", "-"], &at, UGLY);
    assert_eq!((code(&output), printed(&output).as_str()), (0, NEAT), "{}", said(&output));
    assert_eq!(printed(&mokume_with(&["fmt", "-"], &at, NEAT)), NEAT);
    assert_eq!(printed(&mokume_with(&["fmt", "-"], &at, "")), "");
    assert_eq!(code(&mokume_with(&["fmt", "--check", "-"], &at, UGLY)), 1);
    assert_eq!(code(&mokume_with(&["fmt", "--check", "-"], &at, NEAT)), 0);
    let wrong = mokume_with(&["fmt", "-"], &at, "use (\n");
    assert_eq!((code(&wrong), printed(&wrong).as_str()), (1, ""), "{}", said(&wrong));
    let json = mokume_with(&["fmt", "-", "--format", "json"], &at, UGLY);
    let object: serde_json::Value = serde_json::from_str(printed(&json).trim()).unwrap();
    assert_eq!((object["changed"].as_bool(), object["text"].as_str()), (Some(true), Some(NEAT)));
}

#[test]
fn wrong_use_of_fmt_is_one_line() {
    let at = folder("wrong_use");
    for arguments in [&["fmt", "nowhere.mok"][..], &["fmt", "-", "a.mok"], &["fmt", "."], &["new", "4you"]] {
        let output = mokume(arguments, &at);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", said(&output));
        assert_eq!(said(&output).trim_end().lines().count(), 1, "{arguments:?}: {}", said(&output));
    }
}

#[test]
fn a_new_project_is_checked_tested_simulated_and_formatted() {
    let at = folder("new");
    let output = mokume(&["new", "first"], &at);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert_eq!(printed(&output), "first/Mokume.toml\nfirst/src/first.mok\n");
    let project = at.join("first");
    let check = mokume(&["check"], &project);
    assert!(code(&check) == 0 && said(&check).contains("no errors"), "{}", said(&check));
    let test = mokume(&["test", "--backend", "interpreter"], &project);
    assert!(code(&test) == 0 && said(&test).contains("1 passed, 0 failed"), "{}", said(&test));
    let sim = mokume(&["sim", "src/first.mok", "--log"], &project);
    assert_eq!(code(&sim), 0, "{}", said(&sim));
    for word in ["app.deliver_from(\"one\")", "app.deliver_from(\"three\")", "stale"] {
        assert!(printed(&sim).contains(word), "no {word} in {}", said(&sim));
    }
    let fmt = mokume(&["fmt", "--check"], &project);
    assert_eq!(code(&fmt), 0, "{}", said(&fmt));
}

/// The planted fault: the new project's test notices a layer with wrong behaviour.
#[test]
fn the_test_of_a_new_project_finds_a_fault() {
    let at = folder("fault");
    assert_eq!(code(&mokume(&["new", "first"], &at)), 0);
    let file = at.join("first/src/first.mok");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("if number > last {", "if number >= last {")).unwrap();
    let test = mokume(&["test", "--backend", "interpreter"], &at.join("first"));
    assert!(code(&test) == 1 && said(&test).contains("0 passed, 1 failed"), "{}", said(&test));
}

#[test]
fn a_folder_that_is_there_is_refused_and_kept() {
    let at = folder("there");
    std::fs::create_dir(at.join("mine")).unwrap();
    std::fs::write(at.join("mine/notes"), "kept").unwrap();
    let output = mokume(&["new", "mine"], &at);
    assert_eq!(code(&output), 2);
    let text = said(&output);
    assert!(text.trim_end().lines().count() == 1 && text.contains("`mine` is there already"), "{text}");
    assert_eq!(std::fs::read_dir(at.join("mine")).unwrap().count(), 1);
}
