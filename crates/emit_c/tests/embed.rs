//! The sample program of the runtime: compiled with generated C by hand, as a user would do it, and run.

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

/// With the compiler's own headers only, as on a machine without a C library; and what the code requires of one.
#[test]
fn no_header_of_a_library_is_needed() {
    let file =
        common::right_files().into_iter().find(|file| file.name == "stop_and_wait.ra composed").expect("the stack");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("freestanding");
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    RUNTIME.iter().for_each(|(name, text)| write(&folder, name, text));
    let generated = emit(&file.automaton, &Options::default()).expect("C");
    write(&folder, "stop_and_wait.h", &generated.header);
    write(&folder, "stop_and_wait.c", &generated.source);
    let own = Command::new("cc").arg("-print-file-name=include").output().expect("a C compiler");
    let own = String::from_utf8(own.stdout).expect("a folder");
    let compiled = Command::new("cc")
        .args(["-std=c11", "-ffreestanding", "-nostdinc", "-isystem", own.trim(), "-Wall", "-Wextra", "-Werror"])
        .args(["-fno-stack-protector", "-O1", "-I.", "-r", "-nostdlib", "-o", "both.o", "stop_and_wait.c", "mokume.c"])
        .current_dir(&folder)
        .output()
        .expect("a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let asked = Command::new("nm").args(["-u", "both.o"]).current_dir(&folder).output().expect("nm");
    let asked = String::from_utf8(asked.stdout).expect("names");
    let known = ["memcpy", "memmove", "memset", "memcmp"];
    for name in asked.split_whitespace().filter(|word| *word != "U") {
        assert!(known.contains(&name), "{name} is asked of a library");
    }
}

/// Calls the stack from within its first output.
const ANSWERS: &str = r#"
#include <stdio.h>
#include "answers.h"

static struct answers *stack;

static void said(void *context, uint8_t n)
{
    printf("%d\n", n);
    if (n == 1)
        answers_app_ask(stack, 0);
    (void)context;
}

int main(void)
{
    static _Alignas(64) unsigned char memory[1 << 20];
    struct answers_ports ports = {.app_said = said};
    mk_config config = answers_defaults;
    if (answers_size(&config) > sizeof memory)
        return 1;
    stack = answers_init(memory, &config, &ports);
    answers_start(stack, 0);
    answers_app_go(stack, 0);
    return 0;
}
"#;

/// docs/semantics.md, P1 and P2: outputs leave when their reaction has ended and settled. A call of the stack from
/// within an output begins the next reaction, after what was put off for later.
#[test]
fn a_call_from_within_an_output_is_the_next_reaction() {
    let name = "ports_callbacks_are_the_next_reaction.ra composed";
    let file = common::run_files().into_iter().find(|file| file.name == name).expect("the stack");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("answers");
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    RUNTIME.iter().for_each(|(name, text)| write(&folder, name, text));
    let generated = emit(&file.automaton, &Options::default()).expect("C");
    write(&folder, "answers.h", &generated.header);
    write(&folder, "answers.c", &generated.source);
    write(&folder, "main.c", ANSWERS);
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Werror", "-I.", "-o", "answers", "answers.c", "mokume.c", "main.c"])
        .current_dir(&folder)
        .output()
        .expect("a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(folder.join("answers")).output().expect("the program");
    let said: Vec<String> = String::from_utf8_lossy(&ran.stdout).lines().map(str::to_string).collect();
    assert_eq!(said, ["1", "2", "11", "4", "14", "104", "14"]);
}

/// Every file of the runtime is among those that are written beside generated stacks.
#[test]
fn the_runtime_is_whole() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime");
    for entry in std::fs::read_dir(folder).expect("runtime") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let is_code = name.ends_with(".c") || name.ends_with(".h");
        assert!(!is_code || RUNTIME.iter().any(|(known, _)| *known == name), "{name} is missing");
    }
}
