//! `mokume prove`: its limit, and what it keeps.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// The output, and whether all is proved. Without a solver nothing is shown, which is a failure.
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

/// The common part of two sums was removed again and again, until the stack overflowed.
#[test]
fn equations_that_are_never_simple_end() {
    let folder = stack("client", &std::fs::read_to_string(root().join("examples/client.mok")).unwrap());
    let (said, good) = proved(&folder, &["--limit", "20"]);
    assert!(good && said.contains("4 of 4 paths are proved"), "{said}");
}

/// Its sum is always below what is taken from it: each run reports that, and no way is.
#[test]
fn a_path_that_is_never_taken_is_called_so() {
    let text = "endpoint Reports {
    header { a: u8 }
    on deliver(msg, a) from flow {
        let one = a / a
        below.send(msg, a: one * one - (one ^ 254)) to flow
    }
}
stack Reported(device: Device) { app = Reports over device }
";
    let (said, good) = proved(&stack("never", text), &[]);
    assert!(!good && said.contains("open: 1 ways, none of them ever taken"), "{said}");
}

/// What the header of the stack's C says about its paths.
fn header(folder: &Path) -> String {
    built(folder, &[]);
    std::fs::read_to_string(folder.join("out/Counted.h")).unwrap()
}

/// The output of building the stack's C into `out`, and the C.
fn built(folder: &Path, more: &[&str]) -> (String, String) {
    let build = ["build", "stack.mok", "-o", "out"];
    let output =
        Command::new(env!("CARGO_BIN_EXE_mokume")).current_dir(folder).args(build).args(more).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    (said, std::fs::read_to_string(folder.join("out/Counted.c")).unwrap())
}

#[test]
fn what_is_not_proved_is_left_to_the_layers() {
    let folder = stack("only_proved", COUNTS);
    let bare =
        |c: &str| c.lines().filter(|line| !line.contains("path")).map(|line| format!("{line}\n")).collect::<String>();
    let (said, with) = built(&folder, &[]);
    assert!(!said.contains("mokume prove"), "{said}");
    let (said, layers) = built(&folder, &["--fuse", "0"]);
    assert!(!said.contains("mokume prove"), "{said}");
    // Without a verdict it is exactly the layers' code.
    let (said, none) = built(&folder, &["--proved"]);
    assert!(said.contains("app.send_to; run `mokume prove stack.mok` first"), "{said}");
    assert!(with != layers && bare(&none) == bare(&layers));
    let header = std::fs::read_to_string(folder.join("out/Counted.h")).unwrap();
    assert!(header.contains("--fuse 2 --proved"), "{header}");
    assert_eq!(header.matches(": none, as it is not proved").count(), 4, "{header}");
    // With one verdict, that path is there, and no other.
    let (said, good) = proved(&folder, &["--event", "app.send_to"]);
    assert!(good, "{said}");
    let (said, one) = built(&folder, &["--proved"]);
    assert!(said.contains("device.frame, ") && !said.contains("app.send_to"), "{said}");
    assert!(one != layers && one.len() < with.len(), "{} {} {}", layers.len(), one.len(), with.len());
    let header = std::fs::read_to_string(folder.join("out/Counted.h")).unwrap();
    assert!(
        header.contains("app.send_to: 2 layers, proved") || header.contains("app.send_to: 3 layers, proved"),
        "{header}"
    );
    // With all verdicts, nothing is reported.
    assert!(proved(&folder, &[]).1);
    let (said, all) = built(&folder, &["--proved"]);
    assert!(!said.contains("mokume prove") && all == with, "{said}");
}

#[test]
fn what_is_asked_of_paths_where_there_are_none_is_refused() {
    let folder = stack("no_paths", COUNTS);
    for words in [&["--fuse", "0", "--proved"][..], &["--uncomposed", "--proved"]] {
        let build = ["build", "stack.mok", "-o", "out"];
        let output = Command::new(env!("CARGO_BIN_EXE_mokume")).current_dir(&folder).args(build).args(words).output();
        assert_eq!(output.unwrap().status.code(), Some(2), "{words:?}");
    }
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
    // Another number in a layer gives another path, and another handler.
    std::fs::write(folder.join("stack.mok"), COUNTS.replace("< 10", "< 11")).unwrap();
    let built = header(&folder);
    assert!(built.matches(" layers, tested").count() == 4 && !built.contains(" layers, proved"), "{built}");
    let (said, _) = proved(&folder, &[]);
    assert!(!said.contains("(kept)"), "{said}");
    // An incomplete entry is judged again.
    for entry in std::fs::read_dir(folder.join(".mokume/proofs")).unwrap() {
        std::fs::write(entry.unwrap().path(), "3 outputs 1\n").unwrap();
    }
    let (said, good) = proved(&folder, &[]);
    assert!(good && !said.contains("(kept)"), "{said}");
}

/// Ways through a long loop were merged, pair by pair, without a look at the time: minutes for a limit of seconds.
#[test]
fn merging_ways_keeps_to_the_limit() {
    let text = "endpoint Questions {
    header { id: u16 big }
    entity { counter labels }
    on deliver(msg, id) {
        let at: u32 = 0
        while at < msg.size and msg.u8(at) != 0 limit 128 {
            count labels
            at = at + 1 + msg.u8(at)
        }
        if at + 5 != msg.size or msg.u8(at) != 0 {
            drop msg: no_question
            return
        }
        below.send(msg, id: id)
    }
}
stack Server(device: Device) { questions = Questions over device }
";
    let folder = stack("merging", text);
    std::fs::write(folder.join("other.mok"), text.replace("!= 0 limit", "< 200 limit")).unwrap();
    let words = ["prove", "stack.mok", "==", "other.mok", "--limit", "8"];
    let command = [&["240", env!("CARGO_BIN_EXE_mokume")][..], &words].concat();
    let done = Command::new("timeout")
        .current_dir(&folder)
        .env("MOKUME_SOLVERS", root().join(".venv"))
        .args(command)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!(done.status.code(), Some(1), "it does not end: {said}");
    assert!(said.contains("the two do not do the same") || said.contains("no answer within 8 s"), "{said}");
}
