//! `mokume prove A == B`.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// The output, and the exit code.
fn said(folder: &Path, words: &[&str]) -> (String, i32) {
    let solvers = std::env::var("MOKUME_SOLVERS").unwrap_or(root().join(".venv").to_string_lossy().into_owned());
    let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
    let output = command.current_dir(folder).env("MOKUME_SOLVERS", solvers).arg("prove").args(words).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!said.contains("there is no solver"), "{said}\nscripts/setup prepares z3 and bitwuzla");
    (said, output.status.code().unwrap_or(-1))
}

const OLD: &str = "use thin

worker Numbers(late: Duration = 5 ms) {
    header { seq: seq32 }
    publish mtu: u32 = below.mtu - 4
    entity {
        var next: seq32 = 1
        var wide: u32 = 7
    }
    session {
        var last: seq32 = 0
        timer silence
    }
    on send(msg) {
        below.send(msg, seq: next)
        next += 1
        wide = wide *% 2
    }
    on deliver(msg, seq) {
        if likely seq > last {
            last = seq
            start silence after late
            above.deliver(msg)
        } else {
            drop msg: stale
        }
    }
    on expiry silence { last = 0 }
}

stack Numbered(device: Device) {
    outputs 64
    heartbeat = Heartbeat over device
    numbers   = Numbers over heartbeat
    users     = Fcfs over numbers
    export users
}
";

/// `OLD` with some parts written differently; each part must occur exactly once.
fn changed(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(OLD.to_owned(), |text, (old, new)| {
        assert_eq!(text.matches(old).count(), 1, "{old}");
        text.replace(old, new)
    })
}

/// A folder with `old.mok`, and `new.mok` with these changes.
fn both(name: &str, changes: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("equal").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("old.mok"), OLD).unwrap();
    std::fs::write(folder.join("new.mok"), changed(changes)).unwrap();
    folder
}

const SEND: (&str, &str) = (
    "        below.send(msg, seq: next)\n        next += 1\n        wide = wide *% 2\n",
    "        let it = next\n        wide = wide +% wide\n        next = it + 1\n        below.send(msg, seq: it)\n",
);

const DELIVER: (&str, &str) = (
    "        if likely seq > last {
            last = seq
            start silence after late
            above.deliver(msg)
        } else {
            drop msg: stale
        }
",
    "        if not (seq > last) {
            drop msg: stale
            return
        }
        start silence after late
        above.deliver(msg)
        last = seq
",
);

#[test]
fn what_is_written_otherwise_does_the_same() {
    let folder = both(
        "same",
        &[SEND, DELIVER, ("        var wide: u32 = 7\n", "        var wide: u32 = 7\n        var seen: u32 = 0\n")],
    );
    let (text, code) = said(&folder, &["old.mok", "==", "new.mok"]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("numbers.S.deliver") && text.contains("numbers.S.send") && text.contains("proved: "),
        "{text}"
    );
    assert!(text.contains("the two do the same: ") && text.contains(", 2 of 2 others do the same"), "{text}");
    assert!(text.contains("only one of the two has numbers.E.seen: "), "{text}");
    let (json, code) = said(&folder, &["new.mok", "==", "old.mok", "--format", "json"]);
    let value: serde_json::Value =
        serde_json::from_str(json.lines().last().unwrap()).unwrap_or_else(|why| panic!("{why}: {json}"));
    assert_eq!((code, &value["proved"], value["handlers"].as_array().unwrap().len()), (0, &true.into(), 2), "{json}");
    let (text, code) = said(&folder, &["old.mok", "==", "old.mok"]);
    assert!(code == 0 && text.contains("0 of 0 others"), "{text}");
}

/// Each is a fault of another kind. None is proved, and one that a run shows is refuted.
#[test]
fn a_fault_in_a_handler_is_found() {
    let faults: [(&str, (&str, &str), &str); 7] = [
        ("again", ("if likely seq > last {", "if likely seq >= last {"), "the two do not do the same"),
        ("number", ("below.send(msg, seq: next)", "below.send(msg, seq: next + 1)"), "refuted: "),
        ("state", ("wide *% 2", "wide *% 2 +% 1"), "state: numbers.E.wide may differ"),
        ("deadline", ("start silence after late", "start silence after late + 1 ms"), "the next timer is due at"),
        ("no timer", ("            start silence after late\n", ""), "the next timer is due at"),
        ("end", ("drop msg: stale", "consume msg: stale"), "ends: how messages end may differ"),
        ("report", ("wide *% 2", "wide * 2"), "reports: what is reported may differ"),
    ];
    for (name, change, wanted) in faults {
        let folder = both(&name.replace(' ', "-"), &[change]);
        let (text, code) = said(&folder, &["old.mok", "==", "new.mok"]);
        assert!(code == 1 && text.contains(wanted) && !text.contains("the two do the same"), "{name}: {text}");
        // The test passes on the first, and shows the difference on the second.
        if ["state", "deadline", "no timer", "report"].contains(&name) {
            continue;
        }
        let Some((_, test)) = text.split_once("  test \"where the second differs\" {\n") else { continue };
        let end = test.find("\n  }\n").expect("the test ends");
        let test = format!("\ntest \"where the second differs\" {{\n{}\n}}\n", &test[..end]);
        for (file, expected) in [("old.mok", 0), ("new.mok", 1)] {
            let with = folder.join(format!("tested_{file}"));
            std::fs::write(&with, std::fs::read_to_string(folder.join(file)).unwrap() + &test).unwrap();
            let output = Command::new(env!("CARGO_BIN_EXE_mokume")).arg("test").arg(&with).output().unwrap();
            let out = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(output.status.code(), Some(expected), "{name}, {file}: {out}\n{test}");
        }
    }
}

#[test]
fn what_is_declared_otherwise_is_told() {
    let folder = both(
        "apart",
        &[("var last: seq32 = 0", "var last: seq32 = 9"), ("late: Duration = 5 ms", "late: Duration = 6 ms")],
    );
    let (text, code) = said(&folder, &["old.mok", "==", "new.mok"]);
    assert!(
        code == 1 && text.contains("not the same in both: state of `numbers.S`: `last: seq32` and `last: seq32 = 9`"),
        "{text}"
    );
    assert!(text.contains("nothing is proved"), "{text}");
}

#[test]
fn words_that_are_no_comparison_are_told() {
    let folder = both("words", &[]);
    let (text, code) = said(&folder, &["old.mok", "=", "new.mok"]);
    assert!(code == 2 && text.contains("`=` is not `==`"), "{text}");
    let (text, code) = said(&folder, &["old.mok", "==", "none.mok"]);
    assert!(code == 2 && text.contains("none.mok"), "{text}");
    let (text, code) = said(&folder, &["old.mok", "=="]);
    assert!(code == 2 && text.contains("2 values"), "{text}");
    let (text, code) = said(&folder, &["=="]);
    assert!(code == 2 && text.contains("nothing stands in front of `==`"), "{text}");
}

/// What only one of the two has is not compared, neither by the judge nor by the runs that were to refute it: these counted the
/// counter, and saw the timer's deadline.
#[test]
fn what_only_one_has_refutes_nothing() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("equal_alone");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("old.mok"), OLD).unwrap();
    let send = "    on send(msg) {\n";
    let more = |member: &str, does: &str, handler: &str| {
        OLD.replacen("        var wide: u32 = 7\n", &format!("        var wide: u32 = 7\n        {member}\n"), 1)
            .replacen(send, &format!("{handler}{send}        {does}\n"), 1)
    };
    let pairs = [
        ("counter.mok", more("counter seen", "count seen", ""), "the two do the same"),
        (
            "timer.mok",
            more("timer idle", "start idle after 3 ms", "    on expiry idle { }\n"),
            "no run from the start shows a difference",
        ),
        (
            "late.mok",
            more("timer idle", "start idle after 3 ms", "    on expiry idle { next = 1 }\n"),
            "refuted: run from the start",
        ),
    ];
    for (name, text, wanted) in &pairs {
        std::fs::write(folder.join(name), text).unwrap();
        for two in [["old.mok", "==", *name], [*name, "==", "old.mok"]] {
            let (text, code) = said(&folder, &two);
            assert!(text.contains(wanted) && code == i32::from(*wanted != pairs[0].2), "{text}");
            assert!(text.contains("only one of the two has"), "{text}");
        }
    }
}

/// Pairs that differ, written by another author than the judge: each was once wrongly proved to be the same.
#[test]
fn no_false_pair_is_proved() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/equal");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix("_1.mok").map(str::to_owned))
        .collect();
    names.sort();
    assert!(names.len() >= 11, "{names:?}");
    for name in names {
        let (first, second) = (format!("{name}_1.mok"), format!("{name}_2.mok"));
        let (text, code) = said(&folder, &[&first, "==", &second]);
        assert!(code == 1 && !text.contains("the two do the same") && !text.contains("error"), "{name}: {text}");
    }
}
