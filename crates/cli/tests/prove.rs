//! `mokume prove`: its limit, and what it keeps.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// What it prints, and whether all is proved. Without a solver nothing is shown, and that is a failure.
fn proved(folder: &Path, more: &[&str]) -> (String, bool) {
    let solvers = std::env::var("MOKUME_SOLVERS").unwrap_or(root().join(".venv").to_string_lossy().into_owned());
    let output = Command::new(env!("CARGO_BIN_EXE_mokume"))
        .current_dir(folder)
        .env("MOKUME_SOLVERS", solvers)
        .args(["prove", "stack.mok"])
        .args(more)
        .output()
        .unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!said.contains("there is no solver"), "{said}\nscripts/setup prepares z3 and bitwuzla");
    (said, output.status.success())
}

fn stack(name: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("prove").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("stack.mok"), text).unwrap();
    folder
}

const COUNTS: &str = "worker Counts {
    entity {
        counter small
        counter large
    }

    on send(msg) {
        if msg.size < 10 { count small } else { count large }
        below.send(msg)
    }
    on deliver(msg) { above.deliver(msg) }
}

stack Counted(device: Device) {
    app = Counts over device
    export app
}
";

#[test]
fn a_path_that_takes_too_long_is_open() {
    let folder = stack("limit", COUNTS);
    let (said, good) = proved(&folder, &["--limit", "0"]);
    assert!(!good && said.contains("open: ") && said.contains("no answer within 0 s"), "{said}");
    assert!(said.contains("0 of 4 paths are proved"), "{said}");
    let (said, good) = proved(&folder, &[]);
    assert!(good && said.contains("4 of 4 paths are proved"), "what is open is not kept: {said}");
}

/// What the header of the stack's C says of its paths.
fn header(folder: &Path) -> String {
    let build = ["build", "stack.mok", "-o", "out"];
    let output = Command::new(env!("CARGO_BIN_EXE_mokume")).current_dir(folder).args(build).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read_to_string(folder.join("out/Counted.h")).unwrap()
}

#[test]
fn what_was_proved_is_kept_until_something_changes() {
    let folder = stack("kept", COUNTS);
    let (said, good) = proved(&folder, &[]);
    assert!(good && !said.contains("(kept)"), "{said}");
    let built = header(&folder);
    assert!(built.matches(" layers, proved").count() == 4 && !built.contains(" layers, tested"), "{built}");
    let kept = || std::fs::read_dir(folder.join(".mokume/proofs")).unwrap().count();
    assert_eq!(kept(), 4);
    let (said, good) = proved(&folder, &[]);
    assert!(good && said.matches("(kept)").count() == 4, "{said}");
    let (said, good) = proved(&folder, &["--again"]);
    assert!(good && !said.contains("(kept)"), "{said}");
    // Another number in a layer is another path, and another handler.
    std::fs::write(folder.join("stack.mok"), COUNTS.replace("< 10", "< 11")).unwrap();
    let built = header(&folder);
    assert!(built.matches(" layers, tested").count() == 4 && !built.contains(" layers, proved"), "{built}");
    let (said, _) = proved(&folder, &[]);
    assert!(!said.contains("(kept)"), "{said}");
    // What is not whole is judged again.
    for entry in std::fs::read_dir(folder.join(".mokume/proofs")).unwrap() {
        std::fs::write(entry.unwrap().path(), "3 outputs 1\n").unwrap();
    }
    let (said, good) = proved(&folder, &[]);
    assert!(good && !said.contains("(kept)"), "{said}");
}
