//! Instructions of fast paths, counted by callgrind: from the public entry to its return, 64 sessions in random order.
//!
//! The layered code is the same stack, composed, without paths. Counts are of one machine's compiler; nothing is asserted but
//! that fused code takes fewer. Without valgrind or a C compiler the test says so and passes.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{composed, STACKS};
use mokume_emit_c::{emit, Options, RUNTIME};
use mokume_optimize::{fuse_with, Passes};
use mokume_reaction::{Automaton, CellKind};

/// 64 objects of each class that has a parent, and maps to match.
fn widened(mut automaton: Automaton) -> Automaton {
    for class in &mut automaton.classes {
        if class.parent.is_some() {
            class.capacity = 64;
        }
        for cell in &mut class.cells {
            if let CellKind::Map { capacity, .. } = &mut cell.kind {
                *capacity = 64;
            }
        }
    }
    automaton
}

const PROGRAM: &str = include_str!("common/instructions.c");
const SENDS: u64 = 64 * 24;
const DELIVERS: u64 = 64 * 14;

/// Instructions of one event, by entry.
fn count(folder: &Path, level: &str, automaton: &Automaton) -> Option<Vec<f64>> {
    let folder = folder.join(level);
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
    RUNTIME.iter().for_each(|(name, text)| write(name, text));
    let options = Options { prefix: "stack".into(), ..Options::default() };
    let generated = emit(automaton, &options).expect("C");
    write("stack.h", &generated.header);
    write("stack.c", &generated.source);
    write("main.c", PROGRAM);
    // The program is compiled apart, so that the public functions stay functions; runtime and stack are optimised as one.
    let flags = ["-std=c11", "-g", "-O3", "-march=x86-64-v3", "-fno-tree-slp-vectorize", "-I."];
    let calls: [&[&str]; 2] =
        [&["-fno-lto", "-c", "main.c"], &["-flto", "-o", "main", "stack.c", "mokume.c", "main.o"]];
    for call in calls {
        let compiled = Command::new("cc").args(flags).args(call).current_dir(&folder).output().ok()?;
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    }
    let events = [("stack_app_send", SENDS), ("stack_dev_frame", DELIVERS)];
    let per_event = events.iter().map(|(entry, times)| {
        let toggle = format!("--toggle-collect={entry}");
        let ran = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no", &toggle, "./main"])
            .current_dir(&folder)
            .output()
            .ok()?;
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stdout));
        let collected =
            said.lines().find(|line| line.contains("Collected"))?.rsplit(':').next()?.trim().parse::<f64>().ok()?;
        Some(collected / *times as f64)
    });
    per_event.collect()
}

#[test]
fn fused_paths_take_fewer_instructions() {
    let there =
        |command: &str| Command::new(command).arg("--version").output().is_ok_and(|output| output.status.success());
    if !there("valgrind") || !there("cc") {
        println!("SKIPPED: valgrind or a C compiler is missing");
        return;
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("instructions");
    let stack = widened(composed(STACKS[0].1));
    let levels = [
        ("layered", stack.clone()),
        ("plain", fuse_with(&stack, Passes::NONE)),
        ("all", fuse_with(&stack, Passes::ALL)),
    ];
    let mut counts = Vec::new();
    for (level, automaton) in &levels {
        let Some(count) = count(&folder, level, automaton) else {
            println!("SKIPPED: callgrind gives no count on this machine");
            return;
        };
        println!(
            "FIGURE: fcfs/sequencer/credit, {level}: {:.1} instructions a send, {:.1} a deliver",
            count[0], count[1]
        );
        counts.push(count);
    }
    for event in 0..2 {
        assert!(counts[2][event] < counts[0][event], "{counts:?}");
    }
}
