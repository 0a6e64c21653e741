//! The sample program of the runtime: compiled against generated C by hand, as a user would, and run.

use crate::common;
use std::path::{Path, PathBuf};
use std::process::Command;

use mokume_emit_c::{emit, Options, RUNTIME};

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("a file in the folder of tests");
}

#[test]
fn the_sample_program_runs() {
    let file =
        common::right_files().into_iter().find(|file| file.name == "stop_and_wait.ra composed").expect("the stack");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("embed");
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    RUNTIME.iter().for_each(|(name, text)| write(&folder, name, text));
    let generated = emit(&file.automaton, &Options::default()).expect("C");
    write(&folder, "stop_and_wait.h", &generated.header);
    write(&folder, "stop_and_wait.c", &generated.source);
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/examples/embed.c");
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-fsanitize=address,undefined", "-I.", "-o", "embed"])
        .args(["stop_and_wait.c", "mokume.c"])
        .arg(sample.canonicalize().expect("the sample"))
        .current_dir(&folder)
        .output()
        .expect("a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(folder.join("embed")).output().expect("the program");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    for word in ["one", "two", "three", "four", "five"] {
        assert_eq!(said.matches(&format!("b got {word}\n")).count(), 1, "{said}");
    }
}

/// Every file of the runtime is among those that are written out beside generated stacks.
#[test]
fn the_runtime_is_whole() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime");
    for entry in std::fs::read_dir(folder).expect("runtime") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let is_code = name.ends_with(".c") || name.ends_with(".h");
        assert!(!is_code || RUNTIME.iter().any(|(known, _)| *known == name), "{name} is missing");
    }
}
