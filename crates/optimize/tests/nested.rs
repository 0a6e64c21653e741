//! Programs that call the stack from within its outputs: fused code hands them over in the order of the layered code.

mod common;

use std::path::PathBuf;
use std::process::Command;

use common::{composed, STACKS};
use mokume_emit_c::{emit, Options, RUNTIME};
use mokume_optimize::{fuse_with, Passes};
use mokume_reaction::Automaton;

const PROGRAM: &str = include_str!("common/nested.c");

/// What the program prints with this stack, under sanitizers.
fn printed(level: &str, automaton: &Automaton) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("nested").join(level);
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
    RUNTIME.iter().for_each(|(name, text)| write(name, text));
    let generated = emit(automaton, &Options { prefix: "stack".into(), ..Options::default() }).expect("C");
    write("stack.h", &generated.header);
    write("stack.c", &generated.source);
    write("main.c", PROGRAM);
    let flags = ["-std=c11", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I."];
    let compiled = Command::new("cc")
        .args(flags)
        .args(["-o", "main", "stack.c", "mokume.c", "main.c"])
        .current_dir(&folder)
        .output();
    let compiled = compiled.expect("a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(folder.join("main")).env("ASAN_OPTIONS", "detect_leaks=0").output().expect("the program");
    assert!(ran.status.success(), "{level}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

#[test]
fn calls_from_within_outputs_leave_in_the_same_order() {
    let stack = composed(STACKS[0].1);
    let layered = printed("layered", &stack);
    assert!(layered.lines().count() > 100, "{layered}");
    for (level, passes) in [("plain", Passes::NONE), ("all", Passes::ALL)] {
        assert_eq!(printed(level, &fuse_with(&stack, passes)), layered, "{level}");
    }
}
